//! The parts of the window. A panel gets the state to look at and a list to push commands to; it
//! changes nothing itself.

pub mod about;
pub mod address;
pub mod bottom;
mod card;
pub mod centre;
pub mod closeup;
pub mod command_palette;
pub mod compare;
pub mod copy_menu;
pub mod dialogs;
mod events;
mod failure;
pub mod frame;
pub mod glossary;
mod gradients;
pub mod heads;
pub mod keys;
pub mod learn;
pub mod left;
pub mod messages;
pub mod minimap;
mod overlap;
pub mod page;
pub mod paper;
mod parts;
pub mod phone;
pub mod pipeline;
mod present;
pub mod right;
pub mod scalars;
pub mod settings;
mod signal_path;
pub mod time;
pub mod top;
pub mod tour;
pub mod units;
pub mod welcome;

use std::cell::Cell;

use egui::{Color32, Id, Rangef, Rect, Response, Role, Sense, Ui, WidgetInfo};

use super::command::{Command, Play};
use super::row_zoom::Rows;
use super::state::compare::Pair;
use super::state::episode::Open;
use super::state::settings::Panels;
use super::state::target::Target;
use super::state::{NARROW, State};
use super::step_zoom::StepZoom;
use super::theme::{Palette, Scale};
use super::widget::button::focus_ring;
use super::widget::canvas::{Canvas, Textures, area};
use super::widget::named_rects;
use super::widget::readout::Readout;
use crate::figure::facts::signal_path::SignalPath;
use crate::figure::facts::stages::{COLUMNS, StageRef};
use crate::figure::page::compare::page_columns;
use crate::figure::scene::axes;
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::scene::paint::{NO_DERIVATIVE, NOT_RECORDED, Page};
use crate::figure::{HeadName, Layer, PanelId, Picture, Stage};
use crate::model::{HeadTrace, Trace};
use crate::player::Player;
use crate::train::Recording;

/// Width of the left panel in a window of this width.
pub fn left_width(window: f32) -> f32 {
    if window < NARROW { 188.0 } else { 216.0 }
}

/// Width of the right panel.
pub const RIGHT: f32 = 268.0;
/// Height of the top bar.
pub const TOP: f32 = 44.0;
/// Height of transport and loss.
pub const TRANSPORT: f32 = 64.0;
/// In windows at least this high the numbers of the head have lines of their own under the loss.
const HIGH: f32 = 760.0;

/// The buttons of the transport have a row of their own where there is no left panel over them, or no timeline.
pub const BUTTONS: f32 = 36.0;

/// Height of a line of the numbers of a head over time with its room, in points.
pub const LANE: f32 = 16.5;
/// Height of a ribbon over them with its room, in points.
pub const RIBBON: f32 = 16.0;

/// Height of transport and timeline in a window of this height, for `lines` lines of numbers.
pub fn transport_height(window: f32, lines: usize, panels: Panels) -> f32 {
    if !panels.timeline {
        return BUTTONS;
    }
    let buttons = if panels.left { 0.0 } else { BUTTONS };
    let scalars = if lines > 0 && window >= HIGH {
        2.0 * RIBBON + lines as f32 * LANE + 6.0
    } else {
        0.0
    };
    TRANSPORT + buttons + scalars
}
/// Height of the status line.
pub const STATUS: f32 = 26.0;

/// Opacity of steps that have not happened yet.
const TO_COME: f32 = 0.25;

/// The step and the channel of an answer, and where it comes from, if it is asked for.
pub type Answer = ((usize, usize), Option<SignalPath>);
/// The path of the last step asked for, with the serial number of its episode.
pub type LastPath = Cell<Option<((u64, usize), Option<SignalPath>)>>;

