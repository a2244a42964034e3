//! The window on a screen: time and keys become commands, their effects are performed, and the state is drawn.

pub mod appearance;
mod training_threads;

use std::time::Duration;

use egui::{Context, Ui, ViewportCommand};

use self::appearance::ViewSize;
use self::training_threads::TrainingThreads;
use super::apply::CLOSING;
use super::command::{Command, Compare, Edit, File, Learn, Play, Replacement, Window};
use super::keys::{self, Held};
use super::options::Options;
use super::panel::dialogs::dialogs_ui;
use super::panel::frame::{self, FrameCache};
use super::state::{
    Appearance, Effect, History, Kind, Outcome, State, TrainingAction, WindowLayout,
};
use super::theme;
use super::widget::canvas::RecordedPart;
use super::widget::readout::Readout;
use super::widget::take_commands;
use super::worker::Worker;
use crate::figure::scene::fonts;

/// Longest time by which a frame may come late and still catch up, in seconds: a window that was away does
/// not leap.
const LONGEST_LATE: f64 = 0.25;
/// The part of the time between two frames after which the next one is begun, while something moves.
const BEFORE: f64 = 0.6;
/// Interval between progress reports of a job, in seconds.
const BETWEEN_SHARES: f64 = 0.1;

/// The window: its state, its workers and its last frame.
pub struct App {
    state: State,
    worker: Worker,
    drawn: FrameCache,
    /// While true, results of the worker are not received: for tests of running jobs.
    pub held: bool,
    /// The current appearance and the part of it on screen.
    applied: (Appearance, ViewSize),
    title: String,
    /// The time of the last frame.
    time: Option<f64>,
    /// Seconds until the next change without input.
    next_change: Option<f64>,
    /// The training threads.
    threads: TrainingThreads,
}

/// The state; commands change it.
impl std::ops::Deref for App {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl App {
    /// The app in a window: records in the background.
    pub fn new(ctx: &Context, options: Options) -> Self {
        theme::apply(ctx);
        let look = (options.settings.look, ViewSize::All);
        appearance::apply_theme(look, ctx, Appearance::default());
        let wake = ctx.clone();
        let worker = Worker::new(options.files.clone(), move || wake.request_repaint());
        Self::with_worker(options, worker, TrainingThreads::new(Some(ctx.clone())))
    }

    /// The app without a window: every job is done at once. For tests.
    ///
    /// The context it will be drawn in has to be prepared with [`super::apply_theme`].
    pub fn headless(options: Options) -> Self {
        let worker = Worker::here(options.files.clone());
        Self::with_worker(options, worker, TrainingThreads::new(None))
    }

    fn with_worker(options: Options, worker: Worker, threads: TrainingThreads) -> Self {
        let files = options.files;
        let (compare, large) = match options.compare {
            Some((path, Some(opened))) => (Some((path, opened)), None),
            Some((path, None)) => (None, Some(path)),
            None => (None, None),
        };
        let (machines, seed) = (options.machines, options.seed);
        let mut state = State::new(machines, seed, options.settings, options.begin, compare);
        state.folder = files.absolute(".".into());
        let mut app = Self {
            state,
            worker,
            drawn: FrameCache::default(),
            held: false,
            applied: (Appearance::default(), ViewSize::All),
            title: String::new(),
            time: None,
            next_change: None,
            threads,
        };
        if let Some(root) = options.recovery {
            app.state.find_recoverable(root.clone());
            app.threads.recovery_folder = Some(root);
        }
        match options.open {
            Some((path, Some(opened))) => {
                let path = files.absolute(path);
                app.receive(Box::new(|state| state.open(path, opened)));
            }
            Some((path, None)) => app.update(File::Open(path).into()),
            None => {
                let effects = app.state.begin();
                app.perform(effects);
            }
        }
        if !options.learn.is_empty() {
            app.update(Replacement::Begin(options.learn).into());
        }
        // It comes behind the first one.
        if let Some(path) = large {
            app.update(Compare::With(path).into());
        }
        for outcome in app.worker.outcomes() {
            app.receive(outcome);
        }
        // Nothing of the start can be undone.
        app.state.history = History::default();
        app
    }

    /// The value under the pointer, if there is one.
    pub fn readout(&self) -> Option<&Readout> {
        self.drawn.pointed.readout.as_ref()
    }

