//! The page of a browser: the entry points of `web/index.html`, and the interface for scripts.

use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use web_sys::HtmlCanvasElement;

use super::app::App;
use super::disk::Disk;
use super::keys;
use super::link::Link;
use super::options::{Options, StartError};
use super::state::{
    Dialog, Files, Kind, LiveTraining, OpenedFile, Outcome, Parts, Settings, State, Subject,
};
use crate::figure::head_label;
use crate::io::{memory_files, weights};
use crate::platform;

/// The application on its canvas.
#[wasm_bindgen]
pub struct Page {
    runner: eframe::WebRunner,
    context: egui::Context,
}

/// Starts on this canvas with the part after the `#` of the address, and with the trace at an address of this site,
/// if any.
///
/// # Errors
/// There is no WebGL; the words say so.
#[wasm_bindgen]
pub async fn start(
    canvas: HtmlCanvasElement,
    link: String,
    trace: Option<String>,
) -> Result<Page, JsValue> {
    let runner = eframe::WebRunner::new();
    let (begun, problem) = match begun(&link, trace).await {
        Ok(options) => (options, None),
        Err(sentence) => {
            // A page in one file has no other machine.
            let options = begun("", None).await.map_err(|_| sentence.clone())?;
            (options, Some(sentence))
        }
    };
    let options = eframe::WebOptions {
        renderer: eframe::Renderer::Glow,
        dithering: false,
        ..eframe::WebOptions::default()
    };
    let drawn = Rc::new(OnceCell::new());
    let kept = drawn.clone();
    let app = move |context: &eframe::CreationContext<'_>| {
        let _ = kept.set(context.egui_ctx.clone());
        let mut options = begun;
        options.settings = Settings::read(|key| context.storage?.get_string(key));
        let mut app = App::new(&context.egui_ctx, options);
        problem
            .into_iter()
            .for_each(|sentence| app.receive(failure(sentence)));
        Ok(Box::new(app) as Box<dyn eframe::App>)
    };
    runner.start(canvas, options, Box::new(app)).await?;
    let context = drawn.get().cloned().unwrap_or_default();
    Ok(Page { runner, context })
}

/// The initial state of the page.
async fn begun(link: &str, trace: Option<String>) -> Result<Options, String> {
    let link = Link::parse(link)?;
    if let Some(address) = trace {
        if address.is_empty() {
            link.place_in(&address)?;
        }
        memory_files::insert(address.clone().into(), platform::fetched(&address).await?);
        let mut opened = Disk.open(Path::new(&address), &|_, _| ControlFlow::Continue(()))?;
        if let OpenedFile::Trace(open) = &mut opened {
            Arc::make_mut(&mut open.shown).address = Some(address.clone());
        }
        let begin = match &opened {
            OpenedFile::Machine(machine) => link.beginning(machine)?,
            _ => link.place_in(&address)?,
        };
        let mut options = Options::included(Some((address.into(), Some(opened))));
        options.begin = begin;
        return checked(options);
    }
    let first = link.first()?;
    let address = weights::address(first);
    memory_files::insert(address.clone().into(), platform::fetched(&address).await?);
    let mut options = Options::included(None).with_first(first);
    if let Some(machine) = options.machines.first() {
        options.begin = link.beginning(machine)?;
    }
    checked(options)
}

/// What the window says about a problem of the page.
fn failure(sentence: String) -> Outcome {
    Box::new(|state| state.toasts.add(Kind::Problem, sentence))
}

/// These, where the window can begin with them.
fn checked(options: Options) -> Result<Options, String> {
    match options.check() {
        Ok(()) => Ok(options),
        Err(StartError::Invalid(lacks)) => Err(Link::lacks(&lacks)),
        Err(StartError::TooLarge(sentence)) => Err(sentence),
    }
}

#[wasm_bindgen]
impl Page {
    /// True of a key that does something here, so that the browser does nothing with it: `key` as in an event of the
    /// keyboard.
    pub fn keeps(&self, key: &str, control: bool, shift: bool, alt: bool) -> bool {
        keys::keeps(key, [control, shift, alt])
    }

    /// True for a key that the browser handles itself.
    pub fn leaves(&self, key: &str, control: bool, shift: bool, alt: bool) -> bool {
        keys::leaves(key, [control, shift, alt])
    }

    /// True where Tab, or Shift+Tab if `backwards`, leaves the page: the last or the first widget has the keyboard. It lets
    /// go of it.
    pub fn tab_leaves(&self, backwards: bool) -> bool {
        let app = self.runner.app_mut::<App>();
        app.is_some_and(|app| app.tab_leaves(&self.context, backwards))
    }

    /// True where something would be lost with the page: the user is asked first.
    pub fn would_lose(&self) -> bool {
        let app = self.runner.app_mut::<App>();
        app.is_some_and(|app| app.would_lose())
    }

