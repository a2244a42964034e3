//! The controller: a stack of layers of one of the two kinds of the paper (§3.4). The first layer receives x_t and
//! the further inputs, each other one the layer below; LSTM layers also receive their own last state.
//!
//! The elementwise equations are in [`lstm`](crate::math::lstm) and [`feedforward`], each with its derivative.

pub(super) mod cell;
pub mod feedforward;

use std::ops::Range;

use super::array;
use super::config::{ControllerConfig, ControllerKind};
use super::dependency::Dependency;
use super::kind::Kind;
use super::machine::{GradientRecorder, record};
use super::shape::{LinearSpec, TensorSpec};
use super::spec::{Array, Place};
use super::trace::{BLOCK, HeadTrace, Trace, of_layers};
use crate::math::matrix::padded;
use crate::math::vectors::add;
use crate::math::{Linear, Matrix, Real, Series};

impl ControllerConfig {
    /// Inputs of a layer: `others` and x for the first, [hidden below] above it, and its own hidden state in an
    /// LSTM.
    pub(super) fn layer_inputs(&self, layer: usize, first: usize) -> usize {
        let below = if layer == 0 { first } else { self.size };
        below + if self.is_lstm() { self.size } else { 0 }
    }

    /// Outputs of a layer's linear map: 4 gates per LSTM unit, 1 per feedforward unit.
    pub(super) fn layer_outputs(&self) -> usize {
        if self.is_lstm() {
            4 * self.size
        } else {
            self.size
        }
    }

    fn is_lstm(&self) -> bool {
        self.kind == ControllerKind::Lstm
    }

    /// The linear maps of a controller whose first layer has `first` inputs, bottom first.
    pub(super) fn linears(&self, first: usize) -> impl Iterator<Item = LinearSpec> {
        (0..self.layers).map(move |layer| {
            let inputs = self.layer_inputs(layer, first);
            LinearSpec::new(format!("controller{layer}"), inputs, self.layer_outputs())
        })
    }

    /// The hidden states and the cells before the first step.
    pub(super) fn states(&self) -> [TensorSpec; 2] {
        let layers = if self.is_lstm() { self.layers } else { 0 };
        ["initial.hidden", "initial.cell"].map(|name| TensorSpec::state(name, layers, self.size))
    }

    /// The linear maps of a machine whose heads are driven by a controller: its layers, that of all heads side by side, and that
    /// to the output; `of` is the number of outputs of a head.
    pub(super) fn with_heads(
        &self,
        kind: &dyn Kind,
        of: impl Fn(usize) -> usize,
    ) -> Vec<LinearSpec> {
        let sizes = kind.sizes();
        let heads = (0..kind.heads()).map(|head| (kind.head_name(head), of(head)));
        let heads = LinearSpec {
            parts: heads.collect(),
            inputs: self.size,
        };
        let output = LinearSpec::new("output", sizes.features(), sizes.outputs);
        let layers = self.linears(sizes.first_inputs());
        layers.chain([heads, output]).collect()
    }

    /// [`Kind::width`] of an array of a machine whose heads are driven by a controller, beside those of heads; `raw` is the number
    /// of their pre-activations.
    pub(super) fn width_with_heads(
        &self,
        kind: &dyn Kind,
        raw: impl FnOnce() -> usize,
        (place, array): (Place, Array),
    ) -> usize {
        let sizes = kind.sizes();
        match (place, array) {
            (Place::Layer(layer), _) => self.width(layer, array, sizes.first_inputs()),
            (_, array::RAW) => padded(raw()),
            (_, array::FEATURES) => sizes.features(),
            (_, array::NORMS) => sizes.rows,
            _ => kind.values(array),
        }
    }

    /// [`Kind::width`] of a layer.
    pub(super) fn width(&self, layer: usize, array: Array, first: usize) -> usize {
        match array {
            of_layers::INPUT => self.layer_inputs(layer, first),
            of_layers::HIDDEN => self.size,
            _ if !self.is_lstm() => 0,
            of_layers::GATES => padded(4 * self.size),
            _ => self.size,
        }
    }
}

