//! Reading with a limit, writing all or nothing.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

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
    if bytes.is_empty() {
        return Err(Error::content(&label(path), "", "is empty"));
    }
    if is_pickle(&bytes) {
        let problem = "is a pickle of Python or PyTorch, which only those can read; expected safetensors or a trace: \
                       load it with torch.load and write its tensors with the Python module, \
                       tapescope_io.write_weights (see python/examples/from_torch.py)";
        return Err(Error::content(&label(path), "", problem));
    }
    Ok(bytes)
}

/// True of what `pickle` or `torch.save` wrote, whatever it is called.
///
/// A pickle begins with 0x80 and the number of its protocol. So may the length of the header of a safetensors
/// file, whose upper half is 0 and behind which a brace stands. The first member of a zip by PyTorch is
/// `NAME/data.pkl`.
fn is_pickle(bytes: &[u8]) -> bool {
    match bytes {
        [0x80, 2..=5, ..] => bytes.get(4..9) != Some(b"\0\0\0\0{"),
        [b'P', b'K', 3, 4, ..] => {
            let length = bytes.get(26..28).map_or(0, |length| {
                usize::from(u16::from_le_bytes([length[0], length[1]]))
            });
            let name = bytes.get(30..30 + length);
            name.is_some_and(|name| name.ends_with(b"data.pkl"))
        }
        _ => false,
    }
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

/// The error without the name of a temporary file, which means nothing to anyone.
fn without_path(error: io::Error) -> io::Error {
    let source = error.get_ref().and_then(|inner| inner.source());
    match source.map(ToString::to_string) {
        Some(source) => io::Error::new(error.kind(), source),
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

#[cfg(test)]
mod tests {
    use super::is_pickle;

    #[test]
    fn a_pickle_is_known_by_its_first_bytes_and_a_header_of_640_bytes_is_none() {
        let zip = |name: &str| {
            let mut bytes = [b"PK\x03\x04".as_slice(), &[0; 26], name.as_bytes()].concat();
            bytes[26] = name.len() as u8;
            bytes
        };
        let safetensors = [&640_u64.to_le_bytes(), b"{\"a\"".as_slice()].concat();
        for (bytes, expected) in [
            (b"\x80\x02\x8a\x0a\x6c\xfc\x9cF\xf9 j".to_vec(), true),
            (b"\x80\x04\x95".to_vec(), true),
            (zip("archive/data.pkl"), true),
            (zip("meta.json"), false),
            (b"PK\x03\x04".to_vec(), false),
            (safetensors, false),
            (b"{}".to_vec(), false),
        ] {
            assert_eq!(is_pickle(&bytes), expected, "{bytes:?}");
        }
    }
}
