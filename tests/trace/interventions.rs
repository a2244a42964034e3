//! Interventions: what is set is in the trace, the rest follows from it, and a file is verified with it.

use tapescope::io::Trained;
use tapescope::io::intervention::{parse, text};
use tapescope::io::trace::{self, Outcome, Source};
use tapescope::model::{Change, Intervention, Range, array};
use tapescope::train::Recording;

use super::machines;

fn recorded(of: &Trained) -> Recording {
    let task = of.now().task;
    let task = task.with_size(4).with_repeats(2);
    Recording::new(&of.machine, &task, 3, 0)
}

fn written(of: &Trained, recording: &Recording) -> Vec<u8> {
    let source = Source {
        config: &of.machine.config,
        sha256: None,
        full_memory: false,
        gradient: None,
    };
    let mut file = Vec::new();
    trace::write_to(&mut file, recording, &source).unwrap();
    file
}

/// All bits of everything in files.
fn bits(recording: &Recording) -> Vec<u32> {
    let all = recording.trace.everything();
    let all = all.filter(|(_, array, _)| array.is_in_files());
    all.flat_map(|(.., series)| series.as_slice().iter().map(|value| value.to_bits()))
        .collect()
}

#[test]
fn setting_what_was_computed_changes_nothing() {
    for of in machines() {
        let honest = recorded(&of);
        let (steps, rows) = (honest.trace.steps(), honest.trace.memory_size());
        for (place, array) in of.machine.changeable() {
            let t = steps - 2;
            let series = honest.trace.series(place, array).unwrap();
            let after = usize::from(array == array::MEMORY);
            let [n, m] = rows;
            let at = |at: usize| if after > 0 { at % m * n + at / m } else { at };
            let row = series.row(array.row(t));
            let values = (0..row.len()).map(|index| row[at(index)]).collect();
            let one = Intervention {
                steps: (t, Some(t)),
                place,
                array,
                part: Vec::new(),
                change: Change::Set(values),
            };
            let again = honest.with(&of.machine, &[one]).unwrap();
            assert!(
                bits(&again) == bits(&honest),
                "{} {place:?} {}",
                of.experiment.name,
                array.name
            );
        }
    }
}

#[test]
fn every_array_can_be_changed_and_the_file_verified() {
    for of in machines() {
        let honest = recorded(&of);
        let config = &of.machine.config;
        let mut reached = 0;
        for (place, array) in of.machine.changeable() {
            let name = config.array_name(place, array);
            let source = honest.trace.setting.source;
            let is_undefined = |t: &usize| config.is_undefined_step(place, array, *t, source);
            let computed = (0..honest.trace.steps()).filter(|t| !is_undefined(t));
            let computed: Vec<usize> = computed.collect();
            let at = [0, computed.len() / 2, computed.len().saturating_sub(2)];
            let mut is_reached = false;
            for t in at.map(|index| computed[index]) {
                // To the end only near it: values may grow without bound, or none is left to compare with.
                let last = (t..honest.trace.steps()).take_while(|t| !is_undefined(t));
                let last = last.last().map(|last| last.min(t + 1));
                let change = match array.range {
                    // Numbers of rows.
                    _ if ["rows", "row"].contains(&array.name) => {
                        let width = honest.trace.series(place, array).unwrap().width();
                        Change::Set((0..width).map(|row| row as f32).collect())
                    }
                    Range::Distribution => Change::OneHot(0),
                    Range::AtLeast(least) => Change::Set(vec![least + 0.25]),
                    Range::Within(..) => Change::Set(vec![0.25]),
                    _ => Change::Negate,
                };
                let one = Intervention {
                    steps: (t, last),
                    place,
                    array,
                    part: Vec::new(),
                    change,
                };
                let branch = honest
                    .with(&of.machine, std::slice::from_ref(&one))
                    .unwrap();
                is_reached |= bits(&branch) != bits(&honest);
                let read = trace::from_bytes(written(&of, &branch), "t").unwrap();
                assert_eq!(read.recording.conventions.interventions, [one], "{name}");
                let verified = trace::verify(&read, 0.0);
                let place = (&of.experiment.name, &name, &verified.comparison.first);
                assert!(verified.outcome() <= Outcome::InPart, "{place:?}");
                let replayed = trace::replay(&read, &of.machine, 0.0).unwrap();
                assert_eq!(replayed.differing, 0, "{place:?} {:?}", replayed.first);
            }
            reached += usize::from(is_reached);
        }
        // Most arrays matter.
        assert!(
            2 * reached > of.machine.changeable().len(),
            "{}: {reached}",
            of.experiment.name
        );
    }
}

