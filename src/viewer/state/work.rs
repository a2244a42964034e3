//! What is to be done outside of the window, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;

use super::compare::{Found, Picture, Sides};
use super::episode::{Open, Request, Shown, Wish};
use crate::figure::{self, Format};
use crate::viewer::files::{Aim, Machine, Opened};

/// What follows from a command, outside.
#[derive(Clone, Debug)]
pub enum Effect {
    /// The worker has something to do.
    Start(Job),
    /// The person is asked for a file; this is what it may be called.
    Choose(Aim, String),
    /// These words come to the clipboard.
    Copy(String),
}

/// Something to do that may take a while.
#[derive(Clone, Debug)]
pub enum Job {
    /// Record an episode.
    Record(Request),
    /// Record an episode to show what a machine does.
    Picture(Request),
    /// Read a file.
    Open(PathBuf),
    /// Read a file to compare with what is on screen.
    OpenOther(PathBuf),
    /// Compare two episodes.
    Compare(Sides),
    /// Write a figure of two episodes.
    FigureOfTwo(PathBuf, Format, Box<Picture>),
    /// Write the episode.
    Save(PathBuf, Arc<Shown>),
    /// See which of these files are there.
    Recent(Vec<PathBuf>),
    /// Write a figure of the episode.
    Figure(PathBuf, Format, Arc<Shown>, Box<figure::Options>),
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// An episode was recorded.
    Recorded(Box<Open>),
    /// An episode was not recorded, and why.
    Refused(Wish, String),
    /// An episode was not recorded, because another one was asked for since.
    Outdated,
    /// An episode of the machine of this name, if it could be recorded.
    Picture(String, Option<Box<Open>>),
    /// A file with weights was read.
    Weights(PathBuf, Box<Machine>),
    /// A file with a trace was read.
    Trace(PathBuf, Box<Open>),
    /// A file to compare with was read: weights or a trace.
    Other(Box<Outcome>),
    /// Files, and whether they are there.
    Recent(Vec<(PathBuf, bool)>),
    /// Two episodes were compared.
    Compared(Found),
    /// A file was written; the sentence says what.
    Saved(String),
    /// A sentence that says what went wrong with a file.
    Failed(String),
    /// The person chose a file in the desktop's dialog.
    Chosen {
        /// What for.
        aim: Aim,
        /// The file.
        path: PathBuf,
    },
    /// The dialog was left without choosing, or the desktop has none.
    NotChosen,
}

impl Outcome {
    /// True for what a file brings that changes what is on screen.
    pub fn is_of_a_file(&self) -> bool {
        matches!(self, Self::Weights(..) | Self::Trace(..) | Self::Other(_))
    }

    /// What a file turned out to hold.
    pub fn opened(path: PathBuf, opened: Opened) -> Self {
        match opened {
            Opened::Machine(machine) => Self::Weights(path, machine),
            Opened::Trace(trace) => Self::Trace(path, Box::new(Open::of_file(*trace))),
        }
    }
}
