//! The picture that a machine describes, once for every answer, each patch in the colour of its weight (Xu 2015, figure 2).

use std::ops::Range;

use crate::figure::facts::source::{SourceSteps, StepSymbol, short};
use crate::figure::scene::annotations::{outline_twice, text_on};
use crate::figure::scene::axes::symbol_style;
use crate::figure::scene::cells::Cells;
use crate::figure::scene::fonts::cut;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::{Area, Colours, Image, mix};
use crate::math::Series;
use crate::train::Recording;

/// Height of the name below a picture.
const NAME: f32 = 15.0;
/// Between two pictures.
const APART: f32 = 8.0;
/// The least side of a patch that is outlined.
const OUTLINED: f32 = 4.0;

/// A small picture for each of some steps.
#[derive(Debug)]
pub struct Patches<'a> {
    /// The weights of every step, by step and patch.
    pub cells: Cells<'a>,
    /// The steps, in order.
    pub steps: Range<usize>,
    /// Patches on a side of the picture, and pixels on a side of a patch.
    size: [usize; 2],
    /// Number of steps whose answers are there.
    answered: usize,
    input: &'a Series<f32>,
    source: &'a SourceSteps,
    symbols: &'a [StepSymbol],
}

impl<'a> Patches<'a> {
    /// The pictures of these steps; `None` where the source is no picture.
    pub fn new(
        recording: &'a Recording,
        (source, symbols): (&'a SourceSteps, &'a [StepSymbol]),
        (cells, steps, answered): (Cells<'a>, Range<usize>, usize),
    ) -> Option<Self> {
        Some(Self {
            size: source.picture?,
            input: &recording.trace.input,
            cells,
            steps,
            answered,
            source,
            symbols,
        })
    }

    /// The places of the pictures: in as many lines as make them largest.
    fn places(&self, area: &Area) -> Vec<Area> {
        let count = self.steps.len();
        let side = |lines: usize| {
            let across = count.div_ceil(lines.max(1)) as f32;
            let wide = (area.width() + APART) / across - APART;
            let high = (area.height() + APART) / lines as f32 - APART - NAME;
            wide.min(high)
        };
        let better = |a: &usize, b: &usize| side(*a).total_cmp(&side(*b));
        let lines = (1..=count).rev().max_by(better).unwrap_or(1);
        let (side, across) = (side(lines).max(0.0), count.div_ceil(lines));
        let place = |index: usize| {
            let left = area.left + (index % across) as f32 * (side + APART);
            let top = area.top + (index / across) as f32 * (side + APART + NAME);
            Area::new(left, top, side, side)
        };
        (0..count).map(place).collect()
    }

    /// The place of a patch in a picture.
    fn patch(&self, picture: &Area, row: usize) -> Area {
        let grid = self.size[0];
        let side = picture.width() / grid as f32;
        let [x, y] = [row % grid, row / grid].map(|at| at as f32 * side);
        Area::new(picture.left + x, picture.top + y, side, side)
    }

    /// The step and the patch at a point.
    pub fn hit(&self, area: &Area, [x, y]: [f32; 2]) -> Option<(usize, usize)> {
        let is_in = |place: &Area| {
            (place.left..place.right).contains(&x) && (place.top..place.bottom).contains(&y)
        };
        let places = self.steps.clone().zip(self.places(area));
        let (step, place) = { places }.find(|(_, place)| is_in(place))?;
        let (grid, side) = (self.size[0], place.width());
        let [across, down] = [x - place.left, y - place.top]
            .map(|at| ((at / side * grid as f32) as usize).min(grid - 1));
        Some((step, down * grid + across))
    }

    /// The pixels of a step: the colour of the weight, with the ink of the picture on it.
    fn image(&self, step: usize, colours: &Colours) -> Image {
        let [grid, patch] = self.size;
        let side = grid * patch;
        let pixel = |index: usize| {
            let [x, y] = [index % side, index / side];
            let row = y / patch * grid + x / patch;
            let weight = self.cells.value(step, row).unwrap_or(f32::NAN);
            let ground = colours.of(self.cells.scale, weight);
            let ink = self.input.row(row)[y % patch * patch + x % patch];
            mix(ground, text_on(ground), 0.72 * ink.clamp(0.0, 1.0))
        };
        Image {
            columns: side,
            rows: side,
            pixels: (0..side * side).map(pixel).collect(),
        }
    }

    /// Paints the steps before `done`, with the name of each answer.
    pub fn paint(&self, on: &mut Surface<'_>, area: &Area, done: usize) {
        let colours = on.page.colours;
        let grounds = [0.0, 1.0].map(|weight| colours.of(self.cells.scale, weight));
        for (step, place) in self.steps.clone().zip(self.places(area)) {
            if step >= done && on.page.hides_future {
                on.rect(place, colours.well);
            } else {
                let image = self.image(step, colours);
                on.put(crate::figure::Mark::Image { area: place, image });
                if step < self.answered || !on.page.hides_future {
                    self.name(on, &place, step);
                }
            }
            on.frame(place, colours.line);
            let right = self.source.alignment.get(step).cloned().flatten();
            for row in right.unwrap_or_default() {
                let patch = self.patch(&place, row);
                if patch.width() >= OUTLINED {
                    outline_twice(on, patch, grounds);
                }
            }
            if on.page.step == Some(step) && self.steps.len() > 1 {
                on.frame(place.inset(-1.0, -1.0), colours.accent);
                on.frame(place.inset(-2.0, -2.0), colours.accent);
            }
        }
    }

    /// The answer of a step, below its picture.
    fn name(&self, on: &mut Surface<'_>, place: &Area, step: usize) {
        let Some(symbol) = self.symbols.get(step) else {
            return;
        };
        let style = symbol_style(symbol, on.page.colours);
        let mut text = short(&symbol.name).into_owned();
        if let Some(right) = &symbol.right {
            text.push_str(" ≠ ");
            text.push_str(&short(right));
        }
        let text = cut(&text, &style, place.width() + APART);
        on.text(
            text,
            [place.middle(), place.bottom + NAME / 2.0 + 1.0],
            style,
        );
    }
}
