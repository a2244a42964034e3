//! Values of a program as expressions of Python.

use std::collections::{BTreeMap, BTreeSet};

use crate::equations::page::{Page, Word};
use crate::equations::program::{Axis, Learned, Length, Op, Program, Source, Value, When};
use crate::equations::tree::{Function, OPERATORS, Operator};

/// How strongly a name, a call or a number binds. Operators have the strengths of the language.
const ATOM: usize = 9;
const SUM: usize = 1;
const NEGATIVE: usize = 3;

/// An expression of Python.
#[derive(Clone)]
pub(super) struct Code {
    pub text: String,
    /// The axes of its tensor, the outermost first.
    pub axes: Vec<Axis>,
    strength: usize,
    /// Whether it is a number of Python, not a tensor.
    is_number: bool,
}

/// Writes the expressions of a program.
pub(super) struct Writer<'a> {
    pub page: &'a Page,
    pub program: &'a Program,
    /// The names of the series in Python.
    pub names: Vec<String>,
    /// Blocks around the statement, each with the name of its step; empty for a block that runs once.
    pub frames: Vec<(usize, String)>,
    /// Axes whose lengths are arguments of the constructor.
    pub sizes: BTreeSet<Axis>,
    /// An input, whose device and type all tensors have.
    pub like: String,
    /// The number of steps so far that the statement sees.
    pub past: String,
    /// Axes that `join` makes, with the axes of its parts.
    pub joins: BTreeMap<Axis, Vec<Vec<Axis>>>,
}

impl Code {
    pub fn new(text: impl Into<String>, axes: &[Axis]) -> Self {
        let (text, axes) = (text.into(), axes.to_vec());
        Self {
            text,
            axes,
            strength: ATOM,
            is_number: false,
        }
    }

    fn number(text: impl Into<String>, strength: usize) -> Self {
        Self {
            strength,
            is_number: true,
            ..Self::new(text, &[])
        }
    }

    fn is(&self, number: &str) -> bool {
        self.is_number && self.text == number
    }

    /// Whether it only names a value.
    pub fn is_name(&self) -> bool {
        self.strength == ATOM && !self.text.contains(['(', ' '])
    }

    /// The text, in brackets unless it binds as strongly.
    fn at_least(&self, strength: usize) -> String {
        if self.strength < strength {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }

    fn method(&self, call: &str, axes: &[Axis]) -> Self {
        Self::new(format!("{}.{call}", self.at_least(ATOM)), axes)
    }

    /// The number of a dimension; -1 for the last one.
    fn dim(&self, axis: Axis) -> String {
        match self.axes.iter().position(|own| *own == axis) {
            Some(place) if place + 1 < self.axes.len() => place.to_string(),
            _ => "-1".to_owned(),
        }
    }

    fn dims(&self, axes: &[Axis]) -> String {
        match axes {
            [axis] => self.dim(*axis),
            axes => tuple(axes.iter().map(|axis| self.dim(*axis))),
        }
    }

    /// One entry of an axis.
    pub fn select(&self, axis: Axis, index: &str) -> Self {
        let rest = without(&self.axes, &[axis]);
        let place = self.axes.iter().position(|own| *own == axis).unwrap_or(0);
        Self::new(
            format!("{}[{}{index}]", self.at_least(ATOM), ":, ".repeat(place)),
            &rest,
        )
    }

    /// An expression with its axes in this order, to be broadcast along those that it lacks.
    fn fitted(&self, axes: &[Axis]) -> Self {
        let order: Vec<Axis> = axes
            .iter()
            .copied()
            .filter(|axis| self.axes.contains(axis))
            .collect();
        let mut own = self.clone();
        if order != own.axes {
            let places = order
                .iter()
                .map(|axis| own.axes.iter().position(|old| old == axis).unwrap_or(0));
            let places: Vec<String> = places.map(|place| place.to_string()).collect();
            own = match places.len() {
                2 => own.method("T", &order),
                _ => own.method(&format!("permute({})", listed(places)), &order),
            };
        }
        let first = axes
            .iter()
            .position(|axis| order.contains(axis))
            .unwrap_or(axes.len());
        if axes.len() - first == order.len() {
            return own;
        }
        let marks: Vec<&str> = axes[first..]
            .iter()
            .map(|axis| if order.contains(axis) { ":" } else { "None" })
            .collect();
        Self::new(
            format!("{}[{}]", own.at_least(ATOM), listed(marks)),
            &axes[first..],
        )
    }
}

pub(super) fn listed(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let items: Vec<String> = items
        .into_iter()
        .map(|item| item.as_ref().to_owned())
        .collect();
    items.join(", ")
}

fn tuple(items: impl IntoIterator<Item = String>) -> String {
    format!("({})", listed(items))
}

fn without(axes: &[Axis], gone: &[Axis]) -> Vec<Axis> {
    axes.iter()
        .copied()
        .filter(|axis| !gone.contains(axis))
        .collect()
}

/// A name of the language as one of Python.
pub(super) fn identifier(name: &str) -> String {
    name.replace('.', "_").replace('\'', "_2")
}

impl Writer<'_> {
    fn origin(&self, axis: Axis) -> Axis {
        self.program.axes[axis].origin
    }

