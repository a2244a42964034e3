//! An encoder: an LSTM in each direction over the S source steps of an episode; row t of the memory is the state of
//! both in step t (Bahdanau 2015, appendix A.2.1, with LSTMs in place of gated recurrent units):
//!
//! ```text
//! h→_t = lstm(x_t, h→_{t−1})    h←_t = lstm(x_t, h←_{t+1})    M(t) = [h→_t; h←_t]
//! ```
//!
//! States before the first step are 0, and so is everything after the source. Row t of M is shown from step t on, though
//! h←_t depends on later inputs too.

use super::array;
use super::controller::cell::{self, Cell, CellGradient, CellMut, one_lstm};
use super::dependency::{Dependency, Size};
use super::machine::{GradientRecorder, record};
use super::shape::LinearSpec;
use super::spec::{Array, ArraySpec, Place, Range};
use super::trace::{Trace, of_layers};
use crate::math::vectors::add;
use crate::math::{Linear, Real, Series};

/// The arrays of an encoder, the first ones of its machine: five of each direction, as in [`Cell`].
#[rustfmt::skip] // A row for every array.
pub(super) const ARRAYS: [Array; 10] = [
    &ArraySpec::scratch("encoder.forward.input"),
    &ArraySpec::scratch("encoder.forward.gates"),
    &ArraySpec::new("encoder.forward.cell", &["t", "u"], "c→", Range::Any, "cell of an LSTM on x_t and h→_{t−1}; 0 after the source"),
    &ArraySpec::scratch("encoder.forward.cell_tanh"),
    &ArraySpec::new("encoder.forward.hidden", &["t", "u"], "h→", Range::Within(-1.0, 1.0), "hidden state of that LSTM; 0 after the source (Bahdanau 2015)"),
    &ArraySpec::scratch("encoder.backward.input"),
    &ArraySpec::scratch("encoder.backward.gates"),
    &ArraySpec::new("encoder.backward.cell", &["t", "u"], "c←", Range::Any, "cell of an LSTM on x_t and h←_{t+1}; 0 after the source"),
    &ArraySpec::scratch("encoder.backward.cell_tanh"),
    &ArraySpec::new("encoder.backward.hidden", &["t", "u"], "h←", Range::Within(-1.0, 1.0), "hidden state of that LSTM; 0 after the source (Bahdanau 2015)"),
];

/// The two directions, by their places.
const BOTH: [usize; 2] = [0, 1];

/// An encoder with its weights.
#[derive(Clone, Copy)]
pub(super) struct Encoder<'a, R> {
    /// Channels of x.
    pub(super) inputs: usize,
    /// Units of each direction.
    pub(super) size: usize,
    /// The linear map of each direction.
    pub(super) linears: &'a [Linear<R>],
}

/// The linear maps of an encoder.
pub(super) fn linears(inputs: usize, size: usize) -> impl Iterator<Item = LinearSpec> {
    let names = ["encoder.forward", "encoder.backward"].into_iter();
    names.map(move |name| LinearSpec::new(name, inputs + size, 4 * size))
}

/// Values per step of one of [`ARRAYS`]; `None` of another array.
pub(super) fn width(array: Array, inputs: usize, size: usize) -> Option<usize> {
    let at = ARRAYS.iter().position(|own| *own == array)?;
    Some(one_lstm(size).width(0, of_layers::ALL[at % 5], inputs))
}

/// The series of a direction.
pub(super) fn direction<R: Real>(trace: &Trace<R>, direction: usize) -> Cell<'_, R> {
    trace.own.all::<10>().as_chunks().0[direction].each_ref()
}

fn direction_mut<R: Real>(trace: &mut Trace<R>, direction: usize) -> CellMut<'_, R> {
    trace.own.all_mut::<10>().as_chunks_mut().0[direction].each_mut()
}

/// h←_0, the last state of the backward direction.
pub(super) fn last<R: Real>(trace: &Trace<R>) -> &[R] {
    let [.., hidden] = direction(trace, 1);
    hidden.row(0)
}

/// The step before step `t` in a direction.
fn earlier(direction: usize, t: usize, source: usize) -> Option<usize> {
    match direction {
        0 => t.checked_sub(1),
        _ => Some(t + 1).filter(|&next| next < source),
    }
}

/// The steps of the source in the order of a direction.
fn order(direction: usize, source: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..source).map(move |step| [step, source - 1 - step][direction])
}

