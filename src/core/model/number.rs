//! The number types of a machine, each with one compiled copy of the forward and backward passes.

use super::machine::Machine;
use super::registry::ModelConfig;
use crate::math::Real;

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
