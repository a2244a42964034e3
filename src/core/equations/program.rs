//! A program: what a page means under the choices made. Statements with the axes of every value, tensors and starts.

use super::text::{Mistake, Name, Place};
pub use super::tree::Axis;
use super::tree::{Function, Operator};

/// An axis of a program.
#[derive(Clone, Debug)]
pub struct AxisInfo {
    /// Name.
    pub name: Name,
    /// The axis whose length it has: itself, or the one that it is another name of.
    pub origin: Axis,
    /// Its length in the trial; of sequences it belongs to the episode.
    pub trial: usize,
    /// How its length is computed.
    pub length: Length,
    /// Rank in the order of axes: class, then place in the file.
    pub rank: (u8, usize),
}

/// How the length of an axis is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Length {
    /// A key of the preset, or the number of named entries.
    Fixed(usize),
    /// Given with the data of an episode.
    Episode,
    /// Another axis has it.
    Origin,
    /// The values of several arguments, one after another: the axes that each takes in.
    Join(Vec<Vec<Axis>>),
    /// As [`Self::Join`], filled up to whole vectors.
    Packed(Vec<Vec<Axis>>),
    /// One entry more than an axis.
    Append(Axis),
    /// The steps so far.
    Past,
}

/// When a series is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the step of a block, counted from the outermost around the reader.
    Step(usize),
    /// At the step before of this block.
    Before(usize),
}

/// What a value is computed by.
#[derive(Clone, Debug)]
pub enum Op {
    /// A number.
    Number(f64),
    /// A constant of the preset, by its index.
    Constant(usize),
    /// The length of an axis.
    Length(Axis),
    /// 0, 1, … along an axis.
    Index(Axis),
    /// The step of a block around the statement.
    Step(usize),
    /// A series, with the entries that are taken.
    Read(usize, Vec<(Axis, When)>),
    /// All steps so far of a series, and this one if `now`.
    Past(usize, Vec<(Axis, When)>, (Axis, usize), bool),
    /// A learned tensor, under these names of its axes.
    Tensor(usize, Vec<Axis>),
    /// Its negative.
    Negative,
    /// Two values joined by an operator.
    Binary(Operator),
    /// A function by element.
    Element(Function),
    /// A function over axes.
    Over(Function, Vec<Axis>),
    /// Another name of an axis.
    Rename(Axis, Axis),
    /// A fixed entry of an axis; the last one if none.
    Entry(Axis, Option<usize>),
    /// The entries of an axis that the second value names.
    Pick(Axis),
    /// A weight times the arguments, plus a bias; the axes that each argument loses.
    Linear(Learned),
    /// A cell: the inputs, the hidden state, and the cell of an LSTM.
    Cell(Function, Vec<Learned>),
    /// Values one after another along a new axis; the axes that each loses.
    Join(Axis, Vec<Vec<Axis>>),
    /// One entry more: of the axis, under a new name.
    Append(Axis, Axis),
    /// A window along an axis: the axis of its entries.
    Window(Axis, Axis),
    /// 1 at an index.
    Onehot(Axis),
}

/// The tensors of a learned function.
#[derive(Clone, Debug)]
pub struct Learned {
    /// Index of the weight.
    pub weight: usize,
    /// Index of the bias.
    pub bias: Option<usize>,
    /// Axes that each argument loses.
    pub inputs: Vec<Vec<Axis>>,
    /// The axes of the tensors in this statement: kind, then those of the result.
    pub axes: Vec<Axis>,
}

/// A value with its axes.
#[derive(Clone, Debug)]
pub struct Value {
    /// What it is computed by.
    pub op: Op,
    /// The values that it is computed from.
    pub parts: Vec<Value>,
    /// Its axes, in the order of the program.
    pub axes: Vec<Axis>,
    /// Where it stands.
    pub place: Place,
    /// Where it is named: its place, or that of the input of a component which stands for it.
    pub named: Place,
}

