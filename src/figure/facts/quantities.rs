//! The quantities of a machine file: what a picture of each shows follows from its axes and its values.

use crate::figure::{Scale, facts::numbers};
use crate::math::{Answer, Series};
use crate::model::array::LOGIT;
use crate::model::{Array, Trace};

/// How far the sum of shares may be above 1.
const ROUNDING: f32 = 1e-4;

/// A recorded quantity with a value for every step.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its place among the arrays of the machine, which is the part of the identities of its pictures.
    pub part: usize,
    /// Its name, symbol, axes and equation.
    pub array: Array,
    /// Its axes in a step with their sizes, without those of a single entry; none of a number.
    pub axes: Vec<(&'static str, usize)>,
    /// True for one with a value before the first step.
    pub has_start: bool,
    /// The meaning of its colours.
    pub colours: Colouring,
    /// The largest norm of an entry of the first axis, over the others.
    pub most: f32,
}

/// The meaning of the colours of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Colouring {
    /// Shares of at most 1: a weighting.
    Weighting,
    /// Values of 0 to 1.
    Bits,
    /// Values of 0 to this limit.
    UpTo(f32),
    /// Values to ± this limit.
    Signed(f32),
}

impl Quantity {
    /// The quantities over time, in the order of the computation; none of a machine that is no file.
    pub fn of_all(trace: &Trace) -> Vec<Self> {
        let quantities = of_steps(trace).filter_map(|(part, array, series)| {
            let axes = axes_of(trace, array)?;
            let last = axes.last().map_or(1, |(_, size)| *size);
            let colours = Colouring::of(array, last, series, trace.setting.answer);
            let others = series.width() / axes.first().map_or(1, |(_, size)| *size);
            let has_start = start_of(trace, array).is_some();
            let rows = (0..series.steps()).flat_map(|t| series.row(t).chunks(others.max(1)));
            let norms = rows.map(norm).filter(|norm| norm.is_finite());
            Some(Self {
                most: numbers::round_up(norms.fold(0.0, f32::max)),
                part,
                array,
                axes,
                has_start,
                colours,
            })
        });
        quantities.collect()
    }

    /// The names of the axes, with this between them.
    pub fn axes_joined(&self, by: &str) -> String {
        let names: Vec<_> = self.axes.iter().map(|(name, _)| *name).collect();
        names.join(by)
    }

    /// The name of the first axis.
    pub fn axis(&self) -> &'static str {
        self.axes.first().map_or("", |(name, _)| *name)
    }

    /// True for a number in every step.
    pub fn is_number(&self) -> bool {
        self.axes.is_empty()
    }

    /// True for one with several axes that goes on from step to step: its first axis is that of its rows.
    pub fn is_memory(&self) -> bool {
        self.axes.len() > 1 && self.has_start
    }

    /// True for shares along the last axis.
    pub fn is_weighting(&self) -> bool {
        self.colours == Colouring::Weighting && !self.is_memory()
    }

    /// True for a weighting over the rows of this memory.
    pub fn is_over(&self, memory: &Self) -> bool {
        self.is_weighting() && self.axes.len() == 1 && self.axis() == memory.axis()
    }

    /// The number of rows, and of values in each.
    pub fn shape(&self) -> [usize; 2] {
        let mut sizes = self.axes.iter().map(|(_, size)| *size);
        [sizes.next().unwrap_or(1), sizes.product()]
    }

    /// The scale of its values, of this one of weightings.
    pub fn scale(&self, weighting: Scale) -> Scale {
        match self.colours {
            Colouring::Weighting => weighting,
            Colouring::Bits => Scale::Bits,
            Colouring::UpTo(limit) => Scale::UpTo(limit),
            Colouring::Signed(limit) => Scale::Signed(limit),
        }
    }

    /// The names of the entries of its last axis, where the file gives them names.
    pub fn entry_names(&self) -> &'static [String] {
        let names = self.array.entry_names;
        let last = self.axes.last().map(|(axis, size)| (Some(axis), *size));
        let is_last = last == Some((self.array.dims.last(), names.len()));
        if is_last { names } else { &[] }
    }

    /// The place of a value in words: `rows 3, columns 1`; nothing of a number.
    pub fn place(&self, mut index: usize) -> String {
        let mut places = Vec::new();
        let mut names = self.entry_names();
        for (axis, size) in self.axes.iter().rev() {
            let entry = index % size;
            let name = names.get(entry).cloned();
            let name = name.unwrap_or_else(|| entry.to_string());
            places.push(format!("{axis} {name}"));
            (names, index) = (&[], index / size);
        }
        places.reverse();
        places.join(", ")
    }

    /// A value by its symbol, as in an intervention: `M[3,1]`.
    pub fn entry(&self, index: usize) -> String {
        let [_, columns] = self.shape();
        let symbol = self.array.symbol;
        match self.axes.len() {
            0 => symbol.to_owned(),
            1 => format!("{symbol}[{index}]"),
            _ => format!("{symbol}[{},{}]", index / columns, index % columns),
        }
    }

    /// The name of the array and its axes, as in the file: `memory M[rows, columns]`.
    pub fn words(&self) -> String {
        let Self { array, .. } = self;
        let axes = if self.is_number() {
            String::new()
        } else {
            format!("[{}]", self.axes_joined(", "))
        };
        format!("{} {}{axes}", array.name, array.symbol)
    }

    /// Its line of the file, without the blanks that align it with others.
    pub fn equation(&self) -> String {
        let words: Vec<_> = self.array.equation.split_whitespace().collect();
        words.join(" ")
    }

    /// The part of the machine that it belongs to: what stands before the last point of its name.
    pub fn owner(&self) -> &'static str {
        self.array
            .name
            .rsplit_once('.')
            .map_or("", |(owner, _)| owner)
    }
}

