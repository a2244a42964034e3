//! The weights. One struct serves as parameters, gradient and optimizer moments.
//!
//! Which tensors a machine has stands once, in the [`Shape`] that its kind makes: random values, zeros, names,
//! sizes, weights files and checkpoints follow from it.

use std::sync::Arc;

use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use rand::RngExt;

use super::kind::AsKind;
use super::shape::{LinearSpec, Shape, Start, TensorSpec};
use crate::math::{Linear, Matrix, Random, Real};

/// Every tensor of a machine. Linear maps hold weights as [inputs, outputs].
#[derive(Clone, Debug, PartialEq)]
pub struct Params<R = f32> {
    shape: Arc<Shape>,
    /// The linear maps, as in the shape.
    pub linears: Vec<Linear<R>>,
    /// The other tensors, as in the shape.
    pub tensors: Vec<Matrix<R>>,
}

/// The views of all tensors, as [`Shape::named`] has them.
macro_rules! named {
    ($shape:expr, $linears:expr, $tensors:expr, $view:ident) => {{
        let mut views = Vec::new();
        for (spec, linear) in $shape.linears.iter().zip($linears) {
            let (mut weight, mut bias) = (linear.weight.$view(), linear.bias.$view());
            for (_, outputs) in &spec.parts {
                let (this_weight, rest_weight) = weight.split_at(Axis(1), *outputs);
                let (this_bias, rest_bias) = bias.split_at(Axis(1), *outputs);
                (weight, bias) = (rest_weight, rest_bias);
                views.extend([this_weight, this_bias]);
            }
        }
        views.extend($tensors.map(|tensor| tensor.$view()));
        views.retain(|view| !view.is_empty());
        $shape.named().map(|(name, _)| name).zip(views).collect()
    }};
}

impl<R: Real> Params<R> {
    /// All zero.
    pub fn zeros(kind: &impl AsKind) -> Self {
        let shape = kind.kind().shape();
        let linear = |linear: &LinearSpec| Linear::zeros(linear.inputs, linear.outputs());
        let tensor = |tensor: &TensorSpec| Matrix::zeros(tensor.rows, tensor.columns);
        Self {
            linears: shape.linears.iter().map(linear).collect(),
            tensors: shape.tensors.iter().map(tensor).collect(),
            shape: Arc::new(shape),
        }
    }

    /// Returns the initial values of each tensor; see [`Start`].
    pub fn random(kind: &impl AsKind, random: &mut Random) -> Self {
        let mut params = Self::zeros(kind);
        let shape = Arc::clone(&params.shape);
        let starts = shape.starts();
        for ((_, mut tensor), (_, [rows, columns], start)) in
            params.named_mut().into_iter().zip(starts)
        {
            let limit = match start {
                Start::Zero => continue,
                Start::Glorot => (6.0 / (rows + columns) as f64).sqrt(),
                Start::GlorotOf(all) => (6.0 / all.max(1) as f64).sqrt(),
                Start::NearZero => 0.05,
            };
            tensor.mapv_inplace(|_| R::from_f64(limit * (2.0 * random.random::<f64>() - 1.0)));
        }
        params
    }

    /// Returns the shapes of the tensors.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Every tensor under the name that weight files use, as a matrix: [`Shape::named`].
    pub fn named(&self) -> Vec<(String, ArrayView2<'_, R>)> {
        named!(self.shape, self.linears.iter(), self.tensors.iter(), view)
    }

    /// [`Params::named`], to write.
    pub fn named_mut(&mut self) -> Vec<(String, ArrayViewMut2<'_, R>)> {
        let (linears, tensors) = (self.linears.iter_mut(), self.tensors.iter_mut());
        named!(self.shape, linears, tensors, view_mut)
    }

    /// The tensor of this name that is no linear map.
    pub fn tensor(&self, name: &str) -> Option<&Matrix<R>> {
        let place = self.shape.tensors.iter().position(|spec| spec.name == name);
        self.tensors.get(place?)
    }

    /// Every tensor as one flat slice with its padding, which is zero and stays zero; always in the same
    /// order: what optimizers and sums walk over.
    pub fn slices(&self) -> impl Iterator<Item = &[R]> {
        let linears = self.linears.iter();
        linears
            .flat_map(|linear| [&linear.weight, &linear.bias])
            .chain(&self.tensors)
            .map(Matrix::as_slice)
    }

    /// [`Params::slices`], to write.
    pub fn slices_mut(&mut self) -> impl Iterator<Item = &mut [R]> {
        let linears = self.linears.iter_mut();
        linears
            .flat_map(|linear| [&mut linear.weight, &mut linear.bias])
            .chain(&mut self.tensors)
            .map(Matrix::as_mut_slice)
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
