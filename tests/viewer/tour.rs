//! The tour in two acts, and the gallery of failures.

use super::*;
use egui::accesskit::Role;
use tapescope::figure::facts::signal_path::{self, SignalPath};
use tapescope::train::Recording;
use tapescope::viewer::{Cause, FAILURES, first_wrong, shown_in};

const TOUR_STEPS: usize = 13;

fn included(size: Vec2, theme: Theme, still: bool) -> Screen {
    let mut options = Options::included(None);
    options.settings.look.still = still;
    let mut screen = window_drawn((size, theme), options, Shared::default());
    screen.run_steps(1);
    screen
}

fn met(screen: &Screen) -> bool {
    screen.state().tour().is_some_and(|tour| tour.met)
}

fn press_until_met(screen: &mut Screen, key: Key) {
    for _ in 0..20 {
        if !met(screen) {
            press(screen, key);
        }
    }
}

/// Does what a stop asks for.
fn follow(screen: &mut Screen, stop: usize) {
    match stop {
        0 | 11 => press(screen, Key::Space),
        1 => press(screen, Key::ArrowRight),
        2 => click_in(screen, "weighting of W0: ", 0.5),
        7 => press(screen, Key::Home),
        8 => click_in(screen, "output: ", 0.8),
        10 => press_until_met(screen, Key::ArrowRight),
        12 => press(screen, Key::W),
        _ => press_until_met(screen, Key::Period),
    }
    // What moves has come.
    screen.run_steps(12);
}

pub fn rect_of(screen: &Screen, label: &str) -> egui::Rect {
    let mut all = screen.query_all_by_label_contains(label);
    all.find(|node| {
        node.accesskit_node()
            .label()
            .is_some_and(|found| found.starts_with(label))
    })
    .unwrap_or_else(|| panic!("no {label}"))
    .rect()
}

fn click_in(screen: &mut Screen, label: &str, share: f32) {
    let rect = rect_of(screen, label);
    let place = egui::pos2(rect.left() + share * rect.width(), rect.center().y);
    screen.drag_at(place);
    screen.run_steps(1);
    screen.drop_at(place);
    screen.run_steps(2);
}

fn card(screen: &Screen, name: &str) -> egui::Rect {
    let id = egui::Id::unique(name);
    let rect = screen.ctx.memory(|memory| memory.area_rect(id));
    rect.expect("a card")
}

/// What a stop speaks of.
fn spoken_of(stop: usize, met: bool) -> &'static [&'static str] {
    match stop {
        0 if met => &["Pause"],
        0 => &["Play"],
        1 => &["Go to next step"],
        2 => &["weighting of W0: "],
        3 => &["W0 gate"],
        4 => &["W0 shift"],
        5 => &["W0 sharpen"],
        6 | 7 => &["memory: "],
        8 => &["output: "],
        9 => &["R0 match", "R0 content"],
        10 => &["weighting of R0: "],
        11 if met => &["output: "],
        11 => &["input: "],
        // The start page is on screen.
        _ if met => &[],
        _ => &["R0 content"],
    }
}

fn next_of(stop: usize) -> &'static str {
    if stop + 1 == TOUR_STEPS {
        "Finish"
    } else {
        "Next"
    }
}

#[test]
fn tour_waits_at_every_step_and_card_covers_nothing_described() {
    for size in [LARGE, SMALL] {
        let mut screen = included(size, Theme::Dark, false);
        act(&mut screen, Tour::Start);
        for stop in 0..TOUR_STEPS {
            screen.run_steps(3);
            screen.get_by_label(&format!("{} of {TOUR_STEPS}", stop + 1));
            assert!(!has(&screen, next_of(stop)), "stop {stop} waits");
            for is_met in [false, true] {
                if is_met {
                    follow(&mut screen, stop);
                    assert!(met(&screen), "stop {stop} at {size}");
                }
                let card = card(&screen, "tour");
                let window = egui::Rect::from_min_size(egui::Pos2::ZERO, size);
                assert!(window.contains_rect(card), "stop {stop}: {card}");
                for name in spoken_of(stop, is_met) {
                    let spot = rect_of(&screen, name);
                    assert!(
                        !card.intersects(spot),
                        "stop {stop} at {size}: {card} on {name} {spot}"
                    );
                }
            }
            if stop + 1 < TOUR_STEPS {
                click(&mut screen, next_of(stop));
            }
        }
        // The start page is left, and with it the tour.
        press(&mut screen, Key::W);
        assert!(screen.state().tour().is_none() && screen.state().settings.stop == 0);
        assert!(screen.state().mark().is_none());
    }
}

