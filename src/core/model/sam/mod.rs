//! Sparse access memory (Rae 2016), in the order of its equations; back through it in `backward.rs`:
//!
//! ```text
//! k, β, a, α, γ of every head: W·h + b        β by 1 + softplus, α and γ by σ
//! i = the row whose last access is longest ago, another one for each head
//! w^W = α·(γ·w^R_{t−1} + (1 − γ)·1_i)         M_t: row i of M_{t−1} set to 0, then + w^W·aᵀ, head after head
//! w^R_t = softmax of β·K(k, M_t(j)) over the K rows j of largest cosine        r_t = Σ_j w^R_t(j)·M_t(j)
//! z_t = W·[h_t; r_t] + b                      a row counts as accessed where Σ (w^R + w^W) > δ
//! ```
//!
//! Before the first step w^R is 1 on row 0, r is 0, and row j was last accessed at −N + j. Which rows are read, erased and
//! counted as accessed are constants of the gradient. A step takes the same time whatever the number of rows, but for the
//! search; the tape has what stood in the rows that were written, so that its size does not depend on their number.

mod backward;
mod head;
mod kind;
mod memory;
mod search_misses;
mod shown;
mod tests;

use super::array;
use super::config::ControllerConfig;
use super::dependency::{Conventions, Dependency, Size};
use super::machine::{GradientRecorder, Upstream};
use super::memory_machine::{Gradients, MemoryMachine};
use super::sparse::{cosine, norm_of};
use super::spec::{Array, Place};
use super::trace::{HeadTrace, Trace};
use crate::math::kernel::kernel;
use crate::math::softmax::softmax;
use crate::math::vectors::add_multiple;
use crate::math::{Matrix, Real};

pub use kind::{
    AGE, COSINES, INITIAL_ROWS, INTERPOLATION_GATE, RECORDED_ROWS, ROW, ROWS, SamConfig, WEIGHTS,
    WRITE_GATE,
};
pub use search_misses::{SearchMisses, search_misses};
pub use shown::{RowNumber, initial_rows, row_number};

use kind::{AT_INITIAL, AT_ROW, AT_ROWS};
use memory::Sam;

kernel! {
    /// The weights of rows from their cosines.
    fn weigh<'a, R>(simd; strength: R, cosines: &'a [R], to: &'a mut [R]) {
        softmax(simd, strength, cosines, to);
    }
}

/// The weights of the rows that a head reads.
fn set_weights<R: Real>(head: &mut HeadTrace<R>, t: usize) {
    let [_, cosines, weights] = head.of_score.all_mut();
    weigh(head.strength[t], cosines.row(t), weights.row_mut(t));
}

impl Sam<'_> {
    /// i of a head.
    fn set_row<R: Real>(self, trace: &mut Trace<R>, head: usize, t: usize) {
        self.before(trace, t);
        let row = trace.sparse.least_recent(head);
        let to = trace.heads[self.config.heads + head]
            .of_score
            .at_mut(AT_ROW);
        to[t] = R::from_f64(row as f64);
    }

    /// The rows that a head reads.
    fn set_rows<R: Real>(self, trace: &mut Trace<R>, head: usize, t: usize) {
        self.after(trace, t);
        let HeadTrace { key, of_score, .. } = &mut trace.heads[head];
        let to = of_score.at_mut(AT_ROWS).row_mut(t);
        trace.sparse.nearest(key.row(t), self.config.search, to);
    }

    /// Their cosines.
    fn set_cosines<R: Real>(self, trace: &mut Trace<R>, head: usize, t: usize) {
        self.after(trace, t);
        let HeadTrace { key, of_score, .. } = &mut trace.heads[head];
        let ([rows, cosines, _], key) = (of_score.all_mut(), key.row(t));
        let norm = norm_of(key, self.config.similarity_epsilon);
        for (to, &row) in cosines.row_mut(t).iter_mut().zip(rows.row(t)) {
            *to = cosine(key, norm, trace.sparse.row(self.config.row_of(row)));
        }
    }

    /// r of a head.
    fn set_read<R: Real>(self, trace: &mut Trace<R>, head: usize, t: usize) {
        self.after(trace, t);
        let HeadTrace { read, of_score, .. } = &mut trace.heads[head];
        let ([rows, _, weights], read) = (of_score.all(), read.row_mut(t));
        read.fill(R::ZERO);
        for (&row, &weight) in rows.row(t).iter().zip(weights.row(t)) {
            let row = trace.sparse.row(self.config.row_of(row));
            add_multiple(&mut *read, weight, row);
        }
    }

    /// What a head does in a step, an array at a time: before the writes, and after those of all heads.
    fn stages<'a, R: Real>(self, head: usize) -> [Vec<Dependency<'a, R>>; 2]
    where
        Self: 'a,
    {
        let of = |place,
                  array,
                  needs: &[(Place, Array)],
                  size,
                  work: fn(Self, &mut Trace<R>, usize, usize)| {
            Dependency::new(place, array, needs, size, move |trace, t| {
                work(self, trace, head, t);
            })
        };
        let count = self.config.heads;
        let (read, write) = (Place::Head(head), Place::Head(count + head));
        let mut needs = self.config.memory_needs();
        let row = of(write, ROW, &needs, Size::One, Self::set_row);
        needs.push((read, array::KEY));
        let rows = of(read, ROWS, &needs, Size::One, Self::set_rows);
        let cosines = of(read, COSINES, &needs, Size::One, Self::set_cosines);
        let of_weights = [(read, COSINES), (read, array::STRENGTH)];
        let weights = of(
            read,
            WEIGHTS,
            &of_weights,
            Size::Share,
            |_, trace, head, t| {
                set_weights(&mut trace.heads[head], t);
            },
        );
        let read = of(read, array::READ, &needs, Size::One, Self::set_read);
        [vec![row], vec![rows, cosines, weights, read]]
    }

    /// Those of all heads, in the order of the computation.
    fn all_stages<'a, R: Real>(self) -> Vec<Dependency<'a, R>>
    where
        Self: 'a,
    {
        let all = (0..self.config.heads).map(|head| self.stages(head).into());
        let (before, after): (Vec<_>, Vec<_>) = all.unzip();
        before.into_iter().chain(after).flatten().collect()
    }
}

