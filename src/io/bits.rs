//! An episode made by hand: its vectors, `[[0,1,1], …]`, or `{"bits": [[0,1,1], …], "repeats": 3}` with
//! what else its task needs.

use std::path::Path;

use ndarray::Array2;
use serde::Deserialize;
use serde_json::Value;

use super::error::{plain, short};

use super::{Error, file};
use crate::task::{AssociativeRecall, Episode, MAX_ITEMS, MAX_LENGTH, MAX_REPEATS, Task};

/// The largest file of bits that is read, in bytes.
const LIMIT: u64 = 64 << 20;

/// An episode made by hand, complete and valid.
#[derive(Clone, Debug, PartialEq)]
pub struct ByHand {
    /// The task, with episodes of exactly this size.
    pub task: Task,
    /// 0 or 1, [vectors, bits].
    bits: Array2<f32>,
    /// Which item is queried.
    query: usize,
    /// A priority for every vector, or none.
    priorities: Vec<f32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    bits: Vec<Vec<Value>>,
    #[serde(default)]
    repeats: Option<usize>,
    #[serde(default)]
    query: Option<usize>,
    #[serde(default)]
    priorities: Option<Vec<f32>>,
}

/// Reads a file for this task. `repeats`, where given, stand for those of the file.
///
/// # Errors
/// The file, the row and what is allowed.
pub fn read(path: &Path, task: &Task, repeats: Option<usize>) -> Result<ByHand, Error> {
    let source = file::read_text(path, LIMIT)?;
    from_json(&source, &file::label(path), task, repeats)
}

/// [`read`] from memory; `label` stands for the file in messages.
///
/// # Errors
/// As for [`read`].
pub fn from_json(
    source: &str,
    label: &str,
    task: &Task,
    repeats: Option<usize>,
) -> Result<ByHand, Error> {
    let syntax = |error: serde_json::Error| {
        let problem = format!(
            "{}; expected rows of 0 and 1 such as [[0,1],[1,1]], or {{\"bits\": [[0,1],[1,1]], \"repeats\": 2}}",
            plain(&error.to_string())
        );
        Error::content(label, "", problem)
    };
    let mut form = if source.trim_start().starts_with('[') {
        Form {
            bits: serde_json::from_str(source).map_err(syntax)?,
            repeats: None,
            query: None,
            priorities: None,
        }
    } else {
        serde_json::from_str(source).map_err(syntax)?
    };
    form.only(task, label)?;
    form.repeats = repeats.or(form.repeats);
    let bits = matrix(&form.bits, label, task.bits())?;
    let mut by_hand = ByHand {
        task: task.clone(),
        query: 0,
        priorities: Vec::new(),
        bits,
    };
    let mut size = by_hand.bits.nrows();
    match task {
        Task::Copy(_) | Task::Ngrams(_) | Task::Other(_) => {}
        Task::RepeatCopy(_) => {
            let repeats = form.repeats(label)?;
            by_hand.task = by_hand.task.with_repeats(repeats);
        }
        Task::AssociativeRecall(recall) => {
            size = form.items(recall, label)?;
            by_hand.query = form.query(size, label)?;
        }
        Task::PrioritySort(_) => by_hand.priorities = form.priorities(label)?,
    }
    by_hand.task = by_hand.task.with_size(size);
    Ok(by_hand)
}

impl ByHand {
    /// The episode.
    pub fn episode(&self) -> Episode {
        let bits = &self.bits;
        match &self.task {
            Task::Copy(task) => task.episode_of(bits),
            Task::RepeatCopy(task) => task.episode_of(bits, *task.repeats.end()),
            Task::AssociativeRecall(task) => task.episode_of(bits, self.query),
            Task::Ngrams(task) => {
                let bits: Vec<bool> = bits.iter().map(|&bit| bit > 0.5).collect();
                task.episode_of(&bits)
            }
            Task::PrioritySort(task) => task.episode_of(bits, &self.priorities),
            Task::Other(_) => self.task.episode(0, 0),
        }
    }
}

impl Form {
    /// What this task does not have must not be given.
    fn only(&self, task: &Task, label: &str) -> Result<(), Error> {
        let strangers = [
            (
                "repeats",
                self.repeats.is_some() && task.repeats().is_none(),
            ),
            (
                "query",
                self.query.is_some() && !matches!(task, Task::AssociativeRecall(_)),
            ),
            (
                "priorities",
                self.priorities.is_some() && !matches!(task, Task::PrioritySort(_)),
            ),
        ];
        for (key, is_stranger) in strangers {
            if is_stranger {
                let problem = format!("the task `{}` has no {key}", task.name());
                return Err(Error::content(label, "", problem));
            }
        }
        Ok(())
    }

