//! Heads of the Neural Turing Machine, and what all heads have. Equation numbers are those of Graves et al. 2014.

use std::ops::Range;

use super::score::{energy, has_score};
use super::tables::Tables;
use crate::figure::facts::column::{BEFORE, COLUMN, Column, ValueKind};
use crate::figure::facts::heads::{has, is_hard, is_sparse, offset, signed};
use crate::figure::facts::id::Picture;
use crate::figure::facts::in_step::{InStep, SYMBOLS, n, stage_input};
use crate::figure::facts::measure::{Ends, Measure, derived};
use crate::figure::facts::numbers;
use crate::figure::facts::over_time::{Colours, KnownFrom, OverTime, Owner, vector};
use crate::figure::facts::stage::Stage;
use crate::model::attention::{Score, Weighting};
use crate::model::{HeadTrace, array, peak};

pub(super) const TABLES: Tables = Tables {
    columns: &COLUMNS,
    measures: &ADDRESSING_MEASURES,
    vectors: &VECTORS,
    ..Tables::EMPTY
};

/// The numbers of a head in the order of the addressing.
#[rustfmt::skip] // A line for each.
pub static ADDRESSING_MEASURES: [Measure; 5] = [
    Measure::recorded("β", "key strength", array::STRENGTH, Ends::FromZero),
    Measure::recorded("g", "gate", array::GATE, Ends::Share),
    Measure { symbol: "s", words: "expected shift", array: &derived("expected_shift"), from: Some(array::SHIFT), ends: Ends::Shift },
    Measure::recorded("γ", "sharpening", array::SHARPENING, Ends::FromOne),
    Measure { symbol: "H", words: "entropy of w, bits", array: &derived("entropy"), from: Some(array::WEIGHTING), ends: Ends::Bits },
];

#[rustfmt::skip] // A line for each.
static VECTORS: [OverTime; 7] = [
    vector(Picture::Keys, Owner::Head, Some(array::KEY), ["Keys", "keys", "key", "k", "column", ""], Colours::Vector, KnownFrom::AtOnce),
    vector(Picture::Shifts, Owner::Head, Some(array::SHIFT), ["Shifts", "shifts", "shift", "s", "column", ""], Colours::Weighting, KnownFrom::AtOnce),
    vector(Picture::Adds, Owner::Head, Some(array::ADD), ["Adds", "adds", "add", "a", "column", ""], Colours::Vector, KnownFrom::After(Stage::Add)),
    vector(Picture::Erases, Owner::Head, Some(array::ERASE), ["Erases", "erases", "erase", "e", "column", ""], Colours::Bits, KnownFrom::After(Stage::Erase)),
    vector(Picture::Reads, Owner::Head, Some(array::READ), ["Reads", "reads", "read", "r", "column", ""], Colours::Memory, KnownFrom::After(Stage::Read)),
    vector(Picture::Weightings, Owner::Head, Some(array::WEIGHTING), ["Weightings", "weighting", "weighting", "w", "row", ""], Colours::Weighting, KnownFrom::Addressed),
    vector(Picture::Overlap, Owner::Head, None, ["Overlap", "overlap", "overlap", "A·A′", "head", ""], Colours::Overlap, KnownFrom::AtOnce),
];

#[rustfmt::skip] // One line for the constants, one for the functions.
static COLUMNS: [Column; 7] = [
    Column { symbol: "wₜ₋₁", word: "before", array: BEFORE, stage: Stage::Controller, values: ValueKind::Before, has: |head| has(head, array::INITIAL) && has(head, array::GATED),
        equation: |_| "the weighting of the previous step".to_owned(), sum: |_, _| "the previous step".to_owned(), ..COLUMN },
    Column { source: "(5, 6)", has: |head| is_plain(head) && has_score(head, Score::Cosine), ..CONTENT },
    Column { has: |head| is_plain(head) && !has_score(head, Score::Cosine), ..CONTENT },
    Column { symbol: SYMBOLS[1], word: "gate", array: array::GATED, stage: Stage::Gate, source: "(7)", emits: Some(&ADDRESSING_MEASURES[1]), has: |head| has(head, array::GATED),
        equation: |_| "wᵍ = g · wᶜ + (1 − g) · wₜ₋₁".to_owned(), parameter: |at| format!("g {}", numbers::cell(at.head.gate[at.step])), sum: gate, ..COLUMN },
    Column { symbol: SYMBOLS[2], word: "shift", array: array::SHIFTED, stage: Stage::Shift, source: "(8)", emits: Some(&ADDRESSING_MEASURES[2]), has: |head| has(head, array::SHIFTED),
        equation: |head| format!("w\u{303}(i) = Σ {}(j) · s(i − j)", stage_input(head, array::SHIFTED).0), parameter: shift_parameter, sum: shift, ..COLUMN },
    Column { has: |head| !is_hard(head) && has(head, array::SHARPENING), ..SHARPEN },
    Column { has: has_only_weighting, equation: |_| "the weighting of this head".to_owned(), sum: |_, _| "used by the head to read or write".to_owned(), ..COLUMN },
];

/// The column of a weighting without stages.
pub(super) fn only_weighting() -> &'static Column {
    let [.., last] = &COLUMNS;
    last
}

/// True of a head that has a weighting and none of its stages.
fn has_only_weighting(head: &HeadTrace) -> bool {
    let stages = [
        array::CONTENT,
        array::GATED,
        array::SHIFTED,
        array::SHARPENING,
    ];
    has(head, array::WEIGHTING)
        && !is_sparse(head)
        && !stages.into_iter().any(|array| has(head, array))
}

