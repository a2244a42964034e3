//! Stages that move: the place within a stage, through the window, with simulated time.

use super::*;
use tapescope::player::MOVE;

/// Of a window that nobody has arranged yet.
pub fn first_time() -> Options {
    Options {
        settings: Settings::read(|key| (key == "greeted").then(|| "yes".to_owned())),
        ..options(Arc::<Shelf>::default())
    }
}

/// The same, at its first step, whole, paused.
fn near() -> Screen {
    let mut harness = window_with(LARGE, first_time());
    press(&mut harness, Key::Escape);
    assert_eq!(harness.state().layout(), WindowLayout::CloseUp);
    if harness.state().player.playing() {
        act(&mut harness, Play::Toggle);
    }
    act(&mut harness, Play::First);
    act(&mut harness, Play::Stage(-1));
    harness
}

fn through(harness: &Screen) -> f32 {
    harness.state().player.through()
}

/// Seconds until the next frame that nobody asks for by moving.
fn delay(harness: &Screen) -> f64 {
    let root = &harness.output().viewport_output[&egui::ViewportId::ROOT];
    root.repaint_delay.as_secs_f64()
}

#[test]
fn key_animates_stage_then_drawing_stops() {
    let mut harness = paused();
    to_stage(&mut harness, "content");
    assert!(through(&harness) >= 1.0 && delay(&harness) > 1.0);
    harness.key_press(Key::Period);
    harness.run_steps(1);
    assert_eq!(stage(&harness), "gate");
    assert!(through(&harness) < 0.3 && delay(&harness) < 0.02);
    let mut before = through(&harness);
    for _ in 0..(MOVE / 0.05) as usize {
        harness.run_steps(1);
        assert!(through(&harness) > before || through(&harness) >= 1.0);
        before = through(&harness);
    }
    harness.run_steps(2);
    assert!(through(&harness) >= 1.0);
    harness.run_steps(30);
    assert!(delay(&harness) > 1.0);
}

#[test]
fn pause_freezes_a_stage_in_the_middle() {
    let mut harness = paused();
    for _ in 0..5 {
        press(&mut harness, Key::OpenBracket);
    }
    press(&mut harness, Key::Space);
    while !(0.2..0.8).contains(&through(&harness)) {
        harness.run_steps(1);
    }
    press(&mut harness, Key::Space);
    let frozen = (stage(&harness), through(&harness));
    assert!(!harness.state().player.playing());
    harness.run_steps(40);
    assert_eq!((stage(&harness), through(&harness)), frozen);
    assert!(delay(&harness) > 1.0);
    press(&mut harness, Key::Period);
    harness.run_steps(10);
    assert_eq!((stage(&harness), through(&harness)), (frozen.0, 1.0));
}

#[test]
fn the_row_of_stages_is_dragged_through() {
    let mut harness = paused();
    let cell = |harness: &Screen, name: &str| harness.get_by_label(name).rect();
    let gate = cell(&harness, "Go to stage gate");
    let shift = cell(&harness, "Go to stage shift");
    drag(&mut harness, gate.center(), shift.center());
    assert_eq!(stage(&harness), "shift");
    assert!((through(&harness) - 0.5).abs() < 0.05);
    harness.run_steps(20);
    assert!((through(&harness) - 0.5).abs() < 0.05);
    click(&mut harness, "Go to stage gate");
    assert_eq!((stage(&harness).as_str(), through(&harness)), ("gate", 1.0));
}

#[test]
fn reduced_motion_disables_stage_animation() {
    let mut harness = paused();
    act(&mut harness, Play::Through(0.5));
    assert!((through(&harness) - 0.5).abs() < 1e-6);
    act(&mut harness, Window::ToggleMotion);
    assert!(through(&harness) >= 1.0);
    for key in [Key::Comma, Key::Comma, Key::Period, Key::Period] {
        harness.key_press(key);
        harness.run_steps(1);
        assert!(through(&harness) >= 1.0);
    }
    harness.run_steps(30);
    assert!(delay(&harness) > 1.0);
}

#[test]
fn layouts_without_stages_do_not_animate() {
    let mut harness = paused();
    press(&mut harness, Key::V);
    assert_eq!(harness.state().layout(), WindowLayout::Paper);
    harness.key_press(Key::Period);
    harness.run_steps(1);
    assert!(through(&harness) >= 1.0);
}

#[test]
fn short_episode_opens_in_close_up_at_slow_speed() {
    let mut harness = window_with(LARGE, first_time());
    assert_eq!(harness.state().layout(), WindowLayout::CloseUp);
    press(&mut harness, Key::Escape);
    let usual = harness.state().player.followed();
    assert!((harness.state().usual_speed() - usual).abs() < 1e-9);
    press(&mut harness, Key::V);
    assert_eq!(harness.state().layout(), WindowLayout::Debug);
    assert!((harness.state().player.speed() - 4.0).abs() < 1e-9);
    // A speed that was chosen stays.
    press(&mut harness, Key::OpenBracket);
    for _ in 0..3 {
        press(&mut harness, Key::V);
    }
    assert_eq!(harness.state().layout(), WindowLayout::CloseUp);
    assert!((harness.state().player.speed() - 2.0).abs() < 1e-9);
}

#[test]
fn a_long_episode_opens_on_all_stages() {
    let mut long = first_time();
    let task = Task::Copy(Copy {
        bits: 4,
        length: 40..=40,
    });
    long.machines[0].task = task;
    let harness = window_with(LARGE, long);
    assert_eq!(harness.state().layout(), WindowLayout::Debug);
}

#[test]
fn close_up_shows_selected_and_pinned_head() {
    let mut harness = near();
    let heads = |harness: &Screen| harness.state().figure().heads;
    press(&mut harness, Key::Num1);
    assert_eq!(heads(&harness), [0]);
    act(&mut harness, ViewCommand::Pin(1));
    assert_eq!(heads(&harness), [0, 1]);
    press(&mut harness, Key::Num2);
    assert_eq!(heads(&harness)[0], 1);
}

#[test]
fn shortcut_exports_animation_of_marked_range() {
    let shelf = Arc::<Shelf>::default();
    let mut harness = paused_with(shelf.clone());
    let steps = |harness: &Screen| harness.state().moving_figure().steps.unwrap();
    for (at, about) in [(0, 0..8), (5, 3..11), (10, 3..11)] {
        act(&mut harness, Play::Seek(at));
        assert_eq!(steps(&harness), about);
    }
    act(&mut harness, Play::LoopRange(Some((2, 2))));
    assert_eq!(steps(&harness), 2..3);
    press(&mut harness, Key::M);
    assert!(says(&harness, "The close-up in motion"));
    let path = PathBuf::from("two.gif");
    act(
        &mut harness,
        File::Chosen(FilePurpose::Motion, path.clone()),
    );
    assert_eq!(shelf.saved.lock().unwrap().last(), Some(&path));
    let bytes = shelf.figures.lock().unwrap()[0].clone();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut decoder = options.read_info(&bytes[..]).unwrap();
    assert_eq!((decoder.width(), decoder.height()), (1200, 630));
    let mut frames = 0;
    while decoder.read_next_frame().unwrap().is_some() {
        frames += 1;
    }
    assert!(frames > 20, "{frames} frames");
    // What is there is asked about, and stays an animation.
    act(&mut harness, File::Film(path, false));
    assert!(has(&harness, "Replace file") && says(&harness, "The close-up in motion"));
    let other = File::Chosen(FilePurpose::Motion, PathBuf::from("two.svg"));
    act(&mut harness, other);
    assert!(says(&harness, "ending in .gif or .png"));
}
