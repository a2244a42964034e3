//! `tapescope view`: the window.

use std::ffi::OsStr;
use std::path::Path;

use clap::Args;

use super::episode::EpisodeArgs;
#[cfg(feature = "gui")]
use super::episode::is_trace;
use super::{machine, step};
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
                                             the same episode of two machines
  tapescope view repeat_copy --length 5 --repeats 3 --step 6 --head R0
                                             that episode, at that step, with that head looked at

Without options the window chooses a long episode; with some of them it is the one that \
`trace` and `render` take with the same options.";

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
    /// Stand at this step, instead of playing.
    #[arg(long, value_name = "T", value_parser = step, allow_negative_numbers = true)]
    step: Option<usize>,
    /// Look at this head, such as W0 or R1 [default: the one that acts].
    #[arg(long, value_name = "HEAD")]
    head: Option<String>,
    /// Show what a link to the page shows: the whole link, or what stands behind its #.
    #[arg(long, value_name = "LINK", exclusive = true)]
    link: Option<String>,
    #[command(flatten)]
    episode: EpisodeArgs,
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
        use super::signal::interrupted;
        use crate::viewer::{self, First, Options};
        if let Some(link) = &self.link {
            let (machine, begin) = Options::linked(link).or_else(super::refuse)?;
            let first = First::Machine(machine.to_owned());
            let shown = viewer::run(Some(first), None, begin, interrupted());
            return shown.or_else(|error| super::refuse(error.to_string()));
        }
        let first = match &self.episode.weights {
            Some(weights) => Some(First::File(weights.clone())),
            None => self.what.clone().map(first).transpose()?,
        };
        let compare = self.compare.clone().map(self::first).transpose()?;
        let shown = viewer::run(first, compare, self.beginning()?, interrupted());
        shown.or_else(|error| super::refuse(error.to_string()))
    }

    /// Where in which episode.
    fn beginning(self) -> anyhow::Result<crate::viewer::Beginning> {
        use crate::io::weights;
        use crate::viewer::{Asked, Beginning};
        let begin = Beginning {
            rows: self.episode.rows,
            step: self.step,
            head: self.head,
            ..Beginning::default()
        };
        let shipped = weights::shipped_names().next().unwrap_or_default();
        let name = self.what.unwrap_or_else(|| shipped.to_owned());
        if is_trace(&name) && self.episode.weights.is_none() {
            self.episode.check_none(&name, "shown")?;
        }
        if self.episode.given().is_none() {
            return Ok(begin);
        }
        let trained = self.episode.trained(&name)?;
        let is_chosen = self.episode.is_chosen();
        let chosen = is_chosen.then(|| self.episode.choose(&name, &trained));
        let asked = chosen.transpose()?.map(|chosen| Asked {
            task: chosen.task,
            episode: chosen.episode,
            origin: chosen.origin,
        });
        Ok(Beginning {
            task: Some(trained.experiment.task),
            asked,
            ..begin
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
    if Experiment::built_in(&what, &[]).is_some() {
        return machine::no_weights(&what);
    }
    Err(Error::unknown("preset, weights file or trace", &what, preset::names()).into())
}

#[cfg(not(feature = "gui"))]
impl View {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let names: Vec<_> = self.what.into_iter().chain(self.compare).collect();
        let what = match names[..] {
            [] => String::new(),
            _ => format!(" for {}", names.join(" and ")),
        };
        super::refuse(format!(
            "this build has no window{what}; build one with: cargo build --release --features gui"
        ))
    }
}
