//! An encoder and a decoder with attention, and answers of symbols: trained, measured, recorded, verified, overridden.

use ndarray::Array2;
use tapescope::io::{Experiment, checkpoint, trace};
use tapescope::keys::Choice as _;
use tapescope::math::Answer;
use tapescope::model::{Model, Place, array};
use tapescope::task::{Episodes, Task};
use tapescope::train::{Evaluator, Recording, Redundancy, Trainer, chance};

fn experiment(task: &str, model: &str, sequences: u32) -> Experiment {
    let text = format!(
        r#"{{"task": {task}, "model": {model},
            "training": {{"optimizer": {{"kind": "adam", "learning_rate": 0.01}}, "sequences": {sequences}, "batch": 8,
                          "validation_every": 500, "validation_episodes": 40}}}}"#
    );
    Experiment::from_json(&text, "test.json", &[]).unwrap()
}

const COPY: &str = r#"{"kind": "copy", "bits": 3, "length": [3, 6]}"#;
const BAHDANAU: &str = r#"{"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 6}, "units": 12, "attention": {"units": 8}}}"#;

fn trainer(experiment: Experiment) -> Trainer {
    let Experiment {
        task,
        model,
        training,
        ..
    } = experiment;
    Trainer::new(task, model, training, 2)
}

fn trained(task: &str, model: &str) -> Trainer {
    let mut trainer = trainer(experiment(task, model, 20000));
    while !trainer.finished() {
        trainer.update().unwrap();
    }
    trainer
}

fn read(recording: &Recording, machine: &Model<f32>) -> trace::Imported {
    let source = trace::Source {
        config: &machine.config,
        sha256: None,
        full_memory: true,
        gradient: None,
    };
    let (mut json, mut npz) = (Vec::new(), Vec::new());
    trace::write_to(&mut json, recording, &source).unwrap();
    trace::write_npz(&mut npz, recording, &source).unwrap();
    let [json, npz] = [json, npz].map(|file| trace::from_bytes(file, "bahdanau").unwrap());
    assert_eq!(json.recording.trace.heads, npz.recording.trace.heads);
    json
}

#[test]
fn attention_learns_to_copy_and_is_verified_without_tolerance() {
    let trainer = trained(COPY, BAHDANAU);
    let machine = &trainer.state.machines[0];
    let history = &trainer.state.history;
    let [first, last] = [0, history.len() - 1].map(|at| history[at].validation.bits_per_sequence);
    assert!(last < 0.5 * first, "{first} and {last} bits");

    // Where the machine looks is right, or off by one.
    let evaluator = Evaluator {
        machine,
        task: &trainer.task,
        redundancy: Redundancy::Off,
        head_divergence: Redundancy::Off,
        seed: 7,
        episodes: 20,
    };
    let score = evaluator.measure(1).alignment.unwrap();
    assert!(score.error_rate() < 0.5, "{score:?}");
    assert!(score.mass()[2] > 0.5 && score.off_by_one().is_none());

    // The weighting finds the step of the source that is copied.
    let aligned = (0..20).flat_map(|index| {
        let recording = Recording::new(machine, &trainer.task, 7, index);
        let alignment = trainer.task.alignment(&recording.episode);
        let pairs = alignment.into_iter().enumerate();
        let shares = pairs
            .filter_map(|(t, row)| Some(recording.trace.heads[0].weighting.row(t)[row?.start]));
        shares.collect::<Vec<f32>>()
    });
    let aligned: Vec<f32> = aligned.collect();
    let mean = aligned.iter().sum::<f32>() / aligned.len() as f32;
    assert!(mean > 0.5, "{mean} of the weight is where it should be");

    let recording = Recording::new(machine, &trainer.task, 7, 1);
    let honest = read(&recording, machine);
    assert_eq!(honest.config, machine.config);
    let (trace, again) = (&recording.trace, &honest.recording.trace);
    assert_eq!(trace.memory_columns, again.memory_columns);
    assert_eq!(trace.memory_size()[0], recording.episode.source());
    assert_eq!(again.setting.source, recording.episode.source());
    let found = trace::verify(&honest, 0.0);
    assert_eq!(found.outcome(), trace::Outcome::Holds, "{found:?}");
    for array in [
        "feedback",
        "memory",
        "read0.key",
        "read0.weighting",
        "read0.read",
        "output",
        "loss",
    ] {
        assert!(
            found.checked.iter().any(|checked| checked == array),
            "{array}"
        );
    }
    assert!(
        found
            .given
            .iter()
            .any(|given| given == "encoder.backward.hidden")
    );
    assert!(
        trace::replay(&honest, machine, 0.0)
            .unwrap()
            .first
            .is_none()
    );

    let first_wrong = |change: &dyn Fn(&mut Recording)| {
        let mut tampered = recording.clone();
        change(&mut tampered);
        let found = trace::verify(&read(&tampered, machine), 1e-6)
            .comparison
            .first;
        found.map(|first| first.array)
    };
    let step = recording.episode.steps() - 1;
    let wrong = first_wrong(&|recording| recording.trace.heads[0].key.row_mut(step)[0] += 0.25);
    assert_eq!(wrong.as_deref(), Some("read0.key"));
    let wrong = first_wrong(&|recording| {
        let feedback = recording.trace.series_mut(Place::Machine, array::FEEDBACK);
        feedback.unwrap().row_mut(step)[0] -= 0.5;
    });
    assert_eq!(wrong.as_deref(), Some("feedback"));
    // A mask of another episode: the number of rows still says where the source ends.
    let mut other = recording.clone();
    other.episode.mask.fill(1.0);
    let replayed = trace::replay(&read(&other, machine), machine, 0.0).unwrap();
    assert_eq!(replayed.first.unwrap().array, "loss");
}

