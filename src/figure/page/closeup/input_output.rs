//! Input and output of the close-up.

use super::memory::edge;
use super::{CloseUp, fitting};
use crate::figure::facts::episode::wrong_bits;
use crate::figure::facts::stages::Stage;
use crate::figure::scene::motion::within;
use crate::figure::scene::paint::{Draw, Paint};
use crate::figure::scene::panel::{Across, Content, Panel, PlacedPanel};
use crate::figure::{Area, Ink, PanelId, Picture, Slot, mix};

impl<'a> CloseUp<'a, '_> {
    /// The input of the step and its output.
    pub(super) fn ends(&self, on: &mut dyn Paint, places: &mut Vec<PlacedPanel<'a>>) {
        let sides = [
            (
                Picture::Input,
                self.plan.input,
                ["comes in", "in"],
                Stage::Controller,
            ),
            (
                Picture::Output,
                self.plan.output,
                ["comes out", "out"],
                Stage::Output,
            ),
        ];
        let stage = self.stage().map(|at| at.stage);
        for (picture, area, words, at) in sides {
            let colours = self.page.colours;
            let is_now = stage == Some(at);
            let bits = self.bits(picture, area);
            let ink = if is_now { colours.strong } else { colours.text };
            let y = self.plan.rows().top - self.size(49.0).max(34.0);
            let style = self.letters(13.5, ink).bold().middle();
            fitting(on, &words, ([area.middle(), y], style, area.width() + 8.0));
            self.stack(on, picture, bits);
            if is_now {
                edge(on, bits, colours.accent.into(), 1.6);
            } else {
                on.frame(bits, colours.line);
            }
            places.extend(self.end_place(picture, bits));
        }
        self.flows(on);
        self.controller(on, places);
        self.verdict(on);
    }

    fn channels(&self, picture: Picture) -> usize {
        match picture {
            Picture::Input => self.trace().input.width(),
            _ => self.trace().output.width(),
        }
    }

    /// Returns the area of the bits of the step: one below the other, in the middle of the rows.
    fn bits(&self, picture: Picture, area: Area) -> Area {
        let (rows, count) = (self.plan.rows(), self.channels(picture).max(1) as f32);
        let most = (rows.height() - self.size(26.0)) / count;
        let each = most.min(self.size(25.0).max(12.0));
        let wide = each.max(self.size(25.0).max(12.0)).min(area.width());
        let height = each * count;
        Area::new(
            area.middle() - 0.5 * wide,
            rows.centre() - 0.5 * height,
            wide,
            height,
        )
    }

    fn is_scored(&self) -> bool {
        self.seen.recording.episode.is_scored(self.step())
    }

    fn stack(&self, on: &mut dyn Paint, picture: Picture, area: Area) {
        let colours = self.page.colours;
        let count = self.channels(picture);
        let each = area.height() / count.max(1) as f32;
        let apart = if each >= 8.0 { 1.0 } else { 0.0 };
        on.rect(area, colours.well);
        let shown = picture == Picture::Input || self.is_scored();
        let come = self.now.progress(Stage::Output, None);
        let own = self.seen.scales.input.filter(|_| picture == Picture::Input);
        let scale = own.unwrap_or(self.seen.shades[0]);
        for channel in 0..count {
            let value = match picture {
                Picture::Input => self.now.input(channel),
                _ => self.now.output(channel),
            };
            let top = area.top + channel as f32 * each;
            let cell = Area {
                left: area.left + apart,
                right: area.right - apart,
                top: top + apart,
                bottom: top + each - apart,
            };
            let fill = colours.of(scale, value);
            on.rect(cell, Ink::from(fill).faded(if shown { 1.0 } else { 0.3 }));
            let wrong =
                picture == Picture::Output && self.seen.recording.is_wrong(self.step(), channel);
            if wrong && self.is_scored() && come >= 1.0 {
                edge(on, cell, colours.warning.into(), 2.0);
            }
        }
    }

    /// Returns the area to point at.
    fn end_place(&self, picture: Picture, area: Area) -> Option<PlacedPanel<'a>> {
        let mut panel = self.seen.panel(PanelId::new(picture))?;
        panel.id.now = true;
        if let Content::Cells(cells) = panel.content {
            let step = self.step();
            panel.content = Content::Cells(cells.during(step..step + 1));
        }
        panel.across = Across::Values;
        "at this step".clone_into(&mut panel.alt);
        Some(panel.at(area))
    }

    /// Draws the flows from the input to the parts between, and from there to the output.
    fn flows(&self, on: &mut dyn Paint) {
        let stage = self.stage().map(|at| at.stage);
        let [input, output] = [
            self.bits(Picture::Input, self.plan.input),
            self.bits(Picture::Output, self.plan.output),
        ];
        let controller = self.plan.controller;
        let into = controller.map_or(self.plan.input.right, |controller| controller.left);
        let arrows = [
            ([input.right, into], input.centre(), Stage::Controller),
            (
                [self.plan.output.left, output.left],
                output.centre(),
                Stage::Output,
            ),
        ];
        let apart = self.size(6.0).max(3.0);
        for ([left, right], y, at) in arrows {
            let (from, to) = (left + apart, right - apart);
            if to - from < 6.0 {
                continue;
            }
            let colours = self.page.colours;
            let ink = if stage == Some(at) {
                colours.accent
            } else {
                mix(colours.line, colours.subdued, 0.5)
            };
            let tip = self.size(6.0).max(4.0);
            on.line(&[[from, y], [to - tip, y]], ink, 1.6);
            on.shape(
                &[
                    [to, y],
                    [to - tip, y - 0.7 * tip],
                    [to - tip, y + 0.7 * tip],
                ],
                ink,
            );
        }
    }

    /// Paints the controller between the input and the heads.
    fn controller(&self, on: &mut dyn Paint, places: &mut Vec<PlacedPanel<'a>>) {
        let Some(area) = self.plan.controller else {
            return;
        };
        let (colours, rows) = (self.page.colours, self.plan.rows());
        let area = area.down(rows.top, rows.bottom);
        on.rect(area, colours.raised);
        let is_now = self.stage().map(|at| at.stage) == Some(Stage::Controller);
        if is_now {
            let come = self.now.progress(Stage::Controller, None);
            // It lights up between the arrival of the input and its own output.
            let works = within(come, [0.25, 0.5]) * (1.0 - within(come, [0.75, 1.0]));
            on.rect(area, Ink::from(colours.accent).faded(0.45 * works));
            edge(on, area, colours.accent.into(), 1.6);
        } else {
            on.frame(area, colours.line);
        }
        let ink = if is_now {
            colours.strong
        } else {
            colours.subdued
        };
        let style = self.letters(12.0, ink).upwards();
        on.text("controller", [area.middle(), area.centre()], style);
        places.push(Panel::sign(Slot::Controller, "Controller".to_owned()).at(area));
    }

    /// Draws the verdict on the output of the step.
    fn verdict(&self, on: &mut dyn Paint) {
        let colours = self.page.colours;
        let bits = self.bits(Picture::Output, self.plan.output);
        let y = bits.bottom + self.size(15.0).max(9.0);
        let room = self.plan.output.width() + self.size(30.0);
        let come = self.now.progress(Stage::Output, None) >= 1.0 && self.now.glide().is_none();
        let wrong = wrong_bits(self.seen.recording, self.step()..self.step() + 1, 1.0).len();
        let (texts, ink): ([String; 2], _) = match (self.is_scored(), come, wrong) {
            (false, ..) => (["not scored".to_owned(), "–".to_owned()], colours.subdued),
            (true, false, _) => return,
            (true, true, 0) => (["all right".to_owned(), "right".to_owned()], colours.text),
            (true, true, wrong) => (
                [format!("{wrong} wrong"), "wrong".to_owned()],
                colours.warning,
            ),
        };
        let texts = [texts[0].as_str(), texts[1].as_str()];
        let style = self.letters(12.0, ink).middle();
        fitting(on, &texts, ([self.plan.output.middle(), y], style, room));
    }
}
