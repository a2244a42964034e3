//! The stages of a step: one table, from which pipeline, inspector, figures, captions and tour take symbol, word,
//! equation, parameter and values, and the player how many there are.
//!
//! The recorded arrays determine which stages a machine has: without heads only the first and the last, without gates no
//! gate stage.

use std::sync::LazyLock;

use crate::figure::facts::equations::{self, InStep, SYMBOLS};
use crate::figure::facts::heads::{EMITTED, Emitted, derived, signed};
use crate::figure::facts::links::MODES;
use crate::figure::facts::scores::score_text;
use crate::figure::facts::statements::Statement;
use crate::figure::{facts::numbers, offset};
use crate::math::Series;
use crate::model::attention::{Score, Weighting};
use crate::model::dnc::{
    ALLOCATION, ALLOCATION_GATE, BACKWARD, FORWARD, READ_MODES, USAGE, WRITE_GATE,
};
use crate::model::sam;
use crate::model::weighting::bayesian::PRIOR;
use crate::model::{Array, HeadTrace, NoiseMode, Trace, array, peak};

/// A stage: a part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The controller has seen the input and the last reads, and emits the parameters of the heads.
    Controller,
    /// The usage of the rows: what was read is freed, what was written is used.
    Usage,
    /// The age of the rows: that which was accessed longest ago.
    Age,
    /// The least used rows are allocated.
    Allocate,
    /// The key is compared with every row, sharpened by the key strength, as a distribution.
    Content,
    /// The content weighting is blended with the previous weighting.
    Gate,
    /// The weighting moves along the rows.
    Shift,
    /// The weighting is sharpened.
    Sharpen,
    /// A hard head samples one row.
    Draw,
    /// The read heads follow the links, backward and forward.
    Links,
    /// The weighting of a head without other recorded weightings, or the mixture of several.
    Weigh,
    /// The read heads read.
    Read,
    /// The write heads erase.
    Erase,
    /// The write heads add.
    Add,
    /// A statement of a machine file, by its place among all.
    Statement(usize),
    /// The answer of the step.
    Output,
}

/// The stages that make a weighting, in order.
const ADDRESSING: [Stage; 10] = [
    Stage::Usage,
    Stage::Age,
    Stage::Allocate,
    Stage::Content,
    Stage::Gate,
    Stage::Shift,
    Stage::Sharpen,
    Stage::Draw,
    Stage::Links,
    Stage::Weigh,
];

impl Stage {
    /// Returns the word on screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Usage => "usage",
            Self::Age => "age",
            Self::Allocate => "allocate",
            Self::Content => "content",
            Self::Gate => "gate",
            Self::Shift => "shift",
            Self::Sharpen => "sharpen",
            Self::Draw => "sample",
            Self::Links => "links",
            Self::Weigh => "weigh",
            Self::Read => "read",
            Self::Erase => "erase",
            Self::Add => "add",
            Self::Statement(_) => "statement",
            Self::Output => "output",
        }
    }

    /// Returns the stage that computes an array, by its name in a trace file; of this head, if it belongs to one.
    pub fn of_array(array: &str, head: Option<&HeadTrace>) -> Self {
        let name = array.rsplit('.').next().unwrap_or_default();
        let mut columns: Vec<_> = head.into_iter().flat_map(columns_of).collect();
        match name {
            "read" => Self::Read,
            "memory" => Self::Add,
            "output" | "loss" => Self::Output,
            "noise" | "normal" | "centre" | "divergence" => Self::Content,
            "draw" => Self::Draw,
            "weighting" => columns.pop().map_or(Self::Controller, |last| last.stage),
            _ => {
                let column = columns.iter().find(|column| column.array.name == name);
                column.map_or(Self::Controller, |column| column.stage)
            }
        }
    }

    fn applies_to(self, head: &HeadTrace) -> bool {
        match self {
            Self::Controller | Self::Output => true,
            Self::Statement(_) => false,
            Self::Read => head.read.width() > 0,
            Self::Erase => head.erase.width() > 0,
            Self::Add => head.is_write(),
            stage => columns_of(head).any(|column| column.stage == stage),
        }
    }
}

