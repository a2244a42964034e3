//! y = x·W for a matrix without padding that stands flat, [inputs, outputs], and its derivative.
//!
//! A memory that stands column after column is such a matrix, and y its products with the rows, q·M(i): the score "dot"
//! (Luong et al. 2015, §3.1), with q/√d_k "scaled dot" (Vaswani et al. 2017, equation 1), with qᵀ·W in place of q
//! "general" (Luong et al. 2015, §3.1).

use super::Real;
use super::kernel::kernel;
use super::matrix::{Rows, add_vector_product, product_with_vector};
use super::pack::each_pack;

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

/// Backward pass from the gradient w.r.t. y: sets that w.r.t. x, W·dy, and adds that w.r.t. W, xᵀ·dy.
#[inline]
pub fn vector_product_backward<R: Real>(
    (x, weight): (&[R], &[R]),
    d_y: &[R],
    d_x: &mut [R],
    d_weight: &mut [R],
) {
    if d_y.len() < FEW {
        short_products_backward(x, weight, d_y, d_x, d_weight);
    } else {
        product_with_vector(flat(weight, d_y.len()), d_y, d_x);
        add_outer_product(x, d_y, d_weight);
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
        _simd; x: &'a [R], weight: &'a [R], d_y: &'a [R], d_x: &'a mut [R], d_weight: &'a mut [R],
    ) {
        let rows = weight.chunks_exact(d_y.len()).zip(d_weight.chunks_exact_mut(d_y.len()));
        for ((row, d_row), (&x, d_x)) in rows.zip(x.iter().zip(d_x)) {
            *d_x = row.iter().zip(d_y).map(|(&w, &d)| w * d).sum();
            for (d_w, &d) in d_row.iter_mut().zip(d_y) {
                *d_w += x * d;
            }
        }
    }
}

/// Adds number by number, as far as both go.
#[inline(always)]
pub(crate) fn add<'a, R: Real>(
    to: impl IntoIterator<Item = &'a mut R>,
    from: impl IntoIterator<Item = &'a R>,
) {
    to.into_iter().zip(from).for_each(|(to, &from)| *to += from);
}

/// Adds a multiple, number by number, as far as both go.
#[inline(always)]
pub(crate) fn add_multiple<'a, R: Real>(
    to: impl IntoIterator<Item = &'a mut R>,
    factor: R,
    from: impl IntoIterator<Item = &'a R>,
) {
    let pairs = to.into_iter().zip(from);
    pairs.for_each(|(to, &from)| *to += factor * from);
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
    fn gradients<R: Real>(x: &[R], weight: &[R], d_y: &[R]) -> (Vec<R>, Vec<R>) {
        let (mut d_x, mut d_weight) = (vec![R::ONE; x.len()], vec![R::ZERO; weight.len()]);
        vector_product_backward((x, weight), d_y, &mut d_x, &mut d_weight);
        (d_x, d_weight)
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
            let (d_x, d_weight) = gradients(&x, &weight, &upstream);
            assert_gradient("x", &x, &d_x, |x| loss(x, &weight));
            assert_gradient("weight", &weight, &d_weight, |weight| loss(&x, weight));
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
    fn dot_and_scaled_dot_match_golden_values() {
        for (name, scale) in [("score_dot", 1.0), ("score_scaled_dot", 0.2_f64.sqrt())] {
            let case = Case::load(name);
            let scaled = |x: Vec<f64>| x.iter().map(|x| x * scale).collect::<Vec<_>>();
            let (q, keys) = (
                scaled(case.numbers("inputs", "q")),
                case.transposed("inputs", "K"),
            );
            let d_energies = case.energies_gradient(&of(&q, &keys));
            let (d_query, d_keys) = gradients(&q, &keys, &d_energies);
            case.assert_close("gradients", "q", &scaled(d_query));
            case.assert_transposed_close("gradients", "K", &d_keys);
        }
    }

    #[test]
    fn general_score_matches_golden_values() {
        // There W is [d_q, d_k] already: e_i = qᵀ·W·k_i.
        let case = Case::load("score_general");
        let (q, weight) = (
            case.numbers("inputs", "q"),
            case.numbers("parameters", "score.W"),
        );
        let (keys, through) = (case.transposed("inputs", "K"), of(&q, &weight));
        let d_energies = case.energies_gradient(&of(&through, &keys));
        let (d_through, d_keys) = gradients(&through, &keys, &d_energies);
        let (d_query, d_weight) = gradients(&q, &weight, &d_through);
        case.assert_close("gradients", "q", &d_query);
        case.assert_close("gradients", "score.W", &d_weight);
        case.assert_transposed_close("gradients", "K", &d_keys);
    }

    #[test]
    fn location_score_matches_golden_values() {
        // There are more rows of weights than of the memory: those behind are not used.
        let case = Case::load("score_location");
        let (inputs, rows, most) = (case.size("d_q"), case.size("n"), case.size("n_max"));
        let first = |all: Vec<f64>| {
            let rows = all.chunks_exact(most).flat_map(|line| &line[..rows]);
            rows.copied().collect::<Vec<_>>()
        };
        let q = case.numbers("inputs", "q");
        let weight = first(case.transposed("parameters", "score.W"));
        let d_energies = case.energies_gradient(&of(&q, &weight));
        let (d_query, d_weight) = gradients(&q, &weight, &d_energies);
        case.assert_close("gradients", "q", &d_query);
        let wanted = first(case.transposed("gradients", "score.W"));
        assert_eq!(d_weight.len(), inputs * rows);
        assert!(
            d_weight
                .iter()
                .zip(wanted)
                .all(|(x, y)| (x - y).abs() < 1e-10)
        );
    }
}
