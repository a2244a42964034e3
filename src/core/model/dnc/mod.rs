//! The Differentiable Neural Computer on one page (Graves 2016): an episode forwards; back through it in `backward.rs`.
//!
//! A step: controller, free gates and usage, allocation, write weighting, erase and add, links and precedence, read
//! weightings, reads. The write head addresses M_{t−1}, the read heads M_t. Before the first step usage, weightings, links
//! and reads are 0; the state of the controller is learned, as in other machines.

use super::addressing::address;
use super::config::{ControllerConfig, InitialMemory, Order};
use super::dependency::{Conventions, Dependency, Size};
use super::head::set_one;
use super::machine::{GradientRecorder, TOGETHER, Upstream, together};
use super::memory_machine::{Gradients, MemoryMachine};
use super::recompute::Rules;
use super::score::{self, Rows};
use super::spec::{Array, Place};
use super::stage::Stage;
use super::trace::{HeadTrace, Trace};
use super::{array, memory};
use crate::math::{Matrix, Real};

mod backward;
mod equations;
mod golden;
mod kind;
mod links;

use backward::{Scratch, Step};
pub use equations::allocation_order;
pub use kind::{
    ALLOCATION, ALLOCATION_GATE, BACKWARD, DncConfig, FORWARD, FREE_GATE, INITIAL_USAGE,
    PRECEDENCE, READ_MODES, USAGE, WRITE_GATE,
};
use kind::{AT_ALLOCATION, AT_LINKS, AT_PRECEDENCE};
use links::LinkHistory;
pub use links::link_matrix;

impl MemoryMachine for DncConfig {
    const STATES: usize = 0;
    const EMITTED: &'static [Array] = &[
        array::KEY,
        array::STRENGTH,
        array::ERASE,
        array::ADD,
        FREE_GATE,
        READ_MODES,
        ALLOCATION_GATE,
        WRITE_GATE,
    ];
    type Scratch<R: Real> = Scratch<R>;

    fn controller(&self) -> &ControllerConfig {
        &self.controller
    }

    fn begin<R: Real>(&self, _: &[Matrix<R>], traces: &mut [Trace<R>]) {
        for trace in traces {
            if let InitialMemory::Constant(constant) = self.initial_memory {
                let memory = trace.memory_columns.row_mut(0);
                memory.fill(R::from_f64(constant));
            }
            for head in &mut trace.heads {
                head.initial.row_mut(0).fill(R::ZERO);
            }
            if let Some(usage) = trace.heads[self.read_heads].series_mut(INITIAL_USAGE) {
                usage.row_mut(0).fill(R::ZERO);
            }
        }
    }

    fn activate<R: Real>(&self, raw: &[R], first: usize, heads: &mut [HeadTrace<R>], t: usize) {
        for (index, head) in (first..).zip(heads) {
            equations::activate(self, raw, index, head, t);
        }
    }

    fn access_memory<R: Real>(&self, trace: &mut Trace<R>, t: usize) {
        let (now, next, steps) = (trace.memory_row(t), trace.memory_row(t + 1), trace.steps());
        let norms = trace.norms_row(t);
        let (before, after) = trace.memory_columns.two_rows(now, next);
        let (readers, writers) = trace.heads.split_at_mut(self.read_heads);
        if self.allocates() {
            set_usage(readers, &mut writers[0], t);
            set_allocation(&mut writers[0], t);
        }
        let mut rows = Rows {
            columns: before,
            epsilon: R::from_f64(self.similarity_epsilon),
            norms: trace.norms.row_mut(norms),
        };
        let content = Some(Stage::Content);
        score::forward(writers, t, &mut rows);
        address(writers, t, trace.sampling, content);
        write_weighting(&mut writers[0], t);
        memory::write(writers, t, before, after);
        if self.has_links() {
            links::forward(&mut writers[0], t, steps);
            let links = writers[0].of_score.at(AT_LINKS);
            let links = links.row(links::row_of(links, t, steps));
            follow_links(readers, links, t);
            set_precedence(&mut writers[0], t);
        }
        rows.columns = after;
        score::forward(readers, t, &mut rows);
        address(readers, t, trace.sampling, content);
        for reader in &mut *readers {
            equations::read_weighting(reader, t);
        }
        memory::read(readers, t, after);
    }

    fn rules<'a, R: Real>(&self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let epsilon = self.similarity_epsilon;
        let rules = Rules::new(self, Order::WriteFirst, epsilon, conventions);
        let count = self.read_heads;
        let write = Place::Head(count);
        let content = |head: usize| {
            let content = rules.stage(head, Stage::Content);
            rules.of_memory(head).into_iter().chain(content)
        };
        let of_write =
            move |array: Array, needs: Vec<(Place, Array)>, set: fn(&mut HeadTrace<R>, usize)| {
                let compute = move |trace: &mut Trace<R>, t: usize| set(&mut trace.heads[count], t);
                Dependency::new(write, array, needs, Size::Share, compute)
            };
        let mut all = Vec::new();
        if self.allocates() {
            let readers = || (0..if self.frees() { count } else { 0 }).map(Place::Head);
            let heads = || readers().chain([write]);
            let needs = heads().map(|head| (head, array::WEIGHTING));
            let needs = needs.chain(readers().map(|head| (head, FREE_GATE)));
            let needs = needs.collect::<Vec<_>>();
            let start = heads().map(|head| (head, array::INITIAL));
            let compute = move |trace: &mut Trace<R>, t: usize| {
                let (readers, writers) = trace.heads.split_at_mut(count);
                set_usage(readers, &mut writers[0], t);
            };
            let usage = Dependency::new(write, USAGE, needs, Size::One, compute);
            all.push(Dependency {
                start: [(write, INITIAL_USAGE)].into_iter().chain(start).collect(),
                ..usage
            });
            all.push(of_write(ALLOCATION, vec![(write, USAGE)], |writer, t| {
                // A trace that was read has no scratch.
                writer.make_room_to_score(t);
                set_allocation(writer, t);
            }));
        }
        all.extend(content(count));
        let needs = [array::CONTENT, ALLOCATION, ALLOCATION_GATE, WRITE_GATE];
        let needs = needs.map(|array| (write, array)).into();
        all.push(of_write(array::WEIGHTING, needs, write_weighting));
        all.push(rules.memory());
        if self.has_links() {
            let needs = vec![(write, array::WEIGHTING)];
            all.push(of_write(PRECEDENCE, needs, set_precedence));
        }
        let history = std::rc::Rc::new(LinkHistory::default());
        for head in 0..if self.has_links() { count } else { 0 } {
            for array in [BACKWARD, FORWARD] {
                let (place, history) = (Place::Head(head), history.clone());
                let needs = [
                    (write, array::WEIGHTING),
                    (write, PRECEDENCE),
                    (place, array::WEIGHTING),
                ];
                let compute = move |trace: &mut Trace<R>, t: usize| {
                    let (steps, (readers, writers)) =
                        (trace.steps(), trace.heads.split_at_mut(count));
                    let matrix = history.at(&writers[0], t);
                    links::keep(&mut writers[0], t, steps, &matrix);
                    // Heads that are computed together have sums in the same order.
                    set_one(readers, &[BACKWARD, FORWARD], (head, array), t, |readers| {
                        follow_links(readers, &matrix, t);
                    });
                };
                all.push(Dependency {
                    start: vec![(place, array::INITIAL)],
                    ..Dependency::new(place, array, needs, Size::Share, compute)
                });
            }
        }
        for head in 0..count {
            all.extend(content(head));
            let place = Place::Head(head);
            let needs = [READ_MODES, BACKWARD, array::CONTENT, FORWARD].map(|array| (place, array));
            let compute = move |trace: &mut Trace<R>, t: usize| {
                equations::read_weighting(&mut trace.heads[head], t);
            };
            let weighting = Dependency::new(place, array::WEIGHTING, needs, Size::Share, compute);
            all.push(weighting);
        }
        all.extend((0..count).map(|head| rules.read(head)));
        all
    }

    fn memory_scratch<R: Real>(&self) -> Scratch<R> {
        Scratch::new(self)
    }

    fn reset<R: Real>(&self, _: &Trace<R>, gradients: &mut Gradients<R, Scratch<R>>) {
        gradients.memory.reset();
    }

    fn access_memory_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        t: usize,
        upstream: &Upstream<R>,
        gradients: &mut Gradients<R, Scratch<R>>,
        recorder: GradientRecorder<'_, R>,
    ) {
        let step = Step {
            config: self,
            trace,
            upstream,
            t,
        };
        step.backward(gradients, recorder);
    }

    fn begin_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        gradients: &mut Gradients<R, Scratch<R>>,
        _: &mut [Matrix<R>],
        recorder: GradientRecorder<'_, R>,
    ) {
        if let Some(recorder) = recorder {
            gradients.memory.record_start(self, trace, recorder);
        }
    }
}

