//! Machine files against golden values: outputs and every gradient of an independent interpreter in JAX, in f64.
//!
//! `cases/NAME.json` has a list of cases: the name of a machine file or the text of a page, keys and choices, tensors,
//! data, random numbers, and what they give. `cargo test -p tapescope-core --test golden -- --nocapture` prints the
//! largest differences.

#![allow(missing_docs, reason = "a test")]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tapescope_core::equations::bind::{Bound, GATES, IN, Layout};
use tapescope_core::equations::flatten::{Feedback, flatten};
use tapescope_core::equations::lower::{Axis, Program, Source, lower};
use tapescope_core::equations::page::{Given, Key, Page};
use tapescope_core::equations::run::Engine;

/// The largest difference that is allowed. One case is ill-conditioned: its differences grow by 1e4 from layer to layer.
const ALLOWED: f64 = 1e-10;
const ILL_CONDITIONED: (&str, usize, f64) = ("multi_head_layers", 3, 1e-8);

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn table(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn names(value: &Value) -> Vec<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}

/// The values of an array; what is no number in JSON is none.
fn numbers(value: &Value) -> Vec<f64> {
    let data = list(&value["data"]).iter();
    data.map(|number| number.as_f64().unwrap_or(f64::NAN))
        .collect()
}

fn shape(value: &Value) -> Vec<usize> {
    let lengths = list(&value["shape"]).iter();
    lengths
        .map(|length| length.as_u64().unwrap() as usize)
        .collect()
}

fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// The largest difference between two arrays.
fn difference(name: &str, found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len(), "{name}");
    let pairs = found.iter().zip(expected);
    let differences = pairs.map(|(a, b)| {
        let same = a == b || a.is_nan() && b.is_nan();
        if same { 0.0 } else { (a - b).abs() }
    });
    differences.fold(0.0, larger)
}

/// Whether a tensor is the first value of a series: what the reference begins with 0, a file may learn.
fn is_start(name: &str) -> bool {
    name.rsplit('.').next() == Some("start")
}

/// A component by its name.
fn library(name: &str) -> Option<(String, Vec<u8>)> {
    let file = format!("{name}.component");
    let text = std::fs::read(Path::new(FOLDER).join("machines").join(&file)).ok()?;
    Some((file, text))
}

/// The text of the page of a case: a page without a target gets one.
fn text(case: &Value) -> String {
    if let Some(machine) = case["machine"].as_str() {
        let path = Path::new(FOLDER).join(format!("machines/{machine}.machine"));
        return std::fs::read_to_string(path).unwrap();
    }
    let text = case["text"].as_str().unwrap();
    if text.lines().any(|line| line.starts_with("target")) {
        return text.to_owned();
    }
    let z = list(&case["outputs"]).iter().find(|one| one["name"] == "z");
    if let Some(axis) = names(&z.unwrap()["axes"]).last() {
        format!("machine \"part\"\ntarget y_[{axis}]\n{text}")
    } else {
        let text = text.replace("  z =", "  z_ =");
        format!(
            "machine \"part\"\ntarget y_[one]\nsize one = 1 in 1..1\n{text}\nonce\n  z[one] = z_ + 0 * index[one]\n"
        )
    }
}

/// A case that runs.
struct Run<'a> {
    case: &'a Value,
    page: &'a Page,
    program: &'a Program,
    engine: Engine<f64>,
    /// The series by their names.
    series: HashMap<String, usize>,
}

