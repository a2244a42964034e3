//! Charts of many episodes: a quantity in every step, in bands, and wrong bits by position and channel.

use crate::analysis::population::{Band, Summary};
use crate::figure::chart::data::{Chart, Form, Hue, Line, thinned};
use crate::figure::facts::ticks::{Axis, AxisKind};

/// A quantity in every step: the median with bands; phases follow each other.
pub fn quantity(name: &str, summary: &Summary) -> Chart {
    let is_finite = |(_, band): &(usize, Band)| band.quantiles.iter().all(|it| it.is_finite());
    let bands = summary.bands().into_iter().enumerate();
    let bands: Vec<(usize, Band)> = bands.filter(is_finite).collect();
    let line = |name, (hue, form), [low, high]: [usize; 2]| {
        let points = thinned(bands.iter());
        let medians = points
            .iter()
            .map(|(at, band)| [*at as f64, band.quantiles[2]]);
        let ends = |band: &Band| [band.quantiles[low], band.quantiles[high]];
        Line {
            band: points.iter().map(|(_, band)| ends(band)).collect(),
            ..Line::new(name, hue, form, medians.collect())
        }
    };
    let values = bands.iter().flat_map(|(_, band)| band.quantiles);
    let least = values.clone().fold(0.0, f64::min);
    let most = values.fold(least + 1e-3, f64::max).min(f64::MAX / 4.0);
    let up = Axis::new(AxisKind::Linear, [least, most + 0.05 * (most - least)]);
    let last = bands.last().map_or(1.0, |(at, _)| (*at).max(1) as f64);
    let across = ("step", Axis::new(AxisKind::Linear, [0.0, last]));
    let meaning = format!(
        "In each step of {} episodes, aligned at the beginning of each phase.",
        summary.episodes.len()
    );
    let wide = line("5 to 95 %", (Hue::Line(1), Form::Band), [0, 4]);
    let narrow = line("median, 25 to 75 %", (Hue::Line(0), Form::Whole), [1, 3]);
    let phases = bands.iter().filter(|(_, band)| band.step == 0);
    Chart {
        events: phases
            .map(|(at, band)| (*at as f64, band.phase.to_string()))
            .collect(),
        ..Chart::new(name, meaning, across, up, vec![wide, narrow])
    }
}

/// The share of wrong bits or symbols by position in the answer, and by channel.
pub fn wrong(name: &str, summary: &Summary) -> [Chart; 2] {
    let mut channels = vec![[0; 2]; summary.wrong.iter().map(Vec::len).max().unwrap_or(0)];
    for position in &summary.wrong {
        for (sums, one) in channels.iter_mut().zip(position) {
            *sums = [sums[0] + one[0], sums[1] + one[1]];
        }
    }
    let positions = summary.wrong.iter().map(|position| {
        let sum = |kind| position.iter().map(|sums: &[u64; 2]| sums[kind]).sum();
        [sum(0), sum(1)]
    });
    let chart = |unit, parts: Vec<[u64; 2]>| {
        let share = |[scored, wrong]: [u64; 2]| wrong as f64 / scored.max(1) as f64;
        let bars = parts
            .iter()
            .enumerate()
            .map(|(at, part)| [at as f64, share(*part)]);
        let bars: Vec<_> = bars.collect();
        let most = bars.iter().map(|bar| bar[1]).fold(0.01, f64::max);
        let across = Axis::new(AxisKind::Whole, [-0.5, parts.len().max(1) as f64 - 0.5]);
        let up = Axis::new(AxisKind::Percent, [0.0, most]);
        let lines = vec![Line::new(
            name.to_lowercase(),
            Hue::Accent,
            Form::Bars,
            bars,
        )];
        let (name, meaning) = (format!("{name} by {unit}"), "Share of those scored.");
        Chart::new(name, meaning, (unit, across), up, lines)
    };
    [
        chart("position", positions.collect()),
        chart("channel", channels),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::expression::Expression;
    use crate::figure::Pages;
    use crate::figure::chart::page::Charts;
    use crate::model::{Model, NtmConfig};
    use crate::task::{Copy, Task};
    use crate::train::Recording;

    #[test]
    fn charts_have_a_step_for_every_band_and_bars_with_the_shares() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 2..=4,
        });
        let machine = Model::new(NtmConfig::new(task.inputs(), task.outputs()), 4);
        let mut summary = Summary::default();
        for index in 0..6 {
            let recording = Recording::new(&machine, &task, 3, index);
            let loss = Expression::parse("loss").unwrap();
            let loss = loss.quantity(&recording.trace).unwrap();
            summary.add(index, Summary::of(&recording, Some(&loss)));
        }
        let chart = quantity("loss", &summary);
        let bands = summary.bands();
        assert_eq!(chart.lines[1].points.len(), bands.len());
        for (at, band) in bands.iter().enumerate() {
            assert_eq!(chart.lines[1].points[at], [at as f64, band.quantiles[2]]);
            assert_eq!(
                chart.lines[0].band[at],
                [band.quantiles[0], band.quantiles[4]]
            );
        }
        let phases: Vec<_> = chart.events.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(phases, ["input", "delimiter", "answer"]);
        let [positions, channels] = wrong("wrong bits", &summary);
        assert_eq!(
            (
                positions.lines[0].points.len(),
                channels.lines[0].points.len()
            ),
            (4, 3)
        );
        let sums = summary.wrong.concat().into_iter();
        let sums = sums.fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
        let share = sums[1] as f64 / sums[0] as f64;
        let mean = channels.lines[0]
            .points
            .iter()
            .map(|bar| bar[1])
            .sum::<f64>()
            / 3.0;
        assert!((mean - share).abs() < 1e-9 && share > 0.0);
        let empty = Summary::default();
        let title = "Copy".to_owned();
        let charts = [quantity("loss", &empty), chart, positions].to_vec();
        let svg = Charts {
            title,
            charts,
            dark: false,
        }
        .draw()
        .to_svg();
        assert!(svg.contains(">answer<") && !svg.contains("NaN"), "{svg}");
    }
}
