//! The threads that train while somebody watches: runs side by side take turns on them; orders go in, and the newest
//! account comes out when it is asked for, between two updates.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use web_time::Instant;

use super::progress::RunProgress;
use super::run::Run;
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
}

/// Locks the mailbox; a poisoned lock is harmless.
fn held<T>(on: &Mutex<T>) -> MutexGuard<'_, T> {
    on.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The caller's ends of the channels of a run.
#[derive(Debug)]
struct Driver {
    messages: Sender<Message>,
    mailbox: Arc<Mailbox>,
}

/// Runs that are trained side by side.
#[derive(Debug, Default)]
pub struct Learner {
    drivers: Vec<Driver>,
    /// Without threads the caller drives the runs, for tests.
    threads: Vec<RepeatingTask>,
    scheduler: Arc<Scheduler>,
}

/// The state that the threads share.
#[derive(Debug, Default)]
struct Scheduler {
    /// The runs that wait for a thread, in order: a thread takes the first that is due and puts it back as the last.
    queue: Mutex<VecDeque<Permit>>,
    /// True once all is to end.
    ends: AtomicBool,
}

/// A run while it waits for its turn.
#[derive(Debug)]
struct Permit {
    place: usize,
    /// The time before which it has nothing to do.
    due: Instant,
    worker: RunWorker,
    inbox: Receiver<Message>,
    mailbox: Arc<Mailbox>,
}

impl Learner {
    /// Begins with these runs, paused, on as many threads as there are processors, or runs, if these are fewer: where
    /// there are more runs they take turns, and all have as much time. `wake` is called when news that was asked for
    /// is there.
    ///
    /// # Errors
    /// The system has no thread to spare.
    pub fn start(
        runs: Vec<Run>,
        wake: impl Fn() + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        Self::start_with(Run::advance, runs, wake)
    }

    /// Starts it with another function for an update.
    fn start_with(
        advance: fn(&mut Run),
        runs: Vec<Run>,
        wake: impl Fn() + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut learner = Self::waiting(advance, runs);
        for _ in 0..processors.min(learner.drivers.len()) {
            let (scheduler, wake) = (learner.scheduler.clone(), wake.clone());
            let thread = RepeatingTask::start("learn", move || scheduler.run_next(&wake))?;
            learner.threads.push(thread);
        }
        Ok(learner)
    }

    /// Without threads and without a clock: each time news is asked for, every run that is not paused does one update.
    pub fn without_threads(runs: Vec<Run>) -> Self {
        Self::waiting(Run::advance, runs.into_iter().map(Run::untimed))
    }

    /// Queues these runs, paused.
    fn waiting(advance: fn(&mut Run), runs: impl IntoIterator<Item = Run>) -> Self {
        let mut learner = Self::default();
        for (place, run) in runs.into_iter().enumerate() {
            let (messages, inbox) = channel();
            let mailbox = Arc::new(Mailbox::default());
            let permit = Permit {
                place,
                due: Instant::now(),
                worker: RunWorker::new(advance, run),
                inbox,
                mailbox: mailbox.clone(),
            };
            held(&learner.scheduler.queue).push_back(permit);
            learner.drivers.push(Driver { messages, mailbox });
        }
        learner
    }

    /// Without threads: hands all messages to the runs, which then act.
    fn drive(&self, act: fn(&mut Permit)) {
        if self.threads.is_empty() {
            for permit in held(&self.scheduler.queue).iter_mut() {
                permit.receive(&|| ());
                act(permit);
            }
        }
    }

    /// Sends a command to all runs; commands are numbered from 1.
    pub fn send(&mut self, number: u64, order: &RunCommand) {
        for driver in &self.drivers {
            // The scheduler has the run as long as there is a learner: it can always be told.
            let message = Message::RunCommand(number, order.clone());
            drop(driver.messages.send(message));
        }
    }

    /// Asks a run, by its place, for its state between two updates: [`Learner::run_state`] has it then. `wake` is called.
    pub fn request_state(&mut self, place: usize) {
        if let Some(driver) = self.drivers.get(place) {
            drop(driver.messages.send(Message::RequestState));
        }
    }

    /// Returns the requested state of a run, as soon as it is known.
    pub fn run_state(&mut self, place: usize) -> Option<RunState> {
        self.drive(|_| ());
        held(&self.drivers.get(place)?.mailbox.run_state).take()
    }

    /// Asks for the newest of every run.
    pub fn request_updates(&mut self) {
        self.request_updates_of(|_| true);
    }

    /// Asks for the newest of these runs, by their places: to tell costs a run time. Without threads all go on, and
    /// tell.
    pub fn request_updates_of(&mut self, whom: impl Fn(usize) -> bool) {
        for (index, driver) in self.drivers.iter().enumerate() {
            if whom(index) || self.threads.is_empty() {
                driver.mailbox.wanted.store(true, Ordering::Release);
            }
        }
        self.drive(|permit| {
            permit.worker.run_update();
            permit.publish(&|| ());
        });
    }

