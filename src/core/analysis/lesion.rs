//! Lesions: what a part of a trained machine contributes, by removing it without training again. (An ablation trains
//! without it.)

use std::sync::atomic::AtomicBool;

use rand::RngExt;

use super::population::Population;
use crate::math::{Random, random};
use crate::model::{Array, Change, Intervention, Model, Place, Trace, array};
use crate::train::{Evaluation, Recording, Score};

/// Standard deviations of noise, in units of the root mean square of the values.
const NOISE: [f32; 4] = [0.03, 0.1, 0.3, 1.0];
/// The number of groups of memory rows.
const GROUPS: usize = 8;

/// What is done to a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesion {
    /// The part: a head, a stage, rows, or what noise is added to; `whole` for the machine as it is.
    pub part: String,
    /// What is done to it.
    pub what: String,
    /// The interventions, in every step; none for noise.
    pub changes: Vec<Intervention>,
    /// The standard deviation of the noise on these arrays; without arrays on the weights.
    noise: Option<(f32, Vec<(Place, Array)>)>,
}

/// What is left of a machine with a lesion.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The lesion.
    pub lesion: Lesion,
    /// The means over all episodes.
    pub mean: Evaluation,
    /// The episode that lost most, by its index.
    pub worst: u64,
}

/// The stages of a head that a lesion removes: the array that is changed, to what, and what that means.
const STAGES: [(&str, f32, &str); 8] = [
    ("strength", 0.0, "content the same for all rows"),
    ("key", 0.0, "no key"),
    ("gate", 0.0, "no content"),
    ("gate", 1.0, "no location"),
    ("sharpening", 1.0, "no sharpening"),
    ("erase", 0.0, "no erase"),
    ("add", 0.0, "no add"),
    ("read", 0.0, "reads nothing"),
];

/// The lesions of a machine: of each head and stage, of groups of memory rows, and growing noise.
pub fn lesions(machine: &Model<f32>) -> Vec<Lesion> {
    let (config, all) = (&machine.config, machine.changeable());
    let change = |(place, array): (Place, Array), part, change| Intervention {
        steps: (0, None),
        place,
        array,
        part,
        change,
    };
    let lesion = |part: String, what: &str, changes| Lesion {
        part,
        what: what.to_owned(),
        changes,
        noise: None,
    };
    let mut found = vec![lesion("whole".to_owned(), "", Vec::new())];
    for head in 0..config.heads() {
        let (place, name) = (Place::Head(head), config.head_name(head));
        let own = |name: &str| {
            all.iter()
                .copied()
                .find(|(at, array)| *at == place && array.name == name)
        };
        for (array, value, what) in STAGES {
            let changes =
                own(array).map(|of| vec![change(of, Vec::new(), Change::Set(vec![value]))]);
            found.extend(changes.map(|changes| lesion(name.clone(), what, changes)));
        }
        if let Some(of) = own("shift") {
            let middle = config.width(place, of.1) / 2;
            found.push(lesion(
                name.clone(),
                "no shift",
                vec![change(of, Vec::new(), Change::OneHot(middle))],
            ));
        }
        if let (Some(erase), Some(add)) = (own("erase"), own("add")) {
            let nothing = [erase, add].map(|of| change(of, Vec::new(), Change::Set(vec![0.0])));
            found.push(lesion(name.clone(), "writes nothing", nothing.to_vec()));
        }
    }
    let memory = (Place::Machine, array::MEMORY);
    if all.contains(&memory) && !config.has_row_per_step() {
        let rows = config.rows();
        let groups = GROUPS.min(rows);
        for group in 0..groups {
            let part = group * rows / groups..(group + 1) * rows / groups;
            let name = format!("rows {} to {}", part.start, part.end - 1);
            found.push(lesion(
                name,
                "set to 0",
                vec![change(memory, vec![part], Change::Set(vec![0.0]))],
            ));
        }
    }
    let noisy = [
        ("memory", "memory"),
        ("key", "keys"),
        ("weighting", "weightings"),
        ("", "weights"),
    ];
    for (array, part) in noisy {
        let arrays: Vec<_> = all
            .iter()
            .copied()
            .filter(|(_, of)| of.name == array)
            .collect();
        for noise in NOISE
            .into_iter()
            .filter(|_| array.is_empty() || !arrays.is_empty())
        {
            let noisy = Some((noise, arrays.clone()));
            found.push(Lesion {
                noise: noisy,
                ..lesion(part.to_owned(), &format!("noise {noise}"), Vec::new())
            });
        }
    }
    found
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
        let Some((sigma, arrays)) = &self.noise else {
            return whole.with(machine, &self.changes);
        };
        let draw = whole.origin.unwrap_or_default();
        let mut stream = random(!draw.seed, draw.episode);
        if arrays.is_empty() {
            let mut noisy = machine.clone();
            for (_, mut tensor) in noisy.params.named_mut() {
                let size = size(tensor.iter());
                add_noise(&mut tensor, sigma * size, f32::NEG_INFINITY, &mut stream);
            }
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
                let row = series.row_mut(t + usize::from(array == array::MEMORY));
                add_noise(row, sigma * sizes[index], array.range.ends().0, &mut stream);
            }
        };
        whole.with_changes(machine, changed)
    }
}

impl Population<'_> {
    /// What each of these lesions leaves of the machine, in their order.
    pub fn lesions(&self, lesions: &[Lesion]) -> Vec<Effect> {
        let never = AtomicBool::new(false);
        let scores = |whole: &Recording| -> Vec<Score> {
            let with = |lesion: &Lesion| lesion.record(self.machine, whole);
            // The noise of an episode of this program is known.
            let score = |lesion| with(lesion).map_or(whole.score, |recording| recording.score);
            lesions.iter().map(score).collect()
        };
        let all = self.each(&never, scores).unwrap_or_default();
        let effect = |(index, lesion): (usize, &Lesion)| {
            let of_it: Vec<Score> = all.iter().map(|scores| scores[index]).collect();
            let worst = (self.first.episode..).zip(&of_it);
            let worst = worst.max_by(|(_, a), (_, b)| a.bits.total_cmp(&b.bits));
            Effect {
                lesion: lesion.clone(),
                mean: Evaluation::of(&of_it),
                worst: worst.map_or(self.first.episode, |(episode, _)| episode),
            }
        };
        lesions.iter().enumerate().map(effect).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BahdanauConfig, Draw, ModelConfig, NtmConfig, PlainConfig};
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
        all.lesions(&lesions(machine))
    }

    #[test]
    fn effects_do_not_depend_on_threads_and_the_first_is_the_whole_machine() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 2..=4,
        });
        let mut ntm = NtmConfig::new(task.inputs(), task.outputs());
        (ntm.rows, ntm.read_heads) = (12, 2);
        for config in [
            ModelConfig::from(ntm),
            PlainConfig::new(task.inputs(), task.outputs()).into(),
        ] {
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
    fn a_machine_with_a_source_has_lesions_of_its_reader() {
        let task = Task::Transduce(Transduce::DEFAULT);
        let machine = Model::new(BahdanauConfig::new(task.inputs(), task.outputs()), 4);
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
