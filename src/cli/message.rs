//! Messages on standard error, and numbers in messages.

use std::io::{self, Write};

use crate::io::{bounded, machine_file};
use crate::model::ModelConfig;

/// Writes a line for people to standard error; a failure to write is ignored.
pub(super) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{}", said(line));
}

/// Says what fits in the machine file of a model but is often a mistake.
pub(super) fn note_warnings(model: &ModelConfig) {
    let warnings = machine_file::warnings(model);
    warnings
        .iter()
        .for_each(|words| note(&format!("note: {words}")));
}

/// A message whose characters do not act on the terminal, and that is no longer than a screen: whatever was
/// typed, or stands in a file, may be part of it.
pub(super) fn said(message: &str) -> String {
    const MOST: usize = 4000;
    const OF_A_LINE: usize = 1500;
    let lines = message.split('\n').map(|line| bounded(line, OF_A_LINE));
    let lines: Vec<_> = lines.collect();
    let text = lines.join("\n");
    if text.chars().count() <= MOST {
        return text;
    }
    text.chars().take(MOST).chain(['…']).collect()
}

/// Formats a number with `digits` decimals; in powers of ten if it would fill the line.
pub(super) fn decimals(value: f64, digits: usize) -> String {
    if value.abs() < 1e7 {
        format!("{value:.digits$}")
    } else {
        format!("{value:.2e}")
    }
}
