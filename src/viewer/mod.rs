//! The window: an episode of a machine, step by step, with everything the heads do.
//!
//! Data flows one way: session and playback → panels. Panels push [`command::Command`]s; one place
//! applies them, in order. Panels and session know no file format: they ask [`Files`].

mod app;
mod apply;
mod branch;
mod choices;
pub mod command;
mod disk;
mod embed;
mod fixture;
mod glossary;
mod inspect;
mod keys;
mod link;
mod narration;
mod options;
#[cfg(target_arch = "wasm32")]
mod page;
mod panel;
mod precondition;
mod state;
mod theme;
mod widget;
#[cfg(not(target_arch = "wasm32"))]
mod window;
mod worker;

pub use crate::figure::narrate::failure::{Cause, first_wrong, shown_in};
pub use app::App;
pub use branch::ValueChoice;
pub use choices::Choice;
pub use command::Command;
pub use disk::{Disk, included_machines};
pub use inspect::{Card, Form, Line, Table};
pub use link::Link;
pub use options::{First, Options, StartError};
pub use state::{
    Answer, Appearance, EpisodeRequest, ExternalEpisode, FAILURES, Failure, FetchCallback,
    FilePurpose, Files, InvalidStart, LiveTraining, LoadedRun, Machine, NoFiles, OpenedFile,
    Outcome, Panels, ProgressCallback, RecordedEpisode, ReportRow, RunUpdates, RunView, Session,
    Settings, StartOptions, State, Target, Theme, WindowLayout, ablated,
};
pub use theme::{Map, apply as apply_theme};
#[cfg(not(target_arch = "wasm32"))]
pub use window::{Error, run};

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    /// Every colour is in `theme.rs`, under a name.
    #[test]
    fn no_colour_outside_the_theme() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/viewer");
        let mut folders = vec![PathBuf::from(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("theme.rs") {
                    let source = std::fs::read_to_string(&path).unwrap();
                    for word in [
                        "from_r\x67b",
                        "from_gr\x61y",
                        "from_bl\x61ck",
                        "Color32::\x41",
                        "hex_c\x6flor",
                    ] {
                        assert!(!source.contains(word), "{} names a colour", path.display());
                    }
                    let named = source.split("Color32::").skip(1);
                    for rest in named {
                        let constant = rest.starts_with(|c: char| c.is_ascii_uppercase());
                        assert!(!constant, "{} names a colour", path.display());
                    }
                }
            }
        }
    }
}
