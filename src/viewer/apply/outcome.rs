//! What the worker has done.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::figure::Derivatives;
use crate::viewer::command::Instead;
use crate::viewer::files::{Machine, Shown, file_name};
use crate::viewer::state::State;
use crate::viewer::state::episode::{Open, Wish};
use crate::viewer::state::messages::Kind;
use crate::viewer::state::work::{Outcome, Place, Sampled};
use crate::viewer::story;

impl State {
    pub(super) fn take_in(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Recorded(open) => self.recorded(*open),
            Outcome::Refused(wish, sentence) => {
                self.refuse(&wish);
                self.toasts.add(Kind::Problem, sentence);
            }
            Outcome::GivenUp(wish, sentence) => {
                wish.iter().for_each(|wish| self.refuse(wish));
                self.toasts.add(Kind::Notice, sentence);
            }
            Outcome::Picture(place, open) => self.drawn_small(place, open),
            Outcome::Sampled(wish, spread) => self.sampled(&wish, spread),
            Outcome::Derived(shown, mattered) => self.derived(&shown.0, mattered.0),
            Outcome::Weights(path, machine) => self.add(path, *machine),
            Outcome::Run(path, run) => self.end_for(Instead::LookBack(path, run)),
            Outcome::Trace(path, open) => self.show_file(path, *open),
            Outcome::Other(other) => self.take_other(*other),
            Outcome::Recent(files) => self.welcome.recent = files,
            Outcome::Compared(found) => self.compared(found),
            Outcome::IsThere(to) => self.ask_to_replace(&to),
            Outcome::RunIsThere(run, to) => self.run_is_there(run, &to),
            Outcome::Saved(sentence) => self.toasts.add(Kind::Done, sentence),
            Outcome::RunSaved(run, saved, sentence) => {
                self.toasts.add(Kind::Notice, sentence);
                self.run_is_saved(run, saved);
            }
            Outcome::RunNotSaved(run, sentence) => self.run_is_not_saved(run, sentence),
            Outcome::Failed(sentence) => self.toasts.add(Kind::Problem, sentence),
            Outcome::Chosen { aim, path } => self.chosen(aim, path, true),
            Outcome::Fetched(name, machine) => self.fetched(name, machine.ok()),
            Outcome::Outdated | Outcome::NotChosen => {}
        }
    }

    /// An episode; it may have come too late: something else was asked for, or shown, since.
    fn recorded(&mut self, open: Open) {
        if self.welcome.shown && self.shows_learner() {
            // It learns on behind the start page.
            self.pending.asked = false;
            self.show_learner();
        } else if self.pending.asked && open.wish.as_ref() == Some(&self.session.wish) {
            self.show(open);
        }
    }

    /// An episode that is shown small, if it could be recorded.
    fn drawn_small(&mut self, place: Place, open: Option<Box<Open>>) {
        let picture = open.map(|open| self.session.numbered(*open));
        match place {
            Place::Card(name) => drop(self.welcome.pictures.insert(name, picture)),
            Place::Run(number) => self.probed(number, picture),
        }
    }

    /// What many samples of the episode of this wish say.
    fn sampled(&mut self, wish: &Wish, spread: Sampled) {
        let is_it = |open: &&mut Open| {
            let own = open.wish.as_ref();
            own.is_some_and(|own| own.is_alike(wish))
        };
        if let Some(open) = self.session.open.as_mut().filter(is_it) {
            open.spread = Some(spread.0);
        }
    }

    /// How much everything in this episode mattered.
    fn derived(&mut self, shown: &Arc<Shown>, mattered: Arc<Derivatives>) {
        let fits = |open: &&mut Open| open.shown.is_of_the_same(shown);
        if let Some(open) = self.session.open.as_mut().filter(fits) {
            let (of, is_newest) = (mattered.of, Arc::ptr_eq(&open.shown, shown));
            open.mattered = Some(mattered);
            if !is_newest {
                // What learns has gone on meanwhile.
                self.work_out_what_mattered(of);
            }
        }
    }

    /// The episode that was asked for does not come.
    fn refuse(&mut self, wish: &Wish) {
        if *wish == self.session.wish {
            (self.pending.asked, self.pending.coming) = (false, None);
        }
        self.session.refuse(wish);
    }

    /// A machine from a file.
    fn add(&mut self, path: PathBuf, machine: Machine) {
        self.welcome.pictures.remove(&machine.name);
        self.leave_stop();
        self.session.add(machine);
        self.record_first();
        self.say_open(&path, "weights", 0);
        self.settings.opened(path);
    }

    /// An episode from a file.
    fn show_file(&mut self, path: PathBuf, open: Open) {
        let trace = &open.shown.recording.trace;
        let begin = &mut self.pending.begin;
        if let Err(lacks) = begin.check(trace.steps(), trace, open.writes_first()) {
            self.toasts.add(Kind::Problem, lacks.to_string());
            (begin.step, begin.stage, begin.head) = (None, None, None);
        }
        let broken = open.non_finite;
        self.leave_stop();
        self.show(open);
        self.say_open(&path, "a trace", broken);
        self.settings.opened(path);
    }

    pub(super) fn say_open(&mut self, path: &Path, what: &str, broken: usize) {
        let name = file_name(path);
        if broken > 0 {
            let text = format!("{name} is open, but {}.", story::not_finite(broken));
            self.toasts.add(Kind::Notice, text);
        } else {
            let text = format!("{name} is open: {what}.");
            self.toasts.add(Kind::Done, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Experiment;
    use crate::viewer::command::{Command, Learn};
    use crate::viewer::files::Aim;
    use crate::viewer::fixture::{config, copying, machine};
    use crate::viewer::state::beginning::Beginning;
    use crate::viewer::state::learning::{Ending, Learning};
    use crate::viewer::state::settings::Settings;
    use crate::viewer::state::work::{Destination, Effect, Saved, Teach};

    /// A run is being written, and then the window is to be closed; its number.
    fn saving() -> (State, u64) {
        let machines = vec![machine(config(), copying(1..=2))];
        let (settings, begin) = (Settings::default(), Beginning::default());
        let mut state = State::new(machines, Some(1), settings, begin, None);
        let experiment = Experiment::find("copy", &[]).unwrap();
        state.apply(Instead::Begin(vec![experiment]).into());
        let number = state.learning.as_ref().map(|all| all.run().number);
        state.learning.as_mut().unwrap().saving = number;
        state.ending = Some(Ending {
            instead: Instead::Close,
            saves: true,
            next: None,
        });
        (state, number.unwrap())
    }

    fn destination(aim: Aim) -> Destination {
        Destination {
            path: PathBuf::from("there"),
            replaces: false,
            aim,
        }
    }

    fn take_in(state: &mut State, outcome: Outcome) -> Vec<Effect> {
        state.apply(Command::Done(outcome))
    }

    fn is_saving(state: &State) -> bool {
        let saving = |learning: &Learning| learning.saving.is_some();
        state.learning.as_ref().is_some_and(saving) && state.ending.is_some()
    }

    #[test]
    fn what_else_is_done_or_fails_leaves_a_run_alone_that_is_being_written() {
        let (mut state, number) = saving();
        let why = || "no".to_owned();
        for other in [
            Outcome::Failed(why()),
            Outcome::IsThere(destination(Aim::Save)),
            Outcome::RunIsThere(number + 1, destination(Aim::Run)),
            Outcome::RunNotSaved(number + 1, why()),
            Outcome::RunSaved(number + 1, Saved::default(), why()),
        ] {
            let told = format!("{other:?}");
            let effects = take_in(&mut state, other);
            assert!(is_saving(&state) && effects.is_empty(), "{told}");
        }
        let saved = Outcome::RunSaved(number, Saved::default(), why());
        let effects = take_in(&mut state, saved);
        let closes = |effect: &Effect| matches!(effect, Effect::Close);
        assert!(effects.iter().any(closes) && state.learning.is_none());
    }

    #[test]
    fn save_and_close_beside_a_save_under_way_saves_once_more() {
        let (mut state, number) = saving();
        state.ending = None;
        state.apply(Instead::Close.into());
        assert!(state.ending.is_some());
        let path = PathBuf::from("second");
        let effects = state.apply(Command::Learn(Learn::SaveAndEnd(path.clone())));
        let saves = |effects: &[Effect]| {
            effects.iter().any(|effect| {
                matches!(effect, Effect::Teach(Teach::Save(saving)) if saving.to.path == path)
            })
        };
        let closes = |effects: &[Effect]| {
            let mut effects = effects.iter();
            effects.any(|effect| matches!(effect, Effect::Close))
        };
        assert!(!saves(&effects) && !closes(&effects), "one at a time");
        let saved = || Outcome::RunSaved(number, Saved::default(), "saved".to_owned());
        let effects = take_in(&mut state, saved());
        assert!(
            saves(&effects) && !closes(&effects),
            "the older one is written"
        );
        assert!(closes(&take_in(&mut state, saved())));
    }

    #[test]
    fn its_own_failure_ends_the_wait_and_a_folder_that_is_there_is_asked_about() {
        let (mut state, number) = saving();
        take_in(&mut state, Outcome::RunNotSaved(number, "no".to_owned()));
        let learning = state.learning.as_ref().unwrap();
        assert!(learning.saving.is_none() && state.ending.is_none());
        let (mut state, number) = saving();
        let to = destination(Aim::Run);
        take_in(&mut state, Outcome::RunIsThere(number, to));
        let learning = state.learning.as_ref().unwrap();
        assert!(learning.saving.is_none() && state.ending.is_some());
        assert!(state.dialog.as_ref().unwrap().doubted);
    }
}
