//! Numbers to be copied, in the forms that other programs read.

/// The formats in which numbers are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines of values between tabs: for a spreadsheet.
    Tsv,
    /// A list of values for every name: for a program.
    Json,
    /// An array: for a notebook.
    NumPy,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 3] = [Self::Tsv, Self::Json, Self::NumPy];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsv => "TSV",
            Self::Json => "JSON",
            Self::NumPy => "NumPy",
        }
    }
}

/// Numbers in named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows of numbers, as many as there are names.
    pub rows: Vec<Vec<f32>>,
}

/// Formats a number, or returns the word for a value that is none.
fn number(value: f32, [nan, least, most]: [&str; 3]) -> String {
    match value {
        v if v.is_nan() => nan.to_owned(),
        v if v.is_infinite() && v < 0.0 => least.to_owned(),
        v if v.is_infinite() => most.to_owned(),
        v => v.to_string(),
    }
}

impl Table {
    /// Builds a table of lines counted from 0: the name of a line, and its columns.
    pub fn counted<V: IntoIterator<Item = f32>>(
        (first, names): (&str, &[&str]),
        lines: usize,
        values: impl Fn(usize) -> V,
    ) -> Self {
        let row = |line| std::iter::once(line as f32).chain(values(line)).collect();
        let names = std::iter::once(first).chain(names.iter().copied());
        Self {
            columns: names.map(str::to_owned).collect(),
            rows: (0..lines).map(row).collect(),
        }
    }

    /// The text that is copied.
    pub fn text(&self, form: Form) -> String {
        match form {
            Form::Tsv => {
                let lines = self.joined(["NaN", "-inf", "inf"], "\t", "\n");
                format!("{}\n{lines}", self.columns.join("\t"))
            }
            Form::Json => self.json(),
            Form::NumPy => {
                let words = ["np.nan", "-np.inf", "np.inf"];
                let (names, rows) = (
                    self.columns.join(", "),
                    self.joined(words, ", ", "],\n          ["),
                );
                format!("# {names}\nnp.array([[{rows}]], dtype=np.float32)")
            }
        }
    }

    /// All numbers, with these words for those that are not finite, and between numbers and between rows.
    fn joined(&self, words: [&str; 3], between: &str, rows: &str) -> String {
        let row = |row: &Vec<f32>| {
            let values = row.iter().map(|&value| number(value, words));
            values.collect::<Vec<_>>().join(between)
        };
        self.rows.iter().map(row).collect::<Vec<_>>().join(rows)
    }

    /// Formats a number; values that are not finite are strings, as in trace files.
    fn json(&self) -> String {
        let words = ["\"NaN\"", "\"-Infinity\"", "\"Infinity\""];
        let columns = self.columns.iter().enumerate().map(|(index, name)| {
            let values = self.rows.iter().map(|row| number(row[index], words));
            let values = values.collect::<Vec<_>>().join(", ");
            format!("\"{name}\": [{values}]")
        });
        format!("{{{}}}", columns.collect::<Vec<_>>().join(",\n "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_copied_exactly() {
        let table = Table {
            columns: vec!["row".to_owned(), "w".to_owned()],
            rows: vec![
                vec![0.0, 0.982_135_06],
                vec![1.0, f32::NAN],
                vec![2.0, -1e-9],
            ],
        };
        assert_eq!(
            table.text(Form::Tsv),
            "row\tw\n0\t0.98213506\n1\tNaN\n2\t-0.000000001"
        );
        assert_eq!(
            table.text(Form::Json),
            "{\"row\": [0, 1, 2],\n \"w\": [0.98213506, \"NaN\", -0.000000001]}"
        );
        assert_eq!(
            table.text(Form::NumPy),
            "# row, w\nnp.array([[0, 0.98213506],\n          [1, np.nan],\n          [2, -0.000000001]], dtype=np.float32)"
        );
    }
}
