//! The window of a desktop.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::app::{self, App};
use super::disk::{Disk, shown};
use super::options::{First, Options};
use super::state::{Files, OpenedFile, Settings, StartOptions};

/// The reason why no window opens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The content cannot be shown; a sentence names it and the fault.
    #[error("{0}")]
    File(String),
    /// The window could not be opened, for this reason.
    #[error(
        "no window can be opened here ({0}); use `tapescope render` to draw the same pictures into files, or `tapescope eval` and `tapescope trace` in the terminal"
    )]
    Window(String),
}

/// Opens the window on a trace, on weights, or on the first machine inside the binary, where it is to begin,
/// beside another one where there is one to compare with, and returns when it is closed: by a person, or because `stop`
/// was set. Either way it asks first what becomes of a run that is not saved.
///
/// # Errors
/// A file that cannot be opened, before there is a window. No display, a display that does not answer, or a
/// missing system library: one sentence that also names the commands that need no window.
pub fn run(
    first: Option<First>,
    compare: Option<First>,
    begin: StartOptions,
    stop: Arc<AtomicBool>,
) -> Result<(), Error> {
    let open = |path: PathBuf| {
        if is_large(&path) {
            return Ok((path, None));
        }
        let opened = Disk.open(&path, &|_, _| ControlFlow::Continue(()));
        Ok((path, Some(opened.map_err(Error::File)?)))
    };
    let mut options = Options::included(None);
    match first {
        None => {}
        Some(First::Machine(name)) => options = options.with_first(&name),
        Some(First::Learning(experiments)) => options.learn = experiments,
        Some(First::File(path)) => options.open = Some(open(path)?),
        Some(First::Attention(path, of)) => {
            let read = crate::io::trace::read_with(&path, &of);
            let opened = read
                .map(shown)
                .map_err(|error| Error::File(error.to_string()))?;
            options.open = Some((path, Some(opened)));
        }
    }
    if let (Some(task), Some((_, Some(OpenedFile::Machine(machine))))) =
        (&begin.task, &mut options.open)
    {
        machine.task = task.clone();
    }
    options.begin = begin;
    options.recovery = recovery_folder();
    options
        .check()
        .map_err(|unfit| Error::File(unfit.to_string()))?;
    options.compare = match compare {
        None | Some(First::Learning(_) | First::Attention(..)) => None,
        Some(First::File(path)) => Some(open(path)?),
        Some(First::Machine(name)) => {
            let mut machines = options.machines.iter();
            let machine = machines.find(|machine| machine.name == name).cloned();
            machine.map(|machine| (name.into(), Some(OpenedFile::Machine(Box::new(machine)))))
        }
    };
    let native = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Tapescope")
            .with_app_id("tapescope")
            .with_inner_size([1440.0, 900.0])
            .with_min_inner_size(app::appearance::SMALLEST)
            .with_drag_and_drop(true)
            .with_icon(icon()),
        renderer: eframe::Renderer::Glow,
        dithering: false,
        persist_window: true,
        ..eframe::NativeOptions::default()
    };
    let opened = Cell::new(false);
    let start = || {
        let app = |context: &eframe::CreationContext<'_>| {
            opened.set(true);
            close_when(stop, context.egui_ctx.clone());
            options.settings = Settings::read(|key| context.storage?.get_string(key));
            Ok(Box::new(App::new(&context.egui_ctx, options)) as Box<dyn eframe::App>)
        };
        eframe::run_native("tapescope", native, Box::new(app))
    };
    match quietly(|| catch_unwind(AssertUnwindSafe(start))) {
        Ok(result) => result.map_err(|error| Error::Window(cause(&error.to_string()))),
        // An error of our own in an open window is not about the display.
        Err(panic) if opened.get() => resume_unwind(panic),
        Err(panic) => Err(Error::Window(panic_text(panic.as_ref()))),
    }
}

/// The folder for checkpoints of runs in training: `TAPESCOPE_RECOVERY`, or one beside the settings of the window. An
/// empty value: none.
fn recovery_folder() -> Option<PathBuf> {
    let own = || Some(eframe::storage_dir("tapescope")?.join("recovery"));
    let named = std::env::var_os("TAPESCOPE_RECOVERY").map(PathBuf::from);
    let folder = named.or_else(own);
    folder.filter(|folder| !folder.as_os_str().is_empty())
}

