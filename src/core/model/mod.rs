//! The Neural Turing Machine, a file per section of the paper, and the parts it shares with other machines.

pub mod addressing;
#[cfg(any(test, feature = "test-machine"))]
mod appended;
pub mod attention;
pub mod bayesian;
pub mod config;
pub mod controller;
mod derivatives;
#[cfg(test)]
mod gradients;
pub mod hard;
pub mod head;
pub mod local;
mod machine;
pub mod memory;
mod noise;
mod ntm;
mod overridden;
mod params;
mod plain;
mod readout;
mod recompute;
mod score;
mod trace;
mod weighting;
mod window;
mod wrap_around;

pub use config::NtmConfig;
pub use machine::{
    AsKind, Kind, Machine, Model, ModelConfig, TOGETHER, Terms, Upstream, Workspace, head_name,
};
pub use noise::{Draw, Noise, NoiseMode};
pub use params::{LinearSpec, Params, Shape, Start, TensorSpec};
pub use plain::PlainConfig;
pub use readout::outputs;
pub use recompute::{
    Conventions, Dependency, Scoring, Size, Turns, UnknownConvention, magnitudes, recompute,
};
pub use trace::{ArraySpec, HeadTrace, LayerTrace, Place, Range, Trace};
pub use wrap_around::{WrapAround, peak};
