//! What a frame of the window costs: the ui and its triangles, without a graphics card.
//!
//! `cargo bench --bench frames`, best alone on one core: `chrt -f 50 taskset -c 1 cargo bench --bench frames`.

use std::sync::Arc;
use std::time::Instant;

use egui::{Context, Event, Pos2, RawInput, Rect, Vec2, pos2};
use tapescope::io::Experiment;
use tapescope::learn::{Run, RunProgress, RunUpdate, Snapshots};
use tapescope::model::{EquationsConfig, Model, ModelConfig, NtmConfig};
use tapescope::task::{Copy, Task};
use tapescope::train::{AuxLosses, Quantity, State, Update};
use tapescope::viewer::command::{Edit, Episode, Learn, List, Play, Rows, ViewCommand};
use tapescope::viewer::{App, Command, Machine, NoFiles, Options, RunUpdates, WindowLayout};

/// Frames measured of each kind.
const FRAMES: usize = 60;

fn app(rows: usize, columns: usize, length: usize) -> App {
    let mut config = NtmConfig::new(1, 1);
    (config.rows, config.columns) = (rows, columns);
    config.controller.size = 32;
    app_of(config.into(), length)
}

/// A machine that copies vectors of eight bits.
fn app_of(mut config: ModelConfig, length: usize) -> App {
    let task = Task::Copy(Copy {
        bits: 8,
        length: length..=length,
    });
    config.set_channels(task.inputs(), task.outputs());
    let machine = Machine {
        other_way: None,
        away: false,
        name: "bench".to_owned(),
        title: "Bench".to_owned(),
        ntm: Model::new(config, 1),
        task,
    };
    App::headless(Options {
        machines: vec![machine],
        files: Arc::new(NoFiles),
        seed: Some(1),
        ..Options::default()
    })
}

/// One frame: its time in milliseconds, its shapes, and the bytes of the textures that changed.
fn frame(ctx: &Context, app: &mut App, pointer: Pos2) -> (f64, usize, usize) {
    let input = RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, Vec2::new(1440.0, 900.0))),
        events: vec![Event::PointerMoved(pointer)],
        max_texture_side: Some(8192),
        ..RawInput::default()
    };
    let start = Instant::now();
    let output = ctx.run_ui(input, |ui| app.frame_ui(ui));
    let shapes = output.shapes.len();
    let triangles = ctx.tessellate(output.shapes, output.pixels_per_point);
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    std::hint::black_box(triangles);
    let images = output.textures_delta.set.iter();
    let deltas = images.flat_map(|(_, deltas)| deltas);
    let bytes = deltas.map(|delta| delta.image.width() * delta.image.height() * 4);
    (milliseconds, shapes, bytes.sum())
}

fn report(name: &str, frames: &[(f64, usize, usize)]) {
    let mut times: Vec<_> = frames.iter().map(|frame| frame.0).collect();
    times.sort_by(f64::total_cmp);
    let hundredth = |part: usize| times[(times.len() - 1) * part / 100];
    let [median, late, worst] = [50, 95, 100].map(hundredth);
    let shapes = frames.iter().map(|frame| frame.1).max().unwrap_or(0);
    let bytes = frames.iter().map(|frame| frame.2).max().unwrap_or(0);
    println!(
        "{name:<56} {median:8.2} {late:8.2} {worst:8.2} {shapes:8} {:8}",
        bytes / 1024
    );
}

