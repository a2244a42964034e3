//! An episode made by hand: its vectors, `[[0,1,1], …]`, or `{"bits": [[0,1,1], …], "repeats": 3}` with
//! what else its task needs.

use std::path::Path;

use ndarray::Array2;
use serde::Deserialize;
use serde_json::Value;

use super::error::{bounded, short};
use super::{Error, file};
use crate::task::{Episode, MAX_ITEMS, MAX_LENGTH, MAX_REPEATS, Task};

/// The largest file of bits that is read, in bytes.
const LIMIT: u64 = 64 << 20;

/// A manually specified episode, complete and valid.
#[derive(Clone, Debug, PartialEq)]
pub struct ManualEpisode {
    /// The task, with episodes of exactly this size.
    pub task: Task,
    /// 0 or 1, [vectors, bits].
    bits: Array2<f32>,
    /// The index of the queried item.
    query: usize,
    /// A priority for every vector, or none.
    priorities: Vec<f32>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    bits: Vec<Vec<Value>>,
    repeats: Option<usize>,
    query: Option<usize>,
    priorities: Option<Vec<f32>>,
}

/// An error: its place and its text.
type Fault = (String, String);

/// Reads a file for this task. `repeats`, where given, stand for those of the file.
///
/// # Errors
/// The file, the row and what is allowed.
pub fn read(path: &Path, task: &Task, repeats: Option<usize>) -> Result<ManualEpisode, Error> {
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
) -> Result<ManualEpisode, Error> {
    let syntax = |error: serde_json::Error| {
        let problem = format!(
            "{}; expected rows of 0 and 1 such as [[0,1],[1,1]], or {{\"bits\": [[0,1],[1,1]], \"repeats\": 2}}",
            bounded(&error.to_string(), 300)
        );
        Error::content(label, "", problem)
    };
    let form = if source.trim_start().starts_with('[') {
        Form {
            bits: serde_json::from_str(source).map_err(syntax)?,
            ..Form::default()
        }
    } else {
        serde_json::from_str(source).map_err(syntax)?
    };
    let manual = form.manual(task, repeats);
    manual.map_err(|(place, problem)| Error::content(label, place, problem))
}

impl ManualEpisode {
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
            Task::Episodes(_) | Task::External(_) => self.task.episode(0, 0),
        }
    }
}

impl Form {
    fn manual(self, task: &Task, repeats: Option<usize>) -> Result<ManualEpisode, Fault> {
        self.only(task)?;
        let mut manual = ManualEpisode {
            task: task.clone(),
            bits: matrix(&self.bits, task.bits())?,
            query: 0,
            priorities: Vec::new(),
        };
        let mut size = self.bits.len();
        match task {
            Task::Copy(_) | Task::Ngrams(_) | Task::Episodes(_) | Task::External(_) => {}
            Task::RepeatCopy(_) => {
                let how = "; write {\"bits\": […], \"repeats\": 3}, or add --repeats 3";
                let repeats = needed(repeats.or(self.repeats), "repeats", task, how)?;
                if !(1..=MAX_REPEATS).contains(&repeats) {
                    let problem = format!("is out of range; allowed: 1 to {MAX_REPEATS}");
                    return Err(("repeats".to_owned(), problem));
                }
                manual.task = manual.task.with_repeats(repeats);
            }
            Task::AssociativeRecall(recall) => {
                size = self.items(recall.item_length)?;
                let how = ": the item to ask for, from 0; write {\"bits\": […], \"query\": 0}";
                let (query, last) = (needed(self.query, "query", task, how)?, size - 2);
                if query > last {
                    let problem = format!(
                        "is {query}; allowed: 0 to {last}, one of the {size} items that has a successor"
                    );
                    return Err(("query".to_owned(), problem));
                }
                manual.query = query;
            }
            Task::PrioritySort(_) => manual.priorities = self.priorities(task)?,
        }
        manual.task = manual.task.with_size(size);
        Ok(manual)
    }

