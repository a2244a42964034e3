//! Back-propagation through an episode, read from the end of its trace.

use super::addressing::{content_backward, interpolate_backward, sharpen_backward, shift_backward};
use super::config::{ControllerKind, HeadColumns, ModelConfig, Order};
use super::controller::{feedforward, lstm};
use super::head::{HeadGradient, activate_backward};
use super::memory::{self, ReadGradient, WriteGradient};
use super::ntm::{Ntm, TOGETHER, together};
use super::params::{Initial, Params};
use super::trace::{HeadTrace, Trace};
use crate::math::matrix::{self, padded};
use crate::math::simd::kernel;
use crate::math::similarity::{self, CosineGradient, cosines_backward};
use crate::math::softmax::softmax_backward;
use crate::math::{Matrix, Real, Series};

/// The gradients that travel from step to step, and scratch; allocated once and reused.
#[derive(Clone, Debug)]
pub struct Workspace<R = f32> {
    /// By the logits, [T, Y and padding]: the derivative of the loss, to be filled in before
    /// [`Ntm::backward`].
    pub logit: Series<R>,
    /// By the gates (LSTM) or pre-activations (feedforward) of each controller layer, [T, outputs].
    layers: Vec<Series<R>>,
    /// By the pre-activations of all heads, [T, P].
    raw: Series<R>,
    /// By [h; reads] through the output layer, [T, C + R·M].
    features: Series<R>,
    /// The weights of the output layer, [Y, C + R·M]: its few outputs then fill whole vectors.
    output: Matrix<R>,
    /// By what a controller layer saw, without x.
    seen: Vec<R>,
    /// By the hidden state of each layer.
    hidden: Vec<Vec<R>>,
    /// By the cell of each layer.
    cell: Vec<Vec<R>>,
    /// By the read vectors, one after the other.
    read: Vec<R>,
    /// By the memory, column after column.
    memory: Vec<R>,
    /// One for every head.
    heads: Vec<HeadWorkspace<R>>,
    /// A vector of N values: scratch.
    rows: Vec<R>,
    /// Of the shape of the memory; empty with a single head of each kind that reads first.
    write: Vec<R>,
    /// M_t of the steps around, where the trace keeps only some.
    window: Window<R>,
    /// M_t of this step; empty where the reads come first.
    after: After<R>,
}

/// A memory, and the norms of its rows.
#[derive(Clone, Debug)]
struct After<R> {
    memory: Vec<R>,
    norms: Vec<R>,
}

/// The memory between two kept steps, written again from what the heads wrote.
#[derive(Clone, Debug, Default)]
struct Window<R> {
    /// M_start, M_start+1, …, [k, M·N].
    memory: Series<R>,
    /// The first step it holds.
    start: Option<usize>,
    /// Norms of the rows of the memory last asked for, [N].
    norms: Vec<R>,
}

impl<R: Real> Window<R> {
    /// M_t and the norms of its rows, from the trace or written again. Steps are asked for from the end.
    fn memory<'a>(
        &'a mut self,
        trace: &'a Trace<R>,
        writers: &[HeadTrace<R>],
        t: usize,
        epsilon: R,
    ) -> (&'a [R], &'a [R]) {
        let every = trace.memory_every;
        if every == 1 {
            return (trace.memory_columns.row(t), trace.norms.row(t));
        }
        let start = t / every * every;
        if self.start != Some(start) {
            self.start = Some(start);
            self.memory.resize(every);
            self.memory
                .row_mut(0)
                .copy_from_slice(trace.memory_columns.row(start / every));
            for step in start..t {
                let (before, after) = self.memory.previous_and_row_mut(step - start + 1);
                memory::write(writers, step, before, after);
            }
        }
        let columns = self.memory.row(t - start);
        self.norms.resize(trace.norms.width(), R::ZERO);
        similarity::norms(columns, epsilon, &mut self.norms);
        (columns, &self.norms)
    }
}

/// What one head needs; see [`Workspace`].
#[derive(Clone, Debug)]
struct HeadWorkspace<R> {
    columns: HeadColumns,
    /// By this step's weighting through what the head read or wrote.
    effect: Vec<R>,
    /// By this step's weighting through the next step's interpolation.
    next: Vec<R>,
    /// By this step's similarities.
    similarity: Vec<R>,
    parameters: HeadGradient<R>,
}

