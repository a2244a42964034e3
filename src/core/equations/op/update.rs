//! The update of a memory in one pass: y = x (1 − w e) + v a, or y = x (1 − w − e) + v a, where the entries of two equal
//! indices may be 0 (the links of a DNC). Arguments: x, w, e, v, a; along the last loop each has one value or runs on.

use super::exec::{Exec, Form, Place};
use super::memory::{Memory, Walk};
use crate::math::pack::{each_pack, filled};
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::{Pack, Real};

/// Computes the result.
pub fn forward<R: Real>(exec: &Exec, form: Form, memory: &mut Memory<R>) {
    dispatch::<R, _>(Update {
        exec,
        form,
        memory,
        is_reverse: false,
    });
}

/// Adds what follows from the gradient of the result to those of the arguments.
pub fn reverse<R: Real>(exec: &Exec, form: Form, memory: &mut Memory<R>) {
    dispatch::<R, _>(Update {
        exec,
        form,
        memory,
        is_reverse: true,
    });
}

struct Update<'a, R> {
    exec: &'a Exec,
    form: Form,
    memory: &'a mut Memory<R>,
    is_reverse: bool,
}

impl<R: Real> Kernel for Update<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            exec,
            form,
            memory,
            is_reverse,
        } = self;
        let [x, w, e, v, a] = &exec.arguments[..] else {
            return;
        };
        let last = exec.dims.len().saturating_sub(1);
        let along = |place: &Place| place.strides.get(last).copied().unwrap_or(0);
        // One of each pair runs along the last loop, the other has one value there, in either order.
        let (p, t, q, u) = if along(w) == 1 {
            (w, e, v, a)
        } else {
            (e, w, a, v)
        };
        let places = [&exec.out, x, p, t, q, u];
        let is_smooth = places.map(along) == [1, 1, 1, 0, 1, 0];
        let outer = if is_smooth { last } else { exec.dims.len() };
        let length = if is_smooth { exec.dims[last] } else { 1 };
        let mut walk = Walk::new(
            &exec.dims[..outer],
            places.map(|place| &place.strides[..outer]),
            places.map(|place| place.at),
        );
        let Memory {
            arena, gradients, ..
        } = memory;
        let to_slopes =
            places.map(|place| place.to_slope(*gradients as isize) - *gradients as isize);
        let wanted = [x.slope, p.slope, t.slope, q.slope, u.slope];
        let (mut row, mut column) = (0, 0);
        while let Some(at) = walk.step() {
            let index = at.map(|at| at as usize);
            // The entry of two equal indices.
            let hollow = if is_smooth {
                Some(row).filter(|row| *row < length)
            } else {
                (row == column).then_some(0)
            };
            let hollow = hollow.filter(|_| form.is_hollow);
            column += usize::from(!is_smooth);
            if is_smooth || column == exec.dims.last().copied().unwrap_or(1) {
                (row, column) = (row + 1, 0);
                if exec.dims.len() >= 2 && row == exec.dims[exec.dims.len() - 2] {
                    row = 0;
                }
            }
            if is_reverse {
                let (values, slopes) = arena.split_at_mut(*gradients);
                let to: [usize; 6] = filled(|own| (at[own] + to_slopes[own]) as usize);
                let kept =
                    hollow.map(|entry| std::mem::replace(&mut slopes[to[0] + entry], R::ZERO));
                back(simd, form, (values, slopes), (index, to, wanted), length);
                hollow
                    .into_iter()
                    .zip(kept)
                    .for_each(|(entry, slope)| slopes[to[0] + entry] = slope);
            } else {
                let (t, u) = (arena[index[3]], arena[index[5]]);
                let (low, rest) = arena.split_at_mut(index[0]);
                let (y, high) = rest.split_at_mut(length);
                let of = |own: usize| match index[own].checked_sub(index[0] + length) {
                    Some(at) => &high[at..at + length],
                    None => &low[index[own]..index[own] + length],
                };
                let (x, p, q) = (of(1), of(2), of(4));
                let (one, still) = (Pack::splat(simd, R::ONE), Pack::splat(simd, R::ONE) - t);
                each_pack!(simd, here in y => {
                    let kept = if form.is_sum { still - here.load(p) } else { one - here.load(p) * t };
                    here.store(y, here.load(x).mul_add(kept, here.load(q) * u));
                });
                hollow
                    .into_iter()
                    .for_each(|entry| arena[index[0] + entry] = R::ZERO);
            }
        }
    }
}

