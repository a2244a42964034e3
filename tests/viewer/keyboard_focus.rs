//! Everything that can be pressed is reached by Tab, has a name, and shows that it has the keyboard.

use std::collections::HashSet;

use egui::accesskit::{Action, Live};
use egui::epaint::{ClippedShape, Shape};
use egui_kittest::kittest::NodeT;

use super::*;

/// More presses than any window has things to press.
const MOST: usize = 400;

/// The accented frames among the shapes of the last frame.
fn rings(harness: &Screen) -> Vec<egui::Rect> {
    fn collect(shape: &Shape, accent: egui::Color32, found: &mut Vec<egui::Rect>) {
        match shape {
            Shape::Vec(shapes) => shapes
                .iter()
                .for_each(|shape| collect(shape, accent, found)),
            Shape::Rect(rect) if rect.stroke.color == accent && rect.stroke.width > 0.0 => {
                found.push(rect.rect);
            }
            _ => {}
        }
    }
    let accent = harness.ctx.global_style().visuals.hyperlink_color;
    let mut found = Vec::new();
    for ClippedShape { shape, .. } in &harness.output().shapes {
        collect(shape, accent, &mut found);
    }
    found
}

/// Goes through all by Tab: says what has no name or no ring, and what is not reached.
fn faults(harness: &mut Screen, modal: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let mut reached = HashSet::new();
    let mut seen = String::new();
    for _ in 0..MOST {
        press(harness, Key::Tab);
        let rings = rings(harness);
        let focused = harness.root().children_recursive();
        let Some(node) = focused.filter(egui_kittest::Node::is_focused).last() else {
            continue;
        };
        let (rect, node) = (node.rect(), node.accesskit_node());
        if !reached.insert(format!("{:?}", node.id())) {
            break;
        }
        let name = node.label().or(node.value()).unwrap_or_default();
        if name.trim().is_empty() {
            faults.push(format!(
                "no name: {:?} at {rect}, after {seen}",
                node.role()
            ));
        }
        let about = |ring: &&egui::Rect| {
            ring.expand(6.0).contains_rect(rect) && rect.expand(6.0).contains_rect(**ring)
        };
        if rings.iter().find(about).is_none() {
            faults.push(format!("no ring: {:?} {name:?} at {rect}", node.role()));
        }
        seen = name;
    }
    // What lies behind a dialog waits until it is closed.
    let nodes = harness.root().children_recursive();
    for node in nodes.filter(|_| !modal) {
        let node = node.accesskit_node();
        let focusable = node.data().supports_action(Action::Focus) && !node.is_disabled();
        if focusable && !reached.contains(&format!("{:?}", node.id())) {
            faults.push(format!("not reached: {:?} {:?}", node.role(), node.label()));
        }
    }
    faults
}

