//! What a page is outside of itself: the names of its arrays in traces, and the keys that matter.

use std::collections::{HashMap, HashSet};

use super::page::{Page, Record, Word};
use super::program::{Op, Program};
use super::text::{Checked, Name, Place, ensure};
use super::tree::Axis;

/// Arrays that every trace has.
const RESERVED: [&str; 6] = ["input", "target", "mask", "logit", "output", "loss"];

/// A quantity that a statement makes: its kind of heads, the names of uses before its symbol, its label, its symbol.
type Quantity<'a> = (Option<Axis>, &'a str, &'a str, &'a Name);

/// The quantities that statements make, in their order. Of two names, each has its own label where a comma separates them.
fn quantities(page: &Page) -> Vec<Quantity<'_>> {
    let mut out = Vec::new();
    for own in &page.statements {
        let whole = &*own.sentence;
        let labels: Vec<&str> = whole.split(", ").collect();
        let is_each = labels.len() == own.names.len();
        for (index, symbol) in own.names.iter().enumerate() {
            let before = symbol.rfind('.').map_or("", |end| &symbol[..=end]);
            let label = if is_each { labels[index] } else { whole };
            out.push((own.kind, before, label, symbol));
        }
    }
    out
}

/// The head in traces of a quantity with these names of uses before its symbol: the label of the innermost use that has one,
/// and the names of the uses inside of it.
fn head<'a>(page: &'a Page, before: &'a str) -> Option<(&'a str, &'a str)> {
    before.rmatch_indices('.').find_map(|(end, _)| {
        let label = page.labels.get(&before[..end])?;
        Some((label.as_str(), &before[end + 1..]))
    })
}

/// A label as a part of a name: blanks and signs become `_`.
fn cleaned(label: &str) -> String {
    label.replace(|c: char| !c.is_alphanumeric() && c != '.', "_")
}

/// Returns the name in traces of noise: its label, or its symbol, of the head of its use.
pub(super) fn name_of_noise(page: &Page, noise: &Record) -> String {
    let symbol = &*noise.names[0];
    let (before, own) = symbol.split_at(symbol.rfind('.').map_or(0, |end| end + 1));
    let label = Some(&*noise.sentence).filter(|label| !label.is_empty());
    let own = cleaned(label.unwrap_or(own));
    match head(page, before) {
        Some((head, inside)) => format!("{head}.{inside}{own}"),
        None => format!("{before}{own}"),
    }
}

/// Takes a name in traces for a quantity.
fn claim<'p>(
    taken: &mut HashMap<String, &'p Name>,
    symbol: &'p Name,
    shown: &str,
    place: &Place,
) -> Checked<()> {
    let is_answer = &**symbol == "z" && shown == "logit";
    ensure!(is_answer || !RESERVED.contains(&shown), place,
        "{symbol} would be {shown} in traces, which every trace has of its own"; "give it another label");
    let other = *taken.entry(shown.to_owned()).or_insert(symbol);
    ensure!(other == symbol, place,
        "{symbol} would be {shown} in traces, as {other} is"; "give it another label");
    Ok(())
}