impl<R: Real> HeadWorkspace<R> {
    /// The part of this head in [`cosines_backward`].
    fn of_cosine<'a>(&'a mut self, head: &'a HeadTrace<R>, t: usize) -> CosineGradient<'a, R> {
        CosineGradient {
            key: head.key.row(t),
            similarity: head.similarity.row(t),
            by_similarity: &mut self.similarity,
            by_key: &mut self.parameters.key,
        }
    }
}

impl<R: Real> Workspace<R> {
    /// Scratch for machines of this configuration.
    pub fn new(config: &ModelConfig) -> Self {
        let zeros = |len: usize| vec![R::ZERO; len];
        let (values, is_written_first) = (
            config.rows * config.columns,
            config.order == Order::WriteFirst,
        );
        let is_pair = (config.read_heads, config.write_heads) == (1, 1) && !is_written_first;
        let (size, layers) = (config.controller.size, config.controller.layers);
        let head = |index| HeadWorkspace {
            columns: config.head_columns(index),
            effect: zeros(config.rows),
            next: zeros(config.rows),
            similarity: zeros(config.rows),
            parameters: HeadGradient::new(config),
        };
        Self {
            layers: (0..layers)
                .map(|_| Series::new(padded(config.layer_outputs())))
                .collect(),
            raw: Series::new(padded(config.head_outputs())),
            logit: Series::new(padded(config.outputs)),
            features: Series::new(config.features()),
            output: Matrix::zeros(config.outputs, config.features()),
            // Also holds the gradient by h_t through the heads.
            seen: zeros(
                (0..layers)
                    .map(|layer| config.layer_inputs(layer))
                    .fold(size, usize::max),
            ),
            hidden: vec![zeros(size); layers],
            cell: vec![zeros(size); layers],
            read: zeros(config.read_heads * config.columns),
            memory: zeros(config.rows * config.columns),
            heads: (0..config.heads()).map(head).collect(),
            rows: zeros(config.rows),
            write: zeros(if is_pair { 0 } else { values }),
            after: After {
                memory: zeros(if is_written_first { values } else { 0 }),
                norms: zeros(if is_written_first { config.rows } else { 0 }),
            },
            window: Window {
                memory: Series::new(config.rows * config.columns),
                start: None,
                norms: Vec::new(),
            },
        }
    }

    fn reset(&mut self, steps: usize) {
        self.layers.iter_mut().for_each(|layer| layer.resize(steps));
        self.raw.resize(steps);
        self.features.resize(steps);
        // What it holds is of the episode before.
        self.window.start = None;
        let states = self
            .hidden
            .iter_mut()
            .chain(&mut self.cell)
            .chain([&mut self.read, &mut self.memory]);
        states
            .chain(self.heads.iter_mut().map(|head| &mut head.next))
            .for_each(|state| state.fill(R::ZERO));
    }
}

impl<R: Real> Ntm<R> {
    /// Sets `gradient` to the derivative, by every weight, of the summed loss of recorded episodes (longest
    /// first) whose derivative by the logits stands in [`Workspace::logit`].
    pub fn backward(
        &self,
        traces: &[Trace<R>],
        workspaces: &mut [Workspace<R>],
        gradient: &mut Params<R>,
    ) {
        for (traces, workspaces) in traces.chunks(TOGETHER).zip(workspaces.chunks_mut(TOGETHER)) {
            self.backward_together(traces, workspaces);
        }
        self.initial_backward(traces, workspaces, &mut gradient.initial);
        let pairs = traces.iter().zip(&*workspaces);
        for (index, linear) in gradient.controller.iter_mut().enumerate() {
            linear.set_gradient(
                pairs.clone().map(|(trace, workspace)| {
                    (&trace.layers[index].input, &workspace.layers[index])
                }),
            );
        }
        let top = self.config.controller.layers - 1;
        gradient.heads.set_gradient(
            pairs
                .clone()
                .map(|(trace, workspace)| (&trace.layers[top].hidden, &workspace.raw)),
        );
        gradient
            .output
            .set_gradient(pairs.map(|(trace, workspace)| (&trace.features, &workspace.logit)));
    }

