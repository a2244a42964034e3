//! Verification of a trace: recomputes every array that follows from others, by the rules of its machine.
//! No weights are needed, so it works for a trace of any program.

use std::collections::BTreeSet;
use std::iter;

use serde_json::Value;

use super::compare::{
    Comparison, LEAST, OfSteps, Piece, Side, asked, before, compare, initial, memory, of_step,
    piece, unlike, widths, with_heads,
};
use super::follows::{Again, Losses, is_recorded, lacks_start, obstacles};
use super::form::in_words;
use super::format::{OF_EPISODES, OF_FILES, OF_MACHINES};
use super::imported::{Imported, Source};
use super::write;
use crate::keys::Choice as _;
use crate::math::Series;
use crate::model::sam::{SearchMisses, initial_rows, search_misses};
use crate::model::{
    Array, Dependency, Intervention, Model, ModelConfig, Place, Range, Size, Trace, apply_all,
    array,
};
use crate::task::Episode;
use crate::train::Recording;

/// Tolerance for the range of a parameter and for a sum of shares of 1: roundings of 32 bits.
const SLACK: f64 = 1e-5;

/// The result of verifying a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verified {
    /// The recorded values against those that follow.
    pub comparison: Comparison,
    /// Arrays that were recomputed, if only in part, and compared.
    pub checked: Vec<String>,
    /// Recorded arrays that follow from others and could not be checked, wholly or in part, and why.
    pub unchecked: Vec<(String, String)>,
    /// Recorded arrays that only the weights could check: taken as they are, but for the range of their values.
    pub given: Vec<String>,
    /// Reason why the episode of the seed cannot be generated again, if so, and the recorded arrays of the episode and
    /// its noise that were accepted unchecked.
    pub undrawn: Option<(String, Vec<String>)>,
    /// Contradictions in the file outside its arrays, a line each.
    pub contradictions: Vec<String>,
    /// Fields of the file that nothing was compared with.
    pub declared: Vec<String>,
    /// The rows read that exact search would not have chosen, of a machine with sparse reads whose memory is known.
    pub search_misses: Option<SearchMisses>,
}

/// Result of verifying a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Everything that follows from something does.
    Holds,
    /// Everything that could be checked holds; something could not be checked.
    InPart,
    /// Something does not follow.
    Differs,
    /// No array could be checked.
    Nothing,
}

impl Verified {
    /// Checks the end of the run, and lists the entries about the episode if it was not generated again.
    fn check_declared(&mut self, trace: &Imported, is_generated: bool) {
        let needs = ["logit", "target", "mask"];
        if needs.iter().all(|array| trace.recording.knows(array)) {
            self.contradictions.extend(trace.ends_otherwise());
        } else if !trace.says("ended").is_empty() {
            self.declared.push("ended".to_owned());
        }
        if !is_generated {
            let said = OF_EPISODES.into_iter();
            let said = said.filter(|key| !trace.says(key).is_empty());
            self.declared.extend(said.map(str::to_owned));
        }
    }

    /// All in a word.
    pub fn outcome(&self) -> Outcome {
        if self.comparison.differing > 0 || !self.contradictions.is_empty() {
            Outcome::Differs
        } else if self.comparison.values == 0 {
            Outcome::Nothing
        } else if self.unchecked.is_empty() {
            Outcome::Holds
        } else {
            Outcome::InPart
        }
    }

    /// Number of recorded arrays that follow from others.
    pub fn following(&self) -> usize {
        let unchecked = self.unchecked.iter().map(|(array, _)| array);
        let all: BTreeSet<_> = self.checked.iter().chain(unchecked).collect();
        all.len()
    }

    /// Number of these arrays that were checked completely.
    pub fn whole(&self) -> usize {
        let is_whole = |array: &&String| self.unchecked.iter().all(|(other, _)| other != *array);
        self.checked.iter().filter(is_whole).count()
    }
}

/// Recomputes every array that follows from others, from those, and compares.
///
/// A value may differ by `tolerance`, and one above 1 by this share of it. Of weightings, memories, reads and products it
/// is always a share: of a weighting's own size or of 1/N, of all others of the sum of the magnitudes of their terms.
pub fn verify(trace: &Imported, tolerance: f64) -> Verified {
    let rules = trace.config.dependencies(&trace.recording.conventions);
    with_dependencies(trace, tolerance, &rules)
}

