//! The settings of appearance and motion.

use egui::{Rect, Response, Role, Ui, WidgetInfo, vec2};

use crate::figure::HeadName;
use crate::viewer::command::Window;
use crate::viewer::state::{SCALES, Settings, Theme};
use crate::viewer::theme::{self, Map, Palette, Scale};
use crate::viewer::widget::{Line, check_box, choice, note, on_click, section, text_button};

/// All settings; each takes effect at once.
pub fn settings_ui(ui: &mut Ui, settings: &Settings) {
    let look = &settings.look;
    section(ui, "Theme");
    ui.horizontal(|ui| {
        for theme in Theme::ALL {
            let is_on = look.theme == theme;
            choice(ui, is_on, theme.name(), Window::Theme(theme));
        }
    });
    next_section(ui, "Colours of weightings, 0 to 1");
    for map in Map::ALL {
        let line = map_ui(ui, map, look.map == map);
        on_click(&line, Window::Colors(map));
    }
    let words = "Cividis stays readable with red–green colour blindness.";
    note(ui, words);
    // A phone has room for one size.
    if !theme::is_by_finger(ui.ctx()) {
        sizes_ui(ui, look.scale);
    }
    next_section(ui, "Motion");
    let words = "Reduced: no animation, no automatic playback";
    check_box(ui, look.still, words, Window::ToggleMotion);
    next_section(ui, "Files");
    ui.horizontal(|ui| {
        let files = settings.recent.len();
        ui.add_enabled_ui(files > 0, |ui| {
            text_button(ui, "Forget recent files", Window::ForgetFiles);
        });
        note(ui, &format!("files: {files}"));
    });
}

fn sizes_ui(ui: &mut Ui, scale: u16) {
    next_section(ui, "Size");
    ui.horizontal_wrapped(|ui| {
        for percent in SCALES {
            let (is_on, name) = (scale == percent, format!("{percent} %"));
            choice(ui, is_on, &name, Window::Scale(percent));
        }
    });
    note(ui, "Limited by the size of the window.");
}

fn next_section(ui: &mut Ui, title: &str) {
    ui.add_space(theme::SECTION - 6.0);
    section(ui, title);
}

/// A colour map with its name, to choose.
fn map_ui(ui: &mut Ui, map: Map, on: bool) -> Response {
    let own = Palette::of(ui);
    let shown = Palette::with_map(ui.visuals().dark_mode, map);
    let (name, height) = (map.name(), ui.spacing().interact_size.y);
    let info = WidgetInfo::selected(Role::RadioButton, true, on, name);
    let line = Line::to_press(ui, height, &info);
    let ink = if on { own.strong } else { own.text };
    line.left(8.0, name, theme::text(13.0), ink);
    let (rect, painter) = (line.rect, line.ui.painter());
    let bar = rect.shrink2(vec2(8.0, 6.0)).with_min_x(rect.left() + 100.0);
    let parts = 64;
    let width = bar.width() / parts as f32;
    for part in 0..parts {
        let left = bar.left() + part as f32 * width;
        let cell = Rect::from_x_y_ranges(left..=left + width + 0.5, bar.y_range());
        // Where each head has its own: that of one that reads, then that of one that writes.
        let turns = if map == Map::Heads { 2 } else { 1 };
        let each = parts / turns;
        let (is_write, place) = (part >= each, 0);
        let scale = Scale::weighting(false).of_head(HeadName { is_write, place });
        let share = (part % each) as f32 / (each - 1) as f32;
        painter.rect_filled(cell, 0.0, shown.color(scale, share));
    }
    painter.rect_stroke(bar, 0.0, own.hairline(), egui::StrokeKind::Outside);
    line.response
}
