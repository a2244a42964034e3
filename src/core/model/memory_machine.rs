//! The frame of machines with a controller, heads that it drives, and a memory that the heads change: an episode forwards, and
//! back through it.
//!
//! In a step the controller sees x_t and the reads of the step before; one linear map makes of its hidden state h_t what all
//! heads emit; the heads read and write; the output sees h_t and the reads. A machine is a [`MemoryMachine`]; its file has
//! the equations of its heads and their derivatives.

use std::any::Any;
use std::ops::Range;

use super::array;
use super::config::ControllerConfig;
use super::controller::{Stack, StackGradient};
use super::dependency::{Conventions, Dependency};
use super::head::set_one;
use super::kind::Kind;
use super::machine::{Batch, GradientRecorder, Machine, Upstream, longest, together};
use super::params::Params;
use super::readout;
use super::spec::{Array, Place};
use super::trace::{HeadTrace, Trace};
use crate::math::vectors::add;
use crate::math::{Linear, Matrix, Real, Series};

/// The equations of the heads and of the memory of a machine, with their derivatives.
///
/// Its linear maps are [`ControllerConfig::with_heads`].
pub(super) trait MemoryMachine: Kind + Sized + 'static {
    /// The first tensor of [`ControllerConfig::states`].
    const STATES: usize;
    /// The arrays that heads emit.
    const EMITTED: &'static [Array];
    /// What an episode needs on the way back for heads and memory.
    type Scratch<R: Real>: Send + 'static;

    /// The network that drives the heads.
    fn controller(&self) -> &ControllerConfig;

    /// The tensor with the reads before the first step, [heads, M]; they are 0 without one.
    fn first_reads(&self) -> Option<usize> {
        None
    }

    /// Sets the state of heads and memory before the first step.
    fn begin<R: Real>(&self, tensors: &[Matrix<R>], traces: &mut [Trace<R>]);

    /// Sets what heads emit in step `t`, from the pre-activations of all heads; `first` is the index of the first one.
    fn activate<R: Real>(&self, raw: &[R], first: usize, heads: &mut [HeadTrace<R>], t: usize);

    /// Addressing, reads and writes of a step.
    fn access_memory<R: Real>(&self, trace: &mut Trace<R>, t: usize);

    /// [`Machine::dependencies`].
    fn rules<'a, R: Real>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>>;

    /// The dependencies of heads and memory in [`Machine::step`].
    fn rules_of_step<R: Real>(&self) -> Vec<Dependency<'_, R>> {
        self.rules(Conventions::OWN)
    }

    /// [`Machine::show`].
    fn show<R: Real>(&self, _trace: &mut Trace<R>) {}

    /// The scratch of an episode.
    fn memory_scratch<R: Real>(&self) -> Self::Scratch<R>;

    /// Empties it for an episode.
    fn reset<R: Real>(&self, trace: &Trace<R>, gradients: &mut Gradients<R, Self::Scratch<R>>);

    /// Backpropagates through a step from the gradients w.r.t. its reads, [`StackGradient::others`], to those w.r.t. the
    /// pre-activations of heads.
    fn access_memory_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        t: usize,
        upstream: &Upstream<R>,
        gradients: &mut Gradients<R, Self::Scratch<R>>,
        recorder: GradientRecorder<'_, R>,
    );

    /// Adds the gradients w.r.t. the state of heads and memory before the first step to these tensors.
    fn begin_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        gradients: &mut Gradients<R, Self::Scratch<R>>,
        tensors: &mut [Matrix<R>],
        recorder: GradientRecorder<'_, R>,
    );
}

/// The gradients of an episode on the way back.
pub(super) struct Gradients<R, S> {
    /// Of the controller and of the linear maps.
    pub(super) frame: FrameGradient<R>,
    /// Of heads and memory.
    pub(super) memory: S,
}

/// The gradients that travel from step to step through the controller, and those w.r.t. the products with the linear maps.
pub(super) struct FrameGradient<R> {
    /// Of the controller, whose other inputs are the reads.
    pub(super) stack: StackGradient<R>,
    /// w.r.t. [h; reads] through the output layer, [T, C + R·M].
    features: readout::FeaturesGradient<R>,
    /// w.r.t. the pre-activations of all heads, [T, P].
    pub(super) raw: Series<R>,
    /// w.r.t. h_t through the heads.
    hidden: Vec<R>,
}

