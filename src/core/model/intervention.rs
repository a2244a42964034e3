//! Interventions: values that are changed in some steps of an episode, which is then computed on from there.

use std::ops::Range;

use super::array;
use super::spec::{Array, Place, Range as Values};
use super::trace::Trace;
use crate::math::Series;

/// The largest difference from 1 of the sum of a distribution.
const SLACK: f32 = 1e-4;

/// A change of an array in some steps, after the machine has computed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervention {
    /// The first step and the last one; `None`: to the end of the episode.
    pub steps: (usize, Option<usize>),
    /// The part of the machine.
    pub place: Place,
    /// The array; of the memory M_t it is the one that the step leaves behind.
    pub array: Array,
    /// The entries along the first axes behind the steps (rows, then columns, of the memory); empty for all values.
    pub part: Vec<Range<usize>>,
    /// What happens to the values.
    pub change: Change,
}

/// The change of values by an [`Intervention`].
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// One value for all, or one for each, row after row of a memory.
    Set(Vec<f32>),
    /// The values of each step.
    SetEach(Vec<Vec<f32>>),
    /// 1 at this index, 0 elsewhere.
    OneHot(usize),
    /// Two entries change places; of a memory two rows.
    Swap(usize, usize),
    /// Every value changes its sign.
    Negate,
}

/// Sizes of the axes of an array behind the steps.
fn axes(trace: &Trace<f32>, place: Place, array: Array) -> Vec<usize> {
    let series = trace.series(place, array);
    match (array, trace.array_sizes(array)) {
        (array::MEMORY, _) => trace.memory_size().to_vec(),
        // The axes behind the first are one.
        (_, Some([first, others @ ..])) if !others.is_empty() => {
            vec![*first, others.iter().product()]
        }
        _ => vec![series.map_or(0, Series::width)],
    }
}

/// The places of the changed values in a step: lines along the first axis.
struct Places {
    lines: Range<usize>,
    columns: Range<usize>,
    /// Places between two lines, and between two columns.
    strides: [usize; 2],
}

impl Places {
    fn count(&self) -> usize {
        self.lines.len() * self.columns.len()
    }

    /// Those of the line with this index.
    fn line(&self, line: usize) -> impl Iterator<Item = usize> {
        let [by_line, by_column] = self.strides;
        let first = (self.lines.start + line) * by_line;
        self.columns
            .clone()
            .map(move |column| column * by_column + first)
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        (0..self.lines.len()).flat_map(|line| self.line(line))
    }
}

impl Intervention {
    fn places(&self, trace: &Trace<f32>) -> Places {
        let axes = axes(trace, self.place, self.array);
        let part = |axis: usize| match (self.part.get(axis), axes.get(axis)) {
            (Some(part), _) => part.clone(),
            (None, size) => 0..size.copied().unwrap_or(1),
        };
        Places {
            lines: part(0),
            columns: part(1),
            // A memory stands column after column, all others row after row.
            strides: match axes[..] {
                [_, columns] if self.array != array::MEMORY => [columns, 1],
                _ => [1, axes[0]],
            },
        }
    }

    pub(super) fn includes(&self, t: usize) -> bool {
        let (first, last) = self.steps;
        t >= first && last.is_none_or(|last| t <= last)
    }

    /// Checks that an episode of this many steps has those that it changes.
    ///
    /// # Errors
    /// What is expected.
    pub fn check_steps(&self, steps: usize) -> Result<(), String> {
        let (first, last) = self.steps;
        let end = last.unwrap_or(first);
        if first > end || end >= steps {
            let most = steps.saturating_sub(1);
            return Err(format!(
                "has the steps {first} to {end}; expected steps from 0 to {most}"
            ));
        }
        Ok(())
    }

    /// Checks that an episode of a machine has these values, and that they may be so: between two ends.
    ///
    /// # Errors
    /// What is expected.
    pub fn check(&self, trace: &Trace<f32>, name: &str, ends: (f32, f32)) -> Result<(), String> {
        let axes = axes(trace, self.place, self.array);
        if self.part.len() > axes.len() {
            let word = if axes.len() == 1 { "index" } else { "indices" };
            return Err(format!(
                "has {} indices; {name} has {} {word}",
                self.part.len(),
                axes.len()
            ));
        }
        for (part, size) in self.part.iter().zip(&axes) {
            if part.is_empty() || part.end > *size {
                return Err(format!(
                    "has an index beyond {name}; expected 0 to {}",
                    size - 1
                ));
            }
        }
        self.check_values(trace, name, ends)
    }

