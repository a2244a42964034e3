//! A machine as trainer, evaluation, recording, files and window know it; and the registry of its kinds.
//!
//! A kind of machine is a configuration that says which tensors it has ([`Kind::shape`]), which arrays it records
//! and how wide they are ([`Kind::width`]), what follows from what ([`Kind::dependencies`]), and how an episode goes
//! through it, forwards and backwards ([`Machine`]). Everything else follows.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use ndarray::Array2;
use rand::SeedableRng;

use super::attention::{Mechanism, Weighting};
use super::config::{NtmConfig, Order};
use super::noise::{Draw, Noise};
use super::params::{Params, Shape};
use super::plain::PlainConfig;
use super::recompute::{Conventions, Dependency};
use super::trace::{ArraySpec, Place, Trace};
use crate::keys::{ConfigError, Field, Keys, Table, Words};
use crate::math::matrix::padded;
use crate::math::{Random, Real, Series};

/// Number of episodes that a machine processes side by side in training.
pub use crate::math::matrix::TOGETHER;

/// The description of a machine without weights.
pub trait Kind: Keys + Debug + Send + Sync {
    /// Channels of the input.
    fn inputs(&self) -> usize;

    /// Channels of the output.
    fn outputs(&self) -> usize;

    /// Layers of the controller.
    fn layers(&self) -> usize {
        0
    }

    /// Units in a layer of the controller.
    fn units(&self) -> usize {
        0
    }

    /// Heads that read.
    fn read_heads(&self) -> usize {
        0
    }

    /// Heads that write.
    fn write_heads(&self) -> usize {
        0
    }

    /// Memory rows; 0 where there is no memory.
    fn rows(&self) -> usize {
        0
    }

    /// Memory columns; 0 where there is no memory.
    fn columns(&self) -> usize {
        0
    }

    /// The tensors.
    fn shape(&self) -> Shape;

    /// Values per step of a series of the trace; 0 for one that such a machine does not have.
    fn width(&self, place: Place, array: &ArraySpec) -> usize;

    /// The size of an axis that the machine alone knows.
    fn axis(&self, _axis: &str) -> Option<usize> {
        None
    }

    /// Returns the mechanism of a head.
    fn mechanism(&self, _head: usize) -> Mechanism {
        Mechanism::default()
    }

    /// Returns the form in which scores become a weighting in a head.
    fn weighting(&self, _head: usize) -> Weighting {
        Weighting::Soft
    }

    /// The arrays that follow from others, in the order of the computation; the output and the loss, which follow
    /// from the logit everywhere, are not among them.
    fn dependencies(&self, _conventions: &Conventions) -> Vec<Dependency> {
        Vec::new()
    }

    /// The same machine on another number of memory rows.
    ///
    /// # Errors
    /// There is no memory, its rows are fixed, or these are out of range.
    fn with_rows(&self, rows: usize) -> Result<ModelConfig, ConfigError> {
        Err(ConfigError {
            field: "memory.rows".to_owned(),
            found: rows.to_string(),
            allowed: match self.rows() {
                0 => "none, because the machine has no memory".to_owned(),
                own => format!("only {own}"),
            },
        })
    }

    /// True when there is a memory, and no tensor depends on the number of its rows, so that the same weights run
    /// on any number.
    fn runs_on_any_rows(&self) -> bool {
        false
    }

    /// Sets the numbers of input and output channels to those of a task.
    fn set_channels(&mut self, inputs: usize, outputs: usize);

    /// Checks every range.
    ///
    /// # Errors
    /// The field, its value and what is allowed.
    fn validate(&self) -> Result<(), ConfigError>;
}

impl dyn Kind + '_ {
    /// Read and write heads together.
    pub fn heads(&self) -> usize {
        self.read_heads().saturating_add(self.write_heads())
    }

    /// Returns true if any possible head has such a weighting; called before the number of heads is checked.
    fn any_head(&self, is_so: impl Fn(Weighting) -> bool) -> bool {
        let mut heads = 0..self.heads().min(2 * NtmConfig::MAX_HEADS);
        heads.any(|head| is_so(self.weighting(head)))
    }

    /// Returns true if any head samples: its row, or its weights.
    pub fn is_random(&self) -> bool {
        self.any_head(Weighting::is_random)
    }

    /// Returns true if any head samples its row.
    pub fn is_hard(&self) -> bool {
        self.any_head(|weighting| weighting == Weighting::Hard)
    }

    /// Returns true if any head has random weights with a prior.
    pub fn is_bayesian(&self) -> bool {
        self.any_head(Weighting::is_bayesian)
    }

    /// The name of an array in files.
    pub fn array_name(&self, place: Place, array: &str) -> String {
        match place {
            Place::Head(head) => format!("{}.{array}", self.head_name(head)),
            Place::Machine | Place::Layer(_) => array.to_owned(),
        }
    }

    /// The name of a head: [`head_name`].
    pub fn head_name(&self, head: usize) -> String {
        head_name(self.read_heads(), head)
    }
}

