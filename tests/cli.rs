//! The command line as transcripts: what is typed, what comes out, and the exit code.
//!
//! `TRYCMD=overwrite cargo test --test cli` writes what comes out now into `tests/cli/*.trycmd`.

#[test]
fn transcripts() {
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .case("tests/cli/*.trycmd")
        .run();
}

/// `tapescope tasks | head -1`: the reader leaves before the writer is done.
#[test]
#[cfg(unix)]
fn a_closed_pipe_is_not_an_error() {
    use std::io::Read;
    use std::process::{Command, Stdio};

    let mut child = Command::new(env!("CARGO_BIN_EXE_tapescope"))
        .args(["tasks", "copy"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut errors = String::new();
    let mut pipe = child.stderr.take().unwrap();
    pipe.read_to_string(&mut errors).unwrap();
    assert!(child.wait().unwrap().success(), "{errors}");
    assert_eq!(errors, "");
}
