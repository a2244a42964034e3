//! The fonts of the window and of every figure, inside the program once: a picture looks the same on every computer.
//! A letter that they lack is drawn by a font of the computer, or else as a box with its number.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Node, Options, Tree};
use skrifa::MetadataProvider;
use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;

use crate::figure::{Area, Style};

/// Each by its name, as a font file.
pub static FONTS: [(&str, &[u8]); 3] = [
    ("Inter", MEDIUM),
    ("Inter SemiBold", BOLD),
    ("JetBrains Mono", MONO),
];
static MEDIUM: &[u8] = include_bytes!("../../../assets/fonts/Inter-Medium.ttf");
static BOLD: &[u8] = include_bytes!("../../../assets/fonts/Inter-SemiBold.ttf");
static MONO: &[u8] = include_bytes!("../../../assets/fonts/JetBrainsMono-Medium.ttf");

/// From the middle of the capitals down to the line they stand on, of the size of a text.
pub(crate) const DROP: f32 = 0.36;
/// Width of a letter that only another font has, of its size.
const UNKNOWN: f32 = 0.6;

/// The letters of a font, and their widths, of its size.
struct Letters {
    all: Charmap<'static>,
    widths: GlyphMetrics<'static>,
    /// Those of the letters that stand in nearly all texts, by their codes.
    common: [Option<f32>; 128],
}

impl Letters {
    fn width(&self, letter: char) -> Option<f32> {
        self.widths.advance_width(self.all.map(letter)?)
    }
}

static LETTERS: LazyLock<[Option<Letters>; 3]> = LazyLock::new(|| {
    FONTS.map(|(_, file)| {
        let font = skrifa::FontRef::new(file).ok()?;
        let mut letters = Letters {
            all: font.charmap(),
            widths: font.glyph_metrics(Size::new(1.0), LocationRef::default()),
            common: [None; 128],
        };
        letters.common = std::array::from_fn(|code| letters.width(char::from(code as u8)));
        Some(letters)
    })
});

fn letter_width(font: usize, letter: char) -> Option<f32> {
    let letters = LETTERS[font].as_ref()?;
    let common = letters.common.get(letter as usize);
    common.map_or_else(|| letters.width(letter), |width| *width)
}

/// Returns a font with all letters of a text: a name that no other has, its file, and its place in that.
pub type FindFont = fn(&str) -> Option<(String, Arc<Vec<u8>>, u32)>;

/// Runs of letters that are kept, at most.
const MOST_RUNS: usize = 4096;

/// The fonts found for letters that the built-in fonts lack.
struct Found {
    find: Option<FindFont>,
    /// The built-in fonts, and those that were found.
    database: Arc<Database>,
    /// The font of a run of letters, and the width of the run, of its size.
    runs: HashMap<String, Option<(String, f32)>>,
    /// The letters drawn as boxes; true where that was said.
    boxes: BTreeMap<char, bool>,
}

