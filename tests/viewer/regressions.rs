//! What was once seen in the window and mended, each with what was wrong.

use egui::{Context, RawInput, Rect};
use egui_kittest::Node;

use super::clipping::{shapes, texts};
use super::*;

/// One frame at a time in seconds, and how long it may stay.
fn frame(ctx: &Context, app: &mut App, time: f64) -> f64 {
    let input = RawInput {
        screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, LARGE)),
        time: Some(time),
        ..RawInput::default()
    };
    let output = ctx.run_ui(input, |ui| app.frame_ui(ui));
    let root = &output.viewport_output[&egui::ViewportId::ROOT];
    root.repaint_delay.as_secs_f64()
}

fn dressed() -> Context {
    let ctx = Context::default();
    tapescope::viewer::apply_theme(&ctx);
    ctx
}

/// How often a window is drawn that is drawn when it asks to be, at most 60 times a second.
fn frames_within(seconds: f64, app: &mut App) -> usize {
    let (ctx, mut time, mut frames) = (dressed(), 0.0, 0);
    while time < seconds {
        time += frame(&ctx, app, time).max(1.0 / 60.0);
        frames += 1;
    }
    frames
}

#[test]
fn playback_draws_one_frame_per_step() {
    let machine = machine("first", 1);
    let task = machine.task.with_size(5);
    let mut app = App::headless(Options {
        machines: vec![Machine { task, ..machine }],
        ..options(Arc::<Shelf>::default())
    });
    let frames = frames_within(2.1, &mut app);
    assert_eq!(app.player.step(), 8, "four steps a second");
    // The first ones settle.
    assert!(frames <= 8 + 4, "{frames} frames");
    app.apply(&dressed(), vec![Command::Play(Play::Toggle)]);
    let frames = frames_within(60.0, &mut app);
    assert!(frames <= 4, "{frames} frames of a window that stands still");
}

#[test]
fn hidden_window_does_not_skip_steps() {
    let (ctx, mut app) = (dressed(), App::headless(options(Arc::<Shelf>::default())));
    for time in [0.0, 0.1, 60.0] {
        frame(&ctx, &mut app, time);
    }
    assert!(app.player.step() <= 2, "{}", app.player.step());
}

#[test]
fn repeated_message_appears_once() {
    let mut harness = paused();
    for _ in 0..2 {
        act(&mut harness, File::Open(PathBuf::from("nowhere.json")));
    }
    assert_eq!(
        harness
            .query_all_by_label("nowhere.json does not exist.")
            .count(),
        1
    );
}

#[test]
fn going_to_a_step_stays_there() {
    let mut harness = paused();
    act(&mut harness, Play::Toggle);
    press(&mut harness, Key::G);
    harness.event(egui::Event::Text("3".to_owned()));
    harness.run_steps(2);
    press(&mut harness, Key::Enter);
    assert!(!harness.state().player.playing());
    assert_eq!(step(&harness), 3);
}

#[test]
fn a_seed_keeps_all_its_digits() {
    const SEED: u64 = (1 << 53) + 1;
    let mut harness = paused();
    act(&mut harness, Episode::Seed(SEED));
    let mut shown = texts(&harness).map(|(text, _)| text.galley.text());
    assert!(shown.any(|text| text == SEED.to_string()));
}

#[test]
fn compared_names_show_both_ends() {
    let mut harness = paused();
    act(&mut harness, Compare::KeepAsA);
    act(&mut harness, Episode::Machine(1));
    harness.set_size(SMALL);
    harness.run_steps(3);
    let names = harness.query_all_by(|node| {
        let label = node.label().unwrap_or_default();
        label.starts_with("A  ") || label.starts_with("B  ")
    });
    let names: Vec<String> = names
        .map(|node| node.accesskit_node().label().unwrap_or_default())
        .collect();
    assert_eq!(names.len(), 2);
    assert!(names.iter().all(|name| !name.ends_with('…')), "{names:?}");
}

#[test]
fn oversized_scale_is_reported() {
    let mut harness = paused();
    act(&mut harness, Window::Scale(130));
    assert!(!says(&harness, "This window has room"));
    act(&mut harness, Window::Scale(200));
    harness.get_by_label("This window has room for 150 %; enlarge it for more.");
}

