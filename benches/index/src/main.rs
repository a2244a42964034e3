//! Indexes of nearest neighbours on the work of sparse access memory: the one of this project, crates, and exact search.
//! 20 columns, the four rows of the largest cosine, rows that are replaced between queries; see ../README.md.
//!
//! `cargo run --release -- --rows 1024,65536`; `--only NAME,NAME` measures these indexes, `--no-second` does not build again to
//! compare the answers. Every index of every size is measured in a process of its own.

// The files of the core, compiled in here: what is measured is not public.
#[allow(dead_code, missing_docs)]
#[path = "../../../src/core/keys.rs"]
mod keys;
#[allow(dead_code, unused_imports, unfulfilled_lint_expectations)]
#[path = "../../../src/core/math/mod.rs"]
mod math;
#[allow(dead_code, unused_imports, unfulfilled_lint_expectations)]
#[path = "../../../src/core/model/sparse/mod.rs"]
mod sparse;

mod indexes;

use std::time::Instant;

use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

use indexes::{Exact, HnswRs, Index, InstantDistance, Kiddo, Ours, Row, SEARCHED_WITH, Usearch};

/// Rows that a query asks for.
const NEAREST: usize = 4;
/// Keys of each set, and rows that are replaced.
const KEYS: usize = 300;
/// Rounds, of which the middle counts.
const ROUNDS: usize = 3;

fn main() {
    let options: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = options.iter().position(|option| option == name);
        at.and_then(|at| options.get(at + 1)).cloned()
    };
    let rows = value("--rows").unwrap_or_else(|| "1024,65536,1048576".into());
    let is_twice = !options.iter().any(|option| option == "--no-second");
    if let Some(name) = &value("--one") {
        let rows = rows.parse().expect("a number of rows");
        match name.as_str() {
            "exact" => measure::<Exact>(name, rows, is_twice),
            "ours" => measure::<Ours>(name, rows, is_twice),
            "hnsw_rs" => measure::<HnswRs>(name, rows, is_twice),
            "instant-distance" => measure::<InstantDistance>(name, rows, is_twice),
            "usearch" => measure::<Usearch<false>>(name, rows, is_twice),
            "usearch-small" => measure::<Usearch<true>>(name, rows, is_twice),
            "kiddo" => measure::<Kiddo>(name, rows, is_twice),
            _ => panic!("no index has the name {name}"),
        }
        return;
    }
    println!(
        "| rows | index | build, s | MiB | replace, µs | query, µs: random keys | near keys | of four found: random | near | nearest found: near | other answers of a second build: 1 thread | 2 threads | digest |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"
    );
    let all = "exact,ours,hnsw_rs,instant-distance,usearch,usearch-small,kiddo";
    let names = value("--only").unwrap_or_else(|| all.into());
    for rows in rows.split(',') {
        for name in names.split(',') {
            let program = std::env::current_exe().expect("this program");
            let mut process = std::process::Command::new(program);
            process.args(["--rows", rows, "--one", name]);
            process.args((!is_twice).then_some("--no-second"));
            process.status().expect("this program runs");
        }
    }
}

/// A row of length 1 from values between −1 and 1.
fn unit(values: impl FnMut() -> f32) -> Row {
    let mut row = Row::default();
    row.fill_with(values);
    let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    row.map(|x| x / norm)
}

/// Resident memory of this process, in MiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(f64::NAN) / 1024.0
}

fn answers<I: Index>(index: &mut I, keys: &[Row], count: usize) -> Vec<Vec<u32>> {
    keys.iter().map(|key| index.find(key, count)).collect()
}

/// The answers, and the middle of the microseconds of a query.
fn queries<I: Index>(index: &mut I, keys: &[Row]) -> (Vec<Vec<u32>>, f64) {
    let mut found = Vec::new();
    let mut times = [0.0; ROUNDS].map(|_: f64| {
        let start = Instant::now();
        found = answers(index, keys, NEAREST);
        start.elapsed().as_secs_f64() * 1e6 / keys.len() as f64
    });
    times.sort_by(f64::total_cmp);
    (found, times[ROUNDS / 2])
}

