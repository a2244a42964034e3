//! Ctrl-C during long computations.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// Interval between checks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `work` in another thread, without Python's lock, and sets its flag when a signal raises an exception.
///
/// Python delivers signals to its main thread only, so this thread keeps checking for them while the work runs.
///
/// # Errors
/// KeyboardInterrupt, or the exception of another signal handler.
pub fn until_interrupted<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    py.detach(|| {
        thread::scope(|scope| {
            let (done, result) = channel();
            let (work, stop) = (work, &stop);
            scope.spawn(move || done.send(work(stop)));
            let mut signal = Ok(());
            loop {
                match result.recv_timeout(LOOK) {
                    Ok(result) => return signal.map(|()| result),
                    Err(RecvTimeoutError::Timeout) if signal.is_ok() => {
                        signal = Python::attach(signals);
                        stop.store(signal.is_err(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => panic!("the work has panicked"),
                }
            }
        })
    })
}

fn signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}
