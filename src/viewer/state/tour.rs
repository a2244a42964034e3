//! The guided tour in two acts: stops that wait until the person has done something.

use super::{EpisodeRequest, Machine, RecordedEpisode, SameArc, Session, Target, own_request};
use crate::figure::{Stage, Stages};
use crate::model::dnc::{BACKWARD, FORWARD, READ_MODES};
use crate::model::{HeadTrace, Trace, peak};
use crate::player::Player;
use crate::task::{Episode, Phase, Task};

/// The progress of the tour.
#[derive(Clone, Debug, PartialEq)]
pub struct Tour {
    /// The stop, from 0.
    pub stop: usize,
    /// True when its task is done.
    pub met: bool,
    /// The views of earlier tour steps, to go back to.
    pub trail: Vec<TourState>,
    /// The view to show once its episode is recorded.
    pub coming: Option<Box<TourState>>,
    /// The episode before a bit of it was changed.
    pub before: Option<SameArc<RecordedEpisode>>,
    /// The mark in the input: step and channel.
    pub mark: Option<(usize, usize)>,
    /// The machine that it is of: copying, or one that manages its memory or accesses few rows of it.
    pub of: Act,
}

/// The view of a tour step.
#[derive(Clone, Debug, PartialEq)]
pub struct TourState {
    /// The stop.
    pub stop: usize,
    /// True when its task is done.
    pub met: bool,
    /// The position of the play-head.
    pub player: Player,
    /// The selected head, if the user selected it.
    pub chosen: Option<usize>,
    /// The pinned value.
    pub selected: Option<Target>,
    /// The mark in the input.
    pub mark: Option<(usize, usize)>,
    /// The episode.
    pub request: EpisodeRequest,
}

/// The machine of a tour step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Copy: heads find rows by where they are.
    Place,
    /// Associative recall: a head finds a row by its content.
    Content,
    /// A Differentiable Neural Computer, while one is on screen: it manages its memory.
    Manage,
    /// Sparse access memory, while one is on screen.
    Sparse,
    /// Any.
    Any,
}

/// The part of the window that a tour step points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourTarget {
    /// The button that plays.
    Play,
    /// The button that goes a step on.
    Step,
    /// The weighting of the selected head, over time.
    Weighting,
    /// The column of the stage that it is about.
    Stage,
    /// The memory.
    Memory,
    /// The input.
    Input,
    /// The output.
    Output,
}

/// The condition that completes a tour step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Playback.
    Play,
    /// A step on or back.
    Step,
    /// A click in a picture.
    Click,
    /// The arrival at this stage.
    Stage(Stage),
    /// The first step.
    First,
    /// A pinned bit of the answer.
    Answer,
    /// A step in which an answer is asked for.
    Asked,
    /// A bit of the input that is another.
    Flip,
    /// The start page.
    Start,
}

/// A tour step.
#[derive(Clone, Copy, Debug)]
pub struct TourStep {
    /// A few words.
    pub title: &'static str,
    /// The explanation.
    pub why: &'static str,
    /// The instruction for keyboard and mouse.
    pub keys: &'static str,
    /// The instruction for touch.
    pub touch: &'static str,
    /// The machine.
    pub act: Act,
    /// The highlighted part.
    pub place: TourTarget,
    /// The condition that completes it.
    pub wait: Wait,
}

const fn stop(
    (act, place, wait): (Act, TourTarget, Wait),
    title: &'static str,
    why: &'static str,
    keys: &'static str,
    touch: &'static str,
) -> TourStep {
    TourStep {
        title,
        why,
        keys,
        touch,
        act,
        place,
        wait,
    }
}

