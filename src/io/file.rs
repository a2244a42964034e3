//! Names in messages, and writing all or nothing.
//!
//! A file that is being written is called [`TEMPORARY`]… and locked by its writer. One that no process has locked is
//! left of a program that was killed: the next writer in that folder removes it.
//!
//! Each function returns when its change is on the disk, the folder's entry included: a power loss is no worse than a kill.

use std::fs::{self, File};
use std::io::ErrorKind::{InvalidInput, NotADirectory, NotFound, PermissionDenied, Unsupported};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::Error;
pub use super::error::label;
use super::error::{parse, short};
#[cfg(test)]
pub(super) use super::faults::change;
use super::input::{is_pickle, start};
pub(super) use super::input::{read, read_text, text, text_start, without_mark};
use super::memory_files;
use super::npy::MAGIC;
use crate::platform::HAS_FILES;

/// True for a path that ends as the paths of traces do, and for a file that begins as a trace: gzip, zip, JSON of
/// its format, or weights of attention.
pub fn is_trace(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let ends = [
        ".ntmtrace.json",
        ".ntmtrace.json.gz",
        ".npz",
        ".npy",
        ".txt",
        ".csv",
        ".tsv",
        ".align",
    ];
    if ends.iter().any(|end| name.ends_with(end)) {
        return true;
    }
    let start = start(path);
    let is_json = || text_start(&start).starts_with(b"{");
    let format = b"\"ntm-trace\"";
    let has_format = || start.windows(format.len()).any(|bytes| bytes == format);
    // A weights file begins with the length of its header, which may be the letters PK or those of gzip.
    let is_npz = || start.starts_with(b"PK\x03\x04") && !is_pickle(&start);
    is_attention(&start)
        || is_npz()
        || start.starts_with(b"\x1f\x8b\x08")
        || is_json() && has_format()
}

/// The words between blanks, tabs, lines, commas and semicolons.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|next: char| next.is_whitespace() || next == ',' || next == ';');
    words.filter(|word| !word.is_empty())
}

/// True for the first bytes of attention of another program: an array, a matrix, or links.
pub(super) fn is_attention(bytes: &[u8]) -> bool {
    let text = text_start(bytes);
    let text = String::from_utf8_lossy(&text[..text.len().min(400)]);
    let is_one = |word: &str| word.parse::<f32>().is_ok() || is_link(word);
    // A weights file begins with the length of its header, whose first bytes may be digits.
    let is_text = !bytes.contains(&0);
    bytes.starts_with(&MAGIC[..6]) || is_text && words(&text).next().is_some_and(is_one)
}

/// True for a word that stands for a link, right or wrong.
pub(super) fn is_link(word: &str) -> bool {
    let digits = word.trim_start_matches(|next: char| next.is_ascii_digit());
    let behind = digits
        .strip_prefix(['-', 'p'])
        .filter(|_| digits.len() < word.len());
    behind.is_some_and(|to| to.starts_with(|next: char| next == '-' || next.is_ascii_digit()))
}

/// Changes the disk; tests stop before and behind it.
#[cfg(not(test))]
pub(super) fn change<T>(act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    act()
}

/// Writes a file next to `path`, then moves it there: readers see the old file or the new, never half.
///
/// Without a file system it is held in memory.
///
/// A link stays a link: the file it leads to is replaced. What is there and is no ordinary file, such as a
/// device or a named pipe, is written to directly.
pub(super) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    if !HAS_FILES {
        let mut bytes = Vec::new();
        write(&mut bytes).map_err(Error::unwritable(path))?;
        memory_files::insert(path.to_owned(), bytes);
        return Ok(());
    }
    let written = match fs::metadata(path) {
        Ok(there) if there.is_dir() => {
            let problem = "is a folder; expected the name of a file to write";
            return Err(Error::about(path, problem));
        }
        Ok(there) if !there.is_file() => {
            let file = File::options().write(true).open(path);
            file.and_then(|file| fill(&file, write))
        }
        _ => target(path).and_then(|path| write_beside_and_rename(&path, write)),
    };
    written.map_err(Error::unwritable(path))
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
    Err(io::Error::other("its symbolic links form a loop"))
}

