//! Numbers are copied from every picture, by a right click.

use egui::accesskit::Role;
use egui_kittest::kittest::NodeT;

use tapescope::viewer::{StartOptions, Target};

use super::*;

/// Pictures of words and lines: there are no numbers behind them.
const WITHOUT_NUMBERS: [&str; 3] = ["Ruler: ", "Movement of ", " moves: "];

/// The names of all pictures with numbers.
fn pictures(harness: &Screen) -> Vec<String> {
    let nodes = harness.root().children_recursive();
    let images = nodes.filter(|node| node.accesskit_node().role() == Role::Image);
    let labels = images.filter_map(|node| node.accesskit_node().label());
    labels
        .filter(|label| !WITHOUT_NUMBERS.iter().any(|part| label.contains(part)))
        .collect()
}

/// What the menu offers: the text behind every entry is copied once.
fn every_copy_format_is_offered(harness: &mut Screen, picture: &str) {
    harness.get_by_label(picture).click_secondary();
    harness.run_steps(3);
    for form in ["TSV", "JSON", "NumPy"] {
        let nodes = harness.root().children_recursive();
        let labels = nodes.filter_map(|node| node.accesskit_node().label());
        let offers = labels
            .filter(|label| label.starts_with("Copy ") && label.ends_with(&format!(" as {form}")));
        // A line, a column, all; and the command of the list of keys is not on screen.
        assert_eq!(offers.count(), 3, "{picture}: {form}");
    }
    assert!(
        harness.query_by_label_contains("Copy value (").is_some(),
        "{picture}"
    );
    press(harness, Key::Escape);
    assert!(!says(harness, "Copy value ("));
}

fn all_numbers_are_copied(harness: &mut Screen, least: usize) {
    let pictures = pictures(harness);
    assert!(pictures.len() >= least, "{pictures:?}");
    for picture in pictures {
        every_copy_format_is_offered(harness, &picture);
    }
}

#[test]
fn every_picture_offers_its_numbers() {
    all_numbers_are_copied(&mut paused(), 22);
}

#[test]
fn pictures_of_other_machines_offer_numbers() {
    for (name, least) in [("9 reads 2 writes", 30), ("0 reads 0 writes", 4)] {
        let mut harness = paused_with_file(name);
        all_numbers_are_copied(&mut harness, least);
    }
    let mut harness = paused();
    act(&mut harness, Rows::ToggleTouched);
    act(&mut harness, Rows::Taller(1));
    every_copy_format_is_offered(&mut harness, "all rows: drag to move the rows on screen");
    act(&mut harness, ViewCommand::AllHeads);
    all_numbers_are_copied(&mut harness, 12);
}

#[test]
fn paper_layout_offers_numbers() {
    let mut harness = paused();
    act(&mut harness, ViewCommand::NextLayout);
    all_numbers_are_copied(&mut harness, 6);
}

#[test]
fn copied_value_is_value_under_pointer() {
    let mut harness = paused();
    act(&mut harness, Play::Seek(4));
    harness.get_by_label_contains("W0 gate: ").click_secondary();
    harness.run_steps(3);
    let open = harness.state().session.open.clone().unwrap();
    let head = &open.shown.recording.trace.heads[1];
    harness
        .get_by_label("Copy gated: 16 values as JSON")
        .click();
    let copied = copied(&mut harness);
    let values: Vec<_> = head.gated.row(4).iter().map(f32::to_string).collect();
    let expected = format!("\"W0 at step 4 gated\": [{}]}}", values.join(", "));
    assert!(copied.ends_with(&expected), "{copied} {expected}");
}

/// Without the feature `clipboard` of eframe a copy reaches no other program.
#[test]
fn a_copy_reaches_the_clipboard_of_the_desktop() {
    let of_winit = [
        "tree",
        "--offline",
        "--locked",
        "--edges",
        "features",
        "--invert",
        "egui-winit",
    ];
    let tree = std::process::Command::new(env!("CARGO"))
        .args(of_winit)
        .args(["--package", "tapescope"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let features = String::from_utf8(tree.stdout).unwrap();
    assert!(
        features.contains("egui-winit feature \"clipboard\""),
        "{features}"
    );
}

#[test]
fn the_name_of_a_value_is_copied_and_pins_it_again() {
    let mut harness = paused();
    act(&mut harness, Play::Seek(4));
    harness.get_by_label_contains("W0 gate: ").click_secondary();
    harness.run_steps(3);
    harness
        .get_by_label_contains("Copy name write0.gated[")
        .click();
    let name = copied(&mut harness);
    let begin = StartOptions {
        pin: Some(name.clone()),
        ..StartOptions::default()
    };
    let mut options = Options::included(None).with_first("copy");
    options.begin = begin;
    let mut harness = window_with(LARGE, options);
    let row = name
        .trim_start_matches("write0.gated[")
        .trim_end_matches(']');
    assert!(says(&harness, &format!("W0 row {row}")), "{name}");
    // The pinned value is in the link.
    let context = harness.ctx.clone();
    let state = harness.state_mut();
    state.apply(&context, vec![File::CopyLink.into()]);
    let link = copied(&mut harness);
    assert!(link.contains(&format!("pin={name}")), "{link}");
    // Pinned by a click, it is what the click shows.
    act(&mut harness, ViewCommand::Select(Target::Row(5)));
    let pinned = harness.state().pinned_value().unwrap();
    assert_eq!(
        pinned.name(&recording(&harness).trace),
        "write0.weighting[5]"
    );
}
