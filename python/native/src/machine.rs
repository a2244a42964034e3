//! A machine with its weights.

use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tapescope::cli::in_process;
use tapescope::io::measurement::{evaluation_json, history_json};
use tapescope::io::{self, Trained, weights};
use tapescope::train::HistoryPoint;

use crate::arrays::shared;
use crate::episode::Episode;
use crate::errors::raised;
use crate::interrupt::until_interrupted;

/// A machine with its weights and their metadata.
#[pyclass(frozen, module = "tapescope._native")]
pub struct Machine {
    pub name: String,
    pub trained: Trained,
    /// Whether the program finds it under its name; otherwise it exists in memory only.
    pub is_found: bool,
    /// Learning curve of the whole training, which continues after the best weights.
    pub history: Vec<HistoryPoint>,
}

impl Machine {
    fn new(name: String, trained: Trained, is_found: bool) -> Self {
        Self {
            history: trained.history.clone(),
            name,
            trained,
            is_found,
        }
    }
}

#[pymethods]
impl Machine {
    /// Loads an included machine, a weights file or a run folder.
    #[staticmethod]
    fn find(py: Python<'_>, name: String) -> PyResult<Self> {
        let trained = py.detach(|| in_process::machine(&name));
        let trained = trained.map_err(|why| raised(py, why))?;
        Ok(Self::new(name, trained, true))
    }

    /// Reads a weights file from memory.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], name: String) -> PyResult<Self> {
        let read = || {
            let mut trained = weights::from_bytes(bytes, &name)?;
            let by = Path::new(&name);
            trained.experiment = trained.experiment.with_episodes_if_there(by)?;
            Ok(trained)
        };
        let trained = read().map_err(|error: io::Error| raised(py, error.into()))?;
        Ok(Self::new(name, trained, false))
    }

    /// Returns the machine as a weights file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &weights::to_bytes(&self.trained))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Preset of the machine, JSON.
    #[getter]
    fn preset(&self) -> String {
        let mut experiment = self.trained.now();
        experiment.model = self.trained.machine.config.clone();
        experiment.to_json()
    }

    /// Learning curve, JSON.
    #[getter]
    fn history(&self) -> String {
        history_json(&self.history)
    }

    /// Validation, JSON.
    #[getter]
    fn evaluation(&self) -> Option<String> {
        self.trained.evaluation.as_ref().map(evaluation_json)
    }

    /// Command line that made the machine.
    #[getter]
    fn command(&self) -> &str {
        &self.trained.command
    }

    /// Returns the SHA-256 of the weights.
    fn sha256(&self) -> String {
        self.trained.sha256()
    }

    /// Returns the tensors by name.
    fn tensors<'py>(this: &Bound<'py, Self>) -> Vec<(String, Bound<'py, PyAny>)> {
        shared(this, |machine| weights::tensors(&machine.trained.machine))
    }

    /// Records an episode, as `tapescope trace` does.
    fn trace(
        &self,
        py: Python<'_>,
        input: Option<String>,
        options: Vec<String>,
    ) -> PyResult<Episode> {
        let record = || in_process::record(&self.name, &self.trained, input, &options);
        let episode = py.detach(record).map_err(|why| raised(py, why))?;
        Ok(Episode(episode))
    }

    /// Runs a step of an episode of this machine again with further interventions, and the step behind it.
    fn advance(
        &self,
        py: Python<'_>,
        episode: &Bound<'_, Episode>,
        changes: Vec<String>,
        step: usize,
    ) -> PyResult<Episode> {
        let episode = &episode.get().0;
        let advance = || in_process::advance(&self.trained, episode, &changes, step);
        let episode = py.detach(advance).map_err(|why| raised(py, why))?;
        Ok(Episode(episode))
    }

    /// Evaluates the machine, as `tapescope eval --json` does; Ctrl-C stops it between two episodes.
    fn evaluate(&self, py: Python<'_>, options: Vec<String>) -> PyResult<Vec<String>> {
        let lines = until_interrupted(py, |stop| {
            in_process::evaluate(&self.name, &self.trained, &options, stop)
        })?;
        lines.map_err(|why| raised(py, why))
    }

    /// Draws the learning curve as SVG.
    fn curve(&self, py: Python<'_>, dark: bool) -> String {
        py.detach(|| {
            in_process::curve(
                &self.name,
                self.trained.experiment.task.answer(),
                &self.history,
                dark,
            )
        })
    }
}
