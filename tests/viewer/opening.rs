//! The opening: how the first episode of a session is played, and how a person takes over.

use super::motion::first_time;
use super::*;

fn opening() -> Screen {
    let harness = window_with(LARGE, first_time());
    assert!(harness.state().is_opening());
    harness
}

#[test]
fn opening_plays_and_ends_in_the_close_up() {
    let mut harness = opening();
    let (mut walked, mut frames) = (Vec::new(), 0);
    while harness.state().is_opening() && frames < 600 {
        let app = harness.state();
        assert_eq!(app.layout(), WindowLayout::CloseUp);
        assert!(!has(&harness, "Go to next seed"));
        if !app.player.whole_steps() {
            walked.push((app.player.step(), app.player.stage()));
        }
        harness.run_steps(1);
        frames += 1;
    }
    walked.dedup();
    let all = (0..3).flat_map(|step| (0..9).map(move |stage| (step, stage)));
    assert_eq!(walked[..27], all.collect::<Vec<_>>());
    // The first steps of the answer are walked through, too.
    assert!(walked.len() > 40, "{walked:?}");
    assert!(frames > 200, "{frames}");
    harness.run_steps(20);
    let app = harness.state();
    assert_eq!(app.player.step(), app.player.steps() - 1);
    assert!(!app.player.playing() && !app.is_opening());
    assert_eq!(app.layout(), WindowLayout::CloseUp);
    assert!((app.player.speed() - app.usual_speed()).abs() < 1e-9);
    assert!(has(&harness, "Go to next seed"));
    // It is remembered that nobody has chosen.
    assert_eq!(app.settings.layout, None);
    // The next episode is in the same layout.
    act(&mut harness, Episode::NextSeed);
    assert_eq!(harness.state().layout(), WindowLayout::CloseUp);
}

#[test]
fn any_key_or_click_ends_opening() {
    let mut space = opening();
    press(&mut space, Key::Space);
    assert!(!space.state().is_opening() && !space.state().player.playing());
    for key in [Key::Q, Key::Escape, Key::F8] {
        let mut harness = opening();
        harness.run_steps(10);
        let at = harness.state().player.stage();
        press(&mut harness, key);
        let app = harness.state();
        assert!(!app.is_opening() && app.player.playing());
        assert_eq!(app.layout(), WindowLayout::CloseUp);
        assert!((app.player.speed() - app.usual_speed()).abs() < 1e-9);
        assert!(app.player.stage() >= at && app.player.step() == 0);
        assert!(has(&harness, "Go to next seed"));
    }
    let mut harness = opening();
    let middle = egui::pos2(700.0, 420.0);
    harness.hover_at(middle);
    harness.run_steps(5);
    assert!(harness.state().is_opening(), "to look is no click");
    harness.drag_at(middle);
    harness.run_steps(1);
    harness.drop_at(middle);
    harness.run_steps(2);
    assert!(!harness.state().is_opening());
}

#[test]
fn opening_plays_only_at_first_use() {
    let none = |options: Options| {
        let harness = window_with(LARGE, options);
        assert!(!harness.state().is_opening());
        harness
    };
    let mut begin = first_time();
    begin.begin.step = Some(3);
    assert_eq!(step(&none(begin)), 3);
    let mut still = first_time();
    still.settings.look.still = true;
    assert!(!none(still).state().player.playing());
    let mut chosen = first_time();
    chosen.settings.layout = Some(WindowLayout::CloseUp);
    let chosen = none(chosen);
    let app = chosen.state();
    assert!(app.player.playing());
    // Every stage is followed there from the first step on.
    assert_eq!(app.player.speed(), app.usual_speed());
    assert!(app.player.speed() < tapescope::player::NORMAL);
    let mut traced = first_time();
    let Ok(trace) =
        Shelf::default().open(Path::new("again.json"), &|_, _| ControlFlow::Continue(()))
    else {
        panic!("no trace");
    };
    traced.open = Some((PathBuf::from("again.json"), Some(trace)));
    none(traced);
    // The second machine of a session plays as it is.
    let mut harness = opening();
    act(&mut harness, Episode::Machine(1));
    assert!(!harness.state().is_opening());
    press(&mut harness, Key::W);
    click(&mut harness, "Show Copy first");
    assert!(!harness.state().is_opening() && harness.state().player.playing());
}

#[test]
fn opening_hides_future_steps() {
    let mut harness = paused();
    act(&mut harness, Play::Seek(4));
    let well = tapescope::figure::Colours::for_theme(true).well;
    let well = egui::Color32::from_rgb(well[0], well[1], well[2]);
    let veiled = |harness: &Screen, picture: &str| {
        let place = harness.get_by_label_contains(picture).rect();
        let mut shapes = clipping::shapes(harness);
        shapes.find_map(|(shape, _)| match shape {
            egui::Shape::Rect(rect) if rect.fill == well && rect.rect.right() == place.right() => {
                let inside = place.expand(1.0).contains_rect(rect.rect);
                inside.then(|| rect.rect.left() - place.left())
            }
            _ => None,
        })
    };
    let weightings = "weighting of W0: ";
    assert_eq!(veiled(&harness, weightings), None);
    let width = harness.get_by_label_contains(weightings).rect().width();
    press(&mut harness, Key::Space);
    let come = (step(&harness) + 1) as f32 / 11.0;
    let left = veiled(&harness, weightings).unwrap();
    assert!((left - come * width).abs() < 1.0);
    assert!(veiled(&harness, "output: over time").is_some());
    // What the machine is given is there from the start.
    assert_eq!(veiled(&harness, "input: over time"), None);
    press(&mut harness, Key::Space);
    assert_eq!(veiled(&harness, weightings), None);
}
