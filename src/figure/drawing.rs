//! What is on a page: a list of marks, in the order in which they are painted.

use super::panel::Cells;
use super::rows::{Axis, Span};
use super::{Picture, Rgb};

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
    /// From left, top, width and height.
    pub fn new(left: f32, top: f32, width: f32, height: f32) -> Self {
        Self {
            left,
            top,
            right: left + width,
            bottom: top + height,
        }
    }

    /// Its width.
    pub fn width(&self) -> f32 {
        self.right - self.left
    }

    /// Its height.
    pub fn height(&self) -> f32 {
        self.bottom - self.top
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

/// Which point of a text lies at its place; vertically it is always the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The beginning.
    Start,
    /// The middle.
    Middle,
    /// The end.
    End,
}

/// How heavy letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Text.
    Medium,
    /// Titles.
    Bold,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// What it says.
    pub text: String,
    /// Where its anchor is, and its vertical middle.
    pub at: [f32; 2],
    /// The size of its letters.
    pub size: f32,
    /// In which colour.
    pub ink: Rgb,
    /// What lies at `at`.
    pub anchor: Anchor,
    /// How heavy.
    pub weight: Weight,
    /// True when it runs upwards.
    pub upwards: bool,
}

/// Something painted.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A filled rectangle.
    Rect {
        /// Where.
        area: Area,
        /// In which colour.
        fill: Rgb,
    },
    /// A line through these points.
    Line {
        /// Where.
        points: Vec<[f32; 2]>,
        /// In which colour.
        ink: Rgb,
        /// How thick.
        width: f32,
        /// The length of its dashes; `None` where it has no gaps.
        dash: Option<f32>,
    },
    /// A filled shape with these corners.
    Shape {
        /// Where.
        points: Vec<[f32; 2]>,
        /// In which colour.
        fill: Rgb,
        /// 0: not there, 1: hides what is below it.
        opacity: f32,
    },
    /// A line of text.
    Text(Text),
    /// An image, every pixel a sharp rectangle.
    Image {
        /// Where.
        area: Area,
        /// What.
        image: Image,
    },
}

/// What a picture is, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PanelId {
    /// What it shows.
    pub picture: Picture,
    /// Of two episodes: A, B, or B − A.
    pub side: Option<usize>,
    /// The head or the layer that it is of, where it is of one.
    pub of: Option<usize>,
}

impl PanelId {
    /// A picture of the whole machine.
    pub fn new(picture: Picture) -> Self {
        Self {
            picture,
            side: None,
            of: None,
        }
    }

    /// A picture of a head, or of a layer.
    pub fn of(picture: Picture, of: usize) -> Self {
        let of = Some(of);
        Self {
            of,
            ..Self::new(picture)
        }
    }

    /// The same on another side.
    pub fn on(self, side: usize) -> Self {
        Self {
            side: Some(side),
            ..self
        }
    }
}

/// Where a picture stands on the page, to be pointed at.
#[derive(Clone, Debug)]
pub struct Place {
    /// What it is.
    pub id: PanelId,
    /// What it is called.
    pub name: String,
    /// The same without the side of a comparison.
    pub what: String,
    /// What exactly it shows.
    pub note: String,
    /// Where its data is.
    pub area: Area,
    /// The steps that run through it from left to right, where they do.
    pub steps: Option<usize>,
    /// What a row of it is called.
    pub row_name: &'static str,
    pub(super) placed: Axis,
    pub(super) cells: Option<Cells>,
}

impl Place {
    /// Column, row and value at a point of the page.
    pub fn cell_at(&self, x: f32, y: f32) -> Option<(usize, usize, f32)> {
        let cells = self.cells.as_ref()?;
        let area = &self.area;
        if !(area.left..area.right).contains(&x) {
            return None;
        }
        let share = (x - area.left) / area.width();
        let column = ((share * cells.columns as f32) as usize).min(cells.columns.checked_sub(1)?);
        let row = self.placed.row_at(y)?;
        Some((column, row, self.value(column, row)?))
    }

