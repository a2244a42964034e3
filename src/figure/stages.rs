//! The stages of a step: one table, from which pipeline, inspector, figures, captions and tour take symbol, word,
//! equation, parameter and values, and the player how many there are.
//!
//! Which of them a machine has follows from what it records: a machine without heads has the first and the last, one
//! that gates nothing no gate.

use super::heads::{EMITTED, Emitted, series};
use super::{numbers, offset};
use crate::math::Series;
use crate::model::{HeadTrace, Trace, peak};

/// What happens in a part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The controller has seen the input and the last reads, and emits the parameters of the heads.
    Controller,
    /// The key is compared with every row, sharpened by the key strength, as a distribution.
    Content,
    /// Content against the weighting of the step before.
    Gate,
    /// The weighting moves along the rows.
    Shift,
    /// The weighting is made sharper.
    Sharpen,
    /// The weighting of a head that does not sharpen.
    Weigh,
    /// The read heads read.
    Read,
    /// The write heads erase.
    Erase,
    /// The write heads add.
    Add,
    /// The answer of the step.
    Output,
}

/// The stages that make a weighting, in order.
const ADDRESSING: [Stage; 5] = [
    Stage::Content,
    Stage::Gate,
    Stage::Shift,
    Stage::Sharpen,
    Stage::Weigh,
];

impl Stage {
    /// One word, as on screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Content => "content",
            Self::Gate => "gate",
            Self::Shift => "shift",
            Self::Sharpen => "sharpen",
            Self::Weigh => "weigh",
            Self::Read => "read",
            Self::Erase => "erase",
            Self::Add => "add",
            Self::Output => "output",
        }
    }

    /// The stage in which an array of this name is computed, as a trace file calls it.
    pub fn of_array(array: &str) -> Self {
        let name = array.rsplit('.').next().unwrap_or_default();
        match name {
            "read" => Self::Read,
            "memory" => Self::Add,
            "output" | "loss" => Self::Output,
            _ => {
                let column = COLUMNS.iter().find(|column| column.array == name);
                column.map_or(Self::Controller, |column| column.stage)
            }
        }
    }

    fn concerns(self, head: &HeadTrace) -> bool {
        match self {
            Self::Controller | Self::Output => true,
            Self::Read => head.read.width() > 0,
            Self::Erase => head.erase.width() > 0,
            Self::Add => head.is_write(),
            stage => columns_of(head).any(|column| column.stage == stage),
        }
    }
}

/// A stage of a step of some machine, and the heads that are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What happens.
    pub stage: Stage,
    /// The write heads, or the read heads, where the others do the same at another time.
    write: Option<bool>,
}

impl Moment {
    /// In a word or two.
    pub fn name(self) -> String {
        let word = self.stage.word();
        if self.write == Some(false) && self.stage != Stage::Read {
            format!("read {word}")
        } else {
            word.to_owned()
        }
    }

    /// True for a head that takes part in it.
    pub fn has(self, head: &HeadTrace) -> bool {
        self.write.is_none_or(|write| write == head.is_write()) && self.stage.concerns(head)
    }
}

/// The stages of every step of a machine, in the order in which it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages(Vec<Moment>);

impl Stages {
    /// Those of the machine that made this trace.
    pub fn of(trace: &Trace, writes_first: bool) -> Self {
        let mut moments = Vec::new();
        let mut add = |stages: &[Stage], write: Option<bool>| {
            let moments_of = stages.iter().map(|&stage| Moment { stage, write });
            let heads = || trace.heads.iter();
            let is_there = |at: &Moment| heads().any(|head| at.has(head));
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
        let always = |stage| Moment { stage, write: None };
        moments.insert(0, always(Stage::Controller));
        moments.push(always(Stage::Output));
        Self(moments)
    }

    /// How many.
    #[expect(clippy::len_without_is_empty, reason = "there are always two")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Moment> + '_ {
        self.0.iter().copied()
    }

    /// The one at a place; the last behind the end.
    pub fn at(&self, place: usize) -> Moment {
        self.0[place.min(self.0.len() - 1)]
    }

    /// When a stage comes; for a head, where not all are in it at once.
    pub fn place(&self, stage: Stage, head: Option<&HeadTrace>) -> Option<usize> {
        let is_it = |at: &Moment| at.stage == stage && head.is_none_or(|head| at.has(head));
        self.0.iter().position(is_it)
    }

    /// How far it has come when a step of another machine has come to this: to the same, or to the last before it.
    pub fn come_to(&self, other: Moment) -> usize {
        let same = self.0.iter().position(|at| *at == other);
        let alike = || self.place(other.stage, None);
        let before = |at: &Moment| at.stage as u8 <= other.stage as u8;
        let last = || self.0.iter().rposition(before).unwrap_or(0);
        same.or_else(alike).unwrap_or_else(last)
    }