#[test]
fn back_restores_previous_tour_step() {
    let mut screen = included(LARGE, Theme::Dark, true);
    act(&mut screen, Tour::Start);
    let seen = |screen: &Screen| {
        let state = screen.state();
        let open = state.session.open.as_ref().unwrap();
        let player = &state.player;
        (
            state.settings.stop,
            (player.step(), player.stage(), player.whole_steps()),
            (state.view.focus, state.view.selected, state.mark()),
            open.request.clone(),
        )
    };
    let mut shown = Vec::new();
    for stop in 0..TOUR_STEPS - 1 {
        follow(&mut screen, stop);
        shown.push(seen(&screen));
        click(&mut screen, "Next");
    }
    for (index, expected) in shown.into_iter().enumerate().rev() {
        if index % 2 == 0 {
            click(&mut screen, "Back");
        } else {
            press(&mut screen, Key::Backspace);
        }
        assert_eq!(seen(&screen), expected, "stop {index}");
        assert!(met(&screen));
    }
    assert!(!has(&screen, "Back"), "nothing is before the first stop");
}

#[test]
fn tour_can_be_left_and_resumed() {
    let mut harness = paused();
    act(&mut harness, Tour::Start);
    for _ in 0..3 {
        click(&mut harness, "Skip step");
    }
    harness.get_by_label(&format!("4 of {TOUR_STEPS}"));
    press(&mut harness, Key::Escape);
    assert!(!has(&harness, &format!("4 of {TOUR_STEPS}")));
    let lines = harness.state().settings.lines();
    let kept = Settings::read(|key| {
        let line = lines.iter().find(|(name, _)| *name == key)?;
        Some(line.1.clone())
    });
    let options = Options {
        settings: kept,
        ..options(Arc::<Shelf>::default())
    };
    let mut next = window_with(SMALL, options);
    click(&mut next, &format!("Continue tour (4 of {TOUR_STEPS})"));
    next.get_by_label(&format!("4 of {TOUR_STEPS}"));
    // Nobody was at the stop before, but there is one.
    click(&mut next, "Back");
    next.get_by_label(&format!("3 of {TOUR_STEPS}"));
    click(&mut next, "Leave tour");
    assert!(!has(&next, &format!("3 of {TOUR_STEPS}")));
}

#[test]
fn tour_skips_second_act_without_recall_machine() {
    let mut harness = paused();
    act(&mut harness, Tour::Start);
    for _ in 0..9 {
        click(&mut harness, "Skip step");
    }
    harness.get_by_label(&format!("{TOUR_STEPS} of {TOUR_STEPS}"));
    click(&mut harness, "Back");
    harness.get_by_label(&format!("9 of {TOUR_STEPS}"));
}

#[test]
fn the_tour_needs_a_memory_and_finds_one() {
    let mut harness = window_of_machines(LARGE, vec![baseline(1, 8), machine("first", 1)]);
    act(&mut harness, Tour::Start);
    assert_eq!(harness.state().session.request.machine, 1);
    harness.get_by_label(&format!("1 of {TOUR_STEPS}"));
}

