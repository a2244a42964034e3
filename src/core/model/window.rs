//! The memory on the way back: from the tape, or written again where the tape kept only some of it.

use super::config::Order;
use super::head::HeadGradient;
use super::kind::Kind;
use super::memory;
use super::trace::{HeadTrace, Trace};
use crate::math::similarity;
use crate::math::{Aligned, Real, Series};

/// The memory that heads see, column after column, with the norms of its rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisibleRows<'a, R> {
    /// [M·N].
    pub(super) columns: &'a [R],
    /// [N].
    pub(super) norms: &'a [R],
    /// Under each root of the norms.
    pub(super) epsilon: R,
}

impl<'a, R: Real> VisibleRows<'a, R> {
    /// A memory with the norms of its rows, which it computes.
    fn of(columns: &'a [R], epsilon: R, norms: &'a mut [R]) -> Self {
        similarity::norms(columns, epsilon, norms);
        Self {
            columns,
            norms,
            epsilon,
        }
    }
}

/// Where the backward pass of a step adds to.
#[derive(Debug)]
pub(super) struct BackwardStep<'a, R> {
    /// The step.
    pub(super) t: usize,
    /// The memory that the heads saw.
    pub(super) visible_rows: VisibleRows<'a, R>,
    /// Gradient w.r.t. it, column after column.
    pub(super) d_memory: &'a mut [R],
    /// N values.
    pub(super) scratch: &'a mut [R],
}

/// The memory between two kept steps, recomputed from the writes of the heads.
#[derive(Debug)]
pub(super) struct Window<R> {
    /// M_start, M_start+1, …, [k, M·N].
    memory: Series<R>,
    /// The first step it holds.
    start: Option<usize>,
    /// Norms of the rows of the memory last asked for, [N].
    norms: Aligned<R>,
    /// True where the tape has the norms of M_{t−1} in step t: not where the reads come after the writes.
    knows_norms: bool,
}

impl<R: Real> Window<R> {
    /// Creates a window for the memories of a machine.
    pub(super) fn new(kind: &dyn Kind) -> Self {
        Self {
            memory: Series::new(kind.rows() * kind.columns()),
            start: None,
            norms: Aligned::zeros(0),
            knows_norms: kind.order() == Order::ReadFirst,
        }
    }

    /// Clears the contents, which belong to the previous episode.
    pub(super) fn reset(&mut self) {
        self.start = None;
    }

    /// M_t and the norms of its rows. Steps are asked for from the end.
    pub(super) fn at<'a>(
        &'a mut self,
        trace: &'a Trace<R>,
        writers: &[HeadTrace<R>],
        t: usize,
        epsilon: R,
    ) -> VisibleRows<'a, R> {
        if trace.memory_every == 1 && self.knows_norms {
            return VisibleRows {
                columns: trace.memory_columns.row(t),
                norms: trace.norms.row(t),
                epsilon,
            };
        }
        let columns = if trace.memory_every == 1 {
            trace.memory_columns.row(t)
        } else {
            self.fill(trace, writers, t);
            self.memory.row(t % trace.memory_every)
        };
        self.norms.resize(trace.norms.width());
        VisibleRows::of(columns, epsilon, &mut self.norms)
    }

    /// Writes the memories again from the kept one before `t` up to M_t.
    fn fill(&mut self, trace: &Trace<R>, writers: &[HeadTrace<R>], t: usize) {
        let every = trace.memory_every;
        let start = t / every * every;
        if self.start == Some(start) {
            return;
        }
        self.start = Some(start);
        self.memory.resize(every);
        let kept = trace.memory_columns.row(start / every);
        self.memory.row_mut(0).copy_from_slice(kept);
        for step in start..t {
            let (before, after) = self.memory.previous_and_row_mut(step - start + 1);
            memory::write(writers, step, before, after);
        }
    }
}

/// M_t where the reads come after the writes: nothing of it was kept, so it is written again.
#[derive(Debug, Default)]
pub(super) struct After<R> {
    columns: Aligned<R>,
    norms: Aligned<R>,
}

impl<R: Real> After<R> {
    /// Returns M_t from M_{t−1} and the writes.
    pub(super) fn at(
        &mut self,
        writers: &[HeadTrace<R>],
        t: usize,
        before: VisibleRows<'_, R>,
    ) -> VisibleRows<'_, R> {
        self.columns.resize(before.columns.len());
        self.norms.resize(before.norms.len());
        memory::write(writers, t, before.columns, &mut self.columns);
        VisibleRows::of(&self.columns, before.epsilon, &mut self.norms)
    }
}

/// The gradients of heads and of a memory that changes, which travel from step to step, and scratch.
#[derive(Debug)]
pub(super) struct MemoryGradient<R> {
    /// w.r.t. the memory, column after column.
    pub(super) memory: Aligned<R>,
    /// Of every head.
    pub(super) heads: Vec<HeadGradient<R>>,
    /// A vector of N values: scratch.
    pub(super) rows: Aligned<R>,
    /// Scratch in the shape of the memory; may be empty.
    pub(super) write: Aligned<R>,
}

impl<R: Real> MemoryGradient<R> {
    /// All zero; `needs_write` says whether writes need scratch.
    pub(super) fn new(kind: &dyn Kind, needs_write: bool) -> Self {
        let (rows, values) = (kind.rows(), kind.rows() * kind.columns());
        Self {
            memory: Aligned::zeros(values),
            heads: HeadGradient::of_all(kind, &Trace::of(kind)),
            rows: Aligned::zeros(rows),
            write: Aligned::zeros(if needs_write { values } else { 0 }),
        }
    }

    /// Empties it for an episode.
    pub(super) fn reset(&mut self) {
        self.memory.fill(R::ZERO);
        self.heads.iter_mut().for_each(HeadGradient::reset);
    }

    /// Records the gradients w.r.t. the state before the first step.
    pub(super) fn record_start(&self, trace: &Trace<R>, recorder: &mut Trace<R>) {
        recorder.record_memory(trace, 0, &self.memory);
        for (head, d) in self.heads.iter().enumerate() {
            recorder.record_start(trace, head, d);
        }
    }
}
