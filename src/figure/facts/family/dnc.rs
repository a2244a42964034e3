//! Heads of the Differentiable Neural Computer: Graves et al. 2016.

use super::tables::Tables;
use crate::figure::facts::action::Action;
use crate::figure::facts::column::{COLUMN, Column, ValueKind};
use crate::figure::facts::heads::{has, is_mixed, is_sparse};
use crate::figure::facts::id::Picture;
use crate::figure::facts::in_step::{InStep, added, n};
use crate::figure::facts::links::{LINKED, MODES};
use crate::figure::facts::measure::{Ends, Measure};
use crate::figure::facts::numbers::{self, percent};
use crate::figure::facts::over_time::{Colours, KnownFrom, OverTime, Owner, vector};
use crate::figure::facts::stage::Stage;
use crate::figure::facts::thresholds::DECIDES;
use crate::model::dnc::{
    ALLOCATION, ALLOCATION_GATE, BACKWARD, FORWARD, FREE_GATE, PRECEDENCE, READ_MODES, USAGE,
    WRITE_GATE, allocation_order,
};
use crate::model::{HeadTrace, array, peak};

pub(super) const TABLES: Tables = Tables {
    columns: &COLUMNS,
    measures: &MEASURES,
    vectors: &VECTORS,
    sentence,
    reason: |at| is_own(at).then(|| origin(at)),
    ..Tables::EMPTY
};

#[rustfmt::skip] // A line for each.
static MEASURES: [Measure; 3] = [
    Measure::recorded("f", "free gate", FREE_GATE, Ends::FromZero),
    Measure::recorded("gᵃ", "allocation gate", ALLOCATION_GATE, Ends::FromZero),
    Measure::recorded("gʷ", "write gate", WRITE_GATE, Ends::FromZero),
];

#[rustfmt::skip] // A line for each.
static VECTORS: [OverTime; 3] = [
    vector(Picture::Usage, Owner::Head, Some(USAGE), ["Usage", "usage", "usage", "u", "row", ""], Colours::Bits, KnownFrom::After(Stage::Usage)),
    vector(Picture::Precedence, Owner::Head, Some(PRECEDENCE), ["Precedence", "precedence", "precedence", "p", "row", ""], Colours::Weighting, KnownFrom::After(Stage::Add)),
    vector(Picture::Modes, Owner::Head, Some(READ_MODES), ["Read modes", "modes", "modes", "π", "mode", ""], Colours::Weighting, KnownFrom::AtOnce),
];

#[rustfmt::skip] // One line for the constants, one for the functions.
static COLUMNS: [Column; 6] = [
    Column { symbol: "u", word: "usage", array: USAGE, stage: Stage::Usage, values: ValueKind::Usage, has: |head| has(head, USAGE),
        equation: |_| "u = (uₜ₋₁ + wₜ₋₁ − uₜ₋₁ · wₜ₋₁) · Π (1 − f · wʳₜ₋₁)".to_owned(), sum: usage, source: "Graves 2016", ..COLUMN },
    Column { symbol: "a", word: "allocate", short: "alloc.", array: ALLOCATION, stage: Stage::Allocate, has: |head| has(head, ALLOCATION),
        equation: |_| "a = (1 − u) · Π u of the rows that are used less".to_owned(), sum: allocation, source: "Graves 2016", ..COLUMN },
    Column { symbol: "b", word: "backward", short: "back", array: BACKWARD, stage: Stage::Links, has: |head| has(head, BACKWARD),
        equation: |_| "b(i) = Σ L(j, i) · wₜ₋₁(j)".to_owned(), sum: |at, row| links(at, row, false), source: "Graves 2016", ..COLUMN },
    Column { symbol: "f", word: "forward", array: FORWARD, stage: Stage::Links, has: |head| has(head, FORWARD),
        equation: |_| "f(i) = Σ L(i, j) · wₜ₋₁(j)".to_owned(), sum: |at, row| links(at, row, true), source: "Graves 2016", ..COLUMN },
    Column { word: "write", has: |head| has(head, WRITE_GATE) && has(head, array::CONTENT) && !is_sparse(head),
        equation: write_equation, parameter: write_parameter, sum: written, source: "Graves 2016", ..COLUMN },
    Column { word: "mix", has: |head| has(head, READ_MODES) && has(head, array::CONTENT),
        equation: |_| "w = π₁ · b + π₂ · wᶜ + π₃ · f".to_owned(), parameter: modes_parameter, sum: mixed, source: "Graves 2016", ..COLUMN },
];