/// True of a head with a content weighting of this form.
pub(super) fn has_weighting(head: &HeadTrace, weighting: Weighting) -> bool {
    head.mechanism.weighting == weighting && has(head, array::CONTENT)
}

/// True of a head whose content weighting is the softmax of the scores.
fn is_plain(head: &HeadTrace) -> bool {
    matches!(head.mechanism.weighting, Weighting::Soft | Weighting::Hard)
        && has(head, array::CONTENT)
}

/// The properties of all content weightings.
pub(super) const CONTENT: Column = Column {
    symbol: SYMBOLS[0],
    word: "content",
    array: array::CONTENT,
    stage: Stage::Content,
    source: "(5)",
    emits: Some(&ADDRESSING_MEASURES[0]),
    equation: |head| format!("wᶜ = softmax({})", energy(head)),
    parameter: strength_parameter,
    sum: |at, row| softmax(at, row, 0..at.head.similarity.width(), |_| None),
    ..COLUMN
};

/// The properties of all sharpened weightings.
pub(super) const SHARPEN: Column = Column {
    word: "sharpen",
    stage: Stage::Sharpen,
    source: "(9)",
    emits: Some(&ADDRESSING_MEASURES[3]),
    equation: |head| {
        let made = if is_hard(head) { "α" } else { "w" };
        let (from, _) = stage_input(head, array::WEIGHTING);
        format!("{made} = {from}^γ / Σ {from}^γ")
    },
    parameter: |at| parameter("γ", at.head.sharpening[at.step]),
    sum: sharpen,
    ..COLUMN
};

fn parameter(symbol: &str, value: f32) -> String {
    format!("{symbol} {}", numbers::fit(value, 2, 4).trim_start())
}

/// β, where the head emits it.
pub(super) fn strength_parameter(at: &InStep<'_>) -> String {
    at.strength()
        .map_or_else(String::new, |beta| parameter("β", beta))
}

fn shift_parameter(at: &InStep<'_>) -> String {
    main_shift(at.head, at.step).map_or_else(String::new, |(by, mass)| {
        format!("{} {}", signed(by), numbers::cell(mass))
    })
}

/// Main shift of a step in rows, and its weight.
pub fn main_shift(head: &HeadTrace, step: usize) -> Option<(isize, f32)> {
    let shift = head.shift.row(step);
    let range = shift.len() / 2;
    peak(shift).map(|(index, mass)| (offset(index, range), mass))
}

/// The equation of wᶜ of one of these rows, each with this perturbation of β·K. The largest exponent is subtracted to avoid
/// overflow.
pub(super) fn softmax(
    at: &InStep<'_>,
    row: usize,
    rows: Range<usize>,
    noise: impl Fn(usize) -> Option<f32>,
) -> String {
    let scores = at.row(&at.head.similarity);
    if scores.is_empty() {
        return "not recorded".to_owned();
    }
    if !rows.contains(&row) {
        return format!("0: outside of rows {} to {}", rows.start, rows.end - 1);
    }
    let beta = at.strength();
    let energy = |row: usize| beta.unwrap_or(1.0) * scores[row] + noise(row).unwrap_or(0.0);
    let energies = rows.map(energy);
    let most = energies.clone().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = energies.map(|energy| (energy - most).exp()).sum();
    let own = beta.map_or_else(String::new, |beta| format!("{} · ", n(beta)));
    let noise = noise(row).map_or_else(String::new, |noise| format!(" + {}", n(noise)));
    let [score, most, total] = [scores[row], most, total].map(n);
    format!("exp({own}{score}{noise} − {most}) / {total}")
}

fn gate(at: &InStep<'_>, row: usize) -> String {
    let (head, step) = (at.head, at.step);
    let (gate, before) = (head.gate[step], head.previous_weighting(step)[row]);
    let content = head.content.row(step)[row];
    let [gate, content, rest, before] = [gate, content, 1.0 - gate, before].map(n);
    format!("{gate} · {content} + {rest} · {before}")
}

fn shift(at: &InStep<'_>, row: usize) -> String {
    let (shift, (symbol, moved)) = (at.row(&at.head.shift), at.stage_input(array::SHIFTED));
    let (range, rows) = (shift.len() / 2, moved.len());
    let from = |index: usize| (row + rows * (1 + range / rows) + range - index) % rows;
    let terms = shift.iter().enumerate();
    let mut terms: Vec<_> = terms.map(|(index, &s)| (index, s, from(index))).collect();
    // Only the five largest terms of a wide range.
    terms.sort_by(|a, b| (b.1 * moved[b.2]).total_cmp(&(a.1 * moved[a.2])));
    terms.truncate(5);
    terms.sort_by_key(|&(index, ..)| index);
    let terms = terms.into_iter().map(|(index, s, from)| {
        let by = signed(offset(index, range));
        format!("s({by}) {} · {symbol}({from}) {}", n(s), n(moved[from]))
    });
    terms.collect::<Vec<_>>().join("\n")
}

/// Equation of the last weighting; for a hard head the distribution that it samples from.
fn sharpen(at: &InStep<'_>, row: usize) -> String {
    let (_, from) = at.stage_input(array::WEIGHTING);
    let gamma = at.head.sharpening[at.step];
    let power = from.iter().map(|w| w.powf(gamma)).sum();
    let [own, gamma, power] = [from[row], gamma, power].map(n);
    format!("{own}^{gamma} / {power}")
}
