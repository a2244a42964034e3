//! The Neural Turing Machine and the Differentiable Neural Computer learn to copy, by hand and from their machine files:
//! sequences until a validation is below half a bit, for some seeds. Both sides begin with the same weights and see the
//! same episodes; only who computes the gradient differs.
//!
//! `cargo bench -p tapescope-benches --bench learning_files -- [ntm|dnc] [--seeds 10]`

use std::ops::Range;

use tapescope::io::Experiment;
use tapescope::model::{DncConfig, Model, ModelConfig, NtmConfig, Params};
use tapescope::task::{Copy, Task};
use tapescope::train::{Evaluator, OptimizerConfig, State, Trainer, TrainingConfig};

/// Sequences between validations, and those after which a seed gives up.
const EVERY: u64 = 100;
const MOST: u64 = 30_000;

const ROWS: usize = 16;
const COLUMNS: usize = 8;
const UNITS: usize = 32;

/// The outputs of a head by hand that a statement of a file makes.
fn part(statement: &str, is_dnc: bool) -> Range<usize> {
    let m = COLUMNS;
    match statement {
        "head.k" | "k_r" | "k" => 0..m,
        "head.beta" | "beta_r" | "beta" => m..m + 1,
        "head.g" | "f" => m + 1..m + 2,
        "head.s" | "pi" => m + 2..m + 5,
        "head.gamma" => m + 5..m + 6,
        "e" if is_dnc => m + 1..2 * m + 1,
        "v" => 2 * m + 1..3 * m + 1,
        "g_a" => 3 * m + 1..3 * m + 2,
        "g_w" => 3 * m + 2..3 * m + 3,
        "e" => m + 6..2 * m + 6,
        "a" => 2 * m + 6..3 * m + 6,
        other => panic!("{other}"),
    }
}

/// Gives the tensors of a file the values of those by hand.
fn copy(from: &Params<f32>, to: &mut Params<f32>, is_dnc: bool) {
    let named = from.named();
    let hand = |name: &str| &named.iter().find(|own| own.0 == name).unwrap().1;
    // A matrix by hand is [in, out], in the file [out, in].
    let turned = |name: &str, outputs: Option<Range<usize>>| -> Vec<f32> {
        let matrix = hand(name);
        let outputs = outputs.unwrap_or(0..matrix.ncols());
        outputs
            .flat_map(|out| matrix.column(out).to_vec())
            .collect()
    };
    to.change(|name, mut tensor| {
        let (whole, kind) = name.rsplit_once('.').unwrap();
        let split = whole
            .split_once('.')
            .filter(|own| ["read", "write"].contains(&own.0));
        let (head, statement) = split.unwrap_or(("write", whole));
        let values = match (statement, kind) {
            ("r", "start") => hand("initial.read").iter().copied().collect(),
            ("h", "start") => hand("initial.hidden").iter().copied().collect(),
            ("c", "start") => hand("initial.cell").iter().copied().collect(),
            ("h", _) => turned(&format!("controller0.{kind}"), None),
            ("z", _) => turned(&format!("output.{kind}"), None),
            _ => turned(&format!("{head}0.{kind}"), Some(part(statement, is_dnc))),
        };
        assert_eq!(tensor.len(), values.len(), "{name}");
        let pairs = tensor.iter_mut().zip(values);
        pairs.for_each(|(to, value)| *to = value);
    });
}

fn has_learned(machine: &Model<f32>, task: &Task, training: &TrainingConfig) -> bool {
    let evaluator = Evaluator {
        machine,
        task,
        redundancy: training.redundancy,
        head_divergence: training.head_divergence,
        seed: training.seed + 1_000_000,
        episodes: 50,
    };
    evaluator.measure(1).mean.bits_per_sequence < 0.5
}

fn learned(mut trainer: Trainer) -> u64 {
    while !trainer.finished() {
        trainer.update().unwrap();
        let sequences = trainer.state.sequences;
        let Trainer {
            state,
            task,
            config,
            ..
        } = &trainer;
        if sequences.is_multiple_of(EVERY) && has_learned(&state.machines[0], task, config) {
            break;
        }
    }
    trainer.state.sequences
}

fn by_hand(model: &ModelConfig, task: &Task, training: &TrainingConfig) -> u64 {
    learned(Trainer::new(
        task.clone(),
        model.clone(),
        training.clone(),
        1,
    ))
}

fn from_file(file: &str, model: &ModelConfig, task: &Task, training: &TrainingConfig) -> u64 {
    // The activations of the machine by hand.
    let switches = match file {
        "ntm" => r#""head": {"keys": "tanh"}, "adds": "tanh""#,
        _ => "",
    };
    let preset = format!(
        r#"{{"task": {{"kind": "copy"}}, "model": {{"kind": "equations", "file": "{file}.machine",
        "sizes": {{"rows": {ROWS}, "columns": {COLUMNS}, "units": {UNITS}}}, "switches": {{{switches}}}}}}}"#
    );
    let mut config = Experiment::from_json(&preset, file, &[]).unwrap().model;
    config.set_channels(task.inputs(), task.outputs());
    let mut trainer = Trainer::new(task.clone(), config, training.clone(), 1);
    let hand = &State::new(model.clone(), training).machines;
    let to = &mut trainer.state.machines[0].params;
    copy(&hand[0].params, to, file == "dnc");
    learned(trainer)
}

fn median(all: &mut [u64]) -> f64 {
    all.sort_unstable();
    (all[(all.len() - 1) / 2] + all[all.len() / 2]) as f64 / 2.0
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|own| own != "--bench")
        .collect();
    let seeds = arguments.iter().position(|own| own == "--seeds");
    let seeds = seeds.map_or(10, |at| arguments[at + 1].parse().unwrap());
    let is_named = |file: &str| arguments.iter().any(|own| own == file);
    for file in ["ntm", "dnc"] {
        if !is_named(file) && (is_named("ntm") || is_named("dnc")) {
            continue;
        }
        let task = Task::Copy(Copy {
            bits: 4,
            length: 1..=6,
        });
        let (inputs, outputs) = (task.inputs(), task.outputs());
        let model: ModelConfig = if file == "ntm" {
            let mut model = NtmConfig::new(inputs, outputs);
            (model.rows, model.columns, model.controller.size) = (ROWS, COLUMNS, UNITS);
            model.into()
        } else {
            let mut model = DncConfig::new(inputs, outputs);
            (model.rows, model.columns, model.controller.size) = (ROWS, COLUMNS, UNITS);
            model.similarity_epsilon = 0.0;
            model.into()
        };
        let mut all = [vec![], vec![]];
        for seed in 1..=seeds {
            let training = TrainingConfig {
                optimizer: OptimizerConfig::Adam {
                    learning_rate: 3e-3,
                    beta1: 0.9,
                    beta2: 0.999,
                    epsilon: 1e-8,
                },
                batch: 4,
                sequences: MOST,
                seed,
                validation_every: MOST,
                final_lr_factor: 1.0,
                lr_drop_below: 0.0,
                ..TrainingConfig::default()
            };
            let found = [
                by_hand(&model, &task, &training),
                from_file(file, &model, &task, &training),
            ];
            println!(
                "{file}, seed {seed}: by hand {}, from the file {}",
                found[0], found[1]
            );
            all.iter_mut()
                .zip(found)
                .for_each(|(all, found)| all.push(found));
        }
        let [hand, file_median] = all.each_mut().map(|all| median(all));
        println!(
            "{file}, medians: by hand {hand}, from the file {file_median}, ratio {:.2}",
            file_median / hand
        );
    }
}
