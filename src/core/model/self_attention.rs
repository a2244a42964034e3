//! Self-attention over the states of an encoder that has read the whole sequence (Cheng 2016, §2), in the order of its
//! equations:
//!
//! ```text
//! M(t) = [h→_t; h←_t]    k_t = M(t)    w_t = weighting of score(k_t, M)    r_t = Σ_i w_t(i)·M(i)
//! z_t = W·[M(t); r_t] + b
//! ```

use std::any::Any;
use std::ops::Range;

use super::array;
use super::attention::{AttentionConfig, Mechanism, Score, Sees, ShiftForm};
use super::dependency::{Conventions, Dependency, Size};
use super::encoder::{COUNT, Direction, EncoderConfig, with_own};
use super::kind::{Kind, Sizes, row_per_step};
use super::machine::{Batch, EpisodeBack, Machine};
use super::params::Params;
use super::reader::{self, ReaderGradient};
use super::shape::{LinearSpec, Shape};
use super::source::{self, Source, SourceGradient, with_source};
use super::spec::{Array, Place};
use super::trace::Trace;
use super::{head, memory, readout};
use crate::keys::{ConfigError, Keys, Table};
use crate::math::vectors::add;
use crate::math::{Linear, Real};

/// The size of self-attention over an encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfAttentionConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// The encoder.
    pub source: EncoderConfig,
    /// Score and weighting of the head.
    pub attention: AttentionConfig,
    /// Steps of an episode.
    rows: usize,
}

/// The arrays in files beside those of encoder and head.
const HAS: &[Array] = &[array::INPUT, array::LOGIT, array::OUTPUT, array::MEMORY];

impl SelfAttentionConfig {
    /// An encoder in both directions with 32 units each, and the additive score.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            source: EncoderConfig::new(Direction::Both, 32),
            attention: reader::attention(Score::Additive, 32),
            rows: 1,
        }
    }
}

impl Keys for SelfAttentionConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        self.source.network_keys(&mut to.section("encoder"));
        self.attention.reader_keys(&mut to.section("attention"));
    }
}

impl Kind for SelfAttentionConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            read_heads: 1,
            rows: self.rows,
            columns: self.source.columns(self.inputs),
            ..Sizes::default()
        }
    }

    fn shape(&self) -> Shape {
        let mut shape = self.source.shape(self.inputs);
        let seen = 2 * self.source.columns(self.inputs);
        shape
            .linears
            .push(LinearSpec::new("output", seen, self.outputs));
        let rows = self.attention.rows;
        let whole = Self {
            rows,
            ..self.clone()
        };
        shape.tensors.extend((&whole as &dyn Kind).learned(0));
        shape
    }

    fn arrays(&self) -> &'static [Array] {
        const { &with_own::<0, COUNT>([]) }
    }

    fn width(&self, place: Place, array: Array) -> usize {
        match (place, array) {
            (Place::Head(_), _) => head::width(self, (&self.attention, ShiftForm::None), 0, array),
            (_, array::FEATURES) => 2 * self.source.columns(self.inputs),
            _ => source::width(self, &self.source, HAS, (place, array)),
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        match axis {
            "k" => Some(self.source.columns(self.inputs)),
            _ => self.source.axis(axis).or_else(|| self.attention.axis(axis)),
        }
    }

    row_per_step!();

    fn episode_rows(&self, steps: usize, _: usize) -> usize {
        steps
    }

    fn most_rows(&self) -> (usize, &'static str) {
        (self.attention.most_rows(), "attention.rows")
    }

    fn mechanism(&self, _: usize) -> Mechanism {
        self.attention.of_reader(Sees::Sequence)
    }

    fn check_together(&self) -> Result<(), ConfigError> {
        let columns = self.source.columns(self.inputs);
        self.attention.fits_reader(columns, columns)
    }
}

/// M(t), the parts of a row.
fn row<R: Real>(config: &SelfAttentionConfig, trace: &Trace<R>, t: usize) -> Vec<R> {
    config.source.row(trace, t).concat()
}

/// k_t = M(t).
fn ask<R: Real>(config: &SelfAttentionConfig, trace: &mut Trace<R>, t: usize) {
    let row = row(config, trace, t);
    trace.heads[0].key.row_mut(t).copy_from_slice(&row);
}

/// M_{t+1}, or the only memory that is kept: all rows.
fn remember<R: Real>(config: &SelfAttentionConfig, trace: &mut Trace<R>, t: usize) {
    let (rows, at) = (trace.steps(), trace.memory_row(t + 1));
    let mut memory = std::mem::take(&mut trace.memory_columns);
    let row = |i| row(config, trace, i).into_iter();
    memory::set_rows(memory.row_mut(at), rows, rows, row);
    trace.memory_columns = memory;
}

