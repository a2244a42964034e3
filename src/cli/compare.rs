//! `tapescope verify` and `tapescope diff`: whether a trace holds together, and whether two are the same.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Args;

use super::arguments::{Resize, within};
use super::error::CliError;
use super::gradient;
use super::machine::{self, Named};
use crate::io::trace::{self, Comparison, Imported, Outcome, Verified};
use crate::io::{Trained, label, shell};
use crate::model::sam::SearchMisses;
use crate::train::Demand;

/// Returns the help text behind `verify`, with the list of recomputed arrays.
fn verify_examples() -> String {
    let all = trace::recomputed();
    let all = all.join(", ");
    format!("\
Examples:
  tapescope verify copy.ntmtrace.json
  tapescope verify other.ntmtrace.json --tolerance 1e-3
  tapescope verify copy.ntmtrace.json --weights runs/copy-1/weights.safetensors

Recomputes {all}, and the episode of the seed with the noise of its heads. Each array is computed from the \
recorded arrays that it depends on, in the order and with the score that the file declares. It needs no weights, so it \
works for traces of other programs too. It lists the arrays that only the weights can check; --weights compares every array.
Exit codes: 0 all dependent arrays hold, 1 something differs or nothing can be recomputed, 2 the trace cannot be read, \
3 holds in part: the rest cannot be checked.")
}

const DIFF_EXAMPLES: &str = "\
Examples:
  tapescope diff copy.ntmtrace.json again.ntmtrace.json
  tapescope diff ours.ntmtrace.json theirs.ntmtrace.json --tolerance 1e-4

Compares sizes first, then the metadata of episode and machine, then values in the order of the computation.
Exit codes: 0 identical, 1 something differs, 2 a trace cannot be read, 3 identical in the arrays that both have.";

/// Recompute every stage of a trace from the head parameters and report the first difference.
#[derive(Debug, Args)]
#[command(after_help = verify_examples())]
pub(super) struct Verify {
    /// A trace, written by any program.
    trace: PathBuf,
    /// Largest difference to ignore, 0 to 1; relative for values above 1, and for all weightings, memories,
    /// reads, gradients and learned constants.
    #[arg(long, value_name = "T", default_value = "1e-5", value_parser = tolerance, allow_negative_numbers = true)]
    pub(super) tolerance: f64,
    /// Also run these weights on the recorded input and compare every array: an included machine, a weights
    /// file or a run folder.
    #[arg(long, value_name = "FILE")]
    weights: Option<String>,
}

/// Compare two traces value by value and report the first difference.
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub(super) struct Diff {
    /// A trace.
    a: PathBuf,
    /// Another trace.
    b: PathBuf,
    /// Largest difference to ignore; relative for values above 1.
    #[arg(long, value_name = "T", default_value = "0", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: f64,
}

fn tolerance(text: &str) -> Result<f64, String> {
    within(text, 0.0..=1.0, "a number, 0 to 1")
}

/// Reads a trace. The error for a machine tells how to record a trace.
fn read(path: &Path) -> anyhow::Result<Imported> {
    let name = label(path);
    match trace::read(path) {
        Err(_) if Named::of(&path.to_string_lossy()) != Named::Other => {
            let command = shell::command(&["trace", &name, "--out", "episode.ntmtrace.json"]);
            bail!("{name} is a machine, not a trace; record a trace first: {command}")
        }
        other => Ok(other?),
    }
}

impl Verify {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let weights = self.weights.as_deref();
        let trained = weights
            .map(|name| machine::alone(name, &Resize::default()))
            .transpose()?;
        let imported = read(&self.trace)?;
        let found = verified(out, &label(&self.trace), &imported, self.tolerance)?;
        details(out, &imported, &found, trained.is_some())?;
        let outcome = found.outcome();
        let replayed = trained.map(|trained| self.replay(out, &imported, &trained));
        match outcome.max(replayed.transpose()?.unwrap_or(outcome)) {
            Outcome::Holds => Ok(()),
            Outcome::InPart => Err(CliError::Partial.into()),
            _ => Err(CliError::Differs.into()),
        }
    }

    /// Runs the weights on the recorded input, and compares every array that both have.
    fn replay(
        &self,
        out: &mut impl Write,
        imported: &Imported,
        trained: &Trained,
    ) -> anyhow::Result<Outcome> {
        let weights = self.weights.as_deref().unwrap_or_default();
        let (file, sha256) = (label(&self.trace), trained.sha256());
        let other = imported.sha256.as_ref().filter(|other| **other != sha256);
        if let Some(other) = other {
            writeln!(
                out,
                "{file} is a trace of other weights: {other}; {weights} has {sha256}"
            )?;
        }
        // It is run on as many rows as the trace has.
        let (config, steps) = (&imported.config, imported.recording.episode.steps());
        let mut bytes = Demand::Recording.bytes(config, steps);
        if imported.has_gradient() {
            let copy = bytes.saturating_mul(2);
            bytes = copy.saturating_add(gradient::bytes(config, steps));
        }
        let what = format!("{file}: running the weights on it");
        machine::claim(bytes, 0, &what)?;
        let other_machine = |lines: Vec<String>| {
            let lines = lines.join("; ");
            anyhow!("--weights {weights}: differs from the machine of {file}: {lines}")
        };
        let found = trace::replay(imported, &trained.machine, self.tolerance);
        let found = found.map_err(other_machine)?;
        let with = format!("with {weights}");
        let all = match found.skipped[..] {
            [] => "every array is reproduced",
            _ => "reproduced in part",
        };
        let told = [&*with, &format!("{with} {all}: ")];
        let values = |recorded, again| format!("recorded {recorded}, computed {again}");
        write_differences(out, told, &found, self.tolerance, values)?;
        list(out, &format!("{with} not compared"), &found.skipped)?;
        Ok(match (found.first, other, &found.skipped[..]) {
            (None, None, []) => Outcome::Holds,
            (None, None, _) => Outcome::InPart,
            _ => Outcome::Differs,
        })
    }
}