/// The word for what drives the heads of a machine.
pub fn network(trace: &Trace) -> &'static str {
    if trace.is_file() {
        return "input";
    }
    let mut own = trace.kind_arrays.arrays();
    if own.any(|(array, _)| array.name == "embedded") {
        "embedding"
    } else if trace.layers.is_empty() && !trace.heads.is_empty() {
        "encoder"
    } else if trace.heads.iter().any(|head| head.first_step > 0) {
        "decoder"
    } else {
        Stage::Controller.word()
    }
}

/// A stage of a step of some machine, and the heads that are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageRef {
    /// The stage.
    pub stage: Stage,
    /// True for write heads, false for read heads; `None` if both share the stage.
    write: Option<bool>,
    /// The word for the first stage of the machine, or for a statement.
    network: &'static str,
}

impl StageRef {
    /// Returns a name of one or two words.
    pub fn name(self) -> String {
        let is_of_reads = self.write == Some(false) && self.stage != Stage::Read;
        let read = if is_of_reads { "read " } else { "" };
        match self.stage {
            Stage::Controller => self.network.to_owned(),
            Stage::Statement(_) => self.network.replace(['.', '_'], " "),
            stage => format!("{read}{}", stage.word()),
        }
    }

    /// True for a head that takes part in it.
    pub fn has(self, head: &HeadTrace) -> bool {
        self.write.is_none_or(|write| write == head.is_write()) && self.stage.applies_to(head)
    }
}

/// The stages of every step of a machine, in the order in which it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages {
    all: Vec<StageRef>,
    /// The statements of a machine file; none of another machine.
    pub statements: Vec<Statement>,
}

impl Stages {
    /// Returns the stages of the machine that made this trace.
    pub fn of(trace: &Trace, writes_first: bool) -> Self {
        let mut moments = Vec::new();
        let network = network(trace);
        let mut add = |stages: &[Stage], write: Option<bool>| {
            let moments_of = stages.iter().map(|&stage| StageRef {
                stage,
                write,
                network,
            });
            let heads = || trace.heads.iter();
            let is_there = |at: &StageRef| heads().any(|head| at.has(head));
            moments.extend(moments_of.filter(is_there));
        };
        if writes_first {
            add(&ADDRESSING, Some(true));
            add(&[Stage::Erase, Stage::Add], Some(true));
            add(&ADDRESSING, Some(false));
            add(&[Stage::Read], Some(false));
        } else {
            add(&ADDRESSING, None);
            add(&[Stage::Read, Stage::Erase, Stage::Add], None);
        }
        let always = |stage| StageRef {
            stage,
            write: None,
            network,
        };
        moments.insert(0, always(Stage::Controller));
        let statements = if trace.is_file() {
            Statement::of_all(trace)
        } else {
            Vec::new()
        };
        let places = statements.iter().enumerate();
        moments.extend(places.map(|(index, own)| StageRef {
            network: own.name,
            ..always(Stage::Statement(index))
        }));
        moments.push(always(Stage::Output));
        Self {
            all: moments,
            statements,
        }
    }

    /// True where the write heads have written before the read heads address the memory.
    pub fn writes_first(&self) -> bool {
        self.all.iter().any(|at| at.write == Some(true))
    }