/// The gradients of one row.
#[inline(always)]
fn back<R: Real, S: Simd>(
    simd: S,
    form: Form,
    (values, slopes): (&[R], &mut [R]),
    (at, to, wanted): ([usize; 6], [usize; 6], [bool; 5]),
    length: usize,
) {
    let of = |own: usize| &values[at[own]..at[own] + length];
    let (x, p, q, t, u) = (of(1), of(2), of(4), values[at[3]], values[at[5]]);
    let (one, still) = (Pack::splat(simd, R::ONE), Pack::splat(simd, R::ONE) - t);
    let (mut d_t, mut d_u) = (Pack::splat(simd, R::ZERO), Pack::splat(simd, R::ZERO));
    let is_one = to[2] == to[4] && wanted[1] && wanted[3];
    macro_rules! add {
        ($here:ident, $own:literal, $part:expr) => {
            let to = &mut slopes[to[$own]..to[$own] + length];
            let sum = $here.load(to) + $part;
            $here.store(to, sum);
        };
    }
    each_pack!(simd, here in x => {
        let d = here.load(&slopes[to[0]..to[0] + length]);
        let (p, q, lost) = (here.load(p), here.load(q), -(d * here.load(x)));
        let (of_p, of_t) = if form.is_sum { (lost, lost) } else { (lost * t, lost * p) };
        if wanted[0] {
            add!(here, 1, d * (if form.is_sum { still - p } else { one - p * t }));
        }
        if is_one {
            add!(here, 2, of_p + d * u);
        } else {
            if wanted[1] {
                add!(here, 2, of_p);
            }
            if wanted[3] {
                add!(here, 4, d * u);
            }
        }
        d_t += here.new_or(of_t, R::ZERO);
        d_u += here.new_or(d * q, R::ZERO);
    });
    for (own, sum) in [(3, d_t), (5, d_u)]
        .into_iter()
        .filter(|(own, _)| wanted[own - 1])
    {
        slopes[to[own]] += sum.sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::op::{Act, tests::check};

    #[test]
    fn gradient() {
        for is_sum in [false, true] {
            let act = |is_hollow| Act::Update(Form { is_sum, is_hollow });
            check(
                act(false),
                &[3, 40],
                0,
                &[&[0, 1], &[0, 1], &[0], &[1], &[0], &[1]],
                |_, x| x,
            );
            check(
                act(false),
                &[3, 40],
                0,
                &[&[0, 1], &[0, 1], &[1], &[0], &[1], &[0]],
                |_, x| x,
            );
            check(
                act(true),
                &[2, 5, 5],
                0,
                &[&[0, 1, 2], &[0, 1, 2], &[0, 1], &[0, 2], &[0, 1], &[0, 2]],
                |_, x| x,
            );
            for (rows, columns) in [(5, 3), (3, 5)] {
                let has: [&[usize]; 6] =
                    [&[0, 1, 2], &[0, 1, 2], &[0, 1], &[0, 2], &[0, 1], &[0, 2]];
                check(act(true), &[2, rows, columns], 0, &has, |_, x| x);
            }
            check(
                act(true),
                &[5, 5],
                0,
                &[&[0, 1], &[1, 0], &[0], &[1], &[0], &[1]],
                |_, x| x,
            );
        }
    }
}
