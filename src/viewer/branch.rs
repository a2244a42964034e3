//! What can be set while an episode runs, with the text of it.

use std::ops::RangeInclusive;

use super::state::{Open, State, Target};
use crate::figure::facts::datum::Datum;
use crate::figure::{head_label, peak};
use crate::io::{Error, intervention};
use crate::model::{Array, Model, Place, Range, Trace, array};

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
    /// A sentence: what is wrong with it, and what is expected.
    pub fn read_intervention(&self, text: &str) -> Result<String, String> {
        let machine = self
            .machine()
            .ok_or("A recorded trace cannot be changed.")?;
        let trace = &self.shown.recording.trace;
        // Numbers with commas are a list, with brackets or without.
        let text = match text.split_once('=') {
            Some((of, value)) if value.contains(',') && !value.contains(['[', '(']) => {
                &format!("{of}=[{value}]")
            }
            _ => text,
        };
        let read = intervention::parse(&[text], "", machine, trace);
        let read = read.map_err(|error| {
            let problem = match error {
                Error::Content { problem, .. } => problem,
                other => other.to_string(),
            };
            // The dialog lists them.
            match problem.split_once(" arrays: ") {
                Some((problem, _)) if problem.ends_with('?') => problem.to_owned(),
                Some((problem, _)) => format!("{}.", problem.trim_end_matches(';')),
                None => format!("{problem}."),
            }
        })?;
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
    pub opens_dialog: bool,
}

impl ValueChoice {
    fn new(name: impl Into<String>, change: String) -> Self {
        Self {
            name: name.into(),
            changes: vec![change],
            opens_dialog: false,
        }
    }

    fn asking(name: impl Into<String>, change: String) -> Self {
        Self {
            opens_dialog: true,
            ..Self::new(name, change)
        }
    }

    /// The last choice: the value as it is now, to be changed.
    fn other(change: String) -> Self {
        Self::asking("Other value …", change)
    }
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
        let (trace, step) = (&open.shown.recording.trace, self.player.step());
        let target = target.unwrap_or(Target::Head(self.view.focus));
        let choices = match (target, target.rows()) {
            (Target::Row(_) | Target::Rows { .. }, Some(rows)) => self.row_choices(trace, &rows),
            (Target::Head(head), _) => self.head_choices(trace, head),
            _ => {
                let datum = target.datum(trace, self.view.focus).into_iter();
                datum
                    .flat_map(|of| entry_choices(trace, of, step))
                    .collect()
            }
        };
        let choices = choices.into_iter();
        choices
            .filter(|choice| choice.changes.iter().all(is_known))
            .collect()
    }

    /// Returns the text with which the dialog begins: the selected value in this step.
    pub fn value_text(&self) -> String {
        let step = self.player.step();
        let selected = self.view.selected.map(Some);
        let mut targets = selected.into_iter().chain([None]);
        let text = targets.find_map(|target| self.value_choices(target).pop()?.changes.pop());
        format!("{step}:{}", text.unwrap_or_default())
    }

    fn head_choices(&self, trace: &Trace, index: usize) -> Vec<ValueChoice> {
        let (Some(of), step) = (trace.heads.get(index), self.player.step()) else {
            return Vec::new();
        };
        let name = trace.head_name(index);
        let set = |array: &str, value: &str| format!("{name}.{array}={value}");
        let selected = self.view.selected.and_then(Target::rows);
        let at_peak = peak(of.weighting.row(step)).map(|(row, _)| row);
        let row = selected.map(|rows| *rows.start()).or(at_peak).unwrap_or(0);
        let focus = set("weighting", &format!("row({row})"));
        let mut choices = vec![
            ValueChoice::new("Gate 0: keep previous focus", set("gate", "0")),
            ValueChoice::new("Gate 1: focus by content", set("gate", "1")),
            ValueChoice::new(format!("Focus on row {row}"), focus.clone()),
        ];
        choices.extend(if of.is_write() {
            let [erase, add] = ["erase", "add"].map(|array| set(array, "0"));
            let nothing = ValueChoice {
                changes: vec![erase.clone(), add],
                ..ValueChoice::new("Write nothing", String::new())
            };
            [ValueChoice::new("Erase nothing", erase), nothing]
        } else {
            let negate = set("read", "negate");
            [
                ValueChoice::new("Read zeros", set("read", "0")),
                ValueChoice::new("Negate read vector", negate),
            ]
        });
        let gate = of.gate.as_slice().get(step);
        let now = gate.map_or(focus, |gate| set("gate", &gate.to_string()));
        choices.push(ValueChoice::other(now));
        choices
    }

    fn row_choices(&self, trace: &Trace, rows: &RangeInclusive<usize>) -> Vec<ValueChoice> {
        let (first, last, [all, _]) = (*rows.start(), *rows.end(), trace.memory_size());
        let (part, words, with) = if first == last {
            (first.to_string(), format!("row {first}"), (first + 1) % all)
        } else {
            let words = format!("rows {first} to {last}");
            (format!("{first}:{}", last + 1), words, last)
        };
        let set = |value: &str| format!("memory[{part}]={value}");
        let swap = format!("memory=swap({first},{with})");
        let mut choices = vec![
            ValueChoice::new(format!("Set {words} to 0"), set("0")),
            ValueChoice::new(format!("Negate {words}"), set("negate")),
            ValueChoice::asking(format!("Swap row {first} with …"), swap),
        ];
        if self.view.focus < trace.heads.len() {
            let name = trace.head_name(self.view.focus);
            let label = head_label(trace, self.view.focus);
            let change = format!("{name}.weighting=row({first})");
            choices.push(ValueChoice::new(
                format!("Focus {label} on row {first}"),
                change,
            ));
        }
        choices.push(ValueChoice::other(set("0")));
        choices
    }
}

/// Choices for one value of an array of a step.
fn entry_choices(trace: &Trace, datum: Datum, step: usize) -> Vec<ValueChoice> {
    let Datum {
        place,
        array,
        index: at,
    } = datum;
    let (now, name) = (datum.value(trace, step), trace.array_name(place, array));
    if array.range == Range::Distribution {
        let whole = format!("{name}=row({at})");
        let words = format!("Set entry {at} to 1");
        return vec![
            ValueChoice::new(words, whole.clone()),
            ValueChoice::other(whole),
        ];
    }
    let what = match place {
        Place::Layer(_) => "unit",
        Place::Machine if array == array::MEMORY => "cell",
        Place::Head(_) | Place::Machine => "value",
    };
    one(what, &datum.name(trace), now)
}

/// Choices for one number, if there is one.
fn one(what: &str, name: &str, now: Option<f32>) -> Vec<ValueChoice> {
    let Some(now) = now else { return Vec::new() };
    let zero = ValueChoice::new(format!("Set {what} to 0"), format!("{name}=0"));
    vec![zero, ValueChoice::other(format!("{name}={now}"))]
}
