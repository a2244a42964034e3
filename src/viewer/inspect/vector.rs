//! Cards of a head, and of one value that it emits or that the machine receives or outputs.

use super::card::{Card, Line, line, n};
use super::table::Table;
use crate::figure::facts::family::{columns_of, dnc, facts, score::score_text, sparse};
use crate::figure::facts::in_step::InStep;
use crate::figure::facts::quantities::norm;
use crate::figure::scene::catalogue::RecordedQuantity;
use crate::figure::scene::overlap::{self, Redundant};
use crate::figure::{self, HeadName, PanelId, Picture, Scale, expected_shift, head_label, signed};
use crate::math::Answer;
use crate::model::dnc::PRECEDENCE;
use crate::model::sam::row_number;
use crate::model::{HeadTrace, Place, Trace, array};
use crate::train::Recording;
use crate::viewer::state::Open;

/// Card of one number of a vector per step, if this episode has it.
pub fn card(open: &Open, id: PanelId, column: usize, step: usize) -> Option<Card> {
    let recording = &open.shown.recording;
    if matches!(id.picture, Picture::Quantities | Picture::Norms) {
        return quantity_card(open, id, column, step);
    }
    let shades = [Scale::Bits, Scale::weighting(false)];
    let quantity = RecordedQuantity::new(recording, &open.facts.scales, shades, id)?;
    let steps = recording.trace.steps();
    if step >= steps || column >= quantity.rows {
        return None;
    }
    let value = quantity.value(step, column);
    let mut lines = Vec::new();
    let title = match id.of.and_then(|head| recording.trace.heads.get(head)) {
        None => {
            lines.push(of_machine(recording, id.picture, column, step, value));
            if let Some(spread) = &open.spread
                && id.picture == Picture::Output
                && let Some((mean, of)) = spread.bit(step, column)
            {
                let mean_of = format!("mean of {} samples", spread.samples);
                let [noise, model] = [
                    "bits: aleatoric, the mean of H over the samples",
                    "bits: epistemic, disagreement between samples",
                ];
                lines.extend([
                    line("p", mean_of, mean as f32),
                    line("H(p)", "bits: total uncertainty", of.total as f32),
                    line("H", noise, of.noise as f32),
                    line("I", model, of.model as f32),
                ]);
            }
            format!("{} channel {column}", quantity.describe())
        }
        Some(_) if id.picture == Picture::Overlap => {
            let (trace, heads) = (&recording.trace, [id.of?, column]);
            lines.push(line("A·A′", overlap_sum(trace, step, heads), value));
            let all = open.facts.redundancies.0.iter();
            lines.extend(all.map(|of| penalty(of, trace, step)));
            let name = HeadName::of(trace, column);
            format!("{} with {name}, overlap", quantity.whose)
        }
        Some(_) if let Some(sum) = sum_of_row(id.picture) => {
            let at = InStep::of(&recording.trace, open.writes_first(), id.of?, step)?;
            lines.push(line(quantity.vector.symbol, sum(&at, column), value));
            let row = row_number(&recording.trace, column);
            format!("{} {} of row {row}", quantity.whose, quantity.vector.word)
        }
        Some(trace) => {
            // The memory that this head sees.
            let seen = step + usize::from(open.writes_first() && !trace.is_write());
            let memory = recording.trace.memory_columns.row(seen);
            let at = (&recording.trace, trace, memory);
            lines.extend(of_head(at, &quantity, column, step)?);
            if id.picture == Picture::Shifts {
                let by = signed(figure::offset(column, trace.shift.width() / 2));
                format!("{} shift by {by}", quantity.whose)
            } else {
                format!("{} {} column {column}", quantity.whose, quantity.describe())
            }
        }
    };
    let names = ("step", &[quantity.vector.word][..]);
    Some(Card {
        title,
        lines,
        table: Table::counted(names, steps, |t| [quantity.value(t, column)]),
    })
}

