//! The vectors that pictures show over time: for each one row with its array, words, colours and the moment of a step from
//! which on it is known.

use super::id::Picture;
use super::stage::Stage;
use crate::model::{Array, Place};

/// A vector over time.
#[derive(Debug)]
pub struct OverTime {
    /// Its picture.
    pub picture: Picture,
    /// Its array; `None` for one that follows from others.
    pub array: Option<Array>,
    /// The title of its picture.
    pub title: &'static str,
    /// The name of all of its values, on screen and in copied numbers.
    pub name: &'static str,
    /// The word for one of them.
    pub word: &'static str,
    /// The symbol in the equations.
    pub symbol: &'static str,
    /// The name of an entry.
    pub entry: &'static str,
    /// What it belongs to.
    pub owner: Owner,
    /// What it shows, if its name does not say it.
    pub about: &'static str,
    pub(super) colours: Colours,
    pub(super) known: KnownFrom,
}

/// What a vector belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The machine as a whole.
    Machine,
    /// A layer of the controller.
    Layer,
    /// A head.
    Head,
}

/// The meaning of the colours.
#[derive(Clone, Copy, Debug)]
pub(super) enum Colours {
    /// Bits, or what channels have instead of them.
    Channels,
    Bits,
    Vector,
    Memory,
    Weighting,
    Ages,
    Cells,
    WithinOne,
    Overlap,
}

/// The moment of a step from which on a vector is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum KnownFrom {
    /// It is given.
    Before,
    /// With the step.
    AtOnce,
    /// After this stage.
    After(Stage),
    /// After the last stage in which its head addresses the memory.
    Addressed,
}

/// Creates a row of a table; the texts are title, name, word, symbol, entry and about.
pub(super) const fn vector(
    picture: Picture,
    owner: Owner,
    array: Option<Array>,
    [title, name, word, symbol, entry, about]: [&'static str; 6],
    colours: Colours,
    known: KnownFrom,
) -> OverTime {
    OverTime {
        picture,
        array,
        title,
        name,
        word,
        symbol,
        entry,
        owner,
        about,
        colours,
        known,
    }
}

impl OverTime {
    /// The part of the machine that a vector of a head, a layer or the machine belongs to.
    pub(super) fn place(&self, of: Option<usize>) -> Option<Place> {
        Some(match self.owner {
            Owner::Machine => Place::Machine,
            Owner::Layer => Place::Layer(of?),
            Owner::Head => Place::Head(of?),
        })
    }
}
