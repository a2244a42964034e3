//! `tapescope render`: figures of an episode, as SVG, PNG, animated GIF, or a page with a player.

mod frames;
mod learning;
mod live;
mod sentence;

use std::io::Write;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use clap::{Args, ValueEnum};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use super::arguments::{AttentionArgs, MOST_SAMPLES, ends, step, threads, up_to, within};
use super::episode::{EpisodeArgs, as_it_is, note_wrap_around};
use super::gradient::{self, quantity};
use super::machine;
use super::message::note;
use super::provenance::made;
use crate::analysis::provenance::Provenance;
use crate::figure::facts::spread::{Samples, Spread};
use crate::figure::out::html::LARGEST;
use crate::figure::page::compare::{Common, Comparison, Named};
use crate::figure::{
    Drawing, Figure, Format, FrameTime, Gradients, Layout, Motion, Options, Pages, Picture, Walk,
    duration, estimated_bytes, find_head, to_bytes,
};
use crate::io::trace::{self, Side};
use crate::io::{self, Trained, label, picture, weights};
use crate::model::config::Order;
use crate::model::{Model, ModelConfig, NoiseMode};
use crate::platform::at_once;
use crate::spelling::did_you_mean;
use crate::train::{Quantity, Recording};

/// The most pixels of a figure.
const MOST_PIXELS: f32 = 1e8;
/// The largest difference to ignore between two episodes.
const TOLERANCE: f64 = 1e-6;
/// The number of frames from which the size of an animation is estimated.
const MANY: usize = 60;
/// The size from which an animation is announced with a warning, in bytes.
const LARGE: usize = 10_000_000;
/// The size that mail and forums accept, in bytes; a larger animation gets a warning.
const SENT: usize = 3_000_000;
/// The time before the first progress line, if there is no bar.
const FIRST_LINE: Duration = Duration::from_mins(1);
/// The duration of a frame, in hundredths of a second.
const STEP: u16 = 25;
/// The duration of each training snapshot, in hundredths of a second.
const LEARNING: u16 = 12;
/// The pixels of a slide, and its least height in units of the page: letters of 11 units are then 3.5 % of the height.
const SLIDE: [f32; 2] = [1920.0, 1080.0];
const LEAST_SLIDE: f32 = 315.0;
/// The longest side of a GIF, in pixels.
const MOST_OF_GIF: u32 = 65_535;

