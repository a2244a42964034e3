//! Derivatives of one number with respect to all values of a recorded episode: the intermediate results of
//! back-propagation, recorded.
//!
//! The number is a function of the logits and, where it has a part in it, of the weightings: a loss, or the logit of
//! one output bit. Its derivative with respect to a value of the trace is a total derivative: the change of the number
//! per unit change of that value in that step. Everything computed from the value afterwards, in this step and in all
//! later ones, is recomputed; everything before it stays. So the derivative with respect to a weighting includes the
//! reads and writes through it and its use in the next step; the derivative with respect to M_t includes every later
//! read of M_t.
//!
//! [`super::Model::derivatives`] returns a [`Trace`] whose arrays hold the derivatives with respect to those of the same
//! names, in the same shapes. A derivative that does not exist is absent there, an array of width 0, never zero:
//!
//! * `output`, for the number is a function of the logits, of which the output is made;
//! * noise, the prior of a Bayesian head, and the centre of a monotonic window, which moves in whole rows;
//! * of a hard head that drew its row, everything that leads to nothing but the draw: `distribution`, the stages before
//!   it, their parameters, the key, the initial weighting. All other derivatives hold with the drawn rows as they are;
//! * scratch, which stands in no file.
//!
//! What is learned is the same in all steps, and so is its derivative: by all steps together. It costs an update
//! nothing but a look, per step and head, whether anybody asked.

use super::addressing::address_backward;
use super::array;
use super::attention::Weighting;
use super::head::HeadGradient;
use super::kind::AsKind;
use super::machine::{Terms, Upstream, record};
use super::score;
use super::spec::{Array, Place};
use super::stage::Stage;
use super::trace::{HeadTrace, NoiseMode, Trace};
use super::weighting::bayesian::DIVERGENCE;
use super::weighting::local::{CENTRE, POSITION_WEIGHT};
use super::window::Back;
use crate::math::vectors::add;
use crate::math::{Real, Series};

impl<R: Real> Trace<R> {
    /// A trace that has no array yet; it knows the size of its memory, and which heads write.
    pub(super) fn without_values(kind: &impl AsKind, source: usize) -> Self {
        let mut trace = Self::of_source(kind, source);
        for (_, array, series) in trace.everything_mut() {
            if ![array::NORMS, array::ADD].contains(&array) {
                *series = Series::new(0);
            }
        }
        trace
    }

    /// Records the derivative w.r.t. the logits.
    pub(super) fn record_logits(&mut self, of: &Self, by: &Upstream<R>) {
        for t in 0..of.steps() {
            record(&mut self.logit, &of.logit, t, by.logit.row(t));
        }
    }

    /// Records the derivatives w.r.t. the reads of step `t`, which are stored side by side.
    pub(super) fn record_reads(&mut self, of: &Self, t: usize, reads: &[R]) {
        let columns = of.memory_size()[1].max(1);
        let heads = self.heads.iter_mut().zip(&of.heads);
        for ((to, head), by) in heads.zip(reads.chunks_exact(columns)) {
            record(&mut to.read, &head.read, t, by);
        }
    }

    /// Records the derivative w.r.t. an array that only this kind of machine has.
    pub(super) fn record_own(&mut self, of: &Self, array: Array, t: usize, values: &[R]) {
        let to = self.entry_mut(Place::Machine, array);
        if let Some((of, to)) = of.series(Place::Machine, array).zip(to) {
            record(to, of, t, values);
        }
    }

    /// Records the derivative w.r.t. M_t.
    pub(super) fn record_memory(&mut self, of: &Self, t: usize, memory: &[R]) {
        record(&mut self.memory_columns, &of.memory_columns, t, memory);
    }
}

impl<R: Real> HeadTrace<R> {
    /// Returns true if the stages before the weighting lead only to a sampled row.
    fn is_drawn(&self, sampling: NoiseMode) -> bool {
        self.mechanism.weighting == Weighting::Hard && sampling != NoiseMode::Expected
    }

    /// Records the derivatives w.r.t. the parameters that a head emitted in step `t`.
    pub(super) fn record_emitted(
        &mut self,
        head: &Self,
        t: usize,
        by: &HeadGradient<R>,
        (sampling, terms): (NoiseMode, &Terms<R>),
    ) {
        record(&mut self.erase, &head.erase, t, &by.erase);
        record(&mut self.add, &head.add, t, &by.add);
        if head.is_drawn(sampling) {
            return;
        }
        record(&mut self.key, &head.key, t, &by.key);
        record(&mut self.strength, &head.strength, t, &[by.strength]);
        record(&mut self.gate, &head.gate, t, &[by.gate]);
        record(&mut self.shift, &head.shift, t, &by.shift);
        record(&mut self.sharpening, &head.sharpening, t, &[by.sharpening]);
        if head.series(POSITION_WEIGHT).is_some() {
            self.record_own(head, CENTRE, t, &[by.centre]);
        }
        self.record_own(head, DIVERGENCE, t, &[terms.divergence]);
    }

