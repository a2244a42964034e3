//! A run that was trained elsewhere: its life is looked back at.

use std::path::PathBuf;
use std::sync::Arc;

use crate::viewer::command::Learn;
use crate::viewer::files::LoadedRun;
use crate::viewer::state::State;
use crate::viewer::state::jobs::{Effect, TrainingAction};
use crate::viewer::state::learning::{LiveTraining, RunView, landmarks};
use crate::viewer::state::messages::Kind;
use crate::viewer::state::mode::Mode;

impl State {
    /// Shows a run with all its training snapshots.
    pub(super) fn show_loaded_run(&mut self, path: PathBuf, loaded: LoadedRun) {
        self.effects.push(Effect::Train(TrainingAction::End));
        let machine = loaded.machine(&path);
        let size = *machine.task.size().end();
        let mut run = RunView::new(self.number_run(), loaded.name, loaded.experiment);
        if let Ok(now) = run.begun.after(&loaded.progress.changes) {
            run.landmarks = landmarks(&now);
            run.experiment = now;
        }
        let last = loaded.progress.snapshots.all().last();
        run.machine = last.map_or_else(
            || Arc::new(machine.ntm.clone()),
            |last| last.machine.clone(),
        );
        run.progress = Some(Arc::new(loaded.progress));
        let why = match loaded.resume {
            Some(command) => {
                format!("This run is read-only. To resume it without the window: {command}")
            }
            None => "This run is finished: all its sequences are trained.".to_owned(),
        };
        let place = self.session.add(machine);
        self.session.request.size = size;
        self.learning = Some(LiveTraining {
            is_training: false,
            read_only: Some(why),
            ..LiveTraining::new(vec![run], place)
        });
        self.show_curves();
        (self.pending.play, self.welcome.shown) = (false, false);
        self.enter(Mode::Free);
        self.record_first();
        self.report_opened(&path, "run with training snapshots", 0);
        self.settings.opened(path);
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
        let Some(text) = learning.and_then(|learning| learning.read_only.clone()) else {
            return false;
        };
        self.toasts.add(Kind::Notice, text);
        true
    }
}
