//! y = max x, and the index of the first largest value.

use crate::math::Real;

/// Index of the largest value, the first of equal ones; a value that is no number is the largest.
pub fn index<R: Real>(x: &[R]) -> usize {
    // What is no number has no order.
    let is_none = |value: R| value.partial_cmp(&value).is_none();
    (1..x.len()).fold(0, |best, index| {
        if x[index] > x[best] || is_none(x[index]) && !is_none(x[best]) {
            index
        } else {
            best
        }
    })
}

/// Computes the result.
pub fn forward<R: Real>(x: &[R], y: &mut [R]) {
    y[0] = x.get(index(x)).copied().unwrap_or_default();
}

/// The largest value has the gradient.
pub fn reverse<R: Real>(x: &[R], dy: &[R], dx: &mut [R]) {
    dx.fill(R::ZERO);
    if !x.is_empty() {
        dx[index(x)] = dy[0];
    }
}

/// The index of the largest value.
pub fn argmax<R: Real>(x: &[R], y: &mut [R]) {
    y[0] = R::from_f64(index(x) as f64);
}

#[cfg(test)]
mod tests {
    use crate::equations::op::{Act, tests::check};

    #[test]
    fn gradient() {
        check(
            Act::Maximum(vec![0]),
            &[3, 4],
            1,
            &[&[0], &[1, 0]],
            |_, x| x,
        );
    }

    #[test]
    fn limits() {
        assert_eq!(super::index(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(super::index(&[f32::NEG_INFINITY; 2]), 0);
        assert_eq!(super::index(&[1.0, f32::NAN, 3.0]), 1);
        assert_eq!(super::index::<f32>(&[]), 0);
    }
}
