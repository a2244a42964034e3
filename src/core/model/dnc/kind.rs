//! Sizes, tensors and arrays of the Differentiable Neural Computer.

use std::ops::Range;

use crate::keys::Field::{Choice, Integer, Number};
use crate::keys::{ConfigError, Keys, PerHead, Switch, Table};
use crate::model::array;
use crate::model::attention::{
    AttentionConfig, HeadColumns, Mechanism, Parameters, Score, ShiftForm, Strength, Weighting,
};
use crate::model::axis::Sizes;
use crate::model::config::{ControllerConfig, EPSILON, InitialMemory, MAX_HEADS, Order};
use crate::model::head;
use crate::model::kind::Kind;
use crate::model::shape::Shape;
use crate::model::spec::{Array, ArraySpec, Place, Range as Values, Retention};

/// The size and the mechanisms of a Differentiable Neural Computer with one write head.
#[derive(Clone, Debug, PartialEq)]
pub struct DncConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Memory rows, N.
    pub rows: usize,
    /// Memory columns, W in the paper.
    pub columns: usize,
    /// The network that drives the heads.
    pub controller: ControllerConfig,
    /// Number of read heads, R.
    pub read_heads: usize,
    /// Temporal links: precedence, link matrix, read modes.
    pub links: Switch,
    /// Dynamic allocation: usage, allocation weighting, allocation gate.
    pub allocation: Switch,
    /// Free gates; only with allocation.
    pub free_gates: Switch,
    /// Added to each squared norm in the cosine.
    pub similarity_epsilon: f64,
    /// Every value of the memory before the first step: a constant.
    pub initial_memory: InitialMemory,
    /// Content addressing of every head.
    attention: AttentionConfig,
}

/// The arrays of a read head.
pub(super) const OF_READ: &[Array] = &[FREE_GATE, READ_MODES, BACKWARD, FORWARD];
/// The arrays of the write head.
pub(super) const OF_WRITE: &[Array] = &[
    INITIAL_USAGE,
    USAGE,
    ALLOCATION,
    ALLOCATION_GATE,
    WRITE_GATE,
    PRECEDENCE,
    ALLOCATION_ORDER,
    LINKS,
];
/// The places of arrays of the write head.
pub(super) const AT_INITIAL_USAGE: usize = 0;
pub(super) const AT_USAGE: usize = 1;
pub(super) const AT_ALLOCATION: usize = 2;
pub(super) const AT_ALLOCATION_GATE: usize = 3;
pub(super) const AT_WRITE_GATE: usize = 4;
pub(super) const AT_PRECEDENCE: usize = 5;
pub(super) const AT_ORDER: usize = 6;
pub(super) const AT_LINKS: usize = 7;

