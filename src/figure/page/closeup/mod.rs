//! The close-up: one head, or two side by side, at a few rows of the memory, large enough to be read from afar.
//!
//! From left to right as it happens: what comes in, where the head looks and how it gets there, the memory on the same
//! rows with the vectors that touch it, what comes out. Above it one sentence says what happens now, below it runs the
//! whole episode. The rows follow the head by themselves. While a stage is on its way all of this moves as [`motion`]
//! says.
//!
//! [`motion`]: crate::figure::scene::motion

mod alignment;
mod columns;
mod flows;
mod head;
mod input_output;
mod memory;
mod plan;
mod statements;
mod strip;
mod top;
mod units;
mod view;

use std::ops::Deref;

use crate::figure::facts::moment::Moment;
use crate::figure::page::debug::legends;
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::scene::fonts::width_of;
use crate::figure::scene::paint::{Draw, Page, Surface};
use crate::figure::scene::panel::{PlacedPanel, legend};
use crate::figure::{Area, HeadName, Ink, Rgb, Scale, Style};
use crate::model::HeadTrace;
use plan::{PaneArea, Plan};

/// The smallest page, in points.
pub(crate) const LEAST: (f32, f32) = plan::LEAST;
/// Width of a colour scale with its two numbers.
const LEGEND: f32 = 98.0;
/// Width from which cells have a gap between them.
const APART: f32 = 7.0;

/// A close-up at a moment.
struct CloseUp<'a, 'p> {
    seen: Catalogue<'a>,
    now: Moment<'a>,
    page: &'p Page,
    plan: Plan,
    /// Remaining share of the last step's result while it fades out; 1 for the step itself.
    fade: f32,
}

/// Paints the close-up of one or two heads in a part of another picture; returns the parts that can be hovered.
pub(crate) fn paint<'a>(
    on: &mut Surface<'_>,
    seen: Catalogue<'a>,
    heads: &[usize],
    area: Area,
) -> Vec<PlacedPanel<'a>> {
    let trace = seen.now.trace();
    if trace.steps() == 0 {
        return Vec::new();
    }
    // A head without a weighting looks at no row.
    let has_rows = |head: &usize| {
        let head = trace.heads.get(*head);
        head.is_some_and(|head| head.weighting.width() > 0)
    };
    let heads: Vec<_> = heads.iter().copied().filter(has_rows).collect();
    let close = CloseUp {
        plan: Plan::new(area, trace, &heads),
        now: seen.now,
        seen,
        page: on.page,
        fade: 1.0,
    };
    let mut places = Vec::new();
    close.episode(on, &mut places);
    close.ends(on, &mut places);
    if trace.is_file() {
        close.statements(on, &mut places);
    } else if close.plan.panes.is_empty() {
        close.units(on, &mut places);
    }
    for pane in &close.plan.panes {
        close.pane(on, pane, &mut places);
    }
    close.legend(on);
    close.top(on, &mut places);
    places
}

/// A pane with the head that it is of.
struct Pane<'a, 'c> {
    close: &'c CloseUp<'a, 'c>,
    area: &'c PaneArea,
    head: &'a HeadTrace,
    hue: Rgb,
    view: view::View,
}

impl<'a, 'c> Deref for Pane<'a, 'c> {
    type Target = CloseUp<'a, 'c>;

    fn deref(&self) -> &Self::Target {
        self.close
    }
}

