//! The forward and backward passes of a machine, and the workspace of the backward pass.
//!
//! A kind of machine is a configuration that says which tensors it has ([`Kind::shape`]), which arrays it records
//! and how wide they are ([`Kind::width`]), how an episode goes through it, forwards and backwards, and what follows
//! from what ([`Machine`]). Everything else follows.

use std::any::Any;
use std::ops::Range;

use super::dependency::{Conventions, Dependency};
use super::kind::{AsKind, Kind};
use super::params::Params;
use super::spec::{Array, Place};
use super::trace::Trace;
use crate::math::matrix::padded;
use crate::math::{Real, Series};

/// Number of episodes that a machine processes side by side in training.
pub use crate::math::matrix::TOGETHER;

/// Steps of the longest of these episodes: the first one.
pub(super) fn longest<R: Real>(traces: &[Trace<R>]) -> usize {
    traces.first().map_or(0, Trace::steps)
}

/// Changes an array of a trace in a step: see [`super::Model::run_again`].
pub type Change<'c, R> = &'c mut dyn FnMut(&mut Trace<R>, Place, Array, usize);

/// Forward and backward passes of a kind of machine.
pub trait Machine<R: Real>: Kind {
    /// Runs these steps of up to [`TOGETHER`] episodes, longest first, in their traces: from the first one to
    /// the last one of the longest, at once or in several calls, in order.
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>);

    /// The scratch space of [`Machine::backward`] for one episode, allocated once and reused.
    fn scratch(&self) -> Box<dyn Any + Send>;

    /// Sets `gradient` to the derivative, by every weight, of the summed loss of recorded episodes (longest
    /// first) whose derivative w.r.t. the outputs of the machine is in [`Workspace::by`]. [`Params::tensors`] are 0 before: a
    /// machine adds to them.
    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>);

    /// The arrays that follow from others without the weights, in the order of the computation; the output and the
    /// loss, which follow from the logit everywhere, are not among them.
    fn dependencies<'a>(&'a self, _conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        Vec::new()
    }

    /// Adds to a recorded episode the arrays that only a recording has.
    fn show(&self, _trace: &mut Trace<R>) {}

    /// Every array that a step computes, in the order of the computation, with the weights: the step once more, an
    /// array at a time, to the same bits as [`Machine::run`].
    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>>;

    /// The arrays that a step computes, in the order of the computation; of two operations it may stand there twice.
    fn computed(&self, params: &Params<R>) -> Vec<(Place, Array)> {
        let all = self.step(params).into_iter();
        all.map(|one| (one.place, one.array)).collect()
    }

    /// Runs these steps of a recorded episode again as [`super::Model::run_again`] says; false for a machine that has
    /// [`Machine::step`] for it.
    fn run_again(
        &self,
        _params: &Params<R>,
        _trace: &mut Trace<R>,
        _steps: Range<usize>,
        _change: Change<'_, R>,
    ) -> bool {
        false
    }
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

/// Weights of further terms, relative to the loss of the answer; all 0 where they add nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms<R = f32> {
    /// ρ, of the divergences of Bayesian heads from their priors, summed over heads and steps (Fan et al. 2020).
    pub divergence: R,
    /// λ_r·(ln p(y|s) − b), of −ln α(s) summed over hard heads and steps, where rows were sampled (Xu et al. 2015).
    pub reward: R,
    /// True if the gradient w.r.t. a sampled weighting passes to α as it is (straight-through).
    pub straight_through: bool,
    /// λ_e, of −H(α) summed over hard heads and steps (Xu et al. 2015).
    pub entropy: R,
    /// The weight of the penalties of a machine file.
    pub penalty: R,
    /// What the trainer tells a machine file, by the names of [`TRAINER_CONSTANTS`](crate::equations::page::TRAINER_CONSTANTS):
    /// ln p(y|s) of the episode, what it is measured against, and a factor that rises from 0 to 1. Not scaled.
    pub told: Told,
}

