//! A long short-term memory network: an LSTM that attends to its own earlier states (Cheng 2016, §3), in the order of its
//! equations:
//!
//! ```text
//! k_t = [x_t; ĥ_{t−1}]    w_t(i) = softmax of v·tanh(W_kᵀ·k_t + W_Mᵀ·h_i) over i < t
//! ĥ_t = Σ_i w_t(i)·h_i    ĉ_t = Σ_i w_t(i)·c_i
//! i, f, g, o = σ, σ, tanh, σ of W·[x_t; ĥ_t] + b
//! c_t = f ∘ ĉ_t + i ∘ g    h_t = o ∘ tanh(c_t)    z_t = W·h_t + b
//! ```
//!
//! Row t of the memory is h_t. In the first step there is no row: ĥ_0 = ĉ_0 = 0, and ĥ_{−1} = 0.

use std::any::Any;
use std::ops::Range;

use super::array;
use super::attention::{AttentionConfig, Mechanism, Score, Sees, ShiftForm};
use super::controller::cell::{self, one_lstm};
use super::dependency::{Conventions, Dependency, Size};
use super::kind::{Kind, Sizes, row_per_step};
use super::machine::{Batch, EpisodeBack, Machine, longest, record, together};
use super::params::Params;
use super::reader::{self, ReaderGradient, add_later};
use super::shape::{LinearSpec, Shape};
use super::spec::{Array, ArraySpec, Place, Range as Values};
use super::trace::{Trace, of_layers};
use super::{head, memory, readout};
use crate::keys::{Field::Integer, Keys, Table};
use crate::math::matrix::{self, padded};
use crate::math::vectors::{add, gather};
use crate::math::{Linear, Real, Series};

/// The size of a long short-term memory network.
#[derive(Clone, Debug, PartialEq)]
pub struct LstmnConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Units, C.
    pub size: usize,
    /// The score of the head.
    attention: AttentionConfig,
    /// Steps of an episode.
    rows: usize,
}

/// ĉ_t, [T, C].
#[rustfmt::skip] // A row for every array.
pub(super) const ATTENDED_CELL: Array = &ArraySpec::new("attended_cell", &["t", "c"], "ĉ", Values::Any, "Σ_i w(i)·c_i over the cells of earlier steps (Cheng 2016, equation 6)");

impl LstmnConfig {
    /// A network with 64 units, and as many in the score.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            size: 64,
            attention: reader::attention(Score::Additive, 64),
            rows: 1,
        }
    }

    /// Sets the units A of the score.
    pub fn set_units(&mut self, units: usize) {
        self.attention.units = units;
    }
}

#[rustfmt::skip] // A row for every key.
impl Keys for LstmnConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("controller.size", Integer(&mut self.size, 1..=4096), "units of the LSTM, and values in a memory row");
        to.key("attention.units", Integer(&mut self.attention.units, 1..=1024), "units A of the additive score");
    }
}

impl Kind for LstmnConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: 1,
            units: self.size,
            read_heads: 1,
            write_heads: 0,
            rows: self.rows,
            columns: self.size,
        }
    }

    fn shape(&self) -> Shape {
        let (c, seen) = (self.size, self.inputs + self.size);
        let maps = [("controller0", seen, 4 * c), ("output", c, self.outputs)];
        let maps = maps.map(|(name, inputs, outputs)| LinearSpec::new(name, inputs, outputs));
        Shape {
            linears: maps.into(),
            tensors: (self as &dyn Kind).learned(0).collect(),
        }
    }

    fn arrays(&self) -> &'static [Array] {
        &[ATTENDED_CELL]
    }

    fn width(&self, place: Place, array: Array) -> usize {
        match (place, array) {
            (Place::Layer(_), _) => one_lstm(self.size).width(0, array, self.inputs),
            (Place::Head(_), _) => head::width(self, (&self.attention, ShiftForm::None), 0, array),
            (_, array::NORMS) => self.rows,
            (_, ATTENDED_CELL) => self.size,
            (_, array::INPUT | array::LOGIT | array::OUTPUT | array::MEMORY) => {
                (self as &dyn Kind).values(array)
            }
            _ => 0,
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        match axis {
            "c" => Some(self.size),
            "k" => Some(self.inputs + self.size),
            _ => self.attention.axis(axis),
        }
    }

    row_per_step!();

    fn episode_rows(&self, steps: usize, _: usize) -> usize {
        steps
    }

    fn mechanism(&self, _: usize) -> Mechanism {
        self.attention.of_reader(Sees::Earlier)
    }
}

/// k_t = [x_t; ĥ_{t−1}].
fn ask<R: Real>(trace: &mut Trace<R>, t: usize) {
    let head = &mut trace.heads[0];
    let before = t.checked_sub(1).map(|before| head.read.row(before));
    let key = head.key.row_mut(t);
    key.fill(R::ZERO);
    gather(key, [trace.input.row(t)].into_iter().chain(before));
}

