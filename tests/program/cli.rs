//! The command line as transcripts: what is typed, what comes out, and the exit code.
//!
//! `TRYCMD=overwrite cargo test --test program transcripts` writes what comes out now into `tests/cli/*.trycmd`,
//! docs/uncertainty.md, docs/expressions.md and docs/why.md.

#[test]
fn transcripts() {
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .case("tests/cli/*.trycmd")
        .case("docs/uncertainty.md")
        .case("docs/expressions.md")
        .case("docs/why.md")
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

/// Runs a command to its end.
#[cfg(unix)]
fn tapescope(folder: &std::path::Path, arguments: &[&str]) -> std::process::Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_tapescope"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
#[cfg(unix)]
fn a_large_trace_is_announced_and_a_small_one_is_not() {
    let said = |more: &[&str]| {
        let arguments = [&["trace", "copy", "--out", "/dev/null"], more].concat();
        let done = tapescope(std::path::Path::new("/"), &arguments);
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stderr).unwrap()
    };
    assert_eq!(
        said(&["--length", "300", "--rows", "620", "--full-memory"]),
        "warning: the file takes about 136 MB; omit --full-memory to make it smaller; .npz is smaller and faster to read\n"
    );
    assert_eq!(said(&["--length", "300", "--rows", "620"]), "");
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link_and_its_file_is_replaced() {
    use std::fs;
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("far")).unwrap();
    fs::write(place("far/old.json"), "old").unwrap();
    symlink("far/old.json", place("there.json")).unwrap();
    symlink("far/new.json", place("dangling.json")).unwrap();
    symlink("circle.json", place("circle.json")).unwrap();
    for (link, file) in [
        ("there.json", "far/old.json"),
        ("dangling.json", "far/new.json"),
    ] {
        let done = tapescope(
            folder.path(),
            &["trace", "copy", "--length", "1", "--out", link],
        );
        assert!(done.status.success(), "{done:?}");
        assert!(place(link).is_symlink());
        let text = fs::read_to_string(place(file)).unwrap();
        assert!(text.ends_with("}\n}\n"), "{file} is whole");
    }
    let circle = tapescope(folder.path(), &["trace", "copy", "--out", "circle.json"]);
    assert_eq!(circle.status.code(), Some(1));
    let folder_named = tapescope(folder.path(), &["trace", "copy", "--out", "far"]);
    assert_eq!(folder_named.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(folder_named.stderr).unwrap(),
        "error: far: is a folder; expected the name of a file to write\n"
    );
}