/// A value of a quantity of a machine file, or the norm of a row of one.
fn quantity_card(open: &Open, id: PanelId, index: usize, step: usize) -> Option<Card> {
    let mut all = open.facts.quantities.iter();
    let own = all.find(|own| Some(own.part) == id.part)?;
    let trace = &open.shown.recording.trace;
    let series = trace.series(Place::Machine, own.array)?;
    let (steps, [rows, columns]) = (trace.steps(), own.shape());
    let is_norm = id.picture == Picture::Norms;
    let count = if is_norm { rows } else { series.width() };
    if step >= steps || index >= count {
        return None;
    }
    let value = |t: usize| {
        if is_norm {
            norm(&series.row(t)[index * columns..(index + 1) * columns])
        } else {
            series.row(t)[index]
        }
    };
    let (name, symbol) = (own.array.name, own.array.symbol);
    let (title, symbol, said) = if is_norm {
        let row = format!("{} {index}", own.axis());
        let said = format!("length of the vector of {row}");
        (
            format!("norm of {name}"),
            format!("|{symbol}[{index}]|"),
            said,
        )
    } else {
        let said = format!("{}\n{}", own.place(index), own.equation());
        let all = &open.facts.stages.statements;
        let made = all.iter().find_map(|statement| {
            let part = statement.parts.iter().position(|part| *part == own.part)?;
            Some((statement, [part, index]))
        });
        let computed = made.into_iter().flat_map(|(statement, entry)| {
            let line = statement.with_numbers(trace, step, entry);
            line.into_iter().chain(statement.terms(trace, step, entry))
        });
        let said = std::iter::once(said)
            .chain(computed)
            .collect::<Vec<_>>()
            .join("\n");
        (name.to_owned(), own.entry(index), said.trim().to_owned())
    };
    Some(Card {
        lines: vec![line(&symbol, said, value(step))],
        title,
        table: Table::counted(("step", &[own.array.name]), steps, |t| [value(t)]),
    })
}

/// The equation of a picture with a value for every row.
fn sum_of_row(picture: Picture) -> Option<fn(&InStep<'_>, usize) -> String> {
    match picture {
        Picture::Usage => Some(dnc::usage),
        Picture::Age => Some(sparse::age),
        Picture::Precedence => Some(precedence),
        _ => None,
    }
}

/// How much a row was written last: what was written now, and what is left of it from before.
fn precedence(at: &InStep<'_>, row: usize) -> String {
    let (written, last) = (at.row(&at.head.weighting), at.step.checked_sub(1));
    let before = at.head.series(PRECEDENCE).zip(last);
    let before = before.map_or(0.0, |(series, step)| series.row(step)[row]);
    let [kept, before, own] = [1.0 - written.iter().sum::<f32>(), before, written[row]].map(n);
    format!("{kept} · {before} + {own}")
}

fn of_machine(
    recording: &Recording,
    picture: Picture,
    column: usize,
    step: usize,
    value: f32,
) -> Line {
    let task = &recording.task;
    match picture {
        Picture::Input => line("x", format!("{}, as given", task.input_name(column)), value),
        Picture::Feedback => line("fed back", task.output_name(column), value),
        Picture::Target => line("target", task.output_name(column), value),
        _ => {
            let z = recording.trace.logit.row(step)[column];
            let target = recording.episode.target.row(step)[column];
            let name = task.output_name(column);
            let said = if recording.episode.is_scored(step) {
                format!("target {}", n(target))
            } else {
                "not scored".to_owned()
            };
            let sum = if recording.episode.answer == Answer::Symbols {
                format!("{name}: softmax(z), z {}\n{said}", n(z))
            } else if recording.episode.answer.is_real() {
                format!("{name}: z, without an activation\n{said}")
            } else {
                format!("{name}: σ(z) = 1 / (1 + exp(−({})))\n{said}", n(z))
            };
            line("y", sum, value)
        }
    }
}

