//! Long short-term memory networks as encoder and decoder (Cheng 2016, §4), in the order of their equations. The encoder
//! is that of `lstmn.rs`; the decoder has weights of its own and attends to the rows of the source as well:
//!
//! ```text
//! k_t = W_kᵀ·[x_t; ĥ_{t−1}]    w_t(i) = softmax of v·tanh(k_t + K_i)    ĥ_t = Σ_i w_t(i)·h_i    ĉ_t = Σ_i w_t(i)·c_i
//! c_t, h_t = lstm([x_t; ĥ_t], ĉ_t)    K_t = W_hᵀ·h_t                       i < t in the source, S ≤ i < t in the answer
//! ```
//!
//! In the answer, t ≥ S, with γ_t = Σ_i w_t(i)·h_i of the source and y_{t−1} as in `encoder_decoder.rs`:
//!
//! ```text
//! shallow    k_t = W_kᵀ·h_{t−1}            x_t = [y_{t−1}; γ_t]    z_t = W·[h_t; γ_t] + b
//! deep       k_t = W_kᵀ·[y_{t−1}; γ_{t−1}]    x_t = y_{t−1}        z_t = W·h_t + b
//!            α_t = Σ_i w_t(i)·c_i    r_t = σ(W_rᵀ·[γ_t; y_{t−1}])    c_t = r_t ∘ α_t + f ∘ ĉ_t + i ∘ g
//! ```
//!
//! Row t of the memory is h_t. Head 0 attends to the source, head 1 to earlier rows of its own part; both parts begin with
//! ĥ = ĉ = 0, the answer with h = γ = 0 as well.

use std::any::Any;
use std::ops::Range;

use super::array;
use super::attention::{Mechanism, Score, Sees};
use super::caption::activate_gate;
use super::config::Order;
use super::controller::cell::{self, one_lstm};
use super::dependency::{Conventions, Dependency, Size};
use super::derivatives::stages_backward;
use super::head::HeadGradient;
use super::kind::{Kind, Sizes};
use super::machine::{Batch, GradientRecorder, Machine, Upstream, record};
use super::memory;
use super::multi_head::ROW_KEY;
use super::params::Params;
use super::recompute::Rules;
use super::score::additive::{ADDITIVE_VECTOR, ENCODER_VECTOR};
use super::shape::{LinearSpec, Shape, TensorSpec};
use super::spec::{Array, ArraySpec, Place, Range as Values};
use super::trace::{Trace, of_layers};
use super::{feedback, fertility, reader, readout};
use crate::keys::Field::{Choice, Integer};
use crate::keys::{Keys, Table, Words};
use crate::math::matrix::{self, padded};
use crate::math::projected::{self, ProjectedGradient};
use crate::math::vectors::{add, add_multiple, vector_product_backward};
use crate::math::{Matrix, Real, Series, lstm};

/// The size of an encoder and a decoder that attend to their own earlier states.
#[derive(Clone, Debug, PartialEq)]
pub struct LstmnDecoderConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Units of the encoder, and of the decoder.
    pub size: usize,
    /// How the decoder uses what it reads in the source.
    pub fusion: Fusion,
    /// Units A of the scores.
    pub units: usize,
    /// Source steps of an episode.
    source: usize,
    /// Steps of an episode.
    rows: usize,
}

/// How a decoder uses what it reads in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// As an input.
    Shallow,
    /// In the cell, through a gate.
    Deep,
}

impl Words for Fusion {
    const WORDS: &'static [(&'static str, Self)] =
        &[("shallow", Self::Shallow), ("deep", Self::Deep)];
}

/// α_t, [T, C].
#[rustfmt::skip] // A row for every array.
const SOURCE_CELL: Array = &ArraySpec::new("source_cell", &["t", "c"], "α", Values::Any, "Σ_i w(i)·c_i over the cells of the source, w of `read0`; 0 before the answer; only deep fusion (Cheng 2016, section 4)");
/// r_t, [T, C].
#[rustfmt::skip]
const FUSION: Array = &ArraySpec::new("fusion", &["t", "c"], "r", Values::Within(0.0, 1.0), "σ(W_rᵀ·[γ; y_{t−1}]), the gate of α in the cell, γ the read of `read0`; 0 before the answer; only deep fusion (Cheng 2016, section 4)");

