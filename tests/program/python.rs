//! The Python module in `python/`, with the program of this build: `python/tests`.

use std::process::Command;

use crate::numpy;

#[test]
fn the_python_module_reads_and_writes_our_files() {
    let Some(python) = numpy::python() else {
        return;
    };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/python/tests");
    let ran = Command::new(python)
        .args(["-m", "unittest", "discover", "-v", "-s", folder])
        .env("TAPESCOPE", env!("CARGO_BIN_EXE_tapescope"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    // What needs the extension is run with the wheel: .ci/wheel.
    let is_said = |line: &&str| line.contains("skipped") && !line.contains("needs the extension");
    for line in said.lines().filter(is_said) {
        numpy::say(line);
    }
}
