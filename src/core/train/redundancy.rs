//! The redundancy penalty: heads that attend to the same rows, or to many, cost (Lin et al. 2017, equation 8).
//!
//! A is [heads, N], the weightings of one step: P = ‖A·Aᵀ − I‖²_F, the sum of the squares, and by A it is
//! 4·(A·Aᵀ − I)·A. It is 0 only where every head is on one row of its own.

use super::config::Redundancy;
use crate::keys::{Choice, ConfigError};
use crate::math::Real;
use crate::model::{HeadTrace, ModelConfig, Trace, Upstream};

impl Redundancy {
    /// How much it counts in the loss, in nats per unit of the mean of P over the steps; `None` where it is off.
    fn weight(self) -> Option<f64> {
        match self {
            Self::Off => None,
            Self::Read(weight) | Self::Write(weight) | Self::Both(weight) => Some(weight),
        }
    }

    fn counts<R: Real>(self, head: &HeadTrace<R>) -> bool {
        let is_asked = match self {
            Self::Off => false,
            Self::Read(_) => !head.is_write(),
            Self::Write(_) => head.is_write(),
            Self::Both(_) => true,
        };
        is_asked && head.weighting.width() > 0
    }

    /// Holds it to the heads that a machine has.
    ///
    /// # Errors
    /// There are none of this kind.
    pub fn fits(self, config: &ModelConfig) -> Result<(), ConfigError> {
        let heads = match self {
            Self::Off => return Ok(()),
            Self::Read(_) => config.read_heads(),
            Self::Write(_) => config.write_heads(),
            Self::Both(_) => config.heads(),
        };
        ConfigError::unless(heads > 0, "redundancy.kind", self.word(), || {
            "none, because the machine has no such heads".to_owned()
        })
    }

    /// The mean of P over the steps of an episode; `None` where it is off.
    pub fn mean<R: Real>(self, trace: &Trace<R>) -> Option<f64> {
        self.weight()?;
        let all: Vec<_> = trace
            .heads
            .iter()
            .filter(|head| self.counts(head))
            .collect();
        let pairs = || all.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
        let square = |value: R| (value * value).to_f64();
        let of_step = |t| pairs().map(|(a, b)| square(product(a, b, t))).sum::<f64>();
        let sum: f64 = (0..trace.steps()).map(of_step).sum();
        Some(sum / trace.steps().max(1) as f64)
    }

    /// Sets the gradient of `scale` × its share of the loss by the weightings.
    pub fn gradient<R: Real>(self, trace: &Trace<R>, scale: f64, upstream: &mut Upstream<R>) {
        let Some(weight) = self.weight() else {
            return;
        };
        let scale = R::from_f64(4.0 * scale * weight / trace.steps().max(1) as f64);
        let pairs = trace.heads.iter().zip(&mut upstream.weightings);
        let (all, mut by): (Vec<_>, Vec<_>) = pairs.filter(|(head, _)| self.counts(head)).unzip();
        for (head, by) in all.iter().zip(&mut by) {
            by.reshape(trace.steps(), head.weighting.width());
        }
        for t in 0..trace.steps() {
            for (head, by) in all.iter().zip(&mut by) {
                let by = by.row_mut(t);
                by.fill(R::ZERO);
                for other in &all {
                    let product = scale * product(head, other, t);
                    let pairs = by.iter_mut().zip(other.weighting.row(t));
                    pairs.for_each(|(by, &w)| *by += product * w);
                }
            }
        }
    }
}