/// The equation of the write weighting of a Differentiable Neural Computer.
fn write_equation(head: &HeadTrace) -> String {
    if has(head, ALLOCATION) {
        "w = gʷ · (gᵃ · a + (1 − gᵃ) · wᶜ)".to_owned()
    } else {
        "w = gʷ · wᶜ".to_owned()
    }
}

/// The gate that tells most of the write head: `gᵃ .98`; `gʷ .02` where it hardly writes.
fn write_parameter(at: &InStep<'_>) -> String {
    let gate = |array| at.own(array).first().copied();
    let write = gate(WRITE_GATE).unwrap_or(f32::NAN);
    match gate(ALLOCATION_GATE).filter(|_| write >= 0.5) {
        Some(allocation) => format!("gᵃ {}", numbers::cell(allocation)),
        None => format!("gʷ {}", numbers::cell(write)),
    }
}

/// The largest read mode, by the weighting that it takes: `f .90`.
fn modes_parameter(at: &InStep<'_>) -> String {
    let most = peak(at.own(READ_MODES));
    most.map_or_else(String::new, |(mode, share)| {
        format!("{} {}", MODES[0][mode], numbers::cell(share))
    })
}

/// The usage of a row: what it was, what was written, and the share that the free gates left.
pub fn usage(at: &InStep<'_>, row: usize) -> String {
    let (own, step) = (at.own(USAGE)[row], at.step);
    let before = at.head.series(USAGE).filter(|_| step > 0);
    let before = before.map_or(0.0, |usage| usage.row(step - 1)[row]);
    let written = at.head.previous_weighting(step)[row];
    let used = before + written - before * written;
    let kept = if used > 0.0 { own / used } else { 1.0 };
    let [before, written, kept] = [before, written, kept].map(n);
    let place = place(&allocation_places(at.own(USAGE)), row);
    format!("({before} + {written} − {before} · {written}) · {kept}\n{place}")
}

/// The place of every row in the order in which rows are allocated, from 1.
pub(crate) fn allocation_places(usage: &[f32]) -> Vec<usize> {
    let (mut order, mut places) = (vec![0.0; usage.len()], vec![0; usage.len()]);
    allocation_order(usage, &mut order);
    for (place, row) in order.into_iter().enumerate() {
        places[row as usize] = place + 1;
    }
    places
}

/// The place of a row in words.
fn place(places: &[usize], row: usize) -> String {
    let (place, all) = (places[row], places.len());
    format!("place {place} of {all} in the order of allocation")
}

/// The allocation of a row: the product of the usages before it, and its place in the order of allocation.
fn allocation(at: &InStep<'_>, row: usize) -> String {
    let usage = at.own(USAGE);
    let places = allocation_places(usage);
    let before = usage.iter().zip(&places);
    let before = before.filter(|(_, place)| **place < places[row]);
    let product: f32 = before.map(|(used, _)| used).product();
    let [free, product] = [1.0 - usage[row], product].map(n);
    format!("{free} · {product}\n{}", place(&places, row))
}

