//! The tensors of a machine: names, sizes and initial values, before any of them is made.

use std::borrow::Cow;
use std::ops::Range;

use crate::equations::op::each;

/// Every tensor of a machine, before any of them is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The linear maps with bias, in the order in which they are used.
    pub linears: Vec<LinearSpec>,
    /// The other tensors.
    pub tensors: Vec<TensorSpec>,
    /// Where each of these stands if they are one list of numbers, as those of a machine file are: in the order in which its
    /// engine has them.
    pub places: Vec<TensorPlace>,
}

/// Where a tensor stands in a list of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorPlace {
    /// Its first number.
    pub first: usize,
    /// Lengths of its axes: those of the rows, then that of the columns.
    pub lengths: Vec<usize>,
    /// From one entry along an axis to the next.
    pub strides: Vec<isize>,
}

/// A linear map with bias: weights [inputs, outputs] as `NAME.weight` and `NAME.bias`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearSpec {
    /// The parts, next to each other: the name and the number of outputs of each.
    pub parts: Vec<(String, usize)>,
    /// Inputs.
    pub inputs: usize,
}

/// A tensor that is no linear map with bias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    /// The name in files.
    pub name: Cow<'static, str>,
    /// Rows; 0 for one that such a machine does not learn.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// The initial values.
    pub start: Start,
}

/// The initial values of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Zeros: a bias.
    Zero,
    /// Uniform in ±sqrt(6 / (rows + columns)) (Glorot): weights.
    Glorot,
    /// Glorot with this number of rows and columns together.
    GlorotOf(usize),
    /// Uniform in ±0.05: a state before the first step.
    NearZero,
}

impl LinearSpec {
    /// Creates a single map under one name.
    pub fn new(name: impl Into<String>, inputs: usize, outputs: usize) -> Self {
        let parts = vec![(name.into(), outputs)];
        Self { parts, inputs }
    }

    /// Outputs.
    pub fn outputs(&self) -> usize {
        self.parts.iter().map(|(_, outputs)| outputs).sum()
    }
}

impl TensorSpec {
    /// A learned state before the first step; without rows where it is not learned.
    pub fn state(name: &'static str, rows: usize, columns: usize) -> Self {
        let start = Start::NearZero;
        Self {
            name: name.into(),
            rows,
            columns,
            start,
        }
    }
}

impl TensorPlace {
    /// True without numbers.
    pub(super) fn is_empty(&self) -> bool {
        self.lengths.contains(&0)
    }

    /// Calls `visit` with the place of every number, row after row.
    pub(super) fn each(&self, mut visit: impl FnMut(usize)) {
        self.each_with(self, |[at, _]| visit(at));
    }

    /// [`Self::each`], and with the place in another list.
    pub(super) fn each_with(&self, other: &Self, mut visit: impl FnMut([usize; 2])) {
        let first = [self.first.cast_signed(), other.first.cast_signed()];
        let strides = [&self.strides[..], &other.strides[..]];
        each(&self.lengths, strides, first, &mut |at| {
            visit(at.map(|at| at as usize));
        });
    }

    /// Behind its last number.
    fn end(&self) -> usize {
        let axes = self.lengths.iter().zip(&self.strides);
        let far = axes.map(|(length, stride)| length.saturating_sub(1) * stride.unsigned_abs());
        self.first + far.sum::<usize>() + 1
    }
}

impl Shape {
    /// From the first number of the list of [`Self::places`] that is of a tensor to behind the last one.
    pub(super) fn in_list(&self) -> Range<usize> {
        let all = || self.places.iter().filter(|place| !place.is_empty());
        let first = all().map(|place| place.first).min();
        let end = all().map(TensorPlace::end).max();
        first.unwrap_or(0)..end.unwrap_or(0)
    }

    /// Name, rows and columns of every tensor in files; biases and vectors have one row. Tensors
    /// without elements are omitted.
    pub fn named(&self) -> impl Iterator<Item = (String, [usize; 2])> {
        self.starts().map(|(name, size, _)| (name, size))
    }

    /// Number of parameters.
    pub fn count(&self) -> u64 {
        let sizes = self.named().map(|(_, size)| size.map(|size| size as u64));
        let values = sizes.map(|[rows, columns]| rows.saturating_mul(columns));
        values.fold(0, u64::saturating_add)
    }

    pub(super) fn starts(&self) -> impl Iterator<Item = (String, [usize; 2], Start)> {
        let of_linear = |linear: &LinearSpec| {
            let inputs = linear.inputs;
            let parts = linear.parts.iter().flat_map(move |(name, outputs)| {
                let weight = (format!("{name}.weight"), [inputs, *outputs], Start::Glorot);
                [weight, (format!("{name}.bias"), [1, *outputs], Start::Zero)]
            });
            parts.collect::<Vec<_>>()
        };
        let of_tensor = |spec: &TensorSpec| {
            let size = [spec.rows, spec.columns];
            (spec.name.to_string(), size, spec.start)
        };
        let linears = self.linears.iter().flat_map(of_linear);
        linears
            .chain(self.tensors.iter().map(of_tensor))
            .filter(|(_, [rows, columns], _)| *rows > 0 && *columns > 0)
    }
}
