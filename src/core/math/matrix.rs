//! Row-major matrices, and the three kernels that everything heavy is made of.
//!
//! A linear map uses them on its weights, the memory on its M columns of N rows (the memory stands
//! column after column, so that N values are neighbours whatever M is). Every kernel walks through the
//! matrix once, row after row, with the vector it multiplies or fills held in registers: what bounds it
//! is how fast the matrix arrives from the cache.

use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2, s};

use super::aligned::Aligned;
use super::pack::filled;
use super::simd::{Kernel, Simd, dispatch};
use super::{Real, Series};

/// Rows begin at a cache line: 16 values of f32 fill one, 16 of f64 two.
const PADDING: usize = 16;

/// Number of vectors multiplied in one pass over a matrix: a few sums for each fit into the registers of a processor.
pub const TOGETHER: usize = 4;

/// Returns this number of columns with the padding that starts every row at a cache line.
pub fn padded(columns: usize) -> usize {
    columns.next_multiple_of(PADDING)
}

/// A matrix whose rows begin at cache lines, padded with zeros.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<R = f32> {
    data: Aligned<R>,
    rows: usize,
    columns: usize,
}

impl<R: Real> Matrix<R> {
    /// All zero.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            data: Aligned::zeros(rows * padded(columns)),
            rows,
            columns,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row `row`.
    #[inline]
    pub fn row(&self, row: usize) -> &[R] {
        let start = row * padded(self.columns);
        &self.data[start..start + self.columns]
    }

    /// All rows, to write.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [R]> {
        let columns = self.columns;
        let rows = self.data.chunks_exact_mut(padded(columns).max(1));
        rows.map(move |row| &mut row[..columns])
    }

    /// The matrix without its padding.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the lengths agree by construction"
    )]
    pub fn view(&self) -> ArrayView2<'_, R> {
        ArrayView2::from_shape((self.rows, padded(self.columns)), &self.data)
            .expect("a matrix holds rows * padded columns values")
            .slice_move(s![.., ..self.columns])
    }

    /// [`Matrix::view`], to write.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the lengths agree by construction"
    )]
    pub fn view_mut(&mut self) -> ArrayViewMut2<'_, R> {
        ArrayViewMut2::from_shape((self.rows, padded(self.columns)), &mut self.data)
            .expect("a matrix holds rows * padded columns values")
            .slice_move(s![.., ..self.columns])
    }

    /// All values with the padding, for element-wise operations that keep zeros zero.
    pub fn as_slice(&self) -> &[R] {
        &self.data
    }

    /// [`Matrix::as_slice`], to write.
    pub fn as_mut_slice(&mut self) -> &mut [R] {
        &mut self.data
    }

    /// The rows from `first` on, as the kernels take them.
    #[inline]
    pub fn rows_from(&self, first: usize) -> Rows<'_, R> {
        let stride = padded(self.columns);
        Rows {
            data: &self.data[first * stride..],
            stride,
        }
    }
}

impl<R: Real> std::ops::Index<[usize; 2]> for Matrix<R> {
    type Output = R;
    fn index(&self, [row, column]: [usize; 2]) -> &R {
        &self.row(row)[column]
    }
}

impl<R: Real> std::ops::IndexMut<[usize; 2]> for Matrix<R> {
    fn index_mut(&mut self, [row, column]: [usize; 2]) -> &mut R {
        let start = row * padded(self.columns);
        &mut self.data[start..start + self.columns][column]
    }
}

/// Rows of equal length, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, R> {
    /// The values; when rows are longer than the vector beside them, zeros stand behind.
    pub data: &'a [R],
    /// Distance from the start of one row to the start of the next.
    pub stride: usize,
}

impl<R> Rows<'_, R> {
    /// Some of the rows.
    pub fn part(self, rows: Range<usize>) -> Self {
        let values = rows.start * self.stride..rows.end * self.stride;
        Self {
            data: &self.data[values],
            ..self
        }
    }
}

impl<R: Copy + Default> Series<R> {
    /// The rows from step `first` on.
    pub fn rows_from(&self, first: usize) -> Rows<'_, R> {
        Rows {
            data: &self.as_slice()[first * self.width()..],
            stride: self.width(),
        }
    }
}

impl<'a, R: Copy + Default> From<&'a Series<R>> for Rows<'a, R> {
    fn from(series: &'a Series<R>) -> Self {
        series.rows_from(0)
    }
}

/// y += x·A; A has a row for every value of `x` (or more, which are not read).
#[inline]
pub fn add_vector_product<R: Real>(x: &[R], a: Rows<'_, R>, y: &mut [R]) {
    dispatch::<R, _>(AddVectorProduct { x, a, y });
}

/// x = A·y; A has a row for every value of `x` (or more, which are not read).
#[inline]
pub fn product_with_vector<R: Real>(a: Rows<'_, R>, y: &[R], x: &mut [R]) {
    dispatch::<R, _>(ProductWithVector { a, y, x });
}

/// y += x·A for several pairs (x, y) at once: A is read once for all of them.
#[inline]
pub fn add_vector_products<R: Real, const B: usize>(pairs: [(&[R], &mut [R]); B], a: Rows<'_, R>) {
    if B == 1 {
        for (x, y) in pairs {
            add_vector_product(x, a, y);
        }
    } else {
        dispatch::<R, _>(AddVectorProducts { pairs, a });
    }
}