#[test]
fn every_machine_with_a_source_is_verified_without_tolerance() {
    let models = [
        r#"{"kind": "equations", "file": "fixed_context.machine", "sizes": {"encoder": {"units": 5, "embedding": 4}}, "switches": {"encoder": {"cell": "gru", "direction": "both", "embedded": "yes"}}}"#,
        r#"{"kind": "equations", "file": "luong.machine", "sizes": {"encoder": {"units": 6}, "combined": 5}, "switches": {"feeding": "input"}}"#,
        r#"{"kind": "equations", "file": "luong.machine", "sizes": {"encoder": {"units": 6}}, "switches": {"attention": {"score": "dot", "weighting": "local_predictive"}}}"#,
        r#"{"kind": "equations", "file": "luong.machine", "sizes": {"encoder": {"units": 6}, "attention": {"places": 9}}, "switches": {"attention": {"score": "location"}}}"#,
        r#"{"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 3}, "coverage": {"units": 4}, "units": 7, "attention": {"units": 4, "markov": 3, "fertility": 1}}, "switches": {"coverage": {"kind": "fertility"}, "attention": {"biases": "weights_and_places"}}}"#,
        r#"{"kind": "equations", "file": "caption.machine", "sizes": {"filters": 5, "units": 7}, "switches": {"rows": "convolution", "gate": "yes"}}"#,
        r#"{"kind": "equations", "file": "caption.machine", "sizes": {"units": 7}, "switches": {"attention": {"weighting": "hard"}}}"#,
    ];
    for model in models {
        let mut trainer = trainer(experiment(COPY, model, 24));
        while !trainer.finished() {
            trainer.update().unwrap();
        }
        let machine = &trainer.state.machines[0];
        let recording = Recording::new(machine, &trainer.task, 7, 1);
        let honest = read(&recording, machine);
        assert_eq!(honest.config, machine.config);
        assert_eq!(
            honest.recording.trace.setting.source,
            recording.episode.source()
        );
        let found = trace::verify(&honest, 0.0);
        assert_eq!(found.outcome(), trace::Outcome::Holds, "{model}: {found:?}");
        let replayed = trace::replay(&honest, machine, 0.0).unwrap();
        assert_eq!(replayed.first, None, "{model}");
    }
}