/// [`verify`], of the arrays that these rules make.
fn with_dependencies(trace: &Imported, tolerance: f64, rules: &[Dependency<'_>]) -> Verified {
    let recording = &trace.recording;
    let loss = Losses::again(recording);
    let mut found = Verified {
        unchecked: obstacles(trace),
        declared: trace.unchecked().collect(),
        ..Verified::default()
    };
    let noise = recording.trace.noise();
    let noise = noise.map(|(place, spec, _)| recording.trace.array_name(place, spec));
    let asked = ["input", "target", "mask"].map(str::to_owned).into_iter();
    let asked = asked
        .chain(noise)
        .filter(|array| is_recorded(recording, array));
    let mut episode = None;
    match Again::of(trace) {
        Again::Made(again) => {
            found.contradictions = trace.unlike(&again);
            episode = Some(again);
        }
        Again::Unlike(why) => {
            let arrays = asked.map(|array| (array, why.clone()));
            found.unchecked.extend(arrays);
            found.contradictions.push(format!("task: {why}"));
        }
        Again::Unknown(why) => found.undrawn = Some((why, asked.collect())),
    }
    found.check_declared(trace, episode.is_some());
    let skip = found.unchecked.iter().map(|(array, _)| array.clone());
    let mut check = Check {
        trace,
        recording,
        tolerance,
        rules,
        skip: skip.collect(),
        has_numbers: has_numbers(recording),
        neither: Vec::new(),
        found,
    };
    if let (ModelConfig::Sam(config), None) = (&trace.config, recording.unknown().next()) {
        check.found.search_misses = search_misses(config, &recording.trace);
    }
    check.start();
    let ranges = check.ranges();
    let set = check.set_arrays();
    let follows = check.follows();
    let mut again = recording.trace.clone();
    // Noise is compared where the episode is.
    let draw = recording.origin.filter(|_| episode.is_some());
    let drawn = draw.map(|draw| recording.trace.drawn(draw));
    let noise: Vec<_> = drawn.into_iter().flatten().collect();
    for t in 0..recording.episode.steps() {
        match &episode {
            Some(episode) => check.asked(episode, &noise, t),
            None => check.undrawn(t),
        }
        check.in_range(&ranges, t);
        check.followed(&mut again, &follows, t);
        check.intervened(&mut again, &set, t);
        check.answer(&loss, t);
    }
    check.finish(&loss)
}

/// Runs a machine on the input of a trace and compares every array. `Err`: sizes that differ, a line for each.
///
/// # Errors
/// The trace is of another machine.
pub fn replay(
    trace: &Imported,
    machine: &Model<f32>,
    tolerance: f64,
) -> Result<Comparison, Vec<String>> {
    let (config, recording) = (&trace.config, &trace.recording);
    let on_rows = machine.with_rows(config.rows());
    let machine = on_rows.as_ref().unwrap_or(machine);
    let (steps, source) = (recording.trace.steps(), recording.trace.setting.source);
    let fits = machine.config.fits_episode([steps, source]);
    fits.map_err(|error| vec![format!("model.{error}")])?;
    let [rows, _] = recording.trace.memory_size();
    let own = Trace::of_recording(&machine.config, [steps, source], Some(rows));
    let lines = unlike(widths(&recording.trace), widths(&own));
    let lines = with_heads(lines, trace, &machine.config);
    if !lines.is_empty() {
        return Err(lines);
    }
    let again = recording.again(machine);
    let unknown = || vec!["noise: neither recorded nor determined by a seed".to_owned()];
    let mut again = again.ok_or_else(unknown)?;
    if !recording.knows("target") || !recording.knows("mask") {
        again.absent.push("loss".to_owned());
    }
    let side = Side::of(&again, Some(&machine.config));
    let mut found = compare(Side::from(trace), side, tolerance)?;
    if let Some((of, recorded)) = &trace.gradient {
        let derivatives = again.derivatives(machine, *of);
        let derivatives =
            derivatives.ok_or_else(|| vec![format!("gradient: there is no {of:?}")])?;
        let source = Source {
            config,
            sha256: None,
            full_memory: recorded
                .iter()
                .any(|(array, _)| array.name == "gradient.memory"),
            gradient: Some((*of, &derivatives)),
        };
        found.gradient(recorded, &write::derivatives(&again, &source), tolerance);
    }
    if recording.lacks_target() && !is_recorded(recording, "loss") {
        // There is none.
        found.skipped.retain(|array| array != "loss");
    }
    found.skipped.extend(trace.ignored.iter().cloned());
    Ok(found)
}

/// An array, and the lowest and the highest value that it may have.
type Ranged<'a> = (OfSteps<'a>, [f32; 2]);

