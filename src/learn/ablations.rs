//! The same machine with a stage of its addressing left out: what the stage was good for.

use crate::keys::Each;
use crate::model::attention::{Score, Switch};
use crate::model::config::ShiftForm;
use crate::model::{ModelConfig, NtmConfig};

/// A stage that can be left out, by what it is called without it, and how it is.
type Stage = (&'static str, fn(&mut NtmConfig));

/// In the order in which they act.
const STAGES: [Stage; 4] = [
    // A head then scores the position of a row, and never looks at what stands there.
    ("no content", |config| {
        config.attention.score = Each::all(Score::Location);
    }),
    ("no gate", |config| {
        config.attention.gate = Each::all(Switch::Off);
    }),
    ("no shift", |config| {
        config.shift_form = Each::all(ShiftForm::None);
    }),
    ("no sharpening", |config| {
        config.attention.sharpening = Each::all(Switch::Off);
    }),
];

/// What the machine with all of its stages is called among those without one.
pub const WHOLE: &str = "all stages";

/// The machine itself, then those with a stage left out, each with what it is called; none where it has no such stages.
pub fn ablations(whole: &ModelConfig) -> Vec<(&'static str, ModelConfig)> {
    let Some(config) = whole.ntm().filter(|config| config.heads() > 0) else {
        return Vec::new();
    };
    let without = STAGES.iter().filter_map(|(name, leave_out)| {
        let mut without = config.clone();
        leave_out(&mut without);
        let differs = without != *config;
        let without = ModelConfig::from(without);
        (differs && without.validate().is_ok()).then_some((*name, without))
    });
    std::iter::once((WHOLE, whole.clone()))
        .chain(without)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PlainConfig;

    #[test]
    fn a_machine_is_had_without_each_of_its_stages() {
        let names = |config: NtmConfig| -> Vec<_> {
            let all = ablations(&config.into());
            all.into_iter().map(|(name, _)| name).collect()
        };
        let mut config = NtmConfig::new(2, 2);
        let all = [
            "all stages",
            "no content",
            "no gate",
            "no shift",
            "no sharpening",
        ];
        assert_eq!(names(config.clone()), all);
        // What it has not is not left out.
        config.attention.gate = Each::all(Switch::Off);
        assert_eq!(names(config.clone()), [all[0], all[1], all[3], all[4]]);
        let plain = PlainConfig {
            inputs: 2,
            outputs: 2,
            controller: config.controller,
        };
        assert!(ablations(&plain.into()).is_empty());
    }
}
