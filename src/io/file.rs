//! Reading with a limit, writing all or nothing.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use super::Error;

/// The name of a file in messages.
pub(super) fn label(path: &Path) -> String {
    path.display().to_string()
}

/// The whole file, which has at most `limit` bytes.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let bytes = open_and_read(path, limit).map_err(|source| Error::Read {
        file: label(path),
        source,
    })?;
    if bytes.len() as u64 > limit {
        let problem = format!("is larger than {} MB, the most that is read", limit >> 20);
        return Err(Error::content(&label(path), "", problem));
    }
    Ok(bytes)
}

fn open_and_read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The whole file as text.
pub(super) fn read_text(path: &Path, limit: u64) -> Result<String, Error> {
    String::from_utf8(read(path, limit)?)
        .map_err(|error| Error::content(&label(path), "", format!("is not text: {error}")))
}

/// Writes a file beside `path`, then moves it there: readers see the old file or the new, never half.
pub(super) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    // A link stays a link: what it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.is_dir() {
        let problem = "is a folder; name a file in it";
        return Err(Error::content(&label(path), "", problem));
    }
    let written = if target.exists() && !target.is_file() {
        write_through(&target, write)
    } else {
        write_beside_and_rename(&target, write)
    };
    written.map_err(|source| Error::Write {
        file: label(path),
        source,
    })
}

/// To a device or a pipe, which is not ours to replace.
fn write_through(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
    write(&mut writer)?;
    writer.flush()
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
        let problem = format!("there is no folder {}", folder.display());
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

/// Removes a file that may be there.
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
