//! How much of what the processor could compute is computed: `cargo bench --no-default-features --bench roofline`.
//!
//! For each case of `throughput` it prints the floating-point operations of a training sequence, counted from the sizes by
//! the formulas below, the share of each part, the measured rate, and that rate as a share of the measured peak: fused
//! multiply-adds (two operations each) on values in registers. An exponential, a logarithm, a root or a division counts as
//! one operation, so elementwise parts need more time than their share says.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tapescope::math::Pack;
use tapescope::math::simd::{Kernel, Simd, dispatch, instruction_set};
use tapescope::model::NtmConfig;
use tapescope::model::config::ControllerKind;
use tapescope::task::{Copy, Task};
use tapescope::train::Trainer;
use tapescope_benches::training;

const LENGTH: usize = 20;
/// Time of one measurement, and the number of them.
const WINDOW: Duration = Duration::from_millis(600);
const ROUNDS: usize = 5;

/// Independent sums, enough to keep every unit of the processor busy.
const SUMS: usize = 12;
/// Multiply-adds of each sum.
const LOOPS: usize = 20_000;

/// Multiply-adds in registers; returns the number of operations.
struct Peak;

impl Kernel for Peak {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let lanes = Pack::<f32, S>::LANES;
        // Unknown numbers: the result of known ones would be computed once, and that of equal ones for all of them.
        let [by, plus] = black_box([0.999_f32, 0.001]).map(|x| Pack::splat(simd, x));
        let mut sums = black_box([Pack::splat(simd, 1.0_f32); SUMS]);
        for _ in 0..LOOPS {
            for sum in &mut sums {
                *sum = sum.mul_add(by, plus);
            }
        }
        black_box(sums.map(Pack::sum));
        (2 * lanes * SUMS * LOOPS) as f64
    }
}

/// Operations of a sequence by part, forward and backward, and of the update.
fn counted(
    config: &NtmConfig,
    [inputs, outputs, steps, batch]: [usize; 4],
    weights: usize,
) -> Vec<(&'static str, f64)> {
    let [n, m, h] = [config.rows, config.columns, config.controller.size].map(|size| size as f64);
    let [inputs, outputs, steps, batch] = [inputs, outputs, steps, batch].map(|size| size as f64);
    let [reads, writes] = [config.read_heads, config.write_heads].map(|heads| heads as f64);
    let heads = reads + writes;
    // A product with a matrix forward, then the derivatives of its input and of its weights.
    let matrix = |from: f64, to: f64| 6.0 * from * to;
    let seen = inputs + reads * m;
    let controller = match config.controller.kind {
        ControllerKind::Lstm => matrix(seen + h, 4.0 * h) + 3.0 * 9.0 * h,
        ControllerKind::Feedforward => matrix(seen, h) + 3.0 * h,
    };
    // Key, β, g, three shifts and γ; of a write head erase and add, too.
    let emitted = heads * (m + 6.0) + writes * 2.0 * m;
    let linear = matrix(h, emitted) + matrix(h + reads * m, outputs);
    // Norms of the rows once, products with the key of each head; backward for key, rows and norms.
    let content = 2.0 * n * m + heads * (2.0 + 6.0) * n * m;
    // Similarity, softmax, interpolation, shift and sharpening, each about three times as much with its derivative.
    let addressing = heads * 3.0 * (3.0 + 4.0 + 3.0 + 6.0 + 3.0) * n;
    let memory = reads * (2.0 + 4.0) * n * m + writes * (5.0 + 11.0) * n * m;
    let update = 10.0 * weights as f64 / batch;
    vec![
        ("controller", steps * controller),
        ("linear maps", steps * linear),
        ("content", steps * content),
        ("weightings", steps * addressing),
        ("memory", steps * memory),
        ("update", update),
    ]
}

/// The best of some rates, in operations per second.
fn peak() -> f64 {
    let rate = || {
        let (start, mut operations) = (Instant::now(), 0.0);
        while start.elapsed() < WINDOW / 4 {
            operations += dispatch::<f32, _>(Peak);
        }
        operations / start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(|_| rate()).fold(0.0, f64::max)
}

fn main() {
    let peak_before = peak();
    println!("instruction set {}, one thread", instruction_set());
    for (kind, batch) in [
        (ControllerKind::Lstm, 1),
        (ControllerKind::Feedforward, 1),
        (ControllerKind::Lstm, 16),
        (ControllerKind::Feedforward, 16),
    ] {
        let task = Task::Copy(Copy {
            bits: 8,
            length: LENGTH..=LENGTH,
        });
        let mut config = NtmConfig::new(task.inputs(), task.outputs());
        config.controller.kind = kind;
        let sizes = [task.inputs(), task.outputs(), task.longest(), batch];
        let mut trainer = Trainer::new(task, config.clone(), training(batch), 1);
        let weights = trainer.state.machines[0].params.shape().count() as usize;
        let parts = counted(&config, sizes, weights);
        let all: f64 = parts.iter().map(|(_, count)| count).sum();
        let mut rates: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let (start, mut sequences) = (Instant::now(), 0);
                while start.elapsed() < WINDOW {
                    trainer.update().expect("finite");
                    sequences += batch;
                }
                sequences as f64 / start.elapsed().as_secs_f64()
            })
            .collect();
        rates.sort_by(f64::total_cmp);
        let (rate, peak) = (rates[ROUNDS / 2], peak().max(peak_before));
        let shares = parts
            .iter()
            .map(|(name, count)| format!("{name} {:.0} %", 100.0 * count / all));
        println!(
            "{kind:?}, batch {batch}: {:.2} million operations per sequence ({}); {rate:.0} sequences/s, {:.1} of {:.1} Gflop/s, {:.0} % of the peak",
            all / 1e6,
            shares.collect::<Vec<_>>().join(", "),
            all * rate / 1e9,
            peak / 1e9,
            100.0 * all * rate / peak
        );
    }
}
