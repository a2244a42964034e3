//! Small differentiable operations that know nothing of Turing machines.
//!
//! Each file holds an operation, its derivative and their check.

mod activation;
mod aligned;
mod answer;
pub(crate) mod check;
mod eigen;
pub mod elementary;
mod float;
pub mod gamma;
pub(crate) mod golden;
pub(crate) mod kernel;
mod linear;
pub mod lstm;
pub mod matrix;
mod median;
pub(crate) mod pack;
mod random;
mod real;
mod series;
pub mod simd;
pub mod similarity;
pub mod softmax;
pub mod units;
pub mod vectors;

pub use activation::{sigmoid, softplus};
pub use aligned::Aligned;
pub use answer::{Answer, symbol};
pub use eigen::eigenvalues;
pub use linear::Linear;
pub use matrix::Matrix;
pub use median::median;
pub use pack::Pack;
pub use random::{Random, random};
pub use real::Real;
pub use series::Series;
