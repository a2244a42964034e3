//! One episode with everything known about it: task and target, the trace of the machine, and the score.

use super::attribution::Quantity;
use super::ending::{self, Ending, says_end};
use super::loss::{Score, score};
use crate::model::{
    Array, Conventions, Draw, EpisodeInput, Intervention, Model, Noise, Place, Trace,
};
use crate::task::{Episode, Task};

/// Marks a value that was not recorded: a NaN with a bit pattern of its own. A result computed from it
/// may be this NaN or another one: check before computing.
pub const ABSENT: f32 = f32::from_bits(0x7fc0_ab5e);

/// True for [`ABSENT`] only, not for a NaN that was recorded.
pub fn is_absent(value: f32) -> bool {
    value.to_bits() == ABSENT.to_bits()
}

/// True when there are values and all are [`ABSENT`]: they were not recorded.
pub fn is_unrecorded(values: &[f32]) -> bool {
    !values.is_empty() && values.iter().copied().all(is_absent)
}

/// A recorded episode: the unit that the viewer plays and the exporter writes.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The task of the episode, with its parameters.
    pub task: Task,
    /// The seed and the index that recreate the episode, and the sample that recreates its noise; `None` when its bits
    /// were given by hand.
    pub origin: Option<Draw>,
    /// Input, target, mask, phases.
    pub episode: Episode,
    /// The arrays that the machine computed.
    pub trace: Trace<f32>,
    /// Loss of every step in bits, zero outside the answer, [T].
    pub loss: Vec<f32>,
    /// The sums over the episode.
    pub score: Score,
    /// The step in which a free run stopped at its end symbol.
    pub stop: Option<usize>,
    /// Names of arrays of the trace format that were not recorded: their values here are [`ABSENT`], and
    /// nothing is known of them, but of those that are `computed`. Empty for an episode of this program.
    pub absent: Vec<String>,
    /// The arrays that were not recorded, but computed from others.
    pub computed: Vec<String>,
    /// The conventions of the machine, if they differ from ours.
    pub conventions: Conventions,
}

impl Recording {
    /// Runs the machine on episode `index` of the run with this seed.
    pub fn new(machine: &Model<f32>, task: &Task, seed: u64, index: u64) -> Self {
        let episode = task.episode(seed, index);
        Self::of(machine, task, episode, Some(Draw::of(seed, index)))
    }

    /// Runs a machine of the same size on the same episode, with the noise that was recorded, or with that of its
    /// origin, and with the same interventions. `None` where the noise is not known.
    pub fn again(&self, machine: &Model<f32>) -> Option<Self> {
        self.run_with(
            machine,
            self.episode.steps(),
            &self.conventions.interventions,
        )
    }

    /// The same episode of this machine, with these interventions in place of those that it had; a free run stops
    /// where it then answers with its end symbol. `None` as for [`Recording::again`].
    pub fn with(&self, machine: &Model<f32>, interventions: &[Intervention]) -> Option<Self> {
        let target = self.episode.clone().with_steps(0);
        let (least, most) = (target.steps(), target.most_steps());
        if !machine.config.has_feedback() || self.origin.is_none() && self.trace.noise().count() > 0
        {
            return self.run_with(machine, self.episode.steps(), interventions);
        }
        let longest = self.run_with(machine, most, interventions)?;
        let end = says_end(&longest.episode, &longest.trace, 0..most);
        let steps = end.map_or(most, |end| least.max(end + 1));
        if steps == most {
            return Some(longest);
        }
        self.run_with(machine, steps, interventions)
    }

    /// The same episode of this machine so far: step `step` with these interventions, and the next one, which it leads to.
    pub fn advanced(
        &self,
        machine: &Model<f32>,
        interventions: Vec<Intervention>,
        step: usize,
    ) -> Self {
        let mut advanced = self.clone();
        machine.advance(&mut advanced.trace, &interventions, step);
        advanced.conventions.interventions = interventions;
        advanced
    }

