//! The window as something to paint pictures on: the marks of a figure as shapes, and one texture per picture, uploaded
//! only when it changes, never a shape per cell.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

use egui::epaint::TextShape;
use egui::{
    Align2, Color32, ColorImage, Context, Mesh, Painter, Pos2, Rangef, Rect, Shape, Stroke,
    StrokeKind, TextureHandle, TextureId, TextureOptions, Vec2, pos2,
};

use crate::figure::facts::memo::Memo;
use crate::figure::facts::rows::Span;
use crate::figure::scene::cells::Cells;
use crate::figure::{
    Anchor, Area, At, Drawing, Image, Ink, Mark, Paint, PanelId, Text, Weight, scene::paint,
};
use crate::viewer::theme;
use crate::viewer::widget::text;

/// The textures of all pictures.
#[derive(Default)]
pub struct Textures {
    /// The state of a picture, and the pass that drew it last.
    uploaded: HashMap<u64, (u64, TextureHandle, u64)>,
    /// The pass that is being drawn.
    pass: u64,
    /// Whether pictures have values that are not finite or not recorded.
    checks: Memo<u64, [bool; 2], 64>,
    /// The outlined cells of pictures.
    outlined: Memo<u64, Vec<(usize, usize)>, 16>,
    /// Images uploaded to the graphics card so far.
    pub uploads: usize,
    /// Bytes of them.
    pub bytes: usize,
    /// The page on screen, while it is recorded.
    pub recorded: Option<Vec<RecordedPart>>,
}

/// A part of a page on screen as marks, in the order in which they are painted, to compare it with a figure.
pub type RecordedPart = (Area, Vec<Mark>);

/// A texture that no pass of the last ones has drawn is freed.
const PASSES: u64 = 16;

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Textures {
    /// The texture of a picture; `version` numbers the state of the picture: the texture is only made when that
    /// changes.
    fn get(
        &mut self,
        ctx: &Context,
        picture: u64,
        version: u64,
        image: impl FnOnce() -> Image,
    ) -> TextureId {
        let pass = ctx.cumulative_pass_nr();
        if std::mem::replace(&mut self.pass, pass) != pass {
            self.uploaded.retain(|_, (.., last)| *last + PASSES >= pass);
        }
        let uploaded = self.uploaded.get_mut(&picture);
        if let Some((_, handle, last)) = uploaded.filter(|(of, ..)| *of == version) {
            *last = pass;
            return handle.id();
        }
        let Image {
            columns,
            rows,
            pixels,
        } = image();
        self.uploads += 1;
        self.bytes += 4 * pixels.len();
        let pixels = pixels.into_iter().map(theme::color).collect();
        let image = ColorImage::new([columns, rows], pixels);
        if let Some((of, handle, last)) = self.uploaded.get_mut(&picture) {
            (*of, *last) = (version, pass);
            handle.set(image, TextureOptions::NEAREST);
            return handle.id();
        }
        let handle = ctx.load_texture("picture", image, TextureOptions::NEAREST);
        let id = handle.id();
        self.uploaded.insert(picture, (version, handle, pass));
        id
    }

    /// Returns the number of facts about pictures computed so far.
    pub fn computed(&self) -> usize {
        self.checks.computed() + self.outlined.computed()
    }
}

/// A part of the window.
pub struct Canvas<'a> {
    painter: Painter,
    textures: &'a mut Textures,
    /// Distinguishes the episode from others.
    episode: u64,
    /// Distinguishes the pictures of several that are on screen at once.
    whose: u64,
    /// The part of the window to paint on, unless it is clipped.
    whole: Rect,
    /// True for a page, which can be recorded.
    is_page: bool,
}

impl<'a> Canvas<'a> {
    /// Returns the canvas for the pictures of an episode.
    pub fn new(painter: &Painter, textures: &'a mut Textures, episode: u64) -> Self {
        Self {
            whole: painter.clip_rect(),
            is_page: false,
            painter: painter.clone(),
            textures,
            episode,
            whose: 0,
        }
    }

    /// Returns the canvas for a page in this part of the window.
    pub fn of_page(mut self, area: Area) -> Self {
        self.is_page = true;
        if let Some(recorded) = &mut self.textures.recorded {
            recorded.push((area, Vec::new()));
        }
        self
    }

    /// The record of this page, while it is recorded.
    fn record(&mut self) -> Option<&mut Vec<Mark>> {
        let recorded = self.textures.recorded.as_mut().filter(|_| self.is_page);
        recorded?.last_mut().map(|(_, marks)| marks)
    }

