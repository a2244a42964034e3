//! Dependencies of heads on a memory, and their recomputation.

use crate::math::Real;
use crate::model::addressing::address;
use crate::model::array;
use crate::model::attention::Score;
use crate::model::config::{NtmConfig, Order};
use crate::model::dependency::{Conventions, Dependency, Scoring, Size, Turns, UnknownConvention};
use crate::model::kind::Kind;
use crate::model::score::Rows;
use crate::model::slots::Slots;
use crate::model::spec::{Array, Place};
use crate::model::stage::Stage;
use crate::model::trace::{HeadTrace, Trace};
use crate::model::{memory, score};

/// The arrays of heads that follow from others, by the conventions of a recorded episode.
pub(super) struct Rules<'a> {
    seeing: Seeing<'a>,
    heads: usize,
    /// Shows which arrays there are.
    empty: Trace<f32>,
}

/// The order and the conventions by which heads see the memory and score it.
#[derive(Clone, Copy)]
struct Seeing<'a> {
    read_heads: usize,
    order: Order,
    /// In the cosine.
    epsilon: f64,
    conventions: &'a Conventions,
}

/// Returns the dependencies in a Neural Turing Machine, in the order of the computation: the stages of every head, the
/// reads, the memory; of one that writes first those of the write heads, the memory, those of the read heads.
pub(super) fn dependencies<'a, R: Real>(
    config: &'a NtmConfig,
    conventions: &'a Conventions,
) -> Vec<Dependency<'a, R>> {
    let rules = Rules::new(config, config.order, config.similarity_epsilon, conventions);
    let (reads, heads) = (config.read_heads, config.heads());
    let addressing = |heads: std::ops::Range<usize>| heads.flat_map(|head| rules.of_head(head));
    let all_reads = (0..reads).map(|head| rules.read(head));
    let memory = [rules.memory()];
    if config.is_written_first() {
        let written = addressing(reads..heads).chain(memory);
        written
            .chain(addressing(0..reads))
            .chain(all_reads)
            .collect()
    } else {
        addressing(0..heads)
            .chain(all_reads)
            .chain(memory)
            .collect()
    }
}

impl<'a> Rules<'a> {
    /// Creates the rules of the heads of a machine.
    pub(super) fn new(
        kind: &dyn Kind,
        order: Order,
        epsilon: f64,
        conventions: &'a Conventions,
    ) -> Self {
        let read_heads = kind.read_heads();
        Self {
            seeing: Seeing {
                read_heads,
                order,
                epsilon,
                conventions,
            },
            heads: kind.heads(),
            empty: Trace::of(kind),
        }
    }

    fn has(&self, place: Place, array: Array) -> bool {
        self.empty.series(place, array).is_some()
    }

    /// The arrays of a head, of those that it has.
    fn own(&self, place: Place, arrays: impl IntoIterator<Item = Array>) -> Vec<(Place, Array)> {
        let arrays = arrays.into_iter().filter(|array| self.has(place, array));
        arrays.map(|array| (place, array)).collect()
    }

    /// What the write heads write.
    fn written(&self) -> Vec<(Place, Array)> {
        let writers = (self.seeing.read_heads..self.heads).map(Place::Head);
        let arrays = writers.flat_map(|head| self.own(head, [array::ERASE, array::ADD]));
        arrays.collect()
    }

