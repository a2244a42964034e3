//! Pictures of numbers: one texture per picture, uploaded only when it changes, never a shape per cell.
//! What is under the pointer is found by arithmetic.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use egui::{
    Color32, ColorImage, Context, Painter, Pos2, Rangef, Rect, TextureHandle, TextureId,
    TextureOptions, pos2,
};

use super::super::rows::Axis;
use super::super::theme::{self, Palette, Scale};
use crate::figure::{Image, pooled};

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

    /// No finer than so many pixels.
    fn image(&self, most: [usize; 2], palette: &Palette) -> ColorImage {
        let (value, colours) = (|column, row| Some((self.value)(column, row)), palette.data);
        let size = [self.columns, self.rows];
        let image = pooled(size, most, self.scale, value, |_, value| {
            value.map_or(colours.well, |value| colours.of(self.scale, value))
        });
        color_image(&image)
    }
}

/// Pixels for the graphics card.
pub fn color_image(image: &Image) -> ColorImage {
    let pixels = image.pixels.iter().map(|&pixel| theme::color(pixel));
    ColorImage::new([image.columns, image.rows], pixels.collect())
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
