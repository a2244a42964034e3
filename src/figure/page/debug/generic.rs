//! A machine file: every quantity over time, arranged by its axes. Weightings and memories stand large on the time
//! axis, beside them the memory at the step with the weightings over its rows; the other quantities are small beside.

use super::geometry::Bands;
use super::legends::legend;
use super::{NAME, Painting, SMALL, area};
use crate::figure::facts::numbers;
use crate::figure::facts::quantities::{Colouring, Quantity, by_rank};
use crate::figure::facts::rows::Span;
use crate::figure::scene::fonts::{cut, width_of};
use crate::figure::scene::paint::Draw;
use crate::figure::scene::panel::{Content, shades};
use crate::figure::{Area, PanelId, Picture, Scale, Slot, Style};

/// Room for the legends.
const LEGENDS: f32 = 34.0;
/// The least height of a quantity on the time axis.
const LEAST_LARGE: f32 = 26.0;
/// The height of the name over a small picture.
const HEAD: f32 = 13.0;
/// The least and the largest height of a small picture with its name.
const SMALL_HEIGHT: [f32; 2] = [25.0, 110.0];
/// The least width of a small picture, and the one that it likes to have.
const SMALL_WIDTH: [f32; 2] = [112.0, 150.0];
/// Room between small pictures.
const APART: [f32; 2] = [14.0, 5.0];
/// The width of a weighting beside a memory, with its room.
const BESIDE: f32 = 15.0;
/// The narrowest right half that has the memory beside the small pictures, not above them.
const WIDE: f32 = 420.0;

/// The identity of the values of a quantity over time.
fn values(own: &Quantity) -> PanelId {
    PanelId::new(Picture::Quantities).part(own.part)
}

impl Painting<'_, '_> {
    /// All quantities of a machine file.
    pub(super) fn quantities(&mut self, bands: &Bands) {
        let right = Span::new(self.columns.stages.min, self.columns.marks.max);
        let facts = self.of.seen.facts;
        let [mut large, mut small] = by_rank(&facts.quantities);
        self.file_heading(right, bands);
        let room = Span::new(bands.rows.min, bands.reads.max - LEGENDS);
        let fits = (room.span() / LEAST_LARGE) as usize;
        // Those without room on the time axis come first among the others.
        let rest = large.split_off(fits.clamp(1, large.len().max(1)).min(large.len()));
        small.splice(0..0, rest);
        self.large(&large, Span::new(room.min, bands.reads.max));
        let top = Area::new(right.min, room.min, right.span(), room.span());
        let mut tables = large.clone();
        tables.retain(|own| own.is_memory());
        let (step, others) = match (tables.is_empty(), small.is_empty()) {
            (true, _) => (None, top),
            (false, true) => (Some(top), top),
            (false, false) if right.span() >= WIDE => {
                let middle = right.min + 0.36 * right.span();
                let others = top.across(middle + 26.0, right.max);
                (Some(top.across(right.min, middle)), others)
            }
            (false, false) => {
                let middle = room.min + 0.38 * room.span();
                let others = top.down(middle + 8.0, room.max);
                (Some(top.down(room.min, middle)), others)
            }
        };
        if let Some(step) = step {
            self.tables(&tables, &large, step);
        }
        self.small(&small, others);
        let right = Span::new(right.min, right.max - 4.0);
        self.file_legends(right, room.max + 20.0);
    }

    fn file_heading(&mut self, x: Span, bands: &Bands) {
        let count = self.of.seen.facts.quantities.len();
        let title = self.of.seen.now.trace().file_words().title;
        let text = format!("{title}: {count} quantities").to_uppercase();
        let (at, style) = ([x.min, bands.ruler.min + 8.0], self.quiet(NAME).bold());
        let text = cut(&text, &style, x.span());
        self.text(Slot::Text("network"), &text, at, style);
        let y = Span::new(bands.ruler.min + 18.0, bands.output.max);
        self.sentence(area(x, y));
    }

    /// Weightings and memories on the time axis, one below the other.
    fn large(&mut self, all: &[&Quantity], room: Span) {
        let weight = |own: &Quantity| if own.is_memory() { 1.5 } else { 1.0 };
        let total: f32 = all.iter().map(|own| weight(own)).sum();
        let mut top = room.min;
        for own in all {
            let height = room.span() * weight(own) / total.max(1.0);
            let y = Span::new(top, top + height - 8.0);
            top += height;
            let id = if own.is_memory() {
                PanelId::new(Picture::Norms).part(own.part)
            } else {
                values(own)
            };
            if self.over_time(id, y).is_some() {
                self.file_name(own, y);
            }
        }
    }

