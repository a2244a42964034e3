//! What the window looks like in each of its states: a picture and a list of the texts on it for each, in
//! `tests/viewer/screens/`. `UPDATE_SNAPSHOTS=1 cargo test --release --test viewer screens` replaces those that
//! differ and deletes those of no scene. Otherwise what was drawn is left beside a snapshot that differs: `.new.png`,
//! `.new.txt`, and `.diff.png` with the pixels that differ.

use super::clipping::parts;
use super::snapshot::{Snapshots, differing, listed, reduced};
use super::*;
use egui::{Rect, Shape};
use image::RgbaImage;
use tapescope::viewer::command::List;

/// A state of the window: its name, the machine, and what brings the window there.
pub type Scene = (&'static str, &'static str, fn(&mut Screen));

fn learn_a_while(screen: &mut Screen) {
    begin_training(screen, learn::experiment(&["training.batch=16"]));
    screen.run_steps(150);
}

/// The first of them are the layouts: kept in both themes, and in a large window too. Of the others one picture is
/// kept, of the smallest window.
const LAYOUTS: usize = 11;

const SCENES: &[Scene] = &[
    ("all stages", "copy", |screen| {
        go_to(screen, 12, "output");
    }),
    ("paper", "copy", |screen| {
        act(screen, ViewCommand::NextLayout);
        go_to(screen, 12, "output");
    }),
    ("close-up", "copy", |screen| {
        close_up(screen);
        go_to(screen, 5, "gate");
    }),
    ("close-up, shifting", "copy", |screen| {
        close_up(screen);
        partway(screen, 5, "shift", 0.5);
    }),
    ("start page", "copy", |screen| press(screen, Key::W)),
    ("attention mechanisms", "copy", |screen| {
        act(screen, Window::ToggleFamily);
    }),
    ("compare, an input bit", "copy", |screen| {
        act(screen, Compare::KeepAsA);
        press(screen, Key::E);
        act(screen, Edit::Flip(3, 2));
        press(screen, Key::Escape);
        go_to(screen, 25, "output");
    }),
    ("learning", "copy", |screen| {
        learn_a_while(screen);
        press(screen, Key::T);
        screen.run_steps(1);
    }),
    ("ten learning", "copy", |screen| {
        act(screen, Replacement::Begin(parallel_runs::runs(10)));
        screen.run_steps(80);
        press(screen, Key::T);
        screen.run_steps(1);
    }),
    ("what mattered", "copy", |screen| {
        press(screen, Key::Y);
        go_to(screen, 12, "output");
    }),
    ("provenance", "copy", |screen| {
        act(screen, ViewCommand::Focus(0));
        act(screen, ViewCommand::List(List::Provenance));
        go_to(screen, 30, "output");
    }),
    ("paper, row 0 on top", "copy", |screen| {
        act(screen, ViewCommand::NextLayout);
        act(screen, ViewCommand::NextLayout);
        go_to(screen, 30, "output");
    }),
    ("compare, another machine", "copy", |screen| {
        act(screen, Compare::KeepAsA);
        act(screen, Episode::Machine(1));
        go_to(screen, 25, "output");
    }),
    ("compare, other sizes", "copy", |screen| {
        act(screen, Compare::With(PathBuf::from("theirs.ntmtrace.json")));
    }),
    ("stage", "copy", |screen| {
        go_to(screen, 25, "shift");
    }),
    ("card", "copy", |screen| {
        go_to(screen, 25, "output");
        act(screen, ViewCommand::Focus(0));
        act(screen, ViewCommand::Select(Target::Row(13)));
    }),
    ("several heads", "associative_recall", |screen| {
        go_to(screen, 20, "output");
        act(screen, ViewCommand::Pin(1));
    }),
    ("all heads", "associative_recall", |screen| {
        go_to(screen, 20, "output");
        act(screen, ViewCommand::AllHeads);
    }),
    ("no heads", "copy_lstm", |screen| {
        go_to(screen, 20, "output");
    }),
    ("find a command", "copy", |screen| {
        press_with(screen, Modifiers::COMMAND, Key::K);
    }),
    ("keys", "copy", |screen| press(screen, Key::F1)),
    ("settings", "copy", |screen| {
        press_with(screen, Modifiers::COMMAND, Key::Comma);
    }),
    ("about", "copy", |screen| {
        act(screen, Subject::About);
    }),
    ("go to step", "copy", |screen| press(screen, Key::G)),
    ("set value", "copy", |screen| {
        go_to(screen, 25, "gate");
        press(screen, Key::B);
    }),
    ("branch", "copy", |screen| {
        act(screen, Edit::Intervene("25:read0.gate=1".to_owned()));
        act(screen, Edit::Intervene("30-:read0.read=negate".to_owned()));
        go_to(screen, 26, "output");
    }),
    ("find step", "copy", |screen| {
        let condition = "answer and step < 25".to_owned();
        act(screen, DialogCommand::Condition(condition));
        press(screen, Key::Slash);
    }),
    ("find step, error", "copy", |screen| {
        press(screen, Key::Slash);
        type_into(screen, "Condition", "max(read0.weigting) < 0.5");
    }),
    ("matches", "copy", |screen| {
        let condition = "changes(argmax(read0.weighting))".to_owned();
        act(screen, DialogCommand::Condition(condition));
        act(screen, Play::Match(1));
    }),
    ("many episodes", "copy", |screen| {
        act(screen, Episode::Size(40));
        let entropy = "entropy(read0.weighting)".to_owned();
        act(screen, DialogCommand::Measure(entropy));
    }),
    ("parts removed", "copy", |screen| {
        act(screen, DialogCommand::RemoveParts);
    }),
    ("instructions", "repeat_copy", |screen| {
        act(screen, ViewCommand::List(List::Instructions));
        act(screen, ViewCommand::Focus(0));
        go_to(screen, 30, "output");
    }),
    ("open", "copy", |screen| {
        press_with(screen, Modifiers::COMMAND, Key::O);
    }),
    ("edit", "copy", |screen| {
        press(screen, Key::E);
        act(screen, Edit::Flip(3, 2));
        go_to(screen, 12, "output");
    }),
    ("problem", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("missing.ntmtrace.json")));
    }),
    ("tour", "copy", |screen| {
        act(screen, Tour::Start);
    }),
    ("tour, stop 5", "copy", |screen| tour_to(screen, 5)),
    ("tour, stop 6", "copy", |screen| tour_to(screen, 6)),
    ("tour, stop 7", "copy", |screen| tour_to(screen, 7)),
    ("tour, stop 8", "copy", |screen| tour_to(screen, 8)),
    ("tour, stop 9", "copy", |screen| tour_to(screen, 9)),
    ("not trained", "untrained", |screen| {
        go_to(screen, 12, "output");
    }),
    ("messages", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("missing.ntmtrace.json")));
        act(screen, Subject::Messages);
    }),
    (FIRST, "copy", |_| ()),
    ("drawer", "copy", |screen| {
        go_to(screen, 12, "output");
        act(screen, Window::ToggleNumbers);
    }),
    ("pointer on a value", "copy", |screen| {
        go_to(screen, 12, "output");
        let picture = screen
            .get_by_label("memory: rows down, columns across")
            .rect();
        screen.hover_at(picture.left_top() + egui::vec2(33.0, 51.0));
    }),
    ("copy menu", "copy", |screen| {
        go_to(screen, 12, "output");
        let picture = screen
            .get_by_label("memory: rows down, columns across")
            .rect();
        let place = picture.left_top() + egui::vec2(33.0, 51.0);
        screen.hover_at(place);
        screen.run_steps(2);
        for pressed in [true, false] {
            screen.event(egui::Event::PointerButton {
                pos: place,
                button: egui::PointerButton::Secondary,
                pressed,
                modifiers: Modifiers::NONE,
            });
            screen.run_steps(1);
        }
    }),
    ("dropping", "copy", |screen| {
        let file = egui::HoveredFile {
            path: Some(PathBuf::from("theirs.ntmtrace.json")),
            ..egui::HoveredFile::default()
        };
        screen.input_mut().hovered_files.push(file);
    }),
    ("logarithm, part in a loop", "repeat_copy", |screen| {
        act(screen, ViewCommand::NextScale);
        act(screen, Play::LoopRange(Some((10, 20))));
        go_to(screen, 17, "output");
    }),
    ("4096 rows", "copy", |screen| {
        act(screen, Episode::Rows(4096));
        act(screen, Rows::ToggleTouched);
        go_to(screen, 30, "output");
    }),
    ("4096 rows, part", "copy", |screen| {
        act(screen, Episode::Rows(4096));
        act(screen, Rows::ToggleTouched);
        for _ in 0..6 {
            act(screen, Rows::Taller(1));
        }
        act(screen, Rows::ToggleFollow);
        go_to(screen, 30, "output");
    }),
    ("ten heads", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("7 reads 3 writes")));
        go_to(screen, 5, "output");
    }),
    ("ten heads side by side", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("7 reads 3 writes")));
        act(screen, ViewCommand::AllHeads);
        go_to(screen, 5, "output");
    }),
    ("ten heads, overlap", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("7 reads 3 writes")));
        go_to(screen, 5, "output");
        // A large window has room for it.
        if let Some(word) = screen.query_by_label("Overlap of heads") {
            word.click();
        }
        screen.run_steps(3);
    }),
    ("pointer on an overlap", "repeat_copy", |screen| {
        go_to(screen, 17, "output");
        let picture = screen.get_by_label_contains("overlap of heads: overlap of two weightings");
        let rect = picture.rect();
        screen.hover_at(rect.left_top() + rect.size() * egui::vec2(0.5, 0.2));
    }),
    ("not finite", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("broken.json")));
        go_to(screen, 3, "output");
    }),
    ("absent arrays", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("weightings.json")));
        go_to(screen, 3, "output");
    }),
    ("two episodes", "copy", |screen| {
        act(screen, Compare::KeepAsA);
        act(screen, Edit::Flip(3, 2));
        go_to(screen, 12, "output");
    }),
    ("two episodes, another task", "copy", |screen| {
        act(screen, Compare::KeepAsA);
        act(screen, Edit::Flip(3, 2));
        act(screen, File::Open(PathBuf::from("theirs.ntmtrace.json")));
    }),
    ("hard, additive", "copy", |screen| {
        otherwise(screen, 0, "sample");
    }),
    ("local, general", "copy", |screen| {
        otherwise(screen, 1, "content");
    }),
    ("weibull, spread", "copy", |screen| {
        otherwise(screen, 2, "output");
        act(screen, Episode::Spread);
        act(screen, Episode::AnotherDraw);
    }),
    ("lognormal", "copy", |screen| otherwise(screen, 3, "output")),
    ("dot", "copy", |screen| {
        other_machine(screen, "dot products", 0, "output");
    }),
    ("tour, stop 10", "copy", |screen| tour_to(screen, 10)),
    ("tour, stop 12", "copy", |screen| tour_to(screen, 12)),
    ("a failure", "copy", |screen| {
        act(screen, Episode::Failure(Some(0)));
    }),
    ("close-up, comparing", "copy", |screen| {
        close_up(screen);
        partway(screen, 5, "content", 0.4);
    }),
    ("close-up, gating", "copy", |screen| {
        close_up(screen);
        partway(screen, 25, "gate", 0.6);
    }),
    ("close-up, sharpening", "copy", |screen| {
        close_up(screen);
        partway(screen, 5, "sharpen", 0.5);
    }),
    ("close-up, reading", "copy", |screen| {
        close_up(screen);
        partway(screen, 25, "read", 0.5);
    }),
    ("close-up, erasing", "copy", |screen| {
        close_up(screen);
        partway(screen, 5, "erase", 0.5);
    }),
    ("close-up, adding", "copy", |screen| {
        close_up(screen);
        partway(screen, 5, "add", 0.3);
    }),
    ("close-up, the controller", "copy", |screen| {
        close_up(screen);
        partway(screen, 5, "controller", 0.5);
    }),
    ("close-up, the answer", "copy", |screen| {
        close_up(screen);
        partway(screen, 25, "output", 0.5);
    }),
    ("all stages, comparing", "copy", |screen| {
        partway(screen, 25, "content", 0.5);
    }),
    ("all stages, gating", "copy", |screen| {
        partway(screen, 12, "gate", 0.3);
    }),
    ("all stages, shifting", "copy", |screen| {
        partway(screen, 12, "shift", 0.5);
    }),
    ("all stages, adding", "copy", |screen| {
        partway(screen, 12, "add", 0.5);
    }),
    ("several heads, shifting", "repeat_copy", |screen| {
        act(screen, ViewCommand::AllHeads);
        partway(screen, 17, "shift", 0.7);
    }),
    ("close-up, a draw", "copy", |screen| {
        otherwise(screen, 0, "sample");
        close_up(screen);
        partway(screen, 3, "sample", 0.5);
    }),
    ("presented", "copy", |screen| {
        act(screen, Window::TogglePresent);
        act(screen, Play::Seek(25));
        screen.run_steps(60);
    }),
    ("alignment", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("alignment")));
        press(screen, Key::Escape);
        go_to(screen, 16, "output");
    }),
    ("close-up, alignment", "copy", |screen| {
        close_up(screen);
        act(screen, File::Open(PathBuf::from("alignment")));
        press(screen, Key::Escape);
        go_to(screen, 14, "output");
    }),
    ("picture", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("described picture")));
        press(screen, Key::Escape);
        go_to(screen, 19, "output");
    }),
    ("close-up, picture", "copy", |screen| {
        close_up(screen);
        act(screen, File::Open(PathBuf::from("described picture")));
        press(screen, Key::Escape);
        go_to(screen, 20, "read");
    }),
    ("document", "span_attention_over_attention", |screen| {
        go_to(screen, 30, "output");
    }),
    (
        "close-up, document",
        "span_attention_over_attention",
        |screen| {
            close_up(screen);
            go_to(screen, 30, "output");
        },
    ),
    ("close-up, pointing", "span_coattention", |screen| {
        close_up(screen);
        go_to(screen, 30, "read");
    }),
    ("own states", "copy_lstmn", |screen| {
        go_to(screen, 12, "output");
    }),
    ("layers", "copy_multi_head", |screen| {
        go_to(screen, 12, "output");
    }),
    ("close-up, fixed queries", "aspects_structured", |screen| {
        close_up(screen);
        go_to(screen, 30, "read");
    }),
    ("compare, a reader and the NTM", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("reader of bits")));
        press(screen, Key::Escape);
        act(screen, Compare::WithNtm);
        go_to(screen, 20, "output");
    }),
    ("held out", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("of one's own")));
        press(screen, Key::Escape);
        act(screen, Episode::NextSeed);
        go_to(screen, 3, "output");
    }),
];

