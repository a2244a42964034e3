//! The Differentiable Neural Computer on one page (Graves 2016): an episode forwards, and back through it.
//!
//! A step: controller, free gates and usage, allocation, write weighting, erase and add, links and precedence, read
//! weightings, reads. The write head addresses M_{t−1}, the read heads M_t. Before the first step usage, weightings, links
//! and reads are 0; the state of the controller is learned, as in other machines.

use std::ops::Range;

use super::addressing::{address, address_backward};
use super::config::{ControllerConfig, InitialMemory, Order};
use super::dependency::{Conventions, Dependency, Size};
use super::head::{HeadGradient, set_one};
use super::machine::{GradientRecorder, TOGETHER, Upstream, together};
use super::memory_machine::{Gradients, MemoryMachine};
use super::recompute::Rules;
use super::score::{self, Rows};
use super::spec::{Array, Place};
use super::stage::Stage;
use super::trace::{HeadTrace, Trace};
use super::window::{After, Back, MemoryGradient, Seen, Window};
use super::{array, memory};
use crate::math::vectors::add;
use crate::math::{Aligned, Matrix, Real};

mod equations;
mod golden;
mod kind;
mod links;

use equations::Gates;
pub use kind::{
    ALLOCATION, ALLOCATION_GATE, BACKWARD, DncConfig, FORWARD, FREE_GATE, INITIAL_USAGE,
    PRECEDENCE, READ_MODES, USAGE, WRITE_GATE,
};
pub use links::link_matrix;
use links::{LinkHistory, LinkWindow};

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
            is_fixed: false,
        };
        let content = Some(Stage::Content);
        score::forward(writers, t, &mut rows);
        address(writers, t, trace.sampling, content);
        write_weighting(&mut writers[0], t);
        memory::write(writers, t, before, after);
        if self.has_links() {
            links::forward(&mut writers[0], t, steps);
            let [.., links] = writers[0].of_score.all::<8>();
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
        if self.has_links() {
            let needs = vec![(write, array::WEIGHTING)];
            all.push(of_write(PRECEDENCE, needs, set_precedence));
        }
        for head in 0..count {
            all.extend(content(head));
            let place = Place::Head(head);
            let needs = [READ_MODES, BACKWARD, array::CONTENT, FORWARD].map(|array| (place, array));
            let compute = move |trace: &mut Trace<R>, t: usize| {
                equations::read_weighting(&mut trace.heads[head], t);
            };
            all.push(Dependency::new(
                place,
                array::WEIGHTING,
                needs,
                Size::Share,
                compute,
            ));
        }
        all.extend((0..count).map(|head| rules.read(head)));
        all
    }

    fn memory_scratch<R: Real>(&self) -> Scratch<R> {
        Scratch::new(self)
    }

    fn reset<R: Real>(&self, _: &Trace<R>, by: &mut Gradients<R, Scratch<R>>) {
        by.own.reset();
    }

    fn access_memory_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        t: usize,
        upstream: &Upstream<R>,
        by: &mut Gradients<R, Scratch<R>>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let Gradients { frame, own } = by;
        let step = Step {
            config: self,
            trace,
            upstream,
            t,
        };
        own.step_backward(step, &frame.stack.beside, recorder.as_deref_mut());
        let d_raw = frame.raw.row_mut(t);
        let gradients = own.by.memory.heads.iter().zip(&own.by.gates).enumerate();
        for ((index, (of_head, gates)), head) in gradients.zip(&trace.heads) {
            let raw = trace.raw.row(t);
            equations::activate_backward(self, index, head, t, of_head, gates, raw, d_raw);
            if let Some(recorder) = &mut recorder {
                recorder.record_emitted(trace, index, t, of_head, &upstream.terms);
            }
            let emitted = if head.is_write() {
                [(ALLOCATION_GATE, &gates[..1]), (WRITE_GATE, &gates[1..2])]
            } else {
                [(FREE_GATE, &gates[..1]), (READ_MODES, &gates[1..])]
            };
            for (array, values) in emitted {
                step.record(&mut recorder, index, array, values);
            }
        }
    }

    fn begin_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        by: &mut Gradients<R, Scratch<R>>,
        _: &mut [Matrix<R>],
        recorder: GradientRecorder<'_, R>,
    ) {
        if let Some(recorder) = recorder {
            by.own.by.memory.record_start(trace, recorder);
            let place = Place::Head(self.read_heads);
            recorder.record_array(trace, place, INITIAL_USAGE, 0, &by.own.by.usage);
        }
    }
}