/// f^i_t of read head i, [T, 1]; f_t alone is [`FORWARD`].
#[rustfmt::skip] // A row for every array.
pub const FREE_GATE: Array = &ArraySpec::new("free_gate", &["t"], "f", Values::Within(0.0, 1.0), "σ: the share of the rows read in the step before that is freed (Graves 2016)");
/// π_t of a read head, [T, 3]: backward, content, forward.
#[rustfmt::skip]
pub const READ_MODES: Array = &ArraySpec::new("read_modes", &["t", "i"], "π", Values::Distribution, "softmax: shares of backward, content and forward weighting (Graves 2016)");
/// b_t of a read head, [T, N].
#[rustfmt::skip]
pub const BACKWARD: Array = &ArraySpec::new("backward", &["t", "n"], "b", Values::Within(0.0, 1.0), "L_tᵀ·w_{t−1}: the rows written before those that were read (Graves 2016)");
/// f_t of a read head, [T, N].
#[rustfmt::skip]
pub const FORWARD: Array = &ArraySpec::new("forward", &["t", "n"], "f", Values::Within(0.0, 1.0), "L_t·w_{t−1}: the rows written after those that were read (Graves 2016)");
/// u_0, [N].
#[rustfmt::skip]
pub const INITIAL_USAGE: Array = &ArraySpec::new("initial_usage", &["n"], "u_0", Values::Within(0.0, 1.0), "usage before the first step; 0 in this program");
/// u_t, [T, N].
#[rustfmt::skip]
pub const USAGE: Array = &ArraySpec::new("usage", &["t", "n"], "u", Values::Within(0.0, 1.0), "(u_{t−1} + w_{t−1} − u_{t−1} ∘ w_{t−1}) ∘ Π_i (1 − f_t^i·w_{t−1}^{r,i}) (Graves 2016)");
/// a_t, [T, N].
#[rustfmt::skip]
pub const ALLOCATION: Array = &ArraySpec::new("allocation", &["t", "n"], "a", Values::Within(0.0, 1.0), "a(φ_j) = (1 − u(φ_j))·Π_{i<j} u(φ_i), where φ sorts the rows by usage, the least used first (Graves 2016, equation 1)");
/// g^a_t, [T, 1].
#[rustfmt::skip]
pub const ALLOCATION_GATE: Array = &ArraySpec::new("allocation_gate", &["t"], "g^a", Values::Within(0.0, 1.0), "σ: 1 writes to allocated rows, 0 to rows found by content (Graves 2016)");
/// g^w_t, [T, 1]; α_t in sparse access memory.
#[rustfmt::skip]
pub const WRITE_GATE: Array = &ArraySpec::new("write_gate", &["t"], "g^w", Values::Within(0.0, 1.0), "σ: 0 writes nothing (Graves 2016; α in Rae 2016, section 3.2)");
/// p_t, [T, N].
#[rustfmt::skip]
pub const PRECEDENCE: Array = &ArraySpec::new("precedence", &["t", "n"], "p", Values::Within(0.0, 1.0), "(1 − Σ_i w(i))·p_{t−1} + w: the degree to which a row was the last one written (Graves 2016)");
/// φ_t: the rows by usage, [T, N].
pub(super) const ALLOCATION_ORDER: Array = &ArraySpec::scratch("allocation_order");
/// L of some steps, [√T, N·N], row after row: see [`super::links`].
pub(super) const LINKS: Array = &ArraySpec::scratch("links").retention(Retention::Checkpoints);

/// The most memory rows: a link matrix of 1 GiB.
const MAX_ROWS: usize = 1 << 14;

/// Content addressing by cosine with a key strength, without the stages after it.
const ATTENTION: AttentionConfig = AttentionConfig {
    score: PerHead::all(Score::Cosine),
    units: 4,
    strength: PerHead::all(Strength::Emitted),
    gate: PerHead::all(Switch::Off),
    sharpening: PerHead::all(Switch::Off),
    erase: PerHead::all(Switch::On),
    weighting: PerHead::all(Weighting::Soft),
    parameters: Parameters::DEFAULT,
};

impl DncConfig {
    /// The sizes of the Neural Turing Machine's paper, with one read head, for a task of the given width.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            rows: 128,
            columns: 20,
            controller: ControllerConfig::PAPER,
            read_heads: 1,
            links: Switch::On,
            allocation: Switch::On,
            free_gates: Switch::On,
            similarity_epsilon: 1e-6,
            initial_memory: InitialMemory::Constant(1e-6),
            attention: ATTENTION,
        }
    }

    /// True with temporal links.
    pub(super) fn has_links(&self) -> bool {
        self.links == Switch::On
    }

    /// True with dynamic allocation.
    pub(super) fn allocates(&self) -> bool {
        self.allocation == Switch::On
    }

    /// True with free gates.
    pub(super) fn frees(&self) -> bool {
        self.allocates() && self.free_gates == Switch::On
    }

    /// The columns of a head in the row of all heads' pre-activations: those of every head, then its gates: free gate and
    /// read modes, or allocation gate and write gate.
    pub(super) fn columns(&self, head: usize) -> (HeadColumns, [Range<usize>; 2]) {
        let (modes, frees) = (3 * usize::from(self.has_links()), usize::from(self.frees()));
        let of_read = self.columns + 1 + frees + modes;
        let is_write = head >= self.read_heads;
        let mut next = head.min(self.read_heads) * of_read;
        let mut take = |width: usize| {
            next += width;
            next - width..next
        };
        let written = if is_write { self.columns } else { 0 };
        let (key, strength) = (take(self.columns), take(1));
        let empty = take(0);
        let columns = HeadColumns {
            key,
            strength,
            gate: empty.clone(),
            shift: empty.clone(),
            sharpening: empty,
            erase: take(written),
            add: take(written),
        };
        let gates = if is_write {
            [usize::from(self.allocates()), 1]
        } else {
            [frees, modes]
        };
        (columns, gates.map(take))
    }

    /// Pre-activations of all heads together.
    pub(super) fn head_outputs(&self) -> usize {
        let (_, [_, last]) = self.columns(self.read_heads);
        last.end
    }
}

