//! What somebody reads and sees who uses the window for the first time: sentences, cards, names, messages.

use super::clipping::texts;
use super::*;

/// The texts on screen.
fn drawn(harness: &Screen) -> Vec<String> {
    let all = texts(harness).map(|(text, _)| text.galley.text().to_owned());
    all.collect()
}

fn draws(harness: &Screen, words: &str) -> bool {
    drawn(harness).iter().any(|text| text.contains(words))
}

fn included(machine: &str, size: Vec2) -> Screen {
    let mut options = Options::included(None).with_first(machine);
    options.files = Arc::<Shelf>::default();
    options.settings.look.still = true;
    let mut screen = window_with(size, options);
    screen.run_steps(1);
    screen
}

#[test]
fn headline_states_where_weight_went() {
    // The shift has two peaks, and so has what it moves: most of it is one row back in the end.
    let mut harness = paused_with_file("two peaks.json");
    act(&mut harness, ViewCommand::Focus(1));
    act(&mut harness, Play::Seek(4));
    to_stage(&mut harness, "shift");
    harness.run_steps(12);
    press(&mut harness, Key::P);
    assert!(says(&harness, "The write head moves back by one row"));
    assert!(!says(&harness, "The write head moves on by one row"));
    press(&mut harness, Key::P);
    assert!(says(&harness, "W0 moves back by one row"));
}

#[test]
fn headline_describes_shown_head() {
    for (file, stage, head, expected) in [
        ("1 reads 1 writes", "add", 0, "The read head reads"),
        ("1 reads 1 writes", "read", 1, "The write head waits"),
        (
            "1 reads 1 writes, write first",
            "add",
            0,
            "The read head waits",
        ),
        ("3 reads 1 writes", "erase", 2, "Read head R2 reads"),
    ] {
        let mut harness = paused_with_file(file);
        act(&mut harness, ViewCommand::Focus(head));
        act(&mut harness, Play::Seek(4));
        to_stage(&mut harness, stage);
        harness.run_steps(12);
        while harness.state().layout() != WindowLayout::CloseUp {
            press(&mut harness, Key::V);
        }
        let said = drawn(&harness);
        assert!(draws(&harness, expected), "{file}, {stage}: {said:?}");
    }
}

#[test]
fn selected_head_always_has_headline() {
    let mut harness = paused_with_file("4 reads 1 writes");
    act(&mut harness, ViewCommand::Focus(4));
    press(&mut harness, Key::P);
    assert!(says(&harness, "The write head"));
    let heads = (0..4).filter(|head| says(&harness, &format!("Read head R{head}")));
    assert_eq!(heads.count(), 3);
}

#[test]
fn training_bar_is_below_training_pictures() {
    let mut screen = window();
    let begin = Replacement::Begin(vec![(None, learn::experiment(&[]))]);
    act(&mut screen, begin);
    screen.run_steps(5);
    assert!(has(&screen, "Pause training"));
    act(&mut screen, Episode::Machine(0));
    assert!(!has(&screen, "Pause training"));
    assert_ne!(screen.state().layout(), WindowLayout::Train);
    // It goes on; a word in the status line leads back, and so does its key.
    let goes = |screen: &Screen| screen.state().learning.as_ref().unwrap().is_training;
    for back in [true, false] {
        act(&mut screen, Episode::Machine(0));
        if back {
            click(&mut screen, "Show live training");
        } else {
            press(&mut screen, Key::T);
        }
        assert!(goes(&screen) && has(&screen, "Pause training"));
        assert_eq!(screen.state().layout(), WindowLayout::Train);
    }
    press(&mut screen, Key::T);
    assert!(!goes(&screen));
    open(&mut screen, "theirs.ntmtrace.json");
    screen.run_steps(5);
    assert!(!has(&screen, "Train live"));
    assert!(shown(&screen).file.is_some(), "the trace stays");
}

#[test]
fn learning_ends_the_tour_and_a_failure() {
    for begin in [Tour::Start.into(), Command::from(Episode::Failure(Some(0)))] {
        let mut screen = included("copy", LARGE);
        act(&mut screen, begin);
        let state = screen.state();
        assert!(state.tour().is_some() || state.failing().is_some());
        begin_training(&mut screen, learn::experiment(&[]));
        let state = screen.state();
        assert!(state.tour().is_none() && state.failing().is_none());
        assert!(!says(&screen, "Leave tour") && !says(&screen, "Go to next failure"));
    }
}

#[test]
fn another_machine_or_a_file_ends_the_tour() {
    for command in [
        Command::from(Episode::Machine(2)),
        File::Open(PathBuf::from("theirs.ntmtrace.json")).into(),
    ] {
        let mut screen = included("copy", LARGE);
        act(&mut screen, Tour::Start);
        act(&mut screen, Tour::Next);
        act(&mut screen, command);
        assert!(screen.state().tour().is_none());
    }
}

