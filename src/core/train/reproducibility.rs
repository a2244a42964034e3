//! A seed gives the same weights on every processor with fused multiply-add: checked to the last bit, with every
//! instruction set of this machine, with one of short registers that stands for NEON, and against bytes that
//! were seen before (also on NEON, under QEMU).
#![cfg(test)]

use super::{Clip, OptimizerConfig, Trainer, TrainingConfig};
use crate::math::matrix::padded;
use crate::math::simd::{Choice, with};
use crate::model::config::{
    ControllerKind, InitialMemory, InitialWeighting, Order, ShiftForm, VectorActivation,
};
use crate::model::{EquationsConfig, Model, ModelConfig, NtmConfig};
use crate::task::{Copy, Task};

/// FNV-1a over the bits of all weights; each row of a tensor of a file is filled up with zeros, as those of others are.
fn hash(machine: &Model<f32>) -> u64 {
    let params = &machine.params;
    let mut weights: Vec<f32> = Vec::new();
    if params.list.is_empty() {
        weights.extend(params.slices().flatten());
    } else {
        for (_, tensor) in params.named() {
            for row in tensor.rows() {
                weights.extend(row);
                weights.resize(padded(weights.len()), 0.0);
            }
        }
    }
    let bytes = weights
        .iter()
        .flat_map(|weight| weight.to_bits().to_le_bytes());
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// The weights after a short training.
fn trained(model: &ModelConfig, optimizer: OptimizerConfig, batch: usize) -> u64 {
    let config = TrainingConfig {
        optimizer,
        clip: Clip::Elementwise(10.0),
        batch,
        sequences: 200,
        validation_every: u64::MAX,
        validation_episodes: 1,
        ..TrainingConfig::default()
    };
    let mut trainer = Trainer::new(copy(), model.clone(), config, 1);
    while trainer.state.sequences < trainer.config.sequences {
        trainer.update().expect("what is learned stays finite");
    }
    hash(&trainer.state.machines[0])
}

fn copy() -> Task {
    Task::Copy(Copy {
        bits: 5,
        length: 1..=6,
    })
}

const RMSPROP: OptimizerConfig = OptimizerConfig::RmsProp {
    learning_rate: 1e-3,
    decay: 0.95,
    momentum: 0.9,
    epsilon: 1e-4,
};
const ADAM: OptimizerConfig = OptimizerConfig::Adam {
    learning_rate: 1e-3,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
};

/// Whole packs and rests of every kind, one head of each kind and several, short and long sums.
fn machines() -> [(&'static str, ModelConfig, OptimizerConfig, usize, u64); 5] {
    let task = copy();
    let of = |rows, columns, size| {
        let mut model = NtmConfig::new(task.inputs(), task.outputs());
        (model.rows, model.columns, model.controller.size) = (rows, columns, size);
        model
    };
    let mut learned = of(37, 20, 60);
    learned.initial_memory = InitialMemory::Learned;
    learned.initial_weighting = InitialWeighting::Learned;
    (learned.read_heads, learned.shift_range) = (2, 2);
    learned.controller.layers = 2;
    let mut feedforward = of(150, 9, 33);
    feedforward.controller.kind = ControllerKind::Feedforward;
    feedforward.shift_form = ShiftForm::Scalar.into();
    (feedforward.read_heads, feedforward.write_heads) = (2, 2);
    let mut written_first = of(11, 4, 17);
    (written_first.order, written_first.shift_range) = (Order::WriteFirst, 3);
    written_first.key_activation = VectorActivation::Identity;
    let channels = [task.inputs(), task.outputs()];
    let plain = EquationsConfig::included("plain", channels, &[("units", "70")]).unwrap();
    [
        (
            "LSTM",
            of(250, 20, 40).into(),
            RMSPROP,
            1,
            0x1285_CC6D_1ABF_469C,
        ),
        ("learned", learned.into(), ADAM, 20, 0xDA43_D3B5_2E09_4DB6),
        (
            "feedforward",
            feedforward.into(),
            RMSPROP,
            4,
            0xDD5F_5488_24F0_AA87,
        ),
        (
            "written first",
            written_first.into(),
            ADAM,
            7,
            0xE873_B968_F98D_C1A6,
        ),
        ("plain", plain.into(), RMSPROP, 2, 0xAD6F_2D8A_7C70_95EA),
    ]
}

#[test]
fn a_seed_gives_the_same_weights_on_every_instruction_set() {
    let mut found = Vec::new();
    for (name, model, optimizer, batch, golden) in machines() {
        let everywhere = Choice::all().map(|choice| {
            let hash = with(choice, || trained(&model, optimizer, batch));
            (choice, hash)
        });
        found.push((name, golden, everywhere));
    }
    let same = |(_, golden, everywhere): &(_, u64, [(Choice, u64); 3])| {
        everywhere.iter().all(|(_, hash)| hash == golden)
    };
    assert!(found.iter().all(same), "{found:#x?}");
}
