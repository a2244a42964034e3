//! Machines whose read heads see what was written in the same step.

use super::*;

fn write_first() -> Screen {
    let mut harness = paused_with_file("1 reads 1 writes, write first");
    act(&mut harness, Play::Seek(3));
    harness
}

/// The sentence over the stages.
fn told(harness: &Screen, words: &str) {
    assert!(says(harness, words), "{words}");
}

#[test]
fn write_first_machine_plays_stages_in_its_order() {
    let mut harness = write_first();
    let mut seen = Vec::new();
    to_stage(&mut harness, "controller");
    for _ in 0..13 {
        seen.push(stage(&harness));
        press(&mut harness, Key::Period);
    }
    let order = "controller, content, gate, shift, sharpen, erase, add, read content, read gate, \
                 read shift, read sharpen, read, output";
    assert_eq!(seen.join(", "), order);
    assert_eq!(step(&harness), 4);
    click(&mut harness, "Go to stage read shift");
    assert_eq!(stage(&harness), "read shift");
    assert!(
        harness
            .state()
            .status()
            .contains("stage 10 of 13: read shift")
    );
}

#[test]
fn descriptions_follow_machine_order() {
    let mut harness = write_first();
    let status = harness.state().status();
    assert!(status.find("W0 ").unwrap() < status.find("R0 ").unwrap());
    // Whichever head is looked at: the one that acts is told of.
    for head in [0, 1] {
        act(&mut harness, ViewCommand::Focus(head));
        to_stage(&mut harness, "content");
        told(&harness, "W0 compares its key with every row: ");
        to_stage(&mut harness, "read content");
        told(&harness, "R0 compares its key with every row: ");
    }
    let usual = paused_with_file("1 reads 1 writes");
    let status = usual.state().status();
    assert!(status.find("R0 ").unwrap() < status.find("W0 ").unwrap());
}

#[test]
fn column_click_goes_to_stage_of_its_head() {
    let mut harness = write_first();
    for (head, name) in [(0, "read gate"), (1, "gate")] {
        act(&mut harness, ViewCommand::Focus(head));
        click(&mut harness, "Stage gate wᵍ");
        assert_eq!(stage(&harness), name);
    }
    // What the read heads see is written.
    to_stage(&mut harness, "gate");
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
    to_stage(&mut harness, "read gate");
    assert!(
        harness
            .state()
            .readout()
            .unwrap()
            .place
            .starts_with("M of step 3")
    );
}
