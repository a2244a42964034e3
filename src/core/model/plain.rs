//! A controller alone, without memory: the baseline of the paper (§4), a plain LSTM.

use std::any::Any;
use std::ops::Range;

use super::array;
use super::config::ControllerConfig;
use super::controller::{Stack, StackGradient};
use super::dependency::Dependency;
use super::kind::{Kind, Sizes};
use super::machine::{Batch, Machine, longest, together};
use super::params::Params;
use super::readout;
use super::shape::{LinearSpec, Shape};
use super::spec::{Array, Place};
use super::trace::Trace;
use crate::keys::{Keys, Table};
use crate::math::Real;
use crate::math::vectors::add;

/// The size of a controller alone.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainConfig {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// The network.
    pub controller: ControllerConfig,
}

impl PlainConfig {
    /// The usual controller for a task of the given width.
    pub const fn new(inputs: usize, outputs: usize) -> Self {
        let controller = ControllerConfig::PAPER;
        Self {
            inputs,
            outputs,
            controller,
        }
    }
}

impl Keys for PlainConfig {
    fn keys(&mut self, to: &mut Table<'_>) {
        self.controller.keys(&mut to.section("controller"));
    }
}

impl Kind for PlainConfig {
    fn sizes(&self) -> Sizes {
        Sizes {
            inputs: self.inputs,
            outputs: self.outputs,
            layers: self.controller.layers,
            units: self.controller.size,
            ..Sizes::default()
        }
    }

    fn shape(&self) -> Shape {
        let output = LinearSpec::new("output", self.controller.size, self.outputs);
        Shape {
            linears: self
                .controller
                .linears(self.inputs)
                .chain([output])
                .collect(),
            tensors: self.controller.states().into(),
        }
    }

    fn width(&self, place: Place, array: Array) -> usize {
        match (place, array) {
            (Place::Layer(layer), _) => self.controller.width(layer, array, self.inputs),
            (_, array::INPUT) => self.inputs,
            (_, array::LOGIT | array::OUTPUT) => self.outputs,
            _ => 0,
        }
    }

    fn is_passing(&self, place: Place, _: Array) -> bool {
        matches!(place, Place::Layer(_))
    }

    fn set_channels(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
    }
}

/// The scratch space of the backward pass of an episode.
struct Scratch<R> {
    stack: StackGradient<R>,
    seen: readout::Seen<R>,
}

impl PlainConfig {
    fn stack<'a, R>(&'a self, params: &'a Params<R>) -> Stack<'a, R> {
        Stack {
            config: &self.controller,
            inputs: self.inputs,
            linears: &params.linears[..self.controller.layers],
            hidden: &params.tensors[0],
            cell: &params.tensors[1],
        }
    }
}

impl<R: Real> Machine<R> for PlainConfig {
    fn run(&self, params: &Params<R>, traces: &mut [Trace<R>], steps: Range<usize>) {
        let (stack, layers) = (self.stack(params), self.controller.layers);
        let step = |t: usize, traces: &mut [Trace<R>]| {
            together!(traces.len(), traces, |traces| {
                stack.forward(t, traces, |_, _, _| ());
            });
        };
        stack.run(traces, steps, step, |trace, steps| {
            let output = &params.linears[layers];
            readout::forward(output, trace, steps, |trace| {
                &trace.layers[layers - 1].hidden
            });
        });
    }

    fn scratch(&self) -> Box<dyn Any + Send> {
        Box::new(Scratch::<R> {
            stack: StackGradient::new(&self.controller, 0),
            seen: readout::Seen::new(self.controller.size, self.outputs),
        })
    }

    fn step<'a>(&'a self, params: &'a Params<R>) -> Vec<Dependency<'a, R>> {
        let layers = self.controller.layers;
        let seen =
            move |trace: &mut Trace<R>, t: usize| trace.layers[layers - 1].hidden.row(t).to_vec();
        let controller = self.stack(params).step(|_, _, _| ());
        controller
            .chain(readout::step(&params.linears[layers], seen))
            .collect()
    }

    fn backward(&self, params: &Params<R>, batch: &mut Batch<'_, R>, gradient: &mut Params<R>) {
        let (stack, layers) = (self.stack(params), self.controller.layers);
        for mut group in batch.groups() {
            for (_, by, scratch, _) in group.each::<Scratch<R>>() {
                scratch.stack.reset(by.logit.steps());
                scratch
                    .seen
                    .backward(&params.linears[layers].weight, &by.logit);
            }
            let Batch { traces, workspaces } = &mut group;
            for t in (0..longest(traces)).rev() {
                let running = traces.partition_point(|trace| trace.steps() > t);
                together!(running, workspaces, |workspaces| {
                    let gradients = workspaces.each_mut().map(|workspace| {
                        let (_, Scratch { stack, seen }, recorder) = workspace.parts_mut();
                        add(stack.top(), seen.gradient.row(t));
                        (stack, recorder)
                    });
                    stack.backward(t, traces, gradients);
                });
            }
            for (trace, by, scratch, recorder) in group.each::<Scratch<R>>() {
                if let Some(recorder) = recorder {
                    recorder.record_logits(trace, by);
                    stack.record_inputs(trace, &scratch.stack, recorder);
                }
            }
        }
        let all = batch.done::<Scratch<R>>();
        for (_, _, scratch) in all.clone() {
            scratch.stack.add_initial(&mut gradient.tensors);
        }
        let (controller, output) = gradient.linears.split_at_mut(layers);
        let stacks = all
            .clone()
            .map(|(trace, _, scratch)| (trace, &scratch.stack));
        Stack::set_gradients(&stacks, controller);
        output[0]
            .set_gradient(all.map(|(trace, logit, _)| (&trace.layers[layers - 1].hidden, logit)));
    }
}