    fn repeats(&self, label: &str) -> Result<usize, Error> {
        match self.repeats {
            Some(repeats) if (1..=MAX_REPEATS).contains(&repeats) => Ok(repeats),
            Some(_) => {
                let problem = format!("is out of range; allowed: 1 to {MAX_REPEATS}");
                Err(Error::content(label, "repeats", problem))
            }
            None => {
                let problem = "`repeats` is missing, which the task `repeat_copy` needs; write {\"bits\": […], \"repeats\": 3}, or add --repeats 3";
                Err(Error::content(label, "", problem))
            }
        }
    }

    /// The number of items that the rows make.
    fn items(&self, task: &AssociativeRecall, label: &str) -> Result<usize, Error> {
        let (rows, each) = (self.bits.len(), task.item_length);
        let items = rows / each;
        if !rows.is_multiple_of(each) || !(2..=MAX_ITEMS).contains(&items) {
            let problem = format!(
                "has {rows} rows; allowed: 2 to {MAX_ITEMS} items of {each} rows each, one after the other"
            );
            return Err(Error::content(label, "bits", problem));
        }
        Ok(items)
    }

    fn query(&self, items: usize, label: &str) -> Result<usize, Error> {
        let last = items - 2;
        match self.query {
            Some(query) if query <= last => Ok(query),
            Some(query) => {
                let problem = format!(
                    "is {query}; allowed: 0 to {last}, an item of the {items} that has another behind it"
                );
                Err(Error::content(label, "query", problem))
            }
            None => {
                let problem = "`query` is missing, which the task `associative_recall` needs: the item to ask for, from 0; write {\"bits\": […], \"query\": 0}";
                Err(Error::content(label, "", problem))
            }
        }
    }

    /// As many as there are rows.
    fn priorities(&mut self, label: &str) -> Result<Vec<f32>, Error> {
        let rows = self.bits.len();
        if rows > MAX_ITEMS {
            let problem = format!("has {rows} rows; allowed: 1 to {MAX_ITEMS}");
            return Err(Error::content(label, "bits", problem));
        }
        let Some(priorities) = self.priorities.take() else {
            let problem = "`priorities` is missing, which the task `priority_sort` needs: one for every row, from -1 to 1; write {\"bits\": […], \"priorities\": [0.5, …]}";
            return Err(Error::content(label, "", problem));
        };
        if priorities.len() != rows {
            let problem = format!(
                "has {} values; expected {rows}, one for every row of `bits`",
                priorities.len()
            );
            return Err(Error::content(label, "priorities", problem));
        }
        for (index, priority) in priorities.iter().enumerate() {
            if !(-1.0..=1.0).contains(priority) {
                let problem = format!("is {priority}; allowed: -1 to 1");
                return Err(Error::content(
                    label,
                    format!("priorities[{index}]"),
                    problem,
                ));
            }
        }
        Ok(priorities)
    }
}

