//! An LSTM on the series of a trace: one step, from the state of any other step, and back.

use super::lstm;
use crate::math::{Linear, Real, Series};
use crate::model::config::{ControllerConfig, ControllerKind};
use crate::model::machine::record;
use crate::model::trace::LayerTrace;

/// Input, gates, cell, tanh(c) and hidden state, as the fields of a [`LayerTrace`].
pub(in crate::model) type Cell<'a, R> = [&'a Series<R>; 5];
/// [`Cell`], to write.
pub(in crate::model) type CellMut<'a, R> = [&'a mut Series<R>; 5];

/// The widths of the series of an LSTM with `size` units.
pub(in crate::model) const fn one_lstm(size: usize) -> ControllerConfig {
    ControllerConfig {
        kind: ControllerKind::Lstm,
        size,
        layers: 1,
    }
}

impl<R> LayerTrace<R> {
    /// The series as those of an LSTM.
    #[rustfmt::skip] // Every field once.
    pub(in crate::model) fn cell(&self) -> Cell<'_, R> {
        [&self.input, &self.gates, &self.cell, &self.cell_tanh, &self.hidden]
    }

    /// [`LayerTrace::cell`], to write.
    #[rustfmt::skip]
    pub(in crate::model) fn cell_mut(&mut self) -> CellMut<'_, R> {
        [&mut self.input, &mut self.gates, &mut self.cell, &mut self.cell_tanh, &mut self.hidden]
    }
}

/// Sets the end of the input of step `t` to the state of step `before`, or to zeros.
pub(super) fn set_state<R: Real>(
    input: &mut Series<R>,
    hidden: &Series<R>,
    (t, before): (usize, Option<usize>),
) {
    let others = input.width() - hidden.width();
    let state = &mut input.row_mut(t)[others..];
    match before {
        Some(before) => state.copy_from_slice(hidden.row(before)),
        None => state.fill(R::ZERO),
    }
}

/// Zeros in place of the state before the first step.
fn initial<R: Real>(before: Option<usize>, size: usize) -> Vec<R> {
    vec![R::ZERO; if before.is_some() { 0 } else { size }]
}

/// Computes step `t` from the state of step `before`, or from zeros. What else it sees stands at the front of its input.
pub(in crate::model) fn forward<R: Real>(
    linear: &Linear<R>,
    cell: CellMut<'_, R>,
    t: usize,
    before: Option<usize>,
) {
    let [input, gates, cell, tanh, hidden] = cell;
    set_state(input, hidden, (t, before));
    let z = gates.row_mut(t);
    linear.start(z);
    linear.forward_from(0, [(input.row(t), z)]);
    let initial = initial(before, cell.width());
    activate([input, gates, cell, tanh, hidden], (t, before), &initial);
}

/// [`forward`], with b + W·x of the input x in place of the gates.
pub(in crate::model) fn forward_state<R: Real>(
    linear: &Linear<R>,
    [input, gates, cell, tanh, hidden]: CellMut<'_, R>,
    t: usize,
    before: Option<usize>,
) {
    set_state(input, hidden, (t, before));
    let others = input.width() - hidden.width();
    linear.forward_from(others, [(&input.row(t)[others..], gates.row_mut(t))]);
    let initial = initial(before, cell.width());
    activate([input, gates, cell, tanh, hidden], (t, before), &initial);
}

/// Computes the state of step `t` from z in place of its gates, and from the cell of step `before`, or `initial`.
pub(in crate::model) fn activate<R: Real>(
    [_, gates, cell, tanh, hidden]: CellMut<'_, R>,
    (t, before): (usize, Option<usize>),
    initial: &[R],
) {
    let (previous, cell) = match before {
        Some(before) => cell.two_rows(before, t),
        None => (initial, cell.row_mut(t)),
    };
    let gates = gates.row_mut(t);
    lstm::forward(gates, previous, cell, tanh.row_mut(t), hidden.row_mut(t));
}

/// Backward pass of [`activate`]: sets the gradient w.r.t. z from those w.r.t. the hidden state and the cell, and turns
/// the latter into that w.r.t. the cell of step `before`.
pub(in crate::model) fn activate_backward<R: Real>(
    [_, gates, cell, tanh, _]: Cell<'_, R>,
    (t, before): (usize, Option<usize>),
    initial: &[R],
    (d_hidden, d_cell): (&[R], &mut [R]),
    dz: &mut [R],
) {
    let previous = before.map_or(initial, |before| cell.row(before));
    let (gates, tanh) = (gates.row(t), tanh.row(t));
    lstm::backward(gates, previous, tanh, d_hidden, d_cell, dz);
}

/// Records the complete gradients w.r.t. the hidden state and the cell, if there is one, in `to`.
pub(in crate::model) fn record_state<R: Real>(
    [_, gates, cell, tanh, hidden]: Cell<'_, R>,
    t: usize,
    (d_hidden, d_cell): (&[R], &[R]),
    [_, _, to_cell, _, to_hidden]: CellMut<'_, R>,
) {
    record(to_hidden, hidden, t, d_hidden);
    if cell.width() > 0 {
        let mut by = d_cell.to_vec();
        lstm::add_cell_gradient(gates.row(t), tanh.row(t), d_hidden, &mut by);
        record(to_cell, cell, t, &by);
    }
}