/// x = A·y for several pairs (y, x) at once: A is read once for all of them.
#[inline]
pub fn products_with_vectors<R: Real, const B: usize>(
    a: Rows<'_, R>,
    pairs: [(&[R], &mut [R]); B],
) {
    if B == 1 {
        for (y, x) in pairs {
            product_with_vector(a, y, x);
        }
    } else {
        dispatch::<R, _>(ProductsWithVectors { a, pairs });
    }
}

/// y_t += x_t·A for every step of a series; what x_t has beyond the rows of A is padding.
pub fn add_series_product<R: Real>(x: &Series<R>, a: Rows<'_, R>, y: &mut Series<R>) {
    add_rows_product(x, a, y, 0..y.steps());
}

/// [`add_series_product`] of these steps.
pub fn add_rows_product<R: Real>(
    x: &Series<R>,
    a: Rows<'_, R>,
    y: &mut Series<R>,
    steps: Range<usize>,
) {
    let (data, stride, y_width) = (x.rows(steps.clone()), x.width(), y.width());
    add_products_of_rows(Rows { data, stride }, a, y.rows_mut(steps), y_width);
}

/// Y += X·A; what a row of X has beyond the rows of A is padding.
#[expect(
    clippy::missing_panics_doc,
    reason = "a chunk has the rows it is made of"
)]
pub fn add_products_of_rows<R: Real>(x: Rows<'_, R>, a: Rows<'_, R>, y: &mut [R], y_width: usize) {
    let (x, x_width, inputs) = (x.data, x.stride, a.data.len() / a.stride);
    let mut xs = x.chunks_exact(TOGETHER * x_width);
    let mut ys = y.chunks_exact_mut(TOGETHER * y_width);
    for (x, y) in (&mut xs).zip(&mut ys) {
        let mut rows = x.chunks_exact(x_width).zip(y.chunks_exact_mut(y_width));
        let pairs: [_; TOGETHER] = std::array::from_fn(|_| {
            let (x, y) = rows.next().expect("a chunk has that many rows");
            (&x[..inputs.min(x_width)], y)
        });
        add_vector_products(pairs, a);
    }
    let rest = xs.remainder().chunks_exact(x_width);
    for (x, y) in rest.zip(ys.into_remainder().chunks_exact_mut(y_width)) {
        add_vector_product(&x[..inputs.min(x_width)], a, y);
    }
}

/// A = Σ_t x_tᵀ·y_t over the steps of all pairs of series, up to the end of the shorter one; A has a row for every
/// value of `x` (or fewer: the others are not read) and the padded width of `y`.
#[inline]
pub fn set_product_of_series<'a, R: Real, X: Into<Rows<'a, R>>, Y: Into<Rows<'a, R>>>(
    pairs: impl Iterator<Item = (X, Y)> + Clone,
    a: &mut Matrix<R>,
) {
    let pairs = pairs.map(|(x, y)| (x.into(), y.into()));
    dispatch::<R, _>(SetProductOfSeries { pairs, a });
}

/// A number of packs that is known when a kernel is compiled.
#[derive(Clone, Copy)]
struct Packs<const V: usize>;

/// Calls `$kernel(Packs::<V>, …)` with the constant V that equals `$packs`: one of the first where there are
/// 32 registers, else one of the others.
macro_rules! with_packs {
    (call $kernel:ident, $v:literal, ($($argument:expr),*)) => {
        $kernel(Packs::<$v>, $($argument),*)
    };
    ($packs:expr, $kernel:ident $arguments:tt, many: [$($many:literal)*], few: [$($few:literal)*]) => {
        if const { has_many::<S>() } {
            match $packs {
                $($many => with_packs!(call $kernel, $many, $arguments),)*
                _ => unreachable!("a block has at most as many packs as there are registers"),
            }
        } else {
            match $packs {
                $($few => with_packs!(call $kernel, $few, $arguments),)*
                _ => unreachable!("a block has at most as many packs as there are registers"),
            }
        }
    };
    (block $packs:expr, $kernel:ident $arguments:tt) => {
        with_packs!($packs, $kernel $arguments,
            many: [13 14 15 16 17 18 19 20 21 22 23 24 25 26], few: [4 5 6])
    };
    (pair $packs:expr, $kernel:ident $arguments:tt) => {
        with_packs!($packs, $kernel $arguments, many: [1 2 3 4 5 6 7 8 9 10 11 12], few: [1 2 3])
    };
    (dots $packs:expr, $kernel:ident $arguments:tt) => {
        with_packs!($packs, $kernel $arguments, many: [
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26
        ], few: [])
    };
    (sums $packs:expr, $kernel:ident $arguments:tt) => {
        with_packs!($packs, $kernel $arguments, many: [1 2 3], few: [1])
    };
    (tile $packs:expr, $kernel:ident $arguments:tt) => {
        with_packs!($packs, $kernel $arguments, many: [1 2 3 4 5 6], few: [1])
    };
}

/// True if the registers hold 32 packs; on processors with fewer or smaller ones they hold 8. In `if const { … }`, so that
/// only one of the two is compiled.
#[inline(always)]
pub(crate) const fn has_many<S: Simd>() -> bool {
    S::VECTORS >= 32
}

/// Number of packs of every vector in a tile that holds the sums of up to four vectors.
#[inline(always)]
fn tile_size<S: Simd>(left: usize) -> usize {
    part_size(left, if has_many::<S>() { 6 } else { 1 })
}

