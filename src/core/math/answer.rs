//! The form of an answer: independent bits, or one symbol of an alphabet. From logits to probabilities, and to the loss.
//!
//! | | probability y | loss of a step, nats | wrong |
//! |---|---|---|---|
//! | bits | σ(z) | Σ softplus(±z) | every bit on the wrong side of one half |
//! | symbols | softmax(z) | ln Σ e^z − z of the target | the symbol of the largest logit, if it is another one |
//!
//! In both the gradient of the loss w.r.t. a logit is y − target.

use super::kernel::kernel;
use super::pack::{MOST_LANES, each_pack, map_packs};
use super::simd::Simd;
use super::softmax::{largest, softmax};
use super::{Pack, Real, sigmoid, softplus};

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// Every channel is a bit of its own.
    #[default]
    Bits,
    /// The channels are the symbols of an alphabet; one is 1.
    Symbols,
}

impl Answer {
    /// Sets the probabilities `y` of some steps from their logits `z`, `width` in each step.
    pub fn outputs<R: Real>(self, z: &[R], width: usize, y: &mut [R]) {
        match self {
            Self::Bits => bits(z, y),
            Self::Symbols => symbols(z, width, y),
        }
    }

    /// Returns the loss of one step in nats, from its logits.
    #[inline(always)]
    pub fn nats<'a, R: Real, S: Simd>(
        self,
        simd: S,
        z: &[R],
        target: impl ExactSizeIterator<Item = &'a f32>,
    ) -> R {
        let mut nats = Pack::splat(simd, R::ZERO);
        let mut bits = z.iter().zip(target);
        if self == Self::Symbols {
            let asked = bits.find(|(_, target)| **target > 0.5);
            let most = largest(simd, z);
            each_pack!(simd, at in z => { nats += at.new_or((at.load(z) - most).exp(), R::ZERO) });
            let all = Pack::splat(simd, nats.sum()).ln().first() + most;
            return asked.map_or(R::ZERO, |(&z, _)| all - z);
        }
        while bits.len() > 0 {
            // −log σ(z) = softplus(−z) and −log(1 − σ(z)) = softplus(z): no logarithm of zero.
            // Where there is no bit, softplus(−∞) = 0.
            let mut against = [R::from_f64(f64::NEG_INFINITY); MOST_LANES];
            for (x, (&z, &target)) in against.iter_mut().zip(&mut bits) {
                *x = if target > 0.5 { -z } else { z };
            }
            each_pack!(simd, at in against => { nats += softplus(at.load(&against)) });
        }
        nats.sum()
    }

    /// True where `channel` of a step is answered wrongly: a bit, or the symbol that the step answers with.
    pub fn is_wrong<R: Real>(self, z: &[R], channel: usize, target: f32) -> bool {
        match self {
            Self::Bits => (z[channel] > R::ZERO) != (target > 0.5),
            Self::Symbols => channel == symbol(z) && target < 0.5,
        }
    }

    /// Name of the scored things: bits or symbols.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Symbols => "symbols",
        }
    }

    /// Number of scored bits or symbols in a step of `channels` channels.
    pub fn scored(self, channels: usize) -> usize {
        match self {
            Self::Bits => channels,
            Self::Symbols => channels.min(1),
        }
    }
}

/// The channel of the largest logit, the first of equal ones.
pub fn symbol<R: Real>(z: &[R]) -> usize {
    (1..z.len()).fold(
        0,
        |best, other| if z[other] > z[best] { other } else { best },
    )
}

kernel! {
    /// y = σ(z).
    fn bits<'a, R>(simd; z: &'a [R], y: &'a mut [R]) {
        map_packs!(simd, y = [z] => sigmoid(z));
    }
}

kernel! {
    /// y = softmax(z), of every `width` values.
    fn symbols<'a, R>(simd; z: &'a [R], width: usize, y: &'a mut [R]) {
        for (z, y) in z.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
            softmax(simd, R::ONE, z, y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};

    kernel! {
        fn nats<'a, R>(simd; answer: Answer, z: &'a [R], target: &'a [f32]) -> R {
            answer.nats(simd, z, target.iter())
        }
    }

    #[test]
    fn the_gradient_is_output_minus_target() {
        for width in [1, 2, 7, 19] {
            let z = random_vector(1, width);
            for answer in [Answer::Bits, Answer::Symbols] {
                let mut target = vec![0.0; width];
                target[width / 2] = 1.0;
                let mut gradient = vec![0.0; width];
                answer.outputs(&z, width, &mut gradient);
                for (y, &target) in gradient.iter_mut().zip(&target) {
                    *y -= f64::from(target);
                }
                assert_gradient("z", &z, &gradient, |z| nats(answer, z, &target));
            }
        }
    }

    #[test]
    fn a_symbol_is_wrong_once() {
        let z = [0.5_f64, 2.0, -1.0];
        let wrong = |target: [f32; 3]| {
            let wrong = (0..3).filter(|&c| Answer::Symbols.is_wrong(&z, c, target[c]));
            wrong.collect::<Vec<_>>()
        };
        assert_eq!(wrong([0.0, 1.0, 0.0]), [0; 0]);
        assert_eq!(wrong([1.0, 0.0, 0.0]), [1]);
    }
}
