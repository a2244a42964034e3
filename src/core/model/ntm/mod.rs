//! The Neural Turing Machine on one page: an episode forwards, and back through it.
//!
//! Conventions, each pinned by a test: every head addresses M_{t−1}; reads see M_{t−1}; then all erases,
//! then all adds; the output sees h_t and the reads of this step. With [`Order::WriteFirst`] the read heads
//! address and see M_t.

use super::addressing::address;
use super::config::{ControllerConfig, InitialMemory, InitialWeighting, NtmConfig, Order};
use super::dependency::{Conventions, Dependency};
use super::derivatives::heads_backward;
use super::head::{EMITTED, HeadGradient, activate, activate_backward};
use super::machine::{GradientRecorder, Upstream};
use super::memory::{self, WriteGradient};
use super::memory_machine::{Gradients, MemoryMachine};
use super::recompute;
use super::score::{self, Rows};
use super::spec::Array;
use super::trace::{HeadTrace, Trace};
use super::window::{After, BackwardStep, MemoryGradient, Window};
use crate::math::kernel::kernel;
use crate::math::softmax::{softmax, softmax_backward};
use crate::math::vectors::add;
use crate::math::{Matrix, Real};

mod kind;

/// Indices of the tensors that are no linear maps among the [`super::Params`].
mod tensor {
    pub const MEMORY: usize = 0;
    pub const WEIGHTING: usize = 1;
    pub const READ: usize = 2;
    /// Index of the first of those of the controller.
    pub const STATES: usize = 3;
    /// Index of the first tensor learned by the mechanisms of the heads.
    pub const LEARNED: usize = 5;
}

/// What an episode needs on the way back.
pub(super) struct Scratch<R> {
    gradient: MemoryGradient<R>,
    window: Window<R>,
    after: After<R>,
}

impl MemoryMachine for NtmConfig {
    const STATES: usize = tensor::STATES;
    const EMITTED: &'static [Array] = &EMITTED;
    type Scratch<R: Real> = Scratch<R>;

    fn controller(&self) -> &ControllerConfig {
        &self.controller
    }

    fn first_reads(&self) -> Option<usize> {
        Some(tensor::READ)
    }

    /// Nothing persists from one episode to the next.
    fn begin<R: Real>(&self, tensors: &[Matrix<R>], traces: &mut [Trace<R>]) {
        for trace in traces {
            let memory = trace.memory_columns.row_mut(0);
            match self.initial_memory {
                InitialMemory::Constant(value) => memory.fill(R::from_f64(value)),
                InitialMemory::Learned => memory
                    .iter_mut()
                    .zip(tensors[tensor::MEMORY].view().t())
                    .for_each(|(to, &from)| *to = from),
            }
            for (index, head) in trace.heads.iter_mut().enumerate() {
                let initial = head.initial.row_mut(0);
                match self.initial_weighting {
                    InitialWeighting::OneHot => {
                        initial.fill(R::ZERO);
                        initial[0] = R::ONE;
                    }
                    InitialWeighting::Learned => {
                        distribution_of(tensors[tensor::WEIGHTING].row(index), initial);
                    }
                }
            }
            trace.learn(&tensors[tensor::LEARNED..]);
        }
    }

    fn activate<R: Real>(&self, raw: &[R], _: usize, heads: &mut [HeadTrace<R>], t: usize) {
        activate(self, raw, heads, t);
    }

