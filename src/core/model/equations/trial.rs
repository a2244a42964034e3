//! A trial of heads: whether they compute what the labels of their arrays promise. A file may give the labels of the Neural
//! Turing Machine to quantities of its own; then their numbers are others than pictures and provenance would show.

use std::sync::Arc;

use rand::RngExt;

use super::compiled::Compiled;
use super::familiar::{Familiar, Memory};
use super::labels::{is_built_in, is_of_heads};
use super::pool::{Job, Purpose};
use super::quantities::Held;
use super::settings::Settings;
use crate::equations::bind::Bound;
use crate::equations::page::{Page, Word};
use crate::equations::program::{Axis, Source};
use crate::equations::run::Engine;
use crate::equations::text::Mistake;
use crate::math::random;
use crate::model::array;
use crate::model::attention::Weighting;
use crate::model::config::Order;
use crate::model::dependency::{Conventions, Dependency, Turns};
use crate::model::dnc;
use crate::model::kind::Kind;
use crate::model::recompute::Rules;
use crate::model::spec::{Array, Place, head_name};
use crate::model::stage::Stage;
use crate::model::trace::Trace;

/// The largest size of an axis in a trial.
const MOST: f64 = 5.0;
/// The most numbers of an episode in a trial.
const MOST_NUMBERS: usize = 1 << 22;
/// Steps of a trial.
const STEPS: usize = 4;
/// The largest difference, relative to 1 or to the number.
const TOLERANCE: f64 = 1e-6;

/// Arrays of a head that are there only with others: pictures explain the first by these.
const TOGETHER: [(Array, &[Array]); 6] = [
    (array::GATE, &[array::GATED]),
    (array::GATED, &[array::GATE, array::CONTENT]),
    (array::SHIFTED, &[array::SHIFT]),
    (
        dnc::READ_MODES,
        &[dnc::BACKWARD, dnc::FORWARD, array::CONTENT],
    ),
    (dnc::ALLOCATION_GATE, &[dnc::ALLOCATION, array::CONTENT]),
    (dnc::ALLOCATION, &[dnc::USAGE]),
];

/// A machine file under the choices of a preset, with the heads of other machines where it has such ones; `in_trial` makes
/// the machine of episodes with a number of steps.
///
/// # Errors
/// A mistake in the file, or choices that it does not have.
pub(super) fn compiled<K: Kind + 'static>(
    file: &str,
    text: &str,
    settings: &Settings,
    in_trial: fn(&Arc<Compiled>, usize) -> K,
) -> Result<Arc<Compiled>, Mistake> {
    let mut compiled = Arc::new(Compiled::new(file, text, settings, true)?);
    let heads = compiled.familiar.as_ref();
    if let Some(Memory::Written(_)) = heads.map(|own| &own.memory) {
        let small = small(settings, &compiled.page);
        let small = small.and_then(|small| Compiled::new(file, text, &small, true).ok());
        let small = small.map(Arc::new);
        let order = misfit(&compiled).map_or_else(
            || {
                let compiled = small.as_ref().unwrap_or(&compiled);
                order(compiled, &in_trial(compiled, STEPS))
            },
            |name| Err(differs(&name)),
        );
        let familiar = Arc::get_mut(&mut compiled).and_then(|own| own.familiar.as_mut());
        match (order, familiar) {
            (Ok(order), Some(familiar)) => familiar.set_order(order),
            (result, _) => {
                let mut other = Compiled::new(file, text, settings, false)?;
                other.other_head = result.err();
                compiled = Arc::new(other);
            }
        }
    }
    Ok(compiled)
}

/// The same choices, and sizes that take no time; none where the sizes of the page take none.
fn small(settings: &Settings, page: &Page) -> Option<Settings> {
    let (mut small, mut is_smaller) = (settings.clone(), false);
    for key in page.keys.iter().filter(|key| key.word == Word::Size) {
        let value = key.value.min(MOST).max(key.range[0]);
        small.numbers.insert(key.name.to_string(), value);
        is_smaller |= value < key.value;
    }
    is_smaller.then_some(small)
}

