//! Pooling of several cells that share a pixel.

use std::ops::Range;

use crate::figure::Scale;

/// The cells that fall on pixel `index` of `pixels`.
fn part(index: usize, pixels: usize, cells: usize) -> Range<usize> {
    let at = |index: usize| index * cells / pixels;
    at(index)..at(index + 1).max(at(index) + 1).min(cells)
}

/// Returns the value further from zero; non-finite values are furthest. Without signs the bits of numbers are in the
/// order of the numbers, and those of NaN come last.
pub(crate) fn further(best: f32, next: f32) -> f32 {
    let size = |value: f32| value.to_bits() & 0x7fff_ffff;
    if size(next) > size(best) { next } else { best }
}

/// Several cells as one value. Of weights and signed numbers the one furthest from zero: a single 1 must survive 4096
/// rows. Of bits their mean: half of them set is gray, not all black.
#[derive(Clone, Copy, Default)]
struct Pooled {
    value: f32,
    cells: usize,
}

impl Pooled {
    fn add(&mut self, scale: Scale, values: &[f32]) {
        let (is_mean, values_of) = (scale == Scale::Bits, values.iter().copied());
        let value = match values {
            &[value] => Some(value),
            _ if is_mean => Some(values_of.sum()),
            _ => values_of.reduce(further),
        };
        let Some(value) = value else { return };
        self.value = match self.cells {
            0 => value,
            _ if is_mean => self.value + value,
            _ => further(self.value, value),
        };
        self.cells += values.len();
    }

    fn shown(self, scale: Scale) -> Option<f32> {
        (self.cells > 0).then(|| match scale {
            Scale::Bits => self.value / self.cells as f32,
            _ => self.value,
        })
    }
}

/// Renders cells as pixels, one per cell or as many as fit; `column` writes the values of a column, or reports that
/// it is omitted, and `seen` takes every pixel's index and value. Returns the number of pixels across and down.
pub fn pooled(
    [columns, rows]: [usize; 2],
    most: [usize; 2],
    scale: Scale,
    mut column: impl FnMut(usize, &mut [f32]) -> bool,
    mut seen: impl FnMut(usize, Option<f32>),
) -> [usize; 2] {
    let (width, height) = (columns.min(most[0]).max(1), rows.min(most[1]).max(1));
    let parts: Vec<_> = (0..height).map(|y| part(y, height, rows)).collect();
    let mut values = vec![0.0; rows];
    let mut together = vec![Pooled::default(); height];
    for x in 0..width {
        together.fill(Pooled::default());
        for index in part(x, width, columns) {
            if !column(index, &mut values) {
                continue;
            }
            for (together, rows) in together.iter_mut().zip(&parts) {
                together.add(scale, &values[rows.clone()]);
            }
        }
        for (y, together) in together.iter().enumerate() {
            seen(y * width + x, together.shown(scale));
        }
    }
    [width, height]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that pixels show, column after column.
    fn shown(size: [usize; 2], most: [usize; 2], scale: Scale, values: &[f32]) -> Vec<f32> {
        let column = |column: usize, out: &mut [f32]| {
            for (row, out) in out.iter_mut().enumerate() {
                *out = values[row * size[0] + column];
            }
            true
        };
        let mut seen = Vec::new();
        let _ = pooled(size, most, scale, column, |_, value| seen.extend(value));
        seen
    }

    #[test]
    fn a_single_peak_survives_any_reduction() {
        let mut values = vec![0.0; 3 * 4096];
        values[3 * 1777..][..3].fill(1.0);
        let seen = shown([3, 4096], [3, 100], Scale::weighting(false), &values);
        assert_eq!(seen.len(), 300);
        assert_eq!(seen.iter().filter(|&&value| value == 1.0).count(), 3);
    }

    #[test]
    fn a_nan_survives_any_reduction_and_the_larger_magnitude_wins() {
        let values = [0.5, f32::NAN, 0.9, 0.3, -0.8, 0.1];
        let seen = shown([6, 1], [2, 1], Scale::Signed(1.0), &values);
        assert!(seen[0].is_nan());
        assert_eq!(seen[1], -0.8);
    }

    #[test]
    fn many_bits_show_their_mean() {
        let values: Vec<f32> = (0..4000).map(|t| (t % 2) as f32).collect();
        let seen = shown([4000, 1], [400, 1], Scale::Bits, &values);
        assert!(seen.iter().all(|value| (value - 0.5).abs() < 1e-6));
    }

    #[test]
    fn every_cell_falls_on_a_pixel() {
        for (pixels, cells) in [(100, 4096), (7, 7), (3, 41)] {
            let parts: Vec<_> = (0..pixels).map(|i| part(i, pixels, cells)).collect();
            assert_eq!(parts[0].start, 0);
            assert_eq!(parts.last().unwrap().end, cells);
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }
}