/// The colours of the filled triangles on screen: the signs of write heads.
fn writing_colours(trace: &str) -> Vec<egui::Color32> {
    let mut harness = paused();
    act(&mut harness, File::Open(PathBuf::from(trace)));
    let mut inks: Vec<_> = shapes(&harness)
        .filter_map(|(shape, _)| match shape {
            egui::Shape::Path(path) if path.closed && path.points.len() == 3 => Some(path.fill),
            _ => None,
        })
        .filter(egui::Color32::is_opaque)
        .collect();
    inks.dedup();
    inks
}

#[test]
fn head_hue_is_the_same_in_every_machine() {
    let alone = writing_colours("1 reads 1 writes");
    assert!(!alone.is_empty());
    assert_eq!(alone, writing_colours("4 reads 1 writes"));
}

#[test]
fn comparison_timeline_is_below_pictures() {
    let mut harness = paused();
    act(&mut harness, Compare::KeepAsA);
    act(&mut harness, Episode::NextSeed);
    let at = |name: &str| {
        let label = |node: &Node<'_>| node.accesskit_node().label().unwrap_or_default();
        let mut pictures = harness.get_all_by_role(egui::accesskit::Role::Image);
        pictures
            .find(|node| label(node).starts_with(name))
            .unwrap()
            .rect()
    };
    let (timeline, above) = (at("Timeline:"), at("A: outputs:"));
    assert!((timeline.left() - above.left()).abs() < 1.0);
    assert!((timeline.right() - above.right()).abs() < 1.0);
}

#[test]
fn labels_do_not_repeat_numbers_or_titles() {
    let mut harness = paused();
    act(&mut harness, ViewCommand::NextScale);
    let shown: Vec<_> = texts(&harness)
        .map(|(text, _)| (text.pos.x, text.galley.text()))
        .collect();
    let is_numbers = |x: f32| x > 1440.0 - 268.0;
    let has = |words: &str| {
        shown
            .iter()
            .any(|(x, text)| is_numbers(*x) && *text == words)
    };
    assert!(has("GATE") && has("g") && has("sharpening"));
    assert!(!has("gate"), "the heading says it already");
    assert!(!shown.iter().any(|(_, text)| text.contains(".0e")));
}

#[test]
fn step_is_kept_for_changed_episode() {
    let mut harness = paused();
    let length = |harness: &Screen| harness.state().session.request.size;
    let all = length(&harness);
    act(&mut harness, Play::Seek(6));
    for (command, stands) in [
        (Command::Episode(Episode::Size(all - 1)), 6),
        (Command::Episode(Episode::NextSeed), 6),
        (Command::Edit(Edit::Flip(1, 1)), 6),
        (Command::Edit(Edit::Undo), 6),
        (Command::Edit(Edit::Redo), 6),
        // What lies beyond the end becomes the last: two vectors take five steps.
        (Command::Episode(Episode::Size(2)), 4),
        (Command::Edit(Edit::Undo), 4),
        // Another machine tells another story.
        (Command::Episode(Episode::Machine(1)), 0),
    ] {
        act(&mut harness, command.clone());
        assert_eq!(step(&harness), stands, "{command:?}");
    }
    act(&mut harness, Play::Seek(3));
    act(&mut harness, Edit::Undo);
    assert_eq!((step(&harness), length(&harness)), (3, all - 1));
}

#[test]
fn folding_timeline_keeps_playing() {
    let mut harness = paused();
    act(&mut harness, Window::ToggleTimeline);
    assert!(!says(&harness, "Timeline:"));
    for label in ["Go to next step", "Play faster"] {
        click(&mut harness, label);
    }
    click(&mut harness, "Play");
    assert!(step(&harness) > 0 && harness.state().player.playing());
}

