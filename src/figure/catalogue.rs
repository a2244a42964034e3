//! What there is to see over time: every quantity with its values, its scale and its names, for window and figures.

use super::facts::Scales;
use super::heads::series;
use super::{PanelId, Picture, Scale, head_label};
use crate::math::Series;
use crate::model::HeadTrace;
use crate::train::Recording;

/// A quantity over time.
pub struct Source<'a> {
    /// What it is.
    pub id: PanelId,
    /// The title of its picture.
    pub title: &'static str,
    /// What exactly it shows.
    pub note: String,
    /// What it is called on screen, and where its numbers are copied to.
    pub name: String,
    /// One of it, in a word.
    pub word: &'static str,
    /// As in the equations.
    pub symbol: &'static str,
    /// Whose it is, as values of it are read out.
    pub whose: String,
    /// How many numbers there are in every step.
    pub rows: usize,
    /// What one of them is.
    pub row: &'static str,
    /// What the colours mean.
    pub scale: Scale,
    value: Box<dyn Fn(usize, usize) -> f32 + 'a>,
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// How many numbers a step has, and each of them by step and place.
type Values<'a> = (usize, Box<dyn Fn(usize, usize) -> f32 + 'a>);

fn of(series: &Series<f32>) -> Values<'_> {
    (series.width(), Box::new(|t, row| series.row(t)[row]))
}

impl<'a> Source<'a> {
    /// The quantity of this picture, if the machine has it; with the scales of signed values, of bits and of
    /// weightings.
    pub fn new(
        recording: &'a Recording,
        scales: &Scales,
        [bits, weights]: [Scale; 2],
        id: PanelId,
    ) -> Option<Self> {
        let (trace, episode) = (&recording.trace, &recording.episode);
        let head = id.of.and_then(|head| trace.heads.get(head));
        let layer = id.of.and_then(|layer| trace.layers.get(layer));
        let of_head = |array| series(head?, array).map(of);
        let writes = head.is_some_and(HeadTrace::is_write);
        let (outputs, target) = (trace.output.width(), &episode.target);
        let error = |t: usize, row: usize| (target[[t, row]] - trace.output.row(t)[row]).abs();
        let write_title = ["Read weightings", "Write weightings"][usize::from(writes)];
        let ((rows, value), scale, title, name, word, symbol) = match id.picture {
            Picture::Input => (of(&trace.input), bits, "Inputs", "input", "input", "x"),
            Picture::Target => {
                let values: Values<'_> = (outputs, Box::new(|t, row| target[[t, row]]));
                (values, bits, "Targets", "target", "target", "")
            }
            Picture::Output => (of(&trace.output), bits, "Outputs", "output", "output", "y"),
            Picture::Error => {
                let values: Values<'_> = (outputs, Box::new(error));
                (values, bits, "Error", "error", "error", "")
            }
            Picture::Keys => (of_head("key")?, scales.vector, "Keys", "keys", "key", "k"),
            Picture::Shifts => (of_head("shift")?, weights, "Shifts", "shifts", "shift", "s"),
            Picture::Adds => (of_head("add")?, scales.vector, "Adds", "adds", "add", "a"),
            Picture::Erases => (
                of_head("erase")?,
                Scale::Bits,
                "Erases",
                "erases",
                "erase",
                "e",
            ),
            Picture::Reads => (
                of_head("read")?,
                scales.memory,
                "Reads",
                "reads",
                "read",
                "r",
            ),
            Picture::Weightings => {
                let values = of_head("weighting")?;
                (values, weights, write_title, "weighting", "weighting", "w")
            }
            Picture::Cells => (of(&layer?.cell), scales.state, "Cells", "cell", "cell", "c"),
            Picture::Hidden => {
                let within_one = Scale::Signed(1.0);
                (
                    of(&layer?.hidden),
                    within_one,
                    "Hidden state",
                    "hidden",
                    "hidden",
                    "h",
                )
            }
            Picture::Memory | Picture::Stages | Picture::Scalars | Picture::Differences => {
                return None;
            }
        };
        let label = head_label(trace, id.of.unwrap_or(usize::MAX));
        let (row, note, whose) = match id.picture {
            Picture::Input => (
                "channel",
                "what the machine sees".to_owned(),
                name.to_owned(),
            ),
            Picture::Target => (
                "channel",
                "what it should answer".to_owned(),
                name.to_owned(),
            ),
            Picture::Output => ("channel", "probability of a 1".to_owned(), name.to_owned()),
            Picture::Error => {
                let words = "|target − output|, where an answer is asked for";
                ("channel", words.to_owned(), name.to_owned())
            }
            Picture::Cells | Picture::Hidden => {
                let layer = format!("layer {}", id.of.unwrap_or(0));
                ("unit", layer.clone(), layer)
            }
            Picture::Weightings => ("row", format!("w of {label}"), label.clone()),
            _ => ("column", format!("{symbol} of {label}"), label.clone()),
        };
        let name = match row {
            "channel" => name.to_owned(),
            _ => format!("{name} of {whose}"),
        };
        (rows > 0).then_some(Self {
            id,
            title,
            note,
            name,
            word,
            symbol,
            whose,
            rows,
            row,
            scale,
            value,
        })
    }

    /// One of it, and its symbol: `key k`.
    pub fn told(&self) -> String {
        format!("{} {}", self.word, self.symbol)
            .trim_end()
            .to_owned()
    }

    /// A value, by step and place.
    pub fn value(&self, step: usize, row: usize) -> f32 {
        (self.value)(step, row)
    }
}