    /// Number of stages.
    #[expect(clippy::len_without_is_empty, reason = "there are always two")]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = StageRef> + '_ {
        self.all.iter().copied()
    }

    /// Returns the stage at a place; beyond the end, the last one.
    pub fn at(&self, place: usize) -> StageRef {
        self.all[place.min(self.all.len() - 1)]
    }

    /// Place of a stage in the order; for a head, where the heads do not share the stage.
    pub fn place(&self, stage: Stage, head: Option<&HeadTrace>) -> Option<usize> {
        let is_it = |at: &StageRef| at.stage == stage && head.is_none_or(|head| at.has(head));
        self.all.iter().position(is_it)
    }

    /// Place of the stage that matches one of another machine: the same stage, or the last before it.
    pub fn matching_place(&self, other: StageRef) -> usize {
        let same = self.all.iter().position(|at| *at == other);
        let alike = || self.place(other.stage, None);
        let before = |at: &StageRef| at.stage <= other.stage;
        let last = || self.all.iter().rposition(before).unwrap_or(0);
        same.or_else(alike).unwrap_or_else(last)
    }

    /// Places of the stages in which a head addresses the memory.
    pub fn addressing(&self, head: &HeadTrace) -> Vec<usize> {
        let is_it = |at: &StageRef| ADDRESSING.contains(&at.stage) && at.has(head);
        let places = 0..self.all.len();
        places.filter(|&place| is_it(&self.all[place])).collect()
    }

    /// True where a stage is complete at `place`.
    pub fn reached(&self, place: usize, stage: Stage, head: Option<&HeadTrace>) -> bool {
        self.place(stage, head).is_some_and(|at| at <= place)
    }
}

/// A weighting of the addressing, or the match that it begins with: a number for every row of the memory.
#[derive(Debug)]
pub struct Column {
    /// Symbol in the equations.
    pub symbol: &'static str,
    /// Name in one word.
    pub word: &'static str,
    /// Its array.
    pub array: Array,
    /// The stage that computes it.
    pub stage: Stage,
    /// The number of the equation in the paper, or another source.
    number: &'static str,
    /// The head parameter of the column, if it has one.
    emits: Option<&'static Emitted>,
    /// The score that a head must have.
    score: Option<Score>,
    /// True if a head has this column.
    has: fn(&HeadTrace) -> bool,
    /// The equation by which a head computes it.
    pub equation: fn(&HeadTrace) -> String,
    /// The head parameter for it, as short as possible: `g .98`.
    pub parameter: fn(&InStep<'_>) -> String,
    /// The equation with the numbers of a row at a step, several terms on lines of their own.
    pub sum: fn(&InStep<'_>, usize) -> String,
}

/// The weighting of the step before, which is in no trace as an array of its own.
pub const BEFORE: Array = &derived("before");

/// All columns, in the order of the addressing. A head has at most one column per array.
pub static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let scores = Score::ALL.iter().map(|&score| score_column(score));
    let [before, usage, allocation, others @ ..] = columns();
    let first = [before, usage, allocation].into_iter();
    first.chain(scores).chain(others).collect()
});

/// The column of a score.
fn score_column(score: Score) -> Column {
    let text = score_text(score);
    Column {
        symbol: text.symbol,
        word: text.word,
        array: array::SIMILARITY,
        stage: Stage::Content,
        number: text.number,
        emits: None,
        score: Some(score),
        has: |head| has(head, array::SIMILARITY),
        equation: text.equation,
        parameter: match score {
            Score::Cosine => |_| "key k".to_owned(),
            _ => |_| String::new(),
        },
        sum: text.sum,
    }
}