/// ĉ_t = Σ_i w_t(i)·c_i.
fn attend_cells<R: Real>(trace: &mut Trace<R>, t: usize) {
    let ([attended], cells) = (trace.own.all_mut(), &trace.layers[0].cell);
    let attended = attended.row_mut(t);
    attended.fill(R::ZERO);
    let weights = &trace.heads[0].weighting.row(t)[..t];
    matrix::add_vector_product(weights, cells.rows_from(0), attended);
}

/// Row t of the memory is h_t.
fn append<R: Real>(trace: &mut Trace<R>, t: usize) {
    let row = trace.layers[0].hidden.row(t).to_vec();
    memory::append(&mut trace.memory_columns, t, Some(row));
}

/// The memory to which each step appends its row.
pub(super) fn appended<'a, R: Real>() -> Dependency<'a, R> {
    let (hidden, initial) = (array::HIDDEN, array::INITIAL_MEMORY);
    let needs = [(Place::Layer(0), hidden), (Place::Machine, initial)];
    Dependency::of_memory(needs, append)
}

/// The network with its weights.
#[derive(Clone, Copy)]
struct Parts<'a, R> {
    config: &'a LstmnConfig,
    lstm: &'a Linear<R>,
}

impl<'a, R: Real> Parts<'a, R> {
    fn of(config: &'a LstmnConfig, params: &'a Params<R>) -> Self {
        let lstm = &params.linears[0];
        Self { config, lstm }
    }

    /// Prepares an episode: no row, and b + W·x of every step in place of the gates.
    fn begin(self, params: &Params<R>, trace: &mut Trace<R>) {
        trace.learn(&params.tensors);
        trace.heads[0].rows.row_mut(0).fill(R::ZERO);
        trace.memory_columns.row_mut(0).fill(R::ZERO);
        self.lstm
            .forward_series(&trace.input, &mut trace.layers[0].gates);
    }

    /// Step `t` of episodes side by side.
    fn forward<const B: usize>(self, traces: &mut [Trace<R>; B], t: usize) {
        for trace in &mut *traces {
            if let Some(before) = t.checked_sub(1) {
                let row = trace.layers[0].hidden.row(before);
                trace.heads[0].set_row(before, row);
            }
            ask(trace, t);
            reader::forward(trace, t);
            attend_cells(trace, t);
        }
        self.activate(traces, t);
        for trace in traces.iter_mut().filter(|trace| trace.memory_every == 1) {
            append(trace, t);
        }
    }

    /// c_t and h_t, from [x_t; ĥ_t] and ĉ_t.
    fn activate<const B: usize>(self, traces: &mut [Trace<R>; B], t: usize) {
        let x = self.config.inputs;
        let seen_to_z = traces.each_mut().map(|trace| {
            let layer = &mut trace.layers[0];
            let parts = [trace.input.row(t), trace.heads[0].read.row(t)];
            gather(layer.input.row_mut(t), parts);
            (&layer.input.row(t)[x..], layer.gates.row_mut(t))
        });
        self.lstm.forward_from(x, seen_to_z);
        for trace in traces {
            let [attended] = trace.own.all();
            cell::activate(trace.layers[0].cell_mut(), (t, None), attended.row(t));
        }
    }
}

/// The gradients of an episode.
struct Scratch<R> {
    seen: readout::Seen<R>,
    reader: Option<ReaderGradient<R>>,
    /// w.r.t. the gates before their activation, [T, 4C and padding].
    gates: Series<R>,
    /// w.r.t. ĉ of every step.
    attended: Series<R>,
    /// w.r.t. ĥ_{t−1} through k_t.
    before: Vec<R>,
    /// w.r.t. [x_t; ĥ_t].
    input: Vec<R>,
}