    /// Records the derivatives w.r.t. the weightings and the divergences of the steps before a head attends.
    pub(super) fn record_before(&mut self, head: &Self, by: &Upstream<R>) {
        for t in (0..head.first_step).rev() {
            let weighting = &by.weightings[0];
            if weighting.width() > 0 {
                record(&mut self.weighting, &head.weighting, t, weighting.row(t));
            }
            self.record_own(head, DIVERGENCE, t, &[by.terms.divergence]);
        }
    }

    /// Records the derivatives w.r.t. the initial weighting and its weights, at the end of the backward pass.
    pub(super) fn record_start(
        &mut self,
        head: &Self,
        by: &mut HeadGradient<R>,
        sampling: NoiseMode,
    ) {
        if head.is_drawn(sampling) {
            return;
        }
        record(&mut self.initial, &head.initial, 0, &by.previous);
        let to_of = [
            (&mut self.of_score, &head.of_score, &by.of_score),
            (&mut self.of_weighting, &head.of_weighting, &by.of_weighting),
        ];
        for (to, of, by) in to_of {
            let learned = of.arrays().zip(to.arrays_mut());
            let learned = learned.filter(|((array, _), _)| array.is_learned());
            for (((_, of), (_, to)), by) in learned.zip(&by.learned) {
                record(to, of, 0, by);
            }
        }
    }

    /// Records the derivative w.r.t. an array of the head.
    fn record_own(&mut self, head: &Self, array: Array, t: usize, values: &[R]) {
        let mut arrays = self.arrays_mut();
        // Its width is 0 until something is recorded.
        let to = arrays.find(|(other, _)| *other == array);
        if let Some((of, (_, to))) = head.series(array).zip(to) {
            record(to, of, t, values);
        }
    }
}

/// Backpropagates step `to.t` of heads from the gradients w.r.t. their weightings through addressing and scores, to
/// those w.r.t. what they emitted and w.r.t. the memory that they saw. `weightings` are the gradients w.r.t. the
/// weightings that do not come through reads and writes.
///
/// Where derivatives are requested, it goes through addressing stage by stage and records the gradient of each.
pub(super) fn heads_backward<R: Real>(
    heads: &[HeadTrace<R>],
    gradients: &mut [HeadGradient<R>],
    weightings: &[Series<R>],
    (sampling, terms): (NoiseMode, &Terms<R>),
    derivatives: Option<&mut [HeadTrace<R>]>,
    to: Back<'_, R>,
) {
    let t = to.t;
    for (from, by) in weightings.iter().zip(&mut *gradients) {
        if from.width() > 0 {
            add(&mut by.weighting[..], from.row(t));
        }
    }
    if let Some(derivatives) = derivatives {
        address_backward_recording(heads, t, (sampling, terms), gradients, derivatives);
    } else {
        address_backward(heads, t, sampling, terms, gradients, None);
    }
    score::backward(heads, gradients, to);
}

/// [`address_backward`], stage by stage.
fn address_backward_recording<R: Real>(
    heads: &[HeadTrace<R>],
    t: usize,
    (sampling, terms): (NoiseMode, &Terms<R>),
    gradients: &mut [HeadGradient<R>],
    derivatives: &mut [HeadTrace<R>],
) {
    for by in &mut *gradients {
        add(&mut by.weighting[..], &by.previous[..]);
    }
    for stage in Stage::all().into_iter().rev() {
        let handed = heads.iter().zip(&*gradients).zip(&mut *derivatives);
        for ((head, by), to) in handed {
            let is_weighting = stage == Stage::Draw || head.distribution.width() == 0;
            let is_on_path = !matches!(stage, Stage::Centre | Stage::Divergence);
            if is_on_path
                && (is_weighting || !head.is_drawn(sampling))
                && let Some(made) = stage.makes(head)
            {
                to.record_own(head, made, t, &by.weighting);
            }
        }
        address_backward(heads, t, sampling, terms, gradients, Some(stage));
    }
    for ((head, by), to) in heads.iter().zip(gradients).zip(derivatives) {
        if !head.is_drawn(sampling) {
            record(&mut to.similarity, &head.similarity, t, &by.weighting);
        }
    }
}
