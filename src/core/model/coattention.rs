//! Dynamic coattention with a pointing decoder (Xiong 2016), in the order of its equations:
//!
//! ```text
//! M(t) = h_t of the document, the sentinel d, tanh(W_qᵀ·h_t + b_q) of the question, the same of the sentinel q
//! w_t, r_t as in `mutual.rs`       c_t = Σ_j w_t(j)·r_j                                        of the document
//! h→_t, h←_t = LSTM([M(t); r_t; c_t])    U_t = [h→_t; h←_t]                                    of the document
//! h = LSTM([U_s; U_e])                                                                         once a round
//! v = tanh(W_vᵀ·[h; U_s; U_e])    m_1 = maxout(W_1ᵀ·[U_i; v] + b_1)    m_2 = maxout(W_2ᵀ·m_1 + b_2)
//! K_t(i) = maxout(W_3ᵀ·[m_1; m_2] + b_3)    w_t = softmax_i(K_t)    z_t(i) = K_t(i)            of the answer
//! ```
//!
//! Two steps of the answer are a round: one for the start, one for the end, each with weights of its own. A round begins
//! with the most likely start s and end e of the round before, the first one with both ends of the document. Once a round
//! has changed neither, those after it repeat it.

use std::any::Any;
use std::ops::Range;

use super::array;
use super::attention::{AttentionConfig, Mechanism, Score, Sees, Switch};
use super::controller::cell::{self, Cell, CellBack, CellGradient, CellMut, one_lstm};
use super::controller::feedforward;
use super::dependency::{Conventions, Dependency, Size};
use super::encoder::{self, COUNT, Direction, EncoderConfig, Parts as EncoderParts, with_own};
use super::kind::{Kind, Sizes, row_per_step};
use super::machine::{Batch, EpisodeBack, GradientRecorder, Machine, Upstream, record};
use super::maxout::{self, MAPS, Pointer, PointerGradient};
use super::mutual::{self, MutualGradient};
use super::params::Params;
use super::shape::{LinearSpec, Shape, TensorSpec};
use super::source::{self, Source, SourceGradient, Weights, with_source};
use super::spec::{Array, ArraySpec, Place, Range as Values};
use super::trace::Trace;
use super::{memory, reader, readout};
use crate::keys::Field::{Choice, Integer};
use crate::keys::{Keys, Table};
use crate::math::matrix::{self, padded, set_product_of_series};
use crate::math::vectors::{add, add_multiple, gather};
use crate::math::{Real, Series};

/// The size of coattention.
#[derive(Clone, Debug, PartialEq)]
pub struct CoattentionConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output: steps of the longest document.
    pub outputs: usize,
    /// The encoder of document and question.
    pub source: EncoderConfig,
    /// Units of the LSTM over the document, in each direction.
    pub fusion: usize,
    /// Units of the LSTM of the decoder.
    pub size: usize,
    /// Units of a maxout layer.
    pub hidden: usize,
    /// Values of which a maxout unit is the largest.
    pub pool: usize,
    /// Whether a round that changes nothing is the last one.
    pub stop: Switch,
    attention: AttentionConfig,
    /// Source steps of an episode.
    rows: usize,
}

/// The arrays beside those of the encoder: two LSTMs over the document, c_t [T, M], and K_t of the answer [T, N].
#[rustfmt::skip] // A row for every array.
const OWN: [Array; 12] = [
    &ArraySpec::scratch("fusion.forward.input"),
    &ArraySpec::scratch("fusion.forward.gates"),
    &ArraySpec::new("fusion.forward.cell", &["t", "o"], "c→", Values::Any, "cell of an LSTM on [M(t); r_t; c_t], forwards; 0 where there is no document"),
    &ArraySpec::scratch("fusion.forward.cell_tanh"),
    &ArraySpec::new("fusion.forward.hidden", &["t", "o"], "u→", Values::Within(-1.0, 1.0), "state of that LSTM, the first half of U_t (Xiong 2016, equation 4)"),
    &ArraySpec::scratch("fusion.backward.input"),
    &ArraySpec::scratch("fusion.backward.gates"),
    &ArraySpec::new("fusion.backward.cell", &["t", "o"], "c←", Values::Any, "cell of an LSTM on [M(t); r_t; c_t], backwards; 0 where there is no document"),
    &ArraySpec::scratch("fusion.backward.cell_tanh"),
    &ArraySpec::new("fusion.backward.hidden", &["t", "o"], "u←", Values::Within(-1.0, 1.0), "state of that LSTM, the second half of U_t (Xiong 2016, equation 4)"),
    &ArraySpec::new("attended_context", &["t", "m"], "c", Values::Any, "Σ_j w(j)·r_j over the steps of the question, in the steps of the document; 0 in others (Xiong 2016, equation 2)"),
    &ArraySpec::new("pointing", &["t", "n"], "α", Values::Any, "score of every step of the document, the similarity and the logits of the answer; 0 before the answer and for other rows (Xiong 2016, equation 8)"),
];
const CONTEXT: Array = OWN[10];
const POINTING: Array = OWN[11];

