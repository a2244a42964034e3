//! The end of a free run: a decoder is fed what it answered before, until it answers with the end symbol.
//!
//! A run has at least the steps of the target, so that each of them has a loss; answers after its end symbol count as wrong.

use std::ops::Range;

use crate::keys::Words;
use crate::math::{Real, symbol};
use crate::model::Trace;
use crate::task::Episode;

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The machine answered with the end symbol.
    EndSymbol,
    /// The answer had the length of the target, which has no end symbol.
    Length,
    /// The answer had twice the length of the target, without an end symbol.
    TwiceTheLength,
}

impl Words for Ending {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("end_symbol", Self::EndSymbol),
        ("length", Self::Length),
        ("twice_the_length", Self::TwiceTheLength),
    ];
}

impl Ending {
    /// Returns the end of a recorded run; `None` for a machine that is not fed what it answered.
    pub fn of<R: Real>(episode: &Episode, trace: &Trace<R>) -> Option<Self> {
        let ending = if Self::step(episode, trace).is_some() {
            Self::EndSymbol
        } else if episode.end_symbol().is_some() && episode.steps() >= episode.most_steps() {
            Self::TwiceTheLength
        } else {
            Self::Length
        };
        runs_freely(trace).then_some(ending)
    }

    /// Returns the step in which a free run stopped at its end symbol.
    pub fn step<R: Real>(episode: &Episode, trace: &Trace<R>) -> Option<usize> {
        runs_freely(trace).then(|| says_end(episode, trace, 0..episode.steps()))?
    }

    /// Returns the ending in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::EndSymbol => "stopped at the end symbol",
            Self::Length => "stopped at the length of the target",
            Self::TwiceTheLength => "stopped at twice the length of the target",
        }
    }
}

fn runs_freely<R: Real>(trace: &Trace<R>) -> bool {
    trace.has_feedback() && !trace.setting.is_forced
}

/// The first of these steps whose answer is the end symbol.
pub(super) fn says_end<R: Real>(
    episode: &Episode,
    trace: &Trace<R>,
    steps: Range<usize>,
) -> Option<usize> {
    let end = episode.end_symbol()?;
    let mut answer = steps.start.max(episode.source())..steps.end;
    answer.find(|&t| symbol(trace.logit.row(t)) == end)
}

/// True for a step after the one in which a run stopped.
pub(super) fn is_missing(stop: Option<usize>, t: usize) -> bool {
    stop.is_some_and(|stop| stop < t)
}

