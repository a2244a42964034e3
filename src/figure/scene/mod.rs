//! Pictures as marks on a page or in the window.

pub mod addressing;
pub mod annotations;
pub mod arrows;
pub mod axes;
pub mod catalogue;
pub mod cells;
pub mod drawing;
pub mod fonts;
pub mod lanes;
pub mod layout;
pub mod motion;
pub mod overlap;
pub mod pace;
pub mod pages;
pub mod paint;
pub mod panel;
pub mod patches;
pub mod pool;
pub mod provenance;
pub mod quantities;
pub mod shares;
pub mod units;
