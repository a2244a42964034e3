//! Local heads, which look at a window of the rows: Luong et al. 2015.

use super::addressing::{CONTENT, has_weighting, softmax};
use super::score::energy;
use super::tables::Tables;
use crate::figure::facts::column::Column;
use crate::figure::facts::in_step::{Fact, InStep, n};
use crate::figure::facts::measure::{Ends, Measure};
use crate::model::attention::Weighting;
use crate::model::weighting::local::CENTRE;

pub(super) const TABLES: Tables = Tables {
    columns: &COLUMNS,
    measures: &MEASURES,
    facts,
    ..Tables::EMPTY
};

static MEASURES: [Measure; 1] = [Measure::recorded(
    "p",
    "centre of the window",
    CENTRE,
    Ends::Rows,
)];

#[rustfmt::skip] // A line for each.
static COLUMNS: [Column; 2] = [
    Column { has: |head| has_weighting(head, Weighting::LocalMonotonic), equation: |head| format!("wᶜ = softmax({}) within rows p ± D", energy(head)), source: "Luong 2015", sum: content, ..CONTENT },
    Column { has: |head| has_weighting(head, Weighting::LocalPredictive), equation: |head| format!("wᶜ = softmax({}) within p ± D · exp(−(i − p)² / 2σ²)", energy(head)), source: "Luong 2015", sum: content, ..CONTENT },
];

/// The equation of wᶜ of a row.
fn content(at: &InStep<'_>, row: usize) -> String {
    let count = at.head.similarity.width();
    let window = at.window().filter(|_| count > 0);
    let rows = window.map_or(0..count, |window| window.rows(count));
    let is_there = rows.contains(&row);
    let share = softmax(at, row, rows, |_| None);
    match window.filter(|window| window.is_gaussian && is_there) {
        None => share,
        Some(window) => {
            let [centre, twice] = [window.centre, window.half * window.half / 2.0].map(n);
            format!("{share}\n· exp(−({row} − {centre})² / {twice})")
        }
    }
}

/// The window of a step.
fn facts(at: &InStep<'_>) -> Vec<Fact> {
    let is_known = at.head.similarity.width() > 0;
    let fact = at.window().filter(|_| is_known).map(|window| {
        let rows = window.rows(at.head.similarity.width());
        let seen = format!("centre: window of rows {} to {}", rows.start, rows.end - 1);
        ("p", seen, window.centre)
    });
    fact.into_iter().collect()
}
