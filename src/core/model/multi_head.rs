//! Multi-head attention over the steps of one sequence (Vaswani 2017, §3.2), in the order of its equations:
//!
//! ```text
//! X⁰_t = E·x_t + P_t
//! q_t = W_Qᵀ·X_t    K_t = W_Kᵀ·X_t    V_t = W_Vᵀ·X_t                              of each head of a layer, X = Xˡ
//! w_t = softmax_i(q_t·K_i / √d)    r_t = Σ_i w_t(i)·V_i
//! Xˡ⁺¹_t = X_t + W_Oᵀ·[r_t of every head]
//! z_t = W·X_t + b                                                              of the last layer
//! ```
//!
//! A causal head sees the rows i ≤ t, another one all. Row t of the memory is X⁰_t; P is learned, or of sines and cosines
//! (§3.5).

use std::any::Any;
use std::ops::Range;

use super::addressing::address;
use super::array;
use super::attention::{AttentionConfig, Mechanism, Score, Sees, Switch};
use super::config::MAX_HEADS;
use super::config::Order;
use super::dependency::{Conventions, Dependency, Size};
use super::derivatives::stages_backward;
use super::head::HeadGradient;
use super::kind::{Kind, Sizes, row_per_step};
use super::machine::{Batch, EpisodeBack, GradientRecorder, Machine, Upstream, record};
use super::params::Params;
use super::recompute::Rules;
use super::shape::{LinearSpec, Shape, TensorSpec};
use super::spec::{Array, ArraySpec, LEARNED, Place, Range as Values};
use super::trace::{HeadTrace, Trace, of_layers};
use super::{memory, reader, readout};
use crate::keys::Field::{Choice, Integer};
use crate::keys::{ConfigError, Keys, Table, Words};
use crate::math::matrix::{self, Rows, set_product_of_series};
use crate::math::vectors::{add, gather};
use crate::math::{Matrix, Real, Series};

/// The size of multi-head attention.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiHeadConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Values of a memory row, and of the state of a layer.
    pub size: usize,
    /// Layers.
    pub layers: usize,
    /// Heads of a layer.
    pub heads: usize,
    /// Values of a query, a key and a value.
    pub head_size: usize,
    /// Whether a step sees only itself and earlier steps.
    pub causal: Switch,
    /// What is added to the embedded input of a step.
    pub positions: Positions,
    /// Most steps of an episode with learned positions.
    pub most: usize,
    attention: AttentionConfig,
    /// Steps of an episode.
    rows: usize,
}

/// The position encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// A learned row for each step.
    Learned,
    /// sin(t / 10000^(2i/C)) and cos of the same, for any number of steps.
    Sinusoidal,
}

impl Words for Positions {
    const WORDS: &'static [(&'static str, Self)] =
        &[("learned", Self::Learned), ("sinusoidal", Self::Sinusoidal)];
}

/// X⁰_t, [T, C].
#[rustfmt::skip] // A row for every array.
const EMBEDDED: Array = &ArraySpec::new("embedded", &["t", "m"], "X", Values::Any, "E·x + P, the embedded input with its position (Vaswani 2017, sections 3.4 and 3.5)");
/// W_Q, [C, d].
#[rustfmt::skip]
const QUERY_WEIGHT: Array = &ArraySpec::new("query_weight", &["m", "k"], "W_Q", LEARNED, "learned; key k = W_Qᵀ·X, the query of Vaswani 2017");
/// W_K, [C, d].
#[rustfmt::skip]
const KEY_WEIGHT: Array = &ArraySpec::new("key_weight", &["m", "k"], "W_K", LEARNED, "learned; key of a row (Vaswani 2017)");
/// W_V, [C, d].
#[rustfmt::skip]
const VALUE_WEIGHT: Array = &ArraySpec::new("value_weight", &["m", "r"], "W_V", LEARNED, "learned; value of a row (Vaswani 2017)");
/// K_t, [T, d].
#[rustfmt::skip]
pub const ROW_KEY: Array = &ArraySpec::new("row_key", &["t", "k"], "K", Values::Any, "W_Kᵀ·X of this step, with which k is compared (Vaswani 2017); of `lstmn-decoder` W_hᵀ·h (Cheng 2016)");
/// V_t, [T, d].
#[rustfmt::skip]
pub const ROW_VALUE: Array = &ArraySpec::new("row_value", &["t", "r"], "V", Values::Any, "W_Vᵀ·X of this step, which is read (Vaswani 2017)");

