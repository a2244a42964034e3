//! The window without a window: driven by labels and keys, with simulated time.
#![cfg(feature = "gui")]

#[path = "viewer/branches.rs"]
mod branches;
#[path = "viewer/clipping.rs"]
mod clipping;
#[path = "viewer/commands.rs"]
mod commands;
#[path = "viewer/compare.rs"]
mod compare;
#[path = "viewer/copying.rs"]
mod copying;
#[path = "viewer/custom_task.rs"]
mod custom_task;
#[path = "viewer/display.rs"]
mod display;
#[path = "viewer/export.rs"]
mod export;
#[path = "viewer/first_use.rs"]
mod first_use;
#[path = "viewer/gradients.rs"]
mod gradients;
#[path = "viewer/input_painting.rs"]
mod input_painting;
#[path = "viewer/keyboard_focus.rs"]
mod keyboard_focus;
#[path = "viewer/learn.rs"]
mod learn;
#[path = "viewer/lists.rs"]
mod lists;
#[path = "viewer/loaded_run.rs"]
mod loaded_run;
#[path = "viewer/machine_files.rs"]
mod machine_files;
#[path = "viewer/machine_kinds.rs"]
mod machine_kinds;
#[path = "viewer/managed_memory.rs"]
mod managed_memory;
#[path = "viewer/motion.rs"]
mod motion;
#[path = "viewer/opening.rs"]
mod opening;
#[path = "viewer/overlap.rs"]
mod overlap;
#[path = "viewer/parallel_runs.rs"]
mod parallel_runs;
#[path = "viewer/pending.rs"]
mod pending;
#[path = "viewer/phone.rs"]
mod phone;
#[path = "viewer/pointing.rs"]
mod pointing;
#[path = "viewer/presentation.rs"]
mod presentation;
#[path = "viewer/raster.rs"]
mod raster;
#[path = "viewer/recovery.rs"]
mod recovery;
#[path = "viewer/regressions.rs"]
mod regressions;
#[path = "viewer/report.rs"]
mod report;
#[path = "viewer/screens.rs"]
mod screens;
#[path = "viewer/search.rs"]
mod search;
#[path = "viewer/selected_head.rs"]
mod selected_head;
#[path = "viewer/selection.rs"]
mod selection;
#[path = "viewer/settings.rs"]
mod settings;
#[path = "viewer/sliders.rs"]
mod sliders;
#[path = "viewer/snapshot.rs"]
mod snapshot;
#[path = "viewer/source.rs"]
mod source;
#[path = "viewer/start_page.rs"]
mod start_page;
#[path = "viewer/step_zoom.rs"]
mod step_zoom;
#[path = "viewer/tour.rs"]
mod tour;
#[path = "viewer/write_before_read.rs"]
mod write_before_read;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use raster::Shared;
use tapescope::figure::Format;
use tapescope::keys::PerHead;
use tapescope::model::attention::{Score, Weighting};
use tapescope::model::config::Order;
use tapescope::model::{EquationsConfig, Model, NtmConfig};
use tapescope::player::Loop;
use tapescope::task::{AssociativeRecall, Copy, Count, Ngrams, RepeatCopy, Task};
use tapescope::train::{ABSENT, Recording};
use tapescope::viewer::command::{
    Compare, DialogCommand, Edit, Episode, File, Learn, Play, Replacement, Rows, Subject, Tour,
    ViewCommand, Window,
};
use tapescope::viewer::{
    App, Command, Disk, ExternalEpisode, FetchCallback, FilePurpose, Files, Machine, OpenedFile,
    Options, ProgressCallback, RecordedEpisode, Settings, StartOptions, Target, WindowLayout,
};

/// Remembers what was saved, and opens what its names promise.
#[derive(Default)]
struct Shelf {
    saved: Mutex<Vec<PathBuf>>,
    figures: Mutex<Vec<Vec<u8>>>,
}

impl Files for Shelf {
    fn open(&self, path: &Path, _: ProgressCallback<'_>) -> Result<OpenedFile, String> {
        match path.to_str() {
            Some("other.safetensors") => Ok(OpenedFile::Machine(Box::new(machine("other", 3)))),
            Some("theirs.ntmtrace.json") => Ok(theirs("theirs.ntmtrace.json", |_| ())),
            Some("partial.json") => Ok(theirs("partial.json", |recording| {
                recording.absent = vec!["memory".to_owned(), "read0.key".to_owned()];
            })),
            Some("computed.json") => Ok(theirs("computed.json", |recording| {
                recording.absent = vec!["read0.content".to_owned(), "read0.key".to_owned()];
                recording.computed = vec!["read0.content".to_owned()];
            })),
            Some("weightings.json") => Ok(theirs("weightings.json", weightings_only)),
            Some("broken.json") => Ok(theirs("broken.json", |recording| {
                recording.trace.heads[0].weighting.row_mut(1)[2] = f32::NAN;
                recording.trace.memory_columns.row_mut(2)[5] = f32::INFINITY;
            })),
            Some("again.json") => Ok(trace("again.json", |_| ())),
            Some("changed.json") => Ok(trace("changed.json", |recording| {
                recording.trace.heads[1].shifted.row_mut(4)[7] += 0.5;
                recording.trace.heads[1].weighting.row_mut(4)[7] += 0.25;
            })),
            Some("two peaks.json") => Ok(trace("two peaks.json", two_peaks)),
            Some("tiny.json") => Ok(trace("tiny.json", |recording| {
                recording.trace.input.row_mut(0)[0] = 7.171_739_5e-33;
            })),
            Some("minus.json") => Ok(trace("minus.json", |recording| {
                recording.trace.heads[0].similarity.row_mut(1).fill(-0.0001);
            })),
            Some("unlikely.json") => Ok(machine_kinds::unlikely("unlikely.json")),
            Some("third.json") => {
                let machine = machine("third", 1);
                let task = machine.task.with_size(4);
                let recording = Recording::new(&machine.ntm, &task, 7, 3);
                Ok(opened("third.json", recording))
            }
            Some("before.json") => Ok(trace("before.json", |recording| {
                recording.trace.memory_columns.row_mut(0)[3] += 0.5;
            })),
            Some("short.json") => {
                let machine = machine("short", 1);
                let task = machine.task.with_size(3);
                Ok(opened(
                    "short.json",
                    Recording::new(&machine.ntm, &task, 1, 0),
                ))
            }
            Some("wide.json") => {
                let task = Task::Copy(Copy {
                    bits: 5,
                    length: 3..=3,
                });
                let recording = Recording::new(&small(&task, 16, 1), &task, 1, 0);
                Ok(opened("wide.json", recording))
            }
            Some("headless.json") => {
                let machine = machine("headless", 1);
                let ntm = machine.ntm.config.ntm().unwrap();
                let (channels, units) =
                    ([ntm.inputs, ntm.outputs], ntm.controller.size.to_string());
                let config = EquationsConfig::included("plain", channels, &[("units", &units)]);
                let config = config.unwrap();
                let recording = Recording::new(&Model::new(config, 1), &machine.task, 1, 0);
                Ok(opened("headless.json", recording))
            }
            Some("every mechanism") => Ok(OpenedFile::Machine(Box::new(
                machine_kinds::with_heads(machine_kinds::every_mechanism()),
            ))),
            Some("dot products") => {
                let mut config = machine_kinds::every_mechanism();
                config.attention.score = [Score::Dot, Score::ScaledDot].repeat(2).into();
                config.attention.weighting = PerHead::all(Weighting::Soft);
                Ok(OpenedFile::Machine(Box::new(machine_kinds::with_heads(
                    config,
                ))))
            }
            Some("of one's own") => Ok(OpenedFile::Machine(Box::new(custom_task::machine()))),
            Some(name) => source::file(name)
                .or_else(|| other_heads(name))
                .ok_or(format!("{name} does not exist.")),
            None => Err("That is no name.".to_owned()),
        }
    }

    fn save_trace(&self, path: &Path, shown: &RecordedEpisode) -> Result<String, String> {
        assert!(shown.recording.trace.steps() > 0);
        assert!(shown.config.is_some() && shown.machine.is_some());
        self.saved.lock().unwrap().push(path.to_owned());
        Ok(format!("The trace is saved as {}.", path.display()))
    }

