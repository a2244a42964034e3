//! Drawings as files: SVG, PNG and animations.

pub mod animation;
pub mod file;
pub mod html;
pub mod raster;
pub mod svg;
