//! Back-propagation through an episode, read from the end of its trace.

use super::addressing::{content_backward, interpolate_backward, sharpen_backward, shift_backward};
use super::config::{ControllerKind, HeadColumns, ModelConfig};
use super::controller::{feedforward, lstm};
use super::head::{HeadGradient, activate_backward};
use super::memory::{self, WriteGradient};
use super::ntm::Ntm;
use super::params::{Initial, Params};
use super::trace::{HeadTrace, Trace};
use crate::math::matrix::padded;
use crate::math::simd::kernel;
use crate::math::similarity::{self, CosineBackward, cosine_backward};
use crate::math::softmax::softmax_backward;
use crate::math::{Matrix, Real, Series};

/// The gradients that travel from step to step, and scratch; allocated once and reused.
#[derive(Clone, Debug)]
pub struct Workspace<R = f32> {
    /// By the gates (LSTM) or pre-activations (feedforward) of each controller layer, [T, outputs].
    layers: Vec<Series<R>>,
    /// By the pre-activations of all heads, [T, P].
    raw: Series<R>,
    /// By [h; reads] through the output layer.
    features: Vec<R>,
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
    /// Three vectors of N values.
    rows: [Vec<R>; 3],
    /// Of the shape of the memory; empty with a single write head.
    write: Vec<R>,
    /// M_t of the steps around, where the trace keeps only some.
    window: Window<R>,
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

#[derive(Clone, Debug)]
struct HeadWorkspace<R> {
    columns: HeadColumns,
    /// By this step's weighting through what the head read or wrote.
    effect: Vec<R>,
    /// By this step's weighting through the next step's interpolation.
    next: Vec<R>,
    parameters: HeadGradient<R>,
}

impl<R: Real> Workspace<R> {
    /// Scratch for machines of this configuration.
    pub fn new(config: &ModelConfig) -> Self {
        let zeros = |len: usize| vec![R::ZERO; len];
        let (size, layers) = (config.controller.size, config.controller.layers);
        let head = |index| HeadWorkspace {
            columns: config.head_columns(index),
            effect: zeros(config.rows),
            next: zeros(config.rows),
            parameters: HeadGradient::new(config),
        };
        Self {
            layers: (0..layers)
                .map(|_| Series::new(padded(config.layer_outputs())))
                .collect(),
            raw: Series::new(padded(config.head_outputs())),
            features: zeros(config.features()),
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
            rows: [zeros(config.rows), zeros(config.rows), zeros(config.rows)],
            write: zeros(if config.write_heads > 1 {
                config.rows * config.columns
            } else {
                0
            }),
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
    /// Sets `gradient` to the derivative, by every weight, of a loss of the recorded episode whose
    /// derivative by the logits is `logit_gradient`, [T, Y] or padded with zeros to whole vectors.
    pub fn backward(
        &self,
        trace: &Trace<R>,
        logit_gradient: &Series<R>,
        workspace: &mut Workspace<R>,
        gradient: &mut Params<R>,
    ) {
        workspace.reset(trace.steps());
        // Taken out, so that what it lends does not hold the rest of the workspace.
        let mut window = std::mem::take(&mut workspace.window);
        let epsilon = R::from_f64(self.config.similarity_epsilon);
        let writers = &trace.heads[self.config.read_heads..];
        for t in (0..trace.steps()).rev() {
            let seen = window.memory(trace, writers, t, epsilon);
            self.output_backward(t, logit_gradient, workspace);
            self.memory_backward(t, (trace, seen.0), workspace);
            self.heads_backward(t, (trace, seen), workspace);
            for layer in (0..self.config.controller.layers).rev() {
                self.control_backward(layer, t, trace, workspace);
            }
        }
        window.start = None;
        workspace.window = window;
        self.initial_backward(trace, workspace, &mut gradient.initial);
        for ((linear, layer), dz) in gradient
            .controller
            .iter_mut()
            .zip(&trace.layers)
            .zip(&workspace.layers)
        {
            linear.set_gradient(&layer.input, dz);
        }
        let top = &trace.layers[self.config.controller.layers - 1];
        gradient.heads.set_gradient(&top.hidden, &workspace.raw);
        gradient
            .output
            .set_gradient(&trace.features, logit_gradient);
    }

    /// Through the output layer, to h_t and the reads of this step.
    fn output_backward(&self, t: usize, logit_gradient: &Series<R>, workspace: &mut Workspace<R>) {
        let d_logit = logit_gradient.row(t);
        if d_logit.iter().all(|&d| d == R::ZERO) {
            return; // A step outside the answer.
        }
        self.params
            .output
            .backward_from(0, d_logit, &mut workspace.features);
        let (d_hidden, d_reads) = workspace.features.split_at(self.config.controller.size);
        if let Some(top) = workspace.hidden.last_mut() {
            add(top, d_hidden);
        }
        add(&mut workspace.read, d_reads);
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
        let (read_gradients, write_gradients) = workspace.heads.split_at_mut(readers.len());
        for (q, head) in write_gradients.iter_mut().enumerate() {
            let gradient = WriteGradient {
                weighting: &mut head.effect,
                erase: &mut head.parameters.erase,
                add: &mut head.parameters.add,
            };
            if let [writer] = writers {
                memory::write_alone_backward(writer, t, before, d_memory, gradient);
            } else {
                memory::write_backward(
                    (writers, q, t),
                    before,
                    d_memory,
                    gradient,
                    &mut workspace.write,
                );
            }
        }
        if writers.len() > 1 {
            memory::write_backward_memory(writers, t, d_memory);
        }
        let d_reads = workspace.read.chunks_exact(self.config.columns);
        for ((head, reader), d_read) in read_gradients.iter_mut().zip(readers).zip(d_reads) {
            head.effect.fill(R::ZERO);
            memory::read_backward(
                before,
                reader.weighting.row(t),
                d_read,
                &mut head.effect,
                d_memory,
            );
        }
    }

    /// Through the addressing of every head, to what the heads emitted and to h_t.
    fn heads_backward(
        &self,
        t: usize,
        (trace, memory_and_norms): (&Trace<R>, (&[R], &[R])),
        workspace: &mut Workspace<R>,
    ) {
        let Workspace {
            heads,
            rows,
            memory,
            raw,
            seen,
            hidden,
            ..
        } = workspace;
        for (head, gradient) in trace.heads.iter().zip(heads) {
            self.address_backward(t, head, memory_and_norms, gradient, memory, rows);
            let d_raw = raw.row_mut(t);
            let HeadWorkspace {
                columns,
                parameters,
                ..
            } = gradient;
            activate_backward(
                &self.config,
                columns,
                head,
                t,
                parameters,
                trace.raw.row(t),
                d_raw,
            );
        }
        let d_hidden = &mut seen[..self.config.controller.size];
        self.params.heads.backward_from(0, raw.row(t), d_hidden);
        if let Some(top) = hidden.last_mut() {
            add(top, d_hidden);
        }
    }

    /// Equations 9 to 5 and 6 of one head, backwards.
    fn address_backward(
        &self,
        t: usize,
        head: &HeadTrace<R>,
        (columns, norms): (&[R], &[R]),
        gradient: &mut HeadWorkspace<R>,
        d_memory: &mut [R],
        rows: &mut [Vec<R>; 3],
    ) {
        address_backward(head, t, gradient, rows);
        let [_, d_similarity, scratch] = rows;
        let forward = CosineBackward {
            key: head.key.row(t),
            columns,
            norms,
            epsilon: R::from_f64(self.config.similarity_epsilon),
            similarity: head.similarity.row(t),
        };
        cosine_backward(
            &forward,
            d_similarity,
            &mut gradient.parameters.key,
            d_memory,
            scratch,
        );
    }

    /// Through one controller layer, to what it saw: reads, the layer below, its own last state.
    fn control_backward(
        &self,
        index: usize,
        t: usize,
        trace: &Trace<R>,
        workspace: &mut Workspace<R>,
    ) {
        let layer = &trace.layers[index];
        let d_hidden = &mut workspace.hidden[index];
        let dz = workspace.layers[index].row_mut(t);
        let recurrent = self.config.controller.kind == ControllerKind::Lstm;
        if recurrent {
            let initial = &self.params.initial.cell;
            let before = if t > 0 {
                layer.cell.row(t - 1)
            } else {
                initial.row(index)
            };
            let d_cell = &mut workspace.cell[index];
            lstm::backward(
                layer.gates.row(t),
                before,
                layer.cell_tanh.row(t),
                d_hidden,
                d_cell,
                dz,
            );
        } else {
            feedforward::backward(layer.hidden.row(t), d_hidden, dz);
        }
        let first = if index == 0 { self.config.inputs } else { 0 };
        let seen = &mut workspace.seen[..self.config.layer_inputs(index) - first];
        self.params.controller[index].backward_from(first, dz, seen);
        let (d_below, d_own) =
            seen.split_at(seen.len() - if recurrent { d_hidden.len() } else { 0 });
        if recurrent {
            d_hidden.copy_from_slice(d_own);
        } else {
            d_hidden.fill(R::ZERO);
        }
        match index.checked_sub(1) {
            Some(below) => add(&mut workspace.hidden[below], d_below),
            None => workspace.read.copy_from_slice(d_below),
        }
    }

    /// To the learned state before the first step.
    fn initial_backward(
        &self,
        trace: &Trace<R>,
        workspace: &mut Workspace<R>,
        initial: &mut Initial<R>,
    ) {
        let Workspace {
            memory,
            heads,
            rows,
            read,
            hidden,
            cell,
            ..
        } = workspace;
        for (mut to, from) in initial
            .memory
            .view_mut()
            .columns_mut()
            .into_iter()
            .zip(memory.chunks(self.config.rows))
        {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
        }
        for (mut to, (head, gradient)) in initial
            .weighting
            .view_mut()
            .outer_iter_mut()
            .zip(trace.heads.iter().zip(heads))
        {
            logit_gradient_of(&head.initial, &gradient.next, &mut rows[0]);
            to.iter_mut()
                .zip(&rows[0])
                .for_each(|(to, &from)| *to = from);
        }
        set(&mut initial.read, read.iter());
        set(&mut initial.hidden, hidden.iter().flatten());
        set(&mut initial.cell, cell.iter().flatten());
    }
}

fn set<'a, R: Real>(matrix: &mut Matrix<R>, values: impl Iterator<Item = &'a R>) {
    matrix
        .view_mut()
        .iter_mut()
        .zip(values)
        .for_each(|(to, &from)| *to = from);
}

kernel! {
    /// Equations 9 to 5 backwards: leaves the gradient by the similarity in `rows[1]`.
    fn address_backward<'a, R>(
        simd; head: &'a HeadTrace<R>, t: usize, gradient: &'a mut HeadWorkspace<R>, rows: &'a mut [Vec<R>; 3],
    ) {
        let HeadWorkspace { effect, next, parameters, .. } = gradient;
        let [d_w_s, d_w_g, scratch] = rows;
        let (w_c, w_g, w_s) = (head.content.row(t), head.gated.row(t), head.shifted.row(t));
        effect.iter_mut().zip(&*next).for_each(|(to, &from)| *to += from);
        parameters.sharpening = sharpen_backward(simd, head.sharpening[t], w_s, head.weighting.row(t), effect, d_w_s, scratch);
        shift_backward(simd, head.shift.row(t), w_g, d_w_s, d_w_g, &mut parameters.shift);
        parameters.gate = interpolate_backward(simd, head.gate[t], w_c, head.previous_weighting(t), d_w_g, next);
        parameters.strength = content_backward(simd, head.strength[t], head.similarity.row(t), w_c, d_w_g, scratch);
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
        let mut logit_gradient = Series::new(2);
        logit_gradient.resize(STEPS);
        logit_gradient.as_mut_slice().copy_from_slice(&upstream);
        // One step outside the answer.
        logit_gradient.row_mut(1).fill(0.0);

        let mut trace = Trace::new(&machine.config);
        machine.run(&input, &mut trace);
        let mut gradient = Params::zeros(&machine.config);
        let mut workspace = Workspace::new(&machine.config);
        machine.backward(&trace, &logit_gradient, &mut workspace, &mut gradient);

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
                    let products = trace.logit.as_slice().iter().zip(logit_gradient.as_slice());
                    products.map(|(z, u)| z * u).sum()
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
    fn a_memory_kept_in_part_gives_the_same_bits() {
        for (write_heads, steps) in [(1, 23), (2, 16), (2, 1)] {
            let mut config = ModelConfig {
                write_heads,
                ..config(ControllerKind::Lstm, 1, ShiftForm::Softmax)
            };
            config.rows = 40;
            let machine = Ntm::<f32>::new(config, 5);
            let input = Array2::from_shape_fn((steps, 3), |(t, x)| ((t * 3 + x) as f32).sin());
            let gradient = |limit: usize| {
                let mut trace = Trace::new(&machine.config);
                // A longer episode before must leave nothing behind.
                machine.run_for_training(&Array2::zeros((30, 3)), limit, &mut trace);
                machine.run_for_training(&input, limit, &mut trace);
                let mut upstream = Series::new(2);
                upstream.resize(steps);
                let values = random_vector(2, steps * 2);
                upstream
                    .as_mut_slice()
                    .iter_mut()
                    .zip(values)
                    .for_each(|(to, from)| *to = from as f32);
                let (mut workspace, mut gradient) = (
                    Workspace::new(&machine.config),
                    Params::zeros(&machine.config),
                );
                machine.backward(&trace, &upstream, &mut workspace, &mut gradient);
                (trace.memory_every, gradient)
            };
            let (all, part) = (gradient(usize::MAX), gradient(0));
            assert_eq!(all.0, 1);
            assert!(part.0 > 1);
            assert!(all.1 == part.1);
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
