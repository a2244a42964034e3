//! The threads that train while somebody watches, one for each run: orders go in, and the newest account comes out when
//! it is asked for, between two updates.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use web_time::Instant;

use super::progress::RunProgress;
use super::run::{Run, panic_text};
use super::snapshots::Snapshots;
use crate::model::Model;
use crate::platform::RepeatingTask;
use crate::task::Task;
use crate::train::{State, TrainingConfig};

/// A command to a run.
#[derive(Clone, Debug)]
pub enum RunCommand {
    /// Train at this pace.
    Go(Pace),
    /// Wait after the present update.
    Pause,
    /// Runs one update more per order, then waits.
    Once,
    /// Another task or configuration from the next update on, with the settings that changed.
    Change(Box<(Task, TrainingConfig)>, Vec<String>),
}

/// The training speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Full speed.
    Full,
    /// A number of updates per second.
    Updates(f64),
}

/// The updates from a run.
#[derive(Clone, Debug)]
pub struct RunUpdate {
    /// The progress.
    pub progress: Arc<RunProgress>,
    /// The machine as it is.
    pub machine: Arc<Model<f32>>,
    /// Sequences per second, lately; `None` while it waits.
    pub rate: Option<f64>,
    /// The number of the last order that was followed, with all before it; 0 before the first.
    pub followed: u64,
}

/// The state of a run between two updates, from which it can resume.
#[derive(Clone, Debug)]
pub struct RunState {
    /// Weights, optimizer and history.
    pub state: State,
    /// The training snapshots.
    pub snapshots: Snapshots,
    /// False if the weights are damaged: training cannot resume from them, and the earlier ones are kept.
    pub keeps_weights: bool,
}

/// The receiver of commands of a run.
#[derive(Debug)]
enum Message {
    /// An order with its number.
    RunCommand(u64, RunCommand),
    /// A request for the state of the run.
    RequestState,
}

/// The mailbox in which a thread finds requests.
#[derive(Debug, Default)]
struct Mailbox {
    wanted: AtomicBool,
    updates: Mutex<Option<RunUpdate>>,
    run_state: Mutex<Option<RunState>>,
    failure: Mutex<Option<String>>,
}

/// Locks the mailbox; a poisoned lock is harmless.
fn held<T>(on: &Mutex<T>) -> MutexGuard<'_, T> {
    on.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run with its channels.
struct Driver {
    messages: Sender<Message>,
    mailbox: Arc<Mailbox>,
    /// Held by its thread during a slice.
    slices: Arc<Mutex<Slices>>,
}

/// Runs that are trained side by side, each on a thread of its own.
pub struct Learner {
    drivers: Vec<Driver>,
    /// Without threads the caller drives the runs, for tests.
    threads: Vec<RepeatingTask>,
    /// True once all is to end.
    ends: Arc<AtomicBool>,
}

/// Builds a run. It may take long: it is called on the thread of the run.
pub type BuildRun = Box<dyn FnOnce() -> Run + Send>;

/// A run that is built in its first slice.
struct Slices {
    build: Option<BuildRun>,
    worker: Option<RunWorker>,
    /// The function that runs one update.
    advance: fn(&mut Run),
    inbox: Receiver<Message>,
    mailbox: Arc<Mailbox>,
}

impl Learner {
    /// Begins with these runs, paused, each on its own thread. `wake` is called when requested news is there.
    ///
    /// # Errors
    /// The system has no thread to spare.
    pub fn start(
        runs: Vec<BuildRun>,
        wake: impl Fn() + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        Self::start_with(Run::advance, runs, wake)
    }

    /// Starts it with another function for an update.
    fn start_with(
        advance: fn(&mut Run),
        runs: Vec<BuildRun>,
        wake: impl Fn() + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut learner = Self::waiting(advance, runs);
        for driver in &learner.drivers {
            let (slices, ends) = (driver.slices.clone(), learner.ends.clone());
            let wake = wake.clone();
            let slice = move || held(&slices).run(&ends, &wake);
            learner.threads.push(RepeatingTask::start("learn", slice)?);
        }
        Ok(learner)
    }