/// u_t.
fn set_usage<R: Real>(readers: &[HeadTrace<R>], writer: &mut HeadTrace<R>, t: usize) {
    let [initial, usage, ..] = writer.of_score.all_mut::<8>();
    if t == 0 {
        let (before, written) = (initial.row(0), writer.initial.row(0));
        equations::usage(readers, 0, before, written, usage.row_mut(0));
    } else {
        let (before, usage) = usage.previous_and_row_mut(t);
        equations::usage(readers, t, before, writer.weighting.row(t - 1), usage);
    }
}

/// φ_t and a_t.
fn set_allocation<R: Real>(writer: &mut HeadTrace<R>, t: usize) {
    let [_, usage, allocation, .., order, _] = writer.of_score.all_mut::<8>();
    let (usage, order) = (usage.row(t), order.row_mut(t));
    equations::allocation_order(usage, order);
    equations::allocation(usage, order, allocation.row_mut(t));
}

/// g^a_t, or 0 without allocation, and g^w_t.
fn write_gates<R: Real>(writer: &HeadTrace<R>, t: usize) -> [R; 2] {
    let [_, _, _, allocation_gate, write_gate, ..] = writer.of_score.all::<8>();
    let allocation_gate = allocation_gate.row(t).first().copied();
    [allocation_gate.unwrap_or(R::ZERO), write_gate.row(t)[0]]
}

/// The write weighting.
fn write_weighting<R: Real>(writer: &mut HeadTrace<R>, t: usize) {
    let gates = write_gates(writer, t);
    let [_, _, allocation, ..] = writer.of_score.all::<8>();
    let (content, to) = (writer.content.row(t), writer.weighting.row_mut(t));
    equations::write_weighting(gates, allocation.row(t), content, to);
}

/// b_t and f_t of every read head.
fn follow_links<R: Real>(readers: &mut [HeadTrace<R>], links: &[R], t: usize) {
    for readers in readers.chunks_mut(TOGETHER) {
        together!(readers.len(), readers, |readers| {
            let heads = readers.each_mut().map(|reader| {
                let [_, _, backward, forward] = reader.of_score.all_mut::<4>();
                let before = if t == 0 {
                    reader.initial.row(0)
                } else {
                    reader.weighting.row(t - 1)
                };
                (before, [backward.row_mut(t), forward.row_mut(t)])
            });
            equations::follow_links(links, heads);
        });
    }
}

/// p_t.
fn set_precedence<R: Real>(writer: &mut HeadTrace<R>, t: usize) {
    let [.., precedence, _, _] = writer.of_score.all_mut::<8>();
    let w = writer.weighting.row(t);
    if t == 0 {
        precedence.row_mut(0).copy_from_slice(w);
    } else {
        let (before, precedence) = precedence.previous_and_row_mut(t);
        equations::precedence(w, before, precedence);
    }
}

/// What an episode needs on the way back.
pub(super) struct Scratch<R> {
    by: Gradient<R>,
    window: Window<R>,
    after: After<R>,
    links: LinkWindow<R>,
}

/// The gradients that travel from step to step, and those between two equations.
struct Gradient<R> {
    /// w.r.t. the memory, and of every head; [`HeadGradient::previous`] is that w.r.t. the weighting of the step before. A read
    /// head has those w.r.t. b_t and f_t in its scratch.
    memory: MemoryGradient<R>,
    /// w.r.t. the gates of every head.
    gates: Vec<Gates<R>>,
    /// w.r.t. u_t, p_t and L_t.
    usage: Aligned<R>,
    precedence: Aligned<R>,
    links: Aligned<R>,
    /// w.r.t. a_t, [N].
    allocation: Aligned<R>,
}

/// A step on the way back.
#[derive(Clone, Copy)]
struct Step<'a, R> {
    config: &'a DncConfig,
    trace: &'a Trace<R>,
    upstream: &'a Upstream<R>,
    t: usize,
}

impl<'a, R: Real> Step<'a, R> {
    /// Read heads and write heads.
    fn heads(self) -> (&'a [HeadTrace<R>], &'a [HeadTrace<R>]) {
        self.trace.heads.split_at(self.config.read_heads)
    }

    /// Records the gradient w.r.t. an array of a head.
    fn record(
        self,
        recorder: &mut GradientRecorder<'_, R>,
        head: usize,
        array: Array,
        values: &[R],
    ) {
        if let Some(recorder) = recorder {
            recorder.record_array(self.trace, Place::Head(head), array, self.t, values);
        }
    }
}

