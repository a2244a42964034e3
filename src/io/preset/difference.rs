//! Differences between experiments, and the overrides that turn an included preset into another one.

use std::collections::{BTreeMap, BTreeSet};

use super::keys::{flatten, is_under, last};
use super::written::Written;
use super::{Experiment, Override};

/// Number of passes that set differing keys: first all of them, then those of a new kind.
const ROUNDS: usize = 2;

impl Experiment {
    /// Returns the overrides that turn the included preset with the experiment's name into it; `None` if there is no
    /// such preset, or if no overrides can do it.
    pub fn overrides_from_included(&self) -> Option<Vec<Override>> {
        let mut set: Vec<Override> = Vec::new();
        for _ in 0..ROUNDS {
            let made = Self::included(&self.name, &set)?.ok()?;
            let differing = changes(&[self, &made], &[]).swap_remove(0);
            let differing = differing.into_iter();
            let mut differing: Vec<Override> = differing
                .filter_map(|(path, value)| format!("{path}={value}").parse().ok())
                .collect();
            // They say which other keys there are.
            differing.sort_by_key(|one| last(&one.path) != "kind");
            set.extend(differing);
        }
        let made = Self::included(&self.name, &set)?.ok()?;
        (made == *self).then_some(set)
    }
}

/// Returns the values of experiments at the paths, other than those `but`, where they differ: by path, as JSON or as
/// bare text.
pub(in crate::io) fn changes(
    experiments: &[&Experiment],
    but: &[&str],
) -> Vec<BTreeMap<String, String>> {
    let values = |experiment: &&Experiment| {
        let mut values = BTreeMap::new();
        for (path, value) in Written::of(*experiment).into_values() {
            flatten(path, &value, &mut values);
        }
        values
    };
    let mut all: Vec<_> = experiments.iter().map(values).collect();
    let paths: BTreeSet<String> = all.iter().flat_map(BTreeMap::keys).cloned().collect();
    for path in paths {
        let is_alike = all.iter().all(|one| one.get(&path) == all[0].get(&path));
        if is_alike || but.iter().any(|other| is_under(&path, other)) {
            all.iter_mut().for_each(|one| drop(one.remove(&path)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::preset::ablations;

    /// Checks that the differences turn the preset into that experiment, and returns them.
    fn differing(experiment: &Experiment) -> Vec<String> {
        let set = experiment.overrides_from_included().unwrap();
        let made = Experiment::included(&experiment.name, &set).unwrap();
        assert_eq!(made.unwrap(), *experiment);
        set.iter().map(Override::to_string).collect()
    }

    fn copy(set: &[&str]) -> Experiment {
        let set: Vec<_> = set.iter().map(|text| text.parse().unwrap()).collect();
        Experiment::find("copy", &set).unwrap()
    }

    #[test]
    fn overrides_reproduce_a_changed_preset() {
        assert!(differing(&copy(&[])).is_empty());
        let set = ["task.length=[1,5]", "training.seed=7"];
        assert_eq!(differing(&copy(&set)), set);
        // Another kind brings its own values, of which one is as it was.
        let adam = [
            "training.optimizer.kind=adam",
            "training.optimizer.learning_rate=1e-4",
        ];
        assert_eq!(differing(&copy(&adam))[0], adam[0]);
        for without in ablations(&copy(&[])).variants {
            assert!(!differing(&without.experiment).is_empty());
        }
    }

    #[test]
    fn an_unknown_preset_has_no_overrides() {
        let mut unknown = copy(&[]);
        unknown.name = "mine".to_owned();
        assert_eq!(unknown.overrides_from_included(), None);
    }
}
