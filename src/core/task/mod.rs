//! Episode generators: the experiments of the paper, tasks with a known alignment, and files. They know nothing of the
//! machine that will run their episodes.
//!
//! Episode `i` of a run is a function of (seed, i) alone: a run resumes exactly, a batch can be spread
//! over threads, and anyone can recreate an episode from two numbers.
//!
//! | task | size | answer | chance, bits |
//! |---|---|---|---|
//! | [`Copy`] | length | the sequence | length · bits |
//! | [`RepeatCopy`] | length | the sequence, several times, and an end marker | length · repeats · bits |
//! | [`AssociativeRecall`] | items | the item after the one that is queried | item length · bits |
//! | [`Ngrams`] | length | every bit, before it is seen | length |
//! | [`PrioritySort`] | items | the vectors of highest priority, in its order | sorted · bits |
//! | [`Transduce`] | length | each symbol by its word in a dictionary | answer · log2(symbols + 1) |
//! | [`Caption`] | items | the glyphs of a picture | answer · log2(symbols + 1) |
//! | [`Frames`] | length | the symbols that numbers over time stand for | answer · log2(symbols + 1) |
//! | [`Aspects`] | length | the marked symbols | the best constant guess |
//! | [`Span`] | length | first and last step of an answer in a document | 2 · log2(positions) |
//! | [`Reuse`] | items | every item of a group, before the next group comes | items · bits |
//! | [`Graph`] | items | the nodes along a path | path · log2(nodes) |
//! | [`Episodes`] | length | what the file says | its scored bits |
//! | [`Pairs`] | length | the other text of its line | answer · log2(symbols + 2) |
//! | [`Text`] | length | the next token, in every step | steps · log2(symbols + 2) |

mod aspects;
mod associative_recall;
mod caption;
mod contents;
mod copy;
mod edit;
mod episode;
mod episodes;
mod external;
mod fault;
mod frames;
mod generate;
mod graph;
mod links;
mod manual;
mod ngrams;
mod pairs;
mod priority_sort;
mod repeat_copy;
mod reuse;
mod span;
mod split;
mod summary;
mod text;
mod tokens;
mod transduce;

pub use aspects::Aspects;
pub use associative_recall::AssociativeRecall;
pub use caption::Caption;
pub use copy::Copy;
pub use episode::{Episode, Phase};
pub use episodes::{Episodes, Recorded};
pub use external::External;
pub use fault::Fault;
pub use frames::Frames;
pub use generate::{Alphabet, Generate, MAX_ITEMS, MAX_LENGTH, MAX_REPEATS, Measure};
pub use graph::Graph;
pub use links::{Link, Links};
pub use manual::{Edge, Manual};
pub use ngrams::{Ngrams, Prediction};
pub use pairs::{Pair, PairForm, Pairs, TARGET_NOT_KNOWN, TargetTokens};
pub use priority_sort::PrioritySort;
pub use repeat_copy::{Count, RepeatCopy};
pub use reuse::Reuse;
pub use span::{AskedFor, Span};
pub use split::{DataSummary, HeldOut, VocabularySummary};
pub use text::Text;
pub use tokens::Tokens;
pub use transduce::{Order, Transduce};

use std::ops::{Deref, DerefMut, RangeInclusive};

use crate::keys::{Choice, ConfigError, Field, Keys, Table, Words, check};
use crate::math::{Answer, random};

/// Makes the enum of tasks from a row for each: its name in presets and traces, its first parameters, its title, what its
/// size counts, a sentence, and one that introduces an episode.
macro_rules! tasks {
    ($($word:literal: $task:ident::$first:ident, $title:literal, $unit:literal, $sentence:literal, $introduction:literal;)*) => {
        /// A task and its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Task {
            $(#[doc = $sentence] $task($task),)*
            /// A task recorded by another program.
            External(External),
        }

        impl Words for Task {
            const WORDS: &'static [(&'static str, Self)] =
                &[$(($word, Self::$task($task::$first))),*];
        }

        impl Deref for Task {
            type Target = dyn Generate;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$task(task) => task,)*
                    Self::External(task) => task,
                }
            }
        }

        impl DerefMut for Task {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Self::$task(task) => task,)*
                    Self::External(task) => task,
                }
            }
        }

        impl Task {
            /// The name that people use: `Repeat copy`.
            pub fn title(&self) -> &str {
                match self {
                    $(Self::$task(_) => $title,)*
                    Self::External(task) => &task.name,
                }
            }

            /// The name of what the size counts: `vector`, `item`, ….
            pub fn unit(&self) -> &'static str {
                match self {
                    $(Self::$task(_) => $unit,)*
                    Self::External(_) => "step",
                }
            }

            /// One sentence on what the machine does.
            pub fn sentence(&self) -> &'static str {
                match self {
                    $(Self::$task(_) => $sentence,)*
                    Self::External(_) => "A task from an episode file.",
                }
            }

            /// Introduces an episode: its input, then what the machine does. `None` if the task is known only from its
            /// episodes.
            pub fn introduction(&self, episode: &Episode) -> Option<String> {
                let text = match self {
                    $(Self::$task(_) => $introduction,)*
                    Self::External(_) => "",
                };
                let text = text.replace("{size}", &episode.size.to_string());
                let text = text.replace("{repeats}", &episode.repeats.to_string());
                (!text.is_empty()).then_some(text)
            }
        }
    };
}