    fn exists(&self, path: &Path) -> bool {
        let saved = self.saved.lock().unwrap();
        saved.iter().any(|saved| saved == path)
    }

    fn save_figure(&self, path: &Path, bytes: &[u8]) -> Result<String, String> {
        assert!(!bytes.is_empty());
        self.figures.lock().unwrap().push(bytes.to_vec());
        self.saved.lock().unwrap().push(path.to_owned());
        Ok(format!("The figure is saved as {}.", path.display()))
    }
}

/// In step 4 the write head is on two rows, and its shift goes both ways.
fn two_peaks(recording: &mut Recording) {
    let head = &mut recording.trace.heads[1];
    head.shift.row_mut(4).copy_from_slice(&[0.40, 0.19, 0.41]);
    let (gated, shifted) = (&mut head.gated, &mut head.shifted);
    for (series, rows) in [
        (gated, [(4, 0.6), (2, 0.4)].as_slice()),
        (
            shifted,
            &[(3, 0.404), (5, 0.246), (4, 0.114), (1, 0.16), (2, 0.076)],
        ),
    ] {
        series.row_mut(4).fill(0.0);
        for &(row, weight) in rows {
            series.row_mut(4)[row] = weight;
        }
    }
}

/// What another program recorded of a machine: its weightings, what it saw and what it said.
fn weightings_only(recording: &mut Recording) {
    let trace = &mut recording.trace;
    trace.memory_columns.as_mut_slice().fill(ABSENT);
    for head in &mut trace.heads {
        for series in [
            &mut head.key,
            &mut head.shift,
            &mut head.similarity,
            &mut head.content,
            &mut head.gated,
            &mut head.shifted,
            &mut head.strength,
            &mut head.gate,
            &mut head.sharpening,
            &mut head.read,
            &mut head.erase,
            &mut head.add,
        ] {
            series.as_mut_slice().fill(ABSENT);
        }
    }
    recording.loss.fill(ABSENT);
    recording.absent = vec!["memory".to_owned(), "read0.key".to_owned()];
}

/// A trace in a file of this name.
fn opened(name: &str, recording: Recording) -> OpenedFile {
    RecordedEpisode::of_file(name.to_owned(), recording, None).into()
}

/// An episode of a machine that is not here, changed.
fn theirs(name: &str, change: impl Fn(&mut Recording)) -> OpenedFile {
    let machine = machine("theirs", 4);
    let mut recording = Recording::new(&machine.ntm, &machine.task, 9, 0);
    change(&mut recording);
    opened(name, recording)
}

/// The first episode of the first machine, changed.
fn trace(name: &str, change: impl Fn(&mut Recording)) -> OpenedFile {
    let machine = machine("first", 1);
    let task = machine.task.with_size(5);
    let mut recording = Recording::new(&machine.ntm, &task, 1, 0);
    change(&mut recording);
    opened(name, recording)
}

/// A trace of a machine whose heads the name counts: `0 reads 1 writes`, `1 reads 1 writes, write first`.
fn other_heads(name: &str) -> Option<OpenedFile> {
    let (reads, rest) = name.split_once(" reads ")?;
    let (writes, order) = rest.split_once(" writes")?;
    let mut config = NtmConfig::new(5, 4);
    (config.rows, config.columns) = (16, 6);
    config.read_heads = reads.parse().ok()?;
    config.write_heads = writes.parse().ok()?;
    if order == ", write first" {
        config.order = Order::WriteFirst;
    }
    let machine = machine(name, 1);
    let ntm = Model::new(config.clone(), 1);
    let recording = Recording::new(&ntm, &machine.task, 9, 0);
    let shown = RecordedEpisode::of_file(name.to_owned(), recording, Some(config.into()));
    Some(shown.into())
}

fn small(task: &Task, rows: usize, seed: u64) -> Model<f32> {
    let mut config = NtmConfig::new(task.inputs(), task.outputs());
    config.rows = rows;
    config.columns = 6;
    config.controller.size = 12;
    Model::new(config, seed)
}

fn machine(name: &str, seed: u64) -> Machine {
    let task = Task::Copy(Copy {
        bits: 4,
        length: 1..=5,
    });
    let ntm = small(&task, 16, seed);
    Machine {
        other_way: None,
        away: false,
        name: name.to_owned(),
        title: format!("Copy {name}"),
        task,
        ntm,
    }
}

fn repeating() -> Machine {
    let task = Task::RepeatCopy(RepeatCopy {
        bits: 4,
        length: 1..=3,
        repeats: 1..=3,
        count: Count::Scalar,
    });
    let ntm = small(&task, 16, 2);
    Machine {
        other_way: None,
        away: false,
        name: "repeat".to_owned(),
        title: "Repeat copy".to_owned(),
        task,
        ntm,
    }
}

/// A window with these files, machines and sizes.
type Screen = Harness<'static, App>;

const LARGE: Vec2 = Vec2::new(1440.0, 900.0);
/// The smallest window that can be had.
const SMALL: Vec2 = Vec2::new(960.0, 600.0);
const BOTH: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

fn options(files: Arc<dyn Files>) -> Options {
    Options {
        machines: vec![machine("first", 1), repeating()],
        files,
        seed: Some(1),
        ..Options::default()
    }
}

fn window_with(size: Vec2, options: Options) -> Screen {
    window_drawn((size, Theme::Dark), options, Shared::default())
}

/// What it answers, step by step.
fn answers(screen: &Screen) -> Vec<f32> {
    recording(screen).trace.output.as_slice().to_vec()
}

/// A window whose pixels are asked for.
fn window_drawn((size, theme): (Vec2, Theme), options: Options, raster: Shared) -> Screen {
    let mut harness = Harness::builder()
        .with_size(size)
        .with_theme(theme)
        .with_step_dt(0.05)
        .renderer(raster)
        .with_context_setup(tapescope::viewer::apply_theme)
        .build_ui_state(frame_ui, App::headless(options));
    harness.run_steps(2);
    harness
}

/// One frame of a window that fills its place: the harness would leave a margin around it.
fn frame_ui(ui: &mut egui::Ui, app: &mut App) {
    let rect = ui.ctx().content_rect();
    let mut whole = ui.new_child(egui::UiBuilder::new().max_rect(rect));
    whole.set_clip_rect(rect);
    app.frame_ui(&mut whole);
}

fn window_of(size: Vec2, shelf: Arc<Shelf>) -> Screen {
    window_with(size, options(shelf))
}

fn window_of_machines(size: Vec2, machines: Vec<Machine>) -> Screen {
    let files = Arc::<Shelf>::default();
    window_with(
        size,
        Options {
            machines,
            ..options(files)
        },
    )
}

fn window() -> Screen {
    window_of(LARGE, Arc::default())
}

fn paused() -> Screen {
    paused_with(Arc::<Shelf>::default())
}

/// On the first episode of this machine.
fn paused_on(machine: Machine) -> Screen {
    paused_in(Options {
        machines: vec![machine],
        ..options(Arc::<Shelf>::default())
    })
}

fn paused_with(files: Arc<dyn Files>) -> Screen {
    paused_in(options(files))
}

fn paused_in(options: Options) -> Screen {
    let mut harness = window_with(LARGE, options);
    act(&mut harness, Play::Toggle);
    act(&mut harness, Play::First);
    harness
}

/// On a trace or weights from this file.
fn paused_with_file(path: &str) -> Screen {
    let mut harness = paused();
    open(&mut harness, path);
    harness
}

/// A machine with many rows.
fn big() -> Machine {
    let big = machine("big", 5);
    Machine {
        other_way: None,
        away: false,
        ntm: small(&big.task, 4096, 5),
        ..big
    }
}

fn click(harness: &mut Screen, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(3);
}

fn press(harness: &mut Screen, key: Key) {
    press_with(harness, Modifiers::NONE, key);
}

fn press_with(harness: &mut Screen, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}

fn act(harness: &mut Screen, command: impl Into<Command>) {
    let context = harness.ctx.clone();
    harness.state_mut().apply(&context, vec![command.into()]);
    harness.run_steps(3);
}

/// Trains from scratch.
fn begin_training(harness: &mut Screen, experiment: tapescope::io::Experiment) {
    act(harness, Replacement::Begin(vec![(None, experiment)]));
}

