//! Every part of the window can be pointed at.

use egui::{Pos2, Rect, Shape, pos2};
use tapescope::figure::{PanelId, Picture};
use tapescope::viewer::command::Replacement;

use super::clipping::{shapes, texts};
use super::gradients::lay_out;
use super::tour::rect_of;
use super::*;

/// What egui writes where two parts of a window have one id.
fn clashes(screen: &mut Screen) -> Vec<String> {
    let ctx = screen.ctx.clone();
    ctx.options_mut(|options| options.warn_on_id_clash = true);
    // Its warning has a sign that our fonts lack.
    ctx.set_missing_glyph_policy(egui::MissingGlyphPolicy::Tofu);
    // A box for it would be named in whichever window of this process asks first.
    ctx.set_glyph_rasterizers(Vec::new());
    screen.run_steps(2);
    let told = texts(screen).map(|(text, _)| (text.galley.text(), text.pos));
    let told = told.filter(|(text, _)| text.contains(" use of ") && text.contains(" ID "));
    told.map(|(text, at)| format!("{text} at {at}")).collect()
}

/// Fails where two parts of a window have one id.
#[track_caller]
fn is_unique(screen: &mut Screen, what: &str) {
    let clashes = clashes(screen);
    let layout = screen.state().layout().name();
    assert!(clashes.is_empty(), "{what}, {layout}: {clashes:#?}");
}

/// The same in all layouts, with one head looked at, two, and all.
fn is_unique_in_all_layouts(screen: &mut Screen, what: &str) {
    for _ in 0..5 {
        is_unique(screen, what);
        press(screen, Key::V);
    }
    act(screen, ViewCommand::Focus(0));
    act(screen, ViewCommand::Pin(1));
    for _ in 0..2 {
        is_unique(screen, &format!("{what}, a head pinned"));
        press(screen, Key::V);
    }
    act(screen, ViewCommand::AllHeads);
    is_unique(screen, &format!("{what}, all heads"));
}

#[test]
fn every_widget_id_is_unique() {
    for size in [LARGE, SMALL, phone::PHONE] {
        let mut screen = window_of(size, Arc::default());
        act(&mut screen, Play::Toggle);
        act(&mut screen, Play::Seek(8));
        lay_out(&mut screen, WindowLayout::CloseUp);
        is_unique_in_all_layouts(&mut screen, &format!("{size}"));
        for file in [
            "every mechanism",
            "4 reads 3 writes",
            "1 reads 8 writes",
            "headless.json",
        ] {
            open(&mut screen, file);
            is_unique_in_all_layouts(&mut screen, &format!("{file} at {size}"));
        }
    }
}

#[test]
fn widget_ids_are_unique_in_comparison_runs_and_large_memory() {
    for size in [LARGE, SMALL] {
        let mut screen = window_of(size, Arc::default());
        act(&mut screen, Compare::KeepAsA);
        act(&mut screen, Episode::NextSeed);
        is_unique(&mut screen, "compared");
        let mut screen = window_of_machines(size, vec![big()]);
        lay_out(&mut screen, WindowLayout::Debug);
        act(&mut screen, Rows::Taller(4));
        is_unique(&mut screen, "many rows");
        for count in [1, 4] {
            let mut screen = parallel_runs::several(size, count);
            screen.run_steps(10);
            is_unique(&mut screen, "learning");
        }
        let mut screen = window_of(size, Arc::default());
        act(&mut screen, Replacement::Ablate);
        screen.run_steps(3);
        is_unique(&mut screen, "ablations");
    }
}

fn click_at(screen: &mut Screen, at: Pos2) {
    screen.drag_at(at);
    screen.run_steps(1);
    screen.drop_at(at);
    screen.run_steps(2);
}

/// Where and what is read out at a place.
fn read_out(screen: &mut Screen, at: Pos2) -> String {
    screen.hover_at(at);
    screen.run_steps(3);
    let readout = screen.state().readout();
    readout.map_or(String::new(), |readout| readout.place.clone())
}

fn close_up() -> Screen {
    let mut screen = paused();
    lay_out(&mut screen, WindowLayout::CloseUp);
    act(&mut screen, Play::Seek(8));
    screen
}

/// The middle of the third of the bits of a step, which stand one below the other.
fn third(rect: Rect, bits: usize) -> Pos2 {
    pos2(
        rect.center().x,
        rect.top() + 2.5 / bits as f32 * rect.height(),
    )
}