impl<R: Real> Machine<R> for LstmnConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let parts = Parts::of(self, params);
        let is_last = steps.end == longest(traces);
        for trace in traces.iter_mut().filter(|_| steps.start == 0) {
            parts.begin(params, trace);
        }
        for t in steps {
            let running = traces.partition_point(|trace| trace.steps() > t);
            together!(running, traces, |traces| parts.forward(traces, t));
        }
        for trace in traces.iter_mut().filter(|_| is_last) {
            let steps = 0..trace.steps();
            readout::forward(&params.linears[1], trace, steps, |trace| {
                &trace.layers[0].hidden
            });
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(Scratch::<R> {
            seen: readout::Seen::new(self.size, self.outputs),
            reader: None,
            gates: Series::new(padded(4 * self.size)),
            attended: Series::new(self.size),
            before: vec![R::ZERO; self.size],
            input: vec![R::ZERO; self.inputs + self.size],
        })
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        for back in batch.each() {
            let reader = self.backward_through(params, back);
            reader.add_learned(&mut gradient.tensors);
        }
        let all = batch.done::<Scratch<R>>();
        let gates = all.clone();
        let gates = gates.map(|(trace, _, scratch)| (&trace.layers[0].input, &scratch.gates));
        gradient.linears[0].set_gradient(gates);
        let output = all.map(|(trace, logit, _)| (&trace.layers[0].hidden, logit));
        gradient.linears[1].set_gradient(output);
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let (machine, layer, head) = (Place::Machine, Place::Layer(0), Place::Head(0));
        let needs = [(head, array::READ), (machine, array::INPUT)];
        let key = Dependency::new(head, array::KEY, needs, Size::One, ask);
        let mut all = vec![key];
        all.extend(reader::dependencies(self, conventions));
        let needs = [(head, array::WEIGHTING), (layer, array::CELL)];
        let cells = Dependency::new(machine, ATTENDED_CELL, needs, Size::Terms, attend_cells);
        all.extend([cells, appended()]);
        all
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let parts = Parts::of(self, params);
        let cell = move |trace: &mut Trace<R>, t: usize| {
            let (gates, steps) = (&mut trace.layers[0].gates, trace.input.steps());
            parts
                .lstm
                .forward_row(trace.input.row(t), gates.row_mut(t), t, steps);
            parts.activate(std::array::from_mut(trace), t);
        };
        let hidden = |trace: &mut Trace<R>, t: usize| {
            cell::hide(trace.layers[0].cell_mut(), t);
        };
        let mut all = self.dependencies(Conventions::OWN);
        let memory = all.pop();
        let layer = Place::Layer(0);
        all.push(Dependency::with_weights(layer, of_layers::CELL, cell));
        all.push(Dependency::with_weights(layer, of_layers::HIDDEN, hidden));
        all.extend(memory);
        let hidden = |trace: &mut Trace<R>, t: usize| trace.layers[0].hidden.row(t).to_vec();
        all.extend(readout::step(&params.linears[1], hidden));
        all
    }
}

impl LstmnConfig {
    /// Backpropagates through an episode, from its last step to its first; returns the gradients of the head.
    fn backward_through<'a, R: Real>(
        &self,
        params: &Params<R>,
        (trace, by, scratch, mut recorder): EpisodeBack<'a, R, Scratch<R>>,
    ) -> &'a ReaderGradient<R> {
        let steps = trace.steps();
        let last = scratch.reader.take();
        let mut reader = ReaderGradient::of(self, trace, by, last);
        scratch.seen.backward(&params.linears[1].weight, &by.logit);
        scratch.gates.resize(steps);
        scratch.attended.resize(steps);
        scratch.before.fill(R::ZERO);
        if let Some(to) = recorder.as_deref_mut() {
            to.record_logits(trace, by);
        }
        let (x, layer, weights) = (self.inputs, &trace.layers[0], &trace.heads[0].weighting);
        for t in (0..steps).rev() {
            let mut d_hidden = scratch.seen.gradient.row(t).to_vec();
            reader.row(trace, t, &mut d_hidden, recorder.as_deref_mut());
            let mut d_cell = vec![R::ZERO; self.size];
            add_later(weights, &scratch.attended, t, &mut d_cell);
            if let Some(to) = recorder.as_deref_mut() {
                let to = to.layers[0].cell_mut();
                cell::record_state(layer.cell(), t, (&d_hidden, &d_cell), to);
            }
            let [attended] = trace.own.all();
            let (initial, dz) = (attended.row(t), scratch.gates.row_mut(t));
            let state = (&d_hidden[..], &mut d_cell[..]);
            cell::activate_backward(layer.cell(), (t, None), initial, state, dz);
            scratch.attended.row_mut(t).copy_from_slice(&d_cell);
            params.linears[0].backward_from(0, [(&*dz, &mut scratch.input[..])]);
            let d_read = &mut scratch.input[x..];
            add(&mut *d_read, &scratch.before);
            let d_weights = &mut reader.by_weights()[..t];
            matrix::product_with_vector(layer.cell.rows_from(0), &d_cell, d_weights);
            let d_key = reader.backward(trace, t, d_read, by, recorder.as_deref_mut());
            scratch.before.copy_from_slice(&d_key[x..]);
            if let Some(to) = recorder.as_deref_mut() {
                to.record_array(trace, Place::Machine, ATTENDED_CELL, t, &d_cell);
                let mut d_input = scratch.input[..x].to_vec();
                add(&mut d_input, &d_key[..x]);
                record(&mut to.input, &trace.input, t, &d_input);
            }
        }
        reader.end(trace, recorder);
        scratch.reader.insert(reader)
    }
}
