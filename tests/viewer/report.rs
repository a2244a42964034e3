//! Many episodes: a quantity in every step, wrong bits, and what is left without each part.

use super::*;
use tapescope::analysis::expression::Expression;

/// Clicks a row of the result, which may have to be scrolled to.
fn choose(harness: &mut Screen, name: &str) {
    let label = format!("{name}: ");
    let mut rows = harness.query_all_by_label_contains(&label);
    let begins = |node: &egui_kittest::Node<'_>| {
        let found = node.accesskit_node().label();
        found.is_some_and(|found| found.starts_with(&label))
    };
    rows.find(begins).unwrap().click_accesskit();
    drop(rows);
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
    assert_eq!((worst.values.len(), report.share(worst)), (1, 1.0));
    choose(&mut harness, &worst.name);
    assert!(harness.state().dialog.is_none());
    let opened = harness.state().session.request.seed;
    assert_eq!(worst.name, format!("seed {opened}"));
    let wrong = recording(&harness).score.wrong;
    assert_eq!(worst.values, [wrong as f64]);
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
    assert!(whole.is_whole());
    let wrong: Vec<f64> = report.rows[1..].iter().map(|row| row.values[1]).collect();
    assert!(wrong.is_sorted_by(|a, b| a >= b), "{wrong:?}");
    choose(&mut harness, "R0 reads nothing");
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
    // One branch replaces the other.
    choose(&mut harness, "R0 reads nothing");
    press(&mut harness, Key::Q);
    choose(&mut harness, "W0 no add");
    let changes = harness.state().session.request.interventions().join(" ");
    assert_eq!(changes, "0-:write0.add=0");
    // Of another length it is not shown.
    act(&mut harness, Episode::Size(2));
    press(&mut harness, Key::Q);
    assert!(!says(&harness, "R0 reads nothing"));
}

#[test]
fn wrong_bits_need_no_quantity_and_a_table_sorts_and_leaves_as_a_file() {
    let shelf = Arc::new(Shelf::default());
    let mut harness = paused_with(shelf.clone());
    press(&mut harness, Key::Q);
    click(&mut harness, "Measure 100 episodes");
    assert!(says(&harness, "of 100 perfect"));
    click(&mut harness, "Remove each part");
    for head in ["R0", "W0"] {
        assert!(says(&harness, &format!("{head} ")));
    }
    assert!(!says(&harness, "read0"));
    for (at, column) in ["part", "perfect", "wrong bits", "loss in bits"]
        .into_iter()
        .enumerate()
    {
        click(&mut harness, &format!("Sort by {column}"));
        let report = harness.state().report.clone().unwrap();
        assert!(report.rows[0].is_whole() && report.sorted.0 == at);
        let of = |row: &tapescope::viewer::ReportRow| at.checked_sub(1).map(|at| row.values[at]);
        let (first, last) = (&report.rows[1], &report.rows[report.rows.len() - 1]);
        let rises = report.sorted.1;
        assert!(if rises {
            of(first) <= of(last)
        } else {
            of(first) >= of(last)
        });
    }
    for (name, begins) in [("all.csv", "part,"), ("all.svg", "<svg")] {
        click(&mut harness, "Export table");
        act(&mut harness, DialogCommand::Typed(name.to_owned()));
        click(&mut harness, "Save file");
        let written = shelf.figures.lock().unwrap().pop().unwrap();
        assert!(String::from_utf8(written).unwrap().starts_with(begins));
        press(&mut harness, Key::Q);
    }
}

#[test]
fn a_failing_episode_is_explained_by_its_best_repairs() {
    let mut harness = paused();
    let before = recording(&harness).score.wrong;
    assert!(before > 0);
    click(&mut harness, "Explain wrong bits");
    let report = harness.state().report.clone().unwrap();
    assert!(
        report
            .rows
            .iter()
            .any(|row| row.name.starts_with("R0 gate at its mean"))
    );
    let left: Vec<f64> = report.rows.iter().map(|row| row.values[1]).collect();
    assert!(left.is_sorted(), "{left:?}");
    let best = &report.rows[0];
    let is_repaired = best.values[0] >= 0.1;
    assert_eq!(
        report.summary.contains("No single part explains it."),
        !is_repaired
    );
    assert_eq!(report.summary.contains("are left."), is_repaired);
    // A click shows the repair, with as many wrong bits as the table says.
    choose(&mut harness, &best.name);
    assert_eq!(recording(&harness).score.wrong as f64, best.values[1]);
    // It is of this episode alone.
    act(&mut harness, Edit::EndBranch);
    act(&mut harness, Episode::NextSeed);
    press(&mut harness, Key::Q);
    assert!(!says(&harness, "gate at its mean"));
}
