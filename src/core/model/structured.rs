//! Structured self-attention: several heads over the states of an encoder, each with a fixed query, and a layer on all that
//! they read (Lin 2017, §2.1), in the order of its equations:
//!
//! ```text
//! u_i = tanh(W_1ᵀ·M(i))    e_i = v·u_i    w_t = softmax_i(e_i)    r_t = Σ_i w_t(i)·M(i)       of every head, t ≥ S
//! m_t = relu(W_mᵀ·[r_t of every head] + b_m)    z_t = W·m_t + b
//! ```
//!
//! The vectors v of all heads are the rows of W_2 in the paper. M(i) is a state of the encoder, as in `encoder_decoder.rs`.

use std::any::Any;
use std::ops::Range;

use super::addressing::address;
use super::array;
use super::attention::{AttentionConfig, Mechanism, Score, Sees};
use super::config::MAX_HEADS;
use super::config::Order;
use super::controller::feedforward;
use super::dependency::{Conventions, Dependency, Size};
use super::derivatives::stages_backward;
use super::encoder::{COUNT, Direction, EncoderConfig, with_own};
use super::head::HeadGradient;
use super::kind::{Kind, Sizes, row_per_step};
use super::machine::{Batch, EpisodeBack, GradientRecorder, Machine, Upstream};
use super::params::Params;
use super::recompute::Rules;
use super::shape::{LinearSpec, Shape, TensorSpec};
use super::source::{self, Source, SourceGradient, Weights, with_source};
use super::spec::{Array, ArraySpec, LEARNED, Place, Range as Values};
use super::trace::Trace;
use super::{memory, reader, readout};
use crate::keys::Field::Integer;
use crate::keys::{Keys, Table};
use crate::math::matrix::{self, padded, set_product_of_series};
use crate::math::vectors::{add_multiple, gather};
use crate::math::{Real, Series};

/// The size of structured self-attention.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// The encoder.
    pub source: EncoderConfig,
    /// Units of the score, A.
    pub units: usize,
    /// Heads.
    pub heads: usize,
    /// Units of the layer on what is read.
    pub hidden: usize,
    attention: AttentionConfig,
    /// Source steps of an episode.
    rows: usize,
}

/// u_t, [T, A].
#[rustfmt::skip] // A row for every array.
const UNITS: Array = &ArraySpec::new("units", &["t", "a"], "u", Values::Within(-1.0, 1.0), "tanh(W_1ᵀ·M(t)) of a source step; 0 after the source (Lin 2017, equation 5)");
/// m_t, [T, D].
#[rustfmt::skip]
const COMBINED: Array = &ArraySpec::new("combined", &["t", "d"], "m", Values::AtLeast(0.0), "relu of a layer on the reads of all heads, the input of the output layer; 0 before the answer (Lin 2017)");
/// [r_t of every head], [T, R·M].
const READS: Array = &ArraySpec::scratch("reads");
/// v, [A].
#[rustfmt::skip]
const VECTOR: Array = &ArraySpec::new("vector", &["a"], "v", LEARNED, "learned; score v·u_i (Lin 2017)");

/// Places of these arrays.
const AT_UNITS: usize = COUNT;
const AT_COMBINED: usize = COUNT + 1;
const AT_READS: usize = COUNT + 2;

/// The arrays in files beside those of the encoder.
#[rustfmt::skip]
const HAS: &[Array] = &[
    array::INPUT, array::LOGIT, array::OUTPUT, array::MEMORY, UNITS, COMBINED, array::INITIAL, array::SIMILARITY,
    array::CONTENT, array::WEIGHTING, array::READ, VECTOR,
];

impl StructuredConfig {
    /// An encoder in both directions with 32 units each, and four heads.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            source: EncoderConfig::new(Direction::Both, 32),
            units: 32,
            heads: 4,
            hidden: 64,
            attention: reader::attention(Score::Dot, 1),
            rows: 1,
        }
    }

    fn parts<'a, R>(&'a self, params: &'a Params<R>) -> Parts<'a, R> {
        Parts {
            config: self,
            params,
            source: source::weights(&self.source, self.inputs, params),
        }
    }
}

