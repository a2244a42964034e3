//! The engine on every machine file: batches, threads, allocations, verification, values that are set, and evaluation.

use std::alloc::{GlobalAlloc, Layout as Shape, System};
use std::cell::Cell;
use std::sync::Arc;

use tapescope_core::equations::bind::{Bound, Fault, Layout};
use tapescope_core::equations::flatten::{Cut, Feedback, flatten};
use tapescope_core::equations::lower::{Axis, Program, Source, lower};
use tapescope_core::equations::op::Real;
use tapescope_core::equations::page::{Given, Key, Page, Word};
use tapescope_core::equations::run::Engine;

thread_local!(static ALLOCATIONS: Cell<usize> = const { Cell::new(0) });

/// Where machine files and components are.
const MACHINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/machines");

/// Numbers that look random, in −1..1.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|_| {
            (state, _) = state.overflowing_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

fn is_sequence(page: &Page, axis: &str) -> bool {
    page.axis_named(axis)
        .is_some_and(|axis| page.is_sequence(axis))
}

struct Counting;

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, shape: Shape) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(shape) }
    }

    unsafe fn dealloc(&self, place: *mut u8, shape: Shape) {
        unsafe { System.dealloc(place, shape) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A machine file with small sizes.
fn page(name: &str) -> Arc<Page> {
    let text = std::fs::read_to_string(format!("{MACHINES}/{name}.machine")).unwrap();
    let library = |name: &str| {
        Some((
            name.to_owned(),
            std::fs::read(format!("{MACHINES}/{name}.component")).ok()?,
        ))
    };
    let plain = Page::read(text.as_bytes(), name, &Given::default(), &library).unwrap();
    let mut given = Given::default();
    let sizes = [
        ("units", 5),
        ("rows", 6),
        ("columns", 4),
        ("layers", 2),
        ("upper", 1),
        ("positions", 16),
        ("hidden", 5),
        ("combined", 5),
    ];
    let sizes = sizes
        .into_iter()
        .filter(|(name, _)| plain.key(name).is_some_and(Key::is_settable));
    given
        .numbers
        .extend(sizes.map(|(name, size)| (name.into(), f64::from(size))));
    Arc::new(Page::read(text.as_bytes(), name, &given, &library).unwrap())
}

fn names() -> impl Iterator<Item = &'static str> {
    super::machines().into_iter().map(|(name, _)| name)
}

fn axes(layout: &Layout) -> Vec<Axis> {
    layout.dims.iter().map(|dim| dim.0).collect()
}

/// Runs a machine with data and tensors that look random.
fn with<R: Real, T>(name: &str, see: impl FnOnce(&mut Engine<R>, &Program) -> T) -> T {
    let page = page(name);
    let mut program = lower(&page).unwrap();
    let flat = flatten(&mut program, Feedback::Target);
    let program = Arc::new(program);
    let mut engine = Engine::<R>::new(
        Bound::new(&page, &program, &flat, &length(&page)).unwrap(),
        &flat,
        true,
    );
    fill(&mut engine, &program);
    engine.forward();
    see(&mut engine, &program)
}

#[test]
fn any_number_of_steps() {
    for (name, steps) in names().flat_map(|name| [0, 1, 2].map(|steps| (name, steps))) {
        let page = page(name);
        let mut program = lower(&page).unwrap();
        let flat = flatten(&mut program, Feedback::Target);
        let program = Arc::new(program);
        let given = |axis: &str| Some(if is_sequence(&page, axis) { steps } else { 4 });
        let mut engine = Engine::<f64>::new(
            Bound::new(&page, &program, &flat, &given).unwrap(),
            &flat,
            true,
        );
        fill(&mut engine, &program);
        engine.forward();
        let layout = engine.layout(answer(&program));
        let places = layout.places(&axes(layout));
        sweep(&mut engine, &places);
        let gradients = engine
            .bound
            .tensors
            .iter()
            .flat_map(|layout| layout.places(&axes(layout)))
            .map(|place| engine.memory.arena[place + engine.memory.gradients]);
        assert!(
            steps == 0 || gradients.into_iter().all(f64::is_finite),
            "{name}, {steps} steps"
        );
    }
}

fn length(page: &Page) -> impl Fn(&str) -> Option<usize> {
    |axis| Some(if is_sequence(page, axis) { 6 } else { 4 })
}

fn fill<R: Real>(engine: &mut Engine<R>, program: &Program) {
    let data = (0..program.series.len()).filter(|series| {
        matches!(
            program.series[*series].source,
            Source::Input(_) | Source::Target | Source::Noise(_)
        )
    });
    let layouts: Vec<Layout> = engine
        .bound
        .tensors
        .iter()
        .cloned()
        .chain(data.map(|series| engine.layout(series).clone()))
        .collect();
    for (index, layout) in layouts.iter().enumerate() {
        let places = layout.places(&axes(layout));
        let values = numbers(places.len(), index as u64 + 1);
        places
            .iter()
            .zip(values)
            .for_each(|(place, value)| engine.memory.arena[*place] = R::from_f64(0.5 * value));
    }
}

fn series(program: &Program, kind: Option<&str>, name: &str) -> usize {
    program
        .series
        .iter()
        .position(|series| {
            *series.name == *name && series.kind.map(|kind| &*program.axes[kind].name) == kind
        })
        .unwrap()
}

fn answer(program: &Program) -> usize {
    program
        .series
        .iter()
        .position(|series| {
            matches!(&*series.name, "z" | "p") && matches!(series.source, Source::Statement(..))
        })
        .unwrap()
}

fn values<R: Real>(engine: &Engine<R>, program: &Program, series: usize) -> Vec<f64> {
    let layout = engine.layout(series);
    let mut axes = axes(layout);
    axes.sort_by_key(|axis| program.axes[*axis].rank);
    layout
        .places(&axes)
        .iter()
        .map(|place| engine.memory.arena[*place].to_f64())
        .collect()
}

/// Runs the reverse sweep for a gradient of the answer that looks random.
fn sweep<R: Real>(engine: &mut Engine<R>, places: &[usize]) {
    engine.clear_gradients();
    for (index, place) in places.iter().enumerate() {
        let gradients = engine.memory.gradients;
        engine.memory.arena[place + gradients] =
            R::from_f64(((index * 7 % 11) as f64 - 5.0) / 11.0);
    }
    engine.backward();
}

#[test]
fn gradients_of_inputs_can_be_left_out() {
    for name in names() {
        let gradients = |ignores: bool| {
            let page = page(name);
            let mut program = lower(&page).unwrap();
            let flat = flatten(&mut program, Feedback::Target);
            let program = Arc::new(program);
            let mut bound = Bound::new(&page, &program, &flat, &length(&page)).unwrap();
            if ignores {
                bound.ignore_inputs(&flat);
            }
            let mut engine = Engine::<f64>::new(bound, &flat, true);
            fill(&mut engine, &program);
            engine.forward();
            let layout = engine.layout(answer(&program));
            let answers = layout.places(&axes(layout));
            sweep(&mut engine, &answers);
            let of = |layout: &Layout| {
                layout
                    .places(&axes(layout))
                    .iter()
                    .map(|place| engine.memory.arena[place + engine.memory.gradients])
                    .collect::<Vec<f64>>()
            };
            let inputs = (0..program.series.len())
                .filter(|series| matches!(program.series[*series].source, Source::Input(_)));
            let inputs: Vec<f64> = inputs
                .flat_map(|series| of(engine.layout(series)))
                .collect();
            (
                engine
                    .bound
                    .tensors
                    .iter()
                    .flat_map(of)
                    .collect::<Vec<f64>>(),
                inputs,
            )
        };
        let ((tensors, inputs), (same, none)) = (gradients(false), gradients(true));
        assert_eq!(tensors, same, "{name}");
        assert!(
            inputs.iter().any(|slope| *slope != 0.0) && none.iter().all(|slope| *slope == 0.0),
            "{name}"
        );
    }
}

#[test]
fn a_step_allocates_nothing() {
    for name in names() {
        with::<f64, _>(name, |engine, program| {
            let layout = engine.layout(answer(program));
            let places = layout.places(&axes(layout));
            let before = ALLOCATIONS.with(Cell::get);
            engine.forward();
            sweep(engine, &places);
            assert_eq!(ALLOCATIONS.with(Cell::get), before, "{name}");
        });
    }
}

#[test]
fn single_and_double_precision_agree() {
    for name in names() {
        fn run<R: Real>(name: &str) -> (Vec<f64>, Vec<f64>) {
            with::<R, _>(name, |engine, program| {
                let layout = engine.layout(answer(program));
                let places = layout.places(&axes(layout));
                sweep(engine, &places);
                let tensors = engine
                    .bound
                    .tensors
                    .iter()
                    .flat_map(|layout| layout.places(&axes(layout)));
                (
                    values(engine, program, answer(program)),
                    tensors
                        .map(|place| engine.memory.arena[place + engine.memory.gradients].to_f64())
                        .collect(),
                )
            })
        }
        let ((single, single_slopes), (double, slopes)) = (run::<f32>(name), run::<f64>(name));
        assert!(
            double.iter().chain(&slopes).all(|value| value.is_finite()),
            "{name}"
        );
        for (one, other) in single
            .iter()
            .chain(&single_slopes)
            .zip(double.iter().chain(&slopes))
        {
            assert!(
                (one - other).abs() < 1e-4 * (1.0 + other.abs()),
                "{name}: {one} and {other}"
            );
        }
    }
}

#[test]
fn what_is_recorded_is_verified() {
    for name in names() {
        with::<f64, _>(name, |engine, _| {
            assert!(
                engine.verify().iter().all(|difference| *difference == 0.0),
                "{name}: {:?}",
                engine.verify()
            );
        });
    }
}

#[test]
fn verification_finds_a_changed_value() {
    with::<f64, _>("ntm", |engine, program| {
        let changed = series(program, Some("write"), "head.w");
        let layout = engine.layout(changed);
        let place = layout.places(&axes(layout))[2 * 6];
        engine.memory.arena[place] += 0.1;
        let recorded = engine.memory.arena[1..engine.memory.gradients].to_vec();
        let mut found: Vec<String> = engine
            .verify()
            .iter()
            .zip(&program.equations)
            .filter(|(difference, _)| **difference > 1e-6)
            .map(|(_, equation)| {
                let series = &program.series[equation.makes[0]];
                format!(
                    "{}.{}",
                    series.kind.map_or("", |kind| &program.axes[kind].name),
                    series.name
                )
            })
            .collect();
        found.sort();
        assert_eq!(found, [".M", "write.head.w", "write.head.w_g"]);
        let series: Vec<usize> = (0..program.series.len())
            .flat_map(|series| {
                let layout = engine.layout(series);
                layout.places(&axes(layout))
            })
            .collect();
        assert!(series.iter().all(|place| recorded[place - 1].to_bits() == engine.memory.arena[*place].to_bits()));
    });
}

#[test]
fn a_value_that_is_set_changes_what_comes_after_it() {
    with::<f64, _>("ntm", |engine, program| {
        let (z, gate) = (answer(program), series(program, Some("read"), "head.g"));
        let before = values(engine, program, z);
        let layout = engine.layout(gate);
        let places = layout.places(&axes(layout));
        engine.set(gate, places[2], 0.0);
        engine.forward();
        assert_eq!(engine.memory.arena[places[2]], 0.0);
        let same: Vec<bool> = before
            .chunks(4)
            .zip(values(engine, program, z).chunks(4))
            .map(|(one, other)| one == other)
            .collect();
        assert_eq!(same, [true, true, false, false, false, false]);
        // What a statement does not compute has no gradient to hand on.
        let layout = engine.layout(z);
        let answers = layout.places(&axes(layout));
        sweep(engine, &answers);
        let gradients = engine.memory.gradients;
        assert_eq!(engine.memory.arena[places[2] + gradients], 0.0);
        assert!(engine.memory.arena[places[3] + gradients] != 0.0);
    });
}

#[test]
fn uses_with_axes_of_their_own_share_tensors() {
    let part = "component part\ninput v[steps, features]\nsize width = 3 in 1..9\nparameter p[width]\nstart s[width] = learned\nalong steps\n  s = tanh(linear[width](v, s[-1])) * p\n";
    let machine = "machine \"m\"\ninput x[source, symbols]\ninput u[answer, symbols]\ntarget y[answer, words]\nuse a = part[steps = source, features = symbols](x)\n";
    let uses = "use b = part[steps = answer, features = symbols; weights of a](u)\nonce\n  z[answer, words] = sum[b.width](b.s) + 0 * index[answer] + 0 * index[words]\n";
    let text = format!("{machine}{uses}{part}");
    let page = Arc::new(Page::read(text.as_bytes(), "m", &Given::default(), &|_| None).unwrap());
    let mut program = lower(&page).unwrap();
    assert_eq!(program.tensors.len(), 4);
    let flat = flatten(&mut program, Feedback::Target);
    let program = Arc::new(program);
    let mut engine = Engine::<f64>::new(
        Bound::new(&page, &program, &flat, &|_| Some(3)).unwrap(),
        &flat,
        true,
    );
    let size = engine.memory.gradients;
    engine.memory.arena[1..size].copy_from_slice(&numbers(size - 1, 5));
    let [x, u] = ["x", "u"].map(|name| {
        let layout = engine.layout(series(&program, None, name));
        layout.places(&axes(layout))
    });
    x.iter()
        .zip(u)
        .for_each(|(x, u)| engine.memory.arena[u] = engine.memory.arena[*x]);
    engine.forward();
    let [a, b] = ["a.s", "b.s"].map(|name| values(&engine, &program, series(&program, None, name)));
    assert_eq!(a, b);
    assert!(a.iter().all(|value| *value != 0.0));
}

#[test]
fn an_evaluation_keeps_the_last_steps_alone() {
    for name in names() {
        let (whole, size) = with::<f64, _>(name, |engine, program| {
            (values(engine, program, answer(program)), engine.bound.size)
        });
        let page = page(name);
        let mut program = lower(&page).unwrap();
        let flat = flatten(&mut program, Feedback::Target);
        let program = Arc::new(program);
        let bound =
            Bound::for_evaluation(&page, &program, &flat, &length(&page), &[answer(&program)])
                .unwrap();
        let mut engine = Engine::<f64>::new(bound, &flat, false);
        fill(&mut engine, &program);
        engine.forward();
        assert_eq!(values(&engine, &program, answer(&program)), whole, "{name}");
        assert!(
            engine.bound.size <= size
                && (engine.bound.size < size * 2 / 3 || !matches!(name, "dnc" | "sam")),
            "{name}: {} of {size}",
            engine.bound.size
        );
    }
}

#[test]
fn sizes_that_no_memory_has_are_counted() {
    let page = page("ntm");
    let mut program = lower(&page).unwrap();
    let flat = flatten(&mut program, Feedback::Target);
    let program = Arc::new(program);
    assert!(matches!(
        Bound::new(&page, &program, &flat, &|_| Some(1 << 62)),
        Err(Fault::TooLarge(usize::MAX))
    ));
}

#[test]
fn a_free_run_reads_its_own_answers() {
    for (name, feedback) in [("bahdanau", Feedback::Class), ("luong", Feedback::Bits)] {
        let page = page(name);
        let mut program = lower(&page).unwrap();
        let flat = flatten(&mut program, feedback);
        let program = Arc::new(program);
        let mut engine = Engine::<f64>::new(
            Bound::new(&page, &program, &flat, &length(&page)).unwrap(),
            &flat,
            true,
        );
        fill(&mut engine, &program);
        engine.forward();
        let target = series(&program, None, "y");
        let (answers, fed) = (
            values(&engine, &program, answer(&program)),
            values(&engine, &program, target),
        );
        for (z, y) in answers.chunks(4).zip(fed.chunks(4)) {
            let most = z.iter().copied().fold(f64::MIN, f64::max);
            let wanted: Vec<f64> = z
                .iter()
                .map(|z| {
                    f64::from(if feedback == Feedback::Class {
                        *z == most
                    } else {
                        *z > 0.0
                    })
                })
                .collect();
            assert_eq!(y, wanted);
        }
        // The same answers follow where they are given as the target.
        let mut program = (*program).clone();
        let flat = flatten(&mut program, Feedback::Target);
        let program = Arc::new(program);
        let mut told = Engine::<f64>::new(
            Bound::new(&page, &program, &flat, &length(&page)).unwrap(),
            &flat,
            true,
        );
        fill(&mut told, &program);
        let layout = told.layout(target);
        let mut order = axes(layout);
        order.sort_by_key(|axis| program.axes[*axis].rank);
        layout
            .places(&order)
            .iter()
            .zip(&fed)
            .for_each(|(place, value)| told.memory.arena[*place] = *value);
        told.forward();
        // A product over all steps adds in another order than one in a step.
        let told = values(&told, &program, answer(&program));
        assert!(
            told.iter()
                .zip(&answers)
                .all(|(one, other)| (one - other).abs() < 1e-12),
            "{name}"
        );
    }
}

/// A part of a file: a component of the project.
fn component(name: &str) -> Option<(String, Vec<u8>)> {
    let text = std::fs::read(format!("{MACHINES}/{name}.component")).ok()?;
    Some((name.to_owned(), text))
}

/// Puts data of an episode that looks random in, and returns the places of its answer.
fn put(engine: &mut Engine<f64>, program: &Program, at: usize, seed: u64) -> Vec<usize> {
    for (series, own) in program.series.iter().enumerate() {
        let is_data = matches!(
            own.source,
            Source::Input(_) | Source::Target | Source::Noise(_)
        );
        let layout = engine.layout_in(series, at);
        let places = layout.places(&axes(&layout));
        let values = numbers(places.len(), 31 * seed + series as u64 + 1);
        let pairs = places.into_iter().zip(values).filter(|_| is_data);
        pairs.for_each(|(place, value)| engine.memory.arena[place] = 0.5 * value);
    }
    let layout = engine.layout_in(answer(program), at);
    layout.places(&axes(&layout))
}

/// Sets tensors, runs forward, and in reverse for a gradient of all answers that looks random; the answers and the
/// gradient of the tensors.
fn run(
    engine: &mut Engine<f64>,
    tensors: &[f64],
    answers: &[Vec<usize>],
    learns: bool,
) -> [Vec<f64>; 2] {
    let range = engine.bound.tensor_range();
    engine.memory.arena[range.clone()].copy_from_slice(tensors);
    engine.forward();
    let values = answers
        .iter()
        .flatten()
        .map(|place| engine.memory.arena[*place])
        .collect();
    let from = engine.memory.gradients;
    if learns {
        engine.clear_gradients();
        for (index, place) in answers.iter().flat_map(|own| own.iter().enumerate()) {
            engine.memory.arena[place + from] = ((index * 7 % 11) as f64 - 5.0) / 11.0;
        }
        engine.backward();
        return [
            values,
            engine.memory.arena[from + range.start..from + range.end].to_vec(),
        ];
    }
    [values, vec![]]
}

#[track_caller]
fn agree(name: &str, one: &[f64], other: &[f64], bound: f64) {
    assert_eq!(one.len(), other.len(), "{name}");
    for (one, other) in one.iter().zip(other) {
        let is_same = one == other || (one - other).abs() < bound * (1.0 + other.abs());
        assert!(
            is_same || one.is_nan() && other.is_nan(),
            "{name}: {one} and {other}"
        );
    }
}

/// Holds a machine to itself: four episodes side by side to each alone, an evaluation to a whole run, and its gradient to
/// differences if `differs`. Returns a series after the last episode.
fn hold(
    name: &str,
    text: &str,
    given: &Given,
    length: &dyn Fn(&Page, &str) -> usize,
    differs: bool,
    wanted: &str,
) -> Result<Vec<f64>, Fault> {
    let page = Arc::new(Page::read(text.as_bytes(), name, given, &component).unwrap());
    let mut program = lower(&page).unwrap();
    let flat = flatten(&mut program, Feedback::Target);
    let program = Arc::new(program);
    let of = |axis: &str| Some(length(&page, axis));
    let mut alone = Engine::<f64>::new(Bound::new(&page, &program, &flat, &of)?, &flat, true);
    let is_given = |name: &str| ["z", "p", "penalty"].contains(&name.rsplit('.').next().unwrap());
    let all = program.series.iter().enumerate();
    let slopes: Vec<usize> = all
        .filter(|own| is_given(&own.1.name))
        .map(|own| own.0)
        .collect();
    let mut four = Bound::for_training(&page, &program, &flat, &of, (4, false), &slopes)?;
    four.ignore_inputs(&flat);
    let mut four = Engine::<f64>::new(four, &flat, true);
    let evaluation = Bound::for_evaluation(&page, &program, &flat, &of, &[answer(&program)])?;
    let mut evaluation = Engine::<f64>::new(evaluation, &flat, false);
    let count = alone.bound.tensor_range().len();
    let tensors: Vec<f64> = numbers(count, 5).into_iter().map(|own| 0.5 * own).collect();
    let mut both = [vec![], vec![0.0; count]];
    for seed in 0..4 {
        let answers = [put(&mut alone, &program, 0, seed)];
        let [values, gradient] = run(&mut alone, &tensors, &answers, true);
        both[1]
            .iter_mut()
            .zip(&gradient)
            .for_each(|(sum, own)| *sum += own);
        let answers_there = [put(&mut evaluation, &program, 0, seed)];
        let found = run(&mut evaluation, &tensors, &answers_there, false);
        agree(&format!("{name}: evaluation"), &found[0], &values, 1e-12);
        both[0].extend(values);
        let verified = alone.verify();
        assert!(
            verified.iter().all(|own| *own == 0.0),
            "{name}: {verified:?}"
        );
        for at in (0..count)
            .step_by(count / 50 + 1)
            .filter(|_| differs && seed == 3)
        {
            let mut loss = |change: f64| {
                let mut tensors = tensors.clone();
                tensors[at] += change;
                let [values, _] = run(&mut alone, &tensors, &answers, false);
                let slopes = (0..).map(|index: usize| ((index * 7 % 11) as f64 - 5.0) / 11.0);
                values
                    .iter()
                    .zip(slopes)
                    .map(|(value, slope)| value * slope)
                    .sum::<f64>()
            };
            let wanted = (loss(1e-5) - loss(-1e-5)) / 2e-5;
            agree(
                &format!("{name}: tensor {at}"),
                &[gradient[at]],
                &[wanted],
                1e-7,
            );
        }
        run(&mut alone, &tensors, &answers, true);
    }
    let answers: Vec<_> = (0..4)
        .map(|at| put(&mut four, &program, at, at as u64))
        .collect();
    for _ in 0..2 {
        let found = run(&mut four, &tensors, &answers, true);
        agree(&format!("{name}: side by side"), &found[0], &both[0], 1e-10);
        agree(
            &format!("{name}: gradient side by side"),
            &found[1],
            &both[1],
            1e-9,
        );
    }
    let own = program.series.iter().position(|own| *own.name == *wanted);
    Ok(own.map_or(vec![], |own| values(&alone, &program, own)))
}

/// The head of small files.
const HEAD: &str = "machine \"m\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\n";

/// Holds a small file, of this number of steps, to itself; the value of a series.
fn small(text: &str, steps: usize, wanted: &str) -> Result<Vec<f64>, Fault> {
    let length = |_: &Page, axis: &str| if axis == "steps" { steps } else { 2 };
    hold(
        text,
        &format!("{HEAD}{text}"),
        &Given::default(),
        &length,
        true,
        wanted,
    )
}

#[test]
fn links_of_a_row_to_itself_are_0_where_rows_and_columns_differ() {
    for [r, f, b] in [
        [3, 2, 1],
        [5, 3, 2],
        [2, 3, 1],
        [3, 5, 7],
        [9, 2, 3],
        [2, 9, 3],
        [4, 4, 9],
    ] {
        for kind in ["heads b", "size b", "size c"] {
            let (group, indent, start, own) = match kind {
                "heads b" => ("  for b\n", "    ", "[r, f] = 0.3 for b", "r, f"),
                "size b" => ("", "  ", "[b, r, f] = 0.3", "b, r, f"),
                _ => ("", "  ", "[r, f] = 0.3", "r, f"),
            };
            let (one, other) = if kind == "size b" {
                ("b, r", "b, f")
            } else {
                ("r", "f")
            };
            let text = format!(
                "{kind} = {b} in 1..9\nsize r = {r} in 1..9\nsize f = {f} in 1..9\nstart L{start}\nstart N{start}\nstart G{start}\nalong steps\n{group}\
                {indent}w = softmax[r](linear[{one}](x))\n{indent}p = softmax[f](linear[{other}](x))\n\
                {indent}L[{own}] = where(index[r] == index[f], 0, (1 - w - p) * L[-1] + w * p)\n\
                {indent}N[{own}] = (1 - (index[r] == index[f])) * ((1 - w - p) * N[-1] + w * p)\n\
                {indent}G[{own}] = where(index[r] == index[f], 0, G[-1] * (1 - w * p) + p * w)\n\
                {indent}d = maximum[r, f](abs(L - N))\n  z = linear[outputs](L, G, N)\n"
            );
            for steps in [1, 8] {
                let differences = small(&text, steps, "d").unwrap();
                assert!(differences.iter().all(|own| *own < 1e-15), "{text}");
            }
        }
    }
}

#[test]
fn past_has_as_many_entries_as_steps() {
    let head = "size rows = 9 in 1..9\nparameter w[rows]\n";
    let of = |text: &str, wanted: &str| {
        let head = if text.contains("w[") { head } else { "" };
        small(
            &format!("{head}along steps\n{text}  z = linear[outputs](r, x)\n"),
            4,
            wanted,
        )
    };
    assert_eq!(
        of("  r = sum[past](index[past])\n", "r").unwrap(),
        [0.0, 0.0, 1.0, 3.0]
    );
    assert_eq!(
        of("  r = length[past] + 0\n", "r").unwrap(),
        [0.0, 1.0, 2.0, 3.0]
    );
    let weights = "  a[past] = softmax[past](w[rows: index[past]])\n  r = sum[past](a)\n";
    agree(
        weights,
        &of(weights, "r").unwrap(),
        &[0.0, 1.0, 1.0, 1.0],
        1e-12,
    );
    // The length is that of what it is read with, or of the statement.
    let with = weights.replace("sum[past](a)", "sum[past](a * past(h, now))");
    let with = format!("  h[] = 1 + 0 * sum[inputs](x)\n{with}");
    agree(&with, &of(&with, "r").unwrap(), &[1.0; 4], 1e-12);
    for (own, now) in [("past(h, now)", 1.0), ("past(h)", 0.0)] {
        let text = format!(
            "  h[] = tanh(sum[inputs](x))\n  r = sum[past]({own}) / max(length[past], 1)\n  m = mean[past]({own})\n  l = length[past] + 0 * sum[past]({own})\n  k = sum[past](0 * {own} + 1)\n"
        );
        assert_eq!(
            of(&text, "l").unwrap(),
            [now, 1.0 + now, 2.0 + now, 3.0 + now]
        );
        let [r, m] = ["r", "m"].map(|name| of(&text, name).unwrap());
        agree(&text, &r[1..], &m[1..], 1e-12);
    }
    // Backwards, in a later block, and at a step that is fixed.
    let later = format!(
        "{head}along steps backwards\n  h[] = tanh(sum[inputs](x))\n  a[past] = softmax[past](w[rows: index[past]] + past(h))\nalong steps\n  s = sum[past](softmax[past](a))\nonce\n  f = sum[past](softmax[past](a[steps: 1]))\nalong steps\n  z = linear[outputs](s, f, x)\n"
    );
    agree(
        &later,
        &small(&later, 4, "s").unwrap(),
        &[1.0, 1.0, 1.0, 0.0],
        1e-12,
    );
    // Another name, and products of what was written.
    let text = "  h[inputs] = tanh(x)\n  k[outputs; each from] = linear[outputs; each from](past(h)[past as from])\n  t = softmax[past](dot[inputs](past(h), past(h)[past as from]))\n  r = sum[past, from](t * (1 + index[past]))\n";
    let text = text.replace("k[outputs; each from]", "k");
    of(
        &format!("{text}  q = sum[from, outputs](k)\n")
            .replace("(1 + index[past])", "(1 + index[past]) + 0 * index[from]"),
        "r",
    )
    .unwrap();
    // Two lengths in one operation.
    let text = "  h[] = sum[inputs](x)\n  r = (sum[past](past(h)) - sum[past](past(h, now))) / length[past]\n";
    assert_eq!(of(text, "r"), Err(Fault::PastsDiffer));
    // Steps so far of what has steps so far.
    let text = format!(
        "{HEAD}along steps\n  h[] = sum[inputs](x)\n  a[past] = softmax[past](past(h))\n  z = linear[outputs](sum[past](past(a)))\n"
    );
    let page = Arc::new(Page::read(text.as_bytes(), "m", &Given::default(), &|_| None).unwrap());
    if let Ok(mut program) = lower(&page) {
        let flat = flatten(&mut program, Feedback::Target);
        let program = Arc::new(program);
        let bound = Bound::new(&page, &program, &flat, &|_| Some(3));
        assert_eq!(bound.err(), Some(Fault::PastsDiffer));
    }
}

#[test]
fn a_start_draws_like_a_statement() {
    let text = "size a = 3 in 1..9\nonce\n  p = softmax[a](index[a])\nstart i = draw[a](p)\nalong steps\n  i = i[-1]\n  z = linear[outputs](x, i)\n";
    assert_eq!(small(text, 2, "i").unwrap(), [2.0, 2.0]);
    let page = Page::read(
        format!("{HEAD}{text}").as_bytes(),
        "m",
        &Given::default(),
        &|_| None,
    )
    .unwrap();
    let page = Arc::new(page);
    let mut program = lower(&page).unwrap();
    let flat = flatten(&mut program, Feedback::Target);
    let program = Arc::new(program);
    let bound = Bound::new(&page, &program, &flat, &|_| Some(2)).unwrap();
    let mut engine = Engine::<f64>::new(bound, &flat, false);
    let draws: Vec<_> = engine
        .draws()
        .map(|(name, own)| (name.to_owned(), own.offset))
        .collect();
    assert!(matches!(&draws[..], [(name, _)] if name == "i"));
    for (chance, index) in [(0.05, 0.0), (0.2, 1.0), (-1.0, 0.0), (f64::NAN, 2.0)] {
        engine.memory.arena[draws[0].1 as usize] = chance;
        engine.forward();
        assert_eq!(
            values(&engine, &program, series(&program, None, "i")),
            [index; 2]
        );
    }
}

#[test]
fn sizes_of_any_kind_side_by_side_and_alone() {
    let mut state = 7u64;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let rounds = std::env::var("ROUNDS").map_or(2, |rounds| rounds.parse().unwrap());
    for name in names() {
        let text = std::fs::read_to_string(format!("{MACHINES}/{name}.machine")).unwrap();
        let plain = Page::read(text.as_bytes(), name, &Given::default(), &component).unwrap();
        let mut done = 0;
        for _ in 0..20 * rounds {
            let mut given = Given::default();
            for key in plain.keys.iter().filter(|key| key.is_settable()) {
                let size = match key.word {
                    Word::Size => [1, 2, 3, 5, 17][below(5)],
                    Word::Heads => below(4),
                    Word::Switch => {
                        let choice = key.known[below(key.known.len())].clone();
                        given.choices.insert(key.name.clone(), vec![choice]);
                        continue;
                    }
                    _ => continue,
                };
                let size = (size as f64).clamp(key.range[0], key.range[1]);
                given.numbers.insert(key.name.clone(), size);
            }
            let page = Page::read(text.as_bytes(), name, &given, &component);
            if page.is_err() || page.is_ok_and(|page| lower(&page).is_err()) || done == rounds {
                continue;
            }
            done += 1;
            let (steps, width) = ([1, 2, 3, 5][below(4)], [1, 2, 3, 5, 17][below(5)]);
            let length = |page: &Page, axis: &str| {
                if is_sequence(page, axis) {
                    steps
                } else {
                    width
                }
            };
            let own = format!(
                "{name}, {steps}, {width}, {:?}, {:?}",
                given.numbers, given.choices
            );
            hold(&own, &text, &given, &length, false, "").unwrap();
        }
        assert!(done > 0, "{name}");
    }
}

#[test]
fn an_entry_of_past_is_a_fault() {
    let text = format!(
        "{HEAD}along steps\n  h[inputs] = x * 1\n  z = linear[outputs](sum[past](past(h)))\n"
    );
    let page = Arc::new(Page::read(text.as_bytes(), "m", &Given::default(), &|_| None).unwrap());
    let mut program = lower(&page).unwrap();
    let mut flat = flatten(&mut program, Feedback::Target);
    let program = Arc::new(program);
    let past = page.axis_named("past").unwrap();
    let operations = flat.equations.iter_mut().flatten();
    let mut views = operations.flat_map(|operation| &mut operation.arguments);
    let view = views.find(|view| view.axes.contains(&past)).unwrap();
    view.cuts.push(Cut::Entry(past, None));
    view.axes.retain(|axis| *axis != past);
    let bound = Bound::new(&page, &program, &flat, &|_| Some(3));
    assert_eq!(bound.err(), Some(Fault::EntryOfPast));
}

#[test]
fn linear_maps_side_by_side_have_starts() {
    let text = "size u = 3 in 1..9\nstart a[u] = learned\nalong steps\n  a = linear[u](x)\n  b = linear[outputs](x)\n  q = a[-1] * 1\n  z = linear[outputs](q, b)\n";
    for steps in [3, 8] {
        small(text, steps, "").unwrap();
    }
}

#[test]
fn axes_of_a_component_may_be_one() {
    let text = "size u = 3 in 1..9\nparameter a, b[u]\nuse c = part[p = u, q = u](a, b)\nalong steps\n  z = linear[outputs](x, c.s)\ncomponent part\ninput v[p]\ninput w[q]\nonce\n  s = cosine[p, q](v, w)\n";
    small(text, 3, "").unwrap();
}

#[test]
fn long_sums_need_no_room() {
    let text = format!(
        "{HEAD}size a = 32768 in 1..65536\nsize b = 32768 in 1..65536\nparameter u[a]\nparameter v[b]\nalong steps\n  s = sum[a, b](u * v)\n  z = linear[outputs](x, s)\n"
    );
    let page = Arc::new(Page::read(text.as_bytes(), "m", &Given::default(), &|_| None).unwrap());
    let mut program = lower(&page).unwrap();
    let flat = flatten(&mut program, Feedback::Target);
    let program = Arc::new(program);
    let bound = Bound::new(&page, &program, &flat, &|_| Some(2)).unwrap();
    Engine::<f32>::new(bound, &flat, true);
}
