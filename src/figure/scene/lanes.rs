//! Numbers over time as lines, and as bars by their logarithm.

use crate::figure::facts::numbers::end_text;
use crate::figure::facts::ticks::{Axis, AxisKind};
use crate::figure::scene::annotations::{dashes, unrecorded};
use crate::figure::scene::cells::Cells;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::pool::further;
use crate::figure::{Area, HeadName, Scalar, Style, facts::numbers};
use crate::train::is_absent;

/// Height of the caption of a lane.
const CAPTION: f32 = 19.0;
/// The least value that has a bar of any height.
const FAINTEST: f32 = 1e-8;

/// A line for each of these numbers, one below the other.
pub(crate) fn all(on: &mut Surface<'_>, lanes: &[(Scalar, Option<HeadName>)], area: &Area) {
    let colours = on.page.colours;
    let height = area.height() / lanes.len().max(1) as f32;
    for (index, (lane, head)) in lanes.iter().enumerate() {
        let top = area.top + index as f32 * height;
        let plot = area.down(top + CAPTION, top + height);
        one(on, (&lane.values, lane.scale), *head, &plot);
        on.frame(plot, colours.line);
        let (low, high) = lane.scale;
        ends(on, [low, high].map(end_text), &plot);
        let name = format!("{}  {}", lane.of.symbol, lane.of.words);
        let style = Style::new(11.0, colours.text);
        on.text(name, [area.left, top + 10.0], style);
    }
}

/// Writes the ends of the scale of a line left of it.
pub(crate) fn ends(on: &mut Surface<'_>, [low, high]: [String; 2], plot: &Area) {
    let style = Style::new(9.0, on.page.colours.subdued).end();
    let x = plot.left - 5.0;
    if plot.height() < 18.0 {
        on.text(format!("{low} … {high}"), [x, plot.centre()], style);
    } else {
        on.text(high, [x, plot.top + 4.0], style);
        on.text(low, [x, plot.bottom - 4.0], style);
    }
}

/// Draws a number per step as a line between the ends of its scale.
pub(crate) fn line_of(on: &mut Surface<'_>, cells: &Cells<'_>, area: &Area) {
    let values: Vec<f32> = cells.all().collect();
    one(on, (&values, cells.scale.ends()), None, area);
    on.frame(*area, on.page.colours.line);
}

/// Draws a number over time as a line: in the hue of a head, or in the text colour if it is of all heads.
pub fn one(
    on: &mut Surface<'_>,
    (values, (low, high)): (&[f32], (f32, f32)),
    head: Option<HeadName>,
    plot: &Area,
) {
    let colours = on.page.colours;
    on.rect(*plot, colours.well);
    if values.iter().copied().all(is_absent) {
        return unrecorded(on, plot);
    }
    let y = |value: f32| {
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        plot.bottom - share * plot.height()
    };
    if low < 0.0 {
        let zero = y(0.0);
        on.line(&plot.level(zero), colours.line, 1.0);
    }
    let (points, gaps) = line(plot, values, y);
    for [left, right] in gaps {
        on.rect(plot.across(left, right), colours.non_finite);
    }
    if points.len() > 1 {
        let ink = head.map_or(colours.text, |head| colours.head(head));
        on.dashed(&points, ink, 1.3, head.map_or(&[], dashes));
    }
}

/// Returns the points of a line over time, and the ranges where it is not finite. Of steps that share a pixel the
/// minimum and maximum are kept.
fn line(
    plot: &Area,
    values: &[f32],
    height: impl Fn(f32) -> f32,
) -> (Vec<[f32; 2]>, Vec<[f32; 2]>) {
    let steps = values.len().max(1) as f32;
    let together = (steps / plot.width().max(1.0)).ceil().max(1.0) as usize;
    let (mut points, mut gaps) = (Vec::new(), Vec::new());
    for (index, few) in values.chunks(together).enumerate() {
        let first = index * together;
        let x = [first, first + few.len()];
        let [left, right] = x.map(|step| plot.left + step as f32 / steps * plot.width());
        let finite = few.iter().copied().filter(|value| value.is_finite());
        let ends = finite.clone().reduce(f32::min).zip(finite.reduce(f32::max));
        if let Some((least, most)) = ends {
            points.extend([[left, height(least)], [right, height(most)]]);
        }
        let is_broken = |value: &f32| !value.is_finite() && !is_absent(*value);
        if few.iter().any(is_broken) {
            gaps.push([left, right]);
        }
    }
    (points, gaps)
}

