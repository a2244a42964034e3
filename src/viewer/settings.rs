//! What is remembered between two runs of the window: how it looks, what was opened, how far the tour went.

use std::path::PathBuf;

use egui::{Context, ThemePreference, Vec2, vec2};

use super::panel::paper::Arrangement;
use super::theme::{self, Map};

/// Text sizes on offer, in percent.
pub const SCALES: [u16; 7] = [80, 90, 100, 115, 130, 150, 200];
/// The smallest window in which everything fits, in points.
pub const SMALLEST: Vec2 = vec2(960.0, 600.0);
/// Files remembered.
const RECENT: usize = 6;

/// How everything looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Dark, light or as the system has it.
    pub theme: ThemePreference,
    /// Colours of the weightings.
    pub map: Map,
    /// Size of text and everything else, in percent.
    pub scale: u16,
    /// True when nothing is to move by itself.
    pub still: bool,
}

/// The panels that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panels {
    /// The episode, at the left.
    pub left: bool,
    /// The numbers, at the right.
    pub numbers: bool,
    /// Transport and timeline, at the bottom.
    pub timeline: bool,
}

/// All that is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How everything looks.
    pub look: Look,
    /// The panels that are wanted.
    pub panels: Panels,
    /// How the pictures are arranged.
    pub arrangement: Arrangement,
    /// Files opened, the last one first.
    pub recent: Vec<PathBuf>,
    /// The stop of the tour to go on from.
    pub stop: usize,
    /// True when the window has introduced itself.
    pub greeted: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            theme: ThemePreference::System,
            map: Map::default(),
            scale: 100,
            still: false,
        }
    }
}

impl Default for Panels {
    fn default() -> Self {
        Self {
            left: true,
            numbers: true,
            timeline: true,
        }
    }
}

/// Those of someone who has been here before and changed nothing.
impl Default for Settings {
    fn default() -> Self {
        Self {
            look: Look::default(),
            panels: Panels::default(),
            arrangement: Arrangement::default(),
            recent: Vec::new(),
            stop: 0,
            greeted: true,
        }
    }
}

impl Settings {
    /// As written by [`Self::lines`]; what is missing or makes no sense is as at the first start.
    pub fn read(line: impl Fn(&str) -> Option<String>) -> Self {
        let is = |key: &str| line(key).map(|value| value == "yes");
        let one = |key: &str, names: &[&str]| {
            let value = line(key)?;
            names.iter().position(|name| *name == value)
        };
        let theme = one("theme", &THEMES.map(|(name, _)| name));
        let map = one("colours", &Map::ALL.map(Map::name));
        let scale = line("scale").and_then(|percent| percent.parse().ok());
        let recent = line("recent").unwrap_or_default();
        let paths = recent.lines().filter(|path| !path.is_empty());
        Self {
            look: Look {
                theme: theme.map_or(ThemePreference::System, |index| THEMES[index].1),
                map: map.map_or(Map::default(), |index| Map::ALL[index]),
                scale: scale
                    .filter(|percent| SCALES.contains(percent))
                    .unwrap_or(100),
                still: is("still").unwrap_or(false),
            },
            panels: Panels {
                left: is("left").unwrap_or(true),
                numbers: is("numbers").unwrap_or(true),
                timeline: is("timeline").unwrap_or(true),
            },
            arrangement: line("layout")
                .and_then(|name| Arrangement::named(&name))
                .unwrap_or_default(),
            recent: paths.map(PathBuf::from).take(RECENT).collect(),
            stop: line("tour").and_then(|stop| stop.parse().ok()).unwrap_or(0),
            greeted: is("greeted").unwrap_or(false),
        }
    }

    /// Names and values, to be kept somewhere.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
        let recent: Vec<_> = self
            .recent
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        vec![
            ("theme", theme_name(self.look.theme).to_owned()),
            ("colours", self.look.map.name().to_owned()),
            ("scale", self.look.scale.to_string()),
            ("still", yes(self.look.still)),
            ("left", yes(self.panels.left)),
            ("numbers", yes(self.panels.numbers)),
            ("timeline", yes(self.panels.timeline)),
            ("layout", self.arrangement.name().to_owned()),
            ("recent", recent.join("\n")),
            ("tour", self.stop.to_string()),
            ("greeted", yes(self.greeted)),
        ]
    }

    /// Remembers a file that was opened.
    pub fn opened(&mut self, path: PathBuf) {
        self.recent.retain(|other| *other != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }
}

/// Themes as they are kept.
pub const THEMES: [(&str, ThemePreference); 3] = [
    ("System", ThemePreference::System),
    ("Dark", ThemePreference::Dark),
    ("Light", ThemePreference::Light),
];

fn theme_name(theme: ThemePreference) -> &'static str {
    let found = THEMES.iter().find(|(_, other)| *other == theme);
    found.map_or("System", |(name, _)| name)
}

impl Look {
    /// The next size of text, or the one before.
    pub fn resize(&mut self, larger: bool) {
        let next = if larger {
            SCALES.iter().find(|&&percent| percent > self.scale)
        } else {
            SCALES.iter().rfind(|&&percent| percent < self.scale)
        };
        self.scale = next.copied().unwrap_or(self.scale);
    }

    /// The size asked for, as far as everything still fits into the window.
    fn zoom(self, ctx: &Context) -> f32 {
        let wanted = f32::from(self.scale) / 100.0;
        let window = ctx.content_rect().size() * ctx.zoom_factor();
        let room = (window / SMALLEST).min_elem().max(1.0);
        wanted.min((room * 100.0).floor() / 100.0)
    }

    /// Puts it on; `before` is what was on.
    pub fn wear(&self, ctx: &Context, before: &Self) {
        if self.theme != before.theme {
            ctx.set_theme(self.theme);
        }
        let zoom = self.zoom(ctx);
        if (zoom - ctx.zoom_factor()).abs() > 0.015 {
            ctx.set_zoom_factor(zoom);
        }
        if self.still != before.still {
            theme::set_motion(ctx, !self.still);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let mut settings = Settings {
            look: Look {
                theme: ThemePreference::Light,
                map: Map::Cividis,
                scale: 130,
                still: true,
            },
            panels: Panels {
                left: false,
                numbers: false,
                timeline: true,
            },
            arrangement: Arrangement::Paper,
            stop: 4,
            ..Settings::default()
        };
        settings.opened("a.npz".into());
        settings.opened("b.json".into());
        let lines = settings.lines();
        let line = |key: &str| {
            let found = lines.iter().find(|(name, _)| *name == key);
            found.map(|(_, value)| value.clone())
        };
        assert_eq!(Settings::read(line), settings);
    }

    #[test]
    fn nonsense_is_as_at_the_first_start() {
        let first = Settings::read(|_| None);
        assert_eq!(
            first,
            Settings {
                greeted: false,
                ..Settings::default()
            }
        );
        let nonsense = Settings::read(|_| Some("x\n".to_owned()));
        assert_eq!(nonsense.look, Look::default());
        assert_eq!(nonsense.stop, 0);
    }

    #[test]
    fn files_are_remembered_once_the_last_first() {
        let mut settings = Settings::default();
        for name in ["a", "b", "a", "c", "d", "e", "f", "g"] {
            settings.opened(name.into());
        }
        let names: Vec<_> = settings
            .recent
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        assert_eq!(names, ["g", "f", "e", "d", "c", "a"]);
    }

    #[test]
    fn sizes_stop_at_the_ends() {
        let mut look = Look::default();
        for _ in 0..9 {
            look.resize(true);
        }
        assert_eq!(look.scale, 200);
        look.resize(false);
        assert_eq!(look.scale, 150);
    }
}
