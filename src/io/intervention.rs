//! Interventions as text, such as `12:read0.gate=1`: see "Interventions" in `docs/formats/traces.md`.

use super::{Error, trace};
use crate::model::{Intervention, Model, Trace};

pub use trace::{FORM, text};

/// Reads interventions on episodes of this machine with the sizes of `sizes`; `label` stands for where they come from.
///
/// # Errors
/// What is wrong in which of them, and what was expected; a file that [`trace::read`] refuses.
pub fn parse(
    texts: &[impl AsRef<str>],
    label: &str,
    machine: &Model,
    sizes: &Trace,
) -> Result<Vec<Intervention>, Error> {
    trace::parse(texts, label, machine, sizes, &|path| {
        let read = trace::read(path).map_err(|error| error.to_string())?;
        Ok(read.recording)
    })
}
