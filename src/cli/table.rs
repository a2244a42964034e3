//! Tables: the same cells as aligned text, as Markdown, as CSV or as JSON.

use std::io::{self, Write};

use crate::io::{harmless, measurement::row_json};

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

/// A column: its heading, the width of its widest cell where that is known, and the cell of a row.
pub(super) struct Column<R> {
    pub(super) name: &'static str,
    width: usize,
    is_text: bool,
    cell: fn(&R) -> String,
}

impl<R> Column<R> {
    /// A column of words, left-aligned; `cells` are the cells to come.
    pub(super) fn words<'a>(
        name: &'static str,
        cells: impl IntoIterator<Item = &'a str>,
        cell: fn(&R) -> String,
    ) -> Self {
        let widths = cells.into_iter().map(|cell| cell.chars().count());
        Self {
            is_text: true,
            ..Self::numbers(name, widths.max().unwrap_or(0), cell)
        }
    }

    /// A column of numbers of at most `width` characters, right-aligned.
    pub(super) fn numbers(name: &'static str, width: usize, cell: fn(&R) -> String) -> Self {
        Self {
            name,
            width: width.max(name.chars().count()),
            is_text: false,
            cell,
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
            let rule = |column: &Column<R>| if column.is_text { "---|" } else { "---:|" };
            let rules: String = self.columns.iter().map(rule).collect();
            writeln!(out, "|{rules}")?;
        }
        Ok(())
    }

    pub(super) fn row(&self, out: &mut impl Write, row: &R) -> io::Result<()> {
        self.line(out, |column| (column.cell)(row))
    }

    fn line(&self, out: &mut impl Write, cell: impl Fn(&Column<R>) -> String) -> io::Result<()> {
        if self.format == Format::Json {
            let cells = self.columns.iter();
            let cells = cells.map(|column| (column.name, cell(column), column.is_text));
            return writeln!(out, "{}", row_json(cells));
        }
        let [is_markdown, is_csv] = [Format::Markdown, Format::Csv].map(|it| self.format == it);
        let cell = |column: &Column<R>| {
            let (cell, width) = (harmless(&cell(column)), column.width);
            match column.is_text {
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
                Column::numbers("bits", 6, |row| row.1.to_string()),
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
