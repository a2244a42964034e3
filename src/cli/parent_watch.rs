//! Parent process watch: the runs of a sweep end when it ends, however it ends.
//!
//! The sweep holds the one end of a pipe, which no other process has; the other end is the standard input of its
//! runs. The system closes the pipe when the sweep ends, also by SIGKILL; the sweep closes it to stop them.

use std::io::{PipeReader, PipeWriter, pipe, sink, stdin};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::signal::INTERRUPTED;

/// In the environment of a run: its standard input is such a pipe.
const WATCHES_PARENT: &str = "TAPESCOPE_ENDS_WITH_STDIN";
/// The time that a run may take to stop by itself.
const GRACE: Duration = Duration::from_secs(10);

/// A watch of the parent process: the end of the pipe for its runs.
#[derive(Debug)]
pub(super) struct ParentWatch(PipeReader);

impl ParentWatch {
    /// Returns a watch of this process, and the end of the pipe to hold: dropping it stops every process that watches.
    pub(super) fn new() -> std::io::Result<(Self, PipeWriter)> {
        let (other, held) = pipe()?;
        Ok((Self(other), held))
    }

    /// Makes a process that is to be started watch this one.
    pub(super) fn attach(&self, run: &mut Command) -> std::io::Result<()> {
        run.env(WATCHES_PARENT, "1").stdin(self.0.try_clone()?);
        Ok(())
    }
}

/// Sets `stop` when the parent process ends, and ends this process a while later.
pub(super) fn stop_with_parent(stop: &Arc<AtomicBool>) {
    if std::env::var_os(WATCHES_PARENT).is_none() {
        return;
    }
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        // Contents and end of the pipe mean nothing.
        let _ = std::io::copy(&mut stdin(), &mut sink());
        stop.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        std::process::exit(INTERRUPTED.into());
    });
}
