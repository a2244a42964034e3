//! What a head emits, and what it writes.

use super::kind::{AT_ROWS, AT_WEIGHTS, SamConfig};
use crate::math::Real;
use crate::math::kernel::kernel;
use crate::model::head::{gate, one_plus};
use crate::model::trace::HeadTrace;

kernel! {
    /// Sets what a head emits from its pre-activations: a vector with this number of columns, then strength or gates.
    pub(super) fn set_emitted<'a, R>(simd; columns: usize, raw: &'a [R], head: &'a mut HeadTrace<R>, t: usize) {
        let (vector, scalars) = raw.split_at(columns);
        if head.is_write() {
            let [write, interpolation] = head.of_score.all_mut();
            head.add.row_mut(t).copy_from_slice(vector);
            write[t] = gate(simd, scalars[0]);
            interpolation[t] = gate(simd, scalars[1]);
        } else {
            head.key.row_mut(t).copy_from_slice(vector);
            head.strength[t] = one_plus(simd, scalars[0]);
        }
    }
}

impl SamConfig {
    /// The row that a number of the trace names.
    pub(super) fn row_of<R: Real>(&self, number: R) -> usize {
        (number.to_f64() as usize).min(self.rows - 1)
    }

    /// Row `k` of those that a head read in the step before, and its weight: before the first step 1 on row 0.
    pub(super) fn read_before<R: Real>(
        &self,
        reader: &HeadTrace<R>,
        t: usize,
        k: usize,
    ) -> (usize, R) {
        let of = |at, t| reader.of_score.at(at).row(t)[k];
        match t.checked_sub(1) {
            Some(last) => (self.row_of(of(AT_ROWS, last)), of(AT_WEIGHTS, last)),
            None => (0, if k == 0 { R::ONE } else { R::ZERO }),
        }
    }

    /// The rows that a head writes in step `t` and their weights: the least recently accessed row, then those that it read in
    /// the step before.
    pub(super) fn written<'a, R: Real>(
        &'a self,
        [reader, writer]: [&'a HeadTrace<R>; 2],
        t: usize,
    ) -> impl Iterator<Item = (usize, R)> + 'a {
        let [alpha, gamma, least] = writer.of_score.all();
        let (alpha, gamma) = (alpha[t], gamma[t]);
        let before = (0..self.read_rows).map(move |k| self.read_before(reader, t, k));
        let before = before.map(move |(row, weight)| (row, alpha * gamma * weight));
        let least = (self.row_of(least[t]), alpha * (R::ONE - gamma));
        std::iter::once(least).chain(before)
    }

    /// The read and the write head of a head of the paper.
    pub(super) fn pair<'a, R>(
        &self,
        heads: &'a [HeadTrace<R>],
        head: usize,
    ) -> [&'a HeadTrace<R>; 2] {
        [&heads[head], &heads[self.heads + head]]
    }
}
