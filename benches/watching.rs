//! What it costs a training to be observed and to be watched, and what a frame costs while it trains: the window without a graphics card,
//! at most 60 frames a second, beside the same training alone, in turns.
//!
//! `cargo bench --bench watching [PRESET [SEQUENCES PER UPDATE]]`

use std::time::{Duration, Instant};

use egui::{Context, Pos2, RawInput, Rect, Vec2};
use tapescope::io::{Experiment, preset::Override};
use tapescope::learn::{Learner, Order, Pace, Run, Snapshots};
use tapescope::train::{State, Trainer};
use tapescope::viewer::{App, NoFiles, Options};

/// How long each is measured.
const MEASURED: Duration = Duration::from_secs(6);
/// Rounds of both.
const ROUNDS: usize = 5;
/// Between two frames, at least.
const FRAME: Duration = Duration::from_micros(16_667);

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Sequences per second of a training of which nothing is observed.
fn plain(experiment: &Experiment) -> f64 {
    let (task, training) = (experiment.task.clone(), experiment.training.clone());
    let mut trainer = Trainer::new(task, experiment.model.clone(), training, threads());
    let start = Instant::now();
    while start.elapsed() < MEASURED {
        trainer.update().unwrap();
    }
    trainer.state.sequences as f64 / start.elapsed().as_secs_f64()
}

/// The same with all that is observed of it, while nobody watches.
fn alone(experiment: &Experiment) -> f64 {
    let state = State::new(experiment.model.clone(), &experiment.training);
    let (task, training) = (experiment.task.clone(), experiment.training.clone());
    let run = Run::new(task, training, state, threads(), Snapshots::LIMIT);
    let mut learner = Learner::start(vec![run], || ()).unwrap();
    learner.tell(1, &Order::Go(Pace::Full));
    let start = Instant::now();
    std::thread::sleep(MEASURED);
    let seconds = start.elapsed().as_secs_f64();
    let run = learner.end().remove(0);
    run.account().sequences as f64 / seconds
}

/// The same while it is watched, and the milliseconds of every frame that was drawn.
fn watched(experiment: &Experiment) -> (f64, Vec<f64>) {
    let ctx = Context::default();
    tapescope::viewer::dress(&ctx);
    let options = Options {
        learn: vec![(String::new(), experiment.clone())],
        files: std::sync::Arc::new(NoFiles),
        ..Options::default()
    };
    let mut app = App::new(&ctx, options);
    let (start, mut frames) = (Instant::now(), Vec::new());
    while start.elapsed() < MEASURED {
        let begun = Instant::now();
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, Vec2::new(1440.0, 900.0))),
            time: Some(start.elapsed().as_secs_f64()),
            max_texture_side: Some(8192),
            ..RawInput::default()
        };
        let output = ctx.run_ui(input, |ui| app.frame_ui(ui));
        std::hint::black_box(ctx.tessellate(output.shapes, output.pixels_per_point));
        frames.push(begun.elapsed().as_secs_f64() * 1e3);
        let viewport = &output.viewport_output[&egui::ViewportId::ROOT];
        let rest = viewport.repaint_delay.min(Duration::from_millis(100));
        std::thread::sleep(rest.max(FRAME.saturating_sub(begun.elapsed())));
    }
    let seconds = start.elapsed().as_secs_f64();
    let learning = app.learning.as_ref().unwrap();
    let account = learning.run().account.as_ref().unwrap();
    (account.sequences as f64 / seconds, frames)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"));
    let preset = words.next().unwrap_or_else(|| "copy".to_owned());
    let mut overrides: Vec<Override> = vec!["training.sequences=1000000".parse().unwrap()];
    overrides.extend(
        words
            .next()
            .map(|batch| format!("training.batch={batch}").parse().unwrap()),
    );
    let experiment = Experiment::find(&preset, &overrides).unwrap();
    let (mut ratios, mut frames, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    let mut observed = Vec::new();
    for _ in 0..ROUNDS {
        let plain = plain(&experiment);
        let alone = alone(&experiment);
        let (watched, drawn) = watched(&experiment);
        println!(
            "alone {alone:.0} sequences/s, watched {watched:.0}, {} frames",
            drawn.len()
        );
        observed.push(alone / plain);
        ratios.push(watched / alone);
        rates.push(drawn.len() as f64 / MEASURED.as_secs_f64());
        frames.extend(drawn);
    }
    println!(
        "observed / plain {:.3}; watched / alone {:.3}; frames per second {:.0}; a frame {:.2} ms in the middle, {:.2} ms at the 95th hundredth",
        median(&mut observed),
        median(&mut ratios),
        median(&mut rates),
        median(&mut frames),
        frames[frames.len() * 95 / 100],
    );
}
