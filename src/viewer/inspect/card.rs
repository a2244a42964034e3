//! What is said about something, in equations and a table.

use super::table::Table;
use crate::figure::numbers;

/// A quantity with its equation, the numbers in it and what comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The symbol.
    pub symbol: String,
    /// The equation with the numbers of this step.
    pub sum: String,
    /// What comes out.
    pub value: String,
}

/// All that is said about a target at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// What it is about.
    pub title: String,
    /// The equations, in the order in which the machine works.
    pub lines: Vec<Line>,
    /// What can be copied, and what it is.
    pub table: Table,
}

/// A number in a sum.
pub fn n(value: f32) -> String {
    numbers::short(value, 4)
}

/// A quantity with its equation and what comes out.
pub fn line(symbol: &str, sum: String, value: f32) -> Line {
    let (symbol, value) = (symbol.to_owned(), numbers::exact(value));
    Line { symbol, sum, value }
}

/// Names of columns.
pub fn names(first: &[&str], rest: &[&str]) -> Vec<String> {
    first
        .iter()
        .chain(rest)
        .map(|&name| name.to_owned())
        .collect()
}
