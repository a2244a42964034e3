//! Attention over attention (Cui 2016), in the order of its equations:
//!
//! ```text
//! M(t) = [h→_t; h←_t] of an encoder for the document, or of one for the question    w_t as in `mutual.rs`
//! b_t(j) = mean of w_i(j) over the steps i of the document              how much each step of the question matters
//! w_t(i) = Σ_j b_t(j)·w_j(i) over the steps j of the question           of the document, in a step of the answer
//! P(y) = Σ w_t(i) over the steps i of the document with symbol y        z_t(y) = ln P(y)
//! ```
//!
//! So the answer is a symbol of the document. That of symbols that are not in it is 10⁻³⁰.

use std::any::Any;
use std::ops::Range;

use super::array;
use super::attention::{AttentionConfig, Mechanism, Score, Sees};
use super::dependency::{Conventions, Dependency, Size};
use super::encoder::{COUNT, Direction, EncoderConfig, Parts, with_own};
use super::kind::{Kind, Sizes, row_per_step};
use super::machine::{Batch, EpisodeBack, GradientRecorder, Machine, Upstream, record};
use super::mutual::{self, MutualGradient};
use super::params::Params;
use super::shape::Shape;
use super::source::{self, Source, SourceGradient, with_source};
use super::spec::{Array, ArraySpec, Place, Range as Values};
use super::trace::Trace;
use super::{reader, readout};
use crate::keys::{Keys, Table};
use crate::math::matrix;
use crate::math::simd::PLAIN;
use crate::math::vectors::{add, add_multiple};
use crate::math::{Pack, Real, Series};

/// The size of attention over attention.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionOverAttentionConfig {
    /// Channels of the input, the symbols first.
    pub inputs: usize,
    /// Channels of the output: symbols.
    pub outputs: usize,
    /// The form of both encoders.
    pub source: EncoderConfig,
    attention: AttentionConfig,
    /// Source steps of an episode.
    rows: usize,
}

/// b_t, [T, N].
#[rustfmt::skip] // A row for every array.
const IMPORTANCE: Array = &ArraySpec::new("importance", &["t", "n"], "b", Values::Within(0.0, 1.0), "mean of w(j) over the steps of the document, of every step j of the question; 0 before the answer and for other rows (Cui 2016, equation 9)");
/// Its place.
const AT_IMPORTANCE: usize = COUNT;

/// The arrays in files beside those of the encoders.
#[rustfmt::skip]
const HAS: &[Array] = &[
    array::INPUT, array::LOGIT, array::OUTPUT, array::MEMORY, IMPORTANCE, array::INITIAL, array::SIMILARITY,
    array::CONTENT, array::WEIGHTING,
];

/// The least probability of a symbol.
const LEAST: f64 = 1e-30;

impl AttentionOverAttentionConfig {
    /// Encoders in both directions with 32 units each.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        let mut source = EncoderConfig::new(Direction::Both, 32);
        source.parts = Parts::Apart;
        Self {
            inputs,
            outputs,
            source,
            attention: reader::attention(Score::Dot, 1),
            rows: 1,
        }
    }
}

impl Keys for AttentionOverAttentionConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        self.source.network_keys(&mut to.section("encoder"));
    }
}

impl Kind for AttentionOverAttentionConfig {
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
        self.source.shape(self.inputs)
    }

    fn arrays(&self) -> &'static [Array] {
        const { &with_own::<1, { COUNT + 1 }>([IMPORTANCE]) }
    }

    fn width(&self, place: Place, array: Array) -> usize {
        source::width(self, &self.source, HAS, (place, array))
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        self.source.axis(axis)
    }

    row_per_step!();

    fn first_step(&self) -> usize {
        self.rows
    }

    fn asked_for(&self) -> Option<&'static str> {
        Some("symbol")
    }

    fn is_zero(&self, place: Place, array: Array, t: usize, source: usize) -> bool {
        match place {
            Place::Machine if array == IMPORTANCE => t < source,
            Place::Head(_) => [array::SIMILARITY, array::CONTENT].contains(&array) && t >= source,
            _ => self.arrays().contains(&array) && t >= source,
        }
    }

    fn is_passing(&self, _: Place, _: Array) -> bool {
        // Either side looks at all weights of the other one.
        false
    }

    fn mechanism(&self, _: usize) -> Mechanism {
        self.attention.of_reader(Sees::Sequence)
    }
}

/// The rows that step `t` attends to: those of the other side.
fn seen<R: Real>(trace: &Trace<R>, t: usize) -> Range<usize> {
    mutual::other(mutual::parts(trace), t)
}

/// M(t).
fn row<R: Real>(config: &AttentionOverAttentionConfig, trace: &Trace<R>, t: usize) -> Vec<R> {
    config.source.row(trace, t).concat()
}

