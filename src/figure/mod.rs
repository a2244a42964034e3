//! Pictures of an episode and learning curves: in the window, and with axes and legends for papers and slides.
//!
//! - [`facts`]: values of an episode in numbers and words. Nothing in it paints.
//! - [`narrate`]: sentences about a moment of an episode. Every text about it is from here.
//! - [`scene`]: pictures as marks (rectangles, lines, text, images) on whatever is [`Paint`]: the window, or a
//!   [`Drawing`]. The [`catalogue`](scene::catalogue) makes each picture of an episode.
//! - [`chart`]: learning curves and other charts of a training run.
//! - [`page`]: the layouts. Each places pictures on a page, the same in the window and in files.
//! - [`out`]: drawings as SVG ([`Drawing::to_svg`]), PNG ([`Drawing::to_png`]) and animations.
//!
//! Each level imports only those above it in this list. Nothing here knows files, nor the window; the same recording
//! gives the same bytes.

pub mod chart;
pub mod facts;
mod fixture;
pub mod narrate;
pub mod out;
pub mod page;
pub mod scene;

pub use crate::model::peak;
pub use facts::colour::{Colours, HUES, Map, Rgb, Scale, TOLD_APART, mix};
pub use facts::family::addressing::ADDRESSING_MEASURES;
pub use facts::family::scalars;
pub use facts::gradients::{Gradients, Layer, Write};
pub use facts::heads::{
    HeadName, entropy, expected_shift, find_head, head_label, head_named, offset, signed,
};
pub use facts::id::{PanelId, Picture, Slot};
pub use facts::measure::Scalar;
pub use facts::rows::{TOUCHED, touched};
pub use facts::stage::Stage;
pub use facts::stages::Stages;
pub use out::animation::{Motion, Progress, duration};
pub use out::file::{estimated_bytes, to_bytes};
pub use out::html::NoFile;
pub use page::figure::{Figure, Layout, Options};
pub use scene::drawing::{Anchor, Area, Drawing, Image, Ink, Mark, Style, Text, Weight};
pub use scene::pages::{Format, FrameTime, Pages, Walk};
pub use scene::paint::{At, Paint, Surface};
pub use scene::panel::PlacedPanel;
pub use scene::pool::pooled;
