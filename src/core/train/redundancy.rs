//! The redundancy penalty: heads that attend to the same rows, or to many, cost (Lin et al. 2017, equation 8).
//!
//! A is [heads, N], the weightings of one step: P = ‖A·Aᵀ − I‖²_F, the sum of the squares, and by A it is
//! 4·(A·Aᵀ − I)·A. It is 0 only where every head is on a separate row. In two parts: the diagonal costs where a
//! head is spread over rows, the rest where two heads look at the same ones ([`Penalty`]).
//!
//! What it replaced: the divergence of heads, D = Σ_{a≠b} KL(w_a ‖ w_b), which the loss subtracts. By w_a it is
//! Σ_b (ln w_a − ln w_b + 1 − w_b / w_a). It grows without bound where a head leaves the rows of another one.

use std::ops::Range;

use super::config::Redundancy;
use crate::keys::ConfigError;
use crate::math::kernel::kernel;
use crate::math::pack::each_pack;
use crate::math::softmax::dot;
use crate::math::vectors::add_multiple;
use crate::math::{Pack, Real, Series};
use crate::model::{HeadTrace, ModelConfig, Trace, Upstream};

/// P of a step, in its two parts; 0 where every head is on a separate row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penalty {
    /// Σ_i (1 − a_i·a_i)², 0 to the number of heads: the cost of heads that are spread over rows.
    pub spread: f64,
    /// 2 Σ_{i<j} (a_i·a_j)², 0 to h·(h − 1) for each layer of h heads: the cost of heads that address the same rows.
    pub shared: f64,
}

impl Penalty {
    /// Returns P itself, of which training takes the mean.
    pub fn total(self) -> f64 {
        self.spread + self.shared
    }
}

kernel! {
    /// A number of A·Aᵀ: Σ_i a(i)·b(i) of two weightings over the same rows, 0 to 1. 0 where they have no row in
    /// common, 1 where both are on one and the same row; of a weighting with itself 1 on one row, 1/n evenly on n.
    pub fn overlap<'a, R>(simd; a: &'a [R], b: &'a [R]) -> R {
        dot(simd, a, b)
    }
}

impl Redundancy {
    /// Returns its weight in the loss, in nats per unit of the mean of P over the steps; `None` if it is off.
    fn weight(self) -> Option<f64> {
        match self {
            Self::Off => None,
            Self::Read(weight) | Self::Write(weight) | Self::Both(weight) => Some(weight),
        }
    }

    /// Returns the number of penalised heads of a machine.
    fn heads(self, config: &ModelConfig) -> usize {
        match self {
            Self::Off => 0,
            Self::Read(_) => config.read_heads(),
            Self::Write(_) => config.write_heads(),
            Self::Both(_) => config.heads(),
        }
    }

    fn counts<R: Real>(self, head: &HeadTrace<R>) -> bool {
        let is_asked = match self {
            Self::Off => false,
            Self::Read(_) => !head.is_write(),
            Self::Write(_) => head.is_write(),
            Self::Both(_) => true,
        };
        is_asked && head.weighting.width() > 0
    }

    /// Holds it to the heads that a machine has.
    ///
    /// `field` is its key.
    ///
    /// # Errors
    /// There are none of this kind.
    pub fn fits(self, config: &ModelConfig, field: &'static str) -> Result<(), ConfigError> {
        let (found, missing, others) = match self {
            Self::Read(_) => ("read", "read heads", config.write_heads()),
            Self::Write(_) => ("write", "write heads", config.read_heads()),
            Self::Off | Self::Both(_) => ("both", "heads", 0),
        };
        let is_right = self == Self::Off || self.heads(config) > 0;
        ConfigError::unless(is_right, field, found, || {
            let others = if others > 0 {
                " and the other kind"
            } else {
                ""
            };
            format!("`none`{others}, because the machine has no {missing}")
        })
    }

    /// The mean of P over the steps in which heads attend; `None` where it is off.
    pub fn mean<R: Real>(self, trace: &Trace<R>) -> Option<f64> {
        let mut sums = PairSums::new(self, pair);
        sums.add_steps(trace, 0..trace.steps());
        sums.mean(trace)
    }

