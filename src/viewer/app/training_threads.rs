//! The threads that train while the window is open, and the interval at which they are polled.

use std::path::PathBuf;

use egui::Context;

use crate::io::recovery::Recovery;
use crate::io::{Experiment, RunStart};
use crate::learn::{BuildRun, Keeper, Learner, Run, Snapshots};
use crate::viewer::apply::prepare::learning_threads;
use crate::viewer::state::{Job, RunUpdates, Saving, TrainingAction};

/// The least time between two questions, in seconds: a picture that is drawn more often costs training more than it
/// tells.
pub const BETWEEN: f64 = 1.0 / 30.0;

/// The training threads, if there are any.
pub struct TrainingThreads {
    /// Wakes the window for news; without one all work runs in the calling thread, for tests.
    wake: Option<Context>,
    learner: Option<Learner>,
    /// The run that was asked for its state, to be written.
    saving: Option<Saving>,
    /// The time of the last question.
    asked: f64,
    /// The selected run, and the last other one that was queried.
    chosen: usize,
    turn: usize,
    /// The folder for checkpoints, and those of the runs.
    pub recovery_folder: Option<PathBuf>,
    recoveries: Vec<Recovery>,
}

impl TrainingThreads {
    /// Creates the threads, with no run.
    pub fn new(wake: Option<Context>) -> Self {
        Self {
            wake,
            learner: None,
            saving: None,
            asked: f64::NEG_INFINITY,
            chosen: 0,
            turn: 0,
            recovery_folder: None,
            recoveries: Vec::new(),
        }
    }

    /// Performs an action; returns a job that follows from it, and the reason if no training is possible.
    pub fn perform(&mut self, action: TrainingAction) -> (Option<Job>, Result<(), String>) {
        match action {
            TrainingAction::Begin(starts) => {
                self.end();
                (self.chosen, self.turn) = (0, 0);
                return (None, self.begin(starts));
            }
            TrainingAction::Tell(number, order) => {
                self.asked = f64::NEG_INFINITY;
                let learner = self.learner.iter_mut();
                learner.for_each(|learner| learner.send(number, &order));
            }
            TrainingAction::Choose(run) => {
                (self.asked, self.chosen) = (f64::NEG_INFINITY, run);
            }
            TrainingAction::Save(saving) => {
                if let Some(learner) = &mut self.learner {
                    learner.request_state(saving.place);
                    self.saving = Some(*saving);
                }
                return (self.run_state(), Ok(()));
            }
            // The update that is under way is not waited for.
            TrainingAction::End => self.end(),
            TrainingAction::Saved(place) => {
                let saved = self.recoveries.get(place);
                saved.iter().for_each(|saved| saved.discard(false));
            }
        }
        (None, Ok(()))
    }

    /// Ends all runs; their checkpoints go, because the user has been asked.
    fn end(&mut self) {
        (self.learner, self.saving) = (None, None);
        let ended = self.recoveries.drain(..);
        ended.for_each(|ended| ended.discard(true));
    }

    /// Returns the reason why a run has no checkpoints, once.
    pub fn recovery_problem(&self) -> Option<String> {
        self.recoveries.iter().find_map(Recovery::problem)
    }

    /// Writes the run that was to be written, once its state is there.
    pub fn run_state(&mut self) -> Option<Job> {
        let place = self.saving.as_ref()?.place;
        let run_state = self.learner.as_mut()?.run_state(place)?;
        let saving = self.saving.take()?;
        Some(saving.job(run_state))
    }

    /// Starts the threads, which build their runs themselves.
    fn begin(&mut self, starts: Vec<(RunStart, Option<Recovery>)>) -> Result<(), String> {
        let count = starts.len().max(1);
        let wake = self.wake.as_ref();
        let threads = wake.map_or(1, |_| learning_threads(count));
        let root = self.recovery_folder.as_ref();
        let recoveries = &mut self.recoveries;
        let mut build = |(start, recovery): (RunStart, Option<Recovery>)| -> BuildRun {
            let new = |root: &PathBuf| Recovery::new(root, &start.begun);
            let recovery = recovery.or_else(|| root.map(new));
            recoveries.extend(recovery.clone());
            Box::new(move || {
                let Experiment { task, training, .. } = start.experiment;
                let empty = || Snapshots::new(Snapshots::LIMIT / count);
                let snapshots = start.snapshots.unwrap_or_else(empty);
                let run = Run::new(task, training, start.state, threads, snapshots);
                run.kept_by(recovery.map(|of| Box::new(of) as Box<dyn Keeper>))
            })
        };
        let runs = starts.into_iter().map(&mut build).collect();
        let learner = match self.wake.clone() {
            None => Ok(Learner::without_threads(runs)),
            Some(wake) => Learner::start(runs, move || wake.request_repaint()),
        };
        self.learner = Some(learner.map_err(|error| no_thread(&error.to_string()))?);
        Ok(())
    }

    /// Returns the reason why a run could not be built.
    pub fn failure(&self) -> Option<String> {
        Some(no_thread(&self.learner.as_ref()?.failure()?))
    }

    /// Returns the news since; requests the next ones, where `wanted` and due: all runs after an order,
    /// later the one that is looked at and the others in turns.
    pub fn updates(&mut self, now: f64, wanted: bool) -> Option<RunUpdates> {
        let learner = self.learner.as_mut()?;
        if wanted && now - self.asked >= BETWEEN {
            if self.asked.is_finite() {
                self.turn = (self.turn + 1) % learner.count().max(1);
                let asked = [self.chosen, self.turn];
                learner.request_updates_of(|run| asked.contains(&run));
            } else {
                learner.request_updates();
            }
            self.asked = now;
        }
        let updates = learner.updates();
        (!updates.is_empty()).then(|| RunUpdates::new(updates))
    }
}

fn no_thread(why: &str) -> String {
    format!(
        "Training could not start; nothing was lost. The system has no free thread ({why}). Close other programs and try again."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_start_states_reason_and_remedy() {
        let sentence = no_thread("no more threads");
        for words in ["no free thread", "no more threads", "Close other programs"] {
            assert!(sentence.contains(words), "{sentence}");
        }
    }
}
