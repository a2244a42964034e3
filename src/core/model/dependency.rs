//! Which array of a trace follows from which others, and the conventions under which it does.

use super::array;
use super::intervention::{Intervention, apply_all};
use super::spec::{Array, Place};
use super::trace::Trace;
use crate::keys::Words;
use crate::math::Real;

/// How the values of a recorded episode follow from each other, where it is not as in this program, which is the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conventions {
    /// The order of events in a step.
    pub turns: Turns,
    /// The cosine of heads with that score.
    pub scoring: Scoring,
    /// Added to the sum of the powers in the sharpening: w = s^γ / (Σ s^γ + ε).
    pub sharpening_epsilon: f64,
    /// What was changed in the episode.
    pub interventions: Vec<Intervention>,
}

impl Conventions {
    /// Those of this program.
    pub const OWN: &Self = &Self {
        turns: Turns::Together,
        scoring: Scoring::Cosine,
        sharpening_epsilon: 0.0,
        interventions: Vec::new(),
    };
}

/// Order of the heads in a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Turns {
    /// Every head of a kind at once, in the order of [`super::NtmConfig::order`].
    #[default]
    Together,
    /// One head after the other, by its index: it addresses the current memory, and reads it, or erases and adds.
    InTurn(Vec<usize>),
    /// Unknown words.
    Unknown(String),
}

/// The cosine of a key k and a memory row m; ε is [`super::NtmConfig::similarity_epsilon`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scoring {
    /// k·m / (sqrt(|k|² + ε) · sqrt(|m|² + ε)), as [`crate::math::similarity`].
    #[default]
    Cosine,
    /// k·m / (|k|·|m| + ε).
    CosineAdded,
    /// k·m / max(|k|·|m|, ε).
    CosineAtLeast,
    /// k·m / (max(|k|, ε) · max(|m|, ε)).
    CosineEachAtLeast,
    /// Unknown words.
    Unknown(String),
}

impl Words for Scoring {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("cosine", Self::Cosine),
        ("cosine-plus-epsilon", Self::CosineAdded),
        ("cosine-clamped-product", Self::CosineAtLeast),
        ("cosine-clamped-norms", Self::CosineEachAtLeast),
    ];
}

/// Sets a step of an array of a trace.
type Work<'a, R> = Box<dyn Fn(&mut Trace<R>, usize) + 'a>;

/// An array that follows from others of its trace, and how.
pub struct Dependency<'a, R = f32> {
    /// The part of the machine that it belongs to.
    pub place: Place,
    /// The array.
    pub array: Array,
    /// The arrays that a step depends on, as far as the trace has them.
    pub needs: Vec<(Place, Array)>,
    /// The arrays that the first step also depends on.
    pub start: Vec<(Place, Array)>,
    /// Words of the file without which it cannot be computed, and which are not known.
    pub unknown: Option<UnknownConvention>,
    /// Size below which its values count as this size.
    pub size: Size,
    /// Whether all steps are computed at the first one, from values that stand there.
    pub(super) is_at_once: bool,
    /// Sets a step of the array.
    pub(super) work: Work<'a, R>,
}

impl<'a, R: Real> Dependency<'a, R> {
    /// Creates the dependency of an array that `compute` sets in a step.
    pub fn new(
        place: Place,
        array: Array,
        needs: impl Into<Vec<(Place, Array)>>,
        size: Size,
        compute: impl Fn(&mut Trace<R>, usize) + 'a,
    ) -> Self {
        Self {
            place,
            array,
            needs: needs.into(),
            start: Vec::new(),
            unknown: None,
            size,
            is_at_once: false,
            work: Box::new(compute),
        }
    }

    /// Creates the dependency of an array that `compute` sets with the weights: see [`super::Machine::step`].
    pub(super) fn with_weights(
        place: Place,
        array: Array,
        compute: impl Fn(&mut Trace<R>, usize) + 'a,
    ) -> Self {
        Self::new(place, array, [], Size::One, compute)
    }

    /// Creates the dependency of the memory after a step.
    pub(super) fn of_memory(
        needs: impl IntoIterator<Item = (Place, Array)>,
        compute: impl Fn(&mut Trace<R>, usize) + 'a,
    ) -> Self {
        let needs: Vec<_> = needs.into_iter().collect();
        Self::new(Place::Machine, array::MEMORY, needs, Size::One, compute)
    }

    /// Returns the dependency with all steps computed in the first one.
    pub(super) fn at_once(self) -> Self {
        Self {
            is_at_once: true,
            ..self
        }
    }

    /// The row of its series that is made in step `t`.
    pub fn row(&self, t: usize) -> usize {
        self.array.row(t)
    }

    /// Computes step `t` of its array from the other arrays, in its place: M_{t+1} from M_t and what was written.
    ///
    /// Needs no weights unless [`super::Machine::step`] made it: a trace of any program can be computed again. The old
    /// values are NaN before, so that what is not computed shows.
    pub fn compute(&self, trace: &mut Trace<R>, t: usize) {
        if let Some(series) = trace.series_mut(self.place, self.array)
            && !self.is_at_once
        {
            series.row_mut(self.row(t)).fill(R::from_f64(f64::NAN));
        }
        (self.work)(trace, t);
    }

    /// The sum of the magnitudes of the terms of every value that step `t` makes, such as Σ |w(i)·M(i)| of a read;
    /// `trace` is as it was afterwards.
    pub fn magnitudes(&self, trace: &mut Trace<R>, t: usize) -> Vec<R> {
        let mut kept = Vec::new();
        let own = (self.place, self.array);
        for (place, array) in self.needs.iter().copied().chain([own]) {
            let is_memory = [array::MEMORY, array::INITIAL_MEMORY].contains(&array);
            let array = if is_memory { array::MEMORY } else { array };
            let Some(series) = trace.series_mut(place, array) else {
                continue;
            };
            // Learned arrays have no steps.
            let last = series.steps().saturating_sub(1);
            for row in t.min(last)..=(t + usize::from(is_memory)).min(last) {
                let values = series.row_mut(row);
                kept.push((place, array, row, values.to_vec()));
                // 1 − w·e becomes 1 + w·|e|.
                let sign = if array == array::ERASE {
                    -R::ONE
                } else {
                    R::ONE
                };
                values.iter_mut().for_each(|x| *x = sign * x.abs());
            }
        }
        self.compute(trace, t);
        let made = trace.series(self.place, self.array);
        let made = made.map_or(&[][..], |made| made.row(self.row(t)));
        let made: Vec<R> = made.iter().map(|x| x.abs()).collect();
        for (place, array, row, values) in kept.into_iter().rev() {
            if let Some(series) = trace.series_mut(place, array) {
                series.row_mut(row).copy_from_slice(&values);
            }
        }
        made
    }
}

impl<'a> Dependency<'a, f32> {
    /// Returns the dependency with these interventions after it.
    pub(super) fn then(mut self, interventions: &'a [Intervention]) -> Self {
        let of = (self.place, self.array);
        if interventions.iter().all(|one| (one.place, one.array) != of) {
            return self;
        }
        let work = self.work;
        self.work = Box::new(move |trace, t| {
            work(trace, t);
            apply_all(interventions, trace, of, t);
        });
        self
    }
}

/// A convention of [`Conventions`] that is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownConvention {
    /// [`Conventions::turns`].
    Turns,
    /// [`Conventions::scoring`].
    Scoring,
}

/// Smallest size that the values of an array count as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 1.
    One,
    /// An even share: 1 / the width of the array.
    Share,
    /// Each value as the sum of the magnitudes of its terms: [`Dependency::magnitudes`].
    Terms,
}
