//! The window's state, the one place where commands are applied, and the frame that shows it all.

mod changes;
mod choices;
mod compare;
mod editing;
mod files;
mod guide;
pub mod look;
mod rows_on_screen;
mod start;

use std::path::{Path, PathBuf};
use std::time::Duration;

use egui::{CentralPanel, Context, Frame, Panel, Ui, ViewportCommand};

use super::command::Command;
use super::files::{Aim, Opened};
use super::inspect::{self, Card, Form};
use super::keys::{self, Held};
use super::options::{Beginning, Options};
use super::panel::compare::compare_ui;
use super::panel::dialogs::{Answer, Dialog, Known, dialog_panel_ui};
use super::panel::finder::Search;
use super::panel::paper::paper_ui;
use super::panel::top::Bar;
use super::panel::{self, Columns, View, bottom, centre, left, right, top};
use super::rows::Zoom;
use super::state::arrangement::Arrangement;
use super::state::compare::Comparing;
use super::state::episode::Open;
use super::state::history::History;
use super::state::messages::{Kind, Toasts};
use super::state::session::Session;
use super::state::settings::{Look, Panels, Settings};
use super::state::target::Target;
use super::state::tour::Tour;
use super::state::welcome::Welcome;
use super::story;
use super::theme::{self, Palette, Scale};
use super::widget::figure::Page;
use super::widget::picture::Textures;
use super::widget::readout::{Readout, readout_ui};
use super::widget::toast::toasts_ui;
use super::widget::track;
use super::worker::{Job, Outcome, Worker};
use crate::figure::head_named;
use crate::player::{JUMP, NORMAL, Player};

/// Longest time that one frame may stand for, in seconds: a window that was away does not leap.
const LONGEST_FRAME: f32 = 0.25;

/// The window.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the window"
)]
pub struct App {
    /// What is open.
    pub session: Session,
    /// Playback.
    pub player: Player,
    /// The head that is looked at.
    pub focus: usize,
    /// The head pinned beside it.
    pub pinned: Option<usize>,
    /// Both of them for the episode that has been asked for again, and is not on screen yet.
    coming: Option<(usize, Option<usize>)>,
    /// True while an episode is asked for that is not on screen yet.
    asked: bool,
    /// While true, nothing that the worker has done is taken in: for tests of what is under way.
    pub held: bool,
    /// True while all heads are shown alike.
    pub all_heads: bool,
    /// True while only touched rows are shown.
    pub touched_only: bool,
    /// True while the right panel lies over the pictures, in a window too narrow for it.
    pub drawer: bool,
    /// Which part of the rows is on screen.
    pub zoom: Zoom,
    /// True while weightings are shown by their logarithm.
    pub log_scale: bool,
    /// Height of the rows on screen in the last frame.
    room: f32,
    /// Width of the window in the last frame.
    width: f32,
    /// The mark in the input while it is edited: step and channel.
    pub mark: Option<(usize, usize)>,
    /// What is remembered between runs.
    pub settings: Settings,
    /// What of it is on.
    worn: Look,
    history: History,
    welcome: Welcome,
    tour: Option<Tour>,
    theme: egui::Theme,
    page: Page,
    /// Two episodes: what runs over time, and what is of the step.
    pages: [Page; 2],
    comparing: Comparing,
    worker: Worker,
    textures: Textures,
    toasts: Toasts,
    dialog: Option<Dialog>,
    readout: Option<Readout>,
    row: Option<usize>,
    unit: Option<(usize, usize)>,
    selected: Option<Target>,
    title: String,
    play_when_ready: bool,
    /// What it is to begin with, as far as that has not happened yet.
    begin: Beginning,
    /// The time of the last frame.
    time: Option<f64>,
}

impl App {
    /// The app in a window: records in the background.
    pub fn new(ctx: &Context, options: Options) -> Self {
        theme::apply(ctx);
        look::wear(options.settings.look, ctx, Look::default());
        let wake = ctx.clone();
        let worker = Worker::new(options.files.clone(), move || wake.request_repaint());
        Self::with_worker(options, worker)
    }

    /// The app without a window: every job is done at once. For tests.
    ///
    /// The context it will be drawn in has to be prepared with [`super::dress`].
    pub fn headless(options: Options) -> Self {
        let worker = Worker::here(options.files.clone());
        Self::with_worker(options, worker)
    }

