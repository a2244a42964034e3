//! The equations of the Differentiable Neural Computer in the order of its paper (Graves 2016, Methods), each with its
//! derivative below it. What it shares with the Neural Turing Machine is not here: cosine and content weighting
//! ([`crate::model::score`], [`crate::model::content`]), erase, add and read ([`crate::model::memory`]).
//!
//! Everything has a value per memory row, or two of them. No gradient goes through the order of the rows by usage.

use super::kind::{AT_ALLOCATION_GATE, AT_WRITE_GATE, DncConfig};
use crate::math::kernel::kernel;
use crate::math::matrix::{self, Blocks, Columns, Rows, by_blocks, held, held_pack};
use crate::math::pack::{each_pack, filled, map_packs};
use crate::math::simd::{Kernel, Simd, dispatch};
use crate::math::softmax::{dot, softmax_of_few};
use crate::math::{Pack, Real, sigmoid};
use crate::model::head::{HeadGradient, gate, gate_backward, one_plus, one_plus_backward};
use crate::model::trace::HeadTrace;

/// Gradients w.r.t. the gates of a head: free gate and read modes, or allocation gate and write gate.
pub(super) type Gates<R> = [R; 4];

/// g^a_t, or 0 without allocation, and g^w_t.
pub(super) fn write_gates<R: Real>(writer: &HeadTrace<R>, t: usize) -> [R; 2] {
    [AT_ALLOCATION_GATE, AT_WRITE_GATE].map(|at| {
        let gate = writer.of_score.at(at).row(t).first();
        gate.copied().unwrap_or(R::ZERO)
    })
}

kernel! {
    /// Activates step `t` of head `index` from the row of the pre-activations of all heads: the strength by
    /// 1 + softplus, erase and gates by σ, read modes by softmax; key and add as they are.
    pub(super) fn activate<'a, R>(
        simd; config: &'a DncConfig, raw: &'a [R], index: usize, head: &'a mut HeadTrace<R>, t: usize,
    ) {
        let (columns, [first, second]) = config.columns(index);
        head.key.row_mut(t).copy_from_slice(&raw[columns.key]);
        head.strength.row_mut(t)[0] = one_plus(simd, raw[columns.strength.start]);
        if head.is_write() {
            let (e, raw_e) = (head.erase.row_mut(t), &raw[columns.erase]);
            map_packs!(simd, e = [raw_e] => sigmoid(raw_e));
            head.add.row_mut(t).copy_from_slice(&raw[columns.add]);
            if !first.is_empty() {
                head.of_score.at_mut(AT_ALLOCATION_GATE).row_mut(t)[0] = gate(simd, raw[first.start]);
            }
            head.of_score.at_mut(AT_WRITE_GATE).row_mut(t)[0] = gate(simd, raw[second.start]);
        } else {
            let [free_gate, modes, ..] = head.of_score.all_mut::<4>();
            if !first.is_empty() {
                free_gate.row_mut(t)[0] = gate(simd, raw[first.start]);
            }
            if let [backward, content, forward] = raw[second] {
                let shares = softmax_of_few(simd, [backward, content, forward]);
                modes.row_mut(t).copy_from_slice(&shares);
            }
        }
    }
}

kernel! {
    /// Writes the gradient w.r.t. the pre-activations of head `index` at step `t` into the row of all heads.
    pub(super) fn activate_backward<'a, R>(
        simd; config: &'a DncConfig, index: usize, head: &'a HeadTrace<R>, t: usize,
        gradient: &'a HeadGradient<R>, gates: &'a Gates<R>, raw: &'a [R], d_raw: &'a mut [R],
    ) {
        let (columns, [first, second]) = config.columns(index);
        d_raw[columns.key].copy_from_slice(&gradient.key);
        let d_strength = one_plus_backward(simd, raw[columns.strength.start], gradient.strength);
        d_raw[columns.strength].fill(d_strength);
        let of_gate = |d: R, gate: &[R]| gate.first().map_or(R::ZERO, |&gate| gate_backward(gate, d));
        if head.is_write() {
            let (e, d_erase, to) = (head.erase.row(t), &gradient.erase, &mut d_raw[columns.erase]);
            map_packs!(simd, to = [e, d_erase] => d_erase * e * (-e + R::ONE));
            d_raw[columns.add].copy_from_slice(&gradient.add);
            d_raw[first].fill(of_gate(gates[0], head.of_score.at(AT_ALLOCATION_GATE).row(t)));
            d_raw[second].fill(of_gate(gates[1], head.of_score.at(AT_WRITE_GATE).row(t)));
        } else {
            let [free_gate, modes, ..] = head.of_score.all::<4>();
            d_raw[first].fill(of_gate(gates[0], free_gate.row(t)));
            let (modes, d_modes) = (modes.row(t), &gates[1..]);
            let mean: R = modes.iter().zip(d_modes).map(|(&p, &d)| p * d).sum();
            let to = d_raw[second].iter_mut().zip(modes.iter().zip(d_modes));
            to.for_each(|(to, (&p, &d))| *to = p * (d - mean));
        }
    }
}

