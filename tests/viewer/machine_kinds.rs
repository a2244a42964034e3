//! A kind of machine opens, plays, is inspected and exported through what it records, and nothing else.

use super::*;
use tapescope::figure::facts::family::columns_of;
use tapescope::figure::{PanelId, Picture};
use tapescope::io::Experiment;
use tapescope::model::attention::{Score, Strength, Switch, Weighting};
use tapescope::model::config::ShiftForm;
use tapescope::model::score::general::BILINEAR;
use tapescope::model::{NoiseMode, NtmConfig};
use tapescope::train::Recording;

/// Goes through every stage of two steps, points at everything, and exports all layouts.
fn walked_through(machine: Machine) -> Vec<String> {
    walked_from(machine, 2)
}

pub fn walked_from(machine: Machine, step: usize) -> Vec<String> {
    let shelf = Arc::<Shelf>::default();
    let options = Options {
        machines: vec![machine],
        ..options(shelf.clone())
    };
    let raster = Shared::default();
    let mut harness = window_drawn((LARGE, Theme::Dark), options, raster.clone());
    press(&mut harness, Key::Space);
    act(&mut harness, Play::Seek(step));
    let stages = harness
        .state()
        .session
        .open
        .as_ref()
        .unwrap()
        .facts
        .stages
        .len();
    let heads = harness.state().session.open.as_ref().unwrap();
    let heads = heads.shown.recording.trace.heads.len();
    let mut seen = Vec::new();
    act(&mut harness, Play::SeekStage(0));
    for _ in 0..2 * stages {
        seen.push(stage(&harness));
        for head in 0..heads {
            act(&mut harness, ViewCommand::Focus(head));
            for target in [
                Target::Head(head),
                Target::Row(1),
                Target::Cell { row: 1, column: 0 },
                Target::Step,
            ] {
                act(&mut harness, ViewCommand::Select(target));
            }
            clipping::is_whole(&harness, &format!("head {head} at {}", stage(&harness)));
        }
        press(&mut harness, Key::Period);
    }
    for layout in 0..3 {
        let what = format!("layout {layout}");
        assert!(export::is_exported_as_shown(&mut harness, &shelf, &raster, &what) >= 2);
        act(&mut harness, ViewCommand::NextLayout);
    }
    seen.truncate(stages);
    seen
}

/// An untrained machine of some kind, for copying.
pub fn of_kind(model: &str) -> Machine {
    of_task(r#"{"kind": "copy", "bits": 4, "length": [1, 5]}"#, model)
}

/// An untrained machine of some kind.
pub fn of_task(task: &str, model: &str) -> Machine {
    let preset = format!(
        r#"{{"name": "any", "task": {task}, "model": {model},
            "training": {{"optimizer": {{"kind": "adam", "learning_rate": 0.01}}, "sequences": 8, "batch": 8}}}}"#
    );
    let experiment = Experiment::from_json(&preset, "any.json", &[]).unwrap();
    Machine {
        other_way: None,
        away: false,
        name: "any".to_owned(),
        title: "Copy, any kind".to_owned(),
        ntm: Model::new(experiment.model, 3),
        task: experiment.task,
    }
}

