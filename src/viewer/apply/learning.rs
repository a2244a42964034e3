//! Training in the window: how it begins, goes on and is read again, in threads or from a saved run.

use std::mem::discriminant;
use std::path::PathBuf;
use std::sync::Arc;

use super::prepare::{PreparedRun, check_training};
use super::record::thumbnail;
use crate::io::{Experiment, preset};
use crate::learn::{End, RunCommand, RunUpdate};
use crate::train::Change;
use crate::viewer::command::{Episode, Learn, Replacement};
use crate::viewer::state::{
    Effect, Kind, LiveTraining, LoadedRun, Machine, Mode, Open, RunView, SavedRun, State,
    TrainingAction, WindowLayout, ablated,
};

/// The machine that learns, among those of the session.
const NAME: &str = "learning";
/// The preset to train when there is none for the machine on screen.
const PRESET: &str = "copy";

impl LiveTraining {
    /// An order for all runs, which from now on are waited for.
    pub fn order(&mut self, order: RunCommand) -> Effect {
        self.ordered += 1;
        Effect::Train(TrainingAction::Tell(self.ordered, order))
    }

    /// The order to train at the current speed, unless training is paused.
    fn go(&self) -> Option<RunCommand> {
        self.is_training.then_some(RunCommand::Go(self.pace))
    }
}

impl State {
    /// Commands about machines that learn.
    pub(super) fn learn(&mut self, learn: Learn) {
        if self.is_read_only(&learn) {
            return;
        }
        match learn {
            Learn::Toggle if self.learning.is_none() => {
                self.begin_learning(vec![(None, self.preset_of_machine())]);
            }
            Learn::Toggle if !self.shows_learner() => {
                if let Some(learning) = &self.learning {
                    self.request(Episode::Machine(learning.machine));
                }
            }
            Learn::Toggle => self.order_runs(|learning| {
                learning.is_training = !learning.is_training;
                Some(learning.go().unwrap_or(RunCommand::Pause))
            }),
            Learn::Once => self.order_runs(|learning| {
                learning.is_training = false;
                Some(RunCommand::Once)
            }),
            Learn::Faster(times) => self.order_runs(|learning| {
                learning.faster(times);
                learning.go()
            }),
            Learn::SlowOrFull => self.order_runs(|learning| {
                learning.slow_or_full();
                learning.go()
            }),
            Learn::Snapshot(place) => self.move_to(|learning| learning.select_snapshot(place)),
            Learn::MoveSnapshot(by) => self.move_to(|learning| learning.move_snapshot(by)),
            Learn::MoveFinding(by) => self.move_to(|learning| learning.move_finding(by)),
            Learn::Below(below) => self.move_to(|learning| learning.below = below),
            Learn::Run(run) => {
                self.move_to(|learning| learning.chosen = run.min(learning.runs.len() - 1));
            }
            Learn::MoveRun(by) => self.move_to(|learning| {
                let count = learning.runs.len().cast_signed();
                let next = (learning.chosen.cast_signed() + by).rem_euclid(count);
                learning.chosen = next.cast_unsigned();
            }),
            Learn::Replace(replacement) => self.request_end(replacement),
            Learn::Updates(updates) => self.receive_updates(&updates.0),
            Learn::Refused(sentence) => {
                self.leave_learning();
                self.toasts.add(Kind::Problem, sentence);
            }
            Learn::Continue => self.continue_run(),
            Learn::Change(set) => self.change_run(set),
            Learn::Save(path, replaces) => self.save_run(path, replaces),
            Learn::SaveAll(path) => self.save_all(&path),
            Learn::SaveAndEnd(path) => self.save_and_end(path),
            Learn::EndUnsaved => self.end_now(),
            Learn::Discard(place) => self.discard_recoverable(place),
        }
    }

