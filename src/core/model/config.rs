//! The size and the variant of a machine. Checked once, in [`NtmConfig::validate`]; trusted afterwards.

use std::ops::Range;

use super::attention::{AttentionConfig, Mechanism, Score, Weighting};
use super::machine::{Kind, ModelConfig};
use super::params::{LinearSpec, Shape, TensorSpec};
use super::recompute::{self, Conventions, Dependency};
use super::trace::{ArraySpec, HeadTrace, Place};
use crate::keys::Field::{Choice, ChoicePerHead, Constant, Integer, Number};
use crate::keys::{self, ConfigError, Keys, PerHead, Table, Words, check};
use crate::math::matrix::padded;

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

/// The two forms of the shift weighting (§3.3.2), or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShiftForm {
    /// A softmax over the offsets −k ..= k.
    Softmax,
    /// One scalar, read as the lower bound of a uniform distribution of width one.
    Scalar,
    /// The focus does not move.
    None,
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

impl Words for ShiftForm {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("softmax", Self::Softmax),
        ("scalar", Self::Scalar),
        ("none", Self::None),
    ];
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
        let mut constant = match self.initial_memory {
            InitialMemory::Constant(value) => Some(value),
            InitialMemory::Learned => None,
        };
        to.key("memory.initial", Constant(&mut constant, &INITIAL), "memory before the first step: one constant everywhere, or learned");
        self.initial_memory = constant.map_or(InitialMemory::Learned, InitialMemory::Constant);
        self.controller.keys(&mut to.section("controller"));
        to.key("heads.read", Integer(&mut self.read_heads, 0..=Self::MAX_HEADS), "number of read heads; with no heads at all the \
            machine is of the kind `plain`, and all other keys under `heads` and `memory` are ignored");
        to.key("heads.write", Integer(&mut self.write_heads, 0..=Self::MAX_HEADS), "number of write heads");
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

impl Keys for ControllerConfig {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("kind", Choice(&mut self.kind), "network that drives the heads");
        to.key("size", Integer(&mut self.size, 1..=16_384), "units per layer");
        to.key("layers", Integer(&mut self.layers, 1..=16), "number of layers; each receives the hidden state of the layer below");
    }
}

/// Far from the end of f32 when squared.
const INITIAL: keys::Rule = keys::Rule {
    allowed: "-1000000 to 1000000",
    holds: |value| value.abs() <= 1e6,
};

const EPSILON: keys::Rule = keys::Rule {
    allowed: "a number, 0 or more, that 32 bits can hold",
    holds: |value| value >= 0.0 && (value as f32).is_finite(),
};

