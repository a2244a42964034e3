//! Training runs between two updates, as safetensors files: all that the rest of the run depends on.
//!
//! Every tensor of the machine stands there up to five times: `machine.*` is the machine as it is, `best.*`
//! that of the best validation, `square.*`, `mean.*` and, of RMSProp, `momentum.*` are the moments of the optimizer. The
//! counters and the learning curve are in the metadata. Every number comes back in the same bits.

use std::collections::BTreeMap;
use std::iter::zip;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::measurement::{ChangeForm, EvaluationForm, PointForm, SinceForm};
use super::weights::{self, Contents, Opened};
use super::{Error, Experiment, file};
use crate::train::{Optimizer, State};

/// The largest file that is read, in bytes.
const LIMIT: u64 = 16 << 30;
const FORMAT: &str = "tapescope-checkpoint";
const STATE: &str = "state";

/// The parts of a [`State`] other than tensors.
#[derive(Serialize, Deserialize)]
struct StateForm {
    sequences: u64,
    updates: i32,
    overflows: u32,
    nanoseconds: u64,
    since_validation: SinceForm,
    baseline: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<ChangeForm>,
    history: Vec<PointForm>,
    best: Option<EvaluationForm>,
    /// Updates of the machine in the opposite direction, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reverse_updates: Option<i32>,
}

/// Writes a checkpoint of a run of this experiment.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, experiment: &Experiment, state: &State) -> Result<(), Error> {
    contents(experiment, state).write(path)
}

/// [`write()`] to memory.
pub fn to_bytes(experiment: &Experiment, state: &State) -> Vec<u8> {
    contents(experiment, state).into_bytes()
}

fn contents<'a>(experiment: &Experiment, state: &'a State) -> Contents<'a> {
    let best = state.best.as_ref().map(|(best, _)| &best.params);
    let learned = zip(State::PREFIXES, zip(&state.machines, &state.optimizers));
    let learned = learned.flat_map(|(prefix, (machine, optimizer))| {
        let all = [
            ("machine", Some(&machine.params)),
            ("square", Some(&optimizer.square)),
            ("mean", Some(&optimizer.mean)),
            ("momentum", optimizer.momentum.as_ref()),
        ];
        all.map(|(name, params)| (prefix, name, params))
    });
    let mut tensors = BTreeMap::new();
    for (prefix, name, params) in learned.chain([("", "best", best)]) {
        let named = params.into_iter().flat_map(|params| params.named());
        let named = named.map(|(tensor, values)| (format!("{prefix}{name}.{tensor}"), values));
        tensors.extend(named);
    }
    let form = StateForm {
        sequences: state.sequences,
        updates: state.optimizers[0].updates,
        overflows: state.overflows,
        nanoseconds: u64::try_from(state.time.as_nanos()).unwrap_or(u64::MAX),
        since_validation: SinceForm(state.since_validation),
        baseline: state.baseline,
        changes: state.changes.iter().cloned().map(ChangeForm).collect(),
        history: state.history.iter().copied().map(PointForm).collect(),
        best: state.best.as_ref().map(|(_, best)| EvaluationForm(*best)),
        reverse_updates: state.optimizers.get(1).map(|of| of.updates),
    };
    let entry = (STATE, file::json(&form));
    Contents {
        metadata: weights::metadata_of_run(FORMAT, experiment, entry),
        tensors,
    }
}

/// Reads a checkpoint and its experiment as it began; the run resumes with [`Experiment::after`] the changes since.
///
/// # Errors
/// The file, the tensor or metadata entry, what was found and what was expected.
pub fn read(path: &Path) -> Result<(Experiment, State), Error> {
    from_bytes(
        &file::read(path, LIMIT, weights::begins)?,
        &file::label(path),
    )
}

/// [`read`] from memory; `label` stands for the file in messages.
///
/// # Errors
/// As for [`read`].
pub fn from_bytes(bytes: &[u8], label: &str) -> Result<(Experiment, State), Error> {
    let file = Opened::new(bytes, label)?;
    let (experiment, form): (_, StateForm) = file.of_run(FORMAT, STATE)?;
    form.check(&experiment, label)?;
    let changes: Vec<_> = form.changes.into_iter().map(|change| change.0).collect();
    let after = experiment.after(&changes);
    let after = after.map_err(|error| error.in_file(label).within("state.changes"))?;
    let (mut machines, mut optimizers) = (Vec::new(), Vec::new());
    let mut config = experiment.model.clone();
    let updates = [Some(form.updates), form.reverse_updates];
    for (prefix, updates) in zip(State::PREFIXES, updates.into_iter().flatten()) {
        let moments = |name| file.params(&[prefix, name].concat(), &config);
        machines.push(file.machine(&[prefix, "machine."].concat(), &config)?);
        // The weights are there, so the machine is no larger than the file.
        let mut optimizer = Optimizer::new(after.training.optimizer, &config);
        optimizer.updates = updates;
        (optimizer.square, optimizer.mean) = (moments("square.")?, moments("mean.")?);
        if let Some(momentum) = &mut optimizer.momentum {
            *momentum = moments("momentum.")?;
        }
        optimizers.push(optimizer);
        config = State::reverse_of(&config);
    }
    let best = |best: EvaluationForm| Ok((file.machine("best.", &experiment.model)?, best.0));
    let best = form.best.map(best).transpose()?;
    let state = State {
        machines,
        optimizers,
        best,
        history: form.history.into_iter().map(|point| point.0).collect(),
        sequences: form.sequences,
        time: Duration::from_nanos(form.nanoseconds),
        overflows: form.overflows,
        baseline: form.baseline,
        changes,
        since_validation: form.since_validation.0,
    };
    file.check_sum()?;
    Ok((experiment, state))
}

