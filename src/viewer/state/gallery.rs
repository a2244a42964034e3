//! The gallery *Where machines fail*: episodes with wrong bits, as data.

use super::{EpisodeRequest, Session};

/// An episode in which a machine fails.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// The machine, by its name.
    pub machine: &'static str,
    /// The length of the sequence.
    pub size: usize,
    /// Number of repeats, where the task has them.
    pub repeats: usize,
    /// Memory rows, where not as many as in training.
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

/// The seconds in which it comes to its first wrong bit, at most.
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
