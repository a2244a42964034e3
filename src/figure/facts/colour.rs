//! The colours of the data and of the page, for figures and for the window.

use std::sync::OnceLock;

use crate::figure::HeadName;
use crate::figure::facts::numbers::{end_text, round_up};
use crate::model::Trace;
use crate::train::is_absent;

/// Heads of a kind with a hue of their own.
pub const HUES: usize = 8;
/// Heads of a kind whose hues everyone can tell apart; others differ in their dashes too.
pub const TOLD_APART: usize = 3;
/// Lines with a colour of their own; more share colours and differ in their dashes.
pub const LINES: usize = 10;

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// The colours of the dark or the light theme that figures need.
#[derive(Debug)]
pub struct Colours {
    /// True for the dark theme.
    pub is_dark: bool,
    /// Behind the pictures.
    pub background: Rgb,
    /// Panels of the window; the paper of a figure.
    pub panel: Rgb,
    /// Colour of omitted parts of a picture.
    pub raised: Rgb,
    /// Zero in every picture.
    pub well: Rgb,
    /// Separators and axes.
    pub line: Rgb,
    /// Text.
    pub text: Rgb,
    /// Labels and units.
    pub subdued: Rgb,
    /// Headings.
    pub strong: Rgb,
    /// The play-head.
    pub accent: Rgb,
    /// Text on the accent colour.
    pub on_accent: Rgb,
    /// Behind what is chosen.
    pub chosen: Rgb,
    /// The phases of the episode, in turn.
    pub phases: [Rgb; 2],
    /// The colour of errors: a mark next to text, never alone.
    pub warning: Rgb,
    /// A value that is not a number, or infinite.
    pub non_finite: Rgb,
    /// The hues of the heads: cool ones for those that read, warm ones for those that write.
    heads: [[Rgb; HUES]; 2],
    /// The colours of lines: everyone can tell those of each half apart, whose dashes are the same.
    lines: [Rgb; LINES],
    weighting: Table,
    /// Colour tables of the heads' weightings, where each head has its own.
    own: Option<Box<[[Table; HUES]; 2]>>,
    bits: Table,
    signed: Table,
}

/// Colours from one end of a scale to the other.
type Table = [Rgb; 256];

/// The colours of a weighting, from none to all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Map {
    /// A hue for every head; the same as [`Map::Magma`] without a head.
    #[default]
    Heads,
    /// Black, purple, orange, white.
    Magma,
    /// Violet, green, yellow.
    Viridis,
    /// Blue, gray, yellow: the same to everyone who cannot tell red from green.
    Cividis,
    /// Grey, as printed in the paper.
    Gray,
}

impl Map {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Heads,
        Self::Magma,
        Self::Viridis,
        Self::Cividis,
        Self::Gray,
    ];

    /// Returns the common name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heads => "Per head",
            Self::Magma => "Magma",
            Self::Viridis => "Viridis",
            Self::Cividis => "Cividis",
            Self::Gray => "Grey",
        }
    }

    /// Colours from the least to the largest value on a dark ground.
    fn anchors(self) -> &'static [u32] {
        match self {
            Self::Heads | Self::Magma => &MAGMA,
            Self::Viridis => &VIRIDIS,
            Self::Cividis => &CIVIDIS,
            Self::Gray => &[0x00_0000, 0xff_ffff],
        }
    }
}

/// The meaning of the colour of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// An attention over rows: 0 to 1, one peak on an empty ground.
    Weighting {
        /// The head, in whose hue it is where colours are those of [`Map::Heads`].
        head: Option<HeadName>,
        /// True for a logarithmic scale, from 1e-6 to 1: almost vanishing weights are visible.
        log: bool,
    },
    /// Bits and probabilities: 0 to 1; negative values in the negative colour of [`Scale::Signed`].
    Bits,
    /// Grey as in the paper's weightings and bits, in both themes: 0 is black, 1 is white; negative values as
    /// in [`Scale::Bits`].
    Gray,
    /// Signed data, symmetric about zero, to ± this limit.
    Signed(f32),
    /// A value that is never negative and unbounded: 0 to this limit.
    UpTo(f32),
    /// Ages of memory rows: 0 to the number of steps; rows that are older, not accessed in the episode, look alike.
    Ages(f32),
}

