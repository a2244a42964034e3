//! The surface on which pictures are painted, and the settings of a whole page.

use crate::figure::facts::rows::Axis;
use crate::figure::scene::cells::Cells;
use crate::figure::{Area, Colours, Drawing, Ink, Mark, PanelId, Rgb, Style, Text, mix};

/// The text in place of values that were not recorded.
pub const NOT_RECORDED: &str = "not recorded";
/// The text in place of gradients that cannot be computed.
pub const NO_DERIVATIVE: &str = "no gradient";

/// Opacity of stages that have not happened yet, on a page that shows them.
pub const TO_COME: f32 = 0.25;

/// The settings of all pictures of a page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The colours of the theme.
    pub colours: &'static Colours,
    /// The first step of the time axis.
    pub first: usize,
    /// The step to be marked.
    pub step: Option<usize>,
    /// Place of the step's current stage.
    pub stage: Option<usize>,
    /// Progress of that stage, 0 to 1.
    pub through: f32,
    /// Pixels per unit that an image may use.
    pub density: f32,
    /// True where axes are named as the paper does.
    pub as_paper: bool,
    /// True during playback: nothing is shown of later steps, except what is given.
    pub hides_future: bool,
    /// Opacity of parts that are still to come.
    pub to_come: f32,
    /// The text in place of unknown values.
    pub lacking: &'static str,
}

impl Page {
    /// The window: all of time, a step and its stage are marked by itself.
    pub fn on_screen(colours: &'static Colours, density: f32) -> Self {
        Self {
            colours,
            first: 0,
            step: None,
            stage: None,
            through: 1.0,
            density,
            as_paper: false,
            hides_future: false,
            to_come: 0.0,
            lacking: NOT_RECORDED,
        }
    }
}

/// Position of the cells of a picture.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The picture.
    pub id: PanelId,
    /// Area of the cells.
    pub area: &'a Area,
    /// Position of the rows.
    pub axis: &'a Axis,
}

/// Whatever can be painted on: a page for a file, or the window.
pub trait Paint {
    /// Puts a mark above all that is there.
    fn mark(&mut self, mark: Mark);

    /// Paints the cells of a picture as colours, with this opacity.
    fn cells(&mut self, cells: &Cells<'_>, at: At<'_>, page: &Page, opacity: f32);

    /// Paints only between these two edges from here on, or everywhere. A page for a file has all of its steps.
    fn clip(&mut self, _edges: Option<(f32, f32)>) {}

    /// True where a cell of a picture is not finite, and where one was not recorded.
    fn has_unusual_values(&mut self, cells: &Cells<'_>, _picture: PanelId) -> [bool; 2] {
        cells.has_unusual_values()
    }

    /// Returns column and row of the outlined cells of a picture, for cells of this width.
    fn outlined(
        &mut self,
        cells: &Cells<'_>,
        _picture: PanelId,
        width: f32,
    ) -> Vec<(usize, usize)> {
        cells.outlined(width)
    }
}

/// A surface to paint on, with the settings of its page.
pub struct Surface<'p> {
    /// The surface.
    pub paint: &'p mut dyn Paint,
    /// The settings.
    pub page: &'p Page,
}

impl<'p> Surface<'p> {
    /// A surface with these settings.
    pub fn new(paint: &'p mut dyn Paint, page: &'p Page) -> Self {
        Self { paint, page }
    }
}

/// Drawing functions for frequent shapes, as marks.
pub trait Draw {
    /// Puts a mark above all that is there.
    fn put(&mut self, mark: Mark);

    /// A filled rectangle.
    fn rect(&mut self, area: Area, fill: impl Into<Ink>) {
        let fill = fill.into();
        self.put(Mark::Rect { area, fill });
    }

    /// A line without gaps.
    fn line(&mut self, points: &[[f32; 2]], ink: impl Into<Ink>, width: f32) {
        self.dashed(points, ink, width, &[]);
    }

    /// A line with dashes and gaps of these lengths.
    fn dashed(&mut self, points: &[[f32; 2]], ink: impl Into<Ink>, width: f32, dashes: &[f32]) {
        self.put(Mark::Line {
            points: points.to_vec(),
            ink: ink.into(),
            width,
            dashes: dashes.to_vec(),
        });
    }

    /// A filled shape.
    fn shape(&mut self, points: &[[f32; 2]], fill: impl Into<Ink>) {
        let (points, fill) = (points.to_vec(), fill.into());
        self.put(Mark::Shape { points, fill });
    }

    /// A line of text.
    fn text(&mut self, text: impl Into<String>, at: [f32; 2], style: Style) {
        let text = text.into();
        self.put(Mark::Text(Text { text, at, style }));
    }

    /// The edge of a rectangle, just outside.
    fn frame(&mut self, area: Area, ink: Rgb) {
        let (ink, inside) = (ink.into(), false);
        self.put(Mark::Edge { area, ink, inside });
    }

    /// The edge of a rectangle, just inside.
    fn outline(&mut self, area: Area, ink: Rgb) {
        let (ink, inside) = (ink.into(), true);
        self.put(Mark::Edge { area, ink, inside });
    }
}

impl<P: Paint + ?Sized> Draw for P {
    fn put(&mut self, mark: Mark) {
        self.mark(mark);
    }
}

impl Draw for Surface<'_> {
    fn put(&mut self, mark: Mark) {
        self.paint.mark(mark);
    }
}

impl Paint for Drawing {
    fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
    }

    fn cells(&mut self, cells: &Cells<'_>, at: At<'_>, page: &Page, opacity: f32) {
        let pixels = |length: f32| (length * page.density).ceil().max(1.0) as usize;
        for (run, (_, place)) in at.axis.runs.iter().enumerate() {
            let (top, bottom) = (place.min, place.max);
            let area = at.area.down(top, bottom);
            let rows: Vec<usize> = at.axis.rows(run).map(|(row, _)| row).collect();
            let most = [pixels(area.width()), pixels(area.height())];
            let mut image = cells.image(&rows, most, page.colours);
            if opacity < 1.0 {
                let seen = |pixel| mix(page.colours.well, pixel, opacity);
                image.pixels = image.pixels.into_iter().map(seen).collect();
            }
            self.mark(Mark::Image { area, image });
        }
    }
}
