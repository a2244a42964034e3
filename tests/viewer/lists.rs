//! The list beside the timeline: events, instructions and provenance.

use super::*;
use tapescope::analysis::disassembly::{Disassembly, TOLERANCE};
use tapescope::analysis::provenance::{Origin, Target as Value, Writes};
use tapescope::figure::{PanelId, Picture};
use tapescope::model::config::Order;
use tapescope::viewer::command::List;

/// The words of the list on screen.
fn listed(harness: &Screen) -> Vec<(usize, String)> {
    let list = harness.state().list();
    let lines = list.iter().map(|line| (line.step, line.words.clone()));
    lines.collect()
}

#[test]
fn instructions_of_the_selected_head_are_folded_and_go_to_their_step() {
    let mut harness = paused();
    click(&mut harness, "Instructions");
    for head in [0, 1] {
        act(&mut harness, ViewCommand::Focus(head));
        let found = Disassembly::of(recording(&harness), Order::ReadFirst, TOLERANCE);
        let phases = recording(&harness).episode.phases.clone();
        let folds = phases
            .iter()
            .flat_map(|phase| found.fold(head, phase.start..phase.end));
        let expected: Vec<_> = folds
            .map(|fold| (fold.ends()[0], fold.to_string()))
            .collect();
        assert_eq!(listed(&harness), expected);
        let (step_of_last, words) = expected.last().unwrap();
        click(&mut harness, &format!("Go to step {step_of_last}: {words}"));
        assert_eq!(step(&harness), *step_of_last);
    }
    click(&mut harness, "Events");
    let events = listed(&harness);
    assert!(
        events
            .iter()
            .any(|(_, words)| words.contains("answer begins"))
    );
}

#[test]
fn provenance_lists_the_shares_of_a_read_of_a_write_and_of_an_output_bit() {
    let mut harness = paused();
    act(&mut harness, ViewCommand::List(List::Provenance));
    act(&mut harness, ViewCommand::Focus(0));
    act(&mut harness, Play::Seek(8));
    let config = harness
        .state()
        .session
        .open
        .as_ref()
        .unwrap()
        .shown
        .config
        .clone()
        .unwrap();
    let (largest, bit) = {
        let writes = Writes::of(recording(&harness), &config).unwrap();
        let made = writes.made(Value::Read(0, 8), None).unwrap();
        let largest = made.largest()[0];
        let share = 100.0 * made.share(largest);
        let machine = &harness.state().session.open.as_ref().unwrap().shown.machine;
        let machine = &machine.as_ref().unwrap().ntm;
        let bit = writes.made(Value::Bit(8, 1), Some(machine)).unwrap();
        let bit = 100.0 * bit.share(bit.largest()[0]);
        ((largest.origin, share), bit)
    };
    let (step_of_it, words) = listed(&harness)[0].clone();
    assert!(
        words.starts_with(&format!("{:.0} % from", largest.1)),
        "{words}"
    );
    match largest.0 {
        Origin::Write(_, at) => assert_eq!(step_of_it, at),
        origin => assert!(words.contains("initial"), "{origin:?} {words}"),
    }
    let output = PanelId::new(Picture::Output);
    act(
        &mut harness,
        ViewCommand::Select(Target::Value {
            id: output,
            column: 1,
        }),
    );
    assert!(
        listed(&harness)[0]
            .1
            .starts_with(&format!("{bit:.0} % from"))
    );
    act(&mut harness, ViewCommand::Deselect);
    // Forward: each read that the write of step 1 reached has the share that the read says.
    act(&mut harness, ViewCommand::Focus(1));
    act(&mut harness, Play::Seek(1));
    let writes = Writes::of(recording(&harness), &config).unwrap();
    let reached = listed(&harness);
    assert!(!reached.is_empty());
    for (at, words) in reached {
        let made = writes.made(Value::Read(0, at), None).unwrap();
        let part = made
            .parts
            .iter()
            .find(|part| part.origin == Origin::Write(1, 1))
            .unwrap();
        assert!(
            words.starts_with(&format!(
                "{:.0} % of what R0 reads",
                100.0 * made.share(part)
            )),
            "{words}"
        );
    }
}

#[test]
fn lists_say_why_they_are_empty() {
    let mut harness = paused();
    act(&mut harness, ViewCommand::List(List::Provenance));
    act(&mut harness, Edit::Intervene("2:memory[0]=0".to_owned()));
    let words = &listed(&harness)[0].1;
    assert!(words.contains("memory was set"), "{words}");
}

#[test]
fn a_list_that_is_asked_for_gets_room() {
    let mut harness = paused();
    while harness.state().layout() != WindowLayout::CloseUp {
        act(&mut harness, ViewCommand::NextLayout);
    }
    assert!(!has(&harness, "Instructions"));
    act(&mut harness, ViewCommand::List(List::Instructions));
    assert!(has(&harness, "Instructions") && !listed(&harness).is_empty());
}