/// Constants of a machine file that the trainer sets for an episode that it learns from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// ln p(y|s), nats.
    pub reward: f64,
    /// The mean of ln p(y|s) over other samples of the same input, or over earlier episodes.
    pub baseline: f64,
    /// Rises from 0 to 1 over the first `training.bayesian.warmup` sequences.
    pub warm_up: f64,
}

impl Told {
    /// The value of the constant of this name.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        match name {
            "reward" => Some(self.reward),
            "baseline" => Some(self.baseline),
            "warm_up" => Some(self.warm_up),
            _ => None,
        }
    }
}

impl Default for Told {
    fn default() -> Self {
        Self {
            reward: 0.0,
            baseline: 0.0,
            warm_up: 1.0,
        }
    }
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
    pub fn new(kind: &impl AsKind) -> Self {
        let kind = kind.kind();
        Self {
            logit: Series::new(padded(kind.outputs())),
            weightings: vec![Series::new(0); kind.heads()],
            terms: Terms::default(),
        }
    }
}

impl<R: Real> Workspace<R> {
    /// Creates one from its parts; with a trace for the derivatives, it records them.
    pub(super) fn with(
        upstream: Upstream<R>,
        scratch: Box<dyn Any + Send>,
        derivatives: Option<Trace<R>>,
    ) -> Self {
        Self {
            upstream,
            derivatives: derivatives.map(Box::new),
            scratch,
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

/// Recorded episodes, longest first, each with its workspace.
pub struct Batch<'a, R> {
    /// The episodes.
    pub(super) traces: &'a [Trace<R>],
    /// Their workspaces.
    pub(super) workspaces: &'a mut [Workspace<R>],
}

/// A recorded episode with the gradients w.r.t. its outputs, the scratch of its kind of machine and the recorder of the
/// gradients.
pub(super) type EpisodeBack<'a, R, T> = (
    &'a Trace<R>,
    &'a Upstream<R>,
    &'a mut T,
    GradientRecorder<'a, R>,
);

impl<R: Real> Batch<'_, R> {
    /// Every episode.
    pub(super) fn each<T: 'static>(&mut self) -> impl Iterator<Item = EpisodeBack<'_, R, T>> {
        let episodes = self.traces.iter().zip(&mut *self.workspaces);
        episodes.map(|(trace, workspace)| {
            let (upstream, scratch, recorder) = workspace.parts_mut();
            (trace, upstream, scratch, recorder)
        })
    }

    /// Up to [`TOGETHER`] episodes at a time.
    pub(super) fn groups(&mut self) -> impl Iterator<Item = Batch<'_, R>> {
        let workspaces = self.workspaces.chunks_mut(TOGETHER);
        let groups = self.traces.chunks(TOGETHER).zip(workspaces);
        groups.map(|(traces, workspaces)| Batch { traces, workspaces })
    }

    /// Every episode with the gradients w.r.t. its logits and the scratch of its kind of machine.
    pub(super) fn done<T: 'static>(
        &self,
    ) -> impl Iterator<Item = (&Trace<R>, &Series<R>, &T)> + Clone {
        self.traces
            .iter()
            .zip(&*self.workspaces)
            .map(|(trace, workspace)| {
                let scratch = workspace.scratch.downcast_ref();
                let scratch = scratch.unwrap_or_else(|| other_kind());
                (trace, &workspace.upstream.logit, scratch)
            })
    }
}

/// The recorder of all gradients of an episode during the backward pass; `None` unless requested.
pub(super) type GradientRecorder<'a, R> = Option<&'a mut Trace<R>>;

/// Records `values` as row `t` of the derivative w.r.t. `of`, where the array exists. Rows arrive from the last to the
/// first.
pub(super) fn record<R: Real>(to: &mut Series<R>, of: &Series<R>, t: usize, values: &[R]) {
    let width = of.width();
    if width > 0 {
        to.reshape(to.steps().max(t + 1), width);
        to.row_mut(t).copy_from_slice(&values[..width]);
    }
}

/// A workspace goes with one kind of machine.
fn other_kind() -> ! {
    unreachable!("the workspace of another kind of machine")
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
