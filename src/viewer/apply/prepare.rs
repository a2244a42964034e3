//! Runs before they train: new ones, saved ones, and those that a killed program left.

use std::path::PathBuf;

use crate::io::recovery::{self, RecoverableRun, Recovery};
use crate::io::{Experiment, RunStart, memory_limit};
use crate::learn::Snapshots;
use crate::train::{self, Demand};
use crate::viewer::command::{DialogCommand, Subject};
use crate::viewer::state::{
    Context, Job, Kind, NamedExperiment, RunView, Saved, State, file_name, landmarks,
};

/// A run that is ready to begin: its view and its initial state.
pub(super) type PreparedRun = (RunView, RunStart);
/// Such runs, and recoverable ones that cannot be read, with the reason as their label.
type Prepared = (Vec<PreparedRun>, Vec<RecoverableRun>);

impl State {
    /// Prepares runs, and begins them; recoverable ones that cannot be read are left, with the reason as their label.
    fn prepare(
        &mut self,
        words: impl Into<String>,
        work: impl AsyncFnOnce(Context<'_>) -> Result<Prepared, String> + Send + 'static,
    ) {
        let then = |state: &mut Self, prepared| {
            state.replace_episode(|state| state.prepared(prepared));
        };
        self.start(Job::new(words, work, then));
    }

    /// Prepares these experiments, to start them from scratch.
    pub(super) fn begin_learning(&mut self, named: Vec<NamedExperiment>) {
        if named.is_empty() {
            return;
        }
        self.prepare("Preparing training", async move |_| {
            let (count, mut experiments) = (named.len(), named.iter());
            experiments.try_for_each(|(_, experiment)| check_training(experiment, count))?;
            Ok((named.into_iter().map(begun).collect(), Vec::new()))
        });
    }

    /// Continues the saved run on screen from its last checkpoint.
    pub(super) fn continue_run(&mut self) {
        let learning = self.learning.as_ref();
        let saved = learning.and_then(|learning| learning.read_only.as_ref());
        let Some(saved) = saved.filter(|saved| !saved.is_finished) else {
            return;
        };
        let folder = saved.folder.clone();
        let words = format!("Reading {}", file_name(&folder));
        self.prepare(words, async move |context| {
            let start = context.files.saved_state(&folder)?;
            check_training(&start.experiment, 1)?;
            let (mut view, start) = prepared(Some(file_name(&folder)), start);
            (view.saved, view.folder) = (Saved::of(&start.state), Some(folder));
            Ok((vec![(view, start)], Vec::new()))
        });
    }

    /// Reads the runs in these folders, to continue their training.
    pub(super) fn recover(&mut self, folders: Vec<PathBuf>) {
        self.dialog = None;
        let is_left = |run: &RecoverableRun| !folders.contains(&run.folder);
        self.recoverable.retain(is_left);
        self.prepare("Reading runs", async move |_| Ok(recovered(&folders)));
    }

    /// Computes the reference levels of the run with this number.
    pub(super) fn find_levels(&mut self, number: u64, experiment: Experiment) {
        let work = async move |_: Context<'_>| Ok(landmarks(&experiment));
        let then = move |state: &mut Self, levels| {
            let runs = state.learning.iter_mut().flat_map(|all| &mut all.runs);
            let of_it = runs.filter(|run| run.number == number);
            of_it.for_each(|run| run.landmarks.clone_from(&levels));
        };
        self.start(Job::new("Computing reference levels", work, then));
    }

    /// Finds the runs in the recovery folder that a killed program left.
    pub fn find_recoverable(&mut self, root: PathBuf) {
        let work = async move |_: Context<'_>| Ok(recovery::recoverable(&root));
        self.start(Job::new("Reading runs", work, Self::offer_recovery));
    }

    /// Shows the runs that a killed program left, if there are any.
    pub fn offer_recovery(&mut self, runs: Vec<RecoverableRun>) {
        self.recoverable = runs;
        if !self.recoverable.is_empty() && self.dialog.is_none() {
            self.change_dialog(DialogCommand::For(Subject::Recovery));
        }
    }

    /// Begins these runs; recoverable ones that cannot be read are left, with the reason.
    fn prepared(&mut self, (runs, left): Prepared) {
        for run in &left {
            self.toasts.add(Kind::Problem, run.label.clone());
        }
        self.recoverable.extend(left);
        if !runs.is_empty() {
            self.start_runs(runs);
        }
    }

    /// Removes one of them.
    pub(super) fn discard_recoverable(&mut self, place: usize) {
        if place < self.recoverable.len() {
            let run = self.recoverable.remove(place);
            let work = async move |_: Context<'_>| {
                recovery::discard(&run.folder).map_err(|error| error.to_string())?;
                Ok(format!("Discarded: {}.", run.label))
            };
            self.start(Job::new("Removing a run", work, Self::confirm).awaited());
            self.change_dialog(DialogCommand::For(Subject::Recovery));
        }
    }
}

