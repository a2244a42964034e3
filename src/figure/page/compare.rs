//! Two episodes on one clock: outputs, weightings of a head and memory of the first, of the second, and the
//! difference, second minus first.

use std::borrow::Cow;
use std::ops::Range;

use crate::figure::facts::column::Column;
use crate::figure::facts::episode::{MemoryAt, answer_scales, wrong_bits};
use crate::figure::facts::family::{columns_of, weighting_at};
use crate::figure::facts::moment::Moment;
use crate::figure::facts::moment::steps_done;
use crate::figure::facts::rows::{Rows, addressed, touched, touched_by};
use crate::figure::facts::source::{SourceSteps, StepSymbol, TRUTH};
use crate::figure::facts::stages::{StageRef, Stages};
use crate::figure::scene::axes::{LEFT, MARGIN};
use crate::figure::scene::cells::Cells;
use crate::figure::scene::fonts::lines;
use crate::figure::scene::lanes::Decades;
use crate::figure::scene::layout::{self, BETWEEN, Band, Scene, least_size};
use crate::figure::scene::pages::{FrameTime, Pages, View};
use crate::figure::scene::paint::{Draw, Page, Paint, Surface};
use crate::figure::scene::panel::{Across, Content, Down, Panel, PlacedPanel};
use crate::figure::{
    Area, HeadName, Options, PanelId, Picture, Scale, Style, Walk, facts::numbers, head_label,
    head_named,
};
use crate::math::Series;
use crate::model::{Array, HeadTrace, Place, Trace, array, peak};
use crate::train::Recording;

/// Share of the width of the pictures over time.
const OVER_TIME: f32 = 0.58;
/// Width of a page where none is requested.
const WIDTH: f32 = 1200.0;
/// Size and height of the lines below the pictures.
const SMALL: f32 = 10.0;
const LINE: f32 = 14.0;
/// The three pictures of everything, as their names begin.
pub const SIDES: [&str; 3] = ["A", "B", "B − A"];

/// An episode and its name.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The episode.
    pub recording: &'a Recording,
    /// The machine or file.
    pub name: &'a str,
}

/// The results of a pass over two episodes: the rows that they touch, and scales for both.
#[derive(Clone, Debug)]
pub struct Common {
    touched: Rows,
    all: Rows,
    memory: Scale,
    memory_difference: Scale,
    /// Scales by head of the first episode, and by the array of the weighting.
    weighting_differences: Vec<Vec<(Array, Scale)>>,
    output: Scale,
    output_difference: Scale,
    /// True when both are shown the same.
    same_input: bool,
    /// The sources of machines that read one, and the symbols of the steps.
    sources: [Option<SourceSteps>; 2],
    symbols: [Vec<StepSymbol>; 2],
    /// The true alignment: see [`aligned`].
    aligned: [Vec<(usize, Range<usize>)>; 2],
    /// The rows of each, where row i of one is not row i of the other.
    unlike: Option<[Rows; 2]>,
}

/// The true alignment: the source steps of every answer, or in a machine that writes the rows written in them.
fn aligned(recording: &Recording) -> Vec<(usize, Range<usize>)> {
    let writer = recording.trace.heads.iter().find(|head| head.is_write());
    let alignment = recording.task.alignment(&recording.episode);
    let steps = alignment.into_iter().enumerate();
    let steps = steps.filter_map(|(step, from)| Some((step, from?)));
    let rows = steps.flat_map(|(step, from)| match writer {
        None => vec![(step, from)],
        Some(writer) => from
            .filter_map(|then| peak(writer.weighting.row(then)))
            .map(|(row, _)| (step, row..row + 1))
            .collect(),
    });
    rows.collect()
}

impl Common {
    /// True where row i of one is not row i of the other.
    pub fn is_unlike(&self) -> bool {
        self.unlike.is_some()
    }

