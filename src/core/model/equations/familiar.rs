//! Heads, layers and encoders of a machine file that have the names of those of other machines: their arrays stand in the
//! places where pictures, losses and measures look for them. This is the only adapter between the two.

use super::assembled::assemble;
use super::interned;
use super::labels::{array_of_head, attention, choice, chosen, head_of, is_alike};
use super::memory_heads::Written;
use super::parts::{Outline, Part};
use super::quantities::{Held, Quantity, Same};
use crate::equations::program::Axis;
use crate::model::array;
use crate::model::attention::{Mechanism, Score, Sees, ShiftForm};
use crate::model::config::Order;
use crate::model::spec::{Array, ArraySpec, Place};

/// The heads of a file, the memory that they see, and the layer that controls them.
#[derive(Clone, Debug)]
pub(super) struct Familiar {
    /// The arrays of each head that only some heads have.
    pub heads: Vec<&'static [Array]>,
    /// The memory that they see.
    pub memory: Memory,
    /// Layers of a controller.
    pub layers: usize,
    /// Layers of a stack that have heads each; 1 without one.
    stack: usize,
    mechanisms: Vec<Mechanism>,
}

/// The memory of heads.
#[derive(Clone, Debug)]
pub(super) enum Memory {
    /// A row for each step.
    Steps(Rows),
    /// Rows that are written.
    Written(Written),
}

/// A memory with a row for each step of the input, or of the episode.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The array whose steps are the rows.
    pub array: (Place, Array),
    /// The axis of the numbers of a row.
    pub columns: Axis,
    /// The rows that each head sees.
    sees: Vec<Sees>,
}

impl Rows {
    /// The rows that a head sees.
    pub(super) fn sees(&self, head: usize) -> Sees {
        self.sees[head.min(self.sees.len() - 1)]
    }

    /// Whether the rows are all steps of a machine that answers after its source.
    pub(super) fn are_of_both_parts(&self) -> bool {
        self.sees.contains(&Sees::OfPart)
    }
}

impl Familiar {
    /// The mechanism of a head.
    pub(super) fn mechanism(&self, head: usize) -> Mechanism {
        let own = self.mechanisms[head.min(self.mechanisms.len() - 1)].clone();
        match &self.memory {
            Memory::Written(_) => own,
            Memory::Steps(rows) => Mechanism {
                layer: head * self.stack / self.heads.len().max(1),
                shift_form: ShiftForm::None,
                sees: Some(rows.sees(head)),
                ..own
            },
        }
    }

    /// The memory, where it has a row for each step.
    pub(super) fn steps(&self) -> Option<&Rows> {
        match &self.memory {
            Memory::Steps(rows) => Some(rows),
            Memory::Written(_) => None,
        }
    }

    /// The order of reads and writes in a step.
    pub(super) fn order(&self) -> Order {
        match &self.memory {
            Memory::Steps(_) => Order::ReadFirst,
            Memory::Written(written) => written.order,
        }
    }

    /// Updates the description of the rows of its memory, to which what its line reads was added.
    pub(super) fn describe_rows(&mut self, all: &[Quantity]) {
        if let Memory::Steps(rows) = &mut self.memory {
            let (place, array) = rows.array;
            let is_it = |own: &&Quantity| own.place == place && own.array.name == array.name;
            let own = all.iter().find(is_it);
            rows.array.1 = own.map_or(array, |own| own.array);
        }
    }

    /// Sets the order, where the heads write.
    pub(super) fn set_order(&mut self, order: Order) {
        if let Memory::Written(written) = &mut self.memory {
            written.order = order;
        }
    }

    /// The heads that read; the others write.
    pub(super) fn read_heads(&self) -> usize {
        match &self.memory {
            Memory::Steps(_) => self.heads.len(),
            Memory::Written(written) => written.read_heads,
        }
    }

    /// Finds the heads of a file and gives their arrays their places; none where its heads are others than these pictures know.
    pub(super) fn find(outline: &Outline, all: &mut Vec<Quantity>) -> Option<Self> {
        let stack = stack_of(outline, all);
        let mut placed = assemble(outline, &by_layer(all, stack));
        join_tapes(&mut placed);
        let found = Self::place_written(outline, &mut placed);
        let count = stack.map_or(1, |(_, count)| count);
        let found = found.or_else(|| Self::place(outline, &mut placed, count));
        if found.is_some() {
            *all = placed;
        }
        found
    }

