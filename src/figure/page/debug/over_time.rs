//! Pictures over time: ruler, input, target and output, the weightings of every head, adds and reads.

use super::geometry::{BETWEEN, Bands, PHASES, UNDER_MODES};
use super::{NAME, Painting, ROWS, SMALL, area, ends};
use crate::figure::facts::links::MODES;
use crate::figure::facts::moment::steps_done;
use crate::figure::facts::rows::{Axis, Span, numbered_every};
use crate::figure::facts::source::StepSymbol;
use crate::figure::scene::axes;
use crate::figure::scene::fonts::width_of;
use crate::figure::scene::paint::Draw;
use crate::figure::scene::shares;
use crate::figure::{Area, PanelId, Picture, Slot, Style};

/// Height of the band of read modes.
const MODES_BAND: f32 = 9.0;
/// The least width of a thumbnail with the name of its head, and the height of one without.
const NAMED: f32 = 34.0;
const UNNAMED: f32 = 16.0;
/// The least height of a line of thumbnails of a layer.
const LEAST_LINE: f32 = 10.0;

/// The place of a thumbnail in a grid, with room around it.
fn grid_cell([left, top]: [f32; 2], [width, height]: [f32; 2], has_name: bool) -> Area {
    let [beside, below] = if has_name { [6.0, 5.0] } else { [2.0, 2.0] };
    Area::new(left, top, width - beside, height - below)
}

impl Painting<'_, '_> {
    /// Phases and step numbers: the top of the time axis.
    pub(super) fn ruler(&mut self, y: Span) {
        let numbers = Span::new(y.min + PHASES, y.max);
        self.gutter_label("step", numbers.center());
        self.in_time(|this| {
            this.phases(Span::new(y.min, numbers.min));
            this.step_numbers(numbers.center());
        });
        let area = area(self.columns.time, y);
        let alt = "phases and steps of the episode";
        self.described(Slot::Ruler, "Ruler".to_owned(), alt, area);
    }

    fn phases(&mut self, y: Span) {
        let colours = self.on.page.colours;
        let style = Style::new(NAME, colours.text).middle();
        for (index, phase) in self.of.seen.now.recording.episode.phases.iter().enumerate() {
            let [start, end] = [phase.start, phase.end].map(|step| self.at(step).min);
            if end <= start {
                continue;
            }
            let band = Area::new(start + 0.5, y.min, end - start - 1.0, y.span());
            self.on.rect(band, colours.phases[index % 2]);
            if width_of(&phase.name, &style) + 6.0 < band.width() {
                let at = [band.middle(), band.centre()];
                self.on.text(phase.name.clone(), at, style);
            }
        }
    }

    fn step_numbers(&mut self, y: f32) {
        let (span, current) = (self.of.span.clone(), self.step());
        let every = numbered_every(self.columns.whole.span() / span.len().max(1) as f32);
        let style = self.quiet(10.0).mono().middle();
        let here = self.at(current).center();
        for step in (span.start.next_multiple_of(every)..span.end).step_by(every) {
            let x = self.at(step).center();
            let is_shown = (self.columns.time.min..=self.columns.time.max).contains(&x);
            // The current number has the room to itself.
            if step != current && (x - here).abs() > 22.0 && is_shown {
                self.on.text(step.to_string(), [x, y], style);
            }
        }
    }

    /// Input, target and output.
    pub(super) fn strips(&mut self, bands: &Bands) {
        for (picture, y) in [
            (Picture::Input, bands.input),
            (Picture::Target, bands.target),
            (Picture::Output, bands.output),
        ] {
            if let Some(name) = self.over_time(PanelId::new(picture), y) {
                self.gutter_label(&name, y.center());
            }
        }
    }

    /// A picture over time, if the machine has it; returns its name.
    pub(super) fn over_time(&mut self, id: PanelId, y: Span) -> Option<String> {
        let place = self.of.over_time(id)?.at(area(self.columns.whole, y));
        let name = place.panel.name.clone();
        self.in_time(|this| this.picture(place));
        Some(name)
    }

