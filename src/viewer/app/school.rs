//! The threads that train while the window is open, and how often they are asked what is new.

use std::sync::Arc;

use egui::Context;

use crate::io::Experiment;
use crate::learn::{Learner, Run, Snapshots};
use crate::train::State;
use crate::viewer::files::Aim;
use crate::viewer::state::learning::{Teach, Told};
use crate::viewer::state::work::{Destination, Job};
use crate::viewer::worker::learning_threads;

/// The least time between two questions, in seconds: a picture that is drawn more often costs training more than it
/// tells.
pub const BETWEEN: f64 = 1.0 / 30.0;

/// Whoever trains, if anybody does.
pub struct School {
    /// Who is woken by news; without one everything is done in the calling thread: for tests.
    wake: Option<Context>,
    learner: Option<Learner>,
    /// The time of the last question.
    asked: f64,
    /// The run that is looked at, and the one that was asked last of the others.
    chosen: usize,
    turn: usize,
}

impl School {
    /// Nobody trains yet.
    pub fn new(wake: Option<Context>) -> Self {
        Self {
            wake,
            learner: None,
            asked: f64::NEG_INFINITY,
            chosen: 0,
            turn: 0,
        }
    }

    /// Does what is to be done; what comes back is a job that follows from it, and a sentence that says why nothing
    /// learns where that is so.
    pub fn teach(&mut self, teach: Teach) -> (Option<Job>, Result<(), String>) {
        match teach {
            Teach::Begin(experiments) => {
                self.end();
                (self.chosen, self.turn) = (0, 0);
                let runs = self.runs(experiments);
                return (None, self.begin(runs));
            }
            Teach::Tell(order) => {
                self.asked = f64::NEG_INFINITY;
                if let Some(learner) = &mut self.learner {
                    learner.tell(&order);
                }
            }
            Teach::Choose(run) => {
                (self.asked, self.chosen) = (f64::NEG_INFINITY, run);
            }
            Teach::Save(place, experiment, path, replaces) => {
                let to = Destination {
                    path,
                    replaces,
                    aim: Aim::Run,
                };
                let runs = self.end();
                let state = runs.get(place).map(|run| run.trainer().state.clone());
                let job = state.map(|state| Job::SaveRun(to, Box::new((*experiment, state))));
                return (job, self.begin(runs));
            }
            Teach::End => drop(self.end()),
        }
        (None, Ok(()))
    }

    /// The runs as they are; nobody trains any more.
    fn end(&mut self) -> Vec<Run> {
        self.learner.take().map_or_else(Vec::new, Learner::end)
    }

    fn runs(&self, experiments: Vec<Experiment>) -> Vec<Run> {
        let count = experiments.len().max(1);
        let threads = if self.wake.is_none() {
            1
        } else {
            learning_threads(count)
        };
        let run = |experiment: Experiment| {
            let state = State::new(experiment.model, &experiment.training);
            let limit = Snapshots::LIMIT / count;
            Run::new(experiment.task, experiment.training, state, threads, limit)
        };
        experiments.into_iter().map(run).collect()
    }

    fn begin(&mut self, runs: Vec<Run>) -> Result<(), String> {
        let learner = match self.wake.clone() {
            None => Ok(Learner::here(runs)),
            Some(wake) => Learner::start(runs, move || wake.request_repaint()),
        };
        self.learner = Some(learner.map_err(|error| {
            format!("Nothing learns: the system has no thread to spare ({error}). Close something else and begin again.")
        })?);
        Ok(())
    }

    /// What has come since; asks for what comes next, where it is `wanted` and time for it: all runs after an order,
    /// later the one that is looked at and the others in turns.
    pub fn news(&mut self, now: f64, wanted: bool) -> Option<Told> {
        let learner = self.learner.as_mut()?;
        if wanted && now - self.asked >= BETWEEN {
            if self.asked.is_finite() {
                self.turn = (self.turn + 1) % learner.count().max(1);
                let asked = [self.chosen, self.turn];
                learner.ask_of(|run| asked.contains(&run));
            } else {
                learner.ask();
            }
            self.asked = now;
        } else if self.wake.is_none() {
            // Without threads nothing comes unasked.
            return None;
        }
        let news = learner.news();
        (!news.is_empty()).then(|| Told(Arc::new(news)))
    }
}
