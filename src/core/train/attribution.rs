//! Attribution: gradients of the loss, or of one output bit, w.r.t. everything in a recorded episode.

use super::loss::logit_gradient;
use crate::math::Answer;
use crate::model::{Model, Number, Trace, Upstream};
use crate::task::Episode;

/// The number whose derivative is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// The loss of the answer, as [`super::Score::bits`]; without the auxiliary losses in the
    /// training of a machine with Bayesian or hard heads.
    Loss,
    /// The logit of one output bit: the logarithm of the odds that it is 1, in nats. Of a real value the value itself.
    Bit {
        /// The step, from 0.
        step: usize,
        /// The output channel, from 0.
        channel: usize,
    },
}

impl Quantity {
    /// Its unit, of answers of this form: of a value its own.
    pub fn unit(self, answer: Answer) -> &'static str {
        match self {
            Self::Loss => answer.measure(),
            Self::Bit { .. } if answer.is_real() => "value",
            Self::Bit { .. } => "nats",
        }
    }

    /// The derivative of this number by everything that `model` recorded in `trace` of this episode: see
    /// [`Model::derivatives`] for what is in the arrays, and what is absent. `None` where there is no such bit.
    pub fn derivatives<R: Number>(
        self,
        model: &Model<R>,
        episode: &Episode,
        trace: &Trace<R>,
    ) -> Option<Trace<R>> {
        let mut upstream = Upstream::new(&model.config);
        match self {
            Self::Loss => {
                let reported = R::from_f64(episode.answer.reported());
                logit_gradient(episode, trace, reported, &mut upstream.logit);
            }
            Self::Bit { step, channel } => {
                if step >= trace.steps() || channel >= trace.logit.width() {
                    return None;
                }
                upstream.logit.resize(trace.steps());
                upstream.logit.row_mut(step)[channel] = R::ONE;
            }
        }
        Some(model.derivatives(trace, upstream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::assert_gradient;
    use crate::model::{Draw, NtmConfig};
    use crate::task::{Copy, Task};
    use crate::train::score;

    fn recorded() -> (Model<f64>, Episode, Trace<f64>) {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 2..=2,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.controller.size) = (5, 3, 7);
        let (model, episode) = (Model::new(config, 3), task.episode(1, 0));
        let mut trace = Trace::new(&model.config);
        model.run(&episode, Draw::default(), &mut trace);
        (model, episode, trace)
    }

    #[test]
    fn loss_is_in_bits_and_a_bit_is_its_logit() {
        let (model, episode, trace) = recorded();
        let found = Quantity::Loss.derivatives(&model, &episode, &trace);
        let found = found.unwrap();
        let bits = |logits: &[f64]| {
            let mut moved = trace.clone();
            moved.logit.as_mut_slice().copy_from_slice(logits);
            let mut loss = vec![0.0; trace.steps()];
            score(&episode, &moved, &mut loss).bits
        };
        let (at, by) = (trace.logit.as_slice(), found.logit.as_slice());
        assert_gradient("logit", at, by, bits);

        let bit = Quantity::Bit {
            step: 3,
            channel: 1,
        };
        let found = bit.derivatives(&model, &episode, &trace).unwrap();
        let ones = found.logit.as_slice().iter().filter(|&&by| by != 0.0);
        assert_eq!((found.logit.row(3)[1], ones.count()), (1.0, 1));
        // Nothing that comes later matters for it.
        assert!(found.memory(4).iter().all(|&by| by == 0.0));
        assert!(found.memory(3).iter().any(|&by| by != 0.0));
        assert!(found.input.row(4).iter().all(|&by| by == 0.0));
    }

    #[test]
    fn there_is_no_bit_outside_the_episode() {
        let (model, episode, trace) = recorded();
        for (step, channel) in [(trace.steps(), 0), (0, 3)] {
            let bit = Quantity::Bit { step, channel };
            assert!(bit.derivatives(&model, &episode, &trace).is_none());
        }
    }
}
