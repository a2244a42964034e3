//! Back through the Differentiable Neural Computer, from the last step to the first.

use std::ops::Range;

use super::equations::{self, Gates};
use super::kind::{
    ALLOCATION, ALLOCATION_GATE, AT_ALLOCATION, AT_INITIAL_USAGE, AT_ORDER, AT_PRECEDENCE,
    AT_USAGE, BACKWARD, DncConfig, FORWARD, FREE_GATE, INITIAL_USAGE, PRECEDENCE, READ_MODES,
    USAGE, WRITE_GATE,
};
use super::links::LinkWindow;
use crate::math::vectors::add;
use crate::math::{Aligned, Real};
use crate::model::addressing::address_backward;
use crate::model::head::HeadGradient;
use crate::model::machine::{GradientRecorder, TOGETHER, Upstream, together};
use crate::model::memory_machine::Gradients;
use crate::model::score;
use crate::model::spec::{Array, Place};
use crate::model::stage::Stage;
use crate::model::trace::{HeadTrace, Trace};
use crate::model::window::{After, BackwardStep, MemoryGradient, VisibleRows, Window};
use crate::model::{array, memory};

/// What an episode needs on the way back.
pub(in crate::model) struct Scratch<R> {
    gradient: Gradient<R>,
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
pub(super) struct Step<'a, R> {
    pub(super) config: &'a DncConfig,
    pub(super) trace: &'a Trace<R>,
    pub(super) upstream: &'a Upstream<R>,
    pub(super) t: usize,
}

impl<'a, R: Real> Step<'a, R> {
    /// From the gradients w.r.t. the reads to those w.r.t. the pre-activations of heads.
    pub(super) fn backward(
        self,
        gradients: &mut Gradients<R, Scratch<R>>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let Gradients { frame, memory } = gradients;
        let Self { trace, t, .. } = self;
        memory.step_backward(self, &frame.stack.others, recorder.as_deref_mut());
        let d_raw = frame.raw.row_mut(t);
        let Gradient { memory, gates, .. } = &memory.gradient;
        let gradients = memory.heads.iter().zip(gates).enumerate();
        for ((index, (of_head, gates)), head) in gradients.zip(&trace.heads) {
            let raw = trace.raw.row(t);
            equations::activate_backward(self.config, index, head, t, of_head, gates, raw, d_raw);
            if let Some(recorder) = &mut recorder {
                recorder.record_emitted(trace, index, t, of_head, &self.upstream.terms);
            }
            let emitted = if head.is_write() {
                [(ALLOCATION_GATE, &gates[..1]), (WRITE_GATE, &gates[1..2])]
            } else {
                [(FREE_GATE, &gates[..1]), (READ_MODES, &gates[1..])]
            };
            for (array, values) in emitted {
                self.record(&mut recorder, (index, array), values);
            }
        }
    }

    /// Read heads and write heads.
    fn heads(self) -> (&'a [HeadTrace<R>], &'a [HeadTrace<R>]) {
        self.trace.heads.split_at(self.config.read_heads)
    }

    /// Records the gradient w.r.t. an array of a head.
    fn record(self, to: &mut GradientRecorder<'_, R>, of: (usize, Array), values: &[R]) {
        if let Some(to) = to {
            to.record_array(self.trace, Place::Head(of.0), of.1, self.t, values);
        }
    }
}