fn rows<R: Real>(config: &AttentionOverAttentionConfig, trace: &Trace<R>) -> Vec<Vec<R>> {
    let source = 0..trace.setting.source;
    source.map(|t| row(config, trace, t)).collect()
}

/// K_t of the answer.
fn no_score<R: Real>(trace: &mut Trace<R>, t: usize) {
    trace.heads[0].similarity.row_mut(t).fill(R::ZERO);
}

/// b_t.
fn rate<R: Real>(trace: &mut Trace<R>, t: usize) {
    let [document, question] = mutual::parts(trace);
    let (weights, to) = (
        &trace.heads[0].weighting,
        trace.own.at_mut(AT_IMPORTANCE).row_mut(t),
    );
    to.fill(R::ZERO);
    let share = R::ONE / R::from_f64(document.len() as f64);
    for i in document {
        let weights = &weights.row(i)[question.clone()];
        add_multiple(&mut to[question.clone()], share, weights);
    }
}

/// w_t: what the softmax made, or in the answer Σ_j b_t(j)·w_j.
fn weigh<R: Real>(trace: &mut Trace<R>, t: usize) {
    if t < trace.setting.source {
        return mutual::copy_content(trace, t);
    }
    let [document, question] = mutual::parts(trace);
    let weights = &mut trace.heads[0].weighting;
    let mut sums = vec![R::ZERO; document.len()];
    for j in question {
        let b = trace.own.at(AT_IMPORTANCE).row(t)[j];
        add_multiple(&mut sums, b, &weights.row(j)[document.clone()]);
    }
    weights.row_mut(t).fill(R::ZERO);
    weights.row_mut(t)[document].copy_from_slice(&sums);
}

/// P of every symbol.
fn probabilities<R: Real>(trace: &Trace<R>, t: usize) -> Vec<R> {
    let [document, _] = mutual::parts(trace);
    let mut all = vec![R::ZERO; trace.logit.width()];
    for i in document {
        let weight = trace.heads[0].weighting.row(t)[i];
        add_multiple(&mut all, weight, trace.input.row(i));
    }
    all
}

/// z_t.
fn emit<R: Real>(trace: &mut Trace<R>, t: usize) {
    let is_answer = t >= trace.setting.source;
    let all = probabilities(trace, t);
    for (to, p) in trace.logit.row_mut(t).iter_mut().zip(all) {
        let p = if p > R::from_f64(LEAST) {
            p
        } else {
            R::from_f64(LEAST)
        };
        *to = if is_answer {
            Pack::splat(PLAIN, p).ln().first()
        } else {
            R::ZERO
        };
    }
}

/// The gradients of an episode.
struct Scratch<R> {
    mutual: MutualGradient<R>,
    /// w.r.t. the weights of every step of the source.
    weights: Series<R>,
    /// w.r.t. the symbols of the document.
    input: Series<R>,
    source: SourceGradient<R>,
}

with_source!(Scratch);

impl<R: Real> Machine<R> for AttentionOverAttentionConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        if steps.start == 0 {
            let weights = source::weights(&self.source, self.inputs, params);
            self.source.run(weights, traces);
            for trace in &mut *traces {
                let rows = rows(self, trace);
                mutual::remember(trace, &rows);
                for t in 0..trace.setting.source {
                    let seen = seen(trace, t);
                    mutual::attend(trace, t, seen);
                }
            }
        }
        for trace in traces {
            for t in steps.start..steps.end.min(trace.steps()) {
                if t >= trace.setting.source {
                    no_score(trace, t);
                    mutual::weigh(&mut trace.heads[0], t, 0..0);
                    rate(trace, t);
                    weigh(trace, t);
                }
                emit(trace, t);
                readout::answer(trace, t);
            }
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(Scratch::<R> {
            mutual: MutualGradient::new(self.source.columns(self.inputs)),
            weights: Series::new(0),
            input: Series::new(self.inputs),
            source: SourceGradient::new(&self.source, self.inputs),
        })
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        batch.each().for_each(|back| self.backward_through(back));
        let weights = source::weights(&self.source, self.inputs, params);
        source::backward::<R, Scratch<R>>(&self.source, weights, batch, gradient);
        for (_, _, scratch, recorder) in batch.each::<Scratch<R>>() {
            if let Some(to) = recorder {
                // The answer is made of the symbols themselves, too.
                let rows = scratch.input.as_slice();
                add(&mut to.input.as_mut_slice()[..rows.len()], rows);
            }
        }
    }

    fn dependencies<'a>(&'a self, _: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let (head, machine) = (Place::Head(0), Place::Machine);
        let remember = |trace: &mut Trace<R>, t: usize| {
            let rows = rows(self, trace);
            mutual::set_memory(trace, t + 1, &rows);
        };
        let (weighting, importance) = ((head, array::WEIGHTING), (machine, IMPORTANCE));
        let rows = source::made_of(&self.source);
        let mut all = vec![Dependency::of_memory(rows, remember)];
        all.extend(mutual::dependencies(seen::<R>, importance, no_score));
        let weighed = [(head, array::CONTENT), importance];
        let rated = Dependency::new(machine, IMPORTANCE, [weighting], Size::Terms, rate);
        let logit = [weighting, (machine, array::INPUT)];
        all.extend([
            Dependency::new(head, array::WEIGHTING, weighed, Size::Terms, weigh),
            rated.only(|t, source| t >= source),
            Dependency::new(machine, array::LOGIT, logit, Size::One, emit),
        ]);
        all
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let mut all = self
            .source
            .step(source::weights(&self.source, self.inputs, params));
        let mut attended = self.dependencies(Conventions::OWN);
        let rated = attended.split_off(4);
        all.extend(attended.into_iter().map(|one| one.in_pass(1)));
        // The weighting of the answer is made of those of all other steps.
        let weigh = Dependency::with_weights(Place::Head(0), array::WEIGHTING, weigh);
        let mut answer = rated;
        answer.insert(1, weigh);
        answer.push(readout::output());
        all.extend(answer.into_iter().map(|one| one.in_pass(2)));
        all
    }
}