    /// An array that a head makes of the memory that it sees, and of others of its own.
    fn of_visible_rows<R: Real>(
        &self,
        head: usize,
        array: Array,
        needs: impl IntoIterator<Item = Array>,
        size: Size,
        compute: impl Fn(&mut [HeadTrace<R>], usize, &[R]) + 'a,
    ) -> Dependency<'a, R> {
        let place = Place::Head(head);
        let mut needs = self.own(place, needs);
        needs.push((Place::Machine, array::MEMORY));
        if matches!(self.seeing.conventions.turns, Turns::InTurn(_)) {
            needs.extend(self.written());
        }
        let seeing = self.seeing;
        let compute = move |trace: &mut Trace<R>, t: usize| {
            with_visible_rows(seeing, trace, (head, t), &compute);
        };
        Dependency {
            unknown: self.unknown_turns(),
            ..Dependency::new(place, array, needs, size, compute)
        }
    }

    fn unknown_turns(&self) -> Option<UnknownConvention> {
        let is_unknown = matches!(self.seeing.conventions.turns, Turns::Unknown(_));
        is_unknown.then_some(UnknownConvention::Turns)
    }

    /// The similarity and the stages of a head.
    pub(super) fn of_head<R: Real>(&self, head: usize) -> Vec<Dependency<'a, R>> {
        let similarity = self.of_memory(head);
        similarity.into_iter().chain(self.stages(head)).collect()
    }

    /// The stages of a head, after its similarity.
    pub(super) fn stages<R: Real>(&self, head: usize) -> impl Iterator<Item = Dependency<'a, R>> {
        let stages = Stage::all().into_iter();
        stages.filter_map(move |stage| self.stage(head, stage))
    }

    /// The similarity, and what the weighting makes of the rows.
    pub(super) fn of_memory<R: Real>(&self, head: usize) -> Vec<Dependency<'a, R>> {
        let seeing = self.seeing;
        let (of, scoring) = (&self.empty.heads[head], &seeing.conventions.scoring);
        let is_cosine = of.mechanism.score == Score::Cosine;
        let learned = |slots: &Slots<f32>| {
            let arrays = slots.arrays().map(|(array, _)| array);
            arrays
                .filter(|array| array.is_learned())
                .collect::<Vec<_>>()
        };
        let needs = [array::KEY].into_iter().chain(learned(&of.of_score));
        let size = if is_cosine { Size::One } else { Size::Terms };
        let mut similarity = self.of_visible_rows(
            head,
            array::SIMILARITY,
            needs,
            size,
            move |head, t, rows| {
                score(seeing, head, t, rows);
            },
        );
        if is_cosine && matches!(scoring, Scoring::Unknown(_)) {
            similarity.unknown = similarity.unknown.or(Some(UnknownConvention::Scoring));
        }
        let weighting = of.mechanism.weighting;
        let of_rows = weighting.stages().row_array().map(|array| {
            let compute = move |heads: &mut [HeadTrace<R>], t: usize, rows: &[R]| {
                for head in heads {
                    weighting.function().set_row_array(head, t, rows);
                }
            };
            self.of_visible_rows(head, array, learned(&of.of_weighting), Size::Share, compute)
        });
        [similarity].into_iter().chain(of_rows).collect()
    }

    pub(super) fn stage<R: Real>(&self, head: usize, stage: Stage) -> Option<Dependency<'a, R>> {
        let (place, of) = (Place::Head(head), &self.empty.heads[head]);
        let made = stage.makes(of)?;
        let size = match stage {
            Stage::Centre | Stage::Divergence => Size::One,
            _ => Size::Share,
        };
        let epsilon = self.seeing.conventions.sharpening_epsilon;
        let is_added = epsilon > 0.0 && self.has(place, array::SHARPENING);
        let mut needs = stage.needs(of).into_iter();
        let sharpened = needs
            .next_back()
            .filter(|_| stage == Stage::Sharpening && is_added);
        let compute = move |trace: &mut Trace<R>, t: usize| {
            address(
                &mut trace.heads[head..=head],
                t,
                trace.sampling,
                Some(stage),
            );
            if let Some(from) = sharpened {
                add_to_sum(trace, (place, t), [from, made], epsilon);
            }
        };
        let start = (stage == Stage::Interpolation).then_some((place, array::INITIAL));
        Some(Dependency {
            start: start.into_iter().collect(),
            ..Dependency::new(place, made, self.own(place, stage.needs(of)), size, compute)
        })
    }

    pub(super) fn read<R: Real>(&self, head: usize) -> Dependency<'a, R> {
        let seeing = self.seeing;
        let mut read = self.of_visible_rows(
            head,
            array::READ,
            [array::WEIGHTING],
            Size::Terms,
            memory::read,
        );
        // One head of each kind is one pass over the memory, with sums in its own order.
        let is_pair = (seeing.read_heads, self.heads, seeing.order) == (1, 2, Order::ReadFirst);
        if is_pair && seeing.conventions.turns == Turns::Together {
            read.work = Box::new(|trace, t| {
                let (before, after) = trace.memory_columns.previous_and_row_mut(t + 1);
                memory::read_and_write(&mut trace.heads, t, before, &mut after.to_vec());
            });
        }
        read
    }

    pub(super) fn memory<R: Real>(&self) -> Dependency<'a, R> {
        let mut needs = self.written();
        needs.push((Place::Machine, array::INITIAL_MEMORY));
        let seeing = self.seeing;
        let compute = move |trace: &mut Trace<R>, t: usize| {
            let (before, after) = trace.memory_columns.previous_and_row_mut(t + 1);
            match &seeing.conventions.turns {
                Turns::InTurn(order) => {
                    let last = in_turn(order, &mut trace.heads, t, before, |_, _, _| ());
                    after.copy_from_slice(&last);
                }
                _ => memory::write(&trace.heads[seeing.read_heads..], t, before, after),
            }
        };
        Dependency {
            unknown: self.unknown_turns(),
            ..Dependency::new(Place::Machine, array::MEMORY, needs, Size::Terms, compute)
        }
    }
}

