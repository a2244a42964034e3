//! Conditions: typed, completed, marked on the timeline, visited, and searched for in other episodes.

use super::*;
use egui::accesskit::Role;

/// With this condition set in the dialog.
fn searched(condition: &str) -> Screen {
    let mut harness = paused();
    press_with(&mut harness, Modifiers::COMMAND, Key::F);
    type_into(&mut harness, "Condition", condition);
    harness
}

#[test]
fn a_typed_condition_is_counted_marked_and_visited() {
    let mut harness = searched("step = 3 or step = 6");
    harness.get_by_label("The condition holds in 2 of 11 steps.");
    press(&mut harness, Key::Enter);
    assert!(!has(&harness, "Condition"), "the dialog has closed");
    assert_eq!(step(&harness), 3);
    harness.get_by_label("Steps in which the condition holds: 2");
    harness.get_by_label("Condition: 2 of 11 steps");
    press(&mut harness, Key::F3);
    assert_eq!(step(&harness), 6);
    press(&mut harness, Key::J);
    assert_eq!(step(&harness), 3, "after the last comes the first");
    press_with(&mut harness, Modifiers::SHIFT, Key::F3);
    assert_eq!(step(&harness), 6);
    press(&mut harness, Key::Home);
    press(&mut harness, Key::Space);
    harness.run_steps(600);
    assert_eq!(
        (step(&harness), harness.state().player.playing()),
        (3, false)
    );
    press(&mut harness, Key::Slash);
    click(&mut harness, "Clear condition");
    assert!(!says(&harness, "Steps in which the condition holds"));
}

#[test]
fn the_wrong_part_of_a_condition_is_marked() {
    let mut harness = searched("read0.gate > and wrong");
    harness.get_by_label("expected a value, found `and`");
    assert!(says(&harness, "^^^"));
    let go = harness.get_by_role_and_label(Role::Button, "Go to next match");
    assert!(go.accesskit_node().is_disabled());
    press(&mut harness, Key::Enter);
    assert!(has(&harness, "Condition"), "it stays open");
    assert!(harness.state().search.condition.is_empty());
}

#[test]
fn a_click_completes_the_word_before_the_cursor() {
    let mut harness = searched("read0.gate > 0.5 and entr");
    click(&mut harness, "entropy");
    let text = |harness: &Screen| harness.state().dialog.as_ref().unwrap().text.clone();
    assert_eq!(text(&harness), "read0.gate > 0.5 and entropy(");
    // The line has the keyboard again, behind the word.
    type_into(&mut harness, "Condition", "read0.w");
    click(&mut harness, "read0.weighting");
    type_into(&mut harness, "Condition", ") > 1");
    assert_eq!(
        text(&harness),
        "read0.gate > 0.5 and entropy(read0.weighting) > 1"
    );
    assert!(says(&harness, "The condition holds in "));
}

#[test]
fn the_next_episode_with_a_match_opens_at_it() {
    let condition = "step = 1 and input[0] > 0.5 and input[1] > 0.5 and input[2] > 0.5";
    let mut harness = searched(condition);
    let seed = harness.state().session.request.seed;
    click(&mut harness, "Find next episode");
    assert!(!has(&harness, "Condition"));
    assert!(harness.state().session.request.seed > seed);
    assert_eq!(step(&harness), 1);
    let vector = recording(&harness).episode.input.row(1);
    assert!(vector.iter().take(3).all(|bit| *bit > 0.5));
}

#[test]
fn a_search_of_seeds_may_find_nothing() {
    let mut harness = searched("step > 1000");
    harness.get_by_label("The condition holds in 0 of 11 steps.");
    click(&mut harness, "Find next episode");
    assert!(says(&harness, "in no episode of the next 100 seeds"));
}
