//! The threads that train while somebody watches: runs side by side take turns on them; orders go in, and the newest
//! account comes out when it is asked for, between two updates.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use web_time::Instant;

use super::run::{Account, Run};
use super::snapshots::Snapshots;
use crate::model::Model;
use crate::platform::Repeated;
use crate::task::Task;
use crate::train::{State, TrainingConfig};

/// What a run is told.
#[derive(Clone, Debug)]
pub enum Order {
    /// Train at this pace.
    Go(Pace),
    /// Wait after the present update.
    Pause,
    /// One update more, then wait: as many updates as there were such orders.
    Once,
    /// Another task or configuration from the next update on; the words say what was set.
    Change(Box<(Task, TrainingConfig)>, Vec<String>),
}

/// How fast it trains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As fast as it can.
    Full,
    /// So many updates per second.
    Updates(f64),
}

/// What is new of a run.
#[derive(Clone, Debug)]
pub struct News {
    /// What has been observed.
    pub account: Arc<Account>,
    /// The machine as it is.
    pub machine: Arc<Model<f32>>,
    /// Sequences per second, lately; `None` while it waits.
    pub rate: Option<f64>,
    /// The number of the last order that was followed, with all before it; 0 before the first.
    pub followed: u64,
}

/// A run between two updates: all that it takes to go on from there.
#[derive(Clone, Debug)]
pub struct Handed {
    /// Weights, optimizer and history.
    pub state: State,
    /// What the machine was.
    pub snapshots: Snapshots,
    /// False where the weights are no longer any good: nothing can go on from them, and what was before them is kept.
    pub keeps_weights: bool,
}

/// What a run hears.
#[derive(Debug)]
enum Word {
    /// An order with its number.
    Order(u64, Order),
    /// Its state is asked for.
    HandOut,
}

/// Where a thread leaves what was asked for.
#[derive(Debug, Default)]
struct Desk {
    wanted: AtomicBool,
    news: Mutex<Option<Box<News>>>,
    handed: Mutex<Option<Box<Handed>>>,
}

/// What somebody may be about to leave there or to take away; nothing breaks while that is held.
fn held<T>(on: &Mutex<T>) -> MutexGuard<'_, T> {
    on.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run with what leads to it; without a thread it is driven by whoever asks: for tests.
#[derive(Debug)]
enum Driver {
    Thread {
        words: Sender<Word>,
        desk: Arc<Desk>,
    },
    Here(Box<Pupil>),
}

/// Runs that are trained side by side.
#[derive(Debug, Default)]
pub struct Learner {
    drivers: Vec<Driver>,
    threads: Vec<Repeated>,
    class: Arc<Class>,
}

/// What the threads have in common.
#[derive(Debug, Default)]
struct Class {
    /// Those that wait for their turn, in order: a thread takes the first, and puts it back as the last.
    queue: Mutex<VecDeque<Turn>>,
    /// True once all is to end.
    ends: AtomicBool,
}

/// A run while it waits for its turn.
#[derive(Debug)]
struct Turn {
    place: usize,
    pupil: Pupil,
    inbox: Receiver<Word>,
    desk: Arc<Desk>,
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

