//! Heads, layers and encoders of a machine file that have the names of those of other machines: their arrays stand in the
//! places where pictures, losses and measures look for them. This is the only adapter between the two.

use super::interned;
use super::parts::{Outline, Part};
use super::quantities::Quantity;
use crate::equations::page::Key;
use crate::equations::program::Axis;
use crate::keys::Words;
use crate::model::array;
use crate::model::attention::{AttentionConfig, Mechanism, Score, Sees, Weighting};
use crate::model::encoder;
use crate::model::multi_head::{ROW_KEY, ROW_VALUE};
use crate::model::reader;
use crate::model::spec::{Array, ArraySpec, Place};
use crate::model::weighting::local::CENTRE;

/// The reading heads of a file, the rows that they see, and the layer that controls them.
#[derive(Clone, Debug)]
pub(super) struct Familiar {
    /// The arrays of each head that only some heads have.
    pub heads: Vec<&'static [Array]>,
    /// The quantity whose steps are the rows, and the axis of its numbers.
    pub rows: usize,
    /// The axis of the numbers of a row.
    pub columns: Axis,
    /// The rows that a head sees.
    pub sees: Sees,
    /// Layers of a controller.
    pub layers: usize,
    attention: AttentionConfig,
}

impl Familiar {
    /// The mechanism of a head.
    pub(super) fn mechanism(&self, head: usize) -> Mechanism {
        Mechanism {
            layer: head * self.layers.max(1) / self.heads.len().max(1),
            ..self.attention.of_reader(self.sees)
        }
    }

    /// Finds the heads of a file and gives their arrays their places; none where its heads are others than these pictures know.
    pub(super) fn find(outline: &Outline, all: &mut Vec<Quantity>) -> Option<Self> {
        let mut placed = by_layer(outline, all);
        let found = Self::place(outline, &mut placed);
        if found.is_some() {
            *all = placed;
        }
        found
    }

    fn place(outline: &Outline, all: &mut Vec<Quantity>) -> Option<Self> {
        let named = |name: &str| all.iter().position(|own| own.array.name == name);
        let weightings = (0..).map_while(|head| named(&format!("read{head}.weighting")));
        let weightings: Vec<usize> = weightings.collect();
        let first = &all[*weightings.first()?];
        let origin = |axis: Axis| outline.program.axes[axis].origin;
        let &[rows_axis] = &first.axes[..] else {
            return None;
        };
        let (source, (_, part)) = (outline.data[0].steps?, first.time?);
        let is_past = &*outline.program.axes[origin(rows_axis)].name == "past";
        let mut score = chosen(outline, "score").unwrap_or(Score::Dot);
        let (rows, sees) = if is_past {
            (named("controller.hidden")?, Sees::Earlier)
        } else if let Some(embedded) = named("embedded") {
            score = Score::ScaledDot;
            let is_causal = switch(outline, "mask") == Some("causal");
            (
                embedded,
                if is_causal {
                    Sees::UpToNow
                } else {
                    Sees::Sequence
                },
            )
        } else if part == Part::Steps {
            (named("encoder.annotations")?, Sees::Sequence)
        } else {
            (named("encoder.annotations")?, Sees::All)
        };
        let of_rows = &all[rows];
        let &[columns] = &of_rows.axes[..] else {
            return None;
        };
        let is_row = is_past || origin(rows_axis) == origin(source) && of_rows.time.is_some();
        let is_alike = |index: &usize| {
            let own = &all[*index];
            own.axes.len() == 1 && origin(own.axes[0]) == origin(rows_axis) && own.time.is_some()
        };
        let weighting = chosen(outline, "weighting").unwrap_or(Weighting::Soft);
        let is_answer = is_past && part != Part::Steps;
        let is_known = !weighting.is_random() && !is_answer && outline.data.len() == 2;
        let has_memory = named("memory").is_some();
        if has_memory || !is_row || !weightings.iter().all(is_alike) || !is_known {
            return None;
        }
        let mut attention = reader::attention(score, 1);
        attention.weighting = weighting.into();
        let is_layer =
            |own: &&Quantity| own.array.name == "controller.hidden" && own.axes.len() == 1;
        let layers = all.iter().filter(is_layer).count();
        let (heads, held) = (weightings.len(), of_rows.held);
        let mut layer = [0; 2];
        for own in all.iter_mut() {
            let known = place_of(own, heads, layers, &mut layer);
            (own.place, own.array) = known.unwrap_or((own.place, own.array));
        }
        // The weighting of a soft head is that of its content.
        for head in 0..heads {
            let at = |array: Array| {
                let is_it = |own: &Quantity| (own.place, own.array) == (Place::Head(head), array);
                all.iter().position(is_it)
            };
            if let (Some(weighting), None) = (at(array::WEIGHTING), at(array::CONTENT)) {
                let copy = Quantity {
                    array: array::CONTENT,
                    is_copy: true,
                    ..all[weighting].clone()
                };
                all.insert(weighting, copy);
            }
        }
        let further = |head: usize| {
            let own = all.iter().filter(|own| own.place == Place::Head(head));
            let own = own.map(|own| own.array);
            let own: Vec<Array> = own
                .filter(|own| !array::ALL_OF_HEADS.contains(own))
                .collect();
            interned::list(&own)
        };
        Some(Self {
            heads: (0..heads).map(further).collect(),
            rows: all.iter().position(|own| own.held == held)?,
            columns,
            sees,
            layers,
            attention,
        })
    }
}

