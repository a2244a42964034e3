//! The pictures alone in the window: while they are shown to others, and during the opening. What the heads do
//! stands in large words, and the transport floats over the pictures until the pointer rests.

use egui::{Align2, Area, Context, Frame, Id, Margin, Order, Panel, Ui, vec2};

use super::bottom::{keys_ui, paces_ui};
use super::{View, fixed};
use crate::figure::HeadName;
use crate::figure::narrate::Sentence;
use crate::viewer::command::Window;
use crate::viewer::state::{Parts, State, WindowLayout};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{Icon, head_sign, icon_button, one_line, words};

/// Largest number of heads that are described.
const TOLD: usize = 4;
/// Height of a head's description, in points.
const LINE: f32 = 30.0;
/// Time that the transport stays after a motion of the pointer, and time of its fade, in seconds.
const STAYS: [f32; 2] = [2.0, 0.3];

/// Returns the described heads; in the close-up the picture itself describes the first.
fn narrated_heads(state: &State) -> impl Iterator<Item = usize> + use<> {
    let (near, focus) = (is_near(state), state.view.focus);
    let is_told = state.presenting && state.parts.as_ref().is_none_or(Parts::has_sentences);
    let heads = if is_told { state.heads() } else { 0 };
    // The one looked at is always among them.
    let first = TOLD - usize::from(focus >= TOLD);
    let is_told = move |head: &usize| {
        if near {
            *head != focus
        } else {
            *head < first || *head == focus
        }
    };
    (0..heads).filter(is_told).take(TOLD)
}

fn is_near(state: &State) -> bool {
    state.layout() == WindowLayout::CloseUp
}

/// Height of the words.
pub fn words_height(state: &State) -> f32 {
    match narrated_heads(state).count() {
        0 => 0.0,
        lines => lines as f32 * LINE + 12.0,
    }
}

/// Shows one line per head with its sign.
pub fn words_ui(ui: &mut Ui, view: &mut View<'_>) {
    let height = words_height(view.state);
    if height == 0.0 {
        return;
    }
    // From near the picture begins with the sentence of the head looked at.
    let panel = if is_near(view.state) {
        Panel::bottom("words")
    } else {
        Panel::top("words")
    };
    let panel = fixed(ui, panel, height, Margin::symmetric(16, 6));
    panel.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let moment = view.open.moment(view.player);
        // The caption of the picture and that of all heads are shown once.
        let own = is_near(view.state).then(|| moment.caption(Some(view.focus)));
        let mut said: Vec<Sentence> = own.into_iter().collect();
        for head in narrated_heads(view.state) {
            let sentence = moment.caption(Some(head));
            if !said.contains(&sentence) {
                line_ui(ui, &sentence, view);
                said.push(sentence);
            }
        }
    });
}

fn line_ui(ui: &mut Ui, sentence: &Sentence, view: &View<'_>) {
    let size = vec2(ui.available_width(), LINE);
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        if let Some(head) = sentence.head {
            let (rect, _) = ui.allocate_exact_size(vec2(18.0, LINE), egui::Sense::hover());
            let (color, name) = (view.head_color(head), HeadName::of(view.trace(), head));
            head_sign(ui.painter(), rect.center(), 15.0, name.is_write, color);
        }
        let size = if is_near(view.state) { 15.0 } else { 17.0 };
        let ink = view.palette.strong;
        one_line(ui, &sentence.text, theme::heading(size), ink);
    });
}

/// The transport over the pictures, while the pointer moves; during the opening a word on how to end it.
pub fn floating_ui(ctx: &Context, state: &State) {
    let id = Id::unique("floating");
    // Among chosen parts the player has a place of its own.
    if !state.is_folded() || state.parts.is_some() {
        ctx.data_mut(|data| data.remove::<f64>(id));
        return;
    }
    let shown = opacity(ctx, id);
    let area = Area::new(id).order(Order::Middle).fade_in(false);
    let mut above = if state.presenting { 8.0 } else { 1.0 };
    if is_near(state) {
        above += words_height(state);
    }
    area.anchor(Align2::CENTER_BOTTOM, vec2(0.0, -above))
        .show(ctx, |ui| {
            if !state.presenting {
                let said = "press any key or click to take over";
                words(ui, said, theme::text(11.0), Palette::of(ui).subdued);
                return;
            }
            ui.set_opacity(shown);
            Frame::popup(ui.style()).show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 2.0;
                    keys_ui(ui, &state.player);
                    ui.add_space(8.0);
                    paces_ui(ui, state);
                    if !state.embedded {
                        ui.add_space(8.0);
                        icon_button(ui, Icon::Close, Window::TogglePresent, false);
                    }
                });
            });
        });
}

/// Returns the opacity of the transport.
fn opacity(ctx: &Context, id: Id) -> f32 {
    let (now, moved) = ctx.input(|input| (input.time, input.pointer.time_since_last_movement()));
    let began = ctx.data_mut(|data| *data.get_temp_mut_or(id, now));
    let over = ctx.memory(|memory| memory.area_rect(id));
    let pointed = over.zip(ctx.pointer_hover_pos());
    let held = pointed.is_some_and(|(area, at)| area.contains(at));
    // With the keyboard, the focus must be seen.
    if held || ctx.memory(|memory| memory.focused().is_some()) {
        return 1.0;
    }
    let [stays, fades] = STAYS;
    let rested = moved.min((now - began) as f32);
    let gone = ((rested - stays) / fades).clamp(0.0, 1.0);
    if gone < 1.0 {
        ctx.request_repaint_after_secs((stays - rested).max(0.0));
    }
    1.0 - gone
}
