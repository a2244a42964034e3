//! `tapescope render --frames`: every frame of an episode as a file, for a film.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use rayon::prelude::*;

use super::{Bar, Render, STEP};
use crate::figure::{Drawing, Format, Pages};
use crate::io::{label, picture, shell};

/// The number of frames drawn at a time.
const TOGETHER: usize = 16;

impl Render {
    /// Writes the frames into a new folder, with a list of how long each is shown.
    pub(super) fn film(&self, folder: &Path, out: &mut impl Write) -> anyhow::Result<()> {
        self.check(Format::Png)?;
        let drawn = self.recording(&self.source)?;
        let options = self.options(Format::Gif, &drawn.recording, drawn.order)?;
        let figure = self.figure(&drawn, options)?;
        let scale = self.scale(Format::Png);
        let (Drawing { title, .. }, scale) = self.drawing(&figure, Format::Gif, scale)?;
        let times = figure.frame_times(self.walk());
        self.check_duration(&times)?;
        picture::create_folder(folder)?;
        let (mut bar, mut list) = (Bar::new(times.len()), "ffconcat version 1.0\n".to_owned());
        let usual = self.delay.unwrap_or(STEP);
        let name = |index: usize| format!("frame-{:05}.png", index + 1);
        for (start, part) in (0..).step_by(TOGETHER).zip(times.chunks(TOGETHER)) {
            let png = |(index, at)| (index, figure.draw_at(at).to_png(scale));
            let frames = part.par_iter().copied().enumerate().map(png);
            let mut frames: Vec<_> = frames.collect();
            frames.sort_by_key(|(index, _)| *index);
            for ((index, png), at) in frames.into_iter().zip(part) {
                let name = name(start + index);
                picture::write(&folder.join(&name), &png)?;
                let seconds = f32::from(at.lasts.unwrap_or(usual)) / 100.0;
                let _ = writeln!(list, "file {name}\nduration {seconds}");
            }
            bar.set(start + part.len(), times.len());
        }
        bar.shown.finish_and_clear();
        // ffmpeg shows the last one for its duration only where it is listed once more.
        let _ = writeln!(list, "file {}", name(times.len().saturating_sub(1)));
        let list_path = folder.join("frames.ffconcat");
        picture::write(&list_path, list.as_bytes())?;
        writeln!(out, "{}: {} frames, {title}", label(folder), times.len())?;
        let mut film = folder.as_os_str().to_owned();
        film.push(".mp4");
        let [list, film] = [list_path.as_os_str(), &film].map(shell::quoted);
        let filter = "fps=25,crop=trunc(iw/2)*2:trunc(ih/2)*2,format=yuv420p";
        writeln!(out, "ffmpeg -f concat -i {list} -vf '{filter}' {film}")?;
        Ok(())
    }
}
