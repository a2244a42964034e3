//! y = Σ a b over all axes that the result lacks: sums, dot products, and linear maps, which add to what is there.
//!
//! One loop runs along memory, on packs: along the result and one factor, so that sums stand in registers for four rows of
//! the result at a time, or along both factors. Which loops these are is known before anything runs ([`Order`]), and every
//! sum has one order, whatever the vectors of the processor.

use super::exec::{Exec, MOST_AXES};
use super::memory::{self, Memory, Operand, clear, sum};
use super::order::{Form, Order, order};
use crate::math::matrix::{Rows, add_vector_product, has_many};
use crate::math::pack::{each_pack, filled};
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::{Pack, Real, softmax::dot};

/// Sets the sum, or adds it; `is_mean`: divided by the number of terms.
pub fn forward<R: Real>(exec: &Exec, adds: bool, is_mean: bool, memory: &mut Memory<R>) {
    let outer = exec.dims.len() - exec.inner;
    if !adds {
        let strides = &exec.out.strides[..outer];
        clear(
            &mut memory.arena,
            &exec.dims[..outer],
            (exec.out.at, strides),
        );
    }
    let [a, b] = factors(exec);
    let operands = [(exec.out.at, &exec.out.strides[..]), a, b];
    multiply_add(memory, exec, 0, operands, scale(exec, is_mean));
}

/// da += dy b and db += dy a.
pub fn reverse<R: Real>(exec: &Exec, is_mean: bool, memory: &mut Memory<R>) {
    let (gradients, factors) = (memory.gradients as isize, factors(exec));
    let is_square = exec.arguments.len() == 2 && factors[0] == factors[1];
    let slope = (
        exec.out.at + exec.out.to_slope(gradients),
        &exec.out.strides[..],
    );
    for (index, argument) in exec.arguments.iter().enumerate() {
        if !argument.slope {
            continue;
        }
        let at = argument.at + argument.to_slope(gradients);
        let twice = R::from_f64(if is_square { 2.0 } else { 1.0 });
        let operands = [(at, &argument.strides[..]), slope, factors[1 - index]];
        let factor = twice * scale(exec, is_mean);
        multiply_add(memory, exec, index + 1, operands, factor);
        if is_square {
            return;
        }
    }
}

/// Orders of the loops forward, and for the gradient of each argument.
pub fn orders(exec: &Exec) -> Vec<Order> {
    let [a, b] = factors(exec);
    let out = &exec.out.strides[..];
    let all = [[out, a.1, b.1], [a.1, out, b.1], [b.1, out, a.1]];
    let all = all.into_iter().take(exec.arguments.len() + 1);
    all.map(|strides| order(&exec.dims, strides, |dim| exec.is_fixed(dim)))
        .collect()
}

/// The two factors; of a sum of one value, the second is the 1 at the beginning of the arena.
fn factors(exec: &Exec) -> [Operand<'_>; 2] {
    const ONES: [isize; MOST_AXES] = [0; MOST_AXES];
    let one = (0, &ONES[..exec.dims.len()]);
    let mut factors = exec
        .arguments
        .iter()
        .map(|place| (place.at, &place.strides[..]));
    [factors.next().unwrap_or(one), factors.next().unwrap_or(one)]
}

fn scale<R: Real>(exec: &Exec, is_mean: bool) -> R {
    let terms: usize = exec.dims[exec.dims.len() - exec.inner..].iter().product();
    R::from_f64(if is_mean { 1.0 / terms as f64 } else { 1.0 })
}

/// The part of the arena that an operand sees: where it begins, and behind its end.
fn span(dims: &[usize], (at, strides): Operand) -> [usize; 2] {
    let (mut low, mut high) = (at, at);
    for (length, stride) in dims.iter().zip(strides) {
        let far = (*length as isize - 1) * stride;
        low += far.min(0);
        high += far.max(0);
    }
    [low as usize, high as usize + 1]
}