    /// True where closing the window would lose work: an unsaved run of some length, or a file being written.
    pub fn would_lose(&self) -> bool {
        self.state.is_unsaved() || self.worker.writing().is_some()
    }

    /// Lets go of the keyboard where the next Tab, or Shift+Tab if `backwards`, moves beyond the last or the first widget;
    /// true where it does.
    pub fn tab_leaves(&self, ctx: &Context, backwards: bool) -> bool {
        let ends = keys::tab_ends(ctx);
        let leaves = match ctx.memory(egui::Memory::focused) {
            Some(focused) => ends.is_none_or(|ends| ends[usize::from(!backwards)] == focused),
            None => backwards || ends.is_none(),
        };
        if leaves {
            ctx.memory_mut(egui::Memory::stop_text_input);
        }
        leaves
    }

    /// Begins to record the page of the next frames.
    pub fn record_page(&mut self) {
        self.drawn.textures.recorded = Some(Vec::new());
    }

    /// Returns the parts of the page recorded since then.
    pub fn recorded_page(&mut self) -> Vec<RecordedPart> {
        self.drawn.textures.recorded.take().unwrap_or_default()
    }

    /// Bytes of textures uploaded so far.
    pub fn uploaded_bytes(&self) -> usize {
        self.drawn.textures.bytes
    }

    /// Textures uploaded so far.
    pub fn uploads(&self) -> usize {
        self.drawn.textures.uploads
    }

    /// Returns the number of cards and facts about pictures computed so far.
    pub fn computed(&self) -> usize {
        let (memos, textures) = (&self.drawn.memos, &self.drawn.textures);
        memos.paths.computed() + memos.cards.computed() + textures.computed()
    }

    /// Applies the commands of one gesture, performs their effects, and receives the results of the worker.
    pub fn apply(&mut self, ctx: &Context, commands: Vec<Command>) {
        let mut effects = self.state.apply_all(commands);
        loop {
            for (text, said) in self.perform(effects) {
                self.copy(ctx, text, said);
            }
            if self.held {
                break;
            }
            let outcomes = self.worker.outcomes();
            if outcomes.is_empty() {
                break;
            }
            let outcomes = outcomes.into_iter();
            effects = outcomes
                .flat_map(|outcome| self.state.receive(outcome))
                .collect();
        }
        let look = self.state.settings.look;
        if look.scale > self.applied.0.scale
            && let Some(size) = appearance::limit(look, ctx)
        {
            let text = format!("This window has room for {size:.0} %; enlarge it for more.");
            self.state.toasts.add(Kind::Notice, text);
        }
        let look = (look, self.shown());
        let (before, _) = std::mem::replace(&mut self.applied, look);
        appearance::apply_theme(look, ctx, before);
    }

    /// The sizes of the content on screen.
    fn shown(&self) -> ViewSize {
        match self.state.layout() {
            _ if !self.state.presenting => ViewSize::All,
            WindowLayout::CloseUp => ViewSize::CloseUp,
            _ => ViewSize::Pictures,
        }
    }

    /// Performs the effects of commands; returns the texts for the clipboard, each with its message.
    fn perform(&mut self, effects: Vec<Effect>) -> Vec<(String, Option<String>)> {
        let mut copied = Vec::new();
        for effect in effects {
            match effect {
                Effect::Start(job) => self.worker.start(job),
                Effect::Choose(purpose, suggestion) => self.worker.choose(purpose, suggestion),
                Effect::GiveUp => self.worker.give_up(),
                Effect::Copy(text, said) => copied.push((text, said)),
                Effect::Train(action) => {
                    let (job, learns) = self.threads.perform(action);
                    job.into_iter().for_each(|job| self.worker.start(job));
                    if let Err(sentence) = learns {
                        self.update(Command::Learn(Learn::Refused(sentence)));
                    }
                }
                Effect::Close => {
                    self.state.frame.closes = true;
                    if let Some(job) = self.worker.writing() {
                        let words = &job.words;
                        let text = format!("{words}: the window closes when the file is written.");
                        self.state.toasts.update(CLOSING, text);
                    }
                }
            }
        }
        copied
    }

