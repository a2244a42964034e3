//! The selected target and all facts about it at the current step: the
//! equations with the numbers of this step, and the table behind them.

mod card;
mod table;
pub mod vector;

pub use card::{Card, Line};
use card::{line, n};
pub use table::{Form, Table};

use std::ops::RangeInclusive;

use super::state::{Open, Target};
use crate::figure::facts::column::{BEFORE, Column};
use crate::figure::facts::family::columns_of;
use crate::figure::facts::in_step::InStep;
use crate::figure::scene::units::Units;
use crate::figure::{head_label, narrate};
use crate::math::{Answer, Series};
use crate::model::HeadTrace;
use crate::model::sam::row_number;
use crate::model::weighting::bayesian::PRIOR;

impl Target {
    /// Returns its card; `None` if this episode has no such target.
    pub fn card(self, open: &Open, focus: usize, step: usize) -> Option<Card> {
        let trace = &open.shown.recording.trace;
        if step >= trace.steps() {
            return None;
        }
        match self {
            Self::Row(row) => row_card(open, focus, row, step),
            Self::Rows { .. } => rows_card(open, focus, self.rows()?, step),
            Self::Cell { row, column } => cell_card(open, row, column, step),
            Self::Unit { layer, unit } => unit_card(open, layer, unit, step),
            Self::Head(head) => vector::head_card(open, head, step),
            Self::Value { id, column } => vector::card(open, id, column, step),
            Self::Step => Some(step_card(open, step)),
        }
    }
}

/// A column for each weighting of a head, as the arrays of a trace file call it.
fn columns(head: &HeadTrace<f32>) -> (Vec<&'static Column>, Vec<&'static str>) {
    let columns: Vec<_> = columns_of(head).collect();
    let names = columns.iter().map(|column| column.array.name).collect();
    (columns, names)
}

/// Every row of the memory with its weight at every stage of a step.
pub fn rows_table(head: &HeadTrace<f32>, step: usize) -> Table {
    let (columns, arrays) = columns(head);
    let weightings: Vec<_> = columns.iter().map(|of| of.values(head, step)).collect();
    Table::counted(("row", &arrays), head.weighting.width(), |row| {
        weightings.iter().map(move |weighting| weighting[row])
    })
}

/// The rows that count most in a step, heaviest first: by the weight they have at any stage.
pub fn heaviest(head: &HeadTrace<f32>, step: usize, count: usize) -> Vec<usize> {
    let weighting = head.weighting.row(step);
    let others = columns_of(head).filter(|of| of.is_weighting() || of.array == BEFORE);
    let others: Vec<_> = others.map(|column| column.values(head, step)).collect();
    let most = |row: usize| {
        let weights = others.iter().map(|weights| weights[row]);
        // Among equal weights, the row that is read or written comes first.
        weights.fold(weighting[row] * 1.01, f32::max)
    };
    let mut rows: Vec<_> = (0..weighting.len()).map(|row| (row, most(row))).collect();
    let heavier = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1);
    if rows.len() > count && count > 0 {
        rows.select_nth_unstable_by(count - 1, heavier);
    }
    rows.truncate(count);
    rows.sort_by(heavier);
    rows.into_iter().map(|(row, _)| row).collect()
}

/// A row: how it came to its weight, stage after stage.
fn row_card(open: &Open, focus: usize, row: usize, step: usize) -> Option<Card> {
    let recording = &open.shown.recording;
    let head = recording.trace.heads.get(focus)?;
    let (columns, arrays) = columns(head);
    head.weighting.row(step).get(row)?;
    let at = InStep::of(&recording.trace, open.writes_first(), focus, step)?;
    let at = at.with_links(&open.facts.links);
    let value = |column: &Column, t| column.values(head, t)[row];
    let lines = columns.iter().map(|column| {
        let sum = (column.sum)(&at, row);
        line(column.symbol, sum, value(column, step))
    });
    Some(Card {
        title: {
            let (trace, head) = (&recording.trace, head_label(&recording.trace, focus));
            let title = format!("{head} row {}", row_number(trace, row));
            let source = open.facts.source.as_ref();
            source.map_or(title.clone(), |source| source.named(&title, row))
        },
        lines: lines.collect(),
        table: Table::counted(("step", &arrays), recording.trace.steps(), |t| {
            columns.iter().map(move |column| value(column, t))
        }),
    })
}

