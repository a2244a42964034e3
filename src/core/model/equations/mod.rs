//! A machine whose equations stand in a file: see [`crate::equations`] for their language.
//!
//! `config` has what a preset says, `compiled` what the file means: its tensors, and with `parts` the parts of an episode that
//! its data are. `quantities` are the arrays that it records, and `reads` what their lines read. `familiar` gives heads, layers
//! and encoders the places that they have in other machines, with `memory_heads` for those that write and `labels` of both;
//! `trial` finds out whether heads compute what their labels promise; `assembled` makes one array of those of a document, a
//! question and an answer. `engines` run it, but in training `fused` does where there is a machine `by_hand`, and `pool` keeps
//! those that have run. `passes` are the passes of a machine.

mod assembled;
mod by_hand;
mod compiled;
mod config;
mod engines;
mod familiar;
mod fused;
mod interned;
mod labels;
mod memory_heads;
mod parts;
mod passes;
mod pool;
mod quantities;
mod reads;
mod settings;
mod trial;

pub use crate::equations::included::{INCLUDED, included, with_components};
pub use compiled::Compiled;
pub use config::EquationsConfig;
pub use parts::{Document, Offer, Outline, Unfit};
