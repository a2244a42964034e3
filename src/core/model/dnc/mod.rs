//! The Differentiable Neural Computer on one page (Graves 2016): an episode forwards, and back through it.
//!
//! A step: controller, free gates and usage, allocation, write weighting, erase and add, links and precedence, read
//! weightings, reads. The write head addresses M_{t−1}, the read heads M_t. Before the first step usage, weightings, links
//! and reads are 0; the state of the controller is learned, as in other machines.

use std::any::Any;
use std::ops::Range;

use super::addressing::{address, address_backward};
use super::config::{InitialMemory, Order};
use super::controller::{Stack, StackGradient};
use super::dependency::{Conventions, Dependency, Size};
use super::head::{HeadGradient, set_one};
use super::kind::Kind;
use super::machine::{
    Batch, GradientRecorder, Machine, TOGETHER, Upstream, longest, record, together,
};
use super::params::Params;
use super::recompute::Rules;
use super::score::{self, Rows};
use super::spec::{Array, Place};
use super::stage::Stage;
use super::trace::{HeadTrace, Trace};
use super::window::{After, Back, Window};
use super::{array, memory, readout};
use crate::math::matrix::padded;
use crate::math::vectors::add;
use crate::math::{Aligned, Linear, Real, Series};

mod equations;
mod golden;
mod kind;
mod links;

use equations::Gates;
pub use kind::{
    ALLOCATION, ALLOCATION_GATE, BACKWARD, DncConfig, FORWARD, FREE_GATE, INITIAL_USAGE,
    PRECEDENCE, READ_MODES, USAGE, WRITE_GATE,
};
use kind::{OF_READ, OF_WRITE};
pub use links::link_matrix;
use links::{LinkHistory, LinkWindow};

/// A configuration with weights.
#[derive(Clone, Copy)]
struct Dnc<'a, R> {
    config: &'a DncConfig,
    params: &'a Params<R>,
    epsilon: R,
}

impl DncConfig {
    fn with<'a, R: Real>(&'a self, params: &'a Params<R>) -> Dnc<'a, R> {
        Dnc {
            config: self,
            params,
            epsilon: R::from_f64(self.similarity_epsilon),
        }
    }
}

impl<R: Real> Machine<R> for DncConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let dnc = self.with(params);
        for trace in traces.iter_mut().filter(|_| steps.start == 0) {
            dnc.begin(trace);
        }
        dnc.run(traces, steps);
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(Scratch::<R>::new(self))
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let dnc = self.with(params);
        for group in batch.groups() {
            dnc.backward_together(group);
        }
        dnc.set_gradients(batch, gradient);
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        self.memory_dependencies(conventions)
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        self.with(params).step_by_arrays()
    }
}