tasks! {
    "copy": Copy::EXAMPLE, "Copy", "vector",
        "Sees a sequence of vectors, then outputs it again.",
        "Input: {size} vectors, one per step. Then the machine outputs them from memory";
    "repeat_copy": RepeatCopy::EXAMPLE, "Repeat copy", "vector",
        "Outputs a sequence the requested number of times, then an end marker.",
        "Input: {size} vectors. Then the machine outputs them {repeats} times";
    "associative_recall": AssociativeRecall::PAPER, "Associative recall", "item",
        "Sees items, is shown one again and outputs the next.",
        "Input: {size} items. Then one is shown again; the machine outputs the next";
    "ngrams": Ngrams::PAPER, "Dynamic N-grams", "bit",
        "Predicts each next bit of a random stream from its context.",
        "Input: one bit per step. The machine predicts each from the bits before";
    "priority_sort": PrioritySort::PAPER, "Priority sort", "vector",
        "Outputs vectors in order of their priority.",
        "Input: vectors with priorities. Then the machine outputs the highest, in order";
    "transduce": Transduce::DEFAULT, "Transduce", "symbol",
        "Translates symbols by a fixed dictionary.",
        "Input: {size} symbols. Then the machine outputs their translation";
    "caption": Caption::DEFAULT, "Caption", "glyph",
        "Names the glyphs of a picture in reading order.",
        "Input: a picture, patch by patch. Then the machine names its {size} glyphs";
    "frames": Frames::DEFAULT, "Frames", "symbol",
        "Names symbols that last for several noisy steps each.",
        "Input: {size} symbols, several frames each. Then the machine names them";
    "aspects": Aspects::DEFAULT, "Aspects", "symbol",
        "Names all marked symbols of a sequence at once.",
        "Input: {size} symbols, some marked. Then the machine names the marked ones";
    "span": Span::DEFAULT, "Span", "symbol",
        "Finds where the answer to a question is in a document.",
        "Input: {size} symbols and a question. Then the machine says where its answer is";
    "reuse": Reuse::DEFAULT, "Reuse", "item",
        "Outputs each group of items before the next one comes.",
        "Input: {size} items in groups. The machine outputs each group before the next";
    "graph": Graph::DEFAULT, "Graph", "edge",
        "Walks along a path in a graph that it was shown.",
        "Input: {size} edges, then a path. Then the machine names its nodes";
    "episodes": Episodes::NONE, "Episode file", "step",
        "A task from an episode file.",
        "";
    "pairs": Pairs::NONE, "Pairs", "symbol",
        "Translates the lines of a text file.",
        "Input: {size} symbols. Then the machine outputs their translation";
    "text": Text::NONE, "Text", "symbol",
        "Predicts the next symbol in the lines of a text file.",
        "Input: one symbol per step. The machine predicts each from those before";
}

impl Words for Answer {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("bits", Self::Bits),
        ("symbols", Self::Symbols),
        ("values", Self::VALUES),
    ];
}

impl Keys for Task {
    fn keys(&mut self, to: &mut Table<'_>) {
        to.required("kind", Field::Choice(self), "the task to learn");
        (**self).keys(to);
    }
}

impl Task {
    /// The name that presets and traces use.
    pub fn name(&self) -> &str {
        match self {
            Self::External(task) => &task.name,
            _ => self.word(),
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// The field, its value and what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check(&mut self.clone())
    }

    /// The name of an input channel: `bit 0`, …, or `delimiter`, `count`, `priority`, ….
    pub fn input_name(&self, channel: usize) -> String {
        self.channel_name(0, channel)
    }

    /// The name of an output channel: `bit 0`, …, or `end marker`.
    pub fn output_name(&self, channel: usize) -> String {
        self.channel_name(1, channel)
    }

    /// Returns the name of the size: `length` or `items`, or `steps` if the task is known only from its recordings.
    pub fn size_name(&self) -> &'static str {
        match self {
            Self::External(_) => "steps",
            _ => self.measure().name(),
        }
    }

    /// Returns the range from which the size of an episode is sampled uniformly.
    pub fn size(&self) -> RangeInclusive<usize> {
        self.clone().size_mut().clone()
    }

