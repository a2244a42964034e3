//! What a pixel shows of the several cells that share it.

use std::ops::Range;

use super::{Image, Scale};

/// The cells that fall on pixel `index` of `pixels`.
fn part(index: usize, pixels: usize, cells: usize) -> Range<usize> {
    let at = |index: usize| index * cells / pixels;
    at(index)..at(index + 1).max(at(index) + 1).min(cells)
}

/// Of two values the one further from zero; what is not finite is further than anything.
pub(super) fn further(best: f32, next: f32) -> f32 {
    if best.is_finite() && (next.abs() > best.abs() || !next.is_finite()) {
        next
    } else {
        best
    }
}

/// One value for several. Of weights and signed numbers the one furthest from zero: a single 1 must survive 4096
/// rows. Of bits their mean: half of them set is gray, not all black.
fn together(scale: Scale, values: impl Iterator<Item = f32>) -> Option<f32> {
    if scale != Scale::Bits {
        return values.reduce(further);
    }
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f32)
}

/// Cells as pixels, as many as there are cells, or as fit; `value` of a column and a row, where there is one, and the
/// `colour` of what falls on a pixel from these columns.
pub fn pooled(
    [columns, rows]: [usize; 2],
    most: [usize; 2],
    scale: Scale,
    value: impl Fn(usize, usize) -> Option<f32>,
    colour: impl Fn(Range<usize>, Option<f32>) -> super::Rgb,
) -> Image {
    let (width, height) = (columns.min(most[0]).max(1), rows.min(most[1]).max(1));
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let (columns, rows) = (part(x, width, columns), part(y, height, rows));
            let cells = rows.flat_map(|row| columns.clone().map(move |column| (column, row)));
            let values = cells.filter_map(|(column, row)| value(column, row));
            let shown = together(scale, values);
            pixels.push(colour(columns, shown));
        }
    }
    Image {
        columns: width,
        rows: height,
        pixels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that pixels show.
    fn shown(size: [usize; 2], most: [usize; 2], scale: Scale, values: &[f32]) -> Vec<f32> {
        let value = |column: usize, row: usize| Some(values[row * size[0] + column]);
        let seen = std::cell::RefCell::new(Vec::new());
        let _ = pooled(size, most, scale, value, |_, value| {
            seen.borrow_mut().extend(value);
            [0; 3]
        });
        seen.into_inner()
    }

    #[test]
    fn a_single_peak_survives_any_reduction() {
        let mut values = vec![0.0; 3 * 4096];
        values[3 * 1777..][..3].fill(1.0);
        let seen = shown([3, 4096], [3, 100], Scale::Weighting, &values);
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
    fn of_many_bits_their_mean_is_seen() {
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