#[test]
fn the_head_of_the_second_act_is_the_one_that_finds_the_item() {
    let mut screen = included(LARGE, Theme::Dark, true);
    act(&mut screen, Tour::Start);
    for stop in 0..9 {
        follow(&mut screen, stop);
        click(&mut screen, "Next");
    }
    follow(&mut screen, 9);
    let recording = &shown(&screen).recording;
    let (step, focus) = (step(&screen), screen.state().view.focus);
    let query = recording
        .episode
        .phases
        .iter()
        .find(|phase| phase.name == "query")
        .unwrap();
    assert!((query.start..query.end).contains(&step));
    let head = &recording.trace.heads[focus];
    let content = head.content.row(step).iter().copied().fold(0.0, f32::max);
    assert!(
        !head.is_write() && head.gate[step] * content > 0.3,
        "{content}"
    );
    assert!(says(&screen, "the same vector as shown now"));
    // The answer follows the bit that is changed.
    click(&mut screen, "Next");
    follow(&mut screen, 10);
    assert!(says(&screen, "the item after the one in the query"));
    click(&mut screen, "Next");
    follow(&mut screen, 11);
    assert!(says(&screen, "the answer follows"));
    assert!(says(&screen, "no other bit of the answer has changed"));
    assert_eq!(shown(&screen).recording.score.wrong, 0);
    // Whoever flips it back sees that too.
    press(&mut screen, Key::Space);
    assert!(screen.state().session.request.flipped.is_empty());
}

fn failing(screen: &Screen) -> Option<bool> {
    screen.state().failing().map(|failing| failing.met)
}

#[test]
fn every_failure_plays_up_to_its_first_wrong_bit_and_says_why() {
    for (which, failure) in FAILURES.iter().enumerate() {
        let mut screen = included(LARGE, Theme::Dark, false);
        press(&mut screen, Key::W);
        let label = format!("Show {}", failure.title);
        screen.get_by_label(&label).scroll_to_me();
        screen.run_steps(3);
        click(&mut screen, &label);
        assert!(screen.state().player.playing());
        assert_eq!(failing(&screen), Some(false), "{label}");
        let mut seconds = 0.0;
        while screen.state().player.playing() {
            screen.run_steps(1);
            seconds += 0.05;
            assert!(seconds < 9.0, "{label} comes to it in some seconds");
        }
        assert!(seconds > 1.0, "{label} can be watched");
        let seen = shown(&screen).clone();
        let recording = &seen.recording;
        let (at, channel) = first_wrong(recording).unwrap();
        assert_eq!((step(&screen), failing(&screen)), (at, Some(true)));
        assert!((0..at).all(|step| recording.wrong_bits(step) == 0));
        assert!(recording.is_wrong(at, channel));
        assert!(says(
            &screen,
            &format!("The first wrong bit is bit {channel} of step {at}:")
        ));
        screen.run_steps(3);
        let card = card(&screen, "failure");
        let pictures = screen.query_all_by(|node| node.role() == Role::Image);
        let pictures: Vec<egui::Rect> = pictures.map(|node| node.rect()).collect();
        assert!(pictures.len() > 10, "{label}: {pictures:?}");
        for picture in pictures {
            assert!(!card.intersects(picture), "{label}: {card} on {picture}");
        }
        // On to the next, or back to what anyone does.
        if which == 0 {
            click(&mut screen, "Go to next failure");
            assert_eq!(failing(&screen), Some(false));
        }
        press(&mut screen, Key::Escape);
        assert_eq!(failing(&screen), None);
    }
}

/// The recording of a failure, and the same with a bit of the vector changed that is asked for in the first wrong step.
struct Failed {
    machine: Machine,
    ntm: Model<f32>,
    task: Task,
    recording: Recording,
    other: Recording,
    step: usize,
    from: usize,
}

impl Failed {
    fn of(failure: &tapescope::viewer::Failure) -> Self {
        let machines = Options::included(None).machines;
        let mut machines = machines.into_iter();
        let machine = machines
            .find(|machine| machine.name == failure.machine)
            .unwrap();
        let mut task = machine.task.clone().with_size(failure.size);
        if task.repeats().is_some() {
            task = task.with_repeats(failure.repeats);
        }
        let ntm = failure.rows.map_or_else(
            || machine.ntm.clone(),
            |rows| machine.ntm.with_rows(rows).unwrap(),
        );
        let recording = Recording::new(&ntm, &task, tapescope::train::UNSEEN_SEED, 0);
        let (step, channel) = first_wrong(&recording).unwrap();
        let from = shown_in(&recording, step).unwrap();
        let channel = channel.min(task.bits() - 1);
        let episode = task.flipped(&recording.episode, from, channel).unwrap();
        let other = Recording::of(&ntm, &task, episode, None);
        Self {
            machine,
            ntm,
            task,
            recording,
            other,
            step,
            from,
        }
    }

