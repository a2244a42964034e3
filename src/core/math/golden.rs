//! Golden values of the mechanisms of attention, by name; see `tests/golden/README.md` for where they come
//! from.
//!
//! There a matrix of weights stands as [out, in]; here as [inputs, outputs]: [`Case::transposed`].
#![cfg(test)]

use serde_json::Value;

use super::simd::PLAIN;
use super::softmax::{dot, softmax, softmax_backward};

/// One file of `tests/golden/attention`: parts ("inputs", "parameters", "noise", "outputs", "upstream",
/// "gradients") of arrays by name.
pub(crate) struct Case {
    name: String,
    values: Value,
}

impl Case {
    /// The case of this name: `Case::load("score_additive")`.
    #[track_caller]
    pub(crate) fn load(name: &str) -> Self {
        Self::of_folder("attention", name)
    }

    /// The case of this name in another folder of `tests/golden`.
    #[track_caller]
    pub(crate) fn of_folder(folder: &str, name: &str) -> Self {
        let all = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden");
        let text = std::fs::read_to_string(format!("{all}/{folder}/{name}.json")).unwrap();
        Self {
            name: name.to_owned(),
            values: serde_json::from_str(&text).unwrap(),
        }
    }

    /// The case of the arrays whose names begin with this prefix, without it.
    pub(crate) fn within(&self, prefix: &str) -> Self {
        let mut values = self.values.clone();
        let parts = values.as_object_mut().unwrap().values_mut();
        for part in parts.filter_map(Value::as_object_mut) {
            let all = std::mem::take(part).into_iter();
            part.extend(all.map(|(name, value)| {
                let own = name.strip_prefix(prefix);
                (own.unwrap_or(&name).to_owned(), value)
            }));
        }
        let name = format!("{} {prefix}", self.name);
        Self { name, values }
    }

    /// An array, row after row; a number is an array of one: `case.numbers("inputs", "K")`.
    #[track_caller]
    pub(crate) fn numbers(&self, part: &str, array: &str) -> Vec<f64> {
        self.list(part, array, "data", Value::as_f64)
    }

    /// [`Case::numbers`] of symbols, rows and other whole numbers.
    #[track_caller]
    pub(crate) fn indices(&self, part: &str, array: &str) -> Vec<usize> {
        self.list(part, array, "data", whole)
    }

    /// Rows and columns of a matrix or of several, one after the other; rows and 1 of a vector.
    #[track_caller]
    pub(crate) fn shape(&self, part: &str, array: &str) -> (usize, usize) {
        let shape = self.list(part, array, "shape", whole);
        match shape[..] {
            [rows, columns] => (rows, columns),
            [blocks, rows, columns] => (blocks * rows, columns),
            [rows] => (rows, 1),
            _ => panic!("{} {part} {array} has shape {shape:?}", self.name),
        }
    }

    /// A matrix, column after column: weights [out, in] as [inputs, outputs], rows of keys as the columns of
    /// a memory.
    #[track_caller]
    pub(crate) fn transposed(&self, part: &str, array: &str) -> Vec<f64> {
        let (rows, columns) = self.shape(part, array);
        transposed(&self.numbers(part, array), rows, columns)
    }

    /// A size: `case.size("d_q")`.
    #[track_caller]
    pub(crate) fn size(&self, name: &str) -> usize {
        whole(&self.values["sizes"][name]).unwrap()
    }

    /// A constant that is a number: `case.constant("lambda_r")`.
    #[track_caller]
    pub(crate) fn constant(&self, name: &str) -> f64 {
        self.values["constants"][name].as_f64().unwrap()
    }

    /// A constant that is a list of numbers.
    #[track_caller]
    pub(crate) fn constants(&self, name: &str) -> Vec<f64> {
        let list = self.values["constants"][name].as_array().unwrap();
        list.iter().map(|x| x.as_f64().unwrap()).collect()
    }

    /// A constant that is a word: `case.word("form")`.
    #[track_caller]
    pub(crate) fn word(&self, name: &str) -> &str {
        self.values["constants"][name].as_str().unwrap()
    }

    /// Σ upstream·output, of which "gradients" holds the gradients.
    #[track_caller]
    pub(crate) fn objective(&self) -> f64 {
        self.values["objective"].as_f64().unwrap()
    }

