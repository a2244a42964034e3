//! Machines whose read heads see what was written in the same step.

use super::*;

fn write_first() -> Harness<'static, App> {
    let mut harness = paused();
    open(&mut harness, "1 reads 1 writes, write first");
    act(&mut harness, Command::Seek(3));
    harness
}

/// The sentence over the stages.
fn told(harness: &Harness<'_, App>, words: &str) {
    assert!(harness.query_by_label_contains(words).is_some(), "{words}");
}

#[test]
fn a_machine_that_writes_first_is_walked_through_as_it_works() {
    let mut harness = write_first();
    let mut seen = Vec::new();
    act(&mut harness, Command::SeekStage(Stage::Controller));
    for _ in 0..13 {
        seen.push(harness.state().player.stage());
        press(&mut harness, Key::Period);
    }
    assert_eq!(seen, Stage::WRITE_FIRST);
    assert_eq!(step(&harness), 4);
    click(&mut harness, "Go to stage read shift");
    assert_eq!(harness.state().player.stage(), Stage::ReadShift);
    assert!(
        harness
            .state()
            .status()
            .contains("stage 10 of 13: read shift")
    );
}

#[test]
fn the_words_follow_the_order_of_the_machine() {
    let mut harness = write_first();
    let status = harness.state().status();
    assert!(status.find("W0 writes").unwrap() < status.find("R0 reads").unwrap());
    // Whichever head is looked at: the one that acts is told of.
    for head in [0, 1] {
        act(&mut harness, Command::Focus(head));
        act(&mut harness, Command::SeekStage(Stage::Content));
        told(&harness, "W0: The key is compared with every row.");
        act(&mut harness, Command::SeekStage(Stage::ReadContent));
        told(&harness, "R0: The key is compared with every row.");
    }
    let mut usual = paused();
    open(&mut usual, "1 reads 1 writes");
    let status = usual.state().status();
    assert!(status.find("R0 reads").unwrap() < status.find("W0 writes").unwrap());
}

#[test]
fn a_column_leads_to_the_stage_of_its_head() {
    let mut harness = write_first();
    for (head, stage) in [(0, Stage::ReadGate), (1, Stage::Gate)] {
        act(&mut harness, Command::Focus(head));
        click(&mut harness, "Stage gate wᵍ");
        assert_eq!(harness.state().player.stage(), stage);
    }
    // What the read heads see is written.
    act(&mut harness, Command::SeekStage(Stage::Gate));
    harness.hover_at(
        harness
            .get_by_label("memory: rows down, columns across")
            .rect()
            .center(),
    );
    harness.run_steps(2);
    assert!(
        harness
            .state()
            .readout()
            .unwrap()
            .place
            .starts_with("M of step 2")
    );
    act(&mut harness, Command::SeekStage(Stage::ReadGate));
    assert!(
        harness
            .state()
            .readout()
            .unwrap()
            .place
            .starts_with("M of step 3")
    );
}
