//! Addressing: from the parameters of a head to its weighting (paper §3.3, Figure 2). The stages are content,
//! interpolation, shift and sharpening, in the order of the equations; each derivative is below its equation.
//!
//! Everything here has one value per memory row. A weighting is a distribution over rows; indices are
//! modulo N.

use super::array;
use super::content::{content, content_backward, strength};
use super::head::HeadGradient;
use super::machine::Terms;
use super::spec::Array;
use super::stage::{Stage, for_each_stage};
use super::trace::{HeadTrace, NoiseMode};
use crate::math::kernel::kernel;
use crate::math::pack::{MOST_LANES, each_pack, map_packs};
use crate::math::simd::Simd;
use crate::math::softmax::{dot, softmax_in_place};
use crate::math::vectors::{add, add_multiple};
use crate::math::{Pack, Real, Series};

impl Stage {
    /// The array that it makes; `None` where the head has no such stage.
    pub fn makes<R: Real>(self, head: &HeadTrace<R>) -> Option<Array> {
        let when = |series: &Series<R>, array| (series.width() > 0).then_some(array);
        match self {
            Self::Content => Some(array::CONTENT),
            Self::Interpolation => when(&head.gated, array::GATED),
            Self::Shift => when(&head.shifted, array::SHIFTED),
            Self::Sharpening => {
                when(&head.distribution, array::DISTRIBUTION).or(Some(array::WEIGHTING))
            }
            Self::Centre | Self::Divergence | Self::Draw => head
                .mechanism
                .weighting
                .stages()
                .stage(self)
                .map(|(array, _)| array),
        }
    }

    /// The arrays of the head that it may make it of, in the same step; of those that the head has.
    pub fn needs<R: Real>(self, head: &HeadTrace<R>) -> Vec<Array> {
        let before = |stage: Self| {
            let earlier = Self::all().into_iter().take_while(|&other| other != stage);
            let makers = earlier.filter(|stage| !matches!(stage, Self::Divergence | Self::Centre));
            makers.filter_map(|stage| stage.makes(head)).last()
        };
        let with_before = |parameter| [parameter].into_iter().chain(before(self)).collect();
        let weighting = head.mechanism.weighting.stages();
        match self {
            Self::Content => [
                &[array::STRENGTH, array::SIMILARITY],
                weighting.content_needs(),
            ]
            .concat(),
            Self::Interpolation => with_before(array::GATE),
            Self::Shift => with_before(array::SHIFT),
            Self::Sharpening => with_before(array::SHARPENING),
            Self::Centre | Self::Divergence | Self::Draw => weighting
                .stage(self)
                .map_or_else(Vec::new, |(_, needs)| needs.to_vec()),
        }
    }

    /// Computes step `t` of the stage's output.
    #[inline(always)]
    pub fn forward<R: Real, S: Simd>(
        self,
        simd: S,
        head: &mut HeadTrace<R>,
        t: usize,
        sampling: NoiseMode,
    ) {
        let has_own = !head.of_weighting.is_empty();
        let own = |head: &HeadTrace<R>| head.mechanism.weighting.function::<R>();
        match self {
            Self::Centre if has_own => own(head).centre(head, t),
            Self::Divergence if has_own => own(head).divergence(head, t),
            Self::Draw if has_own => own(head).draw(head, t, sampling),
            Self::Centre | Self::Divergence | Self::Draw => {}
            Self::Content if has_own && is_own_content(head) => {
                own(head).content(head, t, sampling);
            }
            Self::Content => {
                let beta = strength(head, t);
                content(simd, beta, head.similarity.row(t), head.content.row_mut(t));
            }
            Self::Interpolation => {
                if head.gated.width() > 0 {
                    let (w_c, to) = (head.content.row(t), head.gated.row_mut(t));
                    let w_previous = if t == 0 {
                        head.initial.row(0)
                    } else {
                        head.weighting.row(t - 1)
                    };
                    interpolate(simd, head.gate[t], w_c, w_previous, to);
                }
            }
            Self::Shift => {
                if head.shifted.width() > 0 {
                    let w_g = unshifted(&head.gated, &head.content).row(t);
                    shift(simd, head.shift.row(t), w_g, head.shifted.row_mut(t));
                }
            }
            Self::Sharpening => {
                start_sharpening(simd, head, t);
                end_sharpening(simd, head, t);
            }
        }
    }

