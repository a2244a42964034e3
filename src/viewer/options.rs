//! What the window starts with.

use std::path::PathBuf;
use std::sync::Arc;

use super::disk::{Disk, shipped};
use super::files::{Files, Machine, NoFiles, Opened};
use super::link::Link;
use super::state::beginning::{Beginning, Lacks};
use super::state::session::Session;
use super::state::settings::Settings;
use super::worker;
use crate::io::Experiment;
use crate::model::Trace;
use crate::model::config::Order;

/// What the window starts with.
#[derive(Clone)]
pub struct Options {
    /// The machines to choose from; an episode of the first one is shown.
    pub machines: Vec<Machine>,
    /// How files are opened and saved.
    pub files: Arc<dyn Files>,
    /// The seed of the first episode; where not given one whose input is worth looking at.
    pub seed: Option<u64>,
    /// A trace or weights to show instead of the first machine, and the file they came from.
    pub open: Option<(PathBuf, Opened)>,
    /// A trace that is read behind the window, where nothing else is to be shown: it may be large.
    pub large: Option<PathBuf>,
    /// A trace or weights to compare it with.
    pub compare: Option<(PathBuf, Opened)>,
    /// The same, read behind the window: it may be large.
    pub large_compare: Option<PathBuf>,
    /// Where in which episode it begins.
    pub begin: Beginning,
    /// What is to learn at once, side by side, and what each is called.
    pub learn: Vec<(String, Experiment)>,
    /// What is remembered of earlier runs.
    pub settings: Settings,
}

impl Options {
    /// The machines inside the binary and the file system; `open` is shown first, if it is given.
    pub fn shipped(open: Option<(PathBuf, Opened)>) -> Self {
        Self {
            machines: shipped(),
            files: Arc::new(Disk),
            open,
            ..Self::default()
        }
    }

    /// Reads a whole link, or what stands behind its `#`: the name of the machine that it shows, and where that begins.
    ///
    /// # Errors
    /// A sentence that names what is not known or not allowed, and what is.
    pub fn linked(text: &str) -> Result<(&'static str, Beginning), String> {
        let (page, place) = text.split_once('#').unwrap_or(("", text));
        if page.contains("?trace=") {
            let words = "The link shows a trace beside its page; download that file, and open it.";
            return Err(words.to_owned());
        }
        let link = Link::parse(place)?;
        let first = link.first()?;
        let options = Self::shipped(None).with_first(first);
        let machine = options.machines.first();
        let begin = machine.map(|machine| link.beginning(machine)).transpose()?;
        Ok((first, begin.unwrap_or_default()))
    }

    /// That the episode to begin with can be recorded, and has the step, the stage and the head to begin at.
    ///
    /// # Errors
    /// Which of them it has not, or why it is not recorded.
    pub fn check(&self) -> Result<(), Unfit> {
        match &self.open {
            Some((_, Opened::Trace(shown))) => {
                let trace = &shown.recording.trace;
                let writes_first = shown.writes_first();
                Ok(self.begin.check(trace.steps(), trace, writes_first)?)
            }
            Some((_, Opened::Machine(machine))) => self.check_machine(machine),
            Some((_, Opened::Run(_))) => Ok(()),
            None => self
                .machines
                .first()
                .map_or(Ok(()), |first| self.check_machine(first)),
        }
    }

    fn check_machine(&self, machine: &Machine) -> Result<(), Unfit> {
        let mut session = Session::new(vec![machine.clone()], self.seed);
        session.begin(self.begin.rows, self.begin.asked.clone());
        let Some(request) = session.request() else {
            return Ok(());
        };
        let steps = request.wish.steps(&request.task);
        // What does not run on so many rows is refused by whoever records.
        let config = machine.ntm.config.with_rows(request.wish.rows);
        let config = config.unwrap_or_else(|_| machine.ntm.config.clone());
        if let Some(sentence) = worker::too_large(&config, steps) {
            return Err(Unfit::TooLarge(sentence));
        }
        let writes_first = config.order() == Order::WriteFirst;
        Ok(self
            .begin
            .check(steps, &Trace::new(&config), writes_first)?)
    }

    /// With the machine of this name before the others.
    #[must_use]
    pub fn with_first(mut self, name: &str) -> Self {
        self.machines.sort_by_key(|machine| machine.name != name);
        self
    }
}

/// Why the window cannot begin as it is to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The episode has no such step, or the machine no such head.
    #[error("{0}")]
    Lacks(Lacks),
    /// The episode is too large to be recorded; a sentence says so.
    #[error("{0}")]
    TooLarge(String),
}

impl From<Lacks> for Unfit {
    fn from(lacks: Lacks) -> Self {
        Self::Lacks(lacks)
    }
}

/// What the window shows first, if it is not the first machine inside the binary.
#[derive(Clone, Debug, PartialEq)]
pub enum First {
    /// The machine of this name inside the binary.
    Machine(String),
    /// A trace, a weights file or the folder of a run.
    File(PathBuf),
    /// What is to learn.
    Learning(Vec<(String, Experiment)>),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            machines: Vec::new(),
            files: Arc::new(NoFiles),
            seed: None,
            open: None,
            large: None,
            compare: None,
            large_compare: None,
            begin: Beginning::default(),
            learn: Vec::new(),
            settings: Settings::default(),
        }
    }
}
