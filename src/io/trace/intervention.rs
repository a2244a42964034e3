//! Interventions as text, such as `12:read0.gate=1` or `20-:memory[3:5]=0`: steps, an array of a trace, an optional part
//! of it, and a change.

use std::ops::Range;
use std::path::Path;

use crate::io::error::{choices, short};
use crate::io::{Error, file};
use crate::math::Series;
use crate::model::Range as Values;
use crate::model::config::VectorActivation;
use crate::model::{
    Array, Change, Intervention, Model, ModelConfig, NtmConfig, Place, Trace, array,
};
use crate::train::Recording;

/// The form of an intervention, for messages.
pub const FORM: &str = "STEPS:ARRAY=VALUE, such as `12:read0.gate=1`";

/// Reads a recorded episode, for the values of `from(FILE)`.
pub(in crate::io) type Read<'a> = &'a dyn Fn(&Path) -> Result<Recording, String>;

/// Reads interventions on episodes of this machine with the sizes of `trace`; `label` stands for where they come from.
///
/// # Errors
/// What is wrong in which of them, and what was expected; a file that [`trace::read`] refuses.
pub(in crate::io) fn parse(
    texts: &[impl AsRef<str>],
    label: &str,
    machine: &Model,
    trace: &Trace,
    read: Read<'_>,
) -> Result<Vec<Intervention>, Error> {
    let known = machine.changeable();
    let parser = Parser {
        config: &machine.config,
        known: &known,
        trace,
        read: Some(read),
    };
    let all = texts.iter().map(AsRef::as_ref);
    let all = all.map(|text| {
        let one = parser.one(text);
        one.map_err(|problem| Error::content(label, text, problem))
    });
    let all: Vec<_> = all.collect::<Result<_, _>>()?;
    limited(&all, trace).map_err(|problem| Error::content(label, "", problem))?;
    Ok(all)
}

/// Reads interventions with the sizes and arrays of a recorded trace, without the machine.
pub(super) fn parse_recorded(
    texts: &[String],
    label: &str,
    config: &ModelConfig,
    trace: &Trace,
) -> Result<Vec<Intervention>, Error> {
    let fail = |problem: String| Error::content(label, "interventions", problem);
    if texts.len() > MOST {
        return Err(fail(format!(
            "has {} entries; expected at most {MOST}",
            texts.len()
        )));
    }
    // A machine file has quantities that are the same in all steps, and can be set as well.
    let once = trace.everything().filter(|(_, array, series)| {
        let is_computed = array.is_once() && array.is_in_files() && !array.is_learned();
        config.is_recorded_apart() && is_computed && series.width() > 0
    });
    let all = trace.of_steps().into_iter().chain(once);
    let known: Vec<_> = all.map(|(place, array, _)| (place, array)).collect();
    let parser = Parser {
        config,
        known: &known,
        trace,
        read: None,
    };
    let all = texts.iter().map(|text| {
        let one = parser.one(text);
        one.map_err(|problem| fail(format!("`{}`: {problem}", short(text))))
    });
    let all: Vec<_> = all.collect::<Result<_, _>>()?;
    limited(&all, trace).map_err(fail)?;
    Ok(all)
}

/// The most interventions in a file.
const MOST: usize = 10_000;
/// The most values that they change, all together, and the most that are listed in a file.
const MOST_VALUES: usize = 200_000_000;
const MOST_LISTED: usize = 4_000_000;

/// Refuses interventions that would take too long, or whose values no file has room for.
fn limited(all: &[Intervention], trace: &Trace) -> Result<(), String> {
    let listed = all.iter().map(|one| match &one.change {
        Change::SetEach(all) => all.iter().map(Vec::len).sum(),
        _ => 0,
    });
    let changed = all.iter().map(|one| one.values(trace));
    let changed = changed.fold(0, usize::saturating_add);
    for (count, most) in [(changed, MOST_VALUES), (listed.sum(), MOST_LISTED)] {
        if count > most {
            return Err(format!("sets {count} values; expected at most {most}"));
        }
    }
    Ok(())
}

struct Parser<'a> {
    config: &'a ModelConfig,
    known: &'a [(Place, Array)],
    trace: &'a Trace,
    /// `None` for those of a file, which names no others, and whose steps may be beyond its end.
    read: Option<Read<'a>>,
}

/// A number in a text.
fn number(text: &str) -> Result<usize, String> {
    let (number, most) = (text.trim().parse::<u32>(), u32::MAX);
    let wrong = |_| format!("has `{text}`; expected a whole number, at most {most}");
    number.map(|number| number as usize).map_err(wrong)
}