#[test]
#[cfg(unix)]
fn a_pipe_is_written_to_and_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt;

    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap())
    };
    let arguments = ["trace", "copy", "--length", "1", "--out"];
    let done = tapescope(folder.path(), &[&arguments[..], &["pipe"]].concat());
    assert!(done.status.success(), "{done:?}");
    assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo());
    let piped = reader.join().unwrap();

    let done = tapescope(folder.path(), &[&arguments[..], &["-"]].concat());
    assert!(done.status.success(), "{done:?}");
    assert_eq!(String::from_utf8(done.stdout).unwrap(), piped);
    let status = String::from_utf8(done.stderr).unwrap();
    assert!(status.starts_with("copy, 3 steps, "), "{status}");
    assert!(!folder.path().join("-").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_named_pipe_is_refused_and_a_pipe_of_the_shell_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let made = tapescope(
        folder.path(),
        &["trace", "copy", "--length", "1", "--out", "t.json"],
    );
    assert!(made.status.success(), "{made:?}");
    // A shell makes the pipe, and ends a command that waits for it.
    let script = |script: &str| {
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", script, env!("CARGO_BIN_EXE_tapescope")]);
        shell.current_dir(folder.path()).output().unwrap()
    };
    assert!(script("mkfifo pipe").status.success());
    for command in [
        "verify pipe",
        "render pipe --out a.svg",
        "trace copy --input pipe --out b.json",
        "train pipe",
        "eval ./pipe",
    ] {
        let done = script(&format!("timeout -s KILL 10 \"$0\" {command}"));
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{command}: {said}");
        let expected = "pipe: is a named pipe or a socket; expected a file, or a pipe of the shell, <(command)";
        assert!(said.contains(expected), "{command}: {said}");
    }
    let piped = script("cat t.json | \"$0\" verify /dev/stdin");
    assert!(piped.status.success(), "{piped:?}");
    for (file, what) in [("pipe", "is no ordinary file"), ("none", "does not exist")] {
        let preset = format!(r#"{{"task": {{"kind": "episodes", "file": "{file}"}}}}"#);
        std::fs::write(folder.path().join("mine.json"), preset).unwrap();
        let done = tapescope(folder.path(), &["train", "mine.json"]);
        assert_eq!(done.status.code(), Some(2));
        let expected = format!(
            "error: mine.json: `task.file`: {file} {what}; put the episode file there, or change this key\n"
        );
        assert_eq!(String::from_utf8(done.stderr).unwrap(), expected);
    }
}

/// Where nobody may write, root neither; and where there is no more room in the middle of it.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_cannot_be_written_is_named_as_it_was_typed() {
    let folder = tempfile::tempdir().unwrap();
    let episode = ["trace", "copy", "--length", "3", "--out"];
    let done = tapescope(folder.path(), &[&episode[..], &["/sys/t.json"]].concat());
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8(done.stderr).unwrap();
    // In a container all of /sys may be there to be read only.
    let why = [
        "Permission denied (os error 13)",
        "Read-only file system (os error 30)",
    ];
    let is_said = |why: &&str| said == format!("error: /sys/t.json: cannot be written: {why}\n");
    assert!(why.iter().any(is_said), "{said}");
    let figure = ["render", "copy", "--length", "3", "--out"];
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"";
    for (arguments, file) in [
        (episode, "t.json"),
        (episode, "t.json.gz"),
        (episode, "t.npz"),
        (figure, "f.svg"),
        (figure, "f.png"),
        (figure, "f.gif"),
    ] {
        let done = std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_tapescope")])
            .args(arguments)
            .arg(file)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(1), "{file}");
        assert_eq!(
            String::from_utf8(done.stderr).unwrap(),
            format!("error: {file}: cannot be written: File too large (os error 27)\n")
        );
    }
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "nothing is left of them");
}

#[test]
#[cfg(unix)]
fn no_name_acts_on_the_terminal_or_fills_it() {
    let folder = tempfile::tempdir().unwrap();
    let evil = "evil\u{1b}[31m\u{202e}gnp\u{9b}.json";
    let long = "x".repeat(30_000);
    let titled = format!(
        r#"{{"title": "a\u001b]0;b\u202e", "name": "{long}", "task": {{"kind": "copy"}}}}"#
    );
    std::fs::write(folder.path().join("titled.json"), titled).unwrap();
    std::fs::write(folder.path().join("bare.json"), r#"{"": 1}"#).unwrap();
    for arguments in [
        &["trace", "copy", "--length", "1", "--out", evil][..],
        &["trace", evil, "--out", "t.json"],
        &["trace", "copy", "--weights", evil, "--out", "t.json"],
        &["verify", evil],
        &["diff", evil, evil],
        &["eval", evil],
        &["eval", "copy", "--rows", evil],
        &["eval", "copy", evil],
        &["eval", "--suite", evil],
        &["render", evil, "--out", "f.svg"],
        &["render", "copy", "--head", evil, "--out", "f.svg"],
        &["render", "copy", "--out", evil],
        &["sweep", "--collect", evil],
        &["sweep", "copy", "--grid", evil],
        &["train", evil],
        &["train", "copy", "--set", evil],
        &["train", "titled.json"],
        &["train", "bare.json"],
        &["tasks", evil],
        &["view", evil],
        &["view", "copy", "--compare", evil],
        &[evil],
        &["trace", "copy", "--out", &long],
        &["trace", &long, "--out", "t.json"],
        &["eval", &long],
        &["eval", "copy", "--lengths", &long],
        &["render", "copy", "--layout", &long, "--out", "f.svg"],
        &["render", "copy", "--out", &long],
        &["sweep", "copy", "--seeds", &long],
        &["sweep", "--collect", &long],
        &["train", "copy", "--set", &long],
        &["train", "copy", "--out", &long],
        &["tasks", &long],
        &["view", &long],
        &[&long],
    ] {
        let done = tapescope(folder.path(), arguments);
        let said = [done.stdout, done.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        let acts = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(
            !said.is_empty() && !said.contains(acts),
            "{arguments:?}: {said:?}"
        );
        assert!(said.chars().count() < 4200, "{arguments:?}: {}", said.len());
    }
    let done = tapescope(folder.path(), &["train", "bare.json"]);
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        said.starts_with("error: bare.json: `\"\"`: unknown key; "),
        "{said}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn help_that_cannot_be_printed_is_an_error() {
    let script = "exec \"$0\" \"$@\" > /dev/full";
    let commands = "view tasks train eval trace render sweep verify diff";
    let helps = commands.split(' ').map(|command| vec![command, "--help"]);
    for arguments in helps.chain([
        vec!["--help"],
        vec!["-h"],
        vec!["--version"],
        vec!["help", "train"],
    ]) {
        let done = std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_tapescope")])
            .args(&arguments)
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(1), "{arguments:?}");
        assert_eq!(
            String::from_utf8(done.stderr).unwrap(),
            "error: standard output: cannot be written: No space left on device (os error 28)\n"
        );
    }
}

#[test]
#[cfg(unix)]
fn a_file_name_ends_no_string_of_the_module_for_pytorch() {
    let folder = tempfile::tempdir().unwrap();
    let (name, shown) = ("a\"\"\"+b\\.machine", "a'''+b'.machine");
    let machine = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/core/machines/bahdanau.machine"
    );
    std::fs::copy(machine, folder.path().join(name)).unwrap();
    let done = tapescope(folder.path(), &["pytorch", name]);
    let module = String::from_utf8(done.stdout).unwrap();
    let begins = format!("\"\"\"Translation with attention, as in {shown}.\n");
    assert!(module.starts_with(&begins), "{module}");
}

