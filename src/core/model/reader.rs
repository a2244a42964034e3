//! A read head on a memory of which no row changes once the head has seen it: key, score, weighting and read. Its key is any
//! vector of the machine. It has no gate, shift or sharpening. The memory is complete before it reads, or grows by a row in
//! each step.

use super::addressing::address;
use super::attention::{
    AttentionConfig, Biases, Mechanism, Parameters, Score, Sees, ShiftForm, Strength, Switch,
    Weighting,
};
use super::config::Order;
use super::dependency::{Conventions, Dependency};
use super::derivatives::heads_backward;
use super::head::HeadGradient;
use super::kind::Kind;
use super::machine::{GradientRecorder, Upstream};
use super::recompute::Rules;
use super::score;
use super::trace::Trace;
use super::window::{Back, Seen};
use super::{fertility, memory};
use crate::keys::{Choice as _, ConfigError, PerHead};
use crate::math::matrix::{self, padded, set_product_of_series};
use crate::math::vectors::add;
use crate::math::{Aligned, Matrix, Real, Series};

/// A head with this score, without gate, shift and sharpening. Its initial weighting is 0.
pub(super) const fn attention(score: Score, units: usize) -> AttentionConfig {
    AttentionConfig {
        score: PerHead::all(score),
        units,
        rows: AttentionConfig::ROWS,
        strength: PerHead::all(Strength::One),
        gate: PerHead::all(Switch::Off),
        sharpening: PerHead::all(Switch::Off),
        erase: PerHead::all(Switch::Off),
        weighting: PerHead::all(Weighting::Soft),
        parameters: Parameters::DEFAULT,
        biases: Biases::NONE,
    }
}

impl AttentionConfig {
    /// The mechanism of such a head, which sees these rows.
    pub(super) fn of_reader(&self, sees: Sees) -> Mechanism {
        Mechanism {
            shift_form: ShiftForm::None,
            sees,
            ..self.of(0)
        }
    }

    /// Holds the score of a reader to the sizes of its key and of the rows, of which there may be any number.
    pub(super) fn fits_reader(&self, key: usize, row: usize) -> Result<(), ConfigError> {
        self.fits(1, &ShiftForm::None.into())?;
        for (bias, window) in [
            ("markov", self.biases.markov),
            ("fertility", self.biases.fertility),
        ] {
            let field = format!("attention.bias.{bias}");
            ConfigError::unless(window == 0 || window % 2 == 1, &field, window, || {
                "0 or an odd number, as many rows on either side".to_owned()
            })?;
        }
        let (field, score) = ("attention.score", self.score.of(0));
        let needs_equal = matches!(score, Score::Cosine | Score::Dot | Score::ScaledDot);
        ConfigError::unless(key == row || !needs_equal, field, score.word(), || {
            let word = score.word();
            format!(
                "`additive`, `general` or `location`; `{word}` needs a key and memory rows of equal size, and they have {key} and {row} values"
            )
        })
    }

    /// The most rows that such a head knows.
    pub(super) fn most_rows(&self) -> usize {
        match self.score.of(0) {
            Score::Location => self.rows,
            _ => usize::MAX,
        }
    }
}

/// Dependencies of the head on its key and the memory.
pub(super) fn dependencies<'a, R: Real>(
    kind: &dyn Kind,
    conventions: &'a Conventions,
) -> impl Iterator<Item = Dependency<'a, R>> {
    let is_after = kind.mechanism(0).sees.is_after();
    let order = if is_after {
        Order::WriteFirst
    } else {
        Order::ReadFirst
    };
    let rules = Rules::new(kind, order, 0.0, conventions);
    rules.of_head(0).into_iter().chain([rules.read(0)])
}

/// The weighting and the read of step `t`.
pub(super) fn forward<R: Real>(trace: &mut Trace<R>, t: usize) {
    let sees = trace.heads[0].mechanism.sees;
    let row = trace.memory_row(t + usize::from(sees.is_after()));
    let norms = trace.norms_row(t);
    let columns = trace.memory_columns.row(row);
    let mut rows = score::Rows {
        columns,
        epsilon: R::ZERO,
        norms: trace.norms.row_mut(norms),
        is_fixed: true,
    };
    score::forward(&mut trace.heads, t, &mut rows);
    address(&mut trace.heads, t, trace.sampling, None);
    memory::read(&mut trace.heads, t, columns);
}

/// The gradients of an episode.
pub struct ReaderGradient<R> {
    /// Of the head.
    pub(super) head: [HeadGradient<R>; 1],
    /// w.r.t. the memory, column after column.
    pub(super) memory: Aligned<R>,
    /// w.r.t. the reads of all steps of the answer, for one product with the weightings at the end.
    reads: Series<R>,
    /// That product, [N, M].
    by_reads: Matrix<R>,
    /// Of the penalties on the sums of the weights, w.r.t. the weights of every row; empty without one.
    by_weights: Vec<R>,
    /// N values.
    scratch: Aligned<R>,
}

