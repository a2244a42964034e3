//! The list of keys: every command that has one, in groups, and the actions of the pointer.

use egui::text::LayoutJob;
use egui::{RichText, TextFormat, Ui, vec2};

use crate::platform::HAS_FILES;
use crate::viewer::command::{DialogCommand, Subject, Tour};
use crate::viewer::keys::{Group, TABLE};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{named_button, scrolled_ui, section, text_button};

/// The groups of each column, and the room for the keys of their commands.
const COLUMNS: [(&[Group], f32); 3] = [
    (&[Group::Play, Group::View], 84.0),
    (&[Group::Time, Group::Compare, Group::Learn], 106.0),
    (&[Group::Episode, Group::Window], 142.0),
];
/// All columns have room beside each other from this width on.
const ROOMY: f32 = 600.0;
/// Height below which only names are shown, with descriptions in tooltips.
const LOW: f32 = 700.0;

/// Keys and gestures that are not commands.
const OTHERS: [(&str, &str, &str); 4] = [
    ("1 … 9", "Select head", "Shift+click adds a second one"),
    (
        "Tab  Enter",
        "Focus and press",
        "every button; Shift+Tab goes back",
    ),
    ("click", "Pin value", "of any picture, with its equation"),
    ("drag", "Move in time", "in any picture over time"),
];

/// Entry for the keys that a browser reserves.
const THE_BROWSERS: (&str, &str, &str) = (
    "Ctrl+P  Ctrl+E …",
    "Browser keys",
    "print, search, reload; zoom, tabs, bookmarks, tools",
);

/// Shows the list in columns, with further help below; `tour` is the name of the button of the tour.
pub fn keys_ui(ui: &mut Ui, tour: &str) {
    list_ui(ui);
    ui.add_space(8.0);
    ui.horizontal_wrapped(|ui| {
        text_button(ui, tour, Tour::Start);
        for subject in [Subject::Settings, Subject::Glossary, Subject::About] {
            named_button(ui, DialogCommand::For(subject));
        }
    });
}

fn is_low(ui: &Ui) -> bool {
    ui.ctx().content_rect().height() < LOW
}

fn list_ui(ui: &mut Ui) {
    scrolled_ui(ui, 150.0, |ui| {
        ui.spacing_mut().item_spacing.y = if is_low(ui) { 0.0 } else { 2.0 };
        let is_roomy = ui.available_width() >= ROOMY;
        let count = if is_roomy { COLUMNS.len() } else { 1 };
        ui.columns(count, |columns| {
            for (index, (groups, width)) in COLUMNS.into_iter().enumerate() {
                let ui = &mut columns[index % count];
                for group in groups {
                    group_ui(ui, *group, width);
                }
            }
            let ui = &mut columns[1 % count];
            section(ui, "Everywhere");
            let the_browsers = (!HAS_FILES).then_some(THE_BROWSERS);
            for (keys, name, help) in OTHERS.into_iter().chain(the_browsers) {
                line_ui(ui, (keys, COLUMNS[1].1), name, help);
            }
        });
    });
}

fn group_ui(ui: &mut Ui, group: Group, width: f32) {
    section(ui, group.name());
    let entries = TABLE.iter().filter(|entry| entry.group == group);
    for entry in entries.filter(|entry| entry.keys().next().is_some()) {
        line_ui(ui, (&entry.keys_text(), width), entry.name, entry.help);
    }
    ui.add_space(8.0);
}

/// Keys at the left, name and help at the right, in as many lines as they need.
fn line_ui(ui: &mut Ui, (keys, width): (&str, f32), name: &str, help: &str) {
    let palette = Palette::of(ui);
    ui.horizontal_top(|ui| {
        let keys = RichText::new(keys)
            .font(theme::mono(11.5))
            .color(palette.accent);
        ui.allocate_ui(vec2(width, 16.0), |ui| {
            ui.set_width(width);
            ui.add(egui::Label::new(keys).extend());
        });
        let mut job = LayoutJob::default();
        let size = theme::text(12.0);
        job.append(name, 0.0, TextFormat::simple(size.clone(), palette.text));
        let low = is_low(ui);
        if !help.is_empty() && !low {
            let help = format!("  {help}");
            job.append(&help, 0.0, TextFormat::simple(size, palette.subdued));
        }
        let label = ui.add(egui::Label::new(job).wrap());
        if low && !help.is_empty() {
            label.on_hover_text(help);
        }
    });
}
