//! How this program was started, to store the command line and to start it again.

use std::ffi::OsString;
use std::io;
use std::process::Command as Process;
use std::sync::OnceLock;

use crate::io::shell;

/// The name of the program.
pub(super) const NAME: &str = "tapescope";

/// The way in which this program was started.
#[derive(Debug)]
pub(super) struct Started {
    /// The program and its first arguments that start it again. Empty if unknown.
    pub(super) again: Vec<OsString>,
    /// The arguments that were typed after it.
    pub(super) arguments: Vec<OsString>,
}

pub(super) static STARTED: OnceLock<Started> = OnceLock::new();

pub(super) fn started() -> &'static Started {
    STARTED.get_or_init(|| Started {
        again: std::env::current_exe().map_or_else(|_| Vec::new(), |path| vec![path.into()]),
        arguments: std::env::args_os().skip(1).collect(),
    })
}

/// This program once more, without arguments.
pub(super) fn again() -> io::Result<Process> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let (program, first) = started().again.split_first().ok_or_else(missing)?;
    let mut process = Process::new(program);
    process.args(first);
    Ok(process)
}

/// Returns the command line as typed, to be stored with its results.
pub(super) fn command_line() -> String {
    shell::command(&started().arguments)
}