    /// Whether an axis has no entries, such as further layers where there are none.
    pub fn is_empty(&self, axis: Axis) -> bool {
        self.program.axes[self.origin(axis)].length == Length::Fixed(0)
    }

    /// The length of an axis.
    pub fn length(&mut self, axis: Axis) -> String {
        let axis = self.origin(axis);
        let name = &self.program.axes[axis].name;
        let key = self.page.key(name);
        if let Some(parts) = self.joins.get(&axis).filter(|_| key.is_none()) {
            let parts = parts.clone();
            let terms: Vec<String> = parts.iter().map(|part| self.count(part)).collect();
            return terms.join(" + ");
        }
        match &self.program.axes[axis].length {
            Length::Past => self.past.clone(),
            Length::Append(old) => format!("{} + 1", self.length(*old)),
            Length::Fixed(length) if key.is_some_and(|key| key.word == Word::Entries) => {
                length.to_string()
            }
            Length::Episode if self.page.is_sequence(axis) => format!("n_{}", identifier(name)),
            _ => {
                self.sizes.insert(axis);
                format!("self.n_{}", identifier(name))
            }
        }
    }

    fn factor(&mut self, axis: Axis) -> String {
        let length = self.length(axis);
        if length.contains(" + ") {
            format!("({length})")
        } else {
            length
        }
    }

    /// The number of entries of several axes together.
    pub fn count(&mut self, axes: &[Axis]) -> String {
        if axes.is_empty() {
            return "1".to_owned();
        }
        let factors: Vec<String> = axes.iter().map(|axis| self.factor(*axis)).collect();
        factors.join(" * ")
    }

    pub fn shape(&mut self, axes: &[Axis]) -> Vec<String> {
        axes.iter().map(|axis| self.length(*axis)).collect()
    }

    fn sorted(&self, mut axes: Vec<Axis>) -> Vec<Axis> {
        axes.sort_by_key(|axis| self.program.axes[*axis].rank);
        axes.dedup();
        axes
    }

    /// The axes of the blocks that a series is made in, the outermost first.
    pub fn loops(&self, series: usize) -> Vec<Axis> {
        let blocks = self.program.series[series].blocks.iter();
        blocks
            .filter_map(|block| self.page.blocks[*block].axis)
            .collect()
    }

    fn step(&self, when: When) -> String {
        match when {
            When::Step(frame) => self.frames[frame].1.clone(),
            When::Before(frame) => {
                let (block, name) = &self.frames[frame];
                let sign = if self.page.blocks[*block].backwards {
                    '+'
                } else {
                    '-'
                };
                format!("{name} {sign} 1")
            }
        }
    }

    // Axes.

