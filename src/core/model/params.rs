//! The weights. One struct serves as parameters, gradient and optimizer moments.
//!
//! Which tensors a machine has stands once, in the [`Shape`] that its kind makes: random values, zeros, names,
//! sizes, weights files and checkpoints follow from it.

use std::sync::Arc;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2};
use rand::RngExt;

use super::kind::AsKind;
use super::shape::{LinearSpec, Shape, Start, TensorPlace, TensorSpec};
use crate::math::{Aligned, Linear, Matrix, Random, Real};

/// Every tensor of a machine. Linear maps hold weights as [inputs, outputs].
#[derive(Clone, Debug, PartialEq)]
pub struct Params<R = f32> {
    shape: Arc<Shape>,
    /// The linear maps, as in the shape.
    pub linears: Vec<Linear<R>>,
    /// The other tensors, as in the shape; none if they are [`Self::list`].
    pub tensors: Vec<Matrix<R>>,
    /// The tensors of a machine file, at their [places](Shape::places), with zeros between them.
    pub list: Aligned<R>,
}

/// The views of all tensors with their names, but for those in the list, as [`Shape::named`] has them.
macro_rules! views {
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
        views
    }};
}

impl<R: Real> Params<R> {
    /// All zero.
    pub fn zeros(kind: &impl AsKind) -> Self {
        let shape = kind.kind().shape();
        let linear = |linear: &LinearSpec| Linear::zeros(linear.inputs, linear.outputs());
        let tensor = |tensor: &TensorSpec| Matrix::zeros(tensor.rows, tensor.columns);
        let apart = if shape.places.is_empty() {
            &shape.tensors[..]
        } else {
            &[]
        };
        Self {
            linears: shape.linears.iter().map(linear).collect(),
            tensors: apart.iter().map(tensor).collect(),
            list: Aligned::zeros(shape.in_list().end),
            shape: Arc::new(shape),
        }
    }

    /// Returns the initial values of each tensor; see [`Start`].
    pub fn random(kind: &impl AsKind, random: &mut Random) -> Self {
        let mut params = Self::zeros(kind);
        let shape = Arc::clone(&params.shape);
        let mut starts = shape.starts();
        params.change(|_, mut tensor| {
            let Some((_, [rows, columns], start)) = starts.next() else {
                return;
            };
            let limit = match start {
                Start::Zero => return,
                Start::Glorot => (6.0 / (rows + columns) as f64).sqrt(),
                Start::GlorotOf(all) => (6.0 / all.max(1) as f64).sqrt(),
                Start::NearZero => 0.05,
            };
            tensor.mapv_inplace(|_| R::from_f64(limit * (2.0 * random.random::<f64>() - 1.0)));
        });
        params
    }

    /// Sets the tensors apart from linear maps to 0, as [`super::Machine::backward`] expects them.
    pub(super) fn clear_tensors(&mut self) {
        for tensor in &mut self.tensors {
            tensor.as_mut_slice().fill(R::ZERO);
        }
    }

    /// Returns the shapes of the tensors.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Every tensor under the name that weight files use, as a matrix: [`Shape::named`].
    pub fn named(&self) -> Vec<(String, CowArray<'_, R, Ix2>)> {
        let views = views!(self.shape, self.linears.iter(), self.tensors.iter(), view);
        let views = views.into_iter().map(CowArray::from);
        let of_list = self
            .of_list()
            .map(|index| CowArray::from(self.taken(index)));
        let names = self.shape.named().map(|(name, _)| name);
        names.zip(views.chain(of_list)).collect()
    }