#[test]
fn file_is_replaced_only_after_confirmation() {
    let shelf = Arc::<Shelf>::default();
    let mut harness = paused_with(shelf.clone());
    let saved = || shelf.saved.lock().unwrap().len();
    let figure = DialogCommand::For(Subject::File(FilePurpose::Figure(Format::Svg)));
    let save = DialogCommand::For(Subject::File(FilePurpose::Save));
    for (command, typed, count) in [
        (&figure, "one.svg", 1),
        (&figure, "one.svg", 1),
        (&save, "one.json", 2),
        (&save, "one.json", 2),
    ] {
        act(&mut harness, Command::Dialog(command.clone()));
        act(&mut harness, DialogCommand::Typed(typed.to_owned()));
        press(&mut harness, Key::Enter);
        assert_eq!(saved(), count, "{typed}");
        let is_asked = says(&harness, "already exists.");
        assert_eq!(is_asked, harness.query_by_label("Replace file").is_some());
        assert_eq!(is_asked, harness.state().dialog.is_some());
        press(&mut harness, Key::Escape);
    }
    act(&mut harness, File::Save("one.svg".into(), false));
    click(&mut harness, "Replace file");
    assert_eq!((saved(), harness.state().dialog.is_none()), (3, true));
}

#[test]
fn messages_name_the_folder_of_a_file() {
    let mut harness = paused_with(Arc::new(Disk));
    let path = std::path::absolute("no such folder/figure.svg").unwrap();
    act(
        &mut harness,
        File::Save("no such folder/figure.svg".into(), false),
    );
    let there = path.display().to_string();
    assert!(harness.query_by_label_contains(&there).is_some(), "{there}");
}

#[test]
fn step_and_description_are_above_stage_names() {
    for size in [LARGE, SMALL] {
        let mut options = Options::included(None).with_first("ngrams");
        options.settings.look.still = true;
        let mut harness = window_with(size, options);
        act(&mut harness, Play::Seek(60));
        let shown: Vec<_> = texts(&harness)
            .map(|(text, _)| (text.galley.text(), text.visual_bounding_rect()))
            .collect();
        let at = |is: &dyn Fn(&str) -> bool| shown.iter().find(|(text, _)| is(text)).unwrap().1;
        let step = at(&|text| text.starts_with("step 60  "));
        let sentence = at(&|text| text.starts_with("R0 reads"));
        let names = at(&|text| text == "sharpen");
        assert!(step.bottom() <= sentence.top() + 2.0, "{size}");
        assert!(
            sentence.bottom() <= names.top() + 2.0,
            "{size}: {sentence} {names}"
        );
    }
}

/// On a machine inside the binary, at a step.
fn included(name: &str, at: usize, files: Arc<dyn Files>) -> Harness<'static, App> {
    let mut options = Options::included(None).with_first(name);
    (options.settings.look.still, options.files) = (true, files);
    let mut harness = window_with(Vec2::new(1440.0, 900.0), options);
    act(&mut harness, Play::Seek(at));
    harness
}

#[test]
fn spread_out_head_touches_no_row() {
    let harness = included("associative_recall", 20, Arc::<Shelf>::default());
    let shown = harness.state().whole().unwrap().shown();
    assert!((20..64).contains(&shown), "{shown} rows of 128");
    let is_said = |text: &str| text.ends_with(" untouched rows: no weight of 0.05 or more");
    assert!(texts(&harness).any(|(text, _)| is_said(text.galley.text())));
    harness.get_by_label("touched: weight of 0.05 or more");
}

#[test]
fn match_with_unwritten_rows_is_faint() {
    let cover = egui::Color32::from_rgb(0x0b, 0x0c, 0x0f).gamma_multiply(0.7);
    let shelf = Arc::<Shelf>::default();
    let mut harness = included("copy", 5, shelf.clone());
    let mut covered = |step: usize| {
        act(&mut harness, Play::Seek(step));
        let is_cover = |shape: &egui::Shape| match shape {
            egui::Shape::Rect(rect) if rect.fill == cover => Some(rect.rect.height()),
            _ => None,
        };
        let height: f32 = shapes(&harness)
            .filter_map(|(shape, _)| is_cover(shape))
            .sum();
        act(&mut harness, File::Save("figure.svg".into(), true));
        let figure = shelf.figures.lock().unwrap().pop().unwrap();
        let faint = String::from_utf8(figure)
            .unwrap()
            .matches("opacity=\"0.7\"")
            .count();
        assert_eq!(faint > 0, height > 0.0, "{step}");
        height
    };
    // From step to step a row more is written.
    let [before, after] = [5, 15].map(&mut covered);
    assert!(before > after && after > 0.0, "{before} {after}");
    harness.get_by_label_contains("faint match: no write of 5 % yet");
}

