//! Lesions: what a part of a trained machine contributes, by removing it without training again. (An ablation trains
//! without it.)

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use rand::RngExt;

use super::population::Population;
use crate::math::{Random, random};
use crate::model::{Array, Change, Intervention, Model, Place, Trace, array, split_head};
use crate::train::{Evaluation, Recording, Score};

/// Standard deviations of noise, in units of the root mean square of the values.
const NOISE: [f32; 4] = [0.03, 0.1, 0.3, 1.0];
/// The number of groups of memory rows.
const GROUPS: usize = 8;

/// A change of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesion {
    /// The part: a head, a stage, rows, or what noise is added to; `whole` for the machine as it is.
    pub part: String,
    /// The change in words.
    pub what: String,
    /// The interventions, in every step; none for noise.
    pub changes: Vec<Intervention>,
    /// The standard deviation of the noise on these arrays; without arrays on the weights.
    noise: Option<(f32, Vec<(Place, Array)>)>,
    /// The tensor that is set to 0.
    tensor: Option<String>,
}

/// The scores of a machine with a lesion.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The lesion.
    pub lesion: Lesion,
    /// The means over all episodes.
    pub mean: Evaluation,
    /// The episode that lost most, by its index.
    pub worst: u64,
}

/// The arrays that noise is added to, all of this name, and what they are called; without a name the weights.
const NOISY: [(&str, &str); 4] = [
    ("memory", "memory"),
    ("key", "keys"),
    ("weighting", "weightings"),
    ("", "weights"),
];

/// The stages of a head that a lesion removes: the array that is changed, to what, and what that means.
const STAGES: [(&str, f32, &str); 15] = [
    ("strength", 0.0, "content the same for all rows"),
    ("key", 0.0, "no key"),
    ("gate", 0.0, "no content"),
    ("gate", 1.0, "no location"),
    ("sharpening", 1.0, "no sharpening"),
    ("erase", 0.0, "no erase"),
    ("add", 0.0, "no add"),
    ("read", 0.0, "reads nothing"),
    // Differentiable Neural Computer and sparse access memory.
    ("free_gate", 0.0, "frees no row"),
    ("allocation_gate", 0.0, "no allocation"),
    ("forward", 0.0, "no forward links"),
    ("backward", 0.0, "no backward links"),
    ("write_gate", 0.0, "writes nothing"),
    ("interpolation_gate", 0.0, "never writes where it read"),
    ("interpolation_gate", 1.0, "never writes to the oldest row"),
];

impl Lesion {
    /// Creates a lesion of these interventions.
    pub fn new(
        part: impl Into<String>,
        what: impl Into<String>,
        changes: impl IntoIterator<Item = Intervention>,
    ) -> Self {
        Self {
            part: part.into(),
            what: what.into(),
            changes: changes.into_iter().collect(),
            noise: None,
            tensor: None,
        }
    }
}

/// An intervention in every step.
fn always(
    (place, array): (Place, Array),
    part: Option<Range<usize>>,
    change: Change,
) -> Intervention {
    Intervention {
        steps: (0, None),
        place,
        array,
        part: part.into_iter().collect(),
        change,
    }
}

