//! Where the window begins.

use std::fmt::{self, Display, Formatter};

use super::arrangement::Arrangement;
use super::episode::Asked;
use crate::figure::{Stages, find_head};
use crate::model::Trace;
use crate::task::Task;

/// Where the window begins, if not as it would by itself.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    /// The task of the machine, if not that of its weights.
    pub task: Option<Task>,
    /// On so many memory rows.
    pub rows: Option<usize>,
    /// On this episode.
    pub asked: Option<Asked>,
    /// With these bits of its input the other way round: step and channel.
    pub flipped: Vec<(usize, usize)>,
    /// At this step, without playing.
    pub step: Option<usize>,
    /// At this stage of it.
    pub stage: Option<usize>,
    /// With the head of this label looked at.
    pub head: Option<String>,
    /// With the pictures arranged so.
    pub layout: Option<Arrangement>,
}

/// What an episode has not that it is to begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacks {
    /// The name of the option.
    pub option: &'static str,
    /// What it was given.
    pub value: String,
    /// What there is instead, in words.
    pub has: String,
}

/// As the command line says it.
impl Display for Lacks {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { option, value, has } = self;
        write!(f, "--{option} {value}: {has}")
    }
}

impl Beginning {
    /// That an episode of so many steps has the step, and that a machine with the heads of `heads`, that writes first in a
    /// step or reads first, has the stage and the head.
    ///
    /// # Errors
    /// Which of them it has not.
    pub fn check(&self, steps: usize, heads: &Trace<f32>, writes_first: bool) -> Result<(), Lacks> {
        let lacks = |option, value, has| Lacks { option, value, has };
        if let Some(step) = self.step.filter(|&step| step >= steps) {
            let last = steps.saturating_sub(1);
            let has = format!("the episode has the steps 0 to {last}");
            return Err(lacks("step", step.to_string(), has));
        }
        let stages = Stages::of(heads, writes_first).len();
        if let Some(stage) = self.stage.filter(|&stage| stage >= stages) {
            let has = format!("a step has the stages 0 to {}", stages.saturating_sub(1));
            return Err(lacks("stage", stage.to_string(), has));
        }
        let label = self.head.iter();
        let unknown = label.filter_map(|label| Some((label, find_head(heads, label).err()?)));
        let mut unknown = unknown.map(|(label, known)| lacks("head", label.clone(), known));
        unknown.next().map_or(Ok(()), Err)
    }
}
