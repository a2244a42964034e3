//! The instructions of a machine as JSON.

use serde_json::json;

use crate::analysis::disassembly::{Disassembly, Instruction, Totals};
use crate::model::ModelConfig;

/// Returns a line for each head of a machine, with the instructions of `listed`, and a line for the answers.
pub fn to_json(config: &ModelConfig, totals: &Totals, listed: Option<&Disassembly>) -> String {
    let words = |step: &Option<Instruction>| step.map(|step| step.to_string());
    let heads = totals.heads.iter().enumerate();
    let heads = heads.map(|(index, count)| {
        let mut line = json!({"head": config.head_name(index)});
        for (word, count) in count.of(config) {
            line[word.to_lowercase()] = count.into();
        }
        if let Some(listed) = listed {
            line["instructions"] = listed.heads[index].iter().map(words).collect();
        }
        line.to_string()
    });
    let [scored, wrong, replayed] = [totals.scored, totals.wrong, totals.replayed];
    let answers = json!({"scored": scored, "wrong": wrong, "wrong_replayed": replayed});
    heads
        .chain([answers.to_string()])
        .collect::<Vec<_>>()
        .join("\n")
}
