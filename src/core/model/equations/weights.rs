//! The weights as they stand in the arena of an engine. Engines for episodes of different lengths have them in the same places,
//! so they are brought into that order once for many engines, and the sums of their gradients back once.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::equations::bind::{Bound, GATES, IN};
use crate::equations::program::{Axis, Program};
use crate::math::Real;
use crate::model::params::Params;
use crate::model::shape::Shape;

/// Rows that are copied together, so that a cache line is used as a whole.
const BLOCK: usize = 16;

/// The places of all weights in an arena.
#[derive(Debug, PartialEq)]
pub(super) struct Places {
    range: Range<usize>,
    /// For each row of each tensor its first number, counted from the start of the range, and the distance to the next one.
    rows: Vec<Vec<[usize; 2]>>,
}

/// Weights, or sums of their gradients, in the order of an arena.
pub(super) struct Weights<R> {
    places: Arc<Places>,
    numbers: Vec<R>,
}

impl Places {
    pub(super) fn new(program: &Program, bound: &Bound, shape: &Shape) -> Self {
        let range = bound.tensor_range();
        let tensors = program.tensors.iter().zip(&bound.tensors);
        let rows = tensors.zip(&shape.tensors).map(|((tensor, layout), spec)| {
            let mut axes: Vec<Axis> = tensor.axes.clone();
            if tensor.gates > 0 {
                axes.insert(tensor.before_gates, GATES);
            }
            if !tensor.inputs.is_empty() {
                axes.push(IN);
            }
            let places = layout.places(&axes);
            let rows = places.chunks(spec.columns.max(1));
            let stride = |row: &[usize]| row.get(1).map_or(1, |next| next - row[0]);
            rows.map(|row| [row[0] - range.start, stride(row)])
                .collect()
        });
        let rows = rows.collect();
        Self { range, rows }
    }

    /// The places of this list that are equal; where there are none, these join it.
    pub(super) fn kept(self, all: &Mutex<Vec<Arc<Self>>>) -> Arc<Self> {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(equal) = all.iter().find(|other| ***other == self) {
            return Arc::clone(equal);
        }
        let new = Arc::new(self);
        all.push(Arc::clone(&new));
        new
    }

    /// Copies weights into an arena.
    pub(super) fn put<R: Real>(&self, params: &Params<R>, arena: &mut [R]) {
        let to = &mut arena[self.range.clone()];
        for (tensor, places) in params.tensors.iter().zip(&self.rows) {
            let (columns, rows) = (tensor.columns(), 0..tensor.rows());
            let rows: Vec<&[R]> = rows.map(|row| tensor.row(row)).collect();
            for (rows, places) in rows.chunks(BLOCK).zip(places.chunks(BLOCK)) {
                match (adjacent(places), <&[&[R]; BLOCK]>::try_from(rows)) {
                    (Some([start, stride]), Ok(rows)) => {
                        let rows = rows.map(|row| &row[..columns]);
                        for column in 0..columns {
                            let to = &mut to[start + column * stride..][..BLOCK];
                            to.copy_from_slice(&rows.map(|row| row[column]));
                        }
                    }
                    _ => {
                        for (row, [start, stride]) in rows.iter().zip(places) {
                            let to = to[*start..].iter_mut().step_by(*stride);
                            to.zip(*row).for_each(|(to, from)| *to = *from);
                        }
                    }
                }
            }
        }
    }

    /// Adds the gradients of weights, which begin here in an arena.
    pub(super) fn add<R: Real>(&self, gradients: &[R], to: &mut Params<R>) {
        let from = &gradients[self.range.clone()];
        for (tensor, places) in to.tensors.iter_mut().zip(&self.rows) {
            let columns = tensor.columns();
            let mut rows: Vec<&mut [R]> = tensor.rows_mut().collect();
            for (rows, places) in rows.chunks_mut(BLOCK).zip(places.chunks(BLOCK)) {
                if let (Some([start, stride]), BLOCK) = (adjacent(places), rows.len()) {
                    let line = |column: usize| &from[start + column * stride..][..BLOCK];
                    for first in (0..columns).step_by(BLOCK) {
                        let count = BLOCK.min(columns - first);
                        let mut block = [[R::ZERO; BLOCK]; BLOCK];
                        for (to, column) in block.iter_mut().zip(first..first + count) {
                            to.copy_from_slice(line(column));
                        }
                        for (at, row) in rows.iter_mut().enumerate() {
                            let pairs = row[first..first + count].iter_mut().zip(&block);
                            pairs.for_each(|(to, from)| *to += from[at]);
                        }
                    }
                    continue;
                }
                for (row, [start, stride]) in rows.iter_mut().zip(places) {
                    let from = from[*start..].iter().step_by(*stride);
                    row.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
                }
            }
        }
    }
}

impl<R: Real> Weights<R> {
    /// Those of a machine.
    pub(super) fn new(places: &Arc<Places>, params: &Params<R>) -> Self {
        let mut all = Self::zeros(places);
        places.put(params, &mut all.numbers);
        all
    }

    /// Zeros, to add gradients to.
    pub(super) fn zeros(places: &Arc<Places>) -> Self {
        Self {
            places: Arc::clone(places),
            numbers: vec![R::ZERO; places.range.end],
        }
    }

    /// Whether they stand in these places.
    pub(super) fn fits(&self, places: &Arc<Places>) -> bool {
        Arc::ptr_eq(&self.places, places)
    }

    /// Copies them into an arena.
    pub(super) fn put(&self, arena: &mut [R]) {
        let range = self.places.range.clone();
        arena[range.clone()].copy_from_slice(&self.numbers[range]);
    }

    /// Adds gradients, which begin here in an arena.
    pub(super) fn add(&mut self, gradients: &[R]) {
        let pairs = self.numbers.iter_mut().zip(gradients);
        pairs.for_each(|(to, from)| *to += *from);
    }

    /// Adds them to those of a machine.
    pub(super) fn add_to(&self, params: &mut Params<R>) {
        self.places.add(&self.numbers, params);
    }
}

/// The first number of these rows and the distance of the next column, where the numbers of a column stand side by side.
fn adjacent(rows: &[[usize; 2]]) -> Option<[usize; 2]> {
    let [start, stride] = rows[0];
    let mut all = (start..).zip(rows);
    all.all(|(start, row)| *row == [start, stride])
        .then_some([start, stride])
}
