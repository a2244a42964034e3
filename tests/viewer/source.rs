//! Machines that read a source: their axes have symbols, the true alignment is outlined, a picture lights up patch by
//! patch, and one click brings a Neural Turing Machine beside them.

use super::clipping::texts;
use super::*;
use tapescope::io::Experiment;
use tapescope::model::{Place, array};
use tapescope::train::is_unrecorded;

pub const TRANSDUCE: &str = r#"{"kind": "transduce", "symbols": 12, "length": [1, 8], "order": "swap_pairs", "fertility": 2}"#;
pub const CAPTION: &str =
    r#"{"kind": "caption", "grid": 4, "glyphs": [1, 5], "symbols": 6, "noise": 0.1}"#;
pub const BAHDANAU: &str = r#"{"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 8}, "units": 8, "attention": {"units": 6}}}"#;
pub const DESCRIBES: &str = r#"{"kind": "equations", "file": "caption.machine", "sizes": {"filters": 6, "units": 8}, "switches": {"rows": "convolution"}}"#;

/// An untrained machine for a task.
pub fn reader(name: &str, task: &str, model: &str) -> Machine {
    let preset = format!(
        r#"{{"name": "{name}", "task": {task}, "model": {model},
            "training": {{"optimizer": {{"kind": "adam", "learning_rate": 0.01}}, "sequences": 8, "batch": 8}}}}"#
    );
    let experiment = Experiment::from_json(&preset, "any.json", &[]).unwrap();
    Machine {
        other_way: None,
        away: false,
        name: name.to_owned(),
        title: format!("Reader, {name}"),
        ntm: Model::new(experiment.model, 3),
        task: experiment.task,
    }
}

/// An episode in which a machine looks where it should, in the last answer but one a step too late, and answers it wrongly.
fn looking(task: &str, model: &str, size: usize) -> Recording {
    let machine = reader("looking", task, model);
    let task = machine.task.with_size(size);
    let mut recording = Recording::new(&machine.ntm, &task, 9, 0);
    // It answers with the end symbol where it should.
    recording.episode = recording.episode.with_steps(0);
    let steps = recording.episode.steps();
    recording.trace.resize(steps);
    recording.loss.truncate(steps);
    recording.stop = Some(steps - 1);
    let alignment = task.alignment(&recording.episode);
    let first = recording.episode.source();
    let late = steps - 2;
    for step in first..steps {
        let rows = alignment[step].clone().unwrap_or(first - 1..first);
        let head = &mut recording.trace.heads[0];
        for series in [&mut head.content, &mut head.weighting] {
            let weights = series.row_mut(step);
            weights.fill(0.2 / first as f32);
            let share = 0.8 / rows.len() as f32;
            for row in rows.clone() {
                weights[(row + usize::from(step == late)) % first] += share;
            }
        }
        let target: Vec<f32> = recording.episode.target.row(step).to_vec();
        for (channel, target) in target.iter().enumerate() {
            recording.trace.logit.row_mut(step)[channel] = 4.0 * target;
            recording.trace.output.row_mut(step)[channel] = 0.02 + 0.8 * target;
        }
        if step == late {
            recording.trace.logit.row_mut(step)[0] = 9.0;
            recording.trace.output.row_mut(step)[0] = 0.9;
        }
        recording.loss[step] = if step == late { 5.0 } else { 0.3 };
    }
    recording.score.wrong = 1;
    recording
}

/// A file of this name.
pub fn file(name: &str) -> Option<OpenedFile> {
    let recording = match name {
        "alignment" => looking(TRANSDUCE, BAHDANAU, 8),
        "described picture" => looking(CAPTION, DESCRIBES, 4),
        "reader of bits" => {
            let copy = r#"{"kind": "copy", "bits": 8, "length": [1, 20]}"#;
            let machine = reader("reader", copy, BAHDANAU);
            return Some(OpenedFile::Machine(Box::new(machine)));
        }
        _ => return None,
    };
    Some(opened(name, recording))
}

/// A window on a file, paused in a layout at a step of the answer.
fn at(file: &str, layout: WindowLayout, answer: usize) -> Screen {
    let mut screen = window_with(LARGE, options(Arc::<Shelf>::default()));
    press(&mut screen, Key::Space);
    open(&mut screen, file);
    while screen.state().layout() != layout {
        act(&mut screen, ViewCommand::NextLayout);
    }
    let first = recording(&screen).episode.source();
    act(&mut screen, Play::Seek(first + answer));
    screen
}

/// How often a text is on screen.
fn count(screen: &Screen, text: &str) -> usize {
    texts(screen)
        .filter(|(found, _)| found.galley.text() == text)
        .count()
}

/// The short name of an input or a target.
fn symbol(values: &[f32]) -> String {
    let channel = values.iter().position(|value| *value == 1.0).unwrap();
    if values.len() - 1 == channel {
        "‹end›".to_owned()
    } else {
        format!("s{channel}")
    }
}

