//! Which memory rows a figure shows, and where.

use std::ops::Range;

use crate::train::Recording;

/// A row counts as touched when some head puts at least this much weight on it in some step.
pub const TOUCHED: f32 = 0.01;

/// The rows that some head touches, as runs in the order in which they are shown: row 0 follows the last
/// row, and the longest stretch left out comes last, so that a head that walks round the end is seen to
/// walk on. Every row if none is touched.
pub fn touched(recording: &Recording) -> Vec<Range<usize>> {
    let trace = &recording.trace;
    touched_by(&[recording], trace.memory_size()[0], 0..trace.steps())
}

/// The same of the first `total` rows in some steps of several episodes.
pub(super) fn touched_by(
    recordings: &[&Recording],
    total: usize,
    steps: Range<usize>,
) -> Vec<Range<usize>> {
    let mut touched = vec![false; total];
    let weightings = recordings.iter().flat_map(|recording| {
        let (heads, last) = (&recording.trace.heads, recording.trace.steps());
        let steps = steps.start.min(last)..steps.end.min(last);
        let heads = heads.iter();
        heads.flat_map(move |head| steps.clone().map(move |t| head.weighting.row(t)))
    });
    for weighting in weightings {
        for (touched, &weight) in touched.iter_mut().zip(weighting) {
            *touched |= !weight.is_finite() || weight >= TOUCHED;
        }
    }
    let mut runs: Vec<_> = touched
        .chunk_by(|a, b| a == b)
        .scan(0, |start, run| {
            let range = *start..*start + run.len();
            *start = range.end;
            Some((range, run[0]))
        })
        .filter_map(|(range, touched)| touched.then_some(range))
        .collect();
    if runs.is_empty() && total > 0 {
        return std::iter::once(0..total).collect();
    }
    close_the_circle(&mut runs, total);
    runs
}

fn close_the_circle(runs: &mut [Range<usize>], total: usize) {
    let indices = 0..runs.len();
    let widest = indices
        .rev()
        .max_by_key(|&run| left_out_after(runs, run, total));
    if let Some(widest) = widest {
        runs.rotate_left((widest + 1) % runs.len());
    }
}

/// How many rows are left out between a run and the next one, round the end.
pub(super) fn left_out_after(runs: &[Range<usize>], index: usize, total: usize) -> usize {
    let next = &runs[(index + 1) % runs.len()];
    (next.start + total - runs[index].end) % total.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_round_the_end_is_not_torn_apart() {
        let mut runs = vec![0..5, 84..128];
        close_the_circle(&mut runs, 128);
        assert_eq!(runs, [84..128, 0..5]);
        assert_eq!(left_out_after(&runs, 0, 128), 0);
        assert_eq!(left_out_after(&runs, 1, 128), 79);
        let mut runs = vec![0..21, 60..61];
        close_the_circle(&mut runs, 128);
        assert_eq!(runs, [0..21, 60..61]);
    }
}
