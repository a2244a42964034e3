//! Overlap of heads: A·A′ of the weightings A of a step, a number for every pair of heads, and the redundancy penalty P
//! = ‖A·A′ − I‖² of training.

use crate::figure::facts::measure::{Ends, Measure, Scalar, derived};
use crate::figure::scene::annotations::Printed;
use crate::figure::scene::cells::Cells;
use crate::figure::scene::fonts::text_width;
use crate::figure::scene::paint::{At, Draw, Surface};
use crate::figure::{Anchor, Area, HeadName, Scale, Style, facts::numbers};
use crate::math::eigenvalues;
use crate::model::Trace;
use crate::train::{ABSENT, Penalty, Redundancy, is_unrecorded, overlap};

/// The meaning of a number of A·A′.
pub const MEANING: &str = "overlap of two weightings (0: disjoint, 1: same single row)\n\
    a head with itself: 1 on a single row, less when spread";
/// The meaning of the singular values of A·A′.
pub const SPECTRUM: &str = "singular values of A·A′, largest first, 0 to the number of heads\n\
    all 1: each head is on a separate row; one large and the others 0: all heads attend alike";
/// Cells at least this large have their number printed.
const PRINTED: Printed = ([26.0, 10.5], Anchor::Middle);
/// Cells grow no larger.
const LARGEST: [f32; 2] = [42.0, 22.0];
/// Height of the labels above the columns.
pub const LABELS: f32 = 14.0;
/// Room for the labels left of the rows.
pub const BESIDE: f32 = 32.0;
/// Height of a line of words.
const LINE: f32 = 12.0;
/// Most heads: the overlaps of each step take time and room with the square of their number.
const MOST_HEADS: usize = 256;
/// Gap between the cells and the words, and width of the group name.
const APART: f32 = 14.0;
const WHO: f32 = 34.0;
/// Widths of the bars of the singular values, and of the bars with their numbers.
const SIGMA: [f32; 2] = [24.0, 62.0];
/// Room for a number among the words.
const NUMBER: f32 = 38.0;
const SMALL: f32 = 10.0;

/// A group of heads with a penalty.
type Kind = (&'static str, Redundancy, &'static Measure);

/// The redundancy of heads: P of the read heads, of the write heads, of all.
#[rustfmt::skip] // A line for each.
static PENALTIES: [Measure; 3] = [
    Measure { symbol: "P", words: "redundancy of heads that read", array: &derived("redundancy_read"), from: None, ends: Ends::FromZero },
    Measure { symbol: "P", words: "redundancy of heads that write", array: &derived("redundancy_write"), from: None, ends: Ends::FromZero },
    Measure { symbol: "P", words: "redundancy of all heads", array: &derived("redundancy_both"), from: None, ends: Ends::FromZero },
];

/// Groups of heads with a penalty: their task, and the name of the penalty over time.
static KINDS: [Kind; 3] = [
    ("reads", Redundancy::Read(1.0), &PENALTIES[0]),
    ("writes", Redundancy::Write(1.0), &PENALTIES[1]),
    ("all", Redundancy::Both(1.0), &PENALTIES[2]),
];

/// Returns Σ_i w(i)·w′(i) of two heads in a step; absent if a weighting was not recorded, or if their lengths differ.
pub fn overlap_of(trace: &Trace, step: usize, heads: [usize; 2]) -> f32 {
    let [a, b] = heads.map(|head| trace.heads[head].weighting.row(step));
    if a.is_empty() || a.len() != b.len() || is_unrecorded(a) || is_unrecorded(b) {
        return ABSENT;
    }
    overlap(a, b)
}

/// Returns up to `count` rows that contribute to the overlap of two heads, largest product first, with both weights.
pub fn heaviest(
    trace: &Trace,
    step: usize,
    heads: [usize; 2],
    count: usize,
) -> Vec<(usize, [f32; 2])> {
    let [a, b] = heads.map(|head| trace.heads[head].weighting.row(step));
    let pairs = a.iter().zip(b).map(|(&a, &b)| [a, b]).enumerate();
    let mut rows: Vec<_> = pairs.filter(|(_, [a, b])| a * b > 0.0).collect();
    let heavier = |(_, x): &(usize, [f32; 2]), (_, y): &(usize, [f32; 2])| {
        (y[0] * y[1]).total_cmp(&(x[0] * x[1]))
    };
    if rows.len() > count && count > 0 {
        rows.select_nth_unstable_by(count - 1, heavier);
    }
    rows.truncate(count);
    rows.sort_by(heavier);
    rows
}

