//! The phone layout: a bar at the top, the transport at the bottom, and sheets for all that a finger asks
//! for.

use egui::text::LayoutJob;
use egui::{Id, Rect, Role, Stroke, StrokeKind, Ui, WidgetInfo, vec2};

use super::bottom::{PACE, keys_ui, paces_ui};
use super::{View, interact, left, parts, scrub_by_finger, top};
use crate::figure::{Format, PanelId, Picture, PlacedPanel, head_label};
use crate::viewer::command::{
    Command, DialogCommand, Edit, File, Learn, Play, Replacement, Subject, Tour, ViewCommand,
    Window,
};
use crate::viewer::keys;
use crate::viewer::state::{FilePurpose, PendingJob, State, WindowLayout};
use crate::viewer::theme::{self, Palette};
use crate::viewer::widget::{
    Icon, Line, choice, from_left, from_right, icon_button, named_icon_button, on_click,
    primary_button, rect, section, send, text_button, words,
};

/// Height of the transport.
const TRANSPORT: f32 = theme::FINGER + 8.0;
/// Between the transport and the edges of the window.
const MARGIN: f32 = 6.0;
/// Buttons of the transport.
const BUTTONS: f32 = 7.0;
/// Delay before a job in progress is shown, in seconds.
const LONG: f64 = 0.4;
/// Least width of the hint between the buttons.
const LEAST: f32 = 72.0;
/// Height of a command in the list of commands.
const LINE: f32 = 52.0;

/// Further commands, as far as they are available.
static MORE: [Command; 18] = [
    Command::Learn(Learn::Replace(Replacement::NextSeed)),
    Command::Learn(Learn::Replace(Replacement::Nothing)),
    Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Run))),
    Command::Window(Window::ToggleWelcome),
    Command::Tour(Tour::Start),
    Command::Learn(Learn::Toggle),
    Command::File(File::CopyLink),
    Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Save))),
    Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Figure(
        Format::Png,
    )))),
    Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Figure(
        Format::Svg,
    )))),
    Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Motion))),
    Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Open))),
    Command::File(File::GiveUp),
    Command::Window(Window::NextTheme),
    Command::Dialog(DialogCommand::For(Subject::Settings)),
    Command::Dialog(DialogCommand::For(Subject::Messages)),
    Command::Dialog(DialogCommand::For(Subject::Glossary)),
    Command::Dialog(DialogCommand::For(Subject::About)),
];

/// Shows the bar above: machine, episode, and list of commands; `job` is the one in progress.
pub fn top_ui(ui: &mut Ui, state: &State, job: Option<&PendingJob>) {
    let job = top::job_to_show(state, job);
    let takes_long = takes_long(ui, job);
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let (cards, page) = (Window::ToggleWelcome, state.welcome.shown);
        icon_button(ui, Icon::Cards, cards, page);
        from_right(ui, |ui| {
            let sheet = |ui: &mut Ui, icon, name: &str, subject| {
                let button = named_icon_button(ui, icon, name, false, false);
                on_click(&button, subject);
            };
            sheet(ui, Icon::More, "More", Subject::More);
            if page {
                let (heading, ink) = (theme::heading(16.0), Palette::of(ui).strong);
                from_left(ui, |ui| words(ui, "Tapescope", heading, ink));
                return;
            }
            sheet(ui, Icon::Sliders, "Episode", Subject::Episode);
            match job.filter(|_| takes_long) {
                Some(job) => {
                    ui.spacing_mut().item_spacing.x = 8.0;
                    top::under_way_ui(ui, job, ui.available_width() / 4.0);
                    ui.add(egui::Label::new(format!("{} …", job.words)).truncate());
                }
                None => top::machine_ui(ui, ui.available_width(), state),
            }
        });
    });
}