/// Progress, report and table say what the log and the weights hold.
#[test]
#[cfg(unix)]
fn the_figures_of_a_run_are_those_of_its_log_and_its_weights() {
    use tapescope::io::{log, weights};

    let folder = tempfile::tempdir().unwrap();
    let preset = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/train.in/tiny.json");
    let done = tapescope(folder.path(), &["train", preset, "--out", "run"]);
    let said = String::from_utf8(done.stderr).unwrap();
    let points = log::read(&folder.path().join("run/history.ntmlog.jsonl"))
        .unwrap()
        .points;
    assert_eq!((said.lines().count(), points.len()), (3, 3), "{said}");
    for (line, point) in said.lines().zip(&points) {
        let (bits, wrong) = (
            point.validation.bits_per_sequence,
            point.validation.wrong_bits,
        );
        let begins = format!(
            "{}/300 sequences: {bits:.3} bits, {wrong:.2} wrong per sequence; ",
            point.sequences
        );
        assert!(line.starts_with(&begins), "{line}, not {begins}");
        let rate = line[begins.len()..].split(' ').next().unwrap();
        assert!(rate.parse::<f64>().is_ok(), "{line}");
        // Between a perfect answer and guessing each of up to nine bits, or little worse.
        assert!(
            (0.0..12.0).contains(&bits) && (0.0..=9.0).contains(&wrong),
            "{line}"
        );
    }
    let best = points.iter().map(|point| point.validation);
    let best = best
        .min_by(|a, b| a.bits_per_sequence.total_cmp(&b.bits_per_sequence))
        .unwrap();
    let report = String::from_utf8(done.stdout).unwrap();
    let first = format!(
        "best validation of 3: {:.3} bits and {:.2} wrong bits per sequence, {:.1}% perfect",
        best.bits_per_sequence,
        best.wrong_bits,
        100.0 * best.perfect
    );
    assert_eq!(report.lines().next(), Some(&*first));
    let trained = weights::read(&folder.path().join("run/weights.safetensors")).unwrap();
    assert_eq!(trained.evaluation, Some(best));

    let task = trained.experiment.task.clone().with_size(2);
    let measured = trained.evaluator(&task, 5, 20).measure(1).mean;
    let arguments = [
        "eval",
        "run",
        "--lengths",
        "2",
        "--seed",
        "5",
        "--episodes",
        "20",
    ];
    let table = String::from_utf8(tapescope(folder.path(), &arguments).stdout).unwrap();
    let cells: Vec<&str> = table.lines().last().unwrap().split_whitespace().collect();
    let (bits, wrong) = (measured.bits_per_sequence, measured.wrong_bits);
    // Behind the bits stand how sure they are, and their median.
    assert_eq!(
        [cells[0], cells[1], cells[4]],
        ["2", &format!("{bits:.3}"), &format!("{wrong:.2}")]
    );
}

