//! What figures and window say about each score: name, equation, sentences, and the sum of one row.

use crate::figure::facts::equations::{InStep, added, n, product, through};
use crate::model::attention::Score;
use crate::model::score::{additive, general, location};
use crate::model::{Array, HeadTrace, ROW_KEY};

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
    pub number: &'static str,
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
    number: "(6)",
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
    number: "Bahdanau 2015",
    equation: |head| {
        if head.series(ROW_KEY).is_some() {
            return "K(i) = v · tanh(k + h(i) · W_h)".to_owned();
        }
        let mut biases = String::new();
        for (_, name) in BIASES.iter().filter(|(of, _)| head.series(of).is_some()) {
            biases.push_str(" + ");
            biases.push_str(name);
        }
        format!("K(i) = v · tanh(k · W_k + M(i) · W_M{biases})")
    },
    about: "Additive: a small learned layer combines key and row, and its units vote.",
    step: "scores its key with every row by a learned layer",
    is_product: false,
    sum: |at, row| {
        let key = at.row(&at.head.key);
        let memory: Vec<f32> = at.memory(row).collect();
        let mut vector = at.own(additive::ADDITIVE_VECTOR);
        let (query, seen) = if let Some(keys) = at.head.series(ROW_KEY) {
            let own = at.own(additive::ENCODER_VECTOR);
            if at.step < at.head.first_step && !own.is_empty() {
                vector = own;
            }
            (key.to_vec(), keys.row(row).to_vec())
        } else {
            let weights =
                [additive::ADDITIVE_KEY, additive::ADDITIVE_ROW].map(|array| at.own(array));
            (through(key, weights[0]), through(&memory, weights[1]))
        };
        if vector.is_empty() {
            return IN_WEIGHTS.to_owned();
        }
        let units = vector.iter().zip(query.iter().zip(seen));
        let biases = biases(at, row);
        let terms = units.enumerate().map(|(unit, (&v, (q, m)))| {
            let bias = biases.get(unit).copied();
            let said = bias.map_or_else(String::new, |bias| format!(" + {}", n(bias)));
            let text = format!("v({unit}) {} · tanh({} + {}{said})", n(v), n(*q), n(m));
            (text, v * (q + m + bias.unwrap_or(0.0)).tanh())
        });
        added(terms.collect())
    },
    ..DOT
};

/// The structural biases of the additive score (Cohn 2016).
const BIASES: [(Array, &str); 3] = [
    (additive::ADDITIVE_POSITION, "position"),
    (additive::ADDITIVE_MARKOV, "Markov"),
    (additive::ADDITIVE_FERTILITY, "fertility"),
];

/// The sum of these biases in a row, by unit; empty without biases.
fn biases(at: &InStep<'_>, row: usize) -> Vec<f32> {
    let (weighting, step) = (&at.head.weighting, at.step);
    let rows = weighting.width();
    let is_used = |t: &usize| weighting.row(*t).iter().any(|weight| *weight != 0.0);
    let first = (0..step).find(is_used).unwrap_or(step);
    let units = at.own(additive::ADDITIVE_VECTOR).len().max(1);
    let mut sum = Vec::new();
    for (array, _) in BIASES {
        let weights = at.own(array);
        let count = weights.len() / units;
        let value = |index: usize| {
            if array == additive::ADDITIVE_POSITION {
                let x = [step - first, row, rows][index.min(2)];
                return (1.0 + x as f32).ln();
            }
            // Of the rows about it, the last weight or the sum of all.
            let other = (row + index).checked_sub(count / 2);
            let Some(other) = other.filter(|other| *other < rows) else {
                return 0.0;
            };
            let markov = array == additive::ADDITIVE_MARKOV;
            let start = if markov {
                step.saturating_sub(1).max(first)
            } else {
                first
            };
            (start..step).map(|t| weighting.row(t)[other]).sum()
        };
        let values: Vec<f32> = (0..count).map(value).collect();
        if count > 0 {
            sum.resize(units, 0.0);
            let bias = through(&values, weights);
            sum.iter_mut()
                .zip(bias)
                .for_each(|(sum, bias)| *sum += bias);
        }
    }
    sum
}

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
    number: "Luong 2015",
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
    number: "Vaswani 2017",
    equation: |head| format!("K(i) = k · M(i) / √{}", head.key.width()),
    about: "Scaled dot: the dot product, scaled down for wide rows, so that it does not grow with their width.",
    sum: |at, row| format!("({}) / √{}", (DOT.sum)(at, row), at.head.key.width()),
    ..DOT
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attention::{Biases, Switch};
    use crate::model::{BahdanauConfig, CoattentionConfig, Model};
    use crate::task::{Span, Task, Transduce};
    use crate::train::Recording;

    #[test]
    fn rows_of_two_texts_score_each_other() {
        let task = Task::Span(Span::DEFAULT);
        let config = CoattentionConfig::new(task.inputs(), task.outputs());
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

    #[test]
    fn biases_make_up_the_recorded_score() {
        let task = Task::Transduce(Transduce::DEFAULT);
        let mut config = BahdanauConfig::new(task.inputs(), task.outputs());
        config.attention.units = 4;
        config.attention.biases = Biases {
            position: Switch::On,
            markov: 3,
            fertility: 5,
        };
        let recording = Recording::new(&Model::new(config, 5), &task, 3, 0);
        let trace = &recording.trace;
        let equation = (ADDITIVE.equation)(&trace.heads[0]);
        assert!(
            equation.ends_with("W_M + position + Markov + fertility)"),
            "{equation}"
        );
        let (first, rows) = (recording.episode.source(), trace.memory_size()[0]);
        for (step, row) in (first..trace.steps()).flat_map(|t| (0..rows).map(move |i| (t, i))) {
            let at = InStep::of(trace, false, 0, step).unwrap();
            let query = through(at.row(&at.head.key), at.own(additive::ADDITIVE_KEY));
            let memory: Vec<f32> = at.memory(row).collect();
            let seen = through(&memory, at.own(additive::ADDITIVE_ROW));
            let units = query.iter().zip(&seen).zip(biases(&at, row));
            let layer = units.map(|((q, m), bias)| (q + m + bias).tanh());
            let pairs = layer.zip(at.own(additive::ADDITIVE_VECTOR));
            let score: f32 = pairs.map(|(unit, v)| unit * v).sum();
            let recorded = at.head.similarity.row(step)[row];
            assert!(
                (score - recorded).abs() < 1e-4,
                "{score} and {recorded}, step {step}"
            );
        }
    }
}