impl<R: Real> FrameGradient<R> {
    fn new(kind: &dyn Kind, controller: &ControllerConfig) -> Self {
        let sizes = kind.sizes();
        Self {
            stack: StackGradient::new(controller, sizes.reads()),
            features: readout::FeaturesGradient::new(sizes.features(), sizes.outputs),
            raw: Series::new(kind.width(Place::Machine, array::RAW)),
            hidden: vec![R::ZERO; sizes.units],
        }
    }

    /// Starts an episode from the gradients w.r.t. its logits.
    fn start(&mut self, output: &Linear<R>, logit: &Series<R>) {
        self.stack.reset(logit.steps());
        self.raw.resize(logit.steps());
        self.features.backward(&output.weight, logit);
    }

    /// Adds to the gradients w.r.t. h_t and the reads those through the output layer.
    fn answer_backward(&mut self, trace: &Trace<R>, t: usize, recorder: GradientRecorder<'_, R>) {
        let (d_hidden, d_reads) = self.features.gradient.row(t).split_at(self.hidden.len());
        add(self.stack.top(), d_hidden);
        add(&mut self.stack.others, d_reads);
        if let Some(recorder) = recorder {
            recorder.record_reads(trace, t, &self.stack.others);
        }
    }
}

/// The weights of a machine, but those of heads and memory.
#[derive(Clone, Copy)]
struct Frame<'a, R> {
    stack: Stack<'a, R>,
    /// All heads side by side.
    heads: &'a Linear<R>,
    output: &'a Linear<R>,
    /// The reads before the first step, [heads, M]; 0 without.
    reads: Option<&'a Matrix<R>>,
}

impl<'a, R: Real> Frame<'a, R> {
    fn of<C: MemoryMachine>(config: &'a C, params: &'a Params<R>) -> Self {
        let (controller, tensors) = (config.controller(), &params.tensors);
        let (layers, others) = params.linears.split_at(controller.layers);
        Self {
            stack: Stack {
                config: controller,
                inputs: config.sizes().inputs,
                linears: layers,
                hidden: &tensors[C::STATES],
                cell: &tensors[C::STATES + 1],
            },
            heads: &others[0],
            output: &others[1],
            reads: config.first_reads().map(|reads| &tensors[reads]),
        }
    }

    /// The controller in a step, and the pre-activations of all heads.
    fn drive(&self, t: usize, traces: &mut [Trace<R>]) {
        together!(traces.len(), traces, |traces| {
            let reads = |heads: &[_], t, put: &mut dyn FnMut(&[R])| self.put_reads(heads, t, put);
            self.stack.forward(t, traces, reads);
            self.set_raw(t, traces);
        });
    }

    /// Passes on the reads of the step before.
    fn put_reads(&self, heads: &[HeadTrace<R>], t: usize, put: &mut dyn FnMut(&[R])) {
        match (t.checked_sub(1), self.reads) {
            (Some(before), _) => heads.iter().for_each(|head| put(head.read.row(before))),
            (None, Some(reads)) => (0..reads.rows()).for_each(|head| put(reads.row(head))),
            (None, None) => {
                let values = heads.iter().map(|head| head.read.width()).sum();
                (0..values).for_each(|_| put(&[R::ZERO]));
            }
        }
    }

    fn set_raw<const B: usize>(&self, t: usize, traces: &mut [Trace<R>; B]) {
        let top = self.stack.config.layers - 1;
        let hidden_to_raw = traces.each_mut().map(|trace| {
            let raw = trace.raw.row_mut(t);
            self.heads.start(raw);
            (trace.layers[top].hidden.row(t), raw)
        });
        self.heads.forward_from(0, hidden_to_raw);
    }

