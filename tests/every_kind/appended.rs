//! A memory that is only appended to, read by the dot product: the smallest machine that is not a Turing machine, and
//! there for tests: a kind of machine is one file and one line of the registry.
//!
//! In step t: w_i = q_t·M(i) + u_i with u drawn, r_t = Σ w_i·M(i), which the output sees; then row t is a_t. q and a are linear in x.

use std::any::Any;
use std::ops;

use crate::keys::{Field::Integer, Keys, Table};
use crate::math::vectors::add;
use crate::math::{Real, Series};
use crate::model::attention::{Mechanism, Score};
use crate::model::axis::Sizes;
use crate::model::dependency::{Conventions, Dependency, Size};
use crate::model::kind::Kind;
use crate::model::machine::{Batch, Machine, longest, record};
use crate::model::params::Params;
use crate::model::shape::{LinearSpec, Shape};
use crate::model::spec::{Array, ArraySpec, Place, Range};
use crate::model::trace::{HeadTrace, Trace};
use crate::model::{array, memory, readout};

/// Numbers in a row.
const M: usize = 8;

/// u, [T, N].
const NOISE: Array = &ArraySpec::new("noise", &["t", "n"], "u", Range::Uniform, "sampled");

/// Inputs, outputs, and the largest number of rows: later ones are not appended.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendedConfig([usize; 3]);

#[rustfmt::skip] // A line for every size.
impl AppendedConfig {
    /// Creates a configuration with 32 rows.
    pub const fn new(inputs: usize, outputs: usize) -> Self { Self([inputs, outputs, 32]) }
}

#[rustfmt::skip] // A line for every key.
impl Keys for AppendedConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("memory.rows", Integer(&mut self.0[2], 1..=4096), "the most rows");
    }
}

#[rustfmt::skip] // A line for every size.
impl Kind for AppendedConfig {
    fn sizes(&self) -> Sizes {
        let [inputs, outputs, rows] = self.0;
        Sizes { inputs, outputs, read_heads: 1, write_heads: 1, rows, columns: M, ..Sizes::default() }
    }
    fn set_channels(&mut self, inputs: usize, outputs: usize) { self.0[..2].copy_from_slice(&[inputs, outputs]); }
    fn mechanism(&self, _: usize) -> Mechanism { Mechanism { score: Score::Dot, ..Mechanism::default() } }

    fn shape(&self) -> Shape {
        let maps = [("read0", self.0[0], M), ("write0", self.0[0], M), ("output", M, self.0[1])];
        let maps = maps.map(|(name, inputs, outputs)| LinearSpec::new(name, inputs, outputs));
        Shape { linears: maps.into(), ..Shape::default() }
    }

    fn arrays(&self) -> &'static [Array] { &[NOISE] }

    fn width(&self, place: Place, array: Array) -> usize {
        match (place, array) {
            (_, array::INPUT) => self.0[0],
            (_, array::LOGIT | array::OUTPUT) => self.0[1],
            (_, array::MEMORY) => self.0[2] * M,
            (_, array::NORMS | NOISE) | (Place::Head(0), array::WEIGHTING) => self.0[2],
            (Place::Head(0), array::KEY | array::READ) | (Place::Head(1), array::ADD) => M,
            _ => 0,
        }
    }
}

/// The gradients w.r.t. the read, w.r.t. q and w.r.t. a.
type Scratch<R> = (readout::FeaturesGradient<R>, [Series<R>; 2]);

impl<R: Real> Machine<R> for AppendedConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: ops::Range<usize>) {
        let is_last = steps.end == longest(traces);
        for trace in traces {
            if steps.start == 0 {
                params.linears[0].forward_series(&trace.input, &mut trace.heads[0].key);
                params.linears[1].forward_series(&trace.input, &mut trace.heads[1].add);
                trace.memory_columns.row_mut(0).fill(R::ZERO);
            }
            for t in steps.start..steps.end.min(trace.steps()) {
                let (now, next) = (trace.memory_row(t), trace.memory_row(t + 1));
                let (before, after) = trace.memory_columns.two_rows(now, next);
                score(&mut trace.heads[0], trace.kind_arrays.all(), t, before);
                memory::read(&mut trace.heads[..1], t, before);
                append(trace.heads[1].add.row(t), t, before, after);
            }
            if is_last {
                let all = 0..trace.steps();
                readout::forward(&params.linears[2], trace, all, |trace| &trace.heads[0].read);
            }
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        let features = readout::FeaturesGradient::<R>::new(M, self.0[1]);
        Box::new((features, [Series::<R>::new(M), Series::new(M)]))
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        for (trace, upstream, (d_read, [d_key, d_add]), recorder) in batch.each::<Scratch<R>>() {
            d_read.backward(&params.linears[2].weight, &upstream.logit);
            for series in [&mut *d_key, d_add] {
                series.resize(trace.steps());
                series.as_mut_slice().fill(R::ZERO);
            }
            let (reader, rows) = (&trace.heads[0], &trace.heads[1].add);
            let before = |t: usize| (0..t.min(self.0[2])).map(move |i| (t, i));
            for (t, i) in (0..trace.steps()).flat_map(before) {
                let (row, d_read) = (rows.row(i), d_read.gradient.row(t));
                let d_w: R = row.iter().zip(d_read).map(|(&m, &d)| m * d).sum();
                let penalty = upstream.weightings[0].row(t).get(i);
                let d_w = penalty.map_or(d_w, |&d| d_w + d);
                let (w, key) = (reader.weighting.row(t)[i], reader.key.row(t));
                for m in 0..M {
                    d_key.row_mut(t)[m] += d_w * row[m];
                    d_add.row_mut(i)[m] += w * d_read[m] + d_w * key[m];
                }
            }
            if let Some(recorder) = recorder {
                recorder.record_logits(trace, upstream);
                let gradients = [&d_read.gradient, d_key, d_add];
                (0..trace.steps()).for_each(|t| record_step(params, trace, gradients, t, recorder));
            }
        }
        let all = batch.done::<Scratch<R>>();
        let [keys, rows, output] = [0, 1, 2].map(|_| all.clone());
        gradient.linears[0].set_gradient(keys.map(|(trace, _, (_, d))| (&trace.input, &d[0])));
        gradient.linears[1].set_gradient(rows.map(|(trace, _, (_, d))| (&trace.input, &d[1])));
        let output = output.map(|(trace, logit, _)| (&trace.heads[0].read, logit));
        gradient.linears[2].set_gradient(output);
    }

