//! Operations of a program: every statement as a list of few kinds of operations over views of arrays.
//!
//! A view selects entries, steps and other names of axes without copying. Element-wise expressions become one `Map`;
//! sums, products with weights, cosines, shifts and cells become `Contract`s and `Map`s.

use std::collections::HashMap;

use super::lower::{
    Axis, AxisInfo, Equation, First, Learned, Length, Op, Program, Source, Tensor, Value, When,
};
use super::op::{Act, Node, update::Form};
use super::tree::{Function, Operator};

/// The array under a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A series, by its index.
    Series(usize),
    /// A tensor, by its index.
    Tensor(usize),
    /// The result of an operation, by its index.
    Result(usize),
}

/// A step from an array to a view of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Cut {
    /// The entry of an axis at a step.
    Step(Axis, When),
    /// All steps so far along the axis of a block, by its place around the statement, under the name `past`.
    Past(Axis, usize, bool),
    /// Another name of an axis.
    Rename(Axis, Axis),
    /// An entry of an axis; none: the last one.
    Entry(Axis, Option<usize>),
    /// Entries of an axis from one on, as many as the axis of the second name has.
    Part(Axis, usize, Axis),
    /// The part of a joined axis that came from an argument, by the axes that it had.
    Joined(Axis, Vec<Vec<Axis>>, Vec<Axis>),
    /// The part of `in` of a weight that an argument meets, under new names of its axes.
    Input(usize, Vec<Axis>),
    /// All axes of a tensor but `in`, and those of the tensors that stand beside it.
    Packed(Axis),
}

/// A view of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The array.
    pub base: Base,
    /// What is selected.
    pub cuts: Vec<Cut>,
    /// Its axes.
    pub axes: Vec<Axis>,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it does.
    pub act: Act,
    /// Result.
    pub out: View,
    /// Arguments.
    pub arguments: Vec<View>,
}

/// An array that an operation makes and that is no series.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Axes.
    pub axes: Vec<Axis>,
}

/// The operations of a statement or a start.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Operations in their order.
    pub operations: Vec<Operation>,
}

/// The arrays and operations of a program.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    /// Scratch arrays.
    pub scratch: Vec<Scratch>,
    /// By the index of the equation.
    pub equations: Vec<Work>,
    /// By the index of the start.
    pub firsts: Vec<Work>,
    /// Scratch arrays that say what statements draw, with the index of the equation.
    pub draws: Vec<(usize, usize)>,
    /// Linear maps of one value that are one product.
    pub packs: Vec<Packed>,
}

/// Linear maps of one value, whose weights, biases and results stand side by side.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    /// The scratch array that holds all results.
    pub scratch: usize,
    /// Their axis.
    pub axis: Axis,
    /// Weight, bias and result of each; the axes of a result in the order of its weight.
    pub members: Vec<(usize, usize, Base, Vec<Axis>)>,
}

impl Flat {
    /// The array that an array is a part of.
    pub fn whole(&self, base: Base) -> Base {
        let holds = |pack: &&Packed| pack.members.iter().any(|member| member.2 == base);
        self.packs
            .iter()
            .find(holds)
            .map_or(base, |pack| Base::Result(pack.scratch))
    }
}

/// A linear map that may join others.
struct Candidate {
    blocks: Option<Vec<usize>>,
    argument: View,
    weight: usize,
    bias: usize,
    out: View,
    visible: Vec<Axis>,
    /// The indices of its statement and of its first operation there.
    at: (usize, usize),
}

/// A sum that sets its result.
const SUM: Act = Act::Contract {
    adds: false,
    is_mean: false,
};

/// Sums and products of no more entries are part of the expression around them.
const MOST_TERMS: usize = 2;

/// Expressions of more nodes are split.
const MOST_NODES: usize = 24;

/// What `y[-1]` of the target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The target.
    Target,
    /// The most probable class of the machine's own answer.
    Class,
    /// The bits of its own answer that are more probable than not.
    Bits,
}

/// Returns the operations of a program, and adds the axes that only they have.
pub fn flatten(program: &mut Program, feedback: Feedback) -> Flat {
    let mut flat = Flatten {
        axes: program.axes.clone(),
        tensors: &program.tensors,
        scratch: vec![],
        work: Work::default(),
        drawn: vec![],
        entries: vec![],
        blocks: None,
        squares: vec![],
        candidates: vec![],
        done: 0,
        makers: HashMap::new(),
        later: vec![],
    };
    for (index, Equation { makes, .. }) in program.equations.iter().enumerate() {
        flat.makers.extend(
            makes
                .iter()
                .map(|series| (*series, (index, program.series[*series].blocks.clone()))),
        );
    }
    let (mut equations, mut firsts, mut draws) = (vec![], vec![], vec![]);
    for (
        index,
        Equation {
            value, makes, head, ..
        },
    ) in program.equations.iter().enumerate()
    {
        let outs: Vec<View> = makes
            .iter()
            .map(|series| entry_of(*series, &program.series[*series].axes, *head))
            .collect();
        flat.blocks = Some(program.series[makes[0]].blocks.clone());
        flat.root(value, &outs);
        flat.feed_back(program, makes, &outs[0], feedback);
        draws.extend(flat.drawn.drain(..).map(|scratch| (scratch, index)));
        equations.push(std::mem::take(&mut flat.work));
        flat.done += 1;
    }
    flat.blocks = None;
    for First {
        value,
        series,
        axes,
        head,
        ..
    } in &program.firsts
    {
        flat.root(value, &[entry_of(*series, axes, *head)]);
        firsts.push(std::mem::take(&mut flat.work));
    }
    for (maker, operation) in std::mem::take(&mut flat.later) {
        equations[maker].operations.push(operation);
    }
    let packs = flat.pack(&mut equations);
    let Flatten { axes, scratch, .. } = flat;
    program.axes = axes;
    Flat {
        scratch,
        equations,
        firsts,
        draws,
        packs,
    }
}

