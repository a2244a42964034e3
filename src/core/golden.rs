//! The whole machine against values computed by an independent implementation: every stage of every
//! step, every gradient, and five updates of Adam. See `tests/golden/README.md` for where they come from.
//!
//! In the core, because here the machine is compiled in f64 for other tests anyway.
#![cfg(test)]

use crate::math::Series;
use crate::model::config::{
    ControllerConfig, ControllerKind, InitialMemory, InitialWeighting, VectorActivation,
};
use crate::model::{Draw, Model, ModelConfig, NtmConfig, Params, Trace, Workspace};
use crate::task::{Copy, Episode, Task};
use crate::train::{Clip, Optimizer, OptimizerConfig, clip, logit_gradient, score};
use ndarray::Array2;
use serde_json::Value;

const CASES: [&str; 8] = [
    "ff_1r1w",
    "lstm_1r1w",
    "ff_2r2w",
    "lstm_2r2w",
    "ff_1r1w_big",
    "lstm_2r2w_big",
    "ff_1r1w_tanh",
    "lstm_2r2w_tanh",
];

struct Case {
    name: &'static str,
    golden: Value,
    machine: Model<f64>,
    task: Task,
    episode: Episode,
}

impl Case {
    fn load(name: &'static str) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden");
        let path = format!("{folder}/{name}.json");
        let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let count = |key: &str| golden[key].as_u64().unwrap() as usize;
        let copy = Copy {
            bits: count("width"),
            length: count("L")..=count("L"),
        };
        let task = Task::Copy(copy.clone());
        let activation = match golden["key_add_act"].as_str() {
            Some("tanh") => VectorActivation::Tanh,
            _ => VectorActivation::Identity,
        };
        let kind = match golden["controller"].as_str() {
            Some("lstm") => ControllerKind::Lstm,
            _ => ControllerKind::Feedforward,
        };
        let config = NtmConfig {
            rows: count("N"),
            columns: count("M"),
            controller: ControllerConfig {
                kind,
                size: count("hidden"),
                layers: 1,
            },
            read_heads: count("read_heads"),
            write_heads: count("write_heads"),
            key_activation: activation,
            add_activation: activation,
            similarity_epsilon: 0.0,
            initial_memory: InitialMemory::Learned,
            initial_weighting: InitialWeighting::Learned,
            ..NtmConfig::new(task.inputs(), task.outputs())
        };
        let config = ModelConfig::from(config);
        let params = params(&golden["params"], &config);
        let bits = numbers(&golden["bits"])
            .iter()
            .map(|&bit| bit as f32)
            .collect();
        let bits = Array2::from_shape_vec((count("L"), count("width")), bits).unwrap();
        let episode = copy.episode_of(&bits);
        Self {
            name,
            golden,
            machine: Model { config, params },
            task,
            episode,
        }
    }

    fn run(&self) -> Trace<f64> {
        let mut trace = Trace::new(&self.machine.config);
        self.machine.run(&self.episode, Draw::default(), &mut trace);
        trace
    }

    /// The gradient of `scale` × the summed cross-entropy.
    fn gradient(&self, machine: &Model<f64>, scale: f64) -> (f64, Params<f64>) {
        let mut trace = Trace::new(&machine.config);
        machine.run(&self.episode, Draw::default(), &mut trace);
        let mut loss = vec![0.0; trace.steps()];
        let bits = score(&self.episode, &trace, &mut loss).bits;
        let mut gradient = Params::zeros(&machine.config);
        let mut workspace = [Workspace::new(&machine.config)];
        logit_gradient(
            &self.episode,
            &trace,
            scale,
            &mut workspace[0].upstream.logit,
        );
        machine.backward(&[trace], &mut workspace, &mut gradient);
        (bits * std::f64::consts::LN_2, gradient)
    }
}

/// All numbers of a nested array, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// Golden parameters hold weights as [outputs, inputs] and name some tensors differently.
fn params(golden: &Value, config: &ModelConfig) -> Params<f64> {
    let mut params = Params::zeros(config);
    params.change(|name, mut tensor| {
        let values = numbers(&golden[golden_name(name)]);
        assert_eq!(values.len(), tensor.len(), "{name}");
        if name.ends_with(".weight") {
            tensor.swap_axes(0, 1);
        }
        tensor
            .iter_mut()
            .zip(values)
            .for_each(|(to, from)| *to = from);
    });
    params
}

fn golden_name(name: &str) -> String {
    match name {
        "initial.memory" => "init.mem".into(),
        "initial.weighting" => "init.w".into(),
        "initial.read" => "init.read".into(),
        "initial.hidden" => "init.h".into(),
        "initial.cell" => "init.c".into(),
        other => other
            .replace("controller0", "ctrl")
            .replace("output", "out")
            .replace("weight", "W")
            .replace("bias", "b"),
    }
}

#[track_caller]
fn assert_close(what: &str, found: &[f64], golden: &Value, tolerance: f64) {
    let wanted = numbers(golden);
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (i, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        let scale = wanted.abs().max(1.0);
        assert!(
            (found - wanted).abs() <= tolerance * scale,
            "{what}[{i}] is {found}, golden {wanted}"
        );
    }
}