    /// [`Stage::forward`] of several heads: the sharpening in two passes, for the heads do not wait for each other while
    /// each stage waits for the one before.
    #[inline(always)]
    fn forward_all<R: Real, S: Simd>(
        self,
        simd: S,
        heads: &mut [HeadTrace<R>],
        t: usize,
        sampling: NoiseMode,
    ) {
        if self == Self::Sharpening {
            for head in &mut *heads {
                start_sharpening(simd, head, t);
            }
            for head in heads {
                end_sharpening(simd, head, t);
            }
        } else {
            for head in heads {
                self.forward(simd, head, t, sampling);
            }
        }
    }

    /// Turns [`HeadGradient::weighting`] from the gradient w.r.t. the stage's output of step `t` into that w.r.t. its
    /// input, and sets the gradient w.r.t. the parameter of the stage.
    #[inline(always)]
    pub fn backward<R: Real, S: Simd>(
        self,
        simd: S,
        head: &HeadTrace<R>,
        t: usize,
        sampling: NoiseMode,
        terms: &Terms<R>,
        d: &mut HeadGradient<R>,
    ) {
        let has_own = !head.of_weighting.is_empty();
        let own = head.mechanism.weighting.function::<R>();
        match self {
            Self::Content if has_own && is_own_content(head) => {
                own.content_backward(head, t, terms, d);
            }
            Self::Content => {
                let (similarity, w_c) = (head.similarity.row(t), head.content.row(t));
                let beta = strength(head, t);
                d.strength = content_backward(simd, beta, similarity, w_c, &mut d.weighting);
            }
            Self::Draw if has_own => own.draw_backward(head, t, sampling, terms, &mut d.weighting),
            Self::Centre | Self::Divergence | Self::Draw => {}
            Self::Interpolation => {
                if head.gated.width() == 0 {
                    return d.previous.fill(R::ZERO);
                }
                let (w_c, w_previous) = (head.content.row(t), head.previous_weighting(t));
                let (d_w_g, d_w_c) = (&mut d.weighting, &mut d.previous);
                d.gate = interpolate_backward(simd, head.gate[t], w_c, w_previous, d_w_g, d_w_c);
                std::mem::swap(&mut d.weighting, &mut d.previous);
            }
            Self::Shift => {
                if head.shifted.width() == 0 {
                    return;
                }
                let (s, w_g) = (
                    head.shift.row(t),
                    unshifted(&head.gated, &head.content).row(t),
                );
                let (d_w_s, d_w_g) = (&d.weighting, &mut d.previous);
                shift_backward(simd, s, w_g, d_w_s, d_w_g, &mut d.shift);
                std::mem::swap(&mut d.weighting, &mut d.previous);
            }
            Self::Sharpening => {
                if head.sharpening.width() == 0 {
                    return;
                }
                let w_s = unsharpened(&head.content, &head.gated, &head.shifted).row(t);
                let w = sharpened(head).row(t);
                d.sharpening = sharpen_backward(simd, head.sharpening[t], w_s, w, &mut d.weighting);
            }
        }
    }
}

/// True of a head whose content stage is not that of the paper.
fn is_own_content<R: Real>(head: &HeadTrace<R>) -> bool {
    let stages = head.mechanism.weighting.stages();
    !stages.content_needs().is_empty()
}

/// Returns the input of the shift.
#[inline(always)]
fn unshifted<'a, R: Real>(gated: &'a Series<R>, content: &'a Series<R>) -> &'a Series<R> {
    if gated.width() > 0 { gated } else { content }
}

