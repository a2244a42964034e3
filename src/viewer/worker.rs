//! Background jobs that record episodes and access files, so that the window never blocks: threads, in a
//! browser turns.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use web_time::Instant;

use super::disk::{Answer, Files};
use super::narration;
use super::state::{
    Destination, EPISODES, FilePurpose, Job, Machine, NamedExperiment, Open, Outcome, Page,
    PendingJob, Priority, REMOVALS, RecordedEpisode, RecordingInputs, Report, RunView, SEEDS,
    SameArc, Saved, Saving, condition, file_name, landmarks,
};
use crate::analysis::expression::Expression;
use crate::analysis::lesion::{effects, lesions};
use crate::analysis::population::Summary;
use crate::analysis::repair::{Repair, attempts};
use crate::figure::facts::spread::{Samples, Spread};
use crate::figure::out::html::LARGEST;
use crate::figure::{Figure, Format, Gradients, Motion, NoFile, Pages, Progress, Walk, to_bytes};
use crate::io::recovery::{self, RecoverableRun, Recovery};
use crate::io::{Experiment, RunStart, intervention, memory_limit};
use crate::learn::{RunState, Snapshots};
use crate::model::{Draw, Model, ModelConfig, NoiseMode};
use crate::platform::{self, Chosen, HAS_FILES, Queue, TimeSlice, at_once};
use crate::train::{Demand, LARGEST_RECORDING, Quantity, Recorder, Recording, State};

/// Duration of a step in an animation, in hundredths of a second: as at normal speed.
const GIF_DELAY: u16 = 25;

/// The least time in which a person leaves a dialog: one that ends sooner was never there.
const LEAST_CHOICE: Duration = Duration::from_millis(200);

/// Runs jobs by their priority, and file dialogs beside them.
pub struct Worker {
    files: Arc<dyn Files>,
    /// The queue of awaited jobs; without one all jobs run immediately, for tests.
    jobs: Option<Queue<(Job, Arc<PendingJob>)>>,
    outbox: Outbox,
    outcomes: Receiver<Outcome>,
    waiting: usize,
    /// Jobs that wait or are in progress.
    under_way: Vec<Weak<PendingJob>>,
    choosing: bool,
    /// Small pictures that wait, and the one that was handed on last.
    pictures: (VecDeque<(Job, Arc<PendingJob>)>, Weak<PendingJob>),
    /// Jobs that wait for a machine being fetched, by its name.
    fetching: Vec<(String, Job, Arc<PendingJob>)>,
}

/// Sends an outcome to the window from any thread; false when the window is gone.
type Outbox = Arc<dyn Fn(Outcome) -> bool + Send + Sync>;

impl Worker {
    /// A worker with a thread of its own, which calls `wake` after each job.
    pub fn new(files: Arc<dyn Files>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let mut worker = Self::of(files, wake);
        let (files, outbox) = (worker.files.clone(), worker.outbox.clone());
        let work = async move |(job, under_way): (Job, Arc<PendingJob>)| {
            let outcome = perform(job, files.as_ref(), &under_way).await;
            // A file counts as being written until the outcome is there.
            let _writes = under_way.writes.then_some(under_way);
            outbox(outcome)
        };
        worker.jobs = Some(Queue::new(work));
        worker
    }

    /// Returns a worker that runs every job immediately.
    pub fn here(files: Arc<dyn Files>) -> Self {
        Self::of(files, || ())
    }

