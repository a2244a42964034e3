//! Arcs from a read, or from an output bit, back to the writes that made it.

use crate::analysis::provenance::{Origin, Part, Provenance, Target};
use crate::figure::facts::rows::Span;
use crate::figure::scene::axes;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::{Ink, PanelId, Picture, PlacedPanel, Scale, Style};

/// Share below which a part has no arc.
const LEAST: f64 = 0.01;
/// Most arcs, those of the largest shares.
const MOST: usize = 32;
/// Shares in numbers, of the largest ones.
const LABELS: usize = 3;

/// Draws an arc for every write, as wide as its share is large, dashed where that is negative.
pub(crate) fn arcs(on: &mut Surface<'_>, places: &[PlacedPanel<'_>], found: &Provenance) {
    let (first, colours) = (on.page.first, on.page.colours);
    let point = |id: PanelId, step: usize, row: Option<usize>| {
        let place = places.iter().find(|place| place.panel.id == id)?;
        let (column, steps) = (step.checked_sub(first)?, place.steps()?);
        let x = place.area.left + (column as f32 + 0.5) / steps as f32 * place.area.width();
        let y = row.and_then(|row| place.axis.place_of(row));
        (column < steps).then(|| [x, y.map_or(place.area.bottom, Span::center)])
    };
    let ends = |part: &Part| {
        let begin = match part.origin {
            Origin::Write(head, step) => {
                point(PanelId::of(Picture::Weightings, head), step, part.row())
            }
            Origin::Row(step) => point(PanelId::new(Picture::Input), step, None),
            Origin::Initial | Origin::Hidden | Origin::Bias => None,
        };
        let end = match found.of {
            Target::Read(head, step) => {
                point(PanelId::of(Picture::Weightings, head), step, part.row())
            }
            Target::Bit(step, channel) => point(PanelId::new(Picture::Output), step, Some(channel)),
        };
        begin.zip(end)
    };
    let largest = found.largest().into_iter();
    let shown = largest.filter_map(|part| Some((found.share(part), ends(part)?)));
    let shown = shown.filter(|(share, _)| share.abs() >= LEAST).take(MOST);
    let shown: Vec<_> = shown.collect();
    let most = shown.first().map_or(1.0, |(share, _)| share.abs());
    for (share, (begin, end)) in shown.iter().rev() {
        let size = (share.abs() / most) as f32;
        let colour = colours.of(Scale::Signed(1.0), share.signum() as f32);
        let (width, curve) = (1.0 + 3.0 * size, curve(*begin, *end));
        on.line(&curve, Ink::from(colours.panel).faded(0.6), width + 2.0);
        let dashes: &[f32] = if *share < 0.0 { &[6.0, 4.0] } else { &[] };
        let ink = Ink::from(colour).faded(0.35 + 0.65 * size);
        on.dashed(&curve, ink, width, dashes);
        for end in [*begin, *end] {
            axes::dot(on.paint, end, 2.0 + 1.5 * size, colour);
        }
    }
    for (index, (share, ([x, y], _))) in shown.iter().take(LABELS).enumerate() {
        let text = format!("{:+.0} %", 100.0 * share).replace('-', "−");
        let style = Style::new(10.0, colours.strong).middle();
        axes::label(on, &text, [*x, y - 12.0 - 14.0 * index as f32], style);
    }
}

/// A curve between two points, bent upwards.
fn curve(from: [f32; 2], to: [f32; 2]) -> Vec<[f32; 2]> {
    let bend = 0.15 * (to[0] - from[0]).hypot(to[1] - from[1]);
    let point = |index: i32| {
        let t = index as f32 / 24.0;
        let at = |axis: usize| from[axis] + (to[axis] - from[axis]) * t;
        [at(0), at(1) - 4.0 * bend * t * (1.0 - t)]
    };
    (0..=24).map(point).collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::provenance::{Origin, Provenance, Target, Writes};
    use crate::figure::fixture::recording;
    use crate::figure::{Colours, Figure, Layout, Mark, Options, Pages, Picture, Scale};
    use crate::model::Turns;
    use crate::model::config::Order;

    /// The curves of a figure in the colours of positive and of negative shares; true for dashed ones.
    fn curves(found: &Provenance, layout: Layout) -> (Vec<bool>, String) {
        let recording = recording();
        let figure = Figure::new(&recording, Options::new(layout)).with_provenance(Some(found));
        let drawing = figure.scene().0;
        let ends = [1.0, -1.0].map(|end| Colours::for_theme(false).of(Scale::Signed(1.0), end));
        let curves = drawing.marks.iter().filter_map(|mark| match mark {
            Mark::Line {
                points,
                ink,
                dashes,
                ..
            } if points.len() == 25 && ends.contains(&ink.colour) => {
                assert_eq!(dashes.is_empty(), ink.colour == ends[0]);
                Some(!dashes.is_empty())
            }
            _ => None,
        });
        (curves.collect(), drawing.title)
    }

    #[test]
    fn every_large_share_has_an_arc() {
        let recording = recording();
        let writes = Writes::ordered(&recording.trace, Order::ReadFirst, &Turns::Together);
        let found = writes.made(Target::Read(0, 7), None).unwrap();
        let is_shown = |origin| matches!(origin, Origin::Write(..));
        let parts = found.parts.iter().filter(|part| is_shown(part.origin));
        let shares: Vec<f64> = parts.map(|part| found.share(part)).collect();
        let large: Vec<_> = shares.iter().filter(|share| share.abs() >= 0.01).collect();
        let (drawn, title) = curves(&found, Layout::Pictures(vec![Picture::Weightings]));
        assert_eq!(drawn.len(), large.len().min(32));
        let negative = |share: &&&f64| **share < &0.0;
        assert_eq!(
            drawn.iter().filter(|dashed| **dashed).count(),
            large.iter().filter(negative).count()
        );
        assert!(
            !drawn.is_empty() && title.contains("; read0:7 from "),
            "{title}"
        );
        // The adds have no row that is read.
        assert!(
            curves(&found, Layout::Pictures(vec![Picture::Adds]))
                .0
                .is_empty()
        );
    }
}
