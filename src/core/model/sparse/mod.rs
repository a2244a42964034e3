//! A memory of which an episode changes few rows.
//!
//! The memory before the first step, with its index, is made once, is never changed, and is shared by episodes and copies
//! of traces. The rows that an episode touches stand in *slots*, with their contents as they are now. So a new episode
//! begins with no slots, and nothing as large as the memory is copied.
//!
//! A row stands with its values and its norm, sqrt(|M(i)|² + ε), behind them: M + 1 numbers.

mod index;
mod order;

use std::sync::Arc;

use rand::RngExt;

use crate::keys::Words;
use crate::math::kernel::kernel;
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::similarity::{quotient, root};
use crate::math::softmax::dot;
use crate::math::vectors::add_multiple;
use crate::math::{Real, random};
use index::Index;
use order::Order;

/// How the rows nearest to a key are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// All rows are looked at.
    Exact,
    /// Rows in the buckets of the key are looked at: see `index.rs`.
    Hashed,
}

impl Words for Search {
    const WORDS: &'static [(&'static str, Self)] =
        &[("exact", Self::Exact), ("hashed", Self::Hashed)];
}

/// The memory before the first step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
    /// Every value is this one: one row stands for all, and no index is needed.
    Constant(f64),
    /// Every value is drawn between −`size` and `size`; row i from stream i of the seed, whatever the number of rows.
    Drawn {
        /// The seed.
        seed: u64,
        /// The largest magnitude.
        size: f64,
    },
    /// As given.
    Given,
}

/// The description of a memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Rows N, 1 to 2^32 − 2.
    pub rows: usize,
    /// Columns M, 1 or more.
    pub columns: usize,
    /// The memory before the first step.
    pub initial: Initial,
    /// ε, 0 or more: under each root of a norm.
    pub epsilon: f64,
    /// How rows are found.
    pub search: Search,
}

/// The size of a sparse memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The memory before the first step: one row where all are the same.
    pub memory: u64,
    /// The index of that memory; 0 without.
    pub index: u64,
    /// Everything else: which rows are in slots, the slots, and the order of accesses.
    pub slots: u64,
}

impl Plan {
    /// Sets a row to its values before the first step, and its norm.
    fn set_row<R: Real>(&self, row: usize, given: &[R], to: &mut [R]) {
        let (values, _) = to.split_at_mut(self.columns);
        match self.initial {
            Initial::Constant(value) => values.fill(R::from_f64(value)),
            Initial::Drawn { seed, size } => {
                let mut stream = random(seed, row as u64);
                values.fill_with(|| R::from_f64(size * (2.0 * stream.random::<f64>() - 1.0)));
            }
            Initial::Given => {
                let row = given.get(row * self.columns..).unwrap_or_default();
                let pairs = values.iter_mut().zip(row);
                pairs.for_each(|(to, &from)| *to = from);
            }
        }
        set_norm(to, self.epsilon);
    }

    /// True where all rows begin with the same values.
    fn is_constant(&self) -> bool {
        matches!(self.initial, Initial::Constant(_))
    }

    /// True where an index finds rows.
    fn is_indexed(&self) -> bool {
        self.search == Search::Hashed && !self.is_constant()
    }

    /// The rows of the memory before the first step that are kept.
    fn initial_rows(&self) -> usize {
        if self.is_constant() { 1 } else { self.rows }
    }

    /// Bytes of the memory, with room for `changed` rows in slots, of values with `of_value` bytes each.
    pub fn bytes(&self, changed: usize, of_value: usize) -> Bytes {
        let row = (self.columns as u64 + 1).saturating_mul(of_value as u64);
        let (rows, number) = (self.rows as u64, size_of::<u32>() as u64);
        let changed = rows.min(changed as u64);
        let index = index::bytes(if self.is_indexed() { rows } else { 0 });
        Bytes {
            memory: row.saturating_mul(self.initial_rows() as u64),
            index,
            // Slot of a row; contents, row, two links, last access and sketch of a slot.
            slots: (number * rows).saturating_add(changed.saturating_mul(row + 6 * number)),
        }
    }
}

