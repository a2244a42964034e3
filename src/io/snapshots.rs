//! Training snapshots as a safetensors file, with all weights of each.
//!
//! The tensors of the machine after 1234 sequences begin with `0000000001234.`, so that names sort by time. The metadata
//! contains the time and the loss of each snapshot.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::short;
use super::measurement::{WrongNumber, wrong_bits, wrong_seconds};
use super::weights::{self, Contents, Opened};
use super::{Error, Experiment, file};
use crate::learn::{Finding, Kind, Snapshot, Snapshots};

/// The largest file that is read, in bytes.
const LIMIT: u64 = 4 << 30;
const FORMAT: &str = "tapescope-snapshots";
const SNAPSHOTS: &str = "snapshots";

/// The parts of [`Snapshots`] other than tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    per_decade: f64,
    all: Vec<SnapshotForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingForm>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FindingForm {
    sequences: u64,
    kind: String,
    words: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SnapshotForm {
    sequences: u64,
    seconds: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bits: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_best: bool,
}

/// Returns the prefix of the tensors of a snapshot.
fn prefix(sequences: u64) -> String {
    format!("{sequences:013}.")
}

/// Writes the snapshots of a run of this experiment.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, experiment: &Experiment, snapshots: &Snapshots) -> Result<(), Error> {
    contents(experiment, snapshots).write(path)
}

/// [`write()`] to memory.
pub fn to_bytes(experiment: &Experiment, snapshots: &Snapshots) -> Vec<u8> {
    contents(experiment, snapshots).into_bytes()
}

fn contents<'a>(experiment: &Experiment, snapshots: &'a Snapshots) -> Contents<'a> {
    let mut tensors = BTreeMap::new();
    for snapshot in snapshots.all() {
        let prefix = prefix(snapshot.sequences);
        let named = snapshot.machine.params.named().into_iter();
        tensors.extend(named.map(|(name, tensor)| (format!("{prefix}{name}"), tensor)));
    }
    let moment = |snapshot: &Snapshot| SnapshotForm {
        sequences: snapshot.sequences,
        seconds: snapshot.seconds,
        bits: snapshot.bits,
        is_best: snapshot.is_best,
    };
    let finding = |found: &Finding| FindingForm {
        sequences: found.sequences,
        kind: found.kind.name().to_owned(),
        words: found.words.clone(),
    };
    let form = Form {
        per_decade: snapshots.per_decade(),
        all: snapshots.all().iter().map(moment).collect(),
        findings: snapshots.findings.iter().map(finding).collect(),
    };
    let entry = (SNAPSHOTS, file::json(&form));
    Contents {
        metadata: weights::metadata_of_run(FORMAT, experiment, entry),
        tensors,
    }
}

/// Reads the snapshots of a run, and its experiment at the start.
///
/// # Errors
/// The file, the tensor or metadata entry, what was found and what was expected.
pub fn read(path: &Path) -> Result<(Experiment, Snapshots), Error> {
    from_bytes(
        &file::read(path, LIMIT, weights::begins)?,
        &file::label(path),
    )
}

/// [`read`] from memory; `label` names the file in messages.
///
/// # Errors
/// As for [`read`].
pub fn from_bytes(bytes: &[u8], label: &str) -> Result<(Experiment, Snapshots), Error> {
    let file = Opened::new(bytes, label)?;
    let (experiment, form): (_, Form) = file.of_run(FORMAT, SNAPSHOTS)?;
    form.check(&experiment, label)?;
    let config = &experiment.model;
    let snapshot = |moment: SnapshotForm| -> Result<Snapshot, Error> {
        let machine = file.machine(&prefix(moment.sequences), config)?;
        Ok(Snapshot {
            sequences: moment.sequences,
            seconds: moment.seconds,
            bits: moment.bits,
            is_best: moment.is_best,
            machine: Arc::new(machine),
        })
    };
    let all: Result<_, _> = form.all.into_iter().map(snapshot).collect();
    let mut snapshots = Snapshots::restored(all?, form.per_decade);
    let findings = form.findings.into_iter().enumerate();
    let findings = findings.map(|(index, found)| found.finding(index, label));
    snapshots.findings = findings.collect::<Result<_, _>>()?;
    file.check_sum()?;
    Ok((experiment, snapshots))
}

impl FindingForm {
    /// The finding; its place in the file is for an error.
    fn finding(self, index: usize, label: &str) -> Result<Finding, Error> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == self.kind);
        let wrong = || {
            let names = Kind::ALL.map(Kind::name).join(", ");
            let problem = format!("is `{}`; expected one of {names}", short(&self.kind));
            Error::content(label, format!("snapshots.findings[{index}].kind"), problem)
        };
        Ok(Finding {
            sequences: self.sequences,
            kind: kind.ok_or_else(wrong)?,
            words: self.words,
        })
    }
}

