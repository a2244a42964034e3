//! Arrays of a machine that reads a document and a question: they have the values of several series, each in its part of the
//! episode. `document.weighting`, `question.weighting` and `answer.weighting` are the weighting of a head in these parts.

use super::interned;
use super::parts::{Outline, Part, block_axes};
use super::quantities::{Held, Piece, Quantity};
use crate::equations::program::{Axis, Length, Source};
use crate::model::array;
use crate::model::spec::{ArraySpec, Retention};

/// The parts of an episode, by the beginnings of names.
const PARTS: [(&str, Part); 3] = [
    ("document", Part::Document),
    ("question", Part::Question),
    ("answer", Part::Answer),
];

/// All quantities, with those of the parts of an episode assembled, where the file reads a document and a question.
pub(super) fn assemble(outline: &Outline, all: &[Quantity]) -> Vec<Quantity> {
    if outline.data[0].part != Part::Document {
        return all.to_vec();
    }
    let mut made: Vec<Quantity> = Vec::new();
    // A kind of heads has a quantity for each head, of one series.
    let mut last = None;
    for own in all {
        let series = own.held.series();
        let found = series.map_or_else(Vec::new, |index| Values::of(outline, index).pieces());
        if found.is_empty() {
            made.push(own.clone());
        } else if last == series {
            continue;
        }
        last = series;
        for (name, piece) in found {
            match made.iter_mut().find(|made| made.array.name == name) {
                Some(made) => made.pieces.push(piece),
                None => made.push(assembled(outline, own, &name, piece)),
            }
        }
    }
    made
}

/// The array of this name that begins with a piece.
fn assembled(outline: &Outline, own: &Quantity, name: &str, piece: Piece) -> Quantity {
    let name_of = |axis: &Axis| interned::text(&outline.program.axes[*axis].name.replace('.', "_"));
    let columns: Vec<_> = piece.columns.iter().map(name_of).collect();
    let columns = piece.rows.map_or(columns, |_| vec!["n"]);
    let spec = ArraySpec {
        name: interned::text(name),
        dims: interned::texts(&[&["t"], &columns[..]].concat()),
        entry_names: &[],
        ..*own.array
    };
    let rows = || outline.data[0].steps.into_iter().collect();
    Quantity {
        array: interned::array(spec.retention(Retention::WithMemory)),
        held: Held::Values(piece.series),
        entries: Vec::new(),
        time: Some((Axis::MAX, Part::Steps)),
        axes: piece.rows.map_or(piece.columns.clone(), |_| rows()),
        pieces: vec![piece],
        ..own.clone()
    }
}

/// A series with its axes.
struct Values<'a> {
    outline: &'a Outline,
    index: usize,
    axes: Vec<Axis>,
}

impl<'a> Values<'a> {
    fn of(outline: &'a Outline, index: usize) -> Self {
        let series = &outline.program.series[index];
        let blocks = block_axes(&outline.page, &series.blocks);
        Self {
            outline,
            index,
            axes: blocks.chain(series.axes.iter().copied()).collect(),
        }
    }

    /// What it gives to arrays, by their names.
    fn pieces(&self) -> Vec<(String, Piece)> {
        let series = &self.outline.program.series[self.index];
        let mut all = Vec::new();
        if !matches!(series.source, Source::Statement(..)) {
            return all;
        }
        for (name, part) in PARTS {
            let end = series.trace.strip_prefix(name);
            let end = end.and_then(|end| end.strip_prefix('.'));
            if let Some(end) = end.filter(|_| part == Part::Answer || self.has_steps(part)) {
                let is_own = !series.name.contains('.');
                let other = || format!("{}{end}", if is_own { "" } else { "encoder." });
                all.push((of_head(end).unwrap_or_else(other), self.piece(part)));
            }
        }
        if self.outline.points() && self.index == self.outline.answer.0 {
            all.extend(of_head("similarity").map(|name| (name, self.piece(Part::Answer))));
        }
        // A table of both belongs to the steps of both.
        let both = [Part::Document, Part::Question];
        let is_table = both.iter().all(|part| self.has_steps(*part));
        if let Some(name) = of_head(&series.trace).filter(|_| is_table) {
            all.extend(both.map(|part| (name.clone(), self.piece(part))));
        }
        all
    }

    /// What it gives to the steps of a part.
    fn piece(&self, part: Part) -> Piece {
        let is_step = |axis: &Axis| self.part_of(*axis) == Some(part);
        let steps: Vec<Axis> = match part {
            Part::Answer => {
                let rounds = self.outline.further_axes().into_iter();
                rounds.chain(self.outline.target().steps).collect()
            }
            _ => self.axes.iter().copied().filter(is_step).collect(),
        };
        let own = self.axes.iter().copied();
        let columns: Vec<Axis> = own.filter(|axis| !steps.contains(axis)).collect();
        Piece {
            series: self.index,
            part,
            rows: match columns[..] {
                [axis] => self.part_of(axis),
                _ => None,
            },
            steps,
            columns,
        }
    }

    fn has_steps(&self, part: Part) -> bool {
        let mut axes = self.axes.iter();
        axes.any(|axis| self.part_of(*axis) == Some(part))
    }

    /// The part whose steps an axis has, with the step behind it or without.
    fn part_of(&self, axis: Axis) -> Option<Part> {
        let axes = &self.outline.program.axes;
        let origin = |axis: Axis| axes[axis].origin;
        let steps = match axes[origin(axis)].length {
            Length::Append(before) => origin(before),
            _ => origin(axis),
        };
        let mut data = self.outline.data[..2].iter();
        let own = data.find(|data| data.steps.map(origin) == Some(steps));
        own.map(|data| data.part)
    }
}

/// The name of an array of the head, if there is one.
fn of_head(end: &str) -> Option<String> {
    let mut known = array::ALL_OF_HEADS.iter();
    let is_known = known.any(|known| known.name == end && known.is_in_files());
    is_known.then(|| format!("read0.{end}"))
}
