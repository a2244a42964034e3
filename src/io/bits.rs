//! A sequence of bit vectors made by hand: `[[0,1,1], …]`, or `{"bits": [[0,1,1], …], "repeats": 3}`.

use std::path::Path;

use ndarray::Array2;
use serde::Deserialize;
use serde_json::Value;

use super::error::short;
use super::preset::form::plain;
use super::preset::{MAX_LENGTH, MAX_REPEATS};
use super::{Error, file};

/// The largest file of bits that is read, in bytes.
const LIMIT: u64 = 64 << 20;

/// Bits to show to a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits {
    /// 0 or 1, [length, bits].
    pub bits: Array2<f32>,
    /// How often to repeat them, when the file says so.
    pub repeats: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    bits: Vec<Vec<Value>>,
    #[serde(default)]
    repeats: Option<usize>,
}

/// Reads a file of vectors with `width` bits each.
///
/// # Errors
/// The file, the row and what is allowed.
pub fn read(path: &Path, width: usize) -> Result<Bits, Error> {
    from_json(&file::read_text(path, LIMIT)?, &file::label(path), width)
}

/// [`read`] from memory; `label` stands for the file in messages.
///
/// # Errors
/// As for [`read`].
pub fn from_json(source: &str, label: &str, width: usize) -> Result<Bits, Error> {
    let syntax = |error: serde_json::Error| {
        let problem = format!(
            "{}; expected rows of 0 and 1 such as [[0,1],[1,1]], or {{\"bits\": [[0,1],[1,1]], \"repeats\": 2}}",
            plain(&error.to_string())
        );
        Error::content(label, "", problem)
    };
    let form = if source.trim_start().starts_with('[') {
        Form {
            bits: serde_json::from_str(source).map_err(syntax)?,
            repeats: None,
        }
    } else {
        serde_json::from_str(source).map_err(syntax)?
    };
    if form
        .repeats
        .is_some_and(|repeats| !(1..=MAX_REPEATS).contains(&repeats))
    {
        let problem = format!("is out of range; allowed: 1 to {MAX_REPEATS}");
        return Err(Error::content(label, "repeats", problem));
    }
    Ok(Bits {
        bits: matrix(&form.bits, label, width)?,
        repeats: form.repeats,
    })
}

fn matrix(rows: &[Vec<Value>], label: &str, width: usize) -> Result<Array2<f32>, Error> {
    if !(1..=MAX_LENGTH).contains(&rows.len()) {
        let problem = format!("has {} rows; allowed: 1 to {MAX_LENGTH}", rows.len());
        return Err(Error::content(label, "bits", problem));
    }
    let mut matrix = Array2::zeros((rows.len(), width));
    for (index, row) in rows.iter().enumerate() {
        let place = format!("bits[{index}]");
        if row.len() != width {
            let problem = format!(
                "has {} values; this machine's vectors have {width} bits",
                row.len()
            );
            return Err(Error::content(label, place, problem));
        }
        for (to, value) in matrix.row_mut(index).iter_mut().zip(row) {
            *to = match value.as_u64() {
                Some(0) => 0.0,
                Some(1) => 1.0,
                _ => {
                    return Err(Error::content(
                        label,
                        place,
                        format!("holds {}; allowed: 0 and 1", short(&value.to_string())),
                    ));
                }
            };
        }
    }
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn both_forms() {
        let bits = array![[0., 1.], [1., 1.]];
        let plain = from_json("[[0,1],[1,1]]", "b.json", 2).unwrap();
        assert_eq!((plain.bits, plain.repeats), (bits.clone(), None));
        let full = from_json(r#"{"bits":[[0,1],[1,1]],"repeats":3}"#, "b.json", 2).unwrap();
        assert_eq!((full.bits, full.repeats), (bits, Some(3)));
    }

    #[test]
    fn errors_name_the_row() {
        let message = |source: &str| from_json(source, "b.json", 2).unwrap_err().to_string();
        assert_eq!(
            message("[]"),
            "b.json: `bits`: has 0 rows; allowed: 1 to 100000"
        );
        assert_eq!(
            message("[[0,1],[1]]"),
            "b.json: `bits[1]`: has 1 values; this machine's vectors have 2 bits"
        );
        assert_eq!(
            message("[[0,2]]"),
            "b.json: `bits[0]`: holds 2; allowed: 0 and 1"
        );
        assert_eq!(
            message("[[0,0.5]]"),
            "b.json: `bits[0]`: holds 0.5; allowed: 0 and 1"
        );
        assert!(message(r#"{"bit":[[0,1]]}"#).contains("unknown key `bit`"));
        assert!(message(r#"{"bits":[[0,1]],"repeats":0}"#).contains("`repeats`: is out of range"));
        assert!(message("nonsense").contains("expected rows of 0 and 1"));
    }
}
