//! What is made of the account of a run, remembered until there is a newer one.

use std::any::Any;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use egui::{Id, Ui};

use crate::io::Experiment;
use crate::learn::Account;
use crate::viewer::state::learning::Taught;

/// What was made of runs, by its name and the number of the run.
#[derive(Clone, Default)]
struct Memo(BTreeMap<(&'static str, u64), Made>);

/// Something that was made, and of what. It holds nothing of the run: that may go.
#[derive(Clone)]
struct Made {
    account: Weak<Account>,
    experiment: Experiment,
    how: Id,
    what: Arc<dyn Any + Send + Sync>,
}

impl Memo {
    /// What was made under this name of a run as it is now, in this way.
    fn known<T: Any + Send + Sync>(
        &self,
        name: &'static str,
        run: &Taught,
        how: Id,
    ) -> Option<Arc<T>> {
        let account = Arc::as_ptr(run.account.as_ref()?);
        let is_now = |made: &&Made| {
            std::ptr::eq(made.account.as_ptr(), account)
                && made.how == how
                && made.experiment == run.experiment
        };
        let made = self.0.get(&(name, run.number)).filter(is_now)?;
        made.what.clone().downcast().ok()
    }

    /// Remembers it, and forgets what was made of accounts that are gone.
    fn add<T: Any + Send + Sync>(
        &mut self,
        name: &'static str,
        run: &Taught,
        how: Id,
        what: &Arc<T>,
    ) {
        self.0.retain(|_, made| made.account.strong_count() > 0);
        if let Some(account) = &run.account {
            let made = Made {
                account: Arc::downgrade(account),
                experiment: run.experiment.clone(),
                how,
                what: what.clone(),
            };
            self.0.insert((name, run.number), made);
        }
    }
}

/// What was made of a run under this name before, or what is made of it now. `how` is what it depends on beside the run,
/// such as its width: made otherwise, it takes the place of what was there.
pub fn memo<T: Any + Send + Sync>(
    ui: &Ui,
    name: &'static str,
    run: &Taught,
    how: impl Hash + std::fmt::Debug,
    make: impl FnOnce() -> T,
) -> Arc<T> {
    let (id, how) = (Id::unique("made of runs"), Id::unique(how));
    let known = |all: &mut Memo| all.known(name, run, how);
    if let Some(known) = ui.data_mut(|data| known(data.get_temp_mut_or_default(id))) {
        return known;
    }
    let made = Arc::new(make());
    ui.data_mut(|data| {
        let all: &mut Memo = data.get_temp_mut_or_default(id);
        all.add(name, run, how, &made);
    });
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Snapshots;

    fn run(number: u64) -> Taught {
        let experiment = Experiment::find("copy", &[]).unwrap();
        Taught {
            account: Some(account()),
            ..Taught::new(number, String::new(), experiment)
        }
    }

    fn account() -> Arc<Account> {
        let account = Account::of_file(1, Vec::new(), (Vec::new(), 0), Snapshots::new(0));
        Arc::new(account)
    }

    #[test]
    fn what_was_made_is_known_until_there_is_news_and_nothing_of_it_outlives_the_run() {
        let (mut memo, mut one, two) = (Memo::default(), run(1), run(2));
        let (narrow, wide) = (Id::unique(100), Id::unique(200));
        let known = |memo: &Memo, run: &Taught, how: Id| memo.known::<u8>("card", run, how);
        memo.add("card", &one, narrow, &Arc::new(1_u8));
        memo.add("card", &two, narrow, &Arc::new(2_u8));
        assert_eq!(known(&memo, &one, narrow).as_deref(), Some(&1));
        assert_eq!(known(&memo, &two, narrow).as_deref(), Some(&2));
        assert_eq!(memo.known::<u8>("loss", &one, narrow), None);
        // Another width takes the place of the one before.
        assert_eq!(known(&memo, &one, wide), None);
        memo.add("card", &one, wide, &Arc::new(3_u8));
        assert_eq!(known(&memo, &one, wide).as_deref(), Some(&3));
        assert_eq!(memo.0.len(), 2);
        // News, and what was changed by hand.
        one.experiment.training.batch += 1;
        assert_eq!(known(&memo, &one, wide), None);
        one.experiment.training.batch -= 1;
        let before = Arc::downgrade(&one.account.replace(account()).unwrap());
        assert_eq!(before.strong_count(), 0);
        assert_eq!(known(&memo, &one, wide), None);
        memo.add("card", &two, narrow, &Arc::new(4_u8));
        assert_eq!(memo.0.len(), 1);
        drop(two);
        memo.add("card", &one, wide, &Arc::new(5_u8));
        assert_eq!(memo.0.keys().collect::<Vec<_>>(), [&("card", 1)]);
    }
}
