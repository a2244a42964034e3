//! File lock for a single writer, which names its holder.
//!
//! The lock is the system's own, on a file: that of a process that has ended, however it ended, is free.
//! The file alone means nothing; it is removed with the lock, and one that is left is taken over. On Windows the
//! file is opened without write sharing, and the system deletes it when it is closed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, Unsupported};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::short;
use super::{Error, file};

/// The largest lock file that is read, in bytes.
const LIMIT: u64 = 1 << 16;
const FORMAT: &str = "tapescope-lock";
/// The largest number of lock files that are opened and found removed.
const MOST_TRIES: usize = 1000;

/// A lock that is held until it is dropped, or until this process ends.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// The file that the system locks.
    file: File,
    /// False where the file system does not support locks: other writers are not refused then.
    pub(super) is_exclusive: bool,
}

/// The contents of a lock file.
#[derive(Debug, Serialize, Deserialize)]
struct Holder {
    format: String,
    process: u32,
    host: String,
    command: String,
}

impl Lock {
    /// Takes the lock at `path`, and creates its file if missing; `command` names the holder in the refusal of
    /// others.
    ///
    /// Where the file system does not support locks, other writers are not refused.
    ///
    /// # Errors
    /// Somebody else holds it, and who; or the file cannot be written.
    pub fn take(path: &Path, command: &str) -> Result<Self, Error> {
        let unwritable = Error::unwritable(path);
        let (mut patience, mut tries) = (20, MOST_TRIES);
        loop {
            let opened = open(path).and_then(|file| Ok((try_lock(&file)?, file)));
            let (is_exclusive, file) = match opened {
                Ok(opened) => opened,
                // Who only asks who holds it (`holder`) has it for a moment.
                Err(error) if patience > 0 && is_short(&error) => {
                    patience -= 1;
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                }
                Err(TryLockError::WouldBlock) => return Err(refusal(path)),
                Err(TryLockError::Error(error)) => return Err(unwritable(error)),
            };
            // The holder before may have removed its file after this one was opened.
            if !is_at(&file, path).map_err(&unwritable)? {
                tries -= 1;
                if tries == 0 {
                    let problem = "the file is another one whenever it is looked at: the file system has no stable file \
                                   numbers; choose a folder on another one";
                    return Err(unwritable(io::Error::other(problem)));
                }
                continue;
            }
            let holder = Holder {
                format: FORMAT.to_owned(),
                process: std::process::id(),
                host: host(),
                command: command.to_owned(),
            };
            let line = file::json(&holder) + "\n";
            // From here on it is removed again where something fails.
            let lock = Self {
                path: path.to_owned(),
                file,
                is_exclusive,
            };
            let mut to = &lock.file;
            let written = file::change(|| {
                to.set_len(0)?;
                to.rewind()?;
                to.write_all(line.as_bytes())
            });
            written.map_err(unwritable)?;
            return Ok(lock);
        }
    }

    /// Checks that the lock file is still in its place. Where its folder was moved away, another may have its name now.
    ///
    /// # Errors
    /// It is not there, or another file is.
    pub(super) fn check(&self) -> Result<(), Error> {
        if is_at(&self.file, &self.path).map_err(Error::unreadable(&self.path))? {
            return Ok(());
        }
        let problem = "it was moved or removed while this process was writing: its run.lock is missing or has changed; \
                       to resume a moved run, use --resume with its new folder";
        let folder = self.path.parent().unwrap_or(&self.path);
        Err(Error::unwritable(folder)(io::Error::other(problem)))
    }

    /// Returns the holder of the lock at `path` as text, if there is one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn holder(path: &Path) -> Result<Option<String>, Error> {
        // On Windows no other process can open a locked file for writing.
        let opened = check_file(path)
            .and_then(|()| File::options().read(true).write(cfg!(windows)).open(path));
        match opened.map_err(refused) {
            Err(TryLockError::WouldBlock) => Ok(Some(who(path))),
            Err(error) if is_short(&error) => Ok(None),
            Err(TryLockError::Error(error)) => match error.kind() {
                NotFound | NotADirectory => Ok(None),
                _ => Err(Error::unreadable(path)(error)),
            },
            Ok(file) => match file.try_lock_shared() {
                Err(TryLockError::WouldBlock) => Ok(Some(who(path))),
                _ => Ok(None),
            },
        }
    }

    /// True for a lock file of ours, held or left behind.
    pub(super) fn is_ours(path: &Path) -> bool {
        // The holder may not have written it yet.
        read(path).is_ok_and(|text| text.is_empty() || holder(&text).is_some())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // In the place of a folder that was moved away there may be another one, with the lock of somebody else.
        if cfg!(unix) && is_at(&self.file, &self.path).unwrap_or(false) {
            let _ = file::remove(&self.path);
        }
    }
}

/// Opens a lock file, which is created where it is not there. On Windows it is locked then.
fn open(path: &Path) -> Result<File, TryLockError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        const SHARE_READ_AND_DELETE: u32 = 1 | 4;
        const DELETE_ON_CLOSE: u32 = 0x0400_0000;
        options.share_mode(SHARE_READ_AND_DELETE);
        options.custom_flags(DELETE_ON_CLOSE);
    }
    let opened = check_file(path).and_then(|()| options.open(path));
    opened.map_err(refused)
}

