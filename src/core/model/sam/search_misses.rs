//! What an index missed: how often exact search would have chosen other rows.

use super::kind::{ROWS, SamConfig};
use super::shown::initial_rows;
use crate::math::Real;
use crate::model::sparse::Search;
use crate::model::trace::Trace;

/// The rows of a recorded episode, beside those that exact search would have chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchMisses {
    /// Reads: steps times heads.
    pub reads: usize,
    /// Reads with another row than exact search would have chosen.
    pub other_reads: usize,
    /// Rows that were read: reads times K.
    pub rows: usize,
    /// Rows that exact search would not have chosen.
    pub other_rows: usize,
}

/// Searches again, exactly, in the memory of every step of a recorded episode, as it follows from the recorded arrays.
/// `None` where it began with another memory than that of the configuration: its other rows are not known.
pub fn search_misses<R: Real>(config: &SamConfig, trace: &Trace<R>) -> Option<SearchMisses> {
    let is_known = |place: usize, row: &[R]| {
        let recorded = trace.memory_columns.row(0).iter().skip(place);
        recorded.step_by(trace.memory_size()[0]).eq(row)
    };
    let rows = initial_rows(config, trace);
    if !(rows.chunks(config.columns).enumerate()).all(|(place, row)| is_known(place, row)) {
        return None;
    }
    let (mut trace, sam) = (trace.clone(), config.searching());
    sam.reset(&mut trace, None);
    let mut exact = vec![R::ZERO; config.read_rows];
    let mut search_misses = SearchMisses::default();
    for (t, head) in (0..trace.steps()).flat_map(|t| (0..config.heads).map(move |head| (t, head))) {
        sam.after(&mut trace, t);
        let key = trace.heads[head].key.row(t);
        trace.sparse.nearest(key, Search::Exact, &mut exact);
        let rows = trace.heads[head].series(ROWS);
        let rows = rows.map_or(&[][..], |rows| rows.row(t));
        let others = rows.iter().filter(|row| !exact.contains(row)).count();
        search_misses.reads += 1;
        search_misses.other_reads += usize::from(others > 0);
        search_misses.rows += rows.len();
        search_misses.other_rows += others;
    }
    Some(search_misses)
}
