//! Marks on the axes of pictures, the same in the window and in files.

use crate::figure::facts::source::{StepSymbol, name_of, short};
use crate::figure::scene::fonts::{area_of, cut, text_width};
use crate::figure::scene::paint::{Draw, Paint, Surface};
use crate::figure::{Area, Colours, Ink, Rgb, Style};

/// Room at the left of every picture: row numbers and the name of the axis.
pub(crate) const LEFT: f32 = 52.0;
/// Around the page.
pub(crate) const MARGIN: f32 = 12.0;
/// A step of at least this width is a column between two lines; a narrower one is a single line.
const COLUMN: f32 = 5.0;
/// Size of the symbols of the steps.
const SYMBOL: f32 = 10.0;
/// The greatest width of the name of a symbol.
const LONGEST: f32 = 34.0;
/// Room for the name of a row beside the name of its axis.
pub(crate) const NAMES: f32 = 30.0;

/// The play-head: the current step of `steps` on a time axis as wide as `area`, in the accent colour.
pub fn play_head(on: &mut Surface<'_>, area: &Area, step: usize, steps: usize) {
    let accent = on.page.colours.accent;
    let width = area.width() / steps.max(1) as f32;
    let left = area.left + step as f32 * width;
    let mut edges = vec![left + width / 2.0];
    if width >= COLUMN {
        edges = vec![left, left + width];
        let column = area.across(left, left + width);
        on.rect(column, Ink::from(accent).faded(0.10));
    }
    for x in edges.into_iter().map(|x| x.round() + 0.5) {
        on.line(&area.upright(x), accent, 1.0);
    }
}

/// The style of the symbol of a step: wrong answers are bold and in another colour.
pub(crate) fn symbol_style(symbol: &StepSymbol, colours: &Colours) -> Style {
    let is_wrong = symbol.right.is_some();
    let ink = [colours.text, colours.warning][usize::from(is_wrong)];
    Style::new(SYMBOL, ink).middle().bold_if(is_wrong)
}

/// Draws the symbols of the steps below a time axis, between these edges. Leaves out those for which there is no room, and
/// answers from step `done` on.
pub(crate) fn symbols(
    on: &mut Surface<'_>,
    all: &[StepSymbol],
    ([left, right], y): ([f32; 2], f32),
    done: usize,
) {
    let width = (right - left) / all.len().max(1) as f32;
    let lengths = all
        .iter()
        .map(|symbol| text_width(&short(&symbol.name), SYMBOL));
    // Long words are cut.
    let longest = lengths.fold(8.0, f32::max).min(LONGEST) + 3.0;
    let every = ((longest / width).ceil() as usize).max(1);
    for (step, symbol) in all.iter().enumerate().step_by(every) {
        if symbol.is_answer && step >= done {
            continue;
        }
        let x = left + (step as f32 + 0.5) * width;
        let style = symbol_style(symbol, on.page.colours);
        let text = cut(&short(&symbol.name), &style, every as f32 * width - 1.0);
        on.text(text, [x, y], style);
    }
}

/// The short name of a row in this room, or its number.
pub(crate) fn row_name(names: &[String], row: usize, style: &Style, room: f32) -> String {
    let name = name_of(names, row).map(|name| cut(&short(name), style, room));
    name.unwrap_or_else(|| row.to_string())
}

/// A number on the play-head.
pub fn pill(on: &mut Surface<'_>, text: &str, at: [f32; 2]) {
    let style = Style::new(11.0, on.page.colours.on_accent).mono().middle();
    on.rect(plate_of(text, at, &style), on.page.colours.accent);
    on.text(text, at, style);
}

/// A filled circle.
pub fn dot(paint: &mut dyn Paint, [x, y]: [f32; 2], radius: f32, fill: Rgb) {
    let corner = |index: usize| {
        let (sin, cos) = (index as f32 / 12.0 * std::f32::consts::TAU).sin_cos();
        [x + radius * cos, y + radius * sin]
    };
    let corners: [_; 12] = std::array::from_fn(corner);
    paint.shape(&corners, fill);
}

/// A text on a plate.
pub fn label(on: &mut Surface<'_>, text: &str, at: [f32; 2], style: Style) {
    on.rect(plate_of(text, at, &style), on.page.colours.panel);
    on.text(text, at, style);
}

/// A text on a plate with an edge in its colour; returns the plate.
pub fn plate(on: &mut Surface<'_>, text: &str, at: [f32; 2], style: Style) -> Area {
    let plate = plate_of(text, at, &style);
    label(on, text, at, style);
    on.outline(plate, style.ink.colour);
    plate
}

fn plate_of(text: &str, at: [f32; 2], style: &Style) -> Area {
    let area = area_of(text, at, style);
    area.across(area.left - 4.0, area.right + 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fixture::recording;
    use crate::figure::scene::layout::Scene;
    use crate::figure::{Figure, Layout, Mark, Options, Pages};

    #[test]
    fn every_picture_of_the_paper_has_one_play_head_at_the_step() {
        let recording = recording();
        for (steps, step, is_marked) in [
            (0..recording.trace.steps(), 6, true),
            (3..9, 6, true),
            (3..9, 3, true),
            // Outside the time axis.
            (3..9, 1, false),
            (3..6, 7, false),
        ] {
            let options = Options {
                step: Some(step),
                steps: Some(steps.clone()),
                ..Options::new(Layout::Paper)
            };
            let figure = Figure::new(&recording, options);
            let (drawing, places): Scene<'_> = figure.scene();
            let accent = Colours::for_theme(false).accent;
            let heads = drawing.marks.iter().filter_map(|mark| match mark {
                Mark::Rect { area, fill } if fill.colour == accent => Some(*area),
                _ => None,
            });
            let heads: Vec<Area> = heads.collect();
            assert_eq!(places.len(), 6);
            assert_eq!(
                heads.len(),
                if is_marked { 6 } else { 0 },
                "{step} of {steps:?}"
            );
            for place in places.iter().filter(|_| is_marked) {
                let area = &place.area;
                let is_in = |head: &&Area| {
                    (area.left..area.right).contains(&head.middle())
                        && (area.top..area.bottom).contains(&head.centre())
                };
                let own: Vec<_> = heads.iter().filter(is_in).collect();
                let share = (own[0].middle() - area.left) / area.width();
                assert_eq!(own.len(), 1);
                assert_eq!((share * steps.len() as f32) as usize, step - steps.start);
            }
        }
    }
}