    fn with_worker(options: Options, worker: Worker) -> Self {
        let still = options.settings.look.still;
        let mut app = Self {
            session: Session::new(options.machines, options.seed),
            player: Player::new(0, 1),
            focus: usize::MAX,
            pinned: None,
            coming: None,
            asked: false,
            held: false,
            all_heads: false,
            touched_only: true,
            drawer: false,
            zoom: Zoom::default(),
            log_scale: false,
            mark: None,
            room: 400.0,
            width: f32::INFINITY,
            settings: options.settings,
            worn: Look::default(),
            history: History::default(),
            welcome: Welcome::default(),
            tour: None,
            theme: egui::Theme::Dark,
            page: Page::default(),
            pages: Default::default(),
            comparing: Comparing::new(options.compare),
            worker,
            textures: Textures::default(),
            toasts: Toasts::default(),
            dialog: None,
            readout: None,
            row: None,
            unit: None,
            selected: None,
            title: String::new(),
            play_when_ready: !still && options.begin.step.is_none(),
            begin: options.begin,
            time: None,
        };
        match options.open {
            Some((path, opened)) => app.take_in(Outcome::opened(path, opened)),
            None => app.record_first(),
        }
        app.collect();
        app
    }

    /// The value under the pointer, if there is one.
    pub fn readout(&self) -> Option<&Readout> {
        self.readout.as_ref()
    }

    /// The line at the bottom: the current step in words.
    pub fn status(&self) -> String {
        self.session.open.as_ref().map_or_else(String::new, |open| {
            story::status(open, &self.player, self.focus)
        })
    }

    /// What is said about the thing kept in view, if there is one.
    pub fn card(&self) -> Option<Card> {
        let open = self.session.open.as_ref()?;
        let pair = self.pair_on_screen();
        let (focus, step) = (self.focus, self.player.step());
        panel::card(self.selected?, pair.as_ref(), open, focus, step)
    }

    /// Bytes of textures uploaded so far.
    pub fn uploaded_bytes(&self) -> usize {
        self.textures.bytes()
    }

    /// Textures uploaded so far.
    pub fn uploads(&self) -> usize {
        self.textures.uploads()
    }

    /// Records the first episode of a machine.
    fn record_first(&mut self) {
        let asked = self.begin.asked.take();
        self.session.begin(self.begin.rows, asked);
        self.record();
    }

    fn record(&mut self) {
        if let Some(request) = self.session.request() {
            self.asked = true;
            self.worker.start(Job::Record(request));
        }
    }

    /// Takes in what the worker has done; a file that was chosen is a command like any other.
    fn collect(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        if self.held {
            return commands;
        }
        for outcome in self.worker.outcomes() {
            let of_a_file = matches!(
                outcome,
                Outcome::Weights(..) | Outcome::Trace(..) | Outcome::Other(_)
            );
            let before = (of_a_file && self.session.open.is_some()).then(|| self.moment());
            match outcome {
                Outcome::Chosen { aim, path } => commands.extend(self.chosen(aim, path)),
                outcome => self.take_in(outcome),
            }
            if let Some(before) = before {
                self.history.note(before, &self.moment(), false);
            }
        }
        commands
    }

