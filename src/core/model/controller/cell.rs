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

/// Computes step `t` from the state of step `before`, or from zeros. What else it sees stands at the front of its input.
pub(in crate::model) fn forward<R: Real>(
    linear: &Linear<R>,
    [input, gates, cell, tanh, hidden]: CellMut<'_, R>,
    t: usize,
    before: Option<usize>,
) {
    let none = vec![R::ZERO; cell.width()];
    let earlier = before.map_or(&none[..], |before| hidden.row(before));
    let others = input.width() - none.len();
    input.row_mut(t)[others..].copy_from_slice(earlier);
    let z = gates.row_mut(t);
    linear.start(z);
    linear.forward_from(0, [(input.row(t), z)]);
    activate([input, gates, cell, tanh, hidden], (t, before), &none);
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

/// The gradients that an LSTM hands from a step to the one before it.
pub(in crate::model) struct CellGradient<R> {
    /// w.r.t. the hidden state.
    pub(in crate::model) hidden: Vec<R>,
    /// w.r.t. the cell.
    pub(in crate::model) cell: Vec<R>,
    /// w.r.t. the input of the step.
    pub(in crate::model) input: Vec<R>,
}

impl<R: Real> CellGradient<R> {
    /// All zero, for an LSTM with `others` inputs beside its own state.
    pub(in crate::model) fn new(size: usize, others: usize) -> Self {
        let zeros = |len| vec![R::ZERO; len];
        Self {
            hidden: zeros(size),
            cell: zeros(size),
            input: zeros(others + size),
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
        let (none, dz) = (vec![R::ZERO; self.cell.len()], dz.row_mut(steps.0));
        activate_backward(cell, steps, &none, (&self.hidden, &mut self.cell), dz);
        linear.backward_from(0, [(&*dz, &mut self.input[..])]);
        let others = self.input.len() - self.hidden.len();
        self.hidden.copy_from_slice(&self.input[others..]);
    }
}
