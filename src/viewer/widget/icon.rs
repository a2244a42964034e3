//! Icons: the glyphs of a font, sharp at every size, in the colour of the text around them; and the signs of heads.

use egui::{Color32, Painter, Pos2, Shape, Stroke, vec2};

/// An icon, by its character in the font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// A question mark.
    Help = 0xe082,
    /// A half-dark disc.
    Theme = 0xe09d,
    /// An arrow down into a tray.
    Save = 0xe0b2,
    /// Three dots.
    More = 0xe0b7,
    /// Four cards.
    Cards = 0xe0ff,
    /// Less.
    Minus = 0xe11c,
    /// Two bars.
    Pause = 0xe12e,
    /// A triangle to the right.
    Play = 0xe13c,
    /// More.
    Plus = 0xe13d,
    /// Round and round.
    Loop = 0xe146,
    /// An arrow round.
    Again = 0xe149,
    /// To the very beginning.
    First = 0xe15f,
    /// To the very end.
    Last = 0xe160,
    /// A cross.
    Close = 0xe1b2,
    /// A folder.
    Open = 0xe247,
    /// Sliders.
    Sliders = 0xe29a,
    /// A step back.
    Previous = 0xe3e9,
    /// A step forward.
    Next = 0xe3ea,
    /// A panel at the right.
    Panel = 0xe431,
}

impl Icon {
    /// The character of the font.
    pub fn glyph(self) -> char {
        char::from_u32(self as u32).unwrap_or_default()
    }
}

/// A triangle that points down at its tip.
pub fn mark(painter: &Painter, tip: Pos2, [width, height]: [f32; 2], fill: Color32) {
    let corners = [(0.0, 0.0), (-0.5, -height), (0.5, -height)];
    let corners = corners.map(|(x, y)| tip + vec2(x * width, y)).to_vec();
    painter.add(Shape::convex_polygon(corners, fill, Stroke::NONE));
}

/// The sign of a head, at a given place and size: the tip of a filled triangle points up for a write head, that of a
/// hollow one down for a read head.
pub fn head_sign(painter: &Painter, center: Pos2, size: f32, write: bool, color: Color32) {
    let unit = size / 24.0;
    let (corners, fill, width) = if write {
        ([(0.0, -8.0), (8.5, 7.0), (-8.5, 7.0)], color, 0.0)
    } else {
        let hollow = color.gamma_multiply(0.0);
        ([(-7.5, -6.0), (7.5, -6.0), (0.0, 7.0)], hollow, 1.6)
    };
    let corners = corners.map(|(x, y)| center + vec2(x, y) * unit);
    let stroke = Stroke::new(width * unit, color);
    let triangle = Shape::convex_polygon(corners.to_vec(), fill, stroke);
    painter.add(triangle);
}
