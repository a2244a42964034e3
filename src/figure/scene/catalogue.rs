//! Catalogue of all pictures with their values, scales and names, for window and figures.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ndarray::ArrayView2;

use crate::figure::facts::column::Column;
use crate::figure::facts::episode::{FirstWriteSteps, SalientHead, Scales, wrong_bits};
use crate::figure::facts::events::{Event, HeadLines, events};
use crate::figure::facts::family::column;
use crate::figure::facts::family::dnc::allocation_places;
use crate::figure::facts::family::score::score_text;
use crate::figure::facts::gradients::{Gradients, Layer};
use crate::figure::facts::in_step::InStep;
use crate::figure::facts::links::{LINKED, LinkCache, TemporalLinks, describe};
use crate::figure::facts::moment::Moment;
use crate::figure::facts::moment::steps_done;
use crate::figure::facts::over_time::{OverTime, Owner};
use crate::figure::facts::quantities::Quantity;
use crate::figure::facts::rows::{Rows, runs_of};
use crate::figure::facts::source::{SourceSteps, StepSymbol};
use crate::figure::facts::spread::{Spread, is_spread};
use crate::figure::facts::stage::Stage;
use crate::figure::facts::stages::Stages;
use crate::figure::scene::addressing::{Addressing, Bars};
use crate::figure::scene::cells::{Cells, Values};
use crate::figure::scene::motion::{POINT, turn};
use crate::figure::scene::overlap::{MEANING, Overlap, Redundancies, overlap_of};
use crate::figure::scene::panel::{Across, Content, Down, Panel};
use crate::figure::scene::patches::Patches;
use crate::figure::{HeadName, PanelId, Picture, Scale, facts::numbers, head_label};
use crate::math::{Answer, Series};
use crate::model::dnc::{PRECEDENCE, USAGE};
use crate::model::sam::AGE;
use crate::model::weighting::bayesian::PRIOR;
use crate::model::{Array, Axis, HeadTrace, NoiseMode, Place, Trace, array};
use crate::train::Recording;

/// With more rows than this, moving rows are too low to be seen.
const MOST_MOVING: usize = 2048;

/// A vector over time, with its values.
pub struct RecordedQuantity<'a> {
    /// The identity.
    pub id: PanelId,
    /// Its array and words.
    pub vector: &'static OverTime,
    /// The title of its picture.
    pub title: &'static str,
    /// The exact description of its contents.
    pub note: String,
    /// What the head does there, after the note.
    verb: &'static str,
    /// The name on screen, and in copied numbers.
    pub name: String,
    /// The owner, as it is named when values are read out.
    pub whose: String,
    /// Number of values in every step.
    pub rows: usize,
    /// The meaning of the colours.
    pub scale: Scale,
    values: Box<dyn Values + 'a>,
}

/// Number of values per step, and the values by step and index.
type Numbers<'a> = (usize, Box<dyn Values + 'a>);

fn of(series: &Series<f32>) -> Numbers<'_> {
    let value = |t: usize, row: usize| series.row(t)[row];
    (series.width(), Box::new(value))
}

/// The values of a quantity, if the machine has it.
fn numbers_of(recording: &Recording, id: PanelId) -> Option<Numbers<'_>> {
    let (trace, target) = (&recording.trace, &recording.episode.target);
    let outputs = trace.output.width();
    let error = |t: usize, row: usize| (target[[t, row]] - trace.output.row(t)[row]).abs();
    Some(match id.picture {
        Picture::Target => (outputs, Box::new(|t: usize, row: usize| target[[t, row]])),
        Picture::Error => (outputs, Box::new(error)),
        Picture::Overlap => {
            let own = id.of.filter(|head| *head < trace.heads.len())?;
            let value = move |t: usize, other: usize| overlap_of(trace, t, [own, other]);
            (trace.heads.len(), Box::new(value))
        }
        _ => {
            let (place, array) = id.recorded(trace)?;
            of(trace.series(place, array)?)
        }
    })
}