/// All columns but those of the scores, which stand after the first three.
#[rustfmt::skip] // One line for the constants, one for the functions.
const fn columns() -> [Column; 19] { [
    Column { symbol: "wₜ₋₁", word: "before", array: BEFORE, stage: Stage::Controller, number: "", emits: None, score: None, has: |head| has(head, array::INITIAL) && has(head, array::GATED),
        equation: |_| "the weighting of the previous step".to_owned(), parameter: |_| String::new(), sum: |_, _| "the previous step".to_owned() },
    Column { symbol: "u", word: "usage", array: USAGE, stage: Stage::Usage, number: GRAVES, emits: None, score: None, has: |head| has(head, USAGE),
        equation: |_| "u = (uₜ₋₁ + wₜ₋₁ − uₜ₋₁ · wₜ₋₁) · Π (1 − f · wʳₜ₋₁)".to_owned(), parameter: |_| String::new(), sum: equations::usage },
    Column { symbol: "a", word: "allocate", array: ALLOCATION, stage: Stage::Allocate, number: GRAVES, emits: None, score: None, has: |head| has(head, ALLOCATION),
        equation: |_| "a = (1 − u) · Π u of the rows that are used less".to_owned(), parameter: |_| String::new(), sum: equations::allocation },
    Column { symbol: "age", word: "age", array: sam::AGE, stage: Stage::Age, number: RAE, emits: None, score: None, has: |head| has(head, sam::AGE),
        equation: |_| "steps since the row was last accessed, a full bar: longer than the episode; i is the oldest row".to_owned(), parameter: |_| String::new(), sum: equations::age },
    Column { symbol: "m", word: "prior", array: PRIOR, stage: Stage::Content, number: "Fan 2020", emits: None, score: None, has: |head| has(head, PRIOR),
        equation: |_| "m: expected from the rows of M alone, without the key".to_owned(), parameter: |_| String::new(), sum: |_, _| "from this row of M, relative to all rows".to_owned() },
    Column { symbol: SYMBOLS[0], word: "content", array: array::CONTENT, stage: Stage::Content, number: "(5, 6)", emits: Some(&EMITTED[0]), score: None, has: |head| has(head, array::CONTENT),
        equation: content, parameter: |at| at.strength().map_or_else(String::new, |beta| emits("β", beta)), sum: equations::content },
    Column { symbol: SYMBOLS[1], word: "gate", array: array::GATED, stage: Stage::Gate, number: "(7)", emits: Some(&EMITTED[1]), score: None, has: |head| has(head, array::GATED),
        equation: |_| "wᵍ = g · wᶜ + (1 − g) · wₜ₋₁".to_owned(), parameter: |at| format!("g {}", numbers::cell(at.head.gate[at.step])), sum: equations::gate },
    Column { symbol: SYMBOLS[2], word: "shift", array: array::SHIFTED, stage: Stage::Shift, number: "(8)", emits: Some(&EMITTED[2]), score: None, has: |head| has(head, array::SHIFTED),
        equation: |head| format!("w\u{303}(i) = Σ {}(j) · s(i − j)", before(head, array::SHIFTED)), parameter: shift_parameter, sum: equations::shift },
    Column { symbol: "α", word: "sharpen", array: array::DISTRIBUTION, stage: Stage::Sharpen, has: |head| is_hard(head) && has(head, array::SHARPENING), ..SHARPEN },
    Column { symbol: "α", word: "prob.", array: array::DISTRIBUTION, stage: Stage::Draw, number: "Xu 2015", emits: None, score: None, has: |head| is_hard(head) && !has(head, array::SHARPENING),
        equation: |head| format!("α = {}: the probability of each row", before(head, array::DISTRIBUTION)), parameter: |_| String::new(), sum: |_, _| "unchanged: there is no sharpening".to_owned() },
    Column { symbol: "w", word: "sample", array: array::WEIGHTING, stage: Stage::Draw, number: "Xu 2015", emits: None, score: None, has: is_hard,
        equation: |_| "w = 1 in one row, sampled from α; or in the most likely row; or, expected, α itself".to_owned(), parameter: draw_parameter, sum: equations::drawn },
    Column { symbol: "w", word: "sharpen", array: array::WEIGHTING, stage: Stage::Sharpen, has: |head| !is_hard(head) && has(head, array::SHARPENING), ..SHARPEN },
    Column { symbol: "b", word: "backward", array: BACKWARD, stage: Stage::Links, number: GRAVES, emits: None, score: None, has: |head| has(head, BACKWARD),
        equation: |_| "b(i) = Σ L(j, i) · wₜ₋₁(j)".to_owned(), parameter: |_| String::new(), sum: |at, row| equations::links(at, row, false) },
    Column { symbol: "f", word: "forward", array: FORWARD, stage: Stage::Links, number: GRAVES, emits: None, score: None, has: |head| has(head, FORWARD),
        equation: |_| "f(i) = Σ L(i, j) · wₜ₋₁(j)".to_owned(), parameter: |_| String::new(), sum: |at, row| equations::links(at, row, true) },
    Column { symbol: "w", word: "write", array: array::WEIGHTING, stage: Stage::Weigh, number: GRAVES, emits: None, score: None, has: |head| has(head, WRITE_GATE) && !is_sparse(head),
        equation: write_equation, parameter: write_parameter, sum: equations::written },
    Column { symbol: "w", word: "mix", array: array::WEIGHTING, stage: Stage::Weigh, number: GRAVES, emits: None, score: None, has: |head| has(head, READ_MODES),
        equation: |_| "w = π₁ · b + π₂ · wᶜ + π₃ · f".to_owned(), parameter: modes_parameter, sum: equations::mixed },
    Column { symbol: "w", word: "write", array: array::WEIGHTING, stage: Stage::Weigh, number: RAE, emits: None, score: None, has: |head| has(head, sam::ROW),
        equation: |_| "w = gʷ · (γ · wʳₜ₋₁ + (1 − γ) · 1 in row i)".to_owned(), parameter: sparse_parameter, sum: equations::sparse_write },
    Column { symbol: "w", word: "softmax", array: array::WEIGHTING, stage: Stage::Weigh, number: RAE, emits: None, score: None, has: |head| has(head, sam::ROWS),
        equation: |head| format!("w = softmax(β · K) over the {} rows of the largest K", head.series(sam::ROWS).map_or(0, Series::width)), parameter: |at| at.strength().map_or_else(String::new, |beta| emits("β", beta)), sum: equations::sparse_read },
    Column { symbol: "w", word: "weigh", array: array::WEIGHTING, stage: Stage::Weigh, number: "", emits: None, score: None, has: |head| has(head, array::WEIGHTING) && !is_sparse(head) && ![array::CONTENT, array::GATED, array::SHIFTED, array::SHARPENING].into_iter().any(|array| has(head, array)),
        equation: |_| "the weighting of this head".to_owned(), parameter: |_| String::new(), sum: |_, _| "used by the head to read or write".to_owned() },
] }