kernel! {
    /// sqrt(|x|² + ε).
    pub(super) fn norm_of<'a, R>(simd; x: &'a [R], epsilon: f64) -> R {
        root(dot(simd, x, x) + R::from_f64(epsilon))
    }
}

/// Sets the number behind the values of a row to their norm.
pub(super) fn set_norm<R: Real>(row: &mut [R], epsilon: f64) {
    if let Some((norm, values)) = row.split_last_mut() {
        *norm = norm_of(values, epsilon);
    }
}

/// The cosine of a key, with its norm, and a row, with its norm behind it.
#[inline(always)]
fn cosine_of<R: Real, S: Simd>(simd: S, (key, norm): (&[R], R), row: &[R]) -> R {
    quotient(dot(simd, key, row), norm * row[key.len()])
}

kernel! {
    /// [`cosine_of`] one row.
    pub(super) fn cosine<'a, R>(simd; key: &'a [R], norm: R, row: &'a [R]) -> R {
        cosine_of(simd, (key, norm), row)
    }
}

/// No row.
const NO_ROW: u32 = u32::MAX;

/// Enters rows into `best`, which stands in descending order of the cosine: each by its place in `contents` and by its row.
fn rank<R: Real>(
    key: (&[R], R),
    contents: &[R],
    width: usize,
    rows: impl Iterator<Item = (u32, u32)>,
    best: &mut [(R, u32)],
) {
    dispatch::<R, _>(Rank {
        key,
        contents,
        width,
        rows,
        best,
    });
}

struct Rank<'a, R, I> {
    key: (&'a [R], R),
    contents: &'a [R],
    width: usize,
    rows: I,
    best: &'a mut [(R, u32)],
}

impl<R: Real, I: Iterator<Item = (u32, u32)>> Kernel for Rank<'_, R, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (width, best) = (self.width, self.best);
        for (place, row) in self.rows {
            let values = &self.contents[place as usize * width..][..width];
            let cosine = cosine_of(simd, self.key, values);
            let before = |(other, other_row): &(R, u32)| {
                *other > cosine || (*other == cosine && *other_row < row)
            };
            let is_out = |last: &(R, u32)| !(cosine > last.0 || (cosine == last.0 && row < last.1));
            if best.last().is_none_or(is_out) {
                continue;
            }
            let at = best.partition_point(before);
            best[at..].rotate_right(1);
            best[at] = (cosine, row);
        }
    }
}

/// The memory before the first step, and its index.
#[derive(Debug)]
struct Base<R> {
    /// In the order of the index, [N, M + 1]; one row where all are the same.
    contents: Vec<R>,
    index: Option<Indexed<R>>,
}

/// The index, with the rows in its order, and the places of all rows.
#[derive(Debug)]
struct Indexed<R> {
    index: Index<R>,
    rows: Vec<u32>,
    places: Vec<u32>,
}

impl<R: Real> Base<R> {
    fn new(plan: &Plan, given: &[R]) -> Self {
        let width = plan.columns + 1;
        let set = |row: usize, to: &mut [R]| plan.set_row(row, given, to);
        let index = plan.is_indexed().then(|| {
            let (index, rows) = Index::new([plan.rows, plan.columns], set);
            let mut places = vec![0; plan.rows];
            (0..)
                .zip(&rows)
                .for_each(|(place, &row)| places[row as usize] = place);
            Indexed {
                index,
                rows,
                places,
            }
        });
        let mut contents = vec![R::ZERO; plan.initial_rows() * width];
        for (place, to) in contents.chunks_exact_mut(width).enumerate() {
            let of = index.as_ref();
            set(of.map_or(place, |of| of.rows[place] as usize), to);
        }
        Self { contents, index }
    }

    /// The values of a row, and their norm.
    fn row(&self, row: usize, width: usize) -> &[R] {
        let place = match &self.index {
            Some(index) => index.places[row] as usize,
            None if self.contents.len() == width => 0,
            None => row,
        };
        &self.contents[place * width..][..width]
    }