#[rustfmt::skip] // A row for every key.
impl Keys for StructuredConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        self.source.network_keys(&mut to.section("encoder"));
        to.key("heads.read", Integer(&mut self.heads, 1..=MAX_HEADS), "heads, each with a fixed query");
        to.key("attention.units", Integer(&mut self.units, 1..=1024), "units A of the score");
        to.key("decoder.hidden", Integer(&mut self.hidden, 1..=4096), "units of the layer on what all heads read");
    }
}

impl Kind for StructuredConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            read_heads: self.heads,
            rows: self.rows,
            columns: self.source.columns(self.inputs),
            ..Sizes::default()
        }
    }

    fn shape(&self) -> Shape {
        let mut shape = self.source.shape(self.inputs);
        let m = self.source.columns(self.inputs);
        let maps = [
            ("combine", self.heads * m, self.hidden),
            ("output", self.hidden, self.outputs),
        ];
        let maps = maps.map(|(name, inputs, outputs)| LinearSpec::new(name, inputs, outputs));
        shape.linears.extend(maps);
        shape
            .tensors
            .push(TensorSpec::weights("score.weight", m, self.units));
        let heads = 0..self.heads;
        shape
            .tensors
            .extend(heads.flat_map(|head| (self as &dyn Kind).learned(head)));
        shape
    }

    fn arrays(&self) -> &'static [Array] {
        const { &with_own::<3, { COUNT + 3 }>([UNITS, COMBINED, READS]) }
    }

    fn head_arrays(&self, _: usize) -> [&'static [Array]; 2] {
        [&[VECTOR], &[]]
    }

    fn width(&self, place: Place, array: Array) -> usize {
        match array {
            READS => self.heads * self.source.columns(self.inputs),
            _ => source::width(self, &self.source, HAS, (place, array)),
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        match axis {
            "a" => Some(self.units),
            "d" => Some(self.hidden),
            _ => self.source.axis(axis),
        }
    }

    row_per_step!();

    fn first_step(&self) -> usize {
        self.rows
    }

    fn is_zero(&self, place: Place, array: Array, t: usize, source: usize) -> bool {
        match place {
            Place::Machine if array == COMBINED => t < source,
            Place::Machine => self.arrays().contains(&array) && t >= source,
            _ => t < source,
        }
    }

    fn mechanism(&self, _: usize) -> Mechanism {
        self.attention.of_reader(Sees::All)
    }
}

/// The weights of a machine.
#[derive(Clone, Copy)]
struct Parts<'a, R> {
    config: &'a StructuredConfig,
    params: &'a Params<R>,
    source: Weights<'a, R>,
}

/// e_i = v·u_i of a head, in step `t`.
fn score<R: Real>(trace: &mut Trace<R>, index: usize, t: usize) {
    let head = &mut trace.heads[index];
    let vector = head.of_score.at(0).row(0);
    let units = trace.own.at(AT_UNITS).rows_from(0);
    matrix::product_with_vector(units, vector, head.similarity.row_mut(t));
}

