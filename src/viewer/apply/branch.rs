//! Branches: interventions come, are left out, and go. Another machine, size, seed, number of rows, sample or input
//! ends the branch.

use crate::viewer::state::{Dialog, EpisodeRequest, Kind, Open, RequestedChange, State, Subject};

impl State {
    /// Sets a value; what is wrong with it is shown where it is typed.
    pub(super) fn intervene(&mut self, text: String) {
        let is_typed = |dialog: &Dialog| dialog.subject == Subject::Value;
        let dialog = self.dialog.take_if(|dialog| is_typed(dialog));
        let Some(open) = self.session.open.clone() else {
            return;
        };
        let plain = open.request.as_ref().map(EpisodeRequest::plain);
        // Which steps there are is known from the episode without interventions.
        let baseline = self.comparing.baseline.as_ref().map(|pinned| &pinned.open);
        let is_it = |pinned: &&Open| plain.is_some() && pinned.request == plain;
        let before = baseline.filter(is_it).unwrap_or(&open);
        match before.read_intervention(&text) {
            Ok(text) => self.add_intervention(text, open),
            Err(problem) if dialog.is_some() => {
                self.dialog = Some(Dialog {
                    problem,
                    ..Dialog::with_error(Subject::Value, text)
                });
            }
            Err(problem) => {
                let text = format!("Intervention `{text}` {problem}");
                self.toasts.add(Kind::Problem, text);
            }
        }
    }

    fn add_intervention(&mut self, text: String, screen: Open) {
        let Some(shown) = screen.request.clone() else {
            return;
        };
        self.player.pause();
        let is_of = |other: &EpisodeRequest| other.plain() == shown.plain();
        if !is_of(&self.session.request) {
            // Another episode was asked for, but this one is looked at.
            self.session.request = shown.clone();
        }
        let baseline = self.comparing.baseline.as_ref();
        let pinned = baseline.and_then(|baseline| baseline.open.request.as_ref());
        let is_first = self.session.request.changes.is_empty() && shown.changes.is_empty();
        if is_first && !pinned.is_some_and(is_of) {
            self.comparing.keep(screen, true);
        }
        self.session.request.set_value(text);
        self.record();
    }

    /// Changes the list of interventions.
    pub(super) fn change_branch(&mut self, change: impl FnOnce(&mut Vec<RequestedChange>)) {
        let before = self.session.request.changes.clone();
        change(&mut self.session.request.changes);
        let changes = &self.session.request.changes;
        if *changes == before {
            return;
        }
        if changes.is_empty() {
            self.end_comparison_with_plain();
        }
        self.record();
    }

    /// Another episode is asked for: what was set of this one is removed.
    pub(super) fn leave_branch(&mut self) {
        if self.session.request.changes.is_empty() {
            return;
        }
        self.session.request.changes.clear();
        self.end_comparison_with_plain();
        let text =
            "The branch ended: its interventions belong to the episode before. Ctrl+Z restores it.";
        self.toasts.add(Kind::Notice, text);
    }