/// Size of the next part in packs, when `left` packs are split into parts of nearly equal size.
#[inline(always)]
fn part_size(left: usize, most: usize) -> usize {
    left.div_ceil(left.div_ceil(most))
}

/// Values in one pack.
#[inline(always)]
const fn lanes<R: Real, S: Simd>() -> usize {
    size_of::<R::Pack<S>>() / size_of::<R>()
}

/// The pack of a row from `start` on: whole where the padding allows, else `width` values of it.
#[inline(always)]
fn last_pack<R: Real, S: Simd>(simd: S, row: &[R], start: usize, width: usize) -> R::Pack<S> {
    match R::packs::<S>(&row[start..]) {
        [pack, ..] => *pack,
        [] => R::load_part(simd, &row[start..start + width]),
    }
}

/// A pass over matrices whose rows are long: it does something with a block of columns while the rows go by, then
/// with the next block.
pub(crate) trait Blocks {
    /// The number of columns.
    fn columns(&self) -> usize;
    /// Up to `V` packs of columns. What a row sums over them is taken together, then added to what came before.
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>);
}

/// Columns of a matrix, or the numbers of a vector as long as its rows that stand there: whole packs, where
/// nothing else is said.
pub(crate) trait Columns<S: Simd>: Copy {
    /// The first of them.
    fn start(self) -> usize;
    /// Number of packs that they fill.
    fn packs(self) -> usize;
    /// These columns of a row.
    #[inline(always)]
    fn of<R: Real>(self, row: &[R]) -> &[R] {
        &row[self.start()..self.start() + self.packs() * lanes::<R, S>()]
    }
    /// [`Columns::of`], to write.
    #[inline(always)]
    fn of_mut<R: Real>(self, row: &mut [R]) -> &mut [R] {
        &mut row[self.start()..self.start() + self.packs() * lanes::<R, S>()]
    }
    /// Pack `v` of these columns.
    #[inline(always)]
    fn load<R: Real>(self, part: &[R], v: usize) -> R::Pack<S> {
        R::packs::<S>(part)[v]
    }
    /// Writes pack `v` of these columns.
    #[inline(always)]
    fn store<R: Real>(self, part: &mut [R], v: usize, pack: R::Pack<S>) {
        R::packs_mut::<S>(part)[v] = pack;
    }
}

/// `V` packs, from this column on.
#[derive(Clone, Copy)]
struct Whole<const V: usize>(usize);

impl<S: Simd, const V: usize> Columns<S> for Whole<V> {
    #[inline(always)]
    fn start(self) -> usize {
        self.0
    }
    #[inline(always)]
    fn packs(self) -> usize {
        V
    }
}

/// A number of whole packs, starting at this column.
#[derive(Clone, Copy)]
struct Several(usize, usize);

impl<S: Simd> Columns<S> for Several {
    #[inline(always)]
    fn start(self) -> usize {
        self.0
    }
    #[inline(always)]
    fn packs(self) -> usize {
        self.1
    }
}

/// The rest from this column on, less than a pack, padded with zeros.
#[derive(Clone, Copy)]
struct Rest<S>(S, usize);

impl<S: Simd> Columns<S> for Rest<S> {
    #[inline(always)]
    fn start(self) -> usize {
        self.1
    }
    #[inline(always)]
    fn packs(self) -> usize {
        1
    }
    #[inline(always)]
    fn of<R: Real>(self, row: &[R]) -> &[R] {
        &row[self.1..]
    }
    #[inline(always)]
    fn of_mut<R: Real>(self, row: &mut [R]) -> &mut [R] {
        &mut row[self.1..]
    }
    #[inline(always)]
    fn load<R: Real>(self, part: &[R], _: usize) -> R::Pack<S> {
        R::load_part(self.0, part)
    }
    #[inline(always)]
    fn store<R: Real>(self, part: &mut [R], _: usize, pack: R::Pack<S>) {
        R::store_part(self.0, part, pack);
    }
}

/// Runs a pass block by block, in the same blocks on every processor: sums over rows depend on them.
/// `MOST` is how many packs a block has at most, as 32 registers hold them.
#[inline(always)]
pub(crate) fn by_blocks<R: Real, S: Simd, const MOST: usize>(simd: S, pass: &mut impl Blocks) {
    if const { has_many::<S>() } {
        return by_held_blocks::<R, S, MOST>(simd, pass);
    }
    // The registers do not hold them: then a loop over the packs is faster than many in a row.
    let (mut start, mut packs) = (0, MOST);
    while packs > 0 {
        let width = packs * lanes::<R, S>();
        while pass.columns() - start >= width {
            pass.block::<S, MOST>(simd, Several(start, packs));
            start += width;
        }
        packs /= 2;
    }
    rest_of(simd, start, pass);
}

/// Runs a pass block by block, with at most `MOST` packs to a block, which the registers hold.
#[inline(always)]
pub(crate) fn by_held_blocks<R: Real, S: Simd, const MOST: usize>(simd: S, pass: &mut impl Blocks) {
    let mut start = 0;
    if const { MOST >= 8 } {
        start = whole_blocks::<R, S, 8>(simd, start, pass);
    }
    if const { MOST >= 4 } {
        start = whole_blocks::<R, S, 4>(simd, start, pass);
    }
    if const { MOST >= 2 } {
        start = whole_blocks::<R, S, 2>(simd, start, pass);
    }
    start = whole_blocks::<R, S, 1>(simd, start, pass);
    rest_of(simd, start, pass);
}