impl<'a> RecordedQuantity<'a> {
    /// The quantity of this picture, if the machine has it; with the scales of signed values, of bits and of
    /// weightings.
    pub fn new(
        recording: &'a Recording,
        scales: &Scales,
        fixed: [Scale; 2],
        id: PanelId,
    ) -> Option<Self> {
        let trace = &recording.trace;
        let of = OverTime::of(id.picture)?;
        let head = id.of.and_then(|head| trace.heads.get(head));
        let (rows, values) = numbers_of(recording, id)?;
        let scale = scales.of_vector(of, trace, fixed, id.of)?;
        let label = head_label(trace, id.of.unwrap_or(usize::MAX));
        let writes = head.is_some_and(HeadTrace::is_write);
        let (title, verb) = match (id.picture, writes) {
            (Picture::Weightings, true) => ("Write weightings", ", where it writes"),
            (Picture::Weightings, false) => ("Read weightings", ", where it reads"),
            _ => (of.title, ""),
        };
        let layer = || format!("layer {}", id.of.unwrap_or(0));
        let output = match recording.episode.answer {
            Answer::Bits => of.about,
            Answer::Symbols => "probability of each symbol",
            Answer::Values(_) => "of the machine",
        };
        let name = of.name.to_owned();
        let (note, whose) = match of.owner {
            Owner::Machine if id.picture == Picture::Output => (output.to_owned(), name.clone()),
            Owner::Machine => (of.about.to_owned(), name.clone()),
            Owner::Layer => (layer(), layer()),
            Owner::Head => (format!("{} of {label}", of.symbol), label),
        };
        let name = match of.owner {
            Owner::Machine => name,
            Owner::Layer | Owner::Head => format!("{name} of {whose}"),
        };
        (rows > 0).then_some(Self {
            id,
            vector: of,
            title,
            note,
            verb,
            name,
            whose,
            rows,
            scale,
            values,
        })
    }

    /// Replaces the values by their derivatives, if they exist.
    #[must_use]
    pub fn derived(self, gradients: &'a Gradients) -> Self {
        let Some((array, series)) = gradients.series(self.id) else {
            return self;
        };
        let what = match (self.id.picture, self.vector.owner) {
            (Picture::Output, _) => "logit".to_owned(),
            (_, Owner::Machine) => self.vector.symbol.to_owned(),
            _ => format!("{} of {}", self.vector.symbol, self.whose),
        };
        Self {
            scale: gradients.scale(array),
            note: gradients.wrt(&what),
            verb: "",
            values: of(series).1,
            ..self
        }
    }

    /// Returns the word and the symbol: `key k`.
    pub fn describe(&self) -> String {
        let both = format!("{} {}", self.vector.word, self.vector.symbol);
        both.trim_end().to_owned()
    }

    /// A value, by step and place.
    pub fn value(&self, step: usize, row: usize) -> f32 {
        self.values.at(step, row)
    }
}

/// Facts about an episode that pictures need, computed once.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The stages of its steps.
    pub stages: Stages,
    /// The scales of signed values.
    pub scales: Scales,
    /// The steps in which the memory rows were first written.
    pub first_write_steps: FirstWriteSteps,
    /// Redundant heads: those that attend to the same rows.
    pub redundancies: Redundancies,
    /// The most informative head of each step.
    pub salient: SalientHead,
    /// The numbers of every head over time.
    pub heads: Vec<HeadLines>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The symbol of every step; empty for a task without symbols.
    pub symbols: Vec<StepSymbol>,
    /// The source, of a machine that reads one.
    pub source: Option<SourceSteps>,
    /// The temporal links after the steps last looked at.
    pub links: LinkCache,
    /// The quantities of a machine file, in the order of the computation; none of other machines.
    pub quantities: Vec<Quantity>,
}

impl Facts {
    /// True for a machine that reads a source.
    pub fn reads_source(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(|source| !source.are_numbers)
    }

    /// Passes over everything recorded.
    pub fn of(recording: &Recording, writes_first: bool) -> Self {
        let trace = &recording.trace;
        Self {
            stages: Stages::of(trace, writes_first),
            scales: Scales::of(recording),
            first_write_steps: FirstWriteSteps::of(trace),
            redundancies: Redundancies::of(trace),
            salient: SalientHead::of(recording),
            heads: HeadLines::of_all(trace),
            events: events(recording),
            symbols: StepSymbol::of_all(recording),
            source: SourceSteps::of(recording),
            links: LinkCache::default(),
            quantities: Quantity::of_all(trace),
        }
    }
}