/// A read head as the usage sees it: f_t, and w of the step before.
#[derive(Clone, Copy)]
pub(super) struct Freed<'a, R> {
    pub(super) gate: R,
    pub(super) weighting: &'a [R],
}

impl<'a, R: Real> Freed<'a, R> {
    /// The read head in step `t`; 0 without a free gate.
    fn of(head: &'a HeadTrace<R>, t: usize) -> Self {
        let [free_gate, ..] = head.of_score.all::<4>();
        Self {
            gate: free_gate.row(t).first().copied().unwrap_or(R::ZERO),
            weighting: head.previous_weighting(t),
        }
    }
}

kernel! {
    /// u_t = (u_{t−1} + w_{t−1} − u_{t−1} ∘ w_{t−1}) ∘ Π_i (1 − f_t^i·w^{r,i}_{t−1}), w being the write weighting.
    pub(super) fn usage<'a, R>(
        _simd; readers: &'a [HeadTrace<R>], t: usize, before: &'a [R], written: &'a [R], usage: &'a mut [R],
    ) {
        for (usage, (&u, &w)) in usage.iter_mut().zip(before.iter().zip(written)) {
            *usage = u + w - u * w;
        }
        for head in readers {
            let Freed { gate, weighting } = Freed::of(head, t);
            usage.iter_mut().zip(weighting).for_each(|(usage, &w)| *usage *= R::ONE - gate * w);
        }
    }
}

kernel! {
    /// Turns the gradient w.r.t. u_t into that w.r.t. u_{t−1}, in place; sets that w.r.t. w_{t−1}; adds to those w.r.t.
    /// the weightings of the read heads; sets those w.r.t. their free gates. `scratch` has N values.
    pub(super) fn usage_backward<'a, R>(
        _simd; readers: &'a [HeadTrace<R>], t: usize, before: &'a [R], written: &'a [R], d_usage: &'a mut [R],
        d_written: &'a mut [R], d_readers: &'a mut [HeadGradient<R>], d_gates: &'a mut [Gates<R>],
        scratch: &'a mut [R],
    ) {
        for (index, (by, gates)) in d_readers.iter_mut().zip(d_gates).enumerate() {
            for (to, (&d, (&u, &w))) in scratch.iter_mut().zip(d_usage.iter().zip(before.iter().zip(written))) {
                *to = d * (u + w - u * w);
            }
            for (_, head) in readers.iter().enumerate().filter(|(other, _)| *other != index) {
                let Freed { gate, weighting } = Freed::of(head, t);
                scratch.iter_mut().zip(weighting).for_each(|(x, &w)| *x *= R::ONE - gate * w);
            }
            let Freed { gate, weighting } = Freed::of(&readers[index], t);
            let mut d_gate = R::ZERO;
            for ((d, &w), to) in scratch.iter().zip(weighting).zip(&mut by.previous[..]) {
                d_gate += *d * w;
                *to += -gate * *d;
            }
            gates[0] = -d_gate;
        }
        for head in readers {
            let Freed { gate, weighting } = Freed::of(head, t);
            d_usage.iter_mut().zip(weighting).for_each(|(d, &w)| *d *= R::ONE - gate * w);
        }
        for ((d, to), (&u, &w)) in d_usage.iter_mut().zip(d_written).zip(before.iter().zip(written)) {
            *to = *d * (R::ONE - u);
            *d *= R::ONE - w;
        }
    }
}

