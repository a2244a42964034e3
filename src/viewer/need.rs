//! What it takes to do something now, and what is said where that is not there.

use super::state::State;
use super::state::arrangement::Arrangement;
use super::state::episode::Open;
use super::state::settings::SCALES;

/// What it takes to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// An episode on screen.
    Episode,
    /// One that was recorded here.
    Recording,
    /// A step after this one.
    StepAfter,
    /// A step before it.
    StepBefore,
    /// A step after it in which something changes.
    EventAfter,
    /// One before it.
    EventBefore,
    /// A memory.
    Memory,
    /// Rows that are not on screen.
    SomeRows,
    /// The same, or rows too low to be read.
    LowRows,
    /// The same, or rows that are left out.
    RowsLeftOut,
    /// Steps that are not on screen.
    StepsLeftOut,
    /// Something kept in view, or a memory.
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
    /// An episode that is kept.
    Kept,
    /// Two episodes.
    Pair,
    /// Two that differ.
    Difference,
    /// A larger size than the least.
    Larger,
    /// A smaller size than the largest.
    Smaller,
    /// Another size than the usual one.
    Resized,
    /// A machine that learns.
    Learning,
    /// Something that was noticed of it.
    Finding,
    /// Several that learn side by side.
    Runs,
    /// Something under way that can be given up.
    UnderWay,
    /// Something that can be left.
    Clutter,
}

impl Need {
    /// What it takes before that.
    fn before(self) -> Self {
        match self {
            Self::Recording | Self::Another | Self::Memory | Self::Value => Self::Episode,
            Self::Draws => Self::Recording,
            Self::StepAfter | Self::StepBefore | Self::EventAfter | Self::EventBefore => {
                Self::Episode
            }
            Self::SomeRows | Self::LowRows | Self::RowsLeftOut => Self::Memory,
            Self::Difference => Self::Pair,
            Self::Finding => Self::Learning,
            _ => Self::Nothing,
        }
    }
}

impl State {
    /// Why something cannot be done now, if it cannot.
    pub fn lacks(&self, need: Need) -> Option<&'static str> {
        if need == Need::Nothing {
            return None;
        }
        self.lacks(need.before())
            .or_else(|| self.lacks_itself(need))
    }

    fn lacks_itself(&self, need: Need) -> Option<&'static str> {
        const ALL_ROWS: &str = "all rows are on screen";
        const SAME: &str = "nothing would change";
        let open = self.session.open.as_ref();
        let (scale, part) = (self.settings.look.scale, || self.part().is_some());
        let (step, steps) = (self.player.step(), self.player.steps());
        let (is_there, why) = match need {
            Need::Nothing => (true, ""),
            Need::Episode => (open.is_some(), "no episode is on screen"),
            Need::Recording => (
                !open.is_some_and(Open::is_of_a_file),
                "a recorded trace stays as it is",
            ),
            Need::StepAfter => (step + 1 < steps, "this is the last step"),
            Need::StepBefore => (step > 0, "this is the first step"),
            Need::EventAfter => (self.event(1).is_some(), "nothing changes after this step"),
            Need::EventBefore => (self.event(-1).is_some(), "nothing changes before this step"),
            Need::Memory => (self.heads() > 0, "this machine has no memory"),
            Need::SomeRows => (part(), ALL_ROWS),
            Need::LowRows => (!self.fits(), ALL_ROWS),
            Need::RowsLeftOut => (self.sight.touched_only || part(), ALL_ROWS),
            Need::StepsLeftOut => (self.sight.part.is_part(), "all steps are on screen"),
            Need::Value => (
                self.heads() > 0 || self.card().is_some(),
                "click a value first",
            ),
            Need::Machine => (self.session.machine().is_some(), "no machine is loaded"),
            Need::Draws => (self.session.draws(), "no head of this machine draws"),
            Need::Heads => (
                self.session.first_with_heads().is_some() || self.heads() > 0,
                "no machine with heads is loaded",
            ),
            Need::Undo => (self.history.can(false), "nothing was changed"),
            Need::Redo => (self.history.can(true), "nothing was changed"),
            Need::Another => (
                self.comparing.kept.is_none() || self.pair().is_some(),
                "nothing was recorded since",
            ),
            Need::Kept => (self.comparing.kept.is_some(), "nothing is compared"),
            Need::Pair => (self.pair().is_some(), "nothing is compared"),
            Need::Difference => (self.first_difference().is_some(), "nothing differs"),
            Need::Larger => (scale != SCALES[0], SAME),
            Need::Smaller => (scale != SCALES[SCALES.len() - 1], SAME),
            Need::Resized => (scale != 100, SAME),
            Need::Learning => (self.learning.is_some(), "nothing learns"),
            Need::Finding => (
                self.learning
                    .as_ref()
                    .is_some_and(|learning| !learning.findings().is_empty()),
                "nothing was noticed so far",
            ),
            Need::Runs => (
                self.learning.as_ref().is_some_and(|all| all.runs.len() > 1),
                "no two learn side by side",
            ),
            Need::UnderWay => (self.pending.busy, "nothing is under way"),
            Need::Clutter => (self.is_cluttered(), "nothing is open"),
        };
        (!is_there).then_some(why)
    }

    /// True while something can be left.
    fn is_cluttered(&self) -> bool {
        self.sight.selected.is_some()
            || self.welcome.shown
            || self.presenting
            || self.tour.is_some()
            || self.failing.is_some()
            || self.layer().derivatives().is_some()
            || self.pending.busy
            || self.arrangement() == Arrangement::Compare
            || !self.toasts.is_empty()
    }
}