/// Refuses what is there and is no ordinary file: to open a named pipe can wait for ever.
fn check_file(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            let problem = "is no ordinary file; remove it, or choose another folder";
            Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
        }
        _ => Ok(()),
    }
}

/// The error of opening a lock file.
fn refused(error: io::Error) -> TryLockError {
    // The error of Windows for a file that another process has open.
    const SHARING_VIOLATION: i32 = 32;
    if cfg!(windows) && error.raw_os_error() == Some(SHARING_VIOLATION) {
        return TryLockError::WouldBlock;
    }
    TryLockError::Error(error)
}

/// True for an error that may be gone after a moment: on Windows a file that is being removed cannot be opened.
fn is_short(error: &TryLockError) -> bool {
    match error {
        TryLockError::WouldBlock => true,
        TryLockError::Error(error) => cfg!(windows) && error.kind() == PermissionDenied,
    }
}

/// Locks an open file; false where the file system knows no locks.
fn try_lock(file: &File) -> Result<bool, TryLockError> {
    #[cfg(test)]
    if super::faults::without_locks() {
        return Ok(false);
    }
    // Another lock would keep others from reading who holds this one.
    if cfg!(windows) {
        return Ok(true);
    }
    match file.try_lock() {
        Err(TryLockError::Error(error)) if error.kind() == Unsupported => Ok(false),
        done => done.map(|()| true),
    }
}

/// True when `file` is the one at `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    #[cfg(test)]
    if super::faults::without_file_numbers() {
        return Ok(false);
    }
    let here = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((here.dev(), here.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature everywhere")]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

fn read(path: &Path) -> io::Result<String> {
    check_file(path)?;
    let mut text = String::new();
    File::open(path)?.take(LIMIT).read_to_string(&mut text)?;
    Ok(text)
}

fn holder(text: &str) -> Option<Holder> {
    let holder: Holder = serde_json::from_str(text).ok()?;
    (holder.format == FORMAT).then_some(holder)
}

/// Describes the holder of a lock.
fn who(path: &Path) -> String {
    let Some(holder) = read(path).ok().and_then(|text| holder(&text)) else {
        return "another process".to_owned();
    };
    let (process, command) = (holder.process, short(&holder.command));
    if holder.host == host() {
        return format!("process {process}: {command}");
    }
    format!("process {process} on {}: {command}", short(&holder.host))
}

fn refusal(path: &Path) -> Error {
    let folder = path.parent().unwrap_or(path);
    Error::about(folder, format!("is being written by {}", who(path)))
}

/// The name of this computer.
#[cfg(unix)]
fn host() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_names_its_one_holder_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.lock");
        let first = Lock::take(&path, "tapescope train copy").unwrap();
        let refused = Lock::take(&path, "tapescope sweep copy").unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!(
                "{}: is being written by process {}: tapescope train copy",
                folder.path().display(),
                std::process::id()
            )
        );
        let holder = Lock::holder(&path).unwrap();
        let expected = format!("process {}: tapescope train copy", std::process::id());
        assert_eq!(holder, Some(expected));
        assert!(Lock::is_ours(&path));
        drop(first);
        assert!(!path.exists());
        assert_eq!(Lock::holder(&path).unwrap(), None);
        Lock::take(&path, "tapescope sweep copy").unwrap();
    }

    #[test]
    fn the_lock_of_a_dead_process_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.lock");
        let left = r#"{"format":"tapescope-lock","process":1,"host":"x","command":"a long one, longer than that of the next holder"}"#;
        fs::write(&path, left).unwrap();
        assert!(Lock::is_ours(&path));
        let lock = Lock::take(&path, "short").unwrap();
        assert_eq!(holder(&read(&path).unwrap()).unwrap().command, "short");
        drop(lock);
        for foreign in ["notes", "{}", r#"{"format":"x"}"#] {
            fs::write(&path, foreign).unwrap();
            assert!(!Lock::is_ours(&path), "{foreign}");
        }
        // Nor is a path that is no regular file, and no process waits for it.
        #[cfg(unix)]
        {
            let pipe = folder.path().join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.unwrap().success());
            assert!(!Lock::is_ours(&pipe));
            for refused in [
                Lock::holder(&pipe).map(drop),
                Lock::take(&pipe, "x").map(drop),
            ] {
                let message = refused.unwrap_err().to_string();
                let expected = "is no ordinary file; remove it, or choose another folder";
                assert!(message.ends_with(expected), "{message}");
            }
        }
    }

    /// Many take and drop one lock as fast as they can: never two at a time.
    #[test]
    fn a_lock_holds_after_its_file_is_removed() {
        use std::sync::atomic::{AtomicUsize, Ordering};

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.lock");
        let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while taken.load(Ordering::SeqCst) < 500 {
                        let Ok(_lock) = Lock::take(&path, "x") else {
                            continue;
                        };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        taken.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
    }
}
