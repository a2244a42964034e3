//! The threads that train while somebody watches: runs side by side take turns on them; orders go in, and the newest
//! account comes out when it is asked for, between two updates.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::run::{Account, Run};
use crate::model::Model;
use crate::task::Task;
use crate::train::TrainingConfig;

/// What a run is told.
#[derive(Clone, Debug)]
pub enum Order {
    /// Train at this pace.
    Go(Pace),
    /// Wait after the present update.
    Pause,
    /// One update, then wait.
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
}

/// Where a thread leaves what was asked for.
#[derive(Debug, Default)]
struct Desk {
    wanted: AtomicBool,
    news: Mutex<Option<Box<News>>>,
}

/// A run with what leads to it; without a thread it is driven by whoever asks: for tests.
#[derive(Debug)]
enum Driver {
    Thread {
        orders: Sender<Order>,
        desk: Arc<Desk>,
    },
    Here(Box<Pupil>),
}

/// Runs that are trained side by side.
#[derive(Debug, Default)]
pub struct Learner {
    drivers: Vec<Driver>,
    threads: Vec<JoinHandle<()>>,
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
    inbox: Receiver<Order>,
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
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut learner = Self::default();
        for (place, run) in runs.into_iter().enumerate() {
            let (orders, inbox) = channel();
            let desk = Arc::new(Desk::default());
            let turn = Turn {
                place,
                pupil: Pupil::new(run),
                inbox,
                desk: desk.clone(),
            };
            learner.class.queue().push_back(turn);
            learner.drivers.push(Driver::Thread { orders, desk });
        }
        for _ in 0..processors.min(learner.drivers.len()) {
            let (class, wake) = (learner.class.clone(), wake.clone());
            let builder = std::thread::Builder::new().name("learn".to_owned());
            let thread = builder.spawn(move || class.drive(&wake))?;
            learner.threads.push(thread);
        }
        Ok(learner)
    }

    /// Without threads and without a clock: each time news is asked for, every run that is not paused does one update.
    pub fn here(runs: Vec<Run>) -> Self {
        let here = |run: Run| Driver::Here(Box::new(Pupil::new(run.untimed())));
        let mut learner = Self::default();
        learner.drivers = runs.into_iter().map(here).collect();
        learner
    }

    /// Tells all runs.
    pub fn tell(&mut self, order: &Order) {
        for driver in &mut self.drivers {
            match driver {
                // A thread that has ended, after all its sequences or by a fault, has nothing left to do.
                Driver::Thread { orders, .. } => drop(orders.send(order.clone())),
                Driver::Here(pupil) => pupil.hear(order.clone()),
            }
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
                Driver::Thread { desk, .. } => {
                    let mut news = desk.news.lock().unwrap_or_else(PoisonError::into_inner);
                    news.take()?
                }
                Driver::Here(pupil) => Box::new(News {
                    rate: None,
                    ..pupil.news()
                }),
            };
            Some((index, *news))
        };
        self.drivers.iter_mut().enumerate().filter_map(of).collect()
    }

    /// Ends all threads and hands back the runs as they are; a run whose thread broke is lost.
    pub fn end(mut self) -> Vec<Run> {
        self.class.ends.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            // What broke has lost its run.
            drop(thread.join());
        }
        let mut turns: Vec<_> = self.class.queue().drain(..).collect();
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
    /// Whoever trains ends after the present update.
    fn drop(&mut self) {
        self.class.ends.store(true, Ordering::Release);
    }
}

/// A run, and what it was told.
#[derive(Debug)]
struct Pupil {
    run: Run,
    pace: Option<Pace>,
    once: bool,
    /// When the next update is due at a pace of so many per second.
    due: Instant,
    /// Where it stood when its speed was measured last.
    measured: (Instant, u64),
    rate: Option<f64>,
}

/// How long a speed is measured.
const MEASURED: Duration = Duration::from_millis(500);

impl Pupil {
    fn new(run: Run) -> Self {
        let now = Instant::now();
        Self {
            measured: (now, run.account().sequences),
            run,
            pace: None,
            once: false,
            due: now,
            rate: None,
        }
    }

    fn hear(&mut self, order: Order) {
        match order {
            Order::Go(pace) => {
                if self.pace.is_none() {
                    let done = self.run.account().sequences;
                    (self.measured, self.rate) = ((Instant::now(), done), None);
                }
                (self.pace, self.due) = (Some(pace), Instant::now());
            }
            Order::Pause => (self.pace, self.rate) = (None, None),
            Order::Once => (self.pace, self.rate, self.once) = (None, None, true),
            Order::Change(to, set) => self.run.change(to.0, to.1, set),
        }
    }