/// Columns of one head's parameters in the row of pre-activations of all heads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadColumns {
    /// Key k, M values.
    pub key: Range<usize>,
    /// Key strength β; empty where it is 1.
    pub strength: Range<usize>,
    /// Interpolation gate g; empty where there is none.
    pub gate: Range<usize>,
    /// Shift s: 2k+1 logits, one scalar, or nothing.
    pub shift: Range<usize>,
    /// Sharpening γ; empty where there is none.
    pub sharpening: Range<usize>,
    /// Erase e, M values; empty for a read head, and for one that erases nothing.
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

    /// A machine whose heads have, together, every array that any head may have.
    pub fn with_every_mechanism() -> Self {
        let mut config = Self::new(1, 1);
        (config.read_heads, config.write_heads) = (4, 4);
        let scores = [
            Score::Additive,
            Score::General,
            Score::Location,
            Score::Cosine,
        ];
        config.attention.score = [scores, scores].concat().into();
        let weightings = [
            Weighting::Hard,
            Weighting::LocalPredictive,
            Weighting::Weibull,
            Weighting::Lognormal,
        ];
        config.attention.weighting = [weightings, weightings].concat().into();
        config
    }

    /// Read and write heads together.
    pub fn heads(&self) -> usize {
        self.read_heads.saturating_add(self.write_heads)
    }

    /// The largest shift of any head; 0 where the focus of all stays.
    fn largest_shift(&self) -> usize {
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
            let has = |array| usize::from(self.attention.has(before, array));
            let mut take = |width: usize| {
                next += width;
                next - width..next
            };
            HeadColumns {
                key: take(self.columns),
                strength: take(has("strength")),
                gate: take(has("gate")),
                shift: take(shift),
                sharpening: take(has("sharpening")),
                erase: take(has("erase") * written),
                add: take(written),
            }
        };
        for before in 0..head {
            let _ = of(before);
        }
        of(head)
    }

    /// Values in a step of an array of a head, by its name.
    pub(super) fn own_width(&self, head: usize, array: &str) -> usize {
        let mut arrays = HeadTrace::<f32>::ARRAYS.iter();
        let array = arrays.find(|spec| spec.name == array);
        array.map_or(0, |array| self.width(Place::Head(head), array))
    }

    /// Pre-activations of all heads together.
    pub fn head_outputs(&self) -> usize {
        let last = self.heads().checked_sub(1);
        last.map_or(0, |last| self.head_columns(last).all().end)
    }

    /// Returns the learned tensors of the mechanism of a head, in the order of its arrays.
    fn learned(&self, head: usize) -> impl Iterator<Item = TensorSpec> {
        let name = (self as &dyn Kind).head_name(head);
        let arrays = HeadTrace::<f32>::ARRAYS.iter();
        arrays.filter_map(move |array| {
            let start = array.start()?;
            if self.width(Place::Head(head), array) == 0 {
                return None;
            }
            let size = |axis: &str| self.axis(axis).unwrap_or(1);
            let (rows, columns) = match array.dims {
                [rows, columns] => (size(rows), size(columns)),
                dims => (1, dims.iter().map(|axis| size(axis)).product()),
            };
            Some(TensorSpec {
                name: format!("{name}.{}", array.name).into(),
                rows,
                columns,
                start,
            })
        })
    }

    /// Returns true if a head scores the position of a row instead of its content.
    fn scores_positions(&self) -> bool {
        self.attention.score.any(|score| score == Score::Location)
    }

    /// Inputs of the output layer: [h; reads].
    pub fn features(&self) -> usize {
        self.controller.size + self.read_heads * self.columns
    }

    /// Returns the number of inputs of the first controller layer: [x; reads].
    pub fn first_inputs(&self) -> usize {
        self.inputs + self.read_heads * self.columns
    }

    /// The most memory rows.
    pub const MAX_ROWS: usize = 1 << 20;

    /// The most heads of a kind.
    pub const MAX_HEADS: usize = 64;
}

impl Kind for NtmConfig {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn layers(&self) -> usize {
        self.controller.layers
    }

    fn units(&self) -> usize {
        self.controller.size
    }

    fn read_heads(&self) -> usize {
        self.read_heads
    }