    fn place(outline: &Outline, all: &mut Vec<Quantity>, stack: usize) -> Option<Self> {
        let (memory, score, heads) = find_rows(outline, all)?;
        let is_layer = |own: &&Quantity| {
            let is_controller = own.array.name == "controller.hidden" && own.axes.len() == 1;
            is_controller && !own.is_of_source()
        };
        let layers = all.iter().filter(is_layer).count();
        let (axes, mut layer, mut first_key) = (&outline.program.axes, [0; 2], None);
        for own in all.iter_mut() {
            let mut known = place_of(own, heads, layers, &mut layer);
            // All heads have keys of one length: another one stays with the machine, which says its size.
            if known.is_some_and(|(_, array)| array == array::KEY) {
                let length = axes[axes[own.axes[0]].origin].trial;
                known = known.filter(|_| *first_key.get_or_insert(length) == length);
            }
            (own.place, own.array) = known.unwrap_or((own.place, own.array));
        }
        add_contents(all);
        if memory.are_of_both_parts() {
            share_rows(all, &memory);
        }
        Some(Self {
            heads: further_arrays(all, heads),
            memory: Memory::Steps(memory),
            layers,
            stack,
            mechanisms: vec![attention(outline, score, None).of(0)],
        })
    }

    /// The heads of a memory that is written, under a controller.
    fn place_written(outline: &Outline, all: &mut Vec<Quantity>) -> Option<Self> {
        let (written, mechanisms) = Written::place(outline, all)?;
        let layers = place_layers(outline, all);
        Some(Self {
            heads: further_arrays(all, mechanisms.len()),
            memory: Memory::Written(written),
            layers,
            stack: 1,
            mechanisms,
        })
    }
}

/// The arrays of each head that only some heads have.
fn further_arrays(all: &[Quantity], heads: usize) -> Vec<&'static [Array]> {
    let further = |head: usize| {
        let own = all.iter().filter(|own| own.place == Place::Head(head));
        let mut further: Vec<Array> = Vec::new();
        for array in own.map(|own| own.array) {
            if !array::ALL_OF_HEADS.contains(&array) && !further.contains(&array) {
                further.push(array);
            }
        }
        interned::list(&further)
    };
    (0..heads).map(further).collect()
}

/// The memory of the heads of a file, their score, and their number.
fn find_rows(outline: &Outline, all: &[Quantity]) -> Option<(Rows, Score, usize)> {
    let named = |name: &str| all.iter().find(|own| own.array.name == name);
    let heads = (0..).map_while(|head| named(&format!("read{head}.weighting")));
    let heads: Vec<&Quantity> = heads.collect();
    let origin = |axis: Axis| outline.program.axes[axis].origin;
    let over = |own: &Quantity| match own.axes[..] {
        [rows] if own.time.is_some() => Some(origin(rows)),
        _ => None,
    };
    let first = over(heads.first()?)?;
    let (source, (_, part)) = (outline.data[0].steps?, heads[0].time?);
    let is_past = |axis: Axis| &*outline.program.axes[axis].name == "past";
    let is_answer = part != Part::Steps;
    let mut score = chosen(outline, "score", None).unwrap_or(Score::Dot);
    let (rows, sees) = if is_past(first) {
        (
            named("controller.hidden").filter(|_| !is_answer),
            Sees::Earlier,
        )
    } else if let Some(embedded) = named("embedded") {
        score = Score::ScaledDot;
        let is_causal = choice(outline, "mask", None) == Some("causal");
        let sees = if is_causal {
            Sees::UpToNow
        } else {
            Sees::Sequence
        };
        (Some(embedded), sees)
    } else if named("read1.weighting").and_then(over).is_some_and(is_past) {
        (named("controller.hidden"), Sees::Source)
    } else {
        let of_texts = named("rows").filter(|rows| !rows.pieces.is_empty());
        let annotations = of_texts
            .or(named("encoder.annotations"))
            .or(named("annotations"));
        (
            annotations,
            if is_answer { Sees::All } else { Sees::Sequence },
        )
    };
    let is_tape = sees == Sees::Source;
    let is_seen = |head: &&Quantity| {
        let own = over(head);
        own == Some(first) || is_tape && own.is_some_and(is_past)
    };
    let is_source = is_past(first) || first == origin(source);
    if named("memory").is_some()
        || !is_source
        || !heads.iter().all(is_seen)
        || outline.data.len() != 2 && heads[0].pieces.is_empty()
    {
        return None;
    }
    let rows = rows.filter(|own| own.time.is_some())?;
    let &[columns] = &rows.axes[..] else {
        return None;
    };
    let known = place_of(rows, heads.len(), 1, &mut [0; 2]);
    let sees = heads.iter().map(|head| match over(head) {
        Some(axis) if is_tape && is_past(axis) => Sees::OfPart,
        _ => sees,
    });
    let sees = sees.collect();
    let memory = Rows {
        array: known.unwrap_or((rows.place, rows.array)),
        columns,
        sees,
    };
    Some((memory, score, heads.len()))
}

