//! Golden values of whole sequences, a dense reference, and what a sparse memory promises.
#![cfg(test)]

use std::slice::from_mut;

use ndarray::Array2;

use super::kind::{AGE, AT_EARLIER, AT_RECORDED, COSINES, ROW, ROWS, WEIGHTS};
use super::{SamConfig, search_misses};
use crate::keys::Words;
use crate::math::Answer;
use crate::math::check::random_vector;
use crate::math::golden::Case;
use crate::model::array;
use crate::model::config::{ControllerConfig, ControllerKind, InitialMemory};
use crate::model::sparse::Search;
use crate::model::{
    Conventions, Draw, Keep, Kind, Machine, Model, ModelConfig, Number, Params, Place, Trace,
    Workspace,
};

/// The machine of a golden case, with its weights.
fn machine(case: &Case, search: Search) -> (SamConfig, Model<f64>) {
    let size = |name| case.size(name);
    let config = SamConfig {
        rows: size("N"),
        columns: size("W"),
        initial_memory: InitialMemory::Learned,
        controller: ControllerConfig {
            kind: ControllerKind::Lstm,
            size: size("C"),
            layers: 1,
        },
        heads: size("R"),
        read_rows: size("K"),
        threshold: case.constant("delta"),
        similarity_epsilon: 0.0,
        search,
        ..SamConfig::new(size("X"), size("Y"))
    };
    let mut params = Params::<f64>::zeros(&config);
    params.change(|name, mut tensor| {
        let values = golden(case, "parameters", name, &config);
        tensor
            .iter_mut()
            .zip(values)
            .for_each(|(to, from)| *to = from);
    });
    let model = Model {
        config: config.clone().into(),
        params,
    };
    (config, model)
}

/// A tensor of a case as it stands here.
fn golden(case: &Case, part: &str, name: &str, config: &SamConfig) -> Vec<f64> {
    let memory = if part == "parameters" { "inputs" } else { part };
    match name {
        "initial.memory" => case.numbers(memory, "memory"),
        "initial.hidden" | "initial.cell" => vec![0.0; config.controller.size],
        "controller0.weight" => case.transposed(part, "controller.W"),
        "controller0.bias" => case.numbers(part, "controller.b"),
        "output.weight" => case.transposed(part, "out.W"),
        "output.bias" => case.numbers(part, "out.b"),
        _ => {
            // There k, β, a, α and γ of a head stand side by side; here those of the read heads come first.
            let (head, tensor) = name.split_once('.').unwrap();
            let (kind, index) = head.split_at(head.len() - 1);
            let (m, index) = (config.columns, index.parse::<usize>().unwrap());
            let first = index * (2 * m + 3);
            let rows: Vec<usize> = if kind == "read" {
                (first..=first + m).collect()
            } else {
                (first + m + 1..first + 2 * m + 3).collect()
            };
            if tensor == "bias" {
                let all = case.numbers(part, "interface.b");
                return rows.iter().map(|&row| all[row]).collect();
            }
            let (all, c) = (case.numbers(part, "interface.W"), config.controller.size);
            let of = |unit: usize| rows.iter().map(move |row| (row, unit));
            (0..c)
                .flat_map(of)
                .map(|(row, unit)| all[row * c + unit])
                .collect()
        }
    }
}

fn close(name: &str, found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len(), "{name}");
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let is_close = (found - wanted).abs() <= 1e-10 * wanted.abs().max(1.0);
        assert!(is_close, "{name}[{i}] is {found}, not {wanted}");
    }
}

