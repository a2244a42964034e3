//! Sequences per second on the work that every implementation is measured on: copy, 8 bits, length 20
//! (41 steps), 128 × 20, one head of each kind, shift ±1, a controller of 100.
//!
//! `cargo bench --bench throughput -- --controller lstm --batch 1 --threads 1 --seconds 1` trains;
//! `--n` and `--m` give the memory other rows and columns, `--forward` runs episodes without learning, on
//! one thread. `--machine bahdanau` is an encoder-decoder with the additive score: an encoder of 50 units in each
//! direction, a decoder of 100, a score of 64 (`--encoder`, `--hidden`, `--score`). `--machine dnc --reads 4` is a
//! Differentiable Neural Computer with four read heads. It prints one JSON object; with `--on-request` one for every line it reads, so that
//! `compare.py` and `growth.py` can run it in turn with PyTorch and JAX.

use std::iter::once;
use std::slice::from_mut;
use std::time::Instant;

use tapescope::math::simd::instruction_set;
use tapescope::model::config::ControllerKind;
use tapescope::model::{
    DncConfig, Draw, EpisodeInput, EquationsConfig, Model, ModelConfig, NtmConfig, Trace,
};
use tapescope::task::{Copy, Task};
use tapescope::train::Trainer;
use tapescope_benches::{Options, training};

fn main() {
    let options = Options::read();
    let number = |name, default| options.value::<usize>(name, default);
    let (batch, threads) = (number("--batch", "1"), number("--threads", "1"));
    let (rows, columns) = (number("--n", "128"), number("--m", "20"));
    let seconds: f64 = options.value("--seconds", "1");
    let controller: String = options.value("--controller", "lstm");

    let task = Task::Copy(Copy {
        bits: 8,
        length: 20..=20,
    });
    let model = match options.value::<String>("--machine", "ntm").as_str() {
        "ntm" => model(&task, &controller, rows, columns),
        "bahdanau" => {
            let size = |name, default| options.value::<String>(name, default);
            let sizes = [
                ("encoder.units", size("--encoder", "50")),
                ("units", size("--hidden", "100")),
                ("attention.units", size("--score", "64")),
            ];
            let set = sizes.each_ref().map(|(path, size)| (*path, &**size));
            let channels = [task.inputs(), task.outputs()];
            let model = EquationsConfig::included("bahdanau", channels, &set);
            model.unwrap_or_else(|fault| panic!("{fault}")).into()
        }
        "dnc" => {
            let mut model = DncConfig::new(task.inputs(), task.outputs());
            (model.rows, model.columns, model.read_heads) = (rows, columns, number("--reads", "1"));
            model.into()
        }
        other => panic!("`ntm`, `bahdanau` or `dnc`, not `{other}`"),
    };
    let (mode, mut work) = if options.has("--forward") {
        ("forward", forward(task, model))
    } else {
        ("train", train(task, model, batch, threads))
    };
    let mut window = |seconds: f64, most: usize| {
        let (start, mut sequences) = (Instant::now(), 0);
        while sequences < most && (sequences == 0 || start.elapsed().as_secs_f64() < seconds) {
            sequences += work();
        }
        sequences as f64 / start.elapsed().as_secs_f64()
    };
    window(seconds, 20);
    let mut report = || {
        let rate = window(seconds, usize::MAX);
        println!(
            r#"{{"impl": "tapescope", "mode": "{mode}", "controller": "{controller}", "batch": {batch}, "threads": {threads}, "n": {rows}, "m": {columns}, "simd": "{}", "seqs_per_s": {rate:.3}}}"#,
            instruction_set()
        );
    };
    if options.has("--on-request") {
        println!("ready");
        std::io::stdin().lines().for_each(|_| report());
    } else {
        report();
    }
}

fn model(task: &Task, controller: &str, rows: usize, columns: usize) -> ModelConfig {
    let mut model = NtmConfig::new(task.inputs(), task.outputs());
    (model.rows, model.columns) = (rows, columns);
    if controller == "ff" {
        model.controller.kind = ControllerKind::Feedforward;
    }
    model.into()
}

/// An episode that nobody will look at: the memory is not kept step by step.
fn forward(task: Task, model: ModelConfig) -> Box<dyn FnMut() -> usize> {
    let (mut trace, machine) = (Trace::new(&model), Model::<f32>::new(model, 1));
    let mut index = 0;
    Box::new(move || {
        let episode = task.episode(1, index);
        machine.run_together(
            once((EpisodeInput::from(&episode), Draw::default())),
            0,
            from_mut(&mut trace),
        );
        index += 1;
        1
    })
}

/// An update.
fn train(
    task: Task,
    model: ModelConfig,
    batch: usize,
    threads: usize,
) -> Box<dyn FnMut() -> usize> {
    let mut trainer = Trainer::new(task, model, training(batch), threads);
    Box::new(move || {
        trainer.update().expect("finite");
        batch
    })
}
