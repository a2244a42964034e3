//! Files: what opening, choosing and saving them means for the window; what is copied.

use crate::viewer::state::episode::Open;
use std::path::{Path, PathBuf};

use crate::figure::{self, Format};
use crate::viewer::command::{Command, Compare, File, Subject};
use crate::viewer::files::{Aim, file_name};
use crate::viewer::inspect::{self, Form};
use crate::viewer::state::State;
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::state::dialog::Dialog;
use crate::viewer::state::messages::Kind;
use crate::viewer::state::work::{Destination, Effect, Job, Page};

impl State {
    /// Commands about files.
    pub(super) fn file(&mut self, file: File) {
        match file {
            File::Open(path) => self.effects.push(Effect::Start(Job::Open(path))),
            File::GiveUp => self.effects.push(Effect::GiveUp),
            File::Save(path) => self.save(path, false),
            File::Replace(path) => self.save(path, true),
            File::Browse(aim) => self.browse(aim),
            File::Chosen(aim, path) => {
                let warned = self.dialog.as_ref().is_some_and(|dialog| dialog.doubted);
                self.chosen(aim, path, warned);
            }
            File::Copy { text, said } => {
                self.effects.push(Effect::Copy(text));
                if let Some(said) = said {
                    self.toasts.add(Kind::Done, said);
                }
            }
            File::CopyTable(form) => self.copy(form),
        }
    }

    /// A file was chosen, or its path typed: what that is for is done. `replaces` says that the person knows what
    /// is there.
    pub(super) fn chosen(&mut self, aim: Aim, path: PathBuf, replaces: bool) {
        if matches!(aim, Aim::Figure(_)) && Format::of(&path).is_none() {
            let name = file_name(&path);
            let text = format!("{name}: the name of a figure ends in .svg, .png or .gif.");
            return self.toasts.add(Kind::Problem, text);
        }
        self.dialog = None;
        self.act(match aim {
            Aim::Save | Aim::Figure(_) if replaces => Command::File(File::Replace(path)),
            Aim::Save | Aim::Figure(_) => Command::File(File::Save(path)),
            Aim::Compare => Command::Compare(Compare::With(path)),
            Aim::Open => Command::File(File::Open(path)),
        });
    }

    fn copy(&mut self, form: Form) {
        let head = self.trace().and_then(|t| t.heads.get(self.sight.focus));
        let table = match (self.card(), head) {
            (Some(card), _) => card.table,
            (None, Some(head)) => inspect::rows_table(head, self.player.step()),
            (None, None) => return,
        };
        let (rows, columns, name) = (table.rows.len(), table.columns.len(), form.name());
        let text = format!("{rows} rows, {columns} columns are copied as {name}.");
        self.effects.push(Effect::Copy(table.text(form)));
        self.toasts.add(Kind::Done, text);
    }

    /// There is a file where one was to be written: the person says what happens to it.
    pub(super) fn ask_to_replace(&mut self, path: &Path) {
        if self.dialog.is_some() {
            let text = format!("{} is there already; it was left alone.", path.display());
            return self.toasts.add(Kind::Problem, text);
        }
        let aim = Format::of(path).map_or(Aim::Save, Aim::Figure);
        let text = path.display().to_string();
        self.dialog = Some(Dialog::doubting(Subject::File(aim), text));
    }

    fn save(&mut self, path: PathBuf, replaces: bool) {
        let Some(open) = &self.session.open else {
            return;
        };
        let shown = open.shown.clone();
        let spread = open.spread.clone();
        let format = Format::of(&path);
        let path = Destination { path, replaces };
        self.effects.push(Effect::Start(match format {
            None => Job::Save(path, shown),
            Some(format) => {
                let options = self.figure();
                let page = match self.two(&options) {
                    Some(two) => Page::Two(Box::new(two)),
                    None => Page::One(shown, spread, Box::new(options)),
                };
                Job::Draw(path, format, page)
            }
        }));
    }

    /// How the figure on screen looks.
    pub fn figure(&self) -> figure::Options {
        let (arrangement, focus) = (self.arrangement(), self.sight.focus);
        let usual = arrangement.options(self.frame.dark, self.sight.touched_only, focus);
        // All, the one looked at first; from near only the one pinned beside it.
        let all = arrangement == Arrangement::Debug;
        let near = arrangement == Arrangement::CloseUp;
        let beside = |head: usize| all || (near && self.sight.pinned == Some(head));
        let others = (0..self.heads()).filter(|&head| head != focus && beside(head));
        let own = usual.heads.iter().copied();
        let own = own.filter(|&head| head < self.heads());
        figure::Options {
            heads: own.chain(others).collect(),
            map: self.settings.look.map,
            log_scale: self.sight.log_scale,
            step: (all || near).then(|| self.player.step()),
            stage: (!self.player.whole_steps()).then(|| self.player.stage()),
            through: self.player.through(),
            writes_first: self.session.open.as_ref().is_some_and(Open::writes_first),
            ..usual
        }
    }

    /// A name for what is to be saved.
    pub(super) fn suggestion(&self, aim: Aim) -> String {
        let name = || self.session.file_name();
        match aim {
            Aim::Open | Aim::Compare => String::new(),
            Aim::Save => name(),
            Aim::Figure(Format::Svg) => name().replace(".ntmtrace.json", ".svg"),
            Aim::Figure(_) => name().replace(".ntmtrace.json", ".png"),
        }
    }

    fn browse(&mut self, aim: Aim) {
        let typed = self.dialog.as_ref().map(|dialog| dialog.text.clone());
        let suggestion = typed.unwrap_or_else(|| self.suggestion(aim));
        self.effects.push(Effect::Choose(aim, suggestion));
    }
}