/// The name of an array of a head.
fn name(compiled: &Compiled, head: usize, array: Array) -> String {
    let readers = compiled.familiar.as_ref().map_or(0, Familiar::read_heads);
    format!("{}.{}", head_name(readers, head), array.name)
}

fn differs(name: &str) -> String {
    format!("{name} is not what its label promises")
}

/// The first array of a head with other axes than its label promises.
fn misfit(compiled: &Compiled) -> Option<String> {
    let Some(Memory::Written(memory)) = compiled.familiar.as_ref().map(|own| &own.memory) else {
        return None;
    };
    let axes = &compiled.program.axes;
    let fits = |(dim, axis): (&&str, &Axis)| {
        let origin = axes[*axis].origin;
        match *dim {
            "n" => origin == memory.rows,
            "m" | "r" => origin == memory.columns,
            "s" => axes[origin].trial % 2 == 1,
            // Backward, content and forward.
            "i" => axes[origin].trial == 3,
            _ => true,
        }
    };
    compiled.quantities.iter().find_map(|own| {
        let Place::Head(head) = own.place else {
            return None;
        };
        let dims = own.array.dims.iter().filter(|dim| **dim != "t");
        let has_all = dims.clone().count() == own.axes.len();
        let is_fit = has_all && dims.zip(&own.axes).all(fits);
        (is_built_in(own.array) && !is_fit).then(|| name(compiled, head, own.array))
    })
}

