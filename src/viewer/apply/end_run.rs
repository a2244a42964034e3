//! Saving and ending of runs: long training is never discarded without asking.

use std::path::{Path, PathBuf};

use super::write::{free_path, writing};
use crate::learn::{RunCommand, RunState};
use crate::viewer::command::Subject;
use crate::viewer::state::{
    Context, Destination, Dialog, EndRequest, FilePurpose, Job, Kind, Replacement, Saved, Saving,
    State, TrainingAction, file_name,
};

impl Saving {
    /// Creates the job that writes the run in this state.
    pub fn job(self, run_state: RunState) -> Job {
        let (number, renames, mut to) = (self.number, self.renames, self.to.clone());
        to.replaces |= renames;
        let save = async move |context: Context<'_>, mut path: PathBuf| {
            let (files, experiment, replaces) = (context.files, &self.experiment, self.to.replaces);
            if renames {
                path = free_path(files, FilePurpose::Run, &path);
            }
            let sentence = files.save_run(&path, experiment, &run_state, replaces)?;
            Ok((number, Saved::of(&run_state.state), sentence))
        };
        let job = writing("Saving", to, Some(number), save, State::run_is_saved).awaited();
        job.or_else(move |state, why| state.run_is_not_saved(number, why))
    }
}

impl State {
    /// Ends training for a replacement, or first asks the user whether to save it.
    pub(super) fn request_end(&mut self, replacement: Replacement) {
        if !self.is_unsaved() {
            return self.replace(replacement);
        }
        let is_same = |ending: &EndRequest| ending.saves && ending.replacement == replacement;
        if self.ending.as_ref().is_some_and(is_same) {
            return;
        }
        self.ending = Some(EndRequest {
            replacement,
            saves: false,
            next: None,
        });
        let folder = self.suggest(FilePurpose::Run);
        self.dialog = Some(Dialog::about(Subject::EndRun, folder));
    }

    /// Pauses and saves the run on screen, then performs the requested command.
    pub(super) fn save_and_end(&mut self, path: PathBuf) {
        self.dialog = None;
        let learning = self.learning.as_ref();
        let waits = learning.is_some_and(|all| all.saving.is_some());
        if let Some(ending) = &mut self.ending {
            (ending.saves, ending.next) = (true, waits.then(|| path.clone()));
        }
        self.pause_training();
        self.save_run(path, false);
    }

    /// Saves each run beside this folder, under its own name or a free one, then performs the requested command.
    pub(super) fn save_all(&mut self, folder: &Path) {
        self.dialog = None;
        if let Some(ending) = &mut self.ending {
            (ending.saves, ending.next) = (true, None);
            self.pause_training();
        }
        let Some(learning) = &mut self.learning else {
            return;
        };
        let runs = learning.runs.iter().enumerate().rev();
        let runs = runs
            .filter(|(_, run)| run.can_be_saved())
            .map(|(place, run)| {
                let own = learning.folder_of(run);
                (place, folder.with_file_name(file_name(Path::new(&own))))
            });
        learning.queue = runs.collect();
        if learning.saving.is_none() && !self.save_next() {
            self.ending = None;
            let text = "Nothing was saved: no run has usable weights.";
            self.toasts.add(Kind::Problem, text);
        }
    }

    /// Writes the next run of those to be written; false without one.
    fn save_next(&mut self) -> bool {
        let next = self.learning.as_mut().and_then(|all| all.queue.pop());
        next.is_some_and(|(place, path)| {
            self.write_run(Some(place), path, false);
            true
        })
    }

    fn pause_training(&mut self) {
        if let Some(learning) = self.learning.as_mut().filter(|all| all.is_training) {
            learning.is_training = false;
            self.effects.push(learning.order(RunCommand::Pause));
        }
    }

    /// Applies the replacement without saving.
    pub(super) fn end_now(&mut self) {
        if let Some(EndRequest { replacement, .. }) = self.ending.take() {
            self.dialog = None;
            self.replace(replacement);
        }
    }

    /// Writes the run on screen.
    pub(super) fn save_run(&mut self, path: PathBuf, replaces: bool) {
        self.write_run(None, path, replaces);
    }

