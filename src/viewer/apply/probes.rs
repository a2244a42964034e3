//! Runs side by side: what each of them does with the episode on screen. That of the run that is chosen is on screen
//! itself; the others are recorded in turns, one at a time.

use std::sync::Arc;

use crate::viewer::files::Machine;
use crate::viewer::state::State;
use crate::viewer::state::episode::Open;
use crate::viewer::state::learning::Probe;
use crate::viewer::state::work::{Effect, Job, Place};

impl State {
    /// Has the next probe recorded, unless one is under way or nobody sees it.
    pub(super) fn probe_next(&mut self, after: usize) {
        if !self.shows_learner() {
            return;
        }
        let wish = &self.session.wish;
        let Some(learning) = self.learning.as_mut().filter(|all| all.probing.is_none()) else {
            return;
        };
        let next = learning.next_probe(after, wish);
        let Some((next, ntm)) = next.and_then(|next| Some((next, learning.machine_of(next)?)))
        else {
            return;
        };
        let of = (ntm.clone(), wish.clone());
        let run = &mut learning.runs[next];
        let experiment = &run.experiment;
        let machine = Arc::new(Machine {
            name: experiment.name.clone(),
            title: experiment.title.clone(),
            other_way: None,
            task: experiment.task.clone(),
            ntm: of.0.as_ref().clone(),
        });
        run.probe.of = Some(of);
        learning.probing = Some((next, machine.clone()));
        if let Some(mut request) = self.session.request() {
            request.task = request.wish.task(&machine);
            request.machine = machine;
            let job = Job::Picture(Place::Run, request);
            self.effects.push(Effect::Start(job));
        }
    }

    /// A probe has been recorded, or could not be; one of runs that have ended meanwhile counts for nothing.
    pub(super) fn probed(&mut self, open: Option<Open>) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        let Some((run, machine)) = learning.probing.take() else {
            return;
        };
        let is_own = |open: &Open| {
            let by = open.shown.machine.as_ref();
            by.is_some_and(|by| Arc::ptr_eq(by, &machine))
        };
        if open.as_ref().is_none_or(is_own)
            && let Some(taught) = learning.runs.get_mut(run)
        {
            let of = taught.probe.of.take();
            taught.probe = Probe { open, of };
        }
        self.probe_next(run);
    }
}