#[test]
fn a_value_other_than_the_one_that_was_set_is_found() {
    let of = machines()
        .into_iter()
        .find(|of| of.experiment.name == "copy")
        .unwrap();
    let honest = recorded(&of);
    for (change, array) in [
        ("3:write0.gate=0.5", "write0.gate"),
        ("3-:memory[2]=0", "memory"),
        ("2:write0.weighting=row(4)", "write0.weighting"),
    ] {
        let changes = parse(&[change], "test", &of.machine, &honest.trace).unwrap();
        let branch = honest.with(&of.machine, &changes).unwrap();
        let file = String::from_utf8(written(&of, &branch)).unwrap();
        // The file of the branch says that nothing was changed.
        let line = file
            .lines()
            .find(|line| line.starts_with("\"interventions\""))
            .unwrap();
        let silent = file.replace(line, "\"interventions\": [],");
        let read = trace::from_json(&silent, "t").unwrap();
        let differs = trace::verify(&read, 0.0).outcome() == Outcome::Differs;
        let replayed = trace::replay(&read, &of.machine, 0.0).unwrap();
        assert!(replayed.differing > 0, "{change}");
        assert_eq!(differs, array != "write0.gate", "{change}");
        // The file of the episode says that something was.
        let honest = String::from_utf8(written(&of, &honest)).unwrap();
        let lying = honest.replacen("\"arrays\"", &format!("{line}\n\"arrays\""), 1);
        let read = trace::from_json(&lying, "t").unwrap();
        assert_eq!(
            trace::verify(&read, 0.0).outcome(),
            Outcome::Differs,
            "{change}"
        );
    }
}

#[test]
fn text_reads_back_and_errors_say_what_is_expected() {
    let of = machines()
        .into_iter()
        .find(|of| of.experiment.name == "copy")
        .unwrap();
    let honest = recorded(&of);
    let read = |text: &str| parse(&[text], "--intervene", &of.machine, &honest.trace);
    for good in [
        "2:read0.gate=1",
        "2-4:write0.strength=7.25",
        "3-:write0.shift=[0.0,0.0,1.0]",
        "0:memory[3:5,1]=0.5",
        "2-3:read0.gate=[[0.5],[0.25]]",
        "1:read0.weighting=row(5)",
        "1:memory=swap(3,4)",
        "1-2:controller.hidden[7]=0",
        "4-:read0.read=negate",
    ] {
        let found = read(good).unwrap();
        let again = text(&found[0], &of.machine.config);
        assert_eq!(read(&again).unwrap(), found, "{good} {again}");
    }
    for (bad, expected) in [
        ("read0.gate=1", "expected STEPS:ARRAY=VALUE"),
        ("99:read0.gate=1", "expected steps from 0 to"),
        ("5-3:read0.gate=1", "expected steps from 0 to"),
        ("x:read0.gate=1", "has `x`; expected a whole number"),
        ("2:read0.gat=1", "did you mean `read0.gate`?"),
        ("2:output=1", "has no array `output`"),
        ("2:read0.gate=2", "sets 2; expected 0 to 1"),
        ("2:read0.key=1.5", "sets 1.5; expected -1 to 1"),
        ("2:write0.sharpening=0.5", "expected at least 1"),
        ("2:read0.gate=negate", "expected values of at least 0"),
        ("2:read0.gate[1]=0", "expected 0 to 0"),
        (
            "2:read0.gate[0,0]=0",
            "has 2 indices; read0.gate has 1 index",
        ),
        ("2:memory=row(1)", "expected other values"),
        (
            "2:read0.weighting=row(500)",
            "expected an index from 0 to 127",
        ),
        ("2:write0.shift=[1,1,1]", "with the sum 1"),
        ("2:write0.shift[0]=0.5", "with the sum 1"),
        ("2:write0.shift=1", "has 1 values; expected 3"),
        ("2:read0.key=[1,2]", "has 2 values; expected 20"),
        ("9-:read0.gate=[[1],[1]]", "expected steps from 0 to"),
        ("2:read0.gate=true", "expected a number, a list, row(5)"),
        ("2:read0.gate=1e99", "expected a number"),
        ("2:memory=swap(1)", "expected swap(3,4)"),
        ("2:memory=from(absent.json)", "absent.json"),
    ] {
        let error = read(bad).unwrap_err().to_string();
        assert!(
            error.contains(expected) && error.contains("--intervene"),
            "{bad}: {error}"
        );
    }
}

