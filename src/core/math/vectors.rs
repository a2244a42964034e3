//! y = x·W for a matrix without padding that stands flat, [inputs, outputs], and its derivative.
//!
//! A memory that stands column after column is such a matrix, and y its products with the rows, q·M(i): the score "dot"
//! (Luong et al. 2015, §3.1), with q/√d_k "scaled dot" (Vaswani et al. 2017, equation 1), with qᵀ·W in place of q
//! "general" (Luong et al. 2015, §3.1).

use super::Real;
use super::matrix::{Rows, add_vector_product, product_with_vector};
use super::pack::each_pack;
use super::simd::kernel;

/// Outputs that are fewer than a pack holds are taken as they are: to put them into one costs more than it saves.
const FEW: usize = 16;

/// y = x·W, with W [x, y] row after row.
#[inline]
pub fn vector_product<R: Real>(x: &[R], weight: &[R], y: &mut [R]) {
    y.fill(R::ZERO);
    if y.len() < FEW {
        add_short_products(x, weight, y);
    } else {
        add_vector_product(x, flat(weight, y.len()), y);
    }
}

/// From the gradient by y: sets that by x, W·dy, and adds to that by W, xᵀ·dy.
#[inline]
pub fn vector_product_backward<R: Real>(
    (x, weight): (&[R], &[R]),
    by_y: &[R],
    by_x: &mut [R],
    by_weight: &mut [R],
) {
    if by_y.len() < FEW {
        short_products_backward(x, weight, by_y, by_x, by_weight);
    } else {
        product_with_vector(flat(weight, by_y.len()), by_y, by_x);
        add_outer_product(x, by_y, by_weight);
    }
}

fn flat<R>(data: &[R], stride: usize) -> Rows<'_, R> {
    Rows { data, stride }
}

kernel! {
    /// A += xᵀ·y.
    fn add_outer_product<'a, R>(simd; x: &'a [R], y: &'a [R], a: &'a mut [R]) {
        for (&x, row) in x.iter().zip(a.chunks_exact_mut(y.len())) {
            each_pack!(simd, at in y => { at.store(row, (at.load(y) * x) + at.load(row)) });
        }
    }
}

kernel! {
    /// y += x·W.
    fn add_short_products<'a, R>(_simd; x: &'a [R], weight: &'a [R], y: &'a mut [R]) {
        for (&x, row) in x.iter().zip(weight.chunks_exact(y.len())) {
            for (y, &w) in y.iter_mut().zip(row) {
                *y += x * w;
            }
        }
    }
}