    /// Columns and rows of the values behind it, shown or not.
    pub fn size(&self) -> Option<(usize, usize)> {
        let cells = self.cells.as_ref()?;
        Some((cells.columns, cells.rows))
    }

    /// Where a row stands, if it is shown.
    pub fn row_span(&self, row: usize) -> Option<Span> {
        self.placed.place_of(row)
    }

    /// The value in a column and a row, if there is anything.
    pub fn value(&self, column: usize, row: usize) -> Option<f32> {
        let cells = self.cells.as_ref()?;
        let here = column < cells.columns && cells.skipped.get(column) != Some(&true);
        let value = cells.values.get(row * cells.columns + column);
        value.copied().filter(|_| here)
    }
}

/// A page.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Its width.
    pub width: f32,
    /// Its height.
    pub height: f32,
    /// What it shows, in one line.
    pub title: String,
    /// Its colour.
    pub ground: Rgb,
    /// What is on it.
    pub marks: Vec<Mark>,
    /// Its pictures.
    pub places: Vec<Place>,
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
            places: Vec::new(),
        }
    }

    /// A filled rectangle.
    pub(super) fn rect(&mut self, area: Area, fill: Rgb) {
        self.marks.push(Mark::Rect { area, fill });
    }

    /// A line without gaps.
    pub(super) fn line(&mut self, points: &[[f32; 2]], ink: Rgb, width: f32) {
        self.marks.push(Mark::Line {
            points: points.to_vec(),
            ink,
            width,
            dash: None,
        });
    }

    /// A line of text.
    pub(super) fn text(&mut self, text: impl Into<String>, at: [f32; 2], style: Style) {
        self.marks.push(Mark::Text(Text {
            text: text.into(),
            at,
            size: style.size,
            ink: style.ink,
            anchor: style.anchor,
            weight: style.weight,
            upwards: style.upwards,
        }));
    }

    /// The edge of a rectangle, just outside.
    pub(super) fn frame(&mut self, area: Area, ink: Rgb) {
        let (left, top) = (area.left - 0.5, area.top - 0.5);
        let (right, bottom) = (area.right + 0.5, area.bottom + 0.5);
        let corners = [
            [left, top],
            [right, top],
            [right, bottom],
            [left, bottom],
            [left, top - 0.5],
        ];
        self.line(&corners, ink, 1.0);
    }
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    size: f32,
    ink: Rgb,
    anchor: Anchor,
    weight: Weight,
    upwards: bool,
}

impl Style {
    /// Text that begins at its place.
    pub(super) fn new(size: f32, ink: Rgb) -> Self {
        Self {
            size,
            ink,
            anchor: Anchor::Start,
            weight: Weight::Medium,
            upwards: false,
        }
    }

    /// With its middle there.
    pub(super) fn middle(self) -> Self {
        Self {
            anchor: Anchor::Middle,
            ..self
        }
    }

    /// With its end there.
    pub(super) fn end(self) -> Self {
        Self {
            anchor: Anchor::End,
            ..self
        }
    }

    /// As a title.
    pub(super) fn bold(self) -> Self {
        Self {
            weight: Weight::Bold,
            ..self
        }
    }

    /// From bottom to top, its middle at its place.
    pub(super) fn upwards(self) -> Self {
        Self {
            upwards: true,
            ..self.middle()
        }
    }
}

/// About how wide a text is, in the letters of our fonts.
pub(super) fn width_of(text: &str, size: f32) -> f32 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | '|' | '\'' => 0.27,
        ' ' | 'f' | 'r' | 't' | '(' | ')' | '-' => 0.38,
        'm' | 'w' | 'M' | 'W' | '→' | '←' => 0.86,
        c if c.is_uppercase() => 0.68,
        _ => 0.59,
    };
    text.chars().map(width).sum::<f32>() * size
}
