//! The equations of a head with the numbers of a step: the computation of each stage for a row, term by term.

use std::sync::Arc;

use crate::figure::facts::heads::{offset, signed};
use crate::figure::facts::links::{LinkCache, TemporalLinks};
use crate::figure::facts::numbers;
use crate::math::Series;
use crate::model::attention::Weighting;
use crate::model::dnc::{
    ALLOCATION, ALLOCATION_GATE, BACKWARD, FORWARD, READ_MODES, USAGE, WRITE_GATE, allocation_order,
};
use crate::model::sam;
use crate::model::sam::row_number;
use crate::model::weighting::local::Window;
use crate::model::weighting::{bayesian, hard};
use crate::model::{Array, HeadTrace, NoiseMode, Trace, array, peak};

/// Number of terms of a sum that are shown one by one, the largest.
const TERMS: usize = 4;

/// A head in a step: where its equations take their numbers from.
#[derive(Clone, Copy, Debug)]
pub struct InStep<'a> {
    /// The head.
    pub head: &'a HeadTrace,
    /// The step.
    pub step: usize,
    /// The noise mode.
    pub sampling: NoiseMode,
    /// The memory that it sees, column after column.
    memory: &'a [f32],
    /// The episode.
    pub trace: &'a Trace,
    /// Its temporal links that are known already.
    links: Option<&'a LinkCache>,
}

impl<'a> InStep<'a> {
    /// Returns the equations of a head in a step, if the machine has both.
    pub fn of(trace: &'a Trace, writes_first: bool, head: usize, step: usize) -> Option<Self> {
        let head = trace.heads.get(head).filter(|_| step < trace.steps())?;
        // Heads that read after the write see the rows written in the same step.
        let seen = step + usize::from(writes_first && !head.is_write());
        let memory = Some(&trace.memory_columns).filter(|memory| seen < memory.steps());
        Some(Self {
            head,
            step,
            sampling: trace.sampling,
            memory: memory.map_or(&[], |memory| memory.row(seen)),
            trace,
            links: None,
        })
    }

    /// Returns it with the known links of the episode, which are not computed again.
    #[must_use]
    pub fn with_links(self, links: &'a LinkCache) -> Self {
        let links = Some(links);
        Self { links, ..self }
    }

    /// The temporal links after the step.
    fn links(&self) -> Option<Arc<TemporalLinks>> {
        let compute = || TemporalLinks::after(self.trace, self.step);
        self.links
            .map_or_else(compute, |known| known.get(self.step, compute))
    }

    /// β, where the head emits it.
    pub fn strength(&self) -> Option<f32> {
        let beta = &self.head.strength;
        (beta.width() > 0).then(|| beta[self.step])
    }

    /// The values of an array at this step.
    pub(crate) fn row(&self, series: &'a Series<f32>) -> &'a [f32] {
        series.row(self.step)
    }

    /// The values of an array of the mechanism at this step, empty without it; those of a learned one at once.
    pub(crate) fn own(&self, array: Array) -> &'a [f32] {
        let series = self.head.series(array);
        let row = if array.is_learned() { 0 } else { self.step };
        series.map_or(&[], |series| series.row(row))
    }

    /// A row of the memory.
    pub(crate) fn memory(&self, row: usize) -> impl Iterator<Item = f32> + Clone + use<'a> {
        let rows = self.head.weighting.width().max(1);
        self.memory.iter().skip(row).step_by(rows).copied()
    }

    /// The window of a local head.
    pub fn window(&self) -> Option<Window<f32>> {
        self.head.window(self.step)
    }

    /// Returns the sampled row of a hard head: the number u, and the interval of its row in the cumulative sums of α.
    pub fn draw(&self) -> Option<SampledRow> {
        let head = self.head;
        if head.distribution.width() == 0 {
            return None;
        }
        let alpha = self.row(&head.distribution);
        let (row, _) = peak(self.row(&head.weighting))?;
        let total: f32 = alpha.iter().sum();
        let below: f32 = alpha[..row].iter().sum::<f32>() / total;
        let chance = alpha[row] / total;
        Some(SampledRow {
            u: *self.own(hard::DRAW).first()?,
            row,
            from: below,
            to: below + chance,
            chance,
        })
    }

    /// Returns the input of the stage that makes this array: its symbol and its values.
    fn before(&self, array: Array) -> (&'static str, &'a [f32]) {
        let (symbol, before) = before(self.head, array);
        (symbol, self.row(before))
    }
}