/// Several rows: their weight together at every stage, and each of them to be copied.
fn rows_card(open: &Open, focus: usize, rows: RangeInclusive<usize>, step: usize) -> Option<Card> {
    let recording = &open.shown.recording;
    let head = recording.trace.heads.get(focus)?;
    let [first, last] = [*rows.start(), *rows.end()].map(|row| row_number(&recording.trace, row));
    let lines = columns_of(head).map(|column| {
        let weights = column.values(head, step).get(rows.clone())?;
        let most = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        Some(if column.is_signed() {
            line(column.symbol, "best match among these rows", most)
        } else if column.array == PRIOR {
            line(column.symbol, "largest prior among these rows", most)
        } else {
            let words = format!("sum over rows {first} to {last}");
            line(column.symbol, words, weights.iter().sum())
        })
    });
    let table = rows_table(head, step);
    let label = head_label(&recording.trace, focus);
    Some(Card {
        title: format!("{label} rows {first} to {last}"),
        lines: lines.collect::<Option<_>>()?,
        table: Table {
            rows: table.rows.get(rows)?.to_vec(),
            ..table
        },
    })
}

fn cell_card(open: &Open, row: usize, column: usize, step: usize) -> Option<Card> {
    let trace = &open.shown.recording.trace;
    let total = open.all.total();
    let at = column * total + row;
    if row >= total || at >= trace.memory_columns.width() {
        return None;
    }
    let memory = |t: usize| trace.memory_columns.row(t)[at];
    let mut lines = vec![line("Mₜ₋₁", "before the step", memory(step))];
    let (mut kept, mut now) = (Vec::new(), vec![n(memory(step))]);
    let seen = memory(step + usize::from(open.writes_first()));
    let mut reads = Vec::new();
    for (index, head) in trace.heads.iter().enumerate() {
        let label = head_label(trace, index);
        let Some(&w) = head.weighting.row(step).get(row) else {
            continue;
        };
        let of = |series: &Series<f32>| series.row(step).get(column).copied();
        if let Some(e) = of(&head.erase) {
            now.push(format!("· (1 − {} · {})", n(w), n(e)));
        }
        if let Some(a) = of(&head.add) {
            kept.push(format!("+ {} · {}", n(w), n(a)));
        }
        if let Some(read) = of(&head.read) {
            let sum = format!("this row gives {} · {}", n(w), n(seen));
            reads.push(line(&format!("r {label}"), sum, read));
        }
    }
    now.append(&mut kept);
    lines.push(line("Mₜ", now.join("\n"), memory(step + 1)));
    lines.extend(reads);
    Some(Card {
        title: format!("M row {} column {column}", row_number(trace, row)),
        lines,
        table: Table::counted(("steps_done", &["memory"]), trace.steps() + 1, |t| {
            [memory(t)]
        }),
    })
}