impl<'a> CloseUp<'a, '_> {
    /// Returns the end of the previous step, as long as it is visible while the next input enters.
    fn past(&self) -> Option<Self> {
        let fade = 1.0 - self.now.gone();
        let now = Moment {
            step: self.now.step.checked_sub(1)?,
            place: self.now.stages.len() - 1,
            through: 1.0,
            ..self.now
        };
        (fade > 0.0 && self.now.glide().is_none()).then(|| Self {
            seen: Catalogue { now, ..self.seen },
            now,
            page: self.page,
            plan: self.plan.clone(),
            fade,
        })
    }

    /// Pixels, as large as the page allows.
    fn size(&self, of: f32) -> f32 {
        of * self.plan.scale
    }

    /// Letters of this size on a page of the usual size, never too small to be read.
    fn letters(&self, size: f32, ink: impl Into<Ink>) -> Style {
        Style::new((size * self.plan.scale).max(self.plan.letters), ink)
    }

    /// Words over a part of the rows: in this ink, as long as there is room for.
    fn heading(&self, on: &mut Surface<'_>, words: &[&str], area: Area, (ink, room): (Rgb, f32)) {
        let y = self.plan.rows().top - self.size(49.0).max(34.0);
        let style = self.letters(13.5, ink).bold().middle();
        fitting(on, words, ([area.middle(), y], style, room));
    }

    /// The outline of a part: in this colour, a little thicker, while something happens there.
    fn outline(&self, on: &mut Surface<'_>, area: Area, now: Option<Rgb>) {
        match now {
            Some(ink) => edge(on, area, ink.into(), 1.6),
            None => on.frame(area, self.page.colours.line),
        }
    }

    /// Cells side by side in a row; each has a value and an opacity.
    fn cells(
        &self,
        on: &mut Surface<'_>,
        area: Area,
        columns: usize,
        scale: Scale,
        value: impl Fn(usize) -> (f32, f32),
    ) {
        // Never finer than can be seen.
        let shown = columns.min((area.width() / 2.0) as usize).max(1);
        let width = area.width() / shown as f32;
        let apart = if width >= APART { 0.5 } else { 0.0 };
        for index in 0..shown {
            let (value, seen) = value(index * columns / shown);
            if seen > 0.0 {
                let left = area.left + index as f32 * width;
                let cell = area.across(left, left + width).inset(apart, apart);
                let ink = self.page.colours.of(scale, value);
                on.rect(cell, Ink::from(ink).faded(seen));
            }
        }
    }

    /// Draws the colour scales that fit below the columns.
    fn legend(&self, on: &mut Surface<'_>) {
        if self.now.trace().is_file() {
            return self.statement_legend(on);
        }
        let (plan, pane) = (&self.plan, self.plan.panes.first());
        let layer = None;
        let seen = Catalogue { layer, ..self.seen };
        let mut entries = match pane {
            // The lengths of bars mean weights.
            Some(_) => {
                let entries = legends::entries(&seen).into_iter().skip(1);
                entries.map(|(name, scales)| (name, scales[0])).collect()
            }
            None => vec![
                ("hidden", Scale::Signed(1.0)),
                ("bit", self.seen.shades[0]),
                ("cell", self.seen.facts.scales.state),
            ],
        };
        // Where one has room alone it is that of the memory.
        entries.rotate_left(1);
        let style = self.letters(10.0, self.page.colours.subdued);
        let start = plan.top.left;
        let end = pane.map_or(plan.middle.right, |pane| pane.columns.right);
        let (mut right, mut y) = (start, plan.rows().bottom + self.size(14.0).max(9.0));
        let line = self.size(14.5).clamp(12.0, 14.0);
        let last = plan.episode.top - 0.5 * style.size;
        let mut next = |width: f32| {
            if right > start && right + width > end {
                (right, y) = (start, y + line);
            }
            let left = right;
            right += width + 16.0;
            (left + width <= end && y <= last).then_some([left, y])
        };
        let [links, usage] = pane.map_or([None; 2], |pane| pane.links_and_usage);
        let writes = pane.is_some() && !self.seen.facts.first_write_steps.is_empty();
        let head = pane.and_then(|pane| self.now.trace().heads.get(pane.head));
        let gates = head.is_some_and(|head| head.gated.width() > 0);
        let words = [
            (links.is_some(), "arrow: written next, link 0.1 or more"),
            (usage.is_some(), "grey: usage; number: order of allocation"),
            (writes, "faint bar: no write of 5 % yet"),
            (gates, "light bar: of the step before"),
        ];
        let mut all: Vec<_> = entries
            .into_iter()
            .map(|(name, of)| (name, Some(of)))
            .collect();
        // After the memory comes what stands beside it.
        let words = words.into_iter().filter(|(is_there, _)| *is_there);
        let place = if links.or(usage).is_some() {
            1
        } else {
            all.len()
        };
        all.splice(place..place, words.map(|(_, words)| (words, None)));
        for (name, scale) in all {
            let width = width_of(name, &style) + if scale.is_some() { LEGEND } else { 0.0 };
            if let Some([left, y]) = next(width) {
                let end = scale.map(|scale| legend(on, [left + width, y], 36.0, scale));
                on.text(name, [end.unwrap_or(left + width), y], style.end());
            }
        }
    }

    fn pane(&self, on: &mut Surface<'_>, pane: &PaneArea, places: &mut Vec<PlacedPanel<'a>>) {
        let Some(head) = self.now.trace().heads.get(pane.head) else {
            return;
        };
        let name = HeadName::of(self.now.trace(), pane.head);
        let of = Pane {
            close: self,
            area: pane,
            head,
            hue: self.page.colours.head(name),
            view: view::View::new(&self.seen, head, pane),
        };
        of.source(on, places);
        of.columns(on, places);
        of.memory(on, places);
        of.row_labels(on, places);
        of.travelling(on);
    }
}