#[test]
fn a_value_where_there_must_be_none_is_found() {
    for (model, after, before) in [
        (
            r#"{"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 3}, "coverage": {"units": 4}, "units": 7}, "switches": {"coverage": {"kind": "fertility"}}}"#,
            &[
                "encoder.forward.cell",
                "encoder.forward.hidden",
                "encoder.backward.cell",
                "encoder.backward.hidden",
                "fertility.mean",
                "fertility.variance",
            ][..],
            &["controller.cell", "controller.hidden"][..],
        ),
        (
            r#"{"kind": "equations", "file": "caption.machine", "sizes": {"filters": 5, "units": 7}, "switches": {"rows": "convolution", "gate": "yes"}}"#,
            &["annotations"],
            &["controller.hidden", "context.gate"],
        ),
        (
            r#"{"kind": "equations", "file": "luong.machine", "sizes": {"encoder": {"units": 6}}}"#,
            &["encoder.forward.hidden"],
            &["attentional"],
        ),
    ] {
        let machine = Model::new(experiment(COPY, model, 8).model, 1);
        let recording = Recording::new(&machine, &experiment(COPY, model, 8).task, 7, 1);
        let (source, last) = (recording.episode.source(), recording.episode.steps() - 1);
        let after = after
            .iter()
            .flat_map(|array| [(array, source), (array, last)]);
        let before = before
            .iter()
            .flat_map(|array| [(array, 0), (array, source - 2)]);
        for (&wanted, t) in after.chain(before) {
            let mut tampered = recording.clone();
            let all = recording.trace.of_steps();
            let named = |&(place, array, _): &_| recording.trace.array_name(place, array) == wanted;
            let at = all.iter().position(named).unwrap();
            let (place, array, _) = all[at];
            let series = tampered.trace.series_mut(place, array);
            series.unwrap().row_mut(t)[0] = 0.25;
            let found = trace::verify(&read(&tampered, &machine), 1e-6);
            assert_eq!(found.outcome(), trace::Outcome::Differs, "{wanted}, {t}");
            let first = found.comparison.first.unwrap();
            assert_eq!((first.array.as_str(), first.step), (wanted, Some(t)));
        }
    }
}

#[test]
fn traces_of_symbols_keep_their_alignment_and_are_verified() {
    for task in [
        r#"{"kind": "transduce", "symbols": 5, "fertility": 3, "ambiguous": 0.4, "length": [3, 3]}"#,
        r#"{"kind": "caption", "grid": 2, "glyphs": [2, 2], "patch": 3}"#,
        r#"{"kind": "frames", "length": [2, 3], "duration": [2, 2]}"#,
        r#"{"kind": "span", "positions": 9, "length": [7, 9]}"#,
        r#"{"kind": "aspects", "length": [4, 6]}"#,
    ] {
        let trainer = trainer(experiment(task, BAHDANAU, 8));
        let machine = &trainer.state.machines[0];
        let recording = Recording::new(machine, &trainer.task, 7, 1);
        let again = read(&recording, machine);
        let (task, episode) = (&again.recording.task, &again.recording.episode);
        assert_eq!((task, episode), (&trainer.task, &recording.episode));
        let is_aligned = task.alignment(episode).iter().any(Option::is_some);
        assert!(is_aligned || task.marked(episode).len() == 4);
        let found = trace::verify(&again, 0.0);
        assert_eq!(found.outcome(), trace::Outcome::Holds, "{found:?}");
    }
}

