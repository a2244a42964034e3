//! How much heads look at the same rows.

use super::*;

const MATRIX: &str = "overlap of heads: overlap of two weightings";

/// The middle of a cell of the matrix.
fn cell(harness: &Screen, heads: usize, row: usize, column: usize) -> egui::Pos2 {
    let rect = harness.get_by_label_contains(MATRIX).rect();
    let at = |index: usize| (index as f32 + 0.5) / heads as f32;
    rect.left_top() + egui::vec2(rect.width() * at(column), rect.height() * at(row))
}

fn product(harness: &Screen, step: usize, heads: [usize; 2]) -> f32 {
    let trace = &recording(harness).trace;
    let [a, b] = heads.map(|head| trace.heads[head].weighting.row(step));
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn every_head_pair_overlap_can_be_read_and_pinned() {
    let mut harness = paused_with_file("3 reads 2 writes");
    act(&mut harness, Play::Seek(4));
    let at = cell(&harness, 5, 1, 3);
    harness.hover_at(at);
    harness.run_steps(3);
    let readout = harness.state().readout().unwrap().clone();
    assert_eq!(readout.place, "R1 with W0  step 4");
    let found: f32 = readout.value.parse().unwrap();
    assert!((found - product(&harness, 4, [1, 3])).abs() < 1e-6);
    assert!(
        readout
            .meaning
            .contains("overlap of R1 and W0 (0: disjoint")
    );
    assert!(readout.meaning.contains("row 0: "), "{}", readout.meaning);
    harness.drag_at(at);
    harness.run_steps(1);
    harness.drop_at(at);
    harness.run_steps(3);
    let card = harness.state().card().unwrap();
    assert_eq!(card.title, "R1 with W0, overlap");
    // Those of reads, of writes and of all, under the number itself.
    assert_eq!(card.lines.len(), 4);
    for (step, row) in card.table.rows.iter().enumerate() {
        assert!((row[1] - product(&harness, step, [1, 3])).abs() < 1e-6);
    }
}

#[test]
fn penalty_is_shown_at_step_and_over_time() {
    let mut harness = paused_with_file("3 reads 2 writes");
    act(&mut harness, Play::Seek(4));
    let mut cost = 0.0;
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let is_same = f32::from(u8::from(i == j));
        cost += (product(&harness, 4, [i, j]) - is_same).powi(2);
    }
    let rect = harness
        .get_by_label_contains("redundancy of heads, reads: ")
        .rect();
    harness.hover_at(rect.center());
    harness.run_steps(3);
    let readout = harness.state().readout().unwrap().clone();
    let found: f32 = readout.value.parse().unwrap();
    assert!((found - cost).abs() < 1e-5, "{readout:?}");
    assert!(readout.meaning.contains("spread ") && readout.meaning.contains("shared "));
    assert!(readout.meaning.contains("training adds the mean"));
    // Of the heads that do what the one looked at does.
    for (head, who) in [(0, "reads"), (3, "writes")] {
        act(&mut harness, ViewCommand::Focus(head));
        harness.get_by_label_contains(&format!("{who} redundancy of heads that "));
    }
}

#[test]
fn overlap_is_on_demand_in_small_windows_and_absent_for_one_head() {
    let mut harness = window_of(SMALL, Arc::default());
    assert!(!says(&harness, MATRIX) && !has(&harness, "Overlap of heads"));
    open(&mut harness, "7 reads 3 writes");
    assert!(!says(&harness, MATRIX));
    click(&mut harness, "Overlap of heads");
    assert!(says(&harness, MATRIX));
}
