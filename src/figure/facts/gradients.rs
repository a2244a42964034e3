//! Gradients of the loss, or of one output bit, with respect to the values shown: a layer drawn in their place.

use crate::figure::facts::column::{BEFORE, Column};
use crate::figure::facts::family::{column, measures};
use crate::figure::{PanelId, Picture, Scalar, Scale, facts::numbers, head_label};
use crate::math::{Answer, Series};
use crate::model::sam::row_number;
use crate::model::weighting::local::CENTRE;
use crate::model::{Array, HeadTrace, Model, Trace, array};
use crate::train::{ABSENT, Quantity, Recording};

/// The layer that pictures show: values, or the gradients w.r.t. them. Values that the machine does not compute, such as
/// targets, stay unchanged.
pub type Layer<'a> = Option<&'a Gradients>;

/// The derivative of a number by everything in an episode.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// The number.
    pub of: Quantity,
    /// The derivatives w.r.t. the arrays of the recording, under the same names; [`ABSENT`] where they do not exist.
    pub trace: Trace,
    /// The write with the largest gradient, if any is not 0.
    pub heaviest: Option<Write>,
    /// The largest of every array, in all heads and layers.
    most: Vec<(Array, f32)>,
}

/// The write with the largest gradient: a head, a step and a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Write {
    /// The head, among all of them.
    pub head: usize,
    /// The step.
    pub step: usize,
    /// The memory row.
    pub row: usize,
    /// First-order change of the number due to the write.
    pub share: f32,
}

impl Gradients {
    /// Computes the gradients with the machine that recorded the episode; `None` where the bit does not exist.
    pub fn new(machine: &Model<f32>, recording: &Recording, of: Quantity) -> Option<Self> {
        let mut trace = recording.derivatives(machine, of)?;
        trace.setting.answer = recording.episode.answer;
        fill_absent(&mut trace, &recording.trace);
        let mut most: Vec<(Array, f32)> = Vec::new();
        for (_, array, series) in trace.everything() {
            let sizes = series.as_slice().iter().map(|value| value.abs());
            let largest = sizes.filter(|size| size.is_finite()).fold(0.0, f32::max);
            match most.iter_mut().find(|(other, _)| *other == array) {
                Some((_, most)) => *most = most.max(largest),
                None => most.push((array, largest)),
            }
        }
        let mut found = Self {
            of,
            trace,
            heaviest: None,
            most,
        };
        found.heaviest = found.heaviest_write(&recording.trace);
        Some(found)
    }

    /// Returns the scale of the gradients of an array: fixed for the episode, the same for all heads.
    pub fn scale(&self, array: Array) -> Scale {
        let array = match array {
            BEFORE => array::WEIGHTING,
            _ => array,
        };
        let found = self.most.iter().find(|(other, _)| *other == array);
        Scale::Signed(numbers::round_up(found.map_or(0.0, |(_, most)| *most)))
    }

    /// The number, in a word or two: of a bit its step and its channel, as on the command line.
    pub fn name(&self) -> String {
        match self.of {
            Quantity::Loss => "loss".to_owned(),
            Quantity::Bit { step, channel } => format!("bit {step},{channel}"),
        }
    }

    fn answer(&self) -> Answer {
        self.trace.setting.answer
    }