impl StateForm {
    fn check(&self, experiment: &Experiment, label: &str) -> Result<(), Error> {
        let all = experiment.training.sequences;
        let points = self.history.iter().map(|point| point.0.sequences);
        let changes = self.changes.iter().map(|change| change.0.sequences);
        let in_order = points.chain([self.sequences.saturating_add(1)]);
        let problem = if self.sequences > all {
            format!("`sequences` is {}; the run has only {all}", self.sequences)
        } else if !changes.chain([self.sequences]).is_sorted() {
            "the `changes` are not sorted by `sequences`, or exceed the sequences so far".to_owned()
        } else if !in_order.is_sorted_by(|a, b| a < b) {
            "the `history` is not sorted by `sequences`, or exceeds the sequences so far".to_owned()
        } else if self.since_validation.0.sequences > self.sequences {
            "`since_validation` has more sequences than the run so far".to_owned()
        } else if self.updates < 0 {
            format!("`updates` is {}; expected 0 or more", self.updates)
        } else if let Some((index, (key, problem))) = PointForm::wrong_of(&self.history) {
            format!("`history[{index}].{key}` {problem}")
        } else if let Some((key, problem)) = self.best.as_ref().and_then(EvaluationForm::wrong) {
            format!("`best.{key}` {problem}")
        } else {
            return Ok(());
        };
        Err(Error::content(label, STATE, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Trainer;

    const TINY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [1, 2]},
        "model": {"memory": {"rows": 6, "columns": 4, "initial": "learned"}, "controller": {"size": 5}},
        "training": {"sequences": 60, "validation_every": 10, "validation_episodes": 2}}"#;

    fn trained(updates: usize) -> (Experiment, State) {
        let tiny = Experiment::from_json(TINY, "tiny.json", &[]).unwrap();
        let (task, training) = (tiny.task.clone(), tiny.training.clone());
        let mut trainer = Trainer::new(task, tiny.model.clone(), training, 1);
        for _ in 0..updates {
            trainer.update().unwrap();
        }
        (tiny, trainer.state)
    }

    #[test]
    fn every_number_reads_back_bit_identical() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.safetensors");
        for updates in [0, 7, 10, 33] {
            let (experiment, mut state) = trained(updates);
            // The square of a large gradient is no f32, and that of a broken sum is no number.
            let square = state.optimizers[0].square.linears[2]
                .bias
                .view_mut()
                .into_iter();
            square
                .zip([f32::INFINITY, -0.0])
                .for_each(|(to, value)| *to = value);
            state.since_validation.bits += 0.1 + 0.2;
            state.since_validation.aux.redundancy = Some(f64::NEG_INFINITY);
            state.baseline = -0.1;
            write(&path, &experiment, &state).unwrap();
            let (read_experiment, again) = read(&path).unwrap();
            assert_eq!(read_experiment, experiment);
            // The bytes contain everything, and distinguish -0 from 0.
            assert!(to_bytes(&experiment, &again) == to_bytes(&experiment, &state));
            assert_eq!(again.machines, state.machines);
            assert_eq!(again.best, state.best);
            assert_eq!(again.history, state.history);
            let counters = |state: &State| {
                let (time, updates) = (state.time, state.optimizers[0].updates);
                (
                    time,
                    updates,
                    state.sequences,
                    state.overflows,
                    state.baseline,
                    state.since_validation,
                )
            };
            assert_eq!(counters(&again), counters(&state));
            let (again, state) = (&again.optimizers[0], &state.optimizers[0]);
            assert!(again.square == state.square && again.mean == state.mean);
            assert_eq!(again.momentum, state.momentum);
        }
    }

    #[test]
    fn optimizer_moments_are_restored() {
        for (kind, has_momentum) in [("adam", false), ("rmsprop", true)] {
            let set = format!("training.optimizer.kind={kind}").parse().unwrap();
            let tiny = Experiment::from_json(TINY, "tiny.json", &[set]).unwrap();
            let (task, training) = (tiny.task.clone(), tiny.training.clone());
            let mut trainer = Trainer::new(task, tiny.model.clone(), training, 1);
            trainer.update().unwrap();
            let bytes = to_bytes(&tiny, &trainer.state);
            let file = Opened::new(&bytes, "c").unwrap();
            let mut names = file.tensors.names().into_iter();
            let found = names.any(|name| name.starts_with("momentum."));
            assert_eq!(found, has_momentum, "{kind}");
            let (_, again) = from_bytes(&bytes, "c").unwrap();
            let [was, is] = [&trainer.state, &again].map(|state| &state.optimizers[0].momentum);
            assert_eq!(was, is);
            assert_eq!(is.is_some(), has_momentum);
        }
    }