#[inline(always)]
fn rest_of<S: Simd>(simd: S, start: usize, pass: &mut impl Blocks) {
    if start < pass.columns() {
        pass.block::<S, 1>(simd, Rest(simd, start));
    }
}

/// The part of a vector that registers hold during a pass over the rows, if it fits; otherwise it is loaded on use.
#[inline(always)]
pub(crate) fn held<R: Real, S: Simd>(
    simd: S,
    at: impl Columns<S>,
    part: &[R],
    v: usize,
) -> R::Pack<S> {
    if const { has_many::<S>() } {
        at.load(part, v)
    } else {
        R::splat(simd, R::ZERO)
    }
}

/// Pack `v` of such a part, from `held` if registers hold it.
#[inline(always)]
pub(crate) fn held_pack<R: Real, S: Simd, const V: usize>(
    at: impl Columns<S>,
    held: &[R::Pack<S>; V],
    part: &[R],
    v: usize,
) -> R::Pack<S> {
    if const { has_many::<S>() } {
        held[v]
    } else {
        at.load(part, v)
    }
}

/// Processes as many blocks of `V` packs as fit from `start` on; returns their end.
#[inline(always)]
fn whole_blocks<R: Real, S: Simd, const V: usize>(
    simd: S,
    mut start: usize,
    pass: &mut impl Blocks,
) -> usize {
    let width = V * lanes::<R, S>();
    while pass.columns() - start >= width {
        pass.block::<S, V>(simd, Whole::<V>(start));
        start += width;
    }
    start
}

struct AddVectorProduct<'a, R> {
    x: &'a [R],
    a: Rows<'a, R>,
    y: &'a mut [R],
}

impl<R: Real> Kernel for AddVectorProduct<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, a, y } = self;
        let (lanes, mut start) = (lanes::<R, S>(), 0);
        // Few packs make short chains of additions, so two rows go side by side. Which of the two it is
        // follows from the width alone, for the result depends on it.
        let in_pairs = y.len() / lanes <= 12;
        while y.len() - start >= lanes {
            let left = (y.len() - start) / lanes;
            let packs = match (in_pairs, has_many::<S>()) {
                (true, true) => part_size(left, 12),
                (true, false) => part_size(left, 3),
                (false, true) => part_size(left, 26),
                (false, false) => part_size(left, 6),
            };
            let block = &mut y[start..start + packs * lanes];
            if in_pairs {
                with_packs!(pair packs, add_pairs_to_block(simd, x, a, start, block));
            } else {
                with_packs!(block packs, add_to_block(simd, x, a, start, block));
            }
            start += packs * lanes;
        }
        if start < y.len() {
            let mut sum = R::load_part(simd, &y[start..]);
            for (row, &x) in a.data.chunks_exact(a.stride).zip(x) {
                let row = last_pack(simd, row, start, y.len() - start);
                sum = R::mul_add(simd, R::splat(simd, x), row, sum);
            }
            R::store_part(simd, &mut y[start..], sum);
        }
    }
}

#[inline(always)]
fn add_to_block<R: Real, S: Simd, const V: usize>(
    _: Packs<V>,
    simd: S,
    x: &[R],
    a: Rows<'_, R>,
    start: usize,
    y: &mut [R],
) {
    let y_packs = R::packs_mut::<S>(y);
    let mut sums: [R::Pack<S>; V] = filled(|v| y_packs[v]);
    let width = V * lanes::<R, S>();
    for (row, &x) in a.data.chunks_exact(a.stride).zip(x) {
        add_row(simd, x, &row[start..start + width], &mut sums);
    }
    y_packs.copy_from_slice(&sums);
}

#[inline(always)]
fn add_pairs_to_block<R: Real, S: Simd, const V: usize>(
    _: Packs<V>,
    simd: S,
    x: &[R],
    a: Rows<'_, R>,
    start: usize,
    y: &mut [R],
) {
    let y_packs = R::packs_mut::<S>(y);
    let mut sums: [R::Pack<S>; V] = filled(|v| y_packs[v]);
    let mut others = [R::splat(simd, R::ZERO); V];
    let width = V * lanes::<R, S>();
    let mut rows = a.data.chunks_exact(2 * a.stride).zip(x.chunks_exact(2));
    for (pair, x) in &mut rows {
        let (first, second) = pair.split_at(a.stride);
        add_row(simd, x[0], &first[start..start + width], &mut sums);
        add_row(simd, x[1], &second[start..start + width], &mut others);
    }
    if x.len() % 2 == 1 {
        let last = (x.len() - 1) * a.stride + start;
        let row = &a.data[last..last + width];
        add_row(simd, x[x.len() - 1], row, &mut others);
    }
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum = R::pack_add(simd, *sum, other);
    }
    y_packs.copy_from_slice(&sums);
}

#[inline(always)]
fn add_row<R: Real, S: Simd, const V: usize>(simd: S, x: R, row: &[R], sums: &mut [R::Pack<S>; V]) {
    let x = R::splat(simd, x);
    for (sum, &a) in sums.iter_mut().zip(R::packs::<S>(row)) {
        *sum = R::mul_add(simd, x, a, *sum);
    }
}

struct ProductWithVector<'a, R> {
    a: Rows<'a, R>,
    y: &'a [R],
    x: &'a mut [R],
}