    /// Time passes, keys are read, files are dropped.
    fn before_ui(&mut self, ctx: &Context) {
        // Not `stable_dt`: that is a guess after a frame that was asked for in advance.
        let now = ctx.input(|input| input.time);
        let passed = now - self.time.replace(now).unwrap_or(now);
        let longest = self.next_change.unwrap_or(0.0) + LONGEST_LATE;
        let seconds = passed.clamp(0.0, longest) as f32;
        self.update(Command::Play(Play::Pass(seconds)));
        let busy = self.worker.can_be_given_up().next().is_some();
        self.update(Command::Window(Window::Busy(busy)));
        let dark = |theme| theme == egui::Theme::Dark;
        self.update(Command::Window(Window::ThemeChanged {
            dark: dark(ctx.theme()),
            system: ctx.system_theme().map(dark),
        }));
        self.before_closing(ctx);
        let wanted = self.state.expects_news();
        if let (Some(updates), false) = (self.threads.updates(now, wanted), self.held) {
            self.update(Command::Learn(Learn::Updates(updates)));
        }
        if let (Some(job), false) = (self.threads.run_state(), self.held) {
            self.worker.start(job);
        }
        if let Some(problem) = self.threads.recovery_problem() {
            self.state.toasts.add(Kind::Notice, problem);
        }
        if let Some(sentence) = self.threads.failure() {
            self.update(Command::Learn(Learn::Refused(sentence)));
        }
        if self.is_opening() && is_taken_over(ctx) {
            self.update(Command::Play(Play::TakeOver));
        }
        let held = Held {
            dialog: self.dialog.is_some(),
            editing: self.mark().is_some() && self.dialog.is_none(),
        };
        let keys = keys::take_keys(ctx, held);
        for command in keys.into_iter().chain(self.dropped(ctx)) {
            self.state.history.begin_gesture();
            self.apply(ctx, vec![command]);
        }
        // A click and a drag end with the frame in which the pointer is let go.
        let pointer = ctx.input(|input| input.pointer.clone());
        let idle = !(pointer.any_down() || pointer.any_released());
        if pointer.any_pressed() || idle {
            self.state.history.begin_gesture();
        }
        if idle && self.stroke.is_some() {
            self.update(Command::Edit(Edit::EndStroke));
        }
        self.apply(ctx, Vec::new());
    }

    /// Opens files dropped on the window.
    #[cfg(not(target_arch = "wasm32"))]
    #[expect(clippy::unused_self, reason = "in a browser there is one to wait for")]
    fn dropped(&self, ctx: &Context) -> Vec<Command> {
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        let paths = dropped.iter().map(|file| file.path().to_owned());
        paths.map(|path| File::Open(path).into()).collect()
    }

    /// Returns the commands for a dropped file, as soon as the browser has read it.
    #[cfg(target_arch = "wasm32")]
    fn dropped(&self, ctx: &Context) -> Vec<Command> {
        for file in ctx.input(|input| input.raw.dropped_files.clone()) {
            let answer = self.worker.answer(crate::viewer::state::FilePurpose::Open);
            wasm_bindgen_futures::spawn_local(async move {
                let bytes = file.bytes_async().await.ok();
                let path = file.path().to_owned();
                answer(bytes.map(|bytes| crate::platform::Chosen {
                    path,
                    bytes: Some(bytes),
                }));
            });
        }
        Vec::new()
    }

    /// Copies a text to the clipboard, and shows the message.
    #[cfg(not(target_arch = "wasm32"))]
    fn copy(&mut self, ctx: &Context, text: String, said: Option<String>) {
        ctx.copy_text(text);
        self.worker.copied(said)();
    }

    /// Copies a text to the clipboard, and shows the message once it is there; where the browser refuses, the page shows
    /// the text.
    #[cfg(target_arch = "wasm32")]
    fn copy(&mut self, _: &Context, text: String, said: Option<String>) {
        let copied = self.worker.copied(said);
        wasm_bindgen_futures::spawn_local(async move {
            if crate::platform::copy(&text).await {
                copied();
            }
        });
    }

