//! An index of rows by their direction: hashes of the sides of random planes (Charikar 2002), of which each set of M is
//! orthogonal (Ji 2012). The sides of a few planes are the bucket of a row, those of 64 others its sketch. A search goes
//! through the buckets on either side of the planes that are nearest to the key (Lv 2007), and through the rows that were
//! changed, and looks at the rows whose sketches differ least from that of the key.
//!
//! Why an index of our own: rows change in every step, and the same seed must give the same bytes. Measured on 65,536 rows
//! (benches/README.md), one query and five replaced rows take 18 µs here, 370 with exact search, and with the crates that
//! can change rows: `kiddo` 6.3.0 583 (exact; wants the number of columns when it is compiled), `usearch` 2.26.6 684 (C++),
//! `hnsw_rs` 0.3.5 6,700 (takes no row out again, has 78 lines with `unsafe`, and needs files mapped into memory, which a
//! browser does not have). `instant-distance` 0.6.1 takes neither a new row nor one out. The last three give other answers
//! when two threads build. What is given up: of the four rows nearest to a random key a third is not found, where these
//! graphs find nearly all. A key near to a row gets that row.
//!
//! The buckets are of the memory before the first step, whose rows stand in their order; they never change. Sketches of
//! changed rows stand beside their slots. So what a search finds is a function of the contents alone.

use rand::RngExt;

use crate::math::kernel::kernel;
use crate::math::matrix::{self, Rows, padded};
use crate::math::{Real, random};

/// Planes of a sketch.
const SKETCH: usize = 64;
/// Rows in a bucket where all directions are equally likely: 2 to this power.
const ROWS_IN_BUCKET: u32 = 8;
/// Planes of which a search looks at both sides, at most.
const BOTH_SIDES: usize = 5;
/// Rows that are looked at, of those in buckets and of those that were changed.
const LOOKED_AT: usize = 64;
/// The seed of the planes.
const SEED: u64 = 0x5A17;

/// The planes, and the buckets of a memory.
#[derive(Clone, Debug)]
pub(super) struct Index<R> {
    /// Planes of a bucket.
    bits: usize,
    /// The normals of all planes, [M, planes and padding].
    planes: Vec<R>,
    /// The first place of every bucket, [2^bits + 1].
    starts: Vec<u32>,
    /// The sketches by place.
    sketches: Vec<u64>,
}

/// What a search needs beside the index.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch<R> {
    sides: Vec<R>,
    /// How many sides differ, of every row that the search goes through.
    distances: Vec<u8>,
    spans: Vec<[u32; 2]>,
}

kernel! {
    /// The number of sides that differ. `_like` names the number type, which `kernel!` needs.
    fn add_distances<'a, R>(_simd; sketches: &'a [u64], key: u64, distances: &'a mut Vec<u8>, _like: &'a [R]) {
        distances.extend(sketches.iter().map(|sketch| (sketch ^ key).count_ones() as u8));
    }
}

/// Sketches that are looked at together.
const PART: usize = 64;

kernel! {
    /// How many distances are not above the limit. `_like` names the number type, which `kernel!` needs.
    fn count_within<'a, R>(_simd; distances: &'a [u8], limit: u8, _like: &'a [R]) -> usize {
        let parts = distances.chunks(PART);
        let counts = parts.map(|part| part.iter().map(|&x| u8::from(x <= limit)).sum::<u8>());
        counts.map(usize::from).sum()
    }
}

impl<R: Real> Index<R> {
    /// The index of the rows of a memory, and the rows in the order of their places: bucket after bucket, in each the lowest
    /// first. `set` sets a row's values.
    pub(super) fn new(
        [count, columns]: [usize; 2],
        mut set: impl FnMut(usize, &mut [R]),
    ) -> (Self, Vec<u32>) {
        let bits = count.max(1).ilog2().saturating_sub(ROWS_IN_BUCKET) as usize;
        let mut index = Self {
            bits,
            planes: planes(columns, bits),
            starts: vec![0; (1 << bits) + 1],
            sketches: vec![0; count],
        };
        let (mut row, mut sides) = (vec![R::ZERO; columns + 1], Vec::new());
        let (mut buckets, mut sketches) = (vec![0; count], vec![0; count]);
        for (at, (bucket, to)) in buckets.iter_mut().zip(&mut sketches).enumerate() {
            set(at, &mut row);
            index.project(&row[..columns], &mut sides);
            (*bucket, *to) = (index.bucket(&sides) as u32, sketch(&sides));
            index.starts[*bucket as usize + 1] += 1;
        }
        (0..1 << bits).for_each(|bucket| index.starts[bucket + 1] += index.starts[bucket]);
        let (mut next, mut rows) = (index.starts.clone(), vec![0; count]);
        for (row, (bucket, sketch)) in (0..).zip(buckets.into_iter().zip(sketches)) {
            let place = next[bucket as usize] as usize;
            next[bucket as usize] += 1;
            (rows[place], index.sketches[place]) = (row, sketch);
        }
        (index, rows)
    }

    /// The distances of a row from all planes.
    fn project(&self, row: &[R], sides: &mut Vec<R>) {
        let stride = padded(SKETCH + self.bits);
        sides.clear();
        sides.resize(stride, R::ZERO);
        let planes = Rows {
            data: &self.planes,
            stride,
        };
        matrix::add_vector_product(row, planes, sides);
    }

    /// The bucket of a row, from its distances from the planes.
    fn bucket(&self, sides: &[R]) -> usize {
        bits(&sides[SKETCH..][..self.bits]) as usize
    }

    /// The sketch of a row.
    pub(super) fn sketch(&self, row: &[R], scratch: &mut Scratch<R>) -> u64 {
        self.project(row, &mut scratch.sides);
        sketch(&scratch.sides)
    }

