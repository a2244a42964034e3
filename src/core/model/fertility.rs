//! What a source step should be given in all: penalties on the sums of weights s_i = Σ_t w_t(i) over an answer, per row.
//!
//! ```text
//! doubly stochastic (Xu 2015, §4.2.1)      Σ_i (1 − s_i)²
//! global fertility (Cohn 2016, §3.3)       −Σ_i ln N(s_i | μ_i, v_i)     g_i = tanh(W·h_i + b)
//!                                          μ_i = m·g_i + b_μ             v_i = exp(n·g_i + b_v)
//! ```

use std::ops::Range;

use super::controller::feedforward;
use super::machine::Terms;
use super::spec::{Array, ArraySpec, Place, Range as Values};
use super::trace::{HeadTrace, Trace};
use crate::math::kernel::kernel;
use crate::math::pack::each_pack;
use crate::math::vectors::add;
use crate::math::{Linear, Real, Series};

/// μ_t, [T].
#[rustfmt::skip] // A row for every array.
pub const MEAN: Array = &ArraySpec::new("fertility.mean", &["t"], "μ", Values::Any, "expected sum of the weights that row t is given in the whole answer; 0 after the source (Cohn 2016)");
/// v_t, [T].
#[rustfmt::skip]
pub const VARIANCE: Array = &ArraySpec::new("fertility.variance", &["t"], "v", Values::AtLeast(0.0), "variance of that sum; 0 after the source (Cohn 2016)");
/// h_t, the row, [T, M].
pub(super) const ROWS: Array = &ArraySpec::scratch("fertility.rows");
/// g_t, [T, F].
pub(super) const UNITS: Array = &ArraySpec::scratch("fertility.units");

kernel! {
    fn exp<'a, R>(simd; x: &'a mut [R]) {
        each_pack!(simd, at in x => { at.store(x, at.load(x).exp()) });
    }
}

/// μ and v of a row; sets its units.
pub(super) fn forward<R: Real>(linears: &[Linear<R>], row: &[R], units: &mut [R]) -> [R; 2] {
    linears[0].start(units);
    linears[0].forward_from(0, [(row, &mut *units)]);
    feedforward::forward(units);
    let mut normal = [R::ZERO; 2];
    linears[1].start(&mut normal);
    linears[1].forward_from(0, [(&*units, &mut normal[..])]);
    exp(&mut normal[1..]);
    normal
}

/// Backpropagates from the gradients w.r.t. μ and v to those w.r.t. both products, and adds to that w.r.t. the row.
pub(super) fn backward<R: Real>(
    linears: &[Linear<R>],
    (units, v): (&[R], R),
    [d_mean, d_variance]: [R; 2],
    [dz, d_normal]: [&mut [R]; 2],
    d_row: &mut [R],
) {
    d_normal[..2].copy_from_slice(&[d_mean, d_variance * v]);
    let mut d_units = vec![R::ZERO; units.len()];
    linears[1].backward_from(0, [(&*d_normal, &mut d_units[..])]);
    feedforward::backward(units, &d_units, dz);
    let mut d = vec![R::ZERO; d_row.len()];
    linears[0].backward_from(0, [(&*dz, &mut d[..])]);
    add(d_row, &d);
}

/// −ln N(s | μ, v), with its gradients w.r.t. s, μ and v.
fn normal<R: Real>(s: R, [mean, v]: [R; 2]) -> (f64, [R; 3]) {
    let (half, off) = (R::from_f64(0.5), s - mean);
    let d = off / v;
    let cost = 0.5 * ((2.0 * std::f64::consts::PI * v.to_f64()).ln() + (off * d).to_f64());
    (cost, [d, -d, half * (R::ONE - off * d) / v])
}

/// s, the sums of the weights of an answer.
pub(super) fn sums<R: Real>(head: &HeadTrace<R>) -> Vec<R> {
    let mut sums = Vec::new();
    add_weights(head, 0..head.weighting.steps(), &mut sums);
    sums
}

/// Adds the weights of these steps to s, which is empty before the first one.
fn add_weights<R: Real>(head: &HeadTrace<R>, steps: Range<usize>, sums: &mut Vec<R>) {
    // No step of the answer sees the other rows.
    let sees = head.mechanism.sees;
    let rows = sees.count(head.first_step, head.weighting.width());
    sums.resize(rows, R::ZERO);
    let steps = steps.start.max(head.first_step)..steps.end;
    steps.for_each(|t| add(&mut sums[..], head.weighting.row(t)));
}

/// Adds the weights of these steps to the sums of a machine with a fertility penalty; empty before the first one.
pub fn add_expected<R: Real>(trace: &Trace<R>, steps: Range<usize>, sums: &mut Vec<R>) {
    if let (Some(_), Some(head)) = (expected(trace), trace.heads.first()) {
        add_weights(head, steps, sums);
    }
}

/// The doubly stochastic penalty of an episode; `None` without a head that attends to a source.
pub fn doubly_stochastic<R: Real>(trace: &Trace<R>) -> Option<f64> {
    let head = trace.heads.first().filter(|head| head.first_step > 0)?;
    let costs = sums(head).into_iter().map(|s| (1.0 - s.to_f64()).powi(2));
    Some(costs.sum())
}

/// μ and v of a row.
fn expected<R: Real>(trace: &Trace<R>) -> Option<[&Series<R>; 2]> {
    let [mean, v] = [MEAN, VARIANCE].map(|array| trace.series(Place::Machine, array));
    Some([mean?, v?])
}

