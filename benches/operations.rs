//! Every operation of the machine by itself, then whole episodes.
//!
//! `cargo bench --no-default-features --bench operations` runs all, `… -- memory::` or `… -- sharpen` some,
//! `… -- --sample-count 20` faster. The machine is the paper's: 128 × 20, an LSTM of 100, one head of each
//! kind, shift ±1; what has one value or one memory row for each row also runs with more of them.
//!
//! Below the times stands how much goes by in a second: values of a vector (`item/s`), the bytes of the
//! weights or of the memory counted once (`B/s`), steps of an episode (`item/s`).
//!
//! `together` is for four episodes that go through the machine side by side. Several operations turn a
//! gradient in place: those over rows get it anew each time, which costs them one `copy`; the erase vectors
//! are zero, so that going back through a write leaves the gradient as it is.

#![expect(
    clippy::wildcard_imports,
    reason = "the modules are headings of one table"
)]

use std::iter;
use std::time::{Duration, Instant};

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use ndarray::Array2;
use tapescope::math::matrix::padded;
use tapescope::math::simd::{Kernel, Simd, dispatch};
use tapescope::math::{self, Aligned, Linear, Pack, Series, lstm};
use tapescope::model::attention::HeadColumns;
use tapescope::model::config::ControllerKind::{Feedforward, Lstm};
use tapescope::model::config::{ControllerKind, NtmConfig};
use tapescope::model::controller::feedforward;
use tapescope::model::head::HeadGradient;
use tapescope::model::{
    Draw, HeadTrace, Model, Params, TOGETHER, Trace, Workspace, addressing, content,
};
use tapescope::task::{Copy, Episode, Task};
use tapescope::train::{self, Clip, Optimizer, OptimizerConfig, Trainer, TrainingConfig};

const ROWS: [usize; 4] = [128, 1024, 8192, 65_536];
const STEPS: usize = 41;

fn main() {
    divan::main();
}

/// Makes a benchmark of every line `name => operation`. It is given a new value of the type (its `new` of each
/// argument), under the name in front, and counts what `count` of the value says.
macro_rules! benchmarks {
    ($value:ident: $type:ty, $argument:ty = $arguments:expr; $($name:ident => $operation:expr;)*) => {$(
        #[divan::bench(args = $arguments)]
        fn $name(bencher: Bencher, argument: $argument) {
            let mut value = <$type>::new(argument);
            time(bencher.counter(value.count()), || {
                let $value = black_box(&mut value);
                black_box($operation);
            });
        }
    )*};
}

/// Times an operation that has run for a moment: the size of a sample follows from the first of them.
fn time(bencher: Bencher, mut operation: impl FnMut()) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(2) {
        operation();
    }
    bencher.bench_local(operation);
}

/// Unequal values in (−1, 1), beginning at a cache line.
fn values(len: usize) -> Aligned<f32> {
    let mut values = Aligned::zeros(len);
    (0..len).for_each(|i| values[i] = (i as f32 * 0.7 + 0.3).sin());
    values
}

/// Positive values whose sum is 1.
fn distribution(len: usize) -> Aligned<f32> {
    let mut p = values(len);
    let sum: f32 = p.iter().map(|p| p + 1.1).sum();
    p.iter_mut().for_each(|p| *p = (*p + 1.1) / sum);
    p
}

fn task() -> Task {
    let length = 20..=20;
    Task::Copy(Copy { bits: 8, length })
}

/// A machine for copy that has run the first steps of an episode.
fn recorded(kind: ControllerKind, rows: usize, write_heads: usize, steps: usize) -> (Model, Trace) {
    let mut config = NtmConfig::new(task().inputs(), task().outputs());
    (config.rows, config.write_heads, config.controller.kind) = (rows, write_heads, kind);
    let (machine, mut trace) = (Model::new(config.clone(), 1), Trace::new(&config));
    machine.run(
        &Array2::from_elem((steps, config.inputs), 0.5),
        Draw::default(),
        &mut trace,
    );
    (machine, trace)
}

/// Linear maps, [inputs, outputs]: what recurs in the LSTM, what the feedforward controller sees, all heads.
mod linear {
    use super::*;

    struct Layer {
        linear: Linear<f32>,
        /// Of as many episodes as go side by side.
        x: [Aligned<f32>; TOGETHER],
        y: [Aligned<f32>; TOGETHER],
        /// x and dy of a whole episode.
        episode: [Series<f32>; 2],
    }

