//! What follows from what in a Neural Turing Machine, and how it is computed again.

use crate::math::Real;
use crate::model::addressing::{Stage, address};
use crate::model::attention::{Mechanism, Score};
use crate::model::config::{NtmConfig, Order};
use crate::model::dependency::{Conventions, Dependency, Scoring, Size, Turns, UnknownConvention};
use crate::model::spec::Place;
use crate::model::trace::{HeadTrace, Trace};
use crate::model::{memory, score};

/// Returns the dependencies in a Neural Turing Machine: the stages of every head, the reads, the memory.
pub(super) fn dependencies(config: &NtmConfig, conventions: &Conventions) -> Vec<Dependency> {
    let heads = || (0..config.heads()).map(Place::Head);
    let unknown_turns =
        matches!(conventions.turns, Turns::Unknown(_)).then_some(UnknownConvention::Turns);
    let unknown_score = matches!(conventions.scoring, Scoring::Unknown { .. });
    let is_dot = conventions.scoring == Scoring::Dot;
    let empty = Trace::<f32>::new(config);
    let has = |place, array: &str| empty.series(place, array).is_some();
    let writers = (config.read_heads..config.heads()).map(Place::Head);
    let written: Vec<_> = writers
        .flat_map(|head| [(head, "erase"), (head, "add")])
        .filter(|&(head, array)| has(head, array))
        .collect();
    let seen = |place, own| {
        let mut needs = vec![(place, own), (Place::Machine, "memory")];
        if matches!(conventions.turns, Turns::InTurn(_)) {
            needs.extend(&written);
        }
        needs
    };
    let score = if is_dot { Size::Terms } else { Size::One };
    let of_head = |place: Place, own: &'static [&'static str]| {
        let own = own.iter().filter(move |own| has(place, own));
        own.map(move |&own| (place, own))
    };
    let similarity = heads().flat_map(|place| {
        let is_cosine = mechanism(&empty, place).score == Score::Cosine;
        let unknown = unknown_score && is_cosine;
        let mut needs = seen(place, "key");
        needs.extend(of_head(place, &SCORED_WITH));
        let size = if is_cosine { score } else { Size::Terms };
        let similarity = Dependency {
            unknown: unknown_turns.or(unknown.then_some(UnknownConvention::Scoring)),
            ..Dependency::new(place, "similarity", &needs, size)
        };
        let prior = has(place, "prior").then(|| {
            let mut needs = seen(place, PRIOR_OF[0]);
            needs.extend(of_head(place, &PRIOR_OF[1..]));
            Dependency {
                unknown: unknown_turns,
                ..Dependency::new(place, "prior", &needs, Size::Share)
            }
        });
        [similarity].into_iter().chain(prior)
    });
    let stages = |place| {
        let head = &empty.heads[head_of(place)];
        let made = Stage::ALL
            .into_iter()
            .filter_map(|stage| Some((stage, stage.makes(head)?)));
        let rules = made.map(|(stage, makes)| {
            let needs = stage.needs(head).into_iter().filter(|own| has(place, own));
            let needs: Vec<_> = needs.map(|own| (place, own)).collect();
            let size = match stage {
                Stage::Centre | Stage::Divergence => Size::One,
                _ => Size::Share,
            };
            Dependency {
                start: (stage == Stage::Interpolation).then_some("initial"),
                ..Dependency::new(place, makes, &needs, size)
            }
        });
        rules.collect::<Vec<_>>()
    };
    let reads = heads().take(config.read_heads).map(|place| Dependency {
        unknown: unknown_turns,
        ..Dependency::new(place, "read", &seen(place, "weighting"), Size::Terms)
    });
    let of_memory = [&written[..], &[(Place::Machine, "memory.initial")]].concat();
    let memory = Dependency {
        unknown: unknown_turns,
        ..Dependency::new(Place::Machine, "memory", &of_memory, Size::Terms)
    };
    let similarity: Vec<_> = similarity.collect();
    let of_heads = similarity
        .chunk_by(|a, b| a.place == b.place)
        .flat_map(|rules| {
            let stages = stages(rules[0].place);
            rules.iter().cloned().chain(stages)
        });
    of_heads.chain(reads).chain([memory]).collect()
}