/// The penalty over some heads in every step.
#[derive(Clone, Debug)]
pub struct Redundant {
    /// The group of heads.
    pub who: &'static str,
    /// The first head of the group; `None` for the group of all heads.
    pub head: Option<HeadName>,
    /// The number of heads.
    pub count: usize,
    /// P of every step with its parts; empty if the weightings were not recorded.
    pub steps: Vec<Penalty>,
    /// P of every step as a line.
    pub line: Scalar,
    /// The mean of P over the steps, as used in training.
    pub mean: f32,
}

impl Redundant {
    /// Returns the two parts of P in a step as sums of squares, written out.
    pub fn terms(&self, trace: &Trace, step: usize) -> [String; 2] {
        const MOST: usize = 4;
        let is_one = |head: &usize| {
            let write = trace.heads[*head].is_write();
            self.head.is_none_or(|first| first.is_write == write)
        };
        let heads: Vec<usize> = (0..trace.heads.len()).filter(is_one).collect();
        let short = |heads: [usize; 2]| numbers::short(overlap_of(trace, step, heads), 4);
        let one = |&head: &usize| format!("(1 − {})²", short([head; 2]));
        let own = heads.iter().map(one);
        let layer = |head: usize| trace.heads[head].mechanism.layer;
        let after = |at: usize| heads[at + 1..].iter().map(move |&other| (at, other));
        let pairs = (0..heads.len()).flat_map(after);
        let pairs = pairs.filter(|&(at, other)| layer(heads[at]) == layer(other));
        let pairs = pairs.map(|(at, other)| format!("{}²", short([heads[at], other])));
        let sum = |terms: Vec<String>| match terms.len() {
            0 => "0".to_owned(),
            1..=MOST => terms.join(" + "),
            n => format!("{} + {} more", terms[..MOST - 1].join(" + "), n - MOST + 1),
        };
        let twice = match sum(pairs.collect()) {
            none if none == "0" => none,
            pairs => format!("2 · ({pairs})"),
        };
        [sum(own.collect()), twice]
    }

    /// Returns spread, shared and P of a step; absent if not recorded.
    pub fn at(&self, step: usize) -> [f32; 3] {
        let parts = |of: &Penalty| [of.spread, of.shared, of.total()].map(|part| part as f32);
        self.steps.get(step).map_or([ABSENT; 3], parts)
    }
}

/// Redundancy penalties of an episode: of the read heads, of the write heads, and of all.
///
/// Empty if no kind has two heads, if the weightings differ in length, and of very many heads.
#[derive(Clone, Debug, Default)]
pub struct Redundancies(pub Vec<Redundant>);

impl Redundancies {
    /// Computes the penalties, in one pass over the weightings of every pair of heads.
    pub fn of(trace: &Trace) -> Self {
        let heads = || trace.heads.iter();
        let writes = heads().filter(|head| head.is_write()).count();
        let counts = [trace.heads.len() - writes, writes];
        let rows = heads().next().map_or(0, |head| head.weighting.width());
        let is_alike = rows > 0 && heads().all(|head| head.weighting.width() == rows);
        let is_alike = is_alike && trace.heads.len() <= MOST_HEADS;
        if !is_alike || counts.iter().all(|&count| count < 2) {
            return Self::default();
        }
        let all = counts[0] + counts[1];
        let kinds = KINDS.iter().zip([counts[0], counts[1], all]).enumerate();
        // If all heads are of one kind, the group of all is omitted.
        let kinds =
            kinds.filter(|(kind, (_, count))| *count > 0 && (*kind < 2 || !counts.contains(&all)));
        let kinds = kinds.map(|(kind, (of, count))| {
            let place = (kind < 2).then_some(kind == 1);
            let head = place.map(|is_write| HeadName { is_write, place: 0 });
            Redundant::of(trace, of, head, count)
        });
        Self(kinds.collect())
    }

    /// Returns the penalty of a kind with several heads: of the given kind if possible, else of the other one.
    pub fn like(&self, write: bool) -> Option<&Redundant> {
        let several = self.0.iter().filter(|of| of.count > 1 && of.head.is_some());
        several.min_by_key(|of| of.head.is_some_and(|head| head.is_write != write))
    }
}

