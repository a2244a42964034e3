//! a = (1 − u) times the product of all smaller usages; equal ones in order. No gradient through the order.

use super::rank::sort;
use crate::math::Real;

/// Computes the result.
pub fn forward<R: Real>(u: &[R], a: &mut [R], order: &mut Vec<usize>) {
    sort(u, order);
    let mut product = R::ONE;
    for &index in order.iter() {
        a[index] = (R::ONE - u[index]) * product;
        product *= u[index];
    }
}

/// With p the product of the smaller usages: du = p (t − da), where t = Σ da (1 − u) Π u over the larger ones, the product
/// of what lies between.
pub fn reverse<R: Real>(u: &[R], da: &[R], du: &mut [R], order: &mut Vec<usize>) {
    sort(u, order);
    let mut product = R::ONE;
    for &index in order.iter() {
        du[index] = product;
        product *= u[index];
    }
    let mut larger = R::ZERO;
    for &index in order.iter().rev() {
        du[index] *= larger - da[index];
        larger = da[index] * (R::ONE - u[index]) + u[index] * larger;
    }
}

#[cfg(test)]
mod tests {
    use crate::equations::op::{Act, tests::check};

    #[test]
    fn gradient() {
        check(
            Act::Allocation(0),
            &[2, 6],
            1,
            &[&[0, 1], &[1, 0]],
            |_, x| 0.5 + 0.5 * x,
        );
    }

    #[test]
    fn limits() {
        let (mut a, mut du) = ([0f32; 3], [0f32; 3]);
        super::forward(&[0.5, 0.0, 0.0], &mut a, &mut vec![]);
        assert_eq!(a, [0.0, 1.0, 0.0]);
        super::reverse(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0], &mut du, &mut vec![]);
        assert_eq!(du, [-1.0, -2.0, -3.0]);
    }
}
