//! Finds a machine: by the name of an included machine, or by a file.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure};

use super::arguments::{Resize, Size};
use super::message::note;
use crate::io::{
    Error, Experiment, RunFolder, Trained, episodes, is_trace, label, memory_limit, preset, shell,
    weights,
};
use crate::keys::Words as _;
use crate::model::ModelConfig;
use crate::task::{Measure, Task};
use crate::train::{Demand, UNSEEN_SEED, has_single_reader};

/// Checks that memory suffices for `bytes` and the stacks of `threads` threads.
pub(super) fn claim(bytes: u64, threads: usize, what: &str) -> anyhow::Result<()> {
    memory_limit::claim(bytes, threads).map_err(|short| anyhow!("{what} {short}"))
}

/// The machine that a name or the path of a weights file stands for, with these sizes, with the episodes that it
/// learned from, where those are in a file.
pub(super) fn find(name: &str, sizes: &Resize) -> anyhow::Result<Trained> {
    with_episodes(find_for_input(name, sizes)?, name)
}

/// [`find`] for your own input: the file of a text may be missing.
pub(super) fn find_for_input(name: &str, sizes: &Resize) -> anyhow::Result<Trained> {
    let mut trained = alone(name, sizes)?;
    let by = weights_of(name);
    trained.experiment = trained.experiment.with_episodes_if_there(&by)?;
    Ok(trained)
}

/// The machine with its episodes, which are read unless they are there.
pub(super) fn with_episodes(mut trained: Trained, name: &str) -> anyhow::Result<Trained> {
    if !trained.experiment.task.is_loaded() {
        trained.experiment = trained.experiment.with_episodes(&weights_of(name))?;
    }
    Ok(trained)
}

fn weights_of(name: &str) -> PathBuf {
    let path = Path::new(name);
    RunFolder::weights_at(path).unwrap_or_else(|_| path.to_owned())
}

/// Prints the summary of the file of a task, if it has one.
pub(super) fn note_data(task: &Task) {
    if let Some((summary, [file, _])) = task.summary().zip(task.file()) {
        note(&format!("{}: {summary}", label(Path::new(file))));
    }
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// An included preset.
    Preset,
    /// A weights file or the folder of a run.
    Weights,
    /// Another file, or nothing.
    Other,
}

impl Named {
    pub(super) fn of(name: &str) -> Self {
        let path = Path::new(name);
        let is_weights = || path.extension().is_some_and(|end| end == "safetensors");
        match () {
            () if preset::names().any(|known| known == name) => Self::Preset,
            () if path.is_dir() || is_weights() => Self::Weights,
            () => Self::Other,
        }
    }
}

/// Finds a machine without its episodes, for callers that need only the weights.
pub(super) fn alone(name: &str, sizes: &Resize) -> anyhow::Result<Trained> {
    let path = Path::new(name);
    match Named::of(name) {
        Named::Preset => match weights::included(name) {
            Some(machine) => resized(machine?, name, sizes),
            None => no_weights(name),
        },
        Named::Other if !is_file(path) && !path.exists() => {
            bail!(Error::unknown(
                "preset or weights file",
                name,
                preset::names()
            ))
        }
        _ => read(path, sizes),
    }
}

/// The machine in a weights file or the folder of a run, with these sizes, without the episodes of a file.
pub(super) fn read(path: &Path, sizes: &Resize) -> anyhow::Result<Trained> {
    let name = label(path);
    ensure!(
        !is_trace(path),
        "{name} is a trace, not a weights file; open it with: {}",
        shell::on("view", path)
    );
    let is_json = path.extension().is_some_and(|end| end == "json") && path.is_file();
    ensure!(
        !is_json,
        "{name} is not a weights file; if it is a preset, train it first: tapescope train {name}"
    );
    let path = RunFolder::weights_at(path)?;
    resized(weights::read(&path)?, &label(&path), sizes)
}

/// True for a text that can only be a path.
pub(super) fn is_file(path: &Path) -> bool {
    path.components().count() > 1 || path.extension().is_some()
}

/// Returns the machine with the requested sizes; `name` is its name in messages.
pub(super) fn resized(mut machine: Trained, name: &str, sizes: &Resize) -> anyhow::Result<Trained> {
    if let Some(rows) = sizes.rows {
        machine.machine = machine.machine.with_rows(rows).map_err(|error| {
            let allowed = error.allowed;
            anyhow!("--rows {rows}: {name}: allowed: {allowed}")
        })?;
    }
    for size in &sizes.sizes {
        let (size, value) = match size {
            Size::Machine(name, value) => (name, value),
            Size::Page(width, height) => {
                bail!("--size {width}x{height}: expected NAME=N, such as rows=1024")
            }
        };
        machine.machine = machine.machine.with_size(size, *value).map_err(|error| {
            let allowed = error.allowed;
            anyhow!("--size {size}={value}: {name}: allowed: {allowed}")
        })?;
    }
    Ok(machine)
}

pub(super) fn no_weights<T>(name: &str) -> anyhow::Result<T> {
    bail!("no weights are included for `{name}`; train them with: tapescope train {name}")
}

