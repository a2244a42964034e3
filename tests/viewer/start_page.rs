//! The start page.

use super::*;
use tapescope::figure::head_named;
use tapescope::io::preset::{FAMILY, FIRST, FIRST_STEP, Mechanism, UNCERTAINTY};

fn included_with(settings: Settings, size: Vec2) -> Screen {
    let options = Options {
        settings,
        ..Options::included(None)
    };
    window_with(size, options)
}

fn first_start() -> Settings {
    Settings::read(|_| None)
}

#[test]
fn every_machine_has_a_card_that_opens_it() {
    for size in [LARGE, SMALL] {
        let mut harness = included_with(Settings::default(), size);
        press(&mut harness, Key::W);
        let titles: Vec<_> = harness
            .state()
            .session
            .machines
            .iter()
            .map(|m| m.title.clone())
            .collect();
        let included = tapescope::io::weights::included_names().count();
        assert_eq!(titles.len(), included + 1, "and one that is not trained");
        for (index, title) in titles.iter().enumerate() {
            // The last cards of a small window are below its edge.
            harness
                .get_by_label(&format!("Show {title}"))
                .scroll_to_me();
            harness.run_steps(3);
            let card = harness.get_by_label(&format!("Show {title}")).rect();
            assert!(card.left() >= 0.0 && card.right() <= size.x);
            click(&mut harness, &format!("Show {title}"));
            let state = harness.state();
            assert_eq!(state.session.request.machine, index);
            assert!(state.player.playing());
            press(&mut harness, Key::W);
        }
        // Back without choosing.
        press(&mut harness, Key::Escape);
        harness.get_by_label("Go to next step");
    }
}

#[test]
fn picture_of_the_loop_opens_its_step_and_is_not_on_a_phone() {
    let name = "Show one step of a machine";
    for (size, is_shown) in [(LARGE, true), (SMALL, true), (phone::PHONE, false)] {
        let mut harness = included_with(Settings::default(), size);
        act(&mut harness, Window::ToggleWelcome);
        harness.run_steps(3);
        assert_eq!(has(&harness, name), is_shown);
        if is_shown {
            let picture = harness.state().welcome.pictures.get(FIRST.link);
            assert!(matches!(picture, Some(Some(_))));
            click(&mut harness, name);
            let state = harness.state();
            assert_eq!(state.session.machine().unwrap().name, FIRST.machine());
            assert_eq!(state.player.step(), FIRST_STEP);
        }
    }
}

/// All mechanisms on the page, and the sources of uncertainty.
fn mechanisms() -> impl Iterator<Item = &'static Mechanism> {
    let groups = FAMILY.iter().chain([&UNCERTAINTY]);
    groups.flat_map(|group| group.mechanisms)
}

#[test]
fn every_attention_mechanism_has_a_card_that_opens_its_machine() {
    for size in [LARGE, SMALL, phone::PHONE] {
        let mut harness = included_with(Settings::default(), size);
        act(&mut harness, Window::ToggleWelcome);
        click(&mut harness, "Show attention mechanisms");
        for group in &FAMILY {
            harness.get_by_label(&group.title.to_uppercase());
        }
        for mechanism in mechanisms() {
            let name = format!("Show {}", mechanism.name);
            harness.get_by_label(&name).scroll_to_me();
            harness.run_steps(3);
            let card = harness.get_by_label(&name).rect();
            assert!(card.left() >= 0.0 && card.right() <= size.x, "{name}");
            let picture = harness.state().welcome.pictures.get(mechanism.link);
            assert!(matches!(picture, Some(Some(_))), "{name}: no episode");
            click(&mut harness, &name);
            let state = harness.state();
            let machine = state.session.machine().unwrap();
            assert_eq!(machine.name, mechanism.machine());
            assert!(!state.welcome.shown && !state.player.playing(), "{name}");
            let begin = Options::linked(mechanism.link).unwrap().1;
            assert_eq!(state.player.step(), begin.step.unwrap(), "{name}");
            let head = |label: &String| head_named(state.trace().unwrap(), label);
            let head = begin.head.as_ref().and_then(head);
            assert!(head.is_none_or(|head| head == state.view.focus), "{name}");
            act(&mut harness, Window::ToggleFamily);
        }
    }
}

