//! What stands below the stages: the table of the heads, their overlap, and the legends of the colours.

use super::{Painting, SMALL, area};
use crate::figure::facts::rows::{Axis, Span};
use crate::figure::facts::source::SourceSteps;
use crate::figure::scene::addressing::as_bars;
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::scene::fonts::area_of;
use crate::figure::scene::overlap::{BESIDE, LABELS};
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{Content, Panel, PlacedPanel, shades};
use crate::figure::{Area, HeadName, PanelId, Picture, Scale, Slot, Style, facts::numbers};
use crate::math::Series;
use crate::model::HeadTrace;
use crate::model::array::{ADD, INPUT, MEMORY, WEIGHTING};
use crate::train::Quantity;

/// Height of the heading of the overlap.
const HEADING: f32 = 14.0;
/// A row of the overlap is at least this high.
const LEAST_ROW: f32 = 8.0;
/// A row of the overlap is no higher than a line of the table.
const ROW: f32 = 15.0;
/// Height of the note below the legends.
const FOOTNOTE: f32 = 14.0;
/// Least height of a legend.
const LEAST: f32 = 22.0;
/// Room between two legends side by side.
const APART: f32 = 16.0;

/// The size of all legends in two columns.
pub const LEGENDS_SIZE: [f32; 2] = [300.0, 78.0];

/// The size of the overlap of this many heads with its labels.
pub fn overlap_size(heads: usize) -> [f32; 2] {
    let heads = heads as f32;
    let width = (BESIDE + 28.0 * heads + 190.0).min(480.0);
    [width, LABELS + (ROW * heads).clamp(44.0, 300.0) + 6.0]
}

