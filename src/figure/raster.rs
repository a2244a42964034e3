//! A drawing as pixels: PNG, and GIF for an episode in motion.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use super::{Drawing, Image, Rgb};

/// Colours of a GIF.
const COLOURS: usize = 256;
/// So many frames are looked at to choose them.
const SAMPLES: usize = 12;

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

/// The frames of an animation.
#[derive(Clone, Copy)]
pub(super) struct Frames<'a> {
    /// How many.
    pub(super) count: usize,
    /// Each of them, all of the same size.
    pub(super) draw: &'a dyn Fn(usize) -> Drawing,
    /// How long each is shown, in hundredths of a second.
    pub(super) delay: u16,
    /// Pixels per unit of the page.
    pub(super) scale: f32,
}

impl std::fmt::Debug for Frames<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} frames", self.count)
    }
}

/// An animation that runs for ever, as GIF with one table of colours for all frames. The last frame stays
/// for a second longer. At most 65,535 pixels a side.
pub(super) fn to_gif(frames: &Frames<'_>) -> Vec<u8> {
    let mut table = Table::of(frames);
    let first = (frames.draw)(0);
    let [width, height] = first.pixels(frames.scale).map(|side| {
        let side = u16::try_from(side);
        side.expect("a GIF has at most 65,535 pixels a side")
    });
    let mut bytes = Vec::new();
    let colours = table.colours.as_flattened();
    let mut encoder =
        gif::Encoder::new(&mut bytes, width, height, colours).expect("memory takes every image");
    let written = encoder.set_repeat(gif::Repeat::Infinite);
    written.expect("memory takes every image");
    let mut before: Option<Vec<u8>> = None;
    for index in 0..frames.count {
        let image = (frames.draw)(index).to_image(frames.scale);
        let now: Vec<u8> = image.pixels.iter().map(|&p| table.nearest(p)).collect();
        let mut frame = changed(before.as_deref(), &now, usize::from(width));
        let is_last = index + 1 == frames.count;
        let pause = if is_last { 100 } else { 0 };
        frame.delay = frames.delay.saturating_add(pause);
        let written = encoder.write_frame(&frame);
        written.expect("memory takes every image");
        before = Some(now);
    }
    drop(encoder);
    bytes
}

/// The smallest rectangle that holds all that differs from the frame before.
fn changed(before: Option<&[u8]>, now: &[u8], width: usize) -> gif::Frame<'static> {
    let differs = |index: usize| before.is_none_or(|before| before[index] != now[index]);
    let (mut left, mut right) = (width, 0);
    let (mut top, mut bottom) = (now.len() / width, 0);
    for (y, row) in now.chunks_exact(width).enumerate() {
        for x in (0..row.len()).filter(|x| differs(y * width + x)) {
            (left, right) = (left.min(x), right.max(x + 1));
            (top, bottom) = (top.min(y), y + 1);
        }
    }
    if right == 0 {
        // Nothing has changed: a pixel keeps the time.
        (left, right, top, bottom) = (0, 1, 0, 1);
    }
    let rows = now.chunks_exact(width).take(bottom).skip(top);
    let buffer: Vec<u8> = rows.flat_map(|row| &row[left..right]).copied().collect();
    let side = |from: usize, to: usize| (to - from) as u16;
    gif::Frame {
        left: left as u16,
        top: top as u16,
        width: side(left, right),
        height: side(top, bottom),
        dispose: gif::DisposalMethod::Keep,
        buffer: Cow::Owned(buffer),
        ..gif::Frame::default()
    }
}

/// The colours of a GIF, and for every colour met so far the one that stands for it.
struct Table {
    colours: Vec<Rgb>,
    known: HashMap<Rgb, u8>,
}

impl Table {
    /// The most frequent colours of some of the frames.
    fn of(frames: &Frames<'_>) -> Self {
        let every = frames.count.div_ceil(SAMPLES).max(1);
        let mut counts: HashMap<Rgb, usize> = HashMap::new();
        for index in (0..frames.count).step_by(every) {
            for pixel in (frames.draw)(index).to_image(frames.scale).pixels {
                *counts.entry(pixel).or_default() += 1;
            }
        }
        let mut counts: Vec<(Rgb, usize)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|&(colour, count)| (std::cmp::Reverse(count), colour));
        let colours = counts.into_iter().take(COLOURS).map(|(colour, _)| colour);
        Self {
            colours: colours.collect(),
            known: HashMap::new(),
        }
    }

    fn nearest(&mut self, pixel: Rgb) -> u8 {
        let colours = &self.colours;
        *self.known.entry(pixel).or_insert_with(|| {
            let distance = |colour: &Rgb| -> u32 {
                let channels = colour.iter().zip(pixel);
                channels.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
            };
            let nearest = (0..colours.len()).min_by_key(|&index| distance(&colours[index]));
            nearest.unwrap_or(0) as u8
        })
    }
}
