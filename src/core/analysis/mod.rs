//! What a recorded episode says about its machine: causes, instructions, and what would happen otherwise.

mod lesion;

pub use lesion::{Effect, Episodes, Lesion, lesions};
