//! The files that the command line knows, through [`crate::io`].

use std::path::{Path, PathBuf};

use super::state::{
    Answer, FetchCallback, Files, LoadedRun, Machine, OpenedFile, ProgressCallback,
    RecordedEpisode, Verdict, file_name,
};
use crate::figure::Format;
use crate::io::trace::Imported;
use crate::io::{
    Error, Experiment, RunFolder, RunStart, Trained, memory_files, memory_limit, picture, preset,
    shell, trace, weights,
};
use crate::learn::{RunProgress, RunState};
use crate::model::Model;
use crate::platform::{self, HAS_FILES};
use crate::train::{Demand, State};

/// The tolerance of verification: the default of `tapescope verify`.
const TOLERANCE: f64 = 1e-5;

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn open(&self, path: &Path, watch: ProgressCallback<'_>) -> Result<OpenedFile, String> {
        opened(path, watch).map_err(|error| error.to_string())
    }

    fn verify(&self, path: &Path, watch: ProgressCallback<'_>) -> Option<Verdict> {
        let found = verified(path, watch);
        Some(found.unwrap_or_else(|why| Verdict::not_verified(&why)))
    }

    fn save_trace(&self, path: &Path, shown: &RecordedEpisode) -> Result<String, String> {
        let Some(config) = &shown.config else {
            let (path, why) = (path.display(), "the machine of this episode is unknown");
            return Err(format!("{path}: cannot be written: {why}"));
        };
        let machine = shown.machine.as_ref();
        let own = machine.map(|machine| weights::sha256(&machine.ntm));
        let source = trace::Source {
            config,
            sha256: own.as_ref().or(shown.sha256.as_ref()).map(String::as_str),
            full_memory: false,
            gradient: None,
        };
        trace::write(path, &shown.recording, &source).map_err(|error| error.to_string())?;
        Ok(handed_over("trace", path))
    }

    fn absolute(&self, path: PathBuf) -> PathBuf {
        std::path::absolute(&path).unwrap_or(path)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn save_figure(&self, path: &Path, bytes: &[u8]) -> Result<String, String> {
        picture::write(path, bytes).map_err(|error| error.to_string())?;
        let what = Format::of(path).map_or("table", |_| "figure");
        Ok(handed_over(what, path))
    }

    fn save_run(
        &self,
        folder: &Path,
        experiment: &Experiment,
        run_state: &RunState,
        replaces: bool,
    ) -> Result<String, String> {
        let command = begins(experiment);
        if !HAS_FILES {
            return save_machine(folder, experiment, command, &run_state.state);
        }
        let written = write_run(folder, experiment, &command, run_state, replaces);
        let is_active = written.map_err(|error| error.to_string())?;
        let eval = shell::on("eval", folder);
        let (resume, folder) = (shell::resume(folder), folder.display());
        Ok(if is_active {
            format!("Run saved in {folder}. To resume it without the window: {resume}")
        } else if run_state.keeps_weights {
            format!("Finished run saved in {folder}. To evaluate it: {eval}")
        } else {
            format!(
                "Run saved in {folder} in its state before the failure: best weights and training snapshots. To evaluate them: {eval}"
            )
        })
    }

    fn saved_state(&self, folder: &Path) -> Result<RunStart, String> {
        RunFolder::saved_state(folder).map_err(|error| error.to_string())
    }

    fn choose(&self, save: bool, suggestion: &str, answer: Answer) {
        platform::choose(save, suggestion, answer);
    }

    fn fetch(&self, name: &str, answer: FetchCallback) {
        let (address, title) = (weights::address(name), name.to_owned());
        platform::fetch(&address.clone(), move |bytes| {
            let trained = bytes.and_then(|bytes| {
                weights::from_bytes(&bytes, &address).map_err(|error| error.to_string())
            });
            let why = |said| format!("Machine {title} could not be loaded: {said}");
            answer(trained.map(Machine::from).map_err(why));
        });
    }

    fn keep(&self, path: PathBuf, bytes: Vec<u8>) {
        memory_files::insert(path, bytes);
    }
}

/// Reads a trace, weights, or the folder of a run.
fn opened(path: &Path, watch: ProgressCallback<'_>) -> Result<OpenedFile, Error> {
    if let Some(run) = loaded_run(path)? {
        return Ok(OpenedFile::Run(Box::new(run)));
    }
    let path = &RunFolder::weights_at(path)?;
    if path.extension().is_some_and(|end| end == "safetensors") {
        let mut trained = weights::read(path)?;
        trained.experiment = trained.experiment.with_episodes_if_there(path)?;
        let machine = Machine::from(trained);
        // Its experiment may be that of a included machine: both stay to choose from.
        return Ok(OpenedFile::Machine(Box::new(Machine {
            title: format!("{} ({})", machine.title, RunFolder::name_of(path)),
            name: path.display().to_string(),
            ..machine
        })));
    }
    Ok(shown(trace::read_watched(path, watch)?))
}