/// A series, or its entry of one head.
pub fn entry_of(series: usize, axes: &[Axis], head: Option<(Axis, usize)>) -> View {
    let cuts = head
        .iter()
        .map(|(axis, head)| Cut::Entry(*axis, Some(*head)))
        .collect();
    let axes = axes
        .iter()
        .copied()
        .filter(|axis| head.is_none_or(|(own, _)| own != *axis))
        .collect();
    View {
        base: Base::Series(series),
        cuts,
        axes,
    }
}

struct Flatten<'a> {
    axes: Vec<AxisInfo>,
    tensors: &'a [Tensor],
    scratch: Vec<Scratch>,
    work: Work,
    drawn: Vec<usize>,
    /// Axes of which an expression means one entry.
    entries: Vec<(Axis, usize)>,
    /// The blocks around the statement; none of a start.
    blocks: Option<Vec<usize>>,
    /// Sums of squares of series that statements need, with their blocks: other statements there need them as well.
    squares: Vec<(Vec<usize>, View, View)>,
    candidates: Vec<Candidate>,
    /// The statement that makes a series, with its blocks.
    makers: HashMap<usize, (usize, Vec<usize>)>,
    /// Operations that belong to other statements.
    later: Vec<(usize, Operation)>,
    /// The number of statements that are done.
    done: usize,
}

