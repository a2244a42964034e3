//! A trained machine with its history.

use super::Experiment;
use crate::model::Model;
use crate::train::{Change, Evaluation, HistoryPoint};

/// A machine with its weights and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// The experiment that made it.
    pub experiment: Experiment,
    /// The machine; its `config` is the experiment's, but for another number of rows perhaps.
    pub machine: Model<f32>,
    /// The learning curve; empty if the file has none.
    pub history: Vec<HistoryPoint>,
    /// The validation of these very weights.
    pub evaluation: Option<Evaluation>,
    /// The changes during training, in order: [`Trained::now`] is the experiment after them.
    pub changes: Vec<Change>,
    /// The command line that made it; empty when it is not in the file.
    pub command: String,
}