    /// P of a step over the heads that it is of; `None` where there are none.
    pub fn at<R: Real>(self, trace: &Trace<R>, step: usize) -> Option<Penalty> {
        let mut found = None;
        for (i, j) in self.pairs(trace) {
            let of = [i, j].map(|head| &trace.heads[head].weighting);
            let cost = pair(of[0], of[1], step..step + 1, i == j, R::ZERO, [None, None]);
            let found = found.get_or_insert_with(Penalty::default);
            if i == j {
                found.spread += cost;
            } else {
                found.shared += cost;
            }
        }
        found
    }

    /// Every head with itself and with those before it, of the same layer.
    fn pairs<R: Real>(self, trace: &Trace<R>) -> impl Iterator<Item = (usize, usize)> {
        let heads = 0..trace.heads.len();
        let pairs = heads.flat_map(|j| (0..=j).map(move |i| (i, j)));
        pairs.filter(move |&(i, j)| {
            let [one, other] = [i, j].map(|head| &trace.heads[head]);
            let is_same = one.mechanism.layer == other.mechanism.layer;
            is_same && self.counts(one) && self.counts(other)
        })
    }

    /// Sets the gradients w.r.t. the weightings of its heads to zero.
    pub fn clear<R: Real>(self, trace: &Trace<R>, upstream: &mut Upstream<R>) {
        for (head, by) in trace.heads.iter().zip(&mut upstream.weightings) {
            if self.counts(head) {
                by.reshape(trace.steps(), head.weighting.width());
                by.as_mut_slice().fill(R::ZERO);
            }
        }
    }

    /// [`Redundancy::mean`]; and adds the gradient of `scale` × its share of the loss by the weightings.
    pub fn gradient<R: Real>(
        self,
        trace: &Trace<R>,
        scale: f64,
        upstream: &mut Upstream<R>,
    ) -> Option<f64> {
        let (weight, steps) = (self.weight()?, attending(trace));
        let share = R::from_f64(4.0 * scale * weight / steps);
        let sums = self.sums(
            pair,
            trace,
            0..trace.steps(),
            share,
            &mut upstream.weightings,
        );
        Some(sums.sum::<f64>() / steps)
    }

    /// The mean of D over the steps in which heads attend; and adds the gradient of `scale` × its share of the loss, which subtracts it.
    pub fn divergence_gradient<R: Real>(
        self,
        trace: &Trace<R>,
        scale: f64,
        upstream: &mut Upstream<R>,
    ) -> Option<f64> {
        let (weight, steps) = (self.weight()?, attending(trace));
        let share = R::from_f64(-scale * weight / steps);
        let sums = self.sums(
            apart,
            trace,
            0..trace.steps(),
            share,
            &mut upstream.weightings,
        );
        Some(sums.sum::<f64>() / steps)
    }

    /// Sums a term over these steps, for every pair of heads; adds `scale` times its gradients w.r.t. the weightings, where
    /// there are any.
    fn sums<R: Real>(
        self,
        term: Term<R>,
        trace: &Trace<R>,
        steps: Range<usize>,
        scale: R,
        by: &mut [Series<R>],
    ) -> impl Iterator<Item = f64> {
        self.pairs(trace).map(move |(i, j)| {
            let (below, from) = by.split_at_mut(j.min(by.len()));
            let by = match (below.get_mut(i), from.first_mut()) {
                (None, by) => [by, None],
                (first, second) => [first, second],
            };
            let of = [i, j].map(|head| &trace.heads[head].weighting);
            let steps = trace.heads[i].first_step.max(steps.start)..steps.end;
            term(of[0], of[1], steps, i == j, scale, by)
        })
    }
}

/// A term of every pair of heads, summed step by step.
#[derive(Debug)]
pub(super) struct PairSums<R> {
    of: Redundancy,
    term: Term<R>,
    sums: Vec<f64>,
}

impl<R: Real> PairSums<R> {
    /// Sums of [`pair`], for P, or of [`apart`], for D, the divergence of the heads in nats.
    pub(super) fn new(of: Redundancy, term: Term<R>) -> Self {
        let sums = Vec::new();
        Self { of, term, sums }
    }

    /// Follows these steps, the next ones of an episode.
    pub(super) fn add_steps(&mut self, trace: &Trace<R>, steps: Range<usize>) {
        let found = self.of.sums(self.term, trace, steps, R::ZERO, &mut []);
        let found: Vec<f64> = found.collect();
        self.sums.resize(found.len(), 0.0);
        self.sums
            .iter_mut()
            .zip(found)
            .for_each(|(sum, found)| *sum += found);
    }