    #[test]
    fn resume_of_random_heads_gives_identical_bytes() {
        for weighting in ["hard", "weibull"] {
            let set = format!("model.heads.attention.weighting={weighting}");
            let set = set.parse().unwrap();
            let tiny = Experiment::from_json(TINY, "tiny.json", &[set]).unwrap();
            let of = |state: State| {
                let (task, training) = (tiny.task.clone(), tiny.training.clone());
                Trainer::resume(task, training, state, 1)
            };
            let mut whole = of(State::new(tiny.model.clone(), &tiny.training));
            let mut files = Vec::new();
            while !whole.finished() {
                files.push(to_bytes(&tiny, &whole.state));
                whole.update().unwrap();
            }
            assert_eq!(whole.state.baseline < 0.0, weighting.contains("hard"));
            let middle = files.len() / 2;
            let (_, read) = from_bytes(&files[middle], "c").unwrap();
            let mut rest = of(read);
            while !rest.finished() {
                rest.update().unwrap();
            }
            let timeless = |mut state: State| {
                state.time = std::time::Duration::ZERO;
                for point in &mut state.history {
                    point.seconds = 0.0;
                }
                to_bytes(&tiny, &state)
            };
            assert!(timeless(rest.state) == timeless(whole.state), "{weighting}");
        }
    }

    #[test]
    fn the_machine_in_the_opposite_direction_is_restored() {
        let text = r#"{"task": {"kind": "transduce", "symbols": 3, "length": [1, 3]},
            "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 3}, "units": 4}},
            "training": {"agreement": 0.5, "sequences": 60}}"#;
        let experiment = Experiment::from_json(text, "tiny.json", &[]).unwrap();
        let (task, training) = (experiment.task.clone(), experiment.training.clone());
        let mut trainer = Trainer::new(task, experiment.model.clone(), training, 1);
        trainer.update().unwrap();
        let bytes = to_bytes(&experiment, &trainer.state);
        let (_, again) = from_bytes(&bytes, "c").unwrap();
        assert_eq!(trainer.state.machines, again.machines);
        assert_eq!(again.machines.len(), 2);
        let [was, is] = [&trainer.state, &again].map(|state| &state.optimizers[1]);
        assert_eq!((was.updates, &was.mean), (is.updates, &is.mean));
        assert!(to_bytes(&experiment, &again) == bytes);
    }

    #[test]
    fn errors_name_the_problem() {
        let (experiment, state) = trained(12);
        let said = |change: &dyn Fn(&mut State)| {
            let mut state = state.clone();
            change(&mut state);
            from_bytes(&to_bytes(&experiment, &state), "c")
                .unwrap_err()
                .to_string()
        };
        let all = said(&|state| state.sequences = 61);
        assert_eq!(all, "c: `state`: `sequences` is 61; the run has only 60");
        let order = said(&|state| state.sequences = 9);
        assert!(order.contains("the `history` is not sorted"), "{order}");
        let since = said(&|state| state.since_validation.sequences = 13);
        assert!(since.contains("`since_validation` has more"), "{since}");
        let updates = said(&|state| state.optimizers[0].updates = -1);
        assert!(
            updates.ends_with("`updates` is -1; expected 0 or more"),
            "{updates}"
        );
        let nan = said(&|state| {
            state.machines[0].params.linears[2]
                .bias
                .view_mut()
                .fill(f32::NAN);
        });
        assert!(
            nan.starts_with("c: `machine.output.bias`: value 0 is NaN"),
            "{nan}"
        );
        let bytes = to_bytes(&experiment, &state);
        for (place, flipped) in [("a tensor", bytes.len() - 70), ("the state", 900)] {
            let mut damaged = bytes.clone();
            // A low bit of a number, and of a digit.
            damaged[flipped] ^= 1;
            damaged[flipped + 4] ^= 1;
            let error = from_bytes(&damaged, "c").unwrap_err().to_string();
            assert!(error.starts_with("c: "), "{place}: {error}");
        }
        let mut damaged = bytes.clone();
        let end = damaged.len();
        damaged[end - 4] ^= 1;
        let error = from_bytes(&damaged, "c").unwrap_err().to_string();
        assert!(
            error.starts_with("c: `__metadata__.checksum`: is ")
                && error.contains("; the SHA-256 of the contents is "),
            "{error}"
        );
        let other = weights::from_bytes(&bytes, "c").unwrap_err().to_string();
        assert!(
            other.ends_with("is `tapescope-checkpoint`; expected `tapescope-weights`"),
            "{other}"
        );
    }
}