/// What it looks like on a phone.
pub const ON_PHONE: &[Scene] = &[
    ("a step", "copy", |screen| go_to(screen, 21, "gate")),
    ("a step, shifting", "copy", |screen| {
        partway(screen, 21, "shift", 0.5);
    }),
    ("start page", "copy", |screen| {
        act(screen, Window::ToggleWelcome);
    }),
    ("attention mechanisms", "copy", |screen| {
        act(screen, Window::ToggleFamily);
    }),
    ("episode", "copy", |screen| {
        go_to(screen, 12, "output");
        act(screen, Subject::Episode);
    }),
    ("more", "copy", |screen| {
        go_to(screen, 12, "output");
        act(screen, Subject::More);
    }),
    ("learning", "copy", |screen| {
        learn_a_while(screen);
        act(screen, Learn::Toggle);
        screen.run_steps(1);
    }),
    ("tour, stop 4", "copy", |screen| tour_to(screen, 4)),
    ("tour, stop 12", "copy", |screen| tour_to(screen, 12)),
    ("a failure", "copy", |screen| {
        act(screen, Episode::Failure(Some(0)));
    }),
    ("keys", "copy", |screen| press(screen, Key::F1)),
    ("save", "copy", |screen| {
        act(screen, Subject::File(FilePurpose::Save));
    }),
    ("settings", "copy", |screen| {
        act(screen, Subject::Settings);
    }),
    ("problem", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("missing.ntmtrace.json")));
    }),
    ("no heads", "copy_lstm", |screen| {
        go_to(screen, 20, "output");
    }),
];