    /// Returns the task with every episode of exactly this size, or of the nearest possible one.
    #[must_use]
    pub fn with_size(mut self, size: usize) -> Self {
        self.set_size(size);
        self
    }

    /// Returns the range from which the number of repeats is sampled; `None` without repeats.
    pub fn repeats(&self) -> Option<RangeInclusive<usize>> {
        match self {
            Self::RepeatCopy(task) => Some(task.repeats.clone()),
            _ => None,
        }
    }

    /// Returns the task with exactly `repeats` repeats; no change where the task has none.
    #[must_use]
    pub fn with_repeats(mut self, repeats: usize) -> Self {
        if let Self::RepeatCopy(task) = &mut self {
            task.repeats = repeats..=repeats;
        }
        self
    }

    /// Returns the source steps that an answer in one step comes from, in order; empty where there is none such.
    pub fn marked(&self, episode: &Episode) -> Vec<usize> {
        match self {
            Self::Aspects(task) => task.marked(episode),
            _ => Vec::new(),
        }
    }

    /// Episode `index` of the run with this seed: always the same for the same two numbers. Of a file, one of those that
    /// are held out.
    pub fn episode(&self, seed: u64, index: u64) -> Episode {
        match self {
            Self::Episodes(task) => task.numbered(self.number(seed, index)),
            Self::Pairs(task) => task.numbered(self.number(seed, index)),
            Self::Text(task) => task.numbered(self.number(seed, index)),
            _ => self.training_episode(seed, index),
        }
    }

    /// Returns a training episode: as [`Task::episode`], but from a file one that is not held out.
    pub fn training_episode(&self, seed: u64, index: u64) -> Episode {
        self.sample(&mut random(seed, index))
    }

    /// Returns the number of different episodes of [`Task::episode`]; `None` if they are generated without end.
    pub fn held_out(&self) -> Option<usize> {
        self.split().map(|(_, held_out, _)| held_out)
    }

