//! Pages that are written as a file: one page, or one for every frame.

use std::path::Path;

use crate::figure::Drawing;
use crate::figure::scene::layout::Scene;
use crate::figure::scene::panel::Panel;

/// Extra time of the last frame of an animation, in hundredths of a second.
pub(crate) const REST: u16 = 100;

/// The file format of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Axes and text as vectors.
    Svg,
    /// Pixels; where the stages move, an animated PNG.
    Png,
    /// Every step of the episode, one after the other.
    Gif,
}

impl Format {
    /// Returns the format for a file's extension.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "gif" => Some(Self::Gif),
            _ => None,
        }
    }
}

/// Order in which an animation goes through an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Walk {
    /// A frame for every step.
    #[default]
    Steps,
    /// A frame for every stage of every step.
    Stages,
    /// Every stage moves, eased as on screen.
    Motion,
}

/// The contents of a frame of an animation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameTime {
    /// The step of the episode.
    pub step: usize,
    /// Place of its current stage; without one the step is over.
    pub stage: Option<usize>,
    /// Progress of that stage, 0 to 1.
    pub through: f32,
    /// Duration in hundredths of a second, where it differs from the others.
    pub lasts: Option<u16>,
}

impl FrameTime {
    /// Creates the instant of a step at a stage, or at its end.
    pub fn new(step: usize, stage: Option<usize>) -> Self {
        Self {
            step,
            stage,
            through: 1.0,
            lasts: None,
        }
    }
}

/// Pictures that fill a page, at one moment unless it says that there are many.
pub trait Pages: Sync {
    /// Returns the page at the requested size, or at one that suits its contents, with the placed pictures.
    fn scene(&self) -> Scene<'_>;

    /// The page at another moment.
    fn draw_at(&self, _moment: FrameTime) -> Drawing {
        self.draw()
    }

    /// Returns the contents of the frames of an animation of this episode.
    fn frame_times(&self, _walk: Walk) -> Vec<FrameTime> {
        vec![FrameTime::new(0, None)]
    }

    /// The smallest page.
    fn least_size(&self) -> (f32, f32);

    /// The page.
    fn draw(&self) -> Drawing {
        let (mut drawing, places) = self.scene();
        let told = places.iter().filter(|place| !place.panel.alt.is_empty());
        let told = told.map(|place| {
            let Panel { name, alt, .. } = &place.panel;
            (place.area, format!("{name}: {alt}"))
        });
        drawing.parts.extend(told);
        drawing
    }
}
