//! Small differentiable operations that know nothing of Turing machines.
//!
//! Each file holds an operation, its derivative and their check.

mod activation;
mod linear;
mod real;
mod series;
mod simd;
pub mod similarity;
mod softmax;

pub use activation::{sigmoid, softplus, tanh};
pub use linear::Linear;
pub use real::Real;
pub use series::Series;