impl MemoryMachine for SamConfig {
    const STATES: usize = 1;
    const EMITTED: &'static [Array] = &[
        array::KEY,
        array::STRENGTH,
        array::ADD,
        WRITE_GATE,
        INTERPOLATION_GATE,
    ];
    type Scratch<R: Real> = backward::Scratch<R>;

    fn controller(&self) -> &ControllerConfig {
        &self.controller
    }

    fn begin<R: Real>(&self, tensors: &[Matrix<R>], traces: &mut [Trace<R>]) {
        for at in 0..traces.len() {
            let (before, trace) = traces.split_at_mut(at);
            let initial = trace[0].kind_arrays.at_mut(AT_INITIAL).as_mut_slice();
            let rows = initial.chunks_exact_mut(self.columns).enumerate();
            rows.for_each(|(row, to)| to.copy_from_slice(tensors[0].row(row)));
            self.searching().reset(&mut trace[0], before.first());
        }
    }

    fn activate<R: Real>(&self, raw: &[R], first: usize, heads: &mut [HeadTrace<R>], t: usize) {
        for (head, of) in (first..).zip(heads) {
            head::set_emitted(self.columns, &raw[self.raw(head)], of, t);
        }
    }

    fn access_memory<R: Real>(&self, trace: &mut Trace<R>, t: usize) {
        let sam = self.searching();
        (0..self.heads).for_each(|head| sam.set_row(trace, head, t));
        for head in 0..self.heads {
            sam.set_rows(trace, head, t);
            sam.set_cosines(trace, head, t);
            set_weights(&mut trace.heads[head], t);
            sam.set_read(trace, head, t);
        }
    }

    fn rules<'a, R: Real>(&'a self, _: &'a Conventions) -> Vec<Dependency<'a, R>> {
        let all = self.recorded().all_stages().into_iter();
        // The rows that are read are taken as they were recorded.
        let all = all.filter(|one| one.array != ROWS);
        all.chain(self.shown_rules()).collect()
    }

    fn rules_of_step<R: Real>(&self) -> Vec<Dependency<'_, R>> {
        self.searching().all_stages()
    }

    fn show<R: Real>(&self, trace: &mut Trace<R>) {
        self.show_rows(trace);
    }

    fn memory_scratch<R: Real>(&self) -> backward::Scratch<R> {
        backward::Scratch::new(self)
    }

    fn reset<R: Real>(&self, trace: &Trace<R>, gradients: &mut Gradients<R, backward::Scratch<R>>) {
        // Gradients w.r.t. emitted values are summed.
        gradients.frame.raw.clear(trace.steps());
        gradients.memory.reset(trace, self);
    }

    fn access_memory_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        t: usize,
        _: &Upstream<R>,
        gradients: &mut Gradients<R, backward::Scratch<R>>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        for head in 0..self.heads {
            self.read_backward(trace, (head, t), gradients, recorder.as_deref_mut());
        }
        for head in (0..self.heads).rev() {
            self.write_backward(trace, (head, t), gradients, recorder.as_deref_mut());
        }
    }

    fn begin_backward<R: Real>(
        &self,
        trace: &Trace<R>,
        gradients: &mut Gradients<R, backward::Scratch<R>>,
        tensors: &mut [Matrix<R>],
        recorder: GradientRecorder<'_, R>,
    ) {
        self.rows_backward(trace, &gradients.memory, &mut tensors[0], recorder);
    }
}