/// All stops.
pub const TOUR_STEPS: [TourStep; 20] = [
    stop(
        (Act::Place, TourTarget::Play, Wait::Play),
        "Play",
        "This machine is shown vectors of bits, one per step. When the input ends, it has to output them again \
         from memory.",
        "Press Space, or the highlighted button, to watch it.",
        "Press the button in the ring to watch it.",
    ),
    stop(
        (Act::Place, TourTarget::Step, Wait::Step),
        "Step by step",
        "Every step is recorded: you can move through them slowly, forwards and back.",
        "Press → or ←.",
        "Press the button in the ring, or the one that goes back.",
    ),
    stop(
        (Act::Place, TourTarget::Weighting, Wait::Click),
        "Where a head attends",
        "A head attends to rows of the memory.",
        "Rows run down, time runs to the right, and the bright trace is the row it attends to. Click the trace.",
        "Rows run down, and the bar in the ring is at the row it attends to. Touch it.",
    ),
    stop(
        (Act::Place, TourTarget::Stage, Wait::Stage(Stage::Gate)),
        "Gate: content or previous row",
        "How does it find the next row? By content, or from its weighting in the previous step. The gate g \
         decides: 1 uses the content, 0 the previous weighting.",
        "Press . until the stage is gate.",
        "Press the button below until the stage is gate.",
    ),
    stop(
        (Act::Place, TourTarget::Stage, Wait::Stage(Stage::Shift)),
        "Shift: move along the rows",
        "From there it can move by a row, forward or back. The shift s says how much weight moves each way: this \
         is how a head moves along memory.",
        "Press . again.",
        "Press the button below again.",
    ),
    stop(
        (Act::Place, TourTarget::Stage, Wait::Stage(Stage::Sharpen)),
        "Sharpen",
        "Every shift blurs a little: some weight stays on neighbouring rows. Raised to the power γ, 1 or more, the \
         large weights win.",
        "Press . again.",
        "Press the button below again.",
    ),
    stop(
        (Act::Manage, TourTarget::Stage, Wait::Stage(Stage::Usage)),
        "Usage: which rows are taken",
        "This machine keeps account of its rows. Writing to a row raises its usage u towards 1. Reading it can free it \
         again, by the free gate f.",
        "Press . until the stage is usage.",
        "Press the button below until the stage is usage.",
    ),
    stop(
        (Act::Manage, TourTarget::Stage, Wait::Stage(Stage::Allocate)),
        "Allocation: the next free row",
        "The rows are sorted by usage, and the least used one is offered for writing. The allocation gate decides \
         between it and a row found by content.",
        "Press . again.",
        "Press the button below again.",
    ),
    stop(
        (Act::Sparse, TourTarget::Stage, Wait::Stage(Stage::Age)),
        "Age: the row to write to next",
        "A step of this machine reads and writes only a few rows, so there can be a million. The picture has those of \
         this episode. The age of a row is the number of steps since its last access.",
        "Press . until the stage is age.",
        "Press the button below until the stage is age.",
    ),
    stop(
        (Act::Sparse, TourTarget::Stage, Wait::Stage(Stage::Weigh)),
        "Write: the oldest row, or those just read",
        "The interpolation gate γ decides: 0 writes to the oldest row, which is erased first, 1 to the rows that were \
         read in the step before.",
        "Press . again.",
        "Press the button below again.",
    ),
    stop(
        (Act::Place, TourTarget::Memory, Wait::Stage(Stage::Add)),
        "Erase and add",
        "Now it has its row. A write head first erases that row, then adds a vector: this is how a vector gets \
         into memory.",
        "Press . until the stage is add, and watch the row.",
        "Press the button below until the stage is add, and watch the row.",
    ),
    stop(
        (Act::Place, TourTarget::Memory, Wait::First),
        "Does the memory last?",
        "This is the memory at the end of the episode, a vector in every row that was written. What does the next \
         episode start from?",
        "Press Home to see how this one began.",
        "Press the first button below to see how this one began.",
    ),
    stop(
        (Act::Place, TourTarget::Output, Wait::Answer),
        "The answer",
        "The input has ended. The read head goes through the rows that were written, and the vectors come out in \
         the same order.",
        "Click a bit of the answer, in the right half of the output.",
        "Touch a bit of the answer that comes out.",
    ),
    stop(
        (Act::Manage, TourTarget::Stage, Wait::Stage(Stage::Links)),
        "Links: the order of writing",
        "Free rows can be anywhere, so this machine remembers which row was written after which: an arrow for each \
         link. From the row that it read last, a head can follow the links forward f or backward b.",
        "Press . until the stage is read links.",
        "Press the button below until the stage is read links.",
    ),
    stop(
        (Act::Manage, TourTarget::Stage, Wait::Stage(Stage::Weigh)),
        "Read modes: back, content, or forward",
        "Three weightings are mixed: backward, by content, and forward. The read modes π are their shares and sum to 1.",
        "Press . again.",
        "Press the button below again.",
    ),
    stop(
        (Act::Sparse, TourTarget::Stage, Wait::Stage(Stage::Weigh)),
        "Read: a few rows of many",
        "The read head finds the few rows that are most like its key, and weighs them by how alike they are. All other \
         rows have weight 0 and cost nothing.",
        "Press . until the stage is read weigh.",
        "Press the button below until the stage is read weigh.",
    ),
    stop(
        (Act::Content, TourTarget::Stage, Wait::Stage(Stage::Content)),
        "Another machine: find by content",
        "This one was shown items. Now one of them comes again, and the next one is the answer. So it has to find \
         a row by content. It has several read heads; the selected one finds it: it compares its key k with every row.",
        "Press . until the stage is content.",
        "Press the button below until the stage is content.",
    ),
    stop(
        (Act::Content, TourTarget::Weighting, Wait::Asked),
        "From there, row by row",
        "It has found the item, but the answer is the item after it: from here the head moves row by row again.",
        "Press → until the answer begins.",
        "Continue step by step until the answer begins.",
    ),
    stop(
        (Act::Content, TourTarget::Input, Wait::Flip),
        "Change one bit",
        "Is that really read from memory? Change the input and see.",
        "Press Space to flip the marked bit, or click another bit of this item. The machine runs again.",
        "Flip the first bit of this item: the machine runs again.",
    ),
    stop(
        (Act::Any, TourTarget::Stage, Wait::Start),
        "Other attention mechanisms",
        "A head may use another score, see only a window, sample one row at random, or have random weights with a \
         prior. The start page has machines for each, under Other attention mechanisms.",
        "Press W.",
        "Open the start page.",
    ),
];

