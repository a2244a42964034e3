//! The instructions of a machine as JSON.

use serde_json::json;

use crate::analysis::disassembly::{Disassembly, Instruction, Totals};

/// Returns a line for each head, with the instructions of `listed`, and a line for the answers.
pub fn to_json(names: &[String], totals: &Totals, listed: Option<&Disassembly>) -> String {
    let words = |step: &Option<Instruction>| step.map(|step| step.to_string());
    let heads = names.iter().zip(&totals.heads).enumerate();
    let heads = heads.map(|(index, (head, count))| {
        let [stay, shift, jump, spread] = [count.stay, count.shift, count.jump, count.spread];
        let mut line =
            json!({"head": head, "stay": stay, "shift": shift, "jump": jump, "spread": spread});
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
