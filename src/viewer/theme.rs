//! Every colour, font and distance on screen. No other file of the viewer names a colour;
//! those of the data and of figures come from [`crate::figure`].

use std::sync::OnceLock;

use crate::figure::scene::fonts::{DROP, FONTS, is_invisible, is_whole, width_of};
use crate::figure::{self, Colours, HeadName};
pub use crate::figure::{Map, Scale};
use egui::epaint::text::FontPriority;
use egui::{
    Color32, ColorImage, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId,
    GlyphBitmap, GlyphRasterizer, GlyphRasterizerRequest, Id, Margin, RasterizedGlyph, Shadow,
    Stroke, Style, TextStyle, Theme, Vec2, Visuals, vec2,
};

/// Inside of a panel.
pub const PADDING: f32 = 12.0;
/// Between two sections of a panel.
pub const SECTION: f32 = 16.0;
/// Height of a row of text, a button, a field.
pub const ROW: f32 = 24.0;
/// Duration of an animation into place, in seconds.
const MOTION: f32 = 0.12;
/// Width of a scroll bar next to its contents.
pub const SCROLL_BAR: f32 = 10.0;
/// Corners of buttons and fields.
pub const RADIUS: u8 = 4;
/// Corners of cards.
pub const CARD_RADIUS: u8 = 6;

/// The colours of one theme.
#[derive(Debug)]
pub struct Palette {
    /// Behind the pictures.
    pub background: Color32,
    /// Panels.
    pub panel: Color32,
    /// Buttons, fields, cards above the panel.
    pub raised: Color32,
    /// Buttons, fields and cards under the pointer.
    pub hovered: Color32,
    /// Zero in every picture.
    pub well: Color32,
    /// Separators and axes.
    pub line: Color32,
    /// Text.
    pub text: Color32,
    /// Labels and units.
    pub subdued: Color32,
    /// Headings and the numbers of the moment.
    pub strong: Color32,
    /// The play-head, the primary action, the focus ring.
    pub accent: Color32,
    /// Text on the accent colour.
    pub on_accent: Color32,
    /// Colour of errors: a mark next to text, never alone.
    pub warning: Color32,
    /// Behind a dialog.
    pub veil: Color32,
    /// The colours of values and of figures.
    pub data: &'static Colours,
}

impl Palette {
    /// The colours of the theme that is on.
    pub fn of(ui: &egui::Ui) -> &'static Self {
        Self::for_theme(ui.visuals().dark_mode)
    }

    /// The colours of the dark or the light theme.
    pub fn for_theme(dark: bool) -> &'static Self {
        Self::with_map(dark, Map::default())
    }

    /// The colours of a theme with another colour map for weightings.
    pub fn with_map(dark: bool, map: Map) -> &'static Self {
        static ALL: [[OnceLock<Palette>; Map::ALL.len()]; 2] =
            [const { [const { OnceLock::new() }; Map::ALL.len()] }; 2];
        ALL[usize::from(dark)][map as usize].get_or_init(|| palette(dark, map))
    }

    /// The colours of the theme that is on.
    pub fn on(ctx: &Context) -> &'static Self {
        Self::for_theme(ctx.theme() == Theme::Dark)
    }

    /// The hue of a head: the third cue, after its sign and its label.
    pub fn head(&self, name: HeadName) -> Color32 {
        color(self.data.head(name))
    }

    /// The colour of a value.
    pub fn color(&self, scale: Scale, value: f32) -> Color32 {
        color(self.data.of(scale, value))
    }

    /// A hairline in the colour of separators.
    pub fn hairline(&self) -> Stroke {
        Stroke::new(1.0, self.line)
    }
}

/// Colours shared with the figures, and those of the window.
fn palette(dark: bool, map: Map) -> Palette {
    let data = Colours::with_map(dark, map);
    Palette {
        background: color(data.background),
        panel: color(data.panel),
        raised: color(data.raised),
        hovered: color(data.chosen),
        well: color(data.well),
        line: color(data.line),
        text: color(data.text),
        subdued: color(data.subdued),
        strong: color(data.strong),
        accent: color(data.accent),
        on_accent: color(data.on_accent),
        warning: color(data.warning),
        veil: Color32::from_black_alpha(if dark { 150 } else { 70 }),
        data,
    }
}

