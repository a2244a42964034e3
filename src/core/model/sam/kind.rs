//! Sizes, tensors and arrays of sparse access memory.

use crate::keys::Field::{Choice, Integer, Integer64, Number};
use crate::keys::{ConfigError, Keys, Rule, Table};
use crate::model::array;
use crate::model::axis::Sizes;
use crate::model::config::{ControllerConfig, EPSILON, InitialMemory, MAX_HEADS, Order};
pub use crate::model::dnc::WRITE_GATE;
use crate::model::kind::Kind;
use crate::model::shape::{Shape, TensorSpec};
use crate::model::sparse::{Initial, Plan, Search};
use crate::model::spec::{Array, ArraySpec, Place, Range, Retention};

/// The size and the variant of a machine with sparse access memory.
#[derive(Clone, Debug, PartialEq)]
pub struct SamConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Memory rows N, 1 to [`SamConfig::MAX_ROWS`]; at least K, and at least the number of heads.
    pub rows: usize,
    /// Memory columns M, 1 to 4096.
    pub columns: usize,
    /// The memory before the first step.
    pub initial_memory: InitialMemory,
    /// The seed of the memory before the first step: its values are drawn between plus and minus the constant; 0: all are
    /// the constant. Ignored where memory is learned.
    pub seed: u64,
    /// How the rows that are read are found.
    pub search: Search,
    /// The network that drives the heads.
    pub controller: ControllerConfig,
    /// Heads, each of which writes and reads, 1 to 64.
    pub heads: usize,
    /// Rows K that a head reads, 1 to 64.
    pub read_rows: usize,
    /// δ, 0 to 128: a row counts as accessed in a step where its weights, of all heads, sum to more.
    pub threshold: f64,
    /// ε, 0 or more: added to each squared norm in the cosine.
    pub similarity_epsilon: f64,
    /// Memory rows that a recording shows.
    pub(super) shown: usize,
}

/// The rows that a head reads, [T, K].
#[rustfmt::skip] // A row for every array.
pub const ROWS: Array = &ArraySpec::new("rows", &["t", "q"], "I", Range::Rows, "the rows that the head reads, in ascending order: those with the largest cosine to k, as the index finds them (Rae 2016, section 3.1)");
/// Their cosines, [T, K].
#[rustfmt::skip] // A row for every array.
pub const COSINES: Array = &ArraySpec::new("cosines", &["t", "q"], "K", Range::Any, "cosine of k and each of these rows, after the writes of the step");
/// Their weights, [T, K].
#[rustfmt::skip] // A row for every array.
pub const WEIGHTS: Array = &ArraySpec::new("weights", &["t", "q"], "w^R", Range::Distribution, "softmax over these rows of β·K; 0 for all other rows (Rae 2016, section 3.1)");
/// γ, [T].
#[rustfmt::skip] // A row for every array.
pub const INTERPOLATION_GATE: Array = &ArraySpec::new("interpolation_gate", &["t"], "γ", Range::Within(0.0, 1.0), "σ: 1 writes to the rows that the head read in the step before, 0 to the least recently accessed row (Rae 2016, section 3.2)");
/// The least recently accessed row, [T].
#[rustfmt::skip] // A row for every array.
pub const ROW: Array = &ArraySpec::new("row", &["t"], "i", Range::Row, "the row whose last access is longest ago, the lowest of several; another one for each head. It is erased first (Rae 2016, section 3.2)");
/// M_0 where it is learned, [N, M].
#[rustfmt::skip] // A row for every array.
pub const INITIAL_ROWS: Array = &ArraySpec::new("initial_rows", &["j", "m"], "M_0", Range::Any, "memory before the first step, row after row, where it is learned").retention(Retention::Once);
/// The memory rows that a recording shows, [N].
#[rustfmt::skip] // A row for every array.
pub const RECORDED_ROWS: Array = &ArraySpec::new("recorded_rows", &["n"], "", Range::Rows, "the memory rows that the episode reads or writes, in ascending order: a recording shows only these. Entry i is the number of the row that stands at place i of axis n").retention(Retention::Once);
/// The steps since every row was last accessed, as a step begins, [T, N].
#[rustfmt::skip] // A row for every array.
pub const AGE: Array = &ArraySpec::new("age", &["t", "n"], "", Range::AtLeast(1.0), "steps since the row was last accessed: its weights, of all heads, summed to more than δ. Row j counts as accessed at −N + j before the first step (Rae 2016, section 3.2)");
/// What stood in the rows that a step wrote, [T, heads·(K + 1)·M].
#[rustfmt::skip] // A row for every array.
pub(super) const EARLIER: Array = &ArraySpec::scratch("earlier");

