//! Files in memory: what a browser gives and takes. Where there is a file system nothing is held.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Files = BTreeMap<PathBuf, Vec<u8>>;

static HELD: Mutex<Files> = Mutex::new(BTreeMap::new());

fn held() -> MutexGuard<'static, Files> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds a file under this name, instead of the one that had it.
pub fn keep(path: PathBuf, bytes: Vec<u8>) {
    held().insert(path, bytes);
}

/// Lets go of the file of this name, and hands it out.
pub fn take(path: &Path) -> Option<Vec<u8>> {
    held().remove(path)
}

/// A copy of the file of this name.
pub(super) fn copy(path: &Path) -> Option<Vec<u8>> {
    held().get(path).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Experiment, preset};

    #[test]
    fn what_is_held_is_read_like_a_file_until_it_is_taken() {
        let path = Path::new("held in memory.json");
        let experiment = Experiment::built_in("copy", &[]).unwrap().unwrap();
        keep(path.to_owned(), experiment.to_json().into_bytes());
        let read = || preset::Experiment::find("held in memory.json", &[]);
        assert_eq!(read().unwrap().task, experiment.task);
        assert!(take(path).is_some() && take(path).is_none());
        assert!(read().is_err());
    }
}