/// A recorded array that follows from others, and its name.
struct Follow<'a> {
    rule: &'a Dependency<'a>,
    series: &'a Series<f32>,
    name: String,
}

/// True for a recording with a number in an array of the machine besides the input.
fn has_numbers(recording: &Recording) -> bool {
    let trace = &recording.trace;
    trace.everything().any(|(place, spec, series)| {
        let has_number = || series.as_slice().iter().any(|value| value.is_finite());
        let name = || trace.array_name(place, spec);
        spec != array::INPUT && has_number() && is_recorded(recording, &name())
    })
}

/// A trace on its way to being verified.
struct Check<'a> {
    trace: &'a Imported,
    recording: &'a Recording,
    tolerance: f64,
    rules: &'a [Dependency<'a>],
    /// Arrays that do not follow from the known ones.
    skip: Vec<String>,
    /// True for a file with a number in an array besides the input: one of nothing but NaN says nothing that could be wrong.
    has_numbers: bool,
    /// Arrays with the number of their values that are NaN both as recorded and as computed.
    neither: Vec<(String, u64)>,
    found: Verified,
}

impl<'a> Check<'a> {
    /// True for a recorded array that follows from known ones.
    fn is_checked(&self, array: &str) -> bool {
        is_recorded(self.recording, array) && !self.skip.iter().any(|skipped| skipped == array)
    }

    /// Compares recorded with recomputed values; `size` is the smallest size that a value counts as, `slack` an
    /// additional tolerance.
    fn check(
        &mut self,
        recorded: Piece,
        again: impl IntoIterator<Item = f32>,
        slack: f64,
        size: impl Fn(usize) -> f64,
    ) {
        let array = recorded.array.clone();
        if !self.is_checked(&array) {
            return;
        }
        let (tolerance, comparison) = (self.tolerance, &mut self.found.comparison);
        let before = comparison.values;
        let neither = comparison.walk(recorded, again, |flat, own| {
            tolerance * own.max(size(flat)).max(LEAST) + slack
        });
        comparison.values -= neither;
        if comparison.values > before {
            self.is_compared(&array);
        }
        match self.neither.iter_mut().find(|(name, _)| *name == array) {
            _ if neither == 0 => {}
            Some((_, count)) => *count += neither,
            None => self.neither.push((array, neither)),
        }
    }

    /// Checks the initial state: `memory.initial` is M_0.
    fn start(&mut self) {
        let side = Side::from(self.trace);
        let first = Side {
            initial: None,
            ..side
        };
        let both = initial(side).zip(initial(first));
        if let Some((recorded, again)) = both.filter(|_| side.initial.is_some()) {
            self.check(recorded, again.values, 0.0, |_| 0.0);
        }
        self.beginning(first);
        for rule in self.rules {
            let name = |(place, array)| self.trace.config.array_name(place, array);
            let array = name((rule.place, rule.array));
            let lost = lacks_start(&self.recording.trace, rule);
            if let Some(lost) = lost.filter(|_| self.is_checked(&array)) {
                let why = format!("step 0 needs {}, which is absent", name(lost));
                self.found.unchecked.push((array, why));
            }
        }
    }

