//! Machine files: their golden values, the engine that runs them, and the same machines written by hand.

#![allow(missing_docs, reason = "a test")]

mod engine;
mod golden;
mod language;
mod machines;
mod models;

use tapescope_core::equations::included::{INCLUDED, included};

/// The included machines: the name and the text of each.
fn machines() -> Vec<(&'static str, &'static str)> {
    let named = |(file, text): (&'static str, _)| Some((file.strip_suffix(".machine")?, text));
    INCLUDED.into_iter().filter_map(named).collect()
}

/// An included component: its file and the text.
fn library(name: &str) -> Option<(String, Vec<u8>)> {
    let file = format!("{name}.component");
    let text = included(&file)?;
    Some((file, text.into()))
}
