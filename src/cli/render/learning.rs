//! `tapescope render --over-training`: a machine while it learned, from the snapshots of its run.

use std::io::Write;
use std::path::Path;

use super::super::episode::Chosen;
use super::super::{Usage, machine, refuse};
use super::Render;
use crate::figure::learning::{Learned, Learning};
use crate::figure::{Format, Layout, Options, Picture};
use crate::io::{Experiment, RunFolder, Trained, label, picture, room};
use crate::learn::{Snapshot, slot};
use crate::train::{Recording, recording_bytes};

/// The most moments while the number of sequences grows tenfold.
const PER_DECADE: f64 = 24.0;
/// What is drawn of the episode, where nothing is asked for.
const PICTURES: [Picture; 3] = [Picture::Target, Picture::Output, Picture::Weightings];

impl Render {
    pub(super) fn learning(&self, format: Format, out: &mut impl Write) -> anyhow::Result<()> {
        if format == Format::Svg {
            return refuse(
                "--over-training: an SVG stands still; write the figure to a name that ends in .gif, or .png for an animated PNG",
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
        let learning = Learning::new(&experiment.title, &moments, &options);
        if learning.is_empty() {
            return refuse(
                "--layout: the machine of this run has none of these pictures; leave --layout out",
            );
        }
        let (bytes, title) = self.written(&learning, format)?;
        picture::write(&self.out, &bytes)?;
        Ok(writeln!(out, "{}: {title}", label(&self.out))?)
    }

    /// What was learned, and the episode by the machine of every snapshot.
    fn moments(&self) -> anyhow::Result<(Experiment, Vec<Learned>)> {
        let path = Path::new(&self.source);
        if !path.exists() {
            return self.keeps_none();
        }
        let Some((experiment, snapshots)) = RunFolder::snapshots_at(path)? else {
            return self.keeps_none();
        };
        let file = if path.is_dir() {
            path.join("log")
        } else {
            path.to_owned()
        };
        let experiment = experiment.with_episodes(&file)?;
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
        let bytes = recording_bytes(&machine(last)?.machine.config, episode.steps());
        room::claim(bytes.saturating_mul(all.len() as u64), 0).map_err(|short| {
            Usage(format!(
                "recording the episode at {} moments {short}",
                all.len()
            ))
        })?;
        let learned = |snapshot: &Snapshot| -> anyhow::Result<Learned> {
            let machine = machine(snapshot)?.machine;
            Ok(Learned {
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
            "--over-training: {} is no run that keeps snapshots; train one that does: tapescope train copy --snapshots",
            self.source
        ))
    }
}

/// Those that lie evenly on a logarithmic axis, and the last: of the best that lie between them little would be new.
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
