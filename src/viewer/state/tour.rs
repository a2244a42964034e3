//! The guided tour in two acts: stops that wait until the person has done something.

use std::sync::Arc;

use super::episode::Wish;
use super::session::{Session, own_wish};
use super::target::Target;
use crate::figure::{Stage, Stages};
use crate::model::{HeadTrace, Trace, peak};
use crate::player::Player;
use crate::task::{Episode, Phase, Task};
use crate::viewer::files::Shown;

/// How far the tour is.
#[derive(Clone, Debug, PartialEq)]
pub struct Tour {
    /// The stop, from 0.
    pub stop: usize,
    /// True when what it asks for was done.
    pub met: bool,
    /// What the stops before showed when they were left, to go back to.
    pub trail: Vec<Scene>,
    /// What is to be shown once its episode is there.
    pub coming: Option<Scene>,
    /// The episode before a bit of it was changed.
    pub before: Option<Recorded>,
}

/// An episode, as it was.
#[derive(Clone, Debug)]
pub struct Recorded(pub Arc<Shown>);

impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What a stop shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The stop.
    pub stop: usize,
    /// True when what it asks for was done.
    pub met: bool,
    /// Where the play-head is.
    pub player: Player,
    /// The head looked at, if it was chosen.
    pub chosen: Option<usize>,
    /// What is kept in view.
    pub selected: Option<Target>,
    /// The mark in the input.
    pub mark: Option<(usize, usize)>,
    /// The episode.
    pub wish: Wish,
}

/// The machine that a stop is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Copy: heads find rows by where they are.
    Place,
    /// Associative recall: a head finds a row by what is there.
    Content,
    /// Any.
    Any,
}

/// What a stop points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The button that plays.
    Play,
    /// The button that goes a step on.
    Step,
    /// The weighting of the head looked at, over time.
    Weighting,
    /// The column of the stage that it is about.
    Stage,
    /// The memory.
    Memory,
    /// What the machine is given.
    Input,
    /// What it answers.
    Output,
}

/// What a stop waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// That it plays.
    Play,
    /// A step on or back.
    Step,
    /// A click in a picture.
    Click,
    /// That the stage that it is about has come.
    Stage,
    /// The first step.
    First,
    /// A bit of the answer that is kept in view.
    Answer,
    /// A step in which an answer is asked for.
    Asked,
    /// A bit of the input that is another.
    Flip,
    /// The start page.
    Start,
}

/// A stop of the tour.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// A few words.
    pub title: &'static str,
    /// What is to be understood.
    pub why: &'static str,
    /// What to do with keys and pointer.
    pub keys: &'static str,
    /// What to do with a finger.
    pub touch: &'static str,
    /// Of which machine.
    pub act: Act,
    /// What is lit.
    pub place: Place,
    /// What it waits for.
    pub wait: Wait,
    /// The stage that it is about.
    about: Option<Stage>,
}

