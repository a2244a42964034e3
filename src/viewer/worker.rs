//! Background jobs that record episodes and access files, so that the window never blocks: threads, in a
//! browser turns.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Weak};
use std::task::{self, Poll};
use std::time::Duration;

use web_time::Instant;

use super::state::{
    Answer, Context, FilePurpose, Files, Job, Kind, Machine, Outcome, PendingJob, Priority, State,
};
use crate::platform::{self, Chosen, HAS_FILES, Queue, at_once};

/// The least time in which a person leaves a dialog: one that ends sooner was never there.
const LEAST_CHOICE: Duration = Duration::from_millis(200);

/// Runs jobs by their priority, and file dialogs beside them.
pub struct Worker {
    files: Arc<dyn Files>,
    /// The queue of awaited jobs; without one all jobs run immediately, for tests.
    jobs: Option<Queue<Job>>,
    outbox: Outbox,
    inbox: Receiver<Message>,
    waiting: usize,
    /// Jobs that wait or are in progress.
    under_way: Vec<Weak<PendingJob>>,
    choosing: bool,
    /// Small pictures that wait, and the one that was handed on last.
    pictures: (VecDeque<Job>, Weak<PendingJob>),
    /// Jobs that wait for a machine being fetched.
    fetching: Vec<Job>,
}

/// Changes the worker, and returns the outcome for the window.
type Message = Box<dyn FnOnce(&mut Worker) -> Outcome + Send>;
/// Sends a message to the worker from any thread; false when the window is gone.
type Outbox = Arc<dyn Fn(Message) -> bool + Send + Sync>;

impl Worker {
    /// A worker with a thread of its own, which calls `wake` after each job.
    pub fn new(files: Arc<dyn Files>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let mut worker = Self::of(files, wake);
        let (files, outbox) = (worker.files.clone(), worker.outbox.clone());
        let work = async move |job| run(job, files.as_ref(), &outbox).await;
        worker.jobs = Some(Queue::new(work));
        worker
    }

    /// Returns a worker that runs every job immediately.
    pub fn here(files: Arc<dyn Files>) -> Self {
        Self::of(files, || ())
    }

    fn of(files: Arc<dyn Files>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (sender, inbox) = channel();
        Self {
            files,
            jobs: None,
            outbox: Arc::new(move |message| {
                let is_sent = sender.send(message).is_ok();
                wake();
                is_sent
            }),
            inbox,
            waiting: 0,
            under_way: Vec::new(),
            choosing: false,
            pictures: (VecDeque::new(), Weak::new()),
            fetching: Vec::new(),
        }
    }

    /// Does something that may take long: no job waits for it.
    fn spawn(&self, work: impl AsyncFnOnce() + Send + 'static) {
        if self.jobs.is_some() {
            platform::spawn(work);
        } else {
            at_once(work());
        }
    }

    /// Submits a job, and cancels those whose result would be ignored because of it.
    pub fn start(&mut self, job: Job) {
        self.waiting += 1;
        let others = self.under_way();
        for other in others.filter(|other| other.is_replaced_by(&job.pending)) {
            other.outdated.store(true, Ordering::Relaxed);
        }
        self.under_way.retain(|other| other.strong_count() > 0);
        self.under_way.push(Arc::downgrade(&job.pending));
        match job.pending.away.clone() {
            Some(name) => self.fetch(&name, job),
            None => self.hand_on(job),
        }
    }

    fn hand_on(&mut self, job: Job) {
        match (&self.jobs, job.pending.priority) {
            (Some(_), Priority::Idle) => {
                self.pictures.0.push_back(job);
                self.next_picture();
            }
            (Some(jobs), Priority::Awaited) => jobs.put(job),
            (Some(_), Priority::Beside) | (None, _) => {
                let (files, outbox) = (self.files.clone(), self.outbox.clone());
                self.spawn(async move || {
                    run(job, files.as_ref(), &outbox).await;
                });
            }
        }
    }

    /// Starts the next thumbnail once the one before is done: a request of the user waits for one at most.
    fn next_picture(&mut self) {
        if self.pictures.1.strong_count() == 0
            && let Some(jobs) = &self.jobs
            && let Some(next) = self.pictures.0.pop_front()
        {
            self.pictures.1 = Arc::downgrade(&next.pending);
            jobs.put(next);
        }
    }

    /// Fetches the machine of this name, for which the job waits.
    fn fetch(&mut self, name: &str, job: Job) {
        let is_same = |other: &Job| other.pending.away == job.pending.away;
        let is_first = !self.fetching.iter().any(is_same);
        self.fetching.push(job);
        if is_first {
            let (outbox, called) = (self.outbox.clone(), name.to_owned());
            let answer = move |fetched| {
                outbox(Box::new(|worker| worker.fetched(called, fetched)));
            };
            self.files.fetch(name, Box::new(answer));
        }
    }