/// True for a job that runs long enough to be shown.
fn takes_long(ui: &Ui, job: Option<&PendingJob>) -> bool {
    let (id, now) = (Id::unique("in progress"), ui.input(|input| input.time));
    let words = job.map(|job| job.words.clone());
    ui.data_mut(|data| {
        let since = data.get_temp_mut_or_insert_with(id, || (None, now));
        if since.0 != words {
            *since = (words, now);
        }
        since.0.is_some() && now - since.1 > LONG
    })
}

/// True where stages and input bits can be stepped through.
fn shows_stages(state: &State) -> bool {
    let is_free = state.tour().is_none() && state.failing().is_none();
    is_free && state.layout() == WindowLayout::CloseUp
}

/// Height of the transport; upright the buttons of the stages have a line of their own.
pub fn transport_height(state: &State) -> f32 {
    let is_upright = state.frame.height > state.frame.width;
    let has_two = is_upright && shows_stages(state);
    if has_two { 2.0 * TRANSPORT } else { TRANSPORT }
}

/// The transport, and the buttons of the stages above it or beside it.
pub fn transport_ui(ui: &mut Ui, view: &mut View<'_>) {
    let all = ui.max_rect().shrink2(vec2(MARGIN, 0.0));
    let (stages, area) = if all.height() > TRANSPORT {
        all.split_top_bottom_at_y(all.bottom() - TRANSPORT)
    } else if shows_stages(view.state) {
        all.split_left_right_at_x(all.right() - BUTTONS * theme::FINGER - PACE)
    } else {
        (Rect::NOTHING, all)
    };
    if stages.is_positive() {
        parts::child(ui, stages, |ui| stages_ui(ui, view));
    }
    let room = area.width() - PACE;
    let each = (room / BUTTONS).min(1.5 * theme::FINGER);
    let side = ((room - each * BUTTONS) / 2.0).max(0.0);
    parts::child(ui, area.shrink2(vec2(side, 0.0)), |ui| {
        ui.spacing_mut().interact_size.x = each;
        ui.spacing_mut().item_spacing.x = 0.0;
        keys_ui(ui, view.player);
        paces_ui(ui, view.state);
    });
}

/// Shows buttons to step through the stages, with the pinned value; or through the input bits while they are edited.
fn stages_ui(ui: &mut Ui, view: &mut View<'_>) {
    ui.spacing_mut().item_spacing.x = 4.0;
    let (state, step) = (view.state, view.step());
    // The mark is in the step on screen.
    let mark = |by| {
        let (marked, _) = state.mark()?;
        let steps = step.cast_signed() - marked.cast_signed();
        Some(Edit::MoveMark(steps, by))
    };
    let one = if view.recording().task.chooses_symbols() {
        "symbol"
    } else {
        "bit"
    };
    let (what, said) = if let Some((_, channel)) = state.mark() {
        let bit = view.trace().input.row(step)[channel];
        (one, format!("{one} {channel} of step {step} is {bit}"))
    } else if let Some(card) = view.card() {
        let lines = card.lines.iter();
        let lines = lines.map(|line| format!(" · {} {}", line.symbol, line.value));
        ("stage", card.title.clone() + &lines.collect::<String>())
    } else {
        ("stage", "Touch a value to read it.".to_owned())
    };
    let [back, on] = [format!("← {what}"), format!("{what} →")];
    for (by, text, way) in [(-1, back, "previous"), (1, on, "next")] {
        let command = mark(by).map_or(Play::Stage(by).into(), Command::from);
        let button = text_button(ui, &text, command);
        button.accessible_name(format!("Go to {way} {what}"));
    }
    from_right(ui, |ui| {
        let (text, name) = match state.mark() {
            Some(_) => ("Done", "Done"),
            None => ("Edit", "Edit input"),
        };
        let can = state.session.lacks_editing().is_none();
        ui.add_enabled_ui(can, |ui| {
            text_button(ui, text, Edit::Toggle).accessible_name(name);
        });
        let flip = if one == "bit" { "Flip bit" } else { "Choose" };
        if let Some(here) = mark(0)
            && primary_button(ui, flip).clicked()
        {
            send(ui.ctx(), here);
            send(ui.ctx(), Edit::FlipMarked);
        }
        from_left(ui, |ui| {
            // Between the buttons there may be room for hardly a word.
            if ui.available_width() < LEAST {
                return;
            }
            let (font, ink) = (theme::text(11.0), view.palette.text);
            let mut job = LayoutJob::simple(said, font, ink, ui.available_width());
            job.wrap.max_rows = 3;
            ui.label(job);
        });
    });
}

