//! What a pixel shows of the several cells that share it.

use std::ops::Range;

/// The cells that fall on pixel `index` of `pixels`.
pub fn part(index: usize, pixels: usize, cells: usize) -> Range<usize> {
    let at = |index: usize| index * cells / pixels;
    at(index)..at(index + 1).max(at(index) + 1).min(cells)
}

/// Of two values the one further from zero; what is not finite is further than anything.
pub fn further(best: f32, next: f32) -> f32 {
    if best.is_finite() && (next.abs() > best.abs() || !next.is_finite()) {
        next
    } else {
        best
    }
}
