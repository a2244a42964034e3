//! Machine files: their golden values, the engine that runs them, and the same machines written by hand.

#![allow(missing_docs, reason = "a test")]

mod engine;
mod golden;
mod language;
mod machines;
mod models;