/// Implements [`super::Machine::recompute_step`].
pub(super) fn recompute_step<R: Real>(
    config: &NtmConfig,
    conventions: &Conventions,
    trace: &mut Trace<R>,
    rule: &Dependency,
    t: usize,
) {
    let (heads, n) = (&mut trace.heads, trace.norms.width());
    let (before, after) = trace.memory_columns.previous_and_row_mut(t + 1);
    let Place::Head(head) = rule.place else {
        return match &conventions.turns {
            Turns::InTurn(order) => {
                let last = in_turn(order, heads, t, before, |_, _, _| ());
                after.copy_from_slice(&last);
            }
            _ => memory::write(&heads[config.read_heads..], t, before, after),
        };
    };
    let stage = |stage: &Stage| stage.makes(&heads[head]) == Some(rule.array);
    if let Some(stage) = Stage::ALL.into_iter().find(stage) {
        return address(&mut heads[head..=head], t, trace.sampling, Some(stage));
    }
    // A trace that was read has no scratch.
    heads[head].make_room_to_score(t);
    let see = |head: &mut [HeadTrace<R>], seen: &[R]| match rule.array {
        "read" => memory::read(head, t, seen),
        "prior" => head.iter_mut().for_each(|head| score::prior(head, t, seen)),
        "similarity" => score(config, &conventions.scoring, head, t, seen, n),
        _ => {}
    };
    match (&conventions.turns, config.order) {
        (Turns::InTurn(order), _) => {
            in_turn(order, heads, t, before, |index, this, seen| {
                if index == head {
                    see(this, seen);
                }
            });
        }
        (_, Order::WriteFirst) if head < config.read_heads => see(&mut heads[head..=head], after),
        // One head of each kind is one pass over the memory, with sums in its own order.
        (Turns::Together, _) if rule.array == "read" && config.is_pair() => {
            memory::read_and_write(heads, t, before, &mut after.to_vec());
        }
        _ => see(&mut heads[head..=head], before),
    }
}

/// Shows every head the memory that it sees in step `t`, in the order of their turns; returns the last memory.
fn in_turn<R: Real>(
    order: &[usize],
    heads: &mut [HeadTrace<R>],
    t: usize,
    before: &[R],
    mut visit: impl FnMut(usize, &mut [HeadTrace<R>], &[R]),
) -> Vec<R> {
    let (mut memory, mut next) = (before.to_vec(), before.to_vec());
    for &index in order {
        let head = &mut heads[index..=index];
        let is_write = head[0].is_write();
        if is_write {
            memory::write(head, t, &memory, &mut next);
        }
        visit(index, head, &memory);
        if is_write {
            std::mem::swap(&mut memory, &mut next);
        }
    }
    memory
}

/// The similarities of heads at one step with the `n` rows of the memory that they see.
fn score<R: Real>(
    config: &NtmConfig,
    scoring: &Scoring,
    heads: &mut [HeadTrace<R>],
    t: usize,
    seen: &[R],
    n: usize,
) {
    let epsilon = R::from_f64(config.similarity_epsilon);
    let is_cosine = |head: &HeadTrace<R>| head.mechanism.score == Score::Cosine;
    if *scoring == Scoring::Cosine || !heads.iter().any(is_cosine) {
        return score::similarities(heads, t, seen, epsilon, &mut vec![R::ZERO; n]);
    }
    let at_least = |x: R| if x < epsilon { epsilon } else { x };
    let over: &dyn Fn(R, R) -> R = match scoring {
        Scoring::Cosine | Scoring::Unknown { .. } => return,
        Scoring::CosineAdded => &|k, m| k * m + epsilon,
        Scoring::CosineAtLeast => &|k, m| at_least(k * m),
        Scoring::CosineEachAtLeast => &|k, m| at_least(k) * at_least(m),
        Scoring::Dot => &|_, _| R::ONE,
    };
    let sum = |products: &mut dyn Iterator<Item = R>| products.fold(R::ZERO, |sum, x| sum + x);
    for head in heads {
        let (key, similarity) = head.key_and_similarity(t);
        let length = sum(&mut key.iter().map(|&k| k * k)).sqrt();
        for (i, similarity) in similarity.iter_mut().enumerate() {
            let row = || seen.iter().skip(i).step_by(n).copied();
            let dot = sum(&mut row().zip(key).map(|(m, &k)| m * k));
            *similarity = dot / over(length, sum(&mut row().map(|m| m * m)).sqrt());
        }
    }
}

/// The inputs of scores other than key and memory.
const SCORED_WITH: [&str; 5] = [
    "additive_key",
    "additive_row",
    "additive_vector",
    "bilinear",
    "location",
];

/// The inputs of a prior other than the memory.
const PRIOR_OF: [&str; 3] = ["prior_weight", "prior_bias", "prior_vector"];

/// The index of a head.
fn head_of(place: Place) -> usize {
    match place {
        Place::Head(head) => head,
        Place::Machine | Place::Layer(_) => 0,
    }
}

