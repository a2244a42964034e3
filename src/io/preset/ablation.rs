//! Ablations: an experiment without one stage of its heads, or with another choice of a switch of its machine file.
//!
//! One list of stages for the command line and the window.

use super::{Experiment, Override};
use crate::keys::{Field, Keys, Table};
use crate::model::ModelConfig;

/// A stage to remove, the override that does it, and the effect on the heads.
struct Stage {
    name: &'static str,
    set: &'static str,
    about: &'static str,
}

/// The stages in the order in which a head computes them.
const STAGES: [Stage; 6] = [
    Stage {
        name: "no content",
        set: "model.heads.attention.score=location",
        about: "Rows are scored by position; their contents are not compared.",
    },
    Stage {
        name: "no strength",
        set: "model.heads.attention.strength=one",
        about: "β is 1: a head cannot make its content weighting narrower or wider.",
    },
    Stage {
        name: "no gate",
        set: "model.heads.attention.gate=off",
        about: "Every step starts from the content weighting; the previous weighting is ignored.",
    },
    Stage {
        name: "no shift",
        set: "model.heads.shift.form=none",
        about: "The focus cannot move to a neighbouring row.",
    },
    Stage {
        name: "no sharpening",
        set: "model.heads.attention.sharpening=off",
        about: "The weighting stays as wide as the shift leaves it.",
    },
    Stage {
        name: "no erase",
        set: "model.heads.attention.erase=off",
        about: "A head can only add to the contents of a row; nothing is erased.",
    },
];

/// The name of the unchanged experiment among its ablations.
pub const WHOLE: &str = "unchanged";

/// Returns the stages that can be removed: the name, and a sentence on the effect.
pub fn stages() -> impl Iterator<Item = (&'static str, &'static str)> {
    STAGES.iter().map(|stage| (stage.name, stage.about))
}

/// An experiment without one stage of its heads, or with another choice of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Ablation {
    /// The removed stage, such as `no gate`, or the choice, such as `order = write_first`.
    pub name: String,
    /// A sentence on the behaviour without it.
    pub about: String,
    /// The change of the experiment that does it.
    pub set: Override,
    /// The experiment with that change, complete and valid.
    pub experiment: Experiment,
}

/// The ablations of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ablations {
    /// The ablations in the order of the stages; none for a machine without heads.
    pub variants: Vec<Ablation>,
    /// The stages that cannot be removed, with reasons, as text.
    pub left_out: Vec<String>,
}

/// An experiment without each stage of its heads: content, strength, gate, shift, sharpening, erase, one at a time and
/// for all heads. Of a machine file, with each other choice of its switches, one at a time.
pub fn ablations(of: &Experiment) -> Ablations {
    let mut found = Ablations::default();
    let name = &of.name;
    let whole = of.to_json();
    let read = |set: &Override| {
        let changed = Experiment::from_json(&whole, name, std::slice::from_ref(set))
            .and_then(|changed| changed.with_those_of(of, name));
        changed.map_err(|error| error.to_string())
    };
    if of.model.is_recorded_apart() {
        for Switch {
            path,
            chosen,
            others,
            about,
        } in switches(of)
        {
            let short = path.rsplit_once("switches.").map_or(&*path, |own| own.1);
            for word in others.iter().filter(|word| [**word] != chosen[..]) {
                let name = format!("{short} = {word}");
                let set = format!("{path}={word}").parse();
                match set.and_then(|set| Ok((read(&set)?, set))) {
                    Ok((experiment, set)) => found.variants.push(Ablation {
                        name,
                        about: about.clone(),
                        set,
                        experiment,
                    }),
                    Err(error) => found.left_out.push(format!("{name}: skipped, {error}")),
                }
            }
        }
        if found.variants.is_empty() && found.left_out.is_empty() {
            let words = format!(
                "{name}: the machine file has no `switch`, so there is nothing to choose; write one, and put `if SWITCH is CHOICE` before the equations to leave out (docs/equations.md)"
            );
            found.left_out.push(words);
        }
        return found;
    }
    if of.model.ntm().is_none() {
        let words = format!(
            "{name}: the machine has no heads of a Neural Turing Machine, so there is no stage to remove"
        );
        found.left_out.push(words);
        return found;
    }
    for stage in STAGES {
        let (what, set) = (stage.name, stage.set);
        let changed = set.parse().and_then(|set| Ok((read(&set)?, set)));
        match changed {
            Ok((experiment, _)) if is_alike(&experiment.model, &of.model) => {
                let words = format!("{what}: skipped, already disabled");
                found.left_out.push(words);
            }
            Ok((experiment, set)) => found.variants.push(Ablation {
                name: what.to_owned(),
                about: stage.about.to_owned(),
                set,
                experiment,
            }),
            Err(error) => found.left_out.push(format!("{what}: skipped, {error}")),
        }
    }
    found
}

