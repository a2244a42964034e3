//! A training run in short intervals.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tapescope::cli::in_process::{self, CommandError, Start};
use tapescope::io::measurement::history_json;

use crate::errors::raised;
use crate::machine::Machine;

/// A training run between two updates.
#[pyclass(frozen, module = "tapescope._native")]
pub struct Run {
    name: String,
    /// None after the end.
    run: Mutex<Option<in_process::Run>>,
}

impl Run {
    fn with<T>(&self, what: impl FnOnce(&in_process::Run) -> T) -> PyResult<T> {
        let held = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let run = held.as_ref().ok_or_else(ended)?;
        Ok(what(run))
    }
}

fn ended() -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err("this run has ended")
}

#[pymethods]
impl Run {
    /// Starts a run, as `tapescope train` does, up to the first update.
    #[staticmethod]
    fn begin(
        py: Python<'_>,
        name: String,
        json: Option<String>,
        start: Option<Bound<'_, Machine>>,
        options: Vec<String>,
    ) -> PyResult<Self> {
        let start = start.as_ref().map(Bound::get);
        let start = start.map(|start| Start {
            name: &start.name,
            trained: &start.trained,
            is_found: start.is_found,
        });
        let run = py.detach(|| in_process::Run::begin(&name, json.as_deref(), start, &options));
        let run = run.map_err(|why| raised(py, why))?;
        // A dictionary has its name inside.
        let name = json.map_or(name, |_| run.experiment().name.clone());
        let run = Mutex::new(Some(run));
        Ok(Self { name, run })
    }

    /// Trains for about `seconds` (0 to 60), at least one update. Returns the bits and wrong bits per sequence of the last
    /// update, or None at the end.
    fn go(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<(f64, f64)>> {
        let went = py.detach(|| {
            let mut held = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            let run = held.as_mut()?;
            let until = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 60.0));
            Some(updates(run, until))
        });
        went.ok_or_else(ended)?.map_err(|why| raised(py, why))
    }

    /// Returns the sequences trained and those of the whole run.
    fn sequences(&self) -> PyResult<(u64, u64)> {
        self.with(in_process::Run::sequences)
    }

    /// Returns true if the targets are real values.
    fn is_real(&self) -> PyResult<bool> {
        self.with(|run| run.experiment().task.answer().is_real())
    }

    /// Returns the learning curve from a point on, JSON.
    fn history(&self, start: usize) -> PyResult<String> {
        self.with(|run| {
            let points = &run.state().history;
            history_json(points.get(start..).unwrap_or_default())
        })
    }

    /// Returns the best machine so far.
    fn machine(&self) -> PyResult<Machine> {
        self.with(|run| Machine {
            name: self.name.clone(),
            trained: run.trained(),
            is_found: false,
            history: run.state().history.clone(),
        })
    }

    /// Ends the run; writes a checkpoint if it has a folder and is unfinished.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        let run = self
            .run
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let end = py.detach(|| run.map_or(Ok(()), in_process::Run::end));
        end.map_err(|why| raised(py, why))
    }
}

fn updates(run: &mut in_process::Run, until: Instant) -> Result<Option<(f64, f64)>, CommandError> {
    let mut last = None;
    while let Some(update) = run.update()? {
        last = Some((update.bits, update.wrong));
        if Instant::now() >= until {
            break;
        }
    }
    Ok(last)
}
