//! What the file of a task contains.

use std::sync::Arc;

use super::{Fault, HeldOut, Pair, Recorded, Task};

/// The contents of the file of a task.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Episodes, for a task of this kind.
    Episodes(Arc<Recorded>),
    /// Pairs of texts, likewise.
    Pairs(Arc<Vec<Pair>>),
}

impl Task {
    /// The file with the episodes of this task and the SHA-256 of its contents, to write; `None` for other tasks.
    pub fn file_mut(&mut self) -> Option<[&mut String; 2]> {
        match self {
            Self::Episodes(task) => Some([&mut task.file, &mut task.sha256]),
            Self::Pairs(task) => Some([&mut task.file, &mut task.sha256]),
            _ => None,
        }
    }

    /// The contents of its file, if they are loaded.
    pub fn contents(&self) -> Option<Contents> {
        match self {
            Self::Episodes(task) => task.recorded().cloned().map(Contents::Episodes),
            Self::Pairs(task) => task.pairs().cloned().map(Contents::Pairs),
            _ => None,
        }
    }

    /// Returns the task with the contents of its file; without them if they are of another kind of task.
    ///
    /// # Errors
    /// As for [`super::Episodes::with`] and [`super::Pairs::with`].
    pub fn with_contents(self, contents: Contents) -> Result<Self, Fault> {
        match (self, contents) {
            (Self::Episodes(task), Contents::Episodes(all)) => task.with(all).map(Self::Episodes),
            (Self::Pairs(task), Contents::Pairs(all)) => task.with(all).map(Self::Pairs),
            (task, _) => Ok(task),
        }
    }

    /// The numbers of training and held-out episodes in its file, and the rule; `None` for other tasks.
    pub fn split(&self) -> Option<(usize, usize, HeldOut)> {
        let (counts, rule) = match self {
            Self::Episodes(task) => (task.counts(), task.held_out),
            Self::Pairs(task) => (task.counts(), task.held_out),
            _ => return None,
        };
        Some((counts.0, counts.1, rule))
    }

    /// The number in its file, from 0, of the episode that [`Task::episode`] returns.
    pub fn number(&self, seed: u64, index: u64) -> Option<usize> {
        match self {
            Self::Episodes(task) => task.number(seed, index),
            Self::Pairs(task) => task.number(seed, index),
            _ => None,
        }
    }
}