fn unit_card(open: &Open, layer: usize, unit: usize, step: usize) -> Option<Card> {
    let trace = &open.shown.recording.trace;
    let units = Units::of(trace, open.shown.initial_cells(), layer, step)?;
    let hidden = *units.hidden.get(unit)?;
    let own = &trace.layers[layer];
    let has_cell = own.cell.width() > 0;
    let names = &["cell", "hidden"][usize::from(!has_cell)..];
    let mut lines = Vec::new();
    if let Some([i, f, g, o]) = units.gates {
        lines.push(line("f", "forget gate: keeps", f[unit]));
        lines.push(line("i", "input gate: lets in", i[unit]));
        lines.push(line("g", "candidate", g[unit]));
        lines.push(line("o", "output gate: shows", o[unit]));
    }
    if let Some(cell) = units.cell {
        let sum = match (units.gates, units.before) {
            (Some([i, f, g, _]), Some(before)) => {
                let [f, before, i, g] = [f, before, i, g].map(|values| n(values[unit]));
                format!("{f} · {before} + {i} · {g}")
            }
            _ => "f · cₜ₋₁ + i · g, not recorded".to_owned(),
        };
        lines.push(line("c", sum, cell[unit]));
    }
    let sum = match (units.gates, units.cell) {
        (Some([.., o]), Some(cell)) => format!("{} · tanh({})", n(o[unit]), n(cell[unit])),
        (None, Some(_)) => "o · tanh(c), o not recorded".to_owned(),
        _ => "tanh of the weighted inputs".to_owned(),
    };
    lines.push(line("h", sum, hidden));
    Some(Card {
        title: format!("Layer {layer} unit {unit}"),
        lines,
        table: Table::counted(("step", names), own.hidden.steps(), |t| {
            let cell = has_cell.then(|| own.cell.row(t)[unit]);
            cell.into_iter().chain([own.hidden.row(t)[unit]])
        }),
    })
}

fn step_card(open: &Open, step: usize) -> Card {
    let recording = &open.shown.recording;
    let (trace, episode) = (&recording.trace, &recording.episode);
    let (target, output) = (episode.target.row(step), trace.output.row(step));
    let asked = episode.is_scored(step);
    let bits = |y: f32, p: f32| {
        // Nothing is lost by what has no share, however unlikely.
        let term = |share: f32, p: f32| if share == 0.0 { 0.0 } else { share * p.log2() };
        let right = term(y, p) + term(1.0 - y, 1.0 - p);
        if right.is_finite() {
            -right
        } else {
            f32::INFINITY
        }
    };
    let channels = output.iter().zip(target).enumerate();
    let answer = episode.answer;
    let is_symbol = answer == Answer::Symbols;
    let values = channels.map(|(channel, (&p, &y))| {
        let is_wrong = recording.is_wrong(step, channel);
        let wrong = if is_wrong { ", wrong" } else { "" };
        // For symbols, only the probability of the right one counts.
        let cost = if is_symbol && y != 1.0 {
            String::new()
        } else if answer.is_real() {
            format!(", error {}", n(p - y))
        } else {
            format!(", {} bits", n(bits(y, p)))
        };
        let scored = format!("target {}{cost}{wrong}", n(y));
        let sum = if asked { &scored } else { "not scored" };
        let name = is_symbol.then(|| format!("{}: ", recording.task.output_name(channel)));
        line(&format!("y{channel}"), name.unwrap_or_default() + sum, p)
    });
    let mut lines: Vec<_> = values.collect();
    let loss = recording.loss.get(step).copied().unwrap_or_default();
    let unit = if answer.is_real() { "" } else { ", bits" };
    lines.push(line("loss", answer.step_loss().to_owned() + unit, loss));
    let phase = narrate::phase_at(recording, step);
    let names = ("channel", &["output", "target"][..]);
    Card {
        title: format!("Step {step} {phase}"),
        lines,
        table: Table::counted(names, output.len(), |c| [output[c], target[c]]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::Order;
    use crate::viewer::fixture::{config, opened};

    #[test]
    fn read_uses_memory_seen_by_head() {
        for (order, later) in [(Order::ReadFirst, 0), (Order::WriteFirst, 1)] {
            let mut config = config();
            config.order = order;
            let open = opened(config, 3, 1);
            let memory = open.shown.recording.trace.memory(2 + later)[[0, 1]];
            let card = cell_card(&open, 0, 1, 2).unwrap();
            let gives = format!("· {}", n(memory));
            let read = card.lines.iter().find(|line| line.sum.contains("gives"));
            assert!(read.unwrap().sum.ends_with(&gives), "{order:?}: {read:?}");
        }
    }
}