    /// Checks the initial memory and weightings against the file.
    fn beginning(&mut self, first: Side<'_>) {
        let imported = self.trace;
        let said = serde_json::from_str::<Value>(imported.says("model.memory.initial"));
        let constant = said.ok().and_then(|said| said["constant"].as_f64());
        let constant = constant.map(|constant| [constant as f32; 2]);
        // A memory with a row for each step has none before the first one.
        let no_row = imported.config.has_row_per_step().then_some([0.0; 2]);
        let constant = constant.or(no_row);
        let one_hot =
            (imported.says("model.heads.initial_weighting") == "one-hot").then_some([1.0, 0.0]);
        let drawn = match &imported.config {
            ModelConfig::Sam(config) => Some(initial_rows(config, &imported.recording.trace)),
            _ => None,
        };
        for recorded in initial(first).into_iter().chain(before(first)) {
            if let Some(drawn) = drawn
                .as_ref()
                .filter(|_| recorded.array == "memory.initial")
            {
                self.check(recorded, drawn.iter().copied(), 0.0, |_| 0.0);
                continue;
            }
            let expected = match recorded.array.as_str() {
                "memory.initial" => constant,
                // Before the first step the read heads of a sparse memory are on row 0.
                array if drawn.is_some() && array.ends_with(".initial") => {
                    Some([f32::from(u8::from(array.starts_with("read"))), 0.0])
                }
                array if array.ends_with(".initial") => one_hot,
                _ => None,
            };
            if let Some([first, others]) = expected {
                let again = iter::once(first).chain(iter::repeat(others));
                self.check(recorded, again, 0.0, |_| 0.0);
            } else if recorded.array != "memory" || !is_recorded(self.recording, "memory.initial") {
                self.within(recorded, Range::Any.ends().into(), 0.0);
            }
        }
    }

    /// The episode is that of its seed, and so is its noise.
    fn asked(&mut self, episode: &Episode, noise: &[Series<f32>], t: usize) {
        let (trace, recorded) = (&self.recording.trace, &self.recording.episode);
        let is_same = recorded.input.row(t) == episode.input.row(t)
            && recorded.target.row(t) == episode.target.row(t)
            && recorded.mask[t] == episode.mask[t];
        if is_same {
            self.equal("input", recorded.input.ncols());
            self.equal("target", recorded.target.ncols());
            self.equal("mask", 1);
        }
        let pieces = (!is_same).then(|| asked(recorded, t).into_iter().zip(asked(episode, t)));
        for (recorded, again) in pieces.into_iter().flatten() {
            self.check(recorded, again.values, 0.0, |_| 1.0);
        }
        // Noise drawn once belongs to the first step.
        let all = trace.noise().zip(noise);
        for (array, drawn) in all.filter(|((_, spec, _), _)| t == 0 || !spec.is_once()) {
            let drawn = drawn.row(t).iter().copied();
            self.check(of_step(trace, array, t), drawn, 0.0, |_| 1.0);
        }
    }

    /// What an episode that is not made again asks for is finite where it is scored.
    fn undrawn(&mut self, t: usize) {
        let recorded = &self.recording.episode;
        let [_, target, mask] = asked(recorded, t);
        if recorded.mask[t] != 0.0 {
            self.within(target, Range::Any.ends().into(), 0.0);
        }
        self.within(mask, Range::Any.ends().into(), 0.0);
    }

