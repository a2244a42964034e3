//! Two episodes in words and numbers side by side.

use crate::figure::compare::SIDES;
use crate::figure::{PanelId, head_label, head_named, numbers};
use crate::io::trace::Comparison;
use crate::viewer::inspect::{Card, Line, Table};
use crate::viewer::state::compare::{Kept, Pair, TOLERANCES, moment_of};
use crate::viewer::state::episode::Open;
use crate::viewer::state::target::Target;

impl Pair<'_> {
    /// What is said about a target on both sides; its numbers can be copied side by side.
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
            table: beside(&a.table, &b.table),
        })
    }
}

/// What B has more than A: in tables over time of everything in the line of the step, in others of what
/// counts most in every line.
fn lines(target: Target, a: &Table, b: &Table, step: usize) -> Option<Vec<Line>> {
    let line = |name: &str, a: f32, b: f32| Line {
        symbol: format!("{name}, {}", SIDES[2]),
        sum: words_of([a, b]),
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
pub fn words_of(values: [f32; 2]) -> String {
    let [a, b] = values.map(numbers::exact);
    format!("A  {a}\nB  {b}")
}

/// The numbers of both, and their differences, column by column.
fn beside(a: &Table, b: &Table) -> Table {
    let names = a.columns.iter().skip(1);
    let names = names.flat_map(|name| SIDES.map(|side| format!("{name} {side}")));
    let rows = a.rows.iter().zip(&b.rows).map(|(ours, theirs)| {
        let pairs = ours.iter().zip(theirs).skip(1);
        let values = pairs.flat_map(|(a, b)| [*a, *b, b - a]);
        ours.first().copied().into_iter().chain(values).collect()
    });
    let first = a.columns.first().cloned().into_iter();
    Table {
        columns: first.chain(names).collect(),
        rows: rows.collect(),
    }
}

/// How well both answer, and when their heads diverge.
pub fn verdicts(pair: &Pair<'_>) -> String {
    let [a, b] = [pair.a, pair.b].map(|open| open.shown.recording.score);
    if a.scored + b.scored == 0 {
        return "Nothing is scored.".to_owned();
    }
    let found = pair.differences().map(|found| found.heads_diverge);
    let some = |open: &Open| !open.shown.recording.trace.heads.is_empty();
    let heads = match found {
        Some(Some(step)) => format!("; their heads diverge at step {step}"),
        Some(None) if some(pair.a) && some(pair.b) => {
            "; their heads stay on the same rows".to_owned()
        }
        _ => String::new(),
    };
    format!(
        "A: {} of {} bits wrong, B: {} of {}{heads}.",
        a.wrong, a.scored, b.wrong, b.scored
    )
}

/// The largest difference.
pub fn largest(found: &Comparison) -> String {
    match &found.worst {
        None => format!("The same: {} values compared.", found.values),
        Some(worst) => format!(
            "Largest difference {} in {}.",
            numbers::short(found.largest as f32, 4),
            worst.array
        ),
    }
}

/// Where they part.
pub fn first(pair: &Pair<'_>, found: &Comparison) -> String {
    let mut limits = TOLERANCES.iter();
    let limit = limits.find(|(other, _)| *other == pair.tolerance);
    let limit = limit.map_or("", |(_, name)| name);
    let Some(first) = &found.first else {
        return match found.worst {
            None => String::new(),
            Some(_) => format!("Nothing differs by more than {limit}."),
        };
    };
    let (array, index) = (&first.array, &first.index);
    let when = match first.step {
        Some(step) => {
            let at = pair.screen.stages.at(moment_of(pair, array).0);
            format!("at step {step}, stage {}", at.name())
        }
        None => "before the first step".to_owned(),
    };
    let [a, b] = [first.first, first.second].map(numbers::exact);
    format!("The first above {limit} is {when}: {array}{index:?}, A {a}, B {b}.")
}

/// Names of arrays, those of a head that are many as one.
fn together(arrays: &[String]) -> Vec<String> {
    let head = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let groups = arrays.chunk_by(|a, b| head(a) == head(b));
    groups
        .flat_map(|group| match group {
            [first, _, _, _, ..] => vec![format!("{} ({} arrays)", head(first), group.len())],
            few => few.to_vec(),
        })
        .collect()
}

/// What could not be compared, and why.
pub fn left_out(found: &Comparison) -> Vec<String> {
    let (sizes, skipped) = (found.sizes.join("; "), together(&found.skipped).join(", "));
    let mut lines = Vec::new();
    if !sizes.is_empty() {
        lines.push(format!("Unlike: {sizes}. What both have is compared."));
    }
    if !skipped.is_empty() {
        lines.push(format!("Not compared: {skipped}."));
    }
    lines
}

/// Two episodes as the top bar calls them.
#[derive(Clone, Debug)]
pub struct Names {
    /// A and B.
    pub names: [String; 2],
    /// Which of them is on screen in all arrangements.
    pub screen: usize,
}

/// What two episodes are called, once one is kept beside the one on screen.
pub fn names(kept: &Kept, open: &Open) -> Names {
    let other = if kept.open.is_same(open) {
        "the next episode".to_owned()
    } else {
        open.name()
    };
    let (names, screen) = if kept.is_a {
        ([kept.open.name(), other], 1)
    } else {
        ([open.name(), kept.open.name()], 0)
    };
    Names { names, screen }
}