impl TourStep {
    /// Returns the stage that it is about.
    pub fn about(&self) -> Option<Stage> {
        match self.wait {
            Wait::Stage(stage) => Some(stage),
            _ => None,
        }
    }

    /// True of a stop in the tour of this machine: each has stages that others lack.
    pub fn is_told(&self, of: Act) -> bool {
        match (self.act, self.about()) {
            (Act::Manage | Act::Sparse, _) => self.act == of,
            (Act::Place, Some(Stage::Gate | Stage::Shift | Stage::Sharpen)) => of == Act::Place,
            _ => true,
        }
    }
}

impl Act {
    /// The episode that it is told of, where there is a machine for it.
    pub fn request(self, session: &Session) -> Option<EpisodeRequest> {
        let name = match self {
            Self::Place => "copy",
            Self::Content => "recall_four_heads",
            Self::Manage | Self::Sparse | Self::Any => return None,
        };
        let machines = || session.machines.iter().enumerate();
        let is_alike = |machine: &Machine| {
            self.is_of(&machine.task) && machine.is_trained() && machine.ntm.config.heads() > 0
        };
        let (index, machine) = machines()
            .find(|(_, machine)| machine.name == name)
            .or_else(|| machines().find(|(_, machine)| is_alike(machine)))?;
        if self == Self::Place {
            return Some(own_request(index, machine));
        }
        Some(EpisodeRequest {
            size: 5,
            ..EpisodeRequest::of(index, machine, crate::train::UNSEEN_SEED)
        })
    }

    /// True of a task of which it can be told.
    pub fn is_of(self, task: &Task) -> bool {
        match self {
            Self::Place => matches!(task, Task::Copy(_)),
            Self::Content => matches!(task, Task::AssociativeRecall(_)),
            Self::Manage | Self::Sparse | Self::Any => true,
        }
    }
}

impl Tour {
    /// Returns the tour at the start of a step.
    pub fn new(stop: usize) -> Self {
        Self {
            stop: stop.min(TOUR_STEPS.len() - 1),
            met: false,
            trail: Vec::new(),
            coming: None,
            before: None,
            mark: None,
            of: Act::Place,
        }
    }

    /// Returns the tour step.
    pub fn at(&self) -> &'static TourStep {
        &TOUR_STEPS[self.stop]
    }

    /// True for a tour step about a stage that the machine does not have.
    pub fn lacks(&self, stages: &Stages) -> bool {
        let about = self.at().about();
        about.is_some_and(|about| stages.place(about, None).is_none())
    }

    /// Returns the first stage of the tour step: the last of the previous one, or just before its own.
    pub fn begins_at(&self, stages: &Stages, head: Option<&HeadTrace>) -> Option<usize> {
        let own = stages.place(self.at().about()?, head)?;
        let mut before = TOUR_STEPS[..self.stop].iter().rev();
        let before = before.find(|stop| stop.is_told(self.of));
        let before = before.and_then(TourStep::about);
        let ended = before.and_then(|before| stages.place(before, head));
        ended.or(own.checked_sub(1))
    }
}

/// Returns the number of a stop, from 1, and how many there are, in the tour of a machine.
pub fn numbered(stop: usize, of: Act) -> [usize; 2] {
    let told = TOUR_STEPS.iter().enumerate();
    let told = told.filter(|(_, stop)| stop.is_told(of));
    let places: Vec<_> = told.map(|(place, _)| place).collect();
    let before = places.iter().filter(|&&place| place < stop).count();
    [before + 1, places.len()]
}

/// The step and the read head whose weighting has the largest share from a single link, backward or forward.
pub fn best_link(trace: &Trace) -> Option<(usize, usize)> {
    let share = |head: &HeadTrace, step: usize| {
        let modes = head.series(READ_MODES)?.row(step);
        let ways = [(BACKWARD, modes[0]), (FORWARD, modes[2])].into_iter();
        let weights =
            ways.filter_map(|(way, mode)| Some(peak(head.series(way)?.row(step))?.1 * mode));
        weights.max_by(f32::total_cmp)
    };
    let heads = trace.heads.iter().enumerate();
    let all = heads.flat_map(|(index, head)| {
        (0..trace.steps()).filter_map(move |step| Some((step, index, share(head, step)?)))
    });
    let most = all.max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some((most.0, most.1))
}

/// The step and the read head of a query that finds most by content: where gate times the largest weight by content is
/// largest.
pub fn best_query(trace: &Trace, episode: &Episode) -> Option<(usize, usize)> {
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