/// The source of the equations of a Differentiable Neural Computer.
const GRAVES: &str = "Graves 2016";

/// The source of the equations of sparse access memory.
const RAE: &str = "Rae 2016";

/// True of a head of sparse access memory.
pub fn is_sparse(head: &HeadTrace) -> bool {
    has(head, sam::ROWS) || has(head, sam::ROW)
}

/// The gates of its write heads: `gʷ .98 γ .02`.
fn sparse_parameter(at: &InStep<'_>) -> String {
    let [write, interpolation] = [WRITE_GATE, sam::INTERPOLATION_GATE].map(|gate| {
        at.own(gate)
            .first()
            .map_or_else(String::new, |&gate| numbers::cell(gate))
    });
    format!("gʷ {write} γ {interpolation}")
}

/// The equation of the write weighting of a Differentiable Neural Computer.
fn write_equation(head: &HeadTrace) -> String {
    if has(head, ALLOCATION) {
        "w = gʷ · (gᵃ · a + (1 − gᵃ) · wᶜ)".to_owned()
    } else {
        "w = gʷ · wᶜ".to_owned()
    }
}

/// The gate that tells most of the write head: `gᵃ .98`; `gʷ .02` where it hardly writes.
fn write_parameter(at: &InStep<'_>) -> String {
    let gate = |array| at.own(array).first().copied();
    let write = gate(WRITE_GATE).unwrap_or(f32::NAN);
    match gate(ALLOCATION_GATE).filter(|_| write >= 0.5) {
        Some(allocation) => format!("gᵃ {}", numbers::cell(allocation)),
        None => format!("gʷ {}", numbers::cell(write)),
    }
}

