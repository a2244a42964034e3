//! The weights. One struct serves as parameters, gradient and optimizer moments.

use ndarray::{ArrayView2, ArrayViewMut2, s};
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;

use super::config::{ControllerKind, HeadColumns, InitialMemory, InitialWeighting, ModelConfig};
use crate::math::{Linear, Matrix, Real};

/// Every tensor of a machine. Linear maps hold weights as [inputs, outputs].
#[derive(Clone, Debug, PartialEq)]
pub struct Params<R = f32> {
    /// Controller layers, bottom first: [`ModelConfig::layer_inputs`] → [`ModelConfig::layer_outputs`].
    pub controller: Vec<Linear<R>>,
    /// All heads side by side: C → P; see [`ModelConfig::head_columns`].
    pub heads: Linear<R>,
    /// [h; reads] → logits.
    pub output: Linear<R>,
    /// The state before the first step.
    pub initial: Initial<R>,
}

/// The learned part of the state before the first step. A tensor that is not learned has no rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial<R = f32> {
    /// Memory, [N, M].
    pub memory: Matrix<R>,
    /// Logits of the weightings, [heads, N].
    pub weighting: Matrix<R>,
    /// Read vectors, [read heads, M].
    pub read: Matrix<R>,
    /// LSTM hidden states, [layers, C].
    pub hidden: Matrix<R>,
    /// LSTM cells, [layers, C].
    pub cell: Matrix<R>,
}

impl<R: Real> Params<R> {
    /// All zero.
    pub fn zeros(config: &ModelConfig) -> Self {
        let size = config.controller.size;
        let learned_memory = config.initial_memory == InitialMemory::Learned;
        let learned_weighting = config.initial_weighting == InitialWeighting::Learned;
        let recurrent = if config.controller.kind == ControllerKind::Lstm {
            config.controller.layers
        } else {
            0
        };
        Self {
            controller: (0..config.controller.layers)
                .map(|layer| Linear::zeros(config.layer_inputs(layer), config.layer_outputs()))
                .collect(),
            heads: Linear::zeros(size, config.head_outputs()),
            output: Linear::zeros(config.features(), config.outputs),
            initial: Initial {
                memory: Matrix::zeros(if learned_memory { config.rows } else { 0 }, config.columns),
                weighting: Matrix::zeros(
                    if learned_weighting { config.heads() } else { 0 },
                    config.rows,
                ),
                read: Matrix::zeros(config.read_heads, config.columns),
                hidden: Matrix::zeros(recurrent, size),
                cell: Matrix::zeros(recurrent, size),
            },
        }
    }