    fn take_in(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Recorded(open) => {
                // It may have come too late: something else was asked for, or shown, since.
                if self.asked && open.wish.as_ref() == Some(&self.session.wish) {
                    self.show(*open);
                }
            }
            Outcome::Refused(wish, sentence) => {
                if wish == self.session.wish {
                    (self.asked, self.coming) = (false, None);
                }
                self.session.refuse(&wish);
                self.toasts.add(Kind::Problem, sentence);
            }
            Outcome::Weights(path, machine) => {
                self.add(&path, *machine);
                self.remember(path);
            }
            Outcome::Trace(path, open) => {
                self.show_file(&path, *open);
                self.remember(path);
            }
            Outcome::Other(other) => self.take_other(*other),
            Outcome::Compared(found) => self.compared(found),
            Outcome::Saved(sentence) => self.toasts.add(Kind::Done, sentence),
            Outcome::Failed(sentence) => self.toasts.add(Kind::Problem, sentence),
            Outcome::Picture(name, open) => {
                let picture = open.map(|open| self.session.numbered(*open));
                self.welcome.pictures.insert(name, picture);
            }
            Outcome::Outdated | Outcome::NotChosen | Outcome::Chosen { .. } => {}
        }
    }
    fn show(&mut self, open: Open) {
        if std::mem::take(&mut self.welcome.shown) {
            self.play_when_ready = !self.settings.look.still;
        }
        let heads = self.head_labels();
        let before = self
            .session
            .open
            .as_ref()
            .and_then(|open| open.wish.as_ref());
        let other_rows = before
            .zip(open.wish.as_ref())
            .is_some_and(|(before, wish)| wish.is_only_on_other_rows(before));
        let step = self.player.step();
        self.session.show(open);
        self.look_at_named(heads);
        self.opened();
        if other_rows && self.tour.is_none() {
            // The same moment, to see what other rows change there.
            self.player.seek(step);
        }
    }

    /// An episode has come on screen.
    fn opened(&mut self) {
        self.asked = false;
        if let Some((focus, pinned)) = self.coming.take() {
            (self.focus, self.pinned) = (focus, pinned);
        }
        let Some(open) = &self.session.open else {
            return;
        };
        let trace = &open.shown.recording.trace;
        let stages = open.stages.len();
        let bits = open.shown.recording.task.bits();
        let last = (trace.steps().saturating_sub(1), bits.saturating_sub(1));
        let mark = self.mark.filter(|_| !open.is_of_a_file());
        self.mark = mark.map(|(step, channel)| (step.min(last.0), channel.min(last.1)));
        let before = self.player.clone();
        self.player.load(trace.steps(), stages);
        if self.mark.is_some() {
            // Whoever changes a bit wants to see what it changes here.
            self.player.go_on_from(&before);
        }
        self.pinned = self.pinned.filter(|head| *head < trace.heads.len());
        if self.focus >= trace.heads.len() {
            // The write head comes first in the story of an episode.
            let write = trace
                .heads
                .iter()
                .position(crate::model::HeadTrace::is_write);
            self.focus = write.unwrap_or(usize::MAX);
        }
        if std::mem::take(&mut self.play_when_ready) {
            self.player.play();
        }
        // A machine to compare with comes on screen next, and begins there too.
        let once_more = matches!(self.comparing.waiting, Some((_, Opened::Machine(_))));
        let begin = self.begin.clone();
        self.begin = if once_more {
            begin.clone()
        } else {
            Beginning::default()
        };
        let trace = &open.shown.recording.trace;
        let head = begin.head.and_then(|label| head_named(trace, &label));
        if let Some(step) = begin.step {
            self.player.seek(step);
        }
        if let Some(head) = head {
            self.look_at(head);
        }
        if let (Some(tour), Some(open)) = (self.tour, &self.session.open) {
            tour.prepare(&mut self.player, &open.stages);
        }
        self.compare_now();
    }

    /// Applies commands in order.
    pub fn apply(&mut self, ctx: &Context, commands: Vec<Command>) {
        let pressed = ctx.input(|input| input.pointer.any_down());
        if !pressed {
            self.history.released();
        }
        for command in commands {
            let before = self.moment();
            match command {
                Command::NextTheme => {
                    let look = &mut self.settings.look;
                    look.theme = look::next_theme(ctx, look.theme);
                }
                Command::CopyTable { form } => self.copy(ctx, form),
                Command::CopyText(text) => ctx.copy_text(text),
                Command::CopyCells { text, said } => {
                    ctx.copy_text(text);
                    self.toasts.add(Kind::Done, said);
                }
                Command::Undo | Command::Redo => {
                    self.travel(command == Command::Redo);
                    continue;
                }
                command => {
                    self.act(command.clone());
                    self.tell_tour(&command);
                }
            }
            self.history.note(before, &self.moment(), pressed);
        }
        let look = self.settings.look;
        look::wear(look, ctx, std::mem::replace(&mut self.worn, look));
        let chosen = self.collect();
        if !chosen.is_empty() {
            self.apply(ctx, chosen);
        }
    }

    fn copy(&mut self, ctx: &Context, form: Form) {
        let Some(open) = &self.session.open else {
            return;
        };
        let step = self.player.step();
        let head = open.shown.recording.trace.heads.get(self.focus);
        let table = match self.card() {
            Some(card) => card.table,
            None => match head {
                Some(head) => inspect::rows_table(head, step),
                None => return,
            },
        };
        let (rows, columns) = (table.rows.len(), table.columns.len());
        ctx.copy_text(table.text(form));
        let form = form.name();
        let text = format!("{rows} rows, {columns} columns are copied as {form}.");
        self.toasts.add(Kind::Done, text);
    }

    fn act(&mut self, command: Command) {
        match command {
            Command::ToggleTouched => self.touched_only = !self.touched_only,
            Command::Fit => {
                self.touched_only = false;
                self.zoom = Zoom::default();
            }
            Command::NextScale => self.log_scale = !self.log_scale,
            Command::RowsTaller
            | Command::RowsLower
            | Command::ToggleFollow
            | Command::NextRow
            | Command::PreviousRow
            | Command::ExtendDown
            | Command::ExtendUp
            | Command::ScrollRows(_)
            | Command::CentreRow(_) => self.move_rows(&command),
            Command::ToggleEdit
            | Command::MoveMark(..)
            | Command::FlipMarked
            | Command::Flip(..)
            | Command::Paint { .. } => self.edit(&command),
            Command::ToggleNumbers if self.width < panel::NARROW => self.drawer = !self.drawer,
            Command::ToggleLeft
            | Command::ToggleNumbers
            | Command::ToggleTimeline
            | Command::Theme(_)
            | Command::Colors(_)
            | Command::Larger
            | Command::Smaller
            | Command::NormalSize
            | Command::Scale(_)
            | Command::ToggleMotion
            | Command::ForgetFiles => self.set(&command),
            Command::NextLayout => {
                let two = self.pair().is_some();
                self.settings.arrangement = self.arrangement().next(two);
            }
            Command::Focus(head) => self.look_at(head),
            Command::Pin(head) => self.pin(head),
            Command::AllHeads => self.all_heads = !self.all_heads,
            Command::Select(target) => self.selected = Some(target),
            Command::Deselect => self.selected = None,
            Command::Dismiss(id) => self.toasts.dismiss(id),
            Command::Open(path) => self.worker.start(Job::Open(path)),
            Command::Save(path) => self.save(path),
            Command::Browse(aim) => self.browse(aim),
            Command::ToggleWelcome => self.toggle_welcome(),
            Command::StartTour | Command::NextStop | Command::LeaveTour | Command::Greet => {
                self.guide(&command);
            }
            Command::Compare(_)
            | Command::KeepAsA
            | Command::SwapSides
            | Command::ToggleDifference
            | Command::FirstDifference
            | Command::Tolerance(_)
            | Command::EndComparison => self.compare(&command),
            Command::AskStep
            | Command::AskCommand
            | Command::AskSettings
            | Command::AskAbout
            | Command::AskMessages
            | Command::AskCompare
            | Command::AskOpen
            | Command::AskSave
            | Command::AskFigure { .. }
            | Command::ToggleShortcuts
            | Command::Escape => self.open_dialog(&command),
            Command::Restart
            | Command::NextSeed
            | Command::Machine(_)
            | Command::Size(_)
            | Command::Repeats(_)
            | Command::Seed(_)
            | Command::MemoryRows(_) => self.wish(&command),
            command => self.play(&command),
        }
    }

    /// The step of the next event, or of the one before, if there is one.
    fn event(&self, forward: bool) -> Option<usize> {
        let (open, step) = (self.session.open.as_ref()?, self.player.step());
        let mut events = open.events.iter().map(|event| event.step);
        if forward {
            events.find(|&event| event > step)
        } else {
            events.rfind(|&event| event < step)
        }
    }

    /// Commands that move the play-head.
    fn play(&mut self, command: &Command) {
        self.welcome.shown &= self.session.open.is_none();
        let event = match command {
            Command::NextEvent => self.event(true),
            Command::PreviousEvent => self.event(false),
            _ => None,
        };
        let player = &mut self.player;
        match *command {
            Command::TogglePlay => player.toggle_play(),
            Command::NextStep => player.forward(1),
            Command::PreviousStep => player.back(1),
            Command::JumpForward => player.forward(JUMP),
            Command::JumpBack => player.back(JUMP),
            Command::NextStage => player.next_stage(),
            Command::PreviousStage => player.previous_stage(),
            Command::FirstStep => player.first(),
            Command::LastStep => player.last(),
            Command::Faster => player.faster(),
            Command::Slower => player.slower(),
            Command::NormalSpeed => player.set_speed(NORMAL),
            Command::ToggleLoop => player.toggle_loop(),
            Command::LoopIn => player.loop_in(),
            Command::LoopOut => player.loop_out(),
            Command::LoopRange(range) => player.set_range(range),
            Command::Seek(step) => player.seek(step),
            Command::SeekStage(stage) => player.seek_stage(stage),
            _ => {}
        }
        if let Some(step) = event {
            player.seek(step);
        }
        // Whoever steps by hand wants to stay there.
        let by_hand = matches!(
            command,
            Command::NextStep
                | Command::PreviousStep
                | Command::NextEvent
                | Command::PreviousEvent
                | Command::NextStage
                | Command::PreviousStage
                | Command::SeekStage(_)
        );
        if by_hand {
            player.pause();
        }
    }

    /// Commands that ask for another episode.
    fn wish(&mut self, command: &Command) {
        let before = self.session.wish.clone();
        let mut limit = None;
        match *command {
            Command::Restart => {
                self.player.first();
                return;
            }
            Command::NextSeed => {
                self.session.wish.seed = before.seed.wrapping_add(1);
                self.say_who_records();
            }
            Command::Machine(index) if self.comparing.kept.is_some() => {
                self.session.choose_alike(index);
            }
            Command::Machine(index) => self.session.choose(index),
            Command::Size(size) => limit = self.session.set_size(size),
            Command::Repeats(repeats) => limit = self.session.set_repeats(repeats),
            Command::Seed(seed) => self.session.wish.seed = seed,
            Command::MemoryRows(rows) => limit = self.session.set_rows(rows),
            _ => {}
        }
        if !matches!(command, Command::MemoryRows(_) | Command::Machine(_)) {
            // The bits of another episode are others.
            self.session.wish.flipped.clear();
            self.session.wish.given = None;
        }
        if let Some(sentence) = limit {
            self.toasts.add(Kind::Notice, sentence);
        }
        if self.session.wish != before || matches!(command, Command::Machine(_)) {
            self.record();
        }
    }

    /// Number of heads of the machine on screen.
    fn heads(&self) -> usize {
        let open = self.session.open.as_ref();
        open.map_or(0, |open| open.shown.recording.trace.heads.len())
    }

    fn look_at(&mut self, head: usize) {
        if head >= self.heads() {
            return;
        }
        if self.pinned == Some(head) {
            self.pinned = Some(self.focus);
        }
        self.focus = head;
        self.all_heads = false;
    }

    fn pin(&mut self, head: usize) {
        let other = head < self.heads() && head != self.focus && self.pinned != Some(head);
        self.pinned = other.then_some(head);
        self.all_heads = false;
    }
    fn open_dialog(&mut self, command: &Command) {
        let has_episode = self.session.open.is_some();
        self.dialog = match (command, self.dialog.take()) {
            (Command::AskCommand, Some(Dialog::Commands(_))) => None,
            (Command::AskCommand, _) => Some(Dialog::Commands(Search::default())),
            (Command::AskOpen, _) => Some(Dialog::Open {
                text: String::new(),
                compare: false,
            }),
            (Command::AskCompare, _) if has_episode => Some(Dialog::Open {
                text: String::new(),
                compare: true,
            }),
            (Command::AskSave, _) if has_episode => Some(Dialog::Save {
                text: self.suggestion(None),
                figure: false,
            }),
            (Command::AskFigure { svg }, _) if has_episode => Some(Dialog::Save {
                text: self.suggestion(Some(if *svg { ".svg" } else { ".png" })),
                figure: true,
            }),
            (Command::AskStep, _) if has_episode => Some(Dialog::Step {
                text: String::new(),
                unclear: false,
            }),
            (Command::AskSettings, _) => Some(Dialog::Settings),
            (Command::AskAbout, _) => Some(Dialog::About),
            (Command::AskMessages, _) => {
                self.toasts.look_up();
                Some(Dialog::Messages)
            }
            (Command::ToggleShortcuts, None) => Some(Dialog::Shortcuts),
            (Command::Escape, None) => {
                if self.width < panel::NARROW && self.drawer {
                    self.drawer = false;
                } else if self.welcome.shown {
                    self.toggle_welcome();
                } else if self.tour.take().is_none()
                    && self.selected.take().is_none()
                    && !self.leave_comparison()
                {
                    self.toasts.clear();
                }
                None
            }
            _ => None,
        };
    }

    /// What a dialog asks for.
    fn answer(&mut self, answer: Answer) -> Option<Command> {
        match answer {
            Answer::None => None,
            Answer::Leave => {
                self.dialog = None;
                None
            }
            Answer::Open(text, aim) => self.chosen(aim, PathBuf::from(text.trim())),
            Answer::Save(text, figure) => {
                let aim = if figure { Aim::Figure } else { Aim::Save };
                self.chosen(aim, PathBuf::from(text.trim()))
            }
            Answer::Step(text) => {
                let step = self.session.open.as_ref().and_then(|open| {
                    story::step_meant(&open.shown.recording, self.player.step(), &text)
                });
                self.dialog = step.is_none().then_some(Dialog::Step {
                    text,
                    unclear: true,
                });
                step.map(Command::Seek)
            }
        }
    }

    /// Time passes, keys are read, files are dropped.
    fn before_ui(&mut self, ctx: &Context) {
        // Not `stable_dt`: that is a guess after a frame that was asked for in advance.
        let now = ctx.input(|input| input.time);
        let passed = now - self.time.replace(now).unwrap_or(now);
        let seconds = (passed as f32).clamp(0.0, LONGEST_FRAME);
        self.player.advance(f64::from(seconds));
        self.toasts.advance(seconds);
        let held = Held {
            dialog: self.dialog.is_some(),
            editing: self.mark.is_some() && self.dialog.is_none(),
            track: track::has_arrows(ctx),
        };
        let mut commands = keys::take_keys(ctx, held);
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        let paths = dropped.iter().map(|file| file.path());
        commands.extend(paths.map(|path| Command::Open(path.to_owned())));
        self.apply(ctx, commands);
    }

    /// The next frame comes when something will have changed, not before.
    fn after_ui(&mut self, ctx: &Context) {
        if let Some(seconds) = self.player.next_move_in() {
            let wait = seconds.clamp(0.001, 0.1);
            ctx.request_repaint_after(Duration::from_secs_f64(wait));
        } else if self.toasts.waiting() {
            ctx.request_repaint_after(Duration::from_millis(200));
        }
        let nothing = self.session.open.is_none() && !self.worker.busy();
        if nothing && !self.welcome.shown {
            self.show_welcome();
            ctx.request_repaint();
        }
        let title = self.session.title();
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    /// One frame.
    pub fn frame_ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.theme = ctx.theme();
        self.before_ui(&ctx);
        let mut commands = Vec::new();
        let size = ctx.content_rect().size();
        if size.x >= 200.0 && size.y >= 160.0 {
            self.panels_ui(ui, &mut commands);
        }
        let dark = ui.visuals().dark_mode;
        let covered = self.dialog.is_some() || egui::Popup::is_any_open(&ctx);
        if let (Some(readout), false) = (&self.readout, covered) {
            readout_ui(&ctx, readout, dark);
        }
        let corner = self.message_corner(ctx.content_rect());
        toasts_ui(&self.toasts, &ctx, corner, dark, &mut commands);
        self.guide_ui(&ctx, dark, &mut commands);
        self.dialog_ui(&ctx, &mut commands);
        drop_hint(&ctx, dark);
        self.apply(&ctx, commands);
        self.after_ui(&ctx);
    }

    fn dialog_ui(&mut self, ctx: &Context, commands: &mut Vec<Command>) {
        let choices = match &self.dialog {
            Some(Dialog::Commands(_)) => self.choices(),
            _ => Vec::new(),
        };
        let known = Known {
            choices: &choices,
            settings: &self.settings,
            toasts: &self.toasts,
        };
        if let Some(dialog) = &mut self.dialog {
            let answer = dialog_panel_ui(ctx, dialog, &known, commands);
            commands.extend(self.answer(answer));
        }
    }

    fn shows_numbers(&self, width: f32) -> bool {
        self.settings.panels.numbers && width >= panel::NARROW && self.session.open.is_some()
    }

    fn columns(&self, width: f32) -> Columns {
        let pinned = self.pinned.is_some() && !self.all_heads;
        let (numbers, heads) = (self.shows_numbers(width), self.heads());
        let left = self.settings.panels.left;
        if self.arrangement() == Arrangement::Compare {
            Columns::of_two(width, left, numbers)
        } else if self.part().is_some() {
            Columns::with_minimap(width, left, numbers, heads, pinned)
        } else {
            Columns::new(width, left, numbers, heads, pinned)
        }
    }

    /// Messages stand above the transport, never on the vectors of the step: in the panel of numbers,
    /// or on the legends where there is none.
    fn message_corner(&self, window: egui::Rect) -> egui::Pos2 {
        let open = self.session.open.as_ref();
        let heads = open.is_some_and(|open| !open.shown.recording.trace.heads.is_empty());
        let panels = self.settings.panels;
        let transport = panel::transport_height(window.height(), heads, panels);
        let transport = if self.welcome.shown { 0.0 } else { transport };
        let bottom = window.bottom() - transport - panel::STATUS - 12.0;
        let numbers = self.shows_numbers(window.width());
        let right = if numbers || self.session.open.is_none() || self.welcome.shown {
            window.right() - 12.0
        } else {
            self.columns(window.width()).stages.max - 22.0
        };
        egui::pos2(right, bottom)
    }

    fn panels_ui(&mut self, ui: &mut Ui, commands: &mut Vec<Command>) {
        let palette = Palette::with_map(ui.visuals().dark_mode, self.settings.look.map);
        let width = ui.ctx().content_rect().width();
        let numbers = self.shows_numbers(width);
        let drawer = self.drawer && width < panel::NARROW;
        self.width = width;
        let shown = Panels {
            numbers,
            ..self.settings.panels
        };
        let bar = Bar {
            numbers: numbers || drawer,
            start: self.welcome.shown,
            busy: self.worker.busy(),
        };
        let panel = Frame::new().fill(palette.panel);
        let padded = panel.inner_margin(theme::PADDING);
        let slim = panel.inner_margin(egui::Margin::symmetric(12, 0));
        Panel::top("top")
            .exact_size(panel::TOP)
            .resizable(false)
            .frame(slim)
            .show(ui, |ui| {
                top::top_ui(ui, &self.session, bar, self.names().as_ref(), commands);
            });
        if self.welcome.shown {
            self.welcome_ui(ui, commands);
            return;
        }
        let Some(open) = self.session.open.clone() else {
            self.empty_ui(ui);
            return;
        };
        let (whole, rows) = self.rows_of(&open, ui.ctx().content_rect().height());
        let columns = self.columns(width);
        let arrangement = self.arrangement();
        let (mut row, mut unit) = (None, None);
        let mut readout = None;
        let mut view = View {
            session: &self.session,
            open: &open,
            player: &self.player,
            focus: self.focus,
            pinned: self.pinned,
            mark: self.mark,
            follow: self.zoom.follow,
            all_heads: self.all_heads,
            rows: &rows,
            whole: &whole,
            weighting_scale: if self.log_scale {
                Scale::LogWeighting
            } else {
                Scale::Weighting
            },
            touched_only: self.touched_only,
            palette,
            textures: &mut self.textures,
            commands,
            readout: &mut readout,
            row_before: self.row,
            row: &mut row,
            unit_before: self.unit,
            unit: &mut unit,
            selected: self.selected,
            pair: (arrangement == Arrangement::Compare)
                .then(|| self.comparing.pair(&open))
                .flatten(),
            map: self.settings.look.map,
            problems: self.toasts.problems(),
        };
        let frames = (panel, padded, slim);
        let pages = (arrangement, &mut self.page, &mut self.pages);
        episode_panels_ui(ui, &columns, shown, frames, &mut view, pages);
        if drawer {
            drawer_ui(ui.ctx(), padded, shown, &mut view);
        }
        (self.row, self.unit) = (row, unit);
        self.readout = readout;
    }

    /// Nothing is on screen yet.
    fn empty_ui(&mut self, ui: &mut Ui) {
        self.readout = None;
        let palette = Palette::of(ui);
        CentralPanel::default()
            .frame(Frame::new().fill(palette.background))
            .show(ui, |ui| {
                ui.centered_and_justified(|ui| {
                    let text = egui::RichText::new("Recording an episode …").size(14.0);
                    ui.label(text.color(palette.subdued));
                });
            });
    }
}

