//! The size and the variant of a machine. Checked once, in [`NtmConfig::validate`]; trusted afterwards.

use super::attention::{AttentionConfig, HeadColumns, Score, Strength, Switch};

pub use super::attention::ShiftForm;
use crate::keys::Field::{Choice, ChoicePerHead, Constant, Integer, Number};
use crate::keys::{self, Keys, PerHead, Table, Words};

/// The most heads of one sort, read or write.
pub const MAX_HEADS: usize = 64;

/// Configuration of a machine: the shapes of its tensors and its equations. Its [`Keys`] list ranges and purposes,
/// [`NtmConfig::new`] has the defaults; `tapescope tasks --keys` prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct NtmConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Memory rows, N in the paper.
    pub rows: usize,
    /// Memory columns, M in the paper.
    pub columns: usize,
    /// The network that drives the heads.
    pub controller: ControllerConfig,
    /// Number of read heads.
    pub read_heads: usize,
    /// Number of write heads.
    pub write_heads: usize,
    /// Largest shift in either direction.
    pub shift_range: usize,
    /// Form in which a head emits its shift weighting.
    pub shift_form: PerHead<ShiftForm>,
    /// The kind of attention of each head.
    pub attention: AttentionConfig,
    /// Applied to the key.
    pub key_activation: VectorActivation,
    /// Applied to the add vector.
    pub add_activation: VectorActivation,
    /// Added to each squared norm in the cosine.
    pub similarity_epsilon: f64,
    /// The memory before the first step.
    pub initial_memory: InitialMemory,
    /// Every head's weighting before the first step.
    pub initial_weighting: InitialWeighting,
    /// The order of events in a step.
    pub order: Order,
}

/// The controller network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerConfig {
    /// Recurrent or not.
    pub kind: ControllerKind,
    /// Units per layer.
    pub size: usize,
    /// Number of layers.
    pub layers: usize,
}

/// The two controllers of the paper (§3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerKind {
    /// h = tanh(W·u + b): no memory of its own but the reads.
    Feedforward,
    /// Long short-term memory, gates in the order input, forget, cell, output.
    Lstm,
}

/// The activation of a key or an add vector. The paper does not specify it; tanh learns more reliably.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorActivation {
    /// Unbounded.
    Identity,
    /// Values in (−1, 1).
    Tanh,
}

/// The memory at the start of an episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialMemory {
    /// Every element has this value; the weights then run on any number of rows.
    Constant(f64),
    /// A learned [rows, columns] matrix; fixes the number of rows.
    Learned,
}

/// The weighting of each head at the start of an episode. Always a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWeighting {
    /// All on row 0; the weights then run on any number of rows.
    OneHot,
    /// A softmax over learned logits; fixes the number of rows.
    Learned,
}

/// The order of events in a step. The paper does not specify it; implementations differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All heads address M_{t−1}, and reads see it; then the writes.
    ReadFirst,
    /// The write heads address M_{t−1} and write M_t; then the read heads address M_t, and read it.
    WriteFirst,
}

impl Words for ControllerKind {
    const WORDS: &'static [(&'static str, Self)] =
        &[("lstm", Self::Lstm), ("feedforward", Self::Feedforward)];
}

impl Words for VectorActivation {
    const WORDS: &'static [(&'static str, Self)] =
        &[("tanh", Self::Tanh), ("identity", Self::Identity)];
}

impl Words for InitialWeighting {
    const WORDS: &'static [(&'static str, Self)] =
        &[("one-hot", Self::OneHot), ("learned", Self::Learned)];
}

impl Words for Order {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("read-first", Self::ReadFirst),
        ("write-first", Self::WriteFirst),
    ];
}

impl Keys for NtmConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("memory.rows", Integer(&mut self.rows, 1..=Self::MAX_ROWS), "rows N of the memory (locations)");
        to.key("memory.columns", Integer(&mut self.columns, 1..=4096), "columns M of the memory (values per row)");
        self.initial_memory.key(to, "memory before the first step: one constant everywhere, or learned");
        self.controller.keys(&mut to.section("controller"));
        to.key("heads.read", Integer(&mut self.read_heads, 0..=MAX_HEADS), "number of read heads; with no heads at all the \
            machine is the file `plain.machine`, and all other keys under `heads` and `memory` are ignored");
        to.key("heads.write", Integer(&mut self.write_heads, 0..=MAX_HEADS), "number of write heads");
        to.key("heads.shift.form", ChoicePerHead(&mut self.shift_form), "how a head emits its shift (paper, section 3.3.2); with `none` the weighting is not shifted");
        to.key("heads.shift.range", Integer(&mut self.shift_range, 0..=64), "largest shift k in either direction, 2·k < rows; 1 or more with `scalar`; ignored if no head shifts");
        to.key("heads.key_activation", Choice(&mut self.key_activation), "activation of the key");
        to.key("heads.add_activation", Choice(&mut self.add_activation), "activation of the add vector");
        to.key("heads.similarity_epsilon", Number(&mut self.similarity_epsilon, &EPSILON), "ε added to each squared norm in the cosine");
        to.key("heads.initial_weighting", Choice(&mut self.initial_weighting), "weighting of every head before the first step: all on row 0, or learned");
        self.attention.keys(&mut to.section("heads.attention"));
        to.key("heads.order", Choice(&mut self.order), "order of events in a step. `read-first`: all heads address M_{t−1}, and reads see M_{t−1}; \
            `write-first`: the write heads address M_{t−1} and write, then the read heads address and read M_t");
    }
}