    /// The weightings of every head over time, on all rows: the selected one beside the address axis, the others below.
    pub(super) fn lanes(&mut self, bands: &Bands, axis: &Axis) {
        let all = &self.of.whole.place(bands.rows, ROWS);
        let heads = &self.trace().heads;
        let weighs = |head: &usize| heads[*head].weighting.width() > 0;
        let others = (0..heads.len()).filter(|head| *head != self.of.focus);
        let others: Vec<usize> = others.filter(weighs).collect();
        if weighs(&self.of.focus) {
            self.lane(self.of.focus, all);
            let mut top = ends(all).max + 3.0;
            if self.modes(self.of.focus, Span::new(top, top + MODES_BAND)) {
                top += UNDER_MODES;
            }
            let next = [bands.adds, bands.others][usize::from(bands.others.span() > 0.0)];
            self.below_lane(top + 6.0, next.min);
        }
        if let Some(panel) = self
            .of
            .seen
            .panel(PanelId::of(Picture::Patches, self.of.focus))
        {
            // Below the symbols.
            let y = Span::new(bands.others.min + 8.0, bands.others.max);
            self.picture(panel.at(area(self.columns.time, y)));
            self.gutter_label("picture", y.min + 8.0);
            return self.row_numbers(all, axis);
        }
        self.row_numbers(all, axis);
        if bands.has_thumbnails(others.len()) {
            return self.thumbnails(bands, &others);
        }
        let height = bands.others.span() / others.len().max(1) as f32;
        for (index, &head) in others.iter().enumerate() {
            let top = bands.others.min + index as f32 * height;
            let gap = if index + 1 < others.len() { 5.0 } else { 0.0 };
            let mut y = Span::new(top, top + height - gap);
            if self.modes(head, Span::new(y.max - MODES_BAND, y.max)) {
                y.max -= MODES_BAND + 3.0;
            }
            self.lane(head, &self.of.whole.place(y, ROWS));
        }
    }

    /// The read modes of a head below its weighting, with the colours of their symbols; false without any.
    fn modes(&mut self, head: usize, y: Span) -> bool {
        let panel = self.of.over_time(PanelId::of(Picture::Modes, head));
        let Some(panel) = panel.filter(|_| self.of.seen.layer.is_none()) else {
            return false;
        };
        let place = panel.at(area(self.columns.whole, y));
        self.in_time(|this| this.picture(place));
        let right = self.columns.time.min - 8.0;
        shares::key(&mut self.on, [right, y.center()], MODES[0]);
        true
    }

    /// The symbols of the steps below the weighting of the selected head, and the meaning of its outlines.
    fn below_lane(&mut self, mut y: f32, end: f32) {
        let seen = &self.of.seen;
        let all = seen.facts.symbols.get(self.of.span.clone());
        if let Some(all) = all.filter(|all| !all.is_empty()) {
            self.symbols(all, y);
            y += 15.0;
        }
        let source = seen.facts.source.as_ref();
        if let Some(source) = source.filter(|source| source.is_aligned() && y + 6.0 < end) {
            let truth = source.truth(self.of.head());
            let at = [self.columns.time.min, y];
            self.text(Slot::Text("outlines"), &truth, at, self.quiet(SMALL));
        }
    }

    fn symbols(&mut self, all: &[StepSymbol], y: f32) {
        let seen = &self.of.seen;
        let done = steps_done(PanelId::new(Picture::Output), &seen.now);
        let done = if self.on.page.hides_future {
            done.saturating_sub(self.of.span.start)
        } else {
            usize::MAX
        };
        let whole = self.columns.whole;
        self.in_time(|this| axes::symbols(&mut this.on, all, ([whole.min, whole.max], y), done));
        self.gutter_label("symbol", y);
    }

