//! Below the pictures: the loss of every step, the movements of two heads, and the numbers of the selected head over
//! time, one line each.

use super::geometry::Columns;
use super::{DebugPage, NAME, Painting, SMALL, area};
use crate::figure::facts::events::{Stretch, reach};
use crate::figure::facts::measure::Scalar;
use crate::figure::facts::rows::Span;
use crate::figure::scene::annotations::unrecorded;
use crate::figure::scene::axes;
use crate::figure::scene::catalogue::Facts;
use crate::figure::scene::fonts::width_of;
use crate::figure::scene::lanes;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{Panel, PlacedPanel, later};
use crate::figure::{
    ADDRESSING_MEASURES, HeadName, Ink, PanelId, Picture, Slot, Style, facts::numbers,
};
use crate::train::is_absent;

/// Height of the loss with its room.
pub const TIMELINE: f32 = 64.0;
/// Height of a line of the numbers of a head over time with its room.
const LANE: f32 = 16.5;
/// Height of a ribbon over them with its room.
const RIBBON: f32 = 16.0;
/// On pages at least this high the numbers of the head have lines of their own under the loss.
const HIGH: f32 = 690.0;
/// Room round the loss.
const AROUND: f32 = 12.0;
/// No words fit into less.
const LEAST_WORDS: f32 = 12.0;

/// Returns the height of ribbons and `count` lines of numbers on a page of this height; 0 on a low page.
pub fn scalars_height(count: usize, page: f32) -> f32 {
    if count == 0 || page < HIGH {
        return 0.0;
    }
    2.0 * RIBBON + count as f32 * LANE + 6.0
}

/// Returns the number of lines of numbers over time that there may be of a head; none without heads.
pub fn line_count(facts: &Facts, has_spread: bool) -> usize {
    let redundancy = usize::from(!facts.redundancies.0.is_empty());
    match facts.heads.len() {
        0 => 0,
        _ => ADDRESSING_MEASURES.len() + redundancy + usize::from(has_spread),
    }
}

/// Steps to draw from left to right, no finer than pixels.
#[derive(Default)]
struct Pixels(Option<f32>);

impl Pixels {
    /// True for a step that ends in another pixel than the one drawn before it.
    fn is_next(&mut self, end: f32) -> bool {
        let next = self.0.is_none_or(|before| end >= before + 1.0);
        if next {
            self.0 = Some(end);
        }
        next
    }
}

impl<'a> DebugPage<'a> {
    /// Returns the height of loss and numbers over time on a page of this height.
    pub fn timeline_height(&self, page: f32) -> f32 {
        let count = line_count(self.seen.facts, self.seen.spread.is_some());
        TIMELINE + scalars_height(count, page)
    }

    /// Paints the loss, and below it the numbers over time where there is room for them.
    pub fn timeline(
        &self,
        on: &mut Surface<'_>,
        columns: Columns,
        y: Span,
    ) -> Vec<PlacedPanel<'a>> {
        let mut painting = self.painting(on, columns.of_all());
        let bottom = y.min + TIMELINE;
        let loss = Span::new(y.min + AROUND, bottom - AROUND);
        painting.loss(loss);
        painting.shown_part(&columns, loss);
        painting.play_head(Span::new(y.min, loss.max));
        // The grip of the play-head.
        if painting.step_shown().is_some() {
            let x = painting.at(painting.step()).center();
            let accent = painting.on.page.colours.accent;
            axes::dot(painting.on.paint, [x, loss.min + 3.0], 5.5, accent);
        }
        if y.span() > TIMELINE {
            painting.numbers(bottom - 4.0);
            if painting.on.page.hides_future {
                let next = painting.at(painting.step()).max;
                let hidden = area(Span::new(next, columns.time.max), y);
                later(&mut painting.on, hidden.down(bottom - 4.0, y.max));
            }
            painting.play_head(Span::new(loss.max, y.max - 6.0));
        }
        painting.places
    }
}