/// The symbols wᶜ, wᵍ and the shifted weighting.
pub(crate) const SYMBOLS: [&str; 3] = ["wᶜ", "wᵍ", "w\u{303}"];

/// Returns the input of the stage of a head that makes this array: its symbol and its values.
pub(crate) fn before(head: &HeadTrace, array: Array) -> (&'static str, &Series<f32>) {
    let made = [array::CONTENT, array::GATED, array::SHIFTED];
    let made = SYMBOLS.into_iter().zip(made);
    let before = made.take_while(|(_, made)| *made != array);
    let is_there = before.filter_map(|(symbol, made)| Some((symbol, head.series(made)?)));
    is_there.last().unwrap_or(("w", &head.weighting))
}

/// The sampled row of a hard head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledRow {
    /// The sampled random number, 0 to 1.
    pub u: f32,
    /// The row.
    pub row: usize,
    /// The cumulative probability before the row.
    pub from: f32,
    /// The cumulative probability including the row.
    pub to: f32,
    /// The probability of the row, from α.
    pub chance: f32,
}

/// A number in a sum: four digits after the point; of a small one three digits that are not 0.
pub(crate) fn n(value: f32) -> String {
    match value.abs() {
        size if size > 0.0 && size < 1e-5 => format!("{value:.2e}").replace('-', "−"),
        size if size > 0.0 && size < 0.01 => {
            numbers::short(value, (2.0 - size.log10().floor()) as usize)
        }
        _ => numbers::short(value, 4),
    }
}

/// A term of a sum: how it is written, and its value.
pub(crate) type Term = (String, f32);

/// Writes the largest terms of a sum, and the total of the others.
pub(crate) fn added(mut terms: Vec<Term>) -> String {
    terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let rest: f32 = terms.iter().skip(TERMS).map(|term| term.1).sum();
    let others = terms.len().saturating_sub(TERMS);
    let largest = terms.into_iter().take(TERMS).map(|term| term.0);
    let rest = (others > 0).then(|| format!("{} from {others} others", n(rest)));
    largest.chain(rest).collect::<Vec<_>>().join("\n+ ")
}

/// Σ a·b, a name for each number of the first and of the second.
pub(crate) fn product(names: [&str; 2], pairs: impl Iterator<Item = (f32, f32)>) -> String {
    let terms = pairs.enumerate().map(|(index, (a, b))| {
        let text = format!("{}({index}) {} · {} {}", names[0], n(a), names[1], n(b));
        (text, a * b)
    });
    added(terms.collect())
}

/// Returns the product of a key with a matrix, whose number of outputs follows from its length.
pub(crate) fn through(key: &[f32], weights: &[f32]) -> Vec<f32> {
    let width = weights.len() / key.len().max(1);
    let mut out = vec![0.0; width];
    for (k, weights) in key.iter().zip(weights.chunks(width.max(1))) {
        for (out, w) in out.iter_mut().zip(weights) {
            *out += k * w;
        }
    }
    out
}

/// Returns the perturbation of β·K in a row, if the weights of a head are sampled.
fn perturbed(at: &InStep<'_>, row: usize) -> Option<f32> {
    let of = &at.head.mechanism;
    if at.sampling == NoiseMode::Mean {
        return None;
    }
    match of.weighting {
        Weighting::Weibull => {
            let u = at.own(bayesian::NOISE).get(row)?;
            Some((-(-u).ln_1p()).ln() / of.parameters.weibull_shape as f32)
        }
        Weighting::Lognormal => {
            let epsilon = at.own(bayesian::NORMAL).get(row)?;
            Some(of.parameters.lognormal_sigma as f32 * epsilon)
        }
        _ => None,
    }
}

