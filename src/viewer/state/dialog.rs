//! The dialog that is open.

use crate::viewer::files::Aim;

/// What a dialog is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Every command by its name.
    Commands,
    /// The list of keys.
    Keys,
    /// How everything looks.
    Settings,
    /// What this is, and whose.
    About,
    /// What was said so far.
    Messages,
    /// Which step to go to.
    Step,
    /// Which episode, where no panel has room for that.
    Episode,
    /// What else can be done, where there is room for few buttons.
    More,
    /// Which file.
    File(Aim),
    /// What becomes of a machine that learns when that is to end.
    Ending,
}

/// The dialog that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// What it is about.
    pub subject: Subject,
    /// What stands in its line.
    pub text: String,
    /// Which line of the list of commands is chosen.
    pub chosen: usize,
    /// True when what stands there was not done: no step is meant by it, or there is such a file already.
    pub doubted: bool,
}

impl Dialog {
    /// About this, with this in its line.
    pub fn about(subject: Subject, text: String) -> Self {
        Self {
            subject,
            text,
            chosen: 0,
            doubted: false,
        }
    }

    /// The same where that was not done.
    pub fn doubting(subject: Subject, text: String) -> Self {
        Self {
            doubted: true,
            ..Self::about(subject, text)
        }
    }
}
