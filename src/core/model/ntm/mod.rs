//! The Neural Turing Machine on one page: an episode forwards, and back through it.
//!
//! Conventions, each pinned by a test: every head addresses M_{t−1}; reads see M_{t−1}; then all erases,
//! then all adds; the output sees h_t and the reads of this step. With [`Order::WriteFirst`] the read heads
//! address and see M_t.

use std::any::Any;
use std::ops::Range;

use super::addressing::address;
use super::config::{InitialMemory, InitialWeighting, NtmConfig, Order};
use super::controller::{Stack, StackGradient};
use super::dependency::{Conventions, Dependency};
use super::derivatives::heads_backward;
use super::head::{EMITTED, HeadGradient, activate, activate_backward, set_one};
use super::kind::Kind;
use super::machine::{Batch, GradientRecorder, Machine, Upstream, longest, together};
use super::memory::{self, WriteGradient};
use super::params::Params;
use super::readout;
use super::recompute;
use super::score::{self, Rows};
use super::spec::Place;
use super::trace::{HeadTrace, Trace};
use super::window::{After, Back, Window};
use crate::math::kernel::kernel;
use crate::math::matrix::padded;
use crate::math::softmax::{softmax, softmax_backward};
use crate::math::vectors::add;
use crate::math::{Aligned, Linear, Matrix, Real, Series};

mod kind;

/// Indices of the tensors that are no linear maps among the [`super::Params`].
pub(super) mod tensor {
    pub const MEMORY: usize = 0;
    pub const WEIGHTING: usize = 1;
    pub const READ: usize = 2;
    pub const HIDDEN: usize = 3;
    pub const CELL: usize = 4;
    /// Index of the first tensor learned by the mechanisms of the heads.
    pub const LEARNED: usize = 5;
}

/// A configuration with weights.
#[derive(Clone, Copy)]
struct Ntm<'a, R> {
    config: &'a NtmConfig,
    params: &'a Params<R>,
    epsilon: R,
}

/// The gradients that travel from step to step, and scratch.
struct Scratch<R> {
    stack: StackGradient<R>,
    /// Gradient w.r.t. [h; reads] through the output layer, [T, C + R·M].
    seen: readout::Seen<R>,
    /// Gradient w.r.t. the pre-activations of all heads, [T, P].
    raw: Series<R>,
    /// Gradient w.r.t. h_t through the heads.
    hidden: Vec<R>,
    /// Gradient w.r.t. the memory, column after column.
    memory: Aligned<R>,
    /// Gradients of every head.
    heads: Vec<HeadGradient<R>>,
    /// A vector of N values: scratch.
    rows: Aligned<R>,
    /// Scratch in the shape of the memory; empty with a single head of each kind that reads first.
    write: Aligned<R>,
    window: Window<R>,
    after: After<R>,
}

impl<R: Real> Machine<R> for NtmConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        self.with(params).run(traces, steps);
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(Scratch::<R>::new(self))
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let ntm = self.with(params);
        for group in batch.groups() {
            ntm.backward_together(group);
        }
        ntm.set_gradients(batch, gradient);
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        recompute::dependencies(self, conventions)
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        self.with(params).step_by_arrays()
    }
}

impl NtmConfig {
    fn with<'a, R: Real>(&'a self, params: &'a Params<R>) -> Ntm<'a, R> {
        Ntm {
            config: self,
            params,
            epsilon: R::from_f64(self.similarity_epsilon),
        }
    }

    pub(super) fn is_written_first(&self) -> bool {
        self.order == Order::WriteFirst
    }

    /// True for one head of each kind that act at once: one pass over the memory serves both.
    fn is_pair(&self) -> bool {
        (self.read_heads, self.write_heads) == (1, 1) && !self.is_written_first()
    }
}

