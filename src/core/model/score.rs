//! The score of a head's key with every row of the memory that it sees, and back: the cosine of equation 6, or another
//! one; and what else a head makes of these rows, the prior of Bayesian attention.

use super::attention::{PriorForm, Score};
use super::head::HeadGradient;
use super::trace::HeadTrace;
use super::weighting::{centre_backward, prior_means};
use super::window::Seen;
use crate::math::similarity::{self, CosineGradient, cosines_backward};
use crate::math::units::{self, UnitActivation, Units, UnitsGradient};
use crate::math::vectors::{vector_product, vector_product_backward};
use crate::math::{Real, Series};

/// [`similarities`], and the priors of heads that have them.
pub(super) fn forward<R: Real>(
    heads: &mut [HeadTrace<R>],
    t: usize,
    columns: &[R],
    epsilon: R,
    norms: &mut [R],
) {
    similarities(heads, t, columns, epsilon, norms);
    for head in heads {
        if head.prior.width() > 0 {
            prior(head, t, columns);
        }
    }
}

/// The similarities of heads at one step with the memory that they see, and the norms of its rows where a cosine needs
/// them.
pub(super) fn similarities<R: Real>(
    heads: &mut [HeadTrace<R>],
    t: usize,
    columns: &[R],
    epsilon: R,
    norms: &mut [R],
) {
    for heads in heads.chunks_mut(2) {
        // In pairs: the keys of two heads and the norms share one pass over the memory.
        match heads {
            [first, second] if are_cosines(first, second) => {
                let pairs = [first.key_and_similarity(t), second.key_and_similarity(t)];
                similarity::cosines(pairs, columns, epsilon, norms);
            }
            heads => {
                for head in heads {
                    of_one(head, t, columns, epsilon, norms);
                }
            }
        }
    }
}

fn are_cosines<R: Real>(first: &HeadTrace<R>, second: &HeadTrace<R>) -> bool {
    let both = (first.mechanism.score, second.mechanism.score);
    both == (Score::Cosine, Score::Cosine)
}

/// The similarities of one head.
fn of_one<R: Real>(head: &mut HeadTrace<R>, t: usize, columns: &[R], epsilon: R, norms: &mut [R]) {
    match head.mechanism.score {
        Score::Cosine => similarity::cosines([head.key_and_similarity(t)], columns, epsilon, norms),
        Score::Dot => {
            let (key, similarity) = head.key_and_similarity(t);
            vector_product(key, columns, similarity);
        }
        Score::ScaledDot => {
            let scale = scale(head);
            let (key, similarity) = head.key_and_similarity(t);
            vector_product(key, columns, similarity);
            similarity.iter_mut().for_each(|score| *score *= scale);
        }
        Score::General => {
            let query = head.query.row_mut(t);
            vector_product(head.key.row(t), head.bilinear.row(0), query);
            vector_product(query, columns, head.similarity.row_mut(t));
        }
        Score::Location => {
            let (key, weight) = (head.key.row(t), head.location.row(0));
            vector_product(key, weight, head.similarity.row_mut(t));
        }
        Score::Additive => {
            let query = head.query.row_mut(t);
            vector_product(head.key.row(t), head.additive_key.row(0), query);
            let values = if head.units.steps() > t {
                head.units.row_mut(t)
            } else {
                head.layer.row_mut(0)
            };
            let units = score_units(&head.additive_row, &head.additive_vector);
            units.forward(query, columns, values, head.similarity.row_mut(t));
        }
    }
}

/// 1 / √M.
fn scale<R: Real>(head: &HeadTrace<R>) -> R {
    R::ONE / R::from_f64(head.key.width() as f64).sqrt()
}

/// The layer of an additive score.
fn score_units<'a, R: Real>(weight: &'a Series<R>, vector: &'a Series<R>) -> Units<'a, R> {
    Units {
        weight: weight.row(0),
        vector: vector.row(0),
        activation: UnitActivation::Tanh,
    }
}

/// The layer that the prior comes from.
fn prior_units<R: Real>(head: &HeadTrace<R>) -> Units<'_, R> {
    Units {
        weight: head.prior_weight.row(0),
        vector: head.prior_vector.row(0),
        activation: match head.mechanism.parameters.prior {
            PriorForm::Text => UnitActivation::Identity,
            PriorForm::Code => UnitActivation::Relu,
        },
    }
}

/// The mean of the prior of a Bayesian head for every row of the memory that it sees.
pub(super) fn prior<R: Real>(head: &mut HeadTrace<R>, t: usize, columns: &[R]) {
    let mut scratch = std::mem::take(&mut head.layer);
    let mut prior = std::mem::take(&mut head.prior);
    let bias = head.prior_bias.row(0);
    prior_units(head).forward(bias, columns, scratch.row_mut(0), prior.row_mut(t));
    (head.layer, head.prior) = (scratch, prior);
    prior_means(&head.mechanism, head.prior.row_mut(t));
}

