//! The left panel: which episode, and which head.

use std::cell::Cell;
use std::ops::RangeInclusive;

use egui::{DragValue, Response, Role, Ui, WidgetInfo, pos2, vec2};

use super::View;
use super::parts::choose;
use super::report::explain_button;
use crate::figure::narrate::mechanism;
use crate::figure::scene::annotations::head_dash;
use crate::figure::{self, Surface, TOUCHED, facts::numbers, head_label, narrate};
use crate::model::NoiseMode;
use crate::model::sam::row_number;
use crate::task::{Measure, TARGET_NOT_KNOWN, Task};
use crate::train::Recording;
use crate::viewer::command::{Command, Compare, Edit, Episode, Play, Rows, Subject};
use crate::viewer::precondition::Precondition;
use crate::viewer::state::{
    EpisodeRequest, MOST_REPEATS, Machine, Open, Session, size_label, sizes, stops,
};
use crate::viewer::widget::{
    Icon, Line, check_box, choice, control, field, focus_ring, from_right, head_sign, icon_button,
    named_icon_button, note, on_click, section, send, text_button, track_ui, warning, wide_button,
    words,
};
use crate::viewer::{keys, narration, theme};

/// A track belongs to the number above it, in points.
const TOGETHER: f32 = -5.0;

/// Shows the episode to record, or the known facts of one from a file.
pub fn episode_ui(ui: &mut Ui, session: &Session) {
    if let Some(open) = session.open.as_ref().filter(|open| open.is_of_a_file()) {
        recorded_ui(ui, open, session);
        return;
    }
    let Some(machine) = session.machine() else {
        section(ui, "Episode");
        let words = format!("No machine is loaded. {}", keys::how_to_open());
        return note(ui, &words);
    };
    section(ui, "Episode");
    let request = &session.request;
    control(ui, "Task", |ui| {
        ui.label(machine.task.title());
    });
    let next = if let Some(count) = machine.task.held_out() {
        held_out_ui(ui, request.seed, count);
        ("Go to next episode", "The next held-out episode")
    } else {
        size_ui(ui, &machine.task, request);
        seed_ui(ui, request.seed);
        ("Go to next seed", "Another episode of this machine")
    };
    if session.draws() {
        draw_ui(ui, session);
    }
    let config = &machine.ntm.config;
    if config.has_row_per_step() {
        let rows = session.open.as_ref().map_or(0, |open| open.all.total());
        if rows > 0 {
            let of = if config.has_source_rows() {
                "source step"
            } else {
                "step"
            };
            note(ui, &format!("memory: {rows} rows, one per {of}"));
        }
    } else if machine.ntm.config.heads() > 0 {
        rows_ui(ui, session, machine);
    }
    wrap_around_ui(ui, session);
    trained(ui, machine, request);
    // The input is edited in a picture that has no room on a phone.
    if !theme::is_by_finger(ui.ctx()) {
        edit_ui(ui, session);
    }
    unknown_ui(ui, session);
    new_episode_ui(ui, next);
    let beside = session.ntm_beside();
    if session
        .open
        .as_ref()
        .is_some_and(|open| open.facts.reads_source())
    {
        beside_ui(ui, beside.err());
    }
}

/// The button that compares with the Neural Turing Machine; without one, its tooltip has the reason.
fn beside_ui(ui: &mut Ui, lacks: Option<&str>) {
    let height = ui.spacing().interact_size.y;
    let hint = "Run the included Neural Turing Machine on this episode: its weightings beside this alignment";
    let button = ("Compare with NTM", height, hint);
    button_unless(ui, lacks, button, Compare::WithNtm);
}

/// A wide button; its tooltip has the reason where it is not available.
fn button_unless(
    ui: &mut Ui,
    lacks: Option<&str>,
    button: (&str, f32, &str),
    command: impl Into<Command>,
) {
    let button = |ui: &mut Ui| wide_button(ui, button, command);
    let response = ui.add_enabled_ui(lacks.is_none(), button).response;
    if let Some(reason) = lacks {
        response.on_hover_text(format!("Not available: {reason}"));
    }
}

