//! Every array of a file: its name, axes, sizes and place among the others, for writing and reading alike. What a
//! machine computes stands in the tables of [`crate::model::trace`]; here stands what a file has beside it.

use super::format::KEYFRAME;
use crate::model::{
    Array, ArraySpec as Spec, Conventions, ModelConfig, Place, Range, Trace, array, split_head,
};

use Range::{Any, AtLeast, Within};

/// What the answer should be, [T, Y].
#[rustfmt::skip] // A row for every array.
pub const TARGET: Array = &Spec::new("target", &["t", "y"], "", Within(0.0, 1.0), "from the task: 0 or 1, or any number where `answer` is `values`");
/// The steps whose output is scored, [T].
#[rustfmt::skip]
pub const MASK: Array = &Spec::new("mask", &["t"], "", Within(0.0, 1.0), "1 in the steps whose output is scored, else 0");
/// The loss of every step, [T].
#[rustfmt::skip]
pub const LOSS: Array = &Spec::new("loss", &["t"], "", AtLeast(0.0), "bits: −Σ log2(y where the target is 1, 1 − y where it is 0), of symbols −log2(y of the target); of values Σ (y − target)² over the number of scored values of the episode; computed from the logit, because an output rounded to 1 is not precise enough; 0 in unscored steps");
/// M_T, [N, M].
#[rustfmt::skip]
pub const LAST_MEMORY: Array = &Spec::new("memory.last", &["n", "m"], "M_T", Any, "in place of `memory` if that is large");
/// M_64, M_128, …, [F, N, M].
#[rustfmt::skip]
pub const KEYFRAMES: Array = &Spec::new("memory.keyframes", &["f", "n", "m"], "M_64, M_128, …", Any, "in place of `memory`: frame i is M_t with t = 64·(i + 1)");

/// The arrays in a file besides those that the machine computed. M_0 is there also where all of the memory is.
const BESIDE: [Array; 6] = [
    TARGET,
    MASK,
    LOSS,
    array::INITIAL_MEMORY,
    LAST_MEMORY,
    KEYFRAMES,
];

/// True for an array that every file must have.
pub fn is_needed(array: Array) -> bool {
    [array::INPUT, array::WEIGHTING].contains(&array)
}

/// Rank of an array in a file: episode and answer, controller, memory, heads.
fn rank(place: Place, array: Array) -> usize {
    match (place, array) {
        (Place::Head(_), _) => 9,
        (_, array::INPUT) => 0,
        (_, TARGET | MASK) => 1,
        (_, LOSS) => 3,
        (_, array::HIDDEN) => 4,
        (Place::Layer(_), _) => 5,
        (_, array::INITIAL_MEMORY) => 6,
        (_, array::MEMORY) => 7,
        (_, LAST_MEMORY | KEYFRAMES) => 8,
        (Place::Machine, _) => 2,
    }
}

/// An array that a file may have.
#[derive(Debug)]
pub struct Listed {
    /// The name; `HEAD.key` for that of a head.
    pub name: String,
    /// The kinds of heads that have it.
    pub heads: Vec<&'static str>,
    /// The description.
    pub spec: Array,
}

/// Splits the name of an array of a head into that of the head and its own.
pub(super) fn head_of(name: &str) -> Option<(&str, &str)> {
    let known = split_head(name).filter(|[kind, ..]| matches!(*kind, "read" | "write"));
    known.and_then(|_| name.split_once('.'))
}

/// Returns the entry of [`arrays`] for a name in a file.
pub(super) fn named<'a>(all: &'a [Listed], name: &str) -> Option<&'a Listed> {
    all.iter().find(|listed| match head_of(name) {
        Some((_, array)) if !listed.heads.is_empty() => listed.spec.name == array,
        _ => listed.name == name,
    })
}

/// Machines that together have every array that is not of a machine file.
fn machines() -> impl Iterator<Item = ModelConfig> {
    let every = ModelConfig::with_every_array().into_iter();
    every.filter(|config| !config.is_recorded_apart())
}

/// Every array that a file may have, in the order of the file: the reference for documentation, schema and other
/// programs.
pub fn arrays() -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    let mut each: Vec<_> = machines()
        .flat_map(|config| described(&Trace::of_recording(&config, [0, 1], Some(1)), 0))
        .collect();
    each.sort_by_key(|array| rank(array.place, array.spec));
    for Described { spec, name, .. } in each {
        let mut kinds = ["read", "write"].into_iter();
        let kind = head_of(&name).and_then(|(head, _)| kinds.find(|kind| head.starts_with(kind)));
        let name = match kind {
            Some(_) => format!("HEAD.{}", spec.name),
            None => name,
        };
        match all.iter_mut().find(|listed| listed.name == name) {
            Some(Listed { heads, .. }) => heads.extend(kind.filter(|kind| !heads.contains(kind))),
            None => all.push(Listed {
                name,
                heads: kind.into_iter().collect(),
                spec,
            }),
        }
    }
    all
}

/// The arrays that follow from others, by their names, those of heads first.
pub fn recomputed() -> Vec<&'static str> {
    let mut all = Vec::new();
    for config in machines() {
        let rules = config.dependencies(Conventions::OWN);
        let follows = |(place, array): &(Place, Array)| {
            let mut rules = rules.iter();
            rules.any(|rule| (rule.place, rule.array) == (*place, *array))
        };
        let trace = Trace::<f32>::new(&config);
        let arrays = trace.everything().map(|(place, array, _)| (place, array));
        all.extend(arrays.filter(follows));
    }
    all.sort_by_key(|(place, _)| !matches!(place, Place::Head(_)));
    let mut names: Vec<_> = Vec::new();
    for (_, array) in all {
        if !names.contains(&array.name) {
            names.push(array.name);
        }
    }
    names.extend([array::OUTPUT.name, LOSS.name]);
    names
}

