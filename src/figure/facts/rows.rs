//! The address axis, which window and figures share: the memory rows shown, their order, and their positions.

use std::ops::Range;

use crate::figure::facts::family::columns_of;
use crate::figure::facts::source::reads_source;
use crate::model::Trace;
use crate::train::{Recording, is_absent};

/// Vertical range, downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// The upper end.
    pub min: f32,
    /// The lower end.
    pub max: f32,
}

impl Span {
    /// Between these heights.
    pub fn new(min: f32, max: f32) -> Self {
        Self { min, max }
    }

    /// The height.
    pub fn span(self) -> f32 {
        self.max - self.min
    }

    /// The middle.
    pub fn center(self) -> f32 {
        f32::midpoint(self.min, self.max)
    }
}

/// Height of the mark for a single row left out, between rows that are higher.
const ONE_LEFT_OUT: f32 = 4.0;

/// Runs of rows that are shown, in address order (row 0 follows the last row), with their true numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    runs: Vec<Range<usize>>,
    /// The true numbers of the rows shown, from the top.
    shown: Vec<usize>,
    total: usize,
    /// True when more rows follow on both sides of the rows on screen.
    cut: bool,
}

impl Rows {
    /// Every row of the memory.
    pub fn all(total: usize) -> Self {
        Self::of(Some(0..total).filter(|run| !run.is_empty()), total)
    }

    /// Creates the rows of these runs, in the order in which they are shown.
    pub fn of(runs: impl IntoIterator<Item = Range<usize>>, total: usize) -> Self {
        let runs: Vec<_> = runs.into_iter().collect();
        Self {
            shown: runs.iter().cloned().flatten().collect(),
            runs,
            total,
            cut: false,
        }
    }

    /// `count` of these rows from the `first` one down.
    pub fn part(&self, first: usize, count: usize) -> Self {
        let (mut before, mut runs) = (0, Vec::new());
        for run in &self.runs {
            let start = first.saturating_sub(before);
            let end = (first + count).saturating_sub(before).min(run.len());
            if start < end {
                runs.push(run.start + start..run.start + end);
            }
            before += run.len();
        }
        Self {
            cut: true,
            ..Self::of(runs, self.total)
        }
    }

    /// The place of a row among those shown.
    pub fn index_of(&self, row: usize) -> Option<usize> {
        self.shown.iter().position(|shown| *shown == row)
    }

    /// Number of rows shown.
    pub fn shown(&self) -> usize {
        self.shown.len()
    }

    /// Number of rows of the memory.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The true numbers of the rows shown, from the top.
    pub fn numbers(&self) -> &[usize] {
        &self.shown
    }

    /// The runs and the gaps between them, placed in this range.
    pub fn place(&self, y: Span, placing: Placing) -> Axis {
        let all = 0..self.runs.len();
        let shown = self.shown().max(1) as f32;
        // A single row left out needs no words, and no more room than a row.
        let one = if y.span() / shown > 3.0 * ONE_LEFT_OUT {
            ONE_LEFT_OUT
        } else {
            1.0
        };
        let gap_of = |left_out: usize| match left_out {
            0 => 0.0,
            1 => placing.gap.min(one),
            _ => placing.gap,
        };
        let marks: f32 = all.map(|run| gap_of(self.left_out_after(run))).sum();
        let full = (y.span() - marks).max(0.0) / shown;
        // With hardly any room the rows matter more than the marks between them.
        let (mut has_marks, mut height) = (true, full.min(placing.tallest));
        if full < 2.0 {
            (has_marks, height) = (false, y.span().max(0.0) / shown);
        }
        let (mut runs, mut gaps, mut at) = (Vec::new(), Vec::new(), 0.0);
        let mut part = |height: f32| {
            let (from, to) = (at, at + height);
            at = to;
            if placing.upwards {
                Span::new(y.max - to, y.max - from)
            } else {
                Span::new(y.min + from, y.min + to)
            }
        };
        for (index, run) in self.runs.iter().enumerate() {
            runs.push((run.clone(), part(run.len() as f32 * height)));
            let left_out = self.left_out_after(index);
            let gap = gap_of(left_out);
            if gap > 0.0 && has_marks {
                gaps.push((left_out, part(gap)));
            }
        }
        Axis {
            runs,
            gaps,
            height,
            upwards: placing.upwards,
        }
    }

    /// Number of rows omitted between a run and the next one, across the end.
    fn left_out_after(&self, index: usize) -> usize {
        if self.cut && index + 1 == self.runs.len() {
            return 0;
        }
        left_out_after(&self.runs, index, self.total)
    }
}