    fn access_memory<R: Real>(&self, trace: &mut Trace<R>, t: usize) {
        let (now, next) = (trace.memory_row(t), trace.memory_row(t + 1));
        let norms = trace.norms_row(t);
        let (before, after) = trace.memory_columns.two_rows(now, next);
        let (heads, norms) = (&mut trace.heads, trace.norms.row_mut(norms));
        let sampling = trace.sampling;
        let mut rows = Rows {
            columns: before,
            epsilon: R::from_f64(self.similarity_epsilon),
            norms,
        };
        match self.order {
            Order::ReadFirst => {
                score::forward(heads, t, &mut rows);
                address(heads, t, sampling, None);
                memory::read_and_write(heads, t, before, after);
            }
            Order::WriteFirst => {
                let (readers, writers) = heads.split_at_mut(self.read_heads);
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

    fn rules<'a, R: Real>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        recompute::dependencies(self, conventions)
    }

    fn memory_scratch<R: Real>(&self) -> Scratch<R> {
        // One pass over the memory needs no scratch in its shape.
        let is_pair = (self.read_heads, self.write_heads) == (1, 1) && !self.is_written_first();
        Scratch {
            gradient: MemoryGradient::new(self, !is_pair),
            window: Window::new(self),
            after: After::default(),
        }
    }

    fn reset<R: Real>(&self, _: &Trace<R>, gradients: &mut Gradients<R, Scratch<R>>) {
        gradients.memory.window.reset();
        gradients.memory.gradient.reset();
    }

    fn access_memory_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        t: usize,
        upstream: &Upstream<R>,
        gradients: &mut Gradients<R, Scratch<R>>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        self.memory_backward(trace, t, upstream, gradients, recorder.as_deref_mut());
        let d_raw = gradients.frame.raw.row_mut(t);
        for (head, of_head) in trace.heads.iter().zip(&gradients.memory.gradient.heads) {
            activate_backward(self, head, t, of_head, trace.raw.row(t), d_raw);
        }
        if let Some(recorder) = recorder {
            for (head, of_head) in gradients.memory.gradient.heads.iter().enumerate() {
                recorder.record_emitted(trace, head, t, of_head, &upstream.terms);
            }
        }
    }

    fn begin_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        gradients: &mut Gradients<R, Scratch<R>>,
        tensors: &mut [Matrix<R>],
        recorder: GradientRecorder<'_, R>,
    ) {
        let (frame, gradient) = (&gradients.frame, &mut gradients.memory.gradient);
        let mut memory = tensors[tensor::MEMORY].view_mut();
        let columns = gradient.memory.chunks(self.rows);
        for (mut to, from) in memory.columns_mut().into_iter().zip(columns) {
            add(&mut to, from);
        }
        let heads = trace.heads.iter().zip(&gradient.heads);
        let mut weightings = tensors[tensor::WEIGHTING].view_mut();
        for (mut to, (head, d)) in weightings.outer_iter_mut().zip(heads) {
            logit_gradient_of(head.initial.row(0), &d.previous, &mut gradient.rows);
            add(&mut to, &gradient.rows[..]);
        }
        add(tensors[tensor::READ].view_mut(), &frame.stack.others);
        for (head, d) in trace.heads.iter().zip(&mut gradient.heads) {
            d.add_up(head);
        }
        let learned = gradient.heads.iter().flat_map(HeadGradient::learned);
        for (to, from) in tensors[tensor::LEARNED..].iter_mut().zip(learned) {
            add(to.view_mut(), from);
        }
        if let Some(recorder) = recorder {
            gradient.record_start(trace, recorder);
        }
    }
}

impl NtmConfig {
    pub(super) fn is_written_first(&self) -> bool {
        self.order == Order::WriteFirst
    }

    /// Through writes, reads and addressing to M_{t−1}; with [`Order::WriteFirst`] through the read heads to M_t first.
    fn memory_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        t: usize,
        upstream: &Upstream<R>,
        Gradients { frame, memory }: &mut Gradients<R, Scratch<R>>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let MemoryGradient {
            memory: d_memory,
            heads: gradients,
            rows: scratch,
            write,
        } = &mut memory.gradient;
        let (d_reads, count) = (&frame.stack.others, self.read_heads);
        let (readers, writers) = trace.heads.split_at(count);
        let is_written_first = self.is_written_first();
        let epsilon = R::from_f64(self.similarity_epsilon);
        let rows = memory.window.at(trace, writers, t, epsilon);
        let mut heads = 0..trace.heads.len();
        if is_written_first {
            let rows = memory.after.at(writers, t, rows);
            memory::reads_backward(readers, t, rows.columns, gradients, d_reads, d_memory);
            let step = BackwardStep {
                t,
                visible_rows: rows,
                d_memory: &mut *d_memory,
                scratch: &mut *scratch,
            };
            let recorder = recorder.as_deref_mut();
            heads_backward(trace, 0..count, gradients, upstream, recorder, step);
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
                rows.columns,
                d_memory,
                (d_reads, &mut d_reader.weighting),
                WriteGradient::of(d_writer),
            );
        } else {
            memory::writes_backward(writers, t, rows.columns, d_writers, d_memory, write);
            if !is_written_first {
                memory::reads_backward(readers, t, rows.columns, d_readers, d_reads, d_memory);
            }
        }
        let step = BackwardStep {
            t,
            visible_rows: rows,
            d_memory,
            scratch,
        };
        heads_backward(trace, heads, gradients, upstream, recorder, step);
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
