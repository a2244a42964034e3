//! An encoder: an LSTM or a GRU over the S source steps of an episode, in each direction or forwards only; row t of the
//! memory is its state in step t (Bahdanau 2015, appendix A.2.1):
//!
//! ```text
//! u_t = E·x_t, or x_t    h→_t = cell(u_t, h→_{t−1})    h←_t = cell(u_t, h←_{t+1})    M(t) = [h→_t; h←_t]
//! ```
//!
//! States before the first step are 0, and so is everything after the source. Row t of M is shown from step t on, though
//! h←_t depends on later inputs too.

use std::ops::Range;

use super::controller::cell::{self, Cell, CellBack, CellGradient, CellMut};
use super::controller::gru;
use super::dependency::Dependency;
use super::encoder_decoder::Gradients;
use super::machine::{record, together};
use super::shape::{LinearSpec, Shape, TensorSpec};
use super::source::{Source, SourceBack, Weights};
use super::spec::{self, Array, ArraySpec, Place};
use super::trace::Trace;
use super::{fertility, mutual};
use crate::keys::Field::{Choice, Integer};
use crate::keys::{Table, Words};
use crate::math::matrix::{self, padded};
use crate::math::vectors::{add, gather};
use crate::math::{Linear, Real, Series};

/// The size and the form of an encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct EncoderConfig {
    /// The recurrent network.
    pub cell: EncoderCell,
    /// The directions in which it reads.
    pub direction: Direction,
    /// Units of each direction.
    pub size: usize,
    /// Values of a learned embedding of the input; 0 for none.
    pub embedding: usize,
    /// Units that expect how much each row is read; 0 for none.
    pub fertility: usize,
    /// The parts that it reads, each from its own first step.
    pub(super) parts: Parts,
}

/// The parts of a source, each of which an encoder reads from a state of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// The whole source.
    One,
    /// A document and a question ([`mutual::parts`]), with the same weights.
    Alike,
    /// The same, each with weights of its own.
    Apart,
}

/// The recurrent network of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncoderCell {
    /// Long short-term memory.
    Lstm,
    /// Gated recurrent unit.
    Gru,
}

/// The directions in which an encoder reads its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Forwards and backwards, with weights of their own.
    Both,
    /// Forwards only.
    Forward,
}

impl Words for EncoderCell {
    const WORDS: &'static [(&'static str, Self)] = &[("lstm", Self::Lstm), ("gru", Self::Gru)];
}

impl Words for Direction {
    const WORDS: &'static [(&'static str, Self)] =
        &[("both", Self::Both), ("forward", Self::Forward)];
}

/// Series of a direction: those of an LSTM, as in [`Cell`], or of a GRU, whose candidate stands in place of tanh(c); and
/// the input of that candidate.
const SERIES: usize = 6;
/// u_t, [T, e].
const EMBEDDED: usize = 2 * SERIES;
/// Rows, units, mean and variance of the fertility.
const FERTILITY: usize = EMBEDDED + 1;
/// Arrays of an encoder.
pub(super) const COUNT: usize = FERTILITY + 4;

/// The arrays of an encoder.
#[rustfmt::skip] // A row for every array.
pub(super) const ARRAYS: [Array; COUNT] = [
    &ArraySpec::scratch("encoder.forward.input"),
    &ArraySpec::scratch("encoder.forward.gates"),
    &ArraySpec::new("encoder.forward.cell", &["t", "u"], "c→", spec::Range::Any, "cell of an LSTM on x_t and h→_{t−1}; 0 after the source"),
    &ArraySpec::scratch("encoder.forward.cell_tanh"),
    &ArraySpec::new("encoder.forward.hidden", &["t", "u"], "h→", spec::Range::Within(-1.0, 1.0), "state of an LSTM or a GRU on x_t and h→_{t−1}; 0 after the source (Bahdanau 2015)"),
    &ArraySpec::scratch("encoder.forward.reset"),
    &ArraySpec::scratch("encoder.backward.input"),
    &ArraySpec::scratch("encoder.backward.gates"),
    &ArraySpec::new("encoder.backward.cell", &["t", "u"], "c←", spec::Range::Any, "cell of an LSTM on x_t and h←_{t+1}; 0 after the source"),
    &ArraySpec::scratch("encoder.backward.cell_tanh"),
    &ArraySpec::new("encoder.backward.hidden", &["t", "u"], "h←", spec::Range::Within(-1.0, 1.0), "state of an LSTM or a GRU on x_t and h←_{t+1}; 0 after the source (Bahdanau 2015)"),
    &ArraySpec::scratch("encoder.backward.reset"),
    &ArraySpec::scratch("encoder.embedded"),
    fertility::ROWS,
    fertility::UNITS,
    fertility::MEAN,
    fertility::VARIANCE,
];

