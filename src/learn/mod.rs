//! Live training: the run with its diagnostics, the threads that drive it, training snapshots, and findings as text.
//!
//! Nothing here changes what is learned: a run that is watched, paused, or looked back at comes to the same bits as one
//! that runs without a viewer.

pub mod curve;
mod driver;
mod finding;
pub mod findings;
pub mod learner;
mod progress;
pub mod run;
pub mod snapshots;
pub mod status;

pub use curve::{Curve, Point};
pub use driver::advance;
pub use finding::{Finding, Kind};
pub use learner::{BuildRun, Learner, Pace, RunCommand, RunState, RunUpdate};
pub use progress::{DiagnosticsHistory, End, ErrorsBySize, RunProgress};
pub use run::{Keeper, Run, change};
pub use snapshots::{Snapshot, Snapshots, slot};
pub use status::{TrainingStatus, is_lost};
