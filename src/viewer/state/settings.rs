//! Settings stored between sessions: appearance, recent files, progress of the tour.

use std::path::PathBuf;

use super::WindowLayout;
use crate::figure::Map;
use crate::platform;

/// Text sizes on offer, in percent.
pub const SCALES: [u16; 7] = [80, 90, 100, 115, 130, 150, 200];
/// Files remembered.
const RECENT: usize = 6;
/// The stored choice of reduced motion.
const STILL: &str = "yes";
/// The stored choice of full motion.
const MOVING: &str = "moving";

/// The theme of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The theme of the system.
    #[default]
    System,
    /// Light on dark.
    Dark,
    /// Dark on light.
    Light,
}

impl Theme {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::System, Self::Dark, Self::Light];

    /// Returns the name, also used in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Dark => "Dark",
            Self::Light => "Light",
        }
    }
}

/// The settings of the appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appearance {
    /// Dark, light or as the system has it.
    pub theme: Theme,
    /// Colours of the weightings.
    pub map: Map,
    /// Size of text and everything else, in percent.
    pub scale: u16,
    /// True with reduced motion.
    pub still: bool,
}

/// The panels that are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Panels {
    /// The episode, at the left.
    pub left: bool,
    /// The numbers, at the right.
    pub numbers: bool,
    /// The timeline, at the bottom.
    pub timeline: bool,
}

/// All that is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The settings of the appearance.
    pub look: Appearance,
    /// The panels that are wanted.
    pub panels: Panels,
    /// The layout; `None` selects the one that suits the episode.
    pub layout: Option<WindowLayout>,
    /// Files opened, the last one first.
    pub recent: Vec<PathBuf>,
    /// The tour step to continue from.
    pub stop: usize,
    /// True when the window has introduced itself.
    pub greeted: bool,
}

impl Default for Appearance {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            map: Map::default(),
            scale: 100,
            still: false,
        }
    }
}

/// The settings of a returning user who views all stages.
impl Default for Settings {
    fn default() -> Self {
        Self {
            look: Appearance::default(),
            panels: Panels {
                left: true,
                numbers: true,
                timeline: true,
            },
            layout: Some(WindowLayout::Debug),
            recent: Vec::new(),
            stop: 0,
            greeted: true,
        }
    }
}

impl Settings {
    /// Parses the text written by [`Self::lines`]; missing or invalid entries have their defaults.
    pub fn read(line: impl Fn(&str) -> Option<String>) -> Self {
        let is = |key: &str, usual| line(key).map_or(usual, |value| value == "yes");
        let theme = |name: String| Theme::ALL.into_iter().find(|one| one.name() == name);
        let map = |name: String| Map::ALL.into_iter().find(|one| one.name() == name);
        let scale = line("scale").and_then(|percent| percent.parse().ok());
        let scale = scale.filter(|percent| SCALES.contains(percent));
        let recent = line("recent").unwrap_or_default();
        let paths = recent.lines().filter(|path| !path.is_empty());
        Self {
            look: Appearance {
                theme: line("theme").and_then(theme).unwrap_or_default(),
                map: line("colours").and_then(map).unwrap_or_default(),
                scale: scale.unwrap_or(100),
                still: still(line("still").as_deref(), platform::reduces_motion()),
            },
            panels: Panels {
                left: is("left", true),
                numbers: is("numbers", false),
                timeline: is("timeline", true),
            },
            layout: line("layout").and_then(|name| WindowLayout::named(&name)),
            recent: paths.map(PathBuf::from).take(RECENT).collect(),
            stop: line("tour").and_then(|stop| stop.parse().ok()).unwrap_or(0),
            greeted: is("greeted", false),
        }
    }

    /// Names and values, to be kept somewhere.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
        let recent = self.recent.iter().map(|path| path.display().to_string());
        let recent: Vec<_> = recent.collect();
        let layout = self.layout.map_or("", WindowLayout::name);
        vec![
            ("theme", self.look.theme.name().to_owned()),
            ("colours", self.look.map.name().to_owned()),
            ("scale", self.look.scale.to_string()),
            (
                "still",
                stored_still(self.look.still, platform::reduces_motion()).to_owned(),
            ),
            ("left", yes(self.panels.left)),
            ("numbers", yes(self.panels.numbers)),
            ("timeline", yes(self.panels.timeline)),
            ("layout", layout.to_owned()),
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

/// True with reduced motion: as stored, otherwise as the system asks for.
fn still(stored: Option<&str>, system: bool) -> bool {
    match stored {
        Some(STILL) => true,
        Some(MOVING) => false,
        _ => system,
    }
}

/// Returns what is stored of reduced motion: a choice that differs from the system stays, all else follows the system.
fn stored_still(still: bool, system: bool) -> &'static str {
    match still {
        _ if still == system => "system",
        true => STILL,
        false => MOVING,
    }
}

impl Appearance {
    /// Returns the text size a number of sizes away.
    pub fn resize(&mut self, by: isize) {
        let smaller = SCALES.partition_point(|&percent| percent < self.scale);
        let next = smaller.saturating_add_signed(by).min(SCALES.len() - 1);
        self.scale = SCALES[next];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_round_trip() {
        let mut settings = Settings {
            look: Appearance {
                theme: Theme::Light,
                map: Map::Cividis,
                scale: 130,
                still: true,
            },
            panels: Panels {
                left: false,
                numbers: false,
                timeline: true,
            },
            layout: Some(WindowLayout::Paper),
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
    fn motion_follows_the_system_until_it_is_chosen() {
        for system in [false, true] {
            // Nothing stored, or what an earlier version stored without being asked.
            for stored in [None, Some(""), Some("no"), Some("system")] {
                assert_eq!(still(stored, system), system);
            }
            for chosen in [false, true] {
                let stored = stored_still(chosen, system);
                assert_eq!(still(Some(stored), system), chosen);
                assert!(chosen != system || still(Some(stored), !system) != chosen);
            }
        }
    }

    #[test]
    fn invalid_settings_use_defaults() {
        let first = Settings::read(|_| None);
        assert_eq!(
            first,
            Settings {
                greeted: false,
                layout: None,
                panels: Panels {
                    numbers: false,
                    ..Settings::default().panels
                },
                ..Settings::default()
            }
        );
        let nonsense = Settings::read(|_| Some("x\n".to_owned()));
        assert_eq!(nonsense.look, Appearance::default());
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
        let mut look = Appearance::default();
        for _ in 0..9 {
            look.resize(1);
        }
        assert_eq!(look.scale, 200);
        look.resize(-1);
        assert_eq!(look.scale, 150);
    }
}
