//! Expressions as they stand in a file, and the table of the functions of the language.

use super::text::{Name, Place};

/// An axis of a page, by its index.
pub type Axis = usize;

/// An expression.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// Where it is named: its place, or that of the input of a component which stands for it.
    pub named: Place,
    /// Its kind.
    pub kind: Kind,
    /// The expressions directly inside it, in the order of the text.
    pub parts: Vec<Node>,
    /// Number of levels.
    pub depth: usize,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number, or `infinity`.
    Number(f64),
    /// `learned`, in a start.
    Learned,
    /// A quantity, an input or a constant.
    Name(Name),
    /// The negative of its part.
    Negative,
    /// Two parts joined by an operator.
    Binary(Operator),
    /// Entries of the first part, another name of an axis, or the step before; further parts are indices.
    Select(Vec<Item>),
    /// A function of its parts.
    Call(Call),
}

/// What stands in brackets behind a value.
#[derive(Clone, Debug)]
pub enum Item {
    /// `-1`, or `axis: -1`: the step before.
    Before(Option<Axis>),
    /// `axis as name`.
    As(Axis, Axis),
    /// `axis: number`, or `axis: last` without a number.
    Entry(Axis, Option<usize>),
    /// `axis: index`; the index is the next part of the node.
    Pick(Axis),
}

/// What stands between the name of a function and its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: Function,
    /// The axes in its brackets.
    pub axes: Vec<Axis>,
    /// Whether a learned function adds a bias.
    pub bias: bool,
    /// The statement whose tensors it shares.
    pub weights: Option<Name>,
    /// Axes that a learned function or `join` does not take in.
    pub each: Vec<Axis>,
    /// Whether `past` includes this step.
    pub now: bool,
}

impl Node {
    /// Returns an expression of parts.
    pub fn new(place: &Place, kind: Kind, parts: Vec<Self>) -> Self {
        let depth = 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0);
        let (place, named) = (place.clone(), place.clone());
        Self {
            place,
            named,
            kind,
            parts,
            depth,
        }
    }

    /// Calls `visit` with this expression and all inside it.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        self.parts.iter().for_each(|part| part.each(visit));
    }

    /// The name that it is, if it is one.
    pub fn name(&self) -> Option<&Name> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// The second name of an axis, under which an index that has the axis itself selects from it.
pub(super) fn second_name(axis: &str) -> String {
    format!("{axis}'")
}

macro_rules! operators {
    ($($operator:ident $sign:literal $strength:literal;)*) => {
        /// An operator between two values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Operator {
            $(#[doc = $sign] $operator,)*
        }

        /// Operators with their signs and strengths.
        pub const OPERATORS: &[(&str, Operator, usize)] = &[$(($sign, Operator::$operator, $strength),)*];
    };
}

operators! {
    AtMost "<=" 0;
    AtLeast ">=" 0;
    Equal "==" 0;
    Less "<" 0;
    More ">" 0;
    Add "+" 1;
    Subtract "-" 1;
    Multiply "*" 2;
    Divide "/" 2;
    Power "^" 4;
}

/// Which axes a function needs, and which its result has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Those of all arguments.
    Element,
    /// The first argument has the axes in brackets; the result lacks them.
    Over,
    /// The first two arguments have the axes in brackets; the result lacks them.
    Pair,
    /// The first argument has the axes in brackets; the result keeps them.
    Along,
    /// The axes in brackets, and what a learned function does not take in.
    Learned,
    /// A rule of its own.
    Own,
}

