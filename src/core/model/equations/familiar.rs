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
use crate::model::reader;
use crate::model::spec::{Array, Place};
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
    /// Whether there is a layer of a controller.
    pub has_layer: bool,
    attention: AttentionConfig,
}

impl Familiar {
    /// The mechanism of a head.
    pub(super) fn mechanism(&self) -> Mechanism {
        self.attention.of_reader(self.sees)
    }

    /// Finds the heads of a file and gives their arrays their places; none where its heads are others than these pictures know.
    pub(super) fn find(outline: &Outline, all: &mut Vec<Quantity>) -> Option<Self> {
        let named = |name: &str| all.iter().position(|own| own.array.name == name);
        let weightings: Vec<usize> = (0..)
            .map_while(|head| named(&format!("read{head}.weighting")))
            .collect();
        let first = &all[*weightings.first()?];
        let origin = |axis: Axis| outline.program.axes[axis].origin;
        let &[rows_axis] = &first.axes[..] else {
            return None;
        };
        let source = outline.data[0].steps?;
        let (_, part) = first.time?;
        let is_past = &*outline.program.axes[origin(rows_axis)].name == "past";
        let (rows, sees) = if is_past {
            (named("controller.hidden")?, Sees::Earlier)
        } else {
            let sees = if part == Part::Steps {
                Sees::Sequence
            } else {
                Sees::All
            };
            (named("encoder.annotations")?, sees)
        };
        let of_rows = &all[rows];
        let &[columns] = &of_rows.axes[..] else {
            return None;
        };
        let is_row = is_past || origin(rows_axis) == origin(source) && of_rows.time.is_some();
        let is_alike = |index: &usize| all[*index].axes == first.axes && all[*index].time.is_some();
        let (score, weighting) = (chosen(outline, "score"), chosen(outline, "weighting"));
        let weighting = weighting.unwrap_or(Weighting::Soft);
        let is_known =
            !weighting.is_random() && !(is_past && part != Part::Steps) && outline.data.len() == 2;
        let has_memory = named("memory").is_some();
        if has_memory || !is_row || !weightings.iter().all(is_alike) || !is_known {
            return None;
        }
        let mut attention = reader::attention(score.unwrap_or(Score::Dot), 1);
        attention.weighting = weighting.into();
        let has_layer =
            named("controller.hidden").is_some_and(|hidden| all[hidden].axes.len() == 1);
        let heads = weightings.len();
        for own in all.iter_mut() {
            (own.place, own.array) =
                place_of(own, heads, has_layer).unwrap_or((own.place, own.array));
        }
        let held = all[rows].held;
        // The weighting of a soft head is that of its content.
        for head in 0..heads {
            let at = |array: Array| {
                all.iter()
                    .position(|own| (own.place, own.array) == (Place::Head(head), array))
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
        let rows = all.iter().position(|own| own.held == held)?;
        let further = |head: usize| {
            let own = all
                .iter()
                .filter(|own| own.place == Place::Head(head))
                .map(|own| own.array);
            let own: Vec<Array> = own
                .filter(|own| !array::ALL_OF_HEADS.contains(own))
                .collect();
            interned::list(&own)
        };
        Some(Self {
            heads: (0..heads).map(further).collect(),
            rows,
            columns,
            sees,
            has_layer,
            attention,
        })
    }
}

/// What the switch of this name of an attention is set to, where a word of it is one of these.
fn chosen<T: Words + Copy>(outline: &Outline, name: &str) -> Option<T> {
    let is_it = |key: &&Key| key.is_switch() && key.name.rsplit('.').next() == Some(name);
    let key = outline.page.keys.iter().find(is_it)?;
    let word = key.chosen.first()?.replace('_', "-");
    T::WORDS.iter().find(|own| own.0 == word).map(|own| own.1)
}

/// The place of an array, with its description there, by its name.
fn place_of(own: &Quantity, heads: usize, has_layer: bool) -> Option<(Place, Array)> {
    let name = own.array.name;
    let is_alike = |known: &Array| known.dims.len() == 1 + own.axes.len() && known.is_of_steps();
    if let Some((head, end)) = name
        .strip_prefix("read")
        .and_then(|rest| rest.split_once('.'))
    {
        let head: usize = head.parse().ok().filter(|head| *head < heads)?;
        let mut known = array::ALL_OF_HEADS.iter().chain([&CENTRE]);
        let known = known.find(|known| known.name == end && own.time.is_some() && is_alike(known));
        let renamed = || interned::array(own.array.called(interned::text(end)));
        return Some((Place::Head(head), known.copied().unwrap_or_else(renamed)));
    }
    let layer = [array::HIDDEN, array::CELL]
        .into_iter()
        .find(|known| known.name == name);
    if let Some(known) = layer.filter(|_| has_layer && own.time.is_some()) {
        return Some((Place::Layer(0), known));
    }
    let known = encoder::ARRAYS
        .iter()
        .find(|known| known.name == name && own.time.is_some() && is_alike(known));
    known.map(|known| (Place::Machine, *known))
}
