//! Two episodes on one clock: the one on screen and the one it is compared with.

use std::path::PathBuf;
use std::sync::Arc;

use ndarray::s;

use super::{Open, OpenedFile, ViewState};
use crate::figure::facts::column::Column;
use crate::figure::facts::family::weighting_at;
use crate::figure::facts::stages::{StageRef, computing_stage};
use crate::figure::facts::thresholds::ON_ROW;
use crate::figure::page::compare::{Common, Comparison as Figure, Named};
use crate::figure::{Options, head_label, head_named, peak};
use crate::io::trace::{self, Comparison, Side};
use crate::model::{HeadTrace, Trace};
use crate::player::Player;
use crate::train::Recording;

/// The other episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// The episode.
    pub open: Open,
    /// True when it is A, and the one on screen B.
    pub is_a: bool,
}

/// The state of the comparison.
#[derive(Debug, Default)]
pub struct Comparing {
    /// The episode that the one on screen is compared with.
    pub baseline: Option<Baseline>,
    /// The result.
    pub found: Option<CompareResult>,
    /// The last request.
    asked: Option<Key>,
    /// The file to compare the first episode with, once one is open.
    pub waiting: Option<(PathBuf, OpenedFile)>,
    /// True until the layout of a comparison has been shown automatically.
    pub is_new: bool,
}

impl Comparing {
    /// Creates the state without a comparison.
    pub fn new(waiting: Option<(PathBuf, OpenedFile)>) -> Self {
        Self {
            waiting,
            ..Self::default()
        }
    }

    /// Takes an episode to compare with.
    pub fn keep(&mut self, open: Open, is_a: bool) {
        self.baseline = Some(Baseline { open, is_a });
        self.is_new = true;
    }

    /// Restores the comparison of an undo state.
    pub fn take_back(&mut self, baseline: Option<Baseline>) {
        self.is_new |= self.baseline.is_none() && baseline.is_some();
        self.baseline = baseline;
    }

    /// Ends the comparison.
    pub fn end(&mut self) {
        (self.baseline, self.found, self.asked) = (None, None, None);
    }

    /// Returns the pair to compare now, unless it is known or in progress.
    pub fn due(&mut self, screen: &Open, view: &ViewState) -> Option<Sides> {
        let pair = self.current(screen, view)?;
        if pair.found.is_some() {
            return None;
        }
        let sides = pair.sides();
        (self.asked.replace(sides.key) != Some(sides.key)).then_some(sides)
    }

    /// Both, while there are two. Until they are compared, the last pair with the same baseline and as many steps.
    pub fn pair<'a>(&'a self, screen: &'a Open, view: &ViewState) -> Option<Pair<'a>> {
        let now = self.current(screen, view)?;
        let baseline = self.baseline.as_ref()?;
        let Some(found) = self.found.as_ref().filter(|_| now.found.is_none()) else {
            return Some(now);
        };
        let [a, b] = &*found.sides.open;
        let (pinned, other) = if baseline.is_a { (a, b) } else { (b, a) };
        let steps = [screen, other].map(|open| open.shown.recording.trace.steps());
        if found.result.is_err() || !pinned.is_same(&baseline.open) || steps[0] != steps[1] {
            return Some(now);
        }
        Some(Pair {
            a,
            b,
            screen: other,
            found: Some(&found.result),
            is_old: true,
            ..now
        })
    }

    /// Both, with their result if it is known.
    fn current<'a>(&'a self, screen: &'a Open, view: &ViewState) -> Option<Pair<'a>> {
        let Baseline { open, is_a } = self.baseline.as_ref()?;
        if open.is_same(screen) {
            return None;
        }
        let [a, b] = if *is_a {
            [open, screen]
        } else {
            [screen, open]
        };
        let pair = Pair {
            a,
            b,
            screen,
            tolerance: view.tolerance,
            difference: view.difference,
            is_old: false,
            found: None,
        };
        let found = self.found.as_ref();
        let found = found.filter(|found| found.sides.key == pair.key());
        Some(Pair {
            found: found.map(|found| &found.result),
            ..pair
        })
    }
}

/// The pair and the options of its comparison.
type Key = (u64, u64, u64);

/// Two episodes to be compared.
#[derive(Clone, Debug)]
pub struct Sides {
    key: Key,
    open: Box<[Open; 2]>,
}

/// The result.
#[derive(Clone, Debug)]
pub struct CompareResult {
    sides: Sides,
    result: Result<Arc<Differences>, Vec<String>>,
}

