//! Icons, drawn as shapes: sharp at every size, in the colour of the text around them.

use std::ops::RangeInclusive;

use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};

/// The kind of an icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// A triangle to the right.
    Play,
    /// Two bars.
    Pause,
    /// A bar and a triangle to the right.
    Next,
    /// A triangle to the left and a bar.
    Previous,
    /// To the very beginning.
    First,
    /// To the very end.
    Last,
    /// Round and round.
    Loop,
    /// A half-dark disc.
    Theme,
    /// A folder.
    Open,
    /// An arrow down into a tray.
    Save,
    /// A question mark.
    Help,
    /// A cross.
    Close,
    /// An arrow round.
    Again,
    /// Less.
    Minus,
    /// More.
    Plus,
    /// A filled triangle: a write head.
    Write,
    /// A hollow triangle on its tip: a read head.
    Read,
    /// A panel at the right.
    Panel,
    /// Four cards.
    Cards,
    /// Two sliders.
    Sliders,
    /// Three dots.
    More,
}

impl Icon {
    /// Draws the icon in the middle of `rect`.
    pub fn paint(self, painter: &Painter, rect: Rect, color: Color32) {
        let pen = Pen {
            painter,
            center: rect.center(),
            unit: rect.width().min(rect.height()) / 24.0,
            color,
        };
        match self {
            Self::Play => pen.fill(&[(-4.5, -6.5), (6.5, 0.0), (-4.5, 6.5)]),
            Self::Pause => {
                pen.bar(-3.5, -6.0, 3.0, 12.0);
                pen.bar(3.5, -6.0, 3.0, 12.0);
            }
            Self::Next => {
                pen.fill(&[(-6.0, -5.5), (3.0, 0.0), (-6.0, 5.5)]);
                pen.bar(5.0, -5.5, 2.0, 11.0);
            }
            Self::Previous => {
                pen.fill(&[(6.0, -5.5), (-3.0, 0.0), (6.0, 5.5)]);
                pen.bar(-5.0, -5.5, 2.0, 11.0);
            }
            Self::First => {
                pen.bar(-7.0, -5.5, 2.0, 11.0);
                pen.fill(&[(0.5, -5.5), (-5.5, 0.0), (0.5, 5.5)]);
                pen.fill(&[(7.0, -5.5), (1.0, 0.0), (7.0, 5.5)]);
            }
            Self::Last => {
                pen.bar(7.0, -5.5, 2.0, 11.0);
                pen.fill(&[(-0.5, -5.5), (5.5, 0.0), (-0.5, 5.5)]);
                pen.fill(&[(-7.0, -5.5), (-1.0, 0.0), (-7.0, 5.5)]);
            }
            Self::Loop => pen.loop_around(),
            Self::Again => pen.again(),
            Self::Theme => pen.theme(),
            Self::Open => pen.lines(&[
                (-7.0, 6.0),
                (-7.0, -5.0),
                (-2.0, -5.0),
                (0.0, -3.0),
                (7.0, -3.0),
                (7.0, 6.0),
                (-7.0, 6.0),
            ]),
            Self::Save => {
                pen.lines(&[(-7.0, 3.0), (-7.0, 7.0), (7.0, 7.0), (7.0, 3.0)]);
                pen.lines(&[(0.0, -7.0), (0.0, 3.0)]);
                pen.lines(&[(-4.0, -1.0), (0.0, 3.0), (4.0, -1.0)]);
            }
            Self::Help => pen.help(),
            Self::Close => {
                pen.lines(&[(-4.5, -4.5), (4.5, 4.5)]);
                pen.lines(&[(-4.5, 4.5), (4.5, -4.5)]);
            }
            Self::Minus => pen.lines(&[(-4.5, 0.0), (4.5, 0.0)]),
            Self::Plus => {
                pen.lines(&[(-4.5, 0.0), (4.5, 0.0)]);
                pen.lines(&[(0.0, -4.5), (0.0, 4.5)]);
            }
            Self::Write => pen.fill(&[(0.0, -8.0), (8.5, 7.0), (-8.5, 7.0)]),
            Self::Read => pen.lines(&[(-7.5, -6.0), (7.5, -6.0), (0.0, 7.0), (-7.5, -6.0)]),
            Self::Cards => {
                for (x, top) in [(-4.0, -7.0), (4.0, -7.0), (-4.0, 1.0), (4.0, 1.0)] {
                    pen.bar(x, top, 6.0, 6.0);
                }
            }
            Self::Sliders => {
                for (y, knob) in [(-4.0, 3.0), (4.0, -3.0)] {
                    pen.lines(&[(-8.0, y), (8.0, y)]);
                    pen.dot((knob, y), 3.0);
                }
            }
            Self::More => [-6.5, 0.0, 6.5]
                .into_iter()
                .for_each(|y| pen.dot((0.0, y), 1.8)),
            Self::Panel => {
                pen.lines(&[
                    (-7.0, -6.0),
                    (7.0, -6.0),
                    (7.0, 6.0),
                    (-7.0, 6.0),
                    (-7.0, -6.0),
                ]);
                pen.lines(&[(2.5, -6.0), (2.5, 6.0)]);
            }
        }
    }
}

