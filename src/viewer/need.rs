//! What it takes to do something now, and what is said where that is not there.

use super::state::State;
use super::state::arrangement::Arrangement;
use super::state::compare::Pair;
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
    /// Something kept in view, or a memory.
    Value,
    /// A machine.
    Machine,
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
    /// Something under way that can be given up.
    UnderWay,
    /// Something that can be left.
    Clutter,
}

impl State {
    /// Why something cannot be done now, if it cannot.
    pub fn lacks(&self, need: Need) -> Option<&'static str> {
        let (is_there, why) = match need {
            Need::Nothing => return None,
            Need::Episode => (self.session.open.is_some(), "no episode is on screen"),
            Need::Machine => (self.session.machine().is_some(), "no machine is loaded"),
            Need::Undo | Need::Redo => {
                (self.history.can(need == Need::Redo), "nothing was changed")
            }
            Need::Heads => (
                self.session.first_with_heads().is_some() || self.heads() > 0,
                "no machine with heads is loaded",
            ),
            Need::Recording
            | Need::StepAfter
            | Need::StepBefore
            | Need::EventAfter
            | Need::EventBefore
            | Need::Memory
            | Need::Value
            | Need::Another => {
                return self.lacks(Need::Episode).or_else(|| self.lacks_here(need));
            }
            Need::SomeRows | Need::LowRows | Need::RowsLeftOut => {
                let is_there = match need {
                    Need::LowRows => !self.fits(),
                    Need::RowsLeftOut => self.sight.touched_only || self.part().is_some(),
                    _ => self.part().is_some(),
                };
                let why = (!is_there).then_some("all rows are on screen");
                return self.lacks(Need::Memory).or(why);
            }
            Need::Pair => (self.pair().is_some(), "nothing is compared"),
            Need::Kept => (self.comparing.kept.is_some(), "nothing is compared"),
            Need::Difference => {
                let pair = self.pair();
                let found = pair.as_ref().and_then(Pair::differences);
                let first = found.and_then(|found| found.values.first.as_ref());
                let why = first.is_none().then_some("nothing differs");
                return self.lacks(Need::Pair).or(why);
            }
            Need::Larger | Need::Smaller | Need::Resized => {
                let scale = self.settings.look.scale;
                let usual = match need {
                    Need::Larger => SCALES[0],
                    Need::Smaller => SCALES[SCALES.len() - 1],
                    _ => 100,
                };
                (scale != usual, "nothing would change")
            }
            Need::UnderWay => (self.pending.busy, "nothing is under way"),
            Need::Clutter => (
                self.sight.selected.is_some()
                    || self.welcome.shown
                    || self.tour.is_some()
                    || self.pending.busy
                    || self.arrangement() == Arrangement::Compare
                    || !self.toasts.is_empty(),
                "nothing is open",
            ),
        };
        (!is_there).then_some(why)
    }

    /// The same, while an episode is on screen.
    fn lacks_here(&self, need: Need) -> Option<&'static str> {
        let (step, steps) = (self.player.step(), self.player.steps());
        let of_a_file = || self.session.open.as_ref().is_some_and(Open::is_of_a_file);
        let (is_there, why) = match need {
            Need::Recording => (!of_a_file(), "a recorded trace stays as it is"),
            Need::StepAfter => (step + 1 < steps, "this is the last step"),
            Need::StepBefore => (step > 0, "this is the first step"),
            Need::EventAfter => (self.event(1).is_some(), "nothing changes after this step"),
            Need::EventBefore => (self.event(-1).is_some(), "nothing changes before this step"),
            Need::Memory => (self.heads() > 0, "this machine has no memory"),
            Need::Value => (
                self.heads() > 0 || self.card().is_some(),
                "click a value first",
            ),
            _ => (
                self.comparing.kept.is_none() || self.pair().is_some(),
                "nothing was recorded since",
            ),
        };
        (!is_there).then_some(why)
    }
}