/// What a person sees who is here for the first time.
const FIRST: &str = "first start";

fn go_to(screen: &mut Screen, step: usize, stage: &str) {
    act(screen, Play::Seek(step));
    to_stage(screen, stage);
}

fn close_up(screen: &mut Screen) {
    while screen.state().layout() != WindowLayout::CloseUp {
        act(screen, ViewCommand::NextLayout);
    }
    // What is said about the speed would lie over the left panel.
    act(screen, DialogCommand::Escape);
}

/// In the middle of a stage that moves.
fn partway(screen: &mut Screen, step: usize, stage: &str, through: f32) {
    act(screen, Window::ToggleMotion);
    go_to(screen, step, stage);
    act(screen, Play::Through(through));
}

/// A head of a machine that has all mechanisms.
fn otherwise(screen: &mut Screen, head: usize, stage: &str) {
    other_machine(screen, "every mechanism", head, stage);
}

/// A head of a machine with heads of its own.
fn other_machine(screen: &mut Screen, name: &str, head: usize, stage: &str) {
    act(screen, File::Open(PathBuf::from(name)));
    // What is said about it.
    press(screen, Key::Escape);
    act(screen, ViewCommand::Focus(head));
    go_to(screen, 3, stage);
}

fn tour_to(screen: &mut Screen, stop: usize) {
    act(screen, Tour::Start);
    for _ in 1..stop {
        act(screen, Tour::Next);
    }
}

