//! A drawing as pixels, and as PNG.

use std::sync::Arc;

use png::Compression;
use resvg::tiny_skia::{Color, Pixmap, PremultipliedColorU8, Transform};
use resvg::usvg;

use crate::figure::scene::fonts::{database, width_of};
use crate::figure::{Drawing, Image, Mark, Rgb, Text};

/// Side of the square tiles of a page that are reused or redrawn, in pixels.
const TILE: usize = 16;

impl Drawing {
    /// The page in pixels, `scale` of them per unit of the page.
    pub fn to_image(&self, scale: f32) -> Image {
        let pixmap = self.paint(&self.marks, scale);
        Image {
            columns: pixmap.width() as usize,
            rows: pixmap.height() as usize,
            pixels: pixmap.pixels().iter().copied().map(colour).collect(),
        }
    }

    /// The page with these marks only.
    ///
    /// # Panics
    /// Never: our own SVG can be read, and a page has pixels.
    fn paint<'m>(&self, marks: impl IntoIterator<Item = &'m Mark>, scale: f32) -> Pixmap {
        let mut images = Vec::new();
        let svg = self.svg_of(marks, true, |image| {
            images.push(Arc::new(png(image, None, Compression::NoCompression)));
            (images.len() - 1).to_string()
        });
        let image = move |link: &str, _: &usvg::Options<'_>| {
            let image = images.get(link.parse::<usize>().ok()?)?;
            Some(usvg::ImageKind::PNG(image.clone()))
        };
        let options = usvg::Options {
            fontdb: database(),
            font_family: "Inter".to_owned(),
            image_href_resolver: usvg::ImageHrefResolver {
                resolve_string: Box::new(image),
                ..usvg::ImageHrefResolver::default()
            },
            ..usvg::Options::default()
        };
        let tree = usvg::Tree::from_str(&svg, &options).expect("our own SVG can be read");
        let [columns, rows] = self.pixels(scale);
        let mut pixmap = Pixmap::new(columns, rows).expect("a page has pixels");
        // A page that ends within a pixel is opaque there, too.
        let [red, green, blue] = self.ground;
        pixmap.fill(Color::from_rgba8(red, green, blue, u8::MAX));
        let transform = Transform::from_scale(scale, scale);
        resvg::render(&tree, transform, &mut pixmap.as_mut());
        pixmap
    }

    /// The page as PNG, `scale` pixels per unit of the page.
    pub fn to_png(&self, scale: f32) -> Vec<u8> {
        png(&self.to_image(scale), Some(&self.title), Compression::High)
    }

    /// Bytes needed to draw the page in pixels: fonts and parts, about the same for any page, and the pixels.
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

/// A page in pixels, from which the differences of similar pages are drawn.
pub(crate) struct Base {
    drawing: Drawing,
    scale: f32,
    /// The page.
    pub(crate) image: Image,
}

/// A part of a page in pixels.
pub(crate) struct Patch {
    pub(crate) left: usize,
    pub(crate) top: usize,
    pub(crate) image: Image,
}

impl Base {
    /// Creates the base from this page.
    pub(crate) fn new(drawing: Drawing, scale: f32) -> Self {
        let image = drawing.to_image(scale);
        Self {
            drawing,
            scale,
            image,
        }
    }

    /// The parts of another page of this size that may look otherwise; to the last bit as on the whole page.
    pub(crate) fn patches(&self, other: &Drawing) -> Vec<Patch> {
        let mut tiles = Tiles::new(&self.image, self.scale);
        for mark in unlike(&self.drawing.marks, &other.marks) {
            for tile in tiles.below(mark) {
                tiles.changed[tile] = true;
            }
        }
        if !tiles.changed.contains(&true) {
            return Vec::new();
        }
        let changes = |mark: &&Mark| tiles.below(mark).any(|tile| tiles.changed[tile]);
        let marks = other.marks.iter().filter(changes);
        let pixmap = other.paint(marks, self.scale);
        tiles.patches(&pixmap)
    }
}

/// Returns the marks that only one of two pages has. All others are on both in the same order.
fn unlike<'m>(before: &'m [Mark], after: &'m [Mark]) -> Vec<&'m Mark> {
    let mut unlike = Vec::new();
    let mut rest = before;
    for mark in after {
        match rest.iter().position(|other| other == mark) {
            Some(place) => {
                unlike.extend(&rest[..place]);
                rest = &rest[place + 1..];
            }
            None => unlike.push(mark),
        }
    }
    unlike.extend(rest);
    unlike
}

/// The page in squares, and which of them have changed.
struct Tiles {
    /// Squares across and down.
    squares: [usize; 2],
    scale: f32,
    changed: Vec<bool>,
}

impl Tiles {
    fn new(page: &Image, scale: f32) -> Self {
        let squares = [page.columns, page.rows].map(|side| side.div_ceil(TILE));
        Self {
            squares,
            scale,
            changed: vec![false; squares[0] * squares[1]],
        }
    }

    /// The pixels below a mark, and perhaps some around it.
    fn below(&self, mark: &Mark) -> impl Iterator<Item = usize> + use<> {
        let [left, top, right, bottom] = reach(mark);
        let tile = |at: f32, beyond: f32| ((at * self.scale + beyond) / TILE as f32).max(0.0);
        let [across, down] = self.squares;
        let columns = tile(left, -1.0) as usize..(tile(right, 1.0) as usize + 1).min(across);
        let rows = tile(top, -1.0) as usize..(tile(bottom, 1.0) as usize + 1).min(down);
        rows.flat_map(move |row| columns.clone().map(move |column| row * across + column))
    }