/// Returns the help text behind `render`, with the list of pictures.
fn examples() -> String {
    let pictures = Picture::NAMES.map(|(name, _)| name).join(", ");
    format!("\
Examples:
  tapescope render copy --length 20 --out figure6.svg
  tapescope render copy.ntmtrace.json --layout debug --step 12 --dark --out step12.png
  tapescope render repeat_copy --layout weightings,reads --out heads.svg
  tapescope render copy --length 10 --delay 200 --out copy.gif
  tapescope render copy --length 20 --steps 18..24 --stages --out slowly.gif
  tapescope render copy --length 20 --out copy.html
  tapescope render copy --length 8 --motion --steps 5..12 --dark --out moving.gif
  tapescope render copy --length 5 --motion --seconds 10 --out ten.gif
  tapescope render copy --length 8 --layout closeup --step 11 --head R0 --out row.png
  tapescope render copy --compare copy_feedforward --length 20 --head W0 --out both.svg
  tapescope render runs/copy-1 --over-training --length 10 --out learning.gif
  tapescope render copy --length 8 --layout debug --gradient bit:14,3 --out gradients.svg
  tapescope render copy --length 8 --provenance read0:14 --out writes.svg
  tapescope render recall_bayesian_weibull --samples 20 --layout debug --out spread.svg
  tapescope render runs/sentences-1 --text \"the cat sat on the mat\" --head R0 --out attention.svg

Layouts: paper is Figure 6 of Graves, Wayne and Danihelka (2014). debug shows all arrays over time, the \
stages of one head (--head, default: the first write head) and the memory at --step. closeup shows one \
or two heads (--head, default: a write head, or a read head in the answer phase) on a few memory rows \
at --step, large. Or list pictures, drawn one below the other: {pictures}. Every colour has a legend; scales are fixed for the episode. \
The same command writes the same bytes.")
}

/// Draw an episode as SVG, PNG, animated GIF, or a page with a player: Figure 6 of the paper, or any picture of the window.
#[derive(Debug, Args)]
#[command(after_help = examples())]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line that is given or not"
)]
pub(super) struct Render {
    /// A recorded trace, or the machine that records the episode: an included machine, a weights file or a
    /// run folder; or attention of another program (.npy, a text matrix, Pharaoh links).
    #[arg(value_name = "TRACE|PRESET|FILE")]
    source: String,
    /// Output file: .svg, .png, .gif, or .html, a page with a player that needs no network; with --motion, .png is an
    /// animated PNG.
    #[arg(long, value_name = "FIGURE.SVG", required_unless_present = "frames")]
    out: Option<PathBuf>,
    /// Write every frame as PNG into this new folder, and print the command with which ffmpeg makes a film of them.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["out", "step", "text", "compare", "over_training"])]
    frames: Option<PathBuf>,
    /// The page of a slide: 16:9, 1920 × 1080 pixels, as small in units as the layout allows, so that its letters are large.
    #[arg(long, conflicts_with_all = ["scale", "compare", "over_training", "text", "motion"])]
    slide: bool,
    /// Draw this trace, or this machine on the same episode, next to the first, with the difference: second
    /// minus first.
    #[arg(long, value_name = "TRACE|PRESET|FILE", conflicts_with_all = ["layout", "orientation", "weights"])]
    compare: Option<String>,
    /// Layout: paper, debug, closeup, or picture names separated by commas [default: paper; debug for a
    /// GIF and a page; closeup with --motion].
    #[arg(long, value_name = "NAME", value_parser = layout)]
    layout: Option<Layout>,
    /// Step to mark, and to show in pictures of one step [default: the last step, marked in the layout
    /// debug only].
    #[arg(long, value_name = "T", value_parser = step, allow_negative_numbers = true)]
    step: Option<usize>,
    /// Draw only these steps (inclusive range); a GIF marks them in turn.
    #[arg(long, value_name = "A..B", value_parser = steps, allow_negative_numbers = true)]
    steps: Option<RangeInclusive<usize>>,
    /// Show each step of a GIF stage by stage: content, gate, shift, sharpen, then the whole step.
    #[arg(long, conflicts_with = "compare")]
    stages: bool,
    /// Animate each stage of the close-up as on screen, the first two steps slowly: a GIF or an animated
    /// PNG.
    #[arg(long, conflicts_with_all = ["compare", "stages", "delay", "step"])]
    motion: bool,
    /// With --motion: longest duration in seconds; the steps are sped up to fit.
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true, requires = "motion")]
    seconds: Option<f32>,
    /// Animate the episode over all training snapshots of a run folder (`train --snapshots`), with the learning curve:
    /// a GIF or an animated PNG.
    #[arg(long, conflicts_with_all = ["compare", "stages", "motion", "samples", "weights", "gradient"])]
    over_training: bool,
    /// Draw what each word of this text attended to, line by line, with a machine of the task `text` whose heads
    /// attend to the words: an SVG or a PNG.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["compare", "layout", "step", "steps", "stages", "motion",
          "over_training", "orientation", "show_rows", "sizes", "delay", "samples", "gradient", "length", "items", "repeats",
          "seed", "episode", "sample", "input"])]
    text: Option<String>,
    /// Heads to draw, such as W0 or W0,R1; in the layouts debug and closeup the head whose stages are shown, and one
    /// beside it [default: all; in the layout paper the first head of each kind].
    #[arg(long, value_name = "HEAD", value_delimiter = ',')]
    head: Vec<String>,
    /// Memory rows to draw.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = RowSelection::Touched)]
    show_rows: RowSelection,
    /// Position of row 0: bottom (paper) or top (screen) [default: paper in the layout paper, else
    /// screen].
    #[arg(long, value_enum)]
    orientation: Option<Row0Position>,
    /// Dark on light (default).
    #[arg(long, conflicts_with = "dark")]
    light: bool,
    /// Light on dark.
    #[arg(long)]
    dark: bool,
    /// Log scale for weightings, 1e-6 to 1.
    #[arg(long)]
    log: bool,
    /// Width and height of the page, which is among the sizes [default: depends on the layout].
    #[arg(skip)]
    size: Option<(f32, f32)>,
    /// Pixels per unit of the page [default: 2; 1 for a GIF].
    #[arg(long, value_name = "F", value_parser = scale, allow_negative_numbers = true)]
    scale: Option<f32>,
    /// Address of the page of Tapescope: a page with a player gets a link there, to the same step of the same episode of an
    /// included machine.
    #[arg(long, value_name = "ADDRESS")]
    link: Option<String>,
    /// Add the page of Tapescope and the machine to a page with a player, so that the whole window runs from one file. FOLDER is
    /// a page that web/build made. Where WebAssembly or WebGL is missing, the player stays.
    #[arg(long, value_name = "FOLDER",
          conflicts_with_all = ["frames", "compare", "over_training", "text", "motion", "samples", "gradient", "provenance"])]
    live: Option<PathBuf>,
    /// Duration of each frame of a GIF in milliseconds [default: 250; 120 with
    /// --over-training].
    #[arg(long, value_name = "MS", value_parser = delay, allow_negative_numbers = true)]
    delay: Option<u16>,
    /// Run the episode this many more times with sampling heads: stages get a band of the samples' weightings, and
    /// uncertainty is drawn over time.
    #[arg(long, value_name = "K", value_parser = up_to(MOST_SAMPLES), allow_negative_numbers = true,
          conflicts_with_all = ["input", "compare"])]
    samples: Option<u64>,
    /// Draw gradients of the loss (in bits) or of the logit of one output bit with respect to every value: loss,
    /// or bit:STEP,CHANNEL.
    #[arg(long, value_name = "OF", value_parser = quantity, conflicts_with_all = ["compare", "samples", "motion"])]
    gradient: Option<Quantity>,
    /// Draw arcs from a read vector (HEAD:STEP, such as read0:30) or an output bit (bit:STEP,CHANNEL) to the writes that
    /// made it: as wide as their share, dashed where it is negative. A bit needs the weights: a machine, not a trace.
    #[arg(long, value_name = "VALUE", conflicts_with_all = ["compare", "motion", "over_training", "text"])]
    provenance: Option<String>,
    #[command(flatten)]
    attention: AttentionArgs,
    #[command(flatten)]
    episode: EpisodeArgs,
}

