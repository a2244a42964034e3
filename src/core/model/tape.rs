//! What a trace keeps of a machine file: see [`super::equations`].

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What describes a machine file as a whole; empty for other machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileWords {
    /// Its title.
    pub title: &'static str,
    /// The line that makes its answer.
    pub answer: &'static str,
}

/// What a trace keeps of a machine file.
pub struct Tape<R> {
    /// Whether the machine is one.
    pub(in crate::model) is_used: bool,
    /// Whether the machine reads its own answer.
    pub(in crate::model) has_feedback: bool,
    /// Whether gradients are wanted.
    pub(in crate::model) learns: bool,
    /// Steps of the episode, and those of its source.
    pub(in crate::model) sizes: [usize; 2],
    /// The place of [`super::Kind::reader`] among the own arrays.
    pub(in crate::model) reader: Option<usize>,
    /// The title of the file, and the line of its answer.
    pub(in crate::model) words: FileWords,
    /// The targets that are fed back, row after row; empty where the own answer is.
    pub(in crate::model) forced: Vec<R>,
    /// Steps, and [`Trace::memory_every`], for which there is room.
    pub(in crate::model) room: Option<(usize, usize)>,
    /// The engine that ran this episode, and those that ran beside it.
    running: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<R> Tape<R> {
    /// The engine that ran this episode, to take or to put.
    pub(in crate::model) fn running(&self) -> MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Clone> Clone for Tape<R> {
    fn clone(&self) -> Self {
        Self {
            is_used: self.is_used,
            has_feedback: self.has_feedback,
            learns: self.learns,
            reader: self.reader,
            words: self.words,
            sizes: self.sizes,
            forced: self.forced.clone(),
            room: None,
            running: Mutex::default(),
        }
    }
}

impl<R> Default for Tape<R> {
    fn default() -> Self {
        Self {
            is_used: false,
            has_feedback: false,
            learns: false,
            reader: None,
            words: FileWords::default(),
            sizes: [0; 2],
            forced: Vec::new(),
            room: None,
            running: Mutex::default(),
        }
    }
}

impl<R> PartialEq for Tape<R> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<R> fmt::Debug for Tape<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape")
            .field("sizes", &self.sizes)
            .finish_non_exhaustive()
    }
}
