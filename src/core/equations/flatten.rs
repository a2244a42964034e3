//! Operations of a program: every statement as a list of few kinds of operations over views of arrays.
//!
//! A view selects entries, steps and other names of axes without copying. Element-wise expressions become one `Map`;
//! sums and products with weights become `Contract`s.

use super::lower::{
    Axis, AxisInfo, First, Learned, Length, Op, Program, Series, Source, Tensor, Value, When,
};
use super::op::exec::{Act, Form, Node};
use super::tree::{Function, OPERATORS, Operator};

/// The axis of all values that a weight meets, and that of the blocks of a cell.
pub const IN: Axis = usize::MAX;
/// The axis of the blocks of a cell.
pub const GATES: Axis = usize::MAX - 1;

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
    /// An entry of an axis; none: the last one.
    Entry(Axis, Option<usize>),
    /// The part of an axis that holds the values of one of several arguments, under the axes of this one; those before it
    /// had these. Of a single argument with one axis, it is another name of the axis, or its first entries.
    Part(Axis, Vec<Vec<Axis>>, Vec<Axis>),
    /// All axes of a tensor but `in`, and those of the tensors that stand beside it.
    Packed(Axis),
}

/// Another name of an axis, or its first entries, as many as the axis of this name has.
fn rename(from: Axis, to: Axis) -> Cut {
    Cut::Part(from, vec![], vec![to])
}

/// A view of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The array.
    pub base: Base,
    /// The selected parts.
    pub cuts: Vec<Cut>,
    /// Its axes.
    pub axes: Vec<Axis>,
}

impl View {
    /// A whole array.
    fn new(base: Base, axes: &[Axis]) -> Self {
        Self {
            base,
            cuts: vec![],
            axes: axes.to_vec(),
        }
    }

    /// Selects a part, with the axes that it has in the place of the one that is cut.
    fn cut(mut self, cut: Cut) -> Self {
        let (axis, new) = match &cut {
            Cut::Part(axis, _, new) => (axis, &new[..]),
            Cut::Step(axis, _) | Cut::Entry(axis, _) => (axis, &[][..]),
            Cut::Past(axis, ..) | Cut::Packed(axis) => (axis, std::slice::from_ref(axis)),
        };
        let end = self.axes.len();
        let at = self.axes.iter().position(|own| own == axis);
        let range = at.map_or(end..end, |at| at..at + 1);
        self.axes.splice(range, new.iter().copied());
        self.cuts.push(cut);
        self
    }

    /// The entry of an axis.
    fn entry(&self, axis: Axis, entry: usize) -> Self {
        self.clone().cut(Cut::Entry(axis, Some(entry)))
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The operation.
    pub act: Act,
    /// Result.
    pub out: View,
    /// Arguments.
    pub arguments: Vec<View>,
}

impl Operation {
    /// All views of it.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        self.arguments.iter().chain([&self.out])
    }

    /// All that it makes: see [`Act::Lstm`].
    pub fn outs(&self) -> impl Iterator<Item = &View> {
        let is_made = |own: &usize| matches!(self.act, Act::Lstm) && *own != 4;
        let made = (0..self.arguments.len()).filter(is_made);
        made.map(|own| &self.arguments[own]).chain([&self.out])
    }
}

/// The arrays and operations of a program.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    /// Axes of arrays that operations make and that are no series.
    pub scratch: Vec<Vec<Axis>>,
    /// By the index of the equation.
    pub equations: Vec<Vec<Operation>>,
    /// By the index of the start.
    pub firsts: Vec<Vec<Operation>>,
    /// Scratch arrays that say what is drawn, with the index of the equation, or of the start behind all of these.
    pub draws: Vec<(usize, usize)>,
    /// Linear maps of one value that are one product.
    pub packs: Vec<Packed>,
    /// The axis of episodes that run side by side.
    pub episodes: Axis,
}

/// Linear maps of one value, whose weights, biases and results stand side by side.
#[derive(Clone, Debug)]
pub struct Packed {
    /// The scratch array that holds all results.
    pub scratch: usize,
    /// Their axis.
    pub axis: Axis,
    /// The linear maps.
    pub members: Vec<Member>,
}

