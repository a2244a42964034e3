//! `--gradient`: of what the derivative by everything is wanted.

use super::Usage;
use crate::io::room;
use crate::model::Model;
use crate::train::{Demand, Quantity, Recording, Work, recording_bytes};

/// The number of which the derivative is wanted, as it is typed.
pub(super) fn quantity(text: &str) -> Result<Quantity, String> {
    const EXPECTED: &str =
        "expected loss, or a bit of the output by its step and its channel, such as bit:18,3";
    if text == "loss" {
        return Ok(Quantity::Loss);
    }
    let bit = text
        .strip_prefix("bit:")
        .and_then(|bit| bit.split_once(','));
    let (step, channel) = bit.ok_or(EXPECTED)?;
    let number = |text: &str| text.trim().parse().map_err(|_| EXPECTED.to_owned());
    Ok(Quantity::Bit {
        step: number(step)?,
        channel: number(channel)?,
    })
}

/// Checks that the gradients with respect to all recorded values of an episode fit into memory.
pub(super) fn check_room(machine: &Model, recording: &Recording) -> anyhow::Result<()> {
    let (config, steps) = (&machine.config, recording.episode.steps());
    let backward = Demand {
        config: config.clone(),
        steps,
        work: Work::Training {
            batch: 1,
            threads: 1,
            penalized: 0,
        },
    };
    let bytes = recording_bytes(config, steps).saturating_add(backward.bytes());
    Ok(
        room::claim(bytes, 0)
            .map_err(|short| Usage(format!("--gradient: computing it {short}")))?,
    )
}

/// Says which bits there are, where an episode has no such one.
pub(super) fn no_bit(of: Quantity, recording: &Recording) -> anyhow::Error {
    let Quantity::Bit { step, channel } = of else {
        return Usage("--gradient loss: there is none".to_owned()).into();
    };
    let trace = &recording.trace;
    let there = match (
        trace.steps().checked_sub(1),
        trace.logit.width().checked_sub(1),
    ) {
        (Some(step), Some(channel)) => {
            format!("has the steps 0 to {step} and the output channels 0 to {channel}")
        }
        _ => "has no output".to_owned(),
    };
    Usage(format!(
        "--gradient bit:{step},{channel}: the episode {there}"
    ))
    .into()
}
