//! The start page: an introduction, and a card for every machine with an episode of its own.

use std::path::PathBuf;
use std::sync::Arc;

use egui::{
    Align2, Galley, Rect, Response, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, vec2,
};

use super::tour::start_text;
use crate::figure::facts::quantities::by_rank;
use crate::figure::facts::rows::Rows;
use crate::figure::narrate::failure::first_wrong;
use crate::figure::page::debug::WITHOUT_GAPS;
use crate::figure::page::machine_loop::{HEIGHT, machine_loop};
use crate::figure::scene::cells::Cells;
use crate::figure::scene::paint::Page;
use crate::figure::{At, Paint, PanelId, Picture, Surface, narrate};
use crate::io::preset::{self, FIRST, FIRST_STEP, Mechanism};
use crate::math::Series;
use crate::model::Place;
use crate::viewer::command::{DialogCommand, Episode, File, Learn, Subject, Tour, Window};
use crate::viewer::keys;
use crate::viewer::state::{FAILURES, FilePurpose, Machine, Open, State};
use crate::viewer::theme::{self, Palette, Scale};
use crate::viewer::widget::{
    Canvas, Line, Textures, area, capitalised, focus_ring, key_button, mark, named_button, note,
    on_click, or_pointer, primary_button, section, text_button, words,
};

/// Most of the window that the page takes, in points.
const WIDTH: f32 = 1080.0;
/// The least height of a card: with two lines about the machine.
const CARD: f32 = 178.0;
/// A narrower card says it in three.
const NARROW_CARD: (f32, f32) = (300.0, 192.0);
/// Height of cards with one more line: other mechanisms and failures.
const LINE: f32 = 15.0;
const PICTURE: f32 = 92.0;
/// Padding of a card.
const INSIDE: f32 = 12.0;
/// Above its title, and between that and the words below.
const ABOVE: f32 = 10.0;
const BETWEEN: f32 = 3.0;
pub const GAP: f32 = 16.0;
/// The least width of the picture of the loop, whose words would overlap in a narrower one.
const LEAST_LOOP: f32 = 900.0;
/// Share of a picture that the answer has.
pub const ANSWER: f32 = 0.28;

const SENTENCES: &str = "A Neural Turing Machine is a neural network with an external memory. Its heads find a row by \
     content or by location, and read or write it. Watch how, step by step, forwards and backwards.";

/// What the picture of a card shows.
const PICTURES: &str = "Each picture: output over time (top); weights of each head on memory rows in the colour of the head, or \
     hidden units without a memory (bottom). Strong colour: large value.";

/// The start page.
pub fn welcome_ui(ui: &mut Ui, state: &State, textures: &mut Textures) {
    page_ui(ui, "start page", |ui| {
        words_ui(ui, state);
        ui.add_space(GAP);
        loop_ui(ui, state, textures);
        cards_ui(ui, state, textures);
        ui.add_space(GAP);
        files_ui(ui, &state.welcome.recent);
    });
}

/// A page in the middle of the window, to scroll.
pub fn page_ui(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui)) {
    let scrolled = ScrollArea::vertical().id_salt(name);
    scrolled.auto_shrink([false, false]).show(ui, |ui| {
        let all = ui.available_width();
        let margin = or_pointer(ui.ctx(), 16.0, 24.0);
        let width = WIDTH.min(all - 2.0 * margin).max(0.0);
        let side = ((all - width) / 2.0).max(0.0);
        let top = ((ui.ctx().content_rect().height() - 760.0) / 3.0).clamp(14.0, 80.0);
        ui.add_space(top);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(side);
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                ui.set_width(width);
                add(ui);
                ui.add_space(GAP);
            });
        });
    });
}

