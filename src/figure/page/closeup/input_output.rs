//! Input and output of the close-up.

use super::{CloseUp, edge, fitting};
use crate::figure::facts::stage::Stage;
use crate::figure::facts::stages::network;
use crate::figure::scene::fonts::width_of;
use crate::figure::scene::motion::within;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{Across, Content, Panel, PlacedPanel};
use crate::figure::{Area, Ink, PanelId, Picture, Slot, mix};
use crate::math::Series;
use crate::model::{Place, array};

impl<'a> CloseUp<'a, '_> {
    /// The input of the step and its output.
    pub(super) fn ends(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let (input, output) = (self.plan.input, self.plan.output);
        let sides = [
            (self.coming(), input, ["comes in", "in"], Stage::Controller),
            (Picture::Output, output, ["comes out", "out"], Stage::Output),
        ];
        for (picture, area, words, at) in sides {
            let (colours, is_now) = (self.page.colours, self.is_at(at));
            let ink = if is_now { colours.strong } else { colours.text };
            self.heading(on, &words, area, (ink, area.width() + 8.0));
            let bits = self.bits(picture, area);
            self.stack(on, picture, bits);
            self.outline(on, bits, is_now.then_some(colours.accent));
            if picture != Picture::Output {
                let y = bits.top - self.size(11.0).max(7.0);
                let style = self.letters(12.0, colours.text).middle();
                let room = area.width() + self.size(30.0);
                let mut texts = self.symbol_in().into_iter();
                // Left of the controller, which would hide its end.
                let end = self.plan.controller.map_or(f32::MAX, |of| of.left - 2.0);
                if let Some(text) = texts.find(|text| width_of(text, &style) <= room) {
                    let x = area.middle().min(end - 0.5 * width_of(&text, &style));
                    on.text(text, [x, y], style);
                }
            }
            places.extend(self.end_place(picture, bits));
        }
        self.flows(on);
        self.controller(on, places);
        self.verdict(on);
    }

    /// The picture of what comes in: in the answer of a machine that is fed its answers, the feedback.
    fn coming(&self) -> Picture {
        let is_answer = self.now.step >= self.now.recording.episode.source();
        let feeds = is_answer && self.feedback().is_some();
        [Picture::Input, Picture::Feedback][usize::from(feeds)]
    }

    fn feedback(&self) -> Option<&Series<f32>> {
        let series = self.now.trace().series(Place::Machine, array::FEEDBACK)?;
        (series.width() > 0).then_some(series)
    }

    fn is_at(&self, stage: Stage) -> bool {
        self.now.stage().is_some_and(|at| at.stage == stage)
    }

    fn channels(&self, picture: Picture) -> usize {
        match picture {
            Picture::Input => self.now.trace().input.width(),
            _ => self.now.trace().output.width(),
        }
    }

    /// Returns the area of the bits of the step: one below the other, in the middle of the rows.
    fn bits(&self, picture: Picture, area: Area) -> Area {
        let (rows, count) = (self.plan.rows(), self.channels(picture).max(1) as f32);
        let most = (rows.height() - self.size(26.0)) / count;
        let each = most.min(self.size(25.0).max(12.0));
        let wide = each.max(self.size(25.0).max(12.0)).min(area.width());
        let (height, left) = (each * count, area.middle() - 0.5 * wide);
        Area::new(left, rows.centre() - 0.5 * height, wide, height)
    }

    fn is_scored(&self) -> bool {
        self.now.recording.episode.is_scored(self.now.step)
    }

    fn stack(&self, on: &mut Surface<'_>, picture: Picture, area: Area) {
        let colours = self.page.colours;
        let count = self.channels(picture);
        let each = area.height() / count.max(1) as f32;
        let apart = if each >= 8.0 { 1.0 } else { 0.0 };
        on.rect(area, colours.well);
        let shown = picture != Picture::Output || self.is_scored();
        let come = self.now.progress(Stage::Output, None);
        let own = self.seen.facts.scales.of_channels(picture);
        let scale = own.unwrap_or(self.seen.shades[0]);
        for channel in 0..count {
            let value = match picture {
                Picture::Input => self.now.input(channel),
                Picture::Feedback => {
                    let fed_back = self
                        .feedback()
                        .map(|series| series.row(self.now.step)[channel]);
                    fed_back.unwrap_or_default()
                }
                _ => self.now.output(channel),
            };
            let top = area.top + channel as f32 * each;
            let cell = area.down(top, top + each).inset(apart, apart);
            let fill = colours.of(scale, value);
            on.rect(cell, Ink::from(fill).faded(if shown { 1.0 } else { 0.3 }));
            let wrong =
                picture == Picture::Output && self.now.recording.is_wrong(self.now.step, channel);
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
            let step = self.now.step;
            panel.content = Content::Cells(cells.during(step..step + 1));
        }
        panel.across = Across::Values;
        "at this step".clone_into(&mut panel.alt);
        Some(panel.at(area))
    }

    /// Draws the flows from the input to the parts between, and from there to the output.
    fn flows(&self, on: &mut Surface<'_>) {
        let input = self.bits(self.coming(), self.plan.input);
        let output = self.bits(Picture::Output, self.plan.output);
        let controller = self.plan.controller;
        let into = controller.map_or(self.plan.input.right, |controller| controller.left);
        let out = output.across(self.plan.output.left, output.left);
        let arrows = [
            (input.across(input.right, into), Stage::Controller),
            (out, Stage::Output),
        ];
        let apart = self.size(6.0).max(3.0);
        for (way, at) in arrows {
            let (from, to, y) = (way.left + apart, way.right - apart, way.centre());
            if to - from < 6.0 {
                continue;
            }
            let colours = self.page.colours;
            let quiet = mix(colours.line, colours.subdued, 0.5);
            let ink = [quiet, colours.accent][usize::from(self.is_at(at))];
            let tip = self.size(6.0).max(4.0);
            let (back, half) = (to - tip, 0.7 * tip);
            on.line(&[[from, y], [back, y]], ink, 1.6);
            on.shape(&[[to, y], [back, y - half], [back, y + half]], ink);
        }
    }

    /// Paints the controller between the input and the heads.
    fn controller(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let Some(area) = self.plan.controller else {
            return;
        };
        let (colours, rows) = (self.page.colours, self.plan.rows());
        let area = area.down(rows.top, rows.bottom);
        on.rect(area, colours.raised);
        let is_now = self.is_at(Stage::Controller);
        if is_now {
            let come = self.now.progress(Stage::Controller, None);
            // It lights up between the arrival of the input and its own output.
            let works = within(come, [0.25, 0.5]) * (1.0 - within(come, [0.75, 1.0]));
            on.rect(area, Ink::from(colours.accent).faded(0.45 * works));
        }
        self.outline(on, area, is_now.then_some(colours.accent));
        let style = self.letters(12.0, colours.emphasis(is_now)).upwards();
        let word = network(self.now.trace());
        on.text(word, [area.middle(), area.centre()], style);
        let (first, rest) = word.split_at(1);
        let name = first.to_uppercase() + rest;
        places.push(Panel::sign(Slot::Controller, name).at(area));
    }

    /// Draws the verdict on the output of the step.
    fn verdict(&self, on: &mut Surface<'_>) {
        let colours = self.page.colours;
        let bits = self.bits(Picture::Output, self.plan.output);
        let y = bits.bottom + self.size(15.0).max(9.0);
        let room = self.plan.output.width() + self.size(30.0);
        let come = self.now.progress(Stage::Output, None) >= 1.0 && self.now.glide().is_none();
        let wrong = self.now.recording.wrong_bits(self.now.step);
        let count = format!("{wrong} wrong");
        let symbol = self.symbol_out();
        let is_missing = self.now.recording.is_missing(self.now.step);
        let not = if is_missing { "missing" } else { "wrong" };
        let recording = self.now.recording;
        let is_unknown = recording.lacks_target() || !recording.knows("target");
        let words = ["right", not, "right answer not known"];
        let [right, not, unknown] = words.map(|word| format!("{symbol}, {word}"));
        let (texts, ink) = match (self.is_scored(), come, wrong) {
            (true, true, _) if is_unknown => ([&*unknown, &symbol], colours.subdued),
            (true, true, 0) if !symbol.is_empty() => ([&*right, &symbol], colours.text),
            (true, true, _) if !symbol.is_empty() => ([&*not, &symbol], colours.warning),
            (false, ..) => (["not scored", "–"], colours.subdued),
            (true, false, _) => return,
            (true, true, 0) => (["all right", "right"], colours.text),
            (true, true, _) => ([count.as_str(), "wrong"], colours.warning),
        };
        let style = self.letters(12.0, ink).middle();
        fitting(on, &texts, ([self.plan.output.middle(), y], style, room));
    }
}
