//! y = Π x.

use crate::math::Real;

/// Computes the result.
pub fn forward<R: Real>(x: &[R], y: &mut [R]) {
    y[0] = x.iter().fold(R::ONE, |product, x| product * *x);
}

/// dx = dy times the product of all others, which exists where a factor is 0.
pub fn reverse<R: Real>(x: &[R], dy: &[R], dx: &mut [R]) {
    let mut product = R::ONE;
    for (dx, x) in dx.iter_mut().zip(x) {
        *dx = dy[0] * product;
        product *= *x;
    }
    product = R::ONE;
    for (dx, x) in dx.iter_mut().zip(x).rev() {
        *dx *= product;
        product *= *x;
    }
}

#[cfg(test)]
mod tests {
    use crate::equations::op::{Act, tests::check};

    #[test]
    fn gradient() {
        check(
            Act::Product(vec![0]),
            &[3, 4],
            1,
            &[&[0], &[1, 0]],
            |_, x| x,
        );
        // One and two factors that are 0.
        check(
            Act::Product(vec![0]),
            &[3, 4],
            1,
            &[&[0], &[0, 1]],
            |_, x| if x < 0.0 { 0.0 } else { x },
        );
    }
}
