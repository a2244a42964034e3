//! A drawing as pixels, and as PNG.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use super::{Drawing, Image};

impl Drawing {
    /// The page in pixels, `scale` of them per unit of the page.
    ///
    /// # Panics
    /// Never: our own SVG can be read, and a page has pixels.
    pub fn to_image(&self, scale: f32) -> Image {
        let [columns, rows] = self.pixels(scale);
        let options = usvg::Options {
            fontdb: fonts(),
            font_family: "Inter".to_owned(),
            ..usvg::Options::default()
        };
        let tree = usvg::Tree::from_str(&self.to_svg(), &options);
        let tree = tree.expect("our own SVG can be read");
        let mut pixmap = Pixmap::new(columns, rows).expect("a page has pixels");
        let transform = Transform::from_scale(scale, scale);
        resvg::render(&tree, transform, &mut pixmap.as_mut());
        Image {
            columns: columns as usize,
            rows: rows as usize,
            // The page is opaque.
            pixels: pixmap
                .pixels()
                .iter()
                .map(|pixel| [pixel.red(), pixel.green(), pixel.blue()])
                .collect(),
        }
    }

    /// The page as PNG, `scale` pixels per unit of the page.
    pub fn to_png(&self, scale: f32) -> Vec<u8> {
        png(&self.to_image(scale), Some(&self.title))
    }

    /// Bytes that it takes to draw the page in pixels: the fonts and the parts of the page, about as much for
    /// any, and the pixels.
    pub fn bytes(&self, scale: f32) -> u64 {
        const PARTS: u64 = 64_000_000;
        const PER_PIXEL: u64 = 16;
        let [columns, rows] = self.pixels(scale).map(u64::from);
        PARTS + columns * rows * PER_PIXEL
    }

    /// Pixels across and down.
    pub fn pixels(&self, scale: f32) -> [u32; 2] {
        [self.width, self.height].map(|side| ((side * scale).round() as u32).max(1))
    }
}

/// The fonts of the window; a figure looks the same on every computer.
fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut fonts = fontdb::Database::new();
        for font in [
            include_bytes!("../../assets/fonts/Inter-Medium.ttf").as_slice(),
            include_bytes!("../../assets/fonts/Inter-SemiBold.ttf"),
            include_bytes!("../../assets/fonts/JetBrainsMono-Medium.ttf"),
        ] {
            fonts.load_font_data(font.to_vec());
        }
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}

/// An image as PNG, with a word on what it shows.
pub(super) fn png(image: &Image, title: Option<&str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.columns as u32, image.rows as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let write = |mut encoder: png::Encoder<'_, &mut Vec<u8>>| {
        if let Some(title) = title {
            encoder.add_itxt_chunk("Title".to_owned(), title.to_owned())?;
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(image.pixels.as_flattened())?;
        writer.finish()
    };
    write(encoder).expect("memory takes every image");
    bytes
}
