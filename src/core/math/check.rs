//! The gradient checker: central differences against back-propagation.
#![cfg(test)]

use super::random::Random;
use rand::{RngExt, SeedableRng};

/// Values in (−1, 1): unequal, so that no derivative hides behind a sum that is constant.
pub(crate) fn random_vector(seed: u64, len: usize) -> Vec<f64> {
    let mut random = Random::seed_from_u64(seed);
    (0..len)
        .map(|_| 2.0 * random.random::<f64>() - 1.0)
        .collect()
}

/// Panics unless `gradient` is the derivative of `loss` at `point`, to 1e-6 of its scale.
#[track_caller]
pub(crate) fn assert_gradient(
    name: &str,
    point: &[f64],
    gradient: &[f64],
    loss: impl Fn(&[f64]) -> f64,
) {
    if let Some(message) = gradient_mismatch(name, point, gradient, loss) {
        panic!("{message}");
    }
}

fn gradient_mismatch(
    name: &str,
    point: &[f64],
    gradient: &[f64],
    loss: impl Fn(&[f64]) -> f64,
) -> Option<String> {
    assert_eq!(point.len(), gradient.len(), "{name}");
    let step = 1e-5;
    let scale = gradient
        .iter()
        .fold(1e-3_f64, |scale, g| scale.max(g.abs()));
    let mut moved = point.to_vec();
    (0..point.len()).find_map(|i| {
        moved[i] = point[i] + step;
        let above = loss(&moved);
        moved[i] = point[i] - step;
        let below = loss(&moved);
        moved[i] = point[i];
        let wanted = (above - below) / (2.0 * step);
        let close = (wanted - gradient[i]).abs() <= 1e-6 * scale;
        (!close).then(|| {
            format!(
                "gradient of {name}[{i}] is {}, differences give {wanted}",
                gradient[i]
            )
        })
    })
}

#[test]
fn a_wrong_gradient_is_caught() {
    let point = random_vector(1, 5);
    let loss = |x: &[f64]| x.iter().map(|x| x.powi(3)).sum::<f64>();
    let mut gradient: Vec<f64> = point.iter().map(|x| 3.0 * x * x).collect();
    assert!(gradient_mismatch("x", &point, &gradient, loss).is_none());
    gradient[3] *= 1.001;
    assert!(gradient_mismatch("x", &point, &gradient, loss).is_some());
}