    /// True where the memory is the one that is given.
    fn is(&self, given: &[R], columns: usize) -> bool {
        let mut rows = given.chunks_exact(columns).enumerate();
        rows.all(|(row, given)| self.row(row, columns + 1)[..columns] == *given)
    }
}

/// The memory of an episode as it is now. What it holds follows from the arrays of the episode.
#[derive(Clone, Debug, Default)]
pub struct SparseMemory<R> {
    plan: Option<Plan>,
    base: Option<Arc<Base<R>>>,
    /// 1 + the slot of every row; 0 for a row without slot.
    places: Vec<u32>,
    /// The row of each slot.
    rows: Vec<u32>,
    /// The contents of each slot, [slots, M + 1].
    contents: Vec<R>,
    order: Order,
    /// 1 + the step in which each slot was last accessed; 0 before.
    accessed: Vec<u32>,
    /// The sketch of every slot, in an index.
    sketches: Vec<u64>,
    /// The number of steps whose writes and whose accesses it knows; `None` where the arrays may have changed since.
    pub(super) time: Option<[usize; 2]>,
    scratch: Scratch<R>,
}

/// Scratch of a step.
#[derive(Clone, Debug, Default)]
struct Scratch<R> {
    index: index::Scratch<R>,
    places: Vec<u32>,
    slots: Vec<u32>,
    best: Vec<(R, u32)>,
    uses: Vec<(u32, u32, R)>,
}

/// What a trace holds follows from its arrays: two are equal whatever this is.
impl<R> PartialEq for SparseMemory<R> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<R: Real> SparseMemory<R> {
    /// Returns to the memory before the first step; `given` has it for [`Initial::Given`]. Makes room for `changed` rows,
    /// and where rows are searched for the memory before the first step, if `like` does not have it.
    pub(super) fn reset(
        &mut self,
        (plan, given): (Plan, &[R]),
        changed: usize,
        is_searched: bool,
        like: Option<&Self>,
    ) {
        if self.plan != Some(plan) {
            *self = Self {
                plan: Some(plan),
                places: vec![0; plan.rows],
                ..Self::default()
            };
        }
        for row in self.rows.drain(..) {
            self.places[row as usize] = 0;
        }
        self.contents.clear();
        self.sketches.clear();
        self.order.clear();
        self.accessed.clear();
        let changed = changed.min(plan.rows);
        self.rows.reserve(changed);
        self.contents.reserve(changed * (plan.columns + 1));
        self.order.reserve(changed);
        self.accessed.reserve(changed);
        let is_given = plan.initial == Initial::Given;
        let is_right = |base: &Base<R>| !is_given || base.is(given, plan.columns);
        self.base.take_if(|base| !is_right(base));
        if self.base.is_none() && (is_searched || is_given) {
            let other = like.filter(|like| like.plan == self.plan);
            let other = other.and_then(|like| like.base.clone());
            let other = other.filter(|base| is_right(base));
            self.base = other.or_else(|| Some(Arc::new(Base::new(&plan, given))));
        }
        self.sketches.reserve(changed);
        self.time = Some([0; 2]);
    }

    /// True where rows can be searched for.
    pub(super) fn is_searchable(&self) -> bool {
        self.base.is_some()
    }

    fn columns(&self) -> usize {
        self.plan.map_or(0, |plan| plan.columns)
    }

    /// The number of slots.
    pub(super) fn slots(&self) -> usize {
        self.rows.len()
    }

    /// The row of a slot.
    pub(super) fn row_of(&self, slot: usize) -> usize {
        self.rows[slot] as usize
    }

    /// The contents of all slots, [slots, M + 1].
    pub(super) fn contents(&self) -> &[R] {
        &self.contents
    }

    /// The slot of a row that has one.
    pub(super) fn place(&self, row: usize) -> usize {
        self.places[row] as usize - 1
    }

