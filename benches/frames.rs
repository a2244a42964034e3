//! What a frame of the window costs: the ui and its triangles, without a graphics card.
//!
//! `cargo bench --bench frames`, best alone on one core: `chrt -f 50 taskset -c 1 cargo bench --bench frames`.

use std::sync::Arc;
use std::time::Instant;

use egui::{Context, Event, Pos2, RawInput, Rect, Vec2, pos2};
use tapescope::model::{Model, NtmConfig};
use tapescope::task::{Copy, Task};
use tapescope::viewer::command::{Look, Play, Rows};
use tapescope::viewer::{App, Arrangement, Command, Machine, NoFiles, Options};

/// Frames measured of each kind.
const FRAMES: usize = 60;

fn app(rows: usize, columns: usize, length: usize) -> App {
    let task = Task::Copy(Copy {
        bits: 8,
        length: length..=length,
    });
    let mut config = NtmConfig::new(task.inputs(), task.outputs());
    (config.rows, config.columns) = (rows, columns);
    config.controller.size = 32;
    let machine = Machine {
        other_way: None,
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
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    let shapes = frames.iter().map(|frame| frame.1).max().unwrap_or(0);
    let bytes = frames.iter().map(|frame| frame.2).max().unwrap_or(0);
    println!(
        "{name:<56} {median:8.2} {worst:8.2} {shapes:8} {:8}",
        bytes / 1024
    );
}

fn measure(rows: usize, columns: usize, length: usize) {
    let ctx = Context::default();
    tapescope::viewer::dress(&ctx);
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
        let moving = (0..FRAMES).map(|index| {
            let step = index * steps / FRAMES;
            app.apply(&ctx, vec![Command::Play(Play::Seek(step))]);
            frame(&ctx, &mut app, nowhere)
        });
        report(&name("moving"), &moving.collect::<Vec<_>>());
        let name = format!("{rows}×{columns}, {steps} steps, {kind}, stages moving");
        report(&name, &stages_moving(&ctx, &mut app));
    }
    // Paper, paper with row 0 at the top, close-up.
    app.apply(&ctx, vec![Command::Look(Look::NextLayout); 3]);
    assert_eq!(app.arrangement(), Arrangement::CloseUp);
    for pinned in [None, Some(0)] {
        let pin = pinned.map(|head| Command::Look(Look::Pin(head)));
        app.apply(&ctx, pin.into_iter().collect());
        let heads = if pinned.is_some() { 2 } else { 1 };
        let name = format!("{rows}×{columns}, {steps} steps, close-up of {heads}, moving");
        report(&name, &stages_moving(&ctx, &mut app));
    }
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

fn main() {
    println!(
        "{:<56} {:>8} {:>8} {:>8} {:>8}",
        "", "median", "worst", "shapes", "upload"
    );
    println!("{:<34} {:>8} {:>8} {:>8} {:>8}", "", "ms", "ms", "", "KB");
    measure(128, 20, 20);
    measure(1024, 64, 100);
    measure(4096, 64, 500);
}
