//! A trial of heads: whether they compute what the labels of their arrays promise. A file may give the labels of the Neural
//! Turing Machine to quantities of its own; then their numbers are others than pictures and provenance would show.

use rand::RngExt;

use super::compiled::Compiled;
use super::familiar::{Familiar, Memory};
use super::labels::is_of_heads;
use super::pool::{Job, Purpose};
use super::quantities::Held;
use super::settings::Settings;
use crate::equations::bind::Bound;
use crate::equations::page::{Key, Page, Word};
use crate::equations::program::Source;
use crate::equations::run::Engine;
use crate::equations::text::Mistake;
use crate::math::random;
use crate::model::array;
use crate::model::attention::Weighting;
use crate::model::config::Order;
use crate::model::dnc;
use crate::model::spec::{Array, Place};

/// The largest size of an axis in a trial.
const MOST: f64 = 5.0;
/// The most numbers of an episode in a trial.
const MOST_NUMBERS: usize = 1 << 22;
/// Steps of a trial.
const STEPS: usize = 4;
/// The largest difference, relative to 1 or to the number.
const TOLERANCE: f64 = 1e-6;

/// A machine file under the choices of a preset, with the heads of other machines where it has such ones.
///
/// # Errors
/// A mistake in the file, or choices that it does not have.
pub(super) fn compiled(file: &str, text: &str, settings: &Settings) -> Result<Compiled, Mistake> {
    let mut compiled = Compiled::new(file, text, settings, true)?;
    if let Some(Memory::Written(_)) = compiled.familiar.as_ref().map(|own| &own.memory) {
        let small = small(settings, &compiled.page);
        let small = small.map(|small| Compiled::new(file, text, &small, true));
        let small = small.transpose()?;
        let order = order(small.as_ref().unwrap_or(&compiled));
        match (order, &mut compiled.familiar) {
            (Ok(order), Some(familiar)) => familiar.set_order(order),
            (differs, _) => {
                compiled = Compiled::new(file, text, settings, false)?;
                compiled.other_head = differs.err();
            }
        }
    }
    Ok(compiled)
}

/// The same choices, and sizes that take no time; none where the sizes of the page take none.
fn small(settings: &Settings, page: &Page) -> Option<Settings> {
    let mut small = settings.clone();
    let sizes = page.keys.iter().filter(|key| key.word == Word::Size);
    for key in sizes.clone() {
        let value = key.value.min(MOST).max(key.range[0]);
        small.numbers.insert(key.name.to_string(), value);
    }
    let is_same = |key: &Key| small.numbers.get(&*key.name) == Some(&key.value);
    (!sizes.clone().all(is_same)).then_some(small)
}

/// The order in which the heads of a file read and write.
///
/// # Errors
/// Which array of a head is another one than its label promises.
fn order(compiled: &Compiled) -> Result<Order, String> {
    let heads = compiled.familiar.as_ref();
    let name =
        |head: usize, array: Array| match head.checked_sub(heads.map_or(0, Familiar::read_heads)) {
            Some(write) => format!("write{write}.{}", array.name),
            None => format!("read{head}.{}", array.name),
        };
    for own in &compiled.quantities {
        if let Place::Head(head) = own.place
            && !is_of_heads(own.array)
        {
            let name = name(head, own.array);
            return Err(format!(
                "{name} is no array of a head of a Neural Turing Machine"
            ));
        }
    }
    let differs = |name: String| format!("{name} is not what its label promises");
    let memory = || differs(array::MEMORY.name.to_owned());
    let heads = heads.ok_or_else(memory)?;
    let trial = Trial::run(compiled).ok_or("its smallest sizes are too large for a trial")?;
    let all = 0..heads.heads.len();
    let mut wrong = all
        .clone()
        .filter_map(|head| Some(name(head, trial.differs(head)?)));
    if let Some(name) = wrong.next() {
        return Err(differs(name));
    }
    let (readers, writers) = (0..heads.read_heads(), heads.read_heads()..all.end);
    // Without heads that write, the file changes the memory as it likes.
    if !writers.is_empty() && !trial.writes(writers.clone(), false) {
        // Heads that act in turn read what stands between.
        let is_turn = trial.writes(writers, true);
        return is_turn.then(|| heads.order()).ok_or_else(memory);
    }
    let reads = |after| readers.clone().all(|head| trial.reads(head, after));
    match [0, 1].map(reads) {
        [true, true] => Ok(heads.order()),
        [true, false] => Ok(Order::ReadFirst),
        [false, true] => Ok(Order::WriteFirst),
        [false, false] => Err(differs(name(0, array::READ))),
    }
}