/// y += factor · a · b over all loops.
fn multiply_add<R: Real>(
    memory: &mut Memory<R>,
    exec: &Exec,
    which: usize,
    operands: [Operand; 3],
    factor: R,
) {
    let (dims, Some(order)) = (&exec.dims[..], exec.orders.get(which)) else {
        return;
    };
    if dims.contains(&0) {
        return;
    }
    let [y, a, b] = if order.swaps {
        [operands[0], operands[2], operands[1]]
    } else {
        operands
    };
    let Memory { arena, room, .. } = memory;
    let spans = [y, a, b].map(|operand| span(dims, operand));
    let [y_span, a_span, b_span] = spans;
    let is_apart = |other: [usize; 2]| other[1] <= y_span[0] || other[0] >= y_span[1];
    let at = [(y.0, y_span), (a.0, a_span), (b.0, b_span)].map(|(at, span)| at as usize - span[0]);
    let strides = [y.1, a.1, b.1];
    if is_apart(a_span) && is_apart(b_span) {
        let (low, rest) = arena.split_at_mut(y_span[0]);
        let (y, high) = rest.split_at_mut(y_span[1] - y_span[0]);
        let of = |[from, to]: [usize; 2]| {
            if from < y_span[0] {
                &low[from..to]
            } else {
                &high[from - y_span[1]..to - y_span[1]]
            }
        };
        let (a, b) = (of(a_span), of(b_span));
        // A vector times a whole matrix.
        if let (Form::Rows, [Some(along), Some(sum), None, None], [], true) =
            (order.form, order.inner, &order.outer[..], factor == R::ONE)
        {
            let (length, count, stride) = (dims[along], dims[sum], strides[2][sum]);
            if strides[1][sum] == 1 && stride == length as isize {
                return add_vector_product(
                    &a[..count],
                    Rows {
                        data: b,
                        stride: length,
                    },
                    y,
                );
            }
        }
        return dispatch::<R, _>(Products {
            order,
            dims,
            y,
            a,
            b,
            at,
            strides,
            factor,
        });
    }
    room.x.clear();
    room.x.extend_from_slice(&arena[y_span[0]..y_span[1]]);
    let (a, b) = (&arena[a_span[0]..a_span[1]], &arena[b_span[0]..b_span[1]]);
    dispatch::<R, _>(Products {
        order,
        dims,
        y: &mut room.x,
        a,
        b,
        at,
        strides,
        factor,
    });
    memory::each(dims, [y.1], [y.0], &mut |[to]| {
        arena[to as usize] = room.x[to as usize - y_span[0]];
    });
}

struct Products<'a, R> {
    order: &'a Order,
    dims: &'a [usize],
    y: &'a mut [R],
    a: &'a [R],
    b: &'a [R],
    at: [usize; 3],
    strides: [&'a [isize]; 3],
    factor: R,
}

/// A loop: its length, and the strides of the result and of the factors.
type Loop = (usize, [isize; 3]);

impl<R: Real> Kernel for Products<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            order,
            dims,
            y,
            a,
            b,
            at,
            strides,
            factor,
        } = self;
        let of = |dim: usize| (dims[dim], strides.map(|strides| strides[dim]));
        let [along, sum, row, side] = order.inner.map(|dim| dim.map_or((1, [0; 3]), of));
        let mut index = [0; MOST_AXES];
        let mut at = at.map(|at| at as isize);
        loop {
            let here = at.map(|at| at as usize);
            match order.form {
                Form::Rows => rows(simd, y, (a, b), here, [along, sum, row], factor),
                Form::Dots => dots(simd, y, (a, b), here, [along, row, side], factor),
                Form::Each => each(simd, y, (a, b), at, [along, sum, row], factor),
                Form::Apart => apart(y, (a, b), at, along, factor),
            }
            let mut level = order.outer.len();
            loop {
                let Some(next) = level.checked_sub(1) else {
                    return;
                };
                level = next;
                let (length, steps) = of(order.outer[level]);
                index[level] += 1;
                let back = if index[level] < length {
                    1
                } else {
                    1 - length as isize
                };
                (0..3).for_each(|own| at[own] += back * steps[own]);
                if index[level] < length {
                    break;
                }
                index[level] = 0;
            }
        }
    }
}

