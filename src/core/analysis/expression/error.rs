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

    /// An unknown name, with those that are nearest in spelling, or else those that are known: of the same head, or of the
    /// first heads.
    pub(super) fn unknown<'a>(
        at: &Range<usize>,
        (what, name): (&str, &str),
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        fn split(name: &str) -> (&str, &str) {
            name.rsplit_once('.').unwrap_or(("", name))
        }
        let (head, array) = split(name);
        let apart = |known: &str| strsim::osa_distance(array, split(known).1);
        let mut known: Vec<&str> = known.collect();
        let is_near = |known: &&str| known.contains(name) || apart(known) <= array.len() / 3;
        let has_head = !head.is_empty() && known.iter().any(|known| split(known).0 == head);
        let word = if known.iter().any(is_near) {
            known.retain(is_near);
            known.sort_by_key(|known| (apart(known), strsim::osa_distance(name, known)));
            known.truncate(3);
            "nearest"
        } else {
            known.retain(|known| match split(known).0 {
                of if has_head => of == head,
                of => of.is_empty() || of.ends_with('0'),
            });
            "known"
        };
        let known = known.join("`, `");
        Self::new(
            at,
            format!("there is no {what} `{name}`; {word}: `{known}`"),
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
