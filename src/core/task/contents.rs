//! The file of a task, and how its episodes are split.

use std::sync::PoisonError;

use super::split::hash;
use super::{DataSummary, Episode, HeldOut, Pair, Task};

impl Task {
    /// The file with the episodes of this task and the SHA-256 of its contents; `None` for other tasks.
    pub fn file(&self) -> Option<[&str; 2]> {
        match self {
            Self::Episodes(task) => Some([&task.file, &task.sha256]),
            Self::Pairs(task) => Some([&task.file, &task.sha256]),
            Self::Text(task) => Some([&task.file, &task.sha256]),
            _ => None,
        }
    }

    /// [`Task::file`], to write.
    pub fn file_mut(&mut self) -> Option<[&mut String; 2]> {
        match self {
            Self::Episodes(task) => Some([&mut task.file, &mut task.sha256]),
            Self::Pairs(task) => Some([&mut task.file, &mut task.sha256]),
            Self::Text(task) => Some([&mut task.file, &mut task.sha256]),
            _ => None,
        }
    }

    /// The file with the held-out episodes; empty where the rule of the task chooses them.
    pub fn test_file(&self) -> &str {
        match self {
            Self::Episodes(task) => &task.test_file,
            Self::Pairs(task) => &task.test_file,
            Self::Text(task) => &task.test_file,
            _ => "",
        }
    }

    /// [`Task::test_file`], to write; `None` without one.
    pub fn test_file_mut(&mut self) -> Option<&mut String> {
        let named = match self {
            Self::Episodes(task) => &mut task.test_file,
            Self::Pairs(task) => &mut task.test_file,
            Self::Text(task) => &mut task.test_file,
            _ => return None,
        };
        (!named.is_empty()).then_some(named)
    }

    /// Holds out the last episodes of its file.
    pub fn hold_out_last(&mut self, count: usize) {
        let rule = HeldOut::Last(count);
        match self {
            Self::Episodes(task) => task.held_out = rule,
            Self::Pairs(task) => task.held_out = rule,
            Self::Text(task) => task.held_out = rule,
            _ => {}
        }
    }

    /// The numbers of training and held-out episodes in its file, and the rule; `None` for other tasks.
    pub fn split(&self) -> Option<(usize, usize, HeldOut)> {
        let ((learned, held_out), rule) = match self {
            Self::Episodes(task) => (task.counts(), task.held_out),
            Self::Pairs(task) => (task.lines.counts(&task.length), task.held_out),
            Self::Text(task) => (task.lines.counts(&task.length), task.held_out),
            _ => return None,
        };
        Some((learned, held_out, rule))
    }

    /// False for a task whose file was not read: its lengths are unknown.
    pub fn is_loaded(&self) -> bool {
        self.split().is_none_or(|(learned, ..)| learned > 0)
    }

    /// False for a task whose numbers of channels depend on a file that was not read.
    pub fn has_channels(&self) -> bool {
        match self {
            Self::Episodes(task) => task.has_channels == [true; 2],
            Self::Pairs(task) => task.symbols.iter().all(|symbols| !symbols.is_empty()),
            Self::Text(task) => !task.symbols.is_empty(),
            _ => true,
        }
    }

    /// The number in its file, from 0, of the episode that [`Task::episode`] returns.
    pub fn number(&self, seed: u64, index: u64) -> Option<usize> {
        match self {
            Self::Episodes(task) => task.number(seed, index),
            Self::Pairs(task) => task.lines.number(&task.length, seed, index),
            Self::Text(task) => task.lines.number(&task.length, seed, index),
            _ => None,
        }
    }

    /// The steps of an input of tokens whose token is not in the vocabulary.
    pub fn unknown_steps(&self, episode: &Episode) -> Vec<usize> {
        let of_tokens = matches!(self, Self::Pairs(_) | Self::Text(_));
        let Some(all) = self.alphabet().filter(|_| of_tokens) else {
            return Vec::new();
        };
        let is_unknown = |step: &usize| episode.input.get([*step, all.values - 1]) == Some(&1.0);
        (0..episode.steps()).filter(is_unknown).collect()
    }

    /// The summary of the file of this task, computed once; `None` for other tasks, and without the file.
    pub fn summary(&self) -> Option<DataSummary> {
        let last = match self {
            Self::Episodes(task) => task.recorded.last_summary(),
            Self::Pairs(task) => task.lines.last_summary(),
            Self::Text(task) => task.lines.last_summary(),
            _ => None,
        };
        let mut last = last?.lock().unwrap_or_else(PoisonError::into_inner);
        let length = self.size();
        if last.as_ref().is_none_or(|(of, _)| *of != length) {
            *last = Some((length, self.summarised()?));
        }
        last.as_ref().map(|(_, summary)| summary.clone())
    }

    fn summarised(&self) -> Option<DataSummary> {
        let (training, held_out, rule) = self.split().filter(|(learned, ..)| *learned > 0)?;
        let (repeated, vocabularies) = match self {
            Self::Episodes(task) => (task.repeated(), Vec::new()),
            Self::Pairs(task) => {
                let (lines, length) = (&task.lines, &task.length);
                let side = |index: usize, side| {
                    let vocabulary = (side, task.tokens(index), &*task.symbols[index]);
                    lines.vocabulary(length, vocabulary, |all, number| all[number].text(index))
                };
                let texts = |all: &Vec<Pair>, number: usize| {
                    let text = |side| task.tokens(side).of(all[number].text(side));
                    hash([0, 1].map(|side| text(side).collect::<Vec<_>>()))
                };
                let sides = vec![side(0, "source"), side(1, "target")];
                (lines.repeated(length, texts), sides)
            }
            Self::Text(task) => {
                let (lines, length) = (&task.lines, &task.length);
                let vocabulary = ("line", task.tokens, &*task.symbols);
                let line = lines.vocabulary(length, vocabulary, |all, number| &all[number]);
                (
                    lines.repeated(length, |all, number| {
                        hash(task.tokens.of(&all[number]).collect::<Vec<_>>())
                    }),
                    vec![line],
                )
            }
            _ => return None,
        };
        Some(DataSummary {
            training,
            held_out,
            rule,
            repeated,
            vocabularies,
        })
    }
}