/// The name of a kind of values, and its scales.
type Entry = (&'static str, Vec<Scale>);

/// The kinds of values with their scales, or those of gradients: weightings in the hue of each head.
pub(in crate::figure::page) fn entries(seen: &Catalogue<'_>) -> Vec<Entry> {
    let trace = seen.now.trace();
    let all = 0..trace.heads.len();
    let weightings = all.map(|head| seen.shades[1].of_head(HeadName::of(trace, head)));
    let has = |series: fn(&HeadTrace) -> &Series<f32>| {
        let mut heads = trace.heads.iter();
        heads.any(|head| series(head).width() > 0)
    };
    let over_rows = !seen.over_rows().is_empty();
    let bits = match (has(|head| &head.erase), over_rows) {
        (true, _) => "bit, erase",
        (false, true) => "bit, all heads",
        (false, false) => "bit",
    };
    let has_vectors = has(|head| &head.key) || has(|head| &head.add);
    let has_memory = !over_rows || has(|head| &head.read);
    let entries = match seen.layer {
        Some(by) => {
            [WEIGHTING, MEMORY, INPUT, ADD].map(|array| (array.name, vec![by.scale(array)]))
        }
        None => [
            ("weighting", weightings.collect()),
            (bits, vec![Scale::Bits]),
            ("memory, read", vec![seen.facts.scales.memory]),
            ("key, add", vec![seen.facts.scales.vector]),
        ],
    };
    let is_there = [true, true, has_memory, has_vectors];
    let entries = entries.into_iter().zip(is_there);
    let entries = entries.filter(|(_, is_there)| *is_there || seen.layer.is_some());
    let input = seen.facts.scales.input.map(|scale| ("input", vec![scale]));
    let answer = seen.facts.scales.answer;
    let answer = answer.map(|scale| ("target, output", vec![scale]));
    let both = input.into_iter().chain(answer);
    let both = both.filter(|_| seen.layer.is_none());
    entries.map(|(entry, _)| entry).chain(both).collect()
}

/// The columns of a head that have colours of their own where rows are too low for bars.
fn strips(seen: &Catalogue<'_>, head: usize) -> Vec<Entry> {
    let head_of = |_| seen.now.trace().heads.get(head);
    let heads = Some(seen)
        .filter(|seen| seen.layer.is_none())
        .and_then(head_of);
    let columns = heads
        .into_iter()
        .flat_map(|head| seen.now.stages.columns(head));
    let strips = columns.map(|column| (column.word, seen.scale_of(head, column)));
    let strips = strips.filter(|(_, scale)| !matches!(scale, Scale::Weighting { .. }));
    strips.map(|(word, scale)| (word, vec![scale])).collect()
}

/// Paints the legends in columns, with those of the columns of a head that is drawn in strips; returns their note, or
/// `None` where they do not fit.
pub fn legends(
    on: &mut Surface<'_>,
    seen: &Catalogue<'_>,
    in_strips: Option<usize>,
    (room, across): (Area, usize),
) -> Option<Vec<PlacedPanel<'static>>> {
    let strips = in_strips.map_or_else(Vec::new, |head| strips(seen, head));
    let entries = [entries(seen), strips].concat();
    let lines = entries.len().div_ceil(across) as f32;
    let width = (room.width() + APART) / across as f32 - APART;
    let with_note = (room.height() - FOOTNOTE) / lines;
    let each = if with_note >= LEAST {
        with_note.min(32.0)
    } else {
        room.height() / lines
    };
    if each < LEAST || width < 60.0 {
        return None;
    }
    for (index, (name, scales)) in entries.into_iter().enumerate() {
        let left = room.left + (index % across) as f32 * (width + APART);
        let top = room.top + 12.0 + (index / across) as f32 * each;
        legend(on, [left, top], width, (name, &scales));
    }
    if with_note >= LEAST {
        let source = seen.facts.source.as_ref();
        let truth = source.filter(|source| source.is_aligned());
        let truth = truth.map(SourceSteps::outlines);
        let is_real = seen.facts.scales.answer.is_some();
        let words = match (seen.layer.map(|by| by.of), across > 1) {
            (Some(Quantity::Loss), true) => "∂ loss / ∂ value · blue: the loss grows with it",
            (Some(Quantity::Bit { .. }), _) if is_real => "blue: the output grows with it",
            (Some(Quantity::Bit { .. }), true) => {
                "∂ logit / ∂ value · blue: favours a 1 in that bit"
            }
            (Some(Quantity::Loss), false) => "blue: the loss grows with it",
            (Some(Quantity::Bit { .. }), false) => "blue: favours a 1 in that bit",
            (None, wide) => truth.unwrap_or(if wide {
                "± fixed for the episode · faint match: no write of 5 % yet"
            } else {
                "± fixed for this episode"
            }),
        };
        let at = [room.left, room.top + 8.0 + lines * each];
        let style = Style::new(10.0, on.page.colours.subdued);
        on.text(words, at, style);
        let panel = Panel::sign(Slot::Text("legends"), words.to_owned());
        return Some(vec![panel.at(area_of(words, at, &style))]);
    }
    Some(Vec::new())
}

/// The legend of scales with the same ends: a name, the values there, and the colours.
pub(super) fn legend(
    on: &mut Surface<'_>,
    [left, y]: [f32; 2],
    width: f32,
    (name, scales): (&str, &[Scale]),
) {
    let Some(scale) = scales.first() else { return };
    let (low, high) = scale.ends();
    let text = |value: f32| {
        let rounded = (value * 1000.0).round() / 1000.0;
        if rounded == 0.0 {
            numbers::short(value, 2).replace("0.00", "0")
        } else {
            numbers::exact(rounded)
        }
    };
    let ends = match scale {
        _ if scale.is_log() => "1e−6 … 1".to_owned(),
        Scale::Signed(_) => format!("±{}", text(high)),
        _ => format!("{} to {}", text(low), text(high)),
    };
    let style = Style::new(SMALL, on.page.colours.subdued);
    on.text(name, [left, y - 6.5], style);
    let number = Style::new(10.0, on.page.colours.subdued).mono().end();
    on.text(ends, [left + width, y - 6.5], number);
    shades(on, Area::new(left, y + 2.0, width, 8.0), scales);
}