/// Returns the input of the sharpening.
#[inline(always)]
fn unsharpened<'a, R: Real>(
    content: &'a Series<R>,
    gated: &'a Series<R>,
    shifted: &'a Series<R>,
) -> &'a Series<R> {
    if shifted.width() > 0 {
        shifted
    } else {
        unshifted(gated, content)
    }
}

/// Returns the result of the sharpening.
#[inline(always)]
fn sharpened<R: Real>(head: &HeadTrace<R>) -> &Series<R> {
    if head.distribution.width() > 0 {
        &head.distribution
    } else {
        &head.weighting
    }
}

/// Prepares the logarithms for sharpening; without sharpening it leaves the weighting unchanged.
#[inline(always)]
fn start_sharpening<R: Real, S: Simd>(simd: S, head: &mut HeadTrace<R>, t: usize) {
    let HeadTrace {
        content,
        gated,
        shifted,
        sharpening,
        distribution,
        weighting,
        ..
    } = head;
    let from = unsharpened(content, gated, shifted);
    let to = if distribution.width() > 0 {
        distribution
    } else {
        weighting
    };
    if sharpening.width() > 0 {
        logarithms(simd, from.row(t), to.row_mut(t));
    } else {
        to.row_mut(t).copy_from_slice(from.row(t));
    }
}

#[inline(always)]
fn end_sharpening<R: Real, S: Simd>(simd: S, head: &mut HeadTrace<R>, t: usize) {
    if head.sharpening.width() > 0 {
        let gamma = head.sharpening[t];
        let to = if head.distribution.width() > 0 {
            &mut head.distribution
        } else {
            &mut head.weighting
        };
        sharpen(simd, gamma, to.row_mut(t));
    }
}

kernel! {
    /// All stages of all heads at one step, from their scores to their weightings, stage by stage. Or one stage `alone`.
    pub(super) fn address<'a, R>(
        simd; heads: &'a mut [HeadTrace<R>], t: usize, sampling: NoiseMode, alone: Option<Stage>,
    ) {
        for_each_stage!(forwards |stage| {
            if alone.is_none_or(|alone| alone == stage) {
                stage.forward_all(simd, heads, t, sampling);
            }
        });
    }
}

kernel! {
    /// Backpropagates one step of all heads from the gradients w.r.t. their weightings to those w.r.t. their scores.
    ///
    /// The gradients come from the reads and writes and from the next step. Or backpropagates through one stage
    /// `alone`, once the gradients of the next step are added.
    pub(super) fn address_backward<'a, R>(
        simd; heads: &'a [HeadTrace<R>], t: usize, sampling: NoiseMode, terms: &'a Terms<R>,
        gradients: &'a mut [HeadGradient<R>], alone: Option<Stage>,
    ) {
        if alone.is_none() {
            for d in &mut *gradients {
                add(&mut d.weighting[..], &d.previous[..]);
            }
        }
        for_each_stage!(backwards |stage| {
            if alone.is_none_or(|alone| alone == stage) {
                for (head, d) in heads.iter().zip(&mut *gradients) {
                    stage.backward(simd, head, t, sampling, terms, d);
                }
            }
        });
    }
}

/// Equation 7: w^g = g·w^c + (1 − g)·w_{t−1}.
#[inline(always)]
pub fn interpolate<R: Real, S: Simd>(simd: S, g: R, w_c: &[R], w_previous: &[R], w_g: &mut [R]) {
    map_packs!(simd, w_g = [w_c, w_previous] => w_c.mul_add(g, w_previous * (R::ONE - g)));
}

/// Turns the gradient w.r.t. w^g into that w.r.t. w_{t−1}, in place; sets the gradient w.r.t. w^c; returns the
/// gradient w.r.t. g.
#[inline(always)]
pub fn interpolate_backward<R: Real, S: Simd>(
    simd: S,
    g: R,
    w_c: &[R],
    w_previous: &[R],
    gradient: &mut [R],
    content_gradient: &mut [R],
) -> R {
    let mut d_g = Pack::splat(simd, R::ZERO);
    each_pack!(simd, at in w_c => {
        let d_w_g = at.load(gradient);
        d_g += at.new_or(d_w_g * (at.load(w_c) - at.load(w_previous)), R::ZERO);
        at.store(content_gradient, d_w_g * g);
        at.store(gradient, d_w_g * (R::ONE - g));
    });
    d_g.sum()
}