fn words_ui(ui: &mut Ui, state: &State) {
    let session = &state.session;
    let palette = Palette::of(ui);
    let title = "Watch a Neural Turing Machine at work";
    words(ui, title, theme::heading(22.0), palette.strong);
    ui.add_space(2.0);
    words(ui, SENTENCES, theme::text(14.0), palette.text);
    let by_finger = theme::is_by_finger(ui.ctx());
    if session.open.is_none() && !by_finger {
        ui.add_space(4.0);
        words(ui, keys::how_to_open(), theme::text(14.0), palette.text);
    }
    ui.add_space(6.0);
    ui.horizontal_wrapped(|ui| {
        if session.open.is_some() {
            let back = primary_button(ui, "Return to episode");
            on_click(&back, Window::ToggleWelcome);
        }
        key_button(ui, &start_text(state), Tour::Start);
        named_button(ui, Learn::Toggle);
        named_button(ui, Window::ToggleFamily);
        if !by_finger {
            named_button(ui, DialogCommand::For(Subject::Keys));
        }
    });
}

/// Shows the loop of a machine at one step, and while the pointer is over it, at all; a click opens the step.
fn loop_ui(ui: &mut Ui, state: &State, textures: &mut Textures) {
    let picture = state.welcome.pictures.get(FIRST.link);
    let Some(picture) = picture.filter(|_| ui.available_width() >= LEAST_LOOP) else {
        return;
    };
    let size = vec2(ui.available_width(), HEIGHT + 2.0 * INSIDE);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let name = "Show one step of a machine";
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    ground_ui(ui, &response, false);
    if let Some(open) = picture {
        let (trace, scales) = (&open.shown.recording.trace, &open.facts.scales);
        let last = (trace.steps() - 1) as f32;
        let step = played(ui, &response, false).map(|share| (share * last) as usize);
        let palette = Palette::with_map(ui.visuals().dark_mode, state.settings.look.map);
        let page = Page::on_screen(palette.data, ui.pixels_per_point());
        let mut canvas = Canvas::new(ui.painter(), textures, open.serial).of(name);
        let on = &mut Surface::new(&mut canvas, &page);
        let (step, inside) = (step.unwrap_or(FIRST_STEP), rect.shrink(INSIDE));
        machine_loop(on, trace, scales, step, area(inside));
    }
    focus_ring(ui, &response);
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    on_click(&response, Episode::Link(FIRST.link));
    ui.add_space(GAP);
}

/// A card with a picture.
pub struct Card<'a> {
    /// The key of its picture.
    key: String,
    title: &'a str,
    /// The paragraphs below the title, and whether each is prominent.
    about: Vec<(String, bool)>,
    command: Episode,
    open: Option<&'a Open>,
    /// True for a mechanism: it shows only the heads, and plays without the pointer too.
    is_mechanism: bool,
}

impl<'a> Card<'a> {
    fn new(state: &'a State, key: &str, title: &'a str, about: &str, command: Episode) -> Self {
        let mut card = Self {
            key: key.to_owned(),
            title,
            about: Vec::new(),
            command,
            open: state.welcome.pictures.get(key).and_then(Option::as_ref),
            is_mechanism: false,
        };
        let verdict = card
            .open
            .map(|open| narrate::verdict(&open.shown.recording));
        let verdict = verdict.map_or(String::new(), |words| format!(" {}.", capitalised(&words)));
        card.about.push((format!("{about}{verdict}"), false));
        card
    }

    /// The card of a mechanism, with an episode of its machine.
    pub fn of(state: &'a State, mechanism: &'static Mechanism) -> Self {
        let (key, number) = (mechanism.link.to_owned(), mechanism.number);
        Self {
            title: mechanism.name,
            about: vec![
                (mechanism.equation.replace(",  ", "\n"), true),
                (mechanism.purpose.to_owned(), false),
                (format!("{}, {number}", mechanism.paper), false),
            ],
            command: Episode::Link(mechanism.link),
            open: state.welcome.pictures.get(&key).and_then(Option::as_ref),
            is_mechanism: true,
            key,
        }
    }
}