impl<'a, R: Real> Ntm<'a, R> {
    fn stack(&self) -> Stack<'a, R> {
        let Params {
            linears, tensors, ..
        } = self.params;
        Stack {
            config: &self.config.controller,
            inputs: self.config.inputs,
            linears: &linears[..self.config.controller.layers],
            hidden: &tensors[tensor::HIDDEN],
            cell: &tensors[tensor::CELL],
        }
    }

    /// All heads side by side.
    fn heads(&self) -> &'a Linear<R> {
        &self.params.linears[self.config.controller.layers]
    }

    fn output(&self) -> &'a Linear<R> {
        &self.params.linears[self.config.controller.layers + 1]
    }

    fn initial(&self, tensor: usize) -> &'a Matrix<R> {
        &self.params.tensors[tensor]
    }

    fn run(&self, traces: &mut [Trace<R>], steps: Range<usize>) {
        let stack = self.stack();
        if steps.start == 0 {
            traces.iter_mut().for_each(|trace| self.reset(trace));
        }
        let step = |t: usize, traces: &mut [Trace<R>]| {
            together!(traces.len(), traces, |traces| self.step(&stack, t, traces));
        };
        stack.run(traces, steps, step, |trace, steps| {
            readout::forward(self.output(), trace, steps, |trace| &trace.features);
        });
    }

    /// The state before the first step: nothing persists from one episode to the next.
    fn reset(&self, trace: &mut Trace<R>) {
        let memory = trace.memory_columns.row_mut(0);
        match self.config.initial_memory {
            InitialMemory::Constant(value) => memory.fill(R::from_f64(value)),
            InitialMemory::Learned => memory
                .iter_mut()
                .zip(self.initial(tensor::MEMORY).view().t())
                .for_each(|(to, &from)| *to = from),
        }
        for (index, head) in trace.heads.iter_mut().enumerate() {
            let initial = head.initial.row_mut(0);
            match self.config.initial_weighting {
                InitialWeighting::OneHot => {
                    initial.fill(R::ZERO);
                    initial[0] = R::ONE;
                }
                InitialWeighting::Learned => {
                    distribution_of(self.initial(tensor::WEIGHTING).row(index), initial);
                }
            }
        }
        trace.learn(&self.params.tensors[tensor::LEARNED..]);
    }

    /// Computes one time step: controller, addressing, reads, writes.
    fn step<const B: usize>(&self, stack: &Stack<'_, R>, t: usize, traces: &mut [Trace<R>; B]) {
        stack.forward(t, traces, |heads, t, see| self.see_reads(heads, t, see));
        self.set_raw(t, traces);
        for trace in &mut *traces {
            self.remember(t, trace);
        }
        // Not at once: what was just written in parts would be awaited to be read as a whole.
        for trace in traces {
            readout::gather(trace, t);
        }
    }

    /// Passes on the reads of the step before.
    fn see_reads(&self, heads: &[HeadTrace<R>], t: usize, see: &mut dyn FnMut(&[R])) {
        for (q, head) in heads[..self.config.read_heads].iter().enumerate() {
            see(if t > 0 {
                head.read.row(t - 1)
            } else {
                self.initial(tensor::READ).row(q)
            });
        }
    }

    /// The pre-activations of all heads.
    fn set_raw<const B: usize>(&self, t: usize, traces: &mut [Trace<R>; B]) {
        let top = self.config.controller.layers - 1;
        let hidden_to_raw = traces.each_mut().map(|trace| {
            let raw = trace.raw.row_mut(t);
            self.heads().start(raw);
            (trace.layers[top].hidden.row(t), raw)
        });
        self.heads().forward_from(0, hidden_to_raw);
    }

    /// Addressing, reads and writes of one step.
    fn remember(&self, t: usize, trace: &mut Trace<R>) {
        let (now, next) = (trace.memory_row(t), trace.memory_row(t + 1));
        let norms = trace.norms_row(t);
        let (before, after) = trace.memory_columns.two_rows(now, next);
        activate(self.config, trace.raw.row(t), &mut trace.heads, t);
        let (heads, norms) = (&mut trace.heads, trace.norms.row_mut(norms));
        let sampling = trace.sampling;
        let mut rows = Rows {
            columns: before,
            epsilon: self.epsilon,
            norms,
            is_fixed: false,
        };
        match self.config.order {
            Order::ReadFirst => {
                score::forward(heads, t, &mut rows);
                address(heads, t, sampling, None);
                memory::read_and_write(heads, t, before, after);
            }
            Order::WriteFirst => {
                let (readers, writers) = heads.split_at_mut(self.config.read_heads);
                score::forward(writers, t, &mut rows);
                address(writers, t, sampling, None);
                memory::write(writers, t, before, after);
                rows.columns = after;
                score::forward(readers, t, &mut rows);
                address(readers, t, sampling, None);
                memory::read(readers, t, after);
            }
        }
    }

    /// Backpropagates through up to [`TOGETHER`] episodes, longest first, side by side.
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
                    let (_, scratch, recorder) = workspace.parts_mut();
                    (scratch, recorder)
                });
                self.step_backward(&stack, t, traces, scratches);
            });
        }
    }

    /// Backpropagates one step through output, writes, reads and addressing to the parameters of the heads.
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
        for (head, by) in trace.heads.iter().zip(&scratch.heads) {
            activate_backward(self.config, head, t, by, trace.raw.row(t), d_raw);
        }
        if let Some(recorder) = recorder {
            for (head, of_head) in scratch.heads.iter().enumerate() {
                recorder.record_emitted(trace, head, t, of_head, &by.terms);
            }
        }
    }

    /// Through writes, reads and addressing to M_{t−1}; with [`Order::WriteFirst`] through the read heads to M_t first.
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
            rows: scratch,
            write,
            window,
            after,
            ..
        } = scratch;
        let (d_reads, count) = (&stack.beside, self.config.read_heads);
        let (readers, writers) = trace.heads.split_at(count);
        let is_written_first = self.config.is_written_first();
        let seen = window.at(trace, writers, t, self.epsilon);
        let mut heads = 0..trace.heads.len();
        if is_written_first {
            let seen = after.at(writers, t, seen);
            memory::reads_backward(readers, t, seen.columns, gradients, d_reads, d_memory);
            let back = Back {
                t,
                seen,
                d_memory: &mut *d_memory,
                is_fixed: false,
                scratch: &mut *scratch,
            };
            let recorder = recorder.as_deref_mut();
            heads_backward(trace, 0..count, gradients, by, recorder, back);
            heads.start = count;
        }
        if let Some(recorder) = &mut recorder {
            recorder.record_memory(trace, t + 1, d_memory);
        }
        let (d_readers, d_writers) = gradients.split_at_mut(count);
        if let ([reader], [writer], [d_reader], [d_writer]) =
            (readers, writers, &mut *d_readers, &mut *d_writers)
            && !is_written_first
        {
            memory::read_and_write_backward(
                reader,
                writer,
                t,
                seen.columns,
                d_memory,
                (d_reads, &mut d_reader.weighting),
                WriteGradient::of(d_writer),
            );
        } else {
            memory::writes_backward(writers, t, seen.columns, d_writers, d_memory, write);
            if !is_written_first {
                memory::reads_backward(readers, t, seen.columns, d_readers, d_reads, d_memory);
            }
        }
        let back = Back {
            t,
            seen,
            d_memory,
            is_fixed: false,
            scratch,
        };
        heads_backward(trace, heads, gradients, by, recorder, back);
    }

    /// Backpropagates one step from the parameters of the heads through the controller to its input.
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
        self.heads().backward_from(0, raw_to_hidden);
        let gradients = scratches.map(|(scratch, recorder)| {
            add(scratch.stack.top(), &scratch.hidden);
            (&mut scratch.stack, recorder)
        });
        stack.backward(t, traces, gradients);
    }

    /// The gradients of all tensors, from those of every step.
    fn set_gradients(&self, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        for (trace, by, scratch, recorder) in batch.each::<Scratch<R>>() {
            self.add_initial(trace, scratch, &mut gradient.tensors);
            if let Some(recorder) = recorder {
                recorder.record_logits(trace, by);
                self.record_start(trace, scratch, recorder);
            }
        }
        let all = batch.done::<Scratch<R>>();
        let layers = self.config.controller.layers;
        let (controller, others) = gradient.linears.split_at_mut(layers);
        let stacks = all
            .clone()
            .map(|(trace, _, scratch)| (trace, &scratch.stack));
        Stack::set_gradients(&stacks, controller);
        let heads = all.clone();
        others[0].set_gradient(
            heads.map(|(trace, _, scratch)| (&trace.layers[layers - 1].hidden, &scratch.raw)),
        );
        others[1].set_gradient(all.map(|(trace, logit, _)| (&trace.features, logit)));
    }

    /// Records the gradients w.r.t. the state before the first step, and w.r.t. the input.
    fn record_start(&self, trace: &Trace<R>, scratch: &Scratch<R>, recorder: &mut Trace<R>) {
        self.stack().record_inputs(trace, &scratch.stack, recorder);
        recorder.record_memory(trace, 0, &scratch.memory);
        for (head, by) in scratch.heads.iter().enumerate() {
            recorder.record_start(trace, head, by);
        }
    }

    /// Adds the gradients w.r.t. the learned state before the first step.
    fn add_initial(&self, trace: &Trace<R>, scratch: &mut Scratch<R>, tensors: &mut [Matrix<R>]) {
        let mut memory = tensors[tensor::MEMORY].view_mut();
        let columns = scratch.memory.chunks(self.config.rows);
        for (mut to, from) in memory.columns_mut().into_iter().zip(columns) {
            add(&mut to, from);
        }
        let heads = trace.heads.iter().zip(&scratch.heads);
        let mut weightings = tensors[tensor::WEIGHTING].view_mut();
        for (mut to, (head, by)) in weightings.outer_iter_mut().zip(heads) {
            logit_gradient_of(head.initial.row(0), &by.previous, &mut scratch.rows);
            add(&mut to, &scratch.rows[..]);
        }
        add(tensors[tensor::READ].view_mut(), &scratch.stack.beside);
        for (head, by) in trace.heads.iter().zip(&mut scratch.heads) {
            by.add_up(head);
        }
        let learned = scratch.heads.iter().flat_map(HeadGradient::learned);
        for (to, from) in tensors[tensor::LEARNED..].iter_mut().zip(learned) {
            add(to.view_mut(), from);
        }
        let states = &mut tensors[tensor::HIDDEN..=tensor::CELL];
        scratch.stack.add_initial(states);
    }
}

