//! A recorded episode.

use std::ffi::CString;
use std::path::PathBuf;

use numpy::PyReadonlyArrayDyn;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tapescope::cli::in_process;
use tapescope::figure::scene::fonts;
use tapescope::io::trace::{Attention, AttentionOptions, Words};
use tapescope::io::{self, trace};

use crate::arrays::shared;
use crate::errors::raised;

/// Weights of attention.
#[derive(FromPyObject)]
enum Weights<'py> {
    Array(PyReadonlyArrayDyn<'py, f32>),
    File(PathBuf),
}

/// The words of a side, or links.
#[derive(FromPyObject)]
enum Given {
    Words(Vec<String>),
    File(PathBuf),
}

impl From<Given> for Words {
    fn from(given: Given) -> Self {
        match given {
            Given::Words(words) => Self::Given(words),
            Given::File(path) => Self::File(path),
        }
    }
}

/// A recorded episode.
#[pyclass(frozen, module = "tapescope._native")]
pub struct Episode(pub in_process::Episode);

#[pymethods]
impl Episode {
    /// Reads a trace file from memory.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>, name: &str) -> PyResult<Self> {
        let read = py.detach(|| trace::from_bytes(bytes, name));
        let read = read.map_err(|error| raised(py, error.into()))?;
        Ok(Self(read.into()))
    }

    /// Returns attention of another program as a trace: weights in an array, or those in a file, with the words of both sides
    /// and the known links.
    #[staticmethod]
    fn of_attention(
        py: Python<'_>,
        weights: Weights<'_>,
        beside: [Option<Given>; 3],
        line: Option<usize>,
        first: usize,
        links_first: Option<usize>,
    ) -> PyResult<Self> {
        let [tokens, source, links] = beside.map(|given| given.map(Into::into));
        let options = AttentionOptions {
            tokens,
            source,
            links,
            line,
            first,
            links_first,
        };
        let read = match weights {
            Weights::Array(weights) => {
                let weights = weights.as_array();
                let (shape, values) = (weights.shape().to_vec(), weights.iter().copied().collect());
                let label = "attentions";
                py.detach(|| {
                    let attention = Attention::new(&shape, values);
                    let fail = |problem| io::Error::Content {
                        file: label.to_owned(),
                        place: String::new(),
                        problem,
                    };
                    attention.map_err(fail)?.imported(&options, label)
                })
            }
            Weights::File(path) => py.detach(|| trace::read_with(&path, &options)),
        };
        Ok(Self(read.map_err(|error| raised(py, error.into()))?.into()))
    }

    /// Returns the trace as an npz file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bytes = Vec::new();
        // Writing to a vector cannot fail.
        let _ = trace::write_npz(&mut bytes, &self.0.recording, &self.0.source());
        PyBytes::new(py, &bytes)
    }

    /// Returns everything but the arrays as JSON.
    fn meta(&self) -> String {
        let meta = trace::meta(&self.0.recording, &self.0.source());
        String::from_utf8(meta.unwrap_or_default()).unwrap_or_default()
    }

    /// Returns the arrays by name, without copying them.
    fn arrays<'py>(this: &Bound<'py, Self>) -> Vec<(String, Bound<'py, PyAny>)> {
        shared(this, |episode| {
            trace::views(&episode.0.recording, &episode.0.source())
        })
    }

    /// Returns the warning if the memory wrapped around.
    fn wrap_around(&self) -> Option<String> {
        let wrap_around = self.0.recording.trace.wrap_around();
        wrap_around.map(|wrap_around| wrap_around.to_string())
    }

    /// Writes the trace; the ending of the name selects the format.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| trace::write(&path, &self.0.recording, &self.0.source()));
        written.map_err(|error: io::Error| raised(py, error.into()))
    }

    /// Draws a figure, as `tapescope render` does, and returns the file.
    fn render<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        options: Vec<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let order = self.0.config.order();
        let file = py.detach(|| in_process::render(name, &self.0.recording, order, &options));
        let file = file.map_err(|why| raised(py, why))?;
        if let Some(letters) = fonts::warning() {
            let letters = CString::new(letters)?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &letters, 3)?;
        }
        Ok(PyBytes::new(py, &file))
    }
}

/// Verifies a trace file in memory, as `tapescope verify` does. Returns the outcome, one of four words, and the report.
#[pyfunction]
pub fn verify(
    py: Python<'_>,
    bytes: Vec<u8>,
    name: &str,
    options: Vec<String>,
) -> PyResult<(&'static str, String)> {
    let verified = py.detach(|| in_process::verify(name, bytes, &options));
    let (outcome, told) = verified.map_err(|why| raised(py, why))?;
    let word = match outcome {
        trace::Outcome::Holds => "holds",
        trace::Outcome::InPart => "in part",
        trace::Outcome::Differs => "differs",
        trace::Outcome::Nothing => "nothing",
    };
    Ok((word, told))
}
