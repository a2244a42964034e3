//! Many episodes: a quantity in every step, wrong bits, and what is left without each part.

use super::*;
use tapescope::analysis::expression::Expression;

/// Clicks a row of the result, which may have to be scrolled to.
fn choose(harness: &mut Screen, [what, result]: &[String; 2]) {
    let label = format!("{what}: {result}");
    harness.get_by_label(&label).click_accesskit();
    harness.run_steps(3);
}

/// The dialog with this quantity.
fn asked(quantity: &str) -> Screen {
    let mut harness = paused();
    press(&mut harness, Key::Q);
    type_into(&mut harness, "Quantity", quantity);
    harness
}

#[test]
fn a_quantity_is_measured_and_the_worst_episode_opens() {
    let mut harness = asked("entropy(read0.weighting)");
    click(&mut harness, "Measure 100 episodes");
    let report = harness.state().report.clone().unwrap();
    let seed = harness.state().session.request.seed;
    assert!(
        report
            .title
            .contains(&format!("seeds {seed} to {}", seed + 99))
    );
    harness.get_by_label("entropy(read0.weighting)");
    let chart = &report.charts[0];
    assert_eq!(
        chart.lines[1].points.len(),
        recording(&harness).trace.steps()
    );
    // The rows are the worst of all episodes.
    let worst = &report.rows[0];
    assert_eq!(worst.heat, 1.0);
    choose(&mut harness, &worst.words);
    assert!(harness.state().dialog.is_none());
    let opened = harness.state().session.request.seed;
    assert_eq!(worst.words[0], format!("seed {opened}"));
    let wrong = recording(&harness).score.wrong;
    assert_eq!(worst.words[1], format!("{wrong} wrong bits"));
    // The same value as in the episode itself, of which there are many.
    let loss = Expression::parse("entropy(read0.weighting)").unwrap();
    let loss = loss.quantity(&recording(&harness).trace).unwrap();
    let value = loss.values(recording(&harness), 0).unwrap()[0];
    let [low, high] = chart.lines[0].band[0];
    assert!(
        low - 1e-6 <= value && value <= high + 1e-6,
        "{value} in {low} to {high}"
    );
}

#[test]
fn a_wrong_quantity_is_not_measured() {
    let mut harness = asked("entropy(");
    press(&mut harness, Key::Enter);
    assert!(harness.state().report.is_none());
    assert!(says(&harness, "expected a"));
}

#[test]
fn parts_are_removed_and_a_click_opens_the_branch() {
    let mut harness = asked("");
    click(&mut harness, "Remove each part");
    let report = harness.state().report.clone().unwrap();
    assert!(report.charts.is_empty());
    let whole = &report.rows[0];
    assert!(whole.words[0].starts_with("whole") && whole.changes.is_empty());
    let heats: Vec<f64> = report.rows[1..].iter().map(|row| row.heat).collect();
    assert!(heats.is_sorted_by(|a, b| a >= b), "{heats:?}");
    let row = report
        .rows
        .iter()
        .find(|row| row.words[0] == "read0 reads nothing")
        .unwrap();
    choose(&mut harness, &row.words);
    assert_eq!(
        harness.state().session.request.interventions(),
        ["0-:read0.read=0"]
    );
    assert!(harness.state().dialog.is_none());
    let read = recording(&harness).trace.heads[0].read.clone();
    assert!(read.as_slice().iter().all(|value| *value == 0.0));
}

#[test]
fn a_report_is_shown_for_its_own_episodes_only() {
    let mut harness = asked("");
    click(&mut harness, "Remove each part");
    let rows = harness.state().report.clone().unwrap().rows;
    let words = |name: &str| {
        let row = rows.iter().find(|row| row.words[0] == name).unwrap();
        row.words.clone()
    };
    // One branch replaces the other.
    choose(&mut harness, &words("read0 reads nothing"));
    press(&mut harness, Key::Q);
    choose(&mut harness, &words("write0 no add"));
    let changes = harness.state().session.request.interventions().join(" ");
    assert_eq!(changes, "0-:write0.add=0");
    // Of another length it is not shown.
    act(&mut harness, Episode::Size(2));
    press(&mut harness, Key::Q);
    assert!(!says(&harness, "read0 reads nothing"));
}