impl InitialMemory {
    /// Enters its key.
    pub(super) fn key(&mut self, to: &mut Table<'_>, purpose: &'static str) {
        let mut constant = match self {
            Self::Constant(value) => Some(*value),
            Self::Learned => None,
        };
        to.key("memory.initial", Constant(&mut constant, &INITIAL), purpose);
        *self = constant.map_or(Self::Learned, Self::Constant);
    }
}

impl Keys for ControllerConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("kind", Choice(&mut self.kind), "network that drives the heads");
        to.key("size", Integer(&mut self.size, 1..=16_384), "units per layer");
        to.key("layers", Integer(&mut self.layers, 1..=16), "number of layers; each receives the hidden state of the layer below");
    }
}

/// Far from the end of f32 when squared.
pub(super) const INITIAL: keys::Rule = keys::Rule {
    allowed: "-1000000 to 1000000",
    holds: |value| value.abs() <= 1e6,
    ends: [-1e6, 1e6],
};

pub(super) const EPSILON: keys::Rule = keys::Rule {
    allowed: "a number, 0 or more, that 32 bits can hold",
    holds: |value| value >= 0.0 && (value as f32).is_finite(),
    ends: [0.0, f32::MAX as f64],
};

impl NtmConfig {
    /// The paper's machine (128 × 20, LSTM of 100, one head of each kind) for a task of the given width.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            rows: 128,
            columns: 20,
            controller: ControllerConfig::PAPER,
            read_heads: 1,
            write_heads: 1,
            shift_range: 1,
            shift_form: PerHead::all(ShiftForm::Softmax),
            attention: AttentionConfig::DEFAULT,
            key_activation: VectorActivation::Tanh,
            add_activation: VectorActivation::Tanh,
            similarity_epsilon: 1e-6,
            initial_memory: InitialMemory::Constant(1e-6),
            initial_weighting: InitialWeighting::OneHot,
            order: Order::ReadFirst,
        }
    }

    /// Read and write heads together.
    pub fn heads(&self) -> usize {
        self.read_heads.saturating_add(self.write_heads)
    }

    /// The largest shift of any head; 0 where the focus of all stays.
    pub(super) fn largest_shift(&self) -> usize {
        let is_shifted = self.shift_form.any(|form| form != ShiftForm::None);
        if is_shifted { self.shift_range } else { 0 }
    }

    /// The number of offsets in a shift weighting, 2·k + 1.
    pub fn offsets(&self) -> usize {
        2 * self.largest_shift() + 1
    }

    /// The columns of head `head` in the row of all heads' pre-activations.
    pub fn head_columns(&self, head: usize) -> HeadColumns {
        let mut next = 0;
        let mut of = |before: usize| {
            let written = if before < self.read_heads {
                0
            } else {
                self.columns
            };
            let shift = match self.shift_form.of(before) {
                ShiftForm::Softmax => self.offsets(),
                ShiftForm::Scalar => 1,
                ShiftForm::None => 0,
            };
            let of = &self.attention;
            let emits = |is_there| usize::from(is_there);
            let has = |switch: &PerHead<Switch>| emits(switch.of(before) == Switch::On);
            let mut take = |width: usize| {
                next += width;
                next - width..next
            };
            HeadColumns {
                key: take(self.columns),
                strength: take(emits(of.strength.of(before) == Strength::Emitted)),
                gate: take(has(&of.gate)),
                shift: take(shift),
                sharpening: take(has(&of.sharpening)),
                erase: take(has(&of.erase) * written),
                add: take(written),
            }
        };
        for before in 0..head {
            let _ = of(before);
        }
        of(head)
    }

    /// Pre-activations of all heads together.
    pub fn head_outputs(&self) -> usize {
        let last = self.heads().checked_sub(1);
        last.map_or(0, |last| self.head_columns(last).all().end)
    }

    /// Returns true if a head scores the position of a row instead of its content.
    pub(super) fn scores_positions(&self) -> bool {
        self.attention.score.any(|score| score == Score::Location)
    }

    /// The most memory rows.
    pub const MAX_ROWS: usize = 1 << 20;
}

impl ControllerConfig {
    /// The LSTM of the paper.
    pub(super) const PAPER: Self = Self {
        kind: ControllerKind::Lstm,
        size: 100,
        layers: 1,
    };
}