/// The end of the logarithmic scale.
const FAINTEST: f32 = 1e-6;

impl Scale {
    /// A symmetric scale, rounded up, that holds all these values.
    pub fn signed<'a>(values: impl Iterator<Item = &'a f32>) -> Self {
        let finite = values.map(|value| value.abs()).filter(|v| v.is_finite());
        Self::Signed(round_up(finite.fold(0.0, f32::max)))
    }

    /// The scale of the ages of an episode.
    pub fn ages(trace: &Trace) -> Self {
        Self::Ages(trace.steps() as f32)
    }

    /// The scale of weightings of all heads.
    pub fn weighting(log: bool) -> Self {
        Self::Weighting { head: None, log }
    }

    /// Returns the scale for a head of this name; only weighting scales differ between heads.
    #[must_use]
    pub fn of_head(self, name: HeadName) -> Self {
        match self {
            Self::Weighting { log, .. } => Self::Weighting {
                head: Some(name),
                log,
            },
            other => other,
        }
    }

    /// True of one that goes by the logarithm.
    pub fn is_log(self) -> bool {
        matches!(self, Self::Weighting { log: true, .. })
    }

    /// The values at the two ends of the legend.
    pub fn ends(self) -> (f32, f32) {
        match self {
            Self::Signed(limit) => (-limit, limit),
            Self::UpTo(limit) | Self::Ages(limit) => (0.0, limit),
            _ if self.is_log() => (FAINTEST, 1.0),
            _ => (0.0, 1.0),
        }
    }

    /// The texts at the two ends of the legend: `33+` where larger values have the last colour, too.
    pub fn end_texts(self) -> [String; 2] {
        let (low, high) = self.ends();
        let more = ["", "+"][usize::from(matches!(self, Self::Ages(_)))];
        [end_text(low), end_text(high) + more]
    }

    /// Length of the bar of a weight, as a share of the full length.
    pub fn length(self, weight: f32) -> f32 {
        match self {
            _ if self.is_log() => {
                (1.0 - weight.max(FAINTEST).log10() / FAINTEST.log10()).clamp(0.0, 1.0)
            }
            Self::UpTo(limit) | Self::Ages(limit) => (weight.abs() / limit).min(1.0),
            _ => weight.abs().min(1.0),
        }
    }

    /// Returns the start and end of a value's bar in this width: from the middle where values can be
    /// negative. A value other than 0 has at least a hairline.
    pub fn bar(self, value: f32, width: f32) -> [f32; 2] {
        let least = if value.abs() >= 0.001 { 1.0 } else { 0.0 };
        match self {
            Self::Signed(limit) => {
                let (zero, share) = (width / 2.0, (value.abs() / limit).min(1.0));
                let end = zero + (share * zero).max(least).copysign(value);
                [end.min(zero), end.max(zero)]
            }
            _ => [0.0, (self.length(value) * width).max(least)],
        }
    }

    /// The value at this share of the legend.
    pub fn at(self, share: f32) -> f32 {
        let (low, high) = self.ends();
        match self {
            _ if self.is_log() => FAINTEST.powf(1.0 - share),
            _ => low + (high - low) * share,
        }
    }
}

