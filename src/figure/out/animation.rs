//! An episode in motion: many drawings as one GIF, or as one animated PNG.
//!
//! All frames share one table of colours. A frame is drawn where it is not as the first one, which is drawn whole. It
//! holds the smallest rectangle with all that is not as in the frame before, and of that only what has changed: the
//! rest is transparent, which compresses to almost nothing. Frames are drawn and compressed on all processors;
//! the bytes do not depend on how many.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::figure::out::raster::{Base, Patch};
use crate::figure::scene::pages::{FrameTime, Pages, REST, Walk};
use crate::figure::{Drawing, Image, Rgb};

/// Colour index of pixels that are unchanged from the frame before.
const UNCHANGED: u8 = 0;
/// Number of other colours of a GIF.
const COLOURS: usize = 255;
/// The frames that are sampled to choose the colours: a fraction of all, within these limits.
const SAMPLES: (usize, [usize; 2]) = (6, [12, 64]);
/// The number of most frequent colours that enter the table unchanged.
const FREQUENT: usize = 112;
/// Then those that are as far as this from all others, by the square of their distance, and then those nearer.
const APART: [u32; 4] = [900, 300, 90, 0];
/// The number of frames drawn at a time: enough for every processor, and not too many in memory.
const TOGETHER: usize = 16;

/// Why writing cannot fail.
const FITS: &str = "memory takes every image";

/// Timing of an animation.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Duration of a frame, in hundredths of a second.
    pub delay: u16,
    /// Step by step, stage by stage, or in motion.
    pub walk: Walk,
}

impl Motion {
    /// Creates an animation with this delay after every frame, in hundredths of a second.
    pub fn new(delay: u16) -> Self {
        let walk = Walk::Steps;
        Self { delay, walk }
    }
}

/// Returns the duration of an animation in motion, in seconds.
pub fn duration(times: &[FrameTime]) -> f32 {
    let lasts = times.iter().filter_map(|moment| moment.lasts);
    lasts.chain([REST]).map(f32::from).sum::<f32>() / 100.0
}

/// The receiver of progress: frames drawn so far, and all frames (those sampled for colours count twice). It may do
/// other work in between, or cancel.
pub trait Progress: AsyncFnMut(usize, usize) -> ControlFlow<()> {}

impl<T: AsyncFnMut(usize, usize) -> ControlFlow<()>> Progress for T {}

/// The frames of an animation, all of the same size.
pub(crate) struct Frames<'a> {
    pages: &'a dyn Pages,
    times: Vec<FrameTime>,
    /// Pixels per unit of the page.
    scale: f32,
}

impl<'a> Frames<'a> {
    /// Creates the animation of these pages.
    pub(crate) fn new(pages: &'a dyn Pages, scale: f32, walk: Walk) -> Self {
        Self {
            pages,
            times: pages.frame_times(walk),
            scale,
        }
    }

    fn count(&self) -> usize {
        self.times.len()
    }

    fn draw(&self, index: usize) -> Drawing {
        match self.times.get(index) {
            Some(&moment) => self.pages.draw_at(moment),
            None => self.pages.draw(),
        }
    }

    /// About how many bytes the animation will have: from three of its frames.
    pub(crate) fn estimated_bytes(&self) -> usize {
        let middle = self.count() / 2;
        if middle == 0 {
            return 0;
        }
        let mut counts = HashMap::new();
        let base = Base::new(self.draw(0), self.scale);
        self.count_colours(&base, &[0, middle], &mut counts);
        let film = Film::new(self, base, Table::of(counts));
        let [first, before, now] = [0, middle - 1, middle].map(|index| film.indices(index));
        let bytes = |before, now| {
            let part = changed(before, now, film.base.image.columns);
            compressed(part).buffer.len()
        };
        bytes(None, &first) + (self.count() - 1) * bytes(Some(&before), &now)
    }

