//! The labels of arrays of heads and the names of switches and constants by which pictures know them.

use super::interned;
use super::parts::Outline;
use super::quantities::{Held, Quantity};
use crate::equations::page::Key;
use crate::equations::program::Axis;
use crate::keys::Words;
use crate::model::array;
use crate::model::attention::{AttentionConfig, Score, ShiftForm, Strength, Switch, Weighting};
use crate::model::dnc;
use crate::model::spec::{Array, split_head};
use crate::model::weighting::bayesian::{DIVERGENCE, NOISE, NORMAL, PRIOR};
use crate::model::weighting::hard::DRAW;
use crate::model::weighting::local::CENTRE;

/// The forms of a shift by the words of files.
pub(super) const SHIFT_FORMS: [(&str, ShiftForm); 3] = [
    ("softmax", ShiftForm::Softmax),
    ("scalar", ShiftForm::Scalar),
    ("off", ShiftForm::None),
];

/// The head of a kind of an array with this name in files, and its name there.
pub(super) fn head_of<'a>(name: &'a str, kind: &str) -> Option<(usize, &'a str)> {
    let [_, head, end] = split_head(name).filter(|parts| parts[0] == kind)?;
    Some((head.parse().ok()?, end))
}

/// The key of this name, of the file or of a component.
pub(super) fn key<'a>(outline: &'a Outline, name: &str) -> Option<&'a Key> {
    let mut keys = outline.page.keys.iter();
    keys.find(|key| key.name.rsplit('.').next() == Some(name))
}

/// What a switch of this name is set to, for all heads or for one of a kind.
pub(super) fn choice<'a>(
    outline: &'a Outline,
    name: &str,
    head: Option<(Axis, usize)>,
) -> Option<&'a str> {
    let key = key(outline, name).filter(|key| key.is_switch())?;
    let place = head.and_then(|(kind, head)| {
        let mut kinds = key.kinds.iter();
        kinds.find(|own| own.0 == kind).map(|own| own.1 + head)
    });
    let word = key.chosen.get(place.unwrap_or(0)).or(key.chosen.first());
    word.map(|word| &**word)
}

/// What the switch of this name of an attention is set to, where a word of it is one of these.
pub(super) fn chosen<T: Words + Copy>(
    outline: &Outline,
    name: &str,
    head: Option<(Axis, usize)>,
) -> Option<T> {
    let word = choice(outline, name, head)?.replace('_', "-");
    T::WORDS.iter().find(|own| own.0 == word).map(|own| own.1)
}

/// The mechanism of the heads of a file, or of one head of a kind, by its switches and constants.
pub(super) fn attention(
    outline: &Outline,
    score: Score,
    head: Option<(Axis, usize)>,
) -> AttentionConfig {
    let mut attention = AttentionConfig {
        score: score.into(),
        strength: Strength::One.into(),
        gate: Switch::Off.into(),
        sharpening: Switch::Off.into(),
        erase: Switch::Off.into(),
        ..AttentionConfig::DEFAULT
    };
    let weighting = chosen(outline, "weighting", head).unwrap_or(Weighting::Soft);
    attention.weighting = weighting.into();
    let of = &mut attention.parameters;
    let constant = |name: &str, to: &mut f64| {
        *to = key(outline, name).map_or(*to, |key| key.value);
    };
    constant("shape", &mut of.weibull_shape);
    constant("rate", &mut of.gamma_rate);
    constant("sigma", &mut of.lognormal_sigma);
    constant("prior_sigma", &mut of.prior_sigma);
    of.window = key(outline, "D").map_or(of.window, |key| key.value as usize);
    of.prior = chosen(outline, "form", head).unwrap_or(of.prior);
    attention
}

/// The arrays that heads of some mechanisms have.
static OF_MECHANISMS: [Array; 16] = [
    CENTRE,
    array::ROW_KEY,
    array::ROW_VALUE,
    NOISE,
    NORMAL,
    PRIOR,
    DIVERGENCE,
    dnc::FREE_GATE,
    dnc::READ_MODES,
    dnc::BACKWARD,
    dnc::FORWARD,
    dnc::USAGE,
    dnc::ALLOCATION,
    dnc::ALLOCATION_GATE,
    dnc::WRITE_GATE,
    dnc::PRECEDENCE,
];

/// The labels of the included files that no picture shows: the distance of a scalar shift, and what reads leave of a row.
const NOT_SHOWN: [&str; 2] = ["distance", "retention"];

/// Whether an array of a head is one that pictures know.
pub(super) fn is_of_heads(array: Array) -> bool {
    let further = [DRAW, dnc::INITIAL_USAGE];
    let mut known = array::ALL_OF_HEADS
        .iter()
        .chain(&OF_MECHANISMS)
        .chain(&further);
    let is_not_shown = array.name.ends_with(".initial") || NOT_SHOWN.contains(&array.name);
    is_not_shown || known.any(|known| known.name == array.name)
}

/// The array of a head with this name there; none for a table of a row, which stays with the machine, which says its sizes.
pub(super) fn array_of_head(own: &Quantity, end: &str) -> Option<Array> {
    let mut known = array::ALL_OF_HEADS.iter().chain(&OF_MECHANISMS);
    let known = known.find(|known| known.name == end && is_alike(own, known));
    let drawn = matches!(own.held, Held::Draw(_)).then_some(&DRAW);
    let known = drawn.or(known).copied();
    let renamed = || interned::array(own.array.called(interned::text(end)));
    known.or_else(|| (own.axes.len() < 2).then(renamed))
}

/// Whether it is an array of the heads of other machines, with the axes that it has there.
pub(super) fn is_built_in(array: Array) -> bool {
    array::ALL_OF_HEADS.contains(&array) || OF_MECHANISMS.contains(&array)
}

/// Whether a quantity has a value for each step, and as many axes as an array.
pub(super) fn is_alike(own: &Quantity, known: Array) -> bool {
    let has_axes = known.dims.len() == 1 + own.axes.len() && known.is_of_steps();
    own.time.is_some() && has_axes
}
