//! Loss of the answer, from logits: cross-entropy in bits per sequence (paper §4), or the mean squared error of real values.

use super::aux_losses::{AuxLosses, weight_losses};
use super::ending::{Ending, is_wrong};
use crate::math::kernel::kernel;
use crate::math::{Answer, Real, Series};
use crate::model::Trace;
use crate::task::Episode;

/// The score of one episode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Summed cross-entropy over the answer, in bits: the paper's metric. Of real values the mean squared error.
    pub bits: f64,
    /// Output bits on the wrong side of one half, or wrong symbols, or values beyond the tolerance.
    pub wrong: usize,
    /// Output bits, symbols or values that were scored.
    pub scored: usize,
    /// The auxiliary losses.
    pub aux: AuxLosses,
}

impl Score {
    /// ln p(y|x), or ln p(y|x, s) where rows were sampled: the log-probability of the answer, in nats. Of real values the
    /// negative mean squared error, their log-probability but for constants.
    pub fn log_probability(&self, answer: Answer) -> f64 {
        -self.bits / answer.reported()
    }
}

/// Scores a recorded episode and writes the loss of every step to `loss` ([T]): in bits, or the part of the step in the mean
/// squared error.
pub fn score<R: Real>(episode: &Episode, trace: &Trace<R>, loss: &mut [R]) -> Score {
    Score {
        aux: weight_losses(trace),
        ..answers(episode, trace, loss)
    }
}

/// [`score`] of the answers alone.
pub(super) fn answers<R: Real>(episode: &Episode, trace: &Trace<R>, loss: &mut [R]) -> Score {
    let mut total = Score {
        scored: episode.scored_bits(),
        ..Score::default()
    };
    step_losses(episode, trace, loss);
    let weight = episode.answer.reported() * episode.answer.weight(total.scored);
    let stop = Ending::step(episode, trace);
    for (t, loss) in loss.iter_mut().enumerate() {
        if episode.mask[t] > 0.0 {
            let z = trace.logit.row(t);
            let channels = 0..episode.target.ncols();
            let wrong = channels.filter(|&channel| is_wrong(episode, z, (t, channel), stop));
            total.wrong += wrong.count();
        }
        *loss *= R::from_f64(weight);
        total.bits += loss.to_f64();
    }
    total
}

kernel! {
    /// The loss of every step, in nats or squared errors: summed over the outputs where the step is scored, else 0.
    fn step_losses<'a, R>(simd; episode: &'a Episode, trace: &'a Trace<R>, loss: &'a mut [R]) {
        for (t, loss) in loss.iter_mut().enumerate() {
            *loss = R::ZERO;
            if episode.mask[t] > 0.0 {
                *loss = episode.answer.loss(simd, trace.logit.row(t), episode.target.row(t).into_iter());
            }
        }
    }
}

