//! The list of all commands, and the list of keys.

use super::*;
use egui::accesskit::{Role, Toggled};
use tapescope::viewer::command::{Learn, Replacement};

/// An episode in the middle, with something to undo in every respect.
fn prepared() -> Screen {
    let mut harness = paused();
    // The pointer is out of the way.
    harness.hover_at(egui::pos2(3.0, 3.0));
    for command in [
        Command::Episode(Episode::Size(4)),
        Command::Play(Play::Faster(1)),
        Command::Play(Play::Seek(4)),
        Command::View(ViewCommand::Select(Target::Row(3))),
        Command::View(ViewCommand::Focus(0)),
    ] {
        act(&mut harness, command);
    }
    harness
}

/// All that can be seen, heard or copied.
fn seen(harness: &Screen) -> Vec<String> {
    let labels = harness.root().children_recursive().map(|node| {
        let node = node.accesskit_node();
        format!("{:?} {:?} {:?}", node.label(), node.toggled(), node.value())
    });
    let state = harness.state();
    let look = state.settings.look;
    let player = format!("{:?} {look:?} {:?}", harness.ctx.theme(), state.player);
    labels.chain([player]).collect()
}

/// The lines in which two windows differ.
fn differences(one: &Screen, other: &Screen) -> Vec<String> {
    let (one, other) = (seen(one), seen(other));
    let new = other.iter().filter(|line| !one.contains(line));
    let gone = one.iter().filter(|line| !other.contains(line));
    gone.chain(new).cloned().collect()
}

/// Why nothing can be told to what learns.
const LEARNS: &str = "no training is open";
/// Why there are no matches.
const NO_CONDITION: &str = "no condition is set";
/// Why there is no other draw where all is certain.
const DRAWS: &str = "no head of this machine samples";

#[test]
fn every_command_runs_by_name() {
    let choices = prepared().state().choices();
    assert!(choices.len() > 30);
    let blocked = choices
        .iter()
        .filter_map(|c| Some((c.name.as_str(), c.blocked?)));
    assert_eq!(
        blocked.collect::<Vec<_>>(),
        [
            ("Go to next match", NO_CONDITION),
            ("Go to previous match", NO_CONDITION),
            ("Find next episode", NO_CONDITION),
            ("Clear condition", NO_CONDITION),
            ("Fit all steps", "all steps are on screen"),
            ("Make rows shorter", "all rows are on screen"),
            ("Follow head", "all rows are on screen"),
            ("Sample again", DRAWS),
            ("Show spread of samples", DRAWS),
            ("Use most likely rows", DRAWS),
            ("Use expected weighting", DRAWS),
            ("End branch", "no value is set"),
            ("Cancel", "nothing to cancel"),
            ("Compare with NTM", "the machine on screen reads no source"),
            ("Swap A and B", "no comparison is open"),
            ("Toggle B − A", "no comparison is open"),
            ("Go to first difference", "no comparison is open"),
            ("End comparison", "no comparison is open"),
            ("Continue training", "no saved run is open"),
            ("Run one update", LEARNS),
            ("Toggle full speed", LEARNS),
            ("Train slower", LEARNS),
            ("Train faster", LEARNS),
            ("Restart training, same seed", LEARNS),
            ("Train the next seed", LEARNS),
            ("Go to next run", "only one run is open"),
            ("Go to previous run", "only one run is open"),
            ("Go to previous training snapshot", LEARNS),
            ("Go to next training snapshot", LEARNS),
            ("Go to previous finding", LEARNS),
            ("Go to next finding", LEARNS),
            ("Save run", LEARNS),
            ("Recover runs", "no run to recover"),
            ("Stop training", LEARNS),
            ("Redo", "nothing to redo"),
            ("Reset zoom", "already in effect"),
            ("Theme: system", "already in effect"),
            ("Colours: Per head", "already in effect"),
        ]
    );
    let before = prepared();
    for choice in choices {
        let mut harness = prepared();
        press_with(&mut harness, Modifiers::COMMAND, Key::K);
        type_into(&mut harness, "Command", &choice.name);
        let name = choice.name.as_str();
        let line = harness.get_by_role_and_label(Role::ListBoxOption, name);
        assert_eq!(
            line.accesskit_node().is_disabled(),
            choice.blocked.is_some()
        );
        line.click();
        harness.run_steps(1);
        harness.hover_at(egui::pos2(3.0, 3.0));
        // Until what moves has come.
        harness.run_steps(9);
        let mut directly = prepared();
        act(&mut directly, choice.command.clone());
        // As many frames as the list took.
        directly.run_steps(10);
        if choice.blocked.is_some() {
            let line = harness.query_by_role_and_label(Role::ListBoxOption, name);
            assert!(line.is_some(), "{name} is not done");
        } else if choice.command == Command::Play(Play::Toggle) {
            assert!(harness.state().player.playing());
        } else if let Command::Learn(
            Learn::Toggle | Learn::Replace(Replacement::Seeds(_) | Replacement::Ablate),
        ) = choice.command
        {
            assert!(harness.state().learning.is_some());
        } else {
            let differences_to = |other| differences(&harness, other);
            assert_eq!(differences_to(&directly), [""; 0], "{name}");
            assert_ne!(differences_to(&before), [""; 0], "{name} changes nothing");
        }
    }
}

