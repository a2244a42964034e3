//! `tapescope trace`: one episode with every stage of every step, as JSON.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::episode::EpisodeArgs;
use super::gradient::{self, quantity};
use super::message::note;
use crate::figure::facts::source::answered;
use crate::io::trace::{Encoding, Source};
use crate::io::{Trained, label, trace};
use crate::math::Answer;
use crate::model::Trace as Arrays;
use crate::train::{Quantity, Recording};

/// The size from which an export is announced with a warning, in bytes.
const LARGE: u64 = 100_000_000;

const EXAMPLES: &str = r#"Examples:
  tapescope trace copy --length 20 --out copy.ntmtrace.json
  tapescope trace runs/copy-1/weights.safetensors --length 87 --episode 3 --out t.ntmtrace.json
  tapescope trace copy --input bits.json --out mine.ntmtrace.json
  tapescope trace mine.json --weights weights.safetensors --out t.ntmtrace.json
  tapescope trace copy --length 200 --out long.npz
  tapescope trace copy --length 8 --gradient bit:14,3 --out gradients.npz
  tapescope trace copy --intervene '12:read0.gate=1' --intervene '20-:write0.erase=0' --out branch.ntmtrace.json
  tapescope view copy.ntmtrace.json

bits.json contains rows of 0 and 1, such as [[0,1,1,0,1,0,0,1]], or an object with further inputs of
the task: {"bits": [[…]], "repeats": 3}, or "query": 0, or "priorities": [0.5, …].
Three lines of Python load the trace: see docs/formats/traces.md. The same command writes the same
bytes."#;

/// Record one episode and write it as JSON: every array of every stage of every step.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Trace {
    /// A preset whose weights are included, a weights file, or the folder of a run; with
    /// --weights, any preset.
    #[arg(value_name = "PRESET|FILE")]
    machine: String,
    #[command(flatten)]
    pub(super) episode: EpisodeArgs,
    /// Write the whole memory of every step, even if it is large.
    #[arg(long)]
    full_memory: bool,
    /// Write also the gradients of the loss (in bits) or of the logit of one output bit with respect to every
    /// array: loss, or bit:STEP,CHANNEL.
    #[arg(long, value_name = "OF", value_parser = quantity)]
    gradient: Option<Quantity>,
    /// Output file: .json, .json.gz or .npz; `-` writes JSON to standard output.
    #[arg(long, value_name = "T.NTMTRACE.JSON")]
    out: PathBuf,
}

impl Trace {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let encoding = Encoding::of(&self.out)?;
        let trained = self.episode.trained(&self.machine)?;
        let recording = self.episode.record(&self.machine, &trained)?;
        let derivatives = self.derivatives(&trained, &recording)?;
        let config = &trained.machine.config;
        let steps = recording.episode.steps();
        let arrays = 1 + u64::from(derivatives.is_some());
        let bytes = arrays * trace::estimated_bytes(config, steps, self.full_memory, encoding);
        if bytes > LARGE {
            let help = if self.full_memory {
                "omit --full-memory to make it smaller".to_owned()
            } else {
                let size = recording.task.measure().name();
                format!("use fewer --rows or a smaller --{size}")
            };
            // How far it can be compressed shows only when it is written.
            let (most, npz) = match encoding {
                Encoding::Json => ("about", "; .npz is smaller and faster to read"),
                Encoding::Gzip => ("at most", "; .npz is faster to read"),
                Encoding::Npz => ("at most", ""),
            };
            let size = bytes / 1_000_000;
            note(&format!(
                "warning: the file takes {most} {size} MB; {help}{npz}"
            ));
        }
        let source = Source {
            config,
            sha256: Some(&trained.sha256()),
            full_memory: self.full_memory,
            gradient: derivatives.as_ref().map(|(of, by)| (*of, by)),
        };
        let ending = recording.ending();
        let loss = recording.episode.answer.in_words(recording.score.bits, 3);
        let loss = Some(loss + ", ").filter(|_| recording.knows("loss"));
        let summary = format!(
            "{}, {steps} steps, {}{}{}{}",
            recording.task.name(),
            loss.unwrap_or_default(),
            recording.wrong_of_scored(),
            ending.map_or_else(String::new, |ending| format!(", {}", ending.describe())),
            answer(&recording)
        );
        if self.out == Path::new("-") {
            trace::write_to(out, &recording, &source)?;
            note(&summary);
        } else {
            trace::write(&self.out, &recording, &source)?;
            writeln!(out, "{}: {summary}", label(&self.out))?;
        }
        Ok(())
    }

    /// The number whose derivatives are wanted, and those, where they are.
    pub(super) fn derivatives(
        &self,
        trained: &Trained,
        recording: &Recording,
    ) -> anyhow::Result<Option<(Quantity, Arrays)>> {
        let of = |of| {
            let machine = &trained.machine;
            let compute = || recording.derivatives(machine, of);
            let found = gradient::computed(of, &machine.config, recording, compute)?;
            Ok((of, found))
        };
        self.gradient.map(of).transpose()
    }
}

/// The symbols of the answer, up to the end of the run; empty for bits.
fn answer(recording: &Recording) -> String {
    if recording.episode.answer != Answer::Symbols {
        return String::new();
    }
    let steps = recording.episode.source()..recording.trace.steps();
    let said = steps.filter(|step| !recording.is_missing(*step));
    let names: Vec<String> = said.filter_map(|step| answered(recording, step)).collect();
    format!("; answer: {}", names.join(" "))
}