    /// Goes on with the jobs that waited for this machine; without it, only a recording says why it fails.
    fn fetched(&mut self, name: String, fetched: Result<Machine, String>) -> Outcome {
        let fetched = fetched.map(Arc::new);
        let is_waiting = |job: &mut Job| job.pending.away.as_ref() == Some(&name);
        let waiting = self.fetching.extract_if(.., is_waiting);
        for job in waiting.collect::<Vec<_>>() {
            let is_silent = fetched.is_err() && !job.pending.is_recording();
            job.pending.outdated.fetch_or(is_silent, Ordering::Relaxed);
            let _ = job.pending.fetched.set(fetched.clone());
            self.hand_on(job);
        }
        Box::new(|state| state.fetched(name, fetched.ok()))
    }

    /// Pending jobs, oldest first.
    pub fn under_way(&self) -> impl Iterator<Item = Arc<PendingJob>> {
        self.under_way.iter().filter_map(Weak::upgrade)
    }

    /// A pending job that writes a file.
    pub fn writing(&self) -> Option<Arc<PendingJob>> {
        self.under_way().find(|job| job.writes)
    }

    /// Pending jobs that can be cancelled.
    pub fn can_be_given_up(&self) -> impl Iterator<Item = Arc<PendingJob>> {
        self.under_way().filter(|job| job.can_be_given_up)
    }

    /// Gives up all that can be.
    pub fn give_up(&self) {
        for job in self.can_be_given_up() {
            job.given_up.store(true, Ordering::Relaxed);
        }
    }

    /// Asks for a file to open, or for a place to save to, in a dialog of the desktop. It may stay open for
    /// long, so it keeps no job waiting; there is one at a time.
    pub fn choose(&mut self, purpose: FilePurpose, suggestion: String) {
        if std::mem::replace(&mut self.choosing, true) {
            return;
        }
        let (files, outbox) = (self.files.clone(), self.outbox.clone());
        let answer = self.answer(purpose);
        self.spawn(async move || {
            let choose = || files.choose(purpose.is_to_save(), &suggestion, answer);
            if catch_unwind(AssertUnwindSafe(choose)).is_err() {
                outbox(Box::new(|worker| worker.chosen(Box::new(|_| ()))));
            }
        });
    }

    /// Ends the dialog.
    fn chosen(&mut self, outcome: Outcome) -> Outcome {
        self.choosing = false;
        outcome
    }

    /// Returns the callback for the file that is chosen for this purpose.
    pub fn answer(&self, purpose: FilePurpose) -> Answer {
        let (files, outbox) = (self.files.clone(), self.outbox.clone());
        let asked = Instant::now();
        Box::new(move |chosen: Option<Chosen>| {
            let is_at_once = HAS_FILES && asked.elapsed() < LEAST_CHOICE;
            let path = chosen.map(|Chosen { path, bytes }| {
                let bytes = bytes.into_iter();
                bytes.for_each(|bytes| files.keep(path.clone(), bytes));
                path
            });
            let then = move |state: &mut State| match path {
                Some(path) => state.chosen(purpose, path, true),
                None if is_at_once => {
                    let text = "This desktop shows no file dialog. Type the path instead.";
                    state.toasts.add(Kind::Problem, text);
                }
                None => {}
            };
            outbox(Box::new(|worker| worker.chosen(Box::new(then))));
        })
    }

    /// Returns the callback for a text that has reached the clipboard.
    pub fn copied(&self, said: Option<String>) -> impl FnOnce() + 'static {
        let outbox = self.outbox.clone();
        move || {
            said.map(|said| outbox(Box::new(|_| Box::new(|state| state.confirm(said)))));
        }
    }

    /// Returns the outcomes so far, oldest first.
    pub fn outcomes(&mut self) -> Vec<Outcome> {
        let messages: Vec<_> = self.inbox.try_iter().collect();
        let outcomes = messages.into_iter().map(|message| message(self)).collect();
        self.next_picture();
        outcomes
    }

    /// True while a job is under way.
    pub fn busy(&self) -> bool {
        self.waiting > 0
    }
}

/// Runs a job and sends its outcome; false when the window is gone.
async fn run(job: Job, files: &dyn Files, outbox: &Outbox) -> bool {
    let pending = job.pending.clone();
    let outcome = perform(job, files).await;
    // A file counts as being written until the outcome is there.
    let _writes = pending.writes.then_some(pending);
    outbox(Box::new(|worker| {
        worker.waiting -= 1;
        outcome
    }))
}

