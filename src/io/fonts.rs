//! The fonts of this computer, for letters that the fonts of the program lack. They are looked through once, when the
//! first such letter is drawn.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};

use resvg::usvg::fontdb::{Database, FaceInfo, ID, Source, Style};
use skrifa::{FontRef, MetadataProvider};

/// The environment variable that names the folders of fonts, separated as in `PATH`, in place of those of the system.
/// Empty: none.
pub const FOLDERS: &str = "TAPESCOPE_FONTS";

/// One font of a file.
struct Font {
    id: ID,
    /// In ascending order.
    letters: Vec<u32>,
    file: OnceLock<Arc<Vec<u8>>>,
}

/// The fonts of this computer, in the order in which they are used.
struct Fonts {
    database: Database,
    fonts: Vec<Font>,
}

/// Returns a font of this computer with all letters of a text: a name that no other has, its file, and its place in that.
pub fn with_letters(text: &str) -> Option<(String, Arc<Vec<u8>>, u32)> {
    static FONTS: LazyLock<Fonts> =
        LazyLock::new(|| Fonts::installed(env::var_os(FOLDERS).as_deref()));
    FONTS.first_with(text)
}

impl Fonts {
    /// The fonts of the system, or those below the named folders.
    fn installed(folders: Option<&OsStr>) -> Self {
        let mut database = Database::new();
        match folders {
            None => database.load_system_fonts(),
            Some(folders) => env::split_paths(folders)
                .filter(|folder| folder != Path::new(""))
                .for_each(|folder| database.load_fonts_dir(folder)),
        }
        // One font of macOS has a box for many letters.
        let mut faces: Vec<_> = database.faces().collect();
        faces.retain(|face| face.post_script_name != "LastResort");
        faces.sort_by_cached_key(|face| order(face));
        let fonts = faces.into_iter().map(|face| Font {
            id: face.id,
            letters: database
                .with_face_data(face.id, letters)
                .unwrap_or_default(),
            file: OnceLock::new(),
        });
        let fonts = fonts.collect();
        Self { database, fonts }
    }

    fn first_with(&self, text: &str) -> Option<(String, Arc<Vec<u8>>, u32)> {
        let has = |font: &Font, letter: char| font.letters.binary_search(&(letter as u32)).is_ok();
        let mut fonts = self.fonts.iter();
        let number = fonts.position(|font| text.chars().all(|letter| has(font, letter)))?;
        let font = &self.fonts[number];
        // A font that is there no more draws nothing.
        let read = || {
            self.database
                .with_face_data(font.id, |file, _| file.to_vec())
        };
        let file = font
            .file
            .get_or_init(|| Arc::new(read().unwrap_or_default()));
        let index = self.database.face(font.id)?.index;
        Some((format!("found-{number}"), file.clone(), index))
    }
}

/// Upright fonts of normal weight and width come first, each kind by its file.
fn order(face: &FaceInfo) -> impl Ord + use<> {
    let path = match &face.source {
        Source::File(path) => Some(path.clone()),
        Source::Binary(_) => None,
    };
    let differs = face.weight.0.abs_diff(400);
    (
        face.style != Style::Normal,
        face.monospaced,
        differs,
        path,
        face.index,
    )
}

fn letters(file: &[u8], index: u32) -> Vec<u32> {
    let font = FontRef::from_index(file, index).ok();
    let letters = font.into_iter().flat_map(|font| font.charmap().mappings());
    let letters = letters.filter(|(_, glyph)| glyph.to_u32() != 0);
    let mut letters: Vec<_> = letters.map(|(letter, _)| letter).collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn installed(folders: &[&Path]) -> Fonts {
        Fonts::installed(Some(&env::join_paths(folders).unwrap()))
    }

    fn found(fonts: &Fonts, text: &str) -> Option<String> {
        fonts.first_with(text).map(|(name, _, _)| name)
    }

    #[test]
    fn a_font_is_found_that_has_every_letter() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let own = root.join("tests/cli/letters.in");
        let all = installed(&[&root.join("assets/fonts"), &own]);
        let face = |font: &Font| all.database.face(font.id).unwrap().post_script_name.clone();
        let names: Vec<_> = all.fonts.iter().map(face).collect();
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
        let (_, file, index) = all.first_with("가").unwrap();
        assert_eq!(
            (file.to_vec(), index),
            (fs::read(own.join("fonts/letters.ttf")).unwrap(), 0)
        );
        assert_eq!(found(&installed(&[]), "가"), None);
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
            installed(&[folder.path()]);
        }
        fs::write(place("damaged.ttf"), [0xff; 4096]).unwrap();
        fs::write(place("LastResort.ttf"), &own).unwrap();
        assert_eq!(found(&installed(&[folder.path()]), "가"), None);
        // The offsets of its tables are those of the file.
        let mut second = own.clone();
        for entry in second[12..12 + 16 * usize::from(own[5])].chunks_mut(16) {
            let offset = u32::from_be_bytes(entry[8..12].try_into().unwrap()) + 16;
            entry[8..12].copy_from_slice(&offset.to_be_bytes());
        }
        let head: [&[u8]; 4] = [b"ttcf", &[0, 1, 0, 0], &[0, 0, 0, 1], &[0, 0, 0, 16]];
        fs::write(place("own.TTC"), [&head.concat()[..], &second].concat()).unwrap();
        assert!(found(&installed(&[folder.path()]), "가").is_some());
    }
}