/// Bottom, left, right, centre: everything that needs an episode.
fn episode_panels_ui(
    ui: &mut Ui,
    columns: &Columns,
    shown: Panels,
    (panel, padded, slim): (Frame, Frame, Frame),
    view: &mut View<'_>,
    (arrangement, page, pages): (Arrangement, &mut Page, &mut [Page; 2]),
) {
    let window = ui.ctx().content_rect().size();
    Panel::bottom("status")
        .exact_size(panel::STATUS)
        .resizable(false)
        .frame(slim)
        .show(ui, |ui| bottom::status_ui(ui, view));
    if shown.timeline {
        Panel::bottom("transport")
            .exact_size(panel::transport_height(window.y, view.has_heads(), shown))
            .resizable(false)
            .frame(panel)
            .show(ui, |ui| bottom::transport_ui(ui, columns, view));
    }
    if shown.left {
        Panel::left("left")
            .exact_size(panel::left_width(window.x))
            .resizable(false)
            .frame(padded)
            .show(ui, |ui| left_ui(ui, view));
    }
    if shown.numbers {
        Panel::right("right")
            .exact_size(panel::RIGHT)
            .resizable(false)
            .frame(padded)
            .show(ui, |ui| {
                egui::ScrollArea::vertical().show(ui, |ui| right::numbers_ui(ui, view));
            });
    }
    let palette = view.palette;
    CentralPanel::default()
        .frame(Frame::new().fill(palette.background))
        .show(ui, |ui| match arrangement {
            Arrangement::Debug => centre::centre_ui(ui, columns, view),
            Arrangement::Compare => compare_ui(ui, columns, pages, view),
            paper => paper_ui(ui, columns, paper, page, view),
        });
}