/// Shows the controls for the size and the repeats of an episode.
fn size_ui(ui: &mut Ui, task: &Task, request: &EpisodeRequest) {
    let (label, sizes) = (size_label(task), sizes(task));
    integer_ui(ui, label, request.size, &sizes, Episode::Size);
    if task.repeats().is_some() {
        let allowed = 1..=MOST_REPEATS;
        integer_ui(ui, "Repeats", request.repeats, &allowed, Episode::Repeats);
    }
}

/// Shows the index of the held-out episode of a file, from 0.
fn held_out_ui(ui: &mut Ui, seed: u64, count: usize) {
    let allowed = 0..=count.saturating_sub(1);
    let place = (seed % count.max(1) as u64) as usize;
    let seed = |place| Episode::Seed(place as u64);
    integer_ui(ui, "Held out", place, &allowed, seed);
}

/// An opened trace is described by itself: nothing here is about the machines of the session.
fn recorded_ui(ui: &mut Ui, open: &Open, session: &Session) {
    let recording = &open.shown.recording;
    section(ui, "Episode, as recorded");
    let mut fact = |label: &str, value: &str| {
        control(ui, label, |ui| {
            let name = format!("{label} {value}, as recorded");
            // A name of any length keeps the panel where it is.
            let fact = ui.add(egui::Label::new(value).truncate());
            fact.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
        });
    };
    fact("Task", recording.task.title());
    let label = size_label(&recording.task);
    fact(label, &recording.episode.size.to_string());
    if recording.task.repeats().is_some() {
        fact("Repeats", &recording.episode.repeats.to_string());
    }
    let origin = recording.origin;
    let seed = origin.map(|drawn| drawn.seed.to_string());
    fact("Seed", seed.as_deref().unwrap_or("not recorded"));
    if let Some(drawn) = origin.filter(|drawn| drawn.episode > 0) {
        fact("Episode", &drawn.episode.to_string());
    }
    if let Some(said) = mechanism::sampling(&recording.trace) {
        fact("Sampling", said);
        if let Some(drawn) = origin.filter(|drawn| drawn.sampling != NoiseMode::Mean) {
            fact("Sample", &drawn.sample.to_string());
        }
    }
    if open.all.total() > 0 {
        fact("Memory", &format!("{} rows", open.all.total()));
    }
    wrap_around_ui(ui, session);
    unknown_ui(ui, session);
    let unknown: Vec<_> = recording.unknown().cloned().collect();
    let computed = "computed from recorded arrays:";
    absent_ui(ui, &recording.computed, computed, note);
    absent_ui(ui, &unknown, "missing:", warning);
    if let Some(machine) = session.machine() {
        let hint = format!("Record an episode of {}", machine.title);
        new_episode_ui(ui, ("Record episode", &hint));
    }
}

/// Shows the edited input, and its distance from the input of the seed.
fn edit_ui(ui: &mut Ui, session: &Session) {
    let task = session.open.as_ref().map(|open| &open.shown.recording.task);
    let one = if task.is_some_and(Task::chooses_symbols) {
        "symbol"
    } else {
        "bit"
    };
    let (height, hint) = (
        ui.spacing().interact_size.y,
        format!("Change {one}s of the input"),
    );
    ui.columns(2, |columns| {
        let button = ("Edit input", height, &*hint);
        button_unless(
            &mut columns[0],
            session.lacks_editing(),
            button,
            Edit::Toggle,
        );
        let hint = "Set a value while the episode runs, and see what follows";
        let lacks = session.open.is_none().then_some("no episode is open");
        let button = ("Set value", height, hint);
        button_unless(&mut columns[1], lacks, button, Subject::Value);
    });
    let request = &session.request;
    let given = request.given.as_ref().map(|given| given.0.origin);
    let other = match (given, task.and_then(Task::held_out)) {
        (Some(None), _) => "the given input",
        (Some(Some(_)) | None, None) => "the seed's input",
        (Some(Some(_)) | None, Some(_)) => "the held-out input",
    };
    let words = match (request.flipped.len(), given) {
        (0, Some(None)) => "input given by hand or by a file",
        (0, Some(Some(drawn))) if drawn.episode > 0 => {
            &format!("episode {} of this seed", drawn.episode)
        }
        (0, _) => return,
        (1, _) => &format!("1 {one} differs from {other}"),
        (n, _) => &format!("{n} {one}s differ from {other}"),
    };
    note(ui, words);
}

