//! Cosines of a key with rows, see [`crate::math::similarity`]. Arguments: the two values, of which either may be the key,
//! and ε, which may be missing. The loops: those around, the rows if the result has axes, and those that are summed.

use super::exec::{Exec, MOST_AXES, Place};
use super::memory::{Memory, Walk, gather, scatter, sum};
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::similarity::{CosineGradient, cosines, cosines_backward, norms, quotient, root};
use crate::math::{Real, softmax::dot};

/// Computes the result, or adds what follows from its gradient to those of the arguments; `summed`: the number of loops
/// that are summed.
pub fn run<R: Real>(exec: &Exec, summed: usize, memory: &mut Memory<R>, is_reverse: bool) {
    dispatch::<R, _>(Cosine(exec, summed, memory, is_reverse));
}

struct Cosine<'a, R>(&'a Exec, usize, &'a mut Memory<R>, bool);

impl<R: Real> Kernel for Cosine<'_, R> {
    type Output = ();

    #[inline(always)]
    #[expect(
        clippy::too_many_lines,
        reason = "columns and rows, forward and in reverse"
    )]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(exec, summed, memory, is_reverse) = self;
        let n = exec.dims.len() - summed;
        let (around, inner) = exec.dims.split_at(n);
        let [one, other, ..] = &exec.arguments[..] else {
            return;
        };
        // The key is the same for all rows.
        let is_key = |own: &Place| n > 0 && own.strides[n - 1] == 0;
        let (rows, key) = if is_key(one) {
            (other, one)
        } else {
            (one, other)
        };
        let (y, epsilon) = (&exec.out, exec.arguments.get(2));
        let of_epsilon = epsilon.map_or(&[0; MOST_AXES][..n], |own| &own.strides[..n]);
        let strides = [
            &y.strides[..n],
            &rows.strides[..n],
            &key.strides[..n],
            of_epsilon,
        ];
        // Columns that stand one behind another are computed together.
        let is_whole = exec.inner > summed
            && inner.len() == 1
            && strides.map(|own| own[n - 1]) == [1, 1, 0, 0]
            && rows.strides[n] == around[n - 1] as isize
            && !exec.dims.contains(&0)
            && (rows.slope || !is_reverse);
        let outer = n - usize::from(is_whole);
        let (count, width) = (
            if is_whole { around[outer] } else { 1 },
            inner.iter().product(),
        );
        let at = [y.at, rows.at, key.at, epsilon.map_or(0, |own| own.at)];
        let Memory {
            arena,
            room,
            gradients,
            ..
        } = memory;
        let to_slope = |place: &Place| place.to_slope(*gradients as isize);
        let half = R::from_f64(0.5);
        let mut walk = Walk::new(&around[..outer], strides.map(|own| &own[..outer]), at);
        while let Some([y_at, rows_at, key_at, epsilon_at]) = walk.step() {
            let epsilon_value = epsilon.map_or(R::ZERO, |_| arena[epsilon_at as usize]);
            gather(arena, inner, (key_at, &key.strides[n..]), &mut room.dy);
            let all = |at: isize, length: usize| at as usize..at as usize + length;
            let (y_slope, rows_slope) = (y_at + to_slope(y), rows_at + to_slope(rows));
            let d_epsilon;
            if is_whole {
                room.x.resize(count, R::ZERO);
                room.y.resize(count, R::ZERO);
                let (columns, whole) = (all(rows_at, count * width), all(y_at, count));
                if !is_reverse {
                    let pair = (&room.dy[..], &mut room.x[..count]);
                    cosines([pair], &arena[columns], epsilon_value, &mut room.y[..count]);
                    arena[whole].copy_from_slice(&room.x[..count]);
                    continue;
                }
                gather(arena, &[count], (y_slope, &[1]), &mut room.dx);
                let square = dot(simd, &room.dy, &room.dy) + epsilon_value;
                let turned = quotient(dot(simd, &room.dx, &arena[whole.clone()]), square);
                room.dy.resize(2 * width, R::ZERO);
                let (values, slopes) = arena.split_at_mut(*gradients);
                let (key, d_key) = room.dy.split_at_mut(width);
                let head = CosineGradient {
                    key,
                    similarity: &values[whole],
                    d_similarity: &mut room.dx,
                    d_key,
                };
                let (columns, scratch) = (&values[columns], &mut room.x[..count]);
                norms(columns, epsilon_value, &mut room.y[..count]);
                let d_rows = all(rows_slope - *gradients as isize, count * width);
                let norms = (&room.y[..count], epsilon_value);
                cosines_backward([head], columns, norms, &mut slopes[d_rows], scratch);
                d_epsilon = half * (sum(simd, scratch) - turned);
            } else {
                gather(arena, inner, (rows_at, &rows.strides[n..]), &mut room.x);
                let (x, k) = (&mut room.x[..], &mut room.dy);
                let [a, b] = [&x[..], k].map(|own| root(dot(simd, own, own) + epsilon_value));
                if !is_reverse {
                    arena[y_at as usize] = quotient(dot(simd, x, k), a * b);
                    continue;
                }
                let d = arena[y_slope as usize];
                let turned = d * arena[y_at as usize];
                let (along, turned) = (
                    quotient(d, a * b),
                    [a, b].map(|norm| quotient(turned, norm * norm)),
                );
                k.extend_from_slice(x);
                let (key, d_key) = k.split_at_mut(width);
                for (x, (k, d_k)) in x.iter_mut().zip(key.iter().zip(d_key)) {
                    (*x, *d_k) = (along * *k - turned[0] * *x, along * *x - turned[1] * *k);
                }
                if rows.slope {
                    scatter(arena, inner, (rows_slope, &rows.strides[n..]), x, true);
                }
                d_epsilon = -half * (turned[0] + turned[1]);
            }
            if key.slope {
                let to = (key_at + to_slope(key), &key.strides[n..]);
                scatter(arena, inner, to, &room.dy[width..], true);
            }
            if let Some(epsilon) = epsilon.filter(|own| own.slope) {
                arena[(epsilon_at + to_slope(epsilon)) as usize] += d_epsilon;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::equations::op::tests::{check, memory};
    use crate::equations::op::{Act, Exec, forward, reverse};

    #[test]
    fn gradients() {
        let value = |argument, x: f64| if argument == 2 { 1.5 + x } else { x };
        for has in [
            // Columns that stand together, with the key in either place; rows.
            [&[0, 1][..], &[2, 1], &[0, 2], &[0]],
            [&[0, 1], &[2], &[0, 2, 1], &[]],
            [&[0, 1], &[1, 2], &[0, 2], &[1]],
            // No key.
            [&[0, 1], &[0, 1, 2], &[1, 0, 2], &[]],
        ] {
            for inner in [1, 2] {
                check(Act::Cosine(vec![0]), &[2, 19, 5], inner, &has, value);
                check(Act::Cosine(vec![0]), &[2, 19, 5], inner, &has[..3], value);
            }
        }
        // No rows.
        let has: [&[usize]; 3] = [&[], &[0, 1], &[1, 0]];
        check(Act::Cosine(vec![0, 1]), &[3, 4], 2, &has, value);
    }

    #[test]
    fn what_has_no_direction_is_similar_to_nothing() {
        for strides in [[1, 2], [2, 1]] {
            // Two rows, the first of them 0; the key.
            let row = |at: usize| f32::from(u8::from(at / strides[0] as usize % 2 == 1));
            let mut memory = memory(&[0.0, 0.0, row(0), row(1), row(2), row(3), 3.0, 3.0]);
            let places: [(isize, &[isize]); 3] = [(1, &[1, 0]), (3, &strides), (7, &[0, 1])];
            let exec = Exec::alone(Act::Cosine(vec![0]), &[2, 2], 2, &places);
            forward(&exec, &mut memory, &[]);
            assert_eq!(memory.arena[1], 0.0);
            assert!((memory.arena[2] - 1.0).abs() < 1e-6);
            let at = memory.gradients + 1;
            memory.arena[at..at + 2].fill(1.0);
            reverse(&exec, &mut memory, &[]);
            assert!(
                memory.arena[at + 2..]
                    .iter()
                    .all(|slope| slope.abs() < 1e-6)
            );
        }
    }
}
