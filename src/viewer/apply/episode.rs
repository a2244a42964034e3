//! Which episode is on screen: what is asked for, and what happens when it comes.

use std::sync::Arc;

use crate::figure::{self, head_named};
use crate::model::Sampling;
use crate::train::Quantity;
use crate::viewer::command::Episode;
use crate::viewer::files::Opened;
use crate::viewer::part::Part;
use crate::viewer::rows::Zoom;
use crate::viewer::state::State;
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::state::episode::Open;
use crate::viewer::state::messages::Kind;
use crate::viewer::state::session::SAMPLES;
use crate::viewer::state::work::{Effect, Job};

impl State {
    /// Commands that ask for another episode.
    pub(super) fn wish(&mut self, episode: Episode) {
        let before = self.session.wish.clone();
        let limit = match episode {
            Episode::Restart => return self.player.first(),
            Episode::Spread => return self.ask_samples(),
            Episode::Mattered(of) => return self.look_at_what_mattered(of),
            Episode::Samples(count) => {
                self.session.samples = count.clamp(*SAMPLES.start(), *SAMPLES.end());
                return;
            }
            Episode::NextSeed => {
                self.session.wish.seed = before.seed.wrapping_add(1);
                self.say_who_records();
                None
            }
            Episode::Machine(index) => {
                self.leave_stop();
                if self.comparing.kept.is_some() {
                    self.session.choose_alike(index);
                } else {
                    self.session.choose(index);
                }
                return self.record();
            }
            Episode::Failure(which) => return self.show_failure(which),
            Episode::Size(size) => self.session.set_size(size),
            Episode::Repeats(repeats) => self.session.set_repeats(repeats),
            Episode::Seed(seed) => {
                self.session.wish.seed = seed;
                None
            }
            Episode::Rows(rows) => self.session.set_rows(rows),
            Episode::AnotherDraw => {
                self.session.draw_again();
                None
            }
            Episode::Sample(sample) => {
                (self.session.wish.sampling, self.session.wish.sample) = (Sampling::Drawn, sample);
                None
            }
            Episode::Sampling(sampling) => {
                self.session.wish.sampling = sampling;
                None
            }
        };
        let is_same = matches!(
            episode,
            Episode::Rows(_) | Episode::AnotherDraw | Episode::Sample(_) | Episode::Sampling(_)
        );
        if !is_same {
            // The bits of another episode are others.
            self.session.wish.flipped.clear();
            self.session.wish.given = None;
        }
        if let Some(sentence) = limit {
            self.toasts.add(Kind::Notice, sentence);
        }
        if self.session.wish != before {
            self.record();
        }
    }

    /// Asks for the spread of many samples of the episode on screen.
    fn ask_samples(&mut self) {
        let shown = self
            .session
            .open
            .as_ref()
            .and_then(|open| open.wish.as_ref());
        if shown.is_some_and(|wish| wish.is_alike(&self.session.wish))
            && let Some(request) = self.session.request()
        {
            let job = Job::Sample(request, self.session.samples);
            self.effects.push(Effect::Start(job));
        }
    }

    /// Shows how much everything mattered, or the values again where that is on screen already: by the key of the loss
    /// whatever it is that mattered.
    fn look_at_what_mattered(&mut self, of: Quantity) {
        let on_screen = self.layer().derivatives().map(|by| by.of);
        if on_screen.is_some_and(|now| of == now || of == Quantity::Loss) {
            self.leave_what_mattered();
            return;
        }
        if !self.arrangement().has_layers() {
            self.settings.arrangement = Some(Arrangement::Debug);
        }
        self.work_out_what_mattered(of);
    }

    pub(super) fn work_out_what_mattered(&mut self, of: Quantity) {
        if let Some(open) = &self.session.open {
            let job = Job::Derive(open.shown.clone(), of);
            self.effects.push(Effect::Start(job));
        }
    }

    /// The values again; false where they are on screen.
    pub(super) fn leave_what_mattered(&mut self) -> bool {
        let is_shown = self.layer().derivatives().is_some();
        let open = self.session.open.as_mut().filter(|_| is_shown);
        open.is_some_and(|open| open.mattered.take().is_some())
    }

    /// A recorded trace has no machine to record another episode: says which one does.
    fn say_who_records(&mut self) {
        let of_a_file = self.session.open.as_ref().is_some_and(Open::is_of_a_file);
        if let (true, Some(machine)) = (of_a_file, self.session.machine()) {
            let title = &machine.title;
            let text =
                format!("A new episode of the machine {title}. Ctrl+Z brings the trace back.");
            self.toasts.add(Kind::Notice, text);
        }
    }