/// Types into the field of this name.
fn type_into(harness: &mut Screen, field: &str, text: &str) {
    harness.get_by_label(field).type_text(text);
    harness.run_steps(2);
}

/// Presses the pointer at one place and lets it go at another.
fn drag(harness: &mut Screen, from: egui::Pos2, to: egui::Pos2) {
    harness.drag_at(from);
    harness.run_steps(2);
    harness.hover_at(to);
    harness.run_steps(2);
    harness.drop_at(to);
    harness.run_steps(2);
}

/// True when something on screen has this label.
fn has(harness: &Screen, label: &str) -> bool {
    harness.query_all_by_label(label).next().is_some()
}

/// True when these words are part of a label.
fn says(harness: &Screen, words: &str) -> bool {
    harness.query_all_by_label_contains(words).next().is_some()
}

/// The episode on screen, and where it came from.
fn shown(harness: &Screen) -> &Arc<RecordedEpisode> {
    &harness.state().session.open.as_ref().unwrap().shown
}

/// The episode on screen.
fn recording(harness: &Screen) -> &Recording {
    &shown(harness).recording
}

/// What comes to the clipboard.
fn copied(harness: &mut Screen) -> String {
    let mut copied = None;
    for _ in 0..3 {
        harness.run_steps(1);
        let commands = &harness.output().platform_output.commands;
        let text = commands.iter().find_map(|command| match command {
            egui::OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        });
        copied = copied.or(text);
    }
    copied.unwrap()
}

/// The stage that the step has come to.
fn stage(harness: &Screen) -> String {
    let app = harness.state();
    let stages = &app.session.open.as_ref().unwrap().facts.stages;
    stages.at(app.player.stage()).name()
}

/// Goes to a stage by its name.
fn to_stage(harness: &mut Screen, name: &str) {
    let stages = &harness.state().session.open.as_ref().unwrap().facts.stages;
    let place = stages.iter().position(|at| at.name() == name).unwrap();
    act(harness, Play::SeekStage(place));
}

fn step(harness: &Screen) -> usize {
    harness.state().player.step()
}

#[test]
fn opens_on_an_episode_and_plays() {
    let mut harness = window();
    assert!(harness.state().player.playing());
    assert_eq!(harness.state().player.steps(), 11);
    harness.run_steps(20);
    assert!((3..=5).contains(&step(&harness)));
    for picture in [
        "input: over time",
        "output: over time",
        "memory: rows down, columns across",
    ] {
        harness.get_by_label(picture);
    }
}

#[test]
fn every_transport_button_does_what_its_label_says() {
    let mut harness = paused();
    for (label, expected) in [
        ("Go to next step", 1),
        ("Go to next step", 2),
        ("Go to previous step", 1),
        ("Go to last step", 10),
        ("Go to next step", 10),
        ("Go to first step", 0),
        ("Go to previous step", 0),
    ] {
        click(&mut harness, label);
        assert_eq!(step(&harness), expected, "{label}");
    }
    click(&mut harness, "Play");
    assert!(harness.state().player.playing());
    click(&mut harness, "Pause");
    assert!(!harness.state().player.playing());
    click(&mut harness, "Toggle loop");
    assert_eq!(harness.state().player.looping(), Loop::All);
    click(&mut harness, "Play faster");
    assert!((harness.state().player.speed() - 8.0).abs() < 1e-9);
    click(&mut harness, "Play slower");
    click(&mut harness, "Play slower");
    assert!((harness.state().player.speed() - 2.0).abs() < 1e-9);
    click(&mut harness, "Reset speed");
    assert!((harness.state().player.speed() - 4.0).abs() < 1e-9);
    click(&mut harness, "Go to stage shift");
    assert_eq!(stage(&harness), "shift");
}

#[test]
fn every_transport_key_does_what_the_list_says() {
    let mut harness = paused();
    for (modifiers, key, expected) in [
        (Modifiers::NONE, Key::ArrowRight, 1),
        (Modifiers::NONE, Key::ArrowLeft, 0),
        (Modifiers::SHIFT, Key::ArrowRight, 10),
        (Modifiers::SHIFT, Key::ArrowLeft, 0),
        (Modifiers::NONE, Key::End, 10),
        (Modifiers::NONE, Key::Home, 0),
    ] {
        press_with(&mut harness, modifiers, key);
        assert_eq!(step(&harness), expected);
    }
    press(&mut harness, Key::Comma);
    assert_eq!(stage(&harness), "add");
    press(&mut harness, Key::Period);
    assert_eq!(stage(&harness), "output");
    press(&mut harness, Key::CloseBracket);
    press(&mut harness, Key::CloseBracket);
    press(&mut harness, Key::OpenBracket);
    assert!((harness.state().player.speed() - 8.0).abs() < 1e-9);
    press(&mut harness, Key::Backslash);
    press(&mut harness, Key::L);
    assert_eq!(harness.state().player.looping(), Loop::All);
    press(&mut harness, Key::Num1);
    assert_eq!(harness.state().view.focus, 0);
    press(&mut harness, Key::Num2);
    assert_eq!(harness.state().view.focus, 1);
    press(&mut harness, Key::Num9);
    assert_eq!(harness.state().view.focus, 1);
    press(&mut harness, Key::Space);
    assert!(harness.state().player.playing());
}

#[test]
fn space_at_end_restarts_playback() {
    let mut harness = paused();
    press(&mut harness, Key::End);
    press(&mut harness, Key::Space);
    assert_eq!(step(&harness), 0);
    assert!(harness.state().player.playing());
}

#[test]
fn request_records_another_episode() {
    let mut harness = paused();
    let input = |harness: &Screen| recording(harness).episode.input.clone();
    let first = input(&harness);
    click(&mut harness, "Go to next seed");
    assert_ne!(input(&harness), first);
    assert_eq!(harness.state().session.request.seed, 2);
    press_with(&mut harness, Modifiers::SHIFT, Key::R);
    assert_eq!(harness.state().session.request.seed, 3);
    press(&mut harness, Key::R);
    assert_eq!(harness.state().session.request.seed, 3);
    assert_eq!(step(&harness), 0);
    click(&mut harness, "More: Length");
    assert_eq!(harness.state().player.steps(), 13);
    click(&mut harness, "Less: Length");
    assert_eq!(harness.state().player.steps(), 11);
    click(&mut harness, "Machine");
    click(&mut harness, "Repeat copy");
    assert_eq!(harness.state().session.request.machine, 1);
    assert_eq!(harness.state().player.steps(), 3 + 1 + 9 + 1);
    click(&mut harness, "More: Repeats");
    assert_eq!(harness.state().player.steps(), 3 + 1 + 12 + 1);
    act(&mut harness, Episode::Rows(64));
    let open = harness.state().session.open.as_ref().unwrap();
    assert_eq!(open.shown.recording.trace.heads[0].initial.width(), 64);
}

#[test]
fn going_to_a_step_takes_numbers_differences_and_phases() {
    let mut harness = paused();
    for (typed, expected) in [
        ("7", 7),
        ("-2", 5),
        ("+3", 8),
        ("+18446744073709551615", 10),
        ("ans", 6),
    ] {
        press(&mut harness, Key::G);
        type_into(&mut harness, "Step", typed);
        press(&mut harness, Key::Enter);
        assert_eq!(step(&harness), expected, "{typed}");
    }
    press(&mut harness, Key::G);
    type_into(&mut harness, "Step", "99");
    click(&mut harness, "Go");
    harness.get_by_label(
        "This episode has no such step or phase. Type a step number, +5, −1 or a phase.",
    );
    press(&mut harness, Key::Escape);
    assert!(!has(&harness, "Step"));
}

#[test]
fn typing_does_not_move_the_play_head() {
    let mut harness = paused();
    press(&mut harness, Key::G);
    press(&mut harness, Key::ArrowRight);
    press(&mut harness, Key::Space);
    assert_eq!(step(&harness), 0);
    assert!(!harness.state().player.playing());
}

#[test]
fn the_theme_can_be_switched() {
    let mut harness = paused();
    assert_eq!(harness.ctx.theme(), Theme::Dark);
    click(&mut harness, "Change theme");
    assert_eq!(harness.ctx.theme(), Theme::Light);
}