    /// An animation that runs for ever. The last frame stays for a second longer. At most 65,535 pixels a side.
    /// `None` where it is given up.
    pub(crate) async fn gif(&self, delay: u16, mut progress: impl Progress) -> Option<Vec<u8>> {
        let film = self.film(&mut progress).await?;
        let Image { columns, rows, .. } = film.base.image;
        let side = |side| u16::try_from(side).expect("a GIF has at most 65,535 pixels a side");
        let mut bytes = Vec::new();
        let palette = film.table.palette();
        let mut encoder =
            gif::Encoder::new(&mut bytes, side(columns), side(rows), &palette).expect(FITS);
        encoder.set_repeat(gif::Repeat::Infinite).expect(FITS);
        let write = |frame: gif::Frame<'static>| {
            let written = encoder.write_lzw_pre_encoded_frame(&frame);
            written.expect(FITS);
        };
        film.each(delay, compressed, write, progress).await?;
        drop(encoder);
        Some(bytes)
    }

    /// Encodes the animation as an animated PNG.
    ///
    /// # Panics
    /// Never: memory takes every image.
    pub(crate) async fn apng(&self, delay: u16, mut progress: impl Progress) -> Option<Vec<u8>> {
        let film = self.film(&mut progress).await?;
        let Image { columns, rows, .. } = film.base.image;
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, columns as u32, rows as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(film.table.palette());
        encoder.set_trns(vec![0]);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder
            .set_animated(self.count() as u32, 0)
            .and_then(|()| encoder.write_header())
            .expect(FITS);
        let write = |part: FramePatch| {
            let [left, top, width, height] = part.area.map(|side| side as u32);
            writer
                .set_frame_delay(part.delay, 100)
                .and_then(|()| writer.reset_frame_position())
                .and_then(|()| writer.set_frame_dimension(width, height))
                .and_then(|()| writer.set_frame_position(left, top))
                .and_then(|()| writer.set_blend_op(png::BlendOp::Over))
                .and_then(|()| writer.write_image_data(&part.pixels))
                .expect(FITS);
        };
        film.each(delay, |part| part, write, progress).await?;
        writer.finish().expect(FITS);
        Some(bytes)
    }

    /// The frames that the colours are chosen from.
    fn samples(&self) -> Vec<usize> {
        let (part, [least, most]) = SAMPLES;
        let samples = (self.count() / part).clamp(least, most);
        let every = self.count().div_ceil(samples).max(1);
        (0..self.count()).step_by(every).collect()
    }

    /// Counts how often every colour is in these frames.
    fn count_colours(&self, base: &Base, which: &[usize], counts: &mut HashMap<Rgb, usize>) {
        let counted = which.par_iter().map(|&index| {
            let mut image = base.image.clone();
            for patch in base.patches(&self.draw(index)) {
                paste(&mut image.pixels, base.image.columns, &patch, |to, from| {
                    to.copy_from_slice(from);
                });
            }
            let mut counts: HashMap<Rgb, usize> = HashMap::new();
            for run in image.pixels.chunk_by(|a, b| a == b) {
                *counts.entry(run[0]).or_default() += run.len();
            }
            counts
        });
        for (colour, count) in counted.collect::<Vec<_>>().into_iter().flatten() {
            *counts.entry(colour).or_default() += count;
        }
    }

    /// Returns all frames with the table of their colours. `None` if cancelled.
    async fn film(&self, progress: &mut impl Progress) -> Option<Film<'_>> {
        let base = Base::new(self.draw(0), self.scale);
        let (samples, mut counts) = (self.samples(), HashMap::new());
        let (mut counted, all) = (0, samples.len() + self.count());
        // To draw the first one whole takes longer than any other.
        if progress(counted, all).await.is_break() {
            return None;
        }
        for which in samples.chunks(together()) {
            self.count_colours(&base, which, &mut counts);
            counted += which.len();
            if progress(counted, all).await.is_break() {
                return None;
            }
        }
        Some(Film::new(self, base, Table::of(counts)))
    }
}

