//! The three matrix kernels that everything heavy is made of, on row-major matrices.
//!
//! A linear map uses them on its weights, the memory on its M columns of N rows (the memory stands
//! column after column, so that N values are neighbours whatever M is).

use super::simd::{Kernel, Simd, dispatch};
use super::{Real, Series};

/// y += x·A, with A as [x.len(), y.len()]; rows of A beyond the length of x are not read.
#[inline]
pub fn add_vector_product<R: Real>(x: &[R], a: &[R], y: &mut [R]) {
    dispatch(AddVectorProduct { weight: a, x, y });
}

/// x = A·y, with A as [x.len(), y.len()]; rows of A beyond the length of x are not read.
#[inline]
pub fn product_with_vector<R: Real>(a: &[R], y: &[R], x: &mut [R]) {
    let a = &a[..x.len() * y.len()];
    dispatch(ProductWithVector {
        weight: a,
        dy: y,
        dx: x,
    });
}

/// A += Σ_t x_tᵀ·y_t over the steps of two series, with A as [x.width(), y.width()].
#[inline]
pub fn add_product_of_series<R: Real>(x: &Series<R>, y: &Series<R>, a: &mut [R]) {
    dispatch(AddProductOfSeries {
        weight: a,
        x,
        dy: y,
    });
}

/// y += x·W: a block of y stays in registers while the rows of W go by.
struct AddVectorProduct<'a, R> {
    weight: &'a [R],
    x: &'a [R],
    y: &'a mut [R],
}

impl<R: Real> Kernel for AddVectorProduct<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { weight, x, y } = self;
        let outputs = y.len();
        let lanes = lanes::<R, S>();
        let mut start = 0;
        while outputs - start >= 8 * lanes {
            forward_block::<R, S, 8>(simd, weight, outputs, start, x, y);
            start += 8 * lanes;
        }
        while outputs - start >= lanes {
            forward_block::<R, S, 1>(simd, weight, outputs, start, x, y);
            start += lanes;
        }
        if start < outputs {
            let mut sum = R::load_part(simd, &y[start..]);
            for (row, &x) in weight.chunks_exact(outputs).zip(x) {
                sum = R::mul_add(
                    simd,
                    R::splat(simd, x),
                    R::load_part(simd, &row[start..]),
                    sum,
                );
            }
            R::store_part(simd, &mut y[start..], sum);
        }
    }
}

#[inline(always)]
fn forward_block<R: Real, S: Simd, const PACKS: usize>(
    simd: S,
    weight: &[R],
    outputs: usize,
    start: usize,
    x: &[R],
    y: &mut [R],
) {
    let width = PACKS * lanes::<R, S>();
    let (y, _) = R::packs_mut::<S>(&mut y[start..start + width]);
    let mut sums: [R::Pack<S>; PACKS] = std::array::from_fn(|p| y[p]);
    for (row, &x) in weight.chunks_exact(outputs).zip(x) {
        let (row, _) = R::packs::<S>(&row[start..start + width]);
        let x = R::splat(simd, x);
        for (sum, &w) in sums.iter_mut().zip(row) {
            *sum = R::mul_add(simd, x, w, *sum);
        }
    }
    y.copy_from_slice(&sums);
}

/// dx = W·dy: eight rows of W at a time, so that dy is loaded once for all of them.
struct ProductWithVector<'a, R> {
    weight: &'a [R],
    dy: &'a [R],
    dx: &'a mut [R],
}

impl<R: Real> Kernel for ProductWithVector<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const ROWS: usize = 8;
        let Self { weight, dy, dx } = self;
        let outputs = dy.len();
        let mut rows = weight.chunks_exact(outputs * ROWS);
        let mut results = dx.chunks_exact_mut(ROWS);
        for (rows, dx) in (&mut rows).zip(&mut results) {
            dx.copy_from_slice(&dots::<R, S, ROWS>(simd, rows, dy));
        }
        let done = weight.len() / (outputs * ROWS) * ROWS;
        let rest = results.into_remainder();
        for (row, dx) in weight[done * outputs..].chunks_exact(outputs).zip(rest) {
            [*dx] = dots::<R, S, 1>(simd, row, dy);
        }
    }
}

