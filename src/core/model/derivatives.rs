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

use std::ops::Range;

use super::addressing::address_backward;
use super::array;
use super::attention::Weighting;
use super::head::HeadGradient;
use super::kind::AsKind;
use super::machine::{GradientRecorder, Terms, Upstream, record};
use super::score;
use super::spec::{Array, Place};
use super::stage::Stage;
use super::trace::{NoiseMode, Trace};
use super::weighting::bayesian::DIVERGENCE;
use super::weighting::local::{CENTRE, POSITION_WEIGHT};
use super::window::BackwardStep;
use crate::math::vectors::add;
use crate::math::{Real, Series};

impl<R: Real> Trace<R> {
    /// A trace that has no array yet; it knows the size of its memory, and which heads write.
    pub(super) fn without_values(kind: &impl AsKind, of: &Self) -> Self {
        let mut trace = Self::of_episode(kind, of.steps(), of.setting.source);
        for (_, array, series) in trace.everything_mut() {
            if ![array::NORMS, array::ADD].contains(&array) {
                *series = Series::new(0);
            }
        }
        trace
    }

    /// Records the derivative w.r.t. the logits.
    pub(super) fn record_logits(&mut self, of: &Self, upstream: &Upstream<R>) {
        for t in 0..of.steps() {
            record(&mut self.logit, &of.logit, t, upstream.logit.row(t));
        }
    }

    /// Records the derivatives w.r.t. the reads of step `t`, which are stored side by side.
    pub(super) fn record_reads(&mut self, of: &Self, t: usize, reads: &[R]) {
        let mut rest = reads;
        for (to, head) in self.heads.iter_mut().zip(&of.heads) {
            let values = rest.split_off(..head.read.width()).unwrap_or_default();
            record(&mut to.read, &head.read, t, values);
        }
    }

    /// Records the derivative w.r.t. an array that not every machine or head has.
    pub(super) fn record_array(
        &mut self,
        of: &Self,
        place: Place,
        array: Array,
        t: usize,
        values: &[R],
    ) {
        // Its width is 0 until something is recorded.
        let to = self.entry_mut(place, array);
        if let Some((of, to)) = of.series(place, array).zip(to) {
            record(to, of, t, values);
        }
    }

    /// Records the derivative w.r.t. M_t.
    pub(super) fn record_memory(&mut self, of: &Self, t: usize, memory: &[R]) {
        record(&mut self.memory_columns, &of.memory_columns, t, memory);
    }

    /// Returns true if the stages of a head before its weighting lead only to a sampled row.
    fn is_drawn(&self, head: usize) -> bool {
        let weighting = self.heads[head].mechanism.weighting;
        weighting == Weighting::Hard && self.sampling != NoiseMode::Expected
    }

    /// Records the derivatives w.r.t. the parameters that a head emitted in step `t`.
    pub(super) fn record_emitted(
        &mut self,
        of: &Self,
        head: usize,
        t: usize,
        d: &HeadGradient<R>,
        terms: &Terms<R>,
    ) {
        let (place, to, from) = (Place::Head(head), &mut self.heads[head], &of.heads[head]);
        record(&mut to.erase, &from.erase, t, &d.erase);
        record(&mut to.add, &from.add, t, &d.add);
        if of.is_drawn(head) {
            return;
        }
        record(&mut to.key, &from.key, t, &d.key);
        record(&mut to.strength, &from.strength, t, &[d.strength]);
        record(&mut to.gate, &from.gate, t, &[d.gate]);
        record(&mut to.shift, &from.shift, t, &d.shift);
        record(&mut to.sharpening, &from.sharpening, t, &[d.sharpening]);
        if from.series(POSITION_WEIGHT).is_some() {
            self.record_array(of, place, CENTRE, t, &[d.centre]);
        }
        self.record_array(of, place, DIVERGENCE, t, &[terms.divergence]);
    }