#[test]
fn the_list_of_keys_opens_and_closes() {
    let mut harness = paused();
    press(&mut harness, Key::Questionmark);
    harness.get_by_label_contains("at the end, starts again");
    press(&mut harness, Key::Escape);
    assert!(!says(&harness, "at the end, starts again"));
}

#[test]
fn the_trace_is_saved_where_asked() {
    let shelf = Arc::new(Shelf::default());
    let mut harness = window_of(LARGE, shelf.clone());
    press_with(&mut harness, Modifiers::COMMAND, Key::S);
    click(&mut harness, "Save file");
    let saved = shelf.saved.lock().unwrap().clone();
    assert_eq!(saved, [PathBuf::from("copy-length5-seed1.ntmtrace.json")]);
    harness.get_by_label("The trace is saved as copy-length5-seed1.ntmtrace.json.");
}

fn open(harness: &mut Screen, path: &str) {
    press_with(harness, Modifiers::COMMAND, Key::O);
    type_into(harness, "Path", path);
    click(harness, "Open");
}

#[test]
fn a_file_that_cannot_be_opened_leaves_the_session_as_it_was() {
    let mut harness = paused();
    press(&mut harness, Key::ArrowRight);
    let before = harness.state().status();
    open(&mut harness, "nowhere.json");
    harness.get_by_label("nowhere.json does not exist.");
    assert_eq!(harness.state().status(), before);
    assert_eq!(harness.state().session.machines.len(), 2);
    // A problem can be read, and dismissed.
    harness.run_steps(200);
    click(&mut harness, "Dismiss");
    assert!(!has(&harness, "nowhere.json does not exist."));
}

#[test]
fn weights_and_traces_can_be_opened() {
    let mut harness = paused_with_file("other.safetensors");
    assert_eq!(harness.state().session.machines.len(), 3);
    assert_eq!(harness.state().session.request.machine, 2);
    open(&mut harness, "theirs.ntmtrace.json");
    let shown = shown(&harness).clone();
    assert!(shown.machine.is_none());
    assert_eq!(shown.file.as_deref(), Some("theirs.ntmtrace.json"));
    harness.get_by_label("theirs.ntmtrace.json, as recorded");
}

#[test]
fn machines_with_other_heads_are_shown_as_recorded() {
    for name in [
        "0 reads 2 writes",
        "3 reads 0 writes",
        "0 reads 0 writes",
        "2 reads 1 writes, write first",
    ] {
        let mut harness = paused_with_file(name);
        harness.get_by_label(&format!("{name}, as recorded"));
        for key in [
            Key::Period,
            Key::ArrowRight,
            Key::Num1,
            Key::PageDown,
            Key::Num2,
        ] {
            for _ in 0..3 {
                press(&mut harness, key);
                clipping::is_whole(&harness, &format!("{name}, {key:?}"));
            }
        }
        harness.get_by_label(&format!("{name}, as recorded"));
    }
}

#[test]
fn values_that_are_not_finite_are_counted_and_drawn() {
    let mut harness = paused_with_file("broken.json");
    for _ in 0..6 {
        press(&mut harness, Key::ArrowRight);
    }
    harness.get_by_label("2 values are not finite");
}

#[test]
fn typed_length_is_used_or_its_limit_reported() {
    let mut harness = paused();
    act(&mut harness, Episode::Size(1500));
    assert_eq!(harness.state().player.steps(), 3001);
    assert!(!has(&harness, "Note"));
    let shapes = harness.output().shapes.len();
    assert!(shapes < 6000, "{shapes} shapes");
    act(&mut harness, Episode::Size(5000));
    assert_eq!(harness.state().session.request.size, 2000);
    harness.get_by_label("Length 5000 is out of range; set to 2000. Allowed: 1 to 2000.");
    act(&mut harness, Episode::Machine(1));
    act(&mut harness, Episode::Repeats(0));
    harness.get_by_label("Repeats 0 is out of range; set to 1. Allowed: 1 to 200.");
}

#[test]
fn a_typed_length_reaches_the_limit_too() {
    let mut harness = paused();
    let field = harness.get_by_role_and_label(egui::accesskit::Role::SpinButton, "Length");
    field.click();
    harness.run_steps(3);
    harness.event(egui::Event::Text("5000".to_owned()));
    harness.run_steps(2);
    press(&mut harness, Key::Enter);
    assert_eq!(harness.state().session.request.size, 2000);
    harness.get_by_label("Length 5000 is out of range; set to 2000. Allowed: 1 to 2000.");
}

#[test]
fn the_loss_has_a_scale() {
    let harness = paused();
    harness.get_by_label_contains("loss of every step, up to ");
}

#[test]
fn step_description_names_what_heads_do() {
    let mut harness = window_with(LARGE, Options::included(None));
    harness.run_steps(30);
    assert!(harness.state().player.playing() && step(&harness) > 3);
    harness.get_by_label_contains(": from previous weighting (g ");
    assert!(!says(&harness, "bits wrong."));
    harness.get_by_label("Press , and . to step through the stages");
    press(&mut harness, Key::Comma);
    press(&mut harness, Key::Period);
    harness.get_by_label_contains("This step is not scored.");
    press(&mut harness, Key::ArrowRight);
    harness.get_by_label_contains(": from previous weighting (g ");
}

#[test]
fn step_description_fits_smallest_window() {
    let mut harness = window_with(SMALL, Options::included(None));
    harness.run_steps(30);
    let sentence = harness.get_by_label_contains(": from previous weighting (g ");
    let sentence = sentence.rect();
    let heads = harness.get_by_label("Stage content wᶜ").rect();
    assert!(sentence.bottom() <= heads.top() + 1.0, "{sentence} {heads}");
    for picture in ["machine input x", "machine output y", "machine target"] {
        harness.get_by_label(&format!("{picture}: at this step"));
    }
}

#[test]
fn messages_leave_the_vectors_of_the_step_alone() {
    for size in [LARGE, SMALL] {
        let mut harness = window_of(size, Arc::default());
        for path in ["nowhere.json", "nowhere.json", "other.safetensors"] {
            act(&mut harness, File::Open(path.into()));
        }
        harness.run_steps(3);
        assert_eq!(harness.get_all_by_label("Dismiss").count(), 2);
        let dismiss = harness.get_all_by_label("Dismiss").next().unwrap();
        let right = dismiss.rect().right() + 12.0;
        let left = harness.get_by_label("Problem").rect().left() - 12.0;
        // The newest is there, and what went wrong has not given way to it.
        harness.get_by_label("Opened other.safetensors (weights).");
        for picture in ["input x", "output y", "target"] {
            let label = format!("machine {picture}: at this step");
            let picture = harness.get_by_label(&label).rect();
            assert!(right <= picture.left() || left >= picture.right());
        }
    }
}

#[test]
fn small_weights_are_printed_and_strips_are_named() {
    let mut harness = paused();
    harness.get_by_label_contains("largest value of content: .");
    harness.get_by_label("± fixed for the episode · faint match: no write of 5 % yet");
    let words = "colour strips: too many rows for bars";
    assert!(!has(&harness, words));
    act(&mut harness, Episode::Rows(512));
    act(&mut harness, Rows::Fit);
    harness.get_by_label_contains(words);
}

#[test]
fn opened_trace_shows_its_own_description() {
    let mut harness = paused();
    act(&mut harness, Episode::Size(40));
    open(&mut harness, "theirs.ntmtrace.json");
    let length = { recording(&harness).episode.size };
    for fact in ["Task Copy", "Seed 9", "Memory 16 rows"] {
        harness.get_by_label(&format!("{fact}, as recorded"));
    }
    harness.get_by_label(&format!("Length {length}, as recorded"));
    for of_the_machine in ["More: Length", "Go to next seed", "Memory rows"] {
        assert!(!has(&harness, of_the_machine));
    }
    assert!(!says(&harness, "trained on"));
    click(&mut harness, "Record episode");
    harness.get_by_label("More: Length");
    assert!(!says(&harness, "as recorded"));
}