async fn perform(job: Job, files: &dyn Files) -> Outcome {
    let (pending, work) = (job.pending.as_ref(), job.work);
    let work = async {
        if pending.is_wanted() {
            work(Context { files, pending }).await
        } else {
            Err(String::new())
        }
    };
    let outcome = unless_it_breaks(work).await.unwrap_or_else(|| {
        Err("An internal error occurred. The session is unchanged; try again.".to_owned())
    });
    let request = pending.requested.clone().filter(|_| pending.is_recording());
    match outcome {
        // Too late: the file is there.
        Ok(outcome) if pending.writes => outcome,
        _ if pending.outdated.load(Ordering::Relaxed) => Box::new(|_| ()),
        _ if pending.given_up.load(Ordering::Relaxed) => {
            let text = format!("{}: cancelled.", pending.words);
            Box::new(move |state| state.not_done(request.as_ref(), Kind::Notice, text))
        }
        Ok(outcome) => outcome,
        Err(why) => Box::new(move |state| match job.failed {
            Some(failed) => failed(state, why),
            None => state.not_done(request.as_ref(), Kind::Problem, why),
        }),
    }
}

/// Runs a job and returns its outcome; may panic.
async fn unless_it_breaks<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let attempt = |context: &mut task::Context<'_>| {
        let turn = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        turn.map_or(Poll::Ready(None), |turn| turn.map(Some))
    };
    poll_fn(attempt).await
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::mpsc::Sender;
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::task::{Copy, Task};
    use crate::viewer::apply::record::thumbnail;
    use crate::viewer::command::{Command, Episode, File};
    use crate::viewer::fixture::{config, copying, inputs, machine};
    use crate::viewer::state::{
        Effect, NoFiles, Open, OpenedFile, ProgressCallback, RecordedEpisode, Settings,
        StartOptions, Toasts, WindowLayout,
    };

    /// Opening and choosing take until they are let go.
    #[derive(Debug)]
    struct Slow {
        open: Mutex<Receiver<()>>,
        choose: Mutex<Receiver<()>>,
    }

    fn wait(gate: &Mutex<Receiver<()>>) {
        let _ = gate.lock().unwrap_or_else(PoisonError::into_inner).recv();
    }

    impl Files for Slow {
        fn open(&self, _: &Path, _: ProgressCallback<'_>) -> Result<OpenedFile, String> {
            wait(&self.open);
            Err("not here".to_owned())
        }

        fn save_trace(&self, _: &Path, _: &RecordedEpisode) -> Result<String, String> {
            Ok("saved".to_owned())
        }

        fn choose(&self, _: bool, _: &str, answer: Answer) {
            wait(&self.choose);
            answer(Some(Chosen {
                path: PathBuf::from("chosen"),
                bytes: None,
            }));
        }
    }

    /// A worker, and the state that asks for its jobs.
    struct Window {
        worker: Worker,
        state: State,
    }

    impl Window {
        fn new(worker: Worker) -> Self {
            let machines = vec![machine(config(), copying(2..=2))];
            let (settings, start) = (Settings::default(), StartOptions::default());
            let state = State::new(machines, Some(1), settings, start, None);
            Self { worker, state }
        }

        /// With slow files; the senders let opening and choosing go.
        fn slow() -> (Self, Sender<()>, Sender<()>) {
            let ((open, opening), (choose, choosing)) = (channel(), channel());
            let files = Slow {
                open: Mutex::new(opening),
                choose: Mutex::new(choosing),
            };
            (Self::new(Worker::new(Arc::new(files), || {})), open, choose)
        }

        /// Performs the effects of a command.
        fn act(&mut self, command: impl Into<Command>) {
            let effects = self.state.apply(command.into());
            self.perform(effects);
        }

        fn perform(&mut self, effects: Vec<Effect>) {
            for effect in effects {
                if let Effect::Start(job) = effect {
                    self.worker.start(job);
                }
            }
        }

        /// Records the episode of this seed.
        fn record(&mut self, seed: u64) {
            self.state.session.request.seed = seed;
            let effects = self.state.begin();
            self.perform(effects);
        }

        /// Searches from the episode asked for.
        fn search(&mut self, condition: &str) {
            condition.clone_into(&mut self.state.search.condition);
            self.act(Episode::NextMatch);
        }

        fn open(&mut self, path: &str) {
            self.act(File::Open(PathBuf::from(path)));
        }

        /// Receives this many outcomes, and says what each changes.
        fn next(&mut self, count: usize) -> Vec<String> {
            let mut said = Vec::new();
            for _ in 0..2000 {
                for outcome in self.worker.outcomes() {
                    let open = self.state.session.open.clone();
                    self.state.toasts = Toasts::default();
                    let effects = self.state.receive(outcome);
                    let text = self.state.toasts.history().next();
                    let seed = || Some(self.state.request_on_screen()?.seed);
                    said.push(match (text, effects.first()) {
                        (Some((_, text)), _) => text.clone(),
                        (None, _) if self.state.session.open != open => {
                            format!("recorded {}", seed().unwrap_or(0))
                        }
                        (None, Some(Effect::Start(job))) => job.pending.words.clone(),
                        (None, _) => "nothing".to_owned(),
                    });
                }
                if said.len() >= count {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            said
        }
    }

    #[test]
    fn waiting_recording_is_replaced_by_newer() {
        let (mut window, open, _choose) = Window::slow();
        window.open("slow");
        for seed in 1..=3 {
            window.record(seed);
        }
        open.send(()).unwrap();
        let said = window.next(4);
        assert_eq!(said, ["not here", "nothing", "nothing", "recorded 3"]);
        assert!(!window.worker.busy());
    }

    #[test]
    fn requested_episode_precedes_thumbnails() {
        let (mut window, open, _choose) = Window::slow();
        window.open("slow");
        for run in 1..=3 {
            let picture = move |state: &mut State, open: Option<Open>| {
                let seen = open.map_or("lost", |_| "picture");
                state.confirm(format!("{seen} {run}"));
            };
            window.worker.start(thumbnail(inputs(run), picture));
        }
        window.record(4);
        open.send(()).unwrap();
        let said = window.next(5);
        let place = |words: &str| said.iter().position(|said| said.starts_with(words));
        assert_eq!(place("recorded 4"), Some(2), "{said:?}");
        assert_eq!(place("picture 3"), Some(4), "{said:?}");
        assert!(!window.worker.busy());
    }

    #[test]
    fn requested_episode_waits_for_no_search_and_ends_it() {
        let (mut window, _open, _choose) = Window::slow();
        let own = std::mem::replace(&mut window.state.session.request.size, 100);
        window.search("step > 10000");
        window.state.session.request.size = own;
        window.record(1);
        let mut said = window.next(2);
        said.sort_unstable();
        assert_eq!(said, ["nothing", "recorded 1"]);
        // A search from the requested episode goes on.
        window.search("step = 2");
        window.record(1);
        assert!(window.worker.under_way().all(|job| job.is_wanted()));
        let said = window.next(2);
        assert!(said.contains(&"recorded 2".to_owned()), "{said:?}");
    }

    #[test]
    fn running_job_is_reported_and_can_be_cancelled() {
        let (mut window, open, _choose) = Window::slow();
        window.open("folder/slow");
        window.record(1);
        window.search("step > 100");
        let worker = &window.worker;
        let words: Vec<_> = worker.under_way().map(|job| job.words.clone()).collect();
        let [record, search] = ["Recording 5 steps × 8 rows", "Searching 100 seeds"];
        assert_eq!(words, ["Reading slow", record, search]);
        worker.give_up();
        open.send(()).unwrap();
        let said = window.next(3);
        for words in words {
            let cancelled = format!("{words}: cancelled.");
            assert!(
                said.iter().any(|said| said.contains(&cancelled)),
                "{said:?}"
            );
        }
        assert_eq!(window.worker.under_way().count(), 0);
    }

    #[test]
    fn failed_thumbnail_reports_to_its_requester() {
        // A task that the machine has no channels for.
        let mut wide = inputs(1);
        Arc::make_mut(&mut wide.machine).task = Task::Copy(Copy {
            bits: 7,
            length: 2..=2,
        });
        let mut window = Window::new(Worker::here(Arc::new(NoFiles)));
        let lost = |state: &mut State, open: Option<Open>| {
            assert!(open.is_none());
            state.confirm("lost".to_owned());
        };
        window.worker.start(thumbnail(wide, lost));
        assert_eq!(window.next(1), ["lost"]);
        assert!(!window.worker.busy());
    }

    #[test]
    fn figure_job_does_not_block() {
        let (mut window, open, _choose) = Window::slow();
        window.record(1);
        assert_eq!(window.next(1), ["recorded 1"]);
        window.open("slow");
        window.state.settings.layout = Some(WindowLayout::Paper);
        window.act(File::Save(PathBuf::from("f.gif"), true));
        let said = window.next(1);
        assert!(said[0].contains("f.gif cannot be written"), "{said:?}");
        assert!(window.worker.busy());
        open.send(()).unwrap();
        assert_eq!(window.next(1), ["not here"]);
        assert!(!window.worker.busy());
    }

    #[test]
    fn dialog_does_not_block() {
        let (mut window, _open, choose) = Window::slow();
        window.worker.choose(FilePurpose::Open, String::new());
        window.worker.choose(FilePurpose::Open, String::new());
        assert!(!window.worker.busy());
        window.record(7);
        assert_eq!(window.next(1), ["recorded 7"]);
        choose.send(()).unwrap();
        assert_eq!(window.next(1), ["Reading chosen"]);
        window.worker.choose(FilePurpose::Save, String::new());
        choose.send(()).unwrap();
        assert_eq!(window.next(1), ["Writing chosen"]);
    }
}