/// Places of these arrays.
const AT_FUSION: usize = COUNT;
const AT_CONTEXT: usize = COUNT + 10;
const AT_POINTING: usize = COUNT + 11;
/// All arrays of the machine.
const ALL: usize = COUNT + 12;

/// Arrays in files beside those of encoder and decoder.
#[rustfmt::skip]
const HAS: &[Array] = &[
    array::INPUT, array::LOGIT, array::OUTPUT, array::MEMORY, CONTEXT, POINTING, array::INITIAL, array::SIMILARITY, array::CONTENT,
    array::WEIGHTING, array::READ,
];

/// The logit of a position beyond the document.
const BEYOND: f64 = -100.0;

impl CoattentionConfig {
    /// 32 units everywhere.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        let mut source = EncoderConfig::new(Direction::Forward, 32);
        source.parts = EncoderParts::Alike;
        Self {
            inputs,
            outputs,
            source,
            fusion: 32,
            size: 32,
            hidden: 32,
            pool: 4,
            stop: Switch::On,
            attention: reader::attention(Score::Dot, 1),
            rows: 1,
        }
    }

    /// M_{t+1}: no row changes. The encoder makes the rows of the document; the others, which the weights make, are those
    /// of another step without an intervention.
    fn keep_rows<R: Real>(&self, conventions: &Conventions, trace: &mut Trace<R>, t: usize) {
        let (n, steps) = (trace.setting.source, (0..trace.steps()).rev());
        let mut others = steps.filter(|&other| other != t);
        let of_memory = (Place::Machine, array::MEMORY);
        let other = others
            .clone()
            .find(|&other| !conventions.changes(of_memory, other));
        if let Some(other) = other.or_else(|| others.next()) {
            let rows = trace.memory_columns.row(other + 1).to_vec();
            trace.memory_columns.row_mut(t + 1).copy_from_slice(&rows);
        }
        let [document, _] = mutual::parts(trace);
        for i in document {
            let row = self.source.row(trace, i)[0].to_vec();
            let memory = trace.memory_columns.row_mut(t + 1).iter_mut();
            let own = memory.skip(i).step_by(n);
            own.zip(row).for_each(|(to, from)| *to = from);
        }
    }

    fn parts<'a, R>(&'a self, params: &'a Params<R>) -> Parts<'a, R> {
        let source = source::weights(&self.source, self.inputs, params);
        let (_, linears) = params.linears.split_at(source.linears.len());
        let (_, tensors) = params.tensors.split_at(source.tensors.len());
        Parts {
            config: self,
            source,
            own: Weights { linears, tensors },
        }
    }
}

#[rustfmt::skip] // A row for every key.
impl Keys for CoattentionConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        let encoder = &mut to.section("encoder");
        self.source.size_keys(encoder);
        to.key("fusion.size", Integer(&mut self.fusion, 1..=4096), "units of the LSTM over the document that knows the question, in each direction");
        to.key("decoder.size", Integer(&mut self.size, 1..=4096), "units of the LSTM of the pointing decoder");
        to.key("decoder.maxout", Integer(&mut self.hidden, 1..=1024), "units of its maxout layers");
        to.key("decoder.pool", Integer(&mut self.pool, 1..=64), "values of which a maxout unit takes the largest");
        to.key("decoder.stop", Choice(&mut self.stop), "whether the rounds after one that changes nothing repeat it");
    }
}