/// The cards, section after section.
fn cards_ui(ui: &mut Ui, state: &State, textures: &mut Textures) {
    let session = &state.session;
    let machines = |section: Option<&str>| -> Vec<Card<'_>> {
        let of = |machine: &Machine| machine.other_way.as_ref().map(|(section, _)| *section);
        let machines = session.machines.iter().enumerate();
        let machines = machines.filter(|(_, machine)| of(machine) == section);
        let cards = machines.map(|(index, machine)| {
            let other = machine.other_way.as_ref();
            let about = other.map_or_else(|| about(machine), |(_, about)| about);
            let command = Episode::Machine(index);
            Card::new(state, &machine.name, &machine.title, about, command)
        });
        cards.collect()
    };
    // Those for which machines are included.
    let failures = FAILURES.iter().enumerate();
    let failures = failures.filter(|(_, failure)| failure.request(session).is_some());
    let failures = failures.map(|(which, failure)| {
        let command = Episode::Failure(Some(which));
        Card::new(state, &failure.key(), failure.title, failure.about, command)
    });
    note(ui, PICTURES);
    ui.add_space(2.0);
    let fails = "Each plays up to its first wrong bit, at the mark, and explains it.";
    let others = preset::SECTIONS.map(|section| (section, "", machines(Some(section))));
    let sections = [
        ("", "", machines(None)),
        ("Where machines fail", fails, failures.collect()),
    ];
    let sections = sections.into_iter().chain(others);
    for (title, words, cards) in sections {
        if cards.is_empty() {
            continue;
        }
        if !title.is_empty() {
            section(ui, title);
        }
        if !words.is_empty() {
            note(ui, words);
            ui.add_space(2.0);
        }
        let more = if title.is_empty() { 0.0 } else { LINE };
        section_ui(ui, &cards, more, state, textures);
    }
}

/// Cards, as many beside each other as there is room for, so much taller than usual.
pub fn section_ui(
    ui: &mut Ui,
    cards: &[Card<'_>],
    more: f32,
    state: &State,
    textures: &mut Textures,
) {
    let all = ui.available_width();
    let across = |least: f32, most: f32| ((all + GAP) / (least + GAP)).floor().clamp(1.0, most);
    // Four in a line rather than one alone in the next.
    let across = match cards.len() {
        4 if across(240.0, 4.0) > 3.0 => 4.0,
        4 => across(260.0, 2.0),
        _ => across(260.0, 3.0),
    };
    let width = ((all - (across - 1.0) * GAP) / across).max(1.0);
    let narrow = width < NARROW_CARD.0;
    let least = if narrow { NARROW_CARD.1 } else { CARD } + more;
    for line in cards.chunks(across as usize) {
        let inside = width - 2.0 * INSIDE;
        let words: Vec<_> = line.iter().map(|card| words_of(ui, card, inside)).collect();
        let taller = words.iter().map(|words| {
            let words: f32 = words.iter().map(|words| words.size().y + BETWEEN).sum();
            2.0 * INSIDE + PICTURE + ABOVE - BETWEEN + words
        });
        let height = taller.fold(least, f32::max).ceil();
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = GAP;
            for (card, words) in line.iter().zip(words) {
                card_ui(ui, vec2(width, height), card, words, state, textures);
            }
        });
        ui.add_space(GAP - ui.spacing().item_spacing.y);
    }
}

/// Lays out the title, and the paragraphs below it.
fn words_of(ui: &Ui, card: &Card<'_>, width: f32) -> Vec<Arc<Galley>> {
    let (palette, painter) = (Palette::of(ui), ui.painter());
    let title = theme::heading(or_pointer(ui.ctx(), 16.0, 13.0));
    let about = theme::text(or_pointer(ui.ctx(), 14.0, 12.0));
    let title = painter.layout(card.title.to_owned(), title, palette.strong, width);
    let about = card.about.iter().map(|(text, is_prominent)| {
        let ink = [palette.subdued, palette.text][usize::from(*is_prominent)];
        painter.layout(text.clone(), about.clone(), ink, width)
    });
    [title].into_iter().chain(about).collect()
}

