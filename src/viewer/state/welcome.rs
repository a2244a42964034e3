//! The start page.

use std::collections::HashMap;
use std::path::PathBuf;

use super::Open;

/// The state of the start page.
#[derive(Debug, Default)]
pub struct Welcome {
    /// True while it is on screen.
    pub shown: bool,
    /// An episode of every machine, by its name, and of every failure, by its key, once it is recorded.
    pub pictures: HashMap<String, Option<Open>>,
    /// Machines that could not be fetched for their pictures, by name.
    pub out_of_reach: Vec<String>,
    /// Files opened in earlier runs, and whether they are still there.
    pub recent: Vec<(PathBuf, bool)>,
}
