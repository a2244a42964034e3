//! A card about a target: equations and a table.

use super::table::Table;
use crate::figure::facts::numbers;

/// A quantity with its equation, its numbers and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The symbol.
    pub symbol: String,
    /// The equation with the numbers of this step.
    pub sum: String,
    /// The result.
    pub value: String,
}

/// The facts about a target at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The subject.
    pub title: String,
    /// The equations, in the order in which the machine works.
    pub lines: Vec<Line>,
    /// The table that can be copied.
    pub table: Table,
}

/// A number in a sum.
pub fn n(value: f32) -> String {
    numbers::short(value, 4)
}

/// Returns a quantity with its equation and its result.
pub fn line(symbol: &str, sum: impl Into<String>, value: f32) -> Line {
    Line {
        symbol: symbol.to_owned(),
        sum: sum.into(),
        value: numbers::exact(value),
    }
}