impl Kind for CoattentionConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: 1,
            units: self.size,
            read_heads: 1,
            write_heads: 0,
            rows: self.rows,
            columns: self.source.size,
        }
    }

    fn shape(&self) -> Shape {
        let mut shape = self.source.shape(self.inputs);
        let (l, f, c) = (self.source.size, self.fusion, self.size);
        let mut map = |name: &str, inputs, outputs| {
            let map = LinearSpec::new(name, inputs, outputs);
            shape.linears.push(map);
        };
        map("question", l, l);
        map("fusion.forward", 3 * l + f, 4 * f);
        map("fusion.backward", 3 * l + f, 4 * f);
        map("decoder", 4 * f + c, 4 * c);
        for side in SIDES {
            for (name, inputs, outputs) in maxout::maps(2 * f, self.hidden, self.pool) {
                map(&format!("{side}.{name}"), inputs, outputs);
            }
        }
        let sentinels = ["sentinel.document", "sentinel.question"];
        let sentinels = sentinels.map(|name| TensorSpec::state(name, 1, l));
        let seen = ["start.seen", "end.seen"];
        let seen = seen.map(|name| TensorSpec::weights(name, c + 4 * f, self.hidden));
        shape.tensors.extend(sentinels.into_iter().chain(seen));
        shape
    }

    fn arrays(&self) -> &'static [Array] {
        const { &with_own::<12, ALL>(OWN) }
    }

    fn width(&self, place: Place, array: Array) -> usize {
        let in_fusion = OWN[..10].iter().position(|of| *of == array);
        match (place, in_fusion) {
            (Place::Layer(_), _) => one_lstm(self.size).width(0, array, 4 * self.fusion),
            (_, Some(at)) => match at % 5 {
                0 => 3 * self.source.size + self.fusion,
                1 => padded(4 * self.fusion),
                _ => self.fusion,
            },
            _ => source::width(self, &self.source, HAS, (place, array)),
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        match axis {
            "c" => Some(self.size),
            "o" => Some(self.fusion),
            _ => self.source.axis(axis),
        }
    }

    row_per_step!();

    fn first_step(&self) -> usize {
        self.rows
    }

    fn asked_for(&self) -> Option<&'static str> {
        Some("ends")
    }

    fn is_zero(&self, place: Place, array: Array, t: usize, source: usize) -> bool {
        match place {
            Place::Machine if array == POINTING => t < source,
            Place::Machine => self.arrays().contains(&array) && t >= source,
            Place::Layer(_) => t < source,
            Place::Head(_) => array == array::READ && t >= source,
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

/// What the two steps of a round point at.
const SIDES: [&str; 2] = ["start", "end"];
/// Places of the linear maps and of the tensors, after those of the encoder.
const QUESTION: usize = 0;
const FUSE: usize = 1;
const DECODER: usize = 3;
const POINTERS: usize = 4;
const SEEN: usize = 2;

/// The rows that step `t` attends to: those of the other side; in the answer those of the document.
fn seen<R: Real>(trace: &Trace<R>, t: usize) -> Range<usize> {
    if t < trace.setting.source {
        mutual::other(mutual::with_ends(trace), t)
    } else {
        document(trace)
    }
}

fn document<R: Real>(trace: &Trace<R>) -> Range<usize> {
    let [document, _] = mutual::parts(trace);
    document
}

/// K_t of the answer is what points.
fn copy_pointing<R: Real>(trace: &mut Trace<R>, t: usize) {
    let (from, to) = (trace.own.at(AT_POINTING), &mut trace.heads[0].similarity);
    to.row_mut(t).copy_from_slice(from.row(t));
}

/// r_t; 0 in the answer.
fn read<R: Real>(trace: &mut Trace<R>, t: usize) {
    let (row, source) = (trace.memory_row(t + 1), trace.setting.source);
    if t < source {
        memory::read(&mut trace.heads, t, trace.memory_columns.row(row));
    } else {
        trace.heads[0].read.row_mut(t).fill(R::ZERO);
    }
}

/// The same, from the memory of the step.
fn read_again<R: Real>(trace: &mut Trace<R>, t: usize) {
    let row = trace.memory_row(t + 1);
    trace.heads[0].set_rows(trace.memory_columns.row(row));
    read(trace, t);
}

/// c_t = Σ_j w_t(j)·r_j.
fn combine<R: Real>(trace: &mut Trace<R>, t: usize) {
    let is_in = document(trace).contains(&t);
    let (seen, head) = (seen(trace, t), &trace.heads[0]);
    let context = trace.own.at_mut(AT_CONTEXT).row_mut(t);
    context.fill(R::ZERO);
    if is_in {
        let weights = &head.weighting.row(t)[seen.clone()];
        matrix::add_vector_product(weights, head.read.rows_from(seen.start), context);
    }
}

/// The series of a direction of the LSTM over the document.
fn fusion<R: Real>(trace: &Trace<R>, at: usize) -> Cell<'_, R> {
    std::array::from_fn(|series| trace.own.at(AT_FUSION + 5 * at + series))
}

fn fusion_mut<R: Real>(trace: &mut Trace<R>, at: usize) -> CellMut<'_, R> {
    let all = &mut trace.own.all_mut::<ALL>()[AT_FUSION..];
    all.as_chunks_mut().0[at].each_mut()
}

/// What follows from the memory.
fn attended<'a, R: Real>() -> Vec<Dependency<'a, R>> {
    let (head, machine) = (Place::Head(0), Place::Machine);
    let (weighting, pointing) = ((head, array::WEIGHTING), (machine, POINTING));
    let [content, similarity] = [array::CONTENT, array::SIMILARITY].map(|array| [(head, array)]);
    let read = [weighting, (machine, array::MEMORY)];
    let (combined, size) = ([weighting, (head, array::READ)], Size::Terms);
    let mut all = mutual::dependencies(seen::<R>, pointing, copy_pointing);
    all.extend([
        Dependency::new(head, array::WEIGHTING, content, size, mutual::copy_content),
        Dependency::new(head, array::READ, read, size, read_again),
        Dependency::new(machine, CONTEXT, combined, size, combine),
        Dependency::new(machine, array::LOGIT, similarity, size, emit),
    ]);
    all
}

