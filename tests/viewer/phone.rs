//! The window on a phone: small, and driven by fingers.

use super::*;
use egui::Rect;
use egui::accesskit::Role;
use screens::ON_PHONE;

/// A phone, upright.
pub const PHONE: Vec2 = Vec2::new(390.0, 844.0);
/// A smaller one, and the first one turned.
pub const SIZES: [Vec2; 3] = [PHONE, Vec2::new(360.0, 640.0), Vec2::new(844.0, 390.0)];
/// The least that a finger hits, in points.
const FINGER: f32 = 40.0;

/// Touches what has this label, and lies over all others.
fn tap(screen: &mut Screen, label: &str) {
    let found = screen.query_all_by_role_and_label(Role::Button, label);
    found.last().unwrap().click();
    screen.run_steps(3);
}

fn included(size: Vec2) -> Screen {
    let mut options = Options::included(None);
    options.settings.look.still = true;
    let mut screen = window_with(size, options);
    screen.run_steps(1);
    screen
}

/// What can be hit, with its label.
fn targets(screen: &Screen) -> Vec<(String, Rect)> {
    let roles = [
        Role::Button,
        Role::CheckBox,
        Role::ComboBox,
        Role::RadioButton,
        Role::Slider,
        Role::SpinButton,
        Role::TextInput,
    ];
    let all = roles.into_iter().flat_map(|role| {
        let found = screen.query_all_by_role(role);
        found.map(|node| {
            let label = node.accesskit_node().label().unwrap_or_default();
            (label, node.rect())
        })
    });
    all.collect()
}