    /// The same with another way to do an update.
    fn start_with(
        advance: fn(&mut Run),
        runs: Vec<Run>,
        wake: impl Fn() + Clone + Send + 'static,
    ) -> std::io::Result<Self> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut learner = Self::default();
        for (place, run) in runs.into_iter().enumerate() {
            let (words, inbox) = channel();
            let desk = Arc::new(Desk::default());
            let turn = Turn {
                place,
                pupil: Pupil::new(advance, run),
                inbox,
                desk: desk.clone(),
            };
            held(&learner.class.queue).push_back(turn);
            learner.drivers.push(Driver::Thread { words, desk });
        }
        for _ in 0..processors.min(learner.drivers.len()) {
            let (class, wake) = (learner.class.clone(), wake.clone());
            let mut rests = Rests::default();
            let thread = Repeated::start("learn", move || class.turn(&mut rests, &wake))?;
            learner.threads.push(thread);
        }
        Ok(learner)
    }

    /// Without threads and without a clock: each time news is asked for, every run that is not paused does one update.
    pub fn here(runs: Vec<Run>) -> Self {
        let here = |run: Run| Driver::Here(Box::new(Pupil::new(Run::advance, run.untimed())));
        let mut learner = Self::default();
        learner.drivers = runs.into_iter().map(here).collect();
        learner
    }

    /// Tells all runs; the orders are numbered, from 1 on.
    pub fn tell(&mut self, number: u64, order: &Order) {
        for driver in &mut self.drivers {
            match driver {
                // The run lies with the class as long as there is a learner: it can always be told.
                Driver::Thread { words, .. } => {
                    drop(words.send(Word::Order(number, order.clone())));
                }
                Driver::Here(pupil) => pupil.hear(number, order.clone()),
            }
        }
    }

    /// Asks a run, by its place, for its state between two updates: [`Learner::handed`] has it then. `wake` is called.
    pub fn hand_out(&mut self, place: usize) {
        if let Some(Driver::Thread { words, .. }) = self.drivers.get(place) {
            drop(words.send(Word::HandOut));
        }
    }

    /// The state that a run was asked for, once it is there.
    pub fn handed(&mut self, place: usize) -> Option<Handed> {
        match self.drivers.get(place)? {
            Driver::Thread { desk, .. } => held(&desk.handed).take().map(|handed| *handed),
            Driver::Here(pupil) => Some(pupil.handed()),
        }
    }

    /// Asks for the newest of every run.
    pub fn ask(&mut self) {
        self.ask_of(|_| true);
    }

    /// Asks for the newest of these runs, by their places: to tell costs a run time. Without threads all go on, and
    /// tell.
    pub fn ask_of(&mut self, whom: impl Fn(usize) -> bool) {
        for (index, driver) in self.drivers.iter_mut().enumerate() {
            match driver {
                Driver::Thread { desk, .. } if whom(index) => {
                    desk.wanted.store(true, Ordering::Release);
                }
                Driver::Thread { .. } => {}
                Driver::Here(pupil) => pupil.go(),
            }
        }
    }

    /// How many runs there are.
    pub fn count(&self) -> usize {
        self.drivers.len()
    }

    /// What has come since, each with the place of its run.
    pub fn news(&mut self) -> Vec<(usize, News)> {
        let of = |(index, driver): (usize, &mut Driver)| {
            let news = match driver {
                Driver::Thread { desk, .. } => held(&desk.news).take()?,
                Driver::Here(pupil) => Box::new(News {
                    rate: None,
                    ..pupil.news()
                }),
            };
            Some((index, *news))
        };
        self.drivers.iter_mut().enumerate().filter_map(of).collect()
    }

    /// Ends all threads, waits for that, and hands back the runs as they are.
    pub fn end(mut self) -> Vec<Run> {
        self.class.ends.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            thread.wait();
        }
        let mut turns: Vec<_> = held(&self.class.queue).drain(..).collect();
        turns.sort_by_key(|turn| turn.place);
        let there = turns.into_iter().map(|turn| turn.pupil);
        let here = self.drivers.drain(..).filter_map(|driver| match driver {
            Driver::Here(pupil) => Some(*pupil),
            Driver::Thread { .. } => None,
        });
        there.chain(here).map(|pupil| pupil.run).collect()
    }
}

impl Drop for Learner {
    /// Whoever trains ends after the present update; nobody waits for that.
    fn drop(&mut self) {
        self.class.ends.store(true, Ordering::Release);
    }
}

/// A run, and what it was told.
#[derive(Debug)]
struct Pupil {
    run: Run,
    pace: Option<Pace>,
    /// Single updates that are still to be done.
    once: u64,
    /// The numbers of the last order that was heard, and of the last one that was followed.
    heard: u64,
    followed: u64,
    /// How an update is done.
    advance: fn(&mut Run),
    /// When the next update is due at a pace of so many per second.
    due: Instant,
    /// Where it stood when its speed was measured last.
    measured: (Instant, u64),
    rate: Option<f64>,
}

/// How long a speed is measured.
const MEASURED: Duration = Duration::from_millis(500);

impl Pupil {
    fn new(advance: fn(&mut Run), run: Run) -> Self {
        let now = Instant::now();
        Self {
            measured: (now, run.account().sequences),
            run,
            pace: None,
            once: 0,
            heard: 0,
            followed: 0,
            advance,
            due: now,
            rate: None,
        }
    }