/// Notes source symbols that the vocabulary lacks, and a right answer that is not known.
fn unknown_ui(ui: &mut Ui, session: &Session) {
    let Some(open) = &session.open else {
        return;
    };
    let Recording { task, episode, .. } = &open.shown.recording;
    let steps = task.unknown_steps(episode);
    if !steps.is_empty() {
        let steps: Vec<_> = steps.iter().map(ToString::to_string).collect();
        let steps = steps.join(", ");
        let of = if matches!(task, Task::Pairs(_)) {
            " of the source"
        } else {
            ""
        };
        let text = format!("not in the vocabulary{of}: step {steps}");
        note(ui, &text);
    }
    if open.shown.recording.lacks_target() {
        warning(ui, TARGET_NOT_KNOWN);
    }
}

/// Shows the arrays missing in a trace, and those computed instead.
fn absent_ui(ui: &mut Ui, absent: &[String], words: &str, say: fn(&mut Ui, &str)) {
    if absent.is_empty() {
        return;
    }
    let (count, shown) = (absent.len(), absent.len().min(4));
    let arrays = if count == 1 { "array" } else { "arrays" };
    say(ui, &format!("{count} {arrays} {words}"));
    let mut list = absent[..shown].join(", ");
    if count > shown {
        list = format!("{list} and {} more", count - shown);
    }
    let list = egui::RichText::new(list).font(theme::mono(11.0));
    ui.label(list).on_hover_text(absent.join("\n"));
}

fn new_episode_ui(ui: &mut Ui, (text, hint): (&str, &str)) {
    ui.add_space(2.0);
    let height = ui.spacing().interact_size.y + 4.0;
    wide_button(ui, (text, height, hint), Episode::NextSeed);
}

/// A field for a number that is dragged or typed into.
fn number_field<N: egui::emath::Numeric>(number: &mut N, speed: f64, width: f32) -> DragValue<'_> {
    DragValue::new(number)
        .speed(speed)
        .update_while_editing(false)
        .min_size(vec2(width, theme::ROW))
}

/// Requests the episode with another number, if it was changed.
fn request<N: Copy + PartialEq>(ui: &Ui, before: N, number: N, episode: impl FnOnce(N) -> Episode) {
    if number != before {
        send(ui.ctx(), episode(number));
    }
}

/// A whole number with buttons for less and more; typing, dragging and the track under it work too.
fn integer_ui(
    ui: &mut Ui,
    label: &str,
    value: usize,
    allowed: &RangeInclusive<usize>,
    episode: impl FnOnce(usize) -> Episode,
) {
    let (least, most) = (*allowed.start(), *allowed.end());
    let mut changed = value;
    control(ui, label, |ui| {
        let more = named_icon_button(ui, Icon::Plus, &format!("More: {label}"), false, false);
        let number = number_field(&mut changed, 0.1, 44.0);
        let response = field(ui, true, number).accessible_name(label);
        let less = named_icon_button(ui, Icon::Minus, &format!("Less: {label}"), false, false);
        if more.clicked() {
            changed = (value + 1).min(most);
        } else if less.clicked() {
            changed = value.saturating_sub(1).max(least);
        } else if response.dragged() {
            // A drag stops at the ends; a typed value beyond them gets a message.
            changed = changed.clamp(least, most);
        }
    });
    ui.add_space(TOGETHER);
    let name = format!("Slide {}", label.to_lowercase());
    track_ui(ui, &name, &mut changed, &stops(least, most));
    request(ui, value, changed, episode);
}

