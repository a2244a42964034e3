//! `tapescope verify` and `tapescope diff`: whether a trace holds together, and whether two are the same.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Undone, Usage, machine, refuse};
use crate::io::trace::{self, Comparison, Imported, Outcome, Verified};
use crate::io::{Trained, label, preset, room, shell};
use crate::model::ModelConfig;
use crate::train::recording_bytes;

/// What is recomputed stands where it is computed.
fn verify_examples() -> String {
    let all = trace::recomputed();
    let all = all.join(", ");
    format!("\
Examples:
  tapescope verify copy.ntmtrace.json
  tapescope verify other.ntmtrace.json --tolerance 1e-3
  tapescope verify copy.ntmtrace.json --weights runs/copy-1/weights.safetensors

Recomputed are {all}, and the episode of the seed with the noise of its heads: each array from the recorded ones \
that it is made of, in the order and with the score that the file declares. Weights are not needed, so it works for the traces of other programs \
too; what only they could check is named, and with --weights everything is compared.
Exit codes: 0 all that follows from other arrays holds, 1 something differs or nothing can be \
recomputed, 2 the trace cannot be read, 3 holds in part: the rest cannot be checked.")
}

const DIFF_EXAMPLES: &str = "\
Examples:
  tapescope diff copy.ntmtrace.json again.ntmtrace.json
  tapescope diff ours.ntmtrace.json theirs.ntmtrace.json --tolerance 1e-4

Sizes are compared first, then what the files say of episode and machine, then values in the order of the \
computation.
Exit codes: 0 the same, 1 something differs, 2 a trace cannot be read, 3 the same in what both have.";

/// Recompute every stage of a trace from what its heads emitted; report the first difference.
#[derive(Debug, Args)]
#[command(after_help = verify_examples())]
pub(super) struct Verify {
    /// A trace, of any program.
    trace: PathBuf,
    /// The largest difference that counts as none; of values above 1, and of weightings, memories and
    /// reads of any size, a share.
    #[arg(long, value_name = "T", default_value = "1e-5", value_parser = tolerance, allow_negative_numbers = true)]
    pub(super) tolerance: f64,
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
    match text.parse() {
        Ok(tolerance) if f64::is_finite(tolerance) && tolerance >= 0.0 => Ok(tolerance),
        _ => Err("expected a number, 0 or more".to_owned()),
    }
}

/// Reads a trace; whoever names a machine instead is told how to make one.
fn read(path: &Path) -> anyhow::Result<Imported> {
    let name = label(path);
    let is_name = preset::names().any(|known| known == name);
    let is_machine =
        is_name || path.is_dir() || path.extension().is_some_and(|end| end == "safetensors");
    match trace::read(path) {
        Err(_) if is_machine => {
            let command = shell::command(&["trace", &name, "--out", "episode.ntmtrace.json"]);
            refuse(format!(
                "{name} is a machine, not a trace of one; make a trace first: {command}"
            ))
        }
        other => Ok(other?),
    }
}

impl Verify {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let weights = self.weights.as_deref();
        let trained = weights.map(|name| machine::find(name, None)).transpose()?;
        let imported = read(&self.trace)?;
        let outcome = verified(out, &label(&self.trace), &imported, self.tolerance)?;
        let replayed = trained.map(|trained| self.replay(out, &imported, &trained));
        let same = replayed.transpose()?.unwrap_or(true);
        match outcome {
            Outcome::Holds if same => Ok(()),
            Outcome::InPart if same => Err(Undone::InPart.into()),
            _ => Err(Undone::Differs.into()),
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
        let other = imported.sha256.as_ref().filter(|other| **other != sha256);
        if let Some(other) = other {
            writeln!(
                out,
                "{file} says that it is of other weights: {other}; {weights} has {sha256}"
            )?;
        }
        let config = &trained.machine.config;
        check_room(config, imported, &file, "running the weights on it")?;
        let found = match trace::replay(imported, &trained.machine, self.tolerance) {
            Ok(found) => found,
            Err(lines) => {
                let lines = lines.join("; ");
                return refuse(format!(
                    "--weights {weights}: is another machine than that of {file}: {lines}"
                ));
            }
        };
        let with = format!("with {weights}");
        let told = [&*with, &format!("{with} every array comes out again: ")];
        let values = |recorded, again| format!("{recorded} is recorded, {again} comes out");
        tell(out, told, &found, self.tolerance, values)?;
        if !found.skipped.is_empty() {
            writeln!(out, "{with} not compared: {}", found.skipped.join(", "))?;
        }
        Ok(found.first.is_none() && other.is_none())
    }
}

/// Verifies a trace, which is called `file`, and tells what came out.
pub(super) fn verified(
    out: &mut impl Write,
    file: &str,
    imported: &Imported,
    tolerance: f64,
) -> anyhow::Result<Outcome> {
    check_room(&imported.config, imported, file, "verifying it")?;
    let found = trace::verify(imported, tolerance);
    let outcome = found.outcome();
    let holds = match outcome {
        Outcome::InPart => {
            let (all, whole) = (found.following(), found.whole());
            format!("holds in part: {whole} of {all} arrays that follow from others, ")
        }
        Outcome::Differs => "its arrays hold: ".to_owned(),
        _ => "every stage holds: ".to_owned(),
    };
    for line in &found.contradictions {
        writeln!(out, "{file}: the file and its seed differ in {line}")?;
    }
    if outcome == Outcome::Nothing {
        writeln!(out, "{file}: nothing in it can be recomputed and compared")?;
    } else {
        let values = |recorded, expected| format!("{recorded} is recorded, {expected} is expected");
        let told = [file, &format!("{file}: {holds}")];
        tell(out, told, &found.comparison, tolerance, values)?;
    }
    details(out, imported, &found)?;
    Ok(outcome)
}

/// Refuses to record an episode again, on this machine, where there is not enough memory.
fn check_room(
    config: &ModelConfig,
    imported: &Imported,
    file: &str,
    work: &str,
) -> anyhow::Result<()> {
    let bytes = recording_bytes(config, imported.recording.episode.steps());
    Ok(room::claim(bytes, 0).map_err(|short| Usage(format!("{file}: {work} {short}")))?)
}

/// What could not be checked and why, what was taken as it is, and what is not there.
fn details(out: &mut impl Write, imported: &Imported, found: &Verified) -> std::io::Result<()> {
    let why = |(array, why): &(String, String)| format!("{array} ({why})");
    let unchecked = found.unchecked.iter().map(why).collect();
    let recording = &imported.recording;
    // Of a memory that cannot be rebuilt something may have been recorded.
    let is_unchecked = |name: &&String| found.unchecked.iter().any(|(array, _)| array == *name);
    let unknown = recording.unknown().filter(|name| !is_unchecked(name));
    let absent = unknown.cloned().collect();
    let mut list = |what: &str, list: Vec<String>| match list[..] {
        [] => Ok(()),
        _ => writeln!(out, "{what}: {}", list.join(", ")),
    };
    let given = by_part(&found.given);
    list("not checkable", unchecked)?;
    if let Some((why, arrays)) = &found.undrawn {
        let what = format!("taken as recorded, for {why}");
        list(&what, by_part(arrays))?;
    }
    list("taken as recorded, for only the weights could tell", given)?;
    let declared = found.declared.clone();
    list("taken as declared, for nothing here could tell", declared)?;
    let computed = by_part(&recording.computed);
    list("not recorded, but computed from what is", computed)?;
    list("not recorded", absent)
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
                writeln!(out, "{files}: the shapes differ")?;
                for line in lines {
                    writeln!(out, "  {line}")?;
                }
                return Err(Undone::Differs.into());
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
            [] if is_whole => format!("{files}: the same: "),
            [] => format!("{files}: the same in part: "),
            _ => String::new(),
        };
        let values = |a, b| format!("{a} and {b}");
        tell(out, [&files, &same], &found, self.tolerance, values)?;
        for (file, only) in [&self.a, &self.b].into_iter().zip(&found.only) {
            if !only.is_empty() {
                writeln!(out, "only in {}: {}", label(file), only.join(", "))?;
            }
        }
        if found.first.is_some() || !found.declared.is_empty() {
            Err(Undone::Differs.into())
        } else if is_whole {
            Ok(())
        } else {
            Err(Undone::InPart.into())
        }
    }
}

/// The first difference in a line, with its two values, and behind it how far all agree; or, where there is none,
/// that behind `same`.
fn tell(
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
            None => "before the first step".to_owned(),
        };
        let (array, index) = (&first.array, &first.index);
        let values = values(first.first, first.second);
        writeln!(
            out,
            "{files}: the first difference, {step}: {array}{index:?}: {values}"
        )?;
        before = "";
    }
    let how_many = match (found.values, found.differing) {
        (values, 0) => format!("{values} values compared"),
        (values, differing) => {
            format!("{differing} of {values} values differ by more than {tolerance:e}")
        }
    };
    // Two digits are enough of a difference.
    let largest = match found.largest {
        0.0 => "0".to_owned(),
        largest => format!("{largest:.1e}"),
    };
    writeln!(
        out,
        "{before}{how_many}, the largest difference is {largest}"
    )
}
