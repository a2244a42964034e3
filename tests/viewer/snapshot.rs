//! A snapshot of the window: a picture of at most 256 colours (`NAME.png`) and every text on it (`NAME.txt`).
//!
//! Files of the same content have the same bytes, and a change of a few rows changes a few bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use super::clipping::texts;
use super::*;
use egui::Color32;
use egui::epaint::TextShape;
use flate2::{Compress, Compression, FlushCompress};
use image::{Rgba, RgbaImage};

/// The largest difference of a colour channel, of 255, that counts as rounding: the last bits of the edges of
/// letters depend on the processor.
pub const ROUNDING: u8 = 3;
/// Rare colours, such as those of the edges of letters, are rounded to multiples of this, of the second where a picture
/// has too many colours otherwise; the last is 255.
pub const GRID: [u8; 2] = [32, 64];
/// Colours of a picture.
const COLOURS: usize = 256;
/// Rows of pixels that are compressed apart from all others.
const BAND: usize = 32;

fn to_grid(Rgba([r, g, b, a]): Rgba<u8>, grid: u8) -> Rgba<u8> {
    let step = u16::from(grid);
    let [r, g, b] =
        [r, g, b].map(|channel| ((u16::from(channel) + step / 2) / step * step).min(255) as u8);
    Rgba([r, g, b, a])
}

/// Reduces a picture to 256 colours: frequent ones stay exact, rare ones are rounded to the grid.
pub fn reduced(image: &RgbaImage) -> RgbaImage {
    let (frequent, grid) = frequent(image);
    RgbaImage::from_fn(image.width(), image.height(), |x, y| {
        let pixel = *image.get_pixel(x, y);
        if frequent.contains(&pixel.0) {
            pixel
        } else {
            to_grid(pixel, grid)
        }
    })
}

/// The frequent colours of a picture, few enough that it has 256 colours in all once the others are rounded, and the
/// grid to which these are.
fn frequent(image: &RgbaImage) -> (BTreeSet<[u8; 4]>, u8) {
    let on_grid = |grid: u8| Some((frequent_on(image, grid)?, grid));
    let mut found = GRID.into_iter().filter_map(on_grid);
    found.next().expect("too many colours: widen GRID")
}

/// The frequent colours where the others are rounded to this grid; `None` where there are too many others.
fn frequent_on(image: &RgbaImage, grid: u8) -> Option<BTreeSet<[u8; 4]>> {
    let mut counts = BTreeMap::<[u8; 4], usize>::new();
    for pixel in image.pixels() {
        *counts.entry(pixel.0).or_default() += 1;
    }
    let mut frequent = image.len() / 4 / 4096;
    loop {
        let (stay, rare): (Vec<_>, Vec<_>) =
            counts.iter().partition(|(_, count)| **count >= frequent);
        let stay: BTreeSet<[u8; 4]> = stay.into_iter().map(|(pixel, _)| *pixel).collect();
        let rounded = rare
            .into_iter()
            .map(|(pixel, _)| to_grid(Rgba(*pixel), grid).0);
        if rounded
            .chain(stay.iter().copied())
            .collect::<BTreeSet<_>>()
            .len()
            <= COLOURS
        {
            return Some(stay);
        }
        if frequent >= image.len() {
            return None;
        }
        frequent *= 2;
    }
}