    /// Back through up to [`TOGETHER`] episodes, longest first, side by side.
    fn backward_together(&self, traces: &[Trace<R>], workspaces: &mut [Workspace<R>]) {
        for (trace, workspace) in traces.iter().zip(&mut *workspaces) {
            workspace.reset(trace.steps());
            self.output_backward(workspace);
        }
        for t in (0..traces.first().map_or(0, Trace::steps)).rev() {
            let running = traces.partition_point(|trace| trace.steps() > t);
            for (trace, workspace) in traces[..running].iter().zip(&mut *workspaces) {
                self.remember_backward(t, trace, workspace);
            }
            together!(running, workspaces, |workspaces| self
                .step_backward(t, traces, workspaces));
        }
    }

    /// Through the output layer, to h_t and the reads of every step.
    fn output_backward(&self, workspace: &mut Workspace<R>) {
        let Workspace {
            logit,
            features,
            output,
            ..
        } = workspace;
        output
            .view_mut()
            .assign(&self.params.output.weight.view().t());
        features.as_mut_slice().fill(R::ZERO);
        matrix::add_series_product(logit, output.rows_from(0), features);
    }

    /// Through output, writes, reads and addressing of one step, to what the heads emitted.
    fn remember_backward(&self, t: usize, trace: &Trace<R>, workspace: &mut Workspace<R>) {
        let (d_hidden, d_reads) = workspace
            .features
            .row(t)
            .split_at(self.config.controller.size);
        if let Some(top) = workspace.hidden.last_mut() {
            add(top, d_hidden);
        }
        add(&mut workspace.read, d_reads);

        let epsilon = R::from_f64(self.config.similarity_epsilon);
        let writers = &trace.heads[self.config.read_heads..];
        // Taken out, so that what it lends does not hold the rest of the workspace.
        let mut window = std::mem::take(&mut workspace.window);
        let (before, norms) = window.memory(trace, writers, t, epsilon);
        match self.config.order {
            Order::ReadFirst => {
                self.memory_backward(t, (trace, before), workspace);
                address_backward(&trace.heads, t, &mut workspace.heads);
                let heads = (&trace.heads[..], &mut workspace.heads[..]);
                let around = (before, norms, epsilon, &mut workspace.rows[..]);
                similarity_backward(t, heads, around, &mut workspace.memory);
            }
            Order::WriteFirst => self.written_first_backward(t, (trace, before), workspace),
        }
        workspace.window = window;
        let (heads, d_raw) = (&workspace.heads, workspace.raw.row_mut(t));
        for (head, gradient) in trace.heads.iter().zip(heads) {
            activate_backward(
                &self.config,
                &gradient.columns,
                head,
                t,
                &gradient.parameters,
                trace.raw.row(t),
                d_raw,
            );
        }
    }

    /// Through writes and reads, to each head's weighting and vectors and to M_{t−1}.
    fn memory_backward(
        &self,
        t: usize,
        (trace, before): (&Trace<R>, &[R]),
        workspace: &mut Workspace<R>,
    ) {
        let d_memory = &mut workspace.memory;
        let (readers, writers) = trace.heads.split_at(self.config.read_heads);
        let (by_readers, by_writers) = workspace.heads.split_at_mut(readers.len());
        let by_readers = by_readers
            .iter_mut()
            .zip(workspace.read.chunks_exact(self.config.columns))
            .map(|(head, read)| ReadGradient {
                weighting: &mut head.effect,
                read,
            });
        let by_writers = by_writers.iter_mut().map(|head| WriteGradient {
            weighting: &mut head.effect,
            erase: &mut head.parameters.erase,
            add: &mut head.parameters.add,
        });
        if let ([reader], [writer]) = (readers, writers) {
            for (by_read, by_write) in by_readers.zip(by_writers) {
                let heads = (reader, writer, t);
                memory::read_and_write_backward(heads, before, d_memory, by_read, by_write);
            }
            return;
        }
        let scratch = &mut workspace.write;
        for (q, by_write) in by_writers.enumerate() {
            memory::write_backward((writers, q, t), before, d_memory, by_write, scratch);
        }
        memory::write_backward_memory(writers, t, d_memory);
        for (reader, by_read) in readers.iter().zip(by_readers) {
            memory::read_backward(before, reader.weighting.row(t), by_read, d_memory);
        }
    }