/// Returns the name in traces of each quantity of each statement, without the head: the label, with as many names of uses
/// before it as tell it from all others. Where two quantities side by side have one label, their symbols follow it. The
/// names are those of all choices together, so that they stay when another choice is made.
///
/// # Errors
/// Two quantities with the same name.
pub(super) fn names(page: &Page) -> Checked<Vec<Vec<String>>> {
    let (quantities, mut labelled) = (quantities(page), HashMap::<_, HashSet<&Name>>::new());
    for (kind, before, label, symbol) in &quantities {
        let symbols = labelled.entry((kind, before, label)).or_default();
        symbols.insert(symbol);
    }
    // The names that a quantity can have, the shortest first.
    let candidates = |(kind, before, label, symbol): &Quantity| {
        let own = match labelled[&(kind, before, label)].len() {
            _ if label.is_empty() => symbol[before.len()..].to_owned(),
            1 => (*label).to_owned(),
            _ => format!("{label}.{}", &symbol[before.len()..]),
        };
        let own = cleaned(&own);
        let head = head(page, before);
        let head =
            head.map(|(head, inside)| [format!("{head}.{own}"), format!("{head}.{inside}{own}")]);
        let ends = before.rmatch_indices('.');
        let ends = ends.map(|(end, _)| &before[end + 1..]);
        let names = ends.chain([*before]).map(|before| format!("{before}{own}"));
        let mut all: Vec<String> = head.into_iter().flatten().chain(names).collect();
        all.dedup();
        all
    };
    let all: Vec<Vec<String>> = quantities.iter().map(candidates).collect();
    let mut claims = HashMap::<_, Vec<(&Name, usize)>>::new();
    for ((kind, _, _, symbol), names) in quantities.iter().zip(&all) {
        for name in names {
            let claims = claims.entry((kind, name)).or_default();
            claims.push((symbol, names.len()));
        }
    }
    let data = page
        .inputs
        .iter()
        .chain(&page.target)
        .chain(&page.parameters);
    let data = data.map(|data| (data.names[0].to_string(), &data.names[0]));
    let (mut taken, mut out): (HashMap<String, &Name>, _) = (data.collect(), Vec::new());
    for noise in &page.noises {
        let (symbol, shown) = (&noise.names[0], name_of_noise(page, noise));
        claim(&mut taken, symbol, &shown, &noise.place)?;
    }
    let mut rest = quantities.iter().zip(&all);
    for statement in &page.statements {
        let mut names = Vec::new();
        for ((kind, _, _, symbol), own) in rest.by_ref().take(statement.names.len()) {
            // A quantity with as few names keeps all others from its names.
            let is_free = |name: &&String| {
                let mut claims = claims[&(kind, *name)].iter();
                claims.all(|(other, count)| other == symbol || *count > own.len())
            };
            let name = own.iter().find(is_free).unwrap_or(&own[own.len() - 1]);
            let head = kind.map_or(String::new(), |kind| format!("{}0.", page.axes[kind].name));
            let shown = head + name;
            claim(&mut taken, symbol, &shown, &statement.place)?;
            names.push(name.clone());
        }
        out.push(names);
    }
    Ok(out)
}

/// Returns the indices of the keys that matter under the choices made: switches that a condition asks for whose outer
/// conditions hold, sizes and heads of axes that some value has, and constants that a value reads.
pub(super) fn listed_keys(page: &Page, program: &Program) -> Vec<usize> {
    let (mut names, mut axes, mut constants) = (HashSet::new(), HashSet::new(), HashSet::new());
    for record in page.records().chain(&page.parameters) {
        let switches = record.conditions.iter().enumerate();
        let asked = switches.filter(|(count, _)| page.holds(record, *count));
        names.extend(asked.map(|(_, (switch, _))| switch));
    }
    let values = program.equations.iter().map(|equation| &equation.value);
    for value in values.chain(program.firsts.iter().map(|first| &first.value)) {
        value.each(&mut |value| {
            axes.extend(&value.axes);
            match value.op {
                Op::Constant(constant) => _ = constants.insert(constant),
                Op::Length(axis) => _ = axes.insert(axis),
                _ => {}
            }
        });
    }
    for series in &program.series {
        let blocks = series.blocks.iter().map(|block| page.blocks[*block].axis);
        axes.extend(blocks.flatten().chain(series.axes.iter().copied()));
    }
    names.extend(axes.iter().map(|axis| &page.axes[page.origin(*axis)].name));
    let is_listed = |index: &usize| match &page.keys[*index] {
        key if !key.is_settable() => false,
        key if key.word == Word::Constant => constants.contains(index),
        key => names.contains(&key.name),
    };
    (0..page.keys.len()).filter(is_listed).collect()
}
