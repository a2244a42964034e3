//! The tour: how it goes on, and back.

use crate::figure::narrate::failure::shown_in;
use crate::figure::narrate::mechanism;
use crate::figure::{Picture, Stage};
use crate::model::HeadTrace;
use crate::train::Recording;
use crate::viewer::command::{Command, Play, Tour as About, ViewCommand};
use crate::viewer::state::{
    Act, EpisodeRequest, Mode, SameArc, State, StepZoom, TOUR_STEPS, Target, Tour, TourState, Wait,
    best_link, best_query,
};

impl Tour {
    /// True for a command for which a tour step may wait.
    pub(super) fn hears(&self, command: &Command) -> bool {
        let is_nothing = matches!(
            command,
            Command::File(_)
                | Command::Dialog(_)
                | Command::Tour(_)
                | Command::Play(Play::TakeOver)
        );
        !self.met && !is_nothing && !command.is_update()
    }
}

impl State {
    /// Commands of the tour.
    pub(super) fn guide(&mut self, about: About) {
        self.settings.greeted = true;
        match about {
            About::Start => {
                self.settings.panels.timeline = true;
                self.go_to_tour_step(self.settings.stop, Vec::new());
            }
            About::Again => self.go_to_tour_step(0, Vec::new()),
            About::Next => self.next_tour_step(),
            About::Back => self.previous_tour_step(),
            About::Leave => drop(self.leave_guide()),
            About::Greet => {}
        }
    }

    /// Ends the tour with the first command after its last step; of another episode it still says what differs.
    pub(super) fn end_finished_tour(&mut self, command: &Command) {
        let is_last = |tour: &Tour| tour.met && tour.at().act == Act::Any;
        let goes_on = matches!(command, Command::Episode(_) | Command::Tour(_));
        if self.tour().is_some_and(is_last) && !goes_on {
            self.settings.stop = 0;
            self.enter(Mode::Free);
        }
    }

    /// Leaves the tour or a failure; false where there is none.
    pub(super) fn leave_guide(&mut self) -> bool {
        let is_guided = matches!(self.mode, Mode::Tour(_) | Mode::Failure(_));
        if is_guided {
            self.enter(Mode::Free);
        }
        is_guided
    }

    /// Leaves the tour for another episode, unless its step applies to any machine.
    pub(super) fn leave_tour_step(&mut self) {
        if self.tour().is_some_and(|tour| tour.at().act != Act::Any) {
            self.enter(Mode::Free);
        }
    }

    /// Moves to the next tour step for which a machine exists.
    fn next_tour_step(&mut self) {
        let next = self.tour().map_or(0, |tour| tour.stop + 1);
        let next = (next..TOUR_STEPS.len()).find(|&stop| self.has_machine_for(stop));
        let scene = self.scene();
        let trail = self.tour().map_or_else(Vec::new, |tour| tour.trail.clone());
        self.settings.stop = next.unwrap_or(0);
        match next {
            Some(next) => self.go_to_tour_step(next, trail.into_iter().chain(scene).collect()),
            None => self.enter(Mode::Free),
        }
    }

    /// Restores the view of the previous tour step.
    fn previous_tour_step(&mut self) {
        let Some(mut tour) = self.tour().cloned() else {
            return;
        };
        let Some(scene) = tour.trail.pop() else {
            let before = (0..tour.stop).rfind(|&stop| self.has_machine_for(stop));
            return self.go_to_tour_step(before.unwrap_or(0), Vec::new());
        };
        (tour.stop, tour.met, tour.mark) = (scene.stop, scene.met, None);
        self.settings.stop = scene.stop;
        if self.request_on_screen() == Some(&scene.request) && self.session.request == scene.request
        {
            self.enter(Mode::Tour(tour));
            self.show_scene(scene);
        } else {
            self.session.request = scene.request.clone();
            tour.coming = Some(Box::new(scene));
            self.enter(Mode::Tour(tour));
            self.record();
        }
    }

    /// The machine that the tour is of, or that one would be of.
    pub fn toured(&self) -> Act {
        let on_screen = || {
            let stages = &self.session.open.as_ref()?.facts.stages;
            let own = [(Act::Manage, Stage::Usage), (Act::Sparse, Stage::Age)];
            let mut own = own
                .into_iter()
                .filter(|(_, stage)| stages.place(*stage, None).is_some());
            Some(own.next()?.0)
        };
        let of = self.tour().map(|tour| tour.of);
        of.or_else(on_screen).unwrap_or(Act::Place)
    }

