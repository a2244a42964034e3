//! One episode as JSON (also gzipped) or npz, complete enough to redraw every frame and recompute every stage.
//!
//! The format is described in `docs/formats/traces.md`.
//!
//! # Writing
//!
//! [`write()`] chooses the form by the end of the file's name; [`write_to`] and [`write_npz`] write to anything.
//! They stream, and the same recording gives the same bytes. [`estimated_bytes`] says before how large a file
//! will be. Numbers are the shortest decimals that read back as the same f32. A memory of more than a million
//! values is left out but for the first, the last and every 64th; what the write heads did rebuilds the others
//! to the bit.
//!
//! # Reading
//!
//! [`read`] takes a trace of any program and shows it as it was recorded. What the file leaves out and what follows
//! from the rest is computed, memories and stages alike, and named in `recording.computed`; the values of other
//! arrays that are absent are [`crate::train::ABSENT`], a NaN. Both are named in `recording.absent`. A file cannot
//! make the program take memory that it has no values for, beyond what a recording may take at all.
//! Weights of attention alone, a `.npy` or text, become a trace: [`AttentionOptions`] has their tokens.
//!
//! # Comparing
//!
//! [`verify`] recomputes what follows from the recorded numbers, as the file says that its machine works, and
//! names what it cannot; [`diff`] compares two traces of one shape, and [`compare()`] what two episodes have in
//! common. All walk in the order of the computation, so that the first difference is the cause.
//!
//! ```
//! use tapescope::{io::{trace, weights}, train::Recording};
//!
//! let copy = &weights::all_included().unwrap()[0];
//! let recording = Recording::new(&copy.machine, &copy.experiment.task, 7, 0);
//! let source = trace::Source { config: &copy.machine.config, sha256: None, full_memory: false, gradient: None };
//! let mut file = Vec::new();
//! trace::write_to(&mut file, &recording, &source)?;
//! let read = trace::from_bytes(file, "copy.ntmtrace.json")?;
//! assert_eq!(trace::verify(&read, 0.0).outcome(), trace::Outcome::Holds); // to the bit
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(in crate::io) mod attention;
mod compare;
mod follows;
mod form;
mod format;
mod imported;
mod intervention;
mod machine;
mod npz;
mod open;
mod read;
mod source;
mod table;
mod unpack;
mod verify;
mod write;

pub use attention::{Attention, AttentionOptions, Words};
pub use compare::{Comparison, Difference, Side, compare, diff, obstacles};
pub use format::{Encoding, Generator};
pub use imported::{Imported, Source};
pub(super) use intervention::parse;
pub use intervention::{FORM, text};
pub use open::{from_bytes, read, read_watched, read_with};
pub use read::from_json;
pub use source::ReadProgress;
pub use table::{Listed, arrays, is_needed, recomputed};
pub use verify::{Outcome, Verified, replay, verify};
pub use write::{estimated_bytes, meta, views, write, write_npz, write_to};
