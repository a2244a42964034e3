//! What a recording shows: the rows that its episode reads or writes, each array with a value for every such row, as other machines
//! have them for all rows. Training and evaluation have none of this.
//!
//! ```text
//! age: steps since the last access        K(j) = cosine of k and M_t(j)        w^W, w^R, M_t
//! ```

use super::kind::{AGE, AT_AGE, AT_INITIAL, AT_RECORDED, RECORDED_ROWS, SamConfig};
use super::memory::Sam;
use crate::math::{Real, Series};
use crate::model::array;
use crate::model::dependency::{Dependency, Size};
use crate::model::kind::Kind;
use crate::model::sparse::{SparseMemory, cosine, norm_of};
use crate::model::spec::Place;
use crate::model::trace::Trace;

/// The place of a row among those shown.
fn place<R: Real>(recorded: &Series<R>, row: usize) -> Option<usize> {
    let (rows, row) = (recorded.as_slice(), R::from_f64(row as f64));
    let place = rows.partition_point(|&other| other < row);
    (rows.get(place) == Some(&row)).then_some(place)
}

/// The number of a row among all of the memory, where a recording may have some of them, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowNumber(pub usize);

impl std::fmt::Display for RowNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of the row with this index in a recording.
pub fn row_number<R: Real>(trace: &Trace<R>, row: usize) -> RowNumber {
    let shown = trace.series(Place::Machine, RECORDED_ROWS);
    let number = shown.and_then(|shown| shown.as_slice().get(row));
    let number = number.filter(|number| number.is_finite());
    RowNumber(number.map_or(row, |number| number.to_f64() as usize))
}

/// The rows that a recording shows, row after row, as they are before the first step by configuration or weights.
pub fn initial_rows<R: Real>(config: &SamConfig, trace: &Trace<R>) -> Vec<R> {
    let mut memory = SparseMemory::default();
    let given = trace.kind_arrays.at(AT_INITIAL).as_slice();
    memory.reset((config.plan(), given), 0, false, None);
    let mut rows = Vec::new();
    for &row in trace.kind_arrays.at(AT_RECORDED).as_slice() {
        let row = memory.row(config.row_of(row));
        rows.extend_from_slice(&row[..config.columns]);
    }
    rows
}

impl SamConfig {
    /// Sets the arrays of a recorded episode that have a value for every row shown.
    pub(super) fn show_rows<R: Real>(&self, trace: &mut Trace<R>) {
        let (sam, steps) = (self.recorded(), trace.steps());
        sam.before(trace, steps);
        let slots = 0..trace.sparse.slots();
        let mut rows: Vec<_> = slots.map(|slot| trace.sparse.row_of(slot)).collect();
        rows.sort_unstable();
        let shown = Self {
            shown: rows.len(),
            ..self.clone()
        };
        sam.reset(trace, None);
        let m = self.columns;
        let initial = rows.iter().map(|&row| trace.sparse.row(row)[..m].to_vec());
        let initial: Vec<_> = initial.collect();
        for (place, array, series) in trace.everything_mut() {
            let width = shown.width(place, array);
            if width != series.width() {
                *series = Series::new(width);
            }
        }
        trace.resize(steps);
        let recorded = trace.kind_arrays.at_mut(AT_RECORDED).as_mut_slice();
        for (to, &row) in recorded.iter_mut().zip(&rows) {
            *to = R::from_f64(row as f64);
        }
        for (at, to) in trace.memory_columns.row_mut(0).iter_mut().enumerate() {
            *to = initial[at % rows.len()][at / rows.len()];
        }
        for head in &mut trace.heads[..self.heads] {
            // Row 0 is the first one that is written.
            if let Some(first) = head.initial.row_mut(0).first_mut() {
                *first = R::ONE;
            }
        }
        let rules = self.shown_rules();
        for t in 0..steps {
            rules.iter().for_each(|rule| rule.compute(trace, t));
        }
    }

