//! Every colour, font and distance on screen. No other file of the viewer names a colour.

use std::sync::OnceLock;

use egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Shadow,
    Stroke, Style, TextStyle, Theme, Vec2, Visuals, vec2,
};

/// Inside of a panel.
pub const PADDING: f32 = 12.0;
/// Between two sections of a panel.
pub const SECTION: f32 = 16.0;
/// Height of a row of text, a button, a field.
pub const ROW: f32 = 24.0;
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
    /// The same under the pointer.
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
    /// What went wrong: a mark beside words, never alone.
    pub warning: Color32,
    /// A value that is not a number, or infinite.
    pub non_finite: Color32,
    /// Behind a dialog.
    pub veil: Color32,
    /// Bands of the timeline, alternating.
    pub phases: [Color32; 2],
    heads: [Color32; 5],
    weighting: [Color32; 256],
    bits: [Color32; 256],
    signed: [Color32; 256],
}

/// What a value's colour means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// An attention over rows: 0 to 1, one peak on an empty ground.
    Weighting,
    /// Bits and probabilities: 0 to 1; negative values in the negative colour of [`Scale::Signed`].
    Bits,
    /// Signed data, symmetric about zero, to ± this limit.
    Signed(f32),
}

impl Scale {
    /// The values at the two ends of the legend.
    pub fn ends(self) -> (f32, f32) {
        match self {
            Self::Weighting | Self::Bits => (0.0, 1.0),
            Self::Signed(limit) => (-limit, limit),
        }
    }
}

impl Palette {
    /// The colours of the theme that is on.
    pub fn of(ui: &egui::Ui) -> &'static Self {
        Self::for_theme(ui.visuals().dark_mode)
    }

    /// The colours of the dark or the light theme.
    pub fn for_theme(dark: bool) -> &'static Self {
        static DARK: OnceLock<Palette> = OnceLock::new();
        static LIGHT: OnceLock<Palette> = OnceLock::new();
        if dark {
            DARK.get_or_init(dark_palette)
        } else {
            LIGHT.get_or_init(light_palette)
        }
    }

    /// The hue of a head: the third cue, after its sign and its label.
    pub fn head(&self, index: usize) -> Color32 {
        self.heads[index % self.heads.len()]
    }

    /// The colour of a value.
    pub fn color(&self, scale: Scale, value: f32) -> Color32 {
        if !value.is_finite() {
            return self.non_finite;
        }
        let at = |table: &[Color32; 256], share: f32| table[(share * 255.0).round() as usize];
        match scale {
            Scale::Weighting => at(&self.weighting, value.clamp(0.0, 1.0)),
            Scale::Bits if value < 0.0 => at(&self.signed, (0.5 + value / 4.0).clamp(0.0, 0.5)),
            Scale::Bits => at(&self.bits, value.min(1.0)),
            Scale::Signed(limit) => {
                let share = if limit > 0.0 { value / limit } else { 0.0 };
                at(&self.signed, f32::midpoint(share.clamp(-1.0, 1.0), 1.0))
            }
        }
    }

    /// Text that can be read on a cell of this colour.
    pub fn text_on(cell: Color32) -> Color32 {
        let brightness =
            0.299 * f32::from(cell.r()) + 0.587 * f32::from(cell.g()) + 0.114 * f32::from(cell.b());
        if brightness > 140.0 {
            Color32::from_gray(16)
        } else {
            Color32::from_gray(240)
        }
    }

    /// A hairline in the colour of separators.
    pub fn hairline(&self) -> Stroke {
        Stroke::new(1.0, self.line)
    }
}