/// Placement of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placing {
    /// Height of the mark for omitted rows.
    pub gap: f32,
    /// Rows never grow taller than this.
    pub tallest: f32,
    /// True where row 0 is at the bottom.
    pub upwards: bool,
}

/// Positions of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Runs of rows and their places.
    pub runs: Vec<(Range<usize>, Span)>,
    /// Numbers of rows left out, and the places of their marks.
    pub gaps: Vec<(usize, Span)>,
    /// Height of a row.
    pub height: f32,
    /// True where row 0 is at the bottom.
    pub upwards: bool,
}

impl Axis {
    /// The row of a run that is `below` rows below its upper end.
    fn row_of(&self, rows: &Range<usize>, below: usize) -> usize {
        let below = below.min(rows.len().saturating_sub(1));
        let (up, down) = (rows.end - 1 - below, rows.start + below);
        if self.upwards { up } else { down }
    }

    /// The row at this height.
    pub fn row_at(&self, y: f32) -> Option<usize> {
        let is_here = |(_, place): &&(Range<usize>, Span)| (place.min..=place.max).contains(&y);
        let (rows, place) = self.runs.iter().find(is_here)?;
        let below = (y - place.min) / self.height.max(f32::MIN_POSITIVE);
        Some(self.row_of(rows, below as usize))
    }

    /// Returns the position of a row, if it is shown.
    pub fn place_of(&self, row: usize) -> Option<Span> {
        let run = self.runs.iter().find(|(rows, _)| rows.contains(&row));
        run.map(|run| self.within(run, row..row + 1))
    }

    /// Returns the position of some rows of a run.
    fn within(&self, (run, place): &(Range<usize>, Span), rows: Range<usize>) -> Span {
        let (up, down) = (run.end - rows.end, rows.start - run.start);
        let above = if self.upwards { up } else { down };
        let top = place.min + above as f32 * self.height;
        Span::new(top, top + rows.len() as f32 * self.height)
    }

    /// The rows of a run from the top, with their places.
    pub fn rows(&self, run: usize) -> impl Iterator<Item = (usize, Span)> + '_ {
        let (rows, place) = &self.runs[run];
        (0..rows.len()).map(move |below| {
            let top = place.min + below as f32 * self.height;
            (self.row_of(rows, below), Span::new(top, top + self.height))
        })
    }

    /// From the highest to the lowest point of all rows and marks.
    pub fn ends(&self) -> Option<Span> {
        let runs = self.runs.iter().map(|(_, place)| *place);
        let places = runs.chain(self.gaps.iter().map(|(_, place)| *place));
        places.reduce(|all, one| Span::new(all.min.min(one.min), all.max.max(one.max)))
    }

    /// The lowest point of the last row or mark.
    pub fn bottom(&self) -> f32 {
        self.ends().map_or(f32::NEG_INFINITY, |ends| ends.max)
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.runs.iter().map(|(rows, _)| rows.len()).sum()
    }

    /// All rows with their places, run after run from its top.
    pub fn all(&self) -> impl Iterator<Item = (usize, Span)> + '_ {
        (0..self.runs.len()).flat_map(|run| self.rows(run))
    }

    /// Positions of the rows for which `is` holds, adjacent ones merged.
    pub fn spans(&self, is: impl Fn(usize) -> bool) -> Vec<Span> {
        let spans = self.runs.iter().flat_map(|run| {
            let first = run.0.start;
            let runs = runs_of(run.0.clone().map(&is)).into_iter();
            runs.map(move |rows| self.within(run, first + rows.start..first + rows.end))
        });
        spans.collect()
    }

    /// The rows that are numbered: every one, every second, every fourth … as far as numbers have room.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, Span)> + '_ {
        let powers = (0..16).map(|power| 1 << power);
        let mut powers = powers.skip_while(|&every| every as f32 * self.height < 13.0);
        let every: usize = powers.next().unwrap_or(1 << 16);
        self.runs.iter().flat_map(move |run| {
            let rows = run.0.start.next_multiple_of(every)..run.0.end;
            rows.step_by(every)
                .map(|row| (row, self.within(run, row..row + 1)))
        })
    }
}

/// Returns the note on omitted rows, and a longer one.
pub fn untouched(rows: usize) -> [String; 2] {
    let plural = if rows == 1 { "" } else { "s" };
    let short = format!("{rows} untouched row{plural}");
    let long = format!("{short}: no weight of {TOUCHED} or more");
    [short, long]
}