/// The most rows whose order is found by sorting whole numbers.
const FEW: usize = 1024;

/// Sets φ, [N]: the rows by usage [N], 0 to 1, the least used first; of equal ones the lowest first.
pub fn allocation_order<R: Real>(usage: &[R], order: &mut [R]) {
    let rows = usage.len();
    if size_of::<R>() == size_of::<f32>() && rows <= FEW {
        // The bits of a number from 0 on are in its order, and of an f32 in 64 bits the last 29 are free for the row.
        let mut keys = [0_u64; FEW];
        for (row, (key, usage)) in keys.iter_mut().zip(usage).enumerate() {
            *key = usage.to_f64().to_bits() | row as u64;
        }
        keys[..rows].sort_unstable();
        for (to, key) in order.iter_mut().zip(keys) {
            *to = R::from_f64((key % FEW as u64) as f64);
        }
        return;
    }
    for (row, to) in order.iter_mut().enumerate() {
        *to = R::from_f64(row as f64);
    }
    order.sort_unstable_by(|one, other| {
        let usage = |row: &R| usage[row_of(*row)].to_f64();
        let by_usage = usage(one).total_cmp(&usage(other));
        by_usage.then(one.to_f64().total_cmp(&other.to_f64()))
    });
}

/// A row in a series of numbers.
fn row_of<R: Real>(row: R) -> usize {
    row.to_f64() as usize
}

/// Equation 1: a(φ_j) = (1 − u(φ_j))·Π_{i<j} u(φ_i).
pub(super) fn allocation<R: Real>(usage: &[R], order: &[R], allocation: &mut [R]) {
    let mut product = R::ONE;
    for row in order.iter().map(|&row| row_of(row)) {
        allocation[row] = (R::ONE - usage[row]) * product;
        product *= usage[row];
    }
}

/// Adds to the gradient w.r.t. u from that w.r.t. a. With P_j = Π_{i<j} u(φ_i) and S_j = da_j·(1 − u_j) + u_j·S_{j+1},
/// du_j = P_j·(S_{j+1} − da_j): without a division by a usage, which may be 0. `products` has N values.
pub(super) fn allocation_backward<R: Real>(
    usage: &[R],
    order: &[R],
    d_allocation: &[R],
    d_usage: &mut [R],
    products: &mut [R],
) {
    let mut product = R::ONE;
    for (to, &row) in products.iter_mut().zip(order) {
        *to = product;
        product *= usage[row_of(row)];
    }
    let mut later = R::ZERO;
    for (&product, &row) in products.iter().zip(order).rev() {
        let row = row_of(row);
        let (u, d_a) = (usage[row], d_allocation[row]);
        d_usage[row] += product * (later - d_a);
        later = d_a * (R::ONE - u) + u * later;
    }
}

kernel! {
    /// w_t = g^w·(g^a·a_t + (1 − g^a)·c_t); without allocation g^w·c_t.
    pub(super) fn write_weighting<'a, R>(
        simd; gates: [R; 2], allocation: &'a [R], content: &'a [R], weighting: &'a mut [R],
    ) {
        let [g_a, g_w] = gates;
        if allocation.is_empty() {
            map_packs!(simd, weighting = [content] => content * g_w);
        } else {
            map_packs!(simd, weighting = [allocation, content]
                => allocation.mul_add(g_a, content * (R::ONE - g_a)) * g_w);
        }
    }
}

kernel! {
    /// Turns the gradient w.r.t. w_t into that w.r.t. c_t, in place; sets that w.r.t. a_t; returns those w.r.t. g^a and g^w.
    pub(super) fn write_weighting_backward<'a, R>(
        simd; gates: [R; 2], allocation: &'a [R], content: &'a [R], gradient: &'a mut [R], d_allocation: &'a mut [R],
    ) -> [R; 2] {
        let [g_a, g_w] = gates;
        let (with_content, with_allocation) =
            (dot(simd, gradient, content), dot(simd, &gradient[..allocation.len()], allocation));
        let d_allocation = &mut d_allocation[..allocation.len()];
        map_packs!(simd, d_allocation = [gradient] => gradient * (g_a * g_w));
        let share = if allocation.is_empty() { R::ONE } else { R::ONE - g_a };
        gradient.iter_mut().for_each(|d| *d *= share * g_w);
        [
            g_w * (with_allocation - with_content),
            g_a * with_allocation + share * with_content,
        ]
    }
}