/// Returns the bytes of a PNG with a palette. A colour keeps its place in the palette when others come and go, and
/// each band of rows is compressed apart, so that version control stores little of a small change.
pub fn encoded(image: &RgbaImage) -> Vec<u8> {
    let (width, height) = image.dimensions();
    let mut palette = [None; COLOURS];
    let mut places = BTreeMap::new();
    let colours: BTreeSet<[u8; 4]> = image.pixels().map(|pixel| pixel.0).collect();
    for colour in colours {
        let hash = u32::from_le_bytes(colour).wrapping_mul(0x9e37_79b1) >> 24;
        let free = |place: &usize| palette[*place].is_none();
        let mut from_there = (0..COLOURS).map(|next| (hash as usize + next) % COLOURS);
        let place = from_there.find(free).expect("256 colours");
        palette[place] = Some(colour);
        places.insert(colour, place as u8);
    }
    let entries = palette.map(Option::unwrap_or_default);
    let entries: Vec<u8> = entries
        .iter()
        .flat_map(|[r, g, b, _]| [*r, *g, *b])
        .collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(entries);
    let mut writer = encoder.write_header().unwrap();
    // Each row begins with its filter: none.
    let rows: Vec<Vec<u8>> = image
        .rows()
        .map(|row| {
            let places = row.map(|pixel| places[&pixel.0]);
            std::iter::once(0).chain(places).collect()
        })
        .collect();
    let bands: Vec<Vec<u8>> = rows.chunks(BAND).map(<[Vec<u8>]>::concat).collect();
    let mut compress = Compress::new(Compression::best(), true);
    for (index, band) in bands.iter().enumerate() {
        let last = index + 1 == bands.len();
        let flush = if last {
            FlushCompress::Finish
        } else {
            FlushCompress::Full
        };
        let mut out = Vec::with_capacity(2 * band.len() + 1024);
        compress.compress_vec(band, &mut out, flush).unwrap();
        writer.write_chunk(png::chunk::IDAT, &out).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

/// The pixels of a picture that differ from a snapshot.
pub fn differing(kept: &RgbaImage, drawn: &RgbaImage) -> Vec<(u32, u32)> {
    let (frequent, grid) = frequent(drawn);
    let pairs = kept.enumerate_pixels().zip(drawn.pixels());
    let apart = pairs.filter(|((_, _, kept), drawn)| {
        // Only a rare colour was rounded.
        let is_rounded = to_grid(**kept, grid) == **kept && !frequent.contains(&drawn.0);
        !is_alike(**kept, **drawn, if is_rounded { grid } else { 0 })
    });
    apart.map(|((x, y, _), _)| (x, y)).collect()
}

fn is_alike(kept: Rgba<u8>, drawn: Rgba<u8>, grid: u8) -> bool {
    let allowed = ROUNDING + grid / 2;
    let mut channels = kept.0.iter().zip(drawn.0);
    channels.all(|(a, b)| a.abs_diff(b) <= allowed)
}

/// Lists every text on screen, a line for each row of letters: its place in points, its colours, its letters.
pub fn listed(screen: &Screen) -> String {
    let mut list = String::new();
    let window = screen.ctx.content_rect();
    for (text, clip) in texts(screen) {
        let seen = clip.intersect(window);
        for row in &text.galley.rows {
            let rect = row.rect().translate(text.pos.to_vec2());
            let letters = row.text();
            if rect.intersects(seen) && !letters.trim().is_empty() {
                let (x, y) = (rect.left().round(), rect.top().round());
                let colours = colours(text, &row.visuals);
                writeln!(list, "{x} {y} {colours} {letters}").unwrap();
            }
        }
    }
    list
}

/// The colours of a row of letters, in order.
fn colours(text: &TextShape, row: &egui::epaint::text::RowVisuals) -> String {
    let letters = &row.mesh.vertices[row.glyph_vertex_range.clone()];
    let mut found: Vec<String> = Vec::new();
    for vertex in letters {
        let own = if vertex.color == Color32::PLACEHOLDER {
            text.fallback_color
        } else {
            vertex.color
        };
        let colour = text.override_text_color.unwrap_or(own);
        let colour = colour.gamma_multiply(text.opacity_factor).to_hex();
        // Opaque colours, which most are, have six digits.
        let colour = match colour.strip_suffix("ff") {
            Some(opaque) => opaque.to_owned(),
            None => colour,
        };
        if found.last() != Some(&colour) {
            found.push(colour);
        }
    }
    found.join(",")
}

/// The snapshots in a folder.
pub struct Snapshots {
    pub folder: PathBuf,
    /// True where they are replaced by what is drawn.
    pub update: bool,
}

impl Snapshots {
    /// Those of the window; `UPDATE_SNAPSHOTS=1` replaces what differs.
    pub fn here() -> Self {
        Self {
            folder: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/viewer/screens"),
            update: std::env::var_os("UPDATE_SNAPSHOTS").is_some(),
        }
    }

    fn at(&self, name: &str, end: &str) -> PathBuf {
        self.folder.join(format!("{name}{end}"))
    }

    /// Compares a window with its snapshot. Returns what differs, and leaves what was drawn beside the snapshot;
    /// or replaces the snapshot.
    pub fn check(&self, name: &str, image: &RgbaImage, list: &str) -> Option<String> {
        for end in [".new.png", ".diff.png", ".new.txt"] {
            let _ = fs::remove_file(self.at(name, end));
        }
        let mut problems = Vec::new();
        let kept = image::open(self.at(name, ".png")).map(|kept| kept.to_rgba8());
        let kept = kept
            .ok()
            .filter(|kept| kept.dimensions() == image.dimensions());
        let apart = kept.map(|kept| differing(&kept, image));
        if apart.as_ref().is_none_or(|apart| !apart.is_empty()) {
            let end = if self.update { ".png" } else { ".new.png" };
            fs::write(self.at(name, end), encoded(&reduced(image))).unwrap();
            problems.push(match apart {
                None => format!("no snapshot of this size; see {name}.new.png"),
                Some(apart) => {
                    if !self.update {
                        let mut marked = image.clone();
                        for &(x, y) in &apart {
                            marked.put_pixel(x, y, Rgba([255, 0, 255, 255]));
                        }
                        marked.save(self.at(name, ".diff.png")).unwrap();
                    }
                    let count = apart.len();
                    format!("{count} pixels differ; see {name}.new.png and {name}.diff.png")
                }
            });
        }
        let kept = fs::read_to_string(self.at(name, ".txt")).unwrap_or_default();
        if !kept.lines().eq(list.lines()) {
            let end = if self.update { ".txt" } else { ".new.txt" };
            fs::write(self.at(name, end), list).unwrap();
            let mut pairs = kept.lines().zip(list.lines());
            let (before, after) = pairs
                .find(|(a, b)| a != b)
                .unwrap_or(("", "more or fewer texts"));
            problems.push(format!(
                "texts differ, first `{before}` and now `{after}`; see {name}.new.txt"
            ));
        }
        let folder = self.folder.display();
        let is_alike = self.update || problems.is_empty();
        (!is_alike).then(|| format!("{name}: {} in {folder}", problems.join("; ")))
    }

    /// The files that belong to none of these snapshots; deletes them where snapshots are replaced.
    pub fn obsolete(&self, names: &[String]) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.folder).unwrap();
        let mut obsolete: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        obsolete.retain(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            !names
                .iter()
                .any(|kept| name.split('.').next() == Some(kept))
        });
        if self.update {
            for path in obsolete.drain(..) {
                fs::remove_file(path).unwrap();
            }
        }
        obsolete
    }
}

