//! Where machines fail: episodes that go wrong, as data.

use super::episode::Wish;
use super::session::Session;

/// An episode in which a machine fails.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// The machine, by its name.
    pub machine: &'static str,
    /// The length of the sequence.
    pub size: usize,
    /// How often it is to be repeated, where the task has repeats.
    pub repeats: usize,
    /// Memory rows, where not as many as in training.
    pub rows: Option<usize>,
    /// A few words.
    pub title: &'static str,
    /// What is asked of it that it cannot do.
    pub about: &'static str,
}

/// All of them.
pub const FAILURES: [Failure; 4] = [
    Failure {
        machine: "copy",
        size: 30,
        repeats: 1,
        rows: Some(24),
        title: "A memory too small",
        about: "The machine that copies has to keep 30 vectors, and gets 24 rows to keep them on.",
    },
    Failure {
        machine: "repeat_copy",
        size: 10,
        repeats: 20,
        rows: None,
        title: "Told to repeat too often",
        about: "It has to give 10 vectors back 20 times. In training it was never told more than 10.",
    },
    Failure {
        machine: "copy_feedforward",
        size: 120,
        repeats: 1,
        rows: None,
        title: "A head with nowhere to be",
        about: "The machine with a feedforward controller copies 120 vectors, six times as many as in training.",
    },
    Failure {
        machine: "copy_lstm",
        size: 20,
        repeats: 1,
        rows: None,
        title: "No memory to look things up in",
        about: "A network without a memory has to carry 20 vectors in its own state, step by step.",
    },
];

/// The seconds in which it comes to its first wrong bit, at most.
const SECONDS: f64 = 8.0;

impl Failure {
    /// What it is called on the start page, where the pictures of machines are called as these are.
    pub fn key(&self) -> String {
        format!("failure: {}", self.title)
    }

    /// The episode, if there is the machine.
    pub fn wish(&self, session: &Session) -> Option<Wish> {
        let machines = &session.machines;
        let index = machines
            .iter()
            .position(|machine| machine.name == self.machine)?;
        let own = Wish::of(index, &machines[index], crate::train::UNSEEN_SEED);
        Some(Wish {
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
    /// Which of [`FAILURES`].
    pub which: usize,
    /// Its first wrong bit, by step and channel, once the episode is on screen.
    pub wrong: Option<(usize, usize)>,
    /// True once the play-head has come there.
    pub met: bool,
}

impl Failing {
    /// It itself.
    pub fn of(self) -> &'static Failure {
        &FAILURES[self.which.min(FAILURES.len() - 1)]
    }

    /// The speed, in steps per second, at which a step is reached in some seconds: this one or so many times twice as
    /// fast.
    pub fn speed(step: usize, normal: f64) -> f64 {
        let mut speed = normal;
        while step as f64 / speed > SECONDS && speed < crate::player::FASTEST {
            speed *= 2.0;
        }
        speed
    }
}