    /// Without threads and without a clock: each time news is asked for, every run that is not paused does one update.
    pub fn without_threads(runs: Vec<BuildRun>) -> Self {
        let untimed = |build: BuildRun| Box::new(|| build().untimed()) as BuildRun;
        Self::waiting(Run::advance, runs.into_iter().map(untimed))
    }

    fn waiting(advance: fn(&mut Run), runs: impl IntoIterator<Item = BuildRun>) -> Self {
        let drivers = runs.into_iter().map(|build| {
            let (messages, inbox) = channel();
            let mailbox = Arc::new(Mailbox::default());
            let slices = Arc::new(Mutex::new(Slices {
                build: Some(build),
                worker: None,
                advance,
                inbox,
                mailbox: mailbox.clone(),
            }));
            Driver {
                messages,
                mailbox,
                slices,
            }
        });
        Self {
            drivers: drivers.collect(),
            threads: Vec::new(),
            ends: Arc::default(),
        }
    }

    /// Without threads: hands all messages to the runs, which then act.
    fn drive(&self, act: fn(&mut RunWorker)) {
        let drivers = self.drivers.iter().filter(|_| self.threads.is_empty());
        for driver in drivers {
            held(&driver.slices).receive(&|| ()).map(act);
        }
    }

    /// Sends a command to all runs; commands are numbered from 1.
    pub fn send(&self, number: u64, order: &RunCommand) {
        for driver in &self.drivers {
            // The inbox is there as long as the driver.
            let message = Message::RunCommand(number, order.clone());
            drop(driver.messages.send(message));
        }
    }

    /// Asks a run, by its place, for its state between two updates: [`Learner::run_state`] has it then. `wake` is called.
    pub fn request_state(&self, place: usize) {
        if let Some(driver) = self.drivers.get(place) {
            drop(driver.messages.send(Message::RequestState));
        }
    }

    /// Returns the requested state of a run, as soon as it is known.
    pub fn run_state(&self, place: usize) -> Option<RunState> {
        self.drive(|_| ());
        held(&self.drivers.get(place)?.mailbox.run_state).take()
    }

    /// Asks for the newest of every run.
    pub fn request_updates(&self) {
        self.request_updates_of(|_| true);
    }

    /// Asks for the newest of these runs, by their places: to tell costs a run time. Without threads all go on, and
    /// tell.
    pub fn request_updates_of(&self, whom: impl Fn(usize) -> bool) {
        for (index, driver) in self.drivers.iter().enumerate() {
            if whom(index) || self.threads.is_empty() {
                driver.mailbox.wanted.store(true, Ordering::Release);
            }
        }
        self.drive(RunWorker::run_update);
        let drivers = self.drivers.iter().filter(|_| self.threads.is_empty());
        drivers.for_each(|driver| held(&driver.slices).publish(&|| ()));
    }

    /// Returns the number of runs.
    pub fn count(&self) -> usize {
        self.drivers.len()
    }

    /// Returns the updates since the last call, each with the index of its run.
    pub fn updates(&self) -> Vec<(usize, RunUpdate)> {
        let of = |(index, driver): (usize, &Driver)| {
            Some((index, held(&driver.mailbox.updates).take()?))
        };
        self.drivers.iter().enumerate().filter_map(of).collect()
    }

    /// Returns the reason why a run could not be built, once.
    pub fn failure(&self) -> Option<String> {
        let mut drivers = self.drivers.iter();
        drivers.find_map(|driver| held(&driver.mailbox.failure).take())
    }

    /// Ends all threads, waits for that, and hands back the runs as they are.
    pub fn end(mut self) -> Vec<Run> {
        self.ends.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            thread.wait();
        }
        let runs = self.drivers.drain(..).filter_map(|driver| {
            let mut slices = held(&driver.slices);
            slices.build();
            Some(slices.worker.take()?.run)
        });
        runs.collect()
    }
}

impl Drop for Learner {
    /// Ends training after the current update, without waiting.
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
    }
}