/// The arrays of a machine with an encoder: [`ARRAYS`], then these.
pub(super) const fn with_own<const N: usize, const ALL: usize>(own: [Array; N]) -> [Array; ALL] {
    let mut all = [ARRAYS[0]; ALL];
    let (first, rest) = all.split_at_mut(ARRAYS.len());
    first.copy_from_slice(&ARRAYS);
    rest.copy_from_slice(&own);
    all
}

impl EncoderConfig {
    /// Enters the keys of the network alone.
    #[rustfmt::skip] // A row for every key.
    pub(super) fn network_keys(&mut self, to: &mut Table<'_>) {
        to.key("cell", Choice(&mut self.cell), "recurrent network of the encoder");
        to.key("direction", Choice(&mut self.direction), "directions in which the encoder reads the source, each with weights of its own; by default `forward` in `fixed-context` and `luong`");
        self.size_keys(to);
    }

    /// Enters the keys of its sizes.
    #[rustfmt::skip] // A row for every key.
    pub(super) fn size_keys(&mut self, to: &mut Table<'_>) {
        to.key("size", Integer(&mut self.size, 1..=4096), "units of the encoder in each direction");
        to.key("embedding", Integer(&mut self.embedding, 0..=4096), "values of a learned embedding of the input, which the encoder then reads; 0 for none");
    }

    /// An LSTM with this number of units in each direction.
    pub const fn new(direction: Direction, size: usize) -> Self {
        Self {
            cell: EncoderCell::Lstm,
            direction,
            size,
            embedding: 0,
            fertility: 0,
            parts: Parts::One,
        }
    }

    /// The steps of every part.
    fn parts<R: Real>(&self, trace: &Trace<R>) -> [Range<usize>; 2] {
        match self.parts {
            Parts::One => [0..trace.setting.source, 0..0],
            Parts::Alike | Parts::Apart => mutual::parts(trace),
        }
    }

    /// The part of a step, and the steps of that part.
    fn part<R: Real>(&self, trace: &Trace<R>, t: usize) -> Option<(usize, Range<usize>)> {
        let mut parts = self.parts(trace).into_iter().enumerate();
        parts.find(|(_, steps)| steps.contains(&t))
    }

    /// Parts with weights of their own.
    fn sets(&self) -> usize {
        1 + usize::from(self.parts == Parts::Apart)
    }

    /// The linear maps of all directions of all parts.
    fn recurrent(&self) -> usize {
        self.sets() * self.directions().len() * self.maps()
    }

    /// The linear maps of a direction of a part, by their places.
    fn of_part(&self, part: usize, at: usize) -> Range<usize> {
        let set = part.min(self.sets() - 1) * self.directions().len() + at;
        set * self.maps()..(set + 1) * self.maps()
    }

    /// The directions, by their places.
    fn directions(&self) -> Range<usize> {
        0..match self.direction {
            Direction::Both => 2,
            Direction::Forward => 1,
        }
    }

    /// Values of u_t.
    fn seen(&self, inputs: usize) -> usize {
        if self.embedding > 0 {
            self.embedding
        } else {
            inputs
        }
    }

    /// Linear maps of a direction.
    fn maps(&self) -> usize {
        match self.cell {
            EncoderCell::Lstm => 1,
            EncoderCell::Gru => 2,
        }
    }

    /// Values of a row: [`Source::columns`].
    pub(super) fn state(&self) -> usize {
        self.directions().len() * self.size
    }

    /// The last states and cells that the directions reach, side by side; cells only of an LSTM.
    pub(super) fn last<R: Real>(&self, trace: &Trace<R>, state: &mut [R], which: Last) {
        for at in self.directions() {
            let [_, _, cell, _, hidden] = lstm(trace, at);
            let series = if which == Last::Hidden { hidden } else { cell };
            if series.width() > 0 {
                let last = last_step(at, trace.setting.source);
                state[at * self.size..][..self.size].copy_from_slice(series.row(last));
            }
        }
    }