pub fn screen(scene: &Scene, size: Vec2, theme: Theme) -> Screen {
    screen_with(scene, size, theme, &Shared::default())
}

fn screen_with(scene: &Scene, size: Vec2, theme: Theme, raster: &Shared) -> Screen {
    let (name, machine, prepare) = scene;
    let mut options = Options::included(None).with_first(machine);
    options.files = Arc::<Shelf>::default();
    options.settings.look.still = true;
    options.settings.greeted = *name != FIRST;
    let mut screen = window_drawn((size, theme), options, Shared::clone(raster));
    screen.run_steps(1);
    prepare(&mut screen);
    screen.run_steps(10);
    screen
}

fn file_name(scene: &Scene, size: Vec2, theme: Theme) -> String {
    let name = scene.0.replace(", ", "_").replace(' ', "_");
    format!("{name}-{theme:?}-{}", size.x).to_lowercase()
}

const ALL: [(Vec2, Theme); 4] = [
    (LARGE, Theme::Dark),
    (LARGE, Theme::Light),
    (SMALL, Theme::Dark),
    (SMALL, Theme::Light),
];

/// The theme of the only snapshot of a scene. It follows from the name, so that it stays when others come and go.
fn theme(scene: &Scene) -> Theme {
    let sum: u32 = scene.0.bytes().map(u32::from).sum();
    if sum.is_multiple_of(2) {
        Theme::Dark
    } else {
        Theme::Light
    }
}

