//! Animation of a training: the same episode at every training snapshot, next to the loss curve so far.

use crate::figure::chart::data::{Chart, Form, Hue, Line};
use crate::figure::chart::plot::Plot;
use crate::figure::facts::numbers::{brief, time};
use crate::figure::facts::ticks::{Axis, AxisKind};
use crate::figure::scene::layout::Scene;
use crate::figure::scene::pages::{FrameTime, Pages, View};
use crate::figure::scene::paint::Draw;
use crate::figure::{Area, Colours, Drawing, Figure, Options, Style, Walk};
use crate::math::Answer;
use crate::train::Recording;

/// Width of the part next to the episode, with its margin.
const SIDE: f32 = 400.0;
const MARGIN: f32 = 28.0;
/// The least height of it.
const LEAST: f32 = 420.0;
/// Boundary between the numbers and the curve.
const NUMBERS: f32 = 240.0;
/// Time that the first and the last training snapshot are shown, in hundredths of a second.
const ENDS: [u16; 2] = [80, 200];

/// The machine at one training snapshot.
#[derive(Clone, Debug)]
pub struct SnapshotEpisode {
    /// Sequences trained on before it.
    pub sequences: u64,
    /// Seconds of training before it.
    pub seconds: f64,
    /// The episode.
    pub recording: Recording,
}

/// All moments, the same episode at each, on the same axes and scales: those of the last.
#[derive(Clone, Debug)]
pub struct TrainingFigure<'a> {
    name: String,
    snapshots: &'a [SnapshotEpisode],
    figures: Vec<Figure<'a>>,
    dark: bool,
    size: (f32, f32),
}

impl<'a> TrainingFigure<'a> {
    /// The moments of a machine with this name, at least one, in their order.
    pub fn new(name: &str, snapshots: &'a [SnapshotEpisode], options: &Options) -> Self {
        let figure = |of: &'a SnapshotEpisode| Figure::new(&of.recording, options.clone());
        let mut figures: Vec<_> = snapshots.iter().map(figure).collect();
        if let Some((last, others)) = figures.split_last_mut() {
            others.iter_mut().for_each(|other| other.share(last));
        }
        let mut learning = Self {
            name: name.to_owned(),
            snapshots,
            figures,
            dark: options.dark,
            size: (1200.0, 630.0),
        };
        let (width, height) = learning.least_size();
        let usual = (learning.size.0.max(width), learning.size.1.max(height));
        learning.size = options.size.unwrap_or(usual);
        learning
    }

    /// True when the episode has none of the requested pictures.
    pub fn is_empty(&self) -> bool {
        self.figures.first().is_none_or(Figure::is_empty)
    }

    /// The training snapshot with this index as a page.
    fn page(&self, place: usize) -> Drawing {
        let (width, height) = self.size;
        let place = place.min(self.snapshots.len().saturating_sub(1));
        let colours = Colours::for_theme(self.dark);
        let mut drawing = Drawing::new(width, height, colours.panel, self.title());
        if let (Some(figure), Some(now)) = (self.figures.get(place), self.snapshots.get(place)) {
            let left = width - SIDE;
            figure.paint(&mut drawing, Area::new(0.0, 0.0, left, height));
            self.numbers(&mut drawing, left, now, colours);
            let top = NUMBERS.min(height * 0.5);
            let area = Area::new(left + 52.0, top, SIDE - 52.0 - MARGIN, height - top - 64.0);
            self.curve(&mut drawing, area, place, colours);
        }
        drawing
    }

    fn title(&self) -> String {
        let recording = self.snapshots.last().map(|last| &last.recording);
        let of = recording.map_or_else(String::new, |recording| {
            let (task, size) = (&recording.task, recording.episode.size);
            format!("{}, {} {size}", task.name(), task.size_name())
        });
        let count = self.snapshots.len();
        let ends = [self.snapshots.first(), self.snapshots.last()];
        let [from, to] = ends.map(|end| brief(end.map_or(0, |end| end.sequences) as f64));
        let snapshots = if count == 1 { "snapshot" } else { "snapshots" };
        format!("{of}: {count} training {snapshots}, {from} to {to} sequences")
    }

    /// The loss of this episode, as a heading.
    fn heading(answer: Answer) -> String {
        format!("{}, for this episode", answer.heading())
    }

    /// Draws the progress of the training in large figures.
    fn numbers(&self, on: &mut Drawing, left: f32, now: &SnapshotEpisode, colours: &Colours) {
        let style = Style::new(20.0, colours.strong).bold();
        on.text(&*self.name, [left, 36.0], style);
        let score = now.recording.score;
        let answer = now.recording.episode.answer;
        let decimals = if score.bits < 10.0 { 2 } else { 1 };
        let bits = answer.number(score.bits, decimals);
        let all = [
            ("sequences", brief(now.sequences as f64)),
            ("training time", time(now.seconds)),
            (&*Self::heading(answer), bits),
            (
                &*format!("wrong {}", answer.unit()),
                format!("{} of {}", score.wrong, score.scored),
            ),
        ];
        for (index, (what, value)) in all.into_iter().enumerate() {
            let x = left + 186.0 * (index % 2) as f32;
            let y = 82.0 + 62.0 * (index / 2) as f32;
            on.text(value, [x, y], Style::new(26.0, colours.strong).mono());
            on.text(what, [x, y + 24.0], Style::new(13.0, colours.text));
        }
    }

