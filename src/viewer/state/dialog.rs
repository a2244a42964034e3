//! The dialog that is open.

use crate::viewer::files::Aim;

/// The dialog that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// Every command by its name.
    Commands(Search),
    /// The list of keys.
    Keys,
    /// How everything looks.
    Settings,
    /// What this is, and whose.
    About,
    /// What was said so far.
    Messages,
    /// Which step to go to.
    Step {
        /// What has been typed.
        text: String,
        /// True when it could not be understood.
        unclear: bool,
    },
    /// Which file.
    File {
        /// What for.
        aim: Aim,
        /// The path typed so far.
        text: String,
        /// True when there is such a file, which would be replaced.
        there: bool,
    },
}

/// What has been typed, and which line of the list is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The words.
    pub text: String,
    /// The line.
    pub chosen: usize,
}
