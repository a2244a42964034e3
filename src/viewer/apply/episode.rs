//! Requests for episodes, and their arrival.

use std::sync::Arc;

use crate::figure::{HeadName, head_named};
use crate::model::NoiseMode;
use crate::viewer::command::{Episode, Window};
use crate::viewer::link::Link;
use crate::viewer::state::{
    Effect, Kind, Mode, Open, OpenedFile, RecordingInputs, RowZoom, SAMPLES, StartOptions, State,
    StepZoom, WindowLayout, pinned,
};

impl State {
    /// Commands that ask for another episode.
    pub(super) fn request(&mut self, episode: Episode) {
        let before = self.session.request.clone();
        let limit = match episode {
            Episode::Restart => return self.player.first(),
            Episode::NextMatch => return self.search_seeds(),
            Episode::Spread => return self.ask_samples(),
            Episode::Gradients(of) => return self.show_gradients(of),
            Episode::Samples(count) => {
                self.session.samples = count.clamp(*SAMPLES.start(), *SAMPLES.end());
                return;
            }
            Episode::NextSeed => {
                self.explain_recording();
                self.session.request.seed = before.seed.wrapping_add(1);
                None
            }
            Episode::Machine(index) => {
                self.leave_tour_step();
                self.leave_branch();
                // Where another one was to begin.
                self.pending.begin = StartOptions::default();
                if self.comparing.baseline.is_some() {
                    self.session.choose_same_episode(index);
                } else {
                    self.session.choose(index);
                }
                return self.record();
            }
            Episode::Link(link) => return self.open_link(link),
            Episode::Failure(which) => return self.show_failure(which),
            Episode::Size(size) => self.session.set_size(size),
            Episode::Repeats(repeats) => self.session.set_repeats(repeats),
            Episode::Seed(seed) => {
                self.session.request.seed = seed;
                None
            }
            Episode::Rows(rows) => self.session.set_rows(rows),
            Episode::AnotherDraw => {
                let request = &mut self.session.request;
                let is_next = request.sampling == NoiseMode::Sampled;
                request.sample = request.sample.wrapping_add(is_next.into());
                request.sampling = NoiseMode::Sampled;
                None
            }
            Episode::Sample(sample) => {
                let request = &mut self.session.request;
                (request.sampling, request.sample) = (NoiseMode::Sampled, sample);
                None
            }
            Episode::Sampling(sampling) => {
                self.session.request.sampling = sampling;
                None
            }
        };
        let is_same = matches!(
            episode,
            Episode::Rows(_) | Episode::AnotherDraw | Episode::Sample(_) | Episode::Sampling(_)
        );
        if !is_same {
            // The bits of another episode are others.
            self.session.request.flipped.clear();
            self.session.request.given = None;
        }
        if let Some(sentence) = limit {
            self.toasts.add(Kind::Notice, sentence);
        }
        if self.session.request != before {
            self.leave_branch();
            self.record();
        }
    }

    /// Explains that a recorded trace has no machine for another episode, and names one that has.
    fn explain_recording(&mut self) {
        if let (true, Some(machine)) = (self.shows_file(), self.session.machine()) {
            let title = &machine.title;
            let text = format!("New episode of {title}. Ctrl+Z restores the trace.");
            self.toasts.add(Kind::Notice, text);
        }
    }

    /// Requests the first episode, where no file is opened.
    pub fn begin(&mut self) -> Vec<Effect> {
        self.record_first();
        std::mem::take(&mut self.effects)
    }

    /// Records the first episode of a machine.
    pub(super) fn record_first(&mut self) {
        let asked = self.pending.begin.asked.take();
        self.session.begin(self.pending.begin.rows, asked);
        let flipped = std::mem::take(&mut self.pending.begin.flipped);
        if !flipped.is_empty() {
            self.session.request.flipped = flipped;
        }
        self.record();
    }

    /// Returns the machine of a link, and the place to begin.
    fn linked(&self, link: &str) -> Result<(usize, StartOptions), String> {
        let (link, machines) = (Link::parse(link)?, &self.session.machines);
        let name = link.first()?;
        let index = machines.iter().position(|machine| machine.name == name);
        let index = index.ok_or_else(|| format!("The machine {name} is not loaded."))?;
        Ok((index, link.beginning(&machines[index])?))
    }

    /// Returns the recording job of the episode of a link.
    pub(super) fn inputs_of_link(&self, link: &str) -> Option<RecordingInputs> {
        let (index, begin) = self.linked(link).ok()?;
        let mut session = self.session.clone();
        session.choose(index);
        session.begin(begin.rows, begin.asked);
        session.recording_inputs()
    }

    /// Shows the episode and the place of a link.
    fn open_link(&mut self, link: &str) {
        match self.linked(link) {
            Ok((index, begin)) => {
                self.leave_tour_step();
                self.dialog = None;
                self.session.choose(index);
                self.player.pause();
                (self.pending.begin, self.pending.play) = (begin, false);
                self.record_first();
            }
            Err(problem) => self.toasts.add(Kind::Problem, problem),
        }
    }

