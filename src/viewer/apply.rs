//! The one place where commands change the state of the window. Actions outside it are returned as effects.

mod branch;
mod compare;
mod edit;
mod end_run;
mod episode;
mod files;
mod learning;
mod measure;
mod mode;
mod open;
pub mod prepare;
pub mod record;
mod rows;
mod search;
mod tour;
mod window;
mod write;

use super::command::{Command, Edit, Play, ViewCommand};
use super::state::{
    Effect, EpisodeRequest, Job, Kind, Outcome, State, Target, TrainingAction, WindowLayout,
};
use crate::figure::{PanelId, Picture};

/// The subject of the message that the window is about to close.
pub const CLOSING: &str = "closing";

impl State {
    /// Applies the commands of one gesture, in order, as one change to undo. Returns the effects.
    pub fn apply_all(&mut self, commands: Vec<Command>) -> Vec<Effect> {
        let mut before = self.undo_state();
        for command in commands {
            let counts = !matches!(command, Command::Edit(Edit::Undo | Edit::Redo));
            if !counts {
                self.history.record(before, &self.undo_state());
                before = self.undo_state();
            }
            self.act(command);
            if !counts {
                before = self.undo_state();
            }
        }
        self.history.record(before, &self.undo_state());
        std::mem::take(&mut self.effects)
    }

    /// Applies one command that no gesture asks for.
    pub fn apply(&mut self, command: Command) -> Vec<Effect> {
        self.act(command);
        std::mem::take(&mut self.effects)
    }

    /// Applies the outcome of a job. Returns the effects.
    pub fn receive(&mut self, outcome: Outcome) -> Vec<Effect> {
        self.follow(None, outcome);
        std::mem::take(&mut self.effects)
    }

    /// Shows another episode than the one asked for: a change of its own, while a drag continues during its recordings.
    fn replace_episode(&mut self, show: impl FnOnce(&mut Self)) {
        self.history.begin_gesture();
        let before = self.session.open.is_some().then(|| self.undo_state());
        show(self);
        if let Some(before) = before {
            self.history.record(before, &self.undo_state());
        }
    }

    /// Reports a job that was not done; of a recording, the episode of the request does not come.
    pub(super) fn not_done(&mut self, request: Option<&EpisodeRequest>, kind: Kind, text: String) {
        if request.is_none() || kind == Kind::Notice {
            self.stay_open();
        }
        request.into_iter().for_each(|request| self.refuse(request));
        self.toasts.add(kind, text);
    }

    /// Reports something that was done.
    pub(super) fn confirm(&mut self, text: String) {
        self.toasts.add(Kind::Done, text);
    }

    /// A file was not written: the window shows that before it closes.
    pub(super) fn stay_open(&mut self) {
        if std::mem::take(&mut self.frame.closes) {
            self.toasts.withdraw(CLOSING);
        }
    }

    /// Hands a job to the worker.
    fn start(&mut self, job: Job) {
        self.effects.push(Effect::Start(job));
    }

    /// Gives an order to the training threads.
    fn train(&mut self, action: TrainingAction) {
        self.effects.push(Effect::Train(action));
    }

    fn act(&mut self, command: Command) {
        if !command.is_update() {
            self.take_over();
            self.end_finished_tour(&command);
        }
        let is_heard = self.tour().is_some_and(|tour| tour.hears(&command));
        let heard = is_heard.then(|| command.clone());
        self.follow(heard.as_ref(), |state| state.perform(command));
    }

    /// Performs a command.
    fn perform(&mut self, command: Command) {
        match command {
            Command::Play(play) => self.play(play),
            Command::View(command) => self.change_view(command),
            Command::Rows(rows) => self.move_rows(rows),
            Command::Steps(steps) => self.move_steps(steps),
            Command::Episode(episode) => {
                let is_edited = !self.session.request.flipped.is_empty();
                self.request(episode);
                if is_edited && self.session.request.flipped.is_empty() {
                    let text = "The edited input was dropped: it belongs to the episode before. Ctrl+Z restores it.";
                    self.toasts.add(Kind::Notice, text);
                }
            }
            Command::Edit(edit) => self.edit(edit),
            Command::Compare(compare) => self.compare(compare),
            Command::File(file) => self.file(file),
            Command::Dialog(command) => self.change_dialog(command),
            Command::Window(window) => self.window(window),
            Command::Tour(tour) => self.guide(tour),
            Command::Learn(learn) => self.learn(learn),
            Command::Parts(parts) => self.parts = parts,
        }
    }

    /// Changes the state, and all that follows from the change. `heard`: the command that the tour may wait for.
    fn follow(&mut self, heard: Option<&Command>, change: impl FnOnce(&mut Self)) {
        let (usual, step) = (self.usual_speed(), self.player.step());
        change(self);
        if heard.is_some() {
            self.notify_tour(heard);
        }
        self.watch_failure();
        self.follow_learner();
        if self.player.step() != step {
            let steps = self.player.steps();
            self.view.step_zoom.keep(self.player.step(), steps);
        }
        self.auto_focus();
        self.player.set_reduced_motion(!self.moves());
        // A speed that the user has chosen is kept.
        if !self.is_opening() && (self.player.speed() - usual).abs() < f64::EPSILON {
            self.player.set_speed(self.usual_speed());
        }
    }