/// ĉ_t, [T, C].
#[rustfmt::skip] // A row for every array.
const ATTENDED_CELL: Array = &ArraySpec::new("attended_cell", &["t", "c"], "ĉ", Values::Any, "Σ_i w(i)·c_i over the cells of earlier steps (Cheng 2016, equation 6)");

/// The arrays of the machine. Those of the cells are in the order of the heads.
const ARRAYS: &[Array] = &[SOURCE_CELL, ATTENDED_CELL, FUSION, array::FEEDBACK];
/// Places of the other two.
const GATE: usize = 2;
const FEEDBACK: usize = 3;
/// The arrays of the heads; the first head lacks the last one.
const OF_HEAD: &[Array] = &[ROW_KEY, ADDITIVE_VECTOR, ENCODER_VECTOR];

/// All arrays in files.
#[rustfmt::skip]
const HAS: &[Array] = &[
    array::INPUT, array::LOGIT, array::OUTPUT, array::MEMORY, SOURCE_CELL, ATTENDED_CELL, FUSION, array::FEEDBACK,
    array::INITIAL, array::KEY, array::SIMILARITY, array::CONTENT, array::WEIGHTING, array::READ, ROW_KEY, ADDITIVE_VECTOR,
    ENCODER_VECTOR,
];

/// Linear maps: of both LSTMs, and the output. A weight is an index into linear maps, then tensors.
const MAPS: usize = 3;
const OUTPUT: usize = 2;
/// The tensors: every v, W_k and W_h of both LSTMs and of the source, and W_r.
#[rustfmt::skip] // A row for every part.
const WEIGHTS: [&str; 7] = [
    "encoder.own.key_weight", "encoder.own.row_weight",
    "decoder.own.key_weight", "decoder.own.row_weight",
    "decoder.source.key_weight", "decoder.source.row_weight",
    "fusion.weight",
];
const OF_ENCODER: usize = MAPS + 3;
const OF_DECODER: usize = OF_ENCODER + 2;
const OF_SOURCE: usize = OF_ENCODER + 4;
const W_R: usize = OF_ENCODER + 6;

impl LstmnDecoderConfig {
    /// Shallow fusion with 64 units, and as many in the scores.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            size: 64,
            fusion: Fusion::Shallow,
            units: 64,
            source: 1,
            rows: 1,
        }
    }

    fn is_deep(&self) -> bool {
        self.fusion == Fusion::Deep
    }
}

#[rustfmt::skip] // A row for every key.
/// Row t of the memory is h_t.
fn append<R: Real>(trace: &mut Trace<R>, t: usize) {
    let row = trace.layers[0].hidden.row(t).to_vec();
    memory::append(&mut trace.memory_columns, t, Some(row));
}

/// The memory to which each step appends its row.
fn appended<'a, R: Real>() -> Dependency<'a, R> {
    let (hidden, initial) = (array::HIDDEN, array::INITIAL_MEMORY);
    let needs = [(Place::Layer(0), hidden), (Place::Machine, initial)];
    Dependency::of_memory(needs, append)
}

impl Keys for LstmnDecoderConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key(
            "decoder.size",
            Integer(&mut self.size, 1..=4096),
            "units of the encoder, and of the decoder, and values in a memory row",
        );
        to.key("decoder.fusion", Choice(&mut self.fusion), "how the decoder uses what it reads in the source: `shallow`: as an input; `deep`: in the cell, through a gate (Cheng 2016, section 4)");
        to.key(
            "attention.units",
            Integer(&mut self.units, 1..=1024),
            "units A of the additive score",
        );
    }
}

