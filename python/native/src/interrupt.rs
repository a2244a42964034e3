//! Ctrl-C while something runs for long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// How often Python is asked for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Does the work, without Python's lock. Only the thread that Python began with is told of signals: where that is this
/// one, the work is in another, and is told to stop when Python raises KeyboardInterrupt, or what else it makes of one.
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
