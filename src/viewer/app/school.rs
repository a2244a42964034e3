//! The threads that train while the window is open, and how often they are asked what is new.

use std::sync::Arc;

use egui::Context;

use crate::io::Experiment;
use crate::learn::{Learner, Run, Snapshots};
use crate::train::State;
use crate::viewer::state::learning::{Teach, Told};

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
}

impl School {
    /// Nobody trains yet.
    pub fn new(wake: Option<Context>) -> Self {
        Self {
            wake,
            learner: None,
            asked: f64::NEG_INFINITY,
        }
    }

    /// Does what is to be done.
    ///
    /// # Errors
    /// A sentence that says why nothing learns.
    pub fn teach(&mut self, teach: Teach) -> Result<(), String> {
        match teach {
            Teach::Begin(experiments) => {
                self.end();
                self.learner = Some(self.begin(experiments)?);
            }
            Teach::Tell(order) => {
                self.asked = f64::NEG_INFINITY;
                if let Some(learner) = &mut self.learner {
                    learner.tell(&order);
                }
            }
            Teach::End => self.end(),
        }
        Ok(())
    }

    fn end(&mut self) {
        if let Some(learner) = self.learner.take() {
            learner.end();
        }
    }

    fn begin(&self, experiments: Vec<Experiment>) -> Result<Learner, String> {
        let count = experiments.len().max(1);
        // One that learns alone has all processors; several have one each, and take turns.
        let threads = if self.wake.is_none() || count > 1 {
            1
        } else {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        };
        let run = |experiment: Experiment| {
            let state = State::new(experiment.model, &experiment.training);
            let limit = Snapshots::LIMIT / count;
            Run::new(experiment.task, experiment.training, state, threads, limit)
        };
        let runs = experiments.into_iter().map(run).collect();
        let Some(wake) = self.wake.clone() else {
            return Ok(Learner::here(runs));
        };
        let learner = Learner::start(runs, move || wake.request_repaint());
        learner.map_err(|error| {
            format!("Nothing learns: the system has no thread to spare ({error}). Close something else and begin again.")
        })
    }

    /// What has come since; asks for what comes next, where it is `wanted` and time for it.
    pub fn news(&mut self, now: f64, wanted: bool) -> Option<Told> {
        let learner = self.learner.as_mut()?;
        if wanted && now - self.asked >= BETWEEN {
            self.asked = now;
            learner.ask();
        }
        let news = learner.news();
        (!news.is_empty()).then(|| Told(Arc::new(news)))
    }
}