impl<'a, R: Real> Ntm<'a, R> {
    /// See [`crate::model::Machine::step`].
    pub(super) fn step_by_arrays(self) -> Vec<Dependency<'a, R>> {
        let config = self.config;
        let reads = move |heads: &[HeadTrace<R>], t, see: &mut dyn FnMut(&[R])| {
            self.see_reads(heads, t, see);
        };
        let heads = (0..config.heads()).flat_map(move |head| self.emitted(head));
        let memory = recompute::dependencies(config, Conventions::OWN);
        let seen = |trace: &mut Trace<R>, t: usize| {
            readout::gather(trace, t);
            trace.features.row(t).to_vec()
        };
        let output: &'a Linear<R> = self.output();
        let controller = self.stack().step(reads).chain(heads);
        controller
            .chain(memory)
            .chain(readout::step(output, seen))
            .collect()
    }

    /// What a head emits, from the hidden state.
    fn emitted(self, head: usize) -> impl Iterator<Item = Dependency<'a, R>> {
        let place = Place::Head(head);
        let arrays = EMITTED.into_iter();
        let arrays = arrays.filter(move |array| self.config.width(place, array) > 0);
        arrays.map(move |array| {
            let compute = move |trace: &mut Trace<R>, t: usize| {
                self.set_raw(t, std::array::from_mut(trace));
                let raw = trace.raw.row(t);
                set_one(&mut trace.heads[head], &EMITTED, array, t, |head| {
                    activate(self.config, raw, std::slice::from_mut(head), t);
                });
            };
            Dependency::with_weights(place, array, compute)
        })
    }
}