/// The hidden state of step `t` from its gates and its cell.
pub(in crate::model) fn hide<R: Real>([_, gates, cell, tanh, hidden]: CellMut<'_, R>, t: usize) {
    let (gates, cell) = (gates.row(t), cell.row(t));
    lstm::hide(gates, cell, tanh.row_mut(t), hidden.row_mut(t));
}

/// The gradients that an LSTM or a GRU hands from a step to the one before it.
pub struct CellGradient<R> {
    /// w.r.t. the hidden state.
    pub(in crate::model) hidden: Vec<R>,
    /// w.r.t. the cell of an LSTM.
    pub(in crate::model) cell: Vec<R>,
    /// w.r.t. the end of the input of the step.
    pub(in crate::model) input: Vec<R>,
    /// w.r.t. the end of the input of the candidate of a GRU.
    pub(super) other: Vec<R>,
}

impl<R: Real> CellGradient<R> {
    /// All zero, with the gradients w.r.t. the last `others` inputs beside its own state.
    pub(in crate::model) fn new(size: usize, others: usize) -> Self {
        let zeros = |len| vec![R::ZERO; len];
        Self {
            hidden: zeros(size),
            cell: zeros(size),
            input: zeros(others + size),
            other: zeros(others + size),
        }
    }

    /// Backpropagates through a step, which continued from the state of the second of the `steps`: from the gradients
    /// w.r.t. its state, which are recorded in `to`, to those w.r.t. its input and that earlier state, and w.r.t. z in
    /// `dz`.
    pub(in crate::model) fn backward(
        &mut self,
        linear: &Linear<R>,
        cell: Cell<'_, R>,
        steps: (usize, Option<usize>),
        dz: &mut Series<R>,
        to: Option<CellMut<'_, R>>,
    ) {
        if let Some(to) = to {
            record_state(cell, steps.0, (&self.hidden, &self.cell), to);
        }
        let (initial, dz) = (initial(steps.1, self.cell.len()), dz.row_mut(steps.0));
        activate_backward(cell, steps, &initial, (&self.hidden, &mut self.cell), dz);
        let first = cell[0].width() - self.input.len();
        linear.backward_from(first, [(&*dz, &mut self.input[..])]);
        let others = self.input.len() - self.hidden.len();
        self.hidden.copy_from_slice(&self.input[others..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::golden::Case;
    use crate::math::matrix::padded;
    use crate::math::vectors::add;

    #[test]
    fn golden_values_of_a_sequence() {
        for name in ["lstm_encoder_a", "lstm_encoder_b"] {
            let case = Case::load(name);
            let (x, c, n) = (case.size("d_x"), case.size("C"), case.size("n"));
            let mut linear = Linear::<f64>::zeros(x + c, 4 * c);
            let weights = case.transposed("parameters", "encoder.W");
            let bias = case.numbers("parameters", "encoder.b");
            let pairs = linear.weight.view_mut().into_iter().zip(weights);
            pairs.for_each(|(to, from)| *to = from);
            linear
                .bias
                .view_mut()
                .into_iter()
                .zip(bias)
                .for_each(|(to, from)| *to = from);
            let mut all = [x + c, padded(4 * c), c, c, c].map(Series::new);
            all.iter_mut().for_each(|series| series.resize(n));
            let seen = case.numbers("inputs", "x");
            for t in 0..n {
                all[0].row_mut(t)[..x].copy_from_slice(&seen[t * x..][..x]);
                forward(&linear, all.each_mut(), t, t.checked_sub(1));
            }
            case.assert_close("outputs", "cells", all[2].as_slice());
            case.assert_close("outputs", "H", all[4].as_slice());
            let [by_hidden, by_cell] = ["H", "cells"].map(|array| case.numbers("upstream", array));
            let (mut by, mut dz) = (CellGradient::new(c, x), Series::new(padded(4 * c)));
            dz.resize(n);
            let mut d_x = vec![0.0; x * n];
            for t in (0..n).rev() {
                add(&mut by.hidden[..], &by_hidden[t * c..][..c]);
                add(&mut by.cell[..], &by_cell[t * c..][..c]);
                by.backward(
                    &linear,
                    all.each_ref(),
                    (t, t.checked_sub(1)),
                    &mut dz,
                    None,
                );
                d_x[t * x..][..x].copy_from_slice(&by.input[..x]);
            }
            case.assert_close("gradients", "x", &d_x);
            linear.set_gradient([(&all[0], &dz)].into_iter());
            let found: Vec<f64> = linear.weight.view().iter().copied().collect();
            let wanted = case.transposed("gradients", "encoder.W");
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-10));
            let found: Vec<f64> = linear.bias.view().iter().copied().collect();
            case.assert_close("gradients", "encoder.b", &found);
        }
    }
}