/// A switch of a machine file: its path, what is chosen, all choices, and its sentence.
struct Switch {
    path: String,
    chosen: Vec<&'static str>,
    others: Vec<&'static str>,
    about: String,
}

/// The switches of a machine file under the present choices.
fn switches(of: &Experiment) -> Vec<Switch> {
    let (mut of, mut all) = (of.clone(), Vec::new());
    of.keys(&mut Table::new(&mut |key| {
        if let Field::ChoicePerHead(choices) = key.field
            && key.path.starts_with("model.switches.")
        {
            all.push(Switch {
                path: key.path.to_owned(),
                chosen: choices.chosen(),
                others: choices.words(),
                about: key.purpose.to_owned(),
            });
        }
    }));
    all
}

/// True where every head of two machines acts the same, whatever its settings: read heads never erase.
fn is_alike(a: &ModelConfig, b: &ModelConfig) -> bool {
    (0..a.heads()).all(|head| a.mechanism(head) == b.mechanism(head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::preset;

    fn of(name: &str, set: &[&str]) -> (Experiment, Ablations) {
        let set: Vec<Override> = set.iter().map(|text| text.parse().unwrap()).collect();
        let whole = Experiment::find(name, &set).unwrap();
        let found = ablations(&whole);
        (whole, found)
    }

    fn names(of: &Ablations) -> Vec<&str> {
        of.variants.iter().map(|variant| &*variant.name).collect()
    }

    #[test]
    fn every_preset_with_heads_has_its_ablations() {
        for name in preset::names() {
            let (whole, found) = of(name, &[]);
            if whole.model.is_recorded_apart() {
                let mut variants = found.variants.iter();
                assert!(
                    variants.all(|one| one.experiment.model != whole.model),
                    "{name}"
                );
                continue;
            }
            if whole.model.ntm().is_none() {
                assert!(found.variants.is_empty(), "{name}");
                assert_eq!(found.left_out.len(), 1, "{name}");
                continue;
            }
            assert!(found.variants.len() >= 2, "{name}: {found:?}");
            assert_eq!(found.variants.len() + found.left_out.len(), STAGES.len());
            for variant in &found.variants {
                let Ablation {
                    set, experiment, ..
                } = variant;
                // Nothing but the machine is another one, and it is that of `tapescope train PRESET --set …`.
                assert!(experiment.model != whole.model, "{name}: {}", variant.name);
                let model = whole.model.clone();
                let back = Experiment {
                    model,
                    ..experiment.clone()
                };
                assert_eq!(back, whole, "{name}: {}", variant.name);
                let typed = Experiment::find(name, std::slice::from_ref(set)).unwrap();
                assert_eq!(*experiment, typed, "{name}: {}", variant.name);
                // A stage cannot be removed twice.
                let again = ablations(experiment);
                assert!(!names(&again).contains(&&*variant.name), "{name}");
            }
            // Only disabled stages are skipped, and machines that need the number of rows that they are trained on.
            for words in &found.left_out {
                let needs_rows = whole.training.fewest_rows > 0 && words.contains("fewest_rows");
                assert!(
                    needs_rows || words.ends_with("skipped, already disabled"),
                    "{words}"
                );
            }
        }
    }

    #[test]
    fn disabled_stages_are_skipped_and_reported() {
        let all = [
            "no content",
            "no strength",
            "no gate",
            "no shift",
            "no sharpening",
            "no erase",
        ];
        assert_eq!(names(&of("copy", &[]).1), all);
        let (_, plain) = of("copy_plain", &[]);
        assert_eq!(names(&plain), ["no content", "no strength", "no erase"]);
        assert_eq!(plain.left_out[0], "no gate: skipped, already disabled");
        // Off for one head is not off.
        let (_, one) = of("copy", &[r#"model.heads.attention.gate=["on","off"]"#]);
        assert_eq!(names(&one), all);
        // Nor is what only read heads have, or a list that says the same of all.
        for set in [
            "model.heads.write=0",
            r#"model.heads.attention.erase=["on","off"]"#,
        ] {
            let (_, alike) = of("copy", &[set]);
            assert_eq!(names(&alike), all[..5], "{set}");
        }
        let (_, choices) = of("copy_lstm", &[]);
        assert_eq!(names(&choices), ["controller = feedforward"]);
        let (_, none) = of("copy_dnc", &[]);
        let words = "copy_dnc: the machine has no heads of a Neural Turing Machine, so there is no stage to remove";
        assert_eq!(none.left_out, [words]);
    }
}
