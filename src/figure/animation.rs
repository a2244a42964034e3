//! An episode in motion: many drawings as one GIF.
//!
//! All frames share one table of colours. A frame is drawn where it is not as the first one, which is drawn whole. It
//! holds the smallest rectangle with all that is not as in the frame before, and of that only what has changed: the
//! rest is left out as transparent, which compresses to next to nothing. Frames are drawn and compressed on all processors; the bytes do not depend on how many.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::ControlFlow;

use rayon::prelude::*;

use super::raster::{Base, Patch};
use super::{Drawing, Image, Rgb};

/// Stands for what is as in the frame before.
const UNCHANGED: u8 = 0;
/// Colours of a GIF beside that one.
const COLOURS: usize = 255;
/// So many frames are looked at to choose them.
const SAMPLES: usize = 12;
/// So many frames are under way at a time: enough for every processor, and not too many in memory.
const TOGETHER: usize = 16;
/// How much longer the last frame stays, in hundredths of a second.
const REST: u16 = 100;

/// How an animation goes.
#[derive(Clone, Copy)]
pub struct Motion<'a> {
    /// How long a frame is shown, in hundredths of a second.
    pub delay: u16,
    /// True where every step is walked through stage by stage.
    pub stages: bool,
    /// Told after some of the frames how many there are by then; it may give the rest up.
    pub progress: &'a (dyn Fn(usize) -> ControlFlow<()> + Sync),
}

impl Motion<'_> {
    /// Every frame for so many hundredths of a second, in silence.
    pub fn new(delay: u16) -> Self {
        Self {
            delay,
            stages: false,
            progress: &|_| ControlFlow::Continue(()),
        }
    }
}

impl std::fmt::Debug for Motion<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Motion")
            .field("delay", &self.delay)
            .field("stages", &self.stages)
            .finish_non_exhaustive()
    }
}

/// The frames of an animation.
#[derive(Clone, Copy)]
pub(super) struct Frames<'a> {
    /// How many.
    pub(super) count: usize,
    /// Each of them, all of the same size.
    pub(super) draw: &'a (dyn Fn(usize) -> Drawing + Sync),
    /// Pixels per unit of the page.
    pub(super) scale: f32,
}

impl Frames<'_> {
    /// About how many bytes the animation will have: from three of its frames.
    pub(super) fn estimated_bytes(&self) -> usize {
        let middle = self.count / 2;
        if middle == 0 {
            return 0;
        }
        let film = Film::new(self, [0, middle]);
        let [first, before, now] = [0, middle - 1, middle].map(|index| film.indices(index));
        let bytes = |before, now| {
            let frame = changed(before, now, film.base.image.columns);
            frame.buffer.len()
        };
        bytes(None, &first) + (self.count - 1) * bytes(Some(&before), &now)
    }

    /// An animation that runs for ever. The last frame stays for a second longer. At most 65,535 pixels a side.
    /// `None` where it is given up.
    pub(super) fn gif(&self, motion: &Motion<'_>) -> Option<Vec<u8>> {
        let every = self.count.div_ceil(SAMPLES).max(1);
        let film = Film::new(self, (0..self.count).step_by(every));
        let Image { columns, rows, .. } = film.base.image;
        let side = |side| u16::try_from(side).expect("a GIF has at most 65,535 pixels a side");
        let mut bytes = Vec::new();
        let palette = film.table.palette();
        let mut encoder = gif::Encoder::new(&mut bytes, side(columns), side(rows), &palette)
            .expect("memory takes every image");
        let written = encoder.set_repeat(gif::Repeat::Infinite);
        written.expect("memory takes every image");
        let mut before: Option<Vec<u8>> = None;
        for first in (0..self.count).step_by(TOGETHER) {
            let last = (first + TOGETHER).min(self.count);
            let now: Vec<_> = (first..last)
                .into_par_iter()
                .map(|i| film.indices(i))
                .collect();
            let frames = (0..now.len()).into_par_iter().map(|i| {
                let before = if i == 0 {
                    before.as_ref()
                } else {
                    now.get(i - 1)
                };
                let is_last = first + i + 1 == self.count;
                let pause = if is_last { REST } else { 0 };
                let mut frame = changed(before.map(Vec::as_slice), &now[i], columns);
                frame.delay = motion.delay.saturating_add(pause);
                frame
            });
            for frame in frames.collect::<Vec<_>>() {
                let written = encoder.write_lzw_pre_encoded_frame(&frame);
                written.expect("memory takes every image");
            }
            before = now.into_iter().next_back();
            if (motion.progress)(last).is_break() {
                return None;
            }
        }
        drop(encoder);
        Some(bytes)
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
    /// With the colours of these frames.
    fn new(frames: &'a Frames<'_>, samples: impl IntoIterator<Item = usize>) -> Self {
        let base = Base::new((frames.draw)(0), frames.scale);
        let samples: Vec<usize> = samples.into_iter().collect();
        let samples = samples.into_par_iter().map(|index| {
            let mut image = base.image.clone();
            for patch in base.patches(&(frames.draw)(index)) {
                paste(&mut image.pixels, base.image.columns, &patch, |to, from| {
                    to.copy_from_slice(from);
                });
            }
            image
        });
        let table = Table::of(samples);
        let mut first = vec![UNCHANGED; base.image.pixels.len()];
        table.look_up(&base.image.pixels, &mut first, &mut HashMap::new());
        Self {
            frames,
            base,
            table,
            first,
        }
    }

    /// For every pixel of a frame the index of the colour that stands for it.
    fn indices(&self, index: usize) -> Vec<u8> {
        let mut indices = self.first.clone();
        let mut known = HashMap::new();
        for patch in self.base.patches(&(self.frames.draw)(index)) {
            paste(&mut indices, self.base.image.columns, &patch, |to, from| {
                self.table.look_up(from, to, &mut known);
            });
        }
        indices
    }
}

