//! Everything that touches files: presets, weights, traces, run folders.
//!
//! The only module that knows serde and `std::fs`. Every reader goes from *what was typed* (a private
//! form, checked for keys and types) to *what is valid* (a type of the library, checked for ranges), and
//! every error names the file, the place inside it, and what is allowed there. Every writer writes beside
//! its target and renames, so that a file is either whole or absent.
//!
//! The formats are described in `docs/formats.md`.

pub mod bits;
mod error;
mod file;
pub mod history;
pub mod log;
pub mod paper;
pub mod preset;
pub mod run;
pub mod svg;
pub mod sweep;
pub mod trace;
pub mod weights;

pub use error::Error;
pub use preset::{EvaluationConfig, Experiment};
pub use run::RunFolder;
pub use weights::Trained;