/// Draws a bar for every step by the share of the height that its number has; of steps that share a pixel the number
/// furthest from zero is shown.
pub fn bars(on: &mut Surface<'_>, values: &[f32], area: &Area, share: impl Fn(f32) -> f32) {
    let width = area.width() / values.len().max(1) as f32;
    let together = (1.0 / width).ceil().max(1.0) as usize;
    for (index, steps) in values.chunks(together).enumerate() {
        let there = steps.iter().copied().filter(|value| !is_absent(*value));
        let value = there.reduce(further).unwrap_or(0.0);
        if value == 0.0 {
            continue;
        }
        let (mut share, mut fill) = (share(value), on.page.colours.subdued);
        if !value.is_finite() {
            (share, fill) = (1.0, on.page.colours.non_finite);
        }
        let height = (share * area.height()).clamp(1.0, area.height().max(1.0));
        let left = area.left + (index * together) as f32 * width;
        // A little wider than its steps: no seams.
        let right = (left + steps.len() as f32 * width + 0.4).min(area.right);
        let bar = area.across(left, right);
        on.rect(bar.down(area.bottom - height, area.bottom), fill);
    }
}

/// A number per step that ranges over many orders of magnitude.
#[derive(Debug)]
pub struct Decades<'a> {
    /// The numbers.
    pub values: Cells<'a>,
    /// The value at which a line is drawn.
    pub(crate) limit: f32,
    /// The step that has a mark.
    pub(crate) marked: Option<usize>,
}

impl Decades<'_> {
    pub(crate) fn paint(&self, on: &mut Surface<'_>, area: &Area) {
        let colours = on.page.colours;
        on.rect(*area, colours.well);
        let values: Vec<f32> = self.values.all().collect();
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let high = 10_f32.powf(finite.fold(1.0, f32::max).log10().ceil());
        let axis = Axis::new(AxisKind::Logarithm, [FAINTEST, high].map(f64::from));
        let share = |value: f32| axis.share(f64::from(value)) as f32;
        bars(on, &values, area, share);
        let width = area.width() / values.len().max(1) as f32;
        if self.limit > 0.0 {
            let y = area.bottom - share(self.limit).clamp(0.0, 1.0) * area.height();
            on.line(&area.level(y), colours.warning, 1.0);
        }
        if let Some(step) = self.marked {
            let x = area.left + (step as f32 + 0.5) * width;
            let base = area.bottom + 7.0;
            let corners = [[x - 4.0, base], [x + 4.0, base], [x, area.bottom]];
            on.shape(&corners, colours.warning);
        }
        on.frame(*area, colours.line);
        ends(on, [FAINTEST, high].map(numbers::exact), area);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::ABSENT;

    #[test]
    fn a_long_line_has_no_more_points_than_pixels_and_loses_no_peak() {
        let plot = Area::new(20.0, 0.0, 400.0, 10.0);
        let mut values = vec![0.25; 4001];
        (values[2000], values[3000]) = (1.0, f32::NAN);
        let (points, gaps) = line(&plot, &values, |value| value);
        assert!(points.len() <= 802 && points.len() > 200);
        assert_eq!(points.iter().filter(|point| point[1] == 1.0).count(), 1);
        assert_eq!(gaps.len(), 1);
        let (points, gaps) = line(&plot, &[0.5, f32::NAN, ABSENT, 1.0], |value| value);
        let heights: Vec<_> = points.iter().map(|point| point[1]).collect();
        assert_eq!(heights, [0.5, 0.5, 1.0, 1.0]);
        assert_eq!((points[1][0], gaps), (120.0, vec![[120.0, 220.0]]));
    }
}