/// The fertility penalty of an episode with these sums of weights ([`add_expected`]), nats; `None` for a machine without
/// one.
pub fn global<R: Real>(trace: &Trace<R>, sums: &[R]) -> Option<f64> {
    let [mean, v] = expected(trace)?;
    let all = sums.iter().enumerate();
    Some(all.map(|(i, &s)| normal(s, [mean[i], v[i]]).0).sum())
}

/// The gradients of both penalties w.r.t. the weights of each row, in any step.
pub(super) fn by_weights<R: Real>(trace: &Trace<R>, terms: &Terms<R>) -> Vec<R> {
    if terms.coverage == R::ZERO && terms.fertility == R::ZERO {
        return Vec::new();
    }
    let (expected, two) = (expected(trace), R::from_f64(2.0));
    let by_sum = |(i, s): (usize, R)| {
        let coverage = two * terms.coverage * (s - R::ONE);
        let fertility = expected.map_or(R::ZERO, |[mean, v]| normal(s, [mean[i], v[i]]).1[0]);
        coverage + terms.fertility * fertility
    };
    sums(&trace.heads[0])
        .into_iter()
        .enumerate()
        .map(by_sum)
        .collect()
}

/// The gradients of the fertility penalty w.r.t. μ and v of every row.
pub(super) fn by_expected<R: Real>(trace: &Trace<R>, weight: R) -> Vec<[R; 2]> {
    let (Some([mean, v]), Some(head)) = (expected(trace), trace.heads.first()) else {
        return Vec::new();
    };
    let all = sums(head).into_iter().enumerate();
    let by_both = |(i, s)| {
        let (_, [_, d_mean, d_variance]) = normal(s, [mean[i], v[i]]);
        [weight * d_mean, weight * d_variance]
    };
    all.map(by_both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::golden::Case;

    #[test]
    fn golden_values() {
        let case = Case::load("fertility_global");
        let (k, h, rows) = (case.size("d_k"), case.size("d_h"), case.size("I"));
        let mut linears = [Linear::<f64>::zeros(k, h), Linear::zeros(h, 2)];
        let set = |to: ndarray::ArrayViewMut2<'_, f64>, from: Vec<f64>| {
            to.into_iter().zip(from).for_each(|(to, from)| *to = from);
        };
        let of = |name: &str| case.numbers("parameters", name);
        set(
            linears[0].weight.view_mut(),
            case.transposed("parameters", "fertility.W"),
        );
        set(linears[0].bias.view_mut(), of("fertility.b"));
        let pairs = of("mu.w").into_iter().zip(of("var.w"));
        set(
            linears[1].weight.view_mut(),
            pairs.flat_map(|(mean, v)| [mean, v]).collect(),
        );
        set(
            linears[1].bias.view_mut(),
            [of("mu.b"), of("var.b")].concat(),
        );
        let (states, a) = (case.numbers("inputs", "H"), case.numbers("inputs", "A"));
        let s: Vec<f64> = (0..rows)
            .map(|i| a.iter().skip(i).step_by(rows).sum())
            .collect();
        case.assert_close("outputs", "fertility", &s);
        let (mut penalty, mut by_rows, mut by_s) = (0.0, Vec::new(), Vec::new());
        let mut series = [
            k,
            h,
            crate::math::matrix::padded(h),
            crate::math::matrix::padded(2),
        ];
        let [mut x, mut g, mut dz, mut d_normal] = series.each_mut().map(|width| {
            let mut series = Series::new(*width);
            series.resize(rows);
            series
        });
        let mut found = [Vec::new(), Vec::new()];
        for i in 0..rows {
            x.row_mut(i).copy_from_slice(&states[i * k..][..k]);
            let [mean, v] = forward(&linears, x.row(i), g.row_mut(i));
            let (cost, [d, d_mean, d_variance]) = normal(s[i], [mean, v]);
            penalty += cost;
            by_s.push(d);
            let products = [dz.row_mut(i), d_normal.row_mut(i)];
            let mut d_row = vec![0.0; k];
            backward(
                &linears,
                (g.row(i), v),
                [d_mean, d_variance],
                products,
                &mut d_row,
            );
            by_rows.extend(d_row);
            found[0].push(mean);
            found[1].push(v);
        }
        case.assert_close("outputs", "mu", &found[0]);
        case.assert_close("outputs", "var", &found[1]);
        case.assert_close("outputs", "penalty", &[penalty]);
        case.assert_close("gradients", "H", &by_rows);
        let every: Vec<f64> = (0..case.size("J")).flat_map(|_| by_s.clone()).collect();
        case.assert_close("gradients", "A", &every);
        linears[0].set_gradient([(&x, &dz)].into_iter());
        linears[1].set_gradient([(&g, &d_normal)].into_iter());
        let all = |view: ndarray::ArrayView2<'_, f64>| view.t().iter().copied().collect::<Vec<_>>();
        case.assert_close("gradients", "fertility.W", &all(linears[0].weight.view()));
        case.assert_close("gradients", "fertility.b", &all(linears[0].bias.view()));
        let weights = all(linears[1].weight.view());
        case.assert_close("gradients", "mu.w", &weights[..h]);
        case.assert_close("gradients", "var.w", &weights[h..]);
        let bias = all(linears[1].bias.view());
        case.assert_close("gradients", "mu.b", &bias[..1]);
        case.assert_close("gradients", "var.b", &bias[1..]);
    }
}
