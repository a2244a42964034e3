//! Pictures as a file: a page, or an animation.

use crate::figure::out::animation::{Frames, Motion, Progress};
use crate::figure::scene::pages::{Format, Pages, Walk};

/// Encodes pictures as a file, at `scale` pixels per unit of the page. An animation reports its progress; `None` if
/// cancelled.
pub async fn to_bytes(
    pages: &dyn Pages,
    format: Format,
    scale: f32,
    motion: Motion,
    progress: impl Progress,
) -> Option<Vec<u8>> {
    let Motion { delay, walk } = motion;
    let frames = || Frames::new(pages, scale, walk);
    match format {
        Format::Svg => Some(pages.draw().to_svg().into_bytes()),
        Format::Png if walk == Walk::Motion => frames().apng(delay, progress).await,
        Format::Png => Some(pages.draw().to_png(scale)),
        Format::Gif => frames().gif(delay, progress).await,
    }
}

/// About how many bytes an animation has.
pub fn estimated_bytes(pages: &dyn Pages, scale: f32, walk: Walk) -> usize {
    Frames::new(pages, scale, walk).estimated_bytes()
}
