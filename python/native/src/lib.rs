//! `tapescope._native`: what the Python module computes with. Its classes hold values of the library and are wrapped by
//! those of `python/tapescope`, which have the documentation; `python/tapescope/_native.pyi` says what is here.

#![expect(
    clippy::needless_pass_by_value,
    reason = "what comes from Python is made for the call"
)]

mod arrays;
mod episode;
mod errors;
mod interrupt;
mod machine;
mod run;

/// What `python/tapescope` computes with.
#[pyo3::pymodule]
mod _native {
    use std::ffi::OsString;

    use pyo3::prelude::*;
    use tapescope::io;

    #[pymodule_export]
    use super::episode::{Episode, verify};
    #[pymodule_export]
    use super::machine::Machine;
    #[pymodule_export]
    use super::run::Run;
    use crate::errors::raised;

    /// Runs a command line as the program does, and returns its exit code.
    #[pyfunction]
    fn main(py: Python<'_>, again: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| tapescope::cli::run_inside(again, arguments))
    }

    /// The preset of this name, or, where there is one, what `json` says, as JSON with every default.
    #[pyfunction]
    fn preset(py: Python<'_>, name: &str, json: Option<&str>) -> PyResult<String> {
        let experiment = match json {
            Some(json) => io::Experiment::from_json(json, name, &[]),
            None => io::Experiment::find(name, &[]),
        };
        let experiment = experiment.map_err(|error| raised(py, error.into()))?;
        Ok(experiment.to_json())
    }

    /// Holds a file of episodes that is in memory to what can be learned from.
    #[pyfunction]
    fn check_episodes(py: Python<'_>, bytes: &[u8], name: &str) -> PyResult<()> {
        let checked = py.detach(|| io::episodes::from_bytes(bytes, name).map(|_| ()));
        checked.map_err(|error| raised(py, error.into()))
    }

    /// The names of all presets.
    #[pyfunction]
    fn presets() -> Vec<&'static str> {
        io::preset::names().collect()
    }

    /// The names of those whose weights are included.
    #[pyfunction]
    fn machines() -> Vec<&'static str> {
        io::weights::shipped_names().collect()
    }
}