impl Painting<'_, '_> {
    /// The loss of every step with phases and events.
    fn loss(&mut self, y: Span) {
        let colours = self.on.page.colours;
        let (all, recording) = (area(self.columns.time, y), self.of.seen.now.recording);
        self.on.rect(all, colours.background);
        for (index, phase) in recording.episode.phases.iter().enumerate() {
            let [left, right] = [phase.start, phase.end].map(|step| self.at(step).min);
            let band = all.across(left, right).down(y.min, y.min + 6.0);
            self.on.rect(band, colours.phases[index % 2]);
        }
        let mut drawn = f32::NEG_INFINITY;
        let events = self.of.seen.facts.events.iter();
        for event in events.filter(|event| self.of.span.contains(&event.step)) {
            let x = self.at(event.step).center();
            // Ticks that would touch are one.
            if x - drawn >= 2.0 {
                drawn = x;
                let tick = [[x, y.min + 6.0], [x, y.min + 11.0]];
                self.on.line(&tick, colours.text, 1.0);
            }
        }
        let loss = &recording.loss[self.of.span.clone()];
        let finite = loss.iter().copied().filter(|loss| loss.is_finite());
        let answer = recording.episode.answer;
        let most = finite.fold(answer.least_axis(), f32::max);
        let bars = all.down(y.min + 8.0, y.max);
        lanes::bars(&mut self.on, loss, &bars, |loss| loss / most);
        if loss.first().copied().is_some_and(is_absent) {
            unrecorded(&mut self.on, &all.down(y.min + 14.0, y.max));
        }
        self.on.frame(all, colours.line);
        let scale = if answer.is_real() {
            numbers::brief(f64::from(most))
        } else {
            answer.amount(&numbers::short(most, 1))
        };
        self.gutter_label("loss", y.max - 8.0);
        let at = [self.columns.time.min - 8.0, y.min + 8.0];
        self.on.text(scale.as_str(), at, self.quiet(10.0).end());
        let alt = format!("phases and loss of every step, up to {scale}; drag to move in time");
        self.described(Slot::Timeline, "Timeline".to_owned(), &alt, all);
    }

    /// The part of the steps in the pictures above: the rest is veiled.
    fn shown_part(&mut self, above: &Columns, y: Span) {
        if !above.is_part() {
            return;
        }
        let (time, whole, colours) = (above.time, above.whole, self.on.page.colours);
        let at = |x: f32| time.min + (x - whole.min) / whole.span() * time.span();
        let part = Span::new(at(time.min), at(time.max));
        let veil = Ink::from(colours.panel).faded(0.6);
        for outside in [Span::new(time.min, part.min), Span::new(part.max, time.max)] {
            self.on.rect(area(outside, y), veil);
        }
        let part = area(part, y);
        self.on.frame(part, colours.accent);
        let [first, last] =
            [time.min + 0.5, time.max - 0.5].map(|x| above.step_at(x, self.steps()));
        let words = format!("The pictures show steps {first} to {last}");
        self.part(Slot::Text("shown part"), words, part);
    }

    /// The movements of two heads, and the numbers of the selected one, from this height down.
    fn numbers(&mut self, top: f32) {
        let Some(head) = self.of.head() else { return };
        let heads = &self.trace().heads;
        let is_other = |index: &usize| heads[*index].is_write() != head.is_write();
        let other = || (0..heads.len()).find(is_other);
        let moving = [Some(self.of.focus), self.of.pinned.or_else(other)];
        for (index, head) in moving.into_iter().flatten().enumerate() {
            let top = top + index as f32 * RIBBON;
            self.ribbon(head, Span::new(top, top + RIBBON - 3.0));
        }
        let mut top = top + 2.0 * RIBBON + 2.0;
        let (focus, of) = (self.of.focus, self.of);
        let (label, name) = (self.label(focus), Some(self.name(focus)));
        let scalars = of.scalars(focus);
        // A head that has more than the usual five has them in the same room.
        let lane = LANE * ADDRESSING_MEASURES.len() as f32
            / scalars.len().max(ADDRESSING_MEASURES.len()) as f32;
        for (index, scalar) in scalars.iter().enumerate() {
            let top = top + index as f32 * lane;
            let id = PanelId::of(Picture::Scalars, focus).part(index);
            let y = Span::new(top, top + lane - 3.0);
            self.lane_of(id, y, (&label, name), scalar);
        }
        top += ADDRESSING_MEASURES.len() as f32 * LANE;
        if let Some(redundant) = of.seen.facts.redundancies.like(head.is_write()) {
            let id = PanelId::new(Picture::Redundancy);
            let who = (redundant.who, redundant.head);
            self.lane_of(id, Span::new(top, top + LANE - 3.0), who, &redundant.line);
            top += LANE;
        }
        if let Some(spread) = of.seen.spread {
            let id = PanelId::new(Picture::Uncertainty);
            let label = format!("K={}", spread.samples);
            let [.., line] = spread.lines(of.seen.now.recording.episode.steps());
            self.lane_of(id, Span::new(top, top + LANE - 3.0), (&label, None), &line);
        }
    }