    /// Ends all training and puts this in its place.
    pub(super) fn replace(&mut self, replacement: Replacement) {
        match replacement {
            Replacement::Again => self.restart(0),
            Replacement::NextSeed => self.restart(1),
            Replacement::Begin(experiments) => self.begin_learning(experiments),
            Replacement::Seeds(count) => {
                let own = self.current_preset();
                let seeds = (0..count as u64).map(|by| (None, seeds_later(&own, by)));
                self.begin_learning(seeds.collect());
            }
            Replacement::Ablate => self.begin_ablations(),
            Replacement::LookBack(path, run) => self.show_loaded_run(path, *run),
            Replacement::Recover(folders) => self.recover(folders),
            Replacement::Nothing => self.leave_learning(),
            Replacement::Close => {
                self.leave_learning();
                self.effects.push(Effect::Close);
            }
        }
    }

    /// Changes how all runs train, and gives them the order that follows from that.
    fn order_runs(&mut self, change: impl FnOnce(&mut LiveTraining) -> Option<RunCommand>) {
        if let Some(learning) = &mut self.learning
            && let Some(order) = change(learning)
        {
            (learning.snapshot_at, learning.finding) = (None, None);
            self.effects.push(learning.order(order));
        }
    }

    /// Moves to another run or snapshot, and shows its machine.
    fn move_to(&mut self, change: impl FnOnce(&mut LiveTraining)) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        let before = (learning.chosen, learning.snapshot_at);
        change(learning);
        let run = learning.chosen;
        if (run, learning.snapshot_at) != before {
            self.train(TrainingAction::Choose(run));
            self.show_learner();
            self.probe_next(run);
        }
    }

    /// The preset of the machine on screen, or the first one of such a machine for its task, or [`PRESET`].
    fn preset_of_machine(&self) -> Experiment {
        let included = |name: &str| Experiment::included(name, &[])?.ok();
        let machine = self.session.machine();
        let own = machine.and_then(|machine| included(&machine.name));
        let alike = || {
            let Machine { ntm, task, .. } = &**machine?;
            let is_it = |other: &Experiment| {
                other.task == *task && discriminant(&other.model) == discriminant(&ntm.config)
            };
            preset::names().filter_map(included).find(is_it)
        };
        let found = own.or_else(alike).or_else(|| included(PRESET));
        found.unwrap_or_else(|| unreachable!("copy is built in"))
    }

    /// The preset that learns, or that of the machine on screen.
    fn current_preset(&self) -> Experiment {
        let begun = self.learning.as_ref().map(|all| all.run().begun.clone());
        begun.unwrap_or_else(|| self.preset_of_machine())
    }

    /// Starts the ablations: the complete machine, and the machine without each stage of its heads.
    fn begin_ablations(&mut self) {
        let whole = self.current_preset();
        let all = ablated(&whole);
        if all.is_empty() {
            let text = format!("{} has no stages to remove, and no switches.", whole.title);
            self.toasts.add(Kind::Notice, text);
        }
        self.begin_learning(all);
    }

    /// Restarts the same experiments, with seeds moved on by `times` times their number.
    fn restart(&mut self, times: u64) {
        if let Some(learning) = &self.learning {
            let by = times * learning.seeds();
            let next = |run: &RunView| (run.name.clone(), seeds_later(&run.begun, by));
            self.begin_learning(learning.runs.iter().map(next).collect());
        }
    }

    /// Starts runs, and shows the first.
    pub(super) fn start_runs(&mut self, prepared: Vec<PreparedRun>) {
        let (mut runs, starts): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
        for run in &mut runs {
            self.runs += 1;
            run.number = self.runs;
        }
        let starts = starts.into_iter().zip(&runs);
        let starts = starts.map(|(start, run)| (start, run.recovery.clone()));
        let starts = starts.collect();
        let first = &runs[0];
        let machine = Machine {
            name: NAME.to_owned(),
            title: format!("{}, training", first.begun.title),
            ..Machine::of(&first.experiment, first.machine.as_ref().clone())
        };
        let place = self.session.add(machine);
        self.session.request.size = *first.begun.task.size().end();
        let mut learning = LiveTraining::new(runs, place);
        let goes = learning.order(RunCommand::Go(learning.pace));
        self.show_learning(learning);
        self.player.pause();
        self.record();
        self.train(TrainingAction::Begin(starts));
        self.effects.push(goes);
    }

    /// Puts runs on screen with their curves; the arrangement before them comes back when nothing learns any more.
    pub(super) fn show_learning(&mut self, learning: LiveTraining) {
        self.learning = Some(learning);
        (self.pending.play, self.welcome.shown) = (false, false);
        self.enter(Mode::Free);
        if self.settings.layout != Some(WindowLayout::Train) {
            self.view.before = self.settings.layout.replace(WindowLayout::Train);
        }
    }

    pub(super) fn leave_learning(&mut self) {
        if self.learning.take().is_some() {
            self.train(TrainingAction::End);
        }
    }

    /// Changes the task and the hyperparameters from the next update on.
    fn change_run(&mut self, set: Vec<String>) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        let [run] = learning.runs.as_mut_slice() else {
            let text = "Several runs cannot be changed together. Train one machine to change it.";
            return self.toasts.add(Kind::Problem, text);
        };
        if !run.is_active() {
            let text = "The run has ended and cannot be changed. Restart training.";
            return self.toasts.add(Kind::Notice, text);
        }
        let change = Change { sequences: 0, set };
        match run.experiment.changed_by(&change) {
            Ok(experiment) => {
                if let Err(sentence) = check_training(&experiment, 1) {
                    return self.toasts.add(Kind::Problem, sentence);
                }
                let number = run.number;
                run.experiment = experiment.clone();
                let to = Box::new((experiment.task.clone(), experiment.training.clone()));
                let order = learning.order(RunCommand::Change(to, change.set));
                self.find_levels(number, experiment);
                self.effects.push(order);
            }
            Err(error) => self.toasts.add(Kind::Problem, error.without_file()),
        }
    }

    /// News of the runs.
    fn receive_updates(&mut self, news: &[(usize, RunUpdate)]) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        let mut is_new = false;
        for (place, news) in news {
            let Some(run) = learning.runs.get_mut(*place) else {
                continue;
            };
            let (progress, is_chosen) = (&news.progress, *place == learning.chosen);
            match &progress.end {
                Some(End::Finished) if is_chosen && run.is_active() => {
                    let (all, seconds) = (progress.sequences, progress.seconds);
                    let text = format!("Trained on all {all} sequences in {seconds:.1} s.");
                    self.toasts.add(Kind::Done, text);
                }
                Some(End::Broken { .. }) if run.is_active() => {
                    let found = progress.findings.last();
                    let words = found.map_or("", |found| found.words.as_str());
                    let text = format!("{}: {words}", run.label());
                    self.toasts.add(Kind::Problem, text);
                }
                Some(End::Finished | End::Broken { .. } | End::Diverged(_)) | None => {}
            }
            is_new |= run.apply_update(news) && is_chosen;
        }
        if learning.snapshot_at.is_none() && is_new {
            self.show_learner();
        }
        self.probe_next(news.last().map_or(0, |(place, _)| *place));
    }

    /// Shows the episode on screen with the selected machine, while the training is shown.
    pub(super) fn show_learner(&mut self) {
        // A comparison that is under way comes to its end before there is something else to compare.
        let pair = self.pair();
        let is_compared = pair.is_some_and(|pair| pair.is_old || pair.found.is_none());
        if !self.shows_learner() {
            return;
        }
        let Some(learning) = &mut self.learning else {
            return;
        };
        // Behind the start page it is invisible.
        learning.stale = self.pending.waits || self.welcome.shown || is_compared;
        if learning.stale {
            return;
        }
        if let Some(machine) = self.session.machines.get_mut(learning.machine) {
            let ntm = learning.shown().as_ref().clone();
            *machine = Arc::new(Machine {
                name: machine.name.clone(),
                title: learning.title(),
                ..Machine::of(&learning.run().experiment, ntm)
            });
            self.record();
        }
    }

    /// An episode has come on screen; where more is known since, it is drawn again.
    pub(super) fn follow_learner(&mut self) {
        if self.learning.as_ref().is_some_and(|all| all.stale) {
            self.show_learner();
        }
    }
}

