//! Files that are written: traces, figures and tables. A file that is there is left alone until the user agrees to
//! replace it.

use std::path::{Path, PathBuf};

use super::record::CANCELLED;
use crate::figure::chart::page::Charts;
use crate::figure::out::html::LARGEST;
use crate::figure::{self, Figure, Format, Motion, NoFile, Pages, Progress, Walk, to_bytes};
use crate::platform::HAS_FILES;
use crate::viewer::command::Subject;
use crate::viewer::state::{
    ComparedFigure, Context, Destination, Dialog, FilePurpose, Files, Job, Kind, Open,
    ReportFigure, State, file_name,
};

/// Duration of a step in an animation, in hundredths of a second: as at normal speed.
const GIF_DELAY: u16 = 25;

/// The content of a figure.
enum Page {
    /// An episode, with what is shown of it.
    One(Box<Open>, Box<figure::Options>),
    /// Two of them.
    Two(Box<ComparedFigure>),
    /// The course of training.
    Charts(Box<Charts>),
    /// Many episodes.
    Report(Box<ReportFigure>),
}

impl Page {
    /// Renders it, unless cancelled.
    async fn draw(
        &self,
        purpose: FilePurpose,
        format: Format,
        mut progress: impl Progress,
    ) -> Result<Vec<u8>, String> {
        let (one, two);
        let pages: &dyn Pages = match self {
            Self::One(open, options) => {
                one = Figure::new(&open.shown.recording, options.as_ref().clone())
                    .with_initial(open.shown.initial_cells())
                    .with_spread(open.spread.as_deref())
                    .with_layer(open.layer());
                &one
            }
            Self::Two(compared) => {
                two = compared.figure();
                &two
            }
            Self::Charts(charts) => charts.as_ref(),
            Self::Report(report) => report.as_ref(),
        };
        let mut motion = Motion::new(GIF_DELAY);
        // Pixels per unit of a page.
        let mut scale = if format == Format::Gif { 1.0 } else { 2.0 };
        if purpose == FilePurpose::Motion {
            (motion.walk, scale) = (Walk::Motion, 1.0);
        }
        let drawn = to_bytes(pages, format, scale, motion, &mut progress).await;
        // A page is drawn in one go: it may be given up only now.
        match drawn {
            Err(NoFile::TooLarge(frames)) => Err(format!(
                "The figure has {frames} frames, which take more than {} MB. Choose a shorter episode.",
                LARGEST / 1_000_000
            )),
            Ok(bytes) if progress(1, 1).await.is_continue() => Ok(bytes),
            Ok(_) | Err(NoFile::Cancelled) => Err(CANCELLED.to_owned()),
        }
    }
}

/// Creates a job that writes a file, or the run with this number. It leaves a file alone that is there and is not to be
/// replaced.
pub(super) fn writing<T: Send + 'static>(
    verb: &str,
    to: Destination,
    run: Option<u64>,
    write: impl AsyncFnOnce(Context<'_>, PathBuf) -> Result<T, String> + Send + 'static,
    then: impl FnOnce(&mut State, T) + Send + 'static,
) -> Job {
    let words = format!("{verb} {}", file_name(&to.path));
    let work = async move |context: Context<'_>| {
        if !to.replaces && context.files.exists(&to.path) {
            let free = free_path(context.files, to.purpose, &to.path);
            return Ok(Err((to, free)));
        }
        let path = context.files.absolute(to.path);
        write(context, path).await.map(Ok)
    };
    let job = Job::new(words, work, move |state, done| match done {
        Ok(done) => then(state, done),
        Err((to, free)) => state.is_there(run, to, &free),
    });
    job.with(|pending| pending.writes = true)
}

/// Returns this path, or with the first number behind its name under which no file exists.
pub(super) fn free_path(files: &dyn Files, purpose: FilePurpose, path: &Path) -> PathBuf {
    /// The largest number that is tried.
    const MOST: usize = 999;
    let name = file_name(path);
    // A dot in the name of a folder begins no ending.
    let is_folder = HAS_FILES && purpose == FilePurpose::Run;
    let end = name.find('.').filter(|_| !is_folder);
    let (stem, end) = name.split_at(end.unwrap_or(name.len()));
    let numbered = (2..=MOST).map(|number| path.with_file_name(format!("{stem}-{number}{end}")));
    let mut paths = std::iter::once(path.to_owned()).chain(numbered);
    let free = paths.find(|path| !files.exists(path));
    free.unwrap_or_else(|| path.to_owned())
}

