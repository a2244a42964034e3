//! A small typed language over everything that is recorded in a step of an episode: conditions that are searched for,
//! quantities that are measured over many episodes.
//!
//! ```text
//! read0.gate > 0.5 and changes(argmax(read0.weighting))
//! ```
//!
//! Values are numbers, arrays (the values of an array in this step) and conditions. An [`Expression`] is parsed without
//! a machine; [`Checked`] against the arrays of one, it has a value in every step of its recordings. [`FUNCTIONS`] is
//! the table behind the parser, completion and `docs/expressions.md`.

mod check;
mod complete;
mod error;
mod functions;
mod parse;
mod tests;

pub use check::Checked;
pub use complete::complete;
pub use error::ExpressionError;
pub use functions::{FUNCTIONS, Function, Type, WRITE_TOLERANCE};
pub use parse::Expression;
