//! Back through sparse access memory, from the last step to the first.
//!
//! The rows that the episode touched stand in slots, at first as they were after the last step. Every step finds in them
//! what its heads read, and then puts back what stood there before its writes. Gradients w.r.t. the memory are those
//! w.r.t. the rows in slots.

use super::kind::{
    AT_EARLIER, AT_INITIAL, COSINES, INITIAL_ROWS, INTERPOLATION_GATE, SamConfig, WEIGHTS,
    WRITE_GATE,
};
use crate::math::kernel::kernel;
use crate::math::similarity::quotient;
use crate::math::softmax::{dot, softmax_backward};
use crate::math::vectors::{add, add_multiple};
use crate::math::{Matrix, Real};
use crate::model::array;
use crate::model::head::{gate_backward, one_plus_backward};
use crate::model::machine::GradientRecorder;
use crate::model::memory_machine::Gradients;
use crate::model::sparse::{norm_of, set_norm};
use crate::model::spec::{Array, Place};
use crate::model::trace::Trace;

/// The gradients that travel from step to step, and scratch.
pub(in crate::model) struct Scratch<R> {
    /// The rows in slots, [slots, M + 1].
    contents: Vec<R>,
    /// w.r.t. them, [slots, M].
    memory: Vec<R>,
    /// w.r.t. the weights of every head through the writes of the next step, [heads, K].
    weights: Vec<R>,
    /// w.r.t. the weights of a head, and w.r.t. β times its cosines, [K] each.
    of_head: [Vec<R>; 2],
}

impl<R: Real> Scratch<R> {
    pub(super) fn new(config: &SamConfig) -> Self {
        let zeros = |len| vec![R::ZERO; len];
        let k = config.read_rows;
        Self {
            contents: Vec::new(),
            memory: Vec::new(),
            weights: zeros(config.heads * k),
            of_head: [zeros(k), zeros(k)],
        }
    }

    pub(super) fn reset(&mut self, trace: &Trace<R>, config: &SamConfig) {
        self.weights.fill(R::ZERO);
        // Room for the most rows that an episode of this length may touch.
        let most = config.touched(trace.steps()).min(config.rows);
        let m = config.columns;
        self.contents.clear();
        self.contents.reserve(most * (m + 1));
        self.contents.extend_from_slice(trace.sparse.contents());
        self.memory.clear();
        self.memory.reserve(most * m);
        self.memory.resize(trace.sparse.slots() * m, R::ZERO);
    }
}

kernel! {
    /// Through softmax and cosines of one head, in a step: from the gradients w.r.t. its weights to those w.r.t. β times its
    /// cosines; returns those w.r.t. β and w.r.t. its pre-activation z.
    fn weigh_backward<'a, R>(
        simd; weights: &'a [R], cosines: &'a [R], z: R, d_weights: &'a [R], d_scaled: &'a mut [R],
    ) -> [R; 2] {
        softmax_backward(simd, weights, d_weights, d_scaled);
        let d_strength = dot(simd, d_scaled, cosines);
        [d_strength, one_plus_backward(simd, z, d_strength)]
    }
}

kernel! {
    /// Σ x_i·y_i.
    fn product<'a, R>(simd; x: &'a [R], y: &'a [R]) -> R {
        dot(simd, x, y)
    }
}