    /// The reason for that.
    pub fn why_unlike(&self) -> Option<&'static str> {
        self.unlike.as_ref()?;
        let mut sources = self.sources.iter().flatten();
        let is_sparse = sources.any(|source| source.are_numbers);
        Some(if is_sparse {
            "The two show other memory rows, those that each reads or writes"
        } else {
            "The rows of one are source steps, those of the other memory rows"
        })
    }

    /// Looks at all of both.
    pub fn of(a: &Recording, b: &Recording) -> Self {
        let total = addressed(&a.trace).min(addressed(&b.trace));
        let [first, second] = [a, b].map(|r| r.trace.memory_columns.as_slice().iter());
        let weightings = (0..a.trace.heads.len()).map(|head| {
            // The one of the second episode with the same label.
            let other = head_named(&b.trace, &head_label(&a.trace, head));
            let (a, b) = (&a.trace.heads[head], other.map(|head| &b.trace.heads[head]));
            let columns = columns_of(a).filter(|column| column.is_weighting());
            let scales = columns.filter_map(|column| {
                let scale = difference(column.series(a)?, column.series(b?)?, total);
                Some((column.array, scale))
            });
            scales.collect()
        });
        let sources = [a, b].map(SourceSteps::of);
        let is_unlike = match &sources {
            [Some(a), Some(b)] => {
                let mut pairs = a.names.iter().zip(&b.names);
                let is_sparse = [a, b].map(|source| source.are_numbers);
                is_sparse[0] != is_sparse[1] || is_sparse[0] && pairs.any(|(a, b)| a != b)
            }
            [a, b] => a.is_some() != b.is_some(),
        };
        let unlike =
            is_unlike.then(|| [a, b].map(|one| Rows::of(touched(one), addressed(&one.trace))));
        let reads = sources.iter().flatten().any(|source| !source.are_numbers);
        let outputs = a.trace.output.width().min(b.trace.output.width());
        let steps = 0..a.trace.steps().max(b.trace.steps());
        Self {
            touched: Rows::of(touched_by(&[a, b], total, steps), total),
            all: Rows::all(total),
            memory: Scale::signed(first.chain(second)),
            memory_difference: memory_difference(a, b, total),
            weighting_differences: weightings.collect(),
            output: answer_scales(&[a, b]).map_or(Scale::Bits, |[values, _]| values),
            output_difference: difference(&a.trace.output, &b.trace.output, outputs),
            same_input: (0..a.trace.steps().min(b.trace.steps()))
                .all(|t| a.trace.input.row(t) == b.trace.input.row(t)),
            symbols: [a, b].map(StepSymbol::of_all),
            aligned: [a, b].map(|one| if reads { aligned(one) } else { Vec::new() }),
            sources,
            unlike,
        }
    }
}

/// The scale of the differences of the first values of all steps that both have.
fn difference(a: &Series<f32>, b: &Series<f32>, count: usize) -> Scale {
    let steps = 0..a.steps().min(b.steps());
    of_differences(steps.flat_map(|t| a.row(t).iter().zip(b.row(t)).take(count)))
}

/// Scale of the memory's differences. Column after column, so that memories of unlike heights can be compared.
fn memory_difference(a: &Recording, b: &Recording, total: usize) -> Scale {
    let (steps, own) = (a.trace.steps().min(b.trace.steps()), memory_columns(a));
    if own != memory_columns(b) || total == 0 {
        return Scale::Signed(1.0);
    }
    let rows = [a, b].map(|r| r.trace.memory_size()[0]);
    of_differences((0..=steps).flat_map(|t| {
        let columns = [a, b].map(|r| r.trace.memory_columns.row(t));
        let columns = columns[0].chunks(rows[0]).zip(columns[1].chunks(rows[1]));
        columns.flat_map(|(a, b)| a.iter().zip(b).take(total))
    }))
}

fn of_differences<'a>(pairs: impl Iterator<Item = (&'a f32, &'a f32)>) -> Scale {
    let sizes = pairs.map(|(a, b)| (b - a).abs());
    let finite = sizes.filter(|size| size.is_finite());
    Scale::Signed(numbers::round_up(finite.fold(0.0, f32::max)))
}

fn memory_columns(recording: &Recording) -> usize {
    let heads = &recording.trace.heads;
    heads.first().map_or(0, |head| head.key.width())
}

