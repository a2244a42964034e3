//! The fonts of the window and of every figure, inside the program once: a picture looks the same on every computer.

use std::sync::LazyLock;

use skrifa::MetadataProvider;
use skrifa::instance::{LocationRef, Size};

use crate::figure::{Area, Style};

/// Each by its name, as a font file.
pub static FONTS: [(&str, &[u8]); 3] = [
    ("Inter", MEDIUM),
    ("Inter SemiBold", BOLD),
    ("JetBrains Mono", MONO),
];
const MEDIUM: &[u8] = include_bytes!("../../../assets/fonts/Inter-Medium.ttf");
const BOLD: &[u8] = include_bytes!("../../../assets/fonts/Inter-SemiBold.ttf");
const MONO: &[u8] = include_bytes!("../../../assets/fonts/JetBrainsMono-Medium.ttf");

/// Width of a letter that no font has, of its size.
const UNKNOWN: f32 = 0.6;
/// Number of letters whose widths are kept: Latin, Greek, raised and lowered letters, arrows and signs.
const KEPT: u32 = 0x2600;

/// The widths of the letters of each font, of its size.
static WIDTHS: LazyLock<[Vec<Option<f32>>; 3]> =
    LazyLock::new(|| FONTS.map(|(_, file)| widths(file)));

fn widths(file: &[u8]) -> Vec<Option<f32>> {
    let Ok(font) = skrifa::FontRef::new(file) else {
        return Vec::new();
    };
    let letters = font.charmap();
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    let width = |letter: u32| metrics.advance_width(letters.map(letter)?);
    (0..KEPT).map(width).collect()
}

/// Returns the width of a line of text, without kerning. A letter that its font lacks is one of the text font.
pub fn width_of(text: &str, style: &Style) -> f32 {
    let of = |font: usize, letter: char| WIDTHS[font].get(letter as usize).copied().flatten();
    let font = style.weight as usize;
    let width = |letter: char| {
        of(font, letter)
            .or_else(|| of(0, letter))
            .unwrap_or(UNKNOWN)
    };
    text.chars().map(width).sum::<f32>() * style.size
}

/// Returns the first letter of a text that no font has.
pub fn without_glyph(text: &str) -> Option<char> {
    let has = |letter: char| {
        WIDTHS
            .iter()
            .any(|font| matches!(font.get(letter as usize), Some(Some(_))))
    };
    text.chars()
        .find(|letter| !letter.is_whitespace() && !has(*letter))
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
}