/// Returns the experiment with a later seed.
fn seeds_later(experiment: &Experiment, by: u64) -> Experiment {
    let mut next = experiment.clone();
    next.training.seed = next.training.seed.wrapping_add(by);
    next
}

impl State {
    /// Shows a run with all its training snapshots.
    pub(super) fn show_loaded_run(&mut self, path: PathBuf, loaded: LoadedRun) {
        self.train(TrainingAction::End);
        let machine = loaded.machine(&path);
        let size = *machine.task.size().end();
        let last = loaded.progress.snapshots.all().last();
        let now = last.map_or(&machine.ntm, |last| last.machine.as_ref());
        let mut run = RunView::new(Some(loaded.name), loaded.experiment, now.clone());
        self.runs += 1;
        run.number = self.runs;
        if let Ok(now) = run.begun.after(&loaded.progress.changes) {
            run.experiment = now;
        }
        self.find_levels(run.number, run.experiment.clone());
        run.progress = Some(Arc::new(loaded.progress));
        let place = self.session.add(machine);
        self.session.request.size = size;
        self.show_learning(LiveTraining {
            is_training: false,
            read_only: Some(SavedRun {
                folder: path.clone(),
                is_finished: loaded.is_finished,
            }),
            ..LiveTraining::new(vec![run], place)
        });
        self.record_first();
        self.report_opened(&path, "run with training snapshots", 0);
        self.settings.opened(path);
    }

