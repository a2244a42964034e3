//! The top bar: the open machine or file, and its commands.

use egui::{ComboBox, Ui};

use super::bottom::problems_ui;
use super::tour::{ABOUT, invitation_ui, invites, start_text};
use super::{shows_drawer, shows_numbers};
use crate::figure::facts::numbers::percent;
use crate::viewer::command::{Compare, DialogCommand, Episode, File, Subject, Tour, Window};
use crate::viewer::keys::tooltip;
use crate::viewer::narration::comparison;
use crate::viewer::state::{FilePurpose, Open, PendingJob, Session, State};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    Icon, choice, from_right, icon_button, key_button, named_button, on_click, one_line,
    text_button, words,
};

/// The top bar; `job` is the one in progress.
pub fn top_ui(ui: &mut Ui, state: &State, job: Option<&PendingJob>) {
    let session = &state.session;
    let both = state.comparing.baseline.as_ref().zip(session.open.as_ref());
    let two = both.map(|(pinned, open)| comparison::names(pinned, open));
    let (has_tour, is_new) = (state.heads() > 0 && state.tour().is_none(), invites(state));
    let palette = Palette::of(ui);
    ui.horizontal_centered(|ui| {
        let cards = Window::ToggleWelcome;
        icon_button(ui, Icon::Cards, cards, state.welcome.shown);
        words(ui, "Tapescope", theme::heading(15.0), palette.strong);
        ui.add_space(8.0);
        let width = (ui.available_width() * 0.4).clamp(80.0, 340.0);
        machine_ui(ui, width, state);
        if let (Some(job), true) = (job_to_show(state, job), session.open.is_some()) {
            let room = (ui.available_width() - BUTTONS - SHARE).max(60.0);
            let text = format!("{} …", job.words);
            ui.scope(|ui| {
                ui.set_max_width(room);
                one_line(ui, text, theme::text(13.0), palette.subdued);
            });
            under_way_ui(ui, job, SHARE / 2.0);
        } else if is_new {
            invitation_ui(ui);
        }
        from_right(ui, |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            icon_button(ui, Icon::Help, Subject::Keys, false);
            let (toggle, is_on) = (
                Window::ToggleNumbers,
                shows_numbers(state) || shows_drawer(state),
            );
            icon_button(ui, Icon::Panel, toggle, is_on);
            icon_button(ui, Icon::Theme, Window::NextTheme, false);
            let [save, open] = [FilePurpose::Save, FilePurpose::Open]
                .map(|purpose| DialogCommand::For(Subject::File(purpose)));
            icon_button(ui, Icon::Save, save, false);
            icon_button(ui, Icon::Open, open, false);
            ui.add_space(8.0);
            // What comes and goes is left of what stays.
            if state.welcome.shown {
                problems_ui(ui, state);
            } else if has_tour && two.is_none() && !is_new {
                text_button(ui, &start_text(state), Tour::Start).on_hover_text(ABOUT);
                ui.add_space(8.0);
            }
            match &two {
                Some((names, screen)) => two_ui(ui, names, *screen),
                None => source(ui, session),
            }
        });
    });
}

/// Returns the job in progress that is worth showing: not the repeated recording of live training.
pub fn job_to_show<'a>(state: &State, job: Option<&'a PendingJob>) -> Option<&'a PendingJob> {
    job.filter(|job| !(job.is_recording() && state.shows_learner()))
}

/// Room for the buttons at the right.
const BUTTONS: f32 = 180.0;
/// Room for how far a job is, and the button that gives it up.
const SHARE: f32 = 160.0;

/// Shows the progress of a job, and a button that cancels it.
pub fn under_way_ui(ui: &mut Ui, job: &PendingJob, width: f32) {
    if let Some(share) = job.share() {
        let palette = Palette::of(ui);
        let bar = egui::ProgressBar::new(share).desired_width(width);
        ui.add(bar.desired_height(6.0).fill(palette.accent))
            .accessible_name(format!("{}: {}", job.words, percent(share)));
    }
    if job.can_be_given_up {
        named_button(ui, File::GiveUp);
    }
}

/// Shows the machine, and a menu of all machines.
pub fn machine_ui(ui: &mut Ui, width: f32, state: &State) {
    let session = &state.session;
    let recorded = session.open.as_ref().is_some_and(Open::is_of_a_file);
    let current = match (session.machine(), &state.learning) {
        _ if recorded => "A recorded trace",
        // How far it is stands elsewhere: here it would flicker.
        (Some(_), Some(_)) if state.shows_learner() => "Live training",
        (Some(machine), _) => machine.title.as_str(),
        (None, _) => "no machine",
    };
    ComboBox::new("machine", "")
        .selected_text(current)
        .width(width)
        .height(ui.ctx().content_rect().height() - 2.0 * theme::ROW - 24.0)
        .truncate()
        .show_ui(ui, |ui| {
            for (index, machine) in session.machines.iter().enumerate() {
                let selected = index == session.request.machine && !recorded;
                let open = Episode::Machine(index);
                choice(ui, selected, &machine.title, open);
            }
        })
        .response
        .accessible_name("Machine");
}

