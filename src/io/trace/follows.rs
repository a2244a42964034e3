//! Dependencies of the arrays in a trace, as far as its arrays and metadata are known; and the computation of arrays
//! that were not recorded.

use super::form::is_of_a_file;
use super::imported::Imported;
use crate::io::error::short;
use crate::keys::Words as _;
use crate::math::Answer;
use crate::model::{
    Array, Conventions, Dependency, ModelConfig, Place, Scoring, Trace, Turns, UnknownConvention,
    array,
};
use crate::task::{Episode, Task};
use crate::train::{ABSENT, Recording, is_unrecorded, score};

/// The most values of an episode that is made again from its seed.
const LARGEST_EPISODE: usize = 1 << 22;

/// Computes arrays that were not recorded but follow from recorded ones.
pub(super) fn complete(config: &ModelConfig, recording: &mut Recording) {
    let conventions = recording.conventions.clone();
    let rules = config.dependencies(&conventions);
    for rule in &rules {
        let name = config.array_name(rule.place, rule.array);
        // Memories are made when the file is read.
        let is_lost = rule.array != array::MEMORY && !recording.knows(&name);
        if !is_lost || obstacle(config, recording, rule).is_some() {
            continue;
        }
        let lacks_start = lacks_start(&recording.trace, rule).is_some();
        let trace = &mut recording.trace;
        for t in 0..trace.steps() {
            rule.compute(trace, t);
        }
        if let Some(series) = trace
            .series_mut(rule.place, rule.array)
            .filter(|_| lacks_start)
        {
            series.row_mut(0).fill(ABSENT);
            // Arrays that follow from the step before are lost in all steps.
            if series.as_slice().iter().all(|value| value.is_nan()) {
                series.as_mut_slice().fill(ABSENT);
                continue;
            }
        }
        recording.computed.push(name);
    }
    let (knows_logit, knows_output) = (recording.knows("logit"), recording.knows("output"));
    let answer = recording.episode.answer;
    let Trace { logit, output, .. } = &mut recording.trace;
    if knows_logit && !knows_output {
        answer.outputs(logit.as_slice(), logit.width(), output.as_mut_slice());
        recording.computed.push("output".to_owned());
    } else if knows_output && !knows_logit {
        let pairs = logit.as_mut_slice().iter_mut().zip(output.as_slice());
        pairs.for_each(|(z, &y)| *z = logit_of(answer, y));
        recording.computed.push("logit".to_owned());
    }
    if !recording.knows("loss") && loss_obstacle(recording).is_none() {
        recording.loss = Losses::again(recording).loss;
        recording.computed.push("loss".to_owned());
    }
}

/// Returns the logit of an output: of a real value the value itself; of the probability of a bit, infinite for 0 or less and for 1 or more; of a symbol its logarithm,
/// which is one of the logits that have this softmax.
fn logit_of(answer: Answer, probability: f32) -> f32 {
    match probability {
        y if answer.is_real() => y,
        y if y <= 0.0 => f32::NEG_INFINITY,
        y if answer == Answer::Symbols => y.ln(),
        y if y >= 1.0 => f32::INFINITY,
        y => (y / (1.0 - y)).ln(),
    }
}

pub(super) fn is_recorded(recording: &Recording, array: &str) -> bool {
    !recording.absent.iter().any(|absent| absent == array)
}

/// Returns the reason why an array does not follow from the known ones, if any.
fn obstacle(config: &ModelConfig, recording: &Recording, rule: &Dependency<'_>) -> Option<String> {
    let conventions = &recording.conventions;
    match (rule.unknown, &conventions.turns, &conventions.scoring) {
        (Some(UnknownConvention::Turns), Turns::Unknown(words), _)
        | (Some(UnknownConvention::Scoring), _, Scoring::Unknown(words)) => {
            Some(format!("the file says `{}`", short(words)))
        }
        _ => {
            let needs = rule.needs.iter();
            let needs = needs.map(|&(place, array)| config.array_name(place, array));
            absent(recording, needs)
        }
    }
}

/// Describes the needed arrays that are unknown.
fn absent(recording: &Recording, needs: impl IntoIterator<Item = String>) -> Option<String> {
    let absent: Vec<_> = needs
        .into_iter()
        .filter(|name| !recording.knows(name))
        .collect();
    match absent.as_slice() {
        [] => None,
        [one] => Some(format!("{one} is absent")),
        more => Some(format!("{} are absent", more.join(" and "))),
    }
}

/// Returns the dependency of each memory on the one before, if any.
pub(super) fn memory_dependency<'a>(
    config: &'a ModelConfig,
    recording: &Recording,
    conventions: &'a Conventions,
) -> Option<Dependency<'a>> {
    let mut rules = config.dependencies(conventions).into_iter();
    rules.find(|rule| rule.array == array::MEMORY && obstacle(config, recording, rule).is_none())
}