/// Asks the window to close whenever `stop` is set.
fn close_when(stop: Arc<AtomicBool>, ctx: egui::Context) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(100));
            if stop.swap(false, Ordering::Relaxed) {
                ctx.send_viewport_cmd(egui::ViewportCommand::Close);
            }
        }
    });
}

/// True of a file that takes long to read: it is read behind the window.
fn is_large(path: &Path) -> bool {
    const LARGE: u64 = 8 << 20;
    path.is_file() && path.metadata().is_ok_and(|file| file.len() > LARGE)
}

/// Runs `work` without the report that a panic prints: it becomes a sentence. Panics on other threads
/// and those of our own code are reported as ever.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let report = Arc::new(std::panic::take_hook());
    let kept = report.clone();
    let window = std::thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        let of_the_window_system = panic.location().is_some_and(|place| {
            let file = place.file();
            file.contains("winit") || file.contains("xkbcommon") || file.contains("x11")
        });
        if !(of_the_window_system && std::thread::current().id() == window) {
            kept(panic);
        }
    }));
    let result = work();
    drop(std::panic::take_hook());
    if let Ok(report) = Arc::try_unwrap(report) {
        std::panic::set_hook(report);
    }
    result
}

/// Explains an error of the window system in plain words.
fn cause(text: &str) -> String {
    if text.contains("nor DISPLAY is set") {
        return "there is no display: neither WAYLAND_DISPLAY nor DISPLAY is set".to_owned();
    }
    if text.contains("Failed to open connection to X server") {
        let display = std::env::var("DISPLAY").unwrap_or_default();
        return format!("the display `{display}` does not answer");
    }
    if text.contains("xlib's shared libraries") {
        return "one of the libraries libX11, libXcursor and libXi is missing".to_owned();
    }
    // The rest names a line of foreign source before the message.
    let said = text.rsplit_once(".rs:").map_or(text, |(_, said)| {
        said.split_once(": ").map_or(said, |(_, said)| said)
    });
    one_line(said)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("the window system failed");
    if text.contains("xkbcommon") {
        return "the library libxkbcommon-x11 is missing".to_owned();
    }
    one_line(text)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The icon of the window, 64 × 64: a diagonal of rows, as a copying head draws it.
fn icon() -> egui::IconData {
    egui::IconData {
        rgba: include_bytes!("../../assets/icon-64.rgba").to_vec(),
        width: 64,
        height: 64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_exit_closes_window() {
        let ctx = egui::Context::default();
        close_when(Arc::new(AtomicBool::new(true)), ctx.clone());
        let mut frames = (0..1000).map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            ctx.run_ui(egui::RawInput::default(), |_| ())
        });
        let close = egui::ViewportCommand::Close;
        let is_closed = |frame: egui::FullOutput| {
            let mut windows = frame.viewport_output.values();
            windows.any(|window| window.commands.contains(&close))
        };
        assert!(frames.any(is_closed));
    }

    #[test]
    fn error_causes_are_readable() {
        let os = "winit EventLoopError: os error at /home/x/winit/src/linux/mod.rs:788: ";
        for (said, words) in [
            (
                "Failed to load one of xlib's shared libraries",
                "libXcursor",
            ),
            ("Failed to open connection to X server", "does not answer"),
            ("the compositor left", "the compositor left"),
            (
                "neither WAYLAND_DISPLAY nor WAYLAND_SOCKET nor DISPLAY is set.",
                "no display",
            ),
        ] {
            let cause = cause(&format!("{os}{said}"));
            assert!(cause.contains(words) && !cause.contains(".rs"), "{cause}");
        }
    }

    #[test]
    fn failed_window_is_one_sentence_with_remedy() {
        let panic = "Library libxkbcommon-x11.so could not be loaded.";
        let error = Error::Window(panic_text(&panic));
        let text = error.to_string();
        assert!(text.contains("libxkbcommon-x11"));
        assert!(text.contains("tapescope eval") && text.contains("tapescope trace"));
        assert!(!text.contains('\n'));
    }
}