fn fill(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
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

/// The folder that a file lies in.
fn folder_of(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn write_beside_and_rename(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        let problem = format!("there is no folder {}", label(folder));
        return Err(io::Error::new(NotFound, problem));
    }
    sweep(folder);
    let temporary = change(|| temporary(folder)).map_err(without_path)?;
    // A file keeps who may read it, also while it is written.
    if let Ok(old) = fs::metadata(path) {
        temporary.as_file().set_permissions(old.permissions())?;
    }
    change(|| fill(temporary.as_file(), write))?;
    change(|| temporary.as_file().sync_all())?;
    change(|| temporary.persist(path).map_err(|error| error.error)).map_err(without_path)?;
    sync_folder(folder)
}

/// Creates a new file next to the one that it replaces.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "permissions are of unix"))]
    let mut builder = names();
    // The permissions of an ordinary new file, instead of the private ones of a temporary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let file = builder.tempfile_in(folder)?;
        // Without locks no other process removes it either.
        let _ = file.as_file().lock();
        // Another writer may have removed it before it was locked.
        if file.path().exists() {
            return Ok(file);
        }
    }
}

const TEMPORARY: &str = ".tapescope-";

fn names() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(test)]
    builder.disable_cleanup(super::faults::is_killed());
    builder
}

/// Removes the temporary files in a folder whose writers have died. What cannot be removed stays.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            let _ = remove_abandoned(&entry.path());
        }
    }
}

/// Removes a file that no process has locked, and holds its lock meanwhile.
fn remove_abandoned(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(());
    }
    let file = File::open(path)?;
    file.try_lock()?;
    change(|| fs::remove_file(path))
}

/// Makes the renames in a folder durable on disk before it returns.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere folders cannot be opened.
    if !cfg!(unix) {
        return Ok(());
    }
    match change(|| File::open(folder)?.sync_all()) {
        // It may be written into but not read, or its file system cannot do it: the file is there all the same.
        Err(error) if matches!(error.kind(), PermissionDenied | InvalidInput | Unsupported) => {
            Ok(())
        }
        done => done,
    }
}

/// A value of ours as one line of JSON.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain values with text for keys become JSON")
}

/// The version of the small files of [`write_json`].
const VERSION: &str = "1.0";

/// Writes a small file of ours: the keys of `body` behind its `format` and `version`.
pub(super) fn write_json(
    path: &Path,
    format: &str,
    body: &impl serde::Serialize,
) -> Result<(), Error> {
    #[derive(serde::Serialize)]
    struct Form<'a, T> {
        format: &'a str,
        version: &'a str,
        #[serde(flatten)]
        body: &'a T,
    }
    let json = json(&Form {
        format,
        version: VERSION,
        body,
    });
    write_atomically(path, |to| writeln!(to, "{json}"))
}

/// Returns the error in the `format` or `version` of one of our files: the key and the text.
pub(super) fn foreign(
    found: [&str; 2],
    expected: [&'static str; 2],
) -> Option<(&'static str, String)> {
    let mut all = ["format", "version"].into_iter().zip(found).zip(expected);
    let ((key, found), expected) = all.find(|((_, found), expected)| found != expected)?;
    Some((key, format!("is `{}`; expected `{expected}`", short(found))))
}

/// Reads a file written by [`write_json`].
pub(super) fn read_json<T: serde::de::DeserializeOwned>(
    path: &Path,
    limit: u64,
    format: &'static str,
) -> Result<T, Error> {
    #[derive(serde::Deserialize)]
    struct Header {
        format: String,
        version: String,
    }
    let (text, label) = (read_text(path, limit)?, label(path));
    let header: Header = parse(&text, &label)?;
    match foreign([&header.format, &header.version], [format, VERSION]) {
        Some((key, problem)) => Err(Error::content(&label, key, problem)),
        None => parse(&text, &label),
    }
}

/// Creates a folder and the folders above it.
pub(super) fn create_folder(path: &Path) -> Result<(), Error> {
    let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(missing).collect();
    if let Some(link) = missing.iter().find(|folder| folder.is_symlink()) {
        let to = fs::read_link(link).unwrap_or_default();
        let problem = format!(
            "is a symbolic link to {}, which does not exist; create that folder, or choose another one",
            label(&to)
        );
        return Err(Error::about(link, problem));
    }
    let created = change(|| fs::create_dir_all(path));
    let mut folders = missing.into_iter().map(folder_of);
    let created = created.and_then(|()| folders.try_for_each(sync_folder));
    created.map_err(Error::unwritable(path))
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    if !path.exists() && !path.is_symlink() {
        return Ok(());
    }
    match change(|| fs::remove_file(path)).and_then(|()| sync_folder(folder_of(path))) {
        Err(error) if error.kind() != NotFound => Err(Error::unwritable(path)(error)),
        _ => Ok(()),
    }
}

/// Removes a folder, if it is there and empty.
pub(super) fn remove_folder(path: &Path) {
    if path.is_dir() {
        let _ = change(|| fs::remove_dir(path));
    }
}

/// Moves a file, if it exists, and replaces any file of the new name.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    if !exists(from) {
        return Ok(());
    }
    let renamed = change(|| fs::rename(from, to))
        .and_then(|()| sync_folder(folder_of(to)))
        .and_then(|()| sync_folder(folder_of(from)));
    renamed.map_err(Error::unwritable(to))
}

