//! Row numbers, and where the heads are.

use super::{CloseUp, Pane};
use crate::figure::facts::episode::head_mark;
use crate::figure::scene::annotations::sign;
use crate::figure::scene::fonts::width_of;
use crate::figure::scene::paint::{Draw, Paint};
use crate::figure::scene::panel::{Panel, PlacedPanel};
use crate::figure::{Area, HeadName, Ink, Slot, Style};

impl<'a> CloseUp<'a, '_> {
    /// The numbers of the rows, between the weightings and the memory; the head at its row.
    pub(super) fn spine(
        &self,
        on: &mut dyn Paint,
        of: &Pane<'a, '_>,
        places: &mut Vec<PlacedPanel<'a>>,
    ) {
        let (colours, area) = (self.page.colours, of.area.spine);
        let size = self.size(12.0).max(self.plan.letters);
        for slot in of.view.slots() {
            let looked_at = self.now.attention(of.head, slot.row).clamp(0.0, 1.0);
            let ink = crate::figure::mix(colours.subdued, colours.strong, looked_at);
            let style = Style::new(size, Ink::from(ink).faded(slot.seen())).mono();
            let style = if looked_at > 0.5 { style.bold() } else { style };
            let y = slot.whole.center();
            if slot.seen() > 0.6 {
                on.text(
                    slot.row.to_string(),
                    [area.right - self.size(7.0).max(3.0), y],
                    style.end(),
                );
            }
            // A line to the memory, as strong as the weight.
            if looked_at > 0.03 {
                let ink = Ink::from(of.hue).faded(0.16 + 0.6 * looked_at);
                let line = [
                    [area.left + 1.0, y],
                    [area.right - self.size(30.0).max(18.0), y],
                ];
                on.line(&line, ink, 1.0 + 2.0 * looked_at);
            }
        }
        self.end_of_memory(on, of);
        self.signs(on, of, places);
    }

    /// Draws the boundary where row 0 follows the last row.
    fn end_of_memory(&self, on: &mut dyn Paint, of: &Pane<'a, '_>) {
        if of.view.is_whole() {
            return;
        }
        let colours = self.page.colours;
        for slot in of
            .view
            .slots()
            .filter(|slot| slot.row == 0 && slot.whole.min > of.area.memory.top)
        {
            let y = slot.whole.min;
            let line = [[of.area.columns.left, y], [of.area.memory.right, y]];
            on.dashed(&line, colours.subdued, 1.2, &[6.0, 4.0]);
        }
    }

    /// Paints the signs of all heads at their rows, right of the memory. The sign of this head moves with its weight; the
    /// others do not overlap it or each other.
    fn signs(&self, on: &mut dyn Paint, of: &Pane<'a, '_>, places: &mut Vec<PlacedPanel<'a>>) {
        let (colours, right) = (self.page.colours, of.area.memory.right);
        let axis = of.view.axis();
        let own = self.middle(of);
        let heads = 0..self.trace().heads.len();
        let mark = |head| head_mark(self.trace(), self.seen.stages, self.seen.moment, head);
        let others = heads.filter(|&head| head != of.area.head);
        let placed = others.filter_map(|head| {
            let mark = mark(head)?;
            Some((axis.place_of(mark.row)?.center(), head, mark))
        });
        let mut placed: Vec<_> = placed.collect();
        placed.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        let pitch = self.size(13.0).max(10.0);
        let mut free = f32::NEG_INFINITY;
        for (y, head, mark) in placed {
            let y = y.max(free);
            let y = own
                .filter(|own| (y - own).abs() < pitch)
                .map_or(y, |own| own + pitch);
            free = y + pitch;
            let ink =
                Ink::from(colours.head(mark.name)).faded(0.25 + 0.5 * mark.weight.clamp(0.0, 1.0));
            places.push(self.sign(on, [right, y], (of, head), (ink, false)));
        }
        if let Some(y) = own {
            let own = (of, of.area.head);
            places.push(self.sign(on, [right, y], own, (of.hue.into(), true)));
        }
    }

    /// Returns the centre of this head's weight, if it is on visible rows.
    fn middle(&self, of: &Pane<'a, '_>) -> Option<f32> {
        let rows = of.view.slots().filter(|slot| slot.seen() > 0.4);
        let weight = rows.map(|slot| (self.now.attention(of.head, slot.row), slot));
        let weight: Vec<_> = weight.filter(|(weight, _)| *weight >= 0.15).collect();
        let total: f32 = weight.iter().map(|(weight, _)| weight).sum();
        let moment: f32 = weight
            .iter()
            .map(|(weight, slot)| weight * slot.whole.center())
            .sum();
        (total >= 0.35).then(|| moment / total)
    }

    fn sign(
        &self,
        on: &mut dyn Paint,
        [x, y]: [f32; 2],
        (of, head): (&Pane<'a, '_>, usize),
        (ink, bold): (Ink, bool),
    ) -> PlacedPanel<'a> {
        let name = HeadName::of(self.trace(), head);
        let half = self.size(5.0).max(3.5);
        let x = x + self.size(11.0).max(7.0);
        sign(on, [x, y], half, name.is_write, ink);
        let style = self.letters(11.0, ink);
        let style = if bold { style.bold() } else { style };
        let left = x + half + self.size(4.0).max(2.0);
        on.text(name.to_string(), [left, y], style);
        let right = left + width_of(&name.to_string(), &style);
        let area = Area::new(x - half, y - style.size / 2.0, right - x + half, style.size);
        // Each of two memories has the signs of all heads.
        let pane = of.area.head;
        Panel::sign(Slot::Head { head, pane }, format!("Mark of {name}")).at(area)
    }
}