/// z_t.
fn emit<R: Real>(trace: &mut Trace<R>, t: usize) {
    let (document, is_answer) = (document(trace), t >= trace.setting.source);
    let logits = trace.logit.row_mut(t);
    logits.fill(if is_answer {
        R::from_f64(BEYOND)
    } else {
        R::ZERO
    });
    let scores = &trace.heads[0].similarity.row(t)[document];
    let pairs = logits.iter_mut().zip(scores).filter(|_| is_answer);
    pairs.for_each(|(to, &from)| *to = from);
}

/// The round of a step of the answer, and what it points at: 0 for the start, 1 for the end.
fn turn<R: Real>(trace: &Trace<R>, t: usize) -> [usize; 2] {
    let k = t - trace.setting.source;
    [k / 2, k % 2]
}

/// The most likely start and end before a round.
fn pair<R: Real>(trace: &Trace<R>, round: usize) -> [usize; 2] {
    let (document, source) = (document(trace), trace.setting.source);
    let Some(before) = round.checked_sub(1) else {
        return [0, document.end - 1];
    };
    [0, 1].map(|side| {
        let scores = &trace.heads[0].similarity.row(source + 2 * before + side)[document.clone()];
        let best = |best: usize, i: usize| if scores[i] > scores[best] { i } else { best };
        (0..scores.len()).fold(0, best)
    })
}

/// Weights of a machine.
#[derive(Clone, Copy)]
struct Parts<'a, R> {
    config: &'a CoattentionConfig,
    source: Weights<'a, R>,
    own: Weights<'a, R>,
}

impl<'a, R: Real> Parts<'a, R> {
    /// What row `t` is made of, and whether that goes through the layer of the question.
    fn made_of(self, trace: &'a Trace<R>, t: usize) -> (&'a [R], bool) {
        let [document, question] = mutual::with_ends(trace);
        let sentinel = |at: usize| self.own.tensors[at].row(0);
        let state = self.config.source.row(trace, t)[0];
        match t {
            _ if t + 1 == document.end && t > 0 => (sentinel(0), false),
            _ if document.contains(&t) => (state, false),
            _ if t + 1 == question.end => (sentinel(1), true),
            _ => (state, true),
        }
    }

    /// M(t).
    fn row(self, trace: &Trace<R>, t: usize) -> Vec<R> {
        let (from, is_question) = self.made_of(trace, t);
        if !is_question {
            return from.to_vec();
        }
        let mut z = self.own.linears[QUESTION].sums(0, from);
        feedforward::forward(&mut z[..from.len()]);
        z.truncate(from.len());
        z
    }

    /// All rows.
    fn rows(self, trace: &Trace<R>) -> Vec<Vec<R>> {
        let source = trace.setting.source;
        (0..source).map(|i| self.row(trace, i)).collect()
    }

    /// The source, up to U.
    fn read_source(self, trace: &mut Trace<R>) {
        let source = trace.setting.source;
        mutual::remember(trace, &self.rows(trace));
        for t in 0..source {
            let seen = seen(trace, t);
            mutual::attend(trace, t, seen);
            read(trace, t);
        }
        (0..source).for_each(|t| combine(trace, t));
        for t in 0..source {
            self.fuse(trace, 0, t);
            self.fuse(trace, 1, source - 1 - t);
        }
    }

    /// A step of the answer.
    fn answer(self, trace: &mut Trace<R>, t: usize) {
        self.decode(trace, t);
        self.point(trace, t);
        copy_pointing(trace, t);
        let seen = seen(trace, t);
        mutual::weigh(&mut trace.heads[0], t, seen);
        mutual::copy_content(trace, t);
        read(trace, t);
    }

    /// State of the LSTM over the document.
    fn fuse(self, trace: &mut Trace<R>, at: usize, t: usize) {
        let document = document(trace);
        if !document.contains(&t) {
            return encoder::rest(fusion_mut(trace, at), t);
        }
        let memory = trace.memory_columns.row(trace.memory_row(t + 1)).iter();
        let row: Vec<R> = memory
            .skip(t)
            .step_by(trace.setting.source)
            .copied()
            .collect();
        let (read, context) = (
            trace.heads[0].read.row(t).to_vec(),
            trace.own.at(AT_CONTEXT).row(t).to_vec(),
        );
        let linear = &self.own.linears[FUSE + at];
        let series = fusion_mut(trace, at);
        gather(series[0].row_mut(t), [&row[..], &read, &context]);
        linear.start(series[1].row_mut(t));
        let steps = (t, encoder::earlier(at, t, &document));
        cell::forward(linear, 0, [(series, steps)]);
    }

