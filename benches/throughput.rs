//! Training sequences per second on the work that every implementation is measured on: copy, 8 bits,
//! length 20 (41 steps), 128 × 20, one head of each kind, shift ±1, a controller of 100.
//!
//! `cargo bench --bench throughput -- --controller lstm --batch 1 --threads 1 --seconds 1`
//! prints one JSON object; `compare.py` runs it beside PyTorch and JAX.

use std::time::Instant;

use tapescope::math::simd::instruction_set;
use tapescope::model::ModelConfig;
use tapescope::model::config::ControllerKind;
use tapescope::task::{Copy, Task};
use tapescope::train::{Clip, OptimizerConfig, Trainer, TrainingConfig};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str, default: &str| -> String {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1))
            .map_or(default.into(), String::clone)
    };
    let number = |name, default| {
        option(name, default)
            .parse::<usize>()
            .expect("a whole number")
    };
    let (batch, threads, rows) = (
        number("--batch", "1"),
        number("--threads", "1"),
        number("--n", "128"),
    );
    let seconds: f64 = option("--seconds", "1").parse().expect("seconds");
    let controller = option("--controller", "lstm");

    let mut trainer = trainer(&controller, batch, threads, rows);
    for _ in 0..20_usize.div_ceil(batch) {
        trainer.update().expect("finite");
    }
    let (start, before) = (Instant::now(), trainer.sequences);
    while start.elapsed().as_secs_f64() < seconds {
        trainer.update().expect("finite");
    }
    let rate = (trainer.sequences - before) as f64 / start.elapsed().as_secs_f64();
    println!(
        r#"{{"impl": "tapescope", "controller": "{controller}", "batch": {batch}, "threads": {threads}, "n": {rows}, "simd": "{}", "seqs_per_s": {rate:.1}}}"#,
        instruction_set()
    );
}

fn trainer(controller: &str, batch: usize, threads: usize, rows: usize) -> Trainer {
    let task = Task::Copy(Copy {
        bits: 8,
        length: 20..=20,
    });
    let mut model = ModelConfig {
        rows,
        ..ModelConfig::new(task.inputs(), task.outputs())
    };
    if controller == "ff" {
        model.controller.kind = ControllerKind::Feedforward;
    }
    let training = TrainingConfig {
        optimizer: OptimizerConfig::RmsProp {
            rate: 1e-4,
            decay: 0.95,
            momentum: 0.9,
            epsilon: 1e-4,
        },
        final_rate: 1.0,
        clip: Clip::Elementwise(10.0),
        batch,
        sequences: u64::MAX,
        seed: 1,
        validation_every: u64::MAX,
        validation_episodes: 1,
    };
    Trainer::new(task, model, training, threads)
}