impl Colours {
    /// The colours of the dark or the light theme.
    pub fn for_theme(dark: bool) -> &'static Self {
        Self::with_map(dark, Map::default())
    }

    /// Returns the colours with another colour map for weightings.
    pub fn with_map(dark: bool, map: Map) -> &'static Self {
        static ALL: [[OnceLock<Colours>; Map::ALL.len()]; 2] =
            [const { [const { OnceLock::new() }; Map::ALL.len()] }; 2];
        ALL[usize::from(dark)][map as usize].get_or_init(|| {
            let mut colours = colours(dark, map);
            if map == Map::Heads {
                let own = colours.heads.map(|hues| hues.map(|hue| colours.ramp(hue)));
                colours.own = Some(Box::new(own));
            }
            colours
        })
    }

    /// The hue of a head: the third cue, after its sign and its label.
    pub fn head(&self, name: HeadName) -> Rgb {
        self.heads[usize::from(name.is_write)][name.place % HUES]
    }

    /// Returns a ramp from the ground through a hue to its lightest shade on a dark ground, or its darkest on a light
    /// one. Every step is further from the ground, and small values are clearly off it.
    fn ramp(&self, hue: Rgb) -> Table {
        let far = mix(hue, self.strong, if self.is_dark { 0.45 } else { 0.3 });
        let near = [0.45, 0.75].map(|share| mix(self.well, hue, share));
        bake(&[self.well, near[0], near[1], hue, far])
    }

    /// The colour of words, stronger for what is under way.
    pub fn emphasis(&self, is_now: bool) -> Rgb {
        [self.subdued, self.strong][usize::from(is_now)]
    }

    /// The colour of one of several lines.
    pub fn line(&self, index: usize) -> Rgb {
        self.lines[index % LINES]
    }

    /// The colour of a value.
    pub fn of(&self, scale: Scale, value: f32) -> Rgb {
        if is_absent(value) {
            return self.raised;
        }
        if !value.is_finite() {
            return self.non_finite;
        }
        let at = |table: &Table, share: f32| table[(share * 255.0).round() as usize];
        match scale {
            Scale::Weighting {
                head: Some(name), ..
            } if let Some(own) = self.own.as_deref() => {
                let own = &own[usize::from(name.is_write)][name.place % HUES];
                at(own, scale.length(value.max(0.0)))
            }
            Scale::Weighting { .. } | Scale::UpTo(_) | Scale::Ages(_) => {
                at(&self.weighting, scale.length(value.max(0.0)))
            }
            Scale::Bits | Scale::Gray if value < 0.0 => {
                at(&self.signed, (0.5 + value / 4.0).clamp(0.0, 0.5))
            }
            Scale::Bits => at(&self.bits, value.min(1.0)),
            Scale::Gray => [(value.min(1.0) * 255.0).round() as u8; 3],
            Scale::Signed(limit) => {
                let share = if limit > 0.0 { value / limit } else { 0.0 };
                at(&self.signed, f32::midpoint(share.clamp(-1.0, 1.0), 1.0))
            }
        }
    }
}

/// The colours of the dark theme, and at their right those of the light one.
fn colours(is_dark: bool, map: Map) -> Colours {
    let theme = usize::from(!is_dark);
    let of = |both: [u32; 2]| hex(both[theme]);
    let well = of([0x0b_0c0f, 0xff_ffff]);
    let text = of([0xd7_dae0, 0x24_272d]);
    let mut weighting: Vec<Rgb> = map.anchors().iter().copied().map(hex).collect();
    if !is_dark {
        weighting.reverse();
    }
    // Zero is the ground, so that empty memory is quiet.
    weighting[0] = well;
    let signed = [
        [0xff_b27a, 0xe8_853a, 0x14_161a, 0x3e_9be0, 0x8c_c8f5],
        [0x9c_4a00, 0xc9_660f, 0xf4_f5f6, 0x08_77bd, 0x04_5488],
    ];
    Colours {
        is_dark,
        background: of([0x10_1215, 0xf7_f8fa]),
        panel: of([0x16_181c, 0xff_ffff]),
        raised: of([0x1e_2126, 0xf0_f2f5]),
        well,
        line: of([0x2a_2e35, 0xd9_dde3]),
        text,
        subdued: of([0x9a_a0aa, 0x5b_616b]),
        strong: of([0xff_ffff, 0x0b_0d11]),
        accent: of([0x4c_9be8, 0x1a_6fc4]),
        on_accent: of([0x0b_1220, 0xff_ffff]),
        chosen: of([0x2a_2e35, 0xe2_e5ea]),
        phases: [[0x22_262d, 0xe9_ecf1], [0x2d_333c, 0xdb_e0e8]].map(of),
        warning: of([0xf0_a35e, 0xa8_4b00]),
        non_finite: of([0xff_00d4, 0xd6_00b0]),
        heads: HEADS.map(|hues| hues.map(hex)),
        lines: LINE_COLOURS[theme].map(hex),
        weighting: bake(&weighting),
        own: None,
        bits: bake(&[well, mix(well, text, 0.45), text]),
        signed: bake(&signed[theme].map(hex)),
    }
}