/// An episode with random weights and a random input.
struct Trial<'a> {
    compiled: &'a Compiled,
    /// The values of each quantity; empty where it has none.
    values: Vec<Series>,
}

/// A row of numbers for each step.
type Series = Vec<Vec<f64>>;

impl<'a> Trial<'a> {
    fn run(compiled: &'a Compiled) -> Option<Self> {
        let job = Job {
            purpose: Purpose::Recording,
            sizes: [STEPS, STEPS],
            own: None,
            channels: [3; 2],
            question: 1,
        };
        let variant = compiled.variant(None);
        let given = |_: &str| Some(STEPS);
        let bound = Bound::new(&compiled.page, &variant.program, &variant.flat, &given).ok()?;
        let bound = Some(bound).filter(|bound| bound.size <= MOST_NUMBERS)?;
        let mut engine = Engine::<f64>::new(bound, &variant.flat, false);
        let mut random = random(1, 0);
        let tensors = engine.bound.tensor_range();
        for value in &mut engine.memory.arena[tensors] {
            *value = random.random_range(-1.0..1.0);
        }
        for (index, series) in compiled.program.series.iter().enumerate() {
            let layout = engine.layout_in(index, 0);
            let arena = &mut engine.memory.arena;
            match series.source {
                Source::Input(_) | Source::Target => layout.each_entry(|at| {
                    arena[at] = f64::from(u8::from(random.random_bool(0.5)));
                }),
                // The means of the noise.
                Source::Noise(noise) if !compiled.page.noises[noise].is_normal => {
                    layout.each_entry(|at| arena[at] = 0.5);
                }
                _ => {}
            }
        }
        for own in &compiled.quantities {
            if let Held::Draw(_) = own.held {
                for at in compiled.places_of(own, &engine, job, 0) {
                    engine.memory.arena[at] = f64::NAN;
                }
            }
        }
        engine.forward();
        let values = compiled.quantities.iter().map(|own| {
            let places = compiled.places_of(own, &engine, job, 0);
            let (_, rows) = own.rows(job.sizes, job.question);
            let width = places.len().checked_div(rows).unwrap_or(0);
            let value = |at: &usize| engine.memory.arena.get(*at).copied().unwrap_or_default();
            let rows = places.chunks(width.max(1));
            rows.map(|row| row.iter().map(value).collect()).collect()
        });
        let values = values.collect();
        Some(Self { compiled, values })
    }

    /// The values of an array, if there is one.
    fn series(&self, place: Place, array: Array) -> Option<&Series> {
        let (at, _) = self.compiled.quantity(place, array)?;
        Some(&self.values[at]).filter(|series| !series.is_empty())
    }

    /// The values of an array of a head in a step.
    fn of_head(&self, head: usize, array: Array, t: usize) -> Option<&[f64]> {
        Some(&self.series(Place::Head(head), array)?[t])
    }

    /// The first array of a head that is not made of those before it as its label promises.
    fn differs(&self, head: usize) -> Option<Array> {
        let heads = self.compiled.familiar.as_ref();
        let weighting = heads.map_or(Weighting::Soft, |own| own.mechanism(head, 0).weighting);
        let has = |array: Array| self.compiled.quantity(Place::Head(head), array).is_some();
        let is_mixed = has(dnc::READ_MODES) || has(dnc::WRITE_GATE);
        let is_plain = !matches!(
            weighting,
            Weighting::LocalMonotonic
                | Weighting::LocalPredictive
                | Weighting::Weibull
                | Weighting::Lognormal
        );
        (0..STEPS).find_map(|t| {
            let own = |array: Array| self.of_head(head, array, t);
            let one = |array: Array| own(array).map(|row| row[0]);
            let weighting = |t: Option<usize>| match t {
                Some(t) => self.of_head(head, array::WEIGHTING, t),
                None => self.of_head(head, array::INITIAL, 0),
            };
            let before = weighting(t.checked_sub(1));
            let content = own(array::CONTENT);
            let found = own(array::SIMILARITY).filter(|_| is_plain);
            let found = found.map(|row| softmax(row, one(array::STRENGTH).unwrap_or(1.0)));
            let gated =
                one(array::GATE)
                    .zip(content.zip(before))
                    .map(|(gate, (content, before))| {
                        let pairs = content.iter().zip(before);
                        let blend = |(c, w): (&f64, &f64)| gate * c + (1.0 - gate) * w;
                        pairs.map(blend).collect::<Vec<_>>()
                    });
            let known_gated = own(array::GATED).or(content);
            let shifted = own(array::SHIFT).zip(known_gated);
            let shifted = shifted.map(|(shift, row)| convolution(row, shift));
            let last = own(array::SHIFTED).or(known_gated);
            let weight = last.filter(|_| !is_mixed);
            let weight = weight.map(|row| sharpened(row, one(array::SHARPENING).unwrap_or(1.0)));
            let chosen = own(array::DISTRIBUTION).or(own(array::WEIGHTING));
            let made = [
                (array::CONTENT, found, content),
                (array::GATED, gated, own(array::GATED)),
                (array::SHIFTED, shifted, own(array::SHIFTED)),
                (array::WEIGHTING, weight, chosen),
            ];
            let mut wrong = made
                .into_iter()
                .filter(|(_, found, wanted)| !agree(found.as_deref(), *wanted));
            // A gate without its result is another gate.
            let is_other = has(array::GATE) && !has(array::GATED) && !is_mixed;
            let other = is_other.then_some(array::GATE);
            other.or_else(|| wrong.next().map(|one| one.0))
        })
    }

