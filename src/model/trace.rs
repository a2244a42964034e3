//! The record of one episode: what back-propagation reads from the end, the viewer in any order, and
//! the exporter as it stands. One array per quantity, time first.

use ndarray::ArrayView2;

use super::config::ModelConfig;
use crate::math::matrix::padded;
use crate::math::{Real, Series};

/// Everything a machine computed in one episode. All series have one row per step.
///
/// Shapes: T steps, X inputs, Y outputs, N memory rows, M columns, C units per controller layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace<R = f32> {
    /// Input x_t, [T, X].
    pub input: Series<R>,
    /// Output before the sigmoid, [T, Y].
    pub logit: Series<R>,
    /// Output y_t in (0, 1), [T, Y].
    pub output: Series<R>,
    /// The controller, bottom layer first.
    pub layers: Vec<LayerTrace<R>>,
    /// Read heads, then write heads.
    pub heads: Vec<HeadTrace<R>>,
    /// Memory, [T+1, M·N], column after column; [`Trace::memory`] shows it as rows. When `memory_every` is
    /// more than 1, only some of it; see there.
    pub memory_columns: Series<R>,
    /// 1: every M_t is kept. k > 1, for training large memories: rows 0, 1, … of `memory_columns` are M_0,
    /// M_k, M_2k, …, followed by two rows in turn for what lies between; back-propagation writes those
    /// again, from what the heads wrote, to the same bits.
    pub memory_every: usize,
    /// Pre-activations of all heads, [T, P and padding]; see [`ModelConfig::head_columns`].
    pub raw: Series<R>,
    /// What the output layer sees: [h_t; r_t of every read head], [T, C + R·M].
    pub features: Series<R>,
    /// sqrt(|M_{t−1}(i)|² + ε), the norms of the cosine, [T, N]; where memory is not kept every step,
    /// [1, N], of the last step.
    pub norms: Series<R>,
}

/// One controller layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerTrace<R = f32> {
    /// What the layer saw, [T, inputs]; see [`ModelConfig::layer_inputs`].
    pub input: Series<R>,
    /// LSTM: the activated gates i, f, g, o, [T, 4C and padding]. Empty rows for a feedforward layer.
    pub gates: Series<R>,
    /// LSTM cell c_t, [T, C]. Empty rows for a feedforward layer.
    pub cell: Series<R>,
    /// tanh(c_t), [T, C]. Empty rows for a feedforward layer.
    pub cell_tanh: Series<R>,
    /// Hidden state h_t, [T, C].
    pub hidden: Series<R>,
}

/// One head: the parameters it emitted and every stage of the addressing they drove.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadTrace<R = f32> {
    /// Key k_t, [T, M].
    pub key: Series<R>,
    /// Key strength β_t ≥ 0, [T].
    pub strength: Vec<R>,
    /// Interpolation gate g_t in (0, 1), [T].
    pub gate: Vec<R>,
    /// Shift weighting s_t, [T, 2k+1]: index j moves the focus by j − k rows.
    pub shift: Series<R>,
    /// Sharpening γ_t ≥ 1, [T].
    pub sharpening: Vec<R>,
    /// Cosine of the key with every row of M_{t−1}, in [−1, 1], [T, N] (equation 6).
    pub similarity: Series<R>,
    /// Content weighting w^c, [T, N] (equation 5).
    pub content: Series<R>,
    /// Gated weighting w^g, [T, N] (equation 7).
    pub gated: Series<R>,
    /// Shifted weighting w̃, [T, N] (equation 8).
    pub shifted: Series<R>,
    /// Final weighting w, [T, N] (equation 9).
    pub weighting: Series<R>,
    /// The weighting before the first step, [N].
    pub initial: Vec<R>,
    /// What the head did with its weighting.
    pub role: Role<R>,
}

/// A head reads or writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Role<R = f32> {
    /// Read vector r_t = Σ w(i)·M_{t−1}(i), [T, M] (equation 2).
    Read {
        /// Read vector.
        read: Series<R>,
    },
    /// Erase e_t in (0, 1) and add a_t, [T, M] each (equations 3 and 4).
    Write {
        /// Erase vector.
        erase: Series<R>,
        /// Add vector.
        add: Series<R>,
    },
}

