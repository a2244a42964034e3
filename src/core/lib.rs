//! The computational core: machines, tasks and training, without drawing, printing or files.
//!
//! A crate of its own for one reason: it is compiled once, as one unit, which gives the kernels every chance
//! to be inlined, while the rest of Tapescope is compiled in many and anew after every change. What runs hot
//! must therefore be instantiated here: a generic function that another crate calls is compiled in that crate.
//! [`model::Number`] is where the passes of a machine are.
//! Everybody names these modules by the crate on top: `tapescope::model` is [`model`].

pub mod analysis;
pub mod equations;
mod golden;
pub mod keys;
pub mod math;
pub mod model;
mod pool;
pub mod spelling;
pub mod task;
pub mod train;