/// Appends to a file that is there: all of it or, where that fails, nothing.
pub(super) fn append(path: &Path, text: &str) -> Result<(), Error> {
    let unwritable = Error::unwritable(path);
    // Not `append`: Windows does not cut a file that is open for that alone.
    let file = File::options().write(true).open(path);
    let mut file = file.map_err(&unwritable)?;
    let length = file.seek(SeekFrom::End(0)).map_err(&unwritable)?;
    let appended =
        change(|| file.write_all(text.as_bytes())).and_then(|()| change(|| file.sync_data()));
    appended.map_err(|error| {
        // A part of a line would spoil the next one.
        let _ = change(|| file.set_len(length));
        unwritable(error)
    })
}

/// The path of a file, if it is there.
pub(super) fn if_exists(path: PathBuf) -> Option<PathBuf> {
    Some(path).filter(|path| exists(path))
}

/// True for an existing file.
pub(super) fn exists(path: &Path) -> bool {
    path.is_file()
}

/// Returns the names in a folder, in order; none where the folder does not exist.
pub(super) fn contents(folder: &Path) -> Result<Vec<String>, Error> {
    let list = || -> io::Result<Vec<String>> {
        let entries = fs::read_dir(folder)?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names: Vec<String> = names.collect::<io::Result<_>>()?;
        names.sort_unstable();
        Ok(names)
    };
    match list() {
        Err(source) if source.kind() == NotFound => Ok(Vec::new()),
        Err(source) if source.kind() == NotADirectory => {
            let problem =
                "is a file, or inside one; expected a run folder or, for --out, a new folder";
            Err(Error::about(folder, problem))
        }
        listed => listed.map_err(Error::unreadable(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for text in ["one", "two"] {
            let before = fs::read(&path).ok();
            write_atomically(&path, |to| {
                to.write_all(text.as_bytes())?;
                assert_eq!(fs::read(&path).ok(), before);
                Ok(())
            })
            .unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(contents(folder.path()).unwrap(), ["f"]);
        }
        let failed = write_atomically(&path, |_| Err(io::Error::other("no space")));
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(contents(folder.path()).unwrap(), ["f"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_private_file_stays_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        write_atomically(&path, |to| to.write_all(b"two")).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn traces_are_known_by_their_contents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let is_trace = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            is_trace(&path)
        };
        let format = "\"format\": \"ntm-trace\"}";
        assert!(is_trace(format!("{{{format}").as_bytes()));
        assert!(is_trace(b"PK\x03\x04 and an archive"));
        assert!(!is_trace(b"{\"task\": \"copy\"}"));
        // A weights file begins with the length of its header.
        let header = [&0x4b50_u64.to_le_bytes()[..], b"{\"__metadata__\""].concat();
        assert!(!is_trace(&header), "a header of 19,280 bytes");
    }

    #[test]
    fn temporary_files_go_with_their_writers() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at(".tapescope-dead"), "half").unwrap();
        fs::write(at(".tapescope-empty"), "").unwrap();
        fs::create_dir(at(".tapescope-folder")).unwrap();
        fs::write(at(".other"), "half").unwrap();
        let named = temporary(folder.path()).unwrap();
        named.as_file().write_all(b"half").unwrap();
        write_atomically(&at("f"), |to| to.write_all(b"x")).unwrap();
        named.persist(at("named")).unwrap();
        assert_eq!(fs::read(at("named")).unwrap(), b"half");
        assert_eq!(
            contents(folder.path()).unwrap(),
            [".other", ".tapescope-folder", "f", "named"]
        );
    }

    #[test]
    fn writers_in_one_folder_leave_the_files_of_each_other() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for name in ["a", "b", "c"] {
                let path = folder.path().join(name);
                scope.spawn(move || {
                    for _ in 0..200 {
                        write_atomically(&path, |to| to.write_all(name.as_bytes())).unwrap();
                    }
                });
            }
        });
        assert_eq!(contents(folder.path()).unwrap(), ["a", "b", "c"]);
    }
}
