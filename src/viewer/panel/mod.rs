//! The parts of the window. A panel gets the state to look at and sends commands; it changes nothing itself.

pub mod bottom;
mod branch;
pub mod centre;
pub mod command_palette;
pub mod compare;
mod condition;
pub mod copy_menu;
pub mod dialogs;
pub mod family;
pub mod frame;
mod gradients;
mod instruction;
pub mod keys;
pub mod learn;
pub mod left;
mod lists;
pub mod page;
pub mod paper;
mod parts;
pub mod phone;
mod picture;
mod present;
mod report;
pub mod right;
pub mod settings;
mod signal_path;
pub mod top;
pub mod tour;
pub mod welcome;

use std::sync::Arc;

use egui::{
    AsIdSalt, Color32, Frame, Margin, Panel, Pos2, Rangef, Rect, Response, Role, Sense, Ui,
    UiBuilder, WidgetInfo,
};

use super::command::Play;
use super::inspect::Card;
use super::state::{NARROW, Open, State, Target};
use super::theme::{Palette, Scale};
use super::widget::{Canvas, Readout, Textures, area, hit_area, named_rects, rect, send};
use crate::figure::facts::in_step::InStep;
use crate::figure::facts::memo::Memo;
use crate::figure::facts::moment::Moment;
use crate::figure::facts::rows::Rows;
use crate::figure::facts::signal_path::SignalPath;
use crate::figure::page::debug::DebugPage;
use crate::figure::page::debug::geometry::step_at;
use crate::figure::scene::catalogue::Catalogue;
use crate::figure::scene::paint::{NO_DERIVATIVE, NOT_RECORDED, Page, TO_COME};
use crate::figure::{HeadName, Options, PlacedPanel};
use crate::model::{HeadTrace, Trace};
use crate::player::Player;
use crate::train::Recording;

/// Width of the left panel in a window of this width.
pub fn left_width(window: f32) -> f32 {
    if window < NARROW { 188.0 } else { 216.0 }
}

/// True while the numbers have a panel beside the pictures.
fn shows_numbers(state: &State) -> bool {
    let are_wanted = if state.is_narrow() {
        state.drawer && state.has_room_beside()
    } else {
        state.panels().numbers
    };
    are_wanted && state.session.open.is_some()
}

/// True while they lie over the pictures.
fn shows_drawer(state: &State) -> bool {
    state.drawer && state.is_narrow() && !state.has_room_beside() && !state.is_on_phone()
}

/// Width of the right panel.
pub const RIGHT: f32 = 268.0;
/// Height of the top bar.
pub const TOP: f32 = 44.0;
/// The buttons of the transport have a row of their own where there is no left panel over them, or no timeline.
pub const BUTTONS: f32 = 36.0;

/// The step and the channel of an answer, and where it comes from, if it is asked for.
pub type Answer = ((usize, usize), Option<SignalPath>);

/// Facts of the last frames.
#[derive(Debug, Default)]
pub struct Memos {
    /// Signal paths, by episode and step.
    pub paths: Memo<(u64, usize), Option<SignalPath>, 1>,
    /// Cards, by target, episodes, head, step and number of samples.
    pub cards: Memo<CardKey, Option<Arc<Card>>, 4>,
    /// Instructions, by episode, head and step.
    pub instructions: Memo<(u64, [usize; 2]), Option<String>, 1>,
}
type CardKey = (Target, [u64; 2], usize, usize, usize);

/// The contents under the pointer.
#[derive(Debug, Default)]
pub struct Pointed {
    /// The value.
    pub readout: Option<Readout>,
    /// The row.
    pub row: Option<usize>,
    /// Layer and unit.
    pub unit: Option<(usize, usize)>,
}

