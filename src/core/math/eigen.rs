//! Eigenvalues of a symmetric matrix, by Jacobi rotations (Golub and Van Loan 2013, §8.5.3).

/// The most passes over all pairs of rows; 64 rows need less than ten.
const PASSES: usize = 30;
/// A share of the sum of all squares that does not count any more.
const NOTHING: f64 = 1e-26;

/// Returns the eigenvalues of a symmetric matrix [n, n], row after row, largest first. Of a matrix with numbers that are not
/// finite they are not finite either.
pub fn eigenvalues(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    for _ in 0..PASSES {
        let all = a.iter().enumerate();
        let outside: f64 = all
            .filter(|(i, _)| i / n != i % n)
            .map(|(_, x)| x * x)
            .sum();
        if outside <= NOTHING * a.iter().map(|x| x * x).sum::<f64>() {
            break;
        }
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let (off, apart) = (a[p * n + q], a[q * n + q] - a[p * n + p]);
            if off == 0.0 {
                continue;
            }
            // The tangent of the angle that makes the number at (p, q) zero, the smaller one of two.
            let half = apart / (2.0 * off);
            let tangent = half.signum() / (half.abs() + half.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let sine = tangent * cosine;
            let mut turn = |at: usize, other: usize| {
                let (x, y) = (a[at], a[other]);
                (a[at], a[other]) = (cosine * x - sine * y, sine * x + cosine * y);
            };
            (0..n).for_each(|k| turn(k * n + p, k * n + q));
            (0..n).for_each(|k| turn(p * n + k, q * n + k));
            (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
        }
    }
    let mut values: Vec<f64> = a.iter().step_by(n + 1).copied().collect();
    values.sort_by(|x, y| y.total_cmp(x));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::random_vector;

    #[track_caller]
    fn assert_near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
        }
    }

    #[test]
    fn known_matrices_have_their_eigenvalues() {
        assert_near(&eigenvalues(vec![], 0), &[]);
        assert_near(&eigenvalues(vec![2.0], 1), &[2.0]);
        assert_near(&eigenvalues(vec![2.0, 1.0, 1.0, 2.0], 2), &[3.0, 1.0]);
        let diagonal = vec![1.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, -2.0];
        assert_near(&eigenvalues(diagonal, 3), &[3.0, 1.0, -2.0]);
        // Heads on one and the same row: one direction.
        assert_near(&eigenvalues(vec![1.0; 16], 4), &[4.0, 0.0, 0.0, 0.0]);
        // Second differences: 2 − 2·cos(kπ/(n + 1)).
        let n = 64;
        let number = |i: usize| match (i / n).abs_diff(i % n) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let root = |k: usize| 2.0 - 2.0 * (k as f64 * std::f64::consts::PI / (n + 1) as f64).cos();
        let expected: Vec<f64> = (1..=n).rev().map(root).collect();
        assert_near(&eigenvalues((0..n * n).map(number).collect(), n), &expected);
    }

    #[test]
    fn trace_and_norm_of_a_random_matrix_stay() {
        let (n, x) = (7, random_vector(5, 49));
        let a: Vec<f64> = (0..n * n).map(|i| x[i] + x[i % n * n + i / n]).collect();
        let found = eigenvalues(a.clone(), n);
        let trace: f64 = a.iter().step_by(n + 1).sum();
        let square = |of: &[f64]| of.iter().map(|x| x * x).sum::<f64>();
        assert!((found.iter().sum::<f64>() - trace).abs() < 1e-12);
        assert!((square(&found) - square(&a)).abs() < 1e-11);
        assert!(eigenvalues(vec![f64::NAN; 9], 3).iter().any(|x| x.is_nan()));
    }
}