/// The input of a figure.
struct RenderInput {
    recording: Recording,
    /// The order of reads and writes in a step of its machine.
    order: Order,
    /// Statistics over many samples, if requested.
    spread: Option<Spread>,
    /// Gradients with respect to everything in it, if requested.
    derivatives: Option<Gradients>,
    /// A value as a sum over writes, if requested.
    provenance: Option<Provenance>,
}

/// The rows to draw.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RowSelection {
    /// Rows that a head touches, with a note on the others.
    Touched,
    /// All rows.
    All,
}

/// The position of row 0.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Row0Position {
    /// At the bottom.
    Paper,
    /// At the top.
    Screen,
}

impl Render {
    /// Returns the options with the size of the page taken from those of the machine.
    pub(super) fn with_page(mut self) -> Self {
        self.size = self.episode.sizes.take_page();
        self
    }

    /// The file that is written.
    fn out(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new(""))
    }

    pub(super) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(folder) = &self.frames {
            return self.film(folder, out);
        }
        let format = self.format()?;
        if self.over_training {
            return self.learning(format, out);
        }
        if let Some(text) = &self.text {
            return self.sentence(text, format, out);
        }
        self.check(format)?;
        let drawn = self.recording(&self.source)?;
        let options = self.options(format, &drawn.recording, drawn.order)?;
        let (bytes, title) = match &self.compare {
            Some(other) => self.compared(&drawn.recording, other, format, options)?,
            None => self.alone(&drawn, format, options)?,
        };
        let Some(folder) = &self.live else {
            picture::write(self.out(), &bytes)?;
            return Ok(writeln!(out, "{}: {title}", label(self.out()))?);
        };
        let bytes = self.live_page(folder, &drawn.recording, &bytes)?;
        picture::write(self.out(), &bytes)?;
        let (name, size) = (label(self.out()), bytes.len() as f64 / 1e6);
        Ok(writeln!(
            out,
            "{name}: {title}; {size:.1} MB with page and machine"
        )?)
    }

    /// Returns the requested file format.
    fn format(&self) -> Result<Format, io::Error> {
        Format::of(self.out()).ok_or_else(|| io::Error::Content {
            file: label(self.out()),
            place: String::new(),
            problem: "unknown format; expected a file name that ends in .svg, .png, .gif or .html"
                .to_owned(),
        })
    }

    /// The figure of an episode that is held in memory, as a file of the form that the end of `--out` says.
    pub(super) fn file_of(&self, recording: &Recording, order: Order) -> anyhow::Result<Vec<u8>> {
        let format = self.format()?;
        self.check(format)?;
        self.check_recorded(&self.source)?;
        let drawn = RenderInput {
            recording: recording.clone(),
            order,
            spread: None,
            derivatives: None,
            provenance: None,
        };
        let options = self.options(format, recording, order)?;
        Ok(self.alone(&drawn, format, options)?.0)
    }

    /// Checks that nothing is requested of a recorded trace that needs its machine.
    fn check_recorded(&self, source: &str) -> anyhow::Result<()> {
        // A comparison may have one of each.
        let of_episode = self.episode.given().filter(|_| self.compare.is_none());
        let samples = self.samples.map(|_| "--samples");
        let gradient = self.gradient.map(|_| "--gradient");
        as_it_is(of_episode.or(samples).or(gradient), source, "drawn")
    }

    /// The figure of an episode as a file, and its title.
    fn alone(
        &self,
        drawn: &RenderInput,
        format: Format,
        options: Options,
    ) -> anyhow::Result<(Vec<u8>, String)> {
        self.written(&self.figure(drawn, options)?, format)
    }

    fn figure<'a>(&self, drawn: &'a RenderInput, options: Options) -> anyhow::Result<Figure<'a>> {
        let figure = Figure::new(&drawn.recording, options);
        let figure = figure.with_spread(drawn.spread.as_ref());
        let figure = figure.with_layer(drawn.derivatives.as_ref());
        let figure = figure.with_provenance(drawn.provenance.as_ref());
        self.check_pictures(&figure)?;
        if self.slide {
            let size = slide(figure.least_size());
            return Ok(figure.with_size(size));
        }
        Ok(figure)
    }

    /// Returns the figure of an episode next to the `other`, with their difference.
    fn compared(
        &self,
        a: &Recording,
        other: &str,
        format: Format,
        options: Options,
    ) -> anyhow::Result<(Vec<u8>, String)> {
        let b = self.recording(other)?.recording;
        let [one, two] = [a, &b].map(|recording| Side::of(recording, None));
        let found = trace::compare(one, two, TOLERANCE).map_err(|sizes| {
            let (a, sizes) = (&self.source, sizes.join("; "));
            anyhow!("--compare {other}: cannot be compared with {a}, sizes differ: {sizes}")
        })?;
        let common = Common::of(a, &b);
        let steps: Vec<f32> = found.steps.iter().map(|&most| most as f32).collect();
        let first = found.first.as_ref().and_then(|first| first.step);
        let named = |recording, name| Named { recording, name };
        let (a, b) = (named(a, &self.source), named(&b, other));
        let mut figure = Comparison::new(a, b, &common, options);
        (figure.differences, figure.limit) = (&steps, (TOLERANCE as f32, first));
        figure.omitted = found.not_compared();
        self.written(&figure, format)
    }

    /// Checks that there is something to draw, and that it shows the requested stages and samples.
    fn check_pictures(&self, figure: &Figure<'_>) -> anyhow::Result<()> {
        let only = Layout::Pictures(vec![Picture::Uncertainty]);
        ensure!(
            !figure.is_empty() || self.layout != Some(only),
            "--layout: uncertainty needs samples of the episode; add --samples K"
        );
        ensure!(
            !figure.is_empty(),
            "--layout: this machine has none of these pictures; choose from {}",
            figure.pictures().join(", ")
        );
        ensure!(
            self.samples.is_none() || figure.shows_samples(),
            "--samples: none of these pictures shows samples; add stages or uncertainty to --layout, or use --layout debug"
        );
        let lacks_stages = self.stages && !figure.has_stages();
        ensure!(
            !lacks_stages || figure.pictures().contains(&"stages"),
            "--stages: this machine has no heads and so no stages; omit --stages"
        );
        ensure!(
            !lacks_stages,
            "--stages: none of these pictures shows the stages of a step; add stages or memory to --layout, or use --layout debug"
        );
        Ok(())
    }

    /// Pictures as a file, and their title. An animation that takes long shows how far it is, and one that will be
    /// large is announced.
    fn written(&self, pages: &dyn Pages, format: Format) -> anyhow::Result<(Vec<u8>, String)> {
        let usual_delay = if self.over_training { LEARNING } else { STEP };
        let usual = Motion::new(self.delay.unwrap_or(usual_delay));
        let (Drawing { title, .. }, scale) = self.drawing(pages, format, self.scale(format))?;
        let is_player = format == Format::Html;
        if format != Format::Gif && !is_player && !self.moves() {
            let told = async |_, _| ControlFlow::Continue(());
            let bytes = at_once(to_bytes(pages, format, scale, usual, told));
            return Ok((bytes.unwrap_or_default(), title));
        }
        let walk = if is_player { Walk::Player } else { self.walk() };
        let moments = pages.frame_times(walk);
        self.check_duration(&moments)?;
        let heads = if is_player {
            pages.heads().len().max(1)
        } else {
            1
        };
        let frames = moments.len() * heads;
        let bytes = if frames < MANY || is_player {
            0
        } else {
            estimated_bytes(pages, scale, walk)
        };
        if bytes > LARGE {
            note(&format!(
                "warning: the animation has {frames} frames and takes about {} MB; to make it smaller, use --steps A..B, \
                 a smaller --size or --scale, or fewer pictures (--layout)",
                bytes / 1_000_000
            ));
        }
        let mut bar = Bar::new(frames);
        let motion = Motion { walk, ..usual };
        let told = async |done: usize, all: usize| {
            bar.set(done, all);
            ControlFlow::Continue(())
        };
        let drawn = at_once(to_bytes(pages, format, scale, motion, told));
        bar.shown.finish_and_clear();
        // Nothing gives it up here.
        let drawn = drawn.map_err(|_| {
            anyhow!(
                "--out {}: {frames} frames take more than {} MB; use --steps A..B, one head (--head), or fewer pictures (--layout)",
                label(self.out()),
                LARGEST / 1_000_000
            )
        })?;
        if !self.motion && !is_player {
            return Ok((drawn, title));
        }
        let size = format!("{:.1} MB", drawn.len() as f64 / 1e6);
        if drawn.len() > SENT && self.motion {
            note(&format!(
                "warning: {size} is more than many mail and web services accept (3 MB); use fewer steps (--steps A..B) \
                 or a smaller --size"
            ));
        }
        Ok((drawn, format!("{title}, {frames} frames, {size}")))
    }

    /// Checks that an animation is not longer than it may be.
    fn check_duration(&self, moments: &[FrameTime]) -> anyhow::Result<()> {
        let Some(seconds) = self.seconds else {
            return Ok(());
        };
        let takes = duration(moments);
        ensure!(
            takes <= seconds,
            "--seconds {seconds}: these steps take {takes:.1} s at least; use fewer steps (--steps A..B) or more seconds"
        );
        Ok(())
    }

    fn walk(&self) -> Walk {
        match (self.moves(), self.stages) {
            (true, _) => Walk::Motion,
            (_, true) => Walk::Stages,
            _ => Walk::Steps,
        }
    }

    /// True for an animation, whatever the file is.
    fn moves(&self) -> bool {
        self.motion || self.over_training
    }

    /// Pixels per unit of a page that is no slide.
    fn scale(&self, format: Format) -> f32 {
        let is_still = !matches!(format, Format::Gif | Format::Html) && !self.moves();
        let usual = if is_still { 2.0 } else { 1.0 };
        self.scale.unwrap_or(usual)
    }

    /// Options that do not go together.
    fn check(&self, format: Format) -> anyhow::Result<()> {
        let is_gif = format == Format::Gif || self.frames.is_some();
        let is_close_up = self.layout == Some(Layout::CloseUp);
        ensure!(
            self.gradient.is_none() || !is_close_up,
            "--gradient: the layout closeup shows no gradients; use --layout debug, paper, or picture names"
        );
        ensure!(
            self.provenance.is_none() || !is_close_up,
            "--provenance: the layout closeup has no time axis; use --layout debug, paper, or picture names"
        );
        ensure!(
            !self.motion || matches!(format, Format::Gif | Format::Png),
            "--motion: SVG and HTML are not animated; use a file name that ends in .gif, or in .png for an animated PNG"
        );
        ensure!(
            !self.motion || self.layout.is_none() || is_close_up,
            "--motion: only the layout closeup is animated; omit --layout"
        );
        ensure!(
            !is_gif || self.step.is_none(),
            "--step: a GIF shows every step; choose steps with --steps A..B, or draw one step as .svg or .png"
        );
        let of_pages = [
            ("--link", self.link.is_some()),
            ("--live", self.live.is_some()),
        ];
        for (option, is_given) in of_pages {
            ensure!(
                !is_given || format == Format::Html,
                "{option}: applies to pages only; use a file name that ends in .html"
            );
        }
        for (option, is_given) in [("--delay", self.delay.is_some()), ("--stages", self.stages)] {
            ensure!(
                is_gif || !is_given,
                "{option}: applies to GIF and --frames only; use a file name that ends in .gif"
            );
        }
        Ok(())
    }

    /// Returns the episode, read from a trace or recorded now.
    fn recording(&self, source: &str) -> anyhow::Result<RenderInput> {
        if !io::is_trace(Path::new(source)) || self.episode.weights.is_some() {
            self.attention.check_machine(source)?;
            let trained = self.episode.trained(source)?;
            let spread = self
                .samples
                .map(|count| self.spread(source, &trained, count));
            let recording = self.episode.record(source, &trained)?;
            let machine = &trained.machine;
            let derivatives = self.gradient.map(|of| {
                let compute = || Gradients::new(machine, &recording, of);
                gradient::computed(of, &machine.config, &recording, compute)
            });
            return Ok(RenderInput {
                spread: spread.transpose()?.flatten(),
                derivatives: derivatives.transpose()?,
                provenance: self.provenance(&recording, &machine.config, Some(machine))?,
                recording,
                order: trained.machine.config.order(),
            });
        }
        self.check_recorded(source)?;
        let path = Path::new(source);
        // The files of tokens belong to the first of two.
        let imported = if source == self.source {
            trace::read_with(path, &self.attention.options())?
        } else {
            trace::read(path)?
        };
        note_wrap_around(source, &imported.recording);
        Ok(RenderInput {
            provenance: self.provenance(&imported.recording, &imported.config, None)?,
            recording: imported.recording,
            order: imported.config.order(),
            spread: None,
            derivatives: None,
        })
    }

    /// The requested value as a sum over writes.
    fn provenance(
        &self,
        recording: &Recording,
        config: &ModelConfig,
        model: Option<&Model>,
    ) -> anyhow::Result<Option<Provenance>> {
        let name = self.provenance.as_ref();
        let made = name.map(|name| made(["--provenance", name], recording, config, model));
        made.transpose()
    }

    /// Returns statistics over `count` samples of the episode, the same samples as in the window.
    fn spread(
        &self,
        source: &str,
        trained: &Trained,
        count: u64,
    ) -> anyhow::Result<Option<Spread>> {
        let config = &trained.machine.config;
        machine::check_random("--samples", source, config)?;
        let mut chosen = self.episode.choose(source, trained)?;
        let steps = chosen.episode.steps();
        let bytes = Samples::bytes(count as usize, steps, config.heads(), config.rows());
        machine::claim(bytes, 0, &format!("--samples {count}: keeping all samples"))?;
        let mut samples = Samples::default();
        for sample in 0..count {
            if let Some(origin) = &mut chosen.origin {
                (origin.sample, origin.sampling) = (sample, NoiseMode::Sampled);
            }
            samples.add(chosen.record(&trained.machine)?);
        }
        Ok(samples.spread())
    }

    /// The address of the same episode in a browser.
    fn linked(&self, of: &Recording) -> anyhow::Result<Option<String>> {
        let Some(address) = &self.link else {
            return Ok(None);
        };
        let is_address = address.starts_with("https://") || address.starts_with("http://");
        ensure!(
            is_address && !address.contains('#'),
            "--link: expected an address that begins with https:// or http:// and has no #"
        );
        let is_changed = !of.conventions.interventions.is_empty();
        let numbers = self
            .numbers(of)
            .filter(|_| self.is_included() && !is_changed);
        let numbers = numbers.ok_or_else(|| {
            anyhow!(
                "--link: names an episode of an included machine by its seed; omit --weights, --input, --episode and --intervene"
            )
        })?;
        Ok(Some(format!("{address}#machine={}{numbers}", self.source)))
    }

    /// True for an included machine with its own weights.
    fn is_included(&self) -> bool {
        let mut names = weights::included_names();
        names.any(|name| name == self.source) && self.episode.weights.is_none()
    }

    /// The size, repeats, seed, sample and rows of an episode in a link; `None` if a seed alone does not give the episode.
    fn numbers(&self, of: &Recording) -> Option<String> {
        let origin = of.origin.filter(|origin| origin.episode == 0)?;
        let (episode, task) = (&of.episode, &of.task);
        let rows = self.episode.sizes.rows.map(|rows| rows as u64);
        let repeats = task.repeats().map(|_| episode.repeats as u64);
        let sample = (origin.sampling == NoiseMode::Sampled).then_some(origin.sample);
        let numbers = [
            (task.measure().name(), Some(episode.size as u64)),
            ("repeats", repeats),
            ("seed", Some(origin.seed)),
            ("sample", sample),
            ("rows", rows),
        ];
        let numbers = numbers
            .into_iter()
            .filter_map(|(name, number)| Some((name, number?)));
        let numbers = numbers.map(|(name, number)| format!("&{name}={number}"));
        Some(numbers.collect())
    }

    fn options(&self, format: Format, of: &Recording, order: Order) -> anyhow::Result<Options> {
        let usual = match format {
            _ if self.motion => Layout::CloseUp,
            Format::Gif | Format::Html => Layout::Debug,
            _ => Layout::Paper,
        };
        let options = Options::new(self.layout.clone().unwrap_or(usual));
        let steps = of.trace.steps();
        let last = steps.checked_sub(1);
        let has = last.map_or("no steps".to_owned(), |last| format!("steps 0 to {last}"));
        if let Some(step) = self.step {
            ensure!(step < steps, "--step {step}: the episode has {has}");
        }
        if let Some(asked) = &self.steps {
            let span = format!("{}..{}", asked.start(), asked.end());
            ensure!(
                *asked.end() < steps,
                "--steps {span}: the episode has {has}"
            );
            if let Some(step) = self.step {
                ensure!(
                    asked.contains(&step),
                    "--step {step}: is outside --steps {span}"
                );
            }
        }
        let find = |label: &String| {
            let problem = |known| anyhow!("--head {label}: {known}");
            find_head(&of.trace, label).map_err(problem)
        };
        let span = self.steps.as_ref();
        Ok(Options {
            dark: self.dark,
            writes_first: order == Order::WriteFirst,
            size: self.size,
            step: self.step,
            steps: span.map(|steps| *steps.start()..steps.end() + 1),
            seconds: self.seconds,
            all_rows: matches!(self.show_rows, RowSelection::All),
            heads: self.head.iter().map(find).collect::<Result<_, _>>()?,
            upwards: match self.orientation {
                None => options.upwards,
                Some(position) => matches!(position, Row0Position::Paper),
            },
            log_scale: self.log,
            density: self.scale(format),
            link: self.linked(of)?,
            ..options
        })
    }

    /// Returns the figure, if it can be drawn at the requested size, and its pixels per unit: `scale`, or what fills a slide.
    fn drawing(
        &self,
        pages: &dyn Pages,
        format: Format,
        scale: f32,
    ) -> anyhow::Result<(Drawing, f32)> {
        let (least_width, least_height) = pages.least_size();
        if let Some((width, height)) = self.size {
            ensure!(
                width >= least_width && height >= least_height,
                "--size {width}x{height}: this figure needs at least {least_width}x{least_height}"
            );
        }
        let drawing = pages.draw();
        let scale = if self.slide {
            SLIDE[1] / drawing.height
        } else {
            scale
        };
        if matches!(format, Format::Svg | Format::Html) {
            return Ok((drawing, scale));
        }
        let [width, height] = drawing.pixels(scale);
        let too_long = format == Format::Gif && width.max(height) > MOST_OF_GIF;
        ensure!(
            width as f32 * height as f32 <= MOST_PIXELS && !too_long,
            "--scale {scale}: {width} × {height} pixels are too many; use a smaller --scale or --size"
        );
        let what = format!("drawing {width} × {height} pixels");
        // The frames of an animation are drawn on all processors.
        let threads = if format == Format::Gif {
            threads(None)
        } else {
            0
        };
        machine::claim(drawing.bytes(scale), threads, &what)?;
        Ok((drawing, scale))
    }
}

