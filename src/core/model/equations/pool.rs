//! Engines that have run wait here for the next episodes of their lengths.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::math::{Aligned, Answer, Real};

/// The most numbers of all arenas in a pool, and the most that its engines ask for, but for the last one.
const MOST_NUMBERS: usize = 1 << 27;

/// What an engine is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A whole recording.
    Recording,
    /// Gradients of this many episodes side by side.
    Training(usize),
    /// The answer alone.
    Evaluation,
}

/// The episodes that an engine runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Job {
    pub purpose: Purpose,
    /// Steps, and those of the source.
    pub sizes: [usize; 2],
    /// The form of the own answer that is fed back; none where the target is.
    pub own: Option<Answer>,
    /// Channels of input and output.
    pub channels: [usize; 2],
    pub question: usize,
}

/// Engines that wait, without arenas, and the arenas of those that have run last.
#[derive(Default)]
pub(super) struct Pool {
    engines: Mutex<VecDeque<Waiting>>,
    arenas: Mutex<VecDeque<(usize, Box<dyn Any + Send>)>>,
}

/// An engine with its job and its demand.
type Waiting = (Job, usize, Box<dyn Any + Send>);

impl Pool {
    /// Takes an engine of this type for this job out.
    pub(super) fn take<T: 'static>(&self, job: Job) -> Option<T> {
        let mut all = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |own: &Waiting| own.0 == job && own.2.is::<T>();
        let at = all.iter().rposition(is_it)?;
        let (.., engine) = all.remove(at)?;
        engine.downcast().ok().map(|own| *own)
    }

    /// Puts an engine of this demand in.
    pub(super) fn put(&self, job: Job, demand: usize, engine: Box<dyn Any + Send>) {
        keep(&self.engines, (job, demand, engine), |own| own.1);
    }

    /// Takes the arena that was used last, which is the one in the cache of the processor.
    pub(super) fn take_arena<R: Real>(&self) -> Aligned<R> {
        let mut all = self.arenas.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().rposition(|own| own.1.is::<Aligned<R>>());
        let arena = at.and_then(|at| all.remove(at)?.1.downcast().ok());
        arena.map_or_else(Aligned::default, |own| *own)
    }

    /// Puts an arena in.
    pub(super) fn put_arena<R: Real>(&self, arena: Aligned<R>) {
        keep(&self.arenas, (arena.most(), Box::new(arena)), |own| own.0);
    }
}

/// Adds one to a list, and takes the oldest out while all together, counted by `numbers`, are too many.
fn keep<T>(list: &Mutex<VecDeque<T>>, one: T, numbers: impl Fn(&T) -> usize) {
    let mut all = list.lock().unwrap_or_else(PoisonError::into_inner);
    all.push_back(one);
    while all.len() > 1 && all.iter().map(&numbers).sum::<usize>() > MOST_NUMBERS {
        all.pop_front();
    }
}
