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
        use crate::viewer::{self, Error};
        viewer::run(self.file.as_deref()).map_err(|error| match error {
            Error::File(sentence) => super::Usage(sentence).into(),
            window @ Error::Window(_) => window.into(),
        })
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