/// A colour of a figure.
pub fn color([r, g, b]: [u8; 3]) -> Color32 {
    Color32::from_rgb(r, g, b)
}

/// The family of headings.
pub fn semibold() -> FontFamily {
    FontFamily::Name("semibold".into())
}

/// A font for the symbols and numbers of a picture.
pub fn mono(size: f32) -> FontId {
    FontId::monospace(size)
}

/// A font for text.
pub fn text(size: f32) -> FontId {
    FontId::proportional(size)
}

/// A font for headings.
pub fn heading(size: f32) -> FontId {
    FontId::new(size, semibold())
}

/// The font of icons, a part of Lucide (assets/README.md).
const ICONS: &str = "Lucide";

/// A font for icons.
pub fn icons(size: f32) -> FontId {
    FontId::new(size, FontFamily::Name(ICONS.into()))
}

/// Installs fonts, spacing and both themes.
pub fn apply(ctx: &Context) {
    ctx.set_fonts(fonts());
    // egui leaves out invisible letters, and a mark that the font of its letter lacks; other letters it asks for when its
    // own fonts lack them.
    let marks = |request: &GlyphRasterizerRequest<'_>| {
        let first = request.cluster.chars().next()?;
        let is_ours =
            request.cluster.contains(is_invisible) || is_whole(first.encode_utf8(&mut [0; 4]));
        is_ours.then(|| drawn(request))?
    };
    let marks = GlyphRasterizer::new("marks", marks).with_priority(FontPriority::Highest);
    ctx.add_glyph_rasterizer(marks);
    ctx.add_glyph_rasterizer(GlyphRasterizer::new("letters", drawn));
    // There are commands for that.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
    for theme in [Theme::Dark, Theme::Light] {
        ctx.style_mut_of(theme, |style| {
            style.visuals = visuals(theme == Theme::Dark);
            space_out(style);
        });
    }
}

/// Makes everything that can be hit as large as a finger takes, or as a pointer does.
pub fn set_reach(ctx: &Context, by_finger: bool) {
    if by_finger != is_by_finger(ctx) {
        ctx.data_mut(|data| data.insert_temp(Id::unique("by finger"), by_finger));
        ctx.all_styles_mut(|style| reach_out(style, by_finger));
    }
}

/// True where the screen is operated by a finger.
pub fn is_by_finger(ctx: &Context) -> bool {
    ctx.data(|data| data.get_temp(Id::unique("by finger")))
        .unwrap_or(false)
}

/// Lets things glide into place, or not.
pub fn set_motion(ctx: &Context, on: bool) {
    ctx.all_styles_mut(|style| style.animation_time = if on { MOTION } else { 0.0 });
}

fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let data = FONTS.map(|(name, file)| (name.to_owned(), FontData::from_static(file).into()));
    fonts.font_data.extend(data);
    let icons = include_bytes!("../../assets/fonts/Lucide-subset.ttf");
    let icons = FontData::from_static(icons).into();
    fonts.font_data.insert(ICONS.to_owned(), icons);
    let fallback = fonts.families[&FontFamily::Proportional].clone();
    let family = |first: &[&str]| {
        let first = first.iter().map(|&name| name.to_owned());
        first.chain(fallback.iter().cloned()).collect()
    };
    fonts.families.extend([
        (FontFamily::Proportional, family(&["Inter"])),
        (FontFamily::Monospace, family(&["JetBrains Mono", "Inter"])),
        (semibold(), family(&["Inter SemiBold", "Inter"])),
        (FontFamily::Name(ICONS.into()), vec![ICONS.to_owned()]),
    ]);
    fonts
}