#[test]
fn touch_targets_are_large_and_on_screen() {
    let mut problems = Vec::new();
    for scene in ON_PHONE {
        for size in SIZES {
            let screen = screens::screen(scene, size, Theme::Dark);
            let targets = targets(&screen);
            assert!(targets.len() > 5, "{}", scene.0);
            for (label, rect) in targets {
                let large = rect.width() >= FINGER && rect.height() >= FINGER;
                let inside = rect.left() >= 0.0 && rect.right() <= size.x;
                if !large || !inside {
                    problems.push(format!("{} at {size}: {label} {rect}", scene.0));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn no_text_is_cut_off() {
    let mut problems = Vec::new();
    for scene in ON_PHONE {
        for size in SIZES {
            let screen = screens::screen(scene, size, Theme::Dark);
            for (text, clip) in clipping::texts(&screen) {
                let (words, rect) = (text.galley.text(), text.visual_bounding_rect());
                let seen = rect.intersects(clip) && rect.is_positive();
                if seen && (rect.left() < -0.5 || rect.right() > size.x + 0.5) {
                    problems.push(format!("{} at {size}: {words} {rect}", scene.0));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn episode_sheet_chooses_episode() {
    for size in SIZES {
        let mut screen = included(size);
        click(&mut screen, "Episode");
        // It has come up.
        screen.run_steps(10);
        let steps = screen.state().player.steps();
        click(&mut screen, "More: Length");
        assert_eq!(screen.state().player.steps(), steps + 2);
        let seed = screen.state().session.request.seed;
        screen.get_by_label("Go to next seed").scroll_to_me();
        screen.run_steps(3);
        click(&mut screen, "Go to next seed");
        assert_eq!(screen.state().session.request.seed, seed + 1);
        screen.get_by_label("Select head R0").scroll_to_me();
        screen.run_steps(3);
        click(&mut screen, "Select head R0");
        assert!(screen.state().view.is_pinned(0));
        click(&mut screen, "Close dialog");
        assert!(screen.state().dialog.is_none());
        click(&mut screen, "Machine");
        click(&mut screen, "Repeat copy");
        assert_eq!(recording(&screen).task.name(), "repeat_copy");
    }
}

#[test]
fn other_commands_are_in_one_list() {
    let mut screen = included(PHONE);
    let do_it = |screen: &mut Screen, name: &str| {
        click(screen, "More");
        screen
            .query_all_by_label(name)
            .last()
            .unwrap()
            .scroll_to_me();
        screen.run_steps(3);
        tap(screen, name);
    };
    do_it(&mut screen, "Change theme");
    assert!(screen.state().dialog.is_none() && !screen.state().frame.dark);
    for (name, subject) in [
        ("Open file", Subject::File(FilePurpose::Open)),
        ("Save trace", Subject::File(FilePurpose::Save)),
        (
            "Save figure as PNG",
            Subject::File(FilePurpose::Figure(Format::Png)),
        ),
        ("Open settings", Subject::Settings),
        ("About Tapescope", Subject::About),
    ] {
        do_it(&mut screen, name);
        let dialog = screen.state().dialog.as_ref();
        assert_eq!(dialog.map(|dialog| dialog.subject), Some(subject));
        click(&mut screen, "Close dialog");
    }
    // What cannot be done is not offered.
    click(&mut screen, "More");
    assert!(!has(&screen, "Stop training"));
    click(&mut screen, "Close dialog");
    do_it(&mut screen, "Train live");
    assert!(screen.state().learning.is_some());
    do_it(&mut screen, "Stop training");
    do_it(&mut screen, "Open start page");
    assert!(screen.state().welcome.shown);
    do_it(&mut screen, "Start tour");
    assert!(screen.state().tour().is_some());
}

#[test]
fn dragging_strip_seeks_and_swipe_does_not() {
    for size in SIZES {
        let mut screen = included(size);
        act(&mut screen, Play::Toggle);
        act(&mut screen, Play::First);
        let strip = screen.get_by_label("Time: drag to move in time").rect();
        assert!(strip.height() >= FINGER && strip.width() > 0.8 * size.x);
        let at = |share: f32, y: f32| egui::pos2(strip.left() + share * strip.width(), y);
        drag(
            &mut screen,
            at(0.1, strip.top() + 2.0),
            at(0.5, strip.bottom() + 5.0),
        );
        let last = screen.state().player.steps() - 1;
        let middle = step(&screen);
        assert!(middle.abs_diff(last / 2) <= 1, "step {middle} of {last}");
        // A touch goes there, too.
        drag(
            &mut screen,
            at(0.99, strip.center().y),
            at(0.99, strip.center().y),
        );
        assert_eq!(step(&screen), last);
        drag(
            &mut screen,
            at(0.3, strip.center().y),
            at(0.35, strip.top() - 120.0),
        );
        assert_eq!(step(&screen), last);
    }
}

#[test]
fn a_finger_steps_through_stages_reads_values_and_flips_bits() {
    for size in SIZES {
        let mut screen = included(size);
        act(&mut screen, Play::Seek(3));
        click(&mut screen, "Go to next stage");
        let at = |screen: &Screen| (step(screen), screen.state().player.stage());
        let first = at(&screen);
        click(&mut screen, "Go to next stage");
        assert_eq!(at(&screen), (first.0, first.1 + 1));
        click(&mut screen, "Go to previous stage");
        assert_eq!(at(&screen), first);
        act(&mut screen, Play::Seek(3));
        let says = |screen: &Screen, words: &str| {
            let mut texts = clipping::texts(screen);
            texts.any(|(text, _)| text.galley.text().contains(words))
        };
        assert!(says(&screen, "Touch a value"));
        touch(&mut screen, "memory");
        screen.run_steps(2);
        assert!(says(&screen, "M row ") && !says(&screen, "Touch a value"));
        let bits = |screen: &Screen| [3, 4].map(|step| recording(screen).episode.input[[step, 1]]);
        let before = bits(&screen);
        click(&mut screen, "Edit input");
        click(&mut screen, "Go to next bit");
        assert!(says(&screen, &format!("bit 1 of step 3 is {}", before[0])));
        click(&mut screen, "Flip bit");
        screen.run_steps(3);
        assert_eq!(bits(&screen), [1.0 - before[0], before[1]]);
        // The mark follows the play-head.
        click(&mut screen, "Go to next step");
        click(&mut screen, "Flip bit");
        screen.run_steps(3);
        assert_eq!(bits(&screen), before.map(|bit| 1.0 - bit));
        click(&mut screen, "Done");
        assert_eq!(screen.state().mark(), None);
    }
}

#[test]
fn the_start_page_is_a_column_of_cards() {
    for size in &SIZES[..2] {
        let mut screen = included(*size);
        act(&mut screen, Window::ToggleWelcome);
        let titles = screen.state().session.machines.iter();
        let titles: Vec<_> = titles.map(|machine| machine.title.clone()).collect();
        let mut bottom = 0.0;
        for title in &titles[..4] {
            let card = screen.get_by_label(&format!("Show {title}")).rect();
            assert!(card.top() >= bottom && card.width() > 0.85 * size.x);
            bottom = card.bottom();
        }
        let last = format!("Show {}", titles[titles.len() - 1]);
        screen.get_by_label(&last).scroll_to_me();
        screen.run_steps(10);
        let card = screen.get_by_label(&last).rect();
        assert!(card.bottom() <= size.y && card.top() > 0.0, "{card}");
        click(&mut screen, &last);
        assert!(!screen.state().welcome.shown);
    }
}

/// Does what a stop of the tour asks for, as a finger can.
fn follow(screen: &mut Screen, stop: usize) {
    match stop {
        0 => tap(screen, "Play"),
        1 => click(screen, "Go to next step"),
        2 => touch(screen, "W0 sharpen"),
        7 => click(screen, "Go to first step"),
        8 => touch(screen, "output: at this step"),
        10 => (0..20).for_each(|_| {
            if !met(screen) {
                click(screen, "Go to next step");
            }
        }),
        11 => click(screen, "Flip bit"),
        12 => tap(screen, "Open start page"),
        _ => (0..20).for_each(|_| {
            if !met(screen) {
                click(screen, "Go to next stage");
            }
        }),
    }
    screen.run_steps(12);
}

fn met(screen: &Screen) -> bool {
    screen.state().tour().is_some_and(|tour| tour.met)
}

/// The picture of this name.
fn picture(screen: &Screen, name: &str) -> Rect {
    let begins = format!("{name}: ");
    let mut found = screen.query_all_by_label_contains(name);
    let is_it = |label: &str| label == name || label.starts_with(&begins);
    let node = found.find(|node| {
        let label = node.accesskit_node().label();
        label.is_some_and(|label| is_it(&label))
    });
    node.unwrap_or_else(|| panic!("no {name}")).rect()
}

fn touch(screen: &mut Screen, name: &str) {
    let at = picture(screen, name).center();
    drag(screen, at, at);
}

#[test]
fn tour_works_by_touch_and_covers_nothing() {
    for size in SIZES {
        let mut screen = included(size);
        act(&mut screen, Tour::Start);
        for stop in 0..13 {
            screen.run_steps(3);
            for is_met in [false, true] {
                if is_met {
                    follow(&mut screen, stop);
                    assert!(met(&screen), "stop {stop} at {size}");
                }
                if stop == 12 && is_met {
                    // The start page is on screen; with it the tour is left.
                    click(&mut screen, "Return to episode");
                    break;
                }
                let leave = screen.get_by_label("Leave tour").rect();
                let count = format!("{} of 13", stop + 1);
                let count = screen.get_by_label(&count).rect();
                let window = Rect::from_min_size(egui::Pos2::ZERO, size);
                assert!(window.contains_rect(leave) && window.contains_rect(count));
                let memory = picture(&screen, "memory");
                assert!(
                    memory.height() > 60.0 && !memory.intersects(leave.union(count)),
                    "stop {stop} at {size}: {memory}"
                );
            }
            if stop < 12 {
                click(&mut screen, "Next");
            }
        }
        assert!(screen.state().tour().is_none());
    }
}

#[test]
fn training_is_one_column() {
    let mut screen = included(PHONE);
    let experiment = learn::experiment(&["training.batch=16"]);
    begin_training(&mut screen, experiment);
    screen.run_steps(40);
    let top = |label: &str| {
        let mut found = screen.query_all_by_label_contains(label);
        found.next().unwrap().rect().top()
    };
    let [words, loss, answer, toggle] = [
        top("Findings"),
        top("Loss per sequence (bits)"),
        top("Time: drag"),
        top("Pause training"),
    ];
    assert!(words < loss && loss < answer && answer < toggle);
    click(&mut screen, "Pause training");
    let learning = screen.state().learning.as_ref();
    assert!(learning.is_some_and(|learning| !learning.is_training));
    click(&mut screen, "Run one update");
    click(&mut screen, "Restart training, same seed");
    assert!(screen.state().learning.is_some());
}

#[test]
fn panels_return_when_window_grows() {
    let mut screen = included(PHONE);
    assert_eq!(screen.state().layout(), WindowLayout::CloseUp);
    act(&mut screen, ViewCommand::NextLayout);
    assert_eq!(screen.state().layout(), WindowLayout::CloseUp);
    screen.set_size(LARGE);
    screen.run_steps(3);
    screen.get_by_label("Go to next seed");
    let button = screen.get_by_label("Go to next step").rect();
    assert!(button.height() < FINGER);
}

#[test]
fn field_has_the_keyboard_when_a_key_opens_it() {
    let typed = |screen: &Screen| screen.state().dialog.as_ref().map(|it| it.text.clone());
    let mut screen = included(PHONE);
    press_with(&mut screen, Modifiers::COMMAND, Key::K);
    screen.event(egui::Event::Text("next".to_owned()));
    screen.run_steps(3);
    assert_eq!(typed(&screen).as_deref(), Some("next"));
    // After a touch a keyboard would come on screen: it waits.
    press(&mut screen, Key::Escape);
    let touch = |phase| egui::Event::Touch {
        device_id: egui::TouchDeviceId(0),
        id: egui::TouchId(0),
        phase,
        pos: egui::Pos2::new(195.0, 300.0),
        force: None,
    };
    screen.event(touch(egui::TouchPhase::Start));
    screen.event(touch(egui::TouchPhase::End));
    screen.run_steps(2);
    act(&mut screen, Subject::Step);
    screen.event(egui::Event::Text("3".to_owned()));
    screen.run_steps(3);
    assert_eq!(typed(&screen).as_deref(), Some(""));
}
