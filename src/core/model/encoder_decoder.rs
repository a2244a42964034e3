//! The frame of machines that answer after their source: an episode has S source steps, each a row of the memory, and then
//! the steps of the answer, in which a decoder, an LSTM, is fed what it answered before, or the target in training.
//!
//! A machine is a [`Decoder`] with its [`Source`]; its file has its equations and their derivatives.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use super::array;
use super::attention::{AttentionConfig, Mechanism, ShiftForm};
use super::config::check_channels;
use super::controller::cell::{self, CellGradient, one_lstm};
use super::dependency::{Conventions, Dependency, Size};
use super::head::{self, HeadGradient};
use super::kind::{Kind, Sizes};
use super::machine::{GradientRecorder, Machine, Upstream, Workspace, both, record};
use super::params::Params;
use super::reader::{self, ReaderGradient};
use super::shape::{LinearSpec, Shape};
use super::slots::Slots;
use super::source::{Source, Weights};
use super::spec::{Array, Place};
use super::trace::Trace;
use super::{feedback, readout};
use crate::keys::{ConfigError, Keys, Table, check};
use crate::math::matrix::{padded, set_product_of_series};
use crate::math::vectors::add;
use crate::math::{Matrix, Real, Series};

/// The size of a source and a decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct EncoderDecoder<D: Decoder> {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// The part that makes the memory rows.
    pub source: D::Source,
    /// The options of the decoder.
    pub decoder: D,
    /// Score and weighting of the head.
    pub attention: AttentionConfig,
    /// Source steps of an episode.
    pub(super) rows: usize,
}

/// The equations of a decoder, with their derivatives.
///
/// Its linear maps are that of its LSTM, then others; a weight is an index into linear maps, then tensors.
pub trait Decoder: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// The part that makes the memory rows.
    type Source: Source;
    /// The arrays of the source, [`array::FEEDBACK`], and its own.
    const ARRAYS: &'static [Array];
    /// True for a decoder with a head.
    const HAS_HEAD: bool = true;

    /// Enters the keys of the machine.
    fn keys(of: &mut EncoderDecoder<Self>, to: &mut Table<'_>);

    /// Units of its LSTM.
    fn units(of: &EncoderDecoder<Self>) -> usize;

    /// Values that its LSTM sees beside its own state.
    fn seen(of: &EncoderDecoder<Self>) -> usize;

    /// Inputs of the output layer.
    fn features(of: &EncoderDecoder<Self>) -> usize;

    /// The weight of which the logits are the product.
    fn output(_: &EncoderDecoder<Self>) -> usize {
        1
    }

    /// Its tensors beside the LSTM.
    fn shape(of: &EncoderDecoder<Self>) -> Shape;

    /// The size of an axis of its own arrays.
    fn axis(_: &EncoderDecoder<Self>, _axis: &str) -> Option<usize> {
        None
    }

    /// Values per step of one of its own arrays.
    fn width(of: &EncoderDecoder<Self>, array: Array) -> usize {
        (of as &dyn Kind).values(array)
    }

    /// Sets the hidden state of the last source step, from which the LSTM starts.
    fn start_hidden<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>);

    /// Sets the cell of that step.
    fn start_cell<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>);

    /// Backpropagates from the gradients w.r.t. that state to those w.r.t. rows and last cells.
    fn start_backward<R: Real>(of: Parts<'_, Self, R>, trace: &Trace<R>, by: &mut Gradients<'_, R>);

    /// Computes a step of the answer, up to the logits.
    fn step<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize);

    /// Computes the state of the LSTM in a step of the answer.
    fn decode<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize);

    /// The arrays of [`Decoder::step`], in its order: see [`Machine::step`].
    fn dependencies<R: Real>(of: Parts<'_, Self, R>) -> Vec<Dependency<'_, R>>;

    /// Backpropagates through [`Decoder::step`].
    fn backward<R: Real>(
        of: Parts<'_, Self, R>,
        trace: &Trace<R>,
        t: usize,
        by: &mut Gradients<'_, R>,
        recorder: GradientRecorder<'_, R>,
    );

    /// The step of which the key of the head is the state, in step `t`.
    fn asks(t: usize) -> usize;

    /// The series that a weight multiplies.
    fn multiplied<'a, R: Real>(
        of: &EncoderDecoder<Self>,
        trace: &'a Trace<R>,
        weight: usize,
    ) -> &'a Series<R>;
}