#[test]
fn escape_leaves_tour_like_its_button() {
    let mut screen = included("copy", LARGE);
    act(&mut screen, Tour::Start);
    act(&mut screen, Tour::Next);
    act(&mut screen, ViewCommand::Focus(0));
    press(&mut screen, Key::Escape);
    let state = screen.state();
    assert!(state.tour().is_none() && !state.view.chosen);
}

/// The card of a message.
fn message(screen: &Screen) -> egui::Rect {
    let id = egui::Id::unique("messages");
    screen.ctx.memory(|memory| memory.area_rect(id)).unwrap()
}

#[test]
fn error_moves_to_badge_and_stays_in_list() {
    let mut screen = paused();
    act(&mut screen, File::Open(PathBuf::from("missing.json")));
    screen.run_steps(100);
    assert_eq!(screen.state().toasts.shown.len(), 1, "5 seconds");
    // As long as the pointer is on it, it can be read.
    screen.hover_at(message(&screen).center());
    screen.run_steps(600);
    assert_eq!(screen.state().toasts.shown.len(), 1, "30 more");
    screen.hover_at(egui::pos2(300.0, 300.0));
    screen.run_steps(400);
    assert!(screen.state().toasts.shown.is_empty());
    assert!(has(&screen, "1 problem"));
    // On the start page, too.
    press(&mut screen, Key::W);
    assert!(has(&screen, "1 problem"));
    click(&mut screen, "1 problem");
    assert!(says(&screen, "missing.json does not exist."));
    assert!(!has(&screen, "1 problem"));
}

#[test]
fn shortened_names_stay_distinguishable() {
    let named = |name: &str, title: &str| Machine {
        title: title.to_owned(),
        ..machine(name, 1)
    };
    let title =
        |count: &str| format!("Copy of short sequences, after {count} sequences of training");
    let machines = vec![named("a", &title("1200")), named("b", &title("12000"))];
    let mut screen = window_of_machines(SMALL, machines);
    act(&mut screen, Compare::KeepAsA);
    act(&mut screen, Episode::Machine(1));
    let said = drawn(&screen);
    let has_name = |side: &str, count: &str| {
        let words = |text: &String| text.split(' ').any(|word| word == count);
        said.iter()
            .any(|text| text.starts_with(side) && words(text))
    };
    assert!(
        has_name("A  ", "1200") && has_name("B  ", "12000"),
        "{said:?}"
    );
}

#[test]
fn commands_are_found_by_synonyms() {
    for (typed, name) in [
        ("ablat", "Run ablations"),
        ("link", "Copy link as command"),
        ("gradient", "Toggle gradients"),
        ("train", "Train live"),
        ("shortcuts", "Show keys"),
        ("cancel", "Cancel"),
    ] {
        let mut screen = paused();
        press_with(&mut screen, Modifiers::COMMAND, Key::K);
        type_into(&mut screen, "Command", typed);
        assert!(has(&screen, name), "{typed}");
    }
}

#[test]
fn copied_command_covers_link() {
    let mut screen = included("copy", LARGE);
    act(&mut screen, Edit::Flip(3, 2));
    act(&mut screen, Play::Seek(5));
    to_stage(&mut screen, "shift");
    let context = screen.ctx.clone();
    let state = screen.state_mut();
    state.apply(&context, vec![File::CopyLink.into()]);
    let command = copied(&mut screen);
    let link = command.strip_prefix("tapescope view --link '").unwrap();
    assert!(link.contains("&flip=3.2&step=5&stage="), "{link}");
    let (machine, begin) = Options::linked(link.trim_end_matches('\'')).unwrap();
    assert_eq!(machine, "copy");
    assert_eq!((begin.step, begin.flipped), (Some(5), vec![(3, 2)]));
    assert_eq!(begin.stage, Some(screen.state().player.stage()));
    assert_eq!(begin.layout, Some(screen.state().layout()));
    for (link, words) in [
        ("http://x/#machine=cpoy", "machine=cpoy; the machines are"),
        ("lenght=3", "`lenght`"),
        ("http://x/?trace=a.json#step=3", "Download that file"),
    ] {
        assert!(Options::linked(link).unwrap_err().contains(words));
    }
    assert!(says(&screen, "terminal"));
}

#[test]
fn the_end_of_the_opening_says_how_to_go_on() {
    let mut screen = window_with(LARGE, motion::first_time());
    for _ in 0..600 {
        if !screen.state().is_opening() {
            break;
        }
        assert!(!says(&screen, "in all stages"));
        screen.run_steps(1);
    }
    screen.run_steps(2);
    assert!(says(&screen, "in all stages"));
}

