//! The instruction of the selected head in this step.

use egui::Ui;

use super::View;
use crate::analysis::disassembly::{Instruction, TOLERANCE};
use crate::viewer::theme;
use crate::viewer::widget::Line;

/// The meaning of the line.
const ABOUT: &str = "STAY, SHIFT and JUMP: within a total variation of 0.1 of the previous weighting, of the same moved by \
                     rows, or of all weight on the best match. ALLOCATE, FORWARD and BACKWARD: of all weight on the least used \
                     row, or on the one written after or before. SPREAD: none of these.";

/// Shows it in one line, where the head attends.
pub fn instruction_ui(ui: &mut Ui, view: &View<'_>) {
    let at = [view.focus, view.step()];
    let find = || {
        let order = view.open.order();
        Instruction::of(view.trace(), order, TOLERANCE, at).map(|found| found.to_string())
    };
    let instruction = view.memos.instructions.get((view.open.serial, at), find);
    let Some(instruction) = instruction else {
        return;
    };
    let line = Line::to_read(ui, 18.0, &format!("Instruction: {instruction}"));
    let x = line.rect.x_range();
    line.within(x, &instruction, theme::mono(12.0), view.palette.text);
    line.response
        .on_hover_text(format!("{instruction}\n{ABOUT}"));
}