    /// Checks that no key is given that this task does not have.
    fn only(&self, task: &Task) -> Result<(), Fault> {
        let is_recall = matches!(task, Task::AssociativeRecall(_));
        let is_sort = matches!(task, Task::PrioritySort(_));
        for (key, is_given, is_known) in [
            ("repeats", self.repeats.is_some(), task.repeats().is_some()),
            ("query", self.query.is_some(), is_recall),
            ("priorities", self.priorities.is_some(), is_sort),
        ] {
            if is_given && !is_known {
                let problem = format!("the task `{}` has no {key}", task.name());
                return Err((String::new(), problem));
            }
        }
        Ok(())
    }

    /// Returns the number of items of `each` rows.
    fn items(&self, each: usize) -> Result<usize, Fault> {
        let rows = self.bits.len();
        let items = rows / each;
        if rows.is_multiple_of(each) && (2..=MAX_ITEMS).contains(&items) {
            return Ok(items);
        }
        let problem =
            format!("has {rows} rows; allowed: 2 to {MAX_ITEMS} items of {each} rows each");
        Err(("bits".to_owned(), problem))
    }

    /// Returns the priorities, one for every row.
    fn priorities(self, task: &Task) -> Result<Vec<f32>, Fault> {
        let rows = self.bits.len();
        if rows > MAX_ITEMS {
            let problem = format!("has {rows} rows; allowed: 1 to {MAX_ITEMS}");
            return Err(("bits".to_owned(), problem));
        }
        let how =
            ": one for every row, from -1 to 1; write {\"bits\": […], \"priorities\": [0.5, …]}";
        let priorities = needed(self.priorities, "priorities", task, how)?;
        if priorities.len() != rows {
            let found = priorities.len();
            let problem =
                format!("has {found} values; expected {rows}, one for every row of `bits`");
            return Err(("priorities".to_owned(), problem));
        }
        let mut each = priorities.iter().enumerate();
        if let Some((index, priority)) = each.find(|(_, it)| !(-1.0..=1.0).contains(*it)) {
            let problem = format!("is {priority}; allowed: -1 to 1");
            return Err((format!("priorities[{index}]"), problem));
        }
        Ok(priorities)
    }
}

/// Returns the given value, or an error with the way to give it.
fn needed<T>(given: Option<T>, key: &str, task: &Task, how: &str) -> Result<T, Fault> {
    given.ok_or_else(|| {
        let name = task.name();
        let problem = format!("`{key}` is missing, which the task `{name}` needs{how}");
        (String::new(), problem)
    })
}