    /// The arrays of [`SamConfig::show_rows`], in the order of the computation.
    pub(super) fn shown_rules<'a, R: Real>(&'a self) -> Vec<Dependency<'a, R>> {
        let start = [RECORDED_ROWS, array::INITIAL_MEMORY].map(|array| (Place::Machine, array));
        let needs = [&start[..], &self.memory_needs()].concat();
        let of = |head, array, work: fn(Sam<'a>, &mut Trace<R>, usize, usize)| {
            let place = Place::Head(head);
            Dependency::new(place, array, needs.clone(), Size::One, move |trace, t| {
                work(self.recorded(), trace, head, t);
            })
        };
        let (readers, writers) = (0..self.heads, self.heads..2 * self.heads);
        let mut all = Vec::new();
        all.extend(writers.clone().map(|head| of(head, AGE, Sam::set_ages)));
        all.extend(writers.map(|head| of(head, array::WEIGHTING, Sam::scatter)));
        let memory = needs.iter().copied();
        all.push(Dependency::of_memory(memory, |trace, t| {
            self.recorded().set_memory(trace, t);
        }));
        let compared = readers
            .clone()
            .map(|head| of(head, array::SIMILARITY, Sam::compare));
        all.extend(compared);
        all.extend(readers.map(|head| of(head, array::WEIGHTING, Sam::scatter)));
        all
    }
}

impl Sam<'_> {
    fn set_ages<R: Real>(self, trace: &mut Trace<R>, head: usize, t: usize) {
        self.before(trace, t);
        let to = trace.heads[head].of_score.at_mut(AT_AGE).row_mut(t);
        let recorded = trace.kind_arrays.at(AT_RECORDED).as_slice();
        for (to, &row) in to.iter_mut().zip(recorded) {
            *to = R::from_f64(trace.sparse.age(self.config.row_of(row), t) as f64);
        }
    }

    /// The weighting of a head, from its weights.
    fn scatter<R: Real>(self, trace: &mut Trace<R>, head: usize, t: usize) {
        let (config, recorded) = (self.config, trace.kind_arrays.at(AT_RECORDED));
        let mut weighting = vec![R::ZERO; recorded.width()];
        let mut add = |row: usize, weight: R| {
            if let Some(place) = place(recorded, row) {
                weighting[place] += weight;
            }
        };
        if let Some(of) = head.checked_sub(config.heads) {
            let written = config.written(config.pair(&trace.heads, of), t);
            written.for_each(|(row, weight)| add(row, weight));
        } else {
            let [rows, _, weights] = trace.heads[head].of_score.all();
            let read = rows.row(t).iter().zip(weights.row(t));
            read.for_each(|(&row, &weight)| add(config.row_of(row), weight));
        }
        let to = trace.heads[head].weighting.row_mut(t);
        to.copy_from_slice(&weighting);
    }

    /// M_t after the writes of the step.
    fn set_memory<R: Real>(self, trace: &mut Trace<R>, t: usize) {
        self.after(trace, t);
        let to = trace.memory_columns.row_mut(t + 1);
        let recorded = trace.kind_arrays.at(AT_RECORDED).as_slice();
        for (place, &row) in recorded.iter().enumerate() {
            let values = trace.sparse.row(self.config.row_of(row));
            let to = to.iter_mut().skip(place).step_by(recorded.len());
            to.zip(values).for_each(|(to, &value)| *to = value);
        }
    }

    /// The cosine of the key and every row shown.
    fn compare<R: Real>(self, trace: &mut Trace<R>, head: usize, t: usize) {
        self.after(trace, t);
        let of = &mut trace.heads[head];
        let (key, to) = (of.key.row(t), of.similarity.row_mut(t));
        let norm = norm_of(key, self.config.similarity_epsilon);
        let recorded = trace.kind_arrays.at(AT_RECORDED).as_slice();
        for (to, &row) in to.iter_mut().zip(recorded) {
            *to = cosine(key, norm, trace.sparse.row(self.config.row_of(row)));
        }
    }
}