    /// Returns the number of runs.
    pub fn count(&self) -> usize {
        self.drivers.len()
    }

    /// Returns the updates since the last call, each with the index of its run.
    pub fn updates(&mut self) -> Vec<(usize, RunUpdate)> {
        let of = |(index, driver): (usize, &Driver)| {
            Some((index, held(&driver.mailbox.updates).take()?))
        };
        self.drivers.iter().enumerate().filter_map(of).collect()
    }

    /// Ends all threads, waits for that, and hands back the runs as they are.
    pub fn end(mut self) -> Vec<Run> {
        self.scheduler.ends.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            thread.wait();
        }
        let mut permits: Vec<_> = held(&self.scheduler.queue).drain(..).collect();
        permits.sort_by_key(|permit| permit.place);
        let runs = permits.into_iter().map(|permit| permit.worker.run);
        runs.collect()
    }
}

impl Drop for Learner {
    /// Ends training after the current update, without waiting.
    fn drop(&mut self) {
        self.scheduler.ends.store(true, Ordering::Release);
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
            // What was late is not caught up with.
            self.due = (self.due + between).max(now);
        }
        wait
    }

    fn updates(&self) -> RunUpdate {
        RunUpdate {
            progress: Arc::new(self.run.progress().clone()),
            machine: Arc::new(self.run.trainer().state.machine.clone()),
            rate: self.rate.filter(|_| self.run.timed),
            followed: self.followed,
        }
    }

    fn run_state(&self) -> RunState {
        RunState {
            state: self.run.trainer().state.clone(),
            snapshots: self.run.progress().snapshots.clone(),
            keeps_weights: self.run.progress().keeps_weights(),
        }
    }
}

/// The time that a run keeps a thread while others wait.
const TURN: Duration = Duration::from_millis(4);
/// The longest time after which an idle run looks for commands.
const LOOKS_UP: Duration = Duration::from_millis(10);

impl Scheduler {
    /// Runs one slice of the first run that is due; returns the idle time, or `None` when all are to end.
    fn run_next(&self, wake: &impl Fn()) -> Option<Duration> {
        if self.ends.load(Ordering::Acquire) {
            return None;
        }
        let (mut queue, now) = (held(&self.queue), Instant::now());
        let place = queue.iter().position(|permit| permit.due <= now);
        let Some(mut permit) = place.and_then(|place| queue.remove(place)) else {
            let due = queue.iter().map(|permit| permit.due).min();
            return Some(due.map_or(LOOKS_UP, |due| due - now));
        };
        drop(queue);
        permit.due = permit.run_slice(&self.ends, wake);
        held(&self.queue).push_back(permit);
        Some(Duration::ZERO)
    }
}

impl Permit {
    /// Receives orders, trains for a slice and reports; returns the time at which there is work again.
    fn run_slice(&mut self, ends: &AtomicBool, wake: &impl Fn()) -> Instant {
        let begun = Instant::now();
        let due = loop {
            self.receive(wake);
            let wait = if self.worker.has_work() {
                self.worker.wait()
            } else {
                LOOKS_UP
            };
            if !wait.is_zero() {
                break Instant::now() + wait.min(LOOKS_UP);
            }
            self.worker.run_update();
            self.publish(wake);
            if begun.elapsed() >= TURN || ends.load(Ordering::Relaxed) {
                break begun;
            }
        };
        self.publish(wake);
        due
    }

    fn receive(&mut self, wake: &impl Fn()) {
        while let Ok(message) = self.inbox.try_recv() {
            match message {
                Message::RunCommand(number, order) => self.worker.receive(number, order),
                Message::RequestState => {
                    *held(&self.mailbox.run_state) = Some(self.worker.run_state());
                    wake();
                }
            }
        }
    }