    /// The name of a quantity beside its picture, its axis, and the numbers of its first and last entry.
    fn file_name(&mut self, own: &Quantity, y: Span) {
        let (gutter, colours) = (self.columns.gutter, self.on.page.colours);
        let strong = Style::new(NAME, colours.text).bold();
        let quiet = self.quiet(SMALL);
        let last = own.shape()[0].saturating_sub(1);
        let has_numbers = y.span() >= 40.0 && last > 0;
        let name = own.array.name;
        let (owner, last_name) = name.rsplit_once('.').unwrap_or(("", name));
        let symbol = own.array.symbol;
        let axis = if own.is_memory() {
            format!("|{symbol}| {}", own.axis())
        } else {
            format!("{symbol} {}", own.axes_joined(" × "))
        };
        let end = if own.is_memory() {
            format!("0 to {}", numbers::end_text(own.most))
        } else {
            end_of(own.scale(self.of.seen.shades[1]))
        };
        let end = if self.of.seen.layer.is_some() {
            String::new()
        } else {
            end
        };
        let lines = [
            (owner, strong),
            (last_name, strong),
            (axis.as_str(), quiet),
            (&end, quiet),
        ];
        let lines = lines.into_iter().filter(|(text, _)| !text.is_empty());
        let (mut top, mut free) = (y.min + 6.0, true);
        for (index, (text, style)) in lines.take((y.span() / 12.0) as usize).enumerate() {
            let text = cut(text, &style, gutter.span() - 6.0);
            free &= index > 0 || width_of(&text, &style) + 20.0 < gutter.span();
            self.on.text(text, [gutter.min, top], style);
            top += 12.5;
        }
        if has_numbers {
            let style = self.quiet(10.0).mono().end();
            let x = self.columns.time.min - 6.0;
            if free {
                self.on.text("0", [x, y.min + 6.0], style);
            }
            if top < y.max - 8.0 {
                self.on.text(last.to_string(), [x, y.max - 6.0], style);
            }
        }
    }

    /// The memories at the step, each beside the weightings over its rows.
    fn tables(&mut self, tables: &[&Quantity], large: &[&Quantity], room: Area) {
        let height = room.height() / tables.len().max(1) as f32;
        let steps = self.trace().steps();
        for (index, own) in tables.iter().enumerate() {
            let top = room.top + index as f32 * height;
            let place = room.down(top + HEAD + 2.0, top + height - 8.0);
            if place.height() < 8.0 || self.step() >= steps {
                continue;
            }
            let mut left = place.left;
            let mut names = Vec::new();
            let beside = large.iter().filter(|other| other.is_over(own));
            for other in beside {
                if left + 4.0 * BESIDE > place.right {
                    break;
                }
                if let Some(panel) = self.of.seen.panel(values(other).now()) {
                    self.picture(panel.at(place.across(left, left + BESIDE - 4.0)));
                }
                left += BESIDE;
                names.push(other.array.name);
            }
            let [_, columns] = own.shape();
            // Few columns make no broad cells.
            let right = place.right.min(left + columns as f32 * 40.0);
            let Some(panel) = self.of.seen.panel(values(own).now()) else {
                continue;
            };
            let end = match &panel.content {
                Content::Cells(cells) => end_of(cells.scale),
                _ => String::new(),
            };
            let line = Area::new(room.left, top, right - room.left, HEAD);
            self.table_title(own, (&names, &end), line);
            self.picture(panel.at(place.across(left, right)));
        }
    }

    /// The name of a memory over it, what stands beside it, and the end of its scale.
    fn table_title(&mut self, own: &Quantity, (beside, end): (&[&str], &str), line: Area) {
        let style = Style::new(SMALL, self.on.page.colours.text).bold();
        let (quiet, y) = (self.quiet(SMALL), line.centre() - 1.0);
        let number = self.quiet(9.5).mono().end();
        let right = line.right - width_of(end, &number) - 6.0;
        self.on.text(end, [line.right, y], number);
        let name = own.array.name;
        let words = format!("{name} in step {}", self.step());
        let words = if width_of(&words, &style) <= right - line.left {
            words
        } else {
            cut(name, &style, right - line.left)
        };
        let left = line.left + width_of(&words, &style) + 8.0;
        self.on.text(words, [line.left, y], style);
        let beside = match beside {
            [] => String::new(),
            names => format!("beside {}", names.join(", ")),
        };
        if width_of(&beside, &quiet) <= right - left {
            self.on.text(beside, [left, y], quiet);
        }
    }