/// What a file with a recording opens as.
pub(super) fn shown(imported: Imported) -> OpenedFile {
    let config = Some(imported.config);
    let shown = RecordedEpisode {
        sha256: imported.sha256,
        ..RecordedEpisode::of_file(imported.title, imported.recording, config)
    };
    shown.into()
}

/// Verifies a trace, where there is memory for a second copy of it.
fn verified(path: &Path, watch: ProgressCallback<'_>) -> Result<Verdict, String> {
    let imported = trace::read_watched(path, watch).map_err(|error| error.to_string())?;
    let steps = imported.recording.episode.steps();
    let bytes = Demand::Recording.bytes(&imported.config, steps);
    memory_limit::claim(bytes, 0).map_err(|short| format!("Verifying it {short}."))?;
    Ok(trace::verify(&imported, TOLERANCE).into())
}

/// Describes the place of a written file: on disk, or downloaded by the user.
fn handed_over(what: &str, path: &Path) -> String {
    let Some(bytes) = memory_files::remove(path) else {
        return format!("The {what} is saved as {}.", path.display());
    };
    let name = file_name(path);
    platform::hand_over(&name, &bytes);
    format!("The {what} is downloaded as {name}.")
}

/// Writes the result of a run, where there are no folders.
fn save_machine(
    path: &Path,
    experiment: &Experiment,
    command: String,
    state: &State,
) -> Result<String, String> {
    let path = path.with_extension("safetensors");
    let trained = Trained {
        experiment: experiment.clone(),
        machine: state.machines[0].clone(),
        evaluation: None,
        history: state.history.clone(),
        changes: state.changes.clone(),
        command,
    };
    weights::write(&path, &trained).map_err(|error| error.to_string())?;
    Ok(handed_over("machine", &path))
}

/// Returns the command line that begins the same run. The path of your own preset is unknown here: then it returns a
/// description of the run.
fn begins(experiment: &Experiment) -> String {
    let (name, seed) = (&experiment.name, experiment.training.seed.to_string());
    let Some(differs) = experiment.overrides_from_included() else {
        return format!("tapescope, in the window: {name}, seed {seed}");
    };
    let own = ["learn", name, "--seed", &seed].map(str::to_owned);
    let differs = differs.iter().filter(|set| set.path != "training.seed");
    let differs = differs.flat_map(|set| ["--set".to_owned(), set.to_string()]);
    shell::command(&own.into_iter().chain(differs).collect::<Vec<_>>())
}

/// Writes a run into a folder as training does; true where it can go on from there.
fn write_run(
    folder: &Path,
    experiment: &Experiment,
    command: &str,
    run_state: &RunState,
    replaces: bool,
) -> Result<bool, Error> {
    let state = &run_state.state;
    let mut run = RunFolder::create_from(folder, experiment, command, state, None, replaces)?;
    run.keep_snapshots(&run_state.snapshots)?;
    run.save_best_or_last(state)?;
    let is_active = run_state.keeps_weights && state.sequences < experiment.training.sequences;
    if is_active {
        run.take_place()?;
    } else {
        run.finish()?;
    }
    Ok(is_active)
}

/// Loads the run of a folder, if it has training snapshots.
fn loaded_run(folder: &Path) -> Result<Option<LoadedRun>, Error> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let Some((log, snapshots)) = RunFolder::log_and_snapshots(folder)? else {
        return Ok(None);
    };
    if snapshots.all().is_empty() {
        return Ok(None);
    }
    let of = log.experiment.training.sequences;
    let task_since = log.experiment.task_since(&log.changes);
    let is_finished = log.is_finished();
    let experiment = log.experiment.with_episodes_if_there(&folder.join("log"))?;
    // Without the file of its episodes only the machine opens, for your own input.
    if experiment.task.held_out() == Some(0) {
        return Ok(None);
    }
    Ok(Some(LoadedRun {
        name: file_name(folder),
        is_finished,
        experiment,
        progress: RunProgress::of_file(of, log.points, (log.changes, task_since), snapshots),
    }))
}

impl From<Trained> for Machine {
    fn from(trained: Trained) -> Self {
        let now = trained.now();
        // Computed here, behind the window.
        now.task.summary();
        Self {
            other_way: preset::section(&now.name).map(|section| (section, now.description)),
            name: now.name,
            title: now.title,
            task: now.task,
            ntm: trained.machine,
            away: false,
        }
    }
}

/// The included machines, in the binary or next to the page, and the first of them before training.
pub fn included_machines() -> Vec<Machine> {
    let included = weights::included_names().filter_map(included_machine);
    let mut machines: Vec<_> = included.collect();
    let untrained = machines.first().map(|first| Machine {
        name: Machine::UNTRAINED.to_owned(),
        title: format!("{}, untrained", first.title),
        other_way: None,
        ntm: Model::new(first.ntm.config.clone(), 1),
        ..first.clone()
    });
    machines.extend(untrained);
    machines
}

