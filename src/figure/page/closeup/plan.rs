//! Layout of a close-up.

use crate::figure::facts::family::columns_of;
use crate::figure::scene::catalogue::beside_memory;
use crate::figure::{Area, PanelId};
use crate::model::{HeadTrace, Trace};

/// The smallest close-up.
pub(super) const LEAST: (f32, f32) = (560.0, 360.0);
/// The size for which lengths are given here.
const USUAL: [f32; 2] = [1200.0, 630.0];
/// Two heads have room side by side where a column of their addressing is at least this wide.
const TWO: f32 = 32.0;
/// The width from which the controller is shown between input and heads.
const WIDE: f32 = 900.0;
/// Height of a row.
const ROW: f32 = 28.0;
/// Scale, relative to the usual size, below which the labels over the columns take more space.
const SMALL: f32 = 0.7;
/// Height of a row on an upright page, as on a phone, where larger ones fit.
const UPRIGHT_ROW: f32 = 22.0;
/// The smallest letters, and those of an upright page: that is held near, and has little room.
const LETTERS: [f32; 2] = [9.0, 10.0];
/// Least width of the room for the source left of the columns.
const BESIDE: f32 = 56.0;
/// Least width of a memory that gives room to what stands beside it.
const BESIDE_MEMORY: f32 = 180.0;
/// Greatest height of a row where some have no room, and where all have.
const TALLEST: [f32; 2] = [34.0, 110.0];

/// The parts of a page.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Scale of the whole picture, relative to the usual size.
    pub(super) scale: f32,
    /// True for a page that is higher than wide.
    pub(super) is_upright: bool,
    /// The smallest letters.
    pub(super) letters: f32,
    /// Sentence, step, and the stages in a row.
    pub(super) top: Area,
    /// The input.
    pub(super) input: Area,
    /// The controller, if there is room.
    pub(super) controller: Option<Area>,
    /// The output.
    pub(super) output: Area,
    /// All between them.
    pub(super) middle: Area,
    /// The heads.
    pub(super) panes: Vec<PaneArea>,
    /// The whole episode.
    pub(super) episode: Area,
}

/// Areas in which a head is shown.
#[derive(Clone, Debug)]
pub(super) struct PaneArea {
    /// The head, by its index among all.
    pub(super) head: usize,
    /// The columns of its addressing, at the rows.
    pub(super) columns: Area,
    /// Free room left of them, at the rows.
    pub(super) before: Option<Area>,
    /// Row numbers and the sign of the head.
    pub(super) row_labels: Area,
    /// The memory at the rows.
    pub(super) memory: Area,
    /// The order of writing and the usage of the rows left of it, where the machine has them and there is room.
    pub(super) links_and_usage: [Option<(PanelId, Area)>; 2],
    /// Number of rows that fit, perhaps all.
    pub(super) rows: usize,
    /// The key, above the memory.
    pub(super) key: Option<Area>,
    /// The read vector, or the erase and add vectors, below the memory.
    pub(super) vectors: Vec<Area>,
}

impl Plan {
    /// Creates the layout in this part of a page, with these heads.
    pub(super) fn new(area: Area, trace: &Trace, heads: &[usize]) -> Self {
        let [width, height] = [area.width() / USUAL[0], area.height() / USUAL[1]];
        let scale = width.min(height).clamp(0.45, 1.6);
        let of = |length: f32| length * scale;
        let is_upright = area.height() > area.width();
        let margin = of(26.0).max(10.0);
        let [sentence, strip] = [[46.0, 36.0], [84.0, 54.0]][usize::from(is_upright)];
        let inner = area.across(area.left + margin, area.right - margin);
        let inner = inner.down(area.top + of(20.0), area.bottom - of(18.0));
        let top = inner.down(inner.top, inner.top + of(70.0).max(sentence));
        let episode = inner.down(inner.bottom - of(56.0).max(strip), inner.bottom);
        let middle = inner.down(top.bottom + of(10.0), episode.top - of(14.0));
        let heads = &heads[..heads.len().min(2)];
        let side = of(if heads.len() > 1 { 72.0 } else { 86.0 }).max(44.0);
        let input = middle.across(inner.left, inner.left + side);
        let output = middle.across(inner.right - side, inner.right);
        let wide = area.width() >= WIDE && !heads.is_empty();
        let controller = middle.across(input.right - of(4.0), input.right + of(20.0));
        let controller = wide.then_some(controller);
        let left = controller.map_or(input.right, |controller| controller.right);
        let between = middle.across(left + of(14.0), output.left - of(14.0));
        let panes = |heads: &[usize]| {
            let gap = of(30.0);
            let each = (between.width() + gap) / heads.len().max(1) as f32 - gap;
            let vectors = heads.iter().map(|&head| vectors(&trace.heads[head]));
            // The meaning of what stands beside the memory needs as much room below the columns.
            let words = beside_memory(trace).iter().flatten().count();
            let vectors = vectors.max().unwrap_or(0).max(words);
            let panes = heads.iter().enumerate().map(|(index, &head)| {
                let left = between.left + index as f32 * (each + gap);
                let whole = between.across(left, left + each);
                let least = if is_upright { UPRIGHT_ROW } else { 19.0 };
                PaneArea::new(whole, (scale, least), trace, (head, vectors))
            });
            panes.collect::<Vec<_>>()
        };
        let mut all = panes(heads);
        if all.iter().any(|pane| pane.column(trace) < TWO) {
            all = panes(&heads[..heads.len().min(1)]);
        }
        Self {
            scale,
            is_upright,
            letters: LETTERS[usize::from(is_upright)],
            top,
            input,
            controller,
            output,
            middle: between,
            panes: all,
            episode,
        }
    }