impl Keys for DncConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("memory.rows", Integer(&mut self.rows, 1..=MAX_ROWS), "rows N of the memory (locations); the link matrix has N² values");
        to.key("memory.columns", Integer(&mut self.columns, 1..=4096), "columns W of the memory (values per row)");
        self.initial_memory.key(to, "memory before the first step: one constant everywhere; not `learned`");
        self.controller.keys(&mut to.section("controller"));
        to.key("heads.read", Integer(&mut self.read_heads, 1..=MAX_HEADS - 1), "number of read heads, beside the one write head");
        to.key("heads.links", Choice(&mut self.links), "temporal links: with `off` a head reads by content only");
        to.key("heads.allocation", Choice(&mut self.allocation), "dynamic allocation: with `off` the write head finds its row by content only");
        to.key("heads.free_gates", Choice(&mut self.free_gates), "free gates: with `off` no row that was written becomes free; ignored without allocation");
        to.key("heads.similarity_epsilon", Number(&mut self.similarity_epsilon, &EPSILON), "ε added to each squared norm in the cosine");
    }
}

impl Kind for DncConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: self.controller.layers,
            units: self.controller.size,
            read_heads: self.read_heads,
            write_heads: 1,
            rows: self.rows,
            columns: self.columns,
            ..Sizes::default()
        }
    }

    fn shape(&self) -> Shape {
        let of_head = |head| {
            let (columns, [_, last]) = self.columns(head);
            last.end - columns.key.start
        };
        Shape {
            linears: self.controller.with_heads(self, of_head),
            tensors: self.controller.states().into(),
            ..Shape::default()
        }
    }

    fn width(&self, place: Place, array: Array) -> usize {
        let has = match array {
            FREE_GATE => self.frees(),
            INITIAL_USAGE | USAGE | ALLOCATION | ALLOCATION_GATE | ALLOCATION_ORDER => {
                self.allocates()
            }
            READ_MODES | BACKWARD | FORWARD | PRECEDENCE | LINKS => self.has_links(),
            _ => true,
        };
        match (place, array) {
            _ if !has => 0,
            (_, ALLOCATION_ORDER) => self.rows,
            (_, LINKS) => self.rows.saturating_mul(self.rows),
            (Place::Head(head), array)
                if !OF_READ.contains(&array) && !OF_WRITE.contains(&array) =>
            {
                head::width(self, (&self.attention, ShiftForm::None), head, array)
            }
            _ => {
                let raw = || self.head_outputs();
                self.controller.width_with_heads(self, raw, (place, array))
            }
        }
    }

    fn head_arrays(&self, head: usize) -> [&'static [Array]; 2] {
        let is_write = head >= self.read_heads;
        [if is_write { OF_WRITE } else { OF_READ }, &[]]
    }

    fn order(&self) -> Order {
        Order::WriteFirst
    }

    fn needs_only_last_step(&self, place: Place, array: Array) -> bool {
        place != Place::Machine || matches!(array, array::RAW | array::FEATURES)
    }

    fn mechanism(&self, head: usize) -> Mechanism {
        Mechanism {
            shift_form: ShiftForm::None,
            columns: self.columns(head).0,
            ..self.attention.of(head)
        }
    }

    fn set_rows(&mut self, rows: usize) -> Result<(), ConfigError> {
        ConfigError::unless((1..=MAX_ROWS).contains(&rows), "memory.rows", rows, || {
            format!("1 to {MAX_ROWS}")
        })?;
        self.rows = rows;
        Ok(())
    }

    fn runs_on_any_rows(&self) -> bool {
        true
    }

    fn check_together(&self) -> Result<(), ConfigError> {
        let is_constant = self.initial_memory != InitialMemory::Learned;
        ConfigError::unless(is_constant, "memory.initial", "learned", || {
            "a constant, as in {\"constant\": 1e-6}".to_owned()
        })
    }

    fn set_channels(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
    }
}