/// Returns the equation of wᶜ of a row. The largest exponent is subtracted to avoid overflow.
pub(crate) fn content(at: &InStep<'_>, row: usize) -> String {
    let scores = at.row(&at.head.similarity);
    if scores.is_empty() {
        return "not recorded".to_owned();
    }
    let window = at.window();
    let rows = window.map_or(0..scores.len(), |window| window.rows(scores.len()));
    if !rows.contains(&row) {
        return format!("0: outside of rows {} to {}", rows.start, rows.end - 1);
    }
    let beta = at.strength();
    let noise = |row| perturbed(at, row);
    let energy = |row: usize| beta.unwrap_or(1.0) * scores[row] + noise(row).unwrap_or(0.0);
    let energies = rows.map(energy);
    let most = energies.clone().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = energies.map(|energy| (energy - most).exp()).sum();
    let own = beta.map_or_else(String::new, |beta| format!("{} · ", n(beta)));
    let noise = noise(row).map_or_else(String::new, |noise| format!(" + {}", n(noise)));
    let [score, most, total] = [scores[row], most, total].map(n);
    let share = format!("exp({own}{score}{noise} − {most}) / {total}");
    match window.filter(|window| window.is_gaussian) {
        None => share,
        Some(window) => {
            let [centre, twice] = [window.centre, window.half * window.half / 2.0].map(n);
            format!("{share}\n· exp(−({row} − {centre})² / {twice})")
        }
    }
}

pub(crate) fn gate(at: &InStep<'_>, row: usize) -> String {
    let (head, step) = (at.head, at.step);
    let (gate, before) = (head.gate[step], head.previous_weighting(step)[row]);
    let content = head.content.row(step)[row];
    let [gate, content, rest, before] = [gate, content, 1.0 - gate, before].map(n);
    format!("{gate} · {content} + {rest} · {before}")
}

