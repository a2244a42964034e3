//! The head looked at: by itself the one with something to say, or the one that a person has chosen.

use super::*;
use tapescope::viewer::StartOptions;
use tapescope::viewer::WindowLayout;

/// On the machine that copies, at its first step.
fn copying() -> Screen {
    let mut options = Options::included(None).with_first("copy");
    options.settings.layout = None;
    let mut harness = window_with(LARGE, options);
    act(&mut harness, Play::First);
    act(&mut harness, Play::Seek(0));
    harness
}

fn label(harness: &Screen) -> String {
    let state = harness.state();
    let open = state.session.open.as_ref().unwrap();
    tapescope::figure::head_label(&open.shown.recording.trace, state.view.focus)
}

/// The labels of the head looked at in every step.
fn labels(harness: &mut Screen) -> Vec<String> {
    let steps = harness.state().player.steps();
    let labels = (0..steps).map(|step| {
        act(harness, Play::Seek(step));
        label(harness)
    });
    labels.collect()
}

#[test]
fn write_head_selected_during_input_read_head_during_answer() {
    let mut harness = copying();
    assert_eq!(harness.state().layout(), WindowLayout::CloseUp);
    let labels = labels(&mut harness);
    let answer = harness.state().session.request.size + 1;
    assert!(
        labels[..answer].iter().all(|label| label == "W0"),
        "{labels:?}"
    );
    assert!(
        labels[answer..].iter().all(|label| label == "R0"),
        "{labels:?}"
    );
    // Nobody has done that.
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(label(&harness), "R0");
    // Nor is it otherwise in an animation, or while it is shown to others.
    assert!(harness.state().moving_figure().heads.is_empty());
    act(&mut harness, Window::TogglePresent);
    act(&mut harness, Play::Seek(3));
    assert_eq!(label(&harness), "W0");
}

#[test]
fn selected_head_stays_through_a_phase() {
    let files = Options::included(None).with_first("recall_four_heads");
    let mut harness = window_with(LARGE, files);
    act(&mut harness, Play::First);
    let mut labels = labels(&mut harness);
    labels.dedup();
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert!(labels[0].starts_with('W') && labels[1].starts_with('R'));
}

#[test]
fn chosen_head_stays_until_unpinned() {
    let mut harness = copying();
    let (reads, steps) = (Key::Num1, harness.state().player.steps());
    press(&mut harness, reads);
    assert_eq!(label(&harness), "R0");
    assert!(labels(&mut harness).iter().all(|label| label == "R0"));
    assert_eq!(harness.state().moving_figure().heads, [0]);
    act(&mut harness, Play::Seek(2));
    press(&mut harness, reads);
    assert_eq!(label(&harness), "W0");
    // That can be undone as any choice can.
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(label(&harness), "R0");
    press_with(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(label(&harness), "W0");
    // Two side by side stay, too.
    act(&mut harness, ViewCommand::Pin(0));
    act(&mut harness, Play::Seek(steps - 1));
    let view = &harness.state().view;
    assert_eq!((view.focus, view.pinned), (1, Some(0)));
}

#[test]
fn requested_head_is_kept() {
    let begin = StartOptions {
        head: Some("R0".to_owned()),
        step: Some(3),
        ..StartOptions::default()
    };
    let options = Options::included(None).with_first("copy");
    let mut harness = window_with(LARGE, Options { begin, ..options });
    assert!(labels(&mut harness).iter().all(|label| label == "R0"));
}

#[test]
fn machines_begin_with_an_input_that_is_neither_blank_nor_full() {
    for machine in Options::included(None).machines {
        let (name, bits) = (machine.name.clone(), machine.task.bits());
        let options = Options::included(None).with_first(&name);
        let harness = window_with(SMALL, options);
        let open = harness.state().session.open.as_ref().unwrap();
        let recording = &open.shown.recording;
        let size = recording.episode.size;
        let drawn = recording.origin.unwrap();
        assert_eq!(drawn.episode, 0);
        let again = recording.task.episode(drawn.seed, 0);
        assert_eq!(again, recording.episode, "{name}: its seed draws it");
        if bits < 4 {
            continue;
        }
        let input = &recording.episode.input;
        let phase = &recording.episode.phases[0];
        let shown = (phase.start..phase.end).filter(|&step| input[[step, bits]] < 0.5);
        for step in shown {
            let bits_on = (0..bits).filter(|&bit| input[[step, bit]] > 0.5);
            let set = bits_on.count();
            assert!(
                (bits..=3 * bits).contains(&(4 * set)),
                "{name}, {size}, step {step}"
            );
        }
    }
}

#[test]
fn first_head_of_repeat_copy_stays_on_written_rows() {
    let mut options = Options::included(None).with_first("repeat_copy");
    options.settings.look.still = true;
    let mut screen = window_with(LARGE, options);
    let answer = recording(&screen).episode.first_scored().unwrap();
    act(&mut screen, Play::Seek(answer + 12));
    let (app, of) = (screen.state(), recording(&screen));
    let head = &of.trace.heads[app.view.focus];
    let peak = |step| tapescope::model::peak(head.weighting.row(step)).unwrap().0;
    let rows: Vec<_> = (answer..of.trace.steps() - 1).map(peak).collect();
    assert!(rows.iter().all(|row| *row <= of.episode.size), "{rows:?}");
}