/// Every how many columns of this width a number has room under them: 1, 2, 5, 10, 20 …
pub fn numbered_every(width: f32) -> usize {
    let decades = (0..6).map(|decade| 10_usize.pow(decade));
    let mut every = decades.flat_map(|ten| [ten, 2 * ten, 5 * ten]);
    let every = every.find(|&every| every as f32 * width >= 26.0);
    every.unwrap_or(1_000_000)
}

/// Number of rows that can be addressed: none without heads.
pub fn addressed(trace: &Trace) -> usize {
    let [rows, _] = trace.memory_size();
    if trace.heads.is_empty() { 0 } else { rows }
}

/// A row counts as touched when some column of a head has at least this much weight on it in some step. A column with
/// equal weight on more than twenty rows touches none of them.
pub const TOUCHED: f32 = 0.05;

/// True of a weight that touches a row, and of one that is no number.
pub(crate) fn touches(weight: f32) -> bool {
    !weight.is_finite() || weight >= TOUCHED
}

/// The rows with weight in some column of some head, as runs in the order in which they are shown. Where heads shift, row 0 follows the
/// last row, and the longest stretch left out comes last, so that a head that walks round the end is seen to walk on.
/// Every row if none is touched.
pub fn touched(recording: &Recording) -> Vec<Range<usize>> {
    let trace = &recording.trace;
    touched_by(&[recording], addressed(trace), 0..trace.steps())
}

/// Returns the touched rows among the first `total`, in some steps of several episodes.
pub(crate) fn touched_by(
    recordings: &[&Recording],
    total: usize,
    steps: Range<usize>,
) -> Vec<Range<usize>> {
    // A step of a source is never left out: the rows are an axis of symbols.
    let is_source = recordings.iter().any(|recording| reads_source(recording));
    let mut touched = vec![is_source; total];
    for recording in recordings {
        let last = recording.trace.steps();
        let steps = steps.start.min(last)..steps.end.min(last);
        let columns = recording.trace.heads.iter().flat_map(|head| {
            let shown = columns_of(head).filter(|column| column.is_weighting());
            shown.map(move |column| (head, column))
        });
        for ((head, column), step) in columns.flat_map(|of| steps.clone().map(move |t| (of, t))) {
            for (touched, &weight) in touched.iter_mut().zip(column.values(head, step)) {
                *touched |= touches(weight) && !is_absent(weight);
            }
        }
    }
    let mut runs = runs_of(touched);
    if runs.is_empty() && total > 0 {
        return std::iter::once(0..total).collect();
    }
    let mut heads = recordings
        .iter()
        .flat_map(|recording| &recording.trace.heads);
    if heads.any(|head| head.shift.width() > 0) {
        close_the_circle(&mut runs, total);
    }
    runs
}

