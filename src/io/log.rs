//! Reading the log of a training run.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::parse;
use super::measurement::{ChangeForm, ChangeLine, PointForm};
use super::{Error, Experiment, file};
use crate::train::{Change, Evaluation, HistoryPoint, best};

/// Format and version of logs.
pub(super) const FORMAT: [&str; 2] = ["ntm-log", "1.1"];
/// The largest log that is read, in bytes.
const LIMIT: u64 = 1 << 30;

/// The log of a training run.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// The experiment, as it began.
    pub experiment: Experiment,
    /// The command line that began it, or one that begins the same where it began in the window; empty when the file
    /// does not say.
    pub command: String,
    /// The validations, in order.
    pub points: Vec<HistoryPoint>,
    /// The changes during training, in order: each with its number of sequences, after the validation there. All of
    /// them can be applied ([`Experiment::changed_by`]).
    pub changes: Vec<Change>,
}

impl Log {
    /// True when the run has seen all its sequences, or its patience has run out.
    pub fn is_finished(&self) -> bool {
        let last = self.points.last().map_or(0, |point| point.sequences);
        self.experiment.training.is_over(last, &self.points)
    }

    /// The best validation since the task last changed.
    pub fn best(&self) -> Option<Evaluation> {
        let since = self.experiment.task_since(&self.changes);
        best(&self.points, since).map(|index| self.points[index].validation)
    }
}

#[derive(Deserialize)]
struct HeaderForm<'a> {
    format: String,
    version: String,
    #[serde(default)]
    command: String,
    #[serde(borrow)]
    experiment: &'a RawValue,
}

/// Reads a log. A last line without an end is left out: the run is being written, or was cut off there.
///
/// # Errors
/// The file, the line, what was found and what was expected.
pub fn read(path: &Path) -> Result<Log, Error> {
    from_text(&file::read_text(path, LIMIT)?, &file::label(path))
}

/// [`read`] from memory; `label` stands for the file in messages.
///
/// # Errors
/// As for [`read`].
pub fn from_text(text: &str, label: &str) -> Result<Log, Error> {
    let text = file::without_mark(text);
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.lines().enumerate();
    let Some((_, header)) = lines.next() else {
        let problem = "ends within its first line; expected the header of a training log";
        return Err(Error::content(label, "", problem));
    };
    let (experiment, command) = read_header(header, label)?;
    let mut points: Vec<HistoryPoint> = Vec::new();
    let (mut changes, mut now) = (Vec::<Change>::new(), experiment.clone());
    let mut before = None;
    for (index, line) in lines {
        let place = format!("line {}", index + 1);
        let broken = |error: serde_json::Error| Error::json(label, &place, &error);
        let line: Value = serde_json::from_str(line).map_err(broken)?;
        let is_change = line.get("change").is_some();
        let sequences = if is_change {
            let line: ChangeLine = serde_json::from_value(line).map_err(broken)?;
            let (ChangeForm(change), place) = (line.change, format!("{place}.change.set"));
            now = now
                .changed_by(&change)
                .map_err(|error| error.in_file(label).within(&place))?;
            changes.push(change.clone());
            change.sequences
        } else {
            let PointForm(point) = serde_json::from_value(line).map_err(broken)?;
            if let Some((key, problem)) = PointForm(point).wrong() {
                return Err(Error::content(label, format!("{place}.{key}"), problem));
            }
            points.push(point);
            point.sequences
        };
        // A change stands behind the validation of the same moment.
        let least = before.map_or(0, |before: u64| {
            before.saturating_add(u64::from(!is_change))
        });
        if sequences < least {
            let problem = format!(
                "`sequences` is {sequences}; expected {least} or more, as in the lines before"
            );
            return Err(Error::content(label, place, problem));
        }
        before = Some(sequences);
    }
    Ok(Log {
        experiment,
        command,
        points,
        changes,
    })
}

fn read_header(header: &str, label: &str) -> Result<(Experiment, String), Error> {
    let place = "line 1";
    let header: HeaderForm = parse(header, label).map_err(|error| error.within(place))?;
    if let Some((key, problem)) = file::foreign([&header.format, &header.version], FORMAT) {
        return Err(Error::content(label, place, format!("`{key}` {problem}")));
    }
    let experiment = Experiment::from_json(header.experiment.get(), label, &[])
        .map_err(|error| error.within("line 1.experiment"))?;
    Ok((experiment, header.command))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"format":"ntm-log","version":"1.1","generator":{},"command":"tapescope train x","experiment":{"name":"tiny","task":{"kind":"copy","bits":2,"length":[1,2]}}}"#;

    fn point(sequences: u64) -> String {
        format!(
            r#"{{"sequences":{sequences},"seconds":0.5,"training_bits":4.0,"validation":{{"episodes":2,"bits_per_sequence":3.0,"wrong_bits":1.0,"scored_bits":8.0,"perfect":0.0}}}}"#
        )
    }

    fn error(text: &str) -> String {
        from_text(text, "run.jsonl").unwrap_err().to_string()
    }

    #[test]
    fn a_log_reads_back_without_its_truncated_last_line() {
        let text = format!("{HEADER}\n{}\n{}\n", point(10), point(20));
        let log = from_text(&text, "x").unwrap();
        assert_eq!(log.experiment.name, "tiny");
        assert_eq!(log.command, "tapescope train x");
        assert_eq!(log.points.len(), 2);
        assert_eq!(log.points[1].sequences, 20);
        for cut in 1..point(20).len() {
            let log = from_text(&text[..text.len() - cut - 1], "x").unwrap();
            assert_eq!(log.points.len(), 1);
        }
        assert_eq!(from_text(&format!("{HEADER}\n"), "x").unwrap().points, []);
    }

    #[test]
    fn a_change_and_a_validation_differ_by_key() {
        let change = r#"{"change":{"sequences":10,"set":["task.length=[1,1]"]}}"#;
        let escaped = change.replace("change", "ch\\u0061nge");
        for change in [change, &escaped] {
            let text = format!("{HEADER}\n{}\n{change}\n{}\n", point(10), point(20));
            let log = from_text(&text, "x").unwrap();
            assert_eq!((log.points.len(), log.changes.len()), (2, 1));
        }
        let nested = point(10).replace('{', r#"{"command":"a \"change\"","#);
        let log = from_text(&format!("{HEADER}\n{nested}\n"), "x").unwrap();
        assert_eq!((log.points.len(), log.changes.len()), (1, 0));
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(
            error(&HEADER[..40]),
            "run.jsonl: ends within its first line; expected the header of a training log"
        );
        assert!(error("{}\n").starts_with("run.jsonl: `line 1`: missing field"));
        assert_eq!(
            error(&format!("{}\n", HEADER.replace("ntm-log", "other"))),
            "run.jsonl: `line 1`: `format` is `other`; expected `ntm-log`"
        );
        assert_eq!(
            error(&format!("{}\n", HEADER.replace("1.1", "2.0"))),
            "run.jsonl: `line 1`: `version` is `2.0`; expected `1.1`"
        );
        assert!(
            error(&format!("{}\n", HEADER.replace("copy", "cpoy")))
                .starts_with("run.jsonl: `line 1.experiment.task.kind`: "),
        );
        let broken = format!("{HEADER}\n{}\nrubbish\n{}\n", point(10), point(20));
        assert!(error(&broken).starts_with("run.jsonl: `line 3`: "));
        assert_eq!(
            error(&format!("{HEADER}\n{}\n{}\n", point(20), point(20))),
            "run.jsonl: `line 3`: `sequences` is 20; expected 21 or more, as in the lines before"
        );
    }
}