    /// Returns the canvas for one of several episodes on screen.
    pub fn of(self, whose: &str) -> Self {
        let whose = hash(whose);
        Self { whose, ..self }
    }

    /// Distinguishes the cells of a picture from all others.
    fn key(&self, cells: &Cells<'_>, picture: PanelId) -> u64 {
        hash((self.whose, picture, self.episode, cells.version))
    }
}

impl Paint for Canvas<'_> {
    fn mark(&mut self, mark: Mark) {
        if let Some(marks) = self.record() {
            marks.push(mark.clone());
        }
        let Mark::Image { area, image } = &mark else {
            return paint_mark(&self.painter, &mark);
        };
        let content = hash(&image.pixels);
        let ctx = self.painter.ctx().clone();
        let texture = self.textures.get(&ctx, content, content, || image.clone());
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        self.painter
            .image(texture, rect(area), whole, theme::UNTINTED);
    }

    fn cells(&mut self, cells: &Cells<'_>, at: At<'_>, page: &paint::Page, opacity: f32) {
        if let Some(marks) = self.record() {
            // As a figure has them: an image for every run of rows.
            let mut drawing = Drawing::new(0.0, 0.0, page.colours.panel, String::new());
            drawing.cells(cells, at, page, opacity);
            marks.append(&mut drawing.marks);
        }
        let ctx = self.painter.ctx().clone();
        let limit = ctx.input(|input| input.max_texture_side);
        let height = at.axis.ends().unwrap_or_default().span();
        let pixels = [at.area.width(), height].map(|side| side * ctx.pixels_per_point());
        let most = pixels.map(|side| (side.ceil().max(1.0) as usize).min(limit));
        let ends = at.axis.runs.first().zip(at.axis.runs.last());
        let (low, high) = cells.scale.ends();
        let version = (
            (self.episode, cells.version),
            ends.map(|(first, last)| (first.0.start, last.0.end, at.axis.count())),
            at.axis.upwards,
            (discriminant(&cells.scale), [low.to_bits(), high.to_bits()]),
            std::ptr::from_ref(page.colours) as usize,
            [cells.columns.min(most[0]), at.axis.count().min(most[1])],
        );
        let image = || {
            let rows: Vec<usize> = at.axis.all().map(|(row, _)| row).collect();
            cells.image(&rows, most, page.colours)
        };
        let picture = hash((self.whose, at.id));
        let texture = self.textures.get(&ctx, picture, hash(version), image);
        let tint = theme::UNTINTED.gamma_multiply(opacity);
        let x = Rangef::new(at.area.left, at.area.right);
        let (mut before, all) = (0, at.axis.count().max(1) as f32);
        for (rows, place) in &at.axis.runs {
            let v = |index: usize| index as f32 / all;
            let uv = Rect::from_x_y_ranges(0.0..=1.0, v(before)..=v(before + rows.len()));
            let rect = Rect::from_x_y_ranges(x, *place);
            self.painter.image(texture, rect, uv, tint);
            before += rows.len();
        }
    }

    fn clip(&mut self, edges: Option<(f32, f32)>) {
        let (left, right) = edges.unwrap_or((f32::NEG_INFINITY, f32::INFINITY));
        let edges = Rect::from_x_y_ranges(left..=right, f32::NEG_INFINITY..=f32::INFINITY);
        self.painter.set_clip_rect(self.whole.intersect(edges));
    }

    fn has_unusual_values(&mut self, cells: &Cells<'_>, picture: PanelId) -> [bool; 2] {
        let key = self.key(cells, picture);
        self.textures.checks.get(key, || cells.has_unusual_values())
    }

    fn outlined(&mut self, cells: &Cells<'_>, picture: PanelId, width: f32) -> Vec<(usize, usize)> {
        let key = hash((self.key(cells, picture), width.to_bits()));
        self.textures.outlined.get(key, || cells.outlined(width))
    }
}

impl From<Rangef> for Span {
    fn from(range: Rangef) -> Self {
        Self::new(range.min, range.max)
    }
}

impl From<Span> for Rangef {
    fn from(span: Span) -> Self {
        Self::new(span.min, span.max)
    }
}

/// A part of a page on screen.
pub fn rect(area: &Area) -> Rect {
    Rect::from_min_max(pos2(area.left, area.top), pos2(area.right, area.bottom))
}

