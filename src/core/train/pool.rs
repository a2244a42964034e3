//! The threads that share the episodes of a batch or of a measurement.

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

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn new(_: usize) -> Self {
        Self {}
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn install<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }
}
