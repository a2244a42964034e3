//! A run that was trained elsewhere: its life is looked back at.

use std::path::PathBuf;
use std::sync::Arc;

use crate::viewer::command::Learn;
use crate::viewer::files::Kept;
use crate::viewer::state::State;
use crate::viewer::state::learning::{Learning, Taught, landmarks};
use crate::viewer::state::messages::Kind;
use crate::viewer::state::work::{Effect, Teach};

impl State {
    /// A run comes on screen, with all its moments.
    pub(super) fn look_back(&mut self, path: PathBuf, kept: Kept) {
        self.effects.push(Effect::Teach(Teach::End));
        let machine = kept.machine(&path);
        let size = *machine.task.size().end();
        let mut run = Taught::new(self.number_run(), kept.name, kept.experiment);
        if let Ok(now) = run.begun.after(&kept.account.changes) {
            run.landmarks = landmarks(&now);
            run.experiment = now;
        }
        let last = kept.account.snapshots.all().last();
        run.machine = last.map_or_else(
            || Arc::new(machine.ntm.clone()),
            |last| last.machine.clone(),
        );
        run.account = Some(Arc::new(kept.account));
        let why = match kept.resume {
            Some(command) => {
                format!(
                    "This run is looked back at. To go on with it, without the window: {command}"
                )
            }
            None => "This run is finished: it has seen all its sequences.".to_owned(),
        };
        let place = self.session.add(machine);
        self.session.wish.size = size;
        self.learning = Some(Learning {
            goes: false,
            kept: Some(why),
            ..Learning::new(vec![run], place)
        });
        self.show_curves();
        (self.is_first, self.pending.play, self.welcome.shown) = (false, false, false);
        self.record_first();
        self.say_open(&path, "a run, from nothing to what it learned", 0);
        self.settings.opened(path);
    }

    /// True, with a message, where this would train a run that is only looked back at.
    pub(super) fn is_looked_back_at(&mut self, learn: &Learn) -> bool {
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
        let Some(text) = learning.and_then(|learning| learning.kept.clone()) else {
            return false;
        };
        self.toasts.add(Kind::Notice, text);
        true
    }
}
