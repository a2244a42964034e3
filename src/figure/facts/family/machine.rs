//! Vectors of a machine as a whole and of the layers of its controller.

use super::tables::Tables;
use crate::figure::facts::id::Picture;
use crate::figure::facts::over_time::{Colours, KnownFrom, OverTime, Owner, vector};
use crate::figure::facts::stage::Stage;
use crate::model::array;

pub(super) const TABLES: Tables = Tables {
    vectors: &VECTORS,
    ..Tables::EMPTY
};

#[rustfmt::skip] // A line for each.
static VECTORS: [OverTime; 7] = [
    vector(Picture::Input, Owner::Machine, Some(array::INPUT), ["Inputs", "input", "input", "x", "channel", "received by the machine"], Colours::Channels, KnownFrom::Before),
    vector(Picture::Feedback, Owner::Machine, Some(array::FEEDBACK), ["Feedback", "feedback", "feedback", "", "channel", "the answer of the step before"], Colours::Channels, KnownFrom::Before),
    vector(Picture::Target, Owner::Machine, None, ["Targets", "target", "target", "", "channel", "the correct output"], Colours::Channels, KnownFrom::Before),
    vector(Picture::Output, Owner::Machine, Some(array::OUTPUT), ["Outputs", "output", "output", "y", "channel", "probability of a 1"], Colours::Channels, KnownFrom::After(Stage::Output)),
    vector(Picture::Error, Owner::Machine, None, ["Error", "error", "error", "", "channel", "|target − output| in scored steps"], Colours::Channels, KnownFrom::After(Stage::Output)),
    vector(Picture::Cells, Owner::Layer, Some(array::CELL), ["Cells", "cell", "cell", "c", "unit", ""], Colours::Cells, KnownFrom::AtOnce),
    vector(Picture::Hidden, Owner::Layer, Some(array::HIDDEN), ["Hidden state", "hidden", "hidden", "h", "unit", ""], Colours::WithinOne, KnownFrom::AtOnce),
];
