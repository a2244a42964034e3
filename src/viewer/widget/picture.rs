//! Pictures of numbers: one texture per picture, uploaded only when it changes, never a shape per cell.
//! What is under the pointer is found by arithmetic.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use egui::{
    Color32, ColorImage, Context, Painter, Pos2, Rangef, Rect, TextureHandle, TextureId,
    TextureOptions, pos2,
};

use super::super::rows::Axis;
use super::super::theme::{self, Palette, Scale};
use crate::figure::{further, part};

/// Numbers in columns and rows, and what their colours mean.
#[derive(Clone, Copy)]
pub struct Grid<'a> {
    /// Cells across.
    pub columns: usize,
    /// Cells down.
    pub rows: usize,
    /// What the colours mean.
    pub scale: Scale,
    /// The value of a cell, (column, row).
    pub value: &'a dyn Fn(usize, usize) -> f32,
}

impl std::fmt::Debug for Grid<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Grid of {} by {}", self.columns, self.rows)
    }
}

impl Grid<'_> {
    /// The cell at this place of a picture of the whole grid.
    pub fn cell_at(&self, rect: Rect, position: Pos2) -> Option<(usize, usize)> {
        if !rect.contains(position) || self.columns == 0 || self.rows == 0 {
            return None;
        }
        let share = (position - rect.min) / rect.size();
        let index = |share: f32, count: usize| ((share * count as f32) as usize).min(count - 1);
        Some((index(share.x, self.columns), index(share.y, self.rows)))
    }

    /// As many pixels as there are cells, or as fit. Where several cells share a pixel, the one
    /// furthest from zero is shown, never the mean: a single 1 must survive 4096 rows.
    fn image(&self, most: [usize; 2], palette: &Palette) -> ColorImage {
        let width = self.columns.min(most[0]).max(1);
        let height = self.rows.min(most[1]).max(1);
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let rows = part(y, height, self.rows);
            for x in 0..width {
                let value = self.extreme(part(x, width, self.columns), rows.clone());
                pixels.push(value.map_or(palette.well, |v| palette.color(self.scale, v)));
            }
        }
        ColorImage::new([width, height], pixels)
    }

    fn extreme(&self, columns: Range<usize>, rows: Range<usize>) -> Option<f32> {
        let cells = rows.flat_map(|row| columns.clone().map(move |column| (column, row)));
        cells
            .map(|(column, row)| (self.value)(column, row))
            .reduce(further)
    }
}

/// The textures of all pictures.
#[derive(Default)]
pub struct Textures {
    kept: HashMap<String, (u64, TextureHandle)>,
    uploads: usize,
    bytes: usize,
}

impl std::fmt::Debug for Textures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} textures", self.kept.len())
    }
}

impl Textures {
    /// The texture of a picture `size` pixels large. `version` says which state of the picture it is:
    /// the grid is only read when that changes.
    pub fn get(
        &mut self,
        ctx: &Context,
        name: &str,
        version: impl Hash,
        size: [f32; 2],
        palette: &Palette,
        grid: &Grid<'_>,
    ) -> TextureId {
        let limit = ctx.input(|input| input.max_texture_side);
        let scale = ctx.pixels_per_point();
        let most = size.map(|side| ((side * scale).ceil().max(1.0) as usize).min(limit));
        let colors = std::ptr::from_ref(palette) as usize;
        let fits = [grid.columns.min(most[0]), grid.rows.min(most[1])];
        let mut hasher = DefaultHasher::new();
        (version, colors, fits).hash(&mut hasher);
        let version = hasher.finish();
        match self.kept.get_mut(name) {
            Some((kept, handle)) if *kept == version => handle.id(),
            Some((kept, handle)) => {
                *kept = version;
                self.uploads += 1;
                self.bytes += 4 * fits[0] * fits[1];
                handle.set(grid.image(most, palette), TextureOptions::NEAREST);
                handle.id()
            }
            None => {
                self.uploads += 1;
                self.bytes += 4 * fits[0] * fits[1];
                let image = grid.image(most, palette);
                let handle = ctx.load_texture(name, image, TextureOptions::NEAREST);
                let id = handle.id();
                self.kept.insert(name.to_owned(), (version, handle));
                id
            }
        }
    }

    /// How many bytes of images have been handed to the graphics card so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many images have been handed to the graphics card so far.
    pub fn uploads(&self) -> usize {
        self.uploads
    }
}

/// Draws a whole picture.
pub fn paint(painter: &Painter, rect: Rect, texture: TextureId) {
    let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    painter.image(texture, rect, whole, theme::UNTINTED);
}

/// Draws a picture of memory rows along the address axis, run by run.
pub fn paint_rows(painter: &Painter, x: Rangef, axis: &Axis, texture: TextureId, opacity: f32) {
    let shown: usize = axis.runs.iter().map(|(rows, _)| rows.len()).sum();
    let mut before = 0;
    for (rows, place) in &axis.runs {
        let v = |index: usize| index as f32 / shown.max(1) as f32;
        let uv = Rect::from_x_y_ranges(0.0..=1.0, v(before)..=v(before + rows.len()));
        let tint: Color32 = theme::UNTINTED.gamma_multiply(opacity);
        painter.image(texture, Rect::from_x_y_ranges(x, *place), uv, tint);
        before += rows.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_peak_survives_any_reduction() {
        let palette = Palette::for_theme(true);
        let value = |_: usize, row: usize| if row == 1777 { 1.0 } else { 0.0 };
        let grid = Grid {
            columns: 3,
            rows: 4096,
            scale: Scale::Weighting,
            value: &value,
        };
        let image = grid.image([3, 100], palette);
        assert_eq!(image.size, [3, 100]);
        let bright = palette.color(Scale::Weighting, 1.0);
        assert_eq!(image.pixels.iter().filter(|&&p| p == bright).count(), 3);
    }

    #[test]
    fn a_nan_survives_any_reduction_and_the_larger_magnitude_wins() {
        let palette = Palette::for_theme(true);
        let value = |column: usize, _: usize| [0.5, f32::NAN, 0.9, 0.3, -0.8, 0.1][column];
        let grid = Grid {
            columns: 6,
            rows: 1,
            scale: Scale::Signed(1.0),
            value: &value,
        };
        let image = grid.image([2, 1], palette);
        assert_eq!(image.pixels[0], palette.non_finite);
        assert_eq!(image.pixels[1], palette.color(grid.scale, -0.8));
    }

    #[test]
    fn every_cell_falls_on_a_pixel() {
        for (pixels, cells) in [(100, 4096), (7, 7), (3, 41)] {
            let parts: Vec<_> = (0..pixels).map(|i| part(i, pixels, cells)).collect();
            assert_eq!(parts[0].start, 0);
            assert_eq!(parts.last().unwrap().end, cells);
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn cells_are_found_by_arithmetic() {
        let grid = Grid {
            columns: 4,
            rows: 2,
            scale: Scale::Bits,
            value: &|_, _| 0.0,
        };
        let rect = Rect::from_min_max(pos2(10.0, 10.0), pos2(50.0, 30.0));
        assert_eq!(grid.cell_at(rect, pos2(10.0, 10.0)), Some((0, 0)));
        assert_eq!(grid.cell_at(rect, pos2(49.9, 29.9)), Some((3, 1)));
        assert_eq!(grid.cell_at(rect, pos2(50.0, 30.0)), Some((3, 1)));
        assert_eq!(grid.cell_at(rect, pos2(51.0, 20.0)), None);
    }
}
