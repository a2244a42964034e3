//! The Python of the tests that need one.
//!
//! `TAPESCOPE_PYTHON` names another than `python3`. Where it has no NumPy those tests are left out, with a
//! word that is seen; with `TAPESCOPE_PYTHON_ALL=1`, as `.ci/run` has it, they fail.

use std::io::Write;
use std::process::Command;

/// A Python with NumPy, unless there is none and that is no fault.
pub fn python() -> Option<String> {
    let python = std::env::var("TAPESCOPE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if has_numpy.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let must = std::env::var("TAPESCOPE_PYTHON_ALL").is_ok_and(|all| all == "1");
    assert!(!must, "{python} has no NumPy");
    say(&format!("left out: needs {python} with NumPy"));
    None
}

/// A line that is seen although the test passes: what is printed is shown of failed tests alone.
pub fn say(line: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "{test}: {line}");
}
