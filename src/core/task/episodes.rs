//! Episodes from a file: a task of your own.
//!
//! They are kept one after the other, as their file has them, and numbered from 0.

use std::ops::RangeInclusive;
use std::sync::Arc;

use ndarray::{Array2, ArrayView1, Axis, concatenate, s};

use super::episode::means;
use super::fault::Fault;
use super::generate::{Generate, LENGTHS, MAX_LENGTH};
use super::links::Links;
use super::split::{HeldOut, Loaded, Split, hash};
use super::{Episode, Phase};
use crate::keys::Field::{Choice, Integer, Number, Range, Text};
use crate::keys::{Choice as _, Keys, Rule, Table, Words};
use crate::math::{Answer, Random};

/// Channels of an input or an answer.
const CHANNELS: RangeInclusive<usize> = 1..=1024;

/// Episodes one behind the other, S steps in all; valid once they are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    inputs: Array2<f32>,
    targets: Array2<f32>,
    mask: Vec<f32>,
    /// The mean target of each channel over the scored steps, [Y].
    means: Vec<f64>,
    /// The start of each episode, followed by the number of all steps.
    starts: Vec<usize>,
    names: [Vec<String>; 2],
}

impl Recorded {
    /// Episodes of these `lengths`, [E], one behind the other: `inputs` [S, X], finite; `targets` [S, Y], finite in
    /// the steps that are scored, and not looked at in others; `mask` [S], 1 in the steps that are scored, else 0.
    ///
    /// # Errors
    /// The array, the episode, the step, and what was expected there.
    pub fn new(
        inputs: Array2<f32>,
        mut targets: Array2<f32>,
        mask: Vec<f32>,
        lengths: &[usize],
    ) -> Result<Self, Fault> {
        let starts = starts(lengths)?;
        let steps = starts.last().copied().unwrap_or(0);
        let rows = [
            ("inputs", inputs.nrows()),
            ("targets", targets.nrows()),
            ("mask", mask.len()),
        ];
        if let Some((array, rows)) = rows.into_iter().find(|(_, rows)| *rows != steps) {
            let problem = format!("has {rows} steps; expected {steps}, the sum of `lengths`");
            return Err(Fault::new(array, problem));
        }
        for (array, channels) in [("inputs", inputs.ncols()), ("targets", targets.ncols())] {
            Self::check_channels(array, channels)?;
        }
        check_values(&starts, &inputs, &targets, &mask)?;
        for (mut target, mask) in targets.rows_mut().into_iter().zip(&mask) {
            target.mapv_inplace(|value| if *mask > 0.0 { value } else { 0.0 });
        }
        Ok(Self {
            means: means(&targets, &mask),
            inputs,
            targets,
            mask,
            starts,
            names: [Vec::new(), Vec::new()],
        })
    }

    /// Checks the number of channels of an array.
    ///
    /// # Errors
    /// There are none, or too many.
    pub fn check_channels(array: &'static str, channels: usize) -> Result<(), Fault> {
        if CHANNELS.contains(&channels) {
            return Ok(());
        }
        let (least, most) = (CHANNELS.start(), CHANNELS.end());
        let problem = format!("has {channels} channels; expected {least} to {most}");
        Err(Fault::new(array, problem))
    }

    /// Sets names for the channels of input and answer; without names they are numbered.
    ///
    /// # Errors
    /// There are some, and not one for each channel.
    pub fn named(mut self, inputs: Vec<String>, targets: Vec<String>) -> Result<Self, Fault> {
        let named = [
            ("input_names", inputs.len(), self.inputs.ncols()),
            ("target_names", targets.len(), self.targets.ncols()),
        ];
        let is_wrong = |(_, names, channels): &(_, usize, usize)| *names > 0 && names != channels;
        if let Some((array, names, channels)) = named.into_iter().find(is_wrong) {
            let problem =
                format!("has {names} names; expected {channels}, one for each channel, or none");
            return Err(Fault::new(array, problem));
        }
        self.names = [inputs, targets];
        Ok(self)
    }

    /// Returns these episodes with others behind them.
    ///
    /// # Errors
    /// They have other channels.
    pub fn followed_by(&self, others: &Self) -> Result<Self, Fault> {
        let channels = |own: &Self| [own.inputs.ncols(), own.targets.ncols()];
        let ([inputs, outputs], found) = (channels(self), channels(others));
        if found != [inputs, outputs] {
            let problem = format!(
                "has {} input and {} target channels; expected {inputs} and {outputs}, as in `file`",
                found[0], found[1]
            );
            return Err(Fault::new("test_file", problem));
        }
        let joined = |own: &Array2<f32>, other: &Array2<f32>| {
            concatenate(Axis(0), &[own.view(), other.view()]).unwrap_or_default()
        };
        let steps = self.mask.len();
        let starts = others.starts.iter().skip(1).map(|start| steps + start);
        Ok(Self {
            inputs: joined(&self.inputs, &others.inputs),
            targets: joined(&self.targets, &others.targets),
            mask: [&self.mask[..], &others.mask].concat(),
            // Those of `file`.
            means: self.means.clone(),
            starts: self.starts.iter().copied().chain(starts).collect(),
            names: self.names.clone(),
        })
    }