impl<R: Real> Trace<R> {
    /// An empty trace for machines of this configuration.
    pub fn new(config: &ModelConfig) -> Self {
        let (n, m, c) = (config.rows, config.columns, config.controller.size);
        let lstm = config.layer_outputs() > c;
        let layer = |index| LayerTrace {
            input: Series::new(config.layer_inputs(index)),
            gates: Series::new(if lstm { padded(4 * c) } else { 0 }),
            cell: Series::new(if lstm { c } else { 0 }),
            cell_tanh: Series::new(if lstm { c } else { 0 }),
            hidden: Series::new(c),
        };
        let head = |index| HeadTrace {
            key: Series::new(m),
            strength: Vec::new(),
            gate: Vec::new(),
            shift: Series::new(config.offsets()),
            sharpening: Vec::new(),
            similarity: Series::new(n),
            content: Series::new(n),
            gated: Series::new(n),
            shifted: Series::new(n),
            weighting: Series::new(n),
            initial: vec![R::ZERO; n],
            role: if index < config.read_heads {
                Role::Read {
                    read: Series::new(m),
                }
            } else {
                Role::Write {
                    erase: Series::new(m),
                    add: Series::new(m),
                }
            },
        };
        Self {
            input: Series::new(config.inputs),
            logit: Series::new(config.outputs),
            output: Series::new(config.outputs),
            layers: (0..config.controller.layers).map(layer).collect(),
            heads: (0..config.heads()).map(head).collect(),
            memory_columns: Series::new(m * n),
            memory_every: 1,
            raw: Series::new(padded(config.head_outputs())),
            features: Series::new(config.features()),
            norms: Series::new(n),
        }
    }

    /// Makes room for an episode of `steps` steps that will be differentiated, not shown: when all M_t
    /// together would take more than `limit` values, only about √T of them are kept.
    pub fn resize_for_training(&mut self, steps: usize, limit: usize) {
        let all = (steps + 1) * self.memory_columns.width();
        self.memory_every = if all <= limit {
            1
        } else {
            (steps + 1).isqrt() + 1
        };
        self.resize(steps);
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

    /// Steps of the recorded episode, T.
    pub fn steps(&self) -> usize {
        self.input.steps()
    }

    /// M_t, [N, M]: the memory after `t` steps, so 0 is the memory before the first one. Every M_t must have
    /// been kept.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the lengths agree by construction"
    )]
    pub fn memory(&self, t: usize) -> ArrayView2<'_, R> {
        let rows = self.norms.width();
        let columns = self.memory_columns.row(t);
        ArrayView2::from_shape((columns.len() / rows, rows), columns)
            .expect("a memory has rows * columns values")
            .reversed_axes()
    }

    /// Makes room for `steps` steps; allocates only when no earlier episode was as long.
    pub fn resize(&mut self, steps: usize) {
        for series in [
            &mut self.input,
            &mut self.logit,
            &mut self.output,
            &mut self.raw,
            &mut self.features,
        ] {
            series.resize(steps);
        }
        let every = self.memory_every;
        self.norms.resize(if every == 1 { steps } else { 1 });
        self.memory_columns.resize(if every == 1 {
            steps + 1
        } else {
            steps / every + 3
        });
        for layer in &mut self.layers {
            for series in [
                &mut layer.input,
                &mut layer.gates,
                &mut layer.cell,
                &mut layer.cell_tanh,
                &mut layer.hidden,
            ] {
                series.resize(steps);
            }
        }
        for head in &mut self.heads {
            head.resize(steps);
        }
    }
}

impl<R: Real> HeadTrace<R> {
    fn resize(&mut self, steps: usize) {
        for scalar in [&mut self.strength, &mut self.gate, &mut self.sharpening] {
            scalar.resize(steps, R::ZERO);
        }
        for series in [
            &mut self.key,
            &mut self.shift,
            &mut self.similarity,
            &mut self.content,
            &mut self.gated,
            &mut self.shifted,
            &mut self.weighting,
        ] {
            series.resize(steps);
        }
        match &mut self.role {
            Role::Read { read } => read.resize(steps),
            Role::Write { erase, add } => {
                erase.resize(steps);
                add.resize(steps);
            }
        }
    }

    /// The key of step `t`, to read, and the row for its similarities, to write.
    pub(super) fn key_and_similarity(&mut self, t: usize) -> (&[R], &mut [R]) {
        (self.key.row(t), self.similarity.row_mut(t))
    }

    /// True for a write head.
    pub fn is_write(&self) -> bool {
        matches!(self.role, Role::Write { .. })
    }

    /// w_{t−1}: the weighting of the step before `t`, or the initial one.
    pub fn previous_weighting(&self, t: usize) -> &[R] {
        if t == 0 {
            &self.initial
        } else {
            self.weighting.row(t - 1)
        }
    }
}
