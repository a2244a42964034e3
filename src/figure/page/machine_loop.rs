//! The loop of a machine in one step: controller, heads, memory, reads, and back to the controller.

use crate::figure::facts::episode::Scales;
use crate::figure::facts::rows::{Rows, Span};
use crate::figure::page::debug::WITHOUT_GAPS;
use crate::figure::scene::{cells::Cells, paint::Draw};
use crate::figure::{Area, At, HeadName, PanelId, Picture, Scale, Style, Surface, mix};
use crate::model::Trace;

/// Height of the picture.
pub const HEIGHT: f32 = 160.0;
/// Symbol and arrays of each part, and their position: a share of the width, and a height.
#[rustfmt::skip] // Several in a line.
const WORDS: [(&str, &str, [f32; 2]); 8] = [
    ("input x", "input", [0.042, 8.0]), ("controller h", "controller.hidden", [0.195, 8.0]), ("weights w", "", [0.435, 8.0]),
    ("memory M", "memory, rows 0 to 15", [0.715, 8.0]), ("output y", "output", [0.957, 8.0]),
    ("k, β, g, s, γ", "key … sharpening", [0.308, 50.0]), ("e, a", "erase, add", [0.308, 84.0]),
    ("reads r, seen in the next step", "", [0.395, 126.0]),
];
/// Lines that end in an arrow.
#[rustfmt::skip] // Several in a line.
const ARROWS: [&[[f32; 2]]; 6] = [
    &[[0.065, 73.0], [0.14, 73.0]], &[[0.25, 73.0], [0.365, 73.0]], &[[0.505, 73.0], [0.57, 73.0]],
    &[[0.57, 135.0], [0.215, 135.0], [0.215, 119.0]], &[[0.86, 135.0], [0.952, 135.0], [0.952, 119.0]],
    &[[0.175, 117.0], [0.175, 155.0], [0.963, 155.0], [0.963, 119.0]],
];

/// Draws a step of a Neural Turing Machine with up to three heads: its values, their symbols, the names of their arrays.
pub fn machine_loop(on: &mut Surface<'_>, trace: &Trace, scales: &Scales, step: usize, area: Area) {
    let (colours, id, wide) = (on.page.colours, PanelId::new, trace.memory_size()[1]);
    let at = |[x, y]: [f32; 2]| [area.left + x * area.width(), area.top + y];
    let tall = |left, right| [[left, 32.0], [right, 114.0]];
    let input = (trace.input.row(step), scales.input.unwrap_or(Scale::Bits));
    let hidden = (trace.layers[0].hidden.row(step), Scale::Signed(1.0));
    let memory = (trace.memory_columns.row(step), scales.memory);
    let output = (trace.output.row(step), Scale::Bits);
    let square = hidden.0.len().isqrt();
    let mut parts = vec![
        (id(Picture::Input), tall(0.03, 0.054), 1, input),
        (id(Picture::Hidden), tall(0.15, 0.24), square, hidden),
        (id(Picture::Memory), tall(0.58, 0.85), wide, memory),
        (id(Picture::Output), tall(0.945, 0.969), 1, output),
    ];
    for (index, head) in trace.heads.iter().enumerate() {
        let (name, x) = (HeadName::of(trace, index), 0.375 + 0.04 * index as f32);
        let style = Style::new(10.0, colours.head(name)).mono().middle();
        on.text(trace.head_name(index), at([x + 0.02, 22.0]), style);
        let (id, place) = (PanelId::of, tall(x, x + 0.04));
        let scale = Scale::weighting(false).of_head(name);
        let weights = (head.weighting.row(step), scale);
        parts.push((id(Picture::Weightings, index), place, 1, weights));
        if !name.is_write {
            let (y, read) = (127.0 + 8.0 * index as f32, head.read.row(step));
            let (place, read) = ([[0.58, y], [0.85, y + 8.0]], (read, scales.memory));
            parts.push((id(Picture::Reads, index), place, wide, read));
        }
    }
    for (id, corners, across, (values, scale)) in parts {
        let [[left, top], [right, bottom]] = corners.map(at);
        let area = &area.across(left, right).down(top, bottom);
        let (down, is_memory) = (values.len() / across, id.picture == Picture::Memory);
        // A memory is recorded column after column.
        let [by_column, by_row] = [[1, across], [down, 1]][usize::from(is_memory)];
        let value = |column: usize, row: usize| values[column * by_column + row * by_row];
        let mut cells = Cells::new([across, down], scale, value);
        cells.version = (step, 0);
        let rows = Rows::of([0..down.min(16)], down);
        let axis = &rows.place(Span::new(top, bottom), WITHOUT_GAPS);
        on.paint.cells(&cells, At { id, area, axis }, on.page, 1.0);
        on.frame(*area, colours.line);
    }
    for (word, arrays, [x, y]) in WORDS {
        on.text(word, at([x, y]), Style::new(12.0, colours.text).middle());
        if !arrays.is_empty() {
            let style = Style::new(10.0, colours.subdued).mono().middle();
            on.text(arrays, at([x, y + 14.0]), style);
        }
    }
    let quiet = mix(colours.line, colours.subdued, 0.5);
    for line in ARROWS {
        let line: Vec<_> = line.iter().copied().map(at).collect();
        let (from, [x, y]) = (line[line.len() - 2], line[line.len() - 1]);
        let [dx, dy] = [x - from[0], y - from[1]].map(|way| way.clamp(-1.0, 1.0));
        let corner = |side: f32| [x - 7.0 * dx + side * dy, y - 7.0 * dy + side * dx];
        on.line(&line, quiet, 1.6);
        on.shape(&[[x, y], corner(5.0), corner(-5.0)], quiet);
    }
}
