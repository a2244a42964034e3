//! What records episodes, touches files and asks for them beside the window, so that it never waits: threads, in a
//! browser turns.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use super::files::{Aim, Answer, Files, Machine, Shown};
use super::state::episode::{Open, Request, Wish};
use super::state::work::{Destination, Job, Outcome, Page, Same, Sampled, Saved, UnderWay};
use crate::figure::spread::{Samples, Spread};
use crate::figure::{Derivatives, Figure, Format, Layer, Motion, Pages, Told, Walk, to_bytes};
use crate::io::{Experiment, room};
use crate::learn::Snapshots;
use crate::model::{Draw, Model, ModelConfig, Sampling};
use crate::platform::{self, Chosen, Queue, Turns, at_once};
use crate::task::Task;
use crate::train::{
    Demand, LARGEST_RECORDING, Quantity, Recorder, Recording, Work, recording_bytes,
};

/// How long an animation shows each step, in hundredths of a second: as at normal speed.
const GIF_DELAY: u16 = 25;

/// Does jobs in order, and asks for files beside them.
pub struct Worker {
    files: Arc<dyn Files>,
    /// Where jobs are done one after the other; without that everything is done at once: for tests.
    jobs: Option<Queue<(Job, Arc<UnderWay>)>>,
    outbox: Outbox,
    outcomes: Receiver<Outcome>,
    waiting: usize,
    /// Those that wait or are being done, as far as they are not done by now.
    under_way: Vec<Weak<UnderWay>>,
    choosing: bool,
    /// Small pictures that wait, and the one that was handed on last.
    pictures: (VecDeque<(Job, Arc<UnderWay>)>, Weak<UnderWay>),
    /// What waits for a machine that is being fetched, by its name.
    fetching: Vec<(String, Job, Arc<UnderWay>)>,
}

/// Where a thread leaves what came of its work.
#[derive(Clone)]
struct Outbox {
    outcomes: Sender<Outcome>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Outbox {
    /// Nobody is left to tell when this fails.
    fn put(&self, outcome: Outcome) -> Option<()> {
        self.outcomes.send(outcome).ok()?;
        (self.wake)();
        Some(())
    }
}

impl Worker {
    /// A worker with a thread of its own, which calls `wake` after each job.
    pub fn new(files: Arc<dyn Files>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let mut worker = Self::of(files, wake);
        let (files, outbox) = (worker.files.clone(), worker.outbox.clone());
        let work = async move |(job, under_way): (Job, Arc<UnderWay>)| {
            let outcome = perform(job, files.as_ref(), &under_way).await;
            drop(under_way);
            outbox.put(outcome).is_some()
        };
        worker.jobs = Some(Queue::new(work));
        worker
    }

    /// A worker that does every job at once.
    pub fn here(files: Arc<dyn Files>) -> Self {
        Self::of(files, || ())
    }

    fn of(files: Arc<dyn Files>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (sender, outcomes) = channel();
        Self {
            files,
            jobs: None,
            outbox: Outbox {
                outcomes: sender,
                wake: Arc::new(wake),
            },
            outcomes,
            waiting: 0,
            under_way: Vec::new(),
            choosing: false,
            pictures: (VecDeque::new(), Weak::new()),
            fetching: Vec::new(),
        }
    }

    /// Does something that may take long: no job waits for it.
    fn aside(&self, work: impl AsyncFnOnce() + Send + 'static) {
        if self.jobs.is_some() {
            platform::aside(work);
        } else {
            at_once(work());
        }
    }

    /// Hands over a job. A recording that waits or is under way is given up for a newer one.
    pub fn start(&mut self, job: Job) {
        self.waiting += 1;
        let under_way = Arc::new(UnderWay::new(&job));
        if under_way.is_recording {
            for other in self.under_way().filter(|other| other.is_recording) {
                other.outdated.store(true, Ordering::Relaxed);
            }
        }
        self.under_way.retain(|other| other.strong_count() > 0);
        self.under_way.push(Arc::downgrade(&under_way));
        match job.away() {
            Some(name) => self.fetch(&name, job, under_way),
            None => self.hand_on(job, under_way),
        }
    }

