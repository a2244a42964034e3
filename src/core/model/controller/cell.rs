//! An LSTM on the series of a trace: one step, from the state of any other step, and back.

use crate::math::{Linear, Real, Series, lstm};
use crate::model::config::{ControllerConfig, ControllerKind};
use crate::model::machine::record;
use crate::model::trace::LayerTrace;

/// Input, gates, cell, tanh(c) and hidden state, as the fields of a [`LayerTrace`].
pub(in crate::model) type Cell<'a, R> = [&'a Series<R>; 5];
/// [`Cell`], to write.
pub(in crate::model) type CellMut<'a, R> = [&'a mut Series<R>; 5];

/// A step, and the step whose state it continues, if any.
pub(in crate::model) type Steps = (usize, Option<usize>);

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
pub(super) fn set_state<R: Real>(input: &mut Series<R>, hidden: &Series<R>, (t, before): Steps) {
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

/// Computes a step of several episodes, each from the state of an earlier step, or from zeros. Its other inputs stand before
/// that state; b + W·x of the first ones of them stands in place of the gates.
pub(in crate::model) fn forward<R: Real, const B: usize>(
    linear: &Linear<R>,
    first: usize,
    mut cells: [(CellMut<'_, R>, Steps); B],
) {
    let seen_to_z = cells
        .each_mut()
        .map(|([input, gates, _, _, hidden], steps)| {
            set_state(input, hidden, *steps);
            (&input.row(steps.0)[first..], gates.row_mut(steps.0))
        });
    linear.forward_from(first, seen_to_z);
    for (cell, steps) in cells {
        let initial = initial(steps.1, cell[2].width());
        activate(cell, steps, &initial);
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

    /// Empties the gradients, for an episode that needs those w.r.t. the last `others` other inputs, too.
    pub(in crate::model) fn reset(&mut self, others: usize) {
        self.hidden.fill(R::ZERO);
        self.cell.fill(R::ZERO);
        self.input.clear();
        self.input.resize(others + self.hidden.len(), R::ZERO);
    }

    /// The gradients w.r.t. the last `count` inputs beside its own state.
    pub(in crate::model) fn beside(&self, count: usize) -> &[R] {
        let others = self.input.len() - self.hidden.len();
        &self.input[others - count..others]
    }
}

/// The backward pass of a step of an episode.
pub(in crate::model) struct CellBack<'a, R> {
    pub(in crate::model) cell: Cell<'a, R>,
    pub(in crate::model) steps: Steps,
    /// From the gradients w.r.t. its state to those w.r.t. its input and the earlier state.
    pub(in crate::model) by: &'a mut CellGradient<R>,
    /// w.r.t. z.
    pub(in crate::model) dz: &'a mut [R],
    /// Recorder of the gradients w.r.t. its state.
    pub(in crate::model) to: Option<CellMut<'a, R>>,
}

/// Backpropagates through [`forward`].
pub(in crate::model) fn backward<R: Real, const B: usize>(
    linear: &Linear<R>,
    mut episodes: [CellBack<'_, R>; B],
) {
    let mut first = 0;
    let z_to_input = episodes.each_mut().map(
        |CellBack {
             cell,
             steps,
             by,
             dz,
             to,
         }| {
            if let Some(to) = to.take() {
                record_state(*cell, steps.0, (&by.hidden, &by.cell), to);
            }
            let initial = initial(steps.1, by.cell.len());
            activate_backward(*cell, *steps, &initial, (&by.hidden, &mut by.cell), dz);
            first = cell[0].width() - by.input.len();
            (&**dz, &mut by.input[..])
        },
    );
    linear.backward_from(first, z_to_input);
    for CellBack { by, .. } in episodes {
        let others = by.input.len() - by.hidden.len();
        by.hidden.copy_from_slice(&by.input[others..]);
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
                linear.start(all[1].row_mut(t));
                forward(&linear, 0, [(all.each_mut(), (t, t.checked_sub(1)))]);
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
                let back = CellBack {
                    cell: all.each_ref(),
                    steps: (t, t.checked_sub(1)),
                    by: &mut by,
                    dz: dz.row_mut(t),
                    to: None,
                };
                backward(&linear, [back]);
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
