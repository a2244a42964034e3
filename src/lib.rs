//! Tapescope: a Neural Turing Machine you can watch think.

pub mod cli;
pub mod io;
pub mod math;
pub mod model;
pub mod player;
pub mod task;
pub mod train;
#[cfg(feature = "gui")]
pub mod viewer;