/// The arrays of a head beside those of every machine.
const OF_HEAD: &[Array] = &[QUERY_WEIGHT, KEY_WEIGHT, VALUE_WEIGHT, ROW_KEY, ROW_VALUE];

/// The arrays in files beside those of the layers.
#[rustfmt::skip]
const HAS: &[Array] = &[
    array::INPUT, array::LOGIT, array::OUTPUT, array::MEMORY, EMBEDDED, array::INITIAL, array::KEY, array::SIMILARITY,
    array::CONTENT, array::WEIGHTING, array::READ, QUERY_WEIGHT, KEY_WEIGHT, VALUE_WEIGHT, ROW_KEY, ROW_VALUE,
];

impl MultiHeadConfig {
    /// Two layers of four causal heads.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            size: 64,
            layers: 2,
            heads: 4,
            head_size: 16,
            causal: Switch::On,
            positions: Positions::Learned,
            most: 128,
            attention: reader::attention(Score::ScaledDot, 1),
            rows: 1,
        }
    }

    /// The heads of a layer.
    fn of_layer(&self, layer: usize) -> Range<usize> {
        layer * self.heads..(layer + 1) * self.heads
    }

    fn parts<'a, R>(&'a self, params: &'a Params<R>) -> Parts<'a, R> {
        let config = self;
        Parts { config, params }
    }

    /// Tensors before those of the heads.
    fn tensors_before_heads(&self) -> usize {
        2 + self.layers
    }
}

#[rustfmt::skip] // A row for every key.
impl Keys for MultiHeadConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("embedding", Integer(&mut self.size, 1..=4096), "values of an embedded input, of a memory row and of the state of a layer");
        to.key("layers", Integer(&mut self.layers, 1..=16), "layers, each with heads of its own");
        to.key("heads.read", Integer(&mut self.heads, 1..=MAX_HEADS), "heads of a layer; at most 64 in all layers together");
        to.key("heads.size", Integer(&mut self.head_size, 1..=1024), "values of a query, a key and a value");
        to.key("attention.causal", Choice(&mut self.causal), "whether a head sees only its own step and earlier ones");
        to.key("positions.kind", Choice(&mut self.positions), "what is added to an embedded input: `learned`: a learned row of each step; `sinusoidal`: sines and cosines, for any number of steps (Vaswani 2017, section 3.5)");
        if self.positions == Positions::Learned {
            to.key("positions.most", Integer(&mut self.most, 1..=1 << 20), "most steps of a sequence; a task with longer ones is refused");
        }
    }
}

