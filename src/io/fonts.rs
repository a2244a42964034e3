//! The fonts of this computer, for letters that the fonts of the program lack. They are looked through once, when the
//! first such letter is drawn.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};
use std::{env, fs};

use skrifa::MetadataProvider;
use skrifa::raw::FileRef;

/// The environment variable that names the folders of fonts, separated as in `PATH`, in place of those of the system.
/// Empty: none.
pub const FOLDERS: &str = "TAPESCOPE_FONTS";

/// Folders and files that are looked at, at most.
const MOST: usize = 8192;
/// Fonts of one file that are looked at, at most.
const MOST_IN_FILE: usize = 64;
/// Largest font, and largest size of all fonts, in bytes.
const LARGEST: [u64; 2] = [1 << 26, 1 << 30];
const ENDINGS: [&str; 4] = [".ttf", ".otf", ".ttc", ".otc"];
/// Words in the names of files that other fonts come before.
const LESS: [&str; 7] = [
    "bold", "italic", "oblique", "light", "thin", "black", "mono",
];

/// One font of a file.
struct Font {
    path: PathBuf,
    index: u32,
    /// In ascending order.
    letters: Vec<u32>,
    file: OnceLock<Arc<Vec<u8>>>,
}

/// Returns a font of this computer with all letters of a text: a name that no other has, its file, and its place in that.
pub fn with_letters(text: &str) -> Option<(String, Arc<Vec<u8>>, u32)> {
    static FONTS: LazyLock<Vec<Font>> = LazyLock::new(|| installed(folders()));
    first_with(&FONTS, text)
}

fn first_with(fonts: &[Font], text: &str) -> Option<(String, Arc<Vec<u8>>, u32)> {
    let has = |font: &Font, letter: char| font.letters.binary_search(&(letter as u32)).is_ok();
    let number = fonts
        .iter()
        .position(|font| text.chars().all(|letter| has(font, letter)))?;
    let font = &fonts[number];
    // A font that is there no more draws nothing.
    let file = font
        .file
        .get_or_init(|| Arc::new(fs::read(&font.path).unwrap_or_default()));
    Some((format!("found-{number}"), file.clone(), font.index))
}

fn folders() -> Vec<PathBuf> {
    if let Some(named) = env::var_os(FOLDERS) {
        let named = env::split_paths(&named);
        return named.filter(|path| *path != Path::new("")).collect();
    }
    let all = [
        ("", "/usr/share/fonts"),
        ("", "/usr/local/share/fonts"),
        ("", "/System/Library/Fonts"),
        ("", "/Library/Fonts"),
        ("HOME", ".local/share/fonts"),
        ("HOME", ".fonts"),
        ("HOME", "Library/Fonts"),
        ("WINDIR", "Fonts"),
        ("LOCALAPPDATA", "Microsoft/Windows/Fonts"),
    ];
    let base = |variable: &str| match variable {
        "" => Some(PathBuf::new()),
        _ => env::var_os(variable).map(PathBuf::from),
    };
    all.iter()
        .filter_map(|(variable, rest)| Some(base(variable)?.join(rest)))
        .collect()
}

/// All fonts below some folders, in the order in which they are used.
fn installed(mut pending: Vec<PathBuf>) -> Vec<Font> {
    let (mut files, mut fonts, [largest, mut room]) = (Vec::new(), Vec::new(), LARGEST);
    // A link to a folder above is followed no further than that.
    for _ in 0..MOST {
        let Some(path) = pending.pop() else { break };
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        if let Ok(entries) = fs::read_dir(&path) {
            let entries = entries.take(MOST.saturating_sub(pending.len()));
            pending.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        // That font has one box for many letters.
        } else if ENDINGS.iter().any(|ending| name.ends_with(ending))
            && !name.contains("lastresort")
        {
            files.push((LESS.iter().any(|word| name.contains(word)), path));
        }
    }
    files.sort_unstable();
    for (_, path) in files {
        let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file);
        let Some(size) = size
            .map(|file| file.len())
            .filter(|size| *size <= largest.min(room))
        else {
            continue;
        };
        room -= size;
        let bytes = fs::read(&path).unwrap_or_default();
        let all = FileRef::new(&bytes)
            .into_iter()
            .flat_map(|file| file.fonts().take(MOST_IN_FILE));
        for (index, font) in (0..).zip(all) {
            let letters = font.into_iter().flat_map(|font| font.charmap().mappings());
            let letters = letters.filter(|(_, glyph)| glyph.to_u32() != 0);
            let mut letters: Vec<_> = letters.map(|(letter, _)| letter).collect();
            letters.sort_unstable();
            let (path, file) = (path.clone(), OnceLock::new());
            fonts.push(Font {
                path,
                index,
                letters,
                file,
            });
        }
    }
    fonts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(fonts: &[Font], text: &str) -> Option<String> {
        first_with(fonts, text).map(|(name, _, _)| name)
    }

    #[test]
    fn a_font_is_found_that_has_every_letter() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let own = root.join("tests/cli/letters.in");
        let all = installed(vec![root.join("assets/fonts"), own.clone()]);
        let names: Vec<_> = all
            .iter()
            .map(|font| font.path.file_name().unwrap().to_owned())
            .collect();
        let expected = [
            "Inter-Medium.ttf",
            "Lucide-subset.ttf",
            "letters.ttf",
            "Inter-SemiBold.ttf",
            "JetBrainsMono-Medium.ttf",
        ];
        assert_eq!(names, expected, "bold and monospaced ones come last");
        assert_eq!(found(&all, "a"), Some("found-0".to_owned()));
        for text in ["가", "a\u{320}나"] {
            assert_eq!(found(&all, text), Some("found-2".to_owned()));
        }
        assert_eq!(found(&all, "b가"), None);
        let (_, file, index) = first_with(&all, "가").unwrap();
        assert_eq!(
            (file.to_vec(), index),
            (fs::read(own.join("fonts/letters.ttf")).unwrap(), 0)
        );
        assert_eq!(found(&installed(Vec::new()), "가"), None);
    }

    #[test]
    fn a_collection_is_read_and_a_damaged_font_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let own = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/cli/letters.in/fonts/letters.ttf"
        );
        let own = fs::read(own).unwrap();
        for length in 0..own.len() {
            fs::write(place("damaged.ttf"), &own[..length]).unwrap();
            installed(vec![place("")]);
        }
        fs::write(place("damaged.ttf"), [0xff; 4096]).unwrap();
        fs::write(place("LastResort.ttf"), &own).unwrap();
        assert_eq!(found(&installed(vec![place("")]), "가"), None);
        // The offsets of its tables are those of the file.
        let mut second = own.clone();
        for entry in second[12..12 + 16 * usize::from(own[5])].chunks_mut(16) {
            let offset = u32::from_be_bytes(entry[8..12].try_into().unwrap()) + 16;
            entry[8..12].copy_from_slice(&offset.to_be_bytes());
        }
        let head: [&[u8]; 4] = [b"ttcf", &[0, 1, 0, 0], &[0, 0, 0, 1], &[0, 0, 0, 16]];
        fs::write(place("own.TTC"), [&head.concat()[..], &second].concat()).unwrap();
        assert!(found(&installed(vec![place("")]), "가").is_some());
    }
}