    fn of(files: Arc<dyn Files>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (sender, outcomes) = channel();
        Self {
            files,
            jobs: None,
            outbox: Arc::new(move |outcome| {
                let is_sent = sender.send(outcome).is_ok();
                wake();
                is_sent
            }),
            outcomes,
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
    pub fn start(&mut self, mut job: Job) {
        self.waiting += 1;
        let under_way = Arc::new(PendingJob::new(&job));
        for other in self
            .under_way()
            .filter(|other| other.is_replaced_by(&under_way))
        {
            other.outdated.store(true, Ordering::Relaxed);
        }
        self.under_way.retain(|other| other.strong_count() > 0);
        self.under_way.push(Arc::downgrade(&under_way));
        match job.inputs().map(|inputs| inputs.machine.clone()) {
            Some(machine) if machine.away => self.fetch(&machine.name, job, under_way),
            _ => self.hand_on(job, under_way),
        }
    }

    fn hand_on(&mut self, job: Job, under_way: Arc<PendingJob>) {
        match (&self.jobs, job.priority()) {
            (Some(_), Priority::Idle) => {
                self.pictures.0.push_back((job, under_way));
                self.next_picture();
            }
            (Some(jobs), Priority::Awaited) => jobs.put((job, under_way)),
            (Some(_), Priority::Beside) | (None, _) => {
                let (files, outbox) = (self.files.clone(), self.outbox.clone());
                self.spawn(async move || {
                    outbox(perform(job, files.as_ref(), &under_way).await);
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
            self.pictures.1 = Arc::downgrade(&next.1);
            jobs.put(next);
        }
    }

    /// Fetches the machine of this name, for which the job waits.
    fn fetch(&mut self, name: &str, job: Job, under_way: Arc<PendingJob>) {
        let is_first = !self.fetching.iter().any(|(other, ..)| other == name);
        self.fetching.push((name.to_owned(), job, under_way));
        if is_first {
            let (outbox, called) = (self.outbox.clone(), name.to_owned());
            let answer = move |fetched: Result<Machine, String>| {
                outbox(Outcome::Fetched(called, fetched.map(Arc::new)));
            };
            self.files.fetch(name, Box::new(answer));
        }
    }

    /// Goes on with the jobs that waited for this machine, or refuses them.
    fn fetched(&mut self, name: &str, fetched: &Result<Arc<Machine>, String>) {
        let here = self
            .fetching
            .extract_if(.., |(waits_for, ..)| waits_for == name);
        for (_, job, under_way) in here.collect::<Vec<_>>() {
            let outcome = match (fetched, job) {
                (Ok(machine), mut job) => {
                    let inputs = job.inputs().into_iter();
                    inputs.for_each(|inputs| inputs.machine = machine.clone());
                    self.hand_on(job, under_way);
                    continue;
                }
                (Err(why), Job::Record(inputs)) => Outcome::Refused(inputs.request, why.clone()),
                (Err(_), _) => Outcome::Outdated,
            };
            (self.outbox)(outcome);
        }
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
                outbox(Outcome::NotChosen);
            }
        });
    }

    /// Returns the callback for the file that is chosen for this purpose.
    pub fn answer(&self, purpose: FilePurpose) -> Answer {
        let (files, outbox) = (self.files.clone(), self.outbox.clone());
        let asked = Instant::now();
        Box::new(move |chosen: Option<Chosen>| {
            let taken_in = |Chosen { path, bytes }| {
                if let Some(bytes) = bytes {
                    files.keep(path.clone(), bytes);
                }
                Outcome::Chosen(purpose, path)
            };
            let is_at_once = HAS_FILES && asked.elapsed() < LEAST_CHOICE;
            let none = if is_at_once {
                Outcome::NoDialog
            } else {
                Outcome::NotChosen
            };
            outbox(chosen.map_or(none, taken_in));
        })
    }

    /// Returns the callback for a text that has reached the clipboard.
    pub fn copied(&self, said: Option<String>) -> impl FnOnce() + 'static {
        let outbox = self.outbox.clone();
        move || {
            said.map(|said| outbox(Outcome::Copied(said)));
        }
    }

    /// Returns the outcomes so far, oldest first.
    pub fn outcomes(&mut self) -> Vec<Outcome> {
        let outcomes: Vec<_> = self.outcomes.try_iter().collect();
        for outcome in &outcomes {
            match outcome {
                Outcome::Chosen(..) | Outcome::NotChosen | Outcome::NoDialog => {
                    self.choosing = false;
                }
                Outcome::Fetched(name, fetched) => self.fetched(name, fetched),
                Outcome::Copied(_) => {}
                _ => self.waiting -= 1,
            }
        }
        self.next_picture();
        outcomes
    }

    /// True while a job is under way.
    pub fn busy(&self) -> bool {
        self.waiting > 0
    }
}

async fn perform(job: Job, files: &dyn Files, under_way: &PendingJob) -> Outcome {
    let work = async {
        if under_way.is_wanted() {
            attempt(&job, files, under_way).await
        } else {
            Ok(Outcome::Outdated)
        }
    };
    let outcome = unless_it_breaks(work).await.unwrap_or_else(|| {
        Err("An internal error occurred. The session is unchanged; try again.".to_owned())
    });
    match outcome {
        // Too late: the file is there.
        Ok(Outcome::Saved(_) | Outcome::RunSaved(..)) => {}
        _ if under_way.outdated.load(Ordering::Relaxed) => return Outcome::Outdated,
        _ if under_way.given_up.load(Ordering::Relaxed) => {
            let request = match job {
                Job::Record(inputs) => Some(inputs.request),
                _ => None,
            };
            return Outcome::GivenUp(request, format!("{}: cancelled.", under_way.words));
        }
        _ => {}
    }
    outcome.unwrap_or_else(|why| job.failed(why))
}

/// Runs a job and returns its outcome; may panic.
async fn unless_it_breaks<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let attempt = |context: &mut Context<'_>| {
        let turn = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        turn.map_or(Poll::Ready(None), |turn| turn.map(Some))
    };
    poll_fn(attempt).await
}