/// A run before its first update.
fn begun((name, experiment): NamedExperiment) -> PreparedRun {
    let start = RunStart {
        begun: experiment.clone(),
        state: train::State::new(experiment.model.clone(), &experiment.training),
        experiment,
        snapshots: None,
    };
    prepared(name, start)
}

/// Prepares a run for training.
fn prepared(name: Option<String>, start: RunStart) -> PreparedRun {
    let machine = start.state.machines[0].clone();
    let view = RunView {
        begun: start.begun.clone(),
        landmarks: landmarks(&start.experiment),
        ..RunView::new(name, start.experiment.clone(), machine)
    };
    (view, start)
}

/// Reads runs that a killed program left, and holds their folders.
fn recovered(folders: &[PathBuf]) -> Prepared {
    let (mut runs, mut left) = (Vec::new(), Vec::new());
    for folder in folders {
        let opened = Recovery::open(folder).map_err(|error| error.to_string());
        let opened = opened.and_then(|(recovery, start)| {
            check_training(&start.experiment, folders.len())?;
            let (view, start) = prepared(None, start);
            let recovery = Some(recovery);
            Ok((RunView { recovery, ..view }, start))
        });
        let folder = folder.clone();
        match opened {
            Ok(run) => runs.push(run),
            Err(label) => left.push(RecoverableRun { folder, label }),
        }
    }
    (runs, left)
}

/// The number of threads of each of `count` machines that train at the same time: a single one has all processors,
/// several have one each, and take turns.
pub fn learning_threads(count: usize) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if count > 1 { 1 } else { all() }
}

/// Checks that training this number of runs side by side does not take too much memory.
pub fn check_training(experiment: &Experiment, count: usize) -> Result<(), String> {
    let (batch, steps) = (experiment.training.batch, experiment.task.longest());
    let threads = learning_threads(count).min(batch);
    let demand = Demand::Training {
        batch,
        samples: experiment.training.hard.samples as usize,
        threads,
        machines: experiment.training.machines(),
    };
    let demand = demand.of_task(&experiment.model, &experiment.task);
    let snapshots = (Snapshots::LIMIT / count) as u64;
    let bytes = (demand + snapshots).saturating_mul(count as u64);
    memory_limit::claim(bytes, threads).map_err(|short| {
        let (title, rows) = (&experiment.title, experiment.model.rows());
        format!(
            "{title} cannot be trained here: training on {steps} steps of a memory of {rows} rows, in batches of {batch}, {short}. Use shorter episodes, fewer rows or a smaller batch."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::command::{Command, Learn, Replacement};
    use crate::viewer::fixture::{begin, config, copying, machine, work};
    use crate::viewer::state::{Effect, Settings, StartOptions};

    #[test]
    fn training_is_prepared_by_the_worker() {
        let machines = vec![machine(config(), copying(1..=2))];
        let (settings, start) = (Settings::default(), StartOptions::default());
        let mut state = State::new(machines, Some(1), settings, start, None);
        let experiment = Experiment::find("copy", &[]).unwrap();
        let effects = state.apply(Replacement::Begin(vec![(None, experiment.clone())]).into());
        let prepares = |job: &Job| job.pending.words == "Preparing training";
        assert!(matches!(&effects[..], [Effect::Start(job)] if prepares(job)));
        assert!(state.learning.is_none() && state.session.machines.len() == 1);
        begin(&mut state, experiment);
        assert!(state.learning.is_some() && state.session.machines.len() == 2);
    }

    #[test]
    fn reference_levels_after_a_change_are_computed_by_the_worker() {
        let machines = vec![machine(config(), copying(1..=2))];
        let (settings, start) = (Settings::default(), StartOptions::default());
        let mut state = State::new(machines, Some(1), settings, start, None);
        begin(&mut state, Experiment::find("copy", &[]).unwrap());
        let levels = |state: &State| state.learning.as_ref().unwrap().run().landmarks.clone();
        let before = levels(&state);
        assert!(!before.is_empty());
        let change = Learn::Change(vec!["task.length=[1,2]".to_owned()]);
        let effects = state.apply(Command::Learn(change));
        assert_eq!(levels(&state), before);
        work(&mut state, effects);
        assert!(levels(&state)[0].0 < before[0].0);
    }
}