    fn hear(&mut self, number: u64, order: Order) {
        self.heard = number;
        match order {
            Order::Go(pace) => {
                if self.pace.is_none() {
                    let done = self.run.account().sequences;
                    (self.measured, self.rate) = ((Instant::now(), done), None);
                }
                (self.pace, self.due) = (Some(pace), Instant::now());
            }
            Order::Pause => (self.pace, self.rate) = (None, None),
            Order::Once => (self.pace, self.rate, self.once) = (None, None, self.once + 1),
            Order::Change(to, set) => self.run.guarded(|run| run.change(to.0, to.1, set)),
        }
        self.follow();
    }

    /// What was ordered is done, but for single updates that are still to come.
    fn follow(&mut self) {
        if !(self.once > 0 && self.has_work()) {
            self.followed = self.heard;
        }
    }

    fn has_work(&self) -> bool {
        self.run.goes_on() && (self.once > 0 || self.pace.is_some())
    }

    /// One update, if there is one to be done.
    fn go(&mut self) {
        if !self.has_work() {
            return;
        }
        self.once = self.once.saturating_sub(1);
        self.run.guarded(self.advance);
        let (since, before) = self.measured;
        let (passed, done) = (since.elapsed(), self.run.account().sequences);
        if passed >= MEASURED {
            self.rate = self
                .pace
                .map(|_| (done - before) as f64 / passed.as_secs_f64());
            self.measured = (Instant::now(), done);
        }
        self.follow();
    }

    /// How long to wait before the next update.
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

    fn news(&self) -> News {
        News {
            account: Arc::new(self.run.account().clone()),
            machine: Arc::new(self.run.trainer().state.machine.clone()),
            rate: self.rate,
            followed: self.followed,
        }
    }

    fn handed(&self) -> Handed {
        Handed {
            state: self.run.trainer().state.clone(),
            snapshots: self.run.account().snapshots.clone(),
            keeps_weights: self.run.account().keeps_weights(),
        }
    }
}

/// How long a run has a thread to itself while others wait.
const TURN: Duration = Duration::from_millis(4);
/// How soon a thread that has nothing to do sees that there is something.
const LOOKS_UP: Duration = Duration::from_millis(10);

/// How long there was nothing to do.
#[derive(Debug)]
struct Rests {
    /// In so many turns, one after the other.
    idle: usize,
    /// The shortest time until there is something again.
    least: Duration,
}

impl Default for Rests {
    fn default() -> Self {
        Self {
            idle: 0,
            least: LOOKS_UP,
        }
    }
}

impl Class {
    /// Gives one run its turn; says how long there is nothing to do, until all is to end.
    fn turn(&self, rests: &mut Rests, wake: &impl Fn()) -> Option<Duration> {
        if self.ends.load(Ordering::Acquire) {
            return None;
        }
        let (turn, others) = {
            let mut queue = held(&self.queue);
            (queue.pop_front(), queue.len())
        };
        if let Some(mut turn) = turn {
            let rest = turn.take(&self.ends, wake);
            held(&self.queue).push_back(turn);
            if rest.is_zero() {
                *rests = Rests::default();
                return Some(Duration::ZERO);
            }
            rests.idle += 1;
            rests.least = rests.least.min(rest);
        }
        if rests.idle <= others {
            return Some(Duration::ZERO);
        }
        Some(std::mem::take(rests).least)
    }
}

impl Turn {
    /// Hears, trains for a while and tells; says how long there is nothing to do.
    fn take(&mut self, ends: &AtomicBool, wake: &impl Fn()) -> Duration {
        let (begun, mut worked) = (Instant::now(), false);
        let rest = loop {
            while let Ok(word) = self.inbox.try_recv() {
                match word {
                    Word::Order(number, order) => self.pupil.hear(number, order),
                    Word::HandOut => {
                        *held(&self.desk.handed) = Some(Box::new(self.pupil.handed()));
                        wake();
                    }
                }
            }
            let wait = if self.pupil.has_work() {
                self.pupil.wait()
            } else {
                LOOKS_UP
            };
            if !wait.is_zero() {
                break wait.min(LOOKS_UP);
            }
            self.pupil.go();
            worked = true;
            self.tell(wake);
            if begun.elapsed() >= TURN || ends.load(Ordering::Relaxed) {
                break Duration::ZERO;
            }
        };
        self.tell(wake);
        if worked { Duration::ZERO } else { rest }
    }