kernel! {
    /// [`vector_product_backward`].
    fn short_products_backward<'a, R>(
        _simd; x: &'a [R], weight: &'a [R], by_y: &'a [R], by_x: &'a mut [R], by_weight: &'a mut [R],
    ) {
        let rows = weight.chunks_exact(by_y.len()).zip(by_weight.chunks_exact_mut(by_y.len()));
        for ((row, by_row), (&x, by_x)) in rows.zip(x.iter().zip(by_x)) {
            *by_x = row.iter().zip(by_y).map(|(&w, &d)| w * d).sum();
            for (by_w, &d) in by_row.iter_mut().zip(by_y) {
                *by_w += x * d;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::golden::Case;
    use crate::math::simd::PLAIN;
    use crate::math::simd::{Choice, with};
    use crate::math::softmax::dot;

    fn of<R: Real>(x: &[R], weight: &[R]) -> Vec<R> {
        let mut y = vec![R::ONE; weight.len() / x.len()];
        vector_product(x, weight, &mut y);
        y
    }

    /// The gradients by x and by W.
    fn gradients<R: Real>(x: &[R], weight: &[R], by_y: &[R]) -> (Vec<R>, Vec<R>) {
        let (mut by_x, mut by_weight) = (vec![R::ONE; x.len()], vec![R::ZERO; weight.len()]);
        vector_product_backward((x, weight), by_y, &mut by_x, &mut by_weight);
        (by_x, by_weight)
    }

    const SIZES: [(usize, usize); 9] = [
        (1, 1),
        (5, 7),
        (20, 8),
        (20, 16),
        (20, 20),
        (3, 130),
        (5, 37),
        (20, 130),
        (9, 700),
    ];

    #[test]
    fn gradients_at_every_size() {
        for (inputs, outputs) in SIZES {
            let (x, weight) = (random_vector(1, inputs), random_vector(2, inputs * outputs));
            let upstream = random_vector(3, outputs);
            let plain = |o: usize| (0..inputs).map(|i| x[i] * weight[i * outputs + o]).sum();
            let wanted: Vec<f64> = (0..outputs).map(plain).collect();
            let found = of(&x, &weight);
            assert!(found.iter().zip(wanted).all(|(y, w)| (y - w).abs() < 1e-12));
            let loss = |x: &[f64], weight: &[f64]| dot(PLAIN, &of(x, weight), &upstream);
            let (by_x, by_weight) = gradients(&x, &weight, &upstream);
            assert_gradient("x", &x, &by_x, |x| loss(x, &weight));
            assert_gradient("weight", &weight, &by_weight, |weight| loss(&x, weight));
        }
    }

    #[test]
    fn the_same_bits_on_every_instruction_set_and_near_those_of_f64() {
        for (inputs, outputs) in SIZES {
            let (x, weight) = (random_vector(1, inputs), random_vector(2, inputs * outputs));
            let upstream = random_vector(3, outputs);
            let wanted = gradients(&x, &weight, &upstream);
            let wanted = [of(&x, &weight), wanted.0, wanted.1].concat();
            let short = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
            let (x, weight, upstream) = (short(&x), short(&weight), short(&upstream));
            let everywhere = Choice::all().map(|choice| {
                with(choice, || {
                    let found = gradients(&x, &weight, &upstream);
                    [of(&x, &weight), found.0, found.1].concat()
                })
            });
            assert!(everywhere.iter().all(|found| *found == everywhere[0]));
            let near = |found: f32, wanted: f64| {
                (f64::from(found) - wanted).abs() < 1e-5 * wanted.abs().max(1.0)
            };
            let mut pairs = everywhere[0].iter().zip(wanted);
            assert!(pairs.all(|(&found, wanted)| near(found, wanted)));
        }
    }

    #[test]
    fn dot_and_scaled_dot_are_the_golden_values() {
        for (name, scale) in [("score_dot", 1.0), ("score_scaled_dot", 0.2_f64.sqrt())] {
            let case = Case::load(name);
            let scaled = |x: Vec<f64>| x.iter().map(|x| x * scale).collect::<Vec<_>>();
            let (q, keys) = (
                scaled(case.numbers("inputs", "q")),
                case.transposed("inputs", "K"),
            );
            let by_energies = case.gradient_by_energies(&of(&q, &keys));
            let (by_q, by_keys) = gradients(&q, &keys, &by_energies);
            case.assert_close("gradients", "q", &scaled(by_q));
            case.assert_transposed_close("gradients", "K", &by_keys);
        }
    }

    #[test]
    fn the_general_score_is_the_golden_values() {
        // There W is [d_q, d_k] already: e_i = qᵀ·W·k_i.
        let case = Case::load("score_general");
        let (q, weight) = (
            case.numbers("inputs", "q"),
            case.numbers("parameters", "score.W"),
        );
        let (keys, through) = (case.transposed("inputs", "K"), of(&q, &weight));
        let by_energies = case.gradient_by_energies(&of(&through, &keys));
        let (by_through, by_keys) = gradients(&through, &keys, &by_energies);
        let (by_q, by_weight) = gradients(&q, &weight, &by_through);
        case.assert_close("gradients", "q", &by_q);
        case.assert_close("gradients", "score.W", &by_weight);
        case.assert_transposed_close("gradients", "K", &by_keys);
    }

    #[test]
    fn the_location_score_is_the_golden_values() {
        // There are more rows of weights than of the memory: those behind are not used.
        let case = Case::load("score_location");
        let (inputs, rows, most) = (case.size("d_q"), case.size("n"), case.size("n_max"));
        let first = |all: Vec<f64>| {
            let rows = all.chunks_exact(most).flat_map(|line| &line[..rows]);
            rows.copied().collect::<Vec<_>>()
        };
        let q = case.numbers("inputs", "q");
        let weight = first(case.transposed("parameters", "score.W"));
        let by_energies = case.gradient_by_energies(&of(&q, &weight));
        let (by_q, by_weight) = gradients(&q, &weight, &by_energies);
        case.assert_close("gradients", "q", &by_q);
        let wanted = first(case.transposed("gradients", "score.W"));
        assert_eq!(by_weight.len(), inputs * rows);
        assert!(
            by_weight
                .iter()
                .zip(wanted)
                .all(|(x, y)| (x - y).abs() < 1e-10)
        );
    }
}
