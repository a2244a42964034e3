//! The Neural Turing Machine and the Differentiable Neural Computer learn to copy, by hand and from their machine files:
//! sequences until a validation is below half a bit, for some seeds. Both sides begin with the same weights and see the
//! same episodes; only who computes the gradient differs.
//!
//! `cargo bench -p tapescope-benches --bench learning_files -- [ntm|dnc] [--seeds 10]`

use std::ops::Range;

use tapescope::equations::batch::{Batch, Lengths};
use tapescope::equations::bind::{Bound, GATES, IN};
use tapescope::equations::flatten::{Feedback, flatten};
use tapescope::equations::lower::{Axis, Program, Source, lower};
use tapescope::equations::page::{Given, Page};
use tapescope::equations::run::Engine;
use tapescope::model::{DncConfig, Model, ModelConfig, NtmConfig, Params};
use tapescope::task::{Copy, Task};
use tapescope::train::{Evaluator, OptimizerConfig, State, Trainer, TrainingConfig, clip};

const MACHINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/core/machines");
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

/// For each number of the tensors of a file, in the order of the arena, its place among the parameters by hand.
fn places(program: &Program, bound: &Bound, params: &Params<f32>, is_dnc: bool) -> Vec<usize> {
    let mut begin = 0;
    let named = params.named().into_iter().map(|(name, tensor)| {
        let places: Vec<usize> = (begin..begin + tensor.len()).collect();
        begin += tensor.len();
        (name.clone(), tensor.ncols(), places)
    });
    let named: Vec<_> = named.collect();
    let hand = |name: &str| named.iter().find(|own| own.0 == name).unwrap();
    // A matrix by hand is [in, out], in the file [out, in].
    let turned = |name: &str, outputs: Option<Range<usize>>| {
        let (_, width, places) = hand(name);
        let row = |out| places.chunks(*width).map(move |row: &[usize]| row[out]);
        outputs
            .unwrap_or(0..*width)
            .flat_map(row)
            .collect::<Vec<_>>()
    };
    let mut found = vec![usize::MAX; bound.tensor_range().len()];
    for (tensor, layout) in program.tensors.iter().zip(&bound.tensors) {
        // Of layers that a machine does not have.
        if layout.dims.iter().any(|dim| dim.1 == 0) {
            continue;
        }
        let (whole, kind) = tensor.name.rsplit_once('.').unwrap();
        let split = whole
            .split_once('.')
            .filter(|own| ["read", "write"].contains(&own.0));
        let (head, statement) = split.unwrap_or(("write", whole));
        let values = match (statement, kind) {
            ("r", "start") => hand("initial.read").2.clone(),
            ("h", "start") => hand("initial.hidden").2.clone(),
            ("c", "start") => hand("initial.cell").2.clone(),
            ("h", _) => turned(&format!("controller0.{kind}"), None),
            ("z", _) => turned(&format!("output.{kind}"), None),
            _ => turned(&format!("{head}0.{kind}"), Some(part(statement, is_dnc))),
        };
        let mut axes: Vec<Axis> = tensor.axes.clone();
        if tensor.gates > 0 {
            axes.insert(tensor.before_gates, GATES);
        }
        if !tensor.inputs.is_empty() {
            axes.push(IN);
        }
        let own = layout.places(&axes);
        assert_eq!(own.len(), values.len(), "{}", tensor.name);
        let from = bound.tensor_range().start;
        own.into_iter()
            .zip(values)
            .for_each(|(own, value)| found[own - from] = value);
    }
    found
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

fn by_hand(model: &ModelConfig, task: &Task, training: &TrainingConfig) -> u64 {
    let mut trainer = Trainer::new(task.clone(), model.clone(), training.clone(), 1);
    while !trainer.finished() {
        trainer.update().unwrap();
        let sequences = trainer.state.sequences;
        if sequences.is_multiple_of(EVERY) && has_learned(&trainer.state.machine, task, training) {
            break;
        }
    }
    trainer.state.sequences
}

fn from_file(file: &str, model: &ModelConfig, task: &Task, training: &TrainingConfig) -> u64 {
    let mut given = Given::default();
    for (name, size) in [("rows", ROWS), ("columns", COLUMNS), ("units", UNITS)] {
        given.numbers.insert(name.into(), size as f64);
    }
    // The activations of the machine by hand.
    for key in ["head.keys", "adds"].into_iter().filter(|_| file == "ntm") {
        given.choices.insert(key.into(), vec!["tanh".into()]);
    }
    let text = std::fs::read(format!("{MACHINES}/{file}.machine")).unwrap();
    let library = |name: &str| {
        let text = std::fs::read(format!("{MACHINES}/{name}.component")).ok()?;
        Some((name.to_owned(), text))
    };
    let page = Page::read(&text, file, &given, &library).unwrap();
    let mut program = lower(&page).unwrap();
    let flat = flatten(&mut program, Feedback::Target);
    let mut batch = Batch::<f32>::new(&page, &program, &flat, 1);
    let mut state = State::new(model.clone(), training);
    let one_step = |axis: &str| match axis {
        "steps" => Some(1),
        "inputs" => Some(model.inputs()),
        _ => Some(model.outputs()),
    };
    let plain = Bound::new(&page, &program, &flat, &one_step).unwrap();
    let map = places(&program, &plain, &state.machine.params, file == "dnc");
    let is_input = |series: &usize| matches!(program.series[*series].source, Source::Input(_));
    let x = (0..program.series.len()).find(is_input).unwrap();
    let z = program.answer().unwrap();
    // The places of a series, its axes in the order of the data: steps first.
    let of = |series: usize, at: usize, engine: &Engine<f32>| {
        let layout = engine.layout_in(series, at);
        let mut axes: Vec<Axis> = layout.dims.iter().map(|dim| dim.0).collect();
        axes.sort_by_key(|axis| program.axes[*axis].rank);
        layout.places(&axes)
    };
    let mut gradient = Params::zeros(model);
    let (mut tensors, mut found) = (vec![0.0; map.len()], vec![0.0; map.len()]);
    while state.sequences < training.sequences {
        let named = state.machine.params.named();
        let all: Vec<f32> = named
            .into_iter()
            .flat_map(|(_, own)| own.to_owned())
            .collect();
        let pairs = map.iter().zip(&mut tensors);
        pairs.for_each(|(place, tensor)| *tensor = all.get(*place).copied().unwrap_or(0.0));
        batch.set_tensors(&tensors);
        let first = state.sequences;
        let episode = |index| task.training_episode(training.seed, first + index as u64);
        let episodes: Vec<_> = (0..training.batch).map(episode).collect();
        let lengths = |steps| -> Lengths {
            let sizes = [
                ("steps", steps),
                ("inputs", model.inputs()),
                ("outputs", model.outputs()),
            ];
            sizes.map(|(name, size)| (name.to_owned(), size)).into()
        };
        let lengths: Vec<_> = episodes.iter().map(|own| lengths(own.steps())).collect();
        let put = |index: usize, at: usize, engine: &mut Engine<f32>| {
            let episode = &episodes[index];
            let inputs = of(x, at, engine).into_iter().zip(&episode.input);
            inputs.for_each(|(place, value)| engine.memory.arena[place] = *value);
        };
        let score = |index: usize, at: usize, engine: &mut Engine<f32>| {
            let episode = &episodes[index];
            let (outputs, from) = (episode.target.ncols(), engine.memory.gradients);
            let answers = of(z, at, engine).into_iter().zip(&episode.target);
            for (at, (place, target)) in answers.enumerate() {
                let y = 1.0 / (1.0 + (-engine.memory.arena[place]).exp());
                let scale = episode.mask[at / outputs] / training.batch as f32;
                engine.memory.arena[place + from] = scale * (y - target);
            }
        };
        assert!(batch.learn(&lengths, &mut found, put, score).is_ok());
        let mut all = vec![0.0; all.len()];
        for (place, value) in map.iter().zip(&found) {
            all.get_mut(*place).into_iter().for_each(|to| *to = *value);
        }
        let named = gradient.named_mut().into_iter();
        let numbers = named.flat_map(|(_, own)| own.into_iter());
        numbers.zip(all).for_each(|(to, value)| *to = value);
        clip(&mut gradient, training.clip);
        state
            .optimizer
            .update(&mut state.machine.params, &gradient, 1.0);
        state.sequences += training.batch as u64;
        if state.sequences.is_multiple_of(EVERY) && has_learned(&state.machine, task, training) {
            break;
        }
    }
    state.sequences
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