    /// The movement of a head, stretch by stretch: `+1 ×20`.
    fn ribbon(&mut self, head: usize, y: Span) {
        let stretches = &self.of.seen.facts.heads[head].stretches;
        let range = reach(&self.trace().heads[head]);
        self.stretches(head, (stretches, range), y);
        let label = self.label(head);
        self.gutter_label(&format!("{label} moves"), y.center());
        let mut stretches = stretches.iter();
        let now = stretches.find(|stretch| (stretch.start..stretch.end).contains(&self.step()));
        if let Some(now) = now {
            let style = Style::new(NAME, self.on.page.colours.text).mono();
            let at = [self.columns.time.max + 8.0, y.center()];
            self.on.text(now.words(range), at, style);
        }
        let area = area(self.columns.time, y);
        let name = format!("Movement of {label}");
        self.described(Slot::Ribbon(head), name, "over time", area);
    }

    /// The stretches themselves: of those that share a pixel the first.
    fn stretches(&mut self, head: usize, (all, range): (&[Stretch], usize), y: Span) {
        let colours = self.on.page.colours;
        let style = Style::new(10.0, colours.text).middle();
        let (mut filled, mut marked) = (Pixels::default(), Pixels::default());
        for (index, stretch) in all.iter().enumerate() {
            let [first, last] = [stretch.start, stretch.end].map(|step| self.at(step).min);
            if last <= first {
                continue;
            }
            let band = area(Span::new(first + 0.5, (last - 0.5).max(first + 1.0)), y);
            if filled.is_next(last) {
                self.on.rect(band, colours.phases[index % 2]);
            }
            if band.width() >= LEAST_WORDS {
                let words = stretch.words(range);
                if width_of(&words, &style) + 4.0 <= band.width() {
                    self.on.text(words, [band.middle(), band.centre()], style);
                    continue;
                }
            }
            // A jump is worth a mark where its words do not fit.
            let jumps = stretch.shift.is_some_and(|by| by.unsigned_abs() > range);
            if jumps && marked.is_next(band.middle()) {
                let ends = [[band.middle(), y.min], [band.middle(), y.max]];
                self.on.line(&ends, self.hue(head), 2.0);
            }
        }
    }

    /// A line over time with its name, its value at the step, and its scale.
    fn lane_of(
        &mut self,
        id: PanelId,
        y: Span,
        (label, head): (&str, Option<HeadName>),
        scalar: &Scalar,
    ) {
        let plot = area(self.columns.time, y);
        let shown = &scalar.values[self.of.span.clone()];
        lanes::one(&mut self.on, (shown, scalar.scale), head, &plot);
        self.gutter_label(&format!("{label} {}", scalar.of.symbol), y.center());
        let value = scalar.values[self.step()];
        // Gradients are often small.
        let value = match self.of.seen.layer {
            None => numbers::plain(value, 2, 6),
            Some(_) => numbers::end_text(value),
        };
        let style = Style::new(NAME, self.on.page.colours.text).mono();
        let left = self.columns.time.max + 8.0;
        let right = left + width_of(&value, &style);
        self.on.text(value.as_str(), [left, y.center()], style);
        let (low, high) = scalar.scale;
        let low = numbers::short(low, 0);
        let scale = format!("{}, {low} to {}", scalar.of.words, end(high));
        let at = [right + 10.0, y.center()];
        self.on.text(scale.as_str(), at, self.quiet(SMALL));
        let panel = Panel {
            whose: label.to_owned(),
            note: scale.clone(),
            alt: "over time".to_owned(),
            value: format!("{} in step {}", value.trim(), self.step()),
            ..Panel::sign(Slot::Line(id), format!("{label} {scale}"))
        };
        self.places.push(panel.at(plot));
    }
}

/// The upper end of a scale.
fn end(high: f32) -> String {
    if high >= 1.0 {
        return numbers::short(high, 1);
    }
    numbers::short(high, 3).trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_ribbon_has_no_more_parts_than_pixels() {
        let columns = Columns::new(Span::new(0.0, 1440.0), (2, false), false);
        let mut drawn = Pixels::default();
        let ends = (0..4001).map(|step| columns.step(step, 4001).max);
        let count = ends.filter(|&end| drawn.is_next(end)).count();
        assert!(count <= columns.time.span() as usize + 1, "{count}");
    }
}
