//! The parts of an episode that the data of a machine file are, and what a task offers.

use std::sync::Arc;

use crate::equations::page::{Page, Record};
use crate::equations::program::{Axis, Program, Series, Source};

/// A part of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All steps.
    Steps,
    /// The steps before the answer.
    Source,
    /// The steps of the answer.
    Answer,
    /// The last step: an answer without steps of its own.
    Last,
    /// The document that a question is about.
    Document,
    /// The question about it.
    Question,
}

impl Part {
    /// Its first step, and its number of steps, in an episode of this length with this source.
    pub(super) fn steps(self, [steps, source]: [usize; 2], question: usize) -> (usize, usize) {
        let source = source.min(steps);
        // Behind a document and behind a question stands a delimiter.
        let document = source.saturating_sub(question + 2);
        match self {
            Self::Steps => (0, steps),
            Self::Source => (0, source),
            Self::Answer => (source, steps - source),
            Self::Last => (steps.saturating_sub(1), 1.min(steps)),
            Self::Document => (0, document),
            Self::Question => (
                document + 1,
                question.min(source.saturating_sub(document + 1)),
            ),
        }
    }
}

/// What a task offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Input channels.
    pub inputs: usize,
    /// Output channels.
    pub outputs: usize,
    /// Whether the whole input comes before the answer.
    pub answers_last: bool,
    /// The document that a question is about; none without one.
    pub document: Option<Document>,
    /// Whether the answer is one step.
    pub has_one_answer: bool,
}

/// A document and a question about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document {
    /// Steps of the question.
    pub question: usize,
    /// Steps of the answer that each point at a step of the document; 0 for one symbol.
    pub pointers: usize,
}

/// Why the data of a file are not those of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// What the file has.
    pub has: String,
    /// What the task offers.
    pub offers: String,
    /// What the file needs of a task.
    pub needs: String,
}

/// A sequence or a vector of the data of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    /// The series; none of a target that nothing reads.
    pub series: Option<usize>,
    /// The part of the episode that it is.
    pub part: Part,
    /// The axis of its steps.
    pub steps: Option<Axis>,
    /// The axis of its channels.
    pub width: Axis,
}

/// A page with its program, and what they need of an episode.
#[derive(Debug)]
pub struct Outline {
    /// The page.
    pub page: Arc<Page>,
    /// Its program, in which the target is fed back.
    pub program: Arc<Program>,
    /// Inputs, then the target.
    pub(super) data: Vec<Data>,
    /// The series of the answer, and whether it is a probability.
    pub(super) answer: (usize, bool),
}

impl Outline {
    /// The outline of a program whose answer is this series.
    pub(super) fn new(page: Arc<Page>, program: Arc<Program>, answer: usize) -> Self {
        Self {
            data: data(&page, &program),
            answer: (answer, &*program.series[answer].name == "p"),
            page,
            program,
        }
    }

    /// The target.
    pub(super) fn target(&self) -> Data {
        self.data[self.data.len() - 1]
    }

    /// Whether the answer points at steps of a document.
    pub(super) fn points(&self) -> bool {
        self.data[0].part == Part::Document && self.data[0].steps == Some(self.target().width)
    }

    /// Whether the answer is logits with the axes of the target.
    pub(super) fn is_plain_answer(&self) -> bool {
        !self.answer.1 && self.further_axes().is_empty()
    }

    /// The axes of the answer that the target does not have: rounds, of which the last ones are asked for.
    pub(super) fn further_axes(&self) -> Vec<Axis> {
        let answer = &self.program.series[self.answer.0];
        let axes = block_axes(&self.page, &answer.blocks).chain(answer.axes.iter().copied());
        let target = self.page.target.iter().flat_map(Record::given);
        let target: Vec<Axis> = target.copied().collect();
        axes.filter(|axis| !target.contains(axis)).collect()
    }
}

/// The axes of blocks.
pub(super) fn block_axes<'a>(
    page: &'a Page,
    blocks: &'a [usize],
) -> impl Iterator<Item = Axis> + 'a {
    blocks.iter().filter_map(|block| page.blocks[*block].axis)
}

/// The parts of an episode that the inputs and the target are.
fn data(page: &Page, program: &Program) -> Vec<Data> {
    let records = || page.inputs.iter().chain(&page.target);
    let document = page.inputs.first().and_then(|input| {
        let mut axes = input.given().iter().copied();
        axes.find(|axis| page.is_sequence(*axis))
    });
    let is_target = |record: &Record| {
        page.target
            .as_ref()
            .is_some_and(|own| own.place == record.place)
    };
    let is_pointer = |axis: Axis| page.inputs.len() == 2 && Some(axis) == document;
    let axes = |record: &Record| {
        let own = record.given().iter().copied();
        let pointer = own
            .clone()
            .find(|axis| is_target(record) && is_pointer(*axis));
        if let Some(width) = pointer {
            return (own.clone().find(|axis| *axis != width), width);
        }
        let steps = own.clone().find(|axis| page.is_sequence(*axis));
        let width = own.rev().find(|axis| Some(*axis) != steps);
        (steps, width.unwrap_or(0))
    };
    let targets = page.target.iter();
    let points = targets
        .flat_map(Record::given)
        .any(|axis| is_pointer(*axis));
    let steps: Vec<Option<Axis>> = records().map(|record| axes(record).0).collect();
    let parts: &[Part] = match steps[..] {
        // An answer that points at a place in the document is as wide as that.
        [Some(_), Some(_), _] if page.inputs.len() == 2 && points => {
            &[Part::Document, Part::Question, Part::Answer]
        }
        [Some(_), Some(_), None] => &[Part::Document, Part::Question, Part::Last],
        [Some(_), None] => &[Part::Source, Part::Last],
        [Some(input), Some(target)] if input == target => &[Part::Steps, Part::Steps],
        [Some(_), Some(_)] => &[Part::Source, Part::Answer],
        [Some(_), Some(_), Some(_)] => &[Part::Document, Part::Question, Part::Answer],
        _ => &[],
    };
    let parts = parts.iter().copied().chain(std::iter::repeat(Part::Last));
    let of = |(record, part): (&Record, Part)| {
        let (steps, width) = axes(record);
        let is_it = |series: &Series| {
            let is_data = matches!(series.source, Source::Input(_) | Source::Target);
            is_data && series.name == record.names[0]
        };
        let series = program.series.iter().position(is_it);
        Data {
            series,
            part,
            steps,
            width,
        }
    };
    records().zip(parts).map(of).collect()
}
