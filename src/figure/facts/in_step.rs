//! A head in a step, where its equations take their numbers from, and sums with numbers in them.

use std::sync::Arc;

use crate::figure::facts::links::{LinkCache, TemporalLinks};
use crate::figure::facts::numbers;
use crate::math::Series;
use crate::model::weighting::hard;
use crate::model::weighting::local::Window;
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
    pub(crate) fn links(&self) -> Option<Arc<TemporalLinks>> {
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
    pub(crate) fn stage_input(&self, array: Array) -> (&'static str, &'a [f32]) {
        let (symbol, before) = stage_input(self.head, array);
        (symbol, self.row(before))
    }
}

/// The symbols wᶜ, wᵍ and the shifted weighting.
pub(crate) const SYMBOLS: [&str; 3] = ["wᶜ", "wᵍ", "w\u{303}"];

/// Returns the input of the stage of a head that makes this array: its symbol and its values.
pub(crate) fn stage_input(head: &HeadTrace, array: Array) -> (&'static str, &Series<f32>) {
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
pub(crate) fn added(terms: Vec<Term>) -> String {
    added_as(terms, |text| text)
}

/// [`added`] of terms of which only those that are shown are written.
pub(crate) fn added_as<T>(mut terms: Vec<(T, f32)>, write: impl Fn(T) -> String) -> String {
    terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let rest: f32 = terms.iter().skip(TERMS).map(|term| term.1).sum();
    let others = terms.len().saturating_sub(TERMS);
    let largest = terms.into_iter().take(TERMS).map(|term| write(term.0));
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

/// A further number of a head besides its parameters: symbol, name, value.
pub type Fact = (&'static str, String, f32);
