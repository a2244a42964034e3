//! An episode made by hand: its vectors, `[[0,1,1], …]`, or `{"bits": [[0,1,1], …], "repeats": 3}` with
//! what else its task needs; of symbols `[3,1,4]`, or `{"symbols": [3,1,4]}` with what else; of pairs or a text a line, `"the cat"`.

use std::collections::HashSet;
use std::path::Path;

use ndarray::Array2;
use serde::Deserialize;
use serde_json::Value;

use super::error::{json_words, short};
use super::{Error, file};
use crate::math::random;
use crate::task::{
    AskedFor, Edge, Episode, Graph, MAX_ITEMS, MAX_LENGTH, MAX_QUESTION, MAX_REPEATS,
    TARGET_NOT_KNOWN, Task, leaving,
};

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
    /// The symbols of a task that names them; of a picture one for every patch, `None` for a blank one.
    symbols: Vec<Option<usize>>,
    /// The episode of a task whose input was complete when it was read.
    made: Option<Episode>,
    /// What to say about a text: tokens that are not in the vocabulary, and a target that is not known.
    pub notes: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
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
    let source = file::without_mark(source);
    let syntax = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let no_symbols = format!("is not a list of symbols, at line {line}, column {column}");
        let (found, expected) = match task {
            Task::Pairs(_) => (
                "is not a text in quotes".to_owned(),
                r#"a source such as "the cat", or with its target: "the cat\tle chat""#,
            ),
            Task::Text(_) => (
                "is not a text in quotes".to_owned(),
                r#"a line such as "the cat sat""#,
            ),
            Task::Caption(_) => (
                no_symbols,
                "symbols such as [3,null,1,4], with null for a blank patch",
            ),
            Task::Aspects(_) => (
                no_symbols,
                r#"symbols and marked steps such as {"symbols": [3,1,4], "marked": [0,2]}"#,
            ),
            Task::Graph(_) => (
                json_words(&error),
                r#"edges, a node and a path such as {"edges": [[0,1,2],[2,0,1]], "start": 0, "path": [1,0]}"#,
            ),
            Task::Span(_) => (
                no_symbols,
                r#"a document with null for each end of a span, and a question such as {"symbols": [3,1,null], "question": [3]}"#,
            ),
            _ if task.alphabet().is_some() => (
                no_symbols,
                r#"symbols such as [3,1,4], or {"symbols": [3,1,4]}"#,
            ),
            _ => (
                json_words(&error),
                r#"rows of 0 and 1 such as [[0,1],[1,1]], or {"bits": [[0,1],[1,1]], "repeats": 2}"#,
            ),
        };
        let problem = format!("{found}; expected {expected}");
        Error::content(label, "", problem)
    };
    if matches!(task, Task::Pairs(_) | Task::Text(_)) {
        let line: String = serde_json::from_str(source).map_err(syntax)?;
        let made = of_text(task, &line);
        let made = made.map_err(|problem| Error::content(label, "", problem))?;
        return Ok(ManualEpisode {
            made: Some(made.0),
            notes: made.1,
            ..ManualEpisode::of(task.clone())
        });
    }
    let is_list = source.trim_start().starts_with('[');
    let form = if is_list && task.symbols().is_some() {
        Form {
            symbols: Some(serde_json::from_str(source).map_err(syntax)?),
            ..Form::default()
        }
    } else if is_list {
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
    /// An episode of this task, to be filled in.
    fn of(task: Task) -> Self {
        Self {
            task,
            bits: Array2::zeros((0, 0)),
            query: 0,
            priorities: Vec::new(),
            symbols: Vec::new(),
            made: None,
            notes: Vec::new(),
        }
    }

    /// The episode.
    pub fn episode(&self) -> Episode {
        if let Some(made) = &self.made {
            return made.clone();
        }
        let bits = &self.bits;
        let symbols: Vec<usize> = self.symbols.iter().flatten().copied().collect();
        match &self.task {
            Task::Copy(task) => task.episode_of(bits),
            Task::RepeatCopy(task) => task.episode_of(bits, *task.repeats.end()),
            Task::AssociativeRecall(task) => task.episode_of(bits, self.query),
            Task::Ngrams(task) => {
                let bits: Vec<bool> = bits.iter().map(|&bit| bit > 0.5).collect();
                task.episode_of(&bits)
            }
            Task::PrioritySort(task) => task.episode_of(bits, &self.priorities),
            Task::Transduce(task) => task.episode_of(&symbols),
            Task::Caption(task) => task.episode_of(&self.symbols, &mut random(0, 0)),
            Task::Frames(task) => task.episode_of(&symbols, &mut random(0, 0)),
            Task::Reuse(task) => task.episode_of(bits),
            Task::Aspects(_)
            | Task::Span(_)
            | Task::Graph(_)
            | Task::Pairs(_)
            | Task::Text(_)
            | Task::Episodes(_)
            | Task::External(_) => self.task.episode(0, 0),
        }
    }
}

