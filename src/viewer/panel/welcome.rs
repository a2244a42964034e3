//! The start page: what this is, and a card for every machine with an episode of its own.

use std::path::PathBuf;

use egui::{Align2, Rect, Role, ScrollArea, Sense, StrokeKind, Ui, WidgetInfo, vec2};

use crate::figure::cells::Cells;
use crate::figure::paint::Page;
use crate::figure::{At, Paint, PanelId, Picture};
use crate::io::preset;
use crate::task::Task;
use crate::viewer::command::{Ask, Command, Episode, File, Subject, Tour, Window};
use crate::viewer::files::{Aim, Machine};
use crate::viewer::rows::{Rows, WITHOUT_GAPS};
use crate::viewer::state::State;
use crate::viewer::state::episode::Open;
use crate::viewer::state::session::Session;
use crate::viewer::story;
use crate::viewer::theme::{self, Palette, Scale};
use crate::viewer::widget::button::{focus_ring, on_click, primary_button, text_button};
use crate::viewer::widget::canvas::{Canvas, Textures, area};
use crate::viewer::widget::line::Line;
use crate::viewer::widget::property::{note, section, words};

/// Most of the window that the page takes, in points.
const WIDTH: f32 = 1080.0;
/// Height of a card with two lines about the machine.
const CARD: f32 = 178.0;
/// A narrower card says it in three.
const NARROW_CARD: (f32, f32) = (300.0, 192.0);
/// What attends otherwise takes a line more to say.
const LINE: f32 = 15.0;
const PICTURE: f32 = 92.0;
const GAP: f32 = 16.0;

const SENTENCES: &str = "A Neural Turing Machine is a network with a memory beside it. Its heads find a row, by what is \
     in it or by where it is, and read or write there. Here you see how, step by step, forwards and backwards.";

/// The start page.
pub fn welcome_ui(
    ui: &mut Ui,
    state: &State,
    palette: &'static Palette,
    textures: &mut Textures,
    commands: &mut Vec<Command>,
) {
    let scrolled = ScrollArea::vertical().auto_shrink([false, false]);
    scrolled.show(ui, |ui| {
        let all = ui.available_width();
        let width = WIDTH.min(all - 48.0).max(0.0);
        let side = ((all - width) / 2.0).max(0.0);
        let top = ((ui.ctx().content_rect().height() - 760.0) / 3.0).clamp(14.0, 80.0);
        ui.add_space(top);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(side);
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                ui.set_width(width);
                words_ui(ui, &state.session, palette, commands);
                ui.add_space(GAP);
                cards_ui(ui, state, palette, textures, commands);
                ui.add_space(GAP);
                files_ui(ui, &state.welcome.recent, palette, commands);
                ui.add_space(GAP);
            });
        });
    });
}

fn words_ui(ui: &mut Ui, session: &Session, palette: &Palette, commands: &mut Vec<Command>) {
    let title = "Watch a machine think";
    words(ui, title, theme::heading(22.0), palette.strong);
    ui.add_space(2.0);
    words(ui, SENTENCES, theme::text(14.0), palette.text);
    if session.open.is_none() {
        ui.add_space(4.0);
        let text = "Open a trace or weights with Ctrl+O, or drop a file here.";
        words(ui, text, theme::text(14.0), palette.text);
    }
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        if session.open.is_some() {
            let back = primary_button(ui, "Back to the episode");
            on_click(&back, Window::ToggleWelcome, commands);
        }
        text_button(ui, "Take the tour", Tour::Start, commands);
        text_button(ui, "All keys", Ask::For(Subject::Keys), commands);
    });
}

/// The cards, as many beside each other as there is room for.
fn cards_ui(
    ui: &mut Ui,
    state: &State,
    palette: &'static Palette,
    textures: &mut Textures,
    commands: &mut Vec<Command>,
) {
    let all = ui.available_width();
    let across = ((all + GAP) / (260.0 + GAP)).floor().clamp(1.0, 3.0);
    let width = ((all - (across - 1.0) * GAP) / across).max(1.0);
    let narrow = width < NARROW_CARD.0;
    let height = if narrow { NARROW_CARD.1 } else { CARD };
    let machines = state.session.machines.iter().enumerate();
    let (others, usual): (Vec<_>, Vec<_>) =
        machines.partition(|(_, machine)| machine.other_way.is_some());
    let words =
        "Of every machine: its answer over time; below, where in memory its heads are meanwhile.";
    note(ui, words);
    ui.add_space(2.0);
    let lines = usual.chunks(across as usize).map(|line| (false, line));
    let others = others.chunks(across as usize).map(|line| (true, line));
    let mut is_headed = false;
    for (is_other, line) in lines.chain(others) {
        if is_other && !is_headed {
            section(ui, preset::OTHER_WAYS);
            is_headed = true;
        }
        let height = if is_other { height + LINE } else { height };
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = GAP;
            for &(index, machine) in line {
                let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
                let name = format!("Show {}", machine.title);
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
                let hovered = response.hovered();
                let fill = if hovered {
                    palette.hovered
                } else {
                    palette.panel
                };
                let (painter, edge) = (ui.painter(), palette.hairline());
                painter.rect_filled(rect, theme::CARD_RADIUS, fill);
                painter.rect_stroke(rect, theme::CARD_RADIUS, edge, StrokeKind::Inside);
                let open = state.welcome.pictures.get(&machine.name);
                let open = open.and_then(Option::as_ref);
                card_ui(ui, rect.shrink(12.0), machine, open, palette, textures);
                focus_ring(ui, &response);
                on_click(&response, Episode::Machine(index), commands);
            }
        });
        ui.add_space(GAP - ui.spacing().item_spacing.y);
    }
}