#[test]
fn non_finite_trace_is_reported() {
    let mut harness = paused_with_file("broken.json");
    harness.get_by_label("Opened broken.json: 2 values are not finite.");
    assert!(!has(&harness, "Done"));
    press(&mut harness, Key::Num1);
    harness.get_by_label_contains("entropy, bits H ");
    assert!(has(&harness, "0: a single row · 4: even over all 16 rows"));
    press(&mut harness, Key::ArrowRight);
    harness.get_by_label("entropy, bits H not finite");
    harness.get_by_label("some weights of this step are not finite");
    assert!(!has(&harness, "0: a single row · 4: even over all 16 rows"));
}

#[test]
fn readout_updates_while_pointer_rests() {
    let mut harness = paused();
    let memory = harness.get_by_label("memory: rows down, columns across");
    harness.hover_at(memory.rect().left_top() + Vec2::new(4.0, 4.0));
    harness.run_steps(2);
    let before = harness.state().readout().unwrap().clone();
    assert!(before.place.contains("row 0"), "{}", before.place);
    press(&mut harness, Key::ArrowRight);
    let after = harness.state().readout().unwrap().clone();
    assert_ne!(before, after);
}

#[test]
fn click_in_time_picture_goes_to_its_step() {
    let mut harness = paused();
    for picture in ["input: over time", "adds of W0: over time"] {
        press(&mut harness, Key::Home);
        let rect = harness.get_by_label(picture).rect();
        harness.drag_at(rect.center());
        harness.run_steps(1);
        harness.drop_at(rect.center());
        harness.run_steps(2);
        assert_eq!(step(&harness), 5, "{picture}");
    }
}

#[test]
fn nothing_is_uploaded_while_nothing_changes() {
    let mut harness = paused();
    harness.run_steps(3);
    let before = harness.state().uploads();
    harness.run_steps(10);
    assert_eq!(harness.state().uploads(), before);
    press(&mut harness, Key::ArrowRight);
    let changed = harness.state().uploads() - before;
    assert!((1..=8).contains(&changed), "{changed}");
}

#[test]
fn nothing_is_computed_while_nothing_changes() {
    let mut harness = paused();
    // A pinned value, and the pointer on an answer.
    act(&mut harness, ViewCommand::Select(Target::Row(2)));
    let output = harness.get_by_label_contains("output: over time").rect();
    harness.hover_at(output.center());
    harness.run_steps(3);
    let before = harness.state().computed();
    assert!(before > 3, "{before}");
    harness.run_steps(10);
    assert_eq!(harness.state().computed(), before);
    press(&mut harness, Key::ArrowRight);
    harness.run_steps(3);
    let changed = harness.state().computed() - before;
    assert!((1..=20).contains(&changed), "{changed}");
}

#[test]
fn the_status_line_says_what_happens() {
    let mut harness = paused();
    let status = harness.state().status();
    assert!(
        status.starts_with("step 0 of 10, input phase. R0 reads "),
        "{status}"
    );
    assert!(status.contains(". W0 "), "{status}");
    harness.get_by_label(&status);
    press(&mut harness, Key::Comma);
    assert!(harness.state().status().contains("stage 8 of 9: add"));
    press(&mut harness, Key::End);
    assert!(harness.state().status().starts_with("step 10 of 10, "));
}

#[test]
fn every_size_of_window_can_be_drawn() {
    for size in [
        Vec2::ZERO,
        Vec2::new(1.0, 1.0),
        Vec2::new(220.0, 180.0),
        SMALL,
        Vec2::new(3840.0, 2160.0),
    ] {
        let mut harness = window_of(size, Arc::default());
        harness.run_steps(4);
        clipping::is_whole_or_finite(&harness, size);
        press(&mut harness, Key::U);
        press(&mut harness, Key::Questionmark);
        clipping::is_whole_or_finite(&harness, size);
    }
}

/// A machine with as many read and as many write heads.
fn many_heads(each: usize) -> Machine {
    let mut machine = machine("many", 3);
    let mut config = machine.ntm.config.ntm().unwrap().clone();
    (config.read_heads, config.write_heads) = (each, each);
    machine.ntm = Model::new(config, 3);
    machine
}

#[test]
fn two_heads_expand_and_all_heads_view_works() {
    let mut harness = paused_on(many_heads(2));
    harness.get_by_label("W0  ADDRESSING");
    harness.get_by_label_contains("W0 sharpen: ");
    harness.get_by_label_contains("W0 moves: row ");
    assert!(!says(&harness, "R0 sharpen: "));
    act(&mut harness, ViewCommand::Pin(0));
    harness.get_by_label_contains("R0 sharpen: ");
    harness.get_by_label_contains("W0 sharpen: ");
    harness.get_by_label_contains("W1 now: ");
    // Looking at the pinned head exchanges the two.
    press(&mut harness, Key::Num1);
    assert_eq!(
        (harness.state().view.focus, harness.state().view.pinned),
        (0, Some(2))
    );
    act(&mut harness, ViewCommand::Pin(2));
    assert_eq!(harness.state().view.pinned, None);
    press(&mut harness, Key::Num0);
    harness.get_by_label("FINAL WEIGHTING OF ALL 4 HEADS");
    assert!(!says(&harness, "R0 sharpen: "));
    for head in ["R0", "R1", "W0", "W1"] {
        harness.get_by_label_contains(&format!("{head} now: "));
        harness.get_by_label_contains(&format!("{head} emits β "));
    }
    click(&mut harness, "Mark of W1");
    assert_eq!(
        (harness.state().view.focus, harness.state().view.all_heads),
        (3, false)
    );
}

#[test]
fn many_heads_are_thumbnails_to_choose_from() {
    let mut harness = paused_on(many_heads(8));
    let thumbnails = harness.get_all_by_label_contains("thumbnail of ");
    assert_eq!(thumbnails.count(), 15);
    click(&mut harness, "thumbnail of R3: memory rows over time");
    assert_eq!(harness.state().view.focus, 3);
    // A second head is not expanded where it could not be read.
    act(&mut harness, ViewCommand::Pin(9));
    harness.set_size(Vec2::new(700.0, 600.0));
    harness.run_steps(2);
    harness.get_by_label("R3  NO ROOM FOR W1");
}

#[test]
fn every_clicked_item_has_a_card() {
    let mut harness = paused();
    act(&mut harness, Play::Seek(8));
    act(&mut harness, ViewCommand::Focus(1));
    for (picture, title) in [
        ("W0 key k: at this step", "W0 key k column "),
        ("W0 erase e: at this step", "W0 erase e column "),
        ("W0 add a: at this step", "W0 add a column "),
        ("machine input x: at this step", "input x channel "),
        ("machine output y: at this step", "output y channel "),
        ("reads of R0: over time", "R0 read r column "),
        ("Pin W0", "W0, a write head"),
    ] {
        click(&mut harness, picture);
        let card = harness.state().card().unwrap();
        assert!(card.title.starts_with(title), "{picture}: {}", card.title);
        harness.get_by_label(&card.title);
    }
    let card = harness.state().card().unwrap();
    press(&mut harness, Key::ArrowLeft);
    assert_ne!(harness.state().card().unwrap().lines, card.lines);
}

#[test]
fn a_right_click_copies_a_value_a_line_a_column_or_all() {
    let mut harness = paused();
    harness
        .get_by_label("memory: rows down, columns across")
        .click_secondary();
    harness.run_steps(3);
    harness.get_by_label_contains("Copy value (row ");
    harness.get_by_label("Copy all 16 × 6 as JSON");
    harness.get_by_label("Copy all 16 × 6 as NumPy").click();
    let copied = copied(&mut harness);
    assert!(copied.starts_with("# row, column 0, column 1"), "{copied}");
    assert_eq!(copied.lines().count(), 17);
    harness.get_by_label_contains("copied: all 16 × 6 as NumPy.");
}

#[test]
fn a_narrow_window_has_the_numbers_in_a_drawer() {
    let mut harness = window_of(SMALL, Arc::default());
    let title = "Click a value in any picture to pin it.";
    assert!(!has(&harness, title));
    click(&mut harness, "Toggle numbers panel");
    harness.get_by_label(title);
    press(&mut harness, Key::Escape);
    assert!(!has(&harness, title));
}