#[test]
fn every_stage_of_every_step() {
    for case in CASES.map(Case::load) {
        let (trace, reads) = (case.run(), case.machine.config.read_heads());
        let steps = case.golden["steps"].as_array().unwrap();
        assert_eq!(steps.len(), trace.steps());
        for (t, golden) in steps.iter().enumerate() {
            let close = |what: &str, found: &[f64], golden: &Value| {
                assert_close(
                    &format!("{} step {t} {what}", case.name),
                    found,
                    golden,
                    1e-12,
                );
            };
            close("x", trace.input.row(t), &golden["x"]);
            close("h", trace.layers[0].hidden.row(t), &golden["h"]);
            let controller = case.machine.config.ntm().unwrap().controller;
            if controller.kind == ControllerKind::Lstm {
                close("c", trace.layers[0].cell.row(t), &golden["c"]);
                let gates =
                    ["lstm_i", "lstm_f", "lstm_g", "lstm_o"].map(|gate| golden[gate].clone());
                close(
                    "gates",
                    &trace.layers[0].gates.row(t)[..4 * controller.size],
                    &Value::Array(gates.to_vec()),
                );
            }
            for (index, head) in trace.heads.iter().enumerate() {
                let golden_head = &golden["heads"][index];
                close("k", head.key.row(t), &golden_head["k"]);
                close("beta", head.strength.row(t), &golden_head["beta"]);
                close("g", head.gate.row(t), &golden_head["g"]);
                close("s", head.shift.row(t), &golden_head["s"]);
                close("gamma", head.sharpening.row(t), &golden_head["gamma"]);
                close("K", head.similarity.row(t), &golden_head["K"]);
                close("w_c", head.content.row(t), &golden_head["w_c"]);
                close("w_g", head.gated.row(t), &golden_head["w_g"]);
                close("w_shift", head.shifted.row(t), &golden_head["w_shift"]);
                close("w", head.weighting.row(t), &golden_head["w"]);
                assert_eq!(head.is_write(), index >= reads);
                if head.is_write() {
                    close("e", head.erase.row(t), &golden_head["erase"]);
                    close("a", head.add.row(t), &golden_head["add"]);
                } else {
                    close("r", head.read.row(t), &golden["reads"][index]);
                }
            }
            let memory: Vec<f64> = trace.memory(t + 1).iter().copied().collect();
            close("memory", &memory, &golden["memory"]);
            close("logit", trace.logit.row(t), &golden["logit"]);
            close("output", trace.output.row(t), &golden["output"]);
        }
        let mut loss = vec![0.0; trace.steps()];
        let bits = score(&case.episode, &trace, &mut loss).bits;
        assert_close("loss in bits", &[bits], &case.golden["loss_bits"], 1e-12);
        assert_eq!(case.task.name(), "copy");
    }
}

#[test]
fn the_gradient_of_every_parameter() {
    for case in CASES.map(Case::load) {
        let (loss, gradient) = case.gradient(&case.machine, 1.0);
        assert_close("loss", &[loss], &case.golden["loss"], 1e-12);
        for (name, mut tensor) in gradient.named() {
            if name.ends_with(".weight") {
                tensor.swap_axes(0, 1);
            }
            let found: Vec<f64> = tensor.iter().copied().collect();
            let golden = &case.golden["grads"][golden_name(&name)];
            assert_close(
                &format!("{} gradient of {name}", case.name),
                &found,
                golden,
                1e-10,
            );
        }
    }
}

#[test]
fn five_updates_of_adam() {
    for case in CASES.map(Case::load) {
        let config = OptimizerConfig::Adam {
            learning_rate: 1e-2,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        };
        let mut optimizer = Optimizer::new(config, &case.machine.config);
        let mut machine = case.machine.clone();
        let scored = case.episode.scored_bits() as f64;
        let mut losses = Vec::new();
        for _ in 0..5 {
            let (loss, mut gradient) = case.gradient(&machine, 1.0 / scored);
            losses.push(loss / scored);
            clip(&mut gradient, Clip::Elementwise(10.0));
            optimizer.update(&mut machine.params, &gradient, 1.0);
        }
        let golden = &case.golden["train"]["adam"];
        assert_close(
            &format!("{} losses", case.name),
            &losses,
            &golden["losses"],
            1e-9,
        );
        let wanted = params(&golden["params"], &machine.config);
        for (found, wanted) in machine.params.slices().zip(wanted.slices()) {
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-7;
            assert!(
                found.iter().zip(wanted).all(close),
                "{}: parameters after five updates",
                case.name
            );
        }
    }
}

#[test]
fn f32_matches_f64() {
    for case in CASES.map(Case::load) {
        let wide = case.run();
        let mut machine = Model::<f32> {
            params: Params::zeros(&case.machine.config),
            config: case.machine.config.clone(),
        };
        for (to, from) in machine
            .params
            .slices_mut()
            .zip(case.machine.params.slices())
        {
            to.iter_mut()
                .zip(from)
                .for_each(|(to, &from)| *to = from as f32);
        }
        let mut trace = Trace::new(&machine.config);
        machine.run(&case.episode, Draw::default(), &mut trace);
        let same = |what: &str, narrow: &Series<f32>, wide: &Series<f64>| {
            for (narrow, wide) in narrow.as_slice().iter().zip(wide.as_slice()) {
                let close = (f64::from(*narrow) - wide).abs() <= 2e-5 * wide.abs().max(1.0);
                assert!(
                    close,
                    "{} {what}: {narrow} in f32, {wide} in f64",
                    case.name
                );
            }
        };
        same("output", &trace.output, &wide.output);
        same("memory", &trace.memory_columns, &wide.memory_columns);
        for (narrow, wide) in trace.heads.iter().zip(&wide.heads) {
            same("content", &narrow.content, &wide.content);
            same("weighting", &narrow.weighting, &wide.weighting);
        }
    }
}