/// A learned tensor: `[own…, kind, gates, out…, in]`.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Name.
    pub name: String,
    /// Axes but for gates and `in`.
    pub axes: Vec<Axis>,
    /// Number of blocks of a cell, or 0.
    pub gates: usize,
    /// Index in `axes` of the first axis behind the gates.
    pub before_gates: usize,
    /// The parts of `in`: axes of each argument; none of a bias or a parameter.
    pub inputs: Vec<Vec<Axis>>,
}

/// A named array over the steps of its blocks.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name.
    pub name: Name,
    /// The kind of heads that it exists for.
    pub kind: Option<Axis>,
    /// Blocks around it, the outermost first.
    pub blocks: Vec<usize>,
    /// Axes within its block.
    pub axes: Vec<Axis>,
    /// What gives it values.
    pub source: Source,
    /// Its name in traces, without the head.
    pub trace: String,
}

/// What gives a series its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A statement, by its index in the page, and which of its names.
    Statement(usize, usize),
    /// An input, by its index.
    Input(usize),
    /// The target.
    Target,
    /// Noise, by its index.
    Noise(usize),
    /// A parameter: the index of its tensor.
    Parameter(usize),
}

/// A statement that is kept.
#[derive(Clone, Debug)]
pub struct Equation {
    /// Index of its statement in the page.
    pub statement: usize,
    /// Value; of an LSTM the hidden state, whose cell is the second series.
    pub value: Value,
    /// The series that it makes.
    pub makes: Vec<usize>,
    /// The head whose entry it makes, where heads of the kind have different choices.
    pub head: Option<(Axis, usize)>,
}

/// A start that is read.
#[derive(Clone, Debug)]
pub struct First {
    /// The series.
    pub series: usize,
    /// The block along which it is the first value, among those around the series.
    pub block: usize,
    /// Value.
    pub value: Value,
    /// Axes: of the blocks inside, then of the series.
    pub axes: Vec<Axis>,
    /// The head whose entry it makes, where heads of the kind have different choices.
    pub head: Option<(Axis, usize)>,
}

/// A page under the choices made.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Axes.
    pub axes: Vec<AxisInfo>,
    /// Series.
    pub series: Vec<Series>,
    /// Tensors.
    pub tensors: Vec<Tensor>,
    /// Statements in their order.
    pub equations: Vec<Equation>,
    /// Starts.
    pub firsts: Vec<First>,
    /// What fits but is often a mistake.
    pub warnings: Vec<Mistake>,
    /// Indices of the keys that matter under the choices made.
    pub keys: Vec<usize>,
}

impl Program {
    /// The series of the answer: z, or else p.
    pub fn answer(&self) -> Option<usize> {
        let named = |name: &str| self.series.iter().position(|own| &*own.name == name);
        named("z").or_else(|| named("p"))
    }
}

impl Tensor {
    /// Returns a tensor without gates and `in`.
    pub fn new(name: String, axes: Vec<Axis>) -> Self {
        Self {
            name,
            axes,
            gates: 0,
            before_gates: 0,
            inputs: vec![],
        }
    }
}

impl Value {
    /// Returns a value.
    pub fn new(op: Op, parts: Vec<Self>, axes: Vec<Axis>, place: &Place) -> Self {
        Self {
            op,
            parts,
            axes,
            place: place.clone(),
            named: place.clone(),
        }
    }

    /// Calls `visit` with this value and all that it is computed from.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        self.parts.iter().for_each(|part| part.each(visit));
    }

    /// Whether it is a series or a tensor, or some of its entries or other names of its axes.
    pub fn is_view(&self) -> bool {
        match self.op {
            Op::Read(..) | Op::Past(..) | Op::Tensor(..) => true,
            Op::Rename(..) | Op::Entry(..) => self.parts[0].is_view(),
            _ => false,
        }
    }

    /// Whether it is an operator of this kind.
    pub fn op_is(&self, operator: Operator) -> bool {
        matches!(self.op, Op::Binary(own) if own == operator)
    }

    /// Whether it contains a function, which costs more than an operator.
    pub fn has_function(&self) -> bool {
        match self.op {
            Op::Element(_) | Op::Over(..) | Op::Linear(_) | Op::Cell(..) => true,
            _ => self.parts.iter().any(Self::has_function),
        }
    }
}