#[test]
fn the_part_to_loop_is_drawn_and_dragged_on_the_ruler() {
    let mut harness = paused();
    let ruler = harness
        .get_by_label("Ruler: phases and steps of the episode")
        .rect();
    let at = |step: f32| {
        let x = ruler.left() + (step + 0.5) / 11.0 * ruler.width();
        egui::pos2(x, ruler.top() + 8.0)
    };
    drag(&mut harness, at(2.0), at(6.0));
    assert_eq!(harness.state().player.range(), Some((2, 6)));
    assert_eq!(step(&harness), 0);
    let handle = harness.get_by_label("Loop end").rect().center();
    drag(&mut harness, handle, at(8.0));
    assert_eq!(harness.state().player.range(), Some((2, 8)));
    harness.get_by_label("Movement of W0: over time");
    harness.get_by_label("Movement of R0: over time");
}

#[test]
fn the_input_is_edited_by_keys_and_clicks() {
    let mut harness = paused();
    let input = |harness: &Screen, step: usize, channel: usize| {
        let open = harness.state().session.open.as_ref().unwrap();
        let episode = &open.shown.recording.episode;
        (
            episode.input[[step, channel]],
            episode.target[[step + 6, channel]],
        )
    };
    let before = input(&harness, 2, 1);
    press(&mut harness, Key::E);
    for key in [Key::ArrowRight, Key::ArrowRight, Key::ArrowDown] {
        press(&mut harness, key);
    }
    harness.get_by_label_contains("editing input: step 2, channel 1; ");
    press(&mut harness, Key::Space);
    assert!(!harness.state().player.playing());
    assert_eq!(step(&harness), 2);
    let after = input(&harness, 2, 1);
    assert_eq!(after, (1.0 - before.0, 1.0 - before.1));
    harness.get_by_label("1 bit differs from the seed's input");
    // The same weights see the same bits on other rows.
    act(&mut harness, Episode::Rows(64));
    assert_eq!(input(&harness, 2, 1), after);
    click(&mut harness, "Input bits: click to flip one, drag to paint");
    harness.get_by_label("Only input bits of the task can be changed.");
    press(&mut harness, Key::Escape);
    press(&mut harness, Key::ArrowRight);
    assert!(harness.state().mark().is_none());
    act(&mut harness, Episode::NextSeed);
    assert!(harness.state().session.request.flipped.is_empty());
}

#[test]
fn missing_trace_arrays_are_reported() {
    let harness = paused_with_file("partial.json");
    harness.get_by_label("2 arrays missing:");
    harness.get_by_label("memory, read0.key");
}

#[test]
fn derived_values_are_marked_as_computed() {
    let mut harness = paused_with_file("computed.json");
    harness.get_by_label("1 array computed from recorded arrays:");
    harness.get_by_label("read0.content");
    harness.get_by_label("1 array missing:");
    harness.get_by_label("read0.key");
    press(&mut harness, Key::Num1);
    let labels: Vec<String> = harness
        .root()
        .children_recursive()
        .filter_map(|node| node.accesskit_node().label())
        .filter(|label| label.contains("computed from recorded arrays"))
        .collect();
    let [label] = &labels[..] else {
        panic!("{labels:?}");
    };
    assert!(label.starts_with("R0 content"), "{label}");
}

#[test]
fn window_without_machines_shows_instructions() {
    let mut harness = window_with(SMALL, Options::default());
    harness.run_steps(1);
    harness.get_by_label("Open a trace or weights with Ctrl+O, or drop a file here.");
}

#[test]
fn a_large_memory_costs_little_per_frame() {
    let mut harness = paused_on(big());
    press_with(&mut harness, Modifiers::SHIFT, Key::R);
    press(&mut harness, Key::Z);
    let shapes = harness.output().shapes.len();
    assert!(shapes < 3000, "{shapes} shapes");
    // A step changes what is of the step, not what is over time, and at most as many pixels as there are.
    let (uploads, bytes) = (harness.state().uploads(), harness.state().uploaded_bytes());
    press(&mut harness, Key::ArrowRight);
    let uploads = harness.state().uploads() - uploads;
    let bytes = harness.state().uploaded_bytes() - bytes;
    assert!((1..=20).contains(&uploads), "{uploads} uploads");
    assert!(bytes < 64 << 10, "{bytes} bytes");
    // Nothing changes, nothing is uploaded.
    let before = harness.state().uploads();
    harness.run_steps(3);
    assert_eq!(harness.state().uploads(), before);
}

#[test]
fn large_memory_scrolls_follows_and_selects() {
    let mut harness = paused_on(big());
    press_with(&mut harness, Modifiers::SHIFT, Key::R);
    press(&mut harness, Key::Z);
    let map = "all rows: drag to move the rows on screen";
    assert!(!has(&harness, map));
    press(&mut harness, Key::F);
    harness.get_by_label(map);
    assert!(harness.state().follows());
    act(&mut harness, Rows::Scroll(1000.0));
    assert!(!harness.state().follows());
    assert!(harness.state().view.row_zoom.first >= 1000);
    act(&mut harness, Rows::Centre(2000));
    let first = harness.state().view.row_zoom.first;
    assert!((1900..2000).contains(&first), "{first}");
    // The selection walks round the end and is brought on screen.
    act(&mut harness, ViewCommand::Select(Target::Row(4095)));
    press(&mut harness, Key::ArrowDown);
    assert_eq!(harness.state().card().unwrap().title, "W0 row 0");
    assert_eq!(harness.state().view.row_zoom.first, 0);
    press(&mut harness, Key::ArrowUp);
    assert_eq!(harness.state().card().unwrap().title, "W0 row 4095");
    let height = harness.state().view.row_zoom.height.unwrap();
    press(&mut harness, Key::Plus);
    assert!(harness.state().view.row_zoom.height.unwrap() > height);
    press(&mut harness, Key::N);
    harness.get_by_label("log scale, 1e−6 to 1");
    for _ in 0..6 {
        press(&mut harness, Key::Minus);
    }
    assert!(!has(&harness, map));
}

#[test]
fn saved_trace_reopens_identically() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("episode.ntmtrace.json");
    let mut harness = paused_with(Arc::new(Disk));
    let status = harness.state().status();
    let recorded = shown(&harness).clone();
    act(&mut harness, File::Save(path.clone(), false));
    harness.get_by_label(&format!("The trace is saved as {}.", path.display()));
    press_with(&mut harness, Modifiers::SHIFT, Key::R);
    act(&mut harness, File::Open(path.clone()));
    let opened = shown(&harness).clone();
    assert!(opened.machine.is_none() && opened.file.is_some());
    assert_eq!(opened.recording.trace.heads, recorded.recording.trace.heads);
    assert_eq!(harness.state().status(), status);
    // What came from a file can be saved again, byte for byte.
    let again = folder.path().join("again.ntmtrace.json");
    act(&mut harness, File::Save(again.clone(), false));
    assert_eq!(std::fs::read(path).unwrap(), std::fs::read(again).unwrap());
    // A file that is no trace leaves everything as it is.
    let broken = folder.path().join("broken.ntmtrace.json");
    std::fs::write(&broken, "{\"format\": 3}").unwrap();
    act(&mut harness, File::Open(broken));
    harness.get_by_label("Problem");
    assert_eq!(harness.state().status(), status);
}

#[test]
fn included_machines_are_shown() {
    let mut harness = window_with(LARGE, Options::included(None));
    harness.run_steps(5);
    let state = harness.state();
    assert_eq!(state.session.machines[0].task.name(), "copy");
    assert_eq!(state.player.steps(), 41);
    let open = state.session.open.as_ref().unwrap();
    assert_eq!(open.shown.recording.score.wrong, 0);
}

#[test]
fn requested_machine_is_shown_first() {
    let options = Options::included(None).with_first("associative_recall");
    assert_eq!(options.machines[0].name, "associative_recall");
    assert_eq!(
        options.machines[1].name, "copy",
        "the others keep their order"
    );
    let harness = window_with(LARGE, options);
    harness.get_by_label_contains("Associative recall");
}

#[test]
fn too_large_episode_is_refused_with_message() {
    let mut harness = paused();
    act(&mut harness, Episode::Size(200));
    let before = harness.state().status();
    act(&mut harness, Episode::Rows(1 << 20));
    harness.get_by_label("Problem");
    assert_eq!(harness.state().status(), before);
    // What is asked for is again what is on screen.
    let request = &harness.state().session.request;
    assert_eq!((request.rows, request.size), (16, 200));
    act(&mut harness, Episode::NextSeed);
    assert_ne!(harness.state().status(), before);
    let request = &harness.state().session.request;
    assert_eq!((request.rows, request.size, request.seed), (16, 200, 2));
}

