//! Gated recurrent unit on the series of a trace (Bahdanau 2015, appendix A.1.1): two linear maps, of [x_t; h_{t−1}] in
//! blocks of C pre-activations for update z and reset r, and of [x_t; r ∘ h_{t−1}] for the candidate g:
//!
//! ```text
//! z = σ(a_z)   r = σ(a_r)   g = tanh(a_g)          h_t = (1 − z) ∘ h_{t−1} + z ∘ g
//! ```

use super::cell::{CellGradient, set_state};
use crate::math::kernel::kernel;
use crate::math::pack::each_pack;
use crate::math::vectors::add;
use crate::math::{Linear, Pack, Real, Series, sigmoid};

/// Input [x; h], gates [z; r], candidate, hidden state, and input of the candidate [x; r ∘ h].
pub(in crate::model) type Gru<'a, R> = [&'a Series<R>; 5];
/// [`Gru`], to write.
pub(in crate::model) type GruMut<'a, R> = [&'a mut Series<R>; 5];

kernel! {
    /// Activates `gates` (a_z, a_r on entry) and sets r ∘ h_{t−1}.
    pub fn reset<'a, R>(simd; gates: &'a mut [R], previous: &'a [R], seen: &'a mut [R]) {
        let size = previous.len();
        let (z, r) = gates.split_at_mut(size);
        let (z, r) = (&mut z[..size], &mut r[..size]);
        each_pack!(simd, at in previous => {
            let gate = sigmoid(at.load(r));
            at.store(z, sigmoid(at.load(z)));
            at.store(r, gate);
            at.store(seen, gate * at.load(previous));
        });
    }
}

kernel! {
    /// Activates the candidate (a_g on entry) and sets the hidden state.
    pub fn update<'a, R>(
        simd; gates: &'a [R], candidate: &'a mut [R], previous: &'a [R], hidden: &'a mut [R],
    ) {
        let size = previous.len();
        let (gates, candidate) = (&gates[..size], &mut candidate[..size]);
        each_pack!(simd, at in previous => {
            let (z, g, before) = (at.load(gates), at.load(candidate).tanh(), at.load(previous));
            at.store(candidate, g);
            at.store(hidden, z.mul_add(g - before, before));
        });
    }
}

kernel! {
    /// Sets the gradients w.r.t. a_z and a_g, and turns that w.r.t. h_t into the direct part of that w.r.t. h_{t−1}.
    pub fn update_backward<'a, R>(
        simd; gates: &'a [R],
        candidate: &'a [R],
        previous: &'a [R],
        d_hidden: &'a mut [R],
        d_gates: &'a mut [R],
        d_candidate: &'a mut [R],
    ) {
        let (size, one) = (previous.len(), Pack::splat(simd, R::ONE));
        let (gates, candidate) = (&gates[..size], &candidate[..size]);
        let (d_gates, d_candidate) = (&mut d_gates[..size], &mut d_candidate[..size]);
        each_pack!(simd, at in previous => {
            let (z, g, dh) = (at.load(gates), at.load(candidate), at.load(d_hidden));
            at.store(d_gates, dh * (g - at.load(previous)) * z * (one - z));
            at.store(d_candidate, dh * z * g.mul_add(-g, one));
            at.store(d_hidden, dh * (one - z));
        });
    }
}

kernel! {
    /// Sets the gradient w.r.t. a_r from that w.r.t. r ∘ h_{t−1}, and adds to that w.r.t. h_{t−1}.
    pub fn reset_backward<'a, R>(
        simd; gates: &'a [R],
        previous: &'a [R],
        d_seen: &'a [R],
        d_hidden: &'a mut [R],
        d_gates: &'a mut [R],
    ) {
        let size = previous.len();
        let (r, d_r) = (&gates[size..][..size], &mut d_gates[size..][..size]);
        let one = Pack::splat(simd, R::ONE);
        each_pack!(simd, at in previous => {
            let (r, d) = (at.load(r), at.load(d_seen));
            at.store(d_r, d * at.load(previous) * r * (one - r));
            at.store(d_hidden, d.mul_add(r, at.load(d_hidden)));
        });
    }
}

/// Computes step `t` from the state of step `before`, or from zeros. x stands in both inputs, and b + W·x of it in the
/// gates and in the candidate.
pub(in crate::model) fn forward<R: Real>(
    linears: &[Linear<R>],
    [input, gates, candidate, hidden, seen]: GruMut<'_, R>,
    t: usize,
    before: Option<usize>,
) {
    let size = hidden.width();
    let others = input.width() - size;
    set_state(input, hidden, (t, before));
    let previous = &input.row(t)[others..];
    linears[0].forward_from(others, [(previous, gates.row_mut(t))]);
    reset(gates.row_mut(t), previous, &mut seen.row_mut(t)[others..]);
    linears[1].forward_from(others, [(&seen.row(t)[others..], candidate.row_mut(t))]);
    update(
        gates.row(t),
        candidate.row_mut(t),
        previous,
        hidden.row_mut(t),
    );
}

/// Backpropagates through step `t`: from the gradient w.r.t. its state to those w.r.t. its input and the earlier state,
/// and w.r.t. both pre-activations in `dz`.
pub(in crate::model) fn backward<R: Real>(
    linears: &[Linear<R>],
    [input, gates, candidate, ..]: Gru<'_, R>,
    t: usize,
    by: &mut CellGradient<R>,
    dz: &mut [Series<R>],
) {
    let (d_gates, d_candidate) = dz.split_at_mut(1);
    let (d_gates, d_candidate) = (d_gates[0].row_mut(t), d_candidate[0].row_mut(t));
    let size = by.hidden.len();
    let (first, others) = (input.width() - by.input.len(), by.input.len() - size);
    let previous = &input.row(t)[input.width() - size..];
    update_backward(
        gates.row(t),
        candidate.row(t),
        previous,
        &mut by.hidden,
        d_gates,
        d_candidate,
    );
    linears[1].backward_from(first, [(&*d_candidate, &mut by.other[..])]);
    reset_backward(
        gates.row(t),
        previous,
        &by.other[others..],
        &mut by.hidden,
        d_gates,
    );
    linears[0].backward_from(first, [(&*d_gates, &mut by.input[..])]);
    add(&mut by.hidden[..], &by.input[others..]);
    add(&mut by.input[..others], &by.other[..others]);
}
