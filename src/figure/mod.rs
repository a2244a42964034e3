//! Pictures of an episode and learning curves: in the window, and with axes and legends for papers and slides.
//!
//! A [`catalogue`] makes each picture of an episode: a [`panel`] with what it shows, what it is called and what runs
//! along its edges. At its [`PlacedPanel`] it is painted in one way on whatever is [`Paint`]: the window, or a [`Drawing`]:
//! rectangles, lines, text and images on a page, nothing else, which is written as SVG ([`Drawing::to_svg`]), as PNG
//! ([`Drawing::to_png`]) or is one frame of an animation. Nothing here knows files, nor the window; the same recording
//! gives the same bytes.

pub mod addressing;
mod animation;
pub mod annotations;
pub mod catalogue;
pub mod cells;
pub mod chart;
pub mod charts;
pub mod closeup;
mod colour;
pub mod compare;
pub mod curves;
mod drawing;
mod episode;
pub mod equations;
pub mod facts;
mod file;
mod fixture;
pub mod fonts;
mod gradients;
pub mod heads;
mod id;
pub mod lanes;
pub mod layout;
pub mod learning;
pub mod links;
pub mod motion;
pub mod numbers;
pub mod overlap;
mod pace;
pub mod pages;
pub mod paint;
pub mod panel;
mod plot;
mod pool;
mod raster;
pub mod rows;
pub mod scores;
pub mod signal_path;
pub mod spread;
pub mod stages;
mod svg;
pub mod units;

pub use crate::model::peak;
pub use animation::{Motion, Progress, duration};
pub use colour::{Colours, HUES, Map, Rgb, Scale, mix};
pub use drawing::{Anchor, Area, Drawing, Image, Ink, Mark, Style, Text, Weight};
pub use episode::{Figure, Layout, Options, Orientation, RowsShown};
pub use file::{estimated_bytes, to_bytes};
pub use gradients::{Gradients, Layer, Write};
pub use heads::{
    EMITTED, HeadName, Scalar, entropy, expected_shift, find_head, head_label, head_named, offset,
    scalars, signed,
};
pub use id::{PanelId, Picture};
pub use pages::{Format, FrameTime, Pages, Walk};
pub use paint::{At, Paint};
pub use panel::PlacedPanel;
pub use pool::pooled;
pub use rows::{TOUCHED, touched};
pub use stages::{Stage, Stages};