fn other(theme: Theme) -> Theme {
    match theme {
        Theme::Dark => Theme::Light,
        Theme::Light => Theme::Dark,
    }
}

/// The sizes and themes in which a scene of a desktop is kept.
fn kept(index: usize, scene: &Scene) -> Vec<(Vec2, Theme)> {
    let one = theme(scene);
    let mut kept = vec![(SMALL, one)];
    if index < LAYOUTS {
        kept.extend([(SMALL, other(one)), (LARGE, one)]);
    }
    kept
}

/// Compares a scene with its snapshot.
fn changed(scene: &Scene, size: Vec2, theme: Theme) -> Option<String> {
    let mut screen = screen(scene, size, theme);
    let image = screen.render().unwrap();
    let name = file_name(scene, size, theme);
    Snapshots::here().check(&name, &image, &listed(&screen))
}

#[test]
fn every_state_matches_its_snapshot() {
    let scenes = SCENES.iter().enumerate();
    let all = scenes.flat_map(|(index, scene)| {
        let kept = kept(index, scene).into_iter();
        kept.filter_map(move |(size, theme)| changed(scene, size, theme))
    });
    let problems: Vec<String> = all.collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_phone_state_matches_its_snapshot() {
    let all = ON_PHONE.iter();
    let problems = all.filter_map(|scene| changed(scene, phone::PHONE, theme(scene)));
    let problems: Vec<String> = problems.collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_snapshot_belongs_to_a_scene() {
    let scenes = SCENES.iter().enumerate();
    let desktop = scenes.flat_map(|(index, scene)| {
        let kept = kept(index, scene).into_iter();
        kept.map(|(size, theme)| file_name(scene, size, theme))
    });
    let phone = ON_PHONE.iter();
    let phone = phone.map(|scene| file_name(scene, phone::PHONE, theme(scene)));
    let obsolete = Snapshots::here().obsolete(&desktop.chain(phone).collect::<Vec<_>>());
    assert!(obsolete.is_empty(), "delete {obsolete:?}");
}

/// Bytes of all pictures of the repository together.
const MOST_BYTES: u64 = 6_000_000;

#[test]
fn snapshot_files_are_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.join("assets/pictures"), Snapshots::here().folder];
    let files = folders.iter().flat_map(|path| path.read_dir().unwrap());
    let bytes = files.map(|file| {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let is_kept = name.split_once('.').is_some_and(|(_, end)| end == "png");
        if is_kept {
            file.metadata().unwrap().len()
        } else {
            0
        }
    });
    let total: u64 = bytes.sum();
    assert!(total <= MOST_BYTES, "{total} bytes");
}

