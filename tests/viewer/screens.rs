//! What the window looks like in each of its states, as pictures (`tests/viewer/screens/`), in both themes
//! and in a large and the smallest window. `UPDATE_SNAPSHOTS=1 cargo test --release --test viewer screens`
//! draws them anew; what differs lies beside them otherwise: `.new.png`, and where it differs `.diff.png`.

use super::whole::{parts, texts};
use super::*;
use egui::{Rect, Shape};
use image::{Rgba, RgbaImage};

/// The colours of a pixel may be this far apart, of 255: another processor rounds other last bits.
const FAR: u8 = 3;
/// So many pixels of the numbers on a screen may be further apart: a digit or two. Of all else none.
const FEW: usize = 60;

/// A state of the window: its name, the machine, and what brings the window there.
pub type Scene = (&'static str, &'static str, fn(&mut Screen));

fn learn_a_while(screen: &mut Screen) {
    act(
        screen,
        Instead::Begin(vec![learn::experiment(&["training.batch=16"])]),
    );
    screen.run_steps(150);
}

/// The first of them are the layouts: kept in both themes, large and small. Of the others the small
/// window is kept, dark and light in turns; all are drawn in both themes and sizes.
const LAYOUTS: usize = 8;

const SCENES: &[Scene] = &[
    ("all stages", "copy", |screen| {
        go_to(screen, 12, "output");
    }),
    ("paper", "copy", |screen| {
        act(screen, Look::NextLayout);
        go_to(screen, 12, "output");
    }),
    ("paper, row 0 on top", "copy", |screen| {
        act(screen, Look::NextLayout);
        act(screen, Look::NextLayout);
        go_to(screen, 30, "output");
    }),
    ("start page", "copy", |screen| press(screen, Key::W)),
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
        act(screen, Instead::Begin(several::runs(10)));
        screen.run_steps(80);
        press(screen, Key::T);
        screen.run_steps(1);
    }),
    ("what mattered", "copy", |screen| {
        press(screen, Key::Y);
        go_to(screen, 12, "output");
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
        act(screen, Look::Focus(0));
        act(screen, Look::Select(Target::Row(13)));
    }),
    ("several heads", "associative_recall", |screen| {
        go_to(screen, 20, "output");
        act(screen, Look::Pin(1));
    }),
    ("all heads", "associative_recall", |screen| {
        go_to(screen, 20, "output");
        act(screen, Look::AllHeads);
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
        act(screen, Ask::For(Subject::About));
    }),
    ("go to step", "copy", |screen| press(screen, Key::G)),
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
        act(screen, Ask::For(Subject::Messages));
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
        act(screen, Look::NextScale);
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
        act(screen, Look::AllHeads);
        go_to(screen, 5, "output");
    }),
    ("ten heads, overlap", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("7 reads 3 writes")));
        go_to(screen, 5, "output");
        // A large window has room for it.
        if let Some(word) = screen.query_by_label("How much heads overlap") {
            word.click();
        }
        screen.run_steps(3);
    }),
    ("pointer on an overlap", "repeat_copy", |screen| {
        go_to(screen, 17, "output");
        let picture = screen.get_by_label_contains("overlap of heads: how much");
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
        otherwise(screen, 0, "draw");
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
    ("close-up", "copy", |screen| {
        for _ in 0..3 {
            act(screen, Look::NextLayout);
        }
        go_to(screen, 5, "gate");
    }),
    ("presented", "copy", |screen| {
        act(screen, Window::TogglePresent);
        act(screen, Play::Seek(25));
        screen.run_steps(60);
    }),
    ("held out", "copy", |screen| {
        act(screen, File::Open(PathBuf::from("of one's own")));
        press(screen, Key::Escape);
        act(screen, Episode::NextSeed);
        go_to(screen, 3, "output");
    }),
];

/// What it looks like on a phone, kept in both themes.
pub const ON_PHONE: &[Scene] = &[
    ("a step", "copy", |screen| go_to(screen, 21, "gate")),
    ("start page", "copy", |screen| {
        act(screen, Window::ToggleWelcome);
    }),
    ("episode", "copy", |screen| {
        go_to(screen, 12, "output");
        act(screen, Ask::For(Subject::Episode));
    }),
    ("more", "copy", |screen| {
        go_to(screen, 12, "output");
        act(screen, Ask::For(Subject::More));
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
        act(screen, Ask::For(Subject::File(Aim::Save)));
    }),
    ("settings", "copy", |screen| {
        act(screen, Ask::For(Subject::Settings));
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

/// A head of a machine that has all mechanisms.
fn otherwise(screen: &mut Screen, head: usize, stage: &str) {
    other_machine(screen, "every mechanism", head, stage);
}

/// A head of a machine with heads of its own.
fn other_machine(screen: &mut Screen, name: &str, head: usize, stage: &str) {
    act(screen, File::Open(PathBuf::from(name)));
    // What is said about it.
    press(screen, Key::Escape);
    act(screen, Look::Focus(head));
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
    let mut options = Options::shipped(None).with_first(machine);
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

/// Where numbers stand in a picture that are not whole.
fn numbers(screen: &Screen) -> Vec<Rect> {
    let mut found = Vec::new();
    for (text, clip) in texts(screen) {
        let words = text.galley.text();
        if words.contains('.') && words.contains(|c: char| c.is_ascii_digit()) {
            let place = text.visual_bounding_rect().intersect(clip);
            found.push(place.expand(1.0));
        }
    }
    found
}

/// The pixels that differ: those of numbers, and all others.
fn differing(before: &RgbaImage, after: &RgbaImage, numbers: &[Rect]) -> [Vec<(u32, u32)>; 2] {
    let pairs = before.enumerate_pixels().zip(after.pixels());
    let apart = pairs.filter(|((_, _, before), after)| {
        let mut channels = before.0.iter().zip(after.0);
        channels.any(|(a, b)| a.abs_diff(b) > FAR)
    });
    let places = apart.map(|((x, y, _), _)| (x, y));
    let is_number = |&(x, y): &(u32, u32)| {
        let place = egui::pos2(x as f32 + 0.5, y as f32 + 0.5);
        numbers.iter().any(|number| number.contains(place))
    };
    let (in_numbers, others) = places.partition(is_number);
    [in_numbers, others]
}

/// What is wrong with a picture, beside the one that is kept. Leaves both there for people, or keeps the new one.
fn changed(name: &str, image: &RgbaImage, numbers: &[Rect]) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/viewer/screens");
    let at = |end: &str| folder.join(format!("{name}{end}.png"));
    let kept = image::open(at("")).map(|kept| kept.to_rgba8()).ok();
    let kept = kept.filter(|kept| kept.dimensions() == image.dimensions());
    let apart = kept.map(|kept| differing(&kept, image, numbers));
    if let Some([in_numbers, others]) = &apart
        && in_numbers.len() <= FEW
        && others.is_empty()
    {
        return None;
    }
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        image.save(at("")).unwrap();
        return None;
    }
    image.save(at(".new")).unwrap();
    let Some([in_numbers, others]) = apart else {
        return Some(format!("{name}: no picture of this size is kept"));
    };
    let mut marked = image.clone();
    for &(x, y) in in_numbers.iter().chain(&others) {
        marked.put_pixel(x, y, Rgba([255, 0, 255, 255]));
    }
    marked.save(at(".diff")).unwrap();
    let (digits, rest) = (in_numbers.len(), others.len());
    Some(format!(
        "{name}: {digits} pixels of numbers differ, and {rest} others"
    ))
}

#[test]
fn every_state_looks_as_it_did() {
    let mut problems = Vec::new();
    for (index, scene) in SCENES.iter().enumerate() {
        let kept = if index < LAYOUTS {
            &ALL[..]
        } else {
            &ALL[2 + (index + 1 - LAYOUTS) % 2..][..1]
        };
        for &(size, theme) in kept {
            let mut screen = screen(scene, size, theme);
            let image = screen.render().unwrap();
            let name = file_name(scene, size, theme);
            problems.extend(changed(&name, &image, &numbers(&screen)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_state_on_a_phone_looks_as_it_did() {
    let mut problems = Vec::new();
    for scene in ON_PHONE {
        for theme in [Theme::Dark, Theme::Light] {
            let mut screen = screen(scene, phone::PHONE, theme);
            let image = screen.render().unwrap();
            let name = file_name(scene, phone::PHONE, theme);
            problems.extend(changed(&name, &image, &numbers(&screen)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// So many shapes are changed, one after the other.
const CHANGED: usize = 6;

/// How many pixels that are no numbers differ when a shape goes through `change`, for the first shapes that are
/// found by `which`.
fn changed_by(
    scene: &Scene,
    which: impl Fn(&Shape) -> bool,
    change: impl Fn(&mut Shape),
) -> Vec<usize> {
    let raster = Shared::default();
    let mut whole = screen_with(scene, SMALL, Theme::Dark, &raster);
    let before = whole.render().unwrap();
    let numbers = numbers(&whole);
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
        differing(&before, &after, &numbers)[1].len()
    });
    others.collect()
}

#[test]
fn a_lost_panel_is_noticed() {
    let scene = &SCENES[0];
    let mut whole = screen(scene, SMALL, Theme::Dark);
    let before = whole.render().unwrap();
    let others = |after: &RgbaImage| differing(&before, after, &numbers(&whole))[1].len();
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
fn every_scene_for_the_eye() {
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