    /// Writes the run in this place, under a free name; without a place the run on screen.
    fn write_run(&mut self, place: Option<usize>, path: PathBuf, replaces: bool) {
        let learning = self.learning.as_mut();
        let Some(learning) = learning.filter(|learning| learning.saving.is_none()) else {
            return;
        };
        let chosen = place.unwrap_or(learning.chosen);
        let run = &learning.runs[chosen];
        if !run.can_be_saved() {
            let text = "Nothing was saved: the weights of this run are not usable, and no earlier validation exists. Restart training.";
            self.ending = None;
            return self.toasts.add(Kind::Problem, text);
        }
        let saving = Saving {
            place: chosen,
            number: run.number,
            experiment: run.begun.clone(),
            to: Destination::new(path, replaces, FilePurpose::Run),
            renames: place.is_some(),
        };
        learning.saving = Some(saving.number);
        self.train(TrainingAction::Save(Box::new(saving)));
    }

    /// The run with this number is not being written any more; true where it was the one that is waited for.
    pub(super) fn finish_saving(&mut self, number: u64) -> bool {
        let learning = self.learning.as_mut();
        let waited_for = learning.filter(|all| all.saving == Some(number));
        waited_for.is_some_and(|all| all.saving.take().is_some())
    }

    /// The run with this number could not be written.
    fn run_is_not_saved(&mut self, number: u64, sentence: String) {
        self.stay_open();
        if self.finish_saving(number) {
            self.ending = None;
            self.learning.iter_mut().for_each(|all| all.queue.clear());
        }
        self.toasts.add(Kind::Problem, sentence);
    }