fn found() -> MutexGuard<'static, Found> {
    static FOUND: LazyLock<Mutex<Found>> = LazyLock::new(|| Mutex::new(Found::new(None)));
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Found {
    fn new(find: Option<FindFont>) -> Self {
        let mut database = Database::new();
        for (_, file) in FONTS {
            database.load_font_source(Source::Binary(Arc::new(file)));
        }
        Self {
            find,
            database: Arc::new(database),
            runs: HashMap::new(),
            boxes: BTreeMap::new(),
        }
    }

    fn run(&mut self, text: &str) -> Option<(String, f32)> {
        if let Some(known) = self.runs.get(text) {
            return known.clone();
        }
        let find = self.find.filter(|_| !text.contains(is_invisible));
        let font = find.and_then(|find| find(text));
        let drawn = font.and_then(|(name, file, index)| {
            let is_known = self.database.faces().any(|face| face.families[0].0 == name);
            if !is_known {
                let mut face = self.database.faces().next()?.clone();
                (face.source, face.index) = (Source::Binary(file), index);
                face.families[0].0.clone_from(&name);
                Arc::make_mut(&mut self.database).push_face_info(face);
            }
            let width = self.width(text, &name)?;
            Some((name, width))
        });
        if self.runs.len() >= MOST_RUNS {
            self.runs.clear();
        }
        self.runs.insert(text.to_owned(), drawn.clone());
        drawn
    }

    /// The width of a text in a font, of its size; `None` if it draws nothing.
    fn width(&self, text: &str, font: &str) -> Option<f32> {
        let text = escape(text);
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><text font-family=\"{font}\" font-size=\"100\">{text}</text></svg>"
        );
        let options = Options {
            fontdb: self.database.clone(),
            ..Options::default()
        };
        let page = Tree::from_str(&svg, &options).ok()?;
        let [Node::Text(text)] = page.root().children() else {
            return None;
        };
        let is_drawn = text.flattened().has_children() && text.bounding_box().width() > 1.0;
        is_drawn.then(|| text.bounding_box().width() / 100.0)
    }
}

/// Sets where fonts for letters that the built-in ones lack come from. Without it, each is drawn as a box.
pub fn look_in(find: FindFont) {
    found().find = Some(find);
}

/// The built-in fonts, and those found so far.
pub(crate) fn database() -> Arc<Database> {
    found().database.clone()
}

/// The font of a part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Drawn {
    /// The fonts of the program.
    BuiltIn,
    /// The font of this name in [`database`].
    By(String),
    /// None: the one letter is a box.
    Boxed,
}

/// Returns a text in parts, each drawn in one way, and the widths of those, of the size of the text.
pub(crate) fn pieces<'t>(text: &'t str, style: &Style) -> Vec<(&'t str, Drawn, f32)> {
    let by_font = |text: &'t str| {
        let (font, width) = found().run(text)?;
        Some((text, Drawn::By(font), width))
    };
    let alone = |text: &'t str| match lacking(text) {
        None => (text, Drawn::BuiltIn, built_in_width(text, style)),
        Some(_) => by_font(text).unwrap_or((text, Drawn::Boxed, 0.3 * columns(text) as f32 + 0.3)),
    };
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(run) = lacking(rest) {
        let letters = &rest[run.clone()];
        pieces.push(alone(&rest[..run.start]));
        match by_font(letters) {
            Some(piece) => pieces.push(piece),
            None => pieces.extend(letters.split_inclusive(|_| true).map(alone)),
        }
        rest = &rest[run.end..];
    }
    pieces.push(alone(rest));
    pieces
}

/// Digits in each of the two lines of the box of a letter.
fn columns(letter: &str) -> usize {
    if letter.len() > 3 { 3 } else { 2 }
}

/// The two lines of digits in the box of a letter. That it is drawn is kept for [`warning`].
pub(crate) fn digits(letter: &str) -> [String; 2] {
    let columns = columns(letter);
    let letter = letter.chars().next().unwrap_or_default();
    found().boxes.entry(letter).or_default();
    let mut digits = format!("{:0width$X}", letter as u32, width = 2 * columns);
    let lower = digits.split_off(columns);
    [digits, lower]
}

