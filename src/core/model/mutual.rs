//! Attention between the document and the question of a source, both ways: every step of the one attends to the steps of the
//! other, once all of them have been read (Xiong 2016, §2.2; Cui 2016, §3).
//!
//! ```text
//! K_t(i) = M(t)·M(i) and w_t = softmax_i(K_t) over the rows i of the other side    r_t = Σ_i w_t(i)·M(i)
//! ```
//!
//! So the weightings of the steps of the question are a map over the document, and those of the document one over the
//! question. The last channel but one of the input ends the document, the last one the question.

use std::ops::Range;

use super::array;
use super::dependency::{Dependency, Size};
use super::machine::{GradientRecorder, Upstream, record};
use super::memory;
use super::spec::{Array, Place};
use super::trace::{HeadTrace, Trace};
use crate::math::matrix::{self, Rows};
use crate::math::vectors::{add, add_multiple};
use crate::math::{Answer, Real, Series};

/// The steps of the document and those of the question, without the steps that end them.
pub(super) fn parts<R: Real>(trace: &Trace<R>) -> [Range<usize>; 2] {
    let last = trace.setting.source.saturating_sub(1);
    let channel = trace.input.width().saturating_sub(2);
    let is_end = |t: &usize| trace.input.row(*t)[channel].to_f64() > 0.5;
    let end = (1..last).find(is_end).unwrap_or((last / 2).max(1));
    [0..end.min(last + 1), (end + 1).min(last)..last]
}

/// The steps of the document and those of the question, each with the step that ends it.
pub(super) fn with_ends<R: Real>(trace: &Trace<R>) -> [Range<usize>; 2] {
    let [document, question] = parts(trace);
    let source = trace.setting.source;
    let end = (document.end + 1).min(source);
    [0..end, question.start.max(end)..source]
}

/// The side that a step attends to; nothing for one that is on none.
pub(super) fn other([document, question]: [Range<usize>; 2], t: usize) -> Range<usize> {
    if document.contains(&t) {
        question
    } else if question.contains(&t) {
        document
    } else {
        0..0
    }
}

/// The rows of a memory of which no row changes.
pub(super) fn rows<R>(head: &HeadTrace<R>) -> Rows<'_, R>
where
    R: Real,
{
    let (data, count) = (head.rows.row(0), head.weighting.width());
    let stride = data.len() / count.max(1);
    Rows { data, stride }
}

/// K_t(i) = M(t)·M(i) of the rows that the step attends to.
pub(super) fn score<R: Real>(trace: &mut Trace<R>, t: usize, seen: Range<usize>) {
    let (head, columns) = (&mut trace.heads[0], trace.memory_columns.width());
    let columns = columns / head.weighting.width();
    let mut scores = vec![R::ZERO; head.similarity.width()];
    let all = rows(head);
    let own = &all.data[t * all.stride..][..columns];
    matrix::product_with_vector(all.part(seen.clone()), own, &mut scores[seen]);
    head.similarity.row_mut(t).copy_from_slice(&scores);
}

/// w_t = softmax(K_t) over some rows.
pub(super) fn weigh<R: Real>(head: &mut HeadTrace<R>, t: usize, seen: Range<usize>) {
    let (scores, content) = (head.similarity.row(t), head.content.row_mut(t));
    content.fill(R::ZERO);
    if !seen.is_empty() {
        let count = seen.len();
        Answer::Symbols.outputs(&scores[seen.clone()], count, &mut content[seen]);
    }
}

/// w_t is what the softmax made.
pub(super) fn copy_content<R: Real>(trace: &mut Trace<R>, t: usize) {
    let head = &mut trace.heads[0];
    head.weighting
        .row_mut(t)
        .copy_from_slice(head.content.row(t));
}

/// Score and weighting of a step of the source.
pub(super) fn attend<R: Real>(trace: &mut Trace<R>, t: usize, seen: Range<usize>) {
    score(trace, t, seen.clone());
    weigh(&mut trace.heads[0], t, seen);
    copy_content(trace, t);
}

/// Sets a memory that is kept to all rows.
pub(super) fn set_memory<R: Real>(trace: &mut Trace<R>, at: usize, rows: &[Vec<R>]) {
    let row = |i: usize| rows[i].iter().copied();
    memory::set_rows(
        trace.memory_columns.row_mut(at),
        rows.len(),
        rows.len(),
        row,
    );
}

/// Sets the memory of every step, or the only one that is kept, to these rows; M_0 is 0.
pub(super) fn remember<R: Real>(trace: &mut Trace<R>, rows: &[Vec<R>]) {
    let is_every = trace.memory_every == 1;
    trace.memory_columns.row_mut(0).fill(R::ZERO);
    let kept = if is_every { 1..trace.steps() + 1 } else { 0..1 };
    kept.for_each(|at| set_memory(trace, at, rows));
    for (i, row) in rows.iter().enumerate() {
        trace.heads[0].set_row(i, row);
    }
}

/// Scores and softmax, where `seen` says which rows a step attends to: from the memory, or in the answer by `answer`, which
/// needs another array.
pub(super) fn dependencies<'a, R: Real>(
    seen: fn(&Trace<R>, usize) -> Range<usize>,
    needs: (Place, Array),
    answer: fn(&mut Trace<R>, usize),
) -> Vec<Dependency<'a, R>> {
    let place = Place::Head(0);
    let scores = move |trace: &mut Trace<R>, t: usize| {
        if t >= trace.setting.source {
            return answer(trace, t);
        }
        let (seen, row) = (seen(trace, t), trace.memory_row(t + 1));
        trace.heads[0].set_rows(trace.memory_columns.row(row));
        score(trace, t, seen);
    };
    let content = move |trace: &mut Trace<R>, t: usize| {
        let seen = seen(trace, t);
        weigh(&mut trace.heads[0], t, seen);
    };
    let memory = [(Place::Machine, array::MEMORY), needs];
    let similarity = [(place, array::SIMILARITY)];
    vec![
        Dependency::new(place, array::SIMILARITY, memory, Size::Terms, scores),
        Dependency::new(place, array::CONTENT, similarity, Size::Share, content),
    ]
}

