//! A figure that runs: an episode with its player in one file, which a browser opens without a network.
//!
//! The file has the marks of every frame, as the figure made them, and a script that paints them. Frames share marks: each is
//! stored once, and so are colours, images and the values under the pointer.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compress, Compression, FlushCompress};

use crate::figure::out::animation::Progress;
use crate::figure::out::svg::{path, short};
use crate::figure::scene::fonts::{DROP, escape, width_of};
use crate::figure::scene::pages::{FrameTime, Pages, View, Walk};
use crate::figure::scene::panel::{Content, PlacedPanel};
use crate::figure::{Anchor, Area, Image, Ink, Mark, PanelId, Rgb, Slot, Text, Weight};
use crate::train::is_absent;

/// The page around the marks.
const PAGE: &str = include_str!("player.html");
/// The largest file, in bytes.
pub const LARGEST: usize = 20_000_000;
/// Texts are packed to about this part.
const PACKED: usize = 10;
/// More colours than this are rounded.
const MOST_COLOURS: usize = 20_000;
/// The first letter that stands for a colour of an image, and the one that JSON writes in another way.
const FIRST: u32 = 48;
const BACKSLASH: u32 = 92;
/// The number of letters behind the first.
const LETTERS: usize = 55_000;

/// Why there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFile {
    /// It was cancelled.
    Cancelled,
    /// It would have more than [`LARGEST`] bytes, with this number of frames.
    TooLarge(usize),
}

/// Text, packed as it comes.
struct Packed {
    packer: Compress,
    bytes: Vec<u8>,
}

impl Packed {
    fn new() -> Self {
        Self {
            packer: Compress::new(Compression::default(), true),
            bytes: Vec::new(),
        }
    }

    fn add(&mut self, text: &str) {
        self.pack(text.as_bytes(), FlushCompress::None);
    }

    fn pack(&mut self, text: &[u8], flush: FlushCompress) {
        let start = self.packer.total_in();
        loop {
            let done = (self.packer.total_in() - start) as usize;
            self.bytes.reserve(text.len() / 4 + 4096);
            let state = self
                .packer
                .compress_vec(&text[done..], &mut self.bytes, flush);
            let is_all = self.packer.total_in() - start == text.len() as u64;
            // Packing has no other failure than an end.
            let goes_on = matches!(state, Ok(flate2::Status::Ok | flate2::Status::BufError));
            if !goes_on || (is_all && self.bytes.len() < self.bytes.capacity()) {
                break;
            }
        }
    }

    /// All of it in base64.
    fn finish(mut self) -> String {
        self.pack(&[], FlushCompress::Finish);
        STANDARD.encode(self.bytes)
    }
}

/// Texts that are stored once, each by its number.
#[derive(Default)]
struct Table {
    numbers: HashMap<Arc<str>, usize>,
    texts: Vec<Arc<str>>,
    /// The number of their letters.
    length: usize,
}

impl Table {
    fn number(&mut self, text: String) -> usize {
        *self.numbers.entry(text.into()).or_insert_with_key(|text| {
            self.texts.push(Arc::clone(text));
            self.length += text.len();
            self.texts.len() - 1
        })
    }
}

/// A colour in the light and in the dark theme.
type Pair = [Rgb; 2];

#[derive(Default)]
struct Colours {
    numbers: HashMap<Pair, usize>,
    pairs: Vec<Pair>,
}

impl Colours {
    fn number(&mut self, mut pair: Pair) -> usize {
        if self.pairs.len() >= MOST_COLOURS {
            pair = pair.map(|colour| colour.map(|value| value & 0xf8));
        }
        *self.numbers.entry(pair).or_insert_with(|| {
            self.pairs.push(pair);
            self.pairs.len() - 1
        })
    }
}

/// A picture, the version of its values, and the rows that it shows.
type Shown = (PanelId, (usize, usize), Vec<usize>);

/// The frames written so far.
struct Film {
    colours: Colours,
    images: Table,
    marks: Table,
    values: Table,
    /// The values of pictures that were there before, by their rows.
    known: HashMap<Shown, usize>,
    parts: Table,
    frames: Packed,
    count: usize,
    /// The colour behind the marks in both themes.
    ground: Pair,
}

