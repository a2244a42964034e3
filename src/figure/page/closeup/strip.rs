//! The whole episode in a strip.

use std::cmp::Reverse;

use super::{CloseUp, edge};
use crate::figure::facts::stage::Stage;
use crate::figure::scene::fonts::width_of;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{Content, PlacedPanel};
use crate::figure::{Area, Ink, PanelId, Picture};
use crate::task::Phase;

impl<'a> CloseUp<'a, '_> {
    /// Draws all steps of the episode: input above, output below, and the current step.
    pub(super) fn episode(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let (colours, all) = (self.page.colours, self.plan.episode);
        let well = Ink::from(colours.well);
        let steps = self.now.trace().steps();
        let strip = all.down(all.top + self.size(17.0).max(12.0), all.bottom);
        let each = strip.width() / steps as f32;
        let out = self.now.progress(Stage::Output, None) >= 1.0;
        let (first, then) = (self.now.step + 1, self.now.step + usize::from(out));
        let upper = strip.down(strip.top, strip.centre() - 1.0);
        let lower = strip.down(strip.centre() + 1.0, strip.bottom);
        let parts = [
            (Picture::Input, "in", upper, first, 0.6),
            (Picture::Output, "out", lower, then, 1.0),
        ];
        for (picture, word, area, first, veil) in parts {
            let Some(panel) = self.seen.panel(PanelId::new(picture)) else {
                continue;
            };
            on.rect(area, colours.well);
            let place = panel.at(area);
            if let Content::Cells(cells) = &place.panel.content {
                on.paint.cells(cells, place.place(), on.page, 1.0);
                // Outputs in steps without a target are veiled.
                for steps in &cells.veiled {
                    let ends = [steps.start, steps.end];
                    let [left, right] = ends.map(|step| strip.left + step as f32 * each);
                    on.rect(area.across(left, right), well.faded(0.75));
                }
            }
            // Later steps are veiled.
            let left = strip.left + first as f32 * each;
            if left < strip.right {
                on.rect(area.across(left, strip.right), well.faded(veil));
            }
            on.frame(area, colours.line);
            if self.plan.scale > 0.8 {
                let style = self.letters(10.0, colours.subdued).end();
                on.text(word, [area.left - 4.0, area.centre()], style);
            }
            places.push(place);
        }
        self.phases(on, strip, each);
        let left = strip.left + self.now.step as f32 * each;
        let here = strip.across(left, left + each.max(1.5));
        on.rect(here, Ink::from(colours.accent).faded(0.1));
        edge(on, here.inset(0.0, -2.0), colours.accent.into(), 1.6);
    }

    fn phases(&self, on: &mut Surface<'_>, strip: Area, each: f32) {
        let colours = self.page.colours;
        let style = self.letters(11.0, colours.subdued);
        let phases = &self.now.recording.episode.phases;
        let is_here = |phase: &Phase| (phase.start..phase.end).contains(&self.now.step);
        let mut order: Vec<_> = phases.iter().collect();
        // The one that it is in has its name first, then the longest.
        order.sort_by_key(|phase| (!is_here(phase), Reverse(phase.end - phase.start)));
        let mut named: Vec<[f32; 2]> = Vec::new();
        for phase in order {
            let left = strip.left + phase.start as f32 * each;
            if phase.start > 0 {
                let line = [[left, strip.top - 3.0], [left, strip.bottom + 3.0]];
                on.line(&line, colours.subdued, 1.0);
            }
            let right = left + width_of(&phase.name, &style);
            let is_beside = |[from, to]: &[f32; 2]| right + 6.0 < *from || left > *to + 6.0;
            if named.iter().all(is_beside) && right <= strip.right + 2.0 {
                let here = is_here(phase);
                let style = self.letters(11.0, colours.emphasis(here)).bold_if(here);
                let y = strip.top - self.size(9.0).max(6.5);
                on.text(phase.name.clone(), [left, y], style);
                named.push([left, right]);
            }
        }
    }
}