    /// [`Order::WriteFirst`]: through reads and the addressing of the read heads to M_t, then through writes
    /// and the addressing of the write heads to M_{t−1}. M_t is written again; nothing of it was kept.
    fn written_first_backward(
        &self,
        t: usize,
        (trace, before): (&Trace<R>, &[R]),
        workspace: &mut Workspace<R>,
    ) {
        let (epsilon, count) = (
            R::from_f64(self.config.similarity_epsilon),
            self.config.read_heads,
        );
        let Workspace {
            memory: d_memory,
            heads,
            rows,
            write: scratch,
            after,
            read,
            ..
        } = workspace;
        let (readers, writers) = trace.heads.split_at(count);
        let (by_readers, by_writers) = heads.split_at_mut(count);
        memory::write(writers, t, before, &mut after.memory);
        let (columns, norms) = (&after.memory[..], &mut after.norms[..]);
        for (q, (reader, head)) in readers.iter().zip(&mut *by_readers).enumerate() {
            let by_read = ReadGradient {
                weighting: &mut head.effect,
                read: &read[q * self.config.columns..][..self.config.columns],
            };
            memory::read_backward(columns, reader.weighting.row(t), by_read, d_memory);
        }
        address_backward(readers, t, by_readers);
        similarity::norms(columns, epsilon, norms);
        let around = (columns, &*norms, epsilon, &mut rows[..]);
        similarity_backward(t, (readers, by_readers), around, d_memory);
        for (q, head) in by_writers.iter_mut().enumerate() {
            let by_write = WriteGradient {
                weighting: &mut head.effect,
                erase: &mut head.parameters.erase,
                add: &mut head.parameters.add,
            };
            memory::write_backward((writers, q, t), before, d_memory, by_write, scratch);
        }
        memory::write_backward_memory(writers, t, d_memory);
        address_backward(writers, t, by_writers);
        similarity::norms(before, epsilon, norms);
        let around = (before, &*norms, epsilon, &mut rows[..]);
        similarity_backward(t, (writers, by_writers), around, d_memory);
    }

    /// From what the heads emitted in one step, through the controller, to what it saw.
    fn step_backward<const B: usize>(
        &self,
        t: usize,
        traces: &[Trace<R>],
        workspaces: &mut [Workspace<R>; B],
    ) {
        let size = self.config.controller.size;
        let raw_to_hidden = workspaces
            .each_mut()
            .map(|workspace| (workspace.raw.row(t), &mut workspace.seen[..size]));
        self.params.heads.backward_from(0, raw_to_hidden);
        for workspace in &mut *workspaces {
            if let Some(top) = workspace.hidden.last_mut() {
                add(top, &workspace.seen[..size]);
            }
        }
        for index in (0..self.config.controller.layers).rev() {
            self.control_backward(index, t, traces, workspaces);
        }
    }

