//! Training snapshots within a memory limit: the weights at the start, at points evenly spaced on a logarithmic axis,
//! and at every new best validation.
//!
//! Above the limit, every second regular snapshot is removed, repeatedly. Without regular snapshots, every second best
//! one is removed, the newest last. The first and the last snapshot always stay.

use std::sync::Arc;

use super::finding::Finding;
use crate::model::Model;
use crate::train::{HistoryPoint, Trainer};

/// The initial number of snapshots per tenfold number of sequences.
const PER_DECADE: f64 = 16.0;

/// Returns the part of a logarithmic axis that contains this number, with `per_decade` parts per tenfold.
pub fn slot(sequences: u64, per_decade: f64) -> f64 {
    ((sequences as f64 + 1.0).log10() * per_decade).floor()
}

/// A training snapshot: the weights of a machine.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Sequences trained on before it.
    pub sequences: u64,
    /// Seconds of training before it.
    pub seconds: f64,
    /// Bits per sequence: of the validation for a best snapshot, else the mean of the training just before. `None` without
    /// either.
    pub bits: Option<f64>,
    /// True for the best validation so far.
    pub is_best: bool,
    /// The machine.
    pub machine: Arc<Model<f32>>,
}

/// Snapshots in order of time.
#[derive(Clone, Debug)]
pub struct Snapshots {
    entries: Vec<Snapshot>,
    /// Memory limit for all snapshots, in bytes.
    limit: usize,
    /// Current number per tenfold number of sequences; halved above the limit.
    per_decade: f64,
    /// The findings of the run when it was saved, in order of time.
    pub findings: Vec<Finding>,
}

impl Default for Snapshots {
    fn default() -> Self {
        Self::new(Self::LIMIT)
    }
}

impl Snapshots {
    /// The memory for the snapshots of a run: 128 MiB.
    pub const LIMIT: usize = 128 << 20;

    /// Creates an empty list of at most `limit` bytes. The first and the last snapshot always stay; best ones are removed
    /// after all others.
    pub fn new(limit: usize) -> Self {
        Self {
            entries: Vec::new(),
            limit,
            per_decade: PER_DECADE,
            findings: Vec::new(),
        }
    }

    /// Restores snapshots in order; `per_decade` as returned by [`Snapshots::per_decade`].
    pub fn restored(entries: Vec<Snapshot>, per_decade: f64) -> Self {
        Self {
            entries,
            per_decade,
            ..Self::default()
        }
    }

    /// Returns the current number of snapshots per tenfold number of sequences, without the best ones.
    pub fn per_decade(&self) -> f64 {
        self.per_decade
    }

    /// Stores a snapshot of a run if one is due, at the end of the run, and after a new best validation. `recent_mean` is
    /// the mean of the training just before, in bits per sequence.
    pub fn keep(
        &mut self,
        trainer: &Trainer,
        validated: Option<HistoryPoint>,
        recent_mean: Option<f64>,
    ) {
        let state = &trainer.state;
        let best = validated.filter(|point| {
            let best = state.best.as_ref();
            best.is_some_and(|(_, best)| *best == point.validation)
        });
        if best.is_none() && !trainer.finished() && !self.is_due(state.sequences) {
            return;
        }
        self.push(Snapshot {
            sequences: state.sequences,
            seconds: trainer.seconds(),
            bits: best
                .map(|point| point.validation.bits_per_sequence)
                .or(recent_mean),
            is_best: best.is_some(),
            machine: Arc::new(state.machines[0].clone()),
        });
    }

    /// Removes the snapshots and findings after `sequences` sequences.
    pub fn cut(&mut self, sequences: u64) {
        self.findings.retain(|one| one.sequences <= sequences);
        self.entries.retain(|one| one.sequences <= sequences);
    }

    /// Returns the snapshots in order of time.
    pub fn all(&self) -> &[Snapshot] {
        &self.entries
    }

    /// True when the next regular snapshot is due after `sequences` sequences.
    pub fn is_due(&self, sequences: u64) -> bool {
        let last = self.entries.iter().rev().find(|one| !one.is_best);
        last.is_none_or(|last| {
            slot(sequences, self.per_decade) > slot(last.sequences, self.per_decade)
        })
    }

    /// Appends a snapshot, and removes earlier ones above the limit. A snapshot that is not later than the last one only
    /// updates its loss and its mark as best.
    pub fn push(&mut self, snapshot: Snapshot) {
        if let Some(last) = self.entries.last_mut()
            && last.sequences >= snapshot.sequences
        {
            last.is_best |= snapshot.is_best;
            last.bits = snapshot.bits.or(last.bits);
            return;
        }
        self.entries.push(snapshot);
        while self.bytes() > self.limit && self.entries.len() > 2 {
            self.thin();
        }
    }

