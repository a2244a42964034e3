//! The opening: how the first episode of a session is played to whoever has not arranged the window yet.
//!
//! A script over the clock, nothing else: how fast every step is played, in the close-up. A few steps are walked through
//! stage by stage, then it goes faster and faster; the beginning of the answer is walked through again, then the rest of
//! the answer comes out. Whatever a person does ends it.

use crate::train::Recording;

/// Duration of every stage of the first steps, in seconds.
const WALKED: [f64; 3] = [0.5, 0.4, 0.3];
/// Initial and final speed of the following steps, in steps per second.
const FASTER: [f64; 2] = [3.0, 10.0];
/// The same of the first steps of the answer: there one sees a row being read.
const ANSWERED: [f64; 2] = [0.5, 0.3];
/// Speed of the rest of the answer, in steps per second.
const ANSWER: f64 = 4.0;

/// The opening of an episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    /// The first step in which an answer is asked for.
    answer: usize,
}

impl Opening {
    /// Returns the opening of an episode.
    pub fn of(recording: &Recording) -> Self {
        let asked = recording.episode.first_scored();
        Self {
            answer: asked.unwrap_or(recording.trace.steps()),
        }
    }

    /// Returns the speed in a step with this number of stages, in steps per second.
    pub fn speed(self, step: usize, stages: usize) -> f64 {
        let answered = step.checked_sub(self.answer);
        let walked = answered.and_then(|step| ANSWERED.get(step));
        if let Some(seconds) = walked.or(WALKED.get(step)) {
            return 1.0 / (seconds * stages.max(1) as f64);
        }
        if answered.is_some() {
            return ANSWER;
        }
        let between = self.answer.saturating_sub(WALKED.len()).max(1);
        let come = (step - WALKED.len()) as f64 / between as f64;
        let [first, last] = FASTER;
        first * (last / first).powf(come)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::Player;
    use crate::viewer::fixture::{config, recording};

    #[test]
    fn opening_slows_at_the_beginning_and_at_the_answer() {
        let opening = Opening { answer: 21 };
        let speeds: Vec<_> = (0..41).map(|step| opening.speed(step, 9)).collect();
        let mut player = Player::new(41, 9);
        for (step, &speed) in speeds.iter().enumerate() {
            player.set_speed(speed);
            assert!((player.speed() - speed).abs() < 1e-9);
            let walked = step < 3 || (21..23).contains(&step);
            assert_eq!(player.stage_by_stage(), walked, "step {step}");
        }
        assert!(speeds[..21].is_sorted());
        let seconds: f64 = speeds.iter().map(|speed| 1.0 / speed).sum();
        assert!((20.0..34.0).contains(&seconds), "{seconds} seconds");
    }

    #[test]
    fn opening_works_for_every_episode() {
        for answer in 0..9 {
            for step in 0..12 {
                for stages in 0..14 {
                    let speed = Opening { answer }.speed(step, stages);
                    assert!(speed.is_finite() && speed > 0.0);
                }
            }
        }
        let recording = recording(config(), 3, 1);
        let mask = &recording.episode.mask;
        assert!(mask[Opening::of(&recording).answer] > 0.0);
    }
}