/// Writes a figure that runs.
///
/// # Errors
/// It was cancelled, or is too large.
pub(crate) async fn html(
    pages: &dyn Pages,
    mut progress: impl Progress,
) -> Result<Vec<u8>, NoFile> {
    let (times, heads) = (pages.frame_times(Walk::Player), pages.heads());
    let shown: Vec<_> = match heads.len() {
        0 => vec![None],
        _ => heads.iter().map(|(head, _)| Some(*head)).collect(),
    };
    let all = shown.len() * times.len();
    let mut film = Film {
        colours: Colours::default(),
        images: Table::default(),
        marks: Table::default(),
        values: Table::default(),
        known: HashMap::new(),
        parts: Table::default(),
        frames: Packed::new(),
        count: 0,
        ground: [[0; 3]; 2],
    };
    for head in shown {
        for at in &times {
            film.add(pages, *at, head);
            if progress(film.count, all).await == ControlFlow::Break(()) {
                return Err(NoFile::Cancelled);
            }
            if film.bytes() > LARGEST || film.colours.pairs.len() > LETTERS {
                return Err(NoFile::TooLarge(all));
            }
        }
    }
    let bytes = film.into_page(pages, &heads);
    if bytes.len() > LARGEST {
        return Err(NoFile::TooLarge(all));
    }
    Ok(bytes)
}

impl Film {
    /// About the number of bytes so far.
    fn bytes(&self) -> usize {
        let tables = [&self.images, &self.marks, &self.values, &self.parts];
        let of_tables = |table: &Table| table.length / PACKED;
        (self.frames.bytes.len() + tables.map(of_tables).iter().sum::<usize>()) * 4 / 3
    }

    /// Adds a frame, in both themes.
    fn add(&mut self, pages: &dyn Pages, at: FrameTime, head: Option<usize>) {
        let view = |is_dark| View {
            at,
            head,
            dark: Some(is_dark),
        };
        let dark = || {
            let mut seen = ([0; 3], Vec::new());
            pages.show(&view(true), &mut |(drawing, _)| {
                seen = (drawing.ground, drawing.marks);
            });
            seen
        };
        let light = || {
            let mut seen = ([0; 3], Vec::new(), Vec::new());
            pages.show(&view(false), &mut |(drawing, places)| {
                let told = places.iter().filter_map(|place| self.part(place, at));
                seen = (drawing.ground, drawing.marks, told.collect());
            });
            seen
        };
        let ((ground, light, parts), (dark_ground, dark)) = rayon::join(light, dark);
        self.ground = [ground, dark_ground];
        let marks = light.iter().enumerate();
        let marks = marks.map(|(index, mark)| self.mark(mark, dark.get(index).unwrap_or(mark)));
        let marks: Vec<_> = marks.collect();
        let words = pages.words(at, head);
        let [stage, said] = words.map(|words| json(&words));
        let comma = if self.count == 0 { "[" } else { "," };
        let head = head.map_or_else(|| "null".to_owned(), |head| head.to_string());
        let text = format!(
            "{comma}[{},{head},{stage},{said},[{}],[{}]]\n",
            at.step,
            list(&marks),
            list(&parts)
        );
        self.count += 1;
        self.frames.add(&text);
    }

    /// A mark in both themes, which differ in colours alone.
    fn mark(&mut self, light: &Mark, dark: &Mark) -> usize {
        let ink = light.ink();
        let ink = ink.map(|ink| self.ink(ink, dark.ink().unwrap_or(ink)));
        let ink = ink.unwrap_or_default();
        let text = match light {
            Mark::Rect { area, .. } => format!("[0,{},{ink}]", place(area)),
            Mark::Edge { area, inside, .. } => {
                let by = if *inside { 0.5 } else { -0.5 };
                let corners = area.inset(by, by).corners();
                format!("[1,{},{ink},1]", json(&path(&corners)))
            }
            Mark::Line {
                points,
                width,
                dashes,
                ..
            } => {
                let dashes: Vec<_> = dashes.iter().map(|length| short(*length)).collect();
                let (path, dashes) = (json(&path(points)), json(&dashes.join(" ")));
                format!("[1,{path},{ink},{},{dashes}]", short(*width))
            }
            Mark::Shape { points, .. } => format!("[2,{},{ink}]", json(&path(points))),
            Mark::Text(text) => text_json(text, &ink),
            Mark::Image { area, image } => {
                let other = match dark {
                    Mark::Image { image, .. } => image,
                    _ => image,
                };
                format!("[4,{},{}]", place(area), self.image(image, other))
            }
        };
        self.marks.number(text)
    }

