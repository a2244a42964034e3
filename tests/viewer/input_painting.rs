//! Bits of the input are painted by dragging.

use super::*;

const BITS: &str = "Input bits: click to flip one, drag to paint";

fn input(harness: &Screen, step: usize, channel: usize) -> bool {
    let open = harness.state().session.open.as_ref().unwrap();
    open.shown.recording.episode.input[[step, channel]] > 0.5
}

/// The middle of a bit on screen.
fn place(harness: &Screen, step: usize, channel: usize) -> egui::Pos2 {
    let open = harness.state().session.open.as_ref().unwrap();
    let (steps, channels) = open.shown.recording.episode.input.dim();
    let rect = harness.get_by_label(BITS).rect();
    let share = |index: usize, count: usize| (index as f32 + 0.5) / count as f32;
    rect.min + rect.size() * egui::vec2(share(step, steps), share(channel, channels))
}

fn stroke(harness: &mut Screen, cells: &[(usize, usize)]) {
    for (index, &(step, channel)) in cells.iter().enumerate() {
        let at = place(harness, step, channel);
        harness.hover_at(at);
        if index == 0 {
            harness.drag_at(at);
        }
        harness.run_steps(2);
    }
    let &(step, channel) = cells.last().unwrap();
    harness.drop_at(place(harness, step, channel));
    harness.run_steps(3);
}

#[test]
fn stroke_paints_bits_as_one_change() {
    for first in [0, 1, 2, 3] {
        let mut harness = paused();
        press(&mut harness, Key::E);
        let before: Vec<_> = (0..5).map(|t| input(&harness, t, first)).collect();
        let rest = (0..5).map(|t| input(&harness, t, (first + 1) % 4));
        let rest: Vec<_> = rest.collect();
        // A fast pointer: from the first bit to the last in one frame; on beyond the bits of the task.
        stroke(&mut harness, &[(0, first), (4, first), (8, first)]);
        let after: Vec<_> = (0..5).map(|t| input(&harness, t, first)).collect();
        assert_eq!(after, [!before[0]; 5]);
        for (t, bit) in rest.iter().enumerate() {
            assert_eq!(input(&harness, t, (first + 1) % 4), *bit);
        }
        assert!(!has(&harness, "Note"));
        assert_eq!(harness.state().mark(), Some((8, first)));
        press_with(&mut harness, Modifiers::COMMAND, Key::Z);
        let undone: Vec<_> = (0..5).map(|t| input(&harness, t, first)).collect();
        assert_eq!(undone, before);
        assert!(harness.state().session.request.flipped.is_empty());
    }
}

#[test]
fn strokes_leave_no_gaps() {
    let mut harness = paused();
    press(&mut harness, Key::E);
    let on = !input(&harness, 1, 0);
    stroke(&mut harness, &[(1, 0), (4, 3), (1, 3), (4, 3)]);
    for (step, channel) in [(1, 0), (2, 1), (3, 2), (4, 3), (3, 3), (2, 3), (1, 3)] {
        assert_eq!(input(&harness, step, channel), on, "{step} {channel}");
    }
    // A click alone flips once.
    let before = input(&harness, 0, 1);
    stroke(&mut harness, &[(0, 1)]);
    assert_eq!(input(&harness, 0, 1), !before);
}
