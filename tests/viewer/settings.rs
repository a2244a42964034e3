//! What is remembered, what can be undone, and what everyone can use.

use egui::ThemePreference;
use tapescope::viewer::{Map, Target, Theme as Colours};

use super::*;

fn with_settings(settings: Settings) -> Screen {
    let options = Options {
        settings,
        ..options(Arc::<Shelf>::default())
    };
    window_with(LARGE, options)
}

/// The settings as the next run would read them.
fn reread(harness: &Screen) -> Settings {
    let lines = harness.state().settings.lines();
    Settings::read(|key| {
        let line = lines.iter().find(|(name, _)| *name == key)?;
        Some(line.1.clone())
    })
}

#[test]
fn settings_persist_between_sessions() {
    let mut harness = paused();
    press_with(&mut harness, Modifiers::COMMAND, Key::Comma);
    for label in [
        "Light",
        "Cividis",
        "115 %",
        "Reduced: no animation, no automatic playback",
    ] {
        click(&mut harness, label);
    }
    assert_eq!(harness.ctx.theme(), Theme::Light);
    assert!((harness.ctx.zoom_factor() - 1.15).abs() < 1e-6);
    press(&mut harness, Key::Escape);
    open(&mut harness, "theirs.ntmtrace.json");
    let kept = reread(&harness);
    assert_eq!(kept.look.map, Map::Cividis);
    assert_eq!(kept.recent, [PathBuf::from("theirs.ntmtrace.json")]);
    let mut next = with_settings(kept);
    next.run_steps(5);
    assert_eq!(next.ctx.theme(), Theme::Light);
    assert!((next.ctx.zoom_factor() - 1.15).abs() < 1e-6);
    // Nothing plays by itself.
    assert!(!next.state().player.playing());
}

#[test]
fn theme_can_return_to_system() {
    let mut harness = with_settings(Settings::default());
    let light = Command::Window(Window::Theme(Colours::Light));
    let system = Command::Window(Window::Theme(Colours::System));
    for (command, theme, preference) in [
        (light, Colours::Light, ThemePreference::Light),
        (
            Command::Window(Window::NextTheme),
            Colours::Dark,
            ThemePreference::Dark,
        ),
        (system, Colours::System, ThemePreference::System),
    ] {
        act(&mut harness, command);
        assert_eq!(harness.state().settings.look.theme, theme);
        let worn = harness.ctx.options(|options| options.theme_preference);
        assert_eq!(worn, preference);
    }
}

#[test]
fn keys_make_everything_larger_and_smaller() {
    let mut harness = paused();
    for (key, percent) in [
        (Key::Plus, 115),
        (Key::Equals, 130),
        (Key::Minus, 115),
        (Key::Num0, 100),
    ] {
        press_with(&mut harness, Modifiers::COMMAND, key);
        assert_eq!(harness.state().settings.look.scale, percent, "{key:?}");
    }
    // Never so large that it would not fit.
    for (size, zoom) in [(LARGE, 1.5), (SMALL, 1.0)] {
        let mut harness = window_of(size, Arc::default());
        act(&mut harness, Window::Scale(200));
        assert!((harness.ctx.zoom_factor() - zoom).abs() < 1e-3, "{size}");
    }
}

#[test]
fn panels_fold_away_and_the_transport_stays_whole() {
    for size in [LARGE, SMALL] {
        let mut harness = window_of(size, Arc::default());
        let time = |harness: &Screen| harness.get_by_label("input: over time").rect();
        let before = time(&harness);
        press_with(&mut harness, BOTH, Key::B);
        assert!(!has(&harness, "Go to next seed"));
        assert!(time(&harness).width() > before.width() + 20.0);
        let line = harness.get_by_label_contains("Timeline: ").rect();
        for button in ["Go to first step", "Go to next step", "Toggle loop"] {
            let button = harness.get_by_label(button).rect();
            assert!(!button.intersects(line), "{button} {line}");
            assert!(button.bottom() < size.y);
        }
        press_with(&mut harness, BOTH, Key::T);
        assert!(!says(&harness, "Timeline: "));
        assert!(harness.get_by_label("Go to next step").rect().bottom() < size.y);
        // The keys go on working.
        press(&mut harness, Key::Space);
        press(&mut harness, Key::End);
        assert_eq!(step(&harness), 10);
        press_with(&mut harness, BOTH, Key::S);
        let panels = reread(&harness).panels;
        assert!(!panels.left && !panels.timeline);
        // A window too narrow for the numbers has them in a drawer instead.
        let narrow = size.x < 1100.0;
        assert_eq!((panels.numbers, harness.state().drawer), (narrow, narrow));
    }
}

#[test]
fn changes_are_undone_and_done_again() {
    let mut harness = paused();
    let state = |harness: &Screen| {
        let state = harness.state();
        let card = state.card().map(|card| card.title);
        let steps = state.player.steps();
        (
            state.session.request.clone(),
            state.view.focus,
            state.view.touched_only,
            card,
            steps,
        )
    };
    let mut states = vec![state(&harness)];
    for command in [
        Command::Episode(Episode::Size(3)),
        Command::Episode(Episode::Machine(1)),
        Command::Episode(Episode::Repeats(1)),
        Command::Episode(Episode::NextSeed),
        Command::Episode(Episode::Rows(64)),
        Command::View(ViewCommand::Focus(0)),
        Command::Rows(Rows::ToggleTouched),
        Command::View(ViewCommand::Select(Target::Row(2))),
        Command::View(ViewCommand::Deselect),
    ] {
        act(&mut harness, command.clone());
        states.push(state(&harness));
        let [.., before, after] = &states[..] else {
            panic!()
        };
        assert_ne!(before, after, "{command:?}");
    }
    for expected in states.iter().rev().skip(1) {
        press_with(&mut harness, Modifiers::COMMAND, Key::Z);
        assert_eq!(state(&harness), *expected);
    }
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(state(&harness), states[0]);
    for (index, expected) in states.iter().enumerate().skip(1) {
        let (modifiers, key) = if index % 2 == 0 {
            (BOTH, Key::Z)
        } else {
            (Modifiers::COMMAND, Key::Y)
        };
        press_with(&mut harness, modifiers, key);
        assert_eq!(state(&harness), *expected);
    }
}

