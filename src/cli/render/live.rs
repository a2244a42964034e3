//! A figure with its live page in one file: a built page, the machine or trace, and the figure for where no page runs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use anyhow::{anyhow, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::Render;
use crate::figure::{Figure, Layout, Options, Picture};
use crate::io::{self, RunFolder, label, weights};
use crate::train::Recording;

/// Where the page names its other files; they stand in their place.
const FILES: [&str; 2] = ["<!-- files -->", "<!-- end of files -->"];
/// Where the figure stands in the page.
const FIGURE: &str = "<!-- figure -->";
/// The program that a page is of, before its version.
const GENERATOR: &str = "<meta name=\"generator\" content=\"Tapescope ";
/// The WebAssembly of a page, which is packed, and its script.
const PROGRAM: &str = "tapescope.packed";
const SCRIPT: &str = "tapescope.js";

/// The contents of a page beside its document.
#[derive(Serialize)]
struct Contents {
    /// The part of the link after `#`.
    link: String,
    /// The file that is opened, if the link names no included machine.
    trace: Option<String>,
    /// Every file by its name: gzip in base64.
    files: BTreeMap<String, String>,
}

impl Render {
    /// Returns the page of this folder with the episode and its figure.
    pub(super) fn live_page(
        &self,
        folder: &Path,
        recording: &Recording,
        figure: &[u8],
    ) -> anyhow::Result<Vec<u8>> {
        let link = self.place(recording)?;
        let wrong = |what: String| anyhow!("--live {}: {what}", label(folder));
        let read = |name: &str| {
            let unread = |error| wrong(format!("{name}: {error}; build a page with web/build"));
            std::fs::read(folder.join(name)).map_err(unread)
        };
        let document = String::from_utf8_lossy(&read("index.html")?).into_owned();
        let strange = || wrong("is not a page that web/build made".to_owned());
        let [begin, end] = FILES;
        let (before, rest) = document.split_once(begin).ok_or_else(strange)?;
        let (_, rest) = rest.split_once(end).ok_or_else(strange)?;
        let (between, after) = rest.split_once(FIGURE).ok_or_else(strange)?;
        let version = before.split_once(GENERATOR).ok_or_else(strange)?.1;
        let version = version.split('"').next().unwrap_or_default();
        let own = env!("CARGO_PKG_VERSION");
        ensure!(
            version == own,
            wrong(format!(
                "is a page of Tapescope {version}, and this program is {own}; build the page again with web/build"
            ))
        );
        let script = read(SCRIPT)?;
        let words = String::from_utf8_lossy(&script);
        let words = words.split(['"', '\'']);
        let snippets: BTreeSet<_> = words
            .filter_map(|word| word.strip_prefix("./"))
            .filter(|word| word.starts_with("snippets/"))
            .collect();
        let mut files = BTreeMap::from([
            (SCRIPT.to_owned(), packed(&script)?),
            (PROGRAM.to_owned(), STANDARD.encode(read(PROGRAM)?)),
        ]);
        for name in snippets {
            files.insert(name.to_owned(), packed(&read(name)?)?);
        }
        let (name, bytes) = self.opened()?;
        files.insert(name.clone(), packed(&bytes)?);
        let contents = Contents {
            link,
            trace: (!self.is_included()).then_some(name),
            files,
        };
        let contents = serde_json::to_string(&contents)?.replace('<', "\\u003c");
        let figure = String::from_utf8_lossy(figure);
        let figure = figure.replace('&', "&amp;").replace('"', "&quot;");
        let page = format!(
            "{before}<script id=\"files\" type=\"application/json\">{contents}</script>{between}\
             <iframe id=\"still\" title=\"Figure\" srcdoc=\"{figure}\"></iframe>{after}"
        );
        Ok(page.into_bytes())
    }

    /// The name and the bytes of the file that the page opens: the weights of a machine, or a trace.
    fn opened(&self) -> anyhow::Result<(String, Vec<u8>)> {
        let source = Path::new(&self.source);
        if self.is_included() {
            let trained = weights::included(&self.source).transpose()?;
            let bytes = trained.as_ref().map(weights::to_bytes);
            return Ok((weights::address(&self.source), bytes.unwrap_or_default()));
        }
        let Some(file) = &self.episode.weights else {
            if io::is_trace(source) {
                let bytes =
                    std::fs::read(source).map_err(|error| anyhow!("{}: {error}", label(source)))?;
                return Ok((RunFolder::name_of(source), bytes));
            }
            return self.weights(&RunFolder::weights_at(source)?);
        };
        self.weights(file)
    }

    fn weights(&self, file: &Path) -> anyhow::Result<(String, Vec<u8>)> {
        let name = RunFolder::name_of(file);
        let name = name.strip_suffix(".safetensors").unwrap_or(&name);
        let bytes = weights::to_bytes(&self.episode.trained(&self.source)?);
        Ok((format!("{name}.safetensors"), bytes))
    }

    /// The link to the episode, its step, head and pictures.
    fn place(&self, of: &Recording) -> anyhow::Result<String> {
        let mut parts = Vec::new();
        if self.is_included() {
            parts.push(format!("machine={}", self.source));
        }
        if !io::is_trace(Path::new(&self.source)) || self.episode.weights.is_some() {
            let numbers = self.numbers(of).ok_or_else(|| {
                anyhow!("--live: opens an episode by its seed; omit --input and --episode")
            })?;
            parts.push(numbers.trim_start_matches('&').to_owned());
            let changes = self.episode.intervene.iter();
            parts.extend(changes.map(|change| format!("intervene={}", encoded(change))));
        }
        parts.push(format!("step={}", self.step.unwrap_or(0)));
        let head = self.head.first();
        parts.extend(head.map(|head| format!("head={}", encoded(head))));
        parts.push(match self.layout.as_ref().unwrap_or(&Layout::Debug) {
            Layout::Paper => "layout=paper".to_owned(),
            Layout::Debug => "layout=debug".to_owned(),
            Layout::CloseUp => "layout=close-up".to_owned(),
            Layout::Pictures(pictures) => {
                let there = Figure::new(of, Options::new(Layout::Pictures(Vec::new()))).pictures();
                let named = |picture: &Picture| Picture::NAMES.iter().find(|own| own.1 == *picture);
                let names = pictures.iter().filter_map(named).map(|(name, _)| *name);
                let names: Vec<_> = names.filter(|name| there.contains(name)).collect();
                format!("embed=1&parts={},player", names.join(","))
            }
        });
        Ok(parts.join("&"))
    }
}

/// Bytes as gzip in base64.
fn packed(bytes: &[u8]) -> anyhow::Result<String> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes)?;
    Ok(STANDARD.encode(gzip.finish()?))
}

/// A value as in the query of an address.
fn encoded(value: &str) -> String {
    let bytes = value.bytes().map(|byte| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'-' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    bytes.collect()
}