/// What the links to or from a row pass on of the previous weighting.
fn links(at: &InStep<'_>, row: usize, is_forward: bool) -> String {
    let before = at.head.previous_weighting(at.step);
    let rows = before.len();
    let Some(links) = at.links() else {
        return String::new();
    };
    let terms = (0..rows).map(|other| {
        let [from, to] = if is_forward {
            [row, other]
        } else {
            [other, row]
        };
        let link = links.matrix[from * rows + to];
        let text = format!(
            "L({from}, {to}) {} · w({other}) {}",
            n(link),
            n(before[other])
        );
        (text, link * before[other])
    });
    added(terms.collect())
}

/// The write weighting of a row from allocation and content.
fn written(at: &InStep<'_>, row: usize) -> String {
    let content = n(at.head.content.row(at.step)[row]);
    let write = n(at.own(WRITE_GATE)[0]);
    match at.own(ALLOCATION_GATE) {
        [gate] => {
            let [gate, rest, allocated] = [*gate, 1.0 - gate, at.own(ALLOCATION)[row]].map(n);
            format!("{write} · ({gate} · {allocated} + {rest} · {content})")
        }
        _ => format!("{write} · {content}"),
    }
}

/// The read weighting of a row from the three modes.
fn mixed(at: &InStep<'_>, row: usize) -> String {
    let parts = [at.own(BACKWARD), at.row(&at.head.content), at.own(FORWARD)];
    let terms = at.own(READ_MODES).iter().zip(parts);
    let terms = terms.map(|(&mode, part)| format!("{} · {}", n(mode), n(part[row])));
    terms.collect::<Vec<_>>().join(" + ")
}

/// What a head of a Differentiable Neural Computer does in a stage of its own.
fn sentence(action: &Action<'_>) -> Option<[String; 2]> {
    let at = action.at;
    Some(match action.stage? {
        Stage::Usage => {
            let usage = at.own(USAGE);
            let used = usage.iter().filter(|&&used| used > 0.5).count();
            let rows = usage.len();
            [
                format!("updates the usage of the rows: {used} of {rows} are in use"),
                String::new(),
            ]
        }
        Stage::Allocate => {
            let free = peak(at.own(ALLOCATION));
            let free = free.map(|(row, free)| format!("row {row} ({})", percent(free)));
            let free = free.unwrap_or_else(|| "none".to_owned());
            [format!("finds the least used row: {free}"), String::new()]
        }
        Stage::Links => {
            let [forward, backward] = [FORWARD, BACKWARD].map(|array| {
                let row = peak(at.own(array)).filter(|(_, weight)| *weight >= LINKED);
                row.map_or_else(|| "none".to_owned(), |(row, _)| format!("row {row}"))
            });
            [
                format!("follows the links: written next {forward}, before {backward}"),
                String::new(),
            ]
        }
        Stage::Weigh if is_own(at) => {
            let verb = ["reads", "writes"][usize::from(at.head.is_write())];
            [
                format!("{verb} {}: {}", origin(at), action.most),
                String::new(),
            ]
        }
        _ => return None,
    })
}

/// True for a head that mixes ways to address.
fn is_own(at: &InStep<'_>) -> bool {
    is_mixed(at.head) && !is_sparse(at.head)
}

/// What the weighting of a head mostly comes from, after "reads" or "writes".
fn origin(at: &InStep<'_>) -> String {
    if let [write] = at.own(WRITE_GATE) {
        let [write, allocated] = [
            *write,
            at.own(ALLOCATION_GATE).first().copied().unwrap_or(0.0),
        ];
        if write < 1.0 - DECIDES {
            return format!("almost nothing (gʷ {})", percent(write));
        }
        let from = if allocated >= DECIDES {
            "to an allocated row"
        } else if allocated <= 1.0 - DECIDES {
            "to the row found by content"
        } else {
            "to allocated rows and to rows found by content"
        };
        return format!("{from} (gʷ {}, gᵃ {})", percent(write), percent(allocated));
    }
    let ways = [
        "backward along the links",
        "by content",
        "forward along the links",
    ];
    match peak(at.own(READ_MODES)) {
        Some((way, share)) => format!("{} ({})", ways[way], percent(share)),
        None => "by content".to_owned(),
    }
}