/// Equation 8: w̃(i) = Σ_j s(j)·w^g(i − j) over the offsets j = −k ..= k; `s[j + k]` is s(j).
#[inline(always)]
pub fn shift<R: Real, S: Simd>(simd: S, s: &[R], w_g: &[R], w_s: &mut [R]) {
    match *s {
        [s0, s1, s2] if on_packs(simd, w_g) => shift_packs(simd, [s0, s1, s2], w_g, w_s),
        [s0, s1, s2, s3, s4] if on_packs(simd, w_g) => {
            shift_packs(simd, [s0, s1, s2, s3, s4], w_g, w_s);
        }
        _ => shift_slices(s, w_g, w_s),
    }
}

/// [`shift`] by few rows: one pass, the offsets summed in registers.
#[inline(always)]
fn shift_packs<R: Real, S: Simd, const O: usize>(simd: S, s: [R; O], w_g: &[R], w_s: &mut [R]) {
    let (lanes, mut edge) = (Pack::<R, S>::LANES, [R::ZERO; 2 * MOST_LANES]);
    let (mut packs, mut start) = (w_s.chunks_exact_mut(lanes), 0);
    for w_s in &mut packs {
        let rows = rows_around(simd, w_g, start, O / 2, &mut edge);
        let mut sum = Pack::splat(simd, R::ZERO);
        for (index, weight) in s.into_iter().enumerate() {
            sum = Pack::load(simd, &rows[O - 1 - index..]).mul_add(weight, sum);
        }
        sum.store(w_s);
        start += lanes;
    }
    for (i, w_s) in (start..).zip(packs.into_remainder()) {
        *w_s = R::ZERO;
        for (index, &weight) in s.iter().enumerate() {
            *w_s += weight * w_g[wrapped(i + O / 2, index, w_g.len())];
        }
    }
}

/// [`shift`] by any number of rows: one slice after the other.
#[inline(always)]
fn shift_slices<R: Real>(s: &[R], w_g: &[R], w_s: &mut [R]) {
    w_s.fill(R::ZERO);
    let n = w_g.len();
    for (index, &weight) in s.iter().enumerate() {
        let by = rows_moved(index, s.len(), n);
        let (wrapped, moved) = w_s.split_at_mut(by);
        let (stay, wrap) = w_g.split_at(n - by);
        add_multiple(moved, weight, stay);
        add_multiple(wrapped, weight, wrap);
    }
}

/// Sets the gradients w.r.t. w^g and w.r.t. s from the gradient w.r.t. w̃.
#[inline(always)]
pub fn shift_backward<R: Real, S: Simd>(
    simd: S,
    s: &[R],
    w_g: &[R],
    gradient: &[R],
    w_g_gradient: &mut [R],
    s_gradient: &mut [R],
) {
    match *s {
        [s0, s1, s2] if on_packs(simd, w_g) => {
            let d_s = shift_packs_backward(simd, [s0, s1, s2], w_g, gradient, w_g_gradient);
            s_gradient.copy_from_slice(&d_s);
        }
        [s0, s1, s2, s3, s4] if on_packs(simd, w_g) => {
            let s = [s0, s1, s2, s3, s4];
            let d_s = shift_packs_backward(simd, s, w_g, gradient, w_g_gradient);
            s_gradient.copy_from_slice(&d_s);
        }
        _ => shift_slices_backward(simd, s, w_g, gradient, w_g_gradient, s_gradient),
    }
}

