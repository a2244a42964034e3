//! The names of steps on the axes of pictures: symbols of the input and of the answer, and source steps with the true
//! alignment.

use std::borrow::Cow;
use std::ops::Range;

use crate::figure::HeadName;
use crate::math::Answer;
use crate::model::peak;
use crate::model::sam::{RECORDED_ROWS, row_number};
use crate::model::{HeadTrace, Place, Trace, array};
use crate::task::{Links, Task};
use crate::train::{AlignmentScore, Recording, is_unrecorded};

/// The meaning of outlines in a weighting.
pub const TRUTH: &str = "outlined: true alignment";
/// The same, with possible links.
const POSSIBLE: &str = "outlined: true alignment; thin: possible";

/// The symbol of a step, on the time axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepSymbol {
    /// The name of the symbol that is received, or answered; empty without one.
    pub name: String,
    /// True for an answer.
    pub is_answer: bool,
    /// The right answer, where the answer is wrong, or missing after an early end symbol.
    pub right: Option<String>,
}

impl StepSymbol {
    /// The symbols of all steps, [T]; empty for a task without symbols.
    pub fn of_all(recording: &Recording) -> Vec<Self> {
        let (episode, source) = (&recording.episode, recording.episode.source());
        if episode.answer != Answer::Symbols {
            return Vec::new();
        }
        let symbols = (0..recording.trace.steps()).map(|step| {
            let is_answer = step >= source;
            let name = if is_answer {
                answered(recording, step)
            } else {
                received(recording, step)
            };
            let right = right(recording, step).filter(|_| recording.wrong_bits(step) > 0);
            Self {
                name: name.unwrap_or_default(),
                is_answer,
                right,
            }
        });
        symbols.collect()
    }
}

/// The name of the symbol that is the input of a step; `None` unless the input is a single 1.
pub fn received(recording: &Recording, step: usize) -> Option<String> {
    let input = recording.episode.input.row(step);
    let mut set = input.iter().enumerate().filter(|(_, value)| **value != 0.0);
    let (channel, value) = set.next()?;
    let is_symbol = *value == 1.0 && set.next().is_none();
    is_symbol.then(|| recording.task.input_name(channel))
}

/// The name of the symbol that is fed back in a step, the answer of the step before; `None` for bits.
pub fn fed_back(recording: &Recording, step: usize) -> Option<String> {
    let series = recording.trace.series(Place::Machine, array::FEEDBACK);
    let series = series.filter(|_| recording.episode.answer == Answer::Symbols)?;
    let channel = series.row(step).iter().position(|value| *value == 1.0)?;
    Some(recording.task.output_name(channel))
}

/// The name of the right answer of a step, if it has one.
pub fn right(recording: &Recording, step: usize) -> Option<String> {
    let mut target = recording.episode.target.row(step).into_iter();
    let channel = target.position(|value| *value == 1.0)?;
    Some(recording.task.output_name(channel))
}

/// The name of the symbol that the machine answers in a step; a dash after the end symbol of a free run.
pub fn answered(recording: &Recording, step: usize) -> Option<String> {
    if recording.is_missing(step) {
        return Some("–".to_owned());
    }
    let (channel, _) = peak(recording.trace.output.row(step))?;
    Some(recording.task.output_name(channel))
}

/// The short form of a name, for axes: `s3` for symbol 3, `p3` for position 3. Marks stand in brackets, such as `‹end›`, because
/// a token may have the same letters.
pub fn short(name: &str) -> Cow<'_, str> {
    match name {
        "delimiter" => "‹|›".into(),
        "start symbol" => "‹start›".into(),
        "unknown symbol" => "‹unknown›".into(),
        "question delimiter" => "‹?›".into(),
        "end symbol" | "end of span" => "‹end›".into(),
        _ => match name.split_once(' ') {
            Some(("symbol", number)) => format!("s{number}").into(),
            Some(("position", number)) => format!("p{number}").into(),
            _ => name.into(),
        },
    }
}

/// The name of a row, where it has one.
pub fn name_of(names: &[String], row: usize) -> Option<&str> {
    let name = names.get(row)?;
    (!name.is_empty()).then_some(name)
}

/// True for a machine whose memory rows are steps, of its source or all: it only reads them.
pub fn reads_source(recording: &Recording) -> bool {
    recording.trace.has_row_per_step()
}

/// The first step of the question whose steps attend to the document; that of the answer where there is none.
pub fn first_of_question(recording: &Recording) -> usize {
    let (episode, head) = (&recording.episode, recording.trace.heads.first());
    let first = episode.size + 1;
    let is_attentive = |head: &HeadTrace| head.weighting.row(first).iter().any(|w| *w > 0.0);
    let is_asked = matches!(recording.task, Task::Span(_)) && first < episode.source();
    if is_asked && head.is_some_and(is_attentive) {
        first
    } else {
        episode.source()
    }
}

