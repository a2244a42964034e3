//! The link matrix of an episode. It has N² values in every step, so a trace keeps that of about every √T-th step; the
//! others follow from the write weightings and the precedence.

use std::cell::RefCell;

use super::equations::link;
use super::kind::{LINKS, PRECEDENCE};
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

/// p_{t−1}, in the row of p_t, or 0.
pub(super) fn precedence_before<R: Real>(precedence: &mut Series<R>, t: usize) -> &mut [R] {
    if t == 0 {
        precedence.row_mut(0).fill(R::ZERO);
    } else {
        let (before, row) = precedence.previous_and_row_mut(t);
        row.copy_from_slice(before);
    }
    precedence.row_mut(t)
}

/// Computes L_t in its row from L_{t−1}, w_t and p_{t−1}.
pub(super) fn forward<R: Real>(writer: &mut HeadTrace<R>, t: usize, steps: usize) {
    let [.., precedence, _, links] = writer.of_score.all_mut::<8>();
    let row = row_of(links, t, steps);
    match t.checked_sub(1).map(|before| row_of(links, before, steps)) {
        None => links.row_mut(row).fill(R::ZERO),
        Some(before) if before == row => {}
        Some(before) => {
            let (from, to) = links.two_rows(before, row);
            to.copy_from_slice(from);
        }
    }
    let p = precedence_before(precedence, t);
    link(writer.weighting.row(t), p, links.row_mut(row));
}

/// The link matrices of some steps in a row, on the way back.
#[derive(Debug)]
pub(super) struct LinkWindow<R> {
    /// L_{start−1}, L_start, …, [k + 1, N·N].
    links: Series<R>,
    /// The first step.
    start: Option<usize>,
    /// N values.
    precedence: Vec<R>,
}

impl<R: Real> LinkWindow<R> {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            links: Series::new(rows * rows),
            start: None,
            precedence: vec![R::ZERO; rows],
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
            self.links.resize(every + 1);
            let first = self.links.row_mut(0);
            match (start / every).checked_sub(1) {
                Some(row) => first.copy_from_slice(kept.row(row)),
                None => first.fill(R::ZERO),
            }
            for step in start..=t {
                self.precedence.fill(R::ZERO);
                if let Some(before) = step.checked_sub(1) {
                    self.precedence.copy_from_slice(precedence.row(before));
                }
                let (before, links) = self.links.previous_and_row_mut(step - start + 1);
                links.copy_from_slice(before);
                link(writer.weighting.row(step), &mut self.precedence, links);
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
        let [.., precedence, _, _] = writer.of_score.all::<8>();
        let (writing, precedence) = (writer.weighting.rows(0..t), precedence.rows(0..t));
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
        let before = |t: usize| match t.checked_sub(1) {
            Some(before) => precedence[before * n..][..n].to_vec(),
            None => vec![R::ZERO; n],
        };
        for step in known.writing.len() / n..t {
            link(
                &writing[step * n..][..n],
                &mut before(step),
                &mut known.links,
            );
        }
        known.writing = writing.to_vec();
        known.precedence = precedence.to_vec();
        let mut links = known.links.clone();
        link(writer.weighting.row(t), &mut before(t), &mut links);
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
