//! Files that are opened: read by a job, shown, and verified behind the window.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::viewer::command::Replacement;
use crate::viewer::narration;
use crate::viewer::state::{
    Context, Job, Kind, Machine, Open, OpenedFile, RecordedEpisode, State, Verdict, file_name,
};

impl State {
    /// Reads a file, to do this with it.
    pub(super) fn read(&mut self, path: PathBuf, then: fn(&mut Self, PathBuf, OpenedFile)) {
        let words = format!("Reading {}", file_name(&path));
        let work = async move |context: Context<'_>| {
            let watch = |done, all| context.pending.report(done, all);
            let opened = context.files.open(&path, &watch)?;
            Ok((context.files.absolute(path), opened))
        };
        let then = move |state: &mut Self, (path, opened)| {
            state.replace_episode(|state| then(state, path, opened));
        };
        let job = Job::new(words, work, then).awaited();
        self.start(job.with(|pending| pending.can_be_given_up = true));
    }

    /// Verifies the trace in this file, where there is access to files.
    pub(super) fn verify(&mut self, path: PathBuf, shown: Arc<RecordedEpisode>) {
        let words = format!("Verifying {}", file_name(&path));
        let work = async move |Context { files, pending }: Context<'_>| {
            Ok(files.verify(&path, &|done, all| pending.report(done, all)))
        };
        let then = move |state: &mut Self, verdict| state.verified(&shown, verdict);
        self.start(Job::new(words, work, then));
    }

    /// Looks which of the files opened before are there.
    pub(super) fn look_for_recent(&mut self) {
        let paths = self.settings.recent.clone().into_iter();
        let work = async move |context: Context<'_>| {
            let found = paths.map(|path| (context.files.exists(&path), path));
            Ok(found.map(|(is_there, path)| (path, is_there)).collect())
        };
        let then = |state: &mut Self, found| state.welcome.recent = found;
        self.start(Job::new("Looking for files", work, then));
    }

    /// Shows the contents of a file.
    pub(in crate::viewer) fn open(&mut self, path: PathBuf, opened: OpenedFile) {
        match opened {
            OpenedFile::Machine(machine) => self.add(path, *machine),
            OpenedFile::Run(run) => self.request_end(Replacement::LookBack(path, run)),
            OpenedFile::Trace(open) => self.show_file(path, *open),
        }
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
        self.verify(path.clone(), shown);
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