/// Patches on a side of the picture that a machine describes, and pixels on a side of a patch.
pub fn picture(recording: &Recording) -> Option<[usize; 2]> {
    let (trace, Task::Caption(task)) = (&recording.trace, &recording.task) else {
        return None;
    };
    let [grid, patch] = [task.grid, task.patch];
    let has_room = grid.pow(2) <= trace.memory_size()[0] && patch.pow(2) <= trace.input.width();
    (has_room && reads_source(recording)).then_some([grid, patch])
}

/// The source of a machine that reads one.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSteps {
    /// True where the names are the numbers of the rows, of which the recording shows some.
    pub are_numbers: bool,
    /// The name of every row, [N]: the symbol of its source step, or the answer that comes from it; empty where unknown.
    pub names: Vec<String>,
    /// The source steps that every answer comes from, [T]; empty where unknown.
    pub alignment: Vec<Option<Range<usize>>>,
    /// The links, where they are known.
    pub links: Links,
    /// Those of sure links; empty if all of them are.
    pub sure: Vec<Option<Range<usize>>>,
    /// See [`picture`].
    pub picture: Option<[usize; 2]>,
}

impl SourceSteps {
    /// Names the source of an episode; `None` for a machine that reads none.
    pub fn of(recording: &Recording) -> Option<Self> {
        let trace = &recording.trace;
        if trace.series(Place::Machine, RECORDED_ROWS).is_some() {
            let rows = 0..trace.memory_size()[0];
            return Some(Self {
                are_numbers: true,
                names: rows.map(|row| row_number(trace, row).to_string()).collect(),
                alignment: vec![None; trace.steps()],
                links: Links::default(),
                sure: Vec::new(),
                picture: None,
            });
        }
        if !reads_source(recording) {
            return None;
        }
        let rows = recording.trace.memory_size()[0];
        // Without a source, every step of the machine is a row.
        let steps = match recording.episode.source() {
            0 => rows,
            source => source.min(rows),
        };
        let alignment = recording.task.alignment(&recording.episode);
        let mut names = vec![String::new(); steps];
        if recording.episode.answer == Answer::Symbols {
            for (step, from) in alignment.iter().enumerate() {
                let rows = from.clone().unwrap_or_default();
                for name in names.get_mut(rows).into_iter().flatten() {
                    *name = right(recording, step).unwrap_or_default();
                }
            }
            let symbols: Vec<_> = (0..steps).map(|row| received(recording, row)).collect();
            // A sequence of symbols has one in every step; its last is the delimiter.
            if symbols.iter().all(Option::is_some) {
                names = symbols.into_iter().flatten().collect();
            } else if let (Some(name), Some(delimiter)) = (names.last_mut(), &symbols[steps - 1]) {
                name.clone_from(delimiter);
            }
        }
        names.resize(rows, String::new());
        let picture = picture(recording);
        // In a picture, all patches have names or none.
        if picture.is_some() && alignment.iter().any(Option::is_some) {
            let blank = names.iter_mut().filter(|name| name.is_empty());
            blank.for_each(|name| "blank".clone_into(name));
        }
        let [_, sure] = recording.episode.links.by_step(alignment.len());
        Some(Self {
            are_numbers: false,
            names,
            links: recording.episode.links.clone(),
            sure,
            alignment,
            picture,
        })
    }

    /// True where some answer has a true alignment.
    pub fn is_aligned(&self) -> bool {
        self.alignment.iter().any(Option::is_some)
    }

    /// The alignment error rate of the weights of a head, 0 to 1, where the alignment came with the recording.
    pub fn error_rate(&self, head: &HeadTrace) -> Option<f64> {
        let is_known = self.links.are_known() && !is_unrecorded(head.weighting.as_slice());
        let mut score = AlignmentScore::default();
        is_known.then(|| {
            let steps = 0..self.alignment.len().min(head.weighting.steps());
            score.add_steps(
                |t| head.weighting.row(t),
                &self.alignment,
                &self.links,
                steps,
            );
            score.error_rate()
        })
    }

