//! The registry of kinds of machines, and a machine of any kind with its weights.

use std::ops::{Deref, DerefMut, Range};

use ndarray::Array2;
use rand::SeedableRng;

use super::array;
use super::config::{InitialMemory, NtmConfig};
use super::dependency::{Conventions, Dependency};
use super::dnc::DncConfig;
use super::episode_input::{EpisodeInput, Setting};
use super::equations::EquationsConfig;
use super::intervention::{Intervention, apply_all};
use super::kind::{AsKind, Kind};
use super::machine::{Batch, Machine, TOGETHER, Upstream, Workspace, longest};
use super::noise::{Draw, Noise};
use super::params::Params;
use super::sam::SamConfig;
use super::spec::{Array, Place};
use super::trace::{Keep, Trace};
use crate::keys::{ConfigError, Field, Keys, Table, Words};
use crate::math::{Random, Real};

/// The one list of all kinds: the configuration of a machine of any of them.
macro_rules! kinds {
    ($($(#[$attribute:meta])* $word:literal: $kind:ident($config:ty),)*) => {
        /// The size and the variant of a machine of any kind. Checked once, in [`ModelConfig::validate`]; trusted
        /// afterwards.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ModelConfig {
            $($(#[$attribute])* $kind($config),)*
        }

        impl Deref for ModelConfig {
            type Target = dyn Kind;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$kind(config) => config,)*
                }
            }
        }

        impl DerefMut for ModelConfig {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Self::$kind(config) => config,)*
                }
            }
        }

        impl AsKind for ModelConfig {
            fn kind(&self) -> &(dyn Kind + 'static) {
                &**self
            }
        }

        impl Words for ModelConfig {
            const WORDS: &'static [(&'static str, Self)] =
                &[$(($word, Self::$kind(<$config>::new(1, 1)))),*];
        }

        impl ModelConfig {
            /// The arrays that follow from others without the weights, and from the interventions: see
            /// [`Machine::dependencies`].
            pub fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a>> {
                let all = f32::machine(self).dependencies(conventions).into_iter();
                all.map(|one| one.then(&conventions.interventions)).collect()
            }

            /// Checks every range.
            ///
            /// # Errors
            /// The field, its value and what is allowed.
            pub fn validate(&self) -> Result<(), ConfigError> {
                match self {
                    $(Self::$kind(config) => config.validate(),)*
                }
            }

            /// Returns the forward and backward passes of the machine: see [`Number::machine`].
            pub(super) fn passes<R: Real>(&self) -> &dyn Machine<R> {
                match self {
                    $(Self::$kind(config) => config,)*
                }
            }
        }

        $(impl From<$config> for ModelConfig {
            fn from(config: $config) -> Self {
                Self::$kind(config)
            }
        })*
    };
}

kinds! {
    /// The Neural Turing Machine.
    "ntm": Ntm(NtmConfig),
    /// The Differentiable Neural Computer.
    "dnc": Dnc(DncConfig),
    /// Sparse access memory.
    "sam": Sam(SamConfig),
    /// A machine whose equations stand in a file.
    "equations": Equations(EquationsConfig),
}

impl Keys for ModelConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("kind", Field::Choice(self), "`ntm`: a Neural Turing Machine; `dnc`: a Differentiable Neural Computer (Graves 2016); `sam`: sparse access memory, of which a step reads and writes few rows (Rae 2016); `equations`: a machine whose equations stand in a file, one of your own or an included one such as `bahdanau.machine` (docs/equations.md)");
        (**self).keys(to);
    }
}

impl ModelConfig {
    /// Machines that together have every array and every mechanism.
    pub fn with_every_array() -> Vec<Self> {
        let kinds = Self::WORDS.iter().map(|(_, config)| config.clone());
        let every = NtmConfig::with_every_mechanism();
        let mut sam = SamConfig::new(1, 1);
        sam.initial_memory = InitialMemory::Learned;
        let others = [every.into(), sam.into()];
        let all = kinds.chain(others);
        all.collect()
    }