/// All that is shown over time is one place to move in time, as tall as a finger; the bit to be edited is marked.
pub fn strip_ui(ui: &Ui, places: &[PlacedPanel<'_>], view: &mut View<'_>) {
    let input = PanelId::new(Picture::Input).now();
    let input = places.iter().find(|place| place.panel.id == input);
    if let (Some(place), Some((_, channel))) = (input, view.state.mark())
        && let Some(row) = place.axis.place_of(channel)
    {
        let cell = rect(&place.area.down(row.min, row.max));
        let (edge, kind) = (Stroke::new(2.0, view.palette.accent), StrokeKind::Outside);
        ui.painter().rect_stroke(cell, 0.0, edge, kind);
    }
    let over_time = places.iter().filter(|place| place.steps().is_some());
    let Some(strip) = over_time.map(|place| rect(&place.area)).reduce(Rect::union) else {
        return;
    };
    let whole = strip.expand2(vec2(0.0, ((theme::FINGER - strip.height()) / 2.0).max(0.0)));
    let response = interact(ui, "Time", whole, "Time", "drag to move in time");
    scrub_by_finger(&response, strip.x_range(), view);
}

/// Shows the episode on screen and the selected head.
pub fn episode_ui(ui: &mut Ui, state: &State) {
    left::episode_ui(ui, &state.session);
    let Some(open) = &state.session.open else {
        return;
    };
    let recording = &open.shown.recording;
    if recording.trace.heads.is_empty() {
        return;
    }
    ui.add_space(theme::SECTION);
    section(ui, "Head");
    ui.horizontal_wrapped(|ui| {
        for head in 0..recording.trace.heads.len() {
            let pinned = state.view.is_pinned(head);
            let label = head_label(&recording.trace, head);
            let (is_on, command) = (head == state.view.focus, ViewCommand::Focus(head));
            let button = choice(ui, is_on, &label, command);
            let verb = if pinned { "Unpin" } else { "Select" };
            let name = format!("{verb} head {label}");
            button.widget_info(|| WidgetInfo::selected(Role::Button, true, pinned, &name));
        }
    });
}

/// Shows the further commands that are available, by name.
pub fn more_ui(ui: &mut Ui, state: &State) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let entries = MORE.iter().filter_map(keys::entry_of);
    for entry in entries.filter(|entry| state.lacks(entry.need).is_none()) {
        let info = WidgetInfo::labeled(Role::Button, true, entry.name);
        let line = Line::to_press(ui, LINE, &info);
        let palette = Palette::of(line.ui);
        let (above, below) = line.rect.split_top_bottom_at_fraction(0.52);
        let at = above.left_bottom() + vec2(4.0, -1.0);
        let (align, font) = (egui::Align2::LEFT_BOTTOM, theme::text(15.0));
        let painter = line.ui.painter();
        painter.text(at, align, entry.name, font, palette.strong);
        let rect = below.with_max_y(below.top() + 16.0);
        let line = Line { rect, ..line };
        line.within(
            below.x_range().shrink(4.0),
            entry.help,
            theme::text(11.5),
            palette.subdued,
        );
        if line.response.clicked() {
            send(line.ui.ctx(), DialogCommand::Leave);
            send(line.ui.ctx(), entry.command.clone());
        }
    }
}