/// The runs of places where this holds.
pub(crate) fn runs_of(holds: impl IntoIterator<Item = bool>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in holds.into_iter().enumerate().filter(|(_, holds)| *holds) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

fn close_the_circle(runs: &mut [Range<usize>], total: usize) {
    let indices = (0..runs.len()).rev();
    if let Some(widest) = indices.max_by_key(|&run| left_out_after(runs, run, total)) {
        runs.rotate_left((widest + 1) % runs.len());
    }
}

/// Number of rows omitted between a run and the next one, across the end.
fn left_out_after(runs: &[Range<usize>], index: usize, total: usize) -> usize {
    let next = &runs[(index + 1) % runs.len()];
    (next.start + total - runs[index].end) % total.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::model::dnc::{ALLOCATION, BACKWARD, FORWARD};
    use crate::train::ABSENT;

    const PLACING: Placing = Placing {
        gap: 15.0,
        tallest: 28.0,
        upwards: false,
    };

    #[test]
    fn every_shown_column_touches_rows() {
        let task = crate::figure::fixture::recording().task;
        let mut machine = crate::model::DncConfig::new(task.inputs(), task.outputs());
        machine.rows = 100;
        let mut recording = Recording::new(&Model::new(machine, 1), &task, 1, 0);
        for head in &mut recording.trace.heads {
            head.weighting.as_mut_slice().fill(0.0);
            head.content.as_mut_slice().fill(0.0);
            for array in [ALLOCATION, FORWARD, BACKWARD] {
                if let Some(series) = head.series_mut(array) {
                    series.as_mut_slice().fill(0.0);
                }
            }
        }
        let heads = &mut recording.trace.heads;
        let write = heads.iter_mut().find(|head| head.is_write()).unwrap();
        write.weighting.row_mut(2)[3] = 1.0;
        write.series_mut(ALLOCATION).unwrap().row_mut(1)[26] = 0.99;
        assert_eq!(touched(&recording), [3..4, 26..27]);
        // Nor does an array that was not recorded touch all rows.
        let write = recording
            .trace
            .heads
            .iter_mut()
            .find(|head| head.is_write());
        write.unwrap().content.as_mut_slice().fill(ABSENT);
        assert_eq!(touched(&recording), [3..4, 26..27]);
    }

    #[test]
    fn a_place_and_its_row_belong_together() {
        let rows = Rows::of([2..5, 7..10], 128);
        assert_eq!(rows.numbers(), [2, 3, 4, 7, 8, 9]);
        let axis = rows.place(Span::new(100.0, 190.0), PLACING);
        assert_eq!(axis.gaps.len(), 2);
        assert_eq!((axis.gaps[0].0, axis.gaps[1].0), (2, 120));
        assert!((axis.height - 10.0).abs() < 1e-4);
        for &row in rows.numbers() {
            let place = axis.place_of(row).unwrap();
            assert_eq!(axis.row_at(place.center()), Some(row));
        }
        assert_eq!(axis.place_of(5), None);
        assert_eq!(axis.row_at(189.0), None);
        assert!(axis.bottom() <= 190.01);
    }

    #[test]
    fn rows_follow_each_other_round_the_end() {
        let rows = Rows::of([84..128, 0..5], 128);
        assert_eq!((rows.numbers()[0], rows.numbers()[44]), (84, 0));
        let axis = rows.place(Span::new(0.0, 505.0), PLACING);
        assert_eq!(axis.gaps.len(), 1);
        assert_eq!(axis.gaps[0].0, 79);
        let (last, first) = (axis.place_of(127).unwrap(), axis.place_of(0).unwrap());
        assert!((last.max - first.min).abs() < 1e-3);
    }

    #[test]
    fn a_part_is_cut_at_both_ends() {
        let rows = Rows::of([2..5, 7..10], 128);
        let part = rows.part(1, 3);
        assert_eq!(part.numbers(), [3, 4, 7]);
        let axis = part.place(Span::new(0.0, 90.0), PLACING);
        assert_eq!(axis.gaps.len(), 1);
        assert_eq!(rows.part(4, 2).numbers(), [8, 9]);
        assert_eq!(rows.part(9, 2).numbers(), [0; 0]);
        assert_eq!(
            rows.part(9, 2)
                .place(Span::new(0.0, 50.0), PLACING)
                .row_at(5.0),
            None
        );
    }

    #[test]
    fn empty_rows_and_no_room_do_not_panic() {
        let axis = Rows::all(128).place(Span::new(0.0, 0.0), PLACING);
        assert_eq!(axis.row_at(5.0), None);
        let axis = Rows::all(0).place(Span::new(0.0, 50.0), PLACING);
        assert_eq!(axis.row_at(5.0), None);
    }

    #[test]
    fn marks_disappear_when_rows_are_tiny() {
        let rows = Rows::of([0..100, 110..128], 128);
        let axis = rows.place(Span::new(0.0, 118.0), PLACING);
        assert!((axis.height - 1.0).abs() < 1e-6);
    }

    #[test]
    fn wrapped_run_is_not_split() {
        let mut runs = vec![0..5, 84..128];
        close_the_circle(&mut runs, 128);
        assert_eq!(runs, [84..128, 0..5]);
        assert_eq!(left_out_after(&runs, 0, 128), 0);
        assert_eq!(left_out_after(&runs, 1, 128), 79);
        let mut runs = vec![0..21, 60..61];
        close_the_circle(&mut runs, 128);
        assert_eq!(runs, [0..21, 60..61]);
    }

    #[test]
    fn rows_may_run_upwards() {
        let placing = Placing {
            upwards: true,
            ..PLACING
        };
        let axis = Rows::of([2..5, 7..10], 128).place(Span::new(100.0, 190.0), placing);
        let [first, last] = [2, 9].map(|row| axis.place_of(row).unwrap());
        assert!((first.max - 190.0).abs() < 1e-3 && last.max < first.min);
        for (row, place) in (0..2).flat_map(|run| axis.rows(run)) {
            assert_eq!(axis.row_at(place.center()), Some(row));
        }
        assert!(axis.numbered().map(|(row, _)| row).eq([2, 4, 8]));
    }

    #[test]
    fn numbers_have_room() {
        assert_eq!(
            [30.0, 12.0, 1.0, 0.01].map(numbered_every),
            [1, 5, 50, 5000]
        );
    }
}
