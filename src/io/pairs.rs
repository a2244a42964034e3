//! Pairs of texts for your own task: a text file (UTF-8) with source, tab, target in every line.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Error, file, weights};
use crate::task::{Pair, PairForm};

/// The largest file that is read, in bytes.
pub(super) const LIMIT: u64 = 1 << 30;

/// Reads a file of pairs, with the SHA-256 of its lines.
///
/// # Errors
/// The file, the line, and what was expected there.
pub fn read(path: &Path, form: impl Into<PairForm>) -> Result<(Vec<Pair>, String), Error> {
    let bytes = file::read(path, LIMIT, |_| Ok(()))?;
    from_bytes(&bytes, &file::label(path), form)
}

/// [`read`] from memory; `label` stands for the file in messages.
///
/// # Errors
/// As for [`read`].
pub fn from_bytes(
    bytes: &[u8],
    label: &str,
    form: impl Into<PairForm>,
) -> Result<(Vec<Pair>, String), Error> {
    let (mut pairs, form) = (Vec::<Pair>::new(), form.into());
    let sha256 = each_line(bytes, label, |text| {
        let pair = Pair::parse(text, form)?;
        if let Some(first) = pairs.first()
            && first.is_aligned() != pair.is_aligned()
        {
            let has = if pair.is_aligned() { "an" } else { "no" };
            return Err(format!(
                "has {has} alignment, unlike line 1; expected one in every line, or in none"
            ));
        }
        pairs.push(pair);
        Ok(())
    })?;
    if pairs.is_empty() {
        let problem = "is empty; expected source, tab, target in every line";
        return Err(Error::content(label, "", problem));
    }
    Ok((pairs, sha256))
}

/// Hands every line of a text file to `take`, and returns the SHA-256 of all lines.
///
/// # Errors
/// The file and the line of the first problem.
pub(super) fn each_line(
    bytes: &[u8],
    label: &str,
    mut take: impl FnMut(&str) -> Result<(), String>,
) -> Result<String, Error> {
    let fail = |line: usize, problem: &str| Error::content(label, format!("line {line}"), problem);
    let mut hasher = Sha256::new();
    for (line, text) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let Ok(text) = std::str::from_utf8(text) else {
            return Err(fail(line, "is not UTF-8 text; save the file as UTF-8"));
        };
        let text = if line == 1 {
            file::without_mark(text)
        } else {
            text
        };
        if text.contains('\0') {
            return Err(fail(
                line,
                "has a byte 0, as in UTF-16; save the file as UTF-8",
            ));
        }
        take(text).map_err(|problem| fail(line, &problem))?;
        hasher.update(text);
        hasher.update(b"\n");
    }
    Ok(weights::hexadecimal(hasher))
}