/// y_ij += Σ_k a_ik b_kj; b may vary with i.
#[inline(always)]
fn rows<R: Real, S: Simd>(
    simd: S,
    y: &mut [R],
    factors: (&[R], &[R]),
    at: [usize; 3],
    [along, sum, row]: [Loop; 3],
    factor: R,
) {
    let (count, steps) = row;
    let mut first = 0;
    while first < count {
        let from = [0, 1, 2].map(|own| (at[own] as isize + first as isize * steps[own]) as usize);
        let pass = &mut Pass {
            y: &mut *y,
            factors,
            at: from,
            sum,
            steps,
            factor,
        };
        first += match count - first {
            1 => pass.all::<S, 1>(simd, along.0),
            2 => pass.all::<S, 2>(simd, along.0),
            3 => pass.all::<S, 3>(simd, along.0),
            _ => pass.all::<S, 4>(simd, along.0),
        };
    }
}

/// Rows of a result that are summed in registers.
struct Pass<'a, R> {
    y: &'a mut [R],
    factors: (&'a [R], &'a [R]),
    at: [usize; 3],
    sum: Loop,
    /// From one row to the next.
    steps: [isize; 3],
    factor: R,
}

impl<R: Real> Pass<'_, R> {
    /// I rows: as many packs at a time as there are registers for. Returns I.
    #[inline(always)]
    fn all<S: Simd, const I: usize>(&mut self, simd: S, length: usize) -> usize {
        let mut done = 0;
        if const { has_many::<S>() } {
            if const { I == 1 } {
                done = self.tiles::<S, I, 14>(simd, done, length);
            }
            if const { I <= 2 } {
                done = self.tiles::<S, I, 8>(simd, done, length);
            }
            done = self.tiles::<S, I, 4>(simd, done, length);
        } else if const { I == 1 } {
            done = self.tiles::<S, I, 4>(simd, done, length);
        }
        done = self.tiles::<S, I, 2>(simd, done, length);
        done = self.tiles::<S, I, 1>(simd, done, length);
        self.rest::<S, I>(simd, done, length);
        I
    }

    /// I rows and V packs at a time, from `start` on. Returns where it ends.
    #[inline(always)]
    fn tiles<S: Simd, const I: usize, const V: usize>(
        &mut self,
        simd: S,
        mut start: usize,
        length: usize,
    ) -> usize {
        let width = V * Pack::<R, S>::LANES;
        while start + width <= length {
            let row =
                |i: usize| (self.at[0] as isize + i as isize * self.steps[0]) as usize + start;
            let mut sums: [[R::Pack<S>; V]; I] = filled(|i| {
                let packs = R::packs::<S>(&self.y[row(i)..row(i) + width]);
                filled(|v| packs[v])
            });
            let (count, [_, a_step, b_step]) = self.sum;
            let (mut a_at, mut b_at) = (self.at[1] as isize, (self.at[2] + start) as isize);
            for _ in 0..count {
                let b = R::packs::<S>(&self.factors.1[b_at as usize..b_at as usize + width]);
                for (i, sums) in sums.iter_mut().enumerate() {
                    let a = self.factors.0[(a_at + i as isize * self.steps[1]) as usize];
                    let a = R::splat(simd, self.factor * a);
                    for (sum, b) in sums.iter_mut().zip(b) {
                        *sum = R::mul_add(simd, a, *b, *sum);
                    }
                }
                a_at += a_step;
                b_at += b_step;
            }
            for (i, sums) in sums.iter().enumerate() {
                R::packs_mut::<S>(&mut self.y[row(i)..row(i) + width]).copy_from_slice(sums);
            }
            start += width;
        }
        start
    }

    /// The rest, shorter than a pack.
    #[inline(always)]
    fn rest<S: Simd, const I: usize>(&mut self, simd: S, start: usize, length: usize) {
        if start == length {
            return;
        }
        let width = length - start;
        let row = |i: usize| (self.at[0] as isize + i as isize * self.steps[0]) as usize + start;
        let mut sums: [R::Pack<S>; I] =
            filled(|i| R::load_part(simd, &self.y[row(i)..row(i) + width]));
        let (count, [_, a_step, b_step]) = self.sum;
        for k in 0..count as isize {
            let b_at = ((self.at[2] + start) as isize + k * b_step) as usize;
            // Values after the end are not stored.
            let b = match R::packs::<S>(&self.factors.1[b_at..]) {
                [pack, ..] => *pack,
                [] => R::load_part(simd, &self.factors.1[b_at..b_at + width]),
            };
            for (i, sum) in sums.iter_mut().enumerate() {
                let a = self.factors.0
                    [(self.at[1] as isize + k * a_step + i as isize * self.steps[1]) as usize];
                *sum = R::mul_add(simd, R::splat(simd, self.factor * a), b, *sum);
            }
        }
        for (i, sum) in sums.iter().enumerate() {
            R::store_part(simd, &mut self.y[row(i)..row(i) + width], *sum);
        }
    }
}

