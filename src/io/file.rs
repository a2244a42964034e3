//! Names in messages, and writing all or nothing.
//!
//! A file that is being written has no name yet where the system has such files (`O_TMPFILE`), so nothing is
//! left of a program that is killed. Elsewhere, and between its first name and the right one, it is called
//! [`TEMPORARY`]… and locked by its writer: one that nobody has locked is removed by the next who writes there.
//!
//! Each function returns when its change is on the disk, the folder's entry included: a power loss is no worse than a kill.

use std::fs::{self, File};
use std::io::ErrorKind::{InvalidInput, NotFound, PermissionDenied, Unsupported};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Error;
use super::error::{bounded, plain, short};
#[cfg(test)]
pub(super) use super::faults::change;
use super::held;
pub(super) use super::input::{read, read_text};
use crate::platform::HAS_FILES;

/// The name of a file, as people read it: none of its characters acts on a terminal, and of a very long one
/// both ends are shown.
pub fn label(path: &Path) -> String {
    const MOST: usize = 400;
    bounded(&path.display().to_string(), MOST)
}

/// Changes the disk; tests stop before and behind it.
#[cfg(not(test))]
pub(super) fn change<T>(act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    act()
}

/// Writes a file beside `path`, then moves it there: readers see the old file or the new, never half.
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
        held::keep(path.to_owned(), bytes);
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
    Err(io::Error::other("its links go round in a circle"))
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
    let temporary = change(|| Temporary::new(folder)).map_err(without_path)?;
    change(|| fill(temporary.file(), write))?;
    change(|| temporary.file().sync_all())?;
    change(|| temporary.persist(folder, path)).map_err(without_path)?;
    sync_folder(folder)
}

/// A file that is being written.
enum Temporary {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(tempfile::NamedTempFile),
}

impl Temporary {
    fn new(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed::create(folder) {
            return Ok(Self::Unnamed(file));
        }
        #[cfg_attr(not(unix), expect(unused_mut, reason = "permissions are of unix"))]
        let mut builder = names();
        // The permissions of an ordinary new file, instead of the private ones of a temporary file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder)?;
        // Who looks whether it is abandoned holds it for a moment. Without locks nobody removes it either.
        let _ = file.as_file().lock();
        Ok(Self::Named(file))
    }

    fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Gives the file its name, in the place of what has it now.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_variables, reason = "a file with a name knows its folder")
    )]
    fn persist(self, folder: &Path, path: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => unnamed::link(&file, folder, path),
            Self::Named(file) => {
                file.persist(path).map_err(|error| error.error)?;
                Ok(())
            }
        }
    }
}

/// Files without a name.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, OFlags, linkat};

    /// Where open files have names, by which one without any is given its first.
    const OPEN: &str = "/proc/self/fd";

    /// None where the file system or the kernel has no such files.
    pub(super) fn create(folder: &Path) -> Option<File> {
        #[cfg(test)]
        if crate::io::faults::without_unnamed() {
            return None;
        }
        if !Path::new(OPEN).is_dir() {
            return None;
        }
        let mut options = OpenOptions::new();
        let unnamed = i32::try_from(OFlags::TMPFILE.bits()).ok()?;
        options.write(true).custom_flags(unnamed);
        let file = options.open(folder).ok()?;
        // Held until it has its last name; nobody else knows the file, so this cannot fail for another's sake.
        let _ = file.try_lock();
        Some(file)
    }

    /// A link cannot take the place of another file, a rename can.
    pub(super) fn link(file: &File, folder: &Path, path: &Path) -> io::Result<()> {
        let open = PathBuf::from(OPEN).join(file.as_raw_fd().to_string());
        let link = |to: &Path| {
            linkat(CWD, &open, CWD, to, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
        };
        match link(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done,
        }
        let beside = super::change(|| super::names().make_in(folder, link))?;
        super::change(|| beside.persist(path).map_err(|error| error.error))
    }
}

