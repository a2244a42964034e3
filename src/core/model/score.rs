//! The score of a head's key with every row of the memory that it sees: the cosine of equation 6, and back.

use super::head::HeadGradient;
use super::trace::HeadTrace;
use super::window::Seen;
use crate::math::Real;
use crate::math::similarity::{self, CosineGradient, cosines_backward};

/// The similarities of heads at one step with the memory that they see, and the norms of its rows.
pub(super) fn forward<R: Real>(
    heads: &mut [HeadTrace<R>],
    t: usize,
    columns: &[R],
    epsilon: R,
    norms: &mut [R],
) {
    for heads in heads.chunks_mut(2) {
        // In pairs: the keys of two heads and the norms share one pass over the memory.
        match heads {
            [first, second] => {
                let pairs = [first.key_and_similarity(t), second.key_and_similarity(t)];
                similarity::cosines(pairs, columns, epsilon, norms);
            }
            heads => {
                for head in heads {
                    let pair = head.key_and_similarity(t);
                    similarity::cosines([pair], columns, epsilon, norms);
                }
            }
        }
    }
}

/// From the gradients by the similarities: sets those by the keys, adds to that by the memory. `scratch` has N
/// values.
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
            ([head, other], [by_head, by_other]) => {
                let heads = [of(head, t, by_head), of(other, t, by_other)];
                cosines_backward(heads, seen.columns, norms, d_memory, scratch);
            }
            (heads, gradients) => {
                for (head, by_head) in heads.iter().zip(gradients) {
                    let heads = [of(head, t, by_head)];
                    cosines_backward(heads, seen.columns, norms, d_memory, scratch);
                }
            }
        }
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
        by_similarity: &mut by.weighting,
        by_key: &mut by.key,
    }
}