    fn has_work(&self) -> bool {
        self.run.goes_on() && (self.once || self.pace.is_some())
    }

    /// One update, if there is one to be done.
    fn go(&mut self) {
        if !self.has_work() {
            return;
        }
        self.once = false;
        self.run.advance();
        let (since, before) = self.measured;
        let (passed, done) = (since.elapsed(), self.run.account().sequences);
        if passed >= MEASURED {
            self.rate = self
                .pace
                .map(|_| (done - before) as f64 / passed.as_secs_f64());
            self.measured = (Instant::now(), done);
        }
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
        }
    }
}

/// How long a run has a thread to itself while others wait.
const TURN: Duration = Duration::from_millis(4);
/// How soon a thread that has nothing to do sees that there is something.
const LOOKS_UP: Duration = Duration::from_millis(10);

impl Class {
    fn queue(&self) -> MutexGuard<'_, VecDeque<Turn>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives one run after the other its turn until all is to end.
    fn drive(&self, wake: &impl Fn()) {
        let (mut idle, mut rests) = (0, LOOKS_UP);
        while !self.ends.load(Ordering::Acquire) {
            let (turn, others) = {
                let mut queue = self.queue();
                (queue.pop_front(), queue.len())
            };
            if let Some(mut turn) = turn {
                let rest = turn.take(&self.ends, wake);
                self.queue().push_back(turn);
                if rest.is_zero() {
                    (idle, rests) = (0, LOOKS_UP);
                    continue;
                }
                (idle, rests) = (idle + 1, rests.min(rest));
            }
            if idle > others {
                std::thread::sleep(rests);
                (idle, rests) = (0, LOOKS_UP);
            }
        }
    }
}

impl Turn {
    /// Hears, trains for a while and tells; says how long there is nothing to do.
    fn take(&mut self, ends: &AtomicBool, wake: &impl Fn()) -> Duration {
        let (begun, mut worked) = (Instant::now(), false);
        let rest = loop {
            while let Ok(order) = self.inbox.try_recv() {
                self.pupil.hear(order);
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
            let desk = self.desk.news.lock();
            *desk.unwrap_or_else(PoisonError::into_inner) = Some(news);
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
        while waiting.contains(&true) {
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
        learner.tell(&Order::Go(Pace::Full));
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
    fn more_runs_than_processors_take_turns_and_advance_evenly() {
        let runs = (1..=10).map(|seed| run(seed, 1_000_000)).collect();
        let mut learner = Learner::start(runs, || ()).unwrap();
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        assert_eq!(learner.threads.len(), processors.min(10));
        learner.tell(&Order::Go(Pace::Full));
        // None is forgotten, however many there are.
        until(&mut learner, |_, news| news.account.sequences >= 20);
        learner.tell(&Order::Pause);
        let ends = learner.end();
        assert_eq!(ends.len(), 10);
        for (seed, run) in (1..).zip(&ends) {
            assert_eq!(run.trainer().config.seed, seed);
        }
    }

    #[test]
    fn one_update_is_one_update_and_a_pause_is_a_pause() {
        let mut learner = Learner::start(vec![run(1, 1000)], || ()).unwrap();
        for done in 1..=3 {
            learner.tell(&Order::Once);
            until(&mut learner, |_, news| news.account.sequences == done);
        }
        learner.tell(&Order::Go(Pace::Updates(1e6)));
        until(&mut learner, |_, news| news.account.sequences > 10);
        learner.tell(&Order::Pause);
        let run = learner.end().remove(0);
        assert!(run.account().sequences > 10 && run.goes_on());
    }

    #[test]
    fn a_change_is_remembered_with_its_moment() {
        let mut learner = Learner::here(vec![run(1, 100)]);
        learner.tell(&Order::Go(Pace::Full));
        (0..5).for_each(|_| learner.ask());
        let trainer = learner.end().remove(0);
        let (task, mut config) = (
            trainer.trainer().task.clone(),
            trainer.trainer().config.clone(),
        );
        config.batch = 4;
        let mut learner = Learner::here(vec![trainer]);
        let set = vec!["training.batch=4".to_owned()];
        learner.tell(&Order::Change(Box::new((task, config)), set.clone()));
        learner.tell(&Order::Once);
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
