//! Recomputes any array of a recorded episode from the arrays recorded before it.

use super::dependency::{Conventions, Dependency};
use super::registry::ModelConfig;
use super::trace::Trace;
use crate::math::Real;

/// Recomputes step `t` of a rule in its place, as [`super::Machine::recompute_step`]. The old values are NaN before, and stay
/// so where the machine has no implementation of the rule.
pub fn recompute<R: Real>(
    config: &ModelConfig,
    conventions: &Conventions,
    trace: &mut Trace<R>,
    rule: &Dependency,
    t: usize,
) {
    if let Some(series) = trace.series_mut(rule.place, rule.array) {
        series.row_mut(rule.row(t)).fill(R::from_f64(f64::NAN));
    }
    config.machine().recompute_step(conventions, trace, rule, t);
}

/// The sum of the magnitudes of the terms of every value that step `t` of a rule makes, such as Σ |w(i)·M(i)| of a read;
/// `trace` is as it was afterwards.
pub fn magnitudes<R: Real>(
    config: &ModelConfig,
    conventions: &Conventions,
    trace: &mut Trace<R>,
    rule: &Dependency,
    t: usize,
) -> Vec<R> {
    let mut kept = Vec::new();
    let own = (rule.place, rule.array);
    for (place, array) in rule.needs.iter().copied().chain([own]) {
        let is_memory = array.starts_with("memory");
        let array = if is_memory { "memory" } else { array };
        let Some(series) = trace.series_mut(place, array) else {
            continue;
        };
        // What is learned is the same in all steps.
        let last = series.steps().saturating_sub(1);
        for row in t.min(last)..=(t + usize::from(is_memory)).min(last) {
            let values = series.row_mut(row);
            kept.push((place, array, row, values.to_vec()));
            // 1 − w·e becomes 1 + w·|e|.
            let sign = if array == "erase" { -R::ONE } else { R::ONE };
            values.iter_mut().for_each(|x| *x = sign * x.abs());
        }
    }
    recompute(config, conventions, trace, rule, t);
    let made = trace.series(rule.place, rule.array);
    let made = made.map_or_else(Vec::new, |made| made.row(rule.row(t)).to_vec());
    for (place, array, row, values) in kept.into_iter().rev() {
        if let Some(series) = trace.series_mut(place, array) {
            series.row_mut(row).copy_from_slice(&values);
        }
    }
    made
}
