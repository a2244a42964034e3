//! Arrangement of pictures on a page: bands one below the other, each with stacks side by side.

use crate::figure::scene::axes::{LEFT, MARGIN};
use crate::figure::scene::paint::{Page, Surface};
use crate::figure::scene::panel::{Across, Content, Panel, PlacedPanel};
use crate::figure::{Area, Drawing};

/// Room below a picture whose columns are numbered.
const AXIS: f32 = 34.0;
/// Room below any other.
const BELOW: f32 = 8.0;
/// Between two pictures side by side.
pub(crate) const BETWEEN: f32 = 22.0;
/// The least height of the data of a picture.
pub(crate) const LEAST: f32 = 12.0;
/// The least width of a page for each picture side by side.
const LEAST_WIDTH: f32 = 240.0;

/// Pictures side by side, each one a stack.
pub(crate) struct Band<'a> {
    /// Share of the width, and the pictures from the top.
    pub(crate) stacks: Vec<(f32, Vec<Panel<'a>>)>,
    /// True where the lowest pictures have their columns numbered.
    pub(crate) axis: bool,
}

impl<'a> Band<'a> {
    fn natural(&self) -> f32 {
        let heights = self.stacks.iter().map(|(_, stack)| {
            let heights = stack.iter().map(|panel| panel.natural);
            heights.sum::<f32>()
        });
        heights.fold(0.0, f32::max)
    }

    /// Returns the height without data in the stack with most of it.
    fn overhead(&self) -> f32 {
        let stacks = self.stacks.iter();
        let heights = stacks.map(|(_, stack)| stack_overhead(stack, self.head(stack), self.axis));
        heights.fold(0.0, f32::max)
    }

    /// Height above the first data: the same for all stacks, so that rows are aligned.
    fn head(&self, stack: &[Panel<'a>]) -> f32 {
        let single = self.stacks.iter().all(|(_, stack)| stack.len() == 1);
        let own = stack.first().map(Panel::head);
        let others = self.stacks.iter().filter(|_| single);
        let heads = others.flat_map(|(_, stack)| stack).map(Panel::head);
        heads.chain(own).fold(0.0, f32::max)
    }

    /// Smallest stretch of the data at which every picture keeps some height.
    fn least_stretch(&self) -> f32 {
        let stacks = self.stacks.iter();
        let least = stacks.map(|(_, stack)| {
            let naturals = stack.iter().map(|panel| panel.natural);
            let low = naturals.clone().fold(f32::MAX, f32::min);
            LEAST * naturals.sum::<f32>() / (low * self.natural())
        });
        least.fold(0.0, f32::max)
    }

    /// Paints it in this area.
    fn paint(self, on: &mut Surface<'_>, area: &Area, places: &mut Vec<PlacedPanel<'a>>) {
        let shares: f32 = self.stacks.iter().map(|(share, _)| share).sum();
        // With the gap behind every stack: equal shares of two bands are equally wide.
        let free = area.width() + BETWEEN;
        let mut left = area.left;
        let heads: Vec<f32> = self.stacks.iter().map(|(_, s)| self.head(s)).collect();
        for ((share, stack), head) in self.stacks.into_iter().zip(heads) {
            let width = free * share / shares - BETWEEN;
            let area = Area::new(left + LEFT, area.top, width - LEFT, area.height());
            let free = area.height() - stack_overhead(&stack, head, self.axis);
            let natural: f32 = stack.iter().map(|panel| panel.natural).sum();
            let (count, mut top) = (stack.len(), area.top);
            for (index, panel) in stack.into_iter().enumerate() {
                top += if index == 0 { head } else { panel.head() };
                let height = free * panel.natural / natural;
                let is_last = index + 1 == count;
                let place = Area::new(area.left, top.round(), area.width(), height.round());
                places.push(panel.draw(on, place, is_last && self.axis));
                top += height + BELOW;
            }
            left += width + BETWEEN;
        }
    }
}

fn stack_overhead(stack: &[Panel<'_>], head: f32, axis: bool) -> f32 {
    let heads = stack.iter().skip(1).map(Panel::head).sum::<f32>();
    let between = stack.len().saturating_sub(1) as f32 * BELOW;
    head + heads + between + if axis { AXIS } else { BELOW }
}

/// Stacks pictures one below the other; columns are numbered where the next picture has different ones.
pub(crate) fn stacked(panels: Vec<Panel<'_>>) -> Vec<Band<'_>> {
    let across: Vec<Across> = panels.iter().map(|panel| panel.across).collect();
    let bands = panels.into_iter().enumerate().map(|(index, panel)| Band {
        axis: !matches!(panel.content, Content::Patches(_))
            && across.get(index + 1) != Some(&across[index]),
        stacks: vec![(1.0, vec![panel])],
    });
    bands.collect()
}

/// The height of all without data, and the height that the data like to have.
fn heights(bands: &[Band<'_>]) -> [f32; 2] {
    let overhead = bands.iter().map(Band::overhead).sum::<f32>() + 2.0 * MARGIN;
    [overhead, bands.iter().map(Band::natural).sum()]
}

/// The smallest page for these pictures.
pub(crate) fn least_size(bands: &[Band<'_>]) -> (f32, f32) {
    let stacks = bands.iter().map(|band| band.stacks.len()).max();
    let width = LEAST_WIDTH * stacks.unwrap_or(1) as f32;
    let [overhead, natural] = heights(bands);
    let stretch = bands.iter().map(Band::least_stretch).fold(0.0, f32::max);
    (width, (overhead + natural * stretch).ceil())
}

/// A page with its pictures at their places.
pub type Scene<'a> = (Drawing, Vec<PlacedPanel<'a>>);

/// The size of a page for these pictures: as asked for, if they fit, or of this width and as high as suits them.
fn size(bands: &[Band<'_>], asked: Option<(f32, f32)>, natural_width: f32) -> (f32, f32) {
    let (least_width, least_height) = least_size(bands);
    if let Some((width, height)) = asked {
        return (width.max(least_width), height.max(least_height));
    }
    let [overhead, natural] = heights(bands);
    (natural_width, (overhead + natural).ceil())
}

/// The pictures on a page of their own.
pub(crate) fn scene<'a>(
    bands: Vec<Band<'a>>,
    asked: Option<(f32, f32)>,
    natural_width: f32,
    title: String,
    page: &Page,
) -> Scene<'a> {
    let (width, height) = size(&bands, asked, natural_width);
    let mut drawing = Drawing::new(width, height, page.colours.panel, title);
    let whole = Area::new(0.0, 0.0, width, height);
    let places = paint(&mut Surface::new(&mut drawing, page), bands, whole);
    (drawing, places)
}

/// The pictures in a part of a page, or as much more as they need.
pub(crate) fn paint<'a>(
    on: &mut Surface<'_>,
    bands: Vec<Band<'a>>,
    whole: Area,
) -> Vec<PlacedPanel<'a>> {
    let (width, height) = size(&bands, Some((whole.width(), whole.height())), 0.0);
    let [overhead, natural] = heights(&bands);
    let stretch = (height - overhead) / natural.max(1.0);
    let (mut places, mut top) = (Vec::new(), whole.top + MARGIN);
    for band in bands {
        let height = band.overhead() + band.natural() * stretch;
        let area = Area::new(whole.left + MARGIN, top, width - 2.0 * MARGIN, height);
        band.paint(on, &area, &mut places);
        top += height;
    }
    places
}
