//! Training time per step of sparse access memory, from 1,024 to 1,048,576 rows, beside the Neural Turing Machine on the same rows:
//! 20 columns, four rows a read, one head, an LSTM of 100, episodes of copy with 101 steps, one at a time, one thread.
//!
//! `cargo bench --bench growth_sam -- --seconds 2 --rounds 3`; `--rows 1024,65536` has other rows, `--no-ntm` leaves the
//! Neural Turing Machine out, `--exact` searches exactly. All rows are drawn, so that every row is like some keys, before
//! the time is taken. Prints a row of a table for each: the middle, the lowest and the highest of the rounds.

#[expect(dead_code, reason = "counts allocations, too")]
#[path = "../tests/fuzz/heap.rs"]
mod heap;

use std::time::Instant;

use tapescope::keys::Choice as _;
use tapescope::model::config::InitialMemory;
use tapescope::model::sam::search_misses;
use tapescope::model::{Draw, Model, ModelConfig, NtmConfig, SamConfig, Search, Trace};
use tapescope::task::{Copy, Task};
use tapescope::train::{Demand, Trainer};
use tapescope_benches::{Options, training};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Bytes beyond which nothing is tried.
const LARGEST: u64 = 2 << 30;

fn main() {
    let options = Options::read();
    let seconds: f64 = options.value("--seconds", "1");
    let rounds: usize = options.value("--rounds", "3");
    let rows: String = options.value("--rows", "1024,4096,16384,65536,262144,1048576");
    let task = Task::Copy(Copy {
        bits: 8,
        length: 50..=50,
    });
    println!(
        "| rows | machine | µs a step | first update, s | memory, MiB | index, MiB | beyond, MiB | rows that exact search would not read |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for rows in rows.split(',') {
        let rows: usize = rows.parse().expect("a number of rows");
        let mut sam = SamConfig::new(task.inputs(), task.outputs());
        (sam.rows, sam.search) = (rows, Search::Hashed);
        (sam.seed, sam.initial_memory) = (1, InitialMemory::Constant(0.01));
        if options.has("--exact") {
            sam.search = Search::Exact;
        }
        measure(&task, &sam.into(), seconds, rounds);
        if !options.has("--no-ntm") {
            let mut ntm = NtmConfig::new(task.inputs(), task.outputs());
            ntm.rows = rows;
            measure(&task, &ntm.into(), seconds, rounds);
        }
    }
}

fn measure(task: &Task, config: &ModelConfig, seconds: f64, rounds: usize) {
    let steps = task.longest();
    let (batch, threads, machines) = (1, 1, 1);
    let demand = Demand::Training {
        batch,
        samples: 1,
        threads,
        machines,
    };
    let (rows, kind) = (config.rows(), config.word());
    let takes = demand.bytes(config, steps);
    if takes > LARGEST {
        println!("| {rows} | {kind} | takes {} MiB | | | | | |", takes >> 20);
        return;
    }
    let before = heap::now();
    heap::reset();
    let mut trainer = Trainer::new(task.clone(), config.clone(), training(1), 1);
    let start = Instant::now();
    trainer.update().expect("finite");
    let first = start.elapsed().as_secs_f64();
    let mut round = || {
        let (start, mut updates) = (Instant::now(), 0);
        while updates == 0 || start.elapsed().as_secs_f64() < seconds {
            trainer.update().expect("finite");
            updates += 1;
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(updates * steps as u32)
    };
    let mut times: Vec<f64> = (0..rounds).map(|_| round()).collect();
    times.sort_by(f64::total_cmp);
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let held = heap::most_since(before);
    let (mut memory, mut index, mut others) = (0, 0, String::new());
    if let ModelConfig::Sam(sam) = &config {
        let bytes = sam.plan().bytes(sam.touched(steps), size_of::<f32>());
        (memory, index) = (bytes.memory, bytes.index);
        let machine = Model::<f32>::new(config.clone(), 1);
        let mut trace = Trace::new(config);
        machine.run(&task.episode(1, 0), Draw::default(), &mut trace);
        let found = search_misses(sam, &trace).unwrap_or_default();
        others = format!("{} of {}", found.other_rows, found.rows);
    }
    println!(
        "| {rows} | {kind} | {:.1} ({:.1} to {:.1}) | {first:.2} | {:.1} | {:.1} | {:.1} | {others} |",
        times[rounds / 2],
        times[0],
        times[rounds - 1],
        mib(memory),
        mib(index),
        mib(held as u64) - mib(memory + index),
    );
}