    /// The slot of a row, which gets one.
    pub(super) fn slot(&mut self, row: usize) -> usize {
        if self.places[row] == 0 {
            let (width, start) = (self.columns() + 1, self.contents.len());
            self.rows.push(row as u32);
            self.places[row] = self.rows.len() as u32;
            match (&self.base, &self.plan) {
                (Some(base), _) => {
                    self.contents.extend_from_slice(base.row(row, width));
                    if let Some(index) = &base.index {
                        let sketch = index.index.sketch_at(index.places[row]);
                        self.sketches.push(sketch);
                    }
                }
                (None, Some(plan)) => {
                    self.contents.resize(start + width, R::ZERO);
                    plan.set_row(row, &[], &mut self.contents[start..]);
                }
                _ => {}
            }
            self.order.push();
            self.accessed.push(0);
        }
        self.place(row)
    }

    /// The values of a row and their norm behind them.
    pub(super) fn row(&mut self, row: usize) -> &[R] {
        let (width, slot) = (self.columns() + 1, self.slot(row));
        &self.contents[slot * width..][..width]
    }

    /// Sets a row before the first step.
    pub(super) fn set(&mut self, row: usize, values: impl Iterator<Item = R>) {
        let (width, slot) = (self.columns() + 1, self.slot(row));
        let to = &mut self.contents[slot * width..][..width];
        to.iter_mut()
            .zip(values)
            .for_each(|(to, value)| *to = value);
        set_norm(to, self.plan.map_or(0.0, |plan| plan.epsilon));
    }

    /// The steps from the last access of a row to step `t`; row j was accessed at −N + j before the first one.
    pub(super) fn age(&self, row: usize, t: usize) -> usize {
        match self.places[row] {
            place if place > 0 && self.accessed[place as usize - 1] > 0 => {
                t + 1 - self.accessed[place as usize - 1] as usize
            }
            _ => t + self.places.len() - row,
        }
    }

    /// Adds `weight`·`add` to a row, or sets it to that; copies its values before to `earlier`, if that is there. Call
    /// [`SparseMemory::settle`] after the last write of a step.
    pub(super) fn write(
        &mut self,
        row: usize,
        is_erased: bool,
        (weight, add): (R, &[R]),
        earlier: Option<&mut [R]>,
    ) {
        let (width, slot) = (self.columns() + 1, self.slot(row));
        let values = &mut self.contents[slot * width..][..width - 1];
        if let Some(earlier) = earlier {
            earlier.copy_from_slice(values);
        }
        if is_erased {
            values.fill(R::ZERO);
        }
        add_multiple(values, weight, add);
        self.scratch.slots.push(slot as u32);
    }

    /// Brings norms and index up to date with what was written.
    pub(super) fn settle(&mut self) {
        let (width, Some(plan)) = (self.columns() + 1, self.plan) else {
            return;
        };
        let Scratch { slots, index, .. } = &mut self.scratch;
        slots.sort_unstable();
        slots.dedup();
        for slot in slots.drain(..) {
            let row = &mut self.contents[slot as usize * width..][..width];
            set_norm(row, plan.epsilon);
            if let Some(of) = self.base.as_ref().and_then(|base| base.index.as_ref()) {
                self.sketches[slot as usize] = of.index.sketch(&row[..plan.columns], index);
            }
        }
    }

    fn is_accessed(&self, row: usize) -> bool {
        let place = self.places[row];
        place > 0 && self.order.has(place - 1)
    }

    /// The row whose last access is longest ago, but for `before` rows of which that is true even more.
    pub(super) fn least_recent(&mut self, before: usize) -> usize {
        let mut lowest = std::mem::take(&mut self.order.lowest);
        lowest.retain(|&row| !self.is_accessed(row as usize));
        while lowest.len() <= before && self.order.next < self.places.len() {
            let row = self.order.next;
            self.order.next += 1;
            if !self.is_accessed(row) {
                lowest.push(row as u32);
            }
        }
        let found = lowest.get(before).copied().or_else(|| {
            let slot = self.order.slots().nth(before - lowest.len());
            slot.map(|slot| self.rows[slot as usize])
        });
        self.order.lowest = lowest;
        found.unwrap_or(0) as usize
    }