/// Gives the arrays of an encoder that attends to its own steps the names of those of a decoder that does so: both are the
/// tape of the second head.
fn join_tapes(all: &mut [Quantity]) {
    let is_tape = |own: &Quantity| own.array.name == "encoder.weighting";
    if !all.iter().any(is_tape) {
        return;
    }
    let arrays: Vec<Array> = all.iter().map(|own| own.array).collect();
    for own in all {
        let name = match own.array.name.strip_prefix("encoder.") {
            Some(end @ ("hidden" | "cell")) => format!("controller.{end}"),
            Some(end @ ("similarity" | "weighting" | "read")) => format!("read1.{end}"),
            Some(end @ "attended_cell") => end.to_owned(),
            _ => continue,
        };
        let of_decoder = arrays.iter().find(|array| array.name == name).copied();
        own.array =
            of_decoder.unwrap_or_else(|| interned::array(own.array.called(interned::text(&name))));
    }
}

/// Gives the arrays of heads a column for each step of source and answer, and says which arrays have two quantities: one for
/// each part of the episode.
fn share_rows(all: &mut [Quantity], memory: &Rows) {
    for own in all.iter_mut() {
        if let (Place::Head(head), Some((_, part)), true) =
            (own.place, own.time, own.array.dims.contains(&"n"))
        {
            let is_own_tape = memory.sees(head) == Sees::OfPart;
            own.columns = Some(if is_own_tape { part } else { Part::Source });
        }
    }
    let arrays: Vec<_> = all.iter().map(|own| (own.place, own.array)).collect();
    for (own, array) in all.iter_mut().zip(&arrays) {
        if arrays.iter().filter(|other| *other == array).count() > 1 {
            own.same = Same::InOtherPart;
        }
    }
}

/// Adds what the content stage of each head makes: its weighting, or the distribution that it draws from.
fn add_contents(all: &mut Vec<Quantity>) {
    let has = |place: Place, array: Array| {
        let is_it = |own: &Quantity| (own.place, own.array) == (place, array);
        all.iter().any(is_it)
    };
    let mut with_contents = Vec::new();
    for own in all.iter() {
        let is_drawn = has(own.place, array::DISTRIBUTION);
        let last = if is_drawn {
            array::DISTRIBUTION
        } else {
            array::WEIGHTING
        };
        let is_of_head = matches!(own.place, Place::Head(_));
        if is_of_head && own.array == last && !has(own.place, array::CONTENT) {
            with_contents.push(Quantity {
                array: array::CONTENT,
                same: Same::Here,
                ..own.clone()
            });
        }
        with_contents.push(own.clone());
    }
    *all = with_contents;
}

/// The axis of the layers of a stack that have heads each, and their number.
fn stack_of(outline: &Outline, all: &[Quantity]) -> Option<(Axis, usize)> {
    let mut all = all.iter();
    let weighting = all.find(|own| own.array.name == "read0.weighting")?;
    match weighting.axes[..] {
        [layers, _] if outline.page.rank(layers).0 == 0 => {
            Some((layers, outline.page.length(layers)?))
        }
        _ => None,
    }
}

/// All quantities, but those of heads and states in a stack of layers one for each layer: the heads of the first layer come
/// first.
fn by_layer(all: &[Quantity], stack: Option<(Axis, usize)>) -> Vec<Quantity> {
    let Some((layers, count)) = stack else {
        return all.to_vec();
    };
    let ends = all.iter().filter_map(|own| head_of(own.array.name, "read"));
    let heads = ends.filter(|(_, end)| *end == "weighting").count();
    let mut split = Vec::new();
    for own in all {
        let (name, at) = (
            own.array.name,
            own.axes.iter().position(|axis| *axis == layers),
        );
        let head = head_of(name, "read");
        let Some(at) = at.filter(|_| head.is_some() || name == "controller.hidden") else {
            split.push(own.clone());
            continue;
        };
        for layer in 0..count {
            let of_layer = head.map(|(head, end)| format!("read{}.{end}", layer * heads + head));
            let name = of_layer.map_or(name, |own| interned::text(&own));
            split.push(entry_of(own, at, layer, name));
        }
    }
    split
}

