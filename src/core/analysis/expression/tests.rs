//! Expressions: what is wrong where, and values against their direct computation.
#![cfg(test)]

use rand::RngExt;

use super::parse::{Node, OPERATORS, Term};
use super::*;
use crate::math::{Random, random};
use crate::model::{
    DncConfig, EquationsConfig, Model, ModelConfig, NtmConfig, SamConfig, Trace, peak,
};
use crate::task::{Copy, Task, Transduce};
use crate::train::{ABSENT, Recording};

fn task() -> Task {
    Task::Copy(Copy {
        bits: 3,
        length: 4..=4,
    })
}

/// Two read heads, two write heads, two layers: 9 steps of a machine that knows nothing.
fn recording() -> Recording {
    let task = task();
    let mut config = NtmConfig::new(task.inputs(), task.outputs());
    (config.rows, config.columns, config.controller.layers) = (8, 5, 2);
    (config.read_heads, config.write_heads) = (2, 2);
    Recording::new(&Model::new(config, 3), &task, 7, 0)
}

/// The part of a text that an error marks, and its message.
fn marked(text: &str, error: &ExpressionError) -> (String, String) {
    (text[error.at.clone()].to_owned(), error.message.clone())
}

#[track_caller]
fn parse_error(text: &str) -> (String, String) {
    marked(text, &Expression::parse(text).unwrap_err())
}

#[track_caller]
fn check_error(text: &str, trace: &Trace) -> (String, String) {
    let expression = Expression::parse(text).unwrap();
    marked(text, &expression.condition(trace).map(drop).unwrap_err())
}

#[track_caller]
fn values(text: &str, recording: &Recording, step: usize) -> Option<Vec<f64>> {
    let expression = Expression::parse(text).unwrap();
    let checked = expression.check(&recording.trace);
    let checked = checked.unwrap_or_else(|error| panic!("{}", error.in_text(text)));
    checked.values(recording, step)
}

#[track_caller]
fn number(text: &str, recording: &Recording, step: usize) -> Option<f64> {
    values(text, recording, step).map(|values| values[0])
}

#[test]
fn parse_errors_mark_the_wrong_token() {
    for (text, part, message) in [
        ("", "", "expected a value, found the end"),
        ("1 +", "", "expected a value, found the end"),
        ("1 + * 2", "*", "expected a value, found `*`"),
        ("(1 + 2", "", "expected `)`, found the end"),
        ("1 2", "2", "expected an operator or the end, found `2`"),
        ("5x", "5x", "expected a number, found `5x`"),
        ("a[1", "", "expected `]`, found the end"),
        ("a and and b", "and", "expected a value, found `and`"),
        ("1.2.3 > 1", "1.2.3", "expected a number, found `1.2.3`"),
        ("a & b", "&", "expected an operator or the end, found `&`"),
        ("€", "€", "expected a value, found `€`"),
        ("writes(5)", "5", "expected `row`, found `5`"),
        (
            "wrong(1)",
            "(",
            "expected an operator or the end, found `(`",
        ),
        (
            "entrpy(a)",
            "entrpy",
            "there is no function `entrpy`; nearest: `entropy`",
        ),
    ] {
        let expected = (part.to_owned(), message.to_owned());
        assert_eq!(parse_error(text), expected, "{text}");
    }
    let deep = "(".repeat(100_000);
    assert_eq!(parse_error(&deep).1, "expected at most 200 words and signs");
    let text = "read0.gate >\t) 1";
    let error = Expression::parse(text).unwrap_err();
    let shown = "expected a value, found `)`\n  read0.gate > ) 1\n               ^";
    assert_eq!(error.in_text(text), shown);
}