/// Two episodes, ready to be drawn.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    sides: [Named<'a>; 2],
    common: &'a Common,
    options: Options,
    /// The head, by its label.
    pub head: String,
    /// The weighting that is shown over time.
    pub weighting: &'static Column,
    /// The stages of the steps of both, and the progress of each in the current step.
    stages: [Cow<'a, Stages>; 2],
    come_to: [usize; 2],
    /// The steps of the time axis.
    pub steps: Range<usize>,
    /// Lines in small letters below the pictures of a file: the parts that are not compared.
    pub omitted: Vec<String>,
    /// The largest difference of every step.
    pub differences: &'a [f32],
    /// The tolerance, at which a line is drawn, and the first step beyond it, which is marked.
    pub limit: (f32, Option<usize>),
    /// True where the difference is shown, second minus first.
    pub with_difference: bool,
    with_words: bool,
}

impl<'a> Comparison<'a> {
    /// Both, with their difference, for the head of this label. Of the options the layout does not count.
    pub fn new(a: Named<'a>, b: Named<'a>, common: &'a Common, options: Options) -> Self {
        let stages = [a, b].map(|side| Stages::of(&side.recording.trace, options.writes_first));
        Self::of([a, b], common, options, stages.map(Cow::Owned))
    }

    /// [`Comparison::new`] with the known stages of both, and the current stage of the step; without one, the step is over.
    pub fn at(
        sides: [Named<'a>; 2],
        common: &'a Common,
        options: Options,
        stages: [&'a Stages; 2],
        moment: Option<StageRef>,
    ) -> Self {
        let come_to =
            |stages: &Stages| moment.map_or(usize::MAX, |moment| stages.matching_place(moment));
        Self {
            come_to: stages.map(come_to),
            ..Self::of(sides, common, options, stages.map(Cow::Borrowed))
        }
    }

    fn of(
        sides: [Named<'a>; 2],
        common: &'a Common,
        options: Options,
        stages: [Cow<'a, Stages>; 2],
    ) -> Self {
        let [a, _] = sides;
        let trace = &a.recording.trace;
        let write = || trace.heads.iter().position(HeadTrace::is_write);
        let first = options.heads.first().copied().or_else(write).unwrap_or(0);
        Self {
            head: head_label(trace, first),
            weighting: weighting_at(None, trace.heads.get(first)),
            stages,
            come_to: [usize::MAX; 2],
            steps: options.span(trace.steps()),
            sides,
            common,
            options,
            omitted: Vec::new(),
            differences: &[],
            limit: (0.0, None),
            with_difference: true,
            with_words: false,
        }
    }

    /// The pictures in a part of something else, at their places, with room for words above the memories.
    pub fn paint(mut self, on: &mut dyn Paint, area: Area) -> Vec<PlacedPanel<'a>> {
        self.with_words = true;
        layout::paint(&mut Surface::new(on, &self.page()), self.bands(), area)
    }

    /// The text below the pictures, in lines as wide as the page.
    fn omitted_lines(&self) -> Vec<String> {
        let width = self.options.size.map_or(WIDTH, |(width, _)| width);
        let style = Style::new(SMALL, self.page().colours.subdued);
        let broken = |line: &String| lines(line, &style, width - 2.0 * MARGIN);
        self.omitted.iter().flat_map(broken).collect()
    }

    fn page(&self) -> Page {
        self.options.page(self.steps.start)
    }

    fn sides(&self) -> impl Iterator<Item = usize> + use<> {
        0..if self.with_difference { 3 } else { 2 }
    }

    fn bands(&self) -> Vec<Band<'a>> {
        let mut strips: Vec<Panel<'a>> = self.lane().into_iter().collect();
        if self.with_difference && !self.common.same_input {
            strips.push(self.inputs());
        }
        strips.extend(self.sides().map(|side| self.outputs(side)));
        let heads = self.common.all.total() > 0;
        let mut stacks = vec![(OVER_TIME, strips)];
        if heads || self.with_words {
            stacks.push((1.0 - OVER_TIME, Vec::new()));
        }
        let mut bands = vec![Band {
            stacks,
            axis: !heads,
        }];
        if heads {
            let last = if self.common.is_unlike() {
                Some(1)
            } else {
                self.sides().last()
            };
            // Rows that mean other things have no difference.
            let sides = self
                .sides()
                .filter(|side| *side < 2 || !self.common.is_unlike());
            bands.extend(sides.map(|side| Band {
                stacks: vec![
                    (OVER_TIME, vec![self.weighting(side)]),
                    (1.0 - OVER_TIME, vec![self.memory(side)]),
                ],
                axis: Some(side) == last,
            }));
        }
        let stacks = bands.iter_mut().flat_map(|band| &mut band.stacks);
        for panel in stacks.flat_map(|(_, stack)| stack) {
            if matches!(panel.across, Across::Steps(_)) {
                panel.done = self.steps_done(panel.id);
            }
        }
        bands
    }

    fn trace(&self, side: usize) -> &'a Trace {
        &self.sides[side].recording.trace
    }

    fn steps_done(&self, id: PanelId) -> usize {
        let side = id.side.unwrap_or(0).min(1);
        let now = Moment {
            recording: self.sides[side].recording,
            stages: &self.stages[side],
            step: self.options.step.unwrap_or(self.steps.end),
            place: self.come_to[side],
            through: self.options.through,
        };
        steps_done(id, &now)
    }

    fn lane(&self) -> Option<Panel<'a>> {
        if self.differences.is_empty() || self.common.is_unlike() {
            return None;
        }
        let first = self.steps.start;
        let (id, differences) = (PanelId::new(Picture::Differences), self.differences);
        let value = move |t: usize, _| differences.get(first + t).copied().unwrap_or(0.0);
        let (limit, marked) = self.limit;
        let marked = marked.filter(|step| self.steps.contains(step));
        let marked = marked.map(|step| step - first);
        let decades = Decades {
            values: Cells::new([self.steps.len(), 1], Scale::Signed(1.0), value),
            limit,
            marked,
        };
        Some(Panel {
            title: "Largest difference".to_owned(),
            whose: "Largest difference".to_owned(),
            note: "per step, all arrays (log scale)".to_owned(),
            across: Across::Steps(self.steps.len()),
            down: Down::all("difference", 1),
            natural: 54.0,
            ..Panel::new(id, Content::Decades(decades))
        })
    }