impl Kind for LstmnDecoderConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: 1,
            units: self.size,
            read_heads: 2,
            rows: self.rows,
            columns: self.size,
            ..Sizes::default()
        }
    }

    fn shape(&self) -> Shape {
        let (x, y, c, a) = (self.inputs, self.outputs, self.size, self.units);
        let (deep, shallow) = (usize::from(self.is_deep()), usize::from(!self.is_deep()));
        let features = c + shallow * c;
        let maps = [
            ("encoder", x + c, 4 * c),
            ("decoder", y + features, 4 * c),
            ("output", features, y),
        ];
        let rows = [x + c, c, y + features, c, c + deep * y, c, deep * (c + y)];
        let weights = WEIGHTS.into_iter().zip(rows).zip([a, a, a, a, a, a, c]);
        let weights =
            weights.map(|((name, rows), columns)| TensorSpec::weights(name, rows, columns));
        let learned = (0..2).flat_map(|head| (self as &dyn Kind).learned(head));
        let maps = maps.map(|(name, inputs, outputs)| LinearSpec::new(name, inputs, outputs));
        Shape {
            linears: maps.into(),
            tensors: learned.chain(weights).collect(),
        }
    }

    fn arrays(&self) -> &'static [Array] {
        ARRAYS
    }

    fn head_arrays(&self, head: usize) -> [&'static [Array]; 2] {
        [&OF_HEAD[..head + 2], &[]]
    }

    fn width(&self, place: Place, array: Array) -> usize {
        match (place, array) {
            (Place::Layer(_), of_layers::INPUT) => 0,
            (Place::Layer(_), _) => one_lstm(self.size).width(0, array, 0),
            (_, array::NORMS) => self.rows,
            (_, SOURCE_CELL | FUSION) if !self.is_deep() => 0,
            _ if HAS.contains(&array) => (self as &dyn Kind).values(array),
            _ => 0,
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        match axis {
            "c" => Some(self.size),
            "k" | "a" => Some(self.units),
            _ => None,
        }
    }

    fn of_rows(&self, rows: usize) -> Option<Box<dyn Kind>> {
        self.of_episode(rows, rows)
    }

    fn of_episode(&self, steps: usize, source: usize) -> Option<Box<dyn Kind>> {
        let mut kind = self.clone();
        (kind.rows, kind.source) = (steps.max(source).max(1), source.max(1));
        Some(Box::new(kind))
    }

    fn first_step(&self) -> usize {
        self.source
    }

    fn has_feedback(&self) -> bool {
        true
    }

    fn is_zero(&self, place: Place, array: Array, t: usize, source: usize) -> bool {
        match (place, array) {
            (Place::Head(0), ROW_KEY) => t >= source,
            (Place::Head(0), _) | (_, array::FEEDBACK | SOURCE_CELL | FUSION) => t < source,
            _ => false,
        }
    }

    fn mechanism(&self, head: usize) -> Mechanism {
        let sees = [Sees::Source, Sees::OfPart][head.min(1)](self.source);
        reader::attention(Score::Additive, self.units).of_reader(sees)
    }

    fn set_channels(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
    }
}

/// The part that a step belongs to: 0 for the source, 1 for the answer.
fn part<R: Real>(trace: &Trace<R>, t: usize) -> usize {
    usize::from(t >= trace.setting.source)
}

/// The place of v among the learned arrays of a head.
fn vector<R: Real>(trace: &Trace<R>, index: usize, t: usize) -> usize {
    usize::from(index == 1 && part(trace, t) == 0)
}

/// The rows that a head sees in a step, and where their K stand.
fn seen<R: Real>(trace: &Trace<R>, index: usize, t: usize) -> [Range<usize>; 2] {
    let head = &trace.heads[index];
    let rows = head.mechanism.sees.range(t, head.weighting.width());
    let a = head.key.width();
    [rows.clone(), rows.start * a..rows.end * a]
}

/// v·tanh(k_t + K_i) of the rows that a head sees.
fn score<R: Real>(trace: &mut Trace<R>, index: usize, t: usize) {
    let ([rows, keys], vector) = (seen(trace, index, t), vector(trace, index, t));
    let head = &mut trace.heads[index];
    let vector = head.of_score.at(1 + vector).row(0);
    let (key, keys) = (head.key.row(t), &head.of_score.at(0).as_slice()[keys]);
    let similarity = head.similarity.row_mut(t);
    similarity.fill(R::ZERO);
    projected::forward(key, vector, keys, None, &mut similarity[rows]);
}

/// What a head reads, γ_t or ĥ_t; of cells α_t or ĉ_t.
fn attend<R: Real>(trace: &mut Trace<R>, (index, is_cell): (usize, bool), t: usize) {
    let (head, layer) = (&mut trace.heads[index], &trace.layers[0]);
    let (of, to) = if is_cell {
        (&layer.cell, trace.own.at_mut(index))
    } else {
        (&layer.hidden, &mut head.read)
    };
    to.row_mut(t).fill(R::ZERO);
    matrix::add_vector_product(&head.weighting.row(t)[..t], of.rows_from(0), to.row_mut(t));
}