fn is_whole(mut harness: Screen, what: &str) {
    harness.run_steps(3);
    let faults = faults(&mut harness, false);
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

fn with(commands: &[Command]) -> Screen {
    let mut harness = paused();
    for command in commands {
        act(&mut harness, command.clone());
    }
    harness
}

#[test]
fn pictures_are_reachable_by_keyboard() {
    is_whole(paused(), "as it opens");
    is_whole(
        with(&[Command::Play(Play::LoopRange(Some((2, 5))))]),
        "a part is looped",
    );
    is_whole(with(&[Command::Edit(Edit::Toggle)]), "the input is edited");
    is_whole(
        with(&[
            Command::View(ViewCommand::Pin(0)),
            Command::View(ViewCommand::Select(Target::Row(3))),
        ]),
        "a head is pinned",
    );
    let tall = [
        Command::Rows(Rows::ToggleTouched),
        Command::Rows(Rows::Taller(1)),
        Command::View(ViewCommand::AllHeads),
    ];
    is_whole(with(&tall), "a window of rows, all heads");
    is_whole(
        with(&[Command::View(ViewCommand::NextLayout)]),
        "the figure of the paper",
    );
}

#[test]
fn other_machines_and_small_windows_are_reachable_by_keyboard() {
    for name in [
        "9 reads 2 writes",
        "0 reads 0 writes",
        "theirs.ntmtrace.json",
    ] {
        let harness = paused_with_file(name);
        is_whole(harness, name);
    }
    let small = window_of(SMALL, Arc::default());
    is_whole(small, "the smallest window");
}

#[test]
fn pages_and_dialogs_are_reachable_by_keyboard() {
    is_whole(
        with(&[Command::Window(Window::ToggleWelcome)]),
        "the start page",
    );
    is_whole(
        with(&[Command::Window(Window::ToggleFamily)]),
        "the page on attention mechanisms",
    );
    is_whole(with(&[Command::Tour(Tour::Start)]), "the tour");
    let dialogs = [
        Command::Dialog(DialogCommand::For(Subject::Settings)),
        Command::Dialog(DialogCommand::For(Subject::About)),
        Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Compare))),
        Command::Dialog(DialogCommand::For(Subject::Step)),
        Command::Dialog(DialogCommand::For(Subject::Condition)),
        Command::Dialog(DialogCommand::For(Subject::File(FilePurpose::Save))),
        Command::Dialog(DialogCommand::For(Subject::Messages)),
        Command::Dialog(DialogCommand::For(Subject::Keys)),
    ];
    let of = |command: Command| {
        let faults = faults(&mut with(std::slice::from_ref(&command)), true);
        faults
            .into_iter()
            .map(move |fault| format!("{command:?}: {fault}"))
    };
    let faults: Vec<_> = dialogs.into_iter().flat_map(of).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_ring_of_a_primary_button_is_seen_on_it() {
    let mut harness = with(&[Command::Dialog(DialogCommand::For(Subject::Step))]);
    let ring = |harness: &Screen| {
        let go = harness.get_by_label("Go").rect();
        let accent = harness.ctx.global_style().visuals.hyperlink_color;
        super::clipping::shapes(harness).any(|(shape, _)| match shape {
            Shape::Rect(rect) => {
                let is_inside = go.contains_rect(rect.rect) && rect.rect.width() > go.width() - 6.0;
                is_inside && rect.stroke.width > 1.0 && rect.stroke.color != accent
            }
            _ => false,
        })
    };
    assert!(!ring(&harness));
    harness.get_by_label("Go").focus();
    harness.run_steps(2);
    assert!(ring(&harness));
}

/// Presses Tab until it leaves the window; returns the number of presses.
fn presses_to_leave(harness: &mut Screen, modifiers: Modifiers) -> usize {
    let context = harness.ctx.clone();
    let leaves = |harness: &Screen| harness.state().tab_leaves(&context, modifiers.shift);
    let pressed = (0..MOST).take_while(|_| {
        let stays = !leaves(harness);
        if stays {
            press_with(harness, modifiers, Key::Tab);
        }
        stays
    });
    pressed.count()
}

#[test]
fn tab_leaves_at_both_ends() {
    let mut harness = paused();
    let context = harness.ctx.clone();
    let focused = || context.memory(egui::Memory::focused);
    context.memory_mut(egui::Memory::stop_text_input);
    assert!(
        harness.state().tab_leaves(&context, true),
        "before the first"
    );
    press(&mut harness, Key::Tab);
    let first = focused();
    let forwards = presses_to_leave(&mut harness, Modifiers::NONE);
    assert!((1..MOST).contains(&forwards), "{forwards}");
    assert_eq!(focused(), None, "it lets go");
    press(&mut harness, Key::Tab);
    assert_eq!(focused(), first, "it comes back to the first");
    assert!(!harness.state().tab_leaves(&context, false));
    assert!(harness.state().tab_leaves(&context, true));
    // From the last one as many presses lead back.
    (0..=forwards).for_each(|_| press(&mut harness, Key::Tab));
    let backwards = presses_to_leave(&mut harness, Modifiers::SHIFT);
    assert_eq!(backwards, forwards);
}

#[test]
fn a_screen_reader_hears_where_a_step_leads_but_not_what_plays() {
    let live =
        |screen: &Screen, text: &str| screen.get_by_label_contains(text).accesskit_node().live();
    let mut screen = paused();
    for step in 1..4 {
        press(&mut screen, Key::ArrowRight);
        assert_eq!(live(&screen, &format!("step {step} of ")), Live::Polite);
    }
    act(&mut screen, Play::Toggle);
    assert!(screen.state().player.playing());
    assert_eq!(live(&screen, " of 10, "), Live::Off);
}
