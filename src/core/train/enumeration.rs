//! Tests the gradient of sampling heads against the expectation over every row that they could have sampled.
//!
//! A machine so small that all choices can be listed: s says which of 3 rows every hard head drew in each of 3 steps.
//! The loss is E = Σ_s p(s)·(−ln p(y|s)), and the gradient that training sees of one episode is g(s), with the reward
//! λ_r·(ln p(y|s) − b) and λ_r = 1 (Xu et al. 2015, §4.1). Then Σ_s p(s)·g(s) = ∂E, whatever the baseline b.
#![cfg(test)]

use super::{logit_gradient, score};
use crate::math::check::{assert_gradient, random_vector};
use crate::model::attention::Weighting;
use crate::model::config::{ControllerKind, InitialMemory};
use crate::model::weighting::hard::{DRAW, baseline_of};
use crate::model::{Draw, Model, Noise, NoiseMode, NtmConfig, Params, Terms, Trace, Workspace};
use crate::task::{Copy, Episode, Task};
use std::f64::consts::LN_2;

const ROWS: usize = 3;
const STEPS: usize = 3;

/// Copies one vector of two bits: three steps. An answer is asked for in every step but the first.
fn asked() -> Episode {
    let task = Task::Copy(Copy {
        bits: 2,
        length: 1..=1,
    });
    let mut episode = task.episode(5, 0);
    assert_eq!(episode.steps(), STEPS);
    episode.mask[1] = 1.0;
    episode.target[[1, 1]] = 1.0;
    episode
}

/// A read and a write head, of which the first is hard, or both. Its weights are large: rows are drawn that are
/// anything but equally likely, and it matters much which.
fn machine(weightings: [Weighting; 2]) -> Model<f64> {
    let mut config = NtmConfig::new(3, 2);
    (config.rows, config.columns) = (ROWS, 2);
    (config.controller.kind, config.controller.size) = (ControllerKind::Feedforward, 3);
    config.initial_memory = InitialMemory::Learned;
    config.attention.weighting = weightings.to_vec().into();
    let mut machine = Model::new(config, 1);
    let values = random_vector(2, machine.params.shape().count() as usize);
    let values: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
    set(&mut machine.params, &values);
    machine
}

/// The weights, one after the other.
fn weights(params: &Params<f64>) -> Vec<f64> {
    let named = params.named();
    named
        .iter()
        .flat_map(|(_, tensor)| tensor.iter().copied())
        .collect()
}

fn set(params: &mut Params<f64>, values: &[f64]) {
    let mut next = values.iter();
    params.change(|_, mut tensor| {
        for (to, &from) in tensor.iter_mut().zip(&mut next) {
            *to = from;
        }
    });
}

/// The indices of the hard heads.
fn hard(trace: &Trace<f64>) -> Vec<usize> {
    let heads = 0..trace.heads.len();
    let is_hard = |&head: &usize| trace.heads[head].series(DRAW).is_some();
    heads.filter(is_hard).collect()
}

/// The middle of the part of (0, 1) that draws this row.
fn drawing(alpha: &[f64], row: usize) -> f64 {
    let before: f64 = alpha[..row].iter().sum();
    before + 0.5 * alpha[row]
}

/// A trace whose noise makes the hard heads choose these rows, step by step: their distributions depend on the rows
/// sampled before.
fn chosen(machine: &Model<f64>, episode: &Episode, choices: &[usize]) -> Trace<f64> {
    let draw = Draw {
        sampling: NoiseMode::Sampled,
        ..Draw::default()
    };
    let mut trace = Trace::new(&machine.config);
    machine.run(episode, draw, &mut trace);
    let heads = hard(&trace);
    for (t, rows) in choices.chunks(heads.len()).enumerate() {
        for (&head, &row) in heads.iter().zip(rows) {
            let head = &mut trace.heads[head];
            let u = drawing(head.distribution.row(t), row);
            if let Some(noise) = head.series_mut(DRAW) {
                noise[t] = u;
            }
        }
        let noise = trace.clone();
        machine.run(episode, Noise::Recorded(&noise), &mut trace);
        for (&head, &row) in heads.iter().zip(rows) {
            assert_eq!(trace.heads[head].weighting.row(t)[row], 1.0);
        }
    }
    trace
}