impl<R: Real> ReaderGradient<R> {
    /// All zero, for an episode of this machine; `last` is that of another one, to be used again.
    pub(super) fn of(
        kind: &dyn Kind,
        trace: &Trace<R>,
        by: &Upstream<R>,
        last: Option<Self>,
    ) -> Self {
        let [rows, columns] = trace.memory_size();
        let last = last.filter(|last| last.memory.len() == rows * columns);
        let mut new = last.unwrap_or_else(|| Self::new(kind, trace));
        new.head[0].reset();
        new.memory.fill(R::ZERO);
        new.reads.clear(trace.steps() - trace.heads[0].first_step);
        new.by_weights = fertility::by_weights(trace, &by.terms);
        new
    }

    fn new(kind: &dyn Kind, trace: &Trace<R>) -> Self {
        let [rows, columns] = trace.memory_size();
        let of_rows = kind.of_rows(rows);
        let kind = of_rows.as_deref().unwrap_or(kind);
        Self {
            head: [HeadGradient::of(kind, &trace.heads[0])],
            memory: Aligned::zeros(rows * columns),
            reads: Series::new(padded(columns)),
            by_reads: Matrix::zeros(rows, columns),
            by_weights: Vec::new(),
            scratch: Aligned::zeros(rows),
        }
    }

    /// Backpropagates through step `t`: from the gradient w.r.t. the read to that w.r.t. the key, which it returns, and
    /// adds to those w.r.t. the memory and the learned arrays.
    pub(super) fn backward(
        &mut self,
        trace: &Trace<R>,
        t: usize,
        d_read: &[R],
        by: &Upstream<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) -> &[R] {
        let sees = trace.heads[0].mechanism.sees;
        let last = if sees == Sees::Earlier {
            t
        } else {
            trace.steps()
        };
        let seen = Seen {
            columns: trace.memory_columns.row(trace.memory_row(last)),
            norms: trace.norms.row(trace.norms_row(t)),
            epsilon: R::ZERO,
        };
        if let Some(to) = recorder.as_deref_mut() {
            if sees == Sees::All {
                to.record_memory(trace, t + 1, &self.memory);
            }
            to.record_reads(trace, t, d_read);
        }
        let Self {
            head,
            memory: d_memory,
            by_weights,
            scratch,
            reads,
            ..
        } = self;
        if recorder.is_some() {
            memory::reads_backward(&trace.heads, t, seen.columns, head, d_read, d_memory);
        } else {
            reads.row_mut(t - trace.heads[0].first_step)[..d_read.len()].copy_from_slice(d_read);
            let of = &trace.heads[0];
            let rows = memory::row_by_row(&of.rows, &of.read);
            matrix::product_with_vector(rows, d_read, &mut head[0].weighting);
        }
        add(&mut head[0].weighting[..], &*by_weights);
        let back = Back {
            t,
            seen,
            d_memory,
            // Where gradients are recorded, every step has its own.
            is_fixed: recorder.is_none(),
            scratch,
        };
        heads_backward(trace, 0..1, head, by, recorder.as_deref_mut(), back);
        if let Some(to) = recorder {
            to.record_emitted(trace, 0, t, &head[0], &by.terms);
        }
        &self.head[0].key
    }

    /// Adds the gradient w.r.t. the memory to that w.r.t. the rows, each of which is there from its own step on.
    pub(super) fn rows(
        &mut self,
        trace: &Trace<R>,
        d_rows: &mut Series<R>,
        mut recorder: GradientRecorder<'_, R>,
    ) {
        let source = trace.setting.source;
        for t in (0..source).rev() {
            if let Some(recorder) = recorder.as_deref_mut() {
                recorder.record_memory(trace, t + 1, &self.memory);
            }
            add(d_rows.row_mut(t), self.by_reads.row(t));
            let columns = self.memory.chunks_exact_mut(source).zip(d_rows.row_mut(t));
            columns.for_each(|(column, to)| *to += std::mem::take(&mut column[t]));
        }
        if let Some(recorder) = recorder {
            recorder.record_memory(trace, 0, &self.memory);
        }
    }

    /// Adds the gradients w.r.t. the learned arrays to the gradient of a machine.
    pub(super) fn add_learned(&self, tensors: &mut [Matrix<R>]) {
        let learned = self.head.iter().flat_map(HeadGradient::learned);
        for (to, from) in tensors.iter_mut().zip(learned) {
            to.add_flat(from);
        }
    }

    /// Completes the gradients w.r.t. the learned arrays and the rows, at the end of an episode.
    pub(super) fn finish(
        &mut self,
        trace: &Trace<R>,
        by: &Upstream<R>,
        d_rows: &mut Series<R>,
        recorder: GradientRecorder<'_, R>,
    ) {
        let ([gradient], head) = (&mut self.head, &trace.heads[0]);
        let weighting = head.weighting.rows_from(head.first_step);
        let pairs = [(weighting, self.reads.rows_from(0))].into_iter();
        set_product_of_series(pairs, &mut self.by_reads);
        let score = head.mechanism.score.function();
        let d_rows = recorder.is_none().then_some(d_rows);
        score.finish(head, &mut gradient.of_score, d_rows);
        gradient.add_up(head);
        if let Some(to) = recorder {
            to.record_before(trace, by);
            to.record_start(trace, 0, gradient);
        }
    }
}