/// The frames as pixels of one table of colours.
struct Film<'a> {
    frames: &'a Frames<'a>,
    /// The first frame.
    base: Base,
    table: Table,
    /// The first frame in colours of the table.
    first: Vec<u8>,
}

impl<'a> Film<'a> {
    fn new(frames: &'a Frames<'_>, base: Base, table: Table) -> Self {
        let mut first = vec![UNCHANGED; base.image.pixels.len()];
        table.look_up(&base.image.pixels, &mut first, &mut HashMap::new());
        Self {
            frames,
            base,
            table,
            first,
        }
    }

    /// Returns the index of the nearest colour for every pixel of a frame.
    fn indices(&self, index: usize) -> Vec<u8> {
        let mut indices = self.first.clone();
        let mut known = HashMap::new();
        for patch in self.base.patches(&self.frames.draw(index)) {
            paste(&mut indices, self.base.image.columns, &patch, |to, from| {
                self.table.look_up(from, to, &mut known);
            });
        }
        indices
    }

    /// Prepares the changes from frame to frame on all processors and hands them on in order. `None` if it is
    /// cancelled.
    async fn each<T: Send>(
        &self,
        delay: u16,
        ready: impl Fn(FramePatch) -> T + Sync,
        mut write: impl FnMut(T),
        mut progress: impl Progress,
    ) -> Option<()> {
        let columns = self.base.image.columns;
        let counted = self.frames.samples().len();
        let mut before: Option<Vec<u8>> = None;
        for first in (0..self.frames.count()).step_by(together()) {
            let last = (first + together()).min(self.frames.count());
            let now = (first..last).into_par_iter();
            let now: Vec<_> = now.map(|index| self.indices(index)).collect();
            let frames = (0..now.len()).into_par_iter().map(|i| {
                let in_chunk = i.checked_sub(1).map(|before| &now[before]);
                let before = in_chunk.or(before.as_ref());
                let is_last = first + i + 1 == self.frames.count();
                let pause = if is_last { REST } else { 0 };
                let mut part = changed(before.map(Vec::as_slice), &now[i], columns);
                let lasts = self.frames.times[first + i].lasts.unwrap_or(delay);
                part.delay = lasts.saturating_add(pause);
                ready(part)
            });
            for frame in frames.collect::<Vec<_>>() {
                write(frame);
            }
            before = now.into_iter().next_back();
            let done = counted + last;
            if progress(done, counted + self.frames.count())
                .await
                .is_break()
            {
                return None;
            }
        }
        Some(())
    }
}

/// Number of frames processed at a time; one on a single processor, which keeps waits between frames shortest.
fn together() -> usize {
    let is_alone = rayon::current_num_threads() == 1;
    if is_alone { 1 } else { TOGETHER }
}

/// Puts a patch where it belongs, line by line.
fn paste<T>(page: &mut [T], width: usize, patch: &Patch, mut put: impl FnMut(&mut [T], &[Rgb])) {
    let Patch { left, top, image } = patch;
    let lines = image.pixels.chunks_exact(image.columns);
    for (line, to) in lines.zip(page.chunks_exact_mut(width).skip(*top)) {
        put(&mut to[*left..left + image.columns], line);
    }
}

/// A part of the page in colours of the table, with the time that it is shown.
struct FramePatch {
    /// Left and upper edge, width and height.
    area: [usize; 4],
    pixels: Vec<u8>,
    delay: u16,
}

/// Compresses a patch for a GIF.
fn compressed(part: FramePatch) -> gif::Frame<'static> {
    let [left, top, width, height] = part.area.map(|side| side as u16);
    let mut frame = gif::Frame {
        left,
        top,
        width,
        height,
        delay: part.delay,
        dispose: gif::DisposalMethod::Keep,
        transparent: Some(UNCHANGED),
        buffer: Cow::Owned(part.pixels),
        ..gif::Frame::default()
    };
    frame.make_lzw_pre_encoded();
    frame
}