    /// Returns the changes from the other page; neighbours in a row are merged.
    fn patches(&self, page: &Pixmap) -> Vec<Patch> {
        let (width, height) = (page.width() as usize, page.height() as usize);
        let mut patches = Vec::new();
        for (row, tiles) in self.changed.chunks(self.squares[0]).enumerate() {
            let mut column = 0;
            for run in tiles.chunk_by(|a, b| a == b) {
                let (left, top) = (column * TILE, row * TILE);
                column += run.len();
                if !run[0] {
                    continue;
                }
                let (right, bottom) = ((column * TILE).min(width), (top + TILE).min(height));
                let lines = (top..bottom).flat_map(|y| &page.pixels()[y * width..][left..right]);
                let image = Image {
                    columns: right - left,
                    rows: bottom - top,
                    pixels: lines.copied().map(colour).collect(),
                };
                patches.push(Patch { left, top, image });
            }
        }
        patches
    }
}

/// Left, upper, right and lower edge of all that a mark paints, rather too far out than too near.
fn reach(mark: &Mark) -> [f32; 4] {
    let around = |points: &[[f32; 2]], by: f32| {
        let start = [f32::MAX, f32::MAX, f32::MIN, f32::MIN];
        let [left, top, right, bottom] = points.iter().fold(start, |reach, [x, y]| {
            let [left, top, right, bottom] = reach;
            [left.min(*x), top.min(*y), right.max(*x), bottom.max(*y)]
        });
        [left - by, top - by, right + by, bottom + by]
    };
    match mark {
        Mark::Rect { area, .. } | Mark::Image { area, .. } => around(&area.corners(), 0.0),
        Mark::Edge { area, .. } => around(&area.corners(), 2.0),
        // A sharp corner reaches four times as far as the line is thick, at most.
        Mark::Line { points, width, .. } => around(points, 4.0 * width),
        Mark::Shape { points, .. } => around(points, 0.0),
        Mark::Text(text) => around(&reach_of_text(text), text.style.size),
    }
}

fn reach_of_text(text: &Text) -> [[f32; 2]; 2] {
    let ([x, y], style) = (text.at, text.style);
    let width = 1.1 * width_of(&text.text, &style);
    let from = -width * style.anchor.share();
    let to = from + width;
    if style.upwards {
        [[x, y - to], [x, y - from]]
    } else {
        [[x + from, y], [x + to, y]]
    }
}

/// A page is opaque.
fn colour(pixel: PremultipliedColorU8) -> Rgb {
    [pixel.red(), pixel.green(), pixel.blue()]
}

/// Encodes an image as PNG, with a title.
pub(crate) fn png(image: &Image, title: Option<&str>, compression: Compression) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, image.columns as u32, image.rows as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(compression);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Style;

    #[test]
    fn a_page_is_opaque_up_to_its_last_pixel() {
        let page = Drawing::new(10.5, 3.4, [250, 251, 252], String::new());
        let image = page.to_image(1.5);
        assert_eq!([image.columns, image.rows], [16, 5]);
        assert!(image.pixels.iter().all(|pixel| *pixel == page.ground));
    }

    /// A page with one text in its middle.
    fn page_of(text: &str, upwards: bool) -> Drawing {
        let mut page = Drawing::new(80.0, 80.0, [255; 3], String::new());
        let style = Style::new(20.0, [0; 3]).middle();
        page.marks.push(Mark::Text(Text {
            text: text.to_owned(),
            at: [40.0, 40.0],
            style: Style { upwards, ..style },
        }));
        page
    }

    #[test]
    fn letters_that_the_fonts_lack_are_drawn_and_differ() {
        let texts = [
            "a", "a\u{320}", "a\u{321}", "가", "나", "😀", "\u{2}", "\u{3}",
        ];
        for upwards in [false, true] {
            let image = |text: &str| page_of(text, upwards).to_image(2.0).pixels;
            let drawn = texts.map(image);
            for (index, pixels) in drawn.iter().enumerate() {
                assert!(*pixels != image(""), "{:?}", texts[index]);
                let other = drawn[..index].iter().position(|other| other == pixels);
                assert_eq!(other, None, "{:?} looks like another", texts[index]);
            }
        }
        // As text for those who have a font.
        assert!(page_of("가", false).to_svg().contains(">가</text>"));
    }

    #[test]
    fn what_is_drawn_fits_its_width() {
        for text in ["a가\u{320}나b", "😀"] {
            let page = page_of(text, false);
            let [Mark::Text(mark)] = &page.marks[..] else {
                panic!("{:?}", page.marks)
            };
            let half = width_of(text, &mark.style) / 2.0;
            let image = page.to_image(1.0);
            let inked =
                |(at, pixel): (usize, &Rgb)| (*pixel != [255; 3]).then_some(at % image.columns);
            let columns: Vec<_> = image.pixels.iter().enumerate().filter_map(inked).collect();
            let (first, last) = (columns.iter().min().unwrap(), columns.iter().max().unwrap());
            let [first, last] = [first, last].map(|column| *column as f32);
            assert!(
                (first - (40.0 - half)).abs() < 3.0,
                "{text}: {first}, {half}"
            );
            assert!(
                (last + 1.0 - (40.0 + half)).abs() < 3.0,
                "{text}: {last}, {half}"
            );
        }
    }
}
