//! Feedback: the answer of a step as an input of the next one.

use super::array::{self, FEEDBACK};
use super::dependency::{Dependency, Size};
use super::machine::GradientRecorder;
use super::spec::Place;
use super::trace::Trace;
use crate::math::Real;

/// Sets the feedback of step `t` from the logits of the step before.
pub(super) fn set<R: Real>(trace: &mut Trace<R>, t: usize) {
    let before = (t > trace.setting.source).then(|| trace.logit.row(t - 1).to_vec());
    let answer = trace.setting.answer;
    if let Some(feedback) = trace.series_mut(Place::Machine, FEEDBACK) {
        match before {
            Some(z) => answer.decide(&z, feedback.row_mut(t)),
            None => feedback.row_mut(t).fill(R::ZERO),
        }
    }
}

/// The feedback of a machine that runs freely.
pub(super) fn dependency<'a, R: Real>() -> Dependency<'a, R> {
    let logit = [(Place::Machine, array::LOGIT)];
    Dependency::new(Place::Machine, FEEDBACK, logit, Size::One, set)
}

/// Records the gradient w.r.t. the feedback, the first of these values.
pub(super) fn record<R: Real>(
    trace: &Trace<R>,
    t: usize,
    values: &[R],
    recorder: GradientRecorder<'_, R>,
) {
    if let Some(to) = recorder {
        to.record_array(trace, Place::Machine, FEEDBACK, t, values);
    }
}
