//! The source left of the columns: the alignment so far on the same rows, or the picture that the machine describes.

use super::Pane;
use crate::figure::facts::moment::steps_done;
use crate::figure::facts::numbers;
use crate::figure::facts::source::{answered, fed_back, first_of_question, received, short};
use crate::figure::scene::axes;
use crate::figure::scene::fonts::cut;
use crate::figure::scene::paint::{Draw, Page, Surface};
use crate::figure::scene::panel::PlacedPanel;
use crate::figure::{Area, PanelId, Picture};

impl<'a> Pane<'a, '_> {
    /// The picture by the weights of the step, or the weights of all answers so far.
    pub(super) fn source(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let source = self.seen.facts.source.as_ref();
        let source = source.filter(|source| !source.are_numbers);
        let (Some(area), Some(source)) = (self.area.before, source) else {
            return;
        };
        let (head, colours) = (self.area.head, self.page.colours);
        let (first, steps) = (
            first_of_question(self.now.recording),
            self.now.trace().steps(),
        );
        let page = Page {
            first,
            hides_future: true,
            ..*self.page
        };
        let title = |on: &mut Surface<'_>, words: &[&str]| {
            self.heading(
                on,
                words,
                area,
                (colours.text, area.width() + self.size(40.0)),
            );
        };
        if let Some(panel) = self.seen.panel(PanelId::of(Picture::Patches, head).now()) {
            title(on, &["what it looks at", "looks at"]);
            let half = 0.5 * area.width().min(area.height() - 20.0);
            let place = panel.at(area.across(area.middle() - half, area.middle() + half));
            place.paint(&mut Surface::new(on.paint, &page));
            return places.push(place);
        }
        let panel = self.seen.panel(PanelId::of(Picture::Weightings, head));
        let Some(panel) = panel.filter(|_| first < steps) else {
            return;
        };
        title(on, &["alignment so far", "alignment"]);
        let place = panel.during(first..steps).along(area, self.view.axis());
        place.paint(&mut Surface::new(on.paint, &page));
        if let Some(step) = self.now.step.checked_sub(first) {
            axes::play_head(on, &area.inset(0.0, -2.0), step, steps - first);
        }
        let done = steps_done(PanelId::new(Picture::Output), &self.now);
        let above = ([area.left, area.right], area.top - self.size(10.0).max(8.0));
        axes::symbols(on, place.panel.symbols, above, done.saturating_sub(first));
        self.importance(on, &area, first, steps);
        let style = self.letters(11.0, colours.subdued).end();
        for slot in self.view.slots().filter(|slot| slot.seen() > 0.6) {
            if let Some(name) = source
                .names
                .get(slot.row)
                .filter(|_| self.view.height >= 9.0)
            {
                let at = [area.left - 5.0, slot.whole.center()];
                on.text(
                    cut(&short(name), &style, self.size(40.0).max(26.0)),
                    at,
                    style,
                );
            }
        }
        places.push(place);
    }

    /// How much each step of the question counts in an answer, above its column.
    fn importance(&self, on: &mut Surface<'_>, area: &Area, first: usize, steps: usize) {
        let mut own = self.now.trace().kind_arrays.arrays();
        let Some((_, shares)) = own.find(|(array, _)| array.name == "importance") else {
            return;
        };
        let style = self.letters(11.0, self.page.colours.subdued);
        let above = self.size(10.0).max(8.0) + self.size(15.0).max(11.0);
        let (pitch, y) = (area.width() / (steps - first) as f32, area.top - above);
        on.text("b", [area.left - 5.0, y], style.end());
        for (j, share) in shares.row(self.now.step).iter().enumerate().skip(first) {
            if *share > 0.0 {
                let x = area.left + (j - first) as f32 * pitch + 0.5 * pitch;
                on.text(numbers::cell(*share), [x, y], style.middle());
            }
        }
    }
}

impl super::CloseUp<'_, '_> {
    /// The symbol that comes in, or that was answered before and is fed back, and a shorter text; empty without symbols.
    pub(super) fn symbol_in(&self) -> [String; 2] {
        let (recording, step) = (self.now.recording, self.now.step);
        if self.seen.facts.symbols.is_empty() {
            return Default::default();
        }
        let fed_back = fed_back(recording, step);
        let long = if fed_back.is_some() { ", fed back" } else { "" };
        let name = fed_back.or_else(|| received(recording, step));
        let name = name.as_deref().map(short).unwrap_or_default();
        [format!("{name}{long}"), name.into_owned()]
    }

    /// The symbol that is answered; empty without symbols.
    pub(super) fn symbol_out(&self) -> String {
        let (recording, step) = (self.now.recording, self.now.step);
        if self.seen.facts.symbols.is_empty() {
            return String::new();
        }
        answered(recording, step).map_or_else(String::new, |name| short(&name).into_owned())
    }
}
