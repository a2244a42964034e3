//! The progress of a run: everything observed of it so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::curve::Curve;
use super::finding::Finding;
use super::snapshots::Snapshots;
use crate::train::{Change, Diagnostics, Diverged, HeadDiagnostics, HistoryPoint, Score};

/// A point of a lane covers this share of the sequences before it.
const SHARE: f64 = 0.01;
/// Decay of an episode's weight with every later episode of the same size.
const FORGETS: f64 = 0.02;

/// The progress of a run.
#[derive(Clone, Debug, Default)]
pub struct RunProgress {
    /// Sequences trained on.
    pub sequences: u64,
    /// Sequences in the whole run.
    pub of: u64,
    /// Seconds spent in updates.
    pub seconds: f64,
    /// Every update.
    pub curve: Curve,
    /// Every validation.
    pub history: Vec<HistoryPoint>,
    /// Recent errors by size of the episodes.
    pub errors_by_size: ErrorsBySize,
    /// Diagnostics: heads and gradient norms.
    pub diagnostics: DiagnosticsHistory,
    /// The findings, in the order in which they were noticed.
    pub findings: Vec<Finding>,
    /// The training snapshots.
    pub snapshots: Snapshots,
    /// The changes during training.
    pub changes: Vec<Change>,
    /// The sequences before its current task: earlier ones belong to another task.
    pub task_since: u64,
    /// The names of the heads.
    pub heads: Vec<String>,
    /// The reason why the run ended, if it did.
    pub end: Option<End>,
}

/// The reason why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The run has seen all its sequences.
    Finished,
    /// A value was no longer finite.
    Diverged(Diverged),
    /// An error of the program, or of the system.
    Broken {
        /// The text of the error.
        words: String,
        /// True if the run is intact after its last update: it can be saved and resumed.
        is_whole: bool,
    },
}

impl End {
    /// False where the weights of the run are no longer any good.
    pub fn keeps_weights(&self) -> bool {
        match self {
            Self::Finished => true,
            Self::Diverged(diverged) => !diverged.weights,
            Self::Broken { is_whole, .. } => *is_whole,
        }
    }
}

/// Errors by size of the episodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorsBySize(BTreeMap<usize, [f64; 2]>);

impl ErrorsBySize {
    pub(super) fn add(&mut self, size: usize, score: &Score) {
        let wrong = score.wrong as f64 / score.scored.max(1) as f64;
        let [mean, count] = self.0.entry(size).or_insert([0.0; 2]);
        // At first a mean, later what is forgotten bit by bit.
        let share = (1.0 / (*count + 1.0)).max(FORGETS);
        *mean += share * (wrong - *mean);
        *count += 1.0;
    }

    /// Every size that was seen, ascending, and the share of wrong bits, 0 to 1.
    pub fn each(&self) -> impl Iterator<Item = (usize, f64)> {
        self.0.iter().map(|(&size, &[wrong, _])| (size, wrong))
    }
}

/// The diagnostics in order; as fine everywhere as a logarithmic axis can show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiagnosticsHistory {
    /// Sequences trained on, with the diagnostics at that time.
    pub looks: Vec<(u64, Diagnostics)>,
    /// The tensors whose gradients these are.
    pub tensors: Arc<Vec<String>>,
}

impl DiagnosticsHistory {
    pub(super) fn push(&mut self, sequences: u64, diagnostics: &Diagnostics) {
        let last = self.looks.last().map_or(0, |(last, _)| *last);
        if self.looks.is_empty() || (sequences - last) as f64 >= sequences as f64 * SHARE {
            self.looks.push((sequences, diagnostics.clone()));
        }
    }

    /// Something of a head over the sequences, where it is known.
    pub fn of_head(
        &self,
        head: usize,
        what: impl Fn(&HeadDiagnostics) -> Option<f64>,
    ) -> Vec<(u64, f64)> {
        let of = |(sequences, diagnostics): &(u64, Diagnostics)| {
            let value = what(diagnostics.heads.get(head)?)?;
            Some((*sequences, value))
        };
        self.looks.iter().filter_map(of).collect()
    }
}

impl RunProgress {
    /// False where the weights of the run are no longer any good.
    pub fn keeps_weights(&self) -> bool {
        self.end.as_ref().is_none_or(End::keeps_weights)
    }

    /// Returns the snapshots with the findings, as they are saved.
    pub fn saved_snapshots(&self) -> Snapshots {
        let mut snapshots = self.snapshots.clone();
        snapshots.findings.clone_from(&self.findings);
        snapshots
    }

    /// True where there is something of it to be saved: its weights, or the best ones before they broke.
    pub fn can_be_saved(&self) -> bool {
        let mut validated = self.history.iter().map(|point| point.sequences);
        self.keeps_weights() || validated.any(|sequences| sequences > self.task_since)
    }

    /// Returns the progress of a run that is not trained here: its validations, its changes since the task last
    /// changed, and its training snapshots.
    pub fn of_file(
        of: u64,
        history: Vec<HistoryPoint>,
        (changes, task_since): (Vec<Change>, u64),
        snapshots: Snapshots,
    ) -> Self {
        let last = snapshots.all().last();
        let validated = history.last();
        let sequences = [last.map(|s| s.sequences), validated.map(|p| p.sequences)];
        let seconds = [last.map(|s| s.seconds), validated.map(|p| p.seconds)];
        let sequences = sequences.into_iter().flatten().max().unwrap_or(0);
        let model = last.map(|last| &last.machine.config);
        let heads = model.map(|model| (0..model.heads()).map(|head| model.head_name(head)));
        Self {
            sequences,
            of,
            seconds: seconds.into_iter().flatten().fold(0.0, f64::max),
            heads: heads.into_iter().flatten().collect(),
            end: (sequences >= of).then_some(End::Finished),
            history,
            changes,
            task_since,
            findings: snapshots.findings.clone(),
            snapshots,
            ..Self::default()
        }
    }
}