    /// True where there is a machine for a stop.
    fn has_machine_for(&self, stop: usize) -> bool {
        let of = &TOUR_STEPS[stop];
        let has_machine = of.act != Act::Content || of.act.request(&self.session).is_some();
        has_machine && of.is_told(self.toured())
    }

    /// Returns the episode of a tour step, where it is not on screen.
    fn missing(&self, act: Act) -> Option<EpisodeRequest> {
        let (request, shown) = (act.request(&self.session), self.request_on_screen());
        let is_there = match act {
            Act::Manage | Act::Sparse | Act::Any => true,
            Act::Content => shown.is_some() && shown == request.as_ref(),
            // Whatever episode of copying is on screen.
            Act::Place => self.recording().is_some_and(|recording| {
                let unchanged = shown.is_some_and(|shown| shown.flipped.is_empty());
                let task = request.is_none() || (unchanged && act.is_of(&recording.task));
                task && !recording.trace.heads.is_empty()
            }),
        };
        let any = || {
            let (session, seed) = (&self.session, self.session.request.seed);
            let index = session.first_with_heads()?;
            Some(EpisodeRequest::of(index, &session.machines[index], seed))
        };
        if is_there { None } else { request.or_else(any) }
    }

    /// A stop, with those that led to it.
    fn go_to_tour_step(&mut self, stop: usize, trail: Vec<TourState>) {
        let mut tour = Tour {
            trail,
            ..Tour::new(stop)
        };
        let act = tour.at().act;
        // A tour that comes back to a stop that is not for this machine goes on from there.
        if act != Act::Place || self.missing(act).is_none() {
            tour.of = self.toured();
        }
        while !tour.at().is_told(tour.of) {
            tour.stop += 1;
        }
        let act = tour.at().act;
        self.settings.stop = tour.stop;
        self.enter(Mode::Tour(tour));
        self.pending.play = false;
        match self.missing(act) {
            Some(request) => {
                self.player.pause();
                self.session.request = request;
                self.record();
            }
            None => self.set_scene(),
        }
    }

    /// Returns the state on screen, to restore it later.
    fn scene(&self) -> Option<TourState> {
        let tour = self.tour()?;
        Some(TourState {
            stop: tour.stop,
            met: tour.met,
            player: self.player.clone(),
            chosen: self.view.chosen.then_some(self.view.focus),
            selected: self.view.selected,
            mark: tour.mark,
            request: self.session.request.clone(),
        })
    }

    fn show_scene(&mut self, scene: TourState) {
        self.player = scene.player;
        self.player.pause();
        self.view.chosen = scene.chosen.is_some();
        self.view.focus = scene.chosen.unwrap_or(self.view.focus);
        self.view.selected = scene.selected;
        self.set_mark(scene.mark);
        self.see_all();
    }

    /// An episode has come on screen while the tour is taken.
    pub(super) fn tour_episode_ready(&mut self) {
        let Mode::Tour(tour) = &mut self.mode else {
            return;
        };
        let flips = tour.at().wait == Wait::Flip;
        if let Some(scene) = tour.coming.take() {
            return self.show_scene(*scene);
        }
        let flipped = self.session.request.flipped.last().copied();
        let Some((step, _)) = flipped.filter(|_| flips) else {
            return self.set_scene();
        };
        let first = || self.recording()?.episode.first_scored();
        if let Some(answer) = self.answer_of(step).or_else(first) {
            self.player.show_whole_steps();
            self.player.seek(answer);
        }
        self.see_all();
        self.notify_tour(None);
    }

    /// The step in which the vector is asked for that was shown in a step.
    pub fn answer_of(&self, shown: usize) -> Option<usize> {
        let recording = self.recording()?;
        (0..recording.trace.steps()).find(|&step| shown_in(recording, step) == Some(shown))
    }

