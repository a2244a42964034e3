//! The link matrix of an episode. It has N² values in every step, so a trace keeps that of about every √T-th step; the
//! others follow from the write weightings and the precedence.

use std::cell::RefCell;

use super::equations::link;
use super::kind::{AT_PRECEDENCE, LINKS, PRECEDENCE};
use crate::math::{Real, Series};
use crate::model::trace::{HeadTrace, Trace, between_checkpoints};

/// The row of [`LINKS`] with the matrix of step `t`: the last one of this row is that of the last step before the next row.
pub(super) fn row_of(links: &Series<impl Real>, t: usize, steps: usize) -> usize {
    if links.steps() == 1 {
        0
    } else {
        t / between_checkpoints(steps)
    }
}

/// Sets L_t from w_t, p_{t−1} and L_{t−1} = `before`, or in place; L_0 is 0.
fn step<R: Real>(
    [w, precedence]: [&Series<R>; 2],
    t: usize,
    before: Option<&[R]>,
    links: &mut [R],
) {
    match t.checked_sub(1) {
        Some(last) => link(w.row(t), precedence.row(last), before, links),
        None => links.fill(R::ZERO),
    }
}

/// Computes L_t in its row.
pub(super) fn forward<R: Real>(writer: &mut HeadTrace<R>, t: usize, steps: usize) {
    let [.., precedence, _, links] = writer.of_score.all_mut::<8>();
    let [last, row] = [t.saturating_sub(1), t].map(|t| row_of(links, t, steps));
    let (before, links) = if last == row {
        (None, links.row_mut(row))
    } else {
        let (before, links) = links.two_rows(last, row);
        (Some(before), links)
    };
    step([&writer.weighting, precedence], t, before, links);
}

/// The link matrices of some steps in a row, on the way back.
#[derive(Debug)]
pub(super) struct LinkWindow<R> {
    /// L_{start−1}, L_start, …, [k + 1, N·N].
    links: Series<R>,
    /// The first step.
    start: Option<usize>,
}

impl<R: Real> LinkWindow<R> {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            links: Series::new(rows * rows),
            start: None,
        }
    }

    /// Clears the contents, which belong to the previous episode.
    pub(super) fn reset(&mut self) {
        self.start = None;
    }

    /// L_{t−1} and L_t. Steps are asked for from the end.
    pub(super) fn at(&mut self, writer: &HeadTrace<R>, t: usize, steps: usize) -> (&[R], &[R]) {
        let every = between_checkpoints(steps);
        let start = t / every * every;
        if self.start != Some(start) {
            self.start = Some(start);
            let [.., precedence, _, kept] = writer.of_score.all::<8>();
            let of = [&writer.weighting, precedence];
            self.links.resize(every + 1);
            let first = self.links.row_mut(0);
            match (start / every).checked_sub(1) {
                Some(row) => first.copy_from_slice(kept.row(row)),
                None => first.fill(R::ZERO),
            }
            for t in start..=t {
                let (before, links) = self.links.previous_and_row_mut(t - start + 1);
                step(of, t, Some(before), links);
            }
        }
        let row = t - start;
        (self.links.row(row), self.links.row(row + 1))
    }
}

/// The link matrices of a trace whose values may change from one question to the next.
#[derive(Debug, Default)]
pub(super) struct LinkHistory<R>(RefCell<Known<R>>);

/// L after some steps, with what it was made of.
#[derive(Debug, Default)]
struct Known<R> {
    /// w of these steps, one after the other.
    writing: Vec<R>,
    /// p of these steps.
    precedence: Vec<R>,
    links: Vec<R>,
}

impl<R: Real> LinkHistory<R> {
    /// Returns L_t, [N·N], row after row, from the write weightings up to step `t` and the precedence before it.
    pub(super) fn at(&self, writer: &HeadTrace<R>, t: usize) -> Vec<R> {
        let n = writer.weighting.width();
        let of = [&writer.weighting, writer.of_score.at(AT_PRECEDENCE)];
        let [writing, precedence] = of.map(|series| series.rows(0..t));
        let mut known = self.0.borrow_mut();
        let known = &mut *known;
        let is_known = writing.starts_with(&known.writing)
            && precedence.starts_with(&known.precedence)
            && !known.links.is_empty();
        if !is_known {
            *known = Known {
                writing: Vec::new(),
                precedence: Vec::new(),
                links: vec![R::ZERO; n * n],
            };
        }
        for t in known.writing.len() / n..t {
            step(of, t, None, &mut known.links);
        }
        known.writing = writing.to_vec();
        known.precedence = precedence.to_vec();
        let mut links = known.links.clone();
        step(of, t, None, &mut links);
        links
    }
}

/// The link matrix after step `t` of an episode, [N, N] row after row: how much row i was written right after row j
/// (Graves 2016). It follows from the write weightings and the precedence; `None` for a machine without links.
pub fn link_matrix(trace: &Trace<f32>, t: usize) -> Option<Vec<f32>> {
    let writer = trace.heads.iter().find(|head| head.is_write())?;
    writer.series(PRECEDENCE)?;
    Some(LinkHistory::default().at(writer, t))
}

/// Keeps the matrix of step `t` where back-propagation looks for it.
pub(super) fn keep<R: Real>(writer: &mut HeadTrace<R>, t: usize, steps: usize, links: &[R]) {
    if let Some(kept) = writer.series_mut(LINKS)
        && kept.steps() > 0
    {
        let row = row_of(kept, t, steps);
        kept.row_mut(row).copy_from_slice(links);
    }
}