#[test]
fn axes_have_the_symbols_of_source_and_answer() {
    let screen = at("alignment", WindowLayout::Debug, 3);
    let recording = recording(&screen);
    let episode = &recording.episode;
    let first = episode.source();
    for row in 0..first - 1 {
        let name = symbol(&episode.input.row(row).to_vec());
        // Beside the weightings and beside the memory; below the steps where there is room.
        assert!(count(&screen, &name) >= 2, "{name}");
    }
    assert!(count(&screen, "‹|›") >= 2, "the delimiter");
    let late = recording.trace.steps() - 2;
    let answers: Vec<String> = (first..recording.trace.steps())
        .map(|step| {
            if step == late {
                "s0".to_owned()
            } else {
                symbol(&episode.target.row(step).to_vec())
            }
        })
        .collect();
    // There is room for every other one.
    let on_axis = answers.iter().filter(|name| count(&screen, name) > 0);
    assert!(2 * on_axis.count() >= answers.len(), "{answers:?}");
    for text in ["outlined: true alignment", "[symbol "] {
        assert!(
            screen.query_all_by_label_contains(text).count() > 0,
            "{text}"
        );
    }
}

#[test]
fn alignment_grows_as_the_decoder_runs() {
    let mut screen = at("alignment", WindowLayout::CloseUp, 0);
    assert_eq!(count(&screen, "alignment so far"), 1);
    let answers = |screen: &Screen| {
        let source = recording(screen).episode.source();
        let names = (source..recording(screen).trace.steps()).map(|step| {
            let target = recording(screen).episode.target.row(step).to_vec();
            symbol(&target)
        });
        names.map(|name| count(screen, &name)).sum::<usize>()
    };
    let first = answers(&screen);
    let mut before = first;
    for _ in 0..4 {
        press(&mut screen, Key::ArrowRight);
        let now = answers(&screen);
        // There is room for every other name.
        assert!(now >= before, "{before}, then {now}");
        before = now;
    }
    assert!(before > first, "{first}, then {before}");
}

#[test]
fn what_is_fed_back_comes_in() {
    for file in ["alignment", "described picture"] {
        let mut screen = at(file, WindowLayout::CloseUp, 2);
        let first = recording(&screen).episode.source();
        // The symbol of the answer before, in the column below its name.
        let fed_back = recording(&screen)
            .trace
            .series(Place::Machine, array::FEEDBACK);
        let fed_back = fed_back.unwrap().row(first + 2).to_vec();
        let channel = fed_back.iter().position(|value| *value == 1.0).unwrap();
        let name = symbol(&fed_back);
        assert_eq!(count(&screen, &format!("{name}, fed back")), 1, "{file}");
        let column = screen.get_by_label_contains("feedback").rect();
        let cell = column.height() / fed_back.len() as f32;
        let at = column.center_top() + Vec2::new(0.0, (channel as f32 + 0.5) * cell);
        screen.hover_at(at);
        screen.run_steps(2);
        let readout = screen.state().readout().unwrap();
        let said = format!("{readout:?}");
        let wanted = recording(&screen).task.output_name(channel);
        assert!(said.contains(&wanted) && said.contains('1'), "{said}");
        // Before the answer comes the input.
        act(&mut screen, Play::Seek(1));
        assert!(screen.query_by_label_contains("feedback").is_none());
    }
}

#[test]
fn pointer_on_a_source_row_reads_its_symbol() {
    let mut screen = at("alignment", WindowLayout::Debug, 1);
    for picture in ["outlined: true alignment", "memory: rows down"] {
        let mut all = screen.query_all_by_label_contains(picture);
        let place = all.next().unwrap().rect();
        drop(all);
        screen.hover_at(place.left_top() + Vec2::new(3.0, 3.0));
        screen.run_steps(2);
        let said = screen.state().readout().unwrap().place.clone();
        let name = recording(&screen).episode.input.row(0).to_vec();
        let name = symbol(&name).replace('s', "symbol ");
        assert!(said.contains("row 0") && said.contains(&name), "{said}");
    }
}

#[test]
fn picture_lights_up_patch_by_patch() {
    let mut screen = at("described picture", WindowLayout::Debug, 0);
    let first = recording(&screen).episode.source();
    let place = screen.get_by_label_contains("picture by R0").rect();
    // The third of five pictures side by side.
    let third = place.left_top() + Vec2::new(place.width() * 0.5, 8.0);
    screen.hover_at(third);
    screen.run_steps(2);
    let said = screen.state().readout().unwrap().place.clone();
    assert!(
        said.contains(&format!("step {}  patch", first + 2)),
        "{said}"
    );
    drag(&mut screen, third, third);
    assert_eq!(step(&screen), first + 2);
    let late = recording(&screen).trace.steps() - 2;
    let right = recording(&screen).episode.target.row(late).to_vec();
    let wrong = format!("s0 ≠ {}", symbol(&right));
    assert_eq!(
        count(&screen, &wrong),
        1,
        "the wrong answer with the right one"
    );
}