#[test]
fn check_errors_mark_the_wrong_part() {
    let trace = recording().trace;
    let index = "expected a whole number, 0 to 7, found";
    let array = "use an index such as [0], or a function such as `max`";
    for (text, part, message) in [
        ("gate > 1", "gate", "there is no array or function `gate`; nearest: `read0.gate`, `read1.gate`, `write0.gate`".to_owned()),
        ("read2.gate > 1", "read2.gate", "there is no array or function `read2.gate`; nearest: `read0.gate`, `read1.gate`, `write0.gate`".to_owned()),
        ("read0.gate", "read0.gate", "expected a condition, found a number; compare it, as in `… > 0.5`".to_owned()),
        ("not read0.key", "read0.key", format!("expected a condition, found an array of 5; {array}")),
        ("1 < (memory)", "(memory)", format!("expected a number, found an array of 8 × 5; {array}")),
        ("1 < 2 < 3", "1 < 2", "expected a number, found a condition".to_owned()),
        ("max(read0.gate) > 1", "read0.gate", "expected an array, found a number".to_owned()),
        ("read0.weighting[8] > 0", "8", format!("{index} 8")),
        ("read0.weighting[1.5] > 0", "1.5", format!("{index} 1.5")),
        ("read0.weighting[-1] > 0", "-1", format!("{index} -1")),
        ("read0.weighting[2 * 4] > 0", "2 * 4", format!("{index} 8")),
        ("read0.weighting[0 / 0] > 0", "0 / 0", format!("{index} NaN")),
        ("entropy > 1", "entropy", "expected `entropy(…)`: it is a function".to_owned()),
        ("memory[-(1)][0] > 0", "-(1)", format!("{index} -1")),
        ("memory[0][5 - 10] > 0", "5 - 10", "expected a whole number, 0 to 4, found -5".to_owned()),
        ("writes(row 8)", "8", format!("{index} 8")),
        ("writes(row -1)", "-1", format!("{index} -1")),
        ("writes(row 3 / 2)", "3 / 2", format!("{index} 1.5")),
        ("read0.gate[0] > 0", "read0.gate", "this is a number, which takes no index".to_owned()),
        ("memory[1,2,3] > 0", "memory[1,2", "this is a number, which takes no index".to_owned()),
        ("(1 < 2)[0] > 0", "(1 < 2)", "this is a condition, which takes no index".to_owned()),
        ("sum(read0.key + read0.weighting) > 0", "read0.weighting", format!("expected an array of 5 as on the left, or a number, found an array of 8; {array}")),
        ("1 + (1 < 2) > 1", "(1 < 2)", "expected a number or an array, found a condition".to_owned()),
    ] {
        assert_eq!(check_error(text, &trace), (part.to_owned(), message), "{text}");
    }
    let managed = Trace::new(&DncConfig::new(5, 3));
    let unknown = |text| check_error(text, &managed).1;
    let has = |name, all| format!("there is no array or function `{name}`; {all}");
    assert_eq!(
        unknown("read0.usage > 1"),
        has("read0.usage", "nearest: `write0.usage`")
    );
    let of_read = unknown("read0.gate > 1");
    let has_all = ["known: `read0.", "`read0.free_gate`", "`read0.key`"];
    assert!(
        has_all.iter().all(|part| of_read.contains(part)),
        "{of_read}"
    );
    assert!(!of_read.contains("write0"));
    let all = unknown("links > 1");
    assert!(
        all.contains("known: `") && all.contains("`write0.precedence`"),
        "{all}"
    );
    let plain = EquationsConfig::included("plain", [5, 3], &[]).unwrap();
    let plain = Trace::new(&plain);
    let (part, message) = check_error("wrong and writes(row 1)", &plain);
    assert_eq!(part, "writes(row 1)");
    assert_eq!(
        message,
        "`writes` needs a machine with a write head; this one has none"
    );
    let key = Expression::parse("read0.key").unwrap();
    let message = key.quantity(&trace).map(drop).unwrap_err().message;
    assert_eq!(
        message,
        format!("expected a number or a condition, found an array of 5; {array}")
    );
}