/// Returns the name of a head: `read0`, `read1`, …, `write0`, …, read heads first.
pub fn head_name(read_heads: usize, head: usize) -> String {
    match head.checked_sub(read_heads) {
        None => format!("read{head}"),
        Some(write) => format!("write{write}"),
    }
}

/// A value with a kind: a configuration of one kind, or of any.
pub trait AsKind {
    /// The kind.
    fn kind(&self) -> &(dyn Kind + 'static);
}

impl<K: Kind + 'static> AsKind for K {
    fn kind(&self) -> &(dyn Kind + 'static) {
        self
    }
}

/// Steps of the longest of these episodes: the first one.
pub(super) fn longest<R: Real>(traces: &[Trace<R>]) -> usize {
    traces.first().map_or(0, Trace::steps)
}

/// Forward and backward passes of a kind of machine.
pub trait Machine<R: Real>: Kind {
    /// Runs these steps of up to [`TOGETHER`] episodes, longest first, in their traces: from the first one to
    /// the last one of the longest, at once or in several calls, in order.
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>);

    /// The scratch space of [`Machine::backward`] for one episode, allocated once and reused.
    fn scratch(&self) -> Box<dyn Any + Send>;

    /// Sets `gradient` to the derivative, by every weight, of the summed loss of recorded episodes (longest
    /// first) whose derivative w.r.t. the outputs of the machine is in [`Workspace::by`].
    fn backward(
        &self,
        params: &Params<R>,
        traces: &[Trace<R>],
        workspaces: &mut [Workspace<R>],
        gradient: &mut Params<R>,
    );

    /// Makes step `t` of one of the [`Kind::dependencies`] again, in its place, from the arrays that it is made of: M_{t+1} is
    /// made of M_t and what was written.
    ///
    /// Needs no weights: a trace of any program can be recomputed. A rule without an implementation changes nothing, which
    /// [`super::recompute`] makes visible.
    fn recompute_step(
        &self,
        conventions: &Conventions,
        trace: &mut Trace<R>,
        rule: &Dependency,
        t: usize,
    ) {
        let _ = (conventions, trace, rule, t);
    }
}

