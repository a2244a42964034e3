//! y = e^(s x) / Σ e^(s x), with −∞ giving 0, and y = x^s / Σ x^s, where x is at least the smallest normal number.

use super::memory::Room;
use crate::math::{Pack, Real, pack::each_pack, simd::Simd, softmax as core};

/// Computes the result, that of powers or the other.
#[inline(always)]
pub fn forward<R: Real, S: Simd>(simd: S, is_power: bool, room: &mut Room<R>) {
    let x = &mut room.x[..];
    if x.is_empty() {
        return;
    }
    if is_power {
        each_pack!(simd, at in x => { at.store(x, at.load(x).max(R::TINY).ln()) });
    }
    if room.factor < R::ZERO {
        x.iter_mut().for_each(|x| *x = -*x);
        room.factor = -room.factor;
    }
    core::softmax(simd, room.factor, x, &mut room.y);
}

/// dx = s dz and ds = Σ x dz with dz = y (dy − Σ y dy); of powers dx = s dz / x and ds = Σ dz log x.
#[inline(always)]
pub fn reverse<R: Real, S: Simd>(simd: S, is_power: bool, room: &mut Room<R>) {
    let (x, dx, factor) = (&room.x[..], &mut room.dx[..], room.factor);
    core::softmax_backward(simd, &room.y, &room.dy, dx);
    let mut d_factor = Pack::splat(simd, R::ZERO);
    each_pack!(simd, at in dx => {
        let (x, dz) = (at.load(x), at.load(dx));
        if is_power {
            let x = x.max(R::TINY);
            d_factor += at.new_or(dz * x.ln(), R::ZERO);
            at.store(dx, dz * factor / x);
        } else {
            // 0 times −∞ is 0.
            let x = x.max(R::from_f64(f64::from(f32::MIN)));
            d_factor += at.new_or(dz * x, R::ZERO);
            at.store(dx, dz * factor);
        }
    });
    room.d_factor = d_factor.sum();
}

#[cfg(test)]
mod tests {
    use crate::equations::op::tests::{check, memory, row};
    use crate::equations::op::{Act, Exec, forward, reverse};

    #[test]
    fn gradient() {
        check(
            Act::Softmax(vec![0]),
            &[2, 3, 5],
            1,
            &[&[0, 1, 2], &[0, 1, 2]],
            |_, x| 3.0 * x,
        );
        check(
            Act::Softmax(vec![0, 1]),
            &[2, 3, 5],
            2,
            &[&[1, 0, 2], &[2, 0, 1]],
            |_, x| 3.0 * x,
        );
    }

    #[test]
    fn gradients_with_a_factor() {
        for act in [Act::Softmax(vec![0]), Act::Sharpen(vec![0])] {
            let value = |argument, x: f64| if argument == 0 { 1.1 + x } else { 3.0 * x };
            check(act.clone(), &[4, 9], 1, &[&[0, 1], &[0, 1], &[0]], value);
            // x and the factor lack loops.
            check(act.clone(), &[4, 9], 1, &[&[0, 1], &[1], &[0]], value);
            check(act, &[4, 9], 1, &[&[0, 1], &[0, 1], &[]], value);
        }
    }

    /// y, and the gradients of both values of x and of the factor.
    fn limit(act: Act, values: [f32; 3], dy: [f32; 2]) -> ([f32; 2], [f32; 3]) {
        let [x, y, factor] = values;
        let mut memory = memory(&[0.0, 0.0, x, y, factor]);
        let exec = Exec::alone(act, &[2], 1, &[(1, &[1]), (3, &[1]), (5, &[0])]);
        forward(&exec, &mut memory, &[]);
        let at = memory.gradients + 1;
        memory.arena[at..at + 2].copy_from_slice(&dy);
        reverse(&exec, &mut memory, &[]);
        let of = |index: usize| memory.arena[index];
        ([of(1), of(2)], [of(at + 2), of(at + 3), of(at + 4)])
    }

    #[test]
    fn limits_with_a_factor() {
        // Masked entries have no part in the gradient of the factor; a negative factor turns the order.
        let masked = limit(
            Act::Softmax(vec![0]),
            [f32::NEG_INFINITY, 5.0, 2.0],
            [1.0, 3.0],
        );
        assert_eq!(masked, ([0.0, 1.0], [0.0; 3]));
        let turned = limit(Act::Softmax(vec![0]), [-1e30, 1e30, -2.0], [1.0, 3.0]);
        assert_eq!(turned, ([1.0, 0.0], [0.0; 3]));
        // A weight that is 0 stays 0, and has no gradient.
        let sharp = limit(Act::Sharpen(vec![0]), [0.0, 1.0, 2.0], [1.0, 3.0]);
        assert_eq!(sharp, ([0.0, 1.0], [0.0; 3]));
    }

    #[test]
    fn limits() {
        assert_eq!(
            row(
                Act::Softmax(vec![0]),
                &[f32::NEG_INFINITY, 1e30, 1e30],
                &[0.0; 3]
            )
            .0,
            [0.0, 0.5, 0.5]
        );
        let (y, dx) = row(
            Act::Softmax(vec![0]),
            &[-1e30, -200.0, -200.0],
            &[1e30, 1.0, 3.0],
        );
        assert_eq!(y, [0.0, 0.5, 0.5]);
        assert_eq!(dx, [0.0, -0.5, 0.5]);
        row::<f32>(Act::Softmax(vec![0]), &[], &[]);
    }
}