    /// Returns the area of the rows.
    pub(super) fn rows(&self) -> Area {
        let (all, scale) = (self.middle, self.scale);
        match self.panes.first() {
            Some(pane) => all.down(pane.memory.top, pane.memory.bottom),
            None => all.down(
                all.top + (56.0 * scale).max(40.0),
                all.bottom - 24.0 * scale,
            ),
        }
    }
}

impl PaneArea {
    /// Places a head in its part of the page; all panes reserve space for the same number of vectors below the memory.
    fn new(
        whole: Area,
        (scale, least): (f32, f32),
        trace: &Trace,
        (head, most): (usize, usize),
    ) -> Self {
        let of = |length: f32| length * scale;
        let heads = of(34.0).max(24.0);
        let [total, wide] = trace.memory_size();
        let is_there = &trace.heads[head];
        let strip = of(19.0).max(10.0);
        let top = whole.top + of(58.0).max(40.0);
        let below = most as f32 * (strip + of(6.0)) + of(6.0);
        let free = whole.bottom - below - top;
        let row = (ROW * scale).clamp(least, TALLEST[0]);
        let rows = ((free / row).floor() as usize).max(3);
        let rows = rows.min(total.max(1));
        let tallest = TALLEST[usize::from(rows == total)];
        let height = (free / rows as f32).min(tallest * scale.max(1.0));
        let bottom = top + height * rows as f32;
        // Beside another head there is less room, and words need some of it.
        let alone = whole.width() > of(640.0);
        let (label_width, share) = match alone {
            false => (of(46.0).max(30.0), 0.3),
            true if scale < SMALL => (of(66.0).max(32.0), 0.36),
            true => (of(66.0).max(32.0), 0.42),
        };
        let memory = (whole.width() * share).min(wide as f32 * of(30.0));
        let right = whole.right - heads;
        let memory = whole.across(right - memory, right).down(top, bottom);
        let numbers = memory.across(memory.left - label_width, memory.left);
        let columns = whole.across(whole.left, numbers.left);
        let mut left = memory.left;
        let widths = [of(30.0), of(18.0)];
        let pictures = beside_memory(trace).into_iter().zip(widths);
        let links_and_usage = pictures.map(|(id, width)| {
            let id = id.filter(|_| memory.width() >= of(BESIDE_MEMORY))?;
            let area = memory.across(left, left + width);
            left = area.right + of(4.0);
            Some((id, area))
        });
        let links_and_usage: Vec<_> = links_and_usage.collect();
        let memory = memory.across(left, memory.right);
        // A few columns need not fill a wide page.
        let count = columns_of(is_there).count().max(1) as f32;
        let most = count * of(128.0);
        let left = columns.left.max(columns.right - most);
        let strips = (0..vectors(is_there)).map(|index| {
            let top = bottom + of(8.0) + index as f32 * (strip + of(6.0));
            memory.down(top, top + strip)
        });
        let before = whole.across(whole.left + of(40.0).max(28.0), left - of(24.0).max(12.0));
        let before = before.down(top, bottom);
        let key = memory.down(top - of(8.0) - strip, top - of(8.0));
        Self {
            head,
            before: Some(before).filter(|area| area.width() >= BESIDE),
            columns: columns.across(left, columns.right).down(top, bottom),
            row_labels: numbers,
            rows,
            links_and_usage: [links_and_usage[0], links_and_usage[1]],
            key: (is_there.key.width() > 0).then_some(key),
            vectors: strips.collect(),
            memory,
        }
    }

    /// Width of a column of the addressing, including the gap before it.
    fn column(&self, trace: &Trace) -> f32 {
        let count = columns_of(&trace.heads[self.head]).count().max(1);
        self.columns.width() / count as f32
    }
}

/// Returns the number of vectors of a head: the read vector, or the erase and add vectors.
fn vectors(head: &HeadTrace) -> usize {
    let widths = [head.read.width(), head.erase.width(), head.add.width()];
    widths.into_iter().filter(|width| *width > 0).count()
}