async fn attempt(job: &Job, files: &dyn Files, under_way: &PendingJob) -> Result<Outcome, String> {
    let watch = |done, all| under_way.report(done, all);
    let mut turns = TimeSlice::begin();
    let mut progress = async |done, all| {
        turns.yield_now().await;
        under_way.report(done, all)
    };
    if let Job::Report(inputs, _) | Job::Search(inputs, _) = job
        && !inputs.machine.task.is_loaded()
    {
        return Err(format!("{}: {}.", inputs.machine.title, narration::NO_FILE));
    }
    if let Some(outcome) = left_alone(job, files) {
        return Ok(outcome);
    }
    Ok(match job {
        Job::Record(inputs) => {
            let shown = record(inputs, &mut progress).await?;
            let gradients = inputs.gradients.and_then(|of| derived(&shown, of).ok());
            let open = Open::new(shown, Some(inputs.request.clone()));
            Outcome::Recorded(Box::new(Open {
                gradients: gradients.map(Arc::new),
                ..open
            }))
        }
        Job::Picture(place, inputs) => {
            let shown = record(inputs, &mut progress).await?;
            Outcome::Picture(place.clone(), Some(Box::new(Open::new(shown, None))))
        }
        Job::Sample(inputs, count) => {
            let spread = sampled(inputs, *count, &mut progress).await?;
            Outcome::SampledSpread(inputs.request.clone(), SameArc::new(spread))
        }
        Job::Report(inputs, text) => reported(inputs, text.as_deref(), &mut progress).await?,
        Job::Search(inputs, text) => searched(inputs, text, &mut progress).await?,
        Job::Explain(inputs) => explained(inputs, &mut progress).await?,
        Job::Derive(shown, of) => {
            let gradients = derived(shown, *of)?;
            Outcome::Derived(SameArc(shown.clone()), SameArc::new(gradients))
        }
        Job::Open(path) => {
            let opened = files.open(path, &watch)?;
            Outcome::Opened(files.absolute(path.clone()), opened)
        }
        Job::OpenOther(path) => {
            let other = files.open(path, &watch)?;
            Outcome::Other(files.absolute(path.clone()), other)
        }
        Job::Verify(path, shown) => {
            Outcome::Verified(SameArc(shown.clone()), files.verify(path, &watch))
        }
        Job::Recent(paths) => {
            let is_there = |path: &PathBuf| (path.clone(), files.exists(path));
            Outcome::Recent(paths.iter().map(is_there).collect())
        }
        Job::Suggest(purpose, path) => {
            Outcome::Suggested(path.clone(), free_path(files, *purpose, path))
        }
        Job::Compare(sides) => Outcome::Compared(sides.clone().compare()),
        Job::Prepare(named) => {
            let (count, mut experiments) = (named.len(), named.iter());
            experiments.try_for_each(|(_, experiment)| check_training(experiment, count))?;
            let runs = named.iter().cloned().map(begun).collect();
            Outcome::Prepared(SameArc::new(runs), Vec::new())
        }
        Job::FindRecoverable(root) => Outcome::Recoverable(recovery::recoverable(root)),
        Job::Recover(folders) => recovered(folders),
        Job::Discard(run) => {
            recovery::discard(&run.folder).map_err(|error| error.to_string())?;
            Outcome::Saved(format!("Discarded: {}.", run.label))
        }
        Job::Levels(run, experiment) => Outcome::Levels(*run, landmarks(experiment)),
        Job::Continue(folder) => {
            let start = files.saved_state(folder)?;
            check_training(&start.experiment, 1)?;
            let (mut view, start) = prepared(Some(file_name(folder)), start);
            (view.saved, view.folder) = (Saved::of(&start.state), Some(folder.clone()));
            Outcome::Prepared(SameArc::new(vec![(view, start)]), Vec::new())
        }
        Job::Draw(to, format, page) => drawn(files, (to, *format), page, progress).await?,
        Job::SaveRun(run) => saved_run(run, files)?,
        Job::Table(to, text) => {
            let path = files.absolute(to.path.clone());
            Outcome::Saved(files.save_figure(&path, text.as_bytes())?)
        }
        Job::Save(to, shown) => {
            let path = files.absolute(to.path.clone());
            Outcome::Saved(files.save_trace(&path, shown)?)
        }
    })
}