/// The one list of all kinds: the configuration of a machine of any of them.
macro_rules! kinds {
    ($($(#[$attribute:meta])* $word:literal: $kind:ident($config:ty),)*) => {
        /// The size and the variant of a machine of any kind. Checked once, in [`Kind::validate`]; trusted
        /// afterwards.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::large_enum_variant, reason = "a machine has one, and looks at it more often than it moves it")]
        pub enum ModelConfig {
            $($(#[$attribute])* $kind($config),)*
        }

        impl AsKind for ModelConfig {
            fn kind(&self) -> &(dyn Kind + 'static) {
                match self {
                    $(Self::$kind(config) => config,)*
                }
            }
        }

        impl Words for ModelConfig {
            const WORDS: &'static [(&'static str, Self)] =
                &[$(($word, Self::$kind(<$config>::new(1, 1)))),*];
        }

        impl ModelConfig {
            fn kind_mut(&mut self) -> &mut (dyn Kind + 'static) {
                match self {
                    $(Self::$kind(config) => config,)*
                }
            }

            /// Returns the forward and backward passes of the machine.
            pub fn machine<R: Real>(&self) -> &dyn Machine<R> {
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

/// The kinds that everybody has, and more.
macro_rules! kinds_and {
    ($($more:tt)*) => {
        kinds! {
            /// The Neural Turing Machine.
            "ntm": Ntm(NtmConfig),
            /// A controller alone, without memory.
            "plain": Plain(PlainConfig),
            $($more)*
        }
    };
}

#[cfg(not(any(test, feature = "test-machine")))]
kinds_and! {}

#[cfg(any(test, feature = "test-machine"))]
kinds_and! {
    /// A machine for tests.
    "appended": Appended(super::appended::AppendedConfig),
}

impl std::ops::Deref for ModelConfig {
    type Target = dyn Kind + 'static;

    fn deref(&self) -> &Self::Target {
        self.kind()
    }
}

impl std::ops::DerefMut for ModelConfig {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.kind_mut()
    }
}

impl Keys for ModelConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("kind", Field::Choice(self), "`ntm`: a Neural Turing Machine; `plain`: the controller only, without memory, which has only the keys under `controller`");
        self.kind_mut().keys(to);
    }
}

impl ModelConfig {
    /// Returns the order of reads and writes in a step.
    pub fn order(&self) -> Order {
        self.ntm().map_or(Order::ReadFirst, |ntm| ntm.order)
    }

    /// The same machine on another number of memory rows, or on its own.
    ///
    /// # Errors
    /// As for [`Kind::with_rows`].
    pub fn with_rows(&self, rows: usize) -> Result<Self, ConfigError> {
        if rows == self.rows() {
            return Ok(self.clone());
        }
        self.kind().with_rows(rows)
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

/// A machine: its configuration and its weights. Running it changes neither.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<R = f32> {
    /// Kind, size and variant.
    pub config: ModelConfig,
    /// Weights.
    pub params: Params<R>,
}

/// Derivative of the loss w.r.t. a machine's outputs in an episode, to be filled in before [`Model::backward`].
#[derive(Debug)]
pub struct Upstream<R = f32> {
    /// Derivative w.r.t. the logits, [T, Y and padding].
    pub logit: Series<R>,
    /// Derivatives w.r.t. the weightings themselves: a series [T, N] for each head with a penalty on them, of width 0
    /// for the others. The part through the logits is not included.
    pub weightings: Vec<Series<R>>,
    /// The other terms of the loss.
    pub terms: Terms<R>,
}

/// Weights of the loss terms of sampling heads, relative to the loss of the answer; all 0 where they add nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms<R = f32> {
    /// ρ, of the divergences of Bayesian heads from their priors, summed over heads and steps (Fan et al. 2020).
    pub divergence: R,
    /// λ_r·(ln p(y|s) − b), of −ln α(s) summed over hard heads and steps, where rows were sampled (Xu et al. 2015).
    pub reward: R,
    /// λ_e, of −H(α) summed over hard heads and steps (Xu et al. 2015).
    pub entropy: R,
}

/// Upstream gradients and scratch of the backward pass; allocated once and reused.
#[derive(Debug)]
pub struct Workspace<R = f32> {
    /// The gradients with respect to logits and weightings.
    pub upstream: Upstream<R>,
    /// See [`Model::derivatives`].
    derivatives: Option<Box<Trace<R>>>,
    scratch: Box<dyn Any + Send>,
}

impl<R: Real> Upstream<R> {
    /// Creates one for this configuration, with no steps yet and no penalty on a weighting.
    pub fn new(config: &ModelConfig) -> Self {
        Self {
            logit: Series::new(padded(config.outputs())),
            weightings: vec![Series::new(0); config.heads()],
            terms: Terms::default(),
        }
    }
}

impl<R: Real> Workspace<R> {
    /// Scratch for machines of this configuration.
    pub fn new(config: &ModelConfig) -> Self {
        Self {
            upstream: Upstream::new(config),
            derivatives: None,
            scratch: config.machine::<R>().scratch(),
        }
    }

    /// A workspace that records all gradients during the backward pass.
    pub(super) fn recording(
        config: &ModelConfig,
        upstream: Upstream<R>,
        derivatives: Trace<R>,
    ) -> Self {
        Self {
            upstream,
            derivatives: Some(Box::new(derivatives)),
            scratch: config.machine::<R>().scratch(),
        }
    }

    /// Returns the derivatives that it kept.
    pub(super) fn into_derivatives(self) -> Trace<R> {
        let kept = self.derivatives;
        *kept.unwrap_or_else(|| unreachable!("a workspace that keeps derivatives was asked for"))
    }

    /// Returns the upstream gradients, the scratch of this kind of machine, and the derivatives to be recorded, if any.
    pub(super) fn parts_mut<T: 'static>(
        &mut self,
    ) -> (&Upstream<R>, &mut T, GradientRecorder<'_, R>) {
        let scratch = self.scratch.downcast_mut();
        let scratch = scratch.unwrap_or_else(|| other_kind());
        (&self.upstream, scratch, self.derivatives.as_deref_mut())
    }
}

/// The recorder of all gradients of an episode during the backward pass; `None` unless requested.
pub(super) type GradientRecorder<'a, R> = Option<&'a mut Trace<R>>;

/// Recorded episodes with the gradients by their logits and with the scratch of their kind of machine.
pub(super) fn both<'a, R: Real, T: 'static>(
    traces: &'a [Trace<R>],
    workspaces: &'a [Workspace<R>],
) -> impl Iterator<Item = (&'a Trace<R>, &'a Series<R>, &'a T)> + Clone {
    traces.iter().zip(workspaces).map(|(trace, workspace)| {
        let scratch = workspace.scratch.downcast_ref();
        let scratch = scratch.unwrap_or_else(|| other_kind());
        (trace, &workspace.upstream.logit, scratch)
    })
}

/// A workspace goes with one kind of machine.
fn other_kind() -> ! {
    unreachable!("the workspace of another kind of machine")
}

impl<R: Real> Model<R> {
    /// A machine with random weights. `config` has been validated.
    pub fn new(config: impl Into<ModelConfig>, seed: u64) -> Self {
        let config = config.into();
        let params = Params::random(&config, &mut Random::seed_from_u64(seed));
        Self { config, params }
    }

    /// The same weights on another number of memory rows.
    ///
    /// # Errors
    /// As for [`Kind::with_rows`].
    pub fn with_rows(&self, rows: usize) -> Result<Self, ConfigError> {
        let config = self.config.with_rows(rows)?;
        // What is empty may be so in another width.
        let mut params = Params::zeros(&config);
        for (to, from) in params.slices_mut().zip(self.params.slices()) {
            to.copy_from_slice(from);
        }
        Ok(Self { config, params })
    }

    /// Runs one episode, [T, X], and records everything in `trace`.
    pub fn run<'a>(
        &self,
        input: &Array2<f32>,
        noise: impl Into<Noise<'a, R>>,
        trace: &mut Trace<R>,
    ) {
        self.begin(input, noise, trace);
        self.run_steps(trace, 0..input.nrows());
    }

    /// Prepares `trace` for running an episode, [T, X], with [`Model::run_steps`].
    pub fn begin<'a>(
        &self,
        input: &Array2<f32>,
        noise: impl Into<Noise<'a, R>>,
        trace: &mut Trace<R>,
    ) {
        trace.memory_every = 1;
        trace.resize(input.nrows());
        self.load(input, noise.into(), trace);
    }

    /// Runs these steps of the episode that was begun in `trace`: all, in order, at once or in several calls.
    pub fn run_steps(&self, trace: &mut Trace<R>, steps: Range<usize>) {
        let traces = std::slice::from_mut(trace);
        self.config.machine().run(&self.params, traces, steps);
    }

    /// Runs episodes of which the answers or the gradients are wanted: like [`Model::run`] for each, but step by
    /// step through up to [`TOGETHER`] of them, so that the weights are read once for all; and a memory so large
    /// that all M_t take more than `limit` values is kept in part and written again on the way back, to the same
    /// bits.
    ///
    /// `traces` has a trace for every input, and the longest input comes first; each has its own noise.
    pub fn run_together<'a>(
        &self,
        inputs: impl Iterator<Item = (&'a Array2<f32>, Draw)>,
        limit: usize,
        traces: &mut [Trace<R>],
    ) {
        for ((input, draw), trace) in inputs.zip(&mut *traces) {
            trace.resize_for_training(input.nrows(), limit);
            self.load(input, draw.into(), trace);
        }
        let machine = self.config.machine();
        for traces in traces.chunks_mut(TOGETHER) {
            let steps = longest(traces);
            machine.run(&self.params, traces, 0..steps);
        }
    }

    /// Copies the input and the noise into a trace that is large enough.
    fn load(&self, input: &Array2<f32>, noise: Noise<'_, R>, trace: &mut Trace<R>) {
        noise.fill(trace);
        assert_eq!(input.ncols(), self.config.inputs(), "columns of the input");
        for (to, &from) in trace.input.as_mut_slice().iter_mut().zip(input) {
            *to = R::from_f64(f64::from(from));
        }
    }

    /// Calls [`Machine::backward`].
    pub fn backward(
        &self,
        traces: &[Trace<R>],
        workspaces: &mut [Workspace<R>],
        gradient: &mut Params<R>,
    ) {
        let machine = self.config.machine();
        machine.backward(&self.params, traces, workspaces, gradient);
    }
}

/// Calls `$work` with the first `$count` of a slice as an array, 1 ≤ `$count` ≤ [`TOGETHER`].
macro_rules! together {
    ($count:expr, $slice:expr, |$array:ident| $work:expr) => {
        match $count {
            1 => together!(@ 1, $slice, $array, $work),
            2 => together!(@ 2, $slice, $array, $work),
            3 => together!(@ 3, $slice, $array, $work),
            _ => together!(@ 4, $slice, $array, $work),
        }
    };
    (@ $count:literal, $slice:expr, $array:ident, $work:expr) => {
        if let Some($array) = $slice.first_chunk_mut::<$count>() {
            $work;
        }
    };
}
pub(super) use together;