impl<R: Real> Parts<'_, R> {
    /// The rows of M(i), u_i and the weights of the heads, after the source was read.
    fn begin(self, trace: &mut Trace<R>) {
        trace.learn(&self.params.tensors[self.source.tensors.len() + 1..]);
        let rows = trace.setting.source;
        let rows: Vec<_> = (0..rows)
            .map(|t| self.config.source.row(trace, t).concat())
            .collect();
        for head in &mut trace.heads {
            let rows = rows.iter().enumerate();
            rows.for_each(|(i, row)| head.set_row(i, row));
        }
        (0..rows.len()).for_each(|t| self.project(trace, t));
        trace.memory_columns.row_mut(0).fill(R::ZERO);
    }

    /// u_t = tanh(W_1ᵀ·M(t)).
    fn project(self, trace: &mut Trace<R>, t: usize) {
        let row = self.config.source.row(trace, t).concat();
        let weight = self.params.tensors[self.source.tensors.len()].rows_from(0);
        let units = trace.own.at_mut(AT_UNITS).row_mut(t);
        units.fill(R::ZERO);
        matrix::add_vector_product(&row, weight, units);
        feedforward::forward(units);
    }

    /// A step of the answer.
    fn answer(self, trace: &mut Trace<R>, t: usize) {
        (0..trace.heads.len()).for_each(|head| score(trace, head, t));
        address(&mut trace.heads, t, trace.sampling, None);
        let columns = trace.memory_columns.row(trace.memory_row(t));
        memory::read(&mut trace.heads, t, columns);
        self.combine(trace, t);
        self.emit(trace, t);
        readout::answer(trace, t);
    }

    /// z_t = W·m_t + b.
    fn emit(self, trace: &mut Trace<R>, t: usize) {
        let output = &self.params.linears[self.source.linears.len() + 1];
        let z = trace.logit.row_mut(t);
        output.start(z);
        output.forward_from(0, [(trace.own.at(AT_COMBINED).row(t), z)]);
    }

    /// m_t = relu(W_mᵀ·[r_t of every head] + b_m).
    fn combine(self, trace: &mut Trace<R>, t: usize) {
        let linear = &self.params.linears[self.source.linears.len()];
        let Trace { heads, own, .. } = trace;
        gather(
            own.at_mut(AT_READS).row_mut(t),
            heads.iter().map(|head| head.read.row(t)),
        );
        let z = linear.sums(0, own.at(AT_READS).row(t));
        let combined = own.at_mut(AT_COMBINED).row_mut(t);
        let pairs = combined.iter_mut().zip(z);
        pairs.for_each(|(to, z)| *to = z.max(R::ZERO));
    }
}

/// The gradients of an episode.
struct Scratch<R> {
    /// w.r.t. m of every step.
    seen: readout::Seen<R>,
    /// w.r.t. the input of relu, [T, D and padding].
    combined: Series<R>,
    heads: Vec<HeadGradient<R>>,
    /// w.r.t. v of every head.
    vectors: Vec<Vec<R>>,
    /// w.r.t. u of the source steps, then w.r.t. W_1ᵀ·M(t), [S, A].
    units: [Series<R>; 2],
    /// w.r.t. the memory, column after column.
    memory: Vec<R>,
    source: SourceGradient<R>,
}

with_source!(Scratch);