/// Renders the content of a figure as a file.
async fn drawn(
    files: &dyn Files,
    to: (&Destination, Format),
    page: &Page,
    progress: impl Progress,
) -> Result<Outcome, String> {
    match page {
        Page::One(open, options) => {
            let figure = Figure::new(&open.shown.recording, options.as_ref().clone())
                .with_initial(open.shown.initial_cells())
                .with_spread(open.spread.as_deref())
                .with_layer(open.layer());
            save_figure(files, to, &figure, progress).await
        }
        Page::Two(two) => save_figure(files, to, &two.figure(), progress).await,
        Page::Charts(charts) => save_figure(files, to, charts.as_ref(), progress).await,
        Page::Report(report) => save_figure(files, to, report.as_ref(), progress).await,
    }
}

/// Leaves a file alone that is there and was not to be replaced.
fn left_alone(job: &Job, files: &dyn Files) -> Option<Outcome> {
    let (run, renames) = match job {
        Job::SaveRun(run) => (Some(run.0.number), run.0.renames),
        _ => (None, false),
    };
    let is_there = |to: &&Destination| !to.replaces && !renames && files.exists(&to.path);
    let to = job.destination().filter(is_there)?;
    let free = free_path(files, to.purpose, &to.path);
    Some(Outcome::IsThere(to.clone(), free, run))
}

/// Reads runs that a killed program left, and holds their folders.
fn recovered(folders: &[PathBuf]) -> Outcome {
    let (mut runs, mut left) = (Vec::new(), Vec::new());
    for folder in folders {
        let opened = Recovery::open(folder).map_err(|error| error.to_string());
        let opened = opened.and_then(|(recovery, start)| {
            check_training(&start.experiment, folders.len())?;
            let (view, start) = prepared(None, start);
            let recovery = Some(recovery);
            Ok((RunView { recovery, ..view }, start))
        });
        let folder = folder.clone();
        match opened {
            Ok(run) => runs.push(run),
            Err(label) => left.push(RecoverableRun { folder, label }),
        }
    }
    Outcome::Prepared(SameArc::new(runs), left)
}

/// Writes a run.
fn saved_run(
    (saving, run_state): &(Saving, RunState),
    files: &dyn Files,
) -> Result<Outcome, String> {
    let Destination { path, replaces, .. } = &saving.to;
    let path = if saving.renames {
        free_path(files, FilePurpose::Run, path)
    } else {
        path.clone()
    };
    let folder = files.absolute(path);
    let sentence = files.save_run(&folder, &saving.experiment, run_state, *replaces)?;
    let saved = Saved::of(&run_state.state);
    Ok(Outcome::RunSaved(saving.number, saved, sentence))
}

/// Returns this path, or with the first number behind its name under which no file exists.
fn free_path(files: &dyn Files, purpose: FilePurpose, path: &Path) -> PathBuf {
    /// The largest number that is tried.
    const MOST: usize = 999;
    let name = file_name(path);
    // A dot in the name of a folder begins no ending.
    let is_folder = HAS_FILES && purpose == FilePurpose::Run;
    let end = name.find('.').filter(|_| !is_folder);
    let (stem, end) = name.split_at(end.unwrap_or(name.len()));
    let numbered = (2..=MOST).map(|number| path.with_file_name(format!("{stem}-{number}{end}")));
    let mut paths = std::iter::once(path.to_owned()).chain(numbered);
    let free = paths.find(|path| !files.exists(path));
    free.unwrap_or_else(|| path.to_owned())
}

/// A run before its first update.
fn begun((name, experiment): NamedExperiment) -> (RunView, RunStart) {
    let start = RunStart {
        begun: experiment.clone(),
        state: State::new(experiment.model.clone(), &experiment.training),
        experiment,
        snapshots: None,
    };
    prepared(name, start)
}

/// Renders pictures as a file, unless cancelled.
async fn save_figure(
    files: &dyn Files,
    (to, format): (&Destination, Format),
    pages: &dyn Pages,
    mut progress: impl Progress,
) -> Result<Outcome, String> {
    let (walk, scale) = match (to.purpose, format) {
        (FilePurpose::Motion, _) => (Walk::Motion, 1.0),
        (_, Format::Gif) => (Walk::Steps, 1.0),
        // Pixels per unit of a page.
        _ => (Walk::Steps, 2.0),
    };
    let motion = Motion {
        walk,
        ..Motion::new(GIF_DELAY)
    };
    let drawn = to_bytes(pages, format, scale, motion, &mut progress).await;
    // A page is drawn in one go: it may be given up only now.
    match drawn {
        Err(NoFile::TooLarge(frames)) => Err(format!(
            "The figure has {frames} frames, which take more than {} MB. Choose a shorter episode.",
            LARGEST / 1_000_000
        )),
        Ok(bytes) if progress(1, 1).await.is_continue() => {
            let path = files.absolute(to.path.clone());
            Ok(Outcome::Saved(files.save_figure(&path, &bytes)?))
        }
        _ => Ok(Outcome::Outdated),
    }
}

