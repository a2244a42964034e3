//! Expressions from text: words and signs, then a tree by the precedence of operators. A machine is not needed.

use std::ops::Range;

use super::error::ExpressionError;
use super::functions::{FUNCTIONS, Function, Meaning};

/// The most words and signs of an expression, so that no stack is too small for its tree.
const MOST_TOKENS: usize = 200;

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(super) root: Node,
}

/// A part of an expression, and the bytes of the text that it is written in.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) at: Range<usize>,
    pub(super) term: Term,
    /// Operands, the argument of a function, or an array and its index.
    pub(super) parts: Vec<Node>,
}

impl Node {
    /// True for a call of `changes`, or of something with one in it: each doubles the work.
    pub(super) fn has_changes(&self) -> bool {
        let is_one = matches!(&self.term, Term::Call(function) if matches!(function.meaning, Meaning::Changes));
        is_one || self.parts.iter().any(Self::has_changes)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Term {
    Number(f64),
    Array(String),
    Call(&'static Function),
    Entry,
    Not,
    Binary(&'static Operator),
}

/// An operator between two operands.
#[derive(Debug)]
pub(super) struct Operator {
    pub(super) sign: &'static str,
    /// What binds more tightly has the higher one; below [`COMPARED`] operands are conditions.
    pub(super) level: u8,
    pub(super) of: fn(f64, f64) -> f64,
}

/// The level of comparisons, above which numbers and arrays are computed.
pub(super) const COMPARED: u8 = 3;
/// The level of unary minus.
const NEGATED: u8 = 6;

#[rustfmt::skip] // A row for each.
pub(super) static OPERATORS: [Operator; 13] = [
    Operator { sign: "or", level: 1, of: f64::max },
    Operator { sign: "and", level: 2, of: f64::min },
    Operator { sign: "<", level: COMPARED, of: |a, b| (a < b).into() },
    Operator { sign: "<=", level: COMPARED, of: |a, b| (a <= b).into() },
    Operator { sign: ">", level: COMPARED, of: |a, b| (a > b).into() },
    Operator { sign: ">=", level: COMPARED, of: |a, b| (a >= b).into() },
    Operator { sign: "=", level: COMPARED, of: |a, b| (a == b).into() },
    Operator { sign: "==", level: COMPARED, of: |a, b| (a == b).into() },
    Operator { sign: "!=", level: COMPARED, of: |a, b| (a != b).into() },
    Operator { sign: "+", level: 4, of: |a, b| a + b },
    Operator { sign: "-", level: 4, of: |a, b| a - b },
    Operator { sign: "*", level: 5, of: |a, b| a * b },
    Operator { sign: "/", level: 5, of: |a, b| a / b },
];

impl Expression {
    /// Parses a text.
    ///
    /// # Errors
    /// The first word or sign that is wrong, and what was expected.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let tokens = &*tokens(text);
        if let Some(token) = tokens.get(MOST_TOKENS) {
            let message = format!("expected at most {MOST_TOKENS} words and signs");
            return Err(ExpressionError::new(token, message));
        }
        let mut parser = Parser { text, tokens };
        let root = parser.binary(0)?;
        match parser.tokens {
            [] => Ok(Self { root }),
            _ => Err(parser.expected("an operator or the end")),
        }
    }

    /// The array and its indices, of an expression that is an array, or an entry of one by numbers: `memory[5,2]`.
    pub fn entry(&self) -> Option<(&str, Vec<usize>)> {
        let (mut node, mut indices) = (&self.root, Vec::new());
        loop {
            match (&node.term, &node.parts[..]) {
                (Term::Array(name), _) => break Some((name, indices)),
                (Term::Entry, [array, index]) => {
                    let Term::Number(number) = index.term else {
                        return None;
                    };
                    indices.insert(0, number as usize);
                    node = array;
                }
                _ => return None,
            }
        }
    }
}

/// True for a character of a word: the name of an array or of a function, or an operator in letters.
pub(super) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// The words, numbers and signs of a text, without the space between them.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let (mut all, mut start) = (Vec::new(), 0);
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let mut before = first;
        let is_end = |c| {
            // The exponent of a number may have a sign.
            let is_exponent = first.is_ascii_digit() && "eE".contains(before);
            before = c;
            !(is_of_word(c) || is_exponent && "+-".contains(c))
        };
        let end = match first {
            _ if is_of_word(first) => rest.find(is_end).unwrap_or(rest.len()),
            _ if ["<=", ">=", "!=", "=="].contains(&rest.get(..2).unwrap_or("")) => 2,
            _ => first.len_utf8(),
        };
        if !first.is_whitespace() {
            all.push(start..start + end);
        }
        start += end;
    }
    all
}

struct Parser<'a> {
    text: &'a str,
    /// Those that are left.
    tokens: &'a [Range<usize>],
}