#[test]
fn values_equal_their_direct_computation() {
    let recording = recording();
    let trace = &recording.trace;
    for step in 0..trace.steps() {
        let head = &trace.heads[1];
        let weighting: Vec<f64> = head
            .weighting
            .row(step)
            .iter()
            .map(|w| f64::from(*w))
            .collect();
        let entropy: f64 = weighting.iter().map(|w| -w * w.log2()).sum();
        let found = number("entropy(read1.weighting)", &recording, step).unwrap();
        assert!((found - entropy).abs() < 1e-12, "{found} {entropy}");
        let (row, most) = peak(head.weighting.row(step)).unwrap();
        let memory = trace.memory(step + 1);
        let layers = [0, 1].map(|layer: usize| trace.layers[layer].hidden.row(step)[2]);
        for (text, expected) in [
            ("argmax(read1.weighting)", row as f64),
            ("max(read1.weighting)", most.into()),
            ("read1.weighting[argmax(read1.weighting)]", most.into()),
            ("memory[3][4]", memory[[3, 4]].into()),
            ("memory[3, 4]", memory[[3, 4]].into()),
            (
                "sum(memory[3])",
                memory.row(3).iter().map(|m| f64::from(*m)).sum(),
            ),
            ("controller.hidden[1][2] * 1", layers[1].into()),
            ("controller.hidden[0][2]", layers[0].into()),
            ("output[1]", trace.output.row(step)[1].into()),
            ("target[2]", recording.episode.target[[step, 2]].into()),
            ("loss", recording.loss[step].into()),
            ("wrong", recording.wrong_bits(step) as f64),
            ("answer", f64::from(recording.episode.mask[step])),
            ("step + 1", step as f64 + 1.0),
            ("phase_step", [0, 1, 2, 3, 0, 0, 1, 2, 3][step].into()),
            (
                "write1.gate - -2",
                f64::from(trace.heads[3].gate.row(step)[0]) + 2.0,
            ),
            ("1 - 2 - 3 * 4 / 8 + 1e-1", -2.4),
            ("norm(read0.key - read0.key) + min(2 * read0.shift)", {
                let shift = trace.heads[0].shift.row(step).iter().copied();
                2.0 * f64::from(shift.reduce(f32::min).unwrap())
            }),
            ("mean(1 - read0.erase)", f64::NAN),
        ] {
            if expected.is_nan() {
                assert!(Expression::parse(text).unwrap().check(trace).is_err());
                continue;
            }
            let found = number(text, &recording, step).unwrap();
            assert!(
                (found - expected).abs() < 1e-12,
                "{text}: {found}, not {expected}"
            );
        }
    }
    assert_eq!(values("step", &recording, trace.steps()), None);
}

#[test]
fn conditions_find_their_steps() {
    let mut recording = recording();
    let steps = |text: &str, recording: &Recording| {
        let checked = Expression::parse(text)
            .unwrap()
            .condition(&recording.trace)
            .unwrap();
        checked.matches(recording).collect::<Vec<_>>()
    };
    let all = |of: &dyn Fn(usize) -> bool| (0..9).filter(|step| of(*step)).collect::<Vec<_>>();
    assert_eq!(
        steps("step = 2 or step >= 7 and not step == 8", &recording),
        [2, 7]
    );
    assert_eq!(
        steps("answer and wrong", &recording),
        all(&|t| recording.wrong_bits(t) > 0)
    );
    let row = |recording: &Recording, t: usize| {
        peak(recording.trace.heads[0].weighting.row(t)).unwrap().0
    };
    let moved = all(&|t| t > 0 && row(&recording, t) != row(&recording, t - 1));
    assert_eq!(steps("changes(argmax(read0.weighting))", &recording), moved);
    assert_eq!(steps("changes(input)", &recording)[0], 1);

    let last = Expression::parse("step = 2 or step = 6").unwrap();
    let last = last.condition(&recording.trace).unwrap();
    assert_eq!(last.matches(&recording).rfind(|step| *step < 6), Some(2));

    // The largest weight on row 4 only in step 3, in which one value of it changes: first by too little.
    for t in 0..9 {
        let head = &mut recording.trace.heads[2];
        head.weighting.row_mut(t).fill(0.0);
        head.weighting.row_mut(t)[if t == 3 { 4 } else { 0 }] = 1.0;
    }
    recording.trace.heads.truncate(3);
    for (change, expected) in [(0.04, &[][..]), (-0.06, &[3][..])] {
        let same = recording.trace.memory_columns.row(3).to_vec();
        recording
            .trace
            .memory_columns
            .row_mut(4)
            .copy_from_slice(&same);
        recording.trace.memory_columns.row_mut(4)[2 * 8 + 4] += change;
        assert_eq!(steps("writes(row 2 + 2)", &recording), expected);
    }
    assert_eq!(
        steps(
            "writes(row step + 8) or not writes(row step + 8)",
            &recording
        ),
        [0; 0]
    );
    assert_eq!(
        steps("step = 1 or read0.weighting[step * 8] < 2", &recording),
        [0, 1]
    );

    recording.trace.heads[0].gate.row_mut(5)[0] = ABSENT;
    assert_eq!(number("read0.gate", &recording, 5), None);
    assert!(!steps("not (read0.gate > 2)", &recording).contains(&5));
}