/// `12`, `12-20` or `12-`.
fn steps(text: &str) -> Result<(usize, Option<usize>), String> {
    match text.split_once('-') {
        None => number(text).map(|step| (step, Some(step))),
        Some((first, "")) => Ok((number(first)?, None)),
        Some((first, last)) => Ok((number(first)?, Some(number(last)?))),
    }
}

/// `3`, `2:5`, or several of them, one for each axis.
fn part(text: &str) -> Result<Vec<Range<usize>>, String> {
    let one = |text: &str| match text.split_once(':') {
        None => number(text).map(|at| at..at + 1),
        Some((first, end)) => match number(first)?..number(end)? {
            part if part.is_empty() => Err(format!(
                "has the empty range [{text}]; expected an end above {first}"
            )),
            part => Ok(part),
        },
    };
    text.split(',').map(one).collect()
}

impl Parser<'_> {
    fn one(&self, text: &str) -> Result<Intervention, String> {
        let form = || format!("is no intervention; expected {FORM}");
        let (when, rest) = text.split_once(':').ok_or_else(form)?;
        let (of, value) = rest.split_once('=').ok_or_else(form)?;
        let (name, part) = match of
            .trim()
            .strip_suffix(']')
            .and_then(|of| of.split_once('['))
        {
            Some((name, inside)) => (name, self::part(inside)?),
            None => (of.trim(), Vec::new()),
        };
        let (place, array, part) = self.find(name, part)?;
        let mut found = Intervention {
            steps: steps(when)?,
            place,
            array,
            part,
            change: Change::Negate,
        };
        let is_typed = self.read.is_some();
        if is_typed {
            found.check_steps(self.trace.steps())?;
            self.limit(&mut found, name)?;
        }
        found.change = self.change(value.trim(), &found)?;
        if let Change::SetEach(all) = &found.change {
            let last = found.steps.0 + all.len().saturating_sub(1);
            found.steps.1 = found.steps.1.or(Some(last));
        }
        found.check_steps(if is_typed {
            self.trace.steps()
        } else {
            usize::MAX
        })?;
        let is_tanh = |ntm: &NtmConfig| match array {
            array::KEY => ntm.key_activation == VectorActivation::Tanh,
            array::ADD => ntm.add_activation == VectorActivation::Tanh,
            _ => false,
        };
        let ends = match self.config.ntm() {
            Some(ntm) if is_typed && is_tanh(ntm) => (-1.0, 1.0),
            _ => array.ends(self.trace.setting.answer),
        };
        found.check(self.trace, name, ends)?;
        let values = match &found.change {
            Change::Set(values) => std::slice::from_ref(values),
            Change::SetEach(all) => all,
            _ => &[],
        };
        if array.range == Values::Rows {
            let count = self
                .trace
                .series(found.place, array)
                .map_or(0, Series::width);
            let is_list = !values.is_empty() && values.iter().all(|values| values.len() == count);
            if !is_list || !found.part.is_empty() {
                return Err(format!("sets a part of {name}; expected {count} rows"));
            }
        }
        let wrong = |values: &Vec<f32>| array.range.wrong_rows(self.config.rows(), values);
        if let Some(wrong) = values.iter().find_map(wrong) {
            return Err(format!("sets {wrong}"));
        }
        Ok(found)
    }

    /// The array of this name; of several layers the first index says which.
    fn find(
        &self,
        name: &str,
        mut part: Vec<Range<usize>>,
    ) -> Result<(Place, Array, Vec<Range<usize>>), String> {
        let named = |(place, array): &(Place, Array)| self.config.array_name(*place, array);
        let all = || self.known.iter().filter(|of| named(of) == name);
        let found = match all().count() {
            0 | 1 => all().next(),
            layers => {
                let layer = part
                    .first()
                    .filter(|part| part.len() == 1 && part.end <= layers);
                let layer =
                    layer.ok_or_else(|| format!("needs an index: {name} has {layers} layers"))?;
                let found = all().nth(layer.start);
                part.remove(0);
                found
            }
        };
        let &(place, array) = found.ok_or_else(|| {
            let mut names: Vec<String> = self.known.iter().map(named).collect();
            names.dedup();
            format!("has no array `{name}`{}", choices(name, "arrays", &names))
        })?;
        Ok((place, array, part))
    }

    /// Limits an intervention to the steps in which the array is computed: those of a source, or of an answer. An answer
    /// may have more steps with the intervention, so an open end stays open.
    fn limit(&self, found: &mut Intervention, name: &str) -> Result<(), String> {
        let ((first, last), steps) = (found.steps, self.trace.steps());
        let (config, source) = (self.config, self.trace.setting.source);
        let (place, array) = (found.place, found.array);
        let has = |t: &usize| !config.is_undefined_step(place, array, *t, source);
        let all = || (0..steps).filter(has);
        if all().count() == steps {
            return Ok(());
        }
        let mut within = all().filter(|t| *t >= first && last.is_none_or(|last| *t <= last));
        let Some(first) = within.next() else {
            let [begin, end] = [all().next(), all().next_back()].map(Option::unwrap_or_default);
            return Err(format!(
                "{name} is computed in the steps {begin} to {end} only"
            ));
        };
        let end = within.next_back().unwrap_or(first);
        found.steps = (
            first,
            last.or((end + 1 < steps).then_some(end))
                .map(|last| last.min(end)),
        );
        Ok(())
    }

    fn change(&self, value: &str, of: &Intervention) -> Result<Change, String> {
        let call = value
            .strip_suffix(')')
            .and_then(|call| call.split_once('('));
        match (value, call) {
            ("negate", _) => Ok(Change::Negate),
            (_, Some(("row", row))) => number(row).map(Change::OneHot),
            (_, Some(("swap", both))) => {
                let (one, other) = both
                    .split_once(',')
                    .ok_or("has a swap of other than two; expected swap(3,4)")?;
                Ok(Change::Swap(number(one)?, number(other)?))
            }
            (_, Some(("from", file))) => self.recorded(Path::new(file), of),
            _ => Ok(match numbers(value)? {
                // The rows of a memory in one step, one after another.
                Change::SetEach(rows)
                    if of.array == array::MEMORY
                        && of.steps.1 == Some(of.steps.0)
                        && rows.len() > 1 =>
                {
                    Change::Set(rows.concat())
                }
                change => change,
            }),
        }
    }

    /// The values of the same place in a recorded episode.
    fn recorded(&self, path: &Path, of: &Intervention) -> Result<Change, String> {
        let read = self.read.ok_or("reads a file; expected its values")?;
        let other = read(path)?;
        let name = self.config.array_name(of.place, of.array);
        let series = other
            .trace
            .series(of.place, of.array)
            .filter(|_| other.knows(&name));
        let Some(series) = series else {
            return Err(format!(
                "reads {name}, which {} does not have",
                path.display()
            ));
        };
        if !of.part.is_empty() {
            return Err("takes a part from a file; expected a whole array".to_owned());
        }
        let (first, last) = of.steps;
        let end = last.map_or(self.trace.steps(), |last| last + 1);
        if end > other.trace.steps() {
            return Err(format!(
                "reads steps to {}; {} has {}",
                end - 1,
                path.display(),
                other.trace.steps()
            ));
        }
        let row = |t: usize| match of.array {
            array::MEMORY => other.trace.memory(t + 1).iter().copied().collect(),
            _ => series.row(t).to_vec(),
        };
        Ok(Change::SetEach((first..end).map(row).collect()))
    }
}