impl Colouring {
    fn of(array: Array, last: usize, series: &Series<f32>, answer: Answer) -> Self {
        let known = || (0..series.steps()).map(|t| series.row(t));
        let is_finite = |value: &&f32| value.is_finite();
        let are_shares = |row: &[f32]| {
            let finite = || row.iter().filter(is_finite);
            finite().all(|value| *value >= 0.0) && finite().sum::<f32>() <= 1.0 + ROUNDING
        };
        let is_weighting = last > 1 && known().flat_map(|row| row.chunks(last)).all(are_shares);
        let has_some = || {
            known()
                .flatten()
                .any(|value| *value > 0.0 && value.is_finite())
        };
        if is_weighting && has_some() {
            return Self::Weighting;
        }
        match array.ends(answer) {
            (0.0, 1.0) => return Self::Bits,
            (-1.0, 1.0) => return Self::Signed(1.0),
            _ => {}
        }
        let finite = || known().flatten().filter(is_finite);
        let limit = numbers::round_up(finite().fold(0.0, |most, value| value.abs().max(most)));
        if finite().any(|value| *value < 0.0) {
            Self::Signed(limit)
        } else {
            Self::UpTo(limit)
        }
    }
}

/// The arrays of a machine that have a value for every step, but the logit: each with its place among all of them.
pub(super) fn of_steps(trace: &Trace) -> impl Iterator<Item = (usize, Array, &Series<f32>)> {
    let all = trace.kind_arrays.arrays().enumerate();
    let all = all.map(|(part, (array, series))| (part, array, series));
    all.filter(|(_, array, series)| {
        let has_steps = series.width() > 0 && series.steps() >= trace.steps();
        *array != LOGIT && array.dims.first() == Some(&"t") && has_steps
    })
}

/// The axes of an array in a step with their sizes, without those of a single entry.
pub(super) fn axes_of(trace: &Trace, array: Array) -> Option<Vec<(&'static str, usize)>> {
    let sizes = trace.array_sizes(array)?.iter().copied();
    let axes = array.dims.iter().copied().skip(1).zip(sizes);
    Some(axes.filter(|(_, size)| *size > 1).collect())
}

/// The values of an array before the first step, where it has any.
pub(super) fn start_of(trace: &Trace, array: Array) -> Option<&Series<f32>> {
    let is_start = |own: Array| own.name.strip_prefix(array.name) == Some(".initial");
    let mut all = trace.kind_arrays.arrays();
    all.find(|(own, _)| is_start(own)).map(|(_, series)| series)
}

/// The length of a vector.
pub fn norm(values: &[f32]) -> f32 {
    values.iter().map(|value| value * value).sum::<f32>().sqrt()
}

/// Divides quantities into those that stand large on the time axis, and the others. Large are the memories, and of each
/// owner the weighting by that name, or else its last one, if it is over the rows of a memory or there is none; without
/// any of them the first vectors.
pub fn by_rank(all: &[Quantity]) -> [Vec<&Quantity>; 2] {
    let is_main = |at: usize| {
        let named = |other: &Quantity| other.array.name.ends_with("weighting");
        let same = |other: &&Quantity| other.is_weighting() && other.owner() == all[at].owner();
        let is_later = |other: &Quantity| other.part > all[at].part;
        let mut others = all.iter().filter(same);
        !others.any(|other| match (named(&all[at]), named(other)) {
            (false, true) => true,
            (true, false) => false,
            _ => is_later(other),
        })
    };
    let memories: Vec<&Quantity> = all.iter().filter(|own| own.is_memory()).collect();
    let is_used = |own: &Quantity| {
        let mut all = memories.iter();
        memories.is_empty() || own.axes.len() > 1 || all.any(|memory| own.is_over(memory))
    };
    let weightings = all.iter().enumerate();
    let is_sure = |own: &Quantity| {
        own.array.range.ends() == (0.0, 1.0) || own.array.name.ends_with("weighting")
    };
    let weightings = weightings.filter(|(_, own)| own.is_weighting() && is_sure(own));
    let weightings = weightings.filter(|(at, _)| is_main(*at));
    let mut large: Vec<&Quantity> = weightings.map(|(_, own)| own).collect();
    large.retain(|own| is_used(own));
    large.extend(&memories);
    if large.is_empty() {
        large.extend(all.iter().filter(|own| !own.is_number()).take(3));
    }
    let is_small = |own: &&Quantity| !large.iter().any(|other| other.part == own.part);
    let small = all.iter().filter(is_small).collect();
    [large, small]
}
