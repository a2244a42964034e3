//! What learns is saved, or ends: nothing that took a while is lost without asking.

use std::path::PathBuf;

use crate::learn::Order;
use crate::viewer::command::{Command, Learn, Subject};
use crate::viewer::files::Aim;
use crate::viewer::state::State;
use crate::viewer::state::dialog::Dialog;
use crate::viewer::state::learning::{Ending, Learning, Saved, Saving, Teach};
use crate::viewer::state::messages::Kind;
use crate::viewer::state::work::{Destination, Effect, Outcome};

/// True for what ends whatever learns.
fn ends(command: &Command) -> bool {
    match command {
        Command::Done(outcome) => matches!(outcome, Outcome::Run(..)),
        Command::Learn(learn) => matches!(
            learn,
            Learn::Again
                | Learn::NextSeed
                | Learn::Preset(_)
                | Learn::Begin(_)
                | Learn::BeginNamed(_)
                | Learn::Seeds(_)
                | Learn::Ablate
                | Learn::Leave
                | Learn::Close
        ),
        _ => false,
    }
}

impl State {
    /// True, with a question, where a command would end what is not saved.
    pub(super) fn asks_first(&mut self, command: &Command) -> bool {
        let is_unsaved = self.learning.as_ref().is_some_and(Learning::is_unsaved);
        let asks = is_unsaved && ends(command);
        if asks {
            let (command, saves) = (Box::new(command.clone()), false);
            self.ending = Some(Ending { command, saves });
            self.dialog = Some(Dialog::about(Subject::Ending, self.suggestion(Aim::Run)));
        }
        asks
    }

    /// What was to end goes on.
    pub(super) fn go_on(&mut self) {
        self.ending = None;
    }

    /// The run on screen waits and is saved; then what was asked for is done.
    pub(super) fn save_and_end(&mut self, path: PathBuf) {
        self.dialog = None;
        if let Some(ending) = &mut self.ending {
            ending.saves = true;
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
        let Some(Ending { command, .. }) = self.ending.take() else {
            return;
        };
        self.dialog = None;
        self.give_up(true);
        self.act(*command);
        // It may have been refused.
        self.give_up(false);
    }

    fn give_up(&mut self, given_up: bool) {
        if let Some(learning) = &mut self.learning {
            learning.given_up = given_up;
        }
    }

    /// Writes the run on screen.
    pub(super) fn save_run(&mut self, path: PathBuf, replaces: bool) {
        let learning = self.learning.as_mut();
        let Some(learning) = learning.filter(|learning| learning.saving.is_none()) else {
            return;
        };
        let run = learning.run();
        if !run.keeps_weights() {
            let text =
                "Nothing was saved: the weights of this run are no longer any good. Begin again.";
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

    /// Nothing is written any more.
    pub(super) fn run_is_not_saved(&mut self) {
        if let Some(learning) = &mut self.learning {
            learning.saving = None;
        }
    }

    /// So much of the run with this number is on the disk.
    pub(super) fn run_is_saved(&mut self, number: u64, saved: Saved) {
        self.run_is_not_saved();
        let runs = self.learning.iter_mut().flat_map(|all| &mut all.runs);
        for run in runs.filter(|run| run.number == number) {
            run.saved = saved;
        }
        if self.ending.as_ref().is_some_and(|ending| ending.saves) {
            self.end_now();
        }
    }
}
