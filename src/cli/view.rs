//! `tapescope view`: the window.

use std::ffi::OsStr;
use std::path::Path;

use clap::Args;

use super::machine;
use crate::io::Experiment;

const EXAMPLES: &str = "\
Examples:
  tapescope                                  open on a trained machine
  tapescope view repeat_copy                 open on the included machine of that name
  tapescope view runs/copy-1/weights.safetensors
  tapescope view copy.ntmtrace.json          show a recorded episode as it is
  tapescope view ours.ntmtrace.json --compare theirs.npz
                                             both on one clock, and where they part
  tapescope view copy --compare copy_feedforward
                                             the same episode of two machines";

/// Open the window: on a trained machine, on weights, or on a recorded trace.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct View {
    /// The name of an included machine, a weights file (.safetensors), the folder of a run, or a
    /// trace (.ntmtrace.json, .ntmtrace.json.gz, .npz).
    what: Option<String>,
    /// What to compare it with: a trace, or a machine that runs on the same episode.
    #[arg(long, value_name = "WHAT", requires = "what")]
    compare: Option<String>,
}

/// True for a first word that may be what to view: a file, or what can only be one, or a preset.
pub(super) fn can_be_meant(word: &OsStr) -> bool {
    let path = Path::new(word);
    let is_preset = |name| Experiment::built_in(name, &[]).is_some();
    machine::is_file(path) || path.exists() || word.to_str().is_some_and(is_preset)
}

#[cfg(feature = "gui")]
impl View {
    pub(super) fn run(self) -> anyhow::Result<()> {
        use crate::viewer::{self, Error};
        let first = self.what.map(first).transpose()?;
        let compare = self.compare.map(self::first).transpose()?;
        viewer::run(first, compare).map_err(|error| match error {
            Error::File(sentence) => super::Usage(sentence).into(),
            window @ Error::Window(_) => window.into(),
        })
    }
}

/// A file, where there is one of that name or it can only be a path; or else the name of a machine.
#[cfg(feature = "gui")]
fn first(what: String) -> anyhow::Result<crate::viewer::First> {
    use crate::io::{Error, preset, weights};
    use crate::viewer::First;
    let path = Path::new(&what);
    if machine::is_file(path) || path.exists() {
        return Ok(First::File(what.into()));
    }
    if weights::shipped_names().any(|name| name == what) {
        return Ok(First::Machine(what));
    }
    Err(match Experiment::built_in(&what, &[]) {
        Some(_) => machine::no_weights(&what).into(),
        None => Error::unknown("preset, weights file or trace", &what, preset::names()).into(),
    })
}

#[cfg(not(feature = "gui"))]
impl View {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let names: Vec<_> = self.what.into_iter().chain(self.compare).collect();
        let what = match names.len() {
            0 => String::new(),
            _ => format!(" for {}", names.join(" and ")),
        };
        let problem = format!(
            "this build has no window{what}; build one with: cargo build --release --features gui"
        );
        Err(super::Usage(problem).into())
    }
}