    fn dependencies<'a>(&'a self, _: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let (reads, writes, all) = (Place::Head(0), Place::Head(1), Place::Machine);
        let of_weighting = vec![(reads, array::KEY), (all, NOISE), (all, array::MEMORY)];
        let of_read = vec![(reads, array::WEIGHTING), (all, array::MEMORY)];
        let of_memory = vec![(writes, array::ADD), (all, array::INITIAL_MEMORY)];
        let of = |(place, array), needs, work: fn(&mut Trace<R>, usize)| {
            Dependency::new(place, array, needs, Size::Terms, work)
        };
        vec![
            of((reads, array::WEIGHTING), of_weighting, |trace, t| {
                score(
                    &mut trace.heads[0],
                    trace.kind_arrays.all(),
                    t,
                    trace.memory_columns.row(t),
                );
            }),
            of((reads, array::READ), of_read, |trace, t| {
                memory::read(&mut trace.heads[..1], t, trace.memory_columns.row(t));
            }),
            of((all, array::MEMORY), of_memory, |trace, t| {
                let (before, after) = trace.memory_columns.previous_and_row_mut(t + 1);
                append(trace.heads[1].add.row(t), t, before, after);
            }),
        ]
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let map = |head: usize, array, of: fn(&mut HeadTrace<R>) -> &mut Series<R>| {
            let work = move |trace: &mut Trace<R>, t: usize| {
                let (steps, to) = (trace.steps(), of(&mut trace.heads[head]).row_mut(t));
                params.linears[head].forward_row(trace.input.row(t), to, t, steps);
            };
            Dependency::with_weights(Place::Head(head), array, work)
        };
        let emitted = [
            map(0, array::KEY, |head| &mut head.key),
            map(1, array::ADD, |head| &mut head.add),
        ];
        let answer = readout::step(&params.linears[2], |trace, t| {
            trace.heads[0].read.row(t).to_vec()
        });
        let others = self.dependencies(Conventions::OWN);
        emitted.into_iter().chain(others).chain(answer).collect()
    }
}

/// Records the gradients w.r.t. the read, the key, the added row and the input of one step.
fn record_step<R: Real>(
    params: &Params<R>,
    trace: &Trace<R>,
    back: [&Series<R>; 3],
    t: usize,
    to: &mut Trace<R>,
) {
    let [d_read, d_key, d_add] = back.map(|series| series.row(t));
    record(&mut to.heads[0].read, &trace.heads[0].read, t, d_read);
    record(&mut to.heads[0].key, &trace.heads[0].key, t, d_key);
    record(&mut to.heads[1].add, &trace.heads[1].add, t, d_add);
    let mut by = [0, 1].map(|_| vec![R::ZERO; trace.input.width()]);
    for ((linear, from), to) in params.linears.iter().zip([d_key, d_add]).zip(&mut by) {
        linear.backward_from(0, [(from, &mut to[..])]);
    }
    let [mut sum, other] = by;
    add(&mut sum, &other);
    record(&mut to.input, &trace.input, t, &sum);
}

/// w_i = q·M(i) + u_i.
fn score<R: Real>(head: &mut HeadTrace<R>, [noise]: &[Series<R>; 1], t: usize, columns: &[R]) {
    let w = head.weighting.row_mut(t);
    w.copy_from_slice(noise.row(t));
    for (column, &q) in columns.chunks_exact(w.len()).zip(head.key.row(t)) {
        w.iter_mut().zip(column).for_each(|(w, &m)| *w += q * m);
    }
}

/// Row t is a_t, while there are rows.
fn append<R: Real>(add: &[R], t: usize, before: &[R], after: &mut [R]) {
    after.copy_from_slice(before);
    let columns = after.chunks_exact_mut(before.len() / M).zip(add);
    columns.for_each(|(column, &a)| column.iter_mut().skip(t).take(1).for_each(|to| *to = a));
}