/// Every signal that asks a run to end: what it keeps and how it goes on is said, and it goes on.
#[test]
#[cfg(unix)]
fn a_run_that_is_stopped_says_how_it_goes_on() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("runs/tiny-1");
    let endless = [
        "train",
        "copy",
        "--out",
        "runs/tiny-1",
        "--sequences",
        "1000000000000",
        "--set",
        "task.length=[1,2]",
        "--set",
        "model.controller.size=4",
        "--set",
        "training.validation_episodes=1",
        "--set",
        "training.validation_every=1000",
    ];
    // Stops a run behind its first validation. Whoever goes on says first from where.
    let stop = |arguments: &[&str], signal: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tapescope"))
            .args(arguments)
            .args(["--threads", "1"])
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(" sequences: ") {
            line.clear();
            assert!(errors.read_line(&mut line).unwrap() > 0);
        }
        let pid = child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.unwrap().success());
        let mut said = String::new();
        errors.read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap().code();
        let last = said.lines().last().unwrap_or_default();
        let words = " sequences; the best weights so far are in runs/tiny-1/weights.safetensors; resume with: tapescope train --resume runs/tiny-1";
        let sequences = last
            .strip_prefix("stopped after ")
            .and_then(|rest| rest.strip_suffix(words));
        let sequences: u64 = sequences
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(|| panic!("{said}"));
        tapescope::io::weights::read(&run.join("weights.safetensors")).unwrap();
        (code, sequences)
    };
    let (code, mut before) = stop(&endless, "INT");
    assert_eq!(code, Some(130));
    for (signal, expected) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        // Under `nohup` these tests and what they start ignore it: see below.
        if signal == "HUP" && tapescope::io::process::ignores(1) != Some(false) {
            continue;
        }
        let (code, after) = stop(&["train", "--resume", "runs/tiny-1"], signal);
        assert_eq!(code, Some(expected));
        assert!(after > before, "{after} {before}");
        before = after;
    }
    assert!(!run.join("run.lock").exists());
}

/// `nohup tapescope train …` goes on when the terminal is closed.
#[test]
#[cfg(target_os = "linux")]
fn a_hangup_that_is_ignored_stays_so() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' HUP; exec \"$0\" train copy --out run --threads 1 \
        --set model.controller.size=4 --set task.length=[1,2] --sequences 1000000000000 \
        --set training.validation_episodes=1 --set training.validation_every=1000";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_tapescope")])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-s", "HUP", &pid])
            .status()
            .unwrap()
            .success()
    );
    // Two more validations: it was not between the signal and its end.
    for _ in 0..2 {
        line.clear();
        errors.read_line(&mut line).unwrap();
        assert!(line.contains(" sequences/s, "), "{line}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
#[cfg(unix)]
fn ctrl_c_stops_every_run_of_a_sweep_and_what_there_is_can_be_collected() {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let weights = || -> Vec<_> {
        let runs = std::fs::read_dir(folder.path().join("runs"));
        let runs = runs.into_iter().flatten();
        let files = runs.map(|run| run.unwrap().path().join("weights.safetensors"));
        files.filter(|path| path.exists()).collect()
    };
    // A group of its own, as a shell makes one: Ctrl-C reaches all of its processes.
    let child = Command::new(env!("CARGO_BIN_EXE_tapescope"))
        .args(["sweep", "copy", "--seeds", "1..3", "--jobs", "2"])
        .args(["--out", "runs", "--set", "model.controller.size=4"])
        .args(["--set", "task.length=[1,2]"])
        .args(["--set", "training.validation_episodes=1"])
        .args(["--set", "training.validation_every=100"])
        .args(["--set", "training.sequences=1000000000"])
        .current_dir(folder.path())
        .process_group(0)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while weights().len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let group = format!("-{}", child.id());
    let killed = Command::new("kill").args(["-INT", "--", &group]).status();
    assert!(killed.unwrap().success());
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(130), "{said}");
    assert_eq!(
        said.lines().last().unwrap(),
        "stopped; repeat the command to continue with the unfinished runs"
    );
    for path in weights() {
        tapescope::io::weights::read(&path).unwrap();
    }
    let arguments = ["sweep", "--collect", "runs", "--svg", "curves.svg"];
    let done = tapescope(folder.path(), &arguments);
    assert!(done.status.success(), "{done:?}");
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(said.matches("interrupted; last").count(), 2, "{said}");
    let picture = std::fs::read_to_string(folder.path().join("curves.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
}

#[test]
#[cfg(unix)]
fn a_standard_output_that_takes_nothing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    // A file may have no bytes here: the writer is told so, instead of being ended by a signal.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" tasks copy > out.json";
    let done = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_tapescope")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        said.starts_with("error: standard output: cannot be written: "),
        "{said}"
    );
}

#[test]
#[cfg(feature = "gui")]
fn what_a_window_is_to_compare_with_is_checked_before_it_opens() {
    let folder = tempfile::tempdir().unwrap();
    for (other, words) in [
        ("none.json", "error: none.json: "),
        (
            "copi",
            "error: there is no preset, weights file or trace `copi`",
        ),
    ] {
        let done = tapescope(folder.path(), &["view", "copy", "--compare", other]);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.starts_with(words), "{said}");
    }
    let done = tapescope(folder.path(), &["view", "--compare", "copy"]);
    assert_eq!(done.status.code(), Some(2));
}