impl<'a> Parser<'a> {
    /// The next word or sign; empty at the end.
    fn peek(&self) -> &'a str {
        &self.text[self.at()]
    }

    fn at(&self) -> Range<usize> {
        let end = self.text.len();
        self.tokens.first().cloned().unwrap_or(end..end)
    }

    fn next(&mut self) -> Range<usize> {
        let at = self.at();
        self.tokens = self.tokens.get(1..).unwrap_or_default();
        at
    }

    fn expected(&self, what: &str) -> ExpressionError {
        let found = match self.peek() {
            "" => "the end".to_owned(),
            token => format!("`{token}`"),
        };
        ExpressionError::new(&self.at(), format!("expected {what}, found {found}"))
    }

    /// Takes a sign or a word that has to follow; returns its end.
    fn take(&mut self, token: &str) -> Result<usize, ExpressionError> {
        if self.peek() != token {
            return Err(self.expected(&format!("`{token}`")));
        }
        Ok(self.next().end)
    }

    fn operator(&self) -> Option<&'static Operator> {
        let mut all = OPERATORS.iter();
        all.find(|operator| operator.sign == self.peek())
    }

    /// Operands with operators of at least this level between them.
    fn binary(&mut self, least: u8) -> Result<Node, ExpressionError> {
        let mut left = self.operand()?;
        while let Some(operator) = self.operator()
            && operator.level >= least
        {
            self.next();
            let right = self.binary(operator.level + 1)?;
            let at = left.at.start..right.at.end;
            left = Node::new(at, Term::Binary(operator), vec![left, right]);
        }
        Ok(left)
    }

    /// A value with the indices behind it.
    fn operand(&mut self) -> Result<Node, ExpressionError> {
        let mut node = self.value()?;
        while self.peek() == "[" {
            // Indices with commas between them are one behind the other.
            while self.peek() != "]" {
                self.next();
                let index = self.binary(0)?;
                let end = match self.peek() {
                    "]" => self.at().end,
                    "," => index.at.end,
                    _ => return Err(self.expected("`]`")),
                };
                let at = node.at.start..end;
                node = Node::new(at, Term::Entry, vec![node, index]);
            }
            self.next();
        }
        Ok(node)
    }

    fn value(&mut self) -> Result<Node, ExpressionError> {
        let (token, at) = (self.peek(), self.at());
        let (is_word, operator) = (token.starts_with(is_of_word), self.operator());
        let is_sign = ["(", "-"].contains(&token);
        if !is_sign && (!is_word || operator.is_some()) {
            return Err(self.expected("a value"));
        }
        let is_number = token.starts_with(|c: char| c.is_ascii_digit());
        let number = is_number.then(|| token.parse().map_err(|_| self.expected("a number")));
        let number = number.transpose()?;
        self.next();
        match (token, operator) {
            ("(", _) => {
                let node = self.binary(0)?;
                let at = at.start..self.take(")")?;
                Ok(Node { at, ..node })
            }
            ("not", _) => {
                let of = self.binary(COMPARED)?;
                Ok(Node::new(at.start..of.at.end, Term::Not, vec![of]))
            }
            (_, Some(minus)) => {
                let of = self.binary(NEGATED)?;
                let zero = Node::new(at.clone(), Term::Number(0.0), Vec::new());
                let at = at.start..of.at.end;
                Ok(Node::new(at, Term::Binary(minus), vec![zero, of]))
            }
            _ => match number {
                Some(number) => Ok(Node::new(at, Term::Number(number), Vec::new())),
                None => self.named(token, at),
            },
        }
    }

    /// An array, or a function with its argument.
    fn named(&mut self, name: &str, at: Range<usize>) -> Result<Node, ExpressionError> {
        let function = FUNCTIONS.iter().find(|function| function.name == name);
        let Some(function) = function else {
            if self.peek() == "(" {
                let known = FUNCTIONS.iter().map(|function| function.name);
                return Err(ExpressionError::unknown(&at, ("function", name), known));
            }
            return Ok(Node::new(at, Term::Array(name.to_owned()), Vec::new()));
        };
        if function.argument.is_empty() {
            return Ok(Node::new(at, Term::Call(function), Vec::new()));
        }
        if self.peek() != "(" {
            // An array of a machine file may be called like a function.
            return Ok(Node::new(at, Term::Array(name.to_owned()), Vec::new()));
        }
        self.next();
        if function.argument.starts_with("row") {
            self.take("row")?;
        }
        let argument = self.binary(0)?;
        let at = at.start..self.take(")")?;
        Ok(Node::new(at, Term::Call(function), vec![argument]))
    }
}

impl Node {
    fn new(at: Range<usize>, term: Term, parts: Vec<Self>) -> Self {
        Self { at, term, parts }
    }
}