    /// Changes tensors, each by its name.
    pub fn change(&mut self, mut change: impl FnMut(&str, ArrayViewMut2<'_, R>)) {
        let shape = Arc::clone(&self.shape);
        let mut names = shape.named().map(|(name, _)| name);
        let (linears, tensors) = (self.linears.iter_mut(), self.tensors.iter_mut());
        let views = views!(shape, linears, tensors, view_mut);
        views
            .into_iter()
            .zip(&mut names)
            .for_each(|(view, name)| change(&name, view));
        for (index, name) in self.of_list().zip(names).collect::<Vec<_>>() {
            let mut tensor = self.taken(index);
            change(&name, tensor.view_mut());
            let mut values = tensor.into_iter();
            shape.places[index].each(|at| self.list[at] = values.next().unwrap_or_default());
        }
    }

    /// The tensors of the list that have elements.
    fn of_list(&self) -> impl Iterator<Item = usize> + use<'_, R> {
        let all = self.shape.places.iter().enumerate();
        all.filter(|(_, place)| !place.is_empty())
            .map(|(index, _)| index)
    }

    /// A tensor of the list.
    fn taken(&self, index: usize) -> Array2<R> {
        let (spec, place) = (&self.shape.tensors[index], &self.shape.places[index]);
        let mut values = Vec::with_capacity(spec.rows * spec.columns);
        place.each(|at| values.push(self.list[at]));
        Array2::from_shape_vec([spec.rows, spec.columns], values).unwrap_or_default()
    }

    /// The tensor of this name that is no linear map, if its rows stand one after another.
    pub fn tensor(&self, name: &str) -> Option<ArrayView2<'_, R>> {
        let index = self
            .shape
            .tensors
            .iter()
            .position(|spec| spec.name == name)?;
        if let Some(tensor) = self.tensors.get(index) {
            return Some(tensor.view());
        }
        let (spec, place) = (&self.shape.tensors[index], &self.shape.places[index]);
        let mut all = place.first..place.first + spec.rows * spec.columns;
        let values = self.list.get(all.clone())?;
        let mut is_in_order = true;
        place.each(|at| is_in_order &= all.next() == Some(at));
        let view = ArrayView2::from_shape([spec.rows, spec.columns], values).ok();
        view.filter(|_| is_in_order)
    }

    /// Copies the list into another one, in which the tensors have these places.
    pub(super) fn copy_list(&self, places: &[TensorPlace], to: &mut [R]) {
        if places == self.shape.places {
            let range = self.shape.in_list();
            return to[range.clone()].copy_from_slice(&self.list[range]);
        }
        for (own, other) in self.shape.places.iter().zip(places) {
            own.each_with(other, |[from, at]| to[at] = self.list[from]);
        }
    }

    /// Adds another list, in which the tensors have these places; `sets`: to zeros.
    pub(super) fn add_list(&mut self, places: &[TensorPlace], from: &[R], sets: bool) {
        let is_alike = places == self.shape.places;
        let range = self.shape.in_list();
        if is_alike && sets {
            return self.list[range.clone()].copy_from_slice(&from[range]);
        }
        if is_alike {
            let pairs = self.list[range.clone()].iter_mut().zip(&from[range]);
            return pairs.for_each(|(to, from)| *to += *from);
        }
        if sets {
            self.list.fill(R::ZERO);
        }
        for (own, other) in self.shape.places.iter().zip(places) {
            own.each_with(other, |[to, at]| self.list[to] += from[at]);
        }
    }

    /// All tensors as flat slices, with their padding, which is zero and stays zero; always in the same
    /// order: what optimizers and sums walk over.
    pub fn slices(&self) -> impl Iterator<Item = &[R]> {
        let linears = self.linears.iter();
        linears
            .flat_map(|linear| [&linear.weight, &linear.bias])
            .chain(&self.tensors)
            .map(Matrix::as_slice)
            .chain([&self.list[..]])
    }

    /// [`Params::slices`], to write.
    pub fn slices_mut(&mut self) -> impl Iterator<Item = &mut [R]> {
        let linears = self.linears.iter_mut();
        linears
            .flat_map(|linear| [&mut linear.weight, &mut linear.bias])
            .chain(&mut self.tensors)
            .map(Matrix::as_mut_slice)
            .chain([&mut self.list[..]])
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