    /// The memory after step t: column after column, with t = 0 before the first one.
    fn memory(&self) -> Option<&Series> {
        self.series(Place::Machine, array::MEMORY)
    }

    /// Whether the memory is what was in it, erased and added to by the heads: at once, or in turn.
    fn writes(&self, heads: std::ops::Range<usize>, is_turn: bool) -> bool {
        let Some(memory) = self.memory() else {
            return false;
        };
        (0..STEPS).all(|t| {
            let own = |head: usize, array: Array| self.of_head(head, array, t);
            let mut erased = memory[t].clone();
            let mut added = vec![0.0; erased.len()];
            for head in heads.clone() {
                let Some((weighting, add)) = own(head, array::WEIGHTING).zip(own(head, array::ADD))
                else {
                    return false;
                };
                let erase = own(head, array::ERASE);
                let cells = erased.iter_mut().zip(&mut added).enumerate();
                for (at, (kept, sum)) in cells {
                    let (column, row) = (at / weighting.len(), at % weighting.len());
                    *kept *= 1.0 - weighting[row] * erase.map_or(0.0, |erase| erase[column]);
                    let add = weighting[row] * add[column];
                    *(if is_turn { kept } else { sum }) += add;
                }
            }
            let sums = erased.iter().zip(&added).map(|(kept, sum)| kept + sum);
            agree(Some(&sums.collect::<Vec<_>>()), Some(&memory[t + 1]))
        })
    }

    /// Whether a head reads the sum of the memory rows by their weights, before the step or `after` it (1).
    fn reads(&self, head: usize, after: usize) -> bool {
        let Some(memory) = self.memory() else {
            return false;
        };
        (0..STEPS).all(|t| {
            let own = |array: Array| self.of_head(head, array, t);
            let sum: Option<Vec<f64>> = own(array::WEIGHTING).map(|weighting| {
                let columns = memory[t + after].chunks(weighting.len());
                let sum = |column: &[f64]| column.iter().zip(weighting).map(|(m, w)| m * w).sum();
                columns.map(sum).collect()
            });
            agree(sum.as_deref(), own(array::READ))
        })
    }
}

/// Whether two arrays agree, where there are both.
fn agree(found: Option<&[f64]>, wanted: Option<&[f64]>) -> bool {
    let Some((found, wanted)) = found.zip(wanted) else {
        return true;
    };
    let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= TOLERANCE * b.abs().max(1.0);
    found.len() == wanted.len() && found.iter().zip(wanted).all(is_same)
}

fn softmax(x: &[f64], factor: f64) -> Vec<f64> {
    let most = x.iter().map(|x| factor * x).fold(f64::MIN, f64::max);
    let powers: Vec<f64> = x.iter().map(|x| (factor * x - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// The circular convolution of a weighting with shifts, whose middle one stays.
fn convolution(weighting: &[f64], shift: &[f64]) -> Vec<f64> {
    let (rows, middle) = (weighting.len(), shift.len() / 2);
    let from = |row: usize, offset: usize| (row + rows * shift.len() + middle - offset) % rows;
    let sum = |row| {
        let terms = shift.iter().enumerate();
        terms
            .map(|(offset, s)| s * weighting[from(row, offset)])
            .sum()
    };
    (0..rows).map(sum).collect()
}

fn sharpened(weighting: &[f64], power: f64) -> Vec<f64> {
    if power == 1.0 {
        return weighting.to_vec();
    }
    let powers: Vec<f64> = weighting.iter().map(|w| w.powf(power)).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}
