//! Files: what opening, choosing and saving them means for the window; what is copied.

use crate::viewer::state::episode::Open;
use std::path::{Path, PathBuf};

use crate::figure::charts::Charts;
use crate::figure::{self, Format, Layout, Orientation, RowsShown};
use crate::platform::{self, HAS_FILES};
use crate::viewer::command::{Command, Compare, File, Learn, Subject};
use crate::viewer::files::{Aim, file_name};
use crate::viewer::inspect::{self, Form};
use crate::viewer::link::Link;
use crate::viewer::state::State;
use crate::viewer::state::arrangement::Arrangement;
use crate::viewer::state::dialog::Dialog;
use crate::viewer::state::learning::Learning;
use crate::viewer::state::messages::Kind;
use crate::viewer::state::work::{Destination, Effect, Job, Page, Seen};
use crate::viewer::story;

/// Steps of an animation where no part is marked.
const FILMED: usize = 8;
/// Width and height of an animation, as pictures are sent.
const SENT: (f32, f32) = (1200.0, 630.0);

impl State {
    /// Commands about files.
    pub(super) fn file(&mut self, file: File) {
        match file {
            File::Open(path) => self.effects.push(Effect::Start(Job::Open(path))),
            File::GiveUp => self.effects.push(Effect::GiveUp),
            File::Save(path) => self.save(path, false),
            File::Replace(path) => self.save(path, true),
            File::Film(path, replaces) => self.film(path, replaces),
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
            File::CopyLink => self.copy_link(),
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
        if aim == Aim::Motion && !matches!(Format::of(&path), Some(Format::Gif | Format::Png)) {
            let name = file_name(&path);
            let text = format!("{name}: the name of an animation ends in .gif or .png.");
            return self.toasts.add(Kind::Problem, text);
        }
        self.dialog = None;
        self.act(match aim {
            Aim::Motion => Command::File(File::Film(path, replaces)),
            Aim::Save | Aim::Figure(_) if replaces => Command::File(File::Replace(path)),
            Aim::Save | Aim::Figure(_) => Command::File(File::Save(path)),
            Aim::Compare => Command::Compare(Compare::With(path)),
            Aim::Run => Command::Learn(Learn::Save(path, replaces)),
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

    fn copy_link(&mut self) {
        let Some(link) = Link::of(self) else {
            let text = "Nothing is copied: others have only the machines that come with Tapescope, and the traces beside its page.";
            return self.toasts.add(Kind::Problem, text);
        };
        let (said, text) = match platform::address() {
            Some(address) => ("The link to this step is copied.", link.at(&address)),
            None => (
                "A command is copied: in a terminal it shows this step again.",
                link.command(),
            ),
        };
        self.effects.push(Effect::Copy(text));
        self.toasts.add(Kind::Done, said);
    }

    /// There is a file where one was to be written: the person says what happens to it.
    pub(super) fn ask_to_replace(&mut self, to: &Destination) {
        if self.dialog.is_some() {
            return self.say_left_alone(to);
        }
        let text = to.path.display().to_string();
        self.dialog = Some(Dialog::doubting(Subject::File(to.aim), text));
    }

    pub(super) fn say_left_alone(&mut self, to: &Destination) {
        let path = to.path.display();
        let text = format!("{path} is there already; it was left alone.");
        self.toasts.add(Kind::Problem, text);
    }

    fn save(&mut self, path: PathBuf, replaces: bool) {
        let Some(open) = &self.session.open else {
            return;
        };
        let shown = open.shown.clone();
        let seen = Seen {
            spread: open.spread.clone(),
            mattered: (open.mattered.clone()).filter(|_| self.arrangement().has_layers()),
        };
        let format = Format::of(&path);
        let aim = format.map_or(Aim::Save, Aim::Figure);
        let path = Destination {
            path,
            replaces,
            aim,
        };
        self.effects.push(Effect::Start(match format {
            None => Job::Save(path, shown),
            Some(format) => {
                let options = self.figure();
                let page = match (self.charts(), self.two(&options)) {
                    (Some(charts), _) => Page::Charts(Box::new(charts)),
                    (None, Some(two)) => Page::Two(Box::new(two)),
                    (None, None) => Page::One(shown, seen, Box::new(options)),
                };
                Job::Draw(path, format, page)
            }
        }));
    }

    /// The curves of what learns, while they are on screen.
    fn charts(&self) -> Option<Charts> {
        let here = self.arrangement() == Arrangement::Train;
        let learning = self.learning.as_ref().filter(|_| here)?;
        let run = learning.run();
        Some(Charts {
            title: format!("{}, {}", run.experiment.title, run.label),
            charts: story::learning::charts(learning),
            dark: self.frame.dark,
        })
    }

    /// Writes the close-up in motion: the marked part, or a few steps about the present one.
    fn film(&mut self, path: PathBuf, replaces: bool) {
        let (Some(open), Some(format)) = (&self.session.open, Format::of(&path)) else {
            return;
        };
        let to = Destination {
            path,
            replaces,
            aim: Aim::Motion,
        };
        let page = Page::One(
            open.shown.clone(),
            Seen::default(),
            Box::new(self.moving_figure()),
        );
        self.effects
            .push(Effect::Start(Job::Draw(to, format, page)));
    }

    /// How an animation looks: of the heads on screen, or of the one with something to say.
    pub fn moving_figure(&self) -> figure::Options {
        let steps = self.player.steps();
        let here = self.player.step().saturating_sub(FILMED / 3);
        let first = here.min(steps.saturating_sub(FILMED));
        let about = (first, (first + FILMED).min(steps).saturating_sub(1));
        let (first, last) = self.player.range().unwrap_or(about);
        let near = self.arrangement() == Arrangement::CloseUp;
        let on_screen = self.figure();
        figure::Options {
            layout: Layout::CloseUp,
            size: Some(SENT),
            steps: Some(first..last + 1),
            heads: if near && self.sight.chosen {
                on_screen.heads
            } else {
                Vec::new()
            },
            rows: RowsShown::All,
            orientation: Orientation::Screen,
            step: None,
            stage: None,
            through: 1.0,
            ..on_screen
        }
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
            Aim::Run => {
                let folder = self.learning.as_ref().map(Learning::folder);
                let folder = folder.unwrap_or_default();
                if HAS_FILES {
                    folder
                } else {
                    format!("{}.safetensors", file_name(Path::new(&folder)))
                }
            }
            Aim::Figure(Format::Svg) => name().replace(".ntmtrace.json", ".svg"),
            Aim::Figure(_) => name().replace(".ntmtrace.json", ".png"),
            Aim::Motion => name().replace(".ntmtrace.json", ".gif"),
        }
    }

    pub(super) fn browse(&mut self, aim: Aim) {
        let typed = self.dialog.as_ref().map(|dialog| dialog.text.clone());
        let suggestion = typed.unwrap_or_else(|| self.suggestion(aim));
        self.effects.push(Effect::Choose(aim, suggestion));
    }
}
