//! Sentences for your own task: a text file (UTF-8) with one in every line.

use std::path::Path;

use super::pairs::{LIMIT, each_line};
use super::{Error, file};
use crate::task::{MAX_LENGTH, Tokens};

/// Reads a file of sentences, with the SHA-256 of its lines.
///
/// # Errors
/// The file, the line, and what was expected there.
pub fn read(path: &Path, tokens: Tokens) -> Result<(Vec<String>, String), Error> {
    let bytes = file::read(path, LIMIT, |_| Ok(()))?;
    from_bytes(&bytes, &file::label(path), tokens)
}

/// [`read`] from memory; `label` stands for the file in messages. Lines without tokens, or with more than a sequence may
/// have, are left out.
///
/// # Errors
/// As for [`read`].
pub fn from_bytes(
    bytes: &[u8],
    label: &str,
    tokens: Tokens,
) -> Result<(Vec<String>, String), Error> {
    let mut lines = Vec::new();
    let sha256 = each_line(bytes, label, |line| {
        if (1..=MAX_LENGTH).contains(&tokens.of(line).count()) {
            lines.push(line.to_owned());
        }
        Ok(())
    })?;
    if lines.is_empty() {
        let problem =
            format!("no line has 1 to {MAX_LENGTH} tokens; expected a sentence in each line");
        return Err(Error::content(label, "", problem));
    }
    Ok((lines, sha256))
}
