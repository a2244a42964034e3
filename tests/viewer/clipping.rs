//! What holds of every window, whatever it shows: nothing is cut off, nothing lies on something else.

use egui::accesskit::Role;
use egui::epaint::{ClippedShape, TextShape};
use egui::{Rect, Shape};

use super::*;

/// What a shape is made of.
pub fn parts(shape: &Shape) -> Vec<&Shape> {
    match shape {
        Shape::Vec(shapes) => shapes.iter().flat_map(parts).collect(),
        shape => vec![shape],
    }
}

/// Everything that was drawn, with the part of the window it may be seen in.
pub fn shapes(harness: &Screen) -> impl Iterator<Item = (&Shape, Rect)> {
    let drawn = harness.output().shapes.iter();
    drawn.flat_map(|drawn: &ClippedShape| {
        let (clip, shape) = (drawn.clip_rect, &drawn.shape);
        parts(shape).into_iter().map(move |shape| (shape, clip))
    })
}

/// Every text that was drawn, with the part of the window it may be seen in.
pub fn texts(harness: &Screen) -> impl Iterator<Item = (&TextShape, Rect)> {
    shapes(harness).filter_map(|(shape, clip)| match shape {
        Shape::Text(text) => Some((text, clip)),
        _ => None,
    })
}

/// What is wrong with a window: pictures without area, outside of it or on each other, and texts that are cut
/// off at a side.
pub fn faults(harness: &Screen) -> Vec<String> {
    let window = harness.ctx.content_rect();
    let mut faults = Vec::new();
    let pictures = harness.query_all_by(|node| node.role() == Role::Image);
    let pictures: Vec<(String, Rect)> = pictures
        .map(|node| {
            let label = node.accesskit_node().label().unwrap_or_default();
            (label, node.rect())
        })
        .collect();
    for (index, (label, rect)) in pictures.iter().enumerate() {
        if rect.width() < 1.0 || rect.height() < 1.0 {
            faults.push(format!("{label}: {rect:?} has no area"));
        }
        if !window.expand(0.5).contains_rect(*rect) {
            faults.push(format!("{label}: {rect:?} leaves the window"));
        }
        for (other, there) in &pictures[..index] {
            let both = rect.intersect(*there);
            if both.width() > 0.5 && both.height() > 0.5 {
                faults.push(format!("{label} lies on {other}: {both:?}"));
            }
        }
    }
    for (text, clip) in texts(harness) {
        let (rect, seen) = (text.visual_bounding_rect(), clip.intersect(window));
        let is_seen = rect.intersects(seen.shrink(1.0)) && text.opacity_factor > 0.0;
        let is_cut = rect.left() < seen.left() - 1.0 || rect.right() > seen.right() + 1.0;
        if is_seen && is_cut {
            faults.push(format!(
                "`{}` is cut off: {rect:?} of {seen:?}",
                text.galley.text()
            ));
        }
    }
    faults
}

/// Fails where a window has a fault.
#[track_caller]
pub fn is_whole(harness: &Screen, what: &str) {
    let faults = faults(harness);
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

/// Fails where a window has a fault; of one smaller than can be had, where something stands nowhere.
#[track_caller]
pub fn is_whole_or_finite(harness: &Screen, size: Vec2) {
    // What is not to be seen, such as a text without letters, stands nowhere by right.
    let nowhere = |(shape, _): &(&Shape, Rect)| {
        let is_empty = matches!(shape, Shape::Text(text) if text.galley.text().is_empty());
        let rect = shape.visual_bounding_rect();
        !is_empty && rect != Rect::NOTHING && !rect.is_finite()
    };
    let lost = shapes(harness).find(nowhere);
    assert!(lost.is_none(), "{size}: {lost:?}");
    if size.x >= SMALL.x && size.y >= SMALL.y {
        is_whole(harness, &size.to_string());
    }
}