/// One entry of an axis of a quantity, under this name.
fn entry_of(own: &Quantity, axis: usize, entry: usize, name: &'static str) -> Quantity {
    let mut part = own.clone();
    part.entries.push((part.axes.remove(axis), entry));
    let mut dims = own.array.dims.to_vec();
    dims.remove(axis + usize::from(own.time.is_some()));
    part.array = interned::array(ArraySpec {
        name,
        dims: interned::texts(&dims),
        entry_names: if axis < part.axes.len() {
            own.array.entry_names
        } else {
            &[]
        },
        ..*own.array
    });
    part
}

/// Gives the states of a controller that is the whole machine their places, and returns the number of its layers; 0 for a file
/// with other quantities.
pub(super) fn place_controller(outline: &Outline, all: &mut Vec<Quantity>) -> usize {
    let placed = all.iter().map(|own| of_layers(outline, own));
    let Some(mut placed) = placed.collect::<Option<Vec<_>>>() else {
        return 0;
    };
    let mut placed: Vec<Quantity> = placed.drain(..).flatten().collect();
    let layers = layers_of(&placed);
    if layers > 0 {
        std::mem::swap(all, &mut placed);
    }
    layers
}

/// Gives the states of a controller of heads their places, and returns the number of its layers.
fn place_layers(outline: &Outline, all: &mut Vec<Quantity>) -> usize {
    let placed = all
        .iter()
        .map(|own| of_layers(outline, own).unwrap_or_else(|| vec![own.clone()]));
    *all = placed.flatten().collect();
    layers_of(all)
}

fn layers_of(all: &[Quantity]) -> usize {
    let is_layer = |own: &&Quantity| matches!(own.place, Place::Layer(_));
    let layers = all.iter().filter(is_layer);
    layers.filter(|own| own.array == array::HIDDEN).count()
}

/// The states of a controller in their layers, or the answer; none for other quantities. The first layer has the label
/// `controller`, those above it `upper`.
fn of_layers(outline: &Outline, own: &Quantity) -> Option<Vec<Quantity>> {
    if own.array == array::LOGIT {
        return Some(vec![own.clone()]);
    }
    let mut words = own.array.name.splitn(3, '.');
    let (layer, state) = (words.next()?, words.next()?);
    let state = match state {
        "hidden" => array::HIDDEN,
        "cell" => array::CELL,
        // The state of the last layer once more.
        "top" if layer == "controller" => return Some(vec![]),
        _ => return None,
    };
    let at = |layer: usize, part: Quantity| Quantity {
        place: Place::Layer(layer),
        array: state,
        ..part
    };
    let count = |axis: Axis| outline.page.length(axis).unwrap_or(0);
    Some(match (layer, own.held, &own.axes[..]) {
        ("controller", Held::Values(_), [_]) if own.time.is_some() => vec![at(0, own.clone())],
        ("controller", Held::First(..), _) => vec![own.clone()],
        ("upper", Held::Values(_), [upper, _]) if own.time.is_some() => {
            let part = |entry| at(1 + entry, entry_of(own, 0, entry, own.array.name));
            (0..count(*upper)).map(part).collect()
        }
        ("upper", Held::First(..), [upper, _]) if own.time.is_none() => {
            let is_there = count(*upper) > 0;
            is_there.then(|| own.clone()).into_iter().collect()
        }
        ("upper", Held::First(..), _) => vec![],
        _ => return None,
    })
}

/// The place of an array, with its description there, by its name. `layer`: how many states and cells were there before.
fn place_of(
    own: &Quantity,
    heads: usize,
    layers: usize,
    layer: &mut [usize; 2],
) -> Option<(Place, Array)> {
    let name = own.array.name;
    // Penalties are those of the machine.
    let head = head_of(name, "read").filter(|head| head.0 < heads && !own.array.is_penalty());
    if let Some((head, end)) = head {
        return array_of_head(own, end).map(|array| (Place::Head(head), array));
    }
    let states = [array::HIDDEN, array::CELL].into_iter().zip(layer);
    let mut states = states.filter(|(known, _)| known.name == name && own.axes.len() == 1);
    if let Some((known, before)) = states.next().filter(|_| own.time.is_some()) {
        let at = *before;
        // The earlier results of an encoder are the beginning of its array.
        *before += usize::from(!own.is_of_source());
        return (at < layers).then_some((Place::Layer(at), known));
    }
    let mut known = array::OF_ENCODERS.iter().chain(&[array::FEEDBACK]);
    let known = known.find(|known| known.name == name && is_alike(own, known));
    known.map(|known| (Place::Machine, *known))
}