/// x ∘ y.
fn times<R: Real>(x: &[R], y: &[R]) -> Vec<R> {
    x.iter().zip(y).map(|(&x, &y)| x * y).collect()
}

/// Sets a row to the first of these values.
fn set<R: Real>(to: &mut [R], from: &[R]) {
    to.copy_from_slice(&from[..to.len()]);
}

/// The machine with its weights.
#[derive(Clone, Copy)]
struct Parts<'a, R> {
    config: &'a LstmnDecoderConfig,
    params: &'a Params<R>,
}

/// Sets an array, of a head by its index, in a step.
type Work<'a, R> = fn(Parts<'a, R>, &mut Trace<R>, usize, usize);

impl<'a, R: Real> Parts<'a, R> {
    fn weight(self, index: usize) -> &'a Matrix<R> {
        let linear = self.params.linears.get(index);
        linear.map_or_else(|| &self.params.tensors[index - MAPS], |map| &map.weight)
    }

    /// W_k of a head in a step; W_h is the next weight.
    fn w_k(trace: &Trace<R>, index: usize, t: usize) -> usize {
        [OF_SOURCE, [OF_ENCODER, OF_DECODER][part(trace, t)]][index]
    }

    /// What a weight multiplies in a step.
    fn seen(self, weight: usize, trace: &Trace<R>, t: usize) -> Vec<R> {
        let (y, hidden) = (trace.own.at(FEEDBACK).row(t), &trace.layers[0].hidden);
        let [source, own] = [0, 1].map(|index| &trace.heads[index].read);
        // 0 in the first step of a part.
        let before = |of: &Series<R>| match t {
            _ if t == 0 || t == trace.setting.source => vec![R::ZERO; of.width()],
            _ => of.row(t - 1).to_vec(),
        };
        let x = match (part(trace, t), self.config.fusion) {
            (0, _) => trace.input.row(t).to_vec(),
            (_, Fusion::Shallow) => [y, source.row(t)].concat(),
            (_, Fusion::Deep) => y.to_vec(),
        };
        match (weight, self.config.fusion) {
            (OUTPUT, Fusion::Shallow) => [hidden.row(t), source.row(t)].concat(),
            (W_R, _) => [source.row(t), y].concat(),
            (OF_SOURCE, Fusion::Shallow) => before(hidden),
            (OF_SOURCE, Fusion::Deep) => [x, before(source)].concat(),
            (..OUTPUT, _) => [&x, own.row(t)].concat(),
            (OF_ENCODER | OF_DECODER, _) => [x, before(own)].concat(),
            _ => hidden.row(t).to_vec(),
        }
    }

    /// Its product, of a linear map with the bias, in the first values of a row.
    fn product(self, weight: usize, trace: &Trace<R>, t: usize) -> Vec<R> {
        let (matrix, x) = (self.weight(weight), self.seen(weight, trace, t));
        let mut y = vec![R::ZERO; padded(matrix.columns())];
        if let Some(linear) = self.params.linears.get(weight) {
            linear.start(&mut y);
        }
        matrix::add_vector_product(&x, matrix.rows_from(0), &mut y);
        y
    }

    /// k_t of a head.
    fn ask(self, trace: &mut Trace<R>, index: usize, t: usize) {
        let key = self.product(Self::w_k(trace, index, t), trace, t);
        set(trace.heads[index].key.row_mut(t), &key);
    }

    /// r_t of deep fusion.
    fn fuse(self, trace: &mut Trace<R>, _: usize, t: usize) {
        let z = self.product(W_R, trace, t);
        let gate = trace.own.at_mut(GATE).row_mut(t);
        set(gate, &z);
        activate_gate(gate);
    }

    /// c_t.
    fn activate(self, trace: &mut Trace<R>, _: usize, t: usize) {
        let z = self.product(part(trace, t), trace, t);
        let ([source, own, gate], layer) = (trace.own.all(), &mut trace.layers[0]);
        set(layer.gates.row_mut(t), &z);
        cell::activate(layer.cell_mut(), (t, None), own.row(t));
        if self.config.is_deep() {
            // 0 in the source.
            add(layer.cell.row_mut(t), &times(gate.row(t), source.row(t)));
        }
    }

    /// K_t of a head.
    fn project(self, trace: &mut Trace<R>, index: usize, t: usize) {
        let key = self.product(Self::w_k(trace, index, t) + 1, trace, t);
        set(trace.heads[index].of_score.at_mut(0).row_mut(t), &key);
    }

    /// z_t.
    fn emit(self, trace: &mut Trace<R>, _: usize, t: usize) {
        let z = self.product(OUTPUT, trace, t);
        set(trace.logit.row_mut(t), &z);
    }
}

