//! `tapescope verify` and `tapescope diff`: whether a trace holds together, and whether two are the same.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Usage, quoted};
use crate::io::trace::{self, Comparison, Difference, Imported};
use crate::io::{label, preset};

const VERIFY_EXAMPLES: &str = "\
Examples:
  tapescope verify copy.ntmtrace.json
  tapescope verify other.ntmtrace.json --tolerance 1e-3

Recomputed are similarity, content, gated, shifted, weighting, read and memory: each step from the \
recorded parameters of its heads, the recorded memory before it and the recorded weightings of the step \
before. Weights are not needed, so it works for the traces of other programs too.
Exit codes: 0 all hold, 1 something differs or nothing can be recomputed, 2 the trace cannot be read.";

const DIFF_EXAMPLES: &str = "\
Examples:
  tapescope diff copy.ntmtrace.json again.ntmtrace.json
  tapescope diff ours.ntmtrace.json theirs.ntmtrace.json --tolerance 1e-4

Sizes are compared first, then values in the order of the computation.
Exit codes: 0 the same, 1 something differs, 2 a trace cannot be read.";

/// Something differs, and has been printed.
#[derive(Debug, thiserror::Error)]
#[error("something differs")]
pub(super) struct Differs;

/// Recompute every stage of a trace from what its heads emitted; report the first difference.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(super) struct Verify {
    /// A trace, of any program.
    trace: PathBuf,
    /// The largest difference that counts as none; for values above 1 a share of them.
    #[arg(long, value_name = "T", default_value = "1e-5", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: f64,
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
        let imported = read(&self.trace)?;
        let found = trace::verify(&imported, self.tolerance);
        let file = label(&self.trace);
        match &found.first {
            None if found.values == 0 => {
                writeln!(out, "{file}: nothing in it can be recomputed and compared")?;
            }
            None => writeln!(
                out,
                "{file}: every stage holds: {}",
                summary(&found, self.tolerance)
            )?,
            Some(first) => {
                let values = format!(
                    "{} is recorded, {} follows from what the heads emitted",
                    first.first, first.second
                );
                report(out, &file.to_string(), first, &values)?;
                writeln!(out, "{}", summary(&found, self.tolerance))?;
            }
        }
        let unknown = trace::unknown(&imported);
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            writeln!(
                out,
                "not compared, because they or what they need are absent: {unknown}"
            )?;
        }
        if found.first.is_some() || found.values == 0 {
            return Err(Differs.into());
        }
        Ok(())
    }
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
        match &found.first {
            None => writeln!(
                out,
                "{files}: the same: {}",
                summary(&found, self.tolerance)
            )?,
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
        found.first.map_or(Ok(()), |_| Err(Differs.into()))
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