    /// Returns the number of episodes, E.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The steps of every episode, in order.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        self.starts.windows(2).map(|ends| ends[1] - ends[0])
    }

    /// Inputs [S, X], targets [S, Y] and mask [S] of all steps.
    pub fn arrays(&self) -> (&Array2<f32>, &Array2<f32>, &[f32]) {
        (&self.inputs, &self.targets, &self.mask)
    }

    /// The first scored step whose target has another form, what is wrong with it, and what is expected.
    fn unlike(&self, answer: Answer) -> Option<(usize, String, &'static str)> {
        let is_bit = |value: &f32| *value == 0.0 || *value == 1.0;
        let is_right = |target: &ArrayView1<'_, f32>| match answer {
            Answer::Values(_) => true,
            Answer::Bits => target.iter().all(is_bit),
            Answer::Symbols => target.iter().all(is_bit) && target.sum() == 1.0,
        };
        let mut rows = self.targets.rows().into_iter().zip(&self.mask);
        let row = rows.position(|(target, mask)| *mask > 0.0 && !is_right(&target))?;
        let target = self.targets.row(row);
        let mut all = target.iter().enumerate();
        let problem = match all.find(|(_, value)| !is_bit(value)) {
            Some((channel, value)) => format!("has {value} in channel {channel}"),
            None => format!("has {} ones", target.sum()),
        };
        let expected = match answer {
            Answer::Symbols => "one 1 in every scored step",
            _ => "0 or 1 in every scored step; for real numbers set this key to values",
        };
        Some((row, problem, expected))
    }

    /// The mask of every episode.
    fn masks(&self) -> impl Iterator<Item = &[f32]> {
        let ends = self.starts.windows(2);
        ends.map(|ends| &self.mask[ends[0]..ends[1]])
    }

    /// Episode `number` of the file.
    fn episode(&self, number: usize, answer: Answer) -> Episode {
        let (start, end) = (self.starts[number], self.starts[number + 1]);
        let mask = self.mask[start..end].to_vec();
        let asked = mask.chunk_by(|a, b| a == b);
        let phases = asked.map(|part| {
            let name = if part[0] > 0.0 { "answer" } else { "input" };
            (name, part.len())
        });
        Episode {
            input: self.inputs.slice(s![start..end, ..]).to_owned(),
            target: self.targets.slice(s![start..end, ..]).to_owned(),
            answer,
            phases: Phase::in_a_row(&phases.collect::<Vec<_>>()),
            mask,
            size: end - start,
            repeats: 1,
            alignment: Vec::new(),
            links: Links::default(),
        }
    }
}

/// Returns the start of each episode.
fn starts(lengths: &[usize]) -> Result<Vec<usize>, Fault> {
    if lengths.is_empty() {
        let problem = "is empty; expected the number of steps of every episode";
        return Err(Fault::new("lengths", problem));
    }
    let mut starts = vec![0];
    for (episode, length) in lengths.iter().enumerate() {
        if !LENGTHS.contains(length) {
            let problem =
                format!("episode {episode} is {length}; expected 1 to {MAX_LENGTH} steps");
            return Err(Fault::new("lengths", problem));
        }
        starts.push(starts[episode] + length);
    }
    Ok(starts)
}

/// Describes the place of one of all steps.
fn place(starts: &[usize], row: usize) -> String {
    let episode = starts.partition_point(|start| *start <= row) - 1;
    format!("episode {episode}, step {}", row - starts[episode])
}