    impl Layer {
        fn new((inputs, outputs): (usize, usize)) -> Self {
            let mut linear = Linear::zeros(inputs, outputs);
            let weights = values(inputs * outputs);
            let elements = linear.weight.view_mut().into_iter().zip(&*weights);
            elements.for_each(|(to, &from)| *to = from);
            Self {
                linear,
                x: [(); TOGETHER].map(|()| values(inputs)),
                y: [(); TOGETHER].map(|()| values(padded(outputs))),
                episode: [inputs, padded(outputs)].map(|width| {
                    let mut series = Series::new(width);
                    series.resize(STEPS);
                    series
                        .as_mut_slice()
                        .copy_from_slice(&values(STEPS * width));
                    series
                }),
            }
        }

        fn count(&self) -> BytesCount {
            let weight = &self.linear.weight;
            BytesCount::of_many::<f32>(weight.rows() * weight.columns())
        }
    }

    fn pairs<'a, const B: usize>(
        from: &'a [Aligned<f32>],
        to: &'a mut [Aligned<f32>],
    ) -> [(&'a [f32], &'a mut [f32]); B] {
        let mut pairs = from.iter().zip(to).map(|(from, to)| (&**from, &mut **to));
        std::array::from_fn(|_| pairs.next().expect("no more than TOGETHER"))
    }

    benchmarks! { l: Layer, (usize, usize) = [(120, 400), (29, 100), (100, 92)];
        forward => l.linear.forward_from::<1>(0, pairs(&l.x, &mut l.y));
        forward_together => l.linear.forward_from::<TOGETHER>(0, pairs(&l.x, &mut l.y));
        backward => l.linear.backward_from::<1>(0, pairs(&l.y, &mut l.x));
        backward_together => l.linear.backward_from::<TOGETHER>(0, pairs(&l.y, &mut l.x));
        gradient => l.linear.set_gradient(iter::once((&l.episode[0], &l.episode[1])));
    }
}

/// One value for each memory row.
mod rows {
    use super::*;
    use tapescope::model::weighting::local::Window;
    use tapescope::model::weighting::{bayesian, hard};

    struct Rows {
        /// Any values, two distributions, a shift weighting.
        x: Aligned<f32>,
        p: Aligned<f32>,
        w: Aligned<f32>,
        s: [f32; 3],
        /// Where x as a gradient is turned in place.
        d: Aligned<f32>,
        /// What is written.
        y: Aligned<f32>,
        d_s: [f32; 3],
    }

    impl Rows {
        fn new(rows: usize) -> Self {
            Self {
                x: values(rows),
                p: distribution(rows),
                w: distribution(rows),
                s: [0.2, 0.7, 0.1],
                d: values(rows),
                y: values(rows),
                d_s: [0.0; 3],
            }
        }

        fn count(&self) -> ItemsCount {
            ItemsCount::new(self.x.len())
        }
    }