    fn write_heads(&self) -> usize {
        self.write_heads
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn shape(&self) -> Shape {
        let heads = (0..self.heads()).map(|head| {
            let name = (self as &dyn Kind).head_name(head);
            (name, self.head_columns(head).all().len())
        });
        let heads = LinearSpec {
            parts: heads.collect(),
            inputs: self.controller.size,
        };
        let output = LinearSpec::new("output", self.features(), self.outputs);
        let learned = |is_learned: bool, rows: usize| if is_learned { rows } else { 0 };
        let memory = learned(self.initial_memory == InitialMemory::Learned, self.rows);
        let weightings = learned(
            self.initial_weighting == InitialWeighting::Learned,
            self.heads(),
        );
        let [hidden, cell] = self.controller.states();
        let controller = self.controller.linears(self.first_inputs());
        // In the order of [`tensor`].
        let mut tensors = vec![
            TensorSpec::state("initial.memory", memory, self.columns),
            TensorSpec::state("initial.weighting", weightings, self.rows),
            TensorSpec::state("initial.read", self.read_heads, self.columns),
            hidden,
            cell,
        ];
        tensors.extend((0..self.heads()).flat_map(|head| self.learned(head)));
        Shape {
            linears: controller.chain([heads, output]).collect(),
            tensors,
        }
    }

    fn width(&self, place: Place, array: &ArraySpec) -> usize {
        let axis = |axis: &&str| self.axis(axis).unwrap_or(1);
        match (place, array.name) {
            (Place::Layer(layer), _) => self.controller.width(layer, array, self.first_inputs()),
            (Place::Machine, "raw") => padded(self.head_outputs()),
            (Place::Machine, "features") => self.features(),
            (Place::Machine, "norms") => self.rows,
            (Place::Head(head), "shift" | "shifted")
                if self.shift_form.of(head) == ShiftForm::None =>
            {
                0
            }
            (Place::Head(head), "read") if head >= self.read_heads => 0,
            (Place::Head(head), "erase" | "add") if head < self.read_heads => 0,
            (Place::Head(head), name) if !self.attention.has(head, name) => 0,
            (Place::Head(head), name) => {
                let size = [self.rows, self.columns];
                let scratch = self.attention.scratch(head, name, size);
                scratch.unwrap_or_else(|| array.dims.iter().map(axis).product())
            }
            _ => array.dims.iter().map(axis).product(),
        }
    }

    fn axis(&self, axis: &str) -> Option<usize> {
        Some(match axis {
            "x" => self.inputs,
            "y" => self.outputs,
            "n" => self.rows,
            "m" => self.columns,
            "s" => self.offsets(),
            "a" => self.attention.units,
            "p" => self.attention.parameters.position_units,
            "h" => self.attention.parameters.prior_units,
            _ => return None,
        })
    }

    fn mechanism(&self, head: usize) -> Mechanism {
        Mechanism {
            shift_form: self.shift_form.of(head),
            columns: self.head_columns(head),
            ..self.attention.of(head)
        }
    }

    fn weighting(&self, head: usize) -> Weighting {
        self.attention.weighting.of(head)
    }

    fn dependencies(&self, conventions: &Conventions) -> Vec<Dependency> {
        recompute::dependencies(self, conventions)
    }

    fn with_rows(&self, rows: usize) -> Result<ModelConfig, ConfigError> {
        let (field, own) = ("memory.rows", self.rows);
        ConfigError::unless(self.runs_on_any_rows(), field, rows, || {
            let what = if self.scores_positions() {
                "a score of positions"
            } else {
                "the initial memory or weighting"
            };
            format!("only {own}, because {what} is learned")
        })?;
        let (least, most) = (self.offsets(), Self::MAX_ROWS);
        ConfigError::unless((least..=most).contains(&rows), field, rows, || {
            let range = self.largest_shift();
            format!("{least} to {most} with a shift range of {range}")
        })?;
        let config = Self {
            rows,
            ..self.clone()
        };
        Ok(config.into())
    }

    fn runs_on_any_rows(&self) -> bool {
        matches!(self.initial_memory, InitialMemory::Constant(_))
            && self.initial_weighting == InitialWeighting::OneHot
            && !self.scores_positions()
    }

    fn set_channels(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
    }

    /// Holds it to the ranges of its keys; numbers in the f32 that the machine runs in.
    fn validate(&self) -> Result<(), ConfigError> {
        check_channels(self.inputs, self.outputs)?;
        check(&mut self.clone())?;
        ConfigError::unless(self.heads() > 0, "heads.write", 0, || {
            "1 to 64 without a read head".into()
        })?;
        self.attention.fits(self.heads(), &self.shift_form)?;
        let (field, range) = ("heads.shift.range", self.largest_shift());
        ConfigError::unless(2 * range < self.rows, field, range, || {
            format!("0 to {}", (self.rows - 1) / 2)
        })?;
        let moves = range > 0 || !self.shift_form.any(|form| form == ShiftForm::Scalar);
        ConfigError::unless(moves, field, range, || {
            "at least 1 with the scalar form".into()
        })
    }
}

/// Indices of the tensors that are no linear maps among the [`super::Params`].
pub(super) mod tensor {
    pub(in crate::model) const MEMORY: usize = 0;
    pub(in crate::model) const WEIGHTING: usize = 1;
    pub(in crate::model) const READ: usize = 2;
    pub(in crate::model) const HIDDEN: usize = 3;
    pub(in crate::model) const CELL: usize = 4;
    /// Index of the first tensor learned by the mechanisms of the heads.
    pub(in crate::model) const LEARNED: usize = 5;
}

impl ControllerConfig {
    /// The LSTM of the paper.
    pub(super) const PAPER: Self = Self {
        kind: ControllerKind::Lstm,
        size: 100,
        layers: 1,
    };
}

/// Checks that a machine can have the channels of a task.
pub(super) fn check_channels(inputs: usize, outputs: usize) -> Result<(), ConfigError> {
    for (name, channels) in [("inputs", inputs), ("outputs", outputs)] {
        let is_right = (1..=4096).contains(&channels);
        ConfigError::unless(is_right, name, channels, || "1 to 4096".into())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attention::Switch;

    #[test]
    fn head_columns_tile_the_row_of_pre_activations() {
        let mut config = NtmConfig::new(9, 8);
        (config.read_heads, config.write_heads, config.columns) = (2, 3, 5);
        let (on, off) = (Switch::On, Switch::Off);
        config.attention.erase = vec![on, off, on, off, on].into();
        for form in [ShiftForm::Softmax, ShiftForm::Scalar] {
            config.shift_form = form.into();
            let mut next = 0;
            for head in 0..config.heads() {
                let columns = config.head_columns(head);
                assert_eq!(columns.all().start, next);
                assert_eq!(columns.shift.end, columns.sharpening.start);
                let written = [columns.erase.len(), columns.add.len()];
                assert_eq!(written, [[0, 0], [0, 0], [5, 5], [0, 5], [5, 5]][head]);
                next = columns.all().end;
            }
            assert_eq!(config.head_outputs(), next);
        }
    }

    #[test]
    fn parameters_are_counted_without_making_them() {
        let mut config = NtmConfig::new(9, 8);
        (config.write_heads, config.controller.layers) = (2, 2);
        for learned in [false, true] {
            if learned {
                config.initial_memory = InitialMemory::Learned;
                config.initial_weighting = InitialWeighting::Learned;
                config.controller.kind = ControllerKind::Feedforward;
            }
            let params = crate::model::Params::<f32>::zeros(&config);
            let named = params.named();
            let count: usize = named.iter().map(|(_, tensor)| tensor.len()).sum();
            assert_eq!(config.shape().count(), count as u64);
        }
    }

    #[test]
    fn out_of_range_names_the_field() {
        let mut config = NtmConfig::new(9, 8);
        config.shift_range = 64;
        assert_eq!(config.validate().unwrap_err().field, "heads.shift.range");
        (config.shift_range, config.shift_form) = (0, ShiftForm::Scalar.into());
        assert_eq!(config.validate().unwrap_err().field, "heads.shift.range");
        // Where nothing is shifted, no row is too few.
        (config.shift_range, config.shift_form, config.rows) = (64, ShiftForm::None.into(), 1);
        assert_eq!(config.validate(), Ok(()));
        assert_eq!(config.with_rows(2).unwrap().rows(), 2);
    }

    #[test]
    fn a_list_has_a_word_for_each_head() {
        let mut config = NtmConfig::new(9, 8);
        for count in [1, 3] {
            config.attention.gate = vec![Switch::Off; count].into();
            let error = config.validate().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "heads.attention.gate is a list of {count}; allowed: one word for all heads, or a list of 2, read heads first"
                )
            );
        }
        config.read_heads = 0;
        config.attention.gate = vec![Switch::Off].into();
        assert_eq!(config.validate(), Ok(()));
    }

