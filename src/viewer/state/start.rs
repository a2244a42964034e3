//! The initial place of the window.

use super::{ExternalEpisode, Parts, Target, WindowLayout};
use crate::figure::facts::datum::Datum;
use crate::figure::{Stages, find_head};
use crate::model::Trace;
use crate::task::Task;

/// The initial place of the window, where it differs from the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartOptions {
    /// The task of the machine, if not that of its weights.
    pub task: Option<Task>,
    /// Number of memory rows.
    pub rows: Option<usize>,
    /// The episode to start with.
    pub asked: Option<ExternalEpisode>,
    /// Flipped bits of its input: step and channel.
    pub flipped: Vec<(usize, usize)>,
    /// Interventions on it, as text.
    pub interventions: Vec<String>,
    /// At this step, without playing.
    pub step: Option<usize>,
    /// At this stage of it.
    pub stage: Option<usize>,
    /// Label of the selected head.
    pub head: Option<String>,
    /// The pinned value, by its name: `memory[5,2]`.
    pub pin: Option<String>,
    /// The layout of the pictures.
    pub layout: Option<WindowLayout>,
    /// True to open the page on attention mechanisms first.
    pub family: bool,
    /// True for a frame inside another page: pictures and player only.
    pub embed: bool,
    /// The parts of that frame; all where not given.
    pub parts: Option<Parts>,
}

/// An option that the initial episode cannot satisfy, formatted as the command line reports it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--{option} {value}: {has}")]
pub struct InvalidStart {
    /// The name of the option.
    pub option: &'static str,
    /// The value given.
    pub value: String,
    /// The allowed values, as text.
    pub has: String,
}

impl StartOptions {
    /// Checks that an episode has the step, and that a machine with the heads of `heads`, that writes first in a
    /// step or reads first, has the stage, the head and the pinned value.
    ///
    /// # Errors
    /// The one that is missing.
    pub fn check(
        &self,
        steps: usize,
        heads: &Trace<f32>,
        writes_first: bool,
    ) -> Result<(), InvalidStart> {
        let lacks = |option, value, has| InvalidStart { option, value, has };
        if let Some(step) = self.step.filter(|&step| step >= steps) {
            let last = steps.saturating_sub(1);
            let has = format!("the episode has steps 0 to {last}");
            return Err(lacks("step", step.to_string(), has));
        }
        let stages = Stages::of(heads, writes_first).len();
        if let Some(stage) = self.stage.filter(|&stage| stage >= stages) {
            let has = format!("a step has the stages 0 to {}", stages.saturating_sub(1));
            return Err(lacks("stage", stage.to_string(), has));
        }
        if let Some(label) = &self.head {
            find_head(heads, label).map_err(|known| lacks("head", label.clone(), known))?;
        }
        if let Some(name) = &self.pin {
            pinned(name, heads).map_err(|why| lacks("pin", name.clone(), why))?;
        }
        Ok(())
    }
}

/// Returns the value of this name, the target that shows it, and the head that is selected with it.
///
/// # Errors
/// There is no such value, or no picture of it, as text.
pub fn pinned(name: &str, trace: &Trace<f32>) -> Result<(Datum, Target, Option<usize>), String> {
    let datum = Datum::named(name, trace)?;
    let none = || "no picture shows it".to_owned();
    let (target, head) = Target::showing(datum, trace).ok_or_else(none)?;
    Ok((datum, target, head))
}
