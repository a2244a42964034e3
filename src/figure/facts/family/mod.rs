//! Words, symbols and colours of the quantities of heads, and their equations with numbers: a file for each family.

pub mod addressing;
mod bayesian;
pub mod dnc;
mod hard;
mod local;
mod machine;
pub mod score;
pub mod sparse;
mod tables;

use std::sync::LazyLock;

use tables::Tables;

use crate::figure::facts::action::Action;
use crate::figure::facts::column::Column;
use crate::figure::facts::id::{PanelId, Picture};
use crate::figure::facts::in_step::{Fact, InStep};
use crate::figure::facts::measure::{Measure, Scalar};
use crate::figure::facts::over_time::OverTime;
use crate::figure::facts::stage::Stage;
use crate::model::{Array, HeadTrace, Place, Trace};

/// All families. Within a stage, columns keep the order of this list.
static ALL: [Tables; 8] = [
    machine::TABLES,
    score::TABLES,
    addressing::TABLES,
    hard::TABLES,
    local::TABLES,
    bayesian::TABLES,
    dnc::TABLES,
    sparse::TABLES,
];

/// All columns, in the order of the addressing. A head has at most one column per array.
static COLUMNS: LazyLock<Vec<&'static Column>> = LazyLock::new(|| {
    let mut all: Vec<_> = ALL.iter().flat_map(|family| family.columns).collect();
    all.sort_by_key(|column| column.stage);
    all
});

/// The column at this place among all.
pub fn column(place: usize) -> Option<&'static Column> {
    COLUMNS.get(place).copied()
}

/// Columns of a head. The last is the one it reads or writes with.
pub fn columns_of(head: &HeadTrace) -> impl Iterator<Item = &'static Column> + use<'_> {
    let all = COLUMNS.iter().copied();
    all.filter(move |column| (column.has)(head))
}

/// Returns the weighting of a stage, or the final one in stages without one; of a head, if given.
pub fn weighting_at(stage: Option<Stage>, head: Option<&HeadTrace>) -> &'static Column {
    let is_it = |column: &&Column| column.is_weighting() && Some(column.stage) == stage;
    let mut columns: Vec<_> = head.into_iter().flat_map(columns_of).collect();
    let last = columns.pop().filter(|column| column.is_weighting());
    let last = last.unwrap_or_else(addressing::only_weighting);
    columns.into_iter().rev().find(is_it).unwrap_or(last)
}

impl Column {
    /// The place among all columns.
    pub fn place(&self) -> usize {
        let is_it = |column: &&Column| std::ptr::eq(*column, self);
        COLUMNS.iter().position(is_it).unwrap_or(0)
    }
}

/// The numbers of heads, those of the addressing first.
pub fn measures() -> impl Iterator<Item = &'static Measure> {
    ALL.iter().flat_map(|family| family.measures)
}

/// Returns the scalars of a head over `steps` steps: β, g, expected shift, γ and the entropy of its weighting, and those of
/// its family. A pass over its weightings.
pub fn scalars(head: &HeadTrace, steps: usize) -> Vec<Scalar> {
    let scalars = measures().filter_map(|measure| measure.scalar(head, steps));
    scalars.collect()
}

/// Returns the other results of a head in the step: the window of a local head, the sampled row of a hard head, the
/// divergence of a Bayesian head.
pub fn facts(at: &InStep<'_>) -> Vec<Fact> {
    let all = ALL.iter().flat_map(|family| (family.facts)(at));
    all.collect()
}

/// What a head does in a stage that only its family has: without its name, and the detail.
pub fn sentence(action: &Action<'_>) -> Option<[String; 2]> {
    ALL.iter().find_map(|family| (family.sentence)(action))
}

/// Why a head is where it is, if its family knows and some row stands out.
pub fn reason(action: &Action<'_>) -> Option<String> {
    let mut reasons = ALL.iter().filter_map(|family| (family.reason)(action.at));
    reasons.next().filter(|_| action.focus.is_clear())
}

fn vectors() -> impl Iterator<Item = &'static OverTime> {
    ALL.iter().flat_map(|family| family.vectors)
}

impl OverTime {
    /// The vector of a picture, if it shows one.
    pub fn of(picture: Picture) -> Option<&'static Self> {
        vectors().find(|own| own.picture == picture)
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
        let vectors = vectors().map(|own| Self {
            of,
            ..Self::new(own.picture)
        });
        let parts = 0..trace.kind_arrays.arrays().count();
        let parts = parts.map(|part| Self::new(Picture::Quantities).part(part));
        let mut all = vectors.chain(parts);
        all.find(|id| id.recorded(trace) == Some((place, array)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attention::{Score, Weighting};
    use crate::model::{NtmConfig, array};

    #[test]
    fn each_score_and_each_weighting_has_one_column() {
        for &score in Score::ALL {
            for &weighting in Weighting::ALL {
                let mut config = NtmConfig::new(3, 2);
                config.attention.score = score.into();
                config.attention.weighting = weighting.into();
                let trace = Trace::new(&config);
                let head = &trace.heads[0];
                for array in [array::SIMILARITY, array::CONTENT, array::WEIGHTING] {
                    let own = columns_of(head).filter(|column| column.array == array);
                    assert_eq!(own.count(), 1, "{} of {score:?}, {weighting:?}", array.name);
                }
            }
        }
    }
}