    fn check_values(
        &self,
        trace: &Trace<f32>,
        name: &str,
        (least, most): (f32, f32),
    ) -> Result<(), String> {
        let places = self.places(trace);
        let (count, lines) = (places.count(), places.lines.len());
        let is_whole = self.part.is_empty();
        let one = |values: &[f32], may_be_one: bool| {
            let is_share = self.array.range == Values::Distribution;
            let is_one = may_be_one && !is_share && values.len() == 1;
            if values.len() != count && !is_one {
                return Err(format!("has {} values; expected {count}", values.len()));
            }
            let is_in = |value: &f32| value.is_finite() && (least..=most).contains(value);
            if let Some(value) = values.iter().find(|value| !is_in(value)) {
                let expected = match (least, most) {
                    (f32::NEG_INFINITY, _) => "a number".to_owned(),
                    (_, f32::INFINITY) => format!("at least {least}"),
                    _ => format!("{least} to {most}"),
                };
                return Err(format!("sets {value}; expected {expected}"));
            }
            let sum: f32 = values.iter().sum();
            if is_share && !(is_whole && (sum - 1.0).abs() <= SLACK) {
                return Err(format!(
                    "sets a part of {name}; expected {count} values with the sum 1"
                ));
            }
            Ok(())
        };
        let index = |index: usize| {
            if !is_whole || index >= lines {
                return Err(format!(
                    "expected an index from 0 to {} of the whole array",
                    lines.saturating_sub(1)
                ));
            }
            Ok(())
        };
        match &self.change {
            Change::Set(values) => one(values, true),
            Change::SetEach(all) => {
                let (first, last) = self.steps;
                let last = last.ok_or("has a list for each step; expected FROM-TO")?;
                let wanted = last.saturating_add(1).saturating_sub(first);
                if all.len() != wanted {
                    return Err(format!(
                        "has values for {} steps; expected {wanted}",
                        all.len()
                    ));
                }
                all.iter().try_for_each(|values| one(values, false))
            }
            Change::OneHot(row) => {
                index(*row)?;
                if least > 0.0 || most < 1.0 || self.array == array::MEMORY {
                    return Err(format!("sets {name} to 0 and 1; expected other values"));
                }
                Ok(())
            }
            Change::Swap(one, other) => index(*one).and_then(|()| index(*other)),
            Change::Negate if least < 0.0 => Ok(()),
            Change::Negate => Err(format!(
                "makes {name} negative; expected values of at least {least}"
            )),
        }
    }

    /// The number of values that it changes in an episode of these sizes.
    pub fn values(&self, trace: &Trace<f32>) -> usize {
        let (first, last) = self.steps;
        let steps = trace
            .steps()
            .min(last.map_or(usize::MAX, |last| last.saturating_add(1)));
        let of_step = self.places(trace).count();
        steps.saturating_sub(first).saturating_mul(of_step)
    }

    /// Changes the values of this array in step `t`, if they are among those that it changes.
    pub fn apply(&self, trace: &mut Trace<f32>, (place, array): (Place, Array), t: usize) {
        if (place, array) != (self.place, self.array) || !self.includes(t) {
            return;
        }
        let places = self.places(trace);
        let Some(series) = trace.series_mut(place, array) else {
            return;
        };
        let values = series.row_mut(array.row(t));
        let set = |values: &mut [f32], to: &[f32]| {
            let to = to.iter().cycle();
            places.all().zip(to).for_each(|(at, to)| values[at] = *to);
        };
        match &self.change {
            Change::Set(to) => set(values, to),
            Change::SetEach(to) => set(values, to.get(t - self.steps.0).map_or(&[], |to| to)),
            Change::OneHot(row) => {
                places.all().for_each(|at| values[at] = 0.0);
                places.line(*row).for_each(|at| values[at] = 1.0);
            }
            Change::Swap(one, other) => {
                let pairs = places.line(*one).zip(places.line(*other));
                pairs.for_each(|(one, other)| values.swap(one, other));
            }
            Change::Negate => places.all().for_each(|at| values[at] = -values[at]),
        }
    }

    /// True where the changed values do not depend on what was computed.
    pub fn sets(&self) -> bool {
        !matches!(self.change, Change::Swap(..) | Change::Negate)
    }
}

/// Applies all of them, in their order: the last one wins.
pub fn apply_all(
    interventions: &[Intervention],
    trace: &mut Trace<f32>,
    of: (Place, Array),
    t: usize,
) {
    for intervention in interventions {
        intervention.apply(trace, of, t);
    }
}