#[test]
fn a_trace_says_how_the_run_ended_and_is_refuted() {
    let task = r#"{"kind": "transduce", "symbols": 5, "length": [3, 3]}"#;
    let small = BAHDANAU.replace("12", "13");
    let (mut found, ends) = (Vec::new(), ["end_symbol", "twice_the_length"]);
    for seed in 0..20 {
        let trainer = trainer(experiment(task, &small, 8));
        let machine = Model::new(trainer.state.machines[0].config.clone(), seed);
        let recording = Recording::new(&machine, &trainer.task, 7, 1);
        let ending = recording.ending().unwrap().word();
        if found.contains(&ending) {
            continue;
        }
        found.push(ending);
        let source = trace::Source {
            config: &machine.config,
            sha256: None,
            full_memory: false,
            gradient: None,
        };
        let mut text = Vec::new();
        trace::write_to(&mut text, &recording, &source).unwrap();
        let text = String::from_utf8(text).unwrap();
        let outcome = |said: &str, instead: &str| {
            assert!(text.contains(said), "{said}");
            let read = trace::from_json(&text.replacen(said, instead, 1), "t").unwrap();
            assert_eq!(read.recording.stop, recording.stop);
            assert_eq!(read.recording.score.wrong, recording.score.wrong);
            let found = trace::verify(&read, 0.0);
            (found.outcome(), found.contradictions)
        };
        let said = format!("\"ended\":\"{ending}\"");
        let honest = (trace::Outcome::Holds, Vec::new());
        assert_eq!(outcome(&said, &said), honest);
        // An older file does not say it.
        assert_eq!(outcome(&format!("{said},"), ""), honest);
        let tampered = outcome(&said, "\"ended\":\"length\"");
        let lines = vec![format!("ended: length and {ending}")];
        assert_eq!(tampered, (trace::Outcome::Differs, lines));
    }
    found.sort_unstable();
    assert_eq!(found, ends);
}

#[test]
fn a_resumed_run_of_attention_has_identical_weights() {
    let mut whole = trainer(experiment(COPY, BAHDANAU, 400));
    let begun = experiment(COPY, BAHDANAU, 400);
    let mut part = trainer(begun.clone());
    for _ in 0..20 {
        part.update().unwrap();
    }
    let kept = checkpoint::to_bytes(&begun, &part.state);
    let (_, state) = checkpoint::from_bytes(&kept, "bahdanau").unwrap();
    let mut part = Trainer::resume(part.task, part.config, state, 1);
    for trainer in [&mut whole, &mut part] {
        while !trainer.finished() {
            trainer.update().unwrap();
        }
    }
    assert_eq!(whole.state.machines[0], part.state.machines[0]);
}

#[test]
fn a_value_of_attention_is_overridden() {
    let trainer = trainer(experiment(COPY, BAHDANAU, 8));
    let machine = &trainer.state.machines[0];
    let recording = Recording::new(machine, &trainer.task, 7, 1);
    let (source, mut changed) = (recording.episode.source(), recording.trace.clone());
    machine.run_again(&mut changed, 0, |trace, place, array, t| {
        if (place, t) == (Place::Head(0), source) && array == array::WEIGHTING {
            let row = trace.heads[0].weighting.row_mut(t);
            row.fill(0.0);
            row[1] = 1.0;
        }
    });
    let seen = changed.memory(source).row(1).to_vec();
    assert_eq!(changed.heads[0].read.row(source), seen);
    assert_eq!(changed.memory_columns, recording.trace.memory_columns);
    assert_ne!(changed.logit.row(source), recording.trace.logit.row(source));
}

#[test]
fn a_task_that_answers_before_its_input_ends_is_refused() {
    let text = r#"{"task": {"kind": "ngrams"}, "model": {"kind": "equations", "file": "bahdanau.machine"}}"#;
    let error = Experiment::from_json(text, "test.json", &[]).unwrap_err();
    let message = error.to_string();
    let wanted = "a task whose whole input comes before its answer";
    assert!(message.contains(wanted), "{message}");
}

#[test]
fn a_source_longer_than_the_location_score_knows_is_refused() {
    let model = |rows: usize| {
        let text = format!(
            r#"{{"task": {COPY}, "model": {{"kind": "equations", "file": "bahdanau.machine",
                "sizes": {{"attention": {{"places": {rows}}}}}, "switches": {{"attention": {{"score": "location"}}}}}}}}"#
        );
        Experiment::from_json(&text, "test.json", &[])
    };
    assert!(model(7).is_ok());
    let message = model(6).unwrap_err().to_string();
    let wanted = "`model.sizes.attention.places`: is 6; allowed: 7 or more, because a source may have as many steps";
    assert!(message.contains(wanted), "{message}");
    // The second machine reads answers, which are longer.
    let both = r#"{"task": {"kind": "transduce", "symbols": 5, "length": [3, 3], "fertility": 2},
        "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"attention": {"places": 10}}, "switches": {"attention": {"score": "location"}}},
        "training": {"agreement": 0.1}}"#;
    let message = Experiment::from_json(both, "test.json", &[]).unwrap_err();
    let wanted = "`model.sizes.attention.places`: is 10; allowed: 11 or more";
    assert!(message.to_string().contains(wanted), "{message}");
    // Where nobody asks, no row behind those that it knows has a score.
    let machine = Model::new(model(7).unwrap().model, 1);
    let longer = trainer(experiment(COPY, BAHDANAU, 8)).task.with_size(9);
    let recording = Recording::new(&machine, &longer, 1, 0);
    let score = recording.trace.heads[0]
        .similarity
        .row(recording.episode.source());
    assert!(score[6] != 0.0);
    assert_eq!(score[7..], [0.0; 3]);
}

