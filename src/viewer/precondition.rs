//! Preconditions of commands, and the message where one is not met.

use super::state::{LiveTraining, Mode, SCALES, State, WindowLayout};

/// A precondition of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing.
    Nothing,
    /// An episode on screen.
    Episode,
    /// One that was recorded here.
    Recording,
    /// One of a task whose input can be changed by hand.
    Editable,
    /// One with interventions that are asked for.
    Branch,
    /// A step after this one.
    StepAfter,
    /// A step before it.
    StepBefore,
    /// A step after it in which something changes.
    EventAfter,
    /// One before it.
    EventBefore,
    /// A condition.
    Condition,
    /// A step in which it holds.
    Match,
    /// A condition, and a machine.
    Search,
    /// A wrong bit.
    WrongBit,
    /// A wrong bit of a machine that can run again.
    Wrong,
    /// A memory.
    Memory,
    /// A memory, or a weighting of a machine file.
    Weightings,
    /// Rows that are not on screen.
    SomeRows,
    /// Rows that are not on screen, or too low to be read.
    LowRows,
    /// Rows that are not on screen, or left out.
    RowsLeftOut,
    /// Steps that are not on screen.
    StepsLeftOut,
    /// A pinned value, or a memory.
    Value,
    /// A machine.
    Machine,
    /// A machine whose heads draw, with an episode of it on screen.
    Draws,
    /// A machine with heads.
    Heads,
    /// Something that was changed.
    Undo,
    /// Something that was undone.
    Redo,
    /// Another episode than the one kept.
    Another,
    /// A machine with a source, and an included Neural Turing Machine for its task.
    NtmBeside,
    /// An episode that is kept.
    Baseline,
    /// Two episodes.
    Pair,
    /// Two that differ, or a trace that differs from its equations.
    Difference,
    /// A larger size than the least.
    Larger,
    /// A smaller size than the largest.
    Smaller,
    /// Another size than the usual one.
    Resized,
    /// A machine that learns.
    Learning,
    /// A saved run with sequences to train.
    Unfinished,
    /// Something that was noticed of it.
    Finding,
    /// Several that learn side by side.
    Runs,
    /// A run that a killed program left.
    Recoverable,
    /// A job in progress that can be cancelled.
    UnderWay,
    /// Something that can be left.
    Clutter,
}

impl Precondition {
    /// The precondition that is checked before this one.
    fn before(self) -> Self {
        match self {
            Self::Recording
            | Self::Another
            | Self::WrongBit
            | Self::Memory
            | Self::Weightings
            | Self::Value
            | Self::StepAfter
            | Self::StepBefore
            | Self::EventAfter
            | Self::EventBefore => Self::Episode,
            Self::Draws | Self::Editable | Self::Branch | Self::Wrong => Self::Recording,
            Self::SomeRows | Self::LowRows | Self::RowsLeftOut => Self::Memory,
            Self::Match | Self::Search => Self::Condition,
            Self::Finding => Self::Learning,
            _ => Self::Nothing,
        }
    }
}

