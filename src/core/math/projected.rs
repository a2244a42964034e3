//! A layer of units over the rows of a memory that does not change, of which Wᵀ·M(i) is known, row after row:
//!
//! ```text
//! e(i) = v · tanh(c + P(i))      P(i) = Wᵀ·M(i)
//! ```
//!
//! For any memory see [`super::units`].

use super::kernel::kernel;
use super::pack::each_pack;
use super::{Pack, Real};

kernel! {
    /// Writes e(i) for every row of `projected`, [N, A], and the units where `units` has room for them.
    pub fn forward<'a, R>(
        simd; start: &'a [R], vector: &'a [R], projected: &'a [R], units: Option<&'a mut [R]>,
        energies: &'a mut [R],
    ) {
        let (width, mut units) = (vector.len(), units);
        for (i, (row, energy)) in projected.chunks_exact(width).zip(energies).enumerate() {
            let mut kept = units.as_deref_mut().map(|units| &mut units[i * width..][..width]);
            let mut e = Pack::splat(simd, R::ZERO);
            each_pack!(simd, at in row => {
                let unit = (at.load(row) + at.load(start)).tanh();
                if let Some(kept) = &mut kept {
                    at.store(kept, unit);
                }
                e += at.new_or(unit * at.load(vector), R::ZERO);
            });
            *energy = e.sum();
        }
    }
}

/// The backward pass from the gradient w.r.t. e to those w.r.t. its inputs.
#[derive(Debug)]
pub struct ProjectedGradient<'a, R> {
    /// The gradient w.r.t. e, [N].
    pub d_energies: &'a [R],
    /// The gradient w.r.t. c, [A], to be set.
    pub d_start: &'a mut [R],
    /// The gradient w.r.t. v, [A], to be added to.
    pub d_vector: &'a mut [R],
    /// The gradient w.r.t. P, [N, A], before its product with v, to be added to: see [`by_projected`].
    pub d_projected: &'a mut [R],
}

kernel! {
    /// The backward pass of [`forward`], which may have kept the units.
    pub fn backward<'a, R>(
        simd; start: &'a [R], vector: &'a [R], projected: &'a [R], units: Option<&'a [R]>,
        by: ProjectedGradient<'a, R>,
    ) {
        let ProjectedGradient { d_energies, d_start, d_vector, d_projected } = by;
        let width = vector.len();
        each_pack!(simd, at in start => {
            let (c, mut d_c) = (at.load(start), Pack::splat(simd, R::ZERO));
            let mut d_v = at.load(d_vector);
            let rows = projected.chunks_exact(width).zip(d_projected.chunks_exact_mut(width));
            for (i, ((row, d_row), &d)) in rows.zip(d_energies).enumerate() {
                let unit = match units {
                    Some(units) => at.load(&units[i * width..][..width]),
                    None => (at.load(row) + c).tanh(),
                };
                let by_v = unit * d;
                let by_p = (-unit).mul_add(by_v, d);
                d_v += by_v;
                d_c += by_p;
                at.store(d_row, at.load(d_row) + by_p);
            }
            at.store(d_vector, d_v);
            at.store(d_start, d_c * at.load(vector));
        });
    }
}

/// Completes the gradient w.r.t. P: its product with v.
pub fn by_projected<R: Real>(vector: &[R], d_projected: &mut [R]) {
    for row in d_projected.chunks_exact_mut(vector.len()) {
        row.iter_mut().zip(vector).for_each(|(d, &v)| *d *= v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};

    #[test]
    fn gradients_at_every_size() {
        for (rows, width) in [(1, 1), (5, 7), (21, 64), (3, 37)] {
            let point = random_vector(1, (rows + 2) * width);
            let upstream = random_vector(2, rows);
            let energies = |point: &[f64], units: Option<&mut [f64]>| {
                let (c, rest) = point.split_at(width);
                let (v, p) = rest.split_at(width);
                let mut energies = vec![1.0; rows];
                forward(c, v, p, units, &mut energies);
                energies
            };
            let mut kept = vec![0.0; rows * width];
            let found = energies(&point, Some(&mut kept));
            assert_eq!(found, energies(&point, None));
            let (c, rest) = point.split_at(width);
            let (v, p) = rest.split_at(width);
            for (i, e) in found.iter().enumerate() {
                let terms = (0..width).map(|a| v[a] * (c[a] + p[i * width + a]).tanh());
                assert!((e - terms.sum::<f64>()).abs() < 1e-12);
            }
            for units in [Some(&kept[..]), None] {
                let (mut d_c, mut d_v) = (vec![1.0; width], vec![0.0; width]);
                let mut d_p = vec![0.0; p.len()];
                let by = ProjectedGradient {
                    d_energies: &upstream,
                    d_start: &mut d_c,
                    d_vector: &mut d_v,
                    d_projected: &mut d_p,
                };
                backward(c, v, p, units, by);
                by_projected(v, &mut d_p);
                let found = [d_c, d_v, d_p].concat();
                assert_gradient("all", &point, &found, |point| {
                    let e = energies(point, None);
                    e.iter().zip(&upstream).map(|(e, u)| e * u).sum()
                });
            }
        }
    }
}