#[test]
fn attention_page_leads_back_to_the_start_page_and_the_episode() {
    let mut harness = included_with(Settings::default(), SMALL);
    act(&mut harness, Window::ToggleFamily);
    click(&mut harness, "Return to start page");
    harness.get_by_label("Return to episode");
    click(&mut harness, "Show attention mechanisms");
    press(&mut harness, Key::Escape);
    harness.get_by_label("Return to episode");
    press(&mut harness, Key::Escape);
    harness.get_by_label("Go to next step");
    // And with the keyboard alone.
    act(&mut harness, Window::ToggleFamily);
    harness.get_by_label("Show Hard attention").focus();
    press(&mut harness, Key::Enter);
    let machine = harness.state().session.machine().unwrap();
    assert_eq!(machine.name, "copy_hard");
}

#[test]
fn pictures_of_attention_mechanisms_move_unless_motion_is_reduced() {
    for still in [false, true] {
        let mut settings = Settings::default();
        settings.look.still = !still;
        let mut harness = included_with(settings, LARGE);
        act(&mut harness, Window::ToggleMotion);
        act(&mut harness, Window::ToggleFamily);
        let mut frames = Vec::new();
        for _ in 0..2 {
            harness.run_steps(20);
            frames.push(format!("{:?}", harness.output().shapes));
        }
        assert_eq!(frames[0] == frames[1], still);
    }
}

#[test]
fn a_link_opens_the_attention_page() {
    let (machine, begin) = Options::linked("page=attention").unwrap();
    assert_eq!((machine, begin.family), ("copy", true));
    let options = Options {
        begin,
        ..Options::included(None)
    };
    let mut harness = window_with(SMALL, options);
    harness.run_steps(3);
    harness.get_by_label("Return to start page");
    assert!(!harness.state().player.playing());
}

#[test]
fn encoder_decoder_machines_have_a_section_and_learn_live() {
    let section = tapescope::io::preset::SECTIONS[1];
    let mut harness = included_with(Settings::default(), LARGE);
    press(&mut harness, Key::W);
    let top = harness.get_by_label(&section.to_uppercase()).rect().top();
    let machines = harness.state().session.machines.iter().enumerate();
    let is_there = |machine: &Machine| machine.other_way.as_ref().is_some_and(|it| it.0 == section);
    let machines = machines.filter(|(_, machine)| is_there(machine));
    let machines: Vec<_> = machines.map(|(at, it)| (at, it.title.clone())).collect();
    assert_eq!(machines.len(), 5);
    for (index, title) in machines {
        let card = harness.get_by_label(&format!("Show {title}")).rect();
        assert!(card.top() > top, "{title}");
        let mut harness = included_with(Settings::default(), LARGE);
        act(&mut harness, Episode::Machine(index));
        press(&mut harness, Key::T);
        let before = answers(&harness);
        harness.run_steps(3);
        let learning = harness.state().learning.as_ref().unwrap();
        let progress = learning.run().progress.as_ref().unwrap();
        assert!(progress.sequences > 0 && learning.run().begun.title == title);
        assert_ne!(answers(&harness), before, "{title}");
    }
}

/// Machines lie beside the page; one of them is out of reach. Remembers who was asked for.
#[derive(Debug, Default)]
struct Beside(Mutex<Vec<String>>);

impl Files for Beside {
    fn fetch(&self, name: &str, answer: FetchCallback) {
        self.0.lock().unwrap().push(name.to_owned());
        answer(match name {
            "second" => Err("The server is not there.".to_owned()),
            _ => Ok(machine(name, 3)),
        });
    }
}

#[test]
fn cards_of_unfetched_machines_fill_when_loaded() {
    let beside = Arc::<Beside>::default();
    let away = |name: &str| Machine {
        away: true,
        ..machine(name, 3)
    };
    let names = ["first", "second", "third"];
    let machines = [machine("here", 3)].into_iter().chain(names.map(away));
    let options = Options {
        machines: machines.collect(),
        ..options(beside.clone())
    };
    let mut harness = window_with(LARGE, options);
    assert!(beside.0.lock().unwrap().is_empty(), "nobody needs them yet");
    press(&mut harness, Key::W);
    harness.run_steps(3);
    let state = harness.state();
    let has_picture = |name: &&str| matches!(state.welcome.pictures.get(*name), Some(Some(_)));
    let there: Vec<_> = ["here", "first", "second", "third"]
        .into_iter()
        .filter(has_picture)
        .collect();
    assert_eq!(there, ["here", "first", "third"]);
    assert_eq!(*beside.0.lock().unwrap(), names, "each of them once");
    assert_eq!(state.toasts.history().count(), 0, "nobody has asked for it");
}

