//! Pages that are written as a file: one page, or one for every frame.

use std::path::Path;

use crate::figure::Drawing;
use crate::figure::scene::layout::Scene;

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
    /// A page with a player, which needs no network.
    Html,
}

impl Format {
    /// Returns the format for a file's extension.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "gif" => Some(Self::Gif),
            "html" => Some(Self::Html),
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
    /// A frame for every stage, of whatever head, and for every step.
    Player,
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

/// What a page shows: a moment, a head and a theme, where there is a choice.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The moment.
    pub at: FrameTime,
    /// The head; by default that of the page.
    pub head: Option<usize>,
    /// Light on dark; by default as the page.
    pub dark: Option<bool>,
}

/// What a page with a player shows first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening<'a> {
    /// The step; by default the first one.
    pub step: Option<usize>,
    /// The head; by default the first one.
    pub head: Option<usize>,
    /// The address of the same episode in the window in a browser.
    pub link: Option<&'a str>,
    /// True where it begins light on dark, whatever the reader's setting is.
    pub is_dark: bool,
}

/// Pictures that fill a page, at one moment unless it says that there are many.
pub trait Pages: Sync {
    /// Returns the page at the requested size, or at one that suits its contents, with the placed pictures.
    fn scene(&self) -> Scene<'_>;

    /// Calls `seen` with the page in this view.
    fn show(&self, _view: &View, seen: &mut dyn FnMut(Scene<'_>)) {
        seen(self.scene());
    }

    /// The page at another moment.
    fn draw_at(&self, at: FrameTime) -> Drawing {
        let (head, dark) = (None, None);
        let mut drawn = None;
        self.show(&View { at, head, dark }, &mut |(drawing, _)| {
            drawn = Some(drawing);
        });
        drawn.unwrap_or_else(|| self.draw())
    }

    /// What a page with a player shows first.
    fn opening(&self) -> Opening<'_> {
        Opening::default()
    }

    /// The heads that a reader can choose, each with its label.
    fn heads(&self) -> Vec<(usize, String)> {
        Vec::new()
    }

    /// The name of the stage at a moment, empty after a step; and the moment in words.
    fn words(&self, at: FrameTime, _head: Option<usize>) -> [String; 2] {
        [String::new(), format!("step {}", at.step)]
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
        let told = places.iter();
        let told = told.filter_map(|place| Some((place.area, place.panel.in_words()?)));
        drawing.parts.extend(told);
        drawing
    }
}