fn seed_ui(ui: &mut Ui, seed: u64) {
    control(ui, "Seed", |ui| {
        let mut changed = seed;
        // A slider goes through f64; the value shown or typed does not, and keeps every digit.
        let typed = Cell::new(None);
        let number = number_field(&mut changed, 0.1, 72.0)
            .custom_formatter(|_, _| seed.to_string())
            .custom_parser(|text| {
                typed.set(text.trim().parse::<u64>().ok());
                typed.get().map(|seed| seed as f64)
            });
        let response = field(ui, true, number).accessible_name("Seed");
        let changed = typed.get().unwrap_or(changed);
        if response.changed() && changed != seed {
            send(ui.ctx(), Episode::Seed(changed));
        }
    });
}

/// Shows the sampling mode and the number of the sample.
fn draw_ui(ui: &mut Ui, session: &Session) {
    let asked = &session.request;
    let config = session.machine().map(|machine| &machine.ntm.config);
    let hard = config.is_some_and(|config| config.is_hard());
    let (word, hint) = if hard {
        let likely = "Use the most likely row of every hard head and the mean of random weights";
        ("most likely", likely)
    } else {
        ("mean", "Use the mean of the random weights")
    };
    let mean = (NoiseMode::Mean, word, hint);
    let sampled = "Sample rows and weights at random";
    let sampled = (NoiseMode::Sampled, "sampled", sampled);
    let expected = "A hard head attends to all rows by their probability";
    let expected = hard.then_some((NoiseMode::Expected, "expected", expected));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(2.0, 2.0);
        for (sampling, word, hint) in [mean, sampled].into_iter().chain(expected) {
            let (is_on, command) = (asked.sampling == sampling, Episode::Sampling(sampling));
            choice(ui, is_on, word, command).on_hover_text(hint);
        }
    });
    control(ui, "Sample", |ui| {
        icon_button(ui, Icon::Again, Episode::AnotherDraw, false);
        let mut sample = asked.sample;
        field(ui, true, number_field(&mut sample, 0.1, 72.0)).accessible_name("Sample");
        request(ui, asked.sample, sample, Episode::Sample);
    });
    control(ui, "Spread", |ui| {
        let show = text_button(ui, "Show", Episode::Spread);
        name_of(show, &Episode::Spread.into());
        let mut samples = session.samples;
        field(ui, true, number_field(&mut samples, 0.1, 36.0)).accessible_name("Samples");
        request(ui, session.samples, samples, Episode::Samples);
    });
    let open = session.open.as_ref();
    if let Some(said) = open.and_then(|open| mechanism::sampling(&open.shown.recording.trace)) {
        note(ui, said);
    }
}

fn rows_ui(ui: &mut Ui, session: &Session, machine: &Machine) {
    let config = &machine.ntm.config;
    let (rows, free) = (session.request.rows, config.runs_on_any_rows());
    let why =
        "The number of rows is fixed: the initial memory or weighting of this machine is learned.";
    let mut changed = rows;
    control(ui, "Memory", |ui| {
        let number = number_field(&mut changed, 0.5, 96.0).suffix(" rows");
        let response = field(ui, free, number).accessible_name("Memory rows");
        response.on_disabled_hover_text(why);
    });
    ui.add_space(TOGETHER);
    let stops = session.rows_on_offer();
    let track = |ui: &mut Ui| track_ui(ui, "Slide memory rows", &mut changed, &stops);
    let response = ui.add_enabled_ui(free, track).inner;
    if free {
        response.on_hover_text("Run the same weights with another number of rows");
    } else {
        response.on_disabled_hover_text(why);
        note(ui, "rows fixed: initial memory is learned");
    }
    if machine.is_trained() && rows != config.rows() {
        note(ui, &format!("trained with {} rows", config.rows()));
    }
    request(ui, rows, changed, Episode::Rows);
}

/// Shows that memory wrapped around, and how many rows avoid it.
fn wrap_around_ui(ui: &mut Ui, session: &Session) {
    if let Some(wrap_around) = session.open.as_ref().and_then(|open| open.wrap_around) {
        note(ui, &wrap_around.to_string());
    }
}

