//! Runs side by side: the answer of each to the episode on screen. That of the selected run is on screen itself; the
//! others are recorded in turn, one at a time.

use std::sync::Arc;

use crate::viewer::state::{Job, Machine, Open, State, ThumbnailSlot};

impl State {
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
        run.probe.of = Some(of);
        learning.probing = Some(run.number);
        let slot = ThumbnailSlot::Run(run.number);
        self.start(Job::Picture(slot, inputs));
    }

    /// The probe of the run with this number has been recorded, or could not be; one of runs that are gone counts for
    /// nothing.
    pub(super) fn probed(&mut self, number: u64, open: Option<Open>) {
        let learning = self.learning.as_mut();
        let Some(learning) = learning.filter(|all| all.probing == Some(number)) else {
            return;
        };
        learning.probing = None;
        if let Some(place) = learning.runs.iter().position(|run| run.number == number) {
            learning.runs[place].probe.open = open;
            self.probe_next(place);
        }
    }
}