/// Draws in a square of 24 units about a centre.
struct Pen<'a> {
    painter: &'a Painter,
    center: Pos2,
    unit: f32,
    color: Color32,
}

impl Pen<'_> {
    fn at(&self, (x, y): (f32, f32)) -> Pos2 {
        self.center + vec2(x, y) * self.unit
    }

    fn stroke(&self) -> Stroke {
        Stroke::new(1.6 * self.unit, self.color)
    }

    fn fill(&self, points: &[(f32, f32)]) {
        let points = points.iter().map(|&point| self.at(point)).collect();
        self.painter
            .add(Shape::convex_polygon(points, self.color, Stroke::NONE));
    }

    fn lines(&self, points: &[(f32, f32)]) {
        let points: Vec<_> = points.iter().map(|&point| self.at(point)).collect();
        self.painter.add(Shape::line(points, self.stroke()));
    }

    fn bar(&self, center_x: f32, top: f32, width: f32, height: f32) {
        let min = self.at((center_x - width / 2.0, top));
        let rect = Rect::from_min_size(min, vec2(width, height) * self.unit);
        self.painter.rect_filled(rect, 0.0, self.color);
    }

    fn dot(&self, at: (f32, f32), radius: f32) {
        let (at, radius) = (self.at(at), radius * self.unit);
        self.painter.circle_filled(at, radius, self.color);
    }

    fn loop_around(&self) {
        self.lines(&[(-7.0, -0.5), (-7.0, -4.0), (4.0, -4.0)]);
        self.fill(&[(3.5, -7.5), (8.0, -4.0), (3.5, -0.5)]);
        self.lines(&[(7.0, 0.5), (7.0, 4.0), (-4.0, 4.0)]);
        self.fill(&[(-3.5, 7.5), (-8.0, 4.0), (-3.5, 0.5)]);
    }

    fn again(&self) {
        self.lines(&arc((0.0, 0.0), 6.0, -20.0..=270.0, 24));
        self.fill(&[(0.0, -9.5), (5.0, -6.0), (0.0, -2.5)]);
    }

    fn theme(&self) {
        let radius = 6.5 * self.unit;
        self.painter
            .circle_stroke(self.center, radius, self.stroke());
        self.fill(&arc((0.0, 0.0), 6.5, -90.0..=90.0, 16));
    }

    fn help(&self) {
        let mut points = arc((0.0, -3.0), 3.6, 180.0..=430.0, 18);
        points.extend([(0.0, 1.5), (0.0, 3.2)]);
        self.lines(&points);
        self.dot((0.0, 6.4), 1.2);
    }
}

/// Points on a part of a circle, in degrees.
fn arc(
    (x, y): (f32, f32),
    radius: f32,
    part: RangeInclusive<f32>,
    parts: usize,
) -> Vec<(f32, f32)> {
    let (from, to) = part.into_inner();
    let point = |i: usize| {
        let angle = (from + (to - from) * i as f32 / parts as f32).to_radians();
        (x + radius * angle.cos(), y + radius * angle.sin())
    };
    (0..=parts).map(point).collect()
}

/// The sign of a head, at a given place and size: the tip of a write head points up, that of a read
/// head down.
pub fn head_sign(painter: &Painter, center: Pos2, size: f32, write: bool, color: Color32) {
    let icon = if write { Icon::Write } else { Icon::Read };
    let rect = Rect::from_center_size(pos2(center.x, center.y), Vec2::splat(size));
    icon.paint(painter, rect, color);
}