    /// Counts the rows as accessed in step `t` whose weights sum to more than `threshold`.
    pub(super) fn access(
        &mut self,
        t: usize,
        weights: impl Iterator<Item = (usize, R)>,
        threshold: R,
    ) {
        let mut uses = std::mem::take(&mut self.scratch.uses);
        uses.clear();
        let numbered = (0..).zip(weights);
        uses.extend(numbered.map(|(at, (row, weight))| (row as u32, at, weight)));
        uses.sort_unstable_by_key(|&(row, at, _)| (row, at));
        for of_row in uses.chunk_by(|one, next| one.0 == next.0) {
            if of_row.iter().map(|(.., weight)| *weight).sum::<R>() > threshold {
                let slot = self.slot(of_row[0].0 as usize);
                self.order.access(slot as u32);
                self.accessed[slot] = t as u32 + 1;
            }
        }
        self.scratch.uses = uses;
    }

    /// Fills `to` with the rows of the largest cosine to a key; of equal ones the lowest.
    /// They stand in ascending order.
    pub(super) fn nearest(&mut self, key: &[R], search: Search, to: &mut [R]) {
        let (Some(base), Some(plan)) = (self.base.take(), self.plan) else {
            return;
        };
        let best = &mut self.scratch.best;
        best.clear();
        best.resize(to.len(), (R::from_f64(f64::NEG_INFINITY), NO_ROW));
        let key = (key, norm_of(key, plan.epsilon));
        match &base.index {
            Some(of) if search == Search::Hashed => self.rank_near(&base.contents, of, key),
            _ => self.rank_all(&base, plan, key),
        }
        self.base = Some(base);
        let best = &mut self.scratch.best;
        // Too few were found: the lowest others.
        let found = best.partition_point(|(_, row)| *row != NO_ROW);
        let mut row = 0;
        for at in found..best.len() {
            while best.iter().any(|(_, other)| *other == row) {
                row += 1;
            }
            best[at].1 = row;
        }
        best.sort_unstable_by_key(|(_, row)| *row);
        let pairs = to.iter_mut().zip(&*best);
        pairs.for_each(|(to, (_, row))| *to = R::from_f64(f64::from(*row)));
    }

    /// Ranks the rows that the index finds.
    fn rank_near(&mut self, unchanged: &[R], of: &Indexed<R>, key: (&[R], R)) {
        let (width, row_of) = (self.columns() + 1, |place: u32| of.rows[place as usize]);
        let Scratch {
            index,
            places,
            slots,
            best,
            ..
        } = &mut self.scratch;
        let is_changed = |place: u32| self.places[row_of(place) as usize] > 0;
        let found = [&mut *places, &mut *slots];
        of.index
            .find(key.0, is_changed, &self.sketches, index, found);
        let found = places.iter().map(|&place| (place, row_of(place)));
        rank(key, unchanged, width, found, best);
        let found = slots.iter().map(|&slot| (slot, self.rows[slot as usize]));
        rank(key, &self.contents, width, found, best);
        slots.clear();
    }

    /// Ranks all rows.
    fn rank_all(&mut self, base: &Base<R>, plan: Plan, key: (&[R], R)) {
        let (width, best) = (plan.columns + 1, &mut self.scratch.best);
        let of = base.index.as_ref();
        let row_of = |place: u32| of.map_or(place, |of| of.rows[place as usize]);
        let all = (0..plan.rows as u32).map(|place| (place, row_of(place)));
        let found = all.filter(|(_, row)| self.places[*row as usize] == 0);
        if plan.is_constant() {
            // Among equal rows, the lowest are the best.
            let found = found.map(|(_, row)| (0, row)).take(best.len());
            rank(key, &base.contents, width, found, best);
        } else {
            rank(key, &base.contents, width, found, best);
        }
        let found = (0..).zip(self.rows.iter().copied());
        rank(key, &self.contents, width, found, best);
    }
}