    /// Starts a decoder with as many units from the last states, or from the last cells.
    pub(super) fn start<R: Real>(&self, trace: &mut Trace<R>, which: Last) {
        let (mut state, step) = (vec![R::ZERO; self.state()], trace.setting.source - 1);
        self.last(trace, &mut state, which);
        let decoder = &mut trace.layers[0];
        let series = match which {
            Last::Hidden => &mut decoder.hidden,
            Last::Cell => &mut decoder.cell,
        };
        series.row_mut(step).copy_from_slice(&state);
    }

    /// Backpropagates through [`EncoderConfig::start`] of both.
    pub(super) fn start_backward<R: Real>(&self, by: &mut Gradients<R>) {
        self.last_backward(&by.state.hidden, &mut by.source.rows);
        by.source.cell.copy_from_slice(&by.state.cell);
    }

    /// Adds the gradient w.r.t. the last states to that w.r.t. the rows, [S, M].
    pub(super) fn last_backward<R: Real>(&self, d_state: &[R], d_rows: &mut Series<R>) {
        for (at, d_state) in self.directions().zip(d_state.chunks_exact(self.size)) {
            let last = last_step(at, d_rows.steps());
            add(&mut d_rows.row_mut(last)[at * self.size..], d_state);
        }
    }
}

/// A part of the last state of an encoder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Hidden,
    Cell,
}

fn of<R: Real>(trace: &Trace<R>, at: usize) -> &[Series<R>; SERIES] {
    &trace.own.all::<EMBEDDED>().as_chunks().0[at]
}

/// The series of a direction as those of an LSTM.
fn lstm<R: Real>(trace: &Trace<R>, at: usize) -> Cell<'_, R> {
    let [input, gates, cell, tanh, hidden, _] = of(trace, at);
    [input, gates, cell, tanh, hidden]
}

fn own<R: Real>(trace: &mut Trace<R>, at: usize) -> CellMut<'_, R> {
    lstm_mut(&mut trace.own.all_mut::<EMBEDDED>().as_chunks_mut().0[at])
}

fn lstm_mut<R>(series: &mut [Series<R>; SERIES]) -> CellMut<'_, R> {
    let [input, gates, cell, tanh, hidden, _] = series;
    [input, gates, cell, tanh, hidden]
}

/// The step before step `t` in a direction, of those of a part.
pub(super) fn earlier(direction: usize, t: usize, part: &Range<usize>) -> Option<usize> {
    match direction {
        0 => (t > part.start).then(|| t - 1),
        _ => Some(t + 1).filter(|next| *next < part.end),
    }
}

/// Step `step` of a part in the order of a direction.
pub(super) fn nth(direction: usize, step: usize, part: &Range<usize>) -> usize {
    [part.start + step, part.end - 1 - step][direction]
}

/// The last step of the source in a direction.
fn last_step(direction: usize, source: usize) -> usize {
    [source.saturating_sub(1), 0][direction]
}

/// Sets state and cell of a step that belongs to no part.
pub(super) fn rest<R: Real>([_, _, cell, _, hidden]: CellMut<'_, R>, t: usize) {
    for series in [cell, hidden] {
        series.row_mut(t).fill(R::ZERO);
    }
}

/// The backward pass of a part of an episode in a direction.
struct Direct<'a, 'b, R> {
    episode: &'a mut SourceBack<'b, R>,
    /// w.r.t. the state.
    by: &'a mut CellGradient<R>,
    /// w.r.t. u_t.
    d_input: &'a mut Series<R>,
    steps: Range<usize>,
}

impl EncoderConfig {
    /// u_t = E·x_t.
    fn embed<R: Real>(&self, weights: Weights<'_, R>, trace: &mut Trace<R>, t: usize) {
        if self.embedding > 0 {
            let embedded = trace.own.at_mut(EMBEDDED);
            let embedded = embedded.row_mut(t);
            embedded.fill(R::ZERO);
            matrix::add_vector_product(
                trace.input.row(t),
                weights.tensors[0].rows_from(0),
                embedded,
            );
        }
    }

