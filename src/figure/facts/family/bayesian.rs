//! Bayesian heads, whose weights are random: Fan et al. 2020.

use super::addressing::{CONTENT, has_weighting, softmax};
use super::score::energy;
use super::tables::Tables;
use crate::figure::facts::column::{COLUMN, Column, ValueKind};
use crate::figure::facts::heads::has;
use crate::figure::facts::in_step::{Fact, InStep};
use crate::figure::facts::measure::{Ends, Measure};
use crate::figure::facts::stage::Stage;
use crate::model::NoiseMode;
use crate::model::attention::Weighting;
use crate::model::weighting::bayesian::{DIVERGENCE, NOISE, NORMAL, PRIOR};

pub(super) const TABLES: Tables = Tables {
    columns: &COLUMNS,
    measures: &MEASURES,
    facts,
    ..Tables::EMPTY
};

static MEASURES: [Measure; 1] = [Measure::recorded(
    "KL",
    "divergence from m, nats",
    DIVERGENCE,
    Ends::All,
)];

#[rustfmt::skip] // One line for the constants, one for the functions.
static COLUMNS: [Column; 3] = [
    Column { symbol: "m", word: "prior", array: PRIOR, stage: Stage::Content, values: ValueKind::Prior, source: "Fan 2020", has: |head| has(head, PRIOR),
        equation: |_| "m: expected from the rows of M alone, without the key".to_owned(), sum: |_, _| "from this row of M, relative to all rows".to_owned(), ..COLUMN },
    Column { has: |head| has_weighting(head, Weighting::Weibull), equation: |head| format!("wᶜ = softmax({} + ν), ν = ln(−ln(1 − u)) / k", energy(head)), source: "Fan 2020", sum: content, ..CONTENT },
    Column { has: |head| has_weighting(head, Weighting::Lognormal), equation: |head| format!("wᶜ = softmax({} + ν), ν = σ · ε", energy(head)), source: "Fan 2020", sum: content, ..CONTENT },
];

/// The equation of wᶜ of a row.
fn content(at: &InStep<'_>, row: usize) -> String {
    let noise = |row| perturbed(at, row);
    softmax(at, row, 0..at.head.similarity.width(), noise)
}

/// Returns the perturbation of β·K in a row, if the weights of a head are sampled.
fn perturbed(at: &InStep<'_>, row: usize) -> Option<f32> {
    let of = &at.head.mechanism;
    if at.sampling == NoiseMode::Mean {
        return None;
    }
    match of.weighting {
        Weighting::Weibull => {
            let u = at.own(NOISE).get(row)?;
            Some((-(-u).ln_1p()).ln() / of.parameters.weibull_shape as f32)
        }
        Weighting::Lognormal => {
            let epsilon = at.own(NORMAL).get(row)?;
            Some(of.parameters.lognormal_sigma as f32 * epsilon)
        }
        _ => None,
    }
}

/// The divergence of a step.
fn facts(at: &InStep<'_>) -> Vec<Fact> {
    let words = "divergence from the prior m, nats, over all rows";
    let all = at.own(DIVERGENCE).iter();
    all.map(|divergence| ("KL", words.to_owned(), *divergence))
        .collect()
}