impl Form {
    fn check(&self, experiment: &Experiment, label: &str) -> Result<(), Error> {
        let (all, most) = (&self.all, experiment.training.sequences);
        let problem = if !all.is_sorted_by(|a, b| a.sequences < b.sequences) {
            "are not sorted by sequences".to_owned()
        } else if let Some(last) = all.last().filter(|last| last.sequences > most) {
            format!(
                "has a snapshot after {} sequences; the run has only {most}",
                last.sequences
            )
        } else if !(1.0..=1e3).contains(&self.per_decade) {
            format!("`per_decade` is {}; expected 1 to 1000", self.per_decade)
        } else if all.is_empty() {
            "contains no snapshots; expected at least one".to_owned()
        } else if let Some((index, (key, problem))) = all.iter().enumerate().find_map(wrong) {
            let place = format!("{SNAPSHOTS}.all[{index}].{key}");
            return Err(Error::content(label, place, problem));
        } else {
            return Ok(());
        };
        Err(Error::content(label, SNAPSHOTS, problem))
    }
}

/// Returns the first number of a snapshot that is out of range.
fn wrong((index, moment): (usize, &SnapshotForm)) -> Option<(usize, WrongNumber)> {
    let bits = || wrong_bits("bits", moment.bits?);
    let found = wrong_seconds("seconds", moment.seconds).or_else(bits);
    Some((index, found?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Trainer;

    const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 2]},
        "model": {"memory": {"rows": 6, "columns": 4}, "controller": {"size": 5}},
        "training": {"sequences": 60, "validation_every": 10, "validation_episodes": 2}}"#;

    fn trained() -> (Experiment, Snapshots) {
        let tiny = Experiment::from_json(TINY, "tiny.json", &[]).unwrap();
        let (task, training) = (tiny.task.clone(), tiny.training.clone());
        let mut trainer = Trainer::new(task, tiny.model.clone(), training, 1);
        let mut snapshots = Snapshots::new(1 << 20);
        snapshots.keep(&trainer, None, None);
        while !trainer.finished() {
            let update = trainer.update().unwrap();
            snapshots.keep(&trainer, update.validated, Some(update.bits));
        }
        (tiny, snapshots)
    }

    #[test]
    fn every_number_reads_back_bit_identical() {
        let (experiment, snapshots) = trained();
        let mut snapshots = snapshots;
        snapshots.findings = vec![Finding {
            sequences: 40,
            kind: Kind::Exploding,
            words: "The gradient is large.".to_owned(),
        }];
        let bytes = to_bytes(&experiment, &snapshots);
        let (read_experiment, again) = from_bytes(&bytes, "s").unwrap();
        assert_eq!(read_experiment, experiment);
        assert!(to_bytes(&experiment, &again) == bytes);
        assert_eq!(again.findings, snapshots.findings);
        let machines = |all: &Snapshots| {
            let all = all.all().iter();
            all.map(|one| (one.sequences, one.is_best, one.machine.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(machines(&again), machines(&snapshots));
        assert_eq!(again.all().last().unwrap().sequences, 60);
    }

    #[test]
    fn errors_name_the_problem() {
        let (experiment, snapshots) = trained();
        let bytes = to_bytes(&experiment, &snapshots);
        let length = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        let (header, tensors) = bytes[8..].split_at(length);
        let header = std::str::from_utf8(header).unwrap();
        let said = |from: &str, to: &str| {
            assert!(header.contains(from), "{header}");
            let header = header.replacen(from, to, 1);
            let length = (header.len() as u64).to_le_bytes();
            let bytes = [&length[..], header.as_bytes(), tensors].concat();
            from_bytes(&bytes, "s").unwrap_err().to_string()
        };
        let order = r#"\"sequences\":1,"#;
        assert_eq!(
            said(order, &order.replace('1', "0")),
            "s: `snapshots`: are not sorted by sequences"
        );
        assert_eq!(
            said(r#"per_decade\":16"#, r#"per_decade\": 0"#),
            "s: `snapshots`: `per_decade` is 0; expected 1 to 1000"
        );
        // The first snapshot has no bits, and its seconds are exactly 0.
        let first = |to: &str| said(r#"\"seconds\":0.0}"#, to);
        for (to, expected) in [
            (
                r#"\"seconds\":-1}"#,
                "s: `snapshots.all[0].seconds`: is -1; expected 0 to 10000000000 seconds",
            ),
            (
                r#"\"seconds\":1e300}"#,
                "s: `snapshots.all[0].seconds`: is 1",
            ),
            (
                r#"\"seconds\":1e999}"#,
                "s: `__metadata__.snapshots.all[0].seconds`: number out of range",
            ),
            (
                r#"\"seconds\":NaN}"#,
                "s: `__metadata__.snapshots.all[0].seconds`: expected value",
            ),
            (
                r#"\"seconds\":0,\"bits\":-0.5}"#,
                "s: `snapshots.all[0].bits`: is -0.5; expected 0 or more bits",
            ),
            (
                r#"\"seconds\":0,\"bits\":1e60}"#,
                "s: `snapshots.all[0].bits`: is 1",
            ),
        ] {
            let error = first(to);
            assert!(error.starts_with(expected), "{error}");
        }
        let other = said("tapescope-snapshots", "tapescope-snapshotz");
        assert!(other.ends_with("expected `tapescope-snapshots`"), "{other}");
        let mut damaged = bytes.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let damaged = from_bytes(&damaged, "s").unwrap_err().to_string();
        assert!(
            damaged.starts_with("s: `__metadata__.checksum`: is "),
            "{damaged}"
        );
        let cut = from_bytes(&bytes[..bytes.len() - 3], "s").unwrap_err();
        assert!(cut.to_string().contains("not fully covered"), "{cut}");
    }
}
