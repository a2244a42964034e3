//! A cache of values derived from the progress of runs, valid until newer progress.

use std::any::Any;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use egui::{Id, Ui};

use crate::io::Experiment;
use crate::learn::RunProgress;
use crate::viewer::state::learning::RunView;

/// Cached values, by name and number of the run.
#[derive(Clone, Default)]
struct Cache(BTreeMap<(&'static str, u64), Entry>);

/// A cached value and its key. It holds no reference to the run, which may be dropped.
#[derive(Clone)]
struct Entry {
    progress: Weak<RunProgress>,
    experiment: Experiment,
    how: Id,
    what: Arc<dyn Any + Send + Sync>,
}

impl Cache {
    /// Returns the cached value of this name for the current state of a run.
    fn known<T: Any + Send + Sync>(
        &self,
        name: &'static str,
        run: &RunView,
        how: Id,
    ) -> Option<Arc<T>> {
        let progress = Arc::as_ptr(run.progress.as_ref()?);
        let is_now = |made: &&Entry| {
            std::ptr::eq(made.progress.as_ptr(), progress)
                && made.how == how
                && made.experiment == run.experiment
        };
        let made = self.0.get(&(name, run.number)).filter(is_now)?;
        made.what.clone().downcast().ok()
    }

    /// Stores a value, and removes those of runs that are gone.
    fn add<T: Any + Send + Sync>(
        &mut self,
        name: &'static str,
        run: &RunView,
        how: Id,
        what: &Arc<T>,
    ) {
        self.0.retain(|_, made| made.progress.strong_count() > 0);
        if let Some(progress) = &run.progress {
            let made = Entry {
                progress: Arc::downgrade(progress),
                experiment: run.experiment.clone(),
                how,
                what: what.clone(),
            };
            self.0.insert((name, run.number), made);
        }
    }
}

/// Returns the cached value of a run under this name, or computes it. `how` is what it depends on beside the run,
/// such as its width: another value of `how` replaces the cached one.
pub fn cached<T: Any + Send + Sync>(
    ui: &Ui,
    name: &'static str,
    run: &RunView,
    how: impl Hash + std::fmt::Debug,
    make: impl FnOnce() -> T,
) -> Arc<T> {
    let (id, how) = (Id::unique("made of runs"), Id::unique(how));
    let known = |all: &mut Cache| all.known(name, run, how);
    if let Some(known) = ui.data_mut(|data| known(data.get_temp_mut_or_default(id))) {
        return known;
    }
    let made = Arc::new(make());
    ui.data_mut(|data| {
        let all: &mut Cache = data.get_temp_mut_or_default(id);
        all.add(name, run, how, &made);
    });
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Snapshots;
    use crate::model::Model;

    fn run(number: u64) -> RunView {
        let experiment = Experiment::find("copy", &[]).unwrap();
        let machine = Model::new(experiment.model.clone(), 1);
        RunView {
            number,
            progress: Some(progress()),
            ..RunView::new(None, experiment, machine)
        }
    }

    fn progress() -> Arc<RunProgress> {
        let progress = RunProgress::of_file(1, Vec::new(), (Vec::new(), 0), Snapshots::new(0));
        Arc::new(progress)
    }

    #[test]
    fn cache_is_valid_until_update_and_freed_with_run() {
        let (mut cached, mut one, two) = (Cache::default(), run(1), run(2));
        let (narrow, wide) = (Id::unique(100), Id::unique(200));
        let known = |cached: &Cache, run: &RunView, how: Id| cached.known::<u8>("card", run, how);
        cached.add("card", &one, narrow, &Arc::new(1_u8));
        cached.add("card", &two, narrow, &Arc::new(2_u8));
        assert_eq!(known(&cached, &one, narrow).as_deref(), Some(&1));
        assert_eq!(known(&cached, &two, narrow).as_deref(), Some(&2));
        assert_eq!(cached.known::<u8>("loss", &one, narrow), None);
        // Another width takes the place of the one before.
        assert_eq!(known(&cached, &one, wide), None);
        cached.add("card", &one, wide, &Arc::new(3_u8));
        assert_eq!(known(&cached, &one, wide).as_deref(), Some(&3));
        assert_eq!(cached.0.len(), 2);
        // News, and what was changed by hand.
        one.experiment.training.batch += 1;
        assert_eq!(known(&cached, &one, wide), None);
        one.experiment.training.batch -= 1;
        let before = Arc::downgrade(&one.progress.replace(progress()).unwrap());
        assert_eq!(before.strong_count(), 0);
        assert_eq!(known(&cached, &one, wide), None);
        cached.add("card", &two, narrow, &Arc::new(4_u8));
        assert_eq!(cached.0.len(), 1);
        drop(two);
        cached.add("card", &one, wide, &Arc::new(5_u8));
        assert_eq!(cached.0.keys().collect::<Vec<_>>(), [&("card", 1)]);
    }
}
