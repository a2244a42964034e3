//! A recorded episode.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tapescope::cli::call;
use tapescope::io::{self, trace};

use crate::arrays::shared;
use crate::errors::raised;

/// A recorded episode.
#[pyclass(frozen, module = "tapescope._native")]
pub struct Episode(pub call::Episode);

#[pymethods]
impl Episode {
    /// What a trace file says that is held in memory.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>, name: &str) -> PyResult<Self> {
        let read = py.detach(|| trace::from_bytes(bytes, name));
        let read = read.map_err(|error| raised(py, error.into()))?;
        Ok(Self(read.into()))
    }

    /// It as an npz file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bytes = Vec::new();
        // A vector takes every byte.
        let _ = trace::write_npz(&mut bytes, &self.0.recording, &self.0.source());
        PyBytes::new(py, &bytes)
    }

    /// Everything but the arrays, JSON.
    fn meta(&self) -> String {
        let meta = trace::meta(&self.0.recording, &self.0.source());
        String::from_utf8(meta.unwrap_or_default()).unwrap_or_default()
    }

    /// The arrays by name, without copying them.
    fn arrays<'py>(this: &Bound<'py, Self>) -> Vec<(String, Bound<'py, PyAny>)> {
        shared(this, |episode| {
            trace::views(&episode.0.recording, &episode.0.source())
        })
    }

    /// What is to be said where writes reach rows that are already written.
    fn overrun(&self) -> Option<String> {
        let overrun = self.0.recording.trace.overrun();
        overrun.map(|overrun| overrun.to_string())
    }

    /// Writes it, by the end of the name.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| trace::write(&path, &self.0.recording, &self.0.source()));
        written.map_err(|error: io::Error| raised(py, error.into()))
    }

    /// `tapescope render`.
    fn render<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        options: Vec<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let order = self.0.config.order();
        let file = py.detach(|| call::render(name, &self.0.recording, order, &options));
        let file = file.map_err(|why| raised(py, why))?;
        Ok(PyBytes::new(py, &file))
    }
}

/// `tapescope verify` of a trace file that is held in memory: one of four words, and what is said.
#[pyfunction]
pub fn verify(
    py: Python<'_>,
    bytes: Vec<u8>,
    name: &str,
    options: Vec<String>,
) -> PyResult<(&'static str, String)> {
    let verified = py.detach(|| call::verify(name, bytes, &options));
    let (outcome, told) = verified.map_err(|why| raised(py, why))?;
    let word = match outcome {
        trace::Outcome::Holds => "holds",
        trace::Outcome::InPart => "in part",
        trace::Outcome::Differs => "differs",
        trace::Outcome::Nothing => "nothing",
    };
    Ok((word, told))
}