#[test]
fn close_up_bit_is_read_out_and_click_keeps_step() {
    let mut screen = close_up();
    let task = recording(&screen).task.clone();
    for (picture, name, bits, channel) in [
        (Picture::Input, "input", 5, task.input_name(2)),
        (Picture::Output, "output", 4, task.output_name(2)),
    ] {
        let at = third(rect_of(&screen, &format!("{name}: at this step")), bits);
        let place = read_out(&mut screen, at);
        assert_eq!(place, format!("{name}  step 8  {channel}"));
        click_at(&mut screen, at);
        assert_eq!(step(&screen), 8);
        let id = PanelId::new(picture);
        let selected = Some(Target::Value { id, column: 2 });
        assert_eq!(screen.state().view.selected, selected);
    }
}

#[test]
fn the_strip_of_the_close_up_is_read_out_clicked_and_dragged() {
    let mut screen = close_up();
    for name in ["input", "output"] {
        let strip = rect_of(&screen, &format!("{name}: over time"));
        let at = |step: usize| {
            let x = strip.left() + (step as f32 + 0.5) / 11.0 * strip.width();
            pos2(x, strip.center().y)
        };
        assert!(read_out(&mut screen, at(3)).contains("step 3"));
        click_at(&mut screen, at(3));
        assert_eq!(step(&screen), 3);
        drag(&mut screen, at(3), at(7));
        assert_eq!(step(&screen), 7);
    }
}

#[test]
fn both_memories_of_two_heads_in_the_close_up_are_read_out() {
    let mut screen = close_up();
    act(&mut screen, ViewCommand::Focus(0));
    act(&mut screen, ViewCommand::Pin(1));
    let all = screen.query_all_by_label_contains("memory: rows down");
    let memories: Vec<_> = all.map(|node| node.rect().center()).collect();
    assert_eq!(memories.len(), 2);
    for at in memories {
        let place = read_out(&mut screen, at);
        assert!(place.contains("row"), "{place:?}");
    }
}

/// How many lines of the path of an answer are drawn: each has a broad ground.
fn lines(screen: &Screen) -> usize {
    let is_ground = |shape: &Shape| match shape {
        Shape::Path(path) => !path.closed && path.stroke.width == 4.0,
        Shape::LineSegment { stroke, .. } => stroke.width == 4.0,
        _ => false,
    };
    shapes(screen).filter(|(shape, _)| is_ground(shape)).count()
}

#[test]
fn the_path_of_an_answer_is_drawn_in_every_layout() {
    let mut options = Options::included(None);
    options.settings.look.still = true;
    let mut screen = window_with(LARGE, options);
    for layout in [
        WindowLayout::CloseUp,
        WindowLayout::Debug,
        WindowLayout::Paper,
        WindowLayout::PaperDown,
    ] {
        lay_out(&mut screen, layout);
        act(&mut screen, Play::Seek(30));
        assert_eq!(lines(&screen), 0, "{layout:?}");
        let steps = screen.state().player.steps() as f32;
        let label = match layout {
            WindowLayout::CloseUp => "output: at this step",
            WindowLayout::Debug => "output: over time",
            _ => "Outputs",
        };
        let rect = rect_of(&screen, label);
        let mut at = third(rect, 8);
        if layout != WindowLayout::CloseUp {
            at.x = rect.left() + 30.5 / steps * rect.width();
        }
        click_at(&mut screen, at);
        screen.hover_at(pos2(5.0, 5.0));
        screen.run_steps(3);
        assert_eq!(step(&screen), 30, "{layout:?}");
        assert_eq!(lines(&screen), 2, "{layout:?}");
        act(&mut screen, ViewCommand::Deselect);
    }
}

#[test]
fn stages_controller_and_signs_of_the_close_up_are_pointed_at_and_clicked() {
    let mut screen = close_up();
    click(&mut screen, "Stage shift");
    assert_eq!(stage(&screen), "shift");
    act(&mut screen, ViewCommand::Focus(0));
    click(&mut screen, "Mark of W0");
    assert_eq!(screen.state().view.focus, 1);
    let rect = rect_of(&screen, "Controller");
    assert!(!read_out(&mut screen, rect.center()).is_empty());
}
