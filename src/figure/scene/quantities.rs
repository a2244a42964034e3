//! The quantities of a machine file: over time, at a step, and the norms of the rows of a table.

use crate::figure::facts::gradients::Gradients;
use crate::figure::facts::moment::steps_done;
use crate::figure::facts::quantities::{Colouring, Quantity, norm};
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::scene::cells::Cells;
use crate::figure::scene::panel::{Across, Content, Down, Panel};
use crate::figure::{PanelId, Picture, Scale};
use crate::math::Series;
use crate::model::Place;
use crate::model::array::MEMORY;

/// The axes of machine files along which the steps of a source stand.
const SOURCE_AXES: [&str; 2] = ["source", "from"];

impl<'a> Catalogue<'a> {
    /// The quantity of a picture, if it is one of a machine file.
    pub fn quantity(&self, id: PanelId) -> Option<&'a Quantity> {
        let is_one = matches!(id.picture, Picture::Quantities | Picture::Norms);
        let part = id.part.filter(|_| is_one)?;
        self.facts.quantities.iter().find(|own| own.part == part)
    }

    /// The quantities from 0 to 1 over the rows of a memory that was not recorded: of attention, mean and maximum of all
    /// heads.
    pub fn over_rows(&self) -> Vec<&'a Quantity> {
        let all = self.facts.quantities.iter();
        all.filter(|own| self.is_over_rows(own)).collect()
    }

    fn is_over_rows(&self, own: &Quantity) -> bool {
        let [rows, _] = self.now.trace().memory_size();
        let mut absent = self.now.recording.absent.iter();
        let is_share = matches!(own.colours, Colouring::Weighting | Colouring::Bits);
        let is_one = is_share && own.axes.len() == 1 && own.axes[0].1 == rows;
        is_one && absent.any(|name| name == MEMORY.name)
    }

    /// The values of a quantity, or the gradients w.r.t. them, with their scale.
    fn values_of(&self, own: &Quantity) -> Option<(&'a Series<f32>, Scale)> {
        let place = Place::Machine;
        if let Some(by) = self.layer {
            return Some((by.trace.series(place, own.array)?, by.scale(own.array)));
        }
        let series = self.now.trace().series(place, own.array)?;
        let [bits, weighting] = self.shades;
        let scale = if self.is_over_rows(own) {
            bits
        } else {
            own.scale(weighting)
        };
        Some((series, scale))
    }

    /// The names of the entries of the first axis: those of the file, or the tokens of a source.
    fn names_along(&self, own: &Quantity, size: usize) -> &'a [String] {
        let names = own.entry_names();
        if own.axes.len() == 1 && names.len() == size {
            return names;
        }
        let source = self.facts.source.as_ref().map(|source| &*source.names);
        let is_source = SOURCE_AXES.contains(&own.axis());
        source
            .filter(|names| is_source && names.len() == size)
            .unwrap_or_default()
    }

    /// A picture of a quantity: of one of [`Picture::Quantities`] its values over time, or its table at the step; of
    /// [`Picture::Norms`] the norms of the rows of its table over time.
    pub(super) fn of_quantity(&self, id: PanelId) -> Option<Panel<'a>> {
        let own = self.quantity(id)?;
        let (series, scale) = self.values_of(own)?;
        let (steps, step, [rows, columns]) = (self.now.trace().steps(), self.now.step, own.shape());
        let version = self.layer.map_or(0, Gradients::version);
        let is_over_rows = self.is_over_rows(own);
        let is_norm = id.picture == Picture::Norms;
        let words = own.words();
        let what = self.layer.map_or(words.clone(), |d| d.wrt(&words));
        // Over time the entries of a table stand one below the other.
        let is_flat = own.axes.len() > 1 && !is_norm && !id.now;
        let label = if is_flat { "entries" } else { own.axis() };
        let panel = |cells: Cells<'a>, down: usize| Panel {
            title: own.array.name.to_owned(),
            name: words.clone(),
            whose: own.array.name.to_owned(),
            note: match own.equation() {
                equation if self.layer.is_none() && !equation.is_empty() => equation,
                _ => what.clone(),
            },
            down: if is_over_rows {
                self.down()
            } else {
                Down {
                    names: self.names_along(own, down),
                    ..Down::all(label, down)
                }
            },
            ..Panel::new(id, Content::Cells(cells))
        };
        if id.now {
            let values = move |column, row| series.row(step)[row * columns + column];
            let mut cells = Cells::new([columns, rows], scale, values);
            cells.version = (step, version);
            return Some(Panel {
                alt: format!("{} down, the other axes across, at this step", own.axis()),
                across: Across::Columns(columns),
                natural: (rows as f32 * 6.0).clamp(30.0, 240.0),
                ..panel(cells, rows)
            });
        }
        let (mut cells, down) = if is_norm {
            let row =
                move |t: usize, row: usize| &series.row(t)[row * columns..(row + 1) * columns];
            let most = match (self.layer, scale) {
                (Some(_), Scale::Signed(most)) => most * (columns as f32).sqrt(),
                _ => own.most,
            };
            let values = move |t: usize, at: usize| norm(row(t, at));
            (Cells::new([steps, rows], Scale::UpTo(most), values), rows)
        } else {
            let width = series.width();
            let values = move |t: usize, at: usize| series.row(t)[at];
            (Cells::new([steps, width], scale, values), width)
        };
        cells.version.1 = version;
        let panel = panel(cells, down);
        let content = match panel.content {
            Content::Cells(cells) if own.is_number() => Content::Line(cells),
            content => content,
        };
        let (name, note) = if is_norm {
            (
                format!("norm of {words}"),
                format!("length of each entry: {}", panel.note),
            )
        } else {
            (panel.name, panel.note)
        };
        Some(Panel {
            content,
            name,
            note,
            alt: "over time".to_owned(),
            across: Across::Steps(steps),
            symbols: &self.facts.symbols,
            natural: match panel.down.names {
                _ if own.is_number() => 36.0,
                [] => (down as f32 * 5.0).clamp(24.0, 120.0),
                // Room for their names.
                _ => (down as f32 * 14.0).clamp(24.0, 420.0),
            },
            done: steps_done(id, &self.now),
            ..panel
        })
    }
}
