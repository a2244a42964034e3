//! Memory wrap-around: writes that reach rows already written.
//!
//! A head that moves on by shifts takes one row after the other, and behind the last one the first again; a head
//! without a focus spreads its weighting over all rows at once. Either way the content of a row is overwritten without
//! a content match. With more rows that happens later, or with less weight on each. A head that finds a row by its
//! content writes it again on purpose: that does not count.

use std::ops::Range;

use super::trace::{HeadTrace, Trace};

/// Share of a head's weight from which it is on a row, and share of a write that must be left for the row to hold it,
/// if every write replaced the content it reaches.
const HALF: f32 = 0.5;
/// A weighting lies over all rows where as many as this share of them would hold its weight evenly.
const SPREAD: f32 = 0.25;

/// A wrap-around of the memory: writes of one episode reach rows already written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrapAround {
    /// The first step in which they do.
    pub step: usize,
    /// The number of memory rows that avoids it, if the heads moved in the same way.
    pub rows_needed: usize,
}

impl std::fmt::Display for WrapAround {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { step, rows_needed } = self;
        write!(
            f,
            "memory wrapped around (use {rows_needed} rows or more to avoid it); first at step {step}"
        )
    }
}

/// The row with the most weight, and the weight; nothing where no weight is finite.
pub fn peak(weighting: &[f32]) -> Option<(usize, f32)> {
    weighting
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, weight)| weight.is_finite())
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
}

impl Trace<f32> {
    /// Returns the wrap-around of this episode: writes to rows already written, and the number of rows that avoids it.
    ///
    /// `None` also where the number of rows cannot change, because the initial memory or weighting is learned, and
    /// where the arrays were not recorded.
    pub fn wrap_around(&self) -> Option<WrapAround> {
        let mut writes = WriteLedger::of(self)?;
        writes.add_steps(self, 0..self.steps());
        writes.wrap_around(self.steps())
    }
}

impl WriteLedger {
    /// A ledger without writes, for an episode of which at least the initial state is there; `None` as in
    /// [`Trace::wrap_around`].
    pub fn of(trace: &Trace<f32>) -> Option<Self> {
        let writers = || trace.heads.iter().filter(|head| head.is_write());
        // Only heads that are where they are by content, gate and shift move as is reckoned here.
        let moves = |head: &HeadTrace<f32>| {
            let needed = [&head.initial, &head.content, &head.gate, &head.shift];
            needed.iter().all(|series| series.width() > 0)
        };
        let first = writers().next().filter(|_| writers().all(moves))?;
        let rows = first.initial.width();
        let mut columns = trace.memory_columns.row(0).chunks(rows);
        let is_one_hot = |head: &HeadTrace<f32>| peak(head.initial.row(0)) == Some((0, 1.0));
        if !columns.all(|column| column.iter().all(|value| *value == column[0]))
            || !writers().all(is_one_hot)
        {
            return None;
        }
        let places = vec![RingPosition::default(); writers().count()];
        Some(Self::new(rows, first.shift.width() / 2, places))
    }

    /// Follows the writes of these steps.
    pub fn add_steps(&mut self, trace: &Trace<f32>, steps: Range<usize>) {
        for t in steps {
            let writers = trace.heads.iter().filter(|head| head.is_write());
            for (index, head) in writers.enumerate() {
                self.write(head, t, index);
            }
        }
    }
}

/// The position of a head on the ring of rows: its last row, and how often it has passed row 0.
#[derive(Clone, Copy, Debug, Default)]
struct RingPosition {
    row: usize,
    lap: isize,
}

impl RingPosition {
    /// Moves on to `row`, which begins a lap when the head came there by a shift.
    fn advance(&mut self, head: &HeadTrace<f32>, t: usize, row: usize) {
        let (rows, reach) = (head.initial.width(), head.shift.width() / 2);
        let (_, found) = peak(head.content.row(t)).unwrap_or_default();
        let held = head.previous_weighting(t)[self.row];
        let gate = head.gate[t];
        let is_found = gate * found > (1.0 - gate) * held;
        let ahead = (row + rows - self.row) % rows;
        if !is_found && ahead <= reach && row < self.row {
            self.lap += 1;
        } else if !is_found && rows - ahead <= reach && row > self.row {
            self.lap -= 1;
        }
        self.row = row;
    }
}