impl Run<'_> {
    fn layout(&self, name: &str) -> Layout {
        self.engine.layout(self.series[name]).clone()
    }

    fn axes(&self, names: &[&str]) -> Vec<Axis> {
        let axis = |name: &&str| self.engine.bound.axis(name).unwrap();
        names.iter().map(axis).collect()
    }

    fn read(&self, places: impl IntoIterator<Item = usize>) -> Vec<f64> {
        let arena = &self.engine.memory.arena;
        places.into_iter().map(|place| arena[place]).collect()
    }

    fn put(&mut self, places: &[usize], values: impl IntoIterator<Item = f64>) {
        let arena = &mut self.engine.memory.arena;
        let pairs = places.iter().zip(values);
        pairs.for_each(|(place, value)| arena[*place] = value);
    }

    fn add_gradient(&mut self, places: &[usize], values: impl IntoIterator<Item = f64>) {
        let (from, arena) = (self.engine.memory.gradients, &mut self.engine.memory.arena);
        let pairs = places.iter().zip(values);
        pairs.for_each(|(place, value)| arena[place + from] += value);
    }

    fn gradients(&self, places: Vec<usize>) -> Vec<f64> {
        let from = self.engine.memory.gradients;
        self.read(places.into_iter().map(|place| place + from))
    }

    /// The places of a tensor, in the order of its axes: `[own…, kind, gates, out…, in]`.
    fn tensor(&self, index: usize) -> Vec<usize> {
        let tensor = &self.program.tensors[index];
        let mut axes = tensor.axes.clone();
        if tensor.gates > 0 {
            axes.insert(tensor.before_gates, GATES);
        }
        if !tensor.inputs.is_empty() {
            axes.push(IN);
        }
        self.engine.bound.tensors[index].places(&axes)
    }

    /// Puts data, random numbers and tensors in their places.
    fn fill(&mut self) {
        let (case, page, program) = (self.case, self.page, self.program);
        for (index, own) in program.series.iter().enumerate() {
            let name = name_of(index, program);
            let (axes, data) = match own.source {
                Source::Input(input) => (page.inputs[input].given(), &case["inputs"][&*own.name]),
                Source::Target => (
                    page.target.as_ref().unwrap().given(),
                    &case["inputs"][&*own.name],
                ),
                Source::Noise(noise) => (page.noises[noise].given(), &case["noise"][&name]),
                _ => continue,
            };
            let axes: Vec<Axis> = own.kind.iter().chain(axes).copied().collect();
            let places = self.engine.layout(index).places(&axes);
            let mut data = numbers(data);
            data.resize(places.len(), 0.5);
            self.put(&places, data);
        }
        // An index that is drawn stands there as -1 - index.
        let draws = self.engine.draws();
        let draws: Vec<(String, Vec<usize>)> = draws
            .map(|(name, layout)| {
                let axes: Vec<Axis> = layout.dims.iter().map(|dim| dim.0).collect();
                (name.to_owned(), layout.places(&axes))
            })
            .collect();
        for (name, places) in draws {
            let drawn = numbers(&case["noise"][&name]);
            self.put(&places, drawn.into_iter().map(|index| -1.0 - index));
        }
        for (index, tensor) in program.tensors.iter().enumerate() {
            let values = &case["parameters"][&tensor.name];
            if values.is_null() && is_start(&tensor.name) {
                continue;
            }
            let (places, values) = (self.tensor(index), numbers(values));
            assert_eq!(places.len(), values.len(), "{}", tensor.name);
            self.put(&places, values);
        }
    }

    /// The loss of the answer, whose gradient is added; and all penalties.
    fn loss(&mut self) -> f64 {
        let target = self.page.target.as_ref().unwrap();
        let target_axes = target.given();
        let answer = ["z", "p"]
            .into_iter()
            .find(|name| self.series.contains_key(*name))
            .unwrap();
        let layout = self.layout(answer);
        let length = |axis: Axis| layout.dims.iter().find(|dim| dim.0 == axis).unwrap().1;
        // The classes are the last axis; every other entry has a mask.
        let classes = *target_axes.last().unwrap();
        let mut order: Vec<Axis> = layout
            .dims
            .iter()
            .map(|dim| dim.0)
            .filter(|axis| *axis != classes)
            .collect();
        order.push(classes);
        let lengths: Vec<usize> = order.iter().map(|axis| length(*axis)).collect();
        let (width, y) = (
            length(classes),
            numbers(&self.case["inputs"][&*target.names[0]]),
        );
        let mut loss = 0.0;
        for (row, places) in layout.places(&order).chunks(width.max(1)).enumerate() {
            let (mut index, mut rest) = (vec![0; order.len()], row * width);
            for (index, length) in index.iter_mut().zip(&lengths).rev() {
                (*index, rest) = (rest % length, rest / length);
            }
            let at = |axis: &Axis| order.iter().position(|own| own == axis).unwrap();
            let masks = table(&self.case["mask"]).map(|(axis, mask)| {
                let axis = self.engine.bound.axis(axis).unwrap();
                mask[index[at(&axis)]].as_f64().unwrap()
            });
            let factor: f64 = masks.product();
            let outer = &target_axes[..target_axes.len() - 1];
            let begin = outer
                .iter()
                .fold(0, |place, axis| place * lengths[at(axis)] + index[at(axis)])
                * width;
            let (z, y) = (self.read(places.iter().copied()), &y[begin..begin + width]);
            let pairs = || z.iter().zip(y);
            let slopes: Vec<f64> = if answer == "p" {
                loss -= factor
                    * pairs()
                        .filter(|(_, y)| **y > 0.0)
                        .map(|(p, y)| y * p.ln())
                        .sum::<f64>();
                pairs()
                    .map(|(p, y)| if *y > 0.0 { -y / p } else { 0.0 })
                    .collect()
            } else if self.case["kind"] == "sigmoid" {
                loss += factor
                    * pairs()
                        .map(|(z, y)| z.max(0.0) + (-z.abs()).exp().ln_1p() - y * z)
                        .sum::<f64>();
                pairs().map(|(z, y)| 1.0 / (1.0 + (-z).exp()) - y).collect()
            } else {
                let most = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = z.iter().map(|z| (z - most).exp()).sum();
                let all: f64 = y.iter().sum();
                loss -= factor * pairs().map(|(z, y)| y * (z - most - sum.ln())).sum::<f64>();
                pairs()
                    .map(|(z, y)| all * (z - most).exp() / sum - y)
                    .collect()
            };
            self.add_gradient(places, slopes.into_iter().map(|slope| slope * factor));
        }
        let penalties = self
            .series
            .iter()
            .filter(|(name, _)| name.rsplit('.').next() == Some("penalty"));
        let penalties: Vec<usize> = penalties.map(|(_, series)| *series).collect();
        for series in penalties {
            let layout = self.engine.layout(series);
            let axes: Vec<Axis> = layout.dims.iter().map(|dim| dim.0).collect();
            let places = layout.places(&axes);
            loss += self.read(places.iter().copied()).iter().sum::<f64>();
            self.add_gradient(&places, std::iter::repeat(1.0));
        }
        loss
    }

    /// The largest differences of the outputs and of the gradients.
    fn compare(mut self) -> [f64; 2] {
        let case = self.case;
        self.fill();
        self.engine.forward();
        self.engine.clear_gradients();
        let mut loss = 0.0;
        if case["upstream"].is_array() {
            for upstream in list(&case["upstream"]) {
                let axes = self.axes(&names(&upstream["axes"]));
                let places = self
                    .layout(upstream["name"].as_str().unwrap())
                    .places(&axes);
                self.add_gradient(&places, numbers(upstream));
            }
        } else {
            loss = self.loss();
        }
        self.engine.backward();
        let mut found = [0.0; 2];
        for expected in list(&case["outputs"]) {
            let (name, data) = (expected["name"].as_str().unwrap(), numbers(expected));
            if name == "loss" {
                found[0] = larger(found[0], difference(name, &[loss], &data));
                continue;
            }
            let (mut layout, axes) = (self.layout(name), self.axes(&names(&expected["axes"])));
            // The axis `past` is as long as it is in the file.
            for (axis, length) in axes.iter().zip(shape(expected)) {
                let of_it = layout
                    .dims
                    .iter_mut()
                    .filter(|dim| dim.0 == *axis && &*self.program.axes[*axis].name == "past");
                of_it.for_each(|dim| dim.1 = length);
            }
            found[0] = larger(
                found[0],
                difference(name, &self.read(layout.places(&axes)), &data),
            );
        }
        for (index, tensor) in self.program.tensors.iter().enumerate() {
            let expected = &case["gradients"][&tensor.name];
            if expected.is_null() && is_start(&tensor.name) {
                continue;
            }
            let expected = numbers(expected);
            found[1] = larger(
                found[1],
                difference(&tensor.name, &self.gradients(self.tensor(index)), &expected),
            );
        }
        for (name, expected) in table(&case["input_gradients"]) {
            let input = self
                .page
                .inputs
                .iter()
                .find(|input| *input.names[0] == **name)
                .unwrap();
            let gradients = self.gradients(self.layout(name).places(input.given()));
            found[1] = larger(found[1], difference(name, &gradients, &numbers(expected)));
        }
        found
    }
}