impl LstmnDecoderConfig {
    /// The arrays of a step that need no weights, and with weights all.
    fn all<'a, R: Real>(
        &'a self,
        params: Option<&'a Params<R>>,
        conventions: &'a Conventions,
    ) -> Vec<Dependency<'a, R>> {
        let (config, rules) = (self, Rules::new(self, Order::ReadFirst, 0.0, conventions));
        let of = |index: usize, place, array, work: Work<'a, R>| {
            let parts = params.map(|params| Parts { config, params })?;
            let work = move |trace: &mut Trace<R>, t: usize| work(parts, trace, index, t);
            Some(Dependency::with_weights(place, array, work))
        };
        let (machine, layer, size) = (Place::Machine, Place::Layer(0), Size::Terms);
        let mut all = vec![feedback::dependency()];
        for index in 0..2 {
            let head = Place::Head(index);
            let needs = [array::KEY].iter().chain(&OF_HEAD[..index + 2]);
            let needs: Vec<_> = needs.map(|array| (head, *array)).collect();
            let score = move |trace: &mut Trace<R>, t: usize| score(trace, index, t);
            let read = |place, array, from, is_cell| {
                let of = (index, is_cell);
                let attend = move |trace: &mut Trace<R>, t: usize| attend(trace, of, t);
                let needs = [(head, array::WEIGHTING), (layer, from)];
                Dependency::new(place, array, needs, size, attend)
            };
            all.extend(of(index, head, array::KEY, Parts::ask));
            all.push(Dependency::new(head, array::SIMILARITY, needs, size, score));
            all.extend(rules.stages(index));
            all.push(read(head, array::READ, array::HIDDEN, false));
            if index == 1 || self.is_deep() {
                all.push(read(machine, ARRAYS[index], array::CELL, true));
            }
            if index == 0 {
                let gate = of(0, machine, FUSION, Parts::fuse);
                all.extend(gate.filter(|_| self.is_deep()));
                let of_answer = all.into_iter().map(|of| of.only(|t, source| t >= source));
                all = of_answer.collect();
            }
        }
        all.extend(of(0, layer, array::CELL, Parts::activate));
        let hide: Work<'a, R> = |_, trace, _, t| cell::hide(trace.layers[0].cell_mut(), t);
        all.extend(of(0, layer, array::HIDDEN, hide));
        let of_source = of(0, Place::Head(0), ROW_KEY, Parts::project);
        all.extend(of_source.map(|of| of.only(|t, source| t < source)));
        all.extend(of(1, Place::Head(1), ROW_KEY, Parts::project));
        all.push(appended());
        let logit = of(0, machine, array::LOGIT, Parts::emit);
        all.extend(logit.map(|of| of.only(|t, source| t >= source)));
        all.extend(params.map(|_| readout::output()));
        all
    }
}

impl<R: Real> Machine<R> for LstmnDecoderConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let all = self.step(params);
        for trace in traces {
            if steps.start == 0 {
                trace.learn(&params.tensors);
                trace.memory_columns.row_mut(0).fill(R::ZERO);
            }
            for t in steps.start..steps.end.min(trace.steps()) {
                for dependency in &all {
                    let is_fed = dependency.array == array::FEEDBACK && trace.setting.is_forced;
                    let is_kept = dependency.array != array::MEMORY || trace.memory_every == 1;
                    if is_kept && !is_fed {
                        (dependency.work)(trace, t);
                    }
                }
            }
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(())
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        gradient
            .slices_mut()
            .for_each(|values| values.fill(R::ZERO));
        let (config, c, a) = (self, self.size, self.units);
        for (trace, by, (), to) in batch.each() {
            let zeros = |width: usize| {
                let mut series = Series::new(width);
                series.resize(trace.steps());
                series
            };
            let heads = trace.heads.iter().map(|head| HeadGradient::of(self, head));
            let mut back = Back {
                parts: Parts { config, params },
                heads: heads.collect(),
                later: [c, c, c, c, a, a].map(zeros),
                by_weights: fertility::by_weights(trace, &by.terms),
                trace,
                by,
                gradient,
                to,
            };
            (0..trace.steps()).rev().for_each(|t| back.step(t));
            let learned = back.heads.iter().flat_map(HeadGradient::learned);
            for (to, d) in back.gradient.tensors.iter_mut().zip(learned) {
                to.add_flat(d);
            }
            if let Some(to) = back.to {
                to.record_logits(trace, by);
                (0..2).for_each(|index| to.record_start(trace, index, &back.heads[index]));
            }
        }
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        self.all(None, conventions)
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        self.all(Some(params), Conventions::OWN)
    }
}

