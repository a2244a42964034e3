//! The close-up: one head, or two, at a few rows of the memory.

use super::layout::Band;
use super::panel::Panel;

/// The height of a row.
const ROW: f32 = 28.0;

/// The addressing of a head and the memory, on rows that can be read from afar.
pub(super) fn bands<'a>(stages: Vec<Panel<'a>>, memory: Vec<Panel<'a>>) -> Vec<Band<'a>> {
    let tall = |mut panel: Panel<'a>| {
        panel.natural = panel.down.rows.shown() as f32 * ROW;
        panel
    };
    let stack = |panels: Vec<Panel<'a>>| panels.into_iter().map(tall).collect::<Vec<_>>();
    vec![Band {
        stacks: vec![(0.6, stack(stages)), (0.4, stack(memory))],
        axis: false,
    }]
}
