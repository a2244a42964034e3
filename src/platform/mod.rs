//! What a desktop and a browser do differently: time that passes beside the window, files that a person chooses, what
//! comes from beside the page.
//!
//! Both have the same functions. A desktop has threads and a file system; a browser has one thread, on which everything
//! is done in turns short enough that the page answers, and hands files over as bytes: `io` holds those in memory.

#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(target_arch = "wasm32")]
mod web;

#[cfg(not(target_arch = "wasm32"))]
pub use native::*;
#[cfg(target_arch = "wasm32")]
pub use web::*;

use std::path::PathBuf;

/// A file that a person chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its path; in a browser its name alone.
    pub path: PathBuf,
    /// What is in it, where it cannot be read by its path.
    pub bytes: Option<Vec<u8>>,
}