impl AttentionOverAttentionConfig {
    /// Backpropagates through an episode to the rows of the encoders.
    fn backward_through<R: Real>(
        &self,
        (trace, by, scratch, mut recorder): EpisodeBack<'_, R, Scratch<R>>,
    ) {
        let (source, head) = (trace.setting.source, &trace.heads[0]);
        scratch.mutual.reset(trace);
        scratch.source.reset(&self.source, trace);
        scratch.weights = Series::new(head.weighting.width());
        for series in [&mut scratch.weights, &mut scratch.input] {
            series.clear(source);
        }
        if let Some(to) = recorder.as_deref_mut() {
            to.record_logits(trace, by);
        }
        for t in (source..trace.steps()).rev() {
            answer_backward(trace, t, by, scratch, recorder.as_deref_mut());
        }
        for t in (0..source).rev() {
            let at = (t, seen(trace, t));
            add(&mut scratch.mutual.scores, scratch.weights.row(t));
            scratch
                .mutual
                .weigh(trace, at.clone(), by, recorder.as_deref_mut());
            scratch.mutual.score(trace, at, recorder.as_deref_mut());
        }
        mutual::finish(trace, recorder);
        let rows = scratch.mutual.rows.as_slice();
        scratch.source.rows.as_mut_slice().copy_from_slice(rows);
    }
}

/// From a step of the answer to the weights of document and question.
fn answer_backward<R: Real>(
    trace: &Trace<R>,
    t: usize,
    by: &Upstream<R>,
    scratch: &mut Scratch<R>,
    mut recorder: GradientRecorder<'_, R>,
) {
    let ([document, question], head) = (mutual::parts(trace), &trace.heads[0]);
    let all = probabilities(trace, t).into_iter().zip(by.logit.row(t));
    let is_there = |p: R| p > R::from_f64(LEAST);
    let d_all = all.map(|(p, &d)| if is_there(p) { d / p } else { R::ZERO });
    let d_all: Vec<R> = d_all.collect();
    let weights = head.weighting.row(t);
    let d_weights = &mut scratch.mutual.scores;
    for i in document.clone() {
        let pairs = trace.input.row(i).iter().zip(&d_all);
        d_weights[i] = pairs.map(|(&x, &d)| x * d).sum();
        add_multiple(scratch.input.row_mut(i), weights[i], &d_all);
    }
    if by.weightings[0].width() > 0 {
        add(&mut d_weights[..], by.weightings[0].row(t));
    }
    let d_weights = std::mem::take(&mut scratch.mutual.scores);
    let (mut d_rates, rates) = (
        vec![R::ZERO; d_weights.len()],
        trace.own.at(AT_IMPORTANCE).row(t),
    );
    let rows = head.weighting.rows_from(0).part(question.clone());
    let d_answer = &mut vec![R::ZERO; d_weights.len()];
    d_answer[document.clone()].copy_from_slice(&d_weights[document.clone()]);
    matrix::product_with_vector(rows, d_answer, &mut d_rates[question.clone()]);
    for j in question.clone() {
        add_multiple(scratch.weights.row_mut(j), rates[j], &*d_answer);
    }
    let share = R::ONE / R::from_f64(document.len() as f64);
    for i in document {
        let to = &mut scratch.weights.row_mut(i)[question.clone()];
        add_multiple(to, share, &d_rates[question.clone()]);
    }
    if let Some(to) = recorder.as_deref_mut() {
        record(&mut to.heads[0].weighting, &head.weighting, t, &d_weights);
        let zeros = vec![R::ZERO; d_weights.len()];
        record(&mut to.heads[0].content, &head.content, t, &zeros);
        to.record_array(trace, Place::Machine, IMPORTANCE, t, &d_rates);
    }
    scratch.mutual.start(trace);
    scratch.mutual.end(trace, t, recorder);
}