/// A machine with its weights.
#[derive(Clone, Copy)]
pub struct Parts<'a, D: Decoder, R> {
    pub(super) config: &'a EncoderDecoder<D>,
    pub(super) source: Weights<'a, R>,
    /// Those of the decoder.
    pub(super) own: Weights<'a, R>,
    /// Tensors of the head.
    learned: &'a [Matrix<R>],
}

/// The gradients of an episode on the way back.
pub struct Gradients<'a, R> {
    /// w.r.t. the outputs of the machine.
    pub(super) upstream: &'a Upstream<R>,
    /// w.r.t. the input of the output layer.
    pub(super) features: &'a Series<R>,
    /// w.r.t. state and input of the LSTM.
    pub(super) state: CellGradient<R>,
    /// Of the head.
    pub(super) reader: Option<ReaderGradient<R>>,
    /// w.r.t. the rows, [S, M].
    pub(super) rows: Series<R>,
    /// w.r.t. the last cells of the source.
    pub(super) cell: Vec<R>,
    /// w.r.t. the products with every weight of the decoder.
    pub(super) products: &'a mut [Series<R>],
    /// Values between two equations.
    pub(super) scratch: Vec<R>,
}

impl<D: Decoder> Keys for EncoderDecoder<D> {
    fn keys(&mut self, to: &mut Table<'_>) {
        D::keys(self, to);
    }
}

impl<D: Decoder> EncoderDecoder<D> {
    /// Values of a memory row.
    pub(super) fn columns(&self) -> usize {
        self.source.columns(self.inputs)
    }

    fn parts<'a, R>(&'a self, params: &'a Params<R>) -> Parts<'a, D, R> {
        let (source, own) = (self.source.shape(self.inputs), D::shape(self));
        let (of_source, linears) = params.linears.split_at(source.linears.len());
        let (tensors_of_source, tensors) = params.tensors.split_at(source.tensors.len());
        let (tensors, learned) = tensors.split_at(own.tensors.len());
        Parts {
            config: self,
            source: Weights {
                linears: of_source,
                tensors: tensors_of_source,
            },
            own: Weights { linears, tensors },
            learned,
        }
    }
}

impl<D: Decoder> Kind for EncoderDecoder<D> {
    fn sizes(&self) -> Sizes {
        let has = usize::from(D::HAS_HEAD);
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: 1,
            units: D::units(self),
            read_heads: has,
            write_heads: 0,
            rows: has * self.rows,
            columns: has * self.columns(),
        }
    }

    fn shape(&self) -> Shape {
        let (mut shape, own) = (self.source.shape(self.inputs), D::shape(self));
        let c = D::units(self);
        let decoder = LinearSpec::new("decoder", D::seen(self) + c, 4 * c);
        shape.linears.push(decoder);
        shape.linears.extend(own.linears);
        shape.tensors.extend(own.tensors);
        if D::HAS_HEAD {
            let rows = self.attention.rows;
            let whole = Self {
                rows,
                ..self.clone()
            };
            shape.tensors.extend((&whole as &dyn Kind).learned(0));
        }
        shape
    }

    fn arrays(&self) -> &'static [Array] {
        D::ARRAYS
    }

    fn width(&self, place: Place, array: Array) -> usize {
        match (place, array) {
            (Place::Layer(_), _) => one_lstm(D::units(self)).width(0, array, D::seen(self)),
            (Place::Head(_), _) => head::width(self, (&self.attention, ShiftForm::None), 0, array),
            (_, array::RAW) => 0,
            (_, array::FEATURES) => D::features(self),
            (_, array::NORMS) => self.sizes().rows,
            (_, array::INPUT | array::LOGIT | array::OUTPUT | array::MEMORY | array::FEEDBACK) => {
                (self as &dyn Kind).values(array)
            }
            _ if D::Source::ARRAYS.contains(&array) => self.source.width(self.inputs, array),
            _ => D::width(self, array),
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        match axis {
            "k" | "c" => Some(D::units(self)),
            _ => {
                let own = self.source.axis(axis).or_else(|| D::axis(self, axis));
                own.or_else(|| self.attention.axis(axis))
            }
        }
    }

    fn of_source(&self, steps: usize) -> Option<Box<dyn Kind>> {
        let rows = steps.max(1);
        Some(Box::new(Self {
            rows,
            ..self.clone()
        }))
    }

    fn most_source(&self) -> usize {
        if D::HAS_HEAD {
            self.attention.most_rows()
        } else {
            usize::MAX
        }
    }

    fn first_step(&self) -> usize {
        self.rows
    }

    fn mechanism(&self, _: usize) -> Mechanism {
        self.attention.of_reader()
    }

    fn set_channels(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
    }

    fn validate(&self) -> Result<(), ConfigError> {
        check_channels(self.inputs, self.outputs)?;
        check(&mut self.clone())?;
        if D::HAS_HEAD {
            self.attention.fits_reader(D::units(self), self.columns())?;
        }
        Ok(())
    }
}

