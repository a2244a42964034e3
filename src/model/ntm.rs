//! The machine on one page: an episode forwards, and back through it.
//!
//! Conventions, each pinned by a test: every head addresses M_{t−1}; reads see M_{t−1}; then all erases,
//! then all adds; the output sees h_t and the reads of this step. With [`Order::WriteFirst`] the read heads
//! address and see M_t.

use ndarray::Array2;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::addressing::{content, interpolate, logarithms, sharpen, shift};
use super::config::{ControllerKind, InitialMemory, InitialWeighting, ModelConfig, Order};
use super::controller::{feedforward, lstm};
use super::head::activate;
use super::memory;
use super::params::Params;
use super::trace::{HeadTrace, Trace};
use crate::keys::ConfigError;
use crate::math::pack::map_packs;
use crate::math::simd::{Simd, kernel};
use crate::math::softmax::softmax;
use crate::math::{Real, sigmoid, similarity};

/// How many episodes go through the machine side by side when it learns.
pub use crate::math::matrix::TOGETHER;

/// Calls `$work` with the first `$count` of a slice as an array, 1 ≤ `$count` ≤ [`TOGETHER`].
macro_rules! together {
    ($count:expr, $slice:expr, |$array:ident| $work:expr) => {
        match $count {
            1 => together!(@ 1, $slice, $array, $work),
            2 => together!(@ 2, $slice, $array, $work),
            3 => together!(@ 3, $slice, $array, $work),
            _ => together!(@ 4, $slice, $array, $work),
        }
    };
    (@ $count:literal, $slice:expr, $array:ident, $work:expr) => {
        if let Some($array) = $slice.first_chunk_mut::<$count>() {
            $work;
        }
    };
}
pub(super) use together;

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

    /// The same weights on another number of memory rows.
    ///
    /// # Errors
    /// As for [`ModelConfig::with_rows`].
    pub fn with_rows(&self, rows: usize) -> Result<Self, ConfigError> {
        let config = self.config.with_rows(rows)?;
        let mut params = self.params.clone();
        if rows != self.config.rows {
            // Empty, but of the new width.
            params.initial.weighting = Params::zeros(&config).initial.weighting;
        }
        Ok(Self { config, params })
    }

    /// Runs one episode, [T, X], and records everything in `trace`.
    pub fn run(&self, input: &Array2<f32>, trace: &mut Trace<R>) {
        trace.memory_every = 1;
        trace.resize(input.nrows());
        self.load(input, trace);
        self.run_loaded(std::slice::from_mut(trace));
    }

    /// Runs episodes to differentiate them: like [`Ntm::run`] for each, but step by step through up to
    /// [`TOGETHER`] of them, so that the weights are read once for all; and a memory so large that all M_t
    /// take more than `limit` values is kept in part and written again on the way back, to the same bits.
    ///
    /// `traces` has a trace for every input, and the longest input comes first.
    pub fn run_for_training<'a>(
        &self,
        inputs: impl Iterator<Item = &'a Array2<f32>>,
        limit: usize,
        traces: &mut [Trace<R>],
    ) {
        for (input, trace) in inputs.zip(&mut *traces) {
            trace.resize_for_training(input.nrows(), limit);
            self.load(input, trace);
        }
        for traces in traces.chunks_mut(TOGETHER) {
            self.run_loaded(traces);
        }
    }

    /// Gives a trace, which has room for it, its input.
    fn load(&self, input: &Array2<f32>, trace: &mut Trace<R>) {
        assert_eq!(input.ncols(), self.config.inputs, "columns of the input");
        for (to, &from) in trace.input.as_mut_slice().iter_mut().zip(input) {
            *to = R::from_f64(f64::from(from));
        }
    }

    /// Runs up to [`TOGETHER`] episodes, longest first, that stand in their traces.
    fn run_loaded(&self, traces: &mut [Trace<R>]) {
        for trace in &mut *traces {
            self.reset(trace);
            self.see_inputs(trace);
        }
        for t in 0..traces.first().map_or(0, Trace::steps) {
            let running = traces.partition_point(|trace| trace.steps() > t);
            together!(running, traces, |traces| self.step(t, traces));
        }
        for trace in traces {
            let (features, logit) = (&trace.features, &mut trace.logit);
            self.params.output.forward_series(features, logit);
            output(logit.as_slice(), trace.output.as_mut_slice());
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
                    head.initial.row_mut(0).fill(R::ZERO);
                    head.initial[0] = R::ONE;
                }
                InitialWeighting::Learned => {
                    let logits = initial.weighting.row(index);
                    distribution_of(logits, head.initial.row_mut(0));
                }
            }
        }
    }

    /// What does not depend on the state is done for all steps at once: b + x_t·W of the first layer.
    fn see_inputs(&self, trace: &mut Trace<R>) {
        let layer = &mut trace.layers[0];
        for t in 0..trace.input.steps() {
            let x = trace.input.row(t);
            layer.input.row_mut(t)[..x.len()].copy_from_slice(x);
        }
        let z = match self.config.controller.kind {
            ControllerKind::Lstm => &mut layer.gates,
            ControllerKind::Feedforward => &mut layer.hidden,
        };
        self.params.controller[0].forward_series(&trace.input, z);
    }

    /// One time step: controller, addressing, reads, writes.
    fn step<const B: usize>(&self, t: usize, traces: &mut [Trace<R>; B]) {
        for index in 0..self.config.controller.layers {
            self.control(index, t, traces);
        }
        let top = self.config.controller.layers - 1;
        let hidden_to_raw = traces.each_mut().map(|trace| {
            let raw = trace.raw.row_mut(t);
            self.params.heads.start(raw);
            (trace.layers[top].hidden.row(t), raw)
        });
        self.params.heads.forward_from(0, hidden_to_raw);
        for trace in traces {
            self.remember(t, trace);
        }
    }

    /// Addressing, reads and writes of one step.
    fn remember(&self, t: usize, trace: &mut Trace<R>) {
        let (now, next) = (trace.memory_row(t), trace.memory_row(t + 1));
        let norms = trace.norms_row(t);
        let (before, after) = trace.memory_columns.two_rows(now, next);
        let epsilon = R::from_f64(self.config.similarity_epsilon);
        activate(&self.config, trace.raw.row(t), &mut trace.heads, t);
        let (heads, norms) = (&mut trace.heads, trace.norms.row_mut(norms));
        match self.config.order {
            Order::ReadFirst => {
                compare(heads, t, before, epsilon, norms);
                address(heads, t);
                memory::read_and_write(heads, t, before, after);
            }
            Order::WriteFirst => {
                let (readers, writers) = heads.split_at_mut(self.config.read_heads);
                compare(writers, t, before, epsilon, norms);
                address(writers, t);
                memory::write(writers, t, before, after);
                compare(readers, t, after, epsilon, norms);
                address(readers, t);
                memory::read(readers, t, after);
            }
        }

        let features = trace.features.row_mut(t);
        let hidden = trace.layers[self.config.controller.layers - 1]
            .hidden
            .row(t);
        let (seen_hidden, seen_reads) = features.split_at_mut(hidden.len());
        seen_hidden.copy_from_slice(hidden);
        let seen_reads = seen_reads.chunks_exact_mut(self.config.columns);
        for (seen, head) in seen_reads.zip(&trace.heads) {
            seen.copy_from_slice(head.read.row(t));
        }
    }

    /// One controller layer: gathers what it sees, then the linear map and the activations.
    fn control<const B: usize>(&self, index: usize, t: usize, traces: &mut [Trace<R>; B]) {
        let linear = &self.params.controller[index];
        // The part of x stands in the pre-activations since `see_inputs`.
        let first = if index == 0 { self.config.inputs } else { 0 };
        let lstm = self.config.controller.kind == ControllerKind::Lstm;
        let seen_to_z = traces.each_mut().map(|trace| {
            self.gather(index, t, trace);
            let layer = &mut trace.layers[index];
            let z = if lstm {
                layer.gates.row_mut(t)
            } else {
                layer.hidden.row_mut(t)
            };
            if index > 0 {
                linear.start(z);
            }
            (&layer.input.row(t)[first..], z)
        });
        linear.forward_from(first, seen_to_z);
        for trace in traces {
            let layer = &mut trace.layers[index];
            if !lstm {
                feedforward::forward(layer.hidden.row_mut(t));
                continue;
            }
            let (before, cell) = if t > 0 {
                layer.cell.previous_and_row_mut(t)
            } else {
                (self.params.initial.cell.row(index), layer.cell.row_mut(0))
            };
            lstm::forward(
                layer.gates.row_mut(t),
                before,
                cell,
                layer.cell_tanh.row_mut(t),
                layer.hidden.row_mut(t),
            );
        }
    }

    /// What a controller layer sees: the layer below, or x_t and the last reads; its own last state.
    fn gather(&self, index: usize, t: usize, trace: &mut Trace<R>) {
        let (below, rest) = trace.layers.split_at_mut(index);
        let layer = &mut rest[0];
        let initial = &self.params.initial;
        let mut seen = layer.input.row_mut(t);
        let mut see = |part: &[R]| {
            let (to, rest) = std::mem::take(&mut seen).split_at_mut(part.len());
            to.copy_from_slice(part);
            seen = rest;
        };
        if let Some(below) = below.last() {
            see(below.hidden.row(t));
        } else {
            see(trace.input.row(t));
            for (q, head) in trace.heads[..self.config.read_heads].iter().enumerate() {
                see(if t > 0 {
                    head.read.row(t - 1)
                } else {
                    initial.read.row(q)
                });
            }
        }
        if self.config.controller.kind == ControllerKind::Lstm {
            see(if t > 0 {
                layer.hidden.row(t - 1)
            } else {
                initial.hidden.row(index)
            });
        }
    }
}