    /// How much a row depends on that bit, at the beginning of a step.
    fn changed(&self, row: usize, step: usize) -> f32 {
        let rows = self.recording.trace.memory_size()[0];
        let memory = |recording: &Recording| recording.trace.memory_columns.row(step).to_vec();
        let (a, b) = (memory(&self.recording), memory(&self.other));
        let of_row = (row..a.len()).step_by(rows);
        of_row.map(|at| (a[at] - b[at]).abs()).sum()
    }

    /// The row that the vector was written to.
    fn row(&self) -> Option<usize> {
        let rows = 0..self.recording.trace.memory_size()[0];
        let after = |row: &usize| self.changed(*row, self.from + 1);
        rows.max_by(|a, b| after(a).total_cmp(&after(b)))
    }

    /// The share of it that is left there, from the beginning of a step to that of another.
    fn left(&self, row: usize, [first, last]: [usize; 2]) -> f32 {
        self.changed(row, last) / self.changed(row, first)
    }
}

#[test]
fn failure_explanation_matches_recording() {
    for failure in FAILURES {
        let failed = Failed::of(&failure);
        let (recording, step, from) = (&failed.recording, failed.step, failed.from);
        for bit in 0..failed.task.bits() {
            let shown = recording.episode.input[[from, bit]];
            assert_eq!(
                shown,
                recording.episode.target[[step, bit]],
                "it is asked for"
            );
        }
        let cause = Cause::of(recording, step).unwrap();
        match (failure.machine, cause) {
            (
                "copy",
                Cause::WrittenOver {
                    row, again, left, ..
                },
            ) => {
                assert_eq!(failed.row(), Some(row), "it was written there");
                let there = failed.left(row, [again, again + 1]);
                assert!(
                    (there - left).abs() < 0.2,
                    "{there} of it is left, not {left}"
                );
                assert!(from < again && again < step && failure.size > failure.rows.unwrap());
            }
            (
                "repeat_copy",
                Cause::Late {
                    head,
                    row,
                    wrong: [now, moved],
                },
            ) => {
                assert_eq!(failed.row(), Some(row));
                let weights = &recording.trace.heads[head].weighting;
                assert!(weights.row(step)[row] < 0.5 && weights.row(step + 1)[row] > 0.5);
                assert!(now == recording.score.wrong && 2 * moved < now);
                // Told as often as in training it is not late.
                let most = *failed.machine.task.repeats().unwrap().end();
                assert_eq!(most, 10);
                let task = failed.task.clone().with_repeats(most);
                let few = Recording::new(&failed.ntm, &task, tapescope::train::UNSEEN_SEED, 0);
                assert_eq!(few.score.wrong, 0);
            }
            (
                "copy_feedforward",
                Cause::WornAway {
                    row, left, most, ..
                },
            ) => {
                assert_eq!(failed.row(), Some(row));
                let there = failed.left(row, [from + 1, step]);
                assert!(
                    (there - left).abs() < 0.2,
                    "{there} of it is left, not {left}"
                );
                assert!(most < 0.1);
                assert_eq!(*failed.machine.task.size().end() * 6, failure.size);
            }
            ("copy_lstm", Cause::Carried { units, right }) => {
                assert_eq!(units, 256);
                assert!(recording.trace.heads.is_empty());
                assert!((0..right).all(|place| recording.wrong_bits(step - 1 - place) == 0));
            }
            (name, cause) => panic!("{name}: {cause:?}"),
        }
    }
}

