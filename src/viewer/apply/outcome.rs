//! Outcomes of the worker.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::figure::Gradients;
use crate::figure::facts::spread::Spread;
use crate::viewer::command::Replacement;
use crate::viewer::narration;
use crate::viewer::state::{
    Dialog, EpisodeRequest, Job, Kind, Machine, Open, OpenedFile, Outcome, RecordedEpisode, State,
    Subject, ThumbnailSlot, Verdict, file_name,
};

impl State {
    pub(super) fn handle_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Recorded(open) => self.recorded(*open),
            Outcome::Refused(request, sentence) => {
                self.refuse(&request);
                self.toasts.add(Kind::Problem, sentence);
            }
            Outcome::GivenUp(request, sentence) => {
                request.iter().for_each(|request| self.refuse(request));
                self.toasts.add(Kind::Notice, sentence);
            }
            Outcome::Picture(place, open) => {
                let picture = open.map(|open| self.session.numbered(*open));
                match place {
                    ThumbnailSlot::Card(name) => drop(self.welcome.pictures.insert(name, picture)),
                    ThumbnailSlot::Run(number) => self.probed(number, picture),
                }
            }
            Outcome::SampledSpread(request, spread) => self.sampled(&request, spread.0),
            Outcome::Derived(shown, gradients) => self.derived(&shown.0, gradients.0),
            Outcome::Found(request, open) => self.found_episode(&request, open),
            Outcome::Reported(report) => {
                let text = report.quantity.clone();
                self.report = Some(*report);
                if self.dialog.is_none() && !self.welcome.shown {
                    self.dialog = Some(Dialog::about(Subject::Report, text));
                } else {
                    let text = "The report is ready; Q shows it.";
                    self.toasts.add(Kind::Notice, text.to_owned());
                }
            }
            Outcome::Opened(path, opened) => self.open(path, opened),
            Outcome::Other(path, other) => self.receive_other(path, other),
            Outcome::Verified(shown, verdict) => self.verified(&shown.0, verdict),
            Outcome::Recoverable(runs) => self.offer_recovery(runs),
            Outcome::Recent(files) => self.welcome.recent = files,
            Outcome::Compared(found) => self.compared(found),
            Outcome::Prepared(runs, left) => self.prepared(Arc::unwrap_or_clone(runs.0), left),
            Outcome::Levels(number, levels) => {
                let runs = self.learning.iter_mut().flat_map(|all| &mut all.runs);
                let of_it = runs.filter(|run| run.number == number);
                of_it.for_each(|run| run.landmarks.clone_from(&levels));
            }
            Outcome::IsThere(to, free, run) => self.is_there(run, to, &free),
            Outcome::Suggested(proposed, free) => self.suggested(&proposed, &free),
            Outcome::Saved(sentence) | Outcome::Copied(sentence) => {
                self.toasts.add(Kind::Done, sentence);
            }
            Outcome::RunSaved(run, saved, sentence) => {
                self.toasts.add(Kind::Notice, sentence);
                self.run_is_saved(run, saved);
            }
            Outcome::RunNotSaved(run, sentence) => self.run_is_not_saved(run, sentence),
            Outcome::Failed(sentence) => self.toasts.add(Kind::Problem, sentence),
            Outcome::Chosen(purpose, path) => self.chosen(purpose, path, true),
            Outcome::Fetched(name, machine) => self.fetched(name, machine.ok()),
            Outcome::NoDialog => {
                let text = "This desktop shows no file dialog. Type the path instead.";
                self.toasts.add(Kind::Problem, text);
            }
            Outcome::Outdated | Outcome::NotChosen => {}
        }
    }

    /// Shows the contents of a file.
    pub(super) fn open(&mut self, path: PathBuf, opened: OpenedFile) {
        match opened {
            OpenedFile::Machine(machine) => self.add(path, *machine),
            OpenedFile::Run(run) => self.request_end(Replacement::LookBack(path, run)),
            OpenedFile::Trace(open) => self.show_file(path, *open),
        }
    }

    /// An episode; it may have come too late: something else was asked for, or shown, since.
    fn recorded(&mut self, open: Open) {
        let was_asked = open.request.as_ref().is_some_and(|own| self.ends_wait(own));
        if self.welcome.shown && self.shows_learner() {
            // It learns on behind the start page.
            self.show_learner();
        } else if was_asked && open.request.as_ref() == Some(&self.session.request) {
            self.show(open);
        }
    }

    /// The spread of many samples of the requested episode.
    fn sampled(&mut self, request: &EpisodeRequest, spread: Arc<Spread>) {
        if let Some(open) = &mut self.session.open
            && let Some(own) = &open.request
            && own.is_same_episode(request)
        {
            open.spread = Some(spread);
        }
    }

    /// The gradients of this episode.
    fn derived(&mut self, shown: &Arc<RecordedEpisode>, gradients: Arc<Gradients>) {
        if let Some(open) = &mut self.session.open
            && open.shown.is_of_the_same(shown)
        {
            let (of, is_newest) = (gradients.of, Arc::ptr_eq(&open.shown, shown));
            open.gradients = Some(gradients);
            if !is_newest {
                self.compute_gradients(of);
            }
        }
    }

    /// The episode that was asked for does not come.
    fn refuse(&mut self, request: &EpisodeRequest) {
        if self.ends_wait(request) {
            self.pending.coming = None;
        }
        self.session.refuse(request);
    }

    /// Ends the wait for the episode of this request, if it is waited for.
    fn ends_wait(&mut self, request: &EpisodeRequest) -> bool {
        let asked = self.pending.asked.take_if(|asked| asked == request);
        asked.is_some()
    }

    /// A machine from a file.
    fn add(&mut self, path: PathBuf, machine: Machine) {
        let link = format!("machine={}&", machine.name);
        let pictures = &mut self.welcome.pictures;
        pictures.retain(|name, _| *name != machine.name && !name.starts_with(&link));
        self.leave_tour_step();
        self.session.add(machine);
        self.record_first();
        self.report_opened(&path, "weights", 0);
        self.settings.opened(path);
    }

    /// An episode from a file.
    fn show_file(&mut self, path: PathBuf, open: Open) {
        let trace = &open.shown.recording.trace;
        let begin = &mut self.pending.begin;
        if let Err(lacks) = begin.check(trace.steps(), trace, open.writes_first()) {
            self.toasts.add(Kind::Problem, lacks.to_string());
            (begin.step, begin.stage) = (None, None);
            (begin.head, begin.pin) = (None, None);
        }
        let (broken, shown) = (open.non_finite, open.shown.clone());
        self.leave_tour_step();
        self.show(open);
        self.report_opened(&path, "trace", broken);
        self.start(Job::Verify(path.clone(), shown));
        self.settings.opened(path);
    }

    /// A trace was verified: a difference is reported, whatever is on screen by now.
    fn verified(&mut self, shown: &RecordedEpisode, verdict: Option<Verdict>) {
        let Some(verdict) = verdict else { return };
        if verdict.differs {
            let name = shown.file.as_deref().unwrap_or_default();
            let (words, details) = (&verdict.words, &verdict.details);
            let text = format!("{name} {words}: {details}");
            self.toasts.add(Kind::Problem, text);
        }
        // Verified once, it stays so.
        let _ = shown.verdict.set(verdict);
    }

    pub(super) fn report_opened(&mut self, path: &Path, what: &str, broken: usize) {
        let name = file_name(path);
        if broken > 0 {
            let text = format!("Opened {name}: {}.", narration::not_finite(broken));
            self.toasts.add(Kind::Notice, text);
        } else {
            let text = format!("Opened {name} ({what}).");
            self.toasts.add(Kind::Done, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Experiment;
    use crate::viewer::command::{Command, Learn};
    use crate::viewer::disk::NoFiles;
    use crate::viewer::fixture::{config, copying, machine};
    use crate::viewer::state::{
        Destination, Effect, EndRequest, FilePurpose, Job, LiveTraining, Saved, Settings,
        StartOptions, TrainingAction,
    };
    use crate::viewer::worker::Worker;

    /// Starts training, with its job done at once.
    fn begin(state: &mut State, experiment: Experiment) {
        perform(state, Replacement::Begin(vec![(None, experiment)]).into());
    }

    /// Applies a command, with its jobs done at once.
    fn perform(state: &mut State, command: Command) {
        let effects = state.apply(command);
        work(state, effects);
    }

    /// Does the jobs among these effects.
    fn work(state: &mut State, effects: Vec<Effect>) {
        let mut worker = Worker::here(Arc::new(NoFiles));
        for effect in effects {
            if let Effect::Start(job) = effect {
                worker.start(job);
            }
        }
        for outcome in worker.outcomes() {
            state.apply(Command::Done(outcome));
        }
    }

    #[test]
    fn training_is_prepared_by_the_worker() {
        let machines = vec![machine(config(), copying(1..=2))];
        let (settings, start) = (Settings::default(), StartOptions::default());
        let mut state = State::new(machines, Some(1), settings, start, None);
        let experiment = Experiment::find("copy", &[]).unwrap();
        let effects = state.apply(Replacement::Begin(vec![(None, experiment.clone())]).into());
        assert!(matches!(&effects[..], [Effect::Start(Job::Prepare(_))]));
        assert!(state.learning.is_none() && state.session.machines.len() == 1);
        begin(&mut state, experiment);
        assert!(state.learning.is_some() && state.session.machines.len() == 2);
    }

    #[test]
    fn reference_levels_after_a_change_are_computed_by_the_worker() {
        let machines = vec![machine(config(), copying(1..=2))];
        let (settings, start) = (Settings::default(), StartOptions::default());
        let mut state = State::new(machines, Some(1), settings, start, None);
        begin(&mut state, Experiment::find("copy", &[]).unwrap());
        let levels = |state: &State| state.learning.as_ref().unwrap().run().landmarks.clone();
        let before = levels(&state);
        assert!(!before.is_empty());
        let change = Learn::Change(vec!["task.length=[1,2]".to_owned()]);
        let effects = state.apply(Command::Learn(change));
        assert_eq!(levels(&state), before);
        work(&mut state, effects);
        assert!(levels(&state)[0].0 < before[0].0);
    }

    /// A run is being written, and then the window is to be closed; its number.
    fn saving() -> (State, u64) {
        let machines = vec![machine(config(), copying(1..=2))];
        let (settings, start) = (Settings::default(), StartOptions::default());
        let mut state = State::new(machines, Some(1), settings, start, None);
        let experiment = Experiment::find("copy", &[]).unwrap();
        begin(&mut state, experiment);
        let number = state.learning.as_ref().map(|all| all.run().number);
        state.learning.as_mut().unwrap().saving = number;
        state.ending = Some(EndRequest {
            replacement: Replacement::Close,
            saves: true,
            next: None,
        });
        (state, number.unwrap())
    }

    #[test]
    fn late_save_does_not_affect_another_run() {
        let (mut state, first) = saving();
        state.ending = None;
        perform(&mut state, Replacement::Again.into());
        perform(&mut state, Command::Learn(Learn::EndUnsaved));
        let learning = state.learning.as_mut().unwrap();
        let second = learning.run().number;
        assert!(second != first && learning.saving.is_none());
        learning.saving = Some(second);
        state.ending = Some(EndRequest {
            replacement: Replacement::Close,
            saves: true,
            next: None,
        });
        handle_outcome(&mut state, Outcome::RunNotSaved(first, "no".to_owned()));
        assert!(is_saving(&state));
        handle_outcome(&mut state, saved_as(first));
        assert!(is_saving(&state));
        let effects = handle_outcome(&mut state, saved_as(second));
        let closes = |effect: &Effect| matches!(effect, Effect::Close);
        assert!(effects.iter().any(closes));
    }

    fn free() -> PathBuf {
        PathBuf::from("there-2")
    }

    fn destination(purpose: FilePurpose) -> Destination {
        Destination {
            path: PathBuf::from("there"),
            replaces: false,
            purpose,
        }
    }

    fn handle_outcome(state: &mut State, outcome: Outcome) -> Vec<Effect> {
        state.apply(Command::Done(outcome))
    }

    fn is_saving(state: &State) -> bool {
        let saving = |learning: &LiveTraining| learning.saving.is_some();
        state.learning.as_ref().is_some_and(saving) && state.ending.is_some()
    }

    #[test]
    fn other_outcomes_do_not_affect_run_being_saved() {
        let (mut state, number) = saving();
        let why = || "no".to_owned();
        for other in [
            Outcome::Failed(why()),
            Outcome::IsThere(destination(FilePurpose::Save), free(), None),
            Outcome::IsThere(destination(FilePurpose::Run), free(), Some(number + 1)),
            Outcome::RunNotSaved(number + 1, why()),
            Outcome::RunSaved(number + 1, Saved::default(), why()),
        ] {
            let description = format!("{other:?}");
            let effects = handle_outcome(&mut state, other);
            assert!(is_saving(&state) && effects.is_empty(), "{description}");
        }
        let saved = Outcome::RunSaved(number, Saved::default(), why());
        let effects = handle_outcome(&mut state, saved);
        let closes = |effect: &Effect| matches!(effect, Effect::Close);
        assert!(effects.iter().any(closes) && state.learning.is_none());
    }

    #[test]
    fn second_close_during_save_and_close_changes_nothing() {
        let (mut state, number) = saving();
        state.apply(Replacement::Close.into());
        assert!(state.dialog.is_none() && state.ending.as_ref().unwrap().saves);
        let closes = |effect: &Effect| matches!(effect, Effect::Close);
        assert!(
            handle_outcome(&mut state, saved_as(number))
                .iter()
                .any(closes)
        );
        // A question that has answered itself goes away.
        let (mut state, number) = saving();
        state.ending = None;
        state.apply(Replacement::Close.into());
        assert!(state.dialog.is_some());
        assert!(
            handle_outcome(&mut state, saved_as(number))
                .iter()
                .any(closes)
        );
        assert!(state.dialog.is_none());
    }

    fn saved_as(number: u64) -> Outcome {
        Outcome::RunSaved(number, Saved::default(), "saved".to_owned())
    }

    #[test]
    fn save_and_close_during_save_saves_again() {
        let (mut state, number) = saving();
        state.ending = None;
        state.apply(Replacement::Close.into());
        assert!(state.ending.is_some());
        let path = PathBuf::from("second");
        let effects = state.apply(Command::Learn(Learn::SaveAndEnd(path.clone())));
        let saves = |effects: &[Effect]| {
            effects.iter().any(|effect| {
                matches!(effect, Effect::Train(TrainingAction::Save(saving)) if saving.to.path == path)
            })
        };
        let closes = |effects: &[Effect]| {
            let mut effects = effects.iter();
            effects.any(|effect| matches!(effect, Effect::Close))
        };
        assert!(!saves(&effects) && !closes(&effects), "one at a time");
        let saved = || Outcome::RunSaved(number, Saved::default(), "saved".to_owned());
        let effects = handle_outcome(&mut state, saved());
        assert!(
            saves(&effects) && !closes(&effects),
            "the older one is written"
        );
        assert!(closes(&handle_outcome(&mut state, saved())));
    }

    #[test]
    fn failed_save_ends_wait_and_existing_folder_asks() {
        let (mut state, number) = saving();
        handle_outcome(&mut state, Outcome::RunNotSaved(number, "no".to_owned()));
        let learning = state.learning.as_ref().unwrap();
        assert!(learning.saving.is_none() && state.ending.is_none());
        let (mut state, number) = saving();
        let to = destination(FilePurpose::Run);
        handle_outcome(&mut state, Outcome::IsThere(to, free(), Some(number)));
        let learning = state.learning.as_ref().unwrap();
        assert!(learning.saving.is_none() && state.ending.is_some());
        let dialog = state.dialog.unwrap();
        assert_eq!(dialog.taken, Some(PathBuf::from("there")));
        assert_eq!(dialog.text, "there-2");
    }
}