fn measure(rows: usize, columns: usize, length: usize) {
    let ctx = Context::default();
    tapescope::viewer::apply_theme(&ctx);
    let mut app = app(rows, columns, length);
    let steps = app.player.steps();
    app.apply(&ctx, vec![Command::Play(Play::Toggle)]);
    let nowhere = pos2(5.0, 5.0);
    for (kind, command) in [
        ("all rows", Some(Command::Rows(Rows::Fit))),
        ("a window of them", Some(Command::Rows(Rows::ToggleFollow))),
    ] {
        app.apply(&ctx, command.into_iter().collect());
        for _ in 0..5 {
            frame(&ctx, &mut app, nowhere);
        }
        let name = |what: &str| format!("{rows}×{columns}, {steps} steps, {kind}, {what}");
        let still = (0..FRAMES).map(|_| frame(&ctx, &mut app, nowhere));
        report(&name("still"), &still.collect::<Vec<_>>());
        report(&name("moving"), &steps_moving(&ctx, &mut app));
        let name = format!("{rows}×{columns}, {steps} steps, {kind}, stages moving");
        report(&name, &stages_moving(&ctx, &mut app));
    }
    let name = |what: &str| format!("{rows}×{columns}, {steps} steps, {what}, moving");
    for list in [List::Instructions, List::Provenance, List::Events] {
        app.apply(&ctx, vec![ViewCommand::List(list).into()]);
        report(&name(list.name()), &steps_moving(&ctx, &mut app));
    }
    app.apply(
        &ctx,
        vec![Edit::Intervene("0:read0.gate=1".to_owned()).into()],
    );
    while app.pair().is_none() {
        frame(&ctx, &mut app, nowhere);
    }
    report(&name("branch"), &steps_moving(&ctx, &mut app));
    app.apply(&ctx, vec![Edit::EndBranch.into()]);
    while app.pair().is_some() {
        frame(&ctx, &mut app, nowhere);
    }
    // Paper, paper with row 0 at the top, close-up.
    app.apply(&ctx, vec![Command::View(ViewCommand::NextLayout); 3]);
    assert_eq!(app.layout(), WindowLayout::CloseUp);
    for pinned in [None, Some(0)] {
        let pin = pinned.map(|head| Command::View(ViewCommand::Pin(head)));
        app.apply(&ctx, pin.into_iter().collect());
        let heads = if pinned.is_some() { 2 } else { 1 };
        let name = format!("{rows}×{columns}, {steps} steps, close-up of {heads}, moving");
        report(&name, &stages_moving(&ctx, &mut app));
    }
}

/// The close-up of a file with this many statements, each of which reads the two before it.
fn measure_statements(count: usize) {
    let line = |index: usize| {
        let [one, other] = [index.saturating_sub(1), index.saturating_sub(2)];
        format!("  h_{index} = tanh(h_{one} + 0.5 * h_{other})\n")
    };
    let lines: String = (1..count).map(line).collect();
    let text = format!(
        "machine \"bench\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize units = 64 in 1..4096 \"units\"\n\
         along steps\n  h_0 = linear[units](x)\n{lines}  z = linear[outputs](h_{})\n",
        count - 1
    );
    let config = EquationsConfig::of_file("bench.machine", &text).unwrap();
    let ctx = Context::default();
    tapescope::viewer::apply_theme(&ctx);
    let mut app = app_of(config.into(), 20);
    while app.layout() != WindowLayout::CloseUp {
        app.apply(&ctx, vec![Command::View(ViewCommand::NextLayout)]);
    }
    frame(&ctx, &mut app, pos2(5.0, 5.0));
    let name = format!("a file of {count} statements, close-up, moving");
    report(&name, &stages_moving(&ctx, &mut app));
}

/// Frames that each show another step.
fn steps_moving(ctx: &Context, app: &mut App) -> Vec<(f64, usize, usize)> {
    let steps = app.player.steps();
    let moving = (0..FRAMES).map(|index| {
        let step = index * steps / FRAMES;
        app.apply(ctx, vec![Command::Play(Play::Seek(step))]);
        frame(ctx, app, pos2(5.0, 5.0))
    });
    moving.collect()
}

/// Frames of the stages of a step in the middle, a few of each.
fn stages_moving(ctx: &Context, app: &mut App) -> Vec<(f64, usize, usize)> {
    let (steps, stages) = (app.player.steps(), app.player.stages());
    app.apply(ctx, vec![Command::Play(Play::Seek(steps / 3))]);
    let moving = (0..FRAMES).map(|index| {
        let come = index as f32 / FRAMES as f32 * stages as f32;
        let moment = [
            Play::SeekStage(come as usize),
            Play::Through(come - come.floor()),
        ];
        app.apply(ctx, moment.map(Command::Play).to_vec());
        frame(ctx, app, pos2(5.0, 5.0))
    });
    moving.collect()
}