    /// Copies what widgets of egui copy in this frame, such as selected text, by the same way.
    #[cfg(target_arch = "wasm32")]
    fn copy_of_widgets(&mut self, ctx: &Context) {
        use egui::OutputCommand::CopyText;
        let is_text = |command: &mut egui::OutputCommand| matches!(command, CopyText(_));
        let copied = ctx.output_mut(|output| {
            let texts = output.commands.extract_if(.., is_text);
            texts.collect::<Vec<_>>()
        });
        for command in copied {
            if let CopyText(text) = command {
                self.copy(ctx, text, None);
            }
        }
    }

    /// Asks for the fate of a running training before the window closes, and waits for files.
    fn before_closing(&mut self, ctx: &Context) {
        let closes = ctx.input(|input| input.viewport().close_requested());
        if closes && self.would_lose() {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.state.frame.closes = false;
            self.update(Replacement::Close.into());
        }
    }

    /// Applies an outcome that no job of the worker has.
    pub fn receive(&mut self, outcome: Outcome) {
        let effects = self.state.receive(outcome);
        self.perform(effects);
    }

    /// Commands that no user issued and that have no effect outside.
    fn update(&mut self, command: Command) {
        let effects = self.state.apply(command);
        self.perform(effects);
    }

    /// The next frame comes when something will have changed, not before.
    fn after_ui(&mut self, ctx: &Context, writes: bool) {
        #[cfg(target_arch = "wasm32")]
        self.copy_of_widgets(ctx);
        let busy = self.worker.busy().then_some(BETWEEN_SHARES);
        let (step, message) = (self.player.next_move_in(), self.toasts.next_change_in());
        let news = self.state.expects_news();
        let updates = news.then_some(training_threads::BETWEEN);
        let changes = [step, message, busy, updates];
        self.next_change = changes.into_iter().flatten().min_by(f64::total_cmp);
        let moves = step.is_some() && self.player.through() < 1.0;
        if let Some(seconds) = self.next_change {
            // Motion is drawn before the screen shows it; otherwise only every other frame of the screen has it.
            // All else comes a little late rather than a little early: that would be one frame more.
            let wait = if moves {
                seconds * BEFORE
            } else {
                seconds + 0.0005
            };
            ctx.request_repaint_after(Duration::from_secs_f64(wait));
        }
        let nothing = self.session.open.is_none() && !self.worker.busy();
        if nothing && !self.welcome.shown {
            self.update(Window::ToggleWelcome.into());
            ctx.request_repaint();
        }
        if self.state.is_unsaved() {
            self.state.stay_open();
        }
        if self.frame.closes && !writes && !self.would_lose() {
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        let title = self.session.title();
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    /// Draws one frame.
    pub fn frame_ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.before_ui(&ctx);
        let size = ctx.content_rect().size();
        if size.x >= 200.0 && size.y >= 160.0 {
            let room = frame::room(&self.state, size);
            self.update(Command::Window(Window::Sized {
                width: size.x,
                height: size.y,
                room,
            }));
            theme::set_reach(&ctx, self.state.is_on_phone());
            let (job, drawn) = (self.worker.under_way().next(), &mut self.drawn);
            frame::panels_ui(ui, &self.state, job.as_deref(), drawn);
        }
        frame::over_ui(ui, &self.state, &self.drawn);
        dialogs_ui(&ctx, &self.state);
        frame::drop_hint(&ctx);
        let writes = self.worker.writing().is_some();
        self.apply(&ctx, take_commands(&ctx));
        if let Some(letters) = fonts::warning() {
            self.state
                .toasts
                .add(Kind::Notice, format!("Warning: {letters}."));
            ctx.request_repaint();
        }
        self.after_ui(&ctx, writes);
    }
}

impl Drop for App {
    /// Keeps the checkpoints of a run only where more than a little would be lost.
    fn drop(&mut self) {
        if !self.state.is_unsaved() {
            drop(self.threads.perform(TrainingAction::End));
        }
    }
}

/// True when a key was pressed or a click has ended, whatever they mean.
fn is_taken_over(ctx: &Context) -> bool {
    let pressed = |event: &egui::Event| matches!(event, egui::Event::Key { pressed: true, .. });
    ctx.input(|input| input.pointer.any_released() || input.events.iter().any(pressed))
}

impl eframe::App for App {
    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        for (key, value) in self.state.settings.lines() {
            storage.set_string(key, value);
        }
    }

    #[cfg(target_arch = "wasm32")]
    fn as_any_mut(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
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
