//! What is said about a head, and about one number of what a head emits or the machine is given and answers.

use super::card::{Card, Line, line, n, names};
use super::table::Table;
use crate::figure::expected_shift;
use crate::figure::stages::columns_of;
use crate::model::HeadTrace;
use crate::train::Recording;
use crate::viewer::state::episode::Open;
use crate::viewer::state::target::Vector;
use crate::viewer::story;

/// Its symbol and what it is.
fn words(vector: Vector) -> (&'static str, &'static str) {
    match vector {
        Vector::Key => ("k", "key"),
        Vector::Shift => ("s", "shift"),
        Vector::Erase => ("e", "erase"),
        Vector::Add => ("a", "add"),
        Vector::Read => ("r", "read"),
        Vector::Input => ("x", "input"),
        Vector::Output => ("y", "output"),
        Vector::Target => ("target", "target"),
    }
}

/// The vector at a step, if this episode has it.
pub fn values(recording: &Recording, head: usize, vector: Vector, step: usize) -> Option<Vec<f32>> {
    let trace = &recording.trace;
    if step >= trace.steps() {
        return None;
    }
    let of_head = trace.heads.get(head);
    let series = match vector {
        Vector::Input => &trace.input,
        Vector::Output => &trace.output,
        Vector::Target => return Some(recording.episode.target.row(step).to_vec()),
        Vector::Key => &of_head?.key,
        Vector::Shift => &of_head?.shift,
        Vector::Read => &of_head?.read,
        Vector::Erase => &of_head?.erase,
        Vector::Add => &of_head?.add,
    };
    (series.width() > 0).then(|| series.row(step).to_vec())
}

/// One number of a vector.
pub fn card(open: &Open, head: usize, vector: Vector, column: usize, step: usize) -> Option<Card> {
    let recording = &open.shown.recording;
    let value = *values(recording, head, vector, step)?.get(column)?;
    let (symbol, word) = words(vector);
    let mut lines = Vec::new();
    let title = match vector {
        Vector::Input | Vector::Output | Vector::Target => {
            lines.push(of_machine(recording, vector, column, step, value));
            format!("{word} {symbol} channel {column}")
        }
        _ => {
            let trace = recording.trace.heads.get(head)?;
            // The memory that this head sees.
            let seen = step + usize::from(open.writes_first() && !trace.is_write());
            let memory = recording.trace.memory_columns.row(seen);
            lines.extend(of_head((trace, memory), vector, column, step, value)?);
            let label = story::head_label(recording, head);
            match vector {
                Vector::Shift => {
                    let by = story::offset(column, trace.shift.width() / 2);
                    format!("{label} shift by {}", story::signed(by))
                }
                _ => format!("{label} {word} {symbol} column {column}"),
            }
        }
    };
    let over_time = (0..recording.trace.steps()).filter_map(|t| {
        let values = values(recording, head, vector, t)?;
        Some(vec![t as f32, *values.get(column)?])
    });
    let table = Table {
        columns: names(&["step"], &[word]),
        rows: over_time.collect(),
    };
    Some(Card {
        title,
        lines,
        table,
    })
}

fn of_machine(
    recording: &Recording,
    vector: Vector,
    column: usize,
    step: usize,
    value: f32,
) -> Line {
    let task = &recording.task;
    match vector {
        Vector::Input => line("x", format!("{}, as given", task.input_name(column)), value),
        Vector::Target => line("target", task.output_name(column), value),
        _ => {
            let z = recording.trace.logit.row(step)[column];
            let target = recording.episode.target.row(step)[column];
            let name = task.output_name(column);
            let asked = recording.episode.mask[step] > 0.0;
            let said = if asked {
                format!("target {}", n(target))
            } else {
                "nothing is asked".to_owned()
            };
            line(
                "y",
                format!("{name}: σ(z) = 1 / (1 + exp(−({})))\n{said}", n(z)),
                value,
            )
        }
    }
}

fn of_head(
    (head, memory): (&HeadTrace<f32>, &[f32]),
    vector: Vector,
    column: usize,
    step: usize,
    value: f32,
) -> Option<Vec<Line>> {
    let weighting = head.weighting.row(step);
    let rows = weighting.len();
    let at = |row: usize| memory[column * rows + row];
    let (symbol, _) = words(vector);
    let mut lines = Vec::new();
    match vector {
        Vector::Key => {
            lines.push(line("k", "emitted by the controller".to_owned(), value));
            let (row, _) = story::peak(head.similarity.row(step))?;
            let norm = head.key.row(step).iter().map(|k| k * k).sum::<f32>().sqrt();
            lines.push(line("|k|", "√Σ k²".to_owned(), norm));
            let sum = format!(
                "best match, row {row}: this column gives\n{} · {}",
                n(value),
                n(at(row))
            );
            lines.push(line("k·M", sum, value * at(row)));
        }
        Vector::Shift => {
            let by = story::offset(column, head.shift.width() / 2);
            let text = format!("this share of every row moves by {}", story::signed(by));
            lines.push(line("s", text, value));
        }
        Vector::Erase | Vector::Add => {
            lines.push(line(symbol, "emitted by the controller".to_owned(), value));
            let (row, w) = story::peak(weighting)?;
            lines.push(if vector == Vector::Erase {
                let sum = format!("kept of row {row}: 1 − {} · {}", n(w), n(value));
                line("1 − w·e", sum, 1.0 - w * value)
            } else {
                let sum = format!("added to row {row}: {} · {}", n(w), n(value));
                line("w·a", sum, w * value)
            });
        }
        _ => lines.push(line("r", read_sum(weighting, &at), value)),
    }
    Some(lines)
}

