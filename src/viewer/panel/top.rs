//! The top bar: what is open, and what to do with it.

use egui::{Align, ComboBox, Layout, RichText, Ui};

use crate::viewer::command::{Ask, Command, Compare, Episode, Window};
use crate::viewer::keys::tooltip;
use crate::viewer::state::episode::Open;
use crate::viewer::state::session::Session;
use crate::viewer::story::two::Names;
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::button::icon_button;
use crate::viewer::widget::icon::Icon;

/// What the top bar shows besides the session.
#[derive(Clone, Copy, Debug)]
pub struct Bar {
    /// True while the panel of numbers is open.
    pub numbers: bool,
    /// True while the start page is on screen.
    pub start: bool,
    /// True while an episode is recorded or a file is read.
    pub busy: bool,
}

/// The top bar.
pub fn top_ui(
    ui: &mut Ui,
    session: &Session,
    bar: Bar,
    two: Option<&Names>,
    commands: &mut Vec<Command>,
) {
    let palette = Palette::of(ui);
    ui.horizontal_centered(|ui| {
        let cards = Command::Window(Window::ToggleWelcome);
        icon_button(ui, Icon::Cards, &cards, bar.start, commands);
        ui.label(
            RichText::new("Tapescope")
                .font(theme::heading(15.0))
                .color(palette.strong),
        );
        ui.add_space(8.0);
        machine_ui(ui, session, commands);
        if bar.busy {
            ui.label(RichText::new("working …").color(palette.subdued));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for (icon, command, on) in [
                (Icon::Help, Command::Ask(Ask::Keys), false),
                (
                    Icon::Panel,
                    Command::Window(Window::ToggleNumbers),
                    bar.numbers,
                ),
                (Icon::Theme, Command::Window(Window::NextTheme), false),
                (Icon::Save, Command::Ask(Ask::Save), false),
                (Icon::Open, Command::Ask(Ask::Open), false),
            ] {
                icon_button(ui, icon, &command, on, commands);
            }
            ui.add_space(8.0);
            match two {
                Some(two) => two_ui(ui, two, commands),
                None if ui.available_width() > 120.0 => source(ui, session),
                None => {}
            }
        });
    });
}

fn machine_ui(ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
    let recorded = session.open.as_ref().is_some_and(Open::is_of_a_file);
    let current = match session.machine() {
        _ if recorded => "A recorded trace",
        Some(machine) => machine.title.as_str(),
        None => "no machine",
    };
    let width = (ui.available_width() * 0.4).clamp(80.0, 340.0);
    ComboBox::new("machine", "")
        .selected_text(current)
        .width(width)
        .truncate()
        .show_ui(ui, |ui| {
            for (index, machine) in session.machines.iter().enumerate() {
                let selected = index == session.wish.machine && !recorded;
                if ui.selectable_label(selected, &machine.title).clicked() {
                    commands.push(Command::Episode(Episode::Machine(index)));
                }
            }
        })
        .response
        .accessible_name("Machine");
}

/// Names with less room than this are told apart by what is not the same in them.
const ROOMY: f32 = 200.0;

/// Two names without the parts that they begin with alike.
fn unlike(names: &[String; 2]) -> [String; 2] {
    let parts = names.each_ref().map(|name| name.split(", "));
    let [a, b] = parts;
    let same = a.zip(b).take_while(|(a, b)| a == b).count();
    let rest = names.each_ref().map(|name| {
        let parts: Vec<_> = name.split(", ").skip(same).collect();
        parts.join(", ")
    });
    if rest.iter().any(String::is_empty) {
        names.clone()
    } else {
        rest
    }
}

/// A and B; a click on either swaps them.
fn two_ui(ui: &mut Ui, two: &Names, commands: &mut Vec<Command>) {
    icon_button(
        ui,
        Icon::Close,
        &Command::Compare(Compare::End),
        false,
        commands,
    );
    let width = ((ui.available_width() - 16.0) / 2.0).clamp(40.0, 240.0);
    let shown = if width < ROOMY {
        unlike(&two.names)
    } else {
        two.names.clone()
    };
    for (side, letter) in ["A", "B"].into_iter().enumerate().rev() {
        let (name, shown) = (&two.names[side], &shown[side]);
        let button = egui::Button::selectable(two.screen == side, format!("{letter}  {shown}"));
        let response = ui.add_sized(egui::vec2(width, theme::ROW), button.truncate());
        if response.clicked() {
            commands.push(Command::Compare(Compare::Swap));
        }
        let place = if two.screen == side {
            "on screen in all layouts"
        } else {
            "what it is compared with"
        };
        let keys = tooltip(&Command::Compare(Compare::Swap));
        response.on_hover_text(format!("{letter}: {name}\n{place}\n{keys}"));
    }
}

/// Where the episode on screen came from, if it came from a file.
fn source(ui: &mut Ui, session: &Session) {
    let palette = Palette::of(ui);
    let file = session
        .open
        .as_ref()
        .and_then(|open| open.shown.file.as_ref());
    if let Some(file) = file {
        let text = format!("{file}, as recorded");
        ui.add(egui::Label::new(RichText::new(text).color(palette.accent)).truncate());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_by_what_is_not_the_same() {
        let names = |a: &str, b: &str| unlike(&[a.to_owned(), b.to_owned()]);
        let seeds = names("Copy, length 5, seed 1", "Copy, length 5, seed 2");
        assert_eq!(seeds, ["seed 1", "seed 2"]);
        let sizes = names("Copy, length 5, seed 1", "Copy, length 6, seed 1");
        assert_eq!(sizes, ["length 5, seed 1", "length 6, seed 1"]);
        assert_eq!(names("a.json", "b.json"), ["a.json", "b.json"]);
        assert_eq!(names("a.json", "a.json"), ["a.json", "a.json"]);
    }
}