impl Redundant {
    fn of(trace: &Trace, kind: &Kind, head: Option<HeadName>, count: usize) -> Self {
        let (who, redundancy, emitted) = kind;
        let mut weightings = trace.heads.iter().map(|head| head.weighting.as_slice());
        let is_known = !weightings.any(is_unrecorded);
        let steps = 0..trace.steps();
        let penalties = steps.filter_map(|t| redundancy.at(trace, t).filter(|_| is_known));
        let steps: Vec<Penalty> = penalties.collect();
        let value = |t: usize| steps.get(t).map_or(ABSENT, |of| of.total() as f32);
        let values = (0..trace.steps()).map(value).collect();
        let mean = redundancy.mean(trace).filter(|_| is_known);
        Self {
            who,
            head,
            count,
            line: Scalar::up(emitted, values),
            mean: mean.map_or(ABSENT, |mean| mean as f32),
            steps,
        }
    }
}

/// A·A′ of a step with the penalty on it.
#[derive(Debug)]
pub struct Overlap<'a> {
    /// The numbers: a column and a row for every head.
    pub cells: Cells<'a>,
    /// The heads, in their order.
    pub names: Vec<HeadName>,
    /// True where there is room for the singular values.
    has_sigma: bool,
    /// The heads before which a kind or a layer begins, but the first.
    bounds: Vec<usize>,
    /// The groups of heads, with spread, shared and P of the step.
    costs: Vec<(&'static str, [f32; 3])>,
    /// The area of their text.
    pub words: Option<Area>,
}

fn words_width(parts: bool) -> f32 {
    APART + WHO + NUMBER * if parts { 3.0 } else { 1.0 }
}

impl<'a> Overlap<'a> {
    /// Creates the overlaps of all heads at a step; `None` if there are no penalties.
    pub(crate) fn new(
        trace: &'a Trace,
        step: usize,
        scale: Scale,
        all: &Redundancies,
    ) -> Option<Self> {
        let heads = trace.heads.len();
        let value = move |column, row| overlap_of(trace, step, [row, column]);
        let mut cells = Cells::new([heads, heads], scale, value);
        cells.version = (step, 0);
        let group = |head: usize| {
            let head = &trace.heads[head];
            (head.is_write(), head.mechanism.layer)
        };
        (!all.0.is_empty()).then(|| Self {
            cells,
            has_sigma: false,
            bounds: (1..heads)
                .filter(|&head| group(head) != group(head - 1))
                .collect(),
            names: (0..heads).map(|head| HeadName::of(trace, head)).collect(),
            costs: all.0.iter().map(|of| (of.who, of.at(step))).collect(),
            words: None,
        })
    }

    /// The singular values of the matrix, largest first. It has none below 0, but for rounding.
    pub fn spectrum(&self) -> Vec<f32> {
        let matrix = self.cells.all().map(f64::from).collect();
        let values = eigenvalues(matrix, self.names.len()).into_iter();
        values.map(|value| value.max(0.0) as f32).collect()
    }

    /// Places it in an area and returns the area of its cells. The text is to the right of them: in full if numbers still
    /// fit into the cells, else P alone, else omitted.
    pub(crate) fn place(&mut self, area: &Area) -> Area {
        let heads = self.names.len().max(1) as f32;
        let cell = |(words, sigma): (Option<bool>, f32)| {
            let free = area.width() - words.map_or(0.0, words_width) - sigma;
            (free / heads).min(LARGEST[0])
        };
        // The singular values need room beside the text and numbers in the cells.
        let choices = [
            ((Some(true), SIGMA[1]), PRINTED.0[0]),
            ((Some(true), 0.0), PRINTED.0[0]),
            ((Some(false), 0.0), 8.0),
        ];
        let found = choices
            .into_iter()
            .find(|(what, least)| cell(*what) >= *least);
        let (words, sigma) = found.map_or((None, 0.0), |(what, _)| what);
        self.has_sigma = sigma > 0.0 && self.cells.all().all(f32::is_finite);
        let (width, height) = (cell((words, sigma)) * heads, LARGEST[1] * heads);
        let cells = Area::new(area.left, area.top, width, area.height().min(height));
        self.words = words.map(|parts| {
            let (left, top) = (cells.right + APART + sigma, cells.top - LABELS);
            Area::new(left, top, words_width(parts) - APART, LABELS + self.least())
        });
        cells
    }

    /// The area of the singular values, a line for every row of the cells.
    pub fn sigma(&self, cells: &Area) -> Option<Area> {
        let words = self.words.filter(|_| self.has_sigma)?;
        let left = words.left - SIGMA[1];
        Some(cells.across(left, left + SIGMA[1] - APART))
    }

