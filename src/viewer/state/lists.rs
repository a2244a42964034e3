//! Lists of an episode: its events, the instructions of the selected head, and which writes its reads come from.

use std::sync::Arc;

use super::{List, Open};
use crate::analysis::disassembly::{Disassembly, Fold, TOLERANCE};
use crate::analysis::provenance::{Origin, Part, Provenance, Target as Value, Writes};
use crate::figure::facts::events::Event;
use crate::figure::facts::memo::Memo;
use crate::figure::head_label;
use crate::model::config::Order;

/// Parts below this share are not listed.
const LEAST: f64 = 0.005;

/// The last lists, by episode, kind, head, step and pinned channel of the output.
pub type Lists = Memo<(u64, List, [usize; 2], Option<usize>), Arc<Vec<Event>>, 4>;

impl Open {
    /// The instructions of a head, or the provenance of its read or write, or of an output bit, in a step.
    pub fn listed(&self, list: List, at: [usize; 2], bit: Option<usize>) -> Vec<Event> {
        let [head, step] = at;
        match list {
            List::Events => self.facts.events.clone(),
            List::Instructions => self.instructions(head),
            List::Provenance => self.provenance(at, bit).unwrap_or_else(|words| {
                let words = format!("not known: {words}");
                vec![Event { step, words }]
            }),
        }
    }

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
            let row = part.number.map(|row| format!(", row {row}"));
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
