//! The search for steps in which a condition holds, and for episodes that have such a step.

use super::record::{check_loaded, record};
use crate::figure::Progress;
use crate::viewer::state::{
    Context, Dialog, EpisodeRequest, Job, Kind, Open, RecordingInputs, SEEDS, State, Subject,
    condition,
};

impl State {
    /// Searches by this condition; the dialog stays where it is wrong, or holds nowhere.
    pub(super) fn search_for(&mut self, text: &str) -> Option<Dialog> {
        let text = text.trim().to_owned();
        let Ok(found) = self.matches(&text)? else {
            return Some(Dialog::with_error(Subject::Condition, text));
        };
        self.search.condition.clone_from(&text);
        let is_open = found.steps.is_empty() && !text.is_empty();
        is_open.then(|| Dialog::about(Subject::Condition, text))
    }

    /// Searches the episodes of the next seeds for one in which the condition holds.
    pub(super) fn search_seeds(&mut self) {
        let condition = self.search.condition.clone();
        let inputs = self.session.recording_inputs();
        if let Some(inputs) = inputs.filter(|_| !condition.is_empty()) {
            self.dialog = None;
            let request = Some(inputs.request.clone());
            let words = format!("Searching {SEEDS} seeds");
            let work = async move |inputs, context: Context<'_>| {
                searched(inputs, &condition, context.progress()).await
            };
            let job = Job::of_episode(words, inputs, work, Self::found_episode);
            self.start(job.with(|pending| pending.requested = request));
        }
    }

    /// Shows the episode that was found, at its first match, unless another one was requested since.
    fn found_episode(&mut self, (after, open): (EpisodeRequest, Option<Open>)) {
        if self.session.request != after {
            return;
        }
        let Some(open) = open else {
            let text = format!("The condition holds in no episode of the next {SEEDS} seeds.");
            return self.toasts.add(Kind::Notice, text);
        };
        self.replace_episode(|state| {
            state.leave_branch();
            if let Some(request) = &open.request {
                state.session.request.clone_from(request);
            }
            state.show(open);
        });
        self.player.pause();
        let step = self.found().and_then(|found| found.steps.first().copied());
        self.player.seek(step.unwrap_or(0));
    }
}

