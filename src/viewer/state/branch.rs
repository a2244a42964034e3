//! Branches: an episode run again with values that are set in some of its steps.

use super::{EpisodeRequest, Open, State, Target};
use crate::figure::{head_label, peak};
use crate::io::intervention;
use crate::model::{Array, Model, Place, Range, Trace, array};

/// An intervention of a request, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedChange {
    /// The text, such as `12:read0.gate=1`.
    pub text: String,
    /// False while it is left out.
    pub is_on: bool,
}

/// Steps, array and part of an intervention: everything before its value.
fn left_side(text: &str) -> &str {
    text.split_once('=').map_or(text, |(left, _)| left)
}

impl EpisodeRequest {
    /// Returns the same without interventions.
    pub fn plain(&self) -> Self {
        Self {
            changes: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the interventions that are on.
    pub fn interventions(&self) -> Vec<&str> {
        let on = self.changes.iter().filter(|change| change.is_on);
        on.map(|change| change.text.as_str()).collect()
    }

    /// Adds an intervention after all others, in place of one on the same steps and values.
    pub fn set_value(&mut self, text: String) {
        let is_other = |change: &RequestedChange| left_side(&change.text) != left_side(&text);
        self.changes.retain(is_other);
        self.changes.push(RequestedChange { text, is_on: true });
    }

    /// Returns the number that is set by an intervention on these steps and values.
    pub fn value_set(&self, left: &str) -> Option<f32> {
        let mut changes = self.changes.iter().filter(|change| change.is_on);
        let found = changes.find(|change| left_side(&change.text) == left)?;
        found.text.get(left.len() + 1..)?.parse().ok()
    }
}

impl Open {
    /// Returns the interventions of the episode on screen as texts.
    pub fn interventions(&self) -> Vec<String> {
        let Some(config) = &self.shown.config else {
            return Vec::new();
        };
        let all = self.shown.recording.conventions.interventions.iter();
        all.map(|one| intervention::text(one, config)).collect()
    }

    /// True where an intervention changes this array in this step.
    pub fn is_set(&self, place: Place, array: Array, step: usize) -> bool {
        let mut all = self.shown.recording.conventions.interventions.iter();
        all.any(|one| {
            let (first, last) = one.steps;
            (one.place, one.array) == (place, array)
                && step >= first
                && last.is_none_or(|last| step <= last)
        })
    }

    fn machine(&self) -> Option<&Model<f32>> {
        Some(&self.shown.machine.as_ref()?.ntm)
    }

    /// Returns the names of the arrays that can be set, in the order of the computation; none of a trace from a file.
    pub fn settable(&self) -> Vec<(String, Place, Array)> {
        let arrays = self.machine().map(Model::changeable).unwrap_or_default();
        let mut named: Vec<(String, Place, Array)> = Vec::new();
        for (place, array) in arrays {
            let name = self.shown.recording.trace.array_name(place, array);
            if named.iter().all(|(other, ..)| *other != name) {
                named.push((name, place, array));
            }
        }
        named
    }

    /// Returns an intervention in its normal form.
    ///
    /// # Errors
    /// What is wrong with it, and what is expected.
    pub fn read_intervention(&self, text: &str) -> Result<String, String> {
        let machine = self.machine().ok_or("a recorded trace cannot be changed")?;
        let trace = &self.shown.recording.trace;
        let read = intervention::parse(&[text], "", machine, trace);
        let read = read.map_err(|error| error.without_file())?;
        let texts = read.iter();
        Ok(texts
            .map(|one| intervention::text(one, &machine.config))
            .collect())
    }
}

/// Something to do with a target in the current step.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueChoice {
    /// The name.
    pub name: String,
    /// The interventions, without their steps.
    pub changes: Vec<String>,
    /// True where they are completed in the dialog first.
    pub asks: bool,
}

impl State {
    /// Returns what can be set of a target, or else of the selected head, in this step: the last one is its value now.
    pub fn value_choices(&self, target: Option<Target>) -> Vec<ValueChoice> {
        let Some(open) = &self.session.open else {
            return Vec::new();
        };
        let settable = open.settable();
        let is_known = |change: &String| {
            let name = change.split(['[', '=']).next();
            settable.iter().any(|(known, ..)| Some(&**known) == name)
        };
        let target = target.unwrap_or(Target::Head(self.view.focus));
        let mut choices = self.choices_of(open, target);
        choices.retain(|choice| choice.changes.iter().all(is_known));
        choices
    }

    /// Returns the text with which the dialog begins: the selected value in this step.
    pub fn value_text(&self) -> String {
        let step = self.player.step();
        let selected = self.view.selected.map(Some);
        let mut targets = selected.into_iter().chain([None]);
        let text = targets.find_map(|target| self.value_choices(target).pop()?.changes.pop());
        format!("{step}:{}", text.unwrap_or_default())
    }