/// M_{t+1}: M_t with row t of the source.
pub(super) fn append<R: Real>(trace: &mut Trace<R>, t: usize) {
    let (now, next) = (trace.memory_row(t), trace.memory_row(t + 1));
    let (before, after) = trace.memory_columns.two_rows(now, next);
    after.copy_from_slice(before);
    if t < trace.setting.source {
        let [_, _, _, _, forward, _, _, _, _, backward] = trace.own.all::<10>();
        let row = forward.row(t).iter().chain(backward.row(t));
        let columns = after.chunks_exact_mut(trace.setting.source).zip(row);
        columns.for_each(|(column, &value)| column[t] = value);
    }
}

/// The memory, from the states of the encoder.
pub(super) fn memory<'a, R: Real>() -> Dependency<'a, R> {
    let needs = [ARRAYS[4], ARRAYS[9], array::INITIAL_MEMORY];
    let needs = needs.map(|array| (Place::Machine, array)).to_vec();
    Dependency::new(Place::Machine, array::MEMORY, needs, Size::One, append)
}

impl<'a, R: Real> Encoder<'a, R> {
    /// Reads the source in both directions.
    pub(super) fn run(&self, trace: &mut Trace<R>) {
        for direction in BOTH {
            for t in order(direction, trace.setting.source) {
                self.forward(direction, trace, t);
            }
        }
    }

    fn forward(&self, direction: usize, trace: &mut Trace<R>, t: usize) {
        let before = earlier(direction, t, trace.setting.source);
        let x = trace.input.row(t).to_vec();
        let cell = direction_mut(trace, direction);
        cell[0].row_mut(t)[..x.len()].copy_from_slice(&x);
        cell::forward(&self.linears[direction], cell, t, before);
    }

    /// Cells and hidden states of a step: see [`super::Machine::step`].
    pub(super) fn step(self) -> impl Iterator<Item = Dependency<'a, R>> {
        BOTH.into_iter().flat_map(move |direction| {
            let cell = move |trace: &mut Trace<R>, t: usize| self.forward(direction, trace, t);
            let hidden = move |trace: &mut Trace<R>, t: usize| {
                cell::hide(direction_mut(trace, direction), t);
            };
            let cell = Dependency::with_weights(Place::Machine, ARRAYS[5 * direction + 2], cell);
            let hidden =
                Dependency::with_weights(Place::Machine, ARRAYS[5 * direction + 4], hidden);
            [cell, hidden].map(|dependency| Dependency {
                is_backwards: direction == 1,
                ..dependency.only(|t, source| t < source)
            })
        })
    }

    /// Backpropagates from the gradients w.r.t. the memory, column after column, and w.r.t. h←_0.
    pub(super) fn backward(
        &self,
        trace: &Trace<R>,
        d_memory: &mut [R],
        d_last: &[R],
        dz: [&mut Series<R>; 2],
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let (source, u) = (trace.setting.source, self.size);
        let [mut d_rows, mut d_input] = [2 * u, self.inputs].map(Series::new);
        d_rows.resize(source);
        d_input.resize(trace.steps());
        if let Some(recorder) = &mut recorder {
            // After the source they are 0.
            for array in ARRAYS.into_iter().filter(|array| array.is_in_files()) {
                let (last, zeros) = (trace.steps() - 1, vec![R::ZERO; u]);
                recorder.record_array(trace, Place::Machine, array, last, &zeros);
            }
        }
        for t in (0..source).rev() {
            if let Some(recorder) = &mut recorder {
                recorder.record_memory(trace, t + 1, d_memory);
            }
            // M_t does not have this row yet.
            let columns = d_memory.chunks_exact_mut(source).zip(d_rows.row_mut(t));
            columns.for_each(|(column, to)| *to = std::mem::take(&mut column[t]));
        }
        add(&mut d_rows.row_mut(0)[u..], d_last);
        for (at, dz) in BOTH.into_iter().zip(dz) {
            let mut gradient = CellGradient::new(u, self.inputs);
            for t in order(at, source).rev() {
                add(&mut gradient.hidden[..], &d_rows.row(t)[at * u..][..u]);
                let (linear, steps) = (&self.linears[at], (t, earlier(at, t, source)));
                let to = recorder.as_deref_mut().map(|to| direction_mut(to, at));
                gradient.backward(linear, direction(trace, at), steps, dz, to);
                add(d_input.row_mut(t), &gradient.input[..self.inputs]);
            }
        }
        if let Some(recorder) = recorder {
            recorder.record_memory(trace, 0, d_memory);
            for t in 0..trace.steps() {
                record(&mut recorder.input, &trace.input, t, d_input.row(t));
            }
        }
    }
}