/// The largest read mode, by the weighting that it takes: `f .90`.
fn modes_parameter(at: &InStep<'_>) -> String {
    let most = peak(at.own(READ_MODES));
    most.map_or_else(String::new, |(mode, share)| {
        format!("{} {}", MODES[0][mode], numbers::cell(share))
    })
}

/// True of a head whose weighting is a mixture of several.
pub fn is_mixed(head: &HeadTrace) -> bool {
    has(head, WRITE_GATE) || has(head, READ_MODES)
}

/// The properties of all sharpened weightings.
const SHARPEN: Column = Column {
    symbol: "w",
    word: "sharpen",
    array: array::WEIGHTING,
    stage: Stage::Sharpen,
    number: "(9)",
    emits: Some(&EMITTED[3]),
    score: None,
    has: |_| false,
    equation: |head| {
        let made = if is_hard(head) { "α" } else { "w" };
        let from = before(head, array::WEIGHTING);
        format!("{made} = {from}^γ / Σ {from}^γ")
    },
    parameter: |at| emits("γ", at.head.sharpening[at.step]),
    sum: equations::sharpen,
};

/// True of a head that has an array.
fn has(head: &HeadTrace, array: Array) -> bool {
    head.series(array).is_some()
}

fn scores(head: &HeadTrace, score: Score) -> bool {
    head.mechanism.score == score && head.similarity.width() > 0
}

fn is_hard(head: &HeadTrace) -> bool {
    head.distribution.width() > 0
}

/// Symbol of the input of the stage that computes this array.
fn before(head: &HeadTrace, array: Array) -> &'static str {
    equations::before(head, array).0
}

/// Equation of wᶜ from the scores of a head.
fn content(head: &HeadTrace) -> String {
    let is_cosine = scores(head, Score::Cosine);
    let score = if is_cosine { "cos(k, M)" } else { "K" };
    let has_beta = head.strength.width() > 0;
    let beta = if has_beta { "β · " } else { "" };
    let energy = format!("{beta}{score}");
    match head.mechanism.weighting {
        Weighting::Soft | Weighting::Hard => format!("wᶜ = softmax({energy})"),
        Weighting::LocalMonotonic => format!("wᶜ = softmax({energy}) within rows p ± D"),
        Weighting::LocalPredictive => {
            format!("wᶜ = softmax({energy}) within p ± D · exp(−(i − p)² / 2σ²)")
        }
        Weighting::Weibull => format!("wᶜ = softmax({energy} + ν), ν = ln(−ln(1 − u)) / k"),
        Weighting::Lognormal => format!("wᶜ = softmax({energy} + ν), ν = σ · ε"),
    }
}

/// Returns the weighting of a stage, or the final one in stages without one; of a head, if given.
pub fn weighting_at(stage: Option<Stage>, head: Option<&HeadTrace>) -> &'static Column {
    let is_it = |column: &&Column| column.is_weighting() && Some(column.stage) == stage;
    let mut columns: Vec<_> = head.into_iter().flat_map(columns_of).collect();
    let last = columns.pop().filter(|column| column.is_weighting());
    let last = last.unwrap_or(&COLUMNS[COLUMNS.len() - 1]);
    columns.into_iter().rev().find(is_it).unwrap_or(last)
}

/// Columns of a head. The last is the one it reads or writes with.
pub fn columns_of(head: &HeadTrace) -> impl Iterator<Item = &'static Column> + use<'_> {
    let own = head.mechanism.score;
    let is_of = move |column: &&Column| column.score.is_none_or(|score| score == own);
    let columns = COLUMNS.iter().filter(is_of);
    columns.filter(move |column| (column.has)(head))
}