/// The state of one row.
#[derive(Clone, Copy, Debug)]
struct RowState {
    /// The lap in which it was written.
    lap: Option<isize>,
    /// The share of that which is left.
    share_left: f32,
}

/// The state of all rows after the writes so far of an episode.
#[derive(Debug)]
pub struct WriteLedger {
    entries: Vec<RowState>,
    /// The position of each write head.
    places: Vec<RingPosition>,
    reach: usize,
    /// The first and the last row that a head was on, counted on over the laps.
    ends: Option<(isize, isize)>,
    /// The first step in which a row that was written is reached again.
    step: Option<usize>,
    /// True when that was in another lap.
    is_lapped: bool,
    /// The smallest share of a row's content left by writes over all rows.
    least_share_left: f32,
}

impl WriteLedger {
    fn new(rows: usize, reach: usize, places: Vec<RingPosition>) -> Self {
        let blank = RowState {
            lap: None,
            share_left: 1.0,
        };
        Self {
            entries: vec![blank; rows],
            places,
            reach,
            ends: None,
            step: None,
            is_lapped: false,
            least_share_left: 1.0,
        }
    }

    /// Follows the write of a head, counted from the first write head, in step `t`.
    fn write(&mut self, head: &HeadTrace<f32>, t: usize, index: usize) {
        let weighting = head.weighting.row(t);
        let Some((row, weight)) = peak(weighting) else {
            return;
        };
        // How much of the weight changes anything; what was not recorded is not a number, and changes nothing.
        let vectors = head.erase.row(t).iter().chain(head.add.row(t));
        let force = vectors
            .map(|value| value.abs())
            .fold(0.0, f32::max)
            .min(1.0);
        if weight >= HALF {
            self.places[index].advance(head, t, row);
            if weight * force >= HALF {
                self.write_row(t, self.places[index]);
            }
        } else if 1.0 > SPREAD * weighting.len() as f32 * square(weighting) {
            self.write_all(t, weighting, force);
        }
    }

    fn write_row(&mut self, t: usize, place: RingPosition) {
        let rows = self.entries.len().cast_signed();
        let at = place.lap * rows + place.row.cast_signed();
        let (first, last) = self.ends.unwrap_or((at, at));
        self.ends = Some((first.min(at), last.max(at)));
        let entry = &mut self.entries[place.row];
        if entry.lap.is_some_and(|lap| lap != place.lap) {
            self.step.get_or_insert(t);
            self.is_lapped = true;
        }
        *entry = RowState {
            lap: Some(place.lap),
            share_left: 1.0,
        };
    }

    fn write_all(&mut self, t: usize, weighting: &[f32], force: f32) {
        let written = self.entries.iter_mut().zip(weighting);
        for (entry, weight) in written.filter(|(entry, _)| entry.lap.is_some()) {
            entry.share_left *= 1.0 - weight * force;
            if entry.share_left < HALF {
                self.step.get_or_insert(t);
                self.least_share_left = self.least_share_left.min(entry.share_left);
            }
        }
    }

    /// Returns the wrap-around of an episode of `steps` steps.
    pub fn wrap_around(&self, steps: usize) -> Option<WrapAround> {
        let (step, rows) = (self.step?, self.entries.len());
        let walked = match self.ends {
            Some((first, last)) if self.is_lapped => {
                // A head that comes round may lose its way: before that it shows how fast it goes.
                let paced = (rows * steps).div_ceil(step.max(1));
                // A shift touches the neighbouring rows.
                (last - first + 1).unsigned_abs().max(paced) + 2 * self.reach
            }
            _ => 0,
        };
        // Twice the rows have half the weight each, which leaves the root.
        let times = self.least_share_left.max(f32::MIN_POSITIVE).log(HALF);
        let spread = (rows as f32 * times).ceil() as usize;
        Some(WrapAround {
            step,
            rows_needed: walked.max(spread),
        })
    }
}

