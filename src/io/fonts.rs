//! The fonts of this computer, for letters that the fonts of the program lack. They are looked through file by file, in
//! one order, until one has the letters.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::{env, fs, vec};

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

/// The fonts of some folders, in the order in which they are used.
struct Fonts {
    /// Those of the files read so far.
    read: Vec<Font>,
    /// The other files. Whether others come before is first.
    files: vec::IntoIter<(bool, PathBuf)>,
    /// Size of all files that may still be read, in bytes.
    room: u64,
}

/// Returns a font of this computer with all letters of a text: a name that no other has, its file, and its place in that.
pub fn with_letters(text: &str) -> Option<(String, Arc<Vec<u8>>, u32)> {
    static FONTS: LazyLock<Mutex<Fonts>> = LazyLock::new(|| Mutex::new(Fonts::below(folders())));
    let mut fonts = FONTS.lock().unwrap_or_else(PoisonError::into_inner);
    fonts.with_letters(text)
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

impl Fonts {
    fn below(mut pending: Vec<PathBuf>) -> Self {
        let mut files = Vec::new();
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
        Self {
            read: Vec::new(),
            files: files.into_iter(),
            room: LARGEST[1],
        }
    }

    /// Reads files until a font has all letters.
    fn with_letters(&mut self, text: &str) -> Option<(String, Arc<Vec<u8>>, u32)> {
        let has = |font: &Font, letter: char| font.letters.binary_search(&(letter as u32)).is_ok();
        let mut number = 0;
        loop {
            match self.read.get(number) {
                Some(font) if text.chars().all(|letter| has(font, letter)) => break,
                Some(_) => number += 1,
                None => self.read_next()?,
            }
        }
        let font = &self.read[number];
        // A font that is there no more draws nothing.
        let file = font
            .file
            .get_or_init(|| Arc::new(fs::read(&font.path).unwrap_or_default()));
        Some((format!("found-{number}"), file.clone(), font.index))
    }

    /// Reads the next file; `None` after the last.
    fn read_next(&mut self) -> Option<()> {
        let (_, path) = self.files.next()?;
        let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file);
        let size = size.map_or(u64::MAX, |file| file.len());
        if size > LARGEST[0].min(self.room) {
            return Some(());
        }
        self.room -= size;
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
            self.read.push(Font {
                path,
                index,
                letters,
                file,
            });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(fonts: &mut Fonts, text: &str) -> Option<String> {
        fonts.with_letters(text).map(|(name, _, _)| name)
    }

    #[test]
    fn a_font_is_found_that_has_every_letter() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let own = root.join("tests/cli/letters.in");
        let mut all = Fonts::below(vec![root.join("assets/fonts"), own.clone()]);
        assert_eq!(found(&mut all, "a"), Some("found-0".to_owned()));
        assert_eq!(all.read.len(), 1, "no more are read than necessary");
        assert_eq!(found(&mut all, "b가"), None);
        let names: Vec<_> = all
            .read
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
        for text in ["가", "a\u{320}나"] {
            assert_eq!(found(&mut all, text), Some("found-2".to_owned()));
        }
        assert_eq!(
            found(&mut all, "a"),
            Some("found-0".to_owned()),
            "the first"
        );
        let (_, file, index) = all.with_letters("가").unwrap();
        assert_eq!(
            (file.to_vec(), index),
            (fs::read(own.join("fonts/letters.ttf")).unwrap(), 0)
        );
        assert_eq!(found(&mut Fonts::below(Vec::new()), "가"), None);
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
            found(&mut Fonts::below(vec![place("")]), "가");
        }
        fs::write(place("damaged.ttf"), [0xff; 4096]).unwrap();
        fs::write(place("LastResort.ttf"), &own).unwrap();
        assert_eq!(found(&mut Fonts::below(vec![place("")]), "가"), None);
        // The offsets of its tables are those of the file.
        let mut second = own.clone();
        for entry in second[12..12 + 16 * usize::from(own[5])].chunks_mut(16) {
            let offset = u32::from_be_bytes(entry[8..12].try_into().unwrap()) + 16;
            entry[8..12].copy_from_slice(&offset.to_be_bytes());
        }
        let head: [&[u8]; 4] = [b"ttcf", &[0, 1, 0, 0], &[0, 0, 0, 1], &[0, 0, 0, 16]];
        fs::write(place("own.TTC"), [&head.concat()[..], &second].concat()).unwrap();
        assert!(found(&mut Fonts::below(vec![place("")]), "가").is_some());
    }
}