/// The arrays of the machine, and the places in them.
const OWN: &[Array] = &[INITIAL_ROWS, EARLIER, RECORDED_ROWS];
pub(super) const AT_INITIAL: usize = 0;
pub(super) const AT_EARLIER: usize = 1;
pub(super) const AT_RECORDED: usize = 2;
/// Those of a read head.
const READ: &[Array] = &[ROWS, COSINES, WEIGHTS];
pub(super) const AT_ROWS: usize = 0;
pub(super) const AT_WEIGHTS: usize = 2;
/// Those of a write head.
const WRITE: &[Array] = &[WRITE_GATE, INTERPOLATION_GATE, ROW, AGE];
pub(super) const AT_ROW: usize = 2;
pub(super) const AT_AGE: usize = 3;

/// δ: the weights of a row sum to 2 at most for each of the heads, 1 of its reads and 1 of its writes.
const THRESHOLD: Rule = Rule {
    allowed: "0 to 128",
    holds: |value| (0.0..=128.0).contains(&value),
    ends: [0.0, 2.0 * MAX_HEADS as f64],
};

#[rustfmt::skip] // A row for every key.
impl Keys for SamConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("memory.rows", Integer(&mut self.rows, 1..=Self::MAX_ROWS), "rows N of the memory (locations)");
        to.key("memory.columns", Integer(&mut self.columns, 1..=4096), "columns M of the memory (values per row)");
        self.initial_memory.key(to, "memory before the first step: one constant everywhere, or learned");
        to.key("memory.seed", Integer64(&mut self.seed, 0..=u64::MAX), "seed from which the memory before the first step is drawn, uniformly between plus and minus the constant; 0: every value is the constant; ignored where memory is learned");
        to.key("memory.index", Choice(&mut self.search), "how the rows nearest to a key are found. `exact`: all are compared; `hashed`: those in the same buckets of random planes are, which may miss some; ignored where every value is the constant; made again after every update where memory is learned");
        self.controller.keys(&mut to.section("controller"));
        to.key("heads.count", Integer(&mut self.heads, 1..=MAX_HEADS), "number of heads, each of which writes and reads");
        to.key("heads.rows", Integer(&mut self.read_rows, 1..=64), "rows K that a head reads");
        to.key("heads.threshold", Number(&mut self.threshold, &THRESHOLD), "δ: a row counts as accessed in a step where its weights, of all heads, sum to more");
        to.key("heads.similarity_epsilon", Number(&mut self.similarity_epsilon, &EPSILON), "ε added to each squared norm in the cosine");
    }
}

impl SamConfig {
    /// The most memory rows: f32 holds every row.
    pub const MAX_ROWS: usize = 1 << 22;

    /// A machine with one head that reads four rows of 128, whose memory is constant.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            rows: 128,
            columns: 20,
            initial_memory: InitialMemory::Constant(1e-6),
            seed: 0,
            search: Search::Exact,
            controller: ControllerConfig::PAPER,
            heads: 1,
            read_rows: 4,
            threshold: 0.005,
            similarity_epsilon: 1e-6,
            shown: 0,
        }
    }

    /// The description of the memory.
    pub fn plan(&self) -> Plan {
        let initial = match self.initial_memory {
            InitialMemory::Learned => Initial::Given,
            InitialMemory::Constant(value) if self.seed == 0 => Initial::Constant(value),
            InitialMemory::Constant(value) => Initial::Drawn {
                seed: self.seed,
                size: value.abs(),
            },
        };
        Plan {
            rows: self.rows,
            columns: self.columns,
            initial,
            epsilon: self.similarity_epsilon,
            search: self.search,
        }
    }

    /// The most rows that an episode of `steps` steps touches, where the memory has as many.
    pub fn touched(&self, steps: usize) -> usize {
        let of_step = self.heads * (self.read_rows + 1);
        of_step.saturating_mul(steps).saturating_add(1)
    }

    /// Where the pre-activations of a head stand among those of all heads.
    pub(super) fn raw(&self, head: usize) -> std::ops::Range<usize> {
        let [read, write] = [self.columns + 1, self.columns + 2];
        match head.checked_sub(self.heads) {
            None => head * read..(head + 1) * read,
            Some(of) => self.heads * read + of * write..self.heads * read + (of + 1) * write,
        }
    }

    /// The fewest memory rows, and why there must be as many.
    fn least_rows(&self) -> (usize, String) {
        let (heads, rows) = (self.heads, self.read_rows);
        if rows < heads {
            (
                heads,
                format!("each of {heads} heads erases a row of its own"),
            )
        } else {
            (rows, format!("a head reads {rows} rows"))
        }
    }

    fn is_learned(&self) -> bool {
        self.initial_memory == InitialMemory::Learned
    }
}

