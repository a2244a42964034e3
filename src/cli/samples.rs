//! Columns of `tapescope eval --samples`, for machines that sample.

use std::io::{Result, Write};

use crate::train::{Measurement, Sampled};

/// Writes the headings of the columns after the size.
pub(super) fn heading(out: &mut impl Write, samples: u64) -> Result<()> {
    let plural = if samples == 1 { "" } else { "s" };
    writeln!(
        out,
        "      bits   of mean    of one    spread     wrong   of bits     total aleatoric epistemic     AUC of: total  aleat.  epist.   ({samples} sample{plural})"
    )
}

/// Writes the cells of these columns.
pub(super) fn line(out: &mut impl Write, measured: &Measurement, sampled: &Sampled) -> Result<()> {
    let Sampled {
        bits_of_mean,
        bits,
        spread,
        wrong_bits,
        scored_bits,
        uncertainty,
        areas,
        ..
    } = sampled;
    let spread = number(*spread);
    write!(
        out,
        " {:>9.3} {bits_of_mean:>9.3} {bits:>9.3} {spread:>9} {wrong_bits:>9.2} {scored_bits:>9.0}",
        measured.mean.bits_per_sequence
    )?;
    let [total, noise, model] = [uncertainty.total, uncertainty.noise, uncertainty.model];
    write!(out, " {total:>9.3} {noise:>9.3} {model:>9.3}")?;
    let [total, noise, model] = [areas.total, areas.noise, areas.model].map(number);
    writeln!(out, " {total:>17} {noise:>7} {model:>7}")
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}
