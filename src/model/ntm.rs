//! The machine on one page: the step, the episode, and back through it.

use ndarray::Array2;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{ModelConfig, Params, Trace};
use crate::math::Real;

/// A machine: its configuration and its weights. Running it changes neither.
#[derive(Clone, Debug, PartialEq)]
pub struct Ntm<R = f32> {
    /// Shape and variant.
    pub config: ModelConfig,
    /// Weights.
    pub params: Params<R>,
}

/// Scratch of back-propagation, allocated once and reused.
#[derive(Clone, Debug)]
pub struct Workspace<R = f32> {
    placeholder: R,
}

impl<R: Real> Ntm<R> {
    /// A machine with random weights. `config` has been validated.
    pub fn new(config: ModelConfig, seed: u64) -> Self {
        let params = Params::random(&config, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        Self { config, params }
    }

    /// Runs one episode, [T, X], and records everything in `trace`.
    pub fn run(&self, input: &Array2<f32>, trace: &mut Trace<R>) {
        todo!("{input:?} {trace:?}")
    }
}