impl Kind for SamConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: self.controller.layers,
            units: self.controller.size,
            read_heads: self.heads,
            write_heads: self.heads,
            rows: self.rows,
            columns: self.columns,
            found_rows: self.read_rows,
            ..Sizes::default()
        }
    }

    fn shape(&self) -> Shape {
        let rows = if self.is_learned() { self.rows } else { 0 };
        let memory = TensorSpec::state("initial.memory", rows, self.columns);
        let [hidden, cell] = self.controller.states();
        Shape {
            linears: self
                .controller
                .with_heads(self, |head| self.raw(head).len()),
            tensors: vec![memory, hidden, cell],
            ..Shape::default()
        }
    }

    fn order(&self) -> Order {
        Order::WriteFirst
    }

    fn arrays(&self) -> &'static [Array] {
        OWN
    }

    fn head_arrays(&self, head: usize) -> [&'static [Array]; 2] {
        [if head < self.heads { READ } else { WRITE }, &[]]
    }

    fn width(&self, place: Place, array: Array) -> usize {
        let (m, is_read) = (
            self.columns,
            matches!(place, Place::Head(head) if head < self.heads),
        );
        match (place, array) {
            (Place::Head(_), array::KEY | array::READ) if is_read => m,
            (Place::Head(_), array::STRENGTH) if is_read => 1,
            (Place::Head(_), array::ADD) if !is_read => m,
            (Place::Head(_), ROWS | COSINES | WEIGHTS) => self.read_rows,
            (Place::Head(_), WRITE_GATE | INTERPOLATION_GATE | ROW) => 1,
            (Place::Head(_), array::SIMILARITY) if is_read => self.shown,
            (Place::Head(_), AGE) if !is_read => self.shown,
            (Place::Head(_), array::INITIAL | array::WEIGHTING)
            | (Place::Machine, array::NORMS | RECORDED_ROWS) => self.shown,
            (Place::Machine, array::MEMORY) => self.shown.saturating_mul(m),
            (Place::Machine, INITIAL_ROWS) if self.is_learned() => self.rows.saturating_mul(m),
            (Place::Machine, EARLIER) => self.heads * (self.read_rows + 1) * m,
            (Place::Layer(_), _)
            | (
                Place::Machine,
                array::INPUT | array::LOGIT | array::OUTPUT | array::RAW | array::FEATURES,
            ) => {
                let raw = || self.heads * (2 * m + 3);
                self.controller.width_with_heads(self, raw, (place, array))
            }
            _ => 0,
        }
    }

    fn needs_only_last_step(&self, place: Place, array: Array) -> bool {
        place != Place::Machine || [array::RAW, array::FEATURES, EARLIER].contains(&array)
    }

    fn bytes_outside_trace(&self, steps: usize, of_value: usize) -> [u64; 2] {
        let changed = self.touched(steps).min(self.rows);
        let bytes = self.plan().bytes(changed, of_value);
        let forward = [bytes.memory, bytes.index, bytes.slots].into_iter();
        let backward = [changed, 2 * self.columns + 1, of_value].map(|size| size as u64);
        [
            forward.fold(0, u64::saturating_add),
            backward.into_iter().fold(1, u64::saturating_mul),
        ]
    }

    fn showing(&self, steps: usize, rows: Option<usize>) -> Option<Box<dyn Kind>> {
        let shown = rows.unwrap_or_else(|| self.touched(steps)).min(self.rows);
        Some(Box::new(Self {
            shown,
            ..self.clone()
        }))
    }

    fn set_rows(&mut self, rows: usize) -> Result<(), ConfigError> {
        let (field, own) = ("memory.rows", self.rows);
        ConfigError::unless(!self.is_learned(), field, rows, || {
            format!("only {own}, because the initial memory is learned")
        })?;
        let ((least, why), most) = (self.least_rows(), Self::MAX_ROWS);
        ConfigError::unless((least..=most).contains(&rows), field, rows, || {
            format!("{least} to {most}, because {why}")
        })?;
        self.rows = rows;
        Ok(())
    }

    fn runs_on_any_rows(&self) -> bool {
        !self.is_learned()
    }

    fn set_channels(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
    }

    fn check_together(&self) -> Result<(), ConfigError> {
        let (least, why) = self.least_rows();
        ConfigError::unless(self.rows >= least, "memory.rows", self.rows, || {
            format!("{least} or more, because {why}")
        })
    }
}
