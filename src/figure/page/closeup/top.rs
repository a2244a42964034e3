//! The top of the close-up: caption, place in the episode, and the stages of the step in a row.

use std::ops::Range;

use super::CloseUp;
use crate::figure::facts::stages::StageRef;
use crate::figure::scene::annotations::sign;
use crate::figure::scene::fonts::{lines, width_of};
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{Panel, PlacedPanel};
use crate::figure::{Area, HeadName, Ink, Slot, Style};

/// Smallest gap between the names of two stages, in points.
const CLOSEST: f32 = 7.0;
/// What a sign between them needs beside its own width to stand apart from both.
const APART: f32 = 5.0;
/// A stage whose name has no room.
const DOT: &str = "·";

/// Returns the stages around the current one whose names fit into the line, where each of the others takes `dot`.
fn names_with_room(widths: &[f32], place: usize, room: f32, dot: f32) -> Range<usize> {
    let count = widths.len();
    let fits = |named: &Range<usize>| {
        let dots = dot * (count - named.len()) as f32;
        named.end <= count && widths[named.clone()].iter().sum::<f32>() + dots <= room
    };
    let place = place.min(count.saturating_sub(1));
    let mut named = place..place + 1;
    loop {
        let Range { start, end } = named;
        let mut wider = [start.saturating_sub(1)..end, start..(end + 1).min(count)];
        if place - start > end - place {
            wider.reverse();
        }
        let Some(next) = wider.into_iter().find(|next| *next != named && fits(next)) else {
            return named;
        };
        named = next;
    }
}

impl<'a> CloseUp<'a, '_> {
    /// Paints the caption, the place in the episode, and the stages of the step in a row.
    pub(super) fn top(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let top = self.plan.top;
        self.clock(on);
        // Upright the sentence has lines of its own.
        let (mut above, mut least, mut beside) = (0.0, 14.0, self.size(150.0).max(76.0));
        if self.plan.is_upright {
            (above, least, beside) = (20.0, 16.0, 0.0);
        }
        let head = self.plan.panes.first().map(|pane| pane.head);
        let caption = self.now.caption(head);
        let (mut left, y) = (top.left, top.top + above + self.size(17.0).max(10.0));
        if let Some(head) = caption.head {
            let name = HeadName::of(self.now.trace(), head);
            let half = self.size(9.0).max(6.0);
            let ink = self.page.colours.head(name);
            sign(on, [left + half, y], half, name.is_write, ink.into());
            left += 3.2 * half;
        }
        let style = Style::new(24.0, self.page.colours.strong).bold();
        let room = top.right - beside - left;
        let lines_of = |size| lines(&caption.text, &Style { size, ..style }, room);
        let mut size = self.size(24.0).max(least);
        let mut broken = lines_of(size);
        // Where it would be small to be on one line it is on two.
        let small = |size: f32| self.plan.is_upright || size < self.size(17.0);
        while (broken.len() > 2 || (broken.len() == 2 && !small(size))) && size > 9.0 {
            size *= 0.95;
            broken = lines_of(size);
        }
        for (index, line) in broken.iter().enumerate() {
            let y = y + index as f32 * 1.22 * size;
            on.text(line.as_str(), [left, y], Style { size, ..style });
        }
        self.path(on, places);
    }

    /// Step and phase.
    fn clock(&self, on: &mut Surface<'_>) {
        let (colours, top) = (self.page.colours, self.plan.top);
        let moment = self.now;
        let y = top.top + self.size(15.0).max(9.0);
        let style = self.letters(15.0, colours.text).bold();
        let (at, style, below) = if self.plan.is_upright {
            ([top.left, y], style, 0.0)
        } else {
            ([top.right, y], style.end(), self.size(20.0).max(12.0))
        };
        on.text(moment.clock(), at, style);
        if !moment.phase().is_empty() {
            let style = self.letters(13.0, colours.subdued).end();
            on.text(moment.phase(), [top.right, y + below], style);
        }
    }

    /// Draws the stages of the step, and its progress.
    fn path(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let (colours, top) = (self.page.colours, self.plan.top);
        let style = self.letters(12.5, colours.subdued);
        let y = top.bottom - self.size(9.0).max(7.0);
        let names: Vec<_> = self.now.stages.iter().map(StageRef::name).collect();
        let mut widths: Vec<_> = names.iter().map(|name| width_of(name, &style)).collect();
        let gap = self.size(24.0).max(9.0);
        let all = widths.iter().sum::<f32>() + gap * (names.len().saturating_sub(1)) as f32;
        // Those of a machine with many stages stand closer.
        let mut gap = gap - ((all - top.width()) / names.len().max(2) as f32).max(0.0);
        let place = self.now.place;
        let mut texts: Vec<_> = names.iter().map(String::as_str).collect();
        let mut named = 0..names.len();
        if gap < CLOSEST {
            gap = CLOSEST;
            let (room, dot) = (
                top.width() - gap * names.len() as f32,
                width_of(DOT, &style),
            );
            named = names_with_room(&widths, place, room, dot);
            for index in (0..names.len()).filter(|index| !named.contains(index)) {
                (texts[index], widths[index]) = (DOT, dot);
            }
        }
        let mut left = top.left;
        for (index, (text, width)) in texts.into_iter().zip(&widths).enumerate() {
            let is_now = index == place;
            let ink = match index.cmp(&place) {
                std::cmp::Ordering::Less => Ink::from(colours.text),
                std::cmp::Ordering::Equal => colours.accent.into(),
                std::cmp::Ordering::Greater => colours.subdued.into(),
            };
            let style = Style { ink, ..style };
            on.text(text, [left, y], style.bold_if(is_now));
            if is_now {
                let under = y + self.size(10.0).max(6.5);
                let ends = [[left, under], [left + width, under]];
                on.line(&ends, colours.line, 2.0);
                let come = left + width * self.now.through;
                on.line(&[[left, under], [come, under]], colours.accent, 2.0);
            }
            let half = self.size(9.0).max(6.0);
            let area = Area::new(left, y - half, *width, 2.0 * half);
            places
                .push(Panel::sign(Slot::Stage(index), format!("Stage {}", names[index])).at(area));
            left += width;
            let tip = self.size(3.0).max(1.8);
            let has_room = gap >= 2.0 * tip + APART;
            if has_room && [index, index + 1].iter().all(|index| named.contains(index)) {
                let x = left + 0.5 * gap;
                let points = [[x - tip, y - tip], [x, y], [x - tip, y + tip]];
                on.line(&points, colours.line, 1.4);
            }
            left += gap;
        }
    }
}