/// True where `channel` of a scored step is answered wrongly: [`Answer::is_wrong`](crate::math::Answer::is_wrong); after the
/// step in which the run stopped no answer is right.
pub(super) fn is_wrong<R: Real>(
    episode: &Episode,
    z: &[R],
    (t, channel): (usize, usize),
    stop: Option<usize>,
) -> bool {
    let target = if is_missing(stop, t) {
        0.0
    } else {
        episode.target[[t, channel]]
    };
    episode.answer.is_wrong(z, channel, target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EquationsConfig, Model, ModelConfig};
    use crate::task::{Copy, Task, Transduce};
    use crate::train::episode_input::forced;
    use crate::train::{Evaluator, Recording, Redundancy, score};

    /// A machine that always answers with this symbol.
    fn saying(config: impl Into<ModelConfig>, symbol: usize) -> Model<f32> {
        let mut model = Model::new(config, 1);
        model.params.slices_mut().flatten().for_each(|w| *w = 0.0);
        model.params.change(|name, mut tensor| {
            if ["output.bias", "z.bias"].contains(&name) {
                tensor[[0, symbol]] = 1.0;
            }
        });
        model
    }

    fn of_file(name: &str, task: &Task) -> EquationsConfig {
        let sizes = [("encoder.units", "4"), ("units", "4")];
        let sizes = &sizes[..if name == "bahdanau" { 2 } else { 1 }];
        EquationsConfig::included(name, [task.inputs(), task.outputs()], sizes).unwrap()
    }

    fn task() -> Task {
        Task::Transduce(Transduce {
            symbols: 3,
            length: 4..=4,
            ..Transduce::DEFAULT
        })
    }

    #[test]
    fn a_run_stops_at_its_end_symbol_but_not_before_the_end_of_the_target() {
        let task = task();
        let episode = task.episode(1, 0);
        assert_eq!((episode.source(), episode.steps()), (5, 10));
        assert_eq!((episode.end_symbol(), episode.most_steps()), (Some(3), 15));
        for name in ["bahdanau", "fixed_context"] {
            let config = of_file(name, &task);
            let early = Recording::new(&saying(config.clone(), 3), &task, 1, 0);
            assert_eq!(early.ending(), Some(Ending::EndSymbol));
            assert_eq!((early.stop, &early.episode), (Some(5), &episode));
            // The last symbol is the right one, but after the end.
            assert_eq!((early.score.wrong, early.score.scored), (5, 5));
            assert_eq!((0..10).map(|t| early.wrong_bits(t)).sum::<usize>(), 5);
            let never = Recording::new(&saying(config.clone(), 0), &task, 1, 0);
            assert_eq!(never.ending(), Some(Ending::TwiceTheLength));
            assert_eq!((never.trace.steps(), never.stop), (15, None));
            assert_eq!(never.episode, episode.clone().with_steps(15));
            assert_eq!(never.episode.phases.last().unwrap().name, "overrun");
            assert_eq!(never.episode.clone().with_steps(0), episode);
            assert_eq!(never.score.scored, 5);
            assert_eq!(never.loss[10..], [0.0; 5]);
            // A longer run costs nothing: only the steps of the target count.
            let evaluator = Evaluator {
                machine: &saying(config, 0),
                task: &task,
                redundancy: Redundancy::Off,
                head_divergence: Redundancy::Off,
                seed: 1,
                episodes: 1,
            };
            let found = evaluator.measure(1).mean;
            assert_eq!(found.bits_per_sequence, never.score.bits);
            assert_eq!(found.wrong_bits, never.score.wrong as f64);
        }
    }

    #[test]
    fn a_late_end_symbol_ends_the_run_there() {
        let task = task();
        let config = of_file("bahdanau", &task);
        let mut late = 0;
        for seed in 0..2000 {
            if late > 0 {
                break;
            }
            let mut machine = Model::<f32>::new(config.clone(), seed);
            let weights = machine.params.slices_mut().flatten();
            weights.for_each(|weight| *weight *= 4.0);
            let recording = Recording::new(&machine, &task, 2, seed);
            let steps = recording.trace.steps();
            match (recording.stop, recording.ending()) {
                (Some(stop), Some(Ending::EndSymbol)) => {
                    assert_eq!(steps, (stop + 1).max(10));
                    late += usize::from(stop > 9);
                }
                (None, Some(Ending::TwiceTheLength)) => assert_eq!(steps, 15),
                other => panic!("{other:?}"),
            }
            let again = recording.again(&machine).unwrap();
            assert!(again.trace == recording.trace);
            assert_eq!(again.episode, recording.episode);
        }
        assert!(late > 0);
    }

    #[test]
    fn copies_and_machines_without_feedback_stop_at_the_length_of_the_target() {
        let copy = Task::Copy(Copy::EXAMPLE);
        let machine = Model::new(of_file("bahdanau", &copy), 1);
        let recording = Recording::new(&machine, &copy, 1, 0);
        assert_eq!(recording.ending(), Some(Ending::Length));
        assert_eq!(recording.episode, copy.episode(1, 0));
        let task = task();
        let channels = [task.inputs(), task.outputs()];
        let plain = EquationsConfig::included("plain", channels, &[("units", "9")]).unwrap();
        let plain = saying(plain, 3);
        let recording = Recording::new(&plain, &task, 1, 0);
        assert_eq!((recording.ending(), recording.stop), (None, None));
        // It says the end symbol in every step, and once that is right.
        assert_eq!((recording.trace.steps(), recording.score.wrong), (10, 4));
        // Neither does a machine that is given the target.
        let machine = saying(of_file("bahdanau", &task), 3);
        let (episode, mut trace) = (task.episode(1, 0), Trace::new(&machine.config));
        machine.run(forced(&episode), crate::model::Draw::default(), &mut trace);
        assert_eq!(score(&episode, &trace, &mut [0.0; 10]).wrong, 4);
    }
}
