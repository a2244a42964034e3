//! A machine with its weights.

use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tapescope::cli::call;
use tapescope::io::measurement::{evaluation_json, history_json};
use tapescope::io::{self, Trained, weights};
use tapescope::train::HistoryPoint;

use crate::arrays::shared;
use crate::episode::Episode;
use crate::errors::raised;
use crate::interrupt::until_interrupted;

/// A machine with its weights and what is known of them.
#[pyclass(frozen, module = "tapescope._native")]
pub struct Machine {
    pub name: String,
    pub trained: Trained,
    /// Whether the program finds it under its name: others are in memory alone.
    pub is_found: bool,
    /// The learning curve of all its training, which goes on behind the best weights.
    pub history: Vec<HistoryPoint>,
}

impl Machine {
    fn new(name: String, mut trained: Trained, is_found: bool) -> Self {
        // Its experiment is the one after them.
        trained.changes.clear();
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
    /// The machine of a preset, a weights file or a folder.
    #[staticmethod]
    fn find(py: Python<'_>, name: String) -> PyResult<Self> {
        let trained = py.detach(|| call::machine(&name));
        let trained = trained.map_err(|why| raised(py, why))?;
        Ok(Self::new(name, trained, true))
    }

    /// What a weights file says that is held in memory.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], name: String) -> PyResult<Self> {
        let read = || {
            let mut trained = weights::from_bytes(bytes, &name)?;
            trained.experiment = trained.now().with_episodes(Path::new(&name))?;
            Ok(trained)
        };
        let trained = read().map_err(|error: io::Error| raised(py, error.into()))?;
        Ok(Self::new(name, trained, false))
    }

    /// A weights file of it.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &weights::to_bytes(&self.trained))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The experiment that made it, JSON.
    #[getter]
    fn preset(&self) -> String {
        let mut experiment = self.trained.experiment.clone();
        experiment.model = self.trained.machine.config.clone();
        experiment.to_json()
    }

    /// Its learning curve, JSON.
    #[getter]
    fn history(&self) -> String {
        history_json(&self.history)
    }

    /// Its validation, JSON.
    #[getter]
    fn evaluation(&self) -> Option<String> {
        self.trained.evaluation.as_ref().map(evaluation_json)
    }

    /// The command that made it.
    #[getter]
    fn command(&self) -> &str {
        &self.trained.command
    }

    /// The hash of its weights.
    fn sha256(&self) -> String {
        self.trained.sha256()
    }

    /// Its tensors by name, without copying them.
    fn tensors<'py>(this: &Bound<'py, Self>) -> Vec<(String, Bound<'py, PyAny>)> {
        shared(this, |machine| {
            let tensors = weights::tensors(&machine.trained.machine).into_iter();
            tensors
                .map(|(name, tensor)| (name, tensor.into()))
                .collect()
        })
    }

    /// `tapescope trace`.
    fn trace(
        &self,
        py: Python<'_>,
        input: Option<String>,
        options: Vec<String>,
    ) -> PyResult<Episode> {
        let record = || call::record(&self.name, &self.trained, input, &options);
        let episode = py.detach(record).map_err(|why| raised(py, why))?;
        Ok(Episode(episode))
    }

    /// `tapescope eval --json`; Ctrl-C ends it between two episodes.
    fn evaluate(&self, py: Python<'_>, options: Vec<String>) -> PyResult<Vec<String>> {
        let lines = until_interrupted(py, |stop| {
            call::evaluate(&self.name, &self.trained, &options, stop)
        })?;
        lines.map_err(|why| raised(py, why))
    }

    /// Its learning curve, an SVG.
    fn curve(&self, py: Python<'_>, dark: bool) -> String {
        py.detach(|| call::curve(&self.name, &self.history, dark))
    }
}