/// Every output of a case, and every gradient, with either search: the hashed one finds everything where there is little.
#[test]
fn golden_values_and_gradients() {
    let searches = [Search::Exact, Search::Hashed];
    for (name, search) in searches.map(|by| [("sam_a", by), ("sam_b", by)]).concat() {
        let case = Case::of_folder("dnc", name);
        let (config, model) = machine(&case, search);
        let (steps, rows) = (case.size("T"), config.rows);
        let x = case.numbers("inputs", "x");
        let input = Array2::from_shape_fn((steps, config.inputs), |(t, i)| {
            x[t * config.inputs + i] as f32
        });
        let mut trace = Trace::new(&model.config);
        model.run(&input, Draw::default(), &mut trace);
        case.assert_close("outputs", "logits", trace.logit.as_slice());
        let (k, m, heads) = (config.read_rows, config.columns, config.heads);
        let by_head = |array: &str| case.numbers("outputs", array);
        let (erased, wanted_rows) = (by_head("erased"), by_head("rows"));
        let (similarity, weights) = (by_head("similarity"), by_head("reads_w"));
        let (reads, memory) = (by_head("read"), by_head("memory"));
        let sam = config.recorded();
        let mut again = trace.clone();
        for t in 0..steps {
            for head in 0..heads {
                let at = t * heads + head;
                let of = |place, array| trace.series(Place::Head(place), array).unwrap().row(t);
                assert_eq!(of(heads + head, ROW), [erased[at]], "{name} {t}");
                let rows_of = of(head, ROWS);
                assert_eq!(rows_of, &wanted_rows[at * k..][..k], "{name} {t}");
                let at_rows = |all: &[f64]| {
                    let all = rows_of.iter().map(|&row| all[at * rows + row as usize]);
                    all.collect::<Vec<_>>()
                };
                close(name, of(head, COSINES), &at_rows(&similarity));
                close(name, of(head, WEIGHTS), &at_rows(&weights));
                close(name, of(head, array::READ), &reads[at * m..][..m]);
            }
            // The memory, and the weights of the writes.
            sam.after(&mut again, t);
            for row in 0..rows {
                close(
                    &format!("{name} memory {t} {row}"),
                    &again.sparse.row(row)[..m],
                    &memory[(t * rows + row) * m..][..m],
                );
            }
            for head in 0..heads {
                let mut dense = vec![0.0; rows];
                for (row, weight) in config.written(config.pair(&trace.heads, head), t) {
                    dense[row] += weight;
                }
                let wanted = by_head("write");
                close(
                    "write",
                    &dense,
                    &wanted[(t * heads + head) * rows..][..rows],
                );
            }
        }
        // Gradients of the cross-entropy.
        let target = case.numbers("inputs", "target");
        let mut workspace = [Workspace::new(&model.config)];
        let y = config.outputs;
        let by = &mut workspace[0].upstream.logit;
        by.resize(steps);
        for t in 0..steps {
            for i in 0..y {
                by.row_mut(t)[i] = trace.output.row(t)[i] - target[t * y + i];
            }
        }
        let mut gradient = Params::zeros(&model.config);
        model.backward(std::slice::from_ref(&trace), &mut workspace, &mut gradient);
        for (tensor, found) in gradient.named() {
            if !["initial.hidden", "initial.cell"].contains(&&*tensor) {
                let found: Vec<f64> = found.iter().copied().collect();
                let wanted = golden(&case, "gradients", &tensor, &config);
                close(&format!("{name} {tensor}"), &found, &wanted);
            }
        }
        let mut upstream = crate::model::Upstream::new(&model.config);
        upstream.logit = workspace[0].upstream.logit.clone();
        let derivatives = model.derivatives(&trace, upstream);
        case.assert_close("gradients", "x", derivatives.input.as_slice());
        assert_eq!(trace.setting.answer, Answer::Bits);
    }
}

/// A small machine with a random memory: two heads, few rows, so that heads meet.
fn small(kind: ControllerKind, search: Search) -> SamConfig {
    SamConfig {
        rows: 40,
        columns: 5,
        heads: 2,
        read_rows: 3,
        threshold: 0.1,
        initial_memory: InitialMemory::Constant(0.01),
        seed: 1,
        search,
        controller: ControllerConfig {
            kind,
            size: 9,
            layers: 2,
        },
        ..SamConfig::new(3, 2)
    }
}

fn input(steps: usize, of: usize) -> Array2<f32> {
    Array2::from_shape_fn((steps, 3), |(t, x)| ((of * 31 + t * 3 + x) as f32).sin())
}