    fn choices_of(&self, open: &Open, target: Target) -> Vec<ValueChoice> {
        let (trace, step) = (&open.shown.recording.trace, self.player.step());
        let [rows, columns] = trace.memory_size();
        let mut choices = Vec::new();
        let mut add = |name: &str, changes: &[String], asks| {
            choices.push(ValueChoice {
                name: name.to_owned(),
                changes: changes.to_vec(),
                asks,
            });
        };
        let head = |head| trace.heads.get(head).map(|_| trace.head_name(head));
        let other = "Other value …";
        let selected = self.view.selected.and_then(Target::rows);
        match target {
            Target::Head(index) => {
                let (Some(of), Some(name)) = (trace.heads.get(index), head(index)) else {
                    return choices;
                };
                let change = |array: &str, value: &str| format!("{name}.{array}={value}");
                if !of.gate.as_slice().is_empty() {
                    let [none, all] = ["0", "1"].map(|value| change("gate", value));
                    add("Gate 0: keep previous focus", &[none], false);
                    add("Gate 1: focus by content", &[all], false);
                }
                let at_peak = peak(of.weighting.row(step)).map(|(row, _)| row);
                let row = selected.map(|rows| *rows.start()).or(at_peak);
                if let Some(row) = row {
                    let change = change("weighting", &format!("row({row})"));
                    add(&format!("Focus on row {row}"), &[change], false);
                }
                if of.is_write() {
                    let [erase, write] = ["erase", "add"].map(|array| change(array, "0"));
                    add("Erase nothing", std::slice::from_ref(&erase), false);
                    add("Write nothing", &[erase, write], false);
                } else {
                    add("Read zeros", &[change("read", "0")], false);
                    add("Negate read vector", &[change("read", "negate")], false);
                }
                let last = match of.gate.as_slice().get(step) {
                    Some(gate) => change("gate", &gate.to_string()),
                    None => change("weighting", &format!("row({})", row.unwrap_or(0))),
                };
                add(other, &[last], true);
            }
            Target::Row(_) | Target::Rows { .. } => {
                let (first, last) = target.rows().unwrap_or(0..=0).into_inner();
                let (part, words) = if first == last {
                    (first.to_string(), format!("row {first}"))
                } else {
                    let part = format!("{first}:{}", last + 1);
                    (part, format!("rows {first} to {last}"))
                };
                let set = |value: &str| format!("memory[{part}]={value}");
                let zero = format!("Set {words} to 0");
                add(&zero, &[set("0")], false);
                add(&format!("Negate {words}"), &[set("negate")], false);
                let with = if first == last { (first + 1) % rows } else { last };
                let swap = format!("memory=swap({first},{with})");
                add(&format!("Swap row {first} with …"), &[swap], true);
                if let Some(name) = head(self.view.focus) {
                    let label = head_label(trace, self.view.focus);
                    let change = format!("{name}.weighting=row({first})");
                    add(&format!("Focus {label} on row {first}"), &[change], false);
                }
                add(other, &[set("0")], true);
            }
            Target::Cell { row, column } => {
                let at = column * rows + row;
                let value = trace.memory_columns.row(step + 1).get(at);
                if let Some(value) = value.filter(|_| column < columns) {
                    let set = |value: &str| format!("memory[{row},{column}]={value}");
                    add("Set cell to 0", &[set("0")], false);
                    add(other, &[set(&value.to_string())], true);
                }
            }
            Target::Unit { layer, unit } => {
                let of = trace.layers.get(layer).map(|layer| layer.hidden.row(step));
                if let Some(value) = of.and_then(|hidden| hidden.get(unit)) {
                    let name = entry(trace, (Place::Layer(layer), array::HIDDEN), unit);
                    let set = |value: &str| format!("{name}={value}");
                    add("Silence unit", &[set("0")], false);
                    add(other, &[set(&value.to_string())], true);
                }
            }
            Target::Value { id, column } => {
                let Some((place, array)) = id.recorded() else {
                    return choices;
                };
                let values = trace.series(place, array);
                let values = values.filter(|series| step < series.steps());
                let Some(value) = values.and_then(|series| series.row(step).get(column)) else {
                    return choices;
                };
                if array.range == Range::Distribution {
                    let whole = format!("{}=row({column})", trace.array_name(place, array));
                    add("Set this entry to 1", std::slice::from_ref(&whole), false);
                    add(other, &[whole], true);
                } else {
                    let name = entry(trace, (place, array), column);
                    let set = |value: &str| format!("{name}={value}");
                    add("Set value to 0", &[set("0")], false);
                    add(other, &[set(&value.to_string())], true);
                }
            }
            Target::Step => {}
        }
        choices
    }
}

/// Returns the name of one value of a step.
fn entry(trace: &Trace, (place, array): (Place, Array), at: usize) -> String {
    let name = trace.array_name(place, array);
    match place {
        Place::Layer(layer) if trace.layers.len() > 1 => format!("{name}[{layer},{at}]"),
        _ => format!("{name}[{at}]"),
    }
}