impl<R: Real> Kernel for ProductWithVector<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { a, y, x } = self;
        let (lanes, mut start) = (lanes::<R, S>(), 0);
        x.fill(R::ZERO);
        while y.len() - start >= lanes {
            // Equal blocks on every processor, as each is summed separately.
            let packs = part_size((y.len() - start) / lanes, 26);
            let block = &y[start..start + packs * lanes];
            if const { has_many::<S>() } {
                with_packs!(dots packs, add_dots_with_block(simd, a, start, block, x));
            } else {
                add_dots_with_slice(simd, a, start, block, x);
            }
            start += packs * lanes;
        }
        if start < y.len() {
            let last = R::load_part(simd, &y[start..]);
            for (row, x) in a.data.chunks_exact(a.stride).zip(x) {
                let row = last_pack(simd, row, start, y.len() - start);
                *x += R::reduce(simd, R::pack_mul(simd, row, last));
            }
        }
    }
}

#[inline(always)]
fn add_dots_with_block<R: Real, S: Simd, const V: usize>(
    _: Packs<V>,
    simd: S,
    a: Rows<'_, R>,
    start: usize,
    y: &[R],
    x: &mut [R],
) {
    let y_packs = R::packs::<S>(y);
    let y: [R::Pack<S>; V] = filled(|v| y_packs[v]);
    let width = V * lanes::<R, S>();
    for (row, x) in a.data.chunks_exact(a.stride).zip(x) {
        let row = R::packs::<S>(&row[start..start + width]);
        let row: [R::Pack<S>; V] = filled(|v| row[v]);
        *x += dot(simd, &row, &y);
    }
}

/// Adds the dot products where the registers do not hold y.
#[inline(always)]
fn add_dots_with_slice<R: Real, S: Simd>(
    simd: S,
    a: Rows<'_, R>,
    start: usize,
    y: &[R],
    x: &mut [R],
) {
    let packs = R::packs::<S>(y);
    for (row, x) in a.data.chunks_exact(a.stride).zip(x) {
        let row = R::packs::<S>(&row[start..start + y.len()]);
        *x += dot(simd, row, packs);
    }
}

#[inline(always)]
fn dot<R: Real, S: Simd>(simd: S, row: &[R::Pack<S>], y: &[R::Pack<S>]) -> R {
    let ((row, row_last), (y, y_last)) = (row.as_chunks::<4>(), y.as_chunks::<4>());
    // Four sums by name, not an array of them: they stay in registers, and no addition waits.
    let zero = R::splat(simd, R::ZERO);
    let (mut s0, mut s1, mut s2, mut s3) = (zero, zero, zero, zero);
    for (row, y) in row.iter().zip(y) {
        s0 = R::mul_add(simd, row[0], y[0], s0);
        s1 = R::mul_add(simd, row[1], y[1], s1);
        s2 = R::mul_add(simd, row[2], y[2], s2);
        s3 = R::mul_add(simd, row[3], y[3], s3);
    }
    for (row, y) in row_last.iter().zip(y_last) {
        s0 = R::mul_add(simd, *row, *y, s0);
    }
    let (s0, s2) = (R::pack_add(simd, s0, s1), R::pack_add(simd, s2, s3));
    R::reduce(simd, R::pack_add(simd, s0, s2))
}

struct AddVectorProducts<'a, R, const B: usize> {
    pairs: [(&'a [R], &'a mut [R]); B],
    a: Rows<'a, R>,
}

impl<R: Real, const B: usize> Kernel for AddVectorProducts<'_, R, B> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (lanes, mut start) = (lanes::<R, S>(), 0);
        let width = self.pairs.first().map_or(0, |(_, y)| y.len());
        while width - start >= lanes {
            let packs = tile_size::<S>((width - start) / lanes);
            with_packs!(tile packs, add_to_tile(simd, &mut self.pairs, self.a, start));
            start += packs * lanes;
        }
        if start < width {
            let steps = self.pairs.first().map_or(0, |(x, _)| x.len());
            let mut sums: [R::Pack<S>; B] =
                filled(|b| R::load_part(simd, &self.pairs[b].1[start..]));
            for (i, row) in self
                .a
                .data
                .chunks_exact(self.a.stride)
                .take(steps)
                .enumerate()
            {
                let row = last_pack(simd, row, start, width - start);
                for (sum, (x, _)) in sums.iter_mut().zip(&self.pairs) {
                    *sum = R::mul_add(simd, R::splat(simd, x[i]), row, *sum);
                }
            }
            for ((_, y), sum) in self.pairs.iter_mut().zip(sums) {
                R::store_part(simd, &mut y[start..], sum);
            }
        }
    }
}

/// `V` packs of every y stay in registers while the rows of A go by.
#[inline(always)]
fn add_to_tile<R: Real, S: Simd, const V: usize, const B: usize>(
    _: Packs<V>,
    simd: S,
    pairs: &mut [(&[R], &mut [R]); B],
    a: Rows<'_, R>,
    start: usize,
) {
    let width = V * lanes::<R, S>();
    let steps = pairs.first().map_or(0, |(x, _)| x.len());
    let xs: [&[R]; B] = filled(|b| &pairs[b].0[..steps]);
    let mut sums: [[R::Pack<S>; V]; B] = filled(|b| {
        let y = R::packs::<S>(&pairs[b].1[start..start + width]);
        filled(|v| y[v])
    });
    for (i, row) in a.data.chunks_exact(a.stride).take(steps).enumerate() {
        let row = R::packs::<S>(&row[start..start + width]);
        let row: [R::Pack<S>; V] = filled(|v| row[v]);
        for (sums, x) in sums.iter_mut().zip(&xs) {
            let x = R::splat(simd, x[i]);
            for (sum, &a) in sums.iter_mut().zip(&row) {
                *sum = R::mul_add(simd, x, a, *sum);
            }
        }
    }
    for ((_, y), sums) in pairs.iter_mut().zip(&sums) {
        R::packs_mut::<S>(&mut y[start..start + width]).copy_from_slice(sums);
    }
}

