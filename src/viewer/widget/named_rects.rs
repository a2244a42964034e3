//! Rectangles of named widgets, for overlays that point at them.

use egui::{Context, Id, Rect};

fn id(name: &str) -> Id {
    Id::unique(("place", name))
}

/// Something of this name stands here in this frame.
pub fn mark(ctx: &Context, name: &str, rect: Rect) {
    let pass = ctx.cumulative_pass_nr();
    ctx.data_mut(|data| data.insert_temp(id(name), (pass, rect)));
}

/// Returns its rectangle, if it is on screen.
pub fn find(ctx: &Context, name: &str) -> Option<Rect> {
    let (pass, rect) = ctx.data(|data| data.get_temp::<(u64, Rect)>(id(name)))?;
    (ctx.cumulative_pass_nr() <= pass + 1).then_some(rect)
}