/// The included machine of this name.
pub fn included_machine(name: &str) -> Option<Machine> {
    // Weights that cannot be read are fetched, and what is wrong with them is shown, when the machine is chosen.
    if let Some(Ok(trained)) = weights::included(name) {
        return Some(trained.into());
    }
    // Until then its initial weights are in their place.
    let experiment = Experiment::included(name, &[])?.ok()?;
    let ntm = Model::new(experiment.model.clone(), experiment.training.seed);
    Some(Machine {
        other_way: preset::section(name).map(|section| (section, experiment.description.clone())),
        away: true,
        ..Machine::of(&experiment, ntm)
    })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::io::preset::ablations;
    use crate::learn::Snapshots;
    use crate::train::Trainer;

    #[test]
    fn run_command_contains_seed_and_overrides() {
        let copy = |set: &[&str]| {
            let set: Vec<_> = set.iter().map(|text| text.parse().unwrap()).collect();
            Experiment::included("copy", &set).unwrap().unwrap()
        };
        assert_eq!(begins(&copy(&[])), "tapescope learn copy --seed 1");
        let changed = copy(&["training.seed=7", "task.length=[1,5]"]);
        assert_eq!(
            begins(&changed),
            "tapescope learn copy --seed 7 --set 'task.length=[1,5]'"
        );
        let variants = ablations(&changed).variants;
        let no_gate = variants.iter().find(|one| one.name == "no gate").unwrap();
        let command = begins(&no_gate.experiment);
        assert!(command.contains("--seed 7 "), "{command}");
        assert!(command.contains("attention.gate="), "{command}");
        let name = "mine".to_owned();
        let mine = Experiment { name, ..copy(&[]) };
        assert_eq!(begins(&mine), "tapescope, in the window: mine, seed 1");
    }

    #[test]
    fn a_run_replaces_another_one_with_weights_before_its_first_validation() {
        let place = tempfile::tempdir().unwrap();
        for (replaces, seed) in [(false, 1), (true, 2)] {
            let set = format!("training.seed={seed}").parse().unwrap();
            let experiment = Experiment::included("copy", &[set]).unwrap().unwrap();
            let run_state = RunState {
                state: State::new(experiment.model.clone(), &experiment.training),
                snapshots: Snapshots::new(0),
                keeps_weights: true,
            };
            let said = Disk.save_run(place.path(), &experiment, &run_state, replaces);
            assert!(said.is_ok(), "{said:?}");
            let weights = weights::read(&RunFolder::weights_at(place.path()).unwrap()).unwrap();
            assert_eq!(weights.experiment, experiment);
        }
    }

    #[test]
    fn a_run_with_snapshots_opens_as_its_machine_without_the_file_of_its_task() {
        let place = tempfile::tempdir().unwrap();
        let [preset, text, run] = ["t.json", "t.txt", "run"].map(|name| place.path().join(name));
        let task = r#"{"task": {"kind": "text", "file": "t.txt"}, "model": {"memory": {"rows": 4, "columns": 3}}}"#;
        std::fs::write(&preset, task).unwrap();
        std::fs::write(&text, "the cat\na dog\n".repeat(5)).unwrap();
        let experiment = Experiment::read(&preset, &[]).unwrap();
        let state = State::new(experiment.model.clone(), &experiment.training);
        let (task, training) = (experiment.task.clone(), experiment.training.clone());
        let trainer = Trainer::resume(task, training, state, 1);
        let mut snapshots = Snapshots::default();
        snapshots.keep(&trainer, None, None);
        let run_state = RunState {
            state: trainer.state,
            snapshots,
            keeps_weights: true,
        };
        Disk.save_run(&run, &experiment, &run_state, false).unwrap();
        let open = || opened(&run, &|_, _| ControlFlow::Continue(()));
        assert!(matches!(open(), Ok(OpenedFile::Run(_))));
        std::fs::remove_file(&text).unwrap();
        let Ok(OpenedFile::Machine(machine)) = open() else {
            panic!("{:?}", open().err());
        };
        assert_eq!(machine.task.held_out(), Some(0));
        assert!(machine.task.has_channels());
    }

    #[test]
    fn resume_command_is_valid_shell() {
        let place = std::env::temp_dir().join(format!("tapescope saved {}", std::process::id()));
        let experiment = Experiment::included("copy", &["training.sequences=20".parse().unwrap()]);
        let experiment = experiment.unwrap().unwrap();
        let state = State::new(experiment.model.clone(), &experiment.training);
        let snapshots = Snapshots::new(0);
        let run_state = RunState {
            state,
            snapshots,
            keeps_weights: true,
        };
        let said = Disk.save_run(&place, &experiment, &run_state, false);
        std::fs::remove_dir_all(&place).unwrap();
        let end = format!("tapescope train --resume '{}'", place.display());
        assert!(said.as_ref().unwrap().ends_with(&end), "{said:?}");
    }
}
