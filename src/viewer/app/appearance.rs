//! Applies the appearance to the window.

use egui::{Context, ThemePreference, Vec2, vec2};

use crate::viewer::state::{Appearance, Theme};
use crate::viewer::theme;

/// The smallest window in which everything fits, in points.
pub const SMALLEST: Vec2 = vec2(960.0, 600.0);

/// Smallest size of pictures without panels: of the close-up, and of all others.
const SMALLEST_ALONE: [Vec2; 2] = [vec2(640.0, 400.0), vec2(800.0, 500.0)];
/// Scale of presentations: text of 13 points becomes one of 20.
const PRESENTED: f32 = 20.0 / 13.0;

/// The sizes of the content on screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewSize {
    /// The pictures and everything around them.
    #[default]
    All,
    /// The close-up alone.
    CloseUp,
    /// Other pictures alone.
    Pictures,
}

/// The size asked for, as far as everything still fits into the window.
fn zoom((look, shown): (Appearance, ViewSize), ctx: &Context) -> f32 {
    let [near, others] = SMALLEST_ALONE;
    let (larger, smallest) = match shown {
        ViewSize::All => (1.0, SMALLEST),
        ViewSize::CloseUp => (PRESENTED, near),
        ViewSize::Pictures => (PRESENTED, others),
    };
    let wanted = larger * f32::from(look.scale) / 100.0;
    let window = ctx.content_rect().size() * ctx.zoom_factor();
    let room = (window / smallest).min_elem().max(1.0);
    // Division and multiplication round: 0.1 makes up for it.
    wanted.min((room * 100.0 + 0.1).floor() / 100.0)
}

/// The size that the window has room for, in percent, where more was asked for.
pub fn limit(look: Appearance, ctx: &Context) -> Option<f32> {
    let size = 100.0 * zoom((look, ViewSize::All), ctx);
    (size + 1.5 < f32::from(look.scale)).then_some(size)
}

/// Applies the theme, larger where the pictures have no panels; `before` is the previous one.
pub fn apply_theme((look, shown): (Appearance, ViewSize), ctx: &Context, before: Appearance) {
    if before.theme != look.theme {
        ctx.set_theme(match look.theme {
            Theme::System => ThemePreference::System,
            Theme::Dark => ThemePreference::Dark,
            Theme::Light => ThemePreference::Light,
        });
    }
    let zoom = zoom((look, shown), ctx);
    if (zoom - ctx.zoom_factor()).abs() > 0.015 {
        ctx.set_zoom_factor(zoom);
    }
    if before.still != look.still {
        theme::set_motion(ctx, !look.still);
    }
}
