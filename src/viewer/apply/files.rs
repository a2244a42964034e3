//! Files: opening, choosing and saving them in the window, and copying.

use std::path::{Path, PathBuf};

use crate::figure::chart::page::Charts;
use crate::figure::{self, Format, Layout};
use crate::platform::{self, HAS_FILES};
use crate::viewer::command::{Command, Compare, File, Learn};
use crate::viewer::inspect::{self, Form};
use crate::viewer::link::Link;
use crate::viewer::narration::training_charts;
use crate::viewer::state::{
    Effect, FilePurpose, Kind, LiveTraining, Open, Parts, State, WindowLayout, file_name,
};

/// Steps of an animation where no part is marked.
const FILMED: usize = 8;
/// Width and height of an animation, as pictures are sent.
const SENT: (f32, f32) = (1200.0, 630.0);

fn is_csv(path: &Path) -> bool {
    let end = path.extension();
    end.is_some_and(|end| end.eq_ignore_ascii_case("csv"))
}

impl State {
    /// Commands about files.
    pub(super) fn file(&mut self, file: File) {
        match file {
            File::Open(path) => self.read(path, Self::open),
            File::GiveUp => self.effects.push(Effect::GiveUp),
            File::Save(path, replaces) => self.save(path, replaces),
            File::Film(path, replaces) => self.film(path, replaces),
            File::Export(path, replaces) => self.export(path, replaces),
            File::Browse(purpose) => self.browse(purpose),
            File::Chosen(purpose, path) => self.chosen(purpose, path, false),
            File::Replace(purpose, path) => self.chosen(purpose, path, true),
            File::Copy { text, said } => self.effects.push(Effect::Copy(text, said)),
            File::CopyTable(form) => self.copy(form),
            File::CopyLink => self.copy_link(),
        }
    }

    /// Uses a file that was chosen, or whose path was typed, for its purpose. `replaces`: the user agreed to replace an
    /// existing file.
    pub(in crate::viewer) fn chosen(
        &mut self,
        purpose: FilePurpose,
        path: PathBuf,
        replaces: bool,
    ) {
        let format = Format::of(&path);
        let is_unknown = match purpose {
            FilePurpose::Figure(_) => format
                .is_none()
                .then_some(("figure", ".svg, .png, .gif or .html")),
            FilePurpose::Motion if matches!(format, Some(Format::Gif | Format::Png)) => None,
            FilePurpose::Motion => Some(("animation", ".gif or .png")),
            FilePurpose::Report if is_csv(&path) => None,
            FilePurpose::Report if matches!(format, Some(Format::Svg | Format::Png)) => None,
            FilePurpose::Report => Some(("table", ".csv, .svg or .png")),
            FilePurpose::Open | FilePurpose::Compare | FilePurpose::Save | FilePurpose::Run => None,
        };
        if let Some((what, ends)) = is_unknown {
            let name = file_name(&path);
            let text = format!("{name}: unknown {what} format. Use a name ending in {ends}.");
            return self.toasts.add(Kind::Problem, text);
        }
        self.dialog = None;
        self.act(match purpose {
            FilePurpose::Motion => Command::File(File::Film(path, replaces)),
            FilePurpose::Report => Command::File(File::Export(path, replaces)),
            FilePurpose::Save | FilePurpose::Figure(_) => Command::File(File::Save(path, replaces)),
            FilePurpose::Compare => Command::Compare(Compare::With(path)),
            FilePurpose::Run => Command::Learn(Learn::Save(path, replaces)),
            FilePurpose::Open => Command::File(File::Open(path)),
        });
    }

    fn copy(&mut self, form: Form) {
        let head = self.trace().and_then(|t| t.heads.get(self.view.focus));
        let table = match (self.card(), head) {
            (Some(card), _) => card.table,
            (None, Some(head)) => inspect::rows_table(head, self.player.step()),
            (None, None) => return,
        };
        let (rows, columns, name) = (table.rows.len(), table.columns.len(), form.name());
        let said = format!("{rows} rows and {columns} columns copied as {name}.");
        let copy = Effect::Copy(table.text(form), Some(said));
        self.effects.push(copy);
    }