#[test]
fn rows_of_a_part_of_the_memory_belong_to_the_episode() {
    let task = task();
    let mut config = SamConfig::new(task.inputs(), task.outputs());
    (config.rows, config.columns) = (16_384, 4);
    let config = ModelConfig::from(config);
    let longest = Trace::of_recording(&config, [9, 0], None);
    let recording = Recording::new(&Model::new(config, 2), &task, 3, 0);
    let rows = recording.trace.memory_size()[0];
    let found = number("memory[3,2]", &recording, 4).unwrap();
    assert_eq!(found, f64::from(recording.trace.memory(5)[[3, 2]]));
    let outside = Expression::parse(&format!("memory[{rows},0] > 0")).unwrap();
    for trace in [&longest, &recording.trace] {
        let checked = outside.condition(trace).unwrap();
        assert_eq!(checked.values(&recording, 4), None);
    }
}

#[test]
fn an_array_of_a_file_with_several_axes_has_rows() {
    let task = task();
    let channels = [task.inputs(), task.outputs()];
    let config = EquationsConfig::included("fast_weights", channels, &[]).unwrap();
    let recording = Recording::new(&Model::new(ModelConfig::from(config), 2), &task, 3, 0);
    let mut all = recording.trace.kind_arrays.arrays();
    let (_, memory) = all.find(|(array, _)| array.name == "memory").unwrap();
    let units = memory.width().isqrt();
    let row: Vec<_> = memory.row(4)[3 * units..4 * units].to_vec();
    let expected: Vec<_> = row.iter().map(|value| f64::from(*value)).collect();
    assert_eq!(values("memory[3]", &recording, 4), Some(expected));
    assert_eq!(number("memory[3,5]", &recording, 4), Some(row[5].into()));
}

#[test]
fn an_array_with_a_row_per_step_has_the_entries_of_its_episode() {
    let task = Task::Transduce(Transduce::DEFAULT);
    let channels = [task.inputs(), task.outputs()];
    let config = EquationsConfig::included("lstmn_fusion", channels, &[]).unwrap();
    let config = ModelConfig::from(config);
    let expression = Expression::parse("read0.weighting[2] + max(read0.weighting)").unwrap();
    let checked = expression.quantity(&Trace::new(&config)).unwrap();
    let recording = Recording::new(&Model::new(config.clone(), 2), &task, 3, 0);
    let weighting = recording.trace.heads[0].weighting.row(4);
    let (_, most) = peak(weighting).unwrap();
    let found = checked.values(&recording, 4).unwrap()[0];
    assert!((found - f64::from(weighting[2]) - f64::from(most)).abs() < 1e-12);
    assert_eq!(values("read0.weighting[1000]", &recording, 4), None);
    let outside = Expression::parse("read0.weighting[1000] > 0").unwrap();
    assert!(outside.condition(&recording.trace).is_ok());
    let error = outside.condition(&Trace::of_episode(&config, 30, 10));
    let error = error.err().unwrap();
    assert_eq!((error.at.start, error.at.end), (16, 20));
    assert!(
        error.message.starts_with("expected a whole number, 0 to "),
        "{error:?}"
    );
}

/// An expression with all of its parentheses.
fn printed(node: &Node) -> String {
    let parts: Vec<String> = node.parts.iter().map(printed).collect();
    match (&node.term, &*parts) {
        (Term::Number(number), _) => number.to_string(),
        (Term::Array(name), _) => name.clone(),
        (Term::Call(function), [of]) => {
            let row = if function.name == "writes" {
                "row "
            } else {
                ""
            };
            format!("{}({row}{of})", function.name)
        }
        (Term::Call(function), _) => function.name.to_owned(),
        (Term::Binary(operator), [left, right]) => format!("({left} {} {right})", operator.sign),
        (Term::Entry, [of, index]) => format!("{of}[{index}]"),
        (_, of) => format!("(not {})", of.concat()),
    }
}

