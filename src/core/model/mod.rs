//! The Neural Turing Machine, a file per section of the paper, and the parts it shares with other machines.

pub mod addressing;
pub mod array;
pub mod attention;
pub mod config;
pub mod content;
pub mod controller;
mod dependency;
mod derivatives;
#[cfg(test)]
mod gradients;
pub mod head;
mod kind;
mod machine;
pub mod memory;
mod noise;
mod ntm;
mod overridden;
mod params;
mod plain;
mod readout;
mod registry;
pub mod score;
mod shape;
mod slots;
mod spec;
pub mod stage;
mod trace;
pub mod weighting;
mod window;
mod wrap_around;

pub use config::NtmConfig;
pub use dependency::{Conventions, Dependency, Scoring, Size, Turns, UnknownConvention};
pub use kind::{AsKind, Kind};
pub use machine::{Machine, TOGETHER, Terms, Upstream, Workspace};
pub use noise::{Draw, Noise};
pub use params::Params;
pub use plain::PlainConfig;
pub use readout::outputs;
pub use registry::{Model, ModelConfig, Number};
pub use shape::{LinearSpec, Shape, Start, TensorSpec};
pub use slots::Slots;
pub use spec::{Array, ArraySpec, Place, Range, head_name};
pub use trace::{HeadTrace, LayerTrace, NoiseMode, Trace};
pub use wrap_around::{WrapAround, peak};
