//! The files of the Neural Turing Machine, of the Differentiable Neural Computer and of sparse access memory give the episodes of
//! the machines that are written by hand, for random configurations of their options.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use ndarray::Array2;
use tapescope_core::equations::bind::{Bound, GATES, IN};
use tapescope_core::equations::flatten::{Feedback, flatten};
use tapescope_core::equations::lower::{Axis, Program, Source, lower};
use tapescope_core::equations::page::{Given, Page};
use tapescope_core::equations::run::Engine;
use tapescope_core::keys::PerHead;
use tapescope_core::math::Series;
use tapescope_core::model::attention::{Score, ShiftForm, Strength, Switch};
use tapescope_core::model::config::{
    ControllerConfig, ControllerKind, InitialMemory, InitialWeighting, Order, VectorActivation,
};
use tapescope_core::model::{self as hand, EquationsConfig, Model, ModelConfig, Trace};

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

    fn of<T: Copy, const N: usize>(&mut self, all: [T; N]) -> T {
        all[self.below(N)]
    }

    fn number(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0
    }

    /// In ±0.5: weights in ±1 amplify rounding so that one gradient in f32 was off by 1.5e-4.
    fn weight(&mut self) -> f64 {
        self.number() / 2.0
    }
}

/// A configuration: the keys of the file, and the machine by hand.
struct Case {
    file: &'static str,
    set: Vec<(&'static str, String)>,
    lengths: [(&'static str, usize); 3],
    model: ModelConfig,
    layers: usize,
}

impl Case {
    fn new(
        random: &mut Random,
        file: &'static str,
        set: &[(&'static str, &dyn Display)],
        model: impl Into<ModelConfig>,
    ) -> Self {
        let model = model.into();
        let sizes = model.sizes();
        let mut set: Vec<_> = set
            .iter()
            .map(|(name, value)| (*name, value.to_string()))
            .collect();
        set.extend([
            ("rows", sizes.rows.to_string()),
            ("columns", sizes.columns.to_string()),
            ("units", sizes.units.to_string()),
            ("upper", (sizes.layers - 1).to_string()),
        ]);
        let lengths = [
            ("steps", 1 + random.below(8)),
            ("inputs", sizes.inputs),
            ("outputs", sizes.outputs),
        ];
        Self {
            file,
            set,
            lengths,
            layers: sizes.layers,
            model,
        }
    }

    /// Number of heads of a kind.
    fn count(&self, kind: &str) -> usize {
        let sizes = self.model.sizes();
        if kind == "write" {
            sizes.write_heads
        } else {
            sizes.read_heads
        }
    }

    /// The outputs of a head that a statement is.
    fn part(&self, kind: &str, head: usize, statement: &str) -> Range<usize> {
        let first = if kind == "write" {
            self.count("read")
        } else {
            0
        };
        match &self.model {
            ModelConfig::Ntm(config) => {
                let start = config.head_columns(first + head).all().start;
                let columns = config.head_columns(first + head);
                let part = match statement {
                    "head.k" => columns.key,
                    "head.beta" => columns.strength,
                    "head.g" => columns.gate,
                    "head.s" | "head.d" => columns.shift,
                    "head.gamma" => columns.sharpening,
                    "e" => columns.erase,
                    "a" => columns.add,
                    other => panic!("{other}"),
                };
                part.start - start..part.end - start
            }
            ModelConfig::Dnc(config) => {
                let is_on = |switch| usize::from(switch == Switch::On);
                let (width, allocates) = (config.columns, is_on(config.allocation));
                let widths: &[(&str, usize)] = if kind == "read" {
                    let frees = allocates * is_on(config.free_gates);
                    &[
                        ("k_r", width),
                        ("beta_r", 1),
                        ("f", frees),
                        ("pi", 3 * is_on(config.links)),
                    ]
                } else {
                    &[
                        ("k", width),
                        ("beta", 1),
                        ("e", width),
                        ("v", width),
                        ("g_a", allocates),
                        ("g_w", 1),
                    ]
                };
                parts(widths, statement)
            }
            ModelConfig::Sam(config) => {
                let widths: &[(&str, usize)] = if kind == "read" {
                    &[("q", config.columns), ("beta", 1)]
                } else {
                    &[("a", config.columns), ("alpha", 1), ("gamma", 1)]
                };
                parts(widths, statement)
            }
            other @ ModelConfig::Equations(_) => panic!("{other:?}"),
        }
    }
}

/// The place of a part among parts of these widths.
fn parts(widths: &[(&str, usize)], name: &str) -> Range<usize> {
    let index = widths.iter().position(|own| own.0 == name);
    let index = index.unwrap_or_else(|| panic!("{name}"));
    let first = widths[..index].iter().map(|own| own.1).sum();
    first..first + widths[index].1
}

/// The controller of a machine, with its choice in the file.
fn controller(random: &mut Random) -> (ControllerConfig, &'static str) {
    let (kind, choice) = random.of([
        (ControllerKind::Lstm, "lstm"),
        (ControllerKind::Feedforward, "feedforward"),
    ]);
    let (size, layers) = (2 + random.below(20), 1 + random.below(3));
    (ControllerConfig { kind, size, layers }, choice)
}

/// A choice for all heads, or one for each, and as the file has it; `before` other heads.
fn per_head<T: Copy, const N: usize>(
    random: &mut Random,
    (before, heads): (usize, usize),
    all: [(T, &'static str); N],
) -> (PerHead<T>, String) {
    if heads == 0 || random.below(2) == 0 {
        let (one, word) = random.of(all);
        return (one.into(), word.to_owned());
    }
    let own: Vec<_> = (0..heads).map(|_| random.of(all)).collect();
    let (own, words): (Vec<T>, Vec<&str>) = own.into_iter().unzip();
    let own = [vec![all[0].0; before], own].concat();
    (own.into(), words.join(" "))
}

/// ε in the cosine.
const EPSILONS: [f64; 3] = [1e-6, 1e-2, 0.5];

fn ntm(random: &mut Random) -> Case {
    let mut model = hand::NtmConfig::new(1 + random.below(4), 1 + random.below(4));
    (model.rows, model.columns) = (3 + random.below(20), 2 + random.below(6));
    (model.read_heads, model.write_heads) = (random.below(4), random.below(4));
    if model.read_heads == 0 {
        model.write_heads = model.write_heads.max(1);
    }
    let (reads, writes) = (model.read_heads, model.write_heads);
    let [heads, writers] = [(0, reads + writes), (reads, writes)];
    let (own, network) = controller(random);
    model.controller = own;
    let (order, place) = random.of([
        (Order::ReadFirst, "read_first"),
        (Order::WriteFirst, "write_first"),
    ]);
    model.order = order;
    let forms = [
        (ShiftForm::Softmax, "softmax"),
        (ShiftForm::Scalar, "scalar"),
        (ShiftForm::None, "off"),
    ];
    let (form, shift) = per_head(random, heads, forms);
    let least = usize::from(form.any(|form| form == ShiftForm::Scalar));
    let most = 3.min((model.rows - 1) / 2);
    model.shift_range = least + random.below(1 + most - least);
    model.shift_form = form;
    model.similarity_epsilon = random.of(EPSILONS);
    let scores = [
        (Score::Cosine, "cosine"),
        (Score::Dot, "dot"),
        (Score::ScaledDot, "scaled_dot"),
    ];
    let (score, compares) = per_head(random, heads, scores);
    let strengths = [(Strength::Emitted, "on"), (Strength::One, "off")];
    let (strength, factor) = per_head(random, heads, strengths);
    let on = [(Switch::On, "on"), (Switch::Off, "off")];
    let [gate, sharpening] = [(); 2].map(|()| per_head(random, heads, on));
    let erase = per_head(random, writers, on);
    let attention = &mut model.attention;
    (attention.score, attention.strength) = (score, strength);
    (attention.gate, attention.sharpening) = (gate.0, sharpening.0);
    attention.erase = erase.0;
    let activations = [
        (VectorActivation::Identity, "linear"),
        (VectorActivation::Tanh, "tanh"),
    ];
    let (keys, adds) = (random.of(activations), random.of(activations));
    (model.key_activation, model.add_activation) = (keys.0, adds.0);
    let (memory, begins) = random.of([
        (InitialMemory::Constant(0.25), "constant"),
        (InitialMemory::Learned, "learned"),
    ]);
    model.initial_memory = memory;
    let (weighting, looks) = random.of([
        (InitialWeighting::OneHot, "first_row"),
        (InitialWeighting::Learned, "learned"),
    ]);
    model.initial_weighting = weighting;
    let set: &[(_, &dyn Display)] = &[
        ("read", &model.read_heads),
        ("write", &model.write_heads),
        ("controller", &network),
        ("order", &place),
        ("head.offsets", &(2 * model.shift_range + 1)),
        ("head.content.epsilon", &model.similarity_epsilon),
        ("head.shift", &shift),
        ("head.content.score", &compares),
        ("head.strength", &factor),
        ("head.gate", &gate.1),
        ("head.sharpening", &sharpening.1),
        ("erase", &erase.1),
        ("head.keys", &keys.1),
        ("adds", &adds.1),
        ("memory", &begins),
        ("filled", &0.25),
        ("head.weightings", &looks),
    ];
    Case::new(random, "ntm", set, model.clone())
}

fn dnc(random: &mut Random) -> Case {
    let mut model = hand::DncConfig::new(1 + random.below(4), 1 + random.below(4));
    (model.rows, model.columns) = (3 + random.below(20), 2 + random.below(6));
    model.read_heads = 1 + random.below(3);
    let (own, network) = controller(random);
    model.controller = own;
    let on = [(Switch::On, "on"), (Switch::Off, "off")];
    let (links, allocation, free_gates) = (random.of(on), random.of(on), random.of(on));
    (model.links, model.allocation, model.free_gates) = (links.0, allocation.0, free_gates.0);
    // Rounding orders rows of nearly the same usage, and allocation writes to the first.
    if model.allocation == Switch::Off {
        model.similarity_epsilon = random.of(EPSILONS);
    }
    let set: &[(_, &dyn Display)] = &[
        ("read", &model.read_heads),
        ("controller", &network),
        ("epsilon", &model.similarity_epsilon),
        ("links", &links.1),
        ("allocation", &allocation.1),
        ("free_gates", &free_gates.1),
    ];
    Case::new(random, "dnc", set, model.clone())
}

fn sam(random: &mut Random) -> Case {
    let mut model = hand::SamConfig::new(1 + random.below(4), 1 + random.below(4));
    (model.rows, model.columns) = (9 + random.below(20), 2 + random.below(6));
    (model.heads, model.read_rows) = (1 + random.below(3), 1 + random.below(5));
    (model.threshold, model.similarity_epsilon) = (0.3, random.of(EPSILONS));
    let (own, network) = controller(random);
    model.controller = own;
    // Of rows that are equal, each program reads others.
    model.initial_memory = InitialMemory::Learned;
    let set: &[(_, &dyn Display)] = &[
        ("head", &model.heads),
        ("K", &model.read_rows),
        ("delta", &0.3),
        ("epsilon", &model.similarity_epsilon),
        ("controller", &network),
        ("memory", &"learned"),
    ];
    Case::new(random, "sam", set, model.clone())
}

/// The columns and the values of a tensor.
type Rows = (usize, Vec<f64>);

/// The tensors of both: for each of the file its values, taken from those by hand.
fn tensors(case: &Case, program: &Program, hand: &dyn Fn(&str) -> Option<Rows>) -> Vec<Vec<f64>> {
    // Those without numbers have no name by hand.
    let hand = |name: &str| hand(name).unwrap_or_default();
    // A matrix by hand is [in, out], in the file [out, in]; some of the outputs.
    let turned = |name: &str, outputs: Option<Range<usize>>| {
        let (width, values) = hand(name);
        let outputs = outputs.unwrap_or(0..width);
        outputs
            .flat_map(|out| {
                values
                    .chunks(width.max(1))
                    .map(move |row| row[out])
                    .collect::<Vec<_>>()
            })
            .collect::<Vec<f64>>()
    };
    let of = |name: &str| -> Vec<f64> {
        let (whole, kind) = name.rsplit_once('.').unwrap();
        let (head, statement) = whole.split_once('.').unwrap_or(("", whole));
        // Where heads have a choice each, their tensors have names of their own.
        let digits = head.trim_start_matches(|c: char| !c.is_ascii_digit());
        let own: Option<usize> = digits.parse().ok();
        let head = match (&head[..head.len() - digits.len()], statement) {
            ("head", "q" | "beta") => "read",
            ("head" | "", _) => "write",
            (head, _) => head,
        };
        let heads = own.map_or(0..case.count(head), |own| own..own + 1);
        match (statement, kind) {
            ("r", "start") => hand("initial.read").1,
            ("M", "start") => hand("initial.memory").1,
            ("head.w", "start") => {
                let (width, values) = hand("initial.weighting");
                let first = if head == "read" {
                    0
                } else {
                    case.count("read")
                };
                let rows = values.chunks(width.max(1)).skip(first + heads.start);
                rows.take(heads.len()).flatten().copied().collect()
            }
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
                let outputs = |index| {
                    let part = case.part(head, index, statement);
                    turned(&format!("{head}{index}.{kind}"), Some(part))
                };
                heads.flat_map(outputs).collect()
            }
        }
    };
    program
        .tensors
        .iter()
        .map(|tensor| of(&tensor.name))
        .collect()
}

/// The largest difference of two lists, as a fraction of the largest number.
fn difference<R: Copy + Into<f64>>(found: &[R], wanted: &[R]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    let largest =
        |all: &mut dyn Iterator<Item = f64>| all.fold(0.0, |most, own| own.abs().max(most));
    let pairs = found.iter().zip(wanted);
    let difference = largest(&mut pairs.map(|(found, wanted)| (*found).into() - (*wanted).into()));
    difference / largest(&mut wanted.iter().map(|own| (*own).into())).max(1e-3)
}

macro_rules! agree {
    ($name:ident, $type:ident, $bound:literal) => {
        #[expect(clippy::too_many_lines, reason = "one step after another")]
        fn $name(case: &Case, random: &mut Random) {
            let mut given = Given::default();
            for (name, value) in &case.set {
                match value.parse() {
                    Ok(number) => _ = given.numbers.insert((*name).into(), number),
                    Err(_) => {
                        let words = value.split(' ').map(Into::into).collect();
                        _ = given.choices.insert((*name).into(), words);
                    }
                }
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
                    .for_each(|value| *value = random.weight() as $type);
            });
            let named = model.params.named();
            let hand = |name: &str| {
                let (_, tensor) = named.iter().find(|own| own.0 == name)?;
                let values = tensor.iter().map(|value| f64::from(*value));
                Some((tensor.ncols(), values.collect()))
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
            let (places, wanted): (_, Vec<$type>) = (found, wanted.collect());
            let found = places.iter().map(|place| engine.memory.arena[*place]);
            let error = difference(&found.collect::<Vec<_>>(), &wanted);
            assert!(error < $bound, "{:?} {:?}: {error}", case.file, case.set);
            for (at, place) in places.into_iter().enumerate() {
                let slope = random.number() as $type;
                slopes.row_mut(at / outputs)[at % outputs] = slope;
                engine.memory.arena[place + engine.memory.gradients] = slope;
            }
            engine.backward();
            let mut gradient = hand::Params::<$type>::zeros(&case.model);
            model.backward(&[trace], &mut [workspace], &mut gradient);
            let named = gradient.named();
            let hand = |name: &str| {
                let (_, tensor) = named.iter().find(|own| own.0 == name)?;
                let values = tensor.iter().map(|value| f64::from(*value));
                Some((tensor.ncols(), values.collect()))
            };
            let wanted = tensors(case, &program, &hand).concat();
            let all = 0..program.tensors.len();
            let places = all.flat_map(|index| tensor_places(index, &engine));
            let found = places.map(|place| engine.memory.arena[place + engine.memory.gradients]);
            let found: Vec<_> = found.map(f64::from).collect();
            let error = difference(&found, &wanted);
            assert!(error < $bound, "{:?} {:?}: {error}", case.file, case.set);
        }
    };
}
agree!(single, f32, 1e-5);
agree!(double, f64, 1e-12);

#[test]
fn files_give_the_episodes_of_the_machines_by_hand() {
    let mut random = Random(1);
    for make in [ntm, dnc, sam] {
        for _ in 0..60 {
            let case = make(&mut random);
            single(&case, &mut random);
            double(&case, &mut random);
        }
    }
}

/// A file as a machine.
fn file(case: &Case) -> EquationsConfig {
    let set = case.set.iter().map(|(name, value)| (*name, &**value));
    let set: Vec<_> = set.collect();
    let channels = [case.model.inputs(), case.model.outputs()];
    EquationsConfig::included(case.file, channels, &set)
        .unwrap_or_else(|error| panic!("{error}: {set:?}"))
}

/// A file as a machine, with the weights of the machine by hand.
fn of_file(case: &Case, by_hand: &Model<f64>) -> Model<f64> {
    let config = file(case);
    let named = by_hand.params.named();
    let hand = |name: &str| {
        let (_, tensor) = named.iter().find(|own| own.0 == name)?;
        Some((tensor.ncols(), tensor.iter().copied().collect()))
    };
    let compiled = Arc::clone(config.compiled());
    let all = tensors(case, &compiled.program, &hand);
    let mut machine = Model::new(config, 1);
    machine.params.change(|name, mut tensor| {
        let mut known = compiled.program.tensors.iter().zip(&all);
        let (_, values) = known.find(|own| own.0.name == name).unwrap();
        assert_eq!(tensor.len(), values.len());
        tensor
            .iter_mut()
            .zip(values)
            .for_each(|(to, value)| *to = *value);
    });
    machine
}

#[test]
fn heads_and_memory_of_a_file_stand_where_those_by_hand_do() {
    let mut random = Random(2);
    for make in [ntm, dnc].into_iter().cycle().take(30) {
        let case = make(&mut random);
        let mut by_hand = Model::<f64>::new(case.model.clone(), 1);
        by_hand.params.change(|_, mut tensor| {
            let values = tensor.iter_mut();
            values.for_each(|value| *value = random.weight());
        });
        let file = of_file(&case, &by_hand);
        let sizes = |machine: &Model<f64>| {
            let own = machine.config.sizes();
            let heads = [own.read_heads, own.write_heads, own.rows, own.columns];
            (heads, own.layers, own.units)
        };
        assert_eq!(sizes(&file), sizes(&by_hand));
        let shape = (case.lengths[0].1, by_hand.config.inputs());
        let input = Array2::from_shape_simple_fn(shape, || random.below(2) as f32);
        let [found, wanted] = [&file, &by_hand].map(|machine| {
            let mut trace = Trace::new(&machine.config);
            machine.run(&input, hand::Draw::default(), &mut trace);
            trace
        });
        // Without a gate no head looks at the weighting before the first step.
        let has_gate = |place| match (&case.model, place) {
            (ModelConfig::Ntm(own), hand::Place::Head(head)) => {
                own.attention.gate.of(head) == Switch::On
            }
            _ => true,
        };
        let in_files = |of: &(hand::Place, hand::Array, &Series<f64>)| {
            let is_read = of.1.name != "initial" || has_gate(of.0);
            is_read && of.1.is_in_files() && of.2.width() > 0
        };
        for (place, array, series) in wanted.everything().filter(in_files) {
            let found = found
                .series(place, array)
                .unwrap_or_else(|| panic!("{}", array.name));
            assert_eq!(
                found.as_slice().len(),
                series.as_slice().len(),
                "{}",
                array.name
            );
            for (one, other) in found.as_slice().iter().zip(series.as_slice()) {
                assert!(
                    (one - other).abs() < 1e-10,
                    "{place:?} {}: {one} and {other} {:?}",
                    array.name,
                    case.set
                );
            }
        }
        let heads = wanted.heads.iter().zip(&found.heads);
        for (wanted, found) in heads {
            // A file has one or the other array more.
            let names = |head: &hand::HeadTrace<f64>| {
                let all = head.arrays();
                let all = all.filter(|own| own.0.is_of_steps() && own.1.width() > 0);
                let own = all.map(|own| own.0.name);
                own.filter(|name| !["retention", "distance"].contains(name))
                    .collect::<BTreeSet<_>>()
            };
            assert_eq!(names(found), names(wanted), "{:?}", case.set);
            assert_eq!(found.mechanism.score, wanted.mechanism.score);
        }
    }
}

#[test]
fn a_stage_that_is_off_has_no_array() {
    let set = [
        ("read", "2"),
        ("head.gate", "on off on"),
        ("head.sharpening", "off on on"),
        ("head.shift", "softmax softmax off"),
        ("head.strength", "on on off"),
        ("erase", "off"),
    ];
    let config = ModelConfig::from(EquationsConfig::included("ntm", [3, 2], &set).unwrap());
    let trace = Trace::<f32>::new(&config);
    let stages = |head: usize| {
        let arrays = [
            "strength",
            "gate",
            "gated",
            "shift",
            "shifted",
            "sharpening",
            "erase",
            "sharpened",
        ];
        let has = |name: &&str| {
            let mut all = trace.heads[head].arrays();
            all.any(|(array, series)| array.name == *name && series.width() > 0)
        };
        arrays.into_iter().filter(has).collect::<Vec<_>>()
    };
    assert_eq!(stages(0), ["strength", "gate", "gated", "shift", "shifted"]);
    assert_eq!(stages(1), ["strength", "shift", "shifted", "sharpening"]);
    assert_eq!(stages(2), ["gate", "gated", "sharpening"]);
}

macro_rules! fused {
    ($name:ident, $type:ident, $bound:literal) => {
        /// Training with the passes by hand is training with the program.
        fn $name(config: EquationsConfig, random: &mut Random) {
            assert!(config.is_fused());
            let mut machine = Model::<$type>::new(config, 1);
            machine.params.change(|_, mut tensor| {
                let values = tensor.iter_mut();
                values.for_each(|value| *value = random.weight() as $type);
            });
            let lengths = [7, 7, 4, 3, 3];
            let inputs = lengths.map(|steps| {
                let shape = (steps, machine.config.inputs());
                Array2::from_shape_simple_fn(shape, || random.below(2) as f32)
            });
            let slopes = lengths.map(|steps| {
                let shape = (steps, machine.config.outputs());
                Array2::from_shape_simple_fn(shape, || random.number() as $type)
            });
            let of = |traces: &[Trace<$type>]| {
                let workspaces = traces.iter().zip(&slopes).map(|(trace, slopes)| {
                    let mut workspace = hand::Workspace::<$type>::new(&machine.config);
                    let to = &mut workspace.upstream.logit;
                    to.reshape(trace.steps(), to.width());
                    to.as_mut_slice().fill(0.0);
                    for (t, slopes) in slopes.rows().into_iter().enumerate() {
                        let to = to.row_mut(t).iter_mut();
                        to.zip(slopes).for_each(|(to, slope)| *to = *slope);
                    }
                    // A penalty on the weightings.
                    let heads = workspace.upstream.weightings.iter_mut();
                    for (to, head) in heads.zip(&trace.heads) {
                        to.clone_from(&head.weighting);
                    }
                    workspace
                });
                let mut workspaces: Vec<_> = workspaces.collect();
                let mut gradient = hand::Params::<$type>::zeros(&machine.config);
                machine.backward(traces, &mut workspaces, &mut gradient);
                let values = traces.iter().flat_map(|trace| trace.logit.as_slice());
                (values.copied().collect::<Vec<_>>(), gradient.list.to_vec())
            };
            let mut traces: Vec<_> = (0..5).map(|_| Trace::new(&machine.config)).collect();
            let episodes = inputs.iter().map(|input| (input, hand::Draw::default()));
            machine.run_together(episodes, usize::MAX, &mut traces);
            let fused = of(&traces);
            for (input, trace) in inputs.iter().zip(&mut traces) {
                machine.run(input, hand::Draw::default(), trace);
            }
            let program = of(&traces);
            let logits = difference(&fused.0, &program.0);
            let slopes = difference(&fused.1, &program.1);
            assert!(logits < $bound && slopes < $bound, "{logits} and {slopes}");
        }
    };
}
fused!(fused_single, f32, 1e-5);
fused!(fused_double, f64, 1e-12);

#[test]
fn training_by_hand_is_that_of_the_program() {
    let mut random = Random(3);
    for make in [ntm, dnc, sam].into_iter().cycle().take(60) {
        let case = make(&mut random);
        fused_single(file(&case), &mut random);
        fused_double(file(&case), &mut random);
    }
}

#[test]
fn a_list_of_choices_is_trained_by_hand_too() {
    let lists = [
        ("read", "2"),
        ("rows", "7"),
        ("columns", "4"),
        ("units", "5"),
        ("write", "2"),
        ("head.gate", "on off on off"),
        ("head.sharpening", "off on on on"),
        ("head.shift", "softmax scalar off softmax"),
        ("head.strength", "on on off on"),
        ("head.content.score", "dot cosine cosine scaled_dot"),
        ("erase", "off on"),
    ];
    let config = EquationsConfig::included("ntm", [3, 2], &lists).unwrap();
    fused_double(config, &mut Random(4));
}

#[test]
fn other_files_are_trained_by_their_program() {
    for set in [
        ("head.content.score", "general"),
        ("head.drawn", "yes"),
        ("head.offsets", "4"),
    ] {
        let config = EquationsConfig::included("ntm", [3, 2], &[set]).unwrap();
        assert!(!config.is_fused(), "{set:?}");
    }
    let text = EquationsConfig::included("ntm", [3, 2], &[]).unwrap().text;
    let is_fused = |text: &str| {
        EquationsConfig::of_file("own.machine", text)
            .unwrap()
            .is_fused()
    };
    assert!(is_fused(&text));
    assert!(!is_fused(
        &text.replace("(1 - g) * w[steps: -1]", "w[steps: -1]")
    ));
}

/// Which labels of heads an edited file keeps: its heads, and whether they read after the write.
fn heads_of(edits: &[(&str, &str)]) -> (usize, bool) {
    let mut text = tapescope_core::equations::included::included("ntm_one_page.machine")
        .unwrap()
        .to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let config = EquationsConfig::of_file("own.machine", &text).unwrap();
    let sizes = hand::ModelConfig::from(config.clone()).sizes();
    let is_after = hand::ModelConfig::from(config).order() == Order::WriteFirst;
    (sizes.read_heads + sizes.write_heads, is_after)
}

#[test]
fn heads_that_compute_something_else_are_quantities() {
    assert_eq!(heads_of(&[]), (2, false));
    // The same equations in other words.
    let spelled = [
        ("g * w_c + (1 - g) * w[-1]", "w[-1] + g * (w_c - w[-1])"),
        ("rows    = 128", "rows    = 65536"),
    ];
    assert_eq!(heads_of(&spelled), (2, false));
    let after = [("r     = sum[rows](w * M[-1])", "r     = sum[rows](w * M)")];
    let read = "  for read\n    r     = sum[rows](w * M)                              \"read\"        # equation 2\n";
    let moved = [
        after[0],
        (read, ""),
        ("  z = linear", &format!("{read}  z = linear")),
    ];
    assert_eq!(heads_of(&moved), (2, true));
    for (from, to) in [
        ("M = M[-1] *", "M = 0.9 * M[-1] *"),
        ("sum[rows](w * M[-1]) ", "2 * sum[rows](w * M[-1]) "),
        ("softmax[rows](beta * K)", "softmax[rows](beta * K * K)"),
        ("g * w_c + (1 - g) * w[-1]", "g * w_c + (1 - g * g) * w[-1]"),
        ("shift[rows](w_g, s)", "shift[rows](shift[rows](w_g, s), s)"),
        (
            "sharpen[rows](w_s, gamma)",
            "sharpen[rows](w_s, gamma * gamma)",
        ),
        ("\"strength\"", "\"width\""),
        ("(1 - g) * w[-1]", "(1 - g) * 0.3"),
    ] {
        assert_eq!(heads_of(&[(from, to)]), (0, false), "{to}");
    }
}

#[test]
fn arrays_of_heads_with_other_axes_are_quantities() {
    let few = (
        "heads   read    = 1",
        "size few = 2 in 1..64\nheads   read    = 1",
    );
    let erase = [
        few,
        (
            "  for read, write\n    if",
            "  e = sigmoid(linear[columns](h))\n  for read, write\n    if",
        ),
        (
            "    e     = sigmoid(linear[columns](h))                       \"erase\"",
            "    e_few = sigmoid(linear[few](h)) \"erase\"",
        ),
    ];
    assert_eq!(heads_of(&erase), (0, false));
    let gated = [
        few,
        (
            "w_g   = g * w_c + (1 - g) * w[-1]                         \"gated\"",
            "q     = softmax[few](linear[few](h)) \"gated\"",
        ),
        (
            "shift[rows](w_g, s)",
            "shift[rows](g * w_c + (1 - g) * w[-1], s)",
        ),
    ];
    assert_eq!(heads_of(&gated), (0, false));
    let read = [
        few,
        ("start r[columns]", "start r[few]"),
        (
            "r     = sum[rows](w * M[-1]) ",
            "r     = linear[few](sum[rows](w * M[-1])) ",
        ),
    ];
    assert_eq!(heads_of(&read), (0, false));
    let empty = ("columns = 20  in 1..", "columns = 0   in 0..");
    assert_eq!(heads_of(&[empty]), (0, false));
    let table = [
        ("size    rows ", "size    few = 2 in 1..9\nsize    rows "),
        (
            "  for read, write\n    if",
            "  t = sigmoid(linear[few](h))\n  for read, write\n    if",
        ),
        (
            "w_c   = softmax[rows](beta * K)                           \"content\"",
            "w_t[few, rows] = softmax[rows](t * beta * K) \"content.weighting\"",
        ),
        ("g * w_c", "g * mean[few](w_t)"),
    ];
    assert_eq!(heads_of(&table), (0, false));
    let gate = [
        (
            "    g     = sigmoid(linear(h))                                \"gate\"\n",
            "",
        ),
        (
            "g * w_c + (1 - g) * w[-1]",
            "w[-1] + sigmoid(linear(h)) * (w_c - w[-1])",
        ),
    ];
    assert_eq!(heads_of(&gate), (0, false));
    // A head has an odd number of shifts.
    assert_eq!(heads_of(&[("offsets = 3  ", "offsets = 4  ")]), (0, false));
    assert_eq!(heads_of(&[("offsets = 3  ", "offsets = 5  ")]), (2, false));
}

#[test]
fn entries_beyond_the_sizes_of_a_trial_are_allowed() {
    let edits = [(
        "  z = linear[outputs](h, r)",
        "  v = sum[columns](M[-1][rows: 100])\n  z = linear[outputs](h, r, v)",
    )];
    assert_eq!(heads_of(&edits), (2, false));
}

#[test]
fn heads_of_large_files_are_not_tried() {
    let edits = [
        ("rows    = 128 in 1..", "rows    = 65536 in 65536.."),
        ("columns = 20  in 1..", "columns = 256  in 256.."),
    ];
    assert_eq!(heads_of(&edits), (0, false));
}

#[test]
fn heads_may_read_a_memory_that_the_file_changes() {
    let edits = [
        ("heads   write   = 1  ", "heads   write   = 0  "),
        (
            "M = M[-1] * product[write](1 - w * e) + sum[write](w * a)",
            "M = 0.9 * M[-1] + 0.1",
        ),
    ];
    assert_eq!(heads_of(&edits), (1, false));
}
