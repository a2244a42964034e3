//! The equations of the Differentiable Neural Computer in the order of its paper (Graves 2016, Methods), each with its
//! derivative below it. What it shares with the Neural Turing Machine is not here: cosine and content weighting
//! ([`crate::model::score`], [`crate::model::content`]), erase, add and read ([`crate::model::memory`]).
//!
//! Everything has a value per memory row, or two of them. No gradient goes through the order of the rows by usage.

use super::kind::DncConfig;
use crate::math::kernel::kernel;
use crate::math::matrix::{self, Rows};
use crate::math::pack::{each_pack, map_packs};
use crate::math::simd::Simd;
use crate::math::softmax::{dot, softmax_of_few};
use crate::math::{Pack, Real, sigmoid, softplus};
use crate::model::head::HeadGradient;
use crate::model::trace::HeadTrace;

/// Gradients w.r.t. the gates of a head: free gate and read modes, or allocation gate and write gate.
pub(super) type Gates<R> = [R; 4];

kernel! {
    /// Activates step `t` of head `index` from the row of the pre-activations of all heads: the strength by
    /// 1 + softplus, erase and gates by σ, read modes by softmax; key and add as they are.
    pub(super) fn activate<'a, R>(
        simd; config: &'a DncConfig, raw: &'a [R], index: usize, head: &'a mut HeadTrace<R>, t: usize,
    ) {
        let (columns, [first, second]) = config.columns(index);
        head.key.row_mut(t).copy_from_slice(&raw[columns.key]);
        let strength = softplus(Pack::splat(simd, raw[columns.strength.start])).first();
        head.strength.row_mut(t)[0] = R::ONE + strength;
        let gate = |raw: R| sigmoid(Pack::splat(simd, raw)).first();
        if head.is_write() {
            let (e, raw_e) = (head.erase.row_mut(t), &raw[columns.erase]);
            map_packs!(simd, e = [raw_e] => sigmoid(raw_e));
            head.add.row_mut(t).copy_from_slice(&raw[columns.add]);
            let [_, _, _, allocation_gate, write_gate, ..] = head.of_score.all_mut::<8>();
            if !first.is_empty() {
                allocation_gate.row_mut(t)[0] = gate(raw[first.start]);
            }
            write_gate.row_mut(t)[0] = gate(raw[second.start]);
        } else {
            let [free_gate, modes, ..] = head.of_score.all_mut::<4>();
            if !first.is_empty() {
                free_gate.row_mut(t)[0] = gate(raw[first.start]);
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
        let slope = sigmoid(Pack::splat(simd, raw[columns.strength.start])).first();
        d_raw[columns.strength].fill(gradient.strength * slope);
        // σ' = σ·(1 − σ).
        let of_gate = |d: R, gate: &[R]| gate.first().map_or(R::ZERO, |&gate| d * gate * (R::ONE - gate));
        if head.is_write() {
            let (e, d_erase, to) = (head.erase.row(t), &gradient.erase, &mut d_raw[columns.erase]);
            map_packs!(simd, to = [e, d_erase] => d_erase * e * (-e + R::ONE));
            d_raw[columns.add].copy_from_slice(&gradient.add);
            let [_, _, _, allocation_gate, write_gate, ..] = head.of_score.all::<8>();
            d_raw[first].fill(of_gate(gates[0], allocation_gate.row(t)));
            d_raw[second].fill(of_gate(gates[1], write_gate.row(t)));
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

/// Sets φ: the rows by usage, the least used first; of equal ones the lowest first.
pub(super) fn allocation_order<R: Real>(usage: &[R], order: &mut [R]) {
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
    /// L_t(i, j) = (1 − w(i) − w(j))·L_{t−1}(i, j) + w(i)·p_{t−1}(j), and 0 where i = j: in place, row after row.
    /// `precedence` is p_{t−1}; it has the same values afterwards.
    pub(super) fn link<'a, R>(simd; w: &'a [R], precedence: &'a mut [R], links: &'a mut [R]) {
        for (i, links) in links.chunks_exact_mut(w.len()).enumerate() {
            // L_{t−1}(i, i) is 0, and so is L_t(i, i) without p(i).
            let p_i = std::mem::replace(&mut precedence[i], R::ZERO);
            let (w_i, p) = (w[i], &*precedence);
            each_pack!(simd, at in w => {
                let kept = -at.load(w) + (R::ONE - w_i);
                at.store(links, at.load(links).mul_add(kept, at.load(p) * w_i));
            });
            precedence[i] = p_i;
        }
    }
}

kernel! {
    /// Turns the gradient w.r.t. L_t into that w.r.t. L_{t−1} = `before`, in place; adds to those w.r.t. w_t and
    /// p_{t−1}. `precedence` has the same values afterwards.
    pub(super) fn link_backward<'a, R>(
        simd; w: &'a [R], precedence: &'a mut [R], before: &'a [R], d_links: &'a mut [R], d_w: &'a mut [R],
        d_precedence: &'a mut [R],
    ) {
        let n = w.len();
        for (i, (before, d_links)) in before.chunks_exact(n).zip(d_links.chunks_exact_mut(n)).enumerate() {
            d_links[i] = R::ZERO;
            let p_i = std::mem::replace(&mut precedence[i], R::ZERO);
            let (w_i, p, mut d_w_i) = (w[i], &*precedence, Pack::splat(simd, R::ZERO));
            each_pack!(simd, at in w => {
                let (d, link) = (at.load(d_links), at.load(before));
                d_w_i += at.new_or(d * (at.load(p) - link), R::ZERO);
                at.store(d_w, (-d).mul_add(link, at.load(d_w)));
                at.store(d_precedence, d.mul_add(w_i, at.load(d_precedence)));
                at.store(d_links, d * (-at.load(w) + (R::ONE - w_i)));
            });
            d_w[i] += d_w_i.sum();
            precedence[i] = p_i;
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
pub(super) fn rows_of<R>(links: &[R], rows: usize) -> Rows<'_, R> {
    Rows {
        data: links,
        stride: rows,
    }
}

/// b_t = L_tᵀ·w_{t−1} and f_t = L_t·w_{t−1}.
pub(super) fn follow_links<R: Real>(
    links: &[R],
    before: &[R],
    backward: &mut [R],
    forward: &mut [R],
) {
    let links = rows_of(links, before.len());
    backward.fill(R::ZERO);
    matrix::add_vector_product(before, links, backward);
    matrix::product_with_vector(links, before, forward);
}

/// From the gradients w.r.t. b_t and f_t: adds to those w.r.t. w_{t−1} and L_t. `scratch` has N values.
pub(super) fn follow_links_backward<R: Real>(
    links: &[R],
    before: &[R],
    (d_backward, d_forward): (&[R], &[R]),
    d_before: &mut [R],
    d_links: &mut [R],
    scratch: &mut [R],
) {
    let links = rows_of(links, before.len());
    matrix::product_with_vector(links, d_backward, scratch);
    matrix::add_vector_product(d_forward, links, d_before);
    crate::math::vectors::add(&mut *d_before, &*scratch);
    add_outer_products(before, d_backward, d_forward, d_links);
}

kernel! {
    /// dL(i, j) += w(i)·db(j) + df(i)·w(j).
    fn add_outer_products<'a, R>(
        simd; before: &'a [R], d_backward: &'a [R], d_forward: &'a [R], d_links: &'a mut [R],
    ) {
        let n = before.len();
        for (d_links, (&w, &d_f)) in d_links.chunks_exact_mut(n).zip(before.iter().zip(d_forward)) {
            each_pack!(simd, at in before => {
                let sum = at.load(d_backward).mul_add(w, at.load(d_links));
                at.store(d_links, at.load(before).mul_add(d_f, sum));
            });
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
            link(w, &mut p.to_vec(), &mut links);
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
        link_backward(
            &w,
            &mut p.clone(),
            &before,
            &mut d_before,
            &mut d_w,
            &mut d_p,
        );
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
        let (links, before) = (random_vector(1, N * N), shares(2, 1.0));
        let (by_b, by_f) = (random_vector(3, N), random_vector(4, N));
        let run = |links: &[f64], before: &[f64]| {
            let (mut b, mut f) = (vec![0.0; N], vec![0.0; N]);
            follow_links(links, before, &mut b, &mut f);
            scalar(&b, &by_b) + scalar(&f, &by_f)
        };
        let (mut d_before, mut d_links, mut scratch) =
            (vec![0.0; N], vec![0.0; N * N], vec![0.0; N]);
        follow_links_backward(
            &links,
            &before,
            (&by_b, &by_f),
            &mut d_before,
            &mut d_links,
            &mut scratch,
        );
        assert_gradient("L", &links, &d_links, |links| run(links, &before));
        assert_gradient("w", &before, &d_before, |before| run(&links, before));
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
