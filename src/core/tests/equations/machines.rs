//! The files of the Neural Turing Machine and of the Differentiable Neural Computer give the episodes of the machines that are
//! written by hand, for random configurations.

use std::sync::Arc;

use ndarray::Array2;
use tapescope_core::equations::bind::{Bound, GATES, IN};
use tapescope_core::equations::flatten::{Feedback, flatten};
use tapescope_core::equations::lower::{Axis, Program, Source, lower};
use tapescope_core::equations::page::{Given, Page};
use tapescope_core::equations::run::Engine;
use tapescope_core::model::{self as hand, Model, ModelConfig, Trace};

const MACHINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/machines");

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn number(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0
    }
}

/// A configuration: the keys of the file, and the machine by hand.
struct Case {
    file: &'static str,
    numbers: Vec<(&'static str, usize)>,
    lengths: Vec<(&'static str, usize)>,
    model: ModelConfig,
    heads: [usize; 2],
    layers: usize,
}

fn ntm(random: &mut Random) -> Case {
    let mut model = hand::NtmConfig::new(1 + random.below(4), 1 + random.below(4));
    (model.rows, model.columns) = (3 + random.below(20), 2 + random.below(6));
    (model.read_heads, model.write_heads) = (1 + random.below(3), 1 + random.below(3));
    (model.controller.size, model.controller.layers) = (2 + random.below(20), 1 + random.below(3));
    let (heads, layers, units) = (
        [model.read_heads, model.write_heads],
        model.controller.layers,
        model.controller.size,
    );
    let numbers = vec![
        ("rows", model.rows),
        ("columns", model.columns),
        ("read", heads[0]),
        ("write", heads[1]),
        ("units", units),
        ("upper", layers - 1),
    ];
    let lengths = vec![
        ("steps", 1 + random.below(8)),
        ("inputs", model.inputs),
        ("outputs", model.outputs),
    ];
    Case {
        file: "ntm",
        numbers,
        lengths,
        model: model.into(),
        heads,
        layers,
    }
}

fn dnc(random: &mut Random) -> Case {
    let mut model = hand::DncConfig::new(1 + random.below(4), 1 + random.below(4));
    (model.rows, model.columns) = (3 + random.below(20), 2 + random.below(6));
    (model.read_heads, model.controller.size) = (1 + random.below(3), 2 + random.below(20));
    model.similarity_epsilon = 0.0;
    let (heads, units) = ([model.read_heads, 1], model.controller.size);
    let numbers = vec![
        ("rows", model.rows),
        ("columns", model.columns),
        ("read", heads[0]),
        ("units", units),
    ];
    let lengths = vec![
        ("steps", 1 + random.below(8)),
        ("inputs", model.inputs),
        ("outputs", model.outputs),
    ];
    Case {
        file: "dnc",
        numbers,
        lengths,
        model: model.into(),
        heads,
        layers: 1,
    }
}

/// The tensors of both: for each of the file its values, taken from those by hand.
fn tensors(
    case: &Case,
    program: &Program,
    hand: &dyn Fn(&str) -> (usize, Vec<f64>),
) -> Vec<Vec<f64>> {
    let columns = case
        .numbers
        .iter()
        .find(|own| own.0 == "columns")
        .map_or(0, |own| own.1);
    // Which of the outputs of a head a statement is.
    let part = |name: &str| match name {
        "head.k" | "k_r" | "k" => 0..columns,
        "head.beta" | "beta_r" | "beta" => columns..columns + 1,
        "head.g" | "f" => columns + 1..columns + 2,
        "head.s" | "pi" => columns + 2..columns + 5,
        "head.gamma" => columns + 5..columns + 6,
        "e" if case.file == "dnc" => columns + 1..2 * columns + 1,
        "v" => 2 * columns + 1..3 * columns + 1,
        "g_a" => 3 * columns + 1..3 * columns + 2,
        "g_w" => 3 * columns + 2..3 * columns + 3,
        "e" => columns + 6..2 * columns + 6,
        "a" => 2 * columns + 6..3 * columns + 6,
        other => panic!("{other}"),
    };
    // A matrix by hand is [in, out], in the file [out, in]; some of the outputs.
    let turned = |name: &str, outputs: Option<std::ops::Range<usize>>| {
        let (width, values) = hand(name);
        let outputs = outputs.unwrap_or(0..width);
        outputs
            .flat_map(|out| {
                values
                    .chunks(width)
                    .map(move |row| row[out])
                    .collect::<Vec<_>>()
            })
            .collect::<Vec<f64>>()
    };
    let of = |name: &str| -> Vec<f64> {
        let (whole, kind) = name.rsplit_once('.').unwrap();
        let (head, statement) = whole
            .strip_prefix("read.")
            .map(|rest| ("read", rest))
            .or_else(|| whole.strip_prefix("write.").map(|rest| ("write", rest)))
            .unwrap_or(("", whole));
        match (statement, kind) {
            ("r", "start") => hand("initial.read").1,
            ("h" | "h_u" | "c" | "c_u", "start") => {
                let is_hidden = statement.starts_with('h');
                let (width, mut values) = hand(if is_hidden {
                    "initial.hidden"
                } else {
                    "initial.cell"
                });
                let upper = values.split_off(width);
                if statement.ends_with('u') {
                    upper
                } else {
                    values
                }
            }
            ("h", _) => turned(&format!("controller0.{kind}"), None),
            ("h_u", _) => (1..case.layers)
                .flat_map(|layer| turned(&format!("controller{layer}.{kind}"), None))
                .collect(),
            ("z", _) => turned(&format!("output.{kind}"), None),
            _ => {
                let (head, count) = if head == "read" {
                    ("read", case.heads[0])
                } else {
                    ("write", case.heads[1])
                };
                (0..count)
                    .flat_map(|index| {
                        turned(&format!("{head}{index}.{kind}"), Some(part(statement)))
                    })
                    .collect()
            }
        }
    };
    program
        .tensors
        .iter()
        .map(|tensor| of(&tensor.name))
        .collect()
}

macro_rules! agree {
    ($name:ident, $type:ident, $bound:literal, $slope:literal) => {
        #[expect(clippy::too_many_lines, reason = "one step after another")]
        fn $name(case: &Case, random: &mut Random) {
            let mut given = Given::default();
            given.numbers.extend(
                case.numbers
                    .iter()
                    .map(|(name, number)| ((*name).into(), *number as f64)),
            );
            if case.file == "ntm" {
                given.choices.extend(
                    [("head.keys", "tanh"), ("adds", "tanh")]
                        .map(|(name, choice)| (name.into(), vec![choice.into()])),
                );
            }
            let text = std::fs::read(format!("{MACHINES}/{}.machine", case.file)).unwrap();
            let library = |name: &str| {
                Some((
                    name.to_owned(),
                    std::fs::read(format!("{MACHINES}/{name}.component")).ok()?,
                ))
            };
            let page = Arc::new(Page::read(&text, case.file, &given, &library).unwrap());
            let mut program = lower(&page).unwrap();
            let flat = flatten(&mut program, Feedback::Target);
            let program = Arc::new(program);
            let length = |axis: &str| {
                case.lengths
                    .iter()
                    .find(|own| own.0 == axis)
                    .map(|own| own.1)
            };
            let mut engine = Engine::<$type>::new(
                Bound::new(&page, &program, &flat, &length).unwrap(),
                &flat,
                true,
            );
            let mut model = Model::<$type>::new(case.model.clone(), 1);
            model.params.change(|_, mut tensor| {
                tensor
                    .iter_mut()
                    .for_each(|value| *value = random.number() as $type);
            });
            let named = model.params.named();
            let hand = |name: &str| {
                let (_, tensor) = named
                    .iter()
                    .find(|own| own.0 == name)
                    .unwrap_or_else(|| panic!("{name}"));
                (
                    tensor.ncols(),
                    tensor.iter().map(|value| f64::from(*value)).collect(),
                )
            };
            let tensor_places = |index: usize, engine: &Engine<$type>| {
                let tensor = &program.tensors[index];
                let mut axes = tensor.axes.clone();
                if tensor.gates > 0 {
                    axes.insert(tensor.before_gates, GATES);
                }
                if !tensor.inputs.is_empty() {
                    axes.push(IN);
                }
                engine.bound.tensors[index].places(&axes)
            };
            for (index, values) in tensors(case, &program, &hand).into_iter().enumerate() {
                let places = tensor_places(index, &engine);
                assert_eq!(
                    places.len(),
                    values.len(),
                    "{}",
                    program.tensors[index].name
                );
                places
                    .into_iter()
                    .zip(values)
                    .for_each(|(place, value)| engine.memory.arena[place] = value as $type);
            }
            let steps = case.lengths[0].1;
            let input = Array2::from_shape_simple_fn((steps, case.model.inputs()), || {
                random.below(2) as f32
            });
            let of_source = |wanted: fn(&Source) -> bool| {
                (0..program.series.len())
                    .find(|series| wanted(&program.series[*series].source))
                    .unwrap()
            };
            let axes = |series: usize, engine: &Engine<$type>| -> Vec<Axis> {
                let mut axes: Vec<Axis> =
                    engine.layout(series).dims.iter().map(|dim| dim.0).collect();
                axes.sort_by_key(|axis| program.axes[*axis].rank);
                axes
            };
            let x = of_source(|source| matches!(source, Source::Input(_)));
            let places = engine.layout(x).places(&axes(x, &engine));
            places
                .iter()
                .zip(&input)
                .for_each(|(place, value)| engine.memory.arena[*place] = <$type>::from(*value));
            engine.forward();
            let mut trace = Trace::<$type>::new(&case.model);
            let noise: hand::Noise<'_, $type> = hand::Draw::default().into();
            model.run(&input, noise, &mut trace);
            let z = program.answer().unwrap();
            let found = engine.layout(z).places(&axes(z, &engine));
            let outputs = case.model.outputs();
            let wanted = (0..steps).flat_map(|t| trace.logit.row(t)[..outputs].to_vec());
            let mut workspace = hand::Workspace::<$type>::new(&case.model);
            let slopes = &mut workspace.upstream.logit;
            slopes.reshape(steps, slopes.width());
            slopes.as_mut_slice().fill(0.0);
            for (at, (place, wanted)) in found.into_iter().zip(wanted).enumerate() {
                let found = engine.memory.arena[place];
                assert!(
                    (found - wanted).abs() < $bound,
                    "{:?} {:?}: {found} and {wanted}",
                    case.file,
                    case.numbers
                );
                let slope = random.number() as $type;
                slopes.row_mut(at / outputs)[at % outputs] = slope;
                engine.memory.arena[place + engine.memory.gradients] = slope;
            }
            engine.backward();
            let mut gradient = hand::Params::<$type>::zeros(&case.model);
            model.backward(&[trace], &mut [workspace], &mut gradient);
            let named = gradient.named();
            let hand = |name: &str| {
                let (_, tensor) = named.iter().find(|own| own.0 == name).unwrap();
                (
                    tensor.ncols(),
                    tensor.iter().map(|value| f64::from(*value)).collect(),
                )
            };
            for (index, wanted) in tensors(case, &program, &hand).into_iter().enumerate() {
                let found = tensor_places(index, &engine);
                let found = found
                    .iter()
                    .map(|place| f64::from(engine.memory.arena[place + engine.memory.gradients]));
                for (found, wanted) in found.zip(wanted) {
                    assert!(
                        (found - wanted).abs() < $slope * (1.0 + wanted.abs()),
                        "{:?} {:?} {}: {found} and {wanted}",
                        case.file,
                        case.numbers,
                        program.tensors[index].name
                    );
                }
            }
        }
    };
}
agree!(single, f32, 1e-4, 1e-3);
agree!(double, f64, 1e-11, 1e-9);

#[test]
fn files_give_the_episodes_of_the_machines_by_hand() {
    let mut random = Random(1);
    for make in [ntm, dnc] {
        for _ in 0..30 {
            let case = make(&mut random);
            single(&case, &mut random);
            double(&case, &mut random);
        }
    }
}
