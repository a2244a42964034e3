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

/// `tapescope trace copy --length 2 --out OUT`, in `folder`.
#[cfg(unix)]
fn export(folder: &std::path::Path, out: &str) -> std::process::ExitStatus {
    std::process::Command::new(env!("CARGO_BIN_EXE_tapescope"))
        .args(["trace", "copy", "--length", "2", "--out", out])
        .current_dir(folder)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_pipe_stays_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("target.json"), "old").unwrap();
    std::os::unix::fs::symlink("target.json", path("link.json")).unwrap();
    assert!(export(folder.path(), "link.json").success());
    assert!(path("link.json").is_symlink());
    assert!(
        std::fs::read_to_string(path("target.json"))
            .unwrap()
            .contains("ntm-trace")
    );

    let made = std::process::Command::new("mkfifo")
        .arg(path("pipe"))
        .status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no mkfifo here");
        return;
    }
    let pipe = path("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    assert!(export(folder.path(), "pipe").success());
    assert!(reader.join().unwrap().contains("ntm-trace"));
    assert!(!path("pipe").is_file());

    assert_eq!(export(folder.path(), ".").code(), Some(2));
}

#[test]
fn a_folder_never_holds_files_of_two_runs() {
    use tapescope::io::{Experiment, RunFolder};
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("weights.safetensors");
    std::fs::write(&weights, "of an earlier run").unwrap();
    let experiment = Experiment::built_in("copy", &[]).unwrap().unwrap();
    RunFolder::create(folder.path(), &experiment, "test").unwrap();
    assert!(!weights.exists() && !RunFolder::is_taken(folder.path()));
}