/// The name of a series in a case: with the kind of its heads.
fn name_of(series: usize, program: &Program) -> String {
    let own = &program.series[series];
    match own.kind {
        Some(kind) if !matches!(&*own.name, "z" | "p") => {
            format!("{}.{}", program.axes[kind].name, own.name)
        }
        _ => own.name.to_string(),
    }
}

fn check(case: &Value) -> [f64; 2] {
    let text = text(case);
    let file = case["machine"].as_str().unwrap_or("page");
    let mut given = Given::default();
    for (name, choice) in table(&case["choices"]) {
        given
            .choices
            .insert(name.as_str().into(), vec![choice.as_str().unwrap().into()]);
    }
    // Widths follow from the data, and some constants are the trainer's: neither are keys.
    let plain = Page::read(text.as_bytes(), file, &Given::default(), &library).unwrap();
    let all = table(&case["numbers"]).map(|(name, number)| (name, number.as_f64().unwrap()));
    let (keys, others): (Vec<_>, Vec<_>) =
        all.partition(|(name, _)| plain.key(name).is_some_and(Key::is_settable));
    given.numbers.extend(
        keys.into_iter()
            .map(|(name, number)| (name.as_str().into(), number)),
    );
    let page = Arc::new(Page::read(text.as_bytes(), file, &given, &library).unwrap());
    let mut program = lower(&page).unwrap();
    let flat = flatten(&mut program, Feedback::Target);
    let program = Arc::new(program);
    let mut lengths: HashMap<&str, usize> = HashMap::new();
    for data in page.inputs.iter().chain(&page.target) {
        let axes = data.given().iter().map(|axis| &*page.axes[*axis].name);
        lengths.extend(axes.zip(shape(&case["inputs"][&*data.names[0]])));
    }
    let length = |axis: &str| lengths.get(axis).copied();
    let bound = Bound::new(&page, &program, &flat, &length).unwrap();
    let mut engine = Engine::new(bound, &flat, true);
    for (name, number) in others {
        if let Some(constant) = page.constant(name) {
            engine.memory.constants[constant] = number;
        }
    }
    let mut series: HashMap<String, usize> = (0..program.series.len())
        .map(|index| (name_of(index, &program), index))
        .collect();
    // The answer of a page that got a target.
    if let Some(answer) = series.get("z_").copied() {
        series.insert("z".to_owned(), answer);
    }
    let run = Run {
        case,
        page: &page,
        program: &program,
        engine,
        series,
    };
    run.compare()
}

#[test]
fn outputs_and_gradients_are_those_of_the_reference() {
    let mut worst: BTreeMap<String, (usize, [f64; 2])> = BTreeMap::new();
    let mut failed = Vec::new();
    for entry in std::fs::read_dir(Path::new(FOLDER).join("tests/cases")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for (number, case) in cases.iter().enumerate() {
            let found = check(case);
            let ill = ILL_CONDITIONED.0 == name && ILL_CONDITIONED.1 == number;
            let allowed = if ill { ILL_CONDITIONED.2 } else { ALLOWED };
            if !found.iter().all(|found| *found < allowed) {
                failed.push(format!("{name} {number}: {found:?}"));
            }
            let of_file = worst.entry(name.clone()).or_default();
            of_file.0 += 1;
            of_file.1 = [0, 1].map(|which| larger(of_file.1[which], found[which]));
        }
    }
    println!(
        "{:28} {:>5} {:>9} {:>9}",
        "file", "cases", "outputs", "gradients"
    );
    for (name, (count, [outputs, gradients])) in &worst {
        println!("{name:28} {count:5} {outputs:9.1e} {gradients:9.1e}");
    }
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(worst.values().map(|own| own.0).sum::<usize>(), 117);
}
