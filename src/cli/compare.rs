//! `tapescope verify` and `tapescope diff`: whether a trace holds together, and whether two are the same.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Usage, machine, quoted};
use crate::io::trace::{self, Comparison, Difference, Imported, Outcome, Verified};
use crate::io::{Trained, label, preset};

const VERIFY_EXAMPLES: &str = "\
Examples:
  tapescope verify copy.ntmtrace.json
  tapescope verify other.ntmtrace.json --tolerance 1e-3
  tapescope verify copy.ntmtrace.json --weights runs/copy-1/weights.safetensors

Recomputed are similarity, content, gated, shifted, weighting, read, memory, output, loss and the \
episode of the seed: each from the recorded arrays that it is made of, in the order and with the \
similarity that the file declares. Weights are not needed, so it works for the traces of other programs \
too; what only they could check is named, and with --weights everything is compared.
Exit codes: 0 all that follows from other arrays holds, 1 something differs or nothing can be \
recomputed, 2 the trace cannot be read, 3 holds in part: the rest cannot be checked.";

const DIFF_EXAMPLES: &str = "\
Examples:
  tapescope diff copy.ntmtrace.json again.ntmtrace.json
  tapescope diff ours.ntmtrace.json theirs.ntmtrace.json --tolerance 1e-4

Sizes are compared first, then what the files say of episode and machine, then values in the order of the \
computation.
Exit codes: 0 the same, 1 something differs, 2 a trace cannot be read.";

/// Something differs, and has been printed.
#[derive(Debug, thiserror::Error)]
#[error("something differs")]
pub(super) struct Differs;

/// All holds that could be checked, and what could not has been printed.
#[derive(Debug, thiserror::Error)]
#[error("holds in part")]
pub(super) struct InPart;

/// Recompute every stage of a trace from what its heads emitted; report the first difference.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(super) struct Verify {
    /// A trace, of any program.
    trace: PathBuf,
    /// The largest difference that counts as none; of values above 1, and of weightings, memories and
    /// reads of any size, a share.
    #[arg(long, value_name = "T", default_value = "1e-5", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: f64,
    /// Run these weights on the recorded input too, and compare every array: a preset whose weights are
    /// included, a weights file, or the folder of a run.
    #[arg(long, value_name = "FILE")]
    weights: Option<String>,
}

/// Compare two traces, value by value; report the first difference.
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub(super) struct Diff {
    /// A trace.
    a: PathBuf,
    /// Another trace.
    b: PathBuf,
    /// The largest difference that counts as none; for values above 1 a share of them.
    #[arg(long, value_name = "T", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: f64,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse().ok();
    tolerance
        .filter(|tolerance: &f64| tolerance.is_finite() && *tolerance >= 0.0)
        .ok_or_else(|| "expected a number, 0 or more".to_owned())
}

/// Reads a trace; whoever names a machine instead is told how to make one.
fn read(path: &Path) -> anyhow::Result<Imported> {
    let name = label(path);
    let is_name = preset::names().any(|known| known == name);
    let is_machine =
        is_name || path.is_dir() || path.extension().is_some_and(|end| end == "safetensors");
    match trace::read(path) {
        Err(_) if is_machine => {
            let command =
                quoted(&["trace", &name, "--out", "episode.ntmtrace.json"].map(str::to_owned));
            let problem =
                format!("{name} is a machine, not a trace of one; make a trace first: {command}");
            Err(Usage(problem).into())
        }
        other => Ok(other?),
    }
}

impl Verify {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let weights = self.weights.as_deref();
        let trained = weights.map(|name| machine::find(name, None)).transpose()?;
        let imported = read(&self.trace)?;
        let found = trace::verify(&imported, self.tolerance);
        let (file, outcome) = (label(&self.trace), found.outcome());
        let summary = summary(&found.comparison, self.tolerance);
        match (&found.comparison.first, outcome) {
            (Some(first), _) => {
                let values = format!("{} is recorded, {} is expected", first.first, first.second);
                report(out, &file, first, &values)?;
                writeln!(out, "{summary}")?;
            }
            (None, Outcome::Nothing) => {
                writeln!(out, "{file}: nothing in it can be recomputed and compared")?;
            }
            (None, Outcome::InPart) => {
                let (all, whole) = (found.following(), found.whole());
                writeln!(
                    out,
                    "{file}: holds in part: {whole} of {all} arrays that follow from others, {summary}"
                )?;
            }
            (None, _) => writeln!(out, "{file}: every stage holds: {summary}")?,
        }
        details(out, &imported, &found)?;
        let replayed = trained.map(|trained| self.replay(out, &imported, &trained));
        let same = replayed.transpose()?.unwrap_or(true);
        match outcome {
            Outcome::Holds | Outcome::InPart if !same => Err(Differs.into()),
            Outcome::Holds => Ok(()),
            Outcome::InPart => Err(InPart.into()),
            Outcome::Differs | Outcome::Nothing => Err(Differs.into()),
        }
    }

    /// What the weights make of the recorded input; returns whether it is the same.
    fn replay(
        &self,
        out: &mut impl Write,
        imported: &Imported,
        trained: &Trained,
    ) -> anyhow::Result<bool> {
        let weights = self.weights.as_deref().unwrap_or_default();
        let (file, sha256) = (label(&self.trace), trained.sha256());
        if let Some(other) = imported.sha256.as_ref().filter(|other| **other != sha256) {
            writeln!(
                out,
                "{file} says that it is of other weights: {other}; {weights} has {sha256}"
            )?;
        }
        let found = match trace::replay(imported, &trained.machine, self.tolerance) {
            Ok(found) => found,
            Err(lines) => {
                let lines = lines.join("; ");
                let problem =
                    format!("--weights {weights}: is another machine than that of {file}: {lines}");
                return Err(Usage(problem).into());
            }
        };
        let summary = summary(&found, self.tolerance);
        match &found.first {
            None => writeln!(out, "with {weights} every array comes out again: {summary}")?,
            Some(first) => {
                let values = format!("{} is recorded, {} comes out", first.first, first.second);
                report(out, &format!("with {weights}"), first, &values)?;
                writeln!(out, "{summary}")?;
            }
        }
        Ok(found.first.is_none())
    }
}