impl SamConfig {
    /// Through r = Σ w·M, the softmax and the cosines of a head.
    pub(super) fn read_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        (head, t): (usize, usize),
        gradients: &mut Gradients<R, Scratch<R>>,
        recorder: GradientRecorder<'_, R>,
    ) {
        let (m, k, of) = (self.columns, self.read_rows, &trace.heads[head]);
        let ([rows, cosines, weights], key) = (of.of_score.all(), of.key.row(t));
        let Scratch {
            contents,
            memory,
            weights: later,
            of_head: [d_weights, d_scaled],
        } = &mut gradients.memory;
        let d_read = &gradients.frame.stack.others[head * m..][..m];
        let slots = rows
            .row(t)
            .iter()
            .map(|&row| trace.sparse.place(self.row_of(row)));
        let later = &later[head * k..][..k];
        let all = slots.clone().zip(&mut *d_weights);
        for ((slot, to), (&weight, &later)) in all.zip(weights.row(t).iter().zip(later)) {
            *to = later + product(d_read, &contents[slot * (m + 1)..]);
            add_multiple(&mut memory[slot * m..][..m], weight, d_read);
        }
        let (strength, cosines) = (of.strength[t], cosines.row(t));
        let z = trace.raw.row(t)[self.raw(head)][m];
        let [d_strength, d_z] = weigh_backward(weights.row(t), cosines, z, d_weights, d_scaled);
        let d_raw = &mut gradients.frame.raw.row_mut(t)[self.raw(head)];
        let (d_key, d_raw_strength) = d_raw.split_at_mut(m);
        d_raw_strength[0] = d_z;
        let norm = norm_of(key, self.similarity_epsilon);
        for ((slot, &d_scaled), &cosine) in slots.zip(&*d_scaled).zip(cosines) {
            let d_cosine = strength * d_scaled;
            let (row, of_row) = contents[slot * (m + 1)..][..=m].split_at(m);
            let along = quotient(d_cosine, norm * of_row[0]);
            add_multiple(&mut *d_key, along, row);
            let against = quotient(d_cosine * cosine, norm * norm);
            add_multiple(&mut *d_key, R::ZERO - against, key);
            let d_row = &mut memory[slot * m..][..m];
            add_multiple(&mut *d_row, along, key);
            let against = quotient(d_cosine * cosine, of_row[0] * of_row[0]);
            add_multiple(&mut *d_row, R::ZERO - against, row);
        }
        if let Some(to) = recorder {
            let mut record = |array: Array, values: &[R]| {
                to.record_array(trace, Place::Head(head), array, t, values);
            };
            record(WEIGHTS, d_weights);
            let d_cosines: Vec<R> = d_scaled.iter().map(|&d| strength * d).collect();
            record(COSINES, &d_cosines);
            record(array::KEY, d_key);
            record(array::STRENGTH, &[d_strength]);
        }
    }

    /// Through the writes of a head, whose rows are put back as they were before.
    pub(super) fn write_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        (head, t): (usize, usize),
        gradients: &mut Gradients<R, Scratch<R>>,
        recorder: GradientRecorder<'_, R>,
    ) {
        let (m, k, pair) = (self.columns, self.read_rows, self.pair(&trace.heads, head));
        let [alpha, gamma] = pair[1].of_score.all();
        let (alpha, gamma, add) = (alpha[t], gamma[t], pair[1].add.row(t));
        let Scratch {
            contents,
            memory,
            weights: later,
            ..
        } = &mut gradients.memory;
        let d_raw = &mut gradients.frame.raw.row_mut(t)[self.raw(self.heads + head)];
        let (d_add, d_gates) = d_raw.split_at_mut(m);
        let slots = self
            .written(pair, t)
            .map(|(row, weight)| (trace.sparse.place(row), weight));
        // w.r.t. α·(1 − γ), then w.r.t. α·γ·w of every row that was read before.
        let (mut d_least, mut d_before) = (R::ZERO, R::ZERO);
        let mut first = 0;
        for (place, (slot, weight)) in slots.enumerate() {
            let d_row = &memory[slot * m..][..m];
            add_multiple(&mut *d_add, weight, d_row);
            let d_weight = product(d_row, add);
            if let Some(index) = place.checked_sub(1) {
                let (_, read) = self.read_before(pair[0], t, index);
                d_before += d_weight * read;
                later[head * k + index] = alpha * gamma * d_weight;
            } else {
                (first, d_least) = (slot, d_weight);
            }
        }
        memory[first * m..][..m].fill(R::ZERO);
        let d_alpha = (R::ONE - gamma) * d_least + gamma * d_before;
        let d_gamma = alpha * (d_before - d_least);
        d_gates[0] = gate_backward(alpha, d_alpha);
        d_gates[1] = gate_backward(gamma, d_gamma);
        let tape = trace.kind_arrays.at(AT_EARLIER).row(t)[head * (k + 1) * m..][..(k + 1) * m]
            .chunks_exact(m);
        // The last one first: a row may have been written twice.
        for (place, earlier) in tape.enumerate().rev() {
            let row = self.written(pair, t).nth(place);
            let slot = row.map_or(first, |(row, _)| trace.sparse.place(row));
            let row = &mut contents[slot * (m + 1)..][..=m];
            row[..m].copy_from_slice(earlier);
            set_norm(row, self.similarity_epsilon);
        }
        if let Some(to) = recorder {
            let mut record = |array: Array, values: &[R]| {
                to.record_array(trace, Place::Head(self.heads + head), array, t, values);
            };
            record(array::ADD, d_add);
            record(WRITE_GATE, &[d_alpha]);
            record(INTERPOLATION_GATE, &[d_gamma]);
        }
    }

    /// The gradient w.r.t. M_0, where it is learned.
    pub(super) fn rows_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        scratch: &Scratch<R>,
        to: &mut Matrix<R>,
        recorder: GradientRecorder<'_, R>,
    ) {
        let (m, mut to) = (self.columns, to.view_mut());
        let slots = (0..).zip(scratch.memory.chunks_exact(m));
        let rows = slots.map(|(slot, d)| (trace.sparse.row_of(slot), d));
        if !to.is_empty() {
            rows.clone().for_each(|(row, d)| add(to.row_mut(row), d));
        }
        if let Some(recorder) = recorder {
            let mut initial = vec![R::ZERO; trace.kind_arrays.at(AT_INITIAL).width()];
            if !initial.is_empty() {
                rows.for_each(|(row, d)| initial[row * m..][..m].copy_from_slice(d));
            }
            recorder.record_array(trace, Place::Machine, INITIAL_ROWS, 0, &initial);
        }
    }
}
