//! Lines between the columns of the pipeline: the flow of weight from one stage of the addressing to the next; and the
//! links between memory rows that were written one after the other.

use std::sync::Arc;

use crate::figure::facts::memo::Memo;
use crate::figure::{facts::numbers, offset};
use crate::model::dnc::{
    ALLOCATION, ALLOCATION_GATE, BACKWARD, FORWARD, READ_MODES, WRITE_GATE, link_matrix,
};
use crate::model::{Array, HeadTrace, Trace, array};

/// The symbols and the names of the weightings that a read head mixes, in the order of its read modes.
pub const MODES: [[&str; 3]; 2] = [["b", "wᶜ", "f"], ["backward", "content", "forward"]];

/// Smallest temporal link that is drawn and named, 0 to 1.
pub const LINKED: f32 = 0.1;

/// Smallest weight that is drawn: a line for each row would hide the important ones.
const LEAST: f32 = 0.02;
/// Weight below this is not seen when it moves.
const SEEN: f32 = 0.004;
/// Most lines between two columns, the heaviest.
const MOST: usize = 48;

/// Weight that goes from a row of one column to a row of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightFlow {
    /// The row it comes from.
    pub from: usize,
    /// The row it goes to.
    pub to: usize,
    /// The weight that flows, 0 to 1.
    pub weight: f32,
    /// The number of rows that it moves.
    pub shift: isize,
}

impl WeightFlow {
    /// True when it goes round the end of the memory: from the last rows to the first, or back.
    pub fn wraps(&self, rows: usize) -> bool {
        let to = self.from.cast_signed() + self.shift;
        !(0..rows.cast_signed()).contains(&to)
    }
}

/// Every row keeps `share` of its weight.
pub fn straight(weighting: &[f32], share: f32) -> Vec<WeightFlow> {
    let rows = weighting.iter().enumerate();
    heaviest(rows.map(|(row, weight)| WeightFlow {
        from: row,
        to: row,
        weight: weight * share,
        shift: 0,
    }))
}

/// Returns the weightings that a head of a Differentiable Neural Computer mixes in a step, each with its share.
pub fn mixed(head: &HeadTrace<f32>, step: usize) -> Vec<(Array, f32)> {
    let value = |array, index: usize| head.series(array).map(|series| series.row(step)[index]);
    if let (Some(write), Some(gate)) = (value(WRITE_GATE, 0), value(ALLOCATION_GATE, 0)) {
        let content = (array::CONTENT, write * (1.0 - gate));
        return vec![(ALLOCATION, write * gate), content];
    }
    let modes = [BACKWARD, array::CONTENT, FORWARD].into_iter().enumerate();
    let modes = modes.filter_map(|(mode, array)| Some((array, value(READ_MODES, mode)?)));
    modes.collect()
}

/// Returns the links by which the shift of a step moves this weighting.
pub fn shifted(head: &HeadTrace<f32>, step: usize, moved: &[f32]) -> Vec<WeightFlow> {
    heaviest(shifts(head, step, moved, LEAST))
}

/// Returns the flows with the visible share of every row while it moves.
pub fn moved(head: &HeadTrace<f32>, step: usize, moved: &[f32]) -> Vec<WeightFlow> {
    let links = shifts(head, step, moved, SEEN);
    links.filter(|link| link.weight >= SEEN).collect()
}

/// The weight of every row that has so much, and where the shift takes it.
fn shifts(
    head: &HeadTrace<f32>,
    step: usize,
    moved: &[f32],
    least: f32,
) -> impl Iterator<Item = WeightFlow> {
    let shift = head.shift.row(step);
    let (rows, range) = (moved.len().cast_signed(), shift.len() / 2);
    let sources = moved.iter().enumerate().filter(move |(_, w)| **w >= least);
    sources.flat_map(move |(from, weight)| {
        shift.iter().enumerate().map(move |(index, s)| {
            let shift = offset(index, range);
            let to = (from.cast_signed() + shift).rem_euclid(rows);
            WeightFlow {
                from,
                to: to.cast_unsigned(),
                weight: weight * s,
                shift,
            }
        })
    })
}

fn heaviest(links: impl Iterator<Item = WeightFlow>) -> Vec<WeightFlow> {
    let mut links: Vec<_> = links.filter(|link| link.weight >= LEAST).collect();
    links.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    links.truncate(MOST);
    links
}

/// The link matrix of a Differentiable Neural Computer after a step.
#[derive(Debug)]
pub struct TemporalLinks {
    /// [N, N] row after row, 0 to 1: how much row i was written right after row j.
    pub matrix: Vec<f32>,
    /// The links of [`LINKED`] or more, the heaviest first, from the row written before to the one written after it.
    pub strongest: Vec<WeightFlow>,
}

/// The links after the last steps asked for of one episode: each is a pass over all steps before it.
pub type LinkCache = Memo<usize, Option<Arc<TemporalLinks>>, 2>;

impl TemporalLinks {
    /// Returns the links after a step; `None` for a machine without links.
    pub fn after(trace: &Trace, step: usize) -> Option<Arc<Self>> {
        let (matrix, [rows, _]) = (link_matrix(trace, step)?, trace.memory_size());
        let links = matrix.iter().enumerate().filter(|link| *link.1 >= LINKED);
        let strongest = heaviest(links.map(|(at, &weight)| {
            let (to, from) = (at / rows, at % rows);
            let shift = to.cast_signed() - from.cast_signed();
            WeightFlow {
                from,
                to,
                weight,
                shift,
            }
        }));
        Some(Arc::new(Self { matrix, strongest }))
    }
}

/// The heaviest links in words.
pub fn describe(links: &[WeightFlow], rows: usize) -> String {
    let lines = links.iter().take(4).map(|link| {
        let wraps = link.wraps(rows);
        let round = if wraps { ", wraps around" } else { "" };
        let weight = numbers::short(link.weight, 4);
        format!("row {} → row {}: {weight}{round}", link.from, link.to)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fixture::recording;

    #[test]
    fn shift_wraps_around() {
        let mut head = recording().trace.heads.swap_remove(0);
        let gated = head.gated.row_mut(0);
        gated.fill(0.0);
        (gated[10], gated[11]) = (0.1, 0.9);
        head.shift.row_mut(0).copy_from_slice(&[0.0, 0.1, 0.9]);
        let links = shifted(&head, 0, head.gated.row(0));
        assert_eq!((links[0].from, links[0].to), (11, 0));
        assert!(links[0].wraps(12) && (links[0].weight - 0.81).abs() < 1e-6);
        assert!(
            links
                .iter()
                .any(|link| (link.from, link.to) == (10, 11) && !link.wraps(12))
        );
        assert!(describe(&links, 12).starts_with("row 11 → row 0: 0.8100, wraps around"));
    }

    #[test]
    fn negligible_weights_have_no_line() {
        let links = straight(&[0.5, 0.01, 0.3], 0.5);
        let rows: Vec<_> = links.iter().map(|link| link.from).collect();
        assert_eq!(rows, [0, 2]);
        assert!(straight(&vec![0.03; 500], 1.0).len() == MOST);
    }
}