    /// Like `benchmarks!`, but where the vectors of the machine are; `$simd` stands for them.
    macro_rules! vector_benchmarks {
        ($simd:ident, $value:ident; $($name:ident => $operation:expr;)*) => {
            benchmarks! { v: Rows, usize = ROWS;
                $($name => {
                    struct Body<'a>(&'a mut Rows);
                    impl Kernel for Body<'_> {
                        type Output = ();
                        #[inline(always)]
                        fn with_simd<S: Simd>(self, $simd: S) {
                            let ($value, _) = (self.0, $simd);
                            black_box($operation);
                        }
                    }
                    dispatch::<f32, _>(Body(v))
                };)*
            }
        };
    }

    vector_benchmarks! { simd, v;
        copy => v.d.copy_from_slice(&v.x);
        exp => each(simd, Pack::exp, &v.x, &mut v.y);
        ln => each(simd, Pack::ln, &v.p, &mut v.y);
        tanh => each(simd, Pack::tanh, &v.x, &mut v.y);
        sigmoid => each(simd, math::sigmoid, &v.x, &mut v.y);
        softplus => each(simd, math::softplus, &v.x, &mut v.y);
        dot => math::softmax::dot(simd, &v.x, &v.p);
        softmax => math::softmax::softmax(simd, 1.7, &v.x, &mut v.y);
        softmax_backward => math::softmax::softmax_backward(simd, &v.p, &v.x, &mut v.y);
        content => content::content(simd, 1.7, &v.x, &mut v.y);
        content_backward => {
            v.d.copy_from_slice(&v.x);
            content::content_backward(simd, 1.7, &v.x, &v.p, &mut v.d)
        };
        local => window(v.x.len()).content(simd, 1.7, &v.x, &mut v.y);
        local_backward => {
            v.d.copy_from_slice(&v.x);
            window(v.x.len()).content_backward(simd, 1.7, &v.x, &v.p, &mut v.d)
        };
        weibull => {
            bayesian::perturb_weibull(simd, 1.7, &v.x, &v.p, 10.0, &mut v.y);
            math::softmax::softmax_in_place(simd, 1.0, &mut v.y);
        };
        lognormal => {
            bayesian::perturb_lognormal(simd, 1.7, &v.x, &v.p, 0.1, &mut v.y);
            math::softmax::softmax_in_place(simd, 1.0, &mut v.y);
        };
        hard => hard::drawn(&v.p, 0.5);
        hard_backward => {
            v.d.copy_from_slice(&v.x);
            hard::backward(simd, &v.p, Some(3), 0.1, 0.01, &mut v.d);
        };
        interpolate => addressing::interpolate(simd, 0.3, &v.p, &v.w, &mut v.y);
        interpolate_backward => {
            v.d.copy_from_slice(&v.x);
            addressing::interpolate_backward(simd, 0.3, &v.p, &v.w, &mut v.d, &mut v.y)
        };
        shift => addressing::shift(simd, &v.s, &v.p, &mut v.y);
        shift_backward =>
            addressing::shift_backward(simd, &v.s, &v.p, &v.x, &mut v.y, &mut v.d_s);
        sharpen => {
            addressing::logarithms(simd, &v.p, &mut v.y);
            addressing::sharpen(simd, 1.7, &mut v.y);
        };
        sharpen_backward => {
            v.d.copy_from_slice(&v.x);
            addressing::sharpen_backward(simd, 1.7, &v.p, &v.w, &mut v.d)
        };
    }

    /// About the middle row.
    fn window(rows: usize) -> Window<f32> {
        Window {
            centre: rows as f32 / 2.0,
            half: 4.0,
            is_gaussian: true,
        }
    }

    #[inline(always)]
    fn each<S: Simd>(
        simd: S,
        function: impl Fn(Pack<f32, S>) -> Pack<f32, S>,
        x: &[f32],
        y: &mut [f32],
    ) {
        let lanes = Pack::<f32, S>::LANES;
        for (y, x) in y.chunks_exact_mut(lanes).zip(x.chunks_exact(lanes)) {
            function(Pack::load(simd, x)).store(y);
        }
    }
}

/// What goes through the memory, [128 or more, 20].
mod memory {
    use super::*;
    use tapescope::math::similarity::{self, CosineGradient};
    use tapescope::model::memory::{self, WriteGradient};

    const COLUMNS: usize = 20;
    /// The step of the episode that is looked at.
    const T: usize = 2;

    struct Memory {
        /// M_{t-1}, column after column, with the norms of its rows.
        before: Aligned<f32>,
        norms: Aligned<f32>,
        /// A read head, two write heads.
        heads: Vec<HeadTrace>,
        /// Gradients, and what is written: of the shape of the memory, of a column, of a row.
        whole: [Aligned<f32>; 2],
        upstream: Aligned<f32>,
        column: [Aligned<f32>; 3],
        row: [Aligned<f32>; 3],
    }

    impl Memory {
        fn new(rows: usize) -> Self {
            let (_, mut trace) = recorded(Lstm, rows, 2, T + 1);
            for head in &mut trace.heads {
                head.erase.as_mut_slice().fill(0.0);
            }
            let (mut before, mut norms) = (values(rows * COLUMNS), values(rows));
            before.copy_from_slice(trace.memory_columns.row(T));
            norms.copy_from_slice(trace.norms.row(T));
            Self {
                before,
                norms,
                heads: trace.heads,
                whole: [(); 2].map(|()| values(rows * COLUMNS)),
                upstream: values(rows),
                column: [(); 3].map(|()| values(rows)),
                row: [(); 3].map(|()| values(COLUMNS)),
            }
        }

        fn count(&self) -> BytesCount {
            BytesCount::of_many::<f32>(self.before.len())
        }
    }

