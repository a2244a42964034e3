//! The threads that share the episodes of a batch or of a measurement.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a thread looks, before it sleeps, whether the others are done: for some 100 µs.
#[cfg(not(target_arch = "wasm32"))]
const MOST_LOOKS: usize = 3000;

/// A pool of threads; in a browser there are none, and the caller does the work.
#[derive(Debug)]
pub(crate) struct Pool {
    #[cfg(not(target_arch = "wasm32"))]
    threads: rayon::ThreadPool,
}

impl Pool {
    /// A pool of this many threads (at least one).
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn new(threads: usize) -> Self {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.max(1))
            .build()
            .expect("the system starts the threads of a small pool");
        Self { threads }
    }

    /// Does the work, with these threads for all that is parallel in it.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.threads.install(work)
    }

    /// Does work on every item: on the first in the thread of the caller, which is awake, on the others in these.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn share<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        let Some((own, others)) = items.split_first_mut() else {
            return;
        };
        let (work, left) = (&work, &AtomicUsize::new(others.len()));
        self.threads.in_place_scope(|scope| {
            for item in others {
                scope.spawn(move |_| {
                    work(item);
                    left.fetch_sub(1, Ordering::Release);
                });
            }
            work(own);
            // To look for a moment costs less than to fall asleep and be woken.
            let mut looks = 0;
            while looks < MOST_LOOKS && left.load(Ordering::Acquire) > 0 {
                looks += 1;
                std::hint::spin_loop();
            }
        });
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn share<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        items.iter_mut().for_each(work);
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn new(_: usize) -> Self {
        Self {}
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn install<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }
}