/// y_ki += Σ_j a_ij b_kj, or with the factors the other way round; without a loop k, y_i += Σ_j a_ij b_ij.
#[inline(always)]
fn dots<R: Real, S: Simd>(
    simd: S,
    y: &mut [R],
    (a, b): (&[R], &[R]),
    at: [usize; 3],
    [along, row, side]: [Loop; 3],
    factor: R,
) {
    let ((length, steps), (count, next), (sides, far)) = (along, row, side);
    let place = |own: usize, i: usize, k: usize| {
        (at[own] as isize + i as isize * next[own] + k as isize * far[own]) as usize
    };
    if steps[2] == 0 {
        for i in 0..count {
            let sum = sum(simd, &a[place(1, i, 0)..place(1, i, 0) + length]);
            y[place(0, i, 0)] += factor * b[place(2, i, 0)] * sum;
        }
        return;
    }
    let (shared, other, own) = if next[1] == 0 {
        (a, b, [1, 2])
    } else {
        (b, a, [2, 1])
    };
    let x = |k: usize| &shared[place(own[0], 0, k)..place(own[0], 0, k) + length];
    let line = |i: usize| &other[place(own[1], i, 0)..place(own[1], i, 0) + length];
    let mut k = 0;
    while k < sides {
        let to = |i: usize, more: usize| place(0, i, k + more);
        let lines = &mut Lines {
            y: &mut *y,
            line,
            count,
            to,
            factor,
        };
        if const { !has_many::<S>() } {
            k += lines.products(simd, [x(k)]);
            continue;
        }
        k += match sides - k {
            1 => lines.products(simd, [x(k)]),
            2 => lines.products(simd, [x(k), x(k + 1)]),
            3 => lines.products(simd, [x(k), x(k + 1), x(k + 2)]),
            _ => lines.products(simd, [x(k), x(k + 1), x(k + 2), x(k + 3)]),
        };
    }
}

/// Lines of a factor whose products with others are added.
struct Lines<'y, R, L, T> {
    y: &'y mut [R],
    line: L,
    count: usize,
    /// Where the product of a line and of another stands.
    to: T,
    factor: R,
}

impl<'l, R: Real, L: Fn(usize) -> &'l [R], T: Fn(usize, usize) -> usize> Lines<'_, R, L, T> {
    /// Adds the products of all lines with these; returns their number.
    #[inline(always)]
    fn products<S: Simd, const K: usize>(&mut self, simd: S, x: [&[R]; K]) -> usize {
        let Self {
            y,
            line,
            count,
            to,
            factor,
        } = self;
        let whole = *count - *count % 4;
        for i in (0..whole).step_by(4) {
            let lines = [line(i), line(i + 1), line(i + 2), line(i + 3)];
            for (k, sums) in four_dots(simd, x, lines).iter().enumerate() {
                (0..4).for_each(|more| y[to(i + more, k)] += *factor * sums[more]);
            }
        }
        for i in whole..*count {
            (0..K).for_each(|k| y[to(i, k)] += *factor * dot(simd, x[k], line(i)));
        }
        K
    }
}

/// Σ x y for all x and four y.
#[inline(always)]
fn four_dots<R: Real, S: Simd, const K: usize>(
    simd: S,
    x: [&[R]; K],
    lines: [&[R]; 4],
) -> [[R; 4]; K] {
    let first = x[0];
    let (mut sums, mut results) = ([[R::splat(simd, R::ZERO); 4]; K], [[R::ZERO; 4]; K]);
    each_pack!(simd, at in first => {
        for (sums, x) in sums.iter_mut().zip(&x) {
            let own = at.load(x).values();
            for (sum, line) in sums.iter_mut().zip(&lines) {
                *sum = R::mul_add(simd, own, at.load(line).values(), *sum);
            }
        }
    });
    for (result, sums) in results.iter_mut().zip(&sums) {
        *result = R::reduce_four(simd, *sums);
    }
    results
}