/// A noise for everything that can be drawn.
fn every_choice(machine: &Model<f64>, episode: &Episode) -> Vec<Trace<f64>> {
    let draws = STEPS * hard(&Trace::new(&machine.config)).len();
    let digits = |index: usize| (0..draws).map(move |place| index / ROWS.pow(place as u32) % ROWS);
    let all = (0..ROWS.pow(draws as u32)).map(|index| {
        let choices: Vec<usize> = digits(index).collect();
        chosen(machine, episode, &choices)
    });
    all.collect()
}

/// Returns p(s), the probability of the sampled rows.
fn probability(trace: &Trace<f64>) -> f64 {
    let heads = hard(trace).into_iter().map(|head| &trace.heads[head]);
    let of_head = heads.flat_map(|head| {
        let alpha = head.distribution.as_slice().iter();
        alpha.zip(head.weighting.as_slice())
    });
    let drawn = of_head.filter(|(_, weight)| **weight == 1.0);
    drawn.map(|(&alpha, _)| alpha).product()
}

/// ln p(y|s).
fn log_probability(trace: &Trace<f64>, episode: &Episode) -> f64 {
    -LN_2 * score(episode, trace, &mut [0.0; STEPS]).bits
}

/// E, over noise that goes through all choices.
fn expected(machine: &Model<f64>, episode: &Episode, all: &[Trace<f64>]) -> f64 {
    let mut trace = Trace::new(&machine.config);
    let losses = all.iter().map(|noise| {
        machine.run(episode, Noise::Recorded(noise), &mut trace);
        -probability(&trace) * log_probability(&trace, episode)
    });
    losses.sum()
}

/// Returns ln p(y|a) = ln Σ_s p(s)·p(y|s), over noise that goes through all choices.
fn log_marginal(all: &[Trace<f64>], episode: &Episode) -> f64 {
    let of = |trace| probability(trace) * log_probability(trace, episode).exp();
    all.iter().map(of).sum::<f64>().ln()
}

/// The backward pass of recorded episodes, one after the other, with scratch space allocated once.
struct Learner<'a> {
    machine: &'a Model<f64>,
    episode: &'a Episode,
    /// The moving baseline of the reward; `None` for the straight-through gradient.
    baseline: Option<f64>,
    /// log p(y|s) of another sample of the same input, the baseline in place of the moving one.
    other: Option<f64>,
    workspace: Workspace<f64>,
    gradient: Params<f64>,
}

impl<'a> Learner<'a> {
    fn new(machine: &'a Model<f64>, episode: &'a Episode, baseline: Option<f64>) -> Self {
        Self {
            machine,
            episode,
            baseline,
            other: None,
            workspace: Workspace::new(&machine.config),
            gradient: Params::zeros(&machine.config),
        }
    }

    /// g(s).
    fn gradient(&mut self, trace: &Trace<f64>) -> Vec<f64> {
        let upstream = &mut self.workspace.upstream;
        logit_gradient(self.episode, trace, 1.0, &mut upstream.logit);
        upstream.terms = Terms {
            reward: self.baseline.map_or(0.0, |baseline| {
                log_probability(trace, self.episode) - baseline_of(self.other.into_iter(), baseline)
            }),
            straight_through: self.baseline.is_none(),
            ..Terms::default()
        };
        self.machine.backward(
            std::slice::from_ref(trace),
            std::slice::from_mut(&mut self.workspace),
            &mut self.gradient,
        );
        weights(&self.gradient)
    }
}

