//! The machine on one page: an episode forwards, and back through it.
//!
//! Conventions, each pinned by a test: every head addresses M_{t−1}; reads see M_{t−1}; then all erases,
//! then all adds; the output sees h_t and the reads of this step.

use ndarray::Array2;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::addressing::{content, interpolate, sharpen, shift};
use super::config::{ControllerKind, InitialMemory, InitialWeighting, ModelConfig};
use super::controller::{feedforward, lstm};
use super::head::activate;
use super::memory;
use super::params::Params;
use super::trace::{HeadTrace, Role, Trace};
use crate::math::simd::kernel;
use crate::math::softmax::softmax;
use crate::math::{Real, sigmoid, similarity};

/// A machine: its configuration and its weights. Running it changes neither.
#[derive(Clone, Debug, PartialEq)]
pub struct Ntm<R = f32> {
    /// Shape and variant.
    pub config: ModelConfig,
    /// Weights.
    pub params: Params<R>,
}

impl<R: Real> Ntm<R> {
    /// A machine with random weights. `config` has been validated.
    pub fn new(config: ModelConfig, seed: u64) -> Self {
        let params = Params::random(&config, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        Self { config, params }
    }

    /// The same weights on another number of memory rows; `None` where a learned tensor fixes it
    /// ([`ModelConfig::runs_on_any_rows`]).
    #[must_use]
    pub fn with_rows(&self, rows: usize) -> Option<Self> {
        let config = ModelConfig {
            rows,
            ..self.config.clone()
        };
        if rows == self.config.rows {
            return Some(self.clone());
        }
        if !config.runs_on_any_rows() {
            return None;
        }
        let mut params = self.params.clone();
        params.initial.weighting = Params::zeros(&config).initial.weighting;
        Some(Self { config, params })
    }

    /// Runs one episode, [T, X], and records everything in `trace`.
    pub fn run(&self, input: &Array2<f32>, trace: &mut Trace<R>) {
        trace.memory_every = 1;
        trace.resize(input.nrows());
        self.run_in(input, trace);
    }

    /// Runs one episode to differentiate it: like [`Ntm::run`], but a memory so large that all M_t take
    /// more than `limit` values is kept in part and written again on the way back, to the same bits.
    pub fn run_for_training(&self, input: &Array2<f32>, limit: usize, trace: &mut Trace<R>) {
        trace.resize_for_training(input.nrows(), limit);
        self.run_in(input, trace);
    }

    /// Runs one episode in a trace that has room for it.
    fn run_in(&self, input: &Array2<f32>, trace: &mut Trace<R>) {
        self.reset(trace);
        for (to, &from) in trace.input.as_mut_slice().iter_mut().zip(input) {
            *to = R::from_f64(f64::from(from));
        }
        self.see_inputs(trace);
        for t in 0..trace.steps() {
            self.step(t, trace);
        }
        for t in 0..trace.steps() {
            self.params
                .output
                .forward(trace.features.row(t), trace.logit.row_mut(t));
            let outputs = trace.output.row_mut(t).iter_mut().zip(trace.logit.row(t));
            outputs.for_each(|(y, &z)| *y = sigmoid(z));
        }
    }

    /// The state before the first step: nothing persists from one episode to the next.
    fn reset(&self, trace: &mut Trace<R>) {
        let initial = &self.params.initial;
        let memory = trace.memory_columns.row_mut(0);
        match self.config.initial_memory {
            InitialMemory::Constant(value) => memory.fill(R::from_f64(value)),
            InitialMemory::Learned => memory
                .iter_mut()
                .zip(initial.memory.view().t())
                .for_each(|(to, &from)| *to = from),
        }
        for (index, head) in trace.heads.iter_mut().enumerate() {
            match self.config.initial_weighting {
                InitialWeighting::OneHot => {
                    head.initial.fill(R::ZERO);
                    head.initial[0] = R::ONE;
                }
                InitialWeighting::Learned => {
                    let logits = initial.weighting.row(index);
                    distribution_of(logits, &mut head.initial);
                }
            }
        }
    }

    /// What does not depend on the state is done for all steps at once: b + x_t·W of the first layer.
    fn see_inputs(&self, trace: &mut Trace<R>) {
        let (layer, linear) = (&mut trace.layers[0], &self.params.controller[0]);
        let lstm = self.config.controller.kind == ControllerKind::Lstm;
        for t in 0..trace.input.steps() {
            let x = trace.input.row(t);
            layer.input.row_mut(t)[..x.len()].copy_from_slice(x);
            let z = if lstm {
                layer.gates.row_mut(t)
            } else {
                layer.hidden.row_mut(t)
            };
            linear.forward(x, z);
        }
    }

    /// One time step: controller, addressing, reads, writes.
    fn step(&self, t: usize, trace: &mut Trace<R>) {
        for layer in 0..self.config.controller.layers {
            self.control(layer, t, trace);
        }
        let hidden = trace.layers[self.config.controller.layers - 1]
            .hidden
            .row(t);
        self.params.heads.forward(hidden, trace.raw.row_mut(t));
        trace.features.row_mut(t)[..hidden.len()].copy_from_slice(hidden);

        let (now, next) = (trace.memory_row(t), trace.memory_row(t + 1));
        let norms = trace.norms_row(t);
        let (before, after) = trace.memory_columns.two_rows(now, next);
        let epsilon = R::from_f64(self.config.similarity_epsilon);
        let (norms, raw) = (trace.norms.row_mut(norms), trace.raw.row(t));
        similarity::norms(before, epsilon, norms);
        for (index, head) in trace.heads.iter_mut().enumerate() {
            let columns = self.config.head_columns(index);
            activate(&self.config, &columns, raw, head, t);
            similarity::cosine(
                head.key.row(t),
                before,
                norms,
                epsilon,
                head.similarity.row_mut(t),
            );
            address(head, t);
            if let Role::Read { read } = &mut head.role {
                memory::read(before, head.weighting.row(t), read.row_mut(t));
                let m = read.width();
                let start = hidden.len() + index * m;
                trace.features.row_mut(t)[start..start + m].copy_from_slice(read.row(t));
            }
        }
        let writers = &trace.heads[self.config.read_heads..];
        memory::write(writers, t, before, after);
    }

    /// One controller layer: gathers what it sees, then the linear map and the activations.
    fn control(&self, index: usize, t: usize, trace: &mut Trace<R>) {
        let (below, rest) = trace.layers.split_at_mut(index);
        let layer = &mut rest[0];
        let lstm = self.config.controller.kind == ControllerKind::Lstm;
        let initial = &self.params.initial;

        let seen = layer.input.row_mut(t);
        let mut at = 0;
        let mut see = |part: &[R]| {
            seen[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        if let Some(below) = below.last() {
            see(below.hidden.row(t));
        } else {
            see(trace.input.row(t));
            for (q, head) in trace.heads.iter().enumerate() {
                if let Role::Read { read } = &head.role {
                    see(if t > 0 {
                        read.row(t - 1)
                    } else {
                        initial.read.row(q)
                    });
                }
            }
        }
        if lstm {
            see(if t > 0 {
                layer.hidden.row(t - 1)
            } else {
                initial.hidden.row(index)
            });
        }

        let linear = &self.params.controller[index];
        let seen = &*seen;
        let pre_activate = |z: &mut [R]| {
            if index == 0 {
                // The part of x stands there since `see_inputs`.
                linear.forward_from(self.config.inputs, &seen[self.config.inputs..], z);
            } else {
                linear.forward(seen, z);
            }
        };
        let hidden = layer.hidden.row_mut(t);
        if !lstm {
            pre_activate(hidden);
            return feedforward::forward(hidden);
        }
        let z = layer.gates.row_mut(t);
        pre_activate(z);
        if t > 0 {
            let (before, cell) = layer.cell.previous_and_row_mut(t);
            lstm::forward(z, before, cell, layer.cell_tanh.row_mut(t), hidden);
        } else {
            let before = initial.cell.row(index);
            lstm::forward(
                z,
                before,
                layer.cell.row_mut(0),
                layer.cell_tanh.row_mut(0),
                hidden,
            );
        }
    }
}

kernel! {
    /// The addressing of one head at one step, from its similarity to its weighting.
    fn address<'a, R>(simd; head: &'a mut HeadTrace<R>, t: usize) {
        let w_c = head.content.row_mut(t);
        let (w_g, w_s) = (head.gated.row_mut(t), head.shifted.row_mut(t));
        let (w_previous, w) = if t == 0 {
            (&head.initial[..], head.weighting.row_mut(0))
        } else {
            head.weighting.previous_and_row_mut(t)
        };
        content(simd, head.strength[t], head.similarity.row(t), w_c);
        interpolate(head.gate[t], w_c, w_previous, w_g);
        shift(head.shift.row(t), w_g, w_s);
        sharpen(simd, head.sharpening[t], w_s, w);
    }
}

kernel! {
    /// A learned initial weighting: a distribution whatever its logits.
    fn distribution_of<'a, R>(simd; logits: &'a [R], weighting: &'a mut [R]) {
        softmax(simd, R::ONE, logits, weighting);
    }
}