/// The element of A·Aᵀ − I in step `t` for two of the heads.
fn product<R: Real>(head: &HeadTrace<R>, other: &HeadTrace<R>, t: usize) -> R {
    let of_identity = if std::ptr::eq(head, other) {
        R::ONE
    } else {
        R::ZERO
    };
    let pairs = head.weighting.row(t).iter().zip(other.weighting.row(t));
    pairs.fold(R::ZERO, |sum, (&a, &b)| sum + a * b) - of_identity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Series;
    use crate::math::check::{assert_gradient, random_vector};
    use crate::model::{Model, NtmConfig, Workspace};

    /// A trace of 3 read and 2 write heads on 6 rows, 4 steps, with these weightings, head by head, and its
    /// workspace.
    fn with(weightings: &[f64]) -> (Trace<f64>, Workspace<f64>) {
        let mut config = NtmConfig::new(3, 2);
        (config.rows, config.read_heads, config.write_heads) = (6, 3, 2);
        let machine = Model::<f64>::new(config, 1);
        let mut trace = Trace::new(&machine.config);
        trace.resize(4);
        let mut values = weightings.iter();
        for head in &mut trace.heads {
            let series = head.weighting.as_mut_slice().iter_mut();
            series.zip(&mut values).for_each(|(to, &from)| *to = from);
        }
        (trace, Workspace::new(&machine.config))
    }

    #[test]
    fn gradient() {
        let values = random_vector(3, 5 * 4 * 6);
        let (trace, mut workspace) = with(&values);
        for penalty in [
            Redundancy::Read(0.7),
            Redundancy::Write(0.7),
            Redundancy::Both(0.7),
        ] {
            workspace.by.weightings.fill(Series::new(0));
            penalty.gradient(&trace, 0.5, &mut workspace.by);
            let found = trace.heads.iter().zip(&workspace.by.weightings);
            let found = found.flat_map(|(head, by)| match by.width() {
                0 => vec![0.0; head.weighting.as_slice().len()],
                _ => by.as_slice().to_vec(),
            });
            let found: Vec<f64> = found.collect();
            let loss = |values: &[f64]| 0.5 * 0.7 * penalty.mean(&with(values).0).unwrap();
            assert_gradient("weightings", &values, &found, loss);
        }
    }

    #[test]
    fn values_of_an_independent_program() {
        // NumPy, in f64: four steps of three heads, `((A @ A.T - np.eye(3))**2).sum()` and its mean.
        let mut of_heads = vec![0.0; 3 * 4 * 6];
        for (at, value) in GOLDEN.iter().enumerate() {
            let (t, head, row) = (at / 18, at / 6 % 3, at % 6);
            of_heads[(head * 4 + t) * 6 + row] = *value;
        }
        let (trace, _) = with(&of_heads);
        let found = Redundancy::Read(1.0).mean(&trace).unwrap();
        assert!((found - 1.305_847_492_107_026_7).abs() < 1e-12, "{found}");
        assert_eq!(Redundancy::Off.mean(&trace), None);
    }

    #[test]
    fn every_head_on_a_row_of_its_own_costs_nothing() {
        let mut weightings = vec![0.0; 5 * 4 * 6];
        for head in 0..5 {
            for t in 0..4 {
                weightings[(head * 4 + t) * 6 + head] = 1.0;
            }
        }
        let (trace, _) = with(&weightings);
        assert_eq!(Redundancy::Both(1.0).mean(&trace), Some(0.0));
    }

    #[rustfmt::skip] // Six rows of memory in a line.
    const GOLDEN: [f64; 72] = [
        0.0172, 0.1145, 0.0627, 0.1088, 0.6779, 0.0189,
        0.1794, 0.4271, 0.1498, 0.041, 0.0298, 0.1729,
        0.0083, 0.0581, 0.0439, 0.4118, 0.2338, 0.2441,
        0.0207, 0.0804, 0.0811, 0.0629, 0.6729, 0.082,
        0.715, 0.0079, 0.1198, 0.0396, 0.076, 0.0417,
        0.2492, 0.1186, 0.0264, 0.5069, 0.04, 0.0589,
        0.0329, 0.4269, 0.019, 0.2883, 0.1389, 0.0939,
        0.0815, 0.1075, 0.5201, 0.0371, 0.0436, 0.2103,
        0.0144, 0.0719, 0.4175, 0.1947, 0.1419, 0.1596,
        0.1478, 0.2327, 0.5619, 0.0245, 0.0193, 0.0138,
        0.477, 0.058, 0.0217, 0.4064, 0.0157, 0.0212,
        0.0371, 0.0052, 0.0711, 0.1352, 0.1008, 0.6506,
    ];
}
