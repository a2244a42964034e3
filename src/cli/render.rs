//! `tapescope render`: figures of an episode, as SVG, PNG or animated GIF.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Usage;
use super::episode::{EpisodeArgs, note_overrun};
use crate::figure::compare::{Common, Comparison, Named, Part};
use crate::figure::{
    Drawing, Figure, Format, Layout, Options, Orientation, Picture, RowsShown, head_label,
    head_named,
};
use crate::io::trace::{self, Side};
use crate::io::{label, picture, room};
use crate::train::Recording;

/// The most pixels of a figure.
const MOST_PIXELS: f32 = 1e8;
/// The longest side of a page.
const MOST: f32 = 16_384.0;
/// The difference that counts as none, where two are drawn.
const TOLERANCE: f64 = 1e-6;
/// The longest side of a GIF, in pixels.
const MOST_OF_GIF: u32 = 65_535;

const EXAMPLES: &str = "\
Examples:
  tapescope render copy --length 20 --out figure6.svg
  tapescope render copy.ntmtrace.json --layout debug --step 12 --dark --out step12.png
  tapescope render repeat_copy --layout weightings,reads --out heads.svg
  tapescope render copy --length 10 --delay 200 --out copy.gif
  tapescope render copy --compare copy_feedforward --length 20 --head W0 --out both.svg

Layouts: paper is figure 6 of Graves, Wayne and Danihelka (2014); debug is everything over time, and
the stages of one head (that of --head, else the first that writes) and the memory at --step;
or any of these, one below the other: input, target, output, error, adds, erases, reads, weightings,
memory, stages, scalars, hidden, cells. Every colour has its legend; scales are fixed for the episode.
The same command gives the same bytes.";

/// Draw an episode: figure 6 of the paper, or any picture of the window, as SVG, PNG or animated GIF.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Render {
    /// A recorded trace; or, to record an episode first, a preset whose weights are included, a
    /// weights file, or the folder of a run.
    #[arg(value_name = "TRACE|PRESET|FILE")]
    source: String,
    /// The file to write; its end says the format: .svg, .png or .gif.
    #[arg(long, value_name = "FIGURE.SVG")]
    out: PathBuf,
    /// Draw this one too, beside the first, with what it has more: a trace, or a machine that is given the
    /// same episode.
    #[arg(long, value_name = "TRACE|PRESET|FILE", conflicts_with_all = ["layout", "orientation", "weights"])]
    compare: Option<String>,
    /// What is drawn: paper, debug, or pictures by name, separated by commas [default: paper; debug
    /// for a GIF].
    #[arg(long, value_name = "NAME", value_parser = layout)]
    layout: Option<Layout>,
    /// The step that is marked, and shown by pictures of one step [default: the last one, marked in the
    /// layout debug only].
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    step: Option<usize>,
    /// The heads that are drawn, such as W0 or W0,R1 [default: all; in the layout paper the first of
    /// each kind].
    #[arg(long, value_name = "HEAD", value_delimiter = ',')]
    head: Vec<String>,
    /// Which of the memory's rows are drawn.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Shown::Touched)]
    show_rows: Shown,
    /// Where row 0 is: paper, at the bottom, or screen, at the top [default: paper in the layout
    /// paper].
    #[arg(long, value_enum)]
    orientation: Option<Upright>,
    /// Dark on light (this is the default).
    #[arg(long, conflicts_with = "dark")]
    light: bool,
    /// Light on dark.
    #[arg(long)]
    dark: bool,
    /// Weightings by their logarithm, 1e-6 to 1.
    #[arg(long)]
    log: bool,
    /// Width and height of the page [default: what suits the layout].
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(f32, f32)>,
    /// Pixels per unit of the page [default: 2; 1 for a GIF].
    #[arg(long, value_name = "F", value_parser = scale, allow_negative_numbers = true)]
    scale: Option<f32>,
    /// How long every step of a GIF is shown, in milliseconds [default: 250].
    #[arg(long, value_name = "MS", value_parser = delay, allow_negative_numbers = true)]
    delay: Option<u16>,
    #[command(flatten)]
    episode: EpisodeArgs,
}

/// Which rows.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shown {
    /// Those that some head touches, and a note on the others.
    Touched,
    /// All.
    All,
}

/// Where row 0 is.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Upright {
    /// At the bottom.
    Paper,
    /// At the top.
    Screen,
}