/// dw^g(i) = Σ_j s(j)·dw̃(i + j) and ds(j) = Σ_i dw̃(i + j)·w^g(i): the same numbers serve both.
#[inline(always)]
fn shift_packs_backward<R: Real, S: Simd, const O: usize>(
    simd: S,
    s: [R; O],
    w_g: &[R],
    gradient: &[R],
    w_g_gradient: &mut [R],
) -> [R; O] {
    let (lanes, n) = (Pack::<R, S>::LANES, w_g.len());
    let mut edge = [R::ZERO; 2 * MOST_LANES];
    let mut s_sums = [Pack::splat(simd, R::ZERO); O];
    let (mut packs, mut start) = (w_g_gradient.chunks_exact_mut(lanes), 0);
    for d_w_g in &mut packs {
        let d_w_s = rows_around(simd, gradient, start, O / 2, &mut edge);
        let (w_g, mut sum) = (Pack::load(simd, &w_g[start..]), Pack::splat(simd, R::ZERO));
        for (index, weight) in s.into_iter().enumerate() {
            let d_w_s = Pack::load(simd, &d_w_s[index..]);
            sum = d_w_s.mul_add(weight, sum);
            s_sums[index] = d_w_s.mul_add(w_g, s_sums[index]);
        }
        sum.store(d_w_g);
        start += lanes;
    }
    let mut s_gradient = s_sums.map(Pack::sum);
    for (i, d_w_g) in (start..).zip(packs.into_remainder()) {
        *d_w_g = R::ZERO;
        for index in 0..O {
            let d_w_s = gradient[wrapped(i + index, O / 2, n)];
            *d_w_g += s[index] * d_w_s;
            s_gradient[index] += d_w_s * w_g[i];
        }
    }
    s_gradient
}

/// Returns true if there are enough rows to fill a pack.
#[inline(always)]
fn on_packs<R: Real, S: Simd>(_simd: S, rows: &[R]) -> bool {
    rows.len() >= Pack::<R, S>::LANES
}

/// The rows from `start − range` to `range` rows behind a pack from `start` on: where they stand, or in
/// `edge` where some of them are at the other end.
#[inline(always)]
fn rows_around<'a, R: Real, S: Simd>(
    simd: S,
    rows: &'a [R],
    start: usize,
    range: usize,
    edge: &'a mut [R; 2 * MOST_LANES],
) -> &'a [R] {
    let (n, lanes) = (rows.len(), Pack::<R, S>::LANES);
    if start >= range && start + lanes + range <= n {
        return &rows[start - range..start + lanes + range];
    }
    Pack::load(simd, &rows[start..]).store(&mut edge[range..]);
    for i in 0..range {
        edge[i] = rows[wrapped(start + i, range, n)];
        edge[range + lanes + i] = rows[wrapped(start + lanes + i, 0, n)];
    }
    &edge[..lanes + 2 * range]
}

/// (row − back) mod n, where it is no further outside than n.
#[inline(always)]
fn wrapped(row: usize, back: usize, n: usize) -> usize {
    if row < back {
        row + n - back
    } else if row - back >= n {
        row - back - n
    } else {
        row - back
    }
}

#[inline(always)]
fn shift_slices_backward<R: Real, S: Simd>(
    simd: S,
    s: &[R],
    w_g: &[R],
    gradient: &[R],
    w_g_gradient: &mut [R],
    s_gradient: &mut [R],
) {
    w_g_gradient.fill(R::ZERO);
    let n = w_g.len();
    for (index, (&weight, s_gradient)) in s.iter().zip(s_gradient).enumerate() {
        let by = rows_moved(index, s.len(), n);
        let (wrapped, moved) = gradient.split_at(by);
        let (stay, wrap) = w_g.split_at(n - by);
        *s_gradient = dot(simd, moved, stay) + dot(simd, wrapped, wrap);
        let (stay, wrap) = w_g_gradient.split_at_mut(n - by);
        add_multiple(stay, weight, moved);
        add_multiple(wrap, weight, wrapped);
    }
}

/// The number of rows, 0 .. N, by which the offset at `index` moves the focus forward.
#[inline(always)]
fn rows_moved(index: usize, offsets: usize, n: usize) -> usize {
    let range = offsets / 2;
    if index >= range {
        (index - range) % n
    } else {
        n - (range - index) % n
    }
}