impl Column {
    /// The values in all steps; `None` for a column that a head lacks, and for the weighting of the step before.
    pub fn series<'a>(&self, head: &'a HeadTrace) -> Option<&'a Series<f32>> {
        head.series(self.array)
    }

    /// The word where a column is narrow: short for the arrays whose words are long.
    pub fn short_word(&self) -> &'static str {
        if self.array == ALLOCATION {
            "alloc."
        } else if self.array == BACKWARD {
            "back"
        } else {
            self.word
        }
    }

    /// The place among [`COLUMNS`].
    pub fn place(&self) -> usize {
        let is_it = |column: &Column| std::ptr::eq(column, self);
        COLUMNS.iter().position(is_it).unwrap_or(0)
    }

    /// A value for every row at a step.
    pub fn values<'a>(&self, head: &'a HeadTrace, step: usize) -> &'a [f32] {
        match self.series(head) {
            Some(series) => series.row(step),
            None => head.previous_weighting(step),
        }
    }

    /// True for the match, which can be negative.
    pub fn is_signed(&self) -> bool {
        self.array == array::SIMILARITY
    }

    /// A value as it stands beside its bar.
    pub fn in_bar(&self, value: f32) -> String {
        if self.array == sam::AGE {
            value.to_string()
        } else {
            numbers::in_bar(value)
        }
    }

    /// True for a score without a known upper bound.
    pub fn is_unbounded(&self) -> bool {
        self.is_signed() && self.symbol == "K"
    }

    /// True for a weighting that is made in the step.
    pub fn is_weighting(&self) -> bool {
        self.stage != Stage::Controller
            && !self.is_signed()
            && ![PRIOR, USAGE, sam::AGE].contains(&self.array)
    }

    /// Returns the parameter that this head emits for it, if any.
    pub fn emits(&self, head: &HeadTrace) -> Option<&'static Emitted> {
        self.emits.filter(|emitted| emitted.is_of(head))
    }

    /// Returns the number of the equation in the paper, or another source.
    pub fn number(&self, head: &HeadTrace) -> &'static str {
        match head.mechanism.weighting {
            _ if self.array != array::CONTENT => self.number,
            Weighting::LocalMonotonic | Weighting::LocalPredictive => "Luong 2015",
            Weighting::Weibull | Weighting::Lognormal => "Fan 2020",
            _ if !scores(head, Score::Cosine) => "(5)",
            _ => self.number,
        }
    }

    /// The equation and its number in the paper.
    pub fn describe(&self, head: &HeadTrace) -> String {
        let description = format!("{}  {}", (self.equation)(head), self.number(head));
        description.trim_end().to_owned()
    }
}

fn emits(symbol: &str, value: f32) -> String {
    format!("{symbol} {}", numbers::fit(value, 2, 4).trim_start())
}

/// Main shift of a step in rows, and its weight.
pub fn main_shift(head: &HeadTrace, step: usize) -> Option<(isize, f32)> {
    let shift = head.shift.row(step);
    let range = shift.len() / 2;
    peak(shift).map(|(index, mass)| (offset(index, range), mass))
}

/// Describes a move by this many rows.
pub fn moves(by: isize) -> String {
    match by {
        0 => "stays".to_owned(),
        1 => "moves on by one row".to_owned(),
        -1 => "moves back by one row".to_owned(),
        by => format!("moves by {} rows", signed(by)),
    }
}

/// Returns the number of rows from one row to another, the shorter way round.
pub fn shorter_way([from, to]: [usize; 2], rows: usize) -> isize {
    let on = (to + rows - from) % rows;
    let back = if 2 * on > rows { rows } else { 0 };
    on.cast_signed() - back.cast_signed()
}