/// Puts a patch where it belongs, line by line.
fn paste<T>(page: &mut [T], width: usize, patch: &Patch, mut put: impl FnMut(&mut [T], &[Rgb])) {
    let Patch { left, top, image } = patch;
    let lines = image.pixels.chunks_exact(image.columns);
    for (line, to) in lines.zip(page.chunks_exact_mut(width).skip(*top)) {
        put(&mut to[*left..left + image.columns], line);
    }
}

/// The smallest rectangle that holds all that differs from the frame before, compressed.
fn changed(before: Option<&[u8]>, now: &[u8], width: usize) -> gif::Frame<'static> {
    // Nothing in a frame is unchanged before there is one.
    let none = vec![UNCHANGED; now.len()];
    let before = before.unwrap_or(&none);
    let rows = || before.chunks_exact(width).zip(now.chunks_exact(width));
    let (mut left, mut right) = (width, 0);
    let (mut top, mut bottom) = (now.len() / width, 0);
    for (y, (before, now)) in rows()
        .enumerate()
        .filter(|(_, (before, now))| before != now)
    {
        let mut differs = before.iter().zip(now).map(|(before, now)| before != now);
        left = left.min(differs.position(|differs| differs).unwrap_or(left));
        let differs = before
            .iter()
            .zip(now)
            .rposition(|(before, now)| before != now);
        right = right.max(differs.map_or(right, |last| last + 1));
        (top, bottom) = (top.min(y), y + 1);
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
    let side = |from: usize, to: usize| (to - from) as u16;
    let mut frame = gif::Frame {
        left: left as u16,
        top: top as u16,
        width: side(left, right),
        height: side(top, bottom),
        dispose: gif::DisposalMethod::Keep,
        transparent: Some(UNCHANGED),
        buffer: Cow::Owned(pixels),
        ..gif::Frame::default()
    };
    frame.make_lzw_pre_encoded();
    frame
}

/// The colours of a GIF.
struct Table {
    colours: Vec<Rgb>,
}

impl Table {
    /// The most frequent colours of these frames.
    fn of(samples: impl ParallelIterator<Item = Image>) -> Self {
        let counts = samples.map(|image| {
            let mut counts: HashMap<Rgb, usize> = HashMap::new();
            for run in image.pixels.chunk_by(|a, b| a == b) {
                *counts.entry(run[0]).or_default() += run.len();
            }
            counts
        });
        let mut sums: HashMap<Rgb, usize> = HashMap::new();
        for (colour, count) in counts.collect::<Vec<_>>().into_iter().flatten() {
            *sums.entry(colour).or_default() += count;
        }
        let mut sums: Vec<(Rgb, usize)> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|&(colour, count)| (Reverse(count), colour));
        let colours = sums.into_iter().take(COLOURS).map(|(colour, _)| colour);
        Self {
            colours: colours.collect(),
        }
    }

    /// All colours in the order of their indices, behind one that is never seen.
    fn palette(&self) -> Vec<u8> {
        let unseen = self.colours.first().copied().unwrap_or_default();
        let all = std::iter::once(unseen).chain(self.colours.iter().copied());
        all.flatten().collect()
    }

    /// For every pixel the index of the colour that stands for it; `known` are those looked up before.
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
        let distance = |colour: &Rgb| -> u32 {
            let channels = colour.iter().zip(pixel);
            channels.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
        };
        let colours = self.colours.iter().enumerate();
        let nearest = colours.min_by_key(|(_, colour)| distance(colour));
        nearest.map_or(UNCHANGED, |(index, _)| index as u8 + 1)
    }
}
