//! What the worker has done.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::viewer::command::Instead;
use crate::viewer::files::{Machine, file_name};
use crate::viewer::state::State;
use crate::viewer::state::episode::{Open, Wish};
use crate::viewer::state::messages::Kind;
use crate::viewer::state::work::{Outcome, Place};
use crate::viewer::story;

impl State {
    pub(super) fn take_in(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Recorded(open) => {
                // It may have come too late: something else was asked for, or shown, since.
                let learns = self.welcome.shown && self.shows_learner();
                if learns {
                    // It learns on behind the start page.
                    self.pending.asked = false;
                    self.show_learner();
                } else if self.pending.asked && open.wish.as_ref() == Some(&self.session.wish) {
                    self.show(*open);
                }
            }
            Outcome::Refused(wish, sentence) => {
                self.refuse(&wish);
                self.toasts.add(Kind::Problem, sentence);
            }
            Outcome::GivenUp(wish, sentence) => {
                wish.iter().for_each(|wish| self.refuse(wish));
                self.toasts.add(Kind::Notice, sentence);
            }
            Outcome::Weights(path, machine) => self.add(path, *machine),
            Outcome::Run(path, run) => self.end_for(Instead::LookBack(path, run)),
            Outcome::Trace(path, open) => self.show_file(path, *open),
            Outcome::Other(other) => self.take_other(*other),
            Outcome::Compared(found) => self.compared(found),
            Outcome::IsThere(to) => {
                self.run_is_not_saved();
                self.ask_to_replace(&to);
            }
            Outcome::Saved(sentence) => self.toasts.add(Kind::Done, sentence),
            Outcome::RunSaved(run, saved, sentence) => {
                self.toasts.add(Kind::Notice, sentence);
                self.run_is_saved(run, saved);
            }
            Outcome::Failed(sentence) => {
                self.go_on();
                self.run_is_not_saved();
                self.toasts.add(Kind::Problem, sentence);
            }
            Outcome::Picture(place, open) => {
                let picture = open.map(|open| self.session.numbered(*open));
                match place {
                    Place::Card(name) => drop(self.welcome.pictures.insert(name, picture)),
                    Place::Run => self.probed(picture),
                }
            }
            Outcome::Sampled(wish, spread) => {
                let open = self.session.open.as_mut();
                let is_it = |open: &&mut Open| {
                    let own = open.wish.as_ref();
                    own.is_some_and(|own| own.is_alike(&wish))
                };
                if let Some(open) = open.filter(is_it) {
                    open.spread = Some(spread.0);
                }
            }
            Outcome::Derived(shown, mattered) => {
                let fits = |open: &&mut Open| open.shown.is_of_the_same(&shown.0);
                if let Some(open) = self.session.open.as_mut().filter(fits) {
                    let (of, is_newest) = (mattered.0.of, Arc::ptr_eq(&open.shown, &shown.0));
                    open.mattered = Some(mattered.0);
                    if !is_newest {
                        // What learns has gone on meanwhile.
                        self.work_out_what_mattered(of);
                    }
                }
            }
            Outcome::Recent(files) => self.welcome.recent = files,
            Outcome::Chosen { aim, path } => self.chosen(aim, path, true),
            Outcome::Outdated | Outcome::NotChosen => {}
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
        self.session.add(machine);
        self.record_first();
        self.say_open(&path, "weights", 0);
        self.settings.opened(path);
    }

    /// An episode from a file.
    fn show_file(&mut self, path: PathBuf, open: Open) {
        let trace = &open.shown.recording.trace;
        if let Err(sentence) = self.pending.begin.check(trace.steps(), trace) {
            self.toasts.add(Kind::Problem, sentence);
            (self.pending.begin.step, self.pending.begin.head) = (None, None);
        }
        let broken = open.non_finite;
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