    /// Draws the loss of the episode over the training sequences, up to the current snapshot in full, with a point.
    fn curve(&self, on: &mut Drawing, area: Area, now: usize, colours: &Colours) {
        let bits = |of: &SnapshotEpisode| [of.sequences.max(1) as f64, of.recording.score.bits];
        let points: Vec<_> = self.snapshots.iter().map(bits).collect();
        let Recording { task, episode, .. } = &self.snapshots[now].recording;
        let chance = task.chance(episode);
        let known = points.iter().map(|[_, bits]| *bits);
        let known = known.filter(|bits| bits.is_finite());
        let least = chance.max(episode.answer.least_axis().into());
        let most = known.fold(least, f64::max) * 1.06;
        let ends = [points.first(), points.last()].map(|end| end.map_or(1.0, |point| point[0]));
        let line = |points: &[[f64; 2]], hue| Line::new("", hue, Form::Whole, points.to_vec());
        let so_far = line(&points[..=now], Hue::Accent);
        let lines = vec![line(&points, Hue::Faint), so_far];
        let across = ("sequences", Axis::sequences(ends));
        let up = Axis::new(AxisKind::Linear, [0.0, most]);
        let mut chart = Chart::new(Self::heading(episode.answer), "", across, up, lines);
        chart.levels = vec![(chance, format!("chance level: {}", brief(chance)))];
        let mut plot = Plot::new(&chart, area, colours);
        plot.letters = 13.0;
        plot.draw(on);
        let at = [area.left - 36.0, area.top - 18.0];
        on.text(&*chart.name, at, Style::new(13.0, colours.text));
        let [x, y] = [plot.x(points[now][0]), plot.y(points[now][1])];
        let corner = |index: u8| {
            let angle = std::f32::consts::TAU * f32::from(index) / 16.0;
            [x + 6.0 * angle.cos(), y + 6.0 * angle.sin()]
        };
        on.shape(&(0..16).map(corner).collect::<Vec<_>>(), colours.accent);
    }
}

impl Pages for TrainingFigure<'_> {
    fn scene(&self) -> Scene<'_> {
        (self.page(usize::MAX), Vec::new())
    }

    fn show(&self, view: &View, seen: &mut dyn FnMut(Scene<'_>)) {
        seen((self.page(view.at.step), Vec::new()));
    }

    fn frame_times(&self, _: Walk) -> Vec<FrameTime> {
        let count = self.snapshots.len();
        let moment = |place| FrameTime {
            lasts: match place {
                _ if place + 1 == count => Some(ENDS[1]),
                0 => Some(ENDS[0]),
                _ => None,
            },
            ..FrameTime::new(place, None)
        };
        (0..count).map(moment).collect()
    }

    fn least_size(&self) -> (f32, f32) {
        let (width, height) = self.figures.first().map_or((0.0, 0.0), Pages::least_size);
        (width + SIDE, height.max(LEAST))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::figure::fixture::recording;
    use crate::figure::{Format, Layout, Mark, Motion, Picture, to_bytes};
    use crate::platform::at_once;

    fn snapshots() -> Vec<SnapshotEpisode> {
        let moment = |sequences: u64| SnapshotEpisode {
            sequences,
            seconds: sequences as f64 * 0.01,
            recording: recording(),
        };
        [0, 1, 10, 100, 12_345].into_iter().map(moment).collect()
    }

    fn texts(drawing: &Drawing) -> Vec<&str> {
        let marks = drawing.marks.iter();
        let texts = marks.filter_map(|mark| match mark {
            Mark::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn every_moment_says_where_the_training_was() {
        let snapshots = snapshots();
        let options = Options::new(Layout::Pictures(vec![Picture::Output, Picture::Weightings]));
        let learning = TrainingFigure::new("Tiny", &snapshots, &options);
        let frames = learning.frame_times(Walk::Steps);
        assert_eq!(frames.len(), snapshots.len());
        let first = learning.draw_at(frames[0]);
        assert!(texts(&first).contains(&"0.0 s"), "{:?}", texts(&first));
        let last = learning.draw_at(frames[4]);
        for said in [
            "12,345",
            "2.1 min",
            "Tiny",
            "10,000",
            "bits, for this episode",
        ] {
            assert!(texts(&last).contains(&said), "{said}: {:?}", texts(&last));
        }
        let least = learning.least_size();
        let usual = (least.0.max(1200.0), least.1.max(630.0));
        assert_eq!((last.width, last.height), usual);
        assert_eq!(learning.draw().marks, last.marks);
        let bytes = |format| {
            let report_progress = async |_, _| ControlFlow::Continue(());
            at_once(to_bytes(
                &learning,
                format,
                0.5,
                Motion::new(10),
                report_progress,
            ))
            .unwrap()
        };
        assert!(bytes(Format::Gif).starts_with(b"GIF89a"));
        assert_eq!(bytes(Format::Gif), bytes(Format::Gif));
    }

    #[test]
    fn all_moments_stand_on_the_same_rows_and_scales() {
        let snapshots = snapshots();
        let options = Options::new(Layout::Debug);
        let learning = TrainingFigure::new("Tiny", &snapshots, &options);
        let (width, height) = learning.least_size();
        let learning = TrainingFigure {
            size: (width.max(1400.0), height.max(900.0)),
            ..learning
        };
        let sizes = learning.frame_times(Walk::Steps).into_iter().map(|moment| {
            let drawing = learning.draw_at(moment);
            let images = drawing.marks.iter().filter_map(|mark| match mark {
                Mark::Image { area, image } => Some((*area, image.rows)),
                _ => None,
            });
            images.collect::<Vec<_>>()
        });
        let sizes: Vec<_> = sizes.collect();
        assert!(
            sizes
                .iter()
                .all(|size| *size == sizes[0] && !size.is_empty())
        );
    }
}
