//! What is wrong with episodes: of a file, or given by hand.

use std::fmt;

/// An error in the contents of a file or in values given by hand, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The array, or the key of the task.
    pub array: String,
    /// The problem: for arrays episode, step and channel, all from 0; the value found, and the expected values.
    pub problem: String,
}

impl Fault {
    /// A problem with an array or a key.
    pub fn new(array: impl Into<String>, problem: impl Into<String>) -> Self {
        let (array, problem) = (array.into(), problem.into());
        Self { array, problem }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.array, self.problem)
    }
}

impl std::error::Error for Fault {}