    /// b + W·u of the steps that `see` goes through, in every linear map of a direction.
    fn project<R: Real>(
        &self,
        weights: Weights<'_, R>,
        (trace, part, at): (&mut Trace<R>, usize, usize),
        see: impl Fn(&Linear<R>, &Series<R>, &mut Series<R>),
        steps: Range<usize>,
    ) {
        let (series, [embedded, ..]) = trace.own.all_mut::<COUNT>().split_at_mut(EMBEDDED) else {
            unreachable!("the embedding is the last array")
        };
        let seen = if self.embedding > 0 {
            &*embedded
        } else {
            &trace.input
        };
        let [input, gates, _, candidate, _, reset] = &mut series.as_chunks_mut().0[at];
        let linears = &weights.linears[self.of_part(part, at)];
        see(&linears[0], seen, gates);
        let is_gru = self.cell == EncoderCell::Gru;
        if is_gru {
            see(&linears[1], seen, candidate);
        }
        for t in steps {
            let u = seen.row(t);
            input.row_mut(t)[..u.len()].copy_from_slice(u);
            if is_gru {
                reset.row_mut(t)[..u.len()].copy_from_slice(u);
            }
        }
    }

    /// Mean and variance of the fertility of row `t`.
    fn expect<R: Real>(&self, weights: Weights<'_, R>, trace: &mut Trace<R>, t: usize) -> [R; 2] {
        let (series, [_, rows, units, ..]) = trace.own.all_mut::<COUNT>().split_at_mut(EMBEDDED)
        else {
            unreachable!("an encoder has all arrays")
        };
        let states = self.directions().map(|at| series[at * SERIES + 4].row(t));
        gather(rows.row_mut(t), states);
        let linears = &weights.linears[self.recurrent()..];
        fertility::forward(linears, rows.row(t), units.row_mut(t))
    }

    /// h of the step at this place in the order of a direction, from b + W·u, in a part of each episode.
    fn forward<R: Real, const B: usize>(
        &self,
        weights: Weights<'_, R>,
        (part, at): (usize, usize),
        traces: &mut [(&mut Trace<R>, Range<usize>); B],
        step: usize,
    ) {
        let linears = &weights.linears[self.of_part(part, at)];
        let episodes = traces.each_mut().map(|(trace, part)| {
            let t = nth(at, step, part);
            let series = &mut trace.own.all_mut::<EMBEDDED>().as_chunks_mut().0[at];
            (series, (t, earlier(at, t, part)))
        });
        match self.cell {
            EncoderCell::Lstm => {
                let cells = episodes.map(|(series, steps)| (lstm_mut(series), steps));
                let others = linears[0].weight.rows() - self.size;
                cell::forward(&linears[0], others, cells);
            }
            EncoderCell::Gru => {
                for (series, (t, before)) in episodes {
                    let [input, gates, _, candidate, hidden, reset] = series;
                    gru::forward(linears, [input, gates, candidate, hidden, reset], t, before);
                }
            }
        }
    }

