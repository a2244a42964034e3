//! Files in memory, for browsers. With a file system there are none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Files = BTreeMap<PathBuf, Vec<u8>>;

static FILES: Mutex<Files> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores a file under this name; replaces an existing one.
pub fn insert(path: PathBuf, bytes: Vec<u8>) {
    files().insert(path, bytes);
}

/// Removes and returns the file of this name.
pub fn remove(path: &Path) -> Option<Vec<u8>> {
    files().remove(path)
}

/// Returns a copy of the file of this name.
pub(super) fn get(path: &Path) -> Option<Vec<u8>> {
    files().get(path).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Experiment, preset};

    #[test]
    fn a_memory_file_reads_like_a_file_until_removed() {
        let path = Path::new("held in memory.json");
        let experiment = Experiment::included("copy", &[]).unwrap().unwrap();
        insert(path.to_owned(), experiment.to_json().into_bytes());
        let read = || preset::Experiment::find("held in memory.json", &[]);
        assert_eq!(read().unwrap().task, experiment.task);
        assert!(remove(path).is_some() && remove(path).is_none());
        assert!(read().is_err());
    }
}