/// The order in which the heads of a file read and write.
///
/// # Errors
/// Which array of a head is another one than its label promises.
fn order(compiled: &Compiled, kind: &(impl Kind + 'static)) -> Result<Order, String> {
    for own in &compiled.quantities {
        if let Place::Head(head) = own.place
            && !is_of_heads(own.array)
        {
            let name = name(compiled, head, own.array);
            return Err(format!(
                "{name} is no array of a head of a Neural Turing Machine"
            ));
        }
    }
    let memory = || differs(array::MEMORY.name);
    let heads = compiled.familiar.as_ref().ok_or_else(memory)?;
    let trace = episode(compiled, kind).ok_or("its smallest sizes are too large for a trial")?;
    if trace.memory_columns.width() == 0 {
        return Err(memory());
    }
    let mut trial = Trial {
        compiled,
        kind,
        trace,
    };
    let all = 0..heads.heads.len();
    let mut wrong = all
        .clone()
        .filter_map(|head| Some((head, trial.differs(head)?)));
    if let Some((head, array)) = wrong.next() {
        return Err(differs(&name(compiled, head, array)));
    }
    let (readers, mut writers) = (0..heads.read_heads(), heads.read_heads()..all.end);
    let together = Conventions::default();
    // Without heads that write, the file changes the memory as it likes.
    if !writers.is_empty() {
        let in_turn = Conventions {
            turns: Turns::InTurn(all.collect()),
            ..Conventions::default()
        };
        let has_add = writers.all(|head| trial.has(head, array::ADD));
        let mut writes = |conventions| {
            let rules = Rules::new(kind, Order::ReadFirst, 0.0, conventions);
            has_add && trial.holds(&rules.memory(), 0)
        };
        if !writes(&together) {
            // Heads that act in turn read what stands between.
            return writes(&in_turn).then(|| heads.order()).ok_or_else(memory);
        }
    }
    let mut reads = |order| {
        let rules = Rules::new(kind, order, 0.0, &together);
        readers
            .clone()
            .all(|head| trial.holds(&rules.read(head), 0))
    };
    match [Order::ReadFirst, Order::WriteFirst].map(&mut reads) {
        [true, true] => Ok(heads.order()),
        [true, false] => Ok(Order::ReadFirst),
        [false, true] => Ok(Order::WriteFirst),
        [false, false] => Err(differs(&name(compiled, 0, array::READ))),
    }
}

/// An episode with random weights and a random input.
fn episode(compiled: &Compiled, kind: &(impl Kind + 'static)) -> Option<Trace<f64>> {
    let job = Job {
        purpose: Purpose::Recording,
        sizes: [STEPS, STEPS],
        own: None,
        channels: [STEPS; 2],
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
    let mut trace = Trace::of_episode(kind, STEPS, STEPS);
    for own in &compiled.quantities {
        let places = compiled.places_of(own, &engine, job, 0);
        let (first, rows) = own.rows(job.sizes, job.question);
        let Some(series) = trace.series_of_mut(own) else {
            continue;
        };
        let width = places.len().checked_div(rows).unwrap_or(0);
        series.reshape(first + rows, width);
        let values = series.as_mut_slice()[first * width..].iter_mut();
        values
            .zip(places)
            .for_each(|(to, at)| *to = engine.memory.arena.get(at).copied().unwrap_or(0.0));
    }
    Some(trace)
}

/// The heads of a file in an episode.
struct Trial<'a> {
    compiled: &'a Compiled,
    kind: &'a dyn Kind,
    trace: Trace<f64>,
}

impl Trial<'_> {
    /// Whether a head has an array.
    fn has(&self, head: usize, array: Array) -> bool {
        self.compiled.quantity(Place::Head(head), array).is_some()
    }

    /// The first array of a head that is not made of those before it as its label promises.
    fn differs(&mut self, head: usize) -> Option<Array> {
        let is_mixed = self.has(head, dnc::READ_MODES) || self.has(head, dnc::WRITE_GATE);
        // A gate is tried by what it makes, and what is made by its gate.
        let apart = TOGETHER.iter().find(|(array, others)| {
            let is_tried = *array != array::GATE || !is_mixed;
            is_tried && self.has(head, array) && !others.iter().all(|other| self.has(head, other))
        });
        if let Some((array, _)) = apart {
            return Some(array);
        }
        let rules = Rules::new(self.kind, Order::ReadFirst, 0.0, Conventions::OWN);
        Stage::all().into_iter().find_map(|stage| {
            let of = &self.trace.heads[head];
            let is_plain = !matches!(
                of.mechanism.weighting,
                Weighting::LocalMonotonic
                    | Weighting::LocalPredictive
                    | Weighting::Weibull
                    | Weighting::Lognormal
            );
            let is_tried = match stage {
                Stage::Content => is_plain,
                Stage::Interpolation | Stage::Shift => true,
                Stage::Sharpening => !is_mixed,
                Stage::Centre | Stage::Divergence | Stage::Draw => false,
            };
            // Without a number of its own, a strength or a sharpening is 1.
            let is_there = |array: &Array| {
                let is_one = [array::STRENGTH, array::SHARPENING].contains(array);
                is_one || self.has(head, array)
            };
            let is_known = stage.needs(of).iter().all(is_there);
            let rule = rules.stage(head, stage).filter(|_| is_tried && is_known)?;
            // A head may have no weighting before the first step.
            let is_late = stage == Stage::Interpolation && !self.has(head, array::INITIAL);
            (!self.holds(&rule, usize::from(is_late))).then_some(rule.array)
        })
    }

    /// Whether an array is what it is made of, in all steps from this one on; where it is recorded.
    fn holds(&mut self, rule: &Dependency<'_, f64>, first: usize) -> bool {
        (first..STEPS).all(|t| {
            let (place, row) = (rule.place, rule.row(t));
            let series = self.trace.series(place, rule.array);
            let series = series.filter(|series| series.width() > 0 && row < series.steps());
            let Some(wanted) = series.map(|series| series.row(row).to_vec()) else {
                return true;
            };
            rule.compute(&mut self.trace, t);
            let Some(series) = self.trace.series_mut(place, rule.array) else {
                return true;
            };
            let found = series.row_mut(row);
            let mut pairs = found.iter().zip(&wanted);
            let is_same = pairs.all(|(a, b)| (a - b).abs() <= TOLERANCE * b.abs().max(1.0));
            found.copy_from_slice(&wanted);
            is_same
        })
    }
}
