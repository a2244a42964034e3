//! A desktop: threads, a file system, its own dialogs.

use std::future::{Ready, ready};
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::{Chosen, at_once};

/// True if there is a file system.
pub const HAS_FILES: bool = true;

/// Runs a task next to the caller.
pub fn spawn(work: impl AsyncFnOnce() + Send + 'static) {
    std::thread::spawn(move || at_once(work()));
}

/// The turns of something that takes long: threads have theirs from the system.
#[derive(Debug)]
pub struct TimeSlice;

impl TimeSlice {
    /// The first one begins.
    pub fn begin() -> Self {
        Self
    }

    /// Lets other work run, if it is time for that.
    pub fn yield_now(&mut self) -> Ready<()> {
        ready(())
    }
}

/// A queue of tasks next to the caller, run one after the other.
#[derive(Debug)]
pub struct Queue<T>(Sender<T>);

impl<T: Send + 'static> Queue<T> {
    /// Creates a queue whose items are given to `work`, until that returns false.
    pub fn new(mut work: impl AsyncFnMut(T) -> bool + Send + 'static) -> Self {
        let (queue, inbox) = channel();
        std::thread::spawn(move || {
            for item in inbox {
                if !at_once(work(item)) {
                    return;
                }
            }
        });
        Self(queue)
    }

    /// Puts something in.
    pub fn put(&self, item: T) {
        // The thread lives as long as this sender, unless the receiver of its results is gone.
        let _ = self.0.send(item);
    }
}

/// A function that is called repeatedly next to the caller.
#[derive(Debug)]
pub struct RepeatingTask(JoinHandle<()>);

impl RepeatingTask {
    /// Calls `turn` again and again, with as much rest after each call as that says, until it says none.
    ///
    /// # Errors
    /// The system has no thread to spare.
    pub fn start(
        name: &str,
        mut turn: impl FnMut() -> Option<Duration> + Send + 'static,
    ) -> io::Result<Self> {
        let builder = Builder::new().name(name.to_owned());
        let thread = builder.spawn(move || {
            while let Some(rest) = turn() {
                if !rest.is_zero() {
                    std::thread::sleep(rest);
                }
            }
        })?;
        Ok(Self(thread))
    }

    /// Waits for the end.
    pub fn wait(self) {
        // A panic in a turn has ended the thread.
        drop(self.0.join());
    }
}

/// Asks for a file to open, or for a place to save to, in the desktop's dialog; `suggestion` is the proposed name.
/// Calls `answer` when the person is done, which may take long.
pub fn choose(save: bool, suggestion: &str, answer: impl FnOnce(Option<Chosen>)) {
    answer(dialog(save, suggestion).map(|path| Chosen { path, bytes: None }));
}

#[cfg(feature = "gui")]
fn dialog(save: bool, suggestion: &str) -> Option<std::path::PathBuf> {
    let dialog = rfd::FileDialog::new();
    if save {
        dialog.set_file_name(suggestion).save_file()
    } else {
        dialog
            .add_filter(
                "Traces and weights",
                &["json", "gz", "npz", "npy", "txt", "align", "safetensors"],
            )
            .add_filter("All files", &["*"])
            .pick_file()
    }
}

#[cfg(not(feature = "gui"))]
fn dialog(_: bool, _: &str) -> Option<std::path::PathBuf> {
    None
}

/// Hands a file over to the person: on a desktop it is where it was written.
pub fn hand_over(_name: &str, _bytes: &[u8]) {}

/// True where the system asks for less motion: not known on a desktop.
pub fn reduces_motion() -> bool {
    false
}

/// Returns the address under which others find this program: none on a desktop.
pub fn address() -> Option<String> {
    None
}

/// Fetches a file next to the program; on a desktop there is none, because everything is in the program.
pub fn fetch(address: &str, answer: impl FnOnce(Result<Vec<u8>, String>) + 'static) {
    answer(Err(format!(
        "{address}: there is nothing beside the program"
    )));
}