/// Three symbols; the answer names the one that was shown, after a pause.
fn symbols() -> Task {
    let (episodes, steps) = (60, 4);
    let mut inputs = Array2::zeros((episodes * steps, 4));
    let mut targets = Array2::zeros((episodes * steps, 3));
    let mut mask = vec![0.0; episodes * steps];
    for episode in 0..episodes {
        let start = episode * steps;
        for t in 0..2 {
            let symbol = (episode + t * (1 + episode / 3)) % 3;
            inputs[[start + t, symbol]] = 1.0;
            targets[[start + 2 + t, symbol]] = 1.0;
        }
        inputs[[start + 1, 3]] = 1.0;
        mask[start + 2..start + 4].fill(1.0);
    }
    let recorded = Episodes::new(inputs, targets, mask, &vec![steps; episodes]).unwrap();
    let all = recorded.recorded().unwrap().clone();
    let mut task = Episodes::NONE;
    task.answer = Answer::Symbols;
    Task::Episodes(task.with(all).unwrap())
}

#[test]
fn every_machine_answers_with_symbols() {
    let task = symbols();
    assert!((chance(&task, 1, 6) - 2.0 * 3.0_f64.log2()).abs() < 1e-9);
    let models = [
        BAHDANAU,
        r#"{"kind": "equations", "file": "plain.machine", "sizes": {"units": 20}}"#,
        r#"{"memory": {"rows": 5, "columns": 4}, "controller": {"size": 20}}"#,
    ];
    for model in models {
        let mut of_copy = experiment(COPY, model, 1500);
        of_copy.model.set_channels(4, 3);
        of_copy.task = task.clone();
        let mut trainer = trainer(of_copy);
        while !trainer.finished() {
            trainer.update().unwrap();
        }
        let machine = &trainer.state.machines[0];
        let evaluator = Evaluator {
            machine,
            task: &task,
            redundancy: Redundancy::Off,
            head_divergence: Redundancy::Off,
            seed: 1,
            episodes: 6,
        };
        let measured = evaluator.measure(1).mean;
        assert!(
            (measured.scored_bits - 2.0).abs() < 1e-9,
            "two symbols are scored"
        );
        assert!(measured.bits_per_sequence < 1.0, "{model}: {measured:?}");
        assert!(measured.wrong_bits < 0.5, "{model}: {measured:?}");
        let recording = Recording::new(machine, &task, 1, 0);
        let sum: f32 = recording.trace.output.row(3).iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        let read = read(&recording, machine);
        assert_eq!(read.recording.episode.answer, Answer::Symbols);
        assert_eq!(trace::verify(&read, 0.0).comparison.first, None);
    }
}

#[test]
fn targets_that_are_no_symbols_are_refused() {
    let mut targets = Array2::zeros((20, 2));
    targets.column_mut(0).fill(1.0);
    targets[[3, 1]] = 1.0;
    let all = Episodes::new(Array2::zeros((20, 1)), targets, vec![1.0; 20], &[2; 10]);
    let all = all.unwrap().recorded().unwrap().clone();
    let mut task = Episodes::NONE;
    task.answer = Answer::Symbols;
    let fault = task.with(all).unwrap_err();
    let problem = "is symbols, but the target of episode 1, step 1 has 2 ones; expected one 1 in every scored step";
    assert_eq!(
        (fault.array.as_str(), fault.problem.as_str()),
        ("answer", problem)
    );
}