kernel! {
    /// L_t(i, j) = (1 − w(i) − w(j))·L_{t−1}(i, j) + w(i)·p_{t−1}(j), and 0 where i = j: row after row, from `before`, or in
    /// place.
    pub(super) fn link<'a, R>(
        simd; w: &'a [R], precedence: &'a [R], before: Option<&'a [R]>, links: &'a mut [R],
    ) {
        by_blocks::<R, _, 8>(simd, &mut Link { w, precedence, before, links: &mut *links });
        clear_diagonal(links, w.len());
    }
}

/// Sets the diagonal of a matrix with rows of this size to 0.
fn clear_diagonal<R: Real>(matrix: &mut [R], rows: usize) {
    matrix
        .iter_mut()
        .step_by(rows + 1)
        .for_each(|x| *x = R::ZERO);
}

struct Link<'a, R> {
    w: &'a [R],
    precedence: &'a [R],
    before: Option<&'a [R]>,
    links: &'a mut [R],
}

impl<R: Real> Blocks for Link<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.w.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let (w, p) = (at.of(self.w), at.of(self.precedence));
        let held_w: [_; V] = filled(|v| held(simd, at, w, v));
        let held_p: [_; V] = filled(|v| held(simd, at, p, v));
        let rows = self.links.chunks_exact_mut(self.w.len());
        for (i, (links, &w_i)) in rows.zip(self.w).enumerate() {
            let (rest, w_i) = (R::splat(simd, R::ONE - w_i), R::splat(simd, w_i));
            let before = self
                .before
                .map(|before| at.of(&before[i * self.w.len()..][..self.w.len()]));
            let links = at.of_mut(links);
            for v in 0..at.packs() {
                let (w, p) = (held_pack(at, &held_w, w, v), held_pack(at, &held_p, p, v));
                let link = at.load(before.unwrap_or(links), v);
                let kept = R::pack_sub(simd, rest, w);
                let made = R::mul_add(simd, link, kept, R::pack_mul(simd, p, w_i));
                at.store(links, v, made);
            }
        }
    }
}

kernel! {
    /// Turns the gradient w.r.t. L_t into that w.r.t. L_{t−1} = `before`, in place; adds to those w.r.t. w_t and p_{t−1}.
    pub(super) fn link_backward<'a, R>(
        simd; w: &'a [R], precedence: &'a [R], before: &'a [R], d_links: &'a mut [R], d_w: &'a mut [R],
        d_precedence: &'a mut [R],
    ) {
        clear_diagonal(d_links, w.len());
        by_blocks::<R, _, 4>(simd, &mut LinkBackward { w, precedence, before, d_links, d_w, d_precedence });
    }
}

/// With G = dL_t: dL_{t−1}(i, j) = (1 − w(i) − w(j))·G(i, j), dw(i) += Σ_j G(i, j)·(p(j) − L_{t−1}(i, j)),
/// dw(j) −= Σ_i G(i, j)·L_{t−1}(i, j) and dp(j) += Σ_i G(i, j)·w(i).
struct LinkBackward<'a, R> {
    w: &'a [R],
    precedence: &'a [R],
    before: &'a [R],
    d_links: &'a mut [R],
    d_w: &'a mut [R],
    d_precedence: &'a mut [R],
}

