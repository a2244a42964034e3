//! A file to a recording, by its first bytes: JSON, gzip, npz, or attention of another program.

use std::ops::ControlFlow;
use std::path::Path;

use super::attention::{self, AttentionOptions};
use super::imported::Imported;
use super::npz::{META, Members};
use super::read::with_arrays;
use super::source::ReadProgress;
use super::unpack::unpacked;
use crate::io::{Error, file};

/// The largest file that is read, in bytes.
const LIMIT: u64 = 2 << 30;

/// Reads a trace file, or attention of another program: see [`AttentionOptions`].
///
/// # Errors
/// The file, the array or key, what was found and what was expected.
pub fn read(path: &Path) -> Result<Imported, Error> {
    read_watched(path, &|_, _| ControlFlow::Continue(()))
}

/// [`read`], with what belongs to weights.
///
/// # Errors
/// As for [`read`]; options for a trace.
pub fn read_with(path: &Path, options: &AttentionOptions) -> Result<Imported, Error> {
    opened(path, options, &|_, _| ControlFlow::Continue(()))
}

/// [`read`], as far as `watch` allows.
///
/// # Errors
/// As for [`read`]; and that it was given up.
pub fn read_watched(path: &Path, watch: ReadProgress<'_>) -> Result<Imported, Error> {
    opened(path, &AttentionOptions::default(), watch)
}

fn opened(
    path: &Path,
    options: &AttentionOptions,
    watch: ReadProgress<'_>,
) -> Result<Imported, Error> {
    let bytes = file::read(path, LIMIT, begins)?;
    recorded(bytes, options, &file::label(path), watch)
}

/// Refuses bytes that are neither JSON nor packed, nor weights.
fn begins(bytes: &[u8]) -> Result<(), String> {
    match file::text_start(bytes).first() {
        Some(b'P' | 0x1f | b'{' | b'[') | None => Ok(()),
        Some(_) if file::is_attention(bytes) => Ok(()),
        Some(_) => {
            Err("is not a trace: expected JSON, gzip, npz, or weights of attention, .npy or a text that begins with a number or a link".to_owned())
        }
    }
}

/// [`read`] from memory: JSON, gzipped JSON or npz, by its first bytes; `label` stands for the file in
/// messages.
///
/// # Errors
/// As for [`read`].
pub fn from_bytes(bytes: Vec<u8>, label: &str) -> Result<Imported, Error> {
    let options = AttentionOptions::default();
    recorded(bytes, &options, label, &|_, _| ControlFlow::Continue(()))
}

/// The recording in these bytes.
fn recorded(
    bytes: Vec<u8>,
    options: &AttentionOptions,
    label: &str,
    watch: ReadProgress<'_>,
) -> Result<Imported, Error> {
    let fail = |problem: String| Error::content(label, "", problem);
    if file::is_attention(&bytes) {
        return attention::from_bytes(bytes, options, label);
    }
    options.check_trace(label)?;
    if bytes.starts_with(b"PK") {
        let mut members = Members::new(&bytes, LIMIT, watch).map_err(fail)?;
        let meta = members
            .meta()
            .map_err(|problem| Error::content(label, META, problem))?;
        return with_arrays(&meta, label, Some(members), watch);
    }
    let text = |bytes| file::text(bytes).map_err(fail);
    if bytes.starts_with(b"\x1f\x8b") {
        // Unpacking it is one half, reading what was in it the other.
        let half = |done: usize, all: usize| watch(done, 2 * all);
        let text = text(unpacked(&bytes, LIMIT, label, &half)?)?;
        let half = |done: usize, all: usize| watch(all + done, 2 * all);
        return with_arrays(&text, label, None, &half);
    }
    with_arrays(&text(bytes)?, label, None, watch)
}