    /// Returns the difference of the inputs, second minus first, if they differ.
    fn inputs(&self) -> Panel<'a> {
        let inputs = [0, 1].map(|side| &self.trace(side).input);
        let channels = inputs[0].width();
        let scale = difference(inputs[0], inputs[1], channels);
        let cells = self.over_time(2, channels, scale, inputs.map(Some));
        let (id, shape) = (PanelId::new(Picture::Input).on(2), strip(channels));
        Self::picture(id, ("inputs", String::new()), |_| None, cells, shape)
    }

    fn outputs(&self, side: usize) -> Panel<'a> {
        let outputs = [0, 1].map(|side| &self.trace(side).output);
        let channels = outputs[0].width();
        let own = self.common.output;
        let scale = [own, own, self.common.output_difference][side];
        let mut cells = self.over_time(side, channels, scale, outputs.map(Some));
        if let Some(of) = self.sides.get(side) {
            let (recording, steps) = (of.recording, self.steps.clone());
            cells.outlined = Some(Box::new(move |width| {
                let mut wrong = wrong_bits(recording, steps.clone(), width);
                wrong.iter_mut().for_each(|(t, _)| *t -= steps.start);
                wrong
            }));
        }
        let lacks = |side| self.lacks(side, Place::Machine, array::OUTPUT);
        let (id, shape) = (PanelId::new(Picture::Output).on(side), strip(channels));
        Self::picture(id, ("outputs", self.name_of(side)), lacks, cells, shape)
    }

    fn weighting(&self, side: usize) -> Panel<'a> {
        let heads = [0, 1].map(|side| head_named(self.trace(side), &self.head));
        let series = [0, 1].map(|side| {
            let head = &self.trace(side).heads[heads[side]?];
            // Machines of different kinds have only the final weighting in common.
            let is_unlike = self.common.is_unlike();
            is_unlike
                .then_some(&head.weighting)
                .or_else(|| self.weighting.series(head))
        });
        let difference = heads[0].and_then(|head| self.common.weighting_differences.get(head));
        let is_it = |(array, _): &&(Array, Scale)| *array == self.weighting.array;
        let difference = difference.and_then(|all| all.iter().find(is_it));
        let difference = difference.map_or(Scale::Signed(1.0), |(_, scale)| *scale);
        let own = Scale::weighting(self.options.log_scale);
        let own = [0, 1].map(|side| {
            let name = |head| HeadName::of(self.trace(side), head);
            heads[side].map_or(own, |head| own.of_head(name(head)))
        });
        let scale = [own[0], own[1], difference][side];
        let rows = self.down(side).rows.total();
        let mut cells = self.over_time(side, rows, scale, series);
        cells.version = (self.weighting.place(), 0);
        let aligned = self.common.aligned.get(side).into_iter().flatten();
        let aligned = aligned.filter(|(step, _)| self.steps.contains(step));
        let aligned = aligned.map(|(step, rows)| (step - self.steps.start, rows.clone()));
        cells.aligned = aligned.collect();
        let symbol = if self.common.is_unlike() {
            "w"
        } else {
            self.weighting.symbol
        };
        let what = format!("{symbol} of {}", self.head);
        let lacks = |side: usize| match heads[side] {
            None => Some(format!("{} has no {}", SIDES[side], self.head)),
            Some(head) => self.lacks(side, Place::Head(head), self.weighting.array),
        };
        let id = PanelId {
            of: heads[0],
            ..PanelId::new(Picture::Weightings).on(side)
        };
        let truth = match &self.common.sources.get(side) {
            _ if cells.aligned.is_empty() => "",
            Some(None) => "outlined: rows written in the true source steps",
            _ => TRUTH,
        };
        let apart = if truth.is_empty() { "" } else { "; " };
        let note = self.name_of(side) + apart + truth;
        let panel = Self::picture(id, (&what, note), lacks, cells, (self.down(side), 120.0));
        let symbols = self.common.symbols.get(side);
        Panel {
            symbols: symbols
                .and_then(|all| all.get(self.steps.clone()))
                .unwrap_or_default(),
            ..panel
        }
    }

    /// Returns an array of one of the two over time, or their difference, up to the shorter length.
    fn over_time(
        &self,
        side: usize,
        rows: usize,
        scale: Scale,
        series: [Option<&'a Series<f32>>; 2],
    ) -> Cells<'a> {
        let value = move |side: usize, t: usize, row: usize| {
            let series = series[side].filter(|of| t < of.steps() && row < of.width());
            series.map_or(0.0, |series| series.row(t)[row])
        };
        let (first, steps) = (self.steps.start, self.steps.len());
        let mut cells = Cells::new([steps, rows], scale, move |t, row| match side {
            0 | 1 => value(side, first + t, row),
            _ => value(1, first + t, row) - value(0, first + t, row),
        });
        let [a, b] = series.map(|series| series.map_or(0, Series::steps));
        let end = [a, b, a.min(b)][side];
        cells.skipped = self.steps.clone().map(|t| t >= end).collect();
        cells
    }

    fn memory(&self, side: usize) -> Panel<'a> {
        let widths = self.sides.map(|side| memory_columns(side.recording));
        let columns = [widths[0], widths[1], widths[0]][side];
        let step = self.options.step_within(&self.steps);
        let memories = [0, 1].map(|side| {
            let (trace, stages) = (self.trace(side), &self.stages[side]);
            let at = || MemoryAt::new(trace, stages, step, self.come_to[side]);
            (step < trace.steps()).then(at)
        });
        let own = memories[side % 2].as_ref();
        let when = own.map_or_else(String::new, MemoryAt::name);
        let [one, other] = memories.map(|memory| memory.map_or(0, |memory| memory.version()));
        let value = move |side: usize, column, row| match &memories[side] {
            Some(memory) if column < memory.columns() => memory.value(row, column),
            _ => 0.0,
        };
        let common = self.common;
        let scale = [common.memory, common.memory, common.memory_difference][side];
        let value = move |column, row| match side {
            0 | 1 => value(side, column, row),
            _ => value(1, column, row) - value(0, column, row),
        };
        let down = self.down(side);
        let mut cells = Cells::new([columns, down.rows.total()], scale, value);
        cells.version = (one, other);
        let lacks = |of: usize| match widths {
            [a, b] if side == 2 && a != b => Some(format!("{a} and {b} columns")),
            _ if step >= self.trace(of).steps() => Some(format!("{} has ended", SIDES[of])),
            _ => self.lacks(of, Place::Machine, array::MEMORY),
        };
        let id = PanelId::new(Picture::Memory).on(side);
        Self::picture(id, ("memory", when), lacks, cells, (down, 120.0))
    }

    fn name_of(&self, side: usize) -> String {
        let side = self.sides.get(side);
        side.map_or_else(String::new, |side| side.name.to_owned())
    }

    /// Returns a picture of one side, or of the difference; empty where a side lacks the quantity.
    fn picture(
        id: PanelId,
        (what, note): (&str, String),
        lacks: impl Fn(usize) -> Option<String>,
        mut cells: Cells<'a>,
        (down, natural): (Down<'a>, f32),
    ) -> Panel<'a> {
        let side = id.side.unwrap_or(0);
        let lacks = match side {
            0 | 1 => lacks(side),
            _ => lacks(0).or_else(|| lacks(1)),
        };
        if lacks.is_some() {
            cells.skipped = vec![true; cells.columns];
        }
        Panel {
            title: format!("{}: {what}", SIDES[side]),
            whose: what.to_owned(),
            note: lacks.unwrap_or(note),
            across: match id.picture {
                Picture::Memory => Across::Columns(cells.columns),
                _ => Across::Steps(cells.columns),
            },
            down,
            natural,
            ..Panel::new(id, Content::Cells(cells))
        }
    }

    /// Why there is nothing of this array on one side, if there is not.
    fn lacks(&self, side: usize, place: Place, array: Array) -> Option<String> {
        let recording = self.sides[side].recording;
        let is_known = recording.knows(&recording.trace.array_name(place, array));
        (!is_known).then(|| format!("not recorded in {}", SIDES[side]))
    }

    fn down(&self, side: usize) -> Down<'a> {
        let Common { touched, all, .. } = self.common;
        let unlike = self.common.unlike.as_ref().and_then(|own| own.get(side));
        let source = self.common.sources[side % 2].as_ref();
        let both = if self.options.all_rows { all } else { touched };
        Down {
            label: "row",
            rows: Cow::Borrowed(unlike.unwrap_or(both)),
            upwards: false,
            names: source.map_or(&[], |source| &source.names),
        }
    }
}

