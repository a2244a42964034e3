//! Completion of an expression that is being typed.

use std::ops::Range;

use super::check::arrays;
use super::functions::FUNCTIONS;
use super::parse::is_of_word;
use crate::model::Trace;

/// Returns the word before byte `at` of a text, and what it can become: names that begin with it first, then those
/// that contain it. `at` has to be between characters.
pub fn complete(text: &str, at: usize, trace: &Trace<f32>) -> (Range<usize>, Vec<String>) {
    let before = &text[..at];
    let typed = before.trim_end_matches(is_of_word);
    let (start, typed) = (typed.len(), &before[typed.len()..]);
    let behind = before[..start].trim_end();
    let word = &behind[behind.trim_end_matches(is_of_word).len()..];
    let is_value = behind.ends_with([')', ']'])
        || !word.is_empty() && !["and", "or", "not", "row"].contains(&word);
    let mut all: Vec<String> = if is_value {
        ["and", "or"].map(str::to_owned).into()
    } else {
        let functions = FUNCTIONS.iter().map(|function| function.name.to_owned());
        let arrays = arrays(trace).into_iter().map(|(name, _)| name);
        functions.chain(arrays).chain(["not".to_owned()]).collect()
    };
    all.retain(|name| name.contains(typed));
    all.sort_by_key(|name| !name.starts_with(typed));
    (start..at, all)
}