struct ProductsWithVectors<'a, R, const B: usize> {
    a: Rows<'a, R>,
    pairs: [(&'a [R], &'a mut [R]); B],
}

impl<R: Real, const B: usize> Kernel for ProductsWithVectors<'_, R, B> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let rows = self.pairs.first().map_or(0, |(_, x)| x.len());
        let mut row = 0;
        if const { has_many::<S>() } {
            row = dots_of_rows::<R, S, 4, B>(simd, self.a, row, &mut self.pairs);
            row = dots_of_rows::<R, S, 2, B>(simd, self.a, row, &mut self.pairs);
            dots_of_rows::<R, S, 1, B>(simd, self.a, row, &mut self.pairs);
            return;
        }
        // The sums of two rows with two vectors fit the registers.
        let (twos, last) = self.pairs.as_chunks_mut::<2>();
        while rows - row >= 2 {
            for pairs in &mut *twos {
                set_dots::<R, S, 2, 2>(simd, self.a, row, pairs);
            }
            for pair in &mut *last {
                set_dots::<R, S, 2, 1>(simd, self.a, row, std::array::from_mut(pair));
            }
            row += 2;
        }
        if row < rows {
            dots_of_rows::<R, S, 1, B>(simd, self.a, row, &mut self.pairs);
        }
    }
}

/// The products of the rows from `row` on, `ROWS` at a time, with every y; returns where they end.
#[inline(always)]
fn dots_of_rows<R: Real, S: Simd, const ROWS: usize, const B: usize>(
    simd: S,
    a: Rows<'_, R>,
    mut row: usize,
    pairs: &mut [(&[R], &mut [R]); B],
) -> usize {
    while pairs.first().map_or(0, |(_, x)| x.len()) - row >= ROWS {
        set_dots::<R, S, ROWS, B>(simd, a, row, pairs);
        row += ROWS;
    }
    row
}

/// The products of `ROWS` rows of A with every y.
#[inline(always)]
fn set_dots<R: Real, S: Simd, const ROWS: usize, const B: usize>(
    simd: S,
    a: Rows<'_, R>,
    first: usize,
    pairs: &mut [(&[R], &mut [R]); B],
) {
    let width = pairs.first().map_or(0, |(y, _)| y.len());
    let whole = width / lanes::<R, S>();
    let rows: [&[R]; ROWS] = filled(|r| &a.data[(first + r) * a.stride..][..a.stride]);
    let row_packs: [&[R::Pack<S>]; ROWS] = filled(|r| &R::packs::<S>(rows[r])[..whole]);
    let y_packs: [&[R::Pack<S>]; B] = filled(|b| &R::packs::<S>(pairs[b].0)[..whole]);
    let mut sums = [[R::splat(simd, R::ZERO); B]; ROWS];
    for v in 0..whole {
        let y: [R::Pack<S>; B] = filled(|b| y_packs[b][v]);
        for (sums, row) in sums.iter_mut().zip(&row_packs) {
            for (sum, &y) in sums.iter_mut().zip(&y) {
                *sum = R::mul_add(simd, row[v], y, *sum);
            }
        }
    }
    let start = whole * lanes::<R, S>();
    if start < width {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let row = last_pack(simd, row, start, width - start);
            for (sum, (y, _)) in sums.iter_mut().zip(&*pairs) {
                *sum = R::mul_add(simd, row, R::load_part(simd, &y[start..]), *sum);
            }
        }
    }
    set_sums(simd, &sums, first, pairs);
}

/// Writes the sums of `sums` to every x, from `first` on: four at a time, which takes little longer than one.
#[inline(always)]
fn set_sums<R: Real, S: Simd, const ROWS: usize, const B: usize>(
    simd: S,
    sums: &[[R::Pack<S>; B]; ROWS],
    first: usize,
    pairs: &mut [(&[R], &mut [R]); B],
) {
    // As many vectors as fill four sums with these rows.
    let together = 4 / ROWS;
    let mut b = 0;
    while b + together <= B {
        let four: [R::Pack<S>; 4] = filled(|k| sums[k % ROWS][b + k / ROWS]);
        let four = R::reduce_four(simd, four);
        for (k, sum) in four.into_iter().enumerate() {
            pairs[b + k / ROWS].1[first + k % ROWS] = sum;
        }
        b += together;
    }
    while b < B {
        for (r, sums) in sums.iter().enumerate() {
            pairs[b].1[first + r] = R::reduce(simd, sums[b]);
        }
        b += 1;
    }
}

struct SetProductOfSeries<'a, R, I> {
    pairs: I,
    a: &'a mut Matrix<R>,
}