impl State {
    pub(super) fn save(&mut self, path: PathBuf, replaces: bool) {
        let Some(mut open) = self.session.open.clone() else {
            return;
        };
        open.gradients.take_if(|_| !self.layout().has_layers());
        let format = Format::of(&path);
        let purpose = format.map_or(FilePurpose::Save, FilePurpose::Figure);
        let to = Destination::new(path, replaces, purpose);
        let Some(format) = format else {
            let save = async move |context: Context<'_>, path: PathBuf| {
                context.files.save_trace(&path, &open.shown)
            };
            return self.start(writing("Writing", to, None, save, Self::confirm).awaited());
        };
        let options = self.figure();
        let page = match (self.charts(), self.comparison_figure(&options)) {
            (Some(charts), _) => Page::Charts(Box::new(charts)),
            (None, Some(two)) => Page::Two(Box::new(two)),
            (None, None) => Page::One(Box::new(open), Box::new(options)),
        };
        self.draw(to, format, page);
    }

    /// Writes the report on many episodes.
    pub(super) fn export(&mut self, path: PathBuf, replaces: bool) {
        let Some(report) = self.report.clone() else {
            return;
        };
        let (format, dark) = (Format::of(&path), self.frame.dark);
        let to = Destination::new(path, replaces, FilePurpose::Report);
        if let Some(format) = format {
            let figure = Box::new(ReportFigure { report, dark });
            return self.draw(to, format, Page::Report(figure));
        }
        let table = report.csv();
        let save = async move |context: Context<'_>, path: PathBuf| {
            context.files.save_figure(&path, table.as_bytes())
        };
        self.start(writing("Writing", to, None, save, Self::confirm));
    }

    /// Writes the close-up in motion: the marked part, or a few steps about the present one.
    pub(super) fn film(&mut self, path: PathBuf, replaces: bool) {
        let (Some(mut open), Some(format)) = (self.session.open.clone(), Format::of(&path)) else {
            return;
        };
        (open.spread, open.gradients) = (None, None);
        let to = Destination::new(path, replaces, FilePurpose::Motion);
        let page = Page::One(Box::new(open), Box::new(self.moving_figure()));
        self.draw(to, format, page);
    }

    /// Renders a figure into a file.
    fn draw(&mut self, to: Destination, format: Format, page: Page) {
        let purpose = to.purpose;
        let draw = async move |context: Context<'_>, path: PathBuf| {
            let bytes = page.draw(purpose, format, context.progress()).await?;
            context.files.save_figure(&path, &bytes)
        };
        let job = writing("Rendering", to, None, draw, Self::confirm);
        self.start(job.with(|pending| pending.can_be_given_up = true));
    }

    /// Suggests a name for the file to save; where it is taken, a free one takes its place in the dialog.
    pub(super) fn suggest(&mut self, purpose: FilePurpose) -> String {
        let name = self.suggestion(purpose);
        if purpose.is_to_save() {
            let proposed = PathBuf::from(&name);
            let work = async move |context: Context<'_>| {
                Ok((free_path(context.files, purpose, &proposed), proposed))
            };
            self.start(Job::new("Looking for files", work, Self::suggested));
        }
        name
    }

    /// Puts the free path into the dialog that proposes the other one.
    fn suggested(&mut self, (free, proposed): (PathBuf, PathBuf)) {
        let proposes = |dialog: &&mut Dialog| {
            let is_to_save = matches!(dialog.subject, Subject::File(_) | Subject::EndRun);
            is_to_save && Path::new(&dialog.text) == proposed && free != proposed
        };
        if let Some(dialog) = self.dialog.as_mut().filter(proposes) {
            dialog.text = free.display().to_string();
            dialog.taken = Some(proposed.clone());
        }
    }

    /// Handles a file or folder that exists where one was to be written: that of the run with this number.
    pub(super) fn is_there(&mut self, run: Option<u64>, to: Destination, free: &Path) {
        self.stay_open();
        let opens_dialog =
            run.is_none_or(|number| self.finish_saving(number)) && self.dialog.is_none();
        if opens_dialog {
            let text = free.display().to_string();
            self.dialog = Some(Dialog {
                taken: Some(to.path),
                ..Dialog::about(Subject::File(to.purpose), text)
            });
        } else {
            let path = to.path.display();
            let text = format!("{path} already exists; it was not changed. Choose another name.");
            self.toasts.add(Kind::Problem, text);
        }
    }
}