/// Shows the training range of the machine, and whether the request exceeds it.
fn trained(ui: &mut Ui, machine: &Machine, request: &EpisodeRequest) {
    if !machine.is_trained() {
        note(ui, "not trained: random weights");
        return;
    }
    let task = &machine.task;
    if let Some((learned, held_out, _)) = task.split() {
        let Some(data) = task.summary() else {
            return note(ui, narration::NO_FILE);
        };
        let other = format!("trained on {learned} other episodes of its file");
        note(ui, &format!("{other}; {held_out} are held out"));
        data.vocabulary().iter().for_each(|text| note(ui, text));
        return data.warnings().iter().for_each(|text| warning(ui, text));
    }
    let (size, repeats) = (task.size(), task.repeats());
    let (least, most) = (size.start(), size.end());
    let mut text = match task.measure() {
        Measure::Length if least == most => format!("trained on length {most}"),
        Measure::Length => format!("trained on lengths {least} to {most}"),
        Measure::Items if least == most => format!("trained on {most} items"),
        Measure::Items => format!("trained on {least} to {most} items"),
    };
    let mut beyond = !size.contains(&request.size);
    if let Some(repeats) = repeats {
        text = format!("{text}, repeats {} to {}", repeats.start(), repeats.end());
        beyond |= !repeats.contains(&request.repeats);
    }
    let beyond = if beyond { "beyond training: " } else { "" };
    note(ui, &format!("{beyond}{text}"));
}

/// The list of heads, with the peak of each at the current step.
pub fn heads_ui(ui: &mut Ui, view: &mut View<'_>) {
    if !view.has_heads() {
        network_ui(ui, view);
        return;
    }
    section(ui, "Heads");
    let at = pos2(ui.max_rect().right() - 8.0, ui.min_rect().bottom());
    let (font, ink) = (theme::text(10.5), view.palette.subdued);
    let align = egui::Align2::RIGHT_BOTTOM;
    ui.painter().text(at, align, "row weight", font, ink);
    ui.spacing_mut().item_spacing.y = if are_many(view) { 0.0 } else { 2.0 };
    for head in 0..view.trace().heads.len() {
        head_ui(ui, head, view);
    }
    ui.spacing_mut().item_spacing.y = 6.0;
}

/// A machine without heads is described by the layers it has.
fn network_ui(ui: &mut Ui, view: &View<'_>) {
    if view.trace().is_file() {
        section(ui, "Machine file");
        let count = view.open.facts.quantities.len();
        note(ui, view.trace().file_words().title);
        note(ui, &format!("{count} quantities in every step"));
        return note(ui, "their names and equations are those of the file");
    }
    section(ui, "Network");
    let layers = &view.trace().layers;
    for (index, layer) in layers.iter().enumerate().take(8) {
        let is_lstm = layer.cell.width() > 0;
        let kind = if is_lstm { "LSTM" } else { "feedforward" };
        control(ui, &format!("Layer {index}"), |ui| {
            ui.label(format!("{kind}, {} units", layer.hidden.width()));
        });
    }
    note(ui, "controller only, without external memory: a baseline");
}

/// True for heads that move together in the list.
fn are_many(view: &View<'_>) -> bool {
    view.trace().heads.len() > 8
}

fn head_ui(ui: &mut Ui, head: usize, view: &mut View<'_>) {
    let label = head_label(view.trace(), head);
    let focused = head == view.focus || view.state.view.pinned == Some(head);
    let info = WidgetInfo::selected(Role::Button, true, focused, format!("Head {label}"));
    let (many, row) = (are_many(view), theme::ROW + 2.0);
    let line = Line::to_press(ui, if many { 18.0 } else { row }, &info);
    head_line(&line, head, &label, view);
    let response = line.response;
    choose(&response, head);
    let key = keys::head_key(head).map_or(String::new(), |key| format!("  ({key})"));
    let view = &view.state.view;
    let why = if view.is_pinned(head) {
        format!("{label} stays selected. Click again{key} to unpin it.")
    } else if head == view.focus && !view.chosen {
        format!("{label} is the most active head now. Click{key} to keep it selected.")
    } else {
        format!("Select head {label}{key}")
    };
    response.on_hover_text(format!("{why}\nrow and weight of its peak"));
}