/// The view of a panel on an open episode.
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
    /// Colours.
    pub palette: &'static Palette,
    /// Pictures.
    pub textures: &'a mut Textures,
    /// The contents under the pointer.
    pub pointed: Pointed,
    /// The contents under the pointer in the frame before.
    pub before: Pointed,
    /// The step of the answer under the pointer, and where that comes from, if it is asked for.
    pub answer: Option<Answer>,
    /// The facts of the last frames.
    pub memos: &'a Memos,
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

    /// The stage that the step has come to, unless steps are looked at as a whole.
    pub fn stage(&self) -> Option<usize> {
        (!self.player.whole_steps()).then(|| self.player.stage())
    }

    /// The rows that a line through all pictures marks, and how strongly: the one under the pointer in the
    /// frame before, and the pinned ones that are on screen.
    pub fn rows_lit(&self) -> Vec<(usize, f32)> {
        let selected = self.state.view.selected.and_then(Target::rows);
        let shown = self.rows.numbers().iter().copied();
        let selected = shown.filter(|row| selected.as_ref().is_some_and(|rows| rows.contains(row)));
        let pointed = self.before.row.map(|row| (row, 0.10)).into_iter();
        pointed.chain(selected.map(|row| (row, 0.18))).collect()
    }

    /// A head in this step, as its equations see it.
    pub fn in_step(&self, head: usize) -> Option<InStep<'a>> {
        let at = InStep::of(self.trace(), self.open.writes_first(), head, self.step())?;
        Some(at.with_links(&self.open.facts.links))
    }

    /// The pictures of the episode at this moment, on the rows that are shown.
    pub fn catalogue(&self) -> Catalogue<'a> {
        Catalogue {
            now: Moment {
                place: self.player.stage(),
                ..self.open.moment(self.player)
            },
            facts: &self.open.facts,
            shades: [Scale::Bits, Scale::weighting(self.state.view.log_scale)],
            rows: self.rows,
            spread: self.open.spread.as_deref(),
            layer: self.state.layer(),
            upwards: false,
            as_paper: false,
            initial: self.open.shown.initial_cells(),
        }
    }

    /// The catalogue with all rows, as in figures: a step seen as a whole is over.
    pub fn as_figure(&self) -> Catalogue<'a> {
        Catalogue {
            rows: &self.open.all,
            now: self.open.moment(self.player),
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
    pub fn page(&self, density: f32) -> Page {
        Page {
            step: Some(self.step()),
            stage: self.stage(),
            through: self.player.through(),
            hides_future: self.player.playing(),
            to_come: TO_COME,
            lacking: match self.state.layer() {
                None => NOT_RECORDED,
                Some(_) => NO_DERIVATIVE,
            },
            ..Page::on_screen(self.palette.data, density)
        }
    }

    /// The options of the figure on screen, at this step.
    pub fn figure(&self, ui: &Ui) -> Options {
        Options {
            density: ui.pixels_per_point(),
            step: Some(self.step()),
            hides_future: self.player.playing(),
            ..self.state.figure()
        }
    }

    /// The main layout at this moment.
    pub fn debug_page(&self) -> DebugPage<'a> {
        let view = &self.state.view;
        DebugPage {
            seen: Catalogue {
                rows: self.rows,
                ..self.as_figure()
            },
            whole: self.whole,
            span: 0..self.steps(),
            focus: self.focus,
            pinned: view.pinned,
            all_heads: view.all_heads,
            follows: self.state.follows(),
            scrolled: Some(view.row_zoom.first),
        }
    }

    /// Tells what is under the pointer: its place, its value and what that means.
    pub fn set_readout(
        &mut self,
        place: String,
        value: impl Into<String>,
        meaning: impl Into<String>,
    ) {
        let (value, meaning) = (value.into(), meaning.into());
        self.pointed.readout = Some(Readout {
            place,
            value,
            meaning,
            name: None,
        });
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

/// The fill of a panel, with this room around its contents.
fn panel_frame(ui: &Ui, margin: impl Into<Margin>) -> Frame {
    let fill = Palette::of(ui).panel;
    Frame::new().fill(fill).inner_margin(margin)
}

/// A panel of this size.
fn fixed(ui: &Ui, panel: Panel, size: f32, margin: impl Into<Margin>) -> Panel {
    let panel = panel.exact_size(size).resizable(false);
    panel.frame(panel_frame(ui, margin))
}

/// Shows something in a part of the panel, and nowhere else.
fn within(ui: &mut Ui, part: Rect, add: impl FnOnce(&mut Ui)) {
    let mut child = ui.new_child(UiBuilder::new().max_rect(part));
    child.shrink_clip_rect(part);
    add(&mut child);
}

/// Makes a named part of the window respond to clicks and drags, and be read aloud.
pub fn interact(ui: &Ui, id: impl AsIdSalt, rect: Rect, name: &str, description: &str) -> Response {
    let label = if description.is_empty() {
        name.to_owned()
    } else {
        format!("{name}: {description}")
    };
    let info = WidgetInfo::labeled(Role::Image, true, label);
    let response = hit_area(ui, rect, id, Sense::click_and_drag(), &info);
    named_rects::mark(ui.ctx(), name, rect);
    response
}

/// Makes a part of a page respond to clicks and drags, and be read aloud.
pub fn part(ui: &Ui, place: &PlacedPanel<'_>) -> Response {
    part_told(ui, place, &place.panel.alt)
}

/// [`part`] with another description.
pub fn part_told(ui: &Ui, place: &PlacedPanel<'_>, description: &str) -> Response {
    let (area, name) = (rect(&place.area), &place.panel.name);
    let response = interact(ui, place.slot(), area, name, description);
    let value = &place.panel.value;
    if !value.is_empty() {
        ui.ctx()
            .accesskit_node_builder(response.id, |node| node.set_value(&**value));
    }
    response
}

/// The pointer, when it is over this picture and nothing is in between.
pub fn pointer(response: &Response) -> Option<Pos2> {
    let is_over = response.contains_pointer() || response.dragged();
    response.ctx.pointer_latest_pos().filter(|_| is_over)
}

/// Clicking or dragging in a picture over time moves the play-head.
pub fn scrub(response: &Response, time: Rangef, view: &mut View<'_>) {
    let down = response.dragged() || response.clicked() || response.is_pointer_button_down_on();
    if let (true, Some(position)) = (down, response.interact_pointer_pos()) {
        let step = step_at(time.into(), position.x, view.steps());
        if step != view.step() {
            send(&response.ctx, Play::Seek(step));
        }
    }
}

/// [`scrub`] with a finger: a swipe up or down means something else.
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
