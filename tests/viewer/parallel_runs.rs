//! Several machines that learn side by side: a card for each, of which one is chosen. Without a window the school makes
//! one update of each run per frame.

use std::collections::BTreeSet;
use std::sync::Weak;

use tapescope::io::Experiment;
use tapescope::learn::RunUpdate;
use tapescope::viewer::command::{Learn, Replacement};
use tapescope::viewer::{RunUpdates, RunView};

use super::*;

fn experiment(seed: u64, more: &[&str]) -> Experiment {
    let mut experiment = super::learn::experiment(more);
    experiment.training.seed = seed;
    experiment
}

/// A window in which so many learn.
pub fn several(size: Vec2, count: u64) -> Screen {
    several_in(window_of(size, Arc::default()), count)
}

/// The same in this window.
pub fn several_in(mut screen: Screen, count: u64) -> Screen {
    act(&mut screen, Replacement::Begin(runs(count)));
    screen
}

/// So many runs: the last but one has a learning rate at which it diverges, the last only few sequences.
pub fn runs(count: u64) -> Vec<(Option<String>, Experiment)> {
    let runs = (1..=count).map(|seed| match count - seed {
        1 => experiment(seed, &["training.optimizer.learning_rate=1e30"]),
        0 => experiment(seed, &["training.sequences=24"]),
        _ => experiment(seed, &[]),
    });
    runs.map(|run| (None, run)).collect()
}

fn chosen(screen: &Screen) -> usize {
    screen.state().learning.as_ref().unwrap().chosen
}

#[test]
fn every_run_has_a_status_card() {
    let mut screen = several(LARGE, 4);
    screen.run_steps(30);
    for card in [
        "Show seed 1: training",
        "Show seed 2: training",
        "Show seed 3: diverged",
        "Show seed 4: ended",
    ] {
        screen.get_by_label(card);
    }
    // What the others do is recorded in turns, by the machines that they are now.
    let learning = screen.state().learning.as_ref().unwrap();
    for run in &learning.runs[1..] {
        let probe = run.probe.as_ref().unwrap();
        let own = &probe.shown.machine.as_ref().unwrap().ntm;
        assert_eq!(own.params, run.machine.params, "{}", run.label());
        let (_, request) = run.probed.as_ref().unwrap();
        assert_eq!(request, &screen.state().session.request);
    }
}

#[test]
fn legend_names_every_run_in_its_colour() {
    let mut screen = several(LARGE, 10);
    screen.run_steps(30);
    for seed in 1..=10 {
        let name = format!("seed {seed}");
        let texts = super::clipping::texts(&screen);
        let named = texts.filter(|(text, _)| text.galley.text() == name);
        // In the legend and on the card.
        assert_eq!(named.count(), 2, "{name}");
    }
}

#[test]
fn stale_probe_does_not_block_new_runs() {
    let mut screen = several(LARGE, 4);
    screen.run_steps(10);
    press(&mut screen, Key::T);
    let runs = &screen.state().learning.as_ref().unwrap().runs;
    let news = runs.iter().map(|run| RunUpdate {
        progress: run.progress.clone().unwrap(),
        machine: run.machine.clone(),
        rate: None,
        followed: u64::MAX,
    });
    let told = RunUpdates::new(news.enumerate().collect());
    screen.state_mut().held = true;
    // A probe is under way while other runs begin, and those wait from then on.
    act(&mut screen, Learn::Snapshot(Some(0)));
    act(&mut screen, Replacement::Again);
    screen.state_mut().held = false;
    screen.run_steps(1);
    screen.state_mut().held = true;
    act(&mut screen, Learn::Toggle);
    act(&mut screen, Learn::Updates(told));
    screen.state_mut().held = false;
    screen.run_steps(10);
    let learning = screen.state().learning.as_ref().unwrap();
    assert!(!learning.is_training && !learning.expects_news());
    for run in &learning.runs[1..] {
        let probe = run.probe.as_ref();
        let probe = probe.unwrap_or_else(|| panic!("{} has no picture", run.label()));
        let own = &probe.shown.machine.as_ref().unwrap().ntm;
        assert_eq!(own.params, run.machine.params, "{}", run.label());
    }
}

#[test]
fn cache_frees_data_of_ended_runs() {
    let mut screen = several(LARGE, 4);
    screen.run_steps(10);
    let runs = &screen.state().learning.as_ref().unwrap().runs;
    let accounts = runs.iter().map(|run| run.progress.as_ref().unwrap());
    let gone: Vec<Weak<_>> = accounts.map(Arc::downgrade).collect();
    begin_training(&mut screen, experiment(9, &[]));
    screen.run_steps(10);
    let left = gone.iter().filter(|progress| progress.strong_count() > 0);
    assert_eq!(left.count(), 0);
}

