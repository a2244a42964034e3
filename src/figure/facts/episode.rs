//! Facts of a recording that window and figures share: the scales of its values, the memory within a step, the
//! positions of the heads, and the wrong bits.

use std::ops::Range;

use crate::figure::facts::numbers::{self, round_up};
use crate::figure::facts::over_time::{Colours, OverTime};
use crate::figure::facts::rows::touches;
use crate::figure::facts::stages::Stages;
use crate::figure::{HeadName, Picture, Scale, entropy};
use crate::math::Series;
use crate::model::attention::Score;
use crate::model::weighting::bayesian::PRIOR;
use crate::model::{HeadTrace, Trace, peak};
use crate::train::Recording;

/// The scales of signed values, fixed for an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    /// Inputs beyond the range of bits, such as the normalised count of repeat copy.
    pub input: Option<Scale>,
    /// Targets and outputs that are real values.
    pub answer: Option<Scale>,
    /// Their errors.
    pub error: Option<Scale>,
    /// Memory and reads.
    pub memory: Scale,
    /// Keys and adds.
    pub vector: Scale,
    /// The cells of the controller.
    pub state: Scale,
    /// Scale of every head's scores: −1 to 1 for a cosine, for others that of most values; and the largest value.
    pub scores: Vec<(Scale, f32)>,
    /// Scale of every head's prior, before it has a key.
    pub priors: Vec<Scale>,
}

impl Scales {
    /// The scale of a picture of channels, where it is not that of bits.
    pub fn of_channels(&self, picture: Picture) -> Option<Scale> {
        match picture {
            Picture::Input => self.input,
            Picture::Target | Picture::Output | Picture::Feedback => self.answer,
            Picture::Error => self.error,
            _ => None,
        }
    }

    /// The scale of the values of a vector of the episode, with those of bits and of weightings.
    pub(crate) fn of_vector(
        &self,
        vector: &OverTime,
        trace: &Trace,
        [bits, weights]: [Scale; 2],
        of: Option<usize>,
    ) -> Option<Scale> {
        Some(match vector.colours {
            Colours::Channels => self.of_channels(vector.picture).unwrap_or(bits),
            Colours::Bits => bits,
            Colours::Vector => self.vector,
            Colours::Memory => self.memory,
            Colours::Weighting => weights.of_head(HeadName::of(trace, of?)),
            Colours::Ages => Scale::ages(trace),
            Colours::Cells => self.state,
            Colours::WithinOne => Scale::Signed(1.0),
            Colours::Overlap => weights,
        })
    }

    /// A pass over everything recorded.
    pub fn of(recording: &Recording) -> Self {
        let trace = &recording.trace;
        let heads = trace.heads.iter();
        let vectors = heads.flat_map(|head| head.key.as_slice().iter().chain(head.add.as_slice()));
        let layers = trace.layers.iter();
        let scores = trace.heads.iter().map(|head| match head.mechanism.score {
            Score::Cosine => (Scale::Signed(1.0), 1.0),
            _ => most_of(head.similarity.as_slice()),
        });
        let priors = trace.heads.iter().map(|head| {
            let prior = head.series(PRIOR).map_or(&[][..], Series::as_slice).iter();
            let finite = prior.copied().filter(|m| m.is_finite());
            Scale::UpTo(numbers::round_up(finite.fold(0.0, f32::max)))
        });
        let mut inputs = trace.input.as_slice().iter();
        let beyond = inputs.any(|value| value.is_finite() && !(0.0..=1.0).contains(value));
        let answer = answer_scales(&[recording]);
        Self {
            answer: answer.map(|[values, _]| values),
            error: answer.map(|[_, errors]| errors),
            input: beyond.then(|| Scale::signed(trace.input.as_slice().iter())),
            scores: scores.collect(),
            priors: priors.collect(),
            memory: Scale::signed(trace.memory_columns.as_slice().iter()),
            vector: Scale::signed(vectors),
            state: Scale::signed(layers.flat_map(|layer| layer.cell.as_slice())),
        }
    }
}

/// The scale of targets and outputs in scored steps, and that of their errors, if they are real values.
pub fn answer_scales(recordings: &[&Recording]) -> Option<[Scale; 2]> {
    let pairs = recordings.iter().flat_map(|recording| {
        let Recording { trace, episode, .. } = recording;
        let scored = (0..trace.steps()).filter(|step| episode.is_scored(*step));
        scored.flat_map(|step| trace.output.row(step).iter().zip(episode.target.row(step)))
    });
    let errors = pairs.clone().map(|(y, target)| (y - target).abs());
    let most = errors.filter(|error| error.is_finite()).fold(0.0, f32::max);
    let scales = [
        Scale::signed(pairs.flat_map(|(y, target)| [y, target])),
        Scale::UpTo(round_up(most)),
    ];
    let are_real = |recording: &&Recording| recording.episode.answer.is_real();
    recordings.iter().any(are_real).then_some(scales)
}