    /// True where an array has other values than in the episode without some of the interventions, but for the arrays
    /// that these change.
    pub fn has_effects(&self, plain: &Self) -> bool {
        let others = &plain.conventions.interventions;
        let changed = self.conventions.interventions.iter();
        let changed: Vec<_> = changed.filter(|one| !others.contains(one)).collect();
        let is_changed = |place, array| {
            changed
                .iter()
                .any(|one| (one.place, one.array) == (place, array))
        };
        let all = self.trace.everything().zip(plain.trace.everything());
        self.trace.steps() != plain.trace.steps()
            || all
                .filter(|((place, array, _), _)| array.is_in_files() && !is_changed(*place, *array))
                .any(|((.., one), (.., other))| one.as_slice() != other.as_slice())
    }

    /// The same steps of this machine, with a change after every array of every step: see [`Model::run_again`]. `None` as
    /// for [`Recording::again`].
    pub fn with_changes(
        &self,
        machine: &Model<f32>,
        change: impl FnMut(&mut Trace<f32>, Place, Array, usize),
    ) -> Option<Self> {
        let steps = self.episode.steps();
        self.run(machine, steps, |trace| machine.run_again(trace, 0, change))
    }

    fn run_with(
        &self,
        machine: &Model<f32>,
        steps: usize,
        interventions: &[Intervention],
    ) -> Option<Self> {
        let mut again = self.run(machine, steps, |trace| {
            if !interventions.is_empty() {
                machine.run_with(trace, interventions);
            }
        })?;
        again.conventions.interventions = interventions.to_vec();
        Some(again)
    }

    fn run(
        &self,
        machine: &Model<f32>,
        steps: usize,
        change: impl FnOnce(&mut Trace<f32>),
    ) -> Option<Self> {
        let mut noise = self.trace.noise();
        let is_known = noise.all(|(.., series)| !is_unrecorded(series.as_slice()));
        let noise = if is_known && steps == self.episode.steps() {
            Noise::Recorded(&self.trace)
        } else if self.trace.noise().count() == 0 {
            self.origin.unwrap_or_default().into()
        } else {
            self.origin?.into()
        };
        let episode = self.episode.clone().with_steps(steps);
        let input = EpisodeInput {
            source: self.trace.setting.source,
            ..(&episode).into()
        };
        let mut recorder = Recorder::with(machine, &self.task, &episode, self.origin, steps);
        machine.begin(input, noise, &mut recorder.trace);
        recorder.run_to(steps);
        let Recorder { mut trace, .. } = recorder;
        change(&mut trace);
        Some(Self::scored(
            machine,
            &self.task,
            self.origin,
            episode,
            trace,
        ))
    }

    /// An episode that this program has run, with its score.
    fn scored(
        machine: &Model<f32>,
        task: &Task,
        origin: Option<Draw>,
        episode: Episode,
        mut trace: Trace<f32>,
    ) -> Self {
        machine.show(&mut trace);
        let mut loss = vec![0.0; episode.steps()];
        let score = score(&episode, &trace, &mut loss);
        let mut recording = Self {
            task: task.clone(),
            origin,
            stop: Ending::step(&episode, &trace),
            episode,
            trace,
            loss,
            score,
            absent: Vec::new(),
            computed: Vec::new(),
            conventions: Conventions::default(),
        };
        if recording.lacks_target() {
            recording.loss.fill(ABSENT);
            recording.absent.push("loss".to_owned());
        }
        recording
    }

    /// The derivative of the loss, or of one bit, by everything in the episode of this machine, which recorded it: see
    /// [`Model::derivatives`] for what is in the arrays, and what is absent. `None` where there is no such bit.
    pub fn derivatives(&self, machine: &Model<f32>, of: Quantity) -> Option<Trace<f32>> {
        of.derivatives(machine, &self.episode, &self.trace)
    }

    /// True when the values of an array of the trace format were recorded, or computed from recorded ones.
    pub fn knows(&self, array: &str) -> bool {
        self.unknown().all(|unknown| unknown != array)
    }

    /// The arrays of the trace format of which nothing is known: absent, and not computed either.
    pub fn unknown(&self) -> impl Iterator<Item = &String> {
        let absent = self.absent.iter();
        absent.filter(|array| !self.computed.contains(array))
    }

    /// Returns the end of the run; `None` for a machine that is not fed what it answered, or answers that are not known.
    pub fn ending(&self) -> Option<Ending> {
        let known = self.knows("logit").then_some(&self.trace)?;
        Ending::of(&self.episode, known)
    }