    benchmarks! { m: Memory, usize = ROWS;
        norms => similarity::norms(&m.before, 1e-6, &mut m.norms);
        cosines_of_two_heads => {
            let ([key, other_key], [to, other_to, _]) = (keys(&m.heads), &mut m.column);
            let pairs = [(key, &mut to[..]), (other_key, &mut other_to[..])];
            similarity::cosines(pairs, &m.before, 1e-6, &mut m.norms);
        };
        cosines_of_two_heads_backward => {
            let ([by, d_other, scratch], [d_key, d_other_key, _]) = (&mut m.column, &mut m.row);
            let gradients = [(&m.heads[0], by, d_key), (&m.heads[1], d_other, d_other_key)];
            let heads = gradients.map(|(head, d_similarity, d_key)| {
                d_similarity.copy_from_slice(&m.upstream);
                let (key, similarity) = (head.key.row(T), head.similarity.row(T));
                CosineGradient { key, similarity, d_similarity, d_key }
            });
            let norms = (&m.norms[..], 1e-6);
            similarity::cosines_backward(heads, &m.before, norms, &mut m.whole[0], scratch);
        };
        read_and_write => memory::read_and_write(&mut m.heads[..2], T, &m.before, &mut m.whole[0]);
        read_and_write_backward => {
            let (read, write_gradient) = gradients(&mut m.column, &mut m.row);
            let (reader, writer, d_memory) = (&m.heads[0], &m.heads[1], &mut m.whole[0]);
            memory::read_and_write_backward(reader, writer, T, &m.before, d_memory, read, write_gradient);
        };
        write_again => memory::write(&m.heads[1..2], T, &m.before, &mut m.whole[0]);
        read_and_two_writes => memory::read_and_write(&mut m.heads, T, &m.before, &mut m.whole[0]);
        read_and_two_writes_backward => {
            let ([d_memory, scratch], (reader, writers)) = (&mut m.whole, m.heads.split_at(1));
            for head in 0..2 {
                let (_, write_gradient) = gradients(&mut m.column, &mut m.row);
                memory::write_backward(writers, head, T, &m.before, d_memory, write_gradient, scratch);
            }
            memory::write_backward_memory(writers, T, d_memory);
            let ((d_read, d_reading), _) = gradients(&mut m.column, &mut m.row);
            memory::read_backward(&m.before, reader[0].weighting.row(T), d_read, d_reading, d_memory);
        };
    }

    fn keys(heads: &[HeadTrace]) -> [&[f32]; 2] {
        [heads[0].key.row(T), heads[1].key.row(T)]
    }

    fn gradients<'a>(
        [weighting, d_weighting, _]: &'a mut [Aligned<f32>; 3],
        [read, erase, add]: &'a mut [Aligned<f32>; 3],
    ) -> ((&'a [f32], &'a mut [f32]), WriteGradient<'a, f32>) {
        (
            (read, weighting),
            WriteGradient {
                weighting: d_weighting,
                erase,
                add,
            },
        )
    }
}

/// The scores other than the cosine, of one head: products with the rows (dot, scaled dot, general), and a layer of
/// units over them (additive, 8 units); on the way back with what was kept, or computed again.
mod scores {
    use super::*;
    use tapescope::math::units::{self, UnitActivation, Units, UnitsGradient};
    use tapescope::math::vectors;

    const COLUMNS: usize = 20;
    const UNITS: usize = 8;

    struct Scores {
        memory: Aligned<f32>,
        d_memory: Aligned<f32>,
        key: Aligned<f32>,
        d_key: Aligned<f32>,
        /// W [M, M], of which the first rows or columns are taken, and the gradient by it.
        weight: Aligned<f32>,
        d_weight: Aligned<f32>,
        vector: Aligned<f32>,
        start: Aligned<f32>,
        d_start: Aligned<f32>,
        /// One for each memory row, and the gradient by them.
        energies: Aligned<f32>,
        upstream: Aligned<f32>,
        kept: Aligned<f32>,
        scratch: Aligned<f32>,
        sums: Aligned<f32>,
    }

    impl Scores {
        fn new(rows: usize) -> Self {
            Self {
                memory: values(rows * COLUMNS),
                d_memory: values(rows * COLUMNS),
                key: values(COLUMNS),
                d_key: values(COLUMNS),
                weight: values(COLUMNS * COLUMNS),
                d_weight: values(COLUMNS * COLUMNS),
                vector: values(UNITS),
                start: values(UNITS),
                d_start: values(UNITS),
                energies: values(rows),
                upstream: values(rows),
                kept: values(rows * UNITS),
                scratch: values(units::scratch(UNITS, rows)),
                sums: values(units::sums::<f32>(COLUMNS, UNITS)),
            }
        }

        fn count(&self) -> BytesCount {
            BytesCount::of_many::<f32>(self.memory.len())
        }