    fn lane(&mut self, head: usize, axis: &Axis) {
        let id = PanelId::of(Picture::Weightings, head);
        let Some(panel) = self.of.over_time(id) else {
            return;
        };
        let y = ends(axis);
        let place = panel.along(area(self.columns.whole, y), axis.clone());
        self.in_time(|this| this.picture(place));
        self.lane_name(head, y);
        if head == self.of.focus && self.of.seen.shades[1].is_log() {
            let at = [self.columns.time.max - 8.0, y.min + 13.0];
            let words = "log scale, 1e−6 to 1";
            let style = Style::new(SMALL, self.on.page.colours.warning).end();
            let plate = axes::plate(&mut self.on, words, at, style);
            self.part(Slot::Text("log scale"), words.to_owned(), plate);
        }
    }

    /// The sign and the label of a head beside its weighting.
    fn lane_name(&mut self, head: usize, y: Span) {
        let (label, colours) = (self.label(head), self.on.page.colours);
        let (left, middle) = (self.columns.gutter.min, y.min + 8.0);
        let ink = [colours.text, colours.strong][usize::from(head == self.of.focus)];
        self.head_sign([left + 7.0, middle], 13.0, head);
        let style = Style::new(12.0, ink).bold();
        self.on.text(label.clone(), [left + 17.0, middle], style);
        if y.span() > 24.0 {
            let is_write = self.name(head).is_write;
            let verb = if is_write { "writes" } else { "reads" };
            self.on.text(verb, [left, y.min + 22.0], self.quiet(SMALL));
        }
        let area = Area::new(left, y.min, 40.0, y.span().min(30.0));
        self.part(Slot::LaneName(head), format!("Select head {label}"), area);
    }

    /// True row numbers beside the weightings over time, which have all rows, and beside the address axis.
    fn row_numbers(&mut self, all: &Axis, shown: &Axis) {
        let free = ends(all).min + 30.0;
        let style = self.quiet(10.0).mono().end();
        let columns = self.columns;
        let source = self.of.seen.facts.source.as_ref();
        let names = source.map_or(&[][..], |of| &of.names[..]);
        let (time, stages, memory) = (columns.time.min, columns.stages.min, columns.memory.min);
        // Names of five letters just fit between the columns.
        let gap = if names.is_empty() { 6.0 } else { 4.0 };
        // In the gutter the name of the head comes first.
        let name = 22.0 + 8.0 * self.label(self.of.focus).len() as f32;
        let beside = (columns.gutter.span() - 8.0 - name).max(0.0);
        for (x, axis, room) in [
            (time, all, columns.gutter.span() - 8.0),
            (stages, shown, BETWEEN - gap),
            (memory, shown, BETWEEN - gap),
        ] {
            for (row, place) in axis.numbered() {
                let is_free = x > time || place.center() > free;
                let room = if is_free { room } else { beside };
                let number = axes::row_name(names, row, &style, room);
                let has_room = is_free || width_of(&number, &style) <= room;
                if has_room {
                    self.on.text(number, [x - gap, place.center()], style);
                }
            }
        }
    }