impl Pages for Comparison<'_> {
    fn scene(&self) -> Scene<'_> {
        let title = format!("A: {}; B: {}", self.sides[0].name, self.sides[1].name);
        let (omitted, page) = (self.omitted_lines(), self.page());
        let more = omitted.len() as f32 * LINE;
        let size = self.options.size;
        let size = size.map(|(width, height)| (width, height - more));
        let (mut drawing, places) = layout::scene(self.bands(), size, WIDTH, title, &page);
        for line in omitted {
            let at = [MARGIN, drawing.height];
            drawing.text(line, at, Style::new(SMALL, page.colours.subdued));
            drawing.height += LINE;
        }
        (drawing, places)
    }

    fn show(&self, View { at, dark, .. }: &View, seen: &mut dyn FnMut(Scene<'_>)) {
        let mut figure = self.clone();
        figure.options.step = Some(at.step);
        figure.options.dark = dark.unwrap_or(figure.options.dark);
        seen(figure.scene());
    }

    /// Two machines may have unlike stages: whole steps.
    fn frame_times(&self, _: Walk) -> Vec<FrameTime> {
        let steps = self.steps.clone();
        steps.map(|step| FrameTime::new(step, None)).collect()
    }

    fn least_size(&self) -> (f32, f32) {
        let (width, height) = least_size(&self.bands());
        (width, height + self.omitted_lines().len() as f32 * LINE)
    }
}

