//! Platform differences between desktop and browser: background work, files that the user chooses, files next to the
//! page.
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
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future to its end without taking turns. It must not wait for others: each of its turns is granted at the
/// latest on the second request.
pub fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
    }
}

/// A file that a person chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The path; in a browser only the name.
    pub path: PathBuf,
    /// The contents, if the file cannot be read by path.
    pub bytes: Option<Vec<u8>>,
}