fn measure<I: Index>(name: &str, count: usize, is_twice: bool) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut uniform = || 2.0 * random.random::<f32>() - 1.0;
    let mut rows: Vec<Row> = (0..count).map(|_| unit(&mut uniform)).collect();
    let changes: Vec<Row> = (0..KEYS).map(|_| unit(&mut uniform)).collect();
    let drawn: Vec<Row> = (0..KEYS).map(|_| unit(&mut uniform)).collect();
    let noise: Vec<Row> = (0..KEYS).map(|_| unit(&mut uniform)).collect();
    // Rows spread over the memory are replaced; of the near keys half are near to a row that was replaced.
    let changed = |at: usize| at * count / KEYS;
    let near_to = |at: usize| changed(at) + at % 2 * (count / KEYS / 2).max(1);

    let before = resident();
    let start = Instant::now();
    let mut index = I::new(&rows, 1);
    let build = start.elapsed().as_secs_f64();
    let memory = resident() - before;
    // Before any change: the answers of a second build, and of one by two threads, to the last row that is looked at.
    let mut differ = [const { String::new() }; 2];
    if is_twice {
        let first = answers(&mut index, &drawn, SEARCHED_WITH);
        let threads = if I::HAS_THREADS { 1..=2 } else { 1..=1 };
        for (threads, differ) in threads.zip(&mut differ) {
            let second = answers(&mut I::new(&rows, threads), &drawn, SEARCHED_WITH);
            let pairs = first.iter().zip(&second);
            *differ = format!("{} of {KEYS}", pairs.filter(|(a, b)| a != b).count());
        }
    }
    let start = Instant::now();
    let can_change = (0..)
        .zip(&changes)
        .all(|(at, row)| index.replace(changed(at), row));
    let replace = start.elapsed().as_secs_f64() * 1e6 / KEYS as f64;
    if can_change {
        (0..)
            .zip(&changes)
            .for_each(|(at, row)| rows[changed(at)] = *row);
    }
    let near = (0..).zip(&noise).map(|(at, noise)| {
        let row = rows[near_to(at).min(count - 1)];
        let mut values = row.iter().zip(noise).map(|(row, noise)| row + 0.2 * noise);
        unit(|| values.next().unwrap_or_default())
    });
    let near: Vec<Row> = near.collect();

    let [of_drawn, of_near] = [&drawn, &near].map(|keys| queries(&mut index, keys));
    let digest = of_drawn.0.iter().chain(&of_near.0).flatten();
    let digest = digest.fold(0xcbf2_9ce4_8422_2325_u64, |hash, &row| {
        (hash ^ u64::from(row)).wrapping_mul(0x100_0000_01b3)
    });
    drop(index);
    let mut exact = Exact::new(&rows, 1);
    let share = |found: &[Vec<u32>], right: &[Vec<u32>]| {
        let pairs = found.iter().zip(right);
        let hits =
            pairs.map(|(found, right)| right.iter().filter(|row| found.contains(row)).count());
        hits.sum::<usize>() as f64 / (NEAREST * KEYS) as f64
    };
    let [right_drawn, right_near] = [&drawn, &near].map(|keys| answers(&mut exact, keys, NEAREST));
    let cosine = |key: &Row, row: u32| {
        let pairs = key.iter().zip(&rows[row as usize]);
        pairs.map(|(a, b)| a * b).sum::<f32>()
    };
    let nearest = near.iter().zip(&right_near).map(|(key, right)| {
        let best = right
            .iter()
            .max_by(|&&a, &&b| cosine(key, a).total_cmp(&cosine(key, b)));
        *best.unwrap_or(&0)
    });
    let hits = nearest
        .zip(&of_near.0)
        .filter(|(best, found)| found.contains(best));
    let nearest = hits.count() as f64 / KEYS as f64;
    let [one, two] = differ;
    let replace = if can_change {
        format!("{replace:.1}")
    } else {
        "cannot".into()
    };
    println!(
        "| {count} | {name} | {build:.3} | {memory:.1} | {replace} | {:.1} | {:.1} | {:.3} | {:.3} | {nearest:.3} | {one} | {two} | {digest:016x} |",
        of_drawn.1,
        of_near.1,
        share(&of_drawn.0, &right_drawn),
        share(&of_near.0, &right_near),
    );
}