/// How far an animation is: a bar, or a line now and then where standard error is no terminal.
struct Bar {
    shown: ProgressBar,
    start: Instant,
    next: Duration,
}

impl Bar {
    fn new(frames: usize) -> Self {
        let shown = ProgressBar::new(frames as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent} %  {eta} left") {
            shown.set_style(style);
        }
        let (start, next) = (Instant::now(), FIRST_LINE);
        Self { shown, start, next }
    }

    fn set(&mut self, done: usize, all: usize) {
        self.shown.set_length(all as u64);
        self.shown.set_position(done as u64);
        let line = progress(self.start.elapsed(), &mut self.next, done, all);
        if let Some(line) = line.filter(|_| self.shown.is_hidden()) {
            note(&line);
        }
    }
}

/// A line of progress, once after [`FIRST_LINE`] and then whenever twice the time has passed; none before the first frame.
fn progress(elapsed: Duration, next: &mut Duration, done: usize, all: usize) -> Option<String> {
    if elapsed < *next || done == 0 || done >= all {
        return None;
    }
    *next = 2 * elapsed;
    let left = elapsed.mul_f64((all - done) as f64 / done as f64);
    Some(format!(
        "{} % drawn, {} left",
        100 * done / all,
        HumanDuration(left)
    ))
}