/// Records the episodes of the next seeds until the condition holds in one.
async fn searched(
    inputs: RecordingInputs,
    text: &str,
    mut progress: impl Progress,
) -> Result<(EpisodeRequest, Option<Open>), String> {
    check_loaded(&inputs)?;
    let (after, mut inputs) = (inputs.request.clone(), inputs.without_edits());
    for place in 0..SEEDS {
        inputs.request.seed = inputs.request.seed.wrapping_add(1);
        let progress = async |done, all| progress(place * all + done, SEEDS * all).await;
        let shown = record(&inputs, progress).await?;
        let condition = condition(text, &shown.recording.trace);
        let condition = condition.map_err(|error| format!("Condition: {}.", error.message))?;
        if condition.matches(&shown.recording).next().is_some() {
            return Ok((after, Some(Open::new(shown, Some(inputs.request)))));
        }
    }
    Ok((after, None))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::viewer::command::{Command, DialogCommand, Edit, Episode, Play};
    use crate::viewer::fixture::{config, copying, machine, work};
    use crate::viewer::state::{Settings, StartOptions};

    /// An episode of 7 steps, paused, searched by this condition.
    fn searched(condition: &str) -> State {
        let machines = vec![machine(config(), copying(1..=3))];
        let (settings, start) = (Settings::default(), StartOptions::default());
        let mut state = State::new(machines, Some(1), settings, start, None);
        let effects = state.begin();
        work(&mut state, effects);
        state.apply(Command::Play(Play::TakeOver));
        state.player.pause();
        state.player.seek(0);
        state.apply(DialogCommand::Condition(condition.to_owned()).into());
        state
    }

    fn steps_of(state: &State) -> Vec<usize> {
        state.found().unwrap().steps.clone()
    }

    #[test]
    fn matches_are_visited_in_turn_and_among_the_events() {
        let mut state = searched(" step = 1 or step = 5 ");
        assert_eq!(steps_of(&state), [1, 5]);
        let mut at = |command: Play| {
            state.apply(command.into());
            state.player.step()
        };
        let forward = [1, 5, 1].map(|_| at(Play::Match(1)));
        assert_eq!(forward, [1, 5, 1]);
        assert_eq!([0, 0].map(|_| at(Play::Match(-1))), [5, 1]);
        at(Play::Seek(4));
        assert_eq!(at(Play::Event(1)), 5);
        let found = state.found().unwrap();
        let events: Vec<_> = found.events.iter().map(|event| event.step).collect();
        assert!(events.is_sorted() && events.contains(&1));
        let own = &state.session.open.as_ref().unwrap().facts.events;
        assert!(own.iter().all(|event| events.contains(&event.step)));
    }

    #[test]
    fn playback_pauses_at_each_match() {
        let mut state = searched("step >= 2 and step <= 3");
        for expected in [2, 3, 6] {
            state.player.play();
            state.apply(Play::Pass(100.0).into());
            assert_eq!(
                (state.player.step(), state.player.playing()),
                (expected, false)
            );
        }
        state.apply(DialogCommand::Condition(String::new()).into());
        state.player.play();
        state.apply(Play::Pass(100.0).into());
        assert_eq!(state.player.step(), 6);
    }

    #[test]
    fn wrong_condition_stays_in_the_dialog() {
        let mut state = searched("wrong");
        state.apply(DialogCommand::Condition("read0.gat > 0.5".to_owned()).into());
        let dialog = state.dialog.as_ref().unwrap();
        assert!(dialog.doubted && dialog.text == "read0.gat > 0.5");
        assert_eq!(state.search.condition, "wrong");
        let error = state.matches("step > and").unwrap().unwrap_err();
        assert_eq!(error.at, 7..10);
    }

    #[test]
    fn condition_stays_for_other_episodes_and_is_evaluated_once_for_each() {
        let mut state = searched("answer");
        assert_eq!(steps_of(&state), [4, 5, 6]);
        let first = state.found().unwrap();
        assert!(Arc::ptr_eq(&first, &state.found().unwrap()));
        let effects = state.apply(Episode::Size(2).into());
        work(&mut state, effects);
        assert_eq!(steps_of(&state), [3, 4]);
    }

    #[test]
    fn next_episode_with_a_match_opens_at_it_and_can_be_undone() {
        let mut state = searched("step = 0 and input[0] > 0.5 and input[1] > 0.5 and loss = 0");
        let (seed, is_there) = (state.session.request.seed, |state: &State| {
            state.dialog.is_some()
        });
        assert!(is_there(&state), "holds nowhere");
        let effects = state.apply(Episode::NextMatch.into());
        work(&mut state, effects);
        let found = state.session.request.seed;
        assert!(!is_there(&state) && found > seed && found <= seed + SEEDS as u64);
        assert_eq!(state.request_on_screen().unwrap().seed, found);
        assert_eq!((state.player.step(), steps_of(&state)), (0, vec![0]));
        let effects = state.apply_all(vec![Command::Edit(Edit::Undo)]);
        work(&mut state, effects);
        assert_eq!(state.session.request.seed, seed);
        // No seed between them has a match.
        for seed in seed + 1..found {
            let effects = state.apply(Episode::Seed(seed).into());
            work(&mut state, effects);
            assert!(steps_of(&state).is_empty());
        }
    }

    #[test]
    fn search_without_a_match_says_so_and_a_late_one_is_ignored() {
        let mut state = searched("step > 100");
        let effects = state.apply(Episode::NextMatch.into());
        let before = state.session.request.clone();
        work(&mut state, effects);
        assert_eq!(state.session.request, before);
        let mut said = state.toasts.shown.iter().map(|toast| &toast.text);
        assert!(said.any(|text| text.contains("100 seeds")));
        let other = EpisodeRequest {
            seed: 77,
            ..before.clone()
        };
        let open = state.session.open.clone();
        state.receive(Box::new(|state| state.found_episode((other, open))));
        assert_eq!(state.session.request, before);
    }
}