const TEMPORARY: &str = ".tapescope-";
/// An empty file may be one that its writer has made and not locked yet; after this long it is not.
const BEFORE_IT_IS_LOCKED: Duration = Duration::from_mins(1);

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
        let is_ours = entry.file_name().to_string_lossy().starts_with(TEMPORARY);
        if is_ours && is_abandoned(&entry.path()).unwrap_or(false) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_abandoned(path: &Path) -> io::Result<bool> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(false);
    }
    let file = File::open(path)?;
    let there = file.metadata()?;
    let is_old = || {
        there
            .modified()
            .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > BEFORE_IT_IS_LOCKED))
    };
    Ok(file.try_lock().is_ok() && (there.len() > 0 || is_old()))
}

/// What was renamed in a folder is so on the disk too when this returns.
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
        version: "1.0",
        body,
    });
    write_atomically(path, |to| writeln!(to, "{json}"))
}

/// What is wrong with what a file of ours says of its `format` and its `version`, of which 1.x is read: the key, and
/// the words for it.
pub(super) fn foreign(
    [found, version]: [&str; 2],
    format: &'static str,
) -> Option<(&'static str, String)> {
    let of_version = "1.x, the version this program reads";
    let (key, found, expected) = if found != format {
        ("format", found, format)
    } else if version.split('.').next() != Some("1") {
        ("version", version, of_version)
    } else {
        return None;
    };
    Some((key, format!("is `{}`; expected {expected}", short(found))))
}

/// Reads what [`write_json`] writes.
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
    let wrong = |error: serde_json::Error| Error::content(&label, "", plain(&error.to_string()));
    let header: Header = serde_json::from_str(&text).map_err(wrong)?;
    match foreign([&header.format, &header.version], format) {
        Some((key, problem)) => Err(Error::content(&label, key, problem)),
        None => serde_json::from_str(&text).map_err(wrong),
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

/// Moves a file, if it is there, in the place of what has the new name.
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
    let mut file = File::options()
        .append(true)
        .open(path)
        .map_err(&unwritable)?;
    let length = file.metadata().map_err(&unwritable)?.len();
    let appended =
        change(|| file.write_all(text.as_bytes())).and_then(|()| change(|| file.sync_data()));
    appended.map_err(|error| {
        // A part of a line would spoil the next one.
        let _ = change(|| file.set_len(length));
        unwritable(error)
    })
}

/// True for a file that is there.
pub(super) fn exists(path: &Path) -> bool {
    path.is_file()
}

/// The names of what lies in a folder, in order; none where there is no such folder.
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
        listed => listed.map_err(Error::unreadable(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_being_written_has_no_name_where_the_system_has_such_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for text in ["one", "two"] {
            let before = contents(folder.path()).unwrap();
            write_atomically(&path, |to| {
                to.write_all(text.as_bytes())?;
                #[cfg(target_os = "linux")]
                if unnamed::create(folder.path()).is_some() {
                    assert_eq!(contents(folder.path()).unwrap(), before);
                }
                let _ = &before;
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
    fn temporary_files_go_with_their_writers() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at(".tapescope-dead"), "half").unwrap();
        fs::write(at(".tapescope-old"), "").unwrap();
        let old = std::time::SystemTime::now() - 2 * BEFORE_IT_IS_LOCKED;
        let file = File::options().write(true).open(at(".tapescope-old"));
        file.unwrap().set_modified(old).unwrap();
        fs::write(at(".tapescope-new"), "").unwrap();
        fs::create_dir(at(".tapescope-folder")).unwrap();
        fs::write(at(".other"), "half").unwrap();
        let named = Temporary::Named({
            let file = names().tempfile_in(folder.path()).unwrap();
            file.as_file().try_lock().unwrap();
            file.as_file().write_all(b"half").unwrap();
            file
        });
        write_atomically(&at("f"), |to| to.write_all(b"x")).unwrap();
        named.persist(folder.path(), &at("named")).unwrap();
        assert_eq!(fs::read(at("named")).unwrap(), b"half");
        assert_eq!(
            contents(folder.path()).unwrap(),
            [
                ".other",
                ".tapescope-folder",
                ".tapescope-new",
                "f",
                "named"
            ]
        );
    }
}
