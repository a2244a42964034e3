//! Learning curves as a figure: bits per sequence over sequences, a line per setting (the median of its runs) in a band
//! (from the best run to the worst); below, each on an axis of its own, what joins the loss.

use crate::figure::chart::data::{Chart, Form, Hue, Line, thinned};
use crate::figure::chart::page::Charts;
use crate::figure::facts::ticks::{Axis, AxisKind};
use crate::math::Answer;
use crate::train::{AuxLosses, Spread};

/// The auxiliary losses and their units, as [`AuxLosses::NAMES`].
const BESIDE: [&str; AuxLosses::NAMES.len()] = [
    "Redundancy of heads",
    "Divergence of heads, nats",
    "Divergence from the prior, nats",
    "Reward in training, nats",
    "Agreement of two directions in training",
    "Penalty, nats",
];
/// Ratio of the largest to the smallest value from which the axis is logarithmic.
const LOG_FROM: f64 = 30.0;
/// Margin of a linear axis beyond its values, as a share of its length.
const BEYOND: f64 = 0.05;

/// The learning curve of a setting, with the name it has in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The name.
    pub label: String,
    /// Bits per sequence, by sequences.
    pub points: Vec<Spread>,
    /// The auxiliary losses, each of [`AuxLosses::NAMES`]; empty if absent.
    pub aux: [Vec<Spread>; AuxLosses::NAMES.len()],
}

/// The figure, for answers of this form; the threshold of the loss is a dashed line, if it is in the picture.
pub fn learning_curves(curves: &[Curve], answer: Answer, threshold: f64, dark: bool) -> Charts {
    let sequences = curves.iter().flat_map(|curve| &curve.points);
    let sequences = sequences.map(|point| point.sequences).max().unwrap_or(1);
    let (first, rest) = answer.measure().split_at(1);
    let name = format!("{}{rest} per sequence", first.to_uppercase());
    let mut main = chart(&name, curves, sequences, |curve| &curve.points);
    main.levels = vec![(threshold, format!("threshold {threshold}"))];
    let kinds = BESIDE.iter().enumerate();
    let kinds = kinds.filter(|(kind, _)| curves.iter().any(|one| !one.aux[*kind].is_empty()));
    let beside = kinds.map(|(kind, name)| chart(name, curves, sequences, |curve| &curve.aux[kind]));
    Charts {
        title: match curves {
            [one] => format!("Learning curve: {}", one.label),
            _ => "Learning curves".to_owned(),
        },
        charts: std::iter::once(main).chain(beside).collect(),
        dark,
    }
}

fn chart(name: &str, curves: &[Curve], sequences: u64, of: impl Fn(&Curve) -> &[Spread]) -> Chart {
    let lines = curves.iter().enumerate().map(|(index, curve)| {
        let points = thinned(of(curve).iter().copied());
        let medians = points.iter().map(|at| [at.sequences as f64, at.median]);
        let name = curve.label.clone();
        Line {
            band: points.iter().map(|at| [at.lowest, at.highest]).collect(),
            ..Line::new(name, Hue::Line(index), Form::Whole, medians.collect())
        }
    });
    let lines: Vec<_> = lines.collect();
    let up = axis(&lines);
    let scale = if up.is_log() { "; logarithmic" } else { "" };
    let several = curves.iter().flat_map(of).any(|point| point.runs > 1);
    let what = if several {
        "The median of the runs, in a band from the best to the worst"
    } else {
        "At every validation"
    };
    let across = Axis::new(AxisKind::Linear, [0.0, sequences as f64]);
    let meaning = format!("{what}{scale}.");
    Chart::new(name, meaning, ("sequences", across), up, lines)
}