    /// Products of the fertility and of the embedding, which follow those of the directions.
    fn others<'a, R>(
        &self,
        products: &'a mut [Series<R>],
    ) -> (&'a mut [Series<R>], &'a mut [Series<R>]) {
        let others = &mut products[self.recurrent()..];
        others.split_at_mut(if self.fertility > 0 { 2 } else { 0 })
    }

    /// Backpropagates through the expected fertility.
    fn expect_backward<R: Real>(&self, weights: Weights<'_, R>, episode: &mut SourceBack<'_, R>) {
        let SourceBack {
            trace,
            rows,
            terms,
            products,
            recorder,
            ..
        } = episode;
        if let Some(recorder) = recorder.as_deref_mut() {
            // After the source they are 0.
            let (last, zeros) = (trace.steps() - 1, vec![R::ZERO; self.size.max(1)]);
            for array in ARRAYS.iter().filter(|array| array.is_in_files()) {
                recorder.record_array(trace, Place::Machine, array, last, &zeros);
            }
        }
        if let ([dz, d_normal], _) = self.others(products) {
            let linears = &weights.linears[self.recurrent()..];
            let [units, _, v] = [1, 2, 3].map(|at| trace.own.at(FERTILITY + at));
            let by = fertility::by_expected(trace, terms.fertility);
            for (t, by) in by.into_iter().enumerate().rev() {
                let products = [dz.row_mut(t), d_normal.row_mut(t)];
                let d_row = rows.row_mut(t);
                fertility::backward(linears, (units.row(t), v[t]), by, products, d_row);
                if let Some(to) = recorder.as_deref_mut() {
                    to.record_array(trace, Place::Machine, fertility::MEAN, t, &by[..1]);
                    to.record_array(trace, Place::Machine, fertility::VARIANCE, t, &by[1..]);
                }
            }
        }
    }

    /// Backpropagates through [`EncoderConfig::forward`], with the gradients of the state.
    fn step_backward<R: Real, const B: usize>(
        &self,
        linears: &[Linear<R>],
        (part, at): (usize, usize),
        episodes: &mut [Direct<'_, '_, R>; B],
        step: usize,
    ) {
        let all = episodes.each_mut().map(
            |Direct {
                 episode, by, steps, ..
             }| {
                let SourceBack {
                    trace,
                    rows,
                    products,
                    recorder,
                    ..
                } = &mut **episode;
                let (trace, t) = (*trace, nth(at, step, steps));
                add(
                    &mut by.hidden[..],
                    &rows.row(t)[at * self.size..][..self.size],
                );
                let to = recorder.as_deref_mut();
                let to = to.map(|to| &mut to.own.all_mut::<EMBEDDED>().as_chunks_mut().0[at]);
                (
                    trace,
                    (t, earlier(at, t, steps)),
                    &mut **by,
                    &mut products[self.of_part(part, at)],
                    to,
                )
            },
        );
        match self.cell {
            EncoderCell::Lstm => {
                let all = all.map(|(trace, steps, by, products, to)| CellBack {
                    cell: lstm(trace, at),
                    steps,
                    by,
                    dz: products[0].row_mut(steps.0),
                    to: to.map(lstm_mut),
                });
                cell::backward(&linears[0], all);
            }
            EncoderCell::Gru => {
                for (trace, (t, _), by, products, to) in all {
                    let [input, gates, _, candidate, hidden, reset] = of(trace, at);
                    if let Some(to) = to {
                        record(&mut to[4], hidden, t, &by.hidden);
                    }
                    let series = [input, gates, candidate, hidden, reset];
                    gru::backward(linears, series, t, by, products);
                }
            }
        }
    }

    /// Hands the gradients w.r.t. u_t on to the product with the embedding, and records those w.r.t. x_t.
    fn input_backward<R: Real>(
        &self,
        weights: Weights<'_, R>,
        episode: &mut SourceBack<'_, R>,
        d_input: &Series<R>,
    ) {
        let trace = episode.trace;
        if let (_, [embedding]) = self.others(episode.products) {
            for t in 0..trace.setting.source {
                embedding.row_mut(t)[..d_input.width()].copy_from_slice(d_input.row(t));
            }
        }
        if let Some(recorder) = episode.recorder.as_deref_mut() {
            let mut d_x = vec![R::ZERO; trace.input.width()];
            for t in 0..trace.steps() {
                if let [embedding] = weights.tensors {
                    let rows = embedding.rows_from(0);
                    matrix::product_with_vector(rows, d_input.row(t), &mut d_x);
                } else {
                    d_x.copy_from_slice(d_input.row(t));
                }
                record(&mut recorder.input, &trace.input, t, &d_x);
            }
        }
    }
}