#[test]
fn too_large_first_machine_is_refused_once() {
    let mut options = options(Arc::<Shelf>::default());
    let machine = &mut options.machines[0].ntm;
    let mut config = machine.config.ntm().unwrap().clone();
    (config.rows, config.columns) = (1 << 20, 4096);
    *machine = Model::new(config, 1);
    let mut harness = window_with(LARGE, options);
    harness.run_steps(20);
    assert_eq!(harness.get_all_by_label("Problem").count(), 1);
    assert!(harness.state().session.open.is_none());
    harness.get_by_label("Open a trace or weights with Ctrl+O, or drop a file here.");
    // With fewer rows it can be shown.
    act(&mut harness, Episode::Rows(64));
    let open = harness.state().session.open.as_ref().unwrap();
    assert_eq!(open.shown.recording.trace.heads[0].initial.width(), 64);
}

#[test]
fn window_opens_requested_content() {
    for file in ["theirs.ntmtrace.json", "other.safetensors"] {
        let shelf = Shelf::default();
        let path = PathBuf::from(file);
        let opened = shelf
            .open(&path, &|_, _| ControlFlow::Continue(()))
            .unwrap();
        let mut options = options(Arc::new(shelf));
        options.open = Some((path, Some(opened)));
        let mut harness = window_with(LARGE, options);
        harness.run_steps(2);
        let state = harness.state();
        let trace = file.starts_with("theirs");
        assert_eq!(state.session.open.as_ref().unwrap().is_of_a_file(), trace);
        assert_eq!(state.session.machines.len(), if trace { 2 } else { 3 });
        harness.get_by_label_contains(&format!("Opened {file} ("));
    }
}

#[test]
fn a_task_with_items_says_items() {
    let task = Task::AssociativeRecall(AssociativeRecall {
        bits: 3,
        item_length: 2,
        items: 2..=4,
        ..AssociativeRecall::PAPER
    });
    let recall = Machine {
        other_way: None,
        away: false,
        name: "recall".to_owned(),
        title: "Associative recall".to_owned(),
        ntm: small(&task, 16, 2),
        task,
    };
    let ngrams = Task::Ngrams(Ngrams {
        context: 2,
        length: 20..=20,
    });
    let predicting = Machine {
        other_way: None,
        away: false,
        name: "ngrams".to_owned(),
        title: "N-grams".to_owned(),
        ntm: small(&ngrams, 16, 2),
        task: ngrams,
    };
    let mut harness = window_of_machines(LARGE, vec![recall, predicting]);
    harness.get_by_label("trained on 2 to 4 items");
    click(&mut harness, "More: Items");
    harness.get_by_label("beyond training: trained on 2 to 4 items");
    assert_eq!(harness.state().session.request.size, 5);
    act(&mut harness, Episode::Size(1));
    harness.get_by_label("Items 1 is out of range; set to 2. Allowed: 2 to 2000.");
    assert_eq!(
        harness.state().session.title(),
        "Associative recall, items 2, seed 1 – Tapescope"
    );
    assert_eq!(
        harness.state().session.file_name(),
        "associative_recall-items2-seed1.ntmtrace.json"
    );
    act(&mut harness, Episode::Machine(1));
    harness.get_by_label("trained on length 20");
    assert_eq!(harness.state().player.steps(), 20);
    harness.get_by_label("More: Length");
}

/// A plain stacked LSTM.
fn baseline(layers: usize, size: usize) -> Machine {
    let task = Task::Copy(Copy {
        bits: 4,
        length: 1..=5,
    });
    let mut config = NtmConfig::new(task.inputs(), task.outputs());
    (config.read_heads, config.write_heads) = (0, 0);
    (config.rows, config.columns) = (1, 1);
    (config.controller.layers, config.controller.size) = (layers, size);
    Machine {
        other_way: None,
        away: false,
        name: "lstm".to_owned(),
        title: "Copy, LSTM".to_owned(),
        ntm: Model::new(config, 3),
        task,
    }
}

#[test]
fn a_machine_without_heads_shows_its_units() {
    let mut harness = paused_on(baseline(2, 12));
    for picture in [
        "cell of layer 0: over time",
        "hidden of layer 1: over time",
        "layer 0 forget gate f: all units at this step",
        "layer 1 output gate o: all units at this step",
    ] {
        harness.get_by_label(picture);
    }
    harness.get_by_label("LSTM WITHOUT EXTERNAL MEMORY");
    harness.get_by_label_contains("The units are the only memory");
    for word in ["head", "Head", "memory rows", "Memory rows", "weighting"] {
        assert!(
            harness.query_all_by_label_contains(word).next().is_none(),
            "{word}"
        );
    }
    press(&mut harness, Key::ArrowRight);
    let status = harness.state().status();
    assert!(status.contains(" changes most: "), "{status}");
    // Two stages: the network, the answer.
    press(&mut harness, Key::Comma);
    assert_eq!(stage(&harness), "controller");
    assert!(says(&harness, "New input: "));
    press(&mut harness, Key::Comma);
    assert_eq!((step(&harness), stage(&harness).as_str()), (0, "output"));
    press(&mut harness, Key::Num1);
    press_with(&mut harness, Modifiers::SHIFT, Key::R);
    assert!(!has(&harness, "Problem"));
    let selection = "layer 0 cell c: all units at this step";
    click(&mut harness, selection);
    harness.get_by_label_contains("Layer 0 unit ");
}

#[test]
fn many_layers_and_units_fit_any_window() {
    for size in [Vec2::new(300.0, 200.0), SMALL] {
        let mut harness = window_of_machines(size, vec![baseline(16, 64)]);
        harness.run_steps(4);
        clipping::is_whole_or_finite(&harness, size);
    }
}

/// A number of the last card with this symbol.
fn line(harness: &Screen, symbol: &str) -> (String, String) {
    let card = harness.state().card().unwrap();
    let line = card
        .lines
        .iter()
        .rfind(|line| line.symbol == symbol)
        .unwrap();
    (line.sum.clone(), line.value.clone())
}

#[test]
fn pinned_value_stays_and_updates() {
    let mut harness = paused();
    click(&mut harness, "memory: rows down, columns across");
    let card = harness.state().card().unwrap();
    assert!(card.title.starts_with("M row "), "{}", card.title);
    harness.get_by_label(&card.title);
    assert!(line(&harness, "Mₜ").0.contains("· (1 − "));
    press(&mut harness, Key::ArrowRight);
    assert_ne!(harness.state().card().unwrap().lines, card.lines);
    assert_eq!(harness.state().card().unwrap().title, card.title);
    press(&mut harness, Key::Escape);
    assert!(harness.state().card().is_none());
}

#[test]
fn row_card_shows_equations() {
    let mut harness = paused();
    press(&mut harness, Key::Num2);
    act(&mut harness, ViewCommand::Select(Target::Row(3)));
    harness.get_by_label("W0 row 3");
    let (open, step) = (
        harness.state().session.open.clone().unwrap(),
        step(&harness),
    );
    let head = &open.shown.recording.trace.heads[1];
    assert_eq!(
        line(&harness, "w").1,
        head.weighting.row(step)[3].to_string()
    );
    let (sum, value) = line(&harness, "wᶜ");
    let parts: Vec<f32> = sum
        .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '−'))
        .filter(|part| part.chars().any(|c| c.is_ascii_digit()))
        .map(|part| part.replace('−', "-").parse().unwrap())
        .collect();
    let [beta, similarity, most, total] = parts[..] else {
        panic!("{sum}");
    };
    let content = (beta * (similarity - most)).exp() / total;
    assert!(
        (content - value.parse::<f32>().unwrap()).abs() < 1e-3,
        "{sum} = {value}"
    );
}

#[test]
fn card_table_can_be_copied() {
    let mut harness = paused();
    harness.event(egui::Event::Copy);
    let text = copied(&mut harness);
    assert!(text.starts_with("row\tbefore\tsimilarity\tcontent\tgated\tshifted\tweighting\n0\t"));
    assert_eq!(text.lines().count(), 17);
    harness.run_steps(1);
    harness.get_by_label("16 rows and 7 columns copied as TSV.");
    act(&mut harness, ViewCommand::Select(Target::Step));
    harness.get_by_label("Copy NumPy").click();
    let text = copied(&mut harness);
    assert!(
        text.starts_with("# channel, output, target\nnp.array([[0, "),
        "{text}"
    );
}