/// The differences of two episodes.
#[derive(Debug)]
pub struct Differences {
    /// Value by value.
    pub values: Comparison,
    /// The largest difference of every step.
    pub steps: Vec<f32>,
    /// The shared scales of their pictures.
    pub common: Common,
    /// The first step in which a head of both is on another row.
    pub heads_diverge: Option<usize>,
    /// Numbers of wrong bits of B alone, and of A alone, where the same answer is right.
    pub wrong: Option<[usize; 2]>,
}

/// The numbers of bits that are wrong in B alone, and in A alone, if the targets are the same.
fn wrong_alone(a: &Recording, b: &Recording) -> Option<[usize; 2]> {
    // A free run may go on after the target.
    let steps = a.episode.steps().min(b.episode.steps());
    let channels = a.episode.target.ncols();
    let is_wrong =
        |of: &Recording, step, channel| step < of.trace.steps() && of.is_wrong(step, channel);
    let alone = |one: &Recording, other: &Recording| {
        let all = (0..steps).flat_map(|step| (0..channels).map(move |channel| (step, channel)));
        let wrong = all.filter(|&(step, channel)| is_wrong(one, step, channel));
        wrong
            .filter(|&(step, channel)| !is_wrong(other, step, channel))
            .count()
    };
    let target = |of: &Recording| of.episode.target.slice(s![..steps, ..]).to_owned();
    let is_same = target(a) == target(b) && a.episode.mask[..steps] == b.episode.mask[..steps];
    is_same.then(|| [alone(b, a), alone(a, b)])
}

/// The first step in which a head of both is on another row, or is on one where the other is on many.
fn heads_diverge(a: &Trace, b: &Trace) -> Option<usize> {
    let row = |head: &HeadTrace, step| {
        let on = peak(head.weighting.row(step)).filter(|(_, weight)| *weight >= ON_ROW);
        on.map(|(row, _)| row)
    };
    let names = (0..a.heads.len()).map(|head| head_label(a, head));
    let others: Vec<_> = names.map(|name| head_named(b, &name)).collect();
    (0..a.steps().min(b.steps())).find(|&step| {
        let mut pairs = a.heads.iter().zip(&others);
        pairs.any(|(head, other)| {
            other.is_some_and(|other| row(head, step) != row(&b.heads[other], step))
        })
    })
}

impl Sides {
    /// Walks through both: not for the thread that draws.
    pub fn compare(self) -> CompareResult {
        let shown = self.open.each_ref().map(|open| &open.shown);
        let [a, b] = shown.map(|shown| Side::of(&shown.recording, shown.config.as_ref()));
        let values = trace::compare(a, b, f64::from_bits(self.key.2));
        let result = values.map(|values| {
            Arc::new(Differences {
                steps: values.steps.iter().map(|&most| most as f32).collect(),
                common: Common::of(a.recording, b.recording),
                heads_diverge: heads_diverge(&a.recording.trace, &b.recording.trace),
                wrong: wrong_alone(a.recording, b.recording),
                values,
            })
        });
        CompareResult {
            sides: self,
            result,
        }
    }
}

/// Two episodes on one clock.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Episode A.
    pub a: &'a Open,
    /// The other.
    pub b: &'a Open,
    /// The episode that all other layouts show, and whose steps are counted.
    pub screen: &'a Open,
    /// The difference that counts as none.
    pub tolerance: f64,
    /// True while the difference B − A is shown.
    pub difference: bool,
    /// True of the last pair while the next one is compared.
    pub is_old: bool,
    /// The differences, or the reason why they cannot be compared, once known.
    pub found: Option<&'a Result<Arc<Differences>, Vec<String>>>,
}

impl Pair<'_> {
    /// Distinguishes the two from any others.
    pub fn serial(&self) -> u64 {
        (self.a.serial << 32) | self.b.serial
    }

    fn key(&self) -> Key {
        (self.a.serial, self.b.serial, self.tolerance.to_bits())
    }

    /// Returns the input of a comparison of both.
    pub fn sides(&self) -> Sides {
        Sides {
            key: self.key(),
            open: Box::new([self.a.clone(), self.b.clone()]),
        }
    }

    /// True where B, on screen, was given another input than A, and could be given the same.
    pub fn can_have_same_input(&self) -> bool {
        let [a, b] = [self.a, self.b].map(|open| {
            let of = &open.shown.recording.episode;
            // One of them may have gone on after the target.
            of.input.slice(s![..of.target_end(), ..])
        });
        let is_b = self.b.is_same(self.screen) && self.b.request.is_some();
        is_b && a.ncols() == b.ncols() && a != b
    }

    /// Returns the differences, where known.
    pub fn differences(&self) -> Option<&Arc<Differences>> {
        self.found?.as_ref().ok()
    }

    /// Returns the pictures of both, for the selected head with this weighting.
    pub fn picture(
        &self,
        options: Options,
        focus: usize,
        weighting: &'static Column,
    ) -> Option<ComparedFigure> {
        let trace = &self.screen.shown.recording.trace;
        Some(ComparedFigure {
            stage: options
                .stage
                .map(|place| self.screen.facts.stages.at(place)),
            sides: self.sides(),
            names: [self.a.name(), self.b.name()],
            differences: self.differences()?.clone(),
            options,
            head: head_label(trace, focus),
            weighting,
            steps: trace.steps(),
            tolerance: self.tolerance,
            with_difference: self.difference,
        })
    }
}

