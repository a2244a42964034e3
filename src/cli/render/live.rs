//! A figure with its live page in one file: the link that it opens, and the machine or trace.

use std::path::Path;

use anyhow::anyhow;

use super::Render;
use crate::figure::{Figure, Layout, Options, Picture};
use crate::io::live_page::{self, BuiltPage, Opened};
use crate::io::{self, RunFolder, label, weights};
use crate::train::Recording;

impl Render {
    /// Returns the page of this folder with the episode and its figure.
    pub(super) fn live_page(
        &self,
        folder: &Path,
        recording: &Recording,
        figure: &[u8],
    ) -> anyhow::Result<Vec<u8>> {
        let link = self.place(recording)?;
        let page = BuiltPage::read(folder);
        let page = page.map_err(|problem| anyhow!("--live {}: {problem}", label(folder)))?;
        let opened = Opened {
            file: self.opened()?,
            is_included: self.is_included(),
        };
        Ok(page.with(&link, opened, figure))
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
                return Ok(live_page::trace(source, &self.attention.options())?);
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

/// A value as in the query of an address.
fn encoded(value: &str) -> String {
    let bytes = value.bytes().map(|byte| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'-' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    bytes.collect()
}
