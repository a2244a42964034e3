//! A figure with its live page in one file: a built page, the file that it opens, and the figure for where no page runs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::trace::{self, AttentionOptions};
use super::{Error, RunFolder, file};

/// Where the page names its other files; they stand in their place.
const FILES: [&str; 2] = ["<!-- files -->", "<!-- end of files -->"];
/// Where the figure stands in the page.
const FIGURE: &str = "<!-- figure -->";
/// The program that a page is of, before its version.
const GENERATOR: &str = "<meta name=\"generator\" content=\"Tapescope ";
/// The WebAssembly of a page, which is packed, and its script.
const PROGRAM: &str = "tapescope.packed";
const SCRIPT: &str = "tapescope.js";
/// The largest file of a page, and the largest file that it opens.
const LIMIT: u64 = 1 << 30;

/// A page that `web/build` made.
#[derive(Debug)]
pub struct BuiltPage {
    /// The document before its files, between these and the figure, and after it.
    document: [String; 3],
    /// Every file by its name: gzip in base64.
    files: BTreeMap<String, String>,
}

/// The file that a page opens.
#[derive(Debug)]
pub struct Opened {
    /// Name and contents.
    pub file: (String, Vec<u8>),
    /// True for the weights of an included machine, which the link names.
    pub is_included: bool,
}

impl BuiltPage {
    /// Reads the page in this folder.
    ///
    /// # Errors
    /// The file that is missing, or what it is instead: no page, or one of another version.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            let unread = |error: io::Error| format!("{name}: {error}; build a page with web/build");
            std::fs::read(folder.join(name)).map_err(unread)
        };
        let document = String::from_utf8_lossy(&read("index.html")?).into_owned();
        let strange = || "is not a page that web/build made".to_owned();
        let [begin, end] = FILES;
        let (before, rest) = document.split_once(begin).ok_or_else(strange)?;
        let (_, rest) = rest.split_once(end).ok_or_else(strange)?;
        let (between, after) = rest.split_once(FIGURE).ok_or_else(strange)?;
        let version = before.split_once(GENERATOR).ok_or_else(strange)?.1;
        let version = version.split('"').next().unwrap_or_default();
        let own = env!("CARGO_PKG_VERSION");
        if version != own {
            return Err(format!(
                "is a page of Tapescope {version}, and this program is {own}; build the page again with web/build"
            ));
        }
        let script = read(SCRIPT)?;
        let words = String::from_utf8_lossy(&script);
        let words = words.split(['"', '\'']);
        let snippets: BTreeSet<_> = words
            .filter_map(|word| word.strip_prefix("./"))
            .filter(|word| word.starts_with("snippets/"))
            .collect();
        let mut files = BTreeMap::from([
            (SCRIPT.to_owned(), packed(&script)),
            (PROGRAM.to_owned(), STANDARD.encode(read(PROGRAM)?)),
        ]);
        for name in snippets {
            files.insert(name.to_owned(), packed(&read(name)?));
        }
        Ok(Self {
            document: [before, between, after].map(str::to_owned),
            files,
        })
    }

    /// The page as one file, which opens a link, the part after `#`, with a figure as HTML until it runs.
    pub fn with(mut self, link: &str, opened: Opened, figure: &[u8]) -> Vec<u8> {
        let (name, bytes) = opened.file;
        self.files.insert(name.clone(), packed(&bytes));
        let trace = (!opened.is_included).then_some(name);
        let contents = json!({"link": link, "trace": trace, "files": self.files});
        let contents = contents.to_string().replace('<', "\\u003c");
        let figure = String::from_utf8_lossy(figure);
        let figure = figure.replace('&', "&amp;").replace('"', "&quot;");
        let [before, between, after] = self.document;
        let page = format!(
            "{before}<script id=\"files\" type=\"application/json\">{contents}</script>{between}\
             <iframe id=\"still\" title=\"Figure\" srcdoc=\"{figure}\"></iframe>{after}"
        );
        page.into_bytes()
    }
}

/// The name and the bytes of a trace, or of attention of another program as a trace with its tokens and links.
///
/// # Errors
/// It cannot be read.
pub fn trace(path: &Path, options: &AttentionOptions) -> Result<(String, Vec<u8>), Error> {
    let (name, bytes) = (
        RunFolder::name_of(path),
        file::read(path, LIMIT, |_| Ok(()))?,
    );
    if !file::is_attention(&bytes) {
        return Ok((name, bytes));
    }
    let imported = trace::attention::from_bytes(bytes, options, &file::label(path))?;
    let source = trace::Source {
        config: &imported.config,
        sha256: None,
        full_memory: true,
        gradient: None,
    };
    let mut written = Vec::new();
    let wrote = trace::write_npz(&mut written, &imported.recording, &source);
    wrote.map_err(Error::unreadable(path))?;
    Ok((format!("{name}.npz"), written))
}

/// Bytes as gzip in base64.
fn packed(bytes: &[u8]) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to a vector cannot fail.
    let _ = gzip.write_all(bytes);
    STANDARD.encode(gzip.finish().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::trace::Words;

    #[test]
    fn attention_is_opened_with_its_tokens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.txt");
        std::fs::write(&path, "1 0\n.5 .5\n").unwrap();
        let options = AttentionOptions {
            tokens: Some(Words::Given(vec!["the".to_owned(), "cat".to_owned()])),
            ..AttentionOptions::default()
        };
        let (name, bytes) = trace(&path, &options).unwrap();
        assert_eq!(name, "weights.txt.npz");
        let again = trace::from_bytes(bytes, "page").unwrap().recording;
        let first = trace::read_with(&path, &options).unwrap().recording;
        let weights =
            |of: &crate::train::Recording| of.trace.heads[0].weighting.as_slice().to_vec();
        assert_eq!(weights(&again), weights(&first));
        assert_eq!(again.episode.input, first.episode.input);
        assert_eq!(again.task, first.task);
    }
}