/// Two names without the words, or parts of a name, that they begin and end with alike; something is left of each.
fn unlike(names: &[String; 2], apart: &str) -> [String; 2] {
    let [a, b] = names.each_ref();
    let [a, b] = [a, b].map(|name| name.split(apart).collect::<Vec<_>>());
    let most = a.len().min(b.len()) - 1;
    let ends = a.iter().rev().zip(b.iter().rev());
    let end = ends.take(most).take_while(|(a, b)| a == b).count();
    let starts = a.iter().zip(&b).take(most - end);
    let start = starts.take_while(|(a, b)| a == b).count();
    [(&a, &b), (&b, &a)].map(|(parts, other)| {
        let goes_on = parts.len() > other.len() && parts.starts_with(other);
        let (start, end) = if goes_on {
            (other.len(), 0)
        } else {
            (start, end)
        };
        let rest = parts[start..parts.len() - end].join(apart);
        rest.trim_end_matches(',').to_owned()
    })
}

/// Two names that fit, shortened where they agree.
fn fitting(names: &[String; 2], fits: impl Fn(&[String; 2]) -> bool) -> [String; 2] {
    let [parts, words] = [", ", " "].map(|apart| unlike(names, apart));
    let mut longer = [names.clone(), parts].into_iter();
    longer.find(fits).unwrap_or(words)
}

/// Divides space between two parts: each may take the part that the other does not need.
fn shared([a, b]: [f32; 2], room: f32) -> [f32; 2] {
    let room = room.max(80.0);
    [(a, b), (b, a)].map(|(own, other)| own.min((room - other).max(0.5 * room)))
}

/// A and B; a click on either swaps them.
fn two_ui(ui: &mut Ui, names: &[String; 2], screen: usize) {
    icon_button(ui, Icon::Close, Compare::End, false);
    let room = ui.available_width() - 16.0;
    let padding = 2.0 * ui.spacing().button_padding.x;
    let font = egui::TextStyle::Button.resolve(ui.style());
    let width = |name: &String| {
        let (text, ink) = (format!("A  {name}"), ui.visuals().text_color());
        let galley = ui.painter().layout_no_wrap(text, font.clone(), ink);
        galley.size().x + padding + 1.0
    };
    let shown = fitting(names, |[a, b]| width(a) + width(b) <= room);
    let widths = shared(shown.each_ref().map(width), room);
    for (side, letter) in ["A", "B"].into_iter().enumerate().rev() {
        let (name, shown) = (&names[side], &shown[side]);
        let text = format!("{letter}  {shown}");
        let button = egui::Button::selectable(screen == side, text);
        let response = ui.add_sized(egui::vec2(widths[side], theme::ROW), button.truncate());
        on_click(&response, Compare::Swap);
        let places = ["compared with the other", "shown in all layouts"];
        let place = places[usize::from(screen == side)];
        let keys = tooltip(&Compare::Swap.into());
        response.on_hover_text(format!("{letter}: {name}\n{place}\n{keys}"));
    }
}

/// Shows the file of the episode on screen, if it has one and there is room, and the result of verifying it.
fn source(ui: &mut Ui, session: &Session) {
    let palette = Palette::of(ui);
    let Some(shown) = session.open.as_ref().map(|open| &open.shown) else {
        return;
    };
    if let Some(verdict) = shown.verdict.get() {
        let result = if verdict.first.is_some() {
            key_button(ui, &verdict.words, Compare::FirstDifference)
        } else {
            let ink = [palette.subdued, palette.warning][usize::from(verdict.differs)];
            words(ui, &verdict.words, theme::text(13.0), ink)
        };
        result.on_hover_text(&verdict.details);
        ui.add_space(8.0);
    }
    if let Some(file) = &shown.file
        && ui.available_width() > 120.0
    {
        let text = format!("{file}, as recorded");
        one_line(ui, text, theme::text(13.0), palette.accent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_to_their_difference() {
        let names = |a: &str, b: &str, most: usize| {
            fitting(&[a.to_owned(), b.to_owned()], |names| {
                names.iter().all(|name| name.len() <= most)
            })
        };
        let [a, b] = ["Copy, length 5, seed 1", "Copy, length 5, seed 2"];
        assert_eq!(names(a, b, 22), [a, b]);
        assert_eq!(names(a, b, 21), ["seed 1", "seed 2"]);
        assert_eq!(names(a, b, 5), ["1", "2"]);
        let [a, b] = [
            "Copy, after 1200 sequences, length 5",
            "Copy, after 12000 sequences, length 5",
        ];
        assert_eq!(
            names(a, b, 30),
            ["after 1200 sequences", "after 12000 sequences"]
        );
        assert_eq!(names(a, b, 10), ["1200", "12000"]);
        assert_eq!(names("a.json", "b.json", 2), ["a.json", "b.json"]);
        assert_eq!(names("a.json", "a.json", 2), ["a.json", "a.json"]);
        let [a, b] = [
            "Copy, length 5, seed 1",
            "Copy, feedforward, length 5, seed 1",
        ];
        assert_eq!(names(a, b, 18), ["Copy", "Copy, feedforward"]);
        assert_eq!(names(a, b, 2), ["Copy", "Copy, feedforward"]);
        let [a, b] = ["Copy, seed 7", "Copy, seed 7, with 12:read0.gate=1"];
        assert_eq!(names(a, b, 22), ["seed 7", "with 12:read0.gate=1"]);
    }

    #[test]
    fn a_short_name_leaves_its_room_to_the_other() {
        assert_eq!(shared([40.0, 150.0], 200.0), [40.0, 150.0]);
        assert_eq!(shared([40.0, 190.0], 200.0), [40.0, 160.0]);
        assert_eq!(shared([190.0, 40.0], 200.0), [160.0, 40.0]);
        assert_eq!(shared([300.0, 300.0], 200.0), [100.0, 100.0]);
    }
}