    /// Bytes of all weights.
    pub fn bytes(&self) -> usize {
        let one = |snapshot: &Snapshot| {
            let values = snapshot.machine.params.slices().map(<[f32]>::len);
            values.sum::<usize>() * size_of::<f32>()
        };
        self.entries.iter().map(one).sum()
    }

    /// Removes every second regular snapshot; without regular ones, every second best one, the newest last. The first and
    /// the last snapshot stay.
    fn thin(&mut self) {
        let last = self.entries.len() - 1;
        let (best, regular): (Vec<usize>, Vec<usize>) =
            (1..last).partition(|&index| self.entries[index].is_best);
        let from = if regular.is_empty() {
            best
        } else {
            self.per_decade = (self.per_decade / 2.0).max(1.0);
            regular
        };
        // Counted from the newest, which is removed only if it is alone.
        let stays = usize::from(from.len() > 1);
        for &index in from.iter().rev().skip(stays).step_by(2) {
            self.entries.remove(index);
        }
    }

    /// Returns the snapshot at this number of sequences, or the last one before it.
    pub fn at(&self, sequences: u64) -> Option<usize> {
        let after = self
            .entries
            .partition_point(|snapshot| snapshot.sequences <= sequences);
        after.checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::model::NtmConfig;

    fn snapshot(sequences: u64, is_best: bool) -> Snapshot {
        let mut config = NtmConfig::new(2, 2);
        (config.rows, config.columns, config.controller.size) = (4, 4, 4);
        Snapshot {
            sequences,
            seconds: sequences as f64,
            bits: None,
            is_best,
            machine: Arc::new(Model::new(config, 1)),
        }
    }

    fn bests_of(all: &Snapshots) -> Vec<u64> {
        let best = all.all().iter().filter(|one| one.is_best);
        best.map(|one| one.sequences).collect()
    }

    fn run(limit: usize) -> Snapshots {
        let mut snapshots = Snapshots::new(limit);
        for sequences in 0..5000 {
            let is_best = sequences > 0 && sequences % 1000 == 0;
            if is_best || snapshots.is_due(sequences) {
                snapshots.push(snapshot(sequences, is_best));
            }
        }
        snapshots
    }

    #[test]
    fn snapshots_are_log_spaced_and_include_bests() {
        let all = run(usize::MAX);
        let moments: Vec<u64> = all.all().iter().map(|s| s.sequences).collect();
        assert_eq!(moments[..4], [0, 1, 2, 3]);
        assert!(moments.is_sorted_by(|a, b| a < b));
        let between = |low, high| {
            moments
                .iter()
                .filter(|&&s| (low..high).contains(&s))
                .count()
        };
        assert!((14..=19).contains(&between(100, 1000)), "{moments:?}");
        assert_eq!(all.all().iter().filter(|s| s.is_best).count(), 4);
    }

    #[test]
    fn snapshots_respect_limit_and_keep_ends() {
        let one = run(usize::MAX).bytes() / run(usize::MAX).all().len();
        for count in [2, 5, 20] {
            let few = run(one * count);
            assert!((2..=count).contains(&few.all().len()));
            assert!(few.bytes() <= one * count);
            assert_eq!(few.all()[0].sequences, 0);
            assert!(few.all().last().unwrap().sequences >= 4000);
        }
    }

    proptest! {
        #[test]
        fn best_snapshot_is_dropped_last(
            bests in vec(any::<bool>(), 1..120), most in 2_usize..20
        ) {
            let one = run(usize::MAX).bytes() / run(usize::MAX).all().len();
            let mut all = Snapshots::new(most * one);
            let mut count = 0;
            for (sequences, is_best) in (0..).zip(bests) {
                let before: Vec<u64> = bests_of(&all);
                all.push(snapshot(sequences, is_best));
                count += usize::from(is_best);
                let kept = all.all();
                let (first, last) = (&kept[0], &kept[kept.len() - 1]);
                prop_assert!(kept.len() <= most && all.bytes() == kept.len() * one);
                prop_assert_eq!((first.sequences, last.sequences), (0, sequences));
                prop_assert!(kept.is_sorted_by(|a, b| a.sequences < b.sequences));
                let now = bests_of(&all);
                let is_lost = before.iter().any(|best| !now.contains(best));
                let between = &kept[1.min(kept.len() - 1)..kept.len() - 1];
                prop_assert!(!is_lost || between.iter().all(|one| one.is_best));
                // All of them have room beside the first and the last.
                prop_assert!(count + 2 > most || now.len() == count);
                let newest = before.last().filter(|_| most > 2);
                prop_assert!(newest.is_none_or(|best| now.contains(best)));
            }
        }
    }

    #[test]
    fn sequence_finds_preceding_snapshot() {
        let all = run(usize::MAX);
        assert_eq!(all.at(0), Some(0));
        assert_eq!(all.at(u64::MAX), Some(all.all().len() - 1));
        let index = all.at(1003).unwrap();
        assert!(all.all()[index].sequences <= 1003);
        assert_eq!(Snapshots::new(0).at(5), None);
    }
}