/// The sign of a head, its label, and where its peak is.
fn head_line(line: &Line<'_>, head: usize, label: &str, view: &mut View<'_>) {
    let trace = &view.trace().heads[head];
    let (palette, rect) = (view.palette, line.rect);
    let (left, write) = (rect.left() + 8.0, trace.is_write());
    let sign = pos2(left + 6.0, rect.center().y);
    head_sign(line.ui.painter(), sign, 14.0, write, view.head_color(head));
    let ends = [left + 20.0, left + 36.0].map(|x| [x, rect.bottom() - 1.0]);
    let (of, page) = (view.trace(), view.page(1.0));
    let mut canvas = view.canvas(line.ui);
    head_dash(&mut Surface::new(&mut canvas, &page), of, head, ends);
    let ink = [palette.text, palette.strong][usize::from(head == view.focus)];
    line.left(28.0, label, theme::heading(13.0), ink);
    // As much room for the row as the last one takes: nothing moves while time does.
    let number = |row| row_number(of, row);
    let digits = number(view.rows.total().saturating_sub(1));
    let digits = digits.to_string().len();
    let width = if rect.width() > 180.0 { 5 } else { 4 };
    let text = match figure::peak(trace.weighting.row(view.step())) {
        Some((row, weight)) => {
            let weight = numbers::plain(weight, 2, width);
            format!("{:>digits$} {weight}", number(row))
        }
        None => " ".repeat(digits + 1 + width),
    };
    let used = line.right(8.0, text, theme::mono(12.0), ink);
    let (verb, font) = (if write { "writes" } else { "reads" }, theme::text(12.0));
    let painter = line.ui.painter();
    let verb = painter.layout_no_wrap(verb.to_owned(), font, palette.subdued);
    let at = pos2(left + 46.0, rect.center().y - verb.size().y / 2.0);
    if !are_many(view) && at.x + verb.size().x + 4.0 < used.left() {
        painter.galley(at, verb, palette.subdued);
    }
}

/// Shows the options for rows on screen.
pub fn rows_shown_ui(ui: &mut Ui, view: &mut View<'_>) {
    section(ui, "Rows");
    let shown = &view.state.view;
    let count = format!("{}/{}", view.whole.shown(), view.rows.total());
    let ink = view.palette.subdued;
    let tick = |ui: &mut Ui, is_on, words, toggle: Rows| {
        let tick = check_box(ui, is_on, words, toggle);
        name_of(tick, &toggle.into());
    };
    ui.horizontal(|ui| {
        tick(ui, shown.touched_only, "Touched only", Rows::ToggleTouched);
        from_right(ui, |ui| words(ui, count, theme::mono(11.0), ink));
    });
    let follows = view.state.follows();
    if follows || view.state.lacks(Precondition::LowRows).is_none() {
        tick(ui, follows, "Follow head", Rows::ToggleFollow);
    }
    note(ui, &format!("touched: weight of {TOUCHED} or more"));
}

/// Gives a control the name of its command, and its keys and effect as a tooltip.
fn name_of(response: Response, command: &Command) {
    if let Some(entry) = keys::entry_of(command) {
        let hint = format!("{}: {}", keys::tooltip(command), entry.help);
        response.accessible_name(entry.name).on_hover_text(hint);
    }
}

/// Shows the result: wrong bits and loss.
pub fn result_ui(ui: &mut Ui, view: &View<'_>) {
    section(ui, "Answer");
    let (recording, ink) = (view.recording(), view.palette.text);
    let verdict = egui::RichText::new(narrate::verdict(recording)).font(theme::text(13.0));
    if recording.score.wrong > 0 && !recording.lacks_target() {
        let command = Command::from(Play::WrongBit);
        let link = ui.link(verdict).on_hover_text(keys::tooltip(&command));
        focus_ring(ui, &link);
        on_click(&link, command);
    } else {
        ui.label(verdict.color(ink));
    }
    note(ui, &narrate::loss(recording));
    if view.state.has_wrong() {
        explain_button(ui);
    }
    if view.open.non_finite > 0 {
        let text = narration::not_finite(view.open.non_finite);
        words(ui, text, theme::text(13.0), view.palette.warning);
    }
}