/// The hues of the heads, in both themes: three times as light or dark as either ground.
const HEADS: [[u32; HUES]; 2] = [
    [
        0x50_99b1, 0xa2_45f9, 0x66_63bb, 0x32_a302, 0xc4_6cdb, 0x35_7832, 0x48_6afa, 0x11_9d85,
    ],
    [
        0xc0_7c10, 0xb9_3865, 0x80_642d, 0xf3_2336, 0xc6_52bf, 0x85_9418, 0xf5_11dd, 0x9d_6a9c,
    ],
];

/// The colours of lines by theme.
const LINE_COLOURS: [[u32; LINES]; 2] = [
    [
        0xff_dc0a, 0x53_aeff, 0xd0_006a, 0x8e_24ff, 0x91_6300, 0x54_ff00, 0xe7_89ff, 0xd3_1301,
        0xca_e49e, 0x00_7671,
    ],
    [
        0x87_7d05, 0x2a_88e9, 0xee_417c, 0x5e_005b, 0x0d_00ad, 0x16_967a, 0xfc_3e02, 0xe7_2edc,
        0x60_1b00, 0x03_354c,
    ],
];

/// Matplotlib's magma (CC0), every sixteenth entry.
const MAGMA: [u32; 17] = [
    0x00_0004, 0x0a_0822, 0x1d_1147, 0x36_106b, 0x51_127c, 0x6a_1c81, 0x83_2681, 0x9c_2e7f,
    0xb7_3779, 0xcf_4070, 0xe5_5064, 0xf4_695c, 0xfb_8761, 0xfe_a571, 0xfe_c287, 0xfd_e0a1,
    0xfc_fdbf,
];

/// Matplotlib's viridis (CC0), every ninth part.
const VIRIDIS: [u32; 10] = [
    0x44_0154, 0x48_2878, 0x3e_4a89, 0x31_688e, 0x26_828e, 0x1f_9e89, 0x35_b779, 0x6d_cd59,
    0xb4_de2c, 0xfd_e725,
];

/// Cividis (Nuñez, Anderton and Renslow 2018, CC0), every ninth part.
const CIVIDIS: [u32; 10] = [
    0x00_204d, 0x00_336f, 0x39_486b, 0x57_5c6d, 0x70_7173, 0x8a_8779, 0xa6_9d75, 0xc4_b56c,
    0xe4_cf5b, 0xff_ea46,
];

fn bake(anchors: &[Rgb]) -> Table {
    std::array::from_fn(|index| {
        let place = index as f32 / 255.0 * (anchors.len() - 1) as f32;
        let below = (place.floor() as usize).min(anchors.len() - 2);
        mix(anchors[below], anchors[below + 1], place - below as f32)
    })
}

/// A colour between two.
pub fn mix(from: Rgb, to: Rgb, share: f32) -> Rgb {
    std::array::from_fn(|channel| {
        let (from, to) = (f32::from(from[channel]), f32::from(to[channel]));
        (from + (to - from) * share).round() as u8
    })
}

