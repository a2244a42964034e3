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

    /// Bytes of a trace with room for an episode of `steps` steps, as [`Trace::resize_for_training`] makes
    /// it; with no limit on the values of memory, as [`Trace::resize`] does.
    pub fn bytes(config: &ModelConfig, steps: usize, limit: usize) -> u64 {
        let trace = Self::new(config);
        let every = Self::memory_every_for(trace.memory_columns.width(), steps, limit);
        let heads = trace.heads.iter();
        let per_step: usize = trace.per_step().map(Series::width).sum::<usize>()
            + heads
                .clone()
                .map(|head| head.scalars().len())
                .sum::<usize>();
        let at_once: usize = heads.map(|head| head.initial.len()).sum();
        let times = |width: usize, rows: usize| (width as u64).saturating_mul(rows as u64);
        times(per_step, steps)
            .saturating_add(times(
                trace.memory_columns.width(),
                memory_rows(steps, every),
            ))
            .saturating_add(times(trace.norms.width(), norms_rows(steps, every)))
            .saturating_add(at_once as u64)
            .saturating_mul(size_of::<R>() as u64)
    }

    /// Makes room for an episode of `steps` steps that will be differentiated, not shown: when all M_t
    /// together would take more than `limit` values, only about √T of them are kept.
    pub fn resize_for_training(&mut self, steps: usize, limit: usize) {
        self.memory_every = Self::memory_every_for(self.memory_columns.width(), steps, limit);
        self.resize(steps);
    }

    /// How many steps lie between two memories of so many values that are kept.
    pub(crate) fn memory_every_for(values: usize, steps: usize, limit: usize) -> usize {
        let memories = steps.saturating_add(1);
        if memories.saturating_mul(values) <= limit {
            1
        } else {
            memories.isqrt() + 1
        }
    }

    /// Every series with one row per step. Those of memory are apart: they have a row more, or fewer.
    fn per_step(&self) -> impl Iterator<Item = &Series<R>> {
        let Self {
            input,
            logit,
            output,
            layers,
            heads,
            memory_columns: _,
            memory_every: _,
            raw,
            features,
            norms: _,
        } = self;
        [input, logit, output, raw, features]
            .into_iter()
            .chain(layers.iter().flat_map(LayerTrace::series))
            .chain(heads.iter().flat_map(HeadTrace::series))
    }

    /// Every number of the trace, in no particular order.
    #[cfg(test)]
    pub(crate) fn values(&self) -> impl Iterator<Item = R> {
        let heads = self.heads.iter();
        let scalars = heads.flat_map(|head| head.scalars().into_iter().chain([&head.initial]));
        self.per_step()
            .chain([&self.memory_columns, &self.norms])
            .flat_map(Series::as_slice)
            .chain(scalars.flatten())
            .copied()
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

    /// `read0`, `read1`, …, `write0`, …, as [`ModelConfig::head_name`].
    pub fn head_name(&self, head: usize) -> String {
        let reads = self.heads.partition_point(|head| !head.is_write());
        match head.checked_sub(reads) {
            None => format!("read{head}"),
            Some(write) => format!("write{write}"),
        }
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
        self.norms.resize(norms_rows(steps, every));
        self.memory_columns.resize(memory_rows(steps, every));
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

/// Rows of `memory_columns` for so many steps.
fn memory_rows(steps: usize, every: usize) -> usize {
    match every {
        1 => steps.saturating_add(1),
        // Those that are kept, M_0 among them, and two for what lies between.
        every => steps / every + 3,
    }
}

/// Rows of `norms` for so many steps.
fn norms_rows(steps: usize, every: usize) -> usize {
    if every == 1 { steps } else { 1 }
}

impl<R: Real> LayerTrace<R> {
    fn series(&self) -> [&Series<R>; 5] {
        let Self {
            input,
            gates,
            cell,
            cell_tanh,
            hidden,
        } = self;
        [input, gates, cell, cell_tanh, hidden]
    }
}

impl<R: Real> HeadTrace<R> {
    /// What has a row per step.
    fn series(&self) -> impl Iterator<Item = &Series<R>> {
        let Self {
            key,
            strength: _,
            gate: _,
            shift,
            sharpening: _,
            similarity,
            content,
            gated,
            shifted,
            weighting,
            initial: _,
            role,
        } = self;
        let (one, other) = match role {
            Role::Read { read } => (read, None),
            Role::Write { erase, add } => (erase, Some(add)),
        };
        [key, shift, similarity, content, gated, shifted, weighting]
            .into_iter()
            .chain([one])
            .chain(other)
    }

    /// Every number of this head, in no particular order.
    pub fn values(&self) -> impl Iterator<Item = R> {
        let scalars = self.scalars().into_iter().chain([&self.initial]);
        self.series()
            .flat_map(Series::as_slice)
            .chain(scalars.flatten())
            .copied()
    }

    /// What has a number per step.
    fn scalars(&self) -> [&Vec<R>; 3] {
        [&self.strength, &self.gate, &self.sharpening]
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::ControllerKind;

    #[test]
    fn bytes_are_those_of_the_arrays() {
        let mut config = ModelConfig::new(3, 2);
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
        let mut trace = Trace::<f32>::new(&ModelConfig::new(3, 2));
        trace.resize_for_training(50, 0);
        let _ = trace.memory(49);
    }
}