/// Sets the gradients w.r.t. the keys and adds to that w.r.t. the memory, from those w.r.t. the similarities.
/// `scratch` has N values.
pub(super) fn backward<R: Real>(
    heads: &[HeadTrace<R>],
    t: usize,
    gradients: &mut [HeadGradient<R>],
    seen: Seen<'_, R>,
    d_memory: &mut [R],
    scratch: &mut [R],
) {
    let norms = (seen.norms, seen.epsilon);
    for pair in heads.chunks(2).zip(gradients.chunks_mut(2)) {
        match pair {
            ([head, other], [d_head, d_other]) if are_cosines(head, other) => {
                let heads = [of(head, t, d_head), of(other, t, d_other)];
                cosines_backward(heads, seen.columns, norms, d_memory, scratch);
            }
            (heads, gradients) => {
                for (head, d_head) in heads.iter().zip(gradients) {
                    of_one_backward(head, t, d_head, seen, d_memory, scratch);
                }
            }
        }
    }
    for (head, by) in heads.iter().zip(gradients) {
        if head.prior.width() > 0 {
            prior_backward(head, by, seen.columns, d_memory);
        }
        if head.position_weight.width() > 0 {
            centre_backward(head, t, by);
        }
    }
}

fn of_one_backward<R: Real>(
    head: &HeadTrace<R>,
    t: usize,
    by: &mut HeadGradient<R>,
    seen: Seen<'_, R>,
    d_memory: &mut [R],
    scratch: &mut [R],
) {
    let (key, learned) = (head.key.row(t), &mut by.learned);
    match head.mechanism.score {
        Score::Cosine => {
            let norms = (seen.norms, seen.epsilon);
            cosines_backward([of(head, t, by)], seen.columns, norms, d_memory, scratch);
        }
        Score::Dot => {
            let memory = (key, seen.columns);
            vector_product_backward(memory, &by.weighting, &mut by.key, d_memory);
        }
        Score::ScaledDot => {
            let (scale, memory) = (scale(head), (key, seen.columns));
            by.weighting.iter_mut().for_each(|by| *by *= scale);
            vector_product_backward(memory, &by.weighting, &mut by.key, d_memory);
        }
        Score::General => {
            let memory = (head.query.row(t), seen.columns);
            vector_product_backward(memory, &by.weighting, &mut by.query, d_memory);
            let weight = head.bilinear.row(0);
            vector_product_backward((key, weight), &by.query, &mut by.key, &mut learned.bilinear);
        }
        Score::Location => {
            let (weight, d_weight) = (head.location.row(0), &mut learned.location);
            vector_product_backward((key, weight), &by.weighting, &mut by.key, d_weight);
        }
        Score::Additive => {
            let units_gradient = UnitsGradient {
                start: head.query.row(t),
                d_energies: &by.weighting,
                d_start: &mut by.query,
                sums: &mut by.score_sums,
                d_memory,
            };
            let kept = (head.units.steps() > t).then(|| head.units.row(t));
            let units = score_units(&head.additive_row, &head.additive_vector);
            units.backward(units_gradient, seen.columns, kept, &mut by.scratch);
            let (weight, d_weight) = (head.additive_key.row(0), &mut learned.additive_key);
            vector_product_backward((key, weight), &by.query, &mut by.key, d_weight);
        }
    }
}

/// Backpropagates from the gradient w.r.t. z, from which the prior is computed.
fn prior_backward<R: Real>(
    head: &HeadTrace<R>,
    by: &mut HeadGradient<R>,
    columns: &[R],
    d_memory: &mut [R],
) {
    let units_gradient = UnitsGradient {
        start: head.prior_bias.row(0),
        d_energies: &by.prior,
        d_start: &mut by.prior_start,
        sums: &mut by.prior_sums,
        d_memory,
    };
    prior_units(head).backward(units_gradient, columns, None, &mut by.scratch);
    for (to, &from) in by.learned.prior_bias.iter_mut().zip(&by.prior_start) {
        *to += from;
    }
}

/// Adds the episode's sums over a head's layers to the gradients w.r.t. its weights.
pub(super) fn add_up<R: Real>(by: &mut HeadGradient<R>) {
    let learned = &mut by.learned;
    if !by.score_sums.is_empty() {
        let (weight, vector) = (&mut learned.additive_row, &mut learned.additive_vector);
        units::add_up(&by.score_sums, weight, vector);
    }
    if !by.prior_sums.is_empty() {
        let (weight, vector) = (&mut learned.prior_weight, &mut learned.prior_vector);
        units::add_up(&by.prior_sums, weight, vector);
    }
}

fn of<'a, R: Real>(
    head: &'a HeadTrace<R>,
    t: usize,
    by: &'a mut HeadGradient<R>,
) -> CosineGradient<'a, R> {
    CosineGradient {
        key: head.key.row(t),
        similarity: head.similarity.row(t),
        d_similarity: &mut by.weighting,
        d_key: &mut by.key,
    }
}