const fn hex(colour: u32) -> Rgb {
    let [_, r, g, b] = colour.to_be_bytes();
    [r, g, b]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_differ() {
        for colours in [true, false].map(Colours::for_theme) {
            let lines: Vec<_> = (0..LINES).map(|index| colours.line(index)).collect();
            for (index, line) in lines.iter().enumerate() {
                for (other, there) in lines[..index].iter().enumerate() {
                    let far = [0, 1, 2]
                        .map(|part| line[part].abs_diff(there[part]))
                        .into_iter()
                        .max();
                    assert!(
                        far > Some(40),
                        "{other} and {index}: {there:?} and {line:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn eight_heads_of_a_kind_have_different_hues() {
        let colours = Colours::for_theme(true);
        for (place, other) in (0..8).flat_map(|place| (0..place).map(move |other| (place, other))) {
            for is_write in [false, true] {
                let [a, b] = [place, other].map(|place| colours.head(HeadName { is_write, place }));
                assert_ne!(a, b, "{place} and {other}");
            }
        }
    }

    #[test]
    fn heads_have_one_colour_in_both_themes() {
        for (is_write, place) in (0..2 * HUES).map(|index| (index % 2 == 0, index / 2)) {
            let of = |dark| Colours::for_theme(dark).head(HeadName { is_write, place });
            assert_eq!(of(true), of(false), "{is_write} {place}");
        }
    }

    #[test]
    fn zero_is_the_ground_and_a_nan_is_never_zero() {
        for dark in [true, false] {
            let colours = Colours::for_theme(dark);
            assert_eq!(colours.of(Scale::weighting(false), 0.0), colours.well);
            for scale in [
                Scale::weighting(false),
                Scale::weighting(true),
                Scale::Bits,
                Scale::Gray,
                Scale::Signed(1.0),
            ] {
                for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    assert_eq!(colours.of(scale, value), colours.non_finite);
                }
                assert_ne!(colours.of(scale, 0.0), colours.non_finite);
            }
        }
    }

    #[test]
    fn the_weightings_of_a_head_grow_from_the_ground_in_its_hue() {
        let light = |[r, g, b]: Rgb| {
            let linear = |channel: u8| (f32::from(channel) / 255.0).powf(2.2);
            0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
        };
        for (dark, is_write, place) in [true, false].into_iter().flat_map(|dark| {
            [true, false]
                .into_iter()
                .flat_map(move |write| (0..2 * HUES).map(move |place| (dark, write, place)))
        }) {
            let colours = Colours::for_theme(dark);
            let name = HeadName { is_write, place };
            for log in [false, true] {
                let scale = Scale::weighting(log).of_head(name);
                let at = |share: f32| colours.of(scale, scale.at(share));
                let far = |share: f32| (light(at(share)) - light(colours.well)).abs();
                assert_eq!(colours.of(scale, 0.0), colours.well);
                for step in 0..64 {
                    let [before, after] = [step, step + 1].map(|step| far(step as f32 / 64.0));
                    assert!(
                        after > before,
                        "{name:?}, dark {dark}, {step}: {before}, {after}"
                    );
                }
                // A small patch is visible: as far from the ground as Weber's law requires.
                let ground = light(colours.well) + 0.05;
                let contrast = (light(at(0.1)) + 0.05) / ground;
                assert!(
                    contrast.max(1.0 / contrast) > 1.1,
                    "{name:?}, dark {dark}: {contrast}"
                );
            }
            let other = HeadName {
                is_write: !is_write,
                place,
            };
            let of = |name| colours.of(Scale::weighting(false).of_head(name), 0.7);
            assert_ne!(of(name), of(other));
            let map = Colours::with_map(dark, Map::Viridis);
            let plain = map.of(Scale::weighting(false), 0.7);
            assert_eq!(map.of(Scale::weighting(false).of_head(name), 0.7), plain);
        }
    }

    #[test]
    fn values_beyond_the_scale_take_its_ends() {
        let colours = Colours::for_theme(true);
        let scale = Scale::Signed(2.0);
        assert_eq!(colours.of(scale, 9.0), colours.of(scale, 2.0));
        assert_eq!(colours.of(scale, -9.0), colours.of(scale, -2.0));
        assert_ne!(colours.of(Scale::Bits, -1.0), colours.of(Scale::Bits, 0.0));
        assert_eq!(colours.of(Scale::Gray, 7.0), [255; 3]);
        assert_eq!(colours.of(Scale::Gray, 0.0), [0; 3]);
    }
}
