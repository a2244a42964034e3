//! The state of an LSTM on the series of a trace, from its gates and the state of any other step, and back.

use crate::math::{Real, Series, lstm};
use crate::model::machine::record;
use crate::model::trace::LayerTrace;

/// Input, gates, cell, tanh(c) and hidden state, as the fields of a [`LayerTrace`].
pub(in crate::model) type Cell<'a, R> = [&'a Series<R>; 5];
/// [`Cell`], to write.
pub(in crate::model) type CellMut<'a, R> = [&'a mut Series<R>; 5];

/// A step, and the step whose state it continues, if any.
pub(in crate::model) type Steps = (usize, Option<usize>);

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

/// Computes the state of step `t` from z in place of its gates, and from the cell of step `before`, or `initial`.
pub(in crate::model) fn activate<R: Real>(
    [_, gates, cell, tanh, hidden]: CellMut<'_, R>,
    (t, before): Steps,
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
    (t, before): Steps,
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
        let mut d_cell = d_cell.to_vec();
        lstm::add_cell_gradient(gates.row(t), tanh.row(t), d_hidden, &mut d_cell);
        record(to_cell, cell, t, &d_cell);
    }
}

/// The hidden state of step `t` from its gates and its cell.
pub(in crate::model) fn set_hidden<R: Real>(layer: CellMut<'_, R>, t: usize) {
    let [_, gates, cell, tanh, hidden] = layer;
    let (gates, cell) = (gates.row(t), cell.row(t));
    lstm::set_hidden(gates, cell, tanh.row_mut(t), hidden.row_mut(t));
}