    /// Returns the machine with another number of memory rows, or its own.
    ///
    /// # Errors
    /// As for [`Kind::set_rows`].
    pub fn with_rows(&self, rows: usize) -> Result<Self, ConfigError> {
        if rows == self.rows() {
            return Ok(self.clone());
        }
        ConfigError::unless(!self.has_row_per_step(), "memory.rows", rows, || {
            "none, because the memory has a row for each step".to_owned()
        })?;
        let mut config = self.clone();
        config.set_rows(rows)?;
        Ok(config)
    }

    /// The configuration of a Neural Turing Machine, if it is one.
    pub fn ntm(&self) -> Option<&NtmConfig> {
        if let Self::Ntm(config) = self {
            Some(config)
        } else {
            None
        }
    }
}

/// A number type that machines compute in.
pub trait Number: Real {
    /// Returns the forward and backward passes of a machine of any kind.
    fn machine(config: &ModelConfig) -> &dyn Machine<Self>;
}

impl Number for f32 {
    // Not inlined: the kernels behind it would be compiled again in every crate that runs a machine.
    #[inline(never)]
    fn machine(config: &ModelConfig) -> &dyn Machine<Self> {
        config.passes()
    }
}

impl Number for f64 {
    // Inlined: compiled only where it is called, which is in tests.
    #[inline]
    fn machine(config: &ModelConfig) -> &dyn Machine<Self> {
        config.passes()
    }
}

/// A machine: its configuration and its weights. Running it changes neither.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<R = f32> {
    /// Kind, size and variant.
    pub config: ModelConfig,
    /// Weights.
    pub params: Params<R>,
}

impl<R: Number> Model<R> {
    /// A machine with random weights. `config` has been validated.
    pub fn new(config: impl Into<ModelConfig>, seed: u64) -> Self {
        let config = config.into();
        let params = Params::random(&config, &mut Random::seed_from_u64(seed));
        Self { config, params }
    }

    /// Returns the weights with another number of memory rows.
    ///
    /// # Errors
    /// As for [`Kind::set_rows`].
    pub fn with_rows(&self, rows: usize) -> Result<Self, ConfigError> {
        Ok(self.with_config(self.config.with_rows(rows)?))
    }

    /// Returns the weights with another size on which no tensor depends.
    ///
    /// # Errors
    /// There is no such size, or it is out of range.
    pub fn with_size(&self, name: &str, size: usize) -> Result<Self, ConfigError> {
        let ModelConfig::Equations(config) = &self.config else {
            ConfigError::unless(name == "rows", "size", name, || "rows".to_owned())?;
            return self.with_rows(size);
        };
        let mut config = config.clone();
        config.set_size(name, size)?;
        Ok(self.with_config(config.into()))
    }

    /// Returns the weights in a configuration whose tensors have the same sizes.
    pub fn with_config(&self, config: ModelConfig) -> Self {
        // Empty tensors may differ in width.
        let mut params = Params::zeros(&config);
        for (to, from) in params.slices_mut().zip(self.params.slices()) {
            to.copy_from_slice(from);
        }
        Self { config, params }
    }