/// A linear map that may join others.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its weight.
    pub weight: usize,
    /// Its bias.
    pub bias: usize,
    /// Its result.
    pub out: Base,
    /// The axes of the result in the order of the weight.
    pub axes: Vec<Axis>,
    /// What the maps that it joins have as well: the blocks around it, and the argument.
    common: (Vec<usize>, View),
    /// The indices of its statement and of its first operation there.
    at: (usize, usize),
}

impl Flat {
    /// The array that an array is a part of.
    pub fn whole(&self, base: Base) -> Base {
        let holds = |pack: &&Packed| pack.members.iter().any(|member| member.out == base);
        let pack = self.packs.iter().find(holds);
        pack.map_or(base, |pack| Base::Result(pack.scratch))
    }
}

/// An expression, and the views that its arguments are.
#[derive(Default)]
struct Expression {
    nodes: Vec<Node>,
    arguments: Vec<View>,
}

impl Expression {
    /// Adds a node.
    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds an argument, unless it is there.
    fn argument(&mut self, view: View) -> usize {
        let known = self.arguments.iter().position(|own| *own == view);
        let node = Node::Argument(known.unwrap_or(self.arguments.len()));
        if known.is_none() {
            self.arguments.push(view);
        }
        let place = self.nodes.iter().position(|own| *own == node);
        place.unwrap_or_else(|| self.push(node))
    }

    /// Adds nodes in postfix notation: arguments by their index, `e` for the last node so far, functions and operators.
    fn postfix(mut self, text: &str) -> Self {
        let (mut stack, last) = (vec![], self.nodes.len().saturating_sub(1));
        for word in text.split(' ') {
            let mut pop = || stack.pop().unwrap_or_default();
            let operator = OPERATORS.iter().find(|own| own.0 == word);
            let node = if let Some((_, operator, _)) = operator {
                let right = pop();
                Node::Binary(*operator, pop(), right)
            } else if let Some(function) = Function::named(word) {
                Node::Unary(function, pop())
            } else if word == "tiny" {
                Node::AtLeastTiny(pop())
            } else if let Ok(argument) = word.parse() {
                Node::Argument(argument)
            } else {
                stack.push(last);
                continue;
            };
            stack.push(self.push(node));
        }
        self
    }
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
    /// The values of its own answer.
    Values,
}

/// Returns the operations of a program, and adds the axes that only they have.
pub fn flatten(program: &mut Program, feedback: Feedback) -> Flat {
    let mut flat = Flatten {
        axes: program.axes.clone(),
        program,
        flat: Flat::default(),
        work: vec![],
        entries: vec![],
        blocks: None,
        members: vec![],
        later: vec![],
    };
    for equation in &flat.program.equations {
        let entry = |series: &usize| {
            let axes = &flat.program.series[*series].axes;
            entry_of(*series, axes, equation.head)
        };
        let outs: Vec<View> = equation.makes.iter().map(entry).collect();
        let made = equation.makes[0];
        flat.blocks = Some(flat.program.series[made].blocks.clone());
        flat.compute(&equation.value, &outs);
        if feedback != Feedback::Target && flat.program.answer() == Some(made) {
            flat.feed_back(made, &outs[0], feedback);
        }
        let work = std::mem::take(&mut flat.work);
        flat.flat.equations.push(work);
    }
    flat.blocks = None;
    for First {
        value,
        series,
        axes,
        head,
        ..
    } in &flat.program.firsts
    {
        flat.compute(value, &[entry_of(*series, axes, *head)]);
        let work = std::mem::take(&mut flat.work);
        flat.flat.firsts.push(work);
    }
    for (maker, operation) in std::mem::take(&mut flat.later) {
        flat.flat.equations[maker].push(operation);
    }
    flat.pack();
    flat.flat.episodes = flat.axis(0, Length::Fixed(1));
    let Flatten { axes, flat, .. } = flat;
    program.axes = axes;
    flat
}

/// A series, or its entry of one head.
pub fn entry_of(series: usize, axes: &[Axis], head: Option<(Axis, usize)>) -> View {
    let whole = View::new(Base::Series(series), axes);
    match head {
        Some((axis, head)) => whole.entry(axis, head),
        None => whole,
    }
}