impl<R: Real> Blocks for LinkBackward<'_, R> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.w.len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let (n, zero) = (self.w.len(), R::splat(simd, R::ZERO));
        let (w, p) = (at.of(self.w), at.of(self.precedence));
        let held_w: [_; V] = filled(|v| held(simd, at, w, v));
        let held_p: [_; V] = filled(|v| held(simd, at, p, v));
        let (mut minus_d_w, mut d_p) = ([zero; V], [zero; V]);
        let rows = self
            .before
            .chunks_exact(n)
            .zip(self.d_links.chunks_exact_mut(n));
        for (i, (before, d_links)) in rows.enumerate() {
            let w_i = self.w[i];
            let (rest, w_i) = (R::splat(simd, R::ONE - w_i), R::splat(simd, w_i));
            let (before, d_links, mut sum) = (at.of(before), at.of_mut(d_links), zero);
            for v in 0..at.packs() {
                let (w, p) = (held_pack(at, &held_w, w, v), held_pack(at, &held_p, p, v));
                let (d, link) = (at.load(d_links, v), at.load(before, v));
                sum = R::mul_add(simd, d, R::pack_sub(simd, p, link), sum);
                minus_d_w[v] = R::mul_add(simd, d, link, minus_d_w[v]);
                d_p[v] = R::mul_add(simd, d, w_i, d_p[v]);
                at.store(d_links, v, R::pack_mul(simd, d, R::pack_sub(simd, rest, w)));
            }
            self.d_w[i] += R::reduce(simd, sum);
        }
        let (d_w, d_precedence) = (at.of_mut(self.d_w), at.of_mut(self.d_precedence));
        for v in 0..at.packs() {
            at.store(d_w, v, R::pack_sub(simd, at.load(d_w, v), minus_d_w[v]));
            at.store(
                d_precedence,
                v,
                R::pack_add(simd, at.load(d_precedence, v), d_p[v]),
            );
        }
    }
}

kernel! {
    /// p_t = (1 − Σ_i w(i))·p_{t−1} + w.
    pub(super) fn precedence<'a, R>(simd; w: &'a [R], before: &'a [R], precedence: &'a mut [R]) {
        let kept = R::ONE - total(simd, w);
        map_packs!(simd, precedence = [before, w] => before.mul_add(kept, w));
    }
}

kernel! {
    /// Turns the gradient w.r.t. p_t into that w.r.t. p_{t−1}, in place; adds to that w.r.t. w_t.
    pub(super) fn precedence_backward<'a, R>(
        simd; w: &'a [R], before: &'a [R], d_precedence: &'a mut [R], d_w: &'a mut [R],
    ) {
        let (kept, d_kept) = (R::ONE - total(simd, w), dot(simd, before, d_precedence));
        each_pack!(simd, at in w => {
            let d = at.load(d_precedence);
            at.store(d_w, at.load(d_w) + (d - d_kept));
            at.store(d_precedence, d * kept);
        });
    }
}

/// Σ x_i.
#[inline(always)]
fn total<R: Real, S: Simd>(simd: S, x: &[R]) -> R {
    let mut sum = Pack::splat(simd, R::ZERO);
    each_pack!(simd, at in x => { sum += at.new_or(at.load(x), R::ZERO); });
    sum.sum()
}

/// The link matrix, row after row, as the rows of a matrix.
fn rows_of<R>(links: &[R], rows: usize) -> Rows<'_, R> {
    Rows {
        data: links,
        stride: rows,
    }
}