    /// Runs one episode and records everything in `trace`.
    pub fn run<'a>(
        &self,
        episode: impl Into<EpisodeInput<'a>>,
        noise: impl Into<Noise<'a, R>>,
        trace: &mut Trace<R>,
    ) {
        let episode = episode.into();
        self.begin(episode, noise, trace);
        self.run_steps(trace, 0..episode.input.nrows());
    }

    /// Adds to a recorded episode the arrays that only a recording has: see [`Machine::show`].
    pub fn show(&self, trace: &mut Trace<R>) {
        R::machine(&self.config).show(trace);
    }

    /// Prepares `trace` for running an episode with [`Model::run_steps`].
    pub fn begin<'a>(
        &self,
        episode: impl Into<EpisodeInput<'a>>,
        noise: impl Into<Noise<'a, R>>,
        trace: &mut Trace<R>,
    ) {
        self.load(episode.into(), Keep::All, trace);
        noise.into().fill(trace);
    }

    /// Runs these steps of the episode that was begun in `trace`: all, in order, at once or in several calls.
    pub fn run_steps(&self, trace: &mut Trace<R>, steps: Range<usize>) {
        let traces = std::slice::from_mut(trace);
        R::machine(&self.config).run(&self.params, traces, steps);
    }

    /// Runs episodes of which the answers or the gradients are wanted: like [`Model::run`] for each, but step by
    /// step through up to [`TOGETHER`] of them, so that the weights are read once for all; and a memory so large
    /// that all M_t take more than `limit` values is kept in part and written again on the way back, to the same
    /// bits.
    ///
    /// `traces` has a trace for every input, and the longest input comes first; each has its own noise.
    pub fn run_together<'a>(
        &self,
        episodes: impl Iterator<Item = (impl Into<EpisodeInput<'a>>, Draw)>,
        limit: usize,
        traces: &mut [Trace<R>],
    ) {
        for ((episode, draw), trace) in episodes.zip(&mut *traces) {
            self.load(episode.into(), Keep::Tape(limit), trace);
            Noise::from(draw).fill(trace);
        }
        let machine = R::machine(&self.config);
        for traces in traces.chunks_mut(TOGETHER) {
            let steps = longest(traces);
            machine.run(&self.params, traces, 0..steps);
        }
    }

    /// Runs an episode without recording it: the answers have the bits of [`Model::run`], but of arrays that later steps do
    /// not need `trace` keeps the last rows only ([`Keep::Answers`]). `visit` is called after every few steps with these steps;
    /// their rows are there, and the row before them.
    pub fn run_to_answer<'a>(
        &self,
        episode: impl Into<EpisodeInput<'a>>,
        draw: Draw,
        values: usize,
        trace: &mut Trace<R>,
        mut visit: impl FnMut(&Trace<R>, Range<usize>),
    ) {
        let keep = Keep::Answers(values);
        self.load(episode.into(), keep, trace);
        trace.sampling = draw.sampling;
        let (steps, chunk) = (trace.steps(), trace.chunk(keep));
        let mut streams = draw.streams(trace);
        for start in (0..steps.max(1)).step_by(chunk) {
            let part = start..steps.min(start + chunk);
            trace.fill_noise(&mut streams, part.clone());
            self.run_steps(trace, part.clone());
            visit(trace, part);
        }
    }

    /// Makes room in a trace for the part of an episode that is kept, and copies the inputs into it.
    fn load(&self, episode: EpisodeInput<'_>, keep: Keep, trace: &mut Trace<R>) {
        let EpisodeInput {
            input,
            source,
            forced,
            answer,
        } = episode;
        // An encoder reads at least one step.
        let source = self.config.episode_rows(input.nrows(), source.max(1));
        let sizes = [input.nrows(), source];
        let is_other = if self.config.is_recorded_apart() {
            !trace.tape.is_used || trace.tape.sizes != sizes
        } else {
            let before = (trace.setting.source, trace.memory_size()[0]);
            self.config.has_row_per_step() && before != (source, self.config.rows_of(sizes))
        };
        if is_other {
            trace.become_other(&self.config, sizes);
        }
        trace.setting = Setting {
            source,
            is_forced: forced.is_some(),
            answer,
        };
        trace.resize_to_keep(&self.config, input.nrows(), keep);
        if trace.tape.is_used {
            trace.tape.learns = matches!(keep, Keep::Tape(_));
            let values = forced.into_iter().flatten();
            let values = values.map(|value| R::from_f64(f64::from(*value)));
            trace.tape.forced.clear();
            trace.tape.forced.extend(values);
        }
        assert_eq!(input.ncols(), trace.input.width(), "columns of the input");
        copy(input, trace.input.as_mut_slice());
        let feedback = trace.series_mut(Place::Machine, array::FEEDBACK);
        if let Some((to, targets)) = feedback.zip(forced) {
            // The target of a step is fed back in the next one.
            let (first, later) = to.as_mut_slice().split_at_mut(targets.ncols());
            first.fill(R::ZERO);
            copy(targets, later);
        }
    }

    /// Runs the steps of a recorded episode again from step `from`, an array at a time. After each one, `change` may
    /// change its values: it gets the part of the machine, the array and the step. What was computed before `from`, and
    /// the initial state, stay as they are in `trace`.
    ///
    /// Without a change it is the same episode to the last bit.
    pub fn run_again(
        &self,
        trace: &mut Trace<R>,
        from: usize,
        change: impl FnMut(&mut Trace<R>, Place, Array, usize),
    ) {
        let steps = trace.steps();
        // A trace that was read has no scratch.
        trace.memory_every = 1;
        trace.resize(steps);
        self.run_again_in(trace, from..steps, change);
    }

    /// [`Model::run_again`], of these steps alone.
    fn run_again_in(
        &self,
        trace: &mut Trace<R>,
        steps: Range<usize>,
        mut change: impl FnMut(&mut Trace<R>, Place, Array, usize),
    ) {
        let machine = R::machine(&self.config);
        if machine.run_again(&self.params, trace, steps.clone(), &mut change) {
            return;
        }
        let step = machine.step(&self.params);
        let mut compute = |dependency: &Dependency<'_, R>, t: usize| {
            dependency.compute(trace, t);
            change(trace, dependency.place, dependency.array, t);
        };
        for t in steps {
            step.iter().for_each(|dependency| compute(dependency, t));
        }
    }

    /// Returns the derivatives of a number with respect to all values of a recorded episode, in the arrays of the same
    /// names: see `derivatives.rs`. `upstream` is the derivative of the number
    /// with respect to the outputs of the machine.
    pub fn derivatives(&self, trace: &Trace<R>, upstream: Upstream<R>) -> Trace<R> {
        let wanted = Trace::without_values(&self.config, trace);
        let scratch = R::machine(&self.config).scratch();
        let mut workspace = Workspace::with(upstream, scratch, Some(wanted));
        let mut gradient = Params::zeros(&self.config);
        self.backward(
            std::slice::from_ref(trace),
            std::slice::from_mut(&mut workspace),
            &mut gradient,
        );
        workspace.into_derivatives()
    }

    /// Calls [`Machine::backward`].
    pub fn backward(
        &self,
        traces: &[Trace<R>],
        workspaces: &mut [Workspace<R>],
        gradient: &mut Params<R>,
    ) {
        gradient.clear_tensors();
        let machine = R::machine(&self.config);
        let mut batch = Batch { traces, workspaces };
        machine.backward(&self.params, &mut batch, gradient);
    }
}

