//! A moment of an episode, from which pictures and sentences are made.

use crate::figure::HeadName;
use crate::figure::facts::episode::{HeadMark, MemoryAt};
use crate::figure::facts::focus::Focus;
use crate::figure::facts::id::{PanelId, Picture};
use crate::figure::facts::over_time::{KnownFrom, OverTime};
use crate::figure::facts::stage::Stage;
use crate::figure::facts::stages::{StageRef, Stages};
use crate::model::{Trace, peak};
use crate::train::Recording;

/// A moment of an episode: a step, and a stage of it or all of it.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The episode.
    pub recording: &'a Recording,
    /// The stages of its steps.
    pub stages: &'a Stages,
    /// The step.
    pub step: usize,
    /// The place of the stage; past the last one for the whole step.
    pub place: usize,
    /// Progress of that stage, 0 to 1.
    pub through: f32,
}

impl<'a> Moment<'a> {
    /// The trace of the episode.
    pub fn trace(&self) -> &'a Trace {
        &self.recording.trace
    }

    /// The stage; `None` for the whole step.
    pub fn stage(&self) -> Option<StageRef> {
        (self.place < self.stages.len()).then(|| self.stages.at(self.place))
    }

    /// The memory.
    pub fn memory(&self) -> MemoryAt<'a> {
        MemoryAt::new(self.trace(), self.stages, self.step, self.place)
    }

    /// Returns the mark of a head, unless it is idle; until it has addressed the memory, that of the step before.
    pub fn head_mark(&self, head: usize) -> Option<HeadMark> {
        let (of, step) = (self.trace().heads.get(head)?, self.step);
        let last = self.stages.columns(of).last()?;
        let is_there = self.stages.reached(self.place, last.stage, Some(of));
        let (now, before) = (of.weighting.row(step), of.previous_weighting(step));
        let weighting = if is_there { now } else { before };
        let (row, weight) = peak(weighting).filter(|_| !Focus::of(weighting).is_idle())?;
        let name = HeadName::of(self.trace(), head);
        Some(HeadMark { name, row, weight })
    }
}

/// Returns the number of steps of a picture over time that have happened, with the step under way where its values are
/// there; of given values all.
pub(crate) fn steps_done(id: PanelId, now: &Moment<'_>) -> usize {
    let stages = now.stages;
    let head = id.of.and_then(|head| now.trace().heads.get(head));
    let known = match id.picture {
        Picture::Arrows => KnownFrom::After(Stage::Weigh),
        picture => OverTime::of(picture).map_or(KnownFrom::AtOnce, |own| own.known),
    };
    let place = match known {
        KnownFrom::Before => return usize::MAX,
        KnownFrom::AtOnce => None,
        KnownFrom::After(Stage::Output) => stages.place(Stage::Output, None),
        KnownFrom::After(stage) => stages.place(stage, head),
        KnownFrom::Addressed => head.and_then(|head| stages.addressing(head).pop()),
    };
    let is_there = |place: usize| place < now.place || (place == now.place && !now.moves());
    now.step + usize::from(place.is_none_or(is_there))
}
