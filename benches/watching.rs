//! What it costs a training to be observed and to be watched, and what a frame costs while it trains: the window without a graphics card,
//! at most 60 frames a second, beside the same training alone, in turns.
//!
//! `cargo bench --bench watching -- [PRESET [SEQUENCES PER UPDATE [COUNT]]]`; COUNT runs learn side by side, from as many
//! seeds: from two on every core trains while the frames are drawn.

use std::time::{Duration, Instant};

use egui::{Context, Pos2, RawInput, Rect, Vec2};
use tapescope::io::{Experiment, preset::Override};
use tapescope::learn::{BuildRun, Learner, Pace, Run, RunCommand, Snapshots};
use tapescope::train::{State, Trainer};
use tapescope::viewer::command::Learn;
use tapescope::viewer::{App, NoFiles, Options};

/// How long each is measured.
const MEASURED: Duration = Duration::from_secs(6);
/// Rounds of both.
const ROUNDS: usize = 5;
/// Between two frames, at least.
const FRAME: Duration = Duration::from_micros(16_667);

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Threads of each of so many runs, as the window gives them: several have one each, and take turns.
fn threads(count: usize) -> usize {
    if count > 1 { 1 } else { processors() }
}

/// Sequences per second of a training of which nothing is observed.
fn plain(experiment: &Experiment) -> f64 {
    let (task, training) = (experiment.task.clone(), experiment.training.clone());
    let mut trainer = Trainer::new(task, experiment.model.clone(), training, processors());
    let start = Instant::now();
    while start.elapsed() < MEASURED {
        trainer.update().unwrap();
    }
    trainer.state.sequences as f64 / start.elapsed().as_secs_f64()
}

/// Sequences per second of all runs together with all that is observed of them, while nobody watches.
fn alone(experiments: &[Experiment]) -> f64 {
    let count = experiments.len();
    let run = |experiment: &Experiment| {
        let state = State::new(experiment.model.clone(), &experiment.training);
        let (task, training) = (experiment.task.clone(), experiment.training.clone());
        let limit = Snapshots::LIMIT / count;
        let build = move || Run::new(task, training, state, threads(count), Snapshots::new(limit));
        Box::new(build) as BuildRun
    };
    let runs = experiments.iter().map(run).collect();
    let learner = Learner::start(runs, || ()).unwrap();
    learner.send(1, &RunCommand::Go(Pace::Full));
    let start = Instant::now();
    std::thread::sleep(MEASURED);
    let runs = learner.end();
    let seconds = start.elapsed().as_secs_f64();
    let done = runs.iter().map(|run| run.progress().sequences);
    done.sum::<u64>() as f64 / seconds
}

/// One frame of the window, and how long it may rest until the next.
fn frame(ctx: &Context, app: &mut App, start: Instant) -> Duration {
    let input = RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, Vec2::new(1440.0, 900.0))),
        time: Some(start.elapsed().as_secs_f64()),
        max_texture_side: Some(8192),
        ..RawInput::default()
    };
    let output = ctx.run_ui(input, |ui| app.frame_ui(ui));
    std::hint::black_box(ctx.tessellate(output.shapes, output.pixels_per_point));
    output.viewport_output[&egui::ViewportId::ROOT].repaint_delay
}

/// The same while they are watched, and the milliseconds of every frame that was drawn while they trained.
fn watched(experiments: &[Experiment]) -> (f64, Vec<f64>) {
    let ctx = Context::default();
    tapescope::viewer::apply_theme(&ctx);
    // Each is named by its seed.
    let unnamed = experiments
        .iter()
        .map(|experiment| (None, experiment.clone()));
    let options = Options {
        learn: unnamed.collect(),
        files: std::sync::Arc::new(NoFiles),
        ..Options::default()
    };
    let mut app = App::new(&ctx, options);
    let (start, mut frames) = (Instant::now(), Vec::new());
    while start.elapsed() < MEASURED {
        let begun = Instant::now();
        let rest = frame(&ctx, &mut app, start).min(Duration::from_millis(100));
        frames.push(begun.elapsed().as_secs_f64() * 1e3);
        std::thread::sleep(rest.max(FRAME.saturating_sub(begun.elapsed())));
    }
    // All runs tell where they stand once they wait.
    app.apply(&ctx, vec![Learn::Toggle.into()]);
    let seconds = start.elapsed().as_secs_f64();
    while app.learning.as_ref().unwrap().waits() {
        frame(&ctx, &mut app, start);
        std::thread::sleep(FRAME);
    }
    let runs = app.learning.as_ref().unwrap().runs.iter();
    let accounts = runs.map(|run| run.progress.as_ref().unwrap().sequences);
    (accounts.sum::<u64>() as f64 / seconds, frames)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// So many runs of a preset side by side, from as many seeds.
fn experiments(preset: &str, batch: Option<&str>, count: u64) -> Vec<Experiment> {
    let of_seed = |by| {
        let batch = batch.iter().map(|batch| format!("training.batch={batch}"));
        let set = batch.chain(["training.sequences=1000000".to_owned()]);
        let set: Vec<Override> = set.map(|set| set.parse().unwrap()).collect();
        let mut experiment = Experiment::find(preset, &set).unwrap();
        experiment.training.seed += by;
        experiment
    };
    (0..count).map(of_seed).collect()
}

fn main() {
    let words = std::env::args().skip(1);
    let mut words = words.filter(|word| !word.starts_with("--"));
    let preset = words.next().unwrap_or_else(|| "copy".to_owned());
    let batch = words.next();
    let count = words.next().map_or(1, |count| count.parse().unwrap());
    let experiments = experiments(&preset, batch.as_deref(), count);
    let (mut ratios, mut frames, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    let mut observed = Vec::new();
    for _ in 0..ROUNDS {
        // Several have threads of their own: a training by itself is no measure of them.
        let plain = (count == 1).then(|| plain(&experiments[0]));
        let alone = alone(&experiments);
        let (watched, drawn) = watched(&experiments);
        println!(
            "alone {alone:.0} sequences/s, watched {watched:.0}, {} frames",
            drawn.len()
        );
        observed.extend(plain.map(|plain| alone / plain));
        ratios.push(watched / alone);
        rates.push(drawn.len() as f64 / MEASURED.as_secs_f64());
        frames.extend(drawn);
    }
    if count == 1 {
        println!("observed / plain {:.3}", median(&mut observed));
    }
    println!(
        "{count} learning; watched / alone {:.3}; frames per second {:.0}; a frame while they train {:.2} ms in the middle, {:.2} ms at the 95th hundredth, {:.2} ms at most",
        median(&mut ratios),
        median(&mut rates),
        median(&mut frames),
        frames[frames.len() * 95 / 100],
        frames[frames.len() - 1],
    );
}
