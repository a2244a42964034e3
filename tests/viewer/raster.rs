//! Draws the window into pixels without a display, a driver or a graphics card: the same triangles that the
//! graphics card gets, filled one after the other, so that every machine sees the same screen.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use egui::epaint::textures::TextureFilter;
use egui::epaint::{ImageData, ImageDelta, Mesh, Primitive, Vertex};
use egui::{Color32, ColorImage, Pos2, Rect, TextureId, TexturesDelta};
use egui_kittest::TestRenderer;
use image::{Rgba, RgbaImage};

/// A renderer that draws what a window has drawn once more, with something changed.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Raster>>);

impl Shared {
    pub fn draw(&self, ctx: &egui::Context, output: &egui::FullOutput) -> RgbaImage {
        self.0.lock().unwrap().render(ctx, output).unwrap()
    }

    /// The pixels of a texture.
    pub fn texture(&self, id: TextureId) -> ColorImage {
        self.0.lock().unwrap().textures[&id].image.clone()
    }
}

impl TestRenderer for Shared {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        self.0.lock().unwrap().handle_delta(delta);
    }

    fn render(
        &mut self,
        ctx: &egui::Context,
        output: &egui::FullOutput,
    ) -> Result<RgbaImage, String> {
        self.0.lock().unwrap().render(ctx, output)
    }
}

/// A renderer on the processor.
#[derive(Default)]
pub struct Raster {
    textures: HashMap<TextureId, Texture>,
}

struct Texture {
    image: ColorImage,
    /// Between its pixels values are mixed, as in letters; or not, as in pictures of numbers.
    smooth: bool,
}

impl TestRenderer for Raster {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        for (id, changes) in delta.set.drain() {
            for change in changes {
                self.change(id, change);
            }
        }
        for id in delta.free.drain() {
            self.textures.remove(&id);
        }
    }

    fn render(
        &mut self,
        ctx: &egui::Context,
        output: &egui::FullOutput,
    ) -> Result<RgbaImage, String> {
        let scale = ctx.pixels_per_point();
        let size = (ctx.content_rect().size() * scale).round();
        let mut screen = Screen {
            size: [size.x as usize, size.y as usize],
            pixels: vec![Color32::BLACK; size.x as usize * size.y as usize],
        };
        for clipped in ctx.tessellate(output.shapes.clone(), scale) {
            let Primitive::Mesh(mesh) = clipped.primitive else {
                return Err("only meshes can be drawn".to_owned());
            };
            let Some(texture) = self.textures.get(&mesh.texture_id) else {
                return Err(format!("{:?} was never uploaded", mesh.texture_id));
            };
            screen.fill(&mesh, texture, clipped.clip_rect * scale, scale);
        }
        Ok(screen.image())
    }
}

impl Raster {
    fn change(&mut self, id: TextureId, change: ImageDelta) {
        let ImageData::Color(patch) = change.image;
        match change.pos {
            None => {
                let smooth = change.options.magnification == TextureFilter::Linear;
                let image = ColorImage::clone(&patch);
                self.textures.insert(id, Texture { image, smooth });
            }
            Some([left, top]) => {
                let image = &mut self
                    .textures
                    .get_mut(&id)
                    .expect("whole before parts")
                    .image;
                for (row, pixels) in patch.pixels.chunks(patch.width()).enumerate() {
                    let start = (top + row) * image.width() + left;
                    image.pixels[start..start + pixels.len()].copy_from_slice(pixels);
                }
            }
        }
    }
}

impl Texture {
    /// The colour at a place, where (0, 0) is the upper left and (1, 1) the lower right corner; each channel 0 to 255.
    #[inline]
    fn at(&self, place: Pos2) -> [f32; 4] {
        let [width, height] = self.image.size;
        let (x, y) = (place.x * width as f32, place.y * height as f32);
        let texel = |x: f32, y: f32| {
            let x = x.clamp(0.0, width as f32 - 1.0) as usize;
            let y = y.clamp(0.0, height as f32 - 1.0) as usize;
            self.image.pixels[y * width + x].to_array().map(f32::from)
        };
        if !self.smooth {
            return texel(x.floor(), y.floor());
        }
        let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
        let (right_share, lower_share) = (x - 0.5 - left, y - 0.5 - top);
        let upper = mix(texel(left, top), texel(left + 1.0, top), right_share);
        let lower = mix(
            texel(left, top + 1.0),
            texel(left + 1.0, top + 1.0),
            right_share,
        );
        mix(upper, lower, lower_share)
    }
}