/// u_t.
fn set_usage<R: Real>(readers: &[HeadTrace<R>], writer: &mut HeadTrace<R>, t: usize) {
    let [initial, usage, ..] = writer.of_score.all_mut::<8>();
    let written = writer.weighting.row_before(t, &writer.initial);
    let (before, usage) = match t {
        0 => (initial.row(0), usage.row_mut(0)),
        _ => usage.previous_and_row_mut(t),
    };
    equations::usage(readers, t, before, written, usage);
}

/// φ_t and a_t.
fn set_allocation<R: Real>(writer: &mut HeadTrace<R>, t: usize) {
    let [_, usage, allocation, .., order, _] = writer.of_score.all_mut::<8>();
    let (usage, order) = (usage.row(t), order.row_mut(t));
    equations::allocation_order(usage, order);
    equations::allocation(usage, order, allocation.row_mut(t));
}

/// The write weighting.
fn write_weighting<R: Real>(writer: &mut HeadTrace<R>, t: usize) {
    let gates = equations::write_gates(writer, t);
    let allocation = writer.of_score.at(AT_ALLOCATION).row(t);
    let (content, to) = (writer.content.row(t), writer.weighting.row_mut(t));
    equations::write_weighting(gates, allocation, content, to);
}

/// b_t and f_t of every read head.
fn follow_links<R: Real>(readers: &mut [HeadTrace<R>], links: &[R], t: usize) {
    for readers in readers.chunks_mut(TOGETHER) {
        together!(readers.len(), readers, |readers| {
            let heads = readers.each_mut().map(|reader| {
                let [_, _, backward, forward] = reader.of_score.all_mut::<4>();
                let before = reader.weighting.row_before(t, &reader.initial);
                (before, [backward.row_mut(t), forward.row_mut(t)])
            });
            equations::follow_links(links, heads);
        });
    }
}

/// p_t.
fn set_precedence<R: Real>(writer: &mut HeadTrace<R>, t: usize) {
    let precedence = writer.of_score.at_mut(AT_PRECEDENCE);
    let w = writer.weighting.row(t);
    if t == 0 {
        precedence.row_mut(0).copy_from_slice(w);
    } else {
        let (before, precedence) = precedence.previous_and_row_mut(t);
        equations::precedence(w, before, precedence);
    }
}
