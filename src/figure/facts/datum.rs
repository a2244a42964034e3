//! A recorded value by its place, as files, expressions, links and interventions call it.

use crate::analysis::expression::Expression;
use crate::model::{Array, Place, Trace, array};

/// An entry of an array that has values in every step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Datum {
    /// The part of the machine.
    pub place: Place,
    /// The array.
    pub array: Array,
    /// The entry among those of a step, in the order of files.
    pub index: usize,
}

impl Datum {
    /// The entry of this name: `write0.gate`, `read0.weighting[5]`, `memory[5,2]`.
    ///
    /// # Errors
    /// What is wrong, and what is expected.
    pub fn named(text: &str, trace: &Trace) -> Result<Self, String> {
        let invalid = || "expected a recorded value, such as memory[5,2]".to_owned();
        let expression = Expression::parse(text).map_err(|error| error.message)?;
        let checked = expression.quantity(trace);
        checked.map_err(|error| error.message)?;
        let (name, indices) = expression.entry().ok_or_else(invalid)?;
        let mut all = trace.of_steps().into_iter();
        let found = all.find(|(place, array, _)| trace.array_name(*place, array) == name);
        let (place, array, series) = found.ok_or_else(invalid)?;
        let columns = columns(trace, array);
        let (place, index) = match (place, &indices[..]) {
            (Place::Layer(_), [layer, unit]) => (Place::Layer(*layer), Some(*unit)),
            (_, [row, column]) => {
                let first = row.checked_mul(columns);
                (place, first.and_then(|first| first.checked_add(*column)))
            }
            (_, [index]) => (place, Some(*index)),
            _ => (place, Some(0)),
        };
        // Each episode has rows of its own where a memory has one for each step: the expression does not know how many.
        let index = index
            .filter(|index| *index < series.width())
            .ok_or_else(|| {
                let rows = series.width() / columns;
                format!("expected a row of 0 to {}", rows.saturating_sub(1))
            })?;
        Ok(Self {
            place,
            array,
            index,
        })
    }

    /// The name.
    pub fn name(&self, trace: &Trace) -> String {
        let name = trace.array_name(self.place, self.array);
        let (index, columns) = (self.index, columns(trace, self.array));
        match self.place {
            _ if self.array.dims.len() == 1 => name,
            Place::Layer(layer) if trace.layers.len() > 1 => format!("{name}[{layer},{index}]"),
            _ if columns > 1 => format!("{name}[{},{}]", index / columns, index % columns),
            _ => format!("{name}[{index}]"),
        }
    }

    /// The value in a step; of a memory after the step.
    pub fn value(&self, trace: &Trace, step: usize) -> Option<f32> {
        let series = trace.series(self.place, self.array)?;
        if self.array == array::MEMORY {
            let [rows, columns] = trace.memory_size();
            let (row, column) = (self.index / columns, self.index % columns);
            let at = (row < rows).then_some(column * rows + row)?;
            return series.row(step + 1).get(at).copied();
        }
        let is_there = step < series.steps();
        is_there.then(|| series.row(step).get(self.index).copied())?
    }
}

/// Number of values of an entry of the first axis.
fn columns(trace: &Trace, array: Array) -> usize {
    if array == array::MEMORY {
        return trace.memory_size()[1];
    }
    let others = trace.array_sizes(array).and_then(|sizes| sizes.get(1..));
    others.map_or(1, |others| others.iter().product())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Experiment;
    use crate::model::{EquationsConfig, Model, ModelConfig};
    use crate::task::{Copy, Task};
    use crate::train::Recording;

    /// Episodes of machines by hand and of files, with heads, layers, memories, sources and axes of all kinds.
    fn recordings() -> Vec<Recording> {
        let presets = [
            "copy_multi_head",
            "copy_dnc",
            "copy_sam",
            "copy_feedforward",
            "transduce",
            "caption",
            "span_coattention",
        ];
        let presets = presets.map(|name| {
            let experiment = Experiment::included(name, &[]).unwrap().unwrap();
            (experiment.model, experiment.task)
        });
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let files = ["fast_weights", "titans", "mlstm"].map(|name| {
            let channels = [task.inputs(), task.outputs()];
            let config = EquationsConfig::included(name, channels, &[]).unwrap();
            (ModelConfig::from(config), task.clone())
        });
        let all = presets.into_iter().chain(files);
        let record = |(config, task): (ModelConfig, Task)| {
            Recording::new(&Model::new(config, 2), &task, 3, 0)
        };
        all.map(record).collect()
    }

    #[test]
    fn names_are_expressions_with_the_same_value() {
        for recording in recordings() {
            let (trace, step) = (&recording.trace, 1);
            for (place, array, series) in trace.of_steps() {
                for index in [0, series.width() - 1] {
                    let datum = Datum {
                        place,
                        array,
                        index,
                    };
                    let name = datum.name(trace);
                    assert_eq!(Datum::named(&name, trace), Ok(datum), "{name}");
                    let checked = Expression::parse(&name).unwrap().quantity(trace).unwrap();
                    let value = checked.values(&recording, step).map(|values| values[0]);
                    let own = datum.value(trace, step).map(f64::from);
                    let own = own.filter(|own| own.is_finite());
                    assert_eq!(value.filter(|value| value.is_finite()), own, "{name}");
                }
            }
        }
    }
}
