//! The parts of the window. A panel gets the state to look at and a list to push commands to; it
//! changes nothing itself.

pub mod about;
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
pub mod keys;
pub mod learn;
pub mod left;
pub mod lines;
pub mod messages;
pub mod page;
pub mod paper;
mod parts;
pub mod phone;
mod picture;
mod present;
pub mod right;
mod ruler;
pub mod settings;
mod signal_path;
pub mod top;
pub mod tour;
pub mod welcome;

use std::sync::Arc;

use egui::{Color32, Id, Pos2, Rangef, Rect, Response, Role, Sense, Ui, WidgetInfo};

use super::command::{Command, Play};
use super::inspect::Card;
use super::memo::Memo;
use super::row_zoom::Rows;
use super::state::compare::Pair;
use super::state::episode::Open;
use super::state::settings::Panels;
use super::state::target::Target;
use super::state::{NARROW, State};
use super::theme::{Palette, Scale};
use super::widget::button::focus_ring;
use super::widget::canvas::{Canvas, Textures, area, rect};
use super::widget::named_rects;
use super::widget::readout::Readout;
use crate::figure::facts::signal_path::SignalPath;
use crate::figure::facts::stages::StageRef;
use crate::figure::page::debug::DebugPage;
use crate::figure::page::debug::geometry::step_at;
use crate::figure::page::debug::timeline::{TIMELINE, scalars_height};
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::scene::paint::{NO_DERIVATIVE, NOT_RECORDED, Page, TO_COME};
use crate::figure::{HeadName, Layer, PlacedPanel};
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
/// The buttons of the transport have a row of their own where there is no left panel over them, or no timeline.
pub const BUTTONS: f32 = 36.0;

/// Width of the line between two panels.
const EDGE: f32 = 1.0;

/// Height of transport and timeline in a window of this height, for `lines` lines of numbers.
pub fn transport_height(window: f32, lines: usize, panels: Panels) -> f32 {
    if !panels.timeline {
        return BUTTONS;
    }
    let buttons = if panels.left { 0.0 } else { BUTTONS };
    let scalars = scalars_height(lines, window - TOP - STATUS);
    TIMELINE + buttons + scalars + EDGE
}
/// Height of the status line.
pub const STATUS: f32 = 26.0;

/// The step and the channel of an answer, and where it comes from, if it is asked for.
pub type Answer = ((usize, usize), Option<SignalPath>);

/// Facts of the last frames.
#[derive(Debug, Default)]
pub struct Memos {
    /// Signal paths, by episode and step.
    pub paths: Memo<(u64, usize), Option<SignalPath>, 1>,
    /// Cards, by target, episodes, head, step and number of samples.
    pub cards: Memo<CardKey, Option<Arc<Card>>, 4>,
}
type CardKey = (Target, [u64; 2], usize, usize, usize);

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
    /// The facts of the last frames.
    pub memos: &'a Memos,
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

    /// The surface for the pictures of the episode.
    pub fn canvas(&mut self, ui: &Ui) -> Canvas<'_> {
        Canvas::new(ui.painter(), self.textures, self.open.serial)
    }

    /// The surface for a page in this part of the window.
    pub fn page_canvas(&mut self, ui: &Ui, rect: Rect) -> Canvas<'_> {
        self.canvas(ui).of_page(area(rect))
    }

    /// The settings of the pictures on screen.
    pub fn page(&self, density: f32) -> Page<'static> {
        Page {
            step: Some(self.step()),
            stage: (!self.player.whole_steps()).then(|| self.player.stage()),
            through: self.player.through(),
            hides_future: self.player.playing(),
            to_come: TO_COME,
            lacking: match self.state.layer() {
                Layer::Values => NOT_RECORDED,
                Layer::Gradients(_) => NO_DERIVATIVE,
            },
            ..Page::on_screen(self.palette.data, density)
        }
    }

    /// The main layout at this moment.
    pub fn debug_page(&self) -> DebugPage<'a> {
        let view = &self.state.view;
        DebugPage {
            seen: Catalogue {
                moment: self.as_figure().moment,
                ..self.catalogue()
            },
            whole: self.whole,
            lines: &self.open.heads,
            events: &self.open.events,
            span: 0..self.steps(),
            focus: self.focus,
            pinned: view.pinned,
            all_heads: view.all_heads,
            follows: view.row_zoom.follow,
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

/// Makes a part of a page respond to clicks and drags, and be read aloud.
pub fn part(ui: &Ui, place: &PlacedPanel<'_>) -> Response {
    part_told(ui, place, &place.panel.alt)
}

/// The same with another description.
pub fn part_told(ui: &Ui, place: &PlacedPanel<'_>, description: &str) -> Response {
    let id = ui.scope_id().with(place.slot());
    interact_as(ui, id, rect(&place.area), &place.panel.name, description)
}

/// The pointer, when it is over this picture and nothing is in between.
pub fn pointer(response: &Response) -> Option<Pos2> {
    if response.contains_pointer() || response.dragged() {
        response.ctx.pointer_latest_pos()
    } else {
        None
    }
}

/// Clicking or dragging in a picture over time moves the play-head.
pub fn scrub(response: &Response, time: Rangef, view: &mut View<'_>) {
    let down = response.dragged() || response.clicked() || response.is_pointer_button_down_on();
    if let (true, Some(position)) = (down, response.interact_pointer_pos()) {
        let step = step_at(time.into(), position.x, view.steps());
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