/// A number, a list, or a list for each step.
fn numbers(text: &str) -> Result<Change, String> {
    if let Ok(value) = serde_json::from_str::<f32>(text) {
        return Ok(Change::Set(vec![value]));
    }
    if let Ok(values) = serde_json::from_str(text) {
        return Ok(Change::Set(values));
    }
    let all = serde_json::from_str(text).map(Change::SetEach);
    all.map_err(|_| format!("has the value `{}`; expected a number, a list, row(5), swap(3,4), negate or from(FILE)", short(text)))
}

/// Writes an intervention on an episode of this machine as text that reads back as the same.
pub fn text(of: &Intervention, config: &ModelConfig) -> String {
    let (first, last) = of.steps;
    let steps = match last {
        Some(last) if last == first => first.to_string(),
        Some(last) => format!("{first}-{last}"),
        None => format!("{first}-"),
    };
    let layer = match of.place {
        Place::Layer(layer) if config.sizes().layers > 1 => Some(layer..layer + 1),
        _ => None,
    };
    let one = |part: &Range<usize>| match part.len() {
        1 => part.start.to_string(),
        _ => format!("{}:{}", part.start, part.end),
    };
    let part: Vec<String> = layer.iter().chain(&of.part).map(one).collect();
    let part = if part.is_empty() {
        String::new()
    } else {
        format!("[{}]", part.join(","))
    };
    let value = match &of.change {
        Change::Set(values) => match values[..] {
            [value] => value.to_string(),
            _ => file::json(values),
        },
        Change::SetEach(all) => file::json(all),
        Change::OneHot(row) => format!("row({row})"),
        Change::Swap(one, other) => format!("swap({one},{other})"),
        Change::Negate => "negate".to_owned(),
    };
    format!(
        "{steps}:{}{part}={value}",
        config.array_name(of.place, of.array)
    )
}