    /// True for a step whose state is that of the step before: the second one of a round, and those after the last round.
    fn is_repeated(self, trace: &Trace<R>, t: usize) -> bool {
        let [round, side] = turn(trace, t);
        side == 1 || self.is_over(trace, round)
    }

    /// True for a round after one that changed nothing.
    fn is_over(self, trace: &Trace<R>, round: usize) -> bool {
        let is_same = || pair(trace, round) == pair(trace, round - 1);
        self.config.stop == Switch::On && round > 0 && is_same()
    }

    /// U_i of the whole document, side by side.
    fn document(self, trace: &Trace<R>) -> Series<R> {
        let mut all = Series::new(2 * self.config.fusion);
        let document = document(trace);
        all.resize(document.len());
        for i in document {
            let halves = [0, 1].map(|at| fusion(trace, at)[4].row(i));
            gather(all.row_mut(i), halves);
        }
        all
    }

    /// The state of the decoder.
    fn decode(self, trace: &mut Trace<R>, t: usize) {
        if self.is_repeated(trace, t) {
            let [_, _, cell, _, hidden] = trace.layers[0].cell_mut();
            for series in [cell, hidden] {
                let (before, now) = series.previous_and_row_mut(t);
                now.copy_from_slice(before);
            }
            return;
        }
        let [round, _] = turn(trace, t);
        let (all, pair) = (self.document(trace), pair(trace, round));
        let linear = &self.own.linears[DECODER];
        let series = trace.layers[0].cell_mut();
        gather(series[0].row_mut(t), pair.map(|i| all.row(i)));
        linear.start(series[1].row_mut(t));
        let before = (round > 0).then(|| t - 1);
        cell::forward(linear, 0, [(series, (t, before))]);
    }

    /// h of the decoder.
    fn hide(self, trace: &mut Trace<R>, t: usize) {
        let is_repeated = self.is_repeated(trace, t);
        let layer = &mut trace.layers[0];
        if is_repeated {
            let (before, now) = layer.hidden.previous_and_row_mut(t);
            now.copy_from_slice(before);
        } else {
            cell::hide(layer.cell_mut(), t);
        }
    }

    /// The weights that point at the start or at the end.
    fn pointer(self, side: usize) -> Pointer<'a, R> {
        Pointer {
            linears: &self.own.linears[POINTERS + MAPS * side..][..MAPS],
            seen: &self.own.tensors[SEEN + side],
            hidden: self.config.hidden,
        }
    }

    /// [h; U_s; U_e].
    fn seen(trace: &Trace<R>, all: &Series<R>, t: usize) -> Vec<R> {
        let [s, e] = pair(trace, turn(trace, t)[0]);
        [trace.layers[0].hidden.row(t), all.row(s), all.row(e)].concat()
    }

    /// The scores of a step of the answer.
    fn point(self, trace: &mut Trace<R>, t: usize) {
        let [round, side] = turn(trace, t);
        let scores = if self.is_over(trace, round) {
            trace.heads[0].similarity.row(t - 2).to_vec()
        } else {
            let all = self.document(trace);
            let mut scores = self
                .pointer(side)
                .forward(&Self::seen(trace, &all, t), &all);
            scores.resize(trace.heads[0].similarity.width(), R::ZERO);
            scores
        };
        trace
            .own
            .at_mut(AT_POINTING)
            .row_mut(t)
            .copy_from_slice(&scores);
    }
}

/// The gradients of an episode.
struct Scratch<R> {
    mutual: MutualGradient<R>,
    /// w.r.t. U_i.
    document: Series<R>,
    /// w.r.t. [M(t); r_t; c_t] of the document, then w.r.t. r_t of the whole source.
    fused: Series<R>,
    reads: Series<R>,
    /// w.r.t. the gates of the LSTMs over the document.
    gates: [Series<R>; 2],
    /// The same of the decoder.
    decoder: Series<R>,
    pointers: [PointerGradient<R>; 2],
    /// Input of the layer of the question, and the gradient w.r.t. its sums.
    question: [Series<R>; 2],
    source: SourceGradient<R>,
}

with_source!(Scratch);

impl<R: Real> Scratch<R> {
    /// Empties the gradients for an episode.
    fn reset(&mut self, config: &CoattentionConfig, trace: &Trace<R>) {
        self.mutual.reset(trace);
        self.source.reset(&config.source, trace);
        let (source, steps) = (trace.setting.source, trace.steps());
        let document = document(trace).len();
        let [forward, backward] = &mut self.gates;
        let [question, d_question] = &mut self.question;
        for (series, steps) in [
            (&mut self.document, document),
            (&mut self.fused, document),
            (&mut self.reads, source),
            (forward, source),
            (backward, source),
            (&mut self.decoder, steps),
            (question, source),
            (d_question, source),
        ] {
            series.clear(steps);
        }
        self.pointers.iter_mut().for_each(PointerGradient::reset);
    }
}