#[test]
fn files_with_absent_arrays_or_too_much_work_are_no_surprise() {
    let mut all = machines().into_iter();
    let of = all.find(|of| of.experiment.name == "copy").unwrap();
    let honest = recorded(&of);
    let changes = parse(&["3:read0.gate=0.5"], "test", &of.machine, &honest.trace).unwrap();
    let branch = honest.with(&of.machine, &changes).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&written(&of, &branch)).unwrap();
    let read = |file: &serde_json::Value| trace::from_json(&file.to_string(), "t");
    let mut absent = file.clone();
    absent["arrays"]
        .as_object_mut()
        .unwrap()
        .remove("read0.gate");
    let verified = trace::verify(&read(&absent).unwrap(), 0.0);
    assert_eq!(
        verified.outcome(),
        Outcome::InPart,
        "{:?}",
        verified.comparison.first
    );
    let mut reversed = file.clone();
    reversed["interventions"] = serde_json::json!(["5-3:read0.gate=0.5"]);
    assert!(
        read(&reversed)
            .unwrap_err()
            .to_string()
            .contains("has the steps 5 to 3")
    );
    let mut endless = file;
    endless["interventions"] = serde_json::json!(vec!["0-:memory=negate"; 9999]);
    let error = read(&endless).unwrap_err().to_string();
    assert!(error.contains("expected at most 200000000"), "{error}");
}

#[test]
fn an_open_end_reaches_a_run_that_becomes_longer() {
    let mut all = machines().into_iter();
    let of = all.find(|of| of.experiment.name == "transduce").unwrap();
    let honest = recorded(&of);
    let source = honest.trace.setting.source;
    let read = |text: &str| parse(&[text], "test", &of.machine, &honest.trace).unwrap();
    // Its first state stands in the first step of the answer.
    let state = read("0-:controller.hidden=negate");
    assert_eq!(state[0].steps, (source, None));
    assert_eq!(
        read("0-:encoder.forward.hidden=0")[0].steps,
        (0, Some(source - 1))
    );
    let longer = (1..40).map(|seed| {
        let task = of.now().task;
        let honest = Recording::new(&of.machine, &task, seed, 0);
        let changes = parse(
            &["0-:controller.hidden=negate"],
            "test",
            &of.machine,
            &honest.trace,
        );
        let branch = honest.with(&of.machine, &changes.unwrap()).unwrap();
        let read = trace::from_bytes(written(&of, &branch), "t").unwrap();
        let replayed = trace::replay(&read, &of.machine, 0.0).unwrap();
        assert_eq!(replayed.differing, 0, "seed {seed}");
        usize::from(branch.trace.steps() > honest.trace.steps())
    });
    assert!(longer.sum::<usize>() > 0);
}

#[test]
fn only_rows_of_a_sparse_memory_can_be_set() {
    let all = machines();
    let of = all.iter().find(|of| of.experiment.name == "copy_sam");
    let of = of.unwrap();
    let trace = &recorded(of).trace;
    let order = "allowed: whole numbers 0 to 127, in ascending order";
    for (typed, said) in [
        ("1:read0.rows=[1,2,3,200]", format!("sets 200; {order}")),
        ("1:read0.rows=[1,2,3,3.5]", format!("sets 3.5; {order}")),
        ("1:read0.rows=[1,1,2,3]", format!("sets 1; {order}")),
        (
            "1:read0.rows=2",
            "sets a part of read0.rows; expected 4 rows".into(),
        ),
        (
            "1:read0.rows[3]=9",
            "sets a part of read0.rows; expected 4 rows".into(),
        ),
        (
            "1:write0.row=128",
            "sets 128; allowed: whole numbers 0 to 127".into(),
        ),
    ] {
        let error = parse(&[typed], "", &of.machine, trace).unwrap_err();
        assert!(error.to_string().contains(&said), "{error}");
    }
    for typed in ["1:read0.rows=[1,2,3,20]", "1:write0.row=127"] {
        assert!(parse(&[typed], "", &of.machine, trace).is_ok(), "{typed}");
    }
}