/// All quantities, but those of heads and states in a stack of layers one for each layer: the heads of the first layer come
/// first.
fn by_layer(outline: &Outline, all: &[Quantity]) -> Vec<Quantity> {
    let weighting = all.iter().find(|own| own.array.name == "read0.weighting");
    let layers = weighting.and_then(|own| match own.axes[..] {
        [layers, _] if outline.page.rank(layers).0 == 0 => Some(layers),
        _ => None,
    });
    let count = layers.and_then(|layers| outline.page.length(layers));
    let Some((layers, count)) = layers.zip(count) else {
        return all.to_vec();
    };
    let ends = all.iter().filter_map(|own| head_of(own.array.name));
    let heads = ends.filter(|(_, end)| *end == "weighting").count();
    let mut split = Vec::new();
    for own in all {
        let (name, at) = (
            own.array.name,
            own.axes.iter().position(|axis| *axis == layers),
        );
        let head = head_of(name);
        let Some(at) = at.filter(|_| head.is_some() || name == "controller.hidden") else {
            split.push(own.clone());
            continue;
        };
        for layer in 0..count {
            let mut part = own.clone();
            part.entries.push((part.axes.remove(at), layer));
            let mut dims = own.array.dims.to_vec();
            dims.remove(at + usize::from(own.time.is_some()));
            let of_layer = head.map(|(head, end)| format!("read{}.{end}", layer * heads + head));
            let spec = ArraySpec {
                name: of_layer.map_or(name, |own| interned::text(&own)),
                dims: interned::texts(&dims),
                ..*own.array
            };
            part.array = interned::array(spec);
            split.push(part);
        }
    }
    split
}

/// The head of an array with this name in files, and its name there.
fn head_of(name: &str) -> Option<(usize, &str)> {
    let (head, end) = name.strip_prefix("read")?.split_once('.')?;
    Some((head.parse().ok()?, end))
}

/// What a switch of this name is set to.
fn switch<'a>(outline: &'a Outline, name: &str) -> Option<&'a str> {
    let is_it = |key: &&Key| key.is_switch() && key.name.rsplit('.').next() == Some(name);
    let key = outline.page.keys.iter().find(is_it)?;
    key.chosen.first().map(|word| &**word)
}

/// What the switch of this name of an attention is set to, where a word of it is one of these.
fn chosen<T: Words + Copy>(outline: &Outline, name: &str) -> Option<T> {
    let word = switch(outline, name)?.replace('_', "-");
    T::WORDS.iter().find(|own| own.0 == word).map(|own| own.1)
}

/// The place of an array, with its description there, by its name. `layer`: how many states and cells were there before.
fn place_of(
    own: &Quantity,
    heads: usize,
    layers: usize,
    layer: &mut [usize; 2],
) -> Option<(Place, Array)> {
    let name = own.array.name;
    let is_alike = |known: &Array| known.dims.len() == 1 + own.axes.len() && known.is_of_steps();
    if let Some((head, end)) = head_of(name).filter(|own| own.0 < heads) {
        let mut known = array::ALL_OF_HEADS
            .iter()
            .chain(&[CENTRE, ROW_KEY, ROW_VALUE]);
        let known = known.find(|known| known.name == end && own.time.is_some() && is_alike(known));
        let renamed = || interned::array(own.array.called(interned::text(end)));
        return Some((Place::Head(head), known.copied().unwrap_or_else(renamed)));
    }
    let states = [array::HIDDEN, array::CELL].into_iter().zip(layer);
    let mut states = states.filter(|(known, _)| known.name == name && own.axes.len() == 1);
    if let Some((known, before)) = states.next().filter(|_| own.time.is_some()) {
        let at = std::mem::replace(before, *before + 1);
        return (at < layers).then_some((Place::Layer(at), known));
    }
    let mut known = encoder::ARRAYS.iter();
    let known = known.find(|known| known.name == name && own.time.is_some() && is_alike(known));
    known.map(|known| (Place::Machine, *known))
}
