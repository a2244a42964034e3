//! Annotations of a picture: every source step is a patch of it, and its annotation is a memory row (Xu 2015, §3.1.1). It is
//! the input itself, or comes from a convolution with 3 × 3 filters over the square of patches, row after row;
//! a step behind the square, such as a delimiter, is on its own:
//!
//! ```text
//! a_t = x_t, or relu(W·[x of the 3 × 3 places about t, 0 outside] + b)    M(t) = a_t
//! ```

use super::array;
use super::dependency::Dependency;
use super::machine::record;
use super::shape::{LinearSpec, Shape};
use super::source::{Source, SourceBack, Weights};
use super::spec::{Array, ArraySpec, Place, Range};
use super::trace::Trace;
use crate::keys::Field::Integer;
use crate::keys::Table;
use crate::math::vectors::add;
use crate::math::{Linear, Real, Series};

/// The annotations of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnotationsConfig {
    /// Filters of the convolution; 0 for none.
    pub filters: usize,
}

/// a_t of a convolution, [T, M].
#[rustfmt::skip] // A row for every array.
const ANNOTATIONS: Array = &ArraySpec::new("annotations", &["t", "m"], "a", Range::AtLeast(0.0), "relu of a convolution of the picture, 3 × 3 places about that of step t; 0 after the source (Xu 2015)");
/// The inputs about a place, [T, 9·X].
const PLACES: Array = &ArraySpec::scratch("annotations.places");

/// The arrays of annotations.
pub(super) const ARRAYS: [Array; 2] = [ANNOTATIONS, PLACES];

/// The steps of the 3 × 3 places about that of step `t` in the largest square picture of up to `source` places; `None`
/// outside. A step behind the picture, such as a delimiter, has only its own place.
fn places(t: usize, source: usize) -> impl Iterator<Item = Option<usize>> {
    let side = source.isqrt();
    (0..9).map(move |place| {
        if t >= side * side {
            return Some(t).filter(|_| place == 4);
        }
        let (row, column) = (t / side, t % side);
        let row = (row + place / 3).checked_sub(1).filter(|row| *row < side)?;
        let column = (column + place % 3)
            .checked_sub(1)
            .filter(|column| *column < side)?;
        Some(row * side + column)
    })
}

impl AnnotationsConfig {
    fn see<R: Real>(trace: &mut Trace<R>, t: usize) {
        let (source, [_, seen]) = (trace.setting.source, trace.own.all_mut::<2>());
        let parts = seen.row_mut(t).chunks_exact_mut(trace.input.width());
        for (part, place) in parts.zip(places(t, source)) {
            match place {
                Some(step) => part.copy_from_slice(trace.input.row(step)),
                None => part.fill(R::ZERO),
            }
        }
    }

    fn activate<R: Real>(annotation: &mut [R]) {
        annotation.iter_mut().for_each(|a| *a = a.max(R::ZERO));
    }
}

impl Source for AnnotationsConfig {
    const ARRAYS: &'static [Array] = &ARRAYS;

    fn keys(&mut self, to: &mut Table<'_>) {
        let filters = Integer(&mut self.filters, 0..=1024);
        to.key("filters", filters, "3 × 3 filters of a convolution over the picture, whose values at a place are its memory row; with 0 the row is the input");
    }

    fn shape(&self, inputs: usize) -> Shape {
        let filters = LinearSpec::new("annotations", 9 * inputs, self.filters);
        let linears = Some(filters).filter(|_| self.filters > 0);
        Shape {
            linears: linears.into_iter().collect(),
            tensors: Vec::new(),
        }
    }

    fn columns(&self, inputs: usize) -> usize {
        if self.filters > 0 {
            self.filters
        } else {
            inputs
        }
    }

    fn width(&self, inputs: usize, array: Array) -> usize {
        match array {
            _ if self.filters == 0 => 0,
            ANNOTATIONS => self.filters,
            _ => 9 * inputs,
        }
    }

    fn axis(&self, _: &str) -> Option<usize> {
        None
    }

