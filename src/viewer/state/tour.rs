//! The guided tour: ten stops, each waits until the person has done something.

use crate::figure::{Stage, Stages};
use crate::player::Player;

/// How far the tour is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tour {
    /// The stop, from 0.
    pub stop: usize,
    /// True when what it asks for was done.
    pub met: bool,
}

/// What a stop is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The button that plays.
    Play,
    /// The button that goes a step on.
    Step,
    /// The weighting of the head looked at, over time.
    Weighting,
    /// The comparison with every row, and what comes of it.
    Content,
    /// One of its later stages.
    Column(&'static str),
    /// The memory.
    Memory,
}

/// A stop of the tour.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// A few words.
    pub title: &'static str,
    /// What to do, and why.
    pub ask: &'static str,
    /// What is lit.
    pub place: Place,
}

/// All stops.
pub const STOPS: [Stop; 10] = [
    Stop {
        title: "Play",
        ask: "The machine sees its input one step at a time, then has to answer from memory. Press Space, or this button, to watch it.",
        place: Place::Play,
    },
    Stop {
        title: "Step by step",
        ask: "The whole episode is recorded: you can go through it as slowly as you like, and back. Press → or ←.",
        place: Place::Step,
    },
    Stop {
        title: "What a weighting is",
        ask: "Memory rows run down, time runs to the right, the trace is where this head attends. Click in this picture, on the trace.",
        place: Place::Weighting,
    },
    Stop {
        title: "Content: find by what is there",
        ask: "Within a step, a head first compares its key k with every row. The strength β says how much the best match counts. Press . for the stages, until content.",
        place: Place::Content,
    },
    Stop {
        title: "Gate: what is there, or where it was",
        ask: "The gate g mixes: 1 takes the match, 0 keeps the weighting of the step before. Press . again.",
        place: Place::Column("gate"),
    },
    Stop {
        title: "Shift: move along the rows",
        ask: "The shift s says how much of it moves a row back, stays, or moves a row on: this is how a head walks through memory. Press . again.",
        place: Place::Column("shift"),
    },
    Stop {
        title: "Sharpen",
        ask: "Every shift blurs a little. The power γ, 1 or more, makes the weighting sharp again. Press . again.",
        place: Place::Column("sharpen"),
    },
    Stop {
        title: "Erase and add",
        ask: "Now the heads read, and a write head erases the rows it attends to and adds a vector to them. Press . until add, and watch the memory.",
        place: Place::Memory,
    },
    Stop {
        title: "Does the memory last?",
        ask: "This is the memory at the end of the episode. What will the next one start from? Press Home, to see how this one began.",
        place: Place::Memory,
    },
    Stop {
        title: "Other ways to attend",
        ask: "A head may score its key otherwise, look through a window, draw one row by chance, or have random weights with a prior. The start page has machines for each, under Other ways to attend. Press W.",
        place: Place::Content,
    },
];

impl Tour {
    /// The stop itself.
    pub fn at(self) -> &'static Stop {
        &STOPS[self.stop.min(STOPS.len() - 1)]
    }

    /// True of a stop about a stage that a machine does not have.
    pub fn lacks(self, stages: &Stages) -> bool {
        let about = match self.stop {
            3 => Stage::Content,
            4 => Stage::Gate,
            5 => Stage::Shift,
            6 => Stage::Sharpen,
            _ => return false,
        };
        stages.place(about, None).is_none()
    }

    /// The stage that a stop begins at, where it is about one.
    fn before(self) -> Option<Stage> {
        match self.stop {
            3 => Some(Stage::Controller),
            4 => Some(Stage::Content),
            5 => Some(Stage::Gate),
            6 => Some(Stage::Shift),
            7 => Some(Stage::Sharpen),
            _ => None,
        }
    }

    /// Sets the scene.
    pub fn prepare(self, player: &mut Player, stages: &Stages) {
        player.pause();
        match (
            self.stop,
            self.before().and_then(|stage| stages.place(stage, None)),
        ) {
            (0, _) => {
                player.whole();
                player.first();
            }
            (8, _) => {
                player.whole();
                player.last();
            }
            (_, Some(stage)) => {
                let inside = !player.whole_steps() && player.stage() == stage;
                if !inside {
                    // Somewhere in the input, where heads have something to do.
                    player.seek((player.steps() / 4).max(1));
                    player.seek_stage(stage);
                }
            }
            _ => {
                player.whole();
                player.seek(player.steps() / 4);
            }
        }
    }
}