/// Verifies the trace called `file`, and reports the result, without the [`details`].
pub(super) fn verified(
    out: &mut impl Write,
    file: &str,
    imported: &Imported,
    tolerance: f64,
) -> anyhow::Result<Verified> {
    let bytes = Demand::Recording.bytes(&imported.config, imported.recording.episode.steps());
    machine::claim(bytes, 0, &format!("{file}: verifying it"))?;
    let found = trace::verify(imported, tolerance);
    let outcome = found.outcome();
    let holds = match outcome {
        Outcome::InPart => {
            let (all, whole) = (found.following(), found.whole());
            format!("holds in part: {whole} of {all} dependent arrays, ")
        }
        Outcome::Differs => "its arrays hold: ".to_owned(),
        _ => "every stage holds: ".to_owned(),
    };
    for line in &found.contradictions {
        writeln!(
            out,
            "{file}: the file and what follows from its seed or its answers differ in {line}"
        )?;
    }
    if outcome == Outcome::Nothing {
        writeln!(
            out,
            "{file}: contains nothing that can be recomputed and compared"
        )?;
    } else {
        let values = |recorded: f32, expected: f32| {
            let is_number = recorded.is_finite() || expected.is_finite();
            let expected = if is_number {
                expected.to_string()
            } else {
                "a finite number".to_owned()
            };
            format!("recorded {recorded}, expected {expected}")
        };
        let told = [file, &format!("{file}: {holds}")];
        write_differences(out, told, &found.comparison, tolerance, values)?;
    }
    Ok(found)
}

