//! `tapescope view`: the window.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  tapescope                                  open on a trained machine
  tapescope view runs/copy-1/weights.safetensors
  tapescope view copy.ntmtrace.json          show a recorded episode as it is";

/// Open the window: on a trained machine, on weights, or on a recorded trace.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct View {
    /// A weights file (.safetensors), the folder of a run, or a trace (.ntmtrace.json).
    file: Option<PathBuf>,
}

#[cfg(feature = "gui")]
impl View {
    pub(super) fn run(self) -> anyhow::Result<()> {
        use crate::viewer::{self, Disk, Files};
        let mut view = self;
        if let Some(file) = &mut view.file {
            *file = crate::io::RunFolder::weights_at(file)?;
            // What cannot be opened is said here, where it was typed, not in a window.
            Disk.open(file).map_err(super::Usage)?;
        }
        Ok(viewer::run(viewer::Options::shipped(view.file))?)
    }
}

#[cfg(not(feature = "gui"))]
impl View {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let file = self
            .file
            .map_or_else(String::new, |file| format!(" for {}", file.display()));
        let problem = format!(
            "this build has no window{file}; build one with: cargo build --release --features gui"
        );
        Err(super::Usage(problem).into())
    }
}