    /// When a head addresses the memory.
    pub fn addressing(&self, head: &HeadTrace) -> Vec<usize> {
        let is_it = |at: &Moment| ADDRESSING.contains(&at.stage) && at.has(head);
        let places = 0..self.0.len();
        places.filter(|&place| is_it(&self.0[place])).collect()
    }

    /// True where a stage has come by the time of `place`.
    pub fn reached(&self, place: usize, stage: Stage, head: Option<&HeadTrace>) -> bool {
        self.place(stage, head).is_some_and(|at| at <= place)
    }
}

/// A weighting of the addressing, or the match that it begins with: a number for every row of the memory.
#[derive(Debug)]
pub struct Column {
    /// As in the equations.
    pub symbol: &'static str,
    /// In a word.
    pub word: &'static str,
    /// As the arrays of a trace file call it.
    pub array: &'static str,
    /// When it has been worked out.
    pub stage: Stage,
    /// How it is worked out.
    pub equation: &'static str,
    /// The number of the equation in the paper.
    pub number: &'static str,
    /// The number that the head emits for it.
    pub emits: Option<&'static Emitted>,
    /// The array that a head must have.
    needs: &'static str,
    parameter: fn(&HeadTrace, usize) -> String,
    sum: fn(&HeadTrace, usize, usize) -> String,
}

/// All columns, in the order of the addressing.
#[rustfmt::skip] // A line for what is said, a line for what is made of numbers.
pub static COLUMNS: [Column; 7] = [
    Column { symbol: "wₜ₋₁", word: "before", array: "before", stage: Stage::Controller, emits: None, needs: "initial",
        equation: "the weighting of the step before", number: "", parameter: |_, _| String::new(), sum: |_, _, _| "the step before".to_owned() },
    Column { symbol: "cos", word: "match", array: "similarity", stage: Stage::Content, emits: None, needs: "similarity",
        equation: "cosine of the key k with each row of M, −1 to 1", number: "(6)", parameter: |_, _| "key k".to_owned(), sum: |_, _, _| "key k with this row of M".to_owned() },
    Column { symbol: "wᶜ", word: "content", array: "content", stage: Stage::Content, emits: Some(&EMITTED[0]), needs: "content",
        equation: "wᶜ = softmax(β · cos(k, M))", number: "(5, 6)", parameter: |head, t| emits("β", head.strength[t]), sum: content_sum },
    Column { symbol: "wᵍ", word: "gate", array: "gated", stage: Stage::Gate, emits: Some(&EMITTED[1]), needs: "gated",
        equation: "wᵍ = g · wᶜ + (1 − g) · wₜ₋₁", number: "(7)", parameter: |head, t| format!("g {}", numbers::cell(head.gate[t])), sum: gate_sum },
    Column { symbol: "w\u{303}", word: "shift", array: "shifted", stage: Stage::Shift, emits: Some(&EMITTED[2]), needs: "shifted",
        equation: "w\u{303}(i) = Σ wᵍ(j) · s(i − j)", number: "(8)", parameter: shift_parameter, sum: shift_sum },
    Column { symbol: "w", word: "sharpen", array: "weighting", stage: Stage::Sharpen, emits: Some(&EMITTED[3]), needs: "sharpening",
        equation: "w = w\u{303}^γ / Σ w\u{303}^γ", number: "(9)", parameter: |head, t| emits("γ", head.sharpening[t]), sum: sharpen_sum },
    Column { symbol: "w", word: "weigh", array: "weighting", stage: Stage::Weigh, emits: None, needs: "weighting",
        equation: "the weighting of this head", number: "", parameter: |_, _| String::new(), sum: |_, _, _| "what the head reads or writes with".to_owned() },
];

/// The weighting that a stage makes; the final one in stages that make none.
pub fn weighting_at(stage: Option<Stage>) -> &'static Column {
    let is_it = |column: &&Column| column.is_weighting() && Some(column.stage) == stage;
    COLUMNS
        .iter()
        .find(is_it)
        .unwrap_or(&COLUMNS[COLUMNS.len() - 1])
}

/// Those that a head has. The last is the one it reads or writes with.
pub fn columns_of(head: &HeadTrace) -> impl Iterator<Item = &'static Column> + use<> {
    let mut columns: Vec<_> = COLUMNS.iter().collect();
    columns.retain(|column| series(head, column.needs).is_some());
    columns.dedup_by_key(|column| column.array);
    columns.into_iter()
}