    fn hand_on(&mut self, job: Job, under_way: Arc<UnderWay>) {
        match &self.jobs {
            Some(_) if matches!(job, Job::Picture(..)) => {
                self.pictures.0.push_back((job, under_way));
                self.next_picture();
            }
            Some(jobs) if !matches!(job, Job::Draw(..)) => jobs.put((job, under_way)),
            // An animation takes long.
            _ => {
                let (files, outbox) = (self.files.clone(), self.outbox.clone());
                self.aside(async move || {
                    outbox.put(perform(job, files.as_ref(), &under_way).await);
                });
            }
        }
    }

    /// Hands on a small picture once the one before is done: what a person asks for waits for one at most.
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
    fn fetch(&mut self, name: &str, job: Job, under_way: Arc<UnderWay>) {
        let is_first = !self.fetching.iter().any(|(other, ..)| other == name);
        self.fetching.push((name.to_owned(), job, under_way));
        if is_first {
            let (outbox, called) = (self.outbox.clone(), name.to_owned());
            let answer = move |fetched: Result<Machine, String>| {
                outbox.put(Outcome::Fetched(called, fetched.map(Arc::new)));
            };
            self.files.fetch(name, Box::new(answer));
        }
    }

    /// Goes on with the jobs that waited for this machine, or refuses them.
    fn fetched(&mut self, name: &str, fetched: &Result<Arc<Machine>, String>) {
        let (here, others) = std::mem::take(&mut self.fetching)
            .into_iter()
            .partition(|(waits_for, ..)| waits_for == name);
        self.fetching = others;
        for (_, job, under_way) in here {
            match (fetched, job) {
                (Ok(machine), job) => self.hand_on(job.with_machine(machine), under_way),
                (Err(why), Job::Record(request)) => {
                    self.outbox.put(Outcome::Refused(request.wish, why.clone()));
                }
                (Err(_), _) => {
                    self.outbox.put(Outcome::Outdated);
                }
            }
        }
    }

    /// What is not done yet, the oldest first.
    pub fn under_way(&self) -> impl Iterator<Item = Arc<UnderWay>> {
        self.under_way.iter().filter_map(Weak::upgrade)
    }