    /// Through one controller layer, to what it saw: reads, the layer below, its own last state.
    fn control_backward<const B: usize>(
        &self,
        index: usize,
        t: usize,
        traces: &[Trace<R>],
        workspaces: &mut [Workspace<R>; B],
    ) {
        let recurrent = self.config.controller.kind == ControllerKind::Lstm;
        for (trace, workspace) in traces.iter().zip(&mut *workspaces) {
            let layer = &trace.layers[index];
            let d_hidden = &workspace.hidden[index];
            let dz = workspace.layers[index].row_mut(t);
            if recurrent {
                let before = if t > 0 {
                    layer.cell.row(t - 1)
                } else {
                    self.params.initial.cell.row(index)
                };
                let d_cell = &mut workspace.cell[index];
                let (gates, tanh) = (layer.gates.row(t), layer.cell_tanh.row(t));
                lstm::backward(gates, before, tanh, d_hidden, d_cell, dz);
            } else {
                feedforward::backward(layer.hidden.row(t), d_hidden, dz);
            }
        }
        // Nothing learns from the gradient by x.
        let first = if index == 0 { self.config.inputs } else { 0 };
        let width = self.config.layer_inputs(index) - first;
        let z_to_seen = workspaces
            .each_mut()
            .map(|workspace| (workspace.layers[index].row(t), &mut workspace.seen[..width]));
        self.params.controller[index].backward_from(first, z_to_seen);
        for workspace in workspaces {
            let d_own = &mut workspace.hidden[index];
            let own = if recurrent { d_own.len() } else { 0 };
            let (d_below, d_state) = workspace.seen[..width].split_at(width - own);
            if recurrent {
                d_own.copy_from_slice(d_state);
            } else {
                d_own.fill(R::ZERO);
            }
            match index.checked_sub(1) {
                Some(below) => add(&mut workspace.hidden[below], d_below),
                None => workspace.read.copy_from_slice(d_below),
            }
        }
    }

    /// To the learned state before the first step.
    fn initial_backward(
        &self,
        traces: &[Trace<R>],
        workspaces: &mut [Workspace<R>],
        initial: &mut Initial<R>,
    ) {
        let Initial {
            memory,
            weighting,
            read,
            hidden,
            cell,
        } = initial;
        for matrix in [&mut *memory, weighting, read, hidden, cell] {
            matrix.as_mut_slice().fill(R::ZERO);
        }
        for (trace, workspace) in traces.iter().zip(workspaces) {
            let mut memory = memory.view_mut();
            for (mut to, from) in memory
                .columns_mut()
                .into_iter()
                .zip(workspace.memory.chunks(self.config.rows))
            {
                add_all(to.iter_mut(), from);
            }
            let logits = &mut workspace.rows;
            let heads = trace.heads.iter().zip(&workspace.heads);
            for (mut to, (head, gradient)) in weighting.view_mut().outer_iter_mut().zip(heads) {
                logit_gradient_of(head.initial.row(0), &gradient.next, logits);
                add_all(to.iter_mut(), &*logits);
            }
            add_all(read.view_mut().iter_mut(), &workspace.read);
            add_all(
                hidden.view_mut().iter_mut(),
                workspace.hidden.iter().flatten(),
            );
            add_all(cell.view_mut().iter_mut(), workspace.cell.iter().flatten());
        }
    }
}

/// Through the cosines of heads, to their keys and to the memory that they address: its columns, the norms of
/// its rows, epsilon, and scratch for a vector of N values.
fn similarity_backward<R: Real>(
    t: usize,
    (heads, gradients): (&[HeadTrace<R>], &mut [HeadWorkspace<R>]),
    (columns, norms, epsilon, scratch): (&[R], &[R], R, &mut [R]),
    d_memory: &mut [R],
) {
    let norms = (norms, epsilon);
    for pair in heads.chunks(2).zip(gradients.chunks_mut(2)) {
        match pair {
            ([head, other], [gradient, by_other]) => {
                let heads = [gradient.of_cosine(head, t), by_other.of_cosine(other, t)];
                cosines_backward(heads, columns, norms, d_memory, scratch);
            }
            (heads, gradients) => {
                for (head, gradient) in heads.iter().zip(gradients) {
                    let heads = [gradient.of_cosine(head, t)];
                    cosines_backward(heads, columns, norms, d_memory, scratch);
                }
            }
        }
    }
}

fn add_all<'a, R: Real>(
    to: impl Iterator<Item = &'a mut R>,
    from: impl IntoIterator<Item = &'a R>,
) {
    to.zip(from).for_each(|(to, &from)| *to += from);
}

