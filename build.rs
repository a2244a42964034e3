//! Names what the program is built from, for `tapescope --version`: a commit, a published crate or other sources.

use std::env;

fn main() {
    const CRATE: &str = ".cargo_vcs_info.json";
    println!("cargo::rerun-if-env-changed=TAPESCOPE_COMMIT");
    let named = env::var("TAPESCOPE_COMMIT").unwrap_or_default();
    let origin = if !named.is_empty() {
        // The scripts of `.ci` name the commit that they build, and its date.
        named
    } else if let Ok(information) = std::fs::read_to_string(CRATE) {
        // `cargo package` writes this file.
        println!("cargo::rerun-if-changed={CRATE}");
        let commit = information.split("\"sha1\": \"").nth(1).unwrap_or_default();
        let commit: String = commit
            .chars()
            .take_while(char::is_ascii_hexdigit)
            .take(8)
            .collect();
        format!("crate {commit}").trim_end().into()
    } else {
        // The commit of a clone is not asked for: every commit would compile the program anew.
        "source".into()
    };
    let version = env!("CARGO_PKG_VERSION");
    println!("cargo::rustc-env=TAPESCOPE_VERSION={version} ({origin})");
}