/// The smallest page of a slide that has room for a figure of this size.
fn slide((width, height): (f32, f32)) -> (f32, f32) {
    let [across, down] = SLIDE.map(|pixels| pixels / SLIDE[1]);
    let height = height.max(down * width / across).max(LEAST_SLIDE).ceil();
    (across * height, height)
}

/// Parses a layout as typed.
fn layout(text: &str) -> Result<Layout, String> {
    match text {
        "paper" => return Ok(Layout::Paper),
        "debug" => return Ok(Layout::Debug),
        "closeup" => return Ok(Layout::CloseUp),
        _ => {}
    }
    let picture = |name: &str| {
        let known = Picture::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, picture)| *picture).ok_or_else(|| {
            let names = Picture::NAMES.map(|(name, _)| name);
            let layouts = ["paper", "debug", "closeup"];
            let problem = if layouts.contains(&name) {
                "is a whole layout and cannot be combined; ".to_owned()
            } else {
                let meant = did_you_mean(name, names.into_iter().chain(layouts));
                format!("is not a picture; {meant}")
            };
            let names = names.join(", ");
            format!("`{name}` {problem}expected paper, debug, closeup, or pictures: {names}")
        })
    };
    let pictures: Result<Vec<_>, _> = text.split(',').map(|name| picture(name.trim())).collect();
    Ok(Layout::Pictures(pictures?))
}

