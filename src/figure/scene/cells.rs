//! Values in columns and rows, a colour each: the content of most pictures.

use std::ops::Range;

use crate::figure::facts::episode::HeadMark;
use crate::figure::scene::pool::{further, pooled};
use crate::figure::{Colours, HeadName, Image, Scale};
use crate::model::Trace;
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
    /// A number of every row, printed where there is room: places in an order, from 1.
    pub(crate) places: Vec<usize>,
    /// Columns and rows of the cells that are outlined.
    pub(crate) outlined: Option<Outlines<'a>>,
    /// The rows of the true alignment, by column.
    pub(crate) aligned: Vec<(usize, Range<usize>)>,
    /// Those of the sure links alone, if some are only possible.
    pub(crate) sure: Option<Vec<(usize, Range<usize>)>>,
    /// Weightings of other heads in the same cells: each pixel shows the largest weight in the colours of its head.
    others: Vec<Self>,
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
    pub fn new(size: [usize; 2], scale: Scale, value: impl Fn(usize, usize) -> f32 + 'a) -> Self {
        Self::of(size, scale, Box::new(value))
    }

    /// Creates cells from these values.
    pub(crate) fn of(size: [usize; 2], scale: Scale, values: Box<dyn Values + 'a>) -> Self {
        Self {
            columns: size[0],
            rows: size[1],
            scale,
            version: (0, 0),
            skipped: Vec::new(),
            veiled: Vec::new(),
            marks: Vec::new(),
            places: Vec::new(),
            outlined: None,
            aligned: Vec::new(),
            sure: None,
            others: Vec::new(),
            values,
        }
    }

    /// Creates one picture of the weightings of all heads over time; `None` without heads.
    pub fn of_heads(trace: &'a Trace) -> Option<Self> {
        let mut heads = trace.heads.iter().enumerate().map(|(index, head)| {
            let weighting = &head.weighting;
            let scale = Scale::weighting(false).of_head(HeadName::of(trace, index));
            let value = |t: usize, row: usize| weighting.row(t).get(row).copied();
            let weight = move |t, row| value(t, row).unwrap_or_default();
            Self::new([trace.steps(), weighting.width()], scale, weight)
        });
        let first = heads.next()?;
        let others = heads.collect();
        Some(Self { others, ..first })
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
    pub fn during(self, columns: Range<usize>) -> Self {
        if columns.start == 0 && columns.end >= self.columns {
            return self;
        }
        let (first, count, values) = (columns.start, columns.len(), self.values);
        let others = self.others.into_iter();
        let others = others.map(|cells| cells.during(columns.clone())).collect();
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
        let shown = first..first + count;
        let of_shown = |links: Vec<(usize, Range<usize>)>| {
            let links = links.into_iter();
            let links = links.filter(|(column, _)| shown.contains(column));
            links.map(|(column, rows)| (column - first, rows)).collect()
        };
        Self {
            aligned: of_shown(self.aligned),
            sure: self.sure.map(of_shown),
            columns: count,
            version: (self.version.0, self.version.1 + (first << 16)),
            veiled: veiled.filter(|columns| !columns.is_empty()).collect(),
            skipped: self.skipped.into_iter().skip(first).take(count).collect(),
            outlined,
            values: Box::new(move |column: usize, row: usize| values.at(first + column, row)),
            others,
            ..self
        }
    }

    /// Returns column and row of the outlined cells, for cells of this width.
    pub fn outlined(&self, width: f32) -> Vec<(usize, usize)> {
        let outlined = self.outlined.iter();
        outlined.flat_map(|outlined| outlined(width)).collect()
    }

    /// True where one is not finite, and where one was not recorded.
    pub fn has_unusual_values(&self) -> [bool; 2] {
        let rows: Vec<usize> = (0..self.rows).collect();
        let (mut values, mut unusual) = (vec![0.0; self.rows], [false; 2]);
        for column in (0..self.columns).filter(|&column| !self.is_skipped(column)) {
            self.values.column(column, &rows, &mut values);
            for &value in values.iter().filter(|value| !value.is_finite()) {
                unusual[usize::from(is_absent(value))] = true;
            }
        }
        unusual
    }

    /// Returns all values, also those that are no numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = f32> + '_ {
        let rows = (0..self.rows).flat_map(|row| (0..self.columns).map(move |c| (c, row)));
        rows.filter_map(|(column, row)| self.value(column, row))
    }

    /// Returns these rows as an image of at most `most` pixels per axis.
    pub fn image(&self, rows: &[usize], most: [usize; 2], colours: &Colours) -> Image {
        let nothing = [colours.raised, colours.well][usize::from(self.skipped.is_empty())];
        let (mut pixels, mut best) = (Vec::new(), Vec::new());
        let mut size = [0; 2];
        for cells in std::iter::once(self).chain(&self.others) {
            let column = |column: usize, values: &mut [f32]| {
                cells.values.column(column, rows, values);
                !cells.is_skipped(column)
            };
            let seen = |pixel: usize, value: Option<f32>| {
                if best.len() <= pixel {
                    best.resize(pixel + 1, None);
                    pixels.resize(pixel + 1, nothing);
                }
                let Some(value) = value else { return };
                let beats = |known| further(known, value).to_bits() != known.to_bits();
                if best[pixel].is_none_or(beats) {
                    (best[pixel], pixels[pixel]) = (Some(value), colours.of(cells.scale, value));
                }
            };
            size = pooled([cells.columns, rows.len()], most, cells.scale, column, seen);
        }
        let [columns, rows] = size;
        Image {
            columns,
            rows,
            pixels,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fixture::recording;

    #[test]
    fn each_weighting_has_the_hue_of_its_head() {
        let mut trace = recording().trace;
        // R1 is on row 3, W0 on row 5; of two on row 7 the stronger one is visible.
        let weights = [(1, 3, 1.0), (2, 5, 0.5), (0, 7, 0.4), (3, 7, 0.6)];
        for head in &mut trace.heads {
            head.weighting.row_mut(2).fill(0.0);
        }
        for (head, row, weight) in weights {
            trace.heads[head].weighting.row_mut(2)[row] = weight;
        }
        let colours = Colours::for_theme(true);
        let image = Cells::of_heads(&trace)
            .unwrap()
            .image(&[3, 5, 7, 8], [100; 2], colours);
        let hue = |head, weight| {
            let scale = Scale::weighting(false).of_head(HeadName::of(&trace, head));
            colours.of(scale, weight)
        };
        let column = image.pixels.into_iter().skip(2).step_by(image.columns);
        let expected = [hue(1, 1.0), hue(2, 0.5), hue(3, 0.6), colours.well];
        assert_eq!(column.collect::<Vec<_>>(), expected);
    }
}
