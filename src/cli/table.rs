//! Tables: the same cells as aligned text, as Markdown, as CSV or as JSON.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use super::message::decimals;
use crate::io::harmless;
use crate::io::measurement::{Exact, Number, row_json};
use crate::math::Answer;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    // Without words of their own, the help stays a line per option.
    Text,
    Markdown,
    Csv,
    Json,
}

impl Format {
    /// True of tables for people, which have sentences around them.
    pub(super) fn is_for_people(self) -> bool {
        matches!(self, Self::Text | Self::Markdown)
    }
}

/// A cell. Tables for people round its number; CSV and JSON have the shortest text that reads back to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Words, or a range of whole numbers.
    Words(String),
    /// A count.
    Whole(u64),
    /// A number, or none, and the count of its decimals.
    Decimals(Option<f64>, usize),
    /// A number of any size, or none, with three significant digits.
    Brief(Option<f64>),
    /// A share, as a percentage, and the count of its decimals.
    Percent(f64, usize),
}

impl Cell {
    /// A loss of answers of this form: bits with three decimals, or an error of any size.
    pub(super) fn loss(value: Option<f64>, answer: Answer) -> Self {
        if answer.is_real() {
            Self::Brief(value)
        } else {
            Self::Decimals(value, 3)
        }
    }

    /// The text for people.
    pub(super) fn rounded(&self) -> String {
        match *self {
            Self::Words(ref words) => words.clone(),
            Self::Whole(count) => count.to_string(),
            Self::Decimals(Some(number), _) | Self::Brief(Some(number)) if !number.is_finite() => {
                "not finite".to_owned()
            }
            // Without the sign of what is rounded to 0.
            Self::Decimals(Some(number), digits)
                if number.abs() < 0.5 * 0.1_f64.powf(digits as f64) =>
            {
                decimals(0.0, digits)
            }
            Self::Decimals(Some(number), digits) => decimals(number, digits),
            Self::Brief(Some(number)) => Answer::VALUES.number(number, 3),
            Self::Decimals(None, _) | Self::Brief(None) => "-".to_owned(),
            Self::Percent(share, digits) => format!("{:.digits$}%", 100.0 * share),
        }
    }

    /// The value for programs.
    fn exact(self) -> Exact {
        match self {
            Self::Words(words) => Exact::Words(words),
            Self::Whole(count) => Exact::Whole(count),
            Self::Decimals(number, _) | Self::Brief(number) => Exact::Number(number.map(Number)),
            Self::Percent(share, _) => Exact::Number(Some(Number(share))),
        }
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Whole(count as u64)
    }
}

impl From<RangeInclusive<usize>> for Cell {
    fn from(range: RangeInclusive<usize>) -> Self {
        if range.start() == range.end() {
            return (*range.start()).into();
        }
        Self::Words(format!("{}-{}", range.start(), range.end()))
    }
}

/// A column: its heading, the width of its widest cell where that is known, and the cell of a row.
pub(super) struct Column<R> {
    pub(super) name: &'static str,
    width: usize,
    cells: Cells<R>,
}

enum Cells<R> {
    Words(fn(&R) -> String),
    Numbers(fn(&R) -> Cell),
}

impl<R> Column<R> {
    /// A column of words, left-aligned; `cells` are the cells to come.
    pub(super) fn words<'a>(
        name: &'static str,
        cells: impl IntoIterator<Item = &'a str>,
        cell: fn(&R) -> String,
    ) -> Self {
        let widths = cells.into_iter().map(|cell| cell.chars().count());
        let width = widths.max().unwrap_or(0).max(name.chars().count());
        let cells = Cells::Words(cell);
        Self { name, width, cells }
    }

    /// A column of numbers of at most `width` characters, right-aligned.
    pub(super) fn numbers(name: &'static str, width: usize, cell: fn(&R) -> Cell) -> Self {
        let width = width.max(name.chars().count());
        let cells = Cells::Numbers(cell);
        Self { name, width, cells }
    }

    fn is_text(&self) -> bool {
        matches!(self.cells, Cells::Words(_))
    }

    fn cell(&self, row: &R) -> Cell {
        match self.cells {
            Cells::Words(words) => Cell::Words(words(row)),
            Cells::Numbers(number) => number(row),
        }
    }
}

/// Writes a table row by row, as the rows become known.
pub(super) struct Table<R> {
    pub(super) columns: Vec<Column<R>>,
    pub(super) format: Format,
}

impl<R> Table<R> {
    /// Writes the names of the columns; each line of JSON has them.
    pub(super) fn head(&self, out: &mut impl Write) -> io::Result<()> {
        if self.format == Format::Json {
            return Ok(());
        }
        self.line(out, |column| column.name.to_owned())?;
        if self.format == Format::Markdown {
            let rule = |column: &Column<R>| if column.is_text() { "---|" } else { "---:|" };
            let rules: String = self.columns.iter().map(rule).collect();
            writeln!(out, "|{rules}")?;
        }
        Ok(())
    }

    pub(super) fn row(&self, out: &mut impl Write, row: &R) -> io::Result<()> {
        if self.format == Format::Json {
            let cells = self.columns.iter();
            let cells = cells.map(|column| (column.name, column.cell(row).exact()));
            return writeln!(out, "{}", row_json(cells));
        }
        let is_for_people = self.format.is_for_people();
        self.line(out, |column| match column.cell(row) {
            cell if is_for_people => cell.rounded(),
            cell => cell.exact().text(),
        })
    }

    fn line(&self, out: &mut impl Write, cell: impl Fn(&Column<R>) -> String) -> io::Result<()> {
        let [is_markdown, is_csv] = [Format::Markdown, Format::Csv].map(|it| self.format == it);
        let cell = |column: &Column<R>| {
            let (cell, width) = (harmless(&cell(column)), column.width);
            match column.is_text() {
                _ if is_markdown => cell.replace('|', "\\|"),
                _ if is_csv && cell.contains([',', '"']) => {
                    format!("\"{}\"", cell.replace('"', "\"\""))
                }
                _ if is_csv => cell,
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            }
        };
        let cells: Vec<String> = self.columns.iter().map(cell).collect();
        if is_markdown {
            return writeln!(out, "| {} |", cells.join(" | "));
        }
        if is_csv {
            return writeln!(out, "{}", cells.join(","));
        }
        writeln!(out, "{}", cells.join("  ").trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_markdown_and_csv_have_the_same_cells() {
        let write = |format| {
            let columns = vec![
                Column::words("name", ["a|b", "longer"], |row: &(&str, f64)| {
                    row.0.to_owned()
                }),
                Column::numbers("bits", 6, |row| Cell::Decimals(Some(row.1), 1)),
            ];
            let table = Table { columns, format };
            let mut out = Vec::new();
            table.head(&mut out).unwrap();
            table.row(&mut out, &("a|b", 1.5)).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(write(Format::Text), "name      bits\na|b        1.5\n");
        let markdown = "| name | bits |\n|---|---:|\n| a\\|b | 1.5 |\n";
        assert_eq!(write(Format::Markdown), markdown);
        assert_eq!(write(Format::Csv), "name,bits\na|b,1.5\n");
    }
}