/// Σ w(i) · M(i), the heaviest terms in numbers.
fn read_sum(weighting: &[f32], at: &dyn Fn(usize) -> f32) -> String {
    let mut terms: Vec<_> = weighting.iter().copied().enumerate().collect();
    terms.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown = terms
        .iter()
        .take(4)
        .map(|&(row, w)| format!("w({row}) {} · {}", n(w), n(at(row))));
    let rest: f32 = terms.iter().skip(4).map(|&(row, w)| w * at(row)).sum();
    let rest = (terms.len() > 4).then(|| format!("{} from the other rows", n(rest)));
    shown.chain(rest).collect::<Vec<_>>().join("\n+ ")
}

/// A head with everything it emits.
pub fn head_card(open: &Open, index: usize, step: usize) -> Option<Card> {
    let recording = &open.shown.recording;
    let head = recording.trace.heads.get(index)?;
    let weighting = head.weighting.row(step);
    let range = head.shift.width() / 2;
    let shares = head.shift.row(step).iter().enumerate();
    let mut shares: Vec<_> = shares.collect();
    shares.sort_by(|a, b| b.1.total_cmp(a.1));
    let shares = shares.iter().take(3).map(|(offset, s)| {
        let by = story::signed(story::offset(*offset, range));
        format!("s({by}) {}", n(**s))
    });
    let shares: Vec<_> = shares.collect();
    let columns = columns_of(head).filter_map(|column| {
        let emitted = column.emits?;
        let value = match emitted.series(head) {
            Some(series) => series[step],
            None => expected_shift(head, step),
        };
        let sum = match emitted.symbol {
            "g" => format!(
                "{} by content, {} of the step before",
                n(value),
                n(1.0 - value)
            ),
            "s" => shares.join("\n"),
            _ => format!("{}: {}", emitted.words, column.equation),
        };
        Some(line(emitted.symbol, sum, value))
    });
    let mut lines: Vec<_> = columns.collect();
    if let Some((row, weight)) = story::peak(weighting) {
        lines.push(line("w", format!("most, at row {row}"), weight));
    }
    lines.push(line(
        "H",
        "−Σ w log₂ w, in bits".to_owned(),
        story::entropy(weighting),
    ));
    // Worked out once for the episode: a pass over the weightings in every frame would be too much.
    let scalars = &open.heads[index].scalars;
    let over_time = (0..recording.trace.steps()).map(|t| {
        let values = scalars.iter().map(|scalar| scalar.values[t]);
        std::iter::once(t as f32).chain(values).collect()
    });
    let columns: Vec<_> = scalars.iter().map(|scalar| scalar.of.array).collect();
    let label = story::head_label(recording, index);
    let verb = if head.is_write() { "write" } else { "read" };
    Some(Card {
        title: format!("{label}, a {verb} head"),
        lines,
        table: Table {
            columns: names(&["step"], &columns),
            rows: over_time.collect(),
        },
    })
}

/// The first line of a card, for the pointer.
pub fn told(card: &Card) -> String {
    let lines = card.lines.iter().take(3);
    let lines = lines.map(|line| format!("{} = {}", line.symbol, line.sum.replace('\n', "\n    ")));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::Order;
    use crate::model::{Model, NtmConfig};
    use crate::task::{Copy, Task};
    use crate::viewer::OpenedTrace;

    fn opened(order: Order) -> Open {
        let task = Task::Copy(Copy {
            bits: 2,
            length: 3..=3,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.order) = (6, 3, order);
        let recording = Recording::new(&Model::new(config.clone(), 1), &task, 1, 0);
        Open::of_file(OpenedTrace {
            title: String::new(),
            recording,
            config: Some(config.into()),
            sha256: None,
        })
    }

    #[test]
    fn what_is_read_is_the_sum_that_is_shown() {
        for order in [Order::ReadFirst, Order::WriteFirst] {
            read_is_the_sum(&opened(order));
        }
    }

    fn read_is_the_sum(open: &Open) {
        let recording = &open.shown.recording;
        let head = (0..2)
            .find(|&head| !recording.trace.heads[head].is_write())
            .unwrap();
        let card = card(open, head, Vector::Read, 1, 4).unwrap();
        let value: f32 = card.lines[0].value.replace('−', "-").parse().unwrap();
        let numbers = |text: &str| {
            let text = text.replace('−', "-");
            text.split_whitespace()
                .filter_map(|part| part.parse().ok())
                .collect::<Vec<f32>>()
        };
        let sum: f32 = card.lines[0]
            .sum
            .lines()
            .map(|term| match numbers(term)[..] {
                [w, m] => w * m,
                [rest] => rest,
                _ => panic!("{term}"),
            })
            .sum();
        assert!((sum - value).abs() < 1e-3, "{card:?}");
        assert_eq!(card.table.rows.len(), 7);
    }

    #[test]
    fn every_vector_has_a_card_and_none_that_is_not_there() {
        let open = opened(Order::ReadFirst);
        let recording = &open.shown.recording;
        let write = (0..2)
            .find(|&head| recording.trace.heads[head].is_write())
            .unwrap();
        for vector in [
            Vector::Key,
            Vector::Shift,
            Vector::Erase,
            Vector::Add,
            Vector::Input,
            Vector::Output,
            Vector::Target,
        ] {
            assert!(card(&open, write, vector, 0, 2).is_some(), "{vector:?}");
            assert!(card(&open, write, vector, 99, 2).is_none());
        }
        assert!(card(&open, write, Vector::Read, 0, 2).is_none());
        assert!(card(&open, write, Vector::Key, 0, 99).is_none());
        let card = head_card(&open, write, 2).unwrap();
        assert_eq!(card.table.columns.len(), card.table.rows[0].len());
    }
}