/// The lesions of a machine: of each head and stage, of groups of memory rows, and growing noise.
pub fn lesions(machine: &Model<f32>) -> Vec<Lesion> {
    let (config, all) = (&machine.config, machine.changeable());
    let set = |of, value| always(of, None, Change::Set(vec![value]));
    let mut found = vec![Lesion::new("whole", "", [])];
    for head in 0..config.heads() {
        let (place, name) = (Place::Head(head), &config.head_name(head));
        let arrays = all.iter().copied().filter(|(at, _)| *at == place);
        let arrays: Vec<_> = arrays.collect();
        let named = |name| arrays.iter().copied().find(|(_, of)| of.name == name);
        let stages = STAGES.into_iter().filter_map(|(array, value, what)| {
            Some(Lesion::new(name, what, [set(named(array)?, value)]))
        });
        found.extend(stages);
        found.extend(named("shift").map(|of| {
            let middle = Change::OneHot(config.width(place, of.1) / 2);
            Lesion::new(name, "no shift", [always(of, None, middle)])
        }));
        let without_gate = named("erase").filter(|_| named("write_gate").is_none());
        found.extend(without_gate.zip(named("add")).map(|(erase, add)| {
            let nothing = [erase, add].map(|of| set(of, 0.0));
            Lesion::new(name, "writes nothing", nothing)
        }));
    }
    found.extend(of_file(machine, &all));
    let memory = (Place::Machine, array::MEMORY);
    if all.contains(&memory) && !config.has_row_per_step() {
        let rows = config.rows();
        let groups = GROUPS.min(rows);
        found.extend((0..groups).map(|group| {
            let part = group * rows / groups..(group + 1) * rows / groups;
            let name = format!("rows {} to {}", part.start, part.end - 1);
            let change = always(memory, Some(part), Change::Set(vec![0.0]));
            Lesion::new(name, "set to 0", [change])
        }));
    }
    for (array, part) in NOISY {
        // In a machine file the array of a head has the name of the head.
        let is_it = |of: &str| of.rsplit_once('.').map_or(of, |(_, own)| own) == array;
        let named = all.iter().copied().filter(|(_, of)| is_it(of.name));
        let arrays: Vec<_> = named.collect();
        let is_there = array.is_empty() || !arrays.is_empty();
        found.extend(NOISE.into_iter().filter(|_| is_there).map(|noise| Lesion {
            noise: Some((noise, arrays.clone())),
            ..Lesion::new(part, format!("noise {noise}"), [])
        }));
    }
    found
}

/// The lesions of a machine file: of each statement, head and tensor.
fn of_file(machine: &Model<f32>, all: &[(Place, Array)]) -> Vec<Lesion> {
    if !machine.config.is_recorded_apart() {
        return Vec::new();
    }
    let set = |of: (Place, Array)| always(of, None, Change::Set(vec![0.0]));
    let head = |(place, of): &(Place, Array)| {
        if let Place::Head(head) = place {
            return Some(machine.config.head_name(*head));
        }
        let [kind, number, _] = split_head(of.name)?;
        Some(format!("{kind}{number}"))
    };
    let computed = || all.iter().filter(|(_, of)| *of != array::LOGIT);
    let statement = |own: &(Place, Array)| match own {
        (Place::Head(_), of) => {
            let what = format!("{} set to 0", of.name);
            Lesion::new(head(own).unwrap_or_default(), what, [set(*own)])
        }
        (_, of) => Lesion::new(of.name, "set to 0", [set(*own)]),
    };
    // Some are among the stages of heads.
    let is_stage = |own: &(Place, Array)| {
        let mut stages = STAGES.iter();
        matches!(own.0, Place::Head(_))
            && stages.any(|stage| (stage.0, stage.1) == (own.1.name, 0.0))
    };
    let statements = computed().filter(|own| !is_stage(own)).map(statement);
    let heads: BTreeSet<String> = computed().filter_map(head).collect();
    let heads = heads.into_iter().map(|name| {
        let arrays = computed().filter(|own| head(own).as_ref() == Some(&name));
        let arrays: Vec<_> = arrays.map(|of| set(*of)).collect();
        Lesion::new(name, "all of it set to 0", arrays)
    });
    let tensors = machine.params.shape().named().map(|(name, _)| Lesion {
        tensor: Some(name.clone()),
        ..Lesion::new(name, "tensor set to 0", [])
    });
    statements.chain(heads).chain(tensors).collect()
}

/// Noise with mean 0 and this standard deviation, uniformly distributed, on values that stay at least `least`.
fn add_noise<'a>(
    values: impl IntoIterator<Item = &'a mut f32>,
    sigma: f32,
    least: f32,
    stream: &mut Random,
) {
    for value in values {
        let uniform: f32 = stream.random();
        *value = (*value + sigma * 3.0_f32.sqrt() * (2.0 * uniform - 1.0)).max(least);
    }
}

/// The root mean square.
fn size<'a>(values: impl Iterator<Item = &'a f32>) -> f32 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), x| (sum + x * x, count + 1));
    (sum / count.max(1) as f32).sqrt()
}