    /// An expression as a tensor with exactly these axes.
    pub fn whole(&mut self, text: &Code, axes: &[Axis]) -> Code {
        if text.axes == axes && !text.is_number {
            return text.clone();
        }
        let shape = self.shape(axes);
        if text.is_number {
            let (number, like) = (&text.text, &self.like);
            let call = match (&shape[..], &**number) {
                ([], _) => format!("new_tensor({number})"),
                (_, "0") => format!("new_zeros({})", listed(shape)),
                (_, "1") => format!("new_ones({})", listed(shape)),
                ([one], _) => format!("new_full(({one},), {number})"),
                _ => format!("new_full({}, {number})", tuple(shape)),
            };
            return Code::new(format!("{like}.{call}"), axes);
        }
        let fitted = text.fitted(axes);
        if axes.iter().all(|axis| text.axes.contains(axis)) {
            return fitted;
        }
        let lengths = axes.iter().zip(shape).map(|(axis, length)| {
            if text.axes.contains(axis) {
                "-1".to_owned()
            } else {
                length
            }
        });
        let lengths = listed(lengths);
        fitted.method(&format!("expand({lengths})"), axes)
    }

    // Values.

    /// A value of the program.
    pub fn value(&mut self, value: &Value) -> Code {
        match &value.op {
            Op::Number(number) => number_text(*number),
            Op::Constant(key) => number_text(self.page.keys[*key].value),
            Op::Length(axis) => {
                let length = self.length(*axis);
                let strength = if length.contains(' ') { SUM } else { ATOM };
                Code::number(length, strength)
            }
            Op::Step(frame) => Code::number(self.frames[*frame].1.clone(), ATOM),
            Op::Index(axis) => Code::new(
                format!("torch.arange({}).to({})", self.length(*axis), self.like),
                &[*axis],
            ),
            Op::Read(series, cuts) => self.read(*series, cuts, None),
            Op::Past(series, cuts, (_, frame), now) => {
                self.past(*series, cuts, *frame, *now, &value.axes)
            }
            Op::Tensor(tensor, axes) => self.tensor(*tensor, axes),
            Op::Negative => {
                let part = self.value(&value.parts[0]);
                Code {
                    text: format!("-{}", part.at_least(NEGATIVE)),
                    strength: NEGATIVE,
                    ..part
                }
            }
            Op::Binary(operator) => {
                let binary = self.binary(*operator, value);
                if is_comparison(*operator) && !binary.is_number {
                    self.in_numbers(&binary)
                } else {
                    binary
                }
            }
            Op::Element(function) => self.element(*function, value),
            Op::Over(function, axes) => self.over(*function, axes, value),
            Op::Rename(from, to) => {
                let mut part = self.value(&value.parts[0]);
                part.axes
                    .iter_mut()
                    .filter(|axis| *axis == from)
                    .for_each(|axis| *axis = *to);
                part
            }
            Op::Entry(axis, entry) => self.entry(&value.parts[0], *axis, *entry),
            Op::Pick(axis) => {
                let [from, index] = [0, 1].map(|part| self.value(&value.parts[part]));
                let from = from.fitted(&[&value.axes[..], &[*axis]].concat());
                let index = index.fitted(&value.axes);
                Code::new(format!("pick({}, {})", from.text, index.text), &value.axes)
            }
            Op::Linear(learned) => {
                let parts: Vec<Code> = value.parts.iter().map(|part| self.value(part)).collect();
                self.linear(&parts, learned)
            }
            Op::Cell(function, learned) => {
                let mut cell = self.cell(*function, learned, value);
                if *function == Function::Lstm {
                    cell.text.push_str("[0]");
                }
                cell
            }
            Op::Join(axis, taken) => {
                let kept = without(&value.axes, &[*axis]);
                let parts: Vec<Code> = value.parts.iter().map(|part| self.value(part)).collect();
                self.joined(&parts, taken, &kept, *axis)
            }
            Op::Append(axis, new) => {
                let place = value.axes.iter().position(|own| own == new).unwrap_or(0);
                let mut axes = value.axes.clone();
                axes[place] = *axis;
                let [whole, entry] = [0, 1].map(|part| self.value(&value.parts[part]));
                let whole = self.whole(&whole, &axes).text;
                let entry = self.whole(&entry, &without(&axes, &[*axis]));
                let entry = entry.method(&format!("unsqueeze({place})"), &[]).text;
                Code::new(
                    format!("torch.cat([{whole}, {entry}], {place})"),
                    &value.axes,
                )
            }
            Op::Window(axis, new) => {
                let (part, count) = (self.value(&value.parts[0]), self.length(*new));
                let axes = [&without(&value.axes, &[*axis, *new])[..], &[*axis]].concat();
                let part = self.whole(&part, &axes).text;
                Code::new(
                    format!("window({part}, {count})"),
                    &[&axes[..], &[*new]].concat(),
                )
            }
            Op::Onehot(axis) => {
                let (index, count) = (self.value(&value.parts[0]), self.length(*axis));
                Code::new(
                    format!("onehot({}, {count}, {})", index.text, self.like),
                    &[&index.axes[..], &[*axis]].concat(),
                )
            }
        }
    }

