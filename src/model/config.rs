//! The size and the variant of a machine. Checked once, in [`ModelConfig::validate`]; trusted afterwards.

use std::ops::Range;

/// Everything that fixes the shape of a machine's tensors and its equations.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `inputs` | from the task | ≥ 1 | channels of the input x_t |
/// | `outputs` | from the task | ≥ 1 | channels of the output y_t |
/// | `rows` | 128 | 1 ..= 1,048,576 | memory locations N (paper §4) |
/// | `columns` | 20 | 1 ..= 4096 | size M of a memory row |
/// | `controller` | LSTM, 1 × 100 | | the network that drives the heads |
/// | `read_heads`, `write_heads` | 1, 1 | 1 ..= 64 | number of heads R, W |
/// | `shift_range` | 1 | 0 ..= 64, 2·range < rows | largest shift k; offsets −k ..= k |
/// | `shift_form` | softmax | | the two forms of the paper, §3.3.2 |
/// | `key_activation`, `add_activation` | tanh | | how k and a are bounded |
/// | `similarity_epsilon` | 1e-6 | ≥ 0, finite | see [`crate::math::similarity`] |
/// | `initial_memory` | constant 1e-6 | | M_0 |
/// | `initial_weighting` | one-hot on row 0 | | w_0 of every head |
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

    /// Inputs of the output layer: [h; reads].
    pub fn features(&self) -> usize {
        self.controller.size + self.read_heads * self.columns
    }

    /// True when no tensor depends on the number of rows, so that the same weights run on any number.
    pub fn runs_on_any_rows(&self) -> bool {
        matches!(self.initial_memory, InitialMemory::Constant(_))
            && self.initial_weighting == InitialWeighting::OneHot
    }

    /// Checks every range in the table above.
    ///
    /// # Errors
    /// The field, its value and what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let within = |field, value: usize, low: usize, high: usize| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(ConfigError {
                    field,
                    found: value.to_string(),
                    allowed: format!("{low} to {high}"),
                })
            }
        };
        within("inputs", self.inputs, 1, 4096)?;
        within("outputs", self.outputs, 1, 4096)?;
        within("memory.rows", self.rows, 1, 1 << 20)?;
        within("memory.columns", self.columns, 1, 4096)?;
        within("controller.size", self.controller.size, 1, 16_384)?;
        within("controller.layers", self.controller.layers, 1, 16)?;
        within("heads.read", self.read_heads, 1, 64)?;
        within("heads.write", self.write_heads, 1, 64)?;
        within(
            "heads.shift.range",
            self.shift_range,
            0,
            64.min((self.rows - 1) / 2),
        )?;
        if self.shift_form == ShiftForm::Scalar && self.shift_range == 0 {
            return Err(ConfigError {
                field: "heads.shift.range",
                found: "0".into(),
                allowed: "at least 1 with the scalar form".into(),
            });
        }
        let finite = |field, value: f64, low: f64| {
            if value.is_finite() && value >= low {
                Ok(())
            } else {
                Err(ConfigError {
                    field,
                    found: value.to_string(),
                    allowed: format!("a finite number ≥ {low}"),
                })
            }
        };
        finite("heads.similarity_epsilon", self.similarity_epsilon, 0.0)?;
        if let InitialMemory::Constant(value) = self.initial_memory {
            finite("memory.initial", value, -1e6)?;
        }
        Ok(())
    }
}

/// A field of a configuration that is out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The path of the field as a preset writes it.
    pub field: &'static str,
    /// What was given.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} is {}; allowed: {}",
            self.field, self.found, self.allowed
        )
    }
}

impl std::error::Error for ConfigError {}

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
    fn out_of_range_names_the_field() {
        let mut config = ModelConfig::new(9, 8);
        config.shift_range = 64;
        assert_eq!(config.validate().unwrap_err().field, "heads.shift.range");
    }
}
