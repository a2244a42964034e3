//! A figure on screen: the drawing that is exported, drawn anew only when what it shows changes.

use std::hash::{DefaultHasher, Hash, Hasher};

use egui::epaint::TextShape;
use egui::{Align2, Context, Painter, Pos2, Shape, Stroke, TextureHandle, TextureOptions, Vec2};

use super::picture::{color_image, paint};
use crate::figure::{Anchor, Area, Drawing, Image, Mark, Text, Weight};
use crate::viewer::theme;

/// The figure on screen.
#[derive(Default)]
pub struct Page {
    version: u64,
    drawing: Option<Drawing>,
    textures: Vec<TextureHandle>,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a figure with {} images", self.textures.len())
    }
}

impl Page {
    /// Draws the figure, unless `version` says that it is still the same.
    pub fn draw(&mut self, ctx: &Context, version: impl Hash, draw: impl FnOnce() -> Drawing) {
        let mut hasher = DefaultHasher::new();
        version.hash(&mut hasher);
        let version = hasher.finish();
        if self.drawing.is_some() && self.version == version {
            return;
        }
        let drawing = draw();
        let images = drawing.marks.iter().filter_map(|mark| match mark {
            Mark::Image { image, .. } => Some(image),
            _ => None,
        });
        let load = |image: &Image| {
            let image = color_image(image);
            ctx.load_texture("figure", image, TextureOptions::NEAREST)
        };
        self.textures = images.map(load).collect();
        (self.version, self.drawing) = (version, Some(drawing));
    }

    /// What is drawn.
    pub fn drawing(&self) -> Option<&Drawing> {
        self.drawing.as_ref()
    }

    /// Paints it with its upper left corner here.
    pub fn paint(&self, painter: &Painter, origin: Pos2) {
        let mut textures = self.textures.iter();
        let marks = self.drawing.iter().flat_map(|drawing| &drawing.marks);
        for mark in marks {
            match mark {
                Mark::Image { area, .. } => {
                    if let Some(texture) = textures.next() {
                        paint(painter, rect(area, origin), texture.id());
                    }
                }
                mark => paint_mark(painter, mark, origin),
            }
        }
    }
}

/// A part of the page on screen.
pub fn rect(area: &Area, origin: Pos2) -> egui::Rect {
    let corner = |x: f32, y: f32| origin + Vec2::new(x, y);
    egui::Rect::from_min_max(corner(area.left, area.top), corner(area.right, area.bottom))
}

fn paint_mark(painter: &Painter, mark: &Mark, origin: Pos2) {
    let points = |points: &[[f32; 2]]| {
        let points = points.iter().map(|&[x, y]| origin + Vec2::new(x, y));
        points.collect::<Vec<_>>()
    };
    match mark {
        Mark::Rect { area, fill } => {
            painter.rect_filled(rect(area, origin), 0.0, theme::color(*fill));
        }
        Mark::Line {
            points: line,
            ink,
            width,
            ..
        } => {
            let stroke = Stroke::new(*width, theme::color(*ink));
            painter.add(Shape::line(points(line), stroke));
        }
        Mark::Shape {
            points: corners,
            fill,
            opacity,
        } => {
            let fill = theme::color(*fill).gamma_multiply(*opacity);
            painter.add(Shape::convex_polygon(points(corners), fill, Stroke::NONE));
        }
        Mark::Text(text) => paint_text(painter, text, origin),
        Mark::Image { .. } => {}
    }
}

fn paint_text(painter: &Painter, text: &Text, origin: Pos2) {
    let Text {
        text,
        at: [x, y],
        size,
        ink,
        anchor,
        weight,
        upwards,
    } = text;
    let (at, ink) = (origin + Vec2::new(*x, *y), theme::color(*ink));
    let font = match weight {
        Weight::Medium => theme::text(*size),
        Weight::Bold => theme::heading(*size),
    };
    if *upwards {
        let galley = painter.layout_no_wrap(text.clone(), font, ink);
        let half = galley.size() / 2.0;
        let corner = at + Vec2::new(-half.y, half.x);
        let turned = TextShape::new(corner, galley, ink).with_angle(-std::f32::consts::FRAC_PI_2);
        painter.add(turned);
        return;
    }
    let align = match anchor {
        Anchor::Start => Align2::LEFT_CENTER,
        Anchor::Middle => Align2::CENTER_CENTER,
        Anchor::End => Align2::RIGHT_CENTER,
    };
    painter.text(at, align, text, font, ink);
}
