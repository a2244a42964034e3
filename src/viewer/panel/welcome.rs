//! The start page: what this is, and a card for every machine with an episode of its own.

use std::path::PathBuf;

use egui::{Align2, Rect, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::math::Series;
use crate::task::Task;
use crate::viewer::command::{Ask, Command, Episode, File, Tour, Window};
use crate::viewer::files::Machine;
use crate::viewer::state::episode::Open;
use crate::viewer::state::session::Session;
use crate::viewer::story;
use crate::viewer::theme::{self, Palette, Scale};
use crate::viewer::widget::button::{focus_ring, primary_button, text_button};
use crate::viewer::widget::picture::{self, Grid, Textures};
use crate::viewer::widget::property::{note, section};

/// What the start page shows besides the session.
pub struct Start<'a> {
    /// An episode of each machine, as far as it is recorded.
    pub pictures: &'a dyn Fn(&Machine) -> Option<&'a Open>,
    /// Files that were opened, and whether they are still there.
    pub recent: &'a [(PathBuf, bool)],
    /// Colours.
    pub palette: &'static Palette,
}

impl std::fmt::Debug for Start<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Start with {} files", self.recent.len())
    }
}

/// Most of the window that the page takes, in points.
const WIDTH: f32 = 1080.0;
/// Height of a card with two lines about the machine.
const CARD: f32 = 178.0;
/// A narrower card says it in three.
const NARROW_CARD: (f32, f32) = (300.0, 192.0);
const PICTURE: f32 = 92.0;
const GAP: f32 = 16.0;

const SENTENCES: &str = "A Neural Turing Machine is a network with a memory beside it. Its heads find a row, by what is \
     in it or by where it is, and read or write there. Here you see how, step by step, forwards and backwards.";

/// The start page.
pub fn welcome_ui(
    ui: &mut Ui,
    session: &Session,
    start: &Start<'_>,
    textures: &mut Textures,
    commands: &mut Vec<Command>,
) {
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
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
                    words_ui(ui, session, start, commands);
                    ui.add_space(GAP);
                    cards_ui(ui, session, start, textures, commands);
                    ui.add_space(GAP);
                    files_ui(ui, start, commands);
                    ui.add_space(GAP);
                });
            });
        });
}

fn words_ui(ui: &mut Ui, session: &Session, start: &Start<'_>, commands: &mut Vec<Command>) {
    let palette = start.palette;
    let title = RichText::new("Watch a machine think").font(theme::heading(22.0));
    ui.label(title.color(palette.strong));
    ui.add_space(2.0);
    ui.label(RichText::new(SENTENCES).size(14.0).color(palette.text));
    if session.open.is_none() {
        ui.add_space(4.0);
        let text = "Open a trace or weights with Ctrl+O, or drop a file here.";
        ui.label(RichText::new(text).size(14.0).color(palette.text));
    }
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        if session.open.is_some() && primary_button(ui, "Back to the episode").clicked() {
            commands.push(Command::Window(Window::ToggleWelcome));
        }
        text_button(ui, "Take the tour", &Command::Tour(Tour::Start), commands);
        text_button(ui, "All keys", &Command::Ask(Ask::Keys), commands);
    });
}

/// The cards, as many beside each other as there is room for.
fn cards_ui(
    ui: &mut Ui,
    session: &Session,
    start: &Start<'_>,
    textures: &mut Textures,
    commands: &mut Vec<Command>,
) {
    let all = ui.available_width();
    let across = ((all + GAP) / (260.0 + GAP)).floor().clamp(1.0, 3.0);
    let width = ((all - (across - 1.0) * GAP) / across).max(1.0);
    let height = if width < NARROW_CARD.0 {
        NARROW_CARD.1
    } else {
        CARD
    };
    let machines: Vec<_> = session.machines.iter().enumerate().collect();
    let words =
        "Of every machine: its answer over time; below, where in memory its heads are meanwhile.";
    note(ui, words);
    ui.add_space(2.0);
    for line in machines.chunks(across as usize) {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = GAP;
            for (index, machine) in line {
                let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
                let name = format!("Show {}", machine.title);
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
                let fill = if response.hovered() {
                    start.palette.hovered
                } else {
                    start.palette.panel
                };
                let painter = ui.painter();
                painter.rect_filled(rect, theme::CARD_RADIUS, fill);
                let edge = start.palette.hairline();
                painter.rect_stroke(rect, theme::CARD_RADIUS, edge, egui::StrokeKind::Inside);
                card_ui(ui, rect.shrink(12.0), machine, start, textures);
                focus_ring(ui, &response);
                if response.clicked() {
                    commands.push(Command::Episode(Episode::Machine(*index)));
                }
            }
        });
        ui.add_space(GAP - ui.spacing().item_spacing.y);
    }
}