/// Checks that a machine samples, for an `option` about its noise.
pub(super) fn check_random(option: &str, name: &str, config: &ModelConfig) -> anyhow::Result<()> {
    ensure!(
        config.is_random() || !config.is_recorded_apart(),
        "{option}: {name}: the machine file has no `noise` and no `draw`, so all samples are the same"
    );
    let heads = if config.has_row_per_step() {
        ""
    } else {
        "heads."
    };
    ensure!(
        config.is_random(),
        "{option}: {name}: no head samples; only heads with `model.{heads}attention.weighting` hard, weibull or lognormal do"
    );
    Ok(())
}

/// Refuses `--alignment` for a machine that does not attend to source steps, or a task whose alignment is unknown.
pub(super) fn check_alignment(name: &str, config: &ModelConfig, task: &Task) -> anyhow::Result<()> {
    ensure!(
        has_single_reader(config) || !config.lacks_parts(),
        "--alignment: {name}: no quantity of the machine file has the label `weighting` and the source as its only axis in each step of the answer"
    );
    ensure!(
        has_single_reader(config),
        "--alignment: {name}: the machine has no single read head on a memory with a row per step; the files bahdanau, luong, caption, coattention, attention_over_attention, lstmn, lstmn_fusion and self_attention have one"
    );
    let is_aligned = |task: &Task| !task.alignment(&task.episode(UNSEEN_SEED, 0)).is_empty();
    let all = Task::WORDS.iter().filter(|(_, task)| is_aligned(task));
    let all: Vec<_> = all.map(|(word, _)| *word).collect();
    ensure!(
        is_aligned(task),
        "--alignment: the task `{}` does not say which source step an answer comes from; {} do, and pairs with alignments in their file",
        task.name(),
        all.join(", ")
    );
    Ok(())
}

/// Checks that a task has repeats if `--repeats` is given.
pub(super) fn check_repeats(is_given: bool, task: &Task) -> anyhow::Result<()> {
    let (name, has_repeats) = (task.name(), task.repeats().is_some());
    ensure!(
        !is_given || has_repeats,
        "--repeats: the task `{name}` has no repeats"
    );
    Ok(())
}

/// Returns the requested sizes, by the option for their unit.
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
    ensure!(
        strangers.is_empty(),
        "{stranger}: the task `{name}` has no {}; use {option}",
        stranger.trim_start_matches('-')
    );
    let most = task.most_size();
    if let Some(size) = sizes.iter().find(|size| !(least..=most).contains(size)) {
        bail!("{option} {size}: the task `{name}` allows {least} to {most}");
    }
    for &size in sizes {
        // The episodes of a file may have other sizes.
        if let Some(problem) = episodes::none_of(task, size) {
            bail!("{option} {size}: {problem}");
        }
    }
    Ok(sizes)
}

/// Refuses a training run for which there is not enough memory.
pub(super) fn check_training(
    experiment: &Experiment,
    preset: &str,
    threads: usize,
) -> anyhow::Result<()> {
    let batch = experiment.training.batch;
    let demand = Demand::Training {
        batch,
        samples: experiment.training.hard.samples as usize,
        threads: threads.min(batch),
        machines: experiment.training.machines(),
    };
    check_size(&experiment.model, &experiment.task, demand, preset)
}

/// Refuses episodes with more steps, or source steps, than the machine knows; `place` is where they come from.
pub(super) fn check_steps(
    config: &ModelConfig,
    steps: [usize; 2],
    place: &str,
) -> anyhow::Result<()> {
    if let Err(error) = config.fits_episode(steps) {
        let key = &error.field;
        let what = if config.has_source() {
            "sources"
        } else {
            "episodes"
        };
        bail!(
            "{place}: model.{error}; choose shorter {what}, or train with a larger `model.{key}`"
        );
    }
    Ok(())
}

/// Refuses work on the longest episodes of a task for which there is not enough memory; `place` is where the sizes
/// come from.
pub(super) fn check_size(
    config: &ModelConfig,
    task: &Task,
    demand: Demand,
    place: &str,
) -> anyhow::Result<()> {
    check_steps(config, [task.longest(), task.longest_source()], place)?;
    let [steps, source] = demand.longest(config, task);
    let (what, threads, several) = match demand {
        Demand::Recording => ("recording", 0, (0, "")),
        Demand::Measuring { threads, samples } => ("measuring", threads, (samples, "samples")),
        Demand::Training { batch, threads, .. } => {
            ("training", threads, (batch, "episodes a batch"))
        }
    };
    let Err(short) = memory_limit::claim(demand.of_task(config, task), threads) else {
        return Ok(());
    };
    let sizes = [
        (steps, "steps"),
        (config.rows_of([steps, source]), "rows"),
        (config.columns(), "columns"),
        (config.sizes().layers, "layers"),
        (config.sizes().units, "units"),
        several,
        (threads, "threads"),
    ];
    let sizes = sizes.iter().filter(|(size, _)| *size > 1);
    let sizes: Vec<_> = sizes.map(|(size, of)| format!("{size} {of}")).collect();
    let sizes = sizes.join(", ");
    bail!("{place}: {what} {short}: {sizes}; reduce one of them")
}