/// The smallest rectangle that holds all that differs from the frame before.
fn changed(before: Option<&[u8]>, now: &[u8], width: usize) -> FramePatch {
    // Nothing in a frame is unchanged before there is one.
    let none = vec![UNCHANGED; now.len()];
    let before = before.unwrap_or(&none);
    let rows = || before.chunks_exact(width).zip(now.chunks_exact(width));
    let (mut left, mut right) = (width, 0);
    let (mut top, mut bottom) = (now.len() / width, 0);
    for (y, (before, now)) in rows().enumerate() {
        let pairs = || before.iter().zip(now);
        let differs = |(before, now): (&u8, &u8)| before != now;
        if before != now
            && let Some(first) = pairs().position(differs)
            && let Some(last) = pairs().rposition(differs)
        {
            (left, right) = (left.min(first), right.max(last + 1));
            (top, bottom) = (top.min(y), y + 1);
        }
    }
    if right == 0 {
        // Nothing has changed: a pixel keeps the time.
        (left, right, top, bottom) = (0, 1, 0, 1);
    }
    let mut pixels = Vec::with_capacity((right - left) * (bottom - top));
    for (before, now) in rows().take(bottom).skip(top) {
        let line = before[left..right].iter().zip(&now[left..right]);
        pixels.extend(line.map(|(before, now)| if before == now { UNCHANGED } else { *now }));
    }
    FramePatch {
        area: [left, top, right - left, bottom - top],
        pixels,
        delay: 0,
    }
}

/// The colours of a GIF.
struct Table(Vec<Rgb>);

impl Table {
    /// Selects the most frequent colours, and of the others the most different ones.
    ///
    /// Moving parts have many shades, each of them rare.
    fn of(counts: HashMap<Rgb, usize>) -> Self {
        let mut sums: Vec<(Rgb, usize)> = counts.into_iter().collect();
        sums.sort_unstable_by_key(|&(colour, count)| (Reverse(count), colour));
        let all: Vec<Rgb> = sums.into_iter().map(|(colour, _)| colour).collect();
        if all.len() <= COLOURS {
            return Self(all);
        }
        let (frequent, others) = all.split_at(FREQUENT);
        let mut colours = frequent.to_vec();
        for apart in APART {
            for &colour in others {
                let is_new = |other: &Rgb| distance(*other, colour) > apart;
                if colours.len() < COLOURS && colours.iter().all(is_new) {
                    colours.push(colour);
                }
            }
        }
        Self(colours)
    }

    /// All colours in the order of their indices, behind one that is never seen.
    fn palette(&self) -> Vec<u8> {
        let unseen = self.0.first().copied().unwrap_or_default();
        let all = std::iter::once(unseen).chain(self.0.iter().copied());
        all.flatten().collect()
    }

    /// Sets the index of the nearest colour for every pixel; `known` caches earlier results.
    fn look_up(&self, pixels: &[Rgb], indices: &mut [u8], known: &mut HashMap<Rgb, u8>) {
        let mut start = 0;
        // Most pixels are like the one at their left.
        for run in pixels.chunk_by(|a, b| a == b) {
            let index = known.entry(run[0]).or_insert_with(|| self.nearest(run[0]));
            indices[start..start + run.len()].fill(*index);
            start += run.len();
        }
    }

    fn nearest(&self, pixel: Rgb) -> u8 {
        let colours = self.0.iter().enumerate();
        let nearest = colours.min_by_key(|(_, colour)| distance(**colour, pixel));
        nearest.map_or(UNCHANGED, |(index, _)| index as u8 + 1)
    }
}

/// The square of the distance of two colours.
fn distance(a: Rgb, b: Rgb) -> u32 {
    let channels = a.iter().zip(b);
    channels.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}