#[test]
fn the_tour_has_a_button() {
    let mut screen = included("copy", SMALL);
    act(&mut screen, Tour::Greet);
    click(&mut screen, "Start tour");
    assert!(screen.state().tour().is_some());
}

#[test]
fn untrained_row_count_is_reported() {
    let mut screen = included("copy", LARGE);
    assert!(!says(&screen, "trained with 128 rows"));
    act(&mut screen, Episode::Rows(4096));
    assert!(says(&screen, "trained with 128 rows"));
}

#[test]
fn a_comparison_begins_with_the_answers_and_the_heads() {
    let mut screen = included("copy", LARGE);
    act(&mut screen, Compare::KeepAsA);
    act(&mut screen, Episode::NextSeed);
    let said = drawn(&screen);
    let at = |words: &str| said.iter().position(|text| text.contains(words));
    let verdict = at("bits wrong, B: ").unwrap_or_else(|| panic!("{said:?}"));
    assert!(said[verdict].starts_with("A: "), "{said:?}");
    assert!(said[verdict].contains("heads"), "{said:?}");
    let top = |words: &str| {
        let of = |text: &str| text.contains(words) && text.ends_with('.');
        let mut found = texts(&screen).filter(|(text, _)| of(text.galley.text()));
        found.next().unwrap().0.pos.y
    };
    assert!(top("bits wrong, B: ") < top("Largest difference"));
    // Another input: B can have that of A.
    let input = |screen: &Screen| recording(screen).episode.input.clone();
    let other = input(&screen);
    click(&mut screen, "Use same input for B");
    assert_ne!(input(&screen), other);
    assert!(!has(&screen, "Use same input for B"));
    assert!(screen.state().comparing.baseline.is_some());
}

#[test]
fn card_covers_nothing_it_describes() {
    for size in [LARGE, Vec2::new(1280.0, 800.0)] {
        let mut screen = included("copy", size);
        act(&mut screen, Tour::Start);
        for stop in 1..=9 {
            screen.run_steps(12);
            let card = screen
                .ctx
                .memory(|memory| memory.area_rect(egui::Id::unique("tour")));
            for (text, clip) in texts(&screen) {
                let rect = text.visual_bounding_rect().intersect(clip);
                let words = text.galley.text();
                let is_sentence = words.len() > 40 && rect.top() < 140.0 && rect.left() > 500.0;
                let is_legend = words.starts_with("head overlap");
                if is_sentence || is_legend {
                    assert!(!card.unwrap().intersects(rect), "stop {stop}: {words}");
                }
            }
            act(&mut screen, Tour::Next);
        }
    }
}

#[test]
fn the_close_up_says_what_its_colours_mean() {
    let mut screen = included("copy", LARGE);
    act(&mut screen, Play::Toggle);
    super::gradients::lay_out(&mut screen, WindowLayout::CloseUp);
    for words in ["bit, erase", "memory, read", "key, add", "faint bar"] {
        assert!(draws(&screen, words), "{words}");
    }
}

#[test]
fn captions_are_whole_in_the_smallest_window() {
    let mut screen = window_of(SMALL, Arc::default());
    begin_training(&mut screen, learn::experiment(&[]));
    screen.run_steps(20);
    screen.get_by_label_contains("every bit right and certain.");
    let uncut = texts(&screen).filter(|(text, clip)| {
        let rect = text.visual_bounding_rect();
        !text.galley.elided && clip.expand(1.0).contains_rect(rect)
    });
    // A caption may be on several lines.
    let lines: Vec<_> = uncut.map(|(text, _)| text.galley.text()).collect();
    let drawn = lines.join(" ");
    for words in ["every bit right and certain.", "before clipping."] {
        assert!(drawn.contains(words), "{words}: {drawn}");
    }
}

#[test]
fn glossary_explains_a_term_and_shows_it() {
    let mut screen = included("copy", LARGE);
    press_with(&mut screen, Modifiers::COMMAND, Key::K);
    type_into(&mut screen, "Command", "show glossary");
    press(&mut screen, Key::Enter);
    screen.run_steps(2);
    type_into(&mut screen, "Term", "sharpening");
    assert!(draws(&screen, "The exponent, 1 or more"));
    assert!(!draws(&screen, "The number from 0 to 1 that blends"));
    click(&mut screen, "Show");
    screen.run_steps(3);
    let state = screen.state();
    assert!(state.dialog.is_none());
    assert!(state.player.step() > 0 && !state.player.playing());

    press_with(&mut screen, Modifiers::COMMAND, Key::K);
    type_into(&mut screen, "Command", "glossary gate");
    assert!(draws(&screen, "The number from 0 to 1 that blends"));
}