    fn run<R: Real>(&self, weights: Weights<'_, R>, traces: &mut [Trace<R>]) {
        let [linear] = weights.linears else { return };
        for trace in traces {
            let source = trace.setting.source;
            (0..source).for_each(|t| Self::see(trace, t));
            let [annotations, places] = trace.own.all_mut::<2>();
            linear.forward_rows(places, annotations, 0..source);
            (0..source).for_each(|t| Self::activate(annotations.row_mut(t)));
        }
    }

    fn made_of(&self) -> &'static [Array] {
        if self.filters > 0 {
            &[ANNOTATIONS]
        } else {
            &[array::INPUT]
        }
    }

    fn row<'a, R: Real>(&self, trace: &'a Trace<R>, t: usize) -> [&'a [R]; 2] {
        let annotations = trace.own.at(0);
        let rows = if self.filters > 0 {
            annotations
        } else {
            &trace.input
        };
        [rows.row(t), &[]]
    }

    fn step<'a, R: Real>(&'a self, weights: Weights<'a, R>) -> Vec<Dependency<'a, R>> {
        let of = |linear: &'a Linear<R>| {
            let annotate = move |trace: &mut Trace<R>, t: usize| {
                Self::see(trace, t);
                let (source, [annotations, places]) =
                    (trace.setting.source, trace.own.all_mut::<2>());
                let annotation = annotations.row_mut(t);
                linear.forward_row(places.row(t), annotation, t, source);
                Self::activate(annotation);
            };
            let annotations = Dependency::with_weights(Place::Machine, ANNOTATIONS, annotate);
            annotations.only(|t, source| t < source)
        };
        weights.linears.iter().map(of).collect()
    }

    fn backward<R: Real>(&self, weights: Weights<'_, R>, episodes: &mut [SourceBack<'_, R>]) {
        for episode in episodes {
            self.backward_alone(weights, episode);
        }
    }

    fn multiplied<'a, R: Real>(&self, trace: &'a Trace<R>, _: usize) -> &'a Series<R> {
        trace.own.at(1)
    }
}

impl AnnotationsConfig {
    fn backward_alone<R: Real>(&self, weights: Weights<'_, R>, episode: &mut SourceBack<'_, R>) {
        let SourceBack {
            trace,
            rows: d_rows,
            products,
            recorder,
            ..
        } = episode;
        let (source, x) = (trace.setting.source, trace.input.width());
        let mut d_input = Series::new(x);
        d_input.resize(trace.steps());
        let mut d_places = vec![R::ZERO; 9 * x];
        for t in 0..source {
            let ([linear], [dz]) = (weights.linears, &mut **products) else {
                d_input.row_mut(t).copy_from_slice(d_rows.row(t));
                continue;
            };
            let all = trace.own.at(0).row(t).iter().zip(d_rows.row(t));
            for (dz, (&a, &d)) in dz.row_mut(t).iter_mut().zip(all) {
                *dz = if a > R::ZERO { d } else { R::ZERO };
            }
            if recorder.is_some() {
                linear.backward_from(0, [(dz.row(t), &mut d_places[..])]);
                let parts = places(t, source).zip(d_places.chunks_exact(x));
                for (step, part) in parts.filter_map(|(step, part)| Some((step?, part))) {
                    add(d_input.row_mut(step), part);
                }
            }
        }
        if let Some(recorder) = recorder {
            let last = trace.steps() - 1;
            if self.filters > 0 {
                // After the source they are 0.
                let zeros = vec![R::ZERO; self.filters];
                recorder.record_array(trace, Place::Machine, ANNOTATIONS, last, &zeros);
            }
            for t in 0..=last {
                record(&mut recorder.input, &trace.input, t, d_input.row(t));
                if self.filters > 0 && t < source {
                    recorder.record_array(trace, Place::Machine, ANNOTATIONS, t, d_rows.row(t));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiter_is_no_part_of_the_picture() {
        let of = |t, source| places(t, source).collect::<Vec<_>>();
        for t in 0..16 {
            assert_eq!(of(t, 17), of(t, 16), "{t}");
        }
        let about = [0, 1, 2, 4, 5, 6, 8, 9, 10].map(Some);
        assert_eq!(of(5, 17), about);
        let delimiter = of(16, 17);
        assert_eq!(delimiter.iter().flatten().collect::<Vec<_>>(), [&16]);
        assert_eq!(delimiter[4], Some(16));
    }
}
