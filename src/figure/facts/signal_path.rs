//! Signal path of an answer: the row that it was read from, and the step that wrote the content of that row.
//!
//! The content of a row is the sum of the remainders of every write and of its initial values:
//! M(i) = M₀(i) ∘ Π(1 − w·e) + Σⱼ wⱼ·aⱼ ∘ Π₍ₖ﹥ⱼ₎(1 − wₖ·eₖ) (Graves et al. 2014, equations 3 and 4, one step after the
//! other). The share of a write is that of the sizes of its numbers, Σ|·|, among those of all.

use crate::model::{HeadTrace, Trace, peak};
use crate::train::Recording;

/// Signal path of an answer: input, memory row, output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalPath {
    /// The read head that attends to a single row most, by its place among all heads.
    pub reader: usize,
    /// The step in which it does: that of the answer, or the one before.
    pub at: usize,
    /// The row.
    pub row: usize,
    /// The attention to that row, 0 to 1.
    pub weight: f32,
    /// The write with the largest share of the row; `None` where the initial values have more.
    pub origin: Option<Origin>,
}

/// A write that has left something in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin {
    /// The write head, by its place among all heads.
    pub writer: usize,
    /// The step.
    pub step: usize,
    /// The share of the row, 0 to 1.
    pub share: f32,
}

impl SignalPath {
    /// Returns the signal path of the read of a step; `None` for a machine without read heads. `writes_first`: the read
    /// heads see the writes of the same step.
    pub fn read_in(trace: &Trace, writes_first: bool, step: usize) -> Option<Self> {
        let heads = trace.heads.iter().enumerate();
        let readers = heads.filter(|(_, head)| head.read.width() > 0);
        let found =
            readers.filter_map(|(reader, head)| Some((reader, peak(head.weighting.row(step))?)));
        let (reader, (row, weight)) = found.max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
        let end = step + usize::from(writes_first);
        Some(Self {
            reader,
            at: step,
            row,
            weight,
            origin: Self::origin(trace, row, end),
        })
    }

    /// Returns the write before step `end` with the largest share of a row; `None` if the initial values have more.
    pub fn origin(trace: &Trace, row: usize, end: usize) -> Option<Origin> {
        let (mut sum, mut most) = (0.0, None::<Origin>);
        let size = |values: &[f32]| values.iter().map(|x| x.abs()).sum::<f32>();
        let start = remains(trace, row, end, |writer, step, left| {
            let share = size(left);
            sum += share;
            if most.is_none_or(|most| share > most.share) {
                most = Some(Origin {
                    writer,
                    step,
                    share,
                });
            }
        });
        let before = size(&start);
        let most = most.filter(|most| most.share > before)?;
        let share = most.share / (sum + before);
        Some(Origin { share, ..most })
    }
}

/// Largest number of answers that decide whether a machine reads ahead.
const LOOKED_AT: usize = 4;

/// Number of steps by which a machine reads ahead of its answer: 0, or 1 where the read passes through the controller.
/// It can be told only where the answers are vectors of the input.
pub fn steps_ahead(recording: &Recording, writes_first: bool) -> usize {
    let (trace, episode) = (&recording.trace, &recording.episode);
    let asked = (1..trace.steps()).filter(|&step| episode.is_scored(step));
    let asked: Vec<_> = asked.collect();
    let every = asked.len().div_ceil(LOOKED_AT).max(1);
    let right = |by: usize| {
        let right = asked.iter().step_by(every).filter(|&&step| {
            let path = SignalPath::read_in(trace, writes_first, step - by);
            let origin = path.and_then(|path| path.origin);
            origin.is_some_and(|origin| {
                let shown = episode.input.row(origin.step);
                let asked = episode.target.row(step);
                shown.iter().zip(asked).all(|(shown, asked)| shown == asked)
            })
        });
        right.count()
    };
    usize::from(right(1) > right(0))
}