fn dark_palette() -> Palette {
    let well = hex(0x0b_0c0f);
    let text = hex(0xd7_dae0);
    Palette {
        background: hex(0x10_1215),
        panel: hex(0x16_181c),
        raised: hex(0x1e_2126),
        hovered: hex(0x2a_2e35),
        well,
        line: hex(0x2a_2e35),
        text,
        subdued: hex(0x9a_a0aa),
        strong: Color32::WHITE,
        accent: hex(0x4c_9be8),
        on_accent: hex(0x0b_1220),
        warning: hex(0xf0_a35e),
        non_finite: hex(0xff_00d4),
        veil: Color32::from_black_alpha(150),
        phases: [hex(0x22_262d), hex(0x2d_333c)],
        heads: [0x88_ccee, 0xf0_e442, 0xee_3377, 0xb0_7aff, 0xff_8a5b].map(hex),
        weighting: bake(&with_ground(&MAGMA, well)),
        bits: bake(&[well, mix(well, text, 0.45), text]),
        signed: bake(&[
            hex(0xff_b27a),
            hex(0xe8_853a),
            hex(0x14_161a),
            hex(0x3e_9be0),
            hex(0x8c_c8f5),
        ]),
    }
}

fn light_palette() -> Palette {
    let well = Color32::WHITE;
    let text = hex(0x24_272d);
    let mut magma = MAGMA;
    magma.reverse();
    Palette {
        background: hex(0xf7_f8fa),
        panel: Color32::WHITE,
        raised: hex(0xf0_f2f5),
        hovered: hex(0xe2_e5ea),
        well,
        line: hex(0xd9_dde3),
        text,
        subdued: hex(0x5b_616b),
        strong: hex(0x0b_0d11),
        accent: hex(0x1a_6fc4),
        on_accent: Color32::WHITE,
        warning: hex(0xa8_4b00),
        non_finite: hex(0xd6_00b0),
        veil: Color32::from_black_alpha(70),
        phases: [hex(0xe9_ecf1), hex(0xdb_e0e8)],
        heads: [0x33_2288, 0x88_2255, 0x11_7733, 0x99_9933, 0xcc_79a7].map(hex),
        weighting: bake(&with_ground(&magma, well)),
        bits: bake(&[well, mix(well, text, 0.45), text]),
        signed: bake(&[
            hex(0x9c_4a00),
            hex(0xc9_660f),
            hex(0xf4_f5f6),
            hex(0x08_77bd),
            hex(0x04_5488),
        ]),
    }
}

/// Matplotlib's magma (CC0), every sixteenth entry.
const MAGMA: [u32; 17] = [
    0x00_0004, 0x0a_0822, 0x1d_1147, 0x36_106b, 0x51_127c, 0x6a_1c81, 0x83_2681, 0x9c_2e7f,
    0xb7_3779, 0xcf_4070, 0xe5_5064, 0xf4_695c, 0xfb_8761, 0xfe_a571, 0xfe_c287, 0xfd_e0a1,
    0xfc_fdbf,
];

/// A colour map whose zero is the ground, so that empty memory is quiet.
fn with_ground(map: &[u32; 17], ground: Color32) -> Vec<Color32> {
    let mut colors: Vec<Color32> = map.iter().map(|&color| hex(color)).collect();
    colors[0] = ground;
    colors
}

fn bake(anchors: &[Color32]) -> [Color32; 256] {
    std::array::from_fn(|index| {
        let place = index as f32 / 255.0 * (anchors.len() - 1) as f32;
        let below = (place.floor() as usize).min(anchors.len() - 2);
        mix(anchors[below], anchors[below + 1], place - below as f32)
    })
}

fn mix(from: Color32, to: Color32, share: f32) -> Color32 {
    from.lerp_to_gamma(to, share)
}