/// A run and its commands.
#[derive(Debug)]
struct RunWorker {
    run: Run,
    pace: Option<Pace>,
    /// Single updates that are still to be done.
    once: u64,
    /// The numbers of the last order that was heard, and of the last one that was followed.
    received: u64,
    followed: u64,
    /// The function that runs one update.
    advance: fn(&mut Run),
    /// The time of the next update at a limited speed.
    due: Instant,
    /// The time and the sequences at the last speed measurement.
    measured: (Instant, u64),
    rate: Option<f64>,
}

/// The duration of a speed measurement.
const MEASURED: Duration = Duration::from_millis(500);

impl RunWorker {
    fn new(advance: fn(&mut Run), run: Run) -> Self {
        let now = Instant::now();
        Self {
            measured: (now, run.progress().sequences),
            run,
            pace: None,
            once: 0,
            received: 0,
            followed: 0,
            advance,
            due: now,
            rate: None,
        }
    }

    fn receive(&mut self, number: u64, order: RunCommand) {
        self.received = number;
        match order {
            RunCommand::Go(pace) => {
                if self.pace.is_none() {
                    let done = self.run.progress().sequences;
                    (self.measured, self.rate) = ((Instant::now(), done), None);
                }
                (self.pace, self.due) = (Some(pace), Instant::now());
            }
            RunCommand::Pause => (self.pace, self.rate) = (None, None),
            RunCommand::Once => (self.pace, self.rate, self.once) = (None, None, self.once + 1),
            RunCommand::Change(to, set) => self.run.guarded(|run| run.change(to.0, to.1, set)),
        }
        self.mark_followed();
    }

    /// Marks commands as done, except for single updates still to come.
    fn mark_followed(&mut self) {
        if !(self.once > 0 && self.has_work()) {
            self.followed = self.received;
        }
    }

    fn has_work(&self) -> bool {
        self.run.is_active() && (self.once > 0 || self.pace.is_some())
    }

    /// Runs one update, if one is due.
    fn run_update(&mut self) {
        if !self.has_work() {
            return;
        }
        self.once = self.once.saturating_sub(1);
        self.run.guarded(self.advance);
        let (since, before) = self.measured;
        let (passed, done) = (since.elapsed(), self.run.progress().sequences);
        if passed >= MEASURED {
            self.rate = self
                .pace
                .map(|_| (done - before) as f64 / passed.as_secs_f64());
            self.measured = (Instant::now(), done);
        }
        self.mark_followed();
    }

    /// Returns the time until the next update.
    fn wait(&mut self) -> Duration {
        let Some(Pace::Updates(per_second)) = self.pace else {
            return Duration::ZERO;
        };
        let now = Instant::now();
        let wait = self.due.saturating_duration_since(now);
        if wait.is_zero() {
            let between = Duration::from_secs_f64(1.0 / per_second.max(1e-3));
            // Missed updates are not made up for.
            self.due = (self.due + between).max(now);
        }
        wait
    }

    fn updates(&self) -> RunUpdate {
        RunUpdate {
            progress: Arc::new(self.run.progress().clone()),
            machine: Arc::new(self.run.trainer().state.machines[0].clone()),
            rate: self.rate.filter(|_| self.run.timed),
            followed: self.followed,
        }
    }

    fn run_state(&self) -> RunState {
        let progress = self.run.progress();
        RunState {
            state: self.run.trainer().state.clone(),
            snapshots: progress.saved_snapshots(),
            keeps_weights: progress.keeps_weights(),
        }
    }
}

/// The longest time of a slice: in a browser, events wait for it.
const TURN: Duration = Duration::from_millis(4);
/// The longest time after which an idle run looks for commands.
const LOOKS_UP: Duration = Duration::from_millis(10);

impl Slices {
    /// Builds the run, unless it is there. A panic, as of a pool without threads, is reported as failure.
    fn build(&mut self) {
        if let Some(build) = self.build.take() {
            match catch_unwind(AssertUnwindSafe(build)) {
                Ok(run) => self.worker = Some(RunWorker::new(self.advance, run)),
                Err(why) => *held(&self.mailbox.failure) = Some(panic_text(why.as_ref())),
            }
        }
    }

