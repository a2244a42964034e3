//! Results of the paper, as text, for the machines and sizes that it measured.
//!
//! Graves, Wayne and Danihelka 2014, section 4; numbers read off a figure are within 20 percent. The one
//! place for all of it: a measurement is shown beside the first line here that fits it. What the learning curves
//! say (Fig. 3, 7, 10) is a mean over all sizes of the training: where it is not nearly 0 at each of them, the words
//! say so. So do those of an LSTM without memory name its layers, which ours have not.

use std::ops::RangeInclusive;

use crate::model::array::CELL;
use crate::model::attention::AttentionConfig;
use crate::model::config::{ControllerKind, ShiftForm};
use crate::model::{Kind as _, ModelConfig, NtmConfig, Place};
use crate::task::Task;

/// The kinds of machine that the paper compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A Turing machine with an LSTM controller.
    NtmLstm,
    /// A Turing machine with a feedforward controller.
    NtmFeedforward,
    /// The baseline: an LSTM without a memory to address.
    Lstm,
}

use Kind::{Lstm, NtmFeedforward, NtmLstm};

/// One line: task, kinds of machine, sizes, repeats, and the statement of the paper.
type Figure = (
    &'static str,
    &'static [Kind],
    RangeInclusive<usize>,
    RangeInclusive<usize>,
    Reported,
);

/// The paper's result of a machine on a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    /// Bits per sequence, where it gives one number for them.
    pub bits: Option<f64>,
    /// The statement as text, with the figure or section.
    pub words: &'static str,
}

const fn bits(bits: f64, words: &'static str) -> Reported {
    let bits = Some(bits);
    Reported { bits, words }
}

const fn said(words: &'static str) -> Reported {
    let bits = None;
    Reported { bits, words }
}

const ANY: RangeInclusive<usize> = 0..=usize::MAX;
const NTM: &[Kind] = &[NtmLstm, NtmFeedforward];

#[rustfmt::skip]
const FIGURES: [Figure; 20] = [
    ("copy", NTM, 1..=20, ANY, bits(0.0, "about 0 (Fig. 3)")),
    ("copy", NTM, 21..=50, ANY, said("very few mistakes (Fig. 4)")),
    ("copy", NTM, 120..=120, ANY, said("one vector duplicated, the rest a step late (Fig. 4)")),
    ("copy", &[Lstm], 1..=20, ANY, bits(0.5, "0.5 over lengths 1 to 20, three layers of 256 (Fig. 3)")),
    ("copy", &[Lstm], 21..=120, ANY, said("fails (Fig. 5)")),
    ("repeat_copy", NTM, 1..=10, 1..=10, bits(0.0, "about 0 (Fig. 7)")),
    ("repeat_copy", NTM, 11..=20, 1..=10, said("almost perfect (Fig. 8)")),
    ("repeat_copy", NTM, 1..=10, 11..=20, said("copies on, does not find the end (Fig. 8)")),
    ("repeat_copy", &[Lstm], 1..=10, 1..=10, said("0 to 5 over lengths and repeats 1 to 10, three layers of 512 (Fig. 7)")),
    ("repeat_copy", &[Lstm], 1..=20, 1..=20, said("fails (Fig. 8)")),
    ("associative_recall", NTM, 2..=6, ANY, bits(0.0, "about 0 (Fig. 10)")),
    ("associative_recall", &[NtmFeedforward], 7..=12, ANY, said("nearly perfect (4.3)")),
    ("associative_recall", &[NtmFeedforward], 13..=15, ANY, said("below 1 (4.3)")),
    ("associative_recall", &[Lstm], 2..=6, ANY, said("not 0 after 1,000,000 sequences (Fig. 10)")),
    ("ngrams", &[NtmLstm], 200..=200, ANY, bits(133.5, "133.5 (Fig. 13)")),
    ("ngrams", &[NtmFeedforward], 200..=200, ANY, bits(134.0, "134 (Fig. 13)")),
    ("ngrams", &[Lstm], 200..=200, ANY, bits(136.0, "136, three layers of 128 (Fig. 13)")),
    ("priority_sort", &[NtmLstm], 20..=20, ANY, bits(18.0, "18 (Fig. 18)")),
    ("priority_sort", &[NtmFeedforward], 20..=20, ANY, bits(20.0, "20 (Fig. 18)")),
    ("priority_sort", &[Lstm], 20..=20, ANY, bits(58.0, "58, three layers of 128 (Fig. 18)")),
];

