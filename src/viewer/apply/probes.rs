//! Runs side by side: the answer of each to the episode on screen. That of the selected run is on screen itself; the
//! others are recorded in turn, one at a time.

use std::sync::Arc;

use crate::viewer::files::Machine;
use crate::viewer::state::State;
use crate::viewer::state::episode::Open;
use crate::viewer::state::jobs::{Effect, Job, ThumbnailSlot};

impl State {
    /// Records the next probe, unless one is in progress or none is visible.
    pub(super) fn probe_next(&mut self, after: usize) {
        if !self.shows_learner() {
            return;
        }
        let request = &self.session.request;
        let Some(learning) = self.learning.as_mut().filter(|all| all.probing.is_none()) else {
            return;
        };
        let next = learning.next_probe(after, request);
        let Some((next, ntm)) = next.and_then(|next| Some((next, learning.machine_of(next)?)))
        else {
            return;
        };
        let Some(mut inputs) = self.session.recording_inputs() else {
            return;
        };
        let of = (ntm.clone(), request.clone());
        let run = &mut learning.runs[next];
        let experiment = &run.experiment;
        let machine = Arc::new(Machine {
            name: experiment.name.clone(),
            title: experiment.title.clone(),
            other_way: None,
            away: false,
            task: experiment.task.clone(),
            ntm: of.0.as_ref().clone(),
        });
        inputs.task = inputs.request.task(&machine);
        inputs.machine = machine;
        run.probe.of = Some(of);
        learning.probing = Some(run.number);
        let job = Job::Picture(ThumbnailSlot::Run(run.number), inputs);
        self.effects.push(Effect::Start(job));
    }

    /// The probe of the run with this number has been recorded, or could not be; one of runs that are gone counts for
    /// nothing.
    pub(super) fn probed(&mut self, number: u64, open: Option<Open>) {
        let learning = self.learning.as_mut();
        let Some(learning) = learning.filter(|all| all.probing == Some(number)) else {
            return;
        };
        learning.probing = None;
        let place = learning.runs.iter().position(|run| run.number == number);
        if let Some(place) = place {
            learning.runs[place].probe.open = open;
            self.probe_next(place);
        }
    }
}
