//! The record of one episode, one array per quantity, time first. Back-propagation reads it from the end, the viewer
//! in any order, and the exporter unchanged.
//!
//! Every array is defined here once, as a field with its [`ArraySpec`]. Making room, counting bytes,
//! finding what is not finite, writing, reading, comparing, verifying, the schema, `docs/formats/traces.md` and the
//! Python module follow from that; an array that a machine does not have is of width 0.

use std::collections::VecDeque;
use std::fmt;

use ndarray::ArrayView2;

use super::attention::Mechanism;
use super::episode_input::Setting;
use super::kind::{AsKind, Kind};
use super::slots::Slots;
use super::sparse::SparseMemory;
use super::spec::{Array, ArraySpec, Place, Range, Retention, array_name, head_name};
use super::tape::{FileWords, Tape};
use crate::keys::Words;
use crate::math::{Matrix, Real, Series};

/// Defines a struct of series, and the table of their entries.
macro_rules! arrays {
    ($(#[$attribute:meta])* pub struct $name:ident in $module:ident {
        $($(#[$doc:meta])* $field:ident: $spec:expr,)*
    } beside { $($(#[$other_doc:meta])* $other:ident: $type:ty,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name<R = f32> {
            $($(#[$doc])* pub $field: Series<R>,)*
            $($(#[$other_doc])* pub $other: $type,)*
        }

        #[doc = concat!("The arrays of a [`", stringify!($name), "`].")]
        pub mod $module {
            use crate::model::trace::*;

            pastey::paste! {
                $($(#[$doc])* pub const [<$field:upper>]: Array = &$spec;)*
                pub(in crate::model) const ALL: &[Array] = &[$([<$field:upper>]),*];
            }
        }

        impl<R: Real> $name<R> {
            #[allow(clippy::too_many_arguments, reason = "a field each")]
            fn with_widths(width: impl Fn(Array) -> usize, $($other: $type),*) -> Self {
                pastey::paste! {
                    Self { $($field: Series::new(width($module::[<$field:upper>])),)* $($other),* }
                }
            }

            /// The fields that are series, each with its entry; those that this machine lacks have width 0.
            fn fields(&self) -> impl Iterator<Item = (Array, &Series<R>)> {
                $module::ALL.iter().copied().zip([$(&self.$field),*])
            }

            /// [`Self::fields`], to write, and what stands beside them.
            fn split_mut(
                &mut self,
            ) -> (impl Iterator<Item = (Array, &mut Series<R>)>, ($(&mut $type,)*)) {
                let fields = $module::ALL.iter().copied().zip([$(&mut self.$field),*]);
                (fields, ($(&mut self.$other,)*))
            }
        }
    };
}

/// Traces of episodes of other lengths that ran before, the last one last; no part of the episode.
pub struct Others<R>(VecDeque<Trace<R>>);

impl<R> Clone for Others<R> {
    fn clone(&self) -> Self {
        Self(VecDeque::new())
    }
}

impl<R> PartialEq for Others<R> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<R> fmt::Debug for Others<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} others", self.0.len())
    }
}

use ArraySpec as Spec;
use Range::{Any, AtLeast, Distribution, Within};

arrays! {
    /// Everything a machine computed in one episode. All series have one row per step, but where something else
    /// is said.
    ///
    /// Shapes: T steps, X inputs, Y outputs, N memory rows, M columns, C units per controller layer.
    pub struct Trace in of_machines {
        /// Input x_t, [T, X].
        input: Spec::new("input", &["t", "x"], "x", Any, "from the task"),
        /// Output before the sigmoid, [T, Y].
        logit: Spec::new("logit", &["t", "y"], "z", Any, "W·[h; r] + b, the output before σ"),
        /// Output y_t in (0, 1), [T, Y].
        output: Spec::new("output", &["t", "y"], "y", Within(0.0, 1.0), "σ of the logit: the probability of a 1; of values the logit itself, any number"),
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
        norms: Spec::scratch("norms").retention(Retention::LastWithMemory),
    } beside {
        /// The controller, bottom layer first.
        layers: Vec<LayerTrace<R>>,
        /// Read heads, then write heads.
        heads: Vec<HeadTrace<R>>,
        /// The noise mode.
        sampling: NoiseMode,
        /// How the episode is run.
        setting: Setting,
        /// The arrays that only this kind of machine has.
        kind_arrays: Slots<R>,
        /// The memory as it is now, where an episode changes few of its rows.
        sparse: SparseMemory<R>,
        /// What a machine file has run in.
        tape: Tape<R>,
        /// Traces of a machine file for other lengths.
        others: Others<R>,
        /// 1: every M_t is kept. `LAST_MEMORY` and `ONLY_LAST_MEMORY`, for training with a memory of which no row
        /// changes: only the last one. k > 1, for training large memories: rows 0, 1, … of `memory_columns` are M_0,
        /// M_k, M_2k, …, followed by two rows in turn for what lies between; back-propagation writes those
        /// again, from what the heads wrote, to the same bits. More than there are steps, for evaluation: M_0 and the
        /// last two.
        memory_every: usize,
    }
}

arrays! {
    /// One controller layer.
    pub struct LayerTrace in of_layers {
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
    pub struct HeadTrace in of_heads {
        /// The weighting before the first step, [1, N].
        initial: Spec::new(
            "initial", &["n"], "w_0", Distribution,
            "w before the first step: all on row 0, or the softmax of learned logits; may be all 0 in traces of other programs",
        ),
        /// Key k_t, [T, M].
        key: Spec::new("key", &["t", "k"], "k", Any, "`key_activation` of the head's columns of W·h + b; −1 to 1 with `tanh`"),
        /// Key strength β_t ≥ 0, [T, 1].
        strength: Spec::new("strength", &["t"], "β", AtLeast(0.0), "softplus"),
        /// Interpolation gate g_t in (0, 1), [T, 1].
        gate: Spec::new("gate", &["t"], "g", Within(0.0, 1.0), "σ"),
        /// Shift weighting s_t, [T, 2k+1]: index j moves the focus by j − k rows.
        shift: Spec::new(
            "shift", &["t", "s"], "s", Distribution,
            "softmax, or two neighbouring offsets in the scalar form; column j moves the focus by j − k rows",
        ),
        /// Sharpening γ_t ≥ 1, [T, 1].
        sharpening: Spec::new("sharpening", &["t"], "γ", AtLeast(1.0), "1 + softplus"),
        /// Score of the key with every row of the memory that the head sees, [T, N]; of the cosine in [−1, 1].
        similarity: Spec::new(
            "similarity", &["t", "n"], "K", Any,
            "score of k and every memory row (6), see below; −1 to 1 for a cosine",
        ),
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
        /// The read vector of a read head, r_t = Σ w(i)·M_{t−1}(i), [T, M]; of multi-head attention a sum of projected rows.
        read: Spec::new("read", &["t", "r"], "r", Any, "Σ_i w(i)·M(i) (2); of multi-head attention Σ_i w(i)·V_i"),
        /// Erase e_t of a write head, in (0, 1), [T, M]; nothing of one that erases nothing.
        erase: Spec::new("erase", &["t", "m"], "e", Within(0.0, 1.0), "σ (3)"),
        /// Add a_t of a write head, [T, M].
        add: Spec::new("add", &["t", "m"], "a", Any, "`add_activation` (4); −1 to 1 with `tanh`"),
    } beside {
        /// The arrays of the score.
        of_score: Slots<R>,
        /// The arrays of the form in which scores become a weighting.
        of_weighting: Slots<R>,
        /// The mechanism of the head.
        mechanism: Mechanism,
        /// The first step in which it attends.
        first_step: usize,
        /// The place in [`Trace::heads`].
        index: usize,
    }
}

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

/// The part of an episode that a trace keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Everything.
    All,
    /// The tape of back-propagation, with at most this number of values of memory where that is possible.
    Tape(usize),
    /// The answers, and the last rows of arrays that later steps do not need ([`Kind::needs_only_last_step`]): at least
    /// two, at most about this number of values.
    Answers(usize),
}

/// Steps at a time in which inputs and outputs of a controller are computed, a multiple of
/// [`TOGETHER`](super::machine::TOGETHER).
pub(super) const BLOCK: usize = 64;

/// Values of memory that the tape of an episode that is learned from keeps whole (64 MiB of f32); beyond it keeps some and
/// writes the others again.
pub const TAPE_LIMIT: usize = 1 << 24;

/// Traces of other sizes that a trace keeps, and the most numbers of one of them.
const MOST_OTHERS: usize = 32;
const MOST_TO_KEEP: usize = 1 << 16;

/// [`Trace::memory_every`] of a trace that keeps only the last memory.
pub(super) const LAST_MEMORY: usize = 0;
/// [`Trace::memory_every`] of a trace that keeps the last memory, and no other array as large as all of them.
pub(super) const ONLY_LAST_MEMORY: usize = usize::MAX;

impl<R: Real> Trace<R> {
    /// An empty trace for machines of this configuration.
    pub fn new(kind: &impl AsKind) -> Self {
        Self::of(kind.kind())
    }

    pub(super) fn of(config: &dyn Kind) -> Self {
        let at = |place| move |array: Array| config.width(place, array);
        let layers = (0..config.sizes().layers)
            .map(|index| LayerTrace::with_widths(at(Place::Layer(index))))
            .collect();
        let head = |index| {
            let width = at(Place::Head(index));
            let [of_score, of_weighting] = config
                .head_arrays(index)
                .map(|arrays| Slots::new(arrays, width));
            HeadTrace::with_widths(
                width,
                of_score,
                of_weighting,
                config.mechanism(index),
                config.first_step(),
                index,
            )
        };
        let heads = (0..config.heads()).map(head).collect();
        let kind_arrays = Slots::of_sizes(config.arrays(), at(Place::Machine), |array| {
            config.array_sizes(array)
        });
        let (sampling, setting) = (NoiseMode::Mean, Setting::default());
        let sparse = SparseMemory::default();
        let mut tape = Tape::default();
        tape.is_used = config.is_recorded_apart();
        tape.has_feedback = config.has_feedback();
        let reader = config.reader();
        tape.reader = reader.and_then(|reader| kind_arrays.place(reader));
        tape.words = config.file_words();
        let machine = at(Place::Machine);
        Self::with_widths(
            machine,
            layers,
            heads,
            sampling,
            setting,
            kind_arrays,
            sparse,
            tape,
            Others(VecDeque::new()),
            1,
        )
    }

    /// An empty trace for an episode with this many steps, `source` of them before the answer.
    pub fn of_episode(kind: &impl AsKind, steps: usize, source: usize) -> Self {
        let kind = kind.kind();
        let of_rows = kind.of_episode(steps, source);
        let source = kind.episode_rows(steps, source);
        let mut trace = Self::of(of_rows.as_deref().unwrap_or(kind));
        trace.setting.source = source;
        trace.tape.sizes = [steps, source];
        trace
    }

    /// Becomes a trace for an episode of other sizes: one that it was before, or an empty one.
    pub(super) fn become_other(&mut self, kind: &impl AsKind, [steps, source]: [usize; 2]) {
        let mut others = std::mem::take(&mut self.others.0);
        let known = others
            .iter()
            .position(|own| own.tape.sizes == [steps, source]);
        let known = known.and_then(|known| others.swap_remove_back(known));
        let other = known.unwrap_or_else(|| Self::of_episode(kind, steps, source));
        let before = std::mem::replace(self, other);
        let values = before
            .everything()
            .map(|(.., series)| series.as_slice().len());
        if before.tape.is_used && values.sum::<usize>() < MOST_TO_KEEP {
            others.push_back(before);
        }
        if others.len() > MOST_OTHERS {
            others.pop_front();
        }
        self.others.0 = others;
    }

    /// An empty trace for a recording of an episode. `rows` matters only for a machine that does not show all of its memory
    /// rows: it is the number shown, and without it the largest possible number.
    pub fn of_recording(
        kind: &impl AsKind,
        [steps, source]: [usize; 2],
        rows: Option<usize>,
    ) -> Self {
        match kind.kind().showing(steps, rows) {
            Some(kind) => Self::of_episode(&kind, steps, source),
            None => Self::of_episode(kind, steps, source),
        }
    }

    /// Every series, with its place and entry.
    pub fn everything(&self) -> impl Iterator<Item = (Place, Array, &Series<R>)> {
        let at = |place| move |(array, series)| (place, array, series);
        let layers = self.layers.iter().enumerate();
        let layers =
            layers.flat_map(move |(index, layer)| layer.fields().map(at(Place::Layer(index))));
        let heads = self.heads.iter().enumerate();
        let heads = heads.flat_map(move |(index, head)| head.arrays().map(at(Place::Head(index))));
        let own = self.fields().chain(self.kind_arrays.arrays());
        own.map(at(Place::Machine)).chain(layers).chain(heads)
    }

    /// [`Trace::everything`], to write.
    pub(super) fn everything_mut(
        &mut self,
    ) -> impl Iterator<Item = (Place, Array, &mut Series<R>)> {
        let at = |place| move |(array, series)| (place, array, series);
        let (fields, (layers, heads, _, _, kind_arrays, ..)) = self.split_mut();
        let layers = layers.iter_mut().enumerate();
        let layers =
            layers.flat_map(move |(index, layer)| layer.split_mut().0.map(at(Place::Layer(index))));
        let heads = heads.iter_mut().enumerate();
        let heads =
            heads.flat_map(move |(index, head)| head.arrays_mut().map(at(Place::Head(index))));
        let own = fields.chain(kind_arrays.arrays_mut());
        own.map(at(Place::Machine)).chain(layers).chain(heads)
    }

    /// The series in files that have values for every step, in the order of the computation: the controller, the
    /// parameters of the heads, their stages, which have a value per row, the reads, the memory, the answer.
    pub fn of_steps(&self) -> Vec<(Place, Array, &Series<R>)> {
        let turn = |place, array: Array| match (place, array) {
            (Place::Layer(_), _) => 0,
            (Place::Head(_), of_heads::SIMILARITY) => 2,
            (Place::Head(_), of_heads::READ) => 5,
            (Place::Head(_), array) if array.dims.contains(&"n") => {
                // Values per row that a mechanism makes go into its weightings.
                if of_heads::ALL.contains(&array) { 4 } else { 3 }
            }
            (Place::Head(_), _) => 1,
            (Place::Machine, of_machines::MEMORY_COLUMNS) => 6,
            (Place::Machine, _) => 7,
        };
        let all = self
            .everything()
            .filter(|(_, array, series)| array.is_of_steps() && series.width() > 0);
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(place, array, _)| turn(*place, array));
        all
    }

    /// Returns the series of an array; `None` where the machine lacks it.
    pub fn series(&self, place: Place, array: Array) -> Option<&Series<R>> {
        let (_, series) = match place {
            Place::Machine => named(array, self.fields().chain(self.kind_arrays.arrays())),
            Place::Layer(layer) => named(array, self.layers.get(layer)?.fields()),
            Place::Head(head) => named(array, self.heads.get(head)?.arrays()),
        }?;
        Some(series).filter(|series| series.width() > 0)
    }

    /// [`Trace::series`], to write.
    pub fn series_mut(&mut self, place: Place, array: Array) -> Option<&mut Series<R>> {
        let series = self.entry_mut(place, array);
        series.filter(|series| series.width() > 0)
    }

    /// Returns the series of an array, of any width, to write.
    pub fn entry_mut(&mut self, place: Place, array: Array) -> Option<&mut Series<R>> {
        let (fields, (layers, heads, _, _, kind_arrays, ..)) = self.split_mut();
        let (_, series) = match place {
            Place::Machine => named(array, fields.chain(kind_arrays.arrays_mut())),
            Place::Layer(layer) => named(array, layers.get_mut(layer)?.split_mut().0),
            Place::Head(head) => named(array, heads.get_mut(head)?.arrays_mut()),
        }?;
        Some(series)
    }

    /// Bytes of a trace with room for an episode of `steps` steps, `source` of them before the answer.
    pub fn bytes(kind: &impl AsKind, [steps, source]: [usize; 2], keep: Keep) -> u64 {
        let trace = Self::of_episode(kind, steps, source);
        let every = trace.memory_every_within(steps, keep);
        let (kind, chunk) = (kind.kind(), trace.chunk(keep));
        let of = |(place, array, series): (Place, Array, &Series<R>)| {
            let rows = rows(array, steps, every).min(ring(kind, chunk, (place, array)));
            (series.width() as u64).saturating_mul(rows as u64)
        };
        let values = trace.everything().map(of).fold(0, u64::saturating_add);
        let [outside, _] = kind.bytes_outside_trace(steps, size_of::<R>());
        values
            .saturating_mul(size_of::<R>() as u64)
            .saturating_add(outside)
    }

    /// Makes room for an episode of `steps` steps of which this part is kept: of a tape whose M_t together would take
    /// more than the limit, only about √T memories.
    pub fn resize_to_keep(&mut self, kind: &impl AsKind, steps: usize, keep: Keep) {
        let every = self.memory_every_within(steps, keep);
        let has_room = self.tape.room == Some((steps, every)) && matches!(keep, Keep::Tape(_));
        (self.memory_every, self.sparse.time) = (every, None);
        if has_room {
            return;
        }
        self.tape.room = self.tape.is_used.then_some((steps, every));
        let chunk = self.chunk(keep);
        for (place, array, series) in self.everything_mut() {
            let rows = rows(array, steps, every);
            match ring(kind.kind(), chunk, (place, array)) {
                _ if series.width() == 0 => (),
                ring if ring < rows => series.resize_ring(ring),
                _ => series.resize(rows),
            }
        }
    }

    /// Steps that run at a time where only their rows are kept, and the row before them: a power of two.
    pub(super) fn chunk(&self, keep: Keep) -> usize {
        let Keep::Answers(values) = keep else {
            return usize::MAX / 2;
        };
        let every = self.everything();
        let every = every.filter(|(_, array, _)| array.retention == Retention::Steps);
        let widest = every.map(|(.., series)| series.width()).max();
        let chunk = values / widest.unwrap_or(0).max(1) / 2;
        chunk.checked_ilog2().map_or(1, |power| 1 << power)
    }

    /// Makes room for `steps` steps; allocates only when no earlier episode was as long.
    pub fn resize(&mut self, steps: usize) {
        let every = self.memory_every;
        (self.sparse.time, self.tape.room) = (None, None);
        for (_, array, series) in self.everything_mut() {
            if series.width() > 0 {
                series.resize(rows(array, steps, every));
            }
        }
    }

    /// [`Trace::memory_every`] to keep this part of an episode.
    fn memory_every_within(&self, steps: usize, keep: Keep) -> usize {
        let every = match keep {
            Keep::Tape(_) if self.tape.is_used => steps.saturating_add(2),
            Keep::All | Keep::Tape(usize::MAX) => return 1,
            Keep::Tape(limit) => Self::memory_every_for(self.memory_columns.width(), steps, limit),
            Keep::Answers(_) => steps.saturating_add(1),
        };
        match every {
            1 if self.has_row_per_step() => LAST_MEMORY,
            2.. if self.has_row_per_step() => ONLY_LAST_MEMORY,
            every => every,
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
            let broken = all.iter().find(|(_, array, series)| {
                // The memory of a step is the one after it.
                let row = t + usize::from(array.retention == Retention::Memory);
                let is_there = array.retention != Retention::Memory || self.memory_every == 1;
                is_there
                    && row < series.steps()
                    && series.row(row).iter().any(|value| !value.is_finite())
            });
            broken.map(|(place, array, _)| (self.array_name(*place, array), t))
        })
    }

    /// The name of an array in files.
    pub fn array_name(&self, place: Place, array: Array) -> String {
        array_name(self.read_heads(), place, array)
    }

    /// The row of `memory_columns` that holds M_t, or held it last.
    pub(super) fn memory_row(&self, t: usize) -> usize {
        match self.memory_every {
            LAST_MEMORY | ONLY_LAST_MEMORY => 0,
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
        head_name(self.read_heads(), head)
    }

    fn read_heads(&self) -> usize {
        self.heads.partition_point(|head| !head.is_write())
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

    /// Copies the learned parameters of the mechanisms of all heads from these tensors.
    pub(super) fn learn(&mut self, mut tensors: &[Matrix<R>]) {
        for head in &mut self.heads {
            tensors = head.learn(tensors);
        }
    }

    /// True where the memory has a row for each step, or for each source step, which does not change once it is there.
    pub fn has_row_per_step(&self) -> bool {
        let head = self.heads.first();
        head.is_some_and(|head| head.mechanism.sees.is_some())
    }

    /// The sizes of the axes of an array behind that of the steps, where the machine says so.
    pub fn array_sizes(&self, array: Array) -> Option<&[usize]> {
        self.kind_arrays.sizes(array)
    }

    /// The weightings that say which source steps, or rows, the machine attends to.
    pub fn reader(&self) -> Option<&Series<R>> {
        let first = self.heads.first().map(|head| &head.weighting);
        let own = || Some(self.kind_arrays.at(self.tape.reader?));
        first.or_else(own)
    }

    /// The title of a machine file, and the line of its answer.
    pub fn file_words(&self) -> FileWords {
        self.tape.words
    }

    /// True for a machine file: it has neither heads nor layers, but arrays whose sizes it says.
    pub fn is_file(&self) -> bool {
        let mut all = self.kind_arrays.arrays();
        let has_none = self.heads.is_empty() && self.layers.is_empty();
        has_none && all.any(|(array, _)| self.array_sizes(array).is_some())
    }

    /// The sum of the penalties of a machine file; none without one, or where one was not recorded.
    pub fn penalty(&self) -> Option<f64> {
        let all = self.kind_arrays.arrays().filter(|one| one.0.is_penalty());
        let all = all.map(|(_, series)| {
            series
                .as_slice()
                .iter()
                .map(|one| one.to_f64())
                .sum::<f64>()
        });
        all.reduce(|a, b| a + b).filter(|sum| !sum.is_nan())
    }

    /// True for a machine that is fed what it answered in the step before.
    pub fn has_feedback(&self) -> bool {
        self.tape.has_feedback
    }

    /// [N, M]; zeros where there is no memory.
    pub fn memory_size(&self) -> [usize; 2] {
        let (values, rows) = (self.memory_columns.width(), self.norms.width());
        [rows, values.checked_div(rows).unwrap_or(0)]
    }
}

/// The rows of the ring buffer of an array, for `chunk` steps at a time; `usize::MAX` where it is kept whole.
fn ring(kind: &dyn Kind, chunk: usize, (place, array): (Place, Array)) -> usize {
    match place {
        _ if array.retention != Retention::Steps => usize::MAX,
        _ if !kind.needs_only_last_step(place, array) => usize::MAX,
        Place::Head(_) => 2 * chunk,
        Place::Machine | Place::Layer(_) => 2 * chunk.max(BLOCK),
    }
}

/// The steps between two kept rows of [`Retention::Checkpoints`].
pub(super) fn between_checkpoints(steps: usize) -> usize {
    steps.isqrt() + 1
}

/// The number of rows of a series for `steps` steps.
fn rows(array: Array, steps: usize, every: usize) -> usize {
    match (array.retention, every) {
        (Retention::Memory, 1) => steps.saturating_add(1),
        (Retention::Memory, LAST_MEMORY | ONLY_LAST_MEMORY)
        | (Retention::Once, _)
        | (Retention::LastWithMemory, LAST_MEMORY | 2..) => 1,
        // Those that are kept, M_0 among them, and two for what lies between.
        (Retention::Memory, every) => steps / every + 3,
        (Retention::WithMemory | Retention::OnceWithMemory, 2..) => 0,
        (Retention::OnceWithMemory, _) => 1,
        (Retention::Checkpoints, every) if every > steps => 1,
        (Retention::Checkpoints, _) => steps.div_ceil(between_checkpoints(steps)),
        _ => steps,
    }
}

/// The one of these series that belongs to an array.
fn named<S>(array: Array, mut all: impl Iterator<Item = (Array, S)>) -> Option<(Array, S)> {
    // Nearly all descriptions stand in one place; then their texts are not compared.
    all.find(|(own, _)| std::ptr::eq(*own, array) || *own == array)
}

impl<R: Real> HeadTrace<R> {
    /// The series of the head, each with its entry, those of its mechanism last.
    pub fn arrays(&self) -> impl Iterator<Item = (Array, &Series<R>)> {
        let mechanism = self.of_score.arrays().chain(self.of_weighting.arrays());
        self.fields().chain(mechanism)
    }

    /// [`HeadTrace::arrays`], to write.
    pub fn arrays_mut(&mut self) -> impl Iterator<Item = (Array, &mut Series<R>)> {
        let (fields, (score, weighting, ..)) = self.split_mut();
        fields
            .chain(score.arrays_mut())
            .chain(weighting.arrays_mut())
    }

    /// Returns the series of an array; `None` where the head lacks it.
    pub fn series(&self, array: Array) -> Option<&Series<R>> {
        // Of the arrays that it lacks no texts are compared.
        let mut all = self.arrays();
        let found = all.find(|(other, series)| series.width() > 0 && *other == array);
        found.map(|(_, series)| series)
    }

    /// [`HeadTrace::series`], to write.
    pub fn series_mut(&mut self, array: Array) -> Option<&mut Series<R>> {
        let mut all = self.arrays_mut();
        let found = all.find(|(other, series)| *other == array && series.width() > 0);
        found.map(|(_, series)| series)
    }

    /// Allocates the scratch of score and weighting up to step `t`.
    pub(super) fn make_room_to_score(&mut self, t: usize) {
        let mechanism = self.mechanism_mut();
        for (array, series) in mechanism.filter(|(array, _)| !array.is_in_files()) {
            series.resize(series.steps().max(rows(array, t + 1, usize::MAX)));
        }
    }

    /// The key of step `t`, to read, and the row for its similarities, to write.
    pub(super) fn key_and_similarity(&mut self, t: usize) -> (&[R], &mut [R]) {
        (self.key.row(t), self.similarity.row_mut(t))
    }

    /// The series of score and weighting, each with its entry, to write.
    fn mechanism_mut(&mut self) -> impl Iterator<Item = (Array, &mut Series<R>)> {
        let (score, weighting) = (&mut self.of_score, &mut self.of_weighting);
        score.arrays_mut().chain(weighting.arrays_mut())
    }

    /// Copies the learned parameters of the mechanism from the first of these tensors; returns the others. Of a tensor with
    /// a column for each row of a source, an episode uses the first columns; those of rows that it does not know are 0.
    fn learn<'a>(&mut self, mut tensors: &'a [Matrix<R>]) -> &'a [Matrix<R>] {
        for (array, to) in self.mechanism_mut() {
            if array.is_learned()
                && to.width() > 0
                && let Some((from, rest)) = tensors.split_first()
            {
                let columns = to.width() / from.rows();
                let rows = to.as_mut_slice().chunks_exact_mut(columns).enumerate();
                let values = rows.flat_map(|(row, to)| to.iter_mut().zip(from.row(row)));
                values.for_each(|(to, &from)| *to = from);
                tensors = rest;
            }
        }
        tensors
    }

    /// True for a write head.
    pub fn is_write(&self) -> bool {
        self.add.width() > 0
    }

    /// w_{t−1}: the weighting of the step before `t`, or the initial one.
    pub fn previous_weighting(&self, t: usize) -> &[R] {
        self.weighting.row_before(t, &self.initial)
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
            for (steps, keep) in [
                (0, Keep::All),
                (0, Keep::Answers(0)),
                (9, Keep::All),
                (9, Keep::Tape(2400)),
                (9, Keep::Tape(2399)),
                (99, Keep::Tape(0)),
                (9, Keep::Answers(1000)),
                (999, Keep::Answers(0)),
                (999, Keep::Answers(1000)),
                (999, Keep::Answers(1 << 20)),
            ] {
                let mut trace = Trace::<f32>::new(&config);
                trace.resize_to_keep(&config, steps, keep);
                let held = trace.values().count() * size_of::<f32>();
                assert_eq!(Trace::<f32>::bytes(&config, [steps; 2], keep), held as u64);
            }
        }
        let all = Trace::<f32>::bytes(&config, [99; 2], Keep::All);
        assert!(Trace::<f32>::bytes(&config, [99; 2], Keep::Tape(0)) < all);
        assert_eq!(Trace::<f64>::bytes(&config, [99; 2], Keep::All), 2 * all);
    }

    #[test]
    #[should_panic(expected = "only some memories were kept")]
    fn a_memory_that_was_not_kept_is_not_shown() {
        let config = NtmConfig::new(3, 2);
        let mut trace = Trace::<f32>::new(&config);
        trace.resize_to_keep(&config, 50, Keep::Tape(0));
        let _ = trace.memory(49);
    }
}
