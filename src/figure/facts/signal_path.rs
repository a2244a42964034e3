//! Signal path of an answer: the row that it was read from, and the step that wrote the content of that row.
//!
//! The content of a row is the sum of what is left of every write and of its initial values: see
//! [`crate::analysis::provenance`]. The share of a write is that of the sizes of its numbers, Σ|·|, among those of all.

use crate::analysis::provenance::{self, Writes};
use crate::model::config::Order;
use crate::model::{Trace, Turns, peak};
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
        let (mut sum, mut before, mut most) = (0.0, 0.0, None::<Origin>);
        // Between two steps it does not matter whether reads or writes come first.
        let writes = Writes::ordered(trace, Order::ReadFirst, &Turns::Together);
        writes.before(end, row, |origin, left| {
            let share = left.iter().map(|x| x.abs()).sum::<f64>() as f32;
            sum += share;
            let provenance::Origin::Write(writer, step) = origin else {
                before = share;
                return;
            };
            if most.is_none_or(|most| share > most.share) {
                most = Some(Origin {
                    writer,
                    step,
                    share,
                });
            }
        });
        let most = most.filter(|most| most.share > before)?;
        let share = most.share / sum;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fixture::recording;
    use crate::model::HeadTrace;

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
