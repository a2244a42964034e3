//! What learns is saved, or ends: nothing that took a while is lost without asking.

use std::path::PathBuf;

use crate::learn::Order;
use crate::viewer::command::Subject;
use crate::viewer::files::Aim;
use crate::viewer::state::State;
use crate::viewer::state::dialog::Dialog;
use crate::viewer::state::learning::{Ending, Instead, Learning};
use crate::viewer::state::messages::Kind;
use crate::viewer::state::work::{Destination, Effect, Saved, Saving, Teach};

impl State {
    /// What learns ends for this, or the person is asked what becomes of it first.
    pub(super) fn end_for(&mut self, instead: Instead) {
        if !self.learning.as_ref().is_some_and(Learning::is_unsaved) {
            return self.replace(instead);
        }
        let (saves, next) = (false, None);
        self.ending = Some(Ending {
            instead,
            saves,
            next,
        });
        self.dialog = Some(Dialog::about(Subject::Ending, self.suggestion(Aim::Run)));
    }

    /// What was to end goes on.
    pub(super) fn go_on(&mut self) {
        self.ending = None;
    }

    /// The run on screen waits and is saved; then what was asked for is done.
    pub(super) fn save_and_end(&mut self, path: PathBuf) {
        self.dialog = None;
        let is_saving = |learning: &Learning| learning.saving.is_some();
        let waits = self.learning.as_ref().is_some_and(is_saving);
        if let Some(ending) = &mut self.ending {
            (ending.saves, ending.next) = (true, waits.then(|| path.clone()));
        }
        if let Some(learning) = self.learning.as_mut().filter(|learning| learning.goes) {
            learning.goes = false;
            let effect = learning.order(Order::Pause);
            self.effects.push(effect);
        }
        self.save_run(path, false);
    }

    /// What was asked for is done, whatever is lost.
    pub(super) fn end_now(&mut self) {
        if let Some(Ending { instead, .. }) = self.ending.take() {
            self.dialog = None;
            self.replace(instead);
        }
    }

    /// Writes the run on screen.
    pub(super) fn save_run(&mut self, path: PathBuf, replaces: bool) {
        let learning = self.learning.as_mut();
        let Some(learning) = learning.filter(|learning| learning.saving.is_none()) else {
            return;
        };
        let run = learning.run();
        if !run.can_be_saved() {
            let text = "Nothing was saved: the weights of this run are no longer any good, and there was no validation before. Begin again.";
            self.ending = None;
            return self.toasts.add(Kind::Problem, text);
        }
        let saving = Saving {
            place: learning.chosen,
            number: run.number,
            experiment: run.begun.clone(),
            to: Destination {
                path,
                replaces,
                aim: Aim::Run,
            },
        };
        learning.saving = Some(saving.number);
        self.effects
            .push(Effect::Teach(Teach::Save(Box::new(saving))));
    }

    /// The run with this number is not being written any more; true where it was the one that is waited for.
    fn leaves_saving(&mut self, number: u64) -> bool {
        let learning = self.learning.as_mut();
        let saving = learning.map(|learning| &mut learning.saving);
        let waited_for = saving.filter(|saving| **saving == Some(number));
        waited_for.is_some_and(|saving| saving.take().is_some())
    }

    /// The run with this number could not be written.
    pub(super) fn run_is_not_saved(&mut self, number: u64, sentence: String) {
        if self.leaves_saving(number) {
            self.go_on();
        }
        self.toasts.add(Kind::Problem, sentence);
    }

    /// There is a folder where the run with this number was to be written.
    pub(super) fn run_is_there(&mut self, number: u64, to: &Destination) {
        if self.leaves_saving(number) {
            self.ask_to_replace(to);
        } else {
            self.say_left_alone(to);
        }
    }

    /// So much of the run with this number is on the disk.
    pub(super) fn run_is_saved(&mut self, number: u64, saved: Saved) {
        let was_waited_for = self.leaves_saving(number);
        let runs = self.learning.iter_mut().flat_map(|all| &mut all.runs);
        for run in runs.filter(|run| run.number == number) {
            run.saved = saved;
        }
        let ending = self.ending.as_mut();
        let Some(ending) = ending.filter(|ending| was_waited_for && ending.saves) else {
            return;
        };
        match ending.next.take() {
            // What was written is what it was before.
            Some(path) => self.save_run(path, false),
            None => self.end_now(),
        }
    }
}