        fn forward(&mut self) {
            let units = layer(&self.weight, &self.vector);
            units.forward(
                &self.start,
                &self.memory,
                &mut self.kept,
                &mut self.energies,
            );
        }

        fn backward(&mut self, is_kept: bool) {
            let by = UnitsGradient {
                start: &self.start,
                d_energies: &self.upstream,
                d_start: &mut self.d_start,
                sums: &mut self.sums,
                d_memory: &mut self.d_memory,
            };
            let kept = is_kept.then_some(&self.kept[..]);
            let units = layer(&self.weight, &self.vector);
            units.backward(by, &self.memory, kept, &mut self.scratch);
        }
    }

    fn layer<'a>(weight: &'a [f32], vector: &'a [f32]) -> Units<'a, f32> {
        Units {
            weight: &weight[..COLUMNS * UNITS],
            vector,
            activation: UnitActivation::Tanh,
        }
    }

    benchmarks! { s: Scores, usize = ROWS;
        products => vectors::vector_product(&s.key, &s.memory, &mut s.energies);
        products_backward => {
            let (of, d_key) = ((&s.key[..], &s.memory[..]), &mut s.d_key);
            vectors::vector_product_backward(of, &s.upstream, d_key, &mut s.d_memory);
        };
        units => s.forward();
        units_backward => s.backward(true);
        units_backward_again => s.backward(false);
    }
    benchmarks! { s: Scores, usize = [128];
        bilinear => vectors::vector_product(&s.key, &s.weight, &mut s.d_key);
        bilinear_backward => {
            let (upstream, d_weight) = (&s.upstream[..COLUMNS], &mut s.d_weight);
            vectors::vector_product_backward((&s.key, &s.weight), upstream, &mut s.d_key, d_weight);
        };
        layer_of_key => vectors::vector_product(&s.key, &s.weight[..COLUMNS * UNITS], &mut s.start);
    }
}

/// The elementwise part of a controller.
mod controller {
    use super::*;

    struct Layer {
        z: Aligned<f32>,
        gates: Aligned<f32>,
        dz: Aligned<f32>,
        before: Aligned<f32>,
        cell: Aligned<f32>,
        tanh: Aligned<f32>,
        hidden: Aligned<f32>,
    }

    impl Layer {
        fn new(units: usize) -> Self {
            Self {
                z: values(4 * units),
                gates: distribution(4 * units),
                dz: values(4 * units),
                before: values(units),
                cell: values(units),
                tanh: values(units),
                hidden: values(units),
            }
        }

        fn count(&self) -> ItemsCount {
            ItemsCount::new(self.hidden.len())
        }
    }

    benchmarks! { l: Layer, usize = [100];
        lstm_forward => {
            l.gates.copy_from_slice(&l.z);
            lstm::forward(&mut l.gates, &l.before, &mut l.cell, &mut l.tanh, &mut l.hidden);
        };
        lstm_backward => lstm::backward(&l.gates, &l.before, &l.tanh, &l.hidden, &mut l.cell, &mut l.dz);
        feedforward_forward => {
            l.hidden.copy_from_slice(&l.before);
            feedforward::forward(&mut l.hidden);
        };
        feedforward_backward => feedforward::backward(&l.hidden, &l.before, &mut l.cell);
    }
}

/// From the controller's numbers to what a head emits.
mod head {
    use super::*;
    use tapescope::model::head;

    struct Head {
        config: NtmConfig,
        trace: Trace,
        index: usize,
        columns: HeadColumns,
        gradient: HeadGradient<f32>,
        d_raw: Aligned<f32>,
    }

    impl Head {
        fn new(role: &str) -> Self {
            let (machine, trace) = recorded(Lstm, 128, 1, 1);
            let config = machine
                .config
                .ntm()
                .expect("a Neural Turing Machine")
                .clone();
            let index = usize::from(role == "write");
            Self {
                index,
                columns: config.head_columns(index),
                gradient: HeadGradient::of(&config, &trace.heads[index]),
                d_raw: values(trace.raw.width()),
                config,
                trace,
            }
        }

        fn count(&self) -> ItemsCount {
            ItemsCount::new(self.columns.all().len())
        }
    }

    benchmarks! { h: Head, &str = ["read", "write"];
        activate_all_heads => {
            let (config, Trace { raw, heads, .. }) = (&h.config, &mut h.trace);
            head::activate(config, raw.row(0), heads, 0);
        };
        activate_backward => {
            let (head, raw) = (&h.trace.heads[h.index], h.trace.raw.row(0));
            head::activate_backward(&h.config, head, 0, &h.gradient, raw, &mut h.d_raw);
        };
    }
}