#[test]
fn reading_every_format_reports_progress_and_can_be_cancelled() {
    use std::cell::RefCell;
    let folder = tempfile::tempdir().unwrap();
    let mut harness = paused_with(Arc::new(Disk));
    act(&mut harness, Episode::Rows(2048));
    for end in ["json", "json.gz", "npz"] {
        let path = folder.path().join(format!("trace.{end}"));
        act(&mut harness, File::Save(path.clone(), false));
        let told = RefCell::new(Vec::new());
        let opened = Disk.open(&path, &|done, all| {
            told.borrow_mut().push(done as f32 / all as f32);
            ControlFlow::Continue(())
        });
        assert!(opened.is_ok(), "{end}");
        let told = told.into_inner();
        let most = told.iter().copied().fold(0.0, f32::max);
        let midway = told.iter().any(|share| (0.3..0.7).contains(share));
        assert!(midway && (0.8..=1.0).contains(&most), "{end}: {most}");
        let given_up = Disk.open(&path, &|done, all| {
            if done > all / 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert!(given_up.is_err(), "{end}");
    }
}

#[test]
fn large_comparison_file_is_read_in_background() {
    let app = App::headless(Options {
        compare: Some(("changed.json".into(), None)),
        ..options(Arc::<Shelf>::default())
    });
    assert!(app.session.open.is_some() && app.comparing.baseline.is_some());
}

/// The lower end of everything that was said in a message.
fn message(screen: &Screen) -> egui::Rect {
    screen.get_all_by_label("Dismiss").last().unwrap().rect()
}

#[test]
fn messages_leave_the_timeline_of_the_close_up_alone() {
    for size in [LARGE, SMALL] {
        let mut screen = window_of(size, Arc::default());
        act(&mut screen, Play::Seek(0));
        while screen.state().layout() != WindowLayout::CloseUp {
            press(&mut screen, Key::V);
        }
        act(&mut screen, File::Open("nowhere.json".into()));
        screen.run_steps(3);
        let below = message(&screen).bottom();
        let pictures = screen.query_all_by(|node| node.role() == egui::accesskit::Role::Image);
        let lowest = pictures
            .map(|node| node.rect())
            .filter(|rect| rect.width() > 300.0);
        let strip = lowest.max_by(|a, b| a.top().total_cmp(&b.top())).unwrap();
        assert!(below <= strip.top(), "{below} and {strip:?}");
    }
}

#[test]
fn the_tooltip_of_the_training_timeline_leaves_the_buttons_alone() {
    let mut screen = learn::learning_in(SMALL, &[]);
    screen.run_steps(3);
    let lane = screen.get_by_label_contains("Training snapshots: ").rect();
    screen.hover_at(lane.center());
    screen.run_steps(40);
    let tooltip =
        clipping::texts(&screen).map(|(text, _)| (text.galley.text(), text.visual_bounding_rect()));
    let mut tooltip = tooltip.filter(|(text, _)| text.contains("triangles are findings"));
    let (_, tooltip) = tooltip.next().expect("a tooltip");
    let buttons = screen.get_by_label("Pause training").rect();
    assert!(
        tooltip.bottom() <= buttons.top(),
        "{tooltip:?} and {buttons:?}"
    );
}

#[test]
fn learning_charts_are_whole_and_have_numbers() {
    let mut screen = learn::learning_in(LARGE, &[]);
    screen.run_steps(60);
    clipping::is_whole(&screen, "learning");
    let texts: Vec<_> = clipping::texts(&screen)
        .map(|(text, _)| text.galley.clone())
        .collect();
    let caption = texts
        .iter()
        .find(|text| text.text().starts_with("0: every bit right"));
    assert!(!caption.unwrap().elided);
    let top = screen.get_by_label("Wrong bits").rect().top();
    for number in ["50 %", "1", "4"] {
        let mut below = clipping::texts(&screen).filter(|(text, _)| text.pos.y > top);
        assert!(
            below.any(|(text, _)| text.galley.text() == number),
            "{number}"
        );
    }
}

#[test]
fn the_curve_of_a_card_leaves_its_number_alone() {
    let mut screen = parallel_runs::several(LARGE, 4);
    screen.run_steps(30);
    let numbers = clipping::texts(&screen).filter(|(text, _)| {
        let text = text.galley.text();
        text.ends_with(" bits") && text.split(' ').count() == 2
    });
    let numbers: Vec<_> = numbers
        .map(|(text, _)| text.visual_bounding_rect())
        .collect();
    assert!(numbers.len() >= 4);
    for (shape, _) in clipping::shapes(&screen) {
        let egui::Shape::Path(path) = shape else {
            continue;
        };
        for number in &numbers {
            let inside = path
                .points
                .iter()
                .find(|point| number.shrink(2.0).contains(**point));
            assert!(path.closed || inside.is_none(), "{inside:?} in {number:?}");
        }
    }
}

#[test]
fn the_path_of_an_answer_ends_at_its_bit() {
    let mut screen = window_of(LARGE, Arc::default());
    while screen.state().layout() != WindowLayout::CloseUp {
        press(&mut screen, Key::V);
    }
    act(&mut screen, Play::Last);
    act(&mut screen, Play::Step(-1));
    screen.run_steps(3);
    let stack = screen.get_by_label("output: at this step").rect();
    for bit in [0.0, 3.0] {
        let y = stack.top() + stack.height() * (bit + 0.5) / 4.0;
        screen.hover_at(egui::pos2(stack.center().x, y));
        screen.run_steps(3);
        let ends = clipping::shapes(&screen).filter_map(|(shape, _)| match shape {
            egui::Shape::Path(path) if path.closed && path.points.len() == 3 => path.points.first(),
            _ => None,
        });
        let ends: Vec<_> = ends
            .filter(|tip| (tip.x - stack.left()).abs() < 1.0)
            .collect();
        assert!(
            ends.iter().any(|tip| (tip.y - y).abs() < 1.0),
            "{y} and {ends:?}"
        );
    }
}

#[test]
fn a_symbol_stays_with_its_number() {
    let mut screen = window_of(SMALL, Arc::default());
    to_stage(&mut screen, "content");
    screen.run_steps(3);
    let mut texts = clipping::texts(&screen);
    assert!(texts.any(|(text, _)| text.galley.text().contains(", β\u{a0}")));
}

#[test]
fn an_opened_trace_is_verified_and_its_first_difference_is_a_click_away() {
    let folder = tempfile::tempdir().unwrap();
    let machine = machine("first", 1);
    for is_changed in [false, true] {
        let mut recording = Recording::new(&machine.ntm, &machine.task.clone().with_size(5), 1, 0);
        if is_changed {
            recording.trace.heads[0].weighting.row_mut(4)[7] = 7.5;
        }
        let config = Some(machine.ntm.config.clone());
        let shown = RecordedEpisode::of_file("theirs".to_owned(), recording, config);
        let path = folder.path().join(format!("{is_changed}.ntmtrace.json"));
        Disk.save_trace(&path, &shown).unwrap();
        let mut harness = paused_with(Arc::new(Disk));
        act(&mut harness, File::Open(path));
        assert_eq!(has(&harness, "verified"), !is_changed);
        if is_changed {
            assert!(says(&harness, "read0.weighting[4, 7]: recorded 7.5"));
            act(&mut harness, DialogCommand::Escape);
            click(&mut harness, "differs at step 4");
            let app = harness.state();
            assert_eq!((step(&harness), app.view.focus), (4, 0));
        }
    }
}

#[test]
fn a_click_on_the_answer_goes_from_one_wrong_bit_to_the_next() {
    let mut harness = paused();
    let (words, of) = (recording(&harness).wrong_of_scored(), recording(&harness));
    let bits = (0..of.trace.steps()).flat_map(|step| (0..4).map(move |bit| (step, bit)));
    let wrong: Vec<_> = bits.filter(|&(step, bit)| of.is_wrong(step, bit)).collect();
    assert!(wrong.len() > 2, "{wrong:?}");
    for &(at, bit) in wrong.iter().chain([&wrong[0]]) {
        click(&mut harness, &words);
        let app = harness.state();
        assert_eq!((app.player.step(), app.pinned_bit()), (at, Some(bit)));
    }
}

#[test]
fn toolbar_stays_in_place_when_the_tour_begins() {
    let mut harness = paused();
    act(&mut harness, Tour::Greet);
    let theme = |harness: &Screen| harness.get_by_label("Change theme").rect();
    let before = theme(&harness);
    click(&mut harness, "Start tour");
    assert_eq!(theme(&harness), before);
}

#[test]
fn another_seed_says_that_it_drops_the_edited_input() {
    let mut harness = paused();
    act(&mut harness, Edit::Flip(1, 2));
    click(&mut harness, "Go to next seed");
    assert_eq!(harness.state().session.request.seed, 2);
    assert!(says(&harness, "Ctrl+Z restores"));
    act(&mut harness, DialogCommand::Escape);
    click(&mut harness, "Go to next seed");
    assert!(!says(&harness, "Ctrl+Z restores"));
}

#[test]
fn a_change_of_layout_shows_no_message_and_slow_speed_is_told_in_seconds() {
    let mut harness = paused();
    for _ in 0..4 {
        act(&mut harness, ViewCommand::NextLayout);
        assert!(harness.state().toasts.shown.is_empty());
    }
    act(&mut harness, Play::NormalSpeed);
    while harness.state().player.speed() > 0.125 {
        act(&mut harness, Play::Faster(-1));
    }
    let mut shown = texts(&harness);
    assert!(shown.any(|(text, _)| text.galley.text() == "8 s per step"));
}

#[test]
fn a_typed_value_replaces_the_present_one() {
    let mut harness = paused();
    press(&mut harness, Key::B);
    harness.run_steps(2);
    type_into(&mut harness, "Value to set", "0.5");
    let text = harness.state().dialog.as_ref().unwrap().text.clone();
    assert!(text.ends_with("=0.5"), "{text}");
    act(
        &mut harness,
        DialogCommand::Typed("0:read0.shift=0,0,1".to_owned()),
    );
    press(&mut harness, Key::Enter);
    assert!(says(&harness, "0:read0.shift=["));
}

#[test]
fn browse_without_a_dialog_of_the_desktop_says_so() {
    let mut harness = paused();
    press_with(&mut harness, Modifiers::COMMAND, Key::O);
    click(&mut harness, "Browse …");
    assert!(says(&harness, "shows no file dialog"));
}

#[test]
fn an_unavailable_button_has_its_reason_under_the_pointer() {
    let mut harness = paused_with_file("reader of bits");
    let button = harness.get_by_label("Compare with NTM");
    assert!(button.accesskit_node().is_disabled());
    let at = button.rect().center();
    harness.hover_at(at);
    harness.run_steps(20);
    assert!(says(&harness, "Not available: "));
}

#[test]
fn left_panel_lies_beside_its_scroll_bar() {
    let mut options = Options::included(None);
    options.settings.look.still = true;
    let mut harness = window_with(SMALL, options);
    act(&mut harness, ViewCommand::NextLayout);
    let button = harness.get_by_label("Go to next seed").rect();
    harness.hover_at(button.center());
    harness.run_steps(10);
    let bars = shapes(&harness).filter_map(|(shape, _)| match shape {
        egui::Shape::Rect(bar) => Some(bar.rect),
        _ => None,
    });
    let is_bar = |bar: &Rect| bar.height() > 60.0 && bar.width() <= 10.0 && bar.left() > 150.0;
    let bars: Vec<Rect> = bars
        .filter(|bar| is_bar(bar) && bar.right() <= 188.0)
        .collect();
    assert!(!bars.is_empty());
    assert!(
        bars.iter().all(|bar| bar.left() >= button.right()),
        "{bars:?}"
    );
}
