//! `tapescope._native`: the extension of the Python module. Its classes hold values of the library. The documented classes
//! of `python/tapescope` wrap them; `python/tapescope/_native.pyi` lists the interface.

#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments from Python are created for the call"
)]

mod arrays;
mod episode;
mod errors;
mod interrupt;
mod machine;
mod run;

/// The extension that `python/tapescope` wraps.
#[pyo3::pymodule]
mod _native {
    use std::ffi::OsString;
    use std::path::Path;

    use pyo3::prelude::*;
    use tapescope::io;

    #[pymodule_export]
    use super::episode::{Episode, verify};
    #[pymodule_export]
    use super::machine::Machine;
    #[pymodule_export]
    use super::run::Run;
    use crate::errors::raised;

    /// Runs a command line as the program does and returns its exit code.
    #[pyfunction]
    fn main(py: Python<'_>, again: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| tapescope::cli::run_inside(again, arguments))
    }

    /// Returns a preset as JSON with every default: from `json` if given, otherwise by name.
    #[pyfunction]
    fn preset(py: Python<'_>, name: &str, json: Option<&str>) -> PyResult<String> {
        let experiment = match json {
            Some(json) => io::Experiment::from_json(json, name, &[]),
            None => io::Experiment::find(name, &[]),
        };
        let experiment = experiment.map_err(|error| raised(py, error.into()))?;
        Ok(experiment.to_json())
    }

    /// Returns the text of a machine file in a folder, or of an included one, with the components that it uses.
    #[pyfunction]
    fn machine_text(py: Python<'_>, folder: Option<&str>, name: &str) -> PyResult<String> {
        let text = io::machine_file::read(name, folder.map(Path::new), "preset");
        text.map_err(|error| raised(py, error.into()))
    }

    /// Returns the names of the tensors of a preset, and their rows and columns.
    #[pyfunction]
    fn tensor_shapes(py: Python<'_>, json: &str) -> PyResult<Vec<(String, [usize; 2])>> {
        let shapes = || {
            let experiment = io::Experiment::from_json(json, "preset", &[])?;
            io::preset::known_channels(&experiment.task, "preset")?;
            Ok(io::weights::shapes(&experiment.model))
        };
        shapes().map_err(|error: io::Error| raised(py, error.into()))
    }

    /// Returns the numbers of inputs and outputs of the `task` of a preset, JSON.
    #[pyfunction]
    fn channels(py: Python<'_>, json: &str) -> PyResult<(usize, usize)> {
        let channels = io::preset::channels(json, "preset");
        channels
            .map(<(usize, usize)>::from)
            .map_err(|error| raised(py, error.into()))
    }

    /// Checks the `model` of a preset or a trace, JSON.
    #[pyfunction]
    fn check_model(py: Python<'_>, json: &str) -> PyResult<()> {
        io::preset::check_model(json, "preset").map_err(|error| raised(py, error.into()))
    }

    /// Checks an episode file in memory.
    #[pyfunction]
    fn check_episodes(py: Python<'_>, bytes: &[u8], name: &str) -> PyResult<()> {
        let checked = py.detach(|| io::episodes::from_bytes(bytes, name).map(|_| ()));
        checked.map_err(|error| raised(py, error.into()))
    }

    /// Returns the names of all presets.
    #[pyfunction]
    fn presets() -> Vec<&'static str> {
        io::preset::names().collect()
    }

    /// Returns the names of the included machines.
    #[pyfunction]
    fn machines() -> Vec<&'static str> {
        io::weights::included_names().collect()
    }
}
