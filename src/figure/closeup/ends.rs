//! What comes in and what comes out, what happens now in a sentence, and the whole episode.

use super::super::facts::wrong_bits;
use super::super::marks::sign;
use super::super::paint::{Draw, Paint};
use super::super::panel::{Across, Content, Place};
use super::super::stages::{Moment, Stage};
use super::super::{Area, HeadName, Ink, Mark, PanelId, Picture, Style};
use super::memory::edge;
use super::{CloseUp, fitting, words};

impl<'a> CloseUp<'a, '_> {
    /// The input of the step and its output.
    pub(super) fn ends(&self, on: &mut dyn Paint, places: &mut Vec<Place<'a>>) {
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
        self.verdict(on);
    }

    fn channels(&self, picture: Picture) -> usize {
        match picture {
            Picture::Input => self.trace().input.width(),
            _ => self.trace().output.width(),
        }
    }

    /// Where the bits of the step stand: one below the other, in the middle of the rows.
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

    fn is_asked(&self) -> bool {
        let mask = self.seen.recording.episode.mask.get(self.step());
        mask.is_some_and(|&mask| mask > 0.0)
    }

    fn stack(&self, on: &mut dyn Paint, picture: Picture, area: Area) {
        let colours = self.page.colours;
        let count = self.channels(picture);
        let each = area.height() / count.max(1) as f32;
        let apart = if each >= 8.0 { 1.0 } else { 0.0 };
        on.rect(area, colours.well);
        let shown = picture == Picture::Input || self.is_asked();
        let come = self.now.come(Stage::Output, None);
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
            let fill = colours.of(self.seen.shades[0], value);
            on.rect(cell, Ink::from(fill).faded(if shown { 1.0 } else { 0.3 }));
            let wrong =
                picture == Picture::Output && self.seen.recording.is_wrong(self.step(), channel);
            if wrong && self.is_asked() && come >= 1.0 {
                edge(on, cell, colours.warning.into(), 2.0);
            }
        }
    }

    /// What is to be pointed at.
    fn end_place(&self, picture: Picture, area: Area) -> Option<Place<'a>> {
        let mut panel = self.seen.panel(PanelId::new(picture))?;
        if let Content::Cells(cells) = panel.content {
            let step = self.step();
            panel.content = Content::Cells(cells.during(step..step + 1));
        }
        panel.across = Across::Values;
        "at this step".clone_into(&mut panel.alt);
        Some(panel.at(area))
    }

    /// From the input to what is between, and from there to the output.
    fn flows(&self, on: &mut dyn Paint) {
        let stage = self.stage().map(|at| at.stage);
        let [input, output] = [
            self.bits(Picture::Input, self.plan.input),
            self.bits(Picture::Output, self.plan.output),
        ];
        let arrows = [
            (
                [input.right, self.plan.input.right],
                input.centre(),
                Stage::Controller,
            ),
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
                colours.line
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

    /// How right the answer of the step is.
    fn verdict(&self, on: &mut dyn Paint) {
        let colours = self.page.colours;
        let bits = self.bits(Picture::Output, self.plan.output);
        let y = bits.bottom + self.size(15.0).max(9.0);
        let room = self.plan.output.width() + self.size(30.0);
        let come = self.now.come(Stage::Output, None) >= 1.0 && self.now.glide().is_none();
        let wrong = wrong_bits(self.seen.recording, self.step()..self.step() + 1, 1.0).len();
        let (texts, ink): ([String; 2], _) = match (self.is_asked(), come, wrong) {
            (false, ..) => (
                ["no answer yet".to_owned(), "–".to_owned()],
                colours.subdued,
            ),
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

    /// What happens now, where in the episode, and the stages of the step in a row.
    pub(super) fn top(&self, on: &mut dyn Paint) {
        let top = self.plan.top;
        self.clock(on);
        let room = top.width() - self.size(150.0).max(76.0);
        let told = words::sentence(&self.seen, self.plan.panes.first().map(|pane| pane.head));
        let left = match told.head {
            Some(head) => {
                let name = HeadName::of(self.trace(), head);
                let half = self.size(9.0).max(6.0);
                let at = [top.left + half, top.top + self.size(17.0).max(10.0)];
                sign(on, at, half, name.is_write, self.page.colours.head(name));
                3.2 * half
            }
            None => 0.0,
        };
        let room = room - left;
        let mut size = self.size(24.0).max(14.0);
        let mut lines = wrapped(on, &told.text, size, room);
        while lines.len() > 1 && size > 9.0 {
            size *= 0.95;
            lines = wrapped(on, &told.text, size, room);
            // Where it would be small to be on one line it is on two.
            if lines.len() == 2 && size < self.size(17.0) {
                break;
            }
        }
        for (index, line) in lines.iter().enumerate() {
            let y = top.top + self.size(17.0).max(10.0) + index as f32 * 1.22 * size;
            on.text(
                line.as_str(),
                [top.left + left, y],
                Style::new(size, self.page.colours.strong).bold(),
            );
        }
        self.path(on);
    }

    /// Step and phase.
    fn clock(&self, on: &mut dyn Paint) {
        let (colours, top) = (self.page.colours, self.plan.top);
        let step = format!("step {} of {}", self.step() + 1, self.trace().steps());
        let y = top.top + self.size(15.0).max(9.0);
        on.text(
            step,
            [top.right, y],
            self.letters(15.0, colours.text).bold().end(),
        );
        let phases = self.seen.recording.episode.phases.iter();
        let mut here = phases.filter(|phase| (phase.start..phase.end).contains(&self.step()));
        if let Some(phase) = here.next() {
            let y = y + self.size(20.0).max(12.0);
            on.text(
                phase.name.clone(),
                [top.right, y],
                self.letters(13.0, colours.subdued).end(),
            );
        }
    }

    /// The stages of the step, and how far it has come.
    fn path(&self, on: &mut dyn Paint) {
        let (colours, top) = (self.page.colours, self.plan.top);
        let style = self.letters(12.5, colours.subdued);
        let y = top.bottom - self.size(9.0).max(7.0);
        let names: Vec<_> = self.seen.stages.iter().map(Moment::name).collect();
        let widths: Vec<_> = names
            .iter()
            .map(|name| on.width_of(name, style.size))
            .collect();
        let gap = self.size(24.0).max(9.0);
        let all = widths.iter().sum::<f32>() + gap * (names.len().saturating_sub(1)) as f32;
        // Those of a machine with many stages stand closer.
        let gap = gap - ((all - top.width()) / names.len().max(2) as f32).max(0.0);
        let place = self.seen.moment.1;
        let mut left = top.left;
        for (index, (name, width)) in names.iter().zip(&widths).enumerate() {
            let is_now = index == place;
            let ink = match index.cmp(&place) {
                std::cmp::Ordering::Less => Ink::from(colours.text),
                std::cmp::Ordering::Equal => colours.accent.into(),
                std::cmp::Ordering::Greater => Ink::from(colours.subdued).faded(0.6),
            };
            let style = Style { ink, ..style };
            on.text(
                name.as_str(),
                [left, y],
                if is_now { style.bold() } else { style },
            );
            if is_now {
                let under = y + self.size(10.0).max(6.5);
                let ends = [[left, under], [left + width, under]];
                on.line(&ends, colours.line, 2.0);
                let come = left + width * self.seen.through.clamp(0.0, 1.0);
                on.line(&[[left, under], [come, under]], colours.accent, 2.0);
            }
            left += width;
            if index + 1 < names.len() && gap >= 6.0 {
                let middle = left + 0.5 * gap;
                let tip = self.size(3.0).max(1.8);
                let points = [
                    [middle - tip, y - tip],
                    [middle, y],
                    [middle - tip, y + tip],
                ];
                on.line(&points, colours.line, 1.4);
            }
            left += gap;
        }
    }

    /// All steps of the episode: what comes in above, what has come out below, and where it is.
    pub(super) fn episode(&self, on: &mut dyn Paint, places: &mut Vec<Place<'a>>) {
        let (colours, all) = (self.page.colours, self.plan.episode);
        let steps = self.trace().steps();
        let strip = all.down(all.top + self.size(17.0).max(12.0), all.bottom);
        let each = strip.width() / steps as f32;
        let parts = [
            (Picture::Input, strip.down(strip.top, strip.centre() - 1.0)),
            (
                Picture::Output,
                strip.down(strip.centre() + 1.0, strip.bottom),
            ),
        ];
        for (picture, area) in parts {
            let Some(mut panel) = self.seen.panel(PanelId::new(picture)) else {
                continue;
            };
            on.rect(area, colours.well);
            if let Content::Cells(cells) = &mut panel.content {
                let rows: Vec<usize> = (0..cells.rows).collect();
                let pixels = |side: f32| (side * self.page.density).ceil().max(1.0) as usize;
                let most = [pixels(area.width()), pixels(area.height())];
                let image = cells.image(&rows, most, colours);
                on.mark(Mark::Image { area, image });
            }
            // What has not happened is not shown.
            let out = self.now.come(Stage::Output, None) >= 1.0;
            let (first, veil) = match picture {
                Picture::Input => (self.step() + 1, 0.6),
                _ => (self.step() + usize::from(out), 1.0),
            };
            let left = strip.left + first as f32 * each;
            if left < strip.right {
                on.rect(
                    area.across(left, strip.right),
                    Ink::from(colours.well).faded(veil),
                );
            }
            on.frame(area, colours.line);
            places.push(panel.at(area));
        }
        self.phases(on, strip, each);
        let left = strip.left + self.step() as f32 * each;
        let here = strip.across(left, left + each.max(1.5));
        on.rect(here, Ink::from(colours.accent).faded(0.22));
        edge(
            on,
            here.down(here.top - 2.0, here.bottom + 2.0),
            colours.accent.into(),
            1.6,
        );
    }

    fn phases(&self, on: &mut dyn Paint, strip: Area, each: f32) {
        let colours = self.page.colours;
        let style = self.letters(11.0, colours.subdued);
        let mut free = f32::NEG_INFINITY;
        for phase in &self.seen.recording.episode.phases {
            let left = strip.left + phase.start as f32 * each;
            let y = strip.top - self.size(9.0).max(6.5);
            let here = (phase.start..phase.end).contains(&self.step());
            if phase.start > 0 {
                let line = [[left, strip.top - 3.0], [left, strip.bottom + 3.0]];
                on.line(&line, colours.subdued, 1.0);
            }
            let width = on.width_of(&phase.name, style.size);
            if left >= free && left + width <= strip.right {
                let ink = if here { colours.text } else { colours.subdued };
                let style = Style {
                    ink: ink.into(),
                    ..style
                };
                on.text(phase.name.clone(), [left, y], style);
                free = left + width + 6.0;
            }
        }
    }
}

/// A text in lines no longer than there is room.
fn wrapped(on: &mut dyn Paint, text: &str, size: f32, room: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if on.width_of(&format!("{line} {word}"), size * 1.04) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
