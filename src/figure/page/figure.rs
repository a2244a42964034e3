//! The figures of an episode: their pictures, and the layout of the page.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::ArrayView2;

use crate::analysis::provenance::Provenance;
use crate::figure::facts::gradients::Layer;
use crate::figure::facts::moment::Moment;
use crate::figure::facts::over_time::{OverTime, Owner};
use crate::figure::facts::quantities::by_rank;
use crate::figure::facts::rows::{Rows, Span, addressed, touched_by};
use crate::figure::facts::spread::Spread;
use crate::figure::facts::stage::Stage;
use crate::figure::facts::stages::StageRef;
use crate::figure::page::closeup;
use crate::figure::page::debug::geometry::Columns;
use crate::figure::page::debug::{self, DebugPage};
use crate::figure::scene::catalogue::{Catalogue, Facts};
use crate::figure::scene::layout::{self, Band, Scene, least_size, stacked};
use crate::figure::scene::pace::paces;
use crate::figure::scene::pages::{FrameTime, Opening, Pages, REST, View};
use crate::figure::scene::paint::{NO_DERIVATIVE, NOT_RECORDED, Page, Paint, Surface, TO_COME};
use crate::figure::scene::panel::{Across, Content, Panel, PlacedPanel};
use crate::figure::scene::provenance::arcs;
use crate::figure::{
    Area, Colours, Drawing, HeadName, Map, PanelId, Picture, Scalar, Scale, Walk, facts::numbers,
    head_label, scalars,
};
use crate::model::NoiseMode;
use crate::train::{Recording, is_unrecorded};

/// A figure that runs has all heads up to this number, if none are chosen.
const MOST_HEADS: usize = 8;

/// Pictures of a figure, and their arrangement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Figure 6 of the paper: inputs, adds and write weightings at the left; outputs, reads and read
    /// weightings at the right.
    Paper,
    /// Everything, as in the window.
    Debug,
    /// One head, or two, at a few rows of the memory: input, key, weighting, shift, read or write, output.
    CloseUp,
    /// A list of pictures, one below the other.
    Pictures(Vec<Picture>),
}

/// Options of a figure.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The pictures.
    pub layout: Layout,
    /// Light on dark.
    pub dark: bool,
    /// The colours of weightings; those of the paper are always gray.
    pub map: Map,
    /// Width and height of the page; by default those that suit the layout.
    pub size: Option<(f32, f32)>,
    /// The step to be marked, and shown where a picture shows one step. Where not given the last one is shown,
    /// and marked in [`Layout::Debug`] only.
    pub step: Option<usize>,
    /// The current stage of the step, by its place among [`Stages`]; by default the step is over.
    pub stage: Option<usize>,
    /// Progress of that stage, 0 to 1.
    pub through: f32,
    /// The steps of the time axis, those of an animation; all where not given.
    pub steps: Option<Range<usize>>,
    /// Longest duration of an animation in motion, in seconds, if its steps fit into that time.
    pub seconds: Option<f32>,
    /// True for a machine whose read heads see the writes of the same step.
    pub writes_first: bool,
    /// True where all memory rows are shown, not only those that some head touches.
    pub all_rows: bool,
    /// The heads; all where empty. A picture of a single head shows the first one of each kind.
    pub heads: Vec<usize>,
    /// True where the main layout shows only the final weighting of each head.
    pub all_heads: bool,
    /// True where row 0 is at the bottom, as in the paper.
    pub upwards: bool,
    /// Weightings by their logarithm, 1e-6 to 1, in the colours of [`Options::map`] also in the layout of the
    /// paper.
    pub log_scale: bool,
    /// True where nothing is shown of later steps, except what is given, as during playback.
    pub hides_future: bool,
    /// Pixels per unit of the page that an image may use.
    pub density: f32,
    /// The address of the same episode in the window in a browser, for a page with a player.
    pub link: Option<String>,
}

impl Options {
    /// Returns the default options of a layout.
    pub fn new(layout: Layout) -> Self {
        Self {
            upwards: layout == Layout::Paper,
            layout,
            dark: false,
            map: Map::default(),
            size: None,
            step: None,
            stage: None,
            through: 1.0,
            steps: None,
            seconds: None,
            writes_first: false,
            all_rows: false,
            heads: Vec::new(),
            all_heads: false,
            log_scale: false,
            hides_future: false,
            density: 2.0,
            link: None,
        }
    }

    /// The settings of a page from this step on.
    pub(crate) fn page(&self, first: usize) -> Page {
        let colours = Colours::with_map(self.dark, self.map);
        Page {
            first,
            step: self.step,
            stage: self.stage,
            through: self.through,
            hides_future: self.hides_future,
            ..Page::on_screen(colours, self.density)
        }
    }

    /// The steps of the time axis of an episode with `steps` steps.
    pub(crate) fn span(&self, steps: usize) -> Range<usize> {
        let within = |span: &Range<usize>| span.start.min(steps)..span.end.min(steps);
        self.steps.as_ref().map_or(0..steps, within)
    }

    /// The step that pictures of one step show, on a time axis with these steps.
    pub(crate) fn step_within(&self, span: &Range<usize>) -> usize {
        let last = span.end.saturating_sub(1);
        self.step.unwrap_or(last).min(last)
    }
}

/// An episode, ready to be drawn.
#[derive(Clone, Debug)]
pub struct Figure<'a> {
    recording: &'a Recording,
    options: Options,
    /// The steps of the time axis.
    span: Range<usize>,
    rows: Cow<'a, Rows>,
    facts: Cow<'a, Facts>,
    /// The cells that the first step finds, by layer.
    initial: Option<ArrayView2<'a, f32>>,
    /// Statistics over many samples, if requested.
    spread: Option<&'a Spread>,
    /// The layer shown: values or gradients.
    layer: Layer<'a>,
    /// A value with arcs to the writes that made it, if requested.
    provenance: Option<&'a Provenance>,
}

impl<'a> Figure<'a> {
    /// A figure of this episode.
    pub fn new(recording: &'a Recording, options: Options) -> Self {
        let trace = &recording.trace;
        let total = addressed(trace);
        let span = options.span(trace.steps());
        let mut rows = Rows::all(total);
        if !options.all_rows {
            // The first step shows what was before it, too.
            let steps = span.start.saturating_sub(1)..span.end;
            rows = Rows::of(touched_by(&[recording], total, steps), total);
        }
        Self {
            rows: Cow::Owned(rows),
            facts: Cow::Owned(Facts::of(recording, options.writes_first)),
            span,
            initial: None,
            spread: None,
            layer: None,
            provenance: None,
            recording,
            options,
        }
    }

    /// Adds the cells before the first step, by layer.
    pub fn with_initial(self, initial: Option<ArrayView2<'a, f32>>) -> Self {
        Self { initial, ..self }
    }

    /// The figure on a page of this size.
    pub fn with_size(mut self, size: (f32, f32)) -> Self {
        self.options.size = Some(size);
        self
    }

    /// Adds the spread of many samples of the episode.
    pub fn with_spread(self, spread: Option<&'a Spread>) -> Self {
        Self { spread, ..self }
    }

    /// Adds arcs from a value to the writes that made it, on a page with their weightings.
    pub fn with_provenance(self, provenance: Option<&'a Provenance>) -> Self {
        Self { provenance, ..self }
    }

    /// Takes the rows and scales of another figure of the same machine, so that equal places have equal meaning.
    pub(crate) fn share(&mut self, of: &Self) {
        self.rows.clone_from(&of.rows);
        self.facts.to_mut().scales = of.facts.scales.clone();
    }

    /// Shows derivatives in place of values, except in the close-up, which shows the computation of the values.
    /// Without a given step, pictures of one step show that of the most influential write.
    pub fn with_layer(mut self, layer: Layer<'a>) -> Self {
        self.layer = layer;
        let heaviest = layer.and_then(|by| by.heaviest);
        let step = heaviest.map(|write| write.step);
        let step = step.filter(|step| self.span.contains(step));
        self.options.step = self.options.step.or(step);
        self
    }

    /// Creates the figure from known rows, stages and scales of an episode.
    pub fn of(seen: Catalogue<'a>, options: Options) -> Self {
        Self {
            recording: seen.now.recording,
            rows: Cow::Borrowed(seen.rows),
            facts: Cow::Borrowed(seen.facts),
            initial: seen.initial,
            spread: seen.spread,
            layer: seen.layer,
            provenance: None,
            span: options.span(seen.now.trace().steps()),
            options,
        }
    }

    /// True where the pictures show something of the stages of a step.
    pub fn has_stages(&self) -> bool {
        let is_there = |of: &Picture| of.is_of_a_step() && !self.panels(*of).is_empty();
        match &self.options.layout {
            Layout::Paper => false,
            Layout::Debug | Layout::CloseUp => self.focus().is_some(),
            Layout::Pictures(pictures) => pictures.iter().any(is_there),
        }
    }

