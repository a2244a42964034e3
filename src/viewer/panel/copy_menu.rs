//! The numbers behind a picture, to be copied from its menu: a right click on a cell offers its value, its
//! line, its column, and all of them, in every form.

use std::iter;

use egui::{Button, Response, RichText, Ui};

use crate::figure::facts::datum::Datum;
use crate::model::Trace;
use crate::viewer::command::{Command, File};
use crate::viewer::inspect::{Form, Table};
use crate::viewer::widget::{send, text_button};

/// Numbers in lines and columns, as an array of a trace file has them.
pub struct Sheet<'a> {
    /// The name.
    pub name: &'a str,
    /// The name of a line, and the number of lines.
    pub lines: (&'a str, usize),
    /// The name of a column, and the number of columns.
    pub columns: (&'a str, usize),
    /// Names of the columns, where they are not just counted.
    pub names: &'a [&'a str],
    /// The value in a line and a column.
    pub value: &'a dyn Fn(usize, usize) -> f32,
    /// The number of a memory row by its place; all others are counted.
    pub row_number: &'a dyn Fn(usize) -> usize,
}

/// Rows are counted, too.
pub const COUNTED: &dyn Fn(usize) -> usize = &|row| row;

/// A part of a sheet.
#[derive(Clone, Copy)]
enum CopyScope {
    Line(usize),
    Column(usize),
    All,
}

/// What else is to be done with the value in a line and a column.
pub type ExtraChoices<'a> = &'a dyn Fn(usize, usize) -> Vec<(String, Command)>;

/// Nothing else.
pub const NO_CHOICES: ExtraChoices<'static> = &|_, _| Vec::new();

/// The choice to copy the name of a recorded value.
pub fn copy_name(trace: &Trace, value: Datum) -> (String, Command) {
    let text = value.name(trace);
    let said = Some(format!("Name copied: {text}."));
    let words = format!("Copy name {text}");
    (words, File::Copy { text, said }.into())
}