/// The axis on which all of these values are seen well.
fn axis(lines: &[Line]) -> Axis {
    let medians = lines.iter().flat_map(|line| &line.points);
    let bands = lines.iter().flat_map(|line| line.band.iter().flatten());
    let values = medians.map(|point| &point[1]).chain(bands).copied();
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let least = values.iter().copied().fold(0.0, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    let most = if most > 0.0 || least < 0.0 { most } else { 1.0 };
    let above_zero = values.iter().copied().filter(|value| *value > 0.0);
    let lowest = above_zero.fold(most, f64::min);
    if least >= 0.0 && most / lowest > LOG_FROM {
        return Axis::log(values);
    }
    // A curve that stays far above zero, as that of a task with an optimum, gets the whole height.
    let from = match least {
        _ if least < 0.0 => least,
        _ if lowest > most / 2.0 => lowest,
        _ => 0.0,
    };
    let room = BEYOND * (most - from).max(most.abs() * 1e-2);
    let below = if from == 0.0 { 0.0 } else { room };
    Axis::new(AxisKind::Linear, [from - below, most + room])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Pages;

    fn curve(label: &str, points: &[(u64, [f64; 3])]) -> Curve {
        let point = |&(sequences, [lowest, median, highest]): &(u64, [f64; 3])| Spread {
            sequences,
            runs: 3,
            median,
            lowest,
            highest,
        };
        Curve {
            label: label.into(),
            points: points.iter().map(point).collect(),
            aux: [const { Vec::new() }; AuxLosses::NAMES.len()],
        }
    }

    #[test]
    fn auxiliary_loss_has_own_axis() {
        let mut one = curve("one", &[(10, [1.0, 2.0, 3.0]), (20, [0.5; 3])]);
        let without = learning_curves(std::slice::from_ref(&one), Answer::Bits, 0.1, false).draw();
        let of = |values: [f64; 2]| {
            let points = [(10, [values[0]; 3]), (20, [values[1]; 3])];
            curve("", &points).points
        };
        (one.aux[2], one.aux[3]) = (of([900.0, 4.0]), of([-0.5, 0.25]));
        let curves = [one, curve("other", &[(10, [1.0; 3])])];
        let drawing = learning_curves(&curves, Answer::Bits, 0.1, false).draw();
        assert!(drawing.height > without.height + 200.0);
        let svg = drawing.to_svg();
        assert!(
            svg.contains("Divergence from the prior, nats")
                && svg.contains("Reward in training, nats"),
            "{svg}"
        );
        assert!(!svg.contains("Redundancy") && !svg.contains("NaN"));
        assert!(svg.contains("−0.4"), "{svg}");
    }

    #[test]
    fn a_curve_that_falls_far_is_drawn_on_a_logarithmic_axis() {
        let curves = [
            curve(
                "a < b & c",
                &[
                    (1000, [50.0, 60.0, 80.0]),
                    (20_000, [0.0, 0.01, f64::INFINITY]),
                ],
            ),
            curve("other", &[(1000, [70.0, f64::INFINITY, f64::INFINITY])]),
        ];
        let svg = learning_curves(&curves, Answer::Bits, 0.1, false)
            .draw()
            .to_svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("worst; logarithmic."));
        assert!(svg.contains("a &lt; b &amp; c"));
        assert!(svg.contains(">100<") && svg.contains(">0.01<") && svg.contains(">20,000<"));
        assert!(svg.contains("threshold 0.1"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(
            svg.matches("fill-opacity").count(),
            2,
            "one band and its sign"
        );
    }

    #[test]
    fn single_run_has_no_band() {
        let mut one = curve("one", &[(10, [60.0; 3]), (20, [50.0; 3])]);
        one.points.iter_mut().for_each(|point| point.runs = 1);
        let svg = learning_curves(&[one], Answer::Bits, 0.1, false)
            .draw()
            .to_svg();
        assert!(svg.contains(">At every validation.<"), "{svg}");
        assert!(!svg.contains("band") && !svg.contains("median"), "{svg}");
    }

    #[test]
    fn a_curve_far_above_zero_gets_the_whole_height() {
        let curves = [curve(
            "n",
            &[(10, [150.0, 160.0, 199.0]), (20, [134.0, 135.0, 136.0])],
        )];
        let svg = learning_curves(&curves, Answer::Bits, 0.1, false)
            .draw()
            .to_svg();
        assert!(!svg.contains("logarithmic") && !svg.contains("threshold"));
        assert!(
            svg.contains(">140<") && svg.contains(">200<") && !svg.contains(">100<"),
            "{svg}"
        );
    }

    #[test]
    fn nothing_to_draw_is_drawn_without_a_panic() {
        for curves in [
            vec![],
            vec![curve("none", &[])],
            vec![curve("zero", &[(1, [0.0; 3])])],
        ] {
            let svg = learning_curves(&curves, Answer::Bits, 0.1, false)
                .draw()
                .to_svg();
            assert!(svg.contains("sequences") && !svg.contains("NaN"), "{svg}");
        }
    }
}