impl<R: Real> Scratch<R> {
    pub(super) fn new(config: &DncConfig) -> Self {
        let n = config.rows;
        let links = if config.has_links() { n } else { 0 };
        let mut memory = MemoryGradient::new(config, true);
        for reader in &mut memory.heads[..config.read_heads] {
            reader.of_weighting.scratch = vec![Aligned::zeros(n); 2];
        }
        Self {
            gradient: Gradient {
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

    pub(super) fn reset(&mut self) {
        let d = &mut self.gradient;
        self.window.reset();
        self.links.reset();
        d.memory.reset();
        for values in [&mut d.usage, &mut d.precedence, &mut d.links] {
            values.fill(R::ZERO);
        }
    }

    /// Records the gradients w.r.t. the arrays before the first step.
    pub(super) fn record_start(
        &self,
        config: &DncConfig,
        trace: &Trace<R>,
        recorder: &mut Trace<R>,
    ) {
        self.gradient.memory.record_start(trace, recorder);
        let place = Place::Head(config.read_heads);
        recorder.record_array(trace, place, INITIAL_USAGE, 0, &self.gradient.usage);
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
        let (gradient, epsilon) = (&mut self.gradient, R::from_f64(config.similarity_epsilon));
        let (readers, writers) = step.heads();
        let (write, heads) = (readers.len(), trace.heads.len());
        let before = self.window.at(trace, writers, t, epsilon);
        let after = self.after.at(writers, t, before);
        // L_0 is 0, and so are the weightings before the first step.
        let is_linked = config.has_links() && t > 0;
        let links = is_linked.then(|| self.links.at(&writers[0], t, trace.steps()));

        gradient.reads_backward(step, after, d_reads, recorder.as_deref_mut());
        if let Some((_, links)) = links {
            gradient.ways_backward(step, links);
        }
        gradient.content_backward(step, 0..write, after, recorder.as_deref_mut());
        if let Some(recorder) = &mut recorder {
            recorder.record_memory(trace, t + 1, &gradient.memory.memory);
        }
        step.record(&mut recorder, (write, PRECEDENCE), &gradient.precedence);
        gradient.links_backward(step, links.map(|(before, _)| before));
        gradient.write_backward(step, before, recorder.as_deref_mut());
        gradient.usage_backward(step, recorder.as_deref_mut());
        gradient.content_backward(step, write..heads, before, recorder);
    }
}

impl<R: Real> Gradient<R> {
    /// Through r_t and w_t of the read heads to M_t and to b_t, c_t and f_t.
    fn reads_backward(
        &mut self,
        step: Step<'_, R>,
        visible_rows: VisibleRows<'_, R>,
        d_reads: &[R],
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let (t, (readers, _)) = (step.t, step.heads());
        let MemoryGradient { memory, heads, .. } = &mut self.memory;
        let d_readers = &mut heads[..readers.len()];
        memory::reads_backward(readers, t, visible_rows.columns, d_readers, d_reads, memory);
        let gradients = d_readers.iter_mut().zip(&mut self.gates);
        for (index, (reader, (of_head, gates))) in readers.iter().zip(gradients).enumerate() {
            add_later(of_head, step.upstream, index, t);
            let gradient = &mut of_head.weighting;
            step.record(&mut recorder, (index, array::WEIGHTING), gradient);
            let (_, [d_backward, d_forward]) = of_head.of_weighting.all_mut::<0, 2>();
            equations::read_weighting_backward(reader, t, gradient, d_backward, d_forward, gates);
            of_head.previous.fill(R::ZERO);
            step.record(&mut recorder, (index, BACKWARD), d_backward);
            step.record(&mut recorder, (index, FORWARD), d_forward);
            step.record(&mut recorder, (index, array::CONTENT), gradient);
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
        visible_rows: VisibleRows<'_, R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let Step { trace, t, .. } = step;
        let (memory, of) = (&mut self.memory, &trace.heads[heads.clone()]);
        let (terms, gradients) = (&step.upstream.terms, &mut memory.heads[heads.clone()]);
        let content = Some(Stage::Content);
        address_backward(of, t, trace.sampling, terms, gradients, content);
        for (index, of_head) in heads.zip(&*gradients) {
            let gradient = &of_head.weighting;
            step.record(&mut recorder, (index, array::SIMILARITY), gradient);
        }
        let step = BackwardStep {
            t,
            visible_rows,
            d_memory: &mut memory.memory,
            scratch: &mut memory.rows,
        };
        score::backward(of, gradients, step);
    }

    /// Through L_t and p_t to w_t of the write head; `before` is L_{t−1}, if there are links before this step.
    fn links_backward(&mut self, step: Step<'_, R>, before: Option<&[R]>) {
        let (t, (readers, writers)) = (step.t, step.heads());
        let (d_p, d_w) = (
            &mut self.precedence,
            &mut self.memory.heads[readers.len()].previous,
        );
        if let Some(before) = before {
            let precedence = writers[0].of_score.at(AT_PRECEDENCE);
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
        visible_rows: VisibleRows<'_, R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let (t, (readers, writers)) = (step.t, step.heads());
        let (head, writer, memory) = (readers.len(), &writers[0], &mut self.memory);
        let d_writers = &mut memory.heads[head..];
        memory::writes_backward(
            writers,
            t,
            visible_rows.columns,
            d_writers,
            &mut memory.memory,
            &mut memory.write,
        );
        let d_write = &mut d_writers[0];
        add_later(d_write, step.upstream, head, t);
        step.record(&mut recorder, (head, array::WEIGHTING), &d_write.weighting);
        let d_gates = equations::write_weighting_backward(
            equations::write_gates(writer, t),
            writer.of_score.at(AT_ALLOCATION).row(t),
            writer.content.row(t),
            &mut d_write.weighting,
            &mut self.allocation,
        );
        self.gates[head][..2].copy_from_slice(&d_gates);
        step.record(&mut recorder, (head, array::CONTENT), &d_write.weighting);
        step.record(&mut recorder, (head, ALLOCATION), &self.allocation);
        d_write.previous.fill(R::ZERO);
    }

    /// Through a_t and u_t to u_{t−1}, the weightings before and the free gates.
    fn usage_backward(&mut self, step: Step<'_, R>, mut recorder: GradientRecorder<'_, R>) {
        if !step.config.allocates() {
            return;
        }
        let (t, (readers, writers)) = (step.t, step.heads());
        let (writer, MemoryGradient { heads, rows, .. }) = (&writers[0], &mut self.memory);
        let [initial, usage, order] =
            [AT_INITIAL_USAGE, AT_USAGE, AT_ORDER].map(|at| writer.of_score.at(at));
        let (u, order, d_usage) = (usage.row(t), order.row(t), &mut self.usage);
        equations::allocation_backward(u, order, &self.allocation, d_usage, rows);
        step.record(&mut recorder, (readers.len(), USAGE), d_usage);
        let before = usage.row_before(t, initial);
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
    let ways = d_readers.each_mut().map(|d| {
        let (_, [backward, forward]) = d.of_weighting.all_mut::<0, 2>();
        ([&backward[..], &forward[..]], &mut d.previous[..])
    });
    equations::follow_links_backward(links, before, ways, d_links);
}

/// Adds to the gradient w.r.t. a weighting that of the next step, and that of a penalty on it.
fn add_later<R: Real>(d: &mut HeadGradient<R>, upstream: &Upstream<R>, index: usize, t: usize) {
    add(&mut d.weighting[..], &d.previous[..]);
    let penalty = &upstream.weightings[index];
    if penalty.width() > 0 {
        add(&mut d.weighting[..], penalty.row(t));
    }
}