kernel! {
    /// Equations 9 to 5 backwards, of all heads stage by stage: to the gradient by the similarity.
    fn address_backward<'a, R>(simd; heads: &'a [HeadTrace<R>], t: usize, gradients: &'a mut [HeadWorkspace<R>]) {
        for (head, HeadWorkspace { effect: d_w, next, parameters, .. }) in heads.iter().zip(&mut *gradients) {
            add(d_w, next);
            let (w_s, w) = (head.shifted.row(t), head.weighting.row(t));
            parameters.sharpening = sharpen_backward(simd, head.sharpening[t], w_s, w, d_w);
        }
        for (head, HeadWorkspace { effect: d_w_s, next: d_w_g, parameters, .. }) in heads.iter().zip(&mut *gradients) {
            shift_backward(simd, head.shift.row(t), head.gated.row(t), d_w_s, d_w_g, &mut parameters.shift);
        }
        for (head, HeadWorkspace { next, similarity: d_w_c, parameters, .. }) in heads.iter().zip(&mut *gradients) {
            let (w_c, w_previous) = (head.content.row(t), head.previous_weighting(t));
            parameters.gate = interpolate_backward(simd, head.gate[t], w_c, w_previous, next, d_w_c);
        }
        for (head, HeadWorkspace { similarity: d_w_c, parameters, .. }) in heads.iter().zip(gradients) {
            let (similarity, w_c) = (head.similarity.row(t), head.content.row(t));
            parameters.strength = content_backward(simd, head.strength[t], similarity, w_c, d_w_c);
        }
    }
}

kernel! {
    /// From the gradient by a learned initial weighting to its logits.
    fn logit_gradient_of<'a, R>(simd; weighting: &'a [R], gradient: &'a [R], logits: &'a mut [R]) {
        softmax_backward(simd, weighting, gradient, logits);
    }
}

