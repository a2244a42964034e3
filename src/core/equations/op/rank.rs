//! How many entries are smaller; equal ones in order. No gradient.

use crate::math::Real;

/// The indices of x from the smallest value to the largest, equal ones in order.
pub fn sort<R: Real>(x: &[R], order: &mut Vec<usize>) {
    order.clear();
    order.extend(0..x.len());
    order.sort_unstable_by(|a, b| {
        x[*a]
            .partial_cmp(&x[*b])
            .unwrap_or(std::cmp::Ordering::Equal)
            .then(a.cmp(b))
    });
}

/// Computes the result.
pub fn forward<R: Real>(x: &[R], y: &mut [R], order: &mut Vec<usize>) {
    sort(x, order);
    order
        .iter()
        .enumerate()
        .for_each(|(rank, index)| y[*index] = R::from_f64(rank as f64));
}

#[cfg(test)]
mod tests {

    #[test]
    fn equal_ones_in_order() {
        let mut y = [0.0; 4];
        super::forward(&[2.0, 1.0, 2.0, -1.0], &mut y, &mut vec![]);
        assert_eq!(y, [2.0, 1.0, 3.0, 0.0]);
    }
}
