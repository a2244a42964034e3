//! Pictures as a file: a page, or an animation.

use crate::figure::out::animation::{Frames, Motion, Progress};
use crate::figure::out::html::{NoFile, html};
use crate::figure::scene::pages::{Format, Pages, Walk};

/// Encodes pictures as a file, at `scale` pixels per unit of the page. An animation reports its progress.
///
/// # Errors
/// It was cancelled, or is too large.
pub async fn to_bytes(
    pages: &dyn Pages,
    format: Format,
    scale: f32,
    motion: Motion,
    progress: impl Progress,
) -> Result<Vec<u8>, NoFile> {
    let Motion { delay, walk } = motion;
    let frames = || Frames::new(pages, scale, walk);
    match format {
        Format::Svg => Ok(pages.draw().to_svg().into_bytes()),
        Format::Png if walk == Walk::Motion => {
            let drawn = frames().apng(delay, progress).await;
            drawn.ok_or(NoFile::Cancelled)
        }
        Format::Png => Ok(pages.draw().to_png(scale)),
        Format::Gif => frames().gif(delay, progress).await.ok_or(NoFile::Cancelled),
        Format::Html => html(pages, progress).await,
    }
}

/// About how many bytes an animation has.
pub fn estimated_bytes(pages: &dyn Pages, scale: f32, walk: Walk) -> usize {
    Frames::new(pages, scale, walk).estimated_bytes()
}