/// Returns the result of the paper for such a machine on this task, whose size is that of the measurement; `None` if it
/// reports none, or if the task is not the paper's.
pub fn figure(config: &ModelConfig, task: &Task) -> Option<Reported> {
    let is_another = |ntm: &NtmConfig| {
        let stays = |head| ntm.shift_form.of(head) == ShiftForm::None;
        ntm.attention != AttentionConfig::DEFAULT || (0..ntm.heads()).any(stays)
    };
    if !task.is_of_the_paper() || config.ntm().is_some_and(is_another) {
        return None;
    }
    let is_lstm = |kind: ControllerKind| kind == ControllerKind::Lstm;
    let kind = match (config.ntm(), config) {
        (Some(ntm), _) if is_lstm(ntm.controller.kind) => NtmLstm,
        (Some(_), _) => NtmFeedforward,
        (None, ModelConfig::Equations(config))
            if config.is_controller() && config.width(Place::Layer(0), CELL) > 0 =>
        {
            Lstm
        }
        _ => return None,
    };
    let covers = |known: &RangeInclusive<usize>, range: &RangeInclusive<usize>| {
        known.contains(range.start()) && known.contains(range.end())
    };
    let repeats = task.repeats().unwrap_or(1..=1);
    let fits = |(name, kinds, sizes, counts, _): &&Figure| {
        *name == task.name()
            && kinds.contains(&kind)
            && covers(sizes, &task.size())
            && covers(counts, &repeats)
    };
    FIGURES.iter().find(fits).map(|(.., reported)| *reported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Experiment;

    #[test]
    fn figures_follow_the_kind_of_machine_and_the_size() {
        let figure_of = |name: &str, overrides: &[&str], size: usize| {
            let overrides: Vec<_> = overrides.iter().map(|text| text.parse().unwrap()).collect();
            let experiment = Experiment::find(name, &overrides).unwrap();
            let reported = figure(&experiment.model, &experiment.task.with_size(size));
            reported.map(|reported| reported.words)
        };
        let feedforward = "model.controller.kind=feedforward";
        assert_eq!(figure_of("copy", &[], 20), Some("about 0 (Fig. 3)"));
        assert_eq!(figure_of("copy", &[], 500), None);
        let overrides = ["model.heads.read=0", "model.heads.write=0"];
        let baseline =
            Experiment::find("copy", &overrides.map(|text| text.parse().unwrap())).unwrap();
        let at_30 = figure(&baseline.model, &baseline.task.with_size(30));
        assert_eq!(at_30, Some(said("fails (Fig. 5)")));
        assert_eq!(figure_of("copy", &["task.bits=4"], 20), None);
        assert_eq!(
            figure_of("associative_recall", &[feedforward], 15),
            Some("below 1 (4.3)")
        );
        assert_eq!(figure_of("associative_recall", &[], 15), None);
        assert_eq!(figure_of("ngrams", &[], 200), Some("133.5 (Fig. 13)"));
        assert_eq!(figure_of("ngrams", &["task.context=3"], 200), None);
        assert_eq!(figure_of("priority_sort", &[], 20), Some("18 (Fig. 18)"));
        let repeat = |length, repeats| {
            let experiment = Experiment::find("repeat_copy", &[]).unwrap();
            let task = experiment.task.with_size(length).with_repeats(repeats);
            figure(&experiment.model, &task).map(|reported| reported.words)
        };
        assert_eq!(repeat(20, 5), Some("almost perfect (Fig. 8)"));
        assert!(repeat(5, 20).unwrap().starts_with("copies on"));
        assert_eq!(repeat(20, 20), None);
    }

    #[test]
    fn every_figure_has_an_existing_task() {
        for (name, ..) in FIGURES {
            let experiment = Experiment::find(name, &[]).unwrap();
            assert!(experiment.task.is_of_the_paper(), "{name}");
        }
    }
}
