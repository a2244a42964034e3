//! `tapescope view`: the window.

use std::ffi::OsStr;
use std::path::Path;

use clap::Args;

use super::arguments::{AttentionArgs, step};
#[cfg(feature = "gui")]
use super::arguments::{Resize, Size};
use super::episode::EpisodeArgs;
#[cfg(feature = "gui")]
use super::episode::as_it_is;
use super::machine::{self, Named};
#[cfg(feature = "gui")]
use crate::io::{is_trace, trace::AttentionOptions};
#[cfg(feature = "gui")]
use crate::viewer;

const EXAMPLES: &str = "\
Examples:
  tapescope                                  open an included machine
  tapescope view repeat_copy                 open the included machine of that name
  tapescope view runs/copy-1/weights.safetensors
  tapescope view copy.ntmtrace.json          open a recorded episode
  tapescope view ours.ntmtrace.json --compare theirs.npz
                                             compare both step by step
  tapescope view copy --compare copy_feedforward
                                             compare two machines on the same episode
  tapescope view repeat_copy --length 5 --repeats 3 --step 6 --head R0
                                             open that episode at step 6 with head R0 selected

By default the window shows a long episode. With episode options it shows the same episode as \
`trace` and `render` with those options.";

/// Open the window on a trained machine, a weights file or a recorded trace.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct View {
    /// The name of an included machine, a weights file (.safetensors), the folder of a run, or a
    /// trace (.ntmtrace.json, .ntmtrace.json.gz, .npz); or attention of another program (.npy, a text
    /// matrix, Pharaoh links).
    what: Option<String>,
    /// Compare with this trace, or with this machine on the same episode.
    #[arg(long, value_name = "WHAT", requires = "what")]
    compare: Option<String>,
    /// Start paused at this step.
    #[arg(long, value_name = "T", value_parser = step, allow_negative_numbers = true)]
    step: Option<usize>,
    /// Select this head, such as W0 or R1 [default: the head that acts].
    #[arg(long, value_name = "HEAD")]
    head: Option<String>,
    /// Pin this value, such as memory[5,2], read0.weighting[5] or write0.gate.
    #[arg(long, value_name = "VALUE")]
    pin: Option<String>,
    /// Open a link to the web page: the whole link, or the part after its #.
    #[arg(long, value_name = "LINK", exclusive = true)]
    link: Option<String>,
    #[command(flatten)]
    attention: AttentionArgs,
    #[command(flatten)]
    episode: EpisodeArgs,
}

/// True for a first word that can be viewed: a file, a path, or a preset.
pub(super) fn can_be_meant(word: &OsStr) -> bool {
    let path = Path::new(word);
    let is_preset = Named::of(&word.to_string_lossy()) == Named::Preset;
    machine::is_file(path) || path.exists() || is_preset
}

#[cfg(feature = "gui")]
impl View {
    pub(super) fn run(self) -> anyhow::Result<()> {
        use crate::viewer::{First, Options};
        if let Some(link) = &self.link {
            let (machine, begin) = Options::linked(link).map_err(anyhow::Error::msg)?;
            let first = First::Machine(machine.to_owned());
            return show(Some(first), None, begin);
        }
        let first = match &self.episode.weights {
            Some(weights) => Some(First::File(weights.clone())),
            None => self.what.clone().map(first).transpose()?,
        };
        let attention = self.attention.options();
        let first = match first {
            Some(First::File(path))
                if is_trace(&path) && attention != AttentionOptions::default() =>
            {
                Some(First::Attention(path, attention))
            }
            first => {
                let name = self.what.as_deref();
                self.attention.check_machine(name.unwrap_or("this"))?;
                first
            }
        };
        let compare = self.compare.clone().map(self::first).transpose()?;
        show(first, compare, self.beginning()?)
    }

    /// Returns the episode, step and head with which the window opens.
    fn beginning(self) -> anyhow::Result<crate::viewer::StartOptions> {
        use crate::io::weights;
        use crate::viewer::{ExternalEpisode, StartOptions};
        let begin = StartOptions {
            rows: rows(&self.episode.sizes)?,
            step: self.step,
            head: self.head,
            pin: self.pin,
            ..StartOptions::default()
        };
        let included = weights::included_names().next().unwrap_or_default();
        let name = self.what.unwrap_or_else(|| included.to_owned());
        if is_trace(Path::new(&name)) && self.episode.weights.is_none() {
            as_it_is(self.episode.given(), &name, "shown")?;
        }
        if self.episode.given().is_none() {
            return Ok(begin);
        }
        let trained = self.episode.trained(&name)?;
        let is_chosen = self.episode.is_chosen();
        let chosen = is_chosen.then(|| self.episode.choose(&name, &trained));
        let chosen = chosen.transpose()?;
        if let Some(chosen) = chosen.as_ref().filter(|of| !of.intervene.is_empty()) {
            chosen.record(&trained.machine)?;
        }
        let mut interventions = Vec::new();
        let asked = chosen.map(|chosen| {
            interventions = chosen.intervene;
            ExternalEpisode {
                task: chosen.task,
                episode: chosen.episode,
                origin: chosen.origin,
            }
        });
        Ok(StartOptions {
            task: Some(trained.now().task),
            asked,
            interventions,
            ..begin
        })
    }
}

/// Opens the window, which a signal closes.
#[cfg(feature = "gui")]
pub(super) fn show(
    first: Option<viewer::First>,
    compare: Option<viewer::First>,
    begin: viewer::StartOptions,
) -> anyhow::Result<()> {
    let shown = viewer::run(first, compare, begin, super::signal::interrupted());
    shown.map_err(|error| anyhow::anyhow!("{error}"))
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
    if weights::included_names().any(|name| name == what) {
        return Ok(First::Machine(what));
    }
    if Named::of(&what) == Named::Preset {
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
        anyhow::bail!(
            "this build has no window{what}; build it with: cargo build --release --features gui"
        )
    }
}

/// The number of memory rows of a window, which knows no other size.
#[cfg(feature = "gui")]
fn rows(sizes: &Resize) -> anyhow::Result<Option<usize>> {
    let mut rows = sizes.rows;
    for size in &sizes.sizes {
        match size {
            Size::Machine(name, size) if name == "rows" => rows = Some(*size),
            _ => anyhow::bail!(
                "--size: a window sets the size rows only; record a trace with other sizes and open it"
            ),
        }
    }
    Ok(rows)
}