/// What a read head follows: w_{t−1}, and b_t and f_t, to be set.
pub(super) type Followed<'a, R> = (&'a [R], [&'a mut [R]; 2]);

/// b_t = L_tᵀ·w_{t−1} and f_t = L_t·w_{t−1} of several heads.
pub(super) fn follow_links<R: Real, const H: usize>(links: &[R], mut heads: [Followed<'_, R>; H]) {
    let links = rows_of(links, heads[0].0.len());
    let backward = heads.each_mut().map(|(before, [backward, _])| {
        backward.fill(R::ZERO);
        (*before, &mut **backward)
    });
    matrix::add_vector_products(backward, links);
    let forward = heads.map(|(before, [_, forward])| (before, forward));
    matrix::products_with_vectors(links, forward);
}

/// The gradients of a read head: those w.r.t. b_t and f_t, and that w.r.t. w_{t−1}, to be set.
pub(super) type FollowedBackward<'a, R> = ([&'a [R]; 2], &'a mut [R]);

/// From the gradients w.r.t. b_t and f_t of several heads: sets those w.r.t. w_{t−1}, adds to that w.r.t. L_t.
pub(super) fn follow_links_backward<R: Real, const H: usize>(
    links: &[R],
    before: [&[R]; H],
    mut heads: [FollowedBackward<'_, R>; H],
    d_links: &mut [R],
) {
    let links = rows_of(links, before[0].len());
    let d_backward = heads
        .each_mut()
        .map(|([d_b, _], d_before)| (*d_b, &mut **d_before));
    matrix::products_with_vectors(links, d_backward);
    let d_forward = heads
        .each_mut()
        .map(|([_, d_f], d_before)| (*d_f, &mut **d_before));
    matrix::add_vector_products(d_forward, links);
    let ways = heads.map(|(ways, _)| ways);
    dispatch::<R, _>(OuterProducts {
        before,
        ways,
        d_links,
    });
}

/// dL(i, j) += w(i)·db(j) + df(i)·w(j) of several heads.
struct OuterProducts<'a, R, const H: usize> {
    before: [&'a [R]; H],
    ways: [[&'a [R]; 2]; H],
    d_links: &'a mut [R],
}

impl<R: Real, const H: usize> Kernel for OuterProducts<'_, R, H> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        if const { H > 2 } {
            by_blocks::<R, S, 2>(simd, &mut self);
        } else {
            by_blocks::<R, S, 4>(simd, &mut self);
        }
    }
}

impl<R: Real, const H: usize> Blocks for OuterProducts<'_, R, H> {
    #[inline(always)]
    fn columns(&self) -> usize {
        self.before[0].len()
    }

    #[inline(always)]
    fn block<S: Simd, const V: usize>(&mut self, simd: S, at: impl Columns<S>) {
        let (before, ways) = (self.before, self.ways);
        let parts: [_; H] = filled(|h| [at.of(before[h]), at.of(ways[h][0])]);
        let held_parts: [[[_; V]; 2]; H] =
            parts.map(|both| both.map(|part| filled(|v| held(simd, at, part, v))));
        let rows = self.d_links.chunks_exact_mut(before[0].len());
        for (i, d_links) in rows.enumerate() {
            let d_links = at.of_mut(d_links);
            let by: [_; H] = filled(|h| [ways[h][1][i], before[h][i]].map(|x| R::splat(simd, x)));
            for v in 0..at.packs() {
                let mut d = at.load(d_links, v);
                for h in 0..H {
                    for part in 0..2 {
                        let x = held_pack(at, &held_parts[h][part], parts[h][part], v);
                        d = R::mul_add(simd, x, by[h][part], d);
                    }
                }
                at.store(d_links, v, d);
            }
        }
    }
}

kernel! {
    /// w_t = π_1·b_t + π_2·c_t + π_3·f_t; without links c_t.
    pub(super) fn read_weighting<'a, R>(simd; head: &'a mut HeadTrace<R>, t: usize) {
        let [_, modes, backward, forward] = head.of_score.all::<4>();
        let (content, weighting) = (head.content.row(t), head.weighting.row_mut(t));
        if let [by_backward, by_content, by_forward] = *modes.row(t) {
            let (backward, forward) = (backward.row(t), forward.row(t));
            map_packs!(simd, weighting = [backward, content, forward]
                => forward.mul_add(by_forward, content.mul_add(by_content, backward * by_backward)));
        } else {
            weighting.copy_from_slice(content);
        }
    }
}