/// Writes the gradient of `scale` × loss w.r.t. the logits, [T, Y]: the summed cross-entropy in nats, or the mean squared
/// error.
pub fn logit_gradient<R: Real>(
    episode: &Episode,
    trace: &Trace<R>,
    scale: R,
    gradient: &mut Series<R>,
) {
    gradient.resize(trace.steps());
    let answer = episode.answer;
    let scale = scale * R::from_f64(answer.slope() * answer.weight(episode.scored_bits()));
    for t in 0..trace.steps() {
        let scale = scale * R::from_f64(f64::from(episode.mask[t]));
        let rows = trace.output.row(t).iter().zip(episode.target.row(t));
        for (gradient, (&y, &target)) in gradient.row_mut(t).iter_mut().zip(rows) {
            *gradient = scale * (y - R::from_f64(f64::from(target)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::model::config::{ControllerConfig, ControllerKind};
    use crate::model::{
        DncConfig, Draw, EquationsConfig, Model, ModelConfig, NtmConfig, Params, SamConfig,
        Workspace,
    };
    use crate::task::{Episodes, HeldOut, Recorded, Task};
    use crate::train::episode_input::forced;
    use ndarray::Array2;
    use std::sync::Arc;

    /// Two episodes of 6 steps with real targets, the last 3 of which are scored; Y = 2.
    fn values() -> Task {
        let numbers = |seed, columns| {
            let numbers = random_vector(seed, 12 * columns).into_iter();
            let numbers = numbers.map(|x| 3.0 * x as f32).collect();
            Array2::from_shape_vec((12, columns), numbers).unwrap()
        };
        let mask = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0].repeat(2);
        let recorded = Recorded::new(numbers(1, 3), numbers(2, 2), mask, &[6, 6]).unwrap();
        let mut task = Episodes::NONE;
        (task.answer, task.held_out) = (Answer::VALUES, HeldOut::Last(1));
        Task::Episodes(task.with(Arc::new(recorded)).unwrap())
    }

    #[test]
    fn the_loss_of_values_is_the_mean_squared_error() {
        let task = values();
        let episode = task.episode(0, 0);
        let model = Model::<f64>::new(NtmConfig::new(3, 2), 1);
        let mut trace = Trace::new(&model.config);
        model.run(&episode, Draw::default(), &mut trace);
        assert_eq!(trace.output, trace.logit);
        let mut loss = [0.0; 6];
        let score = score(&episode, &trace, &mut loss);
        let errors = (3..6).flat_map(|t| {
            let rows = trace.output.row(t).iter().zip(episode.target.row(t));
            rows.map(|(y, target)| (y - f64::from(*target)).powi(2))
        });
        let wanted = errors.sum::<f64>() / 6.0;
        assert!((score.bits - wanted).abs() < 1e-12);
        assert!((loss.iter().sum::<f64>() - wanted).abs() < 1e-12);
        assert_eq!((loss[2], score.scored, score.wrong), (0.0, 6, 6));
        assert_eq!(score.log_probability(episode.answer), -score.bits);
        // Answering with the means of all targets, here of both episodes.
        let both = [task.training_episode(0, 0), episode.clone()].map(|one| one.target_means());
        let means = [0, 1].map(|channel| f64::midpoint(both[0][channel], both[1][channel]));
        let chance = episode.squared_error(&means);
        assert!((task.chance(&episode) - chance).abs() < 1e-12);
        assert_eq!(task.optimum(&episode), None);
    }

    #[test]
    fn gradients_of_the_squared_error_match_differences_for_every_kind_of_machine() {
        let episode = values().episode(0, 0);
        let controller = ControllerConfig {
            kind: ControllerKind::Lstm,
            size: 5,
            layers: 1,
        };
        let mut ntm = NtmConfig::new(3, 2);
        (ntm.rows, ntm.columns, ntm.controller) = (4, 3, controller);
        let mut dnc = DncConfig::new(3, 2);
        (dnc.rows, dnc.columns, dnc.controller) = (4, 3, controller);
        let mut sam = SamConfig::new(3, 2);
        (sam.rows, sam.columns, sam.controller) = (8, 3, controller);
        let of_file = |name, sizes| EquationsConfig::included(name, [3, 2], sizes).unwrap();
        let configs: [ModelConfig; 5] = [
            ntm.into(),
            dnc.into(),
            sam.into(),
            of_file("delta_rule", &[("keys", "3"), ("values", "3")]).into(),
            // The target is fed back.
            of_file("luong", &[("encoder.units", "4")]).into(),
        ];
        for (seed, config) in configs.into_iter().enumerate() {
            let scale = random_vector(9 + seed as u64, 1)[0];
            let model = Model::<f64>::new(config, seed as u64);
            let mut trace = Trace::new(&model.config);
            model.run(forced(&episode), Draw::default(), &mut trace);
            let mut gradient = Params::zeros(&model.config);
            let mut workspace = [Workspace::new(&model.config)];
            logit_gradient(&episode, &trace, scale, &mut workspace[0].upstream.logit);
            model.backward(&[trace], &mut workspace, &mut gradient);
            let flat =
                |params: &Params<f64>| params.slices().flatten().copied().collect::<Vec<_>>();
            let (at, by) = (flat(&model.params), flat(&gradient));
            assert!(by.iter().any(|by| by.abs() > 1e-3));
            assert_gradient(&format!("machine {seed}"), &at, &by, |weights| {
                let mut moved = Model::<f64>::new(model.config.clone(), 0);
                let all = moved.params.slices_mut().flatten().zip(weights);
                all.for_each(|(to, from)| *to = *from);
                let mut trace = Trace::new(&moved.config);
                moved.run(forced(&episode), Draw::default(), &mut trace);
                scale * answers(&episode, &trace, &mut [0.0; 6]).bits
            });
        }
    }
}