/// Why the loss does not follow from the answer, if it does not.
fn loss_obstacle(recording: &Recording) -> Option<String> {
    let needs = ["output", "target", "mask"].map(str::to_owned);
    let Episode {
        target,
        mask,
        answer,
        ..
    } = &recording.episode;
    let is_bit = |&value: &f32| value == 0.0 || value == 1.0;
    if recording.lacks_target() {
        return Some("the right answer is not known".to_owned());
    }
    absent(recording, needs).or_else(|| {
        if answer.is_real() {
            let is_right = target.iter().all(|value| value.is_finite()) && mask.iter().all(is_bit);
            return (!is_right).then(|| "target is not finite, or mask not 0 or 1".to_owned());
        }
        let bits = target.iter().chain(mask).all(is_bit);
        (!bits).then(|| "target and mask are not all 0 or 1".to_owned())
    })
}

/// The first array with unknown values that the first step of an array depends on.
pub(super) fn lacks_start(trace: &Trace<f32>, rule: &Dependency<'_>) -> Option<(Place, Array)> {
    let mut needs = rule.start.iter().chain(&rule.needs).copied();
    let is_lost = |&(place, array): &(Place, Array)| {
        let series = trace.series(place, array);
        series.is_some_and(|series| array != array::MEMORY && is_unrecorded(series.row(0)))
    };
    needs.find(is_lost)
}

/// Returns the recorded arrays that follow from others, but not from the known ones, and why.
pub(super) fn obstacles(trace: &Imported) -> Vec<(String, String)> {
    let (config, recording) = (&trace.config, &trace.recording);
    let rules = config.dependencies(&recording.conventions).into_iter();
    let found = rules.map(|rule| {
        let name = config.array_name(rule.place, rule.array);
        (name, obstacle(config, recording, &rule))
    });
    let loss = ("loss".to_owned(), loss_obstacle(recording));
    // The remaining rows of a memory that cannot be rebuilt were recorded.
    let some_memory = trace.memories.iter().skip(1).any(|&is_there| is_there);
    found
        .chain([loss])
        .filter(|(array, _)| is_recorded(recording, array) || array == "memory" && some_memory)
        .filter_map(|(array, why)| Some((array, why?)))
        .collect()
}

/// The episode of a seed, made again.
pub(super) enum Again {
    /// An episode of the same length as that of the file.
    Made(Box<Episode>),
    /// The length does not match, and why.
    Unlike(String),
    /// The episode cannot be generated, and why.
    Unknown(String),
}

impl Again {
    /// Returns the metadata of the file.
    pub(super) fn of(trace: &Imported) -> Self {
        let (task, steps) = (&trace.recording.task, trace.recording.episode.steps());
        let channels = task.inputs() + task.outputs() + 1;
        let name = short(task.name());
        let is_known = Task::WORDS.iter().any(|(word, _)| *word == task.name());
        let unknown = match (task, trace.recording.origin) {
            _ if is_of_a_file(&name) => {
                format!("the episodes of the task `{name}` come from a file")
            }
            (Task::External(_), _) if is_known => {
                format!("the file lacks details of the task `{name}`")
            }
            (Task::External(_), _) => format!("the task `{name}` is unknown"),
            _ if task.longest().saturating_mul(channels) > LARGEST_EPISODE => {
                format!("episodes of the task `{name}` may be too large to generate")
            }
            (_, None) => {
                let keys = ["seed", "episode"].into_iter();
                let lacks = keys.filter(|key| trace.says(key).is_empty());
                let lacks: Vec<_> = lacks.map(|key| format!("no task.{key}")).collect();
                format!("the file has {}", lacks.join(" and "))
            }
            (_, Some(drawn)) => {
                let (seed, index) = (drawn.seed, drawn.episode);
                let mut episode = task.episode(seed, index);
                if trace.recording.ending().is_some() {
                    episode = episode.as_long_as(&trace.recording.episode);
                }
                if episode.steps() == steps {
                    return Self::Made(Box::new(episode));
                }
                let other = episode.steps();
                return Self::Unlike(format!(
                    "episode {index} of seed {seed} has {other} steps, not {steps}"
                ));
            }
        };
        Self::Unknown(unknown)
    }
}

/// The loss of every step as it follows from the answer.
pub(super) struct Losses {
    pub(super) loss: Vec<f32>,
    /// Additional tolerance, for the last bits of an output; infinite in steps whose outputs are too coarse.
    pub(super) slack: Vec<f64>,
}

impl Losses {
    /// Recomputes it from the logits, exactly; otherwise from the outputs.
    pub(super) fn again(recording: &Recording) -> Self {
        let Recording { trace, episode, .. } = recording;
        let steps = episode.steps();
        let (mut loss, mut slack) = (vec![0.0; steps], vec![0.0; steps]);
        // A real value is its own logit.
        if is_recorded(recording, "logit") || episode.answer.is_real() {
            score(episode, trace, &mut loss);
            return Self { loss, slack };
        }
        for t in (0..steps).filter(|&t| episode.mask[t] > 0.0) {
            let mut bits = 0.0;
            for (&y, &target) in trace.output.row(t).iter().zip(episode.target.row(t)) {
                let y = f64::from(y);
                let wanted = match episode.answer {
                    _ if target > 0.5 => y,
                    Answer::Bits => 1.0 - y,
                    _ => continue,
                };
                bits -= wanted.log2();
                slack[t] += f64::from(f32::EPSILON) / std::f64::consts::LN_2 / wanted;
            }
            loss[t] = bits as f32;
            if slack[t].is_nan() || slack[t] > 1.0 {
                slack[t] = f64::INFINITY;
            }
        }
        Self { loss, slack }
    }
}