    /// The mean over the steps in which heads attend; `None` where it is off.
    pub(super) fn mean(&self, trace: &Trace<R>) -> Option<f64> {
        self.of.weight()?;
        Some(self.sums.iter().sum::<f64>() / attending(trace))
    }
}

/// The part of a pair of heads in a sum over steps, as [`pair`].
pub(super) type Term<R> = for<'a> fn(
    &'a Series<R>,
    &'a Series<R>,
    Range<usize>,
    bool,
    R,
    [Option<&'a mut Series<R>>; 2],
) -> f64;

/// Steps in which heads attend, at least 1.
fn attending<R: Real>(trace: &Trace<R>) -> f64 {
    let first = trace.heads.first().map_or(0, |head| head.first_step);
    trace.steps().saturating_sub(first).max(1) as f64
}

kernel! {
    /// Returns the part of a pair of heads in Σ P over these steps; adds to the gradients w.r.t. the weightings of
    /// both. A head with itself counts once and has one gradient.
    pub fn pair<'a, R>(
        simd; head: &'a Series<R>, other: &'a Series<R>, steps: Range<usize>, is_same: bool, scale: R,
        by: [Option<&'a mut Series<R>>; 2],
    ) -> f64 {
        let (mut sum, mut by) = (0.0, by);
        for t in steps {
            let (a, b) = (head.row(t), other.row(t));
            let product = dot(simd, a, b) - if is_same { R::ONE } else { R::ZERO };
            sum += (product * product).to_f64() * if is_same { 1.0 } else { 2.0 };
            // The gradient w.r.t. one head is computed from the other.
            for (by, from) in by.iter_mut().zip([b, a]) {
                let to = by.iter_mut().flat_map(|by| by.row_mut(t));
                add_multiple(to, scale * product, from);
            }
        }
        sum
    }
}

kernel! {
    /// The part of a pair of heads in Σ D over these steps, both divergences: Σ (a − b)·(ln a − ln b), as [`pair`].
    pub fn apart<'a, R>(
        simd; head: &'a Series<R>, other: &'a Series<R>, steps: Range<usize>, is_same: bool, scale: R,
        by: [Option<&'a mut Series<R>>; 2],
    ) -> f64 {
        let (mut sum, mut by, floor) = (0.0, by, R::from_f64(FLOOR));
        // A head does not differ from itself.
        for t in steps.filter(|_| !is_same) {
            let (a, b) = (head.row(t), other.row(t));
            let mut total = Pack::splat(simd, R::ZERO);
            each_pack!(simd, at in a => {
                let [a, b] = [at.load(a), at.load(b)];
                let [high_a, high_b] = [a.max(floor), b.max(floor)];
                let (apart, off) = (high_a.ln() - high_b.ln(), a - b);
                total += at.new_or(off * apart, R::ZERO);
                // At the floor the logarithm is constant.
                let slope = |x: Pack<R, _>| off / x * ((x - floor) * R::from_f64(1e30)).min(R::ONE);
                let d = [apart + slope(high_a), Pack::splat(simd, R::ZERO) - apart - slope(high_b)];
                for (by, d) in by.iter_mut().zip(d) {
                    if let Some(by) = by {
                        let to = by.row_mut(t);
                        at.store(to, at.load(to) + d * scale);
                    }
                }
            });
            sum += total.sum().to_f64();
        }
        sum
    }
}