#[test]
fn every_kind_of_change_is_undone() {
    let mut harness = paused();
    let state = |harness: &Screen| {
        let state = harness.state();
        let heads = (state.view.focus, state.view.pinned, state.view.all_heads);
        let rows = (
            state.view.touched_only,
            state.view.row_zoom.height,
            state.view.row_zoom.follow,
        );
        let card = state.card().map(|card| card.title);
        let flipped = state.session.request.flipped.clone();
        (heads, rows, card, state.view.log_scale, flipped)
    };
    for command in [
        Command::View(ViewCommand::Pin(0)),
        Command::View(ViewCommand::AllHeads),
        Command::View(ViewCommand::NextScale),
        Command::Rows(Rows::Taller(1)),
        Command::Rows(Rows::ToggleFollow),
        Command::Rows(Rows::Select(1)),
        Command::Edit(Edit::Toggle),
        Command::Edit(Edit::Flip(1, 2)),
    ] {
        let before = state(&harness);
        act(&mut harness, command.clone());
        let after = state(&harness);
        if command == Command::Edit(Edit::Toggle) {
            assert_eq!(before, after, "editing alone changes nothing");
            continue;
        }
        assert_ne!(before, after, "{command:?}");
        press_with(&mut harness, Modifiers::COMMAND, Key::Z);
        assert_eq!(state(&harness), before, "{command:?} is undone");
        press_with(&mut harness, Modifiers::COMMAND, Key::Y);
        assert_eq!(state(&harness), after, "{command:?} is done again");
    }
    // Time is not undone.
    act(&mut harness, Play::Seek(5));
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(step(&harness), 5);
    assert!(harness.state().session.request.flipped.is_empty());
}

#[test]
fn undo_brings_an_opened_trace_back() {
    let mut harness = paused_with_file("theirs.ntmtrace.json");
    click(&mut harness, "Record episode");
    assert!(!says(&harness, "as recorded"));
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    harness.get_by_label("theirs.ntmtrace.json, as recorded");
    press_with(&mut harness, Modifiers::COMMAND, Key::Y);
    assert!(!says(&harness, "as recorded"));
}

#[test]
fn refused_request_is_not_undoable() {
    let mut harness = paused();
    act(&mut harness, Episode::Size(200));
    act(&mut harness, Episode::Rows(1 << 20));
    let size = |harness: &Screen| harness.state().session.request.size;
    assert_eq!(size(&harness), 200);
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(size(&harness), 5);
}

#[test]
fn tab_reaches_everything_with_visible_focus() {
    let mut harness = paused();
    let mut reached = Vec::new();
    for _ in 0..120 {
        press(&mut harness, Key::Tab);
        let nodes = harness.root().children_recursive();
        let focused = nodes.filter(egui_kittest::Node::is_focused).last();
        let label = focused.and_then(|node| node.accesskit_node().label());
        reached.extend(label);
    }
    for label in [
        "Machine",
        "Open file",
        "Change theme",
        "Play",
        "Go to next step",
        "Timeline",
        "Go to next seed",
        "Head W0",
        "Show touched rows only",
        "memory",
        "input",
        "Stage content",
        "Go to stage shift",
    ] {
        let found = reached.iter().any(|reached| reached.starts_with(label));
        assert!(found, "{label} is not among {reached:?}");
    }
    // Enter presses what has the focus; Space stays with playback.
    harness.get_by_label("Go to next step").focus();
    harness.run_steps(1);
    press(&mut harness, Key::Enter);
    assert_eq!(step(&harness), 1);
}

#[test]
fn errors_are_listed_and_can_be_copied() {
    let mut harness = paused();
    for name in ["one.json", "two.json", "three.json"] {
        act(&mut harness, File::Open(name.into()));
    }
    act(&mut harness, DialogCommand::Escape);
    assert!(!has(&harness, "Problem"));
    click(&mut harness, "3 problems");
    assert!(!has(&harness, "3 problems"));
    for name in ["one", "two", "three"] {
        harness.get_by_label(&format!("{name}.json does not exist."));
    }
    harness.get_by_label("Copy messages").click();
    let copied = copied(&mut harness);
    assert!(copied.starts_with("Problem: three.json does not exist.\nProblem: two.json"));
}

#[test]
fn licences_are_included() {
    let mut harness = paused();
    act(&mut harness, Subject::About);
    for words in [
        "MIT or Apache-2.0",
        "SIL Open Font License",
        "Apache License",
    ] {
        assert!(
            harness.query_all_by_label_contains(words).next().is_some(),
            "{words}"
        );
    }
}

#[test]
fn numbers_panel_stays_folded_until_opened() {
    let panels = Settings::read(|_| None).panels;
    let mut harness = with_settings(Settings {
        panels,
        ..Settings::default()
    });
    assert!(!says(&harness, "key strength") && harness.state().lines() == 0);
    press_with(&mut harness, BOTH, Key::S);
    harness.run_steps(2);
    assert!(says(&harness, "key strength") && harness.state().lines() > 0);
}
