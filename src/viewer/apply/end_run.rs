//! Saving and ending of runs: long training is never discarded without asking.

use std::path::{Path, PathBuf};

use crate::learn::RunCommand;
use crate::viewer::command::Subject;
use crate::viewer::state::{
    Destination, Dialog, EndRequest, FilePurpose, Kind, Replacement, Saved, Saving, State,
    TrainingAction, file_name,
};

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
            to: Destination {
                path,
                replaces,
                purpose: FilePurpose::Run,
            },
            renames: place.is_some(),
        };
        learning.saving = Some(saving.number);
        self.train(TrainingAction::Save(Box::new(saving)));
    }

    /// The run with this number is not being written any more; true where it was the one that is waited for.
    fn finish_saving(&mut self, number: u64) -> bool {
        let learning = self.learning.as_mut();
        let waited_for = learning.filter(|all| all.saving == Some(number));
        waited_for.is_some_and(|all| all.saving.take().is_some())
    }

    /// The run with this number could not be written.
    pub(super) fn run_is_not_saved(&mut self, number: u64, sentence: String) {
        if self.finish_saving(number) {
            self.ending = None;
            self.learning.iter_mut().for_each(|all| all.queue.clear());
        }
        self.toasts.add(Kind::Problem, sentence);
    }

    /// Handles a file or folder that exists where one was to be written: that of the run with this number.
    pub(super) fn is_there(&mut self, run: Option<u64>, to: Destination, free: &Path) {
        let asks = run.is_none_or(|number| self.finish_saving(number)) && self.dialog.is_none();
        if asks {
            let text = free.display().to_string();
            self.dialog = Some(Dialog {
                taken: Some(to.path),
                ..Dialog::about(Subject::File(to.purpose), text)
            });
        } else {
            let path = to.path.display();
            let text = format!("{path} already exists; it was not changed. Choose another name.");
            self.toasts.add(Kind::Problem, text);
        }
    }

    /// Records the saved progress of the run with this number.
    pub(super) fn run_is_saved(&mut self, number: u64, saved: Saved) {
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