#[test]
fn a_part_of_the_episode_can_be_looped() {
    let mut harness = paused();
    act(&mut harness, Play::Seek(3));
    press(&mut harness, Key::I);
    act(&mut harness, Play::Seek(4));
    press(&mut harness, Key::O);
    harness.get_by_label("loop from step 3 to step 4");
    press(&mut harness, Key::Space);
    for _ in 0..20 {
        harness.run_steps(3);
        assert!((3..=4).contains(&step(&harness)));
    }
    press(&mut harness, Key::L);
    assert_eq!(harness.state().player.looping(), Loop::Off);
}

#[test]
fn events_are_where_the_phases_begin_and_bits_are_wrong() {
    let mut harness = paused();
    let open = harness.state().session.open.clone().unwrap();
    let recording = &open.shown.recording;
    let answer = recording.episode.phases.last().unwrap().start;
    press(&mut harness, Key::End);
    press(&mut harness, Key::PageDown);
    assert_eq!(step(&harness), 10);
    let mut seen = vec![10];
    while step(&harness) > 0 {
        let before = step(&harness);
        press(&mut harness, Key::PageUp);
        assert!(step(&harness) < before);
        seen.push(step(&harness));
    }
    assert!(seen.contains(&answer) && seen.contains(&0), "{seen:?}");
    press(&mut harness, Key::PageDown);
    assert!(step(&harness) > 0);
}

#[test]
fn head_parameters_are_plotted_over_time() {
    let harness = paused();
    for line in [
        "W0 gate, 0 to 1.0: over time",
        "W0 expected shift, −1 to 1.0: over time",
        "W0 entropy of w, bits, 0 to 4.0: over time",
    ] {
        let value = harness.get_by_label(line).accesskit_node().value();
        assert!(
            value.is_some_and(|value| value.ends_with(" in step 0")),
            "{line}"
        );
    }
    let low = window_of(SMALL, Arc::default());
    let line = low.query_by_label_contains("gate, 0 to 1.0");
    assert!(line.is_none());
}

#[test]
fn v_switches_to_paper_layout_and_back() {
    let mut harness = paused();
    let panels = [
        "Inputs: received by the machine",
        "Outputs: probability of a 1",
        "Adds: a of W0",
        "Reads: r of R0",
        "Write weightings: w of W0",
        "Read weightings: w of R0",
    ];
    for layout in [WindowLayout::Paper, WindowLayout::PaperDown] {
        press(&mut harness, Key::V);
        assert_eq!(harness.state().layout(), layout);
        for panel in panels {
            harness.get_by_label(panel);
        }
    }
    press(&mut harness, Key::V);
    assert_eq!(harness.state().layout(), WindowLayout::CloseUp);
    press(&mut harness, Key::V);
    assert_eq!(harness.state().layout(), WindowLayout::Debug);
    assert!(!has(&harness, panels[0]));
    harness.get_by_label("input: over time");
}

#[test]
fn a_click_in_the_figure_goes_to_its_step() {
    let mut harness = paused();
    press(&mut harness, Key::V);
    click(&mut harness, "Write weightings: w of W0");
    // In the middle of eleven steps.
    assert_eq!(step(&harness), 5);
    let readout = harness.state().readout().unwrap();
    assert!(readout.place.starts_with("W0  step 5  row "));
}

#[test]
fn figure_format_follows_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = paused_with(Arc::new(Disk));
    let path = |name: &str| folder.path().join(name);
    for name in ["figure.svg", "figure.png", "figure.gif"] {
        act(&mut harness, File::Save(path(name), false));
    }
    let read = |name: &str| std::fs::read(path(name)).unwrap();
    assert!(read("figure.svg").starts_with(b"<svg "));
    assert!(read("figure.png").starts_with(b"\x89PNG"));
    assert!(read("figure.gif").starts_with(b"GIF89a"));
    let debug = read("figure.svg");
    press(&mut harness, Key::V);
    let save = Command::File(File::Save(path("figure.svg"), true));
    act(&mut harness, save);
    assert_ne!(read("figure.svg"), debug, "what is on screen is saved");
    let said = harness.query_all_by_label_contains("The figure is saved as ");
    assert!(said.count() > 0);
}

#[test]
fn figure_shortcuts_suggest_a_name() {
    let (png, svg) = (
        Modifiers::COMMAND | Modifiers::SHIFT,
        Modifiers::COMMAND | Modifiers::ALT,
    );
    for (modifiers, name) in [
        (png, "copy-length5-seed1.png"),
        (svg, "copy-length5-seed1.svg"),
    ] {
        let shelf = Arc::<Shelf>::default();
        let mut harness = paused_with(shelf.clone());
        press_with(&mut harness, modifiers, Key::E);
        harness.get_by_label("Save figure");
        click(&mut harness, "Save file");
        let saved = shelf.saved.lock().unwrap().clone();
        assert_eq!(saved, [PathBuf::from(name)]);
    }
}

#[test]
fn unrecorded_values_are_reported_not_guessed() {
    let mut harness = paused_with_file("weightings.json");
    act(&mut harness, Play::Last);
    let state = harness.state();
    assert_eq!(state.session.open.as_ref().unwrap().non_finite, 0);
    assert!(state.status().contains("W0 writes"), "{}", state.status());
    assert!(!state.status().contains("shift"), "{}", state.status());
    for words in ["loss not recorded", "2 arrays missing:"] {
        harness.get_by_label(words);
    }
    for name in ["NaN", "not finite", "the write is negligible"] {
        let found = harness.root().children_recursive().any(|node| {
            let node = node.accesskit_node();
            [node.label(), node.value()]
                .iter()
                .flatten()
                .any(|text| text.contains(name))
        });
        assert!(!found, "{name}");
    }
    let picture = harness.get_by_label_contains("memory: rows down").rect();
    harness.hover_at(picture.center());
    harness.run_steps(2);
    assert_eq!(harness.state().readout().unwrap().value, "not recorded");
}

#[test]
fn the_list_of_events_goes_to_their_steps() {
    let mut harness = paused();
    let events = harness
        .state()
        .session
        .open
        .clone()
        .unwrap()
        .facts
        .events
        .clone();
    let event = events.iter().find(|event| event.step > 3).unwrap();
    click(
        &mut harness,
        &format!("Go to step {}: {}", event.step, event.words),
    );
    assert_eq!(step(&harness), event.step);
    let passed = events
        .iter()
        .filter(|other| other.step <= event.step)
        .count();
    harness.get_by_label(&format!("{passed} of {}; PgUp, PgDn", events.len()));
}

#[test]
fn click_in_paper_layout_pins_value() {
    let mut harness = paused();
    act(&mut harness, ViewCommand::NextLayout);
    let mut click_in = |picture: &str| {
        let picture = harness.get_by_label_contains(picture).rect();
        let place = picture.left_top() + Vec2::new(picture.width() * 0.5, picture.height() * 0.3);
        harness.hover_at(place);
        harness.run_steps(2);
        for pressed in [true, false] {
            harness.event(egui::Event::PointerButton {
                pos: place,
                button: egui::PointerButton::Primary,
                pressed,
                modifiers: Modifiers::NONE,
            });
            harness.run_steps(2);
        }
        harness
            .state()
            .card()
            .map(|card| card.title)
            .unwrap_or_default()
    };
    assert!(click_in("Read weightings").starts_with("R0 row"));
    assert!(click_in("Write weightings").starts_with("W0 row"));
    assert!(click_in("Reads").starts_with("R0 read r column"));
    assert!(click_in("Adds").starts_with("W0 add a column"));
    assert!(click_in("Inputs").starts_with("input x channel"));
    assert!(click_in("Outputs").starts_with("output y channel"));
}

#[test]
fn new_episode_after_trace_names_its_machine() {
    let mut harness = paused_with_file("theirs.ntmtrace.json");
    act(&mut harness, Episode::NextSeed);
    harness.get_by_label_contains("New episode of Copy first");
}
