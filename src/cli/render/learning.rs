//! `tapescope render --over-training`: a machine while it learned, from the snapshots of its run.

use std::io::Write;
use std::path::Path;

use anyhow::{bail, ensure};

use super::super::machine;
use super::Render;
use crate::figure::page::learning::{SnapshotEpisode, TrainingFigure};
use crate::figure::{Format, Layout, Picture};
use crate::io::{Experiment, RunFolder, Trained, label, picture};
use crate::learn::{Snapshot, slot};
use crate::train::Demand;

/// The most moments while the number of sequences grows tenfold.
const PER_DECADE: f64 = 24.0;
/// The pictures of the episode, unless others are requested.
const PICTURES: [Picture; 3] = [Picture::Target, Picture::Output, Picture::Weightings];

impl Render {
    pub(super) fn learning(&self, format: Format, out: &mut impl Write) -> anyhow::Result<()> {
        ensure!(
            format != Format::Svg,
            "--over-training: SVG is not animated; use a file name that ends in .gif, or in .png for an animated PNG"
        );
        let (experiment, moments) = self.moments()?;
        let Some(last) = moments.last() else {
            return self.keeps_none();
        };
        let order = experiment.model.order();
        let mut options = self.options(format, &last.recording, order)?;
        if self.layout.is_none() {
            options.layout = Layout::Pictures(PICTURES.into());
        }
        let learning = TrainingFigure::new(&experiment.title, &moments, &options);
        ensure!(
            !learning.is_empty(),
            "--layout: the machine of this run has none of these pictures; omit --layout"
        );
        let (bytes, title) = self.written(&learning, format)?;
        picture::write(self.out(), &bytes)?;
        Ok(writeln!(out, "{}: {title}", label(self.out()))?)
    }

    /// Returns the experiment, and the episode as recorded with every training snapshot.
    fn moments(&self) -> anyhow::Result<(Experiment, Vec<SnapshotEpisode>)> {
        let path = Path::new(&self.source);
        if !path.exists() {
            return self.keeps_none();
        }
        let Some((experiment, snapshots)) = RunFolder::snapshots_at(path)? else {
            return self.keeps_none();
        };
        let experiment = experiment.with_episodes(&RunFolder::of(path).join("log"))?;
        let machine = |snapshot: &Snapshot| {
            let trained = Trained {
                experiment: experiment.clone(),
                machine: snapshot.machine.as_ref().clone(),
                history: Vec::new(),
                changes: Vec::new(),
                evaluation: None,
                command: String::new(),
            };
            machine::resized(trained, &self.source, &self.episode.sizes)
        };
        let all = evenly(snapshots.all());
        let Some(last) = all.last() else {
            return self.keeps_none();
        };
        let last = machine(last)?;
        let chosen = self.episode.choose(&self.source, &last)?;
        let bytes = Demand::Recording.bytes(&last.machine.config, chosen.episode.steps());
        let what = format!("recording the episode at {} training snapshots", all.len());
        machine::claim(bytes.saturating_mul(all.len() as u64), 0, &what)?;
        let learned = |snapshot: &Snapshot| -> anyhow::Result<SnapshotEpisode> {
            Ok(SnapshotEpisode {
                sequences: snapshot.sequences,
                seconds: snapshot.seconds,
                recording: chosen.record(&machine(snapshot)?.machine)?,
            })
        };
        let moments: anyhow::Result<Vec<_>> = all.into_iter().map(learned).collect();
        Ok((experiment, moments?))
    }

    fn keeps_none<T>(&self) -> anyhow::Result<T> {
        bail!(
            "--over-training: {} has no training snapshots; train a run with them: tapescope train copy --snapshots",
            self.source
        )
    }
}

/// Selects snapshots evenly spaced on a logarithmic axis, and the last; best snapshots between them add little.
fn evenly(all: &[Snapshot]) -> Vec<&Snapshot> {
    let place = |sequences: u64| slot(sequences, PER_DECADE);
    let mut kept: Vec<&Snapshot> = Vec::new();
    for (index, snapshot) in all.iter().enumerate() {
        let is_new = |last: &&Snapshot| place(snapshot.sequences) > place(last.sequences);
        if index + 1 == all.len() || kept.last().is_none_or(is_new) {
            kept.push(snapshot);
        }
    }
    kept
}