impl Form {
    fn manual(self, task: &Task, repeats: Option<usize>) -> Result<ManualEpisode, Fault> {
        self.only(task)?;
        if let Some(known) = task.symbols() {
            return self.named(task, known);
        }
        if let Task::Graph(graph) = task {
            return self.walked(task, graph);
        }
        let mut manual = ManualEpisode {
            bits: matrix(&self.bits, task.bits())?,
            ..ManualEpisode::of(task.clone())
        };
        let mut size = self.bits.len();
        match task {
            Task::Copy(_)
            | Task::Ngrams(_)
            | Task::Reuse(_)
            | Task::Graph(_)
            | Task::Transduce(_)
            | Task::Caption(_)
            | Task::Frames(_)
            | Task::Aspects(_)
            | Task::Span(_)
            | Task::Episodes(_)
            | Task::Pairs(_)
            | Task::Text(_)
            | Task::External(_) => {}
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

    /// The episode of a path in a graph.
    fn walked(self, task: &Task, graph: &Graph) -> Result<ManualEpisode, Fault> {
        let how = "; write {\"edges\": [[0, 1, 2], …], \"start\": 0, \"path\": [1, …]}: an edge is a node, a label and a node";
        let edges = needed(self.edges, "edges", task, how)?;
        let start = needed(self.start, "start", task, how)?;
        let path = needed(self.path, "path", task, how)?;
        let (nodes, labels) = (graph.nodes, graph.labels);
        let is_right = |[from, label, to]: &Edge| *from < nodes && *label < labels && *to < nodes;
        if let Some(wrong) = edges.iter().position(|edge| !is_right(edge)) {
            let problem = format!(
                "is {:?}; allowed: nodes 0 to {}, labels 0 to {}",
                edges[wrong],
                nodes - 1,
                labels - 1
            );
            return Err((format!("edges[{wrong}]"), problem));
        }
        let starts: HashSet<_> = edges.iter().map(|edge| [edge[0], edge[1]]).collect();
        if starts.len() < edges.len() || edges.is_empty() {
            let two = "has two edges with the same node and label";
            let problem = if edges.is_empty() { "has no edge" } else { two };
            return Err(("edges".to_owned(), problem.to_owned()));
        }
        if start >= nodes {
            let problem = format!("is {start}; allowed: 0 to {}", nodes - 1);
            return Err(("start".to_owned(), problem));
        }
        let made = graph.episode_of(&edges, start, &path);
        let made = made.filter(|_| (1..=100).contains(&path.len()));
        let Some(made) = made else {
            let mut node = start;
            for (index, label) in path.iter().enumerate() {
                let Some(edge) = leaving(&edges, node, *label) else {
                    let problem = format!("is {label}; no edge with this label leaves node {node}");
                    return Err((format!("path[{index}]"), problem));
                };
                [.., node] = edges[edge];
            }
            let problem = format!("has {} labels; allowed: 1 to 100", path.len());
            return Err(("path".to_owned(), problem));
        };
        let mut graph = graph.clone();
        graph.path = path.len()..=path.len();
        graph.edges = edges.len()..=edges.len();
        Ok(ManualEpisode {
            made: Some(made),
            ..ManualEpisode::of(Task::Graph(graph))
        })
    }

    /// The episode of a task with symbols, this many.
    fn named(self, task: &Task, known: usize) -> Result<ManualEpisode, Fault> {
        let how = "; write {\"symbols\": [3, 1, 4]}, numbers from 0";
        let symbols = needed(self.symbols.as_ref(), "symbols", task, how)?;
        let (count, fault) = (symbols.len(), |problem| ("symbols".to_owned(), problem));
        let is_picture = matches!(task, Task::Caption(_));
        let glyphs = symbols.iter().flatten().count();
        let size = if is_picture { glyphs } else { count };
        let allowed = match task {
            Task::Caption(task) if count != task.grid.pow(2) || size == 0 => Some(format!(
                "{} symbols in reading order, null for a blank patch, at least one not null",
                task.grid.pow(2)
            )),
            Task::Caption(_) => None,
            Task::Span(task) if count > task.positions => {
                Some(format!("1 to {}, one for each position", task.positions))
            }
            _ => (!(1..=MAX_LENGTH).contains(&count)).then(|| format!("1 to {MAX_LENGTH}")),
        };
        if let Some(allowed) = allowed {
            return Err(fault(format!("has {count} values; allowed: {allowed}")));
        }
        let is_blank_allowed = is_picture || matches!(task, Task::Span(_));
        let is_right =
            |symbol: &Option<usize>| symbol.map_or(is_blank_allowed, |symbol| symbol < known);
        if let Some(wrong) = symbols.iter().position(|symbol| !is_right(symbol)) {
            let found = symbols[wrong].map_or("null".to_owned(), |symbol| symbol.to_string());
            let problem = format!("is {found}; allowed: 0 to {}", known - 1);
            return Err((format!("symbols[{wrong}]"), problem));
        }
        let mut manual = ManualEpisode {
            symbols: symbols.clone(),
            ..ManualEpisode::of(task.clone())
        };
        let numbers = symbols.iter().map(|symbol| symbol.unwrap_or(known));
        let numbers: Vec<usize> = numbers.collect();
        match &mut manual.task {
            Task::Aspects(own) => {
                let how =
                    ": the marked steps, from 0; write {\"symbols\": […], \"marked\": [0, 2]}";
                let marked = needed(self.marked.as_ref(), "marked", task, how)?;
                own.aspects = marked.len()..=marked.len();
                let is_right = !marked.is_empty() && marked.iter().all(|step| *step < count);
                manual.made = is_right.then(|| own.episode_of(&numbers, marked)).flatten();
                if manual.made.is_none() {
                    let (found, last) = (short(&format!("{marked:?}")), count - 1);
                    let allowed =
                        format!("one or more of the steps 0 to {last}, whose symbols differ");
                    return Err((
                        "marked".to_owned(),
                        format!("is {found}; allowed: {allowed}"),
                    ));
                }
            }
            Task::Span(own) => {
                let how = ": the symbols to look for; write {\"symbols\": […], \"question\": [3]}";
                let question = needed(self.question.as_ref(), "question", task, how)?;
                let is_short = question.len() <= MAX_QUESTION;
                let Some(answer) = own.answer(&numbers, question).filter(|_| is_short) else {
                    let form = match own.asked_for {
                        AskedFor::Ends => "an answer",
                        AskedFor::Symbol => "an answer of one symbol",
                    };
                    let problem = format!(
                        "does not occur once, with {form} and then null behind it, or has more than 16 symbols"
                    );
                    return Err(("question".to_owned(), problem));
                };
                manual.made = own.episode_of(&numbers, question);
                (own.question, own.span) = (question.len(), answer.len()..=answer.len());
            }
            _ => {}
        }
        manual.task = manual.task.with_size(size);
        Ok(manual)
    }

    /// Checks that no key is given that this task does not have.
    fn only(&self, task: &Task) -> Result<(), Fault> {
        let is_recall = matches!(task, Task::AssociativeRecall(_));
        let is_sort = matches!(task, Task::PrioritySort(_));
        let names_symbols = task.symbols().is_some();
        let is_marked = matches!(task, Task::Aspects(_));
        let has_question = matches!(task, Task::Span(_));
        let is_graph = matches!(task, Task::Graph(_));
        for (key, is_given, is_known) in [
            ("repeats", self.repeats.is_some(), task.repeats().is_some()),
            ("query", self.query.is_some(), is_recall),
            ("priorities", self.priorities.is_some(), is_sort),
            ("marked", self.marked.is_some(), is_marked),
            ("question", self.question.is_some(), has_question),
            ("edges", self.edges.is_some(), is_graph),
            ("start", self.start.is_some(), is_graph),
            ("path", self.path.is_some(), is_graph),
            ("symbols", self.symbols.is_some(), names_symbols),
            ("bits", !self.bits.is_empty(), !names_symbols && !is_graph),
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

/// The episode of a line, and what to say about it.
fn of_text(task: &Task, line: &str) -> Result<(Episode, Vec<String>), String> {
    let note = |token: &&str| format!("note: `{token}` is not in the vocabulary");
    match task {
        Task::Pairs(task) => {
            let pair = task.parse(line)?;
            let unknown = task.unknown(&pair);
            let notes = unknown.iter().map(|token| note(token) + " of the source");
            let lacks = pair.lacks_target();
            let lacks = lacks.then(|| format!("note: {TARGET_NOT_KNOWN}"));
            Ok((task.episode_of(&pair), notes.chain(lacks).collect()))
        }
        Task::Text(task) => {
            let notes = task.unknown(line).iter().map(note).collect();
            Ok((task.episode_of(line)?, notes))
        }
        _ => Ok((task.episode(0, 0), Vec::new())),
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
        assert_eq!((&plain.bits, plain.task.size()), (&bits, 2..=2));
        let as_numbers = read("[[0.0,1.0],[true,1]]", &COPY, None);
        assert_eq!(as_numbers.bits, bits);
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
    fn a_line_is_written_in_quotes() {
        let mut text = Text::NONE;
        text.symbols = "the cat".to_owned();
        let task = Task::Text(text);
        let manual = read("\"the sat cat\"", &task, None);
        let episode = manual.episode();
        assert_eq!((episode.size, episode.scored_steps()), (3, 4));
        assert_eq!(episode.target[[2, 1]], 1.0);
        assert_eq!(manual.notes, ["note: `sat` is not in the vocabulary"]);
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
                "the cat",
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