fn matrix(rows: &[Vec<Value>], label: &str, width: usize) -> Result<Array2<f32>, Error> {
    if !(1..=MAX_LENGTH).contains(&rows.len()) {
        let problem = format!("has {} rows; allowed: 1 to {MAX_LENGTH}", rows.len());
        return Err(Error::content(label, "bits", problem));
    }
    let mut matrix = Array2::zeros((rows.len(), width));
    for (index, row) in rows.iter().enumerate() {
        let place = format!("bits[{index}]");
        if row.len() != width {
            let plural = if width == 1 { "" } else { "s" };
            let problem = format!(
                "has {} values; this machine's vectors have {width} bit{plural}",
                row.len()
            );
            return Err(Error::content(label, place, problem));
        }
        for (to, value) in matrix.row_mut(index).iter_mut().zip(row) {
            *to = match value.as_u64() {
                Some(0) => 0.0,
                Some(1) => 1.0,
                _ => {
                    return Err(Error::content(
                        label,
                        place,
                        format!("holds {}; allowed: 0 and 1", short(&value.to_string())),
                    ));
                }
            };
        }
    }
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Copy, Ngrams, PrioritySort, RepeatCopy};
    use ndarray::array;

    fn copy() -> Task {
        Task::Copy(Copy {
            bits: 2,
            length: 1..=5,
        })
    }

    fn repeat() -> Task {
        Task::RepeatCopy(RepeatCopy {
            bits: 2,
            length: 1..=5,
            repeats: 1..=5,
        })
    }

    fn recall() -> Task {
        Task::AssociativeRecall(AssociativeRecall {
            bits: 2,
            item_length: 1,
            items: 2..=5,
        })
    }

    fn sort() -> Task {
        Task::PrioritySort(PrioritySort {
            bits: 2,
            items: 9..=9,
            sorted: 1,
        })
    }

    fn read(source: &str, task: &Task, repeats: Option<usize>) -> ByHand {
        from_json(source, "b.json", task, repeats).unwrap()
    }

    #[test]
    fn both_forms() {
        let bits = array![[0., 1.], [1., 1.]];
        let plain = read("[[0,1],[1,1]]", &copy(), None);
        assert_eq!((&plain.bits, plain.task.size()), (&bits, 2..=2));
        let full = read(r#"{"bits":[[0,1],[1,1]],"repeats":3}"#, &repeat(), None);
        assert_eq!((&full.bits, full.task.repeats()), (&bits, Some(3..=3)));
        assert_eq!(full.episode().repeats, 3);
        let given = read(r#"{"bits":[[0,1],[1,1]],"repeats":3}"#, &repeat(), Some(2));
        assert_eq!(given.episode().repeats, 2);
    }

    #[test]
    fn every_task_can_be_given_by_hand() {
        let bits = "[[0,1],[1,1],[1,0]]";
        let recall = read(&format!(r#"{{"bits":{bits},"query":1}}"#), &recall(), None);
        let episode = recall.episode();
        assert_eq!((episode.size, recall.task.size()), (3, 3..=3));
        assert_eq!(episode.target.row(10).to_vec(), [1., 0.]);
        let source = format!(r#"{{"bits":{bits},"priorities":[0.1,1,-1]}}"#);
        let sort = read(&source, &sort(), None);
        let episode = sort.episode();
        assert_eq!((episode.size, sort.task.size()), (3, 3..=3));
        assert_eq!(episode.target.row(4).to_vec(), [1., 1.]);
        let ngrams = Task::Ngrams(Ngrams::PAPER);
        let ngrams = read("[[0],[1],[1]]", &ngrams, None);
        let episode = ngrams.episode();
        assert_eq!(episode.target.column(0).to_vec(), [0., 1., 1.]);
    }

    #[test]
    fn errors_name_the_row() {
        let message = |source: &str| {
            from_json(source, "b.json", &copy(), None)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            message("[]"),
            "b.json: `bits`: has 0 rows; allowed: 1 to 100000"
        );
        assert_eq!(
            message("[[0,1],[1]]"),
            "b.json: `bits[1]`: has 1 values; this machine's vectors have 2 bits"
        );
        assert_eq!(
            message("[[0,2]]"),
            "b.json: `bits[0]`: holds 2; allowed: 0 and 1"
        );
        assert_eq!(
            message("[[0,0.5]]"),
            "b.json: `bits[0]`: holds 0.5; allowed: 0 and 1"
        );
        assert!(message(r#"{"bit":[[0,1]]}"#).contains("unknown key `bit`"));
        assert_eq!(
            message(r#"{"bits":[[0,1]],"repeats":0}"#),
            "b.json: the task `copy` has no repeats"
        );
        assert!(message("nonsense").contains("expected rows of 0 and 1"));
    }

    #[test]
    fn errors_name_what_a_task_needs() {
        let message = |source: &str, task: &Task| {
            from_json(source, "b.json", task, None)
                .unwrap_err()
                .to_string()
        };
        let three = "[[0,1],[1,1],[1,0]]";
        let with = |rest: &str| format!(r#"{{"bits":{three},{rest}}}"#);
        assert!(message(&with(r#""repeats":0"#), &repeat()).contains("`repeats`: is out of range"));
        assert_eq!(
            message(&with(r#""query":0"#), &sort()),
            "b.json: the task `priority_sort` has no query"
        );
        assert!(message(three, &recall()).contains("`query` is missing"));
        assert_eq!(
            message(&with(r#""query":2"#), &recall()),
            "b.json: `query`: is 2; allowed: 0 to 1, an item of the 3 that has another behind it"
        );
        assert_eq!(
            message(r#"{"bits":[[0,1]],"query":0}"#, &recall()),
            "b.json: `bits`: has 1 rows; allowed: 2 to 10000 items of 1 rows each, one after the other"
        );
        assert!(message(three, &sort()).contains("`priorities` is missing"));
        assert_eq!(
            message(&with(r#""priorities":[0.5]"#), &sort()),
            "b.json: `priorities`: has 1 values; expected 3, one for every row of `bits`"
        );
        assert_eq!(
            message(&with(r#""priorities":[0.5,1.5,0]"#), &sort()),
            "b.json: `priorities[1]`: is 1.5; allowed: -1 to 1"
        );
    }
}