    /// True, with a message, where this would train a run that is read-only.
    pub(super) fn is_read_only(&mut self, learn: &Learn) -> bool {
        let trains = matches!(
            learn,
            Learn::Toggle
                | Learn::Once
                | Learn::Faster(_)
                | Learn::SlowOrFull
                | Learn::Change(_)
                | Learn::Save(..)
                | Learn::SaveAll(_)
                | Learn::SaveAndEnd(_)
        );
        let learning = self.learning.as_ref().filter(|_| trains);
        let Some(saved) = learning.and_then(|learning| learning.read_only.as_ref()) else {
            return false;
        };
        let text = if saved.is_finished {
            "This run is finished: all its sequences are trained."
        } else {
            "This run is read-only. Continue training to change it."
        };
        self.toasts.add(Kind::Notice, text);
        true
    }

    /// Records the next probe, unless one is in progress or none is visible.
    pub(super) fn probe_next(&mut self, after: usize) {
        if !self.shows_learner() {
            return;
        }
        let request = &self.session.request;
        let learning = self.learning.as_mut();
        let (Some(learning), Some(mut inputs)) = (
            learning.filter(|all| all.probing.is_none()),
            self.session.recording_inputs(),
        ) else {
            return;
        };
        let Some((next, ntm)) = learning.next_probe(after, request) else {
            return;
        };
        let of = (ntm.clone(), request.clone());
        let run = &mut learning.runs[next];
        inputs.machine = Arc::new(Machine::of(&run.experiment, of.0.as_ref().clone()));
        run.probed = Some(of);
        learning.probing = Some(run.number);
        let number = run.number;
        self.start(thumbnail(inputs, move |state, picture| {
            state.probed(number, picture);
        }));
    }

    /// The probe of the run with this number has been recorded, or could not be; one of runs that are gone counts for
    /// nothing.
    fn probed(&mut self, number: u64, open: Option<Open>) {
        let learning = self.learning.as_mut();
        let Some(learning) = learning.filter(|all| all.probing == Some(number)) else {
            return;
        };
        learning.probing = None;
        if let Some(place) = learning.runs.iter().position(|run| run.number == number) {
            learning.runs[place].probe = open;
            self.probe_next(place);
        }
    }
}