/// Places of [`Back::later`]: of h, and the first ones of reads and of K.
const H: usize = 0;
const READ: usize = 2;
const K: usize = 4;

/// The backward pass of an episode.
struct Back<'a, 'b, R> {
    parts: Parts<'a, R>,
    trace: &'a Trace<R>,
    by: &'a Upstream<R>,
    /// The gradient w.r.t. the weights, and the recorder of all others.
    gradient: &'b mut Params<R>,
    to: GradientRecorder<'a, R>,
    heads: Vec<HeadGradient<R>>,
    /// Gradients w.r.t. h_t and c_t, and the reads, [T, C], and K_t, [T, A], of both heads.
    later: [Series<R>; 6],
    /// Those w.r.t. the weights of each row of the source through their sums.
    by_weights: Vec<R>,
}

impl<R: Real> Back<'_, '_, R> {
    /// Backpropagates through [`Parts::product`]: returns the gradient w.r.t. what the weight multiplies.
    fn product(&mut self, weight: usize, t: usize, d_y: &[R]) -> Vec<R> {
        let (of, trace) = (self.parts.weight(weight), self.trace);
        let x = self.parts.seen(weight, trace, t);
        let to = match self.gradient.linears.get_mut(weight) {
            Some(linear) => {
                add(linear.bias.as_mut_slice(), d_y);
                &mut linear.weight
            }
            None => &mut self.gradient.tensors[weight - MAPS],
        };
        let (mut d_x, mut d_y) = (vec![R::ZERO; x.len()], d_y.to_vec());
        d_y.resize(padded(of.columns()), R::ZERO);
        vector_product_backward((&x, of.as_slice()), &d_y, &mut d_x, to.as_mut_slice());
        d_x
    }

    fn step(&mut self, t: usize) {
        let (config, trace, c) = (self.parts.config, self.trace, self.parts.config.size);
        let (layer, part) = (&trace.layers[0], part(trace, t));
        let [source, own, gate] = trace.own.all();
        if part == 1 {
            let d = self.product(OUTPUT, t, self.by.logit.row(t));
            add(self.later[H].row_mut(t), &d[..c]);
            add(self.later[READ].row_mut(t), &d[c..]);
        }
        for index in part..2 {
            let vector = trace.heads[index].of_score.at(1 + vector(trace, index, t));
            let d = self.later[K + index].row_mut(t);
            projected::by_projected(vector.row(0), d);
            let d = d.to_vec();
            let d = self.product(Parts::w_k(trace, index, t) + 1, t, &d);
            add(self.later[H].row_mut(t), &d);
        }
        let (d_hidden, mut d_cell) = (self.later[H].row(t), self.later[1].row(t).to_vec());
        let (mut total, mut dz) = (d_cell.clone(), vec![R::ZERO; layer.gates.width()]);
        if let Some(to) = &mut self.to {
            let to = to.layers[0].cell_mut();
            cell::record_state(layer.cell(), t, (d_hidden, &d_cell), to);
        }
        let (gates, tanh) = (layer.gates.row(t), layer.cell_tanh.row(t));
        lstm::add_cell_gradient(gates, tanh, d_hidden, &mut total);
        let state = (d_hidden, &mut d_cell[..]);
        cell::activate_backward(layer.cell(), (t, None), own.row(t), state, &mut dz);
        let mut d_x = self.product(part, t, &dz);
        let d_own = d_x.split_off(d_x.len() - c);
        add(self.later[READ + 1].row_mut(t), &d_own);
        let d_asked = self.attend(1, t, &d_cell);
        add(&mut d_x, &d_asked);
        let (mut d_gate, mut d_source) = (Vec::new(), Vec::new());
        if part == 1 {
            if config.is_deep() {
                (d_gate, d_source) = (times(&total, source.row(t)), times(&total, gate.row(t)));
                let slope: Vec<R> = gate.row(t).iter().map(|&r| r * (R::ONE - r)).collect();
                let d = self.product(W_R, t, &times(&d_gate, &slope));
                add(self.later[READ].row_mut(t), &d[..c]);
                add(&mut d_x, &d[c..]);
            } else {
                add(self.later[READ].row_mut(t), &d_x[config.outputs..]);
            }
            let d_asked = self.attend(0, t, &d_source);
            add(&mut d_x, &d_asked);
        }
        let Some(to) = &mut self.to else { return };
        to.record_array(trace, Place::Machine, ATTENDED_CELL, t, &d_cell);
        let reads = [READ, READ + 1].map(|read| self.later[read].row(t));
        to.record_reads(trace, t, &reads.concat());
        for (index, d) in self.later[K..].iter().enumerate() {
            to.record_array(trace, Place::Head(index), ROW_KEY, t, d.row(t));
        }
        if part == 1 {
            feedback::record(trace, t, &d_x, Some(&mut **to));
            d_x = vec![R::ZERO; trace.input.width()];
        } else if self.by.weightings[0].width() > 0 {
            let (to, d) = (&mut to.heads[0].weighting, &self.by.weightings[0]);
            record(to, &trace.heads[0].weighting, t, d.row(t));
        }
        if !d_gate.is_empty() {
            to.record_array(trace, Place::Machine, FUSION, t, &d_gate);
            to.record_array(trace, Place::Machine, SOURCE_CELL, t, &d_source);
        }
        record(&mut to.input, &trace.input, t, &d_x);
    }