    /// The arrays of steps that nothing is compared with, and the ends of the ranges of those that do not follow from
    /// anything.
    fn ranges(&self) -> Vec<Ranged<'a>> {
        let (imported, trace) = (self.trace, &self.recording.trace);
        let ranged = |(place, spec, series): OfSteps<'a>| {
            let name = trace.array_name(place, spec);
            let is_it = |rule: &Dependency<'_>| rule.place == place && rule.array == spec;
            let has_rule = self.rules.iter().any(is_it);
            let follows = has_rule || spec == array::OUTPUT;
            let is_compared = has_rule || is_recorded(self.recording, "logit");
            if follows && is_compared && self.is_checked(&name) {
                return None;
            }
            let activation = || imported.says(&format!("model.heads.{}_activation", spec.name));
            let (low, high) = match () {
                () if follows => Range::Any.ends(),
                () if activation() == "tanh" => (-1.0, 1.0),
                () => spec.ends(trace.setting.answer),
            };
            Some(((place, spec, series), [low, high]))
        };
        trace.of_steps().into_iter().filter_map(ranged).collect()
    }

    /// Checks that arrays without dependencies are within their range, or 0 where there is nothing, that distributions
    /// sum to 1, and that values that nothing is compared with are finite.
    fn in_range(&mut self, ranges: &[Ranged<'_>], t: usize) {
        let (trace, config) = (&self.recording.trace, &self.trace.config);
        for &(array, ends) in ranges {
            let (place, spec, series) = array;
            let row = series.row(spec.row(t));
            let is_undefined = config.is_undefined_step(place, spec, t, trace.setting.source);
            let (ends, tolerance) = if is_undefined {
                ([0.0; 2], self.tolerance)
            } else {
                (ends, self.tolerance.max(SLACK))
            };
            let [low, high] = ends;
            let is_within = |value: &f32| value.is_finite() && (low..=high).contains(value);
            if !row.iter().all(is_within) {
                let piece = match spec {
                    array::MEMORY => memory(Side::from(self.trace), trace, t + 1, Some(t)),
                    _ => Some(of_step(trace, array, t)),
                };
                piece
                    .into_iter()
                    .for_each(|piece| self.within(piece, ends, tolerance));
            }
            if spec.range == Range::Distribution && !is_undefined {
                let sum = [row.iter().sum::<f32>()];
                let error = (f64::from(sum[0]) - 1.0).abs();
                if error.is_finite() && error > tolerance {
                    let piece = piece(trace.array_name(place, spec), t, [], &sum);
                    self.within(piece, [1.0; 2], tolerance);
                }
            }
        }
    }

    /// Checks that the values of a recorded array are finite and between two ends.
    fn within(&mut self, mut recorded: Piece, [low, high]: [f32; 2], tolerance: f64) {
        // A value that is not finite is compared with another such value, so that it differs.
        // The logit of a probability of 0 is infinite.
        let may_be_infinite = recorded.array == "logit";
        let differing = if self.has_numbers {
            f32::INFINITY
        } else {
            f32::NAN
        };
        let nearest = |value: f32| {
            let nearest = value.clamp(low, high);
            match (f64::from(value) - f64::from(nearest)).abs() <= tolerance {
                _ if value.is_nan() => differing,
                _ if value.is_infinite() && !may_be_infinite => f32::NAN,
                true => value,
                false => nearest,
            }
        };
        if recorded.array != "memory" && !is_recorded(self.recording, &recorded.array) {
            return;
        }
        let values: Vec<f32> = recorded.values.collect();
        recorded.values = Box::new(values.clone().into_iter());
        let comparison = &mut self.found.comparison;
        let compared = comparison.values;
        comparison.walk(recorded, values.into_iter().map(nearest), |_, _| 0.0);
        // They do not follow from anything.
        comparison.values = compared;
    }

    /// The arrays of the trace that follow from others.
    fn follows(&self) -> Vec<Follow<'a>> {
        let trace = &self.recording.trace;
        let follow = |rule: &'a Dependency<'a>| {
            let series = trace.series(rule.place, rule.array)?;
            let name = trace.array_name(rule.place, rule.array);
            Some(Follow { rule, series, name })
        };
        self.rules.iter().filter_map(follow).collect()
    }

    /// Recomputes the dependent arrays in order of computation. Each is computed in `again`, which otherwise holds the
    /// recorded values: one wrong number does not make all later ones wrong.
    fn followed(&mut self, again: &mut Trace, follows: &[Follow<'a>], t: usize) {
        let recorded = &self.recording.trace;
        for Follow { rule, series, name } in follows {
            let (place, array) = (rule.place, rule.array);
            let is_lost = || t == 0 && lacks_start(recorded, rule).is_some();
            if array.is_once() && t > 0 || is_lost() {
                continue;
            }
            rule.compute(again, t);
            let row = series.row(rule.row(t));
            let made = again.series_mut(place, array);
            let made = made.map(|made| made.row_mut(rule.row(t)));
            if let Some(made) = made.filter(|made| *made == row) {
                made.copy_from_slice(row);
                if array != array::MEMORY || Side::from(self.trace).has_memory(t + 1) {
                    self.equal(name, row.len());
                }
                continue;
            }
            let terms = match rule.size {
                Size::One => vec![1.0],
                Size::Share => vec![1.0 / series.width() as f32],
                Size::Terms => rule.magnitudes(again, t),
            };
            let (side, is_memory) = (Side::from(self.trace), array == array::MEMORY);
            let [n, m] = recorded.memory_size();
            let size = |at: usize| {
                // Row after row, of what stands column after column.
                let at = if is_memory { at % m * n + at / m } else { at };
                let size = f64::from(terms[at % terms.len()]);
                // An infinite sum gives no tolerance.
                if size.is_finite() { size } else { 0.0 }
            };
            let of = |trace| {
                if is_memory {
                    return memory(side, trace, t + 1, Some(t));
                }
                let series = Trace::series(trace, place, array)?;
                Some(of_step(trace, (place, array, series), t))
            };
            if let Some((recorded, again)) = of(recorded).zip(of(again)) {
                self.check(recorded, again.values, 0.0, size);
            }
            if let Some(made) = again.series_mut(place, array) {
                made.row_mut(rule.row(t)).copy_from_slice(row);
            }
        }
    }

    /// Counts recorded values of an array that are what they are compared with.
    fn equal(&mut self, array: &str, count: usize) {
        if self.is_checked(array) {
            self.found.comparison.values += count as u64;
            self.is_compared(array);
        }
    }

    fn is_compared(&mut self, array: &str) {
        let checked = &mut self.found.checked;
        if !checked.iter().any(|name| name == array) {
            checked.push(array.to_owned());
        }
    }

    /// The arrays without a rule whose values were set, so that the file says what they are.
    fn set_arrays(&self) -> Vec<(Place, Array)> {
        let all = &self.recording.conventions.interventions;
        let mut arrays: Vec<(Place, Array)> = Vec::new();
        for of in all.iter().map(|one| (one.place, one.array)) {
            if !arrays.contains(&of) {
                arrays.push(of);
            }
        }
        arrays.retain(|of| {
            let mut own = all.iter().filter(|one| (one.place, one.array) == *of);
            let follows = self
                .rules
                .iter()
                .any(|rule| (rule.place, rule.array) == *of);
            let name = self.recording.trace.array_name(of.0, of.1);
            !follows && own.all(Intervention::sets) && self.is_checked(&name)
        });
        arrays
    }

    /// Checks values that were set, of these arrays.
    fn intervened(&mut self, again: &mut Trace, arrays: &[(Place, Array)], t: usize) {
        let recorded = &self.recording.trace;
        for &(place, array) in arrays {
            let all = &self.recording.conventions.interventions;
            apply_all(all, again, (place, array), t);
            let piece = |trace| {
                let series = Trace::series(trace, place, array)?;
                Some(of_step(trace, (place, array, series), t))
            };
            if let Some((recorded, again)) = piece(recorded).zip(piece(again)) {
                let (values, compared) = (self.found.comparison.values, &mut self.found.comparison);
                compared.walk(recorded, again.values, |_, _| 0.0);
                // No rule makes them.
                compared.values = values;
            }
        }
    }

    /// The output from the logit, the loss from either.
    fn answer(&mut self, losses: &Losses, t: usize) {
        let Recording { trace, loss, .. } = self.recording;
        if is_recorded(self.recording, "logit") {
            let mut output = vec![0.0; trace.logit.width()];
            let answer = self.recording.episode.answer;
            answer.outputs(trace.logit.row(t), output.len(), &mut output);
            if trace.output.row(t) == output {
                self.equal("output", output.len());
            } else {
                let recorded = piece("output", t, [output.len()], trace.output.row(t));
                self.check(recorded, output, 0.0, |_| 1.0);
            }
        }
        let slack = losses.slack[t];
        if loss[t] == losses.loss[t] && slack.is_finite() {
            self.equal("loss", 1);
        } else if slack.is_finite() {
            let recorded = piece("loss", t, [], &loss[t..=t]);
            self.check(recorded, [losses.loss[t]], slack, |_| 1.0);
        }
    }

    /// Returns the result after all steps.
    fn finish(mut self, losses: &Losses) -> Verified {
        for (array, count) in std::mem::take(&mut self.neither) {
            let why = format!("{count} values are NaN, and so are their inputs");
            self.found.unchecked.push((array, why));
        }
        let steps = losses.slack.iter().filter(|slack| slack.is_infinite());
        let steps = steps.count();
        if steps > 0 && self.is_checked("loss") {
            let why = format!(
                "in {steps} steps an output near 0 or 1 is not precise enough; logit would be"
            );
            self.found.unchecked.push(("loss".to_owned(), why));
        }
        let names = write::names(self.recording).into_iter();
        let is_given = |name: &String| {
            let cannot = self.found.unchecked.iter().any(|(array, _)| array == name);
            let undrawn = self.found.undrawn.as_ref();
            let is_undrawn = undrawn.is_some_and(|(_, arrays)| arrays.contains(name));
            let is_told = cannot || is_undrawn || self.found.checked.contains(name);
            name != "memory" && !is_told
        };
        let gradient = self.trace.gradient.as_ref().map(|_| "gradient".to_owned());
        self.found.given = names.filter(is_given).chain(gradient).collect();
        self.found
    }
}

