//! The state of the window as data: no picture, no file, no key.

pub mod arrangement;
pub mod compare;
pub mod episode;
pub mod events;
pub mod history;
pub mod messages;
pub mod session;
pub mod settings;
pub mod target;
pub mod tour;
pub mod welcome;
