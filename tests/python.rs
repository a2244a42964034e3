//! The Python module in `python/`, with the program of this build: `python/tests`.

mod numpy;

use std::process::Command;

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
    for line in said.lines().filter(|line| line.contains("skipped")) {
        numpy::say(line);
    }
}