/// Runs an episode, and back, in a trace and a workspace that others used before.
fn learn<R: Number>(
    model: &Model<R>,
    input: &Array2<f32>,
    trace: &mut Trace<R>,
    workspace: &mut Workspace<R>,
) -> Params<R> {
    let episodes = [(input, Draw::default())].into_iter();
    model.run_together(episodes, usize::MAX, from_mut(trace));
    let steps = input.nrows();
    workspace.upstream.logit.resize(steps);
    for (t, values) in random_vector(2, 2 * steps).chunks(2).enumerate() {
        let to = workspace.upstream.logit.row_mut(t).iter_mut();
        to.zip(values)
            .for_each(|(to, &from)| *to = R::from_f64(from));
    }
    let mut gradient = Params::zeros(&model.config);
    let traces = std::slice::from_ref(trace);
    model.backward(traces, from_mut(workspace), &mut gradient);
    gradient
}

/// Every M_t, kept whole: what the tape must give back, and what the rows in slots must be.
#[test]
fn the_tape_has_the_bits_of_a_memory_that_is_kept_at_every_step() {
    for search in [Search::Exact, Search::Hashed] {
        let config = small(ControllerKind::Lstm, search);
        let model = Model::<f32>::new(config.clone(), 3);
        let mut trace = Trace::new(&model.config);
        let steps = 60;
        learn(
            &model,
            &input(steps, 0),
            &mut trace,
            &mut Workspace::new(&model.config),
        );
        let m = config.columns;
        // Dense, from the recorded writes alone.
        let mut memory = vec![vec![0.0_f32; config.rows * m]];
        let mut blank = trace.clone();
        config.recorded().reset(&mut blank, None);
        for row in 0..config.rows {
            memory[0][row * m..][..m].copy_from_slice(&blank.sparse.row(row)[..m]);
        }
        for t in 0..steps {
            let mut now = memory[t].clone();
            for head in 0..config.heads {
                let pair = config.pair(&trace.heads, head);
                for (place, (row, weight)) in config.written(pair, t).enumerate() {
                    let values = &mut now[row * m..][..m];
                    if place == 0 {
                        values.fill(0.0);
                    }
                    let pairs = values.iter_mut().zip(pair[1].add.row(t));
                    pairs.for_each(|(value, &a)| *value += weight * a);
                }
            }
            memory.push(now);
        }
        // Forwards.
        for t in 0..steps {
            config.recorded().after(&mut blank, t);
            for row in 0..config.rows {
                assert!(
                    blank.sparse.row(row)[..m] == memory[t + 1][row * m..][..m],
                    "{t} {row}"
                );
            }
        }
        // Backwards: what stood in the rows before, the last write first.
        let mut now = memory.pop().unwrap();
        for t in (0..steps).rev() {
            let tape = trace.kind_arrays.at(AT_EARLIER).row(t).chunks_exact(m);
            let written = (0..config.heads)
                .flat_map(|head| config.written(config.pair(&trace.heads, head), t));
            let all: Vec<_> = written.map(|(row, _)| row).zip(tape).collect();
            for (row, earlier) in all.into_iter().rev() {
                now[row * m..][..m].copy_from_slice(earlier);
            }
            assert!(now == memory[t], "{t}");
        }
        // As many rows were touched as there are slots for, and rows were used again.
        assert!(trace.sparse.slots() <= config.rows);
        assert!(trace.sparse.slots() > 20);
    }
}

#[test]
fn a_used_trace_and_workspace_give_the_bits_of_new_ones() {
    for search in [Search::Exact, Search::Hashed] {
        for kind in [ControllerKind::Lstm, ControllerKind::Feedforward] {
            let model = Model::<f32>::new(small(kind, search), 3);
            let new = || (Trace::new(&model.config), Workspace::new(&model.config));
            let (mut trace, mut workspace) = new();
            for (steps, of) in [(30, 1), (7, 2), (1, 3), (50, 4), (7, 2)] {
                let input = input(steps, of);
                let used = learn(&model, &input, &mut trace, &mut workspace);
                let (mut fresh, mut other) = new();
                let gradient = learn(&model, &input, &mut fresh, &mut other);
                assert!(used == gradient && trace.output == fresh.output);
                // Twice the same seed, and in another trace than the first.
                let mut beside = [fresh.clone(), Trace::new(&model.config)];
                let episodes = [(&input, Draw::default()), (&input, Draw::default())];
                model.run_together(episodes.into_iter(), usize::MAX, &mut beside);
                assert!(beside[0].heads == beside[1].heads);
            }
        }
    }
}

