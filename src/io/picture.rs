//! Figures as files.

use std::path::Path;

use super::{Error, file};

/// Writes a figure, whole or not at all.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    file::write_atomically(path, |to| to.write_all(bytes))
}
