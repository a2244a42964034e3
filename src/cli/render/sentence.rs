//! `tapescope render --text`: what each word of a text attended to.

use std::io::Write;

use anyhow::{anyhow, bail, ensure};

use super::super::machine;
use super::Render;
use crate::figure::Format;
use crate::figure::page::sentence::{MOST_WORDS, Sentence};
use crate::io::{label, picture};
use crate::keys::Choice as _;
use crate::task::Task;
use crate::train::Recording;

impl Render {
    pub(super) fn sentence(
        &self,
        text: &str,
        format: Format,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let source = &self.source;
        ensure!(
            format != Format::Gif,
            "--text: draws one page; use a file name that ends in .svg or .png"
        );
        let trained = self.episode.trained_for(source, true)?;
        let task = trained.now().task;
        let Task::Text(of) = &task else {
            bail!(
                "--text: the task of {source} is `{}`; expected a machine that was trained on the task `text`",
                task.name()
            );
        };
        let count = of.tokens.of(text).count();
        ensure!(
            (1..=MOST_WORDS).contains(&count),
            "--text: has {count} {}; expected 1 to {MOST_WORDS}",
            of.tokens.word()
        );
        let config = &trained.machine.config;
        ensure!(
            config.heads() > 0 && config.has_row_per_step() && !config.has_source(),
            "--text: the heads of {source} do not attend to words; expected a machine with a memory row for each word, \
             such as that of `multi_head_layers.machine` or `lstmn.machine`"
        );
        machine::check_steps(config, [count + 1; 2], "--text")?;
        let episode = of
            .episode_of(text)
            .map_err(|error| anyhow!("--text: {error}"))?;
        let recording = Recording::of(&trained.machine, &task, episode, None);
        let options = self.options(format, &recording, config.order())?;
        let figure = Sentence::new(&recording, of, text, options);
        let (bytes, title) = self.written(&figure, format)?;
        picture::write(self.out(), &bytes)?;
        Ok(writeln!(out, "{}: {title}", label(self.out()))?)
    }
}
