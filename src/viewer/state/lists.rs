//! Lists of an episode: its events, the instructions of the selected head, and which writes its reads come from.

use std::sync::Arc;

use super::{Open, State, Target};
use crate::analysis::disassembly::{Disassembly, Fold, TOLERANCE};
use crate::analysis::provenance::{Origin, Part, Provenance, Target as Value, Writes};
use crate::figure::facts::events::Event;
use crate::figure::{Picture, head_label};
use crate::model::config::Order;
use crate::viewer::memo::Memo;

/// Parts below this share are not listed.
const LEAST: f64 = 0.005;

/// What a list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum List {
    /// Where something changes.
    #[default]
    Events,
    /// What the selected head does.
    Instructions,
    /// The writes that made the read, or the pinned output bit, of this step; or the reads that this write reached.
    Provenance,
}

/// The last lists, by episode, kind, head, step and pinned channel of the output.
pub type Lists = Memo<(u64, List, [usize; 2], Option<usize>), Arc<Vec<Event>>, 4>;

impl List {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Events, Self::Instructions, Self::Provenance];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "Events",
            Self::Instructions => "Instructions",
            Self::Provenance => "Provenance",
        }
    }
}

impl Open {
    /// The order of its heads.
    pub fn order(&self) -> Order {
        [Order::ReadFirst, Order::WriteFirst][usize::from(self.writes_first())]
    }

    /// The folded instructions of a head.
    fn instructions(&self, head: usize) -> Vec<Event> {
        let recording = &self.shown.recording;
        let found = Disassembly::of(recording, self.order(), TOLERANCE);
        let phases = recording.episode.phases.iter();
        let folds = phases.flat_map(|phase| found.fold(head, phase.start..phase.end));
        let line = |fold: Fold| Event {
            step: fold.ends()[0],
            words: fold.to_string(),
        };
        folds.map(line).collect()
    }

    /// The parts of a value, the largest first; of a write, its parts in later reads.
    fn provenance(
        &self,
        [head, step]: [usize; 2],
        bit: Option<usize>,
    ) -> Result<Vec<Event>, String> {
        let recording = &self.shown.recording;
        let none = "a recorded trace has no machine; use `tapescope provenance`";
        let config = self.shown.config.as_ref().ok_or(none)?;
        let (trace, writes) = (&recording.trace, Writes::of(recording, config)?);
        let line = |step, name: String, made: &Provenance, part: &Part| {
            let share = made.share(part);
            let row = part.row().map(|row| format!(", row {row}"));
            let words = format!("{:.0} % {name}{}", 100.0 * share, row.unwrap_or_default());
            (share.abs() >= LEAST).then_some(Event { step, words })
        };
        if bit.is_none() && trace.heads[head].is_write() {
            let reads = writes.uses(Origin::Write(head, step))?;
            let reads = reads.iter().filter_map(|made| match made.of {
                Value::Read(reader, at) => line(
                    at,
                    format!("of what {} reads", head_label(trace, reader)),
                    made,
                    made.parts.first()?,
                ),
                Value::Bit(..) => None,
            });
            return Ok(reads.collect());
        }
        let value = bit.map_or(Value::Read(head, step), |channel| Value::Bit(step, channel));
        let machine = self.shown.machine.as_ref().map(|machine| &machine.ntm);
        let made = writes.made(value, machine)?;
        let parts = made.largest().into_iter().filter_map(|part| {
            let (at, name) = match part.origin {
                Origin::Write(writer, at) => (at, format!("from {}", head_label(trace, writer))),
                Origin::Row(at) => (at, "from this row".to_owned()),
                Origin::Initial => (step, "from the initial memory".to_owned()),
                Origin::Hidden => (step, "from the hidden state".to_owned()),
                Origin::Bias => (step, "from the bias".to_owned()),
            };
            line(at, name, &made, part)
        });
        Ok(parts.collect())
    }
}

impl State {
    /// The list that is shown, of the selected head in this step.
    pub fn list(&self) -> Arc<Vec<Event>> {
        let Some(open) = &self.session.open else {
            return Arc::default();
        };
        let (list, step) = (self.view.list, self.player.step());
        let head = self.view.focus.min(self.heads().saturating_sub(1));
        let bit = match self.view.selected {
            Some(Target::Value { id, column }) if id.picture == Picture::Output => Some(column),
            _ => None,
        };
        let key = match list {
            List::Events => {
                return self
                    .found()
                    .map_or_else(Arc::default, |found| found.events.clone());
            }
            _ if self.heads() == 0 => return Arc::default(),
            List::Instructions => (open.serial, list, [head, 0], None),
            List::Provenance => (open.serial, list, [head, step], bit),
        };
        self.lists.get(key, || {
            Arc::new(match list {
                List::Provenance => open.provenance([head, step], bit).unwrap_or_else(|words| {
                    let words = format!("not known: {words}");
                    vec![Event { step, words }]
                }),
                _ => open.instructions(head),
            })
        })
    }
}