    /// Puts an episode on screen.
    pub(super) fn show(&mut self, mut open: Open) {
        if std::mem::take(&mut self.welcome.shown) {
            self.pending.play = !self.settings.look.still && self.pending.begin.step.is_none();
        }
        let heads = self.head_names();
        let before = self.session.open.as_ref();
        let machine = before.and_then(|open| open.shown.machine.as_ref());
        let machines = machine.zip(open.shown.machine.as_ref());
        let same_machine = machines.is_some_and(|(before, now)| Arc::ptr_eq(before, now));
        // One that learns is another at every moment, and yet the same.
        let same_name = machines.is_some_and(|(before, now)| before.name == now.name);
        if same_machine
            && let Some(before) = before
            && let (Some(own), Some(other)) = (&open.request, &before.request)
            && own.is_same_episode(other)
        {
            // The spread over many draws holds for each of them.
            open.spread.clone_from(&before.spread);
        }
        let gradients = before.and_then(Open::quantity);
        // They come with it, unless something else was asked for since.
        open.gradients = open.gradients.filter(|by| Some(by.of) == gradients);
        let lacking = gradients.filter(|_| same_machine && open.gradients.is_none());
        self.session.show(open);
        if let Some(of) = lacking {
            self.compute_gradients(of);
        }
        self.select_named_head(heads);
        self.opened(same_name || self.mark().is_some());
    }

    /// Handles a new episode on screen. Where it `is_active`, the step stays, to show the differences.
    pub(super) fn opened(&mut self, is_active: bool) {
        self.pending.waits = false;
        let undone = self.pending.coming.take();
        if let Some((focus, pinned)) = undone {
            (self.view.focus, self.view.pinned) = (focus, pinned);
        }
        let Some(open) = &self.session.open else {
            return;
        };
        let trace = &open.shown.recording.trace;
        let bits = open.shown.recording.task.editable();
        let last = (trace.steps().saturating_sub(1), bits.saturating_sub(1));
        let mark = self.mark().filter(|_| !open.is_of_a_file() && bits > 0);
        let before = self.player.clone();
        self.player.load(trace.steps(), open.facts.stages.len());
        let view = &mut self.view;
        if !is_active {
            self.suits = WindowLayout::that_suits(open);
            view.step_zoom = StepZoom::default();
        }
        let stays = is_active || undone.is_some();
        if !stays {
            view.row_zoom = RowZoom::default();
        } else if !matches!(self.mode, Mode::Tour(_)) {
            self.player.resume_from(&before);
        }
        view.pinned = view.pinned.filter(|head| *head < trace.heads.len());
        view.chosen &= view.focus < trace.heads.len();
        self.set_mark(mark.map(|(step, channel)| (step.min(last.0), channel.min(last.1))));
        self.auto_focus();
        if self.is_opening() {
            self.enter(Mode::Free);
        }
        if std::mem::take(&mut self.pending.play) {
            self.begin_opening();
            self.player.play();
        }
        self.go_to_beginning();
        let (step, steps) = (self.player.step(), self.player.steps());
        self.view.step_zoom.keep(step, steps);
        self.scroll();
        self.begin_failure();
        self.tour_episode_ready();
        self.compare_now();
    }

    /// Goes where the window is to begin.
    fn go_to_beginning(&mut self) {
        // A machine to compare with comes on screen next, and begins there too.
        let once_more = matches!(self.comparing.waiting, Some((_, OpenedFile::Machine(_))));
        let mut begin = std::mem::take(&mut self.pending.begin);
        let interventions = std::mem::take(&mut begin.interventions);
        if once_more {
            self.pending.begin.clone_from(&begin);
        }
        if let Some(step) = begin.step {
            self.player.seek(step);
        }
        if let Some(stage) = begin.stage {
            self.player.seek_stage(stage);
        }
        if begin.layout.is_some() {
            self.settings.layout = begin.layout;
        }
        let head = |label: String| head_named(self.trace()?, &label);
        if let Some(head) = begin.head.and_then(head) {
            self.select_head(head);
        }
        let pin = |name: &String| Some(pinned(name, self.trace()?));
        match begin.pin.as_ref().and_then(pin) {
            Some(Ok((datum, target, head))) => {
                head.into_iter().for_each(|head| self.select_head(head));
                (self.view.selected, self.view.named) = (Some(target), Some(datum));
                // Its numbers are beside the pictures, or over them.
                self.drawer = !self.embedded;
                self.settings.panels.numbers |= !self.embedded;
            }
            Some(Err(why)) => {
                let name = begin.pin.unwrap_or_default();
                self.toasts
                    .add(Kind::Problem, format!("pin={name}: {why}."));
            }
            None => {}
        }
        if begin.family {
            self.window(Window::ToggleFamily);
        }
        if let (Some(parts), Some(open)) = (begin.parts, &self.session.open) {
            match parts.check(open) {
                Ok(()) => self.parts = Some(parts),
                Err(sentence) => self
                    .toasts
                    .add(Kind::Problem, format!("Invalid link: {sentence}")),
            }
        }
        interventions
            .into_iter()
            .for_each(|text| self.intervene(text));
    }

    /// Returns the names of the selected head and the pinned one.
    pub(super) fn head_names(&self) -> [Option<HeadName>; 2] {
        [Some(self.view.focus), self.view.pinned].map(|head| {
            let (trace, head) = (self.trace()?, head?);
            (head < trace.heads.len()).then(|| HeadName::of(trace, head))
        })
    }

    /// Looks at the heads of these names, if the episode on screen has them: heads of two machines that do
    /// the same may stand in other places.
    pub(super) fn select_named_head(&mut self, names: [Option<HeadName>; 2]) {
        let named = |name: Option<HeadName>| {
            let (trace, name) = (self.trace()?, name?);
            (0..trace.heads.len()).find(|&head| HeadName::of(trace, head) == name)
        };
        let [focus, pinned] = names.map(named);
        self.view.focus = focus.unwrap_or(self.view.focus);
        self.view.pinned = pinned.filter(|head| *head != self.view.focus);
    }
}
