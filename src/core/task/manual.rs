//! The values that an episode shows, as they are given or changed by hand.

use ndarray::{Array2, s};

use super::Episode;

/// An edge: from a node, by a label, to a node.
pub type Edge = [usize; 3];

/// What an episode shows, as it can be given by hand. Each task takes some of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manual {
    /// 0 or 1, [vectors, bits].
    pub bits: Array2<f32>,
    /// Symbols; of a picture one for every patch, `None` for a blank one.
    pub symbols: Vec<Option<usize>>,
    /// A line of a text file.
    pub line: String,
    /// The number of repeats.
    pub repeats: usize,
    /// The index of the queried item.
    pub query: usize,
    /// A priority for every vector.
    pub priorities: Vec<f32>,
    /// The marked steps.
    pub marked: Vec<usize>,
    /// The symbols of a question.
    pub question: Vec<usize>,
    /// The edges of a graph.
    pub edges: Vec<Edge>,
    /// The node at which a path begins.
    pub start: usize,
    /// The labels of a path.
    pub path: Vec<usize>,
}

impl Manual {
    /// What an episode shows from a step on, one row of bits or one symbol in each; `None` for a step without a symbol.
    pub(super) fn of(episode: &Episode, bits: usize, start: usize) -> Option<Self> {
        let rows = episode.input.slice(s![start.., ..]);
        let size = episode.size.min(rows.nrows());
        let symbol = |row: ndarray::ArrayView1<'_, f32>| {
            Some(Some(row.iter().position(|value| *value > 0.5)?))
        };
        let rows_of_symbols = rows.rows().into_iter().take(size).filter(|_| bits == 0);
        Some(Self {
            bits: rows.slice(s![..size, ..bits]).to_owned(),
            symbols: rows_of_symbols.map(symbol).collect::<Option<_>>()?,
            repeats: episode.repeats,
            ..Self::default()
        })
    }

    /// The symbols, with this number for a blank one.
    pub(super) fn numbers(&self, blank: usize) -> Vec<usize> {
        let numbers = self.symbols.iter().map(|symbol| symbol.unwrap_or(blank));
        numbers.collect()
    }
}