fn is_in_answer(t: usize, source: usize) -> bool {
    t >= source
}

/// The scratch space of the backward pass of an episode.
struct Scratch<R> {
    /// w.r.t. the input of the output layer.
    seen: readout::Seen<R>,
    /// w.r.t. the products with every weight of the source and of the decoder.
    products: [Vec<Series<R>>; 2],
}

impl<R: Real, D: Decoder> Machine<R> for EncoderDecoder<D> {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let parts = self.parts(params);
        for trace in traces {
            if steps.start == 0 {
                if let [head] = &mut trace.heads[..] {
                    trace.memory_columns.row_mut(0).fill(R::ZERO);
                    head.learn(parts.learned);
                }
                self.source.run(parts.source, trace);
            }
            for t in steps.start..steps.end.min(trace.steps()) {
                parts.step(trace, t);
            }
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        let c = D::units(self);
        let mut own = D::shape(self);
        own.linears.insert(0, LinearSpec::new("decoder", 0, 4 * c));
        let products = [self.source.shape(self.inputs), own].map(|shape| {
            let linears = shape.linears.iter().map(LinearSpec::outputs);
            let all = linears.chain(shape.tensors.iter().map(|tensor| tensor.columns));
            all.map(|columns| Series::new(padded(columns))).collect()
        });
        Box::new(Scratch::<R> {
            seen: readout::Seen::new(D::features(self), self.outputs),
            products,
        })
    }

    fn backward(
        &self,
        params: &Params<R>,
        traces: &[Trace<R>],
        workspaces: &mut [Workspace<R>],
        gradient: &mut Params<R>,
    ) {
        let parts = self.parts(params);
        let (of_source, weights) = (parts.source, parts.own);
        let others = of_source.tensors.len() + weights.tensors.len();
        for (trace, workspace) in traces.iter().zip(&mut *workspaces) {
            let (by, scratch, recorder) = workspace.parts_mut::<Scratch<R>>();
            let reader = parts.backward(trace, by, scratch, recorder);
            let learned = reader.iter().flat_map(|reader| &reader.head);
            let learned = learned.flat_map(HeadGradient::learned);
            for (to, from) in gradient.tensors[others..].iter_mut().zip(learned) {
                reader::add_learned(to, from);
            }
        }
        let all = both::<R, Scratch<R>>(traces, workspaces);
        let source = |weight: usize| {
            all.clone().map(move |(trace, _, by)| {
                (
                    self.source.multiplied(trace, weight),
                    &by.products[0][weight],
                )
            })
        };
        let own = |weight: usize| {
            all.clone().map(move |(trace, _, by)| {
                (D::multiplied(self, trace, weight), &by.products[1][weight])
            })
        };
        let count = of_source.linears.len();
        let (linears_of_source, linears) = gradient.linears.split_at_mut(count);
        let (tensors_of_source, tensors) = gradient.tensors.split_at_mut(of_source.tensors.len());
        for (weight, linear) in linears_of_source.iter_mut().enumerate() {
            linear.set_gradient(source(weight));
        }
        for (weight, tensor) in (count..).zip(tensors_of_source) {
            set_product_of_series(source(weight), tensor);
        }
        let count = linears.len();
        for (weight, linear) in linears.iter_mut().enumerate() {
            linear.set_gradient(own(weight));
        }
        for (weight, tensor) in (count..).zip(&mut tensors[..weights.tensors.len()]) {
            set_product_of_series(own(weight), tensor);
        }
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let mut all = self.memory();
        all.push(feedback::dependency());
        all.extend(self.attended(conventions));
        all
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let parts = self.parts(params);
        let mut all = self.source.step(parts.source);
        all.extend(self.memory());
        all.push(feedback::dependency());
        all.extend(D::dependencies(parts));
        all.push(readout::output());
        all
    }
}