impl Painting<'_, '_> {
    /// The table of all heads, their overlap, and the legends in the remaining room.
    pub(super) fn below_stages(&mut self, y: Span, below_vectors: Span, axis: &Axis) {
        // The names of the vectors stand left of them.
        let x = Span::new(self.columns.stages.min, self.columns.memory.min - 58.0);
        let height = self.table_height(y.span());
        let table = Span::new(y.min, (y.min + height).min(y.max));
        if height > 0.0 {
            self.table(x, table);
        }
        let below = self.overlap(x, Span::new(table.max + 8.0, y.max + 4.0));
        let end = below.map_or(table.max, |below| below.max);
        let left = Span::new(end + 10.0, y.max);
        // Close to the table before not at all.
        let close = Span::new(end + 2.0, y.max + 4.0);
        let memory = self.columns.memory;
        for (x, y, across) in [(x, left, 2), (memory, below_vectors, 1), (x, close, 2)] {
            let in_strips = (!as_bars(axis)).then_some(self.of.focus);
            let room = (area(x, y), across);
            if let Some(note) = legends(&mut self.on, &self.of.seen, in_strips, room) {
                self.places.extend(note);
                if below.is_none() {
                    // Left of the titles of the table.
                    self.no_overlap([x.min.min(self.columns.stages.min), table.min + 14.0]);
                }
                return;
            }
        }
        let corner = match below {
            _ if left.span() >= 18.0 => [x.min, left.max],
            // At the end of its heading.
            Some(below) => [x.max - 38.0, below.min + HEADING + 1.0],
            None => [memory.min, y.max],
        };
        let area = Area::new(corner[0], corner[1] - 16.0, 70.0, 16.0);
        self.on_demand(Slot::Legends, area);
        if below.is_none() {
            self.no_overlap([corner[0] + 76.0, corner[1]]);
        }
    }

    fn no_overlap(&mut self, [left, bottom]: [f32; 2]) {
        if !self.of.seen.facts.redundancies.0.is_empty() {
            let area = Area::new(left, bottom - 16.0, 62.0, 16.0);
            self.on_demand(Slot::NoOverlap, area);
        }
    }

    /// Paints a word in the place of something that has no room.
    fn on_demand(&mut self, slot: Slot, area: Area) {
        let (name, word) = match slot {
            Slot::Legends => ("Colour legend", "colours …"),
            _ => ("Overlap of heads", "overlap …"),
        };
        let style = Style::new(SMALL, self.on.page.colours.accent);
        self.on.text(word, [area.left, area.centre()], style);
        self.part(slot, name.to_owned(), area);
    }

    /// The overlap of heads under a heading, as far as there is room; returns from where to where it goes.
    fn overlap(&mut self, x: Span, y: Span) -> Option<Span> {
        let panel = self.of.seen.panel(PanelId::new(Picture::Overlap))?;
        let heads = self.trace().heads.len() as f32;
        let Content::Overlap(overlap) = &panel.content else {
            return None;
        };
        let above = HEADING + LABELS;
        if y.span() < above + (LEAST_ROW * heads).max(overlap.least()) || x.span() < 120.0 {
            return None;
        }
        let words = "head overlap (0: disjoint, 1: same row)";
        let at = [x.min, y.min + HEADING / 2.0];
        self.text(Slot::Text("overlap"), words, at, self.quiet(SMALL));
        let height = (ROW * heads).min(y.span() - above);
        let left = x.min + BESIDE;
        let place = panel.at(Area::new(left, y.min + above, x.max - left, height));
        let mut end = place.area.bottom;
        let (mut penalties, mut sigma) = (Vec::new(), None);
        if let Content::Overlap(overlap) = &place.panel.content {
            end = overlap.words.map_or(end, |words| words.bottom.max(end));
            penalties.extend(overlap.lines());
            sigma = overlap.sigma(&place.area);
        }
        self.picture(place);
        for (of, line) in self.of.seen.facts.redundancies.0.iter().zip(penalties) {
            self.part(Slot::Penalty(of.who), of.who.to_owned(), line);
        }
        if let Some(area) = sigma {
            let at = [x.min + 196.0, y.min + HEADING / 2.0];
            if x.span() >= 350.0 {
                let words = "σ: its singular values";
                self.text(Slot::Text("singular values"), words, at, self.quiet(SMALL));
            }
            self.part(Slot::Spectrum, "singular values".to_owned(), area);
        }
        Some(Span::new(y.min, end))
    }
}
