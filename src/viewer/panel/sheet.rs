//! The numbers behind a picture, to be copied from its menu: a right click on a cell offers its value, its
//! line, its column, and all of them.

use egui::Response;

use crate::viewer::command::Command;
use crate::viewer::inspect::Table;

/// Numbers in lines and columns, as an array of a trace file has them.
pub struct Sheet<'a> {
    /// What they are.
    pub name: &'a str,
    /// What a line is, and how many there are.
    pub lines: (&'a str, usize),
    /// What a column is, and how many there are.
    pub columns: (&'a str, usize),
    /// The value in a line and a column.
    pub value: &'a dyn Fn(usize, usize) -> f32,
}

impl Sheet<'_> {
    /// Some of its lines, each with its number.
    fn lines(&self, lines: impl Iterator<Item = usize>) -> Table {
        let columns = 0..self.columns.1;
        let names = columns.map(|column| format!("{} {column}", self.columns.0));
        let row = |line: usize| {
            let values = (0..self.columns.1).map(|column| (self.value)(line, column));
            std::iter::once(line as f32).chain(values).collect()
        };
        Table {
            columns: std::iter::once(self.lines.0.to_owned())
                .chain(names)
                .collect(),
            rows: lines.map(row).collect(),
        }
    }

    fn column(&self, column: usize) -> Table {
        let lines = 0..self.lines.1;
        Table {
            columns: vec![self.lines.0.to_owned(), self.name.to_owned()],
            rows: lines
                .map(|line| vec![line as f32, (self.value)(line, column)])
                .collect(),
        }
    }

    /// What the menu offers for a cell: the words, and the text to be copied.
    fn offers(&self, line: usize, column: usize) -> Vec<(String, Box<dyn Fn() -> String + '_>)> {
        let (lines, columns) = (self.lines, self.columns);
        vec![
            (
                format!("Copy the value, {} {line}, {} {column}", lines.0, columns.0),
                Box::new(move || (self.value)(line, column).to_string()),
            ),
            (
                format!("Copy {} {line}: {} values", lines.0, columns.1),
                Box::new(move || self.lines(std::iter::once(line)).tsv()),
            ),
            (
                format!("Copy {} {column}: {} values", columns.0, lines.1),
                Box::new(move || self.column(column).tsv()),
            ),
            (
                format!("Copy all {} × {} as TSV", lines.1, columns.1),
                Box::new(move || self.lines(0..lines.1).tsv()),
            ),
            (
                format!("Copy all {} × {} as NumPy", lines.1, columns.1),
                Box::new(move || self.lines(0..lines.1).numpy()),
            ),
        ]
    }

    /// The menu of a picture; `cell` is the line and the column under the pointer.
    pub fn menu(
        &self,
        response: &Response,
        cell: Option<(usize, usize)>,
        commands: &mut Vec<Command>,
    ) {
        // The pointer moves on into the menu: the cell is the one that was clicked.
        let id = response.id.with("menu");
        if let (true, Some(cell)) = (response.secondary_clicked(), cell) {
            response.ctx.data_mut(|data| data.insert_temp(id, cell));
        }
        if !(response.secondary_clicked() || response.context_menu_opened()) {
            return;
        }
        let clicked: Option<(usize, usize)> = response
            .ctx
            .data(|data| data.get_temp::<(usize, usize)>(id));
        let Some((line, column)) = clicked else {
            return;
        };
        if line >= self.lines.1 || column >= self.columns.1 {
            return;
        }
        response.context_menu(|ui| self.menu_ui(ui, (line, column), commands));
    }

    fn menu_ui(
        &self,
        ui: &mut egui::Ui,
        (line, column): (usize, usize),
        commands: &mut Vec<Command>,
    ) {
        ui.label(egui::RichText::new(self.name).strong());
        for (words, text) in self.offers(line, column) {
            if ui.button(&words).clicked() {
                let said = format!(
                    "{} copied: {}.",
                    self.name,
                    words.trim_start_matches("Copy ")
                );
                commands.push(Command::CopyCells { text: text(), said });
                ui.close();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_offers_itself_its_line_its_column_and_all() {
        let sheet = Sheet {
            name: "w",
            lines: ("step", 2),
            columns: ("row", 3),
            value: &|line, column| (10 * line + column) as f32,
        };
        let texts: Vec<_> = sheet
            .offers(1, 2)
            .into_iter()
            .map(|(_, text)| text())
            .collect();
        assert_eq!(texts[0], "12");
        assert_eq!(texts[1], "step\trow 0\trow 1\trow 2\n1\t10\t11\t12");
        assert_eq!(texts[2], "step\tw\n0\t2\n1\t12");
        assert_eq!(texts[3].lines().count(), 3);
        assert!(texts[4].contains("np.array([[0, 0, 1, 2]"));
    }
}