/// Equation 9: w(i) = w̃(i)^γ / Σ_j w̃(j)^γ, the softmax of γ·ln w̃(i), of which this is the logarithm.
///
/// A row below the smallest normal number counts as that number, so neither logarithm nor gradient is
/// infinite.
#[inline(always)]
pub fn logarithms<R: Real, S: Simd>(simd: S, w_s: &[R], log: &mut [R]) {
    map_packs!(simd, log = [w_s] => w_s.max(R::TINY).ln());
}

/// Equation 9, from the [`logarithms`] that `w` holds.
#[inline(always)]
pub fn sharpen<R: Real, S: Simd>(simd: S, gamma: R, w: &mut [R]) {
    softmax_in_place(simd, gamma, w);
}

/// Turns the gradient w.r.t. w into that w.r.t. w̃, in place; returns the gradient w.r.t. γ.
///
/// dw̃(i) = γ·(w(i)/w̃(i))·(dw(i) − Σ_j w(j)·dw(j)), where w/w̃ = w̃^(γ−1)/Σ stays finite at w̃ = 0;
/// dγ = Σ_i w(i)·(dw(i) − Σ_j w(j)·dw(j))·ln w̃(i).
#[inline(always)]
pub fn sharpen_backward<R: Real, S: Simd>(
    simd: S,
    gamma: R,
    w_s: &[R],
    w: &[R],
    gradient: &mut [R],
) -> R {
    let mean = dot(simd, w, gradient);
    let mut d_gamma = Pack::splat(simd, R::ZERO);
    each_pack!(simd, at in w => {
        let centred = at.load(w) * (at.load(gradient) - mean);
        let w_s = at.load(w_s).max(R::TINY);
        d_gamma += at.new_or(centred * w_s.ln(), R::ZERO);
        at.store(gradient, centred * gamma / w_s);
    });
    d_gamma.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::math::simd::{Kernel, PLAIN as SIMD, on_every_instruction_set};
    use crate::math::softmax::softmax;

    /// A random distribution over `n` rows.
    fn distribution(seed: u64, n: usize) -> Vec<f64> {
        let mut p = vec![0.0; n];
        softmax(SIMD, 2.0, &random_vector(seed, n), &mut p);
        p
    }

    #[test]
    fn shift_moves_the_focus_and_wraps() {
        let mut w_s = [0.0; 5];
        shift(SIMD, &[0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0], &mut w_s);
        assert_eq!(w_s, [0.0, 0.0, 0.0, 0.0, 1.0], "+1 moves row 3 to row 4");
        shift(SIMD, &[0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 0.0, 1.0], &mut w_s);
        assert_eq!(
            w_s,
            [1.0, 0.0, 0.0, 0.0, 0.0],
            "the last row moves to row 0"
        );
        shift(SIMD, &[1.0, 0.0, 0.0], &[1.0, 0.0, 0.0, 0.0, 0.0], &mut w_s);
        assert_eq!(
            w_s,
            [0.0, 0.0, 0.0, 0.0, 1.0],
            "row 0 moves back to the last row"
        );
        shift(
            SIMD,
            &[1.0, 0.0, 0.0, 0.0, 0.0],
            &[1.0, 0.0, 0.0, 0.0, 0.0],
            &mut w_s,
        );
        assert_eq!(w_s, [0.0, 0.0, 0.0, 1.0, 0.0], "−2");
    }

    #[test]
    fn sharpening_by_one_changes_nothing_and_zeros_stay_harmless() {
        let w_s = [0.5, 0.25, 0.25, 0.0];
        let (mut w, mut gradient) = ([0.0; 4], [0.3, -0.7, 0.1, 0.9]);
        let sharpen = |gamma, w_s: &[f64], w: &mut [f64]| {
            logarithms(SIMD, w_s, w);
            sharpen(SIMD, gamma, w);
        };
        sharpen(1.0, &w_s, &mut w);
        assert!(
            w.iter()
                .zip(&w_s)
                .all(|(w, w_s): (&f64, _)| (w - w_s).abs() < 1e-12)
        );
        sharpen(50.0, &w_s, &mut w);
        assert!(w[0] > 1.0 - 1e-12);
        let d_gamma = sharpen_backward(SIMD, 50.0, &w_s, &w, &mut gradient);
        assert!(d_gamma.is_finite() && gradient.iter().all(|g| g.is_finite()));
        sharpen(3.0, &[0.0; 4], &mut w);
        assert!(
            w.iter().all(|&w| (w - 0.25).abs() < 1e-12),
            "all zero becomes uniform, not NaN"
        );
    }

    #[test]
    fn gradients() {
        for (n, range) in [(1, 0), (5, 1), (6, 2), (67, 3)] {
            let upstream = random_vector(9, n);
            let loss = |w: &[f64]| dot(SIMD, w, &upstream);
            let mut out = vec![0.0; n];
            let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);

            let (beta, k) = (1.3, random_vector(1, n));
            let content_loss = |beta: f64, k: &[f64]| {
                let mut out = vec![0.0; n];
                content(SIMD, beta, k, &mut out);
                loss(&out)
            };
            content(SIMD, beta, &k, &mut out);
            a.copy_from_slice(&upstream);
            let d_beta = content_backward(SIMD, beta, &k, &out, &mut a);
            assert_gradient("beta", &[beta], &[d_beta], |x| content_loss(x[0], &k));
            assert_gradient("K", &k, &a, |k| content_loss(beta, k));

            let (g, w_c, w_previous) = (0.3, distribution(2, n), distribution(3, n));
            let gate_loss = |g: f64, w_c: &[f64], w_previous: &[f64]| {
                let mut out = vec![0.0; n];
                interpolate(SIMD, g, w_c, w_previous, &mut out);
                loss(&out)
            };
            a.copy_from_slice(&upstream);
            let d_g = interpolate_backward(SIMD, g, &w_c, &w_previous, &mut a, &mut b);
            assert_gradient("g", &[g], &[d_g], |x| gate_loss(x[0], &w_c, &w_previous));
            assert_gradient("w_c", &w_c, &b, |w_c| gate_loss(g, w_c, &w_previous));
            assert_gradient("w previous", &w_previous, &a, |w| gate_loss(g, &w_c, w));

            let (s, w_g) = (distribution(4, 2 * range + 1), distribution(5, n));
            let shift_loss = |s: &[f64], w_g: &[f64]| {
                let mut out = vec![0.0; n];
                shift(SIMD, s, w_g, &mut out);
                loss(&out)
            };
            let mut d_s = vec![0.0; s.len()];
            shift_backward(SIMD, &s, &w_g, &upstream, &mut a, &mut d_s);
            assert_gradient("s", &s, &d_s, |s| shift_loss(s, &w_g));
            assert_gradient("w_g", &w_g, &a, |w_g| shift_loss(&s, w_g));

            let (gamma, w_s) = (2.6, distribution(6, n));
            let sharpen_loss = |gamma: f64, w_s: &[f64]| {
                let mut out = vec![0.0; n];
                logarithms(SIMD, w_s, &mut out);
                sharpen(SIMD, gamma, &mut out);
                loss(&out)
            };
            logarithms(SIMD, &w_s, &mut out);
            sharpen(SIMD, gamma, &mut out);
            a.copy_from_slice(&upstream);
            let d_gamma = sharpen_backward(SIMD, gamma, &w_s, &out, &mut a);
            assert_gradient("gamma", &[gamma], &[d_gamma], |x| sharpen_loss(x[0], &w_s));
            assert_gradient("w_s", &w_s, &a, |w_s| sharpen_loss(gamma, w_s));
        }
    }

    /// Equation 8 as it is written.
    fn shift_as_written(s: &[f64], w_g: &[f64]) -> Vec<f64> {
        let (n, k) = (w_g.len(), s.len() / 2);
        let moved = |i: usize, index: usize| w_g[(i + k + s.len() * n - index) % n];
        let sum = |i| (0..s.len()).map(|index| s[index] * moved(i, index)).sum();
        (0..n).map(sum).collect()
    }

    /// All stages and their derivatives; one row of results after the other.
    #[derive(Clone, Copy)]
    struct Stages<'a, R> {
        s: &'a [R],
        similarity: &'a [R],
        w_previous: &'a [R],
        upstream: &'a [R],
    }

    impl<R: Real> Kernel for Stages<'_, R> {
        type Output = Vec<Vec<R>>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let [beta, g, gamma] = [1.7, 0.3, 2.6].map(R::from_f64);
            let zeros = || vec![R::ZERO; self.similarity.len()];
            let (mut w_c, mut w_g, mut w_s, mut w) = (zeros(), zeros(), zeros(), zeros());
            content(simd, beta, self.similarity, &mut w_c);
            interpolate(simd, g, &w_c, self.w_previous, &mut w_g);
            shift(simd, self.s, &w_g, &mut w_s);
            logarithms(simd, &w_s, &mut w);
            sharpen(simd, gamma, &mut w);
            let (mut d_w, mut d_w_g, mut d_s) = (self.upstream.to_vec(), zeros(), self.s.to_vec());
            let d_gamma = sharpen_backward(simd, gamma, &w_s, &w, &mut d_w);
            let d_w_s = d_w.clone();
            shift_backward(simd, self.s, &w_g, &d_w_s, &mut d_w_g, &mut d_s);
            let d_g = interpolate_backward(simd, g, &w_c, self.w_previous, &mut d_w_g, &mut d_w);
            let d_w_c = d_w.clone();
            let d_beta = content_backward(simd, beta, self.similarity, &w_c, &mut d_w);
            let scalars = vec![d_gamma, d_g, d_beta];
            vec![w_c, w_g, w_s, w, d_w_s, d_w_g, d_w_c, d_w, d_s, scalars]
        }
    }

    fn assert_same_everywhere<R: Real>(n: usize, range: usize, tolerance: f64) {
        let real = |values: Vec<f64>| values.into_iter().map(R::from_f64).collect::<Vec<R>>();
        let (s, w_previous) = (distribution(1, 2 * range + 1), distribution(2, n));
        let (s, similarity, w_previous, upstream) = (
            real(s),
            real(random_vector(3, n)),
            real(w_previous),
            real(random_vector(4, n)),
        );
        let stages = Stages {
            s: &s,
            similarity: &similarity,
            w_previous: &w_previous,
            upstream: &upstream,
        };
        let everywhere = on_every_instruction_set(stages);
        for other in &everywhere[1..] {
            assert!(*other == everywhere[0], "{n} rows, range {range}");
        }
        // Where a·b + c is rounded twice.
        for (stage, plain) in stages.with_simd(SIMD).iter().enumerate() {
            for (a, b) in plain.iter().zip(&everywhere[0][stage]) {
                let close = (a.to_f64() - b.to_f64()).abs() <= tolerance * (1.0 + a.to_f64().abs());
                assert!(close, "stage {stage} of {n} rows, range {range}: {a}, {b}");
            }
        }
        let [w_g, w_s] = [1, 2].map(|stage| {
            let values = everywhere[0][stage].iter().map(|x| x.to_f64());
            values.collect::<Vec<f64>>()
        });
        let s: Vec<f64> = s.iter().map(|s| s.to_f64()).collect();
        for (found, wanted) in w_s.iter().zip(shift_as_written(&s, &w_g)) {
            assert!(
                (found - wanted).abs() <= tolerance,
                "{n} rows, range {range}"
            );
        }
    }

    #[test]
    fn every_instruction_set_agrees_at_every_number_of_rows_and_range() {
        for n in 1..=130 {
            for range in [0, 1, 2, 3, 9] {
                assert_same_everywhere::<f64>(n, range, 1e-12);
                assert_same_everywhere::<f32>(n, range, 3e-5);
            }
        }
    }
}