/// The episode, or why it is not recorded.
async fn record(
    inputs: &RecordingInputs,
    mut progress: impl Progress,
) -> Result<RecordedEpisode, String> {
    let (request, task) = (&inputs.request, &inputs.task());
    let (own, rows) = (&inputs.machine.ntm, request.rows);
    let config = own.config.with_rows(rows).map_err(|error| {
        let (title, allowed) = (&inputs.machine.title, error.allowed);
        format!("{title} does not run on {rows} rows; allowed: {allowed}.")
    })?;
    check_recording(&config, request.longest(&config, task))?;
    let episode = request.episode(task);
    let fits = config.fits_episode([episode.steps(), episode.source()]);
    fits.map_err(|error| format!("model.{error}. Choose a shorter episode."))?;
    let machine = own.with_rows(rows).map_err(|error| error.to_string())?;
    // By hand or not, the noise is that of the seed.
    let given = request.given.as_ref().map(|given| given.0.origin);
    let origin = given.flatten();
    let mut drawn = origin.map_or(Draw::of(request.seed, 0), |own| {
        Draw::of(own.seed, own.episode)
    });
    (drawn.sample, drawn.sampling) = (request.sample, request.sampling);
    let mut recorder = Recorder::new(&machine, task, episode, Some(drawn));
    while recorder.step() {
        let (done, all) = recorder.done();
        if progress(done, all).await.is_break() {
            return Err("The recording was cancelled.".to_owned());
        }
    }
    let mut recording = Box::new(recorder.into_recording());
    let texts = request.interventions();
    if !texts.is_empty() {
        *recording = branch(&recording, &machine, &texts)?;
    }
    let is_changed = !request.flipped.is_empty() || given == Some(None);
    let manual = is_changed || !task.is_loaded();
    recording.origin.take_if(|_| manual);
    Ok(RecordedEpisode {
        recording: *recording,
        config: Some(config),
        machine: Some(inputs.machine.clone()),
        file: None,
        address: None,
        sha256: None,
        verdict: OnceLock::new(),
    })
}

/// Runs an episode again with interventions.
fn branch(plain: &Recording, machine: &Model, texts: &[&str]) -> Result<Recording, String> {
    let changes = intervention::parse(texts, "intervention", machine, &plain.trace);
    let changes = changes.map_err(|error| format!("{}.", error.without_file()))?;
    let branch = plain.with(machine, &changes);
    branch.ok_or_else(|| "The noise of this episode is not known.".to_owned())
}

/// Records a number of samples and returns their spread, or an error.
async fn sampled(
    inputs: &RecordingInputs,
    count: usize,
    mut progress: impl Progress,
) -> Result<Spread, String> {
    let (heads, rows) = (inputs.machine.ntm.config.heads(), inputs.request.rows);
    let (mut samples, steps) = (Samples::default(), inputs.steps());
    let bytes = Samples::bytes(count, steps, heads, rows);
    if bytes > LARGEST_RECORDING {
        let (size, advice) = (bytes >> 30, "Choose fewer samples or a shorter episode.");
        let what = format!("{count} samples of {steps} steps on {rows} rows");
        return Err(format!("{what} take {size} GB. {advice}"));
    }
    let mut inputs = inputs.clone();
    inputs.request.sampling = NoiseMode::Sampled;
    for sample in 0..count {
        inputs.request.sample = sample as u64;
        let progress = async |done, all| progress(sample * all + done, count * all).await;
        samples.add(record(&inputs, progress).await?.recording);
    }
    let none = || "The number of samples is 0. Choose 1 or more.".to_owned();
    samples.spread().ok_or_else(none)
}

/// Records the episodes of the next seeds until the condition holds in one.
async fn searched(
    inputs: &RecordingInputs,
    text: &str,
    mut progress: impl Progress,
) -> Result<Outcome, String> {
    let (after, mut inputs) = (inputs.request.clone(), inputs.without_edits());
    for place in 0..SEEDS {
        inputs.request.seed = inputs.request.seed.wrapping_add(1);
        let progress = async |done, all| progress(place * all + done, SEEDS * all).await;
        let shown = record(&inputs, progress).await?;
        let condition = condition(text, &shown.recording.trace);
        let condition = condition.map_err(|error| format!("Condition: {}.", error.message))?;
        if condition.matches(&shown.recording).next().is_some() {
            let open = Box::new(Open::new(shown, Some(inputs.request)));
            return Ok(Outcome::Found(after, Some(open)));
        }
    }
    Ok(Outcome::Found(after, None))
}