/// Returns the remains in a row of every write before step `end`, the last one first; and of its initial contents.
fn remains(
    trace: &Trace,
    row: usize,
    end: usize,
    mut each: impl FnMut(usize, usize, &[f32]),
) -> Vec<f32> {
    let [rows, columns] = trace.memory_size();
    let mut kept = vec![1.0; columns];
    let heads = trace.heads.iter().enumerate();
    let has_row = |head: &HeadTrace| head.is_write() && head.weighting.width() > 0;
    let writers: Vec<(usize, &HeadTrace)> = heads.filter(|(_, head)| has_row(head)).collect();
    for step in (0..end).rev() {
        for &(writer, head) in &writers {
            let weight = head.weighting.row(step)[row];
            let added = head.add.row(step).iter().zip(&kept);
            let left: Vec<f32> = added.map(|(add, kept)| weight * add * kept).collect();
            each(writer, step, &left);
        }
        for (_, head) in &writers {
            let weight = head.weighting.row(step)[row];
            for (kept, erase) in kept.iter_mut().zip(head.erase.row(step)) {
                *kept *= 1.0 - weight * erase;
            }
        }
    }
    let first = trace.memory_columns.row(0);
    let kept = kept.iter().enumerate();
    kept.map(|(column, kept)| kept * first[column * rows + row])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fixture::recording;

    #[test]
    fn remaining_writes_sum_to_row() {
        let trace = recording().trace;
        let [rows, columns] = trace.memory_size();
        for (row, end) in (0..rows).flat_map(|row| (0..=trace.steps()).map(move |end| (row, end))) {
            let mut sum = vec![0.0; columns];
            let mut add = |left: &[f32]| {
                sum.iter_mut()
                    .zip(left)
                    .for_each(|(sum, left)| *sum += left);
            };
            let start = remains(&trace, row, end, |_, _, left| add(left));
            add(&start);
            for (column, sum) in sum.iter().enumerate() {
                let holds = trace.memory_columns.row(end)[column * rows + row];
                assert!(
                    (sum - holds).abs() < 1e-5,
                    "row {row} before step {end}: {sum} is not {holds}"
                );
            }
        }
    }

    #[test]
    fn answer_comes_from_last_remaining_write() {
        let mut trace = recording().trace;
        let step = trace.steps() - 1;
        for (index, head) in trace.heads.iter_mut().enumerate() {
            let row = if head.is_write() { 3 } else { 5 };
            for t in 0..=step {
                let weighting = head.weighting.row_mut(t);
                weighting.fill(0.0);
                weighting[row] = if index == 0 { 0.9 } else { 0.8 };
            }
        }
        let reader = trace.heads.iter().position(|head| !head.is_write());
        let writer = trace.heads.iter().position(HeadTrace::is_write).unwrap();
        // Nothing is ever written where they read.
        let path = SignalPath::read_in(&trace, false, step).unwrap();
        assert_eq!(
            (Some(path.reader), path.row, path.origin),
            (reader, 5, None)
        );
        for (t, erase, add) in [(1, 1.0, 4.0), (2, 1.0, 3.0), (3, 0.0, 0.1)] {
            let head = &mut trace.heads[writer];
            head.weighting.row_mut(t).fill(0.0);
            head.weighting.row_mut(t)[5] = 1.0;
            head.erase.row_mut(t).fill(erase);
            head.add.row_mut(t).fill(add);
        }
        let origin = SignalPath::read_in(&trace, false, step)
            .unwrap()
            .origin
            .unwrap();
        assert_eq!((origin.writer, origin.step), (writer, 2));
        assert!((origin.share - 3.0 / 3.1).abs() < 1e-5);
        // Reads come before writes in a step, or after them.
        let step_of = |first, step| {
            SignalPath::read_in(&trace, first, step)
                .unwrap()
                .origin
                .map(|at| at.step)
        };
        assert_eq!((step_of(false, 2), step_of(true, 2)), (Some(1), Some(2)));
    }
}