/// Whole episodes of 41 steps.
#[divan::bench_group(max_time = 2)]
mod episode {
    use super::*;

    /// The kind of controller, memory rows, episodes.
    type Machine = (ControllerKind, usize, usize);
    const LARGE: [Machine; 3] = [(Lstm, 1024, 1), (Lstm, 8192, 1), (Lstm, 65_536, 1)];

    fn machines(together: usize) -> impl Iterator<Item = Machine> {
        let standard = [(Feedforward, 128, 1), (Lstm, 128, 1), (Lstm, 128, together)];
        standard.into_iter().chain(LARGE)
    }

    struct Learning {
        machine: Model,
        episode: Episode,
        traces: Vec<Trace>,
        workspaces: Vec<Workspace>,
        gradient: Params,
    }

    impl Learning {
        fn new((kind, rows, episodes): Machine) -> Self {
            let (machine, trace) = recorded(kind, rows, 1, 1);
            let mut learning = Self {
                episode: task().episode(1, 0),
                traces: vec![trace; episodes],
                workspaces: (0..episodes)
                    .map(|_| Workspace::new(&machine.config))
                    .collect(),
                gradient: Params::zeros(&machine.config),
                machine,
            };
            learning.forward();
            for (trace, workspace) in learning.traces.iter().zip(&mut learning.workspaces) {
                train::logit_gradient(&learning.episode, trace, 1.0, &mut workspace.upstream.logit);
            }
            learning
        }

        fn count(&self) -> ItemsCount {
            ItemsCount::new(STEPS * self.traces.len())
        }

        fn forward(&mut self) {
            let inputs = iter::repeat_n((&self.episode.input, Draw::default()), self.traces.len());
            self.machine.run_together(inputs, 1 << 24, &mut self.traces);
        }

        fn backward(&mut self) {
            let gradient = &mut self.gradient;
            self.machine
                .backward(&self.traces, &mut self.workspaces, gradient);
        }
    }

    /// The trainer makes groups of four of a batch of 16.
    struct Training(Trainer);

    impl Training {
        fn new((kind, rows, batch): Machine) -> Self {
            let training = TrainingConfig {
                optimizer: optimizer::RMS_PROP,
                clip: Clip::Elementwise(10.0),
                batch,
                sequences: u64::MAX,
                validation_every: u64::MAX,
                validation_episodes: 1,
                ..TrainingConfig::default()
            };
            let (machine, _) = recorded(kind, rows, 1, 1);
            Self(Trainer::new(task(), machine.config, training, 1))
        }

        fn count(&self) -> ItemsCount {
            ItemsCount::new(STEPS * self.0.config.batch)
        }
    }

    benchmarks! { l: Learning, Machine = machines(TOGETHER);
        forward => l.forward();
        backward => l.backward();
        forward_backward => {
            l.forward();
            l.backward();
        };
    }
    benchmarks! { t: Training, Machine = machines(16);
        update => t.0.update().expect("finite");
    }
}

/// What an update does with a gradient.
mod optimizer {
    use super::*;

    pub(super) const RMS_PROP: OptimizerConfig = OptimizerConfig::RmsProp {
        learning_rate: 1e-4,
        decay: 0.95,
        momentum: 0.9,
        epsilon: 1e-4,
    };
    const ADAM: OptimizerConfig = OptimizerConfig::Adam {
        learning_rate: 1e-4,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
    };

    struct Update {
        optimizers: [Optimizer; 2],
        params: Params,
        gradient: Params,
    }

    impl Update {
        fn new(kind: ControllerKind) -> Self {
            let (machine, _) = recorded(kind, 128, 1, 1);
            Self {
                optimizers: [RMS_PROP, ADAM].map(|rule| Optimizer::new(rule, &machine.config)),
                gradient: machine.params.clone(),
                params: machine.params,
            }
        }

        fn count(&self) -> ItemsCount {
            ItemsCount::new(self.params.shape().count())
        }
    }

    benchmarks! { u: Update, ControllerKind = [Feedforward, Lstm];
        clip_elements => train::clip(&mut u.gradient, Clip::Elementwise(10.0));
        clip_norm => train::clip(&mut u.gradient, Clip::GlobalNorm(10.0));
        rms_prop => u.optimizers[0].update(&mut u.params, &u.gradient, 1.0);
        adam => u.optimizers[1].update(&mut u.params, &u.gradient, 1.0);
    }
}