pub(crate) fn shift(at: &InStep<'_>, row: usize) -> String {
    let (shift, (symbol, moved)) = (at.row(&at.head.shift), at.before(array::SHIFTED));
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

/// The usage of a row: what it was, what was written, and the share that the free gates left.
pub(crate) fn usage(at: &InStep<'_>, row: usize) -> String {
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
pub(crate) fn allocation(at: &InStep<'_>, row: usize) -> String {
    let usage = at.own(USAGE);
    let places = allocation_places(usage);
    let before = usage.iter().zip(&places);
    let before = before.filter(|(_, place)| **place < places[row]);
    let product: f32 = before.map(|(used, _)| used).product();
    let [free, product] = [1.0 - usage[row], product].map(n);
    format!("{free} · {product}\n{}", place(&places, row))
}

/// What the links to or from a row pass on of the previous weighting.
pub(crate) fn links(at: &InStep<'_>, row: usize, is_forward: bool) -> String {
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

/// The age of a row, and whether the head erases it.
pub(crate) fn age(at: &InStep<'_>, row: usize) -> String {
    let is_oldest = at.own(sam::ROW).first() == Some(&(row_number(at.trace, row).0 as f32));
    let erased = ["", "\noldest: row i, which is erased"][usize::from(is_oldest)];
    format!("last accessed {} steps ago{erased}", at.own(sam::AGE)[row])
}

/// The write weighting of a row of sparse access memory, from the read weighting before and the oldest row.
pub(crate) fn sparse_write(at: &InStep<'_>, row: usize) -> String {
    let mut heads = at.trace.heads.iter();
    let head = heads.position(|head| std::ptr::eq(head, at.head));
    let reader = head.and_then(|head| head.checked_sub(at.trace.heads.len() / 2));
    let before = reader.map_or(0.0, |reader| {
        at.trace.heads[reader].previous_weighting(at.step)[row]
    });
    let (write, share) = (at.own(WRITE_GATE)[0], at.own(sam::INTERPOLATION_GATE)[0]);
    let is_oldest = at.own(sam::ROW)[0] == row_number(at.trace, row).0 as f32;
    let [write, share, rest, before] = [write, share, 1.0 - share, before].map(n);
    format!(
        "{write} · ({share} · {before} + {rest} · {})",
        u8::from(is_oldest)
    )
}

/// The weight of a row among those that a head of sparse access memory reads.
pub(crate) fn sparse_read(at: &InStep<'_>, row: usize) -> String {
    let (rows, beta) = (at.own(sam::ROWS), at.strength().unwrap_or(1.0));
    let number = row_number(at.trace, row).0 as f32;
    let Some(place) = rows.iter().position(|&other| other == number) else {
        let rows: Vec<_> = rows.iter().map(f32::to_string).collect();
        return format!("0: the rows of the largest K are {}", rows.join(", "));
    };
    let energies = at.own(sam::COSINES).iter().map(|cosine| beta * cosine);
    let most = energies.clone().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = energies.map(|energy| (energy - most).exp()).sum();
    let [beta, cosine, most, total] = [beta, at.own(sam::COSINES)[place], most, total].map(n);
    format!("exp({beta} · {cosine} − {most}) / {total}")
}

/// The write weighting of a row from allocation and content.
pub(crate) fn written(at: &InStep<'_>, row: usize) -> String {
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
pub(crate) fn mixed(at: &InStep<'_>, row: usize) -> String {
    let parts = [at.own(BACKWARD), at.row(&at.head.content), at.own(FORWARD)];
    let terms = at.own(READ_MODES).iter().zip(parts);
    let terms = terms.map(|(&mode, part)| format!("{} · {}", n(mode), n(part[row])));
    terms.collect::<Vec<_>>().join(" + ")
}

/// Equation of the last weighting; for a hard head the distribution that it samples from.
pub(crate) fn sharpen(at: &InStep<'_>, row: usize) -> String {
    let (_, from) = at.before(array::WEIGHTING);
    let gamma = at.head.sharpening[at.step];
    let power = from.iter().map(|w| w.powf(gamma)).sum();
    let [own, gamma, power] = [from[row], gamma, power].map(n);
    format!("{own}^{gamma} / {power}")
}

/// Describes how a hard head chose its row.
pub(crate) fn drawn(at: &InStep<'_>, row: usize) -> String {
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

/// A further number of a head besides its parameters: symbol, name, value.
pub type Fact = (&'static str, String, f32);

/// Returns the other results of a mechanism in the step: the window of a local head, the sampled row of a hard head,
/// the divergence of a Bayesian head.
pub fn facts(at: &InStep<'_>) -> Vec<Fact> {
    let (head, step) = (at.head, at.step);
    let mut facts: Vec<Fact> = Vec::new();
    if let Some(window) = at.window() {
        let rows = window.rows(head.similarity.width());
        let seen = format!("centre: window of rows {} to {}", rows.start, rows.end - 1);
        facts.push(("p", seen, window.centre));
    }
    if let Some(drawn) = at.draw() {
        if at.sampling == NoiseMode::Sampled {
            let (from, to) = (n(drawn.from), n(drawn.to));
            let words = format!("sampled: row {} is {from} to {to}", drawn.row);
            facts.push(("u", words, drawn.u));
        }
        let words = format!("probability of row {}", drawn.row);
        facts.push(("α", words, drawn.chance));
        let bits = crate::figure::facts::heads::entropy(head.distribution.row(step));
        facts.push(("H", "entropy of α, bits".to_owned(), bits));
    }
    if let [divergence] = *at.own(bayesian::DIVERGENCE) {
        let words = "divergence from the prior m, nats, over all rows".to_owned();
        facts.push(("KL", words, divergence));
    }
    facts
}
