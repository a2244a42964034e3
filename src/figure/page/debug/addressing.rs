//! The addressing of the heads at the step: one head expanded, a second one beside it, and a column for each other.

use super::geometry::Bands;
use super::{NAME, Painting, SMALL, area, ends};
use crate::figure::facts::column::Column;
use crate::figure::facts::family::columns_of;
use crate::figure::facts::heads::head_layer;
use crate::figure::facts::rows::{Axis, Span};
use crate::figure::facts::spread::Spread;
use crate::figure::facts::stage::Stage;
use crate::figure::scene::addressing::{Addressing, NAMES, as_bars};
use crate::figure::scene::annotations::head_dash;
use crate::figure::scene::fonts::{lines, width_of};
use crate::figure::scene::paint::Draw;
use crate::figure::scene::panel::{Content, Panel, PlacedPanel};
use crate::figure::{Area, PanelId, Picture, Slot, Style};
use crate::model::Trace;

/// Room under the rows for the largest value of each column.
pub(super) const FOOT: f32 = 12.0;
/// Height of a line of the sentence.
const LINE: f32 = 15.5;
/// A head whose columns would be thinner than this is not expanded beside another.
const THINNEST: f32 = 15.0;
/// Room between two expanded heads.
const APART: f32 = 18.0;
/// Least distance between labels.
const LABEL: f32 = 17.0;
/// Most lines of the sentence.
const MOST_LINES: usize = 4;

/// The positions of the columns of the heads.
struct ColumnSpans {
    /// Heads with all their stages.
    expanded: Vec<(usize, Span)>,
    /// Heads with their final weighting only.
    thin: Vec<(usize, Span)>,
}

impl ColumnSpans {
    /// A column for every head.
    fn of_all(x: Span, count: usize) -> Self {
        let each = x.span() / count.max(1) as f32;
        let width = (each - 4.0).max(each * 0.7).min(44.0);
        let place = |head: usize| {
            let left = x.min + head as f32 * each;
            (head, Span::new(left, left + width))
        };
        let (expanded, thin) = (Vec::new(), (0..count).map(place).collect());
        Self { expanded, thin }
    }

    /// These heads expanded, and the others as thin columns right of them.
    fn around(x: Span, count: usize, shown: &[usize]) -> Self {
        let others = (0..count).filter(|head| !shown.contains(head));
        let others: Vec<_> = others.collect();
        let pitch = (x.span() * 0.36 / others.len().max(1) as f32).min(20.0);
        // Their labels reach a little beyond them.
        let is_close = pitch < 17.0 && !others.is_empty();
        let beyond = if is_close { 8.0 } else { 0.0 };
        let room = x.span() - others.len() as f32 * pitch - beyond;
        let each = (room - (shown.len() - 1) as f32 * APART) / shown.len() as f32;
        let expanded = shown.iter().enumerate().map(|(index, &head)| {
            let left = x.min + index as f32 * (each + APART);
            (head, Span::new(left, left + each))
        });
        let thin = others.iter().enumerate().map(|(index, &head)| {
            let left = x.min + room + beyond + index as f32 * pitch + pitch * 0.25;
            (head, Span::new(left, left + pitch * 0.75))
        });
        Self {
            expanded: expanded.collect(),
            thin: thin.collect(),
        }
    }

    /// True while every expanded head can be read.
    fn fits(&self, trace: &Trace) -> bool {
        self.expanded.iter().all(|(head, x)| {
            let columns: Vec<_> = columns_of(&trace.heads[*head]).collect();
            let areas = Addressing::areas(&area(*x, Span::new(0.0, 0.0)), &columns);
            areas.iter().all(|column| column.width() >= THINNEST)
        })
    }
}