/// The pictures of two episodes, to be drawn on screen or into a file.
#[derive(Clone, Debug)]
pub struct ComparedFigure {
    stage: Option<StageRef>,
    sides: Sides,
    names: [String; 2],
    differences: Arc<Differences>,
    options: Options,
    head: String,
    weighting: &'static Column,
    steps: usize,
    tolerance: f64,
    with_difference: bool,
}

impl ComparedFigure {
    /// Ready to be drawn.
    pub fn figure(&self) -> Figure<'_> {
        let (sides, differences) = (&self.sides, &self.differences);
        let named = |index: usize| Named {
            recording: &sides.open[index].shown.recording,
            name: &self.names[index],
        };
        let first = differences.values.first.as_ref();
        let first = first.and_then(|first| first.step);
        let stages = sides.open.each_ref().map(|open| &open.facts.stages);
        let options = self.options.clone();
        let two = [named(0), named(1)];
        let mut figure = Figure::at(two, &differences.common, options, stages, self.stage);
        (figure.head, figure.weighting) = (self.head.clone(), self.weighting);
        figure.steps = 0..self.steps;
        figure.differences = &differences.steps;
        figure.limit = (self.tolerance as f32, first);
        figure.with_difference = self.with_difference;
        figure
    }
}

/// Returns the weighting to show: that of the stage while stages play.
pub fn shown_at(open: &Open, player: &Player, focus: usize) -> &'static Column {
    let at = open.facts.stages.at(player.stage());
    let head = open.shown.recording.trace.heads.get(focus);
    weighting_at((!player.whole_steps()).then_some(at.stage), head)
}

/// The stage of the machine on screen in which an array is computed, by its place, and the head that it is of.
pub fn stage_of(screen: &Open, array: &str) -> (usize, Option<usize>) {
    let trace = &screen.shown.recording.trace;
    let name = array.split_once('.').map(|(name, _)| name);
    let mut heads = 0..trace.heads.len();
    let head = heads.find(|&head| name == Some(trace.head_name(head).as_str()));
    let of = head.map(|head| &trace.heads[head]);
    let stages = &screen.facts.stages;
    let place = stages.place(computing_stage(array, of), of);
    (place.unwrap_or(0), head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::fixture::{config, opened};

    fn open(serial: u64) -> Open {
        Open {
            serial,
            ..opened(config(), 1, serial)
        }
    }

    #[test]
    fn pair_is_compared_once() {
        let (mut comparing, screen) = (Comparing::new(None), open(1));
        let limit = &ViewState::default();
        let large = ViewState {
            tolerance: 0.5,
            ..ViewState::default()
        };
        assert!(comparing.due(&screen, limit).is_none());
        comparing.keep(open(2), false);
        let sides = comparing.due(&screen, limit).unwrap();
        assert!(comparing.due(&screen, limit).is_none(), "it is under way");
        assert!(comparing.due(&screen, &large).is_some());
        // The tolerance was asked for last.
        comparing.due(&screen, limit);
        comparing.found = Some(sides.compare());
        assert!(comparing.due(&screen, limit).is_none(), "it is known");
        let next = open(3);
        assert!(comparing.due(&next, limit).is_some());
        let pair = comparing.pair(&next, limit).unwrap();
        assert!(pair.is_old && pair.found.is_some() && pair.a.serial == 1);
        let other = Open {
            serial: 4,
            ..opened(config(), 2, 4)
        };
        assert!(comparing.pair(&other, limit).unwrap().found.is_none());
        let baseline = comparing.baseline.clone();
        comparing.end();
        comparing.take_back(baseline);
        assert!(comparing.due(&screen, limit).is_some());
    }
}