/// Lists the arrays that were not checked, with the reason, and those that are absent; of the former those that need
/// weights unless these are compared as well.
pub(super) fn details(
    out: &mut impl Write,
    imported: &Imported,
    found: &Verified,
    has_weights: bool,
) -> anyhow::Result<()> {
    let why = |(array, why): &(String, String)| format!("{array} ({why})");
    let unchecked: Vec<String> = found.unchecked.iter().map(why).collect();
    let recording = &imported.recording;
    // A part of a memory that cannot be rebuilt may have been recorded.
    let is_unchecked = |name: &&String| found.unchecked.iter().any(|(array, _)| array == *name);
    let unknown = recording.unknown().filter(|name| !is_unchecked(name));
    let absent: Vec<String> = unknown.cloned().collect();
    list(out, "not checkable", &unchecked)?;
    if let Some((why, arrays)) = &found.undrawn {
        let what = format!("not checked, because {why}");
        list(out, &what, &by_part(arrays))?;
    }
    if !has_weights {
        let given = by_part(&found.given);
        list(out, "not checked, needs the weights", &given)?;
    }
    list(out, "metadata not checked", &found.declared)?;
    let computed = by_part(&recording.computed);
    list(out, "not recorded, computed from other arrays", &computed)?;
    list(out, "not recorded", &absent)?;
    let Some(search_misses) = found.search_misses else {
        return Ok(());
    };
    let SearchMisses {
        rows,
        other_rows,
        reads,
        other_reads,
    } = search_misses;
    Ok(writeln!(
        out,
        "exact search would have read other rows in {other_reads} of {reads} reads: {other_rows} of {rows} rows"
    )?)
}

/// Writes a line that lists these items, if there are any.
fn list(out: &mut impl Write, what: &str, items: &[String]) -> std::io::Result<()> {
    match items {
        [] => Ok(()),
        _ => writeln!(out, "{what}: {}", items.join(", ")),
    }
}

/// Arrays by name, those of heads together: `key of read0 and write0`.
fn by_part(arrays: &[String]) -> Vec<String> {
    let mut parts: Vec<(&str, Vec<&str>)> = Vec::new();
    for array in arrays {
        let is_head = |head: &str| head.starts_with("read") || head.starts_with("write");
        let (heads, part) = match array.split_once('.') {
            Some((head, part)) if is_head(head) => (Some(head), part),
            _ => (None, array.as_str()),
        };
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
                writeln!(out, "{files}: shapes differ")?;
                for line in lines {
                    writeln!(out, "  {line}")?;
                }
                return Err(CliError::Differs.into());
            }
        };
        if !found.declared.is_empty() {
            writeln!(out, "{files}: metadata differs")?;
            for line in &found.declared {
                writeln!(out, "  {line}")?;
            }
        }
        let is_whole = found.only.iter().all(Vec::is_empty);
        let same = match found.declared[..] {
            [] if is_whole => format!("{files}: identical: "),
            [] => format!("{files}: identical in part: "),
            _ => String::new(),
        };
        let values = |a, b| format!("{a} and {b}");
        write_differences(out, [&files, &same], &found, self.tolerance, values)?;
        for (file, only) in [&self.a, &self.b].into_iter().zip(&found.only) {
            list(out, &format!("only in {}", label(file)), only)?;
        }
        if found.first.is_some() || !found.declared.is_empty() {
            Err(CliError::Differs.into())
        } else if is_whole {
            Ok(())
        } else {
            Err(CliError::Partial.into())
        }
    }
}

/// Writes the first difference with its two values, then the largest difference; or, without a difference, the latter
/// after `same`.
fn write_differences(
    out: &mut impl Write,
    [files, same]: [&str; 2],
    found: &Comparison,
    tolerance: f64,
    values: impl Fn(f32, f32) -> String,
) -> std::io::Result<()> {
    let mut before = same;
    if let Some(first) = &found.first {
        let step = match first.step {
            Some(step) => format!("step {step}"),
            None => "the initial state".to_owned(),
        };
        let (array, index) = (&first.array, &first.index);
        let values = values(first.first, first.second);
        writeln!(
            out,
            "{files}: first difference at {step}: {array}{index:?}: {values}"
        )?;
        before = "";
    }
    let how_many = match (found.values, found.differing) {
        (values, 0) => format!("{values} values compared"),
        (values, differing) if tolerance == 0.0 => format!("{differing} of {values} values differ"),
        (values, differing) => {
            format!("{differing} of {values} values differ by more than {tolerance:e}")
        }
    };
    // Two digits are enough of a difference.
    let largest = match found.largest {
        0.0 => "0".to_owned(),
        largest => format!("{largest:.1e}"),
    };
    writeln!(out, "{before}{how_many}, largest difference {largest}")
}