/// Returns the move of the peak by the shift of a step: by how many rows, and from which one.
pub fn moved(head: &HeadTrace, step: usize) -> Option<(isize, usize)> {
    let known = |weighting| peak(weighting).filter(|(_, weight)| weight.is_finite());
    let before = columns_of(head).take_while(|column| column.stage != Stage::Shift);
    let (from, _) = known(before.last()?.values(head, step))?;
    let (to, _) = known(head.shifted.row(step))?;
    Some((shorter_way([from, to], head.shifted.width()), from))
}

fn shift_parameter(at: &InStep<'_>) -> String {
    main_shift(at.head, at.step).map_or_else(String::new, |(by, mass)| {
        format!("{} {}", signed(by), numbers::cell(mass))
    })
}

/// Describes the choice of a hard head's row.
fn draw_parameter(at: &InStep<'_>) -> String {
    match (at.sampling, at.draw()) {
        (NoiseMode::Sampled, Some(drawn)) => format!("u {}", numbers::cell(drawn.u)),
        (NoiseMode::Expected, _) => "= α".to_owned(),
        _ => "max".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, NtmConfig};

    fn words(trace: &Trace, writes_first: bool) -> Vec<String> {
        let stages = Stages::of(trace, writes_first);
        stages.iter().map(StageRef::name).collect()
    }

    #[test]
    fn the_stages_of_a_machine_are_those_of_its_arrays() {
        let machine = Model::<f32>::new(NtmConfig::new(3, 2), 1);
        let mut trace = Trace::new(&machine.config);
        let read_first = "controller content gate shift sharpen read erase add output";
        assert_eq!(words(&trace, false).join(" "), read_first);
        let write_first = [
            "controller",
            "content",
            "gate",
            "shift",
            "sharpen",
            "erase",
            "add",
            "read content",
            "read gate",
            "read shift",
            "read sharpen",
            "read",
            "output",
        ];
        assert_eq!(words(&trace, true), write_first);
        let stages = Stages::of(&trace, true);
        let [read, write] = [false, true].map(|write| {
            let mut heads = trace.heads.iter();
            heads.find(|head| head.is_write() == write)
        });
        assert_eq!(stages.place(Stage::Gate, read), Some(8));
        assert_eq!(stages.place(Stage::Gate, write), Some(2));
        assert!(stages.reached(6, Stage::Sharpen, write));
        assert!(!stages.reached(6, Stage::Content, read));
        trace.heads.clear();
        assert_eq!(words(&trace, false), ["controller", "output"]);
    }

    #[test]
    fn head_without_erase_skips_erase_stage() {
        use crate::model::attention::Switch::{Off, On};
        let mut config = NtmConfig::new(3, 2);
        config.write_heads = 2;
        for (erase, erases) in [(vec![Off], vec![]), (vec![On, Off, On], vec![2])] {
            config.attention.erase = if let [all] = erase[..] {
                all.into()
            } else {
                erase.into()
            };
            let trace = Trace::new(&config);
            for writes_first in [false, true] {
                let stages = Stages::of(&trace, writes_first);
                let place = stages.place(Stage::Erase, None);
                let heads = (0..3).filter(|&head| {
                    place.is_some_and(|place| stages.at(place).has(&trace.heads[head]))
                });
                assert_eq!(heads.collect::<Vec<_>>(), erases);
            }
        }
    }

    #[test]
    fn an_array_is_computed_in_a_stage() {
        let mut config = NtmConfig::with_every_mechanism();
        config.rows = 8;
        let trace = Trace::new(&Model::<f32>::new(config, 1).config);
        let stages = ["read0.gated", "memory", "write0.read", "loss", "input"];
        let of = |array: &str, head: usize| Stage::of_array(array, trace.heads.get(head)).word();
        let stages = stages.map(|array| of(array, 1));
        assert_eq!(stages, ["gate", "add", "read", "output", "controller"]);
        let last = [1, 0].map(|head| of("read0.weighting", head));
        assert_eq!(last, ["sample", "sharpen"]);
    }
}