    fn copy_link(&mut self) {
        let Some(link) = Link::of(self) else {
            let text = "Nothing was copied: a link can only show included machines, and traces next to the page.";
            return self.toasts.add(Kind::Problem, text);
        };
        let (said, text) = if let Some(address) = platform::address() {
            ("Link to this step copied.", link.at(&address))
        } else {
            let said = "Command copied: run it in a terminal to show this step.";
            (said, link.command())
        };
        let copy = Effect::Copy(text, Some(said.to_owned()));
        self.effects.push(copy);
    }

    /// Returns the learning curves, while they are on screen.
    pub(super) fn charts(&self) -> Option<Charts> {
        let here = self.layout() == WindowLayout::Train;
        let learning = self.learning.as_ref().filter(|_| here)?;
        let run = learning.run();
        Some(Charts {
            title: format!("{}, {}", run.experiment.title, run.label()),
            charts: training_charts::charts(learning),
            dark: self.frame.dark,
        })
    }

    /// Returns the options of an animation: heads on screen, or the most active one.
    pub fn moving_figure(&self) -> figure::Options {
        let steps = self.player.steps();
        let here = self.player.step().saturating_sub(FILMED / 3);
        let first = here.min(steps.saturating_sub(FILMED));
        let about = (first, (first + FILMED).min(steps).saturating_sub(1));
        let (first, last) = self.player.range().unwrap_or(about);
        let mut on_screen = self.figure();
        if self.layout() != WindowLayout::CloseUp || !self.view.chosen {
            on_screen.heads.clear();
        }
        figure::Options {
            layout: Layout::CloseUp,
            size: Some(SENT),
            steps: Some(first..last + 1),
            all_rows: true,
            upwards: false,
            step: None,
            stage: None,
            through: 1.0,
            ..on_screen
        }
    }

    /// Returns the options of the figure on screen.
    pub fn figure(&self) -> figure::Options {
        let (layout, focus) = (self.layout(), self.view.focus);
        let kind = match layout {
            WindowLayout::CloseUp => Layout::CloseUp,
            WindowLayout::Debug | WindowLayout::Compare => Layout::Debug,
            WindowLayout::Paper | WindowLayout::PaperDown | WindowLayout::Train => Layout::Paper,
            WindowLayout::Parts => {
                Layout::Pictures(self.parts.as_ref().map(Parts::pictures).unwrap_or_default())
            }
        };
        // The selected head first, then the one beside it.
        let has_two = matches!(layout, WindowLayout::Debug | WindowLayout::CloseUp);
        let has_all = layout == WindowLayout::Parts;
        let others = (0..self.heads()).filter(|&head| {
            head != focus && (has_all || has_two && self.view.pinned == Some(head))
        });
        let own = Some(focus).filter(|&head| head < self.heads());
        figure::Options {
            dark: self.frame.dark,
            all_rows: !self.view.touched_only,
            upwards: layout == WindowLayout::Paper,
            heads: own.into_iter().chain(others).collect(),
            all_heads: self.view.all_heads,
            map: self.settings.look.map,
            log_scale: self.view.log_scale,
            step: (has_two || has_all).then(|| self.player.step()),
            stage: (!self.player.whole_steps()).then(|| self.player.stage()),
            through: self.player.through(),
            writes_first: self.session.open.as_ref().is_some_and(Open::writes_first),
            ..figure::Options::new(kind)
        }
    }

    pub(super) fn suggestion(&self, purpose: FilePurpose) -> String {
        let name = |end| self.session.file_name().replace(".ntmtrace.json", end);
        match purpose {
            FilePurpose::Open | FilePurpose::Compare => String::new(),
            FilePurpose::Save => self.session.file_name(),
            FilePurpose::Run => {
                let folder = self.learning.as_ref().map(LiveTraining::folder);
                let folder = folder.unwrap_or_default();
                let plain = || format!("{}.safetensors", file_name(Path::new(&folder)));
                if HAS_FILES { folder } else { plain() }
            }
            FilePurpose::Figure(Format::Svg) => name(".svg"),
            FilePurpose::Figure(Format::Html) => name(".html"),
            FilePurpose::Figure(_) => name(".png"),
            FilePurpose::Motion => name(".gif"),
            FilePurpose::Report => name(".csv"),
        }
    }

    pub(super) fn browse(&mut self, purpose: FilePurpose) {
        let typed = self.dialog.as_ref().map(|dialog| dialog.text.clone());
        let suggestion = typed.unwrap_or_else(|| self.suggestion(purpose));
        self.effects.push(Effect::Choose(purpose, suggestion));
    }
}