/// The similarities of all heads at one step with the memory before it, and the norms of its rows.
pub(super) fn compare<R: Real>(
    heads: &mut [HeadTrace<R>],
    t: usize,
    before: &[R],
    epsilon: R,
    norms: &mut [R],
) {
    for heads in heads.chunks_mut(2) {
        // In pairs: the keys of two heads and the norms share one pass over the memory.
        match heads {
            [first, second] => {
                let pairs = [first.key_and_similarity(t), second.key_and_similarity(t)];
                similarity::cosines(pairs, before, epsilon, norms);
            }
            heads => {
                for head in heads {
                    let pair = head.key_and_similarity(t);
                    similarity::cosines([pair], before, epsilon, norms);
                }
            }
        }
    }
}

kernel! {
    /// y = σ(z), for all steps.
    pub(crate) fn output<'a, R>(simd; z: &'a [R], y: &'a mut [R]) {
        map_packs!(simd, y = [z] => sigmoid(z));
    }
}

kernel! {
    /// The addressing of all heads at one step, from their similarities to their weightings. Stage by
    /// stage, for the heads do not wait for each other while each stage waits for the one before.
    pub(super) fn address<'a, R>(simd; heads: &'a mut [HeadTrace<R>], t: usize) {
        for head in &mut *heads {
            content_of(simd, head, t);
        }
        for head in &mut *heads {
            gated_of(simd, head, t);
        }
        for head in &mut *heads {
            shifted_of(simd, head, t);
        }
        for head in &mut *heads {
            logarithms(simd, head.shifted.row(t), head.weighting.row_mut(t));
        }
        for head in heads {
            sharpen(simd, head.sharpening[t], head.weighting.row_mut(t));
        }
    }
}

