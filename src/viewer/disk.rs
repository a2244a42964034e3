//! Files as the command line knows them: weights and traces, through [`crate::io`].

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::files::{Answer, Fetched, Files, Kept, Machine, Opened, Shown, Watch, file_name};
use crate::io::{
    Error, Experiment, RunFolder, Trained, held, picture, preset, run, shell, trace, weights,
};
use crate::learn::{Account, Handed};
use crate::model::Model;
use crate::platform::{self, HAS_FILES};
use crate::train::State;

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn open(&self, path: &Path) -> Result<Opened, String> {
        self.open_watched(path, &|_, _| ControlFlow::Continue(()))
    }

    fn open_watched(&self, path: &Path, watch: Watch<'_>) -> Result<Opened, String> {
        if let Some(run) = kept(path).map_err(|error| error.to_string())? {
            return Ok(Opened::Run(Box::new(run)));
        }
        let path = &RunFolder::weights_at(path).map_err(|error| error.to_string())?;
        if path.extension().is_some_and(|end| end == "safetensors") {
            let mut trained = weights::read(path).map_err(|error| error.to_string())?;
            let experiment = trained.now().with_episodes(path);
            trained.experiment = experiment.map_err(|error| error.to_string())?;
            let mut machine = Machine::from(trained);
            let file = RunFolder::name_of(path);
            // Its experiment may be that of a shipped machine: both stay to choose from.
            machine.title = format!("{} ({file})", machine.title);
            machine.name = path.display().to_string();
            return Ok(Opened::Machine(Box::new(machine)));
        }
        let imported = trace::read_watched(path, watch).map_err(|error| error.to_string())?;
        let config = Some(imported.config);
        Ok(Opened::Trace(Box::new(Shown {
            sha256: imported.sha256,
            ..Shown::of_file(imported.title, imported.recording, config)
        })))
    }

    fn save_trace(&self, path: &Path, shown: &Shown) -> Result<String, String> {
        let Some(config) = &shown.config else {
            return Err(format!(
                "{}: cannot be written: nothing is known about the machine of this episode",
                path.display()
            ));
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
        Ok(handed_over("figure", path))
    }

    fn save_run(
        &self,
        folder: &Path,
        experiment: &Experiment,
        handed: &Handed,
        replaces: bool,
    ) -> Result<String, String> {
        let command = begins(experiment);
        if !HAS_FILES {
            return save_machine(folder, experiment, command, &handed.state);
        }
        let goes_on = write_run(folder, experiment, &command, handed, replaces)
            .map_err(|error| error.to_string())?;
        let (resume, eval) = (
            shell::resume(folder),
            shell::command(&[OsStr::new("eval"), folder.as_os_str()]),
        );
        let folder = folder.display();
        Ok(match (goes_on, handed.keeps_weights) {
            (true, _) => format!("The run is in {folder}. To go on, without a window: {resume}"),
            (false, true) => {
                format!("The run is in {folder}, finished. How well it answers: {eval}")
            }
            (false, false) => format!(
                "The run is in {folder} as it was before it went wrong: its best weights and its moments. How well they answer: {eval}"
            ),
        })
    }

    fn choose(&self, save: bool, suggestion: &str, answer: Answer) {
        platform::choose(save, suggestion, |chosen| {
            if let Some(chosen) = chosen {
                answer.chosen(chosen);
            }
        });
    }

    fn fetch(&self, name: &str, answer: Fetched) {
        let (address, title) = (weights::address(name), name.to_owned());
        platform::fetch(&weights::address(name), move |bytes| {
            let trained = bytes.and_then(|bytes| {
                weights::from_bytes(&bytes, &address).map_err(|error| error.to_string())
            });
            let why = |said| format!("The machine {title} is not here: {said}");
            answer(trained.map(Machine::from).map_err(why));
        });
    }

    fn keep(&self, path: PathBuf, bytes: Vec<u8>) {
        held::keep(path, bytes);
    }
}

/// Says where a file is that was written: in its place, or with the person, who gets what is held of it.
fn handed_over(what: &str, path: &Path) -> String {
    let Some(bytes) = held::take(path) else {
        return format!("The {what} is in {}.", path.display());
    };
    let name = file_name(path);
    platform::hand_over(&name, &bytes);
    format!("The {what} is downloaded: {name}.")
}

/// Writes what a run has come to, where there are no folders.
fn save_machine(
    path: &Path,
    experiment: &Experiment,
    command: String,
    state: &State,
) -> Result<String, String> {
    let path = path.with_extension("safetensors");
    let trained = Trained {
        experiment: experiment.clone(),
        machine: state.machine.clone(),
        evaluation: None,
        history: state.history.clone(),
        changes: state.changes.clone(),
        command,
    };
    weights::write(&path, &trained).map_err(|error| error.to_string())?;
    Ok(handed_over("machine", &path))
}