/// An episode at an instant, the source of all pictures.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue<'a> {
    /// The moment of the pictures of one step.
    pub now: Moment<'a>,
    /// The facts of the episode.
    pub facts: &'a Facts,
    /// The scales of bits and of weightings.
    pub shades: [Scale; 2],
    /// The memory rows that are shown.
    pub rows: &'a Rows,
    /// Statistics over many samples, if requested.
    pub spread: Option<&'a Spread>,
    /// The layer shown: values or gradients.
    pub layer: Layer<'a>,
    /// True where row 0 is at the bottom.
    pub upwards: bool,
    /// True for few words and no marks over quantities over time, as in the paper.
    pub as_paper: bool,
    /// Cells before the first step, by layer, where they are known.
    pub initial: Option<ArrayView2<'a, f32>>,
}

impl<'a> Catalogue<'a> {
    /// Returns this picture, if the machine has it.
    pub fn panel(&self, id: PanelId) -> Option<Panel<'a>> {
        match (id.picture, id.of, id.part) {
            (Picture::Memory, ..) => self.memory(),
            (Picture::Overlap, None, _) => self.overlap(),
            (Picture::Links, ..) => self.links(),
            (Picture::Arrows, ..) => self.arrows(id),
            (Picture::Usage, ..) if id.now => self.usage(id),
            (Picture::Stages, Some(head), Some(part)) => {
                let bars = self.bars(head, column(part)?)?;
                Some(self.column(bars))
            }
            (Picture::Learned, Some(head), Some(part)) => self.learned(head, part),
            (Picture::Stages, Some(head), None) => self.addressing(head),
            (Picture::Patches, ..) => self.patches(id),
            (Picture::Quantities | Picture::Norms, ..) => self.of_quantity(id),
            _ if id.now => self.now(id),
            _ => self.over_time(id),
        }
    }

    /// Distinguishes the layers.
    fn layered(&self) -> usize {
        self.layer.map_or(0, Gradients::version)
    }

    /// Version number that tells moving pictures from the same ones a little later.
    fn version(&self, moving: bool) -> usize {
        let share = (self.now.through * 16_384.0) as usize;
        if moving { 1 + share } else { 0 }
    }

    fn recorded(&self, id: PanelId) -> Option<RecordedQuantity<'a>> {
        let found = RecordedQuantity::new(self.now.recording, &self.facts.scales, self.shades, id)?;
        Some(match self.layer {
            Some(gradients) => found.derived(gradients),
            None => found,
        })
    }

    pub(super) fn down(&self) -> Down<'a> {
        Down {
            label: "row",
            rows: Cow::Borrowed(self.rows),
            upwards: self.upwards,
            names: self.facts.source.as_ref().map_or(&[], |of| &of.names),
        }
    }

    /// A quantity over time.
    fn over_time(&self, id: PanelId) -> Option<Panel<'a>> {
        let (quantity, steps) = (self.recorded(id)?, self.now.trace().steps());
        let (recording, rows) = (self.now.recording, quantity.rows);
        let asked = |t: usize| recording.episode.is_scored(t);
        let mut cells = Cells::of([steps, rows], quantity.scale, quantity.values);
        cells.version.1 = self.layered();
        match id.picture {
            Picture::Error => cells.skipped = (0..steps).map(|t| !asked(t)).collect(),
            Picture::Target | Picture::Output if !self.as_paper => {
                let asked = recording.episode.mask.iter();
                cells.veiled = runs_of(asked.map(|asked| *asked <= 0.0));
            }
            _ => {}
        }
        let source = self.facts.source.as_ref();
        let source = source.filter(|_| id.picture == Picture::Weightings);
        let links = |of: &[Option<Range<usize>>]| -> Vec<(usize, Range<usize>)> {
            let steps = of.iter().enumerate();
            let steps = steps.filter_map(|(step, rows)| Some((step, rows.clone()?)));
            steps.collect()
        };
        let mut truth = String::new();
        if let Some(source) = source.filter(|source| source.is_aligned()) {
            cells.aligned = links(&source.alignment);
            cells.sure = (!source.sure.is_empty()).then(|| links(&source.sure));
            let head = id.of.and_then(|head| recording.trace.heads.get(head));
            truth = format!("; {}", source.truth(head));
        }
        if id.picture == Picture::Output && !self.as_paper {
            let wrong = move |width| wrong_bits(recording, 0..steps, width);
            cells.outlined = Some(Box::new(wrong));
        }
        let (down, natural, alt) = match quantity.vector.entry {
            "row" => (self.down(), 190.0, "memory rows over time"),
            row => {
                let (each, least, most) = match row {
                    "channel" => (7.0, 14.0, 110.0),
                    "mode" => (16.0, 14.0, 110.0),
                    _ => (5.0, 30.0, 120.0),
                };
                let natural = (rows as f32 * each).clamp(least, most);
                (Down::all(row, rows), natural, "over time")
            }
        };
        let verb = if self.as_paper { "" } else { quantity.verb };
        let pale = [", pale where it is not scored", ""][usize::from(cells.veiled.is_empty())];
        let content = match id.picture {
            // Derivatives are no shares of a whole.
            Picture::Modes if self.layer.is_none() => Content::Shares(cells),
            _ => Content::Cells(cells),
        };
        Some(Panel {
            title: quantity.title.to_owned(),
            name: quantity.name,
            whose: quantity.whose,
            note: quantity.note + verb + &truth + pale,
            alt: alt.to_owned() + &truth,
            symbols: &self.facts.symbols,
            across: Across::Steps(steps),
            down,
            natural,
            done: steps_done(id, &self.now),
            ..Panel::new(id, content)
        })
    }

    /// The picture that the machine describes, for every answer or for the step, by the weights of a head.
    fn patches(&self, id: PanelId) -> Option<Panel<'a>> {
        let (head, recording) = (id.of?, self.now.recording);
        let weights = self.recorded(PanelId::of(Picture::Weightings, head))?;
        let steps = recording.trace.steps();
        let shown = if id.now {
            self.now.step..self.now.step + 1
        } else {
            recording.episode.source()..steps
        };
        let size = [steps, weights.rows];
        let cells = if id.now {
            let (now, head) = (self.now, recording.trace.heads.get(head)?);
            Cells::new(size, weights.scale, move |_, row| now.attention(head, row))
        } else {
            Cells::of(size, weights.scale, weights.values)
        };
        let answered = steps_done(PanelId::new(Picture::Output), &self.now);
        let named = (self.facts.source.as_ref()?, &self.facts.symbols[..]);
        let patches = Patches::new(recording, named, (cells, shown, answered))?;
        let note = "each patch in the colour of its weight; outlined: true patch";
        Some(Panel {
            title: "What it looks at".to_owned(),
            name: format!("picture by {}", weights.whose),
            whose: weights.whose,
            note: note.to_owned(),
            alt: note.to_owned(),
            natural: 110.0,
            done: if id.now { usize::MAX } else { answered },
            ..Panel::new(id, Content::Patches(patches))
        })
    }

    /// A quantity at the step.
    fn now(&self, id: PanelId) -> Option<Panel<'a>> {
        let (quantity, step) = (self.recorded(id)?, self.now.step);
        let whose = match id.of {
            Some(_) => quantity.whose.clone(),
            None => "machine".to_owned(),
        };
        let description = quantity.describe();
        let values = quantity.values;
        let value = move |row, _| values.at(step, row);
        let mut cells = Cells::new([quantity.rows, 1], quantity.scale, value);
        cells.version = (step, self.layered());
        Some(Panel {
            name: format!("{whose} {description}"),
            title: description,
            whose,
            note: quantity.note + quantity.verb,
            alt: "at this step".to_owned(),
            across: Across::Columns(quantity.rows),
            down: Down::all("", 1),
            natural: 14.0,
            ..Panel::new(id, Content::Cells(cells))
        })
    }

    /// True while the memory moves: during writes, if its rows are distinguishable.
    fn memory_moves(&self) -> bool {
        let stage = self.now.stage().map(|at| at.stage);
        let changes = matches!(stage, None | Some(Stage::Erase | Stage::Add));
        self.now.moves() && changes && self.rows.shown() <= MOST_MOVING
    }

    /// The memory, with the heads at its rows.
    fn memory(&self) -> Option<Panel<'a>> {
        let (now, trace) = (self.now, self.now.trace());
        if trace.heads.is_empty() {
            return None;
        }
        let memory = now.memory();
        let (columns, rows) = (memory.columns(), trace.memory_size()[0]);
        let gradients = self.layer;
        let scale = gradients.map_or(self.facts.scales.memory, |by| by.scale(array::MEMORY));
        let by = gradients.map(|by| by.trace.memory_columns.row(memory.row()));
        let moving = gradients.is_none() && self.memory_moves();
        let mut cells = Cells::new([columns, rows], scale, move |column, row| {
            if let Some(by) = by {
                by[column * rows + row]
            } else if moving {
                now.memory_value(row, column)
            } else {
                memory.value(row, column)
            }
        });
        cells.version = (memory.version(), self.version(moving) + self.layered());
        let heads = 0..trace.heads.len();
        cells.marks = heads.filter_map(|head| now.head_mark(head)).collect();
        Some(Panel {
            title: "Memory".to_owned(),
            name: "memory".to_owned(),
            whose: memory.name(),
            note: gradients.map_or_else(|| memory.name(), |gradients| gradients.wrt("M")),
            alt: "rows down, columns across".to_owned(),
            across: Across::Columns(columns),
            down: self.down(),
            ..Panel::new(PanelId::new(Picture::Memory), Content::Cells(cells))
        })
    }

    /// Overlap of every two heads at the step.
    fn overlap(&self) -> Option<Panel<'a>> {
        let (trace, step) = (self.now.trace(), self.now.step);
        let overlap = Overlap::new(trace, step, self.shades[0], &self.facts.redundancies)?;
        Some(Panel {
            title: "Overlap of heads".to_owned(),
            name: "overlap of heads".to_owned(),
            whose: format!("overlap of heads at step {step}"),
            note: format!("A·A′ at step {step}, σ its singular values"),
            alt: MEANING.replace('\n', "; "),
            natural: overlap.natural(),
            down: Down::all("head", trace.heads.len()),
            ..Panel::new(PanelId::new(Picture::Overlap), Content::Overlap(overlap))
        })
    }

    /// The link matrix after the step.
    fn links(&self) -> Option<Panel<'a>> {
        let step = self.now.step;
        let [rows, _] = self.now.trace().memory_size();
        let links = self.links_after(step)?;
        let shown = self.rows.numbers();
        let value = move |column: usize, row: usize| links.matrix[row * rows + shown[column]];
        let mut cells = Cells::new([shown.len(), rows], self.shades[1], value);
        cells.version = (step, self.layered());
        Some(Panel {
            title: "Temporal links".to_owned(),
            name: "temporal links".to_owned(),
            whose: format!("links after step {step}"),
            note: format!("L after step {step}: this row was written right after that column"),
            alt: "rows down, the rows written before them across".to_owned(),
            across: Across::Rows,
            down: self.down(),
            natural: 190.0,
            ..Panel::new(PanelId::new(Picture::Links), Content::Cells(cells))
        })
    }

    /// The temporal links after a step, if the machine has them; computed once.
    fn links_after(&self, step: usize) -> Option<Arc<TemporalLinks>> {
        let compute = || TemporalLinks::after(self.now.trace(), step);
        self.facts.links.get(step, compute)
    }

    /// The strongest links at the moment.
    fn arrows(&self, id: PanelId) -> Option<Panel<'a>> {
        // L_0 is 0, as before the first step.
        let step = steps_done(id, &self.now).saturating_sub(1);
        let links = self.links_after(step)?;
        let [rows, _] = self.now.trace().memory_size();
        let alt = format!("arrows to the row written next, of links of {LINKED} or more");
        Some(Panel {
            name: "order of writing".to_owned(),
            whose: format!("links after step {step}"),
            note: alt.clone(),
            alt: format!("{alt}: {}", describe(&links.strongest, rows)).replace('\n', ", "),
            down: self.down(),
            ..Panel::new(id, Content::Arrows(links))
        })
    }

    /// The usage of the rows at the moment, with their places in the order of allocation.
    fn usage(&self, id: PanelId) -> Option<Panel<'a>> {
        let quantity = self.recorded(id)?;
        let done = steps_done(id, &self.now);
        let after = done.checked_sub(1);
        let value = |row| after.map_or(0.0, |step| quantity.value(step, row));
        let usage: Vec<f32> = (0..quantity.rows).map(value).collect();
        let places = allocation_places(&usage);
        let mut cells = Cells::new([1, quantity.rows], quantity.scale, move |_, row| usage[row]);
        cells.version = (done, self.layered());
        if self.layer.is_none() {
            cells.places = places;
        }
        let when = after.map_or("before step 0".to_owned(), |step| {
            format!("after step {step}")
        });
        let note = format!("{} {when}", quantity.note);
        Some(Panel {
            name: quantity.name,
            whose: quantity.whose,
            alt: format!("{note}; numbers: order of allocation"),
            note,
            down: self.down(),
            ..Panel::new(id, Content::Cells(cells))
        })
    }

    /// An array that the mechanism of a head has learned, by its place among those: inputs down, outputs across.
    fn learned(&self, index: usize, part: usize) -> Option<Panel<'a>> {
        let head = self.now.trace().heads.get(index)?;
        let (spec, series) = learned_of(head, part)?;
        let is_matrix = spec.dims.len() > 1;
        let inputs = if is_matrix { head.key.width() } else { 1 };
        let outputs = series.width() / inputs.max(1);
        let values = series.row(0);
        let value = move |column, row| values[row * outputs + column];
        let cells = Cells::new([outputs, inputs], Scale::signed(values.iter()), value);
        let id = PanelId::of(Picture::Learned, index).part(part);
        let whose = head_label(self.now.trace(), index);
        // No font on screen has the sign of a transpose; the equations of the stages do without it, too.
        let equation = spec.equation.replace('ᵀ', "");
        Some(Panel {
            title: spec.symbol.to_owned(),
            name: format!("{whose} {}", spec.name),
            whose,
            note: equation.clone(),
            alt: equation,
            across: Across::Columns(outputs),
            down: Down::all(learned_axes(spec)[0], inputs),
            natural: 40.0,
            ..Panel::new(id, Content::Cells(cells))
        })
    }

    /// The scale of a column of a head.
    pub(crate) fn scale_of(&self, head: usize, column: &Column) -> Scale {
        let trace = self.now.trace();
        match column.array {
            _ if let Some(by) = self.layer
                && by.column(head, column, self.now.step).is_some() =>
            {
                by.scale(column.array)
            }
            array::SIMILARITY => self.facts.scales.scores[head].0,
            PRIOR => self.facts.scales.priors[head],
            AGE => Scale::ages(trace),
            _ => self.shades[1].of_head(HeadName::of(trace, head)),
        }
    }

    /// A weighting of the addressing of a head, or the match that it begins with.
    fn bars(&self, index: usize, column: &'static Column) -> Option<Bars<'a>> {
        let (now, trace, step) = (self.now, self.now.trace(), self.now.step);
        let head = trace.heads.get(index)?;
        let place = now.stages.place(column.stage, Some(head)).unwrap_or(0);
        let layer = self.layer;
        let layer = layer.and_then(|by| Some((by, by.column(index, column, step)?)));
        let values = layer.map_or_else(|| column.values(head, step), |(_, values)| values);
        let at = InStep::of(trace, now.stages.writes_first(), index, step)?;
        let scale = self.scale_of(index, column);
        let parameter = match scale {
            Scale::Signed(most) if layer.is_some() || column.is_unbounded() => {
                let beyond = layer.is_none() && self.facts.scales.scores[index].1 > most;
                format!(
                    "±{}{}",
                    numbers::end_text(most),
                    ["", "+"][usize::from(beyond)]
                )
            }
            Scale::UpTo(_) | Scale::Ages(_) => scale.end_texts().join("–"),
            _ => (column.parameter)(&at),
        };
        let count = values.len();
        let is_on = now.place == place || now.stage().is_none();
        let moving = layer.is_none() && now.moves() && is_on;
        let mut cells = Cells::new([1, count], scale, move |_, row| {
            if moving {
                now.column(head, column, row, turn(row, count))
            } else {
                values[row]
            }
        });
        cells.version = (step, self.version(moving) + self.layered());
        // Heads that address the memory later see the rows written in the same step.
        let by = step + usize::from(now.stages.reached(place, Stage::Add, None));
        let array = trace.array_name(Place::Head(index), column.array);
        let name = HeadName::of(trace, index);
        let by_content = column.is_signed() && score_text(head.mechanism.score).reads_rows;
        let has_spread = layer.is_none() && is_spread(head, column);
        let spread = self.spread.filter(|_| has_spread);
        let is_drawn = column.array == array::DISTRIBUTION
            && at.sampling != NoiseMode::Expected
            && now.progress(Stage::Draw, Some(head)) >= POINT[1];
        Some(Bars {
            column,
            head: index,
            name,
            place,
            parameter,
            description: match scale {
                _ if let Some((d, _)) = layer => d.wrt(&format!("{} of {name}", column.symbol)),
                Scale::Signed(limit) if column.is_unbounded() => {
                    let (what, most) = (column.describe(head), numbers::end_text(limit));
                    let range = if self.facts.scales.scores[index].1 > limit {
                        "the range of nine in ten values of this episode"
                    } else {
                        "the range of this episode"
                    };
                    format!("{what}\nbars from −{most} to {most}, {range}")
                }
                _ => column.describe(head),
            },
            cells,
            most: None,
            spread: spread.and_then(|spread| spread.band(index, step)),
            window: at.window().filter(|_| column.array == array::CONTENT),
            drawn: at.draw().filter(|_| is_drawn).map(|drawn| drawn.row),
            computed: layer.is_none() && now.recording.computed.contains(&array),
            to_come: place > now.place || place == now.place && now.through <= 0.0 && place > 0,
            moving,
            // A location score does not depend on whether the row was written.
            faint: (by_content && layer.is_none()).then_some((&self.facts.first_write_steps, by)),
        })
    }

    /// The picture of a weighting.
    pub fn column(&self, bars: Bars<'a>) -> Panel<'a> {
        let (column, description) = (bars.column, bars.description.clone());
        let computed = bars.computed.then_some("\ncomputed from recorded arrays");
        Panel {
            title: format!("{} of {}", column.symbol, bars.name),
            name: format!("{} {}", bars.name, column.word),
            whose: bars.name.to_string(),
            alt: format!("{description}{}", computed.unwrap_or_default()),
            note: description,
            down: self.down(),
            ..Panel::new(bars.id(), Content::Bars(bars))
        }
    }

    /// All columns of the addressing of a head.
    fn addressing(&self, index: usize) -> Option<Panel<'a>> {
        let head = self.now.trace().heads.get(index)?;
        let columns = self.now.stages.columns(head);
        let columns = columns.filter_map(|column| self.bars(index, column));
        let (id, label) = (
            PanelId::of(Picture::Stages, index),
            head_label(self.now.trace(), index),
        );
        let title = format!("Addressing of {label}");
        let of = (HeadName::of(self.now.trace(), index), head);
        // Between derivatives there are no lines, and the largest of them is no weight.
        let instant = self.layer.is_none().then_some(&self.now);
        let addressing = Addressing::new(columns.collect(), of, instant);
        Some(Panel {
            name: title.clone(),
            title,
            whose: label,
            note: match (self.layer, self.spread) {
                (Some(by), _) => format!("d {}, at step {}", by.name(), self.now.step),
                // Short enough to fit above the columns of a page with all stages.
                (_, Some(Spread { samples, .. })) => {
                    format!("step {}; {samples} samples: mean, 5–95 %", self.now.step)
                }
                _ => format!("at step {}", self.now.step),
            },
            down: self.down(),
            ..Panel::new(id, Content::Addressing(addressing))
        })
    }
}

/// The pictures beside the memory of a Differentiable Neural Computer: the order of writing, and the usage of the rows.
pub(crate) fn beside_memory(trace: &Trace) -> [Option<PanelId>; 2] {
    [(PRECEDENCE, Picture::Arrows), (USAGE, Picture::Usage)].map(|(array, picture)| {
        let mut heads = trace.heads.iter();
        let head = heads.position(|head| head.series(array).is_some())?;
        Some(PanelId::of(picture, head).now())
    })
}

/// An array that the mechanism of a head has learned, by its place among those.
pub fn learned_of(head: &HeadTrace, part: usize) -> Option<(Array, &Series<f32>)> {
    let arrays = head.arrays();
    let mut learned = arrays.filter(|(spec, series)| spec.is_learned() && series.width() > 0);
    learned.nth(part)
}

/// Returns the axes of a learned array, down and across: inputs and outputs.
pub fn learned_axes(spec: Array) -> [&'static str; 2] {
    let name = |dim: &str| Axis::named(dim).map_or("unit", |axis| axis.word);
    match spec.dims {
        [inputs, outputs] => [name(inputs), name(outputs)],
        _ => ["", "unit"],
    }
}
