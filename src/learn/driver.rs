//! The training loop: the one step that every run takes, on the command line, in a host program and in the window.

use super::curve::Curve;
use super::snapshots::Snapshots;
use crate::train::{Diagnostics, Diverged, Trainer, Update};

/// Runs the next update of a run, and keeps a snapshot when one is due; `None` after the last update. `history` are the curve
/// and the snapshots of a run that keeps them; `diagnostics` are filled in where they are asked for.
///
/// # Errors
/// As for [`Trainer::update_watched`].
pub fn advance(
    trainer: &mut Trainer,
    diagnostics: Option<&mut Diagnostics>,
    history: Option<(&mut Curve, &mut Snapshots)>,
) -> Result<Option<Update>, Diverged> {
    if trainer.finished() {
        return Ok(None);
    }
    let update = trainer.update_watched(diagnostics)?;
    if let Some((curve, snapshots)) = history {
        curve.push(trainer.state.sequences, &update);
        snapshots.keep(trainer, update.validated, curve.recent_mean());
    }
    Ok(Some(update))
}