/// What could not be checked and why, what was taken as it is, and what is not there.
fn details(out: &mut impl Write, imported: &Imported, found: &Verified) -> std::io::Result<()> {
    let why = |(array, why): &(String, String)| format!("{array} ({why})");
    let unchecked = found.unchecked.iter().map(why).collect();
    let recording = &imported.recording;
    // Of a memory that cannot be rebuilt something may have been recorded.
    let is_unchecked = |name: &&String| found.unchecked.iter().any(|(array, _)| array == *name);
    let unknown = recording.unknown();
    let absent = unknown
        .filter(|name| !is_unchecked(name))
        .cloned()
        .collect();
    let lists: [(&str, Vec<String>); 4] = [
        ("not checkable", unchecked),
        (
            "taken as recorded, for only the weights could tell",
            by_part(&found.given),
        ),
        (
            "not recorded, but computed from what is",
            by_part(&recording.computed),
        ),
        ("not recorded", absent),
    ];
    for (what, list) in lists {
        if !list.is_empty() {
            writeln!(out, "{what}: {}", list.join(", "))?;
        }
    }
    Ok(())
}

/// Arrays by name, those of heads together: `key of read0 and write0`.
fn by_part(arrays: &[String]) -> Vec<String> {
    let mut parts: Vec<(&str, Vec<&str>)> = Vec::new();
    for array in arrays {
        let of_head = array
            .split_once('.')
            .filter(|(head, _)| head.starts_with("read") || head.starts_with("write"));
        let (heads, part) =
            of_head.map_or((None, array.as_str()), |(head, part)| (Some(head), part));
        match parts.iter_mut().find(|(known, _)| *known == part) {
            Some((_, known)) => known.extend(heads),
            None => parts.push((part, heads.into_iter().collect())),
        }
    }
    let mut told: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (part, heads) in parts {
        match told.iter_mut().find(|(_, known)| *known == heads) {
            Some((parts, _)) => parts.push(part),
            None => told.push((vec![part], heads)),
        }
    }
    let tell = |(parts, heads): (Vec<&str>, Vec<&str>)| match heads.as_slice() {
        [] => parts.join(", "),
        heads => format!("{} of {}", parts.join(", "), heads.join(" and ")),
    };
    told.into_iter().map(tell).collect()
}

impl Diff {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let (a, b) = (read(&self.a)?, read(&self.b)?);
        let files = format!("{} and {}", label(&self.a), label(&self.b));
        let found = match trace::diff(&a, &b, self.tolerance) {
            Ok(found) => found,
            Err(lines) => {
                writeln!(out, "{files}: the shapes differ")?;
                for line in lines {
                    writeln!(out, "  {line}")?;
                }
                return Err(Differs.into());
            }
        };
        if !found.declared.is_empty() {
            writeln!(out, "{files}: they do not say the same")?;
            for line in &found.declared {
                writeln!(out, "  {line}")?;
            }
        }
        match &found.first {
            None if found.declared.is_empty() => writeln!(
                out,
                "{files}: the same: {}",
                summary(&found, self.tolerance)
            )?,
            None => writeln!(out, "{}", summary(&found, self.tolerance))?,
            Some(first) => {
                let values = format!("{} and {}", first.first, first.second);
                report(out, &files, first, &values)?;
                writeln!(out, "{}", summary(&found, self.tolerance))?;
            }
        }
        for (file, trace) in [(&self.a, &a), (&self.b, &b)] {
            let absent = &trace.recording.absent;
            if !absent.is_empty() {
                let file = label(file);
                writeln!(
                    out,
                    "not compared, because absent from {file}: {}",
                    absent.join(", ")
                )?;
            }
        }
        if found.first.is_some() || !found.declared.is_empty() {
            return Err(Differs.into());
        }
        Ok(())
    }
}

/// The first difference, in a line.
fn report(
    out: &mut impl Write,
    files: &str,
    first: &Difference,
    values: &str,
) -> std::io::Result<()> {
    let step = first.step.map_or_else(
        || "before the first step".to_owned(),
        |step| format!("step {step}"),
    );
    let (array, index) = (&first.array, &first.index);
    writeln!(
        out,
        "{files}: the first difference, {step}: {array}{index:?}: {values}"
    )
}

fn summary(found: &Comparison, tolerance: f64) -> String {
    let (values, differing) = (found.values, found.differing);
    let how_many = match differing {
        0 => format!("{values} values compared"),
        _ => format!("{differing} of {values} values differ by more than {tolerance:e}"),
    };
    format!(
        "{how_many}, the largest difference is {}",
        shown(found.largest)
    )
}

/// Two digits are enough of a difference.
fn shown(difference: f64) -> String {
    if difference == 0.0 {
        "0".to_owned()
    } else {
        format!("{difference:.1e}")
    }
}