    /// Panics unless `found` is the array, to 1e-10 (of a number above 1 its part).
    #[track_caller]
    pub(crate) fn assert_close(&self, part: &str, array: &str, found: &[f64]) {
        self.assert_all_close(part, array, found, &self.numbers(part, array));
    }

    /// [`Case::assert_close`] for a matrix that stands column after column.
    #[track_caller]
    pub(crate) fn assert_transposed_close(&self, part: &str, array: &str, found: &[f64]) {
        self.assert_all_close(part, array, found, &self.transposed(part, array));
    }

    /// Compares energies, their softmax and the context with the case; returns the gradient w.r.t. the energies.
    #[track_caller]
    pub(crate) fn energies_gradient(&self, energies: &[f64]) -> Vec<f64> {
        self.assert_close("outputs", "energies", energies);
        let mut weighting = energies.to_vec();
        softmax(PLAIN, 1.0, energies, &mut weighting);
        self.assert_close("outputs", "weighting", &weighting);
        let (values, d_context) = (
            self.transposed("inputs", "V"),
            self.numbers("upstream", "context"),
        );
        let columns = || values.chunks_exact(energies.len());
        let context: Vec<f64> = columns().map(|x| dot(PLAIN, x, &weighting)).collect();
        self.assert_close("outputs", "context", &context);
        let d_values: Vec<f64> = d_context
            .iter()
            .flat_map(|d| weighting.iter().map(move |w| d * w))
            .collect();
        self.assert_transposed_close("gradients", "V", &d_values);
        let mut d_weighting = self.numbers("upstream", "weighting");
        for (column, d) in columns().zip(&d_context) {
            let pairs = d_weighting.iter_mut().zip(column);
            pairs.for_each(|(d_weighting, x)| *d_weighting += d * x);
        }
        let mut d_energies = vec![0.0; energies.len()];
        softmax_backward(PLAIN, &weighting, &d_weighting, &mut d_energies);
        let upstream = self.numbers("upstream", "energies");
        let pairs = d_energies.iter_mut().zip(upstream);
        pairs.for_each(|(d_energies, upstream)| *d_energies += upstream);
        d_energies
    }

    #[track_caller]
    fn assert_all_close(&self, part: &str, array: &str, found: &[f64], wanted: &[f64]) {
        let name = format!("{} {part} {array}", self.name);
        assert_eq!(found.len(), wanted.len(), "{name}");
        for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
            let close = (found - wanted).abs() <= 1e-10 * wanted.abs().max(1.0);
            assert!(close, "{name}[{i}] is {found}, not {wanted}");
        }
    }

    #[track_caller]
    fn list<T>(
        &self,
        part: &str,
        array: &str,
        of: &str,
        number: impl Fn(&Value) -> Option<T>,
    ) -> Vec<T> {
        let list = self.values[part][array][of].as_array();
        let list = list.unwrap_or_else(|| panic!("{} has no {part} {array}", self.name));
        list.iter().map(|x| number(x).unwrap()).collect()
    }
}

fn whole(value: &Value) -> Option<usize> {
    Some(value.as_u64()? as usize)
}

/// The transpose of a matrix of `rows` rows: one that stands row after row then stands column after column.
fn transposed(matrix: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let column = |c| (0..rows).map(move |r| matrix[r * columns + c]);
    (0..columns).flat_map(column).collect()
}

#[test]
fn a_case_is_read_by_name() {
    let case = Case::load("weibull_text");
    assert_eq!(case.shape("parameters", "prior.W"), (5, 7));
    assert_eq!((case.size("d_k"), case.size("d_h")), (7, 5));
    assert_eq!((case.word("form"), case.constant("k")), ("text", 10.0));
    let weight = case.transposed("parameters", "prior.W");
    assert_eq!(weight[1], case.numbers("parameters", "prior.W")[7]);
    case.assert_transposed_close("parameters", "prior.W", &weight);
    case.assert_close("outputs", "loss", &[case.objective()]);
    let mut wrong = case.numbers("outputs", "S");
    wrong[3] *= 1.0 + 1e-9;
    let caught = std::panic::catch_unwind(|| case.assert_close("outputs", "S", &wrong));
    assert!(caught.is_err());
}