/// The panel of numbers over the pictures: for windows too narrow to have it beside them.
fn drawer_ui(ctx: &Context, frame: Frame, shown: Panels, view: &mut View<'_>) {
    let window = ctx.content_rect();
    let below = panel::transport_height(window.height(), view.has_heads(), shown) + panel::STATUS;
    let size = egui::vec2(panel::RIGHT, window.height() - panel::TOP - below);
    let corner = egui::pos2(window.right() - size.x, panel::TOP);
    egui::Area::new(egui::Id::unique("drawer"))
        .order(egui::Order::Middle)
        .fixed_pos(corner)
        .show(ctx, |ui| {
            let frame = frame.stroke(view.palette.hairline());
            frame.show(ui, |ui| {
                let inside = size - egui::Vec2::splat(2.0 * theme::PADDING + 2.0);
                ui.set_min_size(inside);
                ui.set_max_size(inside);
                egui::ScrollArea::vertical().show(ui, |ui| right::numbers_ui(ui, view));
            });
        });
}

fn left_ui(ui: &mut Ui, view: &mut View<'_>) {
    egui::ScrollArea::vertical().show(ui, |ui| {
        let session = view.session;
        left::episode_ui(ui, session, view.commands);
        ui.add_space(theme::SECTION);
        left::heads_ui(ui, view);
        ui.add_space(theme::SECTION);
        left::result_ui(ui, view);
        if view.has_heads() {
            ui.add_space(theme::SECTION);
            left::rows_shown_ui(ui, view);
        }
    });
}

/// A file as messages name it.
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into(),
    )
}

/// A veil that says what dropping a file would do.
fn drop_hint(ctx: &Context, dark: bool) {
    if ctx.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let palette = Palette::for_theme(dark);
    let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop"));
    let painter = ctx.layer_painter(layer);
    let rect = ctx.content_rect();
    painter.rect_filled(rect, 0.0, palette.veil);
    let card = egui::Rect::from_center_size(rect.center(), egui::vec2(320.0, 72.0));
    painter.rect_filled(card, theme::CARD_RADIUS, palette.panel);
    painter.text(
        card.center(),
        egui::Align2::CENTER_CENTER,
        "Drop a trace or weights",
        theme::heading(16.0),
        palette.strong,
    );
}

impl eframe::App for App {
    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        for (key, value) in self.settings.lines() {
            storage.set_string(key, value);
        }
    }

    fn persist_egui_memory(&self) -> bool {
        false
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut eframe::Frame) {
        self.frame_ui(ui);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