impl<R: Real> Machine<R> for CoattentionConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let parts = self.parts(params);
        if steps.start == 0 {
            self.source.run(parts.source, traces);
            traces.iter_mut().for_each(|trace| parts.read_source(trace));
        }
        for trace in traces {
            for t in steps.start..steps.end.min(trace.steps()) {
                if t >= trace.setting.source {
                    parts.answer(trace, t);
                }
                emit(trace, t);
                readout::answer(trace, t);
            }
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        let (l, f) = (self.source.size, self.fusion);
        let pointer = || PointerGradient::new(2 * f, self.size + 4 * f, self.hidden, self.pool);
        Box::new(Scratch::<R> {
            mutual: MutualGradient::new(l),
            document: Series::new(2 * f),
            fused: Series::new(3 * l),
            reads: Series::new(l),
            gates: [0, 1].map(|_| Series::new(padded(4 * f))),
            decoder: Series::new(padded(4 * self.size)),
            pointers: [pointer(), pointer()],
            question: [l, padded(l)].map(Series::new),
            source: SourceGradient::new(&self.source, self.inputs),
        })
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let parts = self.parts(params);
        let (linears, tensors) = (parts.source.linears.len(), parts.source.tensors.len());
        for back in batch.each() {
            let sentinels = parts.backward(back);
            for (at, sentinel) in sentinels.iter().enumerate() {
                gradient.tensors[tensors + at].add_flat(sentinel);
            }
        }
        source::backward::<R, Scratch<R>>(&self.source, parts.source, batch, gradient);
        let all = batch.done::<Scratch<R>>();
        let own = &mut gradient.linears[linears..];
        let question = all.clone();
        let question = question.map(|(_, _, by)| (&by.question[0], &by.question[1]));
        own[QUESTION].set_gradient(question);
        for at in 0..2 {
            let fused = all.clone();
            let fused = fused.map(|(trace, _, by)| {
                let document = document(trace);
                let rows = fusion(trace, at)[0].rows_from(0).part(document.clone());
                (rows, by.gates[at].rows_from(0).part(document))
            });
            own[FUSE + at].set_gradient(fused);
        }
        let decoder = all.clone();
        let decoder = decoder.map(|(trace, _, by)| {
            let source = trace.setting.source.min(trace.steps());
            let seen = trace.layers[0].input.rows_from(source);
            (seen, by.decoder.rows_from(source))
        });
        own[DECODER].set_gradient(decoder);
        for side in 0..2 {
            for map in 0..MAPS {
                let pairs = all.clone();
                let pairs = pairs.map(|(_, _, by)| by.pointers[side].of_map(map));
                own[POINTERS + MAPS * side + map].set_gradient(pairs);
            }
            let pairs = all.clone();
            let pairs = pairs.map(|(_, _, by)| by.pointers[side].of_seen());
            set_product_of_series(pairs, &mut gradient.tensors[tensors + SEEN + side]);
        }
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let keep = |trace: &mut Trace<R>, t: usize| self.keep_rows(conventions, trace, t);
        let memory = Dependency {
            is_partial: true,
            ..Dependency::of_memory(source::made_of(&self.source), keep)
        };
        [memory].into_iter().chain(attended()).collect()
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let (parts, machine, layer) = (self.parts(params), Place::Machine, Place::Layer(0));
        let mut passes = vec![self.source.step(parts.source)];
        let memory = move |trace: &mut Trace<R>, t: usize| {
            let rows = parts.rows(trace);
            mutual::set_memory(trace, t + 1, &rows);
        };
        let mut read = vec![Dependency::with_weights(machine, array::MEMORY, memory)];
        read.extend(attended());
        let combined = read.split_off(5);
        passes.extend([read, combined]);
        let fused = (0..2).flat_map(|at| {
            let fuse = move |trace: &mut Trace<R>, t: usize| {
                if t < trace.setting.source {
                    parts.fuse(trace, at, t);
                } else {
                    encoder::rest(fusion_mut(trace, at), t);
                }
            };
            let hide = move |trace: &mut Trace<R>, t: usize| {
                if document(trace).contains(&t) {
                    cell::hide(fusion_mut(trace, at), t);
                } else {
                    encoder::rest(fusion_mut(trace, at), t);
                }
            };
            let [cell, hidden] = [OWN[5 * at + 2], OWN[5 * at + 4]];
            let cell = Dependency::with_weights(machine, cell, fuse);
            [cell, Dependency::with_weights(machine, hidden, hide)].map(|one| Dependency {
                is_backwards: at == 1,
                ..one
            })
        });
        passes.push(fused.collect());
        let decode = move |trace: &mut Trace<R>, t: usize| parts.decode(trace, t);
        let hide = move |trace: &mut Trace<R>, t: usize| parts.hide(trace, t);
        let point = move |trace: &mut Trace<R>, t: usize| parts.point(trace, t);
        let answer = [
            Dependency::with_weights(layer, array::CELL, decode),
            Dependency::with_weights(layer, array::HIDDEN, hide),
            Dependency::with_weights(machine, POINTING, point),
        ];
        let answer = answer.map(|one| one.only(|t, source| t >= source));
        let mut answer: Vec<_> = answer.into_iter().collect();
        let again = attended().into_iter();
        answer.extend(again.filter(|one| ![array::READ, CONTEXT].contains(&one.array)));
        answer.push(readout::output());
        passes.push(answer);
        let numbered = passes.into_iter().enumerate();
        numbered
            .flat_map(|(pass, all)| all.into_iter().map(move |one| one.in_pass(pass)))
            .collect()
    }
}