/// Replaces every digit by one that looks like it, or nearly so.
fn misread(text: &str) -> String {
    let other = |letter: char| {
        letter
            .to_digit(10)
            .map(|digit| "8778968138".as_bytes()[digit as usize])
    };
    let letters = text
        .chars()
        .map(|letter| other(letter).map_or(letter, char::from));
    letters.collect()
}

#[test]
fn a_wrong_digit_is_noticed() {
    let mut digits = 0;
    for name in ["all stages", "paper", "learning", "close-up", "all heads"] {
        let scene = SCENES.iter().find(|scene| scene.0 == name).unwrap();
        for theme in [Theme::Dark, Theme::Light] {
            digits += wrong_digits(scene, theme);
        }
    }
    assert!(digits > 500, "{digits}");
}

/// Draws every digit of a scene wrong and counts them; each must differ from the snapshot, and each text with
/// a digit must be in the list.
fn wrong_digits(scene: &Scene, theme: Theme) -> usize {
    let raster = Shared::default();
    let mut screen = screen_with(scene, SMALL, theme, &raster);
    let kept = reduced(&screen.render().unwrap());
    let list = listed(&screen);
    let mut output = screen.output().clone();
    let mut places = Vec::new();
    for drawn in &mut output.shapes {
        let mut parts: Vec<Shape> = parts(&drawn.shape).into_iter().cloned().collect();
        for part in &mut parts {
            let Shape::Text(text) = part else { continue };
            let mut job = (*text.galley.job).clone();
            job.text = misread(&job.text);
            if job.text == text.galley.job.text {
                continue;
            }
            for row in &text.galley.rows {
                let place = row.rect().translate(text.pos.to_vec2());
                let is_listed = list.contains(&row.text());
                assert!(
                    is_listed || !place.intersects(drawn.clip_rect),
                    "{}",
                    row.text()
                );
                for glyph in row.glyphs.iter().filter(|glyph| glyph.chr.is_ascii_digit()) {
                    let left = text.pos.x + row.pos.x + glyph.pos.x;
                    let columns = left..=left + glyph.advance_width;
                    let digit = Rect::from_x_y_ranges(columns, place.y_range());
                    if drawn.clip_rect.contains_rect(digit) {
                        places.push(digit);
                    }
                }
            }
            text.galley = screen.ctx.fonts_mut(|fonts| fonts.layout_job(job));
        }
        drawn.shape = Shape::Vec(parts);
    }
    // Letters that were not on screen before are uploaded with the next frame.
    screen.run_steps(1);
    let after = raster.draw(&screen.ctx, &output);
    let found = differing(&kept, &after);
    for place in &places {
        let mut found = found
            .iter()
            .map(|&(x, y)| egui::pos2(x as f32 + 0.5, y as f32 + 0.5));
        assert!(
            found.any(|pixel| place.contains(pixel)),
            "{}: {place:?}",
            scene.0
        );
    }
    places.len()
}

/// So many shapes are changed, one after the other.
const CHANGED: usize = 6;

/// How many pixels differ when a shape goes through `change`, for the first shapes that are found by `which`.
fn changed_by(
    scene: &Scene,
    which: impl Fn(&Shape) -> bool,
    change: impl Fn(&mut Shape),
) -> Vec<usize> {
    let raster = Shared::default();
    let mut whole = screen_with(scene, SMALL, Theme::Dark, &raster);
    let before = reduced(&whole.render().unwrap());
    let shapes = &whole.output().shapes;
    let found = (0..shapes.len()).flat_map(|index| {
        let parts = parts(&shapes[index].shape);
        let found = parts.iter().enumerate().filter(|(_, part)| which(part));
        found.map(|(part, _)| (index, part)).collect::<Vec<_>>()
    });
    let others = found.take(CHANGED).map(|(index, part)| {
        let mut output = whole.output().clone();
        let mut parts: Vec<Shape> = parts(&shapes[index].shape).into_iter().cloned().collect();
        change(&mut parts[part]);
        output.shapes[index].shape = Shape::Vec(parts);
        let after = raster.draw(&whole.ctx, &output);
        differing(&before, &after).len()
    });
    others.collect()
}