/// A picture of one colour.
fn plain(colour: [u8; 3]) -> RgbaImage {
    let [r, g, b] = colour;
    RgbaImage::from_pixel(64, 128, Rgba([r, g, b, 255]))
}

/// A picture with more colours than a palette has.
fn colourful() -> RgbaImage {
    RgbaImage::from_fn(64, 128, |x, y| Rgba([4 * x as u8, 2 * y as u8, 90, 255]))
}

#[test]
fn frequent_colours_stay_and_rare_ones_are_near() {
    let mut image = plain([13, 17, 23]);
    image.put_pixel(5, 5, Rgba([100, 120, 250, 255]));
    let few = reduced(&image);
    assert_eq!(few.get_pixel(0, 0).0, [13, 17, 23, 255]);
    assert_eq!(few.get_pixel(5, 5).0, [96, 128, 255, 255]);
    let (image, few) = (colourful(), reduced(&colourful()));
    let colours: BTreeSet<[u8; 4]> = few.pixels().map(|pixel| pixel.0).collect();
    assert!(colours.len() <= COLOURS);
    assert_eq!(differing(&few, &image), []);
}

#[test]
fn a_png_says_what_was_encoded() {
    let few = reduced(&colourful());
    let bytes = encoded(&few);
    assert_eq!(image::load_from_memory(&bytes).unwrap().to_rgba8(), few);
    assert_eq!(encoded(&few), bytes);
}