/// Shows picture, title, task and result; while the pointer is over it, the episode plays.
fn card_ui(
    ui: &mut Ui,
    size: Vec2,
    card: &Card<'_>,
    about: Vec<Arc<Galley>>,
    state: &State,
    textures: &mut Textures,
) {
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let name = format!("Show {}", card.title);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    ground_ui(ui, &response, false);
    let inside = rect.shrink(INSIDE);
    let (picture, words) = inside.split_top_bottom_at_y(inside.top() + PICTURE);
    let palette = Palette::with_map(ui.visuals().dark_mode, state.settings.look.map);
    let painter = ui.painter();
    let played = played(ui, &response, card.is_mechanism);
    let share = if card.is_mechanism { 0.0 } else { ANSWER };
    if let Some(open) = card.open {
        picture_ui(ui, picture, &card.key, open, palette, textures, share);
        let recording = &open.shown.recording;
        let fails = matches!(card.command, Episode::Failure(_));
        if let Some((step, _)) = first_wrong(recording).filter(|_| fails) {
            mark_ui(ui, picture, step, recording.trace.steps());
        }
    } else {
        painter.rect_filled(picture, 2.0, palette.background);
        let (font, at) = (theme::text(12.0), picture.center());
        let words = "no picture yet";
        painter.text(at, Align2::CENTER_CENTER, words, font, palette.subdued);
    }
    let mut at = words.left_top() + vec2(0.0, ABOVE);
    for words in about {
        let height = words.size().y;
        painter.galley(at, words, palette.text);
        at.y += height + BETWEEN;
    }
    if let Some(share) = played.filter(|_| card.open.is_some()) {
        let strength = if card.is_mechanism { 0.6 } else { 1.0 };
        to_come_ui(ui, picture, share, strength);
    }
    focus_ring(ui, &response);
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    on_click(&response, card.command);
}

/// Durations of playing an episode on its card and resting at its end, in seconds.
const PLAYS: [f64; 2] = [4.0, 1.2];

/// Returns the share of the episode that a card has played since the pointer is over it, or always, 0 to 1,
/// repeating; none where nothing is to move.
fn played(ui: &Ui, response: &egui::Response, always: bool) -> Option<f32> {
    let (id, now) = (response.id.with("since"), ui.input(|input| input.time));
    // As the settings have it.
    let is_still = ui.style().animation_time <= 0.0;
    let is_in_view = ui.is_rect_visible(response.rect);
    if is_still || !is_in_view || !(always || response.hovered()) {
        ui.data_mut(|data| data.remove::<f64>(id));
        return None;
    }
    let since = ui.data_mut(|data| *data.get_temp_mut_or(id, now));
    let frame = std::time::Duration::from_secs_f64(1.0 / 30.0);
    ui.ctx().request_repaint_after(frame);
    let [plays, rests] = PLAYS;
    Some((((now - since) % (plays + rests)) / plays).min(1.0) as f32)
}

/// Covers the part of a picture after the step that is played, with this opacity.
fn to_come_ui(ui: &Ui, rect: Rect, share: f32, opacity: f32) {
    let palette = Palette::of(ui);
    let x = rect.left() + share * rect.width();
    let painter = ui.painter();
    let cover = palette.hovered.gamma_multiply(opacity);
    painter.rect_filled(rect.with_min_x(x), 0.0, cover);
    painter.vline(x, rect.y_range(), (1.5, palette.accent));
}

/// Marks the first wrong bit of an episode.
fn mark_ui(ui: &Ui, rect: Rect, step: usize, steps: usize) {
    let palette = Palette::of(ui);
    let x = rect.left() + rect.width() * (step as f32 + 0.5) / steps.max(1) as f32;
    let painter = ui.painter();
    for (width, ink) in [(4.0, palette.panel), (2.0, palette.warning)] {
        painter.vline(x, rect.y_range().expand(3.0), (width, ink));
    }
    let tip = egui::pos2(x, rect.top() + 1.0);
    mark(painter, tip, [10.0, 7.0], palette.warning);
}

/// Returns one sentence on the task of a machine.
fn about(machine: &Machine) -> &'static str {
    if !machine.is_trained() {
        return "The same machine with random weights, for comparison.";
    }
    machine.task.sentence()
}

