//! Agreement of two machines that translate in opposite directions (Cohn 2016, §3.4).
//!
//! ```text
//! B = −Σ_ij α→_ji·α←_ij     −min(I, J) to 0
//! ```
//!
//! α→ [J, I] has the weights of the answer steps of one machine over its source, α← [I, J] those of the other one, whose source
//! is that answer. The delimiter after a source corresponds to the end symbol of an answer.

use super::machine::Upstream;
use super::trace::Trace;
use crate::math::Real;

/// Returns B; adds its gradients, times `scale`, to those w.r.t. the weightings of both machines, which have the shape of the
/// weightings, or none yet.
pub fn agree<R: Real>(traces: [&Trace<R>; 2], scale: R, by: [&mut Upstream<R>; 2]) -> f64 {
    let of = traces.map(|trace| &trace.heads[0].weighting);
    let [there, back] = traces.map(|trace| trace.setting.source);
    let [first, second] = by.map(|by| &mut by.weightings[0]);
    for (to, of) in [&mut *first, &mut *second].into_iter().zip(of) {
        if to.width() == 0 {
            to.reshape(of.steps(), of.width());
            to.as_mut_slice().fill(R::ZERO);
        }
    }
    let mut sum = 0.0;
    for (t, j) in (there..).zip(0..back) {
        for (u, i) in (back..).zip(0..there) {
            let (a, b) = (of[0].row(t)[i], of[1].row(u)[j]);
            sum -= (a * b).to_f64();
            first.row_mut(t)[i] -= scale * b;
            second.row_mut(u)[j] -= scale * a;
        }
    }
    sum
}
