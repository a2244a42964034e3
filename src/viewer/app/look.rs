//! How everything looks, put on.

use egui::{Context, ThemePreference, Vec2, vec2};

use crate::viewer::state::settings::{Look, Theme};
use crate::viewer::theme;

/// The smallest window in which everything fits, in points.
pub const SMALLEST: Vec2 = vec2(960.0, 600.0);

/// The size asked for, as far as everything still fits into the window.
fn zoom(look: Look, ctx: &Context) -> f32 {
    let wanted = f32::from(look.scale) / 100.0;
    let window = ctx.content_rect().size() * ctx.zoom_factor();
    let room = (window / SMALLEST).min_elem().max(1.0);
    // What is divided and multiplied again is a little less than it was.
    wanted.min((room * 100.0 + 0.1).floor() / 100.0)
}

/// The size that the window has room for, in percent, where more was asked for.
pub fn limit(look: Look, ctx: &Context) -> Option<f32> {
    let size = 100.0 * zoom(look, ctx);
    (size + 1.5 < f32::from(look.scale)).then_some(size)
}

/// Puts it on; `before` is what was on.
pub fn wear(look: Look, ctx: &Context, before: Look) {
    if before.theme != look.theme {
        ctx.set_theme(match look.theme {
            Theme::System => ThemePreference::System,
            Theme::Dark => ThemePreference::Dark,
            Theme::Light => ThemePreference::Light,
        });
    }
    let zoom = zoom(look, ctx);
    if (zoom - ctx.zoom_factor()).abs() > 0.015 {
        ctx.set_zoom_factor(zoom);
    }
    if before.still != look.still {
        theme::set_motion(ctx, !look.still);
    }
}