/// Picture, title, what it does and how well.
fn card_ui(
    ui: &Ui,
    rect: Rect,
    machine: &Machine,
    open: Option<&Open>,
    palette: &'static Palette,
    textures: &mut Textures,
) {
    let (picture, words) = rect.split_top_bottom_at_y(rect.top() + PICTURE);
    let painter = ui.painter();
    if let Some(open) = open {
        picture_ui(ui, picture, machine, open, palette, textures);
    } else {
        painter.rect_filled(picture, 2.0, palette.background);
        let (font, at) = (theme::text(12.0), picture.center());
        let words = "no picture yet";
        painter.text(at, Align2::CENTER_CENTER, words, font, palette.subdued);
    }
    let at = words.left_top() + vec2(0.0, 10.0);
    let (name, font, ink) = (machine.title.clone(), theme::heading(13.0), palette.strong);
    let title = painter.layout(name, font, ink, words.width());
    let height = title.size().y;
    painter.galley(at, title, palette.strong);
    let verdict = open.map_or(String::new(), |open| story::verdict(&open.shown.recording));
    let about = machine
        .other_way
        .as_deref()
        .unwrap_or_else(|| about(machine));
    let text = format!("{about} {}", sentence(&verdict));
    let galley = painter.layout(text, theme::text(12.0), palette.subdued, words.width());
    painter.galley(at + vec2(0.0, height + 3.0), galley, palette.subdued);
}

/// A sentence of a few words, if there are any.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| {
        format!("{}{}.", first.to_uppercase(), letters.as_str())
    })
}

/// What a machine does, in a sentence.
fn about(machine: &Machine) -> &'static str {
    if !machine.is_trained() {
        return "The same machine with random weights, for contrast.";
    }
    match machine.task {
        Task::Copy(_) => "Sees a sequence of bits, then gives it back.",
        Task::RepeatCopy(_) => {
            "Gives a sequence back as often as asked, then says that it is done."
        }
        Task::AssociativeRecall(_) => "Sees items, is shown one again and answers with the next.",
        Task::Ngrams(_) => "Predicts every next bit of a stream with statistics of its own.",
        Task::PrioritySort(_) => "Gives vectors back in the order of their priority.",
        Task::Other(_) => "A task of its own.",
    }
}

/// What it answers over time, and where its heads are meanwhile.
fn picture_ui(
    ui: &Ui,
    rect: Rect,
    machine: &Machine,
    open: &Open,
    palette: &'static Palette,
    textures: &mut Textures,
) {
    let trace = &open.shown.recording.trace;
    let (answer, heads) = rect.split_top_bottom_at_y(rect.top() + PICTURE * 0.28);
    let steps = trace.steps();
    let mut canvas = Canvas::new(ui.painter(), textures, open.serial).of(&machine.name);
    let page = Page::on_screen(palette.data, ui.pixels_per_point());
    let mut paint = |rect: Rect, picture, rows: &Rows, scale, value: Value<'_>| {
        let axis = rows.place(rect.y_range().into(), WITHOUT_GAPS);
        let at = At {
            id: PanelId::new(picture),
            area: &area(rect),
            axis: &axis,
        };
        canvas.cells(
            &Cells::new([steps, rows.total()], scale, value),
            at,
            &page,
            1.0,
        );
        let edge = palette.hairline();
        ui.painter()
            .rect_stroke(rect, 0.0, edge, StrokeKind::Outside);
    };
    let output = |step: usize, channel: usize| trace.output.row(step)[channel];
    let (answer, channels) = (
        answer.with_max_y(answer.bottom() - 3.0),
        trace.output.width(),
    );
    paint(
        answer,
        Picture::Output,
        &Rows::all(channels),
        Scale::Bits,
        &output,
    );
    let weight = |step: usize, row: usize| {
        let heads = trace.heads.iter();
        let weights = heads.filter_map(|head| head.weighting.row(step).get(row));
        weights.copied().fold(0.0, f32::max)
    };
    if !trace.heads.is_empty() {
        paint(
            heads,
            Picture::Weightings,
            &open.touched,
            Scale::Weighting,
            &weight,
        );
    } else if let Some(layer) = trace.layers.first() {
        let hidden = |step: usize, unit: usize| layer.hidden.row(step)[unit];
        let (units, scale) = (Rows::all(layer.hidden.width()), Scale::Signed(1.0));
        paint(heads, Picture::Hidden, &units, scale, &hidden);
    }
}

/// The value in a column and a row.
type Value<'a> = &'a dyn Fn(usize, usize) -> f32;

/// Opening a file, and those that were open before, and whether they are still there.
fn files_ui(
    ui: &mut Ui,
    recent: &[(PathBuf, bool)],
    palette: &Palette,
    commands: &mut Vec<Command>,
) {
    section(ui, "Files");
    ui.horizontal(|ui| {
        let open = Ask::For(Subject::File(Aim::Open));
        text_button(ui, "Open a trace or weights …", open, commands);
        note(ui, "Dropping a file on the window does the same.");
    });
    for (path, there) in recent {
        let mut words = path.display().to_string();
        if !there {
            words += ": no longer there";
        }
        let info = WidgetInfo::labeled(Role::Button, *there, &words);
        let line = Line::to_press(ui, theme::ROW, &info);
        let ink = if *there {
            palette.text
        } else {
            palette.subdued
        };
        line.left(6.0, words, theme::text(12.5), ink);
        if *there {
            on_click(&line.response, File::Open(path.clone()), commands);
        }
    }
}