impl Model<f32> {
    /// The arrays that an [`Intervention`] may change, in the order of the computation: those in files that a step
    /// computes, but the output, which follows from the logit.
    pub fn changeable(&self) -> Vec<(Place, Array)> {
        let all = f32::machine(&self.config).computed(&self.params);
        let all = all.into_iter();
        let all = all.filter(|(_, array)| array.is_in_files() && *array != array::OUTPUT);
        all.fold(Vec::new(), |mut all, of| {
            // Two operations may compute one array together.
            all.extend(Some(of).filter(|of| !all.contains(of)));
            all
        })
    }

    /// Runs a recorded episode again with these interventions: see [`Model::run_again`]. The trace has the values that are
    /// set, in steps too that compute none.
    pub fn run_with(&self, trace: &mut Trace<f32>, interventions: &[Intervention]) {
        let first = interventions.iter().map(|one| one.steps.0).min();
        let from = first
            .filter(|_| !self.config.is_recorded_apart())
            .unwrap_or(0);
        self.run_again(trace, from, |trace, place, array, t| {
            apply_all(interventions, trace, (place, array), t);
        });
        for one in interventions {
            let of = (one.place, one.array);
            let are_set = |other: &Intervention| other.sets() || (other.place, other.array) != of;
            if interventions.iter().all(are_set) {
                (one.steps.0..trace.steps()).for_each(|t| one.apply(trace, of, t));
            }
        }
    }

    /// Runs a step of a recorded episode again with these interventions, and the next one, which it leads to; all steps
    /// of a machine file.
    pub fn advance(&self, trace: &mut Trace<f32>, interventions: &[Intervention], step: usize) {
        // A file runs as a whole.
        if self.config.is_recorded_apart() {
            return self.run_with(trace, interventions);
        }
        let end = trace.steps().min(step + 2);
        self.run_again_in(trace, step..end, |trace, place, array, t| {
            apply_all(interventions, trace, (place, array), t);
        });
    }
}

fn copy<R: Real>(from: &Array2<f32>, to: &mut [R]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = R::from_f64(f64::from(from));
    }
}

impl<R: Number> Workspace<R> {
    /// Scratch for machines of this configuration.
    pub fn new(config: &ModelConfig) -> Self {
        Self::with(Upstream::new(config), R::machine(config).scratch(), None)
    }
}