#[test]
fn a_changed_row_changes_one_band() {
    let few = reduced(&colourful());
    let mut other = few.clone();
    let middle = BAND as u32 + 5;
    other.put_pixel(3, middle, *few.get_pixel(60, 100));
    let (before, after) = (encoded(&few), encoded(&other));
    let same = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let start = same(&before, &after);
    // The last chunks hold a sum of all bytes.
    let (before, after): (Vec<u8>, Vec<u8>) = (
        before.into_iter().rev().skip(24).collect(),
        after.into_iter().rev().skip(24).collect(),
    );
    let kept = start + same(&before, &after);
    assert!(kept > before.len() * 2 / 3, "{kept} of {}", before.len());
}

#[test]
fn a_pixel_that_differs_is_found() {
    let kept = reduced(&plain([13, 17, 23]));
    let found = |colour: [u8; 3]| {
        let mut drawn = plain([13, 17, 23]);
        let [r, g, b] = colour;
        drawn.put_pixel(7, 9, Rgba([r, g, b, 255]));
        differing(&kept, &drawn)
    };
    assert_eq!(found([13 + ROUNDING, 17, 23 - ROUNDING]), []);
    assert_eq!(found([13, 17 + ROUNDING + 1, 23]), [(7, 9)]);
    assert_eq!(found([13, 17, 23 - ROUNDING - 1]), [(7, 9)]);
    // A colour of the grid stands for the rare ones that are rounded to it, not for a frequent one.
    let most = GRID[0] / 2 + ROUNDING;
    let kept = plain([GRID[0]; 3]);
    let near = |by: u8| {
        let mut drawn = plain([GRID[0]; 3]);
        drawn.put_pixel(7, 9, Rgba([GRID[0] + by, GRID[0], GRID[0], 255]));
        differing(&kept, &drawn)
    };
    assert_eq!((near(most), near(most + 1)), (vec![], vec![(7, 9)]));
    let apart = differing(&kept, &plain([GRID[0] + most; 3]));
    assert_eq!(apart.len(), 64 * 128);
}

#[test]
fn differences_are_reported_and_saved_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = |update| Snapshots {
        folder: folder.path().to_owned(),
        update,
    };
    let files = || {
        let files = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let (image, list) = (plain([13, 17, 23]), "3 4 #ffffff 0.13\n");
    let check = |image: &RgbaImage, list: &str| snapshots(false).check("a", image, list);
    assert!(check(&image, list).unwrap().contains("no snapshot"));
    assert_eq!(files(), ["a.new.png", "a.new.txt"]);
    assert_eq!(snapshots(true).check("a", &image, list), None);
    assert_eq!(files(), ["a.png", "a.txt"]);
    assert_eq!(check(&image, list), None);
    let problem = check(&image, "3 4 #ffffff 0.18\n").unwrap();
    assert!(
        problem.contains("0.13") && problem.contains("0.18"),
        "{problem}"
    );
    assert!(check(&image, "").is_some());
    assert_eq!(files(), ["a.new.txt", "a.png", "a.txt"]);
    let mut other = image.clone();
    other.put_pixel(1, 1, Rgba([255, 255, 255, 255]));
    assert!(check(&other, list).unwrap().contains("1 pixels"));
    assert_eq!(files(), ["a.diff.png", "a.new.png", "a.png", "a.txt"]);
    assert!(check(&plain([13, 17, 33]), list).is_some());
    assert_eq!(snapshots(true).check("a", &other, list), None);
    assert_eq!(check(&other, list), None);
    assert_eq!(files(), ["a.png", "a.txt"]);
    let names = ["b".to_owned()];
    assert_eq!(snapshots(false).obsolete(&names).len(), 2);
    assert!(snapshots(true).obsolete(&names).is_empty() && files().is_empty());
}