/// The view of a panel on an open episode, with its list of commands.
pub struct View<'a> {
    /// All that the window knows.
    pub state: &'a State,
    /// The episode on screen.
    pub open: &'a Open,
    /// Playback.
    pub player: &'a Player,
    /// The selected head.
    pub focus: usize,
    /// The rows on screen.
    pub rows: &'a Rows,
    /// All rows that scrolling brings on screen.
    pub whole: &'a Rows,
    /// The colour scale of weightings.
    pub weighting_scale: Scale,
    /// Colours.
    pub palette: &'static Palette,
    /// Pictures.
    pub textures: &'a mut Textures,
    /// Wishes.
    pub commands: &'a mut Vec<Command>,
    /// The value under the pointer.
    pub readout: &'a mut Option<Readout>,
    /// The row under the pointer in the frame before.
    pub row_before: Option<usize>,
    /// The row under the pointer.
    pub row: &'a mut Option<usize>,
    /// Layer and unit under the pointer in the frame before.
    pub unit_before: Option<(usize, usize)>,
    /// Layer and unit under the pointer.
    pub unit: &'a mut Option<(usize, usize)>,
    /// The step of the answer under the pointer, and where that comes from, if it is asked for.
    pub answer: Option<Answer>,
    /// The last path that was looked for.
    pub last_path: &'a LastPath,
    /// Both episodes, while two are on screen.
    pub pair: Option<Pair<'a>>,
}

impl<'a> View<'a> {
    /// The episode.
    pub fn recording(&self) -> &'a Recording {
        &self.open.shown.recording
    }

    /// Returns the trace.
    pub fn trace(&self) -> &'a Trace<f32> {
        &self.open.shown.recording.trace
    }

    /// Steps of the episode.
    pub fn steps(&self) -> usize {
        self.trace().steps()
    }

    /// The current step.
    pub fn step(&self) -> usize {
        self.player.step()
    }

    /// False for a plain recurrent network: it has no memory to address.
    pub fn has_heads(&self) -> bool {
        !self.trace().heads.is_empty()
    }

    /// The stage that the step has come to.
    pub fn stage_ref(&self) -> StageRef {
        self.open.stages.at(self.player.stage())
    }

    /// Returns how many steps of a picture over time have happened.
    pub fn steps_done(&self, id: PanelId) -> usize {
        let (stages, now) = (&self.open.stages, self.player.stage());
        let head = id.of.and_then(|head| self.trace().heads.get(head));
        let place = match id.picture {
            Picture::Output | Picture::Error => stages.place(Stage::Output, None),
            Picture::Reads => stages.place(Stage::Read, head),
            Picture::Erases => stages.place(Stage::Erase, head),
            Picture::Adds => stages.place(Stage::Add, head),
            Picture::Weightings => head.and_then(|head| stages.addressing(head).pop()),
            Picture::Stages => id
                .part
                .and_then(|part| stages.place(COLUMNS.get(part)?.stage, head)),
            _ => None,
        };
        let has_come = |place: usize| place < now || (place == now && self.player.through() >= 1.0);
        let this = self.player.whole_steps() || place.is_none_or(has_come);
        self.step() + usize::from(this)
    }

    /// The rows that a line through all pictures marks, and how strongly: the one under the pointer in the
    /// frame before, and the pinned ones that are on screen.
    pub fn rows_lit(&self) -> Vec<(usize, f32)> {
        let kept = self.state.view.selected.and_then(Target::rows);
        let shown = self.rows.numbers().iter().copied();
        let kept = shown.filter(|row| kept.as_ref().is_some_and(|kept| kept.contains(row)));
        let pointed = self.row_before.map(|row| (row, 0.10));
        pointed
            .into_iter()
            .chain(kept.map(|row| (row, 0.18)))
            .collect()
    }

    /// The pictures of the episode at this moment, on the rows that are shown.
    pub fn catalogue(&self) -> Catalogue<'a> {
        Catalogue {
            recording: self.recording(),
            stages: &self.open.stages,
            scales: &self.open.scales,
            written: &self.open.written,
            redundancies: &self.open.redundancies,
            shades: [Scale::Bits, self.weighting_scale],
            rows: self.rows,
            spread: self.open.spread.as_deref(),
            layer: self.state.layer(),
            upwards: false,
            initial: self.open.shown.initial_cells(),
            moment: (self.step(), self.player.stage()),
            through: self.player.through(),
        }
    }

    /// The same on all rows, as figures have it: a step that is looked at as a whole is over.
    pub fn as_figure(&self) -> Catalogue<'a> {
        let whole = self.player.whole_steps();
        let stage = if whole {
            usize::MAX
        } else {
            self.player.stage()
        };
        Catalogue {
            rows: &self.open.all,
            moment: (self.step(), stage),
            ..self.catalogue()
        }
    }

    /// The shared geometry on screen.
    pub fn page(&self, density: f32) -> Page<'static> {
        Page {
            stage: Some(self.player.stage()),
            through: self.player.through(),
            to_come: TO_COME,
            lacking: match self.state.layer() {
                Layer::Values => NOT_RECORDED,
                Layer::Gradients(_) => NO_DERIVATIVE,
            },
            ..Page::on_screen(self.palette.data, density)
        }
    }

    /// The hue of a head of the machine on screen.
    pub fn head_color(&self, head: usize) -> Color32 {
        self.palette.head(HeadName::of(self.trace(), head))
    }

    /// The selected head.
    pub fn head(&self) -> Option<&'a HeadTrace<f32>> {
        self.trace().heads.get(self.focus)
    }
}