impl Render {
    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Some(format) = Format::of(&self.out) else {
            let path = label(&self.out);
            let problem = format!("--out {path}: expected a name that ends in .svg, .png or .gif");
            return Err(Usage(problem).into());
        };
        self.check(format)?;
        let recording = self.recording(&self.source)?;
        let options = self.options(format, &recording)?;
        let scale = self.scale(format);
        let delay = self.delay.unwrap_or(25);
        let (bytes, title) = if let Some(other) = &self.compare {
            let b = self.recording(other)?;
            let walked = walk(&recording, &b).map_err(|sizes| {
                let (a, sizes) = (&self.source, sizes.join("; "));
                Usage(format!(
                    "--compare {other}: cannot be compared with {a}: {sizes}"
                ))
            })?;
            let figure = self.two(&recording, &b, &walked, options);
            let drawing = self.drawing(figure.least_size(), || figure.draw(Part::All), scale)?;
            (figure.to_bytes(format, scale, delay), drawing.title)
        } else {
            let figure = Figure::new(&recording, options);
            if figure.is_empty() {
                let there = figure.pictures().join(", ");
                let problem = format!(
                    "--layout: the machine of this episode has none of these pictures; it has {there}"
                );
                return Err(Usage(problem).into());
            }
            let drawing = self.drawing(figure.least_size(), || figure.draw(), scale)?;
            (figure.to_bytes(format, scale, delay), drawing.title)
        };
        picture::write(&self.out, &bytes)?;
        Ok(writeln!(out, "{}: {title}", label(&self.out))?)
    }

    /// Both episodes, and what one has more than the other.
    fn two<'a>(
        &'a self,
        a: &'a Recording,
        b: &'a Recording,
        walked: &'a Walked,
        options: Options,
    ) -> Comparison<'a> {
        let other = self.compare.as_deref().unwrap_or_default();
        let named = |recording, name| Named { recording, name };
        let (a, b) = (named(a, &self.source), named(b, other));
        Comparison::new(a, b, &walked.common, options).with_steps(
            &walked.steps,
            TOLERANCE as f32,
            walked.first,
        )
    }

    fn scale(&self, format: Format) -> f32 {
        let usual = if format == Format::Gif { 1.0 } else { 2.0 };
        self.scale.unwrap_or(usual)
    }

    /// Options that do not go together.
    fn check(&self, format: Format) -> Result<(), Usage> {
        let is_gif = format == Format::Gif;
        if is_gif && self.step.is_some() {
            let problem = "--step: a GIF shows every step; for one of them write .svg or .png";
            return Err(Usage(problem.to_owned()));
        }
        if !is_gif && self.delay.is_some() {
            let problem =
                "--delay: only a GIF has one; write the figure to a name that ends in .gif";
            return Err(Usage(problem.to_owned()));
        }
        Ok(())
    }

    /// The episode: out of a trace as it was recorded, or recorded now.
    fn recording(&self, source: &str) -> anyhow::Result<Recording> {
        let path = Path::new(source);
        let ends = ["json", "gz", "npz"];
        let is_trace = trace::is_named_so(path)
            || path.is_file()
                && path
                    .extension()
                    .is_some_and(|end| ends.iter().any(|e| end == *e));
        if !is_trace || self.episode.weights.is_some() {
            let trained = self.episode.trained(source)?;
            return self.episode.record(source, &trained);
        }
        // What is compared may be one of each.
        if let Some(option) = self.episode.given().filter(|_| self.compare.is_none()) {
            let problem = format!(
                "{option}: {source} is a recorded trace and is drawn as it is; {option} needs a preset or weights"
            );
            return Err(Usage(problem).into());
        }
        let recording = trace::read(path)?.recording;
        note_overrun(source, &recording);
        Ok(recording)
    }

    fn options(&self, format: Format, recording: &Recording) -> Result<Options, Usage> {
        let usual = if format == Format::Gif {
            Layout::Debug
        } else {
            Layout::Paper
        };
        let options = Options::new(self.layout.clone().unwrap_or(usual));
        let steps = recording.trace.steps();
        if let Some(step) = self.step.filter(|&step| step >= steps) {
            let problem = match steps {
                0 => format!("--step {step}: the episode has no steps"),
                _ => format!(
                    "--step {step}: the episode has the steps 0 to {}",
                    steps - 1
                ),
            };
            return Err(Usage(problem));
        }
        Ok(Options {
            dark: self.dark,
            size: self.size,
            step: self.step,
            rows: match self.show_rows {
                Shown::Touched => RowsShown::Touched,
                Shown::All => RowsShown::All,
            },
            heads: self.heads(recording)?,
            orientation: match self.orientation {
                None => options.orientation,
                Some(Upright::Paper) => Orientation::Paper,
                Some(Upright::Screen) => Orientation::Screen,
            },
            log_scale: self.log,
            density: self.scale(format),
            ..options
        })
    }

    fn heads(&self, recording: &Recording) -> Result<Vec<usize>, Usage> {
        let trace = &recording.trace;
        let find = |label: &String| {
            head_named(trace, label).ok_or_else(|| {
                let heads = 0..trace.heads.len();
                let known: Vec<_> = heads.map(|head| head_label(trace, head)).collect();
                let known = match known.len() {
                    0 => "the machine has no heads".to_owned(),
                    _ => format!("the heads are {}", known.join(", ")),
                };
                Usage(format!("--head {label}: {known}"))
            })
        };
        self.head.iter().map(find).collect()
    }

    /// The figure, if it can be drawn at the size that was asked for.
    fn drawing(
        &self,
        (least_width, least_height): (f32, f32),
        draw: impl FnOnce() -> Drawing,
        scale: f32,
    ) -> Result<Drawing, Usage> {
        if let Some((width, height)) = self.size
            && (width < least_width || height < least_height)
        {
            let problem = format!(
                "--size {width}x{height}: this figure needs at least {least_width}x{least_height}"
            );
            return Err(Usage(problem));
        }
        let drawing = draw();
        let [width, height] = drawing.pixels(scale);
        let format = Format::of(&self.out).unwrap_or(Format::Svg);
        let pixels = width as f32 * height as f32;
        let too_long = format == Format::Gif && width.max(height) > MOST_OF_GIF;
        if format != Format::Svg && (pixels > MOST_PIXELS || too_long) {
            let problem = format!(
                "--scale {scale}: {width} × {height} pixels are too many; use a smaller --scale or --size"
            );
            return Err(Usage(problem));
        }
        if format != Format::Svg {
            room::claim(drawing.bytes(scale), 0)
                .map_err(|short| Usage(format!("drawing {width} × {height} pixels {short}")))?;
        }
        Ok(drawing)
    }
}

