//! Widgets of the panels. They know nothing of machines; they draw their arguments and report what was asked
//! for.

pub mod button;
pub mod canvas;
pub mod dialog;
pub mod icon;
pub mod line;
pub mod named_rects;
pub mod property;
pub mod readout;
pub mod toast;
pub mod track;