/// Runs of the copy task, 128 rows, and what is known of one after 100,000 sequences.
fn learning(count: u64) -> (App, Run, RunProgress) {
    let run = |seed: u64| {
        let set = [format!("training.seed={seed}").parse().unwrap()];
        let experiment = Experiment::included("copy", &set).unwrap().unwrap();
        (None, experiment)
    };
    let runs: Vec<_> = (1..=count).map(run).collect();
    let experiment = runs[0].1.clone();
    let state = State::new(experiment.model, &experiment.training);
    let (task, training) = (experiment.task, experiment.training);
    let mut run = Run::new(task, training, state, 1, Snapshots::default());
    for _ in 0..32 {
        run.advance();
    }
    let mut progress = run.progress().clone();
    let (_, diagnostics) = progress.diagnostics.looks.last().unwrap().clone();
    for place in progress.sequences + 1..=100_000 {
        push(&mut progress, place);
        let last = progress.diagnostics.looks.last().map_or(0, |look| look.0);
        if (place - last) as f64 > 0.01 * place as f64 {
            progress
                .diagnostics
                .looks
                .push((place, diagnostics.clone()));
        }
    }
    let app = App::headless(Options {
        learn: runs,
        files: Arc::new(NoFiles),
        ..Options::default()
    });
    (app, run, progress)
}

/// One more update.
fn push(progress: &mut RunProgress, sequences: u64) {
    let bits = 80.0 * (-(sequences as f64) / 2e4).exp() + 0.1 * (sequences % 7) as f64;
    let update = Update {
        bits,
        wrong: 0.0,
        aux: AuxLosses::default(),
        norm: 0.1 * bits,
        validated: None,
    };
    progress.sequences = sequences;
    progress.curve.push(sequences, &update);
}

/// Frames while there is news of the run that is looked at and of one of the others at each: what is made of it by the
/// threads that train and record is not in them.
fn with_news(
    ctx: &Context,
    app: &mut App,
    count: usize,
    (run, progress): (&Run, &mut RunProgress),
) -> Vec<(f64, usize, usize)> {
    let frames = (0..FRAMES).map(|index| {
        push(progress, progress.sequences + 1);
        let news = || RunUpdate {
            progress: Arc::new(progress.clone()),
            machine: Arc::new(run.trainer().state.machines[0].clone()),
            rate: Some(1000.0),
            followed: u64::MAX,
        };
        let other = (count > 1).then(|| (1 + index % (count - 1).max(1), news()));
        let told = std::iter::once((0, news())).chain(other).collect();
        app.apply(ctx, vec![Learn::Updates(RunUpdates::new(told)).into()]);
        frame(ctx, app, pos2(5.0, 5.0))
    });
    frames.collect()
}

fn measure_learning() {
    for count in [1, 10] {
        let ctx = Context::default();
        tapescope::viewer::apply_theme(&ctx);
        let (mut app, run, mut progress) = learning(count);
        for _ in 0..5 {
            frame(&ctx, &mut app, pos2(5.0, 5.0));
        }
        // Nothing trains within the frames that are measured: benches/watching.rs has those while all cores train.
        app.apply(&ctx, vec![Learn::Toggle.into()]);
        assert_eq!(app.layout(), WindowLayout::Train);
        let count = count as usize;
        for _ in 0..2 {
            with_news(&ctx, &mut app, count, (&run, &mut progress));
        }
        let still = (0..FRAMES).map(|_| frame(&ctx, &mut app, pos2(5.0, 5.0)));
        let name = |what: &str| format!("128×20, {count} learning, {what}");
        report(&name("curves, no news"), &still.collect::<Vec<_>>());
        let frames = with_news(&ctx, &mut app, count, (&run, &mut progress));
        report(&name("curves, news"), &frames);
        app.apply(
            &ctx,
            vec![Command::Episode(Episode::Gradients(Quantity::Loss))],
        );
        for _ in 0..6 {
            let what = match app.layout() {
                WindowLayout::Debug => "debug",
                WindowLayout::Paper => "paper",
                WindowLayout::Train => "curves",
                _ => "",
            };
            let frames = with_news(&ctx, &mut app, count, (&run, &mut progress));
            if !what.is_empty() {
                assert!(app.layer().is_some(), "{what}");
                report(&name(&format!("{what}, gradients, news")), &frames);
            }
            app.apply(&ctx, vec![Command::View(ViewCommand::NextLayout)]);
        }
    }
}

fn main() {
    println!(
        "{:<56} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "median", "95 in 100", "worst", "shapes", "upload"
    );
    println!(
        "{:<56} {:>8} {:>9} {:>8} {:>8} {:>8}",
        "", "ms", "ms", "ms", "", "KB"
    );
    measure_statements(60);
    measure_learning();
    measure(128, 20, 20);
    measure(1024, 64, 100);
    measure(4096, 64, 500);
    measure(128, 20, 2500);
}