    fn tell(&self, wake: &impl Fn()) {
        if self.desk.wanted.swap(false, Ordering::AcqRel) {
            let news = Box::new(self.pupil.news());
            *held(&self.desk.news) = Some(news);
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

    /// How long a test waits for a thread before it fails.
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
        while run.goes_on() {
            run.advance();
        }
        run.trainer().state.machine.clone()
    }

    /// Asks until the news is so.
    fn until(learner: &mut Learner, is_so: impl Fn(usize, &News) -> bool) {
        let mut waiting: Vec<bool> = vec![true; learner.drivers.len()];
        let start = Instant::now();
        while waiting.contains(&true) {
            assert!(start.elapsed() < PATIENCE, "no such news");
            learner.ask();
            for (index, news) in learner.news() {
                waiting[index] &= !is_so(index, &news);
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn runs_side_by_side_come_to_the_same_bits_as_each_alone() {
        let runs = (1..=3).map(|seed| run(seed, 60)).collect();
        let mut learner = Learner::start(runs, || ()).unwrap();
        learner.tell(1, &Order::Go(Pace::Full));
        until(&mut learner, |_, news| {
            news.account.end == Some(End::Finished)
        });
        for (seed, run) in (1..=3).zip(learner.end()) {
            assert_eq!(run.trainer().state.machine, alone(seed, 60));
            let account = run.account();
            assert_eq!((account.sequences, account.history.len()), (60, 3));
            let updates = account.curve.points().iter().map(|point| point.updates);
            assert_eq!(updates.sum::<u64>(), 60);
            assert!(account.snapshots.all().len() > 5);
        }
    }

    #[test]
    fn more_runs_than_processors_take_turns_and_none_is_forgotten() {
        let runs = (1..=10).map(|seed| run(seed, 1_000_000)).collect();
        let mut learner = Learner::start(runs, || ()).unwrap();
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        assert_eq!(learner.threads.len(), processors.min(10));
        learner.tell(1, &Order::Go(Pace::Full));
        until(&mut learner, |_, news| news.account.sequences >= 20);
        learner.tell(1, &Order::Pause);
        let ends = learner.end();
        assert_eq!(ends.len(), 10);
        for (seed, run) in (1..).zip(&ends) {
            assert_eq!(run.trainer().config.seed, seed);
        }
    }

    #[test]
    fn every_order_for_one_update_is_one_update() {
        let mut learner = Learner::start(vec![run(1, 1000)], || ()).unwrap();
        let followed = |number| move |_: usize, news: &News| news.followed == number;
        let (mut number, mut all) = (0, 0);
        for presses in [1, 1, 5, 2, 17] {
            for _ in 0..presses {
                number += 1;
                learner.tell(number, &Order::Once);
            }
            all += presses;
            until(&mut learner, followed(number));
            until(&mut learner, |_, news| {
                assert_eq!(news.account.sequences, all);
                true
            });
        }
        learner.tell(number + 1, &Order::Go(Pace::Updates(1e6)));
        until(&mut learner, |_, news| news.account.sequences > all + 10);
        learner.tell(number + 2, &Order::Pause);
        let run = learner.end().remove(0);
        assert!(run.account().sequences > all + 10 && run.goes_on());
    }

    /// The state of a run, once it is there.
    fn handed(learner: &mut Learner, place: usize) -> Handed {
        learner.hand_out(place);
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "no state was handed out");
            if let Some(handed) = learner.handed(place) {
                return handed;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_state_is_handed_out_while_the_run_goes_on() {
        let runs = (1..=2).map(|seed| run(seed, 1_000_000)).collect();
        let mut learner = Learner::start(runs, || ()).unwrap();
        learner.tell(1, &Order::Go(Pace::Full));
        until(&mut learner, |_, news| news.account.sequences >= 20);
        let Handed {
            state, snapshots, ..
        } = handed(&mut learner, 1);
        let last = snapshots.all().last().unwrap().sequences;
        assert!(last <= state.sequences);
        let goes_on = |place, news: &News| place == 0 || news.account.sequences > state.sequences;
        until(&mut learner, goes_on);
        // It is that of a moment between two updates.
        let mut same = run(2, 1_000_000);
        while same.account().sequences < state.sequences {
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
    fn nobody_waits_for_an_update_to_end() {
        let through = |run: &mut Run| {
            WAITS.store(true, Ordering::Release);
            drop(held(&GATE));
            run.advance();
        };
        let gate = held(&GATE);
        let mut learner = Learner::start_with(through, vec![run(1, 100)], || ()).unwrap();
        learner.tell(1, &Order::Go(Pace::Full));
        learner.hand_out(0);
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
    fn what_breaks_in_an_update_is_said_and_the_run_is_as_it_was_before() {
        let breaks = |run: &mut Run| {
            assert!(run.account().sequences != 7, "no such luck");
            run.advance();
        };
        let runs = vec![run(1, 100), run(2, 100)];
        let mut learner = Learner::start_with(breaks, runs, || ()).unwrap();
        learner.tell(1, &Order::Go(Pace::Full));
        until(&mut learner, |_, news| {
            let words = "no such luck".to_owned();
            let is_whole = true;
            news.account.end == Some(End::Broken { words, is_whole })
        });
        // Every thread is still there, and hands out what is left.
        let Handed { state, .. } = handed(&mut learner, 0);
        assert_eq!(state.sequences, 7);
        let mut same = run(1, 100);
        (0..7).for_each(|_| same.advance());
        assert_eq!(same.trainer().state.machine, state.machine);
        let account = learner.end().remove(0).account().clone();
        let words = &account.findings.last().unwrap().words;
        assert!(words.contains("no such luck") && words.contains("Save the run"));
    }

    #[test]
    fn what_breaks_in_the_middle_of_a_step_keeps_no_weights() {
        let breaks = |run: &mut Run| {
            run.advance();
            panic!("too late");
        };
        let mut pupil = Pupil::new(breaks, run(1, 100));
        pupil.hear(1, Order::Go(Pace::Full));
        pupil.go();
        assert!(!pupil.has_work() && pupil.followed == 1);
        let end = pupil.news().account.end.clone().unwrap();
        assert!(!end.keeps_weights(), "{end:?}");
    }

    #[test]
    fn what_comes_after_the_end_changes_nothing() {
        let mut run = run(1, 40);
        while run.goes_on() {
            run.advance();
        }
        let best = run.trainer().state.best.clone();
        assert!(best.is_some());
        let mut learner = Learner::here(vec![run]);
        let task = Task::Copy(Copy {
            bits: 2,
            length: 1..=5,
        });
        let config = learner.drivers.iter().find_map(|driver| match driver {
            Driver::Here(pupil) => Some(pupil.run.trainer().config.clone()),
            Driver::Thread { .. } => None,
        });
        let set = vec!["task.length=[1,5]".to_owned()];
        learner.tell(1, &Order::Change(Box::new((task, config.unwrap())), set));
        let run = learner.end().remove(0);
        assert_eq!(run.account().changes, []);
        assert_eq!(run.trainer().state.best, best);
    }

    #[test]
    fn a_change_is_remembered_with_its_moment() {
        let mut learner = Learner::here(vec![run(1, 100)]);
        learner.tell(1, &Order::Go(Pace::Full));
        (0..5).for_each(|_| learner.ask());
        let trainer = learner.end().remove(0);
        let (task, mut config) = (
            trainer.trainer().task.clone(),
            trainer.trainer().config.clone(),
        );
        config.batch = 4;
        let mut learner = Learner::here(vec![trainer]);
        let set = vec!["training.batch=4".to_owned()];
        learner.tell(1, &Order::Change(Box::new((task, config)), set.clone()));
        learner.tell(1, &Order::Once);
        learner.ask();
        let (_, news) = learner.news().remove(0);
        assert_eq!(news.account.sequences, 9);
        assert_eq!(
            (
                news.account.changes[0].sequences,
                &news.account.changes[0].set
            ),
            (5, &set)
        );
    }
}