#[test]
fn signal_path_leads_to_step_of_its_input() {
    let machines = Options::included(None).machines;
    // The first two read a step ahead: what they read comes out by way of the controller.
    for (name, ahead) in [("copy", 1), ("copy_feedforward", 1), ("repeat_copy", 0)] {
        let machine = machines
            .iter()
            .find(|machine| machine.name == name)
            .unwrap();
        let task = machine.task.clone().with_size(8);
        let recording = Recording::new(&machine.ntm, &task, 3, 0);
        let asked = (0..recording.trace.steps())
            .filter_map(|step| Some((step, shown_in(&recording, step)?)));
        let asked: Vec<_> = asked.collect();
        assert!(asked.len() >= 8);
        for (step, shown) in asked {
            assert_eq!(signal_path::steps_ahead(&recording, false), ahead, "{name}");
            let path = SignalPath::read_in(&recording.trace, false, step - ahead).unwrap();
            // Repeat copy writes to rows once more while it answers.
            if name != "repeat_copy" {
                let origin = path.origin.map(|origin| origin.step);
                assert_eq!(origin, Some(shown), "{name} in step {step}");
            }
        }
    }
}

#[test]
fn failures_are_listed_and_wait_for_their_machine() {
    let screen = included(LARGE, Theme::Dark, false);
    let names = |screen: &Screen| {
        let choices = screen.state().choices();
        let found = choices
            .iter()
            .filter(|choice| choice.name.starts_with("Where machines fail"));
        found.count()
    };
    assert_eq!(names(&screen), FAILURES.len());
    // Small machines of a test do not have those names.
    let other = paused();
    assert_eq!(names(&other), 0);
}

/// For the eyes of whoever changes the tour: every stop before and after, every failure, in both themes and sizes, into
/// `target/tour`.
#[test]
#[ignore = "draws pictures for people"]
fn draw_every_tour_step() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tour");
    std::fs::create_dir_all(&folder).unwrap();
    for (size, theme) in [
        (LARGE, Theme::Dark),
        (LARGE, Theme::Light),
        (SMALL, Theme::Dark),
        (SMALL, Theme::Light),
    ] {
        let save = |screen: &mut Screen, name: String| {
            screen.run_steps(4);
            let name = format!("{name}-{theme:?}-{}.png", size.x).to_lowercase();
            screen.render().unwrap().save(folder.join(name)).unwrap();
        };
        let mut screen = included(size, theme, true);
        act(&mut screen, Tour::Start);
        for stop in 0..TOUR_STEPS {
            save(&mut screen, format!("stop{:02}a", stop + 1));
            follow(&mut screen, stop);
            save(&mut screen, format!("stop{:02}b", stop + 1));
            click(&mut screen, next_of(stop));
        }
        press(&mut screen, Key::W);
        save(&mut screen, "start".to_owned());
        for which in 0..FAILURES.len() {
            act(&mut screen, Episode::Failure(Some(which)));
            save(&mut screen, format!("failure{}", which + 1));
        }
    }
}

#[test]
fn a_tour_that_was_left_is_continued_or_started_again() {
    let mut screen = included(LARGE, Theme::Dark, true);
    act(&mut screen, Tour::Start);
    act(&mut screen, Tour::Next);
    act(&mut screen, Tour::Next);
    act(&mut screen, Tour::Leave);
    click(&mut screen, "Continue tour (3 of 13)");
    screen.get_by_label("3 of 13");
    click(&mut screen, "Start again");
    screen.get_by_label("1 of 13");
    assert!(!has(&screen, "Start again"));
}

#[test]
fn tour_ends_by_itself_after_its_last_step() {
    let mut screen = included(LARGE, Theme::Dark, true);
    act(&mut screen, Tour::Start);
    for _ in 1..TOUR_STEPS {
        act(&mut screen, Tour::Next);
    }
    press(&mut screen, Key::W);
    assert!(met(&screen));
    press(&mut screen, Key::W);
    assert!(screen.state().tour().is_none());
    assert_eq!(screen.state().settings.stop, 0);
}
