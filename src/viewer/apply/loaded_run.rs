//! A run that was trained elsewhere: its life is looked back at.

use std::path::PathBuf;
use std::sync::Arc;

use crate::viewer::command::Learn;
use crate::viewer::state::{
    Job, Kind, LiveTraining, LoadedRun, RunView, SavedRun, State, TrainingAction,
};

impl State {
    /// Shows a run with all its training snapshots.
    pub(super) fn show_loaded_run(&mut self, path: PathBuf, loaded: LoadedRun) {
        self.train(TrainingAction::End);
        let machine = loaded.machine(&path);
        let size = *machine.task.size().end();
        let last = loaded.progress.snapshots.all().last();
        let now = last.map_or(&machine.ntm, |last| last.machine.as_ref());
        let mut run = RunView::new(Some(loaded.name), loaded.experiment, now.clone());
        self.runs += 1;
        run.number = self.runs;
        if let Ok(now) = run.begun.after(&loaded.progress.changes) {
            run.experiment = now;
        }
        self.start(Job::Levels(run.number, Box::new(run.experiment.clone())));
        run.progress = Some(Arc::new(loaded.progress));
        let place = self.session.add(machine);
        self.session.request.size = size;
        self.show_learning(LiveTraining {
            is_training: false,
            read_only: Some(SavedRun {
                folder: path.clone(),
                is_finished: loaded.is_finished,
            }),
            ..LiveTraining::new(vec![run], place)
        });
        self.record_first();
        self.report_opened(&path, "run with training snapshots", 0);
        self.settings.opened(path);
    }

    /// Continues the saved run on screen from its last checkpoint.
    pub(super) fn continue_run(&mut self) {
        let learning = self.learning.as_ref();
        let saved = learning.and_then(|learning| learning.read_only.as_ref());
        if let Some(saved) = saved.filter(|saved| !saved.is_finished) {
            self.start(Job::Continue(saved.folder.clone()));
        }
    }

    /// True, with a message, where this would train a run that is only looked back at.
    pub(super) fn is_read_only(&mut self, learn: &Learn) -> bool {
        let trains = matches!(
            learn,
            Learn::Toggle
                | Learn::Once
                | Learn::Faster(_)
                | Learn::SlowOrFull
                | Learn::Change(_)
                | Learn::Save(..)
                | Learn::SaveAndEnd(_)
        );
        let learning = self.learning.as_ref().filter(|_| trains);
        let Some(saved) = learning.and_then(|learning| learning.read_only.as_ref()) else {
            return false;
        };
        let text = if saved.is_finished {
            "This run is finished: all its sequences are trained."
        } else {
            "This run is read-only. Continue training to change it."
        };
        self.toasts.add(Kind::Notice, text);
        true
    }
}