impl Column {
    /// Its values in all steps; `None` for what a head does not have, and for that of the step before.
    pub fn series<'a>(&self, head: &'a HeadTrace) -> Option<&'a Series<f32>> {
        series(head, self.array)
    }

    /// Its place among [`COLUMNS`].
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

    /// True for the match, which can be negative; all others are distributions.
    pub fn is_signed(&self) -> bool {
        self.array == "similarity"
    }

    /// True for a weighting that is made in the step.
    pub fn is_weighting(&self) -> bool {
        self.stage != Stage::Controller && !self.is_signed()
    }

    /// What the head emitted for it, as short as it goes: `g .98`.
    pub fn parameter(&self, head: &HeadTrace, step: usize) -> String {
        (self.parameter)(head, step)
    }

    /// The equation with the numbers of a row at a step, several terms on lines of their own.
    pub fn sum(&self, head: &HeadTrace, step: usize, row: usize) -> String {
        (self.sum)(head, step, row)
    }

    /// The equation and its number in the paper.
    pub fn told(&self) -> String {
        let told = format!("{}  {}", self.equation, self.number);
        told.trim_end().to_owned()
    }
}

fn emits(symbol: &str, value: f32) -> String {
    format!("{symbol} {}", numbers::fit(value, 2, 4).trim_start())
}

/// A number in a sum.
fn n(value: f32) -> String {
    numbers::short(value, 4)
}

/// A shift with its sign: −1, 0, +1.
pub fn signed(shift: isize) -> String {
    match shift {
        0 => "0".to_owned(),
        1.. => format!("+{shift}"),
        _ => format!("−{}", shift.unsigned_abs()),
    }
}

/// Where the shift of a step mostly moves the focus, and with how much weight.
pub fn main_shift(head: &HeadTrace, step: usize) -> Option<(isize, f32)> {
    let shift = head.shift.row(step);
    let range = shift.len() / 2;
    peak(shift).map(|(index, mass)| (offset(index, range), mass))
}

fn shift_parameter(head: &HeadTrace, step: usize) -> String {
    main_shift(head, step).map_or_else(String::new, |(by, mass)| {
        format!("{} {}", signed(by), numbers::cell(mass))
    })
}

/// The largest exponent is taken out: its power would not fit a number.
fn content_sum(head: &HeadTrace, step: usize, row: usize) -> String {
    let (beta, similarity) = (head.strength[step], head.similarity.row(step));
    let most = similarity.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = similarity.iter().map(|s| (beta * (s - most)).exp()).sum();
    let [beta, own, most, total] = [beta, similarity[row], most, total].map(n);
    format!("exp({beta} · ({own} − {most})) / {total}")
}

fn gate_sum(head: &HeadTrace, step: usize, row: usize) -> String {
    let (gate, before) = (head.gate[step], head.previous_weighting(step)[row]);
    let content = head.content.row(step)[row];
    let [gate, content, rest, before] = [gate, content, 1.0 - gate, before].map(n);
    format!("{gate} · {content} + {rest} · {before}")
}

fn shift_sum(head: &HeadTrace, step: usize, row: usize) -> String {
    let (shift, gated) = (head.shift.row(step), head.gated.row(step));
    let (range, rows) = (shift.len() / 2, gated.len());
    let from = |index: usize| (row + rows * (1 + range / rows) + range - index) % rows;
    let terms = shift.iter().enumerate();
    let mut terms: Vec<_> = terms.map(|(index, &s)| (index, s, from(index))).collect();
    // Of a wide range the terms that count.
    terms.sort_by(|a, b| (b.1 * gated[b.2]).total_cmp(&(a.1 * gated[a.2])));
    terms.truncate(5);
    terms.sort_by_key(|&(index, ..)| index);
    let terms = terms.into_iter().map(|(index, s, from)| {
        let by = signed(offset(index, range));
        format!("s({by}) {} · wᵍ({from}) {}", n(s), n(gated[from]))
    });
    terms.collect::<Vec<_>>().join("\n")
}

fn sharpen_sum(head: &HeadTrace, step: usize, row: usize) -> String {
    let (gamma, shifted) = (head.sharpening[step], head.shifted.row(step));
    let power = shifted.iter().map(|w| w.powf(gamma)).sum();
    let [own, gamma, power] = [shifted[row], gamma, power].map(n);
    format!("{own}^{gamma} / {power}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, NtmConfig};

    fn words(trace: &Trace, writes_first: bool) -> Vec<String> {
        let stages = Stages::of(trace, writes_first);
        stages.iter().map(Moment::name).collect()
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
    fn an_array_is_computed_in_a_stage() {
        let stages = ["read0.gated", "memory", "write0.read", "loss", "input"];
        let stages = stages.map(|array| Stage::of_array(array).word());
        assert_eq!(stages, ["gate", "add", "read", "output", "controller"]);
    }
}