impl<'a, R: Real> Dnc<'a, R> {
    fn stack(&self) -> Stack<'a, R> {
        let Params {
            linears, tensors, ..
        } = self.params;
        Stack {
            config: &self.config.controller,
            inputs: self.config.inputs,
            linears: &linears[..self.config.controller.layers],
            hidden: &tensors[0],
            cell: &tensors[1],
        }
    }

    /// All heads side by side: the interface vector.
    fn interface(&self) -> &'a Linear<R> {
        &self.params.linears[self.config.controller.layers]
    }

    fn output(&self) -> &'a Linear<R> {
        &self.params.linears[self.config.controller.layers + 1]
    }

    /// The state before the first step.
    fn begin(&self, trace: &mut Trace<R>) {
        if let InitialMemory::Constant(constant) = self.config.initial_memory {
            let memory = trace.memory_columns.row_mut(0);
            memory.fill(R::from_f64(constant));
        }
        for head in &mut trace.heads {
            head.initial.row_mut(0).fill(R::ZERO);
        }
        if let Some(usage) = trace.heads[self.config.read_heads].series_mut(INITIAL_USAGE) {
            usage.row_mut(0).fill(R::ZERO);
        }
    }

    fn run(&self, traces: &mut [Trace<R>], steps: Range<usize>) {
        let stack = self.stack();
        let step = |t: usize, traces: &mut [Trace<R>]| {
            together!(traces.len(), traces, |traces| self.step(&stack, t, traces));
        };
        stack.run(traces, steps, step, |trace, steps| {
            readout::forward(self.output(), trace, steps, |trace| &trace.features);
        });
    }

    fn step<const B: usize>(&self, stack: &Stack<'_, R>, t: usize, traces: &mut [Trace<R>; B]) {
        stack.forward(t, traces, |heads, t, see| self.see_reads(heads, t, see));
        self.set_raw(t, traces);
        for trace in traces {
            for (index, head) in trace.heads.iter_mut().enumerate() {
                equations::activate(self.config, trace.raw.row(t), index, head, t);
            }
            self.remember(t, trace);
        }
    }

    /// Passes on the reads of the step before; 0 in the first.
    fn see_reads(&self, heads: &[HeadTrace<R>], t: usize, see: &mut dyn FnMut(&[R])) {
        for head in &heads[..self.config.read_heads] {
            match t.checked_sub(1) {
                Some(before) => see(head.read.row(before)),
                None => (0..self.config.columns).for_each(|_| see(&[R::ZERO])),
            }
        }
    }

    fn set_raw<const B: usize>(&self, t: usize, traces: &mut [Trace<R>; B]) {
        let top = self.config.controller.layers - 1;
        let hidden_to_raw = traces.each_mut().map(|trace| {
            let raw = trace.raw.row_mut(t);
            self.interface().start(raw);
            (trace.layers[top].hidden.row(t), raw)
        });
        self.interface().forward_from(0, hidden_to_raw);
    }

    /// Addressing, write and reads of one step.
    fn remember(&self, t: usize, trace: &mut Trace<R>) {
        let (now, next, steps) = (trace.memory_row(t), trace.memory_row(t + 1), trace.steps());
        let norms = trace.norms_row(t);
        let (before, after) = trace.memory_columns.two_rows(now, next);
        let (readers, writers) = trace.heads.split_at_mut(self.config.read_heads);
        if self.config.allocates() {
            set_usage(readers, &mut writers[0], t);
            set_allocation(&mut writers[0], t);
        }
        let mut rows = Rows {
            columns: before,
            epsilon: self.epsilon,
            norms: trace.norms.row_mut(norms),
            is_fixed: false,
        };
        let content = Some(Stage::Content);
        score::forward(writers, t, &mut rows);
        address(writers, t, trace.sampling, content);
        write_weighting(&mut writers[0], t);
        memory::write(writers, t, before, after);
        if self.config.has_links() {
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
        readout::gather(trace, t);
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

/// The gradients that travel from step to step, and scratch.
struct Scratch<R> {
    stack: StackGradient<R>,
    /// Gradient w.r.t. [h; reads] through the output layer, [T, C + R·W].
    seen: readout::Seen<R>,
    /// Gradient w.r.t. the interface vector, [T, P].
    raw: Series<R>,
    /// Gradient w.r.t. h_t through the heads.
    hidden: Vec<R>,
    /// Gradient w.r.t. the memory, column after column.
    memory: Aligned<R>,
    /// Gradients of every head; [`HeadGradient::previous`] is that w.r.t. the weighting of the step before.
    heads: Vec<HeadGradient<R>>,
    /// Gradients w.r.t. the gates of every head.
    gates: Vec<Gates<R>>,
    /// Gradients w.r.t. u_t, p_t and L_t.
    usage: Aligned<R>,
    precedence: Aligned<R>,
    links: Aligned<R>,
    /// Gradients w.r.t. b_t and f_t of every read head, [N] each.
    ways: Vec<[Aligned<R>; 2]>,
    /// Gradient w.r.t. a_t, [N].
    allocation: Aligned<R>,
    /// Scratch: [N], and [M·N].
    rows: Aligned<R>,
    write: Aligned<R>,
    window: Window<R>,
    after: After<R>,
    links_before: LinkWindow<R>,
}

impl<R: Real> Scratch<R> {
    fn new(config: &DncConfig) -> Self {
        let (n, values) = (config.rows, config.rows * config.columns);
        let links = if config.has_links() { n } else { 0 };
        let trace = Trace::new(config);
        Self {
            stack: StackGradient::new(&config.controller, config.read_heads * config.columns),
            seen: readout::Seen::new(config.sizes().features(), config.outputs),
            raw: Series::new(padded(config.head_outputs())),
            hidden: vec![R::ZERO; config.controller.size],
            memory: Aligned::zeros(values),
            heads: HeadGradient::of_all(config, &trace),
            gates: vec![[R::ZERO; 4]; config.read_heads + 1],
            usage: Aligned::zeros(n),
            precedence: Aligned::zeros(n),
            links: Aligned::zeros(links * links),
            ways: vec![[Aligned::zeros(n), Aligned::zeros(n)]; config.read_heads],
            allocation: Aligned::zeros(n),
            rows: Aligned::zeros(n),
            write: Aligned::zeros(values),
            window: Window::new(values, false),
            after: After::default(),
            links_before: LinkWindow::new(links),
        }
    }

    fn reset(&mut self, steps: usize) {
        self.stack.reset(steps);
        self.raw.resize(steps);
        self.window.reset();
        self.links_before.reset();
        for values in [
            &mut self.memory,
            &mut self.usage,
            &mut self.precedence,
            &mut self.links,
        ] {
            values.fill(R::ZERO);
        }
        self.heads.iter_mut().for_each(HeadGradient::reset);
    }
}

impl<R: Real> Dnc<'_, R> {
    /// Backpropagates through some episodes, longest first, side by side.
    fn backward_together(&self, mut group: Batch<'_, R>) {
        let stack = self.stack();
        for (_, by, scratch, _) in group.each::<Scratch<R>>() {
            scratch.reset(by.logit.steps());
            scratch.seen.backward(&self.output().weight, &by.logit);
        }
        let Batch { traces, workspaces } = group;
        for t in (0..longest(traces)).rev() {
            let running = traces.partition_point(|trace| trace.steps() > t);
            for (trace, workspace) in traces[..running].iter().zip(&mut *workspaces) {
                let (by, scratch, recorder) = workspace.parts_mut();
                self.remember_backward(t, trace, by, scratch, recorder);
            }
            together!(running, workspaces, |workspaces| {
                let scratches = workspaces.each_mut().map(|workspace| {
                    let (_, scratch, recorder) = workspace.parts_mut::<Scratch<R>>();
                    (scratch, recorder)
                });
                self.step_backward(&stack, t, traces, scratches);
            });
        }
    }

    /// Backpropagates one step through output, reads, links, write and allocation to the interface vector.
    fn remember_backward(
        &self,
        t: usize,
        trace: &Trace<R>,
        by: &Upstream<R>,
        scratch: &mut Scratch<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let seen = scratch.seen.gradient.row(t);
        let (d_hidden, d_reads) = seen.split_at(self.config.controller.size);
        add(scratch.stack.top(), d_hidden);
        add(&mut scratch.stack.beside, d_reads);
        if let Some(recorder) = &mut recorder {
            recorder.record_reads(trace, t, &scratch.stack.beside);
        }
        self.memory_backward(t, trace, by, scratch, recorder.as_deref_mut());
        let d_raw = scratch.raw.row_mut(t);
        let gradients = scratch.heads.iter().zip(&scratch.gates).enumerate();
        for ((index, (of_head, gates)), head) in gradients.zip(&trace.heads) {
            let raw = trace.raw.row(t);
            equations::activate_backward(self.config, index, head, t, of_head, gates, raw, d_raw);
            if let Some(recorder) = &mut recorder {
                recorder.record_emitted(trace, index, t, of_head, &by.terms);
                let emitted = if head.is_write() {
                    [(ALLOCATION_GATE, &gates[..1]), (WRITE_GATE, &gates[1..2])]
                } else {
                    [(FREE_GATE, &gates[..1]), (READ_MODES, &gates[1..])]
                };
                for (array, values) in emitted {
                    recorder.record_array(trace, Place::Head(index), array, t, values);
                }
            }
        }
    }

    /// Backpropagates through reads, precedence and links, write, allocation and usage.
    #[expect(
        clippy::too_many_lines,
        reason = "the equations of a step, from the last to the first"
    )]
    fn memory_backward(
        &self,
        t: usize,
        trace: &Trace<R>,
        by: &Upstream<R>,
        scratch: &mut Scratch<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let Scratch {
            stack,
            memory: d_memory,
            heads: gradients,
            gates,
            usage: d_usage,
            precedence: d_precedence,
            links: d_links,
            ways,
            allocation: d_allocation,
            rows: scratch,
            write,
            window,
            after,
            links_before,
            ..
        } = scratch;
        let count = self.config.read_heads;
        let (readers, writers) = trace.heads.split_at(count);
        let (writer, place) = (&writers[0], Place::Head(count));
        let before = window.at(trace, writers, t, self.epsilon);
        let after = after.at(writers, t, before);
        let (d_readers, d_writers) = gradients.split_at_mut(count);
        let (gates, write_gates_by) = gates.split_at_mut(count);

        // Reads and their weightings.
        let d_reads = &stack.beside;
        memory::reads_backward(readers, t, after.columns, d_readers, d_reads, d_memory);
        for (index, (reader, of_head)) in readers.iter().zip(&mut *d_readers).enumerate() {
            add_later(of_head, by, index, t);
            if let Some(recorder) = &mut recorder {
                let (head, gradient) = (Place::Head(index), &of_head.weighting);
                recorder.record_array(trace, head, array::WEIGHTING, t, gradient);
            }
            let ([d_backward, d_forward], gates) = (&mut ways[index], &mut gates[index]);
            let gradient = &mut of_head.weighting;
            equations::read_weighting_backward(reader, t, gradient, d_backward, d_forward, gates);
            of_head.previous.fill(R::ZERO);
            if let Some(recorder) = &mut recorder {
                let head = Place::Head(index);
                recorder.record_array(trace, head, BACKWARD, t, d_backward);
                recorder.record_array(trace, head, FORWARD, t, d_forward);
                recorder.record_array(trace, head, array::CONTENT, t, &of_head.weighting);
            }
        }
        // L_0 is 0, and so are the weightings before the first step.
        let last = t.checked_sub(1).filter(|_| self.config.has_links());
        if last.is_some() {
            let (_, links) = links_before.at(writer, t, trace.steps());
            follow_links_backward(readers, links, ways, d_readers, d_links, t);
        }
        let seen = after;
        content_backward(
            trace,
            0..count,
            by,
            d_readers,
            recorder.as_deref_mut(),
            Back {
                t,
                seen,
                d_memory: &mut *d_memory,
                is_fixed: false,
                scratch: &mut *scratch,
            },
        );
        if let Some(recorder) = &mut recorder {
            recorder.record_memory(trace, t + 1, d_memory);
            recorder.record_array(trace, place, PRECEDENCE, t, d_precedence);
        }

        // Precedence, links, write.
        let d_write = &mut d_writers[0];
        if let Some(last) = last {
            let [.., precedence, _, _] = writer.of_score.all::<8>();
            let (w, p) = (writer.weighting.row(t), precedence.row(last));
            let (links, _) = links_before.at(writer, t, trace.steps());
            let d_w = &mut d_write.previous;
            equations::precedence_backward(w, p, d_precedence, d_w);
            equations::link_backward(w, p, links, d_links, d_w, d_precedence);
        } else if self.config.has_links() {
            add(&mut d_write.previous[..], &d_precedence[..]);
        }
        memory::writes_backward(writers, t, before.columns, d_writers, d_memory, write);
        let d_write = &mut d_writers[0];
        add_later(d_write, by, count, t);
        let [initial, usage, allocation, .., order, _] = writer.of_score.all::<8>();
        if let Some(recorder) = &mut recorder {
            recorder.record_array(trace, place, array::WEIGHTING, t, &d_write.weighting);
        }
        let [allocation_gate, write_gate] = equations::write_weighting_backward(
            write_gates(writer, t),
            allocation.row(t),
            writer.content.row(t),
            &mut d_write.weighting,
            d_allocation,
        );
        (write_gates_by[0][0], write_gates_by[0][1]) = (allocation_gate, write_gate);
        if let Some(recorder) = &mut recorder {
            recorder.record_array(trace, place, array::CONTENT, t, &d_write.weighting);
            recorder.record_array(trace, place, ALLOCATION, t, d_allocation);
        }
        d_write.previous.fill(R::ZERO);

        // Allocation and usage.
        if self.config.allocates() {
            let (u, order) = (usage.row(t), order.row(t));
            equations::allocation_backward(u, order, d_allocation, d_usage, scratch);
            if let Some(recorder) = &mut recorder {
                recorder.record_array(trace, place, USAGE, t, d_usage);
            }
            let (before, written) = match t.checked_sub(1) {
                Some(last) => (usage.row(last), writer.weighting.row(last)),
                None => (initial.row(0), writer.initial.row(0)),
            };
            let d_written = &mut d_write.previous[..];
            equations::usage_backward(
                readers, t, before, written, d_usage, d_written, d_readers, gates, scratch,
            );
        }
        let seen = before;
        content_backward(
            trace,
            count..count + 1,
            by,
            d_writers,
            recorder,
            Back {
                t,
                seen,
                d_memory,
                is_fixed: false,
                scratch,
            },
        );
    }

    /// Backpropagates one step from the interface vector through the controller to its input.
    fn step_backward<const B: usize>(
        &self,
        stack: &Stack<'_, R>,
        t: usize,
        traces: &[Trace<R>],
        mut scratches: [(&mut Scratch<R>, GradientRecorder<'_, R>); B],
    ) {
        let raw_to_hidden = scratches
            .each_mut()
            .map(|(scratch, _)| (scratch.raw.row(t), &mut scratch.hidden[..]));
        self.interface().backward_from(0, raw_to_hidden);
        let gradients = scratches.map(|(scratch, recorder)| {
            add(scratch.stack.top(), &scratch.hidden);
            (&mut scratch.stack, recorder)
        });
        stack.backward(t, traces, gradients);
    }

    /// The gradients of all tensors, from those of every step.
    fn set_gradients(&self, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        for (trace, by, scratch, recorder) in batch.each::<Scratch<R>>() {
            scratch.stack.add_initial(&mut gradient.tensors);
            if let Some(recorder) = recorder {
                recorder.record_logits(trace, by);
                self.stack().record_inputs(trace, &scratch.stack, recorder);
                recorder.record_memory(trace, 0, &scratch.memory);
                for (head, by) in scratch.heads.iter().enumerate() {
                    recorder.record_start(trace, head, by);
                }
                let place = Place::Head(self.config.read_heads);
                recorder.record_array(trace, place, INITIAL_USAGE, 0, &scratch.usage);
            }
        }
        let all = batch.done::<Scratch<R>>();
        let layers = self.config.controller.layers;
        let (controller, others) = gradient.linears.split_at_mut(layers);
        let stacks = all.clone();
        let stacks = stacks.map(|(trace, _, scratch)| (trace, &scratch.stack));
        Stack::set_gradients(&stacks, controller);
        let heads = all.clone();
        others[0].set_gradient(
            heads.map(|(trace, _, scratch)| (&trace.layers[layers - 1].hidden, &scratch.raw)),
        );
        others[1].set_gradient(all.map(|(trace, logit, _)| (&trace.features, logit)));
    }
}

/// From the gradients w.r.t. b_t and f_t of the read heads to those w.r.t. their last weightings and L_t.
fn follow_links_backward<R: Real>(
    readers: &[HeadTrace<R>],
    links: &[R],
    ways: &[[Aligned<R>; 2]],
    d_readers: &mut [HeadGradient<R>],
    d_links: &mut [R],
    t: usize,
) {
    let heads = readers.chunks(TOGETHER).zip(ways.chunks(TOGETHER));
    for ((readers, ways), d_readers) in heads.zip(d_readers.chunks_mut(TOGETHER)) {
        together!(readers.len(), d_readers, |d_readers| {
            let mut of = readers.iter().zip(ways);
            let heads = d_readers.each_mut().map(|by| {
                let (reader, [backward, forward]) = of.next().unwrap_or_else(|| unreachable!());
                let ways = [&backward[..], &forward[..]];
                (reader.weighting.row(t - 1), ways, &mut by.previous[..])
            });
            equations::follow_links_backward(links, heads, d_links);
        });
    }
}

/// Adds to the gradient w.r.t. a weighting that of the next step, and that of a penalty on it.
fn add_later<R: Real>(of_head: &mut HeadGradient<R>, by: &Upstream<R>, index: usize, t: usize) {
    add(&mut of_head.weighting[..], &of_head.previous[..]);
    let penalty = &by.weightings[index];
    if penalty.width() > 0 {
        add(&mut of_head.weighting[..], penalty.row(t));
    }
}

/// From the gradients w.r.t. the content weightings of heads to those w.r.t. their keys, strengths, and the memory they saw.
fn content_backward<R: Real>(
    trace: &Trace<R>,
    heads: Range<usize>,
    by: &Upstream<R>,
    gradients: &mut [HeadGradient<R>],
    recorder: GradientRecorder<'_, R>,
    to: Back<'_, R>,
) {
    let (of, t) = (&trace.heads[heads.clone()], to.t);
    address_backward(
        of,
        t,
        trace.sampling,
        &by.terms,
        gradients,
        Some(Stage::Content),
    );
    if let Some(recorder) = recorder {
        for (index, of_head) in heads.zip(&*gradients) {
            let (to, from) = (&mut recorder.heads[index], &trace.heads[index]);
            record(&mut to.similarity, &from.similarity, t, &of_head.weighting);
        }
    }
    score::backward(of, gradients, to);
}

impl DncConfig {
    /// The arrays that follow from others without the weights, in the order of the computation.
    fn memory_dependencies<'a, R: Real>(
        &self,
        conventions: &'a Conventions,
    ) -> Vec<Dependency<'a, R>> {
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
            let readers = (0..count).map(Place::Head);
            let needs = readers.flat_map(|read| [(read, FREE_GATE), (read, array::WEIGHTING)]);
            let needs = needs.chain([(write, array::WEIGHTING)]).collect::<Vec<_>>();
            let compute = move |trace: &mut Trace<R>, t: usize| {
                let (readers, writers) = trace.heads.split_at_mut(count);
                set_usage(readers, &mut writers[0], t);
            };
            let usage = Dependency::new(write, USAGE, needs, Size::One, compute);
            all.push(Dependency {
                start: Some(INITIAL_USAGE),
                ..usage
            });
            all.push(of_write(ALLOCATION, vec![(write, USAGE)], |writer, t| {
                make_room(writer, kind::ALLOCATION_ORDER, t + 1);
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
                    let all = || (0..count).flat_map(|head| [(head, BACKWARD), (head, FORWARD)]);
                    let row = |readers: &[HeadTrace<R>], (head, array): (usize, Array)| {
                        readers[head]
                            .series(array)
                            .map(|series| series.row(t).to_vec())
                    };
                    let kept: Vec<_> = all().map(|of| row(readers, of)).collect();
                    follow_links(readers, &matrix, t);
                    for ((of, other), kept) in all().zip(kept) {
                        let to = readers[of]
                            .series_mut(other)
                            .filter(|_| (of, other) != (head, array));
                        if let Some((to, kept)) = to.zip(kept) {
                            to.row_mut(t).copy_from_slice(&kept);
                        }
                    }
                };
                all.push(Dependency::new(place, array, needs, Size::Share, compute));
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
}

/// Allocates scratch of a trace that was read.
fn make_room<R: Real>(head: &mut HeadTrace<R>, array: Array, steps: usize) {
    if let Some(series) = head.series_mut(array) {
        series.resize(series.steps().max(steps));
    }
}

impl<'a, R: Real> Dnc<'a, R> {
    /// See [`Machine::step`].
    fn step_by_arrays(self) -> Vec<Dependency<'a, R>> {
        let reads = move |heads: &[HeadTrace<R>], t, see: &mut dyn FnMut(&[R])| {
            self.see_reads(heads, t, see);
        };
        let heads = (0..=self.config.read_heads).flat_map(move |head| self.emitted(head));
        let seen = |trace: &mut Trace<R>, t: usize| {
            readout::gather(trace, t);
            trace.features.row(t).to_vec()
        };
        let controller = self.stack().step(reads).chain(heads);
        controller
            .chain(self.config.memory_dependencies(Conventions::OWN))
            .chain(readout::step(self.output(), seen))
            .collect()
    }

    /// What a head emits, from the hidden state.
    fn emitted(self, head: usize) -> impl Iterator<Item = Dependency<'a, R>> {
        let place = Place::Head(head);
        let arrays = EMITTED.into_iter();
        let (config, [own, _]) = (self.config, self.config.head_arrays(head));
        let arrays = arrays.filter(move |array| {
            let is_own = own.contains(array) || ![OF_READ, OF_WRITE].concat().contains(array);
            is_own && config.width(place, array) > 0
        });
        arrays.map(move |array| {
            let compute = move |trace: &mut Trace<R>, t: usize| {
                self.set_raw(t, std::array::from_mut(trace));
                let raw = trace.raw.row(t);
                set_one(&mut trace.heads[head], &EMITTED, array, t, |of_head| {
                    equations::activate(self.config, raw, head, of_head, t);
                });
            };
            Dependency::with_weights(place, array, compute)
        })
    }
}

/// The arrays that heads emit.
const EMITTED: [Array; 8] = [
    array::KEY,
    array::STRENGTH,
    array::ERASE,
    array::ADD,
    FREE_GATE,
    READ_MODES,
    ALLOCATION_GATE,
    WRITE_GATE,
];
