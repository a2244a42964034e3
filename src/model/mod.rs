//! The Neural Turing Machine, a file per section of the paper.

pub mod addressing;
pub mod config;
pub mod controller;
pub mod head;
pub mod memory;
mod ntm;
mod params;
mod trace;

pub use config::ModelConfig;
pub use ntm::{Ntm, Workspace};
pub use params::{Initial, Params};
pub use trace::{HeadTrace, LayerTrace, Role, Trace};
