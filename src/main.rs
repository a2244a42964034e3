//! Parse, run, exit code.

fn main() -> std::process::ExitCode {
    tapescope::cli::run()
}