impl<R: Real> Scratch<R> {
    fn new(config: &DncConfig) -> Self {
        let n = config.rows;
        let links = if config.has_links() { n } else { 0 };
        let mut memory = MemoryGradient::new(config, true);
        for reader in &mut memory.heads[..config.read_heads] {
            reader.of_weighting.scratch = vec![Aligned::zeros(n); 2];
        }
        Self {
            by: Gradient {
                memory,
                gates: vec![[R::ZERO; 4]; config.read_heads + 1],
                usage: Aligned::zeros(n),
                precedence: Aligned::zeros(n),
                links: Aligned::zeros(links * links),
                allocation: Aligned::zeros(n),
            },
            window: Window::new(config),
            after: After::default(),
            links: LinkWindow::new(links),
        }
    }

    fn reset(&mut self) {
        let by = &mut self.by;
        self.window.reset();
        self.links.reset();
        by.memory.reset();
        for values in [&mut by.usage, &mut by.precedence, &mut by.links] {
            values.fill(R::ZERO);
        }
    }

    /// Backpropagates through reads, links and precedence, write, allocation and usage.
    fn step_backward(
        &mut self,
        step: Step<'_, R>,
        d_reads: &[R],
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let Step {
            trace, t, config, ..
        } = step;
        let (by, epsilon) = (&mut self.by, R::from_f64(config.similarity_epsilon));
        let (readers, writers) = step.heads();
        let (write, heads) = (readers.len(), trace.heads.len());
        let before = self.window.at(trace, writers, t, epsilon);
        let after = self.after.at(writers, t, before);
        // L_0 is 0, and so are the weightings before the first step.
        let is_linked = config.has_links() && t > 0;
        let links = is_linked.then(|| self.links.at(&writers[0], t, trace.steps()));

        by.reads_backward(step, after, d_reads, recorder.as_deref_mut());
        if let Some((_, links)) = links {
            by.ways_backward(step, links);
        }
        by.content_backward(step, 0..write, after, recorder.as_deref_mut());
        if let Some(recorder) = &mut recorder {
            recorder.record_memory(trace, t + 1, &by.memory.memory);
        }
        step.record(&mut recorder, write, PRECEDENCE, &by.precedence);
        by.links_backward(step, links.map(|(before, _)| before));
        by.write_backward(step, before, recorder.as_deref_mut());
        by.usage_backward(step, recorder.as_deref_mut());
        by.content_backward(step, write..heads, before, recorder);
    }
}

impl<R: Real> Gradient<R> {
    /// Through r_t and w_t of the read heads to M_t and to b_t, c_t and f_t.
    fn reads_backward(
        &mut self,
        step: Step<'_, R>,
        seen: Seen<'_, R>,
        d_reads: &[R],
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let (t, (readers, _)) = (step.t, step.heads());
        let MemoryGradient { memory, heads, .. } = &mut self.memory;
        let d_readers = &mut heads[..readers.len()];
        memory::reads_backward(readers, t, seen.columns, d_readers, d_reads, memory);
        let gradients = d_readers.iter_mut().zip(&mut self.gates);
        for (index, (reader, (of_head, gates))) in readers.iter().zip(gradients).enumerate() {
            add_later(of_head, step.upstream, index, t);
            let gradient = &mut of_head.weighting;
            step.record(&mut recorder, index, array::WEIGHTING, gradient);
            let (_, [d_backward, d_forward]) = of_head.of_weighting.all_mut::<0, 2>();
            equations::read_weighting_backward(reader, t, gradient, d_backward, d_forward, gates);
            of_head.previous.fill(R::ZERO);
            step.record(&mut recorder, index, BACKWARD, d_backward);
            step.record(&mut recorder, index, FORWARD, d_forward);
            step.record(&mut recorder, index, array::CONTENT, gradient);
        }
    }

    /// Through b_t and f_t of the read heads to w_{t−1} and L_t.
    fn ways_backward(&mut self, step: Step<'_, R>, links: &[R]) {
        let (readers, _) = step.heads();
        let d_readers = self.memory.heads[..readers.len()].chunks_mut(TOGETHER);
        for (readers, d_readers) in readers.chunks(TOGETHER).zip(d_readers) {
            together!(readers.len(), d_readers, |d_readers| {
                follow_links_backward(readers, links, d_readers, &mut self.links, step.t);
            });
        }
    }

    /// Through c_t of heads to their keys, strengths, and the memory that they saw.
    fn content_backward(
        &mut self,
        step: Step<'_, R>,
        heads: Range<usize>,
        seen: Seen<'_, R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let Step { trace, t, .. } = step;
        let (by, of) = (&mut self.memory, &trace.heads[heads.clone()]);
        let (terms, gradients) = (&step.upstream.terms, &mut by.heads[heads.clone()]);
        let content = Some(Stage::Content);
        address_backward(of, t, trace.sampling, terms, gradients, content);
        for (index, of_head) in heads.zip(&*gradients) {
            let gradient = &of_head.weighting;
            step.record(&mut recorder, index, array::SIMILARITY, gradient);
        }
        let back = Back {
            t,
            seen,
            d_memory: &mut by.memory,
            is_fixed: false,
            scratch: &mut by.rows,
        };
        score::backward(of, gradients, back);
    }