    /// Returns the head that a tour step selects, if any, and its first step.
    fn view_of(&self, tour: &Tour, recording: &Recording) -> (Option<usize>, usize) {
        let (stop, trace) = (tour.at(), &recording.trace);
        let asked = recording.episode.first_scored().unwrap_or(0);
        let steps = self.player.steps();
        // Somewhere in the input, where heads have something to do; or in the answer.
        let (input, answer) = ((steps / 4).max(1), asked + (steps - asked) / 3);
        let is_answered = TOUR_STEPS[..tour.stop]
            .iter()
            .any(|stop| stop.wait == Wait::Answer);
        let found = match stop.act {
            Act::Manage if is_answered => best_link(trace),
            Act::Sparse => {
                let is_it = |head: &HeadTrace| head.is_write() != is_answered;
                let head = trace.heads.iter().position(is_it);
                head.map(|head| (if is_answered { answer } else { input }, head))
            }
            Act::Content => best_query(trace, &recording.episode),
            Act::Manage | Act::Place | Act::Any => None,
        };
        let step = match (stop.wait, found) {
            (Wait::Play, _) => 0,
            (Wait::First, _) => steps,
            (Wait::Answer, _) => answer,
            (Wait::Flip, _) => asked,
            (_, Some((step, _))) => step,
            (_, None) => input,
        };
        let before = (stop.act == Act::Any && self.view.chosen).then_some(self.view.focus);
        let head = before.or(found.map(|(_, head)| head));
        (head, step)
    }

    /// Goes to the start of a tour step, and selects its head.
    fn set_scene(&mut self) {
        self.see_all();
        (self.view.selected, self.view.step_zoom) = (None, StepZoom::default());
        let (Mode::Tour(tour), Some(open)) = (&self.mode, &self.session.open) else {
            return;
        };
        let (stop, recording) = (tour.at(), &open.shown.recording);
        let (chosen, step) = self.view_of(tour, recording);
        let head = chosen.or_else(|| open.facts.salient.at(step));
        let traced = head.and_then(|head| recording.trace.heads.get(head));
        let stage = tour.begins_at(&open.facts.stages, traced);
        // A bit of what is the answer.
        let mark = shown_in(recording, step).filter(|_| stop.wait == Wait::Flip);
        let before = mark.map(|_| SameArc(open.shown.clone()));
        let player = &mut self.player;
        player.pause();
        let is_active = !matches!(stop.act, Act::Content | Act::Any) && !player.whole_steps();
        match stage {
            // In the middle of a step: on from there.
            Some(stage) if is_active && player.stage() == stage => {}
            Some(stage) => {
                player.seek(step);
                player.seek_stage(stage);
            }
            None => {
                player.show_whole_steps();
                player.seek(step);
            }
        }
        if let Mode::Tour(tour) = &mut self.mode {
            (tour.before, tour.mark) = (before, mark.map(|step| (step, 0)));
        }
        head.into_iter().for_each(|head| self.select_head(head));
        self.view.chosen = chosen.is_some();
    }

    /// Reports a command of the user, for which the tour may wait.
    pub(super) fn notify_tour(&mut self, command: Option<&Command>) {
        let (Mode::Tour(tour), Some(open)) = (&self.mode, &self.session.open) else {
            return;
        };
        let (player, recording) = (&self.player, &open.shown.recording);
        let shown = self.request_on_screen();
        let head = recording.trace.heads.get(self.view.focus);
        let is_asked = recording.episode.is_scored(player.step());
        let of_answer = |target: Target| matches!(target, Target::Value { id, .. } if id.picture == Picture::Output);
        let met = match tour.at().wait {
            Wait::Play => player.playing(),
            Wait::Step => matches!(command, Some(Command::Play(Play::Step(_)))),
            Wait::Click => matches!(
                command,
                Some(Command::Play(Play::Seek(_)) | Command::View(ViewCommand::Select(_)))
            ),
            // A stage that the machine omits never comes.
            Wait::Stage(about) => {
                let reached = open.facts.stages.reached(player.stage(), about, head);
                tour.lacks(&open.facts.stages) || (!player.whole_steps() && reached)
            }
            Wait::First => player.step() == 0,
            Wait::Answer => is_asked && self.view.selected.is_some_and(of_answer),
            Wait::Asked => is_asked,
            Wait::Flip => shown.is_some_and(|own| !own.flipped.is_empty()),
            Wait::Start => self.welcome.shown || mechanism::attends_otherwise(&recording.trace),
        };
        let begins = met && tour.at().wait == Wait::First;
        if let Mode::Tour(tour) = &mut self.mode {
            tour.met |= met;
        }
        if begins {
            // The memory as the first step finds it.
            self.player.seek(0);
            self.player.seek_stage(0);
        }
    }
}