impl Source for EncoderConfig {
    const ARRAYS: &'static [Array] = &ARRAYS;

    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        self.network_keys(to);
        to.key("fertility", Integer(&mut self.fertility, 0..=4096), "units of a layer that expects how much weight each row is given in all, for the global fertility penalty; 0 for none (Cohn 2016)");
    }

    fn shape(&self, inputs: usize) -> Shape {
        let (seen, u) = (self.seen(inputs) + self.size, self.size);
        let sets = match self.parts {
            Parts::Apart => &["document", "question"][..],
            Parts::One | Parts::Alike => &["encoder"],
        };
        let directions = ["forward", "backward"].into_iter();
        let directions = directions.take(self.directions().len());
        let linears = sets
            .iter()
            .flat_map(|set| directions.clone().map(move |name| format!("{set}.{name}")))
            .flat_map(|name| match self.cell {
                EncoderCell::Lstm => vec![LinearSpec::new(name, seen, 4 * u)],
                EncoderCell::Gru => {
                    let map =
                        |part, outputs| LinearSpec::new(format!("{name}.{part}"), seen, outputs);
                    vec![map("gates", 2 * u), map("candidate", u)]
                }
            });
        let fertility = [
            ("fertility", self.state(), self.fertility),
            ("fertility.normal", self.fertility, 2),
        ];
        let fertility =
            fertility.map(|(name, inputs, outputs)| LinearSpec::new(name, inputs, outputs));
        let fertility = fertility.into_iter().filter(|_| self.fertility > 0);
        let embedding = TensorSpec::weights("encoder.embedding", inputs, self.embedding);
        let embedding = Some(embedding).filter(|_| self.embedding > 0);
        Shape {
            linears: linears.chain(fertility).collect(),
            tensors: embedding.into_iter().collect(),
        }
    }

    fn columns(&self, _: usize) -> usize {
        self.state()
    }

    fn width(&self, inputs: usize, array: Array) -> usize {
        let at = ARRAYS.iter().position(|own| *own == array);
        let at = at.unwrap_or(EMBEDDED);
        let (u, is_lstm) = (self.size, self.cell == EncoderCell::Lstm);
        if at >= EMBEDDED {
            let has = usize::from(self.fertility > 0);
            return [self.embedding, has * self.state(), self.fertility, has, has][at - EMBEDDED];
        }
        if !self.directions().contains(&(at / SERIES)) {
            return 0;
        }
        match (at % SERIES, is_lstm) {
            (0, _) | (5, false) => self.seen(inputs) + u,
            (1, true) => padded(4 * u),
            (1, false) => padded(2 * u),
            (3, false) => padded(u),
            (2 | 3, true) | (4, _) => u,
            _ => 0,
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        (axis == "u").then_some(self.size)
    }

    fn run<R: Real>(&self, weights: Weights<'_, R>, traces: &mut [Trace<R>]) {
        for part in 0..2 {
            let all = traces.iter_mut().map(|trace| {
                let [first, second] = self.parts(trace);
                (trace, if part == 0 { first } else { second })
            });
            let mut all: Vec<(&mut Trace<R>, Range<usize>)> = all.collect();
            for (trace, steps) in &mut all {
                steps.clone().for_each(|t| self.embed(weights, trace, t));
                let see = |linear: &Linear<R>, u: &Series<R>, z: &mut Series<R>| {
                    linear.forward_rows(u, z, steps.clone());
                };
                for at in self.directions() {
                    self.project(weights, (trace, part, at), see, steps.clone());
                }
            }
            let longest = all.iter().map(|(_, steps)| steps.len()).max();
            for step in 0..longest.unwrap_or(0) {
                all.retain(|(_, steps)| steps.len() > step);
                for at in self.directions() {
                    together!(all.len(), all, |traces| {
                        self.forward(weights, (part, at), traces, step);
                    });
                }
            }
        }
        for trace in traces.iter_mut().filter(|_| self.parts != Parts::One) {
            let parts = self.parts(trace);
            let others = 0..trace.setting.source;
            for t in others.filter(|t| !parts.iter().any(|part| part.contains(t))) {
                self.directions().for_each(|at| rest(own(trace, at), t));
            }
        }
        for trace in traces.iter_mut().filter(|_| self.fertility > 0) {
            for t in 0..trace.setting.source {
                let normal = self.expect(weights, trace, t);
                (0..2).for_each(|of| trace.own.at_mut(FERTILITY + 2 + of)[t] = normal[of]);
            }
        }
    }

    fn made_of(&self) -> &'static [Array] {
        const { &[ARRAYS[4], ARRAYS[SERIES + 4]] }
    }

    fn row<'a, R: Real>(&self, trace: &'a Trace<R>, t: usize) -> [&'a [R]; 2] {
        [0, 1].map(|at| of(trace, at)[4].row(t))
    }

    fn step<'a, R: Real>(&'a self, weights: Weights<'a, R>) -> Vec<Dependency<'a, R>> {
        let of_direction = |at: usize| {
            let state = move |trace: &mut Trace<R>, t: usize| {
                let Some((part, steps)) = self.part(trace, t) else {
                    return rest(own(trace, at), t);
                };
                self.embed(weights, trace, t);
                let see = |linear: &Linear<R>, u: &Series<R>, z: &mut Series<R>| {
                    linear.forward_row(u.row(t), z.row_mut(t), t - steps.start, steps.len());
                };
                self.project(weights, (trace, part, at), see, t..t + 1);
                let step = [t - steps.start, steps.end - 1 - t][at];
                self.forward(weights, (part, at), &mut [(trace, steps)], step);
            };
            let hidden = move |trace: &mut Trace<R>, t: usize| {
                if self.part(trace, t).is_none() {
                    return rest(own(trace, at), t);
                }
                cell::hide(own(trace, at), t);
            };
            let [cell_at, hidden_at] = [2, 4].map(|series| ARRAYS[at * SERIES + series]);
            let all = match self.cell {
                EncoderCell::Lstm => vec![
                    Dependency::with_weights(Place::Machine, cell_at, state),
                    Dependency::with_weights(Place::Machine, hidden_at, hidden),
                ],
                EncoderCell::Gru => {
                    vec![Dependency::with_weights(Place::Machine, hidden_at, state)]
                }
            };
            all.into_iter().map(move |dependency| Dependency {
                is_backwards: at == 1,
                ..dependency.only(|t, source| t < source)
            })
        };
        let expected = |(of, array): (usize, &Array)| {
            let expect = move |trace: &mut Trace<R>, t: usize| {
                let normal = self.expect(weights, trace, t);
                trace.own.at_mut(FERTILITY + 2 + of)[t] = normal[of];
            };
            Dependency::with_weights(Place::Machine, array, expect).only(|t, source| t < source)
        };
        let expected = ARRAYS[FERTILITY + 2..].iter().enumerate().map(expected);
        let expected = expected.filter(|_| self.fertility > 0);
        self.directions()
            .flat_map(of_direction)
            .chain(expected)
            .collect()
    }

    fn backward<R: Real>(&self, weights: Weights<'_, R>, episodes: &mut [SourceBack<'_, R>]) {
        let u = self.size;
        for episode in &mut *episodes {
            if self.parts != Parts::One {
                // A step is in one part, or in none.
                let products = &mut episode.products[..self.recurrent()];
                products
                    .iter_mut()
                    .for_each(|series| series.as_mut_slice().fill(R::ZERO));
            }
            self.expect_backward(weights, episode);
        }
        // The gradient w.r.t. u_t is that of the embedding, or recorded.
        let mut d_inputs: Vec<Series<R>> = episodes
            .iter()
            .map(|episode| {
                let is_wanted = self.embedding > 0 || episode.recorder.is_some();
                let width = if is_wanted {
                    self.seen(episode.trace.input.width())
                } else {
                    0
                };
                let mut d_input = Series::new(width);
                d_input.resize(episode.trace.steps());
                d_input
            })
            .collect();
        let parts = episodes.iter().map(|episode| self.parts(episode.trace));
        let parts: Vec<[Range<usize>; 2]> = parts.collect();
        for (part, at) in (0..2).flat_map(|part| self.directions().map(move |at| (part, at))) {
            let linears = &weights.linears[self.of_part(part, at)];
            let gradient_of = |(episode, d_input): (&SourceBack<'_, R>, &Series<R>)| {
                let mut gradient = CellGradient::new(u, d_input.width());
                if self.cell == EncoderCell::Lstm {
                    gradient.cell.copy_from_slice(&episode.cell[at * u..][..u]);
                }
                gradient
            };
            let gradients = episodes.iter().zip(&d_inputs).map(gradient_of);
            let mut gradients: Vec<CellGradient<R>> = gradients.collect();
            let longest = parts.iter().map(|parts| parts[part].len()).max();
            for step in (0..longest.unwrap_or(0)).rev() {
                let all = episodes.iter_mut().zip(&mut gradients);
                let all = all.zip(&mut d_inputs).zip(&parts);
                let mut running: Vec<_> = all
                    .filter(|(_, parts)| parts[part].len() > step)
                    .map(|(((episode, by), d_input), parts)| Direct {
                        episode,
                        by,
                        d_input,
                        steps: parts[part].clone(),
                    })
                    .collect();
                together!(running.len(), running, |running| {
                    self.step_backward(linears, (part, at), running, step);
                });
                for Direct {
                    by, d_input, steps, ..
                } in running
                {
                    let (width, t) = (d_input.width(), nth(at, step, &steps));
                    if width > 0 {
                        add(d_input.row_mut(t), &by.input[..width]);
                    }
                }
            }
        }
        for (episode, d_input) in episodes.iter_mut().zip(d_inputs) {
            self.input_backward(weights, episode, &d_input);
        }
    }

    fn multiplied<'a, R: Real>(&self, trace: &'a Trace<R>, weight: usize) -> &'a Series<R> {
        if let Some(other) = weight.checked_sub(self.recurrent()) {
            return match other {
                0 | 1 if self.fertility > 0 => trace.own.at(FERTILITY + other),
                _ => &trace.input,
            };
        }
        let series = of(trace, weight / self.maps() % self.directions().len());
        // The candidate of a GRU has an input of its own.
        &series[if weight % self.maps() == 1 { 5 } else { 0 }]
    }
}
