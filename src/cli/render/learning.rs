//! `tapescope render --over-training`: a machine while it learned, from the snapshots of its run.

use std::io::Write;
use std::path::Path;

use super::super::episode::Chosen;
use super::super::error::refuse;
use super::super::machine;
use super::Render;
use crate::figure::learning::{SnapshotEpisode, TrainingFigure};
use crate::figure::{Format, Layout, Options, Picture};
use crate::io::{Experiment, RunFolder, Trained, label, picture};
use crate::learn::{Snapshot, slot};
use crate::train::{Demand, Recording};

/// The most moments while the number of sequences grows tenfold.
const PER_DECADE: f64 = 24.0;
/// The pictures of the episode, unless others are requested.
const PICTURES: [Picture; 3] = [Picture::Target, Picture::Output, Picture::Weightings];

impl Render {
    pub(super) fn learning(&self, format: Format, out: &mut impl Write) -> anyhow::Result<()> {
        if format == Format::Svg {
            return refuse(
                "--over-training: SVG is not animated; use a file name that ends in .gif, or in .png for an animated PNG",
            );
        }
        let (experiment, moments) = self.moments()?;
        let Some(last) = moments.last() else {
            return self.keeps_none();
        };
        let order = experiment.model.order();
        let mut options = self.options(format, &last.recording, order)?;
        if self.layout.is_none() {
            options = Options {
                layout: Layout::Pictures(PICTURES.into()),
                ..options
            };
        }
        let learning = TrainingFigure::new(&experiment.title, &moments, &options);
        if learning.is_empty() {
            return refuse(
                "--layout: the machine of this run has none of these pictures; omit --layout",
            );
        }
        let (bytes, title) = self.written(&learning, format)?;
        picture::write(&self.out, &bytes)?;
        Ok(writeln!(out, "{}: {title}", label(&self.out))?)
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
            machine::with_rows(trained, &self.source, self.episode.rows)
        };
        let all = evenly(snapshots.all());
        let Some(last) = all.last() else {
            return self.keeps_none();
        };
        let Chosen {
            task,
            episode,
            origin,
        } = self.episode.choose(&self.source, &machine(last)?)?;
        let bytes = Demand::Recording.bytes(&machine(last)?.machine.config, episode.steps());
        let what = format!("recording the episode at {} training snapshots", all.len());
        machine::claim(bytes.saturating_mul(all.len() as u64), 0, &what)?;
        let learned = |snapshot: &Snapshot| -> anyhow::Result<SnapshotEpisode> {
            let machine = machine(snapshot)?.machine;
            Ok(SnapshotEpisode {
                sequences: snapshot.sequences,
                seconds: snapshot.seconds,
                recording: Recording::of(&machine, &task, episode.clone(), origin),
            })
        };
        let moments: anyhow::Result<Vec<_>> = all.into_iter().map(learned).collect();
        let moments = moments?;
        Ok((experiment, moments))
    }

    fn keeps_none<T>(&self) -> anyhow::Result<T> {
        refuse(format!(
            "--over-training: {} has no training snapshots; train a run with them: tapescope train copy --snapshots",
            self.source
        ))
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