    /// Backpropagates through a head, from the gradients w.r.t. its read, and w.r.t. α or ĉ, if any. Returns the gradient
    /// w.r.t. the part of what W_k multiplies that is of this step.
    fn attend(&mut self, index: usize, t: usize, d_cells: &[R]) -> Vec<R> {
        let trace = self.trace;
        let ([rows, keys], head) = (seen(trace, index, t), &trace.heads[index]);
        let (layer, by) = (&trace.layers[0], &mut self.heads[index].weighting);
        by.fill(R::ZERO);
        let d_read = self.later[READ + index].row(t).to_vec();
        let states = [(&layer.hidden, &d_read[..]), (&layer.cell, d_cells)];
        for ((of, d), to) in states.into_iter().zip(&mut self.later[H..]) {
            for i in (0..t).filter(|_| !d.is_empty()) {
                let w = head.weighting.row(t)[i];
                by[i] += of.row(i).iter().zip(d).map(|(&x, &d)| x * d).sum();
                add_multiple(to.row_mut(i), w, d);
            }
        }
        if index == 0 {
            add(&mut by[..], &self.by_weights);
        }
        let (heads, to) = (&mut self.heads[index..=index], self.to.as_deref_mut());
        stages_backward(trace, index..index + 1, t, heads, self.by, to);
        let by = &mut heads[0];
        let (mut d_key, vector) = (vec![R::ZERO; head.key.width()], vector(trace, index, t));
        let gradient = ProjectedGradient {
            d_energies: &by.weighting[rows],
            d_start: &mut d_key,
            d_vector: &mut by.of_score.learned[vector],
            d_projected: &mut self.later[K + index].as_mut_slice()[keys.clone()],
        };
        let (vector, row_keys) = (head.of_score.at(1 + vector), head.of_score.at(0));
        let (key, row_keys) = (head.key.row(t), &row_keys.as_slice()[keys]);
        projected::backward(key, vector.row(0), row_keys, None, gradient);
        if let Some(to) = self.to.as_deref_mut() {
            record(&mut to.heads[index].key, &head.key, t, &d_key);
        }
        let mut d_asked = self.product(Parts::w_k(trace, index, t), t, &d_key);
        let d_before = d_asked.split_off(d_asked.len() - self.parts.config.size);
        if t != 0 && t != trace.setting.source {
            let is_state = index == 0 && !self.parts.config.is_deep();
            let to = &mut self.later[if is_state { H } else { READ + index }];
            add(to.row_mut(t - 1), &d_before);
        }
        d_asked
    }
}
