//! The chosen parts of a frame inside another page.

use std::fmt::{self, Display, Formatter};

use super::Open;
use crate::figure::{self, Figure, Layout, Picture};

/// The player below the pictures.
const PLAYER: &str = "player";
/// What each head does, in words.
const SENTENCE: &str = "sentence";

/// Parts of a frame by name: pictures, one below the other, the player, and the sentence of each head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts(Vec<&'static str>);

impl Parts {
    /// Parses names separated by commas, as in `memory,weightings,player`.
    ///
    /// # Errors
    /// A sentence that names the part that is not known and those that are; or no picture is named.
    pub fn parse(text: &str) -> Result<Self, String> {
        let pictures = Picture::NAMES.map(|(name, _)| name);
        let mut parts = Vec::new();
        for name in text.split(',').map(str::trim) {
            let mut known = pictures.into_iter().chain([PLAYER, SENTENCE]);
            let part = known.find(|known| *known == name);
            let part = part.ok_or_else(|| not_among(name, &pictures))?;
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        if !parts.iter().any(|part| pictures.contains(part)) {
            return Err(format!(
                "parts={text}; name at least one picture: {}.",
                pictures.join(", ")
            ));
        }
        Ok(Self(parts))
    }

    /// The pictures, in the order in which they were named.
    pub fn pictures(&self) -> Vec<Picture> {
        let named = |part| Picture::NAMES.into_iter().find(|(name, _)| name == part);
        let pictures = self.0.iter().filter_map(named);
        pictures.map(|(_, picture)| picture).collect()
    }

    /// True if the player is among them.
    pub fn has_player(&self) -> bool {
        self.0.contains(&PLAYER)
    }

    /// True if the sentences are among them.
    pub fn has_sentences(&self) -> bool {
        self.0.contains(&SENTENCE)
    }

    /// Checks that this episode has the pictures.
    ///
    /// # Errors
    /// A sentence that names the missing one, and the parts that there are.
    pub fn check(&self, open: &Open) -> Result<(), String> {
        let options = figure::Options::new(Layout::Pictures(self.pictures()));
        let figure = Figure::new(&open.shown.recording, options);
        let there = figure.with_spread(open.spread.as_deref()).pictures();
        let is_there = |part: &&str| there.contains(part) || [PLAYER, SENTENCE].contains(part);
        let mut parts = self.0.iter();
        let missing = parts.find(|part| !is_there(part));
        missing.map_or(Ok(()), |name| Err(not_among(name, &there)))
    }
}

/// Names separated by commas.
impl Display for Parts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

/// A sentence about a part that there is not.
fn not_among(name: &str, pictures: &[&str]) -> String {
    let pictures = pictures.join(", ");
    format!("parts={name}; the parts are {pictures}, {PLAYER} and {SENTENCE}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_names_of_pictures() {
        let parts = Parts::parse("memory, weightings,player,memory").unwrap();
        assert_eq!(parts.to_string(), "memory,weightings,player");
        assert_eq!(parts.pictures(), [Picture::Memory, Picture::Weightings]);
        for (text, words) in [
            ("memory,notes", "parts=notes; the parts are input, target,"),
            ("", "parts=; the parts are "),
            ("player", "parts=player; name at least one picture: input,"),
        ] {
            let sentence = Parts::parse(text).unwrap_err();
            assert!(sentence.starts_with(words), "{sentence}");
        }
    }
}
