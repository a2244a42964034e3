//! A page: a list of marks, in the order in which they are painted.

use crate::figure::Rgb;

/// A rectangle of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Left edge.
    pub left: f32,
    /// Upper edge.
    pub top: f32,
    /// Right edge.
    pub right: f32,
    /// Lower edge.
    pub bottom: f32,
}

impl Area {
    /// Creates an area from left, top, width and height.
    pub fn new(left: f32, top: f32, width: f32, height: f32) -> Self {
        let (right, bottom) = (left + width, top + height);
        Self::default().across(left, right).down(top, bottom)
    }

    /// The width.
    pub fn width(&self) -> f32 {
        self.right - self.left
    }

    /// The height.
    pub fn height(&self) -> f32 {
        self.bottom - self.top
    }

    /// Returns the area with these left and right edges.
    pub fn across(mut self, left: f32, right: f32) -> Self {
        (self.left, self.right) = (left, right);
        self
    }

    /// Returns the area with these upper and lower edges.
    pub fn down(mut self, top: f32, bottom: f32) -> Self {
        (self.top, self.bottom) = (top, bottom);
        self
    }

    /// Returns the area without a margin at its sides, and one above and below.
    pub(crate) fn inset(self, x: f32, y: f32) -> Self {
        self.across(self.left + x, self.right - x)
            .down(self.top + y, self.bottom - y)
    }

    /// The corners, the first one at the end again.
    pub(crate) fn corners(&self) -> [[f32; 2]; 5] {
        let (x, y) = ([self.left, self.right], [self.top, self.bottom]);
        [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]].map(|[column, row]| [x[column], y[row]])
    }

    /// A level line through the area at this height.
    pub fn level(&self, y: f32) -> [[f32; 2]; 2] {
        [[self.left, y], [self.right, y]]
    }

    /// An upright line through the area at this place.
    pub fn upright(&self, x: f32) -> [[f32; 2]; 2] {
        [[x, self.top], [x, self.bottom]]
    }

    /// The middle, from left to right.
    pub fn middle(&self) -> f32 {
        f32::midpoint(self.left, self.right)
    }

    /// The middle, from top to bottom.
    pub fn centre(&self) -> f32 {
        f32::midpoint(self.top, self.bottom)
    }
}

/// Pixels, row after row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels across.
    pub columns: usize,
    /// Pixels down.
    pub rows: usize,
    /// All of them.
    pub pixels: Vec<Rgb>,
}

/// Horizontal anchor of a text; vertically it is always the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The beginning.
    Start,
    /// The middle.
    Middle,
    /// The end.
    End,
}

impl Anchor {
    /// The share of a text before it.
    pub(crate) fn share(self) -> f32 {
        match self {
            Self::Start => 0.0,
            Self::Middle => 0.5,
            Self::End => 1.0,
        }
    }
}

/// Weight of a font, by its place among [`FONTS`](crate::figure::scene::fonts::FONTS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Text.
    Medium,
    /// Titles.
    Bold,
    /// Numbers, every digit as wide as the others.
    Mono,
}

/// A colour with an opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ink {
    /// The colour.
    pub colour: Rgb,
    /// 0 is transparent, 1 is opaque.
    pub opacity: f32,
}

impl From<Rgb> for Ink {
    fn from(colour: Rgb) -> Self {
        let opacity = 1.0;
        Self { colour, opacity }
    }
}

impl Ink {
    /// Returns the ink with its opacity times `share`.
    pub fn faded(mut self, share: f32) -> Self {
        self.opacity *= share;
        self
    }
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Position of the anchor, and the vertical middle.
    pub at: [f32; 2],
    /// The style.
    pub style: Style,
}

/// Something painted.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A filled rectangle.
    Rect {
        /// The position.
        area: Area,
        /// The colour.
        fill: Ink,
    },
    /// The edge of a rectangle.
    Edge {
        /// The area.
        area: Area,
        /// The colour.
        ink: Ink,
        /// True for a line inside it, false for one outside.
        inside: bool,
    },
    /// A line through these points.
    Line {
        /// The position.
        points: Vec<[f32; 2]>,
        /// The colour.
        ink: Ink,
        /// The line width.
        width: f32,
        /// Lengths of dashes and gaps in turn; empty for a solid line.
        dashes: Vec<f32>,
    },
    /// A filled shape with these corners.
    Shape {
        /// The position.
        points: Vec<[f32; 2]>,
        /// The colour.
        fill: Ink,
    },
    /// A line of text.
    Text(Text),
    /// An image, every pixel a sharp rectangle.
    Image {
        /// The position.
        area: Area,
        /// The image.
        image: Image,
    },
}

impl Mark {
    /// Its colour; of an image none.
    pub(crate) fn ink(&self) -> Option<Ink> {
        match self {
            Self::Rect { fill: ink, .. }
            | Self::Edge { ink, .. }
            | Self::Line { ink, .. }
            | Self::Shape { fill: ink, .. } => Some(*ink),
            Self::Text(text) => Some(text.style.ink),
            Self::Image { .. } => None,
        }
    }
}

/// A page.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The width.
    pub width: f32,
    /// The height.
    pub height: f32,
    /// The contents, in one line.
    pub title: String,
    /// The colour.
    pub ground: Rgb,
    /// The marks on it.
    pub marks: Vec<Mark>,
    /// Its pictures in words, where they are, for screen readers and the pointer.
    pub parts: Vec<(Area, String)>,
}

impl Drawing {
    /// An empty page.
    pub fn new(width: f32, height: f32, ground: Rgb, title: String) -> Self {
        Self {
            width,
            height,
            title,
            ground,
            marks: Vec::new(),
            parts: Vec::new(),
        }
    }
}

/// Style of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// The size of its letters.
    pub size: f32,
    /// The colour.
    pub ink: Ink,
    /// The anchor at its position.
    pub anchor: Anchor,
    /// The font weight.
    pub weight: Weight,
    /// True when it runs upwards.
    pub upwards: bool,
}

impl Style {
    /// Text that begins at its place.
    pub(crate) fn new(size: f32, ink: impl Into<Ink>) -> Self {
        Self {
            size,
            ink: ink.into(),
            anchor: Anchor::Start,
            weight: Weight::Medium,
            upwards: false,
        }
    }

    /// Anchors the text at its middle.
    pub(crate) fn middle(mut self) -> Self {
        self.anchor = Anchor::Middle;
        self
    }

    /// Anchors the text at its end.
    pub(crate) fn end(mut self) -> Self {
        self.anchor = Anchor::End;
        self
    }

    /// Makes the text bold.
    pub(crate) fn bold(mut self) -> Self {
        self.weight = Weight::Bold;
        self
    }

    /// Makes the text bold where this holds.
    pub(crate) fn bold_if(self, bold: bool) -> Self {
        if bold { self.bold() } else { self }
    }

    /// Makes the text monospaced.
    pub(crate) fn mono(mut self) -> Self {
        self.weight = Weight::Mono;
        self
    }

    /// Turns the text from bottom to top, its middle at its place.
    pub(crate) fn upwards(mut self) -> Self {
        self.upwards = true;
        self.middle()
    }
}