impl Imported {
    /// Differences between the episode in the file and the one that its seed gives, one line each.
    fn unlike(&self, again: &Episode) -> Vec<String> {
        let size = self.recording.task.size_name();
        let expected = |key| match key {
            "phases" => in_words(&again.phases),
            "answer" => again.answer.word().to_owned(),
            "repeats" => again.repeats.to_string(),
            _ if key == size => again.size.to_string(),
            _ => "none".to_owned(),
        };
        let said = OF_EPISODES.map(|key| (key, self.says(key).to_owned()));
        unlike(said, OF_EPISODES.map(|key| (key, expected(key))))
    }

    /// Difference between the end of the run in the file and the one that its answers give, as a line.
    fn ends_otherwise(&self) -> Vec<String> {
        let ending = self.recording.ending();
        let ending = ending.map_or("none", |ending| ending.word());
        let said = |word: &str| [("ended", word.to_owned())];
        unlike(said(self.says("ended")), said(ending))
    }

    /// Returns the metadata that nothing was compared with: keys, and arrays that were not read.
    fn unchecked(&self) -> impl Iterator<Item = String> {
        let has_noise = self.recording.trace.noise().next().is_some();
        let is_open = move |key: &str| match (key, self.says(key)) {
            (_, "") => false,
            ("sample", said) => said != "0" && !has_noise,
            // A constant, and weightings on one row, are compared with the arrays.
            ("model.memory.initial" | "model.heads.initial_weighting", said) => said == "learned",
            _ => true,
        };
        let keys = OF_FILES.into_iter().chain(OF_MACHINES);
        let keys = keys.filter(move |key| is_open(key));
        let others = self.ignored.iter().chain(&self.not_given);
        keys.map(str::to_owned).chain(others.cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{from_json, write_to};
    use super::*;
    use crate::io::Experiment;
    use crate::model::Place;

    const COPY: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
        "model": {"memory": {"rows": 5, "columns": 3}, "controller": {"size": 4}}}"#;
    const PLAIN: &str = r#"{"task": {"kind": "copy", "bits": 2, "length": [3, 3]},
        "model": {"kind": "equations", "file": "plain.machine", "sizes": {"units": 4}}}"#;

