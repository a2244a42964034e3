//! What is wrong with an expression, and where.

use std::ops::Range;

/// An error in an expression: the wrong part, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The bytes of the text that are wrong; empty at its end.
    pub at: Range<usize>,
    /// What was found and expected.
    pub message: String,
}

impl ExpressionError {
    pub(super) fn new(at: &Range<usize>, message: impl Into<String>) -> Self {
        let (at, message) = (at.clone(), message.into());
        Self { at, message }
    }

    /// An unknown name, with those that are nearest in spelling.
    pub(super) fn unknown<'a>(
        at: &Range<usize>,
        (what, name): (&str, &str),
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let mut near: Vec<&str> = known.collect();
        near.sort_by_key(|known| (!known.contains(name), strsim::osa_distance(name, known)));
        near.truncate(3);
        let near = near.join("`, `");
        Self::new(
            at,
            format!("there is no {what} `{name}`; nearest: `{near}`"),
        )
    }

    /// The message, and the text with the wrong part marked below it.
    pub fn in_text(&self, text: &str) -> String {
        let line = text.replace(|c: char| c.is_control(), " ");
        let width = |part: &str| part.chars().count();
        let before = " ".repeat(width(&text[..self.at.start]));
        let marks = "^".repeat(width(&text[self.at.clone()]).max(1));
        format!("{}\n  {line}\n  {before}{marks}", self.message)
    }
}