/// True of a letter that fonts draw as nothing, and that is no white space: a control character, or one with the property
/// `Default_Ignorable_Code_Point` of Unicode.
#[rustfmt::skip] // One row for several blocks of Unicode.
pub fn is_invisible(letter: char) -> bool {
    letter.is_control() && !letter.is_whitespace() || matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns the first run of letters that the built-in fonts lack, a mark together with what it belongs to; or the first
/// invisible letter, alone.
fn lacking(text: &str) -> Option<Range<usize>> {
    let lacks = |letter: char| {
        let is_there = |font| letter_width(font, letter).is_some();
        let is_space = matches!(letter, '\t' | '\n' | '\r');
        is_invisible(letter) || !is_space && !(0..FONTS.len()).any(is_there)
    };
    let (first, letter) = text.char_indices().find(|(_, letter)| lacks(*letter))?;
    if is_invisible(letter) {
        return Some(first..first + letter.len_utf8());
    }
    let before = text[..first].char_indices().next_back();
    let base = before.filter(|(_, base)| !letter.is_alphanumeric() && !base.is_whitespace());
    let is_mark =
        |letter: char| !(letter.is_ascii() || letter.is_alphanumeric() || letter.is_whitespace());
    let goes_on = |letter| !is_invisible(letter) && (lacks(letter) || is_mark(letter));
    let end = text[first..].find(|letter| !goes_on(letter));
    Some(base.map_or(first, |(at, _)| at)..end.map_or(text.len(), |end| first + end))
}

/// True where the built-in fonts draw every letter of a text.
pub fn is_whole(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || lacking(text).is_none()
}

/// Returns a warning that names the letters drawn as boxes, each once in the life of the program.
pub fn warning() -> Option<String> {
    const MOST: usize = 8;
    let mut found = found();
    let named = found.boxes.iter_mut().filter_map(|(&letter, said)| {
        let is_new = !std::mem::replace(said, true);
        let number = format!("U+{:04X}", letter as u32);
        let named = if is_invisible(letter) {
            number
        } else {
            format!("`{letter}` ({number})")
        };
        is_new.then_some(named)
    });
    let mut named: Vec<_> = named.collect();
    let more = if named.len() > MOST { ", …" } else { "" };
    named.truncate(MOST);
    let named = named.join(", ");
    (!named.is_empty()).then(|| {
        format!(
            "no font draws these letters, so a box with its number stands for each: {named}{more}; install a font that has \
             those that are visible, or write .svg, which is drawn with the fonts of the reader"
        )
    })
}

fn built_in_width(text: &str, style: &Style) -> f32 {
    let font = style.weight as usize;
    let width = |letter: char| {
        letter_width(font, letter)
            .or_else(|| letter_width(0, letter))
            .unwrap_or(UNKNOWN)
    };
    text.chars().map(width).sum()
}

/// Returns the width of a line of text, without kerning. A letter that its font lacks is one of the text font, or of the
/// font that draws it.
pub fn width_of(text: &str, style: &Style) -> f32 {
    if is_whole(text) {
        return built_in_width(text, style) * style.size;
    }
    let widths = pieces(text, style);
    widths.iter().map(|(_, _, width)| width).sum::<f32>() * style.size
}

/// Returns the width of a line of text in letters of this size.
pub fn text_width(text: &str, size: f32) -> f32 {
    width_of(text, &Style::new(size, [0; 3]))
}

/// Returns the area of a line of text with its anchor at a point.
pub fn area_of(text: &str, [x, y]: [f32; 2], style: &Style) -> Area {
    let (width, height) = (width_of(text, style), 1.25 * style.size);
    let left = x - width * style.anchor.share();
    Area::new(left, y - height / 2.0, width, height)
}

/// Returns a text of at most this width; a longer one is cut and ends in dots.
pub fn cut(text: &str, style: &Style, room: f32) -> String {
    if width_of(text, style) <= room {
        return text.to_owned();
    }
    let mut text = text.to_owned();
    while text.pop().is_some() && width_of(&text, style) + width_of("…", style) > room {}
    text + "…"
}

/// Breaks a text into lines of at most this width, between words.
pub fn lines(text: &str, style: &Style, room: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}"), style) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Text that is safe between the tags of an SVG.
pub(crate) fn escape(text: &str) -> String {
    // XML has no place for control characters, nor for these two.
    let is_odd = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    let safe = text.replace(is_odd, " ").replace('&', "&amp;");
    let safe = safe.replace('<', "&lt;").replace('>', "&gt;");
    safe.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_fonts() {
        let style = Style::new(10.0, [0; 3]);
        assert_eq!(
            width_of("iii", &style.mono()),
            3.0 * width_of("m", &style.mono())
        );
        assert!(width_of("i", &style) < 0.5 * width_of("m", &style));
        assert!(width_of("word", &style) < width_of("word", &style.bold()));
        let [one, two] = [10.0, 20.0].map(|size| width_of("β 3.1 →", &Style { size, ..style }));
        assert!((two - 2.0 * one).abs() < 1e-4);
    }

    #[test]
    fn lines_keep_every_word_and_fit() {
        let style = Style::new(12.0, [0; 3]);
        let text = "W0 writes to row 12 and moves on by one row in every step";
        let lines = lines(text, &style, 100.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| width_of(line, &style) <= 100.0));
        assert_eq!(lines.join(" "), text);
    }

    #[test]
    fn a_mark_stays_with_its_letter() {
        let runs = [
            ("a\u{320}b", Some(0..3)),
            ("ba\u{320}\u{301}c", Some(1..6)),
            ("x가나 다", Some(1..7)),
            (" \u{320}", Some(1..3)),
            ("\u{1}", Some(0..1)),
            ("é → β\n\u{301}", None),
        ];
        for (text, run) in runs {
            assert_eq!(lacking(text), run, "{text:?}");
        }
    }

    #[test]
    fn letters_of_no_font_are_boxes_with_their_numbers() {
        let style = Style::new(10.0, [0; 3]);
        let parts = pieces("xa\u{320}가😀 y", &style);
        let drawn: Vec<_> = parts
            .iter()
            .map(|(text, drawn, _)| (*text, drawn.clone()))
            .collect();
        let expected = [
            ("x", Drawn::BuiltIn),
            ("a", Drawn::BuiltIn),
            ("\u{320}", Drawn::Boxed),
            ("가", Drawn::Boxed),
            ("😀", Drawn::Boxed),
            (" y", Drawn::BuiltIn),
        ];
        assert_eq!(drawn, expected);
        let width: f32 = parts.iter().map(|(_, _, width)| 10.0 * width).sum();
        assert!((width_of("xa\u{320}가😀 y", &style) - width).abs() < 1e-4);
        assert_eq!(digits("가"), ["AC", "00"]);
        assert_eq!(digits("\u{320}"), ["03", "20"]);
        assert_eq!(digits("😀"), ["01F", "600"]);
    }

    #[test]
    fn invisible_letters_are_boxes() {
        let style = Style::new(10.0, [0; 3]);
        let invisible = "\0\u{ad}\u{34f}\u{115f}\u{200b}\u{200d}\u{202e}\u{2060}\u{3164}\u{fe0f}\u{feff}\u{e0001}\u{e0100}";
        for letter in invisible.chars() {
            let text = format!("a{letter}b");
            let parts = pieces(&text, &style).into_iter();
            let drawn: Vec<_> = parts
                .filter(|(text, ..)| !text.is_empty())
                .map(|(_, drawn, _)| drawn)
                .collect();
            let expected = [Drawn::BuiltIn, Drawn::Boxed, Drawn::BuiltIn];
            assert_eq!(drawn, expected, "{letter:?}");
            assert!(width_of(&text, &style) > width_of("ab", &style) + 5.0);
        }
        assert!(is_whole("a\u{a0}b\u{2009}c\t\n"));
    }

    #[test]
    fn a_run_is_as_wide_as_its_font_draws_it() {
        let mono = |_: &str| Some(("other".to_owned(), Arc::new(MONO.to_vec()), 0));
        let mut found = Found::new(Some(mono));
        let (font, width) = found.run("iii").unwrap();
        assert_eq!(font, "other");
        assert!((width - 1.8).abs() < 0.01, "{width}");
        assert_eq!(found.run("\u{a0}"), None, "draws nothing");
        assert_eq!(found.run("i\u{feff}"), None, "draws a part");
        assert_eq!(found.database.len(), FONTS.len() + 1);
    }
}
