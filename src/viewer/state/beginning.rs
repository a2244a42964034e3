//! Where the window begins.

use super::arrangement::Arrangement;
use super::episode::Asked;
use crate::figure::find_head;
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

impl Beginning {
    /// That an episode of so many steps has the step, and that a machine with the heads of `heads` has the head.
    ///
    /// # Errors
    /// A sentence that says which of them it has not.
    pub fn check(&self, steps: usize, heads: &Trace<f32>) -> Result<(), String> {
        if let Some(step) = self.step.filter(|&step| step >= steps) {
            let last = steps.saturating_sub(1);
            return Err(format!(
                "--step {step}: the episode has the steps 0 to {last}"
            ));
        }
        match &self.head {
            None => Ok(()),
            Some(label) => match find_head(heads, label) {
                Ok(_) => Ok(()),
                Err(known) => Err(format!("--head {label}: {known}")),
            },
        }
    }
}
