//! The vectors that pictures show over time: for each one row with its array, words, colours and the moment of a step from
//! which on it is known.

use super::episode::Scales;
use super::id::{PanelId, Picture};
use super::moment::Moment;
use super::stages::Stage;
use crate::figure::{HeadName, Scale};
use crate::model::{Array, Place, Trace, array, dnc, sam};

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
    colours: Colours,
    known: KnownFrom,
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
enum Colours {
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
enum KnownFrom {
    /// It is given.
    Before,
    /// With the step.
    AtOnce,
    /// After this stage.
    After(Stage),
    /// After the last stage in which its head addresses the memory.
    Addressed,
}

#[rustfmt::skip] // A line for each.
static ALL: [OverTime; 18] = [
    row(Picture::Input, Owner::Machine, Some(array::INPUT), ["Inputs", "input", "input", "x", "channel", "received by the machine"], Colours::Channels, KnownFrom::Before),
    row(Picture::Feedback, Owner::Machine, Some(array::FEEDBACK), ["Feedback", "feedback", "feedback", "", "channel", "the answer of the step before"], Colours::Channels, KnownFrom::Before),
    row(Picture::Target, Owner::Machine, None, ["Targets", "target", "target", "", "channel", "the correct output"], Colours::Channels, KnownFrom::Before),
    row(Picture::Output, Owner::Machine, Some(array::OUTPUT), ["Outputs", "output", "output", "y", "channel", "probability of a 1"], Colours::Channels, KnownFrom::After(Stage::Output)),
    row(Picture::Error, Owner::Machine, None, ["Error", "error", "error", "", "channel", "|target − output| in scored steps"], Colours::Channels, KnownFrom::After(Stage::Output)),
    row(Picture::Keys, Owner::Head, Some(array::KEY), ["Keys", "keys", "key", "k", "column", ""], Colours::Vector, KnownFrom::AtOnce),
    row(Picture::Shifts, Owner::Head, Some(array::SHIFT), ["Shifts", "shifts", "shift", "s", "column", ""], Colours::Weighting, KnownFrom::AtOnce),
    row(Picture::Adds, Owner::Head, Some(array::ADD), ["Adds", "adds", "add", "a", "column", ""], Colours::Vector, KnownFrom::After(Stage::Add)),
    row(Picture::Erases, Owner::Head, Some(array::ERASE), ["Erases", "erases", "erase", "e", "column", ""], Colours::Bits, KnownFrom::After(Stage::Erase)),
    row(Picture::Reads, Owner::Head, Some(array::READ), ["Reads", "reads", "read", "r", "column", ""], Colours::Memory, KnownFrom::After(Stage::Read)),
    row(Picture::Weightings, Owner::Head, Some(array::WEIGHTING), ["Weightings", "weighting", "weighting", "w", "row", ""], Colours::Weighting, KnownFrom::Addressed),
    row(Picture::Usage, Owner::Head, Some(dnc::USAGE), ["Usage", "usage", "usage", "u", "row", ""], Colours::Bits, KnownFrom::After(Stage::Usage)),
    row(Picture::Precedence, Owner::Head, Some(dnc::PRECEDENCE), ["Precedence", "precedence", "precedence", "p", "row", ""], Colours::Weighting, KnownFrom::After(Stage::Add)),
    row(Picture::Age, Owner::Head, Some(sam::AGE), ["Age", "age", "age", "age", "row", ""], Colours::Ages, KnownFrom::After(Stage::Age)),
    row(Picture::Modes, Owner::Head, Some(dnc::READ_MODES), ["Read modes", "modes", "modes", "π", "mode", ""], Colours::Weighting, KnownFrom::AtOnce),
    row(Picture::Overlap, Owner::Head, None, ["Overlap", "overlap", "overlap", "A·A′", "head", ""], Colours::Overlap, KnownFrom::AtOnce),
    row(Picture::Cells, Owner::Layer, Some(array::CELL), ["Cells", "cell", "cell", "c", "unit", ""], Colours::Cells, KnownFrom::AtOnce),
    row(Picture::Hidden, Owner::Layer, Some(array::HIDDEN), ["Hidden state", "hidden", "hidden", "h", "unit", ""], Colours::WithinOne, KnownFrom::AtOnce),
];

const fn row(
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
    /// The vector of a picture, if it shows one.
    pub fn of(picture: Picture) -> Option<&'static Self> {
        ALL.iter().find(|own| own.picture == picture)
    }

    /// The part of the machine that a vector of a head, a layer or the machine belongs to.
    fn place(&self, of: Option<usize>) -> Option<Place> {
        Some(match self.owner {
            Owner::Machine => Place::Machine,
            Owner::Layer => Place::Layer(of?),
            Owner::Head => Place::Head(of?),
        })
    }

    /// The scale of its values of the episode, with those of bits and of weightings.
    pub(crate) fn scale(
        &self,
        trace: &Trace,
        scales: &Scales,
        [bits, weights]: [Scale; 2],
        of: Option<usize>,
    ) -> Option<Scale> {
        Some(match self.colours {
            Colours::Channels => scales.of_channels(self.picture).unwrap_or(bits),
            Colours::Bits => bits,
            Colours::Vector => scales.vector,
            Colours::Memory => scales.memory,
            Colours::Weighting => weights.of_head(HeadName::of(trace, of?)),
            Colours::Ages => Scale::ages(trace),
            Colours::Cells => scales.state,
            Colours::WithinOne => Scale::Signed(1.0),
            Colours::Overlap => weights,
        })
    }
}

impl PanelId {
    /// The recorded array of this trace that it shows over time, with its place; `None` for a picture of something else.
    pub(crate) fn recorded(self, trace: &Trace) -> Option<(Place, Array)> {
        if self.picture == Picture::Quantities {
            let (array, _) = trace.kind_arrays.arrays().nth(self.part?)?;
            return Some((Place::Machine, array));
        }
        let own = OverTime::of(self.picture)?;
        Some((own.place(self.of)?, own.array?))
    }

    /// The picture over time of a recorded array, if there is one.
    pub fn showing(trace: &Trace, place: Place, array: Array) -> Option<Self> {
        let of = match place {
            Place::Machine => None,
            Place::Layer(own) | Place::Head(own) => Some(own),
        };
        let vectors = ALL.iter().map(|own| Self {
            of,
            ..Self::new(own.picture)
        });
        let parts = 0..trace.kind_arrays.arrays().count();
        let parts = parts.map(|part| Self::new(Picture::Quantities).part(part));
        let mut all = vectors.chain(parts);
        all.find(|id| id.recorded(trace) == Some((place, array)))
    }
}

/// Returns the number of steps of a picture over time that have happened, with the step under way where its values are
/// there; of given values all.
pub(crate) fn steps_done(id: PanelId, now: &Moment<'_>) -> usize {
    let stages = now.stages;
    let head = id.of.and_then(|head| now.trace().heads.get(head));
    let known = match id.picture {
        Picture::Arrows => KnownFrom::After(Stage::Weigh),
        picture => OverTime::of(picture).map_or(KnownFrom::AtOnce, |own| own.known),
    };
    let place = match known {
        KnownFrom::Before => return usize::MAX,
        KnownFrom::AtOnce => None,
        KnownFrom::After(Stage::Output) => stages.place(Stage::Output, None),
        KnownFrom::After(stage) => stages.place(stage, head),
        KnownFrom::Addressed => head.and_then(|head| stages.addressing(head).pop()),
    };
    let is_there = |place: usize| place < now.place || (place == now.place && !now.moves());
    now.step + usize::from(place.is_none_or(is_there))
}