fn matrix(rows: &[Vec<Value>], width: usize) -> Result<Array2<f32>, Fault> {
    if !(1..=MAX_LENGTH).contains(&rows.len()) {
        let problem = format!("has {} rows; allowed: 1 to {MAX_LENGTH}", rows.len());
        return Err(("bits".to_owned(), problem));
    }
    let mut matrix = Array2::zeros((rows.len(), width));
    for (index, row) in rows.iter().enumerate() {
        let fail = |problem| Err((format!("bits[{index}]"), problem));
        if row.len() != width {
            let (found, plural) = (row.len(), if width == 1 { "" } else { "s" });
            return fail(format!(
                "has {found} values; expected {width}, this machine has {width} bit{plural} per vector"
            ));
        }
        for (to, value) in matrix.row_mut(index).iter_mut().zip(row) {
            *to = match value.as_u64() {
                Some(0) => 0.0,
                Some(1) => 1.0,
                _ => {
                    let found = short(&value.to_string());
                    return fail(format!("contains {found}; allowed: 0 and 1"));
                }
            };
        }
    }
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{AssociativeRecall, Copy, Ngrams, PrioritySort, RepeatCopy};
    use ndarray::array;

    const COPY: Task = Task::Copy(Copy {
        bits: 2,
        length: 1..=5,
    });
    const REPEAT: Task = Task::RepeatCopy(RepeatCopy {
        bits: 2,
        length: 1..=5,
        repeats: 1..=5,
    });
    const RECALL: Task = Task::AssociativeRecall(AssociativeRecall {
        bits: 2,
        item_length: 1,
        items: 2..=5,
    });
    const SORT: Task = Task::PrioritySort(PrioritySort {
        bits: 2,
        items: 9..=9,
        sorted: 1,
    });

    fn read(source: &str, task: &Task, repeats: Option<usize>) -> ManualEpisode {
        from_json(source, "b.json", task, repeats).unwrap()
    }

    fn message(source: &str, task: &Task) -> String {
        let error = from_json(source, "b.json", task, None).unwrap_err();
        error.to_string()
    }

    #[test]
    fn both_forms() {
        let bits = array![[0., 1.], [1., 1.]];
        let plain = read("[[0,1],[1,1]]", &COPY, None);
        assert_eq!((&plain.bits, plain.task.size()), (&bits, 2..=2));
        let full = read(r#"{"bits":[[0,1],[1,1]],"repeats":3}"#, &REPEAT, None);
        assert_eq!((&full.bits, full.task.repeats()), (&bits, Some(3..=3)));
        assert_eq!(full.episode().repeats, 3);
        let given = read(r#"{"bits":[[0,1],[1,1]],"repeats":3}"#, &REPEAT, Some(2));
        assert_eq!(given.episode().repeats, 2);
    }

    #[test]
    fn every_task_accepts_manual_input() {
        let bits = "[[0,1],[1,1],[1,0]]";
        let recall = read(&format!(r#"{{"bits":{bits},"query":1}}"#), &RECALL, None);
        let episode = recall.episode();
        assert_eq!((episode.size, recall.task.size()), (3, 3..=3));
        assert_eq!(episode.target.row(10).to_vec(), [1., 0.]);
        let source = format!(r#"{{"bits":{bits},"priorities":[0.1,1,-1]}}"#);
        let sort = read(&source, &SORT, None);
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
        for (source, expected) in [
            ("[]", "`bits`: has 0 rows; allowed: 1 to 100000"),
            (
                "[[0,1],[1]]",
                "`bits[1]`: has 1 values; expected 2, this machine has 2 bits per vector",
            ),
            ("[[0,2]]", "`bits[0]`: contains 2; allowed: 0 and 1"),
            ("[[0,0.5]]", "`bits[0]`: contains 0.5; allowed: 0 and 1"),
            (
                r#"{"bits":[[0,1]],"repeats":0}"#,
                "the task `copy` has no repeats",
            ),
        ] {
            assert_eq!(message(source, &COPY), format!("b.json: {expected}"));
        }
        assert!(message(r#"{"bit":[[0,1]]}"#, &COPY).contains("unknown field `bit`"));
        assert!(message("nonsense", &COPY).contains("expected rows of 0 and 1"));
    }

    #[test]
    fn errors_name_what_a_task_needs() {
        let three = "[[0,1],[1,1],[1,0]]";
        let with = |rest: &str| format!(r#"{{"bits":{three},{rest}}}"#);
        for (source, task, expected) in [
            (
                with(r#""repeats":0"#),
                &REPEAT,
                "`repeats`: is out of range",
            ),
            (
                with(r#""query":0"#),
                &SORT,
                "the task `priority_sort` has no query",
            ),
            (three.to_owned(), &RECALL, "`query` is missing"),
            (
                with(r#""query":2"#),
                &RECALL,
                "`query`: is 2; allowed: 0 to 1, one of the 3 items that has a successor",
            ),
            (
                r#"{"bits":[[0,1]],"query":0}"#.to_owned(),
                &RECALL,
                "`bits`: has 1 rows; allowed: 2 to 10000 items of 1 rows each",
            ),
            (three.to_owned(), &SORT, "`priorities` is missing"),
            (
                with(r#""priorities":[0.5]"#),
                &SORT,
                "`priorities`: has 1 values; expected 3, one for every row of `bits`",
            ),
            (
                with(r#""priorities":[0.5,1.5,0]"#),
                &SORT,
                "`priorities[1]`: is 1.5; allowed: -1 to 1",
            ),
        ] {
            let message = message(&source, task);
            assert!(
                message.starts_with(&format!("b.json: {expected}")),
                "{message}"
            );
        }
    }
}