impl<'a, R: Real, I: Iterator<Item = (Rows<'a, R>, Rows<'a, R>)> + Clone> Kernel
    for SetProductOfSeries<'_, R, I>
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // A tile of A stays in registers while the episodes go by, and the few columns of y that fill
        // it stay in the first-level cache while the rows of A go by.
        let Self { pairs, a } = self;
        let Some((_, y)) = pairs.clone().next() else {
            return;
        };
        let (lanes, mut start) = (lanes::<R, S>(), 0);
        while y.stride - start >= lanes {
            let packs = part_size(
                (y.stride - start) / lanes,
                if has_many::<S>() { 3 } else { 1 },
            );
            with_packs!(sums packs, set_columns(simd, &pairs, a.rows, start, a));
            start += packs * lanes;
        }
        if start < y.stride {
            set_last_columns(simd, &pairs, start, a);
        }
    }
}

#[inline(always)]
fn set_columns<'a, R: Real, S: Simd, const PACKS: usize>(
    _: Packs<PACKS>,
    simd: S,
    pairs: &(impl Iterator<Item = (Rows<'a, R>, Rows<'a, R>)> + Clone),
    width: usize,
    start: usize,
    a: &mut Matrix<R>,
) {
    // Tiles whose sums, and what they are made of, all fit the registers, and whose few columns of y, of four episodes,
    // fit the first-level cache.
    let row = if const { has_many::<S>() } {
        set_rows::<R, S, 6, PACKS>(simd, pairs, 0..width, start, a)
    } else {
        set_rows::<R, S, 5, PACKS>(simd, pairs, 0..width, start, a)
    };
    let row = set_rows::<R, S, 4, PACKS>(simd, pairs, row..width, start, a);
    set_rows::<R, S, 1, PACKS>(simd, pairs, row..width, start, a);
}

/// As many of the rows as make whole tiles; returns where they end.
#[inline(always)]
fn set_rows<'a, R: Real, S: Simd, const ROWS: usize, const PACKS: usize>(
    simd: S,
    pairs: &(impl Iterator<Item = (Rows<'a, R>, Rows<'a, R>)> + Clone),
    of: Range<usize>,
    start: usize,
    a: &mut Matrix<R>,
) -> usize {
    let (stride, mut row) = (padded(a.columns), of.start);
    let tiles = a.data[row * stride..].chunks_exact_mut(ROWS * stride);
    for rows in tiles.take(of.len() / ROWS) {
        set_tile::<R, S, ROWS, PACKS>(simd, pairs, row, start, rows, stride);
        row += ROWS;
    }
    row
}

/// The rest of every row that is no multiple of a pack.
#[inline(always)]
fn set_last_columns<'a, R: Real, S: Simd>(
    simd: S,
    pairs: &(impl Iterator<Item = (Rows<'a, R>, Rows<'a, R>)> + Clone),
    start: usize,
    a: &mut Matrix<R>,
) {
    let stride = padded(a.columns);
    for (i, row) in a.data.chunks_exact_mut(stride).enumerate() {
        let mut sum = R::splat(simd, R::ZERO);
        for (x, y) in pairs.clone() {
            let rows = x
                .data
                .chunks_exact(x.stride)
                .zip(y.data.chunks_exact(y.stride));
            for (x, y) in rows {
                let y = R::load_part(simd, &y[start..]);
                sum = R::mul_add(simd, R::splat(simd, x[i]), y, sum);
            }
        }
        R::store_part(simd, &mut row[start..], sum);
    }
}