#[test]
fn a_file_or_a_preset_alone_is_viewed() {
    let folder = tempfile::tempdir().unwrap();
    // What cannot be shown, so that no window opens where there is a display.
    for (word, words) in [
        (
            "none.ntmtrace.json",
            "error: none.ntmtrace.json: cannot be read",
        ),
        (
            "ngrams_paper",
            "error: no weights are included for `ngrams_paper`",
        ),
    ] {
        let done = tapescope(folder.path(), &[word]);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{said}");
        let no_window = format!("error: this build has no window for {word}");
        let words = if cfg!(feature = "gui") {
            words
        } else {
            &no_window
        };
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
#[cfg(feature = "gui")]
fn where_a_window_is_to_begin_is_checked_before_it_opens() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["trace", "copy", "--length", "2", "--out", "t.json"];
    assert!(tapescope(folder.path(), &arguments).status.success());
    for (arguments, words) in [
        (
            "copy --length 5 --step 11",
            "--step 11: the episode has steps 0 to 10",
        ),
        ("--step 4000", "--step 4000: the episode has steps 0 to "),
        (
            "copy --tokens tokens.txt",
            "copy is a machine; files of tokens and links belong to attention of another program: ",
        ),
        ("copy --head W1", "--head W1: the heads are R0, W0"),
        ("copy_lstm --head R0", "--head R0: the machine has no heads"),
        (
            "copy --repeats 3",
            "--repeats: the task `copy` has no repeats",
        ),
        ("copy --rows 2", "--rows 2: copy: allowed: 3 to "),
        (
            "copy --length 20 --rows 1048576",
            "41 steps of a memory of 1048576 rows take ",
        ),
        ("t.json --step 5", "--step 5: the episode has steps 0 to 4"),
        ("t.json --head R1", "--head R1: the heads are R0, W0"),
        (
            "t.json --length 5",
            "--length: t.json is a recorded trace and is shown unchanged; for --length, name a preset or a weights file",
        ),
    ] {
        let typed: Vec<&str> = ["view"].into_iter().chain(arguments.split(' ')).collect();
        let done = tapescope(folder.path(), &typed);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.starts_with(&format!("error: {words}")), "{said}");
    }
}

#[test]
#[cfg(all(feature = "gui", target_os = "linux"))]
fn without_a_display_that_is_said_with_what_needs_none() {
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_tapescope"))
        .args(["view", "copy", "--length", "3", "--step", "2"])
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: no window can be opened here (there is no display: "));
    assert!(said.contains("`tapescope render`"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_name_that_is_no_text_is_kept_as_it_is() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    for (command, end) in [("render", ".svg"), ("trace", ".npz")] {
        let mut name: OsString = OsStr::from_bytes(b"f\xff").to_owned();
        name.push(end);
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_tapescope"))
            .args([command, "copy", "--length", "1", "--out"])
            .arg(&name)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        assert!(folder.path().join(&name).is_file());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}