/// [M(t); r_t].
fn seen<R: Real>(config: &SelfAttentionConfig, trace: &Trace<R>, t: usize) -> Vec<R> {
    [&row(config, trace, t)[..], trace.heads[0].read.row(t)].concat()
}

/// The gradients of an episode.
struct Scratch<R> {
    seen: readout::Seen<R>,
    reader: Option<ReaderGradient<R>>,
    source: SourceGradient<R>,
}

with_source!(Scratch);

impl<R: Real> Machine<R> for SelfAttentionConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let weights = source::weights(&self.source, self.inputs, params);
        if steps.start == 0 {
            // Every step sees all rows.
            self.source.run(weights, traces);
            for trace in &mut *traces {
                trace.learn(&params.tensors[weights.tensors.len()..]);
                for t in 0..trace.steps() {
                    let row = row(self, trace, t);
                    trace.heads[0].set_row(t, &row);
                }
                trace.memory_columns.row_mut(0).fill(R::ZERO);
            }
        }
        for trace in traces {
            for t in steps.start..steps.end.min(trace.steps()) {
                if trace.memory_every == 1 || t == 0 {
                    remember(self, trace, t);
                }
                ask(self, trace, t);
                reader::forward(trace, t);
                let seen = seen(self, trace, t);
                trace.features.row_mut(t).copy_from_slice(&seen);
            }
            if steps.end < trace.steps() {
                continue;
            }
            let (linear, all) = (&params.linears[weights.linears.len()], 0..trace.steps());
            readout::forward(linear, trace, all, |trace| &trace.features);
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(Scratch::<R> {
            seen: readout::Seen::new(2 * self.source.columns(self.inputs), self.outputs),
            reader: None,
            source: SourceGradient::new(&self.source, self.inputs),
        })
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let weights = source::weights(&self.source, self.inputs, params);
        let output = weights.linears.len();
        for back in batch.each() {
            let reader = self.attend_backward(&params.linears[output], back);
            reader.add_learned(&mut gradient.tensors[weights.tensors.len()..]);
        }
        source::backward::<R, Scratch<R>>(&self.source, weights, batch, gradient);
        let all = batch.done::<Scratch<R>>();
        let pairs = all.map(|(trace, logit, _)| (&trace.features, logit));
        gradient.linears[output].set_gradient(pairs);
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let rows: Vec<_> = source::made_of(&self.source).collect();
        let remember = |trace: &mut Trace<R>, t: usize| remember(self, trace, t);
        let ask = |trace: &mut Trace<R>, t: usize| ask(self, trace, t);
        let mut all = vec![
            Dependency::of_memory(rows.clone(), remember),
            Dependency::new(Place::Head(0), array::KEY, rows, Size::One, ask),
        ];
        all.extend(reader::dependencies(self, conventions));
        all
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let weights = source::weights(&self.source, self.inputs, params);
        let seen = |trace: &mut Trace<R>, t: usize| seen(self, trace, t);
        let answer = readout::step(&params.linears[weights.linears.len()], seen);
        let attended = self.dependencies(Conventions::OWN).into_iter();
        let mut all = self.source.step(weights);
        // Every step sees the rows of all.
        all.extend(attended.chain(answer).map(|one| one.in_pass(1)));
        all
    }
}

impl SelfAttentionConfig {
    /// Backpropagates through an episode to the rows; returns the gradients of the head.
    fn attend_backward<'a, R: Real>(
        &self,
        output: &Linear<R>,
        (trace, by, scratch, mut recorder): EpisodeBack<'a, R, Scratch<R>>,
    ) -> &'a ReaderGradient<R> {
        scratch.seen.backward(&output.weight, &by.logit);
        let columns = (self as &dyn Kind).columns();
        let mut reader = ReaderGradient::of(self, trace, by, scratch.reader.take());
        scratch.source.reset(&self.source, trace);
        let d_rows = &mut scratch.source.rows;
        for t in (0..trace.steps()).rev() {
            let (d_row, d_read) = scratch.seen.gradient.row(t).split_at(columns);
            add(d_rows.row_mut(t), d_row);
            let d_key = reader.backward(trace, t, &d_read[..columns], by, recorder.as_deref_mut());
            add(d_rows.row_mut(t), d_key);
            reader.sequence(trace, t, d_rows, recorder.as_deref_mut());
        }
        if let Some(to) = recorder.as_deref_mut() {
            to.record_logits(trace, by);
        }
        reader.finish(trace, by, d_rows, recorder.as_deref_mut());
        reader.all_rows(trace, d_rows, recorder);
        scratch.reader.insert(reader)
    }
}