/// Steps, as they are typed.
fn steps(text: &str) -> Result<RangeInclusive<usize>, String> {
    let expected = "expected a range of steps such as 5..12 (inclusive)";
    match ends(text, expected)? {
        [first, last] if last < u64::from(u32::MAX) => Ok(first as usize..=last as usize),
        _ => Err(expected.to_owned()),
    }
}

/// Pixels per unit, as it is typed.
fn scale(text: &str) -> Result<f32, String> {
    within(text, 0.1..=8.0, "a number, 0.1 to 8")
}

/// Seconds of an animation.
fn seconds(text: &str) -> Result<f32, String> {
    within(text, 1.0..=600.0, "seconds, 1 to 600")
}

/// Milliseconds, as they are typed, in hundredths of a second.
fn delay(text: &str) -> Result<u16, String> {
    let delay = within(text, 20..=60_000, "milliseconds, 20 to 60000")?;
    Ok(delay / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_animation_reports_progress_and_time_left() {
        let mut next = FIRST_LINE;
        let mut line = |seconds, done| {
            let elapsed = Duration::from_secs(seconds);
            progress(elapsed, &mut next, done, 5000)
        };
        assert_eq!(line(59, 400), None);
        assert_eq!(line(60, 0), None);
        let said = line(61, 1250).unwrap();
        assert_eq!(said, "25 % drawn, 3 minutes left");
        assert_eq!(line(121, 2400), None);
        assert!(line(122, 2500).is_some());
        assert_eq!(line(300, 5000), None);
    }
}