#[test]
fn click_selects_run_and_arrows_move_on() {
    let mut screen = several(LARGE, 4);
    screen.run_steps(10);
    press(&mut screen, Key::T);
    let first = answers(&screen);
    click(&mut screen, "Show seed 2: training");
    assert_eq!(chosen(&screen), 1);
    let second = answers(&screen);
    assert_ne!(second, first);
    let step = screen.state().player.step();
    press(&mut screen, Key::ArrowLeft);
    assert_eq!((chosen(&screen), answers(&screen)), (0, first.clone()));
    press(&mut screen, Key::ArrowLeft);
    assert_eq!(chosen(&screen), 0);
    press(&mut screen, Key::ArrowRight);
    assert_eq!((chosen(&screen), answers(&screen)), (1, second));
    assert_eq!(screen.state().player.step(), step);
    // From anywhere, round and round.
    act(&mut screen, Learn::MoveRun(-1));
    act(&mut screen, Learn::MoveRun(-1));
    assert_eq!(chosen(&screen), 3);
    act(&mut screen, Learn::MoveRun(1));
    assert_eq!((chosen(&screen), answers(&screen)), (0, first));
}

#[test]
fn snapshot_selection_applies_to_all_runs() {
    let mut screen = several(LARGE, 4);
    screen.run_steps(30);
    press(&mut screen, Key::T);
    act(&mut screen, Learn::Snapshot(Some(2)));
    act(&mut screen, Learn::Run(1));
    let learning = screen.state().learning.as_ref().unwrap();
    let at = |run: usize| {
        let machine = learning.machine_of(&learning.runs[run]);
        let progress = learning.runs[run].progress.as_ref().unwrap();
        let all = progress.snapshots.all().iter();
        let mut all = all.filter(|snapshot| Arc::ptr_eq(&snapshot.machine, machine));
        all.next().map(|snapshot| snapshot.sequences)
    };
    assert_eq!([at(0), at(1), at(3)], [Some(2); 3]);
}

#[test]
fn two_runs_are_compared() {
    let mut screen = several(LARGE, 4);
    screen.run_steps(20);
    press(&mut screen, Key::T);
    press(&mut screen, Key::K);
    act(&mut screen, Learn::Run(1));
    assert_eq!(screen.state().layout(), WindowLayout::Compare);
    let pair = screen.state().pair().unwrap();
    let runs = &screen.state().learning.as_ref().unwrap().runs;
    for (open, run) in [pair.a, pair.b].into_iter().zip(runs) {
        let machine = open.shown.machine.as_ref().unwrap();
        assert_eq!(machine.ntm.params, run.machine.params);
    }
}

#[test]
fn ten_seeds_begin_from_the_list_of_commands() {
    let mut screen = paused();
    act(&mut screen, Replacement::Seeds(10));
    let labels = |screen: &Screen| -> Vec<String> {
        let learning = screen.state().learning.as_ref().unwrap();
        learning.runs.iter().map(RunView::label).collect()
    };
    let seeds = |seeds: std::ops::RangeInclusive<u64>| -> Vec<String> {
        seeds.map(|seed| format!("seed {seed}")).collect()
    };
    assert_eq!(labels(&screen), seeds(1..=10));
    act(&mut screen, Replacement::NextSeed);
    assert_eq!(labels(&screen), seeds(11..=20));
    act(&mut screen, Replacement::Again);
    assert_eq!(labels(&screen), seeds(11..=20));
}

#[test]
fn ablations_train_without_each_stage() {
    let mut screen = window_of(LARGE, Arc::default());
    begin_training(&mut screen, experiment(3, &[]));
    act(&mut screen, Replacement::Ablate);
    screen.run_steps(10);
    let learning = screen.state().learning.as_ref().unwrap();
    let labels: Vec<_> = learning.runs.iter().map(RunView::label).collect();
    let all = [
        "unchanged",
        "no content",
        "no strength",
        "no gate",
        "no shift",
        "no sharpening",
        "no erase",
    ];
    assert_eq!(labels, all);
    assert!(learning.runs.iter().all(|run| run.begun.training.seed == 3));
    press(&mut screen, Key::T);
    press(&mut screen, Key::K);
    click(&mut screen, "Show no gate: training");
    // Machines with other stages are compared.
    assert_eq!(screen.state().layout(), WindowLayout::Compare);
    let pair = screen.state().pair().unwrap();
    let gates = [pair.a, pair.b].map(|open| open.shown.recording.trace.heads[0].gate.width());
    assert_eq!(gates, [1, 0]);
    // What learns next keeps its names.
    act(&mut screen, Replacement::NextSeed);
    let learning = screen.state().learning.as_ref().unwrap();
    let labels: Vec<_> = learning.runs.iter().map(RunView::label).collect();
    assert_eq!(labels, all);
    assert!(learning.runs.iter().all(|run| run.begun.training.seed == 4));
    // And each is saved apart from the others.
    let mut folders = Vec::new();
    for run in 0..all.len() {
        act(&mut screen, Learn::Run(run));
        folders.push(screen.state().learning.as_ref().unwrap().folder());
    }
    assert_eq!(
        folders[..2],
        ["runs/copy-4-unchanged", "runs/copy-4-no-content"]
    );
    assert_eq!(folders.iter().collect::<BTreeSet<_>>().len(), 7);
}