impl<R: Real> Parts<'_, R> {
    /// Backpropagates through an episode to the rows of the encoder; returns the gradients w.r.t. the sentinels.
    fn backward(
        self,
        (trace, by, scratch, mut recorder): EpisodeBack<'_, R, Scratch<R>>,
    ) -> [Vec<R>; 2] {
        scratch.reset(self.config, trace);
        if let Some(to) = recorder.as_deref_mut() {
            to.record_logits(trace, by);
        }
        self.answer_backward(trace, by, scratch, recorder.as_deref_mut());
        for at in 0..2 {
            self.fuse_backward(trace, at, scratch, recorder.as_deref_mut());
        }
        self.read_backward(trace, by, scratch, recorder.as_deref_mut());
        mutual::finish(trace, recorder);
        self.rows_backward(trace, scratch)
    }

    /// From the answer to U.
    fn answer_backward(
        self,
        trace: &Trace<R>,
        by: &Upstream<R>,
        scratch: &mut Scratch<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let (f, document, all) = (
            2 * self.config.fusion,
            document(trace),
            self.document(trace),
        );
        let (layer, linear) = (&trace.layers[0], &self.own.linears[DECODER]);
        let mut state = CellGradient::new(self.config.size, 2 * f);
        // w.r.t. the scores of the round after, where they are those of this one.
        let mut repeated = [0, 1].map(|_| vec![R::ZERO; document.len()]);
        for t in (trace.setting.source..trace.steps()).rev() {
            let ([round, side], pair) = (turn(trace, t), pair(trace, turn(trace, t)[0]));
            scratch
                .mutual
                .weigh(trace, (t, document.clone()), by, recorder.as_deref_mut());
            let logits = by.logit.row(t)[..trace.logit.width()].iter();
            add(&mut scratch.mutual.scores[document.clone()], logits);
            add(
                &mut scratch.mutual.scores[document.clone()],
                &repeated[side],
            );
            let scores = scratch.mutual.scores.clone();
            if let Some(to) = recorder.as_deref_mut() {
                to.record_array(trace, Place::Machine, POINTING, t, &scores);
                let zeros = vec![R::ZERO; self.config.source.size];
                to.record_array(trace, Place::Head(0), array::READ, t, &zeros);
            }
            scratch.mutual.end(trace, t, recorder.as_deref_mut());
            repeated[side].fill(R::ZERO);
            let scores = &scores[document.clone()];
            if self.is_over(trace, round) {
                repeated[side].copy_from_slice(scores);
            } else {
                let seen = Self::seen(trace, &all, t);
                let d_seen = self.pointer(side).backward(
                    scores,
                    (&seen, &all),
                    &mut scratch.document,
                    &mut scratch.pointers[side],
                );
                let (d_hidden, d_pair) = d_seen.split_at(self.config.size);
                add(&mut state.hidden, d_hidden);
                pair_backward(pair, d_pair, &mut scratch.document);
            }
            if self.is_repeated(trace, t) {
                if let Some(to) = recorder.as_deref_mut() {
                    record(&mut to.layers[0].hidden, &layer.hidden, t, &state.hidden);
                    record(&mut to.layers[0].cell, &layer.cell, t, &state.cell);
                }
                continue;
            }
            let to = recorder.as_deref_mut();
            let back = CellBack {
                cell: layer.cell(),
                steps: (t, (round > 0).then(|| t - 1)),
                by: &mut state,
                dz: scratch.decoder.row_mut(t),
                to: to.map(|to| to.layers[0].cell_mut()),
            };
            cell::backward(linear, [back]);
            pair_backward(pair, &state.input[..2 * f], &mut scratch.document);
        }
    }

    /// From U to [M(t); r_t; c_t] of the document, in a direction.
    fn fuse_backward(
        self,
        trace: &Trace<R>,
        at: usize,
        scratch: &mut Scratch<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let (l, f) = (self.config.source.size, self.config.fusion);
        let (document, linear) = (document(trace), &self.own.linears[FUSE + at]);
        let mut state = CellGradient::new(f, 3 * l);
        if let Some(to) = recorder.as_deref_mut() {
            // Where there is no document they are 0.
            let zeros = vec![R::ZERO; f];
            for array in [OWN[5 * at + 2], OWN[5 * at + 4]] {
                to.record_array(trace, Place::Machine, array, trace.steps() - 1, &zeros);
            }
        }
        for step in document.clone().rev() {
            let t = encoder::nth(at, step, &document);
            add(&mut state.hidden, &scratch.document.row(t)[at * f..][..f]);
            let to = recorder.as_deref_mut();
            let back = CellBack {
                cell: fusion(trace, at),
                steps: (t, encoder::earlier(at, t, &document)),
                by: &mut state,
                dz: scratch.gates[at].row_mut(t),
                to: to.map(|to| fusion_mut(to, at)),
            };
            cell::backward(linear, [back]);
            add(scratch.fused.row_mut(t), &state.input[..3 * l]);
        }
    }

    /// From there to the rows of the memory.
    fn read_backward(
        self,
        trace: &Trace<R>,
        by: &Upstream<R>,
        scratch: &mut Scratch<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let (l, source, document) = (
            self.config.source.size,
            trace.setting.source,
            document(trace),
        );
        let head = &trace.heads[0];
        if let Some(to) = recorder.as_deref_mut() {
            let zeros = vec![R::ZERO; l];
            to.record_array(trace, Place::Machine, CONTEXT, trace.steps() - 1, &zeros);
        }
        for t in document.clone() {
            let (d_row, d_context) = scratch.fused.row(t)[l..].split_at(l);
            add(scratch.reads.row_mut(t), d_row);
            for j in seen(trace, t) {
                let weight = head.weighting.row(t)[j];
                add_multiple(scratch.reads.row_mut(j), weight, d_context);
            }
        }
        for t in (0..source).rev() {
            let at = (t, seen(trace, t));
            if document.contains(&t) {
                let d_context = &scratch.fused.row(t)[2 * l..];
                let rows = head.read.rows_from(0).part(at.1.clone());
                let d_weights = &mut scratch.mutual.scores[at.1.clone()];
                matrix::product_with_vector(rows, d_context, d_weights);
                scratch.mutual.add_to_row(t, &scratch.fused.row(t)[..l]);
                if let Some(to) = recorder.as_deref_mut() {
                    to.record_array(trace, Place::Machine, CONTEXT, t, d_context);
                }
            }
            if let Some(to) = recorder.as_deref_mut() {
                record(&mut to.heads[0].read, &head.read, t, scratch.reads.row(t));
            }
            scratch.mutual.read(trace, at.clone(), scratch.reads.row(t));
            scratch
                .mutual
                .weigh(trace, at.clone(), by, recorder.as_deref_mut());
            scratch.mutual.score(trace, at, recorder.as_deref_mut());
        }
    }

    /// From the rows of the memory to those of the encoder, and to the sentinels.
    fn rows_backward(self, trace: &Trace<R>, scratch: &mut Scratch<R>) -> [Vec<R>; 2] {
        let l = self.config.source.size;
        let mut sentinels = [0, 1].map(|_| vec![R::ZERO; l]);
        let linear = &self.own.linears[QUESTION];
        let [x, dz] = &mut scratch.question;
        for t in 0..trace.setting.source {
            let d_row = scratch.mutual.rows.row(t);
            let ((from, is_question), mut d_from) = (self.made_of(trace, t), d_row.to_vec());
            if is_question {
                let row = mutual::rows(&trace.heads[0]);
                let row = &row.data[t * row.stride..][..l];
                x.row_mut(t).copy_from_slice(from);
                feedforward::backward(row, d_row, &mut dz.row_mut(t)[..l]);
                linear.backward_from(0, [(&dz.row(t)[..l], &mut d_from)]);
            }
            match self.own.tensors[..2]
                .iter()
                .position(|of| std::ptr::eq(of.row(0), from))
            {
                Some(at) => add(&mut sentinels[at], &d_from),
                None => scratch.source.rows.row_mut(t).copy_from_slice(&d_from),
            }
        }
        sentinels
    }
}

/// Adds the gradient w.r.t. [U_s; U_e].
fn pair_backward<R: Real>(pair: [usize; 2], d_pair: &[R], d_document: &mut Series<R>) {
    let halves = d_pair.chunks_exact(d_document.width());
    pair.into_iter()
        .zip(halves)
        .for_each(|(i, half)| add(d_document.row_mut(i), half));
}