    fn publish(&self, wake: &impl Fn()) {
        if self.mailbox.wanted.swap(false, Ordering::AcqRel) {
            *held(&self.mailbox.updates) = Some(self.worker.updates());
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
        Run::new(task, config, state, 1, Snapshots::LIMIT)
    }

    fn alone(seed: u64, sequences: u64) -> Model<f32> {
        let mut run = run(seed, sequences);
        while run.is_active() {
            run.advance();
        }
        run.trainer().state.machine.clone()
    }

    /// Asks until the news is so.
    fn until(learner: &mut Learner, is_so: impl Fn(usize, &RunUpdate) -> bool) {
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
        let runs = (1..=3).map(|seed| run(seed, 60)).collect();
        let mut learner = Learner::start(runs, || ()).unwrap();
        learner.send(1, &RunCommand::Go(Pace::Full));
        until(&mut learner, |_, updates| {
            updates.progress.end == Some(End::Finished)
        });
        for (seed, run) in (1..=3).zip(learner.end()) {
            assert_eq!(run.trainer().state.machine, alone(seed, 60));
            let progress = run.progress();
            assert_eq!((progress.sequences, progress.history.len()), (60, 3));
            let updates = progress.curve.points().iter().map(|point| point.updates);
            assert_eq!(updates.sum::<u64>(), 60);
            assert!(progress.snapshots.all().len() > 5);
        }
    }

    #[test]
    fn excess_runs_share_processors_fairly() {
        let runs = (1..=10).map(|seed| run(seed, 1_000_000)).collect();
        let mut learner = Learner::start(runs, || ()).unwrap();
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        assert_eq!(learner.threads.len(), processors.min(10));
        learner.send(1, &RunCommand::Go(Pace::Full));
        until(&mut learner, |_, updates| updates.progress.sequences >= 20);
        learner.send(1, &RunCommand::Pause);
        let ends = learner.end();
        assert_eq!(ends.len(), 10);
        for (seed, run) in (1..).zip(&ends) {
            assert_eq!(run.trainer().config.seed, seed);
        }
    }

    #[test]
    fn each_single_update_command_runs_once() {
        let mut learner = Learner::start(vec![run(1, 1000)], || ()).unwrap();
        let followed = |number| move |_: usize, updates: &RunUpdate| updates.followed == number;
        let (mut number, mut all) = (0, 0);
        for presses in [1, 1, 5, 2, 17] {
            for _ in 0..presses {
                number += 1;
                learner.send(number, &RunCommand::Once);
            }
            all += presses;
            until(&mut learner, followed(number));
            until(&mut learner, |_, updates| {
                assert_eq!(updates.progress.sequences, all);
                true
            });
        }
        learner.send(number + 1, &RunCommand::Go(Pace::Updates(1e6)));
        until(&mut learner, |_, updates| {
            updates.progress.sequences > all + 10
        });
        learner.send(number + 2, &RunCommand::Pause);
        let run = learner.end().remove(0);
        assert!(run.progress().sequences > all + 10 && run.is_active());
    }

    /// Returns the state of a run, as soon as it is known.
    fn run_state(learner: &mut Learner, place: usize) -> RunState {
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
        let runs = (1..=2).map(|seed| run(seed, 1_000_000)).collect();
        let mut learner = Learner::start(runs, || ()).unwrap();
        learner.send(1, &RunCommand::Go(Pace::Full));
        until(&mut learner, |_, updates| updates.progress.sequences >= 20);
        let RunState {
            state, snapshots, ..
        } = run_state(&mut learner, 1);
        let last = snapshots.all().last().unwrap().sequences;
        assert!(last <= state.sequences);
        let is_active =
            |place, updates: &RunUpdate| place == 0 || updates.progress.sequences > state.sequences;
        until(&mut learner, is_active);
        // It is that of a moment between two updates.
        let mut same = run(2, 1_000_000);
        while same.progress().sequences < state.sequences {
            same.advance();
        }
        assert_eq!(same.trainer().state.machine, state.machine);
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
        let mut learner = Learner::start_with(through, vec![run(1, 100)], || ()).unwrap();
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
    fn failed_update_is_reported_and_run_is_unchanged() {
        let breaks = |run: &mut Run| {
            assert!(run.progress().sequences != 7, "no such luck");
            run.advance();
        };
        let runs = vec![run(1, 100), run(2, 100)];
        let mut learner = Learner::start_with(breaks, runs, || ()).unwrap();
        learner.send(1, &RunCommand::Go(Pace::Full));
        until(&mut learner, |_, updates| {
            let words = "no such luck".to_owned();
            let is_whole = true;
            updates.progress.end == Some(End::Broken { words, is_whole })
        });
        // Every thread is still there, and hands out what is left.
        let RunState { state, .. } = run_state(&mut learner, 0);
        assert_eq!(state.sequences, 7);
        let mut same = run(1, 100);
        (0..7).for_each(|_| same.advance());
        assert_eq!(same.trainer().state.machine, state.machine);
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
        assert!(best.is_some());
        let mut learner = Learner::without_threads(vec![run]);
        let task = Task::Copy(Copy {
            bits: 2,
            length: 1..=5,
        });
        let config = held(&learner.scheduler.queue)
            .front()
            .map(|permit| permit.worker.run.trainer().config.clone());
        let set = vec!["task.length=[1,5]".to_owned()];
        learner.send(
            1,
            &RunCommand::Change(Box::new((task, config.unwrap())), set),
        );
        learner.request_updates();
        let run = learner.end().remove(0);
        assert_eq!(run.progress().changes, []);
        assert_eq!(run.trainer().state.best, best);
    }

    #[test]
    fn change_is_recorded_with_its_sequence() {
        let mut learner = Learner::without_threads(vec![run(1, 100)]);
        learner.send(1, &RunCommand::Go(Pace::Full));
        (0..5).for_each(|_| learner.request_updates());
        let trainer = learner.end().remove(0);
        let (task, mut config) = (
            trainer.trainer().task.clone(),
            trainer.trainer().config.clone(),
        );
        config.batch = 4;
        let mut learner = Learner::without_threads(vec![trainer]);
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
