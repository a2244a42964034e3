//! Changes of an experiment during training.

use super::keys::{is_under, paths};
use super::{Experiment, Override};
use crate::io::Error;
use crate::train::Change;

/// Keys, or sections of them, that stay as they are while a machine learns, and why. Every other key may change.
const FIXED: [(&str, &str); 28] = [
    ("name", "it names the run"),
    ("title", "it names the run"),
    ("description", "it describes the start of the run"),
    ("task.kind", "the machine was trained on this task"),
    ("task.bits", "the machine has a channel for every bit"),
    ("task.symbols", "the machine has a channel for every symbol"),
    ("task.patch", "the machine has a channel for every pixel"),
    ("task.channels", "the machine has this number of channels"),
    ("task.file", "the machine was trained on these episodes"),
    ("task.test_file", "held-out episodes are never trained on"),
    (
        "task.first_token",
        "the machine was trained on these episodes",
    ),
    ("task.sha256", "the machine was trained on these episodes"),
    ("task.held_out", "held-out episodes are never trained on"),
    ("task.inputs", "the machine has this number of channels"),
    ("task.outputs", "the machine has this number of channels"),
    ("task.tokens", "the machine has a channel for every symbol"),
    (
        "task.target_tokens",
        "the machine has a channel for every symbol",
    ),
    (
        "task.source_symbols",
        "the machine has a channel for every symbol",
    ),
    (
        "task.target_symbols",
        "the machine has a channel for every symbol",
    ),
    ("model", "the weights belong to this machine"),
    (
        "training.optimizer.kind",
        "its running moments belong to this optimizer",
    ),
    (
        "training.redundancy.kind",
        "the penalty is measured from the first update on",
    ),
    (
        "training.head_divergence.kind",
        "the divergence is measured from the first update on",
    ),
    (
        "training.sequences",
        "the learning rate and the run end here",
    ),
    ("training.seed", "all episodes depend on it"),
    (
        "training.validation_every",
        "validations must be comparable",
    ),
    (
        "training.validation_episodes",
        "validations must be comparable",
    ),
    ("evaluation", "it is used only after training"),
];

/// Returns the reason why a key cannot change during training; `None` for a key that can.
pub fn fixed(path: &str) -> Option<&'static str> {
    let found = FIXED.iter().find(|(fixed, _)| is_under(path, fixed));
    found.map(|(_, why)| *why)
}

/// Every key that may change while a machine learns, in some experiment.
fn free() -> Vec<&'static str> {
    let all = paths().iter().map(String::as_str);
    all.filter(|path| fixed(path).is_none()).collect()
}

impl Experiment {
    /// Returns the experiment with other values, as a run continues with it.
    ///
    /// # Errors
    /// A key that there is not, a value that it may not have, or a key that stays as it is while a machine learns.
    pub fn changed(&self, set: &[Override]) -> Result<Self, Error> {
        for change in set {
            let mut touched = paths().iter().filter(|path| is_under(path, &change.path));
            if let Some((path, why)) = touched.find_map(|path| Some((path, fixed(path)?))) {
                let problem = format!(
                    "cannot change during training: {why}; keys that can: {}",
                    free().join(", ")
                );
                return Err(Error::content("--set", path, problem));
            }
        }
        let changed = Self::from_json(&self.to_json(), "the run", set)?;
        changed.with_those_of(self, "the run")
    }

    /// The experiment as it is after these changes.
    ///
    /// # Errors
    /// As for [`Experiment::changed`], with the number of the change and of what it sets.
    pub fn after(&self, changes: &[Change]) -> Result<Self, Error> {
        self.after_some(changes, 0)
    }

    /// [`Experiment::after`]; the first of these changes has the number `first`.
    fn after_some(&self, changes: &[Change], first: usize) -> Result<Self, Error> {
        match changes {
            [] => return Ok(self.clone()),
            [change] => {
                let place = format!("change {first}");
                let changed = self.changed_by(change);
                return changed.map_err(|error| error.within(&place));
            }
            _ => {}
        }
        // All at once, where they can be: many changes then take about as long as one.
        let all = changes.iter().flat_map(|change| &change.set);
        let all: Result<Vec<Override>, _> = all.map(|text| text.parse()).collect();
        if let Ok(Ok(changed)) = all.map(|all| self.changed(&all)) {
            return Ok(changed);
        }
        let (before, after) = changes.split_at(changes.len() / 2);
        let half = first + before.len();
        self.after_some(before, first)?.after_some(after, half)
    }

