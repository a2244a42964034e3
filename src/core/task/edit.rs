//! Another episode of a task: the same but for one bit that is shown, with the answer that follows from it.

use ndarray::{Array2, s};

use super::{AssociativeRecall, Episode, Task};

impl Task {
    /// The episode with one bit of its input the other way round, and everything that follows from it;
    /// `None` where the input is not a bit that the task draws.
    pub fn flipped(&self, episode: &Episode, step: usize, channel: usize) -> Option<Episode> {
        if step >= episode.steps() || channel >= self.bits() {
            return None;
        }
        let size = episode.size;
        let shown = |bits: usize| {
            let mut shown = episode.input.slice(s![..size, ..bits]).to_owned();
            flip(shown.get_mut([step, channel])?);
            Some(shown)
        };
        match self {
            Self::Copy(task) => Some(task.episode_of(&shown(task.bits)?)),
            Self::RepeatCopy(task) => Some(task.episode_of(&shown(task.bits)?, episode.repeats)),
            Self::PrioritySort(task) => {
                let priorities = episode.input.slice(s![..size, task.bits + 1]).to_vec();
                Some(task.episode_of(&shown(task.bits)?, &priorities))
            }
            Self::Ngrams(task) => {
                // Every bit is seen in the step after the one that predicts it.
                let mut bits: Vec<bool> =
                    episode.target.column(0).iter().map(|b| *b > 0.5).collect();
                let bit = bits.get_mut(step.checked_sub(1)?)?;
                *bit = !*bit;
                Some(task.episode_of(&bits))
            }
            Self::AssociativeRecall(task) => recalled(task, episode, step, channel),
            Self::Transduce(_)
            | Self::Caption(_)
            | Self::Frames(_)
            | Self::Episodes(_)
            | Self::Pairs(_)
            | Self::External(_) => None,
        }
    }
}

fn flip(bit: &mut f32) {
    *bit = 1.0 - *bit;
}

fn recalled(
    task: &AssociativeRecall,
    episode: &Episode,
    step: usize,
    channel: usize,
) -> Option<Episode> {
    let (length, items) = (task.item_length, episode.size);
    let rows = (0..items * length).map(|row| row / length * (length + 1) + 1 + row % length);
    let rows: Vec<usize> = rows.collect();
    let changed = rows.iter().position(|row| *row == step)?;
    let mut bits = Array2::zeros((rows.len(), task.bits));
    for (mut to, &row) in bits.rows_mut().into_iter().zip(&rows) {
        to.assign(&episode.input.slice(s![row, ..task.bits]));
    }
    let asked = items * (length + 1) + 2;
    let asked = episode.input.slice(s![asked..asked + length, ..task.bits]);
    let answer = episode.steps() - length;
    let answer = episode.target.slice(s![answer.., ..task.bits]);
    let item = |index: usize| bits.slice(s![index * length..(index + 1) * length, ..]);
    // Items may be equal: the answer tells which of them is asked for; where it does not, the change is
    // elsewhere.
    let is_asked = |index: &usize| item(*index) == asked && item(index + 1) == answer;
    let is_changed = |index: &usize| (*index..index + 2).contains(&(changed / length));
    let query = (0..items - 1).filter(is_asked).min_by_key(is_changed)?;
    flip(&mut bits[[changed, channel]]);
    Some(task.episode_of(&bits, query))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Copy, Ngrams, PrioritySort, RepeatCopy};

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
    fn a_repeated_item_keeps_the_query() {
        let task = AssociativeRecall {
            bits: 2,
            item_length: 1,
            items: 5..=5,
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