/// Equation 5 at one step, from the similarity.
#[inline(always)]
pub(super) fn content_of<R: Real, S: Simd>(simd: S, head: &mut HeadTrace<R>, t: usize) {
    let (similarity, to) = (head.similarity.row(t), head.content.row_mut(t));
    content(simd, head.strength[t], similarity, to);
}

/// Equation 7 at one step, from the content.
#[inline(always)]
pub(super) fn gated_of<R: Real, S: Simd>(simd: S, head: &mut HeadTrace<R>, t: usize) {
    let (w_c, to) = (head.content.row(t), head.gated.row_mut(t));
    let w_previous = if t == 0 {
        head.initial.row(0)
    } else {
        head.weighting.row(t - 1)
    };
    interpolate(simd, head.gate[t], w_c, w_previous, to);
}

/// Equation 8 at one step, from the gated weighting.
#[inline(always)]
pub(super) fn shifted_of<R: Real, S: Simd>(simd: S, head: &mut HeadTrace<R>, t: usize) {
    let (w_g, to) = (head.gated.row(t), head.shifted.row_mut(t));
    shift(simd, head.shift.row(t), w_g, to);
}

/// Equation 9 at one step, from the shifted weighting.
#[inline(always)]
pub(super) fn weighting_of<R: Real, S: Simd>(simd: S, head: &mut HeadTrace<R>, t: usize) {
    let (w_s, to) = (head.shifted.row(t), head.weighting.row_mut(t));
    logarithms(simd, w_s, to);
    sharpen(simd, head.sharpening[t], to);
}

kernel! {
    /// A learned initial weighting: a distribution whatever its logits.
    fn distribution_of<'a, R>(simd; logits: &'a [R], weighting: &'a mut [R]) {
        softmax(simd, R::ONE, logits, weighting);
    }
}