/// A part of the screen as that of a page.
pub fn area(rect: Rect) -> Area {
    let (min, size) = (rect.min, rect.size());
    Area::new(min.x, min.y, size.x, size.y)
}

fn color(ink: Ink) -> Color32 {
    theme::color(ink.colour).gamma_multiply(ink.opacity)
}

fn paint_mark(painter: &Painter, mark: &Mark) {
    let points = |points: &[[f32; 2]]| points.iter().map(|&at| at.into()).collect::<Vec<Pos2>>();
    match mark {
        Mark::Rect { area, fill } => {
            painter.rect_filled(rect(area), 0.0, color(*fill));
        }
        Mark::Edge { area, ink, inside } => {
            let kinds = [StrokeKind::Outside, StrokeKind::Inside];
            let kind = kinds[usize::from(*inside)];
            let stroke = Stroke::new(1.0, color(*ink));
            painter.rect_stroke(rect(area), 0.0, stroke, kind);
        }
        Mark::Line {
            points: line,
            ink,
            width,
            dashes,
        } => {
            let (line, stroke) = (points(line), Stroke::new(*width, color(*ink)));
            painter.extend(dashed(&line, stroke, dashes));
        }
        Mark::Shape {
            points: corners,
            fill,
        } => {
            painter.add(shape(&points(corners), color(*fill)));
        }
        Mark::Text(text) => text_mark(painter, text),
        Mark::Image { .. } => {}
    }
}

/// A filled shape. A long one is a band: its upper edge from the left, then its lower one from the right.
fn shape(corners: &[Pos2], fill: Color32) -> Shape {
    const MOST_CONVEX: usize = 16;
    if corners.len() <= MOST_CONVEX {
        return Shape::convex_polygon(corners.to_vec(), fill, Stroke::NONE);
    }
    let (upper, lower) = corners.split_at(corners.len() / 2);
    let mut mesh = Mesh::default();
    for (&above, &below) in upper.iter().zip(lower.iter().rev()) {
        let next = mesh.vertices.len() as u32;
        mesh.colored_vertex(above, fill);
        mesh.colored_vertex(below, fill);
        if next > 0 {
            mesh.add_triangle(next - 2, next - 1, next);
            mesh.add_triangle(next - 1, next, next + 1);
        }
    }
    mesh.into()
}

/// A line with dashes and gaps of these lengths, whole where there are none.
pub fn dashed(line: &[Pos2], stroke: Stroke, dashes: &[f32]) -> Vec<Shape> {
    let whole = |line: Vec<Pos2>| match line[..] {
        [from, to] => Shape::line_segment([from, to], stroke),
        _ => Shape::line(line, stroke),
    };
    if dashes.is_empty() {
        return vec![whole(line.to_vec())];
    }
    let every = |first: usize| dashes.iter().copied().skip(first).step_by(2);
    let [dashes, gaps] = [0, 1].map(|first| every(first).collect::<Vec<_>>());
    let pieces = Shape::dashed_line_with_offset(line, stroke, &dashes, &gaps, 0.0);
    // A dash round a bend has several pieces.
    let mut dashes: Vec<Vec<Pos2>> = Vec::new();
    for piece in pieces {
        let Shape::LineSegment { points, .. } = piece else {
            continue;
        };
        match dashes.last_mut() {
            Some(dash) if dash.last() == Some(&points[0]) => dash.push(points[1]),
            _ => dashes.push(points.to_vec()),
        }
    }
    dashes.into_iter().map(whole).collect()
}

fn text_mark(painter: &Painter, of: &Text) {
    let Text {
        text: words,
        at,
        style,
    } = of;
    let (at, ink) = (Pos2::from(*at), color(style.ink));
    let font = match style.weight {
        Weight::Medium => theme::text(style.size),
        Weight::Bold => theme::heading(style.size),
        Weight::Mono => theme::mono(style.size),
    };
    if style.upwards {
        let galley = text::lay_out(painter, words, font);
        let half = galley.size() / 2.0;
        let corner = at + Vec2::new(-half.y, half.x);
        let turned = TextShape::new(corner, galley, ink).with_angle(-std::f32::consts::FRAC_PI_2);
        painter.add(turned);
        return;
    }
    let align = match style.anchor {
        Anchor::Start => Align2::LEFT_CENTER,
        Anchor::Middle => Align2::CENTER_CENTER,
        Anchor::End => Align2::RIGHT_CENTER,
    };
    text::paint_text(painter, at, align, words, font, ink);
}