/// The command line that begins the same run. Of a preset of one's own nobody knows here where its file is: then it is
/// said what has begun.
fn begins(experiment: &Experiment) -> String {
    let (name, seed) = (&experiment.name, experiment.training.seed.to_string());
    let Some(differs) = experiment.differs_by() else {
        return format!("tapescope, in the window: {name}, seed {seed}");
    };
    let own = ["learn", name, "--seed", &seed].map(str::to_owned);
    let differs = differs.iter().filter(|set| set.path() != "training.seed");
    let differs = differs.flat_map(|set| ["--set".to_owned(), set.to_string()]);
    shell::command(&own.into_iter().chain(differs).collect::<Vec<_>>())
}

/// Writes a run into a folder as training does; true where it can go on from there.
fn write_run(
    folder: &Path,
    experiment: &Experiment,
    command: &str,
    handed: &Handed,
    replaces: bool,
) -> Result<bool, Error> {
    let Handed {
        state,
        snapshots,
        keeps_weights,
    } = handed;
    let mut run = RunFolder::create_from(folder, experiment, command, state, None, replaces)?;
    run.keep_snapshots(snapshots)?;
    let goes_on = *keeps_weights && state.sequences < experiment.training.sequences;
    if goes_on {
        run.take_place()?;
    } else {
        run.finish()?;
    }
    Ok(goes_on)
}

/// The run of a folder, where that keeps what its machine was.
fn kept(folder: &Path) -> Result<Option<Kept>, Error> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let Some((experiment, snapshots)) = RunFolder::snapshots_at(folder)? else {
        return Ok(None);
    };
    if snapshots.all().is_empty() {
        return Ok(None);
    }
    let experiment = experiment.with_episodes(&folder.join("log"))?;
    let log = run::log_at(folder)?;
    let is_finished = log.is_finished();
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    let name = name.to_string_lossy().into_owned();
    let of = log.experiment.training.sequences;
    let task_since = log.experiment.task_since(&log.changes);
    Ok(Some(Kept {
        name,
        experiment,
        account: Account::of_file(of, log.points, (log.changes, task_since), snapshots),
        resume: (!is_finished).then(|| shell::resume(folder)),
    }))
}

impl From<Trained> for Machine {
    fn from(trained: Trained) -> Self {
        Self {
            other_way: preset::is_other_way(&trained.experiment.name)
                .then_some(trained.experiment.description),
            name: trained.experiment.name,
            title: trained.experiment.title,
            task: trained.experiment.task,
            ntm: trained.machine,
            away: false,
        }
    }
}

/// The machines inside the binary or beside the page, and the first of them as it was before it learned anything.
pub fn shipped() -> Vec<Machine> {
    // Weights that cannot be read are fetched, and what is wrong with them is shown, when the machine is chosen.
    let machine = |name: &str| match weights::included(name) {
        Some(Ok(trained)) => Some(trained.into()),
        _ => away(name),
    };
    let mut machines: Vec<_> = weights::shipped_names().filter_map(machine).collect();
    let untrained = machines.first().map(|first| Machine {
        name: Machine::UNTRAINED.to_owned(),
        title: format!("{}, untrained", first.title),
        other_way: None,
        away: false,
        task: first.task.clone(),
        ntm: Model::new(first.ntm.config.clone(), 1),
    });
    machines.extend(untrained);
    machines
}

/// A machine whose weights lie beside the page: in their place stand those that it began with.
fn away(name: &str) -> Option<Machine> {
    let experiment = Experiment::built_in(name, &[])?.ok()?;
    let other_way = preset::is_other_way(name).then_some(experiment.description);
    Some(Machine {
        name: experiment.name,
        title: experiment.title,
        other_way,
        task: experiment.task,
        ntm: Model::new(experiment.model, experiment.training.seed),
        away: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::preset::ablations;
    use crate::learn::Snapshots;

    #[test]
    fn the_command_of_a_run_says_its_seed_and_all_that_differs_from_the_preset() {
        let copy = |set: &[&str]| {
            let set: Vec<_> = set.iter().map(|text| text.parse().unwrap()).collect();
            Experiment::built_in("copy", &set).unwrap().unwrap()
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
    fn the_command_that_goes_on_with_a_saved_run_can_be_typed_as_it_stands() {
        let place = std::env::temp_dir().join(format!("tapescope saved {}", std::process::id()));
        let experiment = Experiment::built_in("copy", &["training.sequences=20".parse().unwrap()]);
        let experiment = experiment.unwrap().unwrap();
        let state = State::new(experiment.model.clone(), &experiment.training);
        let snapshots = Snapshots::new(0);
        let handed = Handed {
            state,
            snapshots,
            keeps_weights: true,
        };
        let said = Disk.save_run(&place, &experiment, &handed, false);
        std::fs::remove_dir_all(&place).unwrap();
        let end = format!("tapescope train --resume '{}'", place.display());
        assert!(said.as_ref().unwrap().ends_with(&end), "{said:?}");
    }
}