    /// Records the saved progress of the run with this number.
    fn run_is_saved(&mut self, (number, saved, sentence): (u64, Saved, String)) {
        self.toasts.add(Kind::Notice, sentence);
        let was_waited_for = self.finish_saving(number);
        let runs = self.learning.iter_mut().flat_map(|all| &mut all.runs);
        let mut runs = runs.enumerate();
        if let Some((place, run)) = runs.find(|(_, run)| run.number == number) {
            run.saved = saved;
            self.train(TrainingAction::Saved(place));
        }
        if was_waited_for && self.save_next() {
            return;
        }
        let is_unsaved = self.is_unsaved();
        let waits = |ending: &&mut EndRequest| was_waited_for && (ending.saves || !is_unsaved);
        let Some(ending) = self.ending.as_mut().filter(waits) else {
            return;
        };
        match ending.next.take() {
            Some(path) => self.save_run(path, false),
            None => self.end_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::io::Experiment;
    use crate::learn::Snapshots;
    use crate::train;
    use crate::viewer::command::{Command, Learn};
    use crate::viewer::fixture::{begin, config, copying, machine, perform};
    use crate::viewer::state::{Effect, Files, LiveTraining, Outcome, Settings, StartOptions};
    use crate::viewer::worker::Worker;

    /// Breaks off whatever it writes.
    #[derive(Debug)]
    struct Breaks;

    impl Files for Breaks {
        fn save_run(
            &self,
            _: &Path,
            _: &Experiment,
            _: &RunState,
            _: bool,
        ) -> Result<String, String> {
            panic!("the disk is on fire")
        }
    }

    /// A run is being written, and then the window is to be closed; its number.
    fn saving() -> (State, u64) {
        let machines = vec![machine(config(), copying(1..=2))];
        let (settings, start) = (Settings::default(), StartOptions::default());
        let mut state = State::new(machines, Some(1), settings, start, None);
        let experiment = Experiment::find("copy", &[]).unwrap();
        begin(&mut state, experiment);
        let number = state.learning.as_ref().map(|all| all.run().number);
        state.learning.as_mut().unwrap().saving = number;
        state.ending = Some(EndRequest {
            replacement: Replacement::Close,
            saves: true,
            next: None,
        });
        (state, number.unwrap())
    }

    #[test]
    fn late_save_does_not_affect_another_run() {
        let (mut state, first) = saving();
        state.ending = None;
        perform(&mut state, Replacement::Again.into());
        perform(&mut state, Command::Learn(Learn::EndUnsaved));
        let learning = state.learning.as_mut().unwrap();
        let second = learning.run().number;
        assert!(second != first && learning.saving.is_none());
        learning.saving = Some(second);
        state.ending = Some(EndRequest {
            replacement: Replacement::Close,
            saves: true,
            next: None,
        });
        state.receive(not_saved(first));
        assert!(is_saving(&state));
        state.receive(saved_as(first));
        assert!(is_saving(&state));
        let effects = state.receive(saved_as(second));
        let closes = |effect: &Effect| matches!(effect, Effect::Close);
        assert!(effects.iter().any(closes));
    }

    fn free() -> PathBuf {
        PathBuf::from("there-2")
    }

    fn destination(purpose: FilePurpose) -> Destination {
        Destination {
            path: PathBuf::from("there"),
            replaces: false,
            purpose,
        }
    }

    fn not_saved(number: u64) -> Outcome {
        Box::new(move |state| state.run_is_not_saved(number, "no".to_owned()))
    }

    fn is_there(purpose: FilePurpose, run: Option<u64>) -> Outcome {
        Box::new(move |state| state.is_there(run, destination(purpose), &free()))
    }

    fn is_saving(state: &State) -> bool {
        let saving = |learning: &LiveTraining| learning.saving.is_some();
        state.learning.as_ref().is_some_and(saving) && state.ending.is_some()
    }

    #[test]
    fn other_outcomes_do_not_affect_run_being_saved() {
        let (mut state, number) = saving();
        let failed = |state: &mut State| state.not_done(None, Kind::Problem, "no".to_owned());
        let others: [(&str, Outcome); 5] = [
            ("failed", Box::new(failed)),
            ("file is there", is_there(FilePurpose::Save, None)),
            ("run is there", is_there(FilePurpose::Run, Some(number + 1))),
            ("not saved", not_saved(number + 1)),
            ("saved", saved_as(number + 1)),
        ];
        for (description, other) in others {
            let effects = state.receive(other);
            assert!(is_saving(&state) && effects.is_empty(), "{description}");
        }
        let effects = state.receive(saved_as(number));
        let closes = |effect: &Effect| matches!(effect, Effect::Close);
        assert!(effects.iter().any(closes) && state.learning.is_none());
    }

    #[test]
    fn second_close_during_save_and_close_changes_nothing() {
        let (mut state, number) = saving();
        state.apply(Replacement::Close.into());
        assert!(state.dialog.is_none() && state.ending.as_ref().unwrap().saves);
        let closes = |effect: &Effect| matches!(effect, Effect::Close);
        assert!(state.receive(saved_as(number)).iter().any(closes));
        // A question that has answered itself goes away.
        let (mut state, number) = saving();
        state.ending = None;
        state.apply(Replacement::Close.into());
        assert!(state.dialog.is_some());
        assert!(state.receive(saved_as(number)).iter().any(closes));
        assert!(state.dialog.is_none());
    }

    fn saved_as(number: u64) -> Outcome {
        let saved = (number, Saved::default(), "saved".to_owned());
        Box::new(|state| state.run_is_saved(saved))
    }

    #[test]
    fn save_and_close_during_save_saves_again() {
        let (mut state, number) = saving();
        state.ending = None;
        state.apply(Replacement::Close.into());
        assert!(state.ending.is_some());
        let path = PathBuf::from("second");
        let effects = state.apply(Command::Learn(Learn::SaveAndEnd(path.clone())));
        let saves = |effects: &[Effect]| {
            effects.iter().any(|effect| {
                matches!(effect, Effect::Train(TrainingAction::Save(saving)) if saving.to.path == path)
            })
        };
        let closes = |effects: &[Effect]| {
            let mut effects = effects.iter();
            effects.any(|effect| matches!(effect, Effect::Close))
        };
        assert!(!saves(&effects) && !closes(&effects), "one at a time");
        let effects = state.receive(saved_as(number));
        assert!(
            saves(&effects) && !closes(&effects),
            "the older one is written"
        );
        assert!(closes(&state.receive(saved_as(number))));
    }

    #[test]
    fn save_that_breaks_off_ends_the_wait() {
        let (mut state, number) = saving();
        let experiment = Experiment::find("copy", &[]).unwrap();
        let run_state = RunState {
            state: train::State::new(experiment.model.clone(), &experiment.training),
            snapshots: Snapshots::new(0),
            keeps_weights: true,
        };
        let to = Destination::new(PathBuf::from("folder"), true, FilePurpose::Run);
        let saving = Saving {
            place: 0,
            number,
            experiment,
            to,
            renames: false,
        };
        let mut worker = Worker::here(Arc::new(Breaks));
        worker.start(saving.job(run_state));
        for outcome in worker.outcomes() {
            state.receive(outcome);
        }
        assert!(!worker.busy() && !is_saving(&state));
        assert_eq!(state.toasts.problems, 1);
    }

    #[test]
    fn failed_save_ends_wait_and_existing_folder_asks() {
        let (mut state, number) = saving();
        state.receive(not_saved(number));
        let learning = state.learning.as_ref().unwrap();
        assert!(learning.saving.is_none() && state.ending.is_none());
        let (mut state, number) = saving();
        state.receive(is_there(FilePurpose::Run, Some(number)));
        let learning = state.learning.as_ref().unwrap();
        assert!(learning.saving.is_none() && state.ending.is_some());
        let dialog = state.dialog.unwrap();
        assert_eq!(dialog.taken, Some(PathBuf::from("there")));
        assert_eq!(dialog.text, "there-2");
    }
}
