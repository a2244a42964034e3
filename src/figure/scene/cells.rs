//! Values in columns and rows, a colour each: the content of most pictures.

use std::ops::Range;

use crate::figure::facts::episode::HeadMark;
use crate::figure::scene::pool::pooled;
use crate::figure::{Colours, Image, Scale};
use crate::train::is_absent;

/// Positions of the wrong bits, for cells of this width.
type Outlines<'a> = Box<dyn Fn(f32) -> Vec<(usize, usize)> + 'a>;

/// Values in columns and rows.
pub struct Cells<'a> {
    /// Number of columns.
    pub columns: usize,
    /// Number of rows, shown or not.
    pub rows: usize,
    /// The meaning of the colours.
    pub scale: Scale,
    /// Distinguishes them from those of the same picture at another moment.
    pub version: (usize, usize),
    /// Columns in which nothing is shown.
    pub(crate) skipped: Vec<bool>,
    /// Columns in which nothing counts.
    pub(crate) veiled: Vec<Range<usize>>,
    /// The heads at the rows of a memory.
    pub(crate) marks: Vec<HeadMark>,
    /// Columns and rows of the cells that are outlined.
    pub(crate) outlined: Option<Outlines<'a>>,
    values: Box<dyn Values + 'a>,
}

/// Values by column and row, one or a whole column at a time.
pub trait Values {
    /// Returns one value.
    fn at(&self, column: usize, row: usize) -> f32;

    /// Copies these rows of a column.
    fn column(&self, column: usize, rows: &[usize], values: &mut [f32]);
}

impl<F: Fn(usize, usize) -> f32> Values for F {
    fn at(&self, column: usize, row: usize) -> f32 {
        self(column, row)
    }

    fn column(&self, column: usize, rows: &[usize], values: &mut [f32]) {
        for (value, &row) in values.iter_mut().zip(rows) {
            *value = self(column, row);
        }
    }
}

impl std::fmt::Debug for Cells<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} × {} cells", self.columns, self.rows)
    }
}

impl<'a> Cells<'a> {
    /// Creates cells from a function of column and row.
    pub fn new(
        [columns, rows]: [usize; 2],
        scale: Scale,
        value: impl Fn(usize, usize) -> f32 + 'a,
    ) -> Self {
        Self::of([columns, rows], scale, Box::new(value))
    }

    /// Creates cells from these values.
    pub(crate) fn of(
        [columns, rows]: [usize; 2],
        scale: Scale,
        values: Box<dyn Values + 'a>,
    ) -> Self {
        Self {
            columns,
            rows,
            scale,
            version: (0, 0),
            skipped: Vec::new(),
            veiled: Vec::new(),
            marks: Vec::new(),
            outlined: None,
            values,
        }
    }

    /// The value in a column and a row, if there is anything.
    pub fn value(&self, column: usize, row: usize) -> Option<f32> {
        let here = column < self.columns && row < self.rows && !self.is_skipped(column);
        here.then(|| self.values.at(column, row))
    }

    fn is_skipped(&self, column: usize) -> bool {
        self.skipped.get(column) == Some(&true)
    }

    /// Returns the cells of some columns.
    pub(crate) fn during(self, columns: Range<usize>) -> Self {
        if columns.start == 0 && columns.end >= self.columns {
            return self;
        }
        let (first, count, values) = (columns.start, columns.len(), self.values);
        let part = |columns: &Range<usize>| {
            let [start, end] = [columns.start, columns.end].map(|at| at.saturating_sub(first));
            start..end.min(count)
        };
        let veiled = self.veiled.iter().map(part);
        let outlined = self.outlined.map(|outlined| -> Outlines<'a> {
            Box::new(move |width| {
                let cells = outlined(width).into_iter();
                let here = cells.filter(|(column, _)| columns.contains(column));
                here.map(|(column, row)| (column - first, row)).collect()
            })
        });
        Self {
            columns: count,
            version: (self.version.0, self.version.1 + (first << 16)),
            veiled: veiled.filter(|columns| !columns.is_empty()).collect(),
            skipped: self.skipped.into_iter().skip(first).take(count).collect(),
            outlined,
            values: Box::new(move |column: usize, row: usize| values.at(first + column, row)),
            ..self
        }
    }

    /// True where one is not finite, and where one was not recorded.
    pub fn odd(&self) -> [bool; 2] {
        let rows: Vec<usize> = (0..self.rows).collect();
        let (mut values, mut odd) = (vec![0.0; self.rows], [false; 2]);
        for column in (0..self.columns).filter(|&column| !self.is_skipped(column)) {
            self.values.column(column, &rows, &mut values);
            for &value in values.iter().filter(|value| !value.is_finite()) {
                odd[usize::from(is_absent(value))] = true;
            }
        }
        odd
    }

    /// Returns all values, also those that are no numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = f32> + '_ {
        let rows = (0..self.rows).flat_map(|row| (0..self.columns).map(move |c| (c, row)));
        rows.filter_map(|(column, row)| self.value(column, row))
    }

    /// Returns these rows as an image of at most `most` pixels per axis.
    pub fn image(&self, rows: &[usize], most: [usize; 2], colours: &Colours) -> Image {
        let size = [self.columns, rows.len()];
        let column = |column: usize, values: &mut [f32]| {
            self.values.column(column, rows, values);
            !self.is_skipped(column)
        };
        let nothing = if self.skipped.is_empty() {
            colours.well
        } else {
            colours.raised
        };
        pooled(size, most, self.scale, column, |value| {
            value.map_or(nothing, |value| colours.of(self.scale, value))
        })
    }
}
