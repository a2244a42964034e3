//! The memory of an episode, forwards in time: what is written, and which rows count as accessed.

use super::kind::{
    AT_EARLIER, AT_INITIAL, AT_RECORDED, AT_ROWS, INTERPOLATION_GATE, ROW, ROWS, SamConfig,
    WEIGHTS, WRITE_GATE,
};
use crate::math::Real;
use crate::model::array;
use crate::model::spec::{Array, Place};
use crate::model::trace::Trace;

/// A configuration, and whether rows are searched for.
#[derive(Clone, Copy)]
pub(super) struct Sam<'a> {
    pub(super) config: &'a SamConfig,
    pub(super) is_searching: bool,
}

impl SamConfig {
    /// With a search for rows, as an episode runs.
    pub(super) fn searching(&self) -> Sam<'_> {
        Sam {
            config: self,
            is_searching: true,
        }
    }

    /// With the rows of a trace as they were recorded.
    pub(super) fn recorded(&self) -> Sam<'_> {
        Sam {
            is_searching: false,
            ..self.searching()
        }
    }

    /// The arrays from which the memory follows: what was written and accessed before, and what is written now.
    pub(super) fn memory_needs(&self) -> Vec<(Place, Array)> {
        let mut needs = Vec::new();
        for head in 0..self.heads {
            needs.extend([ROWS, WEIGHTS].map(|array| (Place::Head(head), array)));
            let written = [ROW, WRITE_GATE, INTERPOLATION_GATE, array::ADD];
            needs.extend(written.map(|array| (Place::Head(self.heads + head), array)));
        }
        needs
    }
}

impl Sam<'_> {
    /// Returns the memory of a trace to the time before the first step.
    pub(super) fn reset<R: Real>(self, trace: &mut Trace<R>, like: Option<&Trace<R>>) {
        let changed = self.config.touched(trace.steps());
        let given = trace.kind_arrays.at(AT_INITIAL).as_slice();
        let like = like.map(|like| &like.sparse);
        let plan = (self.config.plan(), given);
        trace.sparse.reset(plan, changed, self.is_searching, like);
        if !self.is_searching {
            set_initial(self.config, trace);
        }
    }

    /// Makes the memory of a trace know all accesses before step `t`.
    pub(super) fn before<R: Real>(self, trace: &mut Trace<R>, t: usize) {
        let is_ready = trace.sparse.is_searchable() || !self.is_searching;
        let time = trace.sparse.time;
        if !time.is_some_and(|[_, accessed]| accessed <= t && is_ready) {
            self.reset(trace, None);
        }
        while let Some([written, accessed]) = trace.sparse.time
            && accessed < t
        {
            if written == accessed {
                self.write(trace, written);
            }
            self.access(trace, accessed);
        }
    }

    /// Makes it M_t as it is after the writes of step `t`.
    pub(super) fn after<R: Real>(self, trace: &mut Trace<R>, t: usize) {
        let time = trace.sparse.time;
        if time.is_some_and(|[written, _]| written == t + 1) {
            return;
        }
        self.before(trace, t);
        if trace.sparse.time.is_some_and(|[written, _]| written == t) {
            self.write(trace, t);
        }
    }

    /// Row i set to 0, then + w^W·aᵀ, head after head; what stood in these rows goes to the tape.
    fn write<R: Real>(self, trace: &mut Trace<R>, t: usize) {
        let earlier = trace.kind_arrays.at_mut(AT_EARLIER);
        // A trace that was read has no tape.
        let is_taped = earlier.is_ring() || earlier.steps() > t;
        let tape = is_taped.then(|| earlier.row_mut(t).chunks_exact_mut(self.config.columns));
        let mut tape = tape.into_iter().flatten();
        for head in 0..self.config.heads {
            let pair = self.config.pair(&trace.heads, head);
            let add = pair[1].add.row(t);
            for (place, (row, weight)) in self.config.written(pair, t).enumerate() {
                let sparse = &mut trace.sparse;
                sparse.write(row, place == 0, (weight, add), tape.next());
            }
        }
        trace.sparse.settle();
        trace.sparse.time = Some([t + 1, t]);
    }

    /// Counts the rows of step `t` as accessed.
    fn access<R: Real>(self, trace: &mut Trace<R>, t: usize) {
        let Trace { heads, sparse, .. } = trace;
        let config = self.config;
        // Where the step itself did not do it, as after a jump to a later step.
        for head in &heads[..config.heads] {
            for &row in head.of_score.at(AT_ROWS).row(t) {
                sparse.slot(config.row_of(row));
            }
        }
        let weights = (0..config.heads).flat_map(|head| {
            let pair = config.pair(heads, head);
            let [rows, _, weights] = pair[0].of_score.all();
            let read = rows.row(t).iter().zip(weights.row(t));
            let read = read.map(|(&row, &weight)| (config.row_of(row), weight));
            read.chain(config.written(pair, t))
        });
        sparse.access(t, weights, R::from_f64(config.threshold));
        sparse.time = Some([t + 1; 2]);
    }
}

/// Takes the rows before the first step as they were recorded.
fn set_initial<R: Real>(config: &SamConfig, trace: &mut Trace<R>) {
    let recorded = trace.kind_arrays.at(AT_RECORDED).as_slice();
    let memory = &trace.memory_columns;
    if memory.steps() == 0 || recorded.is_empty() || !memory.row(0)[0].is_finite() {
        return;
    }
    for (place, &row) in recorded.iter().enumerate() {
        let values = memory.row(0).iter().skip(place).step_by(recorded.len());
        trace.sparse.set(config.row_of(row), values.copied());
    }
}
