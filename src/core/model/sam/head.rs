//! What a head emits, and what it writes.

use super::kind::SamConfig;
use crate::math::kernel::kernel;
use crate::math::pack::map_packs;
use crate::math::{Real, sigmoid, softplus};
use crate::model::trace::HeadTrace;

kernel! {
    /// β from its pre-activation: 1 + softplus.
    fn one_plus<'a, R>(simd; z: &'a [R], to: &'a mut [R]) {
        map_packs!(simd, to = [z] => softplus(z) + R::ONE);
    }
}

kernel! {
    /// A gate from its pre-activation.
    pub(super) fn gate<'a, R>(simd; z: &'a [R], to: &'a mut [R]) {
        map_packs!(simd, to = [z] => sigmoid(z));
    }
}

impl SamConfig {
    /// The row that a number of the trace names.
    pub(super) fn row_of<R: Real>(&self, number: R) -> usize {
        (number.to_f64() as usize).min(self.rows - 1)
    }

    /// Sets what a head emits from its pre-activations.
    pub(super) fn emit<R: Real>(&self, raw: &[R], head: &mut HeadTrace<R>, t: usize) {
        let (vector, scalars) = raw.split_at(self.columns);
        if head.is_write() {
            let [write, interpolation, _] = head.of_score.all_mut();
            head.add.row_mut(t).copy_from_slice(vector);
            gate(&scalars[..1], write.row_mut(t));
            gate(&scalars[1..], interpolation.row_mut(t));
        } else {
            head.key.row_mut(t).copy_from_slice(vector);
            one_plus(scalars, head.strength.row_mut(t));
        }
    }

    /// The rows that a head writes in step `t` and their weights: the least recently accessed row, then those that it read in
    /// the step before.
    pub(super) fn written<'a, R: Real>(
        &'a self,
        [reader, writer]: [&'a HeadTrace<R>; 2],
        t: usize,
    ) -> impl Iterator<Item = (usize, R)> + 'a {
        let ([rows, _, weights], [alpha, gamma, least]) =
            (reader.of_score.all(), writer.of_score.all());
        let (alpha, gamma) = (alpha[t], gamma[t]);
        let before = (0..self.read_rows).map(move |k| match t.checked_sub(1) {
            Some(before) => (self.row_of(rows.row(before)[k]), weights.row(before)[k]),
            None => (0, if k == 0 { R::ONE } else { R::ZERO }),
        });
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