impl Kind for MultiHeadConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: self.layers,
            units: self.size,
            read_heads: self.layers * self.heads,
            write_heads: 0,
            rows: self.rows,
            columns: self.size,
        }
    }

    fn shape(&self) -> Shape {
        let (c, read) = (self.size, self.heads * self.head_size);
        let most = if self.positions == Positions::Learned {
            self.most
        } else {
            0
        };
        let mut tensors = vec![
            TensorSpec::weights("embedding.weight", self.inputs, c),
            TensorSpec::state("positions", most, c),
        ];
        tensors.extend((0..self.layers).map(|layer| TensorSpec {
            name: format!("combine{layer}.weight").into(),
            ..TensorSpec::weights("", read, c)
        }));
        let heads = 0..self.layers * self.heads;
        tensors.extend(heads.flat_map(|head| (self as &dyn Kind).learned(head)));
        Shape {
            linears: vec![LinearSpec::new("output", c, self.outputs)],
            tensors,
        }
    }

    fn arrays(&self) -> &'static [Array] {
        &[EMBEDDED]
    }

    fn head_arrays(&self, _: usize) -> [&'static [Array]; 2] {
        [OF_HEAD, &[]]
    }

    fn width(&self, place: Place, array: Array) -> usize {
        let values = || (self as &dyn Kind).values(array);
        match (place, array) {
            (Place::Layer(_), of_layers::INPUT) => self.heads * self.head_size,
            (Place::Layer(_), of_layers::HIDDEN) => self.size,
            (Place::Machine, array::NORMS) => self.rows,
            _ if HAS.contains(&array) => values(),
            _ => 0,
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        ["k", "r"].contains(&axis).then_some(self.head_size)
    }

    row_per_step!();

    fn episode_rows(&self, steps: usize, _: usize) -> usize {
        steps
    }

    fn most_rows(&self) -> (usize, &'static str) {
        let is_learned = self.positions == Positions::Learned;
        (
            if is_learned { self.most } else { usize::MAX },
            "positions.most",
        )
    }

    fn is_passing(&self, place: Place, array: Array) -> bool {
        // All steps run in one call, and their weights are evaluated afterwards.
        let is_of_rows = matches!(array, array::SIMILARITY | array::CONTENT);
        matches!(place, Place::Head(_)) && is_of_rows
    }

    fn mechanism(&self, head: usize) -> Mechanism {
        let sees = match self.causal {
            Switch::On => Sees::UpToNow,
            Switch::Off => Sees::Sequence,
        };
        Mechanism {
            layer: head / self.heads.max(1),
            ..self.attention.of_reader(sees)
        }
    }

    fn check_together(&self) -> Result<(), ConfigError> {
        let heads = self.layers * self.heads;
        ConfigError::unless(heads <= MAX_HEADS, "heads.read", self.heads, || {
            let most = MAX_HEADS / self.layers;
            format!(
                "1 to {most}, because all {} layers together may have {MAX_HEADS}",
                self.layers
            )
        })
    }
}

/// The weights of a machine.
#[derive(Clone, Copy)]
struct Parts<'a, R> {
    config: &'a MultiHeadConfig,
    params: &'a Params<R>,
}

impl<'a, R: Real> Parts<'a, R> {
    fn combine(self, layer: usize) -> Rows<'a, R> {
        self.params.tensors[2 + layer].rows_from(0)
    }

    /// X⁰_t = E·x_t + P_t.
    fn embed(self, trace: &mut Trace<R>, t: usize) {
        let [embedded] = trace.own.all_mut();
        let to = embedded.row_mut(t);
        match self.config.positions {
            Positions::Learned => to.copy_from_slice(&self.params.tensors[1].row(t)[..to.len()]),
            Positions::Sinusoidal => sinusoid(t, to),
        }
        let embedding = self.params.tensors[0].rows_from(0);
        matrix::add_vector_product(trace.input.row(t), embedding, to);
    }

    /// Every step of an episode.
    fn forward(self, trace: &mut Trace<R>) {
        trace.learn(&self.params.tensors[self.config.tensors_before_heads()..]);
        let steps = trace.steps();
        (0..steps).for_each(|t| self.embed(trace, t));
        for layer in 0..self.config.layers {
            let heads = self.config.of_layer(layer);
            for head in heads.clone() {
                for of in Projection::ALL {
                    (0..steps).for_each(|t| of.project(trace, (layer, head), t));
                }
            }
            for t in 0..steps {
                heads.clone().for_each(|head| score(trace, head, t));
                address(&mut trace.heads[heads.clone()], t, trace.sampling, None);
                heads.clone().for_each(|head| read(trace, head, t));
                self.add_reads(trace, layer, t);
            }
        }
        if trace.memory_every == 1 {
            trace.memory_columns.row_mut(0).fill(R::ZERO);
            (0..steps).for_each(|t| remember(trace, t));
        }
    }

    /// Xˡ⁺¹_t = X_t + W_Oᵀ·[r_t of every head].
    fn add_reads(self, trace: &mut Trace<R>, layer: usize, t: usize) {
        let reads = trace.heads[self.config.of_layer(layer)].iter();
        gather(
            trace.layers[layer].input.row_mut(t),
            reads.map(|head| head.read.row(t)),
        );
        let x = seen(trace, layer).row(t).to_vec();
        let layer_trace = &mut trace.layers[layer];
        let to = layer_trace.hidden.row_mut(t);
        to.copy_from_slice(&x);
        matrix::add_vector_product(layer_trace.input.row(t), self.combine(layer), to);
    }
}