    /// The other quantities, small, in the order of the computation.
    fn small(&mut self, all: &[&Quantity], room: Area) {
        let [least, most] = SMALL_HEIGHT;
        let down_to = |height: f32| ((room.height() / height) as usize).max(1);
        let wide = |width: f32| (((room.width() + APART[0]) / width) as usize).max(1);
        let [narrow, usual] = SMALL_WIDTH.map(wide);
        let fits = usual * down_to(least) >= all.len();
        let most_across = if fits { usual } else { narrow };
        let across = all.len().div_ceil(down_to(38.0)).clamp(1, most_across);
        let down = all.len().div_ceil(across).clamp(1, down_to(least));
        let left_out = all.len().saturating_sub(down * across);
        // The last place says what is left out.
        let shown = if left_out > 0 {
            down * across - 1
        } else {
            all.len()
        };
        let first = self.of.scrolled.unwrap_or(0).min(all.len() - shown);
        let width = (room.width() + APART[0]) / across as f32;
        let height = (room.height() / down as f32).min(most);
        for (index, own) in all.iter().skip(first).take(shown).enumerate() {
            let left = room.left + (index / down) as f32 * width;
            let top = room.top + (index % down) as f32 * height;
            let cell = Area::new(left, top, width - APART[0], height - APART[1]);
            self.small_one(own, cell);
        }
        if left_out > 0 {
            let left = room.left + (across - 1) as f32 * width;
            let top = room.top + (down - 1) as f32 * height;
            let style = self.quiet(SMALL);
            let rest = all.len() - shown;
            let words = match self.of.scrolled {
                Some(_) => format!(
                    "{} to {} of {}: scroll",
                    first + 1,
                    first + shown,
                    all.len()
                ),
                None => format!("{rest} more: choose a larger size"),
            };
            let words = cut(&words, &style, width - APART[0]);
            self.text(Slot::Text("left out"), &words, [left, top + HEAD], style);
        }
    }

    /// A quantity over all steps shown under its name.
    fn small_one(&mut self, own: &Quantity, cell: Area) {
        let Some(panel) = self.of.over_time(values(own)) else {
            return;
        };
        let colours = self.on.page.colours;
        let scale = match &panel.content {
            Content::Cells(cells) | Content::Line(cells) => cells.scale,
            _ => Scale::Bits,
        };
        let end = match end_of(scale) {
            end if end.is_empty() && own.is_number() => "0 to 1".to_owned(),
            end => end,
        };
        let middle = cell.top + HEAD / 2.0 - 1.0;
        let number = self.quiet(9.5).mono().end();
        let style = Style::new(SMALL, colours.text);
        let right = cell.right - width_of(&end, &number) - 6.0;
        self.on.text(end, [cell.right, middle], number);
        let name = cut(own.array.name, &style, right - cell.left);
        let after = cell.left + width_of(&name, &style) + 6.0;
        self.on.text(name, [cell.left, middle], style);
        let quiet = self.quiet(SMALL);
        let axes = own.axes_joined(" × ");
        let is_name = own.array.name.rsplit('.').next() == Some(own.array.symbol);
        let symbol = if is_name { "" } else { own.array.symbol };
        let words = [format!("{symbol} {axes}"), symbol.to_owned()];
        let fitting = words
            .into_iter()
            .map(|text| text.trim().to_owned())
            .find(|text| after + width_of(text, &quiet) <= right);
        if let Some(words) = fitting {
            self.on.text(words, [after, middle], quiet);
        }
        let place = panel.at(cell.down(cell.top + HEAD, cell.bottom));
        let picture = place.area;
        self.picture(place);
        if let Some(step) = self.step_shown() {
            let share = (step as f32 + 0.5) / self.steps() as f32;
            let x = picture.left + share * picture.width();
            let (ends, accent) = (picture.upright(x), self.on.page.colours.accent);
            self.on.line(&ends, accent, 1.0);
        }
    }

    /// The scales of the colours.
    fn file_legends(&mut self, x: Span, y: f32) {
        let seen = &self.of.seen;
        let all = || seen.facts.quantities.iter();
        // Numbers are lines.
        let has = |colours: fn(Colouring) -> bool| {
            all().any(|own| !own.is_number() && colours(own.colours))
        };
        let mut scales = Vec::new();
        if seen.layer.is_some() {
            scales.push(("gradient: ± number at name", Scale::Signed(1.0)));
        } else {
            if has(|of| of == Colouring::Weighting) {
                scales.push(("weighting", seen.shades[1]));
            }
            scales.push(("bit, gate", Scale::Bits));
            if has(|of| matches!(of, Colouring::Signed(_))) {
                scales.push(("± number at name", Scale::Signed(1.0)));
            }
            if all().any(Quantity::is_memory) || has(|of| matches!(of, Colouring::UpTo(_))) {
                scales.push(("norm, 0 to number", Scale::UpTo(1.0)));
            }
        }
        let width = (x.span() + 16.0) / scales.len() as f32 - 16.0;
        for (index, (name, scale)) in scales.into_iter().enumerate() {
            let left = x.min + index as f32 * (width + 16.0);
            let style = self.quiet(SMALL);
            let name = cut(name, &style, width);
            if matches!(scale, Scale::Signed(_) | Scale::UpTo(_)) {
                // Its ends differ between quantities.
                self.on.text(name, [left, y - 6.5], style);
                shades(&mut self.on, Area::new(left, y + 2.0, width, 8.0), &[scale]);
            } else {
                legend(&mut self.on, [left, y], width, (&name, &[scale]));
            }
        }
    }
}

/// The end of a scale, where it differs between quantities.
fn end_of(scale: Scale) -> String {
    match scale {
        Scale::Signed(limit) => format!("±{}", numbers::end_text(limit)),
        Scale::UpTo(limit) => numbers::end_text(limit),
        _ => String::new(),
    }
}