#[inline]
fn mix(a: [f32; 4], b: [f32; 4], share: f32) -> [f32; 4] {
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * share)
}

struct Screen {
    size: [usize; 2],
    pixels: Vec<Color32>,
}

impl Screen {
    fn fill(&mut self, mesh: &Mesh, texture: &Texture, clip: Rect, scale: f32) {
        for corners in mesh.indices.chunks_exact(3) {
            let mut corners = [0, 1, 2].map(|i| {
                let vertex = mesh.vertices[corners[i] as usize];
                Vertex {
                    pos: vertex.pos * scale,
                    ..vertex
                }
            });
            let mut area = twice_the_area(corners[0].pos, corners[1].pos, corners[2].pos);
            if area < 0.0 {
                corners.swap(1, 2);
                area = -area;
            }
            if area > 0.0 {
                self.triangle(corners, area, texture, clip);
            }
        }
    }

    fn triangle(&mut self, corners: [Vertex; 3], area: f32, texture: &Texture, clip: Rect) {
        let bounds = Rect::from_points(&corners.map(|corner| corner.pos)).intersect(clip);
        let columns = pixels(bounds.min.x, bounds.max.x, self.size[0]);
        let rows = pixels(bounds.min.y, bounds.max.y, self.size[1]);
        let inside = Rect::from_min_max(clip.min.round(), clip.max.round());
        let above = |shares: [f32; 3]| {
            let sum = |value: fn(&Vertex) -> f32| -> f32 {
                value(&corners[0]) * shares[0]
                    + value(&corners[1]) * shares[1]
                    + value(&corners[2]) * shares[2]
            };
            let texel = texture.at(Pos2::new(sum(|v| v.uv.x), sum(|v| v.uv.y)));
            let tint = [
                sum(|v| f32::from(v.color.r())),
                sum(|v| f32::from(v.color.g())),
                sum(|v| f32::from(v.color.b())),
                sum(|v| f32::from(v.color.a())),
            ];
            [0, 1, 2, 3].map(|i| texel[i] * tint[i] / 255.0)
        };
        // Most areas have one colour.
        let [first, others @ ..] = &corners;
        let is_plain = others
            .iter()
            .all(|other| (other.uv, other.color) == (first.uv, first.color));
        let plain = is_plain.then(|| above([1.0, 0.0, 0.0]));
        for y in rows {
            for x in columns.clone() {
                let centre = Pos2::new(x as f32 + 0.5, y as f32 + 0.5);
                if let Some(shares) = shares(&corners, centre, area)
                    && inside.contains(centre)
                {
                    let pixel = &mut self.pixels[y * self.size[0] + x];
                    *pixel = over(plain.unwrap_or_else(|| above(shares)), *pixel);
                }
            }
        }
    }

    fn image(&self) -> RgbaImage {
        let [width, height] = self.size.map(|side| side as u32);
        RgbaImage::from_fn(width, height, |x, y| {
            let [r, g, b, _] = self.pixels[(y * width + x) as usize].to_array();
            Rgba([r, g, b, 255])
        })
    }
}

/// The pixels between two places, one more to both sides.
fn pixels(from: f32, to: f32, size: usize) -> std::ops::Range<usize> {
    let end = (to.ceil().max(0.0) as usize).min(size);
    (from.floor().max(0.0) as usize).min(end)..end
}

#[inline]
fn twice_the_area(a: Pos2, b: Pos2, c: Pos2) -> f32 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

/// How much each corner counts at this place; `None` outside. What lies on an edge that two triangles share
/// belongs to one of them: it would shine through twice.
#[inline]
fn shares(corners: &[Vertex; 3], place: Pos2, area: f32) -> Option<[f32; 3]> {
    let mut shares = [0.0; 3];
    for (i, share) in shares.iter_mut().enumerate() {
        let (from, to) = (corners[(i + 1) % 3].pos, corners[(i + 2) % 3].pos);
        let edge = to - from;
        let covered = twice_the_area(from, to, place);
        let owns_its_edge = edge.y < 0.0 || (edge.y == 0.0 && edge.x > 0.0);
        if covered < 0.0 || (covered == 0.0 && !owns_its_edge) {
            return None;
        }
        *share = covered / area;
    }
    Some(shares)
}

/// Premultiplied colours, one over the other.
#[inline]
fn over(above: [f32; 4], below: Color32) -> Color32 {
    let below = below.to_array().map(f32::from);
    let [r, g, b, a] =
        std::array::from_fn(|i| (above[i] + below[i] * (1.0 - above[3] / 255.0)).round() as u8);
    Color32::from_rgba_premultiplied(r, g, b, a)
}