impl State {
    /// Returns the reason why a command is unavailable, if it is.
    pub fn lacks(&self, need: Precondition) -> Option<&'static str> {
        if need == Precondition::Nothing {
            return None;
        }
        self.lacks(need.before())
            .or_else(|| self.lacks_itself(need))
    }

    fn lacks_itself(&self, need: Precondition) -> Option<&'static str> {
        use Precondition as Need;
        const ALL_ROWS: &str = "all rows are on screen";
        const SAME: &str = "already in effect";
        let learning = self.learning.as_ref();
        let (scale, part) = (self.settings.look.scale, || self.part().is_some());
        let (step, steps) = (self.player.step(), self.player.steps());
        let has_heads = self.heads() > 0;
        let no_difference = match self.pair() {
            Some(_) => "A and B do not differ",
            None => "no comparison is open",
        };
        let (is_there, why) = match need {
            Need::Nothing => (true, ""),
            Need::Episode => (self.session.open.is_some(), "no episode is open"),
            Need::Recording => (!self.shows_file(), "a recorded trace cannot be changed"),
            Need::Editable => return self.session.lacks_editing(),
            Need::Branch => (!self.session.request.changes.is_empty(), "no value is set"),
            Need::StepAfter => (step + 1 < steps, "this is the last step"),
            Need::StepBefore => (step > 0, "this is the first step"),
            Need::EventAfter => (self.event(1).is_some(), "no event after this step"),
            Need::EventBefore => (self.event(-1).is_some(), "no event before this step"),
            Need::Condition => (!self.search.condition.is_empty(), "no condition is set"),
            Need::Match => (
                self.next_match(1).is_some(),
                "the condition holds in no step of this episode",
            ),
            Need::Search => return self.lacks(Need::Machine),
            Need::Wrong => (self.has_wrong(), "no bit of the answer is wrong"),
            Need::WrongBit => (self.next_wrong().is_some(), "no bit of the answer is wrong"),
            Need::Memory if self.quantities() > 0 => {
                (false, "a machine file has no heads or memory rows")
            }
            Need::Memory => (has_heads, "this machine has no memory"),
            Need::Weightings => (
                has_heads || self.quantities() > 0,
                "this machine has no weightings",
            ),
            Need::SomeRows => (part(), ALL_ROWS),
            Need::LowRows => (!self.fits(), ALL_ROWS),
            Need::RowsLeftOut => (self.view.touched_only || part(), ALL_ROWS),
            Need::StepsLeftOut => (self.view.step_zoom.is_part(), "all steps are on screen"),
            Need::Value => (has_heads || self.card().is_some(), "click a value first"),
            Need::Machine => (self.session.machine().is_some(), "no machine is loaded"),
            Need::Draws => (self.session.draws(), "no head of this machine samples"),
            Need::Heads => (
                self.session.first_with_heads().is_some() || has_heads,
                "no machine with heads is loaded",
            ),
            Need::Undo => (self.history.can(false), "nothing to undo"),
            Need::Redo => (self.history.can(true), "nothing to redo"),
            Need::Another => (
                self.comparing.baseline.is_none() || self.pair().is_some(),
                "no other episode was recorded since",
            ),
            Need::NtmBeside => return self.session.ntm_beside().err(),
            Need::Baseline => (self.comparing.baseline.is_some(), "no comparison is open"),
            Need::Pair => (self.pair().is_some(), "no comparison is open"),
            Need::Difference => (self.first_difference().is_some(), no_difference),
            Need::Larger => (scale != SCALES[0], SAME),
            Need::Smaller => (scale != SCALES[SCALES.len() - 1], SAME),
            Need::Resized => (scale != 100, SAME),
            Need::Learning => (learning.is_some(), "no training is open"),
            Need::Finding => {
                let has_findings = |all: &LiveTraining| !all.findings().is_empty();
                (learning.is_some_and(has_findings), "no findings yet")
            }
            Need::Unfinished => match learning.and_then(|all| all.read_only.as_ref()) {
                None => (false, "no saved run is open"),
                Some(saved) => (!saved.is_finished, "this run is finished"),
            },
            Need::Runs => (
                learning.is_some_and(|all| all.runs.len() > 1),
                "only one run is open",
            ),
            Need::Recoverable => (!self.recoverable.is_empty(), "no run to recover"),
            Need::UnderWay => (self.pending.busy, "nothing to cancel"),
            Need::Clutter => (self.can_escape(), "nothing to close"),
        };
        (!is_there).then_some(why)
    }

    /// True while something can be left.
    fn can_escape(&self) -> bool {
        self.view.selected.is_some()
            || self.welcome.shown
            || self.presenting
            || matches!(self.mode, Mode::Tour(_) | Mode::Failure(_))
            || self.layer().is_some()
            || self.pending.busy
            || self.layout() == WindowLayout::Compare
            || !self.toasts.shown.is_empty()
    }
}