    /// The sketch of the row at a place.
    pub(super) fn sketch_at(&self, place: u32) -> u64 {
        self.sketches[place as usize]
    }

    /// The places of rows that may be near to a key, but for those of which `is_changed` holds; and the slots of changed rows
    /// that may be, by the sketches of all slots.
    pub(super) fn find(
        &self,
        key: &[R],
        is_changed: impl Fn(u32) -> bool,
        sketches: &[u64],
        scratch: &mut Scratch<R>,
        [places, slots]: [&mut Vec<u32>; 2],
    ) {
        self.project(key, &mut scratch.sides);
        let (bucket, key_sketch) = (self.bucket(&scratch.sides), sketch(&scratch.sides));
        // The planes that are nearest.
        let (mut nearest, both) = ([(R::ZERO, 0); BOTH_SIDES], BOTH_SIDES.min(self.bits));
        let sides = &scratch.sides[SKETCH..][..self.bits];
        for (bit, side) in sides.iter().enumerate() {
            let (mut new, mut at) = ((side.abs(), bit), bit.min(both));
            while at > 0 && new.0 < nearest[at - 1].0 {
                at -= 1;
            }
            let kept = &mut nearest[at..both];
            kept.iter_mut()
                .for_each(|old| std::mem::swap(old, &mut new));
        }
        scratch.spans.clear();
        for sides in 0..1_usize << both {
            let other = nearest[..both].iter().enumerate();
            let other = other.filter(|(place, _)| sides >> place & 1 == 1);
            let bucket = other.fold(bucket, |bucket, (_, (_, bit))| bucket ^ (1 << bit));
            let span = [self.starts[bucket], self.starts[bucket + 1]];
            scratch.spans.push(span);
        }
        self.nearest(&self.sketches, key_sketch, is_changed, scratch, places);
        scratch.spans.clear();
        scratch.spans.push([0, sketches.len() as u32]);
        self.nearest(sketches, key_sketch, |_| false, scratch, slots);
    }

    /// The first of those whose sketches differ least.
    fn nearest(
        &self,
        sketches: &[u64],
        key: u64,
        is_out: impl Fn(u32) -> bool,
        scratch: &mut Scratch<R>,
        found: &mut Vec<u32>,
    ) {
        let Scratch {
            distances, spans, ..
        } = scratch;
        distances.clear();
        for [start, end] in &*spans {
            let sketches = &sketches[*start as usize..*end as usize];
            add_distances(sketches, key, distances, &self.planes);
        }
        // Below the limit all are taken, at the limit as many as there is room for.
        let within = |limit: u8| count_within(distances, limit, &self.planes);
        let (mut limit, mut most) = (0, SKETCH as u8);
        while limit < most {
            let middle = u8::midpoint(limit, most);
            if within(middle) > LOOKED_AT {
                most = middle;
            } else {
                limit = middle + 1;
            }
        }
        let mut room = LOOKED_AT - limit.checked_sub(1).map_or(0, within);
        found.clear();
        let mut distances = &distances[..];
        for [start, end] in &*spans {
            let (of_span, rest) = distances.split_at((end - start) as usize);
            distances = rest;
            for (first, part) in (*start..).step_by(PART).zip(of_span.chunks(PART)) {
                // Most parts have nothing that is near.
                let least = |least: u8, &distance: &u8| least.min(distance);
                if part.iter().fold(u8::MAX, least) > limit {
                    continue;
                }
                for (place, &distance) in (first..).zip(part) {
                    let is_in = distance < limit || (distance == limit && room > 0);
                    if is_in && !is_out(place) {
                        room -= usize::from(distance == limit);
                        found.push(place);
                    }
                }
            }
        }
    }
}

/// The normals of the planes, those of the sketch first, then those of the buckets: in each part every M are orthogonal.
fn planes<R: Real>(columns: usize, bits: usize) -> Vec<R> {
    let stride = padded(SKETCH + bits);
    let (mut planes, mut all) = (vec![R::ZERO; columns * stride], Vec::<Vec<f64>>::new());
    let mut stream = random(SEED, 0);
    for plane in 0..SKETCH + bits {
        // The sum of three uniform numbers is near enough to a normal one.
        let mut next = || (0..3).map(|_| stream.random::<f64>() - 0.5).sum();
        let mut normal: Vec<f64> = (0..columns).map(|_| next()).collect();
        // There are fewer planes of buckets.
        for other in &all[plane - plane % SKETCH % columns..] {
            let along: f64 = normal.iter().zip(other).map(|(a, b)| a * b).sum();
            let pairs = normal.iter_mut().zip(other);
            pairs.for_each(|(a, b)| *a -= along * b);
        }
        let norm = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        normal.iter_mut().for_each(|x| *x /= norm);
        let to = planes.iter_mut().skip(plane).step_by(stride);
        to.zip(&normal).for_each(|(to, &x)| *to = R::from_f64(x));
        all.push(normal);
    }
    planes
}

fn sketch<R: Real>(sides: &[R]) -> u64 {
    bits(&sides[..SKETCH])
}

/// A bit for each side, the first one last.
fn bits<R: Real>(sides: &[R]) -> u64 {
    let bits = sides.iter().enumerate();
    bits.fold(0, |all, (bit, &side)| {
        all | u64::from(side > R::ZERO) << bit
    })
}

/// Bytes of the index of a memory: sketches, rows and places, and buckets.
pub(super) fn bytes(rows: u64) -> u64 {
    let [of_row, of_bucket] = [size_of::<[u64; 2]>(), size_of::<u32>()].map(|bytes| bytes as u64);
    rows * of_row + (rows >> ROWS_IN_BUCKET) * of_bucket
}
