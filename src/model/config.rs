//! The size and the variant of a machine. Checked once, in [`ModelConfig::validate`]; trusted afterwards.

use std::ops::Range;

use super::trace::{ArraySpec, Place};
use crate::keys::Field::{Constant, Number, Whole, Word};
use crate::keys::{ConfigError, Keys, Rule, Table, Words, check};
use crate::math::matrix::padded;

/// Everything that fixes the shape of a machine's tensors and its equations. Ranges and purposes stand in the table
/// of its [`Keys`], defaults in [`ModelConfig::new`]; `tapescope tasks --keys` prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
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
    /// How a head emits its shift weighting.
    pub shift_form: ShiftForm,
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
    /// What happens first in a step.
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

/// The two forms of the shift weighting (§3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShiftForm {
    /// A softmax over the offsets −k ..= k.
    Softmax,
    /// One scalar, read as the lower bound of a uniform distribution of width one.
    Scalar,
}

/// What bounds a key or an add vector. The paper does not say; tanh learns more reliably.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorActivation {
    /// Unbounded.
    Identity,
    /// In (−1, 1).
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

/// The order of events in a step. The paper does not say; implementations differ.
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

impl Words for ShiftForm {
    const WORDS: &'static [(&'static str, Self)] =
        &[("softmax", Self::Softmax), ("scalar", Self::Scalar)];
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

impl Keys for ModelConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("memory.rows", Whole(&mut self.rows, 1..=Self::MAX_ROWS), "locations N of the memory");
        to.key("memory.columns", Whole(&mut self.columns, 1..=4096), "numbers M in a location");
        let mut constant = match self.initial_memory {
            InitialMemory::Constant(value) => Some(value),
            InitialMemory::Learned => None,
        };
        to.key("memory.initial", Constant(&mut constant, &INITIAL), "the memory before the first step: a constant everywhere, or learned");
        self.initial_memory = constant.map_or(InitialMemory::Learned, InitialMemory::Constant);
        to.key("controller.kind", Word(&mut self.controller.kind), "the network that drives the heads");
        to.key("controller.size", Whole(&mut self.controller.size, 1..=16_384), "units of a layer");
        to.key("controller.layers", Whole(&mut self.controller.layers, 1..=16), "layers, each of which sees the one below");
        to.key("heads.read", Whole(&mut self.read_heads, 0..=64), "read heads; with no head at all \
            the controller works alone, without memory: what else stands under `heads` and `memory` then counts for nothing");
        to.key("heads.write", Whole(&mut self.write_heads, 0..=64), "write heads");
        to.key("heads.shift.form", Word(&mut self.shift_form), "how a shift is emitted (paper, section 3.3.2)");
        to.key("heads.shift.range", Whole(&mut self.shift_range, 0..=64), "largest shift k in either direction, 2·k < rows; 1 or more with `scalar`");
        to.key("heads.key_activation", Word(&mut self.key_activation), "what bounds a key");
        to.key("heads.add_activation", Word(&mut self.add_activation), "what bounds an add vector");
        to.key("heads.similarity_epsilon", Number(&mut self.similarity_epsilon, &EPSILON), "added to each squared norm in the cosine");
        to.key("heads.initial_weighting", Word(&mut self.initial_weighting), "of every head before the first step: all on row 0, or learned");
        to.key("heads.order", Word(&mut self.order), "`read-first`: all heads address M_{t−1} and reads see \
            it; `write-first`: the write heads address M_{t−1} and write, then the read heads address and see M_t");
    }
}

/// Far from the end of f32 when squared.
const INITIAL: Rule = Rule {
    allowed: "-1000000 to 1000000",
    holds: |value| value.abs() <= 1e6,
};

const EPSILON: Rule = Rule {
    allowed: "a number, 0 or more, that 32 bits can hold",
    holds: |value| value >= 0.0 && (value as f32).is_finite(),
};