/// Adds ε to the sum by which a sharpened weighting was divided.
fn add_to_sum<R: Real>(
    trace: &mut Trace<R>,
    (place, t): (Place, usize),
    [from, made]: [Array; 2],
    epsilon: f64,
) {
    let row = |array| trace.series(place, array).map_or(&[][..], |all| all.row(t));
    let gamma = row(array::SHARPENING)[0].to_f64();
    let powers = row(from).iter().map(|w| w.to_f64().powf(gamma));
    let sum: f64 = powers.sum();
    let share = R::from_f64(sum / (sum + epsilon));
    if let Some(series) = trace.series_mut(place, made) {
        series.row_mut(t).iter_mut().for_each(|w| *w *= share);
    }
}

/// Shows a head the memory that it sees in step `t`.
fn with_visible_rows<R: Real>(
    seeing: Seeing<'_>,
    trace: &mut Trace<R>,
    (head, t): (usize, usize),
    work: impl Fn(&mut [HeadTrace<R>], usize, &[R]),
) {
    let heads = &mut trace.heads;
    let (before, after) = trace.memory_columns.previous_and_row_mut(t + 1);
    // A trace that was read has no scratch.
    heads[head].make_room_to_score(t);
    match (&seeing.conventions.turns, seeing.order) {
        (Turns::InTurn(order), _) => {
            in_turn(order, heads, t, before, |index, this, rows| {
                if index == head {
                    work(this, t, rows);
                }
            });
        }
        (_, Order::WriteFirst) if head < seeing.read_heads => {
            work(&mut heads[head..=head], t, after);
        }
        _ => work(&mut heads[head..=head], t, before),
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

/// The similarities of heads at one step with the rows of the memory that they see.
fn score<R: Real>(seeing: Seeing<'_>, heads: &mut [HeadTrace<R>], t: usize, visible_rows: &[R]) {
    let n = heads.first().map_or(0, |head| head.similarity.width());
    let (epsilon, scoring) = (R::from_f64(seeing.epsilon), &seeing.conventions.scoring);
    let is_cosine = |head: &HeadTrace<R>| head.mechanism.score == Score::Cosine;
    if *scoring == Scoring::Cosine || !heads.iter().any(is_cosine) {
        let mut rows = Rows {
            columns: visible_rows,
            epsilon,
            norms: &mut vec![R::ZERO; n],
        };
        return score::similarities(heads, t, &mut rows);
    }
    let at_least = |x: R| if x < epsilon { epsilon } else { x };
    let over: &dyn Fn(R, R) -> R = match scoring {
        Scoring::Cosine | Scoring::Unknown(_) => return,
        Scoring::CosineAdded => &|k, m| k * m + epsilon,
        Scoring::CosineAtLeast => &|k, m| at_least(k * m),
        Scoring::CosineEachAtLeast => &|k, m| at_least(k) * at_least(m),
    };
    let sum = |products: &mut dyn Iterator<Item = R>| products.fold(R::ZERO, |sum, x| sum + x);
    for head in heads {
        let (key, similarity) = head.key_and_similarity(t);
        let length = sum(&mut key.iter().map(|&k| k * k)).sqrt();
        for (i, similarity) in similarity.iter_mut().enumerate() {
            let row = || visible_rows.iter().skip(i).step_by(n).copied();
            let dot = sum(&mut row().zip(key).map(|(m, &k)| m * k));
            *similarity = dot / over(length, sum(&mut row().map(|m| m * m)).sqrt());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attention::Switch;
    use crate::model::{Draw, Model};
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
        for rule in dependencies(config, &conventions) {
            let (place, array) = (rule.place, rule.array);
            let recorded = trace.series(place, array).unwrap();
            for t in 0..trace.steps() {
                rule.compute(&mut work, t);
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
                for rule in dependencies(&config, &conventions) {
                    let mut trace = honest.clone();
                    for array in trace
                        .heads
                        .iter_mut()
                        .flat_map(|head| [&mut head.read, &mut head.content])
                    {
                        array.as_mut_slice().fill(0.5);
                    }
                    let mut kept = trace.clone();
                    rule.compute(&mut trace, 2);
                    let made = trace.series(rule.place, rule.array).unwrap().clone();
                    *kept.series_mut(rule.place, rule.array).unwrap() = made;
                    assert_eq!(trace, kept, "{:?} {:?}", rule.place, rule.array);
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
                let of_head = |rule: &&Dependency<'_>| {
                    rule.place == Place::Head(head) && rule.array != array::WEIGHTING
                };
                for rule in dependencies(&config, &conventions).iter().filter(of_head) {
                    for t in 0..trace.steps() {
                        rule.compute(&mut trace, t);
                    }
                }
                assert_eq!(trace, honest, "{order:?}, head {head}");
            }
        }
    }
}