/// What it takes a walk through two episodes to know.
struct Walked {
    common: Common,
    steps: Vec<f32>,
    first: Option<usize>,
}

fn walk(a: &Recording, b: &Recording) -> Result<Walked, Vec<String>> {
    let sides = [a, b].map(|recording| Side {
        recording,
        order: None,
        memories: &[],
    });
    let found = trace::compare(sides[0], sides[1], TOLERANCE)?;
    Ok(Walked {
        common: Common::of(a, b),
        steps: found.steps.iter().map(|&most| most as f32).collect(),
        first: found.first.and_then(|first| first.step),
    })
}

/// What is drawn, as it is typed.
fn layout(text: &str) -> Result<Layout, String> {
    match text {
        "paper" => return Ok(Layout::Paper),
        "debug" => return Ok(Layout::Debug),
        _ => {}
    }
    let picture = |name: &str| {
        let known = Picture::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, picture)| *picture).ok_or_else(|| {
            let names = Picture::NAMES.map(|(name, _)| name).join(", ");
            format!("there is no `{name}`; expected paper, debug, or some of {names}")
        })
    };
    let pictures: Result<Vec<_>, _> = text.split(',').map(|name| picture(name.trim())).collect();
    Ok(Layout::Pictures(pictures?))
}

/// The size of a page, as it is typed.
fn size(text: &str) -> Result<(f32, f32), String> {
    let side = |text: &str| text.parse::<u16>().ok().map(f32::from);
    let sides = text.split_once(['x', '×']);
    match sides.and_then(|(width, height)| Some((side(width)?, side(height)?))) {
        Some((width, height)) if width.min(height) >= 1.0 && width.max(height) <= MOST => {
            Ok((width, height))
        }
        _ => Err(format!(
            "expected width and height, such as 1200x800, each at most {MOST}"
        )),
    }
}

/// Pixels per unit, as it is typed.
fn scale(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(scale) if (0.1..=8.0).contains(&scale) => Ok(scale),
        _ => Err("expected a number, 0.1 to 8".to_owned()),
    }
}

/// Milliseconds, as they are typed, in hundredths of a second.
fn delay(text: &str) -> Result<u16, String> {
    match text.parse::<u32>() {
        Ok(delay @ 20..=60_000) => Ok((delay / 10) as u16),
        _ => Err("expected milliseconds, 20 to 60000".to_owned()),
    }
}