fn mechanism(trace: &Trace<f32>, place: Place) -> &Mechanism {
    &trace.heads[head_of(place)].mechanism
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attention::Switch;
    use crate::model::{Draw, Kind, Model};
    use crate::task::{Copy, Task};

    fn recorded(order: Order, reads: usize, writes: usize) -> (NtmConfig, Trace<f32>) {
        recorded_with(order, (reads, writes), |_| ())
    }

    fn recorded_with(
        order: Order,
        (reads, writes): (usize, usize),
        change: impl Fn(&mut NtmConfig),
    ) -> (NtmConfig, Trace<f32>) {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.read_heads, config.write_heads) = (37, reads, writes);
        config.order = order;
        change(&mut config);
        let machine = Model::new(config.clone(), 5);
        let mut trace = Trace::new(&config);
        machine.run(&task.episode(1, 0).input, Draw::default(), &mut trace);
        (config, trace)
    }

    fn again(config: &NtmConfig, trace: &Trace<f32>) -> Trace<f32> {
        let conventions = Conventions::default();
        let (mut work, mut again) = (trace.clone(), trace.clone());
        for rule in config.dependencies(&conventions) {
            let (place, array) = (rule.place, rule.array);
            let recorded = trace.series(place, array).unwrap();
            for t in 0..trace.steps() {
                recompute_step(config, &conventions, &mut work, &rule, t);
                let row = rule.row(t);
                let made = work.series_mut(place, array).unwrap().row_mut(row);
                let to = again.series_mut(place, array).unwrap();
                to.row_mut(row).copy_from_slice(made);
                made.copy_from_slice(recorded.row(row));
            }
        }
        again
    }

    #[test]
    fn recomputed_arrays_are_bit_identical() {
        let heads = [
            (Order::ReadFirst, 2, 3),
            (Order::WriteFirst, 2, 3),
            (Order::ReadFirst, 1, 1),
            (Order::WriteFirst, 1, 1),
        ];
        for ((order, reads, writes), erases) in
            heads.into_iter().flat_map(|h| [(h, true), (h, false)])
        {
            let (config, trace) = recorded_with(order, (reads, writes), |config| {
                // Of several heads the last two, of one that one.
                let off = |head| !erases && head + 2 >= reads + writes;
                let words = (0..reads + writes)
                    .map(|head| if off(head) { Switch::Off } else { Switch::On });
                config.attention.erase = words.collect::<Vec<_>>().into();
            });
            assert_eq!(again(&config, &trace), trace);
        }
    }

    #[test]
    fn recompute_changes_only_dependent_arrays() {
        for (reads, writes) in [(2, 0), (0, 2), (1, 1), (2, 3)] {
            for order in [Order::ReadFirst, Order::WriteFirst] {
                let (config, honest) = recorded(order, reads, writes);
                let conventions = Conventions::default();
                for rule in config.dependencies(&conventions) {
                    let mut trace = honest.clone();
                    for array in trace
                        .heads
                        .iter_mut()
                        .flat_map(|head| [&mut head.read, &mut head.content])
                    {
                        array.as_mut_slice().fill(0.5);
                    }
                    let mut kept = trace.clone();
                    recompute_step(&config, &conventions, &mut trace, &rule, 2);
                    let made = trace.series(rule.place, rule.array).unwrap().clone();
                    *kept.series_mut(rule.place, rule.array).unwrap() = made;
                    assert_eq!(trace, kept, "{rule:?}");
                }
            }
        }
    }

    #[test]
    fn a_wrong_value_affects_itself_and_its_dependents() {
        let (config, mut trace) = recorded(Order::ReadFirst, 2, 3);
        let honest = trace.clone();
        trace.heads[1].shifted.row_mut(2)[7] += 0.25;
        let again = again(&config, &trace);
        assert_eq!(again.heads[1].shifted, honest.heads[1].shifted);
        assert_ne!(
            again.heads[1].weighting.row(2),
            honest.heads[1].weighting.row(2)
        );
        let mut same = again;
        same.heads[1].weighting = honest.heads[1].weighting.clone();
        assert_eq!(same, honest);
    }

    #[test]
    fn absent_arrays_are_computed_from_recorded_ones() {
        for order in [Order::ReadFirst, Order::WriteFirst] {
            let (config, honest) = recorded(order, 2, 3);
            for head in 0..config.heads() {
                let mut trace = honest.clone();
                let lost = &mut trace.heads[head];
                for series in [
                    &mut lost.similarity,
                    &mut lost.content,
                    &mut lost.gated,
                    &mut lost.shifted,
                ] {
                    series.as_mut_slice().fill(f32::NAN);
                }
                let conventions = Conventions::default();
                let of_head = |rule: &&Dependency| {
                    rule.place == Place::Head(head) && rule.array != "weighting"
                };
                for rule in config.dependencies(&conventions).iter().filter(of_head) {
                    for t in 0..trace.steps() {
                        recompute_step(&config, &conventions, &mut trace, rule, t);
                    }
                }
                assert_eq!(trace, honest, "{order:?}, head {head}");
            }
        }
    }
}