impl<D: Decoder> EncoderDecoder<D> {
    /// The memory, from what its rows are made of.
    fn memory<R: Real>(&self) -> Vec<Dependency<'_, R>> {
        if !D::HAS_HEAD {
            return Vec::new();
        }
        let made_of = self.source.made_of().iter().chain([&array::INITIAL_MEMORY]);
        let needs = made_of.map(|array| (Place::Machine, *array)).collect();
        let append = |trace: &mut Trace<R>, t: usize| self.append(trace, t);
        vec![Dependency::new(
            Place::Machine,
            array::MEMORY,
            needs,
            Size::One,
            append,
        )]
    }

    /// M_{t+1}: M_t with row t of the source.
    fn append<R: Real>(&self, trace: &mut Trace<R>, t: usize) {
        let (now, next) = (trace.memory_row(t), trace.memory_row(t + 1));
        let (before, after) = trace.memory_columns.two_rows(now, next);
        after.copy_from_slice(before);
        if t < trace.setting.source {
            self.source.write(trace, t, next);
        }
    }

    /// The key of the head, and everything up to its read.
    fn attended<'a, R: Real>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        if !D::HAS_HEAD {
            return Vec::new();
        }
        let state = vec![(Place::Layer(0), array::HIDDEN)];
        let key = Dependency::new(Place::Head(0), array::KEY, state, Size::One, ask::<D, R>);
        let reader = reader::dependencies(self, conventions);
        let all = [key].into_iter().chain(reader);
        all.map(|dependency| dependency.only(is_in_answer))
            .collect()
    }
}

/// Sets the key to a state of the decoder.
fn ask<D: Decoder, R: Real>(trace: &mut Trace<R>, t: usize) {
    let state = trace.layers[0].hidden.row(D::asks(t));
    trace.heads[0].key.row_mut(t).copy_from_slice(state);
}

/// The weighting and the read of step `t`, from the state of the decoder.
pub(super) fn attend<D: Decoder, R: Real>(trace: &mut Trace<R>, t: usize) {
    ask::<D, R>(trace, t);
    reader::forward(trace, t);
}

/// The logits, which `emit` computes.
pub(super) fn emitting<'a, R: Real>(emit: impl Fn(&mut Trace<R>, usize) + 'a) -> Dependency<'a, R> {
    Dependency::with_weights(Place::Machine, array::LOGIT, emit).only(is_in_answer)
}

impl<'a, D: Decoder, R: Real> Parts<'a, D, R> {
    /// One step of an episode whose source has been read.
    fn step(self, trace: &mut Trace<R>, t: usize) {
        let source = trace.setting.source;
        if D::HAS_HEAD {
            self.config.append(trace, t);
        }
        if is_in_answer(t, source) {
            if !trace.setting.is_forced {
                feedback::set(trace, t);
            }
            D::step(self, trace, t);
        } else {
            trace.logit.row_mut(t).fill(R::ZERO);
            if t + 1 == source {
                D::start_hidden(self, trace);
                D::start_cell(self, trace);
            }
        }
        readout::answer(trace, t);
    }

    /// What is fed back, among the arrays of the machine: y_{t−1} in row t.
    pub(super) fn feedback(own: &Slots<R>) -> &Series<R> {
        own.at(D::Source::ARRAYS.len())
    }

    /// The LSTM, its input beside its own state being there.
    pub(super) fn run_cell(self, trace: &mut Trace<R>, t: usize) {
        cell::forward(
            &self.own.linears[0],
            trace.layers[0].cell_mut(),
            t,
            Some(t - 1),
        );
    }

    /// z_t = W·u_t + b of an input of the output layer that is there.
    pub(super) fn emit(self, trace: &mut Trace<R>, t: usize) {
        let (output, z) = (&self.own.linears[1], trace.logit.row_mut(t));
        output.start(z);
        output.forward_from(0, [(trace.features.row(t), z)]);
    }

    /// The same of the state and of what was read.
    pub(super) fn emit_state(self, trace: &mut Trace<R>, t: usize) {
        readout::gather(trace, t);
        self.emit(trace, t);
    }