/// sin(t / 10000^(2i/C)) in the even columns, cos in the odd ones.
fn sinusoid<R: Real>(t: usize, to: &mut [R]) {
    let size = to.len() as f64;
    for (column, to) in to.iter_mut().enumerate() {
        let angle = t as f64 / 10_000_f64.powf((column - column % 2) as f64 / size);
        *to = R::from_f64(if column % 2 == 0 {
            angle.sin()
        } else {
            angle.cos()
        });
    }
}

/// M_{t+1}: the rows X⁰ that step `t` sees.
fn remember<R: Real>(trace: &mut Trace<R>, t: usize) {
    let Trace {
        own,
        memory_columns,
        heads,
        ..
    } = trace;
    let rows = own.at(0).steps();
    let seen = heads[0].mechanism.sees.count(t, rows);
    let row = |i| own.at(0).row(i).iter().copied();
    memory::set_rows(memory_columns.row_mut(t + 1), rows, seen, row);
}

/// X of a layer, [T, C].
fn seen<R: Real>(trace: &Trace<R>, layer: usize) -> &Series<R> {
    match layer.checked_sub(1) {
        None => trace.own.at(0),
        Some(below) => &trace.layers[below].hidden,
    }
}

/// A projection of X.
#[derive(Clone, Copy)]
enum Projection {
    Query,
    Key,
    Value,
}

impl Projection {
    const ALL: [Self; 3] = [Self::Query, Self::Key, Self::Value];

    /// Its weights among the learned arrays.
    fn weight<R: Real>(self, head: &HeadTrace<R>) -> Rows<'_, R> {
        let weights = head.of_score.at(self as usize);
        let stride = match self {
            Self::Query | Self::Key => head.key.width(),
            Self::Value => head.read.width(),
        };
        Rows {
            data: weights.row(0),
            stride,
        }
    }

    /// The projected series.
    fn made<R: Real>(self, head: &HeadTrace<R>) -> &Series<R> {
        match self {
            Self::Query => &head.key,
            Self::Key => head.of_score.at(3),
            Self::Value => head.of_score.at(4),
        }
    }

    fn array(self) -> Array {
        [array::KEY, ROW_KEY, ROW_VALUE][self as usize]
    }

    /// q_t, K_t or V_t of a head.
    fn project<R: Real>(self, trace: &mut Trace<R>, (layer, head): (usize, usize), t: usize) {
        let mut made = vec![R::ZERO; self.made(&trace.heads[head]).width()];
        let weight = self.weight(&trace.heads[head]);
        matrix::add_vector_product(seen(trace, layer).row(t), weight, &mut made);
        let head = &mut trace.heads[head];
        let to = match self {
            Self::Query => &mut head.key,
            Self::Key => head.of_score.at_mut(3),
            Self::Value => head.of_score.at_mut(4),
        };
        to.row_mut(t).copy_from_slice(&made);
    }
}

/// 1 / √d.
fn scale<R: Real>(head: &HeadTrace<R>) -> R {
    R::ONE / R::from_f64(head.key.width() as f64).sqrt()
}

/// q_t·K_i / √d of every row that the head sees.
fn score<R: Real>(trace: &mut Trace<R>, head: usize, t: usize) {
    let head = &mut trace.heads[head];
    let (scale, to) = (scale(head), head.similarity.row_mut(t));
    let seen = head.mechanism.sees.count(t, to.len());
    let (to, unseen) = to.split_at_mut(seen);
    matrix::product_with_vector(head.of_score.at(3).rows_from(0), head.key.row(t), to);
    to.iter_mut().for_each(|x| *x *= scale);
    unseen.fill(R::ZERO);
}

/// r_t = Σ_i w_t(i)·V_i.
fn read<R: Real>(trace: &mut Trace<R>, head: usize, t: usize) {
    let head = &mut trace.heads[head];
    let weighting = head.weighting.row(t);
    let seen = head.mechanism.sees.count(t, weighting.len());
    let to = head.read.row_mut(t);
    to.fill(R::ZERO);
    matrix::add_vector_product(&weighting[..seen], head.of_score.at(4).rows_from(0), to);
}

