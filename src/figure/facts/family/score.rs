//! Scores in figures and window: name, equation, sentences, and the sum of one row.

use super::tables::Tables;
use crate::figure::facts::column::{COLUMN, Column, ValueKind};
use crate::figure::facts::heads::has;
use crate::figure::facts::in_step::{InStep, added, n, product, through};
use crate::figure::facts::stage::Stage;
use crate::model::attention::Score;
use crate::model::score::{additive, general, location};
use crate::model::{HeadTrace, array};

pub(super) const TABLES: Tables = Tables {
    columns: &COLUMNS,
    ..Tables::EMPTY
};

/// The sum of a score of a machine file, whose learned tensors are in its weights and not in its trace.
const IN_WEIGHTS: &str = "by learned tensors of the weights file";

/// The words for a score.
#[derive(Debug)]
pub struct ScoreText {
    /// Symbol in the equations.
    pub symbol: &'static str,
    /// Name in one word.
    pub word: &'static str,
    /// The number of the equation in the paper, or another source.
    pub source: &'static str,
    /// The equation of a head.
    pub equation: fn(&HeadTrace) -> String,
    /// The explanation, in a sentence.
    pub about: &'static str,
    /// What a head does with its key in a step.
    pub step: &'static str,
    /// True where it multiplies the key with the contents of a row, value by value.
    pub is_product: bool,
    /// False where it ignores the contents of a row.
    pub reads_rows: bool,
    /// The equation with the numbers of a row at a step.
    pub sum: fn(&InStep<'_>, usize) -> String,
}

#[rustfmt::skip] // A line for each.
static COLUMNS: [Column; 6] = [
    Column { parameter: |_| "key k".to_owned(), ..column(&COSINE, |head| has_score(head, Score::Cosine)) },
    column(&ADDITIVE, |head| has_score(head, Score::Additive)),
    column(&LOCATION, |head| has_score(head, Score::Location)),
    column(&GENERAL, |head| has_score(head, Score::General)),
    column(&DOT, |head| has_score(head, Score::Dot)),
    column(&SCALED_DOT, |head| has_score(head, Score::ScaledDot)),
];

/// The column of a score, and whether a head has it.
const fn column(text: &ScoreText, has: fn(&HeadTrace) -> bool) -> Column {
    Column {
        symbol: text.symbol,
        word: text.word,
        array: array::SIMILARITY,
        stage: Stage::Content,
        values: ValueKind::Scores,
        source: text.source,
        has,
        equation: text.equation,
        sum: text.sum,
        ..COLUMN
    }
}

pub(super) fn has_score(head: &HeadTrace, score: Score) -> bool {
    head.mechanism.score == score && has(head, array::SIMILARITY)
}

/// The argument of the softmax of the content weighting of a head, as symbols.
pub(super) fn energy(head: &HeadTrace) -> String {
    let score = if has_score(head, Score::Cosine) {
        "cos(k, M)"
    } else {
        "K"
    };
    let has_beta = head.strength.width() > 0;
    let beta = if has_beta { "β · " } else { "" };
    format!("{beta}{score}")
}

/// Returns the words for a score.
pub fn score_text(score: Score) -> &'static ScoreText {
    match score {
        Score::Cosine => &COSINE,
        Score::Additive => &ADDITIVE,
        Score::Location => &LOCATION,
        Score::General => &GENERAL,
        Score::Dot => &DOT,
        Score::ScaledDot => &SCALED_DOT,
    }
}

const COSINE: ScoreText = ScoreText {
    symbol: "cos",
    word: "match",
    source: "(6)",
    equation: |_| "cosine of the key k with each row of M, −1 to 1".to_owned(),
    about: "Cosine: the angle between key and row, whatever their lengths.",
    step: "compares its key with every row",
    is_product: true,
    reads_rows: true,
    sum: |at, row| {
        let (key, memory) = (at.row(&at.head.key), at.memory(row));
        let dot: f32 = key.iter().zip(memory.clone()).map(|(k, m)| k * m).sum();
        let norm = |sum: f32| n(sum.sqrt());
        let key = norm(key.iter().map(|k| k * k).sum());
        let row = norm(memory.map(|m| m * m).sum());
        format!("k·M {} / (|k| {key} · |M| {row})", n(dot))
    },
};