/// The shape of channels over time: not as high as there are many, or a low one would keep all others from giving way
/// in a small window.
fn strip(channels: usize) -> (Down<'static>, f32) {
    (Down::all("channel", channels), 48.0)
}

/// Returns the horizontal ranges of the pictures over time and of one step, on a page of this width.
pub fn page_columns(width: f32) -> [(f32, f32); 2] {
    let free = width - 2.0 * MARGIN + BETWEEN;
    let middle = MARGIN + free * OVER_TIME;
    let end = MARGIN + free - BETWEEN;
    [(MARGIN + LEFT, middle - BETWEEN), (middle + LEFT, end)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Drawing;
    use crate::figure::{Layout, Mark};
    use crate::model::{Model, NtmConfig};
    use crate::task::{Copy, Task};

    fn recording(length: usize, rows: usize, heads: usize) -> Recording {
        let task = Task::Copy(Copy {
            bits: 3,
            length: length..=length,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.controller.size) = (rows, 4, 5);
        (config.read_heads, config.write_heads) = (heads, heads);
        Recording::new(&Model::new(config, length as u64), &task, 1, 0)
    }

    fn places<'a>(common: &'a Common, a: &'a Recording, b: &'a Recording) -> Vec<PlacedPanel<'a>> {
        let named = |recording, name| Named { recording, name };
        let options = Options {
            size: Some((900.0, 700.0)),
            step: Some(1),
            ..Options::new(Layout::Debug)
        };
        let steps = &[0.0, 1e-12, f32::INFINITY, 20.0];
        let figure = Comparison::new(named(a, "one"), named(b, "other"), common, options);
        let figure = Comparison {
            differences: steps,
            limit: (1e-6, Some(2)),
            ..figure
        };
        let mut page = Drawing::new(900.0, 700.0, [0; 3], String::new());
        figure.paint(&mut page, Area::new(0.0, 0.0, 900.0, 700.0))
    }

    #[test]
    fn the_difference_is_what_b_has_more() {
        let (a, b) = (recording(4, 9, 1), recording(3, 7, 1));
        let common = Common::of(&a, &b);
        let places = places(&common, &a, &b);
        let place = |name: &str| {
            let place = places.iter().find(|place| place.panel.name == name);
            place.unwrap().cells().unwrap()
        };
        let heads = [&a, &b].map(|r| &r.trace.heads[1].weighting);
        for (t, row) in [(0, 0), (3, 6), (6, 2)] {
            let [ours, theirs] = heads.map(|w| w.row(t)[row]);
            assert_eq!(place("A: w of W0").value(t, row), Some(ours));
            assert_eq!(place("B: w of W0").value(t, row), Some(theirs));
            let more = place("B − A: w of W0").value(t, row);
            assert_eq!(more, Some(theirs - ours));
        }
        let memories = [&a, &b].map(|r| r.trace.memory(2)[[5, 3]]);
        let more = place("B − A: memory").value(3, 5);
        assert_eq!(more, Some(memories[1] - memories[0]));
        // B has ended; no row is common beyond its last.
        assert!(place("A: outputs").value(8, 0).is_some());
        for name in ["B: outputs", "B − A: outputs", "B: w of W0"] {
            assert_eq!(place(name).value(8, 0), None, "{name}");
        }
        assert_eq!(place("A: w of W0").value(0, 7), None);
        assert_eq!(place("Largest difference").value(3, 0), Some(20.0));
    }

    #[test]
    fn a_memory_changes_when_that_of_either_side_does() {
        let (mut a, b) = (recording(2, 9, 1), recording(2, 9, 1));
        a.trace.heads.retain(|head| !head.is_write());
        let common = Common::of(&a, &b);
        let at = |place: usize| {
            let options = Options {
                step: Some(1),
                ..Options::new(Layout::Debug)
            };
            let stages = [&a, &b].map(|of| Stages::of(&of.trace, false));
            let moment = Some(stages[1].at(place));
            let named = |recording, name| Named { recording, name };
            let sides = [named(&a, "one"), named(&b, "other")];
            let figure = Comparison::at(sides, &common, options, stages.each_ref(), moment);
            let Content::Cells(cells) = figure.memory(1).content else {
                return None;
            };
            Some((cells.version, cells.value(0, 0).map(f32::to_bits)))
        };
        // B erases, and then adds; A has nothing that does.
        let [read, erase, add] = [5, 6, 7].map(|place| at(place).unwrap());
        for (one, other) in [(read, erase), (erase, add)] {
            assert!(one.0 != other.0 && one.1 != other.1, "{one:?} {other:?}");
        }
    }

    #[test]
    fn pictures_stand_in_two_columns() {
        let (a, b) = (recording(2, 9, 2), recording(2, 9, 2));
        let common = Common::of(&a, &b);
        let places = places(&common, &a, &b);
        assert_eq!(places.len(), 10);
        let [time, memory] = page_columns(900.0);
        for place in places {
            let (left, right) = match place.panel.id.picture {
                Picture::Memory => memory,
                _ => time,
            };
            let area = place.area;
            assert!((area.left - left).abs() < 0.01 && (area.right - right).abs() < 0.01);
        }
    }

    #[test]
    fn everything_fits_the_smallest_window() {
        let (a, b) = (recording(4, 9, 1), recording(3, 9, 1));
        let common = Common::of(&a, &b);
        assert!(!common.same_input);
        let named = |recording, name| Named { recording, name };
        let options = Options::new(Layout::Debug);
        let figure = Comparison::new(named(&a, "one"), named(&b, "other"), &common, options);
        let (width, height) = Comparison {
            differences: &[0.0],
            ..figure
        }
        .least_size();
        // The centre of a window of 960 by 600.
        assert!(width <= 768.0 && height <= 458.0, "{width} x {height}");
    }

    #[test]
    fn figure_in_a_file_names_the_parts_that_are_not_compared() {
        let (a, none) = (recording(2, 9, 2), recording(2, 9, 0));
        let common = Common::of(&a, &none);
        let [one, two] =
            [(&a, "one"), (&none, "other")].map(|(recording, name)| Named { recording, name });
        let figure = Comparison::new(one, two, &common, Options::new(Layout::Debug));
        let omitted = vec!["Not compared: read0 (14 arrays), write1 (16 arrays).".to_owned()];
        let (without, mut with) = (figure.clone(), figure);
        with.omitted = omitted;
        let texts = |drawing: &Drawing| {
            let texts = drawing.marks.iter().filter_map(|mark| match mark {
                Mark::Text(text) => Some((text.text.clone(), text.at[1])),
                _ => None,
            });
            texts.collect::<Vec<_>>()
        };
        let drawing = with.draw();
        let all = texts(&drawing);
        let (_, y) = all
            .iter()
            .find(|(text, _)| text.starts_with("Not compared: read0 ("))
            .unwrap();
        assert!(*y > without.draw().height - 1.0 && *y + SMALL < drawing.height);
        assert!(
            texts(&without.draw())
                .iter()
                .all(|(text, _)| !text.contains("compared"))
        );
        assert!(with.least_size().1 > without.least_size().1);
    }

    #[test]
    fn missing_arrays_are_reported() {
        let (mut a, b) = (recording(2, 9, 2), recording(2, 9, 1));
        a.absent = vec!["memory".to_owned()];
        let note = |name: &str, places: &[PlacedPanel<'_>]| {
            let place = places.iter().find(|place| place.panel.name == name);
            place.unwrap().panel.note.clone()
        };
        let common = Common::of(&a, &b);
        let both = places(&common, &a, &b);
        assert_eq!(note("A: memory", &both), "not recorded in A");
        assert_eq!(note("B − A: memory", &both), "not recorded in A");
        assert_eq!(note("B: memory", &both), "M of step 1");
        let none = recording(2, 9, 0);
        let common = Common::of(&a, &none);
        let without = places(&common, &a, &none);
        assert_eq!(without.len(), 4);
    }
}