impl<R: Real> Scratch<R> {
    fn new(config: &NtmConfig) -> Self {
        let zeros = |len: usize| vec![R::ZERO; len];
        let (values, is_written_first) = (config.rows * config.columns, config.is_written_first());
        Self {
            stack: StackGradient::new(&config.controller, config.read_heads * config.columns),
            seen: readout::Seen::new(config.sizes().features(), config.outputs),
            raw: Series::new(padded(config.head_outputs())),
            hidden: zeros(config.controller.size),
            memory: Aligned::zeros(values),
            heads: HeadGradient::of_all(config, &Trace::new(config)),
            rows: Aligned::zeros(config.rows),
            write: Aligned::zeros(if config.is_pair() { 0 } else { values }),
            window: Window::new(values, !is_written_first),
            after: After::default(),
        }
    }

    fn reset(&mut self, steps: usize) {
        self.stack.reset(steps);
        self.raw.resize(steps);
        self.window.reset();
        self.memory.fill(R::ZERO);
        self.heads.iter_mut().for_each(HeadGradient::reset);
    }
}

kernel! {
    /// A learned initial weighting: a distribution whatever its logits.
    fn distribution_of<'a, R>(simd; logits: &'a [R], weighting: &'a mut [R]) {
        softmax(simd, R::ONE, logits, weighting);
    }
}

kernel! {
    /// Sets the gradient w.r.t. the logits of a learned initial weighting from that w.r.t. the weighting.
    fn logit_gradient_of<'a, R>(simd; weighting: &'a [R], gradient: &'a [R], logits: &'a mut [R]) {
        softmax_backward(simd, weighting, gradient, logits);
    }
}