fn of_head(
    (trace, head, memory): (&Trace, &HeadTrace<f32>, &[f32]),
    quantity: &RecordedQuantity<'_>,
    column: usize,
    step: usize,
) -> Option<Vec<Line>> {
    let (picture, symbol) = (quantity.id.picture, quantity.vector.symbol);
    let value = quantity.value(step, column);
    let weighting = head.weighting.row(step);
    let rows = weighting.len();
    let at = |row: usize| memory.get(column * rows + row).copied().unwrap_or(f32::NAN);
    let mut lines = Vec::new();
    match picture {
        Picture::Keys => {
            lines.push(line("k", "emitted by the controller", value));
            let norm = head.key.row(step).iter().map(|k| k * k).sum::<f32>().sqrt();
            lines.push(line("|k|", "√Σ k²", norm));
            let is_product = score_text(head.mechanism.score).is_product;
            let best = figure::peak(head.similarity.row(step)).filter(|_| is_product);
            lines.extend(best.map(|(row, _)| {
                let (k, m) = (n(value), n(at(row)));
                let row_number = row_number(trace, row);
                let sum = format!("best match, row {row_number}: this column gives\n{k} · {m}");
                line("k·M", sum, value * at(row))
            }));
        }
        Picture::Shifts => {
            let by = figure::offset(column, head.shift.width() / 2);
            let text = format!("this share of each weight moves by {} rows", signed(by));
            lines.push(line("s", text, value));
        }
        Picture::Erases | Picture::Adds => {
            lines.push(line(symbol, "emitted by the controller", value));
            let (row, w) = figure::peak(weighting)?;
            let row = row_number(trace, row);
            lines.push(if picture == Picture::Erases {
                let sum = format!("kept of row {row}: 1 − {} · {}", n(w), n(value));
                line("1 − w·e", sum, 1.0 - w * value)
            } else {
                let sum = format!("added to row {row}: {} · {}", n(w), n(value));
                line("w·a", sum, w * value)
            });
        }
        Picture::Modes => {
            let way = ["backward", "content", "forward"].get(column)?;
            lines.push(line("π", format!("share of the {way} weighting"), value));
        }
        _ => lines.push(line("r", read_sum(trace, weighting, &at), value)),
    }
    Some(lines)
}

/// P of a step over some heads, in numbers.
fn penalty(of: &Redundant, trace: &Trace, step: usize) -> Line {
    let [own, pairs] = of.terms(trace, step);
    let sum = format!("{}: {own}\n+ {pairs}", of.who);
    line("P", sum, of.at(step)[2])
}

/// Describes an entry of A·A′, with the rows that contribute most.
pub fn overlap_told(trace: &Trace, step: usize, heads: [usize; 2]) -> String {
    let [a, b] = heads.map(|head| HeadName::of(trace, head));
    let what = if heads[0] == heads[1] {
        format!("concentration of {a}: 1 on a single row, less when spread")
    } else {
        format!("overlap of {a} and {b} (0: disjoint, 1: same single row)")
    };
    format!("{what}\n{}", overlap_sum(trace, step, heads))
}

/// Σ w(i) · w′(i) of two heads, the heaviest rows in numbers.
fn overlap_sum(trace: &Trace, step: usize, heads: [usize; 2]) -> String {
    const SHOWN: usize = 3;
    const LEAST: f32 = 1e-3;
    let mut rows = overlap::heaviest(trace, step, heads, SHOWN);
    // Rows with an almost vanishing product are omitted if others have more.
    let most = rows.first().map_or(0.0, |(_, [a, b])| a * b);
    rows.retain(|(_, [a, b])| a * b > LEAST * most);
    let shown: f32 = rows.iter().map(|(_, [a, b])| a * b).sum();
    let terms = rows.iter();
    let terms = terms.map(|(row, [a, b])| {
        let row = row_number(trace, *row);
        format!("row {row}: {} · {}", n(*a), n(*b))
    });
    let rest = overlap::overlap_of(trace, step, heads) - shown;
    let rest = (rest > LEAST * most).then(|| format!("{} from the other rows", n(rest)));
    let terms: Vec<_> = terms.chain(rest).collect();
    if terms.is_empty() {
        return "no common row".to_owned();
    }
    terms.join("\n+ ")
}