/// The horizontal positions of the pictures: one time axis, then the columns that share the
/// address axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Columns {
    /// Names and row numbers.
    pub gutter: Rangef,
    /// Everything over time.
    pub time: Rangef,
    /// From the first step to the last: wider than the screen while only a part of the steps is shown.
    pub whole: Rangef,
    /// The stages of the addressing.
    pub stages: Rangef,
    /// The memory.
    pub memory: Rangef,
    /// The signs of the heads beside the memory.
    pub marks: Rangef,
    /// All rows in little, right of them, while only some are on screen.
    pub minimap: Option<Rangef>,
}

impl Columns {
    /// The columns for a window of this width, with or without the panels at its sides; `heads` are those
    /// of the machine, two of them expanded when one is pinned. With a `minimap` all rows in little stand beside.
    pub fn new(
        window: f32,
        (left, numbers): (bool, bool),
        (heads, pinned): (usize, bool),
        minimap: bool,
    ) -> Self {
        let right = if numbers { RIGHT } else { 0.0 } + if minimap { MINIMAP + 4.0 } else { 0.0 };
        let left = if left { left_width(window) } else { 0.0 } + 12.0;
        let free = (window - right - 12.0 - left - GUTTER - MARKS - 2.0 * BETWEEN).max(30.0);
        let (time_share, stages_share) = if free < 640.0 {
            (0.35, 0.45)
        } else {
            (0.38, 0.39)
        };
        // Every further head is a column.
        let more = 0.012 * heads.saturating_sub(2).min(8) as f32;
        let wider = if pinned { 0.16 } else { more };
        let (time_share, stages_share) = (time_share - 0.7 * wider, stages_share + wider);
        let column = |start: f32, share: f32| Rangef::new(start, (start + free * share).round());
        let time = column(left + GUTTER, time_share);
        let stages = column(time.max + BETWEEN, stages_share);
        let memory = column(stages.max + BETWEEN, 1.0 - time_share - stages_share);
        let marks = Rangef::new(memory.max, memory.max + MARKS);
        Self {
            gutter: Rangef::new(left, time.min),
            time,
            whole: time,
            stages,
            memory,
            marks,
            minimap: minimap.then(|| Rangef::new(marks.max, marks.max + MINIMAP)),
        }
    }

    /// Pictures over time alone.
    pub fn over(time: Rangef) -> Self {
        let none = Rangef::point(time.max);
        Self {
            gutter: Rangef::point(time.min),
            time,
            whole: time,
            stages: none,
            memory: none,
            marks: none,
            minimap: None,
        }
    }

    /// The columns of the figure of two episodes.
    pub fn of_two(window: f32, left: bool, numbers: bool) -> Self {
        let right = if numbers { RIGHT } else { 0.0 };
        let start = if left { left_width(window) } else { 0.0 } + 2.0;
        let width = (window - right - start - 2.0).round().max(480.0);
        let [time, memory] =
            page_columns(width).map(|(from, to)| Rangef::new(start + from, start + to));
        Self {
            gutter: Rangef::new(start + 10.0, time.min),
            time,
            whole: time,
            stages: memory,
            memory,
            marks: Rangef::new(memory.max, memory.max),
            minimap: None,
        }
    }

    /// True when the buttons of the transport have room beside the timeline.
    pub fn buttons_beside(&self) -> bool {
        self.gutter.min > 100.0
    }

    /// The place of a step on the time axis.
    pub fn step(&self, step: usize, steps: usize) -> Rangef {
        let width = self.whole.span() / steps.max(1) as f32;
        let start = self.whole.min + step as f32 * width;
        Rangef::new(start, start + width)
    }