fn hex(color: u32) -> Color32 {
    let [_, r, g, b] = color.to_be_bytes();
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

/// Installs fonts, spacing and both themes.
pub fn apply(ctx: &Context) {
    ctx.set_fonts(fonts());
    for theme in [Theme::Dark, Theme::Light] {
        ctx.style_mut_of(theme, |style| {
            style.visuals = visuals(theme == Theme::Dark);
            space_out(style);
        });
    }
}

fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let mut add = |name: &str, bytes: &'static [u8]| {
        fonts
            .font_data
            .insert(name.to_owned(), FontData::from_static(bytes).into());
    };
    add(
        "Inter",
        include_bytes!("../../assets/fonts/Inter-Medium.ttf"),
    );
    add(
        "Inter SemiBold",
        include_bytes!("../../assets/fonts/Inter-SemiBold.ttf"),
    );
    add(
        "JetBrains Mono",
        include_bytes!("../../assets/fonts/JetBrainsMono-Medium.ttf"),
    );
    let fallback = fonts
        .families
        .get(&FontFamily::Proportional)
        .cloned()
        .unwrap_or_default();
    let family = |first: &[&str]| -> Vec<String> {
        let first = first.iter().map(|&name| name.to_owned());
        first.chain(fallback.iter().cloned()).collect()
    };
    let families = [
        (FontFamily::Proportional, family(&["Inter"])),
        (FontFamily::Monospace, family(&["JetBrains Mono", "Inter"])),
        (semibold(), family(&["Inter SemiBold", "Inter"])),
    ];
    fonts.families.extend(families);
    fonts
}

fn space_out(style: &mut Style) {
    style.text_styles = [
        (TextStyle::Small, text(11.0)),
        (TextStyle::Body, text(13.0)),
        (TextStyle::Button, text(13.0)),
        (TextStyle::Heading, heading(16.0)),
        (TextStyle::Monospace, mono(12.0)),
    ]
    .into();
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(8.0, 6.0);
    spacing.button_padding = vec2(8.0, 4.0);
    spacing.interact_size = vec2(ROW, ROW);
    spacing.window_margin = Margin::same(16);
    spacing.menu_margin = Margin::same(6);
    spacing.combo_width = 80.0;
    spacing.icon_spacing = 6.0;
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.35;
    style.animation_time = 0.12;
}

fn visuals(dark: bool) -> Visuals {
    let palette = Palette::for_theme(dark);
    let mut visuals = if dark {
        Visuals::dark()
    } else {
        Visuals::light()
    };
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
/// The size of an icon button.
pub const ICON: Vec2 = vec2(ROW + 4.0, ROW + 4.0);

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(color: Color32) -> f32 {
        let linear = |channel: u8| {
            let c = f32::from(channel) / 255.0;
            if c <= 0.040_45 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    fn contrast(a: Color32, b: Color32) -> f32 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_can_be_read_in_both_themes() {
        for dark in [true, false] {
            let palette = Palette::for_theme(dark);
            for ground in [palette.background, palette.panel, palette.raised] {
                assert!(contrast(palette.text, ground) > 7.0);
                assert!(contrast(palette.subdued, ground) > 4.5);
                assert!(contrast(palette.warning, ground) > 4.5);
            }
            for ground in [palette.background, palette.well, palette.panel] {
                assert!(contrast(palette.accent, ground) > 3.0);
                for head in 0..5 {
                    let least = if head == 3 || head == 4 { 2.5 } else { 3.0 };
                    assert!(
                        contrast(palette.head(head), ground) > least,
                        "head {head}, dark {dark}"
                    );
                }
            }
            assert!(contrast(palette.on_accent, palette.accent) > 4.5);
        }
    }

    #[test]
    fn zero_is_the_ground_and_a_nan_is_never_zero() {
        for dark in [true, false] {
            let palette = Palette::for_theme(dark);
            assert_eq!(palette.color(Scale::Weighting, 0.0), palette.well);
            for scale in [Scale::Weighting, Scale::Bits, Scale::Signed(1.0)] {
                for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    assert_eq!(palette.color(scale, value), palette.non_finite);
                }
                assert_ne!(palette.color(scale, 0.0), palette.non_finite);
            }
        }
    }

    #[test]
    fn values_beyond_the_scale_take_its_ends() {
        let palette = Palette::for_theme(true);
        let scale = Scale::Signed(2.0);
        assert_eq!(palette.color(scale, 9.0), palette.color(scale, 2.0));
        assert_eq!(palette.color(scale, -9.0), palette.color(scale, -2.0));
        assert_ne!(
            palette.color(Scale::Bits, -1.0),
            palette.color(Scale::Bits, 0.0)
        );
    }
}
