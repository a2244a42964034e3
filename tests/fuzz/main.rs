//! Hostile files: every reader against files that were damaged on purpose, in a process that counts what
//! they take.
//!
//! ```text
//! cargo test --release --test fuzz                                  # a short run, always the same
//! FUZZ_RUNS=1500000 FUZZ_SEED=7 cargo test --release --test fuzz    # a long one: so many for each reader
//! FUZZ_TARGET=npz FUZZ_RUN=4711 cargo test --release --test fuzz    # one run again
//! ```
//!
//! A run is a function of its seed, its target and its number. A file may be refused or accepted; a reader
//! must not panic, hang, take much more memory than the file is long, or say something that names no file.
//! Files that once did harm are in `regressions/`, by the names of their readers, and are read first.
//!
//! The same process first counts the allocations of a step: `allocations.rs`.

mod allocations;
mod container;
mod heap;
mod mutate;
#[path = "../npz/mod.rs"]
mod npz;
mod target;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use mutate::Mutator;
use target::Target;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Runs for each reader, without a word about it.
const RUNS: u64 = 3000;
/// The most bytes for a file: so many at once, and so many for each of its own.
const MOST_BYTES: (usize, usize) = (64 << 20, 4000);
/// The longest time for a file, on the processor: a machine may be busy with other things.
const LONGEST: Duration = Duration::from_secs(10);
/// After this time the process ends itself, and says with which run.
const HUNG: u64 = 60;
/// So many failures are told in full.
const TOLD: usize = 5;

/// What is going on, for the guard: the run, and the seconds of [`spent`] at which it began.
static RUN: AtomicU64 = AtomicU64::new(0);
static BEGAN: AtomicU64 = AtomicU64::new(u64::MAX);

fn main() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (runs, seed) = (number("FUZZ_RUNS", RUNS), number("FUZZ_SEED", 1));
    let only = std::env::var("FUZZ_TARGET").ok();
    let one = std::env::var("FUZZ_RUN")
        .is_ok()
        .then(|| number("FUZZ_RUN", 0));
    if only.is_none() && one.is_none() {
        allocations::check_all();
    }
    std::thread::spawn(guard);
    let (targets, mut failures) = (target::all(), 0);
    if one.is_none() {
        // Panics are told in brief, with their run.
        std::panic::set_hook(Box::new(|_| {}));
    }
    for target in targets {
        if only.as_ref().is_some_and(|only| only != target.name) {
            continue;
        }
        let mut report = Report::default();
        for (name, file) in found(target.name) {
            report.add(&name, &file, &target);
        }
        for run in one.map_or(0..runs, |run| run..run + 1) {
            RUN.store(run, Relaxed);
            let file = damaged(&target, seed, run);
            let name = format!(
                "FUZZ_SEED={seed} FUZZ_TARGET={} FUZZ_RUN={run}",
                target.name
            );
            if one.is_some() {
                std::fs::write(std::env::temp_dir().join("fuzzed"), &file).unwrap();
            }
            report.add(&name, &file, &target);
        }
        report.print(&target);
        failures += report.failures;
    }
    if failures > 0 {
        std::process::exit(1);
    }
}

/// File `run` of a target.
fn damaged(target: &Target, seed: u64, run: u64) -> Vec<u8> {
    let name = target
        .name
        .bytes()
        .fold(0_u64, |sum, byte| sum * 31 + u64::from(byte));
    let mut mutator = Mutator::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ name ^ (run << 20));
    let corpus = &target.corpus;
    let (one, other) = (mutator.below(corpus.len()), mutator.below(corpus.len()));
    (target.damage)(&mut mutator, &corpus[one], &corpus[other])
}

/// The files that once did harm to a reader, in the order of their names.
fn found(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/regressions");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    paths.sort();
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.split('-').next() == Some(target)
    });
    let read =
        |path: std::path::PathBuf| (path.display().to_string(), std::fs::read(&path).unwrap());
    paths.into_iter().map(read).collect()
}

#[derive(Default)]
struct Report {
    runs: u64,
    accepted: u64,
    failures: u64,
    seconds: f64,
    slowest: Duration,
    most: usize,
}

impl Report {
    fn add(&mut self, name: &str, file: &[u8], target: &Target) {
        let began = spent();
        BEGAN.store(began.as_secs(), Relaxed);
        let before = heap::now();
        heap::reset();
        let read = catch_unwind(AssertUnwindSafe(|| (target.read)(file)));
        let (took, most) = (spent().saturating_sub(began), heap::most_since(before));
        BEGAN.store(u64::MAX, Relaxed);
        self.runs += 1;
        self.seconds += took.as_secs_f64();
        self.slowest = self.slowest.max(took);
        self.most = self.most.max(most);
        let problem = match &read {
            Err(panic) => Some(words(panic.as_ref())),
            Ok(_) if most > MOST_BYTES.0 + MOST_BYTES.1 * file.len() => {
                Some(format!("took {most} bytes for {}", file.len()))
            }
            Ok(_) if took > LONGEST => Some(format!("took {took:?}")),
            Ok(answer) => {
                self.accepted += u64::from(answer.is_ok());
                if std::env::var("FUZZ_SHOW").is_ok() {
                    println!("{answer:?}");
                }
                None
            }
        };
        if let Some(problem) = problem {
            self.failures += 1;
            if self.failures <= TOLD as u64 {
                println!("{name}: {problem}");
            }
        }
    }

    fn print(&self, target: &Target) {
        let Self {
            runs,
            accepted,
            failures,
            seconds,
            ..
        } = self;
        println!(
            "{:12} {runs} runs, {accepted} accepted, {failures} failures; {seconds:.1} s, slowest {:.0} ms, most {:.1} MB",
            target.name,
            self.slowest.as_secs_f64() * 1e3,
            self.most as f64 / 1e6
        );
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a word"))
}

/// Time that the main thread, which runs the readers, had on a processor; on systems that do not tell it, time.
fn spent() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/self/schedstat").ok();
    let told = told.and_then(|text| text.split(' ').next()?.parse().ok());
    told.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Ends the process when a run does not end.
fn guard() {
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let began = BEGAN.load(Relaxed);
        if began != u64::MAX && spent().as_secs() > began.saturating_add(HUNG) {
            println!("run {} hangs", RUN.load(Relaxed));
            std::process::exit(2);
        }
    }
}