    /// Records the derivatives w.r.t. the initial weighting and the weights of a head, at the end of the backward pass.
    pub(super) fn record_start(&mut self, of: &Self, head: usize, d: &HeadGradient<R>) {
        if of.is_drawn(head) {
            return;
        }
        let (to, from) = (&mut self.heads[head], &of.heads[head]);
        record(&mut to.initial, &from.initial, 0, &d.previous);
        let to_of = [
            (&mut to.of_score, &from.of_score, &d.of_score),
            (&mut to.of_weighting, &from.of_weighting, &d.of_weighting),
        ];
        for (to, of, d) in to_of {
            let learned = of.arrays().zip(to.arrays_mut());
            let learned = learned.filter(|((array, _), _)| array.is_learned());
            for (((_, of), (_, to)), values) in learned.zip(&d.learned) {
                record(to, of, 0, values);
            }
        }
    }
}

/// Backpropagates step `to.t` of some `heads` from the gradients w.r.t. their weightings through addressing and scores, to
/// those w.r.t. what they emitted and w.r.t. the memory that they saw. `upstream` has the gradients w.r.t. the weightings
/// that do not come through reads and writes.
///
/// Where derivatives are requested, it goes through addressing stage by stage and records the gradient of each.
pub(super) fn heads_backward<R: Real>(
    trace: &Trace<R>,
    heads: Range<usize>,
    gradients: &mut [HeadGradient<R>],
    upstream: &Upstream<R>,
    recorder: GradientRecorder<'_, R>,
    to: BackwardStep<'_, R>,
) {
    let of = &trace.heads[heads.clone()];
    let gradients = &mut gradients[heads.clone()];
    stages_backward(trace, heads, to.t, gradients, upstream, recorder);
    score::backward(of, gradients, to);
}

/// The part of [`heads_backward`] through addressing, to the gradients w.r.t. the similarities; `gradients` of these heads.
pub(super) fn stages_backward<R: Real>(
    trace: &Trace<R>,
    heads: Range<usize>,
    t: usize,
    gradients: &mut [HeadGradient<R>],
    upstream: &Upstream<R>,
    recorder: GradientRecorder<'_, R>,
) {
    let (terms, of) = (&upstream.terms, &trace.heads[heads.clone()]);
    let weightings = upstream.weightings[heads.clone()].iter();
    for (from, d) in weightings.zip(&mut *gradients) {
        if from.width() > 0 {
            add(&mut d.weighting[..], from.row(t));
        }
    }
    if let Some(recorder) = recorder {
        address_backward_recording(trace, heads, t, terms, gradients, recorder);
    } else {
        address_backward(of, t, trace.sampling, terms, gradients, None);
    }
}

/// [`address_backward`], stage by stage.
fn address_backward_recording<R: Real>(
    trace: &Trace<R>,
    heads: Range<usize>,
    t: usize,
    terms: &Terms<R>,
    gradients: &mut [HeadGradient<R>],
    recorder: &mut Trace<R>,
) {
    let of = &trace.heads[heads.clone()];
    for d in &mut *gradients {
        add(&mut d.weighting[..], &d.previous[..]);
    }
    for stage in Stage::all().into_iter().rev() {
        for (index, d) in heads.clone().zip(&*gradients) {
            let head = &trace.heads[index];
            let is_weighting = stage == Stage::Draw || head.distribution.width() == 0;
            let is_on_path = !matches!(stage, Stage::Centre | Stage::Divergence);
            if is_on_path
                && (is_weighting || !trace.is_drawn(index))
                && let Some(made) = stage.makes(head)
            {
                recorder.record_array(trace, Place::Head(index), made, t, &d.weighting);
            }
        }
        address_backward(of, t, trace.sampling, terms, gradients, Some(stage));
    }
    for (index, d) in heads.zip(gradients) {
        if !trace.is_drawn(index) {
            let (to, from) = (&mut recorder.heads[index], &trace.heads[index]);
            record(&mut to.similarity, &from.similarity, t, &d.weighting);
        }
    }
}
