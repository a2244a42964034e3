//! Interrupts training runs at random and resumes them: every result must equal that of an uninterrupted
//! run, to the last bit, and no other file may be left.
//!
//! `cargo test --release --test kills`, or `cargo test --release --test kills -- 1000` for as many runs; some seconds each.

#[cfg(unix)]
#[path = "interrupted_run.rs"]
mod interrupted_run;

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    use std::time::Duration;

    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};

    const MOST_BREAKS: usize = 5;
    let runs = std::env::args().skip(1).find_map(|text| text.parse().ok());
    let runs: usize = runs.unwrap_or(100);
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(1);
    let test_run = interrupted_run::TestRun::new(
        r#"{"task": {"kind": "copy", "bits": 4, "length": [1, 4]},
        "model": {"memory": {"rows": 32, "columns": 10}, "controller": {"size": 64}},
        "training": {"sequences": 4000, "validation_every": 50, "validation_episodes": 2}}"#,
    );
    let mut all = interrupted_run::Counts::default();
    for run in 1..=runs {
        let number = random.random_range(1..=MOST_BREAKS);
        let breaks: Vec<_> = (0..number)
            .map(|_| {
                let mut pause = |most: u64| Duration::from_micros(random.random_range(0..most));
                let pauses = [pause(600_000), pause(20_000)];
                // Half of them at once, the others in the middle of what the signal brings about.
                let signal = ["KILL", "KILL", "TERM", "INT", "HUP"][random.random_range(0..5)];
                interrupted_run::Interruption {
                    lines: 0,
                    pause: pauses[0],
                    signal,
                    killed_after: random.random_bool(0.5).then_some(pauses[1]),
                }
            })
            .collect();
        let counts = test_run.interrupt_and_resume(breaks);
        all.breaks += counts.breaks;
        all.temporaries += counts.temporaries;
        all.in_the_middle += counts.in_the_middle;
        println!("run {run}: the same end after {} breaks", counts.breaks);
    }
    println!(
        "{runs} runs, {} breaks ({} left a checkpoint from the middle, {} a named temporary file): {runs} identical ends, no stray file",
        all.breaks, all.in_the_middle, all.temporaries
    );
}