#[test]
fn a_network_without_memory_has_two_stages() {
    let machine =
        of_kind(r#"{"kind": "equations", "file": "plain.machine", "sizes": {"units": 8}}"#);
    assert_eq!(walked_through(machine), ["controller", "output"]);
}

#[test]
fn an_encoder_and_a_decoder_open_in_every_layout() {
    for keys in [
        r#""sizes": {"encoder": {"units": 3}, "units": 5, "attention": {"units": 4}}"#,
        r#""sizes": {"encoder": {"units": 3}, "units": 6}, "switches": {"attention": {"score": "cosine", "weighting": "hard"}}"#,
        r#""sizes": {"encoder": {"units": 5}, "units": 4}, "switches": {"attention": {"weighting": "weibull"}}"#,
        r#""sizes": {"encoder": {"units": 2}, "units": 4}, "switches": {"attention": {"weighting": "local_monotonic"}}"#,
    ] {
        let model = format!(r#"{{"kind": "equations", "file": "bahdanau.machine", {keys}}}"#);
        // The episode of the first index: a step of the source, and the last ones of the answer.
        for step in [1, 7] {
            let stages = walked_from(of_kind(&model), step);
            assert_eq!(stages[0], "decoder", "{keys}");
            assert!(stages.iter().any(|stage| stage == "read"), "{stages:?}");
        }
    }
}

#[test]
fn every_machine_with_a_source_opens_in_every_layout() {
    for model in [
        r#"{"kind": "equations", "file": "luong.machine", "sizes": {"encoder": {"units": 4}, "combined": 3}, "switches": {"feeding": "input"}}"#,
        r#"{"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 3}, "coverage": {"units": 2}, "attention": {"markov": 3, "fertility": 0}}, "switches": {"encoder": {"cell": "gru"}, "coverage": {"kind": "fertility"}, "attention": {"biases": "weights_and_places"}}}"#,
        r#"{"kind": "equations", "file": "caption.machine", "sizes": {"filters": 3, "units": 4}, "switches": {"rows": "convolution", "gate": "yes"}}"#,
    ] {
        let stages = walked_from(of_kind(model), 7);
        assert_eq!(stages[0], "decoder", "{model}");
        assert!(stages.iter().any(|stage| stage == "read"), "{stages:?}");
    }
    let asked = r#""kind": "span", "symbols": 4, "positions": 6, "length": [5, 6], "question": 1"#;
    let twice = format!(r#"{{{asked}, "span": [1, 1], "rounds": 2}}"#);
    let symbol = format!(r#"{{{asked}, "asked_for": "symbol"}}"#);
    for (task, model, network) in [
        (
            &twice,
            r#"{"kind": "equations", "file": "coattention.machine", "sizes": {"units": 4}}"#,
            "decoder",
        ),
        (
            &symbol,
            r#"{"kind": "equations", "file": "attention_over_attention.machine", "sizes": {"units": 3}}"#,
            "encoder",
        ),
    ] {
        // A step of the document, one of the question, and the last one of the answer.
        for step in [1, 7, 9] {
            let stages = walked_from(of_task(task, model), step);
            assert_eq!(stages[0], network, "{model}");
        }
    }
    for (model, network) in [
        (
            r#"{"kind": "equations", "file": "lstmn_fusion.machine", "sizes": {"units": 4}, "switches": {"fusion": "deep"}}"#,
            "decoder",
        ),
        (
            r#"{"kind": "equations", "file": "lstmn.machine", "sizes": {"units": 4}}"#,
            "controller",
        ),
        (
            r#"{"kind": "dnc", "memory": {"rows": 9}, "controller": {"size": 4}}"#,
            "controller",
        ),
        (
            r#"{"kind": "sam", "memory": {"rows": 9000, "index": "hashed"}, "controller": {"size": 4}}"#,
            "controller",
        ),
        (
            r#"{"kind": "equations", "file": "multi_head_layers.machine", "sizes": {"embedding": 6, "depth": 3}, "heads": {"read": 2}}"#,
            "embedding",
        ),
        (
            r#"{"kind": "equations", "file": "self_attention.machine", "sizes": {"encoder": {"units": 3}}}"#,
            "encoder",
        ),
    ] {
        assert_eq!(walked_from(of_kind(model), 7)[0], network, "{model}");
    }
    let fixed = r#"{"kind": "equations", "file": "fixed_context.machine", "sizes": {"encoder": {"units": 4}}}"#;
    let stages = walked_from(of_kind(fixed), 7);
    assert_eq!(stages[..2], ["input", "encoder sequence"]);
}

/// An untrained machine with these heads for copying, its weights so large that the heads do something.
pub fn with_heads(config: NtmConfig) -> Machine {
    let mut machine = of_kind(r#"{"memory": {"rows": 12, "columns": 6}}"#);
    let plain = machine.ntm.config.ntm().unwrap().clone();
    let config = NtmConfig {
        inputs: plain.inputs,
        outputs: plain.outputs,
        rows: 12,
        columns: 6,
        ..config
    };
    machine.ntm = Model::new(config, 3);
    for weights in machine.ntm.params.slices_mut() {
        weights.iter_mut().for_each(|weight| *weight *= 3.0);
    }
    machine
}

/// Two heads that read and two that write, so that there is room for all of them: hard, local, of both random kinds.
pub fn every_mechanism() -> NtmConfig {
    let mut config = NtmConfig::new(1, 1);
    let scores = [
        Score::Additive,
        Score::General,
        Score::Location,
        Score::Cosine,
    ];
    config.attention.score = scores.to_vec().into();
    let weightings = [
        Weighting::Hard,
        Weighting::LocalPredictive,
        Weighting::Weibull,
        Weighting::Lognormal,
    ];
    config.attention.weighting = weightings.to_vec().into();
    (config.read_heads, config.write_heads) = (2, 2);
    config
}

/// The columns of every head of a machine: their words.
/// An episode in which heads draw rows that are hardly likely.
pub fn unlikely(name: &str) -> OpenedFile {
    let machine = with_heads(every_mechanism());
    let mut recording = Recording::new(&machine.ntm, &machine.task, 9, 0);
    for head in &mut recording.trace.heads {
        if head.distribution.width() > 0 {
            head.weighting.row_mut(3).fill(0.0);
            head.weighting.row_mut(3)[5] = 1.0;
            head.distribution.row_mut(3)[5] = 0.0004;
        }
    }
    opened(name, recording)
}

fn columns(machine: &Machine) -> Vec<String> {
    let recording = Recording::new(&machine.ntm, &machine.task, 1, 0);
    let heads = recording.trace.heads.iter().map(|head| {
        let words = columns_of(head).map(|column| column.word);
        words.collect::<Vec<_>>().join(" ")
    });
    heads.collect()
}

#[test]
fn heads_of_every_mechanism_are_walked_through_and_printed() {
    let machine = with_heads(every_mechanism());
    let heads = [
        "before additive content gate shift sharpen sample",
        "before general content gate shift sharpen",
        "before location prior content gate shift sharpen",
        "before match prior content gate shift sharpen",
    ];
    assert_eq!(columns(&machine), heads);
    let stages = "controller content gate shift sharpen sample read erase add output";
    assert_eq!(walked_through(machine).join(" "), stages);
}

/// Heads of which stages are off: which columns they have, and which stages the machine.
#[test]
fn disabled_mechanisms_are_not_shown() {
    let mut config = every_mechanism();
    let attention = &mut config.attention;
    attention.score = PerHead::all(Score::ScaledDot);
    attention.weighting = [
        Weighting::Hard,
        Weighting::Soft,
        Weighting::LocalMonotonic,
        Weighting::Soft,
    ]
    .to_vec()
    .into();
    attention.strength = PerHead::all(Strength::One);
    (attention.gate, attention.sharpening) = (PerHead::all(Switch::Off), PerHead::all(Switch::Off));
    config.shift_form = PerHead::all(ShiftForm::None);
    let machine = with_heads(config.clone());
    let heads = [
        "scaled dot content prob. sample",
        "scaled dot content",
        "scaled dot content",
        "scaled dot content",
    ];
    assert_eq!(columns(&machine), heads);
    let stages = "controller content sample read erase add output";
    assert_eq!(walked_through(machine).join(" "), stages);
    // A shift that moves wᶜ itself, sharpened; and a gate that nothing follows.
    config.attention.gate = [Switch::Off, Switch::On].repeat(2).into();
    config.attention.sharpening = [Switch::On, Switch::Off].repeat(2).into();
    config.shift_form = [ShiftForm::Softmax, ShiftForm::None].repeat(2).into();
    let machine = with_heads(config);
    let heads = [
        "scaled dot content shift sharpen sample",
        "before scaled dot content gate",
        "scaled dot content shift sharpen",
        "before scaled dot content gate",
    ];
    assert_eq!(columns(&machine), heads);
    let stages = "controller content gate shift sharpen sample read erase add output";
    assert_eq!(walked_through(machine).join(" "), stages);
}

/// Where no head erases, nothing says that one does; where one of two does, it is that one alone.
#[test]
fn head_without_erase_shows_no_erase() {
    let mut config = NtmConfig::new(1, 1);
    config.write_heads = 2;
    config.attention.erase = PerHead::all(Switch::Off);
    let stages = "controller content gate shift sharpen read add output";
    let machine = with_heads(config.clone());
    let options = Options {
        machines: vec![with_heads(config.clone())],
        ..options(Arc::<Shelf>::default())
    };
    assert_eq!(walked_through(machine).join(" "), stages);
    let mut harness = window_with(LARGE, options);
    press(&mut harness, Key::Space);
    for head in 0..3 {
        act(&mut harness, ViewCommand::Focus(head));
        act(&mut harness, Play::Seek(2));
        for _ in 0..8 {
            for _ in 0..6 {
                let erases = clipping::texts(&harness).find_map(|(text, _)| {
                    let text = text.galley.text().to_owned();
                    text.to_lowercase().contains("erase").then_some(text)
                });
                assert_eq!(erases, None, "{}", stage(&harness));
                act(&mut harness, ViewCommand::NextLayout);
            }
            press(&mut harness, Key::Period);
        }
    }

    config.attention.erase = [Switch::On, Switch::Off, Switch::On].to_vec().into();
    let stages = "controller content gate shift sharpen read erase add output";
    assert_eq!(walked_through(with_heads(config.clone())).join(" "), stages);
    let options = Options {
        machines: vec![with_heads(config)],
        ..self::options(Arc::<Shelf>::default())
    };
    let mut harness = window_with(LARGE, options);
    press(&mut harness, Key::Space);
    act(&mut harness, Play::Seek(2));
    to_stage(&mut harness, "erase");
    told(&harness, "W1 erases ");
    assert!(!clipping::texts(&harness).any(|(text, _)| text.galley.text().contains("W0 erases")));
}

/// The sentence of the step, as the caption has it.
fn told(harness: &Screen, words: &str) {
    let texts: Vec<_> = clipping::texts(harness)
        .map(|(text, _)| text.galley.text().to_owned())
        .collect();
    // A long sentence has several lines, and one name.
    let found = texts.iter().any(|text| text.contains(words))
        || harness.query_by_label_contains(words).is_some();
    assert!(found, "no `{words}` in {texts:?}");
}

#[test]
fn episode_can_be_resampled_and_shown_as_mean() {
    let machine = with_heads(NtmConfig::with_every_mechanism());
    let options = Options {
        machines: vec![machine],
        ..options(Arc::<Shelf>::default())
    };
    let mut harness = window_with(LARGE, options);
    press(&mut harness, Key::Space);
    let weightings = |harness: &Screen| {
        let open = harness.state().session.open.as_ref().unwrap();
        let trace = &open.shown.recording.trace;
        (trace.heads[5].weighting.clone(), trace.sampling)
    };
    act(&mut harness, ViewCommand::Focus(5));
    act(&mut harness, Play::Seek(3));
    let (likely, sampling) = weightings(&harness);
    assert_eq!(sampling, NoiseMode::Mean);
    told(&harness, "nothing sampled: most likely rows");
    to_stage(&mut harness, "sample");
    told(&harness, "W1 takes the most likely row, row ");
    let mut seen = vec![likely.clone()];
    for sample in 0..3 {
        press(&mut harness, Key::A);
        let (drawn, sampling) = weightings(&harness);
        assert_eq!(sampling, NoiseMode::Sampled);
        assert!(seen.iter().all(|other| *other != drawn));
        seen.push(drawn);
        assert_eq!(harness.state().player.step(), 3);
        told(&harness, "W1 samples row ");
        let name = harness.state().session.open.as_ref().unwrap().name();
        assert!(name.ends_with(&format!(", sample {sample}")), "{name}");
    }
    act(&mut harness, Episode::Sample(1));
    assert_eq!(weightings(&harness).0, seen[2], "the same draw again");
    act(&mut harness, Episode::Sampling(NoiseMode::Expected));
    told(
        &harness,
        "W1 attends to all rows by probability, most to row ",
    );
    press_with(&mut harness, Modifiers::SHIFT, Key::A);
    assert_eq!(weightings(&harness).0, likely);
}

#[test]
fn learned_parameter_has_readout() {
    let options = Options {
        machines: vec![with_heads(every_mechanism())],
        ..options(Arc::<Shelf>::default())
    };
    let mut harness = window_with(LARGE, options);
    press(&mut harness, Key::Space);
    act(&mut harness, ViewCommand::Focus(1));
    // It stands at the end of the right panel.
    harness.hover_at(egui::pos2(LARGE.x - 100.0, 300.0));
    harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, -9000.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(30);
    let rect = harness.get_by_label_contains("R1 bilinear").rect();
    harness.hover_at(rect.left_top() + rect.size() * egui::vec2(0.4, 0.3));
    harness.run_steps(2);
    let open = harness.state().session.open.as_ref().unwrap();
    let learned = open.shown.recording.trace.heads[1]
        .series(BILINEAR)
        .unwrap()
        .row(0);
    // Six columns of the key down, six of the memory across.
    let value = tapescope::figure::facts::numbers::exact(learned[6 + 2]);
    told(&harness, "R1 bilinear W  key column 1  memory column 2");
    told(&harness, &value);
}

#[test]
fn samples_show_band_and_uncertainty() {
    let shelf = Arc::<Shelf>::default();
    let options = Options {
        machines: vec![with_heads(every_mechanism())],
        ..options(shelf.clone())
    };
    let mut harness = window_with(LARGE, options);
    press(&mut harness, Key::Space);
    let spread = |harness: &Screen| {
        harness
            .state()
            .session
            .open
            .as_ref()
            .unwrap()
            .spread
            .clone()
    };
    let svg = |harness: &mut Screen| {
        act(harness, File::Save("figure.svg".into(), true));
        String::from_utf8(shelf.figures.lock().unwrap().pop().unwrap()).unwrap()
    };
    act(&mut harness, ViewCommand::Focus(2));
    let last = harness.state().player.steps() - 1;
    act(&mut harness, Play::Seek(last));
    let without = svg(&mut harness);
    act(&mut harness, Episode::Samples(7));
    press(&mut harness, Key::S);
    let seen = spread(&harness).unwrap();
    assert_eq!(seen.samples, 7);
    told(&harness, "aleatoric");
    told(&harness, "w over 7 samples: tick = mean, line = 5–95 %");
    told(&harness, "K=7 I");
    let of = seen.step(last).unwrap();
    assert!((of.noise + of.model - of.total).abs() < 1e-9 && of.model > 0.0);
    let with = svg(&mut harness);
    assert_ne!(with, without, "the band is printed");
    assert!(with.contains("mutual information") && with.contains("K=7"));
    // What many draws say holds for each of them, and not for another episode.
    press(&mut harness, Key::A);
    assert!(spread(&harness).is_some_and(|other| Arc::ptr_eq(&other, &seen)));
    let bit = PanelId::new(Picture::Output);
    act(
        &mut harness,
        ViewCommand::Select(Target::Value { id: bit, column: 0 }),
    );
    let card = harness.state().card().unwrap();
    assert!(
        card.lines
            .iter()
            .any(|line| line.sum.contains("total uncertainty"))
    );
    act(&mut harness, Episode::NextSeed);
    assert!(spread(&harness).is_none());
}