const fn stop(
    act: Act,
    (place, wait): (Place, Wait),
    title: &'static str,
    [why, keys, touch]: [&'static str; 3],
) -> Stop {
    Stop {
        title,
        why,
        keys,
        touch,
        act,
        place,
        wait,
        about: None,
    }
}

const fn stage(
    act: Act,
    (place, about): (Place, Stage),
    title: &'static str,
    ask: [&'static str; 3],
) -> Stop {
    Stop {
        about: Some(about),
        ..stop(act, (place, Wait::Stage), title, ask)
    }
}

/// All stops.
pub const STOPS: [Stop; 13] = [
    stop(
        Act::Place,
        (Place::Play, Wait::Play),
        "Play",
        [
            "This machine is shown vectors of bits, one in a step. Then the input ends, and it has to give them back from \
             memory.",
            "Press Space, or this button, to watch it.",
            "Press the button in the ring to watch it.",
        ],
    ),
    stop(
        Act::Place,
        (Place::Step, Wait::Step),
        "Step by step",
        [
            "All of it is recorded: you can go through it as slowly as you like, and back.",
            "Press → or ←.",
            "Press the button in the ring, or the one that goes back.",
        ],
    ),
    stop(
        Act::Place,
        (Place::Weighting, Wait::Click),
        "Where a head looks",
        [
            "A head looks at the rows of the memory.",
            "Rows run down, time runs to the right, and the trace is the row where it looks. Click on the trace.",
            "Rows run down, and the bar in the ring is at the row where it looks. Touch it.",
        ],
    ),
    stage(
        Act::Place,
        (Place::Stage, Stage::Gate),
        "Gate: stay with where it was",
        [
            "How does it find the next row? It has a choice: look for what is in a row, or start from the row of the step \
             before. The gate g decides: 1 looks for what is there, 0 starts from where it was.",
            "Press the . key until gate.",
            "Press Next stage until gate.",
        ],
    ),
    stage(
        Act::Place,
        (Place::Stage, Stage::Shift),
        "Shift: move along the rows",
        [
            "From there it can move by a row, back or on. The shift s says how much of it goes where: this is how a head \
             walks through memory.",
            "Press . again.",
            "Press Next stage again.",
        ],
    ),
    stage(
        Act::Place,
        (Place::Stage, Stage::Sharpen),
        "Sharpen",
        [
            "Every shift blurs a little: some weight is left on the rows beside. Taken to the power γ, 1 or more, the large \
             weights win.",
            "Press . again.",
            "Press Next stage again.",
        ],
    ),
    stage(
        Act::Place,
        (Place::Memory, Stage::Add),
        "Erase and add",
        [
            "Now it knows its row. A write head first erases there, then adds a vector: that is how a vector gets into \
             memory.",
            "Press the . key until add, and watch the row.",
            "Press Next stage until add, and watch the row.",
        ],
    ),
    stop(
        Act::Place,
        (Place::Memory, Wait::First),
        "Does the memory last?",
        [
            "This is the memory at the end of the episode, a vector in every row that was written. What will the next \
             episode start from?",
            "Press Home, to see how this one began.",
            "Press the first button below, to see how this one began.",
        ],
    ),
    stop(
        Act::Place,
        (Place::Output, Wait::Answer),
        "The answer",
        [
            "Now nothing comes in any more. The read head walks over the rows that were written, and the vectors come out \
             in the same order.",
            "Click a bit of the answer, in the right half of the output.",
            "Touch a bit of the answer that comes out.",
        ],
    ),
    stage(
        Act::Content,
        (Place::Stage, Stage::Content),
        "Another machine: find by what is there",
        [
            "This one was shown items. Now one of them comes again, and the next one is the answer. So it has to find a row \
             by what is in it: the head compares its key k with every row.",
            "Press the . key until content.",
            "Press Next stage until content.",
        ],
    ),
    stop(
        Act::Content,
        (Place::Weighting, Wait::Asked),
        "From there, row by row",
        [
            "It has found the item, and wanted is what came after it: from here on the head moves row by row again.",
            "Press → until the answer begins.",
            "Go on, step by step, until the answer begins.",
        ],
    ),
    stop(
        Act::Content,
        (Place::Input, Wait::Flip),
        "Change one bit",
        [
            "Is that really read from memory? Change what was shown, and see.",
            "Press Space to flip the marked bit, or click another bit of this item. The machine runs once more.",
            "Flip the first bit of this item: the machine runs once more.",
        ],
    ),
    stop(
        Act::Any,
        (Place::Stage, Wait::Start),
        "Other ways to attend",
        [
            "A head may score its key otherwise, look through a window, draw one row by chance, or have random weights with \
             a prior. The start page has machines for each, under Other ways to attend.",
            "Press W.",
            "Have a look at it.",
        ],
    ),
];

impl Act {
    /// The episode that it is told of, where there is a machine for it.
    pub fn wish(self, session: &Session) -> Option<Wish> {
        // Of four read heads one finds the item by its content alone.
        let (name, size) = match self {
            Self::Place => ("copy", None),
            Self::Content => ("recall_four_heads", Some(5)),
            Self::Any => return None,
        };
        let machines = || session.machines.iter().enumerate();
        let named = machines().find(|(_, machine)| machine.name == name);
        let alike = || {
            machines().find(|(_, machine)| {
                self.is_of(&machine.task) && machine.is_trained() && machine.ntm.config.heads() > 0
            })
        };
        let (index, machine) = named.or_else(alike)?;
        Some(match size {
            Some(size) => Wish {
                size,
                ..Wish::of(index, machine, crate::train::UNSEEN_SEED)
            },
            None => own_wish(index, machine),
        })
    }

    /// True of a task of which it can be told.
    pub fn is_of(self, task: &Task) -> bool {
        match self {
            Self::Place => matches!(task, Task::Copy(_)),
            Self::Content => matches!(task, Task::AssociativeRecall(_)),
            Self::Any => true,
        }
    }
}

impl Tour {
    /// At a stop where nothing was done yet.
    pub fn new(stop: usize) -> Self {
        Self {
            stop: stop.min(STOPS.len() - 1),
            met: false,
            trail: Vec::new(),
            coming: None,
            before: None,
        }
    }

    /// The stop itself.
    pub fn at(&self) -> &'static Stop {
        &STOPS[self.stop.min(STOPS.len() - 1)]
    }

    /// The stage that the stop is about.
    pub fn about(&self) -> Option<Stage> {
        self.at().about
    }

    /// True of a stop about a stage that a machine does not have.
    pub fn lacks(&self, stages: &Stages) -> bool {
        let about = self.about();
        about.is_some_and(|about| stages.place(about, None).is_none())
    }

    /// The place of the stage that the stop begins at: where the one before ended, or just before its own.
    pub fn begins_at(&self, stages: &Stages, head: Option<&HeadTrace>) -> Option<usize> {
        let own = stages.place(self.about()?, head)?;
        let before = self.stop.checked_sub(1).and_then(|stop| STOPS[stop].about);
        let ended = before.and_then(|before| stages.place(before, head));
        ended.or(own.checked_sub(1))
    }
}

/// The step and the read head of a query that finds most by content: where gate times the largest weight by content is
/// largest.
pub fn found(trace: &Trace, episode: &Episode) -> Option<(usize, usize)> {
    let query = |phase: &&Phase| phase.name == "query";
    let query = episode.phases.iter().find(query)?;
    let heads = trace.heads.iter().enumerate();
    let readers = heads.filter(|(_, head)| !head.is_write() && head.content.width() > 0);
    let all = readers.flat_map(|(index, head)| {
        (query.start..query.end).filter_map(move |step| {
            let (_, content) = peak(head.content.row(step))?;
            let gate = head.gate.as_slice().get(step).copied().unwrap_or(1.0);
            Some((step, index, gate * content))
        })
    });
    let most = all.max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some((most.0, most.1))
}
