//! A machine whose equations stand in a file: see [`crate::equations`] for their language.
//!
//! `config` has what a preset says, `compiled` what the file means: its tensors, and the parts of an episode that its data
//! are. `quantities` are the arrays that it records. `engines` keeps the engines that run it, `passes` runs them.

mod compiled;
mod config;
mod engines;
mod interned;
mod passes;
mod quantities;

pub use compiled::{Compiled, Offer, Unfit};
pub use config::EquationsConfig;
pub(super) use engines::Tape;