kernel! {
    /// Turns the gradient w.r.t. w_t into that w.r.t. c_t, in place; sets those w.r.t. b_t and f_t, and the modes.
    pub(super) fn read_weighting_backward<'a, R>(
        simd; head: &'a HeadTrace<R>, t: usize, gradient: &'a mut [R], d_backward: &'a mut [R], d_forward: &'a mut [R],
        gates: &'a mut Gates<R>,
    ) {
        let [_, modes, backward, forward] = head.of_score.all::<4>();
        let [by_backward, by_content, by_forward] = *modes.row(t) else { return };
        let of = [backward.row(t), head.content.row(t), forward.row(t)];
        for (to, of) in gates[1..].iter_mut().zip(of) {
            *to = dot(simd, gradient, of);
        }
        map_packs!(simd, d_backward = [gradient] => gradient * by_backward);
        map_packs!(simd, d_forward = [gradient] => gradient * by_forward);
        gradient.iter_mut().for_each(|d| *d *= by_content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::check::{assert_gradient, random_vector};

    const N: usize = 19;

    /// Values between 0 and 1 with this sum.
    fn shares(seed: u64, sum: f64) -> Vec<f64> {
        let x: Vec<f64> = random_vector(seed, N).iter().map(|x| x.exp()).collect();
        let total: f64 = x.iter().sum();
        x.iter().map(|x| sum * x / total).collect()
    }

    fn scalar(x: &[f64], by: &[f64]) -> f64 {
        x.iter().zip(by).map(|(x, y)| x * y).sum()
    }

    /// Some rows have no usage, some are full.
    fn used(seed: u64) -> Vec<f64> {
        let x = random_vector(seed, N).into_iter().map(|x| x.abs().min(1.0));
        x.collect()
    }

    #[test]
    fn allocation_takes_the_least_used_row_and_has_its_gradient() {
        let usage = used(1);
        let (mut order, mut made) = (vec![0.0; N], vec![0.0; N]);
        allocation_order(&usage, &mut order);
        assert!(order.is_sorted_by(|&i, &j| usage[i as usize] <= usage[j as usize]));
        let run = |usage: &[f64]| {
            let mut made = vec![0.0; N];
            allocation(usage, &order, &mut made);
            made
        };
        allocation(&usage, &order, &mut made);
        assert!(made.iter().sum::<f64>() <= 1.0 + 1e-12);
        let by = random_vector(2, N);
        for usage in [
            usage.clone(),
            usage.iter().map(|u| u - usage[order[0] as usize]).collect(),
        ] {
            let (mut d_usage, mut products) = (vec![0.0; N], vec![0.0; N]);
            allocation_backward(&usage, &order, &by, &mut d_usage, &mut products);
            assert_gradient("usage", &usage, &d_usage, |usage| scalar(&run(usage), &by));
        }
        // Equal usages keep the order of the rows, and one free row takes everything.
        let mut order = vec![0.0; 4];
        allocation_order(&[0.5, 0.0, 0.5, 0.0], &mut order);
        assert_eq!(order, [1.0, 3.0, 0.0, 2.0]);
        let mut made = vec![0.0; 4];
        allocation(&[0.5, 0.0, 0.5, 0.0], &order, &mut made);
        assert_eq!(made, [0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn links_and_their_gradients() {
        let (w, p, by) = (shares(1, 0.7), shares(2, 0.9), random_vector(3, N * N));
        let mut before = random_vector(4, N * N);
        (0..N).for_each(|i| before[i * N + i] = 0.0);
        let run = |w: &[f64], p: &[f64], before: &[f64]| {
            let mut links = before.to_vec();
            link(w, p, None, &mut links);
            let mut apart = vec![0.0; N * N];
            link(w, p, Some(before), &mut apart);
            assert_eq!(apart, links);
            links
        };
        let links = run(&w, &p, &before);
        for i in 0..N {
            for j in 0..N {
                let wanted = (1.0 - w[i] - w[j]) * before[i * N + j] + w[i] * p[j];
                let wanted = if i == j { 0.0 } else { wanted };
                assert!((links[i * N + j] - wanted).abs() < 1e-12);
            }
        }
        let (mut d_before, mut d_w, mut d_p) = (by.clone(), vec![0.0; N], vec![0.0; N]);
        link_backward(&w, &p, &before, &mut d_before, &mut d_w, &mut d_p);
        let loss = |w: &[f64], p: &[f64], before: &[f64]| scalar(&run(w, p, before), &by);
        // The diagonal is no variable.
        let off = |values: &[f64]| {
            let mut values = values.to_vec();
            (0..N).for_each(|i| values[i * N + i] = 0.0);
            values
        };
        let by_off = off(&by);
        let loss_off =
            |w: &[f64], p: &[f64], before: &[f64]| scalar(&run(w, p, &off(before)), &by_off);
        assert_gradient("w", &w, &d_w, |w| loss(w, &p, &before));
        assert_gradient("p", &p, &d_p, |p| loss(&w, p, &before));
        assert_gradient("L", &before, &d_before, |before| loss_off(&w, &p, before));
    }

    #[test]
    fn precedence_and_its_gradient() {
        let (w, before, by) = (shares(1, 0.7), shares(2, 0.9), random_vector(3, N));
        let run = |w: &[f64], before: &[f64]| {
            let mut made = vec![0.0; N];
            precedence(w, before, &mut made);
            scalar(&made, &by)
        };
        let (mut d_before, mut d_w) = (by.clone(), vec![0.0; N]);
        precedence_backward(&w, &before, &mut d_before, &mut d_w);
        assert_gradient("w", &w, &d_w, |w| run(w, &before));
        assert_gradient("p", &before, &d_before, |before| run(&w, before));
    }

    #[test]
    fn reads_along_links_and_their_gradients() {
        let links = random_vector(1, N * N);
        let by: [_; 4] = std::array::from_fn(|h| random_vector(3 + h as u64, 2 * N));
        let all: Vec<f64> = (0..4).flat_map(|h| shares(10 + h, 1.0)).collect();
        let run = |links: &[f64], all: &[f64]| {
            let mut made = vec![0.0; 8 * N];
            let mut made_of = made.chunks_exact_mut(N);
            let mut next = || made_of.next().unwrap();
            let heads: [Followed<'_, f64>; 4] =
                std::array::from_fn(|h| (&all[h * N..][..N], [next(), next()]));
            follow_links(links, heads);
            scalar(&made, &by.concat())
        };
        let (mut d_all, mut d_links) = (vec![0.0; 4 * N], vec![0.0; N * N]);
        let mut d_of = d_all.chunks_exact_mut(N);
        let before: [_; 4] = std::array::from_fn(|h| &all[h * N..][..N]);
        let heads = std::array::from_fn(|h| {
            let (d_b, d_f) = by[h].split_at(N);
            ([d_b, d_f], d_of.next().unwrap())
        });
        follow_links_backward(&links, before, heads, &mut d_links);
        assert_gradient("L", &links, &d_links, |links| run(links, &all));
        assert_gradient("w", &all, &d_all, |all| run(&links, all));
    }

    #[test]
    fn whole_numbers_sort_as_usages_do() {
        let usage: Vec<f32> = random_vector(1, 300)
            .iter()
            .map(|x| x.abs() as f32)
            .collect();
        let usage: Vec<f32> = usage.iter().map(|u| (u * 8.0).floor() / 8.0).collect();
        let wide: Vec<f64> = usage.iter().map(|&u| u.into()).collect();
        let (mut order, mut wide_order) = (vec![0.0; 300], vec![0.0; 300]);
        allocation_order(&usage, &mut order);
        allocation_order(&wide, &mut wide_order);
        let order: Vec<f64> = order.iter().map(|&row: &f32| row.into()).collect();
        assert_eq!(order, wide_order);
    }

    #[test]
    fn write_weighting_and_its_gradient() {
        let (content, by) = (shares(1, 1.0), random_vector(3, N));
        for allocation in [shares(2, 0.8), Vec::new()] {
            let run = |gates: [f64; 2], allocation: &[f64], content: &[f64]| {
                let mut made = vec![0.0; N];
                write_weighting(gates, allocation, content, &mut made);
                scalar(&made, &by)
            };
            let gates = [0.3, 0.8];
            let (mut d_content, mut d_allocation) = (by.clone(), vec![0.0; allocation.len()]);
            let d_gates = write_weighting_backward(
                gates,
                &allocation,
                &content,
                &mut d_content,
                &mut d_allocation,
            );
            assert_gradient("c", &content, &d_content, |content| {
                run(gates, &allocation, content)
            });
            assert_gradient("a", &allocation, &d_allocation, |allocation| {
                run(gates, allocation, &content)
            });
            let of_write = |g_w: &[f64]| run([gates[0], g_w[0]], &allocation, &content);
            assert_gradient("g^w", &gates[1..], &d_gates[1..], of_write);
            if !allocation.is_empty() {
                let of_allocation = |g_a: &[f64]| run([g_a[0], gates[1]], &allocation, &content);
                assert_gradient("g^a", &gates[..1], &d_gates[..1], of_allocation);
            }
        }
    }
}
