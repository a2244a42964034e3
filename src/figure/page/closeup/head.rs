//! Row numbers, and where the heads are.

use super::Pane;
use super::view::Slot as Row;
use crate::figure::scene::annotations::sign;
use crate::figure::scene::fonts::width_of;
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{Panel, PlacedPanel};
use crate::figure::{Area, HeadName, Ink, Slot, Style};
use crate::model::sam::row_number;

/// The number of heads whose signs are always shown.
const FEW: usize = 8;

impl<'a> Pane<'a, '_> {
    /// The numbers of the rows, between the weightings and the memory; the head at its row.
    pub(super) fn row_labels(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let (colours, area) = (self.page.colours, self.area.row_labels);
        let size = self.size(12.0).max(self.plan.letters);
        for slot in self.view.slots() {
            let looked_at = self.now.attention(self.head, slot.row).clamp(0.0, 1.0);
            let ink = crate::figure::mix(colours.subdued, colours.strong, looked_at);
            let style = Style::new(size, Ink::from(ink).faded(slot.seen())).mono();
            let style = style.bold_if(looked_at > 0.5);
            let y = slot.whole.center();
            if slot.seen() > 0.6 {
                let at = [area.right - self.size(7.0).max(3.0), y];
                let number = row_number(self.now.trace(), slot.row);
                on.text(number.to_string(), at, style.end());
            }
            // A line to the memory, as strong as the weight.
            if looked_at > 0.03 {
                let ink = Ink::from(self.hue).faded(0.16 + 0.6 * looked_at);
                let right = area.right - self.size(30.0).max(18.0);
                let line = [[area.left + 1.0, y], [right, y]];
                on.line(&line, ink, 1.0 + 2.0 * looked_at);
            }
        }
        self.end_of_memory(on);
        self.signs(on, places);
    }

    /// Draws the boundary where row 0 follows the last row.
    fn end_of_memory(&self, on: &mut Surface<'_>) {
        let first = self.view.slots().filter(|slot| slot.row == 0);
        for y in first.map(|slot| slot.whole.min) {
            if y > self.area.memory.top && !self.view.is_whole() {
                let line = [[self.area.columns.left, y], [self.area.memory.right, y]];
                on.dashed(&line, self.page.colours.subdued, 1.2, &[6.0, 4.0]);
            }
        }
    }

    /// Paints the signs of all heads at their rows, right of the memory. The signs of this head move with its weight; the
    /// others do not overlap them or each other.
    fn signs(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let (colours, right) = (self.page.colours, self.area.memory.right);
        let axis = self.view.axis();
        let own = self.peaks();
        let heads = 0..self.now.trace().heads.len();
        let mark = |head| self.now.head_mark(head);
        let others = heads.filter(|&head| head != self.area.head);
        let placed = others.filter_map(|head| {
            let mark = mark(head)?;
            Some((axis.place_of(mark.row)?.center(), head, mark))
        });
        let mut placed: Vec<_> = placed.collect();
        let pitch = self.size(13.0).max(10.0);
        // Of very many heads those with the heaviest rows, down to the end of the memory.
        let area = self.area.memory;
        placed.sort_by(|(.., a), (.., b)| b.weight.total_cmp(&a.weight));
        placed.truncate(((area.height() / pitch) as usize).max(FEW));
        placed.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        let (count, mut free) = (placed.len(), f32::NEG_INFINITY);
        for (index, (y, head, mark)) in placed.into_iter().enumerate() {
            let below = (count - index) as f32 * pitch;
            let last = if count > FEW {
                area.bottom - below
            } else {
                f32::MAX
            };
            let y = y.min(last).max(free);
            let near = own.iter().find(|(own, _)| (y - own).abs() < pitch);
            let y = near.map_or(y, |(own, _)| own + pitch);
            free = y + pitch;
            let strength = 0.25 + 0.5 * mark.weight.clamp(0.0, 1.0);
            let ink = Ink::from(colours.head(mark.name)).faded(strength);
            places.push(self.sign(on, [right, y], head, ink));
        }
        let ink = |weight: f32| Ink::from(self.hue).faded((2.0 * weight).clamp(0.5, 1.0));
        let own = own.into_iter();
        let signs = own.map(|(y, weight)| self.sign(on, [right, y], self.area.head, ink(weight)));
        // One of them is in the place of the head.
        places.extend(signs.collect::<Vec<_>>().into_iter().next());
    }

    /// Returns the groups of neighbouring rows in view with the weight of this head: their centres and weights, the
    /// heaviest first; none while little weight is on them.
    fn peaks(&self) -> Vec<(f32, f32)> {
        let slots: Vec<_> = self.view.slots().filter(|slot| slot.seen() > 0.4).collect();
        let weight = |slot: &Row| self.now.attention(self.head, slot.row);
        let is_peak = |slot: &Row| weight(slot) >= 0.15;
        let runs = slots.chunk_by(|a, b| is_peak(a) == is_peak(b));
        let peaks = runs.filter(|run| is_peak(&run[0])).map(|run| {
            let total: f32 = run.iter().map(weight).sum();
            let moments = run.iter().map(|slot| weight(slot) * slot.whole.center());
            (moments.sum::<f32>() / total, total)
        });
        let mut peaks: Vec<_> = peaks.collect();
        peaks.sort_by(|a, b| b.1.total_cmp(&a.1));
        let all: f32 = peaks.iter().map(|(_, total)| total).sum();
        peaks.retain(|_| all >= 0.35);
        peaks
    }

    fn sign(&self, on: &mut Surface<'_>, at: [f32; 2], head: usize, ink: Ink) -> PlacedPanel<'a> {
        let name = HeadName::of(self.now.trace(), head);
        let half = self.size(5.0).max(3.5);
        let [x, y] = [at[0] + self.size(11.0).max(7.0), at[1]];
        sign(on, [x, y], half, name.is_write, ink);
        // Each of two memories has the signs of all heads.
        let pane = self.area.head;
        let quiet = Ink::from(self.page.colours.subdued);
        let style = self.letters(11.0, if head == pane { ink } else { quiet });
        let style = style.bold_if(head == pane);
        let left = x + half + self.size(4.0).max(2.0);
        on.text(name.to_string(), [left, y], style);
        let right = left + width_of(&name.to_string(), &style);
        let area = Area::new(x - half, y - style.size / 2.0, right - x + half, style.size);
        Panel::sign(Slot::Head { head, pane }, format!("Mark of {name}")).at(area)
    }
}