    /// Arrays of [`attend`].
    pub(super) fn attending(self) -> Vec<Dependency<'a, R>> {
        self.config.attended(Conventions::OWN)
    }

    /// Cell and hidden state of the decoder.
    pub(super) fn decoding(self) -> [Dependency<'a, R>; 2] {
        let before =
            move |trace: &mut Trace<R>, t: usize, array, start: fn(Self, &mut Trace<R>)| {
                if let Some(series) = trace.series_mut(Place::Layer(0), array) {
                    series.row_mut(t).fill(R::ZERO);
                }
                if t + 1 == trace.setting.source {
                    start(self, trace);
                }
            };
        let cell = move |trace: &mut Trace<R>, t: usize| {
            if is_in_answer(t, trace.setting.source) {
                D::decode(self, trace, t);
            } else {
                before(trace, t, array::CELL, D::start_cell);
            }
        };
        let hidden = move |trace: &mut Trace<R>, t: usize| {
            if is_in_answer(t, trace.setting.source) {
                cell::hide(trace.layers[0].cell_mut(), t);
            } else {
                before(trace, t, array::HIDDEN, D::start_hidden);
            }
        };
        let layer = Place::Layer(0);
        [
            Dependency::with_weights(layer, array::CELL, cell),
            Dependency::with_weights(layer, array::HIDDEN, hidden),
        ]
    }

    /// Backpropagates through [`Parts::run_cell`].
    pub(super) fn cell_backward(
        self,
        trace: &Trace<R>,
        t: usize,
        by: &mut Gradients<'_, R>,
        recorder: GradientRecorder<'_, R>,
    ) {
        let (linear, steps) = (&self.own.linears[0], (t, Some(t - 1)));
        let (cell, dz) = (trace.layers[0].cell(), &mut by.products[0]);
        let to = recorder.map(|to| to.layers[0].cell_mut());
        by.state.backward(linear, cell, steps, dz, to);
    }

    /// Backpropagates through [`attend`]: from the gradient w.r.t. the read, the first values of the scratch, to
    /// that w.r.t. the state.
    pub(super) fn attend_backward(
        self,
        trace: &Trace<R>,
        t: usize,
        by: &mut Gradients<'_, R>,
        recorder: GradientRecorder<'_, R>,
    ) {
        if let Some(reader) = &mut by.reader {
            let d_read = &by.scratch[..self.config.columns()];
            let d_key = reader.backward(trace, t, d_read, by.upstream, recorder);
            add(&mut by.state.hidden[..], d_key);
        }
    }

    /// Backpropagates through an episode.
    fn backward(
        self,
        trace: &Trace<R>,
        upstream: &Upstream<R>,
        scratch: &mut Scratch<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) -> Option<ReaderGradient<R>> {
        self.reset(trace, upstream, scratch);
        let Scratch {
            seen,
            products: [of_source, own],
        } = scratch;
        let (config, source) = (self.config, trace.setting.source);
        let (linears, tensors) = (self.own.linears, self.own.tensors);
        let at = D::output(config);
        let output = linears.get(at).map(|linear| &linear.weight);
        seen.backward(
            output.unwrap_or_else(|| &tensors[at - linears.len()]),
            &own[at],
        );
        let mut rows = Series::new(config.columns());
        rows.resize(source);
        let scratch = D::features(config).max(config.columns() + D::units(config));
        let mut by = Gradients {
            upstream,
            features: &seen.gradient,
            state: CellGradient::new(D::units(config), D::seen(config)),
            reader: D::HAS_HEAD.then(|| ReaderGradient::new(config, trace, upstream)),
            rows,
            cell: vec![R::ZERO; config.columns()],
            products: own,
            scratch: vec![R::ZERO; scratch],
        };
        for t in (source..trace.steps()).rev() {
            D::backward(self, trace, t, &mut by, recorder.as_deref_mut());
        }
        if let Some(reader) = &mut by.reader {
            reader.finish(trace, upstream, recorder.as_deref_mut());
        }
        if let Some(to) = recorder.as_deref_mut() {
            to.record_logits(trace, upstream);
            let (to, of) = (&mut to.layers[0], &trace.layers[0]);
            record(&mut to.hidden, &of.hidden, source - 1, &by.state.hidden);
            record(&mut to.cell, &of.cell, source - 1, &by.state.cell);
        }
        D::start_backward(self, trace, &mut by);
        if let Some(reader) = &mut by.reader {
            reader.rows(trace, &mut by.rows, recorder.as_deref_mut());
        }
        let by_source = (&mut by.rows, &by.cell[..], &upstream.terms);
        config
            .source
            .backward(self.source, trace, by_source, of_source, recorder);
        by.reader
    }

    /// Empties the scratch for an episode.
    fn reset(self, trace: &Trace<R>, by: &Upstream<R>, scratch: &mut Scratch<R>) {
        let config = self.config;
        let [of_source, own] = &mut scratch.products;
        for (weight, series) in of_source.iter_mut().enumerate() {
            series.resize(config.source.multiplied(trace, weight).steps());
            series.as_mut_slice().fill(R::ZERO);
        }
        for (weight, series) in own.iter_mut().enumerate() {
            series.resize(D::multiplied(config, trace, weight).steps());
            series.as_mut_slice().fill(R::ZERO);
        }
        for t in trace.setting.source..trace.steps() {
            own[D::output(config)]
                .row_mut(t)
                .copy_from_slice(by.logit.row(t));
        }
    }
}