#[test]
fn a_lost_panel_is_noticed() {
    let scene = &SCENES[0];
    let mut whole = screen(scene, SMALL, Theme::Dark);
    let before = whole.render().unwrap();
    let others = |after: &RgbaImage| differing(&reduced(&before), after).len();
    assert_eq!(others(&before), 0);
    for lost in [
        Command::Window(Window::ToggleLeft),
        Command::Window(Window::ToggleTimeline),
    ] {
        let mut screen = screen(scene, SMALL, Theme::Dark);
        act(&mut screen, lost.clone());
        screen.run_steps(10);
        let count = others(&screen.render().unwrap());
        assert!(count > 4000, "{lost:?}: {count} pixels");
    }
}

#[test]
fn a_lost_head_mark_is_noticed() {
    let scene = &SCENES[0];
    let memory = screen(scene, SMALL, Theme::Dark);
    let memory = memory
        .get_by_label("memory: rows down, columns across")
        .rect();
    let beside = Rect::from_x_y_ranges(memory.right()..=memory.right() + 40.0, memory.y_range());
    let is_mark = |shape: &Shape| {
        let rect = shape.visual_bounding_rect();
        matches!(shape, Shape::Path(_))
            && beside.expand(6.0).contains_rect(rect)
            && rect.height() > 3.0
    };
    let lost = changed_by(scene, is_mark, |shape| *shape = Shape::Noop);
    assert_eq!(lost.len(), 2, "a head that reads and one that writes");
    assert!(lost.iter().all(|&pixels| pixels > 10), "{lost:?}");
}

#[test]
fn a_lost_outline_of_a_wrong_bit_is_noticed() {
    let scene = SCENES
        .iter()
        .find(|scene| scene.0 == "not trained")
        .unwrap();
    let output = screen(scene, SMALL, Theme::Dark);
    let output = output.get_by_label_contains("output: ").rect().expand(3.0);
    let is_outline = |shape: &Shape| {
        let Shape::Rect(rect) = shape else {
            return false;
        };
        let stroked = rect.stroke.width > 0.0 && rect.fill.a() == 0;
        stroked && output.contains_rect(rect.rect) && rect.rect.width() < output.width() / 4.0
    };
    let lost = changed_by(scene, is_outline, |shape| *shape = Shape::Noop);
    assert_eq!(lost.len(), CHANGED);
    assert!(lost.iter().all(|&pixels| pixels > 4), "{lost:?}");
}

#[test]
fn a_label_that_has_moved_is_noticed() {
    let words = ["input", "output", "memory", "loss"];
    let is_label =
        |shape: &Shape| matches!(shape, Shape::Text(text) if words.contains(&text.galley.text()));
    let moved = changed_by(&SCENES[0], is_label, |shape| {
        shape.translate(Vec2::new(1.0, 0.0));
    });
    assert!(moved.len() >= words.len(), "{moved:?}");
    assert!(moved.iter().all(|&pixels| pixels > 4), "{moved:?}");
}

/// For the eyes of whoever changes the window: `cargo test --release --test viewer -- --ignored` draws every
/// scene in both themes and sizes into `target/screens`.
#[test]
#[ignore = "draws pictures for people"]
fn draw_every_scene() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screens");
    std::fs::create_dir_all(&folder).unwrap();
    let draw = |scene: &Scene, size: Vec2, theme: Theme| {
        let image = screen(scene, size, theme).render().unwrap();
        let name = file_name(scene, size, theme);
        image.save(folder.join(name).with_extension("png")).unwrap();
    };
    for scene in SCENES {
        for (size, theme) in ALL {
            draw(scene, size, theme);
        }
    }
    for (scene, size) in ON_PHONE
        .iter()
        .flat_map(|scene| phone::SIZES.map(|size| (scene, size)))
    {
        for theme in [Theme::Dark, Theme::Light] {
            draw(scene, size, theme);
        }
    }
}
