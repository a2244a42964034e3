//! An episode made by hand: its vectors, `[[0,1,1], …]`, or `{"bits": [[0,1,1], …], "repeats": 3}` with
//! what else its task needs; of symbols `[3,1,4]`, or `{"symbols": [3,1,4]}` with what else; of pairs or a text a line, `"the cat"`.

use std::path::Path;

use ndarray::Array2;
use serde::Deserialize;
use serde_json::Value;

use super::error::{json_words, short};
use super::{Error, file};
use crate::task::{Edge, Episode, Fault, MAX_LENGTH, Manual, Task};

/// The largest file of bits that is read, in bytes.
const LIMIT: u64 = 64 << 20;

/// A manually specified episode, complete and valid.
#[derive(Clone, Debug, PartialEq)]
pub struct ManualEpisode {
    /// The task, with episodes of exactly this size.
    pub task: Task,
    given: Manual,
    /// What to say about a text: tokens that are not in the vocabulary, and a target that is not known.
    pub notes: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(skip)]
    line: String,
    #[serde(default)]
    bits: Vec<Vec<Value>>,
    symbols: Option<Vec<Option<usize>>>,
    marked: Option<Vec<usize>>,
    question: Option<Vec<usize>>,
    repeats: Option<usize>,
    query: Option<usize>,
    priorities: Option<Vec<f32>>,
    edges: Option<Vec<Edge>>,
    start: Option<usize>,
    path: Option<Vec<usize>>,
}

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
    let source = file::without_mark(source);
    let keys = task.manual_keys();
    let [is_line, is_symbols] = ["line", "symbols"].map(|key| keys.contains(&key));
    let syntax = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let found = match (is_line, is_symbols) {
            (true, _) => "is not a text in quotes".to_owned(),
            (_, true) => format!("is not a list of symbols, at line {line}, column {column}"),
            _ => json_words(&error),
        };
        let problem = format!("{found}; expected {}", task.manual_example());
        Error::content(label, "", problem)
    };
    let is_list = source.trim_start().starts_with('[');
    let mut read = Form::default();
    let is_json = source.trim_start().starts_with(['"', '[', '{']);
    if let (true, false, Some(line)) = (is_line, is_json, one_line(source)) {
        line.clone_into(&mut read.line);
    } else if is_line {
        read.line = serde_json::from_str(source).map_err(syntax)?;
    } else if is_list && is_symbols {
        read.symbols = Some(serde_json::from_str(source).map_err(syntax)?);
    } else if is_list {
        read.bits = serde_json::from_str(source).map_err(syntax)?;
    } else {
        read = serde_json::from_str(source).map_err(syntax)?;
    }
    let manual = read.manual(task, repeats);
    manual.map_err(|fault| Error::content(label, fault.array, fault.problem))
}

