//! Words and sizes of the format, and the form of a file.

use std::path::Path;

use crate::io::{Error, file};

pub(super) const FORMAT: &str = "ntm-trace";
pub(super) const VERSION: &str = "2.0";
/// Number of steps between two copies of the memory, where it is not written in full.
pub(super) const KEYFRAME: usize = 64;
/// The most values of `memory` that are written without being asked for.
pub(super) const SMALL_MEMORY: usize = 1_000_000;
/// The metadata of a file that its arrays need not show, by key.
pub(super) const OF_FILES: [&str; 3] = ["generator", "sample", "weights"];
/// Metadata of the machine.
pub(super) const OF_MACHINES: [&str; 7] = [
    "model.file",
    "model.heads.shift.form",
    "model.heads.key_activation",
    "model.heads.add_activation",
    "model.heads.initial_weighting",
    "model.memory.initial",
    "model.memory.index",
];
/// The metadata of an episode that its seed also determines.
pub(super) const OF_EPISODES: [&str; 5] = ["phases", "answer", "length", "items", "repeats"];

/// The program that wrote a file.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Generator {
    name: &'static str,
    version: &'static str,
}

impl Default for Generator {
    fn default() -> Self {
        Self {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// File form of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Readable.
    Json,
    /// JSON, gzipped.
    Gzip,
    /// Arrays as NumPy has them, and the rest as JSON.
    Npz,
}

impl Encoding {
    /// Returns the encoding for a file's extension; JSON without one.
    ///
    /// # Errors
    /// The end is that of another format.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let end = |path: &Path| {
            let end = path.extension().unwrap_or_default();
            end.to_string_lossy().to_lowercase()
        };
        let end = match end(path).as_str() {
            "gz" => format!(".{}.gz", end(&path.with_extension(""))),
            end => format!(".{end}"),
        };
        match end.as_str() {
            "." | ".json" => Ok(Self::Json),
            "..gz" | ".json.gz" => Ok(Self::Gzip),
            ".npz" => Ok(Self::Npz),
            _ => {
                let allowed = ".json, .json.gz and .npz";
                let problem = format!("a trace is not written as `{end}`; allowed: {allowed}");
                Err(Error::content(&file::label(path), "", problem))
            }
        }
    }

    /// Bytes per value, as measured on an episode of a trained machine. Gzipped, 1 to 5, the more the memory
    /// changes; npz before it is compressed.
    pub(super) fn bytes_per_value(self) -> u64 {
        match self {
            Self::Json => 12,
            Self::Gzip => 2,
            Self::Npz => 4,
        }
    }
}