impl Lesion {
    /// The episode with this lesion.
    pub fn record(&self, machine: &Model<f32>, whole: &Recording) -> Option<Recording> {
        if let Some(tensor) = &self.tensor {
            let mut without = machine.clone();
            without.params.change(|name, mut own| {
                if name == tensor {
                    own.fill(0.0);
                }
            });
            return whole.with(&without, &[]);
        }
        let Some((sigma, arrays)) = &self.noise else {
            return whole.with(machine, &self.changes);
        };
        let draw = whole.origin.unwrap_or_default();
        let mut stream = random(!draw.seed, draw.episode);
        if arrays.is_empty() {
            let mut noisy = machine.clone();
            noisy.params.change(|_, mut tensor| {
                let size = size(tensor.iter());
                add_noise(&mut tensor, sigma * size, f32::NEG_INFINITY, &mut stream);
            });
            return whole.with(&noisy, &[]);
        }
        let sizes = arrays.iter().map(|(place, array)| {
            whole
                .trace
                .series(*place, array)
                .map_or(0.0, |series| size(series.as_slice().iter()))
        });
        let sizes: Vec<f32> = sizes.collect();
        let changed = |trace: &mut Trace<f32>, place: Place, array: Array, t: usize| {
            let index = arrays.iter().position(|of| *of == (place, array));
            if let Some((index, series)) = index.zip(trace.series_mut(place, array)) {
                let row = series.row_mut(array.row(t));
                let sum: f32 = row.iter().sum();
                let (sigma, least) = (sigma * sizes[index], array.range.ends().0);
                add_noise(&mut *row, sigma, least, &mut stream);
                // Shares of more than the whole would grow from step to step in links and usage, beyond all numbers.
                let is_weighting = array.name.rsplit('.').next() == Some("weighting");
                if is_weighting && sum > 0.0 {
                    let share = sum / row.iter().sum::<f32>().max(f32::MIN_POSITIVE);
                    row.iter_mut().for_each(|weight| *weight *= share);
                }
            }
        };
        whole.with_changes(machine, changed)
    }
}

/// The scores of an episode with each of these lesions, in their order.
pub fn scores(lesions: &[Lesion], machine: &Model<f32>, whole: &Recording) -> Vec<Score> {
    let with = |lesion: &Lesion| lesion.record(machine, whole);
    // The noise of an episode of this program is known.
    let score = |lesion| with(lesion).map_or(whole.score, |recording| recording.score);
    lesions.iter().map(score).collect()
}

/// What each of these lesions leaves of a machine, by the scores of every episode, the first of which has this index: the
/// whole machine, then the others by their bits.
pub fn effects(lesions: Vec<Lesion>, first: u64, all: &[Vec<Score>]) -> Vec<Effect> {
    let effect = |(place, lesion): (usize, Lesion)| {
        let of_it: Vec<Score> = all.iter().map(|scores| scores[place]).collect();
        let worst = (first..).zip(&of_it);
        let worst = worst.max_by(|(_, a), (_, b)| a.bits.total_cmp(&b.bits));
        Effect {
            lesion,
            mean: Evaluation::of(&of_it),
            worst: worst.map_or(first, |(episode, _)| episode),
        }
    };
    let mut effects: Vec<_> = lesions.into_iter().enumerate().map(effect).collect();
    let bits = |effect: &Effect| effect.mean.bits_per_sequence;
    if let Some(others) = effects.get_mut(1..) {
        others.sort_by(|a, b| bits(b).total_cmp(&bits(a)));
    }
    effects
}

