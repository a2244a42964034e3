//! Diagnostics of a run: the heads in one episode, and the gradient norm of every tensor.

use crate::math::Real;
use crate::model::{HeadTrace, Params, Trace};
use crate::task::Episode;

/// The diagnostics of one update, besides its loss.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    /// The diagnostics of every head in one episode of the batch.
    pub heads: Vec<HeadDiagnostics>,
    /// Euclidean norm of the gradient of every tensor before clipping, in the order of [`Params::named`].
    pub norms: Vec<f64>,
}

/// The diagnostics of a head in an episode, as means over the steps of input and of answer; `None` if an episode has no
/// such steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeadDiagnostics {
    /// Entropy of the weighting, nats: 0 where a single row is attended to, ln N where all are alike.
    pub entropy: [Option<f64>; 2],
    /// The gate, 0 to 1; `None` for a head without one, too.
    pub gate: [Option<f64>; 2],
    /// The number of rows that the head visited: e to the entropy of its mean weighting, 1 to N.
    pub rows: f64,
    /// Rows of the memory.
    pub of: usize,
    /// Steps of the episode.
    pub steps: usize,
}

impl Diagnostics {
    /// Returns the diagnostics of a gradient before clipping, and of heads.
    pub(super) fn of(heads: &[HeadDiagnostics], gradient: &Params<f32>) -> Self {
        let norm = |values: &mut dyn Iterator<Item = f32>| {
            let squares = values.map(|value| f64::from(value).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let named = gradient.named().into_iter();
        Self {
            heads: heads.to_vec(),
            norms: named
                .map(|(_, tensor)| norm(&mut tensor.iter().copied()))
                .collect(),
        }
    }

    /// The norm over all tensors.
    pub fn norm(&self) -> f64 {
        let squares = self.norms.iter().map(|norm| norm * norm);
        squares.sum::<f64>().sqrt()
    }
}

impl HeadDiagnostics {
    /// Returns the diagnostics of every head in a recorded episode.
    pub fn of<R: Real>(trace: &Trace<R>, episode: &Episode) -> Vec<Self> {
        let heads = trace.heads.iter();
        heads
            .map(|head| Self::of_head(head, &episode.mask))
            .collect()
    }

    fn of_head<R: Real>(head: &HeadTrace<R>, mask: &[f32]) -> Self {
        let steps = head.weighting.steps().min(mask.len());
        let rows = head.weighting.width();
        let (mut entropy, mut gate, mut counts) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        let mut total = vec![0.0; rows];
        for (t, mask) in mask.iter().enumerate().take(steps) {
            let phase = usize::from(*mask > 0.0);
            let weighting = head.weighting.row(t).iter().map(|w| w.to_f64());
            entropy[phase] += self::entropy(weighting.clone());
            total
                .iter_mut()
                .zip(weighting)
                .for_each(|(sum, w)| *sum += w);
            gate[phase] += head.gate.row(t).first().map_or(0.0, |g| g.to_f64());
            counts[phase] += 1.0;
        }
        let mean = |sums: [f64; 2], phase: usize| {
            (counts[phase] > 0.0).then(|| sums[phase] / counts[phase])
        };
        let gated = head.gate.width() > 0;
        let all: f64 = total.iter().sum();
        Self {
            entropy: [0, 1].map(|phase| mean(entropy, phase)),
            gate: [0, 1].map(|phase| mean(gate, phase).filter(|_| gated)),
            rows: self::entropy(total.iter().map(|sum| sum / f64::max(all, 1e-30))).exp(),
            of: rows,
            steps,
        }
    }
}

/// Returns the entropy of shares with the sum 1: −Σ w·ln w, nats. 0, never −0, if one share is 1; NaN if one is NaN.
pub fn entropy(shares: impl Iterator<Item = f64>) -> f64 {
    let counted = shares.filter(|w| *w > 0.0 || w.is_nan());
    0.0 - counted.map(|w| w * w.ln()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Draw, Model, NtmConfig};
    use crate::task::{Copy, Task};

    #[test]
    fn entropy_of_one_row_equal_rows_and_nan() {
        let bits = |shares: &[f64]| entropy(shares.iter().copied()).to_bits();
        assert_eq!(bits(&[0.0, 1.0, 0.0]), 0.0_f64.to_bits());
        assert_eq!(bits(&[0.25; 4]), 4_f64.ln().to_bits());
        assert!(entropy([0.5, f64::NAN].into_iter()).is_nan());
    }

    #[test]
    fn diagnostics_distinguish_one_row_from_all_rows() {
        let task = Task::Copy(Copy {
            bits: 2,
            length: 4..=4,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.controller.size) = (8, 4, 5);
        let machine = Model::<f32>::new(config, 1);
        let episode = task.episode(1, 0);
        let mut trace = Trace::new(&machine.config);
        machine.run(&episode, Draw::default(), &mut trace);
        let steps = trace.steps();
        for t in 0..steps {
            trace.heads[0].weighting.row_mut(t).fill(1.0 / 8.0);
            trace.heads[0]
                .gate
                .row_mut(t)
                .fill(if episode.mask[t] > 0.0 { 0.75 } else { 0.25 });
            let row = trace.heads[1].weighting.row_mut(t);
            row.fill(0.0);
            row[t % 2] = 1.0;
        }
        let [read, write] = HeadDiagnostics::of(&trace, &episode)[..] else {
            panic!("two heads")
        };
        let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-6, "{x} {y}");
        for phase in [0, 1] {
            close(read.entropy[phase].unwrap(), 8f64.ln());
            close(write.entropy[phase].unwrap(), 0.0);
            close(read.gate[phase].unwrap(), [0.25, 0.75][phase]);
        }
        close(read.rows, 8.0);
        let on_first = steps.div_ceil(2) as f64 / steps as f64;
        close(
            write.rows,
            (-on_first * on_first.ln() - (1.0 - on_first) * (1.0 - on_first).ln()).exp(),
        );
        assert_eq!((read.of, read.steps), (8, steps));
        // Where every step is an answer nothing is known of being told.
        let all = Episode {
            mask: vec![1.0; steps],
            ..episode
        };
        let read = HeadDiagnostics::of(&trace, &all)[0];
        assert_eq!((read.entropy[0], read.gate[0]), (None, None));
        close(read.entropy[1].unwrap(), 8f64.ln());
    }
}
