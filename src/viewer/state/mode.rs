//! The mode of the window: at most one guided activity at a time.
//!
//! Training and a comparison are not modes: both go on behind other episodes. Start page and dialogs lie over any mode.

use super::Tour;
use super::{EpisodeRequest, Session};
use crate::train::Recording;

/// The activity in the window; [`super::State::enter`] leaves one for another.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// The window before its first episode.
    #[default]
    Starting,
    /// None: the user looks around.
    Free,
    /// The first episode, played by itself.
    Opening(Opening),
    /// The tour.
    Tour(Tour),
    /// An episode in which a machine fails.
    Failure(Failing),
    /// The input, edited at this step and channel.
    Editing(usize, usize),
}

/// An episode in which a machine fails.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// The machine, by its name.
    pub machine: &'static str,
    /// The length of the sequence.
    pub size: usize,
    /// Number of repeats, where the task has them.
    pub repeats: usize,
    /// Memory rows, if their number differs from that in training.
    pub rows: Option<usize>,
    /// A few words.
    pub title: &'static str,
    /// The task that the machine fails at.
    pub about: &'static str,
}

/// All of them.
pub const FAILURES: [Failure; 4] = [
    Failure {
        machine: "copy",
        size: 30,
        repeats: 1,
        rows: Some(24),
        title: "Memory too small",
        about: "The copy machine has to store 30 vectors in a memory of 24 rows.",
    },
    Failure {
        machine: "repeat_copy",
        size: 10,
        repeats: 20,
        rows: None,
        title: "Too many repeats",
        about: "The machine has to output 10 vectors 20 times. It was trained on at most 10 repeats.",
    },
    Failure {
        machine: "copy_feedforward",
        size: 120,
        repeats: 1,
        rows: None,
        title: "Head without a target row",
        about: "The machine with a feedforward controller copies 120 vectors, six times as many as in training.",
    },
    Failure {
        machine: "copy_lstm",
        size: 20,
        repeats: 1,
        rows: None,
        title: "No external memory",
        about: "A network without external memory has to keep 20 vectors in its own state.",
    },
];

/// The longest time until the first wrong bit, in seconds.
const SECONDS: f64 = 8.0;

impl Failure {
    /// Returns its key on the start page, where machines have keys too.
    pub fn key(&self) -> String {
        format!("failure: {}", self.title)
    }

    /// The episode, if there is the machine.
    pub fn request(&self, session: &Session) -> Option<EpisodeRequest> {
        let mut machines = session.machines.iter().enumerate();
        let (index, machine) = machines.find(|(_, machine)| machine.name == self.machine)?;
        let own = EpisodeRequest::of(index, machine, crate::train::UNSEEN_SEED);
        Some(EpisodeRequest {
            size: self.size,
            repeats: self.repeats,
            rows: self.rows.unwrap_or(own.rows),
            ..own
        })
    }
}

/// A failure that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Index into [`FAILURES`].
    pub which: usize,
    /// The first wrong bit, by step and channel, once the episode is on screen.
    pub wrong: Option<(usize, usize)>,
    /// True once the play-head has come there.
    pub met: bool,
}

impl Failing {
    /// Returns the failure itself.
    pub fn of(self) -> &'static Failure {
        &FAILURES[self.which.min(FAILURES.len() - 1)]
    }

    /// The speed, in steps per second, at which a step is reached in some seconds: `normal` times a power of two.
    pub fn speed(step: usize, normal: f64) -> f64 {
        let mut speed = normal;
        while step as f64 / speed > SECONDS && speed < crate::player::FASTEST {
            speed *= 2.0;
        }
        speed
    }
}

/// Duration of every stage of the first steps, in seconds.
const WALKED: [f64; 3] = [0.5, 0.4, 0.3];
/// Initial and final speed of the following steps, in steps per second.
const FASTER: [f64; 2] = [3.0, 10.0];
/// Duration of every stage of the first steps of the answer, in seconds: there a row is seen being read.
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