    /// Returns `episodes`, or the number of different episodes if there are fewer: for evaluation.
    pub fn at_most(&self, episodes: usize) -> usize {
        let there = self.held_out().filter(|there| *there > 0);
        there.map_or(episodes, |there| there.min(episodes))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    /// The picture in the docs of a task: input [T, X], target [T, Y] and mask [T].
    ///
    /// Sections (`input`, `target`, `mask`) begin in column 0, cells in column 12, every other column is one;
    /// `.` is 0, and other letters stand for `values`.
    pub(super) fn picture(
        source: &str,
        values: &[(char, f32)],
    ) -> (Array2<f32>, Array2<f32>, Vec<f32>) {
        let value = |cell: char| match cell {
            '.' => 0.0,
            '0' | '1' => f32::from(u8::from(cell == '1')),
            letter => values.iter().find(|(known, _)| *known == letter).unwrap().1,
        };
        let lines = source.lines().filter_map(|line| line.strip_prefix("//! "));
        let text = lines
            .skip_while(|line| *line != "```text")
            .skip(1)
            .take_while(|line| *line != "```");
        let mut rows: Vec<(String, Vec<f32>)> = Vec::new();
        for line in text {
            let section = line[..7.min(line.len())].trim();
            let section = match rows.last() {
                Some((last, _)) if section.is_empty() => last.clone(),
                None if section.is_empty() => continue,
                _ => section.to_owned(),
            };
            let cells = line.chars().skip(12).step_by(2);
            rows.push((
                section,
                cells.take_while(|c| *c != ' ').map(value).collect(),
            ));
        }
        let of = |name: &str| -> Vec<&Vec<f32>> {
            let rows = rows.iter().filter(|(section, _)| section == name);
            rows.map(|(_, cells)| cells).collect()
        };
        let matrix = |rows: Vec<&Vec<f32>>| {
            Array2::from_shape_fn((rows[0].len(), rows.len()), |(t, channel)| rows[channel][t])
        };
        (
            matrix(of("input")),
            matrix(of("target")),
            of("mask")[0].clone(),
        )
    }

    #[test]
    fn an_episode_is_a_function_of_seed_and_index() {
        for task in every_task() {
            assert_eq!(task.episode(7, 3), task.episode(7, 3));
            assert_ne!(task.episode(7, 3), task.episode(7, 4));
            assert_ne!(task.episode(7, 3), task.episode(8, 3));
        }
    }

    /// Returns every task with the parameters of the paper.
    fn every_task() -> [Task; 5] {
        [
            Task::Copy(Copy {
                bits: 8,
                length: 1..=20,
            }),
            Task::RepeatCopy(RepeatCopy {
                bits: 6,
                length: 1..=10,
                repeats: 1..=10,
                count: Count::Scalar,
            }),
            Task::AssociativeRecall(AssociativeRecall::PAPER),
            Task::Ngrams(Ngrams::PAPER),
            Task::PrioritySort(PrioritySort::PAPER),
        ]
    }

    /// Parameters of the paper's LSTM baselines (table 3): three layers of `size` cells that all see the
    /// input and are all seen by the output, with learned initial states.
    fn baseline(size: usize, task: &Task) -> usize {
        let (x, y) = (task.inputs(), task.outputs());
        let layers = 4 * size * (3 * x + 5 * size + 3);
        layers + (3 * size + 1) * y + 6 * size
    }

    #[test]
    fn channels_are_those_of_the_paper() {
        let [copy, repeat, recall, ngrams, sort] = every_task();
        assert_eq!(baseline(512, &repeat), 5_312_007);
        assert_eq!(baseline(256, &recall), 1_344_518);
        assert_eq!(baseline(128, &ngrams), 331_905);
        // Printed as 384,424, which no numbers of channels give.
        assert_eq!(baseline(128, &sort), 348_424);
        // Its text has one delimiter; its count, 1,352,969, has one input and one output more.
        assert_eq!((copy.inputs(), copy.outputs()), (9, 8));
    }

    #[test]
    fn channels_have_names() {
        let [_, repeat, recall, ngrams, sort] = every_task();
        let inputs = |task: &Task| (0..task.inputs()).map(|c| task.input_name(c)).collect();
        let names: Vec<String> = inputs(&recall);
        assert_eq!(names[5..], ["bit 5", "item delimiter", "query delimiter"]);
        let names: Vec<String> = inputs(&sort);
        assert_eq!(names[7..], ["bit 7", "delimiter", "priority"]);
        assert_eq!(ngrams.input_name(0), "bit 0");
        assert_eq!(repeat.input_name(7), "count");
        assert_eq!(repeat.output_name(6), "end marker");
        assert_eq!(repeat.output_name(7), "channel 7");
    }

    #[test]
    fn no_episode_is_longer_than_the_longest() {
        for task in every_task() {
            let mut longest = 0;
            for index in 0..1000 {
                let episode = task.episode(1, index);
                assert!(task.size().contains(&episode.size));
                let mut next = 0;
                for phase in &episode.phases {
                    assert_eq!(phase.start, next);
                    assert!(phase.end > next && Phase::NAMES.contains(&&*phase.name));
                    next = phase.end;
                }
                assert_eq!(next, episode.steps());
                assert_eq!(episode.input.dim(), (next, task.inputs()));
                assert_eq!(episode.target.dim(), (next, task.outputs()));
                for (row, mask) in episode.target.rows().into_iter().zip(&episode.mask) {
                    assert!(*mask == 1.0 || row.sum() == 0.0);
                }
                longest = longest.max(next);
            }
            assert_eq!(task.longest(), longest);
        }
    }

    /// Section 2 of the paper's facts: 84, 181.5, 18, 200 and 128 bits per sequence.
    #[test]
    fn chance_levels_of_the_paper() {
        let chances = every_task().map(|task| {
            let chances = (0..5000).map(|index| task.chance(&task.episode(1, index)));
            chances.sum::<f64>() / 5000.0
        });
        // Standard deviations of the means: 0.7 and 2.0.
        assert!((chances[0] - 84.0).abs() < 3.0, "{chances:?}");
        assert!((chances[1] - 181.5).abs() < 8.0, "{chances:?}");
        assert_eq!(chances[2..], [18.0, 200.0, 128.0]);
    }

    #[test]
    fn sizes_can_be_set_and_have_a_minimum() {
        for task in every_task() {
            let task = task.with_repeats(3).with_size(7);
            assert_eq!((task.size(), task.episode(1, 0).size), (7..=7, 7));
            assert_eq!(task.episode(1, 0).steps(), task.longest());
            let task = task.with_size(0);
            assert_eq!(task.size(), task.least_size()..=task.least_size());
            assert_eq!(task.episode(1, 0).steps(), task.longest());
        }
    }

    #[test]
    fn lengths_repeats_and_bits_are_uniform() {
        let task = Task::RepeatCopy(RepeatCopy {
            bits: 8,
            length: 1..=10,
            repeats: 1..=10,
            count: Count::Scalar,
        });
        let (mut lengths, mut repeats, mut ones, mut all) = ([0; 11], [0; 11], 0.0, 0.0);
        for index in 0..5000 {
            let episode = task.episode(1, index);
            lengths[episode.size] += 1;
            repeats[episode.repeats] += 1;
            let shown = episode.input.slice(ndarray::s![..episode.size, ..8]);
            ones += shown.sum();
            all += shown.len() as f32;
        }
        // 500 expected per value, standard deviation 21.
        assert!(
            lengths[1..]
                .iter()
                .chain(&repeats[1..])
                .all(|&n| (400..600).contains(&n))
        );
        assert!((ones / all - 0.5).abs() < 0.01);
    }
}
