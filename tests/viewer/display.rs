//! What the window shows is what holds now: colours, axes, words and numbers.

use egui::epaint::TextShape;
use egui::{Color32, Rect, Shape};
use tapescope::figure::Colours;
use tapescope::learn::{Finding, Kind, RunProgress};
use tapescope::viewer::command::Replacement;

use super::clipping::{shapes, texts};
use super::gradients::lay_out;
use super::tour::rect_of;
use super::*;

/// The colours of the largest picture inside of this rectangle.
fn colours(screen: &Screen, raster: &Shared, rect: Rect) -> Vec<Color32> {
    let pictures = shapes(screen).filter_map(|(shape, _)| match shape {
        Shape::Mesh(mesh) if mesh.vertices.len() == 4 => Some((mesh.calc_bounds(), mesh)),
        _ => None,
    });
    let inside = pictures.filter(|(bounds, _)| rect.expand(1.0).contains_rect(*bounds));
    let largest = inside.max_by(|a, b| a.0.area().total_cmp(&b.0.area()));
    raster.texture(largest.unwrap().1.texture_id).pixels
}

#[test]
fn log_scale_redraws_weightings_immediately() {
    let (raster, options) = (Shared::default(), options(Arc::<Shelf>::default()));
    let mut screen = window_drawn((LARGE, Theme::Dark), options, raster.clone());
    press(&mut screen, Key::Space);
    lay_out(&mut screen, WindowLayout::Debug);
    let rect = rect_of(&screen, "weighting of");
    let plain = colours(&screen, &raster, rect);
    press(&mut screen, Key::N);
    assert_ne!(colours(&screen, &raster, rect), plain);
    press(&mut screen, Key::N);
    assert_eq!(colours(&screen, &raster, rect), plain);
}

#[test]
fn textures_of_old_episodes_are_freed() {
    let mut screen = paused();
    for layout in [
        WindowLayout::CloseUp,
        WindowLayout::Debug,
        WindowLayout::Paper,
    ] {
        lay_out(&mut screen, layout);
        let mut counts = Vec::new();
        for _ in 0..60 {
            act(&mut screen, Episode::NextSeed);
            counts.push(screen.ctx.tex_manager().read().num_allocated());
        }
        let (middle, last) = (counts[29], counts[59]);
        assert!(last <= middle, "{layout:?}: {middle} textures, then {last}");
    }
}

/// A window in which a machine has learned a little and waits.
fn waiting() -> Screen {
    let mut screen = learn::learning_in(LARGE, &["training.batch=16"]);
    screen.run_steps(60);
    press(&mut screen, Key::T);
    screen.run_steps(3);
    screen
}

/// Bars and numbers in a chart and beside it, with their places.
fn chart(screen: &Screen, name: &str) -> Vec<String> {
    let rect = rect_of(screen, &format!("{name}: "));
    let around = Rect::from_min_max(
        rect.min - egui::vec2(45.0, 0.0),
        rect.max + egui::vec2(0.0, 30.0),
    );
    let bars = shapes(screen).filter_map(|(shape, _)| match shape {
        Shape::Rect(bar) if rect.contains_rect(bar.rect) => Some(format!("{:?}", bar.rect)),
        _ => None,
    });
    let is_number = |text: &TextShape| text.galley.text() != "on screen";
    let numbers = texts(screen).filter(|(text, _)| around.contains(text.pos) && is_number(text));
    let numbers = numbers.map(|(text, _)| format!("{} at {}", text.galley.text(), text.pos));
    bars.chain(numbers).collect()
}

#[test]
fn selecting_snapshot_keeps_chart_axes() {
    let mut screen = waiting();
    let names = ["Loss per sequence (bits)", "Wrong bits", "Rows used"];
    let now = names.map(|name| chart(&screen, name));
    assert!(now.iter().all(|chart| chart.len() > 3), "{now:?}");
    for moment in [Some(0), Some(3), None] {
        act(&mut screen, Learn::Snapshot(moment));
        screen.run_steps(3);
        for (name, now) in names.iter().zip(&now) {
            assert_eq!(chart(&screen, name), *now, "{name}, {moment:?}");
        }
    }
}

#[test]
fn charts_label_their_horizontal_axis() {
    let screen = waiting();
    for (name, across) in [
        ("Loss per sequence (bits)", "sequences, logarithmic at"),
        ("Wrong bits", "length at"),
        ("Gate", "sequences, logarithmic at"),
    ] {
        let words = chart(&screen, name);
        assert!(
            words.iter().any(|word| word.starts_with(across)),
            "{words:?}"
        );
    }
}