    /// Returns the unit.
    pub fn unit(&self) -> &'static str {
        self.of.unit(self.answer())
    }

    /// Returns the name of a gradient: `d loss / d w of W0`.
    pub fn wrt(&self, what: &str) -> String {
        format!("d {} / d {what}", self.name())
    }

    /// Describes the layer in a sentence.
    pub fn describe(&self) -> String {
        match self.of {
            Quantity::Loss => {
                let unit = self.unit();
                format!("gradient of the loss w.r.t. each value ({unit} per unit)")
            }
            Quantity::Bit { step, channel } if self.answer().is_real() => format!(
                "gradient of output {channel} in step {step} w.r.t. each value (value per unit)"
            ),
            Quantity::Bit { step, channel } => format!(
                "gradient of the logit of output bit {channel} in step {step} w.r.t. each value (nats per unit)"
            ),
        }
    }

    /// Distinguishes its pictures from those of values and of other derivatives.
    pub(crate) fn version(&self) -> usize {
        let bit = match self.of {
            Quantity::Loss => 1,
            Quantity::Bit { step, channel } => 2 + step * self.trace.logit.width() + channel,
        };
        bit.wrapping_mul(0x9e37_79b1)
    }

    /// The array that a picture over time shows, with its derivative; that of the logits under the outputs, which are
    /// made of them. `None` for what the machine does not compute.
    pub fn series(&self, id: PanelId) -> Option<(Array, &Series<f32>)> {
        let (place, array) = id.recorded(&self.trace)?;
        let array = match array {
            array::OUTPUT => array::LOGIT,
            _ => array,
        };
        Some((array, self.trace.series(place, array)?))
    }

    /// True for a picture that shows derivatives at this step; others show values.
    pub fn shows(&self, id: PanelId, step: usize) -> bool {
        match (id.picture, id.of, id.part) {
            (Picture::Memory | Picture::Norms, ..) => true,
            (Picture::Stages, Some(head), Some(part)) => {
                let column = column(part);
                column.is_some_and(|column| self.column(head, column, step).is_some())
            }
            _ => self.series(id).is_some(),
        }
    }

    /// The derivative w.r.t. a column of the addressing of a head in a step, where the array exists.
    pub fn column(&self, head: usize, column: &Column, step: usize) -> Option<&[f32]> {
        let head = self.trace.heads.get(head)?;
        let known = column.array == BEFORE || column.series(head).is_some();
        known.then(|| column.values(head, step))
    }

    /// The derivatives w.r.t. the parameters of a head that are one number per step, as lines.
    pub fn scalars(&self, head: usize, steps: usize) -> Vec<Scalar> {
        let Some(of) = self.trace.heads.get(head) else {
            return Vec::new();
        };
        let all = measures();
        let lanes = all.filter(|measure| {
            [array::STRENGTH, array::GATE, array::SHARPENING, CENTRE].contains(&measure.array)
        });
        let lanes = lanes.filter_map(|measure| {
            Some(Scalar {
                of: measure,
                values: of.series(measure.array)?.as_slice()[..steps].to_vec(),
                scale: self.scale(measure.array).ends(),
            })
        });
        lanes.collect()
    }

    /// Returns the write with the largest share, if any is not 0. The share of a write head in a step and a row is the
    /// sum over the columns of w·(a − e·M)·d/dM: its change of the row, times the gradient w.r.t. the new contents.
    pub fn heaviest_write(&self, of: &Trace) -> Option<Write> {
        let rows = of.memory_size()[0];
        let heads = (0..of.heads.len()).filter(|&head| of.heads[head].is_write());
        let writes = heads.flat_map(|head| {
            let places = (0..of.steps()).flat_map(move |t| (0..rows).map(move |row| (t, row)));
            places.map(move |(step, row)| Write {
                head,
                step,
                row,
                share: self.share(of, &of.heads[head], step, row),
            })
        });
        let known = writes.filter(|write| write.share.is_finite() && write.share != 0.0);
        known.max_by(|a, b| a.share.abs().total_cmp(&b.share.abs()))
    }

    fn share(&self, of: &Trace, head: &HeadTrace, step: usize, row: usize) -> f32 {
        let weight = head.weighting.row(step)[row];
        if weight == 0.0 {
            return 0.0;
        }
        let rows = of.memory_size()[0];
        let erase = (head.erase.width() > 0).then(|| head.erase.row(step));
        let before = of.memory_columns.row(step);
        let by = self.trace.memory_columns.row(step + 1);
        let columns = head.add.row(step).iter().enumerate();
        let sum = columns.map(|(m, add)| {
            let erased = erase.map_or(0.0, |erase| erase[m] * before[m * rows + row]);
            (add - erased) * by[m * rows + row]
        });
        weight * sum.sum::<f32>()
    }

    /// A write, in words: `step 3 of W0, row 4 (6.1 nats)`.
    pub fn write_in_words(&self, write: &Write, of: &Trace) -> String {
        let (label, share) = (head_label(of, write.head), numbers::short(write.share, 2));
        let (step, row, unit) = (write.step, row_number(of, write.row), self.unit());
        format!("step {step} of {label}, row {row} ({share} {unit})")
    }

    /// Describes the most influential write in a sentence.
    pub fn heaviest_in_words(&self, of: &Trace) -> String {
        let what = match self.of {
            Quantity::Loss => "the loss".to_owned(),
            Quantity::Bit { step, channel } => format!("bit {channel} of step {step}"),
        };
        match &self.heaviest {
            Some(write) => {
                let write = self.write_in_words(write, of);
                format!("Write with the largest gradient of {what}: {write}")
            }
            None if of.heads.iter().any(HeadTrace::is_write) => {
                format!("No write affects {what}")
            }
            None => format!("No head writes; all pictures show the gradients of {what}"),
        }
    }
}