    /// The penalties among them, a line for each.
    pub fn lines(&self) -> impl Iterator<Item = Area> + '_ {
        self.words.iter().flat_map(|words| {
            (0..self.costs.len()).map(|line| {
                let top = words.top + LABELS + line as f32 * LINE;
                words.down(top, top + LINE)
            })
        })
    }

    /// Height of the text next to the cells.
    pub fn least(&self) -> f32 {
        LINE * self.costs.len() as f32
    }

    /// Natural height with its text.
    pub(crate) fn natural(&self) -> f32 {
        (15.0 * self.names.len() as f32).max(self.least())
    }

    pub(crate) fn paint(&self, on: &mut Surface<'_>, at: At<'_>) {
        on.paint.cells(&self.cells, at, on.page, 1.0);
        self.grid(on, &at);
        self.cells.print(on, at, PRINTED);
        self.labels(on, &at);
        if let Some(words) = &self.words {
            self.paint_penalties(on, words);
        }
        if let Some(area) = self.sigma(at.area) {
            self.singular_values(on, &at, &area);
        }
    }

    /// Draws the singular values as bars, of full length at the number of heads, with their numbers where these fit.
    fn singular_values(&self, on: &mut Surface<'_>, at: &At<'_>, area: &Area) {
        let (colours, spectrum) = (on.page.colours, self.spectrum());
        let most = spectrum.len() as f32;
        let style = Style::new(SMALL, colours.subdued);
        on.text("σ", [area.left, area.top - LABELS / 2.0], style);
        for ((_, place), &value) in at.axis.all().zip(&spectrum) {
            let length = SIGMA[0] * (value / most).clamp(0.0, 1.0);
            let bar = Area::new(area.left, place.min, length.max(1.0), place.span());
            on.rect(bar.inset(0.0, 0.15 * place.span()), colours.subdued);
            if place.span() >= SMALL {
                let style = Style::new(SMALL, colours.text).mono().end();
                let number = numbers::plain(value.max(0.0), 2, 4);
                on.text(number.trim_start(), [area.right, place.center()], style);
            }
        }
    }

    /// Outlines the diagonal cells, and separates read heads from write heads, and layers, by lines.
    fn grid(&self, on: &mut Surface<'_>, at: &At<'_>) {
        let (colours, width) = (on.page.colours, self.cell_width(at));
        for (row, place) in at.axis.all() {
            let left = at.area.left + row as f32 * width;
            let cell = Area::new(left, place.min, width, place.span());
            if width >= 6.0 && place.span() >= 6.0 {
                on.outline(cell, colours.subdued);
            }
        }
        on.frame(*at.area, colours.line);
        for &head in &self.bounds {
            let Some(place) = at.axis.place_of(head) else {
                continue;
            };
            let (x, y, area) = (at.area.left + head as f32 * width, place.min, at.area);
            let upright = area.upright(x);
            let level = area.level(y);
            on.line(&upright, colours.text, 1.0);
            on.line(&level, colours.text, 1.0);
        }
    }

    fn cell_width(&self, at: &At<'_>) -> f32 {
        at.area.width() / self.names.len().max(1) as f32
    }

    /// Draws the names of the heads above the columns and left of the rows, up to the space that there is.
    fn labels(&self, on: &mut Surface<'_>, at: &At<'_>) {
        let (area, width) = (at.area, self.cell_width(at));
        let labels: Vec<_> = self.names.iter().map(HeadName::to_string).collect();
        let widest = labels.iter().map(|label| text_width(label, SMALL));
        let widest = widest.fold(0.0, f32::max) + 4.0;
        let every = |room: f32, each: f32| (room / each.max(0.1)).ceil().max(1.0) as usize;
        let [across, down] = [every(widest, width), every(9.5, at.axis.height)];
        for (index, (label, &name)) in labels.iter().zip(&self.names).enumerate() {
            let style = Style::new(SMALL, on.page.colours.head(name)).bold();
            if index % across == 0 {
                let x = area.left + (index as f32 + 0.5) * width;
                on.text(label.as_str(), [x, area.top - LABELS / 2.0], style.middle());
            }
            if let (true, Some(place)) = (index % down == 0, at.axis.place_of(index)) {
                let at = [area.left - 6.0, place.center()];
                on.text(label.as_str(), at, style.end());
            }
        }
    }

    /// Writes the penalties of the step, one line per group: spread and shared add up to P.
    fn paint_penalties(&self, on: &mut Surface<'_>, area: &Area) {
        let columns = if area.width() > WHO + 2.0 * NUMBER {
            vec![("spread", 0), ("shared", 1), ("= P", 2)]
        } else {
            vec![("redundancy", 2)]
        };
        let said = Style::new(SMALL, on.page.colours.subdued).end();
        let plain = Style::new(SMALL, on.page.colours.text);
        for (place, (word, part)) in columns.into_iter().enumerate() {
            let right = area.left + WHO + (place + 1) as f32 * NUMBER;
            on.text(word, [right, area.top + LABELS / 2.0], said);
            for (line, (_, costs)) in self.lines().zip(&self.costs) {
                let number = numbers::plain(costs[part], 2, 5);
                let at = [right, line.centre()];
                on.text(number.trim_start(), at, plain.mono().end());
            }
        }
        for (line, (who, _)) in self.lines().zip(&self.costs) {
            on.text(*who, [area.left, line.centre()], plain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fixture::recording;
    use crate::figure::scene::layout::Scene;
    use crate::figure::{Figure, Layout, Options, Pages, Picture};
    use crate::model::{EquationsConfig, Model, NtmConfig};
    use crate::task::{Copy, Task};
    use crate::train::{Recording, is_absent};

    fn machine(reads: usize, writes: usize) -> Recording {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.controller.size) = (12, 5, 4);
        (config.read_heads, config.write_heads) = (reads, writes);
        Recording::new(&Model::new(config, 3), &task, 7, 0)
    }

    fn kinds(recording: &Recording) -> Vec<(&'static str, usize)> {
        let all = Redundancies::of(&recording.trace).0;
        all.iter().map(|of| (of.who, of.count)).collect()
    }

    fn drawn<'a>(figure: &'a Figure<'_>) -> Option<Vec<f32>> {
        let (_, places): Scene<'a> = figure.scene();
        let place = places
            .iter()
            .find(|p| p.panel.id.picture == Picture::Overlap)?;
        let cells = place.cells()?;
        Some(cells.all().collect())
    }

    #[test]
    fn it_is_a_times_its_transpose_and_the_penalty_is_made_of_it() {
        let recording = recording();
        let trace = &recording.trace;
        let options = Options {
            step: Some(6),
            ..Options::new(Layout::Debug)
        };
        let found = drawn(&Figure::new(&recording, options)).unwrap();
        let all = Redundancies::of(trace);
        let mut expected = [[0.0; 2]; 3];
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            let [a, b] = [i, j].map(|head: usize| trace.heads[head].weighting.row(6));
            let sum: f64 = a
                .iter()
                .zip(b)
                .map(|(a, b)| f64::from(*a) * f64::from(*b))
                .sum();
            assert!((f64::from(found[4 * i + j]) - sum).abs() < 1e-6);
            let cost = if i == j {
                (1.0 - sum).powi(2)
            } else {
                sum * sum
            };
            // Heads 0 and 1 read, 2 and 3 write.
            let kinds = [i < 2 && j < 2, i > 1 && j > 1, true];
            for (_, expected) in kinds.iter().zip(&mut expected).filter(|(kind, _)| **kind) {
                expected[usize::from(i != j)] += cost;
            }
        }
        for (of, [spread, shared]) in all.0.iter().zip(expected) {
            let parts = of.at(6).map(f64::from);
            for (found, expected) in parts.into_iter().zip([spread, shared, spread + shared]) {
                assert!(
                    (found - expected).abs() < 1e-5,
                    "{}: {found}, {expected}",
                    of.who
                );
            }
            let values = &of.line.values;
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            assert!((of.mean - mean).abs() < 1e-5);
        }
    }

    #[test]
    fn penalty_is_large_for_identical_heads() {
        assert_eq!(kinds(&machine(1, 1)), []);
        assert_eq!(kinds(&machine(3, 0)), [("reads", 3)]);
        assert_eq!(
            kinds(&machine(1, 2)),
            [("reads", 1), ("writes", 2), ("all", 3)]
        );
        // The line is that of the kind of the selected head, if it has several heads.
        let all = Redundancies::of(&machine(1, 2).trace);
        assert_eq!(
            [false, true].map(|write| all.like(write).unwrap().who),
            ["writes"; 2]
        );
        let all = Redundancies::of(&recording().trace);
        assert_eq!(
            [false, true].map(|write| all.like(write).unwrap().who),
            ["reads", "writes"]
        );
        for layout in [
            Layout::Debug,
            Layout::Pictures(vec![Picture::Overlap, Picture::Redundancy]),
        ] {
            let draws = |recording: &Recording| {
                let figure = Figure::new(recording, Options::new(layout.clone()));
                let svg = figure.draw().to_svg();
                svg.contains("verlap") && svg.contains("redundancy of heads that read")
            };
            assert!(draws(&machine(2, 0)) && !draws(&machine(1, 1)));
        }
    }

    #[test]
    fn penalty_is_explained_by_its_squares() {
        let mut recording = machine(2, 1);
        for (head, row) in [(0, 3), (1, 3), (2, 5)] {
            let weighting = recording.trace.heads[head].weighting.row_mut(2);
            weighting.fill(0.0);
            weighting[row] = 0.5;
            weighting[row + 1] = 0.5;
        }
        let trace = &recording.trace;
        let all = Redundancies::of(trace);
        let description = |kind: usize| all.0[kind].terms(trace, 2);
        assert_eq!(
            description(0),
            ["(1 − 0.5000)² + (1 − 0.5000)²", "2 · (0.5000²)"]
        );
        assert_eq!(description(1), ["(1 − 0.5000)²", "0"]);
        assert_eq!(all.0[0].at(2), [0.5, 0.5, 1.0]);
        assert_eq!(
            heaviest(trace, 2, [0, 1], 3),
            [(3, [0.5; 2]), (4, [0.5; 2])]
        );
        assert_eq!(heaviest(trace, 2, [0, 2], 3), []);
    }

    #[test]
    fn singular_values_belong_to_the_matrix_and_stand_beside_it() {
        let recording = recording();
        let all = Redundancies::of(&recording.trace);
        let of = Overlap::new(&recording.trace, 6, Scale::weighting(false), &all).unwrap();
        let matrix: Vec<f32> = of.cells.all().collect();
        let trace: f32 = (0..4).map(|head| matrix[5 * head]).sum();
        let square: f32 = matrix.iter().map(|value| value * value).sum();
        let spectrum = of.spectrum();
        let squares = spectrum.iter().map(|value| value * value);
        assert_eq!(spectrum.len(), 4);
        assert!(spectrum.is_sorted_by(|a, b| a >= b));
        assert!((spectrum.iter().sum::<f32>() - trace).abs() < 1e-5);
        assert!((squares.sum::<f32>() - square).abs() < 1e-5);
        for dark in [false, true] {
            let options = Options {
                dark,
                ..Options::new(Layout::Debug)
            };
            let svg = Figure::new(&recording, options).draw().to_svg();
            assert_eq!(svg.matches(">σ<").count(), 1);
        }
    }

    #[test]
    fn penalty_of_a_machine_with_layers_is_explained_by_pairs_within_a_layer() {
        let task = Task::Copy(Copy {
            bits: 3,
            length: 4..=4,
        });
        let channels = [task.inputs(), task.outputs()];
        let config = EquationsConfig::included("multi_head_layers", channels, &[("read", "2")]);
        let recording = Recording::new(&Model::new(config.unwrap(), 3), &task, 7, 0);
        let all = Redundancies::of(&recording.trace);
        let [own, pairs] = all.0[0].terms(&recording.trace, 0);
        // All heads are on the only row.
        assert_eq!(pairs, "2 · (1.0000² + 1.0000²)");
        assert_eq!((own.matches('²').count(), all.0[0].at(0)[1]), (4, 4.0));
        let of = Overlap::new(&recording.trace, 0, Scale::weighting(false), &all).unwrap();
        assert_eq!(of.bounds, [2]);
    }

    #[test]
    fn unrecorded_overlap_is_no_number() {
        let mut recording = recording();
        recording.trace.heads[1]
            .weighting
            .as_mut_slice()
            .fill(ABSENT);
        let trace = &recording.trace;
        assert!(
            is_absent(overlap_of(trace, 2, [0, 1])) && !is_absent(overlap_of(trace, 2, [0, 2]))
        );
        let all = Redundancies::of(trace);
        assert!(
            all.0
                .iter()
                .all(|of| of.at(2).iter().all(|value| is_absent(*value)))
        );
        assert!(all.0.iter().all(|of| is_unrecorded(&of.line.values)));
    }
}
