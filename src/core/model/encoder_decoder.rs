//! The frame of machines that answer after their source: an episode has S source steps, each a row of the memory, and then
//! the steps of the answer, in which a decoder, an LSTM, is fed what it answered before, or the target in training.
//!
//! A machine is a [`Decoder`] with its [`Source`]; its file has its equations and their derivatives.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use super::array;
use super::attention::{AttentionConfig, Mechanism, Sees, ShiftForm};
use super::controller::cell::{self, CellBack, CellGradient, one_lstm};
use super::dependency::{Conventions, Dependency, Size};
use super::head;
use super::kind::{Kind, Sizes, row_per_step};
use super::machine::{Batch, GradientRecorder, Machine, Upstream, record, together};
use super::params::Params;
use super::reader::{self, ReaderGradient};
use super::shape::{LinearSpec, Shape};
use super::slots::Slots;
use super::source::{self, Source, SourceGradient, Weights, with_source};
use super::spec::{self, Array, Place};
use super::trace::Trace;
use super::{feedback, readout};
use crate::keys::{ConfigError, Keys, Table};
use crate::math::matrix::{Rows, add_rows_product, padded, set_product_of_series};
use crate::math::vectors::{add, gather};
use crate::math::{Linear, Matrix, Real, Series};

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
    /// True where a weight makes of the feedback what the LSTM sees.
    const LEARNS_FEEDBACK: bool = false;

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
    fn start_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>);

    /// Sets what the LSTM sees of the feedback, where that is not the feedback itself.
    fn feed<R: Real>(_: Parts<'_, Self, R>, _trace: &mut Trace<R>, _t: usize) {}

    /// What the LSTM sees of the feedback, the first ones of its inputs.
    fn fed<R: Real>(own: &Slots<R>) -> &Series<R> {
        own.at(Self::Source::ARRAYS.len())
    }

    /// The part of a step of the answer before the LSTM.
    fn before<R: Real>(_: Parts<'_, Self, R>, _trace: &mut Trace<R>, _t: usize) {}

    /// Sets the inputs of the LSTM beside its own state.
    fn see<R: Real>(of: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize);

    /// The part after it.
    fn after<R: Real>(_: Parts<'_, Self, R>, _trace: &mut Trace<R>, _t: usize) {}

    /// Sets the input of the output layer.
    fn emit<R: Real>(_: Parts<'_, Self, R>, trace: &mut Trace<R>, t: usize) {
        readout::gather(trace, t);
    }

    /// The arrays of a step of the answer, in its order: see [`Machine::step`].
    fn dependencies<R: Real>(of: Parts<'_, Self, R>) -> Vec<Dependency<'_, R>>;

    /// Backpropagates through [`Decoder::emit`] and [`Decoder::after`] to the state of the LSTM.
    fn after_backward<R: Real>(of: Parts<'_, Self, R>, back: &mut Back<'_, R>, t: usize);

    /// Backpropagates from the inputs of the LSTM through [`Decoder::before`].
    fn before_backward<R: Real>(_: Parts<'_, Self, R>, back: &mut Back<'_, R>, t: usize) {
        back.record_feedback(t);
    }

    /// The step of which the key of the head is the state, in step `t`.
    fn asks(t: usize) -> usize {
        t
    }

    /// The rows that a weight multiplies, from the first one of the answer on: those of the LSTM, or the input of the output
    /// layer.
    fn multiplied<'a, R: Real>(
        _: &EncoderDecoder<Self>,
        trace: &'a Trace<R>,
        weight: usize,
    ) -> Rows<'a, R> {
        let source = trace.setting.source;
        match weight {
            0 => trace.layers[0].input.rows_from(source),
            _ => trace.features.rows_from(source),
        }
    }
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
pub struct Gradients<R> {
    /// w.r.t. the input of the output layer, in every step of the answer.
    pub(super) features: readout::Seen<R>,
    /// w.r.t. state and input of the LSTM.
    pub(super) state: CellGradient<R>,
    /// Of the head.
    pub(super) reader: Option<ReaderGradient<R>>,
    /// Of the source.
    pub(super) source: SourceGradient<R>,
    /// w.r.t. those with every weight of the decoder, in every step of the answer.
    pub(super) products: Vec<Series<R>>,
    /// Values between two equations.
    pub(super) scratch: Vec<R>,
}

with_source!(Gradients);

/// The backward pass of an episode.
pub struct Back<'a, R> {
    /// The episode.
    pub(super) trace: &'a Trace<R>,
    /// w.r.t. the outputs of the machine.
    pub(super) upstream: &'a Upstream<R>,
    /// The gradients.
    pub(super) by: &'a mut Gradients<R>,
    /// Their recorder.
    pub(super) recorder: GradientRecorder<'a, R>,
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
        let source = source::weights(&self.source, self.inputs, params);
        let linears = &params.linears[source.linears.len()..];
        let tensors = &params.tensors[source.tensors.len()..];
        let (tensors, learned) = tensors.split_at(D::shape(self).tensors.len());
        Parts {
            config: self,
            source,
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

    row_per_step!();

    fn most_rows(&self) -> (usize, &'static str) {
        let most = if D::HAS_HEAD {
            self.attention.most_rows()
        } else {
            usize::MAX
        };
        (most, "attention.rows")
    }

    fn first_step(&self) -> usize {
        self.rows
    }

    fn has_feedback(&self) -> bool {
        true
    }

    fn is_zero(&self, place: Place, array: Array, t: usize, source: usize) -> bool {
        match place {
            Place::Machine if D::Source::ARRAYS.contains(&array) => t >= source,
            Place::Machine => D::ARRAYS.contains(&array) && t < source,
            // The decoder starts from its state in the last source step.
            Place::Layer(_) => t + 1 < source,
            Place::Head(_) => {
                t < source && !matches!(array.range, spec::Range::Normal | spec::Range::Uniform)
            }
        }
    }

    fn mechanism(&self, _: usize) -> Mechanism {
        self.attention.of_reader(Sees::All)
    }

    fn check_together(&self) -> Result<(), ConfigError> {
        if D::HAS_HEAD {
            self.attention.fits_reader(D::units(self), self.columns())?;
        }
        Ok(())
    }
}

fn is_in_answer(t: usize, source: usize) -> bool {
    t >= source
}

/// Steps of the answer.
fn answers<R: Real>(trace: &Trace<R>) -> usize {
    trace.steps().saturating_sub(trace.setting.source)
}

impl<R: Real, D: Decoder> Machine<R> for EncoderDecoder<D> {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let parts = self.parts(params);
        if steps.start == 0 {
            self.source.run(parts.source, traces);
            traces.iter_mut().for_each(|trace| parts.begin(trace));
        }
        for trace in &mut *traces {
            let source = trace.setting.source;
            (steps.start..steps.end.min(source)).for_each(|t| parts.read(trace, t));
        }
        // Episodes with other sources answer side by side, from the first step of each answer on.
        let source = traces.iter().map(|trace| trace.setting.source).max();
        for k in steps.start.saturating_sub(source.unwrap_or(0))..steps.end {
            let is_running = |trace: &&mut Trace<R>| {
                let t = trace.setting.source + k;
                steps.contains(&t) && t < trace.steps()
            };
            let mut running: Vec<_> = traces.iter_mut().filter(is_running).collect();
            together!(running.len(), running, |traces| parts.answer(traces, k));
        }
        for trace in traces.iter_mut().filter(|trace| trace.setting.is_forced) {
            if steps.end >= trace.steps() {
                parts.emit_all(trace);
            }
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        let c = D::units(self);
        let mut own = D::shape(self);
        own.linears.insert(0, LinearSpec::new("decoder", 0, 4 * c));
        let scratch = D::features(self).max(self.columns() + c);
        Box::new(Gradients::<R> {
            features: readout::Seen::new(D::features(self), self.outputs),
            state: CellGradient::new(c, D::seen(self)),
            reader: None,
            source: SourceGradient::new(&self.source, self.inputs),
            products: source::products(&own),
            scratch: vec![R::ZERO; scratch],
        })
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let parts = self.parts(params);
        let (of_source, weights) = (parts.source, parts.own);
        let first = of_source.tensors.len();
        for mut group in batch.groups() {
            let episodes = group.each().map(|(trace, upstream, by, recorder)| Back {
                trace,
                upstream,
                by,
                recorder,
            });
            parts.backward(&mut episodes.collect::<Vec<_>>());
        }
        source::backward::<R, Gradients<R>>(&self.source, of_source, batch, gradient);
        let all = batch.done::<Gradients<R>>();
        let (tensors, learned) = gradient.tensors[first..].split_at_mut(weights.tensors.len());
        for reader in all.clone().filter_map(|(.., by)| by.reader.as_ref()) {
            reader.add_learned(learned);
        }
        // Every list is walked through several times.
        let own = |weight: usize| -> Vec<(Rows<'_, R>, Rows<'_, R>)> {
            let pairs = all.clone().map(|(trace, _, by)| {
                let seen = D::multiplied(self, trace, weight);
                (seen, (&by.products[weight]).into())
            });
            pairs.collect()
        };
        let linears = &mut gradient.linears[of_source.linears.len()..];
        for (weight, linear) in linears.iter_mut().enumerate() {
            linear.set_gradient(own(weight).iter().copied());
        }
        for (weight, tensor) in (linears.len()..).zip(tensors) {
            set_product_of_series(own(weight).iter().copied(), tensor);
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
        vec![source::appended(&self.source)]
    }

    /// The key of the head, and everything up to its read.
    fn attended<'a, R: Real>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        if !D::HAS_HEAD {
            return Vec::new();
        }
        let state = [(Place::Layer(0), array::HIDDEN)];
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

impl<'a, D: Decoder, R: Real> Parts<'a, D, R> {
    /// Sets the rows of an episode whose source has been read and, where the target is fed back, b + W·y of every step.
    fn begin(self, trace: &mut Trace<R>) {
        let (source, stride) = (trace.setting.source, padded(self.config.columns()));
        trace.learn(self.learned);
        if let [head] = &mut trace.heads[..] {
            let mut rows = std::mem::take(&mut head.rows);
            for (t, to) in rows.row_mut(0).chunks_exact_mut(stride).enumerate() {
                gather(to, self.config.source.row(trace, t));
            }
            let memory = trace.memory_columns.row_mut(0);
            if trace.memory_every == 1 {
                memory.fill(R::ZERO);
            } else {
                for (m, column) in memory.chunks_exact_mut(source).enumerate() {
                    let from = rows.row(0).iter().skip(m).step_by(stride);
                    let pairs = column.iter_mut().zip(from);
                    pairs.for_each(|(to, &from)| *to = from);
                }
            }
            trace.heads[0].rows = rows;
        }
        if trace.setting.is_forced {
            self.feed(trace, source..trace.steps());
        }
    }

    /// One step of the source.
    fn read(self, trace: &mut Trace<R>, t: usize) {
        self.append(trace, t);
        trace.logit.row_mut(t).fill(R::ZERO);
        if t + 1 == trace.setting.source {
            D::start_hidden(self, trace);
            D::start_cell(self, trace);
        }
        readout::answer(trace, t);
    }

    /// Sets the next memory, where that of every step is kept.
    fn append(self, trace: &mut Trace<R>, t: usize) {
        if D::HAS_HEAD && trace.memory_every == 1 {
            source::append(&self.config.source, trace, t);
        }
    }

    /// Step `k` of answers side by side.
    fn answer<const B: usize>(self, traces: &mut [&mut Trace<R>; B], k: usize) {
        for trace in &mut *traces {
            let t = trace.setting.source + k;
            self.append(trace, t);
            if !trace.setting.is_forced {
                feedback::set(trace, t);
                self.feed(trace, t..t + 1);
            }
            D::before(self, trace, t);
        }
        self.decode(traces, k);
        for trace in traces {
            let t = trace.setting.source + k;
            D::after(self, trace, t);
            D::emit(self, trace, t);
            if !trace.setting.is_forced {
                self.emit(trace, t..t + 1);
                readout::answer(trace, t);
            }
        }
    }

    /// Sets b + W·y of what is fed back in these steps, in place of the gates.
    fn feed(self, trace: &mut Trace<R>, steps: Range<usize>) {
        steps.clone().for_each(|t| D::feed(self, trace, t));
        let gates = &mut trace.layers[0].gates;
        self.own.linears[0].forward_rows(D::fed(&trace.own), gates, steps);
    }

    /// The state of the LSTM in step `k` of answers side by side.
    fn decode<const B: usize>(self, traces: &mut [&mut Trace<R>; B], k: usize) {
        let mut first = 0;
        let cells = traces.each_mut().map(|trace| {
            let t = trace.setting.source + k;
            D::see(self, trace, t);
            first = D::fed(&trace.own).width();
            (trace.layers[0].cell_mut(), (t, Some(t - 1)))
        });
        cell::forward(&self.own.linears[0], first, cells);
    }

    /// The weight and the bias of the output layer.
    fn output(self) -> (&'a Matrix<R>, Option<&'a Linear<R>>) {
        let (at, linears) = (D::output(self.config), self.own.linears);
        match linears.get(at) {
            Some(linear) => (&linear.weight, Some(linear)),
            None => (&self.own.tensors[at - linears.len()], None),
        }
    }

    /// z_t = W·u_t + b, from the input of the output layer.
    fn emit(self, trace: &mut Trace<R>, steps: Range<usize>) {
        let (weight, linear) = self.output();
        for t in steps.clone() {
            let z = trace.logit.row_mut(t);
            match linear {
                Some(linear) => linear.start(z),
                None => z.fill(R::ZERO),
            }
        }
        add_rows_product(
            &trace.features,
            weight.rows_from(0),
            &mut trace.logit,
            steps,
        );
    }

    /// Logits and outputs of an answer.
    fn emit_all(self, trace: &mut Trace<R>) {
        let steps = trace.setting.source..trace.steps();
        self.emit(trace, steps.clone());
        steps.for_each(|t| readout::answer(trace, t));
    }

    /// The logits.
    pub(super) fn emitting(self) -> Dependency<'a, R> {
        let emit = move |trace: &mut Trace<R>, t: usize| {
            D::emit(self, trace, t);
            self.emit(trace, t..t + 1);
        };
        Dependency::with_weights(Place::Machine, array::LOGIT, emit).only(is_in_answer)
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
            let source = trace.setting.source;
            if is_in_answer(t, source) {
                self.feed(trace, t..t + 1);
                self.decode(&mut [trace], t - source);
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

    /// Backpropagates through [`Parts::decode`].
    fn decode_backward<const B: usize>(self, episodes: &mut [&mut Back<'_, R>; B], k: usize) {
        let all = episodes.each_mut().map(|back| {
            let Back {
                trace,
                by,
                recorder,
                ..
            } = &mut **back;
            let t = trace.setting.source + k;
            CellBack {
                cell: trace.layers[0].cell(),
                steps: (t, Some(t - 1)),
                by: &mut by.state,
                dz: by.products[0].row_mut(k),
                to: recorder.as_deref_mut().map(|to| to.layers[0].cell_mut()),
            }
        });
        cell::backward(&self.own.linears[0], all);
    }

    /// Backpropagates through up to [`TOGETHER`] episodes side by side, to the rows of their sources.
    fn backward(self, episodes: &mut [Back<'_, R>]) {
        episodes.iter_mut().for_each(|back| self.reset(back));
        let most = episodes.iter().map(|back| answers(back.trace)).max();
        for k in (0..most.unwrap_or(0)).rev() {
            let running = episodes.iter_mut();
            let running = running.filter(|back| answers(back.trace) > k);
            let mut running: Vec<_> = running.collect();
            for back in &mut running {
                let t = back.trace.setting.source + k;
                D::after_backward(self, back, t);
            }
            together!(running.len(), running, |running| {
                self.decode_backward(running, k);
            });
            for back in running {
                let t = back.trace.setting.source + k;
                D::before_backward(self, back, t);
            }
        }
        for back in episodes {
            self.start_backward(back);
        }
    }

    /// Backpropagates from the first state of the LSTM and from the memory to the source.
    fn start_backward(self, back: &mut Back<'_, R>) {
        let (trace, source) = (back.trace, back.trace.setting.source);
        let Gradients {
            reader, source: of, ..
        } = &mut *back.by;
        if let Some(reader) = reader {
            reader.finish(
                trace,
                back.upstream,
                &mut of.rows,
                back.recorder.as_deref_mut(),
            );
        }
        if let Some(to) = back.recorder.as_deref_mut() {
            to.record_logits(trace, back.upstream);
            let (to, of) = (&mut to.layers[0], &trace.layers[0]);
            record(
                &mut to.hidden,
                &of.hidden,
                source - 1,
                &back.by.state.hidden,
            );
            record(&mut to.cell, &of.cell, source - 1, &back.by.state.cell);
        }
        D::start_backward(self, back);
        let Gradients {
            reader, source: of, ..
        } = &mut *back.by;
        if let Some(reader) = reader {
            reader.rows(trace, &mut of.rows, back.recorder.as_deref_mut());
        }
    }

    /// Empties the gradients for an episode, up to those w.r.t. the input of the output layer.
    fn reset(self, back: &mut Back<'_, R>) {
        let (config, trace, source) = (self.config, back.trace, back.trace.setting.source);
        let by = &mut *back.by;
        let answers = answers(trace);
        by.source.reset(&config.source, trace);
        for (weight, series) in by.products.iter_mut().enumerate() {
            let rows = D::multiplied(config, trace, weight);
            series.resize(answers.max(1).min(rows.data.len() / rows.stride));
        }
        let logit = &mut by.products[D::output(config)];
        let of_answer = back.upstream.logit.rows_from(source);
        logit.as_mut_slice().copy_from_slice(of_answer.data);
        by.features.backward(self.output().0, logit);
        // No weight needs the gradient w.r.t. the feedback.
        let skipped = if back.recorder.is_some() || D::LEARNS_FEEDBACK {
            0
        } else {
            config.outputs
        };
        by.state.reset(D::seen(config) - skipped);
        if D::HAS_HEAD {
            let last = by.reader.take();
            by.reader = Some(ReaderGradient::of(config, trace, back.upstream, last));
        }
    }
}

impl<R: Real> Back<'_, R> {
    /// Backpropagates through [`attend`]: from the gradient w.r.t. the read, the first values of the scratch, to
    /// that w.r.t. the state.
    pub(super) fn attend(&mut self, t: usize) {
        let Gradients {
            reader,
            scratch,
            state,
            source,
            ..
        } = &mut *self.by;
        if let Some(reader) = reader {
            let d_read = &scratch[..source.rows.width()];
            let recorder = self.recorder.as_deref_mut();
            let d_key = reader.backward(self.trace, t, d_read, self.upstream, recorder);
            add(&mut state.hidden[..], d_key);
        }
    }

    /// Records the gradient w.r.t. the feedback, which the LSTM saw.
    pub(super) fn record_feedback(&mut self, t: usize) {
        let recorder = self.recorder.as_deref_mut();
        feedback::record(self.trace, t, &self.by.state.input, recorder);
    }
}