/// The line of a text that has no other.
fn one_line(text: &str) -> Option<&str> {
    let line = text.strip_suffix('\n').unwrap_or(text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    (!line.is_empty() && !line.contains('\n')).then_some(line)
}

impl ManualEpisode {
    /// The episode.
    pub fn episode(&self) -> Episode {
        let made = self.task.episode_showing(&self.given);
        made.unwrap_or_else(|| self.task.episode(0, 0))
    }
}

impl Form {
    fn manual(mut self, task: &Task, repeats: Option<usize>) -> Result<ManualEpisode, Fault> {
        let (name, needed) = (task.name(), task.manual_keys());
        let fail = |problem: String| Err(Fault::new("", problem));
        let is_needed = |key: &str| needed.contains(&key);
        if needed.is_empty() {
            return fail("the episodes of this task come from a file".to_owned());
        }
        self.repeats = repeats.or(self.repeats);
        for (key, is_given, how) in self.keys() {
            match (is_given, is_needed(key)) {
                (true, false) => return fail(format!("the task `{name}` has no {key}")),
                (false, true) if !how.is_empty() => {
                    return fail(format!(
                        "`{key}` is missing, which the task `{name}` needs{how}"
                    ));
                }
                _ => {}
            }
        }
        let bits = is_needed("bits").then(|| matrix(&self.bits, task.bits()));
        let bits = bits.transpose()?.unwrap_or_default();
        let given = Manual {
            bits,
            symbols: self.symbols.unwrap_or_default(),
            line: self.line,
            repeats: self.repeats.unwrap_or_default(),
            query: self.query.unwrap_or_default(),
            priorities: self.priorities.unwrap_or_default(),
            marked: self.marked.unwrap_or_default(),
            question: self.question.unwrap_or_default(),
            edges: self.edges.unwrap_or_default(),
            start: self.start.unwrap_or_default(),
            path: self.path.unwrap_or_default(),
        };
        let mut task = task.clone();
        task.fit(&given)?;
        Ok(ManualEpisode {
            notes: task.notes(&given),
            given,
            task,
        })
    }

    /// The keys, each with true if it is given, and the way to give it.
    #[rustfmt::skip] // A row for every key.
    fn keys(&self) -> [(&'static str, bool, &'static str); 10] {
        let graph = "; write {\"edges\": [[0, 1, 2], …], \"start\": 0, \"path\": [1, …]}: an edge is a node, a label and a node";
        [
            ("bits", !self.bits.is_empty(), ""),
            ("repeats", self.repeats.is_some(), "; write {\"bits\": […], \"repeats\": 3}, or add --repeats 3"),
            ("query", self.query.is_some(), ": the item to ask for, from 0; write {\"bits\": […], \"query\": 0}"),
            ("priorities", self.priorities.is_some(), ": one for every row, from -1 to 1; write {\"bits\": […], \"priorities\": [0.5, …]}"),
            ("marked", self.marked.is_some(), ": the marked steps, from 0; write {\"symbols\": […], \"marked\": [0, 2]}"),
            ("question", self.question.is_some(), ": the symbols to look for; write {\"symbols\": […], \"question\": [3]}"),
            ("edges", self.edges.is_some(), graph),
            ("start", self.start.is_some(), graph),
            ("path", self.path.is_some(), graph),
            ("symbols", self.symbols.is_some(), "; write {\"symbols\": [3, 1, 4]}, numbers from 0"),
        ]
    }
}

fn matrix(rows: &[Vec<Value>], width: usize) -> Result<Array2<f32>, Fault> {
    if !(1..=MAX_LENGTH).contains(&rows.len()) {
        let problem = format!("has {} rows; allowed: 1 to {MAX_LENGTH}", rows.len());
        return Err(Fault::new("bits", problem));
    }
    let mut matrix = Array2::zeros((rows.len(), width));
    for (index, row) in rows.iter().enumerate() {
        let fail = |problem| Err(Fault::new(format!("bits[{index}]"), problem));
        if row.len() != width {
            let (found, plural) = (row.len(), if width == 1 { "" } else { "s" });
            return fail(format!(
                "has {found} values; expected {width}, this machine has {width} bit{plural} per vector"
            ));
        }
        for (to, value) in matrix.row_mut(index).iter_mut().zip(row) {
            let number = value.as_bool().map(f64::from).or_else(|| value.as_f64());
            *to = match number {
                Some(0.0) => 0.0,
                Some(1.0) => 1.0,
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
    use crate::task::{
        Aspects, AssociativeRecall, Caption, Copy, Count, Frames, Ngrams, Pairs, PrioritySort,
        RepeatCopy, Span, Text, Transduce,
    };
    use ndarray::array;

    const COPY: Task = Task::Copy(Copy {
        bits: 2,
        length: 1..=5,
    });
    const REPEAT: Task = Task::RepeatCopy(RepeatCopy {
        bits: 2,
        length: 1..=5,
        repeats: 1..=5,
        count: Count::Scalar,
    });
    const RECALL: Task = Task::AssociativeRecall(AssociativeRecall {
        bits: 2,
        item_length: 1,
        items: 2..=5,
        ..AssociativeRecall::PAPER
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
        assert_eq!((&plain.given.bits, plain.task.size()), (&bits, 2..=2));
        let as_numbers = read("[[0.0,1.0],[true,1]]", &COPY, None);
        assert_eq!(as_numbers.given.bits, bits);
        let full = read(r#"{"bits":[[0,1],[1,1]],"repeats":3}"#, &REPEAT, None);
        assert_eq!(
            (&full.given.bits, full.task.repeats()),
            (&bits, Some(3..=3))
        );
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
    fn marked_steps_are_written_beside_their_symbols() {
        let task = Task::Aspects(Aspects::DEFAULT);
        let manual = read(r#"{"symbols": [3,1,3,4], "marked": [3,0]}"#, &task, None);
        let episode = manual.episode();
        assert_eq!((episode.size, episode.steps()), (4, 6));
        assert_eq!(manual.task.marked(&episode), [0, 3]);
        assert_eq!(
            episode.target.row(5).to_vec(),
            [0., 0., 0., 1., 1., 0., 0., 0.]
        );
        assert_eq!((manual.task.size(), manual.task.least_size()), (4..=4, 2));
        for (source, expected) in [
            (
                "[3,1]",
                "b.json: `marked` is missing, which the task `aspects` needs: the marked steps, from 0",
            ),
            (
                r#"{"symbols": [3,8], "marked": [0]}"#,
                "`symbols[1]`: is 8; allowed: 0 to 7",
            ),
            (
                r#"{"symbols": [3,1], "marked": []}"#,
                "`marked`: is []; allowed: one or more of the steps 0 to 1, whose symbols differ",
            ),
            (
                r#"{"symbols": [3,1,3], "marked": [0,2]}"#,
                "`marked`: is [0, 2]; allowed: one or more of the steps 0 to 2",
            ),
            (
                r#"{"symbols": [3,1], "marked": [2]}"#,
                "`marked`: is [2]; allowed: one or more of the steps 0 to 1",
            ),
            (
                r#"{"symbols": [3,1], "query": 1, "marked": [1]}"#,
                "the task `aspects` has no query",
            ),
            (
                "\"a\"",
                "at line 1, column 3; expected symbols and marked steps such as",
            ),
        ] {
            let said = message(source, &task);
            assert!(said.contains(expected), "{said}\n{expected}");
        }
        let plain = Task::Transduce(Transduce::DEFAULT);
        let said = message(r#"{"symbols": [1], "marked": [0]}"#, &plain);
        assert!(
            said.contains("the task `transduce` has no marked"),
            "{said}"
        );
    }

    #[test]
    fn a_document_is_written_with_its_question() {
        let task = Task::Span(Span::DEFAULT);
        let source = r#"{"symbols": [3,1,null,4,1,5,9,null], "question": [4,1]}"#;
        let manual = read(source, &task, None);
        let episode = manual.episode();
        assert_eq!((episode.size, episode.steps()), (8, 14));
        assert_eq!(
            manual.task.alignment(&episode)[12..],
            [Some(5..6), Some(6..7)]
        );
        assert_eq!(episode.input[[2, 16]], 1.0);
        assert_eq!((manual.task.size(), manual.task.least_size()), (8..=8, 5));
        let no_answer = "b.json: `question`: does not occur once, with an answer and then null";
        for (source, expected) in [
            (
                "[3,1]",
                "b.json: `question` is missing, which the task `span` needs: the symbols to look for",
            ),
            (r#"{"symbols": [3,1,null], "question": [4]}"#, no_answer),
            (r#"{"symbols": [3,1,null], "question": []}"#, no_answer),
            (r#"{"symbols": [3,1,3,null], "question": [3]}"#, no_answer),
            (r#"{"symbols": [3,null], "question": [3]}"#, no_answer),
            (r#"{"symbols": [3,1], "question": [3]}"#, no_answer),
            (
                r#"{"symbols": [3,1,16], "question": [3]}"#,
                "`symbols[2]`: is 16; allowed: 0 to 15",
            ),
            (
                r#"{"symbols": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3,1,null], "question": [3]}"#,
                "`symbols`: has 21 values; allowed: 1 to 20, one for each position",
            ),
            ("3", "expected a document with null for each end of a span"),
        ] {
            let said = message(source, &task);
            assert!(said.contains(expected), "{said}\n{expected}");
        }
    }

    #[test]
    fn a_line_is_written_in_quotes_or_alone() {
        let mut text = Text::NONE;
        text.symbols = "the cat".to_owned();
        let task = Task::Text(text);
        let manual = read("\"the sat cat\"", &task, None);
        let episode = manual.episode();
        assert_eq!((episode.size, episode.scored_steps()), (3, 4));
        assert_eq!(episode.target[[2, 1]], 1.0);
        assert_eq!(manual.notes, ["note: `sat` is not in the vocabulary"]);
        assert_eq!(read("the sat cat\r\n", &task, None).episode(), episode);
        for (source, expected) in [
            ("\" \"", "b.json: has 0 tokens; expected 1 to 100000"),
            (
                "[1]",
                r#"b.json: is not a text in quotes; expected a line such as "the cat sat""#,
            ),
        ] {
            let said = message(source, &task);
            assert!(said.contains(expected), "{said}\n{expected}");
        }
    }

    #[test]
    fn symbols_are_written_by_number() {
        let task = Task::Transduce(Transduce::DEFAULT);
        let [list, object] = ["[3,1,4]", r#"{"symbols": [3,1,4]}"#]
            .map(|source| read(source, &task, None).episode());
        assert_eq!(list, object);
        assert_eq!((list.size, list.steps()), (3, 8));
        assert_eq!(list.input[[2, 4]], 1.0);
        let frames = Task::Frames(Frames::DEFAULT);
        let episode = read("[3,1]", &frames, None).episode();
        assert_eq!((episode.size, episode.scored_steps()), (2, 3));
        let mut small = Caption::DEFAULT;
        small.grid = 2;
        let caption = Task::Caption(small);
        let manual = read("[null,7,null,0]", &caption, None);
        assert_eq!((manual.episode().size, manual.task.size()), (2, 2..=2));
        assert_eq!(manual.episode().alignment[5..7], [Some(1..2), Some(3..4)]);
        for (source, task, expected) in [
            ("[3,16]", &task, "`symbols[1]`: is 16; allowed: 0 to 15"),
            ("[3,null]", &task, "`symbols[1]`: is null; allowed: 0 to 15"),
            ("[]", &task, "`symbols`: has 0 values; allowed: 1 to 100000"),
            (
                "{}",
                &task,
                "`symbols` is missing, which the task `transduce` needs",
            ),
            (
                r#"{"bits":[[0,1]]}"#,
                &task,
                "the task `transduce` has no bits",
            ),
            (
                r#"{"symbols":[1]}"#,
                &COPY,
                "the task `copy` has no symbols",
            ),
            (
                "[1,2,3]",
                &caption,
                "`symbols`: has 3 values; allowed: 4 symbols in reading order",
            ),
            (
                "[null,null,null,null]",
                &caption,
                "`symbols`: has 4 values; allowed: 4 symbols",
            ),
        ] {
            let message = message(source, task);
            assert!(
                message.starts_with(&format!("b.json: {expected}")),
                "{message}"
            );
        }
        for (source, task, expected) in [
            (
                "[a]",
                &task,
                "is not a list of symbols, at line 1, column 2; expected symbols such as [3,1,4], or",
            ),
            (
                "[[0,1]]",
                &caption,
                "is not a list of symbols, at line 1, column 1; expected symbols such as [3,null,1,4]",
            ),
            (
                "the cat\nsat",
                &Task::Pairs(Pairs::NONE),
                r#"is not a text in quotes; expected a source such as "the cat", or"#,
            ),
        ] {
            let message = message(source, task);
            assert!(
                message.starts_with(&format!("b.json: {expected}")),
                "{message}"
            );
        }
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