/// y_ij += Σ_k a_ikj b_ikj.
#[inline(always)]
fn each<R: Real, S: Simd>(
    simd: S,
    y: &mut [R],
    (a, b): (&[R], &[R]),
    at: [isize; 3],
    [(length, _), (count, next), (rows, steps)]: [Loop; 3],
    factor: R,
) {
    for i in 0..rows as isize {
        let [to, a_at, b_at] = [0, 1, 2].map(|own| at[own] + i * steps[own]);
        let y = &mut y[to as usize..to as usize + length];
        let a = |k: usize| &a[(a_at + k as isize * next[1]) as usize..][..length];
        let b = |k: usize| &b[(b_at + k as isize * next[2]) as usize..][..length];
        each_pack!(simd, at in y => {
            let mut sum = at.load(y);
            for k in 0..count {
                sum = (at.load(a(k)) * factor).mul_add(at.load(b(k)), sum);
            }
            at.store(y, sum);
        });
    }
}

/// y += a b along one loop.
#[inline(always)]
fn apart<R: Real>(
    y: &mut [R],
    (a, b): (&[R], &[R]),
    at: [isize; 3],
    (length, steps): Loop,
    factor: R,
) {
    let place = |own: usize, i: usize| (at[own] + i as isize * steps[own]) as usize;
    if steps[0] == 0 {
        let mut sum = R::ZERO;
        (0..length).for_each(|i| sum += a[place(1, i)] * b[place(2, i)]);
        y[place(0, 0)] += factor * sum;
    } else {
        (0..length).for_each(|i| y[place(0, i)] += factor * a[place(1, i)] * b[place(2, i)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::op::{
        Act,
        tests::{check, memory},
    };

    fn sum(adds: bool, is_mean: bool) -> Act {
        Act::Contract { adds, is_mean }
    }

    #[test]
    fn gradient() {
        for is_mean in [false, true] {
            check(sum(false, is_mean), &[3, 5], 1, &[&[0], &[0, 1]], |_, x| x);
            check(
                sum(false, is_mean),
                &[3, 40],
                1,
                &[&[0], &[1, 0], &[1]],
                |_, x| x,
            );
            check(
                sum(false, is_mean),
                &[3, 5],
                1,
                &[&[0], &[0, 1], &[0, 1]],
                |_, x| x,
            );
            // Squares over columns, batched; products of matrices with one for all.
            check(
                sum(false, is_mean),
                &[3, 17, 5],
                1,
                &[&[0, 1], &[0, 2, 1], &[0, 2, 1]],
                |_, x| x,
            );
            for b in [[1, 2], [2, 1]] {
                let has: &[&[usize]] = &[&[0, 1], &[0, 2], &b];
                check(sum(false, is_mean), &[5, 6, 19], 1, has, |_, x| x);
            }
            // A matrix product, batched; what the result alone has is repeated.
            check(
                sum(false, is_mean),
                &[2, 9, 3, 10],
                2,
                &[&[0, 1], &[0, 2, 3], &[3, 1, 2]],
                |_, x| x,
            );
            check(
                sum(false, is_mean),
                &[2, 9, 3],
                1,
                &[&[0, 1], &[1, 2], &[2]],
                |_, x| x,
            );
            // Products of long rows, with what is less than a pack.
            check(
                sum(false, is_mean),
                &[6, 37, 5],
                1,
                &[&[0, 1], &[0, 2], &[2, 1]],
                |_, x| x,
            );
            check(
                sum(false, is_mean),
                &[6, 5, 37],
                1,
                &[&[0, 1], &[0, 2], &[1, 2]],
                |_, x| x,
            );
        }
        check(
            sum(true, false),
            &[3, 5],
            1,
            &[&[0], &[0, 1], &[1]],
            |_, x| x,
        );
    }

    #[test]
    fn an_empty_sum_is_zero_and_a_linear_map_adds() {
        let mut memory = memory(&[5.0, 2.0, 3.0]);
        forward(
            &Exec::alone(
                sum(true, false),
                &[1],
                1,
                &[(1, &[0]), (2, &[1]), (3, &[1])],
            ),
            true,
            false,
            &mut memory,
        );
        assert_eq!(memory.arena[1], 11.0);
        forward(
            &Exec::alone(sum(false, false), &[0], 1, &[(1, &[0]), (2, &[1])]),
            false,
            false,
            &mut memory,
        );
        assert_eq!(memory.arena[1], 0.0);
    }
}