/// Draws letters that the fonts of the figures lack, as figures do.
fn drawn(request: &GlyphRasterizerRequest<'_>) -> Option<RasterizedGlyph> {
    let (text, size) = (request.cluster, request.font_size_px);
    if is_whole(text) || !(1.0..=200.0).contains(&size) {
        return None;
    }
    let style = figure::Style::new(size, [u8::MAX; 3]);
    let style = match request.family {
        FontFamily::Proportional => style,
        FontFamily::Monospace => style.mono(),
        FontFamily::Name(_) => style.bold(),
    };
    let (margin, middle) = ((0.5 * size).ceil(), size.ceil());
    let advance_px = width_of(text, &style);
    let (width, ground) = ((advance_px + 2.0 * margin).ceil(), [0; 3]);
    let mut page = figure::Drawing::new(width, 2.0 * middle, ground, String::new());
    page.marks.push(figure::Mark::Text(figure::Text {
        text: text.to_owned(),
        at: [margin + request.subpixel_offset_px, middle],
        style,
    }));
    let image = page.to_image(1.0);
    let pixels = image.pixels.iter();
    let pixels = pixels.map(|[r, g, b]| Color32::from_white_alpha(*r.max(g).max(b)));
    let bitmap = GlyphBitmap {
        image: ColorImage::new([image.columns, image.rows], pixels.collect()),
        offset_px: vec2(-margin, -middle - DROP * size),
        is_color: false,
    };
    Some(RasterizedGlyph { bitmap, advance_px })
}

fn reach_out(style: &mut Style, by_finger: bool) {
    let (least, padding, size) = if by_finger {
        (FINGER, vec2(12.0, 6.0), 15.0)
    } else {
        (ROW, vec2(8.0, 4.0), 13.0)
    };
    style.text_styles = [
        (TextStyle::Small, text(11.0)),
        (TextStyle::Body, text(size)),
        (TextStyle::Button, text(size)),
        (TextStyle::Heading, heading(16.0)),
        (TextStyle::Monospace, mono(12.0)),
    ]
    .into();
    style.spacing.button_padding = padding;
    style.spacing.interact_size = Vec2::splat(least);
}

fn space_out(style: &mut Style) {
    reach_out(style, false);
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(8.0, 6.0);
    spacing.window_margin = Margin::same(16);
    spacing.menu_margin = Margin::same(6);
    spacing.combo_width = 80.0;
    spacing.icon_spacing = 6.0;
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.35;
    style.animation_time = MOTION;
}

fn visuals(dark: bool) -> Visuals {
    let palette = Palette::for_theme(dark);
    let mut visuals = Theme::from_dark_mode(dark).default_visuals();
    visuals.panel_fill = palette.panel;
    visuals.window_fill = palette.panel;
    visuals.window_stroke = palette.hairline();
    visuals.extreme_bg_color = palette.well;
    visuals.text_edit_bg_color = Some(palette.well);
    visuals.faint_bg_color = palette.raised;
    visuals.hyperlink_color = palette.accent;
    visuals.warn_fg_color = palette.warning;
    visuals.error_fg_color = palette.warning;
    visuals.weak_text_color = Some(palette.subdued);
    visuals.selection.bg_fill = palette.accent.gamma_multiply(0.35);
    visuals.selection.stroke = Stroke::new(1.0, palette.strong);
    visuals.window_corner_radius = CornerRadius::same(CARD_RADIUS + 2);
    visuals.menu_corner_radius = CornerRadius::same(CARD_RADIUS);
    visuals.window_shadow = Shadow {
        offset: [0, 8],
        blur: 28,
        spread: 0,
        color: Color32::from_black_alpha(if dark { 120 } else { 40 }),
    };
    visuals.popup_shadow = Shadow {
        offset: [0, 4],
        blur: 12,
        ..visuals.window_shadow
    };
    let widgets = &mut visuals.widgets;
    widgets.noninteractive.bg_stroke = palette.hairline();
    widgets.noninteractive.fg_stroke = Stroke::new(1.0, palette.text);
    for (state, fill, ink) in [
        (&mut widgets.inactive, palette.raised, palette.text),
        (&mut widgets.hovered, palette.hovered, palette.strong),
        (&mut widgets.active, palette.hovered, palette.strong),
        (&mut widgets.open, palette.hovered, palette.strong),
    ] {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.bg_stroke = Stroke::NONE;
        state.fg_stroke = Stroke::new(1.0, ink);
        state.corner_radius = CornerRadius::same(RADIUS);
        state.expansion = 0.0;
    }
    widgets.active.bg_stroke = Stroke::new(1.0, palette.accent);
    visuals
}