/// Every value is one that can be learned from.
fn check_values(
    starts: &[usize],
    inputs: &Array2<f32>,
    targets: &Array2<f32>,
    mask: &[f32],
) -> Result<(), Fault> {
    let place = |row: usize| place(starts, row);
    let is_bit = |value: &f32| *value == 0.0 || *value == 1.0;
    if let Some((row, value)) = mask.iter().enumerate().find(|(_, value)| !is_bit(value)) {
        let problem = "expected 1 where the answer is scored, else 0";
        return Err(Fault::new(
            "mask",
            format!("{} is {value}; {problem}", place(row)),
        ));
    }
    for (episode, ends) in starts.windows(2).enumerate() {
        if mask[ends[0]..ends[1]].iter().all(|value| *value == 0.0) {
            let problem = "is 0 in every step; expected at least one step that is scored";
            return Err(Fault::new("mask", format!("episode {episode} {problem}")));
        }
    }
    let shown = |value: &f32| {
        let infinite = "infinite or more than 32 bits can hold";
        let shown = value.is_infinite().then(|| infinite.to_owned());
        shown.unwrap_or_else(|| value.to_string())
    };
    let check =
        |array, values: &Array2<f32>, is_right: &dyn Fn(usize, &f32) -> bool, expected: &str| {
            let mut all = values.indexed_iter();
            let wrong = all.find(|((row, _), value)| !is_right(*row, value));
            wrong.map_or(Ok(()), |((row, channel), value)| {
                let (place, value) = (place(row), shown(value));
                let problem = format!("{place}, channel {channel} is {value}; expected {expected}");
                Err(Fault::new(array, problem))
            })
        };
    let is_finite = |_, value: &f32| value.is_finite();
    check("inputs", inputs, &is_finite, "a finite number")?;
    let is_target = |row: usize, value: &f32| mask[row] == 0.0 || value.is_finite();
    let expected = "a finite number, because the step is scored";
    check("targets", targets, &is_target, expected)
}

/// A task whose episodes are in a file. Equal if its description is, loaded or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Episodes {
    /// The file, for who reads it; empty for arrays that come from elsewhere.
    pub file: String,
    /// The file with the held-out ones; empty where `held_out` chooses them.
    pub test_file: String,
    /// The SHA-256 that identifies these episodes in files; empty if not given.
    pub sha256: String,
    /// Steps per episode; episodes with other lengths are ignored.
    pub length: RangeInclusive<usize>,
    /// The held-out episodes.
    pub held_out: HeldOut,
    /// Input channels, X.
    pub inputs: usize,
    /// Output channels, Y.
    pub outputs: usize,
    /// The form of the answers.
    pub answer: Answer,
    /// Whether `inputs` and `outputs` are known: from a preset, or from the file.
    pub has_channels: [bool; 2],
    pub(super) recorded: Loaded<Recorded>,
}

impl Episodes {
    /// The defaults of a preset, without episodes.
    pub const NONE: Self = Self {
        file: String::new(),
        test_file: String::new(),
        sha256: String::new(),
        length: LENGTHS,
        held_out: HeldOut::WORDS[0].1,
        inputs: 1,
        outputs: 1,
        answer: Answer::Bits,
        has_channels: [false; 2],
        recorded: Loaded::NONE,
    };

    /// The task of these arrays, as [`Recorded::new`] takes them, with every tenth episode held out.
    ///
    /// # Errors
    /// As for [`Recorded::new`] and [`Episodes::with`].
    pub fn new(
        inputs: Array2<f32>,
        targets: Array2<f32>,
        mask: Vec<f32>,
        lengths: &[usize],
    ) -> Result<Self, Fault> {
        Self::NONE.with(Arc::new(Recorded::new(inputs, targets, mask, lengths)?))
    }

    /// Returns the task with its episodes: the channels are theirs, and the length, where it was not narrowed down.
    ///
    /// # Errors
    /// The task has other channels; the rule leaves none to learn from, or holds none out; or none of either kind has such a length.
    pub fn with(mut self, recorded: Arc<Recorded>) -> Result<Self, Fault> {
        let channels = [
            ("inputs", recorded.inputs.ncols(), &mut self.inputs),
            ("outputs", recorded.targets.ncols(), &mut self.outputs),
        ];
        for ((key, there, own), is_known) in channels.into_iter().zip(&mut self.has_channels) {
            if *is_known && *own != there {
                let problem = format!(
                    "is {own}, but the file has {there} channels; correct this key, or remove it to use those of the file"
                );
                return Err(Fault::new(key, problem));
            }
            (*own, *is_known) = (there, true);
        }
        let lengths = recorded.lengths().collect();
        let split = Split::new(lengths, self.held_out, &mut self.length)?;
        if let Some((row, found, expected)) = recorded.unlike(self.answer) {
            let place = self.place(&recorded, row);
            let word = self.answer.word();
            let problem =
                format!("is {word}, but the target of {place} {found}; expected {expected}");
            return Err(Fault::new("answer", problem));
        }
        self.recorded = Loaded::new(recorded, split);
        Ok(self)
    }

    /// Describes the place of one of all steps; of `test_file` with its own numbers.
    fn place(&self, all: &Recorded, row: usize) -> String {
        let first = match self.held_out {
            HeldOut::Last(count) if !self.test_file.is_empty() => all.count().saturating_sub(count),
            _ => all.count(),
        };
        if row < all.starts[first] {
            return place(&all.starts, row);
        }
        format!("`test_file`, {}", place(&all.starts[first..], row))
    }