    /// After how many sequences the task last became another one; 0 where it never did. Validations before it say nothing
    /// beside those behind it.
    pub fn task_since(&self, changes: &[Change]) -> u64 {
        let (mut experiment, mut since) = (self.clone(), 0);
        let of_task = |change: &Change| change.set.iter().any(|set| set.starts_with("task"));
        for some in changes.split_inclusive(of_task) {
            // Those of a run can be made.
            let Some((change, next)) = some.last().zip(experiment.after(some).ok()) else {
                continue;
            };
            if next.task != experiment.task {
                since = change.sequences;
            }
            experiment = next;
        }
        since
    }

    /// The experiment after one change.
    ///
    /// # Errors
    /// As for [`Experiment::changed`]; or what is set is not `path=value`.
    pub fn changed_by(&self, change: &Change) -> Result<Self, Error> {
        let parse = |text: &String| {
            let problem = |problem: String| Error::content("--set", text.as_str(), problem);
            text.parse::<Override>().map_err(problem)
        };
        let set: Result<Vec<_>, _> = change.set.iter().map(parse).collect();
        self.changed(&set?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy() -> Experiment {
        Experiment::find("copy", &[]).unwrap()
    }

    fn changed(set: &str) -> Result<Experiment, String> {
        let set = set.parse().unwrap();
        copy().changed(&[set]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_change_sets_only_its_key() {
        let mut wanted = copy();
        wanted.training.batch = 7;
        assert_eq!(changed("training.batch=7").unwrap(), wanted);
        assert_eq!(copy().changed(&[]).unwrap(), copy());
        assert_eq!(*changed("task.length=[1,3]").unwrap().task.size().end(), 3);
        let free = free();
        for path in [
            "task.length",
            "task.items",
            "task.repeats",
            "training.batch",
            "training.optimizer.learning_rate",
            "training.optimizer.beta1",
            "training.optimizer.momentum",
            "training.clip.kind",
            "training.clip.limit",
            "training.redundancy.weight",
            "training.hard.reward",
            "training.bayesian.weight",
        ] {
            assert!(free.contains(&path), "{path}");
        }
    }

    #[test]
    fn changing_a_fixed_key_is_refused_with_the_reason() {
        let paths = paths();
        for (fixed, why) in FIXED {
            assert!(paths.iter().any(|path| is_under(path, fixed)), "{fixed}");
            let error = changed(&format!("{fixed}=1")).unwrap_err();
            assert!(error.starts_with("--set: "), "{error}");
            assert!(error.contains(why), "{error}");
        }
        // A section with such a key in it, too.
        let error = changed(r#"training.optimizer={"kind":"adam"}"#).unwrap_err();
        assert!(
            error.starts_with("--set: `training.optimizer.kind`: cannot change"),
            "{error}"
        );
        let error = changed("training.batch=0").unwrap_err();
        assert!(
            error.contains("`training.batch`: is 0; allowed: 1 to 4096"),
            "{error}"
        );
        let error = changed("training.bach=2").unwrap_err();
        assert!(error.contains("did you mean `training.batch`"), "{error}");
    }

    #[test]
    fn changes_follow_each_other() {
        let change = |set: &[&str]| Change {
            sequences: 5,
            set: set.iter().map(|&text| text.to_owned()).collect(),
        };
        let both = [
            change(&["training.batch=2"]),
            change(&["training.batch=3", "task.length=[2,4]"]),
        ];
        let after = copy().after(&both).unwrap();
        assert_eq!((after.training.batch, after.task.size()), (3, 2..=4));
        assert_eq!(copy().task_since(&both), 5);
        assert_eq!(copy().task_since(&both[..1]), 0);
        let same = format!("task.length=[1,{}]", copy().task.size().end());
        assert_eq!(copy().task_since(&[change(&[&same])]), 0);
        // Far too many to make one after the other.
        let many: Vec<Change> = (0..20_000)
            .map(|index| change(&[&format!("training.batch={}", index % 9 + 1)]))
            .collect();
        assert_eq!(copy().after(&many).unwrap().training.batch, 2);
        assert_eq!(copy().task_since(&many), 0);
        let mut broken = many;
        broken[12_345] = change(&["training.batch=0"]);
        broken[12_346] = change(&["training.bach=2"]);
        let error = copy().after(&broken).unwrap_err().to_string();
        assert!(error.contains("change 12345.training.batch"), "{error}");
        let wrong = [both[0].clone(), change(&["training.batch"])];
        let error = copy().after(&wrong).unwrap_err().to_string();
        assert!(error.contains("change 1.training.batch"), "{error}");
    }
}
