//! Names in messages, and writing all or nothing.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::Error;
use super::error::bounded;
pub(super) use super::input::{read, read_text};

/// The name of a file, as people read it: none of its characters acts on a terminal, and of a very long one
/// both ends are shown.
pub fn label(path: &Path) -> String {
    const MOST: usize = 400;
    bounded(&path.display().to_string(), MOST)
}

/// Writes a file beside `path`, then moves it there: readers see the old file or the new, never half.
///
/// A link stays a link: the file it leads to is replaced. What is there and is no ordinary file, such as a
/// device or a named pipe, is written to directly.
pub(super) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let written = match fs::metadata(path) {
        Ok(there) if there.is_dir() => {
            let problem = "is a folder; expected the name of a file to write";
            return Err(Error::content(&label(path), "", problem));
        }
        Ok(there) if !there.is_file() => write_directly(path, write),
        _ => target(path).and_then(|path| write_beside_and_rename(&path, write)),
    };
    written.map_err(|source| Error::Write {
        file: label(path),
        source: without_path(source),
    })
}

/// The end of a chain of links, whether there is a file or not.
fn target(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links go round in a circle"))
}

fn write_directly(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(path)?;
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    write(&mut writer)?;
    writer.flush()
}

/// The error without the name of a temporary file, which means nothing to anyone: `tempfile` puts it behind
/// what the system said.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((said, _)) => io::Error::new(error.kind(), said),
        None => error,
    }
}

fn write_beside_and_rename(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let problem = format!("there is no folder {}", label(folder));
        return Err(io::Error::new(io::ErrorKind::NotFound, problem));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tapescope-");
    // The permissions of an ordinary new file, instead of the private ones of a temporary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder.tempfile_in(folder)?;
    let mut writer = BufWriter::with_capacity(1 << 16, temporary);
    write(&mut writer)?;
    let temporary = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A value of ours as one line of JSON.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain values with text for keys become JSON")
}

/// Creates a folder and the folders above it.
pub(super) fn create_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| Error::Write {
        file: label(path),
        source,
    })
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Write {
            file: label(path),
            source,
        }),
        _ => Ok(()),
    }
}

/// True for a file that is there.
pub(super) fn exists(path: &Path) -> bool {
    path.is_file()
}

/// The names of what lies in a folder, in order; none where there is no such folder.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let list = || -> io::Result<Vec<String>> {
        let entries = fs::read_dir(folder)?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names: Vec<String> = names.collect::<io::Result<_>>()?;
        names.sort_unstable();
        Ok(names)
    };
    match list() {
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(|source| Error::Read {
            file: label(folder),
            source,
        }),
    }
}