/// The products of `y` with each of `ROWS` rows that stand one after the other.
#[inline(always)]
fn dots<R: Real, S: Simd, const ROWS: usize>(simd: S, rows: &[R], y: &[R]) -> [R; ROWS] {
    let split: [(&[R::Pack<S>], &[R]); ROWS] =
        std::array::from_fn(|r| R::packs::<S>(&rows[r * y.len()..(r + 1) * y.len()]));
    let (y_packs, y_rest) = R::packs::<S>(y);
    let mut sums = [R::splat(simd, R::ZERO); ROWS];
    for (p, &y) in y_packs.iter().enumerate() {
        for (sum, (row, _)) in sums.iter_mut().zip(&split) {
            *sum = R::mul_add(simd, row[p], y, *sum);
        }
    }
    if !y_rest.is_empty() {
        let y = R::load_part(simd, y_rest);
        for (sum, (_, rest)) in sums.iter_mut().zip(&split) {
            *sum = R::mul_add(simd, R::load_part(simd, rest), y, *sum);
        }
    }
    sums.map(|sum| R::reduce(simd, sum))
}

/// W += Σ_t x_tᵀ·dy_t: a tile of W stays in registers while the episode goes by.
struct AddProductOfSeries<'a, R> {
    weight: &'a mut [R],
    x: &'a Series<R>,
    dy: &'a Series<R>,
}

impl<R: Real> Kernel for AddProductOfSeries<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const ROWS: usize = 4;
        let Self { weight, x, dy } = self;
        let inputs = x.width();
        let mut input = 0;
        while input + ROWS <= inputs {
            accumulate_rows::<R, S, ROWS>(simd, weight, x, dy, input);
            input += ROWS;
        }
        while input < inputs {
            accumulate_rows::<R, S, 1>(simd, weight, x, dy, input);
            input += 1;
        }
    }
}

#[inline(always)]
fn accumulate_rows<R: Real, S: Simd, const ROWS: usize>(
    simd: S,
    weight: &mut [R],
    x: &Series<R>,
    dy: &Series<R>,
    input: usize,
) {
    let (outputs, lanes) = (dy.width(), lanes::<R, S>());
    let mut start = 0;
    while outputs - start >= 4 * lanes {
        accumulate_tile::<R, S, ROWS, 4>(simd, weight, x, dy, input, start);
        start += 4 * lanes;
    }
    while outputs - start >= lanes {
        accumulate_tile::<R, S, ROWS, 1>(simd, weight, x, dy, input, start);
        start += lanes;
    }
    if start < outputs {
        let mut sums = [R::splat(simd, R::ZERO); ROWS];
        for (x, dy) in x
            .as_slice()
            .chunks_exact(x.width())
            .zip(dy.as_slice().chunks_exact(outputs))
        {
            let dy = R::load_part(simd, &dy[start..]);
            for (sum, &x) in sums.iter_mut().zip(&x[input..input + ROWS]) {
                *sum = R::mul_add(simd, R::splat(simd, x), dy, *sum);
            }
        }
        for (r, sum) in sums.into_iter().enumerate() {
            let tile = &mut weight[(input + r) * outputs + start..(input + r + 1) * outputs];
            let one = R::splat(simd, R::ONE);
            let total = R::mul_add(simd, one, R::load_part(simd, tile), sum);
            R::store_part(simd, tile, total);
        }
    }
}

#[inline(always)]
fn accumulate_tile<R: Real, S: Simd, const ROWS: usize, const PACKS: usize>(
    simd: S,
    weight: &mut [R],
    x: &Series<R>,
    dy: &Series<R>,
    input: usize,
    start: usize,
) {
    let (outputs, width) = (dy.width(), PACKS * lanes::<R, S>());
    let mut sums = [[R::splat(simd, R::ZERO); PACKS]; ROWS];
    for (x, dy) in x
        .as_slice()
        .chunks_exact(x.width())
        .zip(dy.as_slice().chunks_exact(outputs))
    {
        let (dy, _) = R::packs::<S>(&dy[start..start + width]);
        for (sums, &x) in sums.iter_mut().zip(&x[input..input + ROWS]) {
            let x = R::splat(simd, x);
            for (sum, &dy) in sums.iter_mut().zip(dy) {
                *sum = R::mul_add(simd, x, dy, *sum);
            }
        }
    }
    let one = R::splat(simd, R::ONE);
    for (r, sums) in sums.iter().enumerate() {
        let from = (input + r) * outputs + start;
        let (tile, _) = R::packs_mut::<S>(&mut weight[from..from + width]);
        for (tile, &sum) in tile.iter_mut().zip(sums) {
            *tile = R::mul_add(simd, one, *tile, sum);
        }
    }
}

/// Values in one pack.
#[inline(always)]
const fn lanes<R: Real, S: Simd>() -> usize {
    size_of::<R::Pack<S>>() / size_of::<R>()
}