impl Flatten<'_> {
    /// An axis of its own with the length of another one.
    fn alias(&mut self, axis: Axis) -> Axis {
        self.axes.push(AxisInfo {
            length: Length::Origin,
            ..self.axes[axis].clone()
        });
        self.axes.len() - 1
    }

    fn fixed(&mut self, length: usize) -> Axis {
        let index = self.axes.len();
        self.axes.push(AxisInfo {
            origin: index,
            trial: length,
            length: Length::Fixed(length),
            ..self.axes[0].clone()
        });
        index
    }

    fn result(&mut self, axes: Vec<Axis>) -> View {
        self.scratch.push(Scratch { axes: axes.clone() });
        View {
            base: Base::Result(self.scratch.len() - 1),
            cuts: vec![],
            axes,
        }
    }

    /// Takes back a scratch array that nothing writes.
    fn forget(&mut self, view: &View) {
        if let Base::Result(result) = view.base {
            self.scratch[result].axes = vec![self.fixed(0)];
        }
    }

    fn push(&mut self, act: Act, out: &View, arguments: Vec<View>) {
        self.work.operations.push(Operation {
            act,
            out: out.clone(),
            arguments,
        });
    }

    /// Puts an answer in the place of the target, for the step after it.
    fn feed_back(&mut self, program: &Program, makes: &[usize], answer: &View, feedback: Feedback) {
        let target = program
            .series
            .iter()
            .position(|series| series.source == Source::Target);
        let (Some(target), false, true) = (
            target,
            feedback == Feedback::Target,
            program.answer() == Some(makes[0]),
        ) else {
            return;
        };
        let (mut axes, mut cuts) = (program.series[target].axes.clone(), vec![]);
        for axis in program.series[target]
            .axes
            .iter()
            .filter(|axis| !answer.axes.contains(axis))
        {
            cuts.push(Cut::Step(*axis, When::Step(usize::MAX)));
            axes.retain(|own| own != axis);
        }
        let (&[classes], false) = (&axes[..], cuts.is_empty()) else {
            return;
        };
        let out = View {
            base: Base::Series(target),
            cuts,
            axes,
        };
        if feedback == Feedback::Class {
            let class = self.result(vec![]);
            self.push(Act::Argmax(classes), &class, vec![answer.clone()]);
            self.push(Act::Onehot(classes), &out, vec![class]);
        } else {
            let least = if &*program.series[makes[0]].name == "p" {
                0.5
            } else {
                0.0
            };
            self.push(
                Act::Map(vec![
                    Node::Argument(0),
                    Node::Number(least),
                    Node::Binary(Operator::More, 0, 1),
                ]),
                &out,
                vec![answer.clone()],
            );
        }
    }

    /// Computes a value into its series.
    fn root(&mut self, value: &Value, outs: &[View]) {
        match &value.op {
            Op::Cell(Function::Lstm, learned) => {
                self.lstm(value, &learned[0], &outs[0], outs.get(1));
            }
            _ => self.into(value, &outs[0]),
        }
    }

    /// Computes a value into a view.
    fn into(&mut self, value: &Value, out: &View) {
        if let Op::Over(function, axes) = &value.op
            && (self.terms(value, axes) == 0
                || !matches!(function, Function::Sum | Function::Product))
        {
            return self.over(*function, axes, value, out);
        }
        match &value.op {
            Op::Linear(learned) => {
                let parts = value.parts.iter().map(|part| self.view(part)).collect();
                self.linear(parts, learned, out, None);
            }
            Op::Cell(Function::Lstm, learned) => {
                let learned = learned[0].clone();
                self.lstm(value, &learned, out, None);
            }
            Op::Cell(_, learned) => self.gru(value, &learned[0], &learned[1], out),
            Op::Pick(axis) => {
                let (axis, arguments) = (
                    *axis,
                    value.parts.iter().map(|part| self.view(part)).collect(),
                );
                self.push(Act::Pick(axis), out, arguments);
            }
            Op::Onehot(axis) => {
                let argument = self.view(&value.parts[0]);
                self.push(Act::Onehot(*axis), out, vec![argument]);
            }
            Op::Join(axis, taken) => self.join(*axis, taken, value, out),
            Op::Append(axis, new) => {
                let (whole, entry) = (self.view(&value.parts[0]), self.view(&value.parts[1]));
                let mut first = out.clone();
                replace(&mut first, Cut::Part(*new, 0, *axis), *new, Some(*axis));
                self.copy(&first, whole);
                let mut last = out.clone();
                replace(&mut last, Cut::Entry(*new, None), *new, None);
                self.copy(&last, entry);
            }
            Op::Window(axis, new) => {
                let argument = self.view(&value.parts[0]);
                self.push(Act::Window(*axis, *new), out, vec![argument]);
            }
            _ if self.update(value, out) => {}
            _ => {
                let (mut nodes, mut arguments) = (vec![], vec![]);
                self.node(value, &mut nodes, &mut arguments);
                self.push(Act::Map(nodes), out, arguments);
            }
        }
    }

    fn copy(&mut self, out: &View, from: View) {
        self.push(Act::Map(vec![Node::Argument(0)]), out, vec![from]);
    }

    /// A view of a value: of its array where it has one, else of a scratch array.
    fn view(&mut self, value: &Value) -> View {
        let entries = std::mem::take(&mut self.entries);
        let mut view = self.whole(value);
        for (axis, entry) in &entries {
            if view.axes.contains(axis) {
                replace(&mut view, Cut::Entry(*axis, Some(*entry)), *axis, None);
            }
        }
        self.entries = entries;
        view
    }

    fn whole(&mut self, value: &Value) -> View {
        let steps = |at: &[(Axis, When)]| {
            at.iter()
                .map(|(axis, when)| Cut::Step(*axis, *when))
                .collect::<Vec<_>>()
        };
        let (base, cuts) = match &value.op {
            Op::Read(series, at) => (Base::Series(*series), steps(at)),
            Op::Past(series, at, (axis, frame), now) => (
                Base::Series(*series),
                [steps(at), vec![Cut::Past(*axis, *frame, *now)]].concat(),
            ),
            Op::Tensor(tensor, axes) => (
                Base::Tensor(*tensor),
                own_entry(&self.tensors[*tensor], axes),
            ),
            Op::Rename(..) | Op::Entry(..) => {
                let View { base, mut cuts, .. } = self.view(&value.parts[0]);
                match value.op {
                    Op::Rename(from, to) => cuts.push(Cut::Rename(from, to)),
                    Op::Entry(axis, entry) => cuts.push(Cut::Entry(axis, entry)),
                    _ => {}
                }
                (base, cuts)
            }
            _ => {
                let out = self.result(value.axes.clone());
                self.into(value, &out);
                return out;
            }
        };
        View {
            base,
            cuts,
            axes: value.axes.clone(),
        }
    }

    /// Adds a value to an element-wise expression.
    fn node(&mut self, value: &Value, nodes: &mut Vec<Node>, arguments: &mut Vec<View>) -> usize {
        let inner =
            |own: &mut Self, index: usize, nodes: &mut Vec<Node>, arguments: &mut Vec<View>| {
                let part = &value.parts[index];
                // What is costly and has fewer axes than the whole is computed once for all of them.
                let is_costly = part.axes.len() < value.axes.len() && part.has_function();
                if is_costly || nodes.len() > MOST_NODES {
                    let view = own.view(part);
                    arguments.push(view);
                    nodes.push(Node::Argument(arguments.len() - 1));
                    nodes.len() - 1
                } else {
                    own.node(part, nodes, arguments)
                }
            };
        let node = match &value.op {
            Op::Number(number) => Node::Number(*number),
            Op::Constant(constant) => Node::Constant(*constant),
            Op::Length(axis) => Node::Length(*axis),
            Op::Index(axis) => Node::Index(*axis),
            Op::Step(frame) => Node::Step(*frame),
            Op::Negative => Node::Negative(inner(self, 0, nodes, arguments)),
            Op::Binary(operator) => {
                let left = inner(self, 0, nodes, arguments);
                Node::Binary(*operator, left, inner(self, 1, nodes, arguments))
            }
            Op::Element(function @ (Function::Max | Function::Min)) => {
                let left = inner(self, 0, nodes, arguments);
                Node::Extreme(*function, left, inner(self, 1, nodes, arguments))
            }
            Op::Element(Function::Where) => {
                let condition = inner(self, 0, nodes, arguments);
                let yes = inner(self, 1, nodes, arguments);
                Node::Where(condition, yes, inner(self, 2, nodes, arguments))
            }
            Op::Element(function) => Node::Unary(*function, inner(self, 0, nodes, arguments)),
            Op::Over(function @ (Function::Sum | Function::Product), axes)
                if self.terms(value, axes) > 0 =>
            {
                let operator = if *function == Function::Sum {
                    Operator::Add
                } else {
                    Operator::Multiply
                };
                let mut before = None;
                for entry in 0..self.terms(value, axes) {
                    self.entries.push((axes[0], entry));
                    let term = self.node(&value.parts[0], nodes, arguments);
                    self.entries.pop();
                    let joined = before.map(|before| {
                        nodes.push(Node::Binary(operator, before, term));
                        nodes.len() - 1
                    });
                    before = Some(joined.unwrap_or(term));
                }
                return before.unwrap_or(0);
            }
            Op::Linear(learned) if value.parts.len() > 1 && self.entries.is_empty() => {
                let parts = value.parts.iter().map(|part| self.view(part)).collect();
                let first = self.result(value.axes.clone());
                let terms = self.terms_of_linear(parts, learned, &first, None);
                let from = arguments.len();
                if terms.is_empty() {
                    arguments.push(first);
                } else {
                    self.forget(&first);
                    arguments.extend(terms);
                }
                add_all(nodes, from..arguments.len());
                return nodes.len() - 1;
            }
            _ => {
                let view = self.view(value);
                let index = arguments
                    .iter()
                    .position(|own| *own == view)
                    .unwrap_or(arguments.len());
                if index == arguments.len() {
                    arguments.push(view);
                } else if let Some(node) =
                    nodes.iter().position(|node| *node == Node::Argument(index))
                {
                    return node;
                }
                Node::Argument(index)
            }
        };
        nodes.push(node);
        nodes.len() - 1
    }

    /// The update of a memory: x (1 − w e) + v a, or x (1 − w − e) + v a where the links of a row to itself are 0.
    fn update(&mut self, value: &Value, out: &View) -> bool {
        let pair = |value: &Value, operator| match &value.parts[..] {
            [left, right] if value.op_is(operator) => Some((left.clone(), right.clone())),
            _ => None,
        };
        // The only term of a sum or product.
        let only = |own: &Self, value: &Value| match &value.op {
            Op::Over(Function::Sum | Function::Product, axes) if own.terms(value, axes) == 1 => {
                (value.parts[0].clone(), Some((axes[0], 0)))
            }
            _ => (value.clone(), None),
        };
        let (whole, is_hollow) = match (&value.op, &value.parts[..]) {
            (Op::Element(Function::Where), [same, zero, rest])
                if matches!(zero.op, Op::Number(0.0))
                    && same.op_is(Operator::Equal)
                    && same
                        .parts
                        .iter()
                        .all(|part| matches!(part.op, Op::Index(_))) =>
            {
                (
                    rest,
                    same.axes.len() == 2 && value.axes.ends_with(&same.axes),
                )
            }
            _ => (value, false),
        };
        let found = pair(whole, Operator::Add).and_then(|(left, right)| {
            let ((x, kept), (added, added_in)) =
                (pair(&left, Operator::Multiply)?, only(self, &right));
            let (x, (kept, kept_in)) =
                if kept.axes.len() > x.axes.len() || pair(&x, Operator::Subtract).is_some() {
                    (kept, only(self, &x))
                } else {
                    (x, only(self, &kept))
                };
            let ((one, taken), (v, a)) = (
                pair(&kept, Operator::Subtract)?,
                pair(&added, Operator::Multiply)?,
            );
            let is_one = |value: &Value| matches!(value.op, Op::Number(1.0));
            let sum = pair(&one, Operator::Subtract).filter(|(one, _)| is_one(one));
            let (w, e) = if let Some((_, first)) = &sum {
                (first.clone(), taken)
            } else {
                pair(&taken, Operator::Multiply).filter(|_| is_one(&one))?
            };
            Some((
                [
                    (x, None),
                    (w, kept_in),
                    (e, kept_in),
                    (v, added_in),
                    (a, added_in),
                ],
                sum.is_some(),
            ))
        });
        let Some((parts, is_sum)) = found.filter(|_| is_hollow || std::ptr::eq(whole, value))
        else {
            return false;
        };
        let is_plain =
            |value: &Value| matches!(value.op, Op::Read(..) | Op::Rename(..) | Op::Entry(..));
        if out.axes.len() < 2
            || parts[0].0.axes != value.axes
            || !parts.iter().all(|(part, _)| is_plain(part))
        {
            return false;
        }
        let arguments = parts.iter().map(|(part, entry)| {
            self.entries.extend(entry);
            let view = self.view(part);
            entry.iter().for_each(|_| _ = self.entries.pop());
            view
        });
        let arguments = arguments.collect();
        self.push(Act::Update(Form { is_sum, is_hollow }), out, arguments);
        true
    }

    /// The number of terms of a sum or product that the expression around it computes, or 0.
    fn terms(&self, value: &Value, axes: &[Axis]) -> usize {
        fn is_plain(value: &Value) -> bool {
            matches!(
                value.op,
                Op::Number(_) | Op::Constant(_) | Op::Read(..) | Op::Tensor(..)
            ) || matches!(value.op, Op::Negative | Op::Binary(_) | Op::Element(_))
                && value.parts.iter().all(is_plain)
        }
        match (axes, &value.parts[..]) {
            ([axis], [part]) if is_plain(part) => match self.axes[*axis].length {
                Length::Fixed(length @ 1..=MOST_TERMS) => length,
                _ => 0,
            },
            _ => 0,
        }
    }

    #[expect(clippy::too_many_lines, reason = "an arm for each function")]
    fn over(&mut self, function: Function, axes: &[Axis], value: &Value, out: &View) {
        match function {
            Function::Sum | Function::Dot => {
                let factors: Vec<&Value> = match (&value.parts[..], function) {
                    ([left, right], _) => vec![left, right],
                    ([part], _) if part.op_is(Operator::Multiply) => part.parts.iter().collect(),
                    (parts, _) => parts.iter().collect(),
                };
                let arguments = factors.iter().map(|factor| self.view(factor)).collect();
                self.push(SUM, out, arguments);
            }
            Function::Mean => {
                let argument = self.view(&value.parts[0]);
                self.push(
                    Act::Contract {
                        adds: false,
                        is_mean: true,
                    },
                    out,
                    vec![argument],
                );
            }
            Function::Norm => {
                let squares = self.squares(&value.parts[0], &value.axes);
                self.push(
                    Act::Map(vec![Node::Argument(0), Node::Unary(Function::Sqrt, 0)]),
                    out,
                    vec![squares],
                );
            }
            Function::Cosine => {
                let [key, row] = [&value.parts[0], &value.parts[1]];
                let product = self.result(value.axes.clone());
                let arguments = vec![self.view(key), self.view(row)];
                self.push(SUM, &product, arguments);
                let without = |part: &Value| {
                    part.axes
                        .iter()
                        .copied()
                        .filter(|axis| !axes.contains(axis))
                        .collect::<Vec<_>>()
                };
                let mut arguments = vec![
                    product,
                    self.squares(key, &without(key)),
                    self.squares(row, &without(row)),
                ];
                let (mut nodes, root) =
                    (vec![Node::Argument(0)], |nodes: &mut Vec<Node>, index| {
                        nodes.push(Node::Argument(index));
                        nodes.push(Node::Binary(Operator::Add, 1, nodes.len() - 1));
                        nodes.push(Node::Unary(Function::Sqrt, nodes.len() - 1));
                        nodes.len() - 1
                    });
                match value.parts.get(2) {
                    Some(epsilon) => _ = self.node(epsilon, &mut nodes, &mut arguments),
                    None => nodes.push(Node::Number(0.0)),
                }
                let (one, other) = (root(&mut nodes, 1), root(&mut nodes, 2));
                nodes.push(Node::Binary(Operator::Multiply, one, other));
                nodes.push(Node::Binary(Operator::Divide, 0, nodes.len() - 1));
                self.push(Act::Map(nodes), out, arguments);
            }
            Function::Shift => {
                let arguments = value.parts.iter().map(|part| self.view(part)).collect();
                self.push(Act::Shift(axes[0], axes[1]), out, arguments);
            }
            Function::Sharpen => {
                let powers = self.result(value.axes.clone());
                let mut arguments = vec![self.view(&value.parts[0])];
                let mut nodes = vec![
                    Node::Argument(0),
                    Node::AtLeastTiny(0),
                    Node::Unary(Function::Log, 1),
                ];
                let gamma = self.node(&value.parts[1], &mut nodes, &mut arguments);
                nodes.push(Node::Binary(Operator::Multiply, 2, gamma));
                self.push(Act::Map(nodes), &powers, arguments);
                self.push(Act::Softmax(axes.to_vec()), out, vec![powers]);
            }
            Function::Draw => {
                let chance = self.result(value.axes.clone());
                let Base::Result(scratch) = chance.base else {
                    return;
                };
                self.drawn.push(scratch);
                let argument = self.view(&value.parts[0]);
                self.push(Act::Draw(axes[0]), out, vec![argument, chance]);
            }
            _ => {
                let argument = self.view(&value.parts[0]);
                let act = match function {
                    Function::Softmax => Act::Softmax(axes.to_vec()),
                    Function::LogSoftmax => Act::LogSoftmax(axes.to_vec()),
                    Function::Product => Act::Product(axes.to_vec()),
                    Function::Maximum => Act::Maximum(axes.to_vec()),
                    Function::Rank => Act::Rank(axes[0]),
                    Function::Allocation => Act::Allocation(axes[0]),
                    _ => Act::Argmax(axes[0]),
                };
                self.push(act, out, vec![argument]);
            }
        }
    }

    fn squares(&mut self, value: &Value, axes: &[Axis]) -> View {
        let view = self.view(value);
        let blocks = self
            .blocks
            .clone()
            .filter(|_| matches!(view.base, Base::Series(_)));
        let known = self.squares.iter().find(|(around, own, out)| {
            Some(around) == blocks.as_ref() && *own == view && out.axes == axes
        });
        if let Some((_, _, out)) = known {
            return out.clone();
        }
        let out = self.result(axes.to_vec());
        self.push(SUM, &out, vec![view.clone(), view.clone()]);
        self.squares
            .extend(blocks.map(|blocks| (blocks, view, out.clone())));
        out
    }

    fn join(&mut self, axis: Axis, taken: &[Vec<Axis>], value: &Value, out: &View) {
        for (index, (part, axes)) in value.parts.iter().zip(taken).enumerate() {
            let from = self.view(part);
            let mut part_of = out.clone();
            part_of
                .cuts
                .push(Cut::Joined(axis, taken[..index].to_vec(), axes.clone()));
            part_of.axes.retain(|own| *own != axis);
            part_of.axes.extend(axes);
            self.copy(&part_of, from);
        }
    }

    /// Computes bias + Σ weight · argument, or the terms of this sum where they have different axes.
    #[expect(clippy::too_many_lines, reason = "one step after another")]
    fn terms_of_linear(
        &mut self,
        parts: Vec<View>,
        learned: &Learned,
        out: &View,
        gates: Option<Axis>,
    ) -> Vec<View> {
        let own = own_entry(&self.tensors[learned.weight], &learned.axes);
        let weight = &self.tensors[learned.weight];
        let mut visible = learned.axes.clone();
        gates.into_iter().for_each(|gates| {
            visible.insert(
                weight.before_gates + learned.axes.len() - weight.axes.len(),
                gates,
            );
        });
        self.order(out, &visible);
        if let ([argument], Some(bias), None, true, Some(_)) = (
            &parts[..],
            learned.bias,
            gates,
            own.is_empty(),
            &self.blocks,
        ) && out.cuts.is_empty()
            && learned
                .inputs
                .iter()
                .all(|taken| argument.axes.iter().all(|axis| taken.contains(axis)))
            && visible.iter().all(|axis| out.axes.contains(axis))
        {
            let (blocks, at) = (self.blocks.clone(), (self.done, self.work.operations.len()));
            self.candidates.push(Candidate {
                blocks,
                argument: argument.clone(),
                weight: learned.weight,
                bias,
                out: out.clone(),
                visible: visible.clone(),
                at,
            });
        }
        let mut products = Vec::new();
        for (index, (mut argument, taken)) in parts.into_iter().zip(&learned.inputs).enumerate() {
            let mut view = View {
                base: Base::Tensor(learned.weight),
                cuts: own.clone(),
                axes: visible.clone(),
            };
            let mut inner = Vec::new();
            for axis in taken {
                let other = self.alias(*axis);
                replace(&mut argument, Cut::Rename(*axis, other), *axis, Some(other));
                inner.push(other);
            }
            view.cuts.push(Cut::Input(index, inner.clone()));
            view.axes.extend(inner);
            products.push([argument, view]);
        }
        let bias = learned.bias.map(|bias| View {
            base: Base::Tensor(bias),
            cuts: own,
            axes: visible,
        });
        for product in &mut products {
            self.write_once(product, out);
        }
        let axes = |[argument, view]: &[View; 2]| -> Vec<Axis> {
            out.axes
                .iter()
                .copied()
                .filter(|axis| argument.axes.contains(axis) || view.axes.contains(axis))
                .collect()
        };
        if products
            .iter()
            .all(|product| axes(product) == axes(&products[0]))
        {
            match bias {
                Some(bias) => self.copy(out, bias),
                None => self.push(Act::Map(vec![Node::Number(0.0)]), out, vec![]),
            }
            for [argument, weight] in products {
                let arguments = if argument == weight {
                    vec![argument]
                } else {
                    vec![argument, weight]
                };
                self.push(
                    Act::Contract {
                        adds: true,
                        is_mean: false,
                    },
                    out,
                    arguments,
                );
            }
            return vec![];
        }
        // Products that vary along different axes are computed apart: what does not change in a loop is computed once.
        let mut arguments: Vec<View> = bias.into_iter().collect();
        for product in products {
            let [argument, weight] = &product;
            if argument == weight {
                arguments.push(argument.clone());
                continue;
            }
            let part = self.result(axes(&product));
            self.order(&part, &product[1].axes);
            self.push(SUM, &part, product.into());
            arguments.push(part);
        }
        arguments
    }

    /// out = bias + Σ weight · argument.
    fn linear(&mut self, parts: Vec<View>, learned: &Learned, out: &View, gates: Option<Axis>) {
        let terms = self.terms_of_linear(parts, learned, out, gates);
        if !terms.is_empty() {
            let mut nodes = vec![];
            add_all(&mut nodes, 0..terms.len());
            self.push(Act::Map(nodes), out, terms);
        }
    }

    /// Makes one product of linear maps of one value.
    fn pack(&mut self, equations: &mut [Work]) -> Vec<Packed> {
        let uses = |tensor: usize| {
            let all = equations
                .iter()
                .flat_map(|work| &work.operations)
                .flat_map(|operation| &operation.arguments);
            all.filter(|view| view.base == Base::Tensor(tensor)).count()
        };
        let mut left: Vec<Candidate> = std::mem::take(&mut self.candidates);
        left.retain(|own| uses(own.weight) == 1 && uses(own.bias) == 1);
        let (mut packs, mut gone) = (vec![], vec![]);
        while let Some(first) = left.first() {
            let is_like =
                |own: &Candidate| own.blocks == first.blocks && own.argument == first.argument;
            let (group, rest): (Vec<Candidate>, Vec<Candidate>) = {
                let like: Vec<bool> = left.iter().map(is_like).collect();
                let mut like = like.into_iter();
                left.into_iter()
                    .partition(|_| like.next().unwrap_or_default())
            };
            left = rest;
            if group.len() < 2 {
                continue;
            }
            let axis = self.axes.len();
            let parts = group.iter().map(|own| own.visible.clone()).collect();
            self.axes.push(AxisInfo {
                origin: axis,
                length: Length::Packed(parts),
                ..self.axes[0].clone()
            });
            let out = self.result(vec![axis]);
            let Base::Result(scratch) = out.base else {
                continue;
            };
            for own in &group {
                gone.push(own.at);
            }
            let (statement, operation) = group[0].at;
            let [bias, product] = &mut equations[statement].operations[operation..operation + 2]
            else {
                continue;
            };
            (bias.out, product.out) = (out.clone(), out);
            let cuts = vec![Cut::Packed(axis)];
            bias.arguments = vec![View {
                base: Base::Tensor(group[0].bias),
                cuts,
                axes: vec![axis],
            }];
            let weight = &mut product.arguments[1];
            let inner: Vec<Axis> = weight.axes[group[0].visible.len()..].to_vec();
            weight.cuts.insert(0, Cut::Packed(axis));
            weight.axes = [vec![axis], inner].concat();
            let members = group
                .into_iter()
                .map(|own| (own.weight, own.bias, own.out.base, own.visible))
                .collect();
            packs.push(Packed {
                scratch,
                axis,
                members,
            });
            gone.retain(|at| *at != (statement, operation));
        }
        gone.sort_unstable();
        for (statement, operation) in gone.into_iter().rev() {
            equations[statement]
                .operations
                .drain(operation..operation + 2);
        }
        packs
    }

    /// A product with a tape: each row is multiplied when it is written, not at every step after it.
    fn write_once(&mut self, [argument, weight]: &mut [View; 2], out: &View) {
        let (Base::Series(series), Some(around)) = (argument.base, self.blocks.clone()) else {
            return;
        };
        let Some(at) = argument
            .cuts
            .iter()
            .position(|cut| matches!(cut, Cut::Past(..)))
        else {
            return;
        };
        let Some((maker, blocks)) = self.makers.get(&series).cloned() else {
            return;
        };
        let Cut::Past(axis, frame, now) = argument.cuts[at] else {
            return;
        };
        let past = argument
            .axes
            .iter()
            .copied()
            .find(|own| self.axes[self.axes[*own].origin].length == Length::Past);
        // A row of the step at hand, without the tape.
        let (Some(past), true) = (
            past,
            blocks == around && frame + 1 == around.len() && at < argument.cuts.len(),
        ) else {
            return;
        };
        let mut row = argument.clone();
        row.cuts[at] = Cut::Step(axis, When::Step(frame));
        row.axes.retain(|own| *own != past);
        let axes = out
            .axes
            .iter()
            .copied()
            .filter(|own| *own != past && (row.axes.contains(own) || weight.axes.contains(own)))
            .collect();
        let part = self.result(axes);
        self.order(&part, &weight.axes);
        self.later.push((
            maker,
            Operation {
                act: SUM,
                out: part.clone(),
                arguments: vec![row, weight.clone()],
            },
        ));
        let axes = part.axes.iter().copied().chain([past]).collect();
        *argument = View {
            cuts: vec![Cut::Past(axis, frame, now)],
            axes,
            ..part
        };
        *weight = argument.clone();
    }

    /// Gives a scratch array the order of a weight: then its product with it runs along memory.
    fn order(&mut self, out: &View, visible: &[Axis]) {
        if let Base::Result(result) = out.base {
            let axes = &mut self.scratch[result].axes;
            let last: Vec<Axis> = visible
                .iter()
                .copied()
                .filter(|axis| axes.contains(axis))
                .collect();
            axes.retain(|axis| !last.contains(axis));
            axes.extend(last);
        }
    }

    fn gate(gates: &View, axis: Axis, index: usize) -> View {
        let mut gate = gates.clone();
        replace(&mut gate, Cut::Entry(axis, Some(index)), axis, None);
        gate
    }

    /// c' = σ(f) c + σ(i) tanh(g); h' = σ(o) tanh(c').
    fn lstm(&mut self, value: &Value, learned: &Learned, hidden: &View, cell: Option<&View>) {
        let axis = self.fixed(4);
        let gates = self.result([&[axis], &value.axes[..]].concat());
        let seen = value.parts[..value.parts.len() - 1]
            .iter()
            .map(|part| self.view(part))
            .collect();
        self.linear(seen, learned, &gates, Some(axis));
        let before = self.view(&value.parts[value.parts.len() - 1]);
        let new = cell
            .cloned()
            .unwrap_or_else(|| self.result(value.axes.clone()));
        let gate = |index| Self::gate(&gates, axis, index);
        let sigmoid = |index| Node::Unary(Function::Sigmoid, index);
        let tanh = |index| Node::Unary(Function::Tanh, index);
        let multiply = |one, other| Node::Binary(Operator::Multiply, one, other);
        let nodes = vec![
            Node::Argument(0),
            sigmoid(0),
            Node::Argument(3),
            multiply(1, 2),
            Node::Argument(1),
            sigmoid(4),
            Node::Argument(2),
            tanh(6),
            multiply(5, 7),
            Node::Binary(Operator::Add, 3, 8),
        ];
        self.push(
            Act::Map(nodes),
            &new,
            vec![gate(1), gate(0), gate(2), before],
        );
        let nodes = vec![
            Node::Argument(0),
            sigmoid(0),
            Node::Argument(1),
            tanh(2),
            multiply(1, 3),
        ];
        self.push(Act::Map(nodes), hidden, vec![gate(3), new]);
    }

    /// h' = (1 − z) h + z h̃.
    fn gru(&mut self, value: &Value, first: &Learned, second: &Learned, out: &View) {
        let axis = self.fixed(2);
        let gates = self.result([&[axis], &value.axes[..]].concat());
        let mut seen: Vec<View> = value.parts.iter().map(|part| self.view(part)).collect();
        self.linear(seen.clone(), first, &gates, Some(axis));
        let before = seen.remove(seen.len() - 1);
        let reset = self.result(value.axes.clone());
        let multiply = |one, other| Node::Binary(Operator::Multiply, one, other);
        let nodes = vec![
            Node::Argument(0),
            Node::Unary(Function::Sigmoid, 0),
            Node::Argument(1),
            multiply(1, 2),
        ];
        self.push(
            Act::Map(nodes),
            &reset,
            vec![Self::gate(&gates, axis, 1), before.clone()],
        );
        let candidate = self.result(value.axes.clone());
        seen.push(reset);
        self.linear(seen, second, &candidate, None);
        let nodes = vec![
            Node::Argument(0),
            Node::Unary(Function::Sigmoid, 0),
            Node::Number(1.0),
            Node::Binary(Operator::Subtract, 2, 1),
            Node::Argument(1),
            multiply(3, 4),
            Node::Argument(2),
            Node::Unary(Function::Tanh, 6),
            multiply(1, 7),
            Node::Binary(Operator::Add, 5, 8),
        ];
        self.push(
            Act::Map(nodes),
            out,
            vec![Self::gate(&gates, axis, 0), before, candidate],
        );
    }
}