#[inline(always)]
fn add<R: Real>(to: &mut [R], from: &[R]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to += from);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::model::config::{
        ControllerConfig, InitialMemory, InitialWeighting, ShiftForm, VectorActivation,
    };
    use ndarray::Array2;

    /// Odd sizes, a controller wider than its inputs, two heads of each kind, everything learned.
    fn config(kind: ControllerKind, layers: usize, form: ShiftForm) -> ModelConfig {
        let mut config = ModelConfig::new(3, 2);
        (config.rows, config.columns, config.shift_range) = (7, 3, 2);
        (config.read_heads, config.write_heads) = (2, 2);
        config.controller = ControllerConfig {
            kind,
            size: 11,
            layers,
        };
        config.shift_form = form;
        config.initial_memory = InitialMemory::Learned;
        config.initial_weighting = InitialWeighting::Learned;
        config.similarity_epsilon = 1e-3;
        config
    }

    /// Values for the gradient by the logits, [T, Y].
    fn set_upstream<R: Real>(workspace: &mut Workspace<R>, steps: usize, values: &[f64]) {
        workspace.logit.resize(steps);
        for (t, values) in values.chunks(values.len() / steps).enumerate() {
            for (to, &from) in workspace.logit.row_mut(t).iter_mut().zip(values) {
                *to = R::from_f64(from);
            }
        }
    }

    #[test]
    fn episodes_side_by_side_have_the_sum_of_their_gradients() {
        for kind in [ControllerKind::Feedforward, ControllerKind::Lstm] {
            let machine = Ntm::<f64>::new(config(kind, 2, ShiftForm::Softmax), 3);
            for lengths in [&[9, 9, 6, 6, 2, 1, 1][..], &[5, 4, 3], &[7, 2]] {
                let input = |index: usize| {
                    Array2::from_shape_fn((lengths[index], 3), |(t, x)| {
                        ((index * 31 + t * 3 + x) as f32).sin()
                    })
                };
                let inputs: Vec<_> = (0..lengths.len()).map(input).collect();
                let gradient_of = |episodes: std::ops::Range<usize>| {
                    let count = episodes.len();
                    let mut traces = vec![Trace::new(&machine.config); count];
                    machine.run_for_training(
                        inputs[episodes.clone()].iter(),
                        usize::MAX,
                        &mut traces,
                    );
                    let mut workspaces = vec![Workspace::new(&machine.config); count];
                    for (workspace, index) in workspaces.iter_mut().zip(episodes) {
                        let values = random_vector(index as u64, 2 * lengths[index]);
                        set_upstream(workspace, lengths[index], &values);
                    }
                    let mut gradient = Params::zeros(&machine.config);
                    machine.backward(&traces, &mut workspaces, &mut gradient);
                    (traces, gradient)
                };
                let (traces, together) = gradient_of(0..lengths.len());
                let mut sum = Params::zeros(&machine.config);
                for (index, trace) in traces.iter().enumerate() {
                    let (alone, gradient) = gradient_of(index..index + 1);
                    let outputs = alone[0].output.as_slice().iter();
                    assert!(
                        outputs
                            .zip(trace.output.as_slice())
                            .all(|(x, y)| (x - y).abs() < 1e-12)
                    );
                    sum.add(&gradient);
                }
                let slices = together.slices().zip(sum.slices());
                for (found, wanted) in slices {
                    let close = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-10;
                    assert!(found.iter().zip(wanted).all(close), "{kind:?} {lengths:?}");
                }
            }
        }
    }

    fn check(config: ModelConfig) {
        const STEPS: usize = 5;
        let mut machine = Ntm::<f64> {
            params: Params::zeros(&config),
            config,
        };
        let values = random_vector(1, machine.params.count());
        let mut next = values.iter();
        for (_, mut tensor) in machine.params.named_mut(&machine.config) {
            tensor
                .iter_mut()
                .zip(&mut next)
                .for_each(|(to, &from)| *to = from);
        }
        let input = Array2::from_shape_fn((STEPS, 3), |(t, x)| ((t * 3 + x) as f32).sin());
        let upstream = random_vector(2, STEPS * 2);
        let mut trace = Trace::new(&machine.config);
        machine.run(&input, &mut trace);
        let mut gradient = Params::zeros(&machine.config);
        let mut workspace = Workspace::new(&machine.config);
        set_upstream(&mut workspace, STEPS, &upstream);
        // One step outside the answer.
        workspace.logit.row_mut(1).fill(0.0);
        machine.backward(
            std::slice::from_ref(&trace),
            std::slice::from_mut(&mut workspace),
            &mut gradient,
        );

        let names: Vec<(String, usize)> = machine
            .params
            .named(&machine.config)
            .iter()
            .map(|(name, tensor)| (name.clone(), tensor.len()))
            .collect();
        assert_eq!(
            names.iter().map(|(_, len)| len).sum::<usize>(),
            values.len()
        );
        for (name, _) in &names {
            let tensor = |params: &Params<f64>| -> Vec<f64> {
                let named = params.named(&machine.config);
                named
                    .iter()
                    .find(|(n, _)| n == name)
                    .unwrap()
                    .1
                    .iter()
                    .copied()
                    .collect()
            };
            assert_gradient(
                name,
                &tensor(&machine.params),
                &tensor(&gradient),
                |values| {
                    let mut moved = machine.clone();
                    for (n, mut tensor) in moved.params.named_mut(&machine.config) {
                        if n == *name {
                            tensor
                                .iter_mut()
                                .zip(values)
                                .for_each(|(to, &from)| *to = from);
                        }
                    }
                    let mut trace = Trace::new(&moved.config);
                    moved.run(&input, &mut trace);
                    (0..STEPS)
                        .flat_map(|t| trace.logit.row(t).iter().zip(workspace.logit.row(t)))
                        .map(|(z, u)| z * u)
                        .sum()
                },
            );
        }
    }

    #[test]
    fn every_weight_of_every_kind_of_machine() {
        for kind in [ControllerKind::Feedforward, ControllerKind::Lstm] {
            for (layers, form) in [
                (1, ShiftForm::Softmax),
                (2, ShiftForm::Softmax),
                (1, ShiftForm::Scalar),
            ] {
                check(config(kind, layers, form));
            }
        }
    }

    #[test]
    fn reads_that_see_what_was_written() {
        for (kind, heads) in [
            (ControllerKind::Lstm, (1, 1)),
            (ControllerKind::Feedforward, (2, 2)),
            (ControllerKind::Lstm, (3, 1)),
            (ControllerKind::Lstm, (0, 1)),
        ] {
            let mut config = config(kind, 1, ShiftForm::Softmax);
            (config.read_heads, config.write_heads) = heads;
            config.order = Order::WriteFirst;
            check(config);
        }
    }

    #[test]
    fn heads_of_one_kind_alone() {
        for heads in [(0, 1), (0, 2), (1, 0), (3, 0)] {
            let mut config = config(ControllerKind::Lstm, 1, ShiftForm::Softmax);
            (config.read_heads, config.write_heads) = heads;
            assert_eq!(config.validate(), Ok(()));
            check(config);
        }
    }

    #[test]
    fn a_machine_without_memory() {
        for layers in [1, 3] {
            let mut config = config(ControllerKind::Lstm, layers, ShiftForm::Softmax);
            (config.read_heads, config.write_heads) = (0, 0);
            (config.rows, config.columns) = (1, 1);
            config.initial_memory = InitialMemory::Constant(0.0);
            config.initial_weighting = InitialWeighting::OneHot;
            check(config);
        }
    }

    #[test]
    fn a_memory_kept_in_part_gives_the_same_bits() {
        for (write_heads, steps, order) in [
            (1, 23, Order::ReadFirst),
            (2, 16, Order::ReadFirst),
            (2, 1, Order::ReadFirst),
            (2, 23, Order::WriteFirst),
        ] {
            let mut config = ModelConfig {
                write_heads,
                order,
                ..config(ControllerKind::Lstm, 1, ShiftForm::Softmax)
            };
            config.rows = 40;
            let machine = Ntm::<f32>::new(config, 5);
            let input = Array2::from_shape_fn((steps, 3), |(t, x)| ((t * 3 + x) as f32).sin());
            let gradient = |limit: usize| {
                let mut trace = [Trace::new(&machine.config)];
                // A longer episode before must leave nothing behind.
                machine.run_for_training([&Array2::zeros((30, 3))].into_iter(), limit, &mut trace);
                machine.run_for_training([&input].into_iter(), limit, &mut trace);
                let (mut workspace, mut gradient) = (
                    [Workspace::new(&machine.config)],
                    Params::zeros(&machine.config),
                );
                set_upstream(&mut workspace[0], steps, &random_vector(2, steps * 2));
                machine.backward(&trace, &mut workspace, &mut gradient);
                (trace[0].memory_every, gradient)
            };
            let (all, part) = (gradient(usize::MAX), gradient(0));
            assert_eq!(all.0, 1);
            assert!(part.0 > 1);
            assert!(all.1 == part.1);
        }
    }

    #[test]
    fn a_workspace_keeps_nothing_of_the_episode_before() {
        let machine = Ntm::<f32>::new(config(ControllerKind::Lstm, 1, ShiftForm::Softmax), 5);
        let mut trace = [Trace::new(&machine.config)];
        let mut gradient = |steps: usize, workspace: &mut [Workspace<f32>]| {
            let input =
                Array2::from_shape_fn((steps, 3), |(t, x)| ((steps * 7 + t * 3 + x) as f32).sin());
            machine.run_for_training([&input].into_iter(), 0, &mut trace);
            let mut gradient = Params::zeros(&machine.config);
            set_upstream(&mut workspace[0], steps, &random_vector(2, steps * 2));
            machine.backward(&trace, workspace, &mut gradient);
            (trace[0].memory_every, gradient)
        };
        // The first steps of an episode stand where the last one's stood, and more of them than it had.
        for lengths in [&[2, 3][..], &[30, 3, 2, 3, 1, 1, 2, 4, 5, 3]] {
            let mut reused = [Workspace::new(&machine.config)];
            for &steps in lengths {
                let (every, found) = gradient(steps, &mut reused);
                let (_, alone) = gradient(steps, &mut [Workspace::new(&machine.config)]);
                assert!(every > 1);
                assert!(found == alone, "{steps} steps of {lengths:?}");
            }
        }
    }

    #[test]
    fn a_machine_with_nothing_learned_but_its_weights() {
        let mut config = config(ControllerKind::Lstm, 1, ShiftForm::Softmax);
        config.initial_memory = InitialMemory::Constant(0.1);
        config.initial_weighting = InitialWeighting::OneHot;
        (config.read_heads, config.write_heads) = (1, 1);
        config.key_activation = VectorActivation::Identity;
        check(config);
    }
}
