//! Charts of training runs.

pub mod curves;
pub mod data;
pub mod page;
pub mod plot;
pub mod summary;