    /// The meaning of the outlines.
    pub fn outlines(&self) -> &'static str {
        if self.sure.is_empty() {
            TRUTH
        } else {
            POSSIBLE
        }
    }

    /// The meaning of the outlines in the weighting of a head, with its alignment error rate.
    pub fn truth(&self, head: Option<&HeadTrace>) -> String {
        let rate = head.and_then(|head| self.error_rate(head));
        let rate = rate.map(|rate| format!("; alignment error rate {rate:.3}"));
        self.outlines().to_owned() + &rate.unwrap_or_default()
    }

    /// The lowest alignment error rate of all heads, in words, where the alignment came with the recording.
    pub fn lowest_error(&self, trace: &Trace) -> Option<String> {
        let rates = trace.heads.iter().enumerate();
        let rates = rates.filter_map(|(head, own)| Some((self.error_rate(own)?, head)));
        let (rate, head) = rates.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let head = HeadName::of(trace, head);
        Some(format!(
            "alignment error rate {rate:.3} of {head}, the lowest"
        ))
    }

    /// A text with the name of a row after its number: `row 2 [symbol 7]`.
    pub fn named(&self, text: &str, row: usize) -> String {
        if self.are_numbers {
            return text.to_owned();
        }
        let number = format!("row {row}");
        let is_it = |end: usize| !text[end..].starts_with(|c: char| c.is_ascii_digit());
        let mut found = text.match_indices(&number).map(|(at, _)| at + number.len());
        match (name_of(&self.names, row), found.find(|end| is_it(*end))) {
            // A token such as [CLS] has brackets of its own.
            (Some(name), Some(end)) if name.starts_with('[') && name.ends_with(']') => {
                format!("{} {name}{}", &text[..end], &text[end..])
            }
            (Some(name), Some(end)) => format!("{} [{name}]{}", &text[..end], &text[end..]),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EquationsConfig, Model, NtmConfig};
    use crate::task::{Caption, Copy, Frames, Text, Transduce};

    fn recording(task: &Task) -> Recording {
        let machine = EquationsConfig::included("bahdanau", [task.inputs(), task.outputs()], &[]);
        Recording::new(&Model::new(machine.unwrap(), 1), task, 3, 1)
    }

    #[test]
    fn source_steps_have_the_names_of_their_symbols() {
        let transduce = Transduce {
            symbols: 4,
            ..Transduce::DEFAULT
        };
        let task = Task::Transduce(transduce.clone());
        let episode = transduce.episode_of(&[2, 0, 3]);
        let machine = EquationsConfig::included("bahdanau", [task.inputs(), task.outputs()], &[]);
        let recording = Recording::of(&Model::new(machine.unwrap(), 1), &task, episode, None);
        let source = SourceSteps::of(&recording).unwrap();
        let wanted = ["symbol 2", "symbol 0", "symbol 3", "delimiter"];
        assert_eq!(source.names, wanted);
        let named = source.named("rows 1, row 12 and row 1 (9 %)", 1);
        assert_eq!(named, "rows 1, row 12 and row 1 [symbol 0] (9 %)");
        let symbols = StepSymbol::of_all(&recording);
        assert_eq!(symbols[2].name, "symbol 3");
        assert!(!symbols[3].is_answer && symbols[4].is_answer);
        for (step, symbol) in symbols.iter().enumerate().skip(4) {
            let wrong = recording.wrong_bits(step) > 0;
            assert_eq!(symbol.right.is_some(), wrong, "step {step}");
        }
        assert_eq!(
            (&*short("symbol 12"), &*short("end symbol")),
            ("s12", "‹end›")
        );
        assert_eq!(&*short("pixel 3"), "pixel 3");
        // A token is no mark.
        assert!(
            ["end", "|", "start", "?"]
                .iter()
                .all(|token| *short(token) == **token)
        );
        let names = ["position 12", "question delimiter", "end of span"].map(short);
        assert_eq!(names.map(Cow::into_owned), ["p12", "‹?›", "‹end›"]);
    }

    #[test]
    fn patches_and_frames_are_named_by_the_true_alignment() {
        for task in [
            Task::Caption(Caption::DEFAULT),
            Task::Frames(Frames::DEFAULT),
        ] {
            let recording = recording(&task);
            let source = SourceSteps::of(&recording).unwrap();
            assert_eq!(source.names.last().unwrap(), "delimiter");
            for (step, from) in source.alignment.iter().enumerate() {
                for row in from.clone().unwrap_or_default() {
                    assert_eq!(Some(&source.names[row]), right(&recording, step).as_ref());
                }
            }
            let is_caption = matches!(task, Task::Caption(_));
            let blank = source.names.iter().filter(|name| *name == "blank").count();
            assert_eq!(blank > 0, is_caption, "{:?}", source.names);
            assert!(source.names.iter().all(|name| !name.is_empty()));
            assert_eq!(source.picture, is_caption.then_some([4, 4]));
        }
    }

    #[test]
    fn rows_of_a_machine_without_a_source_have_the_words_of_their_steps() {
        let mut text = Text::NONE;
        text.symbols = "a b".to_owned();
        let task = Task::Text(text.clone());
        let channels = [task.inputs(), task.outputs()];
        let machine = EquationsConfig::included("multi_head_layers", channels, &[]).unwrap();
        let episode = text.episode_of("b c a").unwrap();
        let recording = Recording::of(&Model::new(machine, 1), &task, episode, None);
        let source = SourceSteps::of(&recording).unwrap();
        assert_eq!(source.names, ["start symbol", "b", "unknown symbol", "a"]);
        assert_eq!(&*short(&source.names[0]), "‹start›");
    }

    #[test]
    fn bits_have_no_names_and_a_written_memory_is_no_source() {
        let task = Task::Copy(Copy::EXAMPLE);
        let source = SourceSteps::of(&recording(&task)).unwrap();
        assert!(source.names.iter().all(String::is_empty));
        assert!(StepSymbol::of_all(&recording(&task)).is_empty());
        let read = recording(&task);
        let mut steps = 0..read.trace.steps();
        assert!(steps.all(|step| fed_back(&read, step).is_none()));
        assert!(source.alignment.iter().flatten().count() > 0);
        let ntm = NtmConfig::new(task.inputs(), task.outputs());
        let written = Recording::new(&Model::new(ntm, 1), &task, 3, 1);
        assert_eq!(SourceSteps::of(&written), None);
    }
}