#[test]
fn charts_are_zoomed_together_and_tell_their_values() {
    let mut screen = waiting();
    let names = ["Loss per sequence (bits)", "Rows used"];
    let whole = names.map(|name| chart(&screen, name));
    let rect = rect_of(&screen, "Loss per sequence (bits): ");
    screen.hover_at(rect.center());
    screen.run_steps(2);
    let told = |screen: &Screen| {
        let mut texts = texts(screen).map(|(text, _)| text.galley.text().to_owned());
        texts.find(|text| text.starts_with("after "))
    };
    let words = told(&screen).unwrap();
    assert!(words.contains("sequences\nmean: "), "{words}");
    step_zoom::turn(&mut screen, 200.0);
    for (name, whole) in names.iter().zip(&whole) {
        assert_ne!(chart(&screen, name), *whole, "{name}");
    }
    step_zoom::turn(&mut screen, -400.0);
    screen.hover_at(rect.left_top() - egui::vec2(20.0, 0.0));
    screen.run_steps(30);
    assert_eq!(names.map(|name| chart(&screen, name)), whole);
    assert_eq!(told(&screen), None);
}

#[test]
fn findings_are_not_newer_than_selected_snapshot() {
    let screen = waiting();
    let mut learning = screen.state().learning.clone().unwrap();
    let moments: Vec<_> = learning
        .snapshots()
        .iter()
        .map(|one| one.sequences)
        .collect();
    assert!(moments.len() > 3, "{moments:?}");
    let finding = |&sequences: &u64| Finding {
        sequences,
        kind: Kind::OneRow,
        words: String::new(),
    };
    let mut progress = RunProgress::clone(learning.runs[0].progress.as_deref().unwrap());
    progress.findings = moments.iter().skip(1).map(finding).collect();
    learning.runs[0].progress = Some(Arc::new(progress));
    for (place, &sequences) in moments.iter().enumerate() {
        learning.select_snapshot(Some(place));
        let told = learning
            .finding_shown()
            .map(|at| learning.findings()[at].sequences);
        assert_eq!(told, (place > 0).then_some(sequences));
    }
    learning.select_snapshot(None);
    assert_eq!(learning.finding_shown(), Some(moments.len() - 2));
    // One that was chosen is told until another moment is looked at.
    learning.move_finding(-1);
    assert_eq!(learning.finding_shown(), Some(moments.len() - 3));
    learning.select_snapshot(Some(1));
    assert_eq!(learning.finding_shown(), Some(0));
}

#[test]
fn timeline_labels_are_above_it() {
    let mut screen = waiting();
    let lane = rect_of(&screen, "Training snapshots");
    screen.hover_at(lane.center());
    screen.run_steps(30);
    let mut told = texts(&screen).filter(|(text, _)| {
        text.galley
            .text()
            .contains("drag to show an earlier snapshot")
    });
    let (text, _) = told.next().unwrap();
    let rect = text.visual_bounding_rect();
    assert!(rect.bottom() <= lane.top() + 1.0, "{rect:?} at {lane:?}");
}

#[test]
fn ablation_cards_are_not_cut_off() {
    for size in [LARGE, SMALL] {
        let mut screen = window_of(size, Arc::default());
        act(&mut screen, Replacement::Ablate);
        screen.run_steps(5);
        let runs = screen.state().learning.as_ref().unwrap().runs.len();
        assert!(runs >= 5, "{runs}");
        let cards = screen.query_all_by_label_contains("Show ");
        let cards = cards.filter(|node| {
            let label = node.accesskit_node().label().unwrap_or_default();
            label.starts_with("Show ") && label.contains(':')
        });
        let cards: Vec<Rect> = cards.map(|node| node.rect()).collect();
        assert_eq!(cards.len(), runs);
        let panel = rect_of(&screen, "Training snapshots");
        for card in cards {
            assert!(card.bottom() < panel.top(), "{size}: {card:?}");
        }
    }
}

#[test]
fn undo_leaves_theme_panels_and_layout() {
    let mut screen = paused();
    let seed = screen.state().session.request.seed;
    act(&mut screen, Episode::NextSeed);
    act(&mut screen, Window::Theme(tapescope::viewer::Theme::Light));
    lay_out(&mut screen, WindowLayout::Paper);
    act(&mut screen, Window::ToggleLeft);
    let look = screen.state().settings.look;
    act(&mut screen, Edit::Undo);
    assert_eq!(screen.state().session.request.seed, seed);
    let settings = &screen.state().settings;
    assert_eq!(settings.look, look);
    assert_eq!(screen.state().layout(), WindowLayout::Paper);
    assert!(!settings.panels.left);
}

#[test]
fn follow_head_has_a_switch_and_ends_with_machine() {
    let mut screen = window_of_machines(LARGE, vec![big(), machine("first", 1)]);
    press(&mut screen, Key::Space);
    lay_out(&mut screen, WindowLayout::Debug);
    assert!(!has(&screen, "Follow head"), "all rows are in view");
    act(&mut screen, Rows::ToggleTouched);
    assert!(screen.state().follows(), "rows are too low");
    click(&mut screen, "Follow head");
    assert!(!screen.state().follows());
    click(&mut screen, "Follow head");
    assert!(screen.state().follows());
    act(&mut screen, Episode::NextSeed);
    assert!(screen.state().follows());
    act(&mut screen, Episode::Machine(1));
    assert!(!screen.state().follows());
}