    /// True for a step after the end symbol of a free run.
    pub fn is_missing(&self, step: usize) -> bool {
        ending::is_missing(self.stop, step)
    }

    /// True for a pair given by hand whose right answer is not known: nothing of it is right or wrong.
    pub fn lacks_target(&self) -> bool {
        matches!(&self.task, Task::Pairs(task) if self.origin.is_none() && task.lacks_target(&self.episode))
    }

    /// True where an answer is asked for, known, and wrong: see [`crate::math::Answer::is_wrong`]; what follows the end
    /// symbol of a run is wrong.
    pub fn is_wrong(&self, step: usize, channel: usize) -> bool {
        let asked = self.episode.is_scored(step);
        let target = self.episode.target[[step, channel]];
        let known = !is_absent(self.trace.output.row(step)[channel]) && !is_absent(target);
        let z = self.trace.logit.row(step);
        let is_wrong = || ending::is_wrong(&self.episode, z, (step, channel), self.stop);
        asked && known && is_wrong() && !self.lacks_target()
    }

    /// Returns the number of wrong bits of a step, or of wrong symbols.
    pub fn wrong_bits(&self, step: usize) -> usize {
        let channels = 0..self.trace.output.width();
        channels
            .filter(|&channel| self.is_wrong(step, channel))
            .count()
    }

    /// Describes how much of the answer is wrong: `3 of 28 bits wrong`.
    pub fn wrong_of_scored(&self) -> String {
        if self.lacks_target() {
            return "right answer not known".to_owned();
        }
        let (score, unit) = (self.score, self.episode.answer.unit());
        format!("{} of {} {unit} wrong", score.wrong, score.scored)
    }

    /// Runs the machine on an episode that was drawn, or, with an origin of `None`, made by hand.
    pub fn of(machine: &Model<f32>, task: &Task, episode: Episode, origin: Option<Draw>) -> Self {
        Recorder::new(machine, task, episode, origin).into_recording()
    }
}

/// An episode that is recorded step by step, so that other work can run in between.
///
/// A machine that answers after its source and is asked for an end symbol stops at this symbol, or after twice the length of
/// the target, but not before the end of the target.
#[derive(Debug)]
pub struct Recorder<'a> {
    machine: &'a Model<f32>,
    task: &'a Task,
    episode: Episode,
    origin: Option<Draw>,
    trace: Trace<f32>,
    /// Steps that are recorded.
    done: usize,
    /// The most steps.
    most: usize,
    /// True if one of these steps answered with the end symbol.
    is_ended: bool,
}

impl<'a> Recorder<'a> {
    /// Begins a recording in parts, which [`Recording::of`] does at once.
    pub fn new(
        machine: &'a Model<f32>,
        task: &'a Task,
        episode: Episode,
        origin: Option<Draw>,
    ) -> Self {
        let stops = machine.config.has_feedback();
        let episode = episode.with_steps(0);
        let most = if stops {
            episode.most_steps()
        } else {
            episode.steps()
        };
        Self::with(machine, task, &episode, origin, most)
    }

    /// Begins a recording of at most this many steps, and at least those of the episode.
    fn with(
        machine: &'a Model<f32>,
        task: &'a Task,
        episode: &Episode,
        origin: Option<Draw>,
        most: usize,
    ) -> Self {
        let mut trace = Trace::new(&machine.config);
        let longest = episode.clone().with_steps(most);
        machine.begin(&longest, origin.unwrap_or_default(), &mut trace);
        Self {
            machine,
            task,
            episode: episode.clone(),
            origin,
            trace,
            done: 0,
            most,
            is_ended: false,
        }
    }

    /// Returns the number of recorded steps, and of those that there may be.
    pub fn done(&self) -> (usize, usize) {
        (self.done, self.most)
    }

    /// Records the next step; returns false after the last one.
    pub fn step(&mut self) -> bool {
        let may_stop = self.done >= self.episode.steps();
        let is_left = self.done < self.most && !(may_stop && self.is_ended);
        if is_left {
            self.run_to(self.done + 1);
        }
        is_left
    }

    fn run_to(&mut self, step: usize) {
        let steps = self.done..step;
        self.machine.run_steps(&mut self.trace, steps.clone());
        self.is_ended |= says_end(&self.episode, &self.trace, steps).is_some();
        self.done = step;
    }

