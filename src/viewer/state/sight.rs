//! What is looked at, and how.

use super::arrangement::Arrangement;
use super::compare::TOLERANCES;
use super::target::Target;
use crate::viewer::part::Part;
use crate::viewer::rows::Zoom;

/// What is looked at, and how.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the window"
)]
pub struct Sight {
    /// The head looked at.
    pub focus: usize,
    /// True once that was chosen: it stays. Until then the head is looked at that has something to say.
    pub chosen: bool,
    /// The head pinned beside it.
    pub pinned: Option<usize>,
    /// True while all heads are shown alike.
    pub all_heads: bool,
    /// True while only touched rows are shown.
    pub touched_only: bool,
    /// True while weightings are shown by their logarithm.
    pub log_scale: bool,
    /// Which part of the rows is on screen.
    pub zoom: Zoom,
    /// Which part of the steps is on screen.
    pub part: Part,
    /// What is kept in view.
    pub selected: Option<Target>,
    /// The difference between two episodes that counts as none; of values above 1 a share of them.
    pub tolerance: f64,
    /// True while what B has more than A is shown.
    pub difference: bool,
    /// The arrangement that was chosen before that of a comparison.
    pub before: Option<Arrangement>,
}

impl Default for Sight {
    fn default() -> Self {
        Self {
            focus: usize::MAX,
            chosen: false,
            pinned: None,
            all_heads: false,
            touched_only: true,
            log_scale: false,
            zoom: Zoom::default(),
            part: Part::default(),
            selected: None,
            tolerance: TOLERANCES[1].0,
            difference: true,
            before: None,
        }
    }
}

impl Sight {
    /// True of the head that was chosen and nothing beside it: chosen once more it is let go of.
    pub fn keeps(&self, head: usize) -> bool {
        self.chosen && self.focus == head && self.pinned.is_none() && !self.all_heads
    }

    /// The same with its rows scrolled to the first, all steps on screen and no head looked at but a chosen one: what
    /// follows by itself and what is scrolled is no change.
    pub fn unscrolled(&self) -> Self {
        let zoom = Zoom {
            first: 0,
            ..self.zoom
        };
        Self {
            zoom,
            focus: if self.chosen { self.focus } else { usize::MAX },
            part: Part::default(),
            ..self.clone()
        }
    }
}
