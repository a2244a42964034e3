//! Errors of a command, and the exit codes.

use std::io;

use super::signal;
use crate::io::Error;

/// The exit code of a training that diverged: a result, which the same seed gives again.
pub(super) const DIVERGED: u8 = 4;

/// Errors of a command that are not about a file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) enum CliError {
    /// Invalid usage.
    Usage(String),
    /// The user stopped it.
    Stopped(String),
    /// The numbers of a training are no longer finite.
    Diverged(String),
    /// Something differs, and has been printed.
    #[error("something differs")]
    Differs,
    /// All checks that were possible passed; the others have been printed.
    #[error("holds in part")]
    Partial,
}

/// Refuses the arguments, with this message.
pub(super) fn refuse<T>(problem: impl Into<String>) -> anyhow::Result<T> {
    Err(CliError::Usage(problem.into()).into())
}

/// Returns the exit code for an error.
pub(super) fn exit_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        Some(CliError::Usage(_)) => 2,
        Some(CliError::Partial) => 3,
        Some(CliError::Diverged(_)) => DIVERGED,
        Some(CliError::Stopped(_)) => signal::exit_code(),
        Some(CliError::Differs) => 1,
        None => match error.downcast_ref() {
            // The folder of a file to write is not there.
            Some(Error::Write(_, why)) if why.kind() == io::ErrorKind::NotFound => 2,
            Some(Error::Write(..)) | None => 1,
            Some(_) => 2,
        },
    }
}