    /// Ends the comparison with the same episode without interventions.
    fn end_comparison_with_plain(&mut self) {
        let plain = self.request_on_screen().map(EpisodeRequest::plain);
        let baseline = self.comparing.baseline.as_ref();
        if plain.is_some() && baseline.is_some_and(|baseline| baseline.open.request == plain) {
            self.end_comparison();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::intervention;
    use crate::train::Recording;
    use crate::viewer::command::{Command, DialogCommand, Edit, Episode};
    use crate::viewer::fixture::{config, copying, machine, work};
    use crate::viewer::link::Link;
    use crate::viewer::state::{Settings, StartOptions, WindowLayout};

    /// Applies a command of the user, with its jobs done at once.
    fn perform(state: &mut State, command: impl Into<Command>) {
        state.history.begin_gesture();
        let effects = state.apply_all(vec![command.into()]);
        work(state, effects);
    }

    fn opened(begin: StartOptions) -> State {
        let mut machine = machine(config(), copying(2..=4));
        "copy".clone_into(&mut machine.name);
        let machines = vec![machine];
        let mut state = State::new(machines, Some(1), Settings::default(), begin, None);
        let effects = state.begin();
        work(&mut state, effects);
        state
    }

    fn intervene(state: &mut State, text: &str) {
        perform(state, Edit::Intervene(text.to_owned()));
    }

    /// The episode with these interventions, as the core computes it.
    fn expected(state: &State, texts: &[&str]) -> Recording {
        let machine = &state.session.machine().unwrap().ntm;
        let task = state.session.recording_inputs().unwrap().task();
        let plain = Recording::new(machine, &task, 1, 0);
        let changes = intervention::parse(texts, "", machine, &plain.trace).unwrap();
        plain.with(machine, &changes).unwrap()
    }

    fn outputs(state: &State) -> Vec<f32> {
        state.recording().unwrap().trace.output.as_slice().to_vec()
    }

    fn texts(state: &State) -> Vec<&str> {
        state.session.request.interventions()
    }

    const FIRST: &str = "3:read0.gate=1";
    const SECOND: &str = "2-:write0.erase=0";

    #[test]
    fn branch_is_recorded_beside_the_episode_without_it() {
        let mut state = opened(StartOptions::default());
        let plain = outputs(&state);
        intervene(&mut state, FIRST);
        intervene(&mut state, SECOND);
        assert_eq!(texts(&state), [FIRST, SECOND]);
        let branch = expected(&state, &[FIRST, SECOND]);
        assert_eq!(outputs(&state), branch.trace.output.as_slice());
        assert_ne!(outputs(&state), plain);
        assert_eq!(state.layout(), WindowLayout::Compare);
        let events = &state.session.open.as_ref().unwrap().facts.events;
        let is_set = |at: usize, words| {
            let mut at_step = events.iter().filter(|event| event.step == at);
            at_step.any(|event| event.words.contains(words))
        };
        assert!(is_set(3, "read0.gate set") && is_set(2, "write0.erase set"));
        let pair = state.pair().unwrap();
        assert_eq!(pair.a.shown.recording.trace.output.as_slice(), plain);
        assert!(pair.b.name().ends_with(", with 3:read0.gate=1 and 1 more"));
        let [a, b] = [pair.a, pair.b].map(|open| open.shown.recording.score.wrong);
        let [new, repaired] = pair.differences().unwrap().wrong.unwrap();
        assert_eq!(a + new - repaired, b);

        perform(&mut state, Edit::Undo);
        assert_eq!(texts(&state), [FIRST]);
        perform(&mut state, Edit::Undo);
        assert!(outputs(&state) == plain && state.pair().is_none());
        perform(&mut state, Edit::Redo);
        perform(&mut state, Edit::Redo);
        assert_eq!(outputs(&state), branch.trace.output.as_slice());
        assert!(state.pair().is_some());
    }

    #[test]
    fn interventions_are_replaced_left_out_and_removed() {
        let mut state = opened(StartOptions::default());
        let plain = outputs(&state);
        intervene(&mut state, FIRST);
        intervene(&mut state, SECOND);
        intervene(&mut state, "3:read0.gate=0.5");
        assert_eq!(texts(&state), [SECOND, "3:read0.gate=0.5"]);
        perform(&mut state, Edit::ToggleIntervention(0));
        assert_eq!(texts(&state), ["3:read0.gate=0.5"]);
        let expected = expected(&state, &["3:read0.gate=0.5"]);
        assert_eq!(outputs(&state), expected.trace.output.as_slice());
        perform(&mut state, Edit::ToggleIntervention(0));
        perform(&mut state, Edit::EndIntervention(1));
        perform(&mut state, Edit::EndIntervention(9));
        assert_eq!(texts(&state), [SECOND]);
        perform(&mut state, Edit::EndBranch);
        assert!(outputs(&state) == plain && state.comparing.baseline.is_none());
        assert_ne!(state.layout(), WindowLayout::Compare);
    }

    #[test]
    fn error_stays_in_the_dialog() {
        let mut state = opened(StartOptions::default());
        perform(&mut state, DialogCommand::For(Subject::Value));
        let dialog = state.dialog.clone().unwrap();
        assert!(dialog.text.starts_with("0:write0.gate=0."), "{dialog:?}");
        for (text, problem) in [
            ("3:read0.gate=2", "expected 0 to 1"),
            ("3:read0.gat=1", "read0.gate"),
            ("99:read0.gate=1", "expected steps from 0 to"),
            ("gate", "expected STEPS:ARRAY=VALUE"),
        ] {
            intervene(&mut state, text);
            let dialog = state.dialog.clone().unwrap();
            assert!(
                dialog.text == text && dialog.problem.contains(problem),
                "{dialog:?}"
            );
        }
        assert!(texts(&state).is_empty() && state.pair().is_none());
        perform(&mut state, DialogCommand::Typed(FIRST.to_owned()));
        assert!(state.dialog.as_ref().unwrap().problem.is_empty());
        intervene(&mut state, FIRST);
        assert!(state.dialog.is_none() && state.pair().is_some());
        intervene(&mut state, "gate");
        assert!(state.dialog.is_none() && state.toasts.history().count() == 1);
    }

    #[test]
    fn another_episode_ends_the_branch() {
        for command in [
            Command::from(Episode::NextSeed),
            Episode::Size(3).into(),
            Episode::Rows(9).into(),
            Episode::Machine(0).into(),
            Edit::Flip(0, 0).into(),
        ] {
            let mut state = opened(StartOptions::default());
            intervene(&mut state, FIRST);
            let branch = outputs(&state);
            perform(&mut state, command.clone());
            assert!(texts(&state).is_empty(), "{command:?}");
            assert!(state.comparing.baseline.is_none(), "{command:?}");
            let said: Vec<_> = state.toasts.history().collect();
            assert!(said[0].1.starts_with("The branch ended"), "{command:?}");
            perform(&mut state, Edit::Undo);
            assert!(
                outputs(&state) == branch && state.pair().is_some(),
                "{command:?}"
            );
        }
    }

    #[test]
    fn link_holds_the_branch() {
        let mut state = opened(StartOptions::default());
        intervene(&mut state, FIRST);
        intervene(&mut state, SECOND);
        let link = Link::of(&state).unwrap().to_string();
        assert!(link.ends_with("intervene=3%3Aread0.gate%3D1&intervene=2-%3Awrite0.erase%3D0"));
        let machine = state.session.machine().unwrap().clone();
        let begin = Link::parse(&link).unwrap().beginning(&machine).unwrap();
        let again = opened(begin);
        assert_eq!(outputs(&again), outputs(&state));
        assert!(texts(&again) == texts(&state) && again.pair().is_some());
    }
}