/// The layers of a controller, with their weights.
#[derive(Clone, Copy)]
pub(super) struct Stack<'a, R> {
    pub(super) config: &'a ControllerConfig,
    /// Channels of x.
    pub(super) inputs: usize,
    /// The linear map of each layer.
    pub(super) linears: &'a [Linear<R>],
    /// The hidden states before the first step, [layers, C].
    pub(super) hidden: &'a Matrix<R>,
    /// The cells before the first step, [layers, C].
    pub(super) cell: &'a Matrix<R>,
}

/// The gradients that travel from step to step through a controller, and those by its linear maps.
#[derive(Debug)]
pub(super) struct StackGradient<R> {
    /// Gradients w.r.t. the gates (LSTM) or pre-activations (feedforward) of each layer, [T, outputs].
    layers: Vec<Series<R>>,
    /// Gradients w.r.t. the hidden state of each layer.
    hidden: Vec<Vec<R>>,
    /// Gradients w.r.t. the cell of each layer.
    cell: Vec<Vec<R>>,
    /// Gradient w.r.t. the inputs of the first layer next to x.
    pub(super) others: Vec<R>,
    /// Gradient w.r.t. the input of a layer, without x.
    input: Vec<R>,
}

impl<R: Real> StackGradient<R> {
    /// Creates the gradient of a controller whose first layer has `others` inputs in addition to x.
    pub(super) fn new(config: &ControllerConfig, others: usize) -> Self {
        let (size, layers) = (config.size, config.layers);
        let inputs = (0..layers).map(|layer| config.layer_inputs(layer, others));
        let zeros = |len: usize| vec![R::ZERO; len];
        Self {
            layers: vec![Series::new(padded(config.layer_outputs())); layers],
            hidden: vec![zeros(size); layers],
            cell: vec![zeros(size); layers],
            others: zeros(others),
            input: zeros(inputs.max().unwrap_or(0)),
        }
    }

    pub(super) fn reset(&mut self, steps: usize) {
        self.layers.iter_mut().for_each(|layer| layer.resize(steps));
        let states = self.hidden.iter_mut().chain(&mut self.cell);
        let states = states.chain([&mut self.others]);
        states.for_each(|state| state.fill(R::ZERO));
    }

    /// Returns the gradient w.r.t. h_t of the top layer, to be added to.
    pub(super) fn top(&mut self) -> &mut [R] {
        self.hidden.last_mut().map_or(&mut [], |top| top)
    }

    /// Adds the gradients w.r.t. the states before the first step: [`ControllerConfig::states`].
    pub(super) fn add_initial(&self, states: &mut [Matrix<R>]) {
        for (to, from) in states.iter_mut().zip([&self.hidden, &self.cell]) {
            add(to.view_mut().iter_mut(), from.iter().flatten());
        }
    }
}