/// Measures wrong bits in the episodes of the following seeds, and a quantity unless it is empty; without one, the machine
/// without each of its parts.
async fn reported(
    inputs: &RecordingInputs,
    quantity: Option<&str>,
    mut progress: impl Progress,
) -> Result<Outcome, String> {
    let (mut plain, first) = (inputs.without_edits(), inputs.request.seed);
    let machine = inputs.machine.ntm.with_rows(inputs.request.rows);
    let machine = machine.map_err(|error| error.to_string())?;
    let (lesions, mut scores) = (lesions(&machine), Vec::new());
    let (mut summary, mut last) = (Summary::default(), None);
    let count = quantity.map_or(REMOVALS, |_| EPISODES);
    for place in 0..count {
        let within = async |done, all| progress(place * all + done, count * all).await;
        let recording = record(&plain, within).await?.recording;
        if let Some(text) = quantity {
            let checked = || Expression::parse(text)?.quantity(&recording.trace);
            let checked = (!text.is_empty()).then(checked).transpose();
            let checked = checked.map_err(|error| format!("Quantity: {}.", error.message))?;
            let one = Summary::of(&recording, checked.as_ref());
            summary.add(plain.request.seed, one);
        } else {
            let mut of_it = Vec::new();
            for lesion in &lesions {
                // The noise of these episodes is known.
                let other = lesion.record(&machine, &recording);
                of_it.push(other.map_or(recording.score, |other| other.score));
                if progress(place, count).await.is_break() {
                    return Ok(Outcome::Outdated);
                }
            }
            scores.push(of_it);
        }
        plain.request.seed = plain.request.seed.wrapping_add(1);
        last = Some(recording);
    }
    let last = last.ok_or("No episode was measured.")?;
    let answer = last.episode.answer;
    let report = if let Some(text) = quantity {
        Report::of_episodes(inputs, text, &summary, answer.unit())
    } else {
        let effects = effects(lesions, first, &scores);
        Report::of_lesions(inputs, &effects, (&machine.config, &last.trace), answer)
    };
    Ok(Outcome::Reported(Box::new(report)))
}

/// Runs an episode with each lesion of the machine, and with each gate at its mean, and reports which repair it.
async fn explained(
    inputs: &RecordingInputs,
    mut progress: impl Progress,
) -> Result<Outcome, String> {
    let mut plain = inputs.clone();
    plain.request.changes.clear();
    let machine = inputs.machine.ntm.with_rows(inputs.request.rows);
    let machine = machine.map_err(|error| error.to_string())?;
    let whole = record(&plain, &mut progress).await?.recording;
    let all = attempts(&machine, &whole);
    let (count, mut repairs) = (all.len(), Vec::new());
    for (place, lesion) in all.into_iter().enumerate() {
        if progress(place, count).await.is_break() {
            return Ok(Outcome::Outdated);
        }
        repairs.push(Repair::of(lesion, &machine, &whole));
    }
    let report = Report::of_repairs(&plain, repairs, &whole, &machine.config);
    Ok(Outcome::Reported(Box::new(report)))
}

/// Computes the gradients of an episode, or returns an error.
fn derived(shown: &RecordedEpisode, of: Quantity) -> Result<Gradients, String> {
    if !shown.recording.conventions.interventions.is_empty() {
        return Err(
            "Values that are set have no gradients. Remove the interventions first.".to_owned(),
        );
    }
    let none = "A recorded trace has no weights, so gradients cannot be computed.";
    let ntm = &shown.machine.as_ref().ok_or(none)?.ntm;
    let rows = shown.config.as_ref().map_or(0, |config| config.rows());
    let machine = ntm.with_rows(rows).map_err(|error| error.to_string())?;
    let found = Gradients::new(&machine, &shown.recording, of);
    found.ok_or_else(|| "This episode has no such output bit.".to_owned())
}

/// Checks that recording this number of steps, with those of the source, does not take too much memory.
pub fn check_recording(config: &ModelConfig, [steps, source]: [usize; 2]) -> Result<(), String> {
    let bytes = Demand::Recording.with_source(config, [steps, source]);
    let rows = config.rows_of([steps, source]);
    let what = format!("{steps} steps of a memory of {rows} rows");
    let advice = "Choose a shorter episode or fewer rows.";
    if bytes > LARGEST_RECORDING {
        return Err(format!(
            "{what} take {} GB to record. {advice}",
            bytes >> 30
        ));
    }
    memory_limit::claim(bytes, 0).map_err(|short| format!("Recording {what} {short}. {advice}"))
}

