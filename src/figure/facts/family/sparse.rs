//! Heads of sparse access memory: Rae et al. 2016.

use super::addressing::strength_parameter;
use super::tables::Tables;
use crate::figure::facts::action::{Action, WRITES_NOTHING};
use crate::figure::facts::column::{COLUMN, Column, ValueKind};
use crate::figure::facts::heads::{has, is_sparse};
use crate::figure::facts::id::Picture;
use crate::figure::facts::in_step::{InStep, n};
use crate::figure::facts::measure::{Ends, Measure};
use crate::figure::facts::numbers::{self, percent};
use crate::figure::facts::over_time::{Colours, KnownFrom, OverTime, Owner, vector};
use crate::figure::facts::stage::Stage;
use crate::figure::facts::thresholds::DECIDES;
use crate::math::Series;
use crate::model::dnc::WRITE_GATE;
use crate::model::sam::{AGE, COSINES, INTERPOLATION_GATE, ROW, ROWS, WEIGHTS, row_number};

pub(super) const TABLES: Tables = Tables {
    columns: &COLUMNS,
    measures: &MEASURES,
    vectors: &VECTORS,
    sentence,
    ..Tables::EMPTY
};

static MEASURES: [Measure; 1] = [Measure::recorded(
    "γ",
    "interpolation gate",
    INTERPOLATION_GATE,
    Ends::FromZero,
)];

#[rustfmt::skip] // A line for each.
static VECTORS: [OverTime; 1] = [
    vector(Picture::Age, Owner::Head, Some(AGE), ["Age", "age", "age", "age", "row", ""], Colours::Ages, KnownFrom::After(Stage::Age)),
];

#[rustfmt::skip] // One line for the constants, one for the functions.
static COLUMNS: [Column; 3] = [
    Column { symbol: "age", word: "age", array: AGE, stage: Stage::Age, values: ValueKind::Ages, has: |head| has(head, AGE),
        equation: |_| "steps since the row was last accessed, a full bar: longer than the episode; i is the oldest row".to_owned(), sum: age, source: "Rae 2016", ..COLUMN },
    Column { word: "write", has: |head| has(head, ROW),
        equation: |_| "w = gʷ · (γ · wʳₜ₋₁ + (1 − γ) · 1 in row i)".to_owned(), parameter: gates, sum: written, source: "Rae 2016", ..COLUMN },
    Column { word: "softmax", has: |head| has(head, ROWS),
        equation: |head| format!("w = softmax(β · K) over the {} rows of the largest K", head.series(ROWS).map_or(0, Series::width)), parameter: strength_parameter, sum: read, source: "Rae 2016", ..COLUMN },
];

/// The gates of its write heads: `gʷ .98 γ .02`.
fn gates(at: &InStep<'_>) -> String {
    let [write, interpolation] = [WRITE_GATE, INTERPOLATION_GATE].map(|gate| {
        at.own(gate)
            .first()
            .map_or_else(String::new, |&gate| numbers::cell(gate))
    });
    format!("gʷ {write} γ {interpolation}")
}

/// The age of a row, and whether the head erases it.
pub fn age(at: &InStep<'_>, row: usize) -> String {
    let is_oldest = at.own(ROW).first() == Some(&(row_number(at.trace, row).0 as f32));
    let erased = ["", "\noldest: row i, which is erased"][usize::from(is_oldest)];
    format!("last accessed {} steps ago{erased}", at.own(AGE)[row])
}

/// The write weighting of a row of sparse access memory, from the read weighting before and the oldest row.
fn written(at: &InStep<'_>, row: usize) -> String {
    let mut heads = at.trace.heads.iter();
    let head = heads.position(|head| std::ptr::eq(head, at.head));
    let reader = head.and_then(|head| head.checked_sub(at.trace.heads.len() / 2));
    let before = reader.map_or(0.0, |reader| {
        at.trace.heads[reader].previous_weighting(at.step)[row]
    });
    let (write, share) = (at.own(WRITE_GATE)[0], at.own(INTERPOLATION_GATE)[0]);
    let is_oldest = at.own(ROW)[0] == row_number(at.trace, row).0 as f32;
    let [write, share, rest, before] = [write, share, 1.0 - share, before].map(n);
    format!(
        "{write} · ({share} · {before} + {rest} · {})",
        u8::from(is_oldest)
    )
}

/// The weight of a row among those that a head of sparse access memory reads.
fn read(at: &InStep<'_>, row: usize) -> String {
    let (rows, beta) = (at.own(ROWS), at.strength().unwrap_or(1.0));
    let number = row_number(at.trace, row).0 as f32;
    let Some(place) = rows.iter().position(|&other| other == number) else {
        let rows: Vec<_> = rows.iter().map(f32::to_string).collect();
        return format!("0: the rows of the largest K are {}", rows.join(", "));
    };
    let energies = at.own(COSINES).iter().map(|cosine| beta * cosine);
    let most = energies.clone().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = energies.map(|energy| (energy - most).exp()).sum();
    let [beta, cosine, most, total] = [beta, at.own(COSINES)[place], most, total].map(n);
    format!("exp({beta} · {cosine} − {most}) / {total}")
}

/// What a head of sparse access memory does in a stage.
fn sentence(action: &Action<'_>) -> Option<[String; 2]> {
    let (at, (row, value)) = (action.at, action.peak);
    let stages = [Stage::Age, Stage::Content, Stage::Weigh];
    let stage = action
        .stage
        .filter(|stage| stages.contains(stage) && is_sparse(at.head))?;
    let row = row_number(at.trace, row);
    let only = |what: String| [what, String::new()];
    let gates = [WRITE_GATE, INTERPOLATION_GATE].map(|gate| at.own(gate).first().copied());
    Some(match (stage, gates) {
        (Stage::Age, _) => {
            let oldest = at.own(ROW).first().copied().unwrap_or_default();
            only(format!(
                "finds the row that was accessed longest ago, number {oldest}"
            ))
        }
        (Stage::Content, _) => {
            let cosine = numbers::short(value, 2);
            only(format!(
                "compares its key with the rows: row {row} is most alike (cosine {cosine})"
            ))
        }
        (_, [Some(write), Some(kept)]) => {
            let to = if write < 1.0 - DECIDES {
                WRITES_NOTHING.to_owned()
            } else if kept >= DECIDES {
                "writes to the rows that it read before".to_owned()
            } else if kept <= 1.0 - DECIDES {
                format!("writes to the row accessed longest ago, row {row}")
            } else {
                "writes to the rows that it read before and to the row accessed longest ago"
                    .to_owned()
            };
            [to, format!(" (gʷ {}, γ {})", percent(write), percent(kept))]
        }
        _ => {
            let weights = at.own(ROWS).iter().zip(at.own(WEIGHTS));
            let mut weights: Vec<_> = weights.collect();
            weights.sort_by(|a, b| b.1.total_cmp(a.1));
            let rows = weights
                .iter()
                .map(|(row, weight)| format!("{row} ({})", percent(**weight)));
            let (count, rows) = (weights.len(), rows.collect::<Vec<_>>().join(", "));
            only(format!(
                "weighs the {count} rows most like its key: numbers {rows}"
            ))
        }
    })
}