const ADDITIVE: ScoreText = ScoreText {
    word: "additive",
    source: "Bahdanau 2015",
    equation: |_| "K(i) = v · tanh(k · W_k + M(i) · W_M)".to_owned(),
    about: "Additive: a small learned layer combines key and row, and its units vote.",
    step: "scores its key with every row by a learned layer",
    is_product: false,
    sum: |at, row| {
        let key = at.row(&at.head.key);
        let memory: Vec<f32> = at.memory(row).collect();
        let vector = at.own(additive::ADDITIVE_VECTOR);
        if vector.is_empty() {
            return IN_WEIGHTS.to_owned();
        }
        let weights = [additive::ADDITIVE_KEY, additive::ADDITIVE_ROW].map(|array| at.own(array));
        let (query, seen) = (through(key, weights[0]), through(&memory, weights[1]));
        let units = vector.iter().zip(query.iter().zip(seen));
        let terms = units.enumerate().map(|(unit, (&v, (q, m)))| {
            let text = format!("v({unit}) {} · tanh({} + {})", n(v), n(*q), n(m));
            (text, v * (q + m).tanh())
        });
        added(terms.collect())
    },
    ..DOT
};

const LOCATION: ScoreText = ScoreText {
    word: "location",
    equation: |_| "K(i) = (k · W)(i), independent of M".to_owned(),
    about: "Location: the key scores rows by position alone; their contents are ignored.",
    step: "scores every row by position, ignoring contents",
    is_product: false,
    reads_rows: false,
    sum: |at, row| {
        let (key, weights) = (at.row(&at.head.key), at.own(location::LOCATION));
        if weights.is_empty() {
            return IN_WEIGHTS.to_owned();
        }
        let rows = weights.len() / key.len().max(1);
        let column = weights.iter().skip(row).step_by(rows.max(1)).copied();
        product(["k", "W"], key.iter().copied().zip(column))
    },
    ..DOT
};

const GENERAL: ScoreText = ScoreText {
    word: "general",
    equation: |_| "K(i) = k · W · M(i)".to_owned(),
    about: "General: a learned matrix relates parts of the key to parts of a row.",
    step: "multiplies its key, transformed by a learned matrix, with every row",
    is_product: false,
    sum: |at, row| {
        let learned = at.own(general::BILINEAR);
        if learned.is_empty() {
            return IN_WEIGHTS.to_owned();
        }
        let query = through(at.row(&at.head.key), learned);
        product(["kW", "M"], query.into_iter().zip(at.memory(row)))
    },
    ..DOT
};

const DOT: ScoreText = ScoreText {
    symbol: "K",
    word: "dot",
    source: "Luong 2015",
    equation: |_| "K(i) = k · M(i)".to_owned(),
    about: "Dot: the dot product of key and row; long rows match more.",
    step: "multiplies its key with every row",
    is_product: true,
    reads_rows: true,
    sum: |at, row| {
        let key = at.row(&at.head.key).iter().copied();
        if key.len() > 0 {
            return product(["k", "M"], key.zip(at.memory(row)));
        }
        // Two texts: a row of one is the key of the other.
        if at.step < at.head.weighting.width() {
            return product(["M", "M"], at.memory(at.step).zip(at.memory(row)));
        }
        "from the decoder".to_owned()
    },
};

const SCALED_DOT: ScoreText = ScoreText {
    word: "scaled dot",
    source: "Vaswani 2017",
    equation: |head| format!("K(i) = k · M(i) / √{}", head.key.width()),
    about: "Scaled dot: the dot product, scaled down for wide rows, so that it does not grow with their width.",
    sum: |at, row| format!("({}) / √{}", (DOT.sum)(at, row), at.head.key.width()),
    ..DOT
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EquationsConfig, Model};
    use crate::task::{Span, Task};
    use crate::train::Recording;

    #[test]
    fn rows_of_two_texts_score_each_other() {
        let task = Task::Span(Span::DEFAULT);
        let channels = [task.inputs(), task.outputs()];
        let mut config = EquationsConfig::included("coattention", channels, &[]).unwrap();
        config.question = Span::DEFAULT.question;
        let recording = Recording::new(&Model::new(config, 5), &task, 3, 0);
        let (trace, question) = (&recording.trace, recording.episode.source() - 1);
        let at = InStep::of(trace, false, 0, question).unwrap();
        let score: f32 = at
            .memory(question)
            .zip(at.memory(1))
            .map(|(q, d)| q * d)
            .sum();
        let recorded = at.head.similarity.row(question)[1];
        assert!((score - recorded).abs() < 1e-4, "{score} and {recorded}");
        assert!((DOT.sum)(&at, 1).contains(" · "), "{}", (DOT.sum)(&at, 1));
        let answer = InStep::of(trace, false, 0, trace.steps() - 1).unwrap();
        assert_eq!((DOT.sum)(&answer, 1), "from the decoder");
    }
}