    /// Backpropagates one step from the pre-activations of heads through the controller to its input.
    fn drive_backward<const B: usize>(
        &self,
        t: usize,
        traces: &[Trace<R>],
        mut gradients: [(&mut FrameGradient<R>, GradientRecorder<'_, R>); B],
    ) {
        let raw_to_hidden = gradients
            .each_mut()
            .map(|(gradient, _)| (gradient.raw.row(t), &mut gradient.hidden[..]));
        self.heads.backward_from(0, raw_to_hidden);
        let gradients = gradients.map(|(gradient, recorder)| {
            add(gradient.stack.top(), &gradient.hidden);
            (&mut gradient.stack, recorder)
        });
        self.stack.backward(t, traces, gradients);
    }
}

/// Runs these steps of traces that have their state before the first step.
pub(super) fn run_on<R: Real>(
    config: &impl MemoryMachine,
    params: &Params<R>,
    traces: &mut [Trace<R>],
    steps: Range<usize>,
) {
    let frame = Frame::of(config, params);
    let step = |t: usize, traces: &mut [Trace<R>]| {
        frame.drive(t, traces);
        for trace in &mut *traces {
            config.activate(trace.raw.row(t), 0, &mut trace.heads, t);
            config.access_memory(trace, t);
        }
        // Not at once: what was just written in parts would be awaited to be read as a whole.
        for trace in traces {
            readout::gather(trace, t);
        }
    };
    frame.stack.run(traces, steps, step, |trace, steps| {
        readout::forward(frame.output, trace, steps, |trace| &trace.features);
    });
}

impl<R: Real, C: MemoryMachine> Machine<R> for C {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        if steps.start == 0 {
            self.begin(&params.tensors, traces);
        }
        run_on(self, params, traces, steps);
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(Gradients::<R, C::Scratch<R>> {
            frame: FrameGradient::new(self, self.controller()),
            memory: self.memory_scratch(),
        })
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let frame = Frame::of(self, params);
        for mut group in batch.groups() {
            for (trace, upstream, gradients, _) in group.each::<Gradients<R, C::Scratch<R>>>() {
                gradients.frame.start(frame.output, &upstream.logit);
                self.reset(trace, gradients);
            }
            let Batch { traces, workspaces } = group;
            for t in (0..longest(traces)).rev() {
                let running = traces.partition_point(|trace| trace.steps() > t);
                for (trace, workspace) in traces[..running].iter().zip(&mut *workspaces) {
                    let (upstream, gradients, mut recorder) = workspace.parts_mut();
                    let Gradients { frame, .. } = gradients;
                    frame.answer_backward(trace, t, recorder.as_deref_mut());
                    self.access_memory_backward(trace, t, upstream, gradients, recorder);
                }
                together!(running, workspaces, |workspaces| {
                    let gradients = workspaces.each_mut().map(|workspace| {
                        let (_, gradients, recorder) = workspace.parts_mut();
                        let Gradients::<R, C::Scratch<R>> { frame, .. } = gradients;
                        (frame, recorder)
                    });
                    frame.drive_backward(t, traces, gradients);
                });
            }
        }
        for (trace, upstream, gradients, mut recorder) in
            batch.each::<Gradients<R, C::Scratch<R>>>()
        {
            let stack = &gradients.frame.stack;
            stack.add_initial(&mut gradient.tensors[C::STATES..]);
            if let Some(recorder) = &mut recorder {
                recorder.record_logits(trace, upstream);
                frame.stack.record_inputs(trace, stack, recorder);
            }
            self.begin_backward(trace, gradients, &mut gradient.tensors, recorder);
        }
        let all = batch.done::<Gradients<R, C::Scratch<R>>>();
        let all = all.map(|(trace, logit, gradients)| (trace, logit, &gradients.frame));
        let layers = self.controller().layers;
        let (controller, others) = gradient.linears.split_at_mut(layers);
        let (stacks, heads) = (all.clone(), all.clone());
        Stack::set_gradients(&stacks.map(|(trace, _, d)| (trace, &d.stack)), controller);
        others[0]
            .set_gradient(heads.map(|(trace, _, d)| (&trace.layers[layers - 1].hidden, &d.raw)));
        others[1].set_gradient(all.map(|(trace, logit, _)| (&trace.features, logit)));
    }

    fn show(&self, trace: &mut Trace<R>) {
        MemoryMachine::show(self, trace);
    }

    fn dependencies<'a>(&'a self, conventions: &'a Conventions) -> Vec<Dependency<'a, R>> {
        self.rules(conventions)
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let (frame, empty) = (Frame::of(self, params), Trace::<R>::of(self));
        let reads = move |heads: &[HeadTrace<R>], t, put: &mut dyn FnMut(&[R])| {
            frame.put_reads(heads, t, put);
        };
        let mut all: Vec<_> = frame.stack.step(reads).collect();
        for (head, of) in empty.heads.iter().enumerate() {
            let emitted = C::EMITTED.iter().copied();
            all.extend(
                emitted
                    .filter(|array| of.series(array).is_some())
                    .map(|array| {
                        let compute = move |trace: &mut Trace<R>, t: usize| {
                            frame.set_raw(t, std::array::from_mut(trace));
                            let (raw, heads) = (trace.raw.row(t), &mut trace.heads[head..=head]);
                            set_one(heads, C::EMITTED, (0, array), t, |heads| {
                                self.activate(raw, head, heads, t);
                            });
                        };
                        Dependency::with_weights(Place::Head(head), array, compute)
                    }),
            );
        }
        all.extend(self.rules_of_step());
        all.extend(readout::step(frame.output, |trace, t| {
            readout::gather(trace, t);
            trace.features.row(t).to_vec()
        }));
        all
    }
}