    /// Receives orders, trains for a slice and reports; returns the idle time, or `None` at the end.
    fn run(&mut self, ends: &AtomicBool, wake: &impl Fn()) -> Option<Duration> {
        let begun = Instant::now();
        loop {
            if ends.load(Ordering::Acquire) {
                return None;
            }
            let Some(worker) = self.receive(wake) else {
                wake();
                return None;
            };
            let wait = if worker.has_work() {
                worker.wait()
            } else {
                LOOKS_UP
            };
            if wait.is_zero() {
                worker.run_update();
            }
            self.publish(wake);
            if !wait.is_zero() || begun.elapsed() >= TURN {
                return Some(wait.min(LOOKS_UP));
            }
        }
    }

    /// Hands all messages to the run.
    fn receive(&mut self, wake: &impl Fn()) -> Option<&mut RunWorker> {
        self.build();
        let worker = self.worker.as_mut()?;
        while let Ok(message) = self.inbox.try_recv() {
            match message {
                Message::RunCommand(number, order) => worker.receive(number, order),
                Message::RequestState => {
                    *held(&self.mailbox.run_state) = Some(worker.run_state());
                    wake();
                }
            }
        }
        Some(worker)
    }

    fn publish(&self, wake: &impl Fn()) {
        if let Some(worker) = &self.worker
            && self.mailbox.wanted.swap(false, Ordering::AcqRel)
        {
            *held(&self.mailbox.updates) = Some(worker.updates());
            wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{End, Snapshots};
    use crate::model::NtmConfig;
    use crate::task::Copy;
    use crate::train::State;

    /// The time that a test waits for a thread before it fails.
    const PATIENCE: Duration = Duration::from_mins(5);

    /// Runs from these seeds.
    fn runs(seeds: std::ops::RangeInclusive<u64>, sequences: u64) -> Vec<BuildRun> {
        let build = |seed| Box::new(move || run(seed, sequences)) as BuildRun;
        seeds.map(build).collect()
    }

    fn run(seed: u64, sequences: u64) -> Run {
        let task = Task::Copy(Copy {
            bits: 2,
            length: 1..=3,
        });
        let mut model = NtmConfig::new(task.inputs(), task.outputs());
        (model.rows, model.columns, model.controller.size) = (8, 6, 10);
        let config = TrainingConfig {
            sequences,
            seed,
            validation_every: 20,
            validation_episodes: 2,
            ..TrainingConfig::default()
        };
        let state = State::new(model.into(), &config);
        Run::new(task, config, state, 1, Snapshots::default())
    }

    fn alone(seed: u64, sequences: u64) -> Model<f32> {
        let mut run = run(seed, sequences);
        while run.is_active() {
            run.advance();
        }
        run.trainer().state.machines[0].clone()
    }

    /// Asks until the news is so.
    fn until(learner: &Learner, is_so: impl Fn(usize, &RunUpdate) -> bool) {
        let mut waiting: Vec<bool> = vec![true; learner.drivers.len()];
        let start = Instant::now();
        while waiting.contains(&true) {
            assert!(start.elapsed() < PATIENCE, "no such news");
            learner.request_updates();
            for (index, updates) in learner.updates() {
                waiting[index] &= !is_so(index, &updates);
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn parallel_runs_match_single_runs_exactly() {
        let learner = Learner::start(runs(1..=3, 60), || ()).unwrap();
        learner.send(1, &RunCommand::Go(Pace::Full));
        until(&learner, |_, updates| {
            updates.progress.end == Some(End::Finished)
        });
        for (seed, run) in (1..=3).zip(learner.end()) {
            assert_eq!(run.trainer().state.machines[0], alone(seed, 60));
            let progress = run.progress();
            assert_eq!((progress.sequences, progress.history.len()), (60, 3));
            let updates = progress.curve.points().iter().map(|point| point.updates);
            assert_eq!(updates.sum::<u64>(), 60);
            assert!(progress.snapshots.all().len() > 5);
        }
    }

    #[test]
    fn excess_runs_share_processors_fairly() {
        let learner = Learner::start(runs(1..=10, 1_000_000), || ()).unwrap();
        learner.send(1, &RunCommand::Go(Pace::Full));
        until(&learner, |_, updates| updates.progress.sequences >= 20);
        learner.send(1, &RunCommand::Pause);
        let ends = learner.end();
        assert_eq!(ends.len(), 10);
        for (seed, run) in (1..).zip(&ends) {
            assert_eq!(run.trainer().config.seed, seed);
        }
    }

    #[test]
    fn each_single_update_command_runs_once() {
        let learner = Learner::start(runs(1..=1, 1000), || ()).unwrap();
        let followed = |number| move |_: usize, updates: &RunUpdate| updates.followed == number;
        let (mut number, mut all) = (0, 0);
        for presses in [1, 1, 5, 2, 17] {
            for _ in 0..presses {
                number += 1;
                learner.send(number, &RunCommand::Once);
            }
            all += presses;
            until(&learner, followed(number));
            until(&learner, |_, updates| {
                assert_eq!(updates.progress.sequences, all);
                true
            });
        }
        learner.send(number + 1, &RunCommand::Go(Pace::Updates(1e6)));
        until(&learner, |_, updates| updates.progress.sequences > all + 10);
        learner.send(number + 2, &RunCommand::Pause);
        let run = learner.end().remove(0);
        assert!(run.progress().sequences > all + 10 && run.is_active());
    }

    /// Returns the state of a run, as soon as it is known.
    fn run_state(learner: &Learner, place: usize) -> RunState {
        learner.request_state(place);
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "no state was handed out");
            if let Some(run_state) = learner.run_state(place) {
                return run_state;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn state_can_be_requested_during_training() {
        let learner = Learner::start(runs(1..=2, 1_000_000), || ()).unwrap();
        learner.send(1, &RunCommand::Go(Pace::Full));
        until(&learner, |_, updates| updates.progress.sequences >= 20);
        let RunState {
            state, snapshots, ..
        } = run_state(&learner, 1);
        let last = snapshots.all().last().unwrap().sequences;
        assert!(last <= state.sequences);
        let is_active =
            |place, updates: &RunUpdate| place == 0 || updates.progress.sequences > state.sequences;
        until(&learner, is_active);
        // It is that of a moment between two updates.
        let mut same = run(2, 1_000_000);
        while same.progress().sequences < state.sequences {
            same.advance();
        }
        assert_eq!(same.trainer().state.machines[0], state.machines[0]);
        assert_eq!(same.trainer().state.history.len(), state.history.len());
    }

    /// Held by a test, an update waits in it.
    static GATE: Mutex<()> = Mutex::new(());
    /// True once it has come there.
    static WAITS: AtomicBool = AtomicBool::new(false);

    #[test]
    fn requests_do_not_wait_for_update() {
        let through = |run: &mut Run| {
            WAITS.store(true, Ordering::Release);
            drop(held(&GATE));
            run.advance();
        };
        let gate = held(&GATE);
        let learner = Learner::start_with(through, runs(1..=1, 100), || ()).unwrap();
        learner.send(1, &RunCommand::Go(Pace::Full));
        learner.request_state(0);
        let start = Instant::now();
        while !WAITS.load(Ordering::Acquire) {
            assert!(start.elapsed() < PATIENCE, "no update has begun");
            std::thread::yield_now();
        }
        // The update cannot end before the gate is open.
        let (send, dropped) = channel();
        std::thread::spawn(move || {
            drop(learner);
            let _ = send.send(());
        });
        let is_dropped = dropped.recv_timeout(PATIENCE).is_ok();
        drop(gate);
        assert!(is_dropped, "the update was waited for");
    }

    #[test]
    fn a_run_is_built_on_its_thread() {
        let (open, gate) = channel::<()>();
        let build = move || {
            let _ = gate.recv();
            run(1, 20)
        };
        let broken = || -> Run { panic!("no more threads") };
        let builds: Vec<BuildRun> = vec![Box::new(build), Box::new(broken)];
        // It has started before the run is built.
        let learner = Learner::start(builds, || ()).unwrap();
        learner.send(1, &RunCommand::Go(Pace::Full));
        assert!(learner.updates().is_empty());
        let start = Instant::now();
        let failure = loop {
            assert!(start.elapsed() < PATIENCE, "no failure was reported");
            if let Some(failure) = learner.failure() {
                break failure;
            }
        };
        assert_eq!(failure, "no more threads");
        open.send(()).unwrap();
        while !learner
            .updates()
            .iter()
            .any(|(_, news)| news.progress.end.is_some())
        {
            assert!(start.elapsed() < PATIENCE, "the run does not end");
            learner.request_updates();
        }
        assert_eq!(
            learner.end().remove(0).trainer().state.machines[0],
            alone(1, 20)
        );
    }

    #[test]
    fn failed_update_is_reported_and_run_is_unchanged() {
        let breaks = |run: &mut Run| {
            assert!(run.progress().sequences != 7, "no such luck");
            run.advance();
        };
        let learner = Learner::start_with(breaks, runs(1..=2, 100), || ()).unwrap();
        learner.send(1, &RunCommand::Go(Pace::Full));
        until(&learner, |_, updates| {
            let words = "no such luck".to_owned();
            let is_whole = true;
            updates.progress.end == Some(End::Broken { words, is_whole })
        });
        // Every thread is still there, and hands out what is left.
        let RunState { state, .. } = run_state(&learner, 0);
        assert_eq!(state.sequences, 7);
        let mut same = run(1, 100);
        (0..7).for_each(|_| same.advance());
        assert_eq!(same.trainer().state.machines[0], state.machines[0]);
        let progress = learner.end().remove(0).progress().clone();
        let words = &progress.findings.last().unwrap().words;
        assert!(words.contains("no such luck") && words.contains("Save the run"));
    }

    #[test]
    fn failure_during_step_keeps_no_weights() {
        let breaks = |run: &mut Run| {
            run.advance();
            panic!("too late");
        };
        let mut worker = RunWorker::new(breaks, run(1, 100));
        worker.receive(1, RunCommand::Go(Pace::Full));
        worker.run_update();
        assert!(!worker.has_work() && worker.followed == 1);
        let end = worker.updates().progress.end.clone().unwrap();
        assert!(!end.keeps_weights(), "{end:?}");
    }

    #[test]
    fn commands_after_end_change_nothing() {
        let mut run = run(1, 40);
        while run.is_active() {
            run.advance();
        }
        let best = run.trainer().state.best.clone();
        let config = run.trainer().config.clone();
        assert!(best.is_some());
        let learner = Learner::without_threads(vec![Box::new(move || run)]);
        let task = Task::Copy(Copy {
            bits: 2,
            length: 1..=5,
        });
        let set = vec!["task.length=[1,5]".to_owned()];
        learner.send(1, &RunCommand::Change(Box::new((task, config)), set));
        learner.request_updates();
        let run = learner.end().remove(0);
        assert_eq!(run.progress().changes, []);
        assert_eq!(run.trainer().state.best, best);
    }

    #[test]
    fn change_is_recorded_with_its_sequence() {
        let learner = Learner::without_threads(runs(1..=1, 100));
        learner.send(1, &RunCommand::Go(Pace::Full));
        (0..5).for_each(|_| learner.request_updates());
        let trainer = learner.end().remove(0);
        let (task, mut config) = (
            trainer.trainer().task.clone(),
            trainer.trainer().config.clone(),
        );
        config.batch = 4;
        let learner = Learner::without_threads(vec![Box::new(move || trainer)]);
        let set = vec!["training.batch=4".to_owned()];
        learner.send(
            1,
            &RunCommand::Change(Box::new((task, config)), set.clone()),
        );
        learner.send(1, &RunCommand::Once);
        learner.request_updates();
        let (_, updates) = learner.updates().remove(0);
        assert_eq!(updates.progress.sequences, 9);
        assert_eq!(
            (
                updates.progress.changes[0].sequences,
                &updates.progress.changes[0].set
            ),
            (5, &set)
        );
    }
}