impl<R: Real> Stack<'_, R> {
    /// Runs these steps of episodes, longest first: `step` computes one of those that it is given, after the part of its
    /// first layer that does not depend on the state, b + x_t·W; `answer` computes the outputs of several steps.
    pub(super) fn run(
        &self,
        traces: &mut [Trace<R>],
        steps: Range<usize>,
        mut step: impl FnMut(usize, &mut [Trace<R>]),
        answer: impl Fn(&mut Trace<R>, Range<usize>),
    ) {
        for t in steps {
            let running = traces.partition_point(|trace| trace.steps() > t);
            let (block, end) = (t - t % BLOCK, t - t % BLOCK + BLOCK);
            for trace in traces[..running].iter_mut().filter(|_| t == block) {
                self.start_first_layer(trace, t..end.min(trace.steps()));
            }
            step(t, &mut traces[..running]);
            for trace in &mut traces[..running] {
                if t + 1 == end || t + 1 == trace.steps() {
                    answer(trace, block..t + 1);
                }
            }
        }
    }

    /// Computes the part that does not depend on the state for several steps at once: b + x_t·W of the first layer.
    fn start_first_layer(&self, trace: &mut Trace<R>, steps: Range<usize>) {
        let layer = &mut trace.layers[0];
        for t in steps.clone() {
            let x = trace.input.row(t);
            layer.input.row_mut(t)[..x.len()].copy_from_slice(x);
        }
        let z = self.z(&mut layer.gates, &mut layer.hidden);
        self.linears[0].forward_rows(&trace.input, z, steps);
    }

    /// The series that holds the pre-activations of a layer until they are activated.
    fn z<'s>(&self, gates: &'s mut Series<R>, hidden: &'s mut Series<R>) -> &'s mut Series<R> {
        if self.config.is_lstm() { gates } else { hidden }
    }

    /// Computes one step; `others` passes on, piece by piece, the inputs of the first layer next to x_t.
    pub(super) fn forward<const B: usize>(
        &self,
        t: usize,
        traces: &mut [Trace<R>; B],
        others: impl Fn(&[HeadTrace<R>], usize, &mut dyn FnMut(&[R])),
    ) {
        for index in 0..self.config.layers {
            self.forward_layer(index, t, traces, &others);
        }
    }

    /// Computes one step of a layer; the part of x stands in the pre-activations of the first since `start_first_layer`.
    fn forward_layer<const B: usize>(
        &self,
        index: usize,
        t: usize,
        traces: &mut [Trace<R>; B],
        others: impl Fn(&[HeadTrace<R>], usize, &mut dyn FnMut(&[R])),
    ) {
        let linear = &self.linears[index];
        let first = if index == 0 { self.inputs } else { 0 };
        let input_to_z = traces.each_mut().map(|trace| {
            self.fill_layer_input(index, t, trace, &others);
            let layer = &mut trace.layers[index];
            let z = self.z(&mut layer.gates, &mut layer.hidden).row_mut(t);
            if index > 0 {
                linear.start(z);
            }
            (&layer.input.row(t)[first..], z)
        });
        linear.forward_from(first, input_to_z);
        for trace in traces {
            let layer = &mut trace.layers[index];
            if self.config.is_lstm() {
                let steps = (t, t.checked_sub(1));
                cell::activate(layer.cell_mut(), steps, self.cell.row(index));
            } else {
                feedforward::forward(layer.hidden.row_mut(t));
            }
        }
    }

    /// The arrays of every layer in a step: see [`super::Machine::step`].
    pub(super) fn step<'a>(
        self,
        others: impl Fn(&[HeadTrace<R>], usize, &mut dyn FnMut(&[R])) + Copy + 'a,
    ) -> impl Iterator<Item = Dependency<'a, R>>
    where
        Self: 'a,
    {
        (0..self.config.layers).flat_map(move |index| {
            let place = Place::Layer(index);
            let layer = move |trace: &mut Trace<R>, t: usize| {
                if index == 0 {
                    let (layer, steps) = (&mut trace.layers[0], trace.input.steps());
                    let z = self.z(&mut layer.gates, &mut layer.hidden);
                    self.linears[0].forward_row(trace.input.row(t), z.row_mut(t), t, steps);
                }
                self.forward_layer(index, t, std::array::from_mut(trace), others);
            };
            let hidden = move |trace: &mut Trace<R>, t: usize| {
                cell::set_hidden(trace.layers[index].cell_mut(), t);
            };
            if self.config.is_lstm() {
                let cell = Dependency::with_weights(place, of_layers::CELL, layer);
                let hidden = Dependency::with_weights(place, of_layers::HIDDEN, hidden);
                vec![cell, hidden]
            } else {
                vec![Dependency::with_weights(place, of_layers::HIDDEN, layer)]
            }
        })
    }

    /// Gathers the input of a layer: the layer below, or x_t and the reads; and its own previous state.
    fn fill_layer_input(
        &self,
        index: usize,
        t: usize,
        trace: &mut Trace<R>,
        others: impl Fn(&[HeadTrace<R>], usize, &mut dyn FnMut(&[R])),
    ) {
        let (below, rest) = trace.layers.split_at_mut(index);
        let layer = &mut rest[0];
        let mut input = layer.input.row_mut(t);
        let mut put = |part: &[R]| {
            let (to, rest) = std::mem::take(&mut input).split_at_mut(part.len());
            to.copy_from_slice(part);
            input = rest;
        };
        if let Some(below) = below.last() {
            put(below.hidden.row(t));
        } else {
            put(trace.input.row(t));
            others(&trace.heads, t, &mut put);
        }
        if self.config.is_lstm() {
            put(if t > 0 {
                layer.hidden.row(t - 1)
            } else {
                self.hidden.row(index)
            });
        }
    }

    /// Backpropagates through one step, from the gradient w.r.t. h_t ([`StackGradient::top`]) to the layers' inputs.
    pub(super) fn backward<const B: usize>(
        &self,
        t: usize,
        traces: &[Trace<R>],
        mut gradients: [(&mut StackGradient<R>, GradientRecorder<'_, R>); B],
    ) {
        let first = self.inputs
            + gradients
                .first()
                .map_or(0, |(gradient, _)| gradient.others.len());
        for index in (0..self.config.layers).rev() {
            for (trace, (gradient, recorder)) in traces.iter().zip(&mut gradients) {
                let layer = &trace.layers[index];
                if let Some(recorder) = recorder {
                    let state = (&gradient.hidden[index][..], &gradient.cell[index][..]);
                    let to = recorder.layers[index].cell_mut();
                    cell::record_state(layer.cell(), t, state, to);
                }
                let gradient = &mut **gradient;
                let (d_hidden, dz) = (&gradient.hidden[index], gradient.layers[index].row_mut(t));
                if self.config.is_lstm() {
                    let (steps, initial) = ((t, t.checked_sub(1)), self.cell.row(index));
                    let state = (&d_hidden[..], &mut gradient.cell[index][..]);
                    cell::activate_backward(layer.cell(), steps, initial, state, dz);
                } else {
                    feedforward::backward(layer.hidden.row(t), d_hidden, dz);
                }
            }
            // The gradient w.r.t. x is used by no weight.
            let skipped = if index == 0 { self.inputs } else { 0 };
            let width = self.config.layer_inputs(index, first) - skipped;
            let z_to_input = gradients
                .each_mut()
                .map(|(gradient, _)| (gradient.layers[index].row(t), &mut gradient.input[..width]));
            self.linears[index].backward_from(skipped, z_to_input);
            for (gradient, _) in &mut gradients {
                gradient.hand_on(index, width, self.config.is_lstm());
            }
        }
    }

    /// Records the gradients w.r.t. the input, at the end of the backward pass.
    pub(super) fn record_inputs(
        &self,
        trace: &Trace<R>,
        gradient: &StackGradient<R>,
        recorder: &mut Trace<R>,
    ) {
        let mut input = vec![R::ZERO; trace.layers[0].input.width()];
        for t in 0..trace.steps() {
            let z_to_input = [(gradient.layers[0].row(t), &mut input[..])];
            self.linears[0].backward_from(0, z_to_input);
            record(&mut recorder.input, &trace.input, t, &input);
        }
    }

    /// Makes the gradients of the linear maps over some episodes.
    pub(super) fn set_gradients<'a>(
        pairs: &(impl Iterator<Item = (&'a Trace<R>, &'a StackGradient<R>)> + Clone),
        linears: &mut [Linear<R>],
    ) {
        for (index, linear) in linears.iter_mut().enumerate() {
            let layers = pairs.clone();
            linear
                .set_gradient(layers.map(|(trace, gradient)| {
                    (&trace.layers[index].input, &gradient.layers[index])
                }));
        }
    }
}

impl<R: Real> StackGradient<R> {
    /// Splits the gradient w.r.t. a layer's input: the layer below, or the inputs next to x, and its own last state.
    fn hand_on(&mut self, index: usize, width: usize, is_recurrent: bool) {
        let d_own = &mut self.hidden[index];
        let own = if is_recurrent { d_own.len() } else { 0 };
        let (d_below, d_state) = self.input[..width].split_at(width - own);
        if is_recurrent {
            d_own.copy_from_slice(d_state);
        } else {
            d_own.fill(R::ZERO);
        }
        match index.checked_sub(1) {
            Some(below) => add(&mut self.hidden[below], d_below),
            None => self.others.copy_from_slice(d_below),
        }
    }
}