/// Fills the arrays that the recording has and of which there is no derivative.
fn fill_absent(trace: &mut Trace, of: &Trace) {
    for (place, spec, series) in of.everything() {
        let is_there = spec.is_in_files() && series.width() > 0;
        let to = trace.entry_mut(place, spec).filter(|_| is_there);
        if let Some(to) = to.filter(|to| to.steps() == 0) {
            to.reshape(series.steps(), series.width());
            to.as_mut_slice().fill(ABSENT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Colours, Figure, Layout, Mark, Options, Pages, Picture};
    use crate::model::NtmConfig;
    use crate::task::{Copy, Task};

    fn recorded() -> (Model<f32>, Recording) {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 3..=3,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns) = (9, 4);
        let machine = Model::new(config, 1);
        let recording = Recording::new(&machine, &task, 1, 0);
        (machine, recording)
    }

    const BIT: Quantity = Quantity::Bit {
        step: 5,
        channel: 1,
    };

    #[test]
    fn time_pictures_show_gradients_on_signed_scale() {
        let (machine, recording) = recorded();
        for of in [Quantity::Loss, BIT] {
            let by = Gradients::new(&machine, &recording, of).unwrap();
            for layout in [Layout::Paper, Layout::Debug] {
                let options = Options {
                    all_rows: true,
                    ..Options::new(layout)
                };
                let figure = Figure::new(&recording, options).with_layer(Some(&by));
                let (drawing, places) = figure.scene();
                assert!(drawing.title.contains(&by.describe()), "{}", drawing.title);
                for place in &places {
                    let (id, title) = (place.panel.id, &place.panel.title);
                    let Some(cells) = place.cells() else { continue };
                    if matches!(
                        id.picture,
                        Picture::Target | Picture::Error | Picture::Overlap
                    ) {
                        continue;
                    }
                    assert!(matches!(cells.scale, Scale::Signed(_)), "{title}");
                    assert!(
                        place.panel.note.starts_with("d "),
                        "{title}: {}",
                        place.panel.note
                    );
                    let Some((_, series)) = by.series(id).filter(|_| !id.now) else {
                        continue;
                    };
                    for t in 0..recording.trace.steps() {
                        for (row, &value) in series.row(t).iter().enumerate() {
                            assert_eq!(cells.value(t, row), Some(value), "{title}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn gradient_pixels_use_signed_colours() {
        let (machine, recording) = recorded();
        let by = Gradients::new(&machine, &recording, BIT).unwrap();
        let options = Options {
            all_rows: true,
            heads: vec![1],
            ..Options::new(Layout::Pictures(vec![Picture::Weightings]))
        };
        let figure = Figure::new(&recording, options).with_layer(Some(&by));
        let drawing = figure.draw();
        let image = drawing.marks.iter().find_map(|mark| match mark {
            Mark::Image { image, .. } if image.rows > 1 => Some(image),
            _ => None,
        });
        let (image, scale) = (image.unwrap(), by.scale(array::WEIGHTING));
        for t in 0..recording.trace.steps() {
            for row in 0..9 {
                let value = by.trace.heads[1].weighting.row(t)[row];
                let colour = Colours::for_theme(false).of(scale, value);
                assert_eq!(image.pixels[row * image.columns + t], colour);
            }
        }
    }

    #[test]
    fn heaviest_write_changes_the_bit_when_removed() {
        let (machine, mut recording) = recorded();
        let steps = recording.trace.steps();
        // All of what is written is of one step and one row.
        let writer = &mut recording.trace.heads[1];
        for t in 0..steps {
            writer.weighting.row_mut(t).fill(0.0);
        }
        writer.weighting.row_mut(2)[7] = 1.0;
        let mut by = Gradients::new(&machine, &recording, BIT).unwrap();
        let write = by.heaviest.unwrap();
        assert_eq!((write.head, write.step, write.row), (1, 2, 7));
        let description = by.heaviest_in_words(&recording.trace);
        assert!(
            description.starts_with(
                "Write with the largest gradient of bit 1 of step 5: step 2 of W0, row 7 ("
            ),
            "{description}"
        );
        // A write after the bit was answered has no influence on it.
        recording.trace.heads[1].weighting.row_mut(2).fill(0.0);
        let late = recording.trace.heads[1].weighting.row_mut(5);
        late[3] = 1.0;
        by.heaviest = by.heaviest_write(&recording.trace);
        assert_eq!(by.heaviest, None);
        assert_eq!(
            by.heaviest_in_words(&recording.trace),
            "No write affects bit 1 of step 5"
        );
    }

    #[test]
    fn step_pictures_show_heaviest_write_by_default() {
        let (machine, recording) = recorded();
        let by = Gradients::new(&machine, &recording, BIT).unwrap();
        let write = by.heaviest_write(&recording.trace).unwrap();
        let layer = Some(&by);
        let noted = |figure: Figure<'_>| {
            let (drawing, places) = figure.scene();
            let of_step = |id: &PanelId| id.picture == Picture::Stages;
            let place = places.iter().find(|place| of_step(&place.panel.id));
            (drawing.title, place.unwrap().panel.note.clone())
        };
        let options = Options::new(Layout::Pictures(vec![Picture::Stages]));
        let (title, note) = noted(Figure::new(&recording, options.clone()).with_layer(layer));
        assert_eq!(note, format!("d bit 5,1, at step {}", write.step));
        let description = by.write_in_words(&write, &recording.trace);
        let description = format!("; write with the largest gradient: {description}");
        assert!(title.ends_with(&description), "{title}");
        let step = Some(6);
        let (_, note) =
            noted(Figure::new(&recording, Options { step, ..options }).with_layer(layer));
        assert_eq!(note, "d bit 5,1, at step 6");
    }

    #[test]
    fn paper_names_whole_bit_of_gradient() {
        let (machine, recording) = recorded();
        let by = Gradients::new(&machine, &recording, BIT).unwrap();
        let options = Options::new(Layout::Paper);
        let figure = Figure::new(&recording, options.clone()).with_layer(Some(&by));
        let (_, places) = figure.scene();
        assert_eq!(places[0].panel.note, "d bit 5,1 / d x");
        let figure = Figure::new(&recording, options);
        let (_, places) = figure.scene();
        assert!(places.iter().all(|place| !place.panel.note.contains(',')));
    }

    #[test]
    fn unavailable_gradients_are_reported() {
        let (machine, recording) = recorded();
        let by = Gradients::new(&machine, &recording, Quantity::Loss).unwrap();
        assert!(
            by.trace
                .output
                .as_slice()
                .iter()
                .all(|value| crate::train::is_absent(*value))
        );
        assert!(
            Gradients::new(
                &machine,
                &recording,
                Quantity::Bit {
                    step: 99,
                    channel: 0
                }
            )
            .is_none()
        );
    }
}