    /// Records the rest of the episode, and returns it.
    pub fn into_recording(mut self) -> Recording {
        // Even one without steps has a beginning.
        if self.done == 0 || self.done < self.episode.steps() {
            self.run_to(self.episode.steps());
        }
        while self.step() {}
        let (episode, mut trace) = (self.episode.with_steps(self.done), self.trace);
        trace.resize(self.done);
        let config = &self.machine.config;
        let own = Trace::<f32>::of_episode(config, self.done, trace.setting.source);
        let is_shorter = config.is_recorded_apart() && self.done < self.most;
        if is_shorter || own.memory_size()[0] < trace.memory_size()[0] {
            // It stopped before its memory was full: the same episode, with a row for each of its steps.
            let draw = self.origin.unwrap_or_default();
            self.machine.begin(&episode, draw, &mut trace);
            self.machine.run_steps(&mut trace, 0..self.done);
        }
        Recording::scored(self.machine, self.task, self.origin, episode, trace)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::s;

    use super::*;
    use crate::model::{EquationsConfig, ModelConfig, NoiseMode, NtmConfig, peak};
    use crate::task::{Copy, Transduce};

    /// Bits of every number.
    fn bits(recording: &Recording) -> (Vec<u32>, Vec<u32>) {
        let trace = &recording.trace;
        let logit = trace.logit.as_slice().iter().map(|value| value.to_bits());
        let heads = trace.heads.iter();
        let weightings = heads.flat_map(|head| {
            head.weighting
                .as_slice()
                .iter()
                .map(|value| value.to_bits())
        });
        (logit.collect(), weightings.collect())
    }

    fn beginning(of: &Episode, steps: usize) -> Episode {
        Episode {
            input: of.input.slice(s![..steps, ..]).to_owned(),
            target: of.target.slice(s![..steps, ..]).to_owned(),
            mask: of.mask[..steps].to_vec(),
            ..of.clone()
        }
    }

    #[test]
    fn an_episode_that_stops_early_has_a_row_for_each_of_its_steps() {
        let task = Task::Transduce(Transduce::DEFAULT);
        let channels = [task.inputs(), task.outputs()];
        let config = EquationsConfig::included("lstmn_fusion", channels, &[]).unwrap();
        let machine = Model::new(config, 2);
        let longest = |index: u64| task.episode(3, index).most_steps();
        let stopped = (0..40).filter(|index| {
            let recording = Recording::new(&machine, &task, 3, *index);
            let steps = recording.trace.steps();
            assert_eq!(recording.trace.memory_size()[0], steps);
            assert_eq!(recording.episode.steps(), steps);
            let (channel, _) = peak(recording.trace.output.row(steps - 1)).unwrap();
            steps < longest(*index) && recording.episode.end_symbol() == Some(channel)
        });
        assert!(stopped.count() > 0);
    }

    #[test]
    fn recording_in_pieces_equals_recording_at_once() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let mut ntm = NtmConfig::with_every_mechanism();
        (ntm.inputs, ntm.outputs) = (task.inputs(), task.outputs());
        let channels = [task.inputs(), task.outputs()];
        let plain = EquationsConfig::included("plain", channels, &[("units", "9")]).unwrap();
        for config in [ModelConfig::from(ntm), ModelConfig::from(plain)] {
            let machine = Model::new(config, 5);
            let mut drawn = Draw::of(7, 0);
            drawn.sampling = NoiseMode::Sampled;
            for origin in [None, Some(drawn)] {
                let all = task.episode(7, 0);
                for steps in [all.steps(), 1, 0] {
                    let episode = beginning(&all, steps);
                    let whole = Recording::of(&machine, &task, episode.clone(), origin);
                    for pieces in 0..=steps {
                        let mut recorder = Recorder::new(&machine, &task, episode.clone(), origin);
                        for _ in 0..pieces {
                            assert!(recorder.step());
                        }
                        assert_eq!(recorder.done(), (pieces, steps));
                        assert!(pieces < steps || !recorder.step());
                        assert_eq!(bits(&recorder.into_recording()), bits(&whole));
                    }
                }
            }
        }
    }
}
