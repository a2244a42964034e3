//! The exact value under the pointer. It is worked out anew in every frame, so it stays true while
//! time moves under a still pointer.

use egui::{Align2, Area, Context, Id, Order, vec2};

use super::super::theme::{self, Palette};
use super::property::words;
use super::text::announce;

/// The text of the card at the pointer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readout {
    /// The place: head, step, row.
    pub place: String,
    /// The value, exactly.
    pub value: String,
    /// The meaning of the value, as text or as an equation.
    pub meaning: String,
    /// The name of a recorded value in files and expressions.
    pub name: Option<String>,
}

/// Smaller values are shown as ≈ 0, and exactly with Alt.
const LEAST: f32 = 1e-9;

/// Shows the card.
pub fn readout_ui(ctx: &Context, readout: &Readout) {
    let Some(pointer) = ctx.pointer_latest_pos() else {
        return;
    };
    let palette = Palette::on(ctx);
    let (pivot, dx) = if pointer.x > ctx.content_rect().center().x {
        (Align2::RIGHT_BOTTOM, -14.0)
    } else {
        (Align2::LEFT_BOTTOM, 14.0)
    };
    Area::new(Id::unique("readout"))
        // Below messages and the card of the tour, which ask for something.
        .order(Order::Middle)
        .interactable(false)
        .fade_in(false)
        .pivot(pivot)
        .fixed_pos(pointer + vec2(dx, -10.0))
        .constrain_to(ctx.content_rect())
        .show(ctx, |ui| {
            egui::Frame::popup(ui.style()).show(ui, |ui| {
                ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
                ui.spacing_mut().item_spacing.y = 3.0;
                let number = readout.value.replace('−', "-").parse::<f32>().ok();
                let exactly = ui.input(|input| input.modifiers.alt);
                ui.horizontal(|ui| {
                    words(ui, &readout.place, theme::mono(12.0), palette.subdued);
                    let is_tiny = number.is_some_and(|x| x != 0.0 && x.abs() < LEAST);
                    let is_short = is_tiny && !exactly;
                    let value = if is_short { "≈ 0" } else { &readout.value };
                    let value = words(ui, value, theme::mono(13.0), palette.strong);
                    announce(&value);
                });
                // The shown text reads back exactly as this value.
                if let (true, Some(number)) = (exactly, number) {
                    let bits = format!("f32 bits 0x{:08X}", number.to_bits());
                    words(ui, bits, theme::mono(11.5), palette.subdued);
                }
                if let (true, Some(name)) = (exactly, &readout.name) {
                    words(ui, name, theme::mono(11.5), palette.subdued);
                }
                for line in readout.meaning.lines() {
                    words(ui, line, theme::text(11.5), palette.subdued);
                }
            });
        });
}