/// Σ w(i) · M(i), the heaviest terms in numbers.
fn read_sum(trace: &Trace, weighting: &[f32], at: &dyn Fn(usize) -> f32) -> String {
    let terms = heaviest(weighting);
    let shown = terms.iter().take(4);
    let shown = shown.map(|&(row, w)| {
        let number = row_number(trace, row);
        format!("w({number}) {} · {}", n(w), n(at(row)))
    });
    let rest: f32 = terms.iter().skip(4).map(|&(row, w)| w * at(row)).sum();
    let rest = (terms.len() > 4).then(|| format!("{} from the other rows", n(rest)));
    shown.chain(rest).collect::<Vec<_>>().join("\n+ ")
}

/// All weights with their places, the largest first.
fn heaviest(weights: &[f32]) -> Vec<(usize, f32)> {
    let mut all: Vec<_> = weights.iter().copied().enumerate().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

/// A head with everything it emits.
pub fn head_card(open: &Open, index: usize, step: usize) -> Option<Card> {
    let recording = &open.shown.recording;
    let head = recording.trace.heads.get(index)?;
    let weighting = head.weighting.row(step);
    let range = head.shift.width() / 2;
    let shares = heaviest(head.shift.row(step)).into_iter().take(3);
    let shares = shares.map(|(offset, s)| {
        let by = signed(figure::offset(offset, range));
        format!("s({by}) {}", n(s))
    });
    let shares: Vec<_> = shares.collect();
    let columns = columns_of(head).filter_map(|column| {
        let emitted = column.emits(head)?;
        let (value, sum) = match head.series(emitted.array) {
            None => (expected_shift(head, step), shares.join("\n")),
            Some(gate) if emitted.array == array::GATE => {
                let [content, before] = [gate[step], 1.0 - gate[step]].map(n);
                let sum = format!("{content} content, {before} previous weighting");
                (gate[step], sum)
            }
            Some(series) => {
                let sum = format!("{}: {}", emitted.words, (column.equation)(head));
                (series[step], sum)
            }
        };
        Some(line(emitted.symbol, sum, value))
    });
    let mut lines: Vec<_> = columns.collect();
    if let Some((row, weight)) = figure::peak(weighting) {
        let row = row_number(&recording.trace, row);
        lines.push(line("w", format!("largest, at row {row}"), weight));
    }
    let at = InStep::of(&recording.trace, open.writes_first(), index, step)?;
    let facts = facts(&at).into_iter();
    lines.extend(facts.map(|(symbol, words, value)| line(symbol, words, value)));
    let entropy = figure::entropy(weighting);
    lines.push(line("H", "−Σ w log₂ w, in bits", entropy));
    // Worked out once for the episode: a pass over the weightings in every frame would be too much.
    let scalars = &open.facts.heads[index].scalars;
    let columns: Vec<_> = scalars.iter().map(|scalar| scalar.of.array.name).collect();
    let label = head_label(&recording.trace, index);
    let verb = if head.is_write() { "write" } else { "read" };
    Some(Card {
        title: format!("{label}, a {verb} head"),
        lines,
        table: Table::counted(("step", &columns), recording.trace.steps(), |t| {
            scalars.iter().map(move |scalar| scalar.values[t])
        }),
    })
}

/// The first line of a card, for the pointer.
pub fn describe(card: &Card) -> String {
    let lines = card.lines.iter().take(3);
    let lines = lines.map(|line| format!("{} = {}", line.symbol, line.sum.replace('\n', "\n    ")));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::{InitialMemory, Order};
    use crate::model::{Model, SamConfig};
    use crate::viewer::fixture::config;
    use crate::viewer::state::{RecordedEpisode, Target};

    fn opened(order: Order) -> Open {
        let mut config = config();
        config.order = order;
        crate::viewer::fixture::opened(config, 3, 1)
    }

    #[test]
    fn read_value_equals_shown_sum() {
        for order in [Order::ReadFirst, Order::WriteFirst] {
            read_is_the_sum(&opened(order));
        }
    }

    fn read_is_the_sum(open: &Open) {
        let recording = &open.shown.recording;
        let head = (0..2)
            .find(|&head| !recording.trace.heads[head].is_write())
            .unwrap();
        let card = card(open, PanelId::of(Picture::Reads, head), 1, 4).unwrap();
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

    /// The numbers of rows in a text: those behind `row` and `w(`.
    fn rows_in(text: &str) -> Vec<usize> {
        let parts = ["row ", "w("]
            .into_iter()
            .flat_map(|by| text.split(by).skip(1));
        let digits = parts.map(|part| part.split(|c: char| !c.is_ascii_digit()).next());
        digits.filter_map(|digits| digits?.parse().ok()).collect()
    }

    #[test]
    fn rows_of_a_part_of_the_memory_have_their_numbers() {
        let task = crate::viewer::fixture::copying(4..=4);
        let mut config = SamConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.initial_memory) =
            (16_384, 4, InitialMemory::Constant(0.1));
        config.seed = 1;
        let model = Model::new(config, 1);
        let recording = Recording::new(&model, &task, 1, 0);
        let (trace, all) = (&recording.trace, recording.trace.memory_size()[0]);
        let known: Vec<_> = (0..all).map(|row| row_number(trace, row).0).collect();
        assert!(known.iter().enumerate().any(|(row, number)| row != *number));
        let head = trace.heads.len() - 1;
        let config = Some(model.config.clone());
        let open = Open::new(
            RecordedEpisode::of_file(String::new(), recording, config),
            None,
        );
        let pictures = [Picture::Adds, Picture::Reads, Picture::Keys];
        let heads = (0..=head).flat_map(|head| pictures.map(|picture| PanelId::of(picture, head)));
        let values = heads.map(|id| Target::Value { id, column: 0 });
        let rows = (0..all).map(Target::Row);
        let mut count = 0;
        for target in values.chain(rows).chain((0..=head).map(Target::Head)) {
            for step in 0..open.shown.recording.trace.steps() {
                let Some(card) = target.card(&open, head, step) else {
                    continue;
                };
                let sums = card.lines.iter().map(|line| &*line.sum);
                for number in sums.chain([&*card.title]).flat_map(rows_in) {
                    assert!(known.contains(&number), "{number}: {card:?}");
                    count += 1;
                }
            }
        }
        assert!(count > 100, "{count}");
    }

    #[test]
    fn only_existing_vectors_have_cards() {
        let open = opened(Order::ReadFirst);
        let recording = &open.shown.recording;
        let write = (0..2)
            .find(|&head| recording.trace.heads[head].is_write())
            .unwrap();
        let of = |picture| PanelId::of(picture, write);
        for id in [
            of(Picture::Keys),
            of(Picture::Shifts),
            of(Picture::Erases),
            of(Picture::Adds),
            PanelId::new(Picture::Input),
            PanelId::new(Picture::Output),
            PanelId::new(Picture::Target),
        ] {
            assert!(card(&open, id, 0, 2).is_some(), "{id:?}");
            assert!(card(&open, id, 99, 2).is_none());
        }
        assert!(card(&open, of(Picture::Reads), 0, 2).is_none());
        assert!(card(&open, of(Picture::Keys), 0, 99).is_none());
        let card = head_card(&open, write, 2).unwrap();
        assert_eq!(card.table.columns.len(), card.table.rows[0].len());
    }
}
