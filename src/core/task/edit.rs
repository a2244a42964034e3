//! Another episode of a task: the same but for one bit or symbol that is shown, with the answer that follows from it.

use super::{Episode, Task};

impl Task {
    /// True if a change by hand chooses the symbol of a step: the input is one of several, not some bits.
    pub fn chooses_symbols(&self) -> bool {
        self.bits() == 0 && self.editable() > 0
    }

    /// The episode with one bit of its input the other way round, or with this symbol in a step, and everything that
    /// follows from it; `None` where the input is not a bit or a symbol that the task draws.
    pub fn flipped(&self, episode: &Episode, step: usize, channel: usize) -> Option<Episode> {
        if step >= episode.steps() || channel >= self.editable() {
            return None;
        }
        let (mut shown, row) = self.shown(episode, step)?;
        if self.chooses_symbols() {
            *shown.symbols.get_mut(row)? = Some(channel);
        } else {
            let bit = shown.bits.get_mut([row, channel])?;
            *bit = 1.0 - *bit;
        }
        self.episode_showing(&shown)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::task::{
        Aspects, AssociativeRecall, Caption, Copy, Count, Frames, HeldOut, Ngrams, Pair, Pairs,
        PrioritySort, RepeatCopy, Span, Text, Tokens, Transduce,
    };

    #[test]
    fn a_bit_changes_and_the_answer_with_it() {
        let tasks = [
            Task::Copy(Copy {
                bits: 3,
                length: 4..=4,
            }),
            Task::RepeatCopy(RepeatCopy {
                bits: 3,
                length: 4..=4,
                repeats: 2..=2,
                count: Count::Scalar,
            }),
            Task::RepeatCopy(RepeatCopy {
                bits: 3,
                length: 4..=4,
                repeats: 2..=2,
                count: Count::Unary,
            }),
            Task::PrioritySort(PrioritySort {
                bits: 3,
                items: 4..=4,
                sorted: 4,
            }),
            Task::Ngrams(Ngrams {
                context: 2,
                length: 9..=9,
            }),
            Task::AssociativeRecall(AssociativeRecall {
                bits: 3,
                item_length: 2,
                items: 3..=3,
                ..AssociativeRecall::PAPER
            }),
        ];
        for task in tasks {
            let episode = task.episode(1, 0);
            let once = task.flipped(&episode, 1, 0).unwrap();
            assert_ne!(once.input[[1, 0]], episode.input[[1, 0]], "{}", task.name());
            assert_eq!(
                (once.steps(), once.size, once.repeats),
                (episode.steps(), episode.size, episode.repeats)
            );
            // Twice is not at all.
            assert_eq!(
                task.flipped(&once, 1, 0).unwrap(),
                episode,
                "{}",
                task.name()
            );
            // Flags and steps of the answer are not bits.
            assert!(task.flipped(&episode, 1, task.inputs()).is_none());
            assert!(task.flipped(&episode, 99, 0).is_none());
        }
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let episode = task.episode(1, 0);
        let once = task.flipped(&episode, 2, 1).unwrap();
        assert_eq!(once.target[[7, 1]], once.input[[2, 1]]);
        assert!(task.flipped(&episode, 4, 0).is_none());
    }

    #[test]
    fn a_symbol_is_chosen_and_the_answer_follows_from_the_dictionary() {
        let transduce = Transduce {
            fertility: 3,
            ..Transduce::DEFAULT
        };
        let task = Task::Transduce(transduce.clone());
        let episode = transduce.episode_of(&[3, 1, 4]);
        let other = task.flipped(&episode, 1, 7).unwrap();
        assert_eq!(other, transduce.episode_of(&[3, 7, 4]));
        assert_eq!(other.input.row(1).sum(), 1.0);
        // The delimiter stays, in its step and among the symbols.
        assert_eq!((task.editable(), task.inputs()), (16, 17));
        for (step, channel) in [(3, 0), (4, 0), (0, 16)] {
            assert!(task.flipped(&episode, step, channel).is_none());
        }
        for task in [
            Task::Caption(Caption::DEFAULT),
            Task::Frames(Frames::DEFAULT),
        ] {
            assert_eq!(task.editable(), 0, "{}", task.name());
        }
    }

    #[test]
    fn a_changed_marked_symbol_is_named_unless_two_are_the_same() {
        let aspects = Aspects::DEFAULT;
        let task = Task::Aspects(aspects.clone());
        let episode = aspects.episode_of(&[3, 1, 4, 1], &[0, 1]).unwrap();
        let other = task.flipped(&episode, 0, 7).unwrap();
        assert_eq!(
            Some(&other),
            aspects.episode_of(&[7, 1, 4, 1], &[0, 1]).as_ref()
        );
        let unmarked = task.flipped(&episode, 3, 5).unwrap();
        assert_eq!(unmarked.target, episode.target);
        for (step, channel) in [(0, 1), (0, 8), (4, 0)] {
            assert_eq!(task.flipped(&episode, step, channel), None);
        }
    }

    #[test]
    fn a_changed_document_has_another_answer_or_none() {
        let span = Span {
            question: 1,
            ..Span::DEFAULT
        };
        let task = Task::Span(span.clone());
        let episode = span.episode_of(&[2, 3, 16, 1, 5, 16], &[1]).unwrap();
        let longer = task.flipped(&episode, 2, 1);
        assert_eq!(longer, None, "the question would occur twice");
        let other = task.flipped(&episode, 0, 1).map(|_| ());
        assert_eq!(other, None);
        let moved = task.flipped(&episode, 1, 16).unwrap();
        assert_eq!(moved.target, episode.target);
        assert_eq!(moved.input[[1, 16]], 1.0);
        assert_eq!(task.flipped(&episode, 4, 16), None, "no answer is left");
        assert_eq!(task.flipped(&episode, 6, 0), None, "the document has ended");
    }

    #[test]
    fn a_changed_token_is_the_target_of_the_step_before() {
        let text = Text {
            symbols: "a b".to_owned(),
            ..Text::NONE
        };
        let task = Task::Text(text.clone());
        let episode = text.episode_of("a a").unwrap();
        for (step, symbol, line) in [(1, 1, "b a"), (2, 1, "a b"), (2, 2, "a c")] {
            let other = task.flipped(&episode, step, symbol).unwrap();
            assert_eq!(Ok(other), text.episode_of(line));
        }
        for (step, symbol) in [(0, 1), (3, 1), (1, 3)] {
            assert_eq!(task.flipped(&episode, step, symbol), None);
        }
    }

    #[test]
    fn a_changed_pair_has_the_target_of_its_line_or_none() {
        let line = |line: &str| Pair::parse(line, Tokens::Words).unwrap();
        let lines = ["b a\tB A", "a a\tA", "c\tC", "a b\tA B"].map(line);
        let pairs = Pairs {
            held_out: HeldOut::Last(1),
            ..Pairs::NONE
        };
        let pairs = pairs.with(std::sync::Arc::new(lines.to_vec())).unwrap();
        let task = Task::Pairs(pairs.clone());
        let (episode, [a, b]) = (task.episode(0, 0), [0, 1]);
        assert_eq!(episode, pairs.episode_of(&lines[3]));
        assert!(!pairs.lacks_target(&episode));
        // `a a` is a line of the file; `a <unknown>` is not.
        let known = task.flipped(&episode, 1, a).unwrap();
        assert_eq!(known, pairs.episode_of(&lines[1]));
        let unknown = task.flipped(&known, 1, 3).unwrap();
        assert!(pairs.lacks_target(&unknown));
        assert_eq!(unknown.scored_steps(), 3);
        assert_eq!(task.flipped(&unknown, 1, b).unwrap(), episode);
        assert!(task.flipped(&episode, 2, a).is_none());
    }

    #[test]
    fn a_repeated_item_keeps_the_query() {
        let task = AssociativeRecall {
            bits: 2,
            item_length: 1,
            items: 5..=5,
            ..AssociativeRecall::PAPER
        };
        // The second and the fourth item are the same; a bit of the first one, which is neither asked for nor
        // the answer, is the other way round.
        let items = ndarray::array![[0., 0.], [1., 0.], [0., 1.], [1., 0.], [1., 1.]];
        let flip = |items: &Array2<f32>, query, step| {
            let episode = task.episode_of(items, query);
            let task = Task::AssociativeRecall(task.clone());
            let other = task.flipped(&episode, step, 0).unwrap();
            let of = |episode: &Episode, step: usize| episode.input.row(step).to_vec();
            let asked = of(&other, 12)[..2].to_vec();
            assert_ne!(of(&other, step), of(&episode, step));
            (asked, other.target.row(other.steps() - 1).to_vec())
        };
        for (query, answer) in [(1, [0., 1.]), (3, [1., 1.])] {
            assert_eq!(flip(&items, query, 1), (vec![1., 0.], answer.to_vec()));
        }
        // Where the answers are the same too, what is asked for is the one that the change leaves alone.
        let items = ndarray::array![[1., 0.], [0., 1.], [1., 0.], [0., 1.], [1., 1.]];
        for (query, step) in [(0, 1), (0, 3), (2, 5), (2, 7)] {
            assert_eq!(flip(&items, query, step), (vec![1., 0.], vec![0., 1.]));
        }
    }
}
