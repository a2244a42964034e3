//! Values of an episode: their names, scales, stages and equations. Nothing here paints.

pub mod colour;
pub mod datum;
pub mod episode;
pub mod equations;
pub mod events;
pub mod focus;
pub mod gradients;
pub mod heads;
pub mod id;
pub mod links;
pub mod memo;
pub mod moment;
pub mod numbers;
pub mod over_time;
pub mod quantities;
pub mod rows;
pub mod scores;
pub mod signal_path;
pub mod source;
pub mod spread;
pub mod stages;
pub mod statements;
pub mod thresholds;
pub mod ticks;
