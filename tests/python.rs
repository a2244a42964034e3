//! The Python module in `python/`, with the program of this build: `python/tests/test_io.py`.
//!
//! `PYTHON` names another Python than `python3`; what it does not have is skipped, with a word.

use std::process::Command;

#[test]
fn the_python_module_reads_and_writes_our_files() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !has_numpy.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: needs {python} with NumPy");
        return;
    }
    let ran = Command::new(&python)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/python/tests/test_io.py"
        ))
        .arg("-v")
        .env("TAPESCOPE", env!("CARGO_BIN_EXE_tapescope"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    for line in said.lines().filter(|line| line.contains("skipped")) {
        eprintln!("{line}");
    }
}
