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
    /// A weights file (.safetensors) or a trace (.ntmtrace.json).
    file: Option<PathBuf>,
}

impl View {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let _ = self.file;
        Err(super::Usage(
            "this build has no window; build it with: cargo build --release --features gui".into(),
        )
        .into())
    }
}