    /// True where the pictures show the spread of samples, if there are any.
    pub fn shows_samples(&self) -> bool {
        match &self.options.layout {
            Layout::Paper => false,
            Layout::Debug | Layout::CloseUp => true,
            Layout::Pictures(all) => {
                all.contains(&Picture::Stages) || all.contains(&Picture::Uncertainty)
            }
        }
    }

    /// True when there is nothing to draw: the episode has none of these pictures.
    pub fn is_empty(&self) -> bool {
        let steps = self.recording.trace.steps();
        match self.options.layout {
            Layout::Debug | Layout::CloseUp => steps == 0,
            _ => self.bands().is_empty(),
        }
    }

    /// The names of the pictures that there are of this episode.
    pub fn pictures(&self) -> Vec<&'static str> {
        let all = Picture::NAMES.into_iter();
        let there = all.filter(|(_, picture)| !self.panels(*picture).is_empty());
        there.map(|(name, _)| name).collect()
    }

    /// The pictures in a part of something else, at their places.
    pub fn paint(&self, on: &mut dyn Paint, area: Area) -> Vec<PlacedPanel<'_>> {
        let page = self.page();
        let on = &mut Surface::new(on, &page);
        match self.options.layout {
            Layout::CloseUp => self.close_up(on, area),
            Layout::Debug => self.debug(on, area),
            _ => layout::paint(on, self.bands(), area),
        }
    }

    /// Paints one head, or two, at a few rows: the requested ones, or the salient head of the step.
    fn close_up(&self, on: &mut Surface<'_>, area: Area) -> Vec<PlacedPanel<'_>> {
        let mut heads = self.options.heads.clone();
        if heads.is_empty() {
            heads.extend(self.facts.salient.at(self.step()));
        }
        closeup::paint(on, self.catalogue(), &heads, area)
    }

    /// The figure in this view.
    fn viewed(&self, View { at, head, dark }: &View) -> Figure<'_> {
        let mut figure = Figure {
            rows: Cow::Borrowed(&*self.rows),
            facts: Cow::Borrowed(&*self.facts),
            span: self.span.clone(),
            options: self.options.clone(),
            ..*self
        };
        let options = &mut figure.options;
        options.step = Some(at.step);
        (options.stage, options.through) = (at.stage, at.through);
        if let Some(head) = head {
            options.heads = vec![*head];
        }
        options.dark = dark.unwrap_or(options.dark);
        figure
    }

    /// The frames of all steps in motion.
    fn in_motion(&self) -> Vec<FrameTime> {
        let stages: Vec<_> = self.span.clone().map(|step| self.moving(step)).collect();
        let counts: Vec<_> = stages.iter().map(Vec::len).collect();
        let most = self.options.seconds.map_or(usize::MAX, |seconds| {
            ((seconds * 100.0) as usize).saturating_sub(REST.into())
        });
        let steps = self.span.clone().zip(stages).zip(paces(&counts, most));
        let frames = steps.flat_map(|((step, stages), pace)| {
            let stages = stages.into_iter().map(Some);
            let stages = stages.filter(move |_| pace.in_stages);
            let whole = (!pace.in_stages).then_some(None);
            stages.chain(whole).flat_map(move |stage| {
                (1..=pace.frames).map(move |frame| FrameTime {
                    through: f32::from(frame) / f32::from(pace.frames),
                    lasts: Some(pace.lasts(frame)),
                    ..FrameTime::new(step, stage)
                })
            })
        });
        frames.collect()
    }

    /// The stages of a step in which the heads shown take part.
    fn moving(&self, step: usize) -> Vec<usize> {
        let heads = &self.recording.trace.heads;
        let asked = self.options.heads.first().copied();
        let shown = asked.or_else(|| self.facts.salient.at(step));
        let is_scored = self.recording.episode.is_scored(step);
        let moves = |at: StageRef| match at.stage {
            Stage::Controller | Stage::Statement(_) => true,
            Stage::Output => is_scored || heads.is_empty(),
            _ => shown.is_some_and(|head| at.has(&heads[head])),
        };
        let stages = self.facts.stages.iter().enumerate();
        let moving = stages.filter(|(_, at)| moves(*at)).map(|(place, _)| place);
        moving.collect()
    }

    /// The width, and the height where it does not follow from the pictures.
    fn natural_size(&self) -> (f32, Option<f32>) {
        match &self.options.layout {
            Layout::Paper => (1040.0, None),
            Layout::Debug => (1440.0, Some(900.0)),
            Layout::CloseUp => (1200.0, Some(630.0)),
            Layout::Pictures(all) if all.iter().all(|p| p.is_of_a_step()) => (620.0, None),
            Layout::Pictures(_) => (760.0, None),
        }
    }

    fn page(&self) -> Page {
        let page = self.options.page(self.span.start);
        let is_debug = self.options.layout == Layout::Debug;
        Page {
            step: page.step.or(is_debug.then(|| self.step())),
            as_paper: self.is_paper(),
            to_come: if is_debug { TO_COME } else { 0.0 },
            lacking: self.layer.map_or(NOT_RECORDED, |_| NO_DERIVATIVE),
            ..page
        }
    }

    fn is_paper(&self) -> bool {
        self.options.layout == Layout::Paper
    }

    /// Returns the title of the figure, in one line.
    fn title(&self) -> String {
        let recording = self.recording;
        let (task, measure) = (recording.task.name(), recording.task.size_name());
        let size = recording.episode.size;
        let origin = match recording.origin.map(|drawn| (drawn.seed, drawn.episode)) {
            Some((seed, 0)) => format!(", seed {seed}"),
            Some((seed, episode)) => format!(", seed {seed}, episode {episode}"),
            None => String::new(),
        };
        let is_noisy = recording.trace.noise().next().is_some();
        let drawn = recording.origin.filter(|_| is_noisy);
        let drawn = drawn.map_or_else(String::new, |draw| match draw.sampling {
            NoiseMode::Mean => String::new(),
            NoiseMode::Sampled => format!(", sample {}", draw.sample),
            NoiseMode::Expected => ", expected".to_owned(),
        });
        let score = recording.score;
        let is_known = !is_unrecorded(&recording.loss) && !recording.lacks_target();
        let loss = is_known.then(|| recording.episode.answer.in_words(score.bits, 3));
        let wrong = (score.scored > 0).then(|| recording.wrong_of_scored());
        let description = match (loss, wrong) {
            (Some(loss), Some(wrong)) => format!("{loss}, {wrong}"),
            (loss, wrong) => {
                let source = self.facts.source.as_ref();
                let links = || source.and_then(|source| source.lowest_error(&recording.trace));
                let known = loss.or(wrong).or_else(links);
                known.unwrap_or_else(|| "as recorded".to_owned())
            }
        };
        let steps = self.options.steps.as_ref().map_or_else(String::new, |_| {
            let (first, last) = (self.span.start, self.span.end.saturating_sub(1));
            format!("; steps {first} to {last}")
        });
        let layer = self.layer.map_or_else(String::new, |by| {
            let write = by.heaviest.as_ref().map_or_else(String::new, |write| {
                let write = by.write_in_words(write, &recording.trace);
                format!("; write with the largest gradient: {write}")
            });
            format!("; {}{write}", by.describe())
        });
        let writes = self.provenance.map_or_else(String::new, |found| {
            format!("; {}", found.describe(&recording.trace))
        });
        let set = match recording.conventions.interventions.len() {
            0 => String::new(),
            1 => ", with an intervention".to_owned(),
            count => format!(", with {count} interventions"),
        };
        let what = format!("{task}, {measure} {size}{origin}{drawn}{set}");
        format!("{what}: {description}{steps}{layer}{writes}")
    }

    /// The step that pictures of one step show.
    fn step(&self) -> usize {
        self.options.step_within(&self.span)
    }

    fn bands(&self) -> Vec<Band<'_>> {
        let mut bands = match &self.options.layout {
            Layout::Paper => self.paper(),
            Layout::Debug | Layout::CloseUp => Vec::new(),
            Layout::Pictures(pictures) => {
                let panels = pictures.iter().flat_map(|picture| self.panels(*picture));
                stacked(panels.collect())
            }
        };
        for band in &mut bands {
            band.stacks.retain(|(_, stack)| !stack.is_empty());
        }
        bands.retain(|band| !band.stacks.is_empty());
        bands
    }

    fn paper(&self) -> Vec<Band<'_>> {
        let one = |picture: Option<PanelId>| {
            let panel = picture.and_then(|id| self.over_time(id));
            (0.5, panel.into_iter().collect())
        };
        let of_head = |write: bool, picture| {
            let head = self.head_of_kind(write);
            one(head.map(|head| PanelId::of(picture, head)))
        };
        let of_all = |picture| one(Some(PanelId::new(picture)));
        let band = |left, right, axis| Band {
            stacks: vec![left, right],
            axis,
        };
        let has_heads = !self.recording.trace.heads.is_empty();
        let (adds, reads, weightings) = (Picture::Adds, Picture::Reads, Picture::Weightings);
        let mut bands = vec![
            band(of_all(Picture::Input), of_all(Picture::Output), !has_heads),
            band(of_head(true, adds), of_head(false, reads), false),
            band(of_head(true, weightings), of_head(false, weightings), true),
        ];
        bands.extend(stacked(self.panels(Picture::Patches)));
        let [mut large, _] = by_rank(&self.facts.quantities);
        let over_rows = self.catalogue().over_rows();
        if !over_rows.is_empty() {
            large = over_rows;
        }
        // Tables of one step have no place among pictures over time.
        let large = large.into_iter().filter_map(|own| {
            let picture = if own.is_memory() {
                Picture::Norms
            } else {
                Picture::Quantities
            };
            self.over_time(PanelId::new(picture).part(own.part))
        });
        bands.extend(stacked(large.collect()));
        bands
    }

    /// Returns the main layout, with the selected head and one beside it.
    fn debug_page(&self) -> DebugPage<'_> {
        DebugPage {
            seen: self.catalogue(),
            whole: &self.rows,
            span: self.span.clone(),
            focus: self.focus().unwrap_or(0),
            pinned: self.options.heads.get(1).copied(),
            all_heads: self.options.all_heads,
            follows: false,
            scrolled: None,
        }
    }

    /// Paints the main layout: the pictures, and below them the numbers over time.
    fn debug(&self, on: &mut Surface<'_>, area: Area) -> Vec<PlacedPanel<'_>> {
        let of = self.debug_page();
        let is_two = of.pinned.is_some() && !of.all_heads;
        let heads = (self.recording.trace.heads.len(), is_two);
        let columns = Columns::new(Span::new(area.left, area.right), heads, false);
        let middle = area.bottom - of.timeline_height(area.height());
        let mut places = of.centre(on, columns, Span::new(area.top, middle));
        places.extend(of.timeline(on, columns, Span::new(middle, area.bottom)));
        places
    }

    /// The heads that were asked for.
    fn heads(&self) -> impl Iterator<Item = usize> + '_ {
        let all = 0..self.recording.trace.heads.len();
        let asked = &self.options.heads;
        all.filter(move |head| asked.is_empty() || asked.contains(head))
    }

    /// The first of the heads asked for that writes, or reads; the first such head of all, if none is.
    fn head_of_kind(&self, write: bool) -> Option<usize> {
        let heads = &self.recording.trace.heads;
        let is_right = |head: &usize| heads[*head].is_write() == write;
        let asked = self.options.heads.iter().copied();
        let asked = asked.filter(|&head| head < heads.len());
        asked.chain(0..heads.len()).find(is_right)
    }

    /// The head whose stages are shown: the first one asked for, or the first one that writes.
    fn focus(&self) -> Option<usize> {
        let is_there = |head: &usize| *head < self.recording.trace.heads.len();
        let asked = self.options.heads.first().copied().filter(is_there);
        let write = || self.head_of_kind(true);
        asked.or_else(write).or_else(|| self.heads().next())
    }

    fn panels(&self, picture: Picture) -> Vec<Panel<'_>> {
        let focus = self.focus();
        let one = |panel: Option<_>| Vec::from_iter(panel);
        let over_time = |of: &mut dyn Iterator<Item = usize>| {
            let panels = of.filter_map(|of| self.over_time(PanelId::of(picture, of)));
            panels.collect()
        };
        match picture {
            Picture::Patches => {
                let panels = self.heads();
                let panels =
                    panels.filter_map(|of| self.catalogue().panel(PanelId::of(picture, of)));
                panels.collect()
            }
            Picture::Memory => one(focus.and_then(|_| self.memory())),
            Picture::Stages => one(focus.and_then(|head| self.stages(head))),
            Picture::Scalars => one(focus.map(|head| self.lanes(head))),
            Picture::Overlap | Picture::Links => one(self.catalogue().panel(PanelId::new(picture))),
            Picture::Redundancy => one(self.redundancy()),
            Picture::Uncertainty => one(self.uncertainty()),
            Picture::Quantities => self.quantities(),
            Picture::Differences
            | Picture::Keys
            | Picture::Shifts
            | Picture::Units
            | Picture::Arrows
            | Picture::Norms
            | Picture::Learned => Vec::new(),
            Picture::Input
            | Picture::Feedback
            | Picture::Target
            | Picture::Output
            | Picture::Error
            | Picture::Adds
            | Picture::Erases
            | Picture::Reads
            | Picture::Weightings
            | Picture::Usage
            | Picture::Age
            | Picture::Precedence
            | Picture::Modes
            | Picture::Hidden
            | Picture::Cells => match OverTime::of(picture).map(|own| own.owner) {
                Some(Owner::Machine) => one(self.over_time(PanelId::new(picture))),
                Some(Owner::Layer) => over_time(&mut (0..self.recording.trace.layers.len())),
                Some(Owner::Head) => over_time(&mut self.heads()),
                None => Vec::new(),
            },
        }
    }

    /// The quantities of a machine file: each over time, of a table the norms of its rows and its values at the step.
    fn quantities(&self) -> Vec<Panel<'_>> {
        let all = self.facts.quantities.iter().flat_map(|own| {
            let [all, norms] = [Picture::Quantities, Picture::Norms]
                .map(|picture| PanelId::new(picture).part(own.part));
            if own.is_memory() {
                [self.over_time(norms), self.catalogue().panel(all.now())]
            } else {
                [self.over_time(all), None]
            }
        });
        all.flatten().collect()
    }

    /// The colours of bits and of weightings.
    fn shades(&self) -> [Scale; 2] {
        match (self.is_paper(), self.options.log_scale) {
            (true, false) => [Scale::Gray; 2],
            (true, true) => [Scale::Gray, Scale::weighting(true)],
            (false, log) => [Scale::Bits, Scale::weighting(log)],
        }
    }

    /// Returns the pictures of the shown step and its current stage.
    pub(crate) fn catalogue(&self) -> Catalogue<'_> {
        Catalogue {
            now: Moment {
                recording: self.recording,
                stages: &self.facts.stages,
                step: self.step(),
                place: self.options.stage.unwrap_or(usize::MAX),
                through: self.options.through.clamp(0.0, 1.0),
            },
            facts: &self.facts,
            shades: self.shades(),
            rows: &self.rows,
            upwards: self.options.upwards,
            as_paper: self.is_paper(),
            initial: self.initial,
            spread: self.spread,
            layer: self.layer,
        }
    }

    /// Returns a quantity over time, if it exists.
    fn over_time(&self, id: PanelId) -> Option<Panel<'_>> {
        Some(self.catalogue().panel(id)?.during(self.span.clone()))
    }

    /// The memory, with the heads that were asked for.
    fn memory(&self) -> Option<Panel<'_>> {
        let mut panel = self.catalogue().panel(PanelId::new(Picture::Memory))?;
        if let Content::Cells(cells) = &mut panel.content {
            let name = |head| HeadName::of(&self.recording.trace, head);
            let heads: Vec<_> = self.heads().map(name).collect();
            cells.marks.retain(|mark| heads.contains(&mark.name));
        }
        Some(panel)
    }

    /// The addressing of a head.
    fn stages(&self, head: usize) -> Option<Panel<'_>> {
        let mut panel = self.catalogue().panel(PanelId::of(Picture::Stages, head))?;
        if let Some(place) = self.options.stage {
            panel.note = format!("{}: {}", panel.note, self.facts.stages.at(place).name());
        }
        Some(panel)
    }

    fn lanes(&self, head: usize) -> Panel<'_> {
        let trace = &self.recording.trace;
        let (label, name) = (head_label(trace, head), HeadName::of(trace, head));
        let (lanes, note) = match self.layer {
            None => (scalars(&trace.heads[head], trace.steps()), String::new()),
            Some(by) => (by.scalars(head, trace.steps()), by.wrt("each of them")),
        };
        let lanes = lanes.into_iter();
        let lanes = lanes.map(|lane| (lane, Some(name))).collect();
        let named = (format!("Parameters of {label}"), note);
        let id = PanelId::of(Picture::Scalars, head);
        Panel {
            whose: label,
            ..self.lines(id, named, lanes)
        }
    }

    /// Returns the redundancy of heads: of each kind, and of all.
    fn redundancy(&self) -> Option<Panel<'_>> {
        let all = || self.facts.redundancies.0.iter();
        let lanes: Vec<_> = all().map(|of| (of.line.clone(), of.head)).collect();
        let means = all().map(|of| format!("{} {}", of.who, numbers::short(of.mean, 2)));
        let means = means.collect::<Vec<_>>().join(", ");
        let named = ("Redundancy".to_owned(), format!("mean of {means}"));
        let natural = 48.0 * lanes.len() as f32;
        (natural > 0.0).then(|| Panel {
            natural,
            ..self.lines(PanelId::new(Picture::Redundancy), named, lanes)
        })
    }

    /// Returns the uncertainty over many samples.
    fn uncertainty(&self) -> Option<Panel<'_>> {
        let spread = self.spread?;
        let note = format!("per output bit, from {} samples", spread.samples);
        let named = ("Uncertainty".to_owned(), note);
        let lanes: Vec<_> = spread
            .lines(self.recording.episode.steps())
            .map(|line| (line, None))
            .into();
        Some(Panel {
            natural: 48.0 * lanes.len() as f32,
            ..self.lines(PanelId::new(Picture::Uncertainty), named, lanes)
        })
    }

    /// Numbers over time as lines, with a title and a note.
    fn lines(
        &self,
        id: PanelId,
        (title, note): (String, String),
        mut lanes: Vec<(Scalar, Option<HeadName>)>,
    ) -> Panel<'_> {
        for (lane, _) in &mut lanes {
            lane.values = lane.values[self.span.clone()].to_vec();
        }
        Panel {
            name: title.clone(),
            whose: title.clone(),
            title,
            note,
            alt: "over time".to_owned(),
            across: Across::Steps(self.span.len()),
            ..Panel::new(id, Content::Lanes(lanes))
        }
    }
}