    /// The episodes, if they are loaded.
    pub fn recorded(&self) -> Option<&Arc<Recorded>> {
        self.recorded.get().map(|(recorded, _)| recorded)
    }

    /// Returns the numbers of training and held-out episodes with the lengths of this task. 0 if they are not loaded.
    pub fn counts(&self) -> (usize, usize) {
        self.recorded.counts(&self.length)
    }

    /// The number of held-out episodes that equal a training episode.
    pub(super) fn repeated(&self) -> usize {
        self.recorded.repeated(&self.length, |all, number| {
            let steps = all.starts[number]..all.starts[number + 1];
            let bits = |values: &Array2<f32>| -> Vec<u32> {
                let values = values.slice(s![steps.clone(), ..]);
                values.iter().map(|value| value.to_bits()).collect()
            };
            let mask: Vec<u32> = all.mask[steps.clone()]
                .iter()
                .map(|m| m.to_bits())
                .collect();
            hash((bits(&all.inputs), bits(&all.targets), mask))
        })
    }

    /// Returns the number in the file of the episode that [`super::Task::episode`] returns.
    pub fn number(&self, seed: u64, index: u64) -> Option<usize> {
        self.recorded.number(&self.length, seed, index)
    }

    /// Episode `number` of the file; silence without one.
    pub(super) fn numbered(&self, number: Option<usize>) -> Episode {
        let episode = self.recorded().zip(number);
        let silence = || self.silent(1);
        episode.map_or_else(silence, |(recorded, number)| {
            recorded.episode(number, self.answer)
        })
    }
}

impl Keys for Episodes {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.required("file", Text(&mut self.file), "npz file with the episodes, relative to the folder of the preset");
        to.depends("sha256", Text(&mut self.sha256), "that of the file", "SHA-256 of the episodes; if given, other episodes are refused");
        to.depends("length", Range(&mut self.length, LENGTHS), "all lengths in the file", "steps per episode; episodes of other lengths are ignored");
        to.added("test_file", Text(&mut self.test_file), "file with the held-out episodes, such as that of a benchmark; they count as the last of `file`, whatever `held_out` says");
        self.held_out.keys(to);
        to.key("answer", Choice(&mut self.answer), "form of the answer: `bits`, each channel 0 or 1 by itself; `symbols`, one channel of every scored step is 1; `values`, each channel a real number, with the mean squared error as loss");
        if let Answer::Values(tolerance) = &mut self.answer {
            to.key("tolerance", Number(tolerance, &Rule::POSITIVE), "with `values`: an answer at most this far from its target counts as right");
        }
        to.depends("inputs", Integer(&mut self.inputs, CHANNELS), "taken from the file", "number of input channels");
        to.depends("outputs", Integer(&mut self.outputs, CHANNELS), "taken from the file", "number of output channels");
    }
}

impl Generate for Episodes {
    fn channel_name(&self, side: usize, channel: usize) -> String {
        let names = self.recorded().map(|recorded| &recorded.names[side]);
        let name = names.and_then(|names| names.get(channel));
        name.map_or_else(|| format!("channel {channel}"), Clone::clone)
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn answer(&self) -> Answer {
        self.answer
    }

    fn answers_last(&self) -> bool {
        let is_last = |mask: &[f32]| mask.is_sorted() && mask[0] == 0.0;
        let recorded = self.recorded();
        recorded.is_none_or(|recorded| recorded.masks().all(is_last))
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.length
    }

    fn longest(&self) -> usize {
        let recorded = self.recorded();
        let there = recorded.and_then(|recorded| recorded.lengths().max());
        there.map_or(*self.length.end(), |most| most.min(*self.length.end()))
    }

    fn longest_source(&self) -> usize {
        let sources = self.recorded().and_then(|recorded| {
            let source = |mask: &[f32]| mask.iter().position(|value| *value > 0.0);
            let all = recorded.masks();
            let some = all.filter(|mask| self.length.contains(&mask.len()));
            some.filter_map(source).max()
        });
        sources.unwrap_or_else(|| self.longest())
    }

    /// The means over `file`; without it those of the episode.
    fn target_means(&self, episode: &Episode) -> Vec<f64> {
        let own = || episode.target_means();
        self.recorded()
            .map_or_else(own, |recorded| recorded.means.clone())
    }

    /// A training episode of these lengths, or of any length without them; a blank one if there is none.
    fn sample(&self, random: &mut Random) -> Episode {
        self.numbered(self.recorded.sample(&self.length, random))
    }
}