    /// Commands about time.
    fn play(&mut self, play: Play) {
        if let Play::Pass(seconds) = play {
            // In the tour every step is waited for.
            let stops = self.found().filter(|_| self.tour().is_none());
            let stops = stops.as_ref().map_or(&[][..], |found| &found.steps);
            self.player.advance_until(f64::from(seconds), stops);
            self.apply_opening();
            self.toasts.advance(seconds);
            return;
        }
        if play == Play::TakeOver {
            return;
        }
        self.welcome.shown &= self.session.open.is_none();
        let (usual, step) = (self.usual_speed(), self.player.step());
        let player = &mut self.player;
        match play {
            Play::Toggle => player.toggle_play(),
            Play::Step(by) if by < 0 => player.back(by.unsigned_abs()),
            Play::Step(by) => player.forward(by.unsigned_abs()),
            Play::Stage(by) => {
                if player.playing() {
                    player.pause();
                }
                for _ in 0..by.unsigned_abs() {
                    if by < 0 {
                        player.previous_stage();
                    } else {
                        player.next_stage();
                    }
                }
            }
            Play::First => player.first(),
            Play::Last => player.last(),
            Play::Faster(times) => player.set_speed(player.speed() * 2_f64.powi(times)),
            Play::NormalSpeed => player.set_speed(usual),
            Play::ToggleLoop => player.toggle_loop(),
            Play::LoopIn => player.loop_in(),
            Play::LoopOut => player.loop_out(),
            Play::LoopRange(range) => player.set_range(range),
            Play::Event(by) => {
                let event = self.event(by).unwrap_or(step);
                self.player.seek(event);
            }
            Play::Match(by) => {
                let step = self.next_match(by).unwrap_or(step);
                self.player.seek(step);
            }
            Play::WrongBit => {
                if let Some((step, column)) = self.next_wrong() {
                    let id = PanelId::new(Picture::Output);
                    self.player.seek(step);
                    self.player.show_whole_steps();
                    self.view.selected = Some(Target::Value { id, column });
                }
            }
            Play::Seek(step) => player.seek(step),
            Play::SeekStage(stage) => player.seek_stage(stage),
            Play::StepEnd => player.show_whole_steps(),
            Play::Through(through) => player.seek_through(through),
            Play::Pass(_) | Play::TakeOver => {}
        }
        // After a step by hand, it stays there.
        if let Play::Step(-1 | 1)
        | Play::Event(_)
        | Play::Match(_)
        | Play::WrongBit
        | Play::SeekStage(_)
        | Play::Through(_) = play
        {
            self.player.pause();
        }
    }

    /// Applies commands about the view.
    fn change_view(&mut self, command: ViewCommand) {
        match command {
            // Selecting it again unpins it.
            ViewCommand::Focus(head) if self.view.is_pinned(head) => self.view.chosen = false,
            ViewCommand::Focus(head) => self.select_head(head),
            ViewCommand::Pin(head) => self.pin(head),
            ViewCommand::AllHeads => self.view.all_heads = !self.view.all_heads,
            ViewCommand::NextScale => self.view.log_scale = !self.view.log_scale,
            ViewCommand::NextLayout => self.settings.layout = Some(self.next_layout()),
            ViewCommand::Select(target) => {
                (self.view.selected, self.view.named) = (Some(target), None);
            }
            ViewCommand::Deselect => self.view.selected = None,
            ViewCommand::List(list) => {
                self.view.list = list;
                // The list needs room that a close-up does not leave.
                if self.lines() == 0 && !self.shows_learner() {
                    self.settings.panels.numbers = true;
                    if self.layout() == WindowLayout::CloseUp {
                        self.settings.layout = Some(WindowLayout::Debug);
                    }
                }
            }
        }
    }

    /// Selects the most salient head while the user has chosen none.
    fn auto_focus(&mut self) {
        if let (false, Some(open)) = (self.view.chosen, &self.session.open) {
            let salient = open.facts.salient.at(self.player.step());
            self.view.focus = salient.unwrap_or(usize::MAX);
        }
    }

    fn select_head(&mut self, head: usize) {
        if head >= self.heads() {
            return;
        }
        let view = &mut self.view;
        view.chosen = true;
        if view.pinned == Some(head) {
            view.pinned = Some(view.focus);
        }
        view.focus = head;
        view.all_heads = false;
    }

    fn pin(&mut self, head: usize) {
        let heads = self.heads();
        let view = &mut self.view;
        let other = head < heads && head != view.focus && view.pinned != Some(head);
        view.pinned = other.then_some(head);
        // Two that are compared stay.
        view.chosen |= other;
        view.all_heads = false;
    }
}