/// An array as a file describes it.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) dims: Vec<&'static str>,
    pub(super) shape: Vec<usize>,
    /// The part that it belongs to; for the layers of a controller, which are one array, the first layer.
    pub(super) place: Place,
    pub(super) spec: Array,
}

/// Returns the arrays of a machine and of an episode of `steps` steps, each once, in the order of a file; `trace` may
/// be empty.
pub(super) fn described(trace: &Trace, steps: usize) -> Vec<Described> {
    let has_memory = trace.memory_columns.width() > 0;
    let there = trace.everything().filter(|(place, spec, series)| {
        spec.is_in_files() && series.width() > 0 && !matches!(place, Place::Layer(1..))
    });
    let there = there.map(|(place, spec, _)| (place, spec));
    let beside = BESIDE.into_iter().map(|array| (Place::Machine, array));
    let of_memory = [array::INITIAL_MEMORY, LAST_MEMORY, KEYFRAMES];
    let beside = beside.filter(|(_, array)| has_memory || !of_memory.contains(array));
    let mut all: Vec<_> = there.chain(beside).collect();
    all.sort_by_key(|(place, spec)| rank(*place, spec));
    let all = all.into_iter();
    all.map(|(place, spec)| Described::new(trace, steps, place, spec))
        .collect()
}

/// Arrays of [`described`] in a file: all of the memory, or the first, the last and every 64th.
pub(super) fn written(trace: &Trace, steps: usize, full_memory: bool) -> Vec<Described> {
    let mut all = described(trace, steps);
    all.retain(|array| match array.spec {
        array::MEMORY => full_memory,
        LAST_MEMORY | KEYFRAMES => !full_memory,
        _ => true,
    });
    all
}

impl Described {
    /// Describes an array; with a single layer it has no axis of layers.
    pub(super) fn new(trace: &Trace, steps: usize, place: Place, spec: Array) -> Self {
        if let Some(sizes) = trace.array_sizes(spec) {
            let mut shape: Vec<usize> = spec.dims.iter().map(|_| 1).collect();
            let first = usize::from(spec.dims[0] == "t");
            shape[..first].fill(steps);
            let inner = shape[first..].iter_mut().zip(sizes);
            inner.for_each(|(to, size)| *to = *size);
            return Self {
                name: trace.array_name(place, spec),
                shape,
                dims: spec.dims.to_vec(),
                place,
                spec,
            };
        }
        // A key or a read as long as a row has the axis of the row.
        let is_row =
            |axis| ["k", "r"].contains(&axis) && width(trace, axis) == trace.memory_size()[1];
        let axes = spec.dims.iter();
        let axes = axes.map(|&axis| if is_row(axis) { "m" } else { axis });
        let dims: Vec<_> = axes
            .filter(|&axis| axis != "l" || trace.layers.len() > 1)
            .collect();
        let memory = trace.memory_size();
        let is_of_memory = spec.dims.ends_with(&["n", "m"]);
        let size = |axis: &&str| match *axis {
            "t" => steps,
            "t+1" => steps.saturating_add(1),
            "l" => trace.layers.len(),
            "f" => steps.saturating_sub(1) / KEYFRAME,
            "n" if is_of_memory => memory[0],
            "m" if memory[1] > 0 => memory[1],
            axis => width(trace, axis),
        };
        Self {
            name: trace.array_name(place, spec),
            shape: dims.iter().map(size).collect(),
            dims,
            place,
            spec,
        }
    }

    /// Number of values.
    pub(super) fn values(&self) -> usize {
        self.shape.iter().copied().fold(1, usize::saturating_mul)
    }
}

/// Parts whose series make up an array of a file: for a layer, all layers.
pub(super) fn places(trace: &Trace, place: Place) -> Vec<Place> {
    match place {
        Place::Layer(_) => (0..trace.layers.len()).map(Place::Layer).collect(),
        one => vec![one],
    }
}

/// The size of an axis of some array other than time; 0 where no array has it.
pub(super) fn width(trace: &Trace, axis: &str) -> usize {
    let is_of = |spec: Array| {
        let mut space = spec.dims.iter().filter(|axis| !["t", "l"].contains(axis));
        space.next() == Some(&axis) && space.next().is_none()
    };
    let there = || {
        trace
            .everything()
            .filter(|(_, _, series)| series.width() > 0)
    };
    let one = there().find(|(_, spec, _)| is_of(spec));
    let one = one.map(|(_, _, series)| series.width());
    // Some stand only beside another axis.
    let of_two = || {
        there().find_map(|(_, spec, series)| match spec.dims {
            [first, other] if *first == axis => series.width().checked_div(width(trace, other)),
            _ => None,
        })
    };
    one.or_else(of_two).unwrap_or(0)
}

/// [N, M] as in a file to column after column as in [`Trace::memory_columns`].
pub(super) fn memory_columns(rows: &[f32], columns: usize, to: &mut [f32]) {
    let values = (0..columns).flat_map(|column| rows.iter().skip(column).step_by(columns));
    to.iter_mut().zip(values).for_each(|(to, &from)| *to = from);
}