/// A random expression, with few parentheses.
fn random_text(random: &mut Random, depth: usize) -> String {
    let mut inner = || random_text(random, depth.saturating_sub(1));
    let (one, other) = if depth > 0 {
        (inner(), inner())
    } else {
        Default::default()
    };
    let operator = OPERATORS[random.random_range(0..OPERATORS.len())].sign;
    match random.random_range(0..if depth > 0 { 9 } else { 3 }) {
        0 => ["1", "2.5", "1e3"][random.random_range(0..3)].to_owned(),
        1 => ["read0.key", "memory", "loss"][random.random_range(0..3)].to_owned(),
        2 => ["wrong", "answer", "step"][random.random_range(0..3)].to_owned(),
        3 => format!("({one})"),
        4 => format!("max({one})[{other}]"),
        5 => format!("not {one}"),
        6 => format!("-{one}"),
        _ => format!("{one}{operator:^5}{other}"),
    }
}

#[test]
fn operators_bind_by_precedence() {
    for (text, expected) in [
        ("1 + 2 * 3 - 4", "((1 + (2 * 3)) - 4)"),
        ("not a > 1 and b or c", "(((not (a > 1)) and b) or c)"),
        ("-a[1] * 2 < 3", "(((0 - a[1]) * 2) < 3)"),
        ("writes(row 1 + 2)", "writes(row (1 + 2))"),
    ] {
        assert_eq!(printed(&Expression::parse(text).unwrap().root), expected);
    }
}

#[test]
fn printed_expressions_parse_to_themselves() {
    let recording = recording();
    for index in 0..500 {
        let text = random_text(&mut random(1, index), 3);
        let expression = Expression::parse(&text).unwrap();
        let again = printed(&expression.root);
        let parsed = Expression::parse(&again).unwrap();
        assert_eq!(printed(&parsed.root), again, "{text}");
        let checked = [expression, parsed].map(|of| of.check(&recording.trace));
        let values = checked.map(|of| {
            of.map(|of| of.values(&recording, 5))
                .map_err(|error| error.message)
        });
        // NaN differs from itself.
        assert_eq!(
            format!("{:?}", values[0]),
            format!("{:?}", values[1]),
            "{text}"
        );
    }
}

#[test]
fn any_text_is_parsed_or_its_error_is_inside() {
    let trace = recording().trace;
    let parts = [
        "(", ")", "[", "]", "1", "1e", "2.", "and", "not", "-", "<", "=", "!", "max", "writes",
        "row", "wrong", "memory", "é", " ", "\n", ".",
    ];
    for index in 0..5000 {
        let mut random = random(2, index);
        let words =
            (0..random.random_range(1..12)).map(|_| parts[random.random_range(0..parts.len())]);
        let text: String = words.collect();
        let result = Expression::parse(&text).and_then(|parsed| parsed.check(&trace).map(drop));
        if let Err(error) = result {
            let shown = error.in_text(&text);
            assert!(
                shown.lines().count() == 3 && error.at.end <= text.len(),
                "{shown}"
            );
        }
    }
}

#[test]
fn completion_offers_what_can_follow() {
    let trace = recording().trace;
    let offered = |text: &str| complete(text, text.len(), &trace);
    let (at, all) = offered("max(read1.w");
    assert_eq!((at, &*all), (4..11, &["read1.weighting".to_owned()][..]));
    assert_eq!(offered("en").1[0], "entropy");
    assert_eq!(offered("gat").1[..2], ["read0.gate", "read1.gate"]);
    assert_eq!(offered("wrong a").1, ["and"]);
    assert_eq!(offered("memory[0] ").1, ["and", "or"]);
    assert!(offered("not ").1.contains(&"wrong".to_owned()));
    assert_eq!(complete("ar > 1", 2, &trace).1[0], "argmax");
}