/// The least weight in a logarithm.
const FLOOR: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::golden::Case;
    use crate::model::{Model, NtmConfig, Workspace};

    /// The mean of D.
    fn divergence(of: Redundancy, trace: &Trace<f64>) -> Option<f64> {
        let mut sums = PairSums::new(of, apart);
        sums.add_steps(trace, 0..trace.steps());
        sums.mean(trace)
    }

    /// A trace of 3 read and 2 write heads on 6 rows, 4 steps, with these weightings, head by head, and its
    /// workspace.
    fn with(weightings: &[f64]) -> (Trace<f64>, Workspace<f64>) {
        let mut config = NtmConfig::new(3, 2);
        (config.rows, config.read_heads, config.write_heads) = (6, 3, 2);
        let machine = Model::<f64>::new(config, 1);
        let mut trace = Trace::new(&machine.config);
        trace.resize(4);
        let mut values = weightings.iter();
        for head in &mut trace.heads {
            let series = head.weighting.as_mut_slice().iter_mut();
            series.zip(&mut values).for_each(|(to, &from)| *to = from);
        }
        (trace, Workspace::new(&machine.config))
    }

    /// The gradients w.r.t. all weightings, head by head; zeros where there are none.
    fn gradients(trace: &Trace<f64>, workspace: &Workspace<f64>) -> Vec<f64> {
        let found = trace.heads.iter().zip(&workspace.upstream.weightings);
        let found = found.flat_map(|(head, by)| match by.width() {
            0 => vec![0.0; head.weighting.as_slice().len()],
            _ => by.as_slice().to_vec(),
        });
        found.collect()
    }

    /// Weightings of 5 heads, 4 steps and 6 rows that are distributions.
    fn distributions() -> Vec<f64> {
        let mut values = random_vector(7, 5 * 4 * 6);
        for row in values.chunks_mut(6) {
            row.iter_mut().for_each(|value| *value = value.exp());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|value| *value /= sum);
        }
        values
    }

    #[test]
    fn gradient_of_the_divergence() {
        // A weight below the floor, and one that both heads lack.
        let mut values = distributions();
        values[0] = 1e-14;
        (values[1], values[25], values[49]) = (0.0, 0.0, 0.0);
        let (trace, mut workspace) = with(&values);
        for of in [
            Redundancy::Read(0.7),
            Redundancy::Write(0.7),
            Redundancy::Both(0.7),
        ] {
            workspace.upstream.weightings.fill(Series::new(0));
            of.clear(&trace, &mut workspace.upstream);
            let mean = of.divergence_gradient(&trace, 0.5, &mut workspace.upstream);
            assert_eq!(mean, divergence(of, &trace));
            let found = gradients(&trace, &workspace);
            assert!(found.iter().all(|value| value.is_finite()));
            // Differences would cross the floor.
            let inside = |index: &usize| values[*index] > 1e-3;
            let places: Vec<usize> = (0..values.len()).filter(inside).collect();
            let chosen = |of: &[f64]| places.iter().map(|&at| of[at]).collect::<Vec<_>>();
            let loss = |some: &[f64]| {
                let mut all = values.clone();
                places
                    .iter()
                    .zip(some)
                    .for_each(|(&at, &value)| all[at] = value);
                -0.5 * 0.7 * divergence(of, &with(&all).0).unwrap()
            };
            assert_gradient("weightings", &chosen(&values), &chosen(&found), loss);
        }
        assert_eq!(divergence(Redundancy::Off, &trace), None);
    }

    #[test]
    fn divergence_matches_an_independent_program() {
        let case = Case::load("head_divergence");
        let mut of_heads = distributions();
        let values = by_head(&case.numbers("inputs", "A"));
        of_heads[..values.len()].copy_from_slice(&values);
        let (trace, mut workspace) = with(&of_heads);
        let of = Redundancy::Read(1.0);
        of.clear(&trace, &mut workspace.upstream);
        let mean = of.divergence_gradient(&trace, -1.0, &mut workspace.upstream);
        case.assert_close("outputs", "divergence", &[mean.unwrap()]);
        let found = gradients(&trace, &workspace);
        let off = found.iter().zip(by_head(&case.numbers("gradients", "A")));
        assert!(off.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) < 1e-10);
    }

    #[test]
    fn heads_that_share_no_row_have_a_finite_divergence() {
        let mut weightings = vec![0.0; 5 * 4 * 6];
        for (index, row) in weightings.chunks_mut(6).enumerate() {
            row[index / 4] = 1.0;
        }
        let (trace, mut workspace) = with(&weightings);
        let of = Redundancy::Write(1.0);
        of.clear(&trace, &mut workspace.upstream);
        let mean = of.divergence_gradient(&trace, 1.0, &mut workspace.upstream);
        assert!((mean.unwrap() - 2.0 * 1e12_f64.ln()).abs() < 1e-9);
        let found = gradients(&trace, &workspace);
        assert!(found.iter().all(|value| value.is_finite()));
        let alike = with(&[0.25; 5 * 4 * 6]).0;
        assert_eq!(divergence(Redundancy::Both(1.0), &alike), Some(0.0));
    }

    /// [steps, heads, rows] of 3 heads, 4 steps and 6 rows as the steps of one head after those of another.
    fn by_head(of: &[f64]) -> Vec<f64> {
        let places = (0..3).flat_map(|head| (0..4).map(move |t| (t * 3 + head) * 6));
        places.flat_map(|at| of[at..at + 6].to_vec()).collect()
    }

    #[test]
    fn gradient() {
        let values = random_vector(3, 5 * 4 * 6);
        let (trace, mut workspace) = with(&values);
        for penalty in [
            Redundancy::Read(0.7),
            Redundancy::Write(0.7),
            Redundancy::Both(0.7),
        ] {
            workspace.upstream.weightings.fill(Series::new(0));
            penalty.clear(&trace, &mut workspace.upstream);
            let mean = penalty.gradient(&trace, 0.5, &mut workspace.upstream);
            assert_eq!(mean, penalty.mean(&trace));
            let found = gradients(&trace, &workspace);
            let loss = |values: &[f64]| 0.5 * 0.7 * penalty.mean(&with(values).0).unwrap();
            assert_gradient("weightings", &values, &found, loss);
        }
    }

    #[test]
    fn values_and_gradient_match_an_independent_program() {
        let case = Case::load("redundancy");
        let mut of_heads = vec![0.0; 5 * 4 * 6];
        let values = by_head(&case.numbers("inputs", "A"));
        of_heads[..values.len()].copy_from_slice(&values);
        let (trace, mut workspace) = with(&of_heads);
        let penalty = Redundancy::Read(1.0);
        let steps = (0..4).map(|t| penalty.at(&trace, t).unwrap().total());
        case.assert_close("outputs", "penalties", &steps.collect::<Vec<_>>());
        penalty.clear(&trace, &mut workspace.upstream);
        let mean = penalty
            .gradient(&trace, 1.0, &mut workspace.upstream)
            .unwrap();
        case.assert_close("outputs", "penalty", &[mean]);
        let found = workspace.upstream.weightings.iter().take(3);
        let found: Vec<f64> = found.flat_map(|by| by.as_slice().to_vec()).collect();
        let off = found.iter().zip(by_head(&case.numbers("gradients", "A")));
        assert!(off.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) < 1e-10);
        assert_eq!(Redundancy::Off.mean(&trace), None);
    }

    #[test]
    fn mean_is_over_steps_and_pairs_match_the_matrix() {
        let (trace, _) = with(&random_vector(5, 5 * 4 * 6));
        for (penalty, heads) in [
            (Redundancy::Read(1.0), 0..3),
            (Redundancy::Write(1.0), 3..5),
            (Redundancy::Both(1.0), 0..5),
        ] {
            let steps = (0..4).map(|t| penalty.at(&trace, t).unwrap());
            let mean = steps.clone().map(Penalty::total).sum::<f64>() / 4.0;
            assert!((mean - penalty.mean(&trace).unwrap()).abs() < 1e-12);
            for (t, found) in steps.enumerate() {
                let mut expected = Penalty::default();
                for (i, j) in heads
                    .clone()
                    .flat_map(|i| heads.clone().map(move |j| (i, j)))
                {
                    let [a, b] = [i, j].map(|head: usize| trace.heads[head].weighting.row(t));
                    let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    assert!((overlap(a, b) - product).abs() < 1e-12);
                    if i == j {
                        expected.spread += (1.0 - product).powi(2);
                    } else {
                        expected.shared += product.powi(2);
                    }
                }
                assert!((found.spread - expected.spread).abs() < 1e-12);
                assert!((found.shared - expected.shared).abs() < 1e-12);
            }
        }
        assert_eq!(Redundancy::Off.at(&trace, 0), None);
    }

    #[test]
    fn disjoint_heads_have_no_penalty() {
        let mut weightings = vec![0.0; 5 * 4 * 6];
        for head in 0..5 {
            for t in 0..4 {
                weightings[(head * 4 + t) * 6 + head] = 1.0;
            }
        }
        let (trace, _) = with(&weightings);
        assert_eq!(Redundancy::Both(1.0).mean(&trace), Some(0.0));
    }
}