struct Flatten<'a> {
    program: &'a Program,
    /// The axes of the program, and those that only operations have.
    axes: Vec<AxisInfo>,
    flat: Flat,
    /// The operations of the statement at hand.
    work: Vec<Operation>,
    /// Axes of which an expression means one entry.
    entries: Vec<(Axis, usize)>,
    /// The blocks around the statement; none of a start.
    blocks: Option<Vec<usize>>,
    members: Vec<Member>,
    /// Operations that belong to other statements.
    later: Vec<(usize, Operation)>,
}

impl Flatten<'_> {
    /// Adds an axis, and returns it.
    fn axis(&mut self, like: Axis, length: Length) -> Axis {
        let (index, mut info) = (self.axes.len(), self.axes[like].clone());
        if length != Length::Origin {
            info.origin = index;
        }
        info.length = length;
        self.axes.push(info);
        index
    }

    fn result(&mut self, axes: &[Axis]) -> View {
        self.flat.scratch.push(axes.to_vec());
        View::new(Base::Result(self.flat.scratch.len() - 1), axes)
    }

    fn push(&mut self, act: Act, out: &View, arguments: Vec<View>) {
        self.work.push(Operation {
            act,
            out: out.clone(),
            arguments,
        });
    }

    /// Computes an expression in postfix notation.
    fn postfix(&mut self, text: &str, out: &View, arguments: Vec<View>) {
        let Expression { nodes, .. } = Expression::default().postfix(text);
        self.push(Act::Map(nodes), out, arguments);
    }

    fn copy(&mut self, out: &View, from: View) {
        self.postfix("0", out, vec![from]);
    }

    /// Puts an answer in the place of the target, for the step after it.
    fn feed_back(&mut self, made: usize, answer: &View, feedback: Feedback) {
        let series = &self.program.series;
        let is_target = |series: &Series| series.source == Source::Target;
        let Some(target) = series.iter().position(is_target) else {
            return;
        };
        let (axes, is_bits) = (&series[target].axes, &*series[made].name == "p");
        let mut out = View::new(Base::Series(target), axes);
        for axis in axes.iter().filter(|axis| !answer.axes.contains(axis)) {
            out = out.cut(Cut::Step(*axis, When::Step(usize::MAX)));
        }
        let (&[classes], false) = (&out.axes[..], out.cuts.is_empty()) else {
            return;
        };
        if feedback == Feedback::Class {
            let class = self.result(&[]);
            self.push(Act::Argmax(classes), &class, vec![answer.clone()]);
            self.push(Act::Onehot(classes), &out, vec![class]);
        } else if feedback == Feedback::Values {
            self.copy(&out, answer.clone());
        } else {
            let least = Node::Number(if is_bits { 0.5 } else { 0.0 });
            let nodes = vec![least];
            let arguments = vec![answer.clone()];
            let bits = Expression { nodes, arguments }.postfix("0 e >");
            self.push(Act::Map(bits.nodes), &out, bits.arguments);
        }
    }

    /// Computes a value into a view; the cell of an LSTM into a second one.
    fn compute(&mut self, value: &Value, outs: &[View]) {
        let (out, mut parts) = (&outs[0], &value.parts[..]);
        let act = match &value.op {
            _ if self.terms(value).is_some() => return self.expression(value, out),
            Op::Linear(learned) => {
                let parts = self.views(parts);
                return self.linear(parts, learned, out, None);
            }
            Op::Cell(Function::Lstm, learned) => return self.lstm(value, &learned[0], outs),
            Op::Cell(_, learned) => return self.gru(value, learned, out),
            Op::Join(axis, taken) => {
                for (index, (part, axes)) in parts.iter().zip(taken).enumerate() {
                    let cut = Cut::Part(*axis, taken[..index].to_vec(), axes.clone());
                    let from = self.view(part);
                    self.copy(&out.clone().cut(cut), from);
                }
                return;
            }
            Op::Append(axis, new) => {
                let cuts = [rename(*new, *axis), Cut::Entry(*new, None)];
                for (part, cut) in parts.iter().zip(cuts) {
                    let from = self.view(part);
                    self.copy(&out.clone().cut(cut), from);
                }
                return;
            }
            Op::Over(Function::Norm, _) => {
                let (squares, part) = (self.result(&value.axes), self.view(&parts[0]));
                self.push(SUM, &squares, vec![part.clone(), part]);
                return self.postfix("0 sqrt", out, vec![squares]);
            }
            Op::Over(Function::Softmax, axes) => {
                let parts = scaled(&parts[0], axes).into_iter();
                let arguments = parts.map(|part| self.view(part)).collect();
                return self.push(Act::Softmax(axes.clone()), out, arguments);
            }
            Op::Over(Function::Sharpen, axes) if !lacks(&parts[1], axes) => {
                let (powers, arguments) = (self.result(&value.axes), self.views(parts));
                self.postfix("0 tiny log 1 *", &powers, arguments);
                return self.push(Act::Softmax(axes.clone()), out, vec![powers]);
            }
            Op::Over(function, axes) => {
                if let (Function::Sum, [part]) = (function, parts)
                    && part.op_is(Operator::Multiply)
                {
                    parts = &part.parts;
                }
                match function {
                    Function::Sum | Function::Dot => SUM,
                    Function::Mean => Act::Contract {
                        adds: false,
                        is_mean: true,
                    },
                    Function::Sharpen => Act::Sharpen(axes.clone()),
                    Function::Cosine => Act::Cosine(axes.clone()),
                    Function::LogSoftmax => Act::LogSoftmax(axes.clone()),
                    Function::Product => Act::Product(axes.clone()),
                    Function::Maximum => Act::Maximum(axes.clone()),
                    Function::Rank => Act::Rank(axes[0]),
                    Function::Allocation => Act::Allocation(axes[0]),
                    Function::Shift => Act::Shift(axes[0], axes[1]),
                    Function::Draw => Act::Draw(axes[0]),
                    _ => Act::Argmax(axes[0]),
                }
            }
            Op::Pick(axis) => Act::Pick(*axis),
            Op::Onehot(axis) => Act::Onehot(*axis),
            Op::Window(axis, new) => Act::Window(*axis, *new),
            _ => return self.expression(value, out),
        };
        let mut arguments = self.views(parts);
        if let Act::Draw(_) = act {
            let work = self.flat.equations.len() + self.flat.firsts.len();
            self.flat.draws.push((self.flat.scratch.len(), work));
            arguments.push(self.result(&value.axes));
        }
        self.push(act, out, arguments);
    }

    /// Computes what no other operation does: the update of a memory, or an element-wise expression.
    fn expression(&mut self, value: &Value, out: &View) {
        if let Some((form, parts)) = self.update(value).filter(|_| out.axes.len() >= 2) {
            let view = |(part, entry): (&Value, Option<(Axis, usize)>)| {
                self.entries.extend(entry);
                let view = self.view(part);
                self.entries
                    .truncate(self.entries.len() - usize::from(entry.is_some()));
                view
            };
            let arguments = parts.map(view).into();
            return self.push(Act::Update(form), out, arguments);
        }
        let mut whole = Expression::default();
        self.node(value, &mut whole);
        self.push(Act::Map(whole.nodes), out, whole.arguments);
    }

    fn views(&mut self, values: &[Value]) -> Vec<View> {
        values.iter().map(|value| self.view(value)).collect()
    }

    /// A view of a value: of its array where it has one, else of a scratch array.
    fn view(&mut self, value: &Value) -> View {
        let entries = std::mem::take(&mut self.entries);
        let mut view = self.whole(value);
        for (axis, entry) in &entries {
            if view.axes.contains(axis) {
                view = view.entry(*axis, *entry);
            }
        }
        self.entries = entries;
        view
    }

    fn whole(&mut self, value: &Value) -> View {
        let step = |(axis, when): &(Axis, When)| Cut::Step(*axis, *when);
        let (base, cuts) = match &value.op {
            Op::Read(series, at) => (Base::Series(*series), at.iter().map(step).collect()),
            Op::Past(series, at, (axis, frame), now) => {
                let past = Cut::Past(*axis, *frame, *now);
                let cuts = at.iter().map(step).chain([past]).collect();
                (Base::Series(*series), cuts)
            }
            Op::Tensor(tensor, axes) => {
                let cuts = own_entry(&self.program.tensors[*tensor], axes);
                (Base::Tensor(*tensor), cuts)
            }
            Op::Rename(from, to) => {
                let part = self.view(&value.parts[0]).cut(rename(*from, *to));
                (part.base, part.cuts)
            }
            Op::Entry(axis, entry) => {
                let part = self.view(&value.parts[0]).cut(Cut::Entry(*axis, *entry));
                (part.base, part.cuts)
            }
            _ => {
                let out = self.result(&value.axes);
                self.compute(value, std::slice::from_ref(&out));
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
    fn node(&mut self, value: &Value, to: &mut Expression) -> usize {
        if let Some((axis, count)) = self.terms(value) {
            let operator = match value.op {
                Op::Over(Function::Sum, _) => Operator::Add,
                _ => Operator::Multiply,
            };
            let mut sum = None;
            for entry in 0..count {
                self.entries.push((axis, entry));
                let term = self.node(&value.parts[0], to);
                self.entries.pop();
                let joined = sum.map(|sum| to.push(Node::Binary(operator, sum, term)));
                sum = joined.or(Some(term));
            }
            return sum.unwrap_or_default();
        }
        let node = match value.op {
            Op::Number(number) => Node::Number(number),
            Op::Constant(constant) => Node::Constant(constant),
            Op::Length(axis) => Node::Length(axis),
            Op::Index(axis) => Node::Index(axis),
            Op::Step(frame) => Node::Step(frame),
            Op::Negative | Op::Binary(_) | Op::Element(_) => {
                let mut parts = vec![];
                for part in &value.parts {
                    // Costly parts with fewer axes than the whole are computed once.
                    let is_costly = part.axes.len() < value.axes.len() && part.has_function();
                    parts.push(if is_costly || to.nodes.len() > MOST_NODES {
                        to.argument(self.view(part))
                    } else {
                        self.node(part, to)
                    });
                }
                match (&value.op, &parts[..]) {
                    (Op::Binary(operator), [x, y]) => Node::Binary(*operator, *x, *y),
                    (Op::Element(function), [x, y]) => Node::Extreme(*function, *x, *y),
                    (Op::Element(function), [x]) => Node::Unary(*function, *x),
                    (_, [condition, x, y]) => Node::Where(*condition, *x, *y),
                    _ => Node::Negative(parts[0]),
                }
            }
            Op::Linear(ref learned) if value.parts.len() > 1 && self.entries.is_empty() => {
                let (parts, out) = (self.views(&value.parts), self.result(&value.axes));
                let mut terms = self.terms_of_linear(parts, learned, &out, None);
                if terms.is_empty() {
                    terms.push(out);
                }
                return add_all(to, terms);
            }
            _ => return to.argument(self.view(value)),
        };
        to.push(node)
    }

    /// The parts of an update of a memory: x (1 − w e) + v a, or x (1 − w − e) + v a where the links of a row to itself are
    /// 0; with the entry that they mean, where they stand in a sum or a product of one term.
    #[expect(clippy::type_complexity, reason = "of one use")]
    fn update<'v>(
        &self,
        value: &'v Value,
    ) -> Option<(Form, [(&'v Value, Option<(Axis, usize)>); 5])> {
        fn pair(value: &Value, operator: Operator) -> Option<[&Value; 2]> {
            match &value.parts[..] {
                [left, right] if value.op_is(operator) => Some([left, right]),
                _ => None,
            }
        }
        let only = |value: &'v Value| match self.terms(value) {
            Some((axis, 1)) => (&value.parts[0], Some((axis, 0))),
            _ => (value, None),
        };
        let is_index = |part: &Value| matches!(part.op, Op::Index(_));
        let (whole, is_hollow) = match (&value.op, &value.parts[..]) {
            (Op::Element(Function::Where), [same, zero, rest])
                if matches!(zero.op, Op::Number(0.0))
                    && same.op_is(Operator::Equal)
                    && same.parts.iter().all(is_index)
                    && same.axes.len() == 2
                    && value.axes.ends_with(&same.axes) =>
            {
                (rest, true)
            }
            _ => (value, false),
        };
        let [kept, added] = pair(whole, Operator::Add)?;
        let [mut x, mut kept] = pair(kept, Operator::Multiply)?;
        if kept.axes.len() > x.axes.len() || pair(x, Operator::Subtract).is_some() {
            (x, kept) = (kept, x);
        }
        let ((kept, kept_in), (added, added_in)) = (only(kept), only(added));
        let [mut one, taken] = pair(kept, Operator::Subtract)?;
        let [v, a] = pair(added, Operator::Multiply)?;
        let sum = pair(one, Operator::Subtract);
        let [w, e] = if let Some([whole, w]) = sum {
            one = whole;
            [w, taken]
        } else {
            pair(taken, Operator::Multiply)?
        };
        let is_plain =
            |part: &&Value| matches!(part.op, Op::Read(..) | Op::Rename(..) | Op::Entry(..));
        let fits = x.axes == value.axes
            && matches!(one.op, Op::Number(1.0))
            && [x, w, e, v, a].iter().all(is_plain);
        let parts = [
            (x, None),
            (w, kept_in),
            (e, kept_in),
            (v, added_in),
            (a, added_in),
        ];
        let is_sum = sum.is_some();
        fits.then_some((Form { is_sum, is_hollow }, parts))
    }

    /// The axis and the number of terms of a sum or product that the expression around it computes.
    fn terms(&self, value: &Value) -> Option<(Axis, usize)> {
        fn is_plain(value: &Value) -> bool {
            match value.op {
                Op::Number(_) | Op::Constant(_) | Op::Read(..) | Op::Tensor(..) => true,
                Op::Negative | Op::Binary(_) | Op::Element(_) => value.parts.iter().all(is_plain),
                _ => false,
            }
        }
        match (&value.op, &value.parts[..]) {
            (Op::Over(Function::Sum | Function::Product, axes), [part]) if is_plain(part) => {
                match (&axes[..], &self.axes[axes[0]].length) {
                    ([axis], Length::Fixed(length @ 1..=MOST_TERMS)) => Some((*axis, *length)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Computes bias + Σ weight · argument, or returns the terms of this sum where they have different axes.
    fn terms_of_linear(
        &mut self,
        parts: Vec<View>,
        learned: &Learned,
        out: &View,
        gates: Option<Axis>,
    ) -> Vec<View> {
        let weight = &self.program.tensors[learned.weight];
        let mut own = own_entry(weight, &learned.axes);
        let (is_shared, mut visible) = (own.is_empty(), learned.axes.clone());
        if let Some(gates) = gates {
            let at = weight.before_gates + visible.len() - weight.axes.len();
            visible.insert(at, gates);
            own.push(rename(GATES, gates));
        }
        let tensor = |tensor: usize| View {
            base: Base::Tensor(tensor),
            cuts: own.clone(),
            axes: visible.clone(),
        };
        let bias = learned.bias.map(tensor);
        self.order(out, &visible);
        // Values before the first step have no place in a packed result.
        let mut firsts = self.program.firsts.iter();
        let has_start = firsts.any(|first| out.base == Base::Series(first.series));
        if let ([argument], Some(bias), None, true, Some(blocks)) =
            (&parts[..], learned.bias, gates, is_shared, &self.blocks)
            && out.cuts.is_empty()
            && !has_start
            && argument
                .axes
                .iter()
                .all(|axis| learned.inputs[0].contains(axis))
            && visible.iter().all(|axis| out.axes.contains(axis))
        {
            self.members.push(Member {
                weight: learned.weight,
                bias,
                out: out.base,
                axes: visible.clone(),
                common: (blocks.clone(), argument.clone()),
                at: (self.flat.equations.len(), self.work.len()),
            });
        }
        let mut products = Vec::new();
        for (index, (mut argument, taken)) in parts.into_iter().zip(&learned.inputs).enumerate() {
            let mut inner = Vec::new();
            for axis in taken {
                inner.push(self.axis(*axis, Length::Origin));
                argument = argument.cut(rename(*axis, inner[inner.len() - 1]));
            }
            let input = Cut::Part(IN, weight.inputs[..index].to_vec(), inner);
            let weight = tensor(learned.weight).cut(input);
            products.push(self.write_once(argument, weight, out));
        }
        let axes = |product: &[View]| -> Vec<Axis> {
            let has = |axis: &Axis| product.iter().any(|view| view.axes.contains(axis));
            out.axes.iter().copied().filter(has).collect()
        };
        if products.iter().all(|own| axes(own) == axes(&products[0])) {
            match bias {
                Some(bias) => self.copy(out, bias),
                None => self.push(Act::Map(vec![Node::Number(0.0)]), out, vec![]),
            }
            let add = Act::Contract {
                adds: true,
                is_mean: false,
            };
            for product in products {
                self.push(add.clone(), out, product);
            }
            return vec![];
        }
        // Products that vary along different axes are computed apart: what does not change in a loop is computed once.
        let mut terms: Vec<View> = bias.into_iter().collect();
        for product in products {
            if let [_, weight] = &product[..] {
                let part = self.result(&axes(&product));
                self.order(&part, &weight.axes);
                self.push(SUM, &part, product);
                terms.push(part);
            } else {
                terms.extend(product);
            }
        }
        terms
    }

    /// out = bias + Σ weight · argument.
    fn linear(&mut self, parts: Vec<View>, learned: &Learned, out: &View, gates: Option<Axis>) {
        let terms = self.terms_of_linear(parts, learned, out, gates);
        if !terms.is_empty() {
            let mut sum = Expression::default();
            add_all(&mut sum, terms);
            self.push(Act::Map(sum.nodes), out, sum.arguments);
        }
    }

    /// Makes one product of linear maps of one value.
    fn pack(&mut self) {
        let uses = |tensor: usize| {
            let all = self.flat.equations.iter().flatten();
            let views = all.flat_map(|operation| &operation.arguments);
            views
                .filter(|view| view.base == Base::Tensor(tensor))
                .count()
        };
        let mut left = std::mem::take(&mut self.members);
        left.retain(|own| uses(own.weight) == 1 && uses(own.bias) == 1);
        let mut gone = vec![];
        while let Some(first) = left.first().cloned() {
            let (members, rest): (Vec<Member>, _) =
                left.into_iter().partition(|own| own.common == first.common);
            left = rest;
            if members.len() < 2 {
                continue;
            }
            let parts = members.iter().map(|own| own.axes.clone()).collect();
            let axis = self.axis(0, Length::Packed(parts));
            let (scratch, out) = (self.flat.scratch.len(), self.result(&[axis]));
            gone.extend(members[1..].iter().map(|own| own.at));
            let (statement, operation) = first.at;
            let operations = &mut self.flat.equations[statement][operation..operation + 2];
            for own in &mut *operations {
                own.out = out.clone();
            }
            let bias = View::new(Base::Tensor(first.bias), &[]);
            operations[0].arguments = vec![bias.cut(Cut::Packed(axis))];
            let weight = &mut operations[1].arguments[1];
            weight.cuts.insert(0, Cut::Packed(axis));
            weight.axes.splice(..first.axes.len(), [axis]);
            self.flat.packs.push(Packed {
                scratch,
                axis,
                members,
            });
        }
        gone.sort_unstable();
        for (statement, operation) in gone.into_iter().rev() {
            self.flat.equations[statement].drain(operation..operation + 2);
        }
    }

    /// The factors of a product. With a tape, each row is multiplied when it is written, not at every step after it.
    fn write_once(&mut self, argument: View, weight: View, out: &View) -> Vec<View> {
        let is_tape = |cut: &Cut| matches!(cut, Cut::Past(..));
        let is_past = |own: &&Axis| self.axes[self.axes[**own].origin].length == Length::Past;
        let (Base::Series(series), Some(around), Some(at), Some(past)) = (
            argument.base,
            &self.blocks,
            argument.cuts.iter().position(is_tape),
            argument.axes.iter().find(is_past).copied(),
        ) else {
            return vec![argument, weight];
        };
        let makes = &self.program.equations;
        let maker = makes.iter().rposition(|own| own.makes.contains(&series));
        let blocks = &self.program.series[series].blocks;
        let tape = argument.cuts[at].clone();
        let (Some(maker), Cut::Past(axis, frame, _), true) = (maker, &tape, blocks == around)
        else {
            return vec![argument, weight];
        };
        if frame + 1 != around.len() {
            return vec![argument, weight];
        }
        // A row of the step at hand, without the tape.
        let mut row = argument;
        row.cuts[at] = Cut::Step(*axis, When::Step(*frame));
        row.axes.retain(|own| *own != past);
        let is_name =
            |cut: &mut Cut| matches!(cut, Cut::Part(.., to) if to.iter().any(|own| is_past(&own)));
        let names: Vec<Cut> = row.cuts.extract_if(at.., is_name).collect();
        let has = |own: &Axis| row.axes.contains(own) || weight.axes.contains(own);
        let axes = out.axes.iter().copied();
        let axes: Vec<Axis> = axes.filter(|own| *own != past && has(own)).collect();
        let mut part = self.result(&axes);
        self.order(&part, &weight.axes);
        let operation = Operation {
            act: SUM,
            out: part.clone(),
            arguments: vec![row, weight],
        };
        self.later.push((maker, operation));
        part.axes.push(past);
        part.cuts.push(tape);
        part.cuts.extend(names);
        vec![part]
    }

    /// Gives a scratch array the order of a weight: then its product with it runs along memory.
    fn order(&mut self, out: &View, visible: &[Axis]) {
        if let Base::Result(result) = out.base {
            let axes = &mut self.flat.scratch[result];
            let last = visible.iter().copied();
            let last: Vec<Axis> = last.filter(|axis| axes.contains(axis)).collect();
            axes.retain(|axis| !last.contains(axis));
            axes.extend(last);
        }
    }

    /// The gates of a cell, and the arguments that they are computed from.
    fn gates(
        &mut self,
        value: &Value,
        learned: &Learned,
        seen: &[View],
        count: usize,
    ) -> Vec<View> {
        let axis = self.axis(0, Length::Fixed(count));
        let gates = self.result(&[&[axis], &value.axes[..]].concat());
        self.linear(seen.to_vec(), learned, &gates, Some(axis));
        (0..count).map(|gate| gates.entry(axis, gate)).collect()
    }

    /// c' = σ(f) c + σ(i) tanh(g); h' = σ(o) tanh(c').
    fn lstm(&mut self, value: &Value, learned: &Learned, outs: &[View]) {
        let mut seen = self.views(&value.parts);
        let before = seen.pop();
        let mut arguments = self.gates(value, learned, &seen, 4);
        let cell = outs.get(1).cloned();
        let cell = cell.unwrap_or_else(|| self.result(&value.axes));
        arguments.extend(before.into_iter().chain([cell, self.result(&value.axes)]));
        self.push(Act::Lstm, &outs[0], arguments);
    }

    /// h' = (1 − z) h + z h̃ = h + z (h̃ − h).
    fn gru(&mut self, value: &Value, learned: &[Learned], out: &View) {
        let mut seen = self.views(&value.parts);
        let mut gates = self.gates(value, &learned[0], &seen, 2);
        let before = seen.split_off(seen.len() - 1);
        let reset = self.result(&value.axes);
        let arguments = [gates.split_off(1), before.clone()].concat();
        self.postfix("0 sigmoid 1 *", &reset, arguments);
        let candidate = self.result(&value.axes);
        seen.push(reset);
        self.linear(seen, &learned[1], &candidate, None);
        let arguments = [gates, before, vec![candidate]].concat();
        self.postfix("1 0 sigmoid 2 tanh 1 - * +", out, arguments);
    }
}

/// Whether a value varies along none of these axes.
fn lacks(value: &Value, axes: &[Axis]) -> bool {
    axes.iter().all(|axis| !value.axes.contains(axis))
}

/// A value, and behind it a factor of it that does not vary along these axes, if there is one.
fn scaled<'v>(value: &'v Value, axes: &[Axis]) -> Vec<&'v Value> {
    match &value.parts[..] {
        [factor, x] | [x, factor]
            if value.op_is(Operator::Multiply) && lacks(factor, axes) && !lacks(x, axes) =>
        {
            let is_one = matches!(factor.op, Op::Number(1.0));
            [x, factor]
                .into_iter()
                .take(2 - usize::from(is_one))
                .collect()
        }
        _ => vec![value],
    }
}

/// Adds the sum of these arguments to an expression.
fn add_all(to: &mut Expression, arguments: Vec<View>) -> usize {
    let all = arguments.into_iter();
    let nodes: Vec<usize> = all.map(|view| to.argument(view)).collect();
    let sum = nodes
        .into_iter()
        .reduce(|sum, node| to.push(Node::Binary(Operator::Add, sum, node)));
    sum.unwrap_or_default()
}

/// The entry of a tensor in blocks whose entries have tensors of their own, under the names that its other axes have here.
fn own_entry(tensor: &Tensor, axes: &[Axis]) -> Vec<Cut> {
    let (own, rest) = tensor.axes.split_at(tensor.axes.len() - axes.len());
    let step = |axis: &Axis| Cut::Step(*axis, When::Step(usize::MAX));
    let names = rest.iter().zip(axes).filter(|(one, other)| one != other);
    let names = names.map(|(one, other)| rename(*one, *other));
    own.iter().map(step).chain(names).collect()
}