#[test]
fn untrained_machine_is_labelled_untrained() {
    let mut harness = included_with(Settings::default(), LARGE);
    let last = harness.state().session.machines.len() - 1;
    act(&mut harness, Episode::Machine(last));
    harness.get_by_label("not trained: random weights");
    let open = harness.state().session.open.as_ref().unwrap();
    let score = open.shown.recording.score;
    assert!(score.wrong * 3 > score.scored, "{score:?}");
    assert!(!says(&harness, "trained on"));
}

#[test]
fn recent_files_are_opened_again_and_missing_ones_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.ntmtrace.json");
    let mut harness = paused_with(Arc::new(Disk));
    act(&mut harness, File::Save(path.clone(), false));
    let gone = folder.path().join("gone.ntmtrace.json");
    let settings = Settings {
        recent: vec![gone.clone(), path.clone()],
        ..Settings::default()
    };
    let options = Options {
        settings,
        ..options(Arc::new(Disk))
    };
    let mut harness = window_with(LARGE, options);
    press(&mut harness, Key::W);
    click(&mut harness, &format!("{}: file not found", gone.display()));
    assert!(!has(&harness, "Problem"));
    click(&mut harness, &path.display().to_string());
    assert!(
        harness
            .state()
            .session
            .open
            .as_ref()
            .unwrap()
            .is_of_a_file()
    );
    assert_eq!(harness.state().settings.recent[0], path);
}

#[test]
fn space_leaves_the_start_page() {
    let mut harness = paused();
    press(&mut harness, Key::W);
    harness.get_by_label("Return to episode");
    press(&mut harness, Key::Space);
    assert!(!has(&harness, "Return to episode"));
    assert!(harness.state().player.playing());
}

#[test]
fn the_first_start_plays_and_offers_the_tour_once() {
    let mut harness = included_with(first_start(), SMALL);
    assert!(harness.state().player.playing());
    // It comes when the opening is over.
    assert!(!has(&harness, "Start tour") && !has(&harness, "Not now"));
    press(&mut harness, Key::Escape);
    click(&mut harness, "Not now");
    assert!(!has(&harness, "Not now"));
    // What stays is the button in the top bar.
    assert_eq!(harness.query_all_by_label("Start tour").count(), 1);
    assert!(harness.state().settings.greeted);
}

#[test]
fn window_opens_at_requested_episode_step_and_head() {
    let task = machine("first", 1).task;
    for (seed, index, compare) in [(7, 0, false), (7, 2, false), (7, 0, true)] {
        let other = || OpenedFile::Machine(Box::new(machine("other", 3)));
        let episode = task.episode(seed, index);
        let (last, size) = (episode.steps() - 1, episode.size);
        let begin = StartOptions {
            rows: Some(40),
            asked: Some(ExternalEpisode {
                task: task.clone(),
                episode: episode.clone(),
                origin: Some(tapescope::model::Draw::of(seed, index)),
            }),
            step: Some(last),
            head: Some("R0".to_owned()),
            ..StartOptions::default()
        };
        let files: Arc<dyn Files> = Arc::<Shelf>::default();
        let mut app = App::headless(Options {
            begin,
            compare: compare.then(|| ("other.safetensors".into(), Some(other()))),
            ..options(files)
        });
        // What is compared with comes behind the first.
        app.apply(&egui::Context::default(), Vec::new());
        let open = app.session.open.as_ref().unwrap();
        assert_eq!(open.shown.recording.episode, episode);
        assert_eq!(open.shown.config.as_ref().unwrap().rows(), 40);
        // Drawn again where that can be: the next seed is the next one.
        assert_eq!(open.request.as_ref().unwrap().given.is_none(), index == 0);
        assert_eq!((app.session.request.size, app.view.focus), (size, 0));
        assert_eq!((app.player.step(), app.player.playing()), (last, false));
        // Whatever comes next begins where it always does.
        let back = [
            Command::Compare(Compare::End),
            Command::Episode(Episode::Machine(1)),
        ];
        app.apply(&egui::Context::default(), back.into());
        assert_eq!(app.player.step(), 0);
    }
}
