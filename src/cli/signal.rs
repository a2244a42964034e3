//! Signals that stop a command between two steps of its work, so that it can store its results.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code after Ctrl-C, as shells have it: 128 and the number of the signal.
pub(super) const INTERRUPTED: u8 = 130;

/// The last signal that came; 0 while there was none.
static CAUGHT: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Becomes true with the first Ctrl-C, SIGTERM, or SIGHUP (unless that is ignored, as `nohup` has it); Ctrl-C
/// after that ends the program at once.
pub(super) fn interrupted() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    // Where no handler can be set the signal ends the program as it always does; what is lost is the time
    // since the last checkpoint. What comes first is done first: the end at once comes before the flag.
    // A run that its sweep has stopped (`parent_watch`) is not ended at once by the Ctrl-C that reaches both.
    let again = Arc::new(AtomicBool::new(false));
    let _ = flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&again));
    for signal in signals() {
        let number = usize::try_from(signal).unwrap_or_default();
        let _ = flag::register_usize(signal, Arc::clone(&CAUGHT), number);
        let _ = flag::register(signal, Arc::clone(&again));
        let _ = flag::register(signal, Arc::clone(&stop));
    }
    stop
}

/// Returns the signals that ask a program to end.
fn signals() -> impl Iterator<Item = i32> {
    #[cfg(unix)]
    let hang_up = {
        use signal_hook::consts::SIGHUP;
        (crate::io::process::ignores(SIGHUP) == Some(false)).then_some(SIGHUP)
    };
    #[cfg(not(unix))]
    let hang_up = None;
    [SIGINT, SIGTERM].into_iter().chain(hang_up)
}

/// The exit code of a command that was stopped, as shells have it: 128 and the number of the signal.
pub(super) fn exit_code() -> u8 {
    match u8::try_from(CAUGHT.load(Ordering::Relaxed)) {
        Ok(signal @ 1..128) => 128 + signal,
        _ => INTERRUPTED,
    }
}