#[test]
fn machines_with_a_source_are_whole_in_every_layout_and_exported_as_shown() {
    for size in [SMALL, LARGE] {
        for (task, model) in [(TRANSDUCE, BAHDANAU), (CAPTION, DESCRIBES)] {
            let shelf = Arc::<Shelf>::default();
            let options = Options {
                machines: vec![reader("any", task, model)],
                ..options(shelf.clone())
            };
            let raster = Shared::default();
            let mut screen = window_drawn((size, Theme::Light), options, raster.clone());
            press(&mut screen, Key::Space);
            let first = recording(&screen).episode.source();
            for step in [1, first + 1] {
                act(&mut screen, Play::Seek(step));
                for layout in 0..3 {
                    let what = format!("{model}, {size}, step {step}, layout {layout}");
                    clipping::is_whole(&screen, &what);
                    // The close-up draws a part of some pictures, the figure the same part of a smaller one.
                    if screen.state().layout() == WindowLayout::CloseUp {
                        export::agree(&mut screen, &what);
                    } else {
                        export::is_exported_as_shown(&mut screen, &shelf, &raster, &what);
                    }
                    act(&mut screen, ViewCommand::NextLayout);
                }
            }
        }
    }
}

#[test]
fn a_source_step_waits_and_has_a_row_of_its_own() {
    let mut screen = paused_on(reader("any", TRANSDUCE, BAHDANAU));
    act(&mut screen, Play::Seek(1));
    let waits = screen.query_all_by_label_contains("waits until the source is complete");
    assert!(waits.count() > 0);
    let rows = recording(&screen).episode.source();
    screen.get_by_label(&format!("memory: {rows} rows, one per source step"));
    assert!(screen.query_by_label("Memory rows").is_none());
}

#[test]
fn step_card_counts_the_right_symbol_only() {
    let mut screen = at("alignment", WindowLayout::Debug, 1);
    act(&mut screen, ViewCommand::Select(Target::Step));
    let card = screen.state().card().unwrap();
    let costs = card.lines.iter().filter(|line| line.sum.contains(" bits"));
    let named = card
        .lines
        .iter()
        .filter(|line| line.sum.starts_with("symbol "));
    assert_eq!((costs.count(), named.count()), (2, 12), "{:?}", card.lines);
    assert!(!is_unrecorded(&recording(&screen).loss));
}

/// A machine that copies by reading its source, and Neural Turing Machines.
fn beside(task: &str) -> Options {
    Options {
        machines: vec![reader("reads", task, BAHDANAU), machine("first", 1)],
        ..options(Arc::<Shelf>::default())
    }
}

#[test]
fn one_click_shows_the_alignment_beside_the_ntm() {
    let copy = r#"{"kind": "copy", "bits": 4, "length": [1, 5]}"#;
    let mut screen = paused_in(beside(copy));
    let input = recording(&screen).episode.input.clone();
    screen.get_by_label("Compare with NTM").click();
    screen.run_steps(8);
    assert_eq!(screen.state().layout(), WindowLayout::Compare);
    assert_eq!(recording(&screen).episode.input, input, "the same episode");
    assert_eq!(screen.state().session.machine().unwrap().name, "first");
    screen.get_by_label_contains("A: w of R0");
    screen.get_by_label_contains("B: w of R0");
    screen.get_by_label_contains("each has its own axis");
    assert!(screen.query_by_label_contains("B − A: w of").is_none());
    assert!(screen.query_by_label_contains("B − A: memory").is_none());
    for size in [SMALL, LARGE] {
        screen.set_size(size);
        screen.run_steps(3);
        clipping::is_whole(&screen, &format!("{size}"));
    }
    press(&mut screen, Key::Escape);
    assert_ne!(screen.state().layout(), WindowLayout::Compare);
}

#[test]
fn a_task_without_an_ntm_says_why() {
    let mut screen = paused_in(beside(TRANSDUCE));
    let button = screen.get_by_label("Compare with NTM");
    assert!(button.accesskit_node().is_disabled());
    screen.hover_at(button.rect().center());
    screen.run_steps(40);
    screen.get_by_label_contains("Not available: no Neural Turing Machine is included");
    act(&mut screen, Compare::WithNtm);
    assert_ne!(screen.state().layout(), WindowLayout::Compare);
    // The palette has it, with the same reason.
    press_with(&mut screen, Modifiers::COMMAND, Key::K);
    assert!(
        screen
            .query_all_by_label_contains("Compare with NTM")
            .count()
            > 1
    );
    let ntm = paused();
    assert!(
        ntm.query_by_label("Compare with NTM").is_none(),
        "no source"
    );
}

#[test]
fn tour_starts_from_a_machine_with_a_source() {
    let mut options = Options::included(None).with_first("copy");
    options
        .machines
        .insert(0, reader("any", TRANSDUCE, BAHDANAU));
    options.files = Arc::<Shelf>::default();
    let mut screen = paused_in(options);
    act(&mut screen, Tour::Start);
    screen.run_steps(5);
    clipping::is_whole(&screen, "tour");
    assert_eq!(screen.state().session.machine().unwrap().name, "copy");
}