/// Σ_s p(s)·g(s).
fn exact(machine: &Model<f64>, episode: &Episode, baseline: Option<f64>) -> Vec<f64> {
    let mut learner = Learner::new(machine, episode, baseline);
    let mut sum = vec![0.0; machine.params.shape().count() as usize];
    for trace in every_choice(machine, episode) {
        let p = probability(&trace);
        for (sum, g) in sum.iter_mut().zip(learner.gradient(&trace)) {
            *sum += p * g;
        }
    }
    sum
}

const MACHINES: [[Weighting; 2]; 3] = [
    [Weighting::Hard, Weighting::Soft],
    [Weighting::Soft, Weighting::Hard],
    [Weighting::Hard, Weighting::Hard],
];

#[test]
fn enumeration_covers_every_choice() {
    for (weightings, count) in MACHINES.into_iter().zip([27, 27, 729]) {
        let (machine, episode) = (machine(weightings), asked());
        let all = every_choice(&machine, &episode);
        assert_eq!(all.len(), count);
        let probabilities: Vec<f64> = all.iter().map(probability).collect();
        let sum: f64 = probabilities.iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        // It matters what is drawn, and it is not always the same.
        let most = probabilities.iter().fold(0.0, |most, &p| p.max(most));
        assert!(most < 0.9, "{most}");
        let answers = all.iter().map(|trace| log_probability(trace, &episode));
        let (low, high) = answers.fold((0.0_f64, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        assert!(high - low > 0.1, "{low} to {high}");
    }
}

/// Σ_s p(s)·g(s) is the derivative of E to 1e-6 of its scale, in every weight, with any baseline.
#[test]
fn hard_gradient_equals_gradient_of_the_expectation() {
    for weightings in MACHINES {
        let (machine, episode) = (machine(weightings), asked());
        let all = every_choice(&machine, &episode);
        for baseline in [0.0, -1.7] {
            let found = exact(&machine, &episode, Some(baseline));
            let mut moved = machine.clone();
            let cell = std::cell::RefCell::new(&mut moved);
            assert_gradient("E", &weights(&machine.params), &found, |values| {
                let mut moved = cell.borrow_mut();
                set(&mut moved.params, values);
                expected(&moved, &episode, &all)
            });
        }
    }
}

/// The number of sampled episodes for the mean gradient.
const EPISODES: u64 = 40_000;

/// The mean gradient over 40,000 drawn episodes is that of the expectation, within four standard errors in every
/// weight. Where it is furthest from it, with the standard error of the mean there, and the largest gradient of any weight:
///
/// | hard | largest bias | standard error | largest gradient |
/// |---|---|---|---|
/// | the read head | 0.0100 | 0.0043 | 1.09 |
/// | the write head | 0.0043 | 0.0081 | 1.08 |
/// | both | 0.0385 | 0.0288 | 0.99 |
#[test]
fn mean_sampled_gradient_equals_gradient_of_the_expectation() {
    let stated = [(0.0100, 0.0043), (0.0043, 0.0081), (0.0385, 0.0288)];
    for (weightings, (largest_bias, its_error)) in MACHINES.into_iter().zip(stated) {
        let (machine, episode) = (machine(weightings), asked());
        // The mean of ln p(y|s): the moving baseline stands about there.
        let baseline = -expected(&machine, &episode, &every_choice(&machine, &episode));
        let exact = exact(&machine, &episode, Some(baseline));
        let mut learner = Learner::new(&machine, &episode, Some(baseline));
        let mut trace = Trace::new(&machine.config);
        let (mut sum, mut squares) = (vec![0.0; exact.len()], vec![0.0; exact.len()]);
        for index in 0..EPISODES {
            let draw = Draw {
                sampling: NoiseMode::Sampled,
                ..Draw::of(7, index)
            };
            machine.run(&episode, draw, &mut trace);
            let all = learner.gradient(&trace).into_iter().zip(&exact);
            for ((sum, square), (found, exact)) in sum.iter_mut().zip(&mut squares).zip(all) {
                let off = found - exact;
                *sum += off;
                *square += off * off;
            }
        }
        let (count, mut furthest) = (EPISODES as f64, (0.0, 0.0));
        for (weight, (sum, square)) in sum.iter().zip(&squares).enumerate() {
            let bias = (sum / count).abs();
            let error = ((square / count - bias * bias).max(0.0) / count).sqrt();
            let is_close = bias <= 4.0 * error + 1e-12;
            assert!(
                is_close,
                "weight {weight}: {bias} off, standard error {error}"
            );
            if bias > furthest.0 {
                furthest = (bias, error);
            }
        }
        let (bias, error) = furthest;
        assert!(
            bias <= largest_bias && error <= its_error,
            "{weightings:?}: {bias} off, standard error {error}"
        );
    }
}

/// Two samples of an input, each the baseline of the other: Σ_s Σ_s' p(s)·p(s')·(g(s) + g(s'))/2 is the derivative of E.
#[test]
fn leave_one_out_gradient_equals_gradient_of_the_expectation() {
    for weightings in &MACHINES[..2] {
        let (machine, episode) = (machine(*weightings), asked());
        let all = every_choice(&machine, &episode);
        let wanted = exact(&machine, &episode, Some(0.0));
        // A moving baseline that is not a number: only the other sample counts.
        let mut learner = Learner::new(&machine, &episode, Some(f64::NAN));
        let mut sum = vec![0.0; wanted.len()];
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            for (own, other) in [(a, b), (b, a)] {
                learner.other = Some(log_probability(other, &episode));
                let weight = 0.5 * probability(a) * probability(b);
                for (sum, g) in sum.iter_mut().zip(learner.gradient(own)) {
                    *sum += weight * g;
                }
            }
        }
        let scale = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (found, wanted) in sum.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-9 * scale, "{found}, {wanted}");
        }
    }
}

