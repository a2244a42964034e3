//! What ties the runs of a sweep to it: they end when it does, however it ends.
//!
//! The sweep holds the one end of a pipe, which nobody else has; the other end is the standard input of its
//! runs. The system closes the pipe when the sweep ends, also by SIGKILL; the sweep closes it to stop them.

use std::io::{PipeReader, PipeWriter, pipe, sink, stdin};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::INTERRUPTED;

/// In the environment of a run: its standard input is such a pipe.
const TIED: &str = "TAPESCOPE_ENDS_WITH_STDIN";
/// How long a run may take to stop by itself.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// The end of the pipe that the sweep holds.
#[derive(Debug)]
pub(super) struct Tether {
    held: Mutex<Option<PipeWriter>>,
    other: PipeReader,
}

impl Tether {
    pub(super) fn new() -> std::io::Result<Self> {
        let (other, held) = pipe()?;
        let held = Mutex::new(Some(held));
        Ok(Self { held, other })
    }

    /// Ties a process that is to be started.
    pub(super) fn tie(&self, run: &mut Command) -> std::io::Result<()> {
        run.env(TIED, "1").stdin(self.other.try_clone()?);
        Ok(())
    }

    /// Stops every process that is tied to this one.
    pub(super) fn cut(&self) {
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}

/// In a process that is tied to another one: sets `stop` when that ends, and a while later ends this one.
pub(super) fn heed(stop: &Arc<AtomicBool>) {
    if std::env::var_os(TIED).is_none() {
        return;
    }
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        // What comes through the pipe, and how it ends, means nothing.
        let _ = std::io::copy(&mut stdin(), &mut sink());
        stop.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        std::process::exit(INTERRUPTED.into());
    });
}
