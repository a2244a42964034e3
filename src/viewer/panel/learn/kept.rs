//! What is made of the account of a run, kept until there is a newer one.

use std::hash::Hash;
use std::sync::Arc;

use egui::{Id, Ui};

use crate::io::Experiment;
use crate::learn::Account;
use crate::viewer::state::learning::Taught;

/// Of which run something was made.
#[derive(Clone, Debug)]
struct Of {
    account: Option<Arc<Account>>,
    experiment: Experiment,
    label: String,
}

impl Of {
    fn is(&self, run: &Taught) -> bool {
        let same = match (&self.account, &run.account) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => true,
            _ => false,
        };
        same && self.label == run.label && self.experiment == run.experiment
    }
}

/// What was made of a run under this name before, or what is made of it now.
pub fn kept<T: Send + Sync + 'static>(
    ui: &Ui,
    name: impl Hash + std::fmt::Debug,
    run: &Taught,
    make: impl FnOnce() -> T,
) -> Arc<T> {
    let id = Id::unique(("made of a run", name));
    let before = ui.data(|data| data.get_temp::<Arc<(Of, Arc<T>)>>(id));
    if let Some(before) = before.filter(|before| before.0.is(run)) {
        return before.1.clone();
    }
    let of = Of {
        account: run.account.clone(),
        experiment: run.experiment.clone(),
        label: run.label.clone(),
    };
    let made = Arc::new(make());
    ui.data_mut(|data| data.insert_temp(id, Arc::new((of, made.clone()))));
    made
}