    /// The colour in both themes, and the opacity.
    fn ink(&mut self, light: Ink, dark: Ink) -> String {
        let number = self.colours.number([light.colour, dark.colour]);
        format!("{number},{}", short(light.opacity))
    }

    fn image(&mut self, light: &Image, dark: &Image) -> usize {
        let pixels = light.pixels.iter().enumerate();
        let letters = pixels.map(|(index, pixel)| {
            let other = dark.pixels.get(index).unwrap_or(pixel);
            let code = FIRST + self.colours.number([*pixel, *other]) as u32;
            char::from_u32(code + u32::from(code >= BACKSLASH)).unwrap_or('0')
        });
        let letters: String = letters.collect();
        let (columns, rows) = (light.columns, light.rows);
        self.images
            .number(format!("[{columns},{rows},\"{letters}\"]"))
    }

    /// A picture to point at: its place, the words for a value, its rows, and its values.
    fn part(&mut self, place_of: &PlacedPanel<'_>, at: FrameTime) -> Option<usize> {
        let panel = &place_of.panel;
        let is_sentence = matches!(panel.content, Content::Sign(Slot::Sentence));
        let name = json(&panel.in_words().filter(|_| !is_sentence)?);
        let area = place(&place_of.area);
        let steps = place_of.steps().map_or_else(
            || "null".to_owned(),
            |steps| format!("[{},{steps}]", panel.first),
        );
        let cells = place_of.cells().filter(|cells| cells.columns > 0);
        let Some(cells) = cells else {
            return Some(self.parts.number(format!("[{area},{name},{steps}]")));
        };
        let rows: Vec<_> = place_of.axis.all().collect();
        let key = (
            panel.id,
            cells.version,
            rows.iter().map(|row| row.0).collect(),
        );
        let values = *self.known.entry(key).or_insert_with(|| {
            let columns = 0..cells.columns;
            let places = columns.flat_map(|column| rows.iter().map(move |row| (column, row.0)));
            let values = places.map(|(column, row)| value(cells.value(column, row)));
            let values: Vec<_> = values.collect();
            self.values.number(format!("[{}]", values.join(",")))
        });
        let whose = if panel.whose.is_empty() {
            &panel.name
        } else {
            &panel.whose
        };
        let (step, symbol) = match &panel.content {
            Content::Bars(bars) => (
                format!("  step {}", at.step),
                format!("  {}", bars.column.symbol),
            ),
            _ if place_of.steps().is_some() => ("  step {c}".to_owned(), String::new()),
            _ if cells.columns > 1 => (format!("  step {}  column {{c}}", at.step), String::new()),
            _ => (format!("  step {}", at.step), String::new()),
        };
        let label = if rows.len() > 1 {
            format!("  {} {{r}}", panel.down.label)
        } else {
            String::new()
        };
        let said = json(&format!("{whose}{step}{label}{symbol}"));
        let ends = rows.iter().map(|(row, span)| {
            let name = panel.down.names.get(*row).filter(|name| !name.is_empty());
            let name = name.map_or_else(|| row.to_string(), |name| json(name));
            format!("[{},{},{name}]", short(span.min), short(span.max))
        });
        let ends: Vec<_> = ends.collect();
        let (columns, ends) = (cells.columns, ends.join(","));
        Some(self.parts.number(format!(
            "[{area},{name},{steps},{said},{columns},[{ends}],{values}]"
        )))
    }

