//! The form of an answer: independent bits, one symbol of an alphabet, or real values. From logits to outputs, and to the
//! loss.
//!
//! | | output y | loss of a step | slope | loss of an episode | wrong |
//! |---|---|---|---|---|---|
//! | bits | σ(z) | Σ softplus(±z), nats | 1 | the sum, in bits | every bit on the wrong side of one half |
//! | symbols | softmax(z) | ln Σ e^z − z of the target, nats | 1 | the sum, in bits | the symbol of the largest logit, if it is another one |
//! | values | z | Σ (z − target)² | 2 | the mean over scored values | every value that is too far from its target |
//!
//! The gradient of the loss of a step w.r.t. a logit is slope · (y − target).

use std::f64::consts::LN_2;

use super::kernel::kernel;
use super::pack::{MOST_LANES, each_pack, map_packs};
use super::simd::Simd;
use super::softmax::{largest, softmax};
use super::{Pack, Real, sigmoid, softplus};

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Answer {
    /// Every channel is a bit of its own.
    #[default]
    Bits,
    /// The channels are the symbols of an alphabet; one is 1.
    Symbols,
    /// Every channel is a real number; right where it is at most this tolerance, above 0, from its target.
    Values(f64),
}

impl Answer {
    /// Real values with the tolerance of Hochreiter and Schmidhuber (1997), §5.4, for targets from 0 to 1.
    pub const VALUES: Self = Self::Values(0.04);

    /// Sets the outputs `y` of some steps from their logits `z`, `width` in each step.
    pub fn outputs<R: Real>(self, z: &[R], width: usize, y: &mut [R]) {
        match self {
            Self::Bits => bits(z, y),
            Self::Symbols => symbols(z, width, y),
            Self::Values(_) => y.copy_from_slice(z),
        }
    }

    /// Returns the loss of one step, from its logits: in nats, or the sum of squared errors.
    #[inline(always)]
    pub fn loss<'a, R: Real, S: Simd>(
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
        if let Self::Values(_) = self {
            let errors = bits.map(|(&z, &target)| z - R::from_f64(f64::from(target)));
            return errors.fold(R::ZERO, |sum, error| sum + error * error);
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
            // NaN is no right answer.
            Self::Values(tolerance) => {
                let error = (z[channel].to_f64() - f64::from(target)).abs();
                error.is_nan() || error > tolerance
            }
        }
    }

    /// Name of the scored things: bits, symbols or values.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Symbols => "symbols",
            Self::Values(_) => "values",
        }
    }

    /// Number of scored bits, symbols or values in a step of `channels` channels.
    pub fn scored(self, channels: usize) -> usize {
        match self {
            Self::Bits | Self::Values(_) => channels,
            Self::Symbols => channels.min(1),
        }
    }

    /// True for real values.
    pub fn is_real(self) -> bool {
        matches!(self, Self::Values(_))
    }

    /// Gradient of the loss of a step w.r.t. a logit, as a multiple of y − target.
    pub fn slope(self) -> f64 {
        if self.is_real() { 2.0 } else { 1.0 }
    }

    /// Weight of the loss of a step in the loss of an episode with `scored` scored bits, symbols or values.
    pub fn weight(self, scored: usize) -> f64 {
        if self.is_real() {
            1.0 / scored.max(1) as f64
        } else {
            1.0
        }
    }

    /// Reported units per unit of the loss: bits per nat, or 1 for squared errors.
    pub fn reported(self) -> f64 {
        if self.is_real() { 1.0 } else { 1.0 / LN_2 }
    }

    /// Name of the reported loss: bits, or mean squared error.
    pub fn measure(self) -> &'static str {
        if self.is_real() {
            "mean squared error"
        } else {
            "bits"
        }
    }

    /// Short name of the reported loss, for headings: bits, or error.
    pub fn heading(self) -> &'static str {
        if self.is_real() { "error" } else { "bits" }
    }

    /// Name of the reported loss, with its unit.
    pub fn loss_name(self) -> &'static str {
        if self.is_real() {
            "mean squared error"
        } else {
            "loss in bits"
        }
    }

    /// The least end of an axis of losses: 1 bit; an error has the scale of its targets.
    pub fn least_axis(self) -> f32 {
        if self.is_real() {
            f32::MIN_POSITIVE
        } else {
            1.0
        }
    }

    /// Name of the loss of a step.
    pub fn step_loss(self) -> &'static str {
        if self.is_real() {
            "part of the mean squared error"
        } else {
            "cross-entropy"
        }
    }

    /// The number of a reported loss: bits with this many decimals, an error with three significant digits; in powers of
    /// ten if it would fill the line.
    pub fn number(self, loss: f64, decimals: usize) -> String {
        let size = loss.abs().log10().floor();
        let is_tiny = self.is_real() && size < -5.0 && loss != 0.0;
        if is_tiny || loss.abs() >= 1e7 {
            return format!("{loss:.2e}");
        }
        let digits = (2.0 - size).clamp(0.0, 7.0) as usize;
        let decimals = if self.is_real() && size.is_finite() {
            digits
        } else {
            decimals
        };
        format!("{loss:.decimals$}")
    }

    /// A reported loss in words: `3.200 bits`, or `error 0.0130`; see [`Answer::number`].
    pub fn in_words(self, loss: f64, decimals: usize) -> String {
        self.amount(&self.number(loss, decimals))
    }

    /// A reported loss in words, from its number: `3.2 bits`, or `error 0.013`.
    pub fn amount(self, number: &str) -> String {
        if self.is_real() {
            format!("error {number}")
        } else {
            format!("{number} bits")
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
        fn loss<'a, R>(simd; answer: Answer, z: &'a [R], target: &'a [f32]) -> R {
            answer.loss(simd, z, target.iter())
        }
    }

    #[test]
    fn the_gradient_is_the_slope_times_output_minus_target() {
        for width in [1, 2, 7, 19] {
            let z = random_vector(1, width);
            for answer in [Answer::Bits, Answer::Symbols, Answer::VALUES] {
                let mut target = vec![0.0; width];
                target[width / 2] = if answer.is_real() { -2.5 } else { 1.0 };
                let mut gradient = vec![0.0; width];
                answer.outputs(&z, width, &mut gradient);
                for (y, &target) in gradient.iter_mut().zip(&target) {
                    *y = answer.slope() * (*y - f64::from(target));
                }
                assert_gradient("z", &z, &gradient, |z| loss(answer, z, &target));
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

    #[test]
    fn a_value_is_wrong_beyond_its_tolerance() {
        let answer = Answer::Values(0.25);
        let wrong = [0.75, 1.25, 1.3, 0.7, f64::NAN].map(|z| answer.is_wrong(&[z], 0, 1.0));
        assert_eq!(wrong, [false, false, true, true, true]);
        assert_eq!((answer.scored(3), answer.unit()), (3, "values"));
        assert_eq!((answer.weight(4), Answer::Bits.weight(4)), (0.25, 1.0));
        let words = [0.0, 1e-9, 0.000_123_4, 0.0129, 12.345, 12345.6, 1e8];
        let words = words.map(|loss| answer.in_words(loss, 3));
        let numbers = [
            "0.000", "1.00e-9", "0.000123", "0.0129", "12.3", "12346", "1.00e8",
        ];
        assert_eq!(words, numbers.map(|number| format!("error {number}")));
        assert_eq!(Answer::Symbols.in_words(3.2, 3), "3.200 bits");
    }
}
