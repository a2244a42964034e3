//! Figures as files.

use std::path::Path;

use super::{Error, file};

/// Creates the folder of the frames of a film.
///
/// # Errors
/// It exists and is not empty, or cannot be created.
pub fn create_folder(path: &Path) -> Result<(), Error> {
    if path.exists()
        && path
            .read_dir()
            .is_ok_and(|mut files| files.next().is_some())
    {
        let problem = "is not empty; choose a new folder".to_owned();
        return Err(Error::about(path, problem));
    }
    file::create_folder(path)
}

/// Writes a figure, whole or not at all.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    file::write_atomically(path, |to| to.write_all(bytes))
}