/// The gradients of an episode.
struct Scratch<R> {
    /// w.r.t. the logits' input.
    seen: readout::Seen<R>,
    /// w.r.t. X of every layer and of the last one, [T, C].
    states: Vec<Series<R>>,
    /// Of every head.
    heads: Vec<OfHead<R>>,
}

/// The gradients of a head.
struct OfHead<R> {
    stages: [HeadGradient<R>; 1],
    /// w.r.t. r_t, and w.r.t. q_t, K_t and V_t, [T, d].
    read: Series<R>,
    projected: [Series<R>; 3],
    /// w.r.t. the products q_t·K_i, [T, T].
    products: Series<R>,
}

impl<R: Real> OfHead<R> {
    fn new(stages: HeadGradient<R>, head: &HeadTrace<R>) -> Self {
        let series = || Series::new(head.key.width());
        Self {
            stages: [stages],
            read: Series::new(head.read.width()),
            projected: [series(), series(), Series::new(head.read.width())],
            products: Series::new(head.weighting.width()),
        }
    }
}

impl<R: Real> Machine<R> for MultiHeadConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let parts = self.parts(params);
        // Steps may see later ones.
        for trace in traces.iter_mut().filter(|_| steps.start == 0) {
            parts.forward(trace);
            let (linear, steps) = (&params.linears[0], 0..trace.steps());
            readout::forward(linear, trace, steps, |trace| seen(trace, self.layers));
        }
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(Scratch::<R> {
            seen: readout::Seen::new(self.size, self.outputs),
            states: vec![Series::new(self.size); self.layers + 1],
            heads: Vec::new(),
        })
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let parts = self.parts(params);
        batch.each().for_each(|back| parts.backward(back));
        let all = batch.done::<Scratch<R>>();
        let top = all.clone();
        let top = top.map(|(trace, logit, _)| (seen(trace, self.layers), logit));
        gradient.linears[0].set_gradient(top);
        let tensors = &mut gradient.tensors;
        let embedded = all.clone();
        let embedded = embedded.map(|(trace, _, by)| (&trace.input, &by.states[0]));
        set_product_of_series(embedded, &mut tensors[0]);
        if self.positions == Positions::Learned {
            for (_, _, by) in all.clone() {
                let mut positions = tensors[1].view_mut();
                for t in 0..by.states[0].steps() {
                    add(positions.row_mut(t).iter_mut(), by.states[0].row(t));
                }
            }
        }
        for layer in 0..self.layers {
            let reads = all.clone();
            let reads =
                reads.map(|(trace, _, by)| (&trace.layers[layer].input, &by.states[layer + 1]));
            set_product_of_series(reads, &mut tensors[2 + layer]);
            for head in self.of_layer(layer) {
                for which in 0..3 {
                    let products = all.clone().map(|(trace, _, by)| {
                        (seen(trace, layer), &by.heads[head].projected[which])
                    });
                    let at = self.tensors_before_heads() + 3 * head + which;
                    set_product_of_series(products, &mut tensors[at]);
                }
            }
        }
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let rules = Rules::new(self, Order::ReadFirst, 0.0, conventions);
        let mut all = Vec::new();
        for layer in 0..self.layers {
            for index in self.of_layer(layer) {
                let place = Place::Head(index);
                let x = match layer.checked_sub(1) {
                    None => (Place::Machine, EMBEDDED),
                    Some(below) => (Place::Layer(below), array::HIDDEN),
                };
                let weights = [QUERY_WEIGHT, KEY_WEIGHT, VALUE_WEIGHT];
                let projections = Projection::ALL;
                all.extend(projections.into_iter().zip(weights).map(|(of, weight)| {
                    let work =
                        move |trace: &mut Trace<R>, t: usize| of.project(trace, (layer, index), t);
                    Dependency::new(place, of.array(), [x, (place, weight)], Size::Terms, work)
                }));
                let of = |array, needs: [Array; 2], work: fn(&mut Trace<R>, usize, usize)| {
                    let needs = needs.map(|array| (place, array));
                    let work = move |trace: &mut Trace<R>, t: usize| work(trace, index, t);
                    Dependency::new(place, array, needs, Size::Terms, work)
                };
                all.push(of(array::SIMILARITY, [array::KEY, ROW_KEY], score));
                all.extend(rules.stages(index));
                all.push(of(array::READ, [array::WEIGHTING, ROW_VALUE], read));
            }
        }
        let needs = [(Place::Machine, EMBEDDED)];
        all.push(Dependency::of_memory(needs, remember));
        all
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let parts = self.parts(params);
        let embed = move |trace: &mut Trace<R>, t: usize| parts.embed(trace, t);
        let mut all = vec![Dependency::with_weights(Place::Machine, EMBEDDED, embed)];
        let mut others = self.dependencies(Conventions::OWN).into_iter().peekable();
        for layer in 0..self.layers {
            let heads = self.of_layer(layer);
            while let Some(next) = others.next_if(|next: &Dependency<'_, R>| match next.place {
                Place::Head(head) => heads.contains(&head),
                _ => false,
            }) {
                all.push(next);
            }
            let state = move |trace: &mut Trace<R>, t: usize| parts.add_reads(trace, layer, t);
            all.push(Dependency::with_weights(
                Place::Layer(layer),
                array::HIDDEN,
                state,
            ));
        }
        all.extend(others);
        if self.causal == Switch::Off {
            let passes = all.iter_mut().enumerate();
            passes.for_each(|(pass, dependency)| dependency.pass = pass);
        }
        let top = self.layers - 1;
        let seen = move |trace: &mut Trace<R>, t: usize| trace.layers[top].hidden.row(t).to_vec();
        let last = all.len();
        let answer = readout::step(&params.linears[0], seen);
        all.extend(answer.map(|one| one.in_pass(last)));
        all
    }
}