/// Shows the answer over time in this share of the picture, and below it the positions of the heads.
pub fn picture_ui(
    ui: &Ui,
    rect: Rect,
    key: &str,
    open: &Open,
    palette: &'static Palette,
    textures: &mut Textures,
    answer: f32,
) {
    let trace = &open.shown.recording.trace;
    let (answer, heads) = rect.split_top_bottom_at_fraction(answer);
    let mut canvas = Canvas::new(ui.painter(), textures, open.serial).of(key);
    let page = Page::on_screen(palette.data, ui.pixels_per_point());
    let mut paint = |rect: Rect, picture, rows: &Rows, cells: &Cells<'_>| {
        let axis = rows.place(rect.y_range().into(), WITHOUT_GAPS);
        let at = At {
            id: PanelId::new(picture),
            area: &area(rect),
            axis: &axis,
        };
        canvas.cells(cells, at, &page, 1.0);
        let edge = palette.hairline();
        ui.painter()
            .rect_stroke(rect, 0.0, edge, StrokeKind::Outside);
    };
    let answer = answer.with_max_y(answer.bottom() - 3.0);
    let (channels, cells) = over_time(
        &trace.output,
        open.facts.scales.answer.unwrap_or(Scale::Bits),
    );
    if answer.is_positive() {
        paint(answer, Picture::Output, &channels, &cells);
    }
    if let Some(cells) = Cells::of_heads(trace) {
        // Without the answer beside them, they begin with the first weight.
        let has_weight = |&step: &usize| {
            let mut heads = trace.heads.iter();
            heads.any(|head| head.weighting.row(step).iter().any(|&weight| weight > 0.0))
        };
        let first = (0..trace.steps()).find(has_weight);
        let first = first.filter(|_| !answer.is_positive()).unwrap_or(0);
        let cells = cells.during(first..trace.steps());
        paint(heads, Picture::Weightings, &open.touched, &cells);
    } else if let Some(layer) = trace.layers.first() {
        let (units, cells) = over_time(&layer.hidden, Scale::Signed(1.0));
        paint(heads, Picture::Hidden, &units, &cells);
    } else if let Some(own) = by_rank(&open.facts.quantities)[0].first()
        && let Some(series) = trace.series(Place::Machine, own.array)
    {
        let (rows, cells) = over_time(series, own.scale(Scale::weighting(false)));
        paint(heads, Picture::Quantities, &rows, &cells);
    }
}

/// Returns a quantity over time, with all its rows.
fn over_time(series: &Series<f32>, scale: Scale) -> (Rows, Cells<'_>) {
    let value = move |step: usize, row: usize| series.row(step)[row];
    let size = [series.steps(), series.width()];
    (Rows::all(series.width()), Cells::new(size, scale, value))
}

/// Opening a file, and those that were open before, and whether they are still there.
fn files_ui(ui: &mut Ui, recent: &[(PathBuf, bool)]) {
    section(ui, "Files");
    ui.horizontal(|ui| {
        let open = DialogCommand::For(Subject::File(FilePurpose::Open));
        text_button(ui, "Open a trace or weights …", open);
        if !theme::is_by_finger(ui.ctx()) {
            note(ui, "You can also drop a file on the window.");
        }
    });
    for (path, there) in recent {
        let mut words = path.display().to_string();
        if !there {
            words += ": file not found";
        }
        let info = WidgetInfo::labeled(Role::Button, *there, &words);
        let height = ui.spacing().interact_size.y;
        let line = Line::to_press(ui, height, &info);
        let palette = Palette::of(line.ui);
        let ink = [palette.subdued, palette.text][usize::from(*there)];
        line.left(6.0, words, theme::text(12.5), ink);
        if *there {
            on_click(&line.response, File::Open(path.clone()));
        }
    }
}

/// The ground of a card to click, with a strong edge while it is the chosen one.
pub fn ground_ui(ui: &Ui, response: &Response, is_chosen: bool) {
    let (palette, rect) = (Palette::of(ui), response.rect);
    let fills = [palette.panel, palette.hovered];
    let edges = [palette.hairline(), Stroke::new(2.0, palette.accent)];
    let (fill, radius) = (fills[usize::from(response.hovered())], theme::CARD_RADIUS);
    ui.painter().rect_filled(rect, radius, fill);
    let (edge, inside) = (edges[usize::from(is_chosen)], StrokeKind::Inside);
    ui.painter().rect_stroke(rect, radius, edge, inside);
}