/// Returns the scale of most values, and the largest value: a few large ones do not make hairlines of all bars.
fn most_of(values: &[f32]) -> (Scale, f32) {
    let sizes = values.iter().map(|value| value.abs());
    let mut sizes: Vec<_> = sizes.filter(|size| size.is_finite()).collect();
    sizes.sort_by(f32::total_cmp);
    let largest = sizes.last().copied().unwrap_or(0.0);
    let most = sizes.get(sizes.len() * 9 / 10).copied().unwrap_or(0.0);
    let is_far = largest > 3.0 * most && most > 0.0;
    let end = if is_far { most } else { largest };
    (Scale::Signed(round_up(end)), round_up(largest))
}

/// The most informative head: a write head before the answer phase, a read head from then on.
///
/// Among several it is the one that is on rows that nothing was written to in the fewest steps, and then the one that
/// attends to the fewest rows. It changes once in an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SalientHead {
    asked: usize,
    heads: [Option<usize>; 2],
}

impl SalientHead {
    /// Finds the salient heads of an episode. With several candidates it passes over their weightings.
    pub fn of(recording: &Recording) -> Self {
        let trace = &recording.trace;
        let steps = trace.steps();
        let asked = recording.episode.first_scored();
        let asked = asked.map_or(steps, |step| step.min(steps));
        let written = FirstWriteSteps::of(trace);
        let least = |write: bool, steps: Range<usize>| {
            let heads = 0..trace.heads.len();
            let heads = heads.filter(|&head| trace.heads[head].is_write() == write);
            let spread = |head: usize| {
                let weighting = &trace.heads[head].weighting;
                let spreads = steps.clone().map(|step| entropy(weighting.row(step)));
                spreads.sum::<f32>()
            };
            let strays = |head: usize| {
                let weighting = &trace.heads[head].weighting;
                let on_row = |step: &usize| peak(weighting.row(*step)).map(|(row, _)| (row, *step));
                let on_rows = steps.clone().filter_map(|step| on_row(&step));
                on_rows
                    .filter(|(row, step)| !write && written.lacks(*row, *step))
                    .count()
            };
            let by_strays = |a: usize, b: usize| strays(a).cmp(&strays(b));
            heads.min_by(|&a, &b| by_strays(a, b).then(spread(a).total_cmp(&spread(b))))
        };
        let either = |write: bool, steps: Range<usize>| {
            least(write, steps.clone()).or_else(|| least(!write, steps))
        };
        Self {
            asked,
            heads: [either(true, 0..asked), either(false, asked..steps)],
        }
    }

    /// Returns the salient head of a step; `None` for a machine without heads.
    pub fn at(self, step: usize) -> Option<usize> {
        self.heads[usize::from(step >= self.asked)]
    }
}

/// The output bits on the wrong side of one half in these steps, each `width` wide: step and channel. Where several
/// steps share a pixel one stands for them, so that a long episode costs no more.
pub fn wrong_bits(recording: &Recording, steps: Range<usize>, width: f32) -> Vec<(usize, usize)> {
    let channels = recording.trace.output.width();
    let mut marked = vec![f32::NEG_INFINITY; channels];
    let is_known = !recording.lacks_target();
    let asked = steps.filter(|&t| is_known && recording.episode.is_scored(t));
    let mut wrong = Vec::new();
    for (t, channel) in asked.flat_map(|t| (0..channels).map(move |channel| (t, channel))) {
        let end = (t + 1) as f32 * width;
        if recording.is_wrong(t, channel) && end - marked[channel] >= 1.0 {
            marked[channel] = end;
            wrong.push((t, channel));
        }
    }
    wrong
}

/// Opacity of the veil over rows that mean little.
pub const FAINT: f32 = 0.7;

/// The steps in which a head first wrote to each memory row with 5 % of its weight or more; empty where no head writes.
///
/// Until a write head touches a row it holds almost only its initial values, and a match with it means little.
#[derive(Clone, Debug)]
pub struct FirstWriteSteps(Vec<usize>);

impl FirstWriteSteps {
    /// A pass over the weightings of the write heads.
    pub fn of(trace: &Trace) -> Self {
        let writes = trace.heads.iter().any(HeadTrace::is_write);
        let rows = if writes { trace.memory_size()[0] } else { 0 };
        let mut first = vec![usize::MAX; rows];
        for head in trace.heads.iter().filter(|head| head.is_write()) {
            for t in 0..trace.steps() {
                for (first, &weight) in first.iter_mut().zip(head.weighting.row(t)) {
                    if touches(weight) {
                        *first = t.min(*first);
                    }
                }
            }
        }
        Self(first)
    }

    /// True for a row that no head has written before this step.
    pub fn lacks(&self, row: usize, step: usize) -> bool {
        self.0.get(row).is_some_and(|first| *first >= step)
    }

    /// True where no head writes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The memory at a moment of a step: as the heads find it, after all erases, or after all adds.
#[derive(Clone, Copy, Debug)]
pub struct MemoryAt<'a> {
    trace: &'a Trace,
    step: usize,
    rows: usize,
    /// The recorded values, before or after the step.
    values: &'a [f32],
    erased: bool,
    added: bool,
    /// Where the rows come from, if no head writes.
    unwritten: Option<&'static str>,
}