impl<R: Real> Machine<R> for StructuredConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let parts = self.parts(params);
        if steps.start == 0 {
            self.source.run(parts.source, traces);
            traces.iter_mut().for_each(|trace| parts.begin(trace));
        }
        for trace in traces {
            for t in steps.start..steps.end.min(trace.steps()) {
                if trace.memory_every == 1 {
                    source::append(&self.source, trace, t);
                }
                if t < trace.setting.source {
                    trace.logit.row_mut(t).fill(R::ZERO);
                    readout::answer(trace, t);
                } else {
                    parts.answer(trace, t);
                }
            }
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(Scratch::<R> {
            seen: readout::Seen::new(self.hidden, self.outputs),
            combined: Series::new(padded(self.hidden)),
            heads: Vec::new(),
            vectors: vec![vec![R::ZERO; self.units]; self.heads],
            units: [0, 1].map(|_| Series::new(self.units)),
            memory: Vec::new(),
            source: SourceGradient::new(&self.source, self.inputs),
        })
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let parts = self.parts(params);
        let (linears, tensors) = (parts.source.linears.len(), parts.source.tensors.len());
        batch.each().for_each(|back| parts.backward(back));
        source::backward::<R, Scratch<R>>(&self.source, parts.source, batch, gradient);
        let all = batch.done::<Scratch<R>>();
        for (head, by) in all
            .clone()
            .flat_map(|(.., by)| by.vectors.iter().enumerate())
        {
            gradient.tensors[tensors + 1 + head].add_flat(by);
        }
        let combined = all.clone();
        let combined = combined.map(|(trace, _, by)| (trace.own.at(AT_READS), &by.combined));
        gradient.linears[linears].set_gradient(combined);
        let output = all.clone();
        let output = output.map(|(trace, logit, _)| {
            let source = trace.setting.source;
            let combined = trace.own.at(AT_COMBINED);
            (combined.rows_from(source), logit.rows_from(source))
        });
        gradient.linears[linears + 1].set_gradient(output);
        let rows = all.map(|(trace, _, by)| {
            let rows = memory::row_by_row(&trace.heads[0].rows, &trace.heads[0].read);
            (rows, by.units[1].rows_from(0))
        });
        set_product_of_series(rows, &mut gradient.tensors[tensors]);
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let rules = Rules::new(self, Order::ReadFirst, 0.0, conventions);
        let mut all = vec![source::appended(&self.source)];
        for index in 0..self.heads {
            let (place, score) = (Place::Head(index), move |trace: &mut Trace<R>, t: usize| {
                score(trace, index, t);
            });
            let needs = vec![(Place::Machine, UNITS), (place, VECTOR)];
            let similarity = Dependency::new(place, array::SIMILARITY, needs, Size::Terms, score);
            let head = [similarity].into_iter().chain(rules.stages(index));
            let head = head.chain([rules.read(index)]);
            all.extend(head.map(|dependency| dependency.only(|t, source| t >= source)));
        }
        all
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let parts = self.parts(params);
        let mut all = self.source.step(parts.source);
        let place = Place::Machine;
        let units = move |trace: &mut Trace<R>, t: usize| parts.project(trace, t);
        all.push(Dependency::with_weights(place, UNITS, units).only(|t, source| t < source));
        all.extend(self.dependencies(Conventions::OWN));
        let combine = move |trace: &mut Trace<R>, t: usize| parts.combine(trace, t);
        let emit = move |trace: &mut Trace<R>, t: usize| parts.emit(trace, t);
        let answer = [
            Dependency::with_weights(place, COMBINED, combine),
            Dependency::with_weights(place, array::LOGIT, emit),
        ];
        all.extend(answer.map(|dependency| dependency.only(|t, source| t >= source)));
        all.push(readout::output());
        all
    }
}