    #[test]
    fn far_too_many_heads_are_refused_at_once() {
        let mut config = NtmConfig::new(9, 8);
        (config.read_heads, config.write_heads) = (usize::MAX, usize::MAX);
        assert!(!ModelConfig::from(config.clone()).is_random());
        assert_eq!(config.validate().unwrap_err().field, "heads.read");
    }

    #[test]
    fn what_no_f32_holds_is_out_of_range() {
        for value in [f64::NAN, f64::INFINITY, 1e300, -1e7] {
            let mut config = NtmConfig::new(9, 8);
            config.initial_memory = InitialMemory::Constant(value);
            assert_eq!(config.validate().unwrap_err().field, "memory.initial");
        }
        for value in [f64::NAN, -1e-9, 1e300] {
            let mut config = NtmConfig::new(9, 8);
            config.similarity_epsilon = value;
            let field = config.validate().unwrap_err().field;
            assert_eq!(field, "heads.similarity_epsilon");
        }
    }

    #[test]
    fn rows_change_where_nothing_learned_depends_on_them() {
        let mut config = NtmConfig::new(9, 8);
        assert_eq!(config.with_rows(3).unwrap().rows(), 3);
        let message = |config: &NtmConfig, rows| config.with_rows(rows).unwrap_err().to_string();
        for rows in [0, 2, usize::MAX] {
            let allowed = "allowed: 3 to 1048576 with a shift range of 1";
            let expected = format!("memory.rows is {rows}; {allowed}");
            assert_eq!(message(&config, rows), expected);
        }
        config.initial_weighting = InitialWeighting::Learned;
        let any = ModelConfig::from(config.clone());
        assert_eq!(any.with_rows(128), Ok(any.clone()));
        let allowed = "only 128, because the initial memory or weighting is learned";
        let expected = format!("memory.rows is 64; allowed: {allowed}");
        assert_eq!(message(&config, 64), expected);
        (config.read_heads, config.write_heads) = (0, 0);
        assert_eq!(config.validate().unwrap_err().field, "heads.write");
    }
}