impl<'a> MemoryAt<'a> {
    /// The memory after the stage at `place` of a step.
    pub fn new(trace: &'a Trace, stages: &Stages, step: usize, place: usize) -> Self {
        use crate::figure::Stage::{Add, Erase};
        let is_read_only = !trace.heads.iter().any(HeadTrace::is_write);
        let is_all = trace.memory_size()[0] == trace.steps();
        let rows = if is_all {
            "a row for each step"
        } else {
            "states of the source"
        };
        let added = is_read_only || stages.reached(place, Add, None);
        Self {
            trace,
            step,
            rows: trace.memory_size()[0],
            values: trace.memory_columns.row(step + usize::from(added)),
            erased: stages.reached(place, Erase, None),
            added,
            unwritten: is_read_only.then_some(rows),
        }
    }

    /// The value in a row and a column.
    pub fn value(&self, row: usize, column: usize) -> f32 {
        let value = self.values[column * self.rows + row];
        if self.added || !self.erased {
            return value;
        }
        let kept = self.trace.heads.iter().filter_map(|head| {
            let erase = head.erase.row(self.step).get(column)?;
            Some(1.0 - head.weighting.row(self.step)[row] * erase)
        });
        value * kept.product::<f32>()
    }

    /// Numbers in a row.
    pub fn columns(&self) -> usize {
        self.trace.memory_size()[1]
    }

    /// Distinguishes it from the other memories of the same episode.
    pub fn version(&self) -> usize {
        2 * self.row() + usize::from(self.erased && !self.added)
    }

    /// Returns the name of the memory: `M of step 3`.
    pub fn name(&self) -> String {
        let step = self.step;
        match step.checked_sub(1) {
            _ if self.added => format!("M of step {step}"),
            _ if self.erased => format!("M of step {step}, erased"),
            Some(before) => format!("M of step {before}"),
            None => "initial M".to_owned(),
        }
    }

    /// The row of the recorded memories that it is, or in the middle of a write was.
    pub fn row(&self) -> usize {
        self.step + usize::from(self.added)
    }

    /// Returns the time at which the machine has this memory.
    pub fn words(&self) -> &'static str {
        self.unwritten.unwrap_or(match (self.added, self.erased) {
            (true, _) => "after writing",
            (false, true) => "after erasing",
            (false, false) => "before writing",
        })
    }
}

/// A head at a row of the memory.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadMark {
    /// The head.
    pub name: HeadName,
    /// The heaviest row.
    pub row: usize,
    /// The weight there.
    pub weight: f32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Colours, Figure, Layout, Options, Pages};
    use crate::model::{Model, NtmConfig};
    use crate::task::{Count, RepeatCopy, Task};

    fn repeating(repeats: usize) -> Recording {
        let task = Task::RepeatCopy(RepeatCopy {
            bits: 3,
            length: 2..=2,
            repeats: repeats..=repeats,
            count: Count::Scalar,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.controller.size) = (8, 4, 4);
        Recording::new(&Model::new(config, 1), &task, 1, 0)
    }

    #[test]
    fn a_few_large_scores_leave_room_for_the_others() {
        let mut recording = repeating(3);
        let head = &mut recording.trace.heads[0];
        head.mechanism.score = Score::Dot;
        head.similarity.as_mut_slice().fill(40.0);
        head.similarity.as_mut_slice()[0] = 4700.0;
        let scales = Scales::of(&recording);
        let (low, high) = scales.scores[0].0.ends();
        assert!(-low == high && (40.0..100.0).contains(&high), "{high}");
        recording.trace.heads[0].similarity.as_mut_slice()[0] = 50.0;
        let scales = Scales::of(&recording);
        assert!(scales.scores[0].0.ends().1 >= 50.0);
    }

    #[test]
    fn repeat_counts_are_within_the_scale_of_the_inputs() {
        let colours = Colours::for_theme(false);
        for repeats in [1, 9, 10] {
            let recording = repeating(repeats);
            let scale = Scales::of(&recording).input.unwrap();
            let (low, high) = scale.ends();
            let values = recording.trace.input.as_slice();
            assert!(
                values.iter().all(|value| (low..=high).contains(value)),
                "{low} to {high}"
            );
            let count = RepeatCopy::normalised_count(repeats);
            assert!(values.contains(&count));
            let others = [0.0, 1.0].map(|bit| colours.of(scale, bit));
            assert!(!others.contains(&colours.of(scale, count)), "{repeats}");
            // The legend of the inputs, and of nothing else.
            let options = Options::new(Layout::Pictures(vec![crate::figure::Picture::Input]));
            let svg = Figure::new(&recording, options).draw().to_svg();
            let end = format!("{high:.1}");
            assert!(
                svg.contains(&format!(">{end}<")) && svg.contains(&format!(">−{end}<")),
                "{svg}"
            );
        }
        let copy = crate::figure::fixture::recording();
        assert_eq!(Scales::of(&copy).input, None);
    }
}