impl<R: Real> Parts<'_, R> {
    /// Backpropagates through an episode, layer by layer from the last one.
    fn backward(self, (trace, by, scratch, mut recorder): EpisodeBack<'_, R, Scratch<R>>) {
        let (config, steps) = (self.config, trace.steps());
        let rows = trace.memory_size()[0];
        let is_of = |head: &OfHead<R>| head.products.width() == rows;
        if !scratch.heads.first().is_some_and(is_of) {
            let stages = HeadGradient::of_all(config, trace).into_iter();
            let heads = stages.zip(&trace.heads);
            scratch.heads = heads.map(|(of, head)| OfHead::new(of, head)).collect();
        }
        scratch
            .seen
            .backward(&self.params.linears[0].weight, &by.logit);
        scratch
            .states
            .iter_mut()
            .for_each(|states| states.resize(steps));
        for t in 0..steps {
            let from = scratch.seen.gradient.row(t);
            let to = scratch.states[config.layers].row_mut(t);
            to.copy_from_slice(&from[..to.len()]);
        }
        if let Some(to) = recorder.as_deref_mut() {
            to.record_logits(trace, by);
        }
        for layer in (0..config.layers).rev() {
            let (below, above) = scratch.states.split_at_mut(layer + 1);
            let (d_x, d_h) = (&mut below[layer], &above[0]);
            d_x.as_mut_slice().copy_from_slice(d_h.as_slice());
            let heads = &mut scratch.heads[config.of_layer(layer)];
            self.reads_backward(layer, d_h, heads);
            for (index, head) in config.of_layer(layer).zip(heads) {
                head.backward(trace, index, by, recorder.as_deref_mut());
                for (of, d) in Projection::ALL.into_iter().zip(&head.projected) {
                    of_projection(of.weight(&trace.heads[index]), d, d_x);
                }
            }
            if let Some(to) = recorder.as_deref_mut() {
                for t in (0..steps).rev() {
                    record(
                        &mut to.layers[layer].hidden,
                        &trace.layers[layer].hidden,
                        t,
                        d_h.row(t),
                    );
                }
            }
        }
        if let Some(to) = recorder {
            self.record_start(trace, scratch, to);
        }
    }

    /// The gradients w.r.t. the reads of a layer.
    fn reads_backward(self, layer: usize, d_h: &Series<R>, heads: &mut [OfHead<R>]) {
        let mut d_reads = vec![R::ZERO; self.config.heads * self.config.head_size];
        for head in &mut *heads {
            head.read.resize(d_h.steps());
        }
        for t in 0..d_h.steps() {
            matrix::product_with_vector(self.combine(layer), d_h.row(t), &mut d_reads);
            let parts = d_reads.chunks_exact(self.config.head_size);
            for (head, part) in heads.iter_mut().zip(parts) {
                head.read.row_mut(t).copy_from_slice(part);
            }
        }
    }

    /// Records the gradients w.r.t. X⁰, the input and the weights of the heads.
    fn record_start(self, trace: &Trace<R>, scratch: &Scratch<R>, to: &mut Trace<R>) {
        let embedding = self.params.tensors[0].rows_from(0);
        let mut d_input = vec![R::ZERO; self.config.inputs];
        for t in (0..trace.steps()).rev() {
            let d_x = scratch.states[0].row(t);
            to.record_array(trace, Place::Machine, EMBEDDED, t, d_x);
            matrix::product_with_vector(embedding, d_x, &mut d_input);
            record(&mut to.input, &trace.input, t, &d_input);
        }
        for (index, by) in scratch.heads.iter().enumerate() {
            let layer = index / self.config.heads;
            let weights = [QUERY_WEIGHT, KEY_WEIGHT, VALUE_WEIGHT];
            for (weight, d) in weights.into_iter().zip(&by.projected) {
                let mut product = Matrix::zeros(self.config.size, d.width());
                set_product_of_series([(seen(trace, layer), d)].into_iter(), &mut product);
                let flat: Vec<R> = product.view().iter().copied().collect();
                to.record_array(trace, Place::Head(index), weight, 0, &flat);
            }
        }
        to.record_no_initial(trace);
    }
}