#[test]
fn an_evaluation_and_several_calls_give_the_same_bits() {
    let model = Model::<f32>::new(small(ControllerKind::Lstm, Search::Hashed), 3);
    let (mut whole, mut parts, mut answers) = (
        Trace::new(&model.config),
        Trace::new(&model.config),
        Trace::new(&model.config),
    );
    let input = input(300, 5);
    model.run(&input, Draw::default(), &mut whole);
    model.begin(&input, Draw::default(), &mut parts);
    (0..3).for_each(|part| model.run_steps(&mut parts, part * 100..part * 100 + 100));
    model.run_to_answer(&input, Draw::default(), 1000, &mut answers, |_, _| ());
    assert!(whole.output == parts.output && whole.output == answers.output);
    let kept = Trace::<f32>::bytes(&model.config, [300; 2], Keep::Answers(1000));
    assert!(kept < Trace::<f32>::bytes(&model.config, [300; 2], Keep::All));
}

/// One row stands for all: as if all were kept, and learned.
#[test]
fn a_constant_memory_is_that_of_as_many_equal_rows() {
    for search in [Search::Exact, Search::Hashed] {
        for constant in [1e-6, 0.3] {
            let mut config = small(ControllerKind::Lstm, search);
            (config.rows, config.seed) = (70, 0);
            config.initial_memory = InitialMemory::Constant(constant);
            let one = Model::<f32>::new(config.clone(), 3);
            (config.search, config.initial_memory) = (Search::Exact, InitialMemory::Learned);
            let mut all = Model::<f32>::new(config.clone(), 3);
            let named = one.params.named();
            let named: std::collections::HashMap<_, _> = named.into_iter().collect();
            all.params.change(|name, mut tensor| match name {
                "initial.memory" => tensor.fill(constant as f32),
                _ => tensor.assign(&named[name]),
            });
            let (mut kept, mut learned) = (Trace::new(&one.config), Trace::new(&all.config));
            for steps in [40, 200, 20] {
                one.run(&input(steps, 1), Draw::default(), &mut kept);
                all.run(&input(steps, 1), Draw::default(), &mut learned);
                assert!(kept.output == learned.output && kept.heads == learned.heads);
            }
        }
    }
    let plan = SamConfig::new(3, 2).plan();
    assert_eq!(plan.bytes(0, 4).memory, 21 * 4);
}

/// Where all rows have the same direction, the lowest are read, and a row that was never accessed is the lowest of them.
#[test]
fn ties_take_the_lowest_row() {
    // Rows 0 and 1 are 0 now, with the cosine 0; the sum of the key is negative.
    let cases = [
        (-1.0, [2.0, 3.0, 4.0]),
        (1.0, [0.0, 1.0, 2.0]),
        (0.0, [0.0, 1.0, 2.0]),
    ];
    let searches = [Search::Exact, Search::Hashed].into_iter();
    for (search, (constant, wanted)) in searches.flat_map(|search| cases.map(|case| (search, case)))
    {
        let mut config = small(ControllerKind::Lstm, search);
        (config.seed, config.initial_memory) = (0, InitialMemory::Constant(constant));
        (config.rows, config.similarity_epsilon) = (1000, 0.0);
        let mut model = Model::<f64>::new(config, 3);
        // Nothing is written.
        model.params.change(|name, mut tensor| {
            if name.starts_with("write") && name.ends_with("bias") {
                tensor[[0, 5]] = -1e4;
            }
        });
        let mut trace = Trace::new(&model.config);
        model.run(&input(3, 1), Draw::default(), &mut trace);
        let of = |head: usize, array| trace.series(Place::Head(head), array).unwrap();
        // Rows 0 and 1 were written, and are 0 now: no key is like them. After that, only rows that are read are accessed.
        assert_eq!(of(2, ROW).row(0), [0.0]);
        assert_eq!(of(3, ROW).row(0), [1.0]);
        assert_eq!(of(0, ROWS).row(0), wanted, "{search:?} {constant}");
    }
}