    /// Asks for what there is to begin with, where no file is opened.
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
            self.session.wish.flipped = flipped;
        }
        self.record();
    }

    pub(super) fn record(&mut self) {
        if let Some(request) = self.session.request() {
            self.pending.asked = true;
            self.effects.push(Effect::Start(Job::Record(request)));
        }
    }

    /// Puts an episode on screen.
    pub(super) fn show(&mut self, mut open: Open) {
        if std::mem::take(&mut self.welcome.shown) {
            self.pending.play = !self.settings.look.still;
        }
        let heads = self.head_labels();
        let before = self.session.open.as_ref();
        let before = before.and_then(|open| open.shown.machine.as_ref());
        let machines = before.zip(open.shown.machine.as_ref());
        let same_machine = machines.is_some_and(|(before, now)| Arc::ptr_eq(before, now));
        // One that learns is another at every moment, and yet the same.
        let same_name = machines.is_some_and(|(before, now)| before.name == now.name);
        if same_machine
            && let Some(before) = &self.session.open
            && let (Some(own), Some(other)) = (&open.wish, &before.wish)
            && own.is_alike(other)
        {
            // What many draws say is true of each of them.
            open.spread.clone_from(&before.spread);
        }
        let mattered = self
            .session
            .open
            .as_ref()
            .and_then(|open| open.mattered.as_ref());
        let mattered = mattered.map(|now| now.of);
        // They come with it, unless something else was asked for since.
        open.mattered = open.mattered.filter(|by| Some(by.of) == mattered);
        let lacking = mattered.filter(|_| same_machine && open.mattered.is_none());
        self.session.show(open);
        lacking
            .into_iter()
            .for_each(|of| self.work_out_what_mattered(of));
        self.look_at_named(heads);
        self.opened(same_name || self.editing.mark.is_some());
    }

    /// An episode has come on screen. Where it `goes_on`, the moment stays: to see what is another there.
    pub(super) fn opened(&mut self, goes_on: bool) {
        self.pending.asked = false;
        let undone = self.pending.coming.take();
        if let Some((focus, pinned)) = undone {
            (self.sight.focus, self.sight.pinned) = (focus, pinned);
        }
        let Some(open) = &self.session.open else {
            return;
        };
        let trace = &open.shown.recording.trace;
        let bits = open.shown.recording.task.bits();
        let last = (trace.steps().saturating_sub(1), bits.saturating_sub(1));
        let mark = self.editing.mark.filter(|_| !open.is_of_a_file());
        self.editing.mark = mark.map(|(step, channel)| (step.min(last.0), channel.min(last.1)));
        let before = self.player.clone();
        self.player.load(trace.steps(), open.stages.len());
        if !goes_on {
            self.suits = Arrangement::that_suits(open);
        }
        if (goes_on || undone.is_some()) && self.tour.is_none() {
            self.player.go_on_from(&before);
        }
        if !goes_on {
            self.sight.part = Part::default();
        }
        if !goes_on && undone.is_none() {
            self.sight.zoom = Zoom::default();
        }
        let sight = &mut self.sight;
        sight.pinned = sight.pinned.filter(|head| *head < trace.heads.len());
        sight.chosen &= sight.focus < trace.heads.len();
        self.look_by_itself();
        self.opening = None;
        if std::mem::take(&mut self.pending.play) {
            self.begin_opening();
            self.player.play();
        }
        self.go_to_beginning();
        self.follow_low_rows();
        self.begin_failure();
        self.tour_has_come();
        self.compare_now();
    }

    /// Where rows are too low to be told from one another, those about the head are on screen.
    fn follow_low_rows(&mut self) {
        let room = self.frame.room;
        if let Some(rows) = self.whole()
            && self.sight.zoom.is_lost(&rows, room)
        {
            self.sight.zoom.follow = false;
            self.sight.zoom.toggle_follow(&rows, room);
            self.scroll();
        }
    }

    /// Goes where the window is to begin.
    fn go_to_beginning(&mut self) {
        // A machine to compare with comes on screen next, and begins there too.
        let once_more = matches!(self.comparing.waiting, Some((_, Opened::Machine(_))));
        let begin = &mut self.pending.begin;
        let begin = if once_more {
            begin.clone()
        } else {
            std::mem::take(begin)
        };
        if let Some(step) = begin.step {
            self.player.seek(step);
        }
        if let Some(stage) = begin.stage {
            self.player.seek_stage(stage);
        }
        if begin.layout.is_some() {
            self.settings.arrangement = begin.layout;
        }
        let head = |label: String| head_named(self.trace()?, &label);
        if let Some(head) = begin.head.and_then(head) {
            self.look_at(head);
        }
    }

    /// The labels of the head looked at and of the one pinned.
    pub(super) fn head_labels(&self) -> [Option<String>; 2] {
        [Some(self.sight.focus), self.sight.pinned].map(|head| {
            let label = figure::head_label(self.trace()?, head?);
            (!label.is_empty()).then_some(label)
        })
    }

    /// Looks at the heads of these labels, if the episode on screen has them: heads of two machines that do
    /// the same may stand in other places.
    pub(super) fn look_at_named(&mut self, labels: [Option<String>; 2]) {
        let named = |label: Option<String>| head_named(self.trace()?, &label?);
        let [focus, pinned] = labels.map(named);
        self.sight.focus = focus.unwrap_or(self.sight.focus);
        self.sight.pinned = pinned.filter(|head| *head != self.sight.focus);
    }
}