    /// Weights uniform in ±sqrt(6 / (inputs + outputs)) (Glorot), biases zero, learned states near zero.
    pub fn random(config: &ModelConfig, random: &mut Xoshiro256PlusPlus) -> Self {
        let mut params = Self::zeros(config);
        let mut fill = |mut tensor: ArrayViewMut2<'_, R>, limit: f64| {
            tensor.mapv_inplace(|_| R::from_f64(limit * (2.0 * random.random::<f64>() - 1.0)));
        };
        let glorot =
            |tensor: &ArrayViewMut2<'_, R>| (6.0 / (tensor.nrows() + tensor.ncols()) as f64).sqrt();
        for (name, tensor) in params.named_mut(config) {
            if name.starts_with("initial.") {
                fill(tensor, 0.05);
            } else if name.ends_with(".weight") {
                let limit = glorot(&tensor);
                fill(tensor, limit);
            }
        }
        params
    }

    /// Every tensor under the name that weight files use, as a matrix; biases and vectors have one row.
    ///
    /// `controller0.weight`, `controller0.bias`, …, `read0.weight`, `read0.bias`, …, `write0.weight`, …,
    /// `output.weight`, `output.bias`, `initial.memory`, `initial.weighting`, `initial.read`,
    /// `initial.hidden`, `initial.cell`. Tensors without elements are left out.
    pub fn named(&self, config: &ModelConfig) -> Vec<(String, ArrayView2<'_, R>)> {
        let mut tensors = Vec::new();
        for (layer, linear) in self.controller.iter().enumerate() {
            tensors.push((format!("controller{layer}.weight"), linear.weight.view()));
            tensors.push((format!("controller{layer}.bias"), linear.bias.view()));
        }
        for head in 0..config.heads() {
            let (name, columns) = (config.head_name(head), config.head_columns(head).all());
            tensors.push((
                format!("{name}.weight"),
                self.heads.weight.view().slice_move(s![.., columns.clone()]),
            ));
            tensors.push((
                format!("{name}.bias"),
                self.heads.bias.view().slice_move(s![.., columns]),
            ));
        }
        tensors.push(("output.weight".into(), self.output.weight.view()));
        tensors.push(("output.bias".into(), self.output.bias.view()));
        tensors.push(("initial.memory".into(), self.initial.memory.view()));
        tensors.push(("initial.weighting".into(), self.initial.weighting.view()));
        tensors.push(("initial.read".into(), self.initial.read.view()));
        tensors.push(("initial.hidden".into(), self.initial.hidden.view()));
        tensors.push(("initial.cell".into(), self.initial.cell.view()));
        tensors.retain(|(_, tensor)| !tensor.is_empty());
        tensors
    }

    /// [`Params::named`], to write.
    pub fn named_mut(&mut self, config: &ModelConfig) -> Vec<(String, ArrayViewMut2<'_, R>)> {
        let mut tensors = Vec::new();
        for (layer, linear) in self.controller.iter_mut().enumerate() {
            tensors.push((
                format!("controller{layer}.weight"),
                linear.weight.view_mut(),
            ));
            tensors.push((format!("controller{layer}.bias"), linear.bias.view_mut()));
        }
        let columns: Vec<HeadColumns> = (0..config.heads())
            .map(|head| config.head_columns(head))
            .collect();
        let mut weight = self.heads.weight.view_mut();
        let mut bias = self.heads.bias.view_mut();
        for (head, columns) in columns.iter().enumerate() {
            let name = config.head_name(head);
            let axis = ndarray::Axis(1);
            let (this_weight, rest_weight) = weight.split_at(axis, columns.all().len());
            let (this_bias, rest_bias) = bias.split_at(axis, columns.all().len());
            (weight, bias) = (rest_weight, rest_bias);
            tensors.push((format!("{name}.weight"), this_weight));
            tensors.push((format!("{name}.bias"), this_bias));
        }
        tensors.push(("output.weight".into(), self.output.weight.view_mut()));
        tensors.push(("output.bias".into(), self.output.bias.view_mut()));
        tensors.push(("initial.memory".into(), self.initial.memory.view_mut()));
        tensors.push((
            "initial.weighting".into(),
            self.initial.weighting.view_mut(),
        ));
        tensors.push(("initial.read".into(), self.initial.read.view_mut()));
        tensors.push(("initial.hidden".into(), self.initial.hidden.view_mut()));
        tensors.push(("initial.cell".into(), self.initial.cell.view_mut()));
        tensors.retain(|(_, tensor)| !tensor.is_empty());
        tensors
    }

    /// Every tensor as one flat slice with its padding, which is zero and stays zero; always in the same
    /// order: what optimizers and sums walk over.
    pub fn slices(&self) -> impl Iterator<Item = &[R]> {
        self.tensors().map(Matrix::as_slice)
    }

    fn tensors(&self) -> impl Iterator<Item = &Matrix<R>> {
        let linears = self.controller.iter().chain([&self.heads, &self.output]);
        let Initial {
            memory,
            weighting,
            read,
            hidden,
            cell,
        } = &self.initial;
        linears
            .flat_map(|linear| [&linear.weight, &linear.bias])
            .chain([memory, weighting, read, hidden, cell])
    }

    /// [`Params::slices`], to write.
    pub fn slices_mut(&mut self) -> impl Iterator<Item = &mut [R]> {
        let linears = self
            .controller
            .iter_mut()
            .chain([&mut self.heads, &mut self.output]);
        let Initial {
            memory,
            weighting,
            read,
            hidden,
            cell,
        } = &mut self.initial;
        linears
            .flat_map(|linear| [&mut linear.weight, &mut linear.bias])
            .chain([memory, weighting, read, hidden, cell])
            .map(Matrix::as_mut_slice)
    }

    /// Number of parameters.
    pub fn count(&self) -> usize {
        self.tensors()
            .map(|tensor| tensor.rows() * tensor.columns())
            .sum()
    }

    /// Adds `other`, element by element.
    pub fn add(&mut self, other: &Self) {
        for (to, from) in self.slices_mut().zip(other.slices()) {
            for (to, &from) in to.iter_mut().zip(from) {
                *to += from;
            }
        }
    }
}