    /// A series at some of its steps. `entry`: a fixed entry of one more axis.
    fn read(
        &mut self,
        series: usize,
        cuts: &[(Axis, When)],
        entry: Option<(Axis, Option<usize>)>,
    ) -> Code {
        let own = &self.program.series[series];
        let (name, axes) = (self.names[series].clone(), own.axes.clone());
        let cut = |writer: &Self, axis: Axis| {
            let cut = cuts
                .iter()
                .find(|cut| writer.origin(cut.0) == writer.origin(axis));
            cut.map(|cut| writer.step(cut.1))
        };
        let mut loops = Vec::new();
        let mut text = match own.source {
            Source::Parameter(tensor) => {
                self.tensor(tensor, &self.program.tensors[tensor].axes.clone())
            }
            Source::Target => {
                loops = axes[..1].to_vec();
                Code::new("fed", &axes[1..])
            }
            Source::Statement(..) => {
                loops = self.loops(series);
                Code::new(name, &axes)
            }
            Source::Input(_) => Code::new(name, &axes),
            Source::Noise(noise) => Code::new(name, self.page.noises[noise].given()),
        };
        // The steps of the blocks that make it; those that are left open become axes.
        let (mut keys, mut open, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
        for axis in &loops {
            let fixed = entry.filter(|entry| self.origin(entry.0) == self.origin(*axis));
            keys.push(match (cut(self, *axis), fixed) {
                (Some(step), _) => step,
                (_, Some((_, Some(entry)))) => entry.to_string(),
                (_, Some(_)) if self.is_empty(*axis) => "-1".to_owned(),
                (_, Some(_)) => format!("{} - 1", self.length(*axis)),
                _ => {
                    open.push(*axis);
                    ranges.push(self.length(*axis));
                    ["i", "j", "k"][(open.len() - 1).min(2)].to_owned()
                }
            });
        }
        if open.is_empty() && !keys.is_empty() {
            text.text = format!("{}[{}]", text.text, listed(keys));
        } else if !open.is_empty() {
            let all = if open.iter().any(|axis| self.is_empty(*axis)) {
                let shape = listed([ranges, self.shape(&axes)].concat());
                format!("{}.new_zeros({shape})", self.like)
            } else if open.len() == keys.len() {
                format!("stack({}, {})", text.text, listed(&ranges))
            } else {
                let loops = ["i", "j", "k"]
                    .iter()
                    .zip(&ranges)
                    .map(|(step, length)| format!(" for {step} in range({length})"));
                let one = format!(
                    "torch.stack([{}[{}]{}])",
                    text.text,
                    listed(&keys),
                    loops.collect::<String>()
                );
                if open.len() == 1 {
                    one
                } else {
                    format!("{one}.unflatten(0, {})", tuple(ranges))
                }
            };
            text = Code::new(all, &[&open[..], &text.axes].concat());
        }
        for (axis, when) in cuts {
            if text.axes.contains(axis) && !loops.contains(axis) {
                text = text.select(*axis, &self.step(*when));
            }
        }
        text
    }

    /// All steps so far of a series, as a value with these axes.
    fn past(
        &mut self,
        series: usize,
        cuts: &[(Axis, When)],
        frame: usize,
        now: bool,
        axes: &[Axis],
    ) -> Code {
        let count = if now {
            format!("{} + 1", self.frames[frame].1)
        } else {
            self.frames[frame].1.clone()
        };
        let along = self.page.blocks[self.frames[frame].0]
            .axis
            .map(|axis| self.origin(axis));
        let own = self.program.series[series].axes.clone();
        let keys = self.loops(series).into_iter().map(|axis| {
            let axis = self.origin(axis);
            let cut = cuts.iter().find(|cut| self.origin(cut.0) == axis);
            match cut {
                Some(cut) if along != Some(axis) => self.step(cut.1),
                _ => "i".to_owned(),
            }
        });
        let (keys, mut values) = (keys.collect::<Vec<_>>(), self.names[series].clone());
        if keys.len() > 1 {
            values = format!("{{i: {values}[{}] for i in range({count})}}", listed(keys));
        }
        let shape = listed([vec!["0".to_owned()], self.shape(&own)].concat());
        let past = without(axes, &own);
        Code::new(
            format!("past({values}, {count}, {}.new_zeros({shape}))", self.like),
            &[past, own].concat(),
        )
    }

    fn entry(&mut self, part: &Value, axis: Axis, entry: Option<usize>) -> Code {
        if let Op::Read(series, cuts) = &part.op
            && self
                .loops(*series)
                .iter()
                .any(|own| self.origin(*own) == self.origin(axis))
            && matches!(self.program.series[*series].source, Source::Statement(..))
        {
            return self.read(*series, cuts, Some((axis, entry)));
        }
        let index = entry.map_or("-1".to_owned(), |entry| entry.to_string());
        self.value(part).select(axis, &index)
    }

    /// A comparison of tensors gives a tensor of truth values.
    fn binary(&mut self, operator: Operator, value: &Value) -> Code {
        let parts = [0, 1].map(|part| self.value(&value.parts[part]));
        let (sign, _, strength) = OPERATORS[operator as usize];
        let is_number = parts.iter().all(|part| part.is_number);
        let [left, right] = parts.map(|part| part.fitted(&value.axes));
        match operator {
            Operator::Multiply if left.is("1") => return right,
            Operator::Multiply | Operator::Divide if right.is("1") => return left,
            _ => {}
        }
        let axes = if left.axes.len() > right.axes.len() {
            left.axes.clone()
        } else {
            right.axes.clone()
        };
        let (sign, sides) = match operator {
            Operator::Power => ("**", [strength + 1, strength]),
            Operator::Add | Operator::Multiply => (sign, [strength, strength]),
            _ => (sign, [strength, strength + 1]),
        };
        let sides = [left.at_least(sides[0]), right.at_least(sides[1])];
        let is_short = |side: &String| side.chars().all(|own| own.is_alphanumeric() || own == '_');
        let space = if sign == "**" && sides.iter().all(is_short) {
            ""
        } else {
            " "
        };
        let text = sides.join(&format!("{space}{sign}{space}"));
        Code {
            text,
            axes,
            strength,
            is_number,
        }
    }

    /// Truth values or indices in the type of the numbers.
    fn in_numbers(&self, of: &Code) -> Code {
        of.method(&format!("to({})", self.like), &of.axes)
    }

    fn element(&mut self, function: Function, value: &Value) -> Code {
        let parts: Vec<Code> = value.parts.iter().map(|part| self.value(part)).collect();
        let name = function.form().name;
        if let [x] = &parts[..] {
            let (own, axes) = (&x.text, &x.axes);
            return match function {
                Function::Stop if x.is_number => x.clone(),
                Function::Stop => x.method("detach()", axes),
                Function::Floor
                | Function::Sqrt
                | Function::Log
                | Function::Exp
                | Function::Sin
                | Function::Cos
                | Function::Lgamma
                    if x.is_number =>
                {
                    Code::number(format!("math.{name}({own})"), ATOM)
                }
                _ if x.is_number => Code::new(
                    format!("torch.{name}({}.new_tensor({own}))", self.like),
                    axes,
                ),
                Function::Softplus => Code::new(format!("F.softplus({own})"), axes),
                _ => Code::new(format!("torch.{name}({own})"), axes),
            };
        }
        let axes = value.axes.clone();
        let fitted = parts.iter().map(|part| part.fitted(&axes));
        let fitted: Vec<Code> = fitted.collect();
        let widest = fitted
            .iter()
            .max_by_key(|part| part.axes.len())
            .map_or(vec![], |part| part.axes.clone());
        match &fitted[..] {
            [a, b] if a.is_number && b.is_number => {
                Code::number(format!("{name}({}, {})", a.text, b.text), ATOM)
            }
            [x, number] | [number, x] if number.is_number => x.method(
                &format!(
                    "clamp({}={})",
                    if name == "max" { "min" } else { "max" },
                    number.text
                ),
                &widest,
            ),
            [a, b] => Code::new(format!("torch.{name}imum({}, {})", a.text, b.text), &widest),
            [condition, a, b] if condition.is_number => match condition.text.parse::<f64>() {
                Ok(0.0) => b.clone(),
                Ok(_) => a.clone(),
                Err(_) => {
                    let text = format!(
                        "{} if {} else {}",
                        a.at_least(SUM),
                        condition.text,
                        b.at_least(SUM)
                    );
                    Code {
                        text,
                        strength: 0,
                        axes: widest,
                        is_number: a.is_number && b.is_number,
                    }
                }
            },
            [condition, a, b] => {
                let condition = match value.parts[0].op {
                    Op::Binary(operator) if is_comparison(operator) => {
                        self.binary(operator, &value.parts[0]).fitted(&axes).text
                    }
                    _ => condition.method("bool()", &[]).text,
                };
                Code::new(
                    format!("torch.where({condition}, {}, {})", a.text, b.text),
                    &widest,
                )
            }
            _ => Code::number("0", ATOM),
        }
    }

    /// The factors of a product, none of which is a number.
    fn factors(&mut self, value: &Value) -> Vec<Code> {
        if value.op_is(Operator::Multiply) {
            return value
                .parts
                .iter()
                .flat_map(|part| self.factors(part))
                .collect();
        }
        vec![self.value(value)]
    }

    fn einsum(&self, factors: &[Code], rest: &[Axis]) -> Code {
        let mut letters: Vec<(Axis, char)> = Vec::new();
        for axis in factors.iter().flat_map(|factor| factor.axes.clone()) {
            let is_free = |letter: &char| letters.iter().all(|own| own.1 != *letter);
            if letters.iter().all(|own| own.0 != axis) {
                let name = self.program.axes[axis]
                    .name
                    .rsplit('.')
                    .next()
                    .unwrap_or_default();
                let letter = name
                    .chars()
                    .chain('a'..='z')
                    .filter(char::is_ascii_lowercase)
                    .find(is_free);
                letters.push((axis, letter.unwrap_or('a')));
            }
        }
        let spell = |axes: &[Axis]| {
            axes.iter()
                .map(|axis| {
                    letters
                        .iter()
                        .find(|own| own.0 == *axis)
                        .map_or('a', |own| own.1)
                })
                .collect::<String>()
        };
        let inputs: Vec<String> = factors.iter().map(|factor| spell(&factor.axes)).collect();
        let texts = listed(factors.iter().map(|factor| &factor.text));
        Code::new(
            format!(
                "torch.einsum(\"{}->{}\", {texts})",
                inputs.join(","),
                spell(rest)
            ),
            rest,
        )
    }

    fn over(&mut self, function: Function, axes: &[Axis], value: &Value) -> Code {
        if matches!(function, Function::Dot | Function::Sum) {
            let factors: Vec<Code> = value
                .parts
                .iter()
                .flat_map(|part| match function {
                    Function::Dot => vec![self.value(part)],
                    _ => self.factors(part),
                })
                .collect();
            if factors.len() > 1 && factors.iter().all(|factor| !factor.axes.is_empty()) {
                let all = self.sorted(
                    factors
                        .iter()
                        .flat_map(|factor| factor.axes.clone())
                        .collect(),
                );
                return self.einsum(&factors, &without(&all, axes));
            }
        }
        let parts: Vec<Code> = value.parts.iter().map(|part| self.value(part)).collect();
        let x = &parts[0];
        let rest = without(&x.axes, axes);
        match function {
            Function::Sum | Function::Mean => x.method(
                &format!("{}({})", function.form().name, x.dims(axes)),
                &rest,
            ),
            Function::Norm => x.method(&format!("norm(dim={})", x.dims(axes)), &rest),
            Function::Maximum => x.method(&format!("amax({})", x.dims(axes)), &rest),
            Function::Product => axes.iter().fold(x.clone(), |x, axis| {
                x.method(
                    &format!("prod({})", x.dim(*axis)),
                    &without(&x.axes, &[*axis]),
                )
            }),
            Function::Argmax | Function::Draw => {
                let index = x.method(&format!("argmax({})", x.dim(axes[0])), &rest);
                self.in_numbers(&index)
            }
            Function::Softmax if axes.len() == 1 => {
                x.method(&format!("softmax({})", x.dim(axes[0])), &x.axes)
            }
            Function::LogSoftmax if axes.len() == 1 => {
                x.method(&format!("log_softmax({})", x.dim(axes[0])), &x.axes)
            }
            Function::Softmax | Function::LogSoftmax => {
                let dims = listed(axes.iter().map(|axis| x.dim(*axis)));
                let exp = if function == Function::Softmax {
                    ".exp()"
                } else {
                    ""
                };
                Code::new(format!("log_softmax({}, {dims}){exp}", x.text), &x.axes)
            }
            Function::Rank | Function::Allocation => Code::new(
                format!("{}({}, {})", function.form().name, x.text, x.dim(axes[0])),
                &x.axes,
            ),
            Function::Shift => {
                let rest = without(&value.axes, &axes[..1]);
                let w = x.fitted(&[&rest[..], &axes[..1]].concat());
                let offsets = without(&parts[1].axes, &rest);
                let s = parts[1].fitted(&[&rest[..], &offsets[..]].concat());
                Code::new(
                    format!("shift({}, {})", w.text, s.text),
                    &[&rest[..], &axes[..1]].concat(),
                )
            }
            Function::Cosine => {
                let all = parts.iter().flat_map(|part| part.axes.clone()).collect();
                let rest = without(&self.sorted(all), axes);
                let pair = [0, 1].map(|part| {
                    let own = parts[part].fitted(&[&rest[..], axes].concat());
                    if axes.len() == 1 {
                        own.text
                    } else {
                        own.method(&format!("flatten(-{})", axes.len()), &[]).text
                    }
                });
                let epsilon = parts
                    .get(2)
                    .map_or(String::new(), |epsilon| format!(", {}", epsilon.text));
                Code::new(format!("cosine({}{epsilon})", listed(pair)), &rest)
            }
            // Sharpen, over one axis.
            _ => {
                let all = self.sorted(parts.iter().flat_map(|part| part.axes.clone()).collect());
                let [w, gamma] = [0, 1].map(|part| parts[part].fitted(&all));
                Code::new(
                    format!("sharpen({}, {}, {})", w.text, gamma.text, w.dim(axes[0])),
                    &all,
                )
            }
        }
    }

    // Tensors.

    /// The path of a tensor in the module.
    fn path(&self, tensor: usize) -> String {
        format!("self.{}", self.program.tensors[tensor].name)
    }

    /// A parameter under these names of its axes; of a tensor with one for each layer, that of the layer.
    fn tensor(&mut self, tensor: usize, axes: &[Axis]) -> Code {
        let own = self.program.tensors[tensor].axes.clone();
        let path = self.path(tensor);
        let mut text = match own.len() {
            0 => format!("{path}[0, 0]"),
            1 => format!("{path}[0]"),
            2 => path,
            _ => format!("{path}.view({})", listed(self.shape(&own))),
        };
        for axis in &own[..own.len().saturating_sub(axes.len())] {
            text = format!("{text}[{}]", self.step_along(*axis));
        }
        Code::new(text, axes)
    }

    /// The step of the block around the statement that runs along an axis.
    fn step_along(&self, axis: Axis) -> String {
        let is_it = |own: &&(usize, String)| {
            self.page.blocks[own.0]
                .axis
                .is_some_and(|own| self.origin(own) == self.origin(axis))
        };
        self.frames
            .iter()
            .rev()
            .find(is_it)
            .map_or(String::new(), |own| own.1.clone())
    }

    /// Values one after another along one axis behind the kept ones; each gives all entries of the axes taken from it.
    fn joined(&mut self, parts: &[Code], taken: &[Vec<Axis>], kept: &[Axis], axis: Axis) -> Code {
        let mut all = Vec::new();
        for (part, taken) in parts.iter().zip(taken) {
            let part = self.whole(part, &[kept, taken].concat());
            all.push(match taken.len() {
                0 if kept.is_empty() => format!("{}[None]", part.at_least(ATOM)),
                0 => format!("{}[..., None]", part.at_least(ATOM)),
                1 => part.text,
                _ if kept.is_empty() => part.method("flatten()", &[]).text,
                _ => part.method(&format!("flatten({})", kept.len()), &[]).text,
            });
        }
        let text = match &all[..] {
            [one] => one.clone(),
            all if kept.is_empty() => format!("torch.cat([{}])", listed(all)),
            all => format!("torch.cat([{}], -1)", listed(all)),
        };
        Code::new(text, &[kept, &[axis]].concat())
    }

    /// What a learned function is called on: the axes that stay, the axes that the map has as well, and the map as a
    /// function of Python. A map of heads, each of which has its own input, gives each its own result.
    fn map(&mut self, parts: &[Code], learned: &Learned) -> (Vec<Axis>, Vec<Axis>, String) {
        let kept = parts
            .iter()
            .zip(&learned.inputs)
            .flat_map(|(part, taken)| without(&part.axes, taken));
        let kept = self.sorted(kept.collect());
        let shared: Vec<Axis> = kept
            .iter()
            .copied()
            .filter(|axis| learned.axes.contains(axis))
            .collect();
        let kept = [without(&kept, &shared), shared.clone()].concat();
        let tensor = &self.program.tensors[learned.weight];
        let outer = tensor.axes[..tensor.axes.len() - learned.axes.len()].to_vec();
        let mut map = self
            .path(learned.weight)
            .trim_end_matches(".weight")
            .to_owned();
        for axis in outer {
            map = format!(
                "layer({map}, {}, {})",
                self.step_along(axis),
                self.length(axis)
            );
        }
        (kept, shared, map)
    }

    fn linear(&mut self, parts: &[Code], learned: &Learned) -> Code {
        let (kept, shared, map) = self.map(parts, learned);
        let input = self.joined(parts, &learned.inputs, &kept, usize::MAX).text;
        let out = without(&learned.axes, &shared);
        let axes = [&kept[..], &out[..]].concat();
        let mut text = format!("{map}({input})");
        if !shared.is_empty() {
            text = format!("per_head({text})");
        }
        let shape = self.shape(&out);
        match out.len() {
            0 => Code::new(format!("{text}.squeeze(-1)"), &axes),
            1 => Code::new(text, &axes),
            _ => Code::new(format!("{text}.unflatten(-1, {})", tuple(shape)), &axes),
        }
    }

    /// A recurrent cell; of an LSTM both states.
    pub fn cell(&mut self, function: Function, learned: &[Learned], value: &Value) -> Code {
        let mut parts: Vec<Code> = value.parts.iter().map(|part| self.value(part)).collect();
        // The cell of an LSTM is not an input of its map.
        let cell = if function == Function::Lstm {
            parts.pop()
        } else {
            None
        };
        let (kept, shared, _) = self.map(&parts, &learned[0]);
        let axes = [&kept[..], &without(&learned[0].axes, &shared)[..]].concat();
        let maps = learned.iter().map(|learned| {
            let map = self.map(&parts, learned).2;
            if shared.is_empty() {
                map
            } else {
                format!("lambda x: per_head({map}(x))")
            }
        });
        let mut arguments: Vec<String> = maps.collect();
        let last = parts.len() - 1;
        arguments.push(
            self.joined(
                &parts[..last],
                &learned[0].inputs[..last],
                &kept,
                usize::MAX,
            )
            .text,
        );
        for state in parts.drain(last..).chain(cell).collect::<Vec<_>>() {
            arguments.push(self.whole(&state, &axes).text);
        }
        Code::new(
            format!("{}({})", function.form().name, listed(arguments)),
            &axes,
        )
    }
}

fn is_comparison(operator: Operator) -> bool {
    OPERATORS[operator as usize].2 == 0
}

fn number_text(number: f64) -> Code {
    let strength = if number < 0.0 { NEGATIVE } else { ATOM };
    if number.is_infinite() {
        return Code::number("torch.inf", strength);
    }
    Code::number(format!("{number:?}").trim_end_matches(".0"), strength)
}
