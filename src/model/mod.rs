//! The Neural Turing Machine, a file per section of the paper.

pub mod addressing;
mod backward;
pub mod config;
pub mod controller;
pub mod head;
pub mod memory;
mod ntm;
mod overrun;
mod params;
pub mod recompute;
mod trace;

pub use backward::Workspace;
pub use config::ModelConfig;
pub(crate) use ntm::output;
pub use ntm::{Ntm, TOGETHER};
pub use overrun::{Overrun, peak};
pub use params::{Initial, Params};
pub use recompute::{Conventions, Part, Scoring, Turns};
pub use trace::{ArraySpec, HeadTrace, LayerTrace, Place, Range, Trace};
