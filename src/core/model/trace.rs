//! The record of one episode, one array per quantity, time first. Back-propagation reads it from the end, the viewer
//! in any order, and the exporter unchanged.
//!
//! Every array is defined here once, as a field with its [`ArraySpec`]. Making room, counting bytes,
//! finding what is not finite, writing, reading, comparing, verifying, the schema, `docs/formats.md` and the
//! Python module follow from that; an array that a machine does not have is of width 0.

use ndarray::ArrayView2;

use super::attention::Mechanism;
use super::kind::AsKind;
use super::shape::Start;
use super::spec::{ArraySpec, Place, Range, head_name};
use crate::keys::Words;
use crate::math::{Real, Series};

/// Defines a struct of series, and the table of their entries.
macro_rules! arrays {
    ($(#[$attribute:meta])* pub struct $name:ident {
        $($(#[$doc:meta])* $field:ident: $spec:expr,)*
    } beside { $($(#[$other_doc:meta])* $other:ident: $type:ty,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name<R = f32> {
            $($(#[$doc])* pub $field: Series<R>,)*
            $($(#[$other_doc])* pub $other: $type,)*
        }

        impl<R: Real> $name<R> {
            /// The series, in order of computation.
            pub const ARRAYS: &'static [ArraySpec] = &[$($spec),*];

            fn with_widths(width: impl Fn(&ArraySpec) -> usize, $($other: $type),*) -> Self {
                Self { $($field: Series::new(width(&$spec)),)* $($other),* }
            }

            /// The series, each with its entry; those that this machine lacks have width 0.
            pub fn arrays(&self) -> impl Iterator<Item = (&'static ArraySpec, &Series<R>)> {
                Self::ARRAYS.iter().zip([$(&self.$field),*])
            }

            /// [`Self::arrays`], to write.
            pub fn arrays_mut(&mut self) -> impl Iterator<Item = (&'static ArraySpec, &mut Series<R>)> {
                Self::ARRAYS.iter().zip([$(&mut self.$field),*])
            }
        }
    };
}

use ArraySpec as Spec;
use Range::{Any, AtLeast, Distribution, Normal, Uniform, Within};

/// Weights: all that is learned but biases.
const LEARNED: Range = Range::Learned(Start::Glorot);

arrays! {
    /// Everything a machine computed in one episode. All series have one row per step, but where something else
    /// is said.
    ///
    /// Shapes: T steps, X inputs, Y outputs, N memory rows, M columns, C units per controller layer.
    pub struct Trace {
        /// Input x_t, [T, X].
        input: Spec::new("input", &["t", "x"], "x", Any, "from the task"),
        /// Output before the sigmoid, [T, Y].
        logit: Spec::new("logit", &["t", "y"], "z", Any, "W·[h; r] + b, the output before σ"),
        /// Output y_t in (0, 1), [T, Y].
        output: Spec::new("output", &["t", "y"], "y", Within(0.0, 1.0), "σ of the logit: the probability of a 1"),
        /// Memory, [T+1, M·N], column after column; [`Trace::memory`] shows it as rows. When `memory_every` is
        /// more than 1, only some of it; see there.
        memory_columns: Spec::new(
            "memory", &["t+1", "n", "m"], "M", Any,
            "M_{t−1} ∘ Π (1 − w·eᵀ) + Σ w·aᵀ over the write heads (3, 4): all erases, then all adds; a head without `erase` has the factor 1. Written up to a million values, or with `--full-memory`",
        ),
        /// Pre-activations of all heads, [T, P and padding].
        raw: Spec::scratch("raw"),
        /// The input of the output layer: [h_t; r_t of every read head], [T, C + R·M].
        features: Spec::scratch("features"),
        /// sqrt(|M_{t−1}(i)|² + ε), the norms of the cosine, [T, N]; where memory is not kept every step,
        /// [1, N], of the last step.
        norms: Spec::scratch("norms"),
    } beside {
        /// The controller, bottom layer first.
        layers: Vec<LayerTrace<R>>,
        /// Read heads, then write heads.
        heads: Vec<HeadTrace<R>>,
        /// The noise mode.
        sampling: NoiseMode,
        /// 1: every M_t is kept. k > 1, for training large memories: rows 0, 1, … of `memory_columns` are M_0,
        /// M_k, M_2k, …, followed by two rows in turn for what lies between; back-propagation writes those
        /// again, from what the heads wrote, to the same bits.
        memory_every: usize,
    }
}

arrays! {
    /// One controller layer.
    pub struct LayerTrace {
        /// The input of the layer, [T, inputs].
        input: Spec::scratch("controller.input"),
        /// LSTM: the activated gates i, f, g, o, [T, 4C and padding].
        gates: Spec::scratch("controller.gates"),
        /// LSTM cell c_t, [T, C].
        cell: Spec::new("controller.cell", &["t", "l", "c"], "c", Any, "LSTM: σ(z_f) ∘ c_{t−1} + σ(z_i) ∘ tanh(z_g)"),
        /// tanh(c_t), [T, C].
        cell_tanh: Spec::scratch("controller.cell_tanh"),
        /// Hidden state h_t, [T, C].
        hidden: Spec::new(
            "controller.hidden", &["t", "l", "c"], "h", Any,
            "σ(z_o) ∘ tanh(c); feedforward controller: tanh(z). z = W·u + b, where u is the input of the layer",
        ),
    } beside {}
}

arrays! {
    /// One head: the parameters it emitted and every stage of the addressing they drove.
    pub struct HeadTrace {
        /// The weighting before the first step, [1, N].
        initial: Spec::new(
            "initial", &["n"], "w_0", Distribution,
            "w before the first step: all on row 0, or the softmax of learned logits; may be all 0 in traces of other programs",
        ),
        /// Uniform noise of a Weibull head, [T, N].
        noise: Spec::new("noise", &["t", "n"], "u", Uniform, "sampled from the stream of seed, episode and sample; the paper's heads use no noise"),
        /// Uniform noise of a hard head, [T, 1].
        draw: Spec::new("draw", &["t"], "u", Uniform, "sampled from the stream of seed, episode and sample"),
        /// Normal noise of a lognormal head, [T, N].
        normal: Spec::new("normal", &["t", "n"], "ε", Normal, "sampled from the stream of seed, episode and sample"),
        /// Additive score: W of the key, [M, A].
        additive_key: Spec::new("additive_key", &["m", "a"], "W_k", LEARNED, "learned; additive score vᵀ·tanh(W_kᵀ·k + W_Mᵀ·M(i)) (Bahdanau 2015)"),
        /// Additive score: W of the memory row, [M, A].
        additive_row: Spec::new("additive_row", &["m", "a"], "W_M", LEARNED, "learned; additive score"),
        /// Additive score: v, [A].
        additive_vector: Spec::new("additive_vector", &["a"], "v", LEARNED, "learned; additive score"),
        /// General score: W, [M, M].
        bilinear: Spec::new("bilinear", &["m", "m"], "W", LEARNED, "learned; general score kᵀ·W·M(i) (Luong 2015)"),
        /// Location-base score: W, [M, N].
        location: Spec::new("location", &["m", "n"], "W", LEARNED, "learned; location-based score (kᵀ·W)(i) (Luong 2015)"),
        /// Local attention: W of the centre, [M, P].
        position_weight: Spec::new("position_weight", &["m", "p"], "W_p", LEARNED, "learned; window centre N·σ(v_pᵀ·tanh(W_pᵀ·k)) (Luong 2015)"),
        /// Local attention: v of the centre, [P].
        position_vector: Spec::new("position_vector", &["p"], "v_p", LEARNED, "learned; window centre"),
        /// Bayesian attention: W of the prior, [M, H].
        prior_weight: Spec::new("prior_weight", &["m", "h"], "W_π", LEARNED, "learned; prior: z = h_π·f(W_πᵀ·M(i) + b_π), where f is the identity, or a ReLU in the form `code` (Fan et al. 2020)"),
        /// Bayesian attention: b of the prior, [H].
        prior_bias: Spec::new("prior_bias", &["h"], "b_π", Range::Learned(Start::Zero), "learned; prior"),
        /// Bayesian attention: h of the prior, [H].
        prior_vector: Spec::new("prior_vector", &["h"], "h_π", LEARNED, "learned; prior"),
        /// Key k_t, [T, M].
        key: Spec::new("key", &["t", "m"], "k", Any, "`key_activation` of the head's columns of W·h + b; −1 to 1 with `tanh`"),
        /// Key strength β_t ≥ 0, [T, 1].
        strength: Spec::new("strength", &["t"], "β", AtLeast(0.0), "softplus"),
        /// Interpolation gate g_t in (0, 1), [T, 1].
        gate: Spec::new("gate", &["t"], "g", Within(0.0, 1.0), "σ"),
        /// Shift weighting s_t, [T, 2k+1]: index j moves the focus by j − k rows.
        shift: Spec::new(
            "shift", &["t", "s"], "s", Distribution,
            "softmax, or two neighbouring offsets in the scalar form; column j moves the focus by `shifts[j]` rows",
        ),
        /// Sharpening γ_t ≥ 1, [T, 1].
        sharpening: Spec::new("sharpening", &["t"], "γ", AtLeast(1.0), "1 + softplus"),
        /// The transformed key of the score, the same for all rows: kᵀ·W (general score), W_kᵀ·k (additive score).
        query: Spec::scratch("query"),
        /// The units of an additive score for every row, for the backward pass: kept if every M_t is kept and if they
        /// are no more than the columns of the memory, [T, A·N].
        units: Spec::scratch("units"),
        /// Scratch of the layers over the memory rows.
        layer: Spec::scratch("layer"),
        /// Score of the key with every row of the memory that the head sees, [T, N]; of the cosine in [−1, 1].
        similarity: Spec::new(
            "similarity", &["t", "n"], "K", Any,
            "score of k and every memory row (6), see below; −1 to 1 for a cosine",
        ),
        /// Centre p of the window of a local head, in rows, [T, 1].
        centre: Spec::new("centre", &["t"], "p", AtLeast(0.0), "min(t, N − 1), or N·σ(v_pᵀ·tanh(W_pᵀ·k)) (Luong 2015)"),
        /// Mean m of the prior of a Bayesian head, [T, N].
        prior: Spec::new("prior", &["t", "n"], "m", AtLeast(0.0), "exp(softmax(z)), or softmax(z) in the form `code`; softmax over the rows (Fan et al. 2020)"),
        /// Kullback-Leibler divergence of a Bayesian head from its prior, nats, summed over the rows, [T, 1].
        divergence: Spec::new("divergence", &["t"], "KL", Any, "Σ_i KL divergence of the weight of row i from its prior, nats (Fan et al. 2020)"),
        /// Content weighting w^c, [T, N].
        content: Spec::new(
            "content", &["t", "n"], "w^c", Within(0.0, 1.0),
            "softmax over the rows of β·K (5); local head: over the window, with `local-predictive` times a Gaussian; Bayesian head: softmax of β·K + ln(−ln(1 − u))/k or β·K + σ·ε",
        ),
        /// Gated weighting w^g, [T, N].
        gated: Spec::new("gated", &["t", "n"], "w^g", Within(0.0, 1.0), "g·w^c + (1 − g)·w_{t−1} (7)"),
        /// Shifted weighting w̃, [T, N].
        shifted: Spec::new("shifted", &["t", "n"], "w̃", Within(0.0, 1.0), "w̃(i) = Σ_j w^g(i − j)·s(j), rows modulo N (8)"),
        /// The distribution from which a hard head samples its row, [T, N].
        distribution: Spec::new("distribution", &["t", "n"], "α", Distribution, "weighting that a soft head would have; the row is selected from it (Xu 2015)"),
        /// Final weighting w, [T, N].
        weighting: Spec::new("weighting", &["t", "n"], "w", Within(0.0, 1.0), "w̃(i)^γ / Σ_j w̃(j)^γ (9), or the result of the last stage that is on; hard head: 1 in one row, selected from α as `sampling` says"),
        /// The read vector of a read head, r_t = Σ w(i)·M_{t−1}(i), [T, M].
        read: Spec::new("read", &["t", "m"], "r", Any, "Σ_i w(i)·M(i) (2)"),
        /// Erase e_t of a write head, in (0, 1), [T, M]; nothing of one that erases nothing.
        erase: Spec::new("erase", &["t", "m"], "e", Within(0.0, 1.0), "σ (3)"),
        /// Add a_t of a write head, [T, M].
        add: Spec::new("add", &["t", "m"], "a", Any, "`add_activation` (4); −1 to 1 with `tanh`"),
    } beside {
        /// The mechanism of the head.
        mechanism: Mechanism,
    }
}

/// Makes a struct with a gradient for each of these arrays of a head.
macro_rules! learned {
    ($($field:ident)*) => {
        /// The gradients w.r.t. the weights of a head's mechanism, each flat as in [`HeadTrace`].
        #[derive(Clone, Debug)]
        pub struct LearnedGradient<R> {
            $(#[doc = concat!("By ", stringify!($field), ".")] pub $field: Vec<R>,)*
        }

        impl<R: Real> LearnedGradient<R> {
            /// All zero, of these widths.
            pub fn with_widths(width: impl Fn(&str) -> usize) -> Self {
                Self { $($field: vec![R::ZERO; width(stringify!($field))],)* }
            }

            /// Each of them, in the order of the arrays.
            pub fn each_mut(&mut self) -> impl Iterator<Item = &mut Vec<R>> {
                [$(&mut self.$field),*].into_iter()
            }
        }
    };
}

learned!(additive_key additive_row additive_vector bilinear location position_weight position_vector
    prior_weight prior_bias prior_vector);

/// The noise mode of an episode, if heads sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoiseMode {
    /// No noise: a hard head takes its most likely row, a Bayesian one the means of its weights.
    #[default]
    Mean,
    /// The noise is used.
    Sampled,
    /// A Bayesian head uses it; a hard head attends to all rows, as likely as they are: half of the episodes it learns
    /// from are like that (Xu 2015, §4.1).
    Expected,
}

impl Words for NoiseMode {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("mean", Self::Mean),
        ("drawn", Self::Sampled),
        ("expected", Self::Expected),
    ];
}

impl<R: Real> Trace<R> {
    /// An empty trace for machines of this configuration.
    pub fn new(kind: &impl AsKind) -> Self {
        let config = kind.kind();
        let at = |place| move |spec: &ArraySpec| config.width(place, spec);
        let layers = 0..config.layers();
        let heads = 0..config.heads();
        let layers = layers.map(|index| LayerTrace::with_widths(at(Place::Layer(index))));
        let heads = heads
            .map(|index| HeadTrace::with_widths(at(Place::Head(index)), config.mechanism(index)));
        let (layers, heads) = (layers.collect(), heads.collect());
        Self::with_widths(at(Place::Machine), layers, heads, NoiseMode::Mean, 1)
    }

    /// Every series, with its place and entry.
    pub fn everything(&self) -> impl Iterator<Item = (Place, &'static ArraySpec, &Series<R>)> {
        let at = |place| move |(spec, series)| (place, spec, series);
        let layers = self.layers.iter().enumerate();
        let heads = self.heads.iter().enumerate();
        self.arrays()
            .map(at(Place::Machine))
            .chain(
                layers.flat_map(move |(index, layer)| layer.arrays().map(at(Place::Layer(index)))),
            )
            .chain(heads.flat_map(move |(index, head)| head.arrays().map(at(Place::Head(index)))))
    }

    /// The series in files that have values for every step, in the order of the computation: the controller, the
    /// parameters of the heads, their stages, which have a value per row, the reads, the memory, the answer.
    pub fn of_steps(&self) -> Vec<(Place, &'static ArraySpec, &Series<R>)> {
        let turn = |place, spec: &ArraySpec| match (place, spec.name) {
            (Place::Layer(_), _) => 0,
            (Place::Head(_), "read") => 3,
            (Place::Head(_), _) if spec.dims.contains(&"n") => 2,
            (Place::Head(_), _) => 1,
            (Place::Machine, "memory") => 4,
            (Place::Machine, _) => 5,
        };
        let all = self.everything().filter(|(_, spec, series)| {
            spec.is_in_files() && spec.dims[0].starts_with('t') && series.width() > 0
        });
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(place, spec, _)| turn(*place, spec));
        all
    }

    /// Returns the series of this name; `None` where the machine lacks it.
    pub fn series(&self, place: Place, array: &str) -> Option<&Series<R>> {
        let found = self
            .everything()
            .find(|(at, spec, _)| *at == place && spec.name == array);
        found
            .map(|(.., series)| series)
            .filter(|series| series.width() > 0)
    }

    /// [`Trace::series`], to write.
    pub fn series_mut(&mut self, place: Place, array: &str) -> Option<&mut Series<R>> {
        let is_it = |(spec, _): &(&ArraySpec, &mut Series<R>)| spec.name == array;
        let found = match place {
            Place::Machine => self.arrays_mut().find(is_it),
            Place::Layer(index) => self.layers.get_mut(index)?.arrays_mut().find(is_it),
            Place::Head(index) => self.heads.get_mut(index)?.arrays_mut().find(is_it),
        };
        found
            .map(|(_, series)| series)
            .filter(|series| series.width() > 0)
    }

    /// Bytes of a trace with room for an episode of `steps` steps, as [`Trace::resize_for_training`] makes
    /// it; with no limit on the values of memory, as [`Trace::resize`] does.
    pub fn bytes(kind: &impl AsKind, steps: usize, limit: usize) -> u64 {
        let trace = Self::new(kind);
        let every = Self::memory_every_for(trace.memory_columns.width(), steps, limit);
        let of = |(_, spec, series): (Place, &ArraySpec, &Series<R>)| {
            (series.width() as u64).saturating_mul(rows(spec, steps, every) as u64)
        };
        let values = trace.everything().map(of).fold(0, u64::saturating_add);
        values.saturating_mul(size_of::<R>() as u64)
    }

    /// Makes room for an episode of `steps` steps that will be differentiated, not shown: when all M_t
    /// together would take more than `limit` values, only about √T of them are kept.
    pub fn resize_for_training(&mut self, steps: usize, limit: usize) {
        self.memory_every = Self::memory_every_for(self.memory_columns.width(), steps, limit);
        self.resize(steps);
    }

    /// Makes room for `steps` steps; allocates only when no earlier episode was as long.
    pub fn resize(&mut self, steps: usize) {
        let every = self.memory_every;
        self.each_mut(|spec, series| {
            if series.width() > 0 {
                series.resize(rows(spec, steps, every));
            }
        });
    }

    /// Hands every series to `visit`, in the order of [`Trace::everything`].
    pub(super) fn each_mut(&mut self, mut visit: impl FnMut(&ArraySpec, &mut Series<R>)) {
        self.arrays_mut()
            .for_each(|(spec, series)| visit(spec, series));
        let layers = self.layers.iter_mut().flat_map(LayerTrace::arrays_mut);
        let heads = self.heads.iter_mut().flat_map(HeadTrace::arrays_mut);
        for (spec, series) in layers.chain(heads) {
            visit(spec, series);
        }
    }

    /// The number of steps between two kept memories of `values` values each.
    pub(crate) fn memory_every_for(values: usize, steps: usize, limit: usize) -> usize {
        let memories = steps.saturating_add(1);
        if memories.saturating_mul(values) <= limit {
            1
        } else {
            memories.isqrt() + 1
        }
    }

    /// Every number of the trace, in no particular order.
    #[cfg(test)]
    pub(crate) fn values(&self) -> impl Iterator<Item = R> {
        self.everything()
            .flat_map(|(_, _, series)| series.as_slice())
            .copied()
    }

    /// The first array with a value that is not finite, by its name in files, and the step; in the order of the
    /// computation.
    pub fn first_not_finite(&self) -> Option<(String, usize)> {
        let all = self.of_steps();
        (0..self.steps()).find_map(|t| {
            let broken = all.iter().find(|(_, spec, series)| {
                let is_memory = spec.name == "memory";
                // The memory of a step is the one after it.
                let row = t + usize::from(is_memory);
                let is_there = !is_memory || self.memory_every == 1;
                is_there && series.row(row).iter().any(|value| !value.is_finite())
            });
            broken.map(|(place, spec, _)| (self.array_name(*place, spec), t))
        })
    }

    /// The name of an array in files.
    pub fn array_name(&self, place: Place, spec: &ArraySpec) -> String {
        match place {
            Place::Head(index) => format!("{}.{}", self.head_name(index), spec.name),
            Place::Machine | Place::Layer(_) => spec.name.to_owned(),
        }
    }

    /// The row of `memory_columns` that holds M_t, or held it last.
    pub(super) fn memory_row(&self, t: usize) -> usize {
        match self.memory_every {
            1 => t,
            every if t.is_multiple_of(every) => t / every,
            every => self.steps() / every + 1 + t % 2,
        }
    }

    /// The row of `norms` that holds those of step `t`.
    pub(super) fn norms_row(&self, t: usize) -> usize {
        if self.memory_every == 1 { t } else { 0 }
    }

    /// `read0`, `read1`, …, `write0`, …, as [`head_name`].
    pub fn head_name(&self, head: usize) -> String {
        head_name(self.heads.partition_point(|head| !head.is_write()), head)
    }

    /// Steps of the recorded episode, T.
    pub fn steps(&self) -> usize {
        self.input.steps()
    }

    /// M_t, [N, M]: the memory after `t` steps, so 0 is the memory before the first one.
    ///
    /// # Panics
    /// When not every M_t was kept; see [`Trace::memory_every`].
    pub fn memory(&self, t: usize) -> ArrayView2<'_, R> {
        assert_eq!(self.memory_every, 1, "only some memories were kept");
        let [rows, columns] = self.memory_size();
        ArrayView2::from_shape((columns, rows), self.memory_columns.row(t))
            .expect("a memory has rows * columns values")
            .reversed_axes()
    }

    /// [N, M]; zeros where there is no memory.
    pub fn memory_size(&self) -> [usize; 2] {
        let (values, rows) = (self.memory_columns.width(), self.norms.width());
        [rows, values.checked_div(rows).unwrap_or(0)]
    }
}

/// The number of rows of a series for `steps` steps.
fn rows(spec: &ArraySpec, steps: usize, every: usize) -> usize {
    match (spec.name, every) {
        ("memory", 1) => steps.saturating_add(1),
        // Those that are kept, M_0 among them, and two for what lies between.
        ("memory", every) => steps / every + 3,
        ("norms", 2..) | ("layer", _) => 1,
        ("units", 2..) => 0,
        _ if spec.is_in_files() && spec.dims[0] != "t" => 1,
        _ => steps,
    }
}

impl<R: Real> HeadTrace<R> {
    /// Every number of this head, in no particular order.
    pub fn values(&self) -> impl Iterator<Item = R> {
        self.arrays()
            .flat_map(|(_, series)| series.as_slice())
            .copied()
    }

    /// Allocates the scratch of a score or a prior in step `t`.
    pub(super) fn make_room_to_score(&mut self, t: usize) {
        self.query.resize(self.query.steps().max(t + 1));
        self.layer.resize(1);
    }

    /// The key of step `t`, to read, and the row for its similarities, to write.
    pub(super) fn key_and_similarity(&mut self, t: usize) -> (&[R], &mut [R]) {
        (self.key.row(t), self.similarity.row_mut(t))
    }

    /// Returns the learned parameters of the mechanism, each as one row.
    pub(super) fn learned_mut(&mut self) -> impl Iterator<Item = &mut Series<R>> {
        let is_there =
            |(spec, series): &(&ArraySpec, &mut Series<R>)| series.width() > 0 && spec.is_learned();
        let all = self.arrays_mut().filter(is_there);
        all.map(|(_, series)| series)
    }

    /// True for a write head.
    pub fn is_write(&self) -> bool {
        self.add.width() > 0
    }

    /// w_{t−1}: the weighting of the step before `t`, or the initial one.
    pub fn previous_weighting(&self, t: usize) -> &[R] {
        if t == 0 {
            self.initial.row(0)
        } else {
            self.weighting.row(t - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::{ControllerKind, NtmConfig};

    #[test]
    fn bytes_are_those_of_the_arrays() {
        let mut config = NtmConfig::new(3, 2);
        (config.rows, config.columns, config.write_heads) = (40, 6, 2);
        (config.controller.layers, config.shift_range) = (2, 2);
        for kind in [ControllerKind::Lstm, ControllerKind::Feedforward] {
            config.controller.kind = kind;
            for (steps, limit) in [
                (0, usize::MAX),
                (9, usize::MAX),
                (9, 2400),
                (9, 2399),
                (99, 0),
            ] {
                let mut trace = Trace::<f32>::new(&config);
                trace.resize_for_training(steps, limit);
                let held = trace.values().count() * size_of::<f32>();
                assert_eq!(Trace::<f32>::bytes(&config, steps, limit), held as u64);
            }
        }
        let all = Trace::<f32>::bytes(&config, 99, usize::MAX);
        assert!(Trace::<f32>::bytes(&config, 99, 0) < all);
        assert_eq!(Trace::<f64>::bytes(&config, 99, usize::MAX), 2 * all);
    }

    #[test]
    #[should_panic(expected = "only some memories were kept")]
    fn a_memory_that_was_not_kept_is_not_shown() {
        let mut trace = Trace::<f32>::new(&NtmConfig::new(3, 2));
        trace.resize_for_training(50, 0);
        let _ = trace.memory(49);
    }
}