/// Records, at the end of an episode, that nothing follows from the memory and the weighting before the first step.
pub(super) fn finish<R: Real>(trace: &Trace<R>, recorder: GradientRecorder<'_, R>) {
    if let Some(to) = recorder {
        to.record_memory(trace, 0, &vec![R::ZERO; trace.memory_columns.width()]);
        to.record_no_initial(trace);
    }
}

/// The gradients of a step, and those w.r.t. the rows by the steps that are done.
pub(super) struct MutualGradient<R> {
    /// w.r.t. the weights, then w.r.t. the scores.
    pub(super) scores: Vec<R>,
    /// w.r.t. the rows, [S, M].
    pub(super) rows: Series<R>,
    /// The same of one step, where it is recorded.
    of_step: Series<R>,
}

impl<R: Real> MutualGradient<R> {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            scores: Vec::new(),
            rows: Series::new(columns),
            of_step: Series::new(columns),
        }
    }

    /// Empties the gradients for an episode.
    pub(super) fn reset(&mut self, trace: &Trace<R>) {
        for series in [&mut self.rows, &mut self.of_step] {
            series.clear(trace.setting.source);
        }
        self.start(trace);
    }

    /// Begins with another step.
    pub(super) fn start(&mut self, trace: &Trace<R>) {
        self.scores.clear();
        self.scores
            .resize(trace.heads[0].weighting.width(), R::ZERO);
    }

    /// Adds the penalties on the weights of step `t` to the gradient, and backpropagates to the scores of those rows.
    pub(super) fn weigh(
        &mut self,
        trace: &Trace<R>,
        (t, seen): (usize, Range<usize>),
        by: &Upstream<R>,
        recorder: GradientRecorder<'_, R>,
    ) {
        let head = &trace.heads[0];
        if by.weightings[0].width() > 0 {
            add(&mut self.scores, by.weightings[0].row(t));
        }
        if let Some(to) = recorder {
            record(&mut to.heads[0].weighting, &head.weighting, t, &self.scores);
            record(&mut to.heads[0].content, &head.content, t, &self.scores);
        }
        let shares = &head.content.row(t)[seen.clone()];
        let pairs = shares.iter().zip(&self.scores[seen.clone()]);
        let mean: R = pairs.map(|(&p, &d)| p * d).sum();
        let first = seen.start;
        for (i, d) in self.scores.iter_mut().enumerate() {
            let share = i.checked_sub(first).and_then(|i| shares.get(i));
            *d = share.map_or(R::ZERO, |&p| p * (*d - mean));
        }
    }

    /// Adds the gradient w.r.t. the read of step `t` to those w.r.t. its weights and the rows.
    pub(super) fn read(&mut self, trace: &Trace<R>, (t, seen): (usize, Range<usize>), d: &[R]) {
        // A weight of a row on no side would count, too.
        let (head, mut by_weights) = (&trace.heads[0], vec![R::ZERO; self.scores.len()]);
        matrix::product_with_vector(rows(head), d, &mut by_weights);
        add(&mut self.scores, &by_weights);
        for i in seen {
            add_multiple(self.of_step.row_mut(i), head.weighting.row(t)[i], d);
        }
    }

    /// Backpropagates through the scores of step `t` to the rows, and ends the step.
    pub(super) fn score(
        &mut self,
        trace: &Trace<R>,
        (t, seen): (usize, Range<usize>),
        recorder: GradientRecorder<'_, R>,
    ) {
        let (head, columns) = (&trace.heads[0], self.rows.width());
        let all = rows(head);
        let row = |i: usize| &all.data[i * all.stride..][..columns];
        for i in seen {
            let d = self.scores[i];
            for (to, from) in [(t, i), (i, t)] {
                add_multiple(self.of_step.row_mut(to), d, row(from));
            }
        }
        self.end(trace, t, recorder);
    }

    /// Adds a gradient w.r.t. a row of the memory that step `t` sees.
    pub(super) fn add_to_row(&mut self, i: usize, d: &[R]) {
        add(self.of_step.row_mut(i), d);
    }

    /// Hands the gradients of step `t` on.
    pub(super) fn end(&mut self, trace: &Trace<R>, t: usize, recorder: GradientRecorder<'_, R>) {
        if let Some(to) = recorder {
            let head = &trace.heads[0];
            record(
                &mut to.heads[0].similarity,
                &head.similarity,
                t,
                &self.scores,
            );
            let (rows, columns) = (self.of_step.steps(), self.of_step.width());
            let column = |m| (0..rows).map(move |i| (i, m));
            let by = (0..columns).flat_map(column);
            let by: Vec<R> = by.map(|(i, m)| self.of_step.row(i)[m]).collect();
            to.record_memory(trace, t + 1, &by);
        } else if t > 0 {
            return self.start(trace);
        }
        add(self.rows.as_mut_slice(), self.of_step.as_slice());
        self.of_step.as_mut_slice().fill(R::ZERO);
        self.start(trace);
    }
}