/// Adds nodes for the sum of these arguments.
fn add_all(nodes: &mut Vec<Node>, arguments: std::ops::Range<usize>) {
    for argument in arguments.clone() {
        nodes.push(Node::Argument(argument));
        if argument > arguments.start {
            nodes.push(Node::Binary(
                Operator::Add,
                nodes.len() - 2,
                nodes.len() - 1,
            ));
        }
    }
}

/// The entry of a tensor in blocks whose entries have tensors of their own, under the names that its other axes have here.
fn own_entry(tensor: &Tensor, axes: &[Axis]) -> Vec<Cut> {
    let (own, rest) = tensor.axes.split_at(tensor.axes.len() - axes.len());
    let own = own
        .iter()
        .map(|axis| Cut::Step(*axis, When::Step(usize::MAX)));
    own.chain(
        rest.iter()
            .zip(axes)
            .filter(|(one, other)| one != other)
            .map(|(one, other)| Cut::Rename(*one, *other)),
    )
    .collect()
}

/// Adds a cut to a view that takes away an axis, or gives it another name.
fn replace(view: &mut View, cut: Cut, axis: Axis, new: Option<Axis>) {
    view.cuts.push(cut);
    match new {
        Some(new) => view
            .axes
            .iter_mut()
            .filter(|own| **own == axis)
            .for_each(|own| *own = new),
        None => view.axes.retain(|own| *own != axis),
    }
}