    /// The whole file.
    fn into_page(mut self, pages: &dyn Pages, heads: &[(usize, String)]) -> Vec<u8> {
        let drawing = pages.draw();
        let (width, height) = (short(drawing.width), short(drawing.height));
        let heads = heads
            .iter()
            .map(|(head, label)| format!("[{head},{}]", json(label)));
        let heads: Vec<_> = heads.collect();
        let hex = |colour: Rgb| colour.map(|value| format!("{value:02x}")).concat();
        let pairs = self.colours.pairs.iter();
        let pairs = pairs.map(|pair| format!("[\"#{}\",\"#{}\"]", hex(pair[0]), hex(pair[1])));
        let pairs: Vec<_> = pairs.collect();
        let ground = self.ground.map(|ground| format!("\"#{}\"", hex(ground)));
        let opening = pages.opening();
        let number = |place: Option<usize>| {
            place.map_or_else(|| "null".to_owned(), |place| place.to_string())
        };
        let first = [
            number(opening.step),
            number(opening.head),
            opening.link.map_or_else(|| "null".to_owned(), json),
            opening.is_dark.to_string(),
        ];
        let tables_text = format!(
            "{{\"size\":[{width},{height}],\"first\":[{}],\"ground\":[{}],\"heads\":[{}],\"colours\":[{}],\"images\":[{}],\"marks\":[{}],\
             \"values\":[{}],\"parts\":[{}]}}",
            first.join(","),
            ground.join(","),
            heads.join(","),
            pairs.join(","),
            self.images.texts.join(","),
            self.marks.texts.join(","),
            self.values.texts.join(","),
            self.parts.texts.join(",")
        );
        let mut tables = Packed::new();
        tables.add(&tables_text);
        self.frames.add("]");
        let [tables, frames] = [tables, self.frames].map(Packed::finish);
        let parts = [
            ("{title}", escape(&drawing.title)),
            ("{still}", drawing.to_svg()),
            ("{tables}", tables),
            ("{frames}", frames),
        ];
        // Each place once, in the order of the page: a text may look like one.
        let (mut page, mut rest) = (String::new(), PAGE);
        for (place, text) in parts {
            let (before, after) = rest.split_once(place).unwrap_or((rest, ""));
            page += before;
            page += &text;
            rest = after;
        }
        page += rest;
        page.into_bytes()
    }
}

/// A text whose colour is `ink`.
fn text_json(text: &Text, ink: &str) -> String {
    let (style, drop) = (text.style, DROP * text.style.size);
    let [x, y] = match (style.upwards, text.at) {
        (true, [x, y]) => [x + drop, y],
        (false, [x, y]) => [x, y + drop],
    };
    let [x, y] = [x, y].map(short);
    let anchor = match style.anchor {
        Anchor::Start => 0,
        Anchor::Middle => 1,
        Anchor::End => 2,
    };
    let weight = match style.weight {
        Weight::Medium => 0,
        Weight::Bold => 1,
        Weight::Mono => 2,
    };
    let (size, up) = (short(style.size), u8::from(style.upwards));
    // Another font takes the same room.
    let width = short(width_of(&text.text, &style));
    let text = json(&text.text);
    format!("[3,{x},{y},{ink},{size},{anchor},{weight},{up},{width},{text}]")
}

/// A text of JSON.
fn json(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        '"' | '\\' => format!("\\{letter}"),
        letter if letter.is_control() => format!("\\u{:04x}", letter as u32),
        letter => letter.to_string(),
    });
    format!("\"{}\"", letters.collect::<String>())
}

fn list(numbers: &[usize]) -> String {
    let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
    numbers.join(",")
}

fn place(area: &Area) -> String {
    let sides = [area.left, area.top, area.width(), area.height()];
    sides.map(short).join(",")
}