#[test]
fn an_episode_looks_the_same_whatever_the_way_to_it() {
    let [straight, round] = [&[60][..], &[61, 60]].map(|lengths| {
        let mut options = Options::included(None).with_first("copy");
        options.settings.look.still = true;
        let mut screen = window_with(LARGE, options);
        lay_out(&mut screen, WindowLayout::Debug);
        for length in lengths {
            act(&mut screen, Episode::Size(*length));
        }
        act(&mut screen, Play::Seek(50));
        screen.run_steps(3);
        super::snapshot::listed(&screen)
    });
    assert_eq!(straight, round);
}

#[test]
fn value_readout_waits_until_computed() {
    let mut screen = paused();
    lay_out(&mut screen, WindowLayout::CloseUp);
    act(&mut screen, Play::Seek(8));
    let value = |screen: &mut Screen, stage: &str| {
        to_stage(screen, stage);
        let rect = rect_of(screen, "output: at this step");
        screen.hover_at(rect.center());
        screen.run_steps(3);
        screen.state().readout().unwrap().value.clone()
    };
    assert_eq!(value(&mut screen, "content"), "not yet");
    assert!(value(&mut screen, "output").parse::<f32>().is_ok());
}

#[test]
fn tiny_value_reads_as_zero_and_exactly_with_alt() {
    let mut screen = paused_with_file("tiny.json");
    lay_out(&mut screen, WindowLayout::Debug);
    let rect = rect_of(&screen, "input: over time");
    screen.hover_at(rect.left_top() + egui::vec2(3.0, 3.0));
    screen.run_steps(3);
    let says = |screen: &Screen, words: &str| {
        let mut all = texts(screen);
        all.any(|(text, _)| text.galley.text() == words)
    };
    let exact = "7.1717395e−33";
    assert!(says(&screen, "≈ 0") && !says(&screen, exact));
    screen.event(egui::Event::ModifiersChanged(Modifiers::ALT));
    screen.run_steps(2);
    assert!(says(&screen, exact));
}

#[test]
fn long_row_numbers_leave_room_for_the_name_of_the_head() {
    let mut screen = paused_on(big());
    press_with(&mut screen, Modifiers::SHIFT, Key::R);
    press(&mut screen, Key::Z);
    press(&mut screen, Key::F);
    act(&mut screen, Rows::Scroll(2000.0));
    let places = |is_it: fn(&str) -> bool| -> Vec<Rect> {
        let all = texts(&screen).filter(|(text, _)| is_it(text.galley.text()));
        all.map(|(text, _)| text.visual_bounding_rect()).collect()
    };
    let numbers = places(|text| text.len() == 4 && text.parse::<usize>().is_ok());
    let names = places(|text| ["R0", "W0"].contains(&text));
    assert!(numbers.len() > 10 && names.len() > 1, "{numbers:?}");
    for name in names {
        let around = name.expand2(egui::vec2(4.0, 0.0));
        let mut numbers = numbers.iter();
        assert!(!numbers.any(|number| number.intersects(around)), "{name}");
    }
}

/// Files of a lecture.
struct Lecture;

impl Files for Lecture {
    fn absolute(&self, _: PathBuf) -> PathBuf {
        std::env::temp_dir()
    }
}

#[test]
fn save_dialog_names_the_folder() {
    let mut screen = paused_with(Arc::new(Lecture));
    act(&mut screen, Subject::File(FilePurpose::Save));
    let folder = std::env::temp_dir();
    assert!(says(&screen, &format!("Folder: {}", folder.display())));
    let path = "week 3/trace.json".to_owned();
    act(&mut screen, DialogCommand::Typed(path));
    assert!(says(&screen, &folder.join("week 3").display().to_string()));
}

#[test]
fn tiny_numbers_have_no_sign_and_probabilities_are_not_zero() {
    let mut screen = paused_with_file("minus.json");
    lay_out(&mut screen, WindowLayout::Debug);
    act(&mut screen, ViewCommand::Focus(0));
    act(&mut screen, Play::Seek(1));
    assert!(says(&screen, "match: .000") && !says(&screen, "−.000"));
    let mut screen = paused_with_file("unlikely.json");
    lay_out(&mut screen, WindowLayout::Debug);
    act(&mut screen, Play::Seek(3));
    let heads = &recording(&screen).trace.heads;
    let hard = heads.iter().position(|head| head.distribution.width() > 0);
    act(&mut screen, ViewCommand::Focus(hard.unwrap()));
    assert!(says(&screen, "probability less than 1 %"));
}

#[test]
fn ten_lines_have_distinct_colours() {
    for dark in [true, false] {
        let colours = Colours::for_theme(dark);
        let all: std::collections::BTreeSet<_> = (0..10).map(|index| colours.line(index)).collect();
        assert_eq!(all.len(), 10);
    }
}