    /// The weightings of the other heads over time as a grid of small pictures; of a stack of layers a line for each.
    fn thumbnails(&mut self, bands: &Bands, others: &[usize]) {
        let room = area(self.columns.time, bands.others);
        let heads = &self.trace().heads;
        let stack = heads.last().map_or(1, |head| head.mechanism.layer + 1);
        if stack > 1 && room.height() / stack as f32 >= LEAST_LINE {
            // Below the symbols of the steps.
            let room = room.down(room.top + 6.0, room.bottom);
            let height = (room.height() + 5.0) / stack as f32;
            let width = (room.width() + 6.0) * stack as f32 / heads.len() as f32;
            let first = |layer: usize| heads.iter().position(|head| head.mechanism.layer == layer);
            let firsts: Vec<usize> = (0..stack).filter_map(first).collect();
            let has_names = height >= NAMED && width >= NAMED;
            for &head in others {
                let layer = self.trace().heads[head].mechanism.layer;
                let left = room.left + (head - firsts[layer]) as f32 * width;
                let top = room.top + layer as f32 * height;
                let cell = grid_cell([left, top], [width, height], has_names);
                self.thumbnail(head, cell, has_names);
            }
            let every = (LEAST_LINE / height).ceil().max(1.0) as usize;
            for layer in (0..stack).step_by(every) {
                let middle = room.top + (layer as f32 + 0.5) * height - 2.0;
                self.gutter_label(&format!("layer {layer}"), middle);
            }
            return;
        }
        let across = |lines: usize| others.len().div_ceil(lines);
        let width = |lines: usize| (room.width() + 6.0) / across(lines) as f32;
        let named = ((room.height() / 46.0) as usize).clamp(1, 4);
        let has_names = width(named) >= NAMED;
        // Many heads stand in more lines, without their names.
        let lines = if has_names {
            named
        } else {
            ((room.height() / UNNAMED) as usize).max(named)
        };
        let (across, width) = (across(lines), width(lines));
        let height = (room.height() + 5.0) / others.len().div_ceil(across) as f32;
        for (index, &head) in others.iter().enumerate() {
            let left = room.left + (index % across) as f32 * width;
            let top = room.top + (index / across) as f32 * height;
            let cell = grid_cell([left, top], [width, height], has_names);
            self.thumbnail(head, cell, has_names);
        }
        self.gutter_label("other", room.top + 8.0);
        self.gutter_label("heads", room.top + 21.0);
    }

    fn thumbnail(&mut self, head: usize, room: Area, has_name: bool) {
        let Some(mut panel) = self.of.over_time(PanelId::thumbnail(head)) else {
            return;
        };
        let label = self.label(head);
        let name = room.down(room.top, room.top + if has_name { 13.0 } else { 0.0 });
        let below = Span::new(name.bottom, room.bottom);
        let axis = self.of.whole.place(below, ROWS);
        panel.name = format!("thumbnail of {label}");
        "click to select this head, Shift+click adds it as the second".clone_into(&mut panel.note);
        let place = panel.along(room, axis);
        let picture = place.area;
        self.picture(place);
        if let Some(step) = self.step_shown() {
            let share = (step as f32 + 0.5) / self.steps() as f32;
            let x = picture.left + share * picture.width();
            let (ends, accent) = (picture.upright(x), self.on.page.colours.accent);
            self.on.line(&ends, accent, 1.0);
        }
        if !has_name {
            return;
        }
        let middle = name.centre() - 1.0;
        self.head_sign([room.left + 5.0, middle], 10.0, head);
        let style = Style::new(SMALL, self.on.page.colours.text).bold();
        self.on.text(label, [room.left + 13.0, middle], style);
    }

    /// The vectors added and read, over time: of the selected head, or of the first head of its kind.
    pub(super) fn vectors(&mut self, bands: &Bands) {
        let heads = &self.trace().heads;
        let of_kind = |write: bool| {
            let focus = std::iter::once(self.of.focus);
            let mut all = focus.chain(0..heads.len());
            all.find(|head| heads[*head].is_write() == write)
        };
        for (head, picture, what, y) in [
            (of_kind(true), Picture::Adds, "adds", bands.adds),
            (of_kind(false), Picture::Reads, "reads", bands.reads),
        ] {
            let Some(head) = head else { continue };
            if self.over_time(PanelId::of(picture, head), y).is_some() {
                self.gutter_label(what, y.center() - 6.0);
                self.gutter_label(&self.label(head), y.center() + 7.0);
            }
        }
    }

    /// A word in the gutter, beside a picture.
    pub(super) fn gutter_label(&mut self, text: &str, y: f32) {
        let at = [self.columns.time.min - 8.0, y];
        self.on.text(text, at, self.quiet(NAME).end());
    }
}