/// A value in four digits; nothing for one that was not recorded.
fn value(value: Option<f32>) -> String {
    match value.filter(|value| value.is_finite() && !is_absent(*value)) {
        Some(value) => {
            let digits = format!("{value:.3e}");
            let rounded = digits.parse::<f32>().unwrap_or(value);
            let [plain, short] = [rounded.to_string(), format!("{rounded:e}")];
            if plain.len() <= short.len() {
                plain
            } else {
                short
            }
        }
        None => "null".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use flate2::{Decompress, FlushDecompress};
    use serde_json::Value;

    use super::*;
    use crate::figure::fixture::recording;
    use crate::figure::scene::layout::Scene;
    use crate::figure::{Drawing, Figure, Layout, Options, Style};
    use crate::platform::at_once;

    fn file(pages: &dyn Pages) -> Result<String, NoFile> {
        let bytes = at_once(html(pages, async |_, _| ControlFlow::Continue(())))?;
        Ok(String::from_utf8(bytes).expect("text"))
    }

    fn block(page: &str, id: &str) -> Value {
        let (_, after) = page.split_once(&format!("id=\"{id}\">")).expect("a block");
        let (packed, _) = after.split_once('<').expect("an end");
        let packed = STANDARD.decode(packed).expect("base64");
        let mut text = Vec::with_capacity(100_000_000);
        let unpacked =
            Decompress::new(true).decompress_vec(&packed, &mut text, FlushDecompress::Finish);
        assert_eq!(unpacked.expect("packed text"), flate2::Status::StreamEnd);
        let text = String::from_utf8(text).expect("text");
        serde_json::from_str(&text).expect("JSON")
    }

    #[test]
    fn a_page_has_every_step_stage_and_head_and_needs_no_network() {
        let recording = recording();
        let options = Options {
            step: Some(3),
            ..Options::new(Layout::Debug)
        };
        let figure = Figure::new(&recording, options);
        let page = file(&figure).expect("a file");
        assert_eq!(page, file(&figure).expect("a file"), "the same bytes");
        let without_names = page.replace("http://www.w3.org/", "");
        let places = ["{title}", "{still}", "{tables}", "{frames}"];
        assert!(
            !without_names.contains("http") && !places.iter().any(|place| page.contains(place))
        );
        let (tables, frames) = (block(&page, "tables"), block(&page, "frames"));
        assert_eq!(tables["heads"].as_array().map(Vec::len), Some(4));
        assert_eq!(tables["first"][0], 3);
        let frames = frames.as_array().expect("frames");
        let (steps, stages) = (
            recording.trace.steps(),
            figure.frame_times(Walk::Player).len(),
        );
        assert!(stages > 5 * steps);
        assert_eq!(frames.len(), 4 * stages);
        let ends = frames.iter().filter(|frame| frame[2] == "");
        assert_eq!(ends.count(), 4 * steps);
        // Every mark, part and value of a frame is there.
        let has = |table: &str, number: &Value| {
            number
                .as_u64()
                .is_some_and(|number| !tables[table][number as usize].is_null())
        };
        for frame in frames {
            assert!(frame[3].as_str().is_some_and(|words| !words.is_empty()));
            for (place, table) in [(4, "marks"), (5, "parts")] {
                let numbers = frame[place].as_array().expect("numbers");
                assert!(!numbers.is_empty() && numbers.iter().all(|number| has(table, number)));
            }
        }
        let parts = tables["parts"].as_array().expect("parts");
        let valued: Vec<_> = parts.iter().filter(|part| part.get(9).is_some()).collect();
        assert!(valued.len() > 20);
        for part in valued {
            let values = part[9].as_u64().expect("a number") as usize;
            let count = part[7].as_u64().expect("columns") as usize
                * part[8].as_array().expect("rows").len();
            assert_eq!(
                tables["values"][values].as_array().map(Vec::len),
                Some(count),
                "{part}"
            );
        }
    }

    #[test]
    fn both_themes_have_the_same_marks() {
        let recording = recording();
        for layout in [Layout::Debug, Layout::CloseUp, Layout::Paper] {
            let figure = Figure::new(&recording, Options::new(layout));
            for at in figure.frame_times(Walk::Player).into_iter().step_by(5) {
                let drawn = [false, true].map(|dark| {
                    let mut drawn = Vec::new();
                    let (head, dark) = (Some(1), Some(dark));
                    figure.show(&View { at, head, dark }, &mut |(drawing, _)| {
                        drawn = drawing.marks;
                    });
                    drawn
                });
                let kinds =
                    drawn.map(|marks| marks.iter().map(std::mem::discriminant).collect::<Vec<_>>());
                assert_eq!(kinds[0], kinds[1]);
            }
        }
    }

    /// Pages that no packing makes small.
    struct Noise;

    impl Pages for Noise {
        fn scene(&self) -> Scene<'_> {
            (Drawing::new(10.0, 10.0, [0; 3], String::new()), Vec::new())
        }

        fn show(&self, view: &View, seen: &mut dyn FnMut(Scene<'_>)) {
            let (mut drawing, places) = self.scene();
            let mark = |index: usize| {
                let hash = (view.at.step * 10_000 + index).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let (text, style) = (format!("{hash:x}"), Style::new(10.0, [0; 3]));
                Mark::Text(Text {
                    text,
                    at: [0.0; 2],
                    style,
                })
            };
            drawing.marks.extend((0..10_000).map(mark));
            seen((drawing, places));
        }

        fn frame_times(&self, _: Walk) -> Vec<FrameTime> {
            (0..100_000)
                .map(|step| FrameTime::new(step, None))
                .collect()
        }

        fn least_size(&self) -> (f32, f32) {
            (1.0, 1.0)
        }
    }

    #[test]
    fn a_page_that_grows_too_large_is_given_up() {
        assert_eq!(file(&Noise), Err(NoFile::TooLarge(100_000)));
    }
}