/// A row of the table of functions.
#[derive(Debug)]
pub struct Form {
    /// Name.
    pub name: &'static str,
    /// Function.
    pub function: Function,
    /// Rule of axes.
    pub rule: Rule,
    /// Least and most arguments before a semicolon.
    pub arguments: [usize; 2],
    /// Least and most arguments after it.
    pub states: [usize; 2],
    /// Least and most axes in brackets.
    pub axes: [usize; 2],
    /// How it is written.
    pub usage: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

macro_rules! functions {
    ($($rule:ident { $($function:ident $name:literal $arguments:expr, $states:expr, $axes:expr; $usage:literal, $meaning:literal;)* })*) => {
        /// A function of the language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function {
            $($(#[doc = $meaning] $function,)*)*
        }

        /// All functions.
        pub const FUNCTIONS: &[Form] = &[$($(Form {
            name: $name, function: Function::$function, rule: Rule::$rule, arguments: $arguments, states: $states, axes: $axes,
            usage: $usage, meaning: $meaning,
        },)*)*];
    };
}

const ANY: usize = usize::MAX;
functions! {
    Element {
        Exp "exp" [1, 1], [0, 0], [0, 0]; "exp(x)", "eˣ";
        Expm1 "expm1" [1, 1], [0, 0], [0, 0]; "expm1(x)", "eˣ − 1, exact for small x";
        Log "log" [1, 1], [0, 0], [0, 0]; "log(x)", "natural logarithm";
        Sqrt "sqrt" [1, 1], [0, 0], [0, 0]; "sqrt(x)", "square root";
        Abs "abs" [1, 1], [0, 0], [0, 0]; "abs(x)", "absolute value";
        Sin "sin" [1, 1], [0, 0], [0, 0]; "sin(x)", "sine";
        Cos "cos" [1, 1], [0, 0], [0, 0]; "cos(x)", "cosine of an angle";
        Floor "floor" [1, 1], [0, 0], [0, 0]; "floor(x)", "largest whole number up to x; no gradient";
        Sigmoid "sigmoid" [1, 1], [0, 0], [0, 0]; "sigmoid(x)", "1 / (1 + e⁻ˣ)";
        Tanh "tanh" [1, 1], [0, 0], [0, 0]; "tanh(x)", "hyperbolic tangent";
        Softplus "softplus" [1, 1], [0, 0], [0, 0]; "softplus(x)", "log(1 + eˣ), without overflow";
        Relu "relu" [1, 1], [0, 0], [0, 0]; "relu(x)", "max(x, 0)";
        Lgamma "lgamma" [1, 1], [0, 0], [0, 0]; "lgamma(x)", "logarithm of the gamma function";
        Stop "stop" [1, 1], [0, 0], [0, 0]; "stop(x)", "x, without a gradient";
        Max "max" [2, 2], [0, 0], [0, 0]; "max(a, b)", "larger of two values";
        Min "min" [2, 2], [0, 0], [0, 0]; "min(a, b)", "smaller of two values";
        Where "where" [3, 3], [0, 0], [0, 0]; "where(c, a, b)", "a where c is not 0, else b";
    }
    Over {
        Sum "sum" [1, 1], [0, 0], [1, ANY]; "sum[rows](a)", "Σ a";
        Mean "mean" [1, 1], [0, 0], [1, ANY]; "mean[rows](a)", "mean";
        Product "product" [1, 1], [0, 0], [1, ANY]; "product[rows](a)", "Π a";
        Maximum "maximum" [1, 1], [0, 0], [1, ANY]; "maximum[rows](a)", "largest value";
        Norm "norm" [1, 1], [0, 0], [1, ANY]; "norm[rows](a)", "√(Σ a²)";
        Argmax "argmax" [1, 1], [0, 0], [1, 1]; "argmax[rows](a)", "index of the largest value; no gradient";
        Draw "draw" [1, 1], [0, 0], [1, 1]; "draw[rows](p)", "index drawn from the probabilities p; in evaluation the most probable; no gradient";
    }
    Pair {
        Dot "dot" [2, 2], [0, 0], [1, ANY]; "dot[columns](a, b)", "Σ a b";
        Cosine "cosine" [2, 2], [0, 1], [1, ANY]; "cosine[columns](a, b; epsilon)", "a·b / (√(|a|² + ε) √(|b|² + ε)); ε is 0 if it is left out";
    }
    Along {
        Softmax "softmax" [1, 1], [0, 0], [1, ANY]; "softmax[rows](x)", "eˣ / Σ eˣ";
        LogSoftmax "log_softmax" [1, 1], [0, 0], [1, ANY]; "log_softmax[rows](x)", "x − log Σ eˣ";
        Rank "rank" [1, 1], [0, 0], [1, 1]; "rank[rows](x)", "number of smaller entries, equal ones in order; no gradient";
        Sharpen "sharpen" [2, 2], [0, 0], [1, ANY]; "sharpen[rows](w, gamma)", "w^γ / Σ w^γ";
        Allocation "allocation" [1, 1], [0, 0], [1, 1]; "allocation[rows](u)", "(1 − u) times the product of all smaller u";
    }
    Learned {
        Linear "linear" [1, ANY], [0, 0], [0, ANY]; "linear[units](a, …)", "weight times all values of the arguments, plus bias";
        Lstm "lstm" [1, ANY], [2, 2], [1, 1]; "lstm[units](inputs; h[-1], c[-1])", "long short-term memory: hidden state and cell";
        Gru "gru" [1, ANY], [1, 1], [1, 1]; "gru[units](inputs; h[-1])", "gated recurrent unit: hidden state";
    }
    Own {
        Shift "shift" [2, 2], [0, 0], [1, 1]; "shift[rows](w, s)", "circular convolution of w with s, whose other axis has offset 0 in its middle";
        Past "past" [1, 1], [0, 0], [0, 0]; "past(a), past(a, now)", "values of all steps before, or up to now, along the axis `past`";
        Index "index" [0, 0], [0, 0], [1, 1]; "index[rows]", "0, 1, …; in a block along the axis, the number of the step";
        Length "length" [0, 0], [0, 0], [1, 1]; "length[rows]", "number of entries";
        Onehot "onehot" [1, 1], [0, 0], [1, 1]; "onehot[rows](i)", "1 at entry i, else 0";
        Join "join" [1, ANY], [0, 0], [1, 1]; "join[new](a, …)", "all values of the arguments along a new axis";
        Append "append" [2, 2], [0, 0], [2, 2]; "append[rows, new](a, entry)", "a with one more entry at its end";
        Window "window" [1, 1], [0, 0], [2, 2]; "window[rows, new](a)", "at entry j the value j − middle entries further on, 0 outside";
    }
}

impl Function {
    /// Returns its row of the table.
    pub fn form(self) -> &'static Form {
        &FUNCTIONS[self as usize]
    }

    /// Returns the function of this name.
    pub fn named(name: &str) -> Option<Self> {
        let form = FUNCTIONS.iter().find(|form| form.name == name);
        form.map(|form| form.function)
    }
}