#[inline(always)]
fn set_tile<'a, R: Real, S: Simd, const ROWS: usize, const PACKS: usize>(
    simd: S,
    pairs: &(impl Iterator<Item = (Rows<'a, R>, Rows<'a, R>)> + Clone),
    row: usize,
    start: usize,
    rows: &mut [R],
    stride: usize,
) {
    let width = PACKS * lanes::<R, S>();
    let mut sums = [[R::splat(simd, R::ZERO); PACKS]; ROWS];
    for (x, y) in pairs.clone() {
        let rows = x
            .data
            .chunks_exact(x.stride)
            .zip(y.data.chunks_exact(y.stride));
        for (x, y) in rows {
            let y = R::packs::<S>(&y[start..start + width]);
            let y: [R::Pack<S>; PACKS] = filled(|p| y[p]);
            for (sums, &x) in sums.iter_mut().zip(&x[row..row + ROWS]) {
                let x = R::splat(simd, x);
                for (sum, &y) in sums.iter_mut().zip(&y) {
                    *sum = R::mul_add(simd, x, y, *sum);
                }
            }
        }
    }
    for (row, sums) in rows.chunks_exact_mut(stride).zip(&sums) {
        R::packs_mut::<S>(&mut row[start..start + width]).copy_from_slice(sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::random_vector;
    use crate::math::simd::on_every_instruction_set;

    fn values<R: Real>(seed: u64, count: usize) -> Vec<R> {
        random_vector(seed, count)
            .into_iter()
            .map(R::from_f64)
            .collect()
    }

    fn assert_close<R: Real>(found: &[R], wanted: impl Iterator<Item = R>, what: &str) {
        // The roundings of sums of up to 900 products of numbers around one.
        let tolerance = R::EPSILON.to_f64() * 1000.0;
        for (found, wanted) in found.iter().zip(wanted) {
            assert!(
                (*found - wanted).to_f64().abs() < tolerance,
                "{what}: {found}, not {wanted}"
            );
        }
    }

    /// Every kernel at one size, with one vector and with `B` at once.
    fn check<R: Real, const B: usize>(m: usize, n: usize, stride: usize) {
        let what = format!("{B} vectors, {m} by {n}, stride {stride}");
        let mut data = Aligned::<R>::zeros(m * stride);
        let matrix = values::<R>(1, m * n);
        for (row, values) in data.chunks_exact_mut(stride).zip(matrix.chunks_exact(n)) {
            row[..n].copy_from_slice(values);
        }
        let a = Rows {
            data: &data,
            stride,
        };
        let x: [Vec<R>; B] = std::array::from_fn(|b| values(b as u64 + 2, m));
        let y: [Vec<R>; B] = std::array::from_fn(|b| values(b as u64 + 7, n));
        let sum = |j: usize, x: &[R]| (0..m).map(|i| x[i] * matrix[i * n + j]).sum::<R>();
        let dot = |i: usize, y: &[R]| (0..n).map(|j| matrix[i * n + j] * y[j]).sum::<R>();

        let mut found = y.clone();
        let mut pairs = x.iter().zip(&mut found);
        add_vector_products::<R, B>(
            std::array::from_fn(|_| {
                let (x, y) = pairs.next().unwrap();
                (&x[..], &mut y[..])
            }),
            a,
        );
        for b in 0..B {
            let wanted = (0..n).map(|j| y[b][j] + sum(j, &x[b]));
            assert_close(&found[b], wanted, &format!("x·A, {what}"));
        }
        let mut found = x.clone();
        let mut pairs = y.iter().zip(&mut found);
        products_with_vectors::<R, B>(
            a,
            std::array::from_fn(|_| {
                let (y, x) = pairs.next().unwrap();
                (&y[..], &mut x[..])
            }),
        );
        for b in 0..B {
            let wanted = (0..m).map(|i| dot(i, &y[b]));
            assert_close(&found[b], wanted, &format!("A·y, {what}"));
        }
    }

    /// Every width around the size of a pack, a tile and a block, with padded and with bare rows.
    #[test]
    fn products_match_the_definition_at_every_size() {
        fn check_all<R: Real>() {
            let narrow = (1..=35).map(|n| (3, n));
            let wide = [
                (1, 92),
                (2, 100),
                (4, 129),
                (5, 400),
                (6, 431),
                (2, 900),
                (9, 16),
            ];
            for (m, n) in narrow.chain(wide) {
                for stride in [n, padded(n)] {
                    check::<R, 1>(m, n, stride);
                    check::<R, 2>(m, n, stride);
                    check::<R, 3>(m, n, stride);
                    check::<R, 4>(m, n, stride);
                }
            }
        }
        check_all::<f32>();
        check_all::<f64>();
    }

    /// The sums of four packs, together and one by one.
    #[derive(Clone, Copy)]
    struct FourSums<'a>(&'a [f32]);

    impl Kernel for FourSums<'_> {
        type Output = [[f32; 4]; 2];
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let packs = f32::packs::<S>(self.0);
            let four = std::array::from_fn(|k| packs[k]);
            let each = four.map(|pack| f32::reduce(simd, pack));
            [f32::reduce_four(simd, four), each]
        }
    }

    #[test]
    fn sums_together_have_the_bits_of_each_on_every_instruction_set() {
        let values = values::<f32>(1, 64);
        let everywhere = on_every_instruction_set(FourSums(&values));
        let wanted = everywhere[0][1];
        assert!(everywhere.as_flattened().iter().all(|sums| *sums == wanted));
    }

    #[test]
    fn series_products_match_the_definition_at_every_width() {
        fn check<R: Real>(steps: &[usize], m: usize, n: usize) {
            let series = |seed: u64, steps: usize, width: usize| {
                let mut series = Series::new(width);
                series.resize(steps);
                series
                    .as_mut_slice()
                    .copy_from_slice(&values::<R>(seed, steps * width));
                series
            };
            let pairs: Vec<_> = (0..)
                .zip(steps)
                .map(|(seed, &t)| (series(seed, t, m), series(seed + 9, t, padded(n))))
                .collect();
            let mut a = Matrix::zeros(m, n);
            set_product_of_series(pairs.iter().map(|(x, y)| (x, y)), &mut a);
            for i in 0..m {
                let wanted = (0..n).map(|j| {
                    let of = |(x, y): &(Series<R>, Series<R>)| -> R {
                        (0..x.steps()).map(|t| x.row(t)[i] * y.row(t)[j]).sum()
                    };
                    pairs.iter().map(of).sum()
                });
                assert_close(a.row(i), wanted, &format!("{steps:?}, {m} by {n}"));
            }
            // y_t += x_t·A, and x has a few values more than A has rows.
            let (x, mut y) = (series(3, 6, m + 2), series(4, 6, n));
            let before = y.clone();
            add_series_product(&x, a.rows_from(0), &mut y);
            for t in 0..6 {
                let wanted = (0..n)
                    .map(|j| before.row(t)[j] + (0..m).map(|i| x.row(t)[i] * a[[i, j]]).sum::<R>());
                assert_close(y.row(t), wanted, &format!("series, {m} by {n}"));
            }
        }
        for n in (1..=35).chain([92, 100, 129]) {
            for m in [1, 4, 7] {
                check::<f32>(&[3, 1], m, n);
                check::<f64>(&[5], m, n);
            }
        }
    }
}
