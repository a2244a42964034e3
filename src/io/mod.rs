//! Everything that touches files: presets, weights, traces, run folders.
//!
//! The only module that knows serde and `std::fs`. Every reader goes from *what was typed* (a private
//! form, checked for keys and types) to *what is valid* (a type of the library, checked for ranges), and
//! every error names the file, the place inside it, and what is allowed there. Every writer writes next to
//! its target and renames, so that a file is either whole or absent.
//!
//! | module | file | to read one from memory |
//! |---|---|---|
//! | [`preset`] | an experiment, JSON | [`Experiment::from_json`] |
//! | [`weights`] | a trained machine, safetensors | [`weights::from_bytes`] |
//! | [`checkpoint`] | a training run between two updates, safetensors | [`checkpoint::from_bytes`] |
//! | [`snapshots`] | the weights of a run at several times, safetensors | [`snapshots::from_bytes`] |
//! | [`trace`] | one episode, JSON, gzipped JSON or npz; attention of other programs, npy or text | [`trace::from_bytes`] |
//! | [`log`] | a training run, JSON lines | [`log::from_text`] |
//! | [`bits`] | an episode made by hand, JSON | [`bits::from_json`] |
//! | [`episodes`] | the episodes of your own task, npz | [`episodes::from_bytes`] |
//! | [`pairs`] | the pairs of texts of your own task, text | [`pairs::from_bytes`] |
//! | [`machine_file`] | the equations of a machine, text | |
//! | [`text`] | the sentences of your own task, text | [`text::from_bytes`] |
//! | [`sweep`], [`measurement`], [`instructions`], [`picture`], [`live_page`], [`paper`], [`run`] | what training, sweeps and comparisons write | |
//!
//! [`recovery`] keeps runs of the window that were not saved. [`shell`] writes command lines for messages and logs. [`memory_limit`] tells how much memory is available; whatever
//! is large asks it first.
//!
//! The pages of `docs/formats` are for those who write such files: every key, every array with its symbol,
//! shape, range and equation. A file may come from anyone: sizes are checked before room is made, and
//! `tests/fuzz` throws millions of damaged files at every reader of this table.

pub mod bits;
pub mod checkpoint;
pub mod episodes;
mod error;
pub(crate) mod faults;
mod file;
pub mod fonts;
mod input;
pub mod instructions;
pub mod intervention;
pub mod live_page;
pub mod lock;
pub mod log;
pub mod machine_file;
pub mod measurement;
pub mod memory_files;
pub mod memory_limit;
mod npy;
pub mod pairs;
pub mod paper;
pub mod picture;
pub mod preset;
pub mod process;
pub mod recovery;
pub mod run;
pub mod shell;
pub mod snapshots;
pub mod sweep;
pub mod text;
pub mod trace;
mod trained;
pub mod weights;

pub use error::{Error, bounded, harmless, label};
pub use file::is_trace;
pub use preset::{EvaluationConfig, Experiment};
pub use run::{ExistingRun, ResumedRun, RunFolder, RunStart};
pub use trained::Trained;