impl Population<'_> {
    /// What each of these lesions, the first of which is none, leaves of the machine; see [`effects`].
    pub fn lesions(&self, lesions: Vec<Lesion>) -> Vec<Effect> {
        let never = AtomicBool::new(false);
        let scores = |whole: &Recording| scores(&lesions, self.machine, whole);
        let all = self.each(&never, scores).unwrap_or_default();
        effects(lesions, self.first.episode, &all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DncConfig, Draw, EquationsConfig, ModelConfig, NtmConfig};
    use crate::task::{Copy, Task, Transduce};

    fn measured(machine: &Model<f32>, task: &Task, threads: usize) -> Vec<Effect> {
        let first = Draw::of(3, 5);
        let all = Population {
            machine,
            task,
            first,
            episodes: 4,
            threads,
        };
        all.lesions(lesions(machine))
    }

    #[test]
    fn effects_do_not_depend_on_threads_and_the_first_is_the_whole_machine() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 2..=4,
        });
        let mut ntm = NtmConfig::new(task.inputs(), task.outputs());
        (ntm.rows, ntm.read_heads) = (12, 2);
        let channels = [task.inputs(), task.outputs()];
        let plain = EquationsConfig::included("plain", channels, &[("units", "9")]).unwrap();
        for config in [ModelConfig::from(ntm), plain.into()] {
            let machine = Model::new(config, 4);
            let effects = measured(&machine, &task, 1);
            assert_eq!(effects, measured(&machine, &task, 3));
            let bits = (5..9).map(|index| Recording::new(&machine, &task, 3, index).score.bits);
            let mean = bits.sum::<f64>() / 4.0;
            assert!((effects[0].mean.bits_per_sequence - mean).abs() < 1e-9);
        }
    }

    #[test]
    fn every_head_has_its_stages_and_noise_grows() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 3..=3,
        });
        let machine = Model::new(NtmConfig::new(task.inputs(), task.outputs()), 4);
        let all = lesions(&machine);
        let of = |part: &str| all.iter().filter(|lesion| lesion.part == part).count();
        assert_eq!(
            (of("read0"), of("write0"), of("weights")),
            (7, 9, NOISE.len())
        );
        let whole = Recording::new(&machine, &task, 3, 0);
        let distance = |lesion: &Lesion| -> f32 {
            let other = lesion.record(&machine, &whole).unwrap();
            let pairs = other
                .trace
                .logit
                .as_slice()
                .iter()
                .zip(whole.trace.logit.as_slice());
            pairs.map(|(a, b)| (a - b).abs()).sum()
        };
        for part in ["memory", "keys", "weightings", "weights"] {
            let noisy: Vec<f32> = all
                .iter()
                .filter(|one| one.part == part)
                .map(distance)
                .collect();
            assert!(
                0.0 < noisy[0] && noisy[0] < noisy[NOISE.len() - 1],
                "{part} {noisy:?}"
            );
        }
        let nothing = all.iter().find(|one| one.what == "reads nothing").unwrap();
        let read = nothing.record(&machine, &whole).unwrap().trace.heads[0]
            .read
            .clone();
        assert!(read.as_slice().iter().all(|value| *value == 0.0));
    }

    #[test]
    fn noise_keeps_the_sum_of_a_weighting_and_all_numbers_finite() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 20..=20,
        });
        let mut config = DncConfig::new(task.inputs(), task.outputs());
        config.rows = 64;
        let machine = Model::new(config, 4);
        let whole = Recording::new(&machine, &task, 3, 0);
        for lesion in lesions(&machine) {
            let Trace { heads, logit, .. } = lesion.record(&machine, &whole).unwrap().trace;
            let is_finite = logit.as_slice().iter().all(|value| value.is_finite());
            assert!(is_finite, "{} {}", lesion.part, lesion.what);
            for weighting in heads.iter().map(|head| &head.weighting) {
                let sums = (0..weighting.steps()).map(|t| weighting.row(t).iter().sum::<f32>());
                assert!(sums.fold(0.0, f32::max) < 1.0001, "{}", lesion.part);
            }
        }
    }

    #[test]
    fn a_machine_with_a_source_has_lesions_of_its_reader() {
        let task = Task::Transduce(Transduce::DEFAULT);
        let channels = [task.inputs(), task.outputs()];
        let machine = EquationsConfig::included("bahdanau", channels, &[]).unwrap();
        let machine = Model::new(machine, 4);
        let effects = measured(&machine, &task, 2);
        let parts: Vec<&str> = effects
            .iter()
            .map(|effect| effect.lesion.part.as_str())
            .collect();
        assert!(
            parts.contains(&"read0") && parts.contains(&"weightings"),
            "{parts:?}"
        );
    }
}