/// A line round something.
fn edge(on: &mut Surface<'_>, area: Area, ink: Ink, width: f32) {
    on.line(&area.inset(-0.5 * width, 0.5 * width).corners(), ink, width);
}

/// A text, if it fits; of several the first that does.
fn fitting(on: &mut Surface<'_>, texts: &[&str], (at, style, room): ([f32; 2], Style, f32)) {
    let mut texts = texts.iter();
    if let Some(text) = texts.find(|text| width_of(text, &style) <= room) {
        on.text(*text, at, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::facts::family::column;
    use crate::figure::facts::stage::Stage;
    use crate::figure::facts::stages::Stages;
    use crate::figure::fixture::recording;
    use crate::figure::scene::fonts::text_width;
    use crate::figure::{Figure, Layout, Mark, Options, Pages, Picture, Slot, Text, head_label};
    use crate::model::dnc::USAGE;
    use crate::model::{DncConfig, EquationsConfig, HeadTrace, Model, NtmConfig, peak};
    use crate::task::{Caption, Task, Transduce};
    use crate::train::Recording;

    /// Machines with heads of every mechanism, with more rows than have room, and without heads.
    fn machines() -> Vec<Recording> {
        let usual = recording();
        let mut config = NtmConfig::with_every_mechanism();
        (config.inputs, config.outputs) = (usual.task.inputs(), usual.task.outputs());
        (config.rows, config.columns, config.controller.size) = (40, 5, 4);
        let every = Recording::new(&Model::new(config, 5), &usual.task, 7, 0);
        let mut without = usual.clone();
        without.trace.heads.clear();
        vec![usual, every, without]
    }

    #[test]
    fn words_over_columns_stand_apart() {
        let task = Task::Transduce(Transduce::DEFAULT);
        let machine = DncConfig::new(task.inputs(), task.outputs());
        let recording = Recording::new(&Model::new(machine, 1), &task, 1, 0);
        let options = Options {
            heads: vec![0, recording.trace.heads.len() - 1],
            ..options((960.0, 600.0), 3, None, 1.0)
        };
        let figure = Figure::new(&recording, options);
        let (drawing, places) = figure.scene();
        let is_word = |text: &str| {
            let begins = |word: &str| word.starts_with(text.trim_end_matches('.'));
            (0..).map_while(column).any(|column| begins(column.word))
        };
        let is_column = |place: &&PlacedPanel<'_>| place.panel.id.picture == Picture::Stages;
        let mut words: Vec<_> = Vec::new();
        for mark in &drawing.marks {
            let Mark::Text(Text { text, at, style }) = mark else {
                continue;
            };
            let mut columns = places.iter().filter(is_column).map(|place| place.area);
            if columns.any(|area| (area.middle() - at[0]).abs() < 0.1 && at[1] < area.top)
                && is_word(text)
                && text.len() > 2
            {
                let half = 0.5 * text_width(text, style.size);
                words.push([at[0] - half, at[0] + half]);
            }
        }
        words.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert!(words.len() >= 10, "{words:?}");
        let apart = words.windows(2).map(|pair| pair[1][0] - pair[0][1]);
        assert!(apart.fold(f32::MAX, f32::min) >= 5.0, "{words:?}");
    }

    #[test]
    fn source_stands_beside_the_columns_and_stays_on_the_page() {
        let tasks = [
            (Task::Transduce(Transduce::DEFAULT), Picture::Weightings),
            (Task::Caption(Caption::DEFAULT), Picture::Patches),
        ];
        for (task, picture) in tasks {
            let machine =
                EquationsConfig::included("bahdanau", [task.inputs(), task.outputs()], &[]);
            let recording = Recording::new(&Model::new(machine.unwrap(), 1), &task, 1, 0);
            let last = recording.trace.steps() - 1;
            for (step, size) in [1, last].into_iter().flat_map(|step| {
                let sizes = [(1200.0, 630.0), LEAST, (390.0, 740.0), (844.0, 294.0)];
                sizes.map(|size| (step, size))
            }) {
                let figure = Figure::new(&recording, options(size, step, None, 1.0));
                let (drawing, places) = figure.scene();
                let there = places
                    .iter()
                    .filter(|place| place.panel.id.picture == picture);
                let there: Vec<_> = there.collect();
                assert!(
                    there.len() == 1 || size.0 < 1200.0,
                    "{picture:?} at {size:?}"
                );
                for place in &places {
                    let area = place.area;
                    let inside = area.left >= 0.0 && area.right <= size.0;
                    let inside = inside && area.top >= 0.0 && area.bottom <= size.1;
                    assert!(inside, "{} at {area:?} of {size:?}", place.panel.name);
                    let other = there.iter().any(|source| {
                        let is_it = source.slot() == place.slot();
                        !is_it
                            && area.left < source.area.right - 1.0
                            && area.right > source.area.left + 1.0
                            && area.top < source.area.bottom - 1.0
                            && area.bottom > source.area.top + 1.0
                    });
                    assert!(!other, "{} lies on the source, {size:?}", place.panel.name);
                }
                assert!(!drawing.to_svg().contains("NaN"));
            }
        }
    }

    fn options(size: (f32, f32), step: usize, stage: Option<usize>, through: f32) -> Options {
        Options {
            size: Some(size),
            step: Some(step),
            stage,
            through,
            all_rows: true,
            ..Options::new(Layout::CloseUp)
        }
    }

    #[test]
    fn labels_of_very_many_heads_stand_apart_and_on_the_page() {
        let task = Task::Copy(crate::task::Copy {
            bits: 4,
            length: 5..=5,
        });
        let channels = [task.inputs(), task.outputs()];
        let sizes = [("layers", "9"), ("read", "12"), ("depth", "2")];
        let machine = EquationsConfig::included("multi_head_layers", channels, &sizes).unwrap();
        let recording = Recording::new(&Model::new(machine, 5), &task, 7, 0);
        assert_eq!(recording.trace.heads.len(), 108);
        for (layout, size) in [Layout::CloseUp, Layout::Debug]
            .into_iter()
            .flat_map(|layout| [(1440.0, 900.0), (960.0, 600.0)].map(|size| (layout.clone(), size)))
        {
            let options = Options {
                layout: layout.clone(),
                ..options(size, 6, None, 1.0)
            };
            let drawing = Figure::new(&recording, options).draw();
            let labels = drawing.marks.iter().filter_map(|mark| match mark {
                Mark::Text(Text { text, at, style }) if is_label(text) => {
                    let half = 0.5 * text_width(text, style.size);
                    Some((text, [at[0] - half, at[0] + half], at[1]))
                }
                _ => None,
            });
            let labels: Vec<_> = labels.collect();
            assert!(labels.len() > 8, "{layout:?}");
            for (index, (text, [left, right], y)) in labels.iter().enumerate() {
                assert!((0.0..size.1).contains(y), "{text} at {y} of {size:?}");
                let near = labels[..index].iter().find(|(_, [from, to], other)| {
                    (y - other).abs() < 8.0 && *left < *to && *from < *right
                });
                assert_eq!(near, None, "{text} at {y}, {layout:?}, {size:?}");
            }
        }
    }

    /// `R12`, the label of a head.
    fn is_label(text: &str) -> bool {
        let digits = text.strip_prefix('R').unwrap_or_default();
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
    }

    #[test]
    fn statements_of_a_file_have_their_cards_and_lines() {
        let task = Task::Copy(crate::task::Copy {
            bits: 4,
            length: 3..=3,
        });
        for name in ["titans", "mlstm", "hopfield", "gated_delta", "fast_weights"] {
            let channels = [task.inputs(), task.outputs()];
            let machine = EquationsConfig::included(name, channels, &[]).unwrap();
            let recording = Recording::new(&Model::new(machine, 5), &task, 7, 0);
            let stages = Stages::of(&recording.trace, false);
            assert!(stages.len() > 6, "{name}");
            let sizes = [(1200.0, 630.0), (960.0, 600.0), LEAST, (390.0, 740.0)];
            for (size, stage) in sizes.into_iter().flat_map(|size| {
                let stages = (0..stages.len()).map(Some).chain([None]);
                stages.map(move |stage| (size, stage))
            }) {
                let figure = Figure::new(&recording, options(size, 4, stage, 1.0));
                let (drawing, places) = figure.scene();
                let is_card =
                    |place: &&PlacedPanel<'_>| place.panel.id.picture == Picture::Quantities;
                let cards: Vec<_> = places
                    .iter()
                    .filter(is_card)
                    .map(|place| place.area)
                    .collect();
                assert!(!cards.is_empty(), "{name}, {stage:?}, {size:?}");
                for (index, area) in cards.iter().enumerate() {
                    let inside = area.left >= 0.0 && area.right <= size.0;
                    let inside = inside && area.top >= 0.0 && area.bottom <= size.1;
                    assert!(inside, "{name}, {stage:?}: {area:?} of {size:?}");
                    let overlaps = |other: &&Area| {
                        area.left < other.right - 0.5
                            && area.right > other.left + 0.5
                            && area.top < other.bottom - 0.5
                            && area.bottom > other.top + 0.5
                    };
                    let other = cards[..index].iter().find(overlaps);
                    assert_eq!(other, None, "{name}, {stage:?}: {area:?} of {size:?}");
                }
                // Of what a statement reads something is there.
                if let Some(Stage::Statement(now)) = stage.map(|at| stages.at(at).stage) {
                    let own = &stages.statements[now];
                    let before = own.reads.iter().filter(|read| !read.is_before);
                    let mut parts =
                        before.flat_map(|read| &stages.statements[read.statement].parts);
                    let there = |part: &usize| {
                        let mut cards = places.iter().filter(is_card);
                        cards.any(|place| place.panel.id.part == Some(*part))
                    };
                    let reads_none = own.reads.iter().all(|read| read.is_before);
                    assert!(
                        size.0 < 500.0 || reads_none || parts.any(there),
                        "{name}: {} at {size:?}",
                        own.name
                    );
                }
                // What flows ends at no card that it does not flow into.
                let ends = drawing.marks.iter().flat_map(|mark| match mark {
                    Mark::Line { points, width, .. } if [1.2, 1.8].contains(width) => {
                        points.windows(2).collect()
                    }
                    _ => Vec::new(),
                });
                for ends in ends {
                    let passed = cards.iter().find(|card| is_over(ends, card));
                    assert_eq!(passed, None, "{name}, {stage:?}: {ends:?} of {size:?}");
                }
                let texts = drawing.marks.iter().filter_map(|mark| match mark {
                    Mark::Text(text) => Some(text.text.clone()),
                    _ => None,
                });
                let texts: Vec<String> = texts.collect();
                assert!(!texts.iter().any(|text| text.contains("NaN")), "{texts:?}");
                let is_cut = |text: &&String| text.ends_with('…') && !text.contains('=');
                let is_raw = |text: &String| text.contains('_');
                assert!(!texts.iter().filter(is_cut).any(is_raw), "{texts:?}");
                let (line, least) = match stage.map(|at| stages.at(at).stage) {
                    Some(Stage::Statement(statement)) => (stages.statements[statement].equation, 2),
                    Some(Stage::Output) => (recording.trace.file_words().answer, 1),
                    _ => continue,
                };
                assert!(line.contains('='), "{name}, {stage:?}");
                let first = line.split(['[', ' ']).next().unwrap();
                // Its numbers begin with the head whose they are.
                let begins =
                    |text: &&String| text.starts_with(first) || text.contains(&format!(".{first}"));
                let lines = texts.iter().filter(begins);
                assert!(
                    lines.count() >= least,
                    "{name}: {line} and its numbers in {texts:?}"
                );
            }
        }
    }

    /// True if a piece of a line passes over an area, and not only along its edge.
    fn is_over(ends: &[[f32; 2]], area: &Area) -> bool {
        const POINTS: usize = 32;
        (0..=POINTS).any(|point| {
            let share = point as f32 / POINTS as f32;
            let at = [0, 1].map(|axis| ends[0][axis] + share * (ends[1][axis] - ends[0][axis]));
            at[0] > area.left + 0.5
                && at[0] < area.right - 0.5
                && at[1] > area.top + 0.5
                && at[1] < area.bottom - 0.5
        })
    }

    #[test]
    fn marks_of_a_head_stand_on_rows_that_it_reads() {
        let mut recording = recording();
        for step in [3, 4] {
            let weighting = recording.trace.heads[0].weighting.row_mut(step);
            weighting.fill(0.0);
            (weighting[2], weighting[8]) = (0.69, 0.31);
        }
        let options = Options {
            heads: vec![0],
            ..options((1200.0, 630.0), 4, None, 1.0)
        };
        let figure = Figure::new(&recording, options);
        let (drawing, places) = figure.scene();
        let of = |slot| places.iter().find(|place| place.slot() == slot).unwrap();
        let (head, pane) = (0, 0);
        let sign = of(Slot::Head { head, pane }).area.centre();
        let memory = places
            .iter()
            .find(|place| place.panel.id.picture == Picture::Memory);
        let memory = memory.unwrap();
        let row = |row| memory.axis.place_of(row).unwrap().center();
        assert!((sign - row(2)).abs() < 1.0, "{sign}, not {}", row(2));
        let name = head_label(&recording.trace, 0);
        let marks = drawing.marks.iter().filter_map(|mark| match mark {
            Mark::Text(Text { text, at, .. }) if *text == name => Some(at[1]),
            _ => None,
        });
        let marks: Vec<_> = marks.collect();
        for peak in [2, 8] {
            let is_there = marks.iter().any(|y| (y - row(peak)).abs() < 1.0);
            assert!(is_there, "row {peak}: {marks:?}");
        }
    }

    #[test]
    fn free_rows_flow_into_the_allocation() {
        let task = recording().task;
        let machine = DncConfig::new(task.inputs(), task.outputs());
        let mut recording = Recording::new(&Model::new(machine, 1), &task, 1, 0);
        let write = recording
            .trace
            .heads
            .iter()
            .position(HeadTrace::is_write)
            .unwrap();
        let usage = recording.trace.heads[write]
            .series_mut(USAGE)
            .unwrap()
            .row_mut(4);
        usage.fill(1.0);
        usage[3] = 0.0;
        let stage = Stages::of(&recording.trace, false).place(Stage::Allocate, None);
        let options = Options {
            heads: vec![write],
            ..options((1200.0, 900.0), 4, stage, 0.2)
        };
        let figure = Figure::new(&recording, options);
        let (drawing, places) = figure.scene();
        let columns = places
            .iter()
            .filter(|place| place.panel.id.picture == Picture::Stages);
        let columns: Vec<_> = columns.collect();
        let gap = 0.5 * (columns[0].area.right + columns[1].area.left);
        let flows = drawing.marks.iter().filter_map(|mark| match mark {
            Mark::Rect { area, .. } if area.left < gap && area.right > gap => Some(area),
            _ => None,
        });
        let flows =
            flows.filter(|area| area.width() < columns[1].area.right - columns[0].area.left);
        let flows: Vec<_> = flows.map(Area::centre).collect();
        let row = columns[0].axis.place_of(3).unwrap().center();
        assert_eq!(flows.len(), 1, "{flows:?}");
        assert!((flows[0] - row).abs() < 1.0, "{flows:?}");
    }

    #[test]
    fn stage_names_do_not_overlap() {
        let mut recordings = machines();
        let task = recordings[0].task.clone();
        let dnc = Model::new(DncConfig::new(task.inputs(), task.outputs()), 1);
        recordings.push(Recording::new(&dnc, &task, 1, 0));
        let orders = recordings.iter().flat_map(|it| [(it, false), (it, true)]);
        for (recording, writes_first) in orders {
            let count = Stages::of(&recording.trace, writes_first).len();
            let places = (0..count).map(Some).chain([None]);
            let sizes = [(390.0, 740.0), (360.0, 536.0), (844.0, 294.0), LEAST];
            for (place, size) in places.flat_map(|place| sizes.map(|size| (place, size))) {
                let options = Options {
                    writes_first,
                    ..options(size, 4, place, 1.0)
                };
                let figure = Figure::new(recording, options);
                let (_, places) = figure.scene();
                let stages = places
                    .iter()
                    .filter(|place| matches!(place.slot(), Slot::Stage(_)));
                let areas: Vec<_> = stages.map(|place| place.area).collect();
                assert_eq!(areas.len(), count);
                for pair in areas.windows(2) {
                    assert!(
                        pair[1].left >= pair[0].right + 3.0,
                        "{place:?} of {count} stages at {size:?}: {pair:?}"
                    );
                }
                let right = areas.last().map(|area| area.right);
                assert!(right <= Some(size.0), "{count} stages at {size:?}");
            }
        }
    }

    #[test]
    fn close_up_stays_on_page_for_every_machine() {
        for recording in machines() {
            let stages = Stages::of(&recording.trace, false);
            let places = (0..stages.len()).map(Some).chain([None]);
            let heads = 0..recording.trace.heads.len().max(1);
            for (place, head) in
                places.flat_map(|place| heads.clone().map(move |head| (place, head)))
            {
                for (size, through) in [
                    ((1200.0, 630.0), 0.4),
                    (LEAST, 0.7),
                    ((1440.0, 900.0), 1.0),
                    ((390.0, 740.0), 0.4),
                    ((360.0, 536.0), 0.7),
                    ((844.0, 294.0), 1.0),
                ] {
                    let options = Options {
                        heads: vec![head, 1],
                        ..options(size, 4, place, through)
                    };
                    let figure = Figure::new(&recording, options);
                    let (drawing, places) = figure.scene();
                    let svg = drawing.to_svg();
                    assert!(!svg.contains("NaN") && !svg.contains("inf"));
                    assert!(!places.is_empty());
                    for place in &places {
                        let Area {
                            left,
                            top,
                            right,
                            bottom,
                        } = place.area;
                        let name = &place.panel.name;
                        let inside =
                            left >= 0.0 && top >= 0.0 && right <= size.0 && bottom <= size.1;
                        assert!(
                            inside && right > left && bottom > top,
                            "{name} at {:?}",
                            place.area
                        );
                    }
                    for mark in &drawing.marks {
                        if let Mark::Rect { area, .. } = mark {
                            let inside = area.left >= -0.5 && area.right <= size.0 + 0.5;
                            assert!(inside && area.bottom <= size.1 + 0.5, "{area:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn view_follows_head_from_old_to_new_row() {
        let mut recording = machines().swap_remove(1);
        // It walks on by one, leaps, and goes round the end.
        let rows = [3, 4, 5, 30, 31, 39, 0, 1, 20];
        for head in &mut recording.trace.heads {
            for (step, row) in rows.into_iter().enumerate() {
                head.weighting.row_mut(step).fill(0.0);
                head.weighting.row_mut(step)[row] = 1.0;
            }
        }
        let stages = Stages::of(&recording.trace, false);
        for (step, head) in (1..rows.len()).flat_map(|step| [0, 5].map(|head| (step, head))) {
            let sees = |stage, row| {
                let options = Options {
                    heads: vec![head],
                    ..options((1200.0, 630.0), step, stage, 1.0)
                };
                let figure = Figure::new(&recording, options);
                let (_, places) = figure.scene();
                let mut memory = places.iter().filter(|place| place.panel.title == "Memory");
                memory.next().unwrap().axis.place_of(row).is_some()
            };
            assert!(sees(Some(0), rows[step - 1]), "step {step}: where it was");
            assert!(sees(None, rows[step]), "step {step}: where it is");
            assert!(
                sees(Some(stages.len() - 1), rows[step]),
                "step {step}: where it goes"
            );
        }
        assert_eq!(
            peak(recording.trace.heads[0].weighting.row(3)),
            Some((30, 1.0))
        );
    }

    #[test]
    fn colours_of_the_memory_depend_on_its_values_alone_and_have_a_legend() {
        for recording in &machines()[..2] {
            let figure = Figure::new(recording, options((1200.0, 630.0), 4, None, 1.0));
            let (drawing, places) = figure.scene();
            let colours = crate::figure::Colours::for_theme(false);
            let mut memory = places.iter().filter(|place| place.panel.title == "Memory");
            let memory = memory.next().unwrap();
            let cells = memory.cells().unwrap();
            let width = memory.area.width() / cells.columns as f32;
            for (row, place) in memory.axis.all() {
                for column in 0..cells.columns {
                    let at = [
                        memory.area.left + (column as f32 + 0.5) * width,
                        place.center(),
                    ];
                    let seen = drawing.marks.iter().any(|mark| match mark {
                        Mark::Rect { area, fill } => {
                            let value = cells.value(column, row).unwrap();
                            let is_here = area.left < at[0] && at[0] < area.right;
                            let is_here = is_here && area.top < at[1] && at[1] < area.bottom;
                            is_here && *fill == Ink::from(colours.of(cells.scale, value))
                        }
                        _ => false,
                    });
                    assert!(seen, "row {row}, column {column}");
                }
            }
        }
        for recording in machines() {
            for size in [(1200.0, 630.0), LEAST, (390.0, 740.0)] {
                let figure = Figure::new(&recording, options(size, 4, None, 1.0));
                let svg = figure.draw().to_svg();
                let first = if recording.trace.heads.is_empty() {
                    "bit"
                } else {
                    "memory, read"
                };
                assert!(svg.contains(&format!(">{first}<")), "{size:?}");
            }
        }
    }

    #[test]
    fn the_signs_of_heads_at_one_row_stand_apart() {
        let size = (1200.0, 630.0);
        let mut recording = machines().swap_remove(1);
        let steps = recording.trace.steps();
        for head in &mut recording.trace.heads {
            for step in 0..steps {
                head.weighting.row_mut(step).fill(0.0);
                head.weighting.row_mut(step)[2] = 1.0;
            }
        }
        let heads = 0..recording.trace.heads.len();
        let names: Vec<_> = heads
            .map(|head| head_label(&recording.trace, head))
            .collect();
        for step in 1..steps {
            let figure = Figure::new(&recording, options(size, step, None, 1.0));
            let drawing = figure.draw();
            let texts = drawing.marks.iter().filter_map(|mark| match mark {
                Mark::Text(text) if names.contains(&text.text) && text.at[1] > 150.0 => {
                    Some(text.at)
                }
                _ => None,
            });
            let mut heights: Vec<_> = texts.map(|[_, y]| y).collect();
            assert_eq!(heights.len(), names.len(), "step {step}");
            heights.sort_by(f32::total_cmp);
            assert!(
                heights.windows(2).all(|pair| pair[1] - pair[0] > 9.0),
                "{heights:?}"
            );
        }
    }

    #[test]
    fn finished_stage_looks_like_next_stage_start() {
        // Except for its caption, and the mark at its column.
        let recording = recording();
        let data = |stage, through| {
            let figure = Figure::new(
                &recording,
                options((1200.0, 630.0), 4, Some(stage), through),
            );
            let (_, places) = figure.scene();
            let values = places.iter().filter_map(|place| {
                Some((
                    place.panel.name.clone(),
                    place.cells()?.all().map(f32::to_bits).collect::<Vec<_>>(),
                ))
            });
            let memory = values.filter(|(name, _)| name.contains("emory"));
            memory.collect::<Vec<_>>()
        };
        let stages = Stages::of(&recording.trace, false);
        for stage in 1..stages.len() {
            let before = data(stage - 1, 1.0);
            assert!(!before.is_empty());
            assert_eq!(before, data(stage, 0.0), "{stage}");
        }
    }
}