impl<R: Real> Parts<'_, R> {
    /// Backpropagates through an episode to the rows of the memory.
    fn backward(self, (trace, by, scratch, mut recorder): EpisodeBack<'_, R, Scratch<R>>) {
        let (config, source, steps) = (self.config, trace.setting.source, trace.steps());
        let (linears, tensors) = (self.source.linears.len(), self.source.tensors.len());
        self.reset(trace, scratch);
        scratch
            .seen
            .backward(&self.params.linears[linears + 1].weight, &by.logit);
        if let Some(to) = recorder.as_deref_mut() {
            // After the source they are 0.
            let zeros = vec![R::ZERO; config.units];
            to.record_array(trace, Place::Machine, UNITS, steps - 1, &zeros);
        }
        let mut d_reads = vec![R::ZERO; trace.own.at(AT_READS).width()];
        for t in (source..steps).rev() {
            let d_combined = scratch.seen.gradient.row(t);
            let (combined, dz) = (
                trace.own.at(AT_COMBINED).row(t),
                scratch.combined.row_mut(t),
            );
            for ((dz, &d), &m) in dz.iter_mut().zip(d_combined).zip(combined) {
                *dz = if m > R::ZERO { d } else { R::ZERO };
            }
            self.params.linears[linears].backward_from(0, [(&*dz, &mut d_reads[..])]);
            if let Some(to) = recorder.as_deref_mut() {
                to.record_array(trace, Place::Machine, COMBINED, t, d_combined);
                to.record_memory(trace, t + 1, &scratch.memory);
                to.record_reads(trace, t, &d_reads);
            }
            Self::heads_backward(trace, t, &d_reads, by, scratch, recorder.as_deref_mut());
        }
        let weight = self.params.tensors[tensors].rows_from(0);
        let mut d_row = vec![R::ZERO; scratch.source.rows.width()];
        for t in (0..source).rev() {
            if let Some(to) = recorder.as_deref_mut() {
                to.record_memory(trace, t + 1, &scratch.memory);
                to.record_array(trace, Place::Machine, UNITS, t, scratch.units[0].row(t));
            }
            let [d_units, dz] = &mut scratch.units;
            feedforward::backward(trace.own.at(AT_UNITS).row(t), d_units.row(t), dz.row_mut(t));
            matrix::product_with_vector(weight, dz.row(t), &mut d_row);
            let to = scratch.source.rows.row_mut(t);
            to.copy_from_slice(&d_row);
            let columns = scratch.memory.chunks_exact_mut(source);
            let columns = columns.zip(to);
            columns.for_each(|(column, to)| *to += std::mem::take(&mut column[t]));
        }
        if let Some(to) = recorder {
            to.record_logits(trace, by);
            to.record_before(trace, by);
            to.record_memory(trace, 0, &scratch.memory);
            for (index, vector) in scratch.vectors.iter().enumerate() {
                to.record_array(trace, Place::Head(index), VECTOR, 0, vector);
            }
            to.record_no_initial(trace);
        }
    }

    /// Backpropagates from the reads of step `t` to scores, units and memory.
    fn heads_backward(
        trace: &Trace<R>,
        t: usize,
        d_reads: &[R],
        by: &Upstream<R>,
        scratch: &mut Scratch<R>,
        recorder: GradientRecorder<'_, R>,
    ) {
        let (source, columns) = (trace.setting.source, scratch.source.rows.width());
        for ((head, d_read), to) in trace
            .heads
            .iter()
            .zip(d_reads.chunks(columns))
            .zip(&mut scratch.heads)
        {
            let rows = memory::row_by_row(&head.rows, &head.read);
            matrix::product_with_vector(rows, d_read, &mut to.weighting);
            let memory = scratch.memory.chunks_exact_mut(source).zip(d_read);
            for (column, &d) in memory {
                add_multiple(column, d, head.weighting.row(t));
            }
        }
        stages_backward(
            trace,
            0..trace.heads.len(),
            t,
            &mut scratch.heads,
            by,
            recorder,
        );
        let units = trace.own.at(AT_UNITS);
        let heads = trace
            .heads
            .iter()
            .zip(&scratch.heads)
            .zip(&mut scratch.vectors);
        for ((head, of), d_vector) in heads {
            let (vector, d_scores) = (head.of_score.at(0).row(0), &of.weighting[..source]);
            matrix::add_vector_product(d_scores, units.rows_from(0), d_vector);
            for (i, &d) in d_scores.iter().enumerate() {
                add_multiple(scratch.units[0].row_mut(i), d, vector);
            }
        }
    }

    /// Empties the gradients for an episode.
    fn reset(self, trace: &Trace<R>, scratch: &mut Scratch<R>) {
        let source = trace.setting.source;
        let is_of = |head: &HeadGradient<R>| head.weighting.len() == source;
        if !scratch.heads.first().is_some_and(is_of) {
            scratch.heads = HeadGradient::of_all(self.config, trace);
        }
        scratch.heads.iter_mut().for_each(HeadGradient::reset);
        scratch
            .vectors
            .iter_mut()
            .for_each(|vector| vector.fill(R::ZERO));
        scratch.combined.clear(trace.steps());
        for units in &mut scratch.units {
            units.clear(source);
        }
        scratch.source.reset(&self.config.source, trace);
        scratch.memory.clear();
        scratch
            .memory
            .resize(source * scratch.source.rows.width(), R::ZERO);
    }
}