    /// Shows a step, a stage of it by its name, a head by its label, and parts by their names, and plays or pauses: what
    /// is not given stays. Returns a sentence about parts that are not known or not there.
    pub fn show(
        &self,
        step: Option<usize>,
        stage: Option<String>,
        head: Option<String>,
        play: Option<bool>,
        parts: Option<String>,
    ) -> Option<String> {
        let mut app = self.runner.app_mut::<App>()?;
        let mut commands = app.asked_for(step, stage.as_deref(), head.as_deref(), play);
        let parts = parts.map(|names| app.parts_asked_for(&names)).transpose();
        let problem = parts.as_ref().err().cloned();
        commands.extend(parts.ok().flatten());
        app.apply(&self.context, commands);
        let failures = problem.iter().cloned().map(failure);
        failures.for_each(|outcome| app.receive(outcome));
        self.context.request_repaint();
        problem
    }

    /// The state on screen as a JavaScript object; `undefined` while a frame is drawn. `step`, `steps`, `stage` and
    /// `seed` are numbers, `playing`, `busy` and `dark` say true or false, `machine`, `task`, `layout`, `head` and
    /// `dialog` are names; `pictures` is how many cards of the start page have theirs, `status` the status line, `message`
    /// what was said last, `address` that of a link to the episode on screen, without one during the first playback, and
    /// `learning` how far what learns is.
    pub fn state(&self) -> JsValue {
        let app = self.runner.app_mut::<App>();
        app.map_or(JsValue::UNDEFINED, |app| shown(&app).into())
    }
}

/// An object of these values.
fn object<const N: usize>(values: [(&str, JsValue); N]) -> Object {
    let object = Object::new();
    for (name, value) in values {
        // Only a sealed object refuses a value.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object
}

fn shown(state: &State) -> Object {
    let (session, player, request) = (&state.session, &state.player, &state.session.request);
    let open = session.open.as_ref();
    let machine = session.machine().map(|machine| machine.name.as_str());
    let task = open.map(|open| open.shown.recording.task.name());
    let trace = state.trace().filter(|_| state.view.focus < state.heads());
    let head = trace.map(|trace| head_label(trace, state.view.focus));
    let pictures = state.welcome.pictures.values().flatten().count();
    let message = state.toasts.history().next();
    let message = message.map(|said| said.1.as_str());
    let learning = state.learning.as_ref().map(|learning| learned(learning));
    let page = platform::address().filter(|_| !state.is_opening() && open.is_some());
    let address = page.map(|page| Link::of(state).map_or(page.clone(), |link| link.at(&page)));
    object([
        ("title", session.title().into()),
        ("machine", machine.filter(|_| !state.shows_file()).into()),
        ("task", task.into()),
        ("size", (request.size as f64).into()),
        ("repeats", (request.repeats as f64).into()),
        ("seed", (request.seed as f64).into()),
        ("rows", (request.rows as f64).into()),
        ("step", (player.step() as f64).into()),
        ("steps", (player.steps() as f64).into()),
        ("stage", (player.stage() as f64).into()),
        ("stage_name", state.stage_name().into()),
        ("embedded", state.embedded.into()),
        (
            "parts",
            state
                .parts
                .as_ref()
                .map_or_else(String::new, Parts::to_string)
                .into(),
        ),
        ("playing", player.playing().into()),
        ("layout", state.layout().name().into()),
        ("head", head.into()),
        ("busy", (state.pending.waits || state.pending.busy).into()),
        ("welcome", state.welcome.shown.into()),
        ("pictures", (pictures as f64).into()),
        ("dialog", state.dialog.as_ref().map(name_of).into()),
        ("dark", state.frame.dark.into()),
        ("status", state.status().into()),
        ("message", message.into()),
        ("address", address.into()),
        ("learning", learning.into()),
    ])
}

fn name_of(dialog: &Dialog) -> &'static str {
    match dialog.subject {
        Subject::Commands => "commands",
        Subject::Keys => "keys",
        Subject::Settings => "settings",
        Subject::Glossary => "glossary",
        Subject::About => "about",
        Subject::Messages => "messages",
        Subject::Step => "step",
        Subject::Condition => "condition",
        Subject::Report => "report",
        Subject::Value => "value",
        Subject::Episode => "episode",
        Subject::More => "more",
        Subject::File(_) => "file",
        Subject::EndRun => "ending",
        Subject::Recovery => "recovery",
    }
}

fn learned(learning: &LiveTraining) -> Object {
    let run = learning.run();
    let progress = run.progress.as_ref();
    let last = progress.and_then(|progress| progress.history.last());
    let sequences = progress.map(|progress| progress.sequences as f64);
    let bits = last.map(|point| point.validation.bits_per_sequence);
    object([
        ("goes", learning.is_training.into()),
        ("sequences", sequences.into()),
        ("seconds", progress.map(|progress| progress.seconds).into()),
        ("bits", bits.into()),
        ("rate", run.rate.into()),
    ])
}