impl Sheet<'_> {
    fn number(&self, axis: &str, place: usize) -> usize {
        if axis == "row" {
            (self.row_number)(place)
        } else {
            place
        }
    }

    fn line_number(&self, line: usize) -> usize {
        self.number(self.lines.0, line)
    }

    fn column_name(&self, column: usize) -> String {
        let axis = self.columns.0;
        let counted = || format!("{axis} {}", self.number(axis, column));
        let named = self.names.get(column);
        named.map_or_else(counted, |&name| name.to_owned())
    }

    fn table(&self, part: CopyScope) -> Table {
        let (lines, columns) = match part {
            CopyScope::Line(line) => (line..line + 1, 0..self.columns.1),
            CopyScope::Column(column) => (0..self.lines.1, column..column + 1),
            CopyScope::All => (0..self.lines.1, 0..self.columns.1),
        };
        let names = columns.clone().map(|column| match part {
            // Alone it needs to say what it is of.
            CopyScope::Column(_) => format!("{} {}", self.name, self.column_name(column)),
            _ => self.column_name(column),
        });
        let names = iter::once(self.lines.0.to_owned()).chain(names).collect();
        let row = |line: usize| {
            let values = columns.clone().map(|column| (self.value)(line, column));
            iter::once(self.line_number(line) as f32)
                .chain(values)
                .collect()
        };
        Table {
            rows: lines.map(row).collect(),
            columns: names,
        }
    }

    fn words(&self, part: CopyScope) -> String {
        let count = |n: usize| format!("{n} value{}", if n == 1 { "" } else { "s" });
        let (lines, columns) = (self.lines, self.columns);
        match part {
            CopyScope::Line(line) => {
                let number = self.line_number(line);
                format!("{} {number}: {}", lines.0, count(columns.1))
            }
            CopyScope::Column(column) => {
                format!("{}: {}", self.column_name(column), count(lines.1))
            }
            CopyScope::All => format!("all {} × {}", lines.1, columns.1),
        }
    }

    /// The menu of a picture; `cell` is the line and the column under the pointer, `more` is to be done with a cell, too.
    pub fn menu(&self, response: &Response, cell: Option<(usize, usize)>, more: ExtraChoices<'_>) {
        // The pointer moves on into the menu: the cell is the one that was clicked.
        let id = response.id.with("menu");
        if let (true, Some(cell)) = (response.secondary_clicked(), cell) {
            response.ctx.data_mut(|data| data.insert_temp(id, cell));
        }
        let clicked = response.ctx.data(|data| data.get_temp(id));
        let is_here = |&(line, column): &_| line < self.lines.1 && column < self.columns.1;
        let Some((line, column)) = clicked.filter(is_here) else {
            return;
        };
        response.context_menu(|ui| {
            self.menu_ui(ui, (line, column));
            let more = more(line, column);
            if !more.is_empty() {
                ui.separator();
            }
            for (words, command) in more {
                text_button(ui, &words, command);
            }
        });
    }

    fn menu_ui(&self, ui: &mut Ui, (line, column): (usize, usize)) {
        ui.label(RichText::new(self.name).strong());
        let value = (self.value)(line, column).to_string();
        let number = self.line_number(line);
        let place = format!("{} {number}, {}", self.lines.0, self.column_name(column));
        if ui.button(format!("Copy value ({place})")).clicked() {
            let said = Some(format!("{} copied: {value}, {place}.", self.name));
            send(ui.ctx(), File::Copy { text: value, said });
        }
        ui.separator();
        egui::Grid::new("parts").num_columns(4).show(ui, |ui| {
            let [line, column] = [CopyScope::Line(line), CopyScope::Column(column)];
            for part in [line, column, CopyScope::All] {
                let words = self.words(part);
                ui.label(format!("Copy {words} as"));
                for form in Form::ALL {
                    let name = format!("Copy {words} as {}", form.name());
                    let button = ui.add(Button::new(form.name()));
                    if button.accessible_name(name).clicked() {
                        let text = self.table(part).text(form);
                        let said = format!("{} copied: {words} as {}.", self.name, form.name());
                        let said = Some(said);
                        send(ui.ctx(), File::Copy { text, said });
                    }
                }
                ui.end_row();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_offers_its_line_its_column_and_all() {
        let sheet = Sheet {
            name: "w",
            lines: ("step", 2),
            columns: ("row", 3),
            names: &[],
            value: &|line, column| (10 * line + column) as f32,
            row_number: COUNTED,
        };
        let text = |part| sheet.table(part).text(Form::Tsv);
        assert_eq!(
            text(CopyScope::Line(1)),
            "step\trow 0\trow 1\trow 2\n1\t10\t11\t12"
        );
        assert_eq!(text(CopyScope::Column(2)), "step\tw row 2\n0\t2\n1\t12");
        assert_eq!(text(CopyScope::All).lines().count(), 3);
        assert_eq!(sheet.words(CopyScope::Line(1)), "step 1: 3 values");
        let named = Sheet {
            names: &["gate", "shift"],
            columns: ("stage", 2),
            ..sheet
        };
        assert_eq!(named.words(CopyScope::Column(1)), "shift: 2 values");
        // Of a large memory only some rows are recorded.
        let part = Sheet {
            row_number: &|row| 7 * row,
            ..sheet
        };
        let text = part.table(CopyScope::Line(1)).text(Form::Tsv);
        assert_eq!(text, "step\trow 0\trow 7\trow 14\n1\t10\t11\t12");
        let rows = Sheet {
            lines: ("row", 2),
            columns: ("column", 3),
            ..part
        };
        let text = rows.table(CopyScope::Line(1)).text(Form::Tsv);
        assert_eq!(text, "row\tcolumn 0\tcolumn 1\tcolumn 2\n7\t10\t11\t12");
        assert_eq!(rows.words(CopyScope::Line(1)), "row 7: 3 values");
    }
}