/// The sum of the squares: one over the number of rows that would hold the weight evenly.
fn square(weighting: &[f32]) -> f32 {
    weighting.iter().map(|weight| weight * weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NtmConfig;

    const ROWS: usize = 8;

    /// A step of a write head: its weighting, and whether it was found by content.
    type Step = (Vec<f32>, bool);

    fn on(row: usize) -> Step {
        let weighting = (0..ROWS).map(|i| if i == row { 1.0 } else { 0.0 });
        (weighting.collect(), false)
    }

    fn found(row: usize) -> Step {
        (on(row).0, true)
    }

    fn everywhere() -> Step {
        (vec![1.0 / ROWS as f32; ROWS], true)
    }

    fn trace(steps: impl IntoIterator<Item = Step>) -> Trace<f32> {
        let steps: Vec<Step> = steps.into_iter().collect();
        let mut config = NtmConfig::new(1, 1);
        (config.rows, config.columns) = (ROWS, 2);
        let mut trace = Trace::new(&config);
        trace.resize(steps.len());
        for head in &mut trace.heads {
            head.initial.as_mut_slice().fill(0.0);
            head.initial[0] = 1.0;
            for (t, (weighting, d_content)) in steps.iter().enumerate() {
                head.weighting.row_mut(t).copy_from_slice(weighting);
                head.content.row_mut(t).copy_from_slice(weighting);
                head.gate[t] = f32::from(u8::from(*d_content));
            }
            head.erase.as_mut_slice().fill(0.9);
            head.add.as_mut_slice().fill(-1.0);
        }
        trace
    }

    #[test]
    fn wrap_around_is_found_at_its_step() {
        assert_eq!(trace((1..=8).map(|row| on(row % 8))).wrap_around(), None);
        let wrap_around = trace((1..=11).map(|row| on(row % 8)))
            .wrap_around()
            .unwrap();
        // Rows 1 to 11, and one beside each end.
        assert_eq!((wrap_around.step, wrap_around.rows_needed), (8, 13));
        assert_eq!(
            wrap_around.to_string(),
            "memory wrapped around (use 13 rows or more to avoid it); first at step 8"
        );
        // A head that loses its way then is taken to have gone on as before.
        let lost = (1..=8)
            .chain(std::iter::repeat_n(9, 24))
            .map(|row| on(row % 8));
        assert_eq!(
            trace(lost).wrap_around().map(|found| found.rows_needed),
            Some(34)
        );
        // Backwards as well.
        let back = trace((1..=11).map(|step| on((16 - step) % 8))).wrap_around();
        assert_eq!(back.map(|found| found.step), Some(8));
    }

    #[test]
    fn returning_to_or_staying_on_a_row_is_no_wrap_around() {
        let there_and_back = (0..20).map(|t| on(if t % 10 < 5 { t % 10 } else { 10 - t % 10 }));
        assert_eq!(trace(there_and_back).wrap_around(), None);
        assert_eq!(trace((0..50).map(|_| on(3))).wrap_around(), None);
        let sought = [7, 0, 1, 7, 0, 3, 0, 7, 1, 0, 7].map(found);
        assert_eq!(trace(sought).wrap_around(), None);
    }

    #[test]
    fn writes_over_all_rows_add_up() {
        let steps = |count| {
            [on(0), on(1)]
                .into_iter()
                .chain((0..count).map(|_| everywhere()))
        };
        // (1 − 1/8)^5 is above one half, and the next power below.
        assert_eq!(trace(steps(5)).wrap_around(), None);
        let wrap_around = trace(steps(6)).wrap_around().unwrap();
        assert_eq!((wrap_around.step, wrap_around.rows_needed), (7, 10));
        // Where nothing was written, nothing is lost.
        assert_eq!(trace((0..50).map(|_| everywhere())).wrap_around(), None);
    }

    #[test]
    fn negligible_or_unrecorded_writes_are_no_wrap_around() {
        let round = || trace((1..=11).map(|row| on(row % 8)));
        let with = |change: fn(&mut Trace<f32>)| {
            let mut trace = round();
            change(&mut trace);
            trace.wrap_around()
        };
        assert!(with(|_| {}).is_some());
        for value in [0.1, f32::NAN] {
            let mut trace = round();
            for head in &mut trace.heads {
                head.erase.as_mut_slice().fill(value);
                head.add.as_mut_slice().fill(value);
            }
            assert_eq!(trace.wrap_around(), None, "{value}");
        }
        let unknown = |trace: &mut Trace<f32>| {
            for head in &mut trace.heads {
                head.weighting.as_mut_slice().fill(f32::NAN);
            }
        };
        assert_eq!(with(unknown), None);
        // A learned start fixes the number of rows.
        let learned = |trace: &mut Trace<f32>| trace.memory_columns.row_mut(0)[3] = 0.5;
        assert_eq!(with(learned), None);
        let machine_without_heads = |trace: &mut Trace<f32>| trace.heads.clear();
        assert_eq!(with(machine_without_heads), None);
    }
}