/// Picture, title, what it does and how well.
fn card_ui(ui: &Ui, rect: Rect, machine: &Machine, start: &Start<'_>, textures: &mut Textures) {
    let palette = start.palette;
    let (picture, words) = rect.split_top_bottom_at_y(rect.top() + PICTURE);
    let open = (start.pictures)(machine);
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
    let title = painter.layout(
        machine.title.clone(),
        theme::heading(13.0),
        palette.strong,
        words.width(),
    );
    let height = title.size().y;
    painter.galley(at, title, palette.strong);
    let verdict = open.map_or(String::new(), |open| story::verdict(&open.shown.recording));
    let text = format!("{} {}", about(machine), sentence(&verdict));
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
    let of = |what: &str| format!("{what} of {}", machine.name);
    let output: &Series<f32> = &trace.output;
    let value = |step: usize, channel: usize| output.row(step)[channel];
    let grid = Grid {
        columns: trace.steps(),
        rows: output.width(),
        scale: Scale::Bits,
        value: &value,
    };
    let answer = answer.with_max_y(answer.bottom() - 3.0);
    paint(
        ui,
        answer,
        (&of("answer"), open.serial),
        &grid,
        palette,
        textures,
    );
    let rows = open.touched.numbers();
    let weight = |step: usize, row: usize| {
        let weights = trace
            .heads
            .iter()
            .filter_map(|head| head.weighting.row(step).get(rows[row]).copied());
        weights.fold(0.0, f32::max)
    };
    let hidden = |step: usize, unit: usize| trace.layers[0].hidden.row(step)[unit];
    let (count, scale, value): (_, _, &dyn Fn(usize, usize) -> f32) = match trace.layers.first() {
        _ if !trace.heads.is_empty() => (rows.len(), Scale::Weighting, &weight),
        Some(layer) => (layer.hidden.width(), Scale::Signed(1.0), &hidden),
        None => return,
    };
    let grid = Grid {
        columns: trace.steps(),
        rows: count,
        scale,
        value,
    };
    paint(
        ui,
        heads,
        (&of("heads"), open.serial),
        &grid,
        palette,
        textures,
    );
}

fn paint(
    ui: &Ui,
    rect: Rect,
    (name, serial): (&str, u64),
    grid: &Grid<'_>,
    palette: &'static Palette,
    textures: &mut Textures,
) {
    let texture = textures.get(ui.ctx(), name, serial, rect.size().into(), palette, grid);
    picture::paint(ui.painter(), rect, texture);
    let edge = palette.hairline();
    ui.painter()
        .rect_stroke(rect, 0.0, edge, egui::StrokeKind::Outside);
}

/// Opening a file, and those that were open before.
fn files_ui(ui: &mut Ui, start: &Start<'_>, commands: &mut Vec<Command>) {
    section(ui, "Files");
    ui.horizontal(|ui| {
        text_button(
            ui,
            "Open a trace or weights …",
            &Command::Ask(Ask::Open),
            commands,
        );
        note(ui, "Dropping a file on the window does the same.");
    });
    for (path, there) in start.recent {
        file_ui(ui, path, *there, start.palette, commands);
    }
}

fn file_ui(
    ui: &mut Ui,
    path: &std::path::Path,
    there: bool,
    palette: &Palette,
    commands: &mut Vec<Command>,
) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), theme::ROW), Sense::click());
    let shown = path.display().to_string();
    let words = if there {
        shown
    } else {
        format!("{shown}: no longer there")
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Button, there, &words));
    if response.hovered() {
        ui.painter()
            .rect_filled(rect, theme::RADIUS, palette.raised);
    }
    let ink = if there { palette.text } else { palette.subdued };
    let at = pos2(rect.left() + 6.0, rect.center().y);
    ui.painter()
        .text(at, Align2::LEFT_CENTER, words, theme::text(12.5), ink);
    focus_ring(ui, &response);
    if response.clicked() && there {
        commands.push(Command::File(File::Open(path.to_owned())));
    }
}
