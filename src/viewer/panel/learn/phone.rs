//! Live training on a phone, in one column: findings, loss and current answer; in landscape the loss is at
//! the left.

use egui::{Align2, Rect, Ui, pos2, vec2};

use super::{curves, finding};
use crate::figure::scene::axes::play_head;
use crate::figure::{PanelId, Picture, Surface, head_label};
use crate::viewer::panel::phone::strip_ui;
use crate::viewer::panel::{View, picture, within};
use crate::viewer::theme;
use crate::viewer::widget::area;

/// Around and between the parts.
const APART: f32 = 8.0;
/// Height of the words over a picture.
const WORDS: f32 = 18.0;
/// Share of the loss in an upright window under the text.
const LOSS: f32 = 0.42;
/// The pictures of an episode have room below each other from this height on.
const LOW: f32 = 120.0;
/// Shares of the pictures of an episode: target, output, and weighting of the head.
const SHARES: [f32; 3] = [0.25, 0.25, 0.5];

/// All of it.
pub fn train_ui(ui: &mut Ui, view: &mut View<'_>) {
    let Some(learning) = &view.state.learning else {
        return;
    };
    let whole = ui.max_rect().shrink(APART);
    let is_upright = whole.height() > whole.width();
    let (words, (loss, answer)) = if is_upright {
        let (words, rest) = whole.split_top_bottom_at_y(whole.top() + finding::HEIGHT_ON_PHONE);
        (words, rest.split_top_bottom_at_fraction(LOSS))
    } else {
        let (loss, rest) = whole.split_left_right_at_fraction(0.5);
        let rest = rest.with_min_x(rest.left() + APART);
        let (words, answer) = rest.split_top_bottom_at_fraction(0.6);
        (words, (loss, answer))
    };
    within(ui, words, |ui| {
        finding::finding_ui(ui, learning);
    });
    within(ui, loss, |ui| {
        curves::loss_ui(ui, ui.max_rect(), learning, view);
    });
    within(ui, answer, |ui| answer_ui(ui, view));
}

/// Shows the target, the current output and the rows of the selected head.
fn answer_ui(ui: &mut Ui, view: &mut View<'_>) {
    let whole = ui.max_rect();
    let head = PanelId::of(Picture::Weightings, view.focus);
    let weighting = head_label(view.trace(), view.focus);
    let weighting = format!("weighting of {weighting}: rows ↓, steps →");
    let ids = [
        ("target", PanelId::new(Picture::Target)),
        ("output now", PanelId::new(Picture::Output)),
        (weighting.as_str(), head),
    ];
    // Where the window is turned there is room for one of them.
    let all = whole.height() >= LOW;
    let mut parts: Vec<_> = ids.into_iter().zip(SHARES).collect();
    parts.retain(|((_, id), _)| all || id.picture == Picture::Output);
    let shares: f32 = parts.iter().map(|(_, share)| share).sum();
    let room = (whole.height() - parts.len() as f32 * WORDS) / shares;
    let (catalogue, mut top) = (view.catalogue(), whole.top());
    let mut places = Vec::new();
    for ((words, id), share) in parts {
        let Some(panel) = catalogue.panel(id) else {
            continue;
        };
        let (font, ink) = (theme::text(12.0), view.palette.subdued);
        let at = pos2(whole.left(), top + WORDS / 2.0);
        ui.painter().text(at, Align2::LEFT_CENTER, words, font, ink);
        let size = vec2(whole.width(), share * room - 4.0);
        let at = Rect::from_min_size(pos2(whole.left(), top + WORDS), size);
        places.push(panel.at(area(at)));
        top += WORDS + share * room;
    }
    let page = view.page(ui.pixels_per_point());
    for place in &places {
        picture::paint_ui(ui, place, view);
        let (step, steps) = (view.step(), view.steps());
        let mut canvas = view.canvas(ui);
        let on = &mut Surface::new(&mut canvas, &page);
        play_head(on, &place.area, step, steps);
    }
    strip_ui(ui, &places, view);
}
