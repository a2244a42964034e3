//! Hard heads, which sample one row: Xu et al. 2015.

use super::addressing::SHARPEN;
use super::tables::Tables;
use crate::figure::facts::action::Action;
use crate::figure::facts::column::{COLUMN, Column};
use crate::figure::facts::heads::{entropy, has, is_hard};
use crate::figure::facts::in_step::{Fact, InStep, n, stage_input};
use crate::figure::facts::measure::{Ends, Measure, derived};
use crate::figure::facts::numbers;
use crate::figure::facts::stage::Stage;
use crate::model::weighting::hard;
use crate::model::{NoiseMode, array, peak};

pub(super) const TABLES: Tables = Tables {
    columns: &COLUMNS,
    measures: &MEASURES,
    facts,
    sentence,
    ..Tables::EMPTY
};

/// The entropy of α; that of the sampled weighting is 0.
#[rustfmt::skip] // A line for each.
static MEASURES: [Measure; 1] = [
    Measure { symbol: "H", words: "entropy of α, bits", array: &derived("distribution_entropy"), from: Some(array::DISTRIBUTION), ends: Ends::Bits },
];

#[rustfmt::skip] // One line for the constants, one for the functions.
static COLUMNS: [Column; 3] = [
    Column { symbol: "α", array: array::DISTRIBUTION, has: |head| is_hard(head) && has(head, array::SHARPENING), ..SHARPEN },
    Column { symbol: "α", word: "prob.", array: array::DISTRIBUTION, has: |head| is_hard(head) && !has(head, array::SHARPENING),
        equation: |head| format!("α = {}: the probability of each row", stage_input(head, array::DISTRIBUTION).0), sum: |_, _| "unchanged: there is no sharpening".to_owned(), stage: Stage::Draw, source: "Xu 2015", ..COLUMN },
    Column { word: "sample", has: is_hard,
        equation: |_| "w = 1 in one row, sampled from α; or in the most likely row; or, expected, α itself".to_owned(), parameter: draw_parameter, sum: drawn, stage: Stage::Draw, source: "Xu 2015", ..COLUMN },
];

/// Describes the choice of a hard head's row.
fn draw_parameter(at: &InStep<'_>) -> String {
    match (at.sampling, at.draw()) {
        (NoiseMode::Sampled, Some(drawn)) => format!("u {}", numbers::cell(drawn.u)),
        (NoiseMode::Expected, _) => "= α".to_owned(),
        _ => "max".to_owned(),
    }
}

/// Describes how a hard head chose its row.
fn drawn(at: &InStep<'_>, row: usize) -> String {
    let alpha = at.row(&at.head.distribution);
    let chance = n(alpha[row]);
    match at.sampling {
        NoiseMode::Expected => "α itself: nothing is sampled in an expected episode".to_owned(),
        NoiseMode::Mean => {
            let most = hard::most_likely(alpha);
            if row == most {
                return format!("α {chance} is the largest: the most likely row");
            }
            let largest = n(alpha[most]);
            format!("α {chance}; the largest is {largest}, in row {most}")
        }
        NoiseMode::Sampled => {
            let below: f32 = alpha[..row].iter().sum();
            let to = below + alpha[row];
            let u = at.own(hard::DRAW).first().copied().unwrap_or(0.0);
            let is_it = at.row(&at.head.weighting)[row] > 0.5;
            let is = if is_it { "is" } else { "is not" };
            format!("u {} {is} between {} and {}", n(u), n(below), n(to))
        }
    }
}

/// The sampled row of a step.
fn facts(at: &InStep<'_>) -> Vec<Fact> {
    let Some(drawn) = at.draw() else {
        return Vec::new();
    };
    let sampled = (at.sampling == NoiseMode::Sampled).then(|| {
        let (from, to) = (n(drawn.from), n(drawn.to));
        let words = format!("sampled: row {} is {from} to {to}", drawn.row);
        ("u", words, drawn.u)
    });
    let words = format!("probability of row {}", drawn.row);
    let bits = entropy(at.row(&at.head.distribution));
    let others = [
        ("α", words, drawn.chance),
        ("H", "entropy of α, bits".to_owned(), bits),
    ];
    sampled.into_iter().chain(others).collect()
}

/// How a hard head selects its row.
fn sentence(action: &Action<'_>) -> Option<[String; 2]> {
    let (at, row) = (action.at, action.peak.0);
    if action.stage != Some(Stage::Draw) {
        return None;
    }
    let n = |value: f32| numbers::short(value, 2);
    let alpha = at.head.distribution.row(at.step);
    let bits = format!("Entropy of α: {} bits", n(entropy(alpha)));
    let Some(drawn) = at.draw() else {
        return Some([format!("selects row {row}"), String::new()]);
    };
    let chance = n(drawn.chance);
    Some(match at.sampling {
        NoiseMode::Mean => [
            format!("takes the most likely row, row {row}"),
            format!(" (α {chance}). {bits}"),
        ],
        NoiseMode::Sampled => {
            let [u, from, to] = [drawn.u, drawn.from, drawn.to].map(n);
            let likely = peak(alpha).map(|(likely, _)| likely);
            let likely = likely.filter(|&likely| likely != row);
            let more = likely.map_or_else(String::new, |likely| {
                format!(". Row {likely} was more likely")
            });
            let detail = format!(" (α {chance}): u {u} lies between {from} and {to}{more}. {bits}");
            [format!("samples row {row}"), detail]
        }
        NoiseMode::Expected => [
            format!("attends to all rows by probability, most to row {row}"),
            format!(" (α {chance}). {bits}"),
        ],
    })
}