#[test]
fn the_list_of_commands_is_driven_by_keys() {
    let mut harness = prepared();
    press_with(&mut harness, Modifiers::COMMAND, Key::P);
    type_into(&mut harness, "Command", "step");
    let chosen = |harness: &Screen| {
        let mut lines = harness.get_all_by_role(Role::ListBoxOption);
        let chosen = lines.find(|line| line.accesskit_node().toggled() == Some(Toggled::True));
        chosen.unwrap().accesskit_node().label().unwrap()
    };
    assert_eq!(chosen(&harness), "Go to next step");
    press(&mut harness, Key::ArrowDown);
    assert_eq!(chosen(&harness), "Go to previous step");
    press(&mut harness, Key::ArrowUp);
    press(&mut harness, Key::ArrowUp);
    assert_eq!(chosen(&harness), "Go to next step");
    press(&mut harness, Key::Enter);
    assert_eq!(step(&harness), 5);
    assert!(!has(&harness, "Command"));
    for (modifiers, close) in [(Modifiers::NONE, Key::Escape), (Modifiers::COMMAND, Key::K)] {
        press_with(&mut harness, Modifiers::COMMAND, Key::K);
        harness.get_by_label("Command");
        press_with(&mut harness, modifiers, close);
        assert!(!has(&harness, "Command"));
    }
}

#[test]
fn blocked_command_states_reason() {
    let mut harness = window_with(SMALL, Options::default());
    press_with(&mut harness, Modifiers::COMMAND, Key::K);
    let line = harness.get_by_role_and_label(Role::ListBoxOption, "Go to next step");
    assert!(line.accesskit_node().is_disabled());
    line.click();
    harness.run_steps(2);
    harness.get_by_label("Command");
    let choices = harness.state().choices();
    let why = |name: &str| choices.iter().find(|c| c.name == name).unwrap().blocked;
    assert_eq!(why("Go to next step"), Some("no episode is open"));
    assert_eq!(why("Go to next seed"), Some("no machine is loaded"));
    assert_eq!(why("Open file"), None);
}

#[test]
fn key_list_is_complete_and_fits_smallest_window() {
    let mut harness = window_of(SMALL, Arc::default());
    press(&mut harness, Key::F1);
    let labels: Vec<_> = harness.root().children_recursive().collect();
    for choice in harness.state().choices() {
        if choice.key.is_empty() || matches!(choice.command, Command::View(ViewCommand::Focus(_))) {
            continue;
        }
        let line = labels.iter().find(|node| {
            let label = node.accesskit_node().value();
            label.is_some_and(|label| {
                label == choice.name || label.starts_with(&format!("{}  ", choice.name))
            }) && node.accesskit_node().role() == Role::Label
        });
        let rect = line.unwrap_or_else(|| panic!("{}", choice.name)).rect();
        assert!(
            rect.bottom() < 600.0 && rect.right() < 960.0,
            "{}",
            choice.name
        );
    }
}