/// Where the parameters that one head emits stand in its row of pre-activations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadColumns {
    /// Key k, M values.
    pub key: Range<usize>,
    /// Key strength β.
    pub strength: usize,
    /// Interpolation gate g.
    pub gate: usize,
    /// Shift s: 2k+1 logits, or one scalar.
    pub shift: Range<usize>,
    /// Sharpening γ.
    pub sharpening: usize,
    /// Erase e, M values; empty for a read head.
    pub erase: Range<usize>,
    /// Add a, M values; empty for a read head.
    pub add: Range<usize>,
}

impl HeadColumns {
    /// All columns of this head.
    pub fn all(&self) -> Range<usize> {
        self.key.start..self.add.end
    }
}

impl ModelConfig {
    /// The paper's machine (128 × 20, LSTM of 100, one head of each kind) for a task of the given width.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            rows: 128,
            columns: 20,
            controller: ControllerConfig {
                kind: ControllerKind::Lstm,
                size: 100,
                layers: 1,
            },
            read_heads: 1,
            write_heads: 1,
            shift_range: 1,
            shift_form: ShiftForm::Softmax,
            key_activation: VectorActivation::Tanh,
            add_activation: VectorActivation::Tanh,
            similarity_epsilon: 1e-6,
            initial_memory: InitialMemory::Constant(1e-6),
            initial_weighting: InitialWeighting::OneHot,
            order: Order::ReadFirst,
        }
    }

    /// The controller alone, the baseline of the paper (§4): no heads, and of the memory one cell that
    /// nothing reads or writes.
    #[must_use]
    pub fn without_memory(self) -> Self {
        Self {
            rows: 1,
            columns: 1,
            controller: self.controller,
            read_heads: 0,
            write_heads: 0,
            shift_range: 0,
            initial_memory: InitialMemory::Constant(0.0),
            ..Self::new(self.inputs, self.outputs)
        }
    }

    /// Read and write heads together.
    pub fn heads(&self) -> usize {
        self.read_heads + self.write_heads
    }

    /// `read0`, `read1`, …, `write0`, …: read heads first.
    pub fn head_name(&self, head: usize) -> String {
        match head.checked_sub(self.read_heads) {
            None => format!("read{head}"),
            Some(write) => format!("write{write}"),
        }
    }

    /// The number of offsets in a shift weighting, 2·range + 1.
    pub fn offsets(&self) -> usize {
        2 * self.shift_range + 1
    }

    /// The columns of head `head` in the row of all heads' pre-activations.
    pub fn head_columns(&self, head: usize) -> HeadColumns {
        let m = self.columns;
        let shift = match self.shift_form {
            ShiftForm::Softmax => self.offsets(),
            ShiftForm::Scalar => 1,
        };
        let addressing = m + 3 + shift;
        let is_write = head >= self.read_heads;
        let writes_before = head.saturating_sub(self.read_heads);
        let start = head * addressing + writes_before * 2 * m;
        let vectors = start + addressing;
        let size = if is_write { m } else { 0 };
        HeadColumns {
            key: start..start + m,
            strength: start + m,
            gate: start + m + 1,
            shift: start + m + 2..start + m + 2 + shift,
            sharpening: vectors - 1,
            erase: vectors..vectors + size,
            add: vectors + size..vectors + 2 * size,
        }
    }

    /// Weights of such a machine, all tensors together.
    pub fn parameters(&self) -> u64 {
        let linear = |inputs: usize, outputs: usize| (inputs as u64 + 1) * outputs as u64;
        let (size, heads) = (self.controller.size, self.heads() as u64);
        let layers = 0..self.controller.layers;
        let controller = layers.map(|layer| linear(self.layer_inputs(layer), self.layer_outputs()));
        let states = match self.controller.kind {
            ControllerKind::Lstm => 2 * self.controller.layers * size,
            ControllerKind::Feedforward => 0,
        };
        let learned = |is_learned: bool, values: u64| if is_learned { values } else { 0 };
        let (rows, columns) = (self.rows as u64, self.columns as u64);
        controller.sum::<u64>()
            + linear(size, self.head_outputs())
            + linear(self.features(), self.outputs)
            + learned(
                self.initial_memory == InitialMemory::Learned,
                rows * columns,
            )
            + learned(
                self.initial_weighting == InitialWeighting::Learned,
                heads * rows,
            )
            + self.read_heads as u64 * columns
            + states as u64
    }

    /// Pre-activations of all heads together.
    pub fn head_outputs(&self) -> usize {
        let last = self.heads().checked_sub(1);
        last.map_or(0, |last| self.head_columns(last).all().end)
    }

    /// Inputs of controller layer `layer`: [x; reads; own hidden] for the first, [hidden below; own
    /// hidden] above it; without the own hidden state in a feedforward controller.
    pub fn layer_inputs(&self, layer: usize) -> usize {
        let size = self.controller.size;
        let below = if layer == 0 {
            self.inputs + self.read_heads * self.columns
        } else {
            size
        };
        below
            + if self.controller.kind == ControllerKind::Lstm {
                size
            } else {
                0
            }
    }

    /// Outputs of a controller layer's linear map: 4 gates per LSTM unit, 1 per feedforward unit.
    pub fn layer_outputs(&self) -> usize {
        let gates = if self.controller.kind == ControllerKind::Lstm {
            4
        } else {
            1
        };
        gates * self.controller.size
    }

    /// Values per step of a series of the trace; 0 for one that such a machine does not have.
    pub fn width(&self, place: Place, array: &ArraySpec) -> usize {
        let is_lstm = self.controller.kind == ControllerKind::Lstm;
        match (place, array.name) {
            (_, "raw") => padded(self.head_outputs()),
            (_, "features") => self.features(),
            (_, "norms") => self.rows,
            (Place::Layer(layer), "controller.input") => self.layer_inputs(layer),
            (_, "controller.gates" | "controller.cell" | "controller.cell_tanh") if !is_lstm => 0,
            (_, "controller.gates") => padded(4 * self.controller.size),
            (_, "controller.cell_tanh") => self.controller.size,
            (Place::Head(head), "read") if head >= self.read_heads => 0,
            (Place::Head(head), "erase" | "add") if head < self.read_heads => 0,
            _ => array.dims.iter().map(|axis| self.axis(axis)).product(),
        }
    }

    /// The size of an axis of an array; 1 for those of time and of layers.
    fn axis(&self, axis: &str) -> usize {
        match axis {
            "x" => self.inputs,
            "y" => self.outputs,
            "n" => self.rows,
            "m" => self.columns,
            "c" => self.controller.size,
            "s" => self.offsets(),
            _ => 1,
        }
    }

    /// Inputs of the output layer: [h; reads].
    pub fn features(&self) -> usize {
        self.controller.size + self.read_heads * self.columns
    }

    /// True when there is a memory, and no tensor depends on the number of its rows, so that the same weights run
    /// on any number.
    pub fn runs_on_any_rows(&self) -> bool {
        self.heads() > 0
            && matches!(self.initial_memory, InitialMemory::Constant(_))
            && self.initial_weighting == InitialWeighting::OneHot
    }

    /// The most memory rows.
    pub const MAX_ROWS: usize = 1 << 20;

    /// The same machine on another number of memory rows.
    ///
    /// # Errors
    /// There is no memory, or a learned tensor fixes its rows ([`ModelConfig::runs_on_any_rows`]), or they are out
    /// of range.
    pub fn with_rows(&self, rows: usize) -> Result<Self, ConfigError> {
        let (field, own) = ("memory.rows", self.rows);
        ConfigError::unless(rows == own || self.runs_on_any_rows(), field, rows, || {
            let why = if self.heads() > 0 {
                "the initial memory or weighting is learned"
            } else {
                "the machine has no memory"
            };
            format!("only {own}, because {why}")
        })?;
        let (least, most) = (self.offsets(), Self::MAX_ROWS);
        ConfigError::unless((least..=most).contains(&rows), field, rows, || {
            format!(
                "{least} to {most} with a shift range of {}",
                self.shift_range
            )
        })?;
        Ok(Self {
            rows,
            ..self.clone()
        })
    }

    /// Checks every range; numbers in the f32 that the machine runs in.
    ///
    /// # Errors
    /// The field, its value and what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        for (name, channels) in [("inputs", self.inputs), ("outputs", self.outputs)] {
            let is_right = (1..=4096).contains(&channels);
            ConfigError::unless(is_right, name, channels, || "1 to 4096".into())?;
        }
        check(&mut self.clone())?;
        let (field, range) = ("heads.shift.range", self.shift_range);
        ConfigError::unless(2 * range < self.rows, field, range, || {
            format!("0 to {}", (self.rows - 1) / 2)
        })?;
        let moves = self.shift_form == ShiftForm::Softmax || range > 0;
        ConfigError::unless(moves, field, range, || {
            "at least 1 with the scalar form".into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_columns_tile_the_row_of_pre_activations() {
        let mut config = ModelConfig::new(9, 8);
        (config.read_heads, config.write_heads, config.columns) = (2, 3, 5);
        for form in [ShiftForm::Softmax, ShiftForm::Scalar] {
            config.shift_form = form;
            let mut next = 0;
            for head in 0..config.heads() {
                let columns = config.head_columns(head);
                assert_eq!(columns.all().start, next);
                assert_eq!(columns.shift.end, columns.sharpening);
                assert_eq!(columns.erase.len(), if head < 2 { 0 } else { 5 });
                next = columns.all().end;
            }
            assert_eq!(config.head_outputs(), next);
        }
    }

    #[test]
    fn parameters_are_counted_without_making_them() {
        let mut config = ModelConfig::new(9, 8);
        (config.write_heads, config.controller.layers) = (2, 2);
        for learned in [false, true] {
            if learned {
                config.initial_memory = InitialMemory::Learned;
                config.initial_weighting = InitialWeighting::Learned;
                config.controller.kind = ControllerKind::Feedforward;
            }
            let params = crate::model::Params::<f32>::zeros(&config);
            let named = params.named(&config);
            let count: usize = named.iter().map(|(_, tensor)| tensor.len()).sum();
            assert_eq!(config.parameters(), count as u64);
        }
    }

    #[test]
    fn out_of_range_names_the_field() {
        let mut config = ModelConfig::new(9, 8);
        config.shift_range = 64;
        assert_eq!(config.validate().unwrap_err().field, "heads.shift.range");
        (config.shift_range, config.shift_form) = (0, ShiftForm::Scalar);
        assert_eq!(config.validate().unwrap_err().field, "heads.shift.range");
    }

    #[test]
    fn what_no_f32_holds_is_out_of_range() {
        for value in [f64::NAN, f64::INFINITY, 1e300, -1e7] {
            let mut config = ModelConfig::new(9, 8);
            config.initial_memory = InitialMemory::Constant(value);
            assert_eq!(config.validate().unwrap_err().field, "memory.initial");
        }
        for value in [f64::NAN, -1e-9, 1e300] {
            let mut config = ModelConfig::new(9, 8);
            config.similarity_epsilon = value;
            let field = config.validate().unwrap_err().field;
            assert_eq!(field, "heads.similarity_epsilon");
        }
    }

    #[test]
    fn rows_change_where_nothing_learned_depends_on_them() {
        let mut config = ModelConfig::new(9, 8);
        assert_eq!(config.with_rows(3).unwrap().rows, 3);
        let message = |config: &ModelConfig, rows| config.with_rows(rows).unwrap_err().to_string();
        for rows in [0, 2, usize::MAX] {
            let allowed = "allowed: 3 to 1048576 with a shift range of 1";
            let expected = format!("memory.rows is {rows}; {allowed}");
            assert_eq!(message(&config, rows), expected);
        }
        config.initial_weighting = InitialWeighting::Learned;
        assert_eq!(config.with_rows(128).unwrap(), config);
        let allowed = "only 128, because the initial memory or weighting is learned";
        let expected = format!("memory.rows is 64; allowed: {allowed}");
        assert_eq!(message(&config, 64), expected);
        let allowed = "only 1, because the machine has no memory";
        let expected = format!("memory.rows is 64; allowed: {allowed}");
        assert_eq!(message(&config.without_memory(), 64), expected);
    }
}