#[test]
fn exact_search_misses_nothing_and_few_rows_are_missed_by_their_hashes() {
    for search in [Search::Exact, Search::Hashed] {
        let mut config = small(ControllerKind::Lstm, search);
        (config.rows, config.columns) = (4096, 5);
        let model = Model::<f32>::new(config.clone(), 3);
        let mut trace = Trace::new(&model.config);
        model.run(&input(50, 1), Draw::default(), &mut trace);
        let found = search_misses(&config, &trace).unwrap();
        assert_eq!((found.reads, found.rows), (100, 300));
        let share = found.other_rows as f64 / found.rows as f64;
        assert!(
            share <= if search == Search::Exact { 0.0 } else { 0.5 },
            "{share}"
        );
    }
}

/// A recording shows the rows that were read or written, as a memory that is kept whole has them; all of it follows again.
#[test]
fn a_recording_shows_the_rows_that_its_episode_reads_or_writes() {
    for (rows, initial_memory) in [
        (4000, InitialMemory::Constant(0.5)),
        (40, InitialMemory::Learned),
    ] {
        let mut config = small(ControllerKind::Lstm, Search::Hashed);
        (config.rows, config.initial_memory) = (rows, initial_memory);
        let model = Model::<f32>::new(config.clone(), 3);
        let (mut trace, steps) = (Trace::new(&model.config), 30);
        model.run(&input(steps, 1), Draw::default(), &mut trace);
        let (mut whole, by) = (trace.clone(), crate::model::Upstream::new(&model.config));
        model.show(&mut trace);
        let recorded = trace.kind_arrays.at(AT_RECORDED).as_slice().to_vec();
        let [count, m] = trace.memory_size();
        assert!(count == recorded.len() && count > 20 && count <= 40 + rows / 10);
        assert!(recorded.is_sorted() && trace.memory(0).nrows() == count);
        let place = |row: f32| recorded.binary_search_by(|other| other.total_cmp(&row));
        for t in 0..steps {
            config.recorded().after(&mut whole, t);
            for (place, &row) in recorded.iter().enumerate() {
                let row = whole.sparse.row(row as usize)[..m].to_vec();
                assert_eq!(trace.memory(t + 1).row(place).to_vec(), row);
            }
            let of = |head, array| trace.series(Place::Head(head), array).unwrap().row(t);
            for head in 0..config.heads {
                for (at, &row) in of(head, ROWS).iter().enumerate() {
                    let place = place(row).unwrap();
                    assert_eq!(of(head, array::WEIGHTING)[place], of(head, WEIGHTS)[at]);
                    assert_eq!(of(head, array::SIMILARITY)[place], of(head, COSINES)[at]);
                }
            }
            let (age, oldest) = (of(config.heads, AGE), of(config.heads, ROW)[0]);
            assert!(
                age.iter()
                    .all(|&other| other <= age[place(oldest).unwrap()])
            );
        }
        let mut again = trace.clone();
        for t in 0..steps {
            for rule in Machine::<f32>::dependencies(&config, Conventions::OWN) {
                rule.compute(&mut again, t);
            }
        }
        again.kind_arrays = trace.kind_arrays.clone();
        assert!(again == trace);
        let mut ones = [by, crate::model::Upstream::new(&model.config)];
        for by in &mut ones {
            by.logit.resize(steps);
            by.logit.as_mut_slice().fill(1.0);
        }
        let [first, second] = ones;
        let mut plain = Trace::new(&model.config);
        model.run(&input(steps, 1), Draw::default(), &mut plain);
        let wanted = model.derivatives(&plain, first);
        assert!(model.derivatives(&trace, second).input == wanted.input);
    }
}

#[test]
fn rows_and_their_memory_are_checked() {
    let mut config = SamConfig::new(3, 2);
    config.rows = 3;
    assert_eq!(config.validate().unwrap_err().field, "memory.rows");
    config.rows = SamConfig::MAX_ROWS + 1;
    assert_eq!(config.validate().unwrap_err().field, "memory.rows");
    config.rows = 100;
    let config = ModelConfig::from(config);
    assert_eq!(config.with_rows(5).unwrap().rows(), 5);
    let error = config.with_rows(3).unwrap_err().to_string();
    let allowed = "4 to 4194304, because a head reads 4 rows";
    assert_eq!(error, format!("memory.rows is 3; allowed: {allowed}"));
    let words: Vec<_> = Search::WORDS.iter().map(|(word, _)| *word).collect();
    assert_eq!(words, ["exact", "hashed"]);
}
