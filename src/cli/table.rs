//! Tables: the same cells as aligned text or as Markdown.

use std::io::{self, Write};

use crate::io::harmless;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    // Without words of their own, the help stays a line per option.
    Text,
    Markdown,
    Json,
}

/// A column: its heading, and the width of its widest cell where that is known.
pub(super) struct Column {
    name: &'static str,
    width: usize,
    is_text: bool,
}

impl Column {
    /// A column of words, which stand on the left.
    pub(super) fn words<'a>(name: &'static str, cells: impl IntoIterator<Item = &'a str>) -> Self {
        let widths = cells.into_iter().map(|cell| cell.chars().count());
        Self {
            name,
            width: widths.max().unwrap_or(0).max(name.chars().count()),
            is_text: true,
        }
    }

    /// A column of numbers of at most `width` characters, which stand on the right.
    pub(super) fn numbers(name: &'static str, width: usize) -> Self {
        Self {
            name,
            width: width.max(name.chars().count()),
            is_text: false,
        }
    }
}

/// Writes a table row by row, as the rows become known.
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) is_markdown: bool,
}

impl Table {
    pub(super) fn head(&self, out: &mut impl Write) -> io::Result<()> {
        let names: Vec<String> = self.columns.iter().map(|c| c.name.to_owned()).collect();
        self.row(out, &names)?;
        if self.is_markdown {
            let rule = |column: &Column| if column.is_text { "---|" } else { "---:|" };
            let rules: String = self.columns.iter().map(rule).collect();
            writeln!(out, "|{rules}")?;
        }
        Ok(())
    }

    /// A cell for every column.
    pub(super) fn row(&self, out: &mut impl Write, cells: &[String]) -> io::Result<()> {
        let cells: Vec<String> = cells.iter().map(|cell| harmless(cell)).collect();
        if self.is_markdown {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            return writeln!(out, "| {} |", cells.join(" | "));
        }
        let pad = |(column, cell): (&Column, &String)| {
            let width = column.width;
            if column.is_text {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        };
        let cells: Vec<String> = self.columns.iter().zip(&cells).map(pad).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_cells_as_text_and_as_markdown() {
        let write = |is_markdown| {
            let table = Table {
                columns: vec![
                    Column::words("name", ["a|b", "longer"]),
                    Column::numbers("bits", 6),
                ],
                is_markdown,
            };
            let mut out = Vec::new();
            table.head(&mut out).unwrap();
            table.row(&mut out, &["a|b".into(), "1.5".into()]).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(write(false), "name      bits\na|b        1.5\n");
        assert_eq!(
            write(true),
            "| name | bits |\n|---|---:|\n| a\\|b | 1.5 |\n"
        );
    }
}