/// The number of threads of each of `count` machines that train at the same time: a single one has all processors,
/// several have one each, and take turns.
pub fn learning_threads(count: usize) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if count > 1 { 1 } else { all() }
}

/// Checks that training this number of runs side by side does not take too much memory.
pub fn check_training(experiment: &Experiment, count: usize) -> Result<(), String> {
    let (batch, steps) = (experiment.training.batch, experiment.task.longest());
    let threads = learning_threads(count).min(batch);
    let demand = Demand::Training {
        batch,
        samples: experiment.training.hard.samples as usize,
        threads,
        machines: experiment.training.machines(),
    };
    let demand = demand.of_task(&experiment.model, &experiment.task);
    let snapshots = (Snapshots::LIMIT / count) as u64;
    let bytes = (demand + snapshots).saturating_mul(count as u64);
    memory_limit::claim(bytes, threads).map_err(|short| {
        let (title, rows) = (&experiment.title, experiment.model.rows());
        format!(
            "{title} cannot be trained here: training on {steps} steps of a memory of {rows} rows, in batches of {batch}, {short}. Use shorter episodes, fewer rows or a smaller batch."
        )
    })
}

/// Prepares a run for training.
fn prepared(name: Option<String>, start: RunStart) -> (RunView, RunStart) {
    let machine = start.state.machines[0].clone();
    let view = RunView {
        begun: start.begun.clone(),
        landmarks: landmarks(&start.experiment),
        ..RunView::new(name, start.experiment.clone(), machine)
    };
    (view, start)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Receiver, Sender};
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::figure;
    use crate::learn::RunState;
    use crate::task::{Copy, Task};
    use crate::train::State;
    use crate::viewer::disk::ProgressCallback;
    use crate::viewer::fixture::inputs;
    use crate::viewer::state::{FilePurpose, OpenedFile, Saving, ThumbnailSlot};

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

    /// Breaks off whatever it writes.
    #[derive(Debug)]
    struct Breaks;

    impl Files for Breaks {
        fn save_run(
            &self,
            _: &Path,
            _: &Experiment,
            _: &RunState,
            _: bool,
        ) -> Result<String, String> {
            panic!("the disk is on fire")
        }
    }

    fn slow() -> (Worker, Sender<()>, Sender<()>) {
        let ((open, opening), (choose, choosing)) = (channel(), channel());
        let files = Slow {
            open: Mutex::new(opening),
            choose: Mutex::new(choosing),
        };
        (Worker::new(Arc::new(files), || {}), open, choose)
    }

    /// The next outcomes in short, as many as asked for.
    fn next(worker: &mut Worker, count: usize) -> Vec<String> {
        let mut said = Vec::new();
        for _ in 0..2000 {
            said.extend(worker.outcomes().into_iter().map(|outcome| match outcome {
                Outcome::Recorded(open) => {
                    format!(
                        "recorded {}",
                        open.request.map_or(0, |request| request.seed)
                    )
                }
                Outcome::Outdated => "outdated".to_owned(),
                Outcome::Failed(sentence) => sentence,
                Outcome::Chosen(_, path) => path.display().to_string(),
                other => format!("{other:?}"),
            }));
            if said.len() >= count {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        said
    }

    #[test]
    fn waiting_recording_is_replaced_by_newer() {
        let (mut worker, open, _choose) = slow();
        worker.start(Job::Open(PathBuf::from("slow")));
        for seed in 1..=3 {
            worker.start(Job::Record(inputs(seed)));
        }
        open.send(()).unwrap();
        let said = next(&mut worker, 4);
        assert_eq!(said, ["not here", "outdated", "outdated", "recorded 3"]);
        assert!(!worker.busy());
    }

    #[test]
    fn requested_episode_precedes_thumbnails() {
        let (mut worker, open, _choose) = slow();
        worker.start(Job::Open(PathBuf::from("slow")));
        for run in 1..=3 {
            worker.start(Job::Picture(ThumbnailSlot::Run(run), inputs(run)));
        }
        worker.start(Job::Record(inputs(4)));
        open.send(()).unwrap();
        let said = next(&mut worker, 5);
        let place = |words: &str| said.iter().position(|said| said.starts_with(words));
        assert_eq!(place("recorded 4"), Some(2), "{said:?}");
        assert_eq!(place("Picture(Run(3)"), Some(4), "{said:?}");
        assert!(!worker.busy());
    }

    #[test]
    fn requested_episode_waits_for_no_search_and_ends_it() {
        let (mut worker, _open, _choose) = slow();
        let mut long = inputs(1);
        long.request.size = 100;
        worker.start(Job::Search(long, "step > 10000".to_owned()));
        worker.start(Job::Record(inputs(1)));
        let mut said = next(&mut worker, 2);
        said.sort_unstable();
        assert_eq!(said, ["outdated", "recorded 1"]);
        // A search from the requested episode goes on.
        worker.start(Job::Search(inputs(1), "step = 2".to_owned()));
        worker.start(Job::Record(inputs(1)));
        let said = next(&mut worker, 2).concat();
        assert!(
            said.contains("Found(") && said.contains("recorded 1"),
            "{said}"
        );
    }

    #[test]
    fn running_job_is_reported_and_can_be_cancelled() {
        let (mut worker, open, _choose) = slow();
        worker.start(Job::Open(PathBuf::from("folder/slow")));
        worker.start(Job::Record(inputs(1)));
        worker.start(Job::Search(inputs(1), "step > 100".to_owned()));
        let words: Vec<_> = worker.under_way().map(|job| job.words.clone()).collect();
        let [record, search] = ["Recording 5 steps × 8 rows", "Searching 100 seeds"];
        assert_eq!(words, ["Reading slow", record, search]);
        worker.give_up();
        open.send(()).unwrap();
        let said = next(&mut worker, 3);
        for words in words {
            let cancelled = format!("{words}: cancelled.");
            assert!(
                said.iter().any(|said| said.contains(&cancelled)),
                "{said:?}"
            );
        }
        assert_eq!(worker.under_way().count(), 0);
    }

    #[test]
    fn cancelled_recording_stops_at_current_step() {
        let inputs = inputs(1);
        let last = AtomicUsize::new(0);
        let progress = async |done, all| {
            assert_eq!(all, 5);
            last.store(done, Ordering::Relaxed);
            if done < 3 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let recorded = at_once(record(&inputs, progress));
        assert_eq!((recorded.is_err(), last.into_inner()), (true, 3));
    }

    #[test]
    fn failed_job_reports_to_its_requester() {
        // A task that the machine has no channels for.
        let mut wide = inputs(1);
        Arc::make_mut(&mut wide.machine).task = Task::Copy(Copy {
            bits: 7,
            length: 2..=2,
        });
        let place = ThumbnailSlot::Run(3);
        let mut worker = Worker::here(Arc::new(Breaks));
        worker.start(Job::Picture(place.clone(), wide));
        assert_eq!(worker.outcomes(), [Outcome::Picture(place, None)]);
        let experiment = Experiment::find("copy", &[]).unwrap();
        let state = State::new(experiment.model.clone(), &experiment.training);
        let run_state = RunState {
            state,
            snapshots: Snapshots::new(0),
            keeps_weights: true,
        };
        let to = Destination {
            path: PathBuf::from("folder"),
            replaces: true,
            purpose: FilePurpose::Run,
        };
        let saving = Saving {
            place: 0,
            number: 7,
            experiment,
            to,
            renames: false,
        };
        worker.start(Job::SaveRun(Box::new((saving, run_state))));
        let outcomes = worker.outcomes();
        assert!(matches!(outcomes[..], [Outcome::RunNotSaved(7, _)]));
        assert!(!worker.busy());
    }

    #[test]
    fn figure_job_does_not_block() {
        let (mut worker, open, _choose) = slow();
        let inputs = inputs(1);
        let shown = at_once(record(&inputs, async |_, _| ControlFlow::Continue(())));
        let shown = shown.unwrap();
        worker.start(Job::Open(PathBuf::from("slow")));
        let options = Box::new(figure::Options::new(figure::Layout::Paper));
        let (path, replaces) = (PathBuf::from("f.gif"), true);
        let page = Page::One(Box::new(Open::new(shown, None)), options);
        let purpose = FilePurpose::Figure(Format::Gif);
        let to = Destination {
            path,
            replaces,
            purpose,
        };
        worker.start(Job::Draw(to, Format::Gif, page));
        let said = next(&mut worker, 1);
        assert!(said[0].contains("f.gif cannot be written"), "{said:?}");
        assert!(worker.busy());
        open.send(()).unwrap();
        assert_eq!(next(&mut worker, 1), ["not here"]);
        assert!(!worker.busy());
    }

    #[test]
    fn dialog_does_not_block() {
        let (mut worker, _open, choose) = slow();
        worker.choose(FilePurpose::Open, String::new());
        worker.choose(FilePurpose::Open, String::new());
        assert!(!worker.busy());
        worker.start(Job::Record(inputs(7)));
        assert_eq!(next(&mut worker, 1), ["recorded 7"]);
        choose.send(()).unwrap();
        assert_eq!(next(&mut worker, 1), ["chosen"]);
        worker.choose(FilePurpose::Save, String::new());
        choose.send(()).unwrap();
        assert_eq!(next(&mut worker, 1), ["chosen"]);
    }
}