impl Pages for Figure<'_> {
    fn scene(&self) -> Scene<'_> {
        let (size, page) = (self.options.size, self.page());
        let (mut drawing, places) = match self.natural_size() {
            (width, Some(height)) => {
                let (width, height) = size.unwrap_or((width, height));
                let mut drawing = Drawing::new(width, height, page.colours.panel, self.title());
                let places = self.paint(&mut drawing, Area::new(0.0, 0.0, width, height));
                (drawing, places)
            }
            (width, None) => layout::scene(self.bands(), size, width, self.title(), &page),
        };
        if let Some(found) = self.provenance {
            arcs(&mut Surface::new(&mut drawing, &page), &places, found);
        }
        (drawing, places)
    }

    fn show(&self, view: &View, seen: &mut dyn FnMut(Scene<'_>)) {
        seen(self.viewed(view).scene());
    }

    fn opening(&self) -> Opening<'_> {
        Opening {
            step: self.options.step,
            head: self.focus(),
            link: self.options.link.as_deref(),
            is_dark: self.options.dark,
        }
    }

    fn heads(&self) -> Vec<(usize, String)> {
        let trace = &self.recording.trace;
        let all = self.options.heads.iter().copied();
        let mut all: Vec<usize> = all.collect();
        if all.is_empty() && trace.heads.len() <= MOST_HEADS {
            all.extend(0..trace.heads.len());
        }
        let shows_one = matches!(self.options.layout, Layout::Debug | Layout::CloseUp);
        let all = all.into_iter().filter(|_| shows_one);
        all.map(|head| (head, head_label(trace, head))).collect()
    }

    fn words(&self, at: FrameTime, head: Option<usize>) -> [String; 2] {
        let dark = None;
        let figure = self.viewed(&View { at, head, dark });
        let moment = figure.catalogue().now;
        let stage = moment.stage().map_or_else(String::new, StageRef::name);
        let head = head.or_else(|| figure.focus()).unwrap_or(0);
        [stage, moment.long(head)]
    }

    fn frame_times(&self, walk: Walk) -> Vec<FrameTime> {
        if walk == Walk::Motion {
            return self.in_motion();
        }
        let focus = self.focus().filter(|_| walk == Walk::Stages);
        let inside = match focus {
            _ if walk == Walk::Player && self.has_stages() => {
                (0..self.facts.stages.iter().count()).collect()
            }
            Some(head) => self
                .facts
                .stages
                .addressing(&self.recording.trace.heads[head]),
            None => Vec::new(),
        };
        let in_step = |step| {
            let stages = inside.iter().copied().map(Some).chain([None]);
            stages.map(move |stage| FrameTime::new(step, stage))
        };
        self.span.clone().flat_map(in_step).collect()
    }

    fn least_size(&self) -> (f32, f32) {
        match self.options.layout {
            Layout::CloseUp => closeup::LEAST,
            Layout::Debug => debug::LEAST,
            _ => least_size(&self.bands()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ops::ControlFlow;

    use super::*;
    use crate::figure::facts::family::columns_of;
    use crate::figure::facts::links::TemporalLinks;
    use crate::figure::facts::spread::Samples;
    use crate::figure::fixture::recording;
    use crate::figure::scene::addressing::Bars;
    use crate::figure::scene::layout::LEAST;
    use crate::figure::scene::panel::{Content, Hit};
    use crate::figure::{
        Anchor, Area, Format, Image, Mark, Motion, PlacedPanel, Rgb, Slot, Stage, Text,
        estimated_bytes, head_named, to_bytes,
    };
    use crate::model::{DncConfig, EquationsConfig, HeadTrace, Model, NtmConfig, SamConfig};
    use crate::platform::at_once;
    use crate::task::{Caption, Reuse, Task, Transduce};
    use crate::train::ABSENT;

    fn animated(figure: &Figure<'_>, format: Format, motion: Motion) -> Vec<u8> {
        let report_progress = async |_, _| ControlFlow::Continue(());
        at_once(to_bytes(figure, format, 0.5, motion, report_progress)).unwrap()
    }

    fn images(drawing: &Drawing) -> Vec<(&Area, &Image)> {
        let marks = drawing.marks.iter();
        let images = marks.filter_map(|mark| match mark {
            Mark::Image { area, image } if image.rows > 1 => Some((area, image)),
            _ => None,
        });
        images.collect()
    }

    fn options(layout: Layout) -> Options {
        Options {
            all_rows: true,
            ..Options::new(layout)
        }
    }

    #[test]
    fn pixels_are_the_values_through_the_colour_map() {
        let recording = recording();
        let weighting = &recording.trace.heads[2].weighting;
        for (upwards, dark) in [(false, true), (true, false)] {
            let options = Options {
                upwards,
                dark,
                heads: vec![2],
                ..options(Layout::Pictures(vec![Picture::Weightings]))
            };
            let figure = Figure::new(&recording, options);
            let drawing = figure.draw();
            let images = images(&drawing);
            assert_eq!(images.len(), 1);
            let (area, image) = images[0];
            assert_eq!((image.columns, image.rows), (9, 12));
            let png = drawing.to_image(1.0);
            for t in 0..9 {
                for row in 0..12 {
                    let value = weighting.row(t)[row];
                    let scale = Scale::weighting(false).of_head(HeadName::of(&recording.trace, 2));
                    let colour = Colours::for_theme(dark).of(scale, value);
                    let y = if upwards { 11 - row } else { row };
                    assert_eq!(image.pixels[y * 9 + t], colour);
                    // And so on the page, in the middle of the cell.
                    let share = |index: usize, count: f32| (index as f32 + 0.5) / count;
                    let across = area.left + share(t, 9.0) * area.width();
                    let down = area.top + share(y, 12.0) * area.height();
                    let place = down as usize * png.columns + across as usize;
                    assert_eq!(png.pixels[place], colour);
                }
            }
        }
    }

    #[test]
    fn the_layout_of_the_paper_has_two_columns_and_three_rows() {
        let recording = recording();
        let figure = Figure::new(&recording, options(Layout::Paper));
        let (drawing, places) = figure.scene();
        let names: Vec<_> = places.iter().map(|p| p.panel.title.as_str()).collect();
        let expected = [
            "Inputs",
            "Outputs",
            "Adds",
            "Reads",
            "Write weightings",
            "Read weightings",
        ];
        assert_eq!(names, expected);
        for pair in places.chunks(2) {
            let (left, right) = (pair[0].area, pair[1].area);
            assert_eq!((left.top, left.bottom), (right.top, right.bottom));
            assert!(left.right < right.left);
        }
        let grey = images(&drawing)[4].1.pixels.iter();
        assert!(grey.clone().all(|[r, g, b]| r == g && g == b));
    }

    #[test]
    fn hit_test_finds_value() {
        let recording = recording();
        let figure = Figure::new(&recording, options(Layout::Paper));
        let place = &figure.scene().1[4];
        let weighting = &recording.trace.heads[2].weighting;
        let area = place.area;
        let cell = [area.width() / 9.0, area.height() / 12.0];
        // Row 0 is at the bottom.
        let found = place.hit(area.left + 2.5 * cell[0], area.bottom - 3.5 * cell[1]);
        let (column, row, value) = (2, 3, weighting.row(2)[3]);
        assert_eq!(found, Some(Hit { column, row, value }));
        assert_eq!(place.hit(area.left - 1.0, area.top + 1.0), None);
        assert_eq!(place.hit(area.left + 1.0, area.bottom + 1.0), None);
    }

    #[test]
    fn the_heads_stand_at_their_rows_of_the_memory() {
        let recording = recording();
        let layout = Layout::Pictures(vec![Picture::Memory]);
        let figure = Figure::new(&recording, options(layout));
        let (drawing, places) = figure.scene();
        let place = places[0].area;
        let signs: Vec<_> = drawing
            .marks
            .iter()
            .filter_map(|mark| match mark {
                Mark::Shape { points, .. } => Some(points.clone()),
                _ => None,
            })
            .collect();
        let writes = recording.trace.heads.iter().filter(|head| head.is_write());
        assert_eq!(signs.len(), writes.count(), "filled signs are write heads");
        for [x, y] in signs.into_iter().flatten() {
            assert!(x > place.right && x < drawing.width);
            assert!(y > place.top - 5.0 && y < place.bottom + 5.0);
        }
        let svg = drawing.to_svg();
        for head in 0..recording.trace.heads.len() {
            let label = head_label(&recording.trace, head);
            assert!(svg.contains(&format!(">{label}<")), "{label}");
        }
    }

    #[test]
    fn the_logarithm_shows_what_is_faint() {
        let mut recording = recording();
        recording.trace.heads[2].weighting.row_mut(4)[5] = 1e-4;
        let name = HeadName::of(&recording.trace, 2);
        for log_scale in [false, true] {
            let log = log_scale;
            let scale = Scale::weighting(log).of_head(name);
            let options = Options {
                log_scale,
                heads: vec![2],
                ..options(Layout::Pictures(vec![Picture::Weightings]))
            };
            let drawing = Figure::new(&recording, options).draw();
            let image = images(&drawing)[0].1;
            let columns = image.columns / recording.trace.steps();
            let pixel = image.pixels[image.rows / 12 * 5 * image.columns + 4 * columns];
            assert_eq!(pixel, Colours::for_theme(false).of(scale, 1e-4));
            assert_eq!(drawing.to_svg().contains("1e−6"), log_scale);
        }
    }

    #[test]
    fn every_part_of_the_main_layout_has_a_slot_of_its_own() {
        for heads in [vec![], vec![2, 0], vec![0, 1]] {
            let recording = recording();
            let options = Options {
                heads,
                size: Some((1920.0, 1080.0)),
                ..options(Layout::Debug)
            };
            let figure = Figure::new(&recording, options);
            let (_, places) = figure.scene();
            let mut slots = HashSet::new();
            for place in &places {
                assert!(slots.insert(place.slot()), "twice: {:?}", place.slot());
            }
            assert!(slots.len() > 30);
        }
    }

    #[test]
    fn every_head_has_a_place_in_the_main_layout() {
        let mut config = NtmConfig::new(4, 3);
        (config.rows, config.columns, config.controller.size) = (12, 5, 4);
        (config.read_heads, config.write_heads) = (8, 1);
        let task = recording().task;
        let recording = Recording::new(&Model::new(config, 3), &task, 7, 0);
        let figure = Figure::new(&recording, options(Layout::Debug));
        let slots: Vec<_> = figure.scene().1.iter().map(PlacedPanel::slot).collect();
        // The write head is expanded.
        for head in 0..8 {
            assert!(slots.contains(&Slot::Picture(PanelId::thumbnail(head))));
            assert!(
                slots.contains(&Slot::ColumnName(head)) && slots.contains(&Slot::TableLine(head))
            );
        }
        assert!(slots.contains(&Slot::Title(8)));
    }

    /// Attention of another program of 3 layers of 5 heads: 4 steps, which attend to 6 tokens.
    fn imported_attention() -> Recording {
        use crate::io::trace::{Attention, AttentionOptions};
        let weights = [0.5, 0.1, 0.1, 0.1, 0.1, 0.1].repeat(3 * 5 * 4);
        let attention = Attention::new(&[3, 5, 4, 6], weights).unwrap();
        let imported = attention.imported(&AttentionOptions::default(), "test");
        imported.unwrap().recording
    }

    #[test]
    fn mean_and_maximum_of_all_heads_stand_in_place_of_a_memory_that_was_not_recorded() {
        let recording = imported_attention();
        let options = Options {
            size: Some((1440.0, 900.0)),
            ..options(Layout::Debug)
        };
        let figure = Figure::new(&recording, options);
        let (drawing, places) = figure.scene();
        let texts: Vec<_> = texts(&drawing).into_iter().map(|text| &text.text).collect();
        for word in ["mean", "maximum", "ALL HEADS", "bit, all heads"] {
            assert!(texts.iter().any(|text| *text == word), "{word}: {texts:?}");
        }
        let pictures = |picture| {
            let of = places
                .iter()
                .filter(move |place| place.panel.id.picture == picture);
            of.map(|place| (place.area, place.axis.count(), place.steps()))
        };
        assert_eq!(pictures(Picture::Memory).count(), 0);
        let all: Vec<_> = pictures(Picture::Quantities).collect();
        assert_eq!(all.len(), 2);
        let bars = pictures(Picture::Weightings).next().unwrap().0;
        for (area, rows, steps) in all {
            assert_eq!((area.top, area.bottom), (bars.top, bars.bottom));
            // The steps before the answer have no weights.
            assert_eq!((rows, steps), (6, Some(4)));
        }
    }

    #[test]
    fn heads_of_a_stack_of_layers_have_a_line_for_each_layer() {
        let recording = imported_attention();
        let figure = Figure::new(&recording, options(Layout::Debug));
        let (drawing, places) = figure.scene();
        let place = |head: usize| {
            let slot = Slot::Picture(PanelId::thumbnail(head));
            let of = places.iter().find(|place| place.slot() == slot);
            of.unwrap().area
        };
        for layer in 0..3 {
            let name = format!("layer {layer}");
            assert!(texts(&drawing).iter().any(|text| text.text == name));
            for head in 1..5 {
                let own = place(5 * layer + head);
                assert_eq!(own.top, place(5 * layer + 4).top);
                assert_eq!(own.left, place(5 + head).left);
            }
        }
        assert!(place(4).top < place(5).top && place(9).top < place(10).top);
    }

    #[test]
    fn pictures_over_time_have_all_rows_while_columns_follow() {
        let recording = recording();
        let figure = Figure::new(&recording, options(Layout::Debug));
        let mut page = figure.debug_page();
        let part = page.whole.part(3, 4);
        page.seen.rows = &part;
        let (style, span) = (figure.page(), Span::new(0.0, 900.0));
        let mut drawing = Drawing::new(1400.0, 900.0, style.colours.panel, String::new());
        let columns = Columns::new(Span::new(0.0, 1400.0), (4, false), true);
        let places = page.centre(&mut Surface::new(&mut drawing, &style), columns, span);
        let rows = |picture, of| {
            let id = PanelId::of(picture, of);
            let place = places.iter().find(|place| place.panel.id == id);
            place.unwrap().axis.count()
        };
        let whole = page.whole.shown();
        assert!(whole > 4);
        for head in 0..recording.trace.heads.len() {
            assert_eq!(rows(Picture::Weightings, head), whole, "head {head}");
        }
        let memory = places
            .iter()
            .find(|place| place.panel.id.picture == Picture::Memory);
        assert_eq!(memory.unwrap().axis.count(), 4);
    }

    /// A DNC that translates, and the texts of its main layout with a head selected.
    fn translated(head: usize) -> (Recording, Options) {
        let task = Task::Transduce(Transduce::DEFAULT);
        let machine = DncConfig::new(task.inputs(), task.outputs());
        let recording = Recording::new(&Model::new(machine, 1), &task, 1, 0);
        let heads = vec![head];
        (
            recording,
            Options {
                heads,
                ..options(Layout::Debug)
            },
        )
    }

    fn texts(drawing: &Drawing) -> Vec<&Text> {
        let texts = drawing.marks.iter().filter_map(|mark| match mark {
            Mark::Text(text) => Some(text),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn symbols_stand_below_the_read_modes() {
        let (recording, options) = translated(0);
        let figure = Figure::new(&recording, options);
        let (drawing, places) = figure.scene();
        let all = texts(&drawing);
        let symbol = all.iter().find(|text| text.text == "symbol").unwrap();
        for place in &places {
            let is_over_time = [Picture::Modes, Picture::Weightings]
                .contains(&place.panel.id.picture)
                && place.area.left < symbol.at[0] + 20.0;
            let [top, bottom] = [symbol.at[1] - 5.0, symbol.at[1] + 5.0];
            let is_apart = bottom <= place.area.top || top >= place.area.bottom;
            assert!(
                !is_over_time || is_apart,
                "{} at {:?}",
                place.panel.name,
                place.area
            );
        }
    }

    #[test]
    fn rows_of_a_source_have_one_name_beside_every_column() {
        let task = Task::Transduce(Transduce::DEFAULT);
        let machine = EquationsConfig::included("bahdanau", [task.inputs(), task.outputs()], &[]);
        let recording = Recording::new(&Model::new(machine.unwrap(), 1), &task, 1, 0);
        let figure = Figure::new(&recording, options(Layout::Debug));
        let (drawing, _) = figure.scene();
        let names = figure.facts.source.as_ref().unwrap().names.clone();
        let last = crate::figure::facts::source::short(names.last().unwrap()).into_owned();
        let beside: HashSet<_> = texts(&drawing)
            .into_iter()
            .filter(|text| text.text == last && text.style.anchor == Anchor::End)
            .map(|text| text.at[0] as i32)
            .collect();
        assert_eq!(beside.len(), 3, "{last}: {beside:?}");
    }

    #[test]
    fn words_of_rows_are_not_cut_while_there_is_room() {
        let mut text = crate::task::Text::NONE;
        text.symbols = "opposite around".to_owned();
        let task = Task::Text(text.clone());
        let channels = [task.inputs(), task.outputs()];
        let machine = EquationsConfig::included("multi_head_layers", channels, &[]).unwrap();
        let episode = text.episode_of("opposite around opposite").unwrap();
        let recording = Recording::of(&Model::new(machine, 1), &task, episode, None);
        for layout in [Layout::Pictures(vec![Picture::Weightings]), Layout::Debug] {
            let options = Options {
                size: Some((3000.0, 1200.0)),
                ..options(layout)
            };
            let figure = Figure::new(&recording, options);
            let (drawing, _) = figure.scene();
            assert!(
                texts(&drawing)
                    .iter()
                    .any(|text| text.text == "opposite" && text.style.anchor == Anchor::End)
            );
        }
    }

    #[test]
    fn every_colour_of_low_rows_is_in_a_legend() {
        let task = recording().task;
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        (config.rows, config.columns, config.controller.size) = (400, 5, 4);
        let recording = Recording::new(&Model::new(config, 3), &task, 7, 0);
        for dark in [false, true] {
            let options = Options {
                dark,
                all_rows: true,
                ..options(Layout::Debug)
            };
            let figure = Figure::new(&recording, options);
            let (drawing, places) = figure.scene();
            let colours = figure.page().colours;
            let legends = drawing.marks.iter().filter_map(|mark| match mark {
                Mark::Image { image, .. } if image.columns == 256 => Some(image),
                _ => None,
            });
            let lines = legends.flat_map(|image| image.pixels.chunks(256));
            let ends: Vec<_> = lines.map(|line| [line[0], line[200]]).collect();
            let mut checked = 0;
            for place in &places {
                let (Content::Bars(Bars { cells, .. }) | Content::Cells(cells)) =
                    &place.panel.content
                else {
                    continue;
                };
                let shares = [0.0, 200.0 / 255.0].map(|share| cells.scale.at(share));
                let own = shares.map(|value| colours.of(cells.scale, value));
                assert!(
                    ends.contains(&own),
                    "{}: {:?}",
                    place.panel.name,
                    cells.scale
                );
                checked += 1;
            }
            assert!(checked > 12, "{checked}");
        }
    }

    #[test]
    fn unrecorded_bars_and_lines_are_marked() {
        let mut recording = recording();
        let of = |recording: &Recording| {
            let layout = Layout::Pictures(vec![Picture::Stages, Picture::Scalars]);
            Figure::new(recording, options(layout)).draw().to_svg()
        };
        assert!(!of(&recording).contains("not recorded"));
        let head = &mut recording.trace.heads[2];
        head.content.as_mut_slice().fill(ABSENT);
        head.gate.as_mut_slice().fill(ABSENT);
        head.shift.as_mut_slice().fill(ABSENT);
        assert_eq!(of(&recording).matches(">not recorded<").count(), 3);
    }

    #[test]
    fn heads_are_chosen_by_label() {
        let recording = recording();
        let trace = &recording.trace;
        assert_eq!(head_named(trace, "w1"), Some(3));
        assert_eq!(head_named(trace, "W2"), None);
        let svg = |heads: Vec<usize>| {
            let options = Options {
                heads,
                ..options(Layout::Paper)
            };
            Figure::new(&recording, options).draw().to_svg()
        };
        assert!(svg(vec![]).contains("w of W0") && svg(vec![]).contains("w of R0"));
        assert!(svg(vec![3, 1]).contains("w of W1") && svg(vec![3, 1]).contains("w of R1"));
    }

    /// A machine that names the glyphs of a picture.
    fn described() -> Recording {
        let task = Task::Caption(Caption::DEFAULT).with_size(3);
        let machine = EquationsConfig::included("bahdanau", [task.inputs(), task.outputs()], &[]);
        Recording::new(&Model::new(machine.unwrap(), 1), &task, 1, 0)
    }

    /// An episode of a Differentiable Neural Computer.
    fn managed() -> Recording {
        let task = Task::Reuse(Reuse::DEFAULT).with_size(6);
        let mut machine = DncConfig::new(task.inputs(), task.outputs());
        machine.rows = 9;
        Recording::new(&Model::new(machine, 1), &task, 1, 0)
    }

    fn of_file() -> Recording {
        let task = Task::Reuse(Reuse::DEFAULT).with_size(6);
        let machine = EquationsConfig::new(task.inputs(), task.outputs());
        Recording::new(&Model::new(machine, 1), &task, 1, 0)
    }

    fn sparse() -> Recording {
        let task = Task::Reuse(Reuse::DEFAULT).with_size(6);
        let mut machine = SamConfig::new(task.inputs(), task.outputs());
        machine.rows = 9;
        Recording::new(&Model::new(machine, 1), &task, 1, 0)
    }

    /// A head without weight on any row, in all of its columns.
    fn clear_columns(head: &mut HeadTrace) {
        let columns = columns_of(head).filter(|column| column.is_weighting());
        for array in columns.map(|column| column.array).collect::<Vec<_>>() {
            if let Some(series) = head.series_mut(array) {
                series.as_mut_slice().fill(0.0);
            }
        }
    }

    #[test]
    fn links_have_the_same_rows_down_and_across() {
        let mut recording = managed();
        let [.., writer] = &mut recording.trace.heads[..] else {
            panic!("no write head");
        };
        clear_columns(writer);
        // Row 4 is left out.
        let rows = [0, 1, 2, 3, 5, 6, 7, 8];
        for (step, row) in rows.into_iter().enumerate() {
            writer.weighting.row_mut(step)[row] = 1.0;
        }
        for reader in recording.trace.heads.iter_mut().rev().skip(1) {
            clear_columns(reader);
        }
        let links = Layout::Pictures(vec![Picture::Links]);
        let drawing = Figure::new(&recording, Options::new(links)).draw();
        let images = drawing.marks.iter().filter_map(|mark| match mark {
            Mark::Image { image, .. } if image.columns < 256 => Some(image),
            _ => None,
        });
        let images: Vec<_> = images.collect();
        let colours = Colours::for_theme(false);
        let links = TemporalLinks::after(&recording.trace, rows.len()).expect("links");
        let link = |row, column| links.matrix[row * 9 + column];
        assert!(link(1, 0) > link(0, 1) + 0.1);
        let shade = |value| colours.of(Scale::weighting(false), value);
        let expected = rows.map(|row| rows.map(|column| shade(link(row, column))));
        let pixels = images.iter().flat_map(|image| image.pixels.iter().copied());
        assert!(pixels.eq(expected.into_iter().flatten()), "{images:?}");
        let svg = drawing.to_svg();
        let numbers = |row: usize| svg.matches(&format!(">{row}<")).count();
        assert!(rows.iter().all(|row| numbers(*row) >= 2) && numbers(4) == 0);
    }

    #[test]
    fn the_picture_is_there_once_for_every_answer_and_large_in_the_close_up() {
        let recording = described();
        let pictures = |layout, step| {
            let options = Options {
                step: Some(step),
                ..Options::new(layout)
            };
            let drawing = Figure::new(&recording, options).draw();
            let image = |mark: &Mark| match mark {
                Mark::Image { area, image } => Some((image.columns == 16).then_some(*area)?),
                _ => None,
            };
            let areas = drawing.marks.iter().filter_map(image);
            let squares = areas.filter(|area| (area.width() - area.height()).abs() < 0.1);
            squares.map(|area| area.width()).collect::<Vec<_>>()
        };
        let answers = recording.trace.steps() - recording.episode.source();
        let strip = pictures(Layout::Pictures(vec![Picture::Patches]), 18);
        assert_eq!(strip.len(), answers);
        assert_eq!(pictures(Layout::Debug, 18).len(), answers);
        assert_eq!(pictures(Layout::Paper, 18).len(), answers);
        let one = pictures(Layout::CloseUp, 18);
        assert!(one.len() == 1 && one[0] > strip[0], "{one:?} and {strip:?}");
    }

    #[test]
    fn every_picture_of_every_layout_is_xml_and_stays_on_its_page() {
        let recording = recording();
        let mut samples = Samples::default();
        (0..3).for_each(|_| samples.add(recording.clone()));
        let spread = samples.spread();
        let all = Picture::NAMES.map(|(_, picture)| picture);
        let layouts = all.map(|picture| Layout::Pictures(vec![picture]));
        let (described, managed, sparse, of_file) = (described(), managed(), sparse(), of_file());
        let of_managed = [
            Picture::Usage,
            Picture::Precedence,
            Picture::Modes,
            Picture::Links,
        ];
        for layout in layouts.into_iter().chain([
            Layout::Paper,
            Layout::Debug,
            Layout::Pictures(all.to_vec()),
        ]) {
            let recording = match &layout {
                Layout::Pictures(all) if all[..] == [Picture::Patches] => &described,
                Layout::Pictures(all) if all.len() == 1 && of_managed.contains(&all[0]) => &managed,
                Layout::Pictures(all) if all[..] == [Picture::Age] => &sparse,
                Layout::Pictures(all) if all[..] == [Picture::Quantities] => &of_file,
                _ => &recording,
            };
            let figure = Figure::new(recording, options(layout.clone()));
            let figure = figure.with_spread(spread.as_ref());
            assert!(!figure.is_empty(), "{layout:?}");
            let (drawing, places) = figure.scene();
            let svg = drawing.to_svg();
            let tree = resvg::usvg::roxmltree::Document::parse(&svg);
            assert!(tree.is_ok(), "{layout:?}");
            let numbers = svg.replace("mutual information", "");
            assert!(!numbers.contains("NaN") && !numbers.contains("inf"));
            // The page has its pictures in words beside its marks.
            let page = figure.draw().to_svg();
            let marks = svg.strip_suffix("</svg>\n").expect("an end");
            assert!(page.starts_with(marks), "the same bytes");
            assert_eq!(
                page.matches("role=\"img\"").count() > 0,
                places.iter().any(|place| !place.panel.alt.is_empty())
            );
            for place in &places {
                let Area {
                    left,
                    top,
                    right,
                    bottom,
                } = place.area;
                let inside = left > 0.0 && top > 0.0 && right < drawing.width;
                assert!(inside && bottom < drawing.height, "{place:?}");
                let least = if layout == Layout::Debug {
                    1.0
                } else {
                    LEAST - 1.0
                };
                assert!(right > left && bottom >= top + least, "{place:?}");
            }
        }
    }

    #[test]
    fn parameters_of_a_head_keep_their_symbols() {
        let recording = recording();
        for width in [900.0, 1000.0, 1200.0, 1440.0] {
            let options = Options {
                size: Some((width, 640.0)),
                ..Options::new(Layout::Debug)
            };
            let (drawing, _) = Figure::new(&recording, options).scene();
            let texts: Vec<_> = drawing
                .marks
                .iter()
                .filter_map(|mark| match mark {
                    Mark::Text(Text { text, .. }) => Some(&**text),
                    _ => None,
                })
                .collect();
            for symbol in ["β ", "g ", "γ "] {
                let is_there = texts
                    .iter()
                    .any(|text| text.starts_with(symbol) && text.len() < 12);
                assert!(is_there, "{symbol} at {width}: {texts:?}");
            }
        }
    }

    #[test]
    fn the_smallest_page_has_room_for_everything() {
        let recording = recording();
        for layout in [
            Layout::Paper,
            Layout::Pictures(vec![Picture::Stages, Picture::Input]),
        ] {
            let mut options = options(layout);
            let (width, height) = Figure::new(&recording, options.clone()).least_size();
            options.size = Some((width, height));
            let figure = Figure::new(&recording, options);
            let (drawing, places) = figure.scene();
            assert_eq!((drawing.width, drawing.height), (width, height));
            let heights = places.iter().map(|place| place.area.height());
            assert!(heights.fold(f32::MAX, f32::min) >= LEAST - 1.0);
        }
    }

    #[test]
    fn a_machine_file_shows_its_weightings() {
        let recording = of_file();
        let figure = Figure::new(&recording, Options::new(Layout::Paper));
        let titles: Vec<_> = figure
            .scene()
            .1
            .into_iter()
            .map(|place| place.panel.title)
            .collect();
        assert_eq!(titles, ["Inputs", "Outputs", "weighting"]);
    }

    #[test]
    fn a_machine_without_heads_has_a_figure_too() {
        let mut recording = recording();
        recording.trace.heads.clear();
        let names = |layout| {
            let figure = Figure::new(&recording, Options::new(layout));
            let places = figure.scene().1.into_iter();
            let names = places.map(|place| place.panel.title);
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(Layout::Paper), ["Inputs", "Outputs"]);
        let main = names(Layout::Debug);
        for name in ["Hidden state", "tanh c", "o", "h"] {
            assert!(main.iter().any(|title| title == name), "{name}");
        }
        let none = Layout::Pictures(vec![Picture::Weightings]);
        let figure = Figure::new(&recording, Options::new(none));
        assert!(figure.is_empty());
        let strips = ["input", "target", "output", "error"];
        assert_eq!(
            figure.pictures(),
            [&strips[..], &["hidden", "cells"]].concat()
        );
    }

    #[test]
    fn non_finite_values_are_reported() {
        let mut recording = recording();
        let layout = Layout::Pictures(vec![Picture::Output]);
        let svg = |recording: &Recording| {
            let figure = Figure::new(recording, Options::new(layout.clone()));
            figure.draw().to_svg()
        };
        assert!(!svg(&recording).contains("not finite"));
        recording.trace.output.row_mut(3)[1] = f32::NAN;
        assert!(svg(&recording).contains("not finite"));
    }

    #[test]
    fn an_animation_has_a_frame_for_every_step() {
        let recording = recording();
        let layout = Layout::Pictures(vec![Picture::Output, Picture::Memory]);
        let figure = Figure::new(&recording, Options::new(layout));
        let drawn = || animated(&figure, Format::Gif, Motion::new(20));
        let bytes = drawn();
        for threads in [1, 3] {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let again = threads.build().unwrap().install(drawn);
            assert!(bytes == again, "the same bytes");
        }
        let mut decoder = gif::Decoder::new(bytes.as_slice()).unwrap();
        assert!(decoder.global_palette().is_some());
        let mut delays = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            assert!(frame.palette.is_none(), "one table for all");
            delays.push(frame.delay);
        }
        assert_eq!(delays, [20, 20, 20, 20, 20, 20, 20, 20, 120]);
    }

    /// Plays an animation: every frame over those before it; returns the frames and the colours.
    fn played(bytes: &[u8]) -> (Vec<Vec<Rgb>>, Vec<Rgb>) {
        let mut decoder = gif::Decoder::new(bytes).unwrap();
        let palette = decoder.global_palette().unwrap();
        let palette: Vec<Rgb> = palette.as_chunks().0.to_vec();
        let width = usize::from(decoder.width());
        let mut canvas = vec![[0; 3]; width * usize::from(decoder.height())];
        let mut all = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            let [left, top, columns] = [frame.left, frame.top, frame.width].map(usize::from);
            for (place, &index) in frame.buffer.iter().enumerate() {
                if frame.transparent != Some(index) {
                    let (x, y) = (left + place % columns, top + place / columns);
                    canvas[y * width + x] = palette[usize::from(index)];
                }
            }
            all.push(canvas.clone());
        }
        (all, palette)
    }

    fn distance(a: Rgb, b: Rgb) -> u32 {
        let channels = a.iter().zip(b);
        channels.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    }

    #[test]
    fn every_frame_is_seen_as_it_is_drawn() {
        let recording = recording();
        let figure = Figure::new(&recording, Options::new(Layout::Debug));
        let motion = Motion {
            walk: Walk::Stages,
            ..Motion::new(20)
        };
        let bytes = animated(&figure, Format::Gif, motion);
        let (frames, palette) = played(&bytes);
        assert_eq!(
            (frames.len(), figure.frame_times(Walk::Stages).len()),
            (45, 45)
        );
        let times = figure.frame_times(Walk::Stages);
        for (frame, at) in frames.into_iter().zip(times) {
            let drawn = figure.draw_at(at).to_image(0.5).pixels;
            // A colour without room in the table is replaced by the most similar one.
            let pairs: HashSet<(Rgb, Rgb)> = frame.into_iter().zip(drawn).collect();
            for (seen, drawn) in pairs {
                let nearest = palette.iter().map(|&colour| distance(colour, drawn)).min();
                assert_eq!(Some(distance(seen, drawn)), nearest, "{at:?}");
            }
        }
        let estimated = estimated_bytes(&figure, 0.5, Walk::Stages);
        assert!(
            (bytes.len() / 3..bytes.len() * 3).contains(&estimated),
            "{estimated}"
        );
    }

    #[test]
    fn every_stage_moves_in_a_gif_and_in_a_png_alike() {
        let recording = recording();
        let options = Options {
            steps: Some(4..7),
            size: Some((600.0, 400.0)),
            ..Options::new(Layout::CloseUp)
        };
        let figure = Figure::new(&recording, options);
        let times = figure.frame_times(Walk::Motion);
        assert_eq!(times[0].step, 4);
        assert!(times.windows(2).all(|pair| {
            let [a, b] = [pair[0], pair[1]].map(|at| (at.step, at.stage, at.through));
            a < b
        }));
        let rests = times.iter().filter(|at| at.through == 1.0).count();
        let stages: HashSet<_> = times.iter().map(|at| (at.step, at.stage)).collect();
        assert_eq!(rests, stages.len(), "each of them comes to its end");
        let motion = Motion {
            walk: Walk::Motion,
            ..Motion::new(20)
        };
        let [gif, png] = [Format::Gif, Format::Png].map(|format| animated(&figure, format, motion));
        let (frames, _) = played(&gif);
        assert_eq!(frames.len(), times.len());
        let mut reader = png::Decoder::new(std::io::Cursor::new(&png))
            .read_info()
            .unwrap();
        let info = reader.info();
        assert_eq!(
            info.animation_control.unwrap().num_frames as usize,
            times.len()
        );
        let mut canvas = vec![[0; 3]; 300 * 200];
        let palette: Vec<Rgb> = info.palette.clone().unwrap().as_chunks().0.to_vec();
        for (frame, at) in frames.iter().zip(times) {
            let mut buffer = vec![0; 300 * 200];
            reader.next_frame(&mut buffer).unwrap();
            let control = *reader.info().frame_control().unwrap();
            assert!(at.lasts.is_some_and(|lasts| control.delay_num >= lasts));
            let width = control.width as usize;
            for (place, &index) in buffer[..width * control.height as usize].iter().enumerate() {
                let (x, y) = (place % width, place / width);
                let to = (control.y_offset as usize + y) * 300 + control.x_offset as usize + x;
                if index != 0 {
                    canvas[to] = palette[usize::from(index)];
                }
            }
            assert!(canvas == *frame, "{at:?}");
        }
    }

    #[test]
    fn animation_reports_progress_and_can_be_cancelled() {
        let recording = recording();
        let figure = Figure::new(&recording, Options::new(Layout::Paper));
        let drawn = |most: usize| {
            let mut heard = Vec::new();
            let report_progress = async |done, all| {
                heard.push((done, all));
                if done < most {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            };
            let drawn = to_bytes(&figure, Format::Gif, 0.2, Motion::new(20), report_progress);
            let drawn = at_once(drawn).is_ok();
            (drawn, heard)
        };
        // One after the other: how many are drawn together depends on how many processors there are.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1);
        let alone = alone.build().unwrap();
        // Nine frames, and the colours are chosen from all of them.
        let every: Vec<_> = (0..=18).map(|done| (done, 18)).collect();
        assert_eq!(alone.install(|| drawn(99)), (true, every.clone()));
        for most in [0, 1, 9, 10, 18] {
            let heard = every[..=most].to_vec();
            assert_eq!(alone.install(|| drawn(most)), (false, heard));
        }
    }

    #[test]
    fn step_range_draws_like_full_episode() {
        let all = Picture::NAMES.map(|(_, picture)| picture).to_vec();
        for layout in [Layout::Pictures(all), Layout::Debug] {
            step_range_draws_like_full(&layout);
        }
    }

    fn step_range_draws_like_full(layout: &Layout) {
        let recording = recording();
        let figure = |steps: Option<Range<usize>>| {
            let options = Options {
                steps,
                ..options(layout.clone())
            };
            Figure::new(&recording, options)
        };
        let (whole, figure) = (figure(None), figure(Some(3..6)));
        let (some, parts) = figure.scene();
        let pairs = whole.scene().1.into_iter().zip(&parts);
        for (whole, part) in pairs.filter(|(place, _)| place.steps().is_some()) {
            let (Some(whole), Some(some)) = (whole.cells(), part.cells()) else {
                continue;
            };
            let (columns, rows, name) = (some.columns, some.rows, &part.panel.name);
            assert_eq!((columns, part.steps()), (3, Some(3)), "{name}");
            for (column, row) in (0..columns).flat_map(|c| (0..rows).map(move |row| (c, row))) {
                let bits = |value: Option<f32>| value.map(f32::to_bits);
                let expected = bits(whole.value(3 + column, row));
                assert_eq!(bits(some.value(column, row)), expected, "{name}");
            }
        }
        let svg = some.to_svg();
        assert!(some.title.ends_with("; steps 3 to 5"), "{}", some.title);
        assert!(svg.contains("M of step 5") && !svg.contains("M of step 8"));
    }

    fn at<'a>(figure: &Figure<'a>, step: usize, stage: Option<usize>) -> Figure<'a> {
        let mut figure = figure.clone();
        (figure.options.step, figure.options.stage) = (Some(step), stage);
        figure
    }

    #[test]
    fn step_outside_the_range_has_no_play_head() {
        let recording = recording();
        let bars = |step: usize| {
            let options = Options {
                steps: Some(3..6),
                step: Some(step),
                ..options(Layout::Debug)
            };
            let figure = Figure::new(&recording, options);
            let (drawing, accent) = (figure.scene().0, figure.page().colours.accent);
            let is_bar =
                |mark: &&Mark| matches!(mark, Mark::Rect { fill, .. } if fill.colour == accent);
            drawing.marks.iter().filter(is_bar).count()
        };
        assert_eq!(bars(1), 0);
        assert!(bars(3) > 0);
    }

    #[test]
    fn previous_row_of_head_is_drawn() {
        let mut recording = recording();
        recording.trace.heads.iter_mut().for_each(clear_columns);
        for t in 0..9 {
            for head in &mut recording.trace.heads {
                head.weighting.row_mut(t)[if t < 5 { 3 } else { 8 }] = 1.0;
            }
        }
        let options = Options {
            steps: Some(5..7),
            ..Options::new(Layout::Pictures(vec![Picture::Stages]))
        };
        let figure = Figure::new(&recording, options);
        assert_eq!(figure.rows.numbers(), [3, 8]);
    }

    #[test]
    fn a_stage_shows_nothing_of_what_comes_later() {
        let recording = recording();
        let layout = Layout::Pictures(vec![Picture::Stages, Picture::Memory]);
        let figure = Figure::new(&recording, Options::new(layout.clone()));
        let memory = |figure: &Figure<'_>, stage| {
            let figure = at(figure, 4, stage);
            let places = figure.scene().1;
            let is_it = |place: &&PlacedPanel<'_>| place.panel.title == "Memory";
            let place = places.iter().find(is_it).unwrap();
            let value = place.cells().unwrap().value(2, 3);
            (place.panel.note.clone(), value.unwrap())
        };
        let [before, after] = [4, 5].map(|t| recording.trace.memory(t)[[3, 2]]);
        let found = ("M of step 3".to_owned(), before);
        let stages = figure.facts.stages.addressing(&recording.trace.heads[2]);
        for &stage in &stages {
            assert_eq!(memory(&figure, Some(stage)), found);
        }
        let written = ("M of step 4".to_owned(), after);
        assert_eq!(memory(&figure, None), written);
        let erase = figure.facts.stages.place(Stage::Erase, None);
        let writers = recording.trace.heads.iter().filter(|head| head.is_write());
        let kept = writers.map(|head| 1.0 - head.weighting.row(4)[3] * head.erase.row(4)[2]);
        let erased = (
            "M of step 4, erased".to_owned(),
            before * kept.product::<f32>(),
        );
        assert_eq!(memory(&figure, erase), erased);
        // Read heads that see what was written address the memory after it.
        let options = Options {
            heads: vec![0],
            writes_first: true,
            ..Options::new(layout)
        };
        let reads = Figure::new(&recording, options);
        let first = reads.facts.stages.addressing(&recording.trace.heads[0])[0];
        assert_eq!(memory(&reads, Some(first)).1, after);
        let to_come = |stage| {
            let figure = at(&figure, 4, stage);
            let Content::Addressing(addressing) = figure.stages(2).unwrap().content else {
                return 0;
            };
            let columns = addressing.columns.iter();
            columns.filter(|bars| bars.to_come).count()
        };
        let stages = stages.into_iter().map(Some).chain([None]);
        assert_eq!(stages.map(to_come).collect::<Vec<_>>(), [3, 2, 1, 0, 0]);
        assert!(figure.has_stages());
        let strips = Options::new(Layout::Pictures(vec![Picture::Input]));
        assert!(!Figure::new(&recording, strips).has_stages());
    }
}
