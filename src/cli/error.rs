//! Errors of a command, and the exit codes.

use std::io;

use super::signal;
use crate::io::Error;

/// The exit code of a training that diverged: a result, which the same seed gives again.
pub(super) const DIVERGED: u8 = 4;

/// Errors of a command that are not about a file. An error without a type, as of `bail!`, is about invalid usage.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) enum CliError {
    /// The command failed while it ran.
    Failed(String),
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

/// The exit code of invalid usage or input.
pub(super) const INVALID: u8 = 2;

/// Returns the exit code for an error.
pub(super) fn exit_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        Some(CliError::Failed(_) | CliError::Differs) => 1,
        Some(CliError::Partial) => 3,
        Some(CliError::Diverged(_)) => DIVERGED,
        Some(CliError::Stopped(_)) => signal::exit_code(),
        None => match error.downcast_ref() {
            // The folder of a file to write may not be there: that is invalid usage.
            Some(Error::Write(_, why)) if why.kind() != io::ErrorKind::NotFound => 1,
            None if error.is::<io::Error>() => 1,
            _ => INVALID,
        },
    }
}
