//! Which machine: by the name of a preset whose weights are in the binary, or by a file.

use std::path::Path;

use super::Usage;
use crate::io::{Error, Experiment, RunFolder, Trained, preset, trace, weights};
use crate::model::ModelConfig;
use crate::task::{Measure, Task};
use crate::train::evaluation_bytes;

/// The most memory that a command may take, in bytes.
const LIMIT: u64 = 16 << 30;

/// The machine that a name or the path of a weights file stands for, on `rows` memory rows.
pub(super) fn find(name: &str, rows: Option<usize>) -> anyhow::Result<Trained> {
    let path = Path::new(name);
    let is_preset = Experiment::built_in(name, &[]).is_some();
    if is_file(path) || !is_preset && path.exists() {
        return read(path, rows);
    }
    if !is_preset {
        return Err(Error::unknown("preset or weights file", name, preset::names()).into());
    }
    let shipped = weights::shipped()
        .into_iter()
        .find(|machine| machine.experiment.name == name);
    let shipped = shipped.ok_or_else(|| no_weights(name))?;
    with_rows(shipped, name, rows)
}

/// The machine in a weights file or the folder of a run, on `rows` memory rows.
pub(super) fn read(path: &Path, rows: Option<usize>) -> anyhow::Result<Trained> {
    if trace::is_named_so(path) {
        let path = path.display();
        let problem =
            format!("{path} is a trace, not a weights file; tapescope view {path} shows it");
        return Err(Usage(problem).into());
    }
    if path.extension().is_some_and(|end| end == "json") && path.is_file() {
        let path = path.display();
        let problem = format!(
            "{path} is not a weights file; an experiment is trained first: tapescope train {path}"
        );
        return Err(Usage(problem).into());
    }
    let path = RunFolder::weights_at(path)?;
    let label = path.display().to_string();
    with_rows(weights::read(&path)?, &label, rows)
}

/// True for what can only be meant as a path.
pub(super) fn is_file(path: &Path) -> bool {
    path.components().count() > 1 || path.extension().is_some()
}

/// The machine on as many memory rows as were asked for; `name` is what it is called.
fn with_rows(mut machine: Trained, name: &str, rows: Option<usize>) -> anyhow::Result<Trained> {
    if let Some(rows) = rows {
        machine.machine = machine.machine.with_rows(rows).map_err(|error| {
            let allowed = error.allowed;
            Usage(format!("--rows {rows}: {name}: allowed: {allowed}"))
        })?;
    }
    Ok(machine)
}

pub(super) fn no_weights(name: &str) -> Usage {
    Usage(format!(
        "no trained weights ship for `{name}`; train them with: tapescope train {name}"
    ))
}

/// The sizes that were asked for, by the option that names what they count.
pub(super) fn sizes<'a>(
    task: &Task,
    lengths: (&str, &'a [usize]),
    items: (&str, &'a [usize]),
) -> anyhow::Result<&'a [usize]> {
    let ((option, sizes), (stranger, strangers)) = match task.measure() {
        Measure::Length => (lengths, items),
        Measure::Items => (items, lengths),
    };
    let (name, least) = (task.name(), task.least_size());
    if !strangers.is_empty() {
        let nothing = stranger.trim_start_matches('-');
        let problem = format!("{stranger}: the task `{name}` has no {nothing}; use {option}");
        return Err(Usage(problem).into());
    }
    let most = preset::most_size(task.measure());
    match sizes.iter().find(|size| !(least..=most).contains(size)) {
        None => Ok(sizes),
        Some(size) => {
            let problem = format!("{option} {size}: the task `{name}` allows {least} to {most}");
            Err(Usage(problem).into())
        }
    }
}

/// Refuses what does not fit into the memory of an ordinary computer.
///
/// `place` is where the sizes come from, `what` would take so many `bytes`, `smaller` is what to make smaller.
pub(super) fn check_size(bytes: u64, place: &str, what: &str, smaller: &str) -> anyhow::Result<()> {
    if bytes <= LIMIT {
        return Ok(());
    }
    let problem = format!(
        "{place}: {what} takes {} GB, more than {} GB; use a smaller {smaller}",
        bytes >> 30,
        LIMIT >> 30
    );
    Err(Usage(problem).into())
}

/// Refuses to measure a machine on episodes too long for it; `place` and `smaller` as in [`check_size`].
pub(super) fn check_measuring(
    trained: &Trained,
    task: &Task,
    at_a_time: usize,
    place: &str,
    smaller: &str,
) -> anyhow::Result<()> {
    let (config, steps) = (&trained.machine.config, task.longest());
    let bytes = evaluation_bytes(config, steps, at_a_time);
    let size = size(config, steps);
    let what = format!("measuring {at_a_time} episodes at a time, each of {size},");
    check_size(bytes, place, &what, smaller)
}

/// The length of an episode and the size of the memory it runs on, in words.
pub(super) fn size(config: &ModelConfig, steps: usize) -> String {
    let (rows, columns) = (config.rows, config.columns);
    format!("{steps} steps of a memory of {rows} × {columns}")
}
