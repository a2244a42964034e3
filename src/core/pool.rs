//! The threads that share the episodes of a batch or of a measurement.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(not(target_arch = "wasm32"))]
use std::time::Duration;

/// Spins of a thread that waits for the others before it sleeps: some 100 µs.
#[cfg(not(target_arch = "wasm32"))]
const MAX_SPINS: usize = 3000;

/// A pool of threads; in a browser there are none, and the caller does the work.
#[derive(Debug)]
pub(crate) struct Pool {
    #[cfg(not(target_arch = "wasm32"))]
    threads: rayon::ThreadPool,
}

impl Pool {
    /// A pool of `threads` threads, at least one. If the system refuses to start them, it tries half as many, and so on.
    ///
    /// # Panics
    /// The system refuses to start even one for a second.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn new(threads: usize) -> Self {
        let (mut count, mut patience) = (threads.max(1), 100);
        loop {
            match rayon::ThreadPoolBuilder::new().num_threads(count).build() {
                Ok(threads) => return Self { threads },
                Err(_) if count > 1 => count /= 2,
                // Those of an earlier pool may still be ending, and have their memory until then.
                Err(_) if patience > 0 => {
                    patience -= 1;
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) => panic!("the system starts a thread: {error}"),
            }
        }
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
            // To spin for a moment costs less than to fall asleep and be woken.
            let mut spins = 0;
            while spins < MAX_SPINS && left.load(Ordering::Acquire) > 0 {
                spins += 1;
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