    /// What is not done yet and can be given up.
    pub fn can_be_given_up(&self) -> impl Iterator<Item = Arc<UnderWay>> {
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
    pub fn choose(&mut self, aim: Aim, suggestion: String) {
        if std::mem::replace(&mut self.choosing, true) {
            return;
        }
        let (files, answer) = (self.files.clone(), self.answer(aim));
        self.aside(async move || {
            let choose = || files.choose(aim.is_to_save(), &suggestion, answer);
            // A dialog that breaks has let go of the answer: nothing is chosen.
            drop(catch_unwind(AssertUnwindSafe(choose)));
        });
    }

    /// For whoever knows later which file was chosen for this.
    pub fn answer(&self, aim: Aim) -> Answer {
        let (files, outbox) = (self.files.clone(), self.outbox.clone());
        Answer::new(move |chosen| {
            let taken_in = |Chosen { path, bytes }| {
                if let Some(bytes) = bytes {
                    files.keep(path.clone(), bytes);
                }
                Outcome::Chosen { aim, path }
            };
            outbox.put(chosen.map_or(Outcome::NotChosen, taken_in));
        })
    }

    /// What has come of the work so far, oldest first.
    pub fn outcomes(&mut self) -> Vec<Outcome> {
        let outcomes: Vec<_> = self.outcomes.try_iter().collect();
        for outcome in &outcomes {
            match outcome {
                Outcome::Chosen { .. } | Outcome::NotChosen => self.choosing = false,
                Outcome::Fetched(name, fetched) => self.fetched(name, fetched),
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

async fn perform(job: Job, files: &dyn Files, under_way: &UnderWay) -> Outcome {
    let wish = match &job {
        Job::Record(request) => Some(request.wish.clone()),
        _ => None,
    };
    let fails = job.fails();
    let work = async {
        if under_way.is_wanted() {
            attempt(job, files, under_way).await
        } else {
            Outcome::Outdated
        }
    };
    let outcome = unless_it_breaks(work).await.unwrap_or_else(|| {
        fails("That could not be done: an internal error. The session is unchanged.".to_owned())
    });
    if matches!(outcome, Outcome::Saved(_) | Outcome::RunSaved(..)) {
        // Too late: the file is there.
        outcome
    } else if under_way.outdated.load(Ordering::Relaxed) {
        Outcome::Outdated
    } else if under_way.given_up.load(Ordering::Relaxed) {
        let words = &under_way.words;
        Outcome::GivenUp(wish, format!("{words}: given up."))
    } else {
        outcome
    }
}

/// What comes of it, unless it breaks.
async fn unless_it_breaks<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let attempt = |context: &mut Context<'_>| {
        let turn = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        turn.map_or(Poll::Ready(None), |turn| turn.map(Some))
    };
    poll_fn(attempt).await
}

async fn attempt(job: Job, files: &dyn Files, under_way: &UnderWay) -> Outcome {
    let watch = |done, all| under_way.told(done, all);
    let mut turns = Turns::begin();
    let mut told = async |done, all| {
        turns.give_way().await;
        under_way.told(done, all)
    };
    let left_alone = |to: &&Destination| !to.replaces && files.exists(&to.path);
    if let Some(to) = job.destination().filter(left_alone).cloned() {
        return match job {
            Job::SaveRun(run) => Outcome::RunIsThere(run.0.number, to),
            _ => Outcome::IsThere(to),
        };
    }
    match job {
        Job::Record(request) => match record(&request, &mut told).await {
            Ok(shown) => {
                let mattered = request.mattered.and_then(|of| derived(&shown, of).ok());
                let open = Open::new(shown, Some(request.wish));
                Outcome::Recorded(Box::new(Open {
                    mattered: mattered.map(Arc::new),
                    ..open
                }))
            }
            Err(sentence) => Outcome::Refused(request.wish, sentence),
        },
        Job::Picture(place, request) => {
            let open = |shown| Box::new(Open::new(shown, None));
            Outcome::Picture(place, record(&request, &mut told).await.ok().map(open))
        }
        Job::Sample(request, count) => match sampled(&request, count, &mut told).await {
            Ok(spread) => Outcome::Sampled(request.wish, Sampled(Arc::new(spread))),
            Err(sentence) => Outcome::Failed(sentence),
        },
        Job::Derive(shown, of) => match derived(&shown, of) {
            Ok(mattered) => Outcome::Derived(Same(shown), Same(Arc::new(mattered))),
            Err(sentence) => Outcome::Failed(sentence),
        },
        Job::Open(path) => match files.open_watched(&path, &watch) {
            Ok(opened) => Outcome::opened(files.absolute(path), opened),
            Err(sentence) => Outcome::Failed(sentence),
        },
        Job::OpenOther(path) => match Box::pin(attempt(Job::Open(path), files, under_way)).await {
            failed @ Outcome::Failed(_) => failed,
            other => Outcome::Other(Box::new(other)),
        },
        Job::Recent(paths) => {
            let there = |path: PathBuf| {
                let is = files.exists(&path);
                (path, is)
            };
            Outcome::Recent(paths.into_iter().map(there).collect())
        }
        Job::Compare(sides) => Outcome::Compared(sides.compare()),
        Job::Draw(to, format, Page::One(shown, seen, options)) => {
            let figure = Figure::new(&shown.recording, *options);
            let figure = figure.with_initial(shown.initial_cells());
            let figure = figure.with_spread(seen.spread.as_deref());
            let mattered = seen.mattered.as_deref();
            let figure = figure.with_layer(mattered.map_or(Layer::Values, Layer::Derivative));
            save_figure(files, (to, format), &figure, told).await
        }
        Job::Draw(to, format, Page::Two(picture)) => {
            save_figure(files, (to, format), &picture.figure(), told).await
        }
        Job::Draw(to, format, Page::Charts(charts)) => {
            save_figure(files, (to, format), charts.as_ref(), told).await
        }
        Job::SaveRun(run) => {
            let (saving, handed) = *run;
            let folder = files.absolute(saving.to.path);
            match files.save_run(&folder, &saving.experiment, &handed, saving.to.replaces) {
                Ok(sentence) => {
                    let saved = Saved {
                        sequences: handed.state.sequences,
                        seconds: handed.state.time.as_secs_f64(),
                    };
                    Outcome::RunSaved(saving.number, saved, sentence)
                }
                Err(sentence) => Outcome::RunNotSaved(saving.number, sentence),
            }
        }
        Job::Save(to, shown) => saved(files.save_trace(&files.absolute(to.path), &shown)),
    }
}

/// Pictures as a file, if they are still wanted when they are drawn.
async fn save_figure(
    files: &dyn Files,
    (to, format): (Destination, Format),
    pages: &dyn Pages,
    mut told: impl Told,
) -> Outcome {
    let moves = to.aim == Aim::Motion;
    let walk = if moves { Walk::Motion } else { Walk::Steps };
    // Pixels per unit of a page.
    let scale = if moves || format == Format::Gif {
        1.0
    } else {
        2.0
    };
    let motion = Motion {
        walk,
        ..Motion::new(GIF_DELAY)
    };
    let drawn = to_bytes(pages, format, scale, motion, &mut told).await;
    let Some(bytes) = drawn else {
        return Outcome::Outdated;
    };
    // A page is drawn in one go: it may be given up only now.
    if told(1, 1).await.is_break() {
        return Outcome::Outdated;
    }
    saved(files.save_figure(&files.absolute(to.path), &bytes))
}

fn saved(said: Result<String, String>) -> Outcome {
    said.map_or_else(Outcome::Failed, Outcome::Saved)
}

/// The episode, or why it is not recorded.
async fn record(request: &Request, told: impl Told) -> Result<Shown, String> {
    let Request {
        machine,
        task,
        wish,
        ..
    } = request;
    let own = &machine.ntm;
    let (rows, own_rows) = (wish.rows, own.config.rows());
    // A machine without heads has no rows to choose from.
    let config = (rows != own_rows).then(|| own.config.with_rows(rows));
    let config = config.transpose().map_err(|error| {
        let allowed = error.allowed;
        format!(
            "{} does not run on {rows} rows; allowed: {allowed}.",
            machine.title
        )
    })?;
    let config = config.unwrap_or_else(|| own.config.clone());
    if let Some(sentence) = too_large(&config, wish.steps(task)) {
        return Err(sentence);
    }
    let other = (rows != own_rows).then(|| own.with_rows(config.rows()));
    let other = other.transpose().map_err(|error| error.to_string())?;
    let recording = play(other.as_ref().unwrap_or(own), task, wish, told).await;
    Ok(Shown {
        recording: recording.ok_or("The recording was given up.")?,
        config: Some(config),
        machine: Some(machine.clone()),
        file: None,
        address: None,
        sha256: None,
    })
}

/// What so many samples of an episode say together, or why they are not drawn.
async fn sampled(request: &Request, count: usize, mut told: impl Told) -> Result<Spread, String> {
    let (heads, rows) = (request.machine.ntm.config.heads(), request.wish.rows);
    let (mut samples, steps) = (Samples::default(), request.wish.steps(&request.task));
    let bytes = Samples::bytes(count, steps, heads, rows);
    if bytes > LARGEST_RECORDING {
        let size = bytes >> 30;
        return Err(format!(
            "{count} samples of {steps} steps on {rows} rows take {size} GB; ask for fewer, or for a shorter episode."
        ));
    }
    for sample in 0..count {
        let mut request = request.clone();
        request.wish.sampling = Sampling::Drawn;
        request.wish.sample = sample as u64;
        let told = async |done, all| told(sample * all + done, count * all).await;
        samples.add(record(&request, told).await?.recording);
    }
    samples
        .spread()
        .ok_or_else(|| "No sample was asked for.".to_owned())
}

/// How much everything in an episode mattered, or why that is not known.
fn derived(shown: &Shown, of: Quantity) -> Result<Derivatives, String> {
    let machine = shown.machine.as_ref();
    let machine = machine
        .ok_or("A recorded trace has no weights: what mattered in it cannot be worked out.")?;
    let rows = shown.config.as_ref().map_or(0, |config| config.rows());
    let machine = machine
        .ntm
        .with_rows(rows)
        .map_err(|error| error.to_string())?;
    let found = Derivatives::new(&machine, &shown.recording, of);
    found.ok_or_else(|| "This episode has no such output bit.".to_owned())
}

/// Why an episode of so many steps is not recorded, where it would be too large.
pub fn too_large(config: &ModelConfig, steps: usize) -> Option<String> {
    let (bytes, rows) = (recording_bytes(config, steps), config.rows());
    if bytes > LARGEST_RECORDING {
        let size = bytes >> 30;
        return Some(format!(
            "{steps} steps of a memory of {rows} rows take {size} GB to record; ask for a shorter episode or fewer rows."
        ));
    }
    let short = room::claim(bytes, 0).err()?;
    Some(format!(
        "Recording {steps} steps of a memory of {rows} rows {short}; ask for a shorter episode or fewer rows."
    ))
}

/// Threads of each of so many machines that learn side by side: one that learns alone has all processors, several have
/// one each, and take turns.
pub fn learning_threads(count: usize) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if count > 1 { 1 } else { all() }
}

/// Why an experiment is not learned, so many of them side by side, where it would take too much memory.
pub fn too_much_to_learn(experiment: &Experiment, count: usize) -> Option<String> {
    let threads = learning_threads(count);
    let (batch, steps) = (experiment.training.batch, experiment.task.longest());
    let demand = Demand {
        config: experiment.model.clone(),
        steps,
        work: Work::Training {
            batch,
            threads,
            penalized: experiment.training.redundancy.heads(&experiment.model),
        },
    };
    let snapshots = (Snapshots::LIMIT / count) as u64;
    let bytes = (demand.bytes() + snapshots).saturating_mul(count as u64);
    let short = room::claim(bytes, demand.threads()).err()?;
    let (title, rows) = (&experiment.title, experiment.model.rows());
    Some(format!(
        "{title} does not learn here: training on {steps} steps of a memory of {rows} rows, in batches of {batch}, {short}. Begin with shorter episodes, fewer rows or a smaller batch."
    ))
}

/// The episode of the seed, or the one that was given or changed by hand; `None` where it is given up.
async fn play(
    machine: &Model<f32>,
    task: &Task,
    wish: &Wish,
    mut told: impl Told,
) -> Option<Recording> {
    // By hand or not, the noise is that of the seed.
    let drawn = Some(Draw {
        sample: wish.sample,
        sampling: wish.sampling,
        ..Draw::of(wish.seed, 0)
    });
    let by_hand = !wish.flipped.is_empty() || wish.given.is_some();
    let episode = if by_hand {
        wish.episode(task)
    } else {
        task.episode(wish.seed, 0)
    };
    let mut recorder = Recorder::new(machine, task, episode, drawn);
    while recorder.step() {
        let (done, all) = recorder.done();
        if told(done, all).await.is_break() {
            return None;
        }
    }
    let recording = recorder.into_recording();
    let origin = recording.origin.filter(|_| !by_hand);
    Some(Recording {
        origin,
        ..recording
    })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Receiver, Sender};
    use std::sync::{Mutex, PoisonError};
    use std::time::Duration;

    use super::*;
    use crate::figure;
    use crate::learn::Handed;
    use crate::task::Copy;
    use crate::train::State;
    use crate::viewer::files::{Aim, Opened};
    use crate::viewer::fixture::request;
    use crate::viewer::state::work::{Place, Saving, Seen};

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
        fn open(&self, _: &Path) -> Result<Opened, String> {
            wait(&self.open);
            Err("not here".to_owned())
        }

        fn save_trace(&self, _: &Path, _: &Shown) -> Result<String, String> {
            Ok("saved".to_owned())
        }

        fn choose(&self, _: bool, _: &str, answer: Answer) {
            wait(&self.choose);
            answer.chosen(Chosen {
                path: PathBuf::from("chosen"),
                bytes: None,
            });
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
            _: &Handed,
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
                    format!("recorded {}", open.wish.map_or(0, |wish| wish.seed))
                }
                Outcome::Outdated => "outdated".to_owned(),
                Outcome::Failed(sentence) => sentence,
                Outcome::Chosen { path, .. } => path.display().to_string(),
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
    fn a_recording_that_waits_gives_way_to_a_newer_one() {
        let (mut worker, open, _choose) = slow();
        worker.start(Job::Open(PathBuf::from("slow")));
        for seed in 1..=3 {
            worker.start(Job::Record(request(seed)));
        }
        open.send(()).unwrap();
        let said = next(&mut worker, 4);
        assert_eq!(said, ["not here", "outdated", "outdated", "recorded 3"]);
        assert!(!worker.busy());
    }

    #[test]
    fn an_episode_that_is_asked_for_comes_before_small_pictures() {
        let (mut worker, open, _choose) = slow();
        worker.start(Job::Open(PathBuf::from("slow")));
        for run in 1..=3 {
            worker.start(Job::Picture(Place::Run(run), request(run)));
        }
        worker.start(Job::Record(request(4)));
        open.send(()).unwrap();
        let said = next(&mut worker, 5);
        let place = |words: &str| said.iter().position(|said| said.starts_with(words));
        assert_eq!(place("recorded 4"), Some(2), "{said:?}");
        assert_eq!(place("Picture(Run(3)"), Some(4), "{said:?}");
        assert!(!worker.busy());
    }

    #[test]
    fn what_is_under_way_says_so_and_can_be_given_up() {
        let (mut worker, open, _choose) = slow();
        worker.start(Job::Open(PathBuf::from("folder/slow")));
        worker.start(Job::Record(request(1)));
        let words: Vec<_> = worker.under_way().map(|job| job.words.clone()).collect();
        assert_eq!(words, ["Reading slow", "Recording 5 steps × 8 rows"]);
        worker.give_up();
        open.send(()).unwrap();
        let said = next(&mut worker, 2);
        assert!(said[0].contains("Reading slow: given up."), "{said:?}");
        assert!(
            said[1].contains("Recording 5 steps × 8 rows: given up."),
            "{said:?}"
        );
        assert_eq!(worker.under_way().count(), 0);
    }

    #[test]
    fn a_recording_ends_at_the_step_at_which_it_is_given_up() {
        let request = request(1);
        let last = AtomicUsize::new(0);
        let told = async |done, all| {
            assert_eq!(all, 5);
            last.store(done, Ordering::Relaxed);
            if done < 3 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let recorded = at_once(record(&request, told));
        assert_eq!((recorded.is_err(), last.into_inner()), (true, 3));
    }

    #[test]
    fn what_breaks_off_is_told_to_whoever_waits_for_it() {
        // A task that the machine has no channels for.
        let mut wide = request(1);
        wide.task = Task::Copy(Copy {
            bits: 7,
            length: 2..=2,
        });
        let place = Place::Run(3);
        let mut worker = Worker::here(Arc::new(Breaks));
        worker.start(Job::Picture(place.clone(), wide));
        assert_eq!(worker.outcomes(), [Outcome::Picture(place, None)]);
        let experiment = Experiment::find("copy", &[]).unwrap();
        let state = State::new(experiment.model.clone(), &experiment.training);
        let handed = Handed {
            state,
            snapshots: Snapshots::new(0),
            keeps_weights: true,
        };
        let to = Destination {
            path: PathBuf::from("folder"),
            replaces: true,
            aim: Aim::Run,
        };
        let saving = Saving {
            place: 0,
            number: 7,
            experiment,
            to,
        };
        worker.start(Job::SaveRun(Box::new((saving, handed))));
        let outcomes = worker.outcomes();
        assert!(matches!(outcomes[..], [Outcome::RunNotSaved(7, _)]));
        assert!(!worker.busy());
    }

    #[test]
    fn a_figure_keeps_nothing_waiting_and_waits_for_nothing() {
        let (mut worker, open, _choose) = slow();
        let request = request(1);
        let shown = at_once(record(&request, async |_, _| ControlFlow::Continue(())));
        let shown = Arc::new(shown.unwrap());
        worker.start(Job::Open(PathBuf::from("slow")));
        let options = Box::new(figure::Options::new(figure::Layout::Paper));
        let (path, replaces) = (PathBuf::from("f.gif"), true);
        let page = Page::One(shown, Seen::default(), options);
        let aim = Aim::Figure(Format::Gif);
        let to = Destination {
            path,
            replaces,
            aim,
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
    fn a_dialog_keeps_nothing_waiting() {
        let (mut worker, _open, choose) = slow();
        worker.choose(Aim::Open, String::new());
        worker.choose(Aim::Open, String::new());
        assert!(!worker.busy());
        worker.start(Job::Record(request(7)));
        assert_eq!(next(&mut worker, 1), ["recorded 7"]);
        choose.send(()).unwrap();
        assert_eq!(next(&mut worker, 1), ["chosen"]);
        worker.choose(Aim::Save, String::new());
        choose.send(()).unwrap();
        assert_eq!(next(&mut worker, 1), ["chosen"]);
    }
}