/// Adds dy·Wᵀ of every step.
fn of_projection<R: Real>(weight: Rows<'_, R>, dy: &Series<R>, to: &mut Series<R>) {
    let mut dx = vec![R::ZERO; to.width()];
    for t in 0..dy.steps() {
        matrix::product_with_vector(weight, dy.row(t), &mut dx);
        add(to.row_mut(t), &dx);
    }
}

impl<R: Real> OfHead<R> {
    /// Backpropagates from the gradients w.r.t. the reads to those w.r.t. q, K and V.
    fn backward(
        &mut self,
        trace: &Trace<R>,
        index: usize,
        by: &Upstream<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let (head, steps) = (&trace.heads[index], trace.steps());
        let scale = scale(head);
        self.products.resize(steps);
        self.projected
            .iter_mut()
            .for_each(|series| series.resize(steps));
        self.stages[0].reset();
        for t in (0..steps).rev() {
            let seen = head.mechanism.sees.count(t, head.weighting.width());
            let gradient = &mut self.stages[0];
            gradient.weighting.fill(R::ZERO);
            let (values, d_read) = (head.of_score.at(4).rows_from(0), self.read.row(t));
            matrix::product_with_vector(values, d_read, &mut gradient.weighting[..seen]);
            let to = recorder.as_deref_mut();
            stages_backward(trace, index..index + 1, t, &mut self.stages, by, to);
            let d_products = self.products.row_mut(t);
            d_products.copy_from_slice(&self.stages[0].weighting);
            d_products.iter_mut().for_each(|d| *d *= scale);
            let d_query = self.projected[0].row_mut(t);
            d_query.fill(R::ZERO);
            matrix::add_vector_product(
                &d_products[..seen],
                head.of_score.at(3).rows_from(0),
                d_query,
            );
        }
        // Of a row, from all steps that see it.
        transposed(&self.products, &head.key, &mut self.projected[1]);
        transposed(&head.weighting, &self.read, &mut self.projected[2]);
        if let Some(to) = recorder {
            for t in (0..steps).rev() {
                record(&mut to.heads[index].read, &head.read, t, self.read.row(t));
                for (of, d) in Projection::ALL.into_iter().zip(&self.projected) {
                    to.record_array(trace, Place::Head(index), of.array(), t, d.row(t));
                }
            }
        }
    }
}

/// Σ_t w_tᵀ·y_t, [T, d].
fn transposed<R: Real>(w: &Series<R>, y: &Series<R>, to: &mut Series<R>) {
    let mut product = Matrix::zeros(w.width(), y.width());
    set_product_of_series([(w, y)].into_iter(), &mut product);
    for i in 0..to.steps() {
        to.row_mut(i).copy_from_slice(&product.row(i)[..y.width()]);
    }
}