/// The straight-through gradient is biased. Of its expectation Σ_s p(s)·g(s) compared with ∂E: the distance, in lengths
/// of ∂E, and the cosine of the angle. Beside it the gap between L_s = Σ_s p(s)·ln p(y|s) = −E, of which −∂E is the
/// gradient, and ln p(y|a) = ln Σ_s p(s)·p(y|s), which L_s never exceeds, in nats:
///
/// | hard | bias | cosine | L_s | ln p(y\|a) | gap |
/// |---|---|---|---|---|---|
/// | the read head | 0.1409 | 0.9925 | -5.1885 | -4.2674 | 0.9211 |
/// | the write head | 0.0311 | 0.9995 | -5.3245 | -5.1146 | 0.2099 |
/// | both | 0.1551 | 0.9901 | -5.2672 | -3.9224 | 1.3448 |
#[test]
fn straight_through_bias_and_gap_of_the_bound() {
    let stated = [
        (0.1409, 0.9925, 0.9211),
        (0.0311, 0.9995, 0.2099),
        (0.1551, 0.9901, 1.3448),
    ];
    for (weightings, stated) in MACHINES.into_iter().zip(stated) {
        let (machine, episode) = (machine(weightings), asked());
        let all = every_choice(&machine, &episode);
        let bound = -expected(&machine, &episode, &all);
        let marginal = log_marginal(&all, &episode);
        let unbiased = exact(&machine, &episode, Some(bound));
        let found = exact(&machine, &episode, None);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let length = |a: &[f64]| dot(a, a).sqrt();
        let off: Vec<f64> = found.iter().zip(&unbiased).map(|(a, b)| a - b).collect();
        let bias = length(&off) / length(&unbiased);
        let cosine = dot(&found, &unbiased) / (length(&found) * length(&unbiased));
        let gap = marginal - bound;
        println!(
            "{weightings:?}: bias {bias:.4}, cosine {cosine:.4}, L_s {bound:.4}, ln p(y|a) {marginal:.4}, gap {gap:.4}"
        );
        assert!(gap > 0.0, "{bound} above {marginal}");
        for (found, stated) in [(bias, stated.0), (cosine, stated.1), (gap, stated.2)] {
            assert!((found - stated).abs() < 1e-4, "{found} instead of {stated}");
        }
    }
}