impl<'a> Painting<'_, 'a> {
    fn column_spans(&self) -> ColumnSpans {
        let (x, of) = (self.columns.stages, self.of);
        let count = self.trace().heads.len();
        if of.all_heads {
            return ColumnSpans::of_all(x, count);
        }
        let around = |shown: &[usize]| ColumnSpans::around(x, count, shown);
        let both = of.pinned.map(|pinned| around(&[of.focus, pinned]));
        let both = both.filter(|both| both.fits(self.trace()));
        both.unwrap_or_else(|| around(&[of.focus]))
    }

    /// The stages of the expanded heads, the final weighting of each other, and their names.
    pub(super) fn addressing(&mut self, bands: &Bands, axis: &Axis) {
        let spans = self.column_spans();
        for (head, x) in &spans.expanded {
            self.expanded(*head, *x, axis);
        }
        let bottom = ends(axis).max;
        if !self.of.all_heads && self.of.seen.layer.is_none() {
            let at = [self.columns.stages.min - 6.0, bottom + 8.0];
            self.text(Slot::Text("max"), "max", at, self.quiet(9.5).end());
        }
        if let Some(words) = self.bars_note(axis) {
            let at = [self.columns.stages.min, bottom + FOOT + 11.0];
            self.text(Slot::Text("bars"), &words, at, self.quiet(SMALL));
        }
        self.heading(bands, &spans);
        let pitch = match spans.thin[..] {
            [(_, first), (_, second), ..] => second.min - first.min,
            _ => LABEL,
        };
        // Where columns are thin, every other label stands higher; of very thin ones only some have a label.
        let last = spans.thin.last().map_or(0, |(head, _)| *head);
        let label = width_of(&self.label(last), &self.quiet(10.0).bold());
        let every = ((0.5 * LABEL.max(label + 4.0) / pitch).ceil() as usize).max(1);
        for (index, (head, x)) in spans.thin.iter().enumerate() {
            let is_up = pitch < LABEL && (index / every) % 2 == 1;
            let up = if is_up { 24.0 } else { 0.0 };
            if index % every == 0 {
                self.column_name(*head, [x.center(), ends(axis).min - 10.0 - up]);
            }
            if let Some(place) = self.final_weighting(*head, area(*x, ends(axis)), axis) {
                self.picture(place);
            }
        }
    }

    /// The note below the rows: that bars are missing, or the meaning of their marks.
    pub(super) fn bars_note(&self, axis: &Axis) -> Option<String> {
        match (as_bars(axis), self.of.seen.spread) {
            (true, spread) => spread.map(Spread::describe),
            (false, None) => Some("colour strips: too many rows for bars".to_owned()),
            (false, Some(spread)) => Some(format!(
                "colour strips: too many rows for bars and {} samples",
                spread.samples
            )),
        }
    }

    /// All stages of one head, with the lines between them.
    fn expanded(&mut self, head: usize, x: Span, axis: &Axis) {
        let panel = self.of.seen.panel(PanelId::of(Picture::Stages, head));
        let Some(Content::Addressing(addressing)) = panel.map(|panel| panel.content) else {
            return;
        };
        let area = area(x, ends(axis));
        addressing.paint(&mut self.on, &area, axis);
        let areas = Addressing::areas(&area, &addressing.kinds());
        let mut before: Option<Area> = None;
        for (bars, area) in addressing.columns.into_iter().zip(areas) {
            if let (Stage::Shift, Some(before)) = (bars.column.stage, before) {
                let gap = area.across(before.right, area.left);
                let label = self.label(head);
                self.part(Slot::Moves(head), format!("{label} moves"), gap);
            }
            before = Some(area);
            let (id, Column { word, symbol, .. }) = (bars.id(), bars.column);
            let name = format!("Stage {word} {symbol}");
            let above = area.down(area.top - NAMES, area.top - 8.0);
            self.part(Slot::ColumnWord(id), name, above);
            if let Some(most) = &bars.most {
                let name = format!("{}, largest value of {word}: {most}", self.label(head));
                let below = area.down(area.bottom + 2.0, area.bottom + FOOT + 2.0);
                self.part(Slot::Largest(id), name, below);
            }
            let place = self.of.seen.column(bars).along(area, axis.clone());
            self.places.push(place);
        }
    }

    /// The weighting that a head reads or writes with, at this place.
    fn final_weighting(&self, head: usize, area: Area, axis: &Axis) -> Option<PlacedPanel<'a>> {
        let stages = self.of.seen.now.stages;
        let last = stages.columns(&self.trace().heads[head]).last()?;
        let id = PanelId::of(Picture::Stages, head).part(last.place());
        let mut panel = self.of.seen.panel(id)?;
        if let Content::Bars(bars) = &mut panel.content {
            (bars.to_come, bars.spread) = (false, None);
        }
        panel.name = format!("{} now", panel.whose);
        "the final weighting of this head".clone_into(&mut panel.alt);
        Some(panel.along(area, axis.clone()))
    }

    /// Sign and label over the thin column of a head.
    fn column_name(&mut self, head: usize, [x, y]: [f32; 2]) {
        let label = self.label(head);
        self.head_sign([x, y - 13.0], 12.0, head);
        let style = self.quiet(10.0).bold().middle();
        self.on.text(label.clone(), [x, y], style);
        self.head_dash(head, [x - 5.0, x + 5.0], y + 6.5);
        let area = Area::new(x - 8.0, y - 20.0, 16.0, 26.0);
        self.part(Slot::ColumnName(head), format!("Mark of {label}"), area);
    }

    /// A short line with the dashes of a head, where heads have equal hues.
    pub(super) fn head_dash(&mut self, head: usize, [left, right]: [f32; 2], y: f32) {
        let trace = self.trace();
        head_dash(&mut self.on, trace, head, [[left, y], [right, y]]);
    }

    /// The names of the expanded heads, and the sentence.
    fn heading(&mut self, bands: &Bands, spans: &ColumnSpans) {
        let top = bands.ruler.min + 8.0;
        for (head, x) in &spans.expanded {
            let label = self.label(*head);
            let lost = self.of.pinned.filter(|_| spans.expanded.len() == 1);
            let text = match lost.map(|other| self.label(other)) {
                _ if spans.expanded.len() > 1 => label.clone(),
                Some(other) => format!("{label}  NO ROOM FOR {other}"),
                None => {
                    let layer = head_layer(self.trace(), *head).to_uppercase();
                    format!("{label}{layer}  ADDRESSING")
                }
            };
            self.head_sign([x.min + 6.0, top], 13.0, *head);
            let style = self.quiet(NAME).bold();
            self.text(Slot::TitleText(*head), &text, [x.min + 18.0, top], style);
            let area = Area::new(x.min, top - 9.0, 100.0, 18.0);
            self.part(Slot::Title(*head), format!("Pin {label}"), area);
        }
        if self.of.all_heads {
            let text = format!("FINAL WEIGHTING OF ALL {} HEADS", spans.thin.len());
            let style = self.quiet(NAME).bold();
            let at = [self.columns.stages.min, top];
            self.text(Slot::Text("addressing"), &text, at, style);
        }
        let room = Span::new(top + 10.0, bands.rows.min - NAMES);
        self.sentence(area(self.columns.stages, room));
    }

    /// The step or its current stage in words, in as many lines as there is room for; at least one.
    pub(super) fn sentence(&mut self, room: Area) {
        let moment = self.of.seen.now;
        let title = if let Some(stage) = moment.stage() {
            let (number, count) = (moment.place + 1, moment.stages.len());
            format!("{number} of {count}  {}", stage.name())
        } else {
            format!("step {}  {}", moment.step, moment.phase())
        };
        let text = moment.long(self.of.focus);
        let (mut top, colours) = (room.top, self.on.page.colours);
        let mut count = (room.height() / LINE) as usize;
        if count >= 2 {
            let style = Style::new(12.0, colours.accent).bold();
            self.on
                .text(title.as_str(), [room.left, top + LINE / 2.0], style);
            top += LINE;
            count -= 1;
        }
        // A number keeps its symbol and its unit.
        let mut kept = text.replace(" %", "\u{a0}%");
        for symbol in ["α", "β", "γ"] {
            kept = kept.replace(&format!("{symbol} "), &format!("{symbol}\u{a0}"));
        }
        let style = Style::new(12.0, colours.text);
        let width = room.width().max(120.0);
        let mut broken = lines(&kept, &style, width);
        let most = count.clamp(1, MOST_LINES);
        let elided = broken.len() > most;
        broken.truncate(most);
        if let (true, Some(last)) = (elided, broken.last_mut()) {
            while width_of(last, &style) + 12.0 > width && last.pop().is_some() {}
            last.push('…');
        }
        for (index, line) in broken.iter().enumerate() {
            let y = top + (index as f32 + 0.5) * LINE;
            self.on.text(line.as_str(), [room.left, y], style);
        }
        let area = Area::new(room.left, top, width, broken.len() as f32 * LINE);
        let panel = Panel {
            note: if elided { text.clone() } else { String::new() },
            ..Panel::sign(Slot::Sentence, text)
        };
        self.places.push(panel.at(area));
    }

    /// All rows in little, while only some of them are shown: where the weight is, and which rows are shown.
    pub(super) fn minimap(&mut self, y: Span) {
        let (Some(x), Some(head)) = (self.columns.minimap, self.of.head()) else {
            return;
        };
        if head.weighting.width() == 0 {
            return;
        }
        let (all, colours) = (area(x, y), self.on.page.colours);
        let (whole, focus) = (self.of.whole, self.of.focus);
        let axis = whole.place(y, super::WITHOUT_GAPS);
        let Some(place) = self.final_weighting(focus, all, &axis) else {
            return;
        };
        if let Content::Bars(bars) = &place.panel.content {
            let mut at = place.place();
            at.id = PanelId::of(Picture::Weightings, focus).now();
            self.on.paint.cells(&bars.cells, at, self.on.page, 1.0);
        }
        self.on.frame(all, colours.line);
        self.peaks(all);
        let (rows, shown) = (whole.numbers(), self.of.seen.rows.numbers());
        let first = shown.first().and_then(|row| whole.index_of(*row));
        let first = first.unwrap_or(0);
        let height = |index: usize| y.min + index as f32 / rows.len().max(1) as f32 * y.span();
        let (top, bottom) = (height(first), height(first + shown.len()));
        let window = all.down(top - 1.0, bottom.max(top + 3.0) + 1.0);
        let window = window.across(all.left - 1.0, all.right + 1.0);
        self.on.frame(window, colours.accent);
        let alt = "drag to move the rows on screen";
        self.described(Slot::Minimap, "all rows".to_owned(), alt, all);
    }

    /// A mark for the peak of every head: at the right where it writes, at the left where it reads.
    fn peaks(&mut self, all: Area) {
        let (whole, rows) = (self.of.whole, self.of.whole.shown().max(1) as f32);
        for (index, head) in self.trace().heads.iter().enumerate() {
            let peak = crate::model::peak(head.weighting.row(self.step()));
            let Some(at) = peak.and_then(|(row, _)| whole.index_of(row)) else {
                continue;
            };
            let y = all.top + (at as f32 + 0.5) / rows * all.height();
            let ends = if head.is_write() {
                [[all.right - 5.0, y], [all.right + 2.0, y]]
            } else {
                [[all.left - 2.0, y], [all.left + 5.0, y]]
            };
            self.on.line(&ends, self.hue(index), 2.0);
        }
    }
}
