//! What somebody reads and sees who uses the window for the first time: sentences, cards, names, messages.

use super::whole::texts;
use super::*;

/// The texts on screen.
fn drawn(harness: &Screen) -> Vec<String> {
    let all = texts(harness).map(|(text, _)| text.galley.text().to_owned());
    all.collect()
}

fn draws(harness: &Screen, words: &str) -> bool {
    drawn(harness).iter().any(|text| text.contains(words))
}

#[test]
fn a_headline_says_where_the_weight_went() {
    // The shift has two peaks, and so has what it moves: most of it is one row back in the end.
    let mut harness = paused_with_file("two peaks.json");
    act(&mut harness, Look::Focus(1));
    act(&mut harness, Play::Seek(4));
    to_stage(&mut harness, "shift");
    harness.run_steps(12);
    press(&mut harness, Key::P);
    assert!(says(&harness, "The write head moves back by one row"));
    assert!(!says(&harness, "The write head moves on by one row"));
    press(&mut harness, Key::P);
    assert!(says(&harness, "The focus moves by −1"));
}

#[test]
fn a_headline_speaks_of_the_head_whose_columns_are_shown() {
    for (file, stage, head, expected) in [
        ("1 reads 1 writes", "add", 0, "The read head reads"),
        ("1 reads 1 writes", "read", 1, "The write head waits"),
        (
            "1 reads 1 writes, write first",
            "add",
            0,
            "The read head waits",
        ),
        ("3 reads 1 writes", "erase", 2, "Read head R2 reads"),
    ] {
        let mut harness = paused_with_file(file);
        act(&mut harness, Look::Focus(head));
        act(&mut harness, Play::Seek(4));
        to_stage(&mut harness, stage);
        harness.run_steps(12);
        while harness.state().arrangement() != Arrangement::CloseUp {
            press(&mut harness, Key::V);
        }
        let said = drawn(&harness);
        assert!(draws(&harness, expected), "{file}, {stage}: {said:?}");
    }
}

#[test]
fn the_head_looked_at_always_has_a_headline() {
    let mut harness = paused_with_file("4 reads 1 writes");
    act(&mut harness, Look::Focus(4));
    press(&mut harness, Key::P);
    assert!(says(&harness, "The write head"));
    let heads = (0..4).filter(|head| says(&harness, &format!("Read head R{head}")));
    assert_eq!(heads.count(), 3);
}

