//! `--gradient`: the number whose gradient with respect to every value is requested.

use anyhow::{anyhow, ensure};

use super::machine;
use crate::model::ModelConfig;
use crate::train::{Demand, Quantity, Recording};

/// The number of which the derivative is wanted, as it is typed.
pub(super) fn quantity(text: &str) -> Result<Quantity, String> {
    const EXPECTED: &str = "expected loss, or an output bit as bit:STEP,CHANNEL, such as bit:18,3";
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

/// Computes the gradients of a number with `compute`, if they fit into memory.
///
/// # Errors
/// Values were set, there is not enough memory, or the episode has no such output bit.
pub(super) fn computed<T>(
    of: Quantity,
    config: &ModelConfig,
    recording: &Recording,
    compute: impl FnOnce() -> Option<T>,
) -> anyhow::Result<T> {
    ensure!(
        recording.conventions.interventions.is_empty(),
        "--gradient: values that were set have no derivatives; omit --intervene"
    );
    let bytes = bytes(config, recording.episode.steps());
    machine::claim(bytes, 0, "--gradient: computing it")?;
    compute().ok_or_else(|| no_bit(of, recording))
}

/// Bytes of the gradients with respect to all recorded values of an episode, and of their computation.
pub(super) fn bytes(config: &ModelConfig, steps: usize) -> u64 {
    let backward = Demand::Training {
        batch: 1,
        samples: 1,
        threads: 1,
        machines: 1,
    };
    let recording = Demand::Recording.bytes(config, steps);
    recording.saturating_add(backward.bytes(config, steps))
}

/// Returns the error for an output bit that the episode does not have, with those that it has.
fn no_bit(of: Quantity, recording: &Recording) -> anyhow::Error {
    let Quantity::Bit { step, channel } = of else {
        return anyhow!("--gradient loss: the episode has no loss");
    };
    let trace = &recording.trace;
    let last = [trace.steps(), trace.logit.width()].map(|count| count.checked_sub(1));
    let there = match last {
        [Some(step), Some(channel)] => {
            format!("has steps 0 to {step} and output channels 0 to {channel}")
        }
        _ => "has no output".to_owned(),
    };
    anyhow!("--gradient bit:{step},{channel}: the episode {there}")
}