    /// Through L_t and p_t to w_t of the write head; `before` is L_{t−1}, if there are links before this step.
    fn links_backward(&mut self, step: Step<'_, R>, before: Option<&[R]>) {
        let (t, (readers, writers)) = (step.t, step.heads());
        let (d_p, d_w) = (
            &mut self.precedence,
            &mut self.memory.heads[readers.len()].previous,
        );
        if let Some(before) = before {
            let [.., precedence, _, _] = writers[0].of_score.all::<8>();
            let (w, p) = (writers[0].weighting.row(t), precedence.row(t - 1));
            equations::precedence_backward(w, p, d_p, d_w);
            equations::link_backward(w, p, before, &mut self.links, d_w, d_p);
        } else if step.config.has_links() {
            add(&mut d_w[..], &d_p[..]);
        }
    }

    /// Through M_t and w_t of the write head to M_{t−1} and to a_t and c_t.
    fn write_backward(
        &mut self,
        step: Step<'_, R>,
        seen: Seen<'_, R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let (t, (readers, writers)) = (step.t, step.heads());
        let (head, writer, by) = (readers.len(), &writers[0], &mut self.memory);
        let d_writers = &mut by.heads[head..];
        memory::writes_backward(
            writers,
            t,
            seen.columns,
            d_writers,
            &mut by.memory,
            &mut by.write,
        );
        let d_write = &mut d_writers[0];
        add_later(d_write, step.upstream, head, t);
        step.record(&mut recorder, head, array::WEIGHTING, &d_write.weighting);
        let [_, _, allocation, ..] = writer.of_score.all::<8>();
        let d_gates = equations::write_weighting_backward(
            write_gates(writer, t),
            allocation.row(t),
            writer.content.row(t),
            &mut d_write.weighting,
            &mut self.allocation,
        );
        self.gates[head][..2].copy_from_slice(&d_gates);
        step.record(&mut recorder, head, array::CONTENT, &d_write.weighting);
        step.record(&mut recorder, head, ALLOCATION, &self.allocation);
        d_write.previous.fill(R::ZERO);
    }

    /// Through a_t and u_t to u_{t−1}, the weightings before and the free gates.
    fn usage_backward(&mut self, step: Step<'_, R>, mut recorder: GradientRecorder<'_, R>) {
        if !step.config.allocates() {
            return;
        }
        let (t, (readers, writers)) = (step.t, step.heads());
        let (writer, MemoryGradient { heads, rows, .. }) = (&writers[0], &mut self.memory);
        let [initial, usage, _, .., order, _] = writer.of_score.all::<8>();
        let (u, order, d_usage) = (usage.row(t), order.row(t), &mut self.usage);
        equations::allocation_backward(u, order, &self.allocation, d_usage, rows);
        step.record(&mut recorder, readers.len(), USAGE, d_usage);
        let before = t
            .checked_sub(1)
            .map_or(initial.row(0), |last| usage.row(last));
        let written = writer.previous_weighting(t);
        let (d_readers, d_writers) = heads.split_at_mut(readers.len());
        let d_written = &mut d_writers[0].previous[..];
        let gates = &mut self.gates[..readers.len()];
        equations::usage_backward(
            readers, t, before, written, d_usage, d_written, d_readers, gates, rows,
        );
    }
}

/// From the gradients w.r.t. b_t and f_t of read heads to those w.r.t. their last weightings and L_t.
fn follow_links_backward<R: Real, const H: usize>(
    readers: &[HeadTrace<R>],
    links: &[R],
    d_readers: &mut [HeadGradient<R>; H],
    d_links: &mut [R],
    t: usize,
) {
    let before = std::array::from_fn(|head| readers[head].weighting.row(t - 1));
    let ways = d_readers.each_mut().map(|by| {
        let (_, [backward, forward]) = by.of_weighting.all_mut::<0, 2>();
        ([&backward[..], &forward[..]], &mut by.previous[..])
    });
    equations::follow_links_backward(links, before, ways, d_links);
}

/// Adds to the gradient w.r.t. a weighting that of the next step, and that of a penalty on it.
fn add_later<R: Real>(of_head: &mut HeadGradient<R>, by: &Upstream<R>, index: usize, t: usize) {
    add(&mut of_head.weighting[..], &of_head.previous[..]);
    let penalty = &by.weightings[index];
    if penalty.width() > 0 {
        add(&mut of_head.weighting[..], penalty.row(t));
    }
}