    /// Returns the columns with this part of `steps` steps on screen.
    pub fn during(self, part: StepZoom, steps: usize) -> Self {
        let (first, count) = part.of(steps);
        let width = self.time.span() / count.max(1.0);
        let start = self.time.min - first * width;
        let whole = Rangef::new(start, start + width * steps as f32);
        let is_part = part.is_part();
        Self {
            whole: if is_part { whole } else { self.time },
            ..self
        }
    }

    /// Returns the columns with all steps on screen.
    pub fn of_all(self) -> Self {
        Self {
            whole: self.time,
            ..self
        }
    }

    /// True while only a part of the steps is on screen.
    pub fn is_part(&self) -> bool {
        self.whole != self.time
    }

    /// The place of the steps from `first` to `last` on the time axis.
    pub fn span(&self, first: usize, last: usize, steps: usize) -> Rangef {
        Rangef::new(self.step(first, steps).min, self.step(last, steps).max)
    }

    /// The step at this place of the time axis, or the nearest one.
    pub fn step_at(&self, x: f32, steps: usize) -> usize {
        step_at(self.whole, x, steps)
    }
}

/// The step at this place of a time axis, or the nearest one.
fn step_at(time: Rangef, x: f32, steps: usize) -> usize {
    let share = (x - time.min) / time.span().max(1.0);
    ((share * steps as f32).max(0.0) as usize).min(steps.saturating_sub(1))
}

/// Width of all rows in little.
const MINIMAP: f32 = 14.0;
const GUTTER: f32 = 68.0;
const MARKS: f32 = 46.0;
const BETWEEN: f32 = 34.0;

/// Makes something that is there once under its name respond to clicks and drags, and be read aloud.
pub fn interact(ui: &Ui, rect: Rect, name: &str, description: &str) -> Response {
    interact_as(ui, ui.scope_id().with(name), rect, name, description)
}

/// The same for one of several of a name, told apart by their ids.
pub fn interact_as(ui: &Ui, id: Id, rect: Rect, name: &str, description: &str) -> Response {
    let response = ui.interact(rect, id, Sense::click_and_drag());
    let label = if description.is_empty() {
        name.to_owned()
    } else {
        format!("{name}: {description}")
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &label));
    focus_ring(ui, &response);
    named_rects::mark(ui.ctx(), name, rect);
    response
}

/// Clicking or dragging in a picture over time moves the play-head.
pub fn scrub(response: &Response, time: Rangef, view: &mut View<'_>) {
    let down = response.dragged() || response.clicked() || response.is_pointer_button_down_on();
    if let (true, Some(position)) = (down, response.interact_pointer_pos()) {
        let step = step_at(time, position.x, view.steps());
        if step != view.step() {
            view.commands.push(Command::Play(Play::Seek(step)));
        }
    }
}

/// The same with a finger: a swipe up or down means something else.
pub fn scrub_by_finger(response: &Response, time: Rangef, view: &mut View<'_>) {
    let went = response.ctx.input(|input| {
        let pointer = &input.pointer;
        Some(pointer.interact_pos()? - pointer.press_origin()?)
    });
    let is_along = went.is_some_and(|went| went.x.abs() > went.y.abs());
    if response.clicked() || (response.dragged() && is_along) {
        scrub(response, time, view);
    }
}

/// The number of the current step, on the play-head.
pub fn step_pill(ui: &Ui, columns: &Columns, y: f32, view: &View<'_>) {
    let place = columns.step(view.step(), view.steps());
    let (palette, painter) = (view.palette, ui.painter());
    let (text, font) = (view.step().to_string(), super::theme::mono(11.0));
    let galley = painter.layout_no_wrap(text, font, palette.on_accent);
    let center = egui::pos2(place.center(), y);
    let pill = Rect::from_center_size(center, galley.size() + egui::vec2(8.0, 1.0));
    painter.rect_filled(pill, 3.0, palette.accent);
    painter.galley(center - galley.size() / 2.0, galley, palette.on_accent);
}

/// The play-head: the current step on the time axis.
pub fn play_head(ui: &Ui, columns: &Columns, y: Rangef, view: &mut View<'_>) {
    let page = view.page(ui.pixels_per_point());
    let (step, steps) = (view.step(), view.steps());
    let whole = area(Rect::from_x_y_ranges(columns.whole, y));
    let mut canvas = Canvas::new(ui.painter(), view.textures, view.open.serial);
    axes::play_head(&mut canvas, &whole, step, steps, &page);
}
