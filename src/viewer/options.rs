//! The options with which the window starts.

use std::path::PathBuf;
use std::sync::Arc;

use super::apply::record;
use super::disk::{Disk, included_machine, included_machines};
use super::link::Link;
use super::state::{
    Files, InvalidStart, Machine, NamedExperiment, NoFiles, OpenedFile, Session, Settings,
    StartOptions,
};
use crate::io::trace::AttentionOptions;
use crate::model::Trace;
use crate::model::config::Order;

/// The options with which the window starts.
#[derive(Clone)]
pub struct Options {
    /// The machines to choose from; an episode of the first one is shown.
    pub machines: Vec<Machine>,
    /// Access to files.
    pub files: Arc<dyn Files>,
    /// The seed of the first episode; where not given one whose input is worth looking at.
    pub seed: Option<u64>,
    /// The file to show instead of the first machine, with its contents: without them it is read behind the window,
    /// because it may be large.
    pub open: Option<(PathBuf, Option<OpenedFile>)>,
    /// The file to compare it with.
    pub compare: Option<(PathBuf, Option<OpenedFile>)>,
    /// The initial episode and place.
    pub begin: StartOptions,
    /// Experiments to train side by side, with their names.
    pub learn: Vec<NamedExperiment>,
    /// Settings stored by earlier sessions.
    pub settings: Settings,
    /// The folder for checkpoints of runs in training, from which they are recovered; `None` for no checkpoints.
    pub recovery: Option<PathBuf>,
}

impl Options {
    /// The machines inside the binary and the file system; `open` is shown first, if it is given.
    pub fn included(open: Option<(PathBuf, Option<OpenedFile>)>) -> Self {
        Self {
            machines: included_machines(),
            files: Arc::new(Disk),
            open,
            ..Self::default()
        }
    }

    /// Parses a link, or the part after its `#`, into the name of the machine and its start.
    ///
    /// # Errors
    /// A sentence that names what is not known or not allowed, and what is.
    pub fn linked(text: &str) -> Result<(&'static str, StartOptions), String> {
        let (page, place) = text.split_once('#').unwrap_or(("", text));
        if page.contains("?trace=") {
            let words = "The link shows a trace next to its page. Download that file and open it.";
            return Err(words.to_owned());
        }
        let link = Link::parse(place)?;
        let first = link.first()?;
        Ok(match included_machine(first) {
            Some(machine) => (first, link.beginning(&machine)?),
            None => (first, StartOptions::default()),
        })
    }

    /// Checks that the initial episode can be recorded and has the step, stage, head and pinned value.
    ///
    /// # Errors
    /// The missing one, or the reason why it is not recorded.
    pub fn check(&self) -> Result<(), StartError> {
        match &self.open {
            Some((_, Some(OpenedFile::Trace(open)))) => {
                let trace = &open.shown.recording.trace;
                Ok(self
                    .begin
                    .check(trace.steps(), trace, open.writes_first())?)
            }
            Some((_, Some(OpenedFile::Machine(machine)))) => self.check_machine(machine),
            Some((_, Some(OpenedFile::Run(_)) | None)) => Ok(()),
            None => {
                let first = self.machines.first();
                first.map_or(Ok(()), |first| self.check_machine(first))
            }
        }
    }

    fn check_machine(&self, machine: &Machine) -> Result<(), StartError> {
        let mut session = Session::new(vec![machine.clone()], self.seed);
        session.begin(self.begin.rows, self.begin.asked.clone());
        let Some(inputs) = session.recording_inputs() else {
            return Ok(());
        };
        // A machine that cannot run on this number of rows is refused when it records.
        let config = machine.ntm.config.with_rows(inputs.request.rows);
        let config = config.unwrap_or_else(|_| machine.ntm.config.clone());
        let most = inputs.request.longest(&config, &inputs.task());
        record::check_recording(&config, most).map_err(StartError::TooLarge)?;
        let (trace, writes_first) = (
            Trace::of_recording(&config, most, None),
            config.order() == Order::WriteFirst,
        );
        Ok(self.begin.check(inputs.steps(), &trace, writes_first)?)
    }

    /// Moves the machine of this name before the others.
    #[must_use]
    pub fn with_first(mut self, name: &str) -> Self {
        self.machines.sort_by_key(|machine| machine.name != name);
        self
    }
}

/// The reason why the window cannot start as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The episode has no such step, or the machine no such head.
    #[error("{0}")]
    Invalid(#[from] InvalidStart),
    /// The episode is too large to be recorded; a sentence says so.
    #[error("{0}")]
    TooLarge(String),
}

/// The initial content, if it is not the first included machine.
#[derive(Clone, Debug, PartialEq)]
pub enum First {
    /// The machine of this name inside the binary.
    Machine(String),
    /// A trace, a weights file or the folder of a run.
    File(PathBuf),
    /// Attention of another program, with what belongs to it.
    Attention(PathBuf, AttentionOptions),
    /// The experiments to train.
    Learning(Vec<NamedExperiment>),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            machines: Vec::new(),
            files: Arc::new(NoFiles),
            seed: None,
            open: None,
            compare: None,
            begin: StartOptions::default(),
            learn: Vec::new(),
            settings: Settings::default(),
            recovery: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_checked_against_the_episode_that_is_recorded() {
        let check = |machine: &str, pin: &str| {
            let mut options = Options::included(None).with_first(machine);
            options.begin.pin = Some(pin.to_owned());
            options.check().map_err(|error| error.to_string())
        };
        for (machine, pin) in [
            ("copy", "memory[127,19]"),
            ("copy", "controller.hidden[3]"),
            ("copy", "write0.gate"),
            ("copy_sam", "memory[0,0]"),
            ("copy_sam", "read0.weighting[3]"),
            ("transduce", "read0.weighting[2]"),
            ("copy_multi_head", "read1.key[0]"),
            ("copy_dnc", "write0.usage[5]"),
        ] {
            assert_eq!(check(machine, pin), Ok(()), "{machine} {pin}");
        }
        for (machine, pin) in [
            ("copy", "memory[128,0]"),
            ("copy", "memory[99999999999999999999,0]"),
            ("transduce", "read0.weighting[99999]"),
            ("copy", ""),
            ("copy_sam", "read0.weight[0]"),
        ] {
            let error = check(machine, pin).unwrap_err();
            assert!(error.starts_with("--pin "), "{machine} {pin}: {error}");
        }
    }
}