    fn recorded(preset: &str) -> Imported {
        let experiment = Experiment::from_json(preset, "tiny.json", &[]).unwrap();
        let machine = Model::new(experiment.model, 3);
        let source = Source {
            config: &machine.config,
            sha256: None,
            full_memory: false,
            gradient: None,
        };
        let mut text = Vec::new();
        let recording = Recording::new(&machine, &experiment.task, 7, 2);
        write_to(&mut text, &recording, &source).unwrap();
        from_json(std::str::from_utf8(&text).unwrap(), "t").unwrap()
    }

    #[test]
    fn a_rule_that_no_machine_implements_does_not_hold() {
        let layer = Place::Layer(0);
        for (preset, place, array) in [
            (COPY, Place::Head(0), array::KEY),
            (COPY, Place::Head(1), array::ADD),
            (COPY, layer, array::CELL),
            (PLAIN, layer, array::HIDDEN),
        ] {
            let trace = recorded(preset);
            assert_eq!(verify(&trace, 0.0).outcome(), Outcome::Holds);
            for size in [Size::One, Size::Share, Size::Terms] {
                let rules = [Dependency::new(place, array, Vec::new(), size, |_, _| ())];
                let found = with_dependencies(&trace, 1e-5, &rules);
                assert_eq!(found.outcome(), Outcome::Differs, "{}", array.name);
                assert!(found.comparison.first.unwrap().array.ends_with(array.name));
            }
        }
    }
}
