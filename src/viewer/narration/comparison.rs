//! Two episodes in words and numbers side by side.

use crate::figure::page::compare::SIDES;
use crate::figure::{PanelId, facts::numbers, head_label, head_named};
use crate::io::trace::Comparison;
use crate::train::Recording;
use crate::viewer::inspect::{Card, Line, Table};
use crate::viewer::state::{Baseline, Open, Pair, TOLERANCES, Target, stage_of};

impl Pair<'_> {
    /// Returns the card of a target on both sides; its numbers can be copied side by side.
    pub fn card(&self, target: Target, focus: usize, step: usize) -> Option<Card> {
        let head = |open: &Open, head: usize| {
            let label = head_label(&self.screen.shown.recording.trace, head);
            head_named(&open.shown.recording.trace, &label).unwrap_or(usize::MAX)
        };
        let of = |open: &Open| {
            let target = match target {
                Target::Value { id, column } => {
                    let of = id.of.map(|of| head(open, of));
                    let id = PanelId { of, ..id };
                    Target::Value { id, column }
                }
                Target::Head(of) => Target::Head(head(open, of)),
                target => target,
            };
            target.card(open, head(open, focus), step)
        };
        let (a, b) = (of(self.a)?, of(self.b)?);
        Some(Card {
            title: a.title,
            lines: lines(target, &a.table, &b.table, step)?,
            table: side_by_side(&a.table, &b.table),
        })
    }
}

/// Returns the differences B − A: in tables over time of all columns at the step, in others of the main value of
/// every line.
fn lines(target: Target, a: &Table, b: &Table, step: usize) -> Option<Vec<Line>> {
    let line = |name: &str, a: f32, b: f32| Line {
        symbol: format!("{name}, {}", SIDES[2]),
        sum: value_text([a, b]),
        value: numbers::exact(b - a),
    };
    let (name, column) = match target {
        Target::Step => ("y", 1),
        Target::Rows { .. } => ("w row ", a.columns.len() - 1),
        _ => {
            // The memory after a step is in the line behind.
            let index = step + usize::from(matches!(target, Target::Cell { .. }));
            let (ours, theirs) = (a.rows.get(index)?, b.rows.get(index)?);
            let names = a.columns.iter().zip(ours.iter().zip(theirs));
            let lines = names.skip(1).map(|(name, (&a, &b))| line(name, a, b));
            return Some(lines.collect());
        }
    };
    let pairs = a.rows.iter().zip(&b.rows);
    let lines = pairs.map(|(a, b)| line(&format!("{name}{}", a[0]), a[column], b[column]));
    Some(lines.collect())
}

/// The exact values of both sides, a line each.
pub fn value_text(values: [f32; 2]) -> String {
    let [a, b] = values.map(numbers::exact);
    format!("A  {a}\nB  {b}")
}

/// The numbers of both, and their differences, column by column.
fn side_by_side(a: &Table, b: &Table) -> Table {
    let names = a.columns.iter().skip(1);
    let names = names.flat_map(|name| SIDES.map(|side| format!("{name} {side}")));
    let rows = a.rows.iter().zip(&b.rows).map(|(ours, theirs)| {
        let pairs = ours.iter().zip(theirs).skip(1);
        let values = pairs.flat_map(|(a, b)| [*a, *b, b - a]);
        ours.iter().take(1).copied().chain(values).collect()
    });
    let first = a.columns.iter().take(1).cloned();
    Table {
        columns: first.chain(names).collect(),
        rows: rows.collect(),
    }
}

/// Reports the wrong bits of A and B, and when their heads diverge.
pub fn verdicts(pair: &Pair<'_>) -> String {
    let both = [pair.a, pair.b].map(|open| &open.shown.recording);
    let [a, b] = both.map(|recording| recording.score);
    if a.scored + b.scored == 0 {
        return "No output is scored.".to_owned();
    }
    let found = pair.differences().filter(|found| !found.common.is_unlike());
    let found = found.map(|found| found.heads_diverge);
    let some = |open: &Open| !open.shown.recording.trace.heads.is_empty();
    let heads = match found {
        Some(Some(step)) => format!("; heads diverge at step {step}"),
        Some(None) if some(pair.a) && some(pair.b) => "; heads stay on the same rows".to_owned(),
        _ => String::new(),
    };
    if both.iter().any(|recording| recording.lacks_target()) {
        let [a, b] = both.map(Recording::wrong_of_scored);
        return format!("A: {a}, B: {b}{heads}.");
    }
    let unit = both[0].episode.answer.unit();
    let told = format!(
        "A: {} of {} {unit} wrong, B: {} of {}{heads}.",
        a.wrong, a.scored, b.wrong, b.scored
    );
    match pair.differences().and_then(|found| found.wrong) {
        Some([0, 0]) | None => told,
        Some([new, repaired]) => {
            format!("{told} Wrong {unit} gained: {new}, lost: {repaired}.")
        }
    }
}

/// The largest difference.
pub fn largest(found: &Comparison) -> String {
    let largest = numbers::short(found.largest as f32, 4);
    match &found.worst {
        None => format!("No difference in {} values.", found.values),
        Some(worst) => format!("Largest difference {largest} in array {}.", worst.array),
    }
}

/// Reports the first difference.
pub fn first_difference(pair: &Pair<'_>, found: &Comparison) -> String {
    let mut limits = TOLERANCES.iter();
    let limit = limits.find(|(other, _)| *other == pair.tolerance);
    let limit = limit.map_or("", |(_, name)| name);
    let Some(first) = &found.first else {
        return match found.worst {
            None => String::new(),
            Some(_) => format!("No difference above {limit}."),
        };
    };
    let (array, index) = (&first.array, &first.index);
    let when = match first.step {
        Some(step) => {
            let at = pair.screen.facts.stages.at(stage_of(pair.screen, array).0);
            format!("at step {step}, stage {}", at.name())
        }
        None => "before the first step".to_owned(),
    };
    let [a, b] = [first.first, first.second].map(numbers::exact);
    format!("First difference above {limit} {when}: {array}{index:?}, A {a}, B {b}.")
}

/// Returns the names of A and B, once one is kept.
pub fn names(baseline: &Baseline, open: &Open) -> ([String; 2], usize) {
    let (pinned, mut shown) = (baseline.open.name(), open.name());
    if !baseline.is_a {
        return ([shown, pinned], 0);
    }
    if baseline.open.is_same(open) {
        "the next episode".clone_into(&mut shown);
    }
    ([pinned, shown], 1)
}
