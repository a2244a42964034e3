//! The dialog that is open.

use std::path::PathBuf;

use super::FilePurpose;

/// The subject of a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Every command by its name.
    Commands,
    /// The list of keys.
    Keys,
    /// The settings of the appearance.
    Settings,
    /// The program, its version and licences.
    About,
    /// The glossary.
    Glossary,
    /// The messages so far.
    Messages,
    /// The step to go to.
    Step,
    /// The value that is set while the episode runs.
    Value,
    /// The condition to search for.
    Condition,
    /// Many episodes, measured.
    Report,
    /// The choice of the episode, where no panel has room for it.
    Episode,
    /// Further commands, where only few buttons fit.
    More,
    /// The choice of a file.
    File(FilePurpose),
    /// The choice to recover or discard runs that a killed program left.
    Recovery,
    /// The choice to save or discard training that is to end.
    EndRun,
}

/// The dialog that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// The subject.
    pub subject: Subject,
    /// The text in its field.
    pub text: String,
    /// The selected line of the command palette.
    pub chosen: usize,
    /// True when the input was refused, as where it names no step.
    pub doubted: bool,
    /// What is wrong with an intervention, and what is expected.
    pub problem: String,
    /// The file or folder that already exists, where the line proposes another name.
    pub taken: Option<PathBuf>,
}

impl Dialog {
    /// About this, with this in its line.
    pub fn about(subject: Subject, text: String) -> Self {
        Self {
            subject,
            text,
            chosen: 0,
            doubted: false,
            problem: String::new(),
            taken: None,
        }
    }

    /// Creates the dialog after a refused input.
    pub fn with_error(subject: Subject, text: String) -> Self {
        Self {
            doubted: true,
            ..Self::about(subject, text)
        }
    }
}