/// A picture in its own colours.
pub const UNTINTED: Color32 = Color32::WHITE;
/// A text without a colour of its own yet.
pub const UNCOLOURED: Color32 = Color32::PLACEHOLDER;
/// The size of an icon button.
pub const ICON: Vec2 = vec2(ROW + 4.0, ROW + 4.0);
/// Smallest size of a touch target.
pub const FINGER: f32 = 44.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_the_fonts_lack_are_drawn() {
        let ctx = Context::default();
        apply(&ctx);
        let mut widths = Vec::new();
        for _ in 0..2 {
            let _ = ctx.run_ui(egui::RawInput::default(), |ui| {
                let texts = [
                    "a",
                    "a\u{320}",
                    "\u{10fffd}",
                    "b",
                    "\u{200b}",
                    "\u{feff}",
                    "😀\u{fe0f}",
                ];
                widths = texts
                    .iter()
                    .map(|text| {
                        let font = mono(20.0);
                        let galley =
                            ui.painter()
                                .layout_no_wrap((*text).to_owned(), font, UNCOLOURED);
                        let glyph = galley.rows[0].glyphs[0];
                        (
                            galley.size().x,
                            glyph.uv_rect.size.x,
                            galley.rows[0].glyphs.len(),
                        )
                    })
                    .collect();
            });
        }
        let [a, marked, boxed, b, ref invisible @ ..] = widths[..] else {
            panic!("{widths:?}")
        };
        assert_eq!(a.0, b.0);
        let expected = ["a\u{320}", "\u{10fffd}"]
            .map(|text| width_of(text, &figure::Style::new(20.0, [0; 3]).mono()));
        assert!(
            (marked.0 - expected[0]).abs() < 1.0 && marked.2 == 2,
            "{marked:?}"
        );
        assert!((boxed.0 - expected[1]).abs() < 1.0, "{boxed:?}");
        assert!(boxed.1 > 10.0 && marked.1 > 20.0);
        let is_box = |drawn: &(f32, f32, usize)| drawn.0 > 15.0 && drawn.1 > 10.0;
        assert!(invisible.iter().all(is_box), "{invisible:?}");
        assert!(invisible[2].0 > invisible[0].0 + 5.0, "two boxes");
    }

    fn hex(color: u32) -> Color32 {
        let [_, r, g, b] = color.to_be_bytes();
        Color32::from_rgb(r, g, b)
    }
    use crate::figure::TOLD_APART;
    use crate::figure::facts::colour::LINES;

    fn linear(channel: u8) -> f32 {
        let c = f32::from(channel) / 255.0;
        if c <= 0.040_45 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    }

    fn luminance(color: Color32) -> f32 {
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    fn contrast(a: Color32, b: Color32) -> f32 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// A head of every hue that is told apart.
    fn heads() -> impl Iterator<Item = HeadName> {
        let kinds = [false, true].into_iter();
        kinds.flat_map(|is_write| (0..TOLD_APART).map(move |place| HeadName { is_write, place }))
    }

    #[test]
    fn text_has_contrast_in_both_themes() {
        for dark in [true, false] {
            let palette = Palette::for_theme(dark);
            let grounds = [
                palette.background,
                palette.panel,
                palette.raised,
                palette.hovered,
            ];
            for ground in grounds {
                assert!(contrast(palette.text, ground) > 7.0);
                for ink in [palette.subdued, palette.warning, palette.strong] {
                    assert!(contrast(ink, ground) > 4.5, "dark {dark}");
                }
                assert!(contrast(palette.accent, ground) > 4.0, "dark {dark}");
            }
            for ground in [palette.background, palette.well, palette.panel] {
                assert!(contrast(palette.accent, ground) > 4.5, "dark {dark}");
                assert!(contrast(color(palette.data.non_finite), ground) > 3.0);
                for head in heads() {
                    let contrast = contrast(palette.head(head), ground);
                    assert!(contrast > 3.0, "{head}, dark {dark}: {contrast}");
                }
            }
            for phase in palette.data.phases.map(color) {
                assert!(contrast(palette.text, phase) > 7.0);
            }
            assert!(contrast(palette.on_accent, palette.accent) > 4.5);
        }
    }

    /// Normal vision, and vision without the cones for red, green or blue (Machado, Oliveira and
    /// Fernandes 2009, complete loss; on linear light).
    const EYES: [[[f32; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    fn times(matrix: [[f32; 3]; 3], vector: [f32; 3]) -> [f32; 3] {
        matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
    }

    /// A colour as it looks to these eyes, in L*a*b*.
    fn seen(eyes: [[f32; 3]; 3], color: Color32) -> [f32; 3] {
        const XYZ: [[f32; 3]; 3] = [
            [0.412_456, 0.357_576, 0.180_437],
            [0.212_673, 0.715_152, 0.072_175],
            [0.019_334, 0.119_192, 0.950_304],
        ];
        let light = [color.r(), color.g(), color.b()].map(linear);
        let light = times(eyes, light).map(|share| share.clamp(0.0, 1.0));
        let [x, y, z] = times(XYZ, light);
        let [x, y, z] = [x / 0.950_47, y, z / 1.088_83].map(|share: f32| {
            if share > 0.008_856 {
                share.cbrt()
            } else {
                7.787 * share + 16.0 / 116.0
            }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Returns the smallest difference of two colours over all kinds of colour vision.
    fn least_difference(a: Color32, b: Color32) -> f32 {
        let differences = EYES.map(|eyes| {
            let pairs = seen(eyes, a).into_iter().zip(seen(eyes, b));
            pairs.map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
        });
        differences.into_iter().fold(f32::INFINITY, f32::min)
    }

    #[test]
    fn everyone_can_tell_heads_and_signs_apart() {
        for dark in [true, false] {
            let palette = Palette::for_theme(dark);
            for (a, b) in heads().flat_map(|a| heads().map(move |b| (a, b))) {
                let difference = least_difference(palette.head(a), palette.head(b));
                let far = a == b || difference > 25.0;
                assert!(far, "{a}, {b}, dark {dark}: {difference}");
            }
            // Those of a half have the same dashes; of all, normal vision tells them apart.
            let lines: Vec<_> = (0..LINES)
                .map(|index| color(palette.data.line(index)))
                .collect();
            for half in lines.chunks(LINES / 2) {
                for (index, a) in half.iter().enumerate() {
                    assert!(
                        contrast(*a, palette.panel) > 3.0,
                        "line {index}, dark {dark}"
                    );
                    let mut others = half[..index].iter();
                    assert!(others.all(|b| least_difference(*a, *b) > 35.0));
                }
            }
            let end = |value: f32| palette.color(Scale::Signed(1.0), value);
            assert!(least_difference(end(-0.5), end(0.5)) > 60.0);
        }
        // Red and green of the same kind do not pass.
        assert!(least_difference(hex(0xe8_453a), hex(0x6a_a03a)) < 40.0);
    }

    #[test]
    fn every_colour_map_grows_from_the_ground() {
        for dark in [true, false] {
            for map in Map::ALL {
                let palette = Palette::with_map(dark, map);
                assert_eq!(palette.color(Scale::weighting(false), 0.0), palette.well);
                let far = |value: f32| {
                    let color = palette.color(Scale::weighting(false), value);
                    (luminance(color) - luminance(palette.well)).abs()
                };
                for step in 0..20 {
                    let (before, after) = (step as f32 / 20.0, (step + 1) as f32 / 20.0);
                    assert!(far(after) >= far(before), "{map:?}, dark {dark}, {after}");
                }
                assert!(contrast(palette.color(Scale::weighting(false), 1.0), palette.well) > 9.0);
            }
        }
    }
}
