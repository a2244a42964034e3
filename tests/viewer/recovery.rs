//! A run that a killed program left: its checkpoints are offered at the next start. A window that is dropped with an
//! unsaved run stands for the killed program.

use tapescope::io::recovery::{RecoverableRun, recoverable};

use super::learn::experiment;
use super::*;

/// A window with this recovery folder.
fn window_at(root: &Path) -> Screen {
    let options = Options {
        recovery: Some(root.to_owned()),
        ..options(Arc::new(Disk))
    };
    window_with(LARGE, options)
}

/// A window that trains these seeds, with a change by hand where there is one seed: it writes a checkpoint.
fn training(root: &Path, seeds: &[u64]) -> Screen {
    let mut screen = window_at(root);
    // A finished run writes one, too.
    let few = ["training.sequences=10"];
    let few = &few[..usize::from(seeds.len() > 1)];
    let of = |seed: &u64| {
        let seed = format!("training.seed={seed}");
        let more: Vec<_> = few.iter().copied().chain([seed.as_str()]).collect();
        (None, experiment(&more))
    };
    act(
        &mut screen,
        Replacement::Begin(seeds.iter().map(of).collect()),
    );
    screen.run_steps(20);
    if let [_] = seeds {
        let set = vec!["training.optimizer.learning_rate=2e-3".to_owned()];
        act(&mut screen, Learn::Change(set));
    }
    screen
}

fn run(screen: &Screen) -> &tapescope::viewer::RunView {
    screen.state().learning.as_ref().unwrap().run()
}

fn sequences(screen: &Screen) -> u64 {
    run(screen).progress.as_ref().unwrap().sequences
}

#[test]
fn run_of_a_killed_window_is_recovered() {
    let root = tempfile::tempdir().unwrap();
    let screen = training(root.path(), &[1]);
    let (changes, changed_at) = {
        let progress = run(&screen).progress.as_ref().unwrap();
        (progress.changes.clone(), progress.changes[0].sequences)
    };
    assert!(changed_at > 0);
    // Two windows do not share a run.
    assert!(!says(&window_at(root.path()), "Recover run"));
    drop(screen);
    let mut screen = window_at(root.path());
    assert!(says(
        &screen,
        &format!("Copy, seed 1: {changed_at} of 4000")
    ));
    let folder = screen.state().recoverable[0].folder.clone();
    let context = screen.ctx.clone();
    let recover = Replacement::Recover(vec![folder]).into();
    screen.state_mut().apply(&context, vec![recover]);
    assert!(run(&screen).progress.is_none());
    assert!(screen.state().is_unsaved(), "nothing is known of it yet");
    screen.run_steps(3);
    assert!(sequences(&screen) > changed_at);
    let progress = run(&screen).progress.as_ref().unwrap();
    assert_eq!(progress.changes, changes);
    assert!(
        progress.snapshots.all().len() > 1,
        "the snapshots are there"
    );
    assert_eq!(recoverable(root.path()), [], "held again");
    act(&mut screen, Replacement::Nothing);
    click(&mut screen, "Stop without saving");
    drop(screen);
    assert!(!says(&window_at(root.path()), "Recover run"));
}

#[test]
fn saved_run_is_not_offered() {
    let root = tempfile::tempdir().unwrap();
    let mut screen = training(root.path(), &[1]);
    press(&mut screen, Key::T);
    let folder = root.path().join("saved/run");
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    act(&mut screen, Learn::Save(folder, false));
    drop(screen);
    let names = std::fs::read_dir(root.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["saved"]);
}

/// The folder of three runs as a kill leaves it: the window discards such short runs when it is dropped.
fn three_killed_runs() -> tempfile::TempDir {
    let [root, copies] = [(), ()].map(|()| tempfile::tempdir().unwrap());
    let screen = training(root.path(), &[1, 2, 3]);
    for entry in std::fs::read_dir(root.path()).unwrap() {
        let from = entry.unwrap().path();
        let to = copies.path().join(from.file_name().unwrap());
        std::fs::create_dir(&to).unwrap();
        for file in std::fs::read_dir(&from).unwrap() {
            let file = file.unwrap();
            if file.file_name() != "run.lock" {
                std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
            }
        }
    }
    drop(screen);
    assert_eq!(recoverable(root.path()), []);
    copies
}

#[test]
fn run_that_cannot_be_read_does_not_keep_others_from_being_recovered() {
    let copies = three_killed_runs();
    let broken = recoverable(copies.path()).remove(0).folder;
    std::fs::write(broken.join("history.ntmlog.jsonl"), "no log").unwrap();
    let mut screen = window_at(copies.path());
    click(&mut screen, "Recover all");
    screen.run_steps(3);
    let learning = screen.state().learning.as_ref().unwrap();
    assert_eq!(learning.runs.len(), 2);
    let left = screen.state().recoverable.clone();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].folder, broken);
    assert!(says(&screen, &left[0].label), "the reason is a message");
    assert!(screen.state().dialog.is_none());
    // It is offered again where one asks for it.
    act(&mut screen, Subject::Commands);
    type_into(&mut screen, "Command", "recover runs");
    press(&mut screen, Key::Enter);
    screen.run_steps(2);
    click(&mut screen, "Discard");
    assert_eq!(recoverable(copies.path()), []);
}

#[test]
fn offer_to_recover_leaves_an_open_dialog_alone() {
    let root = tempfile::tempdir().unwrap();
    let left = RecoverableRun {
        folder: root.path().join("run-1"),
        label: "Copy, seed 1: 100 of 4000 sequences".to_owned(),
    };
    let mut screen = window_at(root.path());
    act(&mut screen, Subject::Settings);
    let runs = vec![left.clone()];
    screen
        .state_mut()
        .receive(Box::new(|state| state.offer_recovery(runs)));
    screen.run_steps(2);
    let dialog = screen.state().dialog.as_ref().unwrap();
    assert_eq!(dialog.subject, Subject::Settings);
    act(&mut screen, DialogCommand::Leave);
    act(&mut screen, Subject::Recovery);
    assert!(says(&screen, &left.label));
}

#[test]
fn recoverable_runs_are_discarded_or_recovered_together() {
    let copies = three_killed_runs();
    let mut screen = window_at(copies.path());
    assert_eq!(screen.state().recoverable.len(), 3);
    act(&mut screen, Learn::Discard(1));
    assert_eq!(recoverable(copies.path()).len(), 2);
    click(&mut screen, "Recover all");
    screen.run_steps(3);
    let learning = screen.state().learning.as_ref().unwrap();
    let seeds = learning.runs.iter().map(|run| run.begun.training.seed);
    assert_eq!(seeds.collect::<Vec<_>>(), [1, 3]);
}
